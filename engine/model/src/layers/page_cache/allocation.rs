//! Blocks that files have on the devices, where a job flushes data alone (`fdatasync`).
//!
//! A write to blocks that a file already has changes neither its size nor its map of blocks, only its times. `fdatasync` does not wait for
//! times: ext3 and ext4 commit the last transaction that changed anything else of the inode (`i_datasync_tid`, `fs/ext4/fsync.c`), and send
//! only a FLUSH if that one is committed.
//!
//! As in fio, a file that a job reads is complete when the run starts; others are written for the first time by their jobs, and the first
//! write to a block allocates it, or makes an allocated block a written one.

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::range::Range;
use seeklab_spec::{Job, Scenario};

/// Allocated addresses, as the end of each stretch by its start.
#[derive(Debug, Default)]
pub(super) struct Allocated(BTreeMap<u64, u64>);

/// Whether a job's flushes are for data alone. Of a job that writes both `fsync` and `fdatasync`, all flushes are those of `fsync`.
pub(super) fn flushes_data_only(job: &Job) -> bool {
    job.fdatasync.is_some() && job.fsync.is_none()
}

impl Allocated {
    /// The blocks at the start of a run; none if no job flushes data alone.
    pub fn of(scenario: &Scenario, plan: &Plan) -> Option<Self> {
        let mut allocated = scenario.jobs.iter().any(flushes_data_only).then(Self::default)?;
        for worker in plan.workers.iter().filter(|worker| scenario.jobs[worker.job].rw.reads()) {
            allocated.add(worker.file);
        }
        Some(allocated)
    }

    /// Adds blocks; returns whether any of them was not allocated.
    pub fn add(&mut self, range: Range) -> bool {
        let Range { mut start, mut end } = range;
        if let Some((first, last)) = self.0.range(..=start).next_back() {
            if *last >= end {
                return false;
            }
            if *last >= start {
                start = *first;
            }
        }
        while let Some((first, last)) = self.0.range(start..=end).next().map(|(first, last)| (*first, *last)) {
            self.0.remove(&first);
            end = end.max(last);
        }
        self.0.insert(start, end);
        true
    }

    pub fn memory_bytes(&self) -> u64 {
        // A node of a tree is about two thirds full.
        (self.0.len() * size_of::<(u64, u64)>() * 3 / 2) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_a_file_does_not_have_are_new() {
        let mut allocated = Allocated::default();
        for (start, end, is_new) in [(0, 4, true), (0, 4, false), (8, 12, true), (2, 6, true), (9, 11, false), (6, 8, true), (0, 12, false)]
        {
            assert_eq!(allocated.add(Range { start, end }), is_new, "{start} to {end}");
        }
        assert_eq!(allocated.0.into_iter().collect::<Vec<_>>(), [(0, 12)], "neighbours are one stretch");
    }
}
