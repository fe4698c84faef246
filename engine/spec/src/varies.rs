//! The variation of a logical unit's rate, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// The curve of the rate over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Constant.
    #[default]
    Constant,
    /// A sine, in steps.
    Sine,
    /// High for half a period, then low.
    Square,
    /// A random new factor in each period.
    Random,
}

/// The variation of a logical unit's rate.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Varies {
    /// Curve of the rate over time.
    #[serde(default)]
    #[schemars(title = "Rate over time")]
    pub shape: Shape,
    /// Length of a wave, or time between two random factors.
    #[serde(default = "second")]
    #[schemars(title = "Period", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64, "x-scale" = "log2"))]
    pub period: Nanos,
    /// Maximum deviation from the rate.
    #[serde(default)]
    #[schemars(title = "Amplitude", range(min = 0, max = 95), extend("x-unit" = "%"))]
    pub amplitude: u32,
    /// Bytes per second with one request in flight. Default: the full rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate at one in flight", extend("minimum" = 1, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub one_in_flight: Option<Bytes>,
    /// Number of requests in flight that reaches the full rate.
    #[serde(default = "ten")]
    #[schemars(title = "Full rate at", range(min = 2, max = 1024))]
    pub full_at: u32,
}

fn second() -> Nanos {
    Nanos(1_000_000_000)
}
fn ten() -> u32 {
    10
}
