//! The report of a database: the flushes of each log, the transactions that shared them, and their wait times.

use super::Database;
use crate::result::metrics::{Metrics, Unit, each};
use seeklab_spec::to_f64;

/// The work of a log so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogUsage {
    /// Flushes that have begun.
    pub flushes: u64,
    /// Transactions in all of them.
    pub commits: u64,
    most_commits: u64,
    busy_ns: u64,
    begun_ns: u64,
    /// Time that transactions waited for a flush to begin.
    waited_ns: u64,
    /// Time that transactions were in a flush.
    flushed_ns: u64,
    most_waited: u64,
    /// Transactions that stand in the log before one that came earlier.
    pub overtaken: u64,
    /// Transactions of the flush before.
    pub last_batch: u64,
    /// How long it took.
    pub last_flush_ns: u64,
}

impl LogUsage {
    /// A transaction has waited for so many flushes that were not for it.
    pub fn waited(&mut self, flushes: u64) {
        self.most_waited = self.most_waited.max(flushes);
    }

    /// A flush begins for transactions that have waited for so long in sum.
    pub fn begin(&mut self, now_ns: u64, commits: u64, waited_ns: u64) {
        self.flushes += 1;
        self.commits += commits;
        self.most_commits = self.most_commits.max(commits);
        self.begun_ns = now_ns;
        self.waited_ns += waited_ns;
    }

    /// It ends.
    pub fn end(&mut self, now_ns: u64, commits: u64) {
        let took_ns = now_ns - self.begun_ns;
        self.busy_ns += took_ns;
        self.flushed_ns += took_ns * commits;
        (self.last_batch, self.last_flush_ns) = (commits, took_ns);
    }
}

impl Database {
    /// Reports the database's metrics.
    #[cold]
    pub(super) fn report(&self, metrics: &mut Metrics) {
        let elapsed_ns = metrics.run.workers_ns;
        metrics.count("commit_most_inside", "Maximum transactions in progress at the same time.", self.most_inside);
        metrics.share(
            "commit_processor_busy_share_percent",
            "Serial work as a share of the time until the last worker ended.",
            self.processor_busy_ns,
            elapsed_ns,
        );
        for log in &self.logs {
            let usage = &log.usage;
            let (flushes, commits) = (to_f64(usage.flushes), to_f64(usage.commits));
            metrics.within(&format!("commit.{}", log.name), |metrics| {
                metrics.count("_flushes", "Number of flushes of the log.", usage.flushes);
                metrics.mean("_batch_mean", "Transactions per flush of the log, averaged over flushes.", usage.commits, usage.flushes);
                metrics.count("_batch_max", "Maximum transactions in a flush of the log.", usage.most_commits);
                metrics.milliseconds("_flush_mean_ms", "Mean time of a flush of the log.", each(to_f64(usage.busy_ns), flushes));
                let wait = "Mean time that a transaction waits for its flush of the log to start.";
                metrics.milliseconds("_wait_mean_ms", wait, each(to_f64(usage.waited_ns), commits));
                let busy = "Share of the time until the last worker ended during which the log was flushing.";
                metrics.share("_busy_share_percent", busy, usage.busy_ns, elapsed_ns);
                metrics.add(
                    "_inside_mean",
                    "Transactions at the log, waiting or in its flush, averaged over the time until the last worker ended.",
                    Unit::One,
                    each(to_f64(usage.waited_ns + usage.flushed_ns), to_f64(elapsed_ns)),
                );
                let most = "Maximum flushes of the log that a transaction waited for, not counting its own.";
                metrics.count("_flushes_waited_max", most, usage.most_waited);
                let overtaken = "Transactions written to the log before one that had arrived earlier.";
                metrics.count("_overtaken", overtaken, usage.overtaken);
            });
        }
    }
}
