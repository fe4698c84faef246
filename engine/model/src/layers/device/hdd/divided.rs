//! How a drive's buffer is divided as needed: which segments hold something, by place, and all of them by use.
//!
//! A lookup is a search among the places, and the segment that gives way is known at once, however many there are.

/// One segment: blocks from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First block held.
    pub start: u64,
    /// One past the last block held; equal to `start` when empty.
    pub end: u64,
    /// When it was last used, in uses of the buffer.
    pub used: u64,
}

impl Segment {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Blocks held.
    pub fn blocks(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it holds one of the blocks from `lbn` to before `end`.
    pub fn overlaps(&self, lbn: u64, end: u64) -> bool {
        !self.is_empty() && self.start < end && lbn < self.end
    }
}

/// A buffer that is divided as needed: its segments by place and by use.
#[derive(Clone, Debug)]
pub(super) struct Divided {
    /// Those that hold something, from the lowest block to the highest. They do not overlap.
    by_place: Vec<u32>,
    /// Where each of these ends: what a search looks at, side by side in memory.
    ends: Vec<u64>,
    /// Where the segment was that changed last, which is most often the next to change.
    last_place: usize,
    /// The next older and the next newer of each, by use.
    older: Vec<u32>,
    newer: Vec<u32>,
    oldest: u32,
    newest: u32,
    /// All that were used before this one hold nothing; none when no segment holds anything.
    held_from: u32,
    /// Blocks held, and blocks of the buffer.
    pub held: u64,
    pub most: u64,
}

/// No segment.
const NONE: u32 = u32::MAX;

impl Divided {
    /// For `count` segments in a buffer of `most` blocks.
    pub fn new(count: u32, most: u64) -> Self {
        Self {
            by_place: Vec::with_capacity(count as usize),
            ends: Vec::with_capacity(count as usize),
            last_place: 0,
            older: (0..count).map(|index| index.checked_sub(1).unwrap_or(NONE)).collect(),
            newer: (1..=count).map(|index| if index < count { index } else { NONE }).collect(),
            oldest: 0,
            newest: count - 1,
            held_from: NONE,
            held: 0,
            most,
        }
    }

    fn unlink(&mut self, index: u32) {
        let (older, newer) = (self.older[index as usize], self.newer[index as usize]);
        if self.held_from == index {
            self.held_from = newer;
        }
        if older == NONE {
            self.oldest = newer;
        } else {
            self.newer[older as usize] = newer;
        }
        if newer == NONE {
            self.newest = older;
        } else {
            self.older[newer as usize] = older;
        }
    }

    /// Makes a segment the one used last.
    pub fn touch(&mut self, index: u32) {
        if self.newest != index {
            self.unlink(index);
            self.older[index as usize] = self.newest;
            self.newer[index as usize] = NONE;
            self.newer[self.newest as usize] = index;
            self.newest = index;
        }
    }

    /// Makes a segment the next to be taken.
    pub fn give_up(&mut self, index: u32) {
        if self.oldest != index {
            self.unlink(index);
            self.newer[index as usize] = self.oldest;
            self.older[index as usize] = NONE;
            self.older[self.oldest as usize] = index;
            self.oldest = index;
        }
    }

    /// The next segment to be taken.
    pub fn least_recent(&self, avoid: Option<usize>) -> u32 {
        let newer = self.newer[self.oldest as usize];
        if avoid == Some(self.oldest as usize) && newer != NONE { newer } else { self.oldest }
    }

    /// The segment used least recently that holds something, but for `keep`.
    pub fn oldest_held(&mut self, segments: &[Segment], keep: usize) -> Option<u32> {
        while segments.get(self.held_from as usize).is_some_and(Segment::is_empty) {
            self.held_from = self.newer[self.held_from as usize];
        }
        self.from(self.held_from).find(|index| *index as usize != keep && !segments[*index as usize].is_empty())
    }

    /// The same as [`Self::oldest_held`], by a walk over all.
    #[cfg(test)]
    pub fn oldest_held_of_all(&self, segments: &[Segment], keep: usize) -> Option<u32> {
        self.from(self.oldest).find(|index| *index as usize != keep && !segments[*index as usize].is_empty())
    }

    /// A segment and all used since, in order.
    fn from(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(some(first), move |index| some(self.newer[*index as usize]))
    }

    /// The place of the first segment that ends after `lbn`.
    #[inline]
    pub fn place_after(&self, lbn: u64) -> usize {
        self.ends.partition_point(|end| *end <= lbn)
    }

    /// The segment at a place.
    #[inline]
    pub fn at(&self, place: usize) -> Option<usize> {
        self.by_place.get(place).map(|index| *index as usize)
    }

    /// The place of a segment that holds something from `start` on.
    fn place_of(&self, index: usize, start: u64) -> usize {
        if self.at(self.last_place) == Some(index) { self.last_place } else { self.place_after(start) }
    }

    /// The place of what comes after a segment, or of the first that ends after its end where it holds nothing.
    pub fn place_behind(&self, index: usize, segment: &Segment) -> usize {
        if segment.is_empty() { self.place_after(segment.end) } else { self.place_of(index, segment.start) + 1 }
    }

    /// Notes that a segment changes.
    pub fn change(&mut self, index: usize, from: &Segment, to: &Segment) {
        self.held = self.held + to.blocks() - from.blocks();
        match (from.is_empty(), to.is_empty()) {
            (true, false) => {
                let place = self.place_after(to.start);
                self.by_place.insert(place, index as u32);
                self.ends.insert(place, to.end);
                self.last_place = place;
                if self.newest != index as u32 {
                    self.held_from = self.oldest;
                } else if self.held_from == NONE {
                    self.held_from = index as u32;
                }
            }
            (false, true) => {
                let place = self.place_of(index, from.start);
                self.by_place.remove(place);
                self.ends.remove(place);
            }
            (false, false) if from.end != to.end => {
                let place = self.place_of(index, from.start);
                self.ends[place] = to.end;
                self.last_place = place;
            }
            _ => {}
        }
    }
}
