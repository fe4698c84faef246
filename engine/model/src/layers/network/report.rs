//! The report of a network: metrics of the traffic in each direction.

use super::{Network, Traffic};
use crate::result::metrics::Metrics;

impl Network {
    /// Reports what the network carried: of a run that has ended, over the time of its workers.
    pub(super) fn report(&self, metrics: &mut Metrics) {
        let elapsed_ns = if metrics.run.ended { metrics.run.workers_ns } else { metrics.run.now_ns };
        for (traffic, part) in self.traffic(elapsed_ns).iter().zip(["network.to_server", "network.to_client"]) {
            metrics.within(part, |metrics| traffic.metrics(elapsed_ns, metrics));
        }
        if let Some(packets) = &self.packets {
            packets.metrics(elapsed_ns, metrics);
        }
    }
}

impl Traffic {
    fn metrics(&self, elapsed_ns: u64, metrics: &mut Metrics) {
        metrics.count("_messages", "Messages in this direction.", self.messages);
        metrics.bytes("_payload_bytes", "File bytes in this direction.", self.payload_bytes);
        metrics.bytes("_wire_bytes", "Bytes on the wire, including all headers and acknowledgements.", self.wire_bytes);
        metrics.share(
            "_busy_share_percent",
            "Share of the time that the server's busiest link was busy in this direction.",
            self.server_busy_ns,
            elapsed_ns,
        );
        metrics.share(
            "_client_busy_share_percent",
            "Share of the time that the busiest client's link was busy in this direction.",
            self.client_busy_ns,
            elapsed_ns,
        );
    }
}
