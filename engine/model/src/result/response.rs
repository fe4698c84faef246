//! Latency from the plan: of jobs with a rate, the time from when a request was due to its completion.
//!
//! The latency of [`super::Stats`] begins when a request is sent. Both are the same as long as no request is sent late.

use hdrhistogram::Histogram;

use super::jobs::PERCENTILES;
use super::metrics::Metrics;
use super::{STALL_NS, histogram, record};
use seeklab_spec::to_f64;

/// Times from when operations were due to when they completed.
#[derive(Clone, Debug)]
pub struct Response {
    times: Histogram<u64>,
    min_ns: u64,
    max_ns: u64,
    total_ns: u64,
    late: u64,
    latest_ns: u64,
    stalls: u64,
}

impl Response {
    pub(super) fn new() -> Self {
        Self { times: histogram(), min_ns: u64::MAX, max_ns: 0, total_ns: 0, late: 0, latest_ns: 0, stalls: 0 }
    }

    pub(super) fn add(&mut self, due_ns: u64, sent_ns: u64, done_ns: u64) {
        let ns = done_ns - due_ns;
        record(&mut self.times, ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.total_ns += ns;
        self.late += u64::from(sent_ns > due_ns);
        self.latest_ns = self.latest_ns.max(sent_ns - due_ns);
        self.stalls += u64::from(ns >= STALL_NS);
    }

    pub(super) fn metrics(&self, metrics: &mut Metrics) {
        let mean_ns = to_f64(self.total_ns) / to_f64(self.times.len().max(1));
        metrics.milliseconds("_response_mean_ms", "Mean time from when an operation was due to its completion.", mean_ns);
        for (percentile, name) in PERCENTILES {
            let ns = self.times.value_at_percentile(percentile).clamp(self.min_ns, self.max_ns);
            let help = "Time from when an operation was due to its completion that this share of them did not exceed.";
            metrics.milliseconds(&name.replacen("latency", "response", 1), help, to_f64(ns));
        }
        metrics.milliseconds("_response_max_ms", "Longest time from when an operation was due to its completion.", to_f64(self.max_ns));
        let stalled = "Operations that completed a second or longer after they were due.";
        metrics.count("_response_stalls", stalled, self.stalls);
        metrics.count("_late_sends", "Operations that were sent later than they were due, because the queue was full.", self.late);
        metrics.milliseconds("_late_sends_max_ms", "The most that an operation was sent after it was due.", to_f64(self.latest_ns));
    }
}
