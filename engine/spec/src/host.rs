//! The machine that issues I/O, in a scenario: processors, memory, the link to its devices.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// The machine that issues I/O. Without it, requests to devices cost it nothing, and answers from memory have the default costs.
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
    /// Bytes per second that all copies together move. Default: eight channels of DDR4-3200, as in AMD EPYC 7002 and 7003, are
    /// 204.8 GB/s (3200 million transfers of 8 bytes each), and each byte is read and written.
    #[serde(default = "memory_rate")]
    #[schemars(title = "Memory bandwidth", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub memory_rate: Bytes,
    /// Clock rate of a core.
    #[serde(default = "hz")]
    #[schemars(title = "Clock", range(min = 1_000_000, max = 10_000_000_000_u64), extend("x-unit" = "Hz", "x-scale" = "log2"))]
    pub hz: u64,
    /// CPU cycles to submit a request to a device: system call, block layer, driver. Default: assumed.
    #[serde(default = "cycles")]
    #[schemars(title = "Cost to submit", range(min = 0, max = 1_000_000_000), extend("x-unit" = "cycles"))]
    pub submit_cycles: u64,
    /// CPU cycles to complete a request: interrupt, driver, wake-up. Default: assumed.
    #[serde(default = "cycles")]
    #[schemars(title = "Cost to complete", range(min = 0, max = 1_000_000_000), extend("x-unit" = "cycles"))]
    pub complete_cycles: u64,
    /// Rate of the host adapter or root port that all devices share, in each direction. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Link to the devices", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub link: Option<Bytes>,
    /// Requests that each device takes at a time; 32 for SATA. Further ones wait in the host. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Tags of a device", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub tags: Option<u32>,
}

impl Default for HostSpec {
    fn default() -> Self {
        Self {
            cores: cores(),
            hit: hit(),
            memory_rate: memory_rate(),
            hz: hz(),
            submit_cycles: cycles(),
            complete_cycles: cycles(),
            link: None,
            tags: None,
        }
    }
}

fn hz() -> u64 {
    3_000_000_000
}
/// With both, a core issues half a million requests a second.
fn cycles() -> u64 {
    3000
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
