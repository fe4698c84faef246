//! The summary of a run.

use schemars::JsonSchema;
use seeklab_spec::Problems;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::trace_info::Replayed;

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The case that ran; null for a scenario of one's own.
    pub case: Option<String>,
    /// Its variant.
    pub variant: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Fingerprint of all that happened.
    pub fingerprint: String,
    /// Metrics by name, in the order in which they were reported.
    #[schemars(with = "std::collections::BTreeMap<String, f64>")]
    pub metrics: Map<String, Value>,
    /// Their units.
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub units: Map<String, Value>,
    /// Events of the simulation.
    pub events: u64,
    /// Simulated time.
    pub simulated_ns: u64,
    /// Names of the jobs.
    pub jobs: Vec<String>,
    /// Names of the devices.
    pub devices: Vec<String>,
    /// Columns of the operation log that hold nothing but zeros: times in phases that no operation went through.
    pub zero_columns: Vec<String>,
    /// The trace that was replayed, if any.
    pub replay: Option<Replayed>,
    /// Settings that are valid but rarely intended.
    pub warnings: Problems,
}
