//! The throttle of writers.
//!
//! - `limit` (Linux before 3.2): a writer sleeps while its bytes would not fit below the limit.
//! - `midpoint` (since 3.2): above the mean of background threshold and limit a writer is paced: to the rate at which the devices write,
//!   shared among those who write, times a factor that is 2 at the midpoint, 1 half way from there to the limit, and 0 at the limit (a
//!   cubic between). A pause is at most 200 ms. At the limit nobody continues.
//!
//! The rate of the devices is estimated as the kernel does: from what was written in each 200 ms or more, over about 4 s, beginning with
//! 100 MiB/s. The kernel learns a writer's share from how fast pages become dirty; here all have the same.

use std::collections::VecDeque;

use seeklab_kernel::NS_PER_S;
use seeklab_spec::page_cache::ThrottleFrom;
use seeklab_spec::to_f64;

/// Longest pause.
const MAX_PAUSE_NS: u64 = 200_000_000;
/// The estimate is made again after so much time.
const ESTIMATE_NS: u64 = 200_000_000;
/// The time over which it is made: 3 s, rounded up to a power of two of the kernel's ticks.
const PERIOD_NS: f64 = 4.096e9;
/// Assumed rate before the first write, in bytes per second.
const FIRST_RATE: f64 = 104_857_600.0;

/// The verdict on a writer.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// Copy its piece; the next one not before this time.
    Go { next_ns: u64 },
    /// Wait until then, and ask again.
    Pause { until_ns: u64 },
    /// Wait until there is room.
    Stop,
}

/// The throttle.
#[derive(Debug)]
pub(super) struct Throttle {
    from: u64,
    limit: u64,
    is_paced: bool,
    /// Bytes that are being copied.
    pub reserved: u64,
    /// Workers that wait for room, the first the longest.
    pub stopped: VecDeque<u32>,
    /// The one of them whose turn it is.
    pub admitted: Option<u32>,
    /// Workers that have a write in hand.
    pub writers: u32,
    rate: f64,
    estimated_ns: u64,
    written: u64,
}

impl Throttle {
    pub fn new(from: ThrottleFrom, background: u64, limit: u64) -> Self {
        let is_paced = from == ThrottleFrom::Midpoint;
        Self {
            from: if is_paced { u64::midpoint(background, limit) } else { limit },
            limit,
            is_paced,
            reserved: 0,
            stopped: VecDeque::new(),
            admitted: None,
            writers: 0,
            rate: FIRST_RATE,
            estimated_ns: 0,
            written: 0,
        }
    }

    /// Whether so many more bytes fit below the limit, beside those that are not on the devices. Where there are none any write may go.
    pub fn has_room(&self, unwritten: u64, bytes: u64) -> bool {
        let used = unwritten + self.reserved;
        used == 0 || used + bytes <= self.limit
    }

    /// Return the verdict on a writer that has this many bytes to copy and may not continue before `next_ns`.
    pub fn ask(&mut self, now_ns: u64, worker: u32, next_ns: u64, unwritten: u64, bytes: u64) -> Verdict {
        let is_its_turn = self.stopped.is_empty() || self.admitted == Some(worker);
        self.admitted = None;
        if !is_its_turn || !self.has_room(unwritten, bytes) {
            return Verdict::Stop;
        }
        let used = unwritten + self.reserved;
        if !self.is_paced || used <= self.from {
            return Verdict::Go { next_ns };
        }
        if now_ns < next_ns {
            return Verdict::Pause { until_ns: next_ns };
        }
        Verdict::Go { next_ns: now_ns + self.pause_ns(used, bytes) }
    }

    /// The time that a writer may take for so many bytes.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 200 ms
    fn pause_ns(&self, used: u64, bytes: u64) -> u64 {
        let half = to_f64(self.limit - self.from) / 2.0;
        let off = (to_f64(self.from) + half - to_f64(used)) / half.max(1.0);
        let factor = 1.0 + off * off * off;
        let rate = self.rate * factor / f64::from(self.writers.max(1));
        let ns = to_f64(bytes) * to_f64(NS_PER_S) / rate.max(1.0);
        if ns < to_f64(MAX_PAUSE_NS) { ns as u64 } else { MAX_PAUSE_NS }
    }

    /// Bytes have been written to the devices.
    pub fn written(&mut self, now_ns: u64, bytes: u64) {
        self.written += bytes;
        let since_ns = now_ns - self.estimated_ns;
        if since_ns < ESTIMATE_NS {
            return;
        }
        // After a time without writes nothing is known of the devices' rate.
        if since_ns <= NS_PER_S {
            let share = to_f64(since_ns) / PERIOD_NS;
            self.rate = self.rate * (1.0 - share) + to_f64(self.written) * to_f64(NS_PER_S) / PERIOD_NS;
        }
        (self.estimated_ns, self.written) = (now_ns, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1_000_000;

    /// Background 10 MB, limit 30 MB, so that pacing begins at 20 MB and its factor is 1 at 25 MB.
    fn paced() -> Throttle {
        Throttle { rate: 100e6, ..Throttle::new(ThrottleFrom::Midpoint, 10 * MB, 30 * MB) }
    }

    #[test]
    fn a_pause_follows_from_how_much_is_dirty() {
        let next = |used: u64| match paced().ask(0, 0, 0, used, MB) {
            Verdict::Go { next_ns } => next_ns,
            other => panic!("{other:?}"),
        };
        assert_eq!(next(20 * MB), 0, "not above the midpoint");
        assert_eq!(next(25 * MB), 10_000_000, "1 MB at 100 MB/s");
        assert!(next(20 * MB + 1).abs_diff(5_000_000) < 10, "twice the rate at the midpoint");
        // Three quarters of the way: 1 - 1/8.
        assert_eq!(next(27_500_000), 11_428_571);
    }

    #[test]
    fn a_pause_is_at_most_200_ms_and_shared() {
        let mut throttle = paced();
        assert_eq!(throttle.ask(0, 0, 0, 29 * MB, MB), Verdict::Go { next_ns: 20_491_803 });
        throttle.writers = 3;
        assert_eq!(throttle.ask(0, 2, 0, 25 * MB, 30), Verdict::Go { next_ns: 900 }, "with two others");
        let mut slow = Throttle { rate: 1e6, ..paced() };
        assert_eq!(slow.ask(0, 0, 0, 25 * MB, MB), Verdict::Go { next_ns: MAX_PAUSE_NS });
        assert_eq!(throttle.ask(10, 3, 11, 25 * MB, MB), Verdict::Pause { until_ns: 11 });
    }

    #[test]
    fn nobody_overtakes_a_writer_that_waits_for_room() {
        let mut throttle = Throttle::new(ThrottleFrom::Limit, 10 * MB, 30 * MB);
        assert_eq!(throttle.ask(0, 0, 0, 29 * MB + 1, MB), Verdict::Stop);
        throttle.stopped.push_back(0);
        assert_eq!(throttle.ask(0, 1, 0, 20 * MB, MB), Verdict::Stop);
        throttle.admitted = Some(0);
        assert_eq!(throttle.ask(0, 0, 0, 20 * MB, MB), Verdict::Go { next_ns: 0 });
    }

    #[test]
    fn the_estimate_follows_what_is_written() {
        let mut throttle = paced();
        (1..=200).for_each(|step| throttle.written(step * 200_000_000, 60 * MB));
        assert!((throttle.rate / 300e6 - 1.0).abs() < 0.01, "{}", throttle.rate);
        throttle.written(1000 * NS_PER_S, 1);
        assert!((throttle.rate / 300e6 - 1.0).abs() < 0.01, "an idle time tells nothing");
    }
}
