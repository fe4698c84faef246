//! Writes: copied into the page cache, written behind, flushed.

use super::operations::Operation;
use super::{Client, FLUSH_NS, Timer};
use crate::kernel::{Address, Durable, Holder, Kernel, LayerId, Phase, RequestId};
use crate::range::Range;
use seeklab_cache::NONE;
use seeklab_spec::Op;

impl Client {
    /// Lets the writers of a machine continue for which there is room, first come, first served.
    pub(super) fn admit(&mut self, kernel: &mut Kernel, on: usize) {
        while let Some(id) = self.machines[on].blocked.front().copied() {
            let machine = &mut self.machines[on];
            let bytes = kernel.requests[id].bytes;
            if machine.dirty_bytes > 0 && machine.dirty_bytes + bytes > self.spec.dirty.0 {
                // Pages that no thread writes would keep the room for ever.
                if machine.open_bytes == machine.dirty_bytes {
                    self.flush_all(kernel, on);
                }
                return;
            }
            machine.dirty_bytes += bytes;
            machine.blocked.pop_front();
            kernel.charge(id, Phase::InFlight);
            self.compute(kernel, id);
        }
    }

    /// The bytes of a write are in the page cache.
    pub(super) fn accept(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let (worker, durable) = (request.worker, request.durable);
        let written = Range { start: request.offset, end: request.offset + request.bytes };
        let process = &mut self.processes[worker as usize];
        let on = process.machine;
        if durable.waits() {
            self.flush(kernel, worker);
            let process = &mut self.processes[worker as usize];
            if durable == Durable::All && process.outstanding > 0 {
                process.flushing.push(id);
            } else {
                self.write_through(kernel, id);
            }
            return;
        }
        kernel.hold(Holder::Client, request.bytes);
        if process.open.end != written.start {
            self.flush(kernel, worker);
            self.processes[worker as usize].open = Range { start: written.start, end: written.start };
        }
        self.machines[on].open_bytes += request.bytes;
        for piece in self.pieces(written) {
            let process = &mut self.processes[worker as usize];
            process.open.end = piece.end;
            if piece.end.is_multiple_of(self.spec.transfer.0) {
                self.flush(kernel, worker);
            }
        }
        let machine = &mut self.machines[on];
        if machine.open_bytes > 0 && !machine.flush_is_due {
            machine.flush_is_due = true;
            let index = u16::try_from(on).unwrap_or(u16::MAX); // the network is checked to have at most 65,536 clients
            kernel.wake_at(kernel.now_ns() + FLUSH_NS, Address { layer: LayerId::Client, index }, Timer::Flush);
        }
        kernel.complete(id);
    }

    /// A range, cut at the borders of blocks.
    fn pieces(&self, range: Range) -> impl Iterator<Item = Range> + use<> {
        let transfer = self.spec.transfer.0;
        (range.start / transfer..range.end.div_ceil(transfer))
            .map(move |block| Range { start: range.start.max(block * transfer), end: range.end.min((block + 1) * transfer) })
    }

    /// Hands what a process has written to the async threads. It lies within one block.
    fn flush(&mut self, kernel: &mut Kernel, worker: u32) {
        let process = &mut self.processes[worker as usize];
        let Range { start, end } = process.open;
        if start == end {
            return;
        }
        process.open.start = end;
        process.outstanding += 1;
        let durable = if process.flushes { Durable::Later } else { Durable::No };
        let (on, is_at_end) = (process.machine, end >= process.end);
        let (block, bytes) = (start / self.spec.transfer.0, end - start);
        let machine = &mut self.machines[on];
        machine.open_bytes -= bytes;
        // A block that is known whole can be read from memory.
        if start.is_multiple_of(self.spec.transfer.0) && (bytes == self.spec.transfer.0 || is_at_end) {
            match machine.pages.find(block) {
                Some(place) => machine.pages.touch(place),
                None => machine.pages.add(block, NONE, NONE),
            }
        }
        self.later(kernel, Operation { worker, start, bytes, op: Op::Write, durable, ..Operation::default() });
    }

    /// Hands all that processes of a machine have written to the async threads.
    pub(super) fn flush_all(&mut self, kernel: &mut Kernel, on: usize) {
        self.machines[on].flush_is_due = false;
        for worker in 0..self.processes.len() {
            if self.processes[worker].machine == on {
                self.flush(kernel, super::number(worker));
            }
        }
    }

    /// Writes a call's own bytes while it waits.
    fn write_through(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        for Range { start, end } in self.pieces(Range { start: request.offset, end: request.offset + request.bytes }) {
            let bytes = end - start;
            let operation =
                Operation { worker: request.worker, start, bytes, op: Op::Write, durable: request.durable, ..Operation::default() };
            self.now(kernel, id, operation);
        }
    }

    /// A write of a process is at the server.
    pub(super) fn written(&mut self, kernel: &mut Kernel, worker: u32) {
        let process = &mut self.processes[worker as usize];
        let on = process.machine;
        if process.outstanding == 0 && !process.flushing.is_empty() {
            for id in std::mem::take(&mut process.flushing) {
                kernel.charge(id, Phase::InFlight);
                self.write_through(kernel, id);
            }
        }
        self.admit(kernel, on);
    }
}
