//! A drive that is always fresh: no flash translation, no collection, no erases.
//!
//! Pages spread over the units in turn; a unit reads or programs one page at a time in order of arrival. The interface moves one
//! request's bytes at a time, in the order in which they are ready: a read's when its last page has been read, a write's when
//! there is room for them in the write buffer. (Reserved in order of arrival instead, the interface would idle while a late unit
//! works and others' data wait.) A write is acknowledged when its bytes are in the buffer, and programmed later. A limited number
//! of requests is inside, the rest wait outside in order. What units do follows in closed form, so a request costs two events:
//! its data are ready, and it is done. A FLUSH of a volatile buffer is done when the last write in it is programmed, and a write
//! with FUA when it is itself.

use std::collections::VecDeque;

use crate::kernel::{Address, Durable, Event, Holder, Kernel, LayerId, NO_DEVICE, Phase, Request, RequestId, Timer as _};
use crate::layers::device::{Usage, transfer_ns};
use crate::timers;
use seeklab_spec as spec;
use seeklab_spec::{Op, Persistence};

timers! {
    enum Timer {
        /// A request's bytes are ready for the interface.
        Ready(RequestId),
        /// The oldest bytes of a volatile buffer are on flash.
        Left,
        /// A request is done.
        Served(RequestId),
    }
}

/// No page in a register.
const NOTHING: u64 = u64::MAX;

/// A fresh drive.
pub(super) struct NoFtl {
    page: u64,
    read_ns: u64,
    program_ns: u64,
    /// Of reads and of writes.
    overhead_ns: [u64; 3],
    interface_rate: u64,
    depth: u32,
    buffer_bytes: u64,
    /// When each unit is free.
    units_free_ns: Vec<u64>,
    /// The page in each unit's register: more of it is read without sensing it again.
    sensed: Vec<u64>,
    interface_free_ns: u64,
    /// Writes whose bytes are in the buffer: when each leaves it, and its bytes.
    buffered: VecDeque<(u64, u64)>,
    /// Bytes in the buffer or in flight into it.
    buffered_bytes: u64,
    buffer_is: Persistence,
    /// Bytes of each write in a volatile buffer.
    held: VecDeque<u64>,
    /// Writes that wait for room in the buffer.
    for_room: VecDeque<RequestId>,
    inside: u32,
    waiting: VecDeque<RequestId>,
    busy_from_ns: u64,
    /// When each request came, by its number.
    arrived_ns: Vec<u64>,
}

impl NoFtl {
    /// The drive that a scenario describes.
    pub fn new(spec: &spec::Ssd) -> Self {
        let of_write = spec.write_overhead.unwrap_or(spec.overhead);
        Self {
            page: spec.page.0,
            read_ns: spec.read.0,
            program_ns: spec.program.0,
            overhead_ns: [spec.overhead, of_write, of_write].map(|overhead| overhead.0),
            interface_rate: spec.interface_rate.0,
            depth: spec.queue_depth,
            buffer_bytes: spec.write_buffer.0,
            units_free_ns: vec![0; spec.units as usize],
            sensed: vec![NOTHING; spec.units as usize],
            interface_free_ns: 0,
            buffered: VecDeque::new(),
            buffered_bytes: 0,
            buffer_is: spec.write_buffer_is,
            held: VecDeque::new(),
            for_room: VecDeque::new(),
            inside: 0,
            waiting: VecDeque::new(),
            busy_from_ns: 0,
            arrived_ns: Vec::new(),
        }
    }

    /// Handles an event of the drive.
    pub fn on(&mut self, kernel: &mut Kernel, here: Address, usage: &mut Usage, event: Event) {
        match event {
            Event::Submit(id) => {
                kernel.requests[id].device = if here.layer == LayerId::Device { here.index } else { NO_DEVICE };
                let place = id.0 as usize;
                if place >= self.arrived_ns.len() {
                    self.arrived_ns.resize(place + 1, 0);
                }
                self.arrived_ns[place] = kernel.requests[id].charged_ns;
                if self.inside < self.depth {
                    self.enter(kernel, here, id);
                } else {
                    self.waiting.push_back(id);
                }
            }
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Ready(id) => self.ready(kernel, here, id),
                Timer::Left => kernel.release(Holder::Device, self.held.pop_front().unwrap_or_default()),
                Timer::Served(id) => {
                    let (now_ns, request) = (kernel.now_ns(), kernel.requests[id]);
                    usage.count(request.op, request.bytes, now_ns - self.arrived_ns[id.0 as usize]);
                    kernel.complete(id);
                    self.inside -= 1;
                    usage.busy_ns += now_ns - self.busy_from_ns;
                    self.busy_from_ns = now_ns;
                    if let Some(next) = self.waiting.pop_front() {
                        self.enter(kernel, here, next);
                    }
                }
            },
            Event::Done(_) => {} // it submits nothing
        }
    }

    fn enter(&mut self, kernel: &mut Kernel, here: Address, id: RequestId) {
        if self.inside == 0 {
            self.busy_from_ns = kernel.now_ns();
        }
        self.inside += 1;
        kernel.charge(id, Phase::Queue);
        let overhead_ns = self.overhead_ns[kernel.requests[id].op as usize];
        kernel.requests.charge_ns(id, Phase::Overhead, overhead_ns);
        let request = kernel.requests[id];
        if request.is_flush() {
            self.flush(kernel, here, id);
        } else if request.op == Op::Read {
            let (start_ns, end_ns) = self.work(&request, request.charged_ns);
            kernel.requests.charge_until(id, Phase::Queue, start_ns);
            kernel.requests.charge_until(id, Phase::FlashRead, end_ns);
            kernel.wake_at(end_ns, here, Timer::Ready(id));
        } else if !self.is_buffered(&request) {
            kernel.wake_at(request.charged_ns, here, Timer::Ready(id));
        } else {
            self.for_room.push_back(id);
            self.admit_writes(kernel, here);
        }
    }

    /// Whether a write is done when it is in the buffer.
    fn is_buffered(&self, request: &Request) -> bool {
        let through = self.buffer_is == Persistence::Volatile && request.durable == Durable::Itself;
        request.bytes <= self.buffer_bytes && !through
    }

    /// Completes a request when all that is in the buffer is programmed.
    fn flush(&mut self, kernel: &mut Kernel, here: Address, id: RequestId) {
        let programmed_ns = self.buffered.back().filter(|_| self.buffer_is == Persistence::Volatile).map_or(0, |(left_ns, _)| *left_ns);
        let done_ns = kernel.requests[id].charged_ns.max(programmed_ns);
        kernel.requests.charge_until(id, Phase::FlashProgram, done_ns);
        kernel.wake_at(done_ns, here, Timer::Served(id));
    }

    /// Promises room in the buffer to the writes in line, as far as it is known when there will be some.
    fn admit_writes(&mut self, kernel: &mut Kernel, here: Address) {
        while let Some(id) = self.for_room.front().copied() {
            let request = kernel.requests[id];
            let mut room_ns = request.charged_ns;
            while let Some((left_ns, bytes)) = self.buffered.front().copied() {
                if left_ns > room_ns && self.buffered_bytes + request.bytes <= self.buffer_bytes {
                    break;
                }
                room_ns = room_ns.max(left_ns);
                self.buffered_bytes -= bytes;
                self.buffered.pop_front();
            }
            if self.buffered_bytes + request.bytes > self.buffer_bytes {
                return; // the rest of the buffer is promised to writes that are not in it yet
            }
            self.for_room.pop_front();
            self.buffered_bytes += request.bytes;
            kernel.requests.charge_until(id, Phase::Queue, room_ns);
            kernel.wake_at(room_ns, here, Timer::Ready(id));
        }
    }

    /// Moves a request's bytes over the interface, after those that were ready before.
    fn ready(&mut self, kernel: &mut Kernel, here: Address, id: RequestId) {
        let start_ns = self.interface_free_ns.max(kernel.now_ns());
        let request = kernel.requests[id];
        let bytes = request.bytes;
        let moved_ns = start_ns + transfer_ns(bytes, self.interface_rate);
        self.interface_free_ns = moved_ns;
        kernel.requests.charge_until(id, Phase::Queue, start_ns);
        kernel.requests.charge_until(id, Phase::Transfer, moved_ns);
        let mut done_ns = moved_ns;
        if request.op == Op::Write {
            let (start_ns, programmed_ns) = self.work(&request, moved_ns);
            if self.is_buffered(&request) {
                let leaves_ns = self.buffered.back().map_or(programmed_ns, |(last_ns, _)| programmed_ns.max(*last_ns));
                self.buffered.push_back((leaves_ns, bytes));
                self.admit_writes(kernel, here);
                if self.buffer_is.is_volatile() {
                    kernel.hold(Holder::Device, bytes);
                    self.held.push_back(bytes);
                    kernel.wake_at(leaves_ns, here, Timer::Left);
                }
                if request.durable == Durable::All {
                    kernel.requests.charge_ns(id, Phase::Overhead, self.overhead_ns[Op::Write as usize]);
                    return self.flush(kernel, here, id);
                }
            } else {
                kernel.requests.charge_until(id, Phase::Queue, start_ns);
                kernel.requests.charge_until(id, Phase::FlashProgram, programmed_ns);
                done_ns = programmed_ns;
            }
        }
        kernel.wake_at(done_ns, here, Timer::Served(id));
    }

    /// Gives the pages to their units from `ready_ns` on. Returns when the page that ends last began its own work, and its end.
    #[allow(clippy::cast_possible_truncation)] // an index below the number of units
    fn work(&mut self, request: &Request, ready_ns: u64) -> (u64, u64) {
        let (first, last) = (request.place / self.page, (request.place + request.bytes.max(1) - 1) / self.page);
        let is_read = request.op == Op::Read;
        let units = self.units_free_ns.len() as u64;
        let (mut began_ns, mut end_ns) = (ready_ns, ready_ns);
        for page in first..=last.min(first + units - 1) {
            let pages_here = (last - page) / units + 1;
            let unit = (page % units) as usize;
            let page_ns = match (is_read, self.sensed[unit] == page && pages_here == 1) {
                (true, true) => 0,
                (true, false) => self.read_ns,
                (false, _) => self.program_ns,
            };
            self.sensed[unit] = if is_read { page + (pages_here - 1) * units } else { NOTHING };
            let free_ns = &mut self.units_free_ns[unit];
            let start_ns = ready_ns.max(*free_ns);
            *free_ns = start_ns + pages_here * page_ns;
            if *free_ns > end_ns {
                (began_ns, end_ns) = (start_ns, *free_ns);
            }
        }
        (began_ns, end_ns)
    }
}
