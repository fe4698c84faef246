//! A database in a scenario: each write of a job is a transaction, which commits by flushing logs one after the other.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Maximum logs of a database.
pub const MAX_LOGS: usize = 8;

/// A database that commits. After its work, a transaction passes through the stages in order, and each stage flushes a log. Transactions
/// that wait for the same log may share a flush. Reads skip all of this.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitSpec {
    /// Work per transaction outside the logs. Any number of transactions work at the same time.
    #[serde(default)]
    #[schemars(title = "Work", extend("maximum" = 60_000_000_000_u64))]
    pub work: Nanos,
    /// Serialised work per transaction (first come, first served).
    #[serde(default)]
    #[schemars(title = "Serial work", extend("maximum" = 60_000_000_000_u64))]
    pub serial_work: Nanos,
    /// The logs. Each runs one flush at a time, independently of the others.
    #[schemars(length(min = 1, max = 8))]
    pub logs: Vec<DatabaseLogSpec>,
    /// Names of the logs that a transaction flushes, in order. Stages with the same log share its queue and its flushes.
    #[schemars(length(min = 1, max = 16))]
    pub stages: Vec<String>,
}

/// Which waiting transactions share the next flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Batch {
    /// All that wait.
    #[default]
    All,
    /// The first in the queue.
    One,
    /// Those that the engine's host selects.
    Asked,
}

/// The distribution of flush times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlushTimes {
    /// Constant.
    Fixed,
    /// Exponentially distributed.
    #[default]
    Exponential,
    /// Uniform between 0.5 and 1.5 times the mean.
    Uniform,
}

/// A log of the database.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseLogSpec {
    /// Name that stages refer to.
    #[schemars(length(min = 1, max = 32))]
    pub name: String,
    /// Which waiting transactions share the next flush: all, the first, or those that your program selects (`seeklab.run_commit_policy`).
    #[serde(default)]
    #[schemars(title = "Flush batch")]
    pub batch: Batch,
    /// Duration of a flush, from a distribution. Default: a flush writes the batch's bytes to the layers below, and a FLUSH follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<FlushSpec>,
    /// Work of the host before each flush that is written below. For example, a growing file makes its file system write too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<FlushSpec>,
    /// Start of the log in the space of the layers below, if it is written there. Default: after the previous log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Log start")]
    pub offset: Option<Bytes>,
    /// Length of the log, if it is written below. It is written sequentially and wraps around at the end.
    #[serde(default = "default_size")]
    #[schemars(title = "Log length", extend("minimum" = 1_048_576, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
}

/// Duration of a flush.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlushSpec {
    /// Mean time of a flush.
    #[schemars(title = "Flush", extend("minimum" = 1000, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub mean: Nanos,
    /// Distribution of flush times around the mean.
    #[serde(default)]
    #[schemars(title = "Flush times")]
    pub times: FlushTimes,
    /// Time that each transaction of a batch adds to its flush.
    #[serde(default)]
    #[schemars(title = "Flush time per transaction", extend("maximum" = 1_000_000_000))]
    pub per_commit: Nanos,
}

fn default_size() -> Bytes {
    Bytes(256 << 20)
}

impl CommitSpec {
    /// Yield the number of each stage's log. Names without a log are skipped.
    pub fn log_of_stages(&self) -> impl Iterator<Item = usize> {
        self.stages.iter().filter_map(|stage| self.logs.iter().position(|log| log.name == *stage))
    }

    /// Return the start of each log in the space below, in bytes. Logs with random flush times take no space.
    #[must_use]
    pub fn offsets(&self) -> Vec<u64> {
        let mut next = 0;
        let place = |log: &DatabaseLogSpec| {
            let offset = log.offset.map_or(next, |offset| offset.0);
            if log.flush.is_none() {
                next = offset.saturating_add(log.size.0);
            }
            offset
        };
        self.logs.iter().map(place).collect()
    }
}
