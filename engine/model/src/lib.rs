//! The storage stack: requests and their phases, the plan of a scenario, the layers, and what a run records.
//!
//! Data flow one way: a checked scenario and its plan, a run, a result.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod check;
pub mod cpu;
pub mod decision;
pub mod kernel;
pub mod layers;
pub mod plan;
pub mod range;
mod read_ahead;
pub mod result;
mod rules;
pub mod setup;
pub mod shared;
pub mod stack;
#[cfg(test)]
mod testing;

pub use check::{Checked, read, schema};
