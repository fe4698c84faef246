//! How large a job's requests are and where they go, beyond one size and one order: mixes, strides, zones, files, reads that verify.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// A zone of shingled disks, as drives have them.
pub const ZONE: Bytes = Bytes(256 << 20);

/// A size, and how many of the requests have it.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Size of these requests.
    #[schemars(title = "Block size", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub bs: Bytes,
    /// Their share of the requests.
    #[schemars(title = "Share", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub percent: f64,
}

/// Mixes of request sizes. The shares of a mix add up to 100 %.
#[derive(Clone, Debug, Default, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeMix {
    /// Sizes of reads.
    #[schemars(length(max = 64))]
    pub read: Vec<SizeShare>,
    /// Sizes of writes; those of reads when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub write: Vec<SizeShare>,
}

impl SizeMix {
    /// The sizes of one direction.
    #[must_use]
    pub fn of(&self, writes: bool) -> &[SizeShare] {
        if writes && !self.write.is_empty() { &self.write } else { &self.read }
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.read.iter().chain(&self.write).filter(|share| share.percent > 0.0).map(|share| share.bs.0)
    }

    /// The smallest size that is drawn, in bytes.
    #[must_use]
    pub fn smallest(&self) -> Option<u64> {
        self.sizes().min()
    }

    /// The largest size that is drawn, in bytes.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.sizes().max()
    }
}

/// What a sequential job leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stride {
    /// Bytes that are left out after each request.
    #[schemars(title = "Left out", extend("minimum" = 512))]
    pub skip: Bytes,
    /// Go back by so much from the end of each request instead: twice the block size reads a file backwards.
    #[serde(default)]
    pub backwards: bool,
}

/// Zones that are visited one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StridedZones {
    /// Bytes to transfer in a zone before the next zone's turn.
    #[schemars(title = "Bytes in a zone", extend("minimum" = 512))]
    pub size: Bytes,
    /// Length of a zone; `size` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Length of a zone", extend("minimum" = 512))]
    pub range: Option<Bytes>,
    /// Bytes between the end of a zone and the start of the next.
    #[serde(default)]
    #[schemars(title = "Gap between zones")]
    pub skip: Bytes,
}

/// Zones that are written from their start to their end only, as a host-managed zoned drive demands it: a write goes to its zone's write
/// pointer, a read below it, and a full zone that is written to is reset first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequentialZones {
    /// Bytes from the start of a zone to the start of the next.
    #[serde(default = "crate::defaults::zone")]
    #[schemars(title = "Zone", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// Bytes of a zone that can be written, from its start; all of it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Capacity of a zone", extend("minimum" = 4096))]
    pub capacity: Option<Bytes>,
    /// Zones of a file that may be written in part at the same time; any number when absent. A write to another zone goes to one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Zones open at most", range(min = 1, max = 4096))]
    pub max_open: Option<u32>,
    /// Whether reads go to the place that was drawn, written or not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "Reads beyond the write pointer")]
    pub read_beyond: bool,
}

impl SequentialZones {
    /// Bytes of a zone that can be written.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity.unwrap_or(self.size).0
    }
}

/// Which of its files a worker takes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileService {
    /// One after the other, in turn.
    #[default]
    RoundRobin,
    /// One until it is done, then the next.
    Sequential,
    /// Any, at random.
    Random,
}

impl FileService {
    /// Whether it is the usual one.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
    pub fn is_default(&self) -> bool {
        *self == Self::RoundRobin
    }
}

/// Reads of what was written: each block once, in the order in which it was written, or by place where random offsets are drawn with
/// repetition. Comparing takes no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    /// Read back after so many writes; after all writes of a pass when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes before they are read back", range(min = 1, max = 1_000_000))]
    pub backlog: Option<u32>,
    /// How many to read back at a time; `backlog` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Blocks read back at a time", range(min = 1, max = 1_000_000))]
    pub batch: Option<u32>,
}
