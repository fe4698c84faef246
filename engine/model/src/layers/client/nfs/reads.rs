//! Reads: the page cache, the process's own operations, read-ahead.

use super::operations::Operation;
use super::{Client, clamp};
use crate::kernel::{Kernel, RequestId};
use seeklab_cache::NONE;
use seeklab_spec::Op;

impl Client {
    pub(super) fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let transfer = self.spec.transfer.0;
        let (start, end) = (request.offset, request.offset + request.bytes);
        let (first, last) = (start / transfer, (end - 1) / transfer);
        let process = &mut self.processes[request.worker as usize];
        let in_sequence = process.next == start;
        process.next = end;
        if !in_sequence {
            process.ahead = last;
        }
        let on = process.machine;
        let (mut cached, mut missed) = (0, 0);
        for block in first..=last {
            let bytes = end.min((block + 1) * transfer) - start.max(block * transfer);
            let pages = &mut self.machines[on].pages;
            let Some(place) = pages.find(block) else {
                // The process does the first one itself, the threads help with the others.
                let by_thread = missed > 0;
                missed += bytes;
                self.fetch(kernel, request.worker, block, end, Some((id, by_thread)));
                continue;
            };
            pages.touch(place);
            let fetch = pages.mark(place).fetch;
            if fetch == NONE {
                cached += bytes;
            } else {
                self.wait(kernel, id, fetch);
            }
        }
        let request = &mut kernel.requests[id];
        (request.cached_bytes, request.missed_bytes) = (clamp(cached), clamp(missed));
        let (worker, pending) = (request.worker, request.pending);
        if pending == 0 {
            self.compute(kernel, id);
        }
        if in_sequence {
            self.read_ahead(kernel, worker, last);
        }
    }

    /// Keeps a sequential reader, who is at block `last`, ahead.
    fn read_ahead(&mut self, kernel: &mut Kernel, worker: u32, last: u64) {
        let process = &mut self.processes[worker as usize];
        let (from, to) = (process.ahead.max(last) + 1, last + u64::from(self.spec.read_ahead));
        process.ahead = process.ahead.max(to);
        let (on, blocks) = (process.machine, process.end.div_ceil(self.spec.transfer.0));
        for block in from..blocks.min(to + 1) {
            if self.machines[on].pages.find(block).is_none() {
                self.fetch(kernel, worker, block, 0, None);
            }
        }
    }

    /// Reads a block to the end of the file, or to `least_end` if that is farther: for a call, by its process or by a thread, or
    /// ahead of all calls.
    fn fetch(&mut self, kernel: &mut Kernel, worker: u32, block: u64, least_end: u64, waiter: Option<(RequestId, bool)>) {
        let transfer = self.spec.transfer.0;
        let process = &self.processes[worker as usize];
        let (on, start) = (process.machine, block * transfer);
        let bytes = (start + transfer).min(least_end.max(process.end)) - start;
        let operation = Operation { worker, start, bytes, op: Op::Read, ..Operation::default() };
        let place = match waiter {
            Some((call, false)) => self.now(kernel, call, operation),
            _ => self.later(kernel, operation),
        };
        if let Some((call, true)) = waiter {
            self.wait(kernel, call, place);
        }
        self.machines[on].pages.add(block, place, NONE);
    }
}
