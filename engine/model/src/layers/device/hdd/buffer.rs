//! The drive's buffer: a few segments, each holding one contiguous range of blocks.
//!
//! Rules as documented for DiskSim parameter files. A read hits a segment that holds its first block; a segment that holds
//! more of it is preferred, then the one used last. A miss takes an empty segment, else the least recently used one, and leaves alone the one that
//! read-ahead is filling unless there is no other. A write takes a segment with overlapping data first, and empties every
//! other one that overlaps it, so that a read never sees old data. When a range outgrows its segment, the oldest
//! (lowest) blocks go.
//!
//! Left out: segments that are split or resized by use, a segment kept for writes (no effect in the reference), and hits
//! on a request's later blocks only.

/// One segment: blocks from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First block held.
    pub start: u64,
    /// One past the last block held; equal to `start` when empty.
    pub end: u64,
    /// When it was last used, in uses of the buffer.
    used: u64,
}

impl Segment {
    fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    fn overlaps(&self, lbn: u64, end: u64) -> bool {
        !self.is_empty() && self.start < end && lbn < self.end
    }
}

/// Counters of the index of the segments; a power of two.
const COUNTERS: usize = 1024;

/// Longest stretch of the index, as a power of two: longer segments are held by several counters.
const LONGEST_STRETCH_BITS: u32 = 40;

/// Which stretches of the drive the segments touch, counted. Most blocks are in no segment, and one look tells so; a queue
/// asks for each of its requests every time it picks one.
#[derive(Clone, Debug)]
struct Index {
    counts: Box<[u32; COUNTERS]>,
    /// Blocks of a stretch, as a power of two: at least a segment's, so that a segment touches two at most.
    stretch_bits: u32,
}

impl Index {
    fn new(segment_blocks: u64) -> Self {
        let stretch_bits = segment_blocks.checked_next_power_of_two().map_or(LONGEST_STRETCH_BITS, u64::trailing_zeros);
        Self { counts: Box::new([0; COUNTERS]), stretch_bits: stretch_bits.min(LONGEST_STRETCH_BITS) }
    }

    fn counter(&self, lbn: u64) -> usize {
        (lbn >> self.stretch_bits) as usize % COUNTERS
    }

    /// First and last stretch of a segment; `None` for an empty one.
    fn stretches(&self, segment: &Segment) -> Option<(u64, u64)> {
        (!segment.is_empty()).then(|| (segment.start >> self.stretch_bits, (segment.end - 1) >> self.stretch_bits))
    }

    fn change(&mut self, from: &Segment, to: &Segment) {
        let (old, new) = (self.stretches(from), self.stretches(to));
        if old == new {
            return;
        }
        for (range, up) in [(old, false), (new, true)] {
            let Some((first, last)) = range else { continue };
            for stretch in first..=last {
                let count = &mut self.counts[stretch as usize % COUNTERS];
                *count = if up { *count + 1 } else { *count - 1 };
            }
        }
    }
}

/// The segments of a drive.
#[derive(Clone, Debug)]
pub struct Buffer {
    segments: Vec<Segment>,
    size: u64,
    uses: u64,
    index: Index,
}

impl Buffer {
    /// `count` empty segments of `size` blocks each (both at least 1).
    #[must_use]
    pub fn new(count: u32, size: u64) -> Self {
        let size = size.max(1);
        Self { segments: vec![Segment::default(); count.max(1) as usize], size, uses: 0, index: Index::new(size) }
    }

    /// Gives a segment other blocks: those from `start` to before `end`.
    fn set(&mut self, index: usize, start: u64, end: u64) {
        let segment = &mut self.segments[index];
        let changed = Segment { start, end, ..*segment };
        self.index.change(segment, &changed);
        *segment = changed;
    }

    /// A segment by its index.
    #[must_use]
    pub fn segment(&self, index: usize) -> Segment {
        self.segments[index]
    }

    /// The segment that holds block `lbn`, preferring the one that holds most of the blocks up to `end`, then the one used
    /// most recently.
    #[must_use]
    pub fn find(&self, lbn: u64, end: u64) -> Option<usize> {
        if self.index.counts[self.index.counter(lbn)] > 0 { self.search(lbn, end) } else { None }
    }

    /// The index's counter for block `lbn`, which never changes.
    pub(super) fn counter(&self, lbn: u64) -> usize {
        self.index.counter(lbn)
    }

    /// Whether a segment holds block `lbn`, whose counter is `counter`.
    #[inline]
    pub(super) fn holds(&self, lbn: u64, counter: usize) -> bool {
        self.index.counts[counter % COUNTERS] > 0 && self.search(lbn, lbn + 1).is_some()
    }

    fn search(&self, lbn: u64, end: u64) -> Option<usize> {
        let mut best: Option<(u64, u64, usize)> = None;
        for (index, segment) in self.segments.iter().enumerate() {
            if segment.start <= lbn && lbn < segment.end {
                best = best.max(Some((segment.end.min(end), segment.used, index)));
            }
        }
        best.map(|(.., index)| index)
    }

    /// Marks a segment as just used.
    pub fn touch(&mut self, index: usize) {
        self.uses += 1;
        self.segments[index].used = self.uses;
    }

    /// Takes a segment for a missed read from block `lbn` on; `filling` is the one read-ahead is filling.
    pub fn take_for_read(&mut self, lbn: u64, filling: Option<usize>) -> usize {
        let index = self.least_recent(filling);
        self.set(index, lbn, lbn);
        self.touch(index);
        index
    }

    /// Takes a segment for a write of the blocks from `lbn` to before `end` and empties all others that overlap it.
    pub fn take_for_write(&mut self, lbn: u64, end: u64) -> usize {
        let overlapping = self.segments.iter().position(|segment| segment.overlaps(lbn, end));
        let index = overlapping.unwrap_or_else(|| self.least_recent(None));
        self.drop_overlapping(lbn, end, index);
        self.set(index, lbn, lbn);
        self.fill(index, end);
        self.touch(index);
        index
    }

    /// Empties every segment but `keep` that holds one of the blocks from `lbn` to before `end`.
    pub fn drop_overlapping(&mut self, lbn: u64, end: u64, keep: usize) {
        for index in 0..self.segments.len() {
            if index != keep && self.segments[index].overlaps(lbn, end) {
                self.clear(index);
            }
        }
    }

    /// Adds the blocks up to before `end` at a segment's end; the oldest go if they do not fit.
    pub fn fill(&mut self, index: usize, end: u64) {
        let segment = self.segments[index];
        let end = segment.end.max(end);
        self.set(index, segment.start.max(end.saturating_sub(self.size)), end);
    }

    /// Adds the blocks from `start` on in front of a segment's data.
    pub fn extend_front(&mut self, index: usize, start: u64) {
        let segment = self.segments[index];
        self.set(index, segment.start.min(start), segment.end);
    }

    /// Drops a segment's blocks before `lbn`.
    pub fn forget_before(&mut self, index: usize, lbn: u64) {
        let segment = self.segments[index];
        self.set(index, segment.start.max(lbn).min(segment.end), segment.end);
    }

    /// Empties a segment.
    pub fn clear(&mut self, index: usize) {
        let end = self.segments[index].end;
        self.set(index, end, end);
    }

    fn least_recent(&self, avoid: Option<usize>) -> usize {
        let mut best: Option<(bool, u64, usize)> = None;
        for (index, segment) in self.segments.iter().enumerate() {
            if Some(index) == avoid {
                continue;
            }
            let key = (!segment.is_empty(), segment.used, index);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        best.map_or_else(|| avoid.unwrap_or(0), |(_, _, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_index_never_hides_a_segment(
            size in 1_u64..200,
            changes in prop::collection::vec((0_u8..6, 0_usize..4, 0_u64..600_000, 1_u64..300), 1..100),
        ) {
            let mut buffer = Buffer::new(4, size);
            for (change, index, lbn, blocks) in changes {
                match change {
                    0 => drop(buffer.take_for_read(lbn, None)),
                    1 => drop(buffer.take_for_write(lbn, lbn + blocks)),
                    2 => buffer.fill(index, buffer.segment(index).end + blocks),
                    3 => buffer.extend_front(index, buffer.segment(index).start.saturating_sub(blocks)),
                    4 => buffer.forget_before(index, buffer.segment(index).start + blocks),
                    _ => buffer.clear(index),
                }
                for held in (0..4).map(|index| buffer.segment(index)).filter(|segment| !segment.is_empty()) {
                    prop_assert!(buffer.find(held.start, held.end).is_some() && buffer.find(held.end - 1, held.end).is_some());
                }
            }
            (0..4).for_each(|index| buffer.clear(index));
            prop_assert!(buffer.index.counts.iter().all(|count| *count == 0));
        }
    }

    fn filled(ranges: &[(u64, u64)]) -> Buffer {
        let mut buffer = Buffer::new(ranges.len() as u32, 100);
        for &(start, end) in ranges {
            let index = buffer.take_for_read(start, None);
            buffer.fill(index, end);
        }
        buffer
    }

    #[test]
    fn the_segment_that_holds_most_is_preferred_then_the_latest() {
        let buffer = filled(&[(0, 10), (5, 20), (8, 12)]);
        assert_eq!(buffer.find(8, 16), Some(1));
        assert_eq!(buffer.find(8, 10), Some(2));
        assert_eq!(buffer.find(30, 31), None);
        assert_eq!(buffer.find(20, 21), None);
    }

    #[test]
    fn a_miss_takes_the_least_recently_used_segment_but_not_the_one_being_filled() {
        let mut buffer = filled(&[(0, 10), (20, 30), (40, 50)]);
        buffer.touch(0);
        assert_eq!(buffer.take_for_read(100, Some(1)), 2);
        buffer.clear(0);
        assert_eq!(buffer.take_for_read(200, None), 0);
        let mut single = filled(&[(0, 10)]);
        assert_eq!(single.take_for_read(50, Some(0)), 0);
    }

    #[test]
    fn a_write_replaces_overlapping_data_in_every_segment() {
        let mut buffer = filled(&[(0, 10), (5, 30), (8, 9), (50, 60)]);
        assert_eq!(buffer.take_for_write(6, 12), 0);
        assert_eq!((buffer.segment(0).start, buffer.segment(0).end), (6, 12));
        assert!(buffer.segment(1).is_empty());
        assert!(buffer.segment(2).is_empty());
        assert_eq!(buffer.segment(3).end, 60);
    }

    #[test]
    fn the_newest_blocks_win_when_a_range_outgrows_its_segment() {
        let mut buffer = filled(&[(0, 10)]);
        buffer.fill(0, 130);
        assert_eq!((buffer.segment(0).start, buffer.segment(0).end), (30, 130));
    }
}
