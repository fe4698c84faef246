//! A volume that is limited by I/O credits, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// I/O credits of a volume: a token bucket.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credits {
    /// Credits earned in a second, and I/Os a second without any left.
    #[schemars(title = "Base rate", range(min = 1, max = 10_000_000), extend("x-unit" = "1/s", "x-scale" = "log2"))]
    pub base: u32,
    /// Most I/Os a second while there are credits. A volume whose base is as high needs none.
    #[serde(default = "three_thousand")]
    #[schemars(title = "Burst rate", range(min = 1, max = 10_000_000), extend("x-unit" = "1/s", "x-scale" = "log2"))]
    pub burst: u32,
    /// Most credits that it can hold.
    #[serde(default = "half_an_hour_at_burst")]
    #[schemars(title = "Most credits", range(min = 1, max = 1_000_000_000), extend("x-scale" = "log2"))]
    pub capacity: u64,
    /// Credits at the start; all that it can hold when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Credits at the start", range(min = 0, max = 1_000_000_000))]
    pub initial: Option<u64>,
    /// Bytes that one credit pays for; a larger request costs several.
    #[serde(default = "quarter_mib")]
    #[schemars(title = "Bytes for a credit", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub unit: Bytes,
    /// Credits that come from elsewhere, again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_up: Option<TopUp>,
}

/// Credits that come from elsewhere, again and again.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopUp {
    /// When they come first.
    #[schemars(title = "First top-up")]
    pub first: Nanos,
    /// Time from one to the next.
    #[schemars(title = "Time between top-ups", extend("minimum" = 1_000_000_000))]
    pub every: Nanos,
    /// How many, as far as there is room.
    #[schemars(title = "Credits of a top-up", range(min = 1, max = 1_000_000_000))]
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
