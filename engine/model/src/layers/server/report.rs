//! The report of a server node: metrics of its cores and its network card.

use super::Server;
use crate::result::metrics::{Metrics, Unit, each};
use seeklab_spec::to_f64;

impl Server {
    /// Reports the node's metrics.
    pub(super) fn report(&self, metrics: &mut Metrics) {
        let (counts, [cycles, network_cycles]) = (self.counts, self.cycles());
        let per_byte = |cycles: u64| each(to_f64(cycles), to_f64(counts.bytes));
        metrics.percent(
            "server.busy_share_percent",
            "Share of the time that the cores were busy.",
            100.0 * self.busy_share(metrics.run.now_ns),
        );
        metrics.add("server.cycles_per_byte", "CPU cycles per file byte.", Unit::CyclesPerByte, per_byte(cycles));
        metrics.add(
            "server.network_cycles_per_byte",
            "CPU cycles of the network code per file byte.",
            Unit::CyclesPerByte,
            per_byte(network_cycles),
        );
        metrics.count("server.interrupts", "Interrupts of the network card.", counts.interrupts);
        metrics.mean("server.frames_per_interrupt", "Frames received per interrupt.", counts.frames, counts.interrupts);
        metrics.count("server.take_overs", "Number of times that a connection started to use an idle transmit ring.", counts.take_overs);
        metrics.count("server.unmaps", "Buffers that were unmapped.", counts.unmaps);
        metrics.count("server.cross_calls", "Cores that were interrupted by cross-calls.", counts.cross_calls);
        metrics.mean("server.cross_calls_per_unmap", "Cores that were interrupted per unmapped buffer.", counts.cross_calls, counts.unmaps);
    }
}
