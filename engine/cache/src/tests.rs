//! What holds for every policy.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::replay::{replay, replay_through};
use super::trace::{Builder, Trace};
use super::*;

/// The evictions of block requests: the key that was asked for and the one that left for it.
pub fn evictions<P: Policy>(cache: &mut P, keys: &[u64]) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    let mut evicted = Vec::new();
    for key in keys {
        cache.access(*key, 1, &mut evicted);
        all.extend(evicted.drain(..).map(|left| (*key, left)));
    }
    all
}

fn requests() -> impl Strategy<Value = Vec<(u64, u64)>> {
    // Half of the requests go to a few keys, so that something hits
    proptest::collection::vec((prop_oneof![0u64..8, 0u64..60], 1u64..9), 0..400)
}

fn trace_of(requests: &[(u64, u64)], in_blocks: bool) -> Trace {
    let mut builder = Builder::default();
    for (key, size) in requests {
        assert!(builder.push(*key, if in_blocks { 1 } else { *size }));
    }
    builder.finish()
}

proptest! {
    #[test]
    fn a_run_is_admitted_and_used_as_its_keys_one_by_one(
        capacity in 1u64..40,
        runs in proptest::collection::vec((0u64..80, 1u64..30), 1..40),
        keys in prop_oneof![Just(Keys::Any), Just(Keys::Runs), Just(Keys::Below(100))],
    ) {
        for kind in PolicyKind::ALL {
            let [mut by_run, mut by_key] = [kind.cache(capacity, keys), kind.cache(capacity, keys)];
            let mut ignored = Vec::new();
            for (first, count) in &runs {
                let present: Vec<Slot> = (*first..first + count).filter_map(|key| by_run.find(key)).collect();
                by_run.hit_all(&present);
                for slot in &present {
                    by_key.hit(*slot);
                }
                let missing = (*first..first + count).take_while(|key| !by_run.contains(*key)).count() as u64;
                let mut slots = Vec::new();
                by_run.admit_run(*first, missing, &mut slots);
                let one_by_one: Vec<Slot> =
                    (*first..first + missing).map(|key| by_key.admit_missing(key, 1, &mut ignored).unwrap_or(NONE)).collect();
                prop_assert_eq!(&slots, &one_by_one, "{}", kind);
                for key in 0..130 {
                    prop_assert_eq!(by_run.find(key), by_key.find(key), "{} {}", kind, key);
                }
            }
        }
    }
}

#[test]
fn names_are_read_and_written_alike_everywhere() {
    for kind in PolicyKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        assert_eq!(kind.name().parse(), Ok(ReplayPolicy::Policy(kind)));
        assert_eq!(kind.to_string(), kind.name());
    }
    assert_eq!("Belady".parse(), Ok(ReplayPolicy::Belady));
    let accepted = format!("{}, belady", PolicyKind::ALL.map(PolicyKind::name).join(", "));
    assert_eq!("mru".parse::<ReplayPolicy>(), Err(UnknownPolicy { found: "mru".to_owned(), accepted }));
}

#[test]
fn an_object_that_is_too_large_is_not_admitted_and_evicts_nothing() {
    for kind in PolicyKind::ALL {
        let mut cache = kind.cache(100, Keys::Any);
        let mut evicted = Vec::new();
        cache.admit(1, 5, &mut evicted);
        assert_eq!(cache.admit(2, cache.largest() + 1, &mut evicted), None);
        assert_eq!((cache.used(), evicted.len()), (5, 0), "{kind}");
    }
}

#[test]
fn blocks_on_their_way_hold_room_until_they_arrive() {
    for kind in PolicyKind::ALL {
        let mut cache = kind.cache(4, Keys::Any);
        let mut evicted = Vec::new();
        for key in 0..4 {
            cache.admit(key, 1, &mut evicted);
        }
        cache.reserve(2, &mut evicted);
        assert_eq!((evicted.len(), cache.len(), cache.reserved()), (2, 2, 2), "{kind}");
        cache.release(1);
        cache.admit(10, 1, &mut evicted);
        assert_eq!((evicted.len(), cache.len(), cache.used()), (2, 3, 3), "{kind}");
        cache.reserve(9, &mut evicted); // more than there is: everything leaves, nothing breaks
        assert_eq!((cache.len(), cache.admit(11, 1, &mut evicted)), (0, None), "{kind}");
        cache.release(99);
        assert!(cache.admit(11, 1, &mut evicted).is_some(), "{kind}");
    }
}

#[test]
fn a_removed_object_is_gone_and_not_remembered() {
    for kind in PolicyKind::ALL {
        let mut cache = kind.cache(3, Keys::Any);
        let mut evicted = Vec::new();
        for key in [1, 2, 3] {
            cache.access(key, 1, &mut evicted);
        }
        let slot = cache.find(2).unwrap();
        assert!(cache.remove(2) && !cache.remove(2) && !cache.contains(2), "{kind}");
        cache.hit(slot); // stale: ignored
        cache.hit(NONE);
        assert_eq!(cache.len(), 2, "{kind}");
        cache.access(4, 1, &mut evicted);
        assert_eq!((cache.len(), evicted.len()), (3, 0), "{kind}");
    }
}

#[test]
fn a_cache_without_room_admits_nothing() {
    for kind in PolicyKind::ALL {
        assert_eq!(replay(&Trace::of_blocks([1, 1, 2, 1]), kind, 0).hits, 0, "{kind}");
    }
}

#[test]
fn a_cache_of_one_block_hits_repetitions() {
    for kind in PolicyKind::ALL {
        assert_eq!(replay(&Trace::of_blocks([1, 1, 2, 2, 2, 1]), kind, 1).hits, 3, "{kind}");
    }
}

#[test]
fn memory_does_not_grow_in_a_steady_state() {
    // Twice the objects that a policy may know (cache and ghosts) is an upper bound that any leak passes soon.
    for kind in PolicyKind::ALL {
        let mut cache = kind.cache(50, Keys::Any);
        let (mut evicted, mut most) = (Vec::new(), 0);
        for key in 0..20_000u64 {
            for key in [key, key.saturating_sub(60), key % 7] {
                cache.access(key, 1, &mut evicted);
                evicted.clear();
                most = most.max(cache.find(key).unwrap_or(0));
            }
        }
        assert!(most < 200, "{kind}: slot {most}");
    }
}

proptest! {
    #[test]
    fn a_cache_holds_what_it_admitted_and_did_not_evict(
        requests in requests(), capacity in 1u64..80, in_blocks in any::<bool>(), which in 0..PolicyKind::ALL.len(),
    ) {
        let mut cache = PolicyKind::ALL[which].cache(capacity, Keys::Any);
        let (mut held, mut evicted) = (BTreeMap::new(), Vec::new());
        for (n, (key, size)) in requests.into_iter().enumerate() {
            let size = if in_blocks { 1 } else { size };
            match n % 50 {
                17 => cache.set_capacity(capacity / 3, &mut evicted),
                31 => cache.set_capacity(capacity, &mut evicted),
                41 => prop_assert_eq!(cache.remove(key), held.remove(&key).is_some()),
                _ => {
                    let hit = cache.access(key, size, &mut evicted);
                    prop_assert_eq!(hit, held.contains_key(&key));
                    if !hit && size <= cache.largest() {
                        held.insert(key, size);
                    }
                }
            }
            for key in evicted.drain(..) {
                prop_assert!(held.remove(&key).is_some());
            }
            prop_assert!(cache.used() <= cache.capacity());
            prop_assert_eq!(cache.used(), held.values().sum::<u64>());
            prop_assert_eq!(cache.len(), held.len() as u64);
            prop_assert!((0..60).all(|key| cache.contains(key) == held.contains_key(&key)));
        }
    }

    #[test]
    fn keys_that_are_numbered_and_any_keys_have_the_same_hits(requests in requests(), capacity in 1u64..80, which in 0..PolicyKind::ALL.len()) {
        let trace = trace_of(&requests, false);
        let kind = PolicyKind::ALL[which];
        let mut cache = kind.cache(capacity, Keys::Any);
        prop_assert_eq!(replay_through(&trace, cache.as_mut()), replay(&trace, kind, capacity));
    }

    #[test]
    fn hits_and_misses_are_requests_and_cold_misses_are_the_least(
        requests in requests(), capacity in prop_oneof![1u64..80, Just(10_000)], in_blocks in any::<bool>(), which in 0..PolicyKind::ALL.len(),
    ) {
        let trace = trace_of(&requests, in_blocks);
        let counts = replay(&trace, PolicyKind::ALL[which], capacity);
        prop_assert_eq!((counts.requests, counts.bytes), (trace.len() as u64, trace.bytes()));
        prop_assert!(counts.hits <= counts.requests - u64::from(trace.distinct()) && counts.hit_bytes <= counts.bytes);
        if capacity == 10_000 {
            prop_assert_eq!(counts.hits, counts.requests - u64::from(trace.distinct()));
        }
    }

    #[test]
    fn a_larger_lru_cache_holds_all_that_a_smaller_one_does(requests in requests(), capacity in 1u64..40, more in 0u64..40) {
        let mut caches = [capacity, capacity + more].map(|capacity| lru::Lru::new(capacity, Keys::Any));
        let mut evicted = Vec::new();
        for (key, _) in requests {
            for cache in &mut caches {
                cache.access(key, 1, &mut evicted);
            }
            prop_assert!((0..60).all(|key| !caches[0].contains(key) || caches[1].contains(key)));
        }
    }

    #[test]
    fn no_policy_has_more_hits_than_the_optimum_on_blocks(requests in requests(), capacity in 1u64..40) {
        let trace = trace_of(&requests, true);
        let best = ReplayPolicy::Belady.replay(&trace, capacity).hits;
        for kind in PolicyKind::ALL {
            prop_assert!(replay(&trace, kind, capacity).hits <= best);
        }
    }

    #[test]
    fn clock_evicts_as_a_queue_that_puts_used_objects_back(requests in requests(), capacity in 1usize..20) {
        let mut cache = clock::Clock::new(capacity as u64, Keys::Any);
        let (mut queue, mut used, mut evicted): (Vec<u64>, BTreeSet<u64>, Vec<u64>) = Default::default();
        for (key, _) in requests {
            if cache.access(key, 1, &mut evicted) {
                used.insert(key);
                continue;
            }
            let mut expected = Vec::new();
            if queue.len() == capacity {
                while used.remove(&queue[0]) {
                    queue.rotate_left(1);
                }
                expected.push(queue.remove(0));
            }
            queue.push(key);
            prop_assert_eq!(std::mem::take(&mut evicted), expected);
        }
    }
}
