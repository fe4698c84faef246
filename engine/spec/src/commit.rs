//! A database in a scenario: each write of a job is a transaction, which commits by flushing logs one after the other.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Most logs of a database.
pub const MAX_LOGS: usize = 8;

/// A database that commits. A transaction is worked on, then passes the stages in order; each of them flushes a log, and those that
/// wait for the same log may share a flush. Reads pass it by.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitSpec {
    /// Work on a transaction outside the logs; any number of transactions are worked on at the same time.
    #[serde(default)]
    #[schemars(title = "Work", extend("maximum" = 60_000_000_000_u64))]
    pub work: Nanos,
    /// Further work on a transaction that is done for one at a time, first come first served.
    #[serde(default)]
    #[schemars(title = "Serial work", extend("maximum" = 60_000_000_000_u64))]
    pub serial_work: Nanos,
    /// The logs. Each is flushed by one at a time, and none waits for another.
    #[schemars(length(min = 1, max = 8))]
    pub logs: Vec<DatabaseLogSpec>,
    /// What a transaction flushes, in order, by the names of the logs. A log may come several times: its stages share queue and flushes.
    #[schemars(length(min = 1, max = 16))]
    pub stages: Vec<String>,
}

/// Which of those that wait for a log its next flush is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Batch {
    /// All.
    #[default]
    All,
    /// The first.
    One,
    /// Those that the engine's host names.
    Asked,
}

/// How the times of flushes are spread about their mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FlushTimes {
    /// The same each time.
    Fixed,
    /// Exponentially distributed.
    #[default]
    Exponential,
    /// Anything from half of the mean to one and a half, equally likely.
    Uniform,
}

/// A log of the database.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseLogSpec {
    /// Name, by which stages refer to it.
    #[schemars(length(min = 1, max = 32))]
    pub name: String,
    /// Which of those that wait the next flush is for: all, the first, or those that a program of yours names
    /// (`seeklab.run_commit_policy`).
    #[serde(default)]
    #[schemars(title = "A flush is for")]
    pub batch: Batch,
    /// How long a flush takes, when it is drawn. Without it a flush is a write of the batch's bytes, and a FLUSH, to the layers below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<FlushSpec>,
    /// Work of the host for each flush that is written below, before it gets there: a file that grows makes its file system write, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<FlushSpec>,
    /// Where it begins in the space of the layers below, if it is written there: behind the log before it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Begins at")]
    pub offset: Option<Bytes>,
    /// Its length, if it is written below. It is written from its begin to its end, and from its begin again.
    #[serde(default = "default_size")]
    #[schemars(title = "Length of the log", extend("minimum" = 1_048_576, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
}

/// How long a flush takes.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlushSpec {
    /// Mean time of a flush.
    #[schemars(title = "Flush", extend("minimum" = 1000, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub mean: Nanos,
    /// How flush times are spread about the mean.
    #[serde(default)]
    #[schemars(title = "Flush times are")]
    pub times: FlushTimes,
    /// Time that each transaction of a batch adds to its flush.
    #[serde(default)]
    #[schemars(title = "Flush, for each transaction", extend("maximum" = 1_000_000_000))]
    pub per_commit: Nanos,
}

fn default_size() -> Bytes {
    Bytes(256 << 20)
}

impl CommitSpec {
    /// The number of the log of each stage; what is not the name of a log is left out.
    pub fn log_of_stages(&self) -> impl Iterator<Item = usize> {
        self.stages.iter().filter_map(|stage| self.logs.iter().position(|log| log.name == *stage))
    }

    /// Where each log begins in the space below, in bytes. Logs whose flushes are drawn take no place.
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
