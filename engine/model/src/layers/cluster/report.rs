//! The report of a cluster: metrics, and the tables `flows`, `placed` and `node_events`.

use super::Cluster;
use super::record::Flow;
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::{Metrics, in_seconds};
use seeklab_spec::to_f64;

/// Bytes from node to node by interval; `why` is 0 for requests, 1 for blocks that follow their reader, 2 for copies made again.
const FLOWS: Table<Flow> = Table::new(
    "flows",
    &[
        ("interval", Index(|row| row.interval)),
        ("why", Index(|row| row.why as u32)),
        ("vm", Index(|row| u32::from(row.vm))),
        ("from", Index(|row| u32::from(row.from))),
        ("to", Index(|row| u32::from(row.to))),
        ("bytes", Whole(|row| row.bytes)),
    ],
);

/// Blocks of each machine on each node at the start.
const PLACED: Table<[u32; 3]> =
    Table::new("placed", &[("vm", Index(|row| row[0])), ("node", Index(|row| row[1])), ("blocks", Index(|row| row[2]))]);

/// A machine coming to a node (`vm` is its job), or a node that is lost (`vm` is 4,294,967,295).
struct NodeEvent {
    time_ns: u64,
    vm: u32,
    node: u16,
}

const NODE_EVENTS: Table<NodeEvent> = Table::new(
    "node_events",
    &[("time_ns", Whole(|row| row.time_ns)), ("vm", Index(|row| row.vm)), ("node", Index(|row| u32::from(row.node)))],
);

impl Cluster {
    /// Reports the cluster's metrics.
    pub(super) fn report(&self, metrics: &mut Metrics) {
        let (record, placement) = (&self.record, &self.placement);
        let (mut mine, mut here, mut read, mut read_here) = (0, 0, 0, 0);
        for block in 0..placement.blocks() {
            let vm = placement.vm_of(block);
            let is_local = placement.is_local(&placement.objects[placement.object_of(block) as usize], self.vms[usize::from(vm)]);
            if record.moved_vm.is_none_or(|moved| moved == vm) {
                (mine, here) = (mine + 1, here + u64::from(is_local));
            }
            if placement.was_read(block) {
                (read, read_here) = (read + 1, read_here + u64::from(is_local));
            }
        }
        let copies = placement.copies();
        let short = placement.objects.iter().filter(|object| object.holders().count() < copies).count();
        let lost = placement.objects.iter().filter(|object| object.holders().next().is_none()).count();
        let first_loss_ns = record.losses.first().map_or(0, |loss| loss.time_ns);
        let reprotect_ns = record.reprotected_ns.saturating_sub(first_loss_ns);
        let reprotect_bytes = record.reprotected * record.block_bytes;
        let (blocks, stored) = (u64::from(placement.blocks()), placement.objects.len() as u64);
        metrics.count("cluster_blocks", "Blocks, without additional copies.", blocks);
        metrics.count("cluster_stored_blocks", "Stored blocks, without additional copies.", stored);
        metrics.share("cluster_space_percent", "Stored divided by logical blocks, without additional copies.", stored, blocks);
        metrics.percent(
            "cluster_blocks_cv_percent",
            "Standard deviation of the blocks per node divided by their mean, at the start.",
            100.0 * record.blocks_cv,
        );
        metrics.share(
            "cluster_local_reads_percent",
            "Share of bytes read from the reader's own node.",
            record.local_bytes,
            record.read_bytes,
        );
        metrics.share(
            "cluster_placed_local_percent",
            "Share of the first moved machine's blocks that are on its node at the end. If none moved, the share of all blocks.",
            here,
            mine,
        );
        metrics.percent(
            "cluster_placed_local_at_move_percent",
            "Share of the first moved machine's blocks that were on its new node when it arrived.",
            record.local_at_move.unwrap_or(0.0) * 100.0,
        );
        metrics.share(
            "cluster_read_local_percent",
            "Share of the blocks read since the move that are on their machine's node at the end.",
            read_here,
            read,
        );
        metrics.mean("cluster_lookups_per_read", "Nodes queried before a block could be read.", record.lookups, record.reads);
        metrics.bytes("cluster_read_blocks_bytes", "Blocks read since the move.", record.read_blocks * record.block_bytes);
        metrics.bytes(
            "cluster_read_away_bytes",
            "Blocks read since the move that were on other nodes.",
            record.read_away * record.block_bytes,
        );
        metrics.bytes("cluster_moved_bytes", "Blocks moved to their reader.", record.moved * record.block_bytes);
        metrics.mean(
            "cluster_moved_over_read",
            "Blocks moved to their reader per block read from another node.",
            record.moved,
            record.read_away,
        );
        metrics.bytes("cluster_reprotect_bytes", "Copies made after a node was lost.", reprotect_bytes);
        metrics.seconds("cluster_reprotect_s", "Time from the loss of a node to the last copy made after it.", reprotect_ns);
        metrics.mb_per_s(
            "cluster_reprotect_mb_per_s",
            "Rate of copies made after a node was lost.",
            to_f64(reprotect_bytes),
            in_seconds(reprotect_ns),
        );
        metrics.count(
            "cluster_reprotect_nodes",
            "Nodes that sent copies after a node was lost.",
            record.senders.iter().filter(|sent| **sent).count() as u64,
        );
        metrics.count("cluster_unprotected_blocks", "Blocks with fewer copies than configured, at the end.", short as u64);
        metrics.count("cluster_lost_blocks", "Blocks without any copy at the end.", lost as u64);
        metrics.count("cluster_lost_requests", "Reads and writes of blocks with no copy left.", record.lost_requests);
    }

    /// Reports the tables of a run, whether it has a cluster or not.
    pub(super) fn report_tables(cluster: Option<&Self>, tables: &mut Tables) {
        let record = || cluster.into_iter().map(|cluster| &cluster.record);
        tables.table(&FLOWS, record().flat_map(|record| record.flows.iter().copied()));
        let placed = record().flat_map(|record| {
            let nodes = u32::try_from(record.nodes.max(1)).unwrap_or(u32::MAX); // at most 256
            (0..).zip(&record.placed).map(move |(row, blocks): (u32, _)| [row / nodes, row % nodes, *blocks])
        });
        tables.table(&PLACED, placed);
        let arrivals = record().flat_map(|record| &record.arrivals);
        let arrivals = arrivals.map(|row| NodeEvent { time_ns: row.time_ns, vm: u32::from(row.vm), node: row.node });
        let losses = record().flat_map(|record| &record.losses);
        let losses = losses.map(|row| NodeEvent { time_ns: row.time_ns, vm: u32::MAX, node: row.node });
        tables.table(&NODE_EVENTS, arrivals.chain(losses));
    }
}
