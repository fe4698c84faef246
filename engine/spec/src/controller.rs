//! The controller in a scenario: the node's cores, the controllers of a virtual disk, and what a request costs them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// What is a virtual disk with controllers of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disks {
    /// Each file (region) of the jobs.
    #[default]
    File,
    /// All of the address space.
    One,
}

/// How long work takes about its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// The same each time.
    #[default]
    Constant,
    /// Exponentially distributed.
    Exponential,
}

/// Which requests hold the shared state alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Exclusive {
    /// None: all share it.
    #[default]
    Never,
    /// Writes.
    Writes,
    /// All: a lock without a shared mode.
    Always,
}

/// Who says which shard owns a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OwnerMap {
    /// Nobody: ranges belong to the shards in turn, or as `owners` has it.
    #[default]
    Fixed,
    /// The engine's host, asked at each request.
    Asked,
}

/// The lock of what the shards of a disk share.
#[derive(Clone, Debug, Default, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StateLock {
    /// Part of a shard's work during which the lock is held.
    #[schemars(title = "Lock held", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub held_percent: f64,
    /// Which requests hold it alone.
    #[schemars(title = "Held alone by")]
    pub exclusive: Exclusive,
}

/// Copies of each write on other nodes.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replicas {
    /// Copies sent to other nodes.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Remote copies", range(min = 1, max = 8))]
    pub copies: u32,
    /// Rate at which the node sends copies, in bytes per second.
    #[schemars(title = "Replica network", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub rate: Bytes,
}

/// A change of the number of shards while the node runs.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// When it is ordered, from the start of the run.
    pub at: Nanos,
    /// The new number.
    #[schemars(title = "Shards", range(min = 1, max = 1024))]
    pub shards: u32,
}

/// The part of a request's cost that a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// `dispatch`.
    Dispatch,
    /// `read`.
    Read,
    /// `write`.
    Write,
    /// `per_byte`.
    Bytes,
}

impl Part {
    /// All parts, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Dispatch, Self::Read, Self::Write, Self::Bytes];

    /// The name in a flame graph.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::Read => "read",
            Self::Write => "write",
            Self::Bytes => "move bytes",
        }
    }
}

/// A function that a part of the cost is spent in, for the flame graph.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// The part of the cost.
    pub of: Part,
    /// Its name; a semicolon parts a caller from what it calls.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Its share of that part; what is left over belongs to the part itself.
    #[schemars(range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub percent: f64,
}

/// The controllers of virtual disks and the node that they run on.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerSpec {
    /// Cores of the node.
    #[schemars(title = "Cores", range(min = 1, max = 1024))]
    pub cores: u32,
    /// What has controllers of its own.
    #[serde(default)]
    #[schemars(title = "A virtual disk is")]
    pub disks: Disks,
    /// Controllers of each disk; one serves it alone, several are fed by a primary.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Shards", range(min = 1, max = 1024), extend("x-slider" = [1, 16]))]
    pub shards: u32,
    /// Bytes of a disk that belong to one shard before the next takes over.
    #[serde(default = "default_range")]
    #[schemars(title = "Range of a shard", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub range: Bytes,
    /// Owners of the ranges, in turn; 0, 1, 2, ... when empty. With fewer shards the numbers fold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 65536))]
    pub owners: Vec<u32>,
    /// Whether these owners are fixed, or a program of yours is asked at each request (`seeklab.run_shard_map`).
    #[serde(default)]
    #[schemars(title = "Owners are")]
    pub map: OwnerMap,
    /// A shard's further work on the first request of a range that comes to it from another, where owners are asked for.
    #[serde(default)]
    #[schemars(title = "Taking over a range", extend("maximum" = 1_000_000_000))]
    pub takeover: Nanos,
    /// Split a disk only as far as there are cores for its shards: at most the cores divided by the disks.
    #[serde(default)]
    #[schemars(title = "Split only onto spare cores")]
    pub only_spare_cores: bool,
    /// Threads of a controller. With more than one, requests of a block may overtake each other.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Threads of a controller", range(min = 1, max = 1024))]
    pub threads: u32,
    /// Changes of the number of shards during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub resizes: Vec<Resize>,
    /// Whether a change of the number of shards waits until what came before it is done; without it requests may overtake each other.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "A change waits for requests under way")]
    pub resize_waits: bool,
    /// The primary's work on each request, when there are several shards.
    #[serde(default)]
    #[schemars(title = "Dispatch", extend("maximum" = 1_000_000_000))]
    pub dispatch: Nanos,
    /// A shard's work on each read, whatever its size.
    #[serde(default)]
    #[schemars(title = "Cost of a read", extend("maximum" = 1_000_000_000))]
    pub read: Nanos,
    /// A shard's work on each write, whatever its size.
    #[serde(default)]
    #[schemars(title = "Cost of a write", extend("maximum" = 1_000_000_000))]
    pub write: Nanos,
    /// A shard's work on each byte.
    #[serde(default)]
    #[schemars(title = "Cost of a byte", range(min = 0, max = 1000), extend("x-unit" = "ns/B"))]
    pub per_byte: f64,
    /// All of these costs as a share of what is written here.
    #[serde(default = "whole")]
    #[schemars(title = "Cost", range(min = 1, max = 1000), extend("x-unit" = "%"))]
    pub cost_percent: f64,
    /// How the work on a request varies.
    #[serde(default)]
    #[schemars(title = "Work is")]
    pub spread: Spread,
    /// The lock of what shards share; it costs nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<StateLock>,
    /// Copies of each write on other nodes; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Replicas>,
    /// Functions that the costs are spent in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub functions: Vec<Function>,
}

fn whole() -> f64 {
    100.0
}
fn default_range() -> Bytes {
    Bytes(1 << 20)
}

impl ControllerSpec {
    /// The shards that a disk gets when `wanted` are, of a node with so many disks.
    #[must_use]
    pub fn granted(&self, wanted: u32, disks: usize) -> u32 {
        let spare = self.cores / u32::try_from(disks.max(1)).unwrap_or(u32::MAX);
        if self.only_spare_cores { wanted.min(spare.max(1)) } else { wanted }
    }

    /// The most shards that a disk has during the run.
    #[must_use]
    pub fn max_shards(&self, disks: usize) -> u32 {
        let wanted = self.resizes.iter().map(|resize| resize.shards).fold(self.shards, u32::max);
        self.granted(wanted, disks)
    }
}
