//! Disks that are shaken, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Nanos;
use crate::reader::FromJson;

/// Vibration that pushes the heads of disks off their tracks: an attempt to read or write then fails, and the disk tries again when the
/// sector comes round, a whole revolution later.
#[derive(Clone, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shake {
    /// Probability that an attempt finds the head off its track, whenever nobody shouts: a loose mounting, a fan.
    #[schemars(title = "Off track, always", range(min = 0.0, max = 0.999))]
    pub off_track: f64,
    /// Times at which it is another one, in order of time.
    #[schemars(title = "Shouts", length(max = 1000))]
    pub shouts: Vec<Shout>,
    /// Which of the group's disks are shaken, by their number in it from 0 on; all of them when empty.
    #[schemars(title = "Shaken disks", length(max = 1024))]
    pub disks: Vec<u32>,
    /// Most attempts of a request that fail in a row; the next one succeeds.
    #[schemars(title = "Most retries", range(min = 1, max = 10_000))]
    pub most_retries: u32,
}

impl Default for Shake {
    fn default() -> Self {
        Self { off_track: 0.0, shouts: Vec::new(), disks: Vec::new(), most_retries: 100 }
    }
}

/// A time during which disks are shaken.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shout {
    /// When it begins, from the start of the run.
    #[schemars(title = "Shout at", extend("maximum" = 86_400_000_000_000_u64))]
    pub at: Nanos,
    /// How long it lasts.
    #[schemars(title = "Shout for", extend("minimum" = 1, "maximum" = 86_400_000_000_000_u64))]
    pub r#for: Nanos,
    /// Probability that an attempt finds the head off its track meanwhile.
    #[schemars(title = "Off track", range(min = 0.0, max = 0.999))]
    pub off_track: f64,
}
