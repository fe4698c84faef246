//! What a cluster did: counts, and the blocks that went from node to node.
//!
//! | metric | unit | what it is |
//! |---|---|---|
//! | `cluster_blocks`, `cluster_stored_blocks` | | blocks, and what is stored of them, without further copies |
//! | `cluster_space_percent` | % | stored over logical bytes, each copy against its copy |
//! | `cluster_blocks_cv_percent` | % | standard deviation over mean of the blocks per node, at the start |
//! | `cluster_local_reads_percent` | % | bytes read on the reader's own node |
//! | `cluster_placed_local_percent` | % | blocks of the machine that moved first (else all) that its node has, at the end |
//! | `cluster_placed_local_at_move_percent` | % | the same at the moment of the move, before anything is read |
//! | `cluster_read_local_percent` | % | the same, of the blocks that were read since the move |
//! | `cluster_lookups_per_read` | | nodes asked before a block could be read |
//! | `cluster_read_blocks_bytes`, `cluster_read_away_bytes` | B | blocks read since the move, and those of them that lay elsewhere |
//! | `cluster_moved_bytes`, `cluster_moved_over_read` | B, | blocks moved to the reader, and their ratio to the blocks read elsewhere |
//! | `cluster_reprotect_bytes`, `_s`, `_mb_per_s`, `_nodes` | | copies made after a loss, the time from the loss to the last of them, their rate, the nodes that sent |
//! | `cluster_unprotected_blocks`, `cluster_lost_blocks` | | objects with fewer copies than asked, with none, at the end |

use super::placement::Placement;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// Why bytes went from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Why {
    /// A request read or wrote on another node.
    Request,
    /// What was read moved to its reader.
    Migrate,
    /// A lost copy was made again.
    Reprotect,
}

/// Bytes that went from one node to another in one interval of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Interval.
    pub interval: u32,
    /// Reason.
    pub why: Why,
    /// Machine.
    pub vm: u16,
    /// Sender.
    pub from: u16,
    /// Receiver.
    pub to: u16,
    /// Bytes.
    pub bytes: u64,
}

/// A machine that came to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub time_ns: u64,
    /// Machine.
    pub vm: u16,
    /// Node.
    pub node: u16,
}

/// A node that was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When.
    pub time_ns: u64,
    /// Node.
    pub node: u16,
}

/// What a cluster did.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Blocks of each machine (row) on each node at the start.
    pub placed: Vec<u32>,
    /// Nodes.
    pub nodes: usize,
    /// Size of a block.
    pub block_bytes: u64,
    /// Bytes between nodes by interval.
    pub flows: Vec<Flow>,
    /// Machines coming to nodes, in order of time; the first ones at 0.
    pub arrivals: Vec<Arrival>,
    /// Lost nodes.
    pub losses: Vec<Loss>,
    /// Bytes read by machines, and those of them on their own node.
    pub read_bytes: u64,
    /// Bytes read on the reader's node.
    pub local_bytes: u64,
    /// Block reads.
    pub reads: u64,
    /// Nodes asked for them.
    pub lookups: u64,
    /// Blocks read since the move.
    pub read_blocks: u64,
    /// Those of them that lay elsewhere at their first read.
    pub read_away: u64,
    /// Blocks moved to their reader.
    pub moved: u64,
    /// Copies made again.
    pub reprotected: u64,
    /// When the last of them was.
    pub reprotected_ns: u64,
    /// Which nodes sent some.
    pub senders: Vec<bool>,
    /// Reads and writes of blocks that had no copy left.
    pub lost_requests: u64,
    /// Share of the machine's blocks that its new node had at the move.
    pub local_at_move: Option<f64>,
    /// The machine that moved first.
    pub moved_vm: Option<u16>,
    blocks_cv: f64,
    interval_ns: u64,
    open: usize,
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * to_f64(part) / to_f64(whole) }
}

impl Record {
    /// A record of a placement at the start of a run.
    #[must_use]
    pub fn new(placement: &Placement, vms: usize, block_bytes: u64, interval_ns: u64) -> Self {
        let nodes = placement.up.len();
        let mut placed = vec![0; vms * nodes];
        for object in &placement.objects {
            for node in object.holders() {
                placed[usize::from(object.vm) * nodes + usize::from(node)] += 1;
            }
        }
        let count = to_f64(nodes as u64);
        let mean = placement.used().map(f64::from).sum::<f64>() / count;
        let variance = placement.used().map(|used| (f64::from(used) - mean) * (f64::from(used) - mean)).sum::<f64>() / count;
        let blocks_cv = if mean > 0.0 { libm::sqrt(variance) / mean } else { 0.0 };
        Self { placed, nodes, block_bytes, blocks_cv, interval_ns: interval_ns.max(1), senders: vec![false; nodes], ..Self::default() }
    }

    /// Notes bytes between two nodes. O(different flows of the interval).
    pub fn flow(&mut self, now_ns: u64, why: Why, vm: u16, from: u16, to: u16, bytes: u64) {
        let interval = u32::try_from(now_ns / self.interval_ns).unwrap_or(u32::MAX);
        if self.flows.last().is_none_or(|flow| flow.interval != interval) {
            self.open = self.flows.len();
        }
        let key = (why, vm, from, to);
        let at = self.flows[self.open..].binary_search_by_key(&key, |flow| (flow.why, flow.vm, flow.from, flow.to));
        match at {
            Ok(at) => self.flows[self.open + at].bytes += bytes,
            Err(at) => self.flows.insert(self.open + at, Flow { interval, why, vm, from, to, bytes }),
        }
    }

    /// Bytes of memory that grow with the run.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.flows.len() * size_of::<Flow>() + self.arrivals.len() * size_of::<Arrival>()) as u64
    }

    /// Metrics: name, unit, value. `vms` are the nodes of the machines now.
    #[must_use]
    pub fn metrics(&self, placement: &Placement, vms: &[u16]) -> Vec<(&'static str, &'static str, f64)> {
        let (mut mine, mut here, mut read, mut read_here) = (0, 0, 0, 0);
        for block in 0..placement.blocks() {
            let vm = placement.vm_of(block);
            let is_local = placement.is_local(&placement.objects[placement.object_of(block) as usize], vms[usize::from(vm)]);
            if self.moved_vm.is_none_or(|moved| moved == vm) {
                (mine, here) = (mine + 1, here + u64::from(is_local));
            }
            if placement.was_read(block) {
                (read, read_here) = (read + 1, read_here + u64::from(is_local));
            }
        }
        let copies = placement.copies();
        let short = placement.objects.iter().filter(|object| object.holders().count() < copies).count();
        let lost = placement.objects.iter().filter(|object| object.holders().next().is_none()).count();
        let first_loss_ns = self.losses.first().map_or(0, |loss| loss.time_ns);
        let reprotect_s = to_f64(self.reprotected_ns.saturating_sub(first_loss_ns)) / to_f64(NS_PER_S);
        let reprotect_bytes = to_f64(self.reprotected * self.block_bytes);
        let (blocks, stored) = (u64::from(placement.blocks()), placement.objects.len() as u64);
        let bytes = |count: u64| to_f64(count * self.block_bytes);
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        vec![
            ("cluster_blocks", "", to_f64(blocks)),
            ("cluster_stored_blocks", "", to_f64(stored)),
            ("cluster_space_percent", "%", percent(stored, blocks)),
            ("cluster_blocks_cv_percent", "%", 100.0 * self.blocks_cv),
            ("cluster_local_reads_percent", "%", percent(self.local_bytes, self.read_bytes)),
            ("cluster_placed_local_percent", "%", percent(here, mine)),
            ("cluster_placed_local_at_move_percent", "%", self.local_at_move.unwrap_or(0.0) * 100.0),
            ("cluster_read_local_percent", "%", percent(read_here, read)),
            ("cluster_lookups_per_read", "", ratio(to_f64(self.lookups), to_f64(self.reads))),
            ("cluster_read_blocks_bytes", "B", bytes(self.read_blocks)),
            ("cluster_read_away_bytes", "B", bytes(self.read_away)),
            ("cluster_moved_bytes", "B", bytes(self.moved)),
            ("cluster_moved_over_read", "", ratio(to_f64(self.moved), to_f64(self.read_away))),
            ("cluster_reprotect_bytes", "B", reprotect_bytes),
            ("cluster_reprotect_s", "s", reprotect_s),
            ("cluster_reprotect_mb_per_s", "MB/s", ratio(reprotect_bytes / 1e6, reprotect_s)),
            ("cluster_reprotect_nodes", "", to_f64(self.senders.iter().filter(|sent| **sent).count() as u64)),
            ("cluster_unprotected_blocks", "", to_f64(short as u64)),
            ("cluster_lost_blocks", "", to_f64(lost as u64)),
            ("cluster_lost_requests", "", to_f64(self.lost_requests)),
        ]
    }
}
