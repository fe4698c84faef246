//! Data that a run keeps, and its limits.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Data that a run keeps in addition to its summary.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Keep the operation log.
    pub log: bool,
    /// Keep the server's analytics: activity of each client, each device and the cores in each interval.
    pub analytics: bool,
    /// Keep each worker's statistics besides the job's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub workers: bool,
    /// Resolution of the time series.
    #[schemars(title = "Interval", extend("minimum" = 1_000_000))]
    pub interval: Nanos,
    /// Keep the journeys of requests: each stay with its place, time and phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journeys: Option<JourneysSpec>,
}

/// Requests whose journeys are kept.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JourneysSpec {
    /// Start of the window.
    pub from: Nanos,
    /// End of the window.
    pub until: Nanos,
    /// Maximum requests, without their parts.
    pub requests: u32,
    /// Maximum stays. Beyond this, every second journey is dropped.
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
        Self { log: true, analytics: false, workers: false, interval: Nanos(100_000_000), journeys: None }
    }
}

/// Limits of a run. Exceeding any of them except `operations` ends the run with an error that names it.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Simulated time.
    #[schemars(extend("minimum" = 1, "maximum" = 31_536_000_000_000_000_u64))]
    pub time: Nanos,
    /// Events of the simulation.
    #[schemars(range(min = 1, max = 100_000_000_000_u64))]
    pub events: u64,
    /// Memory used by the run.
    #[schemars(extend("minimum" = 1_048_576, "maximum" = 3_221_225_472_u64))]
    pub memory: Bytes,
    /// Maximum operations; one of more than 64 KiB counts as several. Reaching the limit is not an error: the jobs stop issuing, and the
    /// report mentions it. Jobs that start together get equal parts of it, so jobs after a `stonewall` or `wait_for` run too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Operations", range(min = 1, max = 100_000_000_000_u64))]
    pub operations: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Nanos(86_400_000_000_000), events: 2_000_000_000, memory: Bytes(1 << 30), operations: None }
    }
}
