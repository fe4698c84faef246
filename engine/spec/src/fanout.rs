//! A fan-out client in a scenario: each request asks many servers, and may ask a second replica of each.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Most leaves of a request.
pub const MAX_LEAVES: u32 = 10_000;

/// A fan-out: a request is answered when its leaves are, each by one of the servers that hold the leaf's key.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FanoutSpec {
    /// Leaves of a request: questions that go out to servers at the same time.
    #[schemars(title = "Leaves", range(min = 1, max = 10_000), extend("x-scale" = "log2"))]
    pub leaves: u32,
    /// Servers that leaves go to.
    #[serde(default = "hundred")]
    #[schemars(title = "Servers", range(min = 1, max = 4096), extend("x-scale" = "log2"))]
    pub servers: u32,
    /// Servers that hold each key: any of them can answer.
    #[serde(default = "three")]
    #[schemars(title = "Replicas", range(min = 1, max = 16))]
    pub replicas: u32,
    /// Keys that leaves ask for, each equally often. With few of them servers have uneven shares.
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
    /// Leaves that a server works on at a time; the others wait in its queue. Without it a server takes any number at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "At a time", range(min = 1, max = 65_536), extend("x-scale" = "log2"))]
    pub concurrency: Option<u32>,
    /// How long a server works on a leaf.
    pub service: Service,
    /// When a second replica is asked; never without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hedge: Option<Hedge>,
    /// Servers that are slower than usual, or for a while.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub slow: Vec<SlowServer>,
}

/// The distribution of service times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceKind {
    /// `time`, but for the `slow_percent` that take `slow`.
    TwoPoint,
    /// A gamma distribution with mean `time` and `shape`; shape 1 is the exponential distribution.
    Gamma,
    /// `time`, but for the `slow_percent` whose times have a Pareto distribution that begins at `time` and has the index `shape`.
    Pareto,
    /// As long as the server's device takes: server and device have the same number.
    Below,
}

/// What makes a leaf slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SlowBy {
    /// The server at that moment: each copy of a leaf draws its own time.
    #[default]
    Draw,
    /// What is asked for: all copies of a leaf take the same time.
    Key,
}

/// How long a server works on a leaf.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The distribution.
    #[schemars(title = "Service times")]
    pub kind: ServiceKind,
    /// The ordinary time; the mean of a gamma distribution.
    #[serde(default = "ten_ms")]
    #[schemars(title = "Service time", extend("minimum" = 1000, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub time: Nanos,
    /// The time of a slow leaf, of two-point.
    #[serde(default = "second")]
    #[schemars(title = "Slow service time", extend("minimum" = 1000, "maximum" = 600_000_000_000_u64, "x-scale" = "log2"))]
    pub slow: Nanos,
    /// Share of the leaves that are slow, of two-point and Pareto.
    #[serde(default = "one_percent")]
    #[schemars(title = "Slow leaves", range(min = 0.0, max = 100.0), extend("x-unit" = "%"))]
    pub slow_percent: f64,
    /// Shape of a gamma distribution, index of a Pareto distribution: the smaller, the longer the tail.
    #[serde(default = "four")]
    #[schemars(title = "Shape", range(min = 0.1, max = 100.0))]
    pub shape: f64,
    /// What makes a leaf slow.
    #[serde(default)]
    #[schemars(title = "Slow by")]
    pub slow_by: SlowBy,
}

/// How two copies of a leaf know of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HedgeMode {
    /// They do not: the client withdraws the other copy when the first answer is there.
    #[default]
    Hedged,
    /// The server that begins a copy tells the other one to drop its own.
    Tied,
}

/// A second copy of a leaf for another replica.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hedge {
    /// How copies know of each other.
    #[serde(default)]
    #[schemars(title = "Copies are")]
    pub mode: HedgeMode,
    /// How long a leaf waits for its first answer before a second replica is asked.
    #[serde(default = "ten_ms")]
    #[schemars(title = "Second copy after", extend("minimum" = 0, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub after: Nanos,
    /// In place of a fixed time: this percentile of the leaves' latencies so far. `after` holds for the first 1000 leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Second copy after percentile", range(min = 50.0, max = 99.99), extend("x-unit" = "%"))]
    pub percentile: Option<f64>,
    /// Time of a cancellation on its way.
    #[serde(default = "quarter_ms")]
    #[schemars(title = "Message", extend("minimum" = 0, "maximum" = 1_000_000_000, "x-scale" = "log2"))]
    pub message: Nanos,
    /// Most copies among the last 1000 leaves; no limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Budget of copies", range(min = 0.0, max = 100.0), extend("x-unit" = "%"))]
    pub budget: Option<f64>,
}

/// A server, or all of them, that is slower for a while.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowServer {
    /// Its number, from 0; all servers when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Server", range(min = 0, max = 4095))]
    pub server: Option<u32>,
    /// How many times as long it works on what it begins.
    #[schemars(title = "Times as slow", range(min = 0.01, max = 10_000.0))]
    pub times: f64,
    /// Since when.
    #[serde(default)]
    #[schemars(title = "From")]
    pub at: Nanos,
    /// For how long; to the end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "For")]
    pub r#for: Option<Nanos>,
}

impl FanoutSpec {
    /// How many leaves a request waits for.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 10,000
    pub fn needed(&self) -> u32 {
        // A share such as 90.909 % of 11 shall be 10: less than a millionth of a leaf is not rounded up.
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
