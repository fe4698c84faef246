//! The write throttle from December 2008 to 2013: the gates of [`super::zfs2008`], the limit from a blended estimate of the rate.
//!
//! **Problem.** Rescaling the limit after each sync made it follow every swing of the backend.
//!
//! **Idea.** Estimate the backend's throughput from syncs that wrote enough to tell, a quarter new and three quarters old, and
//! let a group hold what that rate writes in the target time.
//!
//! ```text
//! December 2008   sample when written > 4 MiB and it took any time     rate in bytes/s    target 5 s
//! 2010            sample when written > 4 MiB and it took > 1 ms       rate in bytes/ms   target 5 s, soon 1 s
//!
//! rate  = new / 4 + 3 * rate / 4      (the first sample counts in full)
//! limit = min(most, max(32 MiB, rate * target))
//! ```
//!
//! The shift of the 7/8 threshold was right by then. In May 2010 the worst case of an allocation grew from 6 to 24 times the
//! data; as rate and limit both count inflated bytes only the smallest limit noticed. Source: reference section 3.4. Left out:
//! subtracting the time of reads that a sync needs, which the model's syncs do not have.

use super::zfs2008::{Gates, LIMIT_MIN_BYTES, Settings};
use super::{Admission, Attempt, Pool, SyncReport, Throttle, mul_div};

/// A sync that wrote no more says nothing about the rate.
const SAMPLE_MIN_BYTES: u64 = LIMIT_MIN_BYTES / 8;
const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// The unit in which the rate is kept, which decides its rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    /// December 2008.
    PerSecond,
    /// May 2010.
    PerMillisecond,
}

/// The running estimate of the backend's throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The rate's unit.
    pub unit: RateUnit,
    /// Inflated bytes in a unit of time; 0 before the first sample.
    pub rate: u64,
}

impl Estimate {
    /// The next limit after a sync that wrote `written` inflated bytes in `write_ns`; None when the sync says nothing.
    pub fn sample(&mut self, written: u64, write_ns: u64, target_ns: u64, limit_max: u64) -> Option<u64> {
        let new = match self.unit {
            _ if written <= SAMPLE_MIN_BYTES || write_ns == 0 => return None,
            RateUnit::PerSecond => mul_div(written, NS_PER_S, write_ns),
            RateUnit::PerMillisecond if write_ns <= NS_PER_MS => return None,
            RateUnit::PerMillisecond => written / (write_ns / NS_PER_MS),
        };
        self.rate = if self.rate == 0 { new } else { (new / 4).saturating_add(mul_div(self.rate, 3, 4)) };
        let wanted = match self.unit {
            RateUnit::PerSecond => mul_div(self.rate, target_ns, NS_PER_S),
            RateUnit::PerMillisecond => self.rate.saturating_mul(target_ns / NS_PER_MS),
        };
        Some(wanted.max(LIMIT_MIN_BYTES).min(limit_max))
    }
}

/// The throttle of December 2008 and later.
#[derive(Clone, Debug)]
pub struct Zfs2010 {
    settings: Settings,
    gates: Gates,
    estimate: Estimate,
    limit: u64,
}

impl Zfs2010 {
    /// A throttle with its first limit.
    #[must_use]
    pub fn new(settings: Settings, unit: RateUnit) -> Self {
        Self { settings, gates: Gates::new(settings), estimate: Estimate { unit, rate: 0 }, limit: settings.first_limit_bytes }
    }
}

impl Throttle for Zfs2010 {
    fn admit(&mut self, pool: &Pool, attempt: &Attempt) -> Admission {
        self.gates.admit(self.limit, pool, attempt)
    }

    fn committed(&mut self, group: u64, asked: u64, dirtied: u64) {
        self.gates.committed(group, asked, dirtied);
    }

    fn synced(&mut self, report: &SyncReport) {
        let written = self.gates.take(report.group);
        let sampled = self.estimate.sample(written, report.duration_ns(), self.settings.target_ns, self.settings.limit_max_bytes);
        self.limit = sampled.unwrap_or(self.limit);
    }

    fn limit_bytes(&self) -> Option<u64> {
        Some(self.limit / self.settings.inflation.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_limit_of_december_2008_follows_the_reference() {
        let mut estimate = Estimate { unit: RateUnit::PerSecond, rate: 0 };
        // 500, 500, 437.5, 390.62 and 355.47 MiB.
        for (written, ms, limit) in [
            (32, 320, 524_288_000),
            (500, 5000, 524_288_000),
            (500, 10_000, 458_752_000),
            (500, 10_000, 409_600_000),
            (500, 10_000, 372_736_000),
        ] {
            let next = estimate.sample(written * MIB, ms * NS_PER_MS, 5 * NS_PER_S, u64::MAX);
            assert_eq!(next, Some(limit), "({written}, {ms})");
        }
    }

    #[test]
    fn the_limit_of_2010_follows_the_reference() {
        let mut estimate = Estimate { unit: RateUnit::PerMillisecond, rate: 0 };
        let rows: [(u64, u64, Option<u64>); 9] = [
            (32, 320, Some(104_857)),
            (100, 1000, Some(104_856)),
            (100, 500, Some(131_070)),
            (100, 500, Some(150_730)),
            (200, 1000, Some(165_475)),
            (200, 1000, Some(176_534)),
            (4, 10, None),
            (5, 1000, Some(133_710)),
            (400, 4000, Some(126_496)),
        ];
        for (written, ms, rate) in rows {
            let limit = estimate.sample(written * MIB, ms * NS_PER_MS, NS_PER_S, u64::MAX);
            assert_eq!(limit, rate.map(|rate| rate * 1000), "({written}, {ms})");
            assert!(rate.is_none_or(|rate| rate == estimate.rate));
        }
    }

    #[test]
    fn a_sync_within_a_millisecond_says_nothing_in_2010() {
        let mut estimate = Estimate { unit: RateUnit::PerMillisecond, rate: 7 };
        assert_eq!(estimate.sample(100 * MIB, NS_PER_MS, NS_PER_S, u64::MAX), None);
        assert_eq!(estimate.rate, 7);
    }
}
