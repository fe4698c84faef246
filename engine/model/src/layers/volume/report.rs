//! What the file system's prefetcher leaves: metrics, and the table `prefetches`.

use super::{PrefetchRecord, Volume};
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::Metrics;

/// The job of a worker and the start of its region.
pub type Owner = (usize, u64);

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

impl Volume {
    /// Reports what was prefetched: nothing where there is no such layer.
    pub fn metrics(volume: Option<&Self>, metrics: &mut Metrics) {
        let prefetches = volume.map_or(&[][..], |volume| &volume.prefetches);
        let bytes = prefetches.iter().map(|row| row.bytes).sum();
        metrics.bytes("prefetch_bytes", "Bytes that the file system prefetched.", bytes);
        metrics.share(
            "prefetch_used_share_percent",
            "Share of the prefetched bytes that were used.",
            prefetches.iter().map(|row| row.used_bytes).sum(),
            bytes,
        );
        metrics.bytes(
            "prefetch_max_ahead_bytes",
            "The farthest that a prefetch reached beyond the end of the read that triggered it.",
            volume.map_or(0, |volume| volume.max_ahead_bytes),
        );
    }

    /// Reports the table of a run, whether it has such a layer or not; `owner` knows each worker.
    pub fn tables(volume: Option<&Self>, owner: impl Fn(u32) -> Owner, tables: &mut Tables) {
        let prefetches = volume.into_iter().flat_map(|volume| &volume.prefetches);
        let rows = prefetches.map(|prefetch| {
            let (job, start) = owner(prefetch.worker);
            let job = u32::try_from(job).unwrap_or(u32::MAX); // at most 256
            Row { job, offset: prefetch.offset.saturating_sub(start), prefetch: *prefetch }
        });
        tables.table(&PREFETCHES, rows);
    }
}
