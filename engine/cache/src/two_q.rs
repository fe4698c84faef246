//! 2Q (Johnson and Shasha, VLDB 1994, the full version): a probation queue, a memory of what left it, and an LRU for what came back.
//!
//! A new object enters `A1in`, a FIFO queue; hits there change nothing. What leaves it is remembered in `A1out`, keys only. Who
//! is asked for again while remembered enters `Am`, an LRU list. Room is made from `A1in` while it holds more than its share,
//! else from `Am`.
//!
//! Shares: `A1in` a quarter of the capacity, `A1out` as many bytes as half of it (the paper's recommendation). An object larger
//! than `A1in`'s share, which is one block at least, is not admitted: it would empty the whole queue.

use super::index::Keys;
use super::store::{List, NONE, Slot, Store};
use super::{Admission, Rules};

const IN: u8 = 0;
const MAIN: u8 = 1;
const OUT: u8 = 2;

/// Two queues.
#[derive(Debug)]
pub struct TwoQ {
    store: Store,
    lists: [List; 3],
}

impl TwoQ {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        let mut store = Store::new(capacity, keys);
        Self { lists: [store.list(), store.list(), store.list()], store }
    }

    fn share_in(&self) -> u64 {
        (self.store.capacity / 4).max(1).min(self.store.capacity)
    }

    fn share_out(&self) -> u64 {
        self.store.capacity / 2
    }

    fn share_main(&self) -> u64 {
        self.store.capacity - self.store.capacity / 4
    }

    fn move_to(&mut self, slot: Slot, list: u8) {
        self.store.entry_mut(slot).list = list;
        self.store.push(&mut self.lists[list as usize], slot);
    }

    /// Forgets the oldest ghosts until `size` more bytes of them fit.
    fn trim(&mut self, size: u64) {
        while self.lists[OUT as usize].bytes + size > self.share_out() {
            let oldest = self.store.oldest(&self.lists[OUT as usize]);
            if oldest == NONE {
                break;
            }
            self.expel(oldest);
        }
    }

    /// Whether an object that was remembered would overfill `Am`.
    fn main_is_full(&self, size: u64, admission: Admission) -> bool {
        let main = self.lists[MAIN as usize].bytes;
        matches!(admission, Admission::Ghost(_)) && main > 0 && main + size > self.share_main()
    }
}

impl Rules for TwoQ {
    fn store(&self) -> &Store {
        &self.store
    }
    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
    fn largest(&self) -> u64 {
        self.share_in()
    }
    fn touch(&mut self, slot: Slot) {
        if self.store.entry(slot).list == MAIN {
            self.store.renew(&mut self.lists[MAIN as usize], slot);
        }
    }
    fn prepare(&mut self, key: u64, _: u64) -> Admission {
        self.store.find_any(key).map_or(Admission::New, |slot| {
            self.store.unlink(&mut self.lists[OUT as usize], slot);
            Admission::Ghost(slot)
        })
    }
    fn needs_room(&self, size: u64, admission: Admission) -> bool {
        self.store.is_short_of(size) || self.main_is_full(size, admission)
    }
    fn evict_one(&mut self, size: u64, _: Admission) -> Option<u64> {
        let (oldest_in, oldest_main) = (self.store.oldest(&self.lists[IN as usize]), self.store.oldest(&self.lists[MAIN as usize]));
        // When the whole cache has room, it is `Am` that has none for an object that was remembered.
        let from_in = self.store.is_short_of(size) && self.lists[IN as usize].bytes > self.share_in();
        if oldest_main != NONE && !from_in {
            return Some(self.expel(oldest_main));
        }
        if oldest_in == NONE {
            return None;
        }
        let size = self.store.entry(oldest_in).size;
        if size > self.share_out() {
            return Some(self.expel(oldest_in));
        }
        self.trim(size);
        self.store.unlink(&mut self.lists[IN as usize], oldest_in);
        self.move_to(oldest_in, OUT);
        Some(self.store.retire(oldest_in))
    }
    fn insert(&mut self, key: u64, size: u64, admission: Admission) -> Slot {
        if let Admission::Ghost(slot) | Admission::FrequentGhost(slot) = admission {
            self.store.revive(slot, size);
            self.move_to(slot, MAIN);
            slot
        } else {
            let slot = self.store.add(key, size);
            self.move_to(slot, IN);
            slot
        }
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
    use crate::Policy;
    use crate::tests::evictions;

    #[test]
    fn what_comes_back_while_remembered_is_kept_and_a_scan_passes_by() {
        // Capacity 4: A1in's share 1, A1out's 2. 1 2 3 4 fill A1in. 5 pushes 1 into A1out; 1 comes back into Am and pushes out 2.
        // The scan 6 7 8 goes through A1in (3, 4, 5 leave); 1 still hits, although it was admitted before them.
        let mut cache = TwoQ::new(4, Keys::Any);
        assert_eq!(evictions(&mut cache, &[1, 2, 3, 4, 5, 1, 6, 7, 8, 1]), [(5, 1), (1, 2), (6, 3), (7, 4), (8, 5)]);
        assert_eq!(cache.store.keys(&cache.lists[MAIN as usize]), [1]);
        assert_eq!(cache.store.keys(&cache.lists[OUT as usize]), [4, 5]);
    }

    #[test]
    fn objects_that_come_back_push_each_other_out_once_am_is_full() {
        let mut cache = TwoQ::new(4, Keys::Any);
        // Am's share is 3. 1 to 4 leave A1in one by one; 1, 2 and 3 come back into Am, 4 is remembered.
        assert_eq!(evictions(&mut cache, &[1, 2, 3, 4, 5, 1, 2, 3]), [(5, 1), (1, 2), (2, 3), (3, 4)]);
        // Where 5 was there is room for 4, but not in Am.
        assert!(cache.remove(5));
        assert_eq!(evictions(&mut cache, &[4]), [(4, 1)]);
        assert_eq!(cache.store.keys(&cache.lists[MAIN as usize]), [2, 3, 4]);
    }
}
