//! Write throttles: what may enter memory, and when, while the backend is slower than the writers.
//!
//! A file system that acknowledges writes from memory needs a rule for the moment when memory fills faster than the backend
//! empties it. Each file here is one such rule; all answer the same question, [`Throttle::admit`]:
//!
//! | module | idea | what a writer feels |
//! |---|---|---|
//! | [`none`] | no rule until memory is full | nothing, then everything |
//! | [`zfs2008`] | a group may hold what the last sync suggests for 5 s | free, a 10 ms tick per write, then a stall of seconds |
//! | [`zfs2010`] | the same gates, the size from a blended estimate of the rate | the same, steadier |
//! | [`diagonal`] | bytes of a group never above measured rate times its age | even pace while the rate is steady |
//! | [`openzfs`] | delay each write a little, more the fuller the buffer | a delay that settles where it matches the backend |
//! | [`host`] | whatever the engine's host says | that |

pub mod diagonal;
pub mod host;
pub mod none;
pub mod openzfs;
pub mod zfs2008;
pub mod zfs2010;

/// Groups whose accounts are kept side by side: one open, one closing, one syncing, and a spare.
pub const SLOTS: usize = 4;

/// The place of a group's account.
#[must_use]
#[allow(clippy::cast_possible_truncation)] // the remainder is below four
pub fn slot(group: u64) -> usize {
    (group % SLOTS as u64) as usize
}

/// The state of the pool that a write sees when it asks to enter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// The present.
    pub now_ns: u64,
    /// Dirty bytes in memory, over all groups.
    pub dirty_bytes: u64,
    /// The open group.
    pub group: u64,
    /// When it opened.
    pub opened_ns: u64,
    /// Whether the group before the open one is closed but cannot sync yet, and no thread waits for the open one to close.
    pub pipeline_full: bool,
}

/// A write that asks to enter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// When its transaction was created, before any reads it needed.
    pub started_ns: u64,
    /// Bytes of the blocks that it will make dirty.
    pub bytes: u64,
    /// Whether it has waited for space or slept already: then it is not held up again.
    pub waited: bool,
}

/// The answer to a write that asks to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It belongs to the open group and may copy its data.
    Enter,
    /// It belongs to the open group, holds it open, and copies its data at this time, or earlier when the pipeline moves.
    EnterThenSleepUntil(u64),
    /// It sleeps until this time outside any group, then enters whichever is open.
    SleepUntil(u64),
    /// It waits in line until there is space; waiters are woken one at a time.
    WaitForSpace,
    /// The engine's host says how long it sleeps; it waits for the answer without time passing.
    AskHost,
    /// It waits with all others until the next group opens, then asks again.
    WaitForNextGroup,
}

/// The report of a group that has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// The group.
    pub group: u64,
    /// Bytes of its dirty blocks.
    pub bytes: u64,
    /// When the sync began.
    pub started_ns: u64,
    /// When it ended.
    pub ended_ns: u64,
}

impl SyncReport {
    /// How long the sync took.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        self.ended_ns.saturating_sub(self.started_ns)
    }
}

/// A rule for writes that come faster than the backend takes them.
pub trait Throttle {
    /// A write asks to enter.
    fn admit(&mut self, pool: &Pool, attempt: &Attempt) -> Admission;

    /// A write that had entered `group` has made `dirtied` bytes of blocks dirty; it had asked for `asked` bytes.
    fn committed(&mut self, _group: u64, _asked: u64, _dirtied: u64) {}

    /// A group has been written out.
    fn synced(&mut self, _report: &SyncReport) {}

    /// Whether a change that leaves `dirty_bytes` wakes the writer that has waited for space the longest.
    fn wakes_waiter(&self, _dirty_bytes: u64) -> bool {
        false
    }

    /// The limit that it enforces at present, in bytes of data: of one group for the throttles of 2008 and 2010, of all dirty
    /// data for the others. None when it knows no limit.
    fn limit_bytes(&self) -> Option<u64>;
}

/// Whether `a * b` surely fits in 64 bits: then there is no need for 128, which WebAssembly does not have.
#[must_use]
pub fn fits(a: u64, b: u64) -> bool {
    a.leading_zeros() + b.leading_zeros() >= u64::BITS
}

/// `a * b`; saturates when it does not fit. Nearly always it does, and WebAssembly has no product of 128 bits to see an overflow by.
#[must_use]
#[inline]
pub fn times(a: u64, b: u64) -> u64 {
    if fits(a, b) { a * b } else { a.saturating_mul(b) }
}

/// `a * b / c` rounded down without overflow on the way; saturates when the result does not fit, 0 when `c` is 0.
#[must_use]
pub fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    if fits(a, b) {
        return (a * b).checked_div(c).unwrap_or(0);
    }
    let product = u128::from(a) * u128::from(b);
    u64::try_from(product.checked_div(u128::from(c)).unwrap_or(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_product_is_divided_without_overflow(a: u64, b: u64, c: u64, shift_a in 0u32..64, shift_b in 0u32..64, shift_c in 0u32..64) {
            let (a, b, c) = (a >> shift_a, b >> shift_b, c >> shift_c);
            let exact = (u128::from(a) * u128::from(b)).checked_div(u128::from(c)).unwrap_or(0);
            prop_assert_eq!(mul_div(a, b, c), u64::try_from(exact).unwrap_or(u64::MAX));
        }
    }
}
