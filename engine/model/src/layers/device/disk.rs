//! A hard disk drive as a server: a queue that the drive may reorder, and the mechanics that serve one request at a time.
//!
//! Requests beyond the drive's queue depth wait outside in order of arrival. The mechanics and the queue policies are in
//! [`super::hdd`].

use std::collections::VecDeque;

use super::Usage;
use super::hdd::{DriveQueue, Hdd};
use crate::kernel::{Address, Event, Kernel, LayerId, NO_DEVICE, Phase, RequestId, Timer as _};
use crate::timers;
use seeklab_spec::Op;

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;

timers! {
    enum Timer {
        /// The drive has served a request.
        Served(RequestId),
    }
}

/// A hard disk drive with its queue.
pub struct Disk {
    drive: Hdd,
    queue: DriveQueue<RequestId>,
    depth: usize,
    waiting: VecDeque<RequestId>,
    busy: bool,
    /// Whether a power failure loses writes that it has acknowledged.
    is_volatile: bool,
    /// Its place in the stack.
    pub here: Address,
    /// What it has done.
    pub usage: Usage,
}

impl Disk {
    /// A drive that holds up to `depth` requests in `queue`.
    #[must_use]
    pub fn new(drive: Hdd, queue: DriveQueue<RequestId>, depth: u32, is_volatile: bool) -> Self {
        Self {
            is_volatile,
            drive,
            queue,
            depth: depth as usize,
            waiting: VecDeque::new(),
            busy: false,
            here: Address::of(LayerId::Device),
            usage: Usage::default(),
        }
    }

    /// Handles an event of the drive.
    pub fn on(&mut self, kernel: &mut Kernel, event: Event) {
        match event {
            Event::Submit(id) => {
                kernel.requests[id].device = if self.here.layer == LayerId::Device { self.here.index } else { NO_DEVICE };
                self.waiting.push_back(id);
            }
            Event::Timer(timer) => {
                let Timer::Served(id) = Timer::unpack(timer);
                kernel.complete(id);
                self.busy = false;
            }
            Event::Done(_) => {} // it submits nothing
        }
        if !self.busy {
            self.start(kernel);
        }
    }

    fn start(&mut self, kernel: &mut Kernel) {
        while self.queue.len() < self.depth {
            let Some(id) = self.waiting.pop_front() else { break };
            let request = &kernel.requests[id];
            self.queue.push(&self.drive, kernel.now_ns(), request.op, request.place / SECTOR_BYTES, id);
        }
        let Some(next) = self.queue.pick(&self.drive, kernel.now_ns()) else { return };
        let id = next.tag;
        let arrived_ns = kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Queue);
        let request = kernel.requests[id];
        let end = (request.place + request.bytes).div_ceil(SECTOR_BYTES);
        let first = request.place / SECTOR_BYTES;
        let sectors = u32::try_from(end - first).unwrap_or(u32::MAX); // requests are checked to be at most 1 GiB
        if request.is_flush() {
            let done_ns = if self.is_volatile { self.drive.flushed_ns(kernel.now_ns()) } else { kernel.now_ns() };
            kernel.requests.charge_until(id, Phase::Overhead, done_ns);
            self.busy = true;
            self.usage.count(request.op, request.bytes, done_ns - arrived_ns);
            self.usage.busy_ns += done_ns - kernel.now_ns();
            return kernel.wake_at(done_ns, self.here, Timer::Served(id));
        }
        let service = if request.op == Op::Write && self.is_volatile && request.durable.waits() {
            self.drive.serve_through(kernel.now_ns(), first, sectors)
        } else {
            self.drive.serve(kernel.now_ns(), request.op, first, sectors)
        };
        let charges = [
            (Phase::Overhead, service.overhead_ns),
            (Phase::Queue, service.wait_ns),
            (Phase::Seek, service.seek_ns),
            (Phase::Rotation, service.rotation_ns),
            (Phase::Transfer, service.media_ns + service.bus_ns),
        ];
        for (phase, ns) in charges {
            kernel.requests.charge_ns(id, phase, ns);
        }
        self.busy = true;
        self.usage.count(request.op, request.bytes, service.done_ns - arrived_ns);
        self.usage.busy_ns += service.done_ns - kernel.now_ns();
        kernel.wake_at(service.done_ns, self.here, Timer::Served(id));
    }
}
