//! The report of ZFS: the metrics and tables of its write path and of its read side.

mod reads;
mod writes;
