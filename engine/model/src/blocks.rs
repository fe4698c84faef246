//! The blocks that a file system holds in memory: a replacement policy, and what it says nothing of.
//!
//! A block is taken in when it is asked for, as memory is: from then on it is in the cache, in flight until its fetch arrives.
//! So a stack's cache holds what a replay of the same blocks holds. Only where more is in flight than the cache can hold may a
//! policy evict a block before it has come; a waiting reader gets it all the same, and the next reader fetches it again.

use std::fmt;

use crate::range::Range;
use seeklab_cache::{Cursor, Keys, NONE, Policy, PolicyKind, Slot};

/// The mark stored with a block.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The fetch that brings the block, or [`NONE`] when it is present.
    pub fetch: u32,
    /// The prefetch that brought the block, or [`NONE`] when it was read on demand or has been used.
    pub prefetch: u32,
}

/// Blocks under a replacement policy.
pub struct Blocks {
    policy: Box<dyn Policy + Send + Sync>,
    /// By the policy's slot.
    marks: Vec<Mark>,
    evicted: Vec<u64>,
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("capacity", &self.policy.capacity()).field("len", &self.policy.len()).finish_non_exhaustive()
    }
}

impl Blocks {
    /// Room for `capacity` blocks.
    #[must_use]
    pub fn new(policy: PolicyKind, capacity: u64) -> Self {
        Self { policy: policy.cache(capacity, Keys::Runs), marks: Vec::new(), evicted: Vec::new() }
    }

    /// Room for `capacity` blocks of `block_bytes`, in which the blocks of `ranges` (in bytes) are present as far as they fit.
    #[must_use]
    pub fn primed(policy: PolicyKind, capacity: u64, block_bytes: u64, ranges: &[Range]) -> Self {
        let mut blocks = Self::new(policy, capacity);
        for block in ranges.iter().flat_map(|range| range.start / block_bytes..range.end.div_ceil(block_bytes)) {
            if blocks.policy.used() < capacity && blocks.find(block).is_none() {
                blocks.add(block, NONE, NONE);
            }
        }
        blocks
    }

    /// The place of a block, present or in flight. It is good while the block is in the cache.
    #[must_use]
    pub fn find(&self, block: u64) -> Option<Slot> {
        self.policy.find(block)
    }

    /// The places of the blocks from `block` on, up to before `end`, as many as one look finds: at least one. [`NONE`] stands for a block
    /// that is not there. `cursor` is stale once a block is added or removed.
    #[inline]
    pub fn find_run<'a>(&self, cursor: &'a mut Cursor, block: u64, end: u64) -> &'a [Slot] {
        if !cursor.covers(block) {
            *cursor = self.policy.find_around(block);
        }
        cursor.slots_from(block, end)
    }

    /// Return the mark of a block.
    #[must_use]
    pub fn mark(&self, place: Slot) -> &Mark {
        &self.marks[place as usize]
    }

    /// Return the mark of a block, mutably.
    pub fn mark_mut(&mut self, place: Slot) -> &mut Mark {
        &mut self.marks[place as usize]
    }

    /// Takes in a block, which is not there: in flight with `fetch`, or present when that is [`NONE`].
    pub fn add(&mut self, block: u64, fetch: u32, prefetch: u32) {
        self.evicted.clear();
        if let Some(place) = self.policy.admit_missing(block, 1, &mut self.evicted) {
            self.set_mark(place, Mark { fetch, prefetch });
        }
    }

    #[inline]
    fn set_mark(&mut self, place: Slot, mark: Mark) {
        match self.marks.get_mut(place as usize) {
            Some(free) => *free = mark,
            None => self.marks.resize(place as usize + 1, mark), // slots are given in order, but for a policy's own
        }
    }

    /// Takes in the blocks of a run, none of which is there, as [`Blocks::add`] does. Appends their places, with [`NONE`] for a block that
    /// the policy does not take.
    pub fn add_run(&mut self, run: Range, fetch: u32, prefetch: u32, places: &mut Vec<Slot>) {
        let from = places.len();
        self.policy.admit_run(run.start, run.end - run.start, places);
        for place in places[from..].iter().filter(|place| **place != NONE) {
            self.set_mark(*place, Mark { fetch, prefetch });
        }
    }

    /// The block of a fetch has come to the place that it was given, if it is still expected there.
    #[inline]
    pub fn arrive_at(&mut self, place: Slot, fetch: u32) {
        if let Some(mark) = self.marks.get_mut(place as usize).filter(|mark| mark.fetch == fetch) {
            mark.fetch = NONE;
        }
    }

    /// The block of a fetch has come, if it is still expected.
    pub fn arrive(&mut self, block: u64, fetch: u32) {
        if let Some(place) = self.find(block) {
            self.arrive_at(place, fetch);
        }
    }

    /// The block is used.
    pub fn touch(&mut self, place: Slot) {
        self.policy.hit(place);
    }

    /// The blocks are used, one after the other.
    pub fn touch_all(&mut self, places: &[Slot]) {
        self.policy.hit_all(places);
    }

    /// Forgets a block.
    pub fn remove(&mut self, block: u64) {
        self.policy.remove(block);
    }

    /// Changes the room, which may evict.
    pub fn resize(&mut self, capacity: u64) {
        self.evicted.clear();
        self.policy.set_capacity(capacity, &mut self.evicted);
    }

    /// Blocks in the cache, or in flight into it.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.policy.len()
    }

    /// Whether there is no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.policy.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_cache::PolicyKind;

    #[test]
    fn a_block_on_its_way_is_found_with_its_fetch_until_it_arrives() {
        let mut blocks = Blocks::new(PolicyKind::Arc, 4);
        blocks.add(7, 3, 5);
        let place = blocks.find(7).expect("on its way");
        blocks.arrive(7, 4); // somebody else's
        assert_eq!((blocks.mark(place).fetch, blocks.mark(place).prefetch), (3, 5));
        blocks.arrive(7, 3);
        assert_eq!((blocks.mark(place).fetch, blocks.mark(place).prefetch), (NONE, 5));
    }

    #[test]
    fn priming_fills_what_fits_under_every_policy() {
        for policy in PolicyKind::ALL {
            let blocks = Blocks::primed(policy, 8, 512, &[Range { start: 0, end: 1024 }, Range { start: 512, end: 1 << 20 }]);
            assert_eq!(blocks.len(), 8, "{policy}");
            assert!((0..8).all(|block| blocks.find(block).is_some()), "{policy}");
        }
    }

    #[test]
    fn a_smaller_cache_keeps_what_the_policy_keeps_and_a_larger_one_has_room_again() {
        let mut blocks = Blocks::primed(PolicyKind::Lru, 8, 1, &[Range { start: 0, end: 8 }]);
        blocks.touch(blocks.find(0).expect("primed"));
        blocks.resize(2);
        assert_eq!((0..8).filter(|block| blocks.find(*block).is_some()).collect::<Vec<_>>(), [0, 7]);
        blocks.resize(3);
        blocks.add(9, NONE, NONE);
        assert_eq!(blocks.len(), 3);
    }
}
