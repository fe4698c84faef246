//! What a client does with a request before the network sees it.

pub mod nfs;
