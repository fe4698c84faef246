//! What a switch leaves: metrics of its packets, and of what clients waited for.

use super::Packets;
use crate::result::metrics::{Metrics, Unit, each};
use seeklab_spec::to_f64;

impl Packets {
    /// Reports what happened to the packets of a run that has taken so long.
    pub fn metrics(&self, elapsed_ns: u64, metrics: &mut Metrics) {
        let counts = &self.counts;
        let bits = to_f64(counts.payload_bytes) * 8.0;
        let goodput = each(bits * 1e3, to_f64(elapsed_ns));
        metrics.add("network.goodput_mbit_per_s", "File data that moved over the network, in either direction.", Unit::MbitPerS, goodput);
        metrics.count("network.packets", "Packets with file data that were sent, those sent again included.", counts.packets);
        metrics.count("network.resent_packets", "Packets that were sent again.", counts.resent);
        metrics.count("network.dropped_packets", "Packets that a full port of the switch dropped.", counts.dropped);
        metrics.count(
            "network.longest_port_queue",
            "Most packets that waited at a port of the switch before one that came.",
            counts.longest,
        );
        metrics.count("network.timeouts", "Times that a sender's retransmission timer ran out.", counts.timeouts);
        metrics.count(
            "network.silences",
            "Times that a client's link was silent for longer than half of the least timer while the client waited for data.",
            self.silences.len(),
        );
        let silence_ns = self.silences.value_at_quantile(0.5).min(self.silences.max());
        metrics.milliseconds("network.silence_p50_ms", "Length of these silences: the median.", to_f64(silence_ns));
        metrics.share(
            "network.silent_requests_percent",
            "Share of the requests during which there was such a silence.",
            counts.silent_requests,
            counts.requests,
        );
    }
}
