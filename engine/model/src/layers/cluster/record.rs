//! The record of a cluster: counts, and the blocks that moved from node to node.

use super::placement::Placement;
use seeklab_spec::to_f64;

/// Why bytes went from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Why {
    /// A request read or wrote on another node.
    Request,
    /// Blocks that moved to their reader.
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

/// The record of a cluster.
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
    /// Nodes that sent copies.
    pub senders: Vec<bool>,
    /// Reads and writes of blocks that had no copy left.
    pub lost_requests: u64,
    /// Share of the machine's blocks that its new node had at the move.
    pub local_at_move: Option<f64>,
    /// The machine that moved first.
    pub moved_vm: Option<u16>,
    /// Standard deviation over mean of the blocks per node, at the start.
    pub blocks_cv: f64,
    interval_ns: u64,
    open: usize,
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
}
