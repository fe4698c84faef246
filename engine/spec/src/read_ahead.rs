//! Read-ahead of a page cache, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// How a miss outside all known streams uses the cached pages just before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
pub enum Context {
    /// Ignore them: read only the requested pages.
    #[serde(rename = "off")]
    Off,
    /// One cached page counts as a stream. The miss reads a window of up to twice the maximum (Linux 2009–2013).
    #[serde(rename = "2009")]
    Doubling,
    /// One cached page before the request counts as a stream, but the read-ahead is at most as long as the cached part. This is one half
    /// of the change of 2013: it makes streams start slowly.
    #[serde(rename = "ramp")]
    Ramp,
    /// Like "ramp", but only if more is cached than was requested (Linux since 2013).
    #[default]
    #[serde(rename = "2013")]
    Careful,
}

/// On-demand read-ahead: each open file has a window that grows while its pages are read in order.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadAhead {
    /// Maximum window; a multiple of pages of 4 KiB.
    #[serde(default = "most")]
    #[schemars(title = "Maximum window", extend("minimum" = 4096, "maximum" = 16_777_216, "x-scale" = "log2"))]
    pub max: Bytes,
    /// How a miss outside all known streams uses the cached pages just before it.
    #[serde(default)]
    #[schemars(title = "Context read-ahead")]
    pub context: Context,
    /// Whether all workers read a file through one open file, like threads of a process. Otherwise each worker opens it separately. The
    /// files of one worker (`nrfiles`) are regions of one open file in both cases.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "One open file")]
    pub one_open: bool,
    /// Whether a program on the engine's host decides what is read ahead, instead of these rules.
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
