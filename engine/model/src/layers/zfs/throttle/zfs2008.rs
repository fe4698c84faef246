//! The first ZFS write throttle (March 2008), with the shift that went the wrong way.
//!
//! **Problem.** Without a throttle writers fill memory faster than the disks empty it, and a transaction group can take minutes
//! to sync.
//!
//! **Idea.** Size groups so that each takes about five seconds to sync. Three may exist: one open, one closed, one syncing. A
//! write that enters the open group meets two gates:
//!
//! ```text
//!  bytes in the open group      0 ................ 7/8 limit ....... limit
//!  (written + half of reserved) |---- enter -------|-- 10 ms tick --|-- wait for the next group
//! ```
//!
//! The tick is conditional: a write sleeps only while the closed group still waits behind the syncing one (the pipeline is
//! full), and wakes early when it moves or when somebody waits for the open group to close. Each writer sleeps on its own, so a
//! thousand threads still write a hundred thousand blocks a second. Beyond the limit *all* writers wait until the next group
//! opens, which takes until the syncing one has finished: the brick wall.
//!
//! After each sync the limit is rescaled to what would have taken the target time:
//!
//! ```text
//! slower than the target: limit = max(32 MiB, min(limit, written) * target / ticks)
//! faster, and full:       limit = min(most, written * min(100 * target / ticks, 200) / 100)     (compared in units of 8 ticks)
//! else:                   unchanged
//! ```
//!
//! **The bug.** The threshold was meant to be `limit - limit/8`, written with a shift. The shift went left instead of right, and
//! C binds it weaker than the subtraction: `(limit - limit) << 3` is 0, so every write but a group's first was beyond "7/8".
//!
//! All state is in *inflated* bytes: data bytes times the worst case of their allocation (6, later 24), while the smallest limit
//! of 32 MiB is not inflated. Source: reference section 3. Left out: memory pressure (the reservation of cache memory), and the
//! exact worst case of a transaction: it counts every level of indirect blocks, here it is twice the data, what halving it
//! presumes.

use super::{Admission, Attempt, Pool, SLOTS, SyncReport, Throttle, mul_div, slot};

/// The smallest limit, not inflated.
pub const LIMIT_MIN_BYTES: u64 = 32 << 20;
/// The clock that syncs are timed by, whatever the delay is set to.
const TICK_NS: u64 = 10_000_000;
/// Worst case of a transaction over the data that it writes.
const RESERVED_PER_BYTE: u64 = 2;

/// The tunables that the throttles of 2008 and 2010 share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Worst case of an allocation over its data.
    pub inflation: u64,
    /// Largest limit, in inflated bytes.
    pub limit_max_bytes: u64,
    /// Limit before the first sync, in inflated bytes.
    pub first_limit_bytes: u64,
    /// Target duration of a sync.
    pub target_ns: u64,
    /// The delay of a write beyond the threshold: one tick of the kernel's clock.
    pub tick_ns: u64,
    /// Whether the threshold is the wrong shift's.
    pub shift_bug: bool,
}

impl Settings {
    /// The defaults of March 2008 for a machine with `memory_bytes`.
    #[must_use]
    pub fn march_2008(memory_bytes: u64) -> Self {
        Self::with_inflation(memory_bytes, 6)
    }

    /// The defaults with another worst case of an allocation.
    #[must_use]
    pub fn with_inflation(memory_bytes: u64, inflation: u64) -> Self {
        Self {
            inflation,
            limit_max_bytes: (memory_bytes >> 3).saturating_mul(inflation).max(LIMIT_MIN_BYTES),
            first_limit_bytes: LIMIT_MIN_BYTES,
            target_ns: 5_000_000_000,
            tick_ns: TICK_NS,
            shift_bug: false,
        }
    }
}

/// The two gates, with the accounts of four groups.
#[derive(Clone, Debug)]
pub struct Gates {
    settings: Settings,
    to_write: [u64; SLOTS],
    reserved: [u64; SLOTS],
}

impl Gates {
    /// Gates in front of empty groups.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, to_write: [0; SLOTS], reserved: [0; SLOTS] }
    }

    /// Return the bytes that count against the limit in `group`, inflated.
    #[must_use]
    pub fn counted(&self, group: u64) -> u64 {
        self.to_write[slot(group)].saturating_add(self.reserved[slot(group)] / 2)
    }

    /// Beyond this a write is delayed.
    #[must_use]
    pub fn threshold(&self, limit: u64) -> u64 {
        if self.settings.shift_bug { 0 } else { limit - limit / 8 }
    }

    /// A write asks to enter while the limit is `limit`; 0 means no limit.
    pub fn admit(&mut self, limit: u64, pool: &Pool, attempt: &Attempt) -> Admission {
        let counted = self.counted(pool.group);
        if limit > 0 && counted > limit {
            return Admission::WaitForNextGroup;
        }
        self.reserved[slot(pool.group)] += self.reservation(attempt.bytes);
        if counted > self.threshold(limit) && pool.pipeline_full {
            return Admission::EnterThenSleepUntil(pool.now_ns.saturating_add(self.settings.tick_ns));
        }
        Admission::Enter
    }

    /// A write has turned its reservation into dirty blocks.
    pub fn committed(&mut self, group: u64, asked: u64, dirtied: u64) {
        let reservation = self.reservation(asked);
        let reserved = &mut self.reserved[slot(group)];
        *reserved = reserved.saturating_sub(reservation);
        let to_write = &mut self.to_write[slot(group)];
        *to_write = to_write.saturating_add(dirtied.saturating_mul(self.settings.inflation));
    }

    /// Empties the account of a group that has synced and returns what it held, in inflated bytes.
    pub fn take(&mut self, group: u64) -> u64 {
        std::mem::take(&mut self.to_write[slot(group)])
    }

    fn reservation(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(RESERVED_PER_BYTE).saturating_mul(self.settings.inflation)
    }
}

/// The limit after a sync that wrote `written` bytes in `ticks` when `target_ticks` were wanted.
#[must_use]
pub fn next_limit(limit: u64, written: u64, ticks: u64, target_ticks: u64, limit_max: u64) -> u64 {
    let ticks = ticks.max(1);
    if ticks > target_ticks {
        mul_div(limit.min(written), target_ticks, ticks).max(LIMIT_MIN_BYTES)
    } else if written >= limit && (ticks >> 3) < (target_ticks >> 3) {
        let percent = (target_ticks.saturating_mul(100) / ticks).min(200);
        mul_div(written, percent, 100).min(limit_max)
    } else {
        limit
    }
}

/// The throttle of March 2008.
#[derive(Clone, Debug)]
pub struct Zfs2008 {
    settings: Settings,
    gates: Gates,
    limit: u64,
}

impl Zfs2008 {
    /// A throttle with its first limit.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, gates: Gates::new(settings), limit: settings.first_limit_bytes }
    }
}

impl Throttle for Zfs2008 {
    fn admit(&mut self, pool: &Pool, attempt: &Attempt) -> Admission {
        self.gates.admit(self.limit, pool, attempt)
    }

    fn committed(&mut self, group: u64, asked: u64, dirtied: u64) {
        self.gates.committed(group, asked, dirtied);
    }

    fn synced(&mut self, report: &SyncReport) {
        let written = self.gates.take(report.group);
        let ticks = (report.ended_ns / TICK_NS).saturating_sub(report.started_ns / TICK_NS);
        self.limit = next_limit(self.limit, written, ticks, self.settings.target_ns / TICK_NS, self.settings.limit_max_bytes);
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
    fn the_limit_follows_the_reference() {
        let rows: [(u64, u64, u64, u64); 11] = [
            (32, 32, 20, 64 * MIB),
            (32, 33, 100, 66 * MIB),
            (64, 64, 200, 128 * MIB),
            (500, 500, 400, 625 * MIB),
            (500, 500, 492, 505 * MIB),
            (500, 500, 496, 500 * MIB),
            (500, 500, 500, 500 * MIB),
            (500, 600, 1000, 250 * MIB),
            (500, 100, 1000, 50 * MIB),
            (500, 300, 100, 500 * MIB),
            (2048, 4096, 250, 6144 * MIB),
        ];
        for (limit, written, ticks, next) in rows {
            assert_eq!(next_limit(limit * MIB, written * MIB, ticks, 500, 6144 * MIB), next, "({limit}, {written}, {ticks})");
        }
        assert_eq!(next_limit(40 * MIB, 40 * MIB, 2000, 500, 6144 * MIB), 32 * MIB);
        assert_eq!(next_limit(500 * MIB, 500 * MIB, 501, 500, 6144 * MIB), 523_241_516, "499.002 MiB");
    }

    #[test]
    fn a_sync_of_no_time_at_all_doubles_the_limit() {
        assert_eq!(next_limit(32 * MIB, 32 * MIB, 0, 500, 6144 * MIB), 64 * MIB);
    }

    fn settings() -> Settings {
        Settings { inflation: 1, first_limit_bytes: 800, ..Settings::march_2008(0) }
    }

    fn fill(throttle: &mut Zfs2008, bytes: u64) {
        throttle.committed(1, 0, bytes);
    }

    const FULL: Pool = Pool { now_ns: 0, dirty_bytes: 0, group: 1, opened_ns: 0, pipeline_full: true };
    const ONE: Attempt = Attempt { started_ns: 0, bytes: 1, waited: false };
    const TICK: Admission = Admission::EnterThenSleepUntil(10_000_000);

    #[test]
    fn a_write_passes_free_then_ticks_then_waits() {
        for (held, expected) in [(700, Admission::Enter), (701, TICK), (800, TICK), (801, Admission::WaitForNextGroup)] {
            let mut throttle = Zfs2008::new(settings());
            fill(&mut throttle, held);
            assert_eq!(throttle.admit(&FULL, &ONE), expected, "{held} bytes in the group");
        }
    }

    #[test]
    fn nobody_ticks_while_the_pipeline_moves() {
        let mut throttle = Zfs2008::new(settings());
        fill(&mut throttle, 750);
        assert_eq!(throttle.admit(&Pool { pipeline_full: false, ..FULL }, &ONE), Admission::Enter);
    }

    #[test]
    fn with_the_shift_bug_only_the_first_write_of_a_group_escapes() {
        let mut throttle = Zfs2008::new(Settings { shift_bug: true, ..settings() });
        assert_eq!(throttle.admit(&FULL, &ONE), Admission::Enter);
        assert_eq!(throttle.admit(&FULL, &ONE), TICK);
    }

    #[test]
    fn a_reservation_counts_half_until_it_commits() {
        let mut gates = Gates::new(Settings { inflation: 6, ..settings() });
        let attempt = Attempt { bytes: 100, ..ONE };
        assert_eq!(gates.admit(0, &FULL, &attempt), Admission::Enter);
        assert_eq!(gates.counted(1), 600);
        gates.committed(1, 100, 100);
        assert_eq!(gates.counted(1), 600);
        assert_eq!((gates.take(1), gates.counted(1)), (600, 0));
    }
}
