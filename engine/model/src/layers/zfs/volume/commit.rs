//! Commits of the intent logs: how the writes that wait become log blocks, where those go, and when they are durable.

use super::{HERE, Kind, State, Timer, Zfs};
use crate::kernel::{Durable, Kernel, Phase};
use crate::layers::device::transfer_ns;
use crate::layers::layout::Layout;
use crate::layers::zfs::intent_log::{Commit, Logged, Rules};
use crate::layers::zfs::log_blocks;
use crate::layers::zfs::record::CommitRow;
use crate::layers::zfs::scheduler::{Class, Io};
use seeklab_cache::NONE;
use seeklab_spec::Op;
use seeklab_spec::zfs::Placement;

/// Holes on other devices that a log block passes over at most.
const MOST_TRIES: u32 = 10_000;

impl Zfs {
    /// The file system that a worker's file is in.
    pub(super) fn dataset(&self, worker: u32) -> usize {
        self.datasets.get(worker as usize).copied().unwrap_or(0)
    }

    /// Writes the log of a file system for those who wait, unless it is being written.
    pub(super) fn commit(&mut self, kernel: &mut Kernel, dataset: usize) {
        let number = self.commits.claim(Commit::default);
        let mut commit = std::mem::take(&mut self.commits[number]);
        if self.logs[dataset].next_batch(&self.log_rules, &mut commit.batch) {
            (commit.dataset, commit.started_ns) = (dataset, kernel.now_ns());
            self.write_log(kernel, &mut commit, u64::from(number));
        } else {
            self.commits.release(number);
        }
        self.commits[number] = commit;
    }

    fn write_log(&mut self, kernel: &mut Kernel, commit: &mut Commit, number: u64) {
        let work = self.work(Kind::Log, number, 0);
        self.logged_on.clear();
        let (mut bytes, mut copied_bytes, mut last_group) = (0, 0, self.groups.syncing().unwrap_or(self.sync.group + 1));
        for id in &commit.batch {
            kernel.charge(*id, Phase::Lock);
            let request = kernel.requests[*id];
            let State { group, noted, .. } = *self.state(*id);
            let own = Logged { group, offset: request.offset + noted, bytes: request.bytes - noted, writes: 1 };
            let mut add = |volume: &mut Self, write: Logged| {
                last_group = last_group.max(write.group);
                bytes += volume.log_record(kernel, work, write, &mut commit.indirect);
            };
            add(self, own);
            let copies = request.durable == Durable::All;
            copied_bytes += if copies { own.bytes } else { 0 };
            if copies || noted > 0 {
                let mut earlier = std::mem::take(self.logs[commit.dataset].later_of(request.worker));
                for write in earlier.drain(..) {
                    if write.group > self.sync.group || self.groups.syncing() == Some(write.group) {
                        add(self, write);
                        if copies {
                            copied_bytes += write.bytes;
                            commit.earlier.push((write.group, write.bytes));
                        }
                    }
                }
                *self.logs[commit.dataset].later_of(request.worker) = earlier;
            }
        }
        commit.copy_ns = transfer_ns(Rules::copied_first(copied_bytes), self.copy_rate);
        (commit.bytes, commit.diverted_bytes) = (0, 0);
        let mut written = 0;
        let size = self.log_rules.sizes.choose(bytes, &mut self.logs[commit.dataset].recent);
        for length in log_blocks::written(size, bytes) {
            self.record.counts.log_bytes += length;
            let stays = !self.log_rules.diverts(written, bytes.saturating_sub(written));
            let class = if self.log_rules.is_bulk(written) { Class::AsyncWrite } else { Class::SyncWrite };
            if let Some((mirror, offset)) = stays.then(|| self.slog.place(size, last_group)).flatten() {
                let io = Io { class, op: Op::Write, offset, bytes: length, token: work, due: 0 };
                self.enqueue_on_log(kernel.now_ns(), mirror, io);
                commit.bytes += length;
            } else {
                let offset = self.log_place(size);
                self.enqueue(kernel, Class::SyncWrite, Op::Write, offset, length, work);
                *if self.log_rules.is_separate { &mut commit.diverted_bytes } else { &mut commit.bytes } += length;
            }
            written += length;
        }
        self.logged_on.sort_unstable();
        self.logged_on.dedup();
        commit.volatile.clear();
        commit.volatile.extend(self.logged_on.drain(..).filter(|leaf| self.leaves[*leaf].is_volatile));
        self.record.counts.log_diverted_bytes += commit.diverted_bytes;
        self.note(kernel.now_ns());
        self.pump_leaves(kernel);
    }

    /// Where a log block of `size` goes in the pool: behind what was written last. Where the pool has several devices or mirrors it goes
    /// to the one after that of the block before. On RAID-Z it takes the place of a whole record.
    fn log_place(&mut self, size: u64) -> u64 {
        if self.holes.is_some() {
            return self.log_hole(size);
        }
        let (mut from, mut end) = (self.cursor, self.cursor + size);
        if let Some(unit) = self.layout.as_ref().and_then(Layout::unit_across) {
            if self.layout.as_ref().is_some_and(Layout::is_raidz) {
                from = from.next_multiple_of(unit);
                end = from + size.next_multiple_of(unit);
            } else if size < unit {
                return self.log_turns.place(size, unit, self.capacity, &mut self.cursor);
            } else if size == unit {
                from = from.next_multiple_of(unit);
                end = from + size; // the units themselves go round
            }
        }
        if end > self.capacity {
            (from, end) = (0, size);
        }
        self.cursor = end;
        from
    }

    /// The same where the pool is partly full: in the next hole, on the device whose turn it is.
    fn log_hole(&mut self, size: u64) -> u64 {
        let unit = self.layout.as_ref().filter(|layout| !layout.is_raidz()).and_then(Layout::unit_across).filter(|unit| size <= *unit);
        let (device, devices) = self.log_turns.next_device();
        let mut from = self.free_from(self.cursor, size, 1);
        if let Some(unit) = unit {
            for _ in 0..MOST_TRIES {
                if from / unit % devices == device {
                    break;
                }
                from = self.free_from((from / unit + 1) * unit, size, 1);
            }
        }
        self.cursor = from + size;
        from
    }

    /// Puts a write into the present commit and returns its bytes in the log: a log record for each record of the file. An indirect one
    /// goes to its place.
    fn log_record(&mut self, kernel: &mut Kernel, work: u32, write: Logged, indirect: &mut Vec<(u64, u64)>) -> u64 {
        self.record.counts.log_writes += write.writes;
        let (mut from, end, mut bytes) = (write.offset, write.offset + write.bytes, 0);
        while from < end {
            let block = from / self.record_bytes;
            let to = end.min((block + 1) * self.record_bytes);
            if self.log_rules.is_indirect(to - from) {
                let place = (self.placement == Placement::InPlace).then(|| block * self.stored.bytes);
                for _ in 0..self.copies {
                    let offset = self.write_copy(kernel, Class::SyncWrite, work, place, self.stored.bytes);
                    if let Some(places) = &mut self.places {
                        places.set(block, offset);
                    }
                }
                self.record.counts.indirect_bytes += self.stored.bytes;
                indirect.push((write.group, block));
            }
            bytes += self.log_rules.record_bytes(to - from);
            from = to;
        }
        bytes
    }

    /// All blocks of a commit are written: the volatile caches that hold them are flushed.
    pub(super) fn flush(&mut self, kernel: &mut Kernel, number: u64) {
        let place = u32::try_from(number).unwrap_or(NONE); // as it was given
        if self.commits[place].volatile.is_empty() {
            return self.copy_and_flush(kernel, number);
        }
        let mut leaves = std::mem::take(&mut self.commits[place].volatile);
        let work = self.work(Kind::LogFlush, number, 0);
        for leaf in leaves.drain(..) {
            self.send_flush(kernel, leaf, work);
        }
        self.commits[place].volatile = leaves;
    }

    /// Charge a commit for copying, for a flush with a given time, and for the host's work, besides its devices.
    pub(super) fn copy_and_flush(&mut self, kernel: &mut Kernel, number: u64) {
        let number = u32::try_from(number).unwrap_or(NONE); // as it was given
        let commit = &self.commits[number];
        let host_ns = self.log_rules.host_ns((commit.batch.len() + commit.earlier.len()) as u64);
        let at_ns = kernel.now_ns() + commit.copy_ns + self.log_rules.flush_ns + host_ns;
        kernel.wake_at(at_ns, HERE, Timer::Flushed(number));
    }

    /// A commit has been flushed: its writes are acknowledged, the next one of its file system begins.
    pub(super) fn logged(&mut self, kernel: &mut Kernel, number: u32) {
        let mut commit = std::mem::take(&mut self.commits[number]);
        self.record.committed(CommitRow {
            dataset: commit.dataset as u64,
            started_ns: commit.started_ns,
            ended_ns: kernel.now_ns(),
            writes: commit.batch.len() as u64,
            bytes: commit.bytes,
            diverted_bytes: commit.diverted_bytes,
        });
        for id in commit.batch.drain(..) {
            *self.state(id) = State::default();
            kernel.charge(id, Phase::WriteLog);
            kernel.complete(id);
        }
        for (group, bytes) in commit.earlier.drain(..) {
            if group > self.sync.group || self.groups.syncing() == Some(group) {
                self.secured(kernel, group, bytes);
            }
        }
        for (group, block) in commit.indirect.drain(..) {
            if group > self.sync.group {
                let bytes = self.dirty.retire(group, block);
                self.record.counts.cleaned_bytes += bytes;
                self.record.counts.committed_bytes += bytes;
                self.dirty_changed(kernel);
            }
        }
        let dataset = commit.dataset;
        self.commits[number] = commit;
        self.commits.release(number);
        self.logs[dataset].is_writing = false;
        self.commit(kernel, dataset);
    }
}
