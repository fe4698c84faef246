//! The metrics of jobs: rates, latencies, and what their time was spent on.

use super::metrics::{Metrics, Unit, each, in_seconds};
use super::modes::modes;
use super::{JobStats, Recorder, Stats};
use crate::kernel::{Phase, Phases};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

fn bytes(job: &JobStats) -> u64 {
    job.by_op.iter().map(|stats| stats.bytes).sum()
}

/// Seconds of processor time for each GiB moved, of requests that spent `phases` and moved `bytes`.
fn cpu_per_gib_s(phases: &Phases, bytes: u64) -> f64 {
    let ns = phases[Phase::Cpu as usize] + phases[Phase::Dispatch as usize];
    in_seconds(ns) * f64::from(1u32 << 30) / to_f64(bytes.max(1))
}

impl JobStats {
    /// Reports one job, which moved its part of `read_bytes` and `all_bytes`.
    fn metrics(&self, read_bytes: u64, all_bytes: u64, metrics: &mut Metrics) {
        metrics.share(".bytes_share_percent", "The job's bytes as a share of all jobs' bytes.", bytes(self), all_bytes);
        metrics.share(".read_share_percent", "The job's read bytes as a share of all jobs' read bytes.", self.by_op[0].bytes, read_bytes);
        if let Some([first, last]) = self.workers.filter(|workers| workers[0] < workers[1]) {
            metrics.count(
                ".workers_before_stall",
                "Workers that had completed an operation when one first took a second or longer; all workers if none did.",
                u64::from(self.workers_before_stall.unwrap_or(last - first + 1)),
            );
        }
        let elapsed_ns = self.end_ns.saturating_sub(self.start_ns);
        metrics.seconds(".elapsed_s", "Time from the start of the job to its end.", elapsed_ns);
        if self.latency_depth > 0 {
            let found = "Maximum requests in flight that meet the latency target, as found by the search.";
            metrics.count(".latency_depth", found, self.latency_depth.into());
        }
        if self.zone_resets > 0 {
            metrics.count(".zone_resets", "Full zones that were reset because they were written again.", self.zone_resets);
        }
        if self.is_limited {
            metrics.count(".stopped_by_limit", "1 if the limit on operations stopped the job; absent otherwise.", 1);
        }
        if let Some(ramp_ns) = self.shortened_ramp_ns {
            metrics.seconds(".shortened_ramp_s", "Length of the ramp that the limit on operations shortened; absent otherwise.", ramp_ns);
        }
        if let Some(steady) = &self.steady {
            metrics.count(".steady", "1 if the job's rate became steady, 0 if the job ended first.", steady.attained.into());
        }
        for (stats, op) in self.by_op.iter().zip([".read", ".write", ".trim"]) {
            if stats.ios > 0 {
                metrics.within(op, |metrics| stats.metrics(in_seconds(elapsed_ns), op == ".read", metrics));
            }
        }
    }
}

/// Percentiles of latency that are reported, and their names.
pub(super) const PERCENTILES: [(f64, &str); 5] = [
    (50.0, "_latency_p50_ms"),
    (95.0, "_latency_p95_ms"),
    (99.0, "_latency_p99_ms"),
    (99.9, "_latency_p99_9_ms"),
    (99.99, "_latency_p99_99_ms"),
];

impl Stats {
    /// Reports one direction of a job, which has at least one operation.
    fn metrics(&self, seconds: f64, read: bool, metrics: &mut Metrics) {
        let ios = to_f64(self.ios);
        metrics.count("_ios", "Operations completed.", self.ios);
        metrics.bytes("_bytes", "Bytes of the operations.", self.bytes);
        metrics.add("_iops", "Operations per second, over the job's time.", Unit::PerSecond, each(ios, seconds));
        metrics.mib_per_s("_mib_per_s", "Rate in MiB/s, over the job's time.", to_f64(self.bytes), seconds);
        metrics.mb_per_s("_mb_per_s", "Rate in MB/s, over the job's time.", to_f64(self.bytes), seconds);
        metrics.add(
            "_in_flight_mean",
            "Operations in flight, averaged over the job's time.",
            Unit::One,
            each(in_seconds(self.total_ns - self.uncounted_ns), seconds),
        );
        let mean_ns = to_f64(self.total_ns) / ios;
        metrics.milliseconds("_latency_mean_ms", "Mean latency.", mean_ns);
        let variance = (self.squares / ios - mean_ns * mean_ns).max(0.0);
        metrics.milliseconds("_latency_sd_ms", "Standard deviation of the latency.", libm::sqrt(variance));
        metrics.milliseconds("_latency_min_ms", "Minimum latency.", to_f64(self.min_ns));
        for (percentile, name) in PERCENTILES {
            let ns = self.latency.value_at_percentile(percentile).clamp(self.min_ns, self.max_ns);
            metrics.milliseconds(name, "Latency percentile: this share of operations was no slower.", to_f64(ns));
        }
        metrics.milliseconds("_latency_max_ms", "Maximum latency.", to_f64(self.max_ns));
        metrics.count(
            "_latency_modes",
            "Latency modes: peaks of the smoothed histogram with a valley between them.",
            modes(&self.bins) as u64,
        );
        metrics.count("_stalls", "Operations that took a second or longer.", self.stalls);
        metrics.share(
            "_stalls_share_percent",
            "Operations of a second or longer, as a share of the time of all operations.",
            self.stalls_ns,
            self.total_ns,
        );
        if let Some(response) = &self.response {
            response.metrics(metrics);
        }
        if read {
            metrics.bytes("_cached_bytes_p50", "Bytes of a read that were in memory when it arrived: median.", self.cached_bytes_p50());
            metrics.share(
                "_cached_share_percent",
                "Share of bytes that were in memory when their read arrived.",
                self.cached_bytes,
                self.bytes,
            );
            metrics.share(
                "_missed_share_percent",
                "Share of bytes that had to be read from below: neither in memory nor in flight.",
                self.missed_bytes,
                self.bytes,
            );
        }
        for phase in Phase::ALL {
            let ns = self.phases[phase as usize];
            if ns > 0 {
                metrics.milliseconds(&format!("_{}_mean_ms", phase.name()), "Mean time of an operation in this phase.", to_f64(ns) / ios);
            }
        }
        if self.phases[Phase::Cpu as usize] > 0 {
            metrics.add("_cpu_per_gib_s", "Controller time per GiB.", Unit::SPerGib, cpu_per_gib_s(&self.phases, self.bytes));
        }
        let mechanical = [Phase::Seek, Phase::Rotation, Phase::Queue].iter().map(|phase| self.phases[*phase as usize]).sum();
        metrics.share(
            "_positioning_share_percent",
            "Seeks, rotation and device queues, as a share of the time of all operations.",
            mechanical,
            self.total_ns,
        );
    }
}

impl Recorder {
    fn read_bytes(&self) -> u64 {
        self.jobs.iter().map(|job| job.by_op[0].bytes).sum()
    }

    fn all_bytes(&self) -> u64 {
        self.jobs.iter().map(bytes).sum()
    }

    /// Reports each job.
    pub fn metrics(&self, metrics: &mut Metrics) {
        let (read_bytes, all_bytes) = (self.read_bytes(), self.all_bytes());
        for (name, job) in metrics.run.jobs.iter().zip(&self.jobs) {
            metrics.within(name, |metrics| job.metrics(read_bytes, all_bytes, metrics));
        }
        let missed_bytes: u64 = self.jobs.iter().map(|job| job.by_op[0].missed_bytes).sum();
        // As caches count it: what is already in flight is found.
        metrics.share(
            "memory_hit_share_percent",
            "Share of read bytes that were in memory or in flight, as caches count hits.",
            read_bytes - missed_bytes,
            read_bytes,
        );
    }

    /// Reports all jobs together: the rate from the first start to the last end, and the sum of their rates in their own times.
    pub fn rates(&self, metrics: &mut Metrics) {
        let mib = |job: &JobStats| to_f64(bytes(job)) / f64::from(1 << 20);
        let rate =
            |mib: f64, from_ns: u64, to_ns: u64| if to_ns > from_ns { mib * to_f64(NS_PER_S) / to_f64(to_ns - from_ns) } else { 0.0 };
        let jobs = || self.jobs.iter().filter(|job| job.end_ns > 0);
        let (from, to) = (jobs().map(|job| job.start_ns).min().unwrap_or(0), jobs().map(|job| job.end_ns).max().unwrap_or(0));
        metrics.bytes("bytes", "Bytes of all jobs.", self.all_bytes());
        metrics.add(
            "rate_mib_per_s",
            "Total rate of all jobs, from the first start to the last end.",
            Unit::MibPerS,
            rate(jobs().map(mib).sum(), from, to),
        );
        metrics.add(
            "sum_of_rates_mib_per_s",
            "Sum of all jobs' rates, each over its own time.",
            Unit::MibPerS,
            jobs().map(|job| rate(mib(job), job.start_ns, job.end_ns)).sum(),
        );
    }
}
