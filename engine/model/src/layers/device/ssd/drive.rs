//! The drive around the flash: commands, write buffer, interface, channels, and the dies with what they have to do.
//!
//! How a request proceeds:
//! 1. Up to `queue_depth` requests are inside; the rest wait outside in order.
//! 2. A read is split into parts, one for each die that it touches. A die reads up to `planes` pages of a part at once; the
//!    channel then moves them to the controller and the interface to the host, each in the order in which the pages come.
//! 3. A write waits for room in the write buffer, crosses the interface, and is done. Its pages then wait for their dies; each
//!    frees its room when it is programmed. A request larger than the buffer is done when its last page is programmed.
//! 4. A die that is free takes what the host reads first, but after [`READS_IN_A_ROW`] reads a write has its turn. At a write's
//!    turn collection goes first where it is due ([`super::ftl`]); a die without other work goes on with a collection begun.
//! 5. A page of which a write covers only a part is read before it is programmed.
//!
//! Every nanosecond is charged to a phase of the part that came last. Waiting for a die that collects is charged to garbage
//! collection, exactly. Waiting for room in the buffer, or to be let in, has no one die to blame: the share of the dies' time that
//! went into collection meanwhile is charged to it.
//!
//! Pages move inside their die during collection, so they do not load the channel. Left out: suspending a program or an erase
//! for a read, reads served from the write buffer, overwrites that meet in the buffer, flushes.

use std::collections::VecDeque;

use super::ftl::{Ftl, NONE, Shape, Step, Wear};
use crate::kernel::{Address, Event, Kernel, LayerId, NO_DEVICE, Phase, RequestId, Timer as _};
use crate::layers::device::{Usage, transfer_ns};
use crate::timers;
use seeklab_kernel::{Slab, Stream};
use seeklab_spec as spec;
use seeklab_spec::Op;
use seeklab_spec::{Collector, Precondition};

/// Batches of reads that a die does while writes wait. Assumed: drives keep such rules to themselves.
const READS_IN_A_ROW: u32 = 8;

timers! {
    enum Timer {
        /// A die has done what it was doing.
        DieDone(u32),
        /// The pages of a part are across their channel.
        PagesMoved(u32),
        /// All data of a write have arrived from the host.
        DataArrived(RequestId),
        /// A request is done.
        Finished(RequestId),
    }
}

/// The share of a request that one die has.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    request: u32,
    next: u32,
    /// Next logical page of the die.
    page: u32,
    /// Pages that the die has not begun.
    pages: u32,
    /// Pages that have not left the channel, of a read.
    to_move: u32,
    /// Bytes that the interface has not moved, of a read; room in the buffer, of a write.
    bytes: u64,
    /// Pages that must be read before they are written.
    to_read: u32,
    buffered: bool,
    /// The die's time in collection when the part came.
    collected_ns: u64,
    collect_ns: u64,
    read_ns: u64,
    program_ns: u64,
    channel_ns: u64,
}

/// A first-in first-out list of parts.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List { first: NONE, last: NONE };

/// Parts in the drive, and the lists that they stand in.
#[derive(Debug, Default)]
struct Parts(Slab<Part>);

impl Parts {
    fn insert(&mut self, part: Part) -> u32 {
        self.0.insert(part)
    }

    fn push(&mut self, list: &mut List, part: u32) {
        self.0[part].next = NONE;
        if list.last == NONE {
            list.first = part;
        } else {
            self.0[list.last].next = part;
        }
        list.last = part;
    }

    fn pop(&mut self, list: &mut List) -> Option<u32> {
        let first = list.first;
        if first == NONE {
            return None;
        }
        list.first = self.0[first].next;
        if list.first == NONE {
            list.last = NONE;
        }
        Some(first)
    }
}

/// What a die is doing.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Nothing,
    /// Reads pages of a part.
    Read {
        part: u32,
        pages: u32,
    },
    Program,
    Collect,
}

#[derive(Clone, Debug)]
struct Die {
    reads: List,
    writes: List,
    /// Parts whose last page is being programmed.
    programmed: List,
    doing: Doing,
    began_ns: u64,
    collected_ns: u64,
    reads_in_a_row: u32,
}

/// A request inside the drive or waiting for it.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    arrived_ns: u64,
    /// The dies' time in collection when the current wait began.
    collected_ns: u64,
    parts: u32,
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
    channel_page_ns: u64,
    interface_page_ns: u64,
    interface_rate: u64,
    read_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    command_ns: u64,
    overhead_ns: u64,
    depth: u32,
    buffer_bytes: u64,
    recipe: Recipe,
    /// Built at the first write: reads do not need to know where a page is on its die.
    ftl: Option<Box<Ftl>>,
    dies: Vec<Die>,
    channels_free_ns: Vec<u64>,
    interface_free_ns: u64,
    parts: Parts,
    /// By number of the request.
    requests: Vec<Inside>,
    inside: u32,
    busy_from_ns: u64,
    outside: VecDeque<RequestId>,
    /// Writes that wait for room in the buffer.
    for_room: VecDeque<RequestId>,
    buffered_bytes: u64,
    collected: Collected,
}

impl Drive {
    /// The drive that a scenario describes; `stream` draws its preconditioning.
    pub fn new(spec: &spec::Ssd, flash: &spec::Flash, shape: Shape, stream: Stream) -> Self {
        let die =
            Die { reads: EMPTY, writes: EMPTY, programmed: EMPTY, doing: Doing::Nothing, began_ns: 0, collected_ns: 0, reads_in_a_row: 0 };
        Self {
            page: spec.page.0,
            planes: flash.planes,
            channel_page_ns: transfer_ns(spec.page.0, flash.channel_rate.0),
            interface_page_ns: transfer_ns(spec.page.0, spec.interface_rate.0),
            interface_rate: spec.interface_rate.0,
            read_ns: spec.read.0,
            program_ns: spec.program.0,
            erase_ns: flash.erase.0,
            command_ns: flash.command.0,
            overhead_ns: spec.overhead.0,
            depth: spec.queue_depth,
            buffer_bytes: spec.write_buffer.0,
            recipe: Recipe { shape, collector: flash.collector, precondition: flash.precondition, stream },
            ftl: None,
            dies: vec![die; shape.dies],
            channels_free_ns: vec![0; flash.channels as usize],
            interface_free_ns: 0,
            parts: Parts::default(),
            requests: Vec::new(),
            inside: 0,
            busy_from_ns: 0,
            outside: VecDeque::new(),
            for_room: VecDeque::new(),
            buffered_bytes: 0,
            collected: Collected::default(),
        }
    }

    /// What the flash has been through.
    pub fn wear(&self) -> Wear {
        self.ftl.as_ref().map_or_else(Wear::default, |ftl| ftl.wear())
    }

    /// Bytes of memory held, or needed once something is written.
    pub fn memory_bytes(&self) -> u64 {
        let parts = self.parts.0.memory_bytes();
        let requests = self.requests.capacity() * size_of::<Inside>() + (self.outside.capacity() + self.for_room.capacity()) * 4;
        self.recipe.shape.memory_bytes() + parts + (requests + self.dies.len() * size_of::<Die>()) as u64
    }

    /// Handles an event of the drive.
    pub fn on(&mut self, kernel: &mut Kernel, here: Address, usage: &mut Usage, event: Event) {
        let mut turn = Turn { kernel, here, usage };
        match event {
            Event::Submit(id) => self.submit(&mut turn, id),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::DieDone(die) => self.die_done(&mut turn, die as usize),
                Timer::PagesMoved(part) => self.pages_moved(&mut turn, part),
                Timer::DataArrived(id) => self.data_arrived(&mut turn, id),
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
        let arrived_ns = kernel.requests[id].charged_ns;
        self.requests[place] = Inside { arrived_ns, collected_ns: self.collected.at(kernel.now_ns()), parts: 0 };
        if self.inside < self.depth {
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
        self.charge_wait(turn, id);
        let request = turn.kernel.requests[id];
        match request.op {
            _ if request.is_flush() => {
                // The buffer is protected: what is in it is as safe as flash.
                turn.kernel.requests.charge_ns(id, Phase::Overhead, self.overhead_ns);
                turn.at(turn.kernel.requests[id].charged_ns, Timer::Finished(id));
            }
            Op::Read => self.read(turn, id),
            Op::Write if !self.is_buffered(request.bytes) => self.receive(turn, id),
            Op::Write => {
                self.for_room.push_back(id);
                self.admit_writes(turn);
            }
        }
    }

    /// Whether a write of this size goes through the buffer.
    fn is_buffered(&self, bytes: u64) -> bool {
        bytes.max(1) <= self.buffer_bytes
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

    /// Splits a request into parts. Returns how many, and the bytes that no die has to deliver.
    fn split(&mut self, turn: &mut Turn, id: RequestId, buffered: bool) -> (u32, u64) {
        let request = turn.kernel.requests[id];
        let (shape, unmapped_exist) = (self.recipe.shape, self.recipe.precondition == Precondition::None);
        let end = request.place + request.bytes.max(1);
        let (first, last) = (request.place / self.page, (end - 1) / self.page);
        let (head, tail) = (request.place % self.page, (last + 1) * self.page - end);
        let dies = shape.dies as u64;
        let (mut parts, mut loose) = (0, 0);
        for page in first..=last.min(first + dies - 1) {
            let (die, local) = ((page % dies) as usize, (page / dies % u64::from(shape.logical)) as u32);
            let mut pages = ((last - page) / dies + 1) as u32;
            let (has_head, has_tail) = (page == first, (last - page).is_multiple_of(dies));
            let mut bytes = u64::from(pages) * self.page;
            bytes -= if has_head { head } else { 0 } + if has_tail { tail } else { 0 };
            let mut to_read = 0;
            let mapped = |at: u32| self.ftl.as_ref().map_or(!unmapped_exist, |ftl| ftl.is_mapped(die, at % shape.logical));
            if request.op == Op::Read {
                if unmapped_exist {
                    pages = (local..local + pages).filter(|at| mapped(*at)).count() as u32;
                }
                if pages == 0 {
                    loose += bytes;
                    continue;
                }
            } else {
                let whole = pages == 1 && has_head && has_tail;
                let partial_head = has_head && head > 0 || whole && tail > 0;
                let partial_tail = has_tail && tail > 0 && !whole;
                to_read = u32::from(partial_head && mapped(local)) + u32::from(partial_tail && mapped(local + pages - 1));
            }
            let part = self.parts.insert(Part {
                request: id.0,
                page: local,
                pages,
                to_move: pages,
                bytes,
                to_read,
                buffered,
                collected_ns: self.dies[die].collected_ns(turn.kernel.now_ns()),
                ..Part::default()
            });
            parts += 1;
            let die = &mut self.dies[die];
            self.parts.push(if request.op == Op::Read { &mut die.reads } else { &mut die.writes }, part);
        }
        self.requests[id.0 as usize].parts = parts;
        for page in first..=last.min(first + dies - 1) {
            self.work(turn, (page % dies) as usize);
        }
        (parts, loose)
    }

    fn read(&mut self, turn: &mut Turn, id: RequestId) {
        let (parts, loose) = self.split(turn, id, false);
        if parts == 0 {
            return self.deliver(turn, id, loose);
        }
        if loose > 0 {
            self.occupy_interface(turn.kernel.now_ns(), loose, 0);
        }
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
            self.receive(turn, id);
        }
    }

    /// Takes a write's data over the interface.
    fn receive(&mut self, turn: &mut Turn, id: RequestId) {
        let arrived_ns = self.cross_interface(turn, id, turn.kernel.requests[id].bytes);
        turn.at(arrived_ns, Timer::DataArrived(id));
    }

    fn data_arrived(&mut self, turn: &mut Turn, id: RequestId) {
        let buffered = self.is_buffered(turn.kernel.requests[id].bytes);
        self.split(turn, id, buffered);
        if buffered {
            self.finish(turn, id);
        }
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
        let (start_ns, end_ns) = self.occupy_interface(turn.kernel.now_ns(), bytes, self.command_ns);
        let requests = &mut turn.kernel.requests;
        requests.charge_until(id, Phase::Queue, start_ns);
        requests.charge_ns(id, Phase::Overhead, self.command_ns);
        requests.charge_until(id, Phase::Transfer, end_ns);
        requests.charge_ns(id, Phase::Overhead, self.overhead_ns);
        end_ns + self.overhead_ns
    }

    fn finish(&mut self, turn: &mut Turn, id: RequestId) {
        let (request, now_ns) = (turn.kernel.requests[id], turn.kernel.now_ns());
        turn.kernel.complete(id);
        turn.usage.count(request.op, request.bytes, now_ns - self.requests[id.0 as usize].arrived_ns);
        self.inside -= 1;
        if self.inside == 0 {
            turn.usage.busy_ns += now_ns - self.busy_from_ns;
        }
        if let Some(next) = self.outside.pop_front() {
            self.enter(turn, next);
        }
    }

    /// Gives a die its next work, if it is free and has any.
    fn work(&mut self, turn: &mut Turn, number: usize) {
        let die = &self.dies[number];
        if !matches!(die.doing, Doing::Nothing) {
            return;
        }
        let (reads, writes) = (die.reads.first != NONE, die.writes.first != NONE);
        let done_ns = if reads && (!writes || die.reads_in_a_row < READS_IN_A_ROW) {
            Some(self.begin_read(turn, number))
        } else if writes {
            self.begin_write(turn, number)
        } else {
            self.begin_collect(turn, number)
        };
        if let Some(done_ns) = done_ns {
            turn.at(done_ns, Timer::DieDone(number as u32));
        }
    }

    fn begin_read(&mut self, turn: &mut Turn, number: usize) -> u64 {
        let die = &mut self.dies[number];
        let part = die.reads.first;
        let slot = &mut self.parts.0[part];
        let pages = slot.pages.min(self.planes);
        slot.pages -= pages;
        slot.read_ns += self.read_ns;
        slot.collect_ns = die.collected_ns - slot.collected_ns;
        if slot.pages == 0 {
            self.parts.pop(&mut die.reads);
        }
        die.reads_in_a_row = if die.writes.first == NONE { 0 } else { die.reads_in_a_row + 1 };
        die.doing = Doing::Read { part, pages };
        turn.kernel.now_ns() + self.read_ns
    }

    fn begin_write(&mut self, turn: &mut Turn, number: usize) -> Option<u64> {
        self.dies[number].reads_in_a_row = 0;
        let ftl = self.ftl.get_or_insert_with(|| Box::new(self.recipe.build()));
        if ftl.is_due(number) {
            return self.begin_collect(turn, number);
        }
        let (mut programmed, mut to_read) = (0, 0);
        let die = &mut self.dies[number];
        while die.writes.first != NONE && programmed < self.planes {
            let part = die.writes.first;
            let slot = &mut self.parts.0[part];
            let before = programmed;
            while slot.pages > 0 && programmed < self.planes && ftl.write(number, slot.page % self.recipe.shape.logical) {
                slot.page += 1;
                slot.pages -= 1;
                programmed += 1;
            }
            if programmed == before {
                break;
            }
            slot.collect_ns = die.collected_ns - slot.collected_ns;
            slot.read_ns += u64::from(slot.to_read) * self.read_ns;
            slot.channel_ns += u64::from(programmed - before) * self.channel_page_ns;
            slot.program_ns += self.program_ns;
            to_read += std::mem::take(&mut slot.to_read);
            if slot.pages == 0 {
                self.parts.pop(&mut die.writes);
                self.parts.push(&mut die.programmed, part);
            }
        }
        if programmed == 0 {
            return None;
        }
        let channels = self.channels_free_ns.len();
        let channel = &mut self.channels_free_ns[number % channels];
        *channel = turn.kernel.now_ns().max(*channel) + u64::from(programmed) * self.channel_page_ns;
        let end_ns = *channel + u64::from(to_read) * self.read_ns + self.program_ns;
        die.doing = Doing::Program;
        Some(end_ns)
    }

    fn begin_collect(&mut self, turn: &mut Turn, number: usize) -> Option<u64> {
        self.dies[number].reads_in_a_row = 0;
        let busy_ns = match self.ftl.as_mut()?.collect(number, self.planes) {
            Step::Nothing => return None,
            Step::Moved(pages) => u64::from(pages) * self.read_ns + self.program_ns,
            Step::Erased => self.erase_ns,
        };
        let now_ns = turn.kernel.now_ns();
        let die = &mut self.dies[number];
        die.doing = Doing::Collect;
        die.began_ns = now_ns;
        self.collected.dies += 1;
        self.collected.began_ns = self.collected.began_ns.wrapping_add(now_ns);
        Some(now_ns + busy_ns)
    }

    fn die_done(&mut self, turn: &mut Turn, number: usize) {
        let now_ns = turn.kernel.now_ns();
        let die = &mut self.dies[number];
        match std::mem::replace(&mut die.doing, Doing::Nothing) {
            Doing::Nothing => {}
            Doing::Read { part, pages } => {
                let channels = self.channels_free_ns.len();
                let channel = &mut self.channels_free_ns[number % channels];
                let move_ns = u64::from(pages) * self.channel_page_ns;
                *channel = now_ns.max(*channel) + move_ns;
                self.parts.0[part].channel_ns = move_ns;
                turn.at(*channel, Timer::PagesMoved(part));
            }
            Doing::Program => self.programmed(turn, number),
            Doing::Collect => {
                die.collected_ns += now_ns - die.began_ns;
                self.collected.ended_ns = self.collected.ended_ns.wrapping_add(now_ns - die.began_ns);
                self.collected.dies -= 1;
                self.collected.began_ns = self.collected.began_ns.wrapping_sub(die.began_ns);
            }
        }
        self.work(turn, number);
    }

    fn pages_moved(&mut self, turn: &mut Turn, place: u32) {
        let slot = &mut self.parts.0[place];
        let pages = slot.to_move.min(self.planes);
        slot.to_move -= pages;
        let bytes = if slot.to_move == 0 { slot.bytes } else { slot.bytes.min(u64::from(pages) * self.page) };
        slot.bytes -= bytes;
        let part = *slot;
        let mut is_last = false;
        if part.to_move == 0 {
            self.parts.0.release(place);
            let inside = &mut self.requests[part.request as usize];
            inside.parts -= 1;
            is_last = inside.parts == 0;
        }
        if is_last {
            charge_part(turn, &part);
            self.deliver(turn, RequestId(part.request), bytes);
        } else {
            self.occupy_interface(turn.kernel.now_ns(), bytes, 0);
        }
    }

    fn programmed(&mut self, turn: &mut Turn, number: usize) {
        let mut list = std::mem::replace(&mut self.dies[number].programmed, EMPTY);
        while let Some(place) = self.parts.pop(&mut list) {
            let part = self.parts.0[place];
            self.parts.0.release(place);
            if part.buffered {
                self.buffered_bytes -= part.bytes;
                continue;
            }
            let inside = &mut self.requests[part.request as usize];
            inside.parts -= 1;
            if inside.parts == 0 {
                charge_part(turn, &part);
                self.finish(turn, RequestId(part.request));
            }
        }
        self.admit_writes(turn);
    }
}

impl Recipe {
    fn build(&self) -> Ftl {
        Ftl::preconditioned(self.shape, self.collector, self.precondition, &mut self.stream.clone())
    }
}

impl Die {
    /// Time in collection up to `now_ns`.
    fn collected_ns(&self, now_ns: u64) -> u64 {
        self.collected_ns + if matches!(self.doing, Doing::Collect) { now_ns - self.began_ns } else { 0 }
    }
}

/// Charges a request from its arrival at the dies until now, as its last part spent the time.
fn charge_part(turn: &mut Turn, part: &Part) {
    let id = RequestId(part.request);
    let phases = [
        (Phase::Collect, part.collect_ns),
        (Phase::FlashRead, part.read_ns),
        (Phase::FlashProgram, part.program_ns),
        (Phase::Transfer, part.channel_ns),
    ];
    let all_ns = turn.kernel.now_ns() - turn.kernel.requests[id].charged_ns;
    let known_ns: u64 = phases.iter().map(|(_, ns)| ns).sum();
    debug_assert!(known_ns <= all_ns, "{part:?} spent more than {all_ns} ns");
    for (phase, ns) in phases {
        turn.kernel.requests.charge_ns(id, phase, ns);
    }
    turn.kernel.charge(id, Phase::Queue);
}

/// What a signal's handling may use.
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
