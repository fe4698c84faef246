//! Reads: from dirty data, from memory, from a cache device, or from the pool in whole records; and what is read ahead of them.

use super::{Kind, Stage, Zfs};
use crate::kernel::{Kernel, Phase, Request, RequestId};
use crate::layers::zfs::arc::{New, Purpose};
use crate::layers::zfs::l2arc::L2Arc;
use crate::layers::zfs::read_record::Source;
use crate::layers::zfs::scheduler::Class;
use crate::layers::zfs::zfetch::Access;
use crate::read_ahead::{self, Run};
use seeklab_cache::NONE;
use seeklab_spec::Op;

impl Zfs {
    pub(super) fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let (first, end) = self.blocks(&request);
        self.state(id).stage = Stage::Reading;
        if !self.for_memory.is_empty() || self.is_overflowing(first, end) {
            return self.for_memory.push_back(id);
        }
        self.read_now(kernel, id);
    }

    /// Whether a reader of these blocks must wait for room in the ARC.
    fn is_overflowing(&self, first: u64, end: u64) -> bool {
        let Some(reader) = &self.reader else { return false };
        if !reader.arc.is_overflowing((end - first).saturating_mul(self.record_bytes)) {
            return false;
        }
        let missing = (first..end).filter(|block| reader.arc.find(*block).is_none() && !self.dirty.contains(*block)).count() as u64;
        missing > 0 && reader.arc.is_overflowing(missing * self.record_bytes)
    }

    fn read_now(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let (first, end) = self.blocks(&request);
        kernel.requests[id].pending = 0;
        if let Some(reader) = &mut self.reader {
            reader.feed.has_read = true;
            reader.seen(request.worker);
        }
        let (mut cached, mut missed) = (0, 0);
        let mut all = Found { source: Source::Memory, late: false };
        let by_block = self.reader.as_ref().is_some_and(|reader| reader.by_block);
        for block in first..end {
            let from = request.offset.max(block * self.record_bytes);
            let to = request.offset.saturating_add(request.bytes).min((block + 1).saturating_mul(self.record_bytes));
            let found = self.need(kernel, id, block);
            match found.source {
                Source::Memory => cached += to - from,
                Source::OnItsWay => {}
                Source::Flash | Source::Pool => missed += to - from,
            }
            self.count(kernel.now_ns(), &request, found.source, to - from);
            if by_block {
                self.follow(kernel, &request, Run { block, blocks: 1 }, found);
            }
            all = Found { source: if found.is_missing() { found.source } else { all.source }, late: all.late || found.late };
        }
        if !by_block {
            self.follow(kernel, &request, Run { block: first, blocks: end - first }, all);
        }
        let request = &mut kernel.requests[id];
        request.cached_bytes = u32::try_from(cached).unwrap_or(u32::MAX);
        request.missed_bytes = u32::try_from(missed).unwrap_or(u32::MAX);
        if request.pending == 0 {
            self.copy(kernel, id);
        }
        self.read_on(kernel);
        self.wake_feed(kernel);
    }

    fn count(&mut self, now_ns: u64, request: &Request, source: Source, bytes: u64) {
        if let Some(reader) = &mut self.reader
            && let Some(file) = reader.files.get(request.worker as usize)
        {
            reader.record.read(now_ns, file.job, source, bytes);
        }
    }

    /// Makes `id` wait for a block unless it is in memory.
    pub(super) fn need(&mut self, kernel: &mut Kernel, id: RequestId, block: u64) -> Found {
        if self.dirty.contains(block) {
            return Found { source: Source::Memory, late: false };
        }
        let (source, late, work) = if self.reader.is_some() { self.need_of_arc(kernel, block) } else { self.need_of_blocks(block) };
        if let Some(work) = work {
            self.works[work].waiters.push(id);
            kernel.requests[id].pending += 1;
            if source == Source::Pool {
                self.fetch(kernel, Class::SyncRead, block, work);
            }
            self.pump_leaves(kernel);
        }
        Found { source, late }
    }

    /// Where the simple cache has a block, whether a prefetch brings it, and what brings it.
    fn need_of_blocks(&mut self, block: u64) -> (Source, bool, Option<u32>) {
        if let Some(cache) = &mut self.cache
            && let Some(place) = cache.find(block)
        {
            let fetch = cache.mark(place).fetch;
            if fetch == NONE {
                cache.touch(place);
                return (Source::Memory, false, None);
            }
            return (Source::OnItsWay, false, Some(fetch));
        }
        let work = self.work(Kind::Read, block, 0);
        if let Some(cache) = &mut self.cache {
            cache.add(block, work, NONE);
        }
        (Source::Pool, false, Some(work))
    }

    /// The same of the ARC; what a cache device has is asked for there.
    fn need_of_arc(&mut self, kernel: &mut Kernel, block: u64) -> (Source, bool, Option<u32>) {
        let work = self.work(Kind::Read, block, 0);
        let (offset, bytes) = self.place_of(block);
        let Some(reader) = &mut self.reader else { return (Source::Pool, false, Some(work)) };
        if let Some(slot) = reader.arc.find(block) {
            let fetch = reader.arc.mark(slot).fetch;
            let first_use = reader.arc.hit(slot, kernel.now_ns());
            reader.record.used_bytes += if first_use { bytes } else { 0 };
            self.works.release(work);
            return if fetch == NONE { (Source::Memory, false, None) } else { (Source::OnItsWay, first_use, Some(fetch)) };
        }
        let place = reader.l2.as_ref().and_then(|l2| l2.find(block));
        let new = New { kind: reader.kind(offset), bytes, purpose: Purpose::Demand, known: place.is_some() };
        reader.arc.start(kernel.now_ns(), block, new, work);
        reader.note(kernel.now_ns());
        let Some(place) = place else { return (Source::Pool, false, Some(work)) };
        self.enqueue_on_cache(kernel, Class::SyncRead, Op::Read, place, work);
        (Source::Flash, false, Some(work))
    }

    /// Where a block is in its address space, and its length.
    fn place_of(&self, block: u64) -> (u64, u64) {
        let offset = block.saturating_mul(self.record_bytes);
        (offset, self.record_bytes.min(self.capacity.saturating_sub(offset)).max(1))
    }

    /// Reads a block from the pool.
    fn fetch(&mut self, kernel: &mut Kernel, class: Class, block: u64, work: u32) {
        let offset = self.places.as_ref().and_then(|places| places.get(block)).unwrap_or_else(|| block.saturating_mul(self.stored.bytes));
        let bytes = self.stored.bytes.min(self.capacity.saturating_sub(offset)).max(1);
        self.enqueue(kernel, class, Op::Read, offset, bytes, work);
    }

    // Read-ahead.

    /// Lets the read-ahead see a read of these blocks.
    fn follow(&mut self, kernel: &mut Kernel, request: &Request, blocks: Run, found: Found) {
        let Some(reader) = &mut self.reader else { return };
        let Some(file) = reader.files.get(request.worker as usize).copied() else { return };
        if request.bytes > reader.max_read {
            return;
        }
        let first = file.place.start / self.record_bytes;
        let access = Access {
            now_ns: kernel.now_ns(),
            block: blocks.block - first,
            blocks: blocks.blocks,
            file_blocks: file.place.end.div_ceil(self.record_bytes) - first,
            found: !found.is_missing(),
            late: found.late,
            busy: reader.arriving_ahead_bytes >= reader.arc.capacity() / 16,
        };
        if reader.asks {
            reader.questions.push_back(read_ahead::Question {
                now_ns: kernel.now_ns(),
                file: file.number as u64,
                record: access.block,
                records: access.blocks,
                file_records: access.file_blocks,
                found: access.found,
                late: access.late,
                record_bytes: self.record_bytes,
                memory_bytes: reader.arc.capacity(),
                arriving_bytes: reader.arc.arriving_bytes(),
                wasted_bytes: reader.arc.evicted_unused_bytes,
                worker: request.worker,
            });
            return;
        }
        let Some(predictor) = &mut reader.predictor else { return };
        let mut plan = std::mem::take(&mut reader.plan);
        plan.clear();
        predictor.read(file.number, &access, &mut plan);
        let asked_bytes = predictor.ahead_blocks().saturating_mul(self.record_bytes);
        reader.record.most_asked_bytes = reader.record.most_asked_bytes.max(asked_bytes);
        for run in &plan {
            for block in run.block..run.block + run.blocks {
                self.read_ahead_or_wait(kernel, first + block);
            }
        }
        if let Some(reader) = &mut self.reader {
            reader.note(kernel.now_ns());
            reader.plan = plan;
        }
        self.pump_leaves(kernel);
    }

    /// Takes the host's answer to the oldest question about read-ahead: runs of records of the file that was read.
    pub(super) fn answer_ahead(&mut self, kernel: &mut Kernel, runs: &[Run]) {
        let Some(reader) = &mut self.reader else { return };
        let Some(question) = reader.questions.pop_front() else { return };
        let first = reader.files[question.worker as usize].place.start / self.record_bytes;
        for run in runs {
            let end = run.block.saturating_add(run.blocks).min(question.file_records);
            for block in run.block..end {
                self.read_ahead_or_wait(kernel, first + block);
            }
        }
        if let Some(reader) = &mut self.reader {
            reader.note(kernel.now_ns());
        }
        self.pump_leaves(kernel);
    }

    /// Reads ahead what waits for room, as far as there is some.
    fn read_on(&mut self, kernel: &mut Kernel) {
        while let Some(block) = self.reader.as_ref().and_then(|reader| reader.for_room.front().copied()) {
            if !self.read_ahead(kernel, block) {
                return;
            }
            if let Some(reader) = &mut self.reader {
                reader.for_room.pop_front();
            }
            self.pump_leaves(kernel);
        }
    }

    /// Reads a block ahead, or lets it wait for room. No more wait than the ARC holds.
    fn read_ahead_or_wait(&mut self, kernel: &mut Kernel, block: u64) {
        let waits = self.reader.as_ref().is_some_and(|reader| !reader.for_room.is_empty());
        if !waits && self.read_ahead(kernel, block) {
            return;
        }
        let Some(reader) = &mut self.reader else { return };
        if (reader.for_room.len() as u64 + 1) * self.record_bytes > reader.arc.capacity() {
            reader.for_room.pop_front();
            reader.record.refused_bytes += self.record_bytes;
        }
        reader.for_room.push_back(block);
    }

    /// Reads a block ahead into the ARC. Whether there was room.
    fn read_ahead(&mut self, kernel: &mut Kernel, block: u64) -> bool {
        if self.dirty.contains(block) {
            return true;
        }
        let work = self.work(Kind::Ahead, block, 0);
        let (offset, bytes) = self.place_of(block);
        let Some(reader) = &mut self.reader else { return true };
        let new = New { kind: reader.kind(offset), bytes, purpose: Purpose::Prefetch, known: false };
        let is_there = reader.arc.find(block).is_some();
        if is_there || !reader.arc.start(kernel.now_ns(), block, new, work) {
            self.works.release(work);
            return is_there;
        }
        reader.arriving_ahead_bytes += bytes;
        reader.record.ahead_bytes += bytes;
        reader.record.row(kernel.now_ns()).ahead += bytes;
        let place = reader.l2.as_ref().filter(|l2| !l2.noprefetch()).and_then(|l2| l2.find(block));
        match place {
            Some(place) => self.enqueue_on_cache(kernel, Class::AsyncRead, Op::Read, place, work),
            None => self.fetch(kernel, Class::AsyncRead, block, work),
        }
        true
    }

    /// A block that was read has arrived.
    pub(super) fn arrived(&mut self, kernel: &mut Kernel, number: u32, child: RequestId) {
        self.machine.work(kernel.now_ns(), self.read_cpu_ns);
        let block = self.works[number].blocks;
        let bytes = self.place_of(block).1;
        if let Some(cache) = &mut self.cache {
            cache.arrive(block, number);
        }
        if let Some(reader) = &mut self.reader {
            let stays_out = reader.l2.as_ref().is_some_and(L2Arc::noprefetch);
            let unused = reader.arc.find(block).is_some_and(|slot| reader.arc.mark(slot).unused);
            reader.arc.arrive(block, number, kernel.now_ns(), !(stays_out && unused));
            let of_ahead = self.works[number].kind == Kind::Ahead;
            reader.arriving_ahead_bytes -= if of_ahead { bytes } else { 0 };
            reader.note(kernel.now_ns());
        }
        let mut waiters = std::mem::take(&mut self.works[number].waiters);
        for id in waiters.drain(..) {
            if kernel.join_shared(id, child) {
                if kernel.requests[id].op == Op::Read {
                    self.copy(kernel, id);
                } else {
                    self.ask(kernel, id);
                }
            }
        }
        self.works[number].waiters = waiters;
        self.read_on(kernel);
        while let Some(id) = self.for_memory.front().copied() {
            let (first, end) = self.blocks(&kernel.requests[id]);
            if self.is_overflowing(first, end) {
                return;
            }
            self.for_memory.pop_front();
            kernel.charge(id, Phase::Queue);
            self.read_now(kernel, id);
        }
    }

    /// Blocks that were written stay in memory; a cache device's copies of them are void.
    pub(super) fn remember(&mut self, now_ns: u64, first: u64, end: u64) {
        if self.cache.is_none() && self.reader.is_none() {
            return;
        }
        for block in first..end {
            let (offset, bytes) = self.place_of(block);
            if let Some(cache) = &mut self.cache {
                match cache.find(block) {
                    Some(place) if cache.mark(place).fetch == NONE => cache.touch(place),
                    Some(_) => {}
                    None => cache.add(block, NONE, NONE),
                }
            }
            let Some(reader) = &mut self.reader else { continue };
            if let Some(l2) = &mut reader.l2 {
                l2.forget(block);
            }
            if let Some(slot) = reader.arc.find(block) {
                reader.arc.hit(slot, now_ns);
            } else {
                let new = New { kind: reader.kind(offset), bytes, purpose: Purpose::Demand, known: false };
                reader.arc.start(now_ns, block, new, 0);
                reader.arc.arrive(block, 0, now_ns, true);
            }
            reader.note(now_ns);
        }
    }
}

/// Where a block was, and whether it was late: in flight because it had been read ahead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    source: Source,
    late: bool,
}

impl Found {
    fn is_missing(self) -> bool {
        matches!(self.source, Source::Flash | Source::Pool)
    }
}
