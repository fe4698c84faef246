//! FIFO: the object that was admitted first goes first; a hit changes nothing.

use super::Rules;
use super::index::Keys;
use super::objects::Objects;
use super::store::Slot;

/// First in, first out.
#[derive(Debug)]
pub struct Fifo {
    objects: Objects,
}

impl Fifo {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 1) }
    }
}

impl Rules for Fifo {
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn objects_mut(&mut self) -> &mut Objects {
        &mut self.objects
    }
    fn touch(&mut self, _: Slot) {}
    fn touch_all(&mut self, _: &[Slot]) {}
    fn insert_run(&mut self, first: u64, count: u64, slots: &mut Vec<Slot>) -> u64 {
        self.objects.replace_oldest(0, first, count, slots)
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
