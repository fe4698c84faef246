//! The file system: block cache, prefetcher, write log.
//!
//! Modelled: a read looks up its blocks in memory. Blocks that are present are counted as cached; blocks in flight (prefetched
//! or being read for another request) are waited for; missing blocks are read from below, one fetch for each contiguous run, and
//! enter the cache. When everything is there the data are copied out at the memory's rate. After the demand reads the prefetcher
//! is asked what to read ahead. A write becomes durable in the write log when there is one, else below; blocks that it overwrites
//! stay in the cache, others do not enter it. The cache replaces by any policy of [`seeklab_cache`] and may change its size on a schedule.
//!
//! Copies share the cores and the memory of the machine ([`Machine`]).
//!
//! Left out (so far): moving logged data to the devices later, read-modify-write of partial blocks.

mod check;
pub mod prefetch;
mod report;

use crate::blocks::Blocks;
use crate::range::Range;
use prefetch::{NextChunks, Prefetcher};
use seeklab_kernel::Slab;

use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::device::transfer_ns;
use crate::layers::{Layer, ReportContext};
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::shared::Machine;
use crate::timers;
use report::report_prefetches;
use seeklab_cache::{Cursor, NONE};
use seeklab_spec::{self as spec, Op, Path, Problems, Scenario};

/// A prefetch that was issued, for the record.
#[derive(Clone, Copy, Debug)]
pub struct PrefetchRecord {
    /// Operation that triggered it ([`u32::MAX`] when a combined transaction did).
    pub trigger: u32,
    /// Worker whose file it reads.
    pub worker: u32,
    /// Start in the volume, in bytes.
    pub offset: u64,
    /// Bytes that were actually fetched.
    pub bytes: u64,
    /// When it was issued.
    pub issue_ns: u64,
    /// When its last byte arrived; 0 while it is in flight.
    pub done_ns: u64,
    /// Bytes that a read has used since.
    pub used_bytes: u64,
    fetches_left: u32,
}

struct Fetch {
    prefetch: u32,
    waiters: Vec<RequestId>,
    /// The places of its blocks in the cache.
    places: Vec<u32>,
}

struct Cache {
    blocks: Blocks,
    /// Sizes to come, the last one first: when, in nanoseconds, and how many blocks.
    resizes: Vec<(u64, u64)>,
    /// Time to start a request in memory: at least that of a core to find it.
    start_ns: u64,
    rate: u64,
    machine: Machine,
}

impl Cache {
    /// Follows the schedule of sizes up to the present. The cache is not seen between two reads, so it is enough to look then.
    fn resize(&mut self, now_ns: u64) {
        while let Some((_, blocks)) = self.resizes.pop_if(|(at_ns, _)| *at_ns <= now_ns) {
            self.blocks.resize(blocks);
        }
    }
}

/// The file system layer.
pub struct Filesystem {
    block: u64,
    cache: Option<Cache>,
    prefetcher: Option<Box<dyn Prefetcher>>,
    has_log: bool,
    below: Address,
    /// End of each worker's file, in volume bytes.
    file_ends: Vec<u64>,
    fetches: Slab<Fetch>,
    plan: Vec<Range>,
    /// Runs of missing blocks of the request at hand, in block numbers.
    runs: Vec<Range>,
    /// Places of the blocks that the request at hand found.
    used: Vec<u32>,
    /// All prefetches so far, in order of issue.
    pub prefetches: Vec<PrefetchRecord>,
    /// Farthest that any prefetch reached beyond the end of the read that triggered it, in bytes.
    pub max_ahead_bytes: u64,
}

const HERE: Address = Address::of(LayerId::Filesystem);

timers! {
    enum Timer {
        /// A request's data have been copied into or out of memory.
        Copied(RequestId),
    }
}

impl Layer for Filesystem {
    type Spec = spec::VolumeSpec;
    const FIELD: &'static str = "volume";
    const LABEL: &'static str = "File system";
    const COMBINES: bool = true;

    fn spec(scenario: &Scenario) -> Option<&spec::VolumeSpec> {
        scenario.volume.as_ref()
    }

    fn check(spec: &spec::VolumeSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn build(spec: &spec::VolumeSpec, setup: &Setup) -> Option<Self> {
        let primed = spec.cache.as_ref().map_or_else(Vec::new, |cache| setup.regions(&cache.primed));
        let file_ends = setup.plan.workers.iter().map(|worker| worker.region.end).collect();
        let machine = Machine::new(setup.scenario.host.as_ref(), None);
        Some(Self::new(spec, setup.below(LayerId::Filesystem), file_ends, &primed, machine))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => match kernel.requests[id].op {
                Op::Read => self.read(kernel, id),
                Op::Write | Op::Trim => self.write(kernel, id),
            },
            Event::Done(id) if kernel.requests[id].parent.is_some() => {
                if let Some(write) = kernel.join(id) {
                    kernel.complete(write);
                }
            }
            Event::Done(id) => self.fetched(kernel, id),
            Event::Timer(timer) => {
                let Timer::Copied(id) = Timer::unpack(timer);
                kernel.charge(id, Phase::Memory);
                kernel.complete(id);
            }
        }
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        report_prefetches(&self.prefetches, self.max_ahead_bytes, metrics);
    }

    fn metrics_without(metrics: &mut Metrics) {
        report_prefetches(&[], 0, metrics);
    }

    fn tables(volume: Option<&Self>, now: &ReportContext, tables: &mut Tables) {
        Self::report_tables(volume, now.workers, tables);
    }
}

impl Filesystem {
    /// The layer that `spec` describes, above `below`; worker `w`'s file ends at `file_ends[w]`; `primed` ranges are in memory.
    #[must_use]
    pub fn new(spec: &spec::VolumeSpec, below: Address, file_ends: Vec<u64>, primed: &[Range], machine: Machine) -> Self {
        let block = spec.block.0;
        let cache = spec.cache.as_ref().map(|cache| Cache {
            blocks: Blocks::primed(cache.policy, (cache.size.0 / block).max(1), block, primed),
            resizes: cache.resize.iter().rev().map(|change| (change.at.0, (change.size.0 / block).max(1))).collect(),
            start_ns: cache.overhead.0.max(machine.hit_ns(1)),
            rate: cache.rate.0,
            machine,
        });
        let prefetcher = spec.prefetch.as_ref().map(|p| Box::new(NextChunks::new(p)) as Box<dyn Prefetcher>);
        Self {
            block,
            cache,
            prefetcher,
            has_log: spec.write_log.is_some(),
            below,
            file_ends,
            fetches: Slab::default(),
            plan: Vec::new(),
            runs: Vec::new(),
            used: Vec::new(),
            prefetches: Vec::new(),
            max_ahead_bytes: 0,
        }
    }

    fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Some(cache) = &mut self.cache else {
            let request = &mut kernel.requests[id];
            request.missed_bytes = clamp(request.bytes);
            return kernel.submit(self.below, id);
        };
        cache.resize(kernel.now_ns());
        let request = kernel.requests[id];
        let (start, end) = (request.offset, request.offset + request.bytes);
        let (mut cached, mut missed, mut pending) = (0, 0, 0);
        let mut awaited = NONE;
        let mut cursor = Cursor::default();
        self.runs.clear();
        self.used.clear();
        let (mut block, end_block) = (start / self.block, end.div_ceil(self.block));
        while block < end_block {
            for place in cache.blocks.find_run(&mut cursor, block, end_block) {
                let bytes = end.min((block + 1) * self.block) - start.max(block * self.block);
                block += 1;
                if *place == NONE {
                    missed += bytes;
                    extend_runs(&mut self.runs, block - 1..block);
                    continue;
                }
                let mark = cache.blocks.mark_mut(*place);
                if mark.prefetch != NONE {
                    self.prefetches[mark.prefetch as usize].used_bytes += self.block;
                    mark.prefetch = NONE;
                }
                let fetch = mark.fetch;
                self.used.push(*place);
                if fetch == NONE {
                    cached += bytes;
                } else if fetch != awaited {
                    awaited = fetch;
                    let waiters = &mut self.fetches[fetch].waiters;
                    if waiters.last() != Some(&id) {
                        waiters.push(id);
                        pending += 1;
                    }
                }
            }
        }
        cache.blocks.touch_all(&self.used);
        let request = &mut kernel.requests[id];
        request.cached_bytes = clamp(cached);
        request.missed_bytes = clamp(missed);
        request.pending = pending;
        self.fetch_runs(kernel, id, NONE);
        if kernel.requests[id].pending == 0 {
            self.copy(kernel, id);
        }
        self.prefetch(kernel, id, Range { start, end });
    }

    /// Reads the missing blocks of `self.runs` from below: for `reader`, or as the prefetch numbered `prefetch`.
    fn fetch_runs(&mut self, kernel: &mut Kernel, reader: RequestId, prefetch: u32) {
        let Some(cache) = &mut self.cache else { return };
        for run in &self.runs {
            let place = self.fetches.claim(|| Fetch { prefetch: NONE, waiters: Vec::new(), places: Vec::new() });
            let fetch = &mut self.fetches[place];
            fetch.prefetch = prefetch;
            fetch.places.clear();
            cache.blocks.add_run(*run, place, prefetch, &mut fetch.places);
            if prefetch == NONE {
                fetch.waiters.push(reader);
                kernel.requests[reader].pending += 1;
            }
            let worker = kernel.requests[reader].worker;
            let child = kernel.open(Request {
                offset: run.start * self.block,
                bytes: (run.end - run.start) * self.block,
                owner: HERE,
                tag: place,
                worker,
                ..Request::default()
            });
            kernel.submit(self.below, child);
        }
    }

    fn fetched(&mut self, kernel: &mut Kernel, child: RequestId) {
        let place = kernel.requests[child].tag;
        let fetch = &mut self.fetches[place];
        if let Some(cache) = &mut self.cache {
            for at in &fetch.places {
                cache.blocks.arrive_at(*at, place);
            }
        }
        if fetch.prefetch != NONE {
            let record = &mut self.prefetches[fetch.prefetch as usize];
            record.fetches_left -= 1;
            if record.fetches_left == 0 {
                record.done_ns = kernel.now_ns();
            }
        }
        let mut waiters = std::mem::take(&mut fetch.waiters);
        self.fetches.release(place);
        for reader in waiters.drain(..) {
            if kernel.join_shared(reader, child) {
                self.copy(kernel, reader);
            }
        }
        self.fetches[place].waiters = waiters; // keeps its memory for the next fetch
        kernel.requests.remove(child);
    }

    /// Copies the data of a request whose blocks are all there.
    fn copy(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Some(cache) = &mut self.cache else { return };
        let bytes = kernel.requests[id].bytes;
        let ready_ns = cache.machine.copy(kernel.now_ns(), cache.start_ns + transfer_ns(bytes, cache.rate), bytes);
        kernel.wake_at(ready_ns, HERE, Timer::Copied(id));
    }

    fn prefetch(&mut self, kernel: &mut Kernel, id: RequestId, read: Range) {
        let Some(prefetcher) = &mut self.prefetcher else { return };
        let request = kernel.requests[id];
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        prefetcher.plan(read, self.file_ends[request.worker as usize], &mut plan);
        for range in &plan {
            self.max_ahead_bytes = self.max_ahead_bytes.max(range.end - read.end);
            self.prefetch_range(kernel, id, *range);
        }
        self.plan = plan;
    }

    fn prefetch_range(&mut self, kernel: &mut Kernel, id: RequestId, range: Range) {
        let Some(cache) = &self.cache else { return };
        self.runs.clear();
        let mut cursor = Cursor::default();
        let (mut block, end_block) = (range.start / self.block, range.end.div_ceil(self.block));
        while block < end_block {
            let places = cache.blocks.find_run(&mut cursor, block, end_block);
            if places.iter().all(|place| *place == NONE) {
                extend_runs(&mut self.runs, block..block + places.len() as u64);
            } else {
                for (block, _) in (block..).zip(places).filter(|(_, place)| **place == NONE) {
                    extend_runs(&mut self.runs, block..block + 1);
                }
            }
            block += places.len() as u64;
        }
        let Some(first) = self.runs.first() else { return };
        let request = kernel.requests[id];
        let row = u32::try_from(self.prefetches.len()).unwrap_or(NONE);
        self.prefetches.push(PrefetchRecord {
            trigger: if request.owner.layer == LayerId::Workload { request.tag } else { u32::MAX },
            worker: request.worker,
            offset: first.start * self.block,
            bytes: self.runs.iter().map(|run| (run.end - run.start) * self.block).sum(),
            issue_ns: kernel.now_ns(),
            done_ns: 0,
            used_bytes: 0,
            fetches_left: u32::try_from(self.runs.len()).unwrap_or(NONE),
        });
        self.fetch_runs(kernel, id, row);
    }

    fn write(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let child = kernel.open_child(id, HERE, request.offset, request.bytes);
        let to = if self.has_log { Address::of(LayerId::WriteLog) } else { self.below };
        kernel.submit(to, child);
    }
}

/// Adds blocks to the last run when they follow it, else begins a new run.
#[inline]
fn extend_runs(runs: &mut Vec<Range>, blocks: std::ops::Range<u64>) {
    match runs.last_mut() {
        Some(run) if run.end == blocks.start => run.end = blocks.end,
        _ => runs.push(Range { start: blocks.start, end: blocks.end }),
    }
}

/// Bytes of one request as they are kept in its slot; requests are checked to be at most 1 GiB.
fn clamp(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
