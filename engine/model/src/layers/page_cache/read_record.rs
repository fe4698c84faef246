//! The counts of a page cache's read side, and the reasons of its reads.

use super::read_ahead::Why;
use crate::range::Range;

/// Most decisions that a run keeps.
const MAX_ROWS: usize = 50_000;

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
    /// Pages that are cached from then on.
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
    pub context_windows: u64,
    rows: Vec<Row>,
}

impl ReadRecord {
    /// Notes a decision; the first [`MAX_ROWS`] are kept.
    pub fn row(&mut self, row: Row) {
        self.context_windows += u64::from(row.why == Why::Context);
        if self.rows.len() < MAX_ROWS {
            self.rows.push(row);
        }
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.rows.capacity() * size_of::<Row>()) as u64
    }

    /// The decisions, in order of time.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Pages read ahead that nobody has used.
    #[must_use]
    pub fn unused_pages(&self) -> u64 {
        self.ahead_pages - self.used_pages
    }
}
