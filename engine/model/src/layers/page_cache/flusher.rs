//! The flusher: which pages are written when, and the requests that write them.
//!
//! Three sources feed the devices: the data that a commit waits for, files with old pages, and the oldest pages while too much is
//! dirty. Together they keep `depth` requests in flight. What a synchronous write or a flush waits for is written beside them, as
//! its process does that itself.

use std::collections::VecDeque;

use super::{HERE, OUT, PageCache, Timer, Waiter};
use crate::kernel::{Holder, Kernel, Request, RequestId};
use crate::range::Range;
use seeklab_kernel::Slab;
use seeklab_spec::Op;

/// Pages in flight.
#[derive(Clone, Copy, Debug)]
struct Out {
    order: u64,
    transaction: u32,
    held: u64,
    is_exposed: bool,
    /// Whether the process that waits for it writes it.
    is_urgent: bool,
}

/// The pages to write, and the pages being written.
#[derive(Debug, Default)]
pub(super) struct Flusher {
    outs: Slab<Out>,
    /// Runs of files with old pages, by their order.
    old: VecDeque<u64>,
    /// Runs that synchronous writes and flushes wait for.
    pub urgent: VecDeque<u64>,
    in_flight: u32,
    urgent_in_flight: u32,
    is_awake_at: Option<u64>,
}

impl PageCache {
    /// Wakes up for old pages later, if some are dirty.
    pub(super) fn look_later(&mut self, kernel: &mut Kernel) {
        if self.pages.dirty_bytes > 0 && self.flusher.is_awake_at.is_none() {
            // It wakes at multiples of the interval, whenever pages became dirty.
            let at_ns = (kernel.now_ns() / self.spec.wakeup.0 + 1) * self.spec.wakeup.0;
            self.flusher.is_awake_at = Some(at_ns);
            kernel.wake_at(at_ns, HERE, Timer::WakeUp);
        }
    }

    /// Looks for files with old pages: they are written whole, in order of age.
    pub(super) fn look(&mut self, kernel: &mut Kernel) {
        self.flusher.is_awake_at = None;
        let now_ns = kernel.now_ns();
        let expire_ns = self.spec.expire.0;
        let mut old: Vec<(u64, usize)> = Vec::new();
        for (index, file) in self.files.iter_mut().enumerate() {
            if let Some(since_ns) = file.dirty_since_ns.filter(|since_ns| since_ns + expire_ns <= now_ns) {
                old.push((since_ns, index));
                file.dirty_since_ns = None;
            }
        }
        old.sort_unstable();
        for (_, file) in old {
            self.flusher.old.extend(self.pages.orders_in(self.files[file].place).0);
        }
        self.pump(kernel);
        self.look_later(kernel);
    }

    /// The next run that the flusher writes.
    fn next_run(&mut self) -> Option<u64> {
        let of_commit = self.log.next_data();
        of_commit.or_else(|| self.flusher.old.pop_front()).or_else(|| {
            let is_too_much = self.pages.dirty_bytes > self.background || !self.throttle.stopped.is_empty();
            self.pages.oldest().filter(|_| is_too_much)
        })
    }

    /// Sends what is to be written, as far as the depth allows.
    pub(super) fn pump(&mut self, kernel: &mut Kernel) {
        while self.flusher.in_flight < self.spec.depth
            && let Some(order) = self.next_run()
        {
            self.send(kernel, order, false);
        }
        while self.flusher.urgent_in_flight < self.spec.depth
            && let Some(order) = self.flusher.urgent.pop_front()
        {
            self.send(kernel, order, true);
        }
    }

    /// Sends a run to the layer below, unless it was sent before.
    fn send(&mut self, kernel: &mut Kernel, order: u64, is_urgent: bool) {
        let Some((start, mut run)) = self.pages.send(order) else { return };
        if self.spec.delayed_allocation {
            run.transaction = self.allocate(kernel, run.file, Range { start, end: run.end });
        }
        let out = Out { order, transaction: run.transaction, held: run.held, is_exposed: run.is_exposed, is_urgent };
        let place = self.flusher.outs.insert(out);
        let in_flight = if is_urgent { &mut self.flusher.urgent_in_flight } else { &mut self.flusher.in_flight };
        *in_flight += 1;
        self.record.sent(kernel.now_ns(), run.end - start, &self.pages);
        let request = Request {
            offset: start,
            bytes: run.end - start,
            op: Op::Write,
            owner: HERE,
            worker: run.worker,
            tag: OUT | place,
            ..Request::default()
        };
        let id = kernel.open(request);
        kernel.submit(self.below, id);
    }

    /// A run is on the devices, or in their volatile cache.
    pub(super) fn written(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { offset, bytes, tag, .. } = kernel.requests[id];
        let place = tag - OUT;
        let out = self.flusher.outs[place];
        self.flusher.outs.release(place);
        let in_flight = if out.is_urgent { &mut self.flusher.urgent_in_flight } else { &mut self.flusher.in_flight };
        *in_flight -= 1;
        self.pages.arrived(offset);
        kernel.release(Holder::FileSystem, out.held);
        self.throttle.written(kernel.now_ns(), bytes);
        self.record.written(kernel.now_ns(), bytes, out.is_exposed, &self.pages);
        let first = self.awaited.partition_point(|(order, _)| *order < out.order);
        let end = self.awaited.partition_point(|(order, _)| *order <= out.order);
        for (_, waiter) in self.awaited.drain(first..end).collect::<Vec<_>>() {
            match waiter {
                Waiter::Writer(worker) => self.go_on(kernel, worker),
                Waiter::Sync(sync) => self.part_written(kernel, sync, id),
            }
        }
        kernel.requests.remove(id);
        self.data_written(kernel, out.transaction);
        self.pump(kernel);
        self.admit(kernel);
    }

    /// Lets stopped writers continue for which there is room.
    fn admit(&mut self, kernel: &mut Kernel) {
        while let Some(worker) = self.throttle.stopped.front().copied() {
            let bytes = self.piece(kernel, worker).map_or(0, |piece| piece.end - piece.start);
            if !self.throttle.has_room(self.pages.bytes(), bytes) {
                return;
            }
            self.throttle.stopped.pop_front();
            self.throttle.admitted = Some(worker);
            self.go_on(kernel, worker);
        }
    }
}
