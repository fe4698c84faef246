//! Which side of a mirror answers a read: three rules, by version of ZFS.
//!
//! A write goes to all sides and completes when the last has it. Left out: seek-distance hints of other volume managers.

use seeklab_spec::Op;
use seeklab_spec::ReadBalance;

/// What a rule may know of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Requests in flight.
    pub pending: u64,
    /// End of the last request, in bytes.
    pub last_end: u64,
    /// Whether it turns.
    pub rotating: bool,
    /// Whether it has failed.
    pub failed: bool,
    /// Whether a spare has taken its place.
    pub spare: bool,
    /// Units of its group that the spare has, from the start.
    pub rebuilt: u64,
}

impl Side {
    /// Whether a request that ends at unit `end` of the group cannot use this side.
    #[must_use]
    pub fn lost(&self, op: Op, end: u64) -> bool {
        self.failed
            && match op {
                Op::Read => end > self.rebuilt,
                Op::Write => !self.spare,
            }
    }
}

/// Bytes of a region that belongs to one side, as a power of two.
const REGION_LOG2: u32 = 21;
/// A rotating side that is asked for something within this distance is charged less.
const NEAR_BYTES: u64 = 1 << 20;
/// Time for which one side wins ties by the pending rule, in nanoseconds.
const TIE_NS: u64 = 10_000_000;

fn penalty(side: &Side, offset: u64) -> u64 {
    match (side.rotating, side.last_end == offset) {
        (_, true) => 0,
        (false, false) => 1,
        (true, false) if side.last_end.abs_diff(offset) < NEAR_BYTES => 2,
        (true, false) => 5,
    }
}

/// The side that reads from `offset`, in bytes, up to the end of a unit at time `now_ns`; 0 when none is left.
#[must_use]
#[allow(clippy::cast_possible_truncation)] // indices of a handful of sides
pub fn choose(rule: ReadBalance, sides: &[Side], offset: u64, end: u64, now_ns: u64) -> usize {
    let load = |side: &Side| match rule {
        ReadBalance::Region => 0,
        ReadBalance::Pending => side.pending,
        ReadBalance::Load => side.pending + penalty(side, offset),
    };
    let alive = || sides.iter().enumerate().filter(|(_, side)| !side.lost(Op::Read, end));
    let Some(least) = alive().map(|(_, side)| load(side)).min() else { return 0 };
    let ties = alive().filter(|(_, side)| load(side) == least).count() as u64;
    let turn = if rule == ReadBalance::Pending { now_ns / TIE_NS } else { offset >> REGION_LOG2 };
    let chosen = (turn % ties) as usize;
    alive().filter(|(_, side)| load(side) == least).nth(chosen).map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Side = Side { pending: 0, last_end: 1 << 40, rotating: true, failed: false, spare: false, rebuilt: 0 };

    #[test]
    fn regions_of_two_mebibytes_take_turns_whatever_the_load() {
        let sides = [Side { pending: 9, ..DISK }, DISK];
        let chosen: Vec<_> = (0..4).map(|mib| choose(ReadBalance::Region, &sides, mib << 20, 1, 0)).collect();
        assert_eq!(chosen, [0, 0, 1, 1]);
    }

    #[test]
    fn the_fewest_in_flight_win_and_ties_change_every_ten_milliseconds() {
        assert_eq!(choose(ReadBalance::Pending, &[Side { pending: 2, ..DISK }, Side { pending: 1, ..DISK }], 0, 1, 0), 1);
        assert_eq!(choose(ReadBalance::Pending, &[DISK, DISK], 0, 1, 9_999_999), 0);
        assert_eq!(choose(ReadBalance::Pending, &[DISK, DISK], 0, 1, 10_000_000), 1);
    }

    #[test]
    fn a_failed_side_is_never_asked() {
        for rule in [ReadBalance::Region, ReadBalance::Pending, ReadBalance::Load] {
            assert_eq!(choose(rule, &[Side { failed: true, ..DISK }, Side { pending: 99, ..DISK }], 0, 1, 0), 1);
        }
    }

    #[test]
    fn a_sequential_reader_stays_on_its_side_until_the_other_is_much_less_loaded() {
        let here = Side { pending: 4, last_end: 4096, ..DISK };
        assert_eq!(choose(ReadBalance::Load, &[here, DISK], 4096, 1, 0), 0, "4 + 0 against 0 + 5");
        assert_eq!(choose(ReadBalance::Load, &[Side { pending: 6, ..here }, DISK], 4096, 1, 0), 1, "6 + 0 against 0 + 5");
        assert_eq!(choose(ReadBalance::Load, &[Side { pending: 2, last_end: 8192, ..DISK }, DISK], 4096, 1, 0), 0, "2 + 2 against 0 + 5");
    }
}
