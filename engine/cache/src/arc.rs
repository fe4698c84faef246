//! ARC (Megiddo and Modha, FAST 2003): two LRU lists that learn how to share the cache from what they have lost.
//!
//! `T1` holds objects used once, `T2` those used again; `B1` and `B2` remember (keys only) what left each. A miss that `B1`
//! remembers says that `T1` was too small and raises the target `p` of its size, one that `B2` remembers lowers it; either way
//! the object enters `T2`. Room is made from `T1` while it is larger than `p`, else from `T2`.
//!
//! ```text
//!   B1 <- T1 | T2 -> B2      T1 + T2 <= c,  T1 + B1 <= c,  all four <= 2c  (objects of equal size)
//!       recent | frequent    0 <= p <= c; p rises by max(B2/B1, 1) on a hit in B1, falls by max(B1/B2, 1) on one in B2
//! ```
//!
//! For blocks this is the paper to the letter, `p` a real number. The paper says nothing of objects of different sizes; here, as
//! in libCacheSim, every quantity is then in bytes. A step of `p` is therefore at least one byte, not one object, so with
//! large objects the target learns slowly; a full cache may have to evict several objects, each as its own step of the paper's
//! case IV; and "`T1` fills the directory" reads "`B1` is empty".

use super::index::Keys;
use super::objects::Objects;
use super::store::Slot;
use super::{Admission, Rules};

const T1: u8 = 0;
const T2: u8 = 1;
const B1: u8 = 2;
const B2: u8 = 3;

/// Most bytes that are remembered, in capacities.
const MAX_GHOSTS: u64 = 256;

/// Adaptive replacement.
#[derive(Debug)]
pub struct Arc {
    objects: Objects,
    /// `p`: the size that `T1` should have.
    target: f64,
}

impl Arc {
    /// An empty cache.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        Self { objects: Objects::new(capacity, keys, 4), target: 0.0 }
    }

    /// The size that the list of objects used once should have, in bytes (or blocks).
    #[must_use]
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Evicts an object and remembers it. With objects of different sizes the rules do not bound the ghosts: one is forgotten for one
    /// that comes, however large, and none when several leave for an object that was remembered. A generous bound does.
    fn demote(&mut self, slot: Slot, to: u8) -> u64 {
        let key = self.objects.retire(slot, to);
        while self.objects.bytes(B1) + self.objects.bytes(B2) > self.objects.store.capacity.saturating_mul(MAX_GHOSTS) {
            if !self.objects.expel_oldest(B2) && !self.objects.expel_oldest(B1) {
                break;
            }
        }
        key
    }

    /// The paper's REPLACE: one object leaves `T1` or `T2` for the list that remembers it.
    fn replace(&mut self, remembered_by_b2: bool) -> Option<u64> {
        let once = as_f64(self.objects.bytes(T1));
        #[expect(clippy::float_cmp, reason = "the paper's tie rule: whole numbers of bytes, and p is one wherever the rule bites")]
        let from_t1 = once > self.target || (remembered_by_b2 && once == self.target);
        match (self.objects.oldest(T1), self.objects.oldest(T2)) {
            (Some(oldest), again) if from_t1 || again.is_none() => Some(self.demote(oldest, B1)),
            (_, Some(oldest)) => Some(self.demote(oldest, B2)),
            _ => None,
        }
    }
}

/// A size as a real number.
#[expect(clippy::cast_precision_loss, reason = "sums of sizes are bounded; far above 2^53 a rounded target does no harm")]
fn as_f64(bytes: u64) -> f64 {
    bytes as f64
}

impl Rules for Arc {
    fn objects(&self) -> &Objects {
        &self.objects
    }
    fn objects_mut(&mut self) -> &mut Objects {
        &mut self.objects
    }
    fn touch(&mut self, slot: Slot) {
        if self.objects.store.entry(slot).list == T1 {
            self.objects.shift(slot, T2);
        } else {
            self.objects.renew(slot, T2);
        }
    }
    fn prepare(&mut self, key: u64, _: u64) -> Admission {
        let (lost_once, lost_again) = (as_f64(self.objects.bytes(B1)), as_f64(self.objects.bytes(B2)));
        let Admission::Ghost(slot) = self.objects.take_ghost(key) else { return Admission::New };
        if self.objects.store.entry(slot).list == B1 {
            self.target = (self.target + (lost_again / lost_once).max(1.0)).min(as_f64(self.objects.store.capacity));
            Admission::Ghost(slot)
        } else {
            self.target = (self.target - (lost_once / lost_again).max(1.0)).max(0.0);
            Admission::FrequentGhost(slot)
        }
    }
    fn evict_one(&mut self, size: u64, admission: Admission) -> Option<u64> {
        match admission {
            Admission::Ghost(_) | Admission::Resize => self.replace(false),
            Admission::FrequentGhost(_) => self.replace(true),
            Admission::New => {
                let directory = self.objects.bytes(T1) + self.objects.bytes(B1);
                if directory + size > self.objects.store.capacity {
                    if !self.objects.expel_oldest(B1)
                        && let Some(oldest) = self.objects.oldest(T1)
                    {
                        return Some(self.expel(oldest));
                    }
                } else if directory + self.objects.bytes(T2) + self.objects.bytes(B2) >= self.objects.store.capacity.saturating_mul(2) {
                    self.objects.expel_oldest(B2);
                }
                self.replace(false)
            }
        }
    }
    fn resized(&mut self) {
        let capacity = self.objects.store.capacity;
        self.target = self.target.min(as_f64(capacity));
        while self.objects.bytes(T1) + self.objects.bytes(B1) > capacity && self.objects.expel_oldest(B1) {}
        while [T1, T2, B1, B2].map(|list| self.objects.bytes(list)).iter().sum::<u64>() > capacity.saturating_mul(2)
            && self.objects.expel_oldest(B2)
        {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Policy;
    use crate::tests::evictions;

    #[test]
    fn a_miss_that_a_list_remembers_moves_the_target_its_way() {
        let mut cache = Arc::new(3, Keys::Any);
        // 1 2 1: T1 = 2, T2 = 1. 3 fills. 4: T1 (2 3) is above p = 0, so 2 leaves for B1.
        assert_eq!(evictions(&mut cache, &[1, 2, 1, 3, 4]), [(4, 2)]);
        assert_eq!((cache.objects.keys(T1), cache.objects.keys(T2), cache.objects.keys(B1)), (vec![3, 4], vec![1], vec![2]));
        // 2 is remembered by B1: p becomes 1; T1 has 2 > 1, so 3 leaves; 2 enters T2.
        assert_eq!(evictions(&mut cache, &[2]), [(2, 3)]);
        assert_eq!(
            (cache.target(), cache.objects.keys(T1), cache.objects.keys(T2), cache.objects.keys(B1)),
            (1.0, vec![4], vec![1, 2], vec![3])
        );
        // 5: T1 has 1, not above p = 1, so T2's oldest, 1, leaves for B2.
        assert_eq!(evictions(&mut cache, &[5]), [(5, 1)]);
        assert_eq!(cache.objects.keys(B2), [1]);
        // 1 is remembered by B2: p falls to 0; T1 (4 5) is above it, so 4 leaves.
        assert_eq!(evictions(&mut cache, &[1]), [(1, 4)]);
        assert_eq!((cache.target(), cache.objects.keys(T1), cache.objects.keys(T2)), (0.0, vec![5], vec![2, 1]));
    }

    #[test]
    fn a_scan_leaves_nothing_behind_when_everything_in_the_cache_was_used_once() {
        let mut cache = Arc::new(2, Keys::Any);
        // T1 fills the directory: its oldest goes without being remembered
        assert_eq!(evictions(&mut cache, &[1, 2, 3, 4]), [(3, 1), (4, 2)]);
        assert_eq!(cache.objects.keys(B1), Vec::<u64>::new());
    }

    proptest! {
        #[test]
        fn the_target_and_the_lists_stay_within_the_papers_bounds(
            keys in proptest::collection::vec(0u64..30, 0..400), capacity in 1u64..12, resized in 0u64..12,
        ) {
            let mut cache = Arc::new(capacity, Keys::Any);
            let mut evicted = Vec::new();
            for (n, key) in keys.iter().enumerate() {
                if n == 200 {
                    cache.set_capacity(resized, &mut evicted);
                }
                cache.access(*key, 1, &mut evicted);
                let c = cache.capacity();
                let [once, again, lost_once, lost_again] = [T1, T2, B1, B2].map(|list| cache.objects.bytes(list));
                prop_assert!((0.0..=as_f64(c)).contains(&cache.target()));
                prop_assert!(once + again <= c && once + lost_once <= c && once + again + lost_once + lost_again <= 2 * c);
            }
        }
    }
}
