//! Latency from the plan: of jobs with a rate, the time from when a request was due to its completion.
//!
//! The latency of [`super::Stats`] begins when a request is sent. Both are the same as long as no request is sent late.
//!
//! Operations that were due and have not completed are the backlog: that of an interval's end follows from how many were due and how
//! many completed in each, whether they waited in a queue or had not been sent. What was never sent has no part in it.

use hdrhistogram::Histogram;

use super::columns::Take::{Index, Whole};
use super::columns::{Table, Tables};
use super::jobs::PERCENTILES;
use super::metrics::Metrics;
use super::{JobStats, MAX_INTERVALS, STALL_NS, histogram, record};
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
    /// When one was last sent late.
    late_until_ns: u64,
    interval_ns: u64,
    /// Operations that were due in each interval, and that completed in it.
    passed: Vec<[u32; 2]>,
}

/// A row for each interval of a job with a plan, with the interval's start: operations that were due at its end and had not completed.
const BACKLOG: Table<(u32, u64, u64)> =
    Table::new("backlog", &[("job", Index(|row| row.0)), ("time_ns", Whole(|row| row.1)), ("waiting", Whole(|row| row.2))]);

impl Response {
    pub(super) fn new(interval_ns: u64) -> Self {
        Self {
            times: histogram(),
            min_ns: u64::MAX,
            max_ns: 0,
            total_ns: 0,
            late: 0,
            latest_ns: 0,
            stalls: 0,
            late_until_ns: 0,
            interval_ns: interval_ns.max(1),
            passed: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, due_ns: u64, sent_ns: u64, done_ns: u64) {
        let ns = done_ns - due_ns;
        record(&mut self.times, ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.total_ns += ns;
        self.late += u64::from(sent_ns > due_ns);
        self.latest_ns = self.latest_ns.max(sent_ns - due_ns);
        if sent_ns > due_ns {
            self.late_until_ns = self.late_until_ns.max(sent_ns);
        }
        self.count(due_ns, 0);
        self.count(done_ns, 1);
        self.stalls += u64::from(ns >= STALL_NS);
    }

    #[inline]
    fn count(&mut self, at_ns: u64, which: usize) {
        let interval = usize::try_from(at_ns / self.interval_ns).unwrap_or(MAX_INTERVALS).min(MAX_INTERVALS);
        if self.passed.len() <= interval {
            self.passed.resize(interval + 1, [0; 2]);
        }
        self.passed[interval][which] += 1;
    }

    /// The backlog at the end of each interval.
    fn backlog(&self) -> impl Iterator<Item = u64> {
        let after = |waiting: &mut u64, [due, done]: &[u32; 2]| {
            *waiting = (*waiting + u64::from(*due)).saturating_sub((*done).into());
            Some(*waiting)
        };
        self.passed.iter().scan(0, after)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.passed.len() * size_of::<[u32; 2]>()) as u64
    }

    /// Reports the backlog of jobs with a plan, over time; a row for each direction of a mixed one.
    pub(super) fn tables<'a>(jobs: impl Iterator<Item = &'a JobStats>, tables: &mut Tables) {
        let plans = (0..).zip(jobs).flat_map(|(job, stats)| stats.by_op.iter().filter_map(move |of| Some((job, of.response.as_ref()?))));
        let rows =
            plans.flat_map(|(job, plan)| (0..).zip(plan.backlog()).map(move |(row, waiting)| (job, row * plan.interval_ns, waiting)));
        tables.table(&BACKLOG, rows);
    }

    pub(super) fn metrics(&self, metrics: &mut Metrics) {
        let mean_ns = to_f64(self.total_ns) / to_f64(self.times.len().max(1));
        metrics.milliseconds("_response_mean_ms", "Mean response time: from when an operation was due to its completion.", mean_ns);
        for (percentile, name) in PERCENTILES {
            let ns = self.times.value_at_percentile(percentile).clamp(self.min_ns, self.max_ns);
            let help = "Response time percentile: this share of operations completed no later after they were due.";
            metrics.milliseconds(&name.replacen("latency", "response", 1), help, to_f64(ns));
        }
        metrics.milliseconds(
            "_response_max_ms",
            "Maximum response time: from when an operation was due to its completion.",
            to_f64(self.max_ns),
        );
        let stalled = "Operations that completed a second or longer after they were due.";
        metrics.count("_response_stalls", stalled, self.stalls);
        metrics.count("_late_sends", "Operations that were sent later than they were due, because the queue was full.", self.late);
        metrics.seconds(
            "_late_sends_until_s",
            "Last time that an operation was sent later than it was due; 0 if none was.",
            self.late_until_ns,
        );
        let help = "Maximum operations that were due but not completed, at the end of an interval of the series.";
        metrics.count("_backlog_max", help, self.backlog().max().unwrap_or(0));
        metrics.milliseconds(
            "_late_sends_max_ms",
            "Maximum delay from when an operation was due until it was sent.",
            to_f64(self.latest_ns),
        );
    }
}
