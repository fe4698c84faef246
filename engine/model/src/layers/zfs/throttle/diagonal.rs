//! The throttle that was tried and dropped: keep the open group below the diagonal of measured rate times time.
//!
//! **Idea.** If the backend writes 100 MB/s, a group that has been open for half a second should hold no more than 50 MB. A
//! write that finds 55 MB waits the 50 ms after which 55 MB are right:
//!
//! ```text
//! bytes |            . rate * time
//!       |        .--x          x: the write waits until the diagonal has come
//!       |    . |
//!       |.  ---+
//!       +----------------- time since the group opened
//! ```
//!
//! **Why it failed.** It steers by a forecast, with nothing to correct it. When the rate falls the group is already too large;
//! when it rises writers wait for nothing; and the time in which a sync writes metadata belongs to no diagonal, so even the right
//! rate admits more than a group can retire, until memory is full.
//!
//! The rate is that of the last sync, or a given one. Writers take their places on the diagonal one after the other: what waits
//! counts as written. Source: the idea as the engineering blog series on the write throttle (2013-2014) describes it.

use super::{Admission, Attempt, Pool, SyncReport, Throttle, mul_div};

const NS_PER_S: u64 = 1_000_000_000;

/// The diagonal throttle.
#[derive(Clone, Debug)]
pub struct Diagonal {
    memory_bytes: u64,
    fixed: bool,
    rate_per_s: u64,
    group: u64,
    opened_ns: u64,
    /// Of the open group, with what waits for it.
    bytes: u64,
    /// Asked for and not yet copied; what has not entered when a group closes counts for the next one.
    outstanding: u64,
}

impl Diagonal {
    /// A throttle that measures the rate, or takes `rate_per_s` for it, in bytes per second; `memory_bytes` of dirty data stop
    /// all writers.
    #[must_use]
    pub fn new(rate_per_s: Option<u64>, memory_bytes: u64) -> Self {
        Self {
            memory_bytes,
            fixed: rate_per_s.is_some(),
            rate_per_s: rate_per_s.unwrap_or(0),
            group: 0,
            opened_ns: 0,
            bytes: 0,
            outstanding: 0,
        }
    }

    /// When a group that opened at `opened_ns` may hold `bytes`.
    #[must_use]
    pub fn due_ns(&self, opened_ns: u64, bytes: u64) -> u64 {
        opened_ns.saturating_add(mul_div(bytes, NS_PER_S, self.rate_per_s))
    }
}

impl Throttle for Diagonal {
    fn admit(&mut self, pool: &Pool, attempt: &Attempt) -> Admission {
        if pool.group != self.group {
            (self.group, self.opened_ns, self.bytes) = (pool.group, pool.opened_ns, self.outstanding);
        }
        if attempt.waited {
            return Admission::Enter;
        }
        if pool.dirty_bytes >= self.memory_bytes {
            return Admission::WaitForSpace;
        }
        let due_ns = self.due_ns(self.opened_ns, self.bytes);
        self.bytes = self.bytes.saturating_add(attempt.bytes);
        self.outstanding = self.outstanding.saturating_add(attempt.bytes);
        if self.rate_per_s > 0 && due_ns > pool.now_ns { Admission::SleepUntil(due_ns) } else { Admission::Enter }
    }

    fn committed(&mut self, _group: u64, asked: u64, _dirtied: u64) {
        self.outstanding = self.outstanding.saturating_sub(asked);
    }

    fn synced(&mut self, report: &SyncReport) {
        if !self.fixed && report.bytes > 0 && report.duration_ns() > 0 {
            self.rate_per_s = mul_div(report.bytes, NS_PER_S, report.duration_ns());
        }
    }

    fn wakes_waiter(&self, dirty_bytes: u64) -> bool {
        dirty_bytes < self.memory_bytes
    }

    fn limit_bytes(&self) -> Option<u64> {
        Some(self.memory_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_A_SECOND: Pool = Pool { now_ns: 500_000_000, dirty_bytes: 0, group: 1, opened_ns: 0, pipeline_full: false };

    #[test]
    fn fifty_five_megabytes_after_half_a_second_at_100_mb_per_s_wait_50_ms() {
        let mut throttle = Diagonal::new(Some(100_000_000), u64::MAX);
        let first = Attempt { bytes: 55_000_000, ..Attempt::default() };
        assert_eq!(throttle.admit(&HALF_A_SECOND, &first), Admission::Enter);
        assert_eq!(throttle.admit(&HALF_A_SECOND, &Attempt { bytes: 8192, ..first }), Admission::SleepUntil(550_000_000));
        assert_eq!(throttle.admit(&HALF_A_SECOND, &first), Admission::SleepUntil(550_081_920));
    }

    #[test]
    fn the_rate_is_that_of_the_last_sync() {
        let mut throttle = Diagonal::new(None, u64::MAX);
        assert_eq!(throttle.admit(&HALF_A_SECOND, &Attempt { bytes: 1 << 30, ..Attempt::default() }), Admission::Enter);
        assert_eq!(throttle.admit(&HALF_A_SECOND, &Attempt::default()), Admission::Enter, "no rate is known yet");
        throttle.synced(&SyncReport { group: 0, bytes: 50_000_000, started_ns: 0, ended_ns: 500_000_000 });
        assert_eq!(throttle.due_ns(0, 100_000_000), 1_000_000_000);
    }
}
