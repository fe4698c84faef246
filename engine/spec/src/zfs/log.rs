//! The intent log in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, DeviceGroup, Nanos};

/// Which files share an intent log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Datasets {
    /// All: they are in one file system.
    #[default]
    One,
    /// Those of a job: each job has a file system of its own.
    Job,
}

/// Intent log of synchronous writes.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IntentLogSpec {
    /// Devices of their own for the log; the log is in the pool when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<DeviceGroup>,
    /// Log devices that hold the same; blocks go to the groups of so many in turn.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Sides of a log mirror", range(min = 1, max = 4))]
    pub mirror: u32,
    /// File systems of the pool, each with an intent log of its own.
    #[serde(default)]
    #[schemars(title = "File systems")]
    pub datasets: Datasets,
    /// Time of the cache flush that ends each commit.
    #[serde(default)]
    #[schemars(title = "Cache flush", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub flush: Nanos,
    /// Whether all who wait are committed together; off is an experiment.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Commits in batches")]
    pub batch: bool,
    /// Bytes of a commit beyond which its blocks go to the pool, not to the log devices; 0 means never. The version's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "slog_limit", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub slog_limit: Option<Bytes>,
    /// Bytes of a commit beyond which its blocks wait behind other commits on the log devices; 0 means never. The version's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "slog_bulk", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub slog_bulk: Option<Bytes>,
}

impl Default for IntentLogSpec {
    fn default() -> Self {
        Self { devices: None, mirror: 1, datasets: Datasets::One, flush: Nanos(0), batch: true, slog_limit: None, slog_bulk: None }
    }
}

impl IntentLogSpec {
    /// The capacity of a log device that a data sheet gives; None without devices, and of a unit that has none of its own.
    #[must_use]
    pub fn sold_bytes(&self) -> Option<Bytes> {
        let group = self.devices.as_ref()?;
        group.ssd.as_ref().map(|ssd| ssd.capacity).or(group.hdd.as_ref().map(|hdd| hdd.capacity))
    }
}
