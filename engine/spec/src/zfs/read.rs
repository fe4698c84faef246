//! The read side of the file system in a scenario: the ARC, its cache devices, the read-ahead. Defaults are the constants of the version.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, DeviceGroup, Nanos};

/// The ARC: memory that caches blocks for reading.
#[derive(Clone, Debug, Default, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArcSpec {
    /// Size of the ARC. Default: the version's share of the machine's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "ARC", extend("minimum" = 512, "maximum" = 17_592_186_044_416_u64, "x-scale" = "log2"))]
    pub size: Option<Bytes>,
    /// Jobs whose files represent metadata (directories, attributes).
    pub metadata: Vec<String>,
}

/// Read-ahead per file.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrefetchSpec {
    /// Whether read-ahead is on.
    #[schemars(title = "Read-ahead")]
    pub on: bool,
    /// Maximum streams of a file. Default: the version's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Streams per file", range(min = 1, max = 256))]
    pub streams: Option<u32>,
    /// Maximum records that a stream fetches at once. Default: the version's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Records ahead", range(min = 1, max = 65_536), extend("x-scale" = "log2", "x-slider" = [1, 1024]))]
    pub cap: Option<u32>,
    /// Maximum size of a read that continues a stream.
    #[schemars(title = "Longest read followed", extend("minimum" = 0, "maximum" = 1_073_741_824))]
    pub max_read: Bytes,
    /// Whether the engine's host decides what to fetch, at each read.
    pub asked: bool,
}

impl Default for PrefetchSpec {
    fn default() -> Self {
        Self { on: true, streams: None, cap: None, max_read: Bytes(1 << 20), asked: false }
    }
}

/// Cache devices behind the ARC.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2arcSpec {
    /// The cache devices.
    pub device: DeviceGroup,
    /// Used part of each device. Default: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Cache device, used", extend("minimum" = 0, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub size: Option<Bytes>,
    /// Maximum bytes of a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "write_max", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2", "x-slider" = [1_048_576, 268_435_456]))]
    pub write_max: Option<Bytes>,
    /// Additional bytes of a pass while the ARC has evicted nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "write_boost", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub write_boost: Option<Bytes>,
    /// How far a pass scans each list, as a multiple of the bytes that one pass may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "headroom", range(min = 1, max = 1_000_000))]
    pub headroom: Option<u32>,
    /// Time between two passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "feed_secs", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64))]
    pub feed: Option<Nanos>,
    /// Whether a pass that wrote more than half of its limit is followed sooner. Default: as in the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "feed_again")]
    pub feed_again: Option<bool>,
    /// Whether prefetched blocks are excluded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "noprefetch")]
    pub noprefetch: Option<bool>,
    /// Memory for each block on the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Header", extend("minimum" = 0, "maximum" = 4096))]
    pub header: Option<Bytes>,
}

impl L2arcSpec {
    /// Return the used bytes of each device. A device without its own size uses its kind's.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let group = &self.device;
        let whole = match (&group.hdd, &group.ssd, &group.lun) {
            (Some(hdd), ..) => hdd.capacity.0,
            (_, Some(ssd), _) => ssd.capacity.0,
            (.., Some(lun)) => lun.capacity.0,
            _ => 0,
        };
        self.size.map_or(whole, |size| size.0.min(whole))
    }
}
