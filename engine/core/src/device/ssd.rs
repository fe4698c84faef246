//! A solid-state drive: parallel flash units behind one interface.
//!
//! Modelled: pages spread over the units in turn; a unit reads or programs one page at a time in order of arrival; the interface
//! moves one request's bytes at a time; a write buffer acknowledges a write as soon as there is room for it, and programs later;
//! a limited number of requests inside, the rest wait outside in order. Times follow in closed form when a request enters.
//! Left out (so far): flash translation, garbage collection and erases, so a drive here is always fresh.

use std::collections::VecDeque;

use super::{Usage, transfer_ns};
use crate::kernel::{Address, Kernel, Layer, NO_DEVICE, Op, Phase, RequestId, Signal};
use crate::scenario;

/// A solid-state drive.
pub struct Ssd {
    page: u64,
    read_ns: u64,
    program_ns: u64,
    overhead_ns: u64,
    interface_rate: u64,
    depth: u32,
    buffer_bytes: u64,
    /// When each unit is free.
    units_free_ns: Vec<u64>,
    interface_free_ns: u64,
    /// Buffered writes: when each leaves the buffer, and its bytes.
    buffered: VecDeque<(u64, u64)>,
    buffered_bytes: u64,
    inside: u32,
    waiting: VecDeque<RequestId>,
    busy_until_ns: u64,
    /// Its place in the stack.
    pub here: Address,
    /// What it has done.
    pub usage: Usage,
}

impl Ssd {
    /// The drive that a scenario describes.
    #[must_use]
    pub fn new(spec: &scenario::Ssd) -> Self {
        Self {
            page: spec.page.0,
            read_ns: spec.read.0,
            program_ns: spec.program.0,
            overhead_ns: spec.overhead.0,
            interface_rate: spec.interface_rate.0,
            depth: spec.queue_depth,
            buffer_bytes: spec.write_buffer.0,
            units_free_ns: vec![0; spec.units as usize],
            interface_free_ns: 0,
            buffered: VecDeque::new(),
            buffered_bytes: 0,
            inside: 0,
            waiting: VecDeque::new(),
            busy_until_ns: 0,
            here: Address::of(Layer::Device),
            usage: Usage::default(),
        }
    }

    /// Handles a signal to the drive.
    pub fn handle(&mut self, kernel: &mut Kernel, signal: Signal, id: RequestId) {
        if signal == Signal::Submit {
            kernel.requests[id].device = if self.here.layer == Layer::Device { self.here.index } else { NO_DEVICE };
            if self.inside < self.depth {
                self.enter(kernel, id);
            } else {
                self.waiting.push_back(id);
            }
            return;
        }
        kernel.complete(id);
        self.inside -= 1;
        if let Some(next) = self.waiting.pop_front() {
            self.enter(kernel, next);
        }
    }

    fn enter(&mut self, kernel: &mut Kernel, id: RequestId) {
        self.inside += 1;
        let arrived_ns = kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Queue);
        kernel.requests.charge_ns(id, Phase::Overhead, self.overhead_ns);
        let done_ns = match kernel.requests[id].op {
            Op::Read => self.read(kernel, id),
            Op::Write => self.write(kernel, id),
        };
        let (now_ns, request) = (kernel.now_ns, kernel.requests[id]);
        self.usage.count(request.op, request.bytes, done_ns - arrived_ns);
        self.usage.busy_ns += done_ns.saturating_sub(self.busy_until_ns.max(now_ns));
        self.busy_until_ns = self.busy_until_ns.max(done_ns);
        kernel.at(done_ns, self.here, Signal::Timer, id.0);
    }

    fn read(&mut self, kernel: &mut Kernel, id: RequestId) -> u64 {
        let request = kernel.requests[id];
        let (start_ns, flash_done_ns) = self.work(request.place, request.bytes, request.charged_ns, self.read_ns);
        kernel.requests.charge_until(id, Phase::Queue, start_ns);
        kernel.requests.charge_until(id, Phase::FlashRead, flash_done_ns);
        self.transfer(kernel, id)
    }

    fn write(&mut self, kernel: &mut Kernel, id: RequestId) -> u64 {
        let request = kernel.requests[id];
        if self.buffer_bytes < request.bytes {
            self.transfer(kernel, id);
            let arrived_ns = kernel.requests[id].charged_ns;
            let (start_ns, programmed_ns) = self.work(request.place, request.bytes, arrived_ns, self.program_ns);
            kernel.requests.charge_until(id, Phase::Queue, start_ns);
            kernel.requests.charge_until(id, Phase::FlashProgram, programmed_ns);
            return programmed_ns;
        }
        // Room for the request: wait until enough of what is buffered has been programmed.
        let mut room_ns = request.charged_ns;
        while let Some((left_ns, bytes)) = self.buffered.front().copied() {
            if left_ns > room_ns && self.buffered_bytes + request.bytes <= self.buffer_bytes {
                break;
            }
            room_ns = room_ns.max(left_ns);
            self.buffered_bytes -= bytes;
            self.buffered.pop_front();
        }
        kernel.requests.charge_until(id, Phase::Queue, room_ns);
        let done_ns = self.transfer(kernel, id);
        let (_, programmed_ns) = self.work(request.place, request.bytes, done_ns, self.program_ns);
        let leaves_ns = self.buffered.back().map_or(programmed_ns, |(last_ns, _)| programmed_ns.max(*last_ns));
        self.buffered.push_back((leaves_ns, request.bytes));
        self.buffered_bytes += request.bytes;
        done_ns
    }

    /// Moves the bytes over the interface after those of earlier requests.
    fn transfer(&mut self, kernel: &mut Kernel, id: RequestId) -> u64 {
        let request = kernel.requests[id];
        let start_ns = self.interface_free_ns.max(request.charged_ns);
        self.interface_free_ns = start_ns + transfer_ns(request.bytes, self.interface_rate);
        kernel.requests.charge_until(id, Phase::Transfer, self.interface_free_ns);
        self.interface_free_ns
    }

    /// Gives the pages to their units from `ready_ns` on. Returns when the page that ends last began its own work, and its end.
    #[allow(clippy::cast_possible_truncation)] // an index below the number of units
    fn work(&mut self, offset: u64, bytes: u64, ready_ns: u64, page_ns: u64) -> (u64, u64) {
        let (first, last) = (offset / self.page, (offset + bytes.max(1) - 1) / self.page);
        let units = self.units_free_ns.len() as u64;
        let (mut began_ns, mut end_ns) = (ready_ns, ready_ns);
        for page in first..=last.min(first + units - 1) {
            let pages_here = (last - page) / units + 1;
            let free_ns = &mut self.units_free_ns[(page % units) as usize];
            let start_ns = ready_ns.max(*free_ns);
            *free_ns = start_ns + pages_here * page_ns;
            if *free_ns > end_ns {
                (began_ns, end_ns) = (start_ns, *free_ns);
            }
        }
        (began_ns, end_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Request;
    use crate::scenario::{Bytes, Nanos};

    fn spec() -> scenario::Ssd {
        scenario::Ssd {
            capacity: Bytes(1 << 30),
            units: 4,
            page: Bytes(4096),
            read: Nanos(50_000),
            program: Nanos(500_000),
            overhead: Nanos(10_000),
            interface_rate: Bytes(4_096_000_000),
            queue_depth: 32,
            write_buffer: Bytes(0),
        }
    }

    /// Submits requests of one instant and returns when each is done, in order of completion.
    fn run(spec: &scenario::Ssd, requests: &[(Op, u64, u64)]) -> Vec<u64> {
        let mut ssd = Ssd::new(spec);
        let mut kernel = Kernel::default();
        for (op, offset, bytes) in requests {
            let id = kernel.open(Request { op: *op, offset: *offset, bytes: *bytes, ..Request::default() });
            ssd.handle(&mut kernel, Signal::Submit, id);
        }
        let mut done = Vec::new();
        while let Some(event) = kernel.advance() {
            if event.signal == Signal::Timer {
                done.push(event.time_ns);
                ssd.handle(&mut kernel, Signal::Timer, RequestId(event.id));
            }
        }
        done
    }

    #[test]
    fn pages_on_different_units_are_read_at_the_same_time() {
        assert_eq!(run(&spec(), &[(Op::Read, 0, 4096), (Op::Read, 4096, 4096)]), [61_000, 62_000]);
    }

    #[test]
    fn pages_on_the_same_unit_wait_for_each_other() {
        assert_eq!(run(&spec(), &[(Op::Read, 0, 4096), (Op::Read, 4 * 4096, 4096)]), [61_000, 111_000]);
    }

    #[test]
    fn a_write_buffer_hides_the_program_time_until_it_is_full() {
        let buffered = scenario::Ssd { write_buffer: Bytes(8192), units: 1, ..spec() };
        let done = run(&buffered, &[(Op::Write, 0, 4096), (Op::Write, 4096, 4096), (Op::Write, 8192, 4096)]);
        assert_eq!(done, [11_000, 12_000, 512_000]);
        assert_eq!(run(&spec(), &[(Op::Write, 0, 4096)]), [511_000]);
    }

    #[test]
    fn requests_beyond_the_queue_depth_wait_outside() {
        let narrow = scenario::Ssd { queue_depth: 1, ..spec() };
        assert_eq!(run(&narrow, &[(Op::Read, 0, 4096), (Op::Read, 4096, 4096)]), [61_000, 122_000]);
    }
}
