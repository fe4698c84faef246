//! Readers and writers of others' formats.

#![forbid(unsafe_code)]

pub mod fio;
pub mod trace;
