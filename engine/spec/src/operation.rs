//! The direction of an operation.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;

/// Direction of a request, a trace row or a drive operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, FromJson, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Data are read from storage.
    #[default]
    Read,
    /// Data are written to storage.
    Write,
    /// Data are discarded: the drive need not keep them (TRIM, deallocate, discard).
    Trim,
}
