//! Miss-ratio curves: hits of many policies at many cache sizes, in one call.
//!
//! Every policy is replayed once for each size, except LRU: its cache of any size holds a prefix of one list, so a single pass finds
//! the hits at all sizes (Mattson and others, 1970). Each request's *stack distance*, the bytes of the different objects used since
//! the object's last use and its own, is the smallest cache in which it hits. The distances are sums over a Fenwick tree in which
//! each object stands at its last use (Bennett and Kruskal, Olken); the tree is as long as twice the number of objects, and is
//! packed when it is full.
//!
//! That is exact while every object keeps its size and fits: a size below the largest object is replayed instead, as is a trace in
//! which objects change size. A sample of the objects in a cache reduced alike (SHARDS, Waldspurger and others, FAST 2015) is an
//! estimate, made only when asked for and marked as one.

use schemars::JsonSchema;
use serde::Serialize;

use super::hit_counts::HitCounts;
use super::trace::Trace;
use super::{PolicyKind, ReplayPolicy};

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CachePoint")]
pub struct Point {
    /// Policy of the curve.
    pub policy: ReplayPolicy,
    /// Size of the cache in bytes (or objects).
    pub size: u64,
    /// Counts of the replay.
    #[serde(flatten)]
    pub counts: HitCounts,
    /// Counted over the whole trace, not estimated from a sample.
    pub exact: bool,
}

/// The points of each policy's curve at each size, in the order given. `one_in` above 1 estimates them from a sample of one
/// object in so many.
#[must_use]
pub fn curve(trace: &Trace, policies: &[ReplayPolicy], sizes: &[u64], one_in: u32) -> Vec<Point> {
    let exact = one_in <= 1;
    let sample = (!exact).then(|| trace.sampled(one_in));
    let replayed = sample.as_ref().unwrap_or(trace);
    let reduced: Vec<u64> = sizes.iter().map(|size| if exact { *size } else { size / u64::from(one_in) }).collect();
    let mut points = Vec::with_capacity(policies.len() * sizes.len());
    for policy in policies {
        let counts = if *policy == ReplayPolicy::Policy(PolicyKind::Lru) {
            lru(replayed, &reduced)
        } else {
            reduced.iter().map(|size| policy.replay(replayed, *size)).collect()
        };
        for (size, counts) in sizes.iter().zip(counts) {
            let counts = if exact { counts } else { scaled(counts, trace) };
            points.push(Point { policy: *policy, size: *size, counts, exact });
        }
    }
    points
}

/// A sample's counts as one of the whole trace, in proportion.
fn scaled(sample: HitCounts, trace: &Trace) -> HitCounts {
    let share = |part: u64, of: u64, whole: u64| {
        let scaled = u128::from(part) * u128::from(whole) / u128::from(of.max(1));
        u64::try_from(scaled).unwrap_or(whole)
    };
    let (requests, bytes) = (trace.len() as u64, trace.bytes());
    HitCounts {
        requests,
        hits: share(sample.hits, sample.requests, requests),
        bytes,
        hit_bytes: share(sample.hit_bytes, sample.bytes, bytes),
    }
}

/// LRU's counts at `sizes`: one pass for those that every object fits in, a replay for the others.
fn lru(trace: &Trace, sizes: &[u64]) -> Vec<HitCounts> {
    let fits = |size: u64| !trace.is_resized() && size >= trace.largest();
    let mut passed: Vec<u64> = sizes.iter().copied().filter(|size| fits(*size)).collect();
    passed.sort_unstable();
    passed.dedup();
    // A single size is found faster by a replay.
    let counts = if passed.len() > 1 { stack_pass(trace, &passed) } else { Vec::new() };
    let counts_of = |size: u64| {
        let passed = if fits(size) { passed.binary_search(&size).ok().and_then(|at| counts.get(at)) } else { None };
        passed.copied().unwrap_or_else(|| ReplayPolicy::Policy(PolicyKind::Lru).replay(trace, size))
    };
    sizes.iter().map(|size| counts_of(*size)).collect()
}

/// Prefix sums over positions that change.
struct Fenwick(Vec<u64>);

impl Fenwick {
    fn add(&mut self, at: usize, value: u64) {
        let mut at = at + 1;
        while let Some(sum) = self.0.get_mut(at) {
            *sum = sum.wrapping_add(value);
            at += at & at.wrapping_neg();
        }
    }

    /// Sum of positions up to and with `at`.
    fn sum(&self, at: usize) -> u64 {
        let (mut at, mut sum) = (at + 1, 0u64);
        while at > 0 {
            sum = sum.wrapping_add(self.0.get(at).copied().unwrap_or(0));
            at &= at - 1;
        }
        sum
    }
}

/// Hit counts of LRU at `sizes`, which rise; objects keep their sizes and fit in each.
fn stack_pass(trace: &Trace, sizes: &[u64]) -> Vec<HitCounts> {
    const UNSEEN: usize = usize::MAX;
    let objects = trace.distinct() as usize;
    let positions = objects * 2 + 1;
    let mut tree = Fenwick(vec![0; positions + 1]);
    let mut last_use = vec![UNSEEN; objects];
    let mut object_at: Vec<u32> = Vec::with_capacity(positions);
    let mut size_of = vec![1u64; objects];
    // hits[k]: hits that need sizes[k] and no less
    let mut hits = vec![(0u64, 0u64); sizes.len() + 1];
    let (mut all, mut total) = (HitCounts::default(), 0u64);
    for (object, size) in trace.requests() {
        let object = object as usize;
        all.count(size, false);
        let last = last_use[object];
        if last == UNSEEN {
            total += size;
            size_of[object] = size;
        } else {
            let distance = total - tree.sum(last) + size;
            let needs = &mut hits[sizes.partition_point(|size| *size < distance)];
            *needs = (needs.0 + 1, needs.1 + size);
            tree.add(last, size.wrapping_neg());
        }
        if object_at.len() == positions {
            pack(&mut object_at, &mut last_use, &size_of, &mut tree, object);
        }
        last_use[object] = object_at.len();
        tree.add(object_at.len(), size);
        object_at.push(u32::try_from(object).unwrap_or(u32::MAX)); // it came from a u32
    }
    let mut sum = (0, 0);
    let with = |(hits, hit_bytes): (u64, u64)| HitCounts { hits, hit_bytes, ..all };
    hits.iter()
        .take(sizes.len())
        .map(|(hits, bytes)| {
            sum = (sum.0 + hits, sum.1 + bytes);
            with(sum)
        })
        .collect()
}

/// Moves the objects' last uses together, in order; `current` is being used and will be placed again.
fn pack(object_at: &mut Vec<u32>, last_use: &mut [usize], size_of: &[u64], tree: &mut Fenwick, current: usize) {
    let mut kept = 0;
    for at in 0..object_at.len() {
        let object = object_at[at];
        if last_use[object as usize] == at && object as usize != current {
            last_use[object as usize] = kept;
            object_at[kept] = object;
            kept += 1;
        }
    }
    object_at.truncate(kept);
    tree.0.fill(0);
    for (at, object) in object_at.iter().enumerate() {
        tree.add(at, size_of[*object as usize]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::replay::replay;
    use crate::trace::Builder;

    const LRU: ReplayPolicy = ReplayPolicy::Policy(PolicyKind::Lru);

    #[test]
    fn a_request_hits_from_its_stack_distance_on() {
        // 1 2 3 1: between its uses 1 sees 2 and 3, so it hits in a cache of 3 and not of 2
        let points = curve(&Trace::of_blocks([1, 2, 3, 1]), &[LRU], &[1, 2, 3, 4], 1);
        assert_eq!(points.iter().map(|point| point.counts.hits).collect::<Vec<_>>(), [0, 0, 1, 1]);
    }

    #[test]
    fn points_come_in_the_order_asked_and_say_whose_they_are() {
        let points = curve(&Trace::of_blocks([1, 2, 1]), &[ReplayPolicy::Belady, LRU], &[2, 1], 1);
        assert_eq!(
            points.iter().map(|point| (point.policy.name(), point.size, point.counts.hits)).collect::<Vec<_>>(),
            [("belady", 2, 1), ("belady", 1, 0), ("lru", 2, 1), ("lru", 1, 0)]
        );
        let json = serde_json::to_string(&points[0]).unwrap();
        assert_eq!(json, r#"{"policy":"belady","size":2,"requests":3,"hits":1,"bytes":3,"hit_bytes":1,"exact":true}"#);
    }

    #[test]
    fn a_sample_is_marked_and_near() {
        let mut state = 1u64;
        let trace = Trace::of_blocks((0..60_000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 20_000
        }));
        let [exact, sampled] = [1, 10].map(|one_in| curve(&trace, &[LRU], &[5000], one_in)[0]);
        assert!(exact.exact && !sampled.exact);
        assert!((exact.counts.miss_ratio() - sampled.counts.miss_ratio()).abs() < 0.02);
    }

    proptest! {
        #[test]
        fn one_pass_counts_what_replays_count(
            requests in proptest::collection::vec((0u64..40, 0usize..3), 0..600), keep in any::<bool>(),
            sizes in proptest::collection::vec(1u64..300, 0..8),
        ) {
            let mut builder = Builder::default();
            for (key, pick) in requests {
                assert!(builder.push(key, if keep { key % 7 + 1 } else { [1, 5, 9][pick] }));
            }
            let trace = builder.finish();
            for point in curve(&trace, &[LRU], &sizes, 1) {
                prop_assert_eq!(point.counts, replay(&trace, PolicyKind::Lru, point.size));
            }
        }
    }
}
