//! A shingled drive that manages itself, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Shingled zones behind conventional ones: writes land in the conventional zones, the cache, at the unit's rate. When that is full, a
/// shingled zone is cleaned: read, merged with what the cache holds of it, and written from its start to its end.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shingled {
    /// Bytes of a shingled zone.
    #[serde(default = "crate::defaults::zone")]
    #[schemars(title = "Shingled zone", extend("minimum" = 1_048_576, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub zone: Bytes,
    /// Bytes of the conventional zones that take writes first.
    #[schemars(title = "Conventional cache", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub cache: Bytes,
    /// Ranges of addresses that the cache's map holds. A full map asks for cleaning as a full cache does.
    #[serde(default = "quarter_million")]
    #[schemars(title = "Ranges in the map", range(min = 1, max = 10_000_000), extend("x-scale" = "log2"))]
    pub ranges: u32,
    /// Moving the heads between the cache and a shingled zone, once.
    #[serde(default = "twenty_ms")]
    #[schemars(title = "Move between zones", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub r#move: Nanos,
    /// Which zone is cleaned first.
    #[serde(default)]
    #[schemars(title = "Cleaned first")]
    pub clean: CleanFirst,
    /// Writes without a gap after which the drive takes them for a stream: from the next zone's start on they go to the shingled zones
    /// directly. None do when 0.
    #[serde(default = "crate::defaults::zone")]
    #[schemars(title = "Stream from", extend("minimum" = 0, "maximum" = 1_125_899_906_842_624_u64))]
    pub stream: Bytes,
    /// Time without requests after which the drive cleans zones in the background. A request waits for the zone in hand only.
    #[serde(default = "two_s")]
    #[schemars(title = "Cleans after", extend("minimum" = 0, "maximum" = 31_536_000_000_000_000_u64))]
    pub idle: Nanos,
}

/// Which of the zones that have data in the cache is cleaned first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CleanFirst {
    /// The one that has had data in the cache for longest.
    #[default]
    Oldest,
    /// The one with most bytes in the cache.
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
