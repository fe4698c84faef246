//! The choice of a mirror's side for a read: three rules by version of ZFS, and the nearest arm.
//!
//! | rule | asks | source |
//! |---|---|---|
//! | region | the side that a region of 2 MiB belongs to | `vdev_mirror.c` until 2012 and in illumos |
//! | pending | the one with the fewest requests in flight | ZFS on Linux 0.6.2 |
//! | load | the same, with a penalty for distance: nothing for what follows the last request, 2 within 1 MiB of it, 5 beyond; 0 or 1 when it does not turn | `vdev_mirror_load` since 0.7 |
//! | nearest | the one whose last request ended nearest to the data | Bitton and Gray, "Disk Shadowing" (VLDB 1988) |
//!
//! With `k` arms at independent places the nearest moves `1 / (2k + 1)` of the stroke on average, in the approximation of Bitton and Gray
//! (distances of the arms taken as independent), where one arm moves a third of it. Arms that stay where they served last spread out,
//! and move less than that.
//!
//! A write goes to all sides and completes when the last has it; it also takes all arms to the same place. Left out: the rotation of the
//! platters, which differs between the sides.

use seeklab_spec::Op;
use seeklab_spec::ReadBalance;

/// The properties of a side that a rule may use.
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
                Op::Write | Op::Trim => !self.spare,
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
        ReadBalance::Region => (0, 0),
        ReadBalance::Pending => (side.pending, 0),
        ReadBalance::Load => (side.pending + penalty(side, offset), 0),
        ReadBalance::Nearest => (side.last_end.abs_diff(offset), side.pending),
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
    use seeklab_kernel::Stream;
    use seeklab_spec::to_f64;

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
        for rule in [ReadBalance::Region, ReadBalance::Pending, ReadBalance::Load, ReadBalance::Nearest] {
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

    #[test]
    fn a_side_that_does_not_turn_is_charged_one_for_a_jump() {
        let flash = Side { rotating: false, ..DISK };
        assert_eq!(
            choose(ReadBalance::Load, &[Side { pending: 3, ..DISK }, Side { pending: 6, ..flash }], 0, 1, 0),
            1,
            "3 + 5 against 6 + 1"
        );
        assert_eq!(
            choose(ReadBalance::Load, &[Side { pending: 1, ..DISK }, Side { pending: 6, ..flash }], 0, 1, 0),
            0,
            "1 + 5 against 6 + 1"
        );
    }

    const STROKE: u64 = 1 << 40;

    /// Mean distance, as a share of the stroke, to the arm that is chosen of `count` for reads at random; the arms stay where they
    /// served, or each is somewhere at random before every read.
    fn mean_seek(rule: ReadBalance, count: usize, stay: bool) -> f64 {
        let (mut stream, reads) = (Stream::new(1, "places"), 40_000);
        let mut sides = vec![DISK; count];
        let mut sum = 0.0;
        for _ in 0..reads {
            if !stay {
                for side in &mut sides {
                    side.last_end = stream.below(STROKE);
                }
            }
            let offset = stream.below(STROKE);
            let chosen = choose(rule, &sides, offset, 1, 0);
            let side = &mut sides[chosen];
            sum += to_f64(side.last_end.abs_diff(offset)) / to_f64(STROKE);
            side.last_end = offset;
        }
        sum / f64::from(reads)
    }

    #[test]
    fn the_nearest_of_k_arms_moves_one_part_in_2k_plus_1_of_the_stroke() {
        // Bitton and Gray: 1/3, 1/5, 1/7, 1/9 of the stroke for one to four arms.
        for (count, expected) in [(1, 0.3333), (2, 0.2), (3, 0.1429), (4, 0.1111)] {
            let found = mean_seek(ReadBalance::Nearest, count, false);
            assert!((found / expected - 1.0).abs() < 0.06, "{found} of the stroke with {count} arms, not {expected}");
            let in_regions = mean_seek(ReadBalance::Region, count, false);
            assert!((in_regions / 0.3333 - 1.0).abs() < 0.02, "{in_regions} by regions: any arm, a third");
        }
    }

    #[test]
    fn arms_that_stay_where_they_served_spread_out_and_move_less() {
        // 0.162, 0.107 and 0.080 of the stroke.
        for (count, expected) in [(2, 0.162), (3, 0.107), (4, 0.080)] {
            let found = mean_seek(ReadBalance::Nearest, count, true);
            assert!((found / expected - 1.0).abs() < 0.02, "{found} of the stroke with {count} arms");
        }
    }
}
