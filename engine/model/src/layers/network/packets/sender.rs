//! The sender of a connection: TCP's windows, its recovery from losses, and its timer.
//!
//! Slow start and congestion avoidance, fast retransmit after three duplicates and fast recovery with partial acknowledgements
//! (RFC 5681, RFC 6582), the timer with its backing off and Karn's rule (RFC 6298), counted in packets. The window starts
//! with two packets and without a threshold; it survives idling. After the timer all is sent again from the first packet that is not
//! acknowledged, one window at a time. An acknowledgement gives a sample of the round trip when none of the packets that it is for was
//! sent again: one that was sent once, and then waited at the receiver for a lost one before it, would make the timer measure itself.

use std::collections::VecDeque;

use seeklab_spec::network::{MAX_BACKOFF, MAX_TIMER_NS};

/// Packets that may leave before the first acknowledgement (RFC 2581, of the time).
const FIRST_WINDOW: u64 = 2;
/// Duplicates that stand for a loss.
const DUPLICATES: u64 = 3;

/// The history of a packet that is not acknowledged.
#[derive(Clone, Copy)]
struct Sent {
    at_ns: u64,
    again: bool,
}

pub(super) struct Sender {
    /// First packet that is not acknowledged.
    una: u64,
    /// Next packet to be sent.
    nxt: u64,
    /// The highest `nxt` so far.
    top: u64,
    /// Packets that there are.
    pub end: u64,
    cwnd: u64,
    /// Acknowledgements since the window last grew, in congestion avoidance.
    count: u64,
    ssthresh: u64,
    duplicates: u64,
    recover: u64,
    is_recovering: bool,
    srtt_ns: u64,
    rttvar_ns: u64,
    backoff: u64,
    window: u64,
    rto_min_ns: u64,
    /// When its timer runs out.
    pub deadline_ns: Option<u64>,
    /// From `una` to `top`.
    sent: VecDeque<Sent>,
}

impl Sender {
    /// A sender that has seen the handshake's round trip, with the receiver's window.
    pub fn new(round_trip_ns: u64, window: u64, rto_min_ns: u64) -> Self {
        Self {
            una: 0,
            nxt: 0,
            top: 0,
            end: 0,
            cwnd: FIRST_WINDOW.min(window),
            count: 0,
            ssthresh: u64::MAX,
            duplicates: 0,
            recover: 0,
            is_recovering: false,
            srtt_ns: round_trip_ns,
            rttvar_ns: round_trip_ns / 2,
            backoff: 1,
            window,
            rto_min_ns,
            deadline_ns: None,
            sent: VecDeque::new(),
        }
    }

    /// First packet that is not acknowledged.
    pub fn first_open(&self) -> u64 {
        self.una
    }

    /// Whether there are packets that have not left.
    pub fn is_held(&self) -> bool {
        self.nxt < self.end
    }

    /// Takes the next packet that the windows let out.
    pub fn next(&mut self) -> Option<u64> {
        let may = self.nxt < self.end && self.nxt - self.una < self.cwnd.min(self.window);
        may.then(|| {
            self.nxt += 1;
            self.top = self.top.max(self.nxt);
            self.nxt - 1
        })
    }

    fn timer_ns(&self) -> u64 {
        (self.rto_min_ns.max(self.srtt_ns + 4 * self.rttvar_ns) * self.backoff).min(MAX_TIMER_NS.max(self.rto_min_ns))
    }

    /// A packet is sent. Returns whether it was sent before.
    #[allow(clippy::cast_possible_truncation)] // a window of packets, which is checked to be small
    pub fn sent(&mut self, packet: u64, now_ns: u64) -> bool {
        if self.deadline_ns.is_none() {
            self.deadline_ns = Some(now_ns + self.timer_ns());
        }
        if let Some(sent) = self.sent.get_mut((packet - self.una) as usize) {
            *sent = Sent { at_ns: now_ns, again: true };
            return true;
        }
        self.sent.push_back(Sent { at_ns: now_ns, again: false });
        false
    }

    /// Halves what is in progress, as the threshold.
    fn lose(&mut self) {
        self.ssthresh = ((self.nxt - self.una) / 2).max(2);
        self.recover = self.top;
    }

    /// An acknowledgement comes. Returns the packet that is to be sent again before what else may leave.
    pub fn acknowledged(&mut self, ack: u64, now_ns: u64) -> Option<u64> {
        if ack > self.una {
            return self.advance(ack, now_ns);
        }
        if ack < self.una || self.nxt == self.una {
            return None;
        }
        self.duplicates += 1;
        if self.is_recovering {
            self.cwnd += 1;
        } else if self.duplicates == DUPLICATES && self.una >= self.recover {
            self.lose();
            self.is_recovering = true;
            self.cwnd = self.ssthresh + DUPLICATES;
            return Some(self.una);
        }
        None
    }

    fn advance(&mut self, ack: u64, now_ns: u64) -> Option<u64> {
        let newly = ack - self.una;
        let (mut last, mut is_plain) = (None, true);
        for _ in 0..newly {
            last = self.sent.pop_front();
            is_plain &= last.is_none_or(|sent| !sent.again);
        }
        if let Some(sent) = last.filter(|_| is_plain) {
            let sample_ns = now_ns - sent.at_ns;
            self.rttvar_ns = (3 * self.rttvar_ns + self.srtt_ns.abs_diff(sample_ns)) / 4;
            self.srtt_ns = (7 * self.srtt_ns + sample_ns) / 8;
        }
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.duplicates = 0;
        self.backoff = 1;
        let mut again = None;
        if self.is_recovering && ack >= self.recover {
            self.is_recovering = false;
            self.cwnd = self.ssthresh.min((self.nxt - self.una).max(1) + 1);
            self.count = 0;
        } else if self.is_recovering {
            self.cwnd = (self.cwnd + 1).saturating_sub(newly).max(1);
            again = Some(self.una);
        } else if self.cwnd < self.ssthresh {
            self.cwnd += 1;
        } else {
            self.count += 1;
            if self.count >= self.cwnd {
                self.cwnd += 1;
                self.count = 0;
            }
        }
        self.cwnd = self.cwnd.min(self.window);
        self.deadline_ns = (self.una < self.nxt).then(|| now_ns + self.timer_ns());
        again
    }

    /// The timer has run out: everything from the first packet that is not acknowledged may be sent again.
    pub fn expire(&mut self) {
        self.lose();
        self.cwnd = 1;
        self.count = 0;
        self.duplicates = 0;
        self.is_recovering = false;
        self.nxt = self.una;
        self.backoff = (2 * self.backoff).min(MAX_BACKOFF);
        self.deadline_ns = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP_NS: u64 = 100_000;
    const RTO_MIN_NS: u64 = 200_000_000;

    fn sender(packets: u64) -> Sender {
        let mut sender = Sender::new(ROUND_TRIP_NS, 20, RTO_MIN_NS);
        sender.end = packets;
        sender
    }

    /// Sends what the windows let out.
    fn send(sender: &mut Sender, now_ns: u64) -> Vec<u64> {
        let mut packets = Vec::new();
        while let Some(packet) = sender.next() {
            sender.sent(packet, now_ns);
            packets.push(packet);
        }
        packets
    }

    /// Acknowledges up to a packet, one by one.
    fn acknowledge(sender: &mut Sender, to: u64, now_ns: u64) {
        for ack in sender.una + 1..=to {
            assert_eq!(sender.acknowledged(ack, now_ns), None);
        }
    }

    #[test]
    fn slow_start_doubles_the_window_each_round_trip_up_to_the_receivers() {
        let mut sender = sender(100);
        let mut windows = Vec::new();
        for round in 1..=5 {
            let sent = send(&mut sender, round * ROUND_TRIP_NS);
            windows.push(sent.len());
            acknowledge(&mut sender, sent.last().map_or(0, |last| last + 1), (round + 1) * ROUND_TRIP_NS);
        }
        assert_eq!(windows, [2, 4, 8, 16, 20]);
    }

    #[test]
    fn three_duplicates_resend_the_first_packet_and_halve_the_window() {
        let mut sender = sender(100);
        acknowledge_rounds(&mut sender);
        let first = send(&mut sender, 0)[0];
        assert_eq!([1, 2, 3].map(|_| sender.acknowledged(first, 1)), [None, None, Some(first)]);
        assert_eq!((sender.ssthresh, sender.cwnd, sender.is_recovering), (10, 13, true));
        // One of the twenty is missing still: a partial acknowledgement asks for it at once.
        assert_eq!(sender.acknowledged(first + 7, 2), Some(first + 7));
        assert_eq!(sender.cwnd, 7);
        assert_eq!(sender.acknowledged(first + 20, 3), None);
        assert_eq!((sender.is_recovering, sender.cwnd), (false, 2), "as much as is under way, and one more");
    }

    /// Brings the window to 20, with nothing in progress.
    fn acknowledge_rounds(sender: &mut Sender) {
        for round in 1..=5 {
            let sent = send(sender, round);
            acknowledge(sender, sent.last().map_or(0, |last| last + 1), round);
        }
        assert_eq!(sender.cwnd, 20);
    }

    #[test]
    fn a_lost_end_of_the_window_waits_for_the_timer_which_doubles_until_something_new_is_acknowledged() {
        let mut sender = sender(2);
        assert_eq!(send(&mut sender, 0), [0, 1]);
        let mut now_ns = 0;
        for backoff in [1, 2, 4, 8, 16, 32, 64, 64] {
            assert_eq!(sender.deadline_ns, Some(now_ns + backoff * RTO_MIN_NS));
            now_ns += backoff * RTO_MIN_NS;
            sender.expire();
            assert_eq!(send(&mut sender, now_ns), [0], "one packet at a time");
        }
        assert_eq!(sender.acknowledged(1, now_ns + 1), None);
        assert_eq!(sender.deadline_ns, None, "all that was sent again is acknowledged");
        assert_eq!(send(&mut sender, now_ns + 2), [1]);
        assert_eq!(sender.deadline_ns, Some(now_ns + 2 + RTO_MIN_NS));
    }

    #[test]
    fn after_the_timer_an_acknowledgement_jumps_over_what_the_receiver_has() {
        let mut sender = sender(100);
        acknowledge_rounds(&mut sender);
        let first = send(&mut sender, 0)[0];
        sender.expire();
        assert_eq!(send(&mut sender, 1), [first]);
        assert_eq!(sender.acknowledged(first + 20, 2), None);
        assert_eq!(send(&mut sender, 3), [first + 20, first + 21], "not one of the nineteen others");
    }

    #[test]
    fn a_packet_that_was_sent_twice_gives_no_sample_of_the_round_trip() {
        let mut sender = sender(10);
        send(&mut sender, 0);
        sender.expire();
        send(&mut sender, RTO_MIN_NS);
        sender.acknowledged(1, 5 * RTO_MIN_NS);
        assert_eq!((sender.srtt_ns, sender.rttvar_ns), (ROUND_TRIP_NS, ROUND_TRIP_NS / 2));
    }

    #[test]
    fn a_packet_that_waited_at_the_receiver_for_a_lost_one_does_not_make_the_timer_measure_itself() {
        let mut sender = sender(200);
        let mut now_ns = 0;
        for _ in 0..50 {
            let sent = send(&mut sender, now_ns);
            let deadline_ns = sender.deadline_ns.expect("a timer runs");
            assert_eq!(deadline_ns - now_ns, RTO_MIN_NS);
            now_ns = deadline_ns;
            sender.expire();
            send(&mut sender, now_ns);
            // The first was lost, the others have been at the receiver since.
            sender.acknowledged(sent.last().map_or(0, |last| last + 1), now_ns + ROUND_TRIP_NS);
            now_ns += ROUND_TRIP_NS;
        }
        assert_eq!(sender.srtt_ns, ROUND_TRIP_NS);
    }

    #[test]
    fn the_timer_is_the_round_trip_and_four_deviations_where_that_is_more_than_the_least() {
        let mut sender = Sender::new(ROUND_TRIP_NS, 20, 1000);
        sender.end = 1;
        send(&mut sender, 0);
        assert_eq!(sender.deadline_ns, Some(3 * ROUND_TRIP_NS));
    }
}
