//! What holds a job back or ends it: rates, pauses, shares, targets of latency, a steady state.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// From what the requests between two pauses are counted.
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
    /// All, also those that have not started.
    #[default]
    All,
    /// Those that run; the jobs behind the next `stonewall` follow.
    Stonewall,
    /// Those of the same `group`.
    Group,
}

impl ExitWhat {
    /// Whether it is the usual one.
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
    /// Which flow; jobs of the same number share one.
    #[serde(default)]
    pub id: u32,
    /// A worker that is ahead waits for its requests in flight, and then so long, before it looks again; without it, it goes on as soon
    /// as another has issued.
    #[serde(default)]
    #[schemars(title = "Wait of a worker that is ahead")]
    pub sleep: Nanos,
}

/// Limits of a mixed job's directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimits {
    /// Bytes a second that each worker may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate of reads", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub read: Option<Bytes>,
    /// Bytes a second that each worker may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate of writes", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub write: Option<Bytes>,
    /// Reads a second that each worker may issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Reads a second", range(min = 0.001, max = 1e9), extend("x-unit" = "1/s"))]
    pub read_iops: Option<f64>,
    /// Writes a second that each worker may issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes a second", range(min = 0.001, max = 1e9), extend("x-unit" = "1/s"))]
    pub write_iops: Option<f64>,
}

/// The least rate of a job. It is looked at once in each `cycle`, from two seconds after the worker's start on.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateMin {
    /// Bytes a second that each worker must reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Least rate", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub rate: Option<Bytes>,
    /// Requests a second that each worker must reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Least requests a second", range(min = 1, max = 1e9), extend("x-unit" = "1/s"))]
    pub iops: Option<f64>,
    /// Time over which the rate is taken.
    #[serde(default = "second")]
    #[schemars(title = "Cycle", extend("minimum" = 1_000_000))]
    pub cycle: Nanos,
}

/// A target of latency: each worker looks for the greatest queue depth at which it is met. From 1 the depth doubles with each window
/// in which it is met, up to one in which it is not, and is halved in between from there on; then one window at the depth that was found
/// is measured, and the job ends.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    /// The latency that requests shall not exceed.
    #[schemars(title = "Target", extend("minimum" = 1))]
    pub target: Nanos,
    /// Time for which a depth is tried.
    #[schemars(title = "Window", extend("minimum" = 1000))]
    pub window: Nanos,
    /// Share of a window's requests that must meet the target.
    #[serde(default = "all_percent")]
    #[schemars(title = "Requests within the target", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub percent: f64,
    /// Go on adapting until the job ends by itself.
    #[serde(default)]
    pub keep_adapting: bool,
}

/// What a steady state is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteadyOf {
    /// Requests a second: how far each second's is from the mean.
    Iops,
    /// Requests a second: the slope of their trend.
    IopsSlope,
    /// Bandwidth: how far each second's is from the mean.
    Bw,
    /// Bandwidth: the slope of its trend.
    BwSlope,
}

/// A steady state: the job ends when its rate, second by second, has varied little for so long.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SteadyState {
    /// What is judged.
    pub of: SteadyOf,
    /// The greatest deviation, or slope a second, in percent of the mean.
    #[schemars(title = "Limit", range(min = 0, max = 1000), extend("x-unit" = "%"))]
    pub percent: f64,
    /// For how long.
    #[schemars(title = "Window", extend("minimum" = 1_000_000_000, "maximum" = 86_400_000_000_000_u64))]
    pub duration: Nanos,
    /// Seconds before this are left out, counted from the job's start.
    #[serde(default)]
    #[schemars(title = "Left out at the start")]
    pub ramp: Nanos,
}

fn second() -> Nanos {
    Nanos(1_000_000_000)
}
fn all_percent() -> f64 {
    100.0
}
