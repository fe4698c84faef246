//! The ZFS file system in a scenario: a version, with overrides.
//!
//! A version ([`Era`]) sets every tunable; each field that is present overrides one.

use schemars::JsonSchema;
use serde::Serialize;

mod compression;
mod era;
mod free_space;
mod log;
mod read;
mod scrub;

pub use compression::CompressionSpec;
pub use era::Era;
pub use free_space::FreeSpaceSpec;
pub use log::{Datasets, IntentLogSpec};
pub use read::{ArcSpec, L2arcSpec, PrefetchSpec};
pub use scrub::ScrubSpec;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Which write throttle is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThrottleKind {
    /// None, except the size of memory.
    None,
    /// The group limit is rescaled at each sync. Writes are delayed by a tick beyond 7/8 of it, and stop at the limit.
    Zfs2008,
    /// As in 2008, but the limit follows a moving average of the measured rate.
    Zfs2010,
    /// At any time, a group's bytes stay below the measured rate times the group's age.
    Diagonal,
    /// Delay by the share of dirty data.
    OpenZfs,
    /// The engine's host chooses the delay of each write.
    Asked,
}

/// Which scheduler feeds the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SchedulerKind {
    /// One queue in deadline order with a fixed number in flight (before 2013).
    Deadline,
    /// Classes, each with a minimum and a maximum in flight (2013 and later).
    Active,
}

/// Where a group's blocks are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Sequentially into free space, whatever their place in the file.
    #[default]
    CopyOnWrite,
    /// Over their old location.
    InPlace,
}

/// Contents of memory when the run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Nothing.
    #[default]
    Empty,
    /// One full group that starts to sync, and one that waits behind it.
    Full,
}

/// Minimum and maximum requests of a class in flight on each device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassShare {
    /// Below this number, the class takes precedence over others.
    #[schemars(title = "Minimum in flight", range(min = 0, max = 10_000))]
    pub min: u32,
    /// The class never exceeds this number.
    #[schemars(title = "Maximum in flight", range(min = 0, max = 10_000))]
    pub max: u32,
}

/// A ZFS file system: write throttle, transaction groups, I/O scheduler.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the scenario
pub struct ZfsSpec {
    /// Version that sets the tunables.
    #[serde(default)]
    #[schemars(title = "Version")]
    pub era: Era,
    /// Block of a file. A smaller write makes the whole block dirty.
    #[serde(default = "default_record")]
    #[schemars(title = "Record size", extend("minimum" = 512, "maximum" = 16_777_216, "x-scale" = "log2"))]
    pub record: Bytes,
    /// Memory of the machine. The limits of dirty data are shares of it.
    #[serde(default = "default_memory")]
    #[schemars(title = "Memory", extend("minimum" = 67_108_864, "maximum" = 17_592_186_044_416_u64, "x-scale" = "log2"))]
    pub memory: Bytes,
    /// Memory for read caching. With 0, all reads except those of dirty data go to the devices.
    #[serde(default)]
    #[schemars(title = "Read cache", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub cache: Bytes,
    /// The version's own read cache, the ARC, instead of `cache`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arc: Option<ArcSpec>,
    /// Read-ahead per file into the ARC. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<PrefetchSpec>,
    /// Cache devices behind the ARC. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2arc: Option<L2arcSpec>,
    /// Time to start a request in memory.
    #[serde(default)]
    #[schemars(title = "Overhead")]
    pub overhead: Nanos,
    /// Copy rate of one request's data into or out of memory.
    #[serde(default = "default_copy_rate")]
    #[schemars(title = "Memory copy rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub copy_rate: Bytes,
    /// Maximum rate of all writers together. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Ingest rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub ingest: Option<Bytes>,
    /// Whether the files exist. A write to part of a block then reads the block first if it is not in memory.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Files exist")]
    pub files_exist: bool,
    /// Physical copies of each block.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Copies", range(min = 1, max = 3))]
    pub copies: u32,
    /// CPU time of one core for each written record. 0 makes them free.
    #[serde(default = "default_record_cpu")]
    #[schemars(title = "CPU time per record", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub record_cpu: Nanos,
    /// Processor cores that write records.
    #[serde(default = "default_cores")]
    #[schemars(title = "Cores", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub cores: u32,
    /// Indirect block with the pointers to records. It is written whenever one of them is. 0 makes pointers free. Default: the version's
    /// size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Indirect block", extend("minimum" = 0, "maximum" = 131_072, "x-scale" = "log2", "x-slider" = [8192, 131_072]))]
    pub indirect: Option<Bytes>,
    /// Metadata that each group writes regardless of its data, in addition to block pointers.
    #[serde(default)]
    #[schemars(title = "Metadata per group", extend("minimum" = 0, "maximum" = 1_073_741_824))]
    pub metadata: Bytes,
    /// Metadata that a group writes, as a share of its data, in addition to block pointers.
    #[serde(default)]
    #[schemars(title = "Metadata per data", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub metadata_percent: u32,
    /// Where blocks are written.
    #[serde(default)]
    pub placement: Placement,
    /// Compression of records. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<CompressionSpec>,
    /// How full the pool is. Default: all of it is free, and new data follow each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_space: Option<FreeSpaceSpec>,
    /// A scrub of the pool. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<ScrubSpec>,
    /// Contents of memory at the start.
    #[serde(default)]
    pub start: Start,
    /// Intent log, which synchronous writes wait for.
    #[serde(default)]
    pub log: IntentLogSpec,

    /// Write throttle. Default: the version's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Throttle")]
    pub throttle: Option<ThrottleKind>,
    /// I/O scheduler of the devices. Default: the version's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Scheduler")]
    pub scheduler: Option<SchedulerKind>,
    /// Maximum time from the start of one sync to the start of the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Group timeout", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64))]
    pub txg_timeout: Option<Nanos>,
    /// Maximum dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "dirty_data_max", extend("minimum" = 1, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub dirty_data_max: Option<Bytes>,
    /// Dirty bytes that make a group sync early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "dirty_data_sync")]
    pub dirty_data_sync: Option<Bytes>,
    /// Share of the maximum dirty data that makes a group sync early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "dirty_data_sync_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub dirty_data_sync_percent: Option<u32>,
    /// Share of the maximum dirty data above which writes are delayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "delay_min_dirty_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub delay_min_dirty_percent: Option<u32>,
    /// Delay half way between the start of delays and the maximum dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "delay_scale", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub delay_scale: Option<Nanos>,
    /// Maximum delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "delay_max", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub delay_max: Option<Nanos>,
    /// Initial limit of a group's data (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "First group limit")]
    pub write_limit: Option<Bytes>,
    /// Upper bound of a group's limit (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "write_limit_max")]
    pub write_limit_max: Option<Bytes>,
    /// Target duration of a sync (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "txg_synctime", extend("minimum" = 100_000_000, "maximum" = 600_000_000_000_u64))]
    pub txg_synctime: Option<Nanos>,
    /// Clock tick: the delay of a write beyond 7/8 of the limit (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Tick", extend("minimum" = 100_000, "maximum" = 1_000_000_000))]
    pub tick: Option<Nanos>,
    /// Whether the threshold of 7/8 is computed with a shift in the wrong direction, so that every write exceeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Shift bug")]
    pub shift_bug: Option<bool>,
    /// Rate that the diagonal throttle assumes. Default: measured at each sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Diagonal rate", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub diagonal_rate: Option<Bytes>,
    /// Group writes in flight on each device while little data is dirty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_min_active", range(min = 1, max = 10_000))]
    pub async_write_min_active: Option<u32>,
    /// Group writes in flight on each device while much data is dirty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_max_active", range(min = 1, max = 10_000))]
    pub async_write_max_active: Option<u32>,
    /// Share of the maximum dirty data where the number in flight starts to grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_active_min_dirty_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub async_write_min_dirty_percent: Option<u32>,
    /// Share of the maximum dirty data where the number in flight reaches its maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_active_max_dirty_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub async_write_max_dirty_percent: Option<u32>,
    /// Synchronous reads in flight on each device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_read: Option<ClassShare>,
    /// Synchronous writes in flight on each device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_write: Option<ClassShare>,
    /// Prefetches in flight on each device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub async_read: Option<ClassShare>,
    /// Maximum requests in flight on each device, all classes together. For the scheduler before 2013, the fixed number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "max_active", range(min = 1, max = 100_000))]
    pub max_active: Option<u32>,
    /// Maximum size of a request that merges neighbours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "aggregation_limit", extend("minimum" = 0, "maximum" = 16_777_216))]
    pub aggregation_limit: Option<Bytes>,
    /// When the dirty data of a block are released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Release of dirty data")]
    pub release: Option<Release>,
    /// Passes to write a group: its data in the first, its metadata in the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Sync passes", range(min = 1, max = 16))]
    pub sync_passes: Option<u32>,
    /// Whether the delay curve is in force; off is an experiment.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Delay")]
    pub delay: bool,
    /// Whether delayed writers are woken one after the other; off is an experiment.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Serialised wake-ups")]
    pub serialise: bool,
    /// Whether the time that a write has already spent counts towards its delay; off is an experiment.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Credit for time served")]
    pub credit: bool,
    /// Whether the number of group writes in flight follows the dirty data. Off keeps it at its maximum.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Ramp of group writes")]
    pub ramp: bool,
}

fn default_record() -> Bytes {
    Bytes(128 << 10)
}
fn default_memory() -> Bytes {
    Bytes(8 << 30)
}
fn default_copy_rate() -> Bytes {
    Bytes(10_000_000_000)
}

fn default_record_cpu() -> Nanos {
    Nanos(40_000)
}
fn default_cores() -> u32 {
    8
}

impl ZfsSpec {
    /// Return a version without overrides.
    ///
    /// # Panics
    /// Never: every other field has a default.
    #[must_use]
    pub fn of(era: Era) -> Self {
        serde_json::from_value(serde_json::json!({ "era": era.name() })).expect("every other field has a default")
    }
}

/// When a block's dirty data are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// In parts, as each of its physical writes completes (2013 to 2.1).
    EachWrite,
    /// All at once, when its last physical write completes (2.2).
    WholeBlock,
    /// When its group has synced (before 2013).
    GroupEnd,
}
