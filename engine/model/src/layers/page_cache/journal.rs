//! The journal: a running transaction, and one that is being committed.
//!
//! A commit writes, in ordered mode, all data of the transaction and waits for those in flight; then its metadata into the journal;
//! then the commit record, with a FLUSH. Who waits for the transaction continues. Meanwhile writes join the next transaction, which is
//! committed after this one.

use std::collections::VecDeque;

use super::{COMMIT, File, HERE, PAGE_BYTES, PageCache, Timer};
use crate::kernel::{Durable, Kernel, Request, RequestId};
use crate::range::Range;
use seeklab_spec::Op;
use seeklab_spec::page_cache::{CommitHolds, Journal};

/// Data that one indirect block of ext3 points to: 1024 pointers to pages.
const INDIRECT_BYTES: u64 = 4 << 20;
/// Blocks of metadata that a file changes anyhow: its inode's, and a bitmap's.
const BLOCKS_PER_FILE: u64 = 2;

/// A transaction.
#[derive(Debug)]
struct Transaction {
    id: u32,
    began_ns: u64,
    files: u64,
    data_bytes: u64,
    /// Its runs of dirty pages by their order, some of which may have been sent.
    data: VecDeque<u64>,
    /// Runs that are not on the devices.
    pending: u64,
    /// Workers that wait for the commit.
    waiters: Vec<u32>,
    is_forced: bool,
}

/// The stage of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Data,
    Metadata,
    Record,
}

/// A transaction that is being committed.
#[derive(Debug)]
struct Commit {
    of: Transaction,
    stage: Stage,
    began_ns: u64,
}

/// The journal.
#[derive(Debug)]
pub(super) struct Log {
    place: Range,
    next: u64,
    running: Option<Transaction>,
    commit: Option<Commit>,
    /// The last transaction that was opened, and the last one that is durable.
    last: u32,
    last_durable: u32,
    /// Workers whose writes wait for the end of the commit.
    pub held: Vec<u32>,
}

impl Log {
    pub fn new(place: Range) -> Self {
        Self { place, next: place.start, running: None, commit: None, last: 0, last_durable: 0, held: Vec::new() }
    }

    pub fn memory_bytes(&self) -> u64 {
        let orders =
            self.running.as_ref().map_or(0, |of| of.data.capacity()) + self.commit.as_ref().map_or(0, |commit| commit.of.data.capacity());
        (orders * size_of::<u64>()) as u64
    }

    /// Whether a commit keeps a file from being changed.
    pub fn holds(&self, file: &File, what: CommitHolds) -> bool {
        let is_held = |commit: &Commit| file.joined == commit.of.id && (what == CommitHolds::Files || commit.stage != Stage::Data);
        self.commit.as_ref().is_some_and(is_held)
    }

    /// Whether a commit is writing data.
    pub fn writes_data(&self) -> bool {
        self.commit.as_ref().is_some_and(|commit| commit.stage == Stage::Data)
    }

    /// The next run that a commit waits for.
    pub fn next_data(&mut self) -> Option<u64> {
        self.commit.as_mut().and_then(|commit| commit.of.data.pop_front())
    }

    /// Bytes have become dirty under the running transaction, in these new runs or in those that there were.
    pub fn add_data(&mut self, bytes: u64, orders: Vec<u64>) {
        if let Some(running) = &mut self.running {
            running.data_bytes += bytes;
            running.pending += orders.len() as u64;
            running.data.extend(orders);
        }
    }
}

impl PageCache {
    /// A file's metadata change: it joins the running transaction, whose number is returned; 0 without a journal.
    pub(super) fn join(&mut self, kernel: &mut Kernel, file: u32) -> u32 {
        let file = &mut self.files[file as usize];
        if !file.is_journalled {
            return 0;
        }
        let log = &mut self.log;
        let running = log.running.get_or_insert_with(|| {
            log.last += 1;
            kernel.wake_at(kernel.now_ns() + self.spec.commit.0, HERE, Timer::Commit(log.last));
            Transaction {
                id: log.last,
                began_ns: kernel.now_ns(),
                files: 0,
                data_bytes: 0,
                data: VecDeque::new(),
                pending: 0,
                waiters: Vec::new(),
                is_forced: false,
            }
        });
        if file.joined != running.id {
            file.joined = running.id;
            running.files += 1;
        }
        running.id
    }

    /// With delayed allocation: data that are sent get their place, and belong to the running transaction from now on.
    pub(super) fn allocate(&mut self, kernel: &mut Kernel, file: u32, range: Range) -> u32 {
        if self.allocated.as_mut().is_some_and(|allocated| !allocated.add(range)) {
            return 0;
        }
        let transaction = self.join(kernel, file);
        self.has_blocks_in(file, transaction);
        if let Some(running) = self.log.running.as_mut().filter(|_| transaction != 0) {
            running.data_bytes += range.end - range.start;
            running.pending += 1;
        }
        transaction
    }

    /// A write under a transaction adds the blocks of a range to a file that lack them.
    pub(super) fn add_blocks(&mut self, file: u32, range: Range, transaction: u32) {
        if self.allocated.as_mut().is_some_and(|allocated| allocated.add(range)) {
            self.has_blocks_in(file, transaction);
        }
    }

    fn has_blocks_in(&mut self, file: u32, transaction: u32) {
        let file = &mut self.files[file as usize];
        (file.joined_with_blocks, file.has_new_blocks) = (transaction, true);
    }

    /// Lets a synchronous write wait for a transaction and forces its commit. Returns whether there is anything to wait for.
    pub(super) fn force(&mut self, kernel: &mut Kernel, transaction: u32, sync: u32) -> bool {
        if transaction <= self.log.last_durable {
            return false;
        }
        if let Some(commit) = self.log.commit.as_mut().filter(|commit| commit.of.id == transaction) {
            commit.of.waiters.push(sync);
        } else if let Some(running) = &mut self.log.running {
            running.waiters.push(sync);
            running.is_forced = true;
            self.begin_commit(kernel);
        }
        true
    }

    /// A transaction is as old as it may become.
    pub(super) fn commit_is_due(&mut self, kernel: &mut Kernel, transaction: u32) {
        if self.log.running.as_ref().is_some_and(|running| running.id == transaction) {
            self.begin_commit(kernel);
        }
    }

    /// Commits the running transaction, unless another is being committed; then it will follow if it must.
    fn begin_commit(&mut self, kernel: &mut Kernel) {
        if self.log.commit.is_some() {
            return;
        }
        let Some(of) = self.log.running.take() else { return };
        let is_ordered = self.spec.journal == Journal::Ordered;
        let is_written = !is_ordered || of.pending == 0;
        let mut commit = Commit { of, stage: Stage::Data, began_ns: kernel.now_ns() };
        if !is_ordered {
            commit.of.data.clear();
        }
        self.log.commit = Some(commit);
        if is_written {
            return self.write_metadata(kernel);
        }
        self.pump(kernel);
    }

    /// A run of a transaction is on the devices.
    pub(super) fn data_written(&mut self, kernel: &mut Kernel, transaction: u32) {
        if let Some(running) = self.log.running.as_mut().filter(|running| running.id == transaction) {
            running.pending -= 1;
        } else if let Some(commit) = self.log.commit.as_mut().filter(|commit| commit.of.id == transaction) {
            commit.of.pending -= 1;
            if commit.of.pending == 0 && commit.stage == Stage::Data {
                self.write_metadata(kernel);
            }
        }
    }

    fn write_metadata(&mut self, kernel: &mut Kernel) {
        let Some(commit) = &mut self.log.commit else { return };
        commit.stage = Stage::Metadata;
        // A descriptor block comes first.
        let blocks = 1 + commit.of.files * BLOCKS_PER_FILE + commit.of.data_bytes.div_ceil(INDIRECT_BYTES);
        self.write_log(kernel, blocks * PAGE_BYTES, Durable::No);
    }

    /// Writes the next bytes of the journal, round its place.
    fn write_log(&mut self, kernel: &mut Kernel, bytes: u64, durable: Durable) {
        let Log { place, next, .. } = &mut self.log;
        let bytes = bytes.min(place.end - place.start);
        if *next + bytes > place.end {
            *next = place.start;
        }
        let write = Request { offset: *next, bytes, op: Op::Write, owner: HERE, durable, tag: COMMIT, ..Request::default() };
        *next += bytes;
        self.record.logged(bytes);
        let id = kernel.open(write);
        kernel.submit(self.below, id);
    }

    /// A part of a commit is in the journal.
    pub(super) fn logged(&mut self, kernel: &mut Kernel, id: RequestId) {
        kernel.requests.remove(id);
        let Some(commit) = &mut self.log.commit else { return };
        if commit.stage == Stage::Metadata {
            commit.stage = Stage::Record;
            return self.write_log(kernel, PAGE_BYTES, Durable::All);
        }
        self.end_commit(kernel);
    }

    fn end_commit(&mut self, kernel: &mut Kernel) {
        let Some(Commit { of, began_ns, .. }) = self.log.commit.take() else { return };
        let now_ns = kernel.now_ns();
        self.log.last_durable = of.id;
        if self.spec.journal == Journal::Writeback {
            let bytes = self.pages.expose(of.id);
            self.record.exposed(bytes);
        }
        self.record.committed(began_ns, now_ns, of.data_bytes, of.waiters.len());
        for sync in of.waiters {
            self.committed_for(kernel, sync);
        }
        for worker in std::mem::take(&mut self.log.held) {
            self.go_on(kernel, worker);
        }
        let is_due = |running: &Transaction| running.is_forced || now_ns - running.began_ns >= self.spec.commit.0;
        if self.log.running.as_ref().is_some_and(is_due) {
            self.begin_commit(kernel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_without_a_transaction_takes_no_memory() {
        assert_eq!(Log::new(Range { start: 0, end: 1 << 20 }).memory_bytes(), 0);
    }
}
