//! A policy that lives outside the engine: the replay stops at each eviction, asks, and continues with the answer.
//!
//! It is not a `Decision` of `seeklab-model`: a replay has no scenario, kernel or layer, and millions of evictions cross to the host
//! as columns, not as JSON.
//!
//! No callbacks. [`Replay::step`] runs until it has done so many requests, is done, or needs a victim. Then [`Replay::question`]
//! says for which object, and the host learns what is in the cache in one of two ways:
//!
//! - [`Replay::events`]: hits, admissions and evictions since the last question, in order, as columns. Cheap: the outside keeps its
//!   own queues from them, as a real policy does.
//! - [`Replay::residents`]: every object in the cache with its size, admission, last use and number of uses, as columns. Simple,
//!   and as slow as the cache is large.
//!
//! [`Replay::answer`] takes the key of the victim. When that does not make room enough (objects of different sizes), the next step
//! asks again. Every missing object is admitted, unless it is larger than the cache: a policy chooses victims, it does not refuse.

use std::borrow::Borrow;

use thiserror::Error;

use super::hit_counts::HitCounts;
use super::index::Keys;
use super::store::{List, NONE, Store};
use super::trace::Trace;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It did as many requests as it might; there are more.
    Running,
    /// The trace is at its end.
    Done,
    /// A victim is needed, see [`Replay::question`].
    Question,
}

/// The question which object to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Number of the request for which room is needed.
    pub request: u64,
    /// Key of its object.
    pub key: u64,
    /// Size of its object.
    pub size: u64,
    /// Bytes still to be freed.
    pub short_bytes: u64,
    /// Objects in the cache.
    pub residents: u64,
}

/// Why an answer is refused. The question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// Nothing was asked.
    #[error("no question is open; run a step first")]
    NoQuestion,
    /// The key is not in the cache.
    #[error("object {key} is not in the cache, so it cannot be evicted")]
    NotInCache {
        /// The answer.
        key: u64,
    },
}

/// Events in order, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// [`Events::HIT`], [`Events::ADMITTED`] or [`Events::EVICTED`].
    pub kinds: Vec<u8>,
    /// The object's key.
    pub keys: Vec<u64>,
    /// The request's size for a hit, else the object's.
    pub sizes: Vec<u64>,
}

impl Events {
    /// The object was in the cache.
    pub const HIT: u8 = 0;
    /// The object came into the cache.
    pub const ADMITTED: u8 = 1;
    /// The object left it.
    pub const EVICTED: u8 = 2;

    fn push(&mut self, kind: u8, key: u64, size: u64) {
        self.kinds.push(kind);
        self.keys.push(key);
        self.sizes.push(size);
    }

    fn clear(&mut self) {
        self.kinds.clear();
        self.keys.clear();
        self.sizes.clear();
    }
}

/// The objects in the cache in order of admission, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residents {
    /// Key.
    pub keys: Vec<u64>,
    /// Size.
    pub sizes: Vec<u64>,
    /// Number of the request that brought it.
    pub admitted: Vec<u64>,
    /// Number of the last request for it.
    pub last_used: Vec<u64>,
    /// Requests for it since then, with the one that brought it.
    pub uses: Vec<u64>,
}

/// The history of an object's stay in the cache.
#[derive(Clone, Copy, Debug, Default)]
struct Stay {
    admitted: u32,
    last_used: u32,
    uses: u32,
}

/// A replay that asks. The trace may be owned, borrowed or shared.
#[derive(Debug)]
pub struct Replay<T: Borrow<Trace>> {
    trace: T,
    /// Objects by key, in order of admission.
    store: Store,
    order: List,
    /// By slot.
    stays: Vec<Stay>,
    /// The next request; the one that waits while there is a question.
    at: usize,
    asked: bool,
    events: Events,
    counts: HitCounts,
}

impl<T: Borrow<Trace>> Replay<T> {
    /// A replay of `trace` in an empty cache of `capacity` bytes (or objects).
    #[must_use]
    pub fn new(trace: T, capacity: u64) -> Self {
        let mut store = Store::new(capacity, Keys::Any);
        let order = store.list();
        Self { trace, store, order, stays: Vec::new(), at: 0, asked: false, events: Events::default(), counts: HitCounts::default() }
    }

    /// Replays up to `max_requests` requests, or until a victim is needed.
    pub fn step(&mut self, max_requests: u64) -> Step {
        if self.asked {
            return Step::Question;
        }
        for _ in 0..max_requests {
            let Some((object, size)) = self.trace.borrow().request(self.at) else { return Step::Done };
            let key = self.trace.borrow().key(object);
            let now = u32::try_from(self.at).unwrap_or(u32::MAX); // a trace has fewer requests
            if let Some(slot) = self.store.find(key) {
                let stay = &mut self.stays[slot as usize];
                (stay.last_used, stay.uses) = (now, stay.uses + 1);
                self.events.push(Events::HIT, key, size);
                self.counts.count(size, true);
            } else {
                if size <= self.store.capacity {
                    if self.store.used + size > self.store.capacity {
                        self.asked = true;
                        return Step::Question;
                    }
                    self.admit(key, size, now);
                }
                self.counts.count(size, false);
            }
            self.at += 1;
        }
        if self.at < self.trace.borrow().len() { Step::Running } else { Step::Done }
    }

    fn admit(&mut self, key: u64, size: u64, now: u32) {
        let slot = self.store.add(key, size);
        self.store.push(&mut self.order, slot);
        let stay = Stay { admitted: now, last_used: now, uses: 1 };
        if self.stays.len() <= slot as usize {
            self.stays.resize(slot as usize + 1, Stay::default());
        }
        self.stays[slot as usize] = stay;
        self.events.push(Events::ADMITTED, key, size);
    }

    /// The question that the last step ended with.
    #[must_use]
    pub fn question(&self) -> Option<Question> {
        let (object, size) = self.trace.borrow().request(self.at).filter(|_| self.asked)?;
        Some(Question {
            request: self.at as u64,
            key: self.trace.borrow().key(object),
            size,
            short_bytes: (self.store.used + size).saturating_sub(self.store.capacity),
            residents: self.store.len,
        })
    }

    /// Evicts the object `key`, and forgets the events up to now.
    ///
    /// # Errors
    /// There is no question, or `key` is not in the cache.
    pub fn answer(&mut self, key: u64) -> Result<(), Problem> {
        if !self.asked {
            return Err(Problem::NoQuestion);
        }
        let slot = self.store.find(key).ok_or(Problem::NotInCache { key })?;
        let size = self.store.entry(slot).size;
        self.store.unlink(&mut self.order, slot);
        self.store.forget(slot);
        self.asked = false;
        self.events.clear();
        self.events.push(Events::EVICTED, key, size);
        Ok(())
    }

    /// Return the events since the last question. The first event after an answer is its eviction.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Forgets the events up to now, for a host that reads them after every step.
    pub fn clear_events(&mut self) {
        self.events.clear();
    }

    /// The objects in the cache.
    #[must_use]
    pub fn residents(&self) -> Residents {
        let mut residents = Residents::default();
        let first = self.store.oldest(&self.order);
        let mut slot = first;
        while slot != NONE {
            let (entry, stay) = (self.store.entry(slot), self.stays[slot as usize]);
            residents.keys.push(entry.key);
            residents.sizes.push(entry.size);
            residents.admitted.push(u64::from(stay.admitted));
            residents.last_used.push(u64::from(stay.last_used));
            residents.uses.push(u64::from(stay.uses));
            let next = self.store.around(&self.order, slot);
            slot = if next == first { NONE } else { next };
        }
        residents
    }

    /// Return the counts so far.
    #[must_use]
    pub fn counts(&self) -> HitCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::PolicyKind;
    use crate::replay::replay;
    use crate::trace::Builder;

    #[test]
    fn the_question_says_for_whom_and_the_columns_say_what_is_there() {
        let trace = Trace::of_blocks([10, 20, 10, 30]);
        let mut asked = Replay::new(&trace, 2);
        assert_eq!(asked.answer(10), Err(Problem::NoQuestion));
        assert_eq!(asked.step(2), Step::Running);
        assert_eq!(asked.step(100), Step::Question);
        assert_eq!(asked.question(), Some(Question { request: 3, key: 30, size: 1, short_bytes: 1, residents: 2 }));
        assert_eq!(asked.events(), &Events { kinds: vec![1, 1, 0], keys: vec![10, 20, 10], sizes: vec![1, 1, 1] });
        let residents = asked.residents();
        assert_eq!(
            (residents.keys, residents.admitted, residents.last_used, residents.uses),
            (vec![10, 20], vec![0, 1], vec![2, 1], vec![2, 1])
        );
        assert_eq!(asked.answer(30), Err(Problem::NotInCache { key: 30 }));
        assert_eq!(asked.step(100), Step::Question);
        assert_eq!(asked.answer(20), Ok(()));
        assert_eq!(asked.step(100), Step::Done);
        assert_eq!(asked.events(), &Events { kinds: vec![2, 1], keys: vec![20, 30], sizes: vec![1, 1] });
        assert_eq!(asked.residents().keys, [10, 30]);
        assert_eq!(asked.counts(), HitCounts { requests: 4, hits: 1, bytes: 4, hit_bytes: 1 });
    }

    #[test]
    fn a_large_object_asks_until_it_fits() {
        let trace = Trace::parse(b"0,1,3\n0,2,3\n0,3,3\n0,4,7\n0,5,99").unwrap();
        let mut asked = Replay::new(&trace, 9);
        let mut victims = Vec::new();
        while asked.step(100) == Step::Question {
            let first = asked.residents().keys[0];
            victims.push((asked.question().map(|question| question.short_bytes), first));
            asked.answer(first).unwrap();
        }
        assert_eq!(victims, [(Some(7), 1), (Some(4), 2), (Some(1), 3)]);
        assert_eq!(asked.residents().keys, [4]);
    }

    proptest! {
        #[test]
        fn answering_as_lru_or_fifo_would_has_their_hits(
            requests in proptest::collection::vec((0u64..20, 1u64..6), 0..200), capacity in 1u64..30, step in 1u64..9,
        ) {
            let mut builder = Builder::default();
            for (key, size) in requests {
                assert!(builder.push(key, size));
            }
            let trace = builder.finish();
            for kind in [PolicyKind::Lru, PolicyKind::Fifo] {
                let mut asked = Replay::new(&trace, capacity);
                // The outside's own queue, kept from events alone
                let mut queue: Vec<u64> = Vec::new();
                loop {
                    let end = asked.step(step);
                    for (event, key) in asked.events().kinds.iter().zip(&asked.events().keys) {
                        if *event == Events::EVICTED || (*event == Events::HIT && kind == PolicyKind::Lru) {
                            queue.retain(|other| other != key);
                        }
                        if *event == Events::ADMITTED || (*event == Events::HIT && kind == PolicyKind::Lru) {
                            queue.push(*key);
                        }
                    }
                    asked.clear_events();
                    match end {
                        Step::Done => break,
                        Step::Running => {}
                        Step::Question => prop_assert_eq!(asked.answer(queue[0]), Ok(())),
                    }
                }
                prop_assert_eq!(asked.counts(), replay(&trace, kind, capacity));
            }
        }
    }
}
