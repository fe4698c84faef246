//! The layers of the stack, in the order in which a request meets them on its way down. Each may be absent.

pub mod client;
pub mod cluster;
pub mod controller;
pub mod device;
pub mod layout;
pub mod network;
pub mod protocol;
pub mod server;
pub mod tier;
pub mod volume;
pub mod workload;
pub mod zfs;
