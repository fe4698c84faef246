//! Read-ahead on demand, as Linux has it: which pages a read makes the cache fetch. No time passes here.
//!
//! An open file has one *window*, the pages that were last read for it at once. The window's tail is read ahead: the page where it begins
//! has a *marker*, and whoever reads that page makes the next window, twice as large, be read before he needs it. A page that is
//! not there begins a window when the read continues the one before it, is larger than a window, or is the file's first.
//!
//! The rest are taken for random reads, but for one guess, *context read-ahead*: several readers of one open file overwrite each other's
//! window, and all that is left of a stream is that the pages before the one that is missing are cached. [`Context`] says what is made
//! of them. In a file of which a share is cached by chance it takes chance for streams: that is the incident.
//!
//! Source: Linux 2.6.31 to 3.12, `mm/readahead.c` and `mm/filemap.c`, and Wu Fengguang's change of 2013-08-08 ("readahead: make context
//! readahead more conservative"). Pages are 4 KiB. Left out: eviction, and so what notices that pages read ahead were evicted unused;
//! `readahead(2)` and hints; mapped files.

use seeklab_spec::read_ahead::{Context, ReadAhead};

use super::PAGE_BYTES;
use super::cached::Cached;
use crate::range::Range;

/// The part of the cache that holds a file's pages.
pub struct FilePages<'a> {
    /// Pages of the whole address space.
    pub pages: &'a mut Cached,
    /// The file's first page there.
    pub first: u64,
    /// Pages of the file.
    pub count: u64,
}

impl FilePages<'_> {
    fn has(&self, page: u64) -> bool {
        self.pages.has(self.first + page)
    }

    /// How many of the pages just before `page` are cached without a gap, at most `most`.
    #[must_use]
    pub fn before(&self, page: u64, most: u64) -> u64 {
        (1..=most.min(page)).take_while(|back| self.has(page - back)).count() as u64
    }

    /// The first page after `page` that is not cached, at most `most` further.
    fn absent_after(&self, page: u64, most: u64) -> Option<u64> {
        (page + 1..=page + most).find(|page| !self.has(*page))
    }

    /// Takes in the pages of a window that are absent and in the file. Those outside of `asked` are read ahead.
    pub fn fetch(&mut self, window: Range, asked: Range, runs: &mut Vec<Range>) {
        for page in window.start..window.end.min(self.count) {
            if !self.has(page) {
                self.pages.add(self.first + page, page < asked.start || page >= asked.end);
                match runs.last_mut() {
                    Some(run) if run.end == page => run.end += 1,
                    _ => runs.push(Range { start: page, end: page + 1 }),
                }
            }
        }
    }
}

/// Where an open file's reader is, in pages of the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenFile {
    /// The first page of the window.
    start: u64,
    /// Pages of the window.
    size: u64,
    /// How many of them, at its end, were ahead of the reader.
    ahead: u64,
    /// The last page of the read before.
    previous: Option<u64>,
}

impl OpenFile {
    /// A read has ended at `page`. Linux looks at the place of the read before, not at the page before within a read.
    pub fn ended(&mut self, page: u64) {
        self.previous = Some(page);
    }
}

/// Why a page that a read came to made the cache fetch something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Why {
    /// Nothing speaks for a stream: what was asked for is read.
    Alone,
    /// The file's first page, a read larger than a window, or one that continues the one before it.
    Begins,
    /// The window is used up, or its tail is reached: the next one.
    Goes,
    /// A marker that another window left.
    Marker,
    /// Cached pages before the one that is missing.
    Context,
}

/// The decision at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Why.
    pub why: Why,
    /// The window that is read, as far as it is not cached; it may end beyond the file.
    pub window: Range,
}

/// A policy of read-ahead.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    max: u64,
    context: Context,
}

impl Windows {
    /// The read-ahead that a scenario describes.
    #[must_use]
    pub fn new(spec: &ReadAhead) -> Self {
        Self { max: (spec.max.0 / PAGE_BYTES).max(1), context: spec.context }
    }

    /// Pages of the largest window.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// A read comes to `page` of the file, and `asked` pages of it are left from there on. What is fetched goes to `runs`, in order; the
    /// answer is what was decided, if anything was.
    pub fn read(&self, file: &mut OpenFile, pages: &mut FilePages, page: u64, asked: u64, runs: &mut Vec<Range>) -> Option<Decision> {
        let hit = pages.has(page);
        let decision = if !hit || pages.pages.take_mark(pages.first + page) { self.demand(file, pages, hit, page, asked) } else { None };
        if let Some(Decision { why, window }) = decision {
            let marker = file.start + file.size - file.ahead;
            let marks = why != Why::Alone && marker < pages.count && !pages.has(marker);
            let asked = Range { start: page, end: page + asked };
            pages.fetch(window, asked, runs);
            pages.fetch(Range { start: page, end: page + 1 }, asked, runs); // no window covers a page that was dropped from it
            if marks {
                pages.pages.mark(pages.first + marker);
            }
        }
        decision
    }

    /// Update the window for a missing page, or for one with a marker (`hit`).
    fn demand(&self, file: &mut OpenFile, pages: &FilePages, hit: bool, page: u64, asked: u64) -> Option<Decision> {
        let end = file.start + file.size;
        let why = if page == 0 {
            self.begin(file, page, asked);
            Why::Begins
        } else if page == end - file.ahead || page == end {
            file.start = end;
            file.size = self.next(file.size);
            file.ahead = file.size;
            Why::Goes
        } else if hit {
            file.start = pages.absent_after(page, self.max)?;
            file.size = self.next(file.start - page + asked);
            file.ahead = file.size;
            Why::Marker
        } else if asked > self.max || file.previous.is_some_and(|previous| page == previous || page == previous + 1) {
            self.begin(file, page, asked);
            Why::Begins
        } else if let Some((size, ahead)) = self.of_context(pages.before(page, self.max), page, asked) {
            *file = OpenFile { start: page, size, ahead, ..*file };
            Why::Context
        } else {
            return Some(Decision { why: Why::Alone, window: Range { start: page, end: page + asked } });
        };
        if file.start == page && file.size == file.ahead {
            // The reader is at the page that would get the marker: the next window is read at once.
            file.ahead = self.next(file.size);
            file.size += file.ahead;
        }
        Some(Decision { why, window: Range { start: file.start, end: file.start + file.size } })
    }

    /// A window that begins at `page`.
    fn begin(&self, file: &mut OpenFile, page: u64, asked: u64) {
        let size = self.initial(asked);
        *file = OpenFile { start: page, size, ahead: if size > asked { size - asked } else { size }, ..*file };
    }

    /// Size and tail of a window at a page with `history` cached pages before it, if they are taken for a stream.
    fn of_context(&self, history: u64, page: u64, asked: u64) -> Option<(u64, u64)> {
        let slow = Some(((history + asked).min(self.max), 1));
        match self.context {
            _ if history == 0 => None,
            Context::Doubling => {
                // A history that reaches back to the file's first page says that all of it was read: it counts twice.
                let history = if history >= page { 2 * history } else { history };
                let size = self.initial(history + asked);
                Some((size, size))
            }
            Context::Ramp => slow,
            Context::Careful if history > asked => slow,
            Context::Off | Context::Careful => None,
        }
    }

    /// The first window for a read of `asked` pages.
    fn initial(&self, asked: u64) -> u64 {
        let size = asked.next_power_of_two();
        if size <= self.max / 32 {
            4 * size
        } else if size <= self.max / 4 {
            2 * size
        } else {
            self.max
        }
    }

    /// The window after one of `size`.
    fn next(&self, size: u64) -> u64 {
        (if size < self.max / 16 { 4 * size } else { 2 * size }).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_kernel::Stream;

    /// A file of `count` pages, and a reader who has it open.
    struct Opened {
        windows: Windows,
        file: OpenFile,
        pages: Cached,
        count: u64,
    }

    impl Opened {
        fn new(context: Context, count: u64) -> Self {
            let windows = Windows::new(&ReadAhead { context, ..ReadAhead::default() });
            Self { windows, file: OpenFile::default(), pages: Cached::default(), count }
        }

        /// Reads pages and says what is fetched for them.
        fn read(&mut self, first: u64, asked: u64) -> Vec<(u64, u64)> {
            let mut runs = Vec::new();
            for page in first..first + asked {
                let mut pages = FilePages { pages: &mut self.pages, first: 0, count: self.count };
                self.windows.read(&mut self.file, &mut pages, page, first + asked - page, &mut runs);
            }
            self.file.ended(first + asked - 1);
            runs.iter().map(|run| (run.start, run.end)).collect()
        }
    }

    /// Pages that `reads` random reads of `asked` pages of a file of 2 GiB fetch, on the mean of three seeds.
    fn fetched(context: Context, asked: u64, reads: u64) -> f64 {
        let count = (2 << 30) / PAGE_BYTES;
        let one = |seed| {
            let mut opened = Opened::new(context, count);
            let mut places = Stream::new(seed, "test");
            for _ in 0..reads {
                opened.read(places.below(count / asked) * asked, asked);
            }
            seeklab_spec::to_f64(opened.pages.len())
        };
        (1..=3).map(one).sum::<f64>() / 3.0
    }

    const ALL: [Context; 4] = [Context::Off, Context::Doubling, Context::Ramp, Context::Careful];

    fn assert_within_a_percent(found: f64, expected: f64, of: Context) {
        assert!((found / expected - 1.0).abs() < 0.01, "{of:?}: {found} against {expected}");
    }

    #[test]
    fn pages_that_ten_thousand_random_reads_of_64_kib_fetch() {
        for (context, expected) in ALL.into_iter().zip([137_611.0, 177_733.0, 151_156.0, 140_067.0]) {
            assert_within_a_percent(fetched(context, 16, 10_000), expected, context);
        }
    }

    #[test]
    fn pages_over_those_without_context_after_eighteen_thousand() {
        let off = fetched(Context::Off, 16, 18_000);
        for (context, expected) in ALL.into_iter().zip([1.0, 1.350, 1.132, 1.037]) {
            assert_within_a_percent(fetched(context, 16, 18_000) / off, expected, context);
        }
    }

    #[test]
    fn pages_for_each_of_a_hundred_thousand_random_reads_of_a_page() {
        for (context, expected) in ALL.into_iter().zip([0.912, 1.816, 1.011, 0.931]) {
            assert_within_a_percent(fetched(context, 1, 100_000) / 100_000.0, expected, context);
        }
    }

    #[test]
    fn a_stream_of_pages_is_read_in_windows_that_double_one_window_ahead_of_the_reader() {
        for context in ALL {
            let mut opened = Opened::new(context, 1000);
            let windows: Vec<_> = (0..100).flat_map(|page| opened.read(page, 1)).collect();
            assert_eq!(windows[..5], [(0, 4), (4, 12), (12, 28), (28, 60), (60, 92)], "{context:?}");
            assert_eq!(opened.pages.len(), 156, "{context:?}: the marker at 92 was the last");
        }
    }

    #[test]
    fn a_stream_that_begins_anywhere_is_known_at_its_second_read() {
        let mut opened = Opened::new(Context::Off, 1000);
        assert_eq!(opened.read(500, 2), [(500, 502)]);
        assert_eq!(opened.read(502, 2), [(502, 506)]);
        assert_eq!(opened.read(504, 2), [(506, 514)]);
    }

    #[test]
    fn one_read_of_half_a_window_beside_a_cached_page_fetches_two_windows_in_2009() {
        let mut opened = Opened::new(Context::Doubling, 100_000);
        opened.read(1000, 16);
        assert_eq!(opened.read(5000, 16), [(5000, 5016)], "nothing is cached before it");
        assert_eq!(opened.read(1016, 16), [(1016, 1080)], "32 pages, and 32 more at once");
    }

    #[test]
    fn since_2013_as_much_as_was_asked_for_is_not_history_enough() {
        for (context, expected) in [(Context::Ramp, (1016, 1048)), (Context::Careful, (1016, 1032))] {
            let mut opened = Opened::new(context, 100_000);
            opened.read(1000, 16);
            opened.read(5000, 16);
            assert_eq!(opened.read(1016, 16), [expected], "{context:?}");
            opened.read(7000, 16);
            assert_eq!(opened.read(1048, 16).len(), 1, "{context:?}");
        }
    }

    #[test]
    fn of_two_streams_through_one_open_file_only_context_knows() {
        let pages = |context| {
            let mut opened = Opened::new(context, 100_000);
            let mut requests = 0;
            for step in 0..200 {
                requests += opened.read(1000 + 2 * step, 2).len() + opened.read(50_000 + 2 * step, 2).len();
            }
            requests
        };
        assert_eq!(pages(Context::Off), 400);
        for context in [Context::Doubling, Context::Ramp, Context::Careful] {
            assert!(pages(context) < 70, "{context:?}: {}", pages(context));
        }
    }

    #[test]
    fn nothing_is_fetched_twice_or_past_the_end_of_the_file() {
        for context in ALL {
            let mut opened = Opened::new(context, 50);
            let mut fetched: Vec<u64> = Vec::new();
            for page in 0..50 {
                fetched.extend(opened.read(page, 1).iter().flat_map(|(start, end)| *start..*end));
            }
            assert_eq!(fetched, (0..50).collect::<Vec<_>>(), "{context:?}");
        }
    }

    #[test]
    fn a_page_that_is_missing_in_the_middle_of_a_read_does_not_continue_one() {
        let mut opened = Opened::new(Context::Off, 1000);
        opened.read(500, 4);
        opened.read(700, 4);
        assert_eq!(opened.read(502, 4), [(504, 506)]);
    }

    #[test]
    fn a_read_larger_than_a_window_goes_on_window_by_window() {
        let mut opened = Opened::new(Context::Careful, 1000);
        assert_eq!(opened.read(300, 128), [(300, 460)]);
    }

    #[test]
    fn a_window_of_one_page_reads_pages() {
        let windows = Windows { max: 1, context: Context::Doubling };
        let mut opened = Opened { windows, file: OpenFile::default(), pages: Cached::default(), count: 100 };
        for page in 0..100 {
            opened.read(page, 1);
        }
        assert_eq!(opened.pages.len(), 100);
    }
}
