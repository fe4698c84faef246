//! Seeklab's simulator: a discrete-event model of a whole storage stack, from the client's job to the platter.
//!
//! Data flow one way: scenario, checked scenario, run, result, views. Everything a host needs is in [`api`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod api;
pub mod cache;
pub mod case;
pub mod client;
pub mod cluster;
pub mod controller;
pub mod cpu;
pub mod design;
pub mod device;
pub mod fio;
pub mod json;
pub mod kernel;
pub mod layout;
pub mod library;
pub mod network;
pub mod plan;
pub mod protocol;
pub mod result;
pub mod scenario;
pub mod server;
pub mod sorted;
pub mod stack;
pub mod tools;
pub mod trace;
pub mod volume;
pub mod workload;
pub mod zfs;
