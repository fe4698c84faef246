//! The drive's buffer: a few segments, each holding one contiguous range of blocks.
//!
//! Rules as documented for DiskSim parameter files. A read hits a segment that holds its first block; a segment that holds
//! more of it is preferred, then the one used last. A miss takes an empty segment, else the least recently used one, and leaves alone the one that
//! read-ahead is filling unless there is no other. A write takes a segment with overlapping data first, and empties every
//! other one that overlaps it, so that a read never sees old data. When a range outgrows its segment, the oldest
//! (lowest) blocks go.
//!
//! A buffer may also be *divided as needed* ([`Buffer::adaptive`]), as in drives that link small pages to a segment of the size that a
//! command needs (Fujitsu, product manual of the MBA3xxx drives, C141-C013, 3.1.1): a segment takes no more room than it holds, and
//! there are as many as there is room for. No block is held twice, neighbours are joined when neither is being filled, and a write
//! cuts off what it makes old, instead of the whole segment. A segment still grows no larger than its share of the buffer, so that
//! one stream does not evict all others.
//!
//! Left out: a segment kept for writes (no effect in the reference), hits on a request's later blocks only, the size of a page but for
//! the number of segments that it allows, and that a write into the middle of a segment would leave two.

use std::ops::Range;

use super::divided::{Divided, Segment};

/// Blocks that a segment takes at least of a buffer that is divided as needed, for its number of segments; assumed, 128 KiB.
const MIN_SHARE_BLOCKS: u64 = 256;

/// Most segments of a buffer that is divided as needed; assumed.
const MAX_SEGMENTS: u64 = 1024;

/// Counters of the index of the segments; a power of two.
const COUNTERS: usize = 1024;

/// Longest stretch of the index, as a power of two: longer segments are held by several counters.
const MAX_STRETCH_BITS: u32 = 40;

/// Counts of the segments that touch each stretch of the drive. Most blocks are in no segment, which one lookup shows.
#[derive(Clone, Debug)]
struct Index {
    counts: Box<[u32; COUNTERS]>,
    /// Blocks of a stretch, as a power of two: at least a segment's, so that a segment touches two at most.
    stretch_bits: u32,
}

impl Index {
    fn new(segment_blocks: u64) -> Self {
        let stretch_bits = segment_blocks.checked_next_power_of_two().map_or(MAX_STRETCH_BITS, u64::trailing_zeros);
        Self { counts: Box::new([0; COUNTERS]), stretch_bits: stretch_bits.min(MAX_STRETCH_BITS) }
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
    /// For a buffer that is divided as needed.
    divided: Option<Divided>,
    news: News,
}

/// Ranges of news that are kept.
const NEWS: usize = 8;

/// The ranges of blocks that a buffer has come to hold, the last few of them: so a queue need not ask for each of its requests again.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// A ring; the oldest is overwritten.
    ranges: [(u64, u64); NEWS],
    count: u64,
}

impl News {
    fn add(&mut self, start: u64, end: u64) {
        if start < end {
            self.ranges[self.count as usize % NEWS] = (start, end);
            self.count += 1;
        }
    }

    /// Ranges so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The ranges after the first `known` ones; `None` when some are no longer kept.
    pub fn since(&self, known: u64) -> Option<impl Iterator<Item = Range<u64>>> {
        let kept = self.count - known <= NEWS as u64;
        kept.then(|| (known..self.count).map(|nth| self.ranges[nth as usize % NEWS]).map(|(start, end)| start..end))
    }
}

impl Buffer {
    /// `count` empty segments of `size` blocks each (both at least 1).
    #[must_use]
    pub fn new(count: u32, size: u64) -> Self {
        let size = size.max(1);
        Self {
            segments: vec![Segment::default(); count.max(1) as usize],
            size,
            uses: 0,
            index: Index::new(size),
            divided: None,
            news: News::default(),
        }
    }

    /// A buffer of `count` times `size` blocks that is divided as needed, into segments of at most `size` blocks.
    #[must_use]
    pub fn adaptive(count: u32, size: u64) -> Self {
        let blocks = u64::from(count.max(1)) * size.max(1);
        let most = (blocks / MIN_SHARE_BLOCKS).min(MAX_SEGMENTS).max(u64::from(count.max(2))) as u32;
        Self { divided: Some(Divided::new(most, blocks)), ..Self::new(most, size) }
    }

    /// Gives a segment other blocks: those from `start` to before `end`.
    fn set(&mut self, index: usize, start: u64, end: u64) {
        let segment = &self.segments[index];
        let changed = Segment { start, end, ..*segment };
        if segment.is_empty() {
            self.news.add(start, end);
        } else {
            self.news.add(start, end.min(segment.start));
            self.news.add(start.max(segment.end), end);
        }
        self.index.change(segment, &changed);
        if let Some(divided) = &mut self.divided {
            divided.change(index, segment, &changed);
        }
        self.segments[index] = changed;
    }

    /// Return the ranges that it has come to hold.
    #[must_use]
    pub fn news(&self) -> &News {
        &self.news
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

    /// Up to where the buffer holds what a segment begins, as far as `end`: in one that is divided as needed, the next segment may continue.
    #[must_use]
    pub fn reach(&self, index: usize, end: u64) -> (usize, u64) {
        let mut last = index;
        if let Some(divided) = &self.divided {
            let mut place = divided.place_behind(index, &self.segments[index]);
            while self.segments[last].end < end
                && let Some(next) = divided.at(place)
                && self.segments[next].start == self.segments[last].end
            {
                last = next;
                place += 1;
            }
        }
        (last, self.segments[last].end)
    }

    /// Whether the buffer holds the blocks from `lbn`, which is in a segment, to before `end`.
    #[must_use]
    pub fn has_all(&self, index: usize, end: u64) -> bool {
        self.segments[index].end >= end || self.reach(index, end).1 >= end
    }

    /// The first block from `lbn` on that a buffer holds which is divided as needed: there is no use in reading it again.
    #[must_use]
    pub fn next_held(&self, lbn: u64) -> Option<u64> {
        let divided = self.divided.as_ref()?;
        let next = divided.at(divided.place_after(lbn))?;
        Some(self.segments[next].start.max(lbn))
    }

    fn search(&self, lbn: u64, end: u64) -> Option<usize> {
        if let Some(divided) = &self.divided {
            let index = divided.at(divided.place_after(lbn))?;
            return (self.segments[index].start <= lbn).then_some(index);
        }
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
        if let Some(divided) = &mut self.divided {
            divided.touch(index as u32);
        }
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
        if self.divided.is_some() {
            self.drop_overlapping(lbn, end, usize::MAX);
            let index = self.take_for_read(lbn, None);
            self.fill(index, end);
            return index;
        }
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
        if self.divided.is_some() {
            return self.take_away(keep, lbn, end);
        }
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
        self.take_away(index, segment.end, end);
        self.set(index, segment.start.max(end.saturating_sub(self.size)), end);
        self.make_room(index);
    }

    /// Adds the blocks from `start` on in front of a segment's data.
    pub fn extend_front(&mut self, index: usize, start: u64) {
        let segment = self.segments[index];
        let start = segment.start.min(start);
        self.take_away(index, start, segment.start);
        self.set(index, start, segment.end);
        self.make_room(index);
    }

    /// A segment is not being filled any more: its neighbours join it where they fit.
    pub fn close(&mut self, index: usize) {
        let Some(divided) = &self.divided else { return };
        let segment = self.segments[index];
        if segment.is_empty() {
            return;
        }
        let behind = divided.place_behind(index, &segment);
        let [before, after] = [behind.checked_sub(2), Some(behind)].map(|place| place.and_then(|place| divided.at(place)));
        for neighbour in [before, after].into_iter().flatten() {
            let (this, other) = (self.segments[index], self.segments[neighbour]);
            let (start, end) = (this.start.min(other.start), this.end.max(other.end));
            if end - start <= self.size && end - start == this.blocks() + other.blocks() {
                self.clear(neighbour);
                self.set(index, start, end);
            }
        }
    }

    /// Takes blocks from all segments but one of a buffer that is divided as needed. What lies on both sides of them is cut to the
    /// longer side.
    fn take_away(&mut self, keep: usize, lbn: u64, end: u64) {
        let Some(divided) = self.divided.as_ref().filter(|_| lbn < end) else { return };
        let mut place = match self.segments.get(keep) {
            Some(kept) if kept.end == lbn => divided.place_behind(keep, kept),
            _ => divided.place_after(lbn),
        };
        while let Some(index) = self.divided.as_ref().and_then(|divided| divided.at(place))
            && self.segments[index].start < end
        {
            let segment = self.segments[index];
            if index == keep {
                place += 1;
            } else if lbn.saturating_sub(segment.start) > segment.end.saturating_sub(end) {
                self.set(index, segment.start, lbn);
                place += 1;
            } else if segment.end > end {
                self.set(index, end, segment.end);
            } else {
                self.clear(index);
            }
        }
    }

    /// Empties those used least recently until what is held fits into a buffer that is divided as needed.
    fn make_room(&mut self, keep: usize) {
        while let Some(divided) = self.divided.as_mut().filter(|divided| divided.held > divided.most)
            && let Some(index) = divided.oldest_held(&self.segments, keep)
        {
            self.clear(index as usize);
        }
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
        if let Some(divided) = &mut self.divided {
            divided.give_up(index as u32);
        }
    }

    fn least_recent(&self, avoid: Option<usize>) -> usize {
        if let Some(divided) = &self.divided {
            return divided.least_recent(avoid) as usize;
        }
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

    proptest! {
        #[test]
        fn a_buffer_divided_as_needed_holds_each_block_once_and_no_more_than_its_room(
            changes in prop::collection::vec((0_u8..7, 0_u64..40_000, 1_u64..3000), 1..300),
        ) {
            const SIZE: u64 = 2000;
            let mut buffer = Buffer::adaptive(4, SIZE);
            let mut latest = 0;
            for (change, lbn, blocks) in changes {
                let (start, end) = (buffer.segment(latest).start, buffer.segment(latest).end);
                match change {
                    0 | 1 if buffer.find(lbn, lbn + 1).is_none() => {
                        latest = buffer.take_for_read(lbn, None);
                        buffer.fill(latest, lbn + blocks);
                    }
                    2 => latest = buffer.take_for_write(lbn, lbn + blocks),
                    3 => buffer.fill(latest, end + blocks),
                    4 => buffer.drop_overlapping(lbn, lbn + blocks, usize::MAX),
                    5 => buffer.extend_front(latest, start.saturating_sub(blocks.min(SIZE - (end - start)))),
                    _ => buffer.close(latest),
                }
                let mut held: Vec<Segment> = buffer.segments.iter().copied().filter(|segment| !segment.is_empty()).collect();
                held.sort_by_key(|segment| segment.start);
                prop_assert!(held.windows(2).all(|pair| pair[0].end <= pair[1].start), "{:?}", held);
                prop_assert!(held.iter().all(|segment| segment.blocks() <= SIZE));
                prop_assert!(held.iter().map(Segment::blocks).sum::<u64>() <= 4 * SIZE);
                if let Some(divided) = &mut buffer.divided {
                    let next_to_go = divided.oldest_held_of_all(&buffer.segments, latest);
                    prop_assert_eq!(divided.oldest_held(&buffer.segments, latest), next_to_go);
                }
                for segment in &held {
                    prop_assert_eq!(buffer.find(segment.start, segment.end).map(|index| buffer.segment(index).end), Some(segment.end));
                    prop_assert!(buffer.find(segment.end, segment.end + 1).is_none_or(|index| buffer.segment(index).start == segment.end));
                }
            }
        }
    }

    #[test]
    fn a_buffer_divided_as_needed_has_as_many_segments_as_there_is_room_for() {
        let read = |mut buffer: Buffer| {
            for lbn in (0..100).map(|index| index * 10_000) {
                let index = buffer.take_for_read(lbn, None);
                buffer.fill(index, lbn + 200);
                buffer.close(index);
            }
            (0..100).filter(|index| buffer.find(index * 10_000, index * 10_000 + 1).is_some()).count()
        };
        // 32,768 blocks: at most 128 segments of at least 256 blocks, or four.
        assert_eq!((read(Buffer::adaptive(4, 8192)), read(Buffer::new(4, 8192))), (100, 4));
    }

    #[test]
    fn neighbours_are_joined_when_they_are_filled_and_a_write_cuts_off_what_is_old() {
        let mut buffer = Buffer::adaptive(4, 1000);
        for (start, end) in [(100, 200), (300, 400), (200, 300)] {
            let index = buffer.take_for_read(start, None);
            buffer.fill(index, end);
            buffer.close(index);
        }
        let held =
            |buffer: &Buffer, lbn: u64| buffer.find(lbn, lbn + 1).map(|index| (buffer.segment(index).start, buffer.segment(index).end));
        assert_eq!(held(&buffer, 150), Some((100, 400)));
        buffer.drop_overlapping(110, 120, usize::MAX);
        assert_eq!((held(&buffer, 105), held(&buffer, 150)), (None, Some((120, 400))), "the longer side stays");
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
