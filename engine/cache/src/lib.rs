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
//! rules; a policy is the few functions of [`Rules`], everything else is written once, here and in [`store`].
//!
//! Beside them: [`trace`] reads a trace, [`replay`](mod@replay) counts the hits of a policy on it, [`belady`] those of the offline optimum,
//! [`curve`](mod@curve) those of many policies and sizes, and [`asked`] those of a policy that lives outside the engine.
//!
//! All operations are O(1) expected (CLOCK, SIEVE and S3-FIFO: amortised) and allocate only while the cache grows.
//! Left out: expiry by time, admission filters, per-object overhead.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub mod arc;
pub mod asked;
pub mod belady;
mod block_index;
pub mod clock;
pub mod curve;
pub mod entry;
pub mod fifo;
pub mod hit_counts;
pub mod index;
pub mod lfu;
pub mod lru;
pub mod replay;
pub mod s3_fifo;
pub mod sieve;
pub mod store;
pub mod trace;
pub mod two_q;

pub use block_index::Cursor;
pub use index::Keys;
use store::Store;
pub use store::{NONE, Slot};

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
    /// Sets `size` bytes aside for what is on its way into the cache, evicting for them as far as there is something to evict.
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

/// What needs room in the cache.
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

/// What makes a policy: everything that differs between one and the next. [`Policy`] is built on it.
pub trait Rules {
    /// The objects.
    fn store(&self) -> &Store;
    /// The objects, to change them.
    fn store_mut(&mut self) -> &mut Store;
    /// The size of the largest object to admit.
    fn largest(&self) -> u64 {
        self.store().capacity
    }
    /// The object at `slot`, which is in the cache, is used.
    fn touch(&mut self, slot: Slot);
    /// `key` is missing: learn from what is remembered of it, and take a ghost out of its list. It is admitted next, or forgotten
    /// when it has grown too large.
    fn prepare(&mut self, _key: u64, _size: u64) -> Admission {
        Admission::New
    }
    /// Whether something has to leave before `size` bytes come in.
    fn needs_room(&self, size: u64, _admission: Admission) -> bool {
        self.store().is_short_of(size)
    }
    /// Evicts one object and returns its key; [`None`] when there is none.
    fn evict_one(&mut self, size: u64, admission: Admission) -> Option<u64>;
    /// Takes in an object for which there is room.
    fn insert(&mut self, key: u64, size: u64, admission: Admission) -> Slot;
    /// Forgets the entry at `slot`, in the cache or a ghost, which is in a list; returns its key.
    fn expel(&mut self, slot: Slot) -> u64;
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
    if !rules.store().takes(key) {
        return None;
    }
    let admission = rules.prepare(key, size);
    let store = rules.store();
    if size > rules.largest() || store.reserved.saturating_add(size) > store.capacity {
        if let Admission::Ghost(slot) | Admission::FrequentGhost(slot) = admission {
            rules.store_mut().forget(slot);
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
        self.store().find(key)
    }
    fn find_around(&self, key: u64) -> Cursor {
        self.store().around_key(key)
    }
    fn hit(&mut self, slot: Slot) {
        if self.store().is_resident(slot) {
            self.touch(slot);
        }
    }
    fn hit_all(&mut self, slots: &[Slot]) {
        for slot in slots {
            debug_assert!(self.store().is_resident(*slot));
            self.touch(*slot);
        }
    }
    fn admit_missing(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> Option<Slot> {
        admit(self, key, size, evicted)
    }
    fn admit(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> Option<Slot> {
        if let Some(slot) = self.store().find(key) {
            self.touch(slot);
            return Some(slot);
        }
        admit(self, key, size, evicted)
    }
    #[inline]
    fn access(&mut self, key: u64, size: u64, evicted: &mut Vec<u64>) -> bool {
        if let Some(slot) = self.store().find(key) {
            self.touch(slot);
            return true;
        }
        admit(self, key, size, evicted);
        false
    }
    fn remove(&mut self, key: u64) -> bool {
        let was_resident = self.contains(key);
        if let Some(slot) = self.store().find_any(key) {
            self.expel(slot);
        }
        was_resident
    }
    fn set_capacity(&mut self, capacity: u64, evicted: &mut Vec<u64>) {
        self.store_mut().resize(capacity);
        while self.store().is_short_of(0) {
            let Some(key) = self.evict_one(0, Admission::Resize) else { break };
            evicted.push(key);
        }
        self.resized();
    }
    fn reserve(&mut self, size: u64, evicted: &mut Vec<u64>) {
        while self.store().is_short_of(size) {
            let Some(key) = self.evict_one(size, Admission::New) else { break };
            evicted.push(key);
        }
        let store = self.store_mut();
        store.reserved = store.reserved.saturating_add(size);
    }
    fn release(&mut self, size: u64) {
        let store = self.store_mut();
        store.reserved = store.reserved.saturating_sub(size);
    }
    fn capacity(&self) -> u64 {
        self.store().capacity
    }
    fn largest(&self) -> u64 {
        Rules::largest(self)
    }
    fn reserved(&self) -> u64 {
        self.store().reserved
    }
    fn used(&self) -> u64 {
        self.store().used
    }
    fn len(&self) -> u64 {
        self.store().len
    }
}

/// The replacement policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyKind {
    /// First in, first out.
    Fifo,
    /// Least recently used.
    #[default]
    Lru,
    /// Second chance around a ring.
    Clock,
    /// Least frequently used since admission.
    Lfu,
    /// Two queues: probation and proven.
    #[serde(rename = "2q")]
    TwoQ,
    /// Adaptive replacement between recency and frequency.
    Arc,
    /// A FIFO queue sifted in place.
    Sieve,
    /// Three FIFO queues: small, main, ghost.
    S3Fifo,
}

/// A name that is no policy's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{found}\" is not a replacement policy; write one of {accepted}")]
pub struct UnknownPolicy {
    found: String,
    accepted: String,
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [Self; 8] = [Self::Fifo, Self::Lru, Self::Clock, Self::Lfu, Self::TwoQ, Self::Arc, Self::Sieve, Self::S3Fifo];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "fifo",
            Self::Lru => "lru",
            Self::Clock => "clock",
            Self::Lfu => "lfu",
            Self::TwoQ => "2q",
            Self::Arc => "arc",
            Self::Sieve => "sieve",
            Self::S3Fifo => "s3-fifo",
        }
    }

    /// An empty cache of `capacity` bytes (or blocks) that will be asked for `keys`.
    #[must_use]
    pub fn cache(self, capacity: u64, keys: Keys) -> Box<dyn Policy + Send + Sync> {
        match self {
            Self::Fifo => Box::new(fifo::Fifo::new(capacity, keys)),
            Self::Lru => Box::new(lru::Lru::new(capacity, keys)),
            Self::Clock => Box::new(clock::Clock::new(capacity, keys)),
            Self::Lfu => Box::new(lfu::Lfu::new(capacity, keys)),
            Self::TwoQ => Box::new(two_q::TwoQ::new(capacity, keys)),
            Self::Arc => Box::new(arc::Arc::new(capacity, keys)),
            Self::Sieve => Box::new(sieve::Sieve::new(capacity, keys)),
            Self::S3Fifo => Box::new(s3_fifo::S3Fifo::new(capacity, keys)),
        }
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What can be replayed over a trace: a policy, or the optimum that knows the future.
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
