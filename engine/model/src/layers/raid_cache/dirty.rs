//! The ranges of addresses whose newest data are in the controller's memory alone.

use std::collections::BTreeMap;

/// Ranges that are to be written out: none touches another.
#[derive(Debug, Default)]
pub struct Dirty {
    /// The end of each range, by its start.
    ranges: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Dirty {
    /// Bytes of all ranges.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.ranges.len() * 2 * size_of::<(u64, u64)>()) as u64
    }

    /// Adds a range. O(log n) but for the ranges that it joins.
    pub fn add(&mut self, start: u64, end: u64) {
        let (mut from, mut to) = (start, end);
        let before = self.ranges.range(..start).next_back().filter(|(_, end)| **end >= start).map(|(start, end)| (*start, *end));
        let mut next = before.or_else(|| self.first_from(start, end));
        while let Some((start, end)) = next {
            self.ranges.remove(&start);
            self.bytes -= end - start;
            (from, to) = (from.min(start), to.max(end));
            next = self.first_from(from, to);
        }
        self.ranges.insert(from, to);
        self.bytes += to - from;
    }

    /// The first range that starts in these bounds, both included.
    fn first_from(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        self.ranges.range(from..=to).next().map(|(start, end)| (*start, *end))
    }

    /// Takes a range away, as far as it is there.
    pub fn remove(&mut self, start: u64, end: u64) {
        let before = self.ranges.range(..start).next_back().filter(|(_, end)| **end > start).map(|(start, end)| (*start, *end));
        let mut next = before.or_else(|| self.first_from(start, end));
        while let Some((from, to)) = next.filter(|(from, _)| *from < end) {
            self.ranges.remove(&from);
            self.bytes -= to.min(end) - from.max(start);
            if from < start {
                self.ranges.insert(from, start);
            }
            if to > end {
                self.ranges.insert(end, to);
            }
            next = self.first_from(start, end);
        }
    }

    /// Whether all of a range is there.
    #[must_use]
    pub fn covers(&self, start: u64, end: u64) -> bool {
        self.ranges.range(..=start).next_back().is_some_and(|(_, to)| *to >= end)
    }

    /// The next range in order of address from `from` on, and from the lowest address again: at most `most` bytes, and nothing of what is
    /// `busy`.
    #[must_use]
    pub fn next(&self, from: u64, most: u64, busy: &[(u64, u64)]) -> Option<(u64, u64)> {
        let here = self.ranges.range(..from).next_back().filter(|(_, end)| **end > from).map(|(_, end)| (from, *end));
        let mut all = here.into_iter().chain(self.ranges.range(from..).chain(&self.ranges).map(|(start, end)| (*start, *end)));
        all.find_map(|(start, end)| free(start, end, most, busy))
    }
}

/// The first part of a range that touches nothing `busy`.
fn free(mut start: u64, end: u64, most: u64, busy: &[(u64, u64)]) -> Option<(u64, u64)> {
    while let Some((_, to)) = busy.iter().find(|(from, to)| (*from..*to).contains(&start)) {
        start = *to;
    }
    let until = busy.iter().map(|(from, _)| *from).filter(|from| *from > start).fold(end.min(start.saturating_add(most)), u64::min);
    (start < end).then_some((start, until))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut dirty = Dirty::default();
        for (start, end) in [(10, 20), (30, 40), (20, 30), (50, 60), (35, 70)] {
            dirty.add(start, end);
        }
        assert_eq!((dirty.ranges.len(), dirty.bytes()), (1, 60));
        dirty.remove(15, 25);
        assert_eq!((dirty.ranges.clone(), dirty.bytes()), (BTreeMap::from([(10, 15), (25, 70)]), 50));
    }

    #[test]
    fn the_next_range_goes_on_upwards_and_leaves_alone_what_is_busy() {
        let mut dirty = Dirty::default();
        dirty.add(0, 100);
        dirty.add(200, 300);
        assert_eq!(dirty.next(0, 64, &[]), Some((0, 64)));
        assert_eq!(dirty.next(64, 64, &[(0, 64)]), Some((64, 100)));
        assert_eq!(dirty.next(100, 64, &[(230, 250)]), Some((200, 230)));
        assert_eq!(dirty.next(300, 64, &[(0, 20), (20, 30)]), Some((30, 94)), "from the lowest address again");
        assert_eq!(dirty.next(0, 64, &[(0, 100), (200, 300)]), None);
    }

    proptest! {
        #[test]
        fn it_holds_what_a_map_of_every_byte_would(steps in prop::collection::vec((any::<bool>(), 0u64..60, 1u64..20), 1..60)) {
            let (mut dirty, mut bytes) = (Dirty::default(), [false; 80]);
            for (adds, start, length) in steps {
                if adds { dirty.add(start, start + length) } else { dirty.remove(start, start + length) }
                (start..start + length).for_each(|byte| bytes[usize::try_from(byte).expect("small")] = adds);
            }
            let held: Vec<bool> = (0..80).map(|byte| dirty.covers(byte, byte + 1)).collect();
            prop_assert_eq!(held, bytes.to_vec());
            prop_assert_eq!(dirty.bytes(), bytes.iter().filter(|byte| **byte).count() as u64);
            let ends: Vec<(u64, u64)> = dirty.ranges.iter().map(|(start, end)| (*start, *end)).collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "{ends:?}");
        }
    }
}
