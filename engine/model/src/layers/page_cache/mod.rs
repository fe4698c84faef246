//! The page cache of an operating system.

pub mod cached;
pub mod read_ahead;
