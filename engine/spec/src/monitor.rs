//! The monitor in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Nanos, Problem};

/// A monitor that averages over windows of time.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MonitorSpec {
    /// Time that one point of the monitor's chart covers.
    #[schemars(title = "Monitor window", extend("minimum" = 1_000_000, "maximum" = 86_400_000_000_000_u64))]
    pub window: Nanos,
    /// Start of the windows, as an offset from a whole number of windows. It counts modulo the window.
    #[serde(default)]
    #[schemars(title = "Window start", extend("maximum" = 86_400_000_000_000_u64))]
    pub phase: Nanos,
    /// Job that the monitor watches. Default: all jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Minimum watched time, even if the run ends earlier.
    #[serde(default)]
    #[schemars(extend("maximum" = 86_400_000_000_000_u64))]
    pub span: Nanos,
    /// Number of start times that the sweep tries, evenly spaced over one period.
    #[serde(default = "default_phases")]
    #[schemars(title = "Phases of the sweep", range(min = 1, max = 10_000))]
    pub phases: u32,
}

fn default_phases() -> u32 {
    200
}

/// Return the problem of a window that is longer than the watched time.
#[must_use]
pub fn too_long(at: impl Into<String>, window: Nanos, span: Nanos) -> Problem {
    Problem::new(at, format!("{window} is longer than the watched time, {span}; write a shorter window"))
}
