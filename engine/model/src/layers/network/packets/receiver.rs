//! The receiver of a connection: which packets it has, and so what it acknowledges.

use std::collections::VecDeque;

/// Packets are numbered from 0. Each one that comes is acknowledged at once, with the number of the next that is expected.
#[derive(Default)]
pub(super) struct Receiver {
    /// The first packet that it lacks.
    pub expected: u64,
    /// Whether it has the one after that, and so on.
    later: VecDeque<bool>,
}

impl Receiver {
    /// A packet comes. Returns the acknowledgement.
    #[allow(clippy::cast_possible_truncation)] // a window of packets, which is checked to be small
    pub fn take(&mut self, packet: u64) -> u64 {
        if packet == self.expected {
            self.expected += 1;
            while self.later.pop_front() == Some(true) {
                self.expected += 1;
            }
        } else if packet > self.expected {
            let place = (packet - self.expected - 1) as usize;
            if self.later.len() <= place {
                self.later.resize(place + 1, false);
            }
            self.later[place] = true;
        }
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_fills_a_hole_acknowledges_what_came_after_it() {
        let mut receiver = Receiver::default();
        let found = [0, 2, 3, 5, 1, 1, 4, 6].map(|packet| receiver.take(packet));
        assert_eq!(found, [1, 1, 1, 1, 4, 4, 6, 7]);
    }
}
