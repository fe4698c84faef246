//! LRU: the object whose last use is longest ago goes first.

use super::Rules;
use super::index::Keys;
use super::objects::Objects;
use super::store::Slot;

/// Least recently used, first out.
#[derive(Debug)]
pub struct Lru {
    objects: Objects,
}

impl Lru {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 1) }
    }
}

impl Rules for Lru {
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn objects_mut(&mut self) -> &mut Objects {
        &mut self.objects
    }
    #[inline]
    fn touch(&mut self, slot: Slot) {
        self.objects.renew(slot, 0);
    }
    fn touch_all(&mut self, slots: &[Slot]) {
        self.objects.renew_all(slots, 0);
    }
    fn insert_run(&mut self, first: u64, count: u64, slots: &mut Vec<Slot>) -> u64 {
        self.objects.replace_oldest(0, first, count, slots)
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
