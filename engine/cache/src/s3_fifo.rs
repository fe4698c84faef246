//! S3-FIFO (Yang and others, SOSP 2023): three FIFO queues. Most objects are never used again, so they should leave quickly.
//!
//! A new object enters the *small* queue, a tenth of the cache. At its end, an object that was used at least twice moves to the
//! *main* queue, others leave and are remembered by the *ghost* queue (keys only, nine tenths of the capacity in bytes). Who is
//! asked for again while remembered enters the main queue. At the main queue's end, an object with uses left (at most three
//! count) goes round again with one less. Room is made from the main queue while it holds more than its share, else from the small one.
//!
//! The rules that the paper leaves open are libCacheSim's: before the first eviction objects overflow from a full small queue
//! into the main one (until then nothing says that they are worth less), and an object larger than the small queue's share is
//! not admitted. One point differs: a small queue has room for one block at least, and an object as large as its share is
//! admitted, so that tiny caches work (libCacheSim admits nothing to a cache of fewer than 20 blocks).

use super::index::Keys;
use super::objects::Objects;
use super::store::Slot;
use super::{Admission, Rules};

const SMALL: u8 = 0;
const MAIN: u8 = 1;
const GHOST: u8 = 2;

/// Uses in the small queue that earn a place in the main one.
const PROMOTION_USES: u32 = 2;
/// Most uses that count.
const MAX_USES: u32 = 3;

/// Small, main and ghost queue.
#[derive(Debug)]
pub struct S3Fifo {
    objects: Objects,
    has_evicted: bool,
}

impl S3Fifo {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 3), has_evicted: false }
    }

    fn share_small(&self) -> u64 {
        (self.objects.store.capacity / 10).max(1).min(self.objects.store.capacity)
    }

    fn share_main(&self) -> u64 {
        self.objects.store.capacity - self.objects.store.capacity / 10
    }

    fn share_ghost(&self) -> u64 {
        let capacity = self.objects.store.capacity;
        capacity / 10 * 9 + capacity % 10 * 9 / 10
    }

    /// The end of the small queue: promotes what was used, evicts the first that was not.
    fn evict_small(&mut self) -> Option<u64> {
        loop {
            let slot = self.objects.oldest(SMALL)?;
            let entry = *self.objects.store.entry(slot);
            if entry.count >= PROMOTION_USES {
                self.objects.store.entry_mut(slot).count = 0;
                self.objects.shift(slot, MAIN);
                continue;
            }
            if entry.size > self.share_ghost() {
                return Some(self.expel(slot));
            }
            self.objects.trim(GHOST, self.share_ghost() - entry.size);
            return Some(self.objects.retire(slot, GHOST));
        }
    }

    /// The end of the main queue: sends round again what has uses left, evicts the first that has none.
    fn evict_main(&mut self) -> Option<u64> {
        loop {
            let slot = self.objects.oldest(MAIN)?;
            let count = &mut self.objects.store.entry_mut(slot).count;
            if *count == 0 {
                return Some(self.expel(slot));
            }
            *count -= 1;
            self.objects.renew(slot, MAIN);
        }
    }
}

impl Rules for S3Fifo {
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn objects_mut(&mut self) -> &mut Objects {
        &mut self.objects
    }
    fn largest(&self) -> u64 {
        self.share_small()
    }
    #[inline]
    fn touch(&mut self, slot: Slot) {
        let entry = self.objects.store.entry_mut(slot);
        entry.count = (entry.count + 1).min(MAX_USES);
    }
    fn prepare(&mut self, key: u64, _: u64) -> Admission {
        self.objects.take_ghost(key)
    }
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        self.has_evicted = true;
        let from_small = if self.objects.bytes(MAIN) > self.share_main() { None } else { self.evict_small() };
        from_small.or_else(|| self.evict_main())
    }
    fn list_of_new(&self) -> u8 {
        let overflows = !self.has_evicted && self.objects.bytes(SMALL) >= self.share_small();
        if overflows { MAIN } else { SMALL }
    }
    fn resized(&mut self) {
        self.objects.trim(GHOST, self.share_ghost());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::evictions;

    #[test]
    fn one_hit_wonders_leave_quickly_and_return_to_the_main_queue() {
        let mut cache = S3Fifo::new(10, Keys::Any);
        // 1 enters the small queue (share 1), 2 to 10 overflow into the main queue. 11: 1 leaves for the ghosts, 11 enters small.
        assert_eq!(evictions(&mut cache, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), [(11, 1)]);
        // 1 is remembered: 11 leaves for it, and it enters the main queue, which now has 10 > 9.
        // 12: the main queue is over its share, and 2, its oldest, has no uses.
        assert_eq!(evictions(&mut cache, &[1, 12]), [(1, 11), (12, 2)]);
        // 12 is used twice and 3 once: 13 makes room from the small queue, where 12 is promoted instead; the main queue sends 3 round
        // and evicts 4.
        assert_eq!(evictions(&mut cache, &[12, 12, 3, 13]), [(13, 4)]);
        assert_eq!(cache.objects.keys(MAIN), [5, 6, 7, 8, 9, 10, 1, 12, 3]);
        assert_eq!(cache.objects.keys(SMALL), [13]);
    }

    #[test]
    fn nine_tenths_of_the_capacity_are_remembered_and_the_oldest_is_forgotten_first() {
        let mut cache = S3Fifo::new(10, Keys::Any);
        // 1 enters the small queue, 2 to 10 the main one, which stays at its share: each of 11 to 25 pushes its elder into the ghosts.
        assert_eq!(evictions(&mut cache, &(1..=25).collect::<Vec<_>>()).len(), 15);
        assert_eq!(cache.share_ghost(), 9);
        assert_eq!(cache.objects.keys(GHOST), (16..=24).collect::<Vec<_>>());
    }
}
