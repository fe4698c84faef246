//! The links between nodes: what leaves a node, and what arrives.
//!
//! Modelled: each node sends one transfer after the other at its link's rate, requests before background copies; a transfer that
//! has begun is not interrupted. The switch forwards while the sender sends, so a transfer costs its time once unless the
//! receiver's link is busy; then it waits in the switch. Left out: frames, loss, the switch's own limits; the round trip is
//! charged by who asks.

use std::collections::VecDeque;

use crate::kernel::{Address, Kernel, Phase, RequestId, Signal};
use crate::layers::device::transfer_ns;

/// A transfer that waits to leave.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    request: RequestId,
    to: u16,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Link {
    /// Requests and background copies.
    waiting: [VecDeque<Transfer>; 2],
    sending: Option<Transfer>,
    /// Until when the link is busy receiving.
    receives_until_ns: u64,
    sent_bytes: [u64; 2],
}

/// All links.
#[derive(Debug)]
pub struct Links {
    rate: u64,
    nodes: Vec<Link>,
    /// Whom to tell that a link is free again; the id is the node.
    freed: Address,
    /// Whom to tell that a transfer has arrived; the id is the request.
    arrived: Address,
}

impl Links {
    /// Links of `nodes` nodes at `rate` bytes per second each way.
    #[must_use]
    pub fn new(nodes: u32, rate: u64, freed: Address, arrived: Address) -> Self {
        Self { rate, nodes: (0..nodes).map(|_| Link::default()).collect(), freed, arrived }
    }

    /// Sends `bytes` for `request` from one node to another.
    pub fn send(&mut self, kernel: &mut Kernel, request: RequestId, from: u16, to: u16, bytes: u64, is_background: bool) {
        self.nodes[usize::from(from)].waiting[usize::from(is_background)].push_back(Transfer { request, to, bytes });
        self.nodes[usize::from(from)].sent_bytes[usize::from(is_background)] += bytes;
        self.next(kernel, from);
    }

    fn next(&mut self, kernel: &mut Kernel, from: u16) {
        let link = &mut self.nodes[usize::from(from)];
        if link.sending.is_some() {
            return;
        }
        let [requests, background] = &mut link.waiting;
        let Some(transfer) = requests.pop_front().or_else(|| background.pop_front()) else { return };
        link.sending = Some(transfer);
        kernel.charge(transfer.request, Phase::LinkWait);
        kernel.at(kernel.now_ns() + transfer_ns(transfer.bytes, self.rate), self.freed, Signal::Timer, u32::from(from));
    }

    /// A node has sent its transfer.
    pub fn sent(&mut self, kernel: &mut Kernel, from: u16) {
        if let Some(transfer) = self.nodes[usize::from(from)].sending.take() {
            kernel.charge(transfer.request, Phase::Remote);
            let receiver = &mut self.nodes[usize::from(transfer.to)];
            // It has been received while it was sent, unless the link was busy.
            receiver.receives_until_ns = kernel.now_ns().max(receiver.receives_until_ns + transfer_ns(transfer.bytes, self.rate));
            kernel.requests.charge_until(transfer.request, Phase::LinkWait, receiver.receives_until_ns);
            kernel.at(receiver.receives_until_ns, self.arrived, Signal::Timer, transfer.request.0);
        }
        self.next(kernel, from);
    }

    /// Bytes that each node has sent: for requests and in the background.
    pub fn sent_bytes(&self) -> impl Iterator<Item = [u64; 2]> + '_ {
        self.nodes.iter().map(|link| link.sent_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Layer, Request};

    fn arrivals(sends: &[(u16, u16, bool)]) -> Vec<(u32, u64)> {
        let freed = Address { layer: Layer::Cluster, index: 1 };
        let arrived = Address { layer: Layer::Cluster, index: 2 };
        let mut links = Links::new(4, 1_000_000_000, freed, arrived);
        let mut kernel = Kernel::default();
        for (from, to, is_background) in sends {
            let request = kernel.open(Request::default());
            links.send(&mut kernel, request, *from, *to, 1000, *is_background);
        }
        let mut found = Vec::new();
        while let Some(event) = kernel.advance() {
            if event.to() == freed {
                links.sent(&mut kernel, u16::try_from(event.id).expect("a node"));
            } else {
                let id = RequestId(event.id);
                assert_eq!(kernel.requests[id].charged_ns, kernel.now_ns(), "all of its time is charged");
                found.push((event.id, kernel.now_ns()));
            }
        }
        found
    }

    #[test]
    fn a_transfer_costs_its_time_once() {
        assert_eq!(arrivals(&[(0, 1, false)]), [(0, 1000)]);
    }

    #[test]
    fn senders_work_at_once_and_the_receiver_takes_one_after_the_other() {
        assert_eq!(arrivals(&[(0, 1, false), (2, 3, false)]), [(0, 1000), (1, 1000)]);
        assert_eq!(arrivals(&[(0, 3, false), (1, 3, false), (2, 3, false)]), [(0, 1000), (1, 2000), (2, 3000)]);
    }

    #[test]
    fn requests_leave_before_background_copies() {
        assert_eq!(arrivals(&[(0, 1, true), (0, 2, true), (0, 3, false)]), [(0, 1000), (2, 2000), (1, 3000)]);
    }
}
