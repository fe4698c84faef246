//! The intent log: what a synchronous write waits for before it is acknowledged.
//!
//! A write in memory is lost with the machine. A synchronous one is therefore also written to a log, and acknowledged when the log
//! is durable; its group writes the data later as ever.
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
//! So the slower the log, the larger the batches: its rate in commits grows with its load. Blocks hold up to 128 KiB; what is used of
//! one is rounded up to 4 KiB. A commit ends with one flush of the caches of what was written.
//!
//! Source: `zil.c`, `zfs_log.c`, reference sections 7.1, 7.3, 7.4. Left out: the log blocks left open for company since 0.8; the sizes that log blocks are allocated in; the limit beyond which a commit leaves the
//! separate device (before 0.7); a block that is written again while its indirect write is under way counts as written.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::era::Era;
use crate::kernel::RequestId;
use crate::scenario::{Lun, Nanos};

/// Header of a record of a write.
const HEADER_BYTES: u64 = 192;
/// The largest log block.
const BLOCK_BYTES: u64 = 128 << 10;
/// What is used of a log block is rounded up to this.
const ROUNDED_TO: u64 = 4 << 10;
/// Data beyond this do not go through a log in the pool (`zfs_immediate_write_sz`).
const IMMEDIATE_BYTES: u64 = 32 << 10;

/// Intent log of synchronous writes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogSpec {
    /// Device of its own for the log; the log is in the pool when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Lun>,
    /// Time of the cache flush that ends each commit.
    #[serde(default)]
    #[schemars(title = "Cache flush", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub flush: Nanos,
    /// Whether all who wait are committed together; off is an experiment.
    #[serde(default = "yes")]
    #[schemars(title = "Commits in batches")]
    pub batch: bool,
}

fn yes() -> bool {
    true
}

impl Default for LogSpec {
    fn default() -> Self {
        Self { device: None, flush: Nanos(0), batch: true }
    }
}

/// A write that a commit makes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Its transaction group.
    pub group: u64,
    /// Its first block.
    pub first: u64,
    /// The block after its last one.
    pub end: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// Who waits for the log, and who is being written.
#[derive(Debug)]
pub struct IntentLog {
    /// Whether the log has a device of its own.
    pub is_separate: bool,
    /// Time of the flush that ends a commit.
    pub flush_ns: u64,
    /// Time to copy from memory what the present batch needs.
    pub copy_ns: u64,
    /// Where the next block on the separate device goes.
    pub end_bytes: u64,
    /// The work below that the present batch waits for.
    pub work: u32,
    /// Whose records are being written.
    pub batch: Vec<RequestId>,
    /// The writes of the batch that went to their place in the pool.
    pub indirect: Vec<Logged>,
    /// By worker, writes that its next flush makes durable.
    later: Vec<Vec<Logged>>,
    batches: bool,
    indirect_from: u64,
    waiting: VecDeque<RequestId>,
}

impl IntentLog {
    /// An empty log of a version.
    #[must_use]
    pub fn new(spec: &LogSpec, era: Era) -> Self {
        let includes = matches!(era, Era::OpenZfs0_7 | Era::OpenZfs2_1 | Era::OpenZfs2_2 | Era::OpenZfs2_3);
        Self {
            is_separate: spec.device.is_some(),
            flush_ns: spec.flush.0,
            copy_ns: 0,
            end_bytes: 0,
            work: 0,
            batch: Vec::new(),
            indirect: Vec::new(),
            later: Vec::new(),
            batches: spec.batch,
            indirect_from: IMMEDIATE_BYTES + u64::from(!includes),
            waiting: VecDeque::new(),
        }
    }

    /// Whether a write of `bytes` goes to its place in the pool, with no more than a pointer in the log.
    #[must_use]
    pub fn is_indirect(&self, bytes: u64) -> bool {
        !self.is_separate && bytes >= self.indirect_from
    }

    /// Bytes that a write of `bytes` takes in the log.
    #[must_use]
    pub fn record_bytes(&self, bytes: u64) -> u64 {
        HEADER_BYTES + if self.is_indirect(bytes) { 0 } else { bytes }
    }

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

    /// Makes those who wait the batch that is written, unless one is being written or nobody waits. Whoever writes it empties the
    /// batch when it is durable.
    pub fn next_batch(&mut self) -> bool {
        if !self.batch.is_empty() || self.waiting.is_empty() {
            return false;
        }
        let count = if self.batches { self.waiting.len() } else { 1 };
        self.batch.extend(self.waiting.drain(..count));
        true
    }
}

/// The lengths of the blocks that hold `bytes` of records.
pub fn blocks(bytes: u64) -> impl Iterator<Item = u64> {
    let (whole, rest) = (bytes / BLOCK_BYTES, bytes % BLOCK_BYTES);
    (0..whole).map(|_| BLOCK_BYTES).chain((rest > 0).then(|| rest.next_multiple_of(ROUNDED_TO)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_record_follows_size_version_and_device() {
        let pool = |era| IntentLog::new(&LogSpec::default(), era);
        let old = pool(Era::OpenZfs2013);
        assert_eq!([old.record_bytes(8192), old.record_bytes(32_768), old.record_bytes(32_769)], [8384, 32_960, 192]);
        assert_eq!([pool(Era::OpenZfs0_7).record_bytes(32_767), pool(Era::OpenZfs0_7).record_bytes(32_768)], [32_959, 192]);
        let device = serde_json::from_value(serde_json::json!({ "device": { "rate": "1GB" } })).expect("a log");
        assert_eq!(IntentLog::new(&device, Era::OpenZfs0_7).record_bytes(1 << 20), (1 << 20) + 192);
    }

    #[test]
    fn who_comes_while_the_log_is_written_forms_the_next_batch() {
        let mut log = IntentLog::new(&LogSpec::default(), Era::OpenZfs2013);
        assert!(!log.next_batch());
        log.join(RequestId(1));
        assert!(log.next_batch());
        log.join(RequestId(2));
        log.join(RequestId(3));
        assert!(!log.next_batch(), "one writer");
        assert_eq!(log.batch, [RequestId(1)]);
        log.batch.clear();
        assert!(log.next_batch());
        assert_eq!(log.batch, [RequestId(2), RequestId(3)]);
        let mut alone = IntentLog::new(&LogSpec { batch: false, ..LogSpec::default() }, Era::OpenZfs2013);
        alone.join(RequestId(2));
        alone.join(RequestId(3));
        assert!(alone.next_batch());
        assert_eq!(alone.batch, [RequestId(2)]);
    }

    #[test]
    fn blocks_are_full_but_the_last() {
        assert_eq!(blocks(0).count(), 0);
        assert_eq!(blocks(8384).collect::<Vec<_>>(), [12 << 10]);
        assert_eq!(blocks((256 << 10) + 1).collect::<Vec<_>>(), [128 << 10, 128 << 10, 4 << 10]);
    }
}
