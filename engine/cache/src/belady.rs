//! The offline optimum (Belady's MIN, 1966): evicts the object whose next use is farthest away.
//!
//! For objects of equal size, no policy that admits every missing object has more hits: exact. For objects of different sizes
//! it is the same rule, evicting as many as needed, and only a strong heuristic: the true optimum is NP-hard, and a policy can beat it by
//! keeping small objects or by not admitting large ones. An object larger than the cache is not admitted.
//!
//! How: a bit for each request of the trace, set while the object that it asks for is in the cache. So request `t` hits when bit
//! `t` is set, and the victim is at the highest bit. The bits stand in a tree of 64-bit words, each bit of an upper word saying
//! that the word below it is not zero: setting, clearing and finding take four or five steps.

use super::hit_counts::HitCounts;
use super::trace::Trace;

/// No further request.
const NEVER: u32 = u32::MAX;

/// A set of request numbers that knows its largest.
struct Bits {
    /// The bits, then words of bits that say which word of the level before is not zero.
    levels: Vec<Vec<u64>>,
}

impl Bits {
    fn new(len: usize) -> Self {
        let mut levels = vec![vec![0; len.div_ceil(64).max(1)]];
        while let Some(words) = levels.last().map(Vec::len).filter(|words| *words > 1) {
            levels.push(vec![0; words.div_ceil(64)]);
        }
        Self { levels }
    }

    fn contains(&self, at: u32) -> bool {
        self.levels[0][at as usize / 64] >> (at % 64) & 1 == 1
    }

    fn insert(&mut self, at: u32) {
        let mut at = at as usize;
        for level in &mut self.levels {
            level[at / 64] |= 1 << (at % 64);
            at /= 64;
        }
    }

    fn remove(&mut self, at: u32) {
        let mut at = at as usize;
        for level in &mut self.levels {
            level[at / 64] &= !(1 << (at % 64));
            if level[at / 64] != 0 {
                break;
            }
            at /= 64;
        }
    }

    fn largest(&self) -> Option<u32> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let word = level[at];
            if word == 0 {
                return None;
            }
            at = at * 64 + 63 - word.leading_zeros() as usize;
        }
        u32::try_from(at).ok()
    }
}

/// For each request the number of the next one for the same object.
fn next_uses(trace: &Trace) -> Vec<u32> {
    let mut next = vec![NEVER; trace.len()];
    let mut seen = vec![NEVER; trace.distinct() as usize];
    for (at, object) in trace.objects().iter().enumerate().rev() {
        let seen = &mut seen[*object as usize];
        next[at] = *seen;
        *seen = u32::try_from(at).unwrap_or(NEVER); // a trace has fewer requests
    }
    next
}

/// Counts the hits of the optimum on `trace` in a cache of `capacity` bytes (or objects).
#[must_use]
pub fn replay(trace: &Trace, capacity: u64) -> HitCounts {
    let next = next_uses(trace);
    let mut coming = Bits::new(trace.len());
    // Objects that are in the cache and will not be asked for again leave first; in what order does not matter.
    let mut spent: Vec<u64> = Vec::new();
    // The size that an object was admitted with. All are 1 in a trace of unit sizes, which needs no list.
    let mut admitted = vec![1; if trace.sizes().is_empty() { 0 } else { trace.distinct() as usize }];
    let admitted_size = |admitted: &[u64], object: u32| admitted.get(object as usize).copied().unwrap_or(1);
    let (mut used, mut counts) = (0u64, HitCounts::default());
    for ((object, size), at) in trace.requests().zip(0u32..) {
        let hit = coming.contains(at);
        counts.count(size, hit);
        if hit {
            coming.remove(at);
        } else if size > capacity {
            continue;
        } else {
            while used + size > capacity {
                if let Some(size) = spent.pop() {
                    used -= size;
                } else if let Some(farthest) = coming.largest() {
                    coming.remove(farthest);
                    used -= admitted_size(&admitted, trace.objects()[farthest as usize]);
                } else {
                    break;
                }
            }
            used += size;
            if let Some(admitted) = admitted.get_mut(object as usize) {
                *admitted = size;
            }
        }
        match next[at as usize] {
            NEVER => spent.push(admitted_size(&admitted, object)),
            next => coming.insert(next),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::PolicyKind;
    use crate::replay::replay as replay_policy;

    #[test]
    fn the_object_needed_last_leaves() {
        // 1 2 fill. 3: 2 is needed after 1, so 2 leaves. 1 hits. 2: 3 is never needed again and leaves. 1 hits.
        assert_eq!(replay(&Trace::of_blocks([1, 2, 3, 1, 2, 1]), 2).hits, 2);
    }

    #[test]
    fn a_loop_one_larger_than_the_cache_misses_once_for_each_block_of_it() {
        // 5 cold misses; of the 95 requests that follow, each fourth misses
        let trace = Trace::of_blocks((0..100).map(|at| at % 5));
        assert_eq!(replay(&trace, 4).hits, 95 - 23);
        assert_eq!(replay_policy(&trace, PolicyKind::Lru, 4).hits, 0);
    }

    /// The most hits that any choice of victims gives, by trying all of them.
    fn best(trace: &[u64], capacity: usize, cache: &[u64]) -> u64 {
        let Some((key, rest)) = trace.split_first() else { return 0 };
        if cache.contains(key) {
            return 1 + best(rest, capacity, cache);
        }
        let mut with = cache.to_vec();
        with.push(*key);
        if with.len() <= capacity {
            return best(rest, capacity, &with);
        }
        (0..cache.len())
            .map(|victim| {
                let mut with = with.clone();
                with.remove(victim);
                best(rest, capacity, &with)
            })
            .max()
            .unwrap_or(0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn no_choice_of_victims_has_more_hits(keys in proptest::collection::vec(0u64..6, 0..16), capacity in 1usize..4) {
            prop_assert_eq!(replay(&Trace::of_blocks(keys.iter().copied()), capacity as u64).hits, best(&keys, capacity, &[]));
        }
    }
}
