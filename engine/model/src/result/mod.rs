//! The result of a run: statistics of each job, the operation log, time series, a fingerprint.

pub mod analytics;
pub mod bins;
pub mod columns;
pub mod flow;
mod jobs;
pub mod journeys;
pub mod latency_dips;
pub mod limiter;
pub mod log;
pub mod metrics;
pub mod modes;
pub mod outcome;
pub mod response;

use std::sync::LazyLock;

use bins::{Bin, Bins};
use columns::Take::{Index, Real, Whole};
use columns::{Table, Tables};
use hdrhistogram::Histogram;
use log::Log;
use outcome::{Failure, Steadiness};
use response::Response;

use crate::kernel::{PHASES, Phases, Request, Spent};
use seeklab_kernel::Fingerprint;
use seeklab_spec::Op;
use seeklab_spec::Record;
use seeklab_spec::to_f64;

/// Width of the windows over which fio samples bandwidth, in nanoseconds.
pub const SAMPLE_NS: u64 = 500_000_000;
/// Most intervals that a series keeps, and windows that samples do; the last one takes what comes later.
const MAX_INTERVALS: usize = 1 << 20;
/// Three significant digits, the usual choice for latencies.
const DIGITS: u8 = 3;
/// A request that takes so long has stalled.
pub const STALL_NS: u64 = 1_000_000_000;
/// Queue depth levels of fio's report: 1, 2, 4, 8, 16, 32, 64 and more.
pub const DEPTH_LEVELS: usize = 7;

/// Bytes and operations completed in one sampling window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Bytes.
    pub bytes: u64,
    /// Operations.
    pub ios: u64,
}

/// Statistics of one job in one direction.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Operations.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bytes that were in memory on arrival.
    pub cached_bytes: u64,
    /// Bytes that were not in memory and not yet requested on arrival.
    pub missed_bytes: u64,
    /// Latencies in nanoseconds.
    pub latency: Histogram<u64>,
    /// Shortest latency.
    pub min_ns: u64,
    /// Longest latency.
    pub max_ns: u64,
    /// Sum of latencies.
    pub total_ns: u64,
    /// Part of that sum before results counted.
    pub uncounted_ns: u64,
    /// Sum of squared latencies.
    pub squares: f64,
    /// Operations that took [`STALL_NS`] or longer.
    pub stalls: u64,
    /// Sum of their latencies.
    pub stalls_ns: u64,
    /// Nanoseconds by phase, over all operations.
    pub phases: Phases,
    /// Latencies by bin.
    pub bins: Bins,
    /// Cached bytes of each operation that found any.
    cached: Option<Box<Histogram<u64>>>,
    /// Completions by window of [`SAMPLE_NS`] from the start of the run.
    pub samples: Vec<Sample>,
    /// Times from when operations were due, of a job with a plan.
    pub response: Option<Box<Response>>,
}

impl Stats {
    fn new() -> Self {
        Self {
            ios: 0,
            bytes: 0,
            cached_bytes: 0,
            missed_bytes: 0,
            latency: histogram(),
            min_ns: u64::MAX,
            max_ns: 0,
            total_ns: 0,
            uncounted_ns: 0,
            squares: 0.0,
            stalls: 0,
            stalls_ns: 0,
            phases: [0; PHASES],
            bins: Bins::default(),
            cached: None,
            samples: Vec::new(),
            response: None,
        }
    }

    #[cold]
    fn boxed() -> Box<Self> {
        Box::new(Self::new())
    }

    #[inline]
    #[allow(clippy::cast_precision_loss)] // latencies in ns are far below 2^53
    fn add(&mut self, request: &Request, spent: Spent, now_ns: u64) {
        let latency_ns = now_ns - request.submitted_ns;
        self.ios += 1;
        self.bytes += request.bytes;
        self.cached_bytes += u64::from(request.cached_bytes);
        self.missed_bytes += u64::from(request.missed_bytes);
        record(&mut self.latency, latency_ns);
        if request.cached_bytes > 0 {
            record(self.cached.get_or_insert_with(|| Box::new(histogram())), u64::from(request.cached_bytes));
        }
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.total_ns += latency_ns;
        self.squares += latency_ns as f64 * latency_ns as f64;
        if latency_ns >= STALL_NS {
            self.stalls += 1;
            self.stalls_ns += latency_ns;
        }
        for (phase, ns) in spent.iter() {
            self.phases[phase as usize] += ns;
        }
        self.bins.add(latency_ns);
        add_sample(&mut self.samples, now_ns / SAMPLE_NS, 1, request.bytes);
    }

    /// Adds a flow's `ios` operations of `io_bytes` and of equal latency.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sums of nanoseconds
    fn add_flow(&mut self, ios: u64, latency_ns: u64, io_bytes: u64, request: &Request, spent: Spent, now_ns: u64) {
        if ios == 0 {
            return;
        }
        let bytes = ios * io_bytes;
        self.ios += ios;
        self.bytes += bytes;
        let _ = self.latency.record_n(latency_ns, ios); // as in `record`
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        self.total_ns += ios * latency_ns;
        self.squares += ios as f64 * latency_ns as f64 * latency_ns as f64;
        if latency_ns >= STALL_NS {
            self.stalls += ios;
            self.stalls_ns += ios * latency_ns;
        }
        let each = (ios * latency_ns) as f64 / (now_ns - request.submitted_ns).max(1) as f64;
        for (phase, ns) in spent.iter() {
            self.phases[phase as usize] += libm::round(ns as f64 * each) as u64;
        }
        self.bins.add_many(latency_ns, ios);
        add_sample(&mut self.samples, now_ns.saturating_sub(1) / SAMPLE_NS, ios, bytes);
    }
}

impl Stats {
    /// The median of the operations' cached bytes: of all of them, also those that found none.
    fn cached_bytes_p50(&self) -> u64 {
        let Some(cached) = &self.cached else { return 0 };
        let (middle, none) = (self.ios.div_ceil(2), self.ios - cached.len());
        if middle <= none {
            return 0;
        }
        // Half a rank less, so that rounding cannot reach the next.
        let share = (to_f64(middle - none) - 0.5) / to_f64(cached.len());
        cached.lowest_equivalent(cached.value_at_quantile(share))
    }
}

/// Adds a request to statistics that few runs keep.
#[inline(never)]
fn add_to(stats: &mut ByOp, request: &Request, spent: Spent, now_ns: u64) {
    stats.of_mut(request.op).add(request, spent, now_ns);
}

/// Statistics of reads, writes and trims. A direction without operations takes no room, and is read as one with none.
#[derive(Clone, Debug, Default)]
pub struct ByOp([Option<Box<Stats>>; 3]);

impl ByOp {
    /// The statistics of reads, writes and trims.
    pub fn iter(&self) -> impl Iterator<Item = &Stats> {
        (0..self.0.len()).map(|op| &self[op])
    }

    #[inline]
    fn of_mut(&mut self, op: Op) -> &mut Stats {
        self.0[op as usize].get_or_insert_with(Stats::boxed)
    }
}

impl std::ops::Index<usize> for ByOp {
    type Output = Stats;
    fn index(&self, op: usize) -> &Stats {
        static NONE: LazyLock<Stats> = LazyLock::new(Stats::new);
        self.0[op].as_deref().unwrap_or(&NONE)
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new(DIGITS).expect("three digits are a valid precision")
}

fn record(histogram: &mut Histogram<u64>, value: u64) {
    // A histogram that resizes itself refuses only values beyond the range of u64.
    let _ = histogram.record(value);
}

fn add_sample(samples: &mut Vec<Sample>, window: u64, ios: u64, bytes: u64) {
    let window = usize::try_from(window).unwrap_or(MAX_INTERVALS).min(MAX_INTERVALS);
    if samples.len() <= window {
        samples.resize(window + 1, Sample::default());
    }
    samples[window].bytes += bytes;
    samples[window].ios += ios;
}

/// Statistics of one job.
#[derive(Clone, Debug)]
pub struct JobStats {
    /// Reads, writes and trims.
    pub by_op: ByOp,
    /// Requests issued at each queue depth level.
    pub depths: [u64; DEPTH_LEVELS],
    /// Most requests that one of its workers had in flight.
    pub most_in_flight: u32,
    /// The first and the last of its workers that have completed a request, in order of their numbers.
    pub workers: Option<[u32; 2]>,
    /// How many had when a request first stalled.
    pub workers_before_stall: Option<u32>,
    /// From when its results count, after the ramp of its first worker; `u64::MAX` before.
    pub start_ns: u64,
    /// When its last worker ended.
    pub end_ns: u64,
    /// Why it failed, if it did.
    pub error: Option<Failure>,
    /// Whether it was stopped by the limit on operations.
    pub is_limited: bool,
    /// Length of its ramp, if the limit on operations shortened it.
    pub shortened_ramp_ns: Option<u64>,
    /// Requests of the ramp, which count if the job ends before the ramp does.
    ramp: ByOp,
    /// The depth that the search for a target of latency is at; 0 without one.
    pub latency_depth: u32,
    /// Zones that were reset to be written again.
    pub zone_resets: u64,
    /// Result of the search for a steady state, if there was one.
    pub steady: Option<Steadiness>,
}

/// Statistics of one worker.
#[derive(Clone, Debug, Default)]
pub struct WorkerStats {
    /// Reads, writes and trims.
    pub by_op: ByOp,
    /// From when its results count.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// As of a job.
    ramp: ByOp,
}

/// One interval of the time series.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeriesRow {
    /// Operations by direction.
    pub ios: [u64; 3],
    /// Bytes by direction.
    pub bytes: [u64; 3],
    /// Sum of latencies by direction.
    pub total_ns: [u64; 3],
    /// Bytes read from memory.
    pub cached_bytes: u64,
    /// Bytes read that had to be fetched from below.
    pub missed_bytes: u64,
}

impl SeriesRow {
    #[allow(clippy::cast_precision_loss)] // nanoseconds of one interval
    fn mean_ms(&self, op: usize) -> f64 {
        if self.ios[op] == 0 { 0.0 } else { self.total_ns[op] as f64 / self.ios[op] as f64 / 1e6 }
    }
}

/// A row for each bin of latencies that is not empty, by job and direction.
const BINS: Table<(u32, u32, Bin)> = Table::new(
    "bins",
    &[
        ("job", Index(|row| row.0)),
        ("op", Index(|row| row.1)),
        ("lower_ns", Whole(|row| row.2.lower_ns)),
        ("upper_ns", Whole(|row| row.2.upper_ns)),
        ("count", Whole(|row| row.2.count)),
        ("total_ns", Whole(|row| row.2.total_ns)),
    ],
);

/// A row for each interval, with its start.
const SERIES: Table<(u64, SeriesRow)> = Table::new(
    "series",
    &[
        ("time_ns", Whole(|row| row.0)),
        ("reads", Whole(|row| row.1.ios[0])),
        ("writes", Whole(|row| row.1.ios[1])),
        ("read_bytes", Whole(|row| row.1.bytes[0])),
        ("write_bytes", Whole(|row| row.1.bytes[1])),
        ("read_latency_mean_ms", Real(|row| row.1.mean_ms(0))),
        ("write_latency_mean_ms", Real(|row| row.1.mean_ms(1))),
        ("cached_bytes", Whole(|row| row.1.cached_bytes)),
        ("missed_bytes", Whole(|row| row.1.missed_bytes)),
    ],
);

/// A worker's report of a completed operation.
#[derive(Clone, Copy, Debug)]
pub struct Completed {
    /// Its job.
    pub job: usize,
    /// Where the worker's region starts.
    pub region_start: u64,
    /// When the operation was due, if its job has a plan.
    pub due_ns: Option<u64>,
    /// The loop that it was a time of, if it was not an operation.
    pub flow: Option<flow::Loop>,
    /// Whether it counts in the statistics; the log and the fingerprint have all.
    pub measured: bool,
    /// Part of its time before results counted.
    pub uncounted_ns: u64,
}

/// Collects what a run leaves.
#[derive(Debug)]
pub struct Recorder {
    /// Statistics of each job.
    pub jobs: Vec<JobStats>,
    /// Statistics of each worker, in the order of the jobs, when they are kept.
    pub workers: Vec<WorkerStats>,
    keeps_workers: bool,
    /// The operation log, when it is kept.
    pub log: Option<Log>,
    /// Time series.
    pub series: Vec<SeriesRow>,
    /// Width of an interval of the series.
    pub interval_ns: u64,
    /// Hash of all completed operations.
    pub fingerprint: Fingerprint,
    /// When the last row of the series ends.
    row_ends_ns: u64,
}

impl Recorder {
    /// A recorder for `jobs` jobs; it keeps the log when the record says so, or when something reads it (`keep_log`).
    #[must_use]
    pub fn new(jobs: usize, record: &Record, keep_log: bool) -> Self {
        let stats = || JobStats {
            by_op: ByOp::default(),
            depths: [0; DEPTH_LEVELS],
            most_in_flight: 0,
            workers: None,
            workers_before_stall: None,
            start_ns: u64::MAX,
            end_ns: 0,
            error: None,
            is_limited: false,
            shortened_ramp_ns: None,
            ramp: ByOp::default(),
            latency_depth: 0,
            zone_resets: 0,
            steady: None,
        };
        Self {
            jobs: (0..jobs).map(|_| stats()).collect(),
            workers: Vec::new(),
            keeps_workers: record.workers,
            log: (record.log || keep_log).then(Log::default),
            series: Vec::new(),
            interval_ns: record.interval.0,
            fingerprint: Fingerprint::default(),
            row_ends_ns: 0,
        }
    }

    /// A job issues a request as its `in_flight`-th.
    pub fn issued(&mut self, job: usize, in_flight: u32) {
        let level = (u32::BITS - 1 - in_flight.max(1).leading_zeros()) as usize;
        let stats = &mut self.jobs[job];
        stats.depths[level.min(DEPTH_LEVELS - 1)] += 1;
        stats.most_in_flight = stats.most_in_flight.max(in_flight);
    }

    /// An operation has completed.
    pub fn completed(&mut self, completed: &Completed, request: &Request, spent: Spent, now_ns: u64) {
        let Completed { job, region_start, due_ns, measured, uncounted_ns, flow } = *completed;
        let passed_ns = now_ns - request.submitted_ns;
        let (ios, latency_ns) = flow.map_or((1, passed_ns), |flow| flow.ios(request.bytes, passed_ns));
        let offset = request.offset - region_start;
        let direction = if request.op == Op::Trim { 1 << 32 } else { request.op as u64 };
        self.fingerprint.add([job as u64 * 2 + direction, offset, request.bytes, request.submitted_ns, now_ns]);
        let (stats, worker) = (&mut self.jobs[job], request.worker);
        let [first, last] = stats.workers.unwrap_or([worker; 2]);
        let workers = [first.min(worker), last.max(worker)];
        stats.workers = Some(workers);
        if latency_ns >= STALL_NS {
            stats.workers_before_stall.get_or_insert(workers[1] - workers[0] + 1);
        }
        if let Some(log) = &mut self.log {
            log.add(job, request, spent, region_start, due_ns);
        }
        // A flow's I/Os ended before the end of its segment, which may be an interval's; a single one ended with it.
        let last_ns = if flow.is_some() { now_ns.saturating_sub(1) } else { now_ns };
        if last_ns >= self.row_ends_ns {
            let interval = usize::try_from(last_ns / self.interval_ns).unwrap_or(MAX_INTERVALS).min(MAX_INTERVALS);
            self.series.resize(interval + 1, SeriesRow::default());
            self.row_ends_ns = if interval == MAX_INTERVALS { u64::MAX } else { (interval as u64 + 1).saturating_mul(self.interval_ns) };
        }
        let Some(row) = self.series.last_mut() else { return }; // there is one since the first completion
        let op = request.op as usize;
        row.ios[op] += ios;
        row.bytes[op] += request.bytes;
        row.total_ns[op] += ios * latency_ns;
        if request.op == Op::Read {
            row.cached_bytes += u64::from(request.cached_bytes);
            row.missed_bytes += u64::from(request.missed_bytes);
        }
        if self.keeps_workers && flow.is_none() {
            let stats = self.worker(worker);
            let by_op = if measured { &mut stats.by_op } else { &mut stats.ramp };
            add_to(by_op, request, spent, now_ns);
        }
        if !measured && flow.is_none() {
            add_to(&mut self.jobs[job].ramp, request, spent, now_ns);
        }
        if measured {
            let stats = self.jobs[job].by_op.of_mut(request.op);
            if let Some(flow) = flow {
                stats.add_flow(flow.ios_after(uncounted_ns, ios, passed_ns), latency_ns, flow.bytes, request, spent, now_ns);
            } else {
                stats.add(request, spent, now_ns);
                stats.uncounted_ns += uncounted_ns;
            }
            if let Some(due_ns) = due_ns {
                let interval_ns = self.interval_ns;
                let plan = stats.response.get_or_insert_with(|| Box::new(Response::new(interval_ns)));
                plan.add(due_ns, request.submitted_ns, now_ns);
            }
        }
    }

    /// Discard the results of a job so far.
    pub fn restart(&mut self, job: usize) {
        let stats = &mut self.jobs[job];
        stats.by_op = ByOp::default();
        stats.depths = [0; DEPTH_LEVELS];
        stats.ramp = ByOp::default();
    }

    /// The worker `id` of a job, whose results count from `start_ns`, has ended.
    pub fn ended(&mut self, job: usize, id: u32, start_ns: u64, now_ns: u64) {
        let stats = &mut self.jobs[job];
        stats.start_ns = stats.start_ns.min(start_ns);
        stats.end_ns = stats.end_ns.max(now_ns);
        if self.keeps_workers {
            let stats = self.worker(id);
            (stats.start_ns, stats.end_ns) = (start_ns, now_ns);
        }
    }

    /// A job whose workers `ids` began at `start_ns` has ended within its ramp: as with fio, all of its requests count then.
    #[cold]
    pub fn ended_in_ramp(&mut self, job: usize, ids: impl Iterator<Item = u32>, start_ns: u64) {
        let stats = &mut self.jobs[job];
        if stats.by_op.iter().any(|stats| stats.ios > 0) {
            return;
        }
        stats.start_ns = start_ns;
        stats.by_op = std::mem::take(&mut stats.ramp);
        if self.keeps_workers {
            for id in ids {
                let stats = self.worker(id);
                (stats.by_op, stats.start_ns) = (std::mem::take(&mut stats.ramp), start_ns);
            }
        }
    }

    #[inline(never)]
    fn worker(&mut self, id: u32) -> &mut WorkerStats {
        let index = id as usize;
        if self.workers.len() <= index {
            self.workers.resize_with(index + 1, WorkerStats::default);
        }
        &mut self.workers[index]
    }

    /// Bytes of memory that grow with the run.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let plans = self.jobs.iter().flat_map(|job| job.by_op.iter()).filter_map(|stats| stats.response.as_ref());
        let samples: usize = self.jobs.iter().flat_map(|job| job.by_op.iter()).map(|stats| stats.samples.len()).sum();
        self.log.as_ref().map_or(0, Log::memory_bytes)
            + (self.series.len() * size_of::<SeriesRow>() + samples * size_of::<Sample>()) as u64
            + plans.map(|plan| plan.memory_bytes()).sum::<u64>()
    }

    /// Reports latencies by bin, and the time series.
    pub fn tables(recorder: Option<&Self>, tables: &mut Tables) {
        let directions = recorder.into_iter().flat_map(|recorder| (0..).zip(&recorder.jobs));
        let directions = directions.flat_map(|(job, stats)| (0..).zip(stats.by_op.iter()).map(move |(op, stats)| (job, op, stats)));
        tables.table(&BINS, directions.flat_map(|(job, op, stats)| stats.bins.iter().map(move |bin| (job, op, bin))));
        let series =
            recorder.into_iter().flat_map(|recorder| (0..).zip(&recorder.series).map(|(row, of)| (row * recorder.interval_ns, *of)));
        tables.table(&SERIES, series);
        Response::tables(recorder.into_iter().flat_map(|recorder| &recorder.jobs), tables);
    }
}
