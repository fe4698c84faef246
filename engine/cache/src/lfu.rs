//! LFU: the object with the fewest uses since its admission goes first; among equals, the one that has had that many longest.
//!
//! Objects stand in buckets by their number of uses, the buckets in a chain of rising numbers, so each operation is O(1). Counts
//! are forgotten with the object ("in-cache" LFU) and never age.

use super::index::Keys;
use super::objects::Objects;
use super::store::{List, NONE, Slot};
use super::{Admission, Rules};

#[derive(Debug)]
struct Bucket {
    uses: u64,
    objects: List,
    fewer: u32,
    more: u32,
}

/// Least frequently used, first out.
#[derive(Debug)]
pub struct Lfu {
    /// Its lists are those of the buckets.
    objects: Objects,
    buckets: Vec<Bucket>,
    free: u32,
    /// The bucket with the fewest uses, [`NONE`] when the cache is empty.
    first: u32,
}

impl Lfu {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 0), buckets: Vec::new(), free: NONE, first: NONE }
    }

    /// An empty bucket for `uses` between `fewer` and `more` (each may be [`NONE`]).
    fn open(&mut self, uses: u64, fewer: u32, more: u32) -> u32 {
        let bucket = if self.free == NONE {
            let objects = self.objects.store.list();
            self.buckets.push(Bucket { uses, objects, fewer, more });
            u32::try_from(self.buckets.len() - 1).unwrap_or(NONE) // fewer than the entries
        } else {
            let bucket = self.free;
            let reused = &mut self.buckets[bucket as usize];
            self.free = reused.more;
            (reused.uses, reused.fewer, reused.more) = (uses, fewer, more);
            bucket
        };
        self.connect(fewer, bucket);
        self.connect(bucket, more);
        bucket
    }

    fn connect(&mut self, fewer: u32, more: u32) {
        if fewer == NONE {
            self.first = more;
        } else {
            self.buckets[fewer as usize].more = more;
        }
        if more != NONE {
            self.buckets[more as usize].fewer = fewer;
        }
    }

    fn join(&mut self, bucket: u32, slot: Slot) {
        self.objects.store.entry_mut(slot).count = bucket;
        self.objects.store.push(&mut self.buckets[bucket as usize].objects, slot);
    }

    /// Takes the object out of its bucket, and out of the chain a bucket that is empty then.
    fn leave(&mut self, slot: Slot) {
        let bucket = self.objects.store.entry(slot).count;
        let left = &mut self.buckets[bucket as usize];
        self.objects.store.unlink(&mut left.objects, slot);
        if self.objects.store.oldest(&left.objects) == NONE {
            let (fewer, more) = (left.fewer, left.more);
            left.more = self.free;
            self.free = bucket;
            self.connect(fewer, more);
        }
    }
}

impl Rules for Lfu {
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn objects_mut(&mut self) -> &mut Objects {
        &mut self.objects
    }
    fn touch(&mut self, slot: Slot) {
        let bucket = self.objects.store.entry(slot).count;
        let Bucket { uses, more, .. } = self.buckets[bucket as usize];
        let next = if more != NONE && self.buckets[more as usize].uses == uses + 1 { more } else { self.open(uses + 1, bucket, more) };
        self.leave(slot);
        self.join(next, slot);
    }
    fn insert(&mut self, key: u64, size: u64, _: Admission) -> Slot {
        let slot = self.objects.store.add(key, size);
        let first = self.first;
        let once = if first != NONE && self.buckets[first as usize].uses == 1 { first } else { self.open(1, NONE, first) };
        self.join(once, slot);
        slot
    }
    fn evict_one(&mut self, _: u64, _: Admission) -> Option<u64> {
        let slot = self.objects.store.oldest(&self.buckets.get(self.first as usize)?.objects);
        (slot != NONE).then(|| self.expel(slot))
    }
    fn expel(&mut self, slot: Slot) -> u64 {
        self.leave(slot);
        self.objects.store.forget(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::evictions;

    #[test]
    fn the_least_used_goes_and_among_equals_the_one_that_waited_longest() {
        // 1 2 3 fill; 2 and then 1 hit. 4 pushes out 3 (one use), 5 pushes out 4 (one use). 5 hits: now 2, 1, 5 have two uses each;
        // 6 pushes out 2, which had its second use first.
        assert_eq!(evictions(&mut Lfu::new(3, Keys::Any), &[1, 2, 3, 2, 1, 4, 5, 5, 6]), [(4, 3), (5, 4), (6, 2)]);
    }

    #[test]
    fn counts_begin_anew_after_an_eviction() {
        // 1 is used three times, 2 four times; 3 pushes out 1, which comes back with a count of one and is pushed out again
        assert_eq!(evictions(&mut Lfu::new(2, Keys::Any), &[1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 1, 4]), [(3, 1), (1, 2), (4, 1)]);
    }
}
