//! The cluster in a scenario, with the checks that its schema cannot express.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// Maximum copies of a block.
pub const MAX_COPIES: usize = 3;
/// Maximum blocks of a cluster; each takes about 40 bytes of memory.
pub const MAX_BLOCKS: u64 = 4 << 20;

/// Where the copies of a block are, and how a node finds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// One copy on the virtual machine's node, the others on random nodes. The map is spread over all nodes. A block that is read from
    /// another node moves to the reader.
    #[default]
    Locality,
    /// Copies on the nodes that a hash of the block's address selects. No map is needed.
    Hash,
    /// Copies on both nodes of the virtual machine's pair. Each pair stores a given content once and finds it in its own fingerprint
    /// table.
    DedupPairs,
    /// Each content is stored once in the cluster, on random nodes. Two tables are spread over all nodes: address to fingerprint, and
    /// fingerprint to node.
    DedupSpread,
    /// Copies on both nodes of a pair; one of them, the owner, serves requests. Every node knows the owner and forwards requests to it.
    RedirectPairs,
}

impl Design {
    /// Return whether copies stay within pairs of nodes.
    #[must_use]
    pub fn is_paired(self) -> bool {
        matches!(self, Self::DedupPairs | Self::RedirectPairs)
    }
    /// Return whether contents are found by their fingerprints.
    #[must_use]
    pub fn is_deduplicated(self) -> bool {
        matches!(self, Self::DedupPairs | Self::DedupSpread)
    }
}

/// Where the maps are, in designs that need them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Maps {
    /// Where the design puts them: on as many nodes as a block has copies, or on the pair.
    #[default]
    Design,
    /// A full copy on every node, so that no lookup crosses the network.
    Everywhere,
}

/// A virtual machine; it runs the job of the same name.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name of its job.
    pub name: String,
    /// Node that runs it at the start.
    #[schemars(title = "Runs on node", range(min = 0, max = 255))]
    pub node: u32,
}

/// A move of a virtual machine to another node.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// Job of the virtual machine.
    pub vm: String,
    /// Time of the move.
    #[serde(default)]
    #[schemars(title = "Moves at")]
    pub at: Nanos,
    /// Node that it moves to.
    #[schemars(title = "Moves to node", range(min = 0, max = 255))]
    pub to: u32,
}

/// The loss of a node with all its data.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Node that is lost.
    #[schemars(title = "Lost node", range(min = 0, max = 255))]
    pub node: u32,
    /// Time of the loss.
    #[serde(default)]
    #[schemars(title = "Lost at")]
    pub at: Nanos,
}

/// A cluster of nodes that share blocks. The scenario's devices are dealt to the nodes in order, in equal numbers. The layout applies
/// within each node.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    /// Where the copies of a block are, and how a node finds them.
    #[serde(default)]
    #[schemars(title = "Design")]
    pub design: Design,
    /// Number of nodes.
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
    #[schemars(title = "Link per node", extend("minimum" = 1_000_000, "maximum" = 100_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub link: Bytes,
    /// Round trip between two nodes.
    #[serde(default = "default_round_trip")]
    #[schemars(title = "Round trip", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub round_trip: Nanos,
    /// Whether a block that a virtual machine reads from another node moves to its own node (locality only).
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Reads move blocks")]
    pub migrate: bool,
    /// Where the maps are.
    #[serde(default)]
    #[schemars(title = "Maps")]
    pub maps: Maps,
    /// Share of blocks whose content equals that of another block, anywhere in the cluster.
    #[serde(default)]
    #[schemars(title = "Duplicates", range(min = 0, max = 95), extend("x-unit" = "%"))]
    pub duplicates: u32,
    /// Whether the deduplicating designs look up fingerprints. Otherwise they store each block separately.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Fingerprints")]
    pub fingerprints: bool,
    /// Blocks that each node re-protects at the same time after a copy is lost.
    #[serde(default = "eight")]
    #[schemars(title = "Re-protection in flight", range(min = 1, max = 256), extend("x-scale" = "log2"))]
    pub rebuild_in_flight: u32,
    /// Nodes of the jobs. Other jobs run on node 0, 1, 2, ... in order.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub vms: Vec<Machine>,
    /// Moves of virtual machines.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub moves: Vec<Move>,
    /// Losses of nodes.
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
    /// Return an upper estimate of the memory of the tables, in bytes, for this many placed bytes.
    #[must_use]
    pub fn table_bytes(&self, placed_bytes: u64) -> u64 {
        placed_bytes.div_ceil(self.block.0).min(MAX_BLOCKS) * 48
    }

    /// Return the node that runs a job at the start.
    #[must_use]
    pub fn home(&self, job: usize, name: &str) -> u32 {
        let given = self.vms.iter().find(|vm| vm.name == name).map(|vm| vm.node);
        given.unwrap_or(u32::try_from(job).unwrap_or(0) % self.nodes)
    }
}
