//! The page cache of an operating system in a scenario: dirty pages, write-back, and the file system's journal.

use schemars::JsonSchema;
use serde::Serialize;

use crate::read_ahead::ReadAhead;
use crate::reader::FromJson;
use crate::{Bytes, Extent, Nanos, to_f64};

/// Contents of a journal commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Journal {
    /// No journal.
    None,
    /// Metadata. Data are written back separately, before or after the metadata that point to them.
    Writeback,
    /// Metadata. The data of every file in the commit are written to their final places first.
    #[default]
    Ordered,
}

/// Amount of dirty data above which writers are throttled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThrottleFrom {
    /// Half way from the background threshold to the limit. Writers are throttled to the write rate of the devices (Linux since 3.2).
    #[default]
    Midpoint,
    /// The limit. A writer sleeps until dirty data fall below it (Linux before 3.2).
    Limit,
}

/// Data that a commit locks until it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommitHolds {
    /// Pages being written to the devices, and metadata being written to the journal. Other writes continue.
    #[default]
    Pages,
    /// Every file of the commit, as in a file system that cannot copy metadata aside.
    Files,
}

/// The page cache: writes go to memory and are written back later. All files share one journal, except those of `unjournalled`.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageCacheSpec {
    /// Memory of the machine.
    #[serde(default = "sixteen_gib")]
    #[schemars(title = "Memory", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub memory: Bytes,
    /// Share of memory that is free or reclaimable and may hold dirty pages. Percentages refer to this part.
    #[serde(default = "dirtyable_share")]
    #[schemars(title = "Share that can be dirty", range(min = 0.01, max = 1.0))]
    pub dirtyable_share: f64,
    /// Dirty data above which background write-back starts: `dirty_background_ratio` or `dirty_background_bytes`.
    #[serde(default = "ten_percent")]
    #[schemars(title = "Background threshold")]
    pub background: Extent,
    /// Maximum dirty data: `dirty_ratio` or `dirty_bytes`. A background threshold that is not below it is replaced by half of it.
    #[serde(default = "twenty_percent")]
    #[schemars(title = "Limit")]
    pub limit: Extent,
    /// Amount of dirty data above which writers are throttled.
    #[serde(default)]
    #[schemars(title = "Throttle from")]
    pub throttle_from: ThrottleFrom,
    /// Age that makes dirty data eligible for write-back: `dirty_expire_centisecs`.
    #[serde(default = "thirty_seconds")]
    #[schemars(title = "Expire", extend("minimum" = 0, "maximum" = 3_600_000_000_000_u64))]
    pub expire: Nanos,
    /// How often the flusher looks for expired data (`dirty_writeback_centisecs`).
    #[serde(default = "five_seconds")]
    #[schemars(title = "Wake-up", extend("minimum" = 10_000_000, "maximum" = 3_600_000_000_000_u64))]
    pub wakeup: Nanos,
    /// Copy rate of a thread into or out of memory, in bytes per second.
    #[serde(default = "memory_rate")]
    #[schemars(title = "Memory rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub memory_rate: Bytes,
    /// Maximum size of a write-back request.
    #[serde(default = "four_mib")]
    #[schemars(title = "Write-back request", extend("minimum" = 4096, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub chunk: Bytes,
    /// Write-back requests in flight.
    #[serde(default = "thirty_two")]
    #[schemars(title = "Write-back depth", range(min = 1, max = 4096), extend("x-scale" = "log2"))]
    pub depth: u32,
    /// Contents of a journal commit.
    #[serde(default)]
    #[schemars(title = "Journal")]
    pub journal: Journal,
    /// Age when a journal transaction is committed even if nothing waits for it.
    #[serde(default = "five_seconds")]
    #[schemars(title = "Commit", extend("minimum" = 10_000_000, "maximum" = 3_600_000_000_000_u64))]
    pub commit: Nanos,
    /// Data that a commit locks until it ends.
    #[serde(default)]
    #[schemars(title = "Commit locks")]
    pub commit_holds: CommitHolds,
    /// Whether data get their place on the devices only at write-back (ext4). A commit then need not write them first.
    #[serde(default)]
    #[schemars(title = "Delayed allocation")]
    pub delayed_allocation: bool,
    /// Jobs whose files are on a separate file system without a journal, on the same devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Without a journal")]
    pub unjournalled: Vec<String>,
    /// The read side: data that were read stay in memory, and the cache reads ahead. Without it, reads of clean data go to the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<ReadAhead>,
}

impl PageCacheSpec {
    /// Return the dirty bytes that start write-back, and the maximum dirty bytes.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a part of the memory
    pub fn thresholds(&self) -> (u64, u64) {
        let dirtyable = (to_f64(self.memory.0) * self.dirtyable_share) as u64;
        let limit = self.limit.of(dirtyable).max(1);
        let background = self.background.of(dirtyable);
        (if background < limit { background } else { limit / 2 }, limit)
    }
}

fn sixteen_gib() -> Bytes {
    Bytes(16 << 30)
}
/// Measured on a machine of 94 GiB whose kernel printed its thresholds: 77.4 GiB of it could be dirty.
fn dirtyable_share() -> f64 {
    0.823
}
fn ten_percent() -> Extent {
    Extent::Percent(10.0)
}
fn twenty_percent() -> Extent {
    Extent::Percent(20.0)
}
fn thirty_seconds() -> Nanos {
    Nanos(30_000_000_000)
}
fn five_seconds() -> Nanos {
    Nanos(5_000_000_000)
}
/// 4 GiB in 3.727 s, as on a server of 2015.
fn memory_rate() -> Bytes {
    Bytes(1_152_500_000)
}
fn four_mib() -> Bytes {
    Bytes(4 << 20)
}
fn thirty_two() -> u32 {
    32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(document: serde_json::Value) -> PageCacheSpec {
        serde_json::from_value(document).expect("a page cache")
    }

    #[test]
    fn percentages_are_of_what_can_be_dirty() {
        let (background, limit) = spec(serde_json::json!({"memory": "94GiB"})).thresholds();
        assert!(background.abs_diff(8_306_681_499) <= 1 && limit.abs_diff(16_613_362_998) <= 1, "{background} {limit}");
    }

    #[test]
    fn a_background_threshold_at_the_limit_counts_as_half_of_it() {
        let (background, limit) = spec(serde_json::json!({"background": "64MiB", "limit": "64MiB"})).thresholds();
        assert_eq!((background, limit), (32 << 20, 64 << 20));
    }
}
