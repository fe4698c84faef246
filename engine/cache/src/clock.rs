//! CLOCK: a ring with a hand. A hit sets the object's bit; the hand clears bits until it meets a clear one and evicts there.
//!
//! One bit, clear on admission; a new object enters just behind the hand, so it is the last that the hand will reach. The
//! evictions are those of a FIFO queue that puts used objects back (second chance), without moving anything.

use super::index::Keys;
use super::store::{List, NONE, Slot, Store};
use super::{Admission, Rules};

/// Second chance around a ring.
#[derive(Debug)]
pub struct Clock {
    store: Store,
    ring: List,
    /// The object that the hand points to, [`NONE`] when there is none.
    hand: Slot,
}

impl Clock {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        let mut store = Store::new(capacity, keys);
        Self { ring: store.list(), store, hand: NONE }
    }
}

impl Rules for Clock {
    fn store(&self) -> &Store {
        &self.store
    }
    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
    #[inline]
    fn touch(&mut self, slot: Slot) {
        self.store.entry_mut(slot).count = 1;
    }
    fn insert(&mut self, key: u64, size: u64, _: Admission) -> Slot {
        let slot = self.store.add(key, size);
        if self.hand == NONE {
            self.store.push(&mut self.ring, slot);
            self.hand = slot;
        } else {
            self.store.push_before(&mut self.ring, self.hand, slot);
        }
        slot
    }
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        if self.hand == NONE {
            return None;
        }
        while self.store.entry(self.hand).count > 0 {
            self.store.entry_mut(self.hand).count = 0;
            self.hand = self.store.around(&self.ring, self.hand);
        }
        Some(self.expel(self.hand))
    }
    fn expel(&mut self, slot: Slot) -> u64 {
        if self.hand == slot {
            let next = self.store.around(&self.ring, slot);
            self.hand = if next == slot { NONE } else { next };
        }
        self.store.unlink(&mut self.ring, slot);
        self.store.forget(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::evictions;

    #[test]
    fn the_hand_passes_what_was_used_once_and_stays_where_it_stopped() {
        // 1 2 3 fill; 1 and 2 hit. 4: hand passes 1 and 2, evicts 3, points to 1. 5: 1's bit is spent, evicts 1, points to 2.
        // 2 hits. 6: hand passes 2, evicts 4 (which came in behind 2 and 5's place is behind it).
        assert_eq!(evictions(&mut Clock::new(3, Keys::Any), &[1, 2, 3, 1, 2, 4, 5, 2, 6]), [(4, 3), (5, 1), (6, 4)]);
    }
}
