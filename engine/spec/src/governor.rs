//! Limits and end conditions of a job: rates, pauses, shares, latency targets, steady state.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Which requests are counted between two pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PauseBy {
    /// Completed requests.
    Complete,
    /// Issued requests.
    Issue,
}

/// Which jobs stop when a job with `exitall` ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExitWhat {
    /// All, including those that have not started.
    #[default]
    All,
    /// Running jobs. The jobs after the next `stonewall` then start.
    Stonewall,
    /// Jobs of the same `group`.
    Group,
}

impl ExitWhat {
    /// Return whether this is the default.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
    pub fn is_default(&self) -> bool {
        *self == Self::All
    }
}

/// A share of a flow: workers of a flow issue requests in proportion to their weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Weight of each worker of the job.
    #[schemars(range(min = 1, max = 1000))]
    pub weight: u32,
    /// Flow number. Jobs with the same number share a flow.
    #[serde(default)]
    pub id: u32,
    /// A worker that is ahead first completes its requests in flight, then waits this long before it checks again. Default: it checks as
    /// soon as another worker has issued a request.
    #[serde(default)]
    #[schemars(title = "Wait of a worker ahead")]
    pub sleep: Nanos,
}

/// Separate limits for a mixed job's reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimits {
    /// Bytes per second that each worker may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate of reads", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub read: Option<Bytes>,
    /// Bytes per second that each worker may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate of writes", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub write: Option<Bytes>,
    /// Reads per second that each worker may issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Reads a second", range(min = 0.001, max = 1e9), extend("x-unit" = "1/s"))]
    pub read_iops: Option<f64>,
    /// Writes per second that each worker may issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes a second", range(min = 0.001, max = 1e9), extend("x-unit" = "1/s"))]
    pub write_iops: Option<f64>,
}

/// Minimum rate of a job. It is checked once per `cycle`, starting two seconds after the worker's start.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateMin {
    /// Bytes per second that each worker must reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Minimum rate", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub rate: Option<Bytes>,
    /// Requests per second that each worker must reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Minimum request rate", range(min = 1, max = 1e9), extend("x-unit" = "1/s"))]
    pub iops: Option<f64>,
    /// Period over which the rate is averaged.
    #[serde(default = "second")]
    #[schemars(title = "Cycle", extend("minimum" = 1_000_000))]
    pub cycle: Nanos,
}

/// A latency target: each worker searches for the largest queue depth that meets it. The depth starts at 1 and doubles with each window
/// that meets the target, until one misses it. A binary search follows. Then one window measures the result, and the job ends.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// Maximum latency of a request.
    #[schemars(title = "Target", extend("minimum" = 1))]
    pub target: Nanos,
    /// Length of the window for trying a depth.
    #[schemars(title = "Window", extend("minimum" = 1000))]
    pub window: Nanos,
    /// Share of a window's requests that must meet the target.
    #[serde(default = "all_percent")]
    #[schemars(title = "Requests within the target", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub percent: f64,
    /// Continue adapting until the job ends for another reason.
    #[serde(default)]
    pub keep_adapting: bool,
}

/// The value that is compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteadyOf {
    /// I/O rate: deviation of each second from the mean.
    Iops,
    /// I/O rate: slope of the trend.
    IopsSlope,
    /// Bandwidth: deviation of each second from the mean.
    Bw,
    /// Bandwidth: slope of the trend.
    BwSlope,
}

/// Steady state: the job ends once its rate per second has stayed within a limit for `duration`.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SteadyState {
    /// Value that is compared with the limit.
    pub of: SteadyOf,
    /// Maximum deviation, or slope per second, in percent of the mean.
    #[schemars(title = "Limit", range(min = 0, max = 1000), extend("x-unit" = "%"))]
    pub percent: f64,
    /// Time that the limit must hold.
    #[schemars(title = "Window", extend("minimum" = 1_000_000_000, "maximum" = 86_400_000_000_000_u64))]
    pub duration: Nanos,
    /// Initial period that is not evaluated, from the job's start.
    #[serde(default)]
    #[schemars(title = "Ignored at the start")]
    pub ramp: Nanos,
}

fn second() -> Nanos {
    Nanos(1_000_000_000)
}
fn all_percent() -> f64 {
    100.0
}
