//! The controller in a scenario: the node's cores, the controllers of a virtual disk, and the cost of a request.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// The part of the address space that forms a virtual disk with its own controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disks {
    /// Each file (region) of the jobs.
    #[default]
    File,
    /// The whole address space.
    One,
}

/// The distribution of work around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// Constant.
    #[default]
    Constant,
    /// Exponentially distributed.
    Exponential,
}

/// Requests that need the shared state exclusively.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Exclusive {
    /// None: all share it.
    #[default]
    Never,
    /// Writes only.
    Writes,
    /// All requests: the lock has no shared mode.
    Always,
}

/// How the owner of a range is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OwnerMap {
    /// Ranges belong to the shards in turn, or as listed in `owners`.
    #[default]
    Fixed,
    /// The engine's host chooses at each request.
    Asked,
}

/// The lock on the state that the shards of a disk share.
#[derive(Clone, Debug, Default, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StateLock {
    /// Part of a shard's work during which it holds the lock.
    #[schemars(title = "Lock held", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub held_percent: f64,
    /// Requests that hold the lock exclusively.
    #[schemars(title = "Exclusive for")]
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
    /// Rate of copies that the node sends, in bytes per second.
    #[schemars(title = "Replica network", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub rate: Bytes,
}

/// A change of the number of shards during the run.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// When the new number of shards is ordered, from the start of the run.
    pub at: Nanos,
    /// New number of shards.
    #[schemars(title = "Shards", range(min = 1, max = 1024))]
    pub shards: u32,
}

/// Part of a request's cost that a function belongs to.
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

    /// Return the name in a flame graph.
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

/// A function that accounts for part of a cost, for the flame graph.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// The part of the cost.
    pub of: Part,
    /// Name of the function. Semicolons separate callers from callees.
    #[schemars(length(min = 1, max = 128))]
    pub name: String,
    /// Share of that part. The rest is charged to the part itself.
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
    /// The part of the address space that forms a virtual disk with its own controllers.
    #[serde(default)]
    #[schemars(title = "Virtual disk")]
    pub disks: Disks,
    /// Controllers of each disk. One serves the disk alone; several receive requests from a primary.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Shards", range(min = 1, max = 1024), extend("x-slider" = [1, 16]))]
    pub shards: u32,
    /// Bytes of a disk that belong to one shard before the next shard's range starts.
    #[serde(default = "default_range")]
    #[schemars(title = "Range of a shard", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub range: Bytes,
    /// Owners of the ranges, in turn. Default: 0, 1, 2, ... With fewer shards, the numbers wrap around.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 65536))]
    pub owners: Vec<u32>,
    /// Whether the owners are fixed, or your program chooses at each request (`seeklab.run_shard_map`).
    #[serde(default)]
    #[schemars(title = "Range owners")]
    pub map: OwnerMap,
    /// Additional work of a shard on its first request for a range that another shard owned before, if a program chooses the owners.
    #[serde(default)]
    #[schemars(title = "Takeover of a range", extend("maximum" = 1_000_000_000))]
    pub takeover: Nanos,
    /// Limit the shards of each disk to the number of cores divided by the number of disks.
    #[serde(default)]
    #[schemars(title = "Only onto spare cores")]
    pub only_spare_cores: bool,
    /// Threads of a controller. With more than one, requests for the same block may overtake each other.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Threads of a controller", range(min = 1, max = 1024))]
    pub threads: u32,
    /// Changes of the number of shards during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub resizes: Vec<Resize>,
    /// Whether a change of the number of shards waits for all earlier requests. Otherwise requests may overtake each other.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Resize waits for earlier requests")]
    pub resize_waits: bool,
    /// Work of the primary per request, if there are several shards.
    #[serde(default)]
    #[schemars(title = "Dispatch", extend("maximum" = 1_000_000_000))]
    pub dispatch: Nanos,
    /// Work of a shard per read, whatever its size.
    #[serde(default)]
    #[schemars(title = "Cost of a read", extend("maximum" = 1_000_000_000))]
    pub read: Nanos,
    /// Work of a shard per write, whatever its size.
    #[serde(default)]
    #[schemars(title = "Cost of a write", extend("maximum" = 1_000_000_000))]
    pub write: Nanos,
    /// Work of a shard per byte.
    #[serde(default)]
    #[schemars(title = "Cost of a byte", range(min = 0, max = 1000), extend("x-unit" = "ns/B"))]
    pub per_byte: f64,
    /// All of these costs, as a percentage of the given values.
    #[serde(default = "whole")]
    #[schemars(title = "Cost", range(min = 1, max = 1000), extend("x-unit" = "%"))]
    pub cost_percent: f64,
    /// Distribution of the work on a request.
    #[serde(default)]
    #[schemars(title = "Work times")]
    pub spread: Spread,
    /// Lock on the state that shards share. Default: no lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<StateLock>,
    /// Copies of each write on other nodes. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Replicas>,
    /// Functions that account for the costs.
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
    /// Return the shards that a disk gets if it asks for `wanted`, on a node with this many disks.
    #[must_use]
    pub fn granted(&self, wanted: u32, disks: usize) -> u32 {
        let spare = self.cores / u32::try_from(disks.max(1)).unwrap_or(u32::MAX);
        if self.only_spare_cores { wanted.min(spare.max(1)) } else { wanted }
    }

    /// Return the maximum shards of a disk during the run.
    #[must_use]
    pub fn max_shards(&self, disks: usize) -> u32 {
        let wanted = self.resizes.iter().map(|resize| resize.shards).fold(self.shards, u32::max);
        self.granted(wanted, disks)
    }
}
