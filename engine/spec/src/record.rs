//! What a run keeps, and the bounds that it may not exceed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// What a run keeps besides its summary.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Keep the operation log.
    pub log: bool,
    /// Keep the server's analytics: what each client's requests, each device and the cores did in each interval.
    pub analytics: bool,
    /// Resolution of the time series.
    #[schemars(title = "Interval", extend("minimum" = 1_000_000))]
    pub interval: Nanos,
    /// Keep where requests stayed, for how long and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journeys: Option<JourneysSpec>,
}

/// The requests whose journeys are kept.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JourneysSpec {
    /// Begin of the window.
    pub from: Nanos,
    /// End of the window.
    pub until: Nanos,
    /// Most requests, without their parts.
    pub requests: u32,
    /// Most stays kept; beyond, every second journey is left out.
    #[schemars(range(min = 1000, max = 4_000_000))]
    pub stays: u32,
}

impl Default for JourneysSpec {
    fn default() -> Self {
        Self { from: Nanos(0), until: Nanos(31_536_000_000_000_000), requests: u32::MAX, stays: 50_000 }
    }
}

impl Default for Record {
    fn default() -> Self {
        Self { log: true, analytics: false, interval: Nanos(100_000_000), journeys: None }
    }
}

/// Bounds that a run may not exceed; each but `operations` ends the run with an error that names it.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Simulated time.
    #[schemars(extend("minimum" = 1, "maximum" = 31_536_000_000_000_000_u64))]
    pub time: Nanos,
    /// Events of the simulation.
    #[schemars(range(min = 1, max = 100_000_000_000_u64))]
    pub events: u64,
    /// Memory of the run.
    #[schemars(extend("minimum" = 1_048_576, "maximum" = 3_221_225_472_u64))]
    pub memory: Bytes,
    /// Operations, of which one of more than 64 KiB counts as several. Reaching it is no error: the jobs stop issuing, and the report
    /// says so. Jobs that start together have an equal part
    /// of it, so that jobs behind a `stonewall` or a `wait_for` run too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Operations", range(min = 1, max = 100_000_000_000_u64))]
    pub operations: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Nanos(86_400_000_000_000), events: 2_000_000_000, memory: Bytes(1 << 30), operations: None }
    }
}
