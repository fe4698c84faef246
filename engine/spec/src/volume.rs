//! The file system in a scenario: block cache, prefetcher, write log.

use schemars::JsonSchema;
use serde::Serialize;

use seeklab_cache::PolicyKind;

use crate::reader::FromJson;
use crate::{Bytes, Lun, Nanos};

/// The file system.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeSpec {
    /// Block size of the file system and its cache.
    #[serde(default = "default_block")]
    #[schemars(title = "Block", extend("minimum" = 4096, "maximum" = 16_777_216))]
    pub block: Bytes,
    /// Block cache in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Prefetcher. It needs a cache to prefetch into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<Prefetch>,
    /// Log that makes writes durable immediately. Moving logged data to the devices later is not modelled. Default: writes go through to
    /// the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_log: Option<Lun>,
}

/// Return the default block size of a volume.
#[must_use]
pub fn default_block() -> Bytes {
    Bytes(32 << 10)
}

/// Block cache in memory.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Memory of the cache.
    #[schemars(title = "Cache", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// Time to look up and start a request in memory.
    #[serde(default)]
    pub overhead: Nanos,
    /// Copy rate of data out of or into memory, in bytes per second.
    #[schemars(title = "Memory copy rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub rate: Bytes,
    /// Jobs whose regions are in the cache when the run starts (in this order, as far as they fit).
    #[serde(default)]
    pub primed: Vec<String>,
    /// Which block leaves when another needs its space.
    #[serde(default)]
    #[schemars(title = "Replacement policy")]
    pub policy: PolicyKind,
    /// Changes of the cache's size during the run, in time order.
    #[serde(default)]
    pub resize: Vec<Resize>,
}

/// A change of a cache's size.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// Time of the change.
    #[schemars(title = "At")]
    pub at: Nanos,
    /// New size of the cache.
    #[schemars(title = "Cache", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
}

/// A prefetcher that reads the range after each large read.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Maximum size of one prefetch.
    #[schemars(title = "Prefetch chunk", extend("minimum" = 4096, "maximum" = 268_435_456, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub chunk: Bytes,
    /// Prefetches per read request, one after the other in the file.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Prefetches per read", range(min = 0, max = 16))]
    pub per_request: u32,
    /// Smallest read that starts a prefetch.
    #[serde(default = "default_trigger")]
    #[schemars(title = "Minimum read to prefetch", extend("minimum" = 0))]
    pub min_read: Bytes,
}

fn default_trigger() -> Bytes {
    Bytes(1 << 20)
}
