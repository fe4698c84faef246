//! The intent log in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, DeviceGroup, Nanos};

/// Which files share an intent log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Datasets {
    /// All files: they are in one file system.
    #[default]
    One,
    /// The files of a job: each job has its own file system.
    Job,
}

/// Intent log for synchronous writes.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntentLogSpec {
    /// Separate devices for the log. Default: the log is in the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<DeviceGroup>,
    /// Mirrored log devices per group. Blocks go to the groups in turn.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Log mirror width", range(min = 1, max = 4))]
    pub mirror: u32,
    /// File systems of the pool, each with its own intent log.
    #[serde(default)]
    #[schemars(title = "File systems")]
    pub datasets: Datasets,
    /// Time of the cache flush that ends each commit.
    #[serde(default)]
    #[schemars(title = "Cache flush", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub flush: Nanos,
    /// Host time of a commit besides its devices: task queues and wake-ups between a write, its log block and its acknowledgement.
    /// Default: 110 us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Commit time", extend("minimum" = 0, "maximum" = 10_000_000))]
    pub commit: Option<Nanos>,
    /// Host time that each write adds to its commit. Default: 8 us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Commit time per write", extend("minimum" = 0, "maximum" = 1_000_000))]
    pub commit_write: Option<Nanos>,
    /// Whether all waiting writes are committed together; off is an experiment.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Commits in batches")]
    pub batch: bool,
    /// Size of a commit above which its blocks go to the pool instead of the log devices. 0 means never. Default: the version's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "slog_limit", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub slog_limit: Option<Bytes>,
    /// Size of a commit above which its blocks wait behind other commits on the log devices. 0 means never. Default: the version's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "slog_bulk", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub slog_bulk: Option<Bytes>,
}

impl Default for IntentLogSpec {
    fn default() -> Self {
        Self {
            devices: None,
            mirror: 1,
            datasets: Datasets::One,
            flush: Nanos(0),
            commit: None,
            commit_write: None,
            batch: true,
            slog_limit: None,
            slog_bulk: None,
        }
    }
}

impl IntentLogSpec {
    /// Return a log device's capacity from its data sheet; None without devices, or for a unit without its own capacity.
    #[must_use]
    pub fn sold_bytes(&self) -> Option<Bytes> {
        let group = self.devices.as_ref()?;
        group.ssd.as_ref().map(|ssd| ssd.capacity).or(group.hdd.as_ref().map(|hdd| hdd.capacity))
    }
}
