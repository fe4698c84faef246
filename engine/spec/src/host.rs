//! The machine that issues I/O, in a scenario: processors and memory.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// The machine whose file system or page cache answers requests from memory. Without it, these costs have their defaults.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Processor cores. ZFS has its own field.
    #[serde(default = "cores")]
    #[schemars(title = "Host cores", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub cores: u32,
    /// Core time to find a block or record in memory, besides the copy of its data. Default: half of what a system call that finds its page
    /// takes on a core of 2 to 3 GHz; assumed.
    #[serde(default = "hit")]
    #[schemars(title = "Cached read", extend("maximum" = 1_000_000_000))]
    pub hit: Nanos,
    /// Bytes per second that all copies together move. Default: eight channels of DDR4-3200 are 204.8 GB/s, and each byte is read and
    /// written.
    #[serde(default = "memory_rate")]
    #[schemars(title = "Memory bandwidth", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub memory_rate: Bytes,
}

impl Default for HostSpec {
    fn default() -> Self {
        Self { cores: cores(), hit: hit(), memory_rate: memory_rate() }
    }
}

fn cores() -> u32 {
    8
}
fn hit() -> Nanos {
    Nanos(1000)
}
fn memory_rate() -> Bytes {
    Bytes(100_000_000_000)
}
