//! Vibration of disks, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Nanos;
use crate::reader::FromJson;

/// Vibration that pushes the heads of disks off their tracks. An attempt to read or write then fails, and the disk retries when the
/// sector passes the head again, a whole revolution later.
#[derive(Clone, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shake {
    /// Probability that an attempt finds the head off its track between shouts, for example because of a loose mounting or a fan.
    #[schemars(title = "Off track, always", range(min = 0.0, max = 0.999))]
    pub off_track: f64,
    /// Periods with another probability, in time order.
    #[schemars(title = "Shouts", length(max = 1000))]
    pub shouts: Vec<Shout>,
    /// Numbers of the group's shaken disks, from 0. Default: all.
    #[schemars(title = "Shaken disks", length(max = 1024))]
    pub disks: Vec<u32>,
    /// Maximum failed attempts of a request in a row. The next attempt succeeds.
    #[schemars(title = "Maximum retries", range(min = 1, max = 10_000))]
    pub most_retries: u32,
}

impl Default for Shake {
    fn default() -> Self {
        Self { off_track: 0.0, shouts: Vec::new(), disks: Vec::new(), most_retries: 100 }
    }
}

/// A period with a different probability of failed attempts.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shout {
    /// Start of the shout, from the start of the run.
    #[schemars(title = "Shout at", extend("maximum" = 86_400_000_000_000_u64))]
    pub at: Nanos,
    /// Length of the shout.
    #[schemars(title = "Shout for", extend("minimum" = 1, "maximum" = 86_400_000_000_000_u64))]
    pub r#for: Nanos,
    /// Probability during the shout that an attempt finds the head off its track.
    #[schemars(title = "Off track", range(min = 0.0, max = 0.999))]
    pub off_track: f64,
}
