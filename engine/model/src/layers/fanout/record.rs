//! The record of a fan-out: counts, latencies of requests and leaves, and the report.

use hdrhistogram::Histogram;

use crate::result::STALL_NS;
use crate::result::metrics::{Metrics, Unit, each};
use seeklab_spec::to_f64;

/// Latencies with three digits, and what a histogram does not keep.
#[derive(Debug)]
pub struct Latencies {
    times: Histogram<u64>,
    stalled: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        // It resizes itself.
        Self { times: Histogram::new(3).expect("three digits are a valid precision"), stalled: 0 }
    }
}

impl Latencies {
    /// Adds a latency of so many.
    #[inline]
    pub fn add(&mut self, ns: u64, count: u64) {
        let _ = self.times.record_n(ns, count); // a histogram that resizes itself refuses only values beyond u64
        self.stalled += if ns >= STALL_NS { count } else { 0 };
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.times.len()
    }

    /// The latency that this share, in per cent, did not exceed.
    #[must_use]
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        self.times.value_at_percentile(percent).min(self.times.max())
    }

    fn metrics(&self, of: &Names, metrics: &mut Metrics) {
        metrics.milliseconds(of.mean, of.help, self.times.mean());
        for (name, percent) in of.percentiles.into_iter().zip([50.0, 90.0, 95.0, 99.0, 99.9]) {
            metrics.milliseconds(name, of.help, to_f64(self.percentile_ns(percent)));
        }
        metrics.share(of.stalled, of.stalled_help, self.stalled, self.times.len());
    }
}

/// Names of the metrics of some latencies.
struct Names {
    mean: &'static str,
    percentiles: [&'static str; 5],
    help: &'static str,
    stalled: &'static str,
    stalled_help: &'static str,
}

const REQUESTS: Names = Names {
    mean: "fanout_latency_mean_ms",
    percentiles: [
        "fanout_latency_p50_ms",
        "fanout_latency_p90_ms",
        "fanout_latency_p95_ms",
        "fanout_latency_p99_ms",
        "fanout_latency_p99_9_ms",
    ],
    help: "Time from the start of a request until enough of its leaves had answered: mean, or percentile.",
    stalled: "fanout_stalled_percent",
    stalled_help: "Share of requests that took a second or longer.",
};

const LEAVES: Names = Names {
    mean: "fanout_leaf_latency_mean_ms",
    percentiles: [
        "fanout_leaf_latency_p50_ms",
        "fanout_leaf_latency_p90_ms",
        "fanout_leaf_latency_p95_ms",
        "fanout_leaf_latency_p99_ms",
        "fanout_leaf_latency_p99_9_ms",
    ],
    help: "Time from the start of a leaf until its first answer: mean, or percentile.",
    stalled: "fanout_stalled_leaves_percent",
    stalled_help: "Share of leaves whose first answer took a second or longer.",
};

/// The record of a fan-out.
#[derive(Debug)]
pub struct Record {
    /// Latencies of requests.
    pub requests: Latencies,
    /// Latencies of leaves, from the asking to the first answer.
    pub leaves: Latencies,
    /// Leaves asked.
    pub asked: u64,
    /// Second copies sent.
    pub copies: u64,
    /// Of these, those that met their cancellation.
    pub void: u64,
    /// Copies withdrawn from a queue.
    pub withdrawn: u64,
    /// Copies served after another had answered.
    pub losing: u64,
    /// Time that servers worked on them.
    pub losing_ns: u64,
    /// Time that servers worked on copies that answered.
    pub answering_ns: u64,
    /// Copies that the budget refused.
    pub refused: u64,
    /// The place of each request's first stalled leaf, from 1; one more than it has leaves when none stalled.
    pub first_stalled: Histogram<u64>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            requests: Latencies::default(),
            leaves: Latencies::default(),
            asked: 0,
            copies: 0,
            void: 0,
            withdrawn: 0,
            losing: 0,
            losing_ns: 0,
            answering_ns: 0,
            refused: 0,
            // Exact up to any number of leaves.
            first_stalled: Histogram::new_with_max(16_384, 4).expect("four digits are a valid precision"),
        }
    }
}

impl Record {
    /// Reports what was done on so many servers.
    pub fn metrics(&self, servers: u32, metrics: &mut Metrics) {
        self.requests.metrics(&REQUESTS, metrics);
        self.leaves.metrics(&LEAVES, metrics);
        metrics.count("fanout_leaves", "Leaves sent.", self.asked);
        metrics.count(
            "fanout_first_stalled_leaf_p50",
            "Leaves that a request sends until one takes a second or longer: median over requests. One more than the number of leaves if half of the requests have no such leaf.",
            self.first_stalled.value_at_quantile(0.5),
        );
        metrics.count("fanout_copies", "Second copies of leaves that were sent.", self.copies);
        metrics.share("fanout_extra_percent", "Second copies per hundred leaves.", self.copies, self.asked);
        metrics.count("fanout_void_copies", "Second copies whose cancellation arrived first, so that they were never queued.", self.void);
        metrics.count("fanout_withdrawn_copies", "Copies that were withdrawn from a queue.", self.withdrawn);
        metrics.count("fanout_losing_copies", "Copies that were served although another copy had answered.", self.losing);
        let added = "Server time for losing copies, in percent of that for the copies that answered.";
        metrics.share("fanout_added_work_percent", added, self.losing_ns, self.answering_ns);
        metrics.count("fanout_refused_copies", "Second copies that the budget refused.", self.refused);
        let (work_ns, time_ns) = (to_f64(self.answering_ns + self.losing_ns), to_f64(metrics.run.workers_ns));
        metrics.add(
            "fanout_in_service_mean",
            "Copies in service on a server, averaged over servers and the time until the last worker ended.",
            Unit::One,
            each(work_ns, time_ns) / f64::from(servers),
        );
    }
}
