//! A fan-out client in a scenario: each request queries many servers, and may query a second replica of each.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Maximum leaves of a request.
pub const MAX_LEAVES: u32 = 10_000;

/// A fan-out. A request completes when its leaves are answered, each by a server that holds the leaf's key.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FanoutSpec {
    /// Leaves of a request: queries sent to servers at the same time.
    #[schemars(title = "Leaves", range(min = 1, max = 10_000), extend("x-scale" = "log2"))]
    pub leaves: u32,
    /// Number of servers.
    #[serde(default = "hundred")]
    #[schemars(title = "Servers", range(min = 1, max = 4096), extend("x-scale" = "log2"))]
    pub servers: u32,
    /// Servers that hold each key. Any of them can answer.
    #[serde(default = "three")]
    #[schemars(title = "Replicas", range(min = 1, max = 16))]
    pub replicas: u32,
    /// Number of keys; leaves request each equally often. With few keys, the load of the servers is uneven.
    #[serde(default = "hundred_thousand")]
    #[schemars(title = "Keys", range(min = 1, max = 1_000_000), extend("x-scale" = "log2"))]
    pub keys: u32,
    /// Bytes that a leaf reads on its server.
    #[serde(default = "leaf")]
    #[schemars(title = "Bytes of a leaf", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub leaf: Bytes,
    /// Share of its leaves that a request waits for, rounded up to a whole leaf.
    #[serde(default = "all")]
    #[schemars(title = "Leaves waited for", range(min = 0.01, max = 100.0), extend("x-unit" = "%"))]
    pub wait_for: f64,
    /// Leaves that a server processes at the same time; the others wait in its queue. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Concurrency", range(min = 1, max = 65_536), extend("x-scale" = "log2"))]
    pub concurrency: Option<u32>,
    /// Service time of a leaf.
    pub service: Service,
    /// When a leaf queries a second replica. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedge: Option<Hedge>,
    /// Servers that are slower than the others, always or for a while.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub slow: Vec<SlowServer>,
}

/// The distribution of service times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceKind {
    /// `time`, except for the `slow_percent` of leaves that take `slow`.
    TwoPoint,
    /// A gamma distribution with mean `time` and `shape`; shape 1 is the exponential distribution.
    Gamma,
    /// `time`, except for `slow_percent` of the leaves. Their times follow a Pareto distribution with scale `time` and index `shape`.
    Pareto,
    /// The time of the server's device. Server and device have the same number.
    Below,
}

/// The cause of a slow leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SlowBy {
    /// The server at that moment: each copy of a leaf draws its own time.
    #[default]
    Draw,
    /// The key: all copies of a leaf take the same time.
    Key,
}

/// Service time of a leaf.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Distribution of service times.
    #[schemars(title = "Service times")]
    pub kind: ServiceKind,
    /// Normal service time; the mean of a gamma distribution.
    #[serde(default = "ten_ms")]
    #[schemars(title = "Service time", extend("minimum" = 1000, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub time: Nanos,
    /// Service time of a slow leaf (two-point).
    #[serde(default = "second")]
    #[schemars(title = "Slow service time", extend("minimum" = 1000, "maximum" = 600_000_000_000_u64, "x-scale" = "log2"))]
    pub slow: Nanos,
    /// Share of slow leaves (two-point and Pareto).
    #[serde(default = "one_percent")]
    #[schemars(title = "Slow leaves", range(min = 0.0, max = 100.0), extend("x-unit" = "%"))]
    pub slow_percent: f64,
    /// Shape of a gamma distribution, or index of a Pareto distribution. Smaller values make the tail longer.
    #[serde(default = "four")]
    #[schemars(title = "Shape", range(min = 0.1, max = 100.0))]
    pub shape: f64,
    /// Cause of a slow leaf.
    #[serde(default)]
    #[schemars(title = "Slow by")]
    pub slow_by: SlowBy,
}

/// How two copies of a leaf coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HedgeMode {
    /// They do not. The client cancels the other copy when the first answer arrives.
    #[default]
    Hedged,
    /// The server that starts a copy tells the other server to drop its own.
    Tied,
}

/// A second copy of a leaf, sent to another replica.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hedge {
    /// How the copies coordinate.
    #[serde(default)]
    #[schemars(title = "Coordination")]
    pub mode: HedgeMode,
    /// Wait for the first answer before a second replica is queried.
    #[serde(default = "ten_ms")]
    #[schemars(title = "Second copy after", extend("minimum" = 0, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub after: Nanos,
    /// Wait until this percentile of the leaves' latencies so far, instead of a fixed time. `after` applies to the first 1000 leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Second copy after percentile", range(min = 50.0, max = 99.99), extend("x-unit" = "%"))]
    pub percentile: Option<f64>,
    /// Delay of a cancellation message.
    #[serde(default = "quarter_ms")]
    #[schemars(title = "Message", extend("minimum" = 0, "maximum" = 1_000_000_000, "x-scale" = "log2"))]
    pub message: Nanos,
    /// Maximum share of copies among the last 1000 leaves. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Budget of copies", range(min = 0.0, max = 100.0), extend("x-unit" = "%"))]
    pub budget: Option<f64>,
}

/// A slowdown of one server or all servers.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowServer {
    /// Server number, from 0. Default: all servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Server", range(min = 0, max = 4095))]
    pub server: Option<u32>,
    /// Factor on the time of leaves that start during the slowdown.
    #[schemars(title = "Times as slow", range(min = 0.01, max = 10_000.0))]
    pub times: f64,
    /// Start of the slowdown.
    #[serde(default)]
    #[schemars(title = "From")]
    pub at: Nanos,
    /// Length of the slowdown. Default: until the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "For")]
    pub r#for: Option<Nanos>,
}

impl FanoutSpec {
    /// Return the number of leaves that a request waits for.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 10,000
    pub fn needed(&self) -> u32 {
        // A share such as 90.909% of 11 must give 10, so we do not round up less than a millionth of a leaf.
        let share = f64::from(self.leaves) * self.wait_for / 100.0 - 1e-6;
        let whole = share.max(0.0) as u32;
        (whole + u32::from(f64::from(whole) < share)).clamp(1, self.leaves.max(1))
    }
}

fn hundred() -> u32 {
    100
}
fn three() -> u32 {
    3
}
fn hundred_thousand() -> u32 {
    100_000
}
fn leaf() -> Bytes {
    Bytes(4096)
}
fn all() -> f64 {
    100.0
}
fn ten_ms() -> Nanos {
    Nanos(10_000_000)
}
fn second() -> Nanos {
    Nanos(1_000_000_000)
}
fn one_percent() -> f64 {
    1.0
}
fn four() -> f64 {
    4.0
}
fn quarter_ms() -> Nanos {
    Nanos(250_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_leaves_is_rounded_up_to_a_whole_one() {
        let of = |leaves: u32, wait_for: f64| {
            let spec = serde_json::json!({"leaves": leaves, "wait_for": wait_for, "service": {"kind": "gamma"}});
            serde_json::from_value::<FanoutSpec>(spec).expect("a fan-out").needed()
        };
        assert_eq!([of(11, 100.0), of(11, 90.92), of(11, 90.0), of(100, 95.0), of(3, 0.01)], [11, 11, 10, 95, 1]);
        assert_eq!(of(11, 1000.0 / 11.0), 10);
    }
}
