//! See README.md.

pub mod targets;
