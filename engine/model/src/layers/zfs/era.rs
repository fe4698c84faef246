//! Versions of ZFS as sets of constants: `zfs-2008-03` to `openzfs-2.3`.
//!
//! | preset | stands for | throttle | scheduler | groups |
//! |---|---|---|---|---|
//! | `zfs-2008-03` | the throttle as integrated, March 2008 | 2008, rescaled per sync, shift bug | deadlines, 35 in flight | 30 s |
//! | `zfs-2008-12` | `OpenSolaris` build 103, December 2008 | 2010's estimate, per second | deadlines, 35 in flight | 30 s |
//! | `zfs-2010` | build 147 to ZFS on Linux 0.6.2 | 2010's estimate, per ms, target 1 s | deadlines, 10 in flight | 5 s |
//! | `openzfs-2013` | Illumos 4045, ZFS on Linux 0.6.3 | delay curve | classes, group writes 1-10 | 5 s, 64 MiB dirty |
//! | `openzfs-0.7` | 0.7 | delay curve, maximum capped at 4 GiB | classes, group writes 2-10 | 5 s, 64 MiB dirty |
//! | `openzfs-2.1` | 2.1 | delay curve | classes in turn | 5 s, 20 % dirty |
//! | `openzfs-2.2` | 2.2 | delay curve | classes in turn; blocks released whole | 5 s, 20 % dirty |
//! | `openzfs-2.3` | 2.3 and 2.4 | as 2.2 | as 2.2 | as 2.2 |
//!
//! The read side of each version is in [`super::arc`], [`super::zfetch`] and [`super::l2arc`]. Left out of 2.2 and 2.3: the second
//! input of the delay curve (bytes of the intent log), the order of writes by batches of 0.5 s.
//!
//! Source: reference sections 1.1, 2.1, 2.5, 3.1 and 4, cited at each constant.

use super::scheduler::{active, deadline};
use super::throttle::zfs2010::RateUnit;
use super::throttle::{openzfs, zfs2008};
use super::txg::DirtyTrigger;
use seeklab_spec::ReadBalance;
use seeklab_spec::zfs::{Era, Release};

/// The throttle of a version, with its constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throttling {
    /// Limit rescaled per sync.
    Zfs2008(zfs2008::Settings),
    /// Limit from a blended estimate in this unit.
    Zfs2010(zfs2008::Settings, RateUnit),
    /// Delay curve.
    OpenZfs(openzfs::Settings),
}

/// The scheduler of a version, with its constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// One queue in order of deadline.
    Deadline(deadline::Settings),
    /// Classes with minimum and maximum.
    Active(active::Settings),
}

/// The constants of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// A group syncs at the latest so long after the previous sync began.
    pub txg_timeout_ns: u64,
    /// Dirty data that make a group sync earlier.
    pub dirty_trigger: DirtyTrigger,
    /// Most dirty data. The versions before 2013 know no such limit: all of memory.
    pub dirty_max_bytes: u64,
    /// The throttle.
    pub throttling: Throttling,
    /// The scheduler.
    pub scheduling: Scheduling,
    /// When dirty data are released.
    pub release: Release,
    /// Rounds of writing a group: the first its data, the others its metadata (reference 4).
    pub sync_passes: u32,
    /// Length of an indirect block before it is compressed; 0 when block pointers cost nothing.
    pub indirect_bytes: u64,
}

/// Length of indirect blocks until 2016, and since (`OpenZFS` 7104).
const INDIRECT_BYTES: [u64; 2] = [16 << 10, 128 << 10];
const NS_PER_S: u64 = 1_000_000_000;
/// Worst case of an allocation until 2009 and from May 2010 (reference 3.1).
const INFLATION: [u64; 2] = [6, 24];
/// Most dirty data as a share of memory (reference 1.1).
const DIRTY_MAX_PERCENT: u64 = 10;
const DIRTY_MAX_MAX_BYTES: u64 = 4 << 30;

/// Most dirty data on a machine with `memory_bytes` (reference 1.1): a tenth of it, from 0.7 at most 4 GiB.
#[must_use]
pub fn dirty_max_bytes(era: Era, memory_bytes: u64) -> u64 {
    let tenth = super::throttle::mul_div(memory_bytes, DIRTY_MAX_PERCENT, 100);
    match era {
        Era::Zfs2008March | Era::Zfs2008December | Era::Zfs2010 => memory_bytes,
        Era::OpenZfs2013 => tenth,
        Era::OpenZfs0_7 | Era::OpenZfs2_1 | Era::OpenZfs2_2 | Era::OpenZfs2_3 => tenth.min(DIRTY_MAX_MAX_BYTES),
    }
}

/// Return the rule that selects the side of a mirror for a read (reference 8.2).
#[must_use]
pub fn read_balance(era: Era) -> ReadBalance {
    match era {
        Era::Zfs2008March | Era::Zfs2008December | Era::Zfs2010 => ReadBalance::Region,
        Era::OpenZfs2013 => ReadBalance::Pending,
        Era::OpenZfs0_7 | Era::OpenZfs2_1 | Era::OpenZfs2_2 | Era::OpenZfs2_3 => ReadBalance::Load,
    }
}

/// The constants of this version on a machine with `memory_bytes`.
#[must_use]
pub fn constants(era: Era, memory_bytes: u64) -> Constants {
    let dirty_max_bytes = dirty_max_bytes(era, memory_bytes);
    let before_2013 = Constants {
        txg_timeout_ns: 30 * NS_PER_S,
        dirty_trigger: DirtyTrigger::Never,
        dirty_max_bytes,
        throttling: Throttling::Zfs2008(zfs2008::Settings {
            shift_bug: true,
            ..zfs2008::Settings::with_inflation(memory_bytes, INFLATION[0])
        }),
        scheduling: Scheduling::Deadline(deadline::Settings::new(35)),
        release: Release::GroupEnd,
        sync_passes: 2,
        indirect_bytes: INDIRECT_BYTES[0],
    };
    let since_2013 = Constants {
        txg_timeout_ns: 5 * NS_PER_S,
        dirty_trigger: DirtyTrigger::Bytes(64 << 20),
        throttling: Throttling::OpenZfs(openzfs::Settings::new(dirty_max_bytes)),
        scheduling: Scheduling::Active(active::Settings::openzfs_2013()),
        release: Release::EachWrite,
        ..before_2013
    };
    match era {
        Era::Zfs2008March => before_2013,
        Era::Zfs2008December => Constants {
            throttling: Throttling::Zfs2010(zfs2008::Settings::with_inflation(memory_bytes, INFLATION[0]), RateUnit::PerSecond),
            ..before_2013
        },
        Era::Zfs2010 => Constants {
            txg_timeout_ns: 5 * NS_PER_S,
            throttling: Throttling::Zfs2010(
                zfs2008::Settings { target_ns: NS_PER_S, ..zfs2008::Settings::with_inflation(memory_bytes, INFLATION[1]) },
                RateUnit::PerMillisecond,
            ),
            scheduling: Scheduling::Deadline(deadline::Settings::of_2010()),
            ..before_2013
        },
        Era::OpenZfs2013 => since_2013,
        Era::OpenZfs0_7 => {
            Constants { scheduling: Scheduling::Active(active::Settings::openzfs_0_7()), indirect_bytes: INDIRECT_BYTES[1], ..since_2013 }
        }
        Era::OpenZfs2_1 | Era::OpenZfs2_2 | Era::OpenZfs2_3 => Constants {
            release: if era == Era::OpenZfs2_1 { Release::EachWrite } else { Release::WholeBlock },
            dirty_trigger: DirtyTrigger::Percent(20),
            scheduling: Scheduling::Active(active::Settings::openzfs_2_1()),
            indirect_bytes: INDIRECT_BYTES[1],
            ..since_2013
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_scenario() {
        for era in Era::ALL {
            assert_eq!(serde_json::to_value(era).expect("a name"), era.name());
        }
    }

    #[test]
    fn the_most_dirty_data_are_a_tenth_of_memory_and_capped_from_0_7() {
        let most = |era: Era| dirty_max_bytes(era, 128 << 30);
        assert_eq!(most(Era::OpenZfs2013), (128 << 30) / 10);
        assert_eq!(most(Era::OpenZfs2_1), 4 << 30);
    }

    #[test]
    fn the_first_limit_holds_little_data_because_it_counts_inflated_bytes() {
        for (era, factor) in [(Era::Zfs2008December, 6), (Era::Zfs2010, 24)] {
            let Throttling::Zfs2010(settings, _) = constants(era, 8 << 30).throttling else { panic!("an old throttle") };
            assert_eq!(settings.first_limit_bytes, 32 << 20);
            assert_eq!((settings.inflation, settings.limit_max_bytes), (factor, (1 << 30) * factor));
        }
    }
}
