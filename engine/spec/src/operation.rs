//! The direction of an operation.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;

/// Direction of a request, a row of a trace, an operation of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, FromJson, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Data come from storage.
    #[default]
    Read,
    /// Data go to storage.
    Write,
    /// Data are given up: the drive need not keep them (TRIM, deallocate, discard).
    Trim,
}
