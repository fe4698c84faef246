//! The monitor in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Nanos, Problem};

/// A monitor that averages over windows of time.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MonitorSpec {
    /// Time that one point of its chart stands for.
    #[schemars(title = "Monitor window", extend("minimum" = 1_000_000, "maximum" = 86_400_000_000_000_u64))]
    pub window: Nanos,
    /// When windows begin, after a whole number of windows; counts modulo the window.
    #[serde(default)]
    #[schemars(title = "Window begins at", extend("maximum" = 86_400_000_000_000_u64))]
    pub phase: Nanos,
    /// The only job that it watches; all are when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// It watches at least so long, even if the run ends before.
    #[serde(default)]
    #[schemars(extend("maximum" = 86_400_000_000_000_u64))]
    pub span: Nanos,
    /// Evenly spaced phases over which the sweep's metrics are taken.
    #[serde(default = "default_phases")]
    #[schemars(title = "Phases of the sweep", range(min = 1, max = 10_000))]
    pub phases: u32,
}

fn default_phases() -> u32 {
    200
}

/// The refusal of a window that is longer than what is watched.
#[must_use]
pub fn too_long(at: impl Into<String>, window: Nanos, span: Nanos) -> Problem {
    Problem::new(at, format!("{window} is longer than the {span} that are watched; write a shorter window"))
}
