//! Synchronous writes: the commits of the intent log that they wait for.

use super::{HERE, Kind, State, TO_LOG, ZfsVolume};
use crate::device::transfer_ns;
use crate::kernel::{Address, Durable, Kernel, Layer, Op, Phase, Request, Signal};
use crate::zfs::intent_log::{self, Logged};
use crate::zfs::scheduler::Class;
use crate::zfs::spec::Placement;

impl ZfsVolume {
    /// Writes the log for those who wait, unless it is being written.
    pub(super) fn commit(&mut self, kernel: &mut Kernel) {
        if !self.log.next_batch() {
            return;
        }
        let batch = std::mem::take(&mut self.log.batch);
        let work = self.work(Kind::Log, 0, 0);
        self.log.work = work;
        let (mut bytes, mut copied_bytes) = (0, 0);
        for id in &batch {
            kernel.charge(*id, Phase::Lock);
            let request = kernel.requests[*id];
            let (first, end) = self.blocks(&request);
            let own = Logged { group: self.state(*id).group, first, end, bytes: request.bytes };
            bytes += self.log_record(kernel, own);
            if request.durable == Durable::All {
                copied_bytes += own.bytes;
                let mut earlier = std::mem::take(self.log.later_of(request.worker));
                for write in earlier.drain(..) {
                    if write.group > self.sync.group || self.groups.syncing() == Some(write.group) {
                        bytes += self.log_record(kernel, write);
                        copied_bytes += write.bytes;
                    }
                }
                *self.log.later_of(request.worker) = earlier;
            }
        }
        self.log.copy_ns = transfer_ns(copied_bytes, self.copy_rate);
        self.record.counts.log_commits += 1;
        self.log.batch = batch;
        for length in intent_log::blocks(bytes) {
            self.record.counts.log_bytes += length;
            if self.log.is_separate {
                self.works[work as usize].pending += 1;
                let (op, offset) = (Op::Write, self.log.end_bytes);
                self.log.end_bytes += length;
                let child = kernel.open(Request { op, offset, bytes: length, owner: HERE, tag: TO_LOG, ..Request::default() });
                kernel.send(Address::of(Layer::WriteLog), Signal::Submit, child.0);
            } else {
                self.write_copy(kernel, Class::SyncWrite, work, None, length);
            }
        }
        self.pump_leaves(kernel);
    }

    /// Puts a write into the present commit and returns its bytes in the log; an indirect one goes to its place.
    pub(super) fn log_record(&mut self, kernel: &mut Kernel, write: Logged) -> u64 {
        self.record.counts.log_writes += 1;
        if self.log.is_indirect(write.bytes) {
            for block in write.first..write.end {
                let place = (self.placement == Placement::InPlace).then(|| block * self.record_bytes);
                for _ in 0..self.copies {
                    self.write_copy(kernel, Class::SyncWrite, self.log.work, place, self.record_bytes);
                }
                self.record.counts.indirect_bytes += self.record_bytes;
            }
            self.log.indirect.push(write);
        }
        self.log.record_bytes(write.bytes)
    }

    /// The present commit has been flushed: its writes are acknowledged, the next one begins.
    pub(super) fn logged(&mut self, kernel: &mut Kernel) {
        let mut batch = std::mem::take(&mut self.log.batch);
        for id in batch.drain(..) {
            *self.state(id) = State::default();
            kernel.charge(id, Phase::WriteLog);
            kernel.complete(id);
        }
        let mut indirect = std::mem::take(&mut self.log.indirect);
        for Logged { group, first, end, .. } in indirect.drain(..) {
            if group > self.sync.group {
                let bytes = self.dirty.retire(group, first, end);
                self.record.counts.cleaned_bytes += bytes;
                self.record.counts.committed_bytes += bytes;
                self.dirty_changed(kernel);
            }
        }
        self.log.indirect = indirect;
        self.log.batch = batch;
        self.commit(kernel);
    }
}
