//! Read-ahead of a page cache, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// What a miss that continues no known stream makes of the cached pages just before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
pub enum Context {
    /// Nothing: it reads what was asked for.
    #[serde(rename = "off")]
    Off,
    /// One cached page is a stream: it reads a window of up to twice the maximum, as Linux did from 2009 to 2013.
    #[serde(rename = "2009")]
    Doubling,
    /// One cached page is a stream, of which no more is read than of it is cached: the half of the change of 2013 that makes streams
    /// begin slowly.
    #[serde(rename = "ramp")]
    Ramp,
    /// As "ramp", and only when more is cached than was asked for: Linux since 2013.
    #[default]
    #[serde(rename = "2013")]
    Careful,
}

/// Read-ahead on demand: each open file has a window that grows while its pages are asked for in order.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadAhead {
    /// Largest window, in pages of 4 KiB.
    #[serde(default = "most")]
    #[schemars(title = "Largest window", extend("minimum" = 4096, "maximum" = 16_777_216, "x-scale" = "log2"))]
    pub max: Bytes,
    /// What a miss that continues no known stream makes of the cached pages just before it.
    #[serde(default)]
    #[schemars(title = "Context read-ahead")]
    pub context: Context,
    /// All workers read a file through one open file, as the threads of a process do; else each opens it by itself. The files of one
    /// worker (`nrfiles`) are places in one open file either way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "One open file")]
    pub one_open: bool,
    /// The engine's host decides what is read beside what was asked for, in place of all this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "Decided by a program")]
    pub asked: bool,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { max: most(), context: Context::default(), one_open: false, asked: false }
    }
}

/// The window of Linux: 128 KiB.
fn most() -> Bytes {
    Bytes(128 << 10)
}
