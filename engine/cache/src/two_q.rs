//! 2Q (Johnson and Shasha, VLDB 1994, the full version): a probation queue, a memory of what left it, and an LRU for what came back.
//!
//! A new object enters `A1in`, a FIFO queue; hits there change nothing. What leaves it is remembered in `A1out`, keys only. Who
//! is asked for again while remembered enters `Am`, an LRU list. Room is made from `A1in` while it holds more than its share,
//! else from `Am`.
//!
//! Shares: `A1in` a quarter of the capacity, `A1out` as many bytes as half of it (the paper's recommendation). An object larger
//! than `A1in`'s share, which is one block at least, is not admitted: it would empty the whole queue.

use super::index::Keys;
use super::objects::Objects;
use super::store::Slot;
use super::{Admission, Rules};

const IN: u8 = 0;
const MAIN: u8 = 1;
const OUT: u8 = 2;

/// Two queues.
#[derive(Debug)]
pub struct TwoQ {
    objects: Objects,
}

impl TwoQ {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 3) }
    }

    fn share_in(&self) -> u64 {
        (self.objects.store.capacity / 4).max(1).min(self.objects.store.capacity)
    }

    fn share_out(&self) -> u64 {
        self.objects.store.capacity / 2
    }

    fn share_main(&self) -> u64 {
        self.objects.store.capacity - self.objects.store.capacity / 4
    }

    /// Whether an object that was remembered would overfill `Am`.
    fn main_is_full(&self, size: u64, admission: Admission) -> bool {
        let main = self.objects.bytes(MAIN);
        matches!(admission, Admission::Ghost(_)) && main > 0 && main + size > self.share_main()
    }
}

impl Rules for TwoQ {
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn objects_mut(&mut self) -> &mut Objects {
        &mut self.objects
    }
    fn largest(&self) -> u64 {
        self.share_in()
    }
    fn touch(&mut self, slot: Slot) {
        if self.objects.store.entry(slot).list == MAIN {
            self.objects.renew(slot, MAIN);
        }
    }
    fn prepare(&mut self, key: u64, _: u64) -> Admission {
        self.objects.take_ghost(key)
    }
    fn needs_room(&self, size: u64, admission: Admission) -> bool {
        self.objects.store.is_short_of(size) || self.main_is_full(size, admission)
    }
    fn evict_one(&mut self, size: u64, _: Admission) -> Option<u64> {
        // When the whole cache has room, it is `Am` that has none for an object that was remembered.
        let from_in = self.objects.store.is_short_of(size) && self.objects.bytes(IN) > self.share_in();
        if let Some(oldest) = self.objects.oldest(MAIN).filter(|_| !from_in) {
            return Some(self.expel(oldest));
        }
        let oldest = self.objects.oldest(IN)?;
        let size = self.objects.store.entry(oldest).size;
        if size > self.share_out() {
            return Some(self.expel(oldest));
        }
        self.objects.trim(OUT, self.share_out() - size);
        Some(self.objects.retire(oldest, OUT))
    }
    fn resized(&mut self) {
        self.objects.trim(OUT, self.share_out());
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
        assert_eq!(cache.objects.keys(MAIN), [1]);
        assert_eq!(cache.objects.keys(OUT), [4, 5]);
    }

    #[test]
    fn objects_that_come_back_push_each_other_out_once_am_is_full() {
        let mut cache = TwoQ::new(4, Keys::Any);
        // Am's share is 3. 1 to 4 leave A1in one by one; 1, 2 and 3 come back into Am, 4 is remembered.
        assert_eq!(evictions(&mut cache, &[1, 2, 3, 4, 5, 1, 2, 3]), [(5, 1), (1, 2), (2, 3), (3, 4)]);
        // Where 5 was there is room for 4, but not in Am.
        assert!(cache.remove(5));
        assert_eq!(evictions(&mut cache, &[4]), [(4, 1)]);
        assert_eq!(cache.objects.keys(MAIN), [2, 3, 4]);
    }
}
