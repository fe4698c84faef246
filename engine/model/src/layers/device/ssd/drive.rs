//! The drive around the flash: commands, write buffer, interface, channels, and the dies with what they have to do.
//!
//! How a request proceeds:
//! 1. Up to `queue_depth` requests are inside; the rest wait outside in order.
//! 2. A read waits for a path through the controller, where there are few ([`path`]). It is split into parts, one for each die that it
//!    touches, or for each of its physical pages where planes read independently. A die reads up to `planes` pages of a part at once,
//!    or those of a physical page if they are more; the channel then moves them to the controller and the interface to the host, each
//!    in the order in which the pages come.
//! 3. A write waits for room in the write buffer, crosses the interface, and is done. Its pages then wait for their dies, and,
//!    where programs are gathered ([`super::gather`]), for others to fill a program; each frees its room when it is programmed.
//!    A request larger than the buffer is done when its last page is programmed. Before the data of some writes the drive pauses
//!    ([`stall`]).
//! 4. A die that is free takes what the host reads first, but after some reads a write has its turn. At a write's turn collection
//!    goes first where it is due ([`super::ftl`]); a die without other work continues with a collection begun. What a die has begun
//!    ends before it reads, or is suspended ([`super::die`]).
//! 5. What a volatile buffer has acknowledged is lost when the power fails; FLUSH and FUA see to it ([`flush`]).
//! 6. A TRIM changes the map of pages and no flash ([`trim`]).
//! 7. A page of which a write covers only a part is read before it is programmed.
//!
//! Every nanosecond is charged to a phase of the part that came last. Waiting for a die that collects is charged to garbage
//! collection, exactly. Waiting for room in the buffer, or to be let in, has no one die to blame: the share of the dies' time that
//! went into collection meanwhile is charged to it. Suspending and resuming are waiting in the queue.
//!
//! Physical pages of a die, of `stripe` logical pages each, lie on its read planes in turn, so that a block spans all planes.
//! Pages move inside their die during collection, so they do not load the channel. Left out: reads served from the
//! write buffer and overwrites that meet there, where programs are not gathered.

use std::collections::VecDeque;

use super::cells::Cells;
use super::channel::Channel;
use super::die::{Die, Rules};
use super::ftl::{Ftl, Shape, Wear};
use super::gather::Gathering;
use super::parts::{EMPTY, List, Parts};
use super::slc::Cache;
use crate::kernel::{Address, Durable, Event, Holder, Kernel, LayerId, NO_DEVICE, Phase, Request, RequestId, Timer as _};
use crate::layers::device::{Usage, transfer_ns};
use crate::timers;
use flush::Flushes;
use path::Paths;
use register::Registers;
use seeklab_kernel::Stream;
use seeklab_spec as spec;
use seeklab_spec::Op;
use seeklab_spec::{Collector, Gather, Persistence, Precondition};
use stall::Stalls;
use trim::Trims;

mod dies;
mod flush;
mod fold;
mod path;
mod register;
mod split;
mod stall;
mod trim;

timers! {
    enum Timer {
        /// A die has done what it was doing. Void when the end was put off since.
        DieDone(u32),
        /// A plane has read; planes count on from die to die.
        HasRead(u32),
        /// Suspend the operation of a die.
        Suspend(u32),
        /// A page may have waited for long enough.
        Waited(u32),
        /// A channel has moved a batch.
        Moved(u32),
        /// The pages of a part are across their channel.
        PagesMoved(u32),
        /// All data of a write have arrived from the host.
        DataArrived(RequestId),
        /// All that a FLUSH waited for is on flash, and the map of it.
        Mapped(RequestId),
        /// The map is changed, and commands that a TRIM kept out may come in.
        Trimmed,
        /// The drive may have been idle for long enough to empty its SLC cache.
        Idle,
        /// A request is done.
        Finished(RequestId),
    }
}

/// The queue of a die.
#[derive(Clone, Debug)]
struct Line {
    /// Planes that reads wait for, one bit each.
    reads: u16,
    writes: List,
    /// Pages of the parts in `writes`.
    pages: u32,
    /// Parts in `writes` that are not in the buffer.
    unbuffered: u32,
    /// Parts whose last page is being programmed.
    programmed: List,
    /// Whether a timer is set for its oldest page.
    is_timed: bool,
}

/// The read of a plane.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    part: u32,
    pages: u32,
}

/// A request inside the drive or waiting for it.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    arrived_ns: u64,
    /// The dies' time in collection when the current wait began.
    collected_ns: u64,
    parts: u32,
    /// Path of a read.
    path: u32,
}

/// Time of all dies in collection; the sums may wrap, their differences do not.
#[derive(Clone, Copy, Debug, Default)]
struct Collected {
    ended_ns: u64,
    dies: u64,
    began_ns: u64,
}

impl Collected {
    fn at(self, now_ns: u64) -> u64 {
        self.ended_ns.wrapping_add(self.dies.wrapping_mul(now_ns)).wrapping_sub(self.began_ns)
    }

    /// A die begins to collect, or continues with it.
    fn starts(&mut self, now_ns: u64) {
        self.dies += 1;
        self.began_ns = self.began_ns.wrapping_add(now_ns);
    }

    /// A die that has collected since `since_ns` stops.
    fn stops(&mut self, since_ns: u64, now_ns: u64) {
        self.ended_ns = self.ended_ns.wrapping_add(now_ns - since_ns);
        self.dies -= 1;
        self.began_ns = self.began_ns.wrapping_sub(since_ns);
    }
}

/// How to build the translation layer once something is written.
#[derive(Clone, Debug)]
struct Recipe {
    shape: Shape,
    collector: Collector,
    precondition: Precondition,
    stream: Stream,
}

/// A drive with a flash translation layer.
pub(super) struct Drive {
    page: u64,
    planes: u32,
    /// Logical pages of a physical one, and how many of them are read at once.
    stripe: u32,
    at_once: u32,
    read_planes: u32,
    channel_page_ns: u64,
    interface_page_ns: u64,
    interface_rate: u64,
    read_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    /// Of reads, writes and trims.
    command_ns: [u64; 3],
    overhead_ns: [u64; 3],
    depth: u32,
    buffer_bytes: u64,
    collect_parallel: u32,
    reads_first: bool,
    rules: Rules,
    cells: Cells,
    recipe: Recipe,
    /// Built at the first write: reads do not need to know where a page is on its die.
    ftl: Option<Box<Ftl>>,
    dies: Vec<Die>,
    lines: Vec<Line>,
    /// Parts that wait to be read, and what is read, by plane.
    reads: Vec<List>,
    reading: Vec<Reading>,
    registers: Registers,
    paths: Option<Paths>,
    channels: Vec<Channel>,
    interface_free_ns: u64,
    parts: Parts,
    /// Parts of writes so far.
    written_parts: u64,
    /// By number of the request.
    requests: Vec<Inside>,
    inside: u32,
    busy_from_ns: u64,
    outside: VecDeque<RequestId>,
    /// Writes that wait for room in the buffer.
    for_room: VecDeque<RequestId>,
    buffered_bytes: u64,
    buffer_is: Persistence,
    stalls: Stalls,
    flushes: Flushes,
    trims: Trims,
    gathering: Option<Gathering>,
    cache: Option<Box<Cache>>,
    /// Since when no request is inside, and whether a timer is set for it.
    idle_since_ns: u64,
    is_idle_timed: bool,
    /// Room for the pages that a die moves out of the cache.
    folding: Vec<u32>,
    collected: Collected,
}

impl Drive {
    /// The drive that a scenario describes; the streams draw its preconditioning and its stalls.
    pub fn new(spec: &spec::Ssd, flash: &spec::Flash, shape: Shape, [stream, of_stalls]: [Stream; 2]) -> Self {
        let line = Line { reads: 0, writes: EMPTY, pages: 0, unbuffered: 0, programmed: EMPTY, is_timed: false };
        let wait_ns = flash.gather_wait.map_or(if spec.write_buffer_is.is_volatile() { 100_000 } else { 2_000_000 }, |wait| wait.0);
        let gathering =
            (flash.gather == Gather::Full).then(|| Gathering::new(shape.dies, shape.logical, flash.planes, wait_ns, spec.write_buffer.0));
        let planes = shape.dies * flash.read_planes as usize;
        let of_write = spec.write_overhead.unwrap_or(spec.overhead);
        let command_of_write = flash.write_command.unwrap_or(flash.command);
        Self {
            page: spec.page.0,
            planes: flash.planes,
            stripe: flash.stripe,
            // A plane of several reads one physical page; all together read what they program.
            at_once: if flash.read_planes > 1 { flash.stripe } else { flash.planes.max(flash.stripe) },
            read_planes: flash.read_planes,
            channel_page_ns: transfer_ns(spec.page.0, flash.channel_rate.0),
            interface_page_ns: transfer_ns(spec.page.0, spec.interface_rate.0),
            interface_rate: spec.interface_rate.0,
            read_ns: spec.read.0,
            program_ns: spec.program.0,
            erase_ns: flash.erase.0,
            command_ns: [flash.command, command_of_write, command_of_write].map(|command| command.0),
            overhead_ns: [spec.overhead, of_write, of_write].map(|overhead| overhead.0),
            depth: spec.queue_depth,
            buffer_bytes: spec.write_buffer.0,
            collect_parallel: flash.collect_parallel,
            reads_first: flash.channel_reads_first,
            rules: Rules::new(flash.suspend.as_ref()),
            cells: Cells::new(spec.read.0, &flash.read_factors, flash.retry, flash.stripe, flash.read_planes),
            recipe: Recipe { shape, collector: flash.collector, precondition: flash.precondition, stream },
            ftl: None,
            dies: vec![Die::new(flash.read_planes); shape.dies],
            lines: vec![line; shape.dies],
            reads: vec![EMPTY; planes],
            reading: vec![Reading::default(); planes],
            registers: Registers::new(shape.dies, flash.read_planes),
            paths: flash.read_paths.as_ref().map(Paths::new),
            channels: vec![Channel::default(); flash.channels as usize],
            interface_free_ns: 0,
            parts: Parts::default(),
            written_parts: 0,
            requests: Vec::new(),
            inside: 0,
            busy_from_ns: 0,
            outside: VecDeque::new(),
            for_room: VecDeque::new(),
            buffered_bytes: 0,
            buffer_is: spec.write_buffer_is,
            stalls: Stalls::new(&flash.write_stalls, of_stalls),
            flushes: Flushes::new(flash.map_flush.0),
            trims: Trims::new(flash.trim_page.0, flash.sync_trim),
            gathering,
            cache: flash.slc_cache.as_ref().map(|cache| Box::new(Cache::new(spec, flash, cache, shape.dies, shape.logical))),
            idle_since_ns: 0,
            is_idle_timed: false,
            folding: vec![0; flash.planes as usize],
            collected: Collected::default(),
        }
    }

    /// Return the wear of the flash.
    pub fn wear(&self) -> Wear {
        let absorbed_pages = self.gathering.as_ref().map_or(0, |gathering| gathering.absorbed_pages);
        Wear { absorbed_pages, ..self.ftl.as_ref().map_or_else(Wear::default, |ftl| ftl.wear()) }
    }

    /// Bytes of memory held, or needed once something is written.
    pub fn memory_bytes(&self) -> u64 {
        let parts = self.parts.0.memory_bytes();
        let requests = self.requests.capacity() * size_of::<Inside>() + (self.outside.capacity() + self.for_room.capacity()) * 4;
        let gathering = if self.gathering.is_some() { Gathering::memory_bytes(self.recipe.shape.logical_pages()) } else { 0 };
        let cached = self.cache.as_ref().map_or(0, |cache| cache.memory_bytes());
        self.recipe.shape.memory_bytes() + gathering + cached + parts + (requests + self.dies.len() * size_of::<Die>()) as u64
    }

    /// Handles an event of the drive.
    pub fn on(&mut self, kernel: &mut Kernel, here: Address, usage: &mut Usage, event: Event) {
        let mut turn = Turn { kernel, here, usage };
        match event {
            Event::Submit(id) => self.submit(&mut turn, id),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::DieDone(die) => self.die_done(&mut turn, die as usize),
                Timer::HasRead(plane) => self.has_read(&mut turn, plane as usize),
                Timer::Suspend(die) => {
                    if self.dies[die as usize].is_time(turn.kernel.now_ns()) {
                        self.suspend(&mut turn, die as usize);
                    }
                }
                Timer::Waited(die) => {
                    self.lines[die as usize].is_timed = false;
                    self.work(&mut turn, die as usize);
                }
                Timer::Moved(channel) => self.moved(&mut turn, channel as usize),
                Timer::PagesMoved(part) => self.pages_moved(&mut turn, part),
                Timer::DataArrived(id) => self.data_arrived(&mut turn, id),
                Timer::Mapped(id) => self.deliver(&mut turn, id, 0),
                Timer::Idle => self.idle(&mut turn),
                Timer::Trimmed => self.enter_next(&mut turn),
                Timer::Finished(id) => self.finish(&mut turn, id),
            },
            Event::Done(_) => {} // it submits nothing
        }
    }

    fn submit(&mut self, turn: &mut Turn, id: RequestId) {
        let (kernel, place) = (&mut *turn.kernel, id.0 as usize);
        kernel.requests[id].device = if turn.here.layer == LayerId::Device { turn.here.index } else { NO_DEVICE };
        if place >= self.requests.len() {
            self.requests.resize(place + 1, Inside::default());
        }
        let (arrived_ns, now_ns) = (kernel.requests[id].charged_ns, kernel.now_ns());
        self.requests[place] = Inside { arrived_ns, collected_ns: self.collected.at(kernel.now_ns()), parts: 0, path: 0 };
        if self.is_open(now_ns) {
            self.enter(turn, id);
        } else {
            self.outside.push_back(id);
        }
    }

    fn enter(&mut self, turn: &mut Turn, id: RequestId) {
        if self.inside == 0 {
            self.busy_from_ns = turn.kernel.now_ns();
        }
        self.inside += 1;
        if let Some(cache) = &mut self.cache {
            cache.is_folding = false;
        }
        self.charge_wait(turn, id);
        let request = turn.kernel.requests[id];
        match request.op {
            _ if request.is_flush() => self.flush(turn, id),
            Op::Trim => self.trim(turn, id),
            Op::Read => self.read(turn, id),
            Op::Write if !self.is_buffered(&request) => self.receive(turn, id),
            Op::Write => {
                self.for_room.push_back(id);
                self.admit_writes(turn);
            }
        }
    }

    /// Whether a write is done when it is in the buffer.
    fn is_buffered(&self, request: &Request) -> bool {
        request.bytes.max(1) <= self.buffer_bytes && !self.writes_through(request)
    }

    /// Whether a write asks for durability that a volatile buffer cannot give.
    fn writes_through(&self, request: &Request) -> bool {
        self.buffer_is == Persistence::Volatile && request.durable == Durable::Itself
    }

    /// Charges a wait that no one die is to blame for: the dies' mean share of time in collection, the rest to the queue.
    fn charge_wait(&mut self, turn: &mut Turn, id: RequestId) {
        let (now_ns, inside) = (turn.kernel.now_ns(), &mut self.requests[id.0 as usize]);
        let collected_ns = self.collected.at(now_ns);
        let share_ns = collected_ns.wrapping_sub(inside.collected_ns) / self.dies.len() as u64;
        inside.collected_ns = collected_ns;
        let waited_ns = now_ns - turn.kernel.requests[id].charged_ns;
        turn.kernel.requests.charge_ns(id, Phase::Collect, share_ns.min(waited_ns));
        turn.kernel.charge(id, Phase::Queue);
    }

    /// Lines a read up at its dies. Returns whether it has to wait for any.
    fn read_flash(&mut self, turn: &mut Turn, id: RequestId) -> bool {
        let (parts, loose) = self.split(turn, id, false);
        if parts == 0 {
            self.deliver(turn, id, loose);
        } else if loose > 0 {
            self.occupy_interface(turn.kernel.now_ns(), loose, 0);
        }
        parts > 0
    }

    /// Lets writes into the buffer as long as there is room for the next in line.
    fn admit_writes(&mut self, turn: &mut Turn) {
        while let Some(id) = self.for_room.front().copied() {
            let bytes = turn.kernel.requests[id].bytes.max(1);
            if self.buffered_bytes + bytes > self.buffer_bytes {
                return;
            }
            self.for_room.pop_front();
            self.buffered_bytes += bytes;
            self.charge_wait(turn, id);
            let stall_ns = self.stalls.before_write_ns(self.inside);
            if stall_ns > 0 {
                self.interface_free_ns = self.interface_free_ns.max(turn.kernel.now_ns()) + stall_ns;
            }
            self.receive(turn, id);
        }
    }

    /// Takes a write's data over the interface.
    fn receive(&mut self, turn: &mut Turn, id: RequestId) {
        let arrived_ns = self.cross_interface(turn, id, turn.kernel.requests[id].bytes);
        turn.at(arrived_ns, Timer::DataArrived(id));
    }

    fn data_arrived(&mut self, turn: &mut Turn, id: RequestId) {
        let request = turn.kernel.requests[id];
        let buffered = self.is_buffered(&request);
        if buffered && self.buffer_is.is_volatile() {
            turn.kernel.hold(Holder::Device, request.bytes);
        }
        self.split(turn, id, buffered);
        if !buffered {
            return;
        }
        if request.durable == Durable::All {
            self.flush(turn, id);
        } else {
            self.finish(turn, id);
        }
        self.relieve(turn);
    }

    /// Gives the host the last bytes of a read.
    fn deliver(&mut self, turn: &mut Turn, id: RequestId, bytes: u64) {
        let done_ns = self.cross_interface(turn, id, bytes);
        turn.at(done_ns, Timer::Finished(id));
    }

    /// Occupies the interface for bytes that are ready at `now_ns`. Returns when it begins and ends.
    fn occupy_interface(&mut self, now_ns: u64, bytes: u64, command_ns: u64) -> (u64, u64) {
        let start_ns = self.interface_free_ns.max(now_ns);
        let move_ns = if bytes == self.page { self.interface_page_ns } else { transfer_ns(bytes, self.interface_rate) };
        self.interface_free_ns = start_ns + command_ns + move_ns;
        (start_ns, self.interface_free_ns)
    }

    /// Charges a request for a command and the bytes on the interface, and for the controller's overhead. Returns its end.
    fn cross_interface(&mut self, turn: &mut Turn, id: RequestId, bytes: u64) -> u64 {
        let op = turn.kernel.requests[id].op as usize;
        let (command_ns, overhead_ns) = (self.command_ns[op], self.overhead_ns[op]);
        let (start_ns, end_ns) = self.occupy_interface(turn.kernel.now_ns(), bytes, command_ns);
        let requests = &mut turn.kernel.requests;
        requests.charge_until(id, Phase::Queue, start_ns);
        requests.charge_ns(id, Phase::Overhead, command_ns);
        requests.charge_until(id, Phase::Transfer, end_ns);
        requests.charge_ns(id, Phase::Overhead, overhead_ns);
        end_ns + overhead_ns
    }

    fn finish(&mut self, turn: &mut Turn, id: RequestId) {
        let (request, now_ns) = (turn.kernel.requests[id], turn.kernel.now_ns());
        turn.kernel.complete(id);
        turn.usage.count(request.op, request.bytes, now_ns - self.requests[id.0 as usize].arrived_ns);
        self.inside -= 1;
        if self.inside == 0 {
            turn.usage.busy_ns += now_ns - self.busy_from_ns;
            self.becomes_idle(turn);
        }
        self.enter_next(turn);
    }

    /// Whether the drive takes another command.
    fn is_open(&self, now_ns: u64) -> bool {
        self.inside < self.depth && self.trims.closed_until_ns() <= now_ns
    }

    /// Lets commands in that wait outside.
    fn enter_next(&mut self, turn: &mut Turn) {
        while self.is_open(turn.kernel.now_ns())
            && let Some(next) = self.outside.pop_front()
        {
            self.enter(turn, next);
        }
    }
}

impl Recipe {
    fn build(&self) -> Ftl {
        Ftl::preconditioned(self.shape, self.collector, self.precondition, &mut self.stream.clone())
    }
}

/// The state that the handling of a signal may use.
struct Turn<'a> {
    kernel: &'a mut Kernel,
    here: Address,
    usage: &'a mut Usage,
}

impl Turn<'_> {
    fn at(&mut self, time_ns: u64, timer: Timer) {
        self.kernel.wake_at(time_ns, self.here, timer);
    }
}
