//! CLOCK: a ring with a hand. A hit sets the object's bit; the hand clears bits until it meets a clear one and evicts there.
//!
//! One bit, clear on admission; a new object enters just behind the hand, so it is the last that the hand will reach. The
//! evictions are those of a FIFO queue that puts used objects back (second chance), without moving anything.

use super::index::Keys;
use super::objects::Objects;
use super::store::{NONE, Slot};
use super::{Admission, Rules};

const RING: u8 = 0;

/// Second chance around a ring.
#[derive(Debug)]
pub struct Clock {
    objects: Objects,
    /// The object that the hand points to, [`NONE`] when there is none.
    hand: Slot,
}

impl Clock {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 1), hand: NONE }
    }
}

impl Rules for Clock {
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn objects_mut(&mut self) -> &mut Objects {
        &mut self.objects
    }
    #[inline]
    fn touch(&mut self, slot: Slot) {
        self.objects.store.entry_mut(slot).count = 1;
    }
    fn insert(&mut self, key: u64, size: u64, _: Admission) -> Slot {
        if self.hand == NONE {
            self.hand = self.objects.add(key, size, RING);
            return self.hand;
        }
        let slot = self.objects.store.add(key, size);
        self.objects.enter_before(self.hand, slot, RING);
        slot
    }
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        if self.hand == NONE {
            return None;
        }
        while self.objects.store.entry(self.hand).count > 0 {
            self.objects.store.entry_mut(self.hand).count = 0;
            self.hand = self.objects.around(self.hand, RING);
        }
        Some(self.expel(self.hand))
    }
    fn expel(&mut self, slot: Slot) -> u64 {
        if self.hand == slot {
            let next = self.objects.around(slot, RING);
            self.hand = if next == slot { NONE } else { next };
        }
        self.objects.expel(slot)
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
