//! LRU: the object whose last use is longest ago goes first.

use super::index::Keys;
use super::store::{List, NONE, Slot, Store};
use super::{Admission, Rules};

/// Least recently used, first out.
#[derive(Debug)]
pub struct Lru {
    store: Store,
    order: List,
}

impl Lru {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        let mut store = Store::new(capacity, keys);
        Self { order: store.list(), store }
    }
}

impl Rules for Lru {
    fn store(&self) -> &Store {
        &self.store
    }
    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
    #[inline]
    fn touch(&mut self, slot: Slot) {
        self.store.renew(&mut self.order, slot);
    }
    fn insert(&mut self, key: u64, size: u64, _: Admission) -> Slot {
        let slot = self.store.add(key, size);
        self.store.push(&mut self.order, slot);
        slot
    }
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        let slot = self.store.oldest(&self.order);
        (slot != NONE).then(|| self.expel(slot))
    }
    fn expel(&mut self, slot: Slot) -> u64 {
        self.store.unlink(&mut self.order, slot);
        self.store.forget(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::evictions;

    #[test]
    fn a_hit_saves_and_the_longest_unused_goes() {
        // 1 2 3 fill; 1 hits; 4 pushes out 2, 2 pushes out 3
        assert_eq!(evictions(&mut Lru::new(3, Keys::Any), &[1, 2, 3, 1, 4, 2]), [(4, 2), (2, 3)]);
    }
}
