//! The links between nodes: what leaves a node, and what arrives.
//!
//! Modelled: each node sends one transfer after the other at its link's rate, requests before background copies; a transfer that
//! has begun is not interrupted. The switch forwards while the sender sends, so a transfer costs its time once unless the
//! receiver's link is busy; then it waits in the switch. Left out: frames, loss, the switch's own limits; the round trip is
//! charged by who asks.

use std::collections::VecDeque;

use crate::kernel::{Address, Kernel, Phase, RequestId, Timer};
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

/// All links. `T` are the timers of the layer that they belong to.
#[derive(Debug)]
pub struct Links<T> {
    rate: u64,
    nodes: Vec<Link>,
    /// The layer that is told.
    here: Address,
    /// A node's link is free again.
    freed: fn(u16) -> T,
    /// A transfer has arrived.
    arrived: fn(RequestId) -> T,
}

impl<T: Timer> Links<T> {
    /// Links of `nodes` nodes at `rate` bytes per second each way.
    #[must_use]
    pub fn new(nodes: u32, rate: u64, here: Address, freed: fn(u16) -> T, arrived: fn(RequestId) -> T) -> Self {
        Self { rate, nodes: (0..nodes).map(|_| Link::default()).collect(), here, freed, arrived }
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
        kernel.wake_at(kernel.now_ns() + transfer_ns(transfer.bytes, self.rate), self.here, (self.freed)(from));
    }

    /// A node has sent its transfer.
    pub fn sent(&mut self, kernel: &mut Kernel, from: u16) {
        if let Some(transfer) = self.nodes[usize::from(from)].sending.take() {
            kernel.charge(transfer.request, Phase::Remote);
            let receiver = &mut self.nodes[usize::from(transfer.to)];
            // It has been received while it was sent, unless the link was busy.
            receiver.receives_until_ns = kernel.now_ns().max(receiver.receives_until_ns + transfer_ns(transfer.bytes, self.rate));
            kernel.requests.charge_until(transfer.request, Phase::LinkWait, receiver.receives_until_ns);
            kernel.wake_at(receiver.receives_until_ns, self.here, (self.arrived)(transfer.request));
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
    use crate::kernel::{Event, LayerId, Request};

    crate::timers! {
        enum Sent {
            Free(u16),
            Arrived(RequestId),
        }
    }

    fn arrivals(sends: &[(u16, u16, bool)]) -> Vec<(u32, u64)> {
        let mut links = Links::new(4, 1_000_000_000, Address::of(LayerId::Cluster), Sent::Free, Sent::Arrived);
        let mut kernel = Kernel::default();
        for (from, to, is_background) in sends {
            let request = kernel.open(Request::default());
            links.send(&mut kernel, request, *from, *to, 1000, *is_background);
        }
        let mut found = Vec::new();
        while let Some(event) = kernel.advance() {
            let Event::Timer(timer) = event.event() else { panic!("{event:?}") };
            match Sent::unpack(timer) {
                Sent::Free(node) => links.sent(&mut kernel, node),
                Sent::Arrived(id) => {
                    assert_eq!(kernel.requests[id].charged_ns, kernel.now_ns(), "all of its time is charged");
                    found.push((id.0, kernel.now_ns()));
                }
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
