//! FIFO: the object that was admitted first goes first; a hit changes nothing.

use super::index::Keys;
use super::store::{List, NONE, Slot, Store};
use super::{Admission, Rules};

/// First in, first out.
#[derive(Debug)]
pub struct Fifo {
    store: Store,
    queue: List,
}

impl Fifo {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        let mut store = Store::new(capacity, keys);
        Self { queue: store.list(), store }
    }
}

impl Rules for Fifo {
    fn store(&self) -> &Store {
        &self.store
    }
    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
    fn touch(&mut self, _: Slot) {}
    fn insert(&mut self, key: u64, size: u64, _: Admission) -> Slot {
        let slot = self.store.add(key, size);
        self.store.push(&mut self.queue, slot);
        slot
    }
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        let slot = self.store.oldest(&self.queue);
        (slot != NONE).then(|| self.expel(slot))
    }
    fn expel(&mut self, slot: Slot) -> u64 {
        self.store.unlink(&mut self.queue, slot);
        self.store.forget(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::evictions;

    #[test]
    fn a_hit_does_not_save_the_first_in() {
        // 1 2 3 fill; 1 hits; 4 pushes out 1, 1 pushes out 2
        assert_eq!(evictions(&mut Fifo::new(3, Keys::Any), &[1, 2, 3, 1, 4, 1]), [(4, 1), (1, 2)]);
    }
}
