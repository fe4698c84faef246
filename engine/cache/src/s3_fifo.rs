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
use super::store::{List, NONE, Slot, Store};
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
    store: Store,
    lists: [List; 3],
    has_evicted: bool,
}

impl S3Fifo {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        let mut store = Store::new(capacity, keys);
        Self { lists: [store.list(), store.list(), store.list()], store, has_evicted: false }
    }

    fn share_small(&self) -> u64 {
        (self.store.capacity / 10).max(1).min(self.store.capacity)
    }

    fn share_main(&self) -> u64 {
        self.store.capacity - self.store.capacity / 10
    }

    fn share_ghost(&self) -> u64 {
        let capacity = self.store.capacity;
        capacity / 10 * 9 + capacity % 10 * 9 / 10
    }

    fn bytes(&self, list: u8) -> u64 {
        self.lists[list as usize].bytes
    }

    fn enter(&mut self, slot: Slot, list: u8) {
        self.store.entry_mut(slot).list = list;
        self.store.push(&mut self.lists[list as usize], slot);
    }

    fn shift(&mut self, slot: Slot, from: u8, to: u8) {
        self.store.unlink(&mut self.lists[from as usize], slot);
        self.enter(slot, to);
    }

    /// Forgets the oldest ghosts until `size` more bytes of them fit.
    fn trim(&mut self, size: u64) {
        while self.bytes(GHOST) + size > self.share_ghost() {
            let oldest = self.store.oldest(&self.lists[GHOST as usize]);
            if oldest == NONE {
                break;
            }
            self.expel(oldest);
        }
    }

    /// The end of the small queue: promotes what was used, evicts the first that was not.
    fn evict_small(&mut self) -> Option<u64> {
        loop {
            let slot = self.store.oldest(&self.lists[SMALL as usize]);
            if slot == NONE {
                return None;
            }
            let entry = *self.store.entry(slot);
            if entry.count >= PROMOTION_USES {
                self.store.entry_mut(slot).count = 0;
                self.shift(slot, SMALL, MAIN);
                continue;
            }
            if entry.size > self.share_ghost() {
                return Some(self.expel(slot));
            }
            self.trim(entry.size);
            self.shift(slot, SMALL, GHOST);
            return Some(self.store.retire(slot));
        }
    }

    /// The end of the main queue: sends round again what has uses left, evicts the first that has none.
    fn evict_main(&mut self) -> Option<u64> {
        loop {
            let slot = self.store.oldest(&self.lists[MAIN as usize]);
            if slot == NONE {
                return None;
            }
            let count = &mut self.store.entry_mut(slot).count;
            if *count == 0 {
                return Some(self.expel(slot));
            }
            *count -= 1;
            self.store.renew(&mut self.lists[MAIN as usize], slot);
        }
    }
}

impl Rules for S3Fifo {
    fn store(&self) -> &Store {
        &self.store
    }
    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
    fn largest(&self) -> u64 {
        self.share_small()
    }
    #[inline]
    fn touch(&mut self, slot: Slot) {
        let entry = self.store.entry_mut(slot);
        entry.count = (entry.count + 1).min(MAX_USES);
    }
    fn prepare(&mut self, key: u64, _: u64) -> Admission {
        self.store.find_any(key).map_or(Admission::New, |slot| {
            self.store.unlink(&mut self.lists[GHOST as usize], slot);
            Admission::Ghost(slot)
        })
    }
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        self.has_evicted = true;
        let from_small = if self.bytes(MAIN) > self.share_main() { None } else { self.evict_small() };
        from_small.or_else(|| self.evict_main())
    }
    fn insert(&mut self, key: u64, size: u64, admission: Admission) -> Slot {
        if let Admission::Ghost(slot) | Admission::FrequentGhost(slot) = admission {
            self.store.revive(slot, size);
            self.enter(slot, MAIN);
            return slot;
        }
        let slot = self.store.add(key, size);
        let overflows = !self.has_evicted && self.bytes(SMALL) >= self.share_small();
        self.enter(slot, if overflows { MAIN } else { SMALL });
        slot
    }
    fn expel(&mut self, slot: Slot) -> u64 {
        let list = self.store.entry(slot).list as usize;
        self.store.unlink(&mut self.lists[list], slot);
        self.store.forget(slot)
    }
    fn resized(&mut self) {
        self.trim(0);
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
        assert_eq!(cache.store.keys(&cache.lists[MAIN as usize]), [5, 6, 7, 8, 9, 10, 1, 12, 3]);
        assert_eq!(cache.store.keys(&cache.lists[SMALL as usize]), [13]);
    }

    #[test]
    fn nine_tenths_of_the_capacity_are_remembered_and_the_oldest_is_forgotten_first() {
        let mut cache = S3Fifo::new(10, Keys::Any);
        // 1 enters the small queue, 2 to 10 the main one, which stays at its share: each of 11 to 25 pushes its elder into the ghosts.
        assert_eq!(evictions(&mut cache, &(1..=25).collect::<Vec<_>>()).len(), 15);
        assert_eq!(cache.share_ghost(), 9);
        assert_eq!(cache.store.keys(&cache.lists[GHOST as usize]), (16..=24).collect::<Vec<_>>());
    }
}
