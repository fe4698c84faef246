//! A drive-managed shingled (SMR) disk, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Shingled zones behind conventional zones. The conventional zones are a cache that takes writes at the unit's rate. When it is full,
/// the drive cleans a shingled zone: it reads the zone, merges the cached data, and writes the zone from start to end.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shingled {
    /// Size of a shingled zone.
    #[serde(default = "crate::defaults::zone")]
    #[schemars(title = "Shingled zone", extend("minimum" = 1_048_576, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub zone: Bytes,
    /// Size of the conventional zones that take writes first.
    #[schemars(title = "Conventional cache", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub cache: Bytes,
    /// Address ranges that the cache's map can hold. A full map triggers cleaning, as a full cache does.
    #[serde(default = "quarter_million")]
    #[schemars(title = "Ranges in the map", range(min = 1, max = 10_000_000), extend("x-scale" = "log2"))]
    pub ranges: u32,
    /// Time of one move of the heads between the cache and a shingled zone.
    #[serde(default = "twenty_ms")]
    #[schemars(title = "Move between zones", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub r#move: Nanos,
    /// Cleaning order of zones with cached data.
    #[serde(default)]
    #[schemars(title = "Cleaned first")]
    pub clean: CleanFirst,
    /// Gapless writes after which the drive detects a stream. From the start of the next zone, the stream goes directly to the shingled
    /// zones. 0 disables this.
    #[serde(default = "crate::defaults::zone")]
    #[schemars(title = "Stream from", extend("minimum" = 0, "maximum" = 1_125_899_906_842_624_u64))]
    pub stream: Bytes,
    /// Time without requests after which the drive cleans zones in the background. A request waits only for the zone that is being
    /// cleaned.
    #[serde(default = "two_s")]
    #[schemars(title = "Cleans after", extend("minimum" = 0, "maximum" = 31_536_000_000_000_000_u64))]
    pub idle: Nanos,
}

/// The cleaning order of zones with cached data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CleanFirst {
    /// The zone whose data have been in the cache longest.
    #[default]
    Oldest,
    /// The zone with the most bytes in the cache.
    Fullest,
}

fn quarter_million() -> u32 {
    250_000
}
fn twenty_ms() -> Nanos {
    Nanos(20_000_000)
}
fn two_s() -> Nanos {
    Nanos(2_000_000_000)
}
