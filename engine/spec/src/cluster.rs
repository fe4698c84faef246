//! The typed description of a cluster, and what its schema cannot say.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Most copies of a block.
pub const MAX_COPIES: usize = 3;
/// Most blocks of a cluster: at some 40 bytes each.
pub const MAX_BLOCKS: u64 = 4 << 20;

/// Where a block lives, and how it is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// One copy where the virtual machine runs, the others on nodes drawn at random; the map is spread over all nodes. What is read elsewhere moves to the reader.
    #[default]
    Locality,
    /// Copies on nodes that a hash of the block's address names; there is no map to ask.
    Hash,
    /// Copies on both nodes of the virtual machine's pair, each content once in a pair, found through the pair's own table of fingerprints.
    DedupPairs,
    /// Each content once in the cluster, on nodes drawn at random; address to fingerprint and fingerprint to node are two tables spread over all nodes.
    DedupSpread,
    /// Copies on both nodes of a pair, of which the owner serves; every node knows the owner and sends requests on to it.
    RedirectPairs,
}

impl Design {
    /// Whether copies stay within pairs of nodes.
    #[must_use]
    pub fn is_paired(self) -> bool {
        matches!(self, Self::DedupPairs | Self::RedirectPairs)
    }
    /// Whether contents are found by their fingerprints.
    #[must_use]
    pub fn is_deduplicated(self) -> bool {
        matches!(self, Self::DedupPairs | Self::DedupSpread)
    }
}

/// Where the maps of a design that needs them are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Maps {
    /// Where the design has them: on as many nodes as a block has copies, or on the pair.
    #[default]
    Design,
    /// Whole on every node: nothing has to be asked for.
    Everywhere,
}

/// A virtual machine: the job of the same name.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name of its job.
    pub name: String,
    /// Node that it runs on at the start.
    #[schemars(title = "Runs on node", range(min = 0, max = 255))]
    pub node: u32,
}

/// A virtual machine that moves.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// Its job.
    pub vm: String,
    /// When.
    #[serde(default)]
    #[schemars(title = "Moves at")]
    pub at: Nanos,
    /// Where to.
    #[schemars(title = "Moves to node", range(min = 0, max = 255))]
    pub to: u32,
}

/// A node that is lost, with all that is on it.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Which one.
    #[schemars(title = "Lost node", range(min = 0, max = 255))]
    pub node: u32,
    /// When.
    #[serde(default)]
    #[schemars(title = "Lost at")]
    pub at: Nanos,
}

/// Nodes that share blocks among them. The scenario's devices are dealt out to the nodes in order, in equal numbers; the layout is each node's own.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    /// Where a block lives, and how it is found.
    #[serde(default)]
    #[schemars(title = "Design")]
    pub design: Design,
    /// Nodes.
    #[schemars(title = "Nodes", range(min = 2, max = 256))]
    pub nodes: u32,
    /// Copies of each block, on different nodes.
    #[serde(default = "two")]
    #[schemars(title = "Copies", range(min = 1, max = 3))]
    pub copies: u32,
    /// Unit of placement.
    #[serde(default = "default_block")]
    #[schemars(title = "Block", extend("minimum" = 4096, "maximum" = 1_048_576, "x-scale" = "log2"))]
    pub block: Bytes,
    /// Rate of each node's link, in each direction.
    #[serde(default = "default_link")]
    #[schemars(title = "Link of a node", extend("minimum" = 1_000_000, "maximum" = 100_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub link: Bytes,
    /// Round trip between two nodes.
    #[serde(default = "default_round_trip")]
    #[schemars(title = "Round trip", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub round_trip: Nanos,
    /// Whether what a virtual machine reads elsewhere moves to its node (locality only).
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Reads move blocks")]
    pub migrate: bool,
    /// Where the maps are.
    #[serde(default)]
    #[schemars(title = "Maps")]
    pub maps: Maps,
    /// Blocks whose content is that of another block, drawn over the whole cluster.
    #[serde(default)]
    #[schemars(title = "Duplicates", range(min = 0, max = 95), extend("x-unit" = "%"))]
    pub duplicates: u32,
    /// Whether the deduplicating designs look contents up; without, each block is stored for itself.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Fingerprints")]
    pub fingerprints: bool,
    /// Blocks that each node sends at once to protect again what has lost a copy.
    #[serde(default = "eight")]
    #[schemars(title = "Re-protection in flight", range(min = 1, max = 256), extend("x-scale" = "log2"))]
    pub rebuild_in_flight: u32,
    /// Where jobs run; the others run on node 0, 1, 2, ... in the order of the jobs.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub vms: Vec<Machine>,
    /// Virtual machines that move.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub moves: Vec<Move>,
    /// Nodes that are lost.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub failures: Vec<Failure>,
}

fn two() -> u32 {
    2
}
fn eight() -> u32 {
    8
}
fn default_block() -> Bytes {
    Bytes(1 << 20)
}
fn default_link() -> Bytes {
    Bytes(1_250_000_000)
}
fn default_round_trip() -> Nanos {
    Nanos(100_000)
}

impl ClusterSpec {
    /// Bytes of memory that the tables take for so many placed bytes, generously.
    #[must_use]
    pub fn table_bytes(&self, placed_bytes: u64) -> u64 {
        placed_bytes.div_ceil(self.block.0).min(MAX_BLOCKS) * 48
    }

    /// The node that a job runs on at the start.
    #[must_use]
    pub fn home(&self, job: usize, name: &str) -> u32 {
        let given = self.vms.iter().find(|vm| vm.name == name).map(|vm| vm.node);
        given.unwrap_or(u32::try_from(job).unwrap_or(0) % self.nodes)
    }
}
