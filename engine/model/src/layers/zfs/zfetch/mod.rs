//! Read-ahead by file: which blocks a reader will ask for next.
//!
//! A file system sees reads of blocks, not intentions. Each file has a few *streams*, guesses of the form "somebody reads on from
//! here"; a read that confirms one makes it fetch further ahead. Three generations guess differently:
//!
//! | module | found | how far ahead | streams of a file |
//! |---|---|---|---|
//! | [`zfs2008`] | forward, backward, strides | doubles up to 256 blocks, then in bursts of 256 | 8, idle ones reused after 2 s |
//! | [`openzfs0_7`] | forward | doubles up to 8 MiB, then one read for one read | 8, deleted after 2 s |
//! | [`openzfs2_2`] | forward; from 2.3 also out of order | doubles up to 4 MiB, then only while it comes too late, up to 64 MiB | 8, reused after 1 s |
//!
//! The guess may also be left to the engine's host (`read_ahead.rs`). The distance of the first is in blocks: 32 MiB for each stream with records of 128 KiB, however many streams there are.
//!
//! Source: reference section 5. Left out: prefetching of indirect blocks, and the cache of open buffers above the ARC, whose
//! misses are the ARC's here.

pub mod openzfs0_7;
pub mod openzfs2_2;
pub mod zfs2008;

use seeklab_kernel::NS_PER_S;
use seeklab_spec::zfs::Era;

use crate::read_ahead::Run;

/// A read as the predictor sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The present.
    pub now_ns: u64,
    /// The first block, counted from the start of the file.
    pub block: u64,
    /// How many.
    pub blocks: u64,
    /// Blocks of the file.
    pub file_blocks: u64,
    /// Whether all were in memory or in flight.
    pub found: bool,
    /// Whether one was still in flight because of a prefetch.
    pub late: bool,
    /// Whether prefetches in flight fill a sixteenth of the cache.
    pub busy: bool,
}

impl Access {
    /// The block after it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.block + self.blocks
    }
}

/// A guess at what is read next, for all files.
pub trait Predictor {
    /// A read of `file`, numbered from 0: appends what to fetch for it to `plan`, in order and within the file.
    fn read(&mut self, file: usize, access: &Access, plan: &mut Vec<Run>);

    /// Blocks that all streams together may have ahead of their readers.
    fn ahead_blocks(&self) -> u64;
}

/// Overrides of the version's own read-ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuned {
    /// Most streams of a file.
    pub streams: Option<u64>,
    /// Farthest that a stream is ahead, in blocks.
    pub cap_blocks: Option<u64>,
}

/// Most streams of a file in every version.
pub const STREAMS: u64 = 8;
/// A stream that no read has confirmed for so long may give way.
const REAP_NS: u64 = 2 * NS_PER_S;

/// Whether a version sees each block of a read as a read of its own.
#[must_use]
pub fn by_block(era: Era) -> bool {
    matches!(era, Era::Zfs2008March | Era::Zfs2008December | Era::Zfs2010 | Era::OpenZfs2013)
}

/// How far a stream of a version is ahead at the most, in blocks of `block_bytes`.
#[must_use]
pub fn cap_blocks(era: Era, block_bytes: u64, tuned: Tuned) -> u64 {
    let versions_own = match era {
        Era::Zfs2008March | Era::Zfs2008December | Era::Zfs2010 | Era::OpenZfs2013 => zfs2008::CAP_BLOCKS,
        Era::OpenZfs0_7 | Era::OpenZfs2_1 => openzfs0_7::DISTANCE_BYTES / block_bytes,
        Era::OpenZfs2_2 | Era::OpenZfs2_3 => openzfs2_2::MAX_DISTANCE_BYTES / block_bytes,
    };
    tuned.cap_blocks.unwrap_or(versions_own).max(1)
}

/// The read-ahead of a version over `files` files of blocks of `block_bytes`.
#[must_use]
pub fn predictor(era: Era, block_bytes: u64, files: usize, tuned: Tuned) -> Box<dyn Predictor> {
    let most = tuned.streams.unwrap_or(STREAMS);
    let cap = cap_blocks(era, block_bytes, tuned);
    match era {
        Era::Zfs2008March | Era::Zfs2008December | Era::Zfs2010 | Era::OpenZfs2013 => Box::new(zfs2008::Zfs2008::new(files, most, cap)),
        Era::OpenZfs0_7 | Era::OpenZfs2_1 => Box::new(openzfs0_7::OpenZfs0_7::new(files, most, cap)),
        Era::OpenZfs2_2 | Era::OpenZfs2_3 => {
            let reorder = if era == Era::OpenZfs2_3 { openzfs2_2::REORDER_BYTES / block_bytes } else { 0 };
            Box::new(openzfs2_2::OpenZfs2_2::new(files, most, block_bytes, cap * block_bytes, reorder))
        }
    }
}

/// Appends a run, cut at the end of the file, and returns whether anything is left of it.
fn push(plan: &mut Vec<Run>, block: u64, blocks: u64, file_blocks: u64) -> bool {
    let blocks = blocks.min(file_blocks.saturating_sub(block));
    if blocks > 0 {
        plan.push(Run { block, blocks });
    }
    blocks > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return the fetches of a predictor when blocks are read one at a time, half a second apart.
    pub(super) fn trace(predictor: &mut dyn Predictor, blocks: impl Iterator<Item = u64>, late: bool) -> Vec<Vec<(u64, u64)>> {
        let mut fetched = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for (step, block) in blocks.enumerate() {
            let mut plan = Vec::new();
            let found = known.contains(&block);
            let access = Access {
                now_ns: step as u64 * NS_PER_S / 2,
                block,
                blocks: 1,
                file_blocks: 1 << 20,
                found,
                late: late && found,
                busy: false,
            };
            predictor.read(0, &access, &mut plan);
            known.extend(plan.iter().flat_map(|run| run.block..run.block + run.blocks));
            fetched.push(plan.iter().map(|run| (run.block, run.blocks)).collect());
        }
        fetched
    }

    #[test]
    fn every_version_follows_a_reader_and_leaves_random_reads_alone() {
        for era in Era::ALL {
            let mut predictor = predictor(era, 128 << 10, 1, Tuned::default());
            let runs: usize = trace(predictor.as_mut(), 1..40, false).iter().map(Vec::len).sum();
            assert!(runs > 5, "{era:?}");
            let mut other = super::predictor(era, 128 << 10, 1, Tuned::default());
            let scattered = (0..40u64).map(|step| 1000 + step * step * step * 7919 % 900_001);
            let runs: usize = trace(other.as_mut(), scattered, false).iter().map(Vec::len).sum();
            assert_eq!(runs, 0, "{era:?}");
        }
    }

    #[test]
    fn nothing_is_fetched_past_the_end_of_the_file() {
        for era in Era::ALL {
            let mut predictor = predictor(era, 128 << 10, 1, Tuned::default());
            let mut plan = Vec::new();
            for block in 0..50 {
                let access = Access { now_ns: block, block, blocks: 1, file_blocks: 50, found: block > 1, ..Access::default() };
                predictor.read(0, &access, &mut plan);
            }
            assert!(!plan.is_empty() && plan.iter().all(|run| run.block + run.blocks <= 50), "{era:?}");
        }
    }

    #[test]
    fn a_cap_bounds_what_all_streams_may_have_ahead() {
        for era in Era::ALL {
            let mut predictor = predictor(era, 128 << 10, 100, Tuned { streams: Some(2), cap_blocks: Some(16) });
            let mut plan = Vec::new();
            for block in 0..400 {
                for file in 0..100 {
                    let access = Access { now_ns: block, block, blocks: 1, file_blocks: 4000, found: block > 1, ..Access::default() };
                    predictor.read(file, &access, &mut plan);
                }
            }
            assert_eq!(predictor.ahead_blocks(), 1600, "{era:?}");
        }
    }
}
