//! A port of the switch: a queue of packets with an end, before a link.
//!
//! What comes when the buffer is full is dropped (tail drop). The packet that is being sent takes no place in the buffer. The link is
//! first in, first out, so the times of a packet are known when it comes.

use std::collections::VecDeque;

use super::Link;

#[derive(Default)]
pub(super) struct Port {
    /// When those packets begin to leave that were in the buffer at the last arrival.
    begins_ns: VecDeque<u64>,
}

impl Port {
    /// A packet comes. Returns when its last bit leaves, and how many wait before it; None when it is dropped.
    pub fn take(&mut self, link: &mut Link, now_ns: u64, wire_bytes: u64, buffer: usize) -> Option<(u64, u64)> {
        while self.begins_ns.front().is_some_and(|begins_ns| *begins_ns <= now_ns) {
            self.begins_ns.pop_front();
        }
        let waiting = self.begins_ns.len();
        if link.free_ns > now_ns {
            if waiting >= buffer {
                return None;
            }
            self.begins_ns.push_back(link.free_ns);
        }
        Some((link.take(now_ns, wire_bytes).1, waiting as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_in_transmission_takes_no_place_in_the_buffer_and_what_is_too_much_is_dropped() {
        let mut link = Link::new(8_000_000_000); // a byte a nanosecond
        let mut port = Port::default();
        let mut come = |now_ns| port.take(&mut link, now_ns, 100, 2);
        assert_eq!([come(0), come(1), come(2), come(3)], [Some((100, 0)), Some((200, 0)), Some((300, 1)), None]);
        // One more has begun: there is a place again. The time of one that was dropped is nobody's.
        assert_eq!([come(100), come(101)], [Some((400, 1)), None]);
        assert_eq!(come(1000), Some((1100, 0)));
    }
}
