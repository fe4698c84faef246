//! How the rate of a logical unit varies, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// How the rate follows time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Not at all.
    #[default]
    Constant,
    /// A sine, in steps.
    Sine,
    /// High for half a period, then low.
    Square,
    /// A new factor each period, drawn at random.
    Random,
}

/// How the rate of a logical unit varies.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Varies {
    /// How the rate follows time.
    #[serde(default)]
    #[schemars(title = "Rate over time")]
    pub shape: Shape,
    /// Length of a wave, or of the time between two draws.
    #[serde(default = "second")]
    #[schemars(title = "Period", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64, "x-scale" = "log2"))]
    pub period: Nanos,
    /// Largest deviation from the rate.
    #[serde(default)]
    #[schemars(title = "Amplitude", range(min = 0, max = 95), extend("x-unit" = "%"))]
    pub amplitude: u32,
    /// Bytes per second with one request in flight; the full rate when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate at one in flight", extend("minimum" = 1, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub one_in_flight: Option<Bytes>,
    /// Requests in flight from which on the rate is the full one.
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
