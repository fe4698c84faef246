//! Request sizes and offsets of a job beyond one size and one order: mixes, strides, zones, files, verification.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// Size of a zone on shingled disks: 256 MiB, as real drives use.
pub const ZONE: Bytes = Bytes(256 << 20);

/// A request size and its share of the requests.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Size of these requests.
    #[schemars(title = "Block size", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub bs: Bytes,
    /// Share of the requests with this size.
    #[schemars(title = "Share", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub percent: f64,
}

/// Mixes of request sizes. The shares of a mix add up to 100%.
#[derive(Clone, Debug, Default, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeMix {
    /// Sizes of reads.
    #[schemars(length(max = 64))]
    pub read: Vec<SizeShare>,
    /// Sizes of writes. Default: the same as for reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub write: Vec<SizeShare>,
}

impl SizeMix {
    /// Return the sizes of one direction.
    #[must_use]
    pub fn of(&self, writes: bool) -> &[SizeShare] {
        if writes && !self.write.is_empty() { &self.write } else { &self.read }
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.read.iter().chain(&self.write).filter(|share| share.percent > 0.0).map(|share| share.bs.0)
    }

    /// Return the smallest size of the mixes, in bytes.
    #[must_use]
    pub fn smallest(&self) -> Option<u64> {
        self.sizes().min()
    }

    /// Return the largest size of the mixes, in bytes.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.sizes().max()
    }
}

/// Gaps between the requests of a sequential job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stride {
    /// Bytes to skip after each request.
    #[schemars(title = "Skipped bytes", extend("minimum" = 512))]
    pub skip: Bytes,
    /// Skip backwards from the end of each request. A skip of twice the block size reads a file backwards.
    #[serde(default)]
    pub backwards: bool,
}

/// Zones to visit one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StridedZones {
    /// Bytes to transfer in a zone before moving to the next one.
    #[schemars(title = "Bytes per zone", extend("minimum" = 512))]
    pub size: Bytes,
    /// Length of a zone. Default: `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Zone length", extend("minimum" = 512))]
    pub range: Option<Bytes>,
    /// Bytes between the end of a zone and the start of the next.
    #[serde(default)]
    #[schemars(title = "Gap between zones")]
    pub skip: Bytes,
}

/// Zones with write pointers, which must be written sequentially, as on a host-managed zoned drive. A write goes to its zone's write
/// pointer and a read below it. A full zone is reset before it is written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequentialZones {
    /// Bytes from the start of a zone to the start of the next.
    #[serde(default = "crate::defaults::zone")]
    #[schemars(title = "Zone", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// Writable bytes of a zone, from its start. Default: the whole zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Zone capacity", extend("minimum" = 4096))]
    pub capacity: Option<Bytes>,
    /// Maximum number of a file's zones that are partly written at the same time. A write to another zone goes to one of these. Default:
    /// no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Maximum open zones", range(min = 1, max = 4096))]
    pub max_open: Option<u32>,
    /// Whether reads may go beyond the write pointer, to data that was never written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "Reads beyond the write pointer")]
    pub read_beyond: bool,
}

impl SequentialZones {
    /// Return the writable bytes of a zone.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity.unwrap_or(self.size).0
    }
}

/// A worker's order of its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileService {
    /// One after the other, in turn.
    #[default]
    RoundRobin,
    /// One file until it is finished, then the next.
    Sequential,
    /// A random file.
    Random,
}

impl FileService {
    /// Return whether this is the default.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
    pub fn is_default(&self) -> bool {
        *self == Self::RoundRobin
    }
}

/// Verification reads. Each written block is read back once, in write order, or by address if random offsets are drawn with repetition.
/// Comparing the data takes no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// Read back after this many writes. Default: after all writes of a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes before verification", range(min = 1, max = 1_000_000))]
    pub backlog: Option<u32>,
    /// Number of blocks to read back at a time. Default: `backlog`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Blocks verified at a time", range(min = 1, max = 1_000_000))]
    pub batch: Option<u32>,
}
