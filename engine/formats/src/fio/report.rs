//! The report of a run for fio's printers: a job's description, its counts, latencies and samples, by direction.
//!
//! fio splits latency into submission and completion. A modelled host submits in no time, so submission latency is zero, is not
//! counted, and completion latency is the whole latency. Processor use, context switches and page faults are zero.

use super::{FioJob, FioJobs};
use seeklab_spec::to_f64;

/// Percentiles that fio prints by default.
pub const PERCENTILES: [f64; 17] = [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Window of bandwidth and request-rate samples, in nanoseconds.
pub const WINDOW_NS: u64 = 500_000_000;

/// Queue depths of a job's distribution, fio's names; each level reaches to the next.
pub(super) const DEPTH_LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Batch sizes of submissions and completions, fio's names; each level reaches down to the one before.
pub(super) const BATCH_LEVELS: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// Least percentage that fio shows of a depth level, and of a latency class.
pub(super) const LEVEL_FLOOR: f64 = 0.1;
pub(super) const CLASS_FLOOR: f64 = 0.01;
/// Upper bounds (exclusive) of latency classes within nanoseconds, microseconds and milliseconds.
pub(super) const CLASS_BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// A whole report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Program and version, such as `seeklab-0.1.0`.
    pub version: String,
    /// Options of the `[global]` sections.
    pub global_options: Vec<(String, String)>,
    /// From the start of the first job to the end of the last, simulated.
    pub elapsed_ns: u64,
    /// One for each job (or each worker); [`Report::merged`] merges those that ask for it.
    pub jobs: Vec<JobReport>,
    /// One for each device.
    pub disks: Vec<DiskReport>,
}

/// A job's part of the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobReport {
    /// The job as its file describes it. Of merged jobs it is the first, with the workers of all.
    pub spec: FioJob,
    /// Time between first and last request, added over the workers.
    pub job_runtime_ns: u64,
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
    /// Trims.
    pub trim: Direction,
    /// All of them, where the job asks for it; [`Report::merged`] adds them up.
    mixed: Direction,
    /// The error number that ended the job; 0 for none.
    pub error: u32,
    /// Flushes of the job's files.
    pub syncs: u64,
    /// Full zones that were reset.
    pub zone_resets: u64,
    /// The target of latency that the job looked for, and what it found.
    pub target: Option<Target>,
    /// The steady state that the job looked for, and what it found.
    pub steady: Option<Steady>,
    /// Requests that found (themselves included) 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 or more in flight when submitted.
    pub depths: [u64; 7],
}

/// A target of latency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Target {
    /// The target in nanoseconds.
    pub target_ns: u64,
    /// The window in microseconds.
    pub window_us: u64,
    /// Share of the requests that must meet it.
    pub percent: f64,
    /// The depth that was found.
    pub depth: u32,
}

/// A steady state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steady {
    /// The criterion as fio writes it, such as `iops:10.000000%`.
    pub criterion: String,
    /// Seconds of the window.
    pub duration_s: u64,
    /// Whether it was reached.
    pub attained: bool,
    /// The criterion's last value, in percent.
    pub value_percent: f64,
    /// The greatest distance from the mean.
    pub max_deviation: f64,
    /// The slope a second.
    pub slope: f64,
    /// Requests of each second of the window.
    pub iops: Vec<u64>,
    /// Bytes of each second of the window.
    pub bw: Vec<u64>,
}

/// Whether the report has directions separately or together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Unified {
    /// Separately.
    #[default]
    Separate,
    /// Together only.
    Mixed,
    /// Both.
    Both,
}

/// A part of a job's report.
pub(super) type Part = fn(&JobReport) -> &Direction;

/// Requests of a job in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Direction {
    /// Bytes transferred.
    pub io_bytes: u64,
    /// Requests completed.
    pub total_ios: u64,
    /// From start to the last completion; the longest of the workers.
    pub runtime_ns: u64,
    /// Completion latency.
    pub latency: Latency,
    /// Bandwidth in KiB/s over windows of [`WINDOW_NS`].
    pub bw: Samples,
    /// Requests per second over windows of [`WINDOW_NS`].
    pub iops: Samples,
}

/// Distribution of a latency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// Smallest.
    pub min_ns: u64,
    /// Largest.
    pub max_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub stddev_ns: f64,
    /// Histogram: representative latency in nanoseconds and number of requests, in ascending order.
    pub counts: Vec<(u64, u64)>,
}

/// Summary of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the samples.
    pub stddev: f64,
    /// Number.
    pub samples: u64,
}

/// A device's part of the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskReport {
    /// Name.
    pub name: String,
    /// Requests read and written.
    pub ios: [u64; 2],
    /// Requests merged with others before they reached the device, read and written.
    pub merges: [u64; 2],
    /// Time that requests spent at the device, added up, in milliseconds, read and written.
    pub ticks_ms: [u64; 2],
    /// Time that requests spent queued and served, added up, in milliseconds.
    pub in_queue_ms: u64,
    /// Share of time in which the device was busy, 0 to 100.
    pub util_percent: f64,
}

/// Requests by class of latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LatencyClasses {
    /// Below each of [`CLASS_BOUNDS`], in nanoseconds.
    pub(super) ns: [u64; 10],
    /// In microseconds.
    pub(super) us: [u64; 10],
    /// In milliseconds; then below 2000, and 2000 or more.
    pub(super) ms: [u64; 12],
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; samples are not negative
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}

/// Bits of a value that fio's bins keep.
const BIN_BITS: u32 = 6;

/// The value that stands for the bin of a latency: the middle of those whose first seven bits are the same.
fn bin_value(ns: u64) -> u64 {
    let dropped = (u64::BITS - ns.leading_zeros()).saturating_sub(BIN_BITS + 1);
    if dropped == 0 {
        return ns;
    }
    (ns >> dropped << dropped) + (1 << (dropped - 1))
}

/// fio counts run time in milliseconds, rounded up.
pub(super) fn milliseconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000)
}

/// Part of `total` in percent; zero of nothing.
fn percent(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { 100.0 * to_f64(part) / to_f64(total) }
}

/// Share of a level in percent; fio shows what is there as `floor` at least.
pub(super) fn visible_percent(part: u64, total: u64, floor: f64) -> f64 {
    if part == 0 { 0.0 } else { percent(part, total).max(floor) }
}

/// `amount` per second over a run time in milliseconds, rounded down.
pub(super) fn per_second(amount: u64, runtime_ms: u64) -> u64 {
    u64::try_from(u128::from(amount) * 1000 / u128::from(runtime_ms.max(1))).unwrap_or(u64::MAX)
}

impl Report {
    /// A report on `jobs` in which all measurements are still missing, one [`JobReport`] for each job.
    #[must_use]
    pub fn of(jobs: &FioJobs, version: impl Into<String>) -> Self {
        Self {
            version: version.into(),
            global_options: jobs.global_options.clone(),
            elapsed_ns: 0,
            jobs: jobs.jobs.iter().map(|job| JobReport { spec: job.clone(), ..JobReport::default() }).collect(),
            disks: Vec::new(),
        }
    }

    /// The jobs as they are printed: one with `group_reporting` joins the job before it when that is of the same group.
    #[must_use]
    pub fn merged(&self) -> Vec<JobReport> {
        let mut merged: Vec<JobReport> = Vec::new();
        for job in &self.jobs {
            match merged.last_mut() {
                Some(last) if job.spec.group_reporting && last.spec.group == job.spec.group => last.merge(job),
                _ => merged.push(job.clone()),
            }
        }
        for job in merged.iter_mut().filter(|job| job.spec.unified != Unified::Separate) {
            for part in [&job.read, &job.write, &job.trim] {
                job.mixed.merge(part);
            }
        }
        merged
    }
}

impl JobReport {
    /// The parts of the report with their names.
    pub(super) fn parts(&self) -> Vec<(&'static str, Part)> {
        let separate: [(&'static str, Part); 3] = [("read", |job| &job.read), ("write", |job| &job.write), ("trim", |job| &job.trim)];
        let mixed: (&'static str, Part) = ("mixed", |job| &job.mixed);
        match self.spec.unified {
            Unified::Separate => separate.to_vec(),
            Unified::Mixed => vec![mixed],
            Unified::Both => separate.into_iter().chain([mixed]).collect(),
        }
    }

    /// The percentiles to print.
    pub(super) fn percentile_list(&self) -> &[f64] {
        if self.spec.percentile_list.is_empty() { &PERCENTILES } else { &self.spec.percentile_list }
    }

    /// Adds a job of the same group: as in fio, the row has the name of the first job and the options of the last.
    fn merge(&mut self, other: &Self) {
        self.spec.options.clone_from(&other.spec.options);
        self.spec.workers = self.spec.workers.saturating_add(other.spec.workers);
        self.job_runtime_ns = self.job_runtime_ns.saturating_add(other.job_runtime_ns);
        self.error = self.error.max(other.error);
        self.syncs = self.syncs.saturating_add(other.syncs);
        self.zone_resets = self.zone_resets.saturating_add(other.zone_resets);
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.trim.merge(&other.trim);
        for (depth, more) in self.depths.iter_mut().zip(other.depths) {
            *depth = depth.saturating_add(more);
        }
    }

    /// Requests in both directions.
    pub(super) fn total_ios(&self) -> u64 {
        self.read.total_ios.saturating_add(self.write.total_ios).saturating_add(self.trim.total_ios)
    }

    pub(super) fn latency_classes(&self) -> LatencyClasses {
        let mut classes = LatencyClasses::default();
        let counts = [&self.read, &self.write, &self.trim].map(|direction| &direction.latency.counts);
        for (ns, count) in counts.into_iter().flatten() {
            let (value, slots): (u64, &mut [u64]) = match ns {
                0..1_000 => (*ns, &mut classes.ns),
                1_000..1_000_000 => (ns / 1_000, &mut classes.us),
                _ => (ns / 1_000_000, &mut classes.ms),
            };
            let bounds = CLASS_BOUNDS.iter().chain(&[2000, u64::MAX]);
            if let Some((_, slot)) = bounds.zip(slots).find(|(bound, _)| value < **bound) {
                *slot = slot.saturating_add(*count);
            }
        }
        classes
    }
}

impl Direction {
    /// Sets the samples of bandwidth and request rate from the bytes and requests that completed in each window of [`WINDOW_NS`].
    pub fn sample(&mut self, windows: &[(u64, u64)]) {
        let per_second = 1_000_000_000 / WINDOW_NS;
        let bw: Vec<f64> = windows.iter().map(|(bytes, _)| to_f64(bytes.saturating_mul(per_second) / 1024)).collect();
        let iops: Vec<f64> = windows.iter().map(|(_, ios)| to_f64(ios.saturating_mul(per_second))).collect();
        self.bw = Samples::of(&bw);
        self.iops = Samples::of(&iops);
    }

    fn merge(&mut self, other: &Self) {
        self.io_bytes = self.io_bytes.saturating_add(other.io_bytes);
        self.total_ios = self.total_ios.saturating_add(other.total_ios);
        self.runtime_ns = self.runtime_ns.max(other.runtime_ns);
        self.latency.merge(&other.latency);
        self.bw.add(&other.bw);
        self.iops.add(&other.iops);
    }
}

impl Latency {
    /// Number of requests.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// The counts by fio's bins: each has the value that fio prints for it, in nanoseconds.
    #[must_use]
    pub fn bins(&self) -> Vec<(u64, u64)> {
        let mut bins: Vec<(u64, u64)> = Vec::new();
        for (ns, count) in &self.counts {
            let value = bin_value((*ns).clamp(self.min_ns, self.max_ns.max(self.min_ns)));
            match bins.last_mut() {
                Some((last, sum)) if *last == value => *sum += count,
                _ => bins.push((value, *count)),
            }
        }
        bins
    }

    /// The values at percentiles in ascending order: of each, the smallest latency that so many percent of the requests do not exceed.
    #[must_use]
    pub fn percentiles(&self, percentiles: &[f64]) -> Vec<u64> {
        let total = to_f64(self.samples());
        let mut counts = self.counts.iter();
        let (mut reached, mut value) = (0, 0);
        let value_at = |percentile: &f64| {
            while to_f64(reached) < percentile / 100.0 * total
                && let Some((latency, count)) = counts.next()
            {
                reached += count;
                value = (*latency).clamp(self.min_ns, self.max_ns.max(self.min_ns));
            }
            value
        };
        percentiles.iter().map(value_at).collect()
    }

    fn merge(&mut self, other: &Self) {
        let (mine, theirs) = (to_f64(self.samples()), to_f64(other.samples()));
        if theirs == 0.0 {
            return;
        }
        if mine == 0.0 {
            self.clone_from(other);
            return;
        }
        let all = mine + theirs;
        let apart = other.mean_ns - self.mean_ns;
        let variance =
            (mine * self.stddev_ns * self.stddev_ns + theirs * other.stddev_ns * other.stddev_ns + apart * apart * mine * theirs / all)
                / all;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.mean_ns = (mine * self.mean_ns + theirs * other.mean_ns) / all;
        self.stddev_ns = variance.sqrt();
        self.counts.extend(&other.counts);
        self.counts.sort_unstable();
        self.counts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
    }
}

impl Samples {
    /// Summary of `values`, in order.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let Some(first) = values.first() else { return Self::default() };
        let number = to_f64(values.len() as u64);
        let mean = values.iter().sum::<f64>() / number;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Self {
            min: whole(values.iter().copied().fold(*first, f64::min)),
            max: whole(values.iter().copied().fold(*first, f64::max)),
            mean,
            stddev: if values.len() > 1 { (squares / (number - 1.0)).sqrt() } else { 0.0 },
            samples: values.len() as u64,
        }
    }

    /// Adds a worker's samples, as fio does for a group: smallest, largest and mean add up, deviations are pooled.
    fn add(&mut self, other: &Self) {
        let squares = |samples: &Self| samples.stddev * samples.stddev * to_f64(samples.samples.saturating_sub(1));
        let together = squares(self) + squares(other);
        self.min = self.min.saturating_add(other.min);
        self.max = self.max.saturating_add(other.max);
        self.mean += other.mean;
        self.samples = self.samples.saturating_add(other.samples);
        self.stddev = if self.samples > 1 { (together / to_f64(self.samples - 1)).sqrt() } else { 0.0 };
    }
}

/// Bytes per second of a whole group in one direction: all bytes over the longest run time.
pub(super) fn group_rate<'a>(directions: impl Iterator<Item = &'a Direction>) -> u64 {
    let (bytes, longest) = directions
        .fold((0u64, 0u64), |(bytes, longest), direction| (bytes.saturating_add(direction.io_bytes), longest.max(direction.runtime_ns)));
    if longest == 0 { 0 } else { per_second(bytes, milliseconds(longest)) }
}

/// The mean of a job's bandwidth samples in percent of its group's bandwidth, 100 at most.
pub(super) fn share_of_group(direction: &Direction, group_bytes_per_s: u64) -> f64 {
    if direction.bw.samples == 0 {
        0.0
    } else if group_bytes_per_s == 0 {
        100.0
    } else {
        (direction.bw.mean * 100.0 / (to_f64(group_bytes_per_s) / 1024.0)).min(100.0)
    }
}
