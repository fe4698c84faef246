//! The report of a switch: metrics of its packets, and of the waits of clients.

use super::Packets;
use crate::result::metrics::{Metrics, Unit, each};
use seeklab_spec::to_f64;

impl Packets {
    /// Reports what happened to the packets of a run that has taken so long.
    pub fn metrics(&self, elapsed_ns: u64, metrics: &mut Metrics) {
        let counts = &self.counts;
        let bits = to_f64(counts.payload_bytes) * 8.0;
        let goodput = each(bits * 1e3, to_f64(elapsed_ns));
        metrics.add("network.goodput_mbit_per_s", "Rate of file data over the network, both directions together.", Unit::MbitPerS, goodput);
        metrics.count("network.packets", "Packets sent with file data, including retransmissions.", counts.packets);
        metrics.count("network.resent_packets", "Retransmitted packets.", counts.resent);
        metrics.count("network.dropped_packets", "Packets that a full port of the switch dropped.", counts.dropped);
        metrics.count(
            "network.longest_port_queue",
            "Maximum packets that waited at a port of the switch when another arrived.",
            counts.longest,
        );
        metrics.count("network.timeouts", "Number of times that a sender's retransmission timer expired.", counts.timeouts);
        metrics.count(
            "network.silences",
            "Number of times that a client's link was silent for more than half of the minimum timer while the client waited for data.",
            self.silences.len(),
        );
        let silence_ns = self.silences.value_at_quantile(0.5).min(self.silences.max());
        metrics.milliseconds("network.silence_p50_ms", "Median length of these silences.", to_f64(silence_ns));
        metrics.share("network.silent_requests_percent", "Share of requests with such a silence.", counts.silent_requests, counts.requests);
    }
}
