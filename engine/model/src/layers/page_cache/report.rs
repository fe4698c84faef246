//! What the read side of a page cache leaves: metrics, and the table `read_ahead`.

use super::PAGE_BYTES;
use super::read_ahead::Why;
use super::reads::Reads;
use crate::range::Range;
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::{Metrics, Unit};
use seeklab_spec::to_f64;

/// Most decisions that a run keeps.
const MOST_ROWS: usize = 50_000;

/// A decision at a page that a read came to, in pages of the file.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// When.
    pub time_ns: u64,
    /// The worker that reads.
    pub worker: u32,
    /// The page.
    pub page: u64,
    /// How many were asked for from there on.
    pub asked: u64,
    /// How many just before it were cached, as far as the largest window.
    pub history: u64,
    /// What is cached from then on.
    pub window: Range,
    /// How many pages of it were not.
    pub fetched: u64,
    /// Why.
    pub why: Why,
}

/// Reads of a page cache.
#[derive(Clone, Debug, Default)]
pub struct ReadRecord {
    /// Pages read from below.
    pub fetched_pages: u64,
    /// Those that nobody had asked for when they were.
    pub ahead_pages: u64,
    /// Those of them that were used since.
    pub used_pages: u64,
    /// Windows that began because pages before the missing one were cached.
    context_windows: u64,
    rows: Vec<Row>,
}

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

impl ReadRecord {
    /// Notes a decision; the first [`MOST_ROWS`] are kept.
    pub fn row(&mut self, row: Row) {
        self.context_windows += u64::from(row.why == Why::Context);
        if self.rows.len() < MOST_ROWS {
            self.rows.push(row);
        }
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Row>()) as u64
    }

    fn unused_pages(&self) -> u64 {
        self.ahead_pages - self.used_pages
    }
}

fn mib(pages: u64) -> f64 {
    to_f64(pages * PAGE_BYTES) / to_f64(1 << 20)
}

impl Reads {
    /// Reports what was read, and what of it for nobody.
    pub fn metrics(&self, metrics: &mut Metrics) {
        let record = &self.record;
        metrics.add("pages_read_mib", "Pages that the page cache read from below, in MiB.", Unit::Mib, mib(record.fetched_pages));
        metrics.add("read_ahead_mib", "Pages that nobody had asked for when they were read, in MiB.", Unit::Mib, mib(record.ahead_pages));
        let unused = "Pages read ahead that nobody has used, in MiB.";
        metrics.add("read_ahead_unused_mib", unused, Unit::Mib, mib(record.unused_pages()));
        let of_all = "Pages read ahead that nobody has used, as a share of all that were read.";
        metrics.share("read_ahead_unused_share_percent", of_all, record.unused_pages(), record.fetched_pages);
        let context = "Windows that began because pages just before the missing one were cached.";
        metrics.count("context_windows", context, record.context_windows);
        let file_pages = self.file_pages();
        metrics.share("file_cached_share_percent", "Share of the files that is cached.", self.cached_pages(), file_pages);
        let touched = "Share of the files that somebody has asked for.";
        metrics.share("file_touched_share_percent", touched, self.cached_pages() - record.unused_pages(), file_pages);
    }

    /// Reports the table of a run, whether it has such a layer or not.
    pub fn tables(reads: Option<&Self>, tables: &mut Tables) {
        tables.table(&READ_AHEAD, reads.into_iter().flat_map(|reads| &reads.record.rows).copied());
    }
}
