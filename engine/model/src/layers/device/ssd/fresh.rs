//! A drive that is always fresh: no flash translation, no collection, no erases.
//!
//! Pages spread over the units in turn; a unit reads or programs one page at a time in order of arrival; the interface moves one
//! request's bytes at a time; a write buffer acknowledges a write as soon as there is room for it, and programs later; a limited
//! number of requests inside, the rest wait outside in order. Times follow in closed form when a request enters, so a request
//! costs one event.

use std::collections::VecDeque;

use crate::kernel::{Address, Event, Kernel, LayerId, NO_DEVICE, Phase, RequestId, Timer as _};
use crate::layers::device::{Usage, transfer_ns};
use crate::timers;
use seeklab_spec as spec;
use seeklab_spec::Op;

timers! {
    enum Timer {
        /// A request is done.
        Served(RequestId),
    }
}

/// A fresh drive.
pub(super) struct Fresh {
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
}

impl Fresh {
    /// The drive that a scenario describes.
    pub fn new(spec: &spec::Ssd) -> Self {
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
        }
    }

    /// Handles an event of the drive.
    pub fn on(&mut self, kernel: &mut Kernel, here: Address, usage: &mut Usage, event: Event) {
        match event {
            Event::Submit(id) => {
                kernel.requests[id].device = if here.layer == LayerId::Device { here.index } else { NO_DEVICE };
                if self.inside < self.depth {
                    self.enter(kernel, here, usage, id);
                } else {
                    self.waiting.push_back(id);
                }
            }
            Event::Timer(timer) => {
                let Timer::Served(id) = Timer::unpack(timer);
                kernel.complete(id);
                self.inside -= 1;
                if let Some(next) = self.waiting.pop_front() {
                    self.enter(kernel, here, usage, next);
                }
            }
            Event::Done(_) => {} // it submits nothing
        }
    }

    fn enter(&mut self, kernel: &mut Kernel, here: Address, usage: &mut Usage, id: RequestId) {
        self.inside += 1;
        let arrived_ns = kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Queue);
        kernel.requests.charge_ns(id, Phase::Overhead, self.overhead_ns);
        let done_ns = match kernel.requests[id].op {
            _ if kernel.requests[id].is_flush() => kernel.requests[id].charged_ns, // the buffer is protected
            Op::Read => self.read(kernel, id),
            Op::Write => self.write(kernel, id),
        };
        let (now_ns, request) = (kernel.now_ns(), kernel.requests[id]);
        usage.count(request.op, request.bytes, done_ns - arrived_ns);
        usage.busy_ns += done_ns.saturating_sub(self.busy_until_ns.max(now_ns));
        self.busy_until_ns = self.busy_until_ns.max(done_ns);
        kernel.wake_at(done_ns, here, Timer::Served(id));
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
