//! The record of a page cache: metrics, its state over time, and its commits.

use super::PAGE_BYTES;
use super::pages::Pages;
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::Metrics;

/// Most rows of a table that are kept.
const MAX_ROWS: usize = 1 << 20;

/// Bytes written in one interval, and bytes not yet written at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    written: u64,
    dirty: u64,
    under_way: u64,
}

/// A commit of the journal.
#[derive(Clone, Copy, Debug)]
struct CommitRow {
    began_ns: u64,
    end_ns: u64,
    data: u64,
    waiters: u32,
}

/// The record of a page cache.
#[derive(Debug, Default)]
pub struct Record {
    background: u64,
    limit: u64,
    interval_ns: u64,
    rows: Vec<Row>,
    row: Row,
    commits: Vec<CommitRow>,
    first_dirty_ns: Option<u64>,
    first_sent_ns: Option<u64>,
    background_ns: Option<u64>,
    throttled_ns: Option<u64>,
    dirtied: u64,
    sent: u64,
    written: u64,
    logged: u64,
    /// The most that was not on the devices.
    most: u64,
    /// When a page became dirty for the last time, and when nothing was left to be written.
    last_dirty_ns: u64,
    clean_ns: u64,
    /// Bytes that had been sent when the first synchronous write or flush came.
    sent_before_sync: Option<u64>,
    unwritten_after_sync: u64,
    syncs: u64,
    longest_sync_ns: u64,
    exposed: u64,
    most_exposed: u64,
}

impl Record {
    /// A record of nothing, under these thresholds.
    #[must_use]
    pub fn new(background: u64, limit: u64, interval_ns: u64) -> Self {
        Self { background, limit, interval_ns, ..Self::default() }
    }

    /// Bytes of memory that grow with the run.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Row>() + self.commits.capacity() * size_of::<CommitRow>()) as u64
    }

    /// Closes the intervals that have ended.
    fn close_rows(&mut self, now_ns: u64) {
        while self.interval_ns > 0 && now_ns >= (self.rows.len() as u64 + 1) * self.interval_ns && self.rows.len() < MAX_ROWS {
            self.rows.push(self.row);
            self.row.written = 0;
        }
    }

    fn holds(&mut self, now_ns: u64, pages: &Pages) {
        (self.row.dirty, self.row.under_way) = (pages.dirty_bytes, pages.under_way_bytes);
        let bytes = pages.bytes();
        self.most = self.most.max(bytes);
        if bytes == 0 {
            self.clean_ns = now_ns;
        }
    }

    pub(super) fn dirtied(&mut self, now_ns: u64, bytes: u64, pages: &Pages) {
        self.close_rows(now_ns);
        self.first_dirty_ns.get_or_insert(now_ns);
        self.last_dirty_ns = now_ns;
        self.dirtied += bytes;
        self.holds(now_ns, pages);
        if pages.dirty_bytes > self.background {
            self.background_ns.get_or_insert(now_ns);
        }
    }

    pub(super) fn sent(&mut self, now_ns: u64, bytes: u64, pages: &Pages) {
        self.close_rows(now_ns);
        self.first_sent_ns.get_or_insert(now_ns);
        self.sent += bytes;
        self.holds(now_ns, pages);
    }

    pub(super) fn written(&mut self, now_ns: u64, bytes: u64, is_exposed: bool, pages: &Pages) {
        self.close_rows(now_ns);
        self.written += bytes;
        self.row.written += bytes;
        if is_exposed {
            self.exposed -= bytes;
        }
        self.holds(now_ns, pages);
    }

    pub(super) fn throttled(&mut self, now_ns: u64) {
        self.throttled_ns.get_or_insert(now_ns);
    }

    pub(super) fn logged(&mut self, bytes: u64) {
        self.logged += bytes;
    }

    pub(super) fn sync_arrives(&mut self) {
        self.sent_before_sync.get_or_insert(self.sent);
    }

    pub(super) fn synced(&mut self, ns: u64, unwritten: u64) {
        self.syncs += 1;
        self.longest_sync_ns = self.longest_sync_ns.max(ns);
        self.unwritten_after_sync = unwritten;
    }

    pub(super) fn exposed(&mut self, bytes: u64) {
        self.exposed += bytes;
        self.most_exposed = self.most_exposed.max(self.exposed);
    }

    pub(super) fn committed(&mut self, began_ns: u64, end_ns: u64, data: u64, waiters: usize) {
        if self.commits.len() < MAX_ROWS {
            self.commits.push(CommitRow { began_ns, end_ns, data, waiters: u32::try_from(waiters).unwrap_or(u32::MAX) });
        }
    }

    /// Reports the page cache.
    pub fn metrics(&self, metrics: &mut Metrics) {
        metrics.count(
            "page_cache_background_pages",
            "Background threshold of dirty data, in pages of 4 KiB.",
            self.background / PAGE_BYTES,
        );
        metrics.count("page_cache_limit_pages", "Maximum dirty pages of 4 KiB.", self.limit / PAGE_BYTES);
        metrics.bytes("page_cache_dirtied_bytes", "Bytes of pages that became dirty.", self.dirtied);
        metrics.bytes("page_cache_written_bytes", "Bytes of pages that were written back.", self.written);
        metrics.bytes("page_cache_journal_bytes", "Bytes written into the journal.", self.logged);
        metrics.bytes("page_cache_dirty_max_bytes", "Maximum bytes that were dirty or being written to the devices.", self.most);
        let mut seconds = |name: &str, help, at: Option<u64>| {
            if let Some(ns) = at {
                metrics.seconds(name, help, ns);
            }
        };
        let aged = self.first_dirty_ns.zip(self.first_sent_ns).map(|(dirty_ns, sent_ns)| sent_ns - dirty_ns);
        seconds("page_cache_first_write_s", "Time from the first dirty page until the first write-back.", aged);
        let background = "First time that dirty data exceeded the background threshold.";
        seconds("page_cache_background_s", background, self.background_ns);
        seconds("page_cache_throttled_s", "First time that the throttle delayed a writer.", self.throttled_ns);
        let drained = self.clean_ns.checked_sub(self.last_dirty_ns).filter(|ns| *ns > 0);
        seconds("page_cache_drain_s", "Time from the last new dirty page until all were written.", drained);
        if let Some(sent) = self.sent_before_sync {
            let before = "Bytes sent to the devices before the first synchronous write or flush.";
            metrics.bytes("page_cache_sent_before_sync_bytes", before, sent);
            metrics.count("page_cache_syncs", "Synchronous writes and flushes.", self.syncs);
            metrics.seconds("page_cache_sync_max_s", "Time of the longest synchronous write or flush.", self.longest_sync_ns);
            let after = "Bytes not yet written when the last synchronous write or flush ended.";
            metrics.bytes("page_cache_after_sync_bytes", after, self.unwritten_after_sync);
        }
        metrics.count("page_cache_commits", "Number of journal commits.", self.commits.len() as u64);
        let exposed = "Maximum unwritten bytes that durable metadata pointed to. A crash would have left other contents there.";
        metrics.bytes("page_cache_exposed_max_bytes", exposed, self.most_exposed);
    }

    /// Reports the state over time, and the commits.
    pub fn tables(record: Option<&Self>, tables: &mut Tables) {
        let interval_ns = record.map_or(0, |record| record.interval_ns);
        let rows = record.into_iter().flat_map(|record| record.rows.iter().copied().chain([record.row]));
        tables.table(&STATES, (0..).zip(rows).map(|(row, of)| (row * interval_ns, of)));
        tables.table(&COMMITS, record.into_iter().flat_map(|record| record.commits.iter().copied()));
    }
}

/// A row for each interval, with its start.
const STATES: Table<(u64, Row)> = Table::new(
    "page_cache",
    &[
        ("time_ns", Whole(|row| row.0)),
        ("written_bytes", Whole(|row| row.1.written)),
        ("dirty_bytes", Whole(|row| row.1.dirty)),
        ("under_way_bytes", Whole(|row| row.1.under_way)),
    ],
);

/// A row for each commit of the journal.
const COMMITS: Table<CommitRow> = Table::new(
    "journal",
    &[
        ("began_ns", Whole(|row| row.began_ns)),
        ("end_ns", Whole(|row| row.end_ns)),
        ("data_bytes", Whole(|row| row.data)),
        ("waiters", Index(|row| row.waiters)),
    ],
);
