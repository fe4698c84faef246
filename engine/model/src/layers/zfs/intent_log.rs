//! The intent log: what a synchronous write waits for before it is acknowledged.
//!
//! A write in memory is lost with the machine. A synchronous one is therefore also written to a log, and acknowledged when the log
//! is durable; its group writes the data later as ever. Each file system of a pool has a log of its own; they share the devices.
//!
//! | record | when | in the log | elsewhere |
//! |---|---|---|---|
//! | copied | small, or there is a separate log device | header and data | |
//! | needing a copy | the same, of a write that a later flush (`fsync`) waits for | header and data, copied from memory at the commit | |
//! | indirect | more than 32 KiB (0.7: 32 KiB or more), no separate device | header | its blocks go to their place in the pool at once, and not again with their group |
//!
//! **One writer.** The first who commits writes the log for all; those who come meanwhile wait, and form the next batch:
//!
//! ```text
//! A commits   |== log block: A ==|flush|
//! B, C, D     . . . wait . . . . . . . |== log block: B C D ==|flush|
//! ```
//!
//! So the slower the log, the larger the batches: its rate in commits grows with its load. A commit ends with one flush of the caches
//! of what was written. [`super::log_blocks`] has the sizes of its blocks.
//!
//! **Host time.** A commit passes task queues on its way to the device and back, and wakes the threads that wait for it and the next
//! writer, one after the other. This takes longer than a fast device does, so a faster log device gains little:
//!
//! ```text
//! measured, 8 KiB O_SYNC, one thread        SATA SSDs 163-169 us     Optane log device 186 us (median)
//! each further write of a batch             10-20 us, of which its bytes take 2-17 us
//! ```
//!
//! Source: the fio reports of `OpenZFS` pull request 6566 (branch master, max-rate-submit: one to eight SSDs, 1 to 1024 threads) and
//! d-uzlov/k8s-homelab, `test-fsync.md`. The default lies between the two: the SSD takes some 50 us of the first, the log device 10 to 20 us
//! of the second.
//!
//! **Massive commits.** A commit of a gigabyte would occupy the log devices for seconds, and every other log with them:
//!
//! | version | a block goes to the log devices | |
//! |---|---|---|
//! | 2008 | always | |
//! | 2010 to 0.6.5 | while the commit has written less than 1 MiB, or has less than 2 MiB to go | the rest goes to the pool: diverted |
//! | 0.7 and later | always | beyond 768 KiB of the commit (64 MiB since 2.3) with the priority of group writes, so that other logs go first |
//!
//! Source: `zil.c`, `zfs_log.c`, reference sections 7.1 to 7.4; [`super::slog`] has the devices. Left out: the log blocks left open
//! for company since 0.8; a block that is written again while its indirect write is in progress counts as written.

use std::collections::VecDeque;

use super::log_blocks::{MAX_REQUEST_BYTES, Recent, Sizes};
use crate::kernel::RequestId;
use seeklab_spec::Bytes;
use seeklab_spec::zfs::Era;
use seeklab_spec::zfs::IntentLogSpec;

/// Host time of a commit, and for each write in it, in ns; see the module for the source.
const COMMIT_NS: u64 = 110_000;
const COMMIT_WRITE_NS: u64 = 8_000;
/// Header of a record of a write.
const HEADER_BYTES: u64 = 192;
/// Data beyond this do not go through a log in the pool (`zfs_immediate_write_sz`).
const IMMEDIATE_BYTES: u64 = 32 << 10;
/// A commit that has written more than this leaves the log devices (`zil_slog_limit`) ...
const SLOG_LIMIT_BYTES: u64 = 1 << 20;
/// ... or loses its priority there (`zil_slog_bulk`).
const SLOG_BULK_BYTES: u64 = 768 << 10;
/// The same since 2.3.
const SLOG_BULK_2_3_BYTES: u64 = 64 << 20;

/// How the log of a version is written.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether the log has devices of its own.
    pub is_separate: bool,
    /// Time of the flush that ends a commit.
    pub flush_ns: u64,
    /// The sizes of its blocks.
    pub sizes: Sizes,
    commit_ns: u64,
    commit_write_ns: u64,
    batches: bool,
    indirect_from: u64,
    limit_bytes: u64,
    bulk_bytes: u64,
}

/// Bytes of a commit beyond which it leaves the log devices for the pool, and beyond which it waits behind others, where a version
/// has such a bound.
#[must_use]
pub fn versions_own(era: Era) -> (Option<u64>, Option<u64>) {
    match era {
        Era::Zfs2008March | Era::Zfs2008December => (None, None),
        Era::Zfs2010 | Era::OpenZfs2013 => (Some(SLOG_LIMIT_BYTES), None),
        Era::OpenZfs0_7 | Era::OpenZfs2_1 | Era::OpenZfs2_2 => (None, Some(SLOG_BULK_BYTES)),
        Era::OpenZfs2_3 => (None, Some(SLOG_BULK_2_3_BYTES)),
    }
}

impl Rules {
    /// The rules of a version, with what `spec` changes of them.
    #[must_use]
    pub fn new(spec: &IntentLogSpec, era: Era) -> Self {
        let (limit, bulk) = versions_own(era);
        let chosen = |own: Option<Bytes>, version: Option<u64>| match own.map(|bytes| bytes.0).or(version) {
            None | Some(0) => u64::MAX,
            Some(bytes) => bytes,
        };
        Self {
            is_separate: spec.devices.is_some(),
            flush_ns: spec.flush.0,
            sizes: Sizes::of(era),
            commit_ns: spec.commit.map_or(COMMIT_NS, |time| time.0),
            commit_write_ns: spec.commit_write.map_or(COMMIT_WRITE_NS, |time| time.0),
            batches: spec.batch,
            indirect_from: IMMEDIATE_BYTES + u64::from(bulk.is_none()),
            limit_bytes: chosen(spec.slog_limit, limit),
            bulk_bytes: chosen(spec.slog_bulk, bulk),
        }
    }

    /// Whether a record of which `bytes` are written goes to its place in the pool, with no more than a pointer in the log.
    #[must_use]
    pub fn is_indirect(&self, bytes: u64) -> bool {
        !self.is_separate && bytes >= self.indirect_from
    }

    /// Bytes that `bytes` of one record take in the log.
    #[must_use]
    pub fn record_bytes(&self, bytes: u64) -> u64 {
        HEADER_BYTES + if self.is_indirect(bytes) { 0 } else { bytes }
    }

    /// Whether the next block of a commit leaves the log devices for the pool, after `written` bytes, with `rest` to go.
    #[must_use]
    pub fn diverts(&self, written: u64, rest: u64) -> bool {
        written >= self.limit_bytes && rest / 2 >= self.limit_bytes
    }

    /// Whether the next block of a commit waits behind those of other commits.
    #[must_use]
    pub fn is_bulk(&self, written: u64) -> bool {
        written > self.bulk_bytes
    }

    /// Host time of a commit of so many writes.
    #[must_use]
    pub fn host_ns(&self, writes: u64) -> u64 {
        self.commit_ns.saturating_add(writes.saturating_mul(self.commit_write_ns))
    }

    /// Time until what a commit of `copied_bytes` needs of memory has been copied; beyond the first block this continues while the
    /// devices write.
    #[must_use]
    pub fn copied_first(copied_bytes: u64) -> u64 {
        copied_bytes.min(MAX_REQUEST_BYTES)
    }
}

/// A write that a commit makes durable, or the part of it that is in one transaction group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Its transaction group.
    pub group: u64,
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// 1 for the part with which a write ends, 0 for those before it.
    pub writes: u64,
}

/// A commit in progress.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// Its file system.
    pub dataset: usize,
    /// When it began.
    pub started_ns: u64,
    /// Time to copy from memory before the last of it is durable.
    pub copy_ns: u64,
    /// Bytes of its blocks on the log devices, or in the pool when there are none.
    pub bytes: u64,
    /// Bytes of its blocks that left the log devices for the pool.
    pub diverted_bytes: u64,
    /// Requests whose records are written.
    pub batch: Vec<RequestId>,
    /// The blocks that went to their place in the pool, by their groups.
    pub indirect: Vec<(u64, u64)>,
    /// The leaves with volatile caches that its blocks went to.
    pub volatile: Vec<usize>,
    /// Group and bytes of the writes that were acknowledged before and that it makes durable.
    pub earlier: Vec<(u64, u64)>,
}

/// The waiters for the log of a file system.
#[derive(Debug, Default)]
pub struct IntentLog {
    /// Whether a batch is being written.
    pub is_writing: bool,
    /// The sizes of its last blocks.
    pub recent: Recent,
    /// By worker, writes that its next flush makes durable.
    later: Vec<Vec<Logged>>,
    waiting: VecDeque<RequestId>,
}

impl IntentLog {
    /// A write that the next flush of `worker` makes durable; `synced` says which groups need no log any more.
    pub fn later(&mut self, worker: u32, write: Logged, synced: impl Fn(u64) -> bool) {
        let list = self.later_of(worker);
        if list.len() == list.capacity() {
            list.retain(|write| !synced(write.group)); // so that it holds no more than the groups in memory
        }
        list.push(write);
    }

    /// The writes that a flush of `worker` makes durable; the flush empties the list.
    pub fn later_of(&mut self, worker: u32) -> &mut Vec<Logged> {
        let place = worker as usize;
        if place >= self.later.len() {
            self.later.resize(place + 1, Vec::new());
        }
        &mut self.later[place]
    }

    /// A write waits for its commit.
    pub fn join(&mut self, id: RequestId) {
        self.waiting.push_back(id);
    }

    /// Makes those who wait the batch that is written, unless one is being written or none waits.
    pub fn next_batch(&mut self, rules: &Rules, batch: &mut Vec<RequestId>) -> bool {
        if self.is_writing || self.waiting.is_empty() {
            return false;
        }
        let count = if rules.batches { self.waiting.len() } else { 1 };
        batch.extend(self.waiting.drain(..count));
        self.is_writing = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_spec::Nanos;

    fn separate() -> IntentLogSpec {
        serde_json::from_value(serde_json::json!({ "devices": { "lun": { "rate": "1GB" } } })).expect("a log")
    }

    #[test]
    fn the_form_of_a_record_follows_size_version_and_device() {
        let pool = |era| Rules::new(&IntentLogSpec::default(), era);
        let old = pool(Era::OpenZfs2013);
        assert_eq!([old.record_bytes(8192), old.record_bytes(32_768), old.record_bytes(32_769)], [8384, 32_960, 192]);
        assert_eq!([pool(Era::OpenZfs0_7).record_bytes(32_767), pool(Era::OpenZfs0_7).record_bytes(32_768)], [32_959, 192]);
        assert_eq!(Rules::new(&separate(), Era::OpenZfs0_7).record_bytes(1 << 20), (1 << 20) + 192);
    }

    #[test]
    fn massive_commits_leave_the_log_devices_or_their_priority_by_version() {
        const MIB: u64 = 1 << 20;
        let diverts = |era: Era| {
            let rules = Rules::new(&separate(), era);
            [(0, 1000), (1, 999), (500, 500), (998, 2), (999, 1)].map(|(written, rest)| rules.diverts(written * MIB, rest * MIB))
        };
        for era in [Era::Zfs2010, Era::OpenZfs2013] {
            assert_eq!(diverts(era), [false, true, true, true, false], "{era:?}");
            assert!(!Rules::new(&separate(), era).is_bulk(1 << 40));
        }
        for era in [Era::Zfs2008March, Era::Zfs2008December, Era::OpenZfs0_7, Era::OpenZfs2_1] {
            assert_eq!(diverts(era), [false; 5], "{era:?}");
        }
        let new = Rules::new(&separate(), Era::OpenZfs2_1);
        assert_eq!([new.is_bulk(768 << 10), new.is_bulk((768 << 10) + 1)], [false, true]);
        let never = Rules::new(&IntentLogSpec { slog_limit: Some(Bytes(0)), ..separate() }, Era::Zfs2010);
        assert!(!never.diverts(1 << 40, 1 << 40));
    }

    #[test]
    fn a_commit_takes_host_time_and_more_with_each_write() {
        let default = Rules::new(&IntentLogSpec::default(), Era::OpenZfs0_7);
        assert_eq!([default.host_ns(1), default.host_ns(11)], [118_000, 198_000]);
        let free = IntentLogSpec { commit: Some(Nanos(0)), commit_write: Some(Nanos(0)), ..IntentLogSpec::default() };
        assert_eq!(Rules::new(&free, Era::OpenZfs0_7).host_ns(100), 0);
    }

    #[test]
    fn who_comes_while_the_log_is_written_forms_the_next_batch() {
        let batched = Rules::new(&IntentLogSpec::default(), Era::OpenZfs2013);
        let (mut log, mut batch) = (IntentLog::default(), Vec::new());
        assert!(!log.next_batch(&batched, &mut batch));
        log.join(RequestId(1));
        assert!(log.next_batch(&batched, &mut batch));
        log.join(RequestId(2));
        log.join(RequestId(3));
        assert!(!log.next_batch(&batched, &mut Vec::new()), "one writer");
        assert_eq!(batch, [RequestId(1)]);
        (log.is_writing, batch) = (false, Vec::new());
        assert!(log.next_batch(&batched, &mut batch));
        assert_eq!(batch, [RequestId(2), RequestId(3)]);
        let single = Rules::new(&IntentLogSpec { batch: false, ..IntentLogSpec::default() }, Era::OpenZfs2013);
        let (mut alone, mut batch) = (IntentLog::default(), Vec::new());
        alone.join(RequestId(2));
        alone.join(RequestId(3));
        assert!(alone.next_batch(&single, &mut batch));
        assert_eq!(batch, [RequestId(2)]);
    }
}
