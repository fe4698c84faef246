//! I/O credits that limit a volume, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// I/O credits of a volume: a token bucket.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credits {
    /// Credits earned per second, and the I/O rate without credits.
    #[schemars(title = "Base rate", range(min = 1, max = 10_000_000), extend("x-unit" = "1/s", "x-scale" = "log2"))]
    pub base: u32,
    /// Maximum I/O rate while there are credits. A volume whose base rate is as high needs no credits.
    #[serde(default = "three_thousand")]
    #[schemars(title = "Burst rate", range(min = 1, max = 10_000_000), extend("x-unit" = "1/s", "x-scale" = "log2"))]
    pub burst: u32,
    /// Maximum credits that the volume can hold.
    #[serde(default = "half_an_hour_at_burst")]
    #[schemars(title = "Maximum credits", range(min = 1, max = 1_000_000_000), extend("x-scale" = "log2"))]
    pub capacity: u64,
    /// Credits at the start. Default: the maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Credits at the start", range(min = 0, max = 1_000_000_000))]
    pub initial: Option<u64>,
    /// Bytes that one credit pays for. A larger request costs several.
    #[serde(default = "quarter_mib")]
    #[schemars(title = "Bytes per credit", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub unit: Bytes,
    /// Periodic top-ups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_up: Option<TopUp>,
}

/// Periodic top-ups of credits from outside.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopUp {
    /// Time of the first top-up.
    #[schemars(title = "First top-up")]
    pub first: Nanos,
    /// Time from one top-up to the next.
    #[schemars(title = "Time between top-ups", extend("minimum" = 1_000_000_000))]
    pub every: Nanos,
    /// Credits per top-up, up to the maximum.
    #[schemars(title = "Credits per top-up", range(min = 1, max = 1_000_000_000))]
    pub amount: u64,
}

fn three_thousand() -> u32 {
    3000
}
fn half_an_hour_at_burst() -> u64 {
    5_400_000
}
fn quarter_mib() -> Bytes {
    Bytes(1 << 18)
}
