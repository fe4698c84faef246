//! The ZFS layer: writes into memory through the throttle, groups out of memory through the scheduler, reads beside them.
//!
//! The life of a write:
//! 1. Its data arrive, in turn with those of all writers when the ingest rate is limited.
//! 2. It is cut at the borders of records: each record that it touches is a transaction of its own, one after the other (`zfs_write`).
//! 3. A transaction begins. A record that it changes only in part is read first, unless it is in memory.
//! 4. The throttle lets it in, makes it sleep (inside the open group in 2008, outside any group since 2013), or stops it. So however
//!    long a write is, dirty data pass the throttle's limit by no more than one record for each thread.
//! 5. It holds the open group while its data are copied. Its record becomes dirty.
//! 6. After the last transaction the write is acknowledged, a synchronous one after its commit to the intent log.
//!
//! The life of a group: it closes (by time, by dirty data, or because writers wait), is held until its last write has copied,
//! and syncs. The first pass writes its blocks in the order of their offsets, as fast as processors and devices take them, and behind them
//! their pointers; further passes write other metadata. Dirty data are
//! released as the version says. The blocks of a group are queued as the devices take them, not all at once: a scheduler that
//! sends writes in order of offset cannot tell the difference.
//!
//! A read that is not in memory (dirty, in the read cache or the ARC) reads whole records, from a cache device that has them or from the
//! pool; the read-ahead sees it. Reads and group writes share the scheduler of
//! each leaf device; there is one for each device, or a single one above layers that hide their devices.
//!
//! Left out: the longer transactions since 2.2, of up to 32 MiB, for writes over records that exist or that are shorter than 128 KiB;
//! deduplication; space that is freed (with copy on write a cursor runs round the address space, through its [`Holes`] where the pool is
//! partly full, and reads follow it: [`Places`]);
//! the time that reads and writes of metadata take when they are not
//! cached, except of files that stand for metadata; a prefetch that becomes urgent when a reader waits for it.

mod admission;
mod build;
mod commit;
mod decision;
mod devices;
mod feed;
mod flush;
mod groups;
pub mod reader;
mod reads;
mod scrub;

use std::collections::VecDeque;

use super::compression::Stored;
use super::cost::Processors;
use super::dirty::Dirty;
use super::era;
use super::era::Scheduling;
use super::free_space::Holes;
use super::intent_log::{Commit, IntentLog, Rules};
use super::places::Places;
use super::read_record::Reads;
use super::record::{HeldUp, Level, Record};
use super::scheduler::active::{ActiveQueue, Ramp};
use super::scheduler::deadline::DeadlineQueue;
use super::scheduler::{Class, Io};
use super::settings;
use super::slog::{Slog, Turns};
use super::throttle::host::DrainRate;
use super::throttle::{SyncReport, Throttle};
use super::txg::Groups;
use crate::blocks::Blocks;
use crate::decision::Decision;
use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::device::transfer_ns;
use crate::layers::layout::raidz::Padding;
use crate::layers::layout::{Gaps, Layout, Piece};
use crate::layers::{Layer, ReportContext};
use crate::range::Range;
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::rules::SECTOR;
use crate::setup::Setup;
use crate::shared::Machine;
use crate::timers;
use reader::{Files, Reader};
use scrub::Scrub;
use seeklab_cache::PolicyKind;
use seeklab_kernel::Slab;
use seeklab_spec::host::HostSpec;
use seeklab_spec::zfs::{Datasets, IntentLogSpec, Placement, Release, Start, ZfsSpec};
use seeklab_spec::{Op, Path, Problems, Scenario};

const HERE: Address = Address::of(LayerId::Zfs);

timers! {
    pub(super) enum Timer {
        /// The sync thread looks at the groups.
        Sync,
        /// The processors have caught up: more records of the group may follow.
        Processed,
        /// The next pass over a cache device.
        Feed,
        /// The caches are flushed of what a commit wrote, by its number.
        Flushed(u32),
        /// The scrub may continue.
        Scrub,
        /// A request has slept long enough.
        Awake(RequestId),
    }
}

/// Length of a metadata write.
const METADATA_BYTES: u64 = 128 << 10;
/// The same where free space is in holes: an indirect block of 128 KiB, compressed (assumed).
const METADATA_BLOCK_BYTES: u64 = 16 << 10;
/// Group writes that are kept queued for each leaf beyond those in flight, so that the scheduler always has a choice.
const AHEAD: usize = 64;
/// Prefetches that are in a leaf's queue at once; more wait in line before it, so that the queue sorts only these by their offset.
const MAX_QUEUED_AHEAD: usize = 128;

/// The layers below the file system.
pub enum Below {
    /// A layer that hides its devices: one scheduler for all of it.
    Layer(Address),
    /// So many devices, over which this layout spreads addresses: a scheduler for each.
    Devices(Box<Layout>, u16),
}

/// The event that one of our requests waits for.
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
    /// Whether its transaction has waited for space or slept already.
    waited: bool,
    /// When the timer that it waits for is due; an earlier wake-up makes that timer void.
    due_ns: u64,
    /// When its transaction was created.
    started_ns: u64,
    /// The group of its transaction.
    group: u64,
    /// The record that its transaction writes, and bytes of the write up to the end of that part.
    block: u64,
    upto: u64,
    held: HeldUp,
    /// Bytes of a write whose transactions have ended, and those of them that the intent log knows of.
    done: u64,
    noted: u64,
}

/// The purpose of a request below us; several may be sent as one.
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
    /// A read ahead.
    Ahead,
    /// A pass over a cache device.
    Feed,
    /// A commit of the intent log.
    Log,
    /// The flushes that end a commit.
    LogFlush,
    /// The flushes that end the sync of a group.
    GroupFlush,
    /// A record that the scrub reads.
    Scrub,
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

/// The role of a leaf device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Pool,
    /// The intent log.
    Log,
    /// The ARC.
    Cache,
}

struct Leaf {
    scheduler: Scheduler,
    address: Address,
    role: Role,
    /// Whether its device has a cache that a power failure empties.
    is_volatile: bool,
    /// Group writes in its queue.
    queued_writes: usize,
    /// Prefetches in its queue, and those that wait before it with the time of their arrival.
    queued_ahead: usize,
    backlog: VecDeque<(Io, u64)>,
}

impl Scheduler {
    /// A queue for a device with these skip sectors, which only versions with gaps between writes know.
    fn new(mut scheduling: Scheduling, padding: Option<Padding>) -> Self {
        let aggregation = match &mut scheduling {
            Scheduling::Active(settings) => &mut settings.aggregation,
            Scheduling::Deadline(settings) => &mut settings.aggregation,
        };
        aggregation.padding = padding.filter(|_| aggregation.write_gap_bytes > 0);
        match &scheduling {
            Scheduling::Active(settings) => Self::Active(Box::new(ActiveQueue::new(*settings))),
            Scheduling::Deadline(settings) => Self::Deadline(DeadlineQueue::new(*settings)),
        }
    }

    fn enqueue(&mut self, now_ns: u64, io: Io) {
        match self {
            Self::Active(queue) => queue.enqueue(io),
            Self::Deadline(queue) => queue.enqueue(now_ns, io),
        }
    }
}

impl Leaf {
    fn new(scheduler: Scheduler, address: Address, role: Role) -> Self {
        Self { scheduler, address, role, is_volatile: false, queued_writes: 0, queued_ahead: 0, backlog: VecDeque::new() }
    }
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
    /// Its blocks that are not written, and bytes of theirs that were acknowledged and are in no log.
    blocks_left: u64,
    unsafe_bytes: u64,
    /// Whether the caches of the pool's devices are being flushed.
    is_flushing: bool,
}

/// The ZFS layer.
pub struct Zfs {
    record_bytes: u64,
    /// Records on the devices.
    stored: Stored,
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
    /// Bytes of metadata that are written together.
    metadata_piece: u64,
    indirect_bytes: u64,
    processors: Processors,
    /// Time of one core for a record that is read.
    read_cpu_ns: u64,
    machine: Machine,
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
    log_turns: Turns,
    /// Devices that hold the same block of the log.
    log_sides: usize,
    commits: Slab<Commit>,
    /// Leaves that blocks of the present commit go to.
    logged_on: Vec<usize>,
    /// Bytes of each group that were acknowledged and are in no log, by its number modulo the groups there can be.
    unsafe_bytes: [u64; flush::GROUPS],
    sync: Sync,
    cursor: u64,
    /// What is free, where not everything is.
    holes: Option<Box<Holes>>,
    /// Where rewritten records are, if any job reads.
    places: Option<Places>,
    layout: Option<Layout>,
    /// Those of the pool, then the log devices, then the cache devices.
    leaves: Vec<Leaf>,
    /// Leaves with fewer than [`AHEAD`] group writes in their queues, and such writes in all of them.
    short_leaves: usize,
    queued_writes: usize,
    /// Leaves that have been given something, and the ramp's value when all of them were last asked.
    touched: Vec<usize>,
    pumped_at: u32,
    cache: Option<Blocks>,
    /// The ARC with its read-ahead and cache devices, instead of `cache`.
    pub reader: Option<Box<Reader>>,
    states: Vec<State>,
    sleeping: VecDeque<RequestId>,
    for_space: VecDeque<RequestId>,
    /// Reads that wait for room in the ARC.
    for_memory: VecDeque<RequestId>,
    for_group: Vec<RequestId>,
    /// Writes that the host has not answered for.
    asking: VecDeque<RequestId>,
    asleep: u32,
    drain: DrainRate,
    last_sync: Option<SyncReport>,
    woken: Vec<RequestId>,
    works: Slab<Work>,
    flights: Slab<Flight>,
    members: Vec<Io>,
    pieces: Vec<Piece>,
    writes_in_flight: u32,
    bytes_in_flight: u64,
    timer_ns: u64,
    advancing: bool,
    scrub: Option<Box<Scrub>>,
    /// Record of the run.
    pub record: Record,
}

impl Layer for Zfs {
    type Spec = ZfsSpec;
    const FIELD: &'static str = "zfs";
    const LABEL: &'static str = "ZFS";
    const COMBINES: bool = true;
    const DECISIONS: &'static [Decision<Self>] = &[decision::DELAY, decision::AHEAD];

    fn spec(scenario: &Scenario) -> Option<&ZfsSpec> {
        scenario.zfs.as_ref()
    }

    fn check(spec: &ZfsSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        super::check::in_scenario(spec, scenario, at, problems);
    }

    fn build(spec: &ZfsSpec, setup: &Setup) -> Option<Self> {
        Some(build::volume(spec, setup))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => self.submit(kernel, id),
            Event::Done(id) => self.done(kernel, id),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Sync => {
                    if kernel.now_ns() >= self.timer_ns {
                        self.timer_ns = u64::MAX;
                    }
                    self.advance(kernel);
                }
                Timer::Processed => {
                    self.processors.is_awaited = false;
                    self.sync_on(kernel);
                }
                Timer::Feed => self.feed_pass(kernel),
                Timer::Flushed(commit) => self.logged(kernel, commit),
                Timer::Scrub => self.scrub_timer(kernel),
                Timer::Awake(id) => self.timer(kernel, id),
            },
        }
    }

    /// Puts into memory what is there at the start of the run.
    fn start(&mut self, kernel: &mut Kernel) {
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
        if let Some(scrub) = &self.scrub {
            kernel.wake_at(scrub.start_ns(), HERE, Timer::Scrub);
        }
        self.note(kernel.now_ns());
    }

    /// Bytes of memory that grow with the run.
    fn memory_bytes(&self) -> u64 {
        let requests = self.states.capacity() * size_of::<State>();
        let below = self.works.memory_bytes() + self.flights.memory_bytes();
        let order = self.sync.words.capacity() * size_of::<(u64, u64)>();
        let waiting: usize = self.leaves.iter().map(|leaf| leaf.backlog.capacity() * size_of::<(Io, u64)>()).sum();
        let reader = self.reader.as_ref().map_or(0, |reader| reader.memory_bytes());
        let places = self.places.as_ref().map_or(0, Places::memory_bytes);
        places + self.dirty.memory_bytes() + self.record.memory_bytes() + reader + below + (requests + order + waiting) as u64
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.record.metrics(metrics);
        if let Some(scrub) = &self.scrub {
            scrub.metrics(metrics);
        }
        if let Some(reader) = &self.reader {
            reader.record.metrics(metrics);
        }
    }

    fn tables(zfs: Option<&Self>, _: &ReportContext, tables: &mut Tables) {
        Record::tables(zfs.map(|zfs| &zfs.record), tables);
        Reads::tables(zfs.and_then(|zfs| zfs.reader.as_ref()).map(|reader| &reader.record), tables);
    }
}

impl Zfs {
    /// The layer that `spec` describes, above `below`, over an address space of `capacity` bytes; its series has rows of
    /// `interval_ns`.
    #[must_use]
    pub fn new(spec: &ZfsSpec, below: Below, capacity: u64, interval_ns: u64) -> Self {
        let resolved = settings::resolve(spec);
        let constants = resolved.constants;
        let (layout, addresses) = match below {
            Below::Layer(address) => (None, vec![address]),
            Below::Devices(layout, count) => (
                Some((*layout).balanced_by(era::read_balance(spec.era))),
                (0..count).map(|index| Address { layer: LayerId::Device, index }).collect(),
            ),
        };
        let aggregation = match constants.scheduling {
            Scheduling::Active(settings) => settings.aggregation,
            Scheduling::Deadline(settings) => settings.aggregation,
        };
        let gaps = if aggregation.write_gap_bytes > 0 { Gaps::ZFS } else { Gaps::NONE };
        let layout = layout.map(|layout| layout.merging(gaps));
        let padding = |leaf: usize| layout.as_ref().and_then(|layout| layout.padding(leaf));
        let schedulers: Vec<_> = (0..addresses.len()).map(|leaf| Scheduler::new(constants.scheduling, padding(leaf))).collect();
        let log_schedulers = std::iter::repeat_with(|| Scheduler::new(constants.scheduling, None));
        let record_bytes = spec.record.0.max(1);
        let sector_bytes = layout.as_ref().map_or(SECTOR, Layout::sector_bytes);
        let stored = Stored::new(spec.compression.as_ref(), record_bytes, sector_bytes);
        let leaves = addresses.len();
        let log_devices = spec.log.devices.as_ref().map_or(0, |group| u16::try_from(group.count).unwrap_or(u16::MAX)); // at most 1,024
        let logs = (0..log_devices).map(|index| Address { layer: LayerId::WriteLog, index });
        let mut record = Record::new(interval_ns);
        record.opened(1, 0);
        Self {
            record_bytes,
            stored,
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
            metadata_piece: METADATA_BYTES,
            indirect_bytes: constants.indirect_bytes,
            processors: Processors::new(spec.record_cpu.0 + stored.compress_ns, spec.cores),
            read_cpu_ns: spec.record_cpu.0 + stored.decompress_ns,
            machine: Machine::new(None, Some(spec.cores)),
            placement: spec.placement,
            start: spec.start,
            trigger_bytes: constants.dirty_trigger.threshold_bytes(constants.dirty_max_bytes),
            chunk_blocks: (aggregation.span_bytes / record_bytes).max(1),
            throttle: resolved.throttle,
            ramp: resolved.ramp,
            groups: Groups::new(constants.txg_timeout_ns),
            dirty: Dirty::new(record_bytes),
            logs: vec![IntentLog::default()],
            datasets: Vec::new(),
            log_rules: Rules::new(&spec.log, spec.era),
            slog: Slog::new(0, 0),
            log_turns: Turns::new(layout.as_ref().map_or(1, Layout::across)),
            log_sides: spec.log.mirror.max(1) as usize,
            commits: Slab::default(),
            logged_on: Vec::new(),
            unsafe_bytes: [0; flush::GROUPS],
            sync: Sync::default(),
            cursor: 0,
            holes: None,
            places: None,
            layout,
            leaves: (addresses.into_iter().map(|address| (address, Role::Pool)))
                .chain(logs.map(|address| (address, Role::Log)))
                .zip(schedulers.into_iter().chain(log_schedulers))
                .map(|((address, role), scheduler)| Leaf::new(scheduler, address, role))
                .collect(),
            short_leaves: leaves,
            queued_writes: 0,
            touched: Vec::new(),
            pumped_at: 0,
            cache: (spec.cache.0 >= record_bytes).then(|| Blocks::new(PolicyKind::Lru, spec.cache.0 / record_bytes)),
            reader: None,
            states: Vec::new(),
            sleeping: VecDeque::new(),
            for_space: VecDeque::new(),
            for_memory: VecDeque::new(),
            for_group: Vec::new(),
            asking: VecDeque::new(),
            asleep: 0,
            drain: DrainRate::default(),
            last_sync: None,
            woken: Vec::new(),
            works: Slab::default(),
            flights: Slab::default(),
            members: Vec::new(),
            pieces: Vec::new(),
            writes_in_flight: 0,
            bytes_in_flight: 0,
            timer_ns: u64::MAX,
            advancing: false,
            scrub: None,
            record,
        }
    }

    /// The same with a scrub.
    #[must_use]
    pub fn scrubbed_by(mut self, spec: &ZfsSpec) -> Self {
        let (leaves, layout) = (self.leaves.iter().filter(|leaf| leaf.role == Role::Pool).count() as u64, self.layout.as_ref());
        let (data_disks, groups) = layout.map_or((leaves, 1), |layout| (layout.data_disks(), layout.across()));
        let scrub = |scrub| Scrub::new(scrub, spec.era, self.capacity, data_disks, groups, self.stored.bytes);
        self.scrub = spec.scrub.as_ref().map(|spec| Box::new(scrub(spec)));
        self
    }

    /// The same in a pool that is partly full. Each record then finds its own place.
    #[must_use]
    pub fn filled(mut self, spec: &ZfsSpec, seed: u64) -> Self {
        if let Some(free) = &spec.free_space {
            let (sector, is_raidz) = self.layout.as_ref().map_or((SECTOR, false), |layout| (layout.sector_bytes(), layout.is_raidz()));
            let grain = if is_raidz { self.stored.bytes } else { sector };
            let striped = self.layout.as_ref().map_or((None, 1), |layout| (layout.unit_across().filter(|_| !is_raidz), layout.across()));
            self.holes = Some(Box::new(Holes::new(free, seed, sector, grain, striped)));
            (self.chunk_blocks, self.metadata_piece) = (1, METADATA_BLOCK_BYTES);
        }
        self
    }

    /// How much of the scrub is done, 0 to 1; 1 without one.
    #[must_use]
    pub fn scrub_progress(&self) -> f64 {
        self.scrub.as_ref().map_or(1.0, |scrub| scrub.progress())
    }

    /// The same on the machine of a scenario.
    #[must_use]
    pub fn on_host(mut self, host: Option<&HostSpec>, cores: u32) -> Self {
        self.machine = Machine::new(host, Some(cores));
        self
    }

    /// The same for jobs that read: it remembers where the records of files at these ranges are.
    #[must_use]
    pub fn remembering(mut self, files: &[Range]) -> Self {
        if self.placement == Placement::CopyOnWrite {
            self.places = Some(Places::new(files.iter().map(|file| file.start / self.record_bytes).collect()));
            self.dirty.keeps_order = true;
        }
        self
    }

    /// The same with log devices of `log_bytes` each, and the jobs of the workers in order of their numbers.
    #[must_use]
    pub fn with_logs(mut self, spec: &IntentLogSpec, log_bytes: u64, jobs: &[usize]) -> Self {
        let devices = spec.devices.as_ref().map_or(0, |group| group.count);
        self.slog = Slog::new(devices / spec.mirror.max(1), log_bytes);
        if spec.datasets == Datasets::Job {
            self.datasets = jobs.to_vec();
            self.logs.resize_with(jobs.iter().max().map_or(1, |last| last + 1), IntentLog::default);
        }
        self
    }

    /// Gives the volume the read side that `spec` describes, with its cache devices at these addresses.
    #[must_use]
    pub fn reading(mut self, spec: &ZfsSpec, files: Files, cache_devices: impl Iterator<Item = Address>, interval_ns: u64) -> Self {
        self.reader = Reader::new(spec, files, interval_ns).map(Box::new);
        let scheduling = settings::resolve(spec).constants.scheduling;
        self.leaves.extend(cache_devices.map(|address| Leaf::new(Scheduler::new(scheduling, None), address, Role::Cache)));
        self
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

    #[inline]
    fn state(&mut self, id: RequestId) -> &mut State {
        let place = id.0 as usize;
        if place >= self.states.len() {
            self.make_room(place);
        }
        &mut self.states[place]
    }

    #[cold]
    fn make_room(&mut self, place: usize) {
        self.states.resize(place + 1, State::default());
    }

    /// The blocks that a range touches.
    fn blocks(&self, request: &Request) -> (u64, u64) {
        (request.offset / self.record_bytes, request.offset.saturating_add(request.bytes).div_ceil(self.record_bytes))
    }

    fn sleep(&mut self, kernel: &mut Kernel, id: RequestId, stage: Stage, due_ns: u64) {
        let sleeper = self.state(id);
        (sleeper.stage, sleeper.due_ns) = (stage, due_ns);
        kernel.wake_at(due_ns, HERE, Timer::Awake(id));
    }

    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        *self.state(id) = State::default();
        if let Some(scrub) = &mut self.scrub {
            scrub.asked(kernel.now_ns());
        }
        let request = kernel.requests[id];
        if request.op == Op::Read {
            return self.read(kernel, id);
        }
        let Some(rate) = self.ingest_rate else { return self.begin(kernel, id) };
        self.ingest_free_ns = self.ingest_free_ns.max(kernel.now_ns()).saturating_add(transfer_ns(request.bytes, rate));
        self.sleep(kernel, id, Stage::Arriving, self.ingest_free_ns);
    }

    fn timer(&mut self, kernel: &mut Kernel, id: RequestId) {
        let State { stage, due_ns, .. } = *self.state(id);
        if due_ns != kernel.now_ns() {
            return;
        }
        match stage {
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
                self.state(id).waited = true;
                self.ask(kernel, id);
            }
            Stage::Copying => self.copied(kernel, id),
            Stage::Nothing | Stage::Reading | Stage::Stopped | Stage::Asking => {}
        }
    }

    /// Dirty data have grown or shrunk: the series notes it, and one waiter may continue.
    fn dirty_changed(&mut self, kernel: &mut Kernel) {
        self.record.counts.largest_step_bytes = self.dirty.largest_step_bytes;
        let drained_bytes = self.record.counts.dirtied_bytes.saturating_sub(self.dirty.total_bytes());
        self.drain.drained(kernel.now_ns(), drained_bytes);
        self.note(kernel.now_ns());
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
}
