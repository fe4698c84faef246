//! SIEVE (Zhang and others, NSDI 2024): a FIFO queue whose hand sifts it in place.
//!
//! A hit sets a bit. The hand walks from the oldest towards the newest, clears bits, evicts the first object whose bit is clear
//! and stays there; past the newest it begins again at the oldest. Nothing is moved: survivors keep their place, new objects
//! join at the newest end, so the hand meets them late or, right at the front, soon.

use super::index::Keys;
use super::objects::Objects;
use super::store::{NONE, Slot};
use super::{Admission, Rules};

const QUEUE: u8 = 0;

/// The sieve.
#[derive(Debug)]
pub struct Sieve {
    objects: Objects,
    /// Where the hand resumes, [`NONE`]: at the oldest.
    hand: Slot,
}

impl Sieve {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 1), hand: NONE }
    }
}

impl Rules for Sieve {
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
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        let mut slot = if self.hand == NONE { self.objects.oldest(QUEUE)? } else { self.hand };
        while self.objects.store.entry(slot).count > 0 {
            self.objects.store.entry_mut(slot).count = 0;
            slot = self.objects.around(slot, QUEUE);
        }
        self.hand = slot; // so that `expel` moves it on
        Some(self.expel(slot))
    }
    fn expel(&mut self, slot: Slot) -> u64 {
        if self.hand == slot {
            let next = self.objects.around(slot, QUEUE);
            // After the newest the hand waits: what is admitted meanwhile is behind it, and it resumes at the oldest.
            self.hand = if Some(next) == self.objects.oldest(QUEUE) { NONE } else { next };
        }
        self.objects.expel(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::evictions;

    #[test]
    fn survivors_stay_in_place_and_new_objects_are_sifted_first() {
        // 1 2 3 fill; 1 and 2 hit. 4: hand clears 1, 2, evicts 3 and waits at the oldest. 5: evicts 1, points to 2.
        // 2 hits. 6: clears 2, evicts 4, points to 5. 7: evicts 5, points to 6, although 2 has been there longest.
        assert_eq!(evictions(&mut Sieve::new(3, Keys::Any), &[1, 2, 3, 1, 2, 4, 5, 2, 6, 7]), [(4, 3), (5, 1), (6, 4), (7, 5)]);
    }
}
