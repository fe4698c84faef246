//! The page cache of an operating system, with write-back and a file system's journal.
//!
//! ```text
//!  write() --copy--> | dirty pages, by age |--flusher: too many, or too old--> devices
//!     ^              |                     |--fsync: those of the file-------> devices
//!     |  throttle    '---------------------'
//!     '--------------- dirty + in progress           | running transaction |
//!  fsync, O_SYNC: own pages, then a commit ------> |  ordered: all data of its files, then metadata | --> journal
//! ```
//!
//! - **Write** (`writes`). Copied into memory at a thread's rate, piece by piece; the call returns. Pages in flight to the devices
//!   are not changed (stable pages), so a write to one waits for it.
//! - **Flusher** (`flusher`). It looks every `wakeup` for files whose oldest dirty page is older than `expire`, and writes those whole;
//!   and it writes the oldest pages while more than `background` is dirty.
//! - **Throttle** (`throttle`). Writers are paced, or stopped, while too much is dirty or in progress.
//! - **Journal** (`journal`). One running transaction, which every write joins (it changes the file's times at least). A synchronous
//!   write or a flush (`sync`) writes its own pages and forces a commit; in ordered mode that first writes the data of *every* file of
//!   the transaction. A transaction that nobody forces is committed when it is `commit` old. Writes that come during a commit join the
//!   next one. A flush of data alone (`fdatasync`) needs a commit only if the file has new blocks (`allocation`); without one, the devices
//!   are flushed.
//! - **Read** (`reads`). What is dirty or in flight comes from memory. With a read side (`read_ahead`) so does what was read before,
//!   and pages are read ahead for readers that seem sequential.
//!
//! Sources: the documentation of Linux for `vm.dirty_*` and ext4's `data=` modes; `fs/jbd`, `mm/page-writeback.c` and
//! `fs/fs-writeback.c` of 3.0 and 3.2 for the order of events. The commit interval of 5 s, the pause of at most 200 ms and the
//! estimate of the devices' rate are Linux's defaults. Metadata are counted as ext3 lays them out: an indirect block for each 4 MiB of
//! data, and two blocks (inode, bitmap) for each file.
//!
//! Left out: control groups and their own thresholds, limits for each device, swap, data that pass through the journal (`data=journal`),
//! a journal that is full and must be checkpointed, and writes within a tick of the clock of the one before, which change no times, so
//! that their `fsync` commits nothing. A FLUSH of the devices follows the commit record, where Linux sends one before and writes the
//! record with FUA.

mod allocation;
pub mod cached;
mod check;
mod decision;
mod flusher;
mod journal;
mod pages;
pub mod read_ahead;
mod read_record;
mod reads;
mod record;
mod report;
mod sync;
mod throttle;
mod writes;

#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use allocation::Allocated;
use flusher::Flusher;
use journal::Log;
use pages::Pages;
pub use reads::Reads;
pub use record::Record;
use seeklab_kernel::Slab;
use seeklab_spec::page_cache::Journal;
use seeklab_spec::{Op, PageCacheSpec, Path, Problems, Scenario};
use sync::Sync;
use throttle::Throttle;
use writes::Writer;

use crate::decision::Decision;
use crate::kernel::{Address, Event, Kernel, LayerId, Timer as _};
use crate::layers::{Layer, ReportContext};
use crate::plan::{PAGE_BYTES, Plan};
use crate::range::Range;
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::shared::Machine;
use crate::timers;

const HERE: Address = Address::of(LayerId::PageCache);

timers! {
    enum Timer {
        /// A piece of a worker's write has been copied into memory.
        Copied(u32),
        /// A worker's pause ends.
        Paced(u32),
        /// It is time to look for old pages.
        WakeUp,
        /// A transaction is as old as it may become.
        Commit(u32),
        /// A read has been copied out of memory.
        Read(crate::kernel::RequestId),
    }
}

/// A file of the jobs.
#[derive(Clone, Copy, Debug)]
struct File {
    place: Range,
    /// Since when it has dirty pages that the flusher has not been told of.
    dirty_since_ns: Option<u64>,
    /// The last transaction that it joined.
    joined: u32,
    /// The last that it joined with a change of its size or its blocks, and whether one has not been written where there is no journal.
    /// Only kept where a job flushes data alone.
    joined_with_blocks: u32,
    has_new_blocks: bool,
    is_journalled: bool,
}

/// The page cache layer.
pub struct PageCache {
    spec: PageCacheSpec,
    background: u64,
    below: Address,
    /// In order of their places.
    files: Vec<File>,
    pages: Pages,
    /// Where a job flushes data alone.
    allocated: Option<Allocated>,
    writers: Vec<Writer>,
    throttle: Throttle,
    machine: Machine,
    flusher: Flusher,
    log: Log,
    syncs: Slab<Sync>,
    /// Waiters for pages to be written, sorted by the pages' order.
    awaited: Vec<(u64, Waiter)>,
    /// The read side, where there is one.
    pub reads: Option<Box<Reads>>,
    /// Its record.
    pub record: Record,
}

/// A waiter for pages to be written.
#[derive(Clone, Copy, Debug)]
enum Waiter {
    /// A worker whose write would change them.
    Writer(u32),
    /// A synchronous write or a flush.
    Sync(u32),
}

/// Purpose of a request to the layer below, in its tag: the kind in the upper bits, a number in the lower bits.
const OUT: u32 = 0;
const COMMIT: u32 = 1 << 30;
/// The last request of a synchronous write: its inode, or a FLUSH.
const LAST: u32 = 2 << 30;
const KIND: u32 = 3 << 30;

impl Layer for PageCache {
    type Spec = PageCacheSpec;
    const FIELD: &'static str = "page_cache";
    const LABEL: &'static str = "Page cache";
    const PASSES_FLUSHES: bool = true;
    const DECISIONS: &'static [Decision<Self>] = &[decision::AHEAD];

    fn spec(scenario: &Scenario) -> Option<&PageCacheSpec> {
        scenario.page_cache.as_ref()
    }

    fn check(spec: &PageCacheSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn check_plan(spec: &PageCacheSpec, _: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
        check::check_files(spec, plan, at, problems);
    }

    fn build(spec: &PageCacheSpec, setup: &Setup) -> Option<Self> {
        Some(Self::new(spec, setup.scenario, setup.plan, setup.below(LayerId::PageCache)))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) if kernel.requests[id].op == Op::Read => self.read(kernel, id),
            Event::Submit(id) => self.write(kernel, id),
            Event::Done(id) if kernel.requests[id].op == Op::Read => self.fetched(kernel, id),
            Event::Done(id) => match kernel.requests[id].tag & KIND {
                OUT => self.written(kernel, id),
                COMMIT => self.logged(kernel, id),
                _ => self.last_written(kernel, id),
            },
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Copied(worker) => self.copied(kernel, worker),
                Timer::Paced(worker) => self.go_on(kernel, worker),
                Timer::WakeUp => self.look(kernel),
                Timer::Commit(transaction) => self.commit_is_due(kernel, transaction),
                Timer::Read(id) => Self::copied_out(kernel, id),
            },
        }
    }

    fn memory_bytes(&self) -> u64 {
        let waiting: usize = self.writers.iter().map(|writer| writer.queue.capacity()).sum();
        self.pages.memory_bytes()
            + self.allocated.as_ref().map_or(0, Allocated::memory_bytes)
            + self.syncs.memory_bytes()
            + (waiting * size_of::<u32>()) as u64
            + self.log.memory_bytes()
            + self.record.memory_bytes()
            + self.reads.as_ref().map_or(0, |reads| reads.memory_bytes())
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.record.metrics(metrics);
        if let Some(reads) = &self.reads {
            reads.metrics(metrics);
        }
    }

    fn tables(cache: Option<&Self>, _: &ReportContext, tables: &mut Tables) {
        Record::tables(cache.map(|cache| &cache.record), tables);
        Reads::tables(cache.and_then(|cache| cache.reads.as_deref()), tables);
    }
}

impl PageCache {
    /// The page cache of a scenario, above `below`.
    #[must_use]
    pub fn new(spec: &PageCacheSpec, scenario: &Scenario, plan: &Plan, below: Address) -> Self {
        let mut starts: Vec<(u64, u64)> = Vec::new();
        for worker in &plan.workers {
            let is_apart = spec.unjournalled.contains(&scenario.jobs[worker.job].name);
            let is_journalled = spec.journal != Journal::None && !is_apart;
            starts.push((worker.file.start, u64::from(is_journalled)));
        }
        // A file that several workers share is once in the list. It reaches to the next one: what a copy writes lies behind what it reads.
        starts.sort_unstable();
        starts.dedup_by_key(|(start, _)| *start);
        let file = |(index, (start, is_journalled)): (usize, &(u64, u64))| {
            let place = Range { start: *start, end: starts.get(index + 1).map_or(u64::MAX, |(next, _)| *next) };
            let (joined, joined_with_blocks) = (0, 0);
            File { place, dirty_since_ns: None, joined, joined_with_blocks, has_new_blocks: false, is_journalled: *is_journalled == 1 }
        };
        let files: Vec<File> = starts.iter().enumerate().map(file).collect();
        let (background, limit) = spec.thresholds();
        Self {
            background,
            below,
            files,
            pages: Pages::new(spec.chunk.0),
            allocated: Allocated::of(scenario, plan),
            writers: plan.workers.iter().map(|worker| Writer::new(&scenario.jobs[worker.job])).collect(),
            throttle: Throttle::new(spec.throttle_from, background, limit),
            machine: Machine::new(scenario.host.as_ref(), None),
            flusher: Flusher::default(),
            log: Log::new(plan.journal()),
            syncs: Slab::default(),
            awaited: Vec::new(),
            reads: spec.read_ahead.as_ref().map(|ahead| Box::new(Reads::new(ahead, plan, spec.memory.0, below))),
            record: Record::new(background, limit, scenario.record.interval.0),
            spec: spec.clone(),
        }
    }

    /// Lets somebody wait until pages of this order are written.
    fn wait_for(&mut self, order: u64, waiter: Waiter) {
        let after = self.awaited.partition_point(|(other, _)| *other <= order);
        self.awaited.insert(after, (order, waiter));
    }

    /// The number of the file at an address.
    fn file_at(&self, offset: u64) -> u32 {
        let after = self.files.partition_point(|file| file.place.start <= offset);
        u32::try_from(after.saturating_sub(1)).unwrap_or(u32::MAX) // no more than workers
    }
}

/// The pages that a range of bytes touches.
fn pages_of(offset: u64, bytes: u64) -> Range {
    Range { start: offset / PAGE_BYTES * PAGE_BYTES, end: (offset + bytes).next_multiple_of(PAGE_BYTES) }
}
