//! A throttle whose delays the engine's host decides: the run stops at each write, asks, and continues with the answer.
//!
//! The hard limit stays the engine's: at the most dirty data a write waits for space, as since 2013, and asks when it has some.
//! Below it every write asks once. It then sleeps for the answer, outside any group, and enters. No simulated time passes between
//! question and answer, so a run with the same answers is the same run on every host.

use super::{Admission, Attempt, Pool, Throttle};
use seeklab_kernel::NS_PER_S;

/// The throttle of a host.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    dirty_max_bytes: u64,
}

impl Host {
    /// A throttle that asks while fewer than `dirty_max_bytes` are dirty.
    #[must_use]
    pub fn new(dirty_max_bytes: u64) -> Self {
        Self { dirty_max_bytes }
    }
}

impl Throttle for Host {
    fn admit(&mut self, pool: &Pool, attempt: &Attempt) -> Admission {
        if attempt.waited {
            Admission::Enter
        } else if pool.dirty_bytes >= self.dirty_max_bytes {
            Admission::WaitForSpace
        } else {
            Admission::AskHost
        }
    }

    fn wakes_waiter(&self, dirty_bytes: u64) -> bool {
        dirty_bytes < self.dirty_max_bytes
    }

    fn limit_bytes(&self) -> Option<u64> {
        Some(self.dirty_max_bytes)
    }
}

/// Slots of the window over which [`DrainRate`] averages.
const SLOTS: u64 = 10; // as many as the array below has
const SLOT_NS: u64 = NS_PER_S / SLOTS;

/// Bytes written over the last second, in slots of 100 ms.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrainRate {
    slots: [u64; 10],
    /// The slot of the present, counted from the start of the run.
    slot: u64,
    /// Its place in the array: a division whenever bytes are drained would be slow.
    place: usize,
    /// All bytes so far.
    pub total_bytes: u64,
}

impl DrainRate {
    #[inline]
    fn pass(&mut self, now_ns: u64) {
        if now_ns >= (self.slot + 1) * SLOT_NS {
            self.leave_slot(now_ns / SLOT_NS);
        }
    }

    #[allow(clippy::cast_possible_truncation)] // the remainder is below ten
    fn leave_slot(&mut self, slot: u64) {
        for gone in 1..=(slot - self.slot).min(SLOTS) {
            self.slots[((self.slot + gone) % SLOTS) as usize] = 0;
        }
        self.slot = slot;
        self.place = (slot % SLOTS) as usize;
    }

    /// So many bytes have been written by now.
    pub fn drained(&mut self, now_ns: u64, total_bytes: u64) {
        self.pass(now_ns);
        self.slots[self.place] += total_bytes.saturating_sub(self.total_bytes);
        self.total_bytes = total_bytes;
    }

    /// The bytes of the window over its length.
    pub fn per_s(&mut self, now_ns: u64) -> u64 {
        self.pass(now_ns);
        let began_ns = (self.slot + 1).saturating_sub(SLOTS) * SLOT_NS;
        super::mul_div(self.slots.iter().sum(), NS_PER_S, now_ns - began_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_asks_once_and_stops_at_the_limit() {
        let mut throttle = Host::new(100);
        let pool = |dirty_bytes| Pool { dirty_bytes, ..Pool::default() };
        assert_eq!(throttle.admit(&pool(99), &Attempt::default()), Admission::AskHost);
        assert_eq!(throttle.admit(&pool(100), &Attempt::default()), Admission::WaitForSpace);
        assert_eq!(throttle.admit(&pool(100), &Attempt { waited: true, ..Attempt::default() }), Admission::Enter);
        assert!(throttle.wakes_waiter(99) && !throttle.wakes_waiter(100));
    }

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let mut rate = DrainRate::default();
        assert_eq!(rate.per_s(0), 0);
        rate.drained(50_000_000, 500);
        assert_eq!(rate.per_s(500_000_000), 1000, "half a second has passed");
        rate.drained(950_000_000, 1500);
        assert_eq!(rate.per_s(1_000_000_000 - 1), 1500);
        assert_eq!(rate.per_s(1_050_000_000), 1000 * 1000 / 950, "the first slot has gone");
        assert_eq!(rate.per_s(60_000_000_000), 0);
        assert_eq!(rate.total_bytes, 1500);
    }
}
