//! Transaction groups: when they close and sync, and the queueing of their blocks and metadata.

use super::{AHEAD, HERE, Kind, Sync, Timer, Zfs};
use crate::kernel::Kernel;
use crate::layers::zfs::cost;
use crate::layers::zfs::scheduler::Class;
use crate::layers::zfs::throttle::{SyncReport, mul_div};
use crate::layers::zfs::txg::Step;
use seeklab_spec::Op;
use seeklab_spec::zfs::Placement;
use seeklab_spec::zfs::Release;

impl Zfs {
    /// Moves the groups along as far as they go.
    pub(super) fn advance(&mut self, kernel: &mut Kernel) {
        if self.advancing {
            return; // the call above us goes on until nothing moves
        }
        self.advancing = true;
        loop {
            self.wake_sleepers(kernel);
            let dirty = self.dirty.total_bytes();
            self.groups.observe(kernel.now_ns(), dirty > 0, self.trigger_bytes.is_some_and(|most| dirty > most));
            let Some(step) = self.groups.step(kernel.now_ns()) else { break };
            match step {
                Step::Opened(group) => {
                    self.record.group(group - 1, |row| row.closed_ns = kernel.now_ns());
                    self.record.opened(group, kernel.now_ns());
                    let mut woken = std::mem::take(&mut self.woken);
                    std::mem::swap(&mut woken, &mut self.for_group);
                    for id in woken.drain(..) {
                        self.go_on(kernel, id);
                    }
                    self.woken = woken;
                }
                Step::Quiesced(group) => self.record.group(group, |row| row.quiesced_ns = kernel.now_ns()),
                Step::Syncs(group) => self.start_sync(kernel, group),
            }
        }
        self.advancing = false;
        if let Some(at_ns) = self.groups.wakes_at_ns().filter(|at_ns| *at_ns < self.timer_ns) {
            self.timer_ns = at_ns;
            kernel.wake_at(at_ns, HERE, Timer::Sync);
        }
    }

    /// Writes that sleep in their group wake early when the pipeline is no longer full.
    pub(super) fn wake_sleepers(&mut self, kernel: &mut Kernel) {
        if self.sleeping.is_empty() || self.groups.pipeline_full() {
            return;
        }
        let mut woken = std::mem::take(&mut self.sleeping);
        for id in woken.drain(..) {
            self.wake_in_group(kernel, id);
        }
        self.sleeping = woken;
    }

    pub(super) fn start_sync(&mut self, kernel: &mut Kernel, group: u64) {
        let now_ns = kernel.now_ns();
        let data_bytes = self.dirty.charged_bytes(group);
        let dirty_bytes = self.dirty.total_bytes();
        self.dirty.blocks(group).sorted_words(&mut self.sync.words);
        let pointers = cost::pointer_bytes(&self.sync.words, self.indirect_bytes, self.copies);
        let others = if data_bytes == 0 { 0 } else { self.metadata_bytes.saturating_add(mul_div(data_bytes, self.metadata_percent, 100)) };
        let metadata = pointers.saturating_add(others);
        let sync = &mut self.sync;
        (sync.group, sync.started_ns, sync.data_bytes) = (group, now_ns, data_bytes);
        (sync.pass, sync.next_word, sync.pending) = (1, 0, 0);
        (sync.metadata_now, sync.metadata_later) = (pointers, others); // pointers follow their blocks, in the same pass
        if let Some(places) = &mut self.places {
            places.begin(self.dirty.order(group));
        }
        self.take_unsafe(group);
        self.record.group(group, |row| {
            (row.sync_started_ns, row.bytes, row.metadata_bytes, row.dirty_bytes) = (now_ns, data_bytes, metadata, dirty_bytes);
        });
        self.sync_on(kernel);
    }

    /// Queues what the present pass still has, and begins the next pass when it has nothing left.
    pub(super) fn sync_on(&mut self, kernel: &mut Kernel) {
        while self.groups.syncing() == Some(self.sync.group) && !self.sync.is_flushing {
            self.feed(kernel);
            if self.sync.pending > 0 || self.processors.is_awaited {
                return;
            }
            if self.sync.pass == 1 {
                self.record.group(self.sync.group, |row| row.data_written_ns = kernel.now_ns());
                if self.release != Release::GroupEnd {
                    self.forget(kernel);
                }
            }
            if self.sync.metadata_later == 0 {
                self.flush_pool(kernel);
                return;
            }
            self.sync.pass += 1;
            let last = self.sync.pass >= self.sync_passes.max(2);
            self.sync.metadata_now = if last { self.sync.metadata_later } else { self.sync.metadata_later.div_ceil(2) };
            self.sync.metadata_later -= self.sync.metadata_now;
        }
    }

    /// Nothing of the syncing group is dirty any more.
    pub(super) fn forget(&mut self, kernel: &mut Kernel) {
        self.record.counts.cleaned_bytes += self.dirty.charged_bytes(self.sync.group);
        self.dirty.finish(self.sync.group);
        self.dirty_changed(kernel);
    }

    pub(super) fn end_sync(&mut self, kernel: &mut Kernel) {
        if self.release == Release::GroupEnd {
            self.forget(kernel);
        }
        let Sync { group, started_ns, data_bytes, .. } = self.sync;
        self.blocks_written(kernel, u64::MAX); // retired blocks were written before
        self.slog.synced(group);
        let report = SyncReport { group, bytes: data_bytes, started_ns, ended_ns: kernel.now_ns() };
        self.throttle.synced(&report);
        self.last_sync = Some(report);
        let limit_bytes = self.throttle.limit_bytes().unwrap_or(0);
        self.record.group(group, |row| (row.synced_ns, row.limit_bytes) = (kernel.now_ns(), limit_bytes));
        self.groups.sync_done();
        self.note(kernel.now_ns());
        self.advance(kernel);
    }

    /// Queues group writes until every leaf has enough ahead, or the processors must catch up.
    pub(super) fn feed(&mut self, kernel: &mut Kernel) {
        while self.short_leaves > 0 && self.queued_writes < AHEAD * 2 * self.leaves.len() {
            if let Some(at_ns) = self.processors.next_ns(kernel.now_ns()) {
                if !std::mem::replace(&mut self.processors.is_awaited, true) {
                    kernel.wake_at(at_ns, HERE, Timer::Processed);
                }
                return;
            }
            if let Some((first, blocks)) = self.next_run() {
                self.processors.take(kernel.now_ns(), blocks);
                self.write_blocks(kernel, first, blocks);
            } else if self.sync.metadata_now > 0 {
                let bytes = self.sync.metadata_now.min(self.metadata_piece);
                self.sync.metadata_now -= bytes;
                let work = self.work(Kind::Metadata, 0, 0);
                self.write_copy(kernel, Class::AsyncWrite, work, None, bytes);
                self.pump_leaves(kernel);
            } else {
                return;
            }
        }
    }

    /// The next neighbours among the dirty blocks of the syncing group, at most as many as may travel as one.
    pub(super) fn next_run(&mut self) -> Option<(u64, u64)> {
        let sync = &mut self.sync;
        let mut run: Option<(u64, u64)> = None;
        while let Some((word, bits)) = sync.words.get_mut(sync.next_word) {
            if *bits == 0 {
                sync.next_word += 1;
                continue;
            }
            let skipped = bits.trailing_zeros();
            let block = *word * 64 + u64::from(skipped);
            let (first, length) = run.unwrap_or((block, 0));
            if block != first + length || length >= self.chunk_blocks {
                break;
            }
            let ones = u64::from((*bits >> skipped).trailing_ones()).min(self.chunk_blocks - length);
            let mask = if ones == 64 { u64::MAX } else { (1 << ones) - 1 };
            *bits &= !(mask << skipped);
            run = Some((first, length + ones));
        }
        run
    }

    pub(super) fn write_blocks(&mut self, kernel: &mut Kernel, first: u64, blocks: u64) {
        let work = self.work(Kind::Data, blocks, 0);
        let bytes = blocks.saturating_mul(self.stored.bytes);
        let place = (self.placement == Placement::InPlace).then(|| first * self.stored.bytes);
        for copy in 0..self.copies {
            let offset = self.write_copy(kernel, Class::AsyncWrite, work, place, bytes);
            if let Some(places) = self.places.as_mut().filter(|_| copy == 0) {
                places.write(blocks, offset, self.stored.bytes);
            }
        }
        let work = &mut self.works[work];
        work.each_bytes = self.record_bytes / u64::from(work.pending.max(1));
        self.pump_leaves(kernel);
    }

    /// The first free place for so many bytes from `from` on, round the address space; at a multiple of `grain` where everything is free,
    /// and at its begin where no hole is long enough.
    pub(super) fn free_from(&mut self, from: u64, bytes: u64, grain: u64) -> u64 {
        let capacity = self.capacity;
        let mut find = |from: u64| self.holes.as_mut().map_or_else(|| from.next_multiple_of(grain), |holes| holes.find(from, bytes));
        let fits = |place: &u64| place.saturating_add(bytes) <= capacity;
        Some(find(from)).filter(fits).or_else(|| Some(find(0)).filter(fits)).unwrap_or(0)
    }

    /// Queues one physical copy of a write, at `place` or where the cursor of free space stands; returns its offset.
    pub(super) fn write_copy(&mut self, kernel: &mut Kernel, class: Class, work: u32, place: Option<u64>, bytes: u64) -> u64 {
        let offset = place.unwrap_or_else(|| {
            let from = self.free_from(self.cursor, bytes, self.stored.bytes); // so that no record shares a stripe of RAID-Z
            self.cursor = from + bytes;
            from
        });
        let bytes = bytes.min(self.capacity.saturating_sub(offset)).max(1);
        self.enqueue(kernel, class, Op::Write, offset, bytes, work);
        offset
    }
}
