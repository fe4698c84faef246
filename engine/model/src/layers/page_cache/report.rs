//! The report of a page cache's read side: metrics, and the table `read_ahead`.

use super::PAGE_BYTES;
use super::read_record::Row;
use super::reads::Reads;
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::{Metrics, Unit};
use seeklab_spec::to_f64;

const READ_AHEAD: Table<Row> = Table::new(
    "read_ahead",
    &[
        ("time_ns", Whole(|row| row.time_ns)),
        ("worker", Index(|row| row.worker)),
        ("page", Whole(|row| row.page)),
        ("asked", Whole(|row| row.asked)),
        ("history", Whole(|row| row.history)),
        ("start", Whole(|row| row.window.start)),
        ("end", Whole(|row| row.window.end)),
        ("fetched", Whole(|row| row.fetched)),
        ("why", Index(|row| row.why as u32)),
    ],
);

fn mib(pages: u64) -> f64 {
    to_f64(pages * PAGE_BYTES) / to_f64(1 << 20)
}

impl Reads {
    /// Reports what was read, and what of it for nobody.
    pub fn metrics(&self, metrics: &mut Metrics) {
        let record = &self.record;
        metrics.add(
            "pages_read_mib",
            "Pages that the page cache read from the layers below, in MiB.",
            Unit::Mib,
            mib(record.fetched_pages),
        );
        metrics.add("read_ahead_mib", "Pages that were read before any request for them, in MiB.", Unit::Mib, mib(record.ahead_pages));
        let unused = "Read-ahead pages that were not used, in MiB.";
        metrics.add("read_ahead_unused_mib", unused, Unit::Mib, mib(record.unused_pages()));
        let of_all = "Read-ahead pages that were not used, as a share of all pages read.";
        metrics.share("read_ahead_unused_share_percent", of_all, record.unused_pages(), record.fetched_pages);
        let context = "Windows that started because the pages just before the missing one were cached.";
        metrics.count("context_windows", context, record.context_windows);
        let file_pages = self.file_pages();
        metrics.share("file_cached_share_percent", "Cached share of the files.", self.cached_pages(), file_pages);
        let touched = "Requested share of the files.";
        metrics.share("file_touched_share_percent", touched, self.cached_pages() - record.unused_pages(), file_pages);
    }

    /// Reports the table of a run, whether it has such a layer or not.
    pub fn tables(reads: Option<&Self>, tables: &mut Tables) {
        tables.table(&READ_AHEAD, reads.into_iter().flat_map(|reads| reads.record.rows()).copied());
    }
}
