//! A hard disk drive as a server: commands, bus and arm work on different requests at a time.
//!
//! Modelled:
//! - the drive works off one command at a time, and moves the data of one request at a time over its bus; both continue while the arm
//!   works. A read leaves the arm free when its last sector is read; the data of a write are sent ahead into the buffer where
//!   they fit;
//! - reads that the buffer holds, or the write cache, need the bus alone and wait for no other;
//! - the others wait for the arm. Up to `queue_depth` wait inside, where the drive's order chooses; more wait outside in order of
//!   arrival. A request that continues where the arm is goes first under most orders, but when so much as a segment has been moved
//!   in one place the others have their turn;
//! - the write cache acknowledges what has room in it, and is written to the media when the drive is idle, in turns with requests
//!   where it fills or grows old, and at once for a FLUSH ([`WriteCache`]). A write with FUA goes to the media, unless the cache
//!   survives a power failure; a write that ends with a FLUSH is done when all that was cached before it is on the media.
//!
//! Sources: overlap of commands, media and bus in SCSI drives with tagged queues as in Ruemmler and Wilkes, "An Introduction to
//! Disk Drive Modeling" (IEEE Computer 27, 1994); FLUSH and FUA as in ATA ACS-3 and SCSI SBC-3. A FLUSH has the arm for itself, as the
//! non-queued FLUSH CACHE EXT does.
//!
//! Left out: data of different requests that share the bus block by block (each request's data go at once; those of a read from
//! the media count when the arm begins with it), and the limit that the buffer's size sets to data sent ahead all together.

use std::collections::VecDeque;
use std::ops::Range;

use super::Usage;
use super::hdd::shake::Shaker;
use super::hdd::{Arrival, DriveQueue, Given, Hdd, Hit, IDLE_NS, Service, Urgency, WriteCache};
use super::services::Services;
use crate::kernel::journeys::Mark;
use crate::kernel::{Address, Durable, Event, Holder, Kernel, LayerId, NO_DEVICE, Phase, RequestId, Timer as _};
use crate::timers;
use seeklab_spec::{Op, Persistence};

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;

timers! {
    enum Timer {
        /// The arm may be free, or what it waited for may have come.
        Arm,
        /// The data of a write are in the write cache.
        Cached(RequestId),
        /// A write that ends with a FLUSH is on the media.
        Through(RequestId),
    }
}

/// The write cache of a drive and those who wait for it.
pub struct Cached {
    extents: WriteCache,
    is_volatile: bool,
    /// Whether FLUSH and FUA wait for the media.
    heeds_flush: bool,
    /// Writes without room, when they came and when their commands are worked off.
    for_room: VecDeque<(RequestId, u64, u64)>,
    /// Requests that wait until writes up to a number are on the media.
    flushes: VecDeque<(RequestId, u64)>,
    /// Whether a request had the arm since the last piece was written.
    had_turn: bool,
}

impl Cached {
    /// A cache with these extents.
    #[must_use]
    pub fn new(extents: WriteCache, persistence: Persistence) -> Self {
        Self {
            extents,
            is_volatile: persistence.is_volatile(),
            heeds_flush: persistence == Persistence::Volatile,
            for_room: VecDeque::new(),
            flushes: VecDeque::new(),
            had_turn: true,
        }
    }
}

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    id: RequestId,
    /// When it came to the device, when the drive begins with its command, and when that is worked off.
    arrived_ns: u64,
    since_ns: u64,
    ready_ns: u64,
    /// When its data begin to cross the bus, of a write whose data are sent ahead.
    data_from_ns: Option<u64>,
}

/// A hard disk drive with its queue.
pub struct Disk {
    drive: Hdd,
    queue: DriveQueue<Waiting>,
    depth: usize,
    outside: VecDeque<RequestId>,
    cached: Option<Box<Cached>>,
    /// When all commands so far are worked off, and when all data so far have crossed the bus.
    commands_until_ns: u64,
    bus_free_ns: u64,
    arm_free_ns: u64,
    /// When a request last had the arm.
    requested_ns: u64,
    /// When the arm's timer is due; [`u64::MAX`] when none is set.
    wakes_ns: u64,
    /// Where the last request of the arm ended, and blocks that it has moved there without leaving.
    visit_end: u64,
    visit_blocks: u64,
    /// Until when the drive has something to do for a host.
    busy_until_ns: u64,
    /// Its place in the stack.
    pub here: Address,
    /// Its work so far.
    pub usage: Usage,
    /// How long it worked on each request, where a disk of the run is shaken.
    pub services: Option<Box<Services>>,
}

/// First block and one past the last.
fn blocks(kernel: &Kernel, id: RequestId) -> (u64, u64) {
    let request = &kernel.requests[id];
    (request.place / SECTOR_BYTES, (request.place + request.bytes).div_ceil(SECTOR_BYTES))
}

impl Disk {
    /// A drive that holds up to `depth` requests in its queue, with a write cache or without.
    #[must_use]
    pub fn new(drive: Hdd, queue: DriveQueue<Waiting>, depth: u32, cached: Option<Cached>) -> Self {
        Self {
            drive,
            queue,
            depth: depth as usize,
            outside: VecDeque::new(),
            cached: cached.map(Box::new),
            commands_until_ns: 0,
            bus_free_ns: 0,
            arm_free_ns: 0,
            requested_ns: 0,
            wakes_ns: u64::MAX,
            visit_end: u64::MAX,
            visit_blocks: 0,
            busy_until_ns: 0,
            here: Address::of(LayerId::Device),
            usage: Usage::default(),
            services: None,
        }
    }

    /// Return the source of vibration, if there is one.
    #[must_use]
    pub fn shaker(&self) -> Option<&Shaker> {
        self.drive.shaker()
    }

    /// Handles an event of the drive.
    pub fn on(&mut self, kernel: &mut Kernel, event: Event) {
        let now_ns = kernel.now_ns();
        match event {
            Event::Submit(id) => {
                kernel.requests[id].device = if self.here.layer == LayerId::Device { self.here.index } else { NO_DEVICE };
                self.outside.push_back(id);
            }
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Arm => {
                    if now_ns >= self.wakes_ns {
                        self.wakes_ns = u64::MAX;
                    }
                }
                Timer::Cached(id) => self.data_cached(kernel, id),
                Timer::Through(id) => self.flush(kernel, id),
            },
            Event::Done(_) => {} // it submits nothing
        }
        if now_ns >= self.arm_free_ns {
            self.destaged(kernel);
        }
        self.drive.advance_to(now_ns);
        self.go_on(kernel);
    }

    /// Sets the arm's timer, unless it is due before.
    fn wake(&mut self, kernel: &mut Kernel, at_ns: u64) {
        if at_ns < self.wakes_ns {
            self.wakes_ns = at_ns;
            kernel.wake_at(at_ns, self.here, Timer::Arm);
        }
    }

    /// Takes in what has come and gives the arm its next work.
    fn go_on(&mut self, kernel: &mut Kernel) {
        loop {
            while self.queue.len() < self.depth {
                let Some(id) = self.outside.pop_front() else { break };
                self.arrive(kernel, id);
            }
            let now_ns = kernel.now_ns();
            let urgency = self.urgency(now_ns);
            let is_destaging = self.cached.as_ref().is_some_and(|cached| cached.extents.is_in_flight());
            if self.queue.is_empty() && urgency == Urgency::None && !is_destaging {
                return;
            }
            if now_ns < self.arm_free_ns {
                return self.wake(kernel, self.arm_free_ns);
            }
            // What has been read meanwhile.
            if let Some(index) = self.queue.held(&self.drive) {
                let entry = self.queue.take(index);
                self.serve(kernel, entry.op, entry.lbn, entry.end, entry.tag);
                continue;
            }
            let destages = match urgency {
                Urgency::None => false,
                Urgency::First => true,
                Urgency::Shared => self.queue.is_empty() || self.cached.as_ref().is_some_and(|cached| cached.had_turn),
                Urgency::WhenIdle => {
                    let idle_ns = self.requested_ns.saturating_add(IDLE_NS);
                    let until_ns = self.drive.reads_until_ns().map_or(idle_ns, |until_ns| idle_ns.max(until_ns));
                    let is_idle = self.queue.is_empty() && (self.requested_ns == 0 || now_ns >= until_ns);
                    if self.queue.is_empty() && !is_idle {
                        return self.wake(kernel, until_ns);
                    }
                    is_idle
                }
            };
            if destages {
                return self.destage(kernel);
            }
            let segment = self.drive.segment_blocks();
            let last = if self.visit_blocks < segment { 0..0 } else { self.visit_end..self.queue.stream_end(self.visit_end, segment) };
            let Some(index) = self.queue.next(&self.drive, now_ns, &last) else { return };
            let entry = self.queue.at(index);
            if let Some(until_ns) = self.drive.stays_until_ns()
                && !(entry.op == Op::Read && self.drive.joins(entry.lbn) && !last.contains(&entry.lbn))
            {
                return self.wake(kernel, until_ns.max(now_ns + 1));
            }
            let entry = self.queue.take(index);
            self.queue.plan_ahead(&self.drive, now_ns, &last, &entry);
            self.serve(kernel, entry.op, entry.lbn, entry.end, entry.tag);
        }
    }

    fn urgency(&self, now_ns: u64) -> Urgency {
        self.cached.as_ref().map_or(Urgency::None, |cached| {
            let is_wanted = !cached.flushes.is_empty() || !cached.for_room.is_empty() && self.queue.is_empty();
            cached.extents.urgency(now_ns, is_wanted)
        })
    }

    /// A request has come into the drive.
    fn arrive(&mut self, kernel: &mut Kernel, id: RequestId) {
        let now_ns = kernel.now_ns();
        let request = kernel.requests[id];
        let arrived_ns = request.charged_ns;
        let since_ns = self.commands_until_ns.max(now_ns);
        let ready_ns = since_ns + self.drive.overhead_ns(request.op);
        self.commands_until_ns = ready_ns;
        let (first, end) = blocks(kernel, id);
        if request.is_flush() {
            self.charge_command(kernel, id, ready_ns, ready_ns);
            self.usage.count(request.op, 0, 0);
            kernel.wake_at(ready_ns, self.here, Timer::Through(id));
            return;
        }
        let mut data_from_ns = None;
        if request.op == Op::Write {
            let through = !self
                .cached
                .as_ref()
                .is_some_and(|cached| cached.extents.fits(end - first) && !(request.durable == Durable::Itself && cached.heeds_flush));
            if !through {
                return self.take_in(kernel, id, arrived_ns, ready_ns);
            }
            if end - first <= self.drive.segment_blocks() {
                let from_ns = ready_ns.max(self.bus_free_ns);
                self.bus_free_ns = from_ns + self.drive.bus_ns(Op::Write, end - first);
                data_from_ns = Some(from_ns);
            }
        } else if self.cached.as_ref().is_some_and(|cached| cached.extents.holds(first, end)) {
            let from_ns = ready_ns.max(self.bus_free_ns);
            let done_ns = from_ns + self.drive.bus_ns(Op::Read, end - first);
            self.bus_free_ns = done_ns;
            self.charge_command(kernel, id, ready_ns, from_ns);
            self.complete(kernel, id, arrived_ns, done_ns);
            return;
        }
        let waiting = Waiting { id, arrived_ns, since_ns, ready_ns, data_from_ns };
        if request.op == Op::Read && self.drive.holds(first, end) {
            return self.serve(kernel, request.op, first, end, waiting);
        }
        let ready_for_arm_ns = data_from_ns.map_or(ready_ns, |from_ns| from_ns + self.drive.bus_ns(Op::Write, 1));
        let is_next = self.drive.ends_segment(first) && !self.drive.joins(first);
        let arrival = Arrival { op: request.op, lbn: first, end, ready_ns: Some(ready_for_arm_ns), is_next };
        self.queue.push(&self.drive, now_ns, arrival, waiting);
    }

    /// Charges a request's command, which is worked off at `ready_ns`, and its wait until `from_ns`.
    fn charge_command(&self, kernel: &mut Kernel, id: RequestId, ready_ns: u64, from_ns: u64) {
        let op = kernel.requests[id].op;
        let from_ns = from_ns.max(kernel.requests[id].charged_ns);
        for (phase, until_ns) in
            [(Phase::Queue, ready_ns.saturating_sub(self.drive.overhead_ns(op))), (Phase::Overhead, ready_ns), (Phase::Queue, from_ns)]
        {
            let until_ns = until_ns.clamp(kernel.requests[id].charged_ns, from_ns);
            kernel.requests.charge_until(id, phase, until_ns);
        }
    }

    /// A request is done at `done_ns`, which is charged until then; what is missing crossed the bus.
    fn complete(&mut self, kernel: &mut Kernel, id: RequestId, arrived_ns: u64, done_ns: u64) {
        kernel.requests.charge_until(id, Phase::Transfer, done_ns);
        self.account(kernel, id, arrived_ns, done_ns);
        kernel.complete_when_charged(id);
    }

    fn account(&mut self, kernel: &Kernel, id: RequestId, arrived_ns: u64, done_ns: u64) {
        let request = kernel.requests[id];
        self.usage.count(request.op, request.bytes, done_ns - arrived_ns);
        self.usage.busy_ns += done_ns.saturating_sub(self.busy_until_ns.max(arrived_ns));
        self.busy_until_ns = self.busy_until_ns.max(done_ns);
    }

    /// Serves a request: with the arm, or from the buffer.
    fn serve(&mut self, kernel: &mut Kernel, op: Op, first: u64, end: u64, waiting: Waiting) {
        let now_ns = kernel.now_ns();
        let Waiting { id, arrived_ns, since_ns, ready_ns, data_from_ns } = waiting;
        let request = kernel.requests[id];
        let sectors = u32::try_from(end - first).unwrap_or(u32::MAX); // requests are checked to be at most 1 GiB
        let given =
            Given { since_ns, bus_free_ns: self.bus_free_ns, arm_free_ns: self.arm_free_ns, data_from_ns, is_alone: self.queue.is_empty() };
        let Service { done_ns, arm_free_ns, overhead_ns, wait_ns, seek_ns, rotation_ns, retry_ns, media_ns, bus_ns, buffer_hit, .. } =
            self.drive.serve_at(now_ns, given, op, first, sectors);
        self.charge_command(kernel, id, ready_ns, now_ns);
        if kernel.requests.journeys.is_some() && buffer_hit != Hit::Full {
            let seek_from_ns = now_ns + overhead_ns + wait_ns;
            let media_from_ns = seek_from_ns + seek_ns + rotation_ns + retry_ns;
            self.mark_visit(kernel, first, [seek_from_ns, seek_from_ns + seek_ns, media_from_ns, media_from_ns + media_ns], retry_ns);
        }
        for (phase, ns) in [
            (Phase::Overhead, overhead_ns),
            (Phase::Queue, wait_ns),
            (Phase::Seek, seek_ns),
            (Phase::Rotation, rotation_ns),
            (Phase::Retry, retry_ns),
            (Phase::Transfer, media_ns + bus_ns),
        ] {
            kernel.requests.charge_ns(id, phase, ns);
        }
        if buffer_hit == Hit::Full {
            self.bus_free_ns = self.bus_free_ns.max(done_ns);
        } else {
            if let Some(services) = &mut self.services {
                services.count(now_ns, arm_free_ns.max(now_ns), request.bytes);
            }
            self.has_arm(first, end, now_ns, arm_free_ns);
            if data_from_ns.is_none() {
                self.bus_free_ns = self.bus_free_ns.max(now_ns) + self.drive.bus_ns(op, u64::from(sectors));
            }
        }
        if op == Op::Write
            && let Some(cached) = &mut self.cached
        {
            let gone = cached.extents.remove(&self.drive, first, end);
            if cached.is_volatile {
                kernel.release(Holder::Device, gone * SECTOR_BYTES);
            }
            let waits = request.durable == Durable::All && cached.heeds_flush;
            self.end_flushes(kernel); // what it overwrote needs no destaging any more
            if waits {
                self.account(kernel, id, arrived_ns, done_ns);
                return kernel.wake_at(done_ns, self.here, Timer::Through(id));
            }
        }
        self.account(kernel, id, arrived_ns, done_ns);
        kernel.complete_when_charged(id);
    }

    /// Marks a visit of the arm to a block: when it leaves, when it is on the track, when the data begin under the heads and when
    /// they end.
    #[cold]
    #[inline(never)]
    fn mark_visit(&self, kernel: &mut Kernel, first: u64, times_ns: [u64; 4], retry_ns: u64) {
        let disk = u64::from(self.here.layer as u8) << 16 | u64::from(self.here.index);
        let cylinder = u64::from(self.drive.cylinder_of(first));
        for (nth, time_ns) in times_ns.into_iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0, below 1 turn")]
            let angle = (self.drive.angle_turns(time_ns) * 1e6) as u64;
            let (kind, value) = if nth < 2 { (Mark::Arm, cylinder) } else { (Mark::Angle, angle) };
            kernel.mark(time_ns, kind, disk, value);
        }
        if retry_ns > 0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "few turns")]
            let turns = (retry_ns as f64 / self.drive.params().turn_ns() + 0.5) as u64;
            kernel.mark(times_ns[2] - retry_ns, Mark::OffTrack, disk, turns);
        }
    }

    /// Notes that a request has the arm.
    fn has_arm(&mut self, first: u64, end: u64, now_ns: u64, arm_free_ns: u64) {
        self.arm_free_ns = arm_free_ns.max(now_ns);
        self.requested_ns = self.arm_free_ns;
        self.visit_blocks = if first == self.visit_end { self.visit_blocks } else { 0 } + (end - first);
        self.visit_end = end;
        if let Some(cached) = &mut self.cached {
            cached.had_turn = true;
        }
    }
}

/// The write cache.
impl Disk {
    /// Takes the data of a write into the cache once there is room.
    fn take_in(&mut self, kernel: &mut Kernel, id: RequestId, arrived_ns: u64, ready_ns: u64) {
        let (first, end) = blocks(kernel, id);
        let Some(cached) = &mut self.cached else { return };
        if !cached.for_room.is_empty() || !cached.extents.promise(first, end) {
            return cached.for_room.push_back((id, arrived_ns, ready_ns));
        }
        self.send_in(kernel, id, arrived_ns, ready_ns, first..end);
    }

    fn send_in(&mut self, kernel: &mut Kernel, id: RequestId, arrived_ns: u64, ready_ns: u64, range: Range<u64>) {
        let now_ns = kernel.now_ns();
        let from_ns = ready_ns.max(self.bus_free_ns).max(now_ns);
        let done_ns = from_ns + self.drive.bus_ns(Op::Write, range.end - range.start);
        self.bus_free_ns = done_ns;
        self.charge_command(kernel, id, ready_ns, from_ns);
        kernel.requests.charge_until(id, Phase::Transfer, done_ns);
        self.account(kernel, id, arrived_ns, done_ns);
        kernel.wake_at(done_ns, self.here, Timer::Cached(id));
    }

    /// The data of a write are in the cache: it is acknowledged, unless it waits for a FLUSH.
    fn data_cached(&mut self, kernel: &mut Kernel, id: RequestId) {
        let (first, end) = blocks(kernel, id);
        let now_ns = kernel.now_ns();
        let Some(cached) = &mut self.cached else { return };
        let (write, more) = cached.extents.add(&self.drive, now_ns, first, end);
        self.drive.forget_written(first, end);
        if cached.is_volatile {
            kernel.hold(Holder::Device, more * SECTOR_BYTES);
        }
        if cached.heeds_flush && kernel.requests[id].durable == Durable::All {
            return cached.flushes.push_back((id, write));
        }
        kernel.complete(id);
    }

    /// A FLUSH begins: of its own, or after a write that is on the media.
    fn flush(&mut self, kernel: &mut Kernel, id: RequestId) {
        if let Some(cached) = self.cached.as_mut().filter(|cached| cached.heeds_flush) {
            cached.flushes.push_back((id, cached.extents.writes()));
            return self.end_flushes(kernel);
        }
        kernel.complete(id);
    }

    /// Completes what waited for writes that are on the media now.
    fn end_flushes(&mut self, kernel: &mut Kernel) {
        while let Some(cached) = &mut self.cached
            && let Some((id, write)) = cached.flushes.front().copied()
            && cached.extents.is_clean_up_to(write)
        {
            cached.flushes.pop_front();
            // The arm has written what was before it, and itself.
            kernel.charge(id, Phase::Queue);
            kernel.complete(id);
        }
    }

    /// Gives the arm a piece of the cache.
    fn destage(&mut self, kernel: &mut Kernel) {
        let now_ns = kernel.now_ns();
        let Some(cached) = &mut self.cached else { return };
        let Some(piece) = cached.extents.next(&self.drive, now_ns) else { return };
        cached.had_turn = false;
        self.arm_free_ns = self.drive.destage(now_ns, piece.start, piece.end).max(now_ns);
        self.visit_end = u64::MAX;
        self.wake(kernel, self.arm_free_ns);
    }

    /// The arm may have written a piece: there is room, and flushes may be done.
    fn destaged(&mut self, kernel: &mut Kernel) {
        let Some(cached) = &mut self.cached else { return };
        let Some(piece) = cached.extents.written() else { return };
        if cached.is_volatile {
            kernel.release(Holder::Device, piece.blocks() * SECTOR_BYTES);
        }
        while let Some(cached) = &mut self.cached
            && let Some((id, arrived_ns, ready_ns)) = cached.for_room.front().copied()
        {
            let (first, end) = blocks(kernel, id);
            if !cached.extents.promise(first, end) {
                break;
            }
            cached.for_room.pop_front();
            self.send_in(kernel, id, arrived_ns, ready_ns, first..end);
        }
        self.end_flushes(kernel);
    }
}
