//! The work of a client on a request before the network receives it.

pub mod nfs;
