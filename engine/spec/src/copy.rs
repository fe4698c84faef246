//! A server-side or offloaded copy in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// How a copy is cut into commands.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CopySpec {
    /// Chunks of `bs` in each request of a server-side copy.
    #[schemars(title = "Chunks in a request", range(min = 1, max = 256), extend("x-scale" = "log2"))]
    pub chunks_per_request: u32,
    /// Bytes that each token of an ODX copy covers.
    #[schemars(title = "Range offloaded", extend("minimum" = 1_048_576, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub range: Bytes,
}

impl Default for CopySpec {
    fn default() -> Self {
        // One chunk is the least that a client can request. The range is our choice.
        Self { chunks_per_request: 1, range: Bytes(64 << 20) }
    }
}
