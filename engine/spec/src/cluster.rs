//! The typed description of a cluster, and what its schema cannot say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AddProblem, Bytes, LayoutKind, Nanos, Path, Problem, Problems, Scenario};

/// Most copies of a block.
pub const MOST_COPIES: usize = 3;
/// Files start at multiples of this; a block may not straddle two of them.
const FILE_ALIGNMENT: u64 = 1 << 20;
/// Most blocks of a cluster: at some 40 bytes each.
pub const MOST_BLOCKS: u64 = 4 << 20;

/// Where a block lives, and how it is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Maps {
    /// Where the design has them: on as many nodes as a block has copies, or on the pair.
    #[default]
    Design,
    /// Whole on every node: nothing has to be asked for.
    Everywhere,
}

/// A virtual machine: the job of the same name.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name of its job.
    pub name: String,
    /// Node that it runs on at the start.
    #[schemars(title = "Runs on node", range(min = 0, max = 255))]
    pub node: u32,
}

/// A virtual machine that moves.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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
        placed_bytes.div_ceil(self.block.0).min(MOST_BLOCKS) * 48
    }

    /// The node that a job runs on at the start.
    #[must_use]
    pub fn home(&self, job: usize, name: &str) -> u32 {
        let given = self.vms.iter().find(|vm| vm.name == name).map(|vm| vm.node);
        given.unwrap_or(u32::try_from(job).unwrap_or(0) % self.nodes)
    }
}

/// Adds what is wrong with the cluster at `at` beyond its schema.
pub fn check(spec: &ClusterSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let nodes = spec.nodes;
    if spec.copies > nodes {
        let copies = spec.copies;
        problems.add(
            at.field("copies"),
            format!("{copies} copies need as many nodes, and there are {nodes}; write at most {nodes}, or more nodes"),
        );
    }
    if spec.design.is_paired() {
        if !nodes.is_multiple_of(2) {
            problems.add(at.field("nodes"), format!("{nodes} nodes do not make pairs; write an even number"));
        }
        if spec.copies != 2 {
            problems.add(at.field("copies"), format!("{} copies do not fit a pair, which has one on each side; write 2", spec.copies));
        }
    }
    if !spec.block.0.is_power_of_two() {
        problems.add(
            at.field("block"),
            format!("{} is not a power of two, as files start at multiples of {FILE_ALIGNMENT} bytes", spec.block.0),
        );
    }
    let mut of = |at: Path, node: u32| {
        if node >= nodes {
            problems.add(at, format!("{node} is not a node; there are {nodes}, numbered from 0"));
        }
    };
    spec.vms.iter().enumerate().for_each(|(index, vm)| of(at.index("vms", index).field("node"), vm.node));
    spec.moves.iter().enumerate().for_each(|(index, moved)| of(at.index("moves", index).field("to"), moved.to));
    spec.failures.iter().enumerate().for_each(|(index, failure)| of(at.index("failures", index).field("node"), failure.node));
    for (index, moved) in spec.moves.iter().enumerate() {
        let lost = spec.failures.iter().any(|failure| failure.node == moved.to && failure.at <= moved.at);
        if lost && !spec.design.is_paired() {
            problems.add(at.index("moves", index).field("to"), format!("node {} is lost by then; move to another, or earlier", moved.to));
        }
    }
    for (index, failure) in spec.failures.iter().enumerate() {
        if spec.failures[..index].iter().any(|other| other.node == failure.node) {
            problems.add(at.index("failures", index).field("node"), format!("node {} is lost already; write each node once", failure.node));
        }
    }
    check_protection(spec, at, problems);
    let devices: u32 = scenario.devices.iter().map(|group| group.count).sum();
    if !devices.is_multiple_of(nodes) {
        problems.add(
            at.field("nodes"),
            format!("{devices} devices cannot be dealt out evenly to {nodes} nodes; write a multiple of {nodes} devices"),
        );
    } else if let Some(width) = scenario
        .layout
        .width
        .filter(|width| matches!(scenario.layout.kind, LayoutKind::Mirror | LayoutKind::RaidZ) && !(devices / nodes).is_multiple_of(*width))
    {
        problems.add(
            at.field("nodes"),
            format!("the {} devices of each node do not make whole groups of {width}, layout.width", devices / nodes),
        );
    }
    if !scenario.layout.failed.is_empty() {
        problems.add(at.field("failures"), "layout.failed names devices, a cluster loses nodes: write cluster.failures in its place");
    }
    if scenario.tier.as_ref().is_some_and(|tier| !tier.primed.is_empty()) {
        problems.add(at.field("nodes"), "tier.primed names places of files, and a tier below a cluster holds blocks of nodes; drop it");
    }
    let names = |name: &String| scenario.jobs.iter().any(|job| job.name == *name);
    let lists = [
        ("vms", "name", spec.vms.iter().map(|vm| &vm.name).collect::<Vec<_>>()),
        ("moves", "vm", spec.moves.iter().map(|moved| &moved.vm).collect()),
    ];
    for (list, field, found) in lists {
        for (index, name) in found.into_iter().enumerate().filter(|(_, name)| !names(name)) {
            let known = scenario.jobs.iter().map(|job| job.name.as_str());
            problems.push(Problem::unknown(at.index(list, index).field(field), "job", name, known));
        }
    }
}

/// A cluster that loses more than it can protect again is refused, with what would be lost.
fn check_protection(spec: &ClusterSpec, at: &Path, problems: &mut Problems) {
    let lost = u32::try_from(spec.failures.len()).unwrap_or(u32::MAX);
    if lost == 0 {
        return;
    }
    let left = spec.nodes.saturating_sub(lost);
    if spec.design.is_paired() {
        let both = |failure: &&Failure| spec.failures.iter().any(|other| other.node == (failure.node ^ 1));
        if let Some(failure) = spec.failures.iter().find(both) {
            let (one, other) = (failure.node & !1, failure.node | 1);
            problems.add(
                at.field("failures"),
                format!("nodes {one} and {other} are a pair: every block of that pair would be lost; lose only one of the two"),
            );
        }
    } else if lost >= spec.copies {
        // Of all ways to put the copies on nodes, those that lie within the lost ones.
        let share = (0..spec.copies)
            .fold(1.0, |share, at| share * f64::from(lost.saturating_sub(at)) / f64::from(spec.nodes.saturating_sub(at).max(1)));
        let percent = 100.0 * share;
        problems.add(at.field("failures"),
            format!(
                "{lost} lost nodes can hold all {} copies of a block: about {percent:.1} % of the blocks would be lost before they are protected again; lose fewer than {} nodes, or keep more copies",
                spec.copies, spec.copies
            ),
        );
    } else if left < spec.copies && spec.copies <= spec.nodes {
        // Copies lie on different nodes: each lost node held one of nearly every block.
        let percent = 100.0 * f64::from(spec.copies) / f64::from(spec.nodes);
        problems.add(at.field("failures"),
            format!(
                "cannot protect again: too few nodes, {left}, are left for {} copies, and about {percent:.0} % of the blocks would stay without their lost copy; add nodes, or write {left} for the copies",
                spec.copies
            ),
        );
    }
}
