//! Cache replacement: which object leaves when another needs its room.
//!
//! One trait, [`Policy`], for every policy, so that the engine's caches and a replay of a bare trace run the same code. Sizes
//! are in bytes, or all 1: then the cache is in blocks. The way of a request:
//!
//! 1. [`Policy::find`] looks the key up. Present: [`Policy::hit`], done.
//! 2. Absent: [`Policy::admit`] asks the policy's ghosts (keys that it remembers without their data), evicts until there is
//!    room, hands the evicted keys to the caller's buffer, and takes the object in.
//!
//! [`Policy::access`] is both. An object keeps the size that it was admitted with until it leaves; one that is larger than the
//! policy can take (see [`Policy::largest`]) is not admitted and evicts nothing. Each policy has a file, which opens with its
//! rules; a policy is the few functions of [`Rules`], everything else is written once, here, in [`objects`] and in [`store`].
//!
//! Beside them: [`trace`] reads a trace, [`replay`](mod@replay) counts the hits of a policy on it, [`belady`] those of the offline optimum,
//! [`curve`](mod@curve) those of many policies and sizes, and [`eviction`] those of a policy that lives outside the engine.
//!
//! All operations are O(1) expected (CLOCK, SIEVE and S3-FIFO: amortised) and allocate only while the cache grows.
//! Left out: expiry by time, admission filters, per-object overhead.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub mod arc;
pub mod belady;
mod block_index;
pub mod clock;
pub mod curve;
pub mod entry;
pub mod eviction;
pub mod fifo;
pub mod hit_counts;
pub mod index;
pub mod lfu;
pub mod lru;
pub mod objects;
pub mod replay;
pub mod s3_fifo;
pub mod sieve;
pub mod store;
pub mod trace;
pub mod two_q;

pub use block_index::Cursor;
use hit_counts::HitCounts;
pub use index::Keys;
use objects::Objects;
use store::Store;
pub use store::{NONE, Slot};
use trace::Trace;

/// A replacement policy with the objects it holds.
pub trait Policy {
    /// Where `key` is in the cache. Changes nothing.
    fn find(&self, key: u64) -> Option<Slot>;
    /// Where the keys around `key` are, and `key` itself: faster where keys are [`Keys::Runs`] and asked for in order.
    fn find_around(&self, key: u64) -> Cursor;
    /// The object at `slot` is used. A slot that holds nothing is ignored.
    fn hit(&mut self, slot: Slot);
    /// The objects at `slots`, all in the cache, are used, one after the other.
    fn hit_all(&mut self, slots: &[Slot]);
    /// Admits `count` keys from `first` on, each of size 1 and all missing, one after the other. Appends their slots to `slots`, with
    /// [`NONE`] for a key that is not admitted.
    fn admit_run(&mut self, first: u64, count: u64, slots: &mut Vec<Slot>);
    /// As [`Policy::admit`] of a key that is known to be missing.
    fn admit_missing(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> Option<Slot>;
    /// Takes in `key`, which is missing, with `size` bytes (0 counts as 1), and appends the keys that leave for it to `evicted`.
    /// A key that is present already is hit instead. [`None`] when it is larger than [`Policy::largest`] or than what is not reserved.
    fn admit(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> Option<Slot>;
    /// A request: hits `key` when it is present, else admits it. Whether it hit.
    fn access(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> bool;
    /// Forgets `key` altogether, ghost or not. Whether it was in the cache.
    fn remove(&mut self, key: u64) -> bool;
    /// Changes the capacity (at most [`store::MAX_CAPACITY`]), which may evict. Shares and targets that a policy derives
    /// from its capacity follow.
    fn set_capacity(&mut self, capacity: u64, evicted: &mut Vec<u64>);
    /// Sets `size` bytes aside for what is in flight into the cache, evicting for them as far as there is something to evict.
    fn reserve(&mut self, size: u64, evicted: &mut Vec<u64>);
    /// Gives back `size` bytes of what was reserved, to admit what they were reserved for or to drop it.
    fn release(&mut self, size: u64);
    /// Most bytes that the objects may have together.
    fn capacity(&self) -> u64;
    /// The size of the largest object that the policy admits.
    fn largest(&self) -> u64;
    /// Bytes that are set aside.
    fn reserved(&self) -> u64;
    /// Bytes of the objects in the cache.
    fn used(&self) -> u64;
    /// Objects in the cache.
    fn len(&self) -> u64;
    /// Whether the cache is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether `key` is in the cache.
    fn contains(&self, key: u64) -> bool {
        self.find(key).is_some()
    }
}

/// The reason why the cache needs room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// An object that the policy does not know.
    New,
    /// An object that is remembered at this slot; it is in no list until it is inserted.
    Ghost(Slot),
    /// ARC: one that was used more than once before it left.
    FrequentGhost(Slot),
    /// Nothing: the cache shrinks.
    Resize,
}

/// The rules of a policy: everything that differs between policies. [`Policy`] is built on it.
///
/// The defaults are those of a FIFO queue: list 0 takes new objects, and ghosts that come back enter list 1.
pub trait Rules {
    /// The objects.
    fn objects(&self) -> &Objects;
    /// The objects, to change them.
    fn objects_mut(&mut self) -> &mut Objects;
    /// The size of the largest object to admit.
    fn largest(&self) -> u64 {
        self.objects().store.capacity
    }
    /// The object at `slot`, which is in the cache, is used.
    fn touch(&mut self, slot: Slot);
    /// The objects at `slots`, all in the cache, are used, one after the other.
    fn touch_all(&mut self, slots: &[Slot]) {
        for slot in slots {
            self.touch(*slot);
        }
    }
    /// Takes in keys from `first` on, all missing and of size 1, as if one after the other, and appends their slots. Returns how many of
    /// the `count` keys; a policy that has no faster way than one by one takes none.
    fn insert_run(&mut self, _first: u64, _count: u64, _slots: &mut Vec<Slot>) -> u64 {
        0
    }
    /// `key` is missing: learn from what is remembered of it, and take a ghost out of its list. It is admitted next, or forgotten
    /// when it has grown too large.
    fn prepare(&mut self, _key: u64, _size: u64) -> Admission {
        Admission::New
    }
    /// Whether something has to leave before `size` bytes come in.
    fn needs_room(&self, size: u64, _admission: Admission) -> bool {
        self.objects().store.is_short_of(size)
    }
    /// Evicts one object and returns its key; [`None`] when there is none.
    fn evict_one(&mut self, _size: u64, _admission: Admission) -> Option<u64> {
        let oldest = self.objects().oldest(0)?;
        Some(self.expel(oldest))
    }
    /// The list that a new object enters.
    fn list_of_new(&self) -> u8 {
        0
    }
    /// Takes in an object for which there is room.
    fn insert(&mut self, key: u64, size: u64, admission: Admission) -> Slot {
        if let Admission::Ghost(slot) | Admission::FrequentGhost(slot) = admission {
            self.objects_mut().store.revive(slot, size);
            self.objects_mut().enter(slot, 1);
            return slot;
        }
        let list = self.list_of_new();
        self.objects_mut().add(key, size, list)
    }
    /// Forgets the entry at `slot`, in the cache or a ghost, which is in a list; returns its key.
    fn expel(&mut self, slot: Slot) -> u64 {
        self.objects_mut().expel(slot)
    }
    /// The capacity has changed; ghosts may have to go.
    fn resized(&mut self) {}
}

impl Store {
    /// Whether `size` more bytes do not fit.
    fn is_short_of(&self, size: u64) -> bool {
        self.used.saturating_add(self.reserved).saturating_add(size) > self.capacity
    }
}

/// Admits an object that is not in the cache.
fn admit<R: Rules + ?Sized>(rules: &mut R, key: u64, size: u64, evicted: &mut Vec<u64>) -> Option<Slot> {
    let size = size.max(1);
    if !rules.objects().store.takes(key) {
        return None;
    }
    let admission = rules.prepare(key, size);
    let store = &rules.objects().store;
    if size > rules.largest() || store.reserved.saturating_add(size) > store.capacity {
        if let Admission::Ghost(slot) | Admission::FrequentGhost(slot) = admission {
            rules.objects_mut().store.forget(slot);
        }
        return None;
    }
    while rules.needs_room(size, admission) {
        let Some(key) = rules.evict_one(size, admission) else { break }; // does not happen: the size was checked
        evicted.push(key);
    }
    Some(rules.insert(key, size, admission))
}

impl<R: Rules> Policy for R {
    fn find(&self, key: u64) -> Option<Slot> {
        self.objects().store.find(key)
    }
    fn find_around(&self, key: u64) -> Cursor {
        self.objects().store.around_key(key)
    }
    fn hit(&mut self, slot: Slot) {
        if self.objects().store.is_resident(slot) {
            self.touch(slot);
        }
    }
    fn hit_all(&mut self, slots: &[Slot]) {
        debug_assert!(slots.iter().all(|slot| self.objects().store.is_resident(*slot)));
        self.touch_all(slots);
    }
    fn admit_run(&mut self, first: u64, count: u64, slots: &mut Vec<Slot>) {
        let mut evicted = Vec::new();
        let end = first + count;
        let mut next = first;
        while next < end {
            let taken = self.insert_run(next, end - next, slots);
            next += taken;
            if taken == 0 {
                slots.push(admit(self, next, 1, &mut evicted).unwrap_or(NONE));
                evicted.clear();
                next += 1;
            }
        }
    }
    fn admit_missing(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> Option<Slot> {
        admit(self, key, size, evicted)
    }
    fn admit(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> Option<Slot> {
        if let Some(slot) = self.objects().store.find(key) {
            self.touch(slot);
            return Some(slot);
        }
        admit(self, key, size, evicted)
    }
    #[inline]
    fn access(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> bool {
        if let Some(slot) = self.objects().store.find(key) {
            self.touch(slot);
            return true;
        }
        admit(self, key, size, evicted);
        false
    }
    fn remove(&mut self, key: u64) -> bool {
        let was_resident = self.contains(key);
        if let Some(slot) = self.objects().store.find_any(key) {
            self.expel(slot);
        }
        was_resident
    }
    fn set_capacity(&mut self, capacity: u64, evicted: &mut Vec<u64>) {
        self.objects_mut().store.resize(capacity);
        while self.objects().store.is_short_of(0) {
            let Some(key) = self.evict_one(0, Admission::Resize) else { break };
            evicted.push(key);
        }
        self.resized();
    }
    fn reserve(&mut self, size: u64, evicted: &mut Vec<u64>) {
        while self.objects().store.is_short_of(size) {
            let Some(key) = self.evict_one(size, Admission::New) else { break };
            evicted.push(key);
        }
        let store = &mut self.objects_mut().store;
        store.reserved = store.reserved.saturating_add(size);
    }
    fn release(&mut self, size: u64) {
        let store = &mut self.objects_mut().store;
        store.reserved = store.reserved.saturating_sub(size);
    }
    fn capacity(&self) -> u64 {
        self.objects().store.capacity
    }
    fn largest(&self) -> u64 {
        Rules::largest(self)
    }
    fn reserved(&self) -> u64 {
        self.objects().store.reserved
    }
    fn used(&self) -> u64 {
        self.objects().store.used
    }
    fn len(&self) -> u64 {
        self.objects().store.len
    }
}

/// Declares the policies: the name and the type of each, with its help.
macro_rules! policies {
    ($($(#[$help:meta])* $kind:ident = $name:literal, $policy:ty;)+) => {
        /// The replacement policies.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum PolicyKind {
            $($(#[$help])* #[serde(rename = $name)] $kind,)+
        }

        impl PolicyKind {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind),+];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// An empty cache of `capacity` bytes (or blocks) that will be asked for `keys`.
            #[must_use]
            pub fn cache(self, capacity: u64, keys: Keys) -> Box<dyn Policy + Send + Sync> {
                match self {
                    $(Self::$kind => Box::new(<$policy>::new(capacity, keys)),)+
                }
            }

            /// Counts its hits on `trace`, as [`replay()`](replay::replay), with a loop of its own for each policy.
            fn replay(self, trace: &Trace, capacity: u64) -> HitCounts {
                let keys = Keys::Below(trace.distinct());
                match self {
                    $(Self::$kind => replay::replay_through(trace, &mut <$policy>::new(capacity, keys)),)+
                }
            }
        }
    };
}

policies! {
    /// First in, first out.
    Fifo = "fifo", fifo::Fifo;
    /// Least recently used.
    #[default]
    Lru = "lru", lru::Lru;
    /// Second chance around a ring.
    Clock = "clock", clock::Clock;
    /// Least frequently used since admission.
    Lfu = "lfu", lfu::Lfu;
    /// Two queues: probation and proven.
    TwoQ = "2q", two_q::TwoQ;
    /// Adaptive replacement between recency and frequency.
    Arc = "arc", arc::Arc;
    /// A FIFO queue sifted in place.
    Sieve = "sieve", sieve::Sieve;
    /// Three FIFO queues: small, main, ghost.
    S3Fifo = "s3-fifo", s3_fifo::S3Fifo;
}

/// A name that is no policy's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{found}\" is not a replacement policy; write one of {accepted}")]
pub struct UnknownPolicy {
    found: String,
    accepted: String,
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A policy that can be replayed over a trace, or the optimum that knows the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(into = "&'static str")]
#[schemars(with = "String")]
pub enum ReplayPolicy {
    /// A policy that decides as requests come.
    Policy(PolicyKind),
    /// The offline optimum, see [`belady`].
    Belady,
}

impl ReplayPolicy {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy(kind) => kind.name(),
            Self::Belady => "belady",
        }
    }
}

impl From<ReplayPolicy> for &'static str {
    fn from(policy: ReplayPolicy) -> Self {
        policy.name()
    }
}

impl fmt::Display for ReplayPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ReplayPolicy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        let all = || PolicyKind::ALL.into_iter().map(Self::Policy).chain([Self::Belady]);
        all().find(|policy| policy.name().eq_ignore_ascii_case(text.trim())).ok_or_else(|| UnknownPolicy {
            found: text.chars().take(40).collect(),
            accepted: all().map(Self::name).collect::<Vec<_>>().join(", "),
        })
    }
}

#[cfg(test)]
mod tests;
