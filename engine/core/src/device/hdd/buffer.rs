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

/// The segments of a drive.
#[derive(Clone, Debug)]
pub struct Buffer {
    segments: Vec<Segment>,
    size: u64,
    uses: u64,
}

impl Buffer {
    /// `count` empty segments of `size` blocks each (both at least 1).
    #[must_use]
    pub fn new(count: u32, size: u64) -> Self {
        Self { segments: vec![Segment::default(); count.max(1) as usize], size: size.max(1), uses: 0 }
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
        self.segments[index].start = lbn;
        self.segments[index].end = lbn;
        self.touch(index);
        index
    }

    /// Takes a segment for a write of the blocks from `lbn` to before `end` and empties all others that overlap it.
    pub fn take_for_write(&mut self, lbn: u64, end: u64) -> usize {
        let overlapping = self.segments.iter().position(|segment| segment.overlaps(lbn, end));
        let index = overlapping.unwrap_or_else(|| self.least_recent(None));
        self.drop_overlapping(lbn, end, index);
        self.segments[index].start = lbn;
        self.segments[index].end = lbn;
        self.fill(index, end);
        self.touch(index);
        index
    }

    /// Empties every segment but `keep` that holds one of the blocks from `lbn` to before `end`.
    pub fn drop_overlapping(&mut self, lbn: u64, end: u64, keep: usize) {
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if index != keep && segment.overlaps(lbn, end) {
                segment.start = segment.end;
            }
        }
    }

    /// Adds the blocks up to before `end` at a segment's end; the oldest go if they do not fit.
    pub fn fill(&mut self, index: usize, end: u64) {
        let size = self.size;
        let segment = &mut self.segments[index];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(size));
    }

    /// Adds the blocks from `start` on in front of a segment's data.
    pub fn extend_front(&mut self, index: usize, start: u64) {
        let segment = &mut self.segments[index];
        segment.start = segment.start.min(start);
    }

    /// Drops a segment's blocks before `lbn`.
    pub fn forget_before(&mut self, index: usize, lbn: u64) {
        let segment = &mut self.segments[index];
        segment.start = segment.start.max(lbn).min(segment.end);
    }

    /// Empties a segment.
    pub fn clear(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        segment.start = segment.end;
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
    use super::*;

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
