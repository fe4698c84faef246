//! The report of the file system's prefetcher: metrics, and the table `prefetches`.

use super::{Filesystem, PrefetchRecord};
use crate::plan::WorkerPlan;
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::Metrics;

/// A row for each prefetch, with the job of the worker whose file it reads, and where in that worker's region it begins.
struct Row {
    job: u32,
    offset: u64,
    prefetch: PrefetchRecord,
}

const PREFETCHES: Table<Row> = Table::new(
    "prefetches",
    &[
        ("trigger", Index(|row| row.prefetch.trigger)),
        ("job", Index(|row| row.job)),
        ("offset", Whole(|row| row.offset)),
        ("bytes", Whole(|row| row.prefetch.bytes)),
        ("issue_ns", Whole(|row| row.prefetch.issue_ns)),
        ("done_ns", Whole(|row| row.prefetch.done_ns)),
        ("used_bytes", Whole(|row| row.prefetch.used_bytes)),
    ],
);

/// Reports what was prefetched.
pub(super) fn report_prefetches(prefetches: &[PrefetchRecord], max_ahead_bytes: u64, metrics: &mut Metrics) {
    let bytes = prefetches.iter().map(|row| row.bytes).sum();
    metrics.bytes("prefetch_bytes", "Bytes that the file system prefetched.", bytes);
    metrics.share(
        "prefetch_used_share_percent",
        "Share of prefetched bytes that were used.",
        prefetches.iter().map(|row| row.used_bytes).sum(),
        bytes,
    );
    metrics.bytes(
        "prefetch_max_ahead_bytes",
        "Maximum distance of a prefetch beyond the end of the read that triggered it.",
        max_ahead_bytes,
    );
}

impl Filesystem {
    /// Reports the table of a run, whether it has such a layer or not.
    pub(super) fn report_tables(volume: Option<&Self>, workers: &[WorkerPlan], tables: &mut Tables) {
        let prefetches = volume.into_iter().flat_map(|volume| &volume.prefetches);
        let rows = prefetches.map(|prefetch| {
            let worker = workers.get(prefetch.worker as usize);
            let (job, start) = worker.map(|worker| (worker.job, worker.region.start)).unwrap_or_default();
            let job = u32::try_from(job).unwrap_or(u32::MAX); // at most 256
            Row { job, offset: prefetch.offset.saturating_sub(start), prefetch: *prefetch }
        });
        tables.table(&PREFETCHES, rows);
    }
}
