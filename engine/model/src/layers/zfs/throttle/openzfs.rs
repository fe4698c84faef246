//! The write throttle of `OpenZFS` (2013 until today): delay every write a little, in proportion to how full the buffer is.
//!
//! **Problem.** The throttle before this one let writes run free until a limit and then stopped all of them for seconds. Writers
//! want the opposite: a small, predictable delay that matches what the backend can take.
//!
//! **Idea.** Dirty data are the control. Below 60 % of the maximum a write costs nothing. Above, it is delayed by
//!
//! ```text
//! delay = scale * (dirty - start) / (max - dirty)          start = max * 60 / 100,  never more than 100 ms
//!
//!  10 ms |                                         *
//!        |                                         *
//!   8 ms |                                         *
//!        |                                        *
//!   6 ms |                                        *
//!        |                                        *
//!   4 ms |                                       *
//!        |                                      *
//!   2 ms |                                    **
//! 0.5 ms |                        *********** <- at 80 %: the scale, 500 us
//!      0 +-------------------*****----------------+
//!        0 %                60 %      80 %       100 % of the maximum
//! ```
//!
//! The numerator makes the delay start at zero; the denominator makes it grow without bound near the limit, so whatever the
//! backend's rate there is a fill level at which the delay matches it: with `t` nanoseconds from one retired transaction to the
//! next, dirty data settle at the share `(t + 0.6 scale) / (t + scale)`.
//!
//! **Wake-ups are serialised.** A delay as such would limit each thread, and more threads would get more. So the writers share
//! one time line: each is woken at least its own delay after the previous one, whichever that was. All together admit at most one
//! transaction in each delay.
//!
//! ```text
//! wake = max(start of the transaction + delay, last wake + delay)
//! ```
//!
//! **Credit for time served.** The delay counts from the transaction's start. What it spent since, reading a partial block for
//! example, counts towards it; a transaction that is late enough already goes at once and leaves the time line alone.
//!
//! **Hard limit.** At the maximum a write waits for space. Waiters are woken one at a time, by every change of the dirty data
//! that leaves them below the maximum; the one woken pays the delay of that instant, then enters without being asked again.
//!
//! Source: `dmu_tx.c` (`dmu_tx_delay`, `dmu_tx_wait`), reference section 1. Left out: the second input of version 2.2, bytes of
//! write-log records held in memory; the timer slack of a real sleep (up to 100 us).

use super::{Admission, Attempt, Pool, Throttle, mul_div};

/// The tunables of the throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Most dirty data, in bytes (`zfs_dirty_data_max`).
    pub dirty_max_bytes: u64,
    /// Above this share of the maximum a write is delayed (`zfs_delay_min_dirty_percent`).
    pub min_dirty_percent: u64,
    /// The delay half way between start and maximum (`zfs_delay_scale`).
    pub scale_ns: u64,
    /// The longest delay (`zfs_delay_max_ns`).
    pub max_ns: u64,
    /// Whether writers share one time line; off is an experiment.
    pub serialise: bool,
    /// Whether time since the transaction's start counts towards its delay; off is an experiment.
    pub credit: bool,
}

impl Settings {
    /// The defaults of every version for a given maximum.
    #[must_use]
    pub fn new(dirty_max_bytes: u64) -> Self {
        Self { dirty_max_bytes, min_dirty_percent: 60, scale_ns: 500_000, max_ns: 100_000_000, serialise: true, credit: true }
    }

    /// Dirty bytes above which writes are delayed.
    #[must_use]
    pub fn start_bytes(&self) -> u64 {
        mul_div(self.dirty_max_bytes, self.min_dirty_percent, 100)
    }

    /// The delay at `dirty_bytes`. None at or above the maximum: there a write waits for space instead.
    #[must_use]
    pub fn delay_ns(&self, dirty_bytes: u64) -> Option<u64> {
        let start = self.start_bytes();
        if dirty_bytes >= self.dirty_max_bytes {
            return None;
        }
        if dirty_bytes <= start {
            return Some(0);
        }
        Some(mul_div(self.scale_ns, dirty_bytes - start, self.dirty_max_bytes - dirty_bytes).min(self.max_ns))
    }
}

/// The throttle with its time line.
#[derive(Clone, Debug)]
pub struct OpenZfs {
    settings: Settings,
    last_wake_ns: u64,
}

impl OpenZfs {
    /// A throttle that has delayed no write yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, last_wake_ns: 0 }
    }

    /// When a transaction that started at `started_ns` and is due a delay of `delay_ns` may continue; None when it has served its
    /// delay already.
    pub fn wake_ns(&mut self, now_ns: u64, started_ns: u64, delay_ns: u64) -> Option<u64> {
        let counts_from_ns = if self.settings.credit { started_ns } else { now_ns };
        let own_ns = counts_from_ns.saturating_add(delay_ns);
        if now_ns > own_ns {
            return None;
        }
        if !self.settings.serialise {
            return Some(own_ns);
        }
        self.last_wake_ns = own_ns.max(self.last_wake_ns.saturating_add(delay_ns));
        Some(self.last_wake_ns)
    }
}

impl Throttle for OpenZfs {
    fn admit(&mut self, pool: &Pool, attempt: &Attempt) -> Admission {
        if attempt.waited {
            return Admission::Enter;
        }
        match self.settings.delay_ns(pool.dirty_bytes) {
            None => Admission::WaitForSpace,
            Some(_) if pool.dirty_bytes <= self.settings.start_bytes() => Admission::Enter,
            Some(delay_ns) => self.wake_ns(pool.now_ns, attempt.started_ns, delay_ns).map_or(Admission::Enter, Admission::SleepUntil),
        }
    }

    fn wakes_waiter(&self, dirty_bytes: u64) -> bool {
        dirty_bytes < self.settings.dirty_max_bytes
    }

    fn limit_bytes(&self) -> Option<u64> {
        Some(self.settings.dirty_max_bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FOUR_GIB: [(u64, u64); 17] = [
        (2_147_483_648, 0),
        (2_576_980_377, 0),
        (2_576_980_378, 0),
        (2_619_930_050, 12_820),
        (2_791_728_742, 71_428),
        (3_006_477_107, 166_666),
        (3_221_225_472, 300_000),
        (3_435_973_836, 499_999),
        (3_650_722_201, 833_333),
        (3_865_470_566, 1_499_999),
        (4_080_218_931, 3_499_999),
        (4_166_118_277, 6_166_666),
        (4_252_017_623, 19_499_999),
        (4_273_492_459, 39_499_999),
        (4_286_377_361, 99_499_995),
        (4_290_672_328, 100_000_000),
        (4_294_967_295, 100_000_000),
    ];
    const ONE_GIB: [(u64, u64); 5] =
        [(751_619_276, 166_666), (805_306_368, 300_000), (858_993_459, 500_000), (966_367_641, 1_499_999), (1_063_004_405, 19_499_998)];
    const THOUSAND: [(u64, u64); 6] =
        [(601, 1253), (700, 166_666), (800, 500_000), (900, 1_500_000), (995, 39_500_000), (999, 100_000_000)];

    #[test]
    fn the_delay_matches_the_reference_to_the_nanosecond() {
        for (max, start, rows) in
            [(4_294_967_296, 2_576_980_377, &FOUR_GIB[..]), (1_073_741_824, 644_245_094, &ONE_GIB[..]), (1000, 600, &THOUSAND[..])]
        {
            let settings = Settings::new(max);
            assert_eq!(settings.start_bytes(), start);
            for (dirty, delay) in rows {
                assert_eq!(settings.delay_ns(*dirty), Some(*delay), "dirty {dirty} of {max}");
            }
            assert_eq!(settings.delay_ns(max), None);
            assert_eq!(settings.delay_ns(max + 1), None);
        }
    }

    #[test]
    fn the_cap_first_binds_where_the_reference_says() {
        let settings = Settings::new(1 << 32);
        assert!(settings.delay_ns(4_286_420_097).is_some_and(|ns| ns < 100_000_000));
        assert_eq!(settings.delay_ns(4_286_420_098), Some(100_000_000));
    }

    /// Long division over bytes, most significant first: shares no arithmetic with the code under test.
    fn oracle(max: u64, percent: u64, scale: u64, cap: u64, dirty: u64) -> Option<u64> {
        fn digits(mut number: u64) -> Vec<u64> {
            let mut out = Vec::new();
            while number > 0 {
                out.push(number % 10);
                number /= 10;
            }
            out
        }
        fn times(a: &[u64], b: &[u64]) -> Vec<u64> {
            let mut out = vec![0; a.len() + b.len() + 1];
            for (i, x) in a.iter().enumerate() {
                for (j, y) in b.iter().enumerate() {
                    out[i + j] += x * y;
                }
            }
            for i in 1..out.len() {
                out[i] += out[i - 1] / 10;
                out[i - 1] %= 10;
            }
            out
        }
        fn over(a: &[u64], by: u64) -> Option<u64> {
            let (mut rest, mut out) = (0u128, Some(0u64));
            for digit in a.iter().rev() {
                rest = rest * 10 + u128::from(*digit);
                let next = u64::try_from(rest / u128::from(by)).ok()?;
                out = out.and_then(|value| value.checked_mul(10)?.checked_add(next));
                rest %= u128::from(by);
            }
            out
        }
        let start = over(&times(&digits(max), &digits(percent)), 100)?;
        if dirty >= max {
            return None;
        }
        if dirty <= start {
            return Some(0);
        }
        Some(over(&times(&digits(scale), &digits(dirty - start)), max - dirty).map_or(cap, |delay| delay.min(cap)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn the_delay_equals_a_big_integer_oracle(
            max in prop_oneof![1u64..2000, 1u64..1 << 33, 1u64..1 << 60],
            share in 0.0f64..1.02,
            percent in 0u64..=100,
            scale in prop_oneof![Just(500_000u64), 0u64..10_000_000_000],
            cap in prop_oneof![Just(100_000_000u64), 0u64..u64::MAX],
        ) {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let dirty = (max as f64 * share) as u64;
            let settings = Settings { min_dirty_percent: percent, scale_ns: scale, max_ns: cap, ..Settings::new(max) };
            prop_assert_eq!(settings.delay_ns(dirty), oracle(max, percent, scale, cap, dirty));
        }
    }

    const US: u64 = 1000;
    const DELAY_NS: u64 = 1000 * US;

    #[test]
    fn wake_ups_are_spaced_as_in_the_reference() {
        let mut line = OpenZfs::new(Settings::new(1000));
        let mut wake = |start: u64, now: u64| line.wake_ns(now * 100 * US, start * 100 * US, DELAY_NS).map(|ns| ns / (100 * US));
        assert_eq!([wake(0, 0), wake(0, 0), wake(0, 0)], [Some(10), Some(20), Some(30)]);
        assert_eq!(wake(35, 50), None, "served its delay before it asked");
        assert_eq!(wake(48, 50), Some(58));
        assert_eq!(wake(50, 50), Some(68));
        assert_eq!(wake(40, 50), Some(78), "not later than its own due time, so it takes a slot");
    }

    #[test]
    fn without_the_shared_line_every_thread_gets_its_own_rate() {
        let mut line = OpenZfs::new(Settings { serialise: false, ..Settings::new(1000) });
        assert!((0..10).all(|_| line.wake_ns(0, 0, DELAY_NS) == Some(DELAY_NS)));
    }

    #[test]
    fn without_credit_the_delay_counts_from_now() {
        let mut line = OpenZfs::new(Settings { credit: false, ..Settings::new(1000) });
        assert_eq!(line.wake_ns(5 * DELAY_NS, 0, DELAY_NS), Some(6 * DELAY_NS));
    }

    #[test]
    fn a_write_that_has_waited_enters_even_above_the_limit() {
        let mut throttle = OpenZfs::new(Settings::new(1000));
        let pool = Pool { dirty_bytes: 2000, ..Pool::default() };
        assert_eq!(throttle.admit(&pool, &Attempt::default()), Admission::WaitForSpace);
        assert_eq!(throttle.admit(&pool, &Attempt { waited: true, ..Attempt::default() }), Admission::Enter);
        assert!(!throttle.wakes_waiter(1000) && throttle.wakes_waiter(999));
    }

    #[test]
    fn a_delay_that_rounds_to_nothing_still_takes_a_slot() {
        let mut throttle = OpenZfs::new(Settings::new(1 << 32));
        let pool = Pool { dirty_bytes: 2_576_980_378, now_ns: 7, ..Pool::default() };
        assert_eq!(throttle.admit(&pool, &Attempt { started_ns: 7, ..Attempt::default() }), Admission::SleepUntil(7));
    }
}
