//! Writes: copied into memory piece by piece, each worker's one after the other, as a thread makes its calls.
//!
//! Before each piece a write may have to wait: for a commit that holds its file, for pages in flight that it would change, or for
//! the throttle. Threads do not share the memory's rate: contention for bandwidth and processors is left out.

use std::collections::VecDeque;

use super::allocation::flushes_data_only;
use super::throttle::Verdict;
use super::{HERE, PageCache, Timer, Waiter, pages_of};
use crate::kernel::{Durable, Holder, Kernel, Phase, Request, RequestId};
use crate::layers::device::transfer_ns;
use crate::layers::page_cache::pages::Owner;
use crate::range::Range;
use seeklab_spec::Job;

/// A write looks at what is dirty after so many bytes: less than a chunk, so that the throttle is felt within large writes.
const PIECE_BYTES: u64 = 1 << 20;

/// A worker's writes.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// The first is being copied, or waits.
    pub queue: VecDeque<RequestId>,
    /// Bytes of the first that are in memory.
    done: u64,
    /// When it may dirty the next piece.
    pub next_ns: u64,
    /// Phase of the first write's wait.
    waits_for: Option<Phase>,
    /// Whether its flushes are for data alone.
    flushes_data_only: bool,
}

impl Writer {
    pub fn new(job: &Job) -> Self {
        Self { flushes_data_only: flushes_data_only(job), ..Self::default() }
    }

    /// Whether the flush that a request waits for is for data alone. One of no bytes closes the file, which fio does with `fsync`.
    pub fn flushes_data_only(&self, request: &Request) -> bool {
        self.flushes_data_only && request.durable == Durable::All && request.bytes > 0
    }
}

impl PageCache {
    /// A write or a flush arrives.
    pub(super) fn write(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        if request.durable.waits() {
            self.record.sync_arrives();
        }
        let writer = &mut self.writers[request.worker as usize];
        writer.queue.push_back(id);
        if writer.queue.len() == 1 {
            self.throttle.writers += 1;
            self.advance(kernel, request.worker);
        }
    }

    /// Continue a worker's writes after the wait of its first.
    pub(super) fn go_on(&mut self, kernel: &mut Kernel, worker: u32) {
        let writer = &mut self.writers[worker as usize];
        if let (Some(phase), Some(id)) = (writer.waits_for.take(), writer.queue.front()) {
            kernel.charge(*id, phase);
        }
        self.advance(kernel, worker);
    }

    /// The piece of a write that is copied next; none when all of it is in memory.
    pub(super) fn piece(&self, kernel: &Kernel, worker: u32) -> Option<Range> {
        let writer = &self.writers[worker as usize];
        let request = kernel.requests[*writer.queue.front()?];
        let start = request.offset + writer.done;
        // Pieces end at the borders of pages, so that no page belongs to two of them.
        let end = (request.offset + request.bytes).min((start + PIECE_BYTES) / PIECE_BYTES * PIECE_BYTES);
        (start < end).then_some(Range { start, end })
    }

    /// Begins the next piece of a worker's first write, or says what it waits for.
    fn advance(&mut self, kernel: &mut Kernel, worker: u32) {
        while let Some(id) = self.writers[worker as usize].queue.front().copied() {
            kernel.charge(id, Phase::Queue);
            let Some(piece) = self.piece(kernel, worker) else {
                self.end_copy(kernel, worker);
                continue;
            };
            let (now_ns, bytes) = (kernel.now_ns(), piece.end - piece.start);
            let waits_for = if self.log.holds(&self.files[self.file_at(piece.start) as usize], self.spec.commit_holds) {
                self.log.held.push(worker);
                Phase::Journal
            } else if let Some(order) = self.pages.under_way_in(pages_of(piece.start, bytes)) {
                self.wait_for(order, Waiter::Writer(worker));
                if self.log.writes_data() { Phase::Journal } else { Phase::InFlight }
            } else {
                let unwritten = self.pages.bytes();
                match self.throttle.ask(now_ns, worker, self.writers[worker as usize].next_ns, unwritten, bytes) {
                    Verdict::Go { next_ns } => {
                        self.writers[worker as usize].next_ns = next_ns;
                        self.throttle.reserved += bytes;
                        let copied_ns = self.machine.copy(now_ns, transfer_ns(bytes, self.spec.memory_rate.0), bytes);
                        return kernel.wake_at(copied_ns, HERE, Timer::Copied(worker));
                    }
                    Verdict::Pause { until_ns } => {
                        self.record.throttled(now_ns);
                        kernel.wake_at(until_ns, HERE, Timer::Paced(worker));
                        Phase::Delay
                    }
                    Verdict::Stop => {
                        self.record.throttled(now_ns);
                        self.throttle.stopped.push_back(worker);
                        // What nobody writes would keep the room for ever.
                        self.pump(kernel);
                        Phase::Blocked
                    }
                }
            };
            self.writers[worker as usize].waits_for = Some(waits_for);
            return;
        }
    }

    /// A piece of a worker's first write is in memory.
    pub(super) fn copied(&mut self, kernel: &mut Kernel, worker: u32) {
        let (Some(piece), Some(id)) = (self.piece(kernel, worker), self.writers[worker as usize].queue.front().copied()) else { return };
        kernel.charge(id, Phase::Memory);
        let (now_ns, bytes) = (kernel.now_ns(), piece.end - piece.start);
        self.throttle.reserved -= bytes;
        let file = self.file_at(piece.start);
        let pages = pages_of(piece.start, bytes);
        // Their write-back may have started while they were copied; the write waits for them, and is copied again.
        if self.pages.under_way_in(pages).is_some() {
            return self.advance(kernel, worker);
        }
        self.writers[worker as usize].done += bytes;
        if let Some(reads) = &mut self.reads {
            reads.written(pages);
        }
        let transaction = self.join(kernel, file);
        let is_held = !kernel.requests[id].durable.waits();
        // With delayed allocation data belong to a transaction only once they are sent.
        let transaction = if self.spec.delayed_allocation { 0 } else { transaction };
        if !self.spec.delayed_allocation {
            self.add_blocks(file, pages, transaction);
        }
        let (added, orders) = self.pages.dirty(pages, Owner { file, worker, transaction, is_held });
        if is_held {
            kernel.hold(Holder::FileSystem, added);
        }
        if transaction != 0 {
            self.log.add_data(added, orders);
        }
        if added > 0 {
            self.files[file as usize].dirty_since_ns.get_or_insert(now_ns);
            self.record.dirtied(now_ns, added, &self.pages);
            self.look_later(kernel);
            self.pump(kernel);
        }
        self.advance(kernel, worker);
    }

    /// A worker's first write is in memory, and goes to the devices if it must.
    fn end_copy(&mut self, kernel: &mut Kernel, worker: u32) {
        let writer = &mut self.writers[worker as usize];
        writer.done = 0;
        let Some(id) = writer.queue.pop_front() else { return };
        if writer.queue.is_empty() {
            self.throttle.writers -= 1;
        }
        if kernel.requests[id].durable.waits() {
            self.sync(kernel, id);
        } else {
            kernel.complete(id);
        }
    }
}
