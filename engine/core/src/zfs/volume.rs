//! The ZFS layer: writes into memory through the throttle, groups out of memory through the scheduler, reads beside them.
//!
//! The life of a write:
//! 1. Its data arrive, in turn with those of all writers when the ingest rate is limited.
//! 2. Its transaction begins. Blocks that it changes only in part are read first, unless they are in memory.
//! 3. The throttle lets it in, makes it sleep (inside the open group in 2008, outside any group since 2013), or stops it.
//! 4. It holds the open group while its data are copied. Its blocks become dirty. It is acknowledged, a synchronous one after its
//!    commit to the intent log.
//!
//! The life of a group: it closes (by time, by dirty data, or because writers wait), is held until its last write has copied,
//! and syncs. The first pass writes its blocks in the order of their offsets; further passes write metadata. Dirty data are
//! released as the version says. The blocks of a group are queued as the devices take them, not all at once: a scheduler that
//! sends writes in order of offset cannot tell the difference.
//!
//! A read that is not in memory (dirty, or in the read cache) reads whole records. Reads and group writes share the scheduler of
//! each leaf device; there is one for each device, or a single one above layers that hide their devices.
//!
//! Left out: compression and deduplication; free space (with copy on write a cursor runs round the address
//! space, while reads go to the place of their offset); the time that reads and writes of metadata take when they are not
//! cached; prefetching.

mod commit;

use std::collections::VecDeque;

use super::dirty::{Dirty, Release};
use super::era::Scheduling;
use super::intent_log::{Commit, Datasets, IntentLog, LogSpec, Logged, Rules};
use super::record::{HeldUp, Level, Record};
use super::scheduler::active::{ActiveQueue, Ramp};
use super::scheduler::deadline::DeadlineQueue;
use super::scheduler::{Class, Io, Issue};
use super::slog::Slog;
use super::spec::{Placement, Start, ZfsSpec};
use super::throttle::asked::{DrainRate, Question};
use super::throttle::{Admission, Attempt, Pool, SyncReport, Throttle, mul_div};
use super::txg::{Groups, Step};
use crate::cache::{Cursor, NONE, PolicyKind};
use crate::device::transfer_ns;
use crate::kernel::{Address, Durable, Kernel, Layer, NS_PER_S, Op, Phase, Request, RequestId, Signal};
use crate::layout::{Layout, Piece};
use crate::volume::blocks::Blocks;

const HERE: Address = Address::of(Layer::Volume);
/// The timer of the sync thread; every other timer bears the number of a request.
const SYNC_TIMER: u32 = u32::MAX;
/// From here on, and below [`SYNC_TIMER`], the timers of the commits' flushes; requests in flight are far fewer.
const FLUSH_TIMERS: u32 = 1 << 31;
/// Length of a metadata write.
const METADATA_BYTES: u64 = 128 << 10;
/// Group writes that are kept queued for each leaf beyond those in flight, so that the scheduler always has a choice.
const AHEAD: usize = 64;

/// What lies below the file system.
pub enum Below {
    /// A layer that hides its devices: one scheduler for all of it.
    Layer(Address),
    /// So many devices, over which this layout spreads addresses: a scheduler for each.
    Devices(Layout, u16),
}

/// What a request of ours waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Nothing,
    /// Its data arrive.
    Arriving,
    /// Blocks are read.
    Reading,
    /// It sleeps in its group.
    AsleepInGroup,
    /// It sleeps outside.
    Asleep,
    /// It is stopped.
    Stopped,
    /// The host is asked about it.
    Asking,
    /// Its data are copied.
    Copying,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    stage: Stage,
    /// When the timer that it waits for is due; an earlier wake-up makes that timer void.
    due_ns: u64,
    attempt: Attempt,
    group: u64,
    held: HeldUp,
}

/// What a request below us is for; several may travel as one.
#[derive(Debug, Default)]
struct Work {
    kind: Kind,
    /// Requests below that have not completed.
    pending: u32,
    /// Blocks of a group, or the number of the block that is read, or of the commit.
    blocks: u64,
    /// Released for each of the blocks by each request below.
    each_bytes: u64,
    waiters: Vec<RequestId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Data,
    Metadata,
    Read,
    /// A commit of the intent log.
    Log,
}

/// A request below us.
#[derive(Debug)]
struct Flight {
    leaf: usize,
    class: Class,
    works: Vec<u32>,
}

enum Scheduler {
    Active(Box<ActiveQueue>),
    Deadline(DeadlineQueue),
}

struct Leaf {
    scheduler: Scheduler,
    address: Address,
    /// Group writes in its queue.
    queued_writes: usize,
}

/// The group that is being written.
#[derive(Default)]
struct Sync {
    group: u64,
    started_ns: u64,
    data_bytes: u64,
    pass: u32,
    /// Words of its dirty blocks in order, and how far they have been queued.
    words: Vec<(u64, u64)>,
    next_word: usize,
    /// Metadata that the present pass has not queued, and that later passes will.
    metadata_now: u64,
    metadata_later: u64,
    /// Writes queued or in flight.
    pending: u64,
}

/// The ZFS layer.
pub struct ZfsVolume {
    record_bytes: u64,
    capacity: u64,
    copies: u64,
    overhead_ns: u64,
    copy_rate: u64,
    ingest_rate: Option<u64>,
    ingest_free_ns: u64,
    files_exist: bool,
    release: Release,
    sync_passes: u32,
    metadata_bytes: u64,
    metadata_percent: u64,
    placement: Placement,
    start: Start,
    trigger_bytes: Option<u64>,
    chunk_blocks: u64,
    throttle: Box<dyn Throttle>,
    ramp: Ramp,
    groups: Groups,
    dirty: Dirty,
    /// The intent log of each file system, and by worker which one is its.
    logs: Vec<IntentLog>,
    datasets: Vec<usize>,
    log_rules: Rules,
    slog: Slog,
    /// Devices that hold the same block of the log.
    log_sides: usize,
    commits: Vec<Commit>,
    free_commits: Vec<u32>,
    sync: Sync,
    cursor: u64,
    layout: Option<Layout>,
    /// Those of the pool, then the log devices.
    leaves: Vec<Leaf>,
    pool_leaves: usize,
    /// Leaves with fewer than [`AHEAD`] group writes in their queues, and such writes in all of them.
    short_leaves: usize,
    queued_writes: usize,
    /// Leaves that have been given something, and the ramp's value when all of them were last asked.
    touched: Vec<usize>,
    pumped_at: u32,
    cache: Option<Blocks>,
    states: Vec<State>,
    sleeping: VecDeque<RequestId>,
    for_space: VecDeque<RequestId>,
    for_group: Vec<RequestId>,
    /// Writes that the host has not answered for.
    asking: VecDeque<RequestId>,
    asleep: u32,
    drain: DrainRate,
    last_sync: Option<SyncReport>,
    woken: Vec<RequestId>,
    works: Vec<Work>,
    free_works: Vec<u32>,
    flights: Vec<Flight>,
    free_flights: Vec<u32>,
    members: Vec<Io>,
    pieces: Vec<Piece>,
    writes_in_flight: u32,
    bytes_in_flight: u64,
    timer_ns: u64,
    advancing: bool,
    /// What the run leaves.
    pub record: Record,
}

impl ZfsVolume {
    /// The layer that `spec` describes, above `below`, over an address space of `capacity` bytes; its series has rows of
    /// `interval_ns`.
    #[must_use]
    pub fn new(spec: &ZfsSpec, below: Below, capacity: u64, interval_ns: u64) -> Self {
        let resolved = spec.resolve();
        let constants = resolved.constants;
        let (layout, addresses) = match below {
            Below::Layer(address) => (None, vec![address]),
            Below::Devices(layout, count) => (Some(layout), (0..count).map(|index| Address { layer: Layer::Device, index }).collect()),
        };
        let scheduler = || match constants.scheduling {
            Scheduling::Active(settings) => Scheduler::Active(Box::new(ActiveQueue::new(settings))),
            Scheduling::Deadline(settings) => Scheduler::Deadline(DeadlineQueue::new(settings)),
        };
        let span_bytes = match constants.scheduling {
            Scheduling::Active(settings) => settings.aggregation.span_bytes,
            Scheduling::Deadline(settings) => settings.aggregation.span_bytes,
        };
        let record_bytes = spec.record.0.max(1);
        let leaves = addresses.len();
        let log_devices = spec.log.devices.as_ref().map_or(0, |group| u16::try_from(group.count).unwrap_or(u16::MAX)); // at most 1,024
        let mut record = Record::new(interval_ns);
        record.opened(1, 0);
        Self {
            record_bytes,
            capacity,
            copies: u64::from(spec.copies.max(1)),
            overhead_ns: spec.overhead.0,
            copy_rate: spec.copy_rate.0,
            ingest_rate: spec.ingest.map(|rate| rate.0),
            ingest_free_ns: 0,
            files_exist: spec.files_exist,
            release: constants.release,
            sync_passes: constants.sync_passes,
            metadata_bytes: spec.metadata.0,
            metadata_percent: u64::from(spec.metadata_percent),
            placement: spec.placement,
            start: spec.start,
            trigger_bytes: constants.dirty_trigger.threshold_bytes(constants.dirty_max_bytes),
            chunk_blocks: (span_bytes / record_bytes).max(1),
            throttle: resolved.throttle,
            ramp: resolved.ramp,
            groups: Groups::new(constants.txg_timeout_ns),
            dirty: Dirty::new(record_bytes),
            logs: vec![IntentLog::default()],
            datasets: Vec::new(),
            log_rules: Rules::new(&spec.log, spec.era),
            slog: Slog::new(0, 0),
            log_sides: spec.log.mirror.max(1) as usize,
            commits: Vec::new(),
            free_commits: Vec::new(),
            sync: Sync::default(),
            cursor: 0,
            layout,
            leaves: addresses
                .into_iter()
                .chain((0..log_devices).map(|index| Address { layer: Layer::WriteLog, index }))
                .map(|address| Leaf { scheduler: scheduler(), address, queued_writes: 0 })
                .collect(),
            pool_leaves: leaves,
            short_leaves: leaves,
            queued_writes: 0,
            touched: Vec::new(),
            pumped_at: 0,
            cache: (spec.cache.0 >= record_bytes).then(|| Blocks::new(PolicyKind::Lru, spec.cache.0 / record_bytes)),
            states: Vec::new(),
            sleeping: VecDeque::new(),
            for_space: VecDeque::new(),
            for_group: Vec::new(),
            asking: VecDeque::new(),
            asleep: 0,
            drain: DrainRate::default(),
            last_sync: None,
            woken: Vec::new(),
            works: Vec::new(),
            free_works: Vec::new(),
            flights: Vec::new(),
            free_flights: Vec::new(),
            members: Vec::new(),
            pieces: Vec::new(),
            writes_in_flight: 0,
            bytes_in_flight: 0,
            timer_ns: u64::MAX,
            advancing: false,
            record,
        }
    }

    /// The same with log devices of `log_bytes` each, and the jobs of the workers in order of their numbers.
    #[must_use]
    pub fn with_logs(mut self, spec: &LogSpec, log_bytes: u64, jobs: &[usize]) -> Self {
        let devices = spec.devices.as_ref().map_or(0, |group| group.count);
        self.slog = Slog::new(devices / spec.mirror.max(1), log_bytes);
        if spec.datasets == Datasets::Job {
            self.datasets = jobs.to_vec();
            self.logs.resize_with(jobs.iter().max().map_or(1, |last| last + 1), IntentLog::default);
        }
        self
    }

    /// Puts into memory what is there at the start of the run.
    pub fn start(&mut self, kernel: &mut Kernel) {
        if self.start == Start::Full {
            let bytes = self.throttle.limit_bytes().unwrap_or(0).min(self.capacity);
            for group in 1..=2 {
                let dirtied = self.dirty.charge(group, 0, bytes / self.record_bytes);
                self.throttle.committed(group, 0, dirtied);
                self.record.counts.dirtied_bytes += dirtied;
                self.groups.want_open(group + 1);
                self.advance(kernel);
            }
        }
        self.note(kernel.now_ns);
    }

    /// Handles a signal to this layer.
    pub fn handle(&mut self, kernel: &mut Kernel, signal: Signal, id: u32) {
        match signal {
            Signal::Submit => self.submit(kernel, RequestId(id)),
            Signal::Done => self.done(kernel, RequestId(id)),
            Signal::Timer if id == SYNC_TIMER => {
                if kernel.now_ns >= self.timer_ns {
                    self.timer_ns = u64::MAX;
                }
                self.advance(kernel);
            }
            Signal::Timer if id >= FLUSH_TIMERS => self.logged(kernel, id - FLUSH_TIMERS),
            Signal::Timer => self.timer(kernel, RequestId(id)),
        }
    }

    /// Dirty bytes in memory.
    #[must_use]
    pub fn dirty(&self) -> &Dirty {
        &self.dirty
    }

    /// The transaction groups.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Bytes of memory that grow with the run.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let requests = self.states.capacity() * size_of::<State>();
        let below = self.works.capacity() * size_of::<Work>() + self.flights.capacity() * size_of::<Flight>();
        let order = self.sync.words.capacity() * size_of::<(u64, u64)>();
        self.dirty.memory_bytes() + self.record.memory_bytes() + (requests + below + order) as u64
    }

    fn state(&mut self, id: RequestId) -> &mut State {
        let place = id.0 as usize;
        if place >= self.states.len() {
            self.states.resize(place + 1, State::default());
        }
        &mut self.states[place]
    }

    /// The blocks that a range touches.
    fn blocks(&self, request: &Request) -> (u64, u64) {
        (request.offset / self.record_bytes, request.offset.saturating_add(request.bytes).div_ceil(self.record_bytes))
    }

    fn sleep(&mut self, kernel: &mut Kernel, id: RequestId, stage: Stage, due_ns: u64) {
        let sleeper = self.state(id);
        (sleeper.stage, sleeper.due_ns) = (stage, due_ns);
        kernel.at(due_ns, HERE, Signal::Timer, id.0);
    }

    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        *self.state(id) = State::default();
        let request = kernel.requests[id];
        if request.op == Op::Read {
            return self.read(kernel, id);
        }
        let Some(rate) = self.ingest_rate else { return self.begin(kernel, id) };
        self.ingest_free_ns = self.ingest_free_ns.max(kernel.now_ns).saturating_add(transfer_ns(request.bytes, rate));
        self.sleep(kernel, id, Stage::Arriving, self.ingest_free_ns);
    }

    fn timer(&mut self, kernel: &mut Kernel, id: RequestId) {
        let state = *self.state(id);
        if state.due_ns != kernel.now_ns {
            return;
        }
        match state.stage {
            Stage::Arriving => {
                kernel.charge(id, Phase::Memory);
                self.begin(kernel, id);
            }
            Stage::AsleepInGroup => {
                if self.sleeping.front() == Some(&id) {
                    self.sleeping.pop_front(); // all sleep equally long
                } else {
                    self.sleeping.retain(|other| *other != id);
                }
                self.wake_in_group(kernel, id);
            }
            Stage::Asleep => {
                self.asleep -= 1;
                self.charge_delay(kernel, id);
                self.state(id).attempt.waited = true;
                self.ask(kernel, id);
            }
            Stage::Copying => self.copied(kernel, id),
            Stage::Nothing | Stage::Reading | Stage::Stopped | Stage::Asking => {}
        }
    }

    // Writes.

    /// A write's transaction begins: blocks that it changes in part are read first.
    fn begin(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let (first, end) = self.blocks(&request);
        let bytes = (end - first).saturating_mul(self.record_bytes);
        self.state(id).attempt = Attempt { started_ns: kernel.now_ns, bytes, waited: false };
        if self.files_exist && bytes > request.bytes {
            let starts_within = !request.offset.is_multiple_of(self.record_bytes);
            let ends_within = !(request.offset + request.bytes).is_multiple_of(self.record_bytes);
            self.state(id).stage = Stage::Reading;
            kernel.requests[id].pending = 0;
            if starts_within {
                self.need(kernel, id, first);
            }
            if ends_within && (end - first > 1 || !starts_within) {
                self.need(kernel, id, end - 1);
            }
            self.record.counts.blocks_read_for_write += u64::from(kernel.requests[id].pending);
            if kernel.requests[id].pending > 0 {
                return;
            }
        }
        self.ask(kernel, id);
    }

    fn pool(&self, now_ns: u64) -> Pool {
        Pool {
            now_ns,
            dirty_bytes: self.dirty.total_bytes(),
            group: self.groups.open(),
            opened_ns: self.groups.opened_ns(),
            pipeline_full: self.groups.pipeline_full(),
        }
    }

    /// A write asks the throttle to let it in.
    fn ask(&mut self, kernel: &mut Kernel, id: RequestId) {
        let attempt = self.state(id).attempt;
        match self.throttle.admit(&self.pool(kernel.now_ns), &attempt) {
            Admission::Enter => self.enter(kernel, id),
            Admission::EnterThenSleepUntil(ns) => {
                let group = self.groups.hold();
                self.record.sleeps(group, kernel.now_ns);
                let state = self.state(id);
                state.group = group;
                state.held.delayed = true;
                self.sleeping.push_back(id);
                self.sleep(kernel, id, Stage::AsleepInGroup, ns);
            }
            Admission::SleepUntil(ns) => self.sleep_outside(kernel, id, ns),
            Admission::AskHost => {
                self.state(id).stage = Stage::Asking;
                self.asking.push_back(id);
            }
            Admission::WaitForSpace => {
                self.state(id).stage = Stage::Stopped;
                self.for_space.push_back(id);
            }
            Admission::WaitForNextGroup => {
                self.state(id).stage = Stage::Stopped;
                self.for_group.push(id);
                self.record.stops(self.groups.open(), kernel.now_ns);
                self.groups.want_open(self.groups.open() + 1);
                self.advance(kernel);
            }
        }
    }

    fn sleep_outside(&mut self, kernel: &mut Kernel, id: RequestId, until_ns: u64) {
        let state = self.state(id);
        state.attempt.waited = true;
        if until_ns <= kernel.now_ns {
            return self.enter(kernel, id);
        }
        state.held.delayed = true;
        self.asleep += 1;
        self.record.sleeps(self.groups.open(), kernel.now_ns);
        self.sleep(kernel, id, Stage::Asleep, until_ns);
    }

    /// Whether the host must answer before time goes on.
    #[must_use]
    pub fn asks(&self) -> bool {
        !self.asking.is_empty()
    }

    /// What the host must answer first.
    pub fn question(&mut self, now_ns: u64) -> Option<Question> {
        let attempt = self.states[self.asking.front()?.0 as usize].attempt;
        let group = self.groups.open();
        Some(Question {
            dirty_bytes: self.dirty.total_bytes(),
            limit_bytes: self.throttle.limit_bytes().unwrap_or(0),
            now_ns,
            waited_ns: now_ns - attempt.started_ns,
            bytes: attempt.bytes,
            drained_bytes: self.drain.total_bytes,
            drain_bytes_per_s: self.drain.per_s(now_ns),
            sync_bytes_per_s: self.last_sync.map_or(0, |sync| mul_div(sync.bytes, NS_PER_S, sync.duration_ns())),
            in_flight: self.writes_in_flight,
            in_flight_bytes: self.bytes_in_flight,
            group_bytes: self.dirty.charged_bytes(group),
            group_age_ns: now_ns - self.groups.opened_ns(),
            asleep: self.asleep,
        })
    }

    /// Takes the host's answer: the write sleeps so long, then enters. Nothing happens when nothing was asked.
    pub fn answer(&mut self, kernel: &mut Kernel, delay_ns: u64) {
        if let Some(id) = self.asking.pop_front() {
            self.sleep_outside(kernel, id, kernel.now_ns.saturating_add(delay_ns));
        }
    }

    fn charge_delay(&mut self, kernel: &mut Kernel, id: RequestId) {
        let ns = kernel.now_ns - kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Delay);
        self.state(id).held.delay_ns += ns;
    }

    /// A stopped write goes on; it asks again.
    fn go_on(&mut self, kernel: &mut Kernel, id: RequestId) {
        let ns = kernel.now_ns - kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Blocked);
        let held = &mut self.state(id).held;
        held.blocked_ns += ns;
        held.blocked |= ns > 0; // a write that only moves on to a group that opens at once was not stopped
        self.ask(kernel, id);
    }

    fn wake_in_group(&mut self, kernel: &mut Kernel, id: RequestId) {
        self.charge_delay(kernel, id);
        self.copy(kernel, id);
    }

    /// A write enters the open group.
    fn enter(&mut self, kernel: &mut Kernel, id: RequestId) {
        let group = self.groups.hold();
        self.state(id).group = group;
        self.copy(kernel, id);
    }

    /// Copies a request's data into or out of memory.
    fn copy(&mut self, kernel: &mut Kernel, id: RequestId) {
        let copy_ns = transfer_ns(kernel.requests[id].bytes, self.copy_rate);
        self.sleep(kernel, id, Stage::Copying, kernel.now_ns.saturating_add(self.overhead_ns).saturating_add(copy_ns));
    }

    fn copied(&mut self, kernel: &mut Kernel, id: RequestId) {
        kernel.charge(id, Phase::Memory);
        let request = kernel.requests[id];
        let state = std::mem::take(self.state(id));
        if !request.durable.waits() {
            kernel.complete(id);
        }
        if request.op == Op::Read {
            return;
        }
        let (first, end) = self.blocks(&request);
        let dirtied = self.dirty.charge(state.group, first, end);
        self.record.counts.dirtied_bytes += dirtied;
        self.remember(first, end);
        self.throttle.committed(state.group, state.attempt.bytes, dirtied);
        self.record.entered(state.group, state.held);
        self.groups.release(state.group);
        self.dirty_changed(kernel);
        if request.durable == Durable::Later {
            let (group, syncing) = (self.sync.group, self.groups.syncing());
            let write = Logged { group: state.group, first, end, bytes: request.bytes };
            let dataset = self.dataset(request.worker);
            self.logs[dataset].later(request.worker, write, |other| other < group || (other == group && syncing != Some(group)));
        }
        if request.durable.waits() {
            self.state(id).group = state.group;
            let dataset = self.dataset(request.worker);
            self.logs[dataset].join(id);
            self.commit(kernel, dataset);
        }
        self.advance(kernel);
    }

    /// The blocks stay in the read cache.
    fn remember(&mut self, first: u64, end: u64) {
        let Some(cache) = &mut self.cache else { return };
        for block in first..end {
            match cache.find(block) {
                Some(place) if cache.mark(place).fetch == NONE => cache.touch(place),
                Some(_) => {}
                None => cache.add(block, NONE, NONE),
            }
        }
    }

    /// Dirty data have grown or shrunk: the series notes it, and one waiter may go on.
    fn dirty_changed(&mut self, kernel: &mut Kernel) {
        self.record.counts.largest_step_bytes = self.dirty.largest_step_bytes;
        let drained_bytes = self.record.counts.dirtied_bytes.saturating_sub(self.dirty.total_bytes());
        self.drain.drained(kernel.now_ns, drained_bytes);
        self.note(kernel.now_ns);
        if !self.for_space.is_empty()
            && self.throttle.wakes_waiter(self.dirty.total_bytes())
            && let Some(id) = self.for_space.pop_front()
        {
            self.go_on(kernel, id);
        }
    }

    fn note(&mut self, now_ns: u64) {
        let limit_bytes = self.throttle.limit_bytes().unwrap_or(0);
        let log_live_bytes = self.slog.live_bytes();
        let level = Level { dirty_bytes: self.dirty.total_bytes(), async_writes: self.writes_in_flight, limit_bytes, log_live_bytes };
        self.record.counts.log_live_max_bytes = self.slog.most_live_bytes;
        self.record.change(now_ns, level);
    }

    // Groups.

    /// Moves the groups along as far as they go.
    fn advance(&mut self, kernel: &mut Kernel) {
        if self.advancing {
            return; // the call above us goes on until nothing moves
        }
        self.advancing = true;
        loop {
            self.wake_sleepers(kernel);
            let dirty = self.dirty.total_bytes();
            self.groups.observe(kernel.now_ns, dirty > 0, self.trigger_bytes.is_some_and(|most| dirty > most));
            let Some(step) = self.groups.step(kernel.now_ns) else { break };
            match step {
                Step::Opened(group) => {
                    self.record.group(group - 1, |row| row.closed_ns = kernel.now_ns);
                    self.record.opened(group, kernel.now_ns);
                    let mut woken = std::mem::take(&mut self.woken);
                    std::mem::swap(&mut woken, &mut self.for_group);
                    for id in woken.drain(..) {
                        self.go_on(kernel, id);
                    }
                    self.woken = woken;
                }
                Step::Quiesced(group) => self.record.group(group, |row| row.quiesced_ns = kernel.now_ns),
                Step::Syncs(group) => self.start_sync(kernel, group),
            }
        }
        self.advancing = false;
        if let Some(at_ns) = self.groups.wakes_at_ns().filter(|at_ns| *at_ns < self.timer_ns) {
            self.timer_ns = at_ns;
            kernel.at(at_ns, HERE, Signal::Timer, SYNC_TIMER);
        }
    }

    /// Writes that sleep in their group wake early when the pipeline is no longer full.
    fn wake_sleepers(&mut self, kernel: &mut Kernel) {
        if self.sleeping.is_empty() || self.groups.pipeline_full() {
            return;
        }
        let mut woken = std::mem::take(&mut self.sleeping);
        for id in woken.drain(..) {
            self.wake_in_group(kernel, id);
        }
        self.sleeping = woken;
    }

    fn start_sync(&mut self, kernel: &mut Kernel, group: u64) {
        let now_ns = kernel.now_ns;
        let data_bytes = self.dirty.charged_bytes(group);
        let dirty_bytes = self.dirty.total_bytes();
        self.dirty.blocks(group).sorted_words(&mut self.sync.words);
        let metadata =
            if data_bytes == 0 { 0 } else { self.metadata_bytes.saturating_add(mul_div(data_bytes, self.metadata_percent, 100)) };
        let sync = &mut self.sync;
        (sync.group, sync.started_ns, sync.data_bytes) = (group, now_ns, data_bytes);
        (sync.pass, sync.next_word, sync.pending) = (1, 0, 0);
        (sync.metadata_now, sync.metadata_later) = (0, metadata);
        self.record.group(group, |row| {
            (row.sync_started_ns, row.bytes, row.metadata_bytes, row.dirty_bytes) = (now_ns, data_bytes, metadata, dirty_bytes);
        });
        self.sync_on(kernel);
    }

    /// Queues what the present pass still has, and begins the next pass when it has nothing left.
    fn sync_on(&mut self, kernel: &mut Kernel) {
        while self.groups.syncing() == Some(self.sync.group) {
            self.feed(kernel);
            if self.sync.pending > 0 {
                return;
            }
            if self.sync.pass == 1 {
                self.record.group(self.sync.group, |row| row.data_written_ns = kernel.now_ns);
                if self.release != Release::GroupEnd {
                    self.forget(kernel);
                }
            }
            if self.sync.metadata_later == 0 {
                self.end_sync(kernel);
                return;
            }
            self.sync.pass += 1;
            let last = self.sync.pass >= self.sync_passes.max(2);
            self.sync.metadata_now = if last { self.sync.metadata_later } else { self.sync.metadata_later.div_ceil(2) };
            self.sync.metadata_later -= self.sync.metadata_now;
        }
    }

    /// Nothing of the syncing group is dirty any more.
    fn forget(&mut self, kernel: &mut Kernel) {
        self.record.counts.cleaned_bytes += self.dirty.charged_bytes(self.sync.group);
        self.dirty.finish(self.sync.group);
        self.dirty_changed(kernel);
    }

    fn end_sync(&mut self, kernel: &mut Kernel) {
        if self.release == Release::GroupEnd {
            self.forget(kernel);
        }
        let Sync { group, started_ns, data_bytes, .. } = self.sync;
        self.slog.synced(group);
        let report = SyncReport { group, bytes: data_bytes, started_ns, ended_ns: kernel.now_ns };
        self.throttle.synced(&report);
        self.last_sync = Some(report);
        let limit_bytes = self.throttle.limit_bytes().unwrap_or(0);
        self.record.group(group, |row| (row.synced_ns, row.limit_bytes) = (kernel.now_ns, limit_bytes));
        self.groups.sync_done();
        self.note(kernel.now_ns);
        self.advance(kernel);
    }

    /// Queues group writes until every leaf has enough ahead.
    fn feed(&mut self, kernel: &mut Kernel) {
        while self.short_leaves > 0 && self.queued_writes < AHEAD * 2 * self.leaves.len() {
            if let Some((first, blocks)) = self.next_run() {
                self.write_blocks(kernel, first, blocks);
            } else if self.sync.metadata_now > 0 {
                let bytes = self.sync.metadata_now.min(METADATA_BYTES);
                self.sync.metadata_now -= bytes;
                let work = self.work(Kind::Metadata, 0, 0);
                self.write_copy(kernel, Class::AsyncWrite, work, None, bytes);
                self.pump_leaves(kernel);
            } else {
                return;
            }
        }
    }

    /// The next neighbours among the dirty blocks of the syncing group, at most as many as may travel as one.
    fn next_run(&mut self) -> Option<(u64, u64)> {
        let sync = &mut self.sync;
        let mut run: Option<(u64, u64)> = None;
        while let Some((word, bits)) = sync.words.get_mut(sync.next_word) {
            if *bits == 0 {
                sync.next_word += 1;
                continue;
            }
            let skipped = bits.trailing_zeros();
            let block = *word * 64 + u64::from(skipped);
            let (first, length) = run.unwrap_or((block, 0));
            if block != first + length || length >= self.chunk_blocks {
                break;
            }
            let ones = u64::from((*bits >> skipped).trailing_ones()).min(self.chunk_blocks - length);
            let mask = if ones == 64 { u64::MAX } else { (1 << ones) - 1 };
            *bits &= !(mask << skipped);
            run = Some((first, length + ones));
        }
        run
    }

    fn write_blocks(&mut self, kernel: &mut Kernel, first: u64, blocks: u64) {
        let work = self.work(Kind::Data, blocks, 0);
        let bytes = blocks.saturating_mul(self.record_bytes);
        let place = (self.placement == Placement::InPlace).then(|| first * self.record_bytes);
        for _ in 0..self.copies {
            self.write_copy(kernel, Class::AsyncWrite, work, place, bytes);
        }
        let work = &mut self.works[work as usize];
        work.each_bytes = self.record_bytes / u64::from(work.pending.max(1));
        self.pump_leaves(kernel);
    }

    /// Queues one physical copy of a write, at `place` or where the cursor of free space stands.
    fn write_copy(&mut self, kernel: &mut Kernel, class: Class, work: u32, place: Option<u64>, bytes: u64) {
        let offset = place.unwrap_or_else(|| {
            let from = if self.cursor.saturating_add(bytes) > self.capacity { 0 } else { self.cursor };
            self.cursor = (from + bytes).next_multiple_of(self.record_bytes); // so that no record shares a stripe of RAID-Z
            from
        });
        let bytes = bytes.min(self.capacity.saturating_sub(offset)).max(1);
        self.enqueue(kernel, class, Op::Write, offset, bytes, work);
    }

    fn work(&mut self, kind: Kind, blocks: u64, each_bytes: u64) -> u32 {
        let place = self.free_works.pop().unwrap_or_else(|| {
            self.works.push(Work::default());
            u32::try_from(self.works.len() - 1).unwrap_or(NONE) // bounded by what is queued and in flight
        });
        let work = &mut self.works[place as usize];
        (work.kind, work.blocks, work.each_bytes, work.pending) = (kind, blocks, each_bytes, 0);
        place
    }

    // Devices.

    /// Cuts a request by leaf and queues the pieces.
    fn enqueue(&mut self, kernel: &mut Kernel, class: Class, op: Op, offset: u64, bytes: u64, work: u32) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        match &mut self.layout {
            Some(layout) => layout.map(op, offset, bytes, kernel.now_ns, &mut pieces),
            None => pieces.push(Piece { device: 0, offset, bytes }),
        }
        for piece in &pieces {
            self.enqueue_on(
                kernel.now_ns,
                usize::from(piece.device),
                Io { class, op, offset: piece.offset, bytes: piece.bytes, token: work, due: 0 },
            );
        }
        self.pieces = pieces;
    }

    /// Queues a request for a leaf.
    fn enqueue_on(&mut self, now_ns: u64, place: usize, io: Io) {
        let Some(leaf) = self.leaves.get_mut(place) else { return };
        let work = &mut self.works[io.token as usize];
        let is_group_write = matches!(work.kind, Kind::Data | Kind::Metadata);
        if is_group_write {
            leaf.queued_writes += 1;
            self.queued_writes += 1;
            self.short_leaves -= usize::from(leaf.queued_writes == AHEAD);
        }
        self.touched.push(place);
        match &mut leaf.scheduler {
            Scheduler::Active(queue) => queue.enqueue(io),
            Scheduler::Deadline(queue) => queue.enqueue(if is_group_write { self.sync.started_ns } else { now_ns }, io),
        }
        work.pending += 1;
        self.sync.pending += u64::from(is_group_write);
    }

    /// Something has been queued: its leaves may take it, and all leaves may when the ramp has moved.
    fn pump_leaves(&mut self, kernel: &mut Kernel) {
        let mut touched = std::mem::take(&mut self.touched);
        let most = self.ramp.max_in_flight(self.dirty.total_bytes());
        if most != self.pumped_at {
            self.pumped_at = most;
            touched.clear();
            touched.extend(0..self.leaves.len());
        }
        touched.sort_unstable();
        touched.dedup();
        for leaf in touched.drain(..) {
            self.pump(kernel, leaf, true);
        }
        self.touched = touched;
    }

    /// Sends to a leaf's device what its scheduler allows after an arrival or a completion.
    fn pump(&mut self, kernel: &mut Kernel, leaf: usize, arrival: bool) {
        let mut members = std::mem::take(&mut self.members);
        let mut sent = 0;
        loop {
            let issue = match &mut self.leaves[leaf].scheduler {
                Scheduler::Active(queue) => queue.issue(self.ramp.max_in_flight(self.dirty.total_bytes()), &mut members),
                Scheduler::Deadline(queue) if arrival => queue.after_arrival(&mut members),
                Scheduler::Deadline(queue) if sent < 2 => queue.after_completion(&mut members),
                Scheduler::Deadline(_) => None,
            };
            let Some(issue) = issue else { break };
            sent += 1;
            self.send(kernel, leaf, &issue, &members);
        }
        self.members = members;
        if sent > 0 {
            self.note(kernel.now_ns);
        }
    }

    fn send(&mut self, kernel: &mut Kernel, leaf: usize, issue: &Issue, members: &[Io]) {
        let place = self.free_flights.pop().unwrap_or_else(|| {
            self.flights.push(Flight { leaf, class: issue.class, works: Vec::new() });
            u32::try_from(self.flights.len() - 1).unwrap_or(NONE) // bounded by what is in flight
        });
        let flight = &mut self.flights[place as usize];
        (flight.leaf, flight.class) = (leaf, issue.class);
        flight.works.clear();
        flight.works.extend(members.iter().map(|io| io.token));
        let is_pools = leaf < self.pool_leaves;
        let writes = if is_pools { members.iter().filter(|io| io.class == Class::AsyncWrite).count() } else { 0 };
        let queued = &mut self.leaves[leaf].queued_writes;
        let was_short = *queued < AHEAD;
        *queued -= writes;
        self.queued_writes -= writes;
        self.short_leaves += usize::from(!was_short && *queued < AHEAD);
        if is_pools && issue.class == Class::AsyncWrite {
            self.writes_in_flight += 1;
            self.bytes_in_flight += issue.bytes;
        }
        let Issue { op, offset, bytes, .. } = *issue;
        let child = kernel.open(Request { op, offset, bytes, owner: HERE, tag: place, ..Request::default() });
        kernel.send(self.leaves[leaf].address, Signal::Submit, child.0);
    }

    /// A request below us has completed.
    fn done(&mut self, kernel: &mut Kernel, child: RequestId) {
        let request = kernel.requests[child];
        let flight = &mut self.flights[request.tag as usize];
        let (leaf, class) = (flight.leaf, flight.class);
        let mut works = std::mem::take(&mut flight.works);
        match &mut self.leaves[leaf].scheduler {
            Scheduler::Active(queue) => queue.complete(class),
            Scheduler::Deadline(queue) => queue.complete(),
        }
        let is_pools = leaf < self.pool_leaves;
        if is_pools {
            self.record.device_io(request.op, request.bytes, kernel.now_ns - request.submitted_ns);
        } else {
            self.note(kernel.now_ns);
            self.record.logged(request.bytes);
        }
        if is_pools && class == Class::AsyncWrite {
            self.writes_in_flight = self.writes_in_flight.saturating_sub(1);
            self.bytes_in_flight = self.bytes_in_flight.saturating_sub(request.bytes);
        }
        let of_group = works.iter().map(|work| self.works[*work as usize].kind).find(|kind| matches!(kind, Kind::Data | Kind::Metadata));
        if let Some(kind) = of_group {
            self.record.written(request.bytes, kind == Kind::Metadata);
        }
        for work in works.drain(..) {
            self.part_done(kernel, work, child);
        }
        self.flights[request.tag as usize].works = works;
        self.free_flights.push(request.tag);
        kernel.requests.remove(child);
        self.pump(kernel, leaf, false);
        if of_group.is_some() {
            self.sync_on(kernel);
        }
        self.advance(kernel);
    }

    fn part_done(&mut self, kernel: &mut Kernel, number: u32, child: RequestId) {
        let work = &mut self.works[number as usize];
        work.pending = work.pending.saturating_sub(1);
        let (kind, last, blocks, each_bytes) = (work.kind, work.pending == 0, work.blocks, work.each_bytes);
        if matches!(kind, Kind::Data | Kind::Metadata) {
            self.sync.pending = self.sync.pending.saturating_sub(1);
        }
        match (kind, self.release) {
            (Kind::Data, Release::EachWrite) => self.dirty.release(self.sync.group, blocks, each_bytes),
            (Kind::Data, Release::WholeBlock) if last => self.dirty.release(self.sync.group, blocks, self.record_bytes),
            (Kind::Read, _) if last => self.arrived(kernel, number, child),
            (Kind::Log, _) if last => self.flush(kernel, blocks),
            _ => {}
        }
        if last {
            self.free_works.push(number);
        }
        if kind == Kind::Data && self.release != Release::GroupEnd {
            self.dirty_changed(kernel);
        }
    }

    // Reads.

    fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let (first, end) = self.blocks(&request);
        self.state(id).stage = Stage::Reading;
        kernel.requests[id].pending = 0;
        let (mut cached, mut missed) = (0, 0);
        for block in first..end {
            let from = request.offset.max(block * self.record_bytes);
            let to = request.offset.saturating_add(request.bytes).min((block + 1).saturating_mul(self.record_bytes));
            match self.need(kernel, id, block) {
                Found::Here => cached += to - from,
                Found::OnItsWay => {}
                Found::Missing => missed += to - from,
            }
        }
        let request = &mut kernel.requests[id];
        request.cached_bytes = u32::try_from(cached).unwrap_or(u32::MAX);
        request.missed_bytes = u32::try_from(missed).unwrap_or(u32::MAX);
        if request.pending == 0 {
            self.copy(kernel, id);
        }
    }

    /// Makes `id` wait for a block unless it is in memory.
    fn need(&mut self, kernel: &mut Kernel, id: RequestId, block: u64) -> Found {
        if self.dirty.contains(block) {
            return Found::Here;
        }
        if let Some(cache) = &mut self.cache
            && let Some(place) = cache.find(block)
        {
            let fetch = cache.mark(place).fetch;
            if fetch == NONE {
                cache.touch(place);
                return Found::Here;
            }
            self.works[fetch as usize].waiters.push(id);
            kernel.requests[id].pending += 1;
            return Found::OnItsWay;
        }
        let work = self.work(Kind::Read, block, 0);
        if let Some(cache) = &mut self.cache {
            cache.add(block, work, NONE);
        }
        self.works[work as usize].waiters.push(id);
        kernel.requests[id].pending += 1;
        let offset = block.saturating_mul(self.record_bytes);
        let bytes = self.record_bytes.min(self.capacity.saturating_sub(offset)).max(1);
        self.enqueue(kernel, Class::SyncRead, Op::Read, offset, bytes, work);
        self.pump_leaves(kernel);
        Found::Missing
    }

    /// A block that was read has arrived.
    fn arrived(&mut self, kernel: &mut Kernel, number: u32, child: RequestId) {
        let block = self.works[number as usize].blocks;
        if let Some(cache) = &mut self.cache {
            cache.arrive(&mut Cursor::default(), block, number);
        }
        let mut waiters = std::mem::take(&mut self.works[number as usize].waiters);
        for id in waiters.drain(..) {
            let device = kernel.requests[child].device;
            let request = &mut kernel.requests[id];
            request.pending -= 1;
            if request.pending == 0 {
                request.device = device;
                kernel.requests.inherit(id, child);
                if kernel.requests[id].op == Op::Read {
                    self.copy(kernel, id);
                } else {
                    self.ask(kernel, id);
                }
            }
        }
        self.works[number as usize].waiters = waiters;
    }
}

/// Where a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Here,
    OnItsWay,
    Missing,
}
