//! The objects that a policy knows: a store, and lists of its entries by number.

use super::Admission;
use super::index::Keys;
use super::store::{List, NONE, Slot, Store};

/// Most lists of one policy.
const MAX_LISTS: usize = 4;

/// A store with numbered lists. An object or ghost is in one of them, in the order from oldest to newest.
#[derive(Debug)]
pub struct Objects {
    /// The objects and ghosts.
    pub store: Store,
    lists: [List; MAX_LISTS],
}

impl Objects {
    /// Returns an empty store of `capacity` bytes (or blocks) with `lists` lists, at most four.
    #[must_use]
    pub fn new(capacity: u64, keys: Keys, lists: usize) -> Self {
        let mut store = Store::new(capacity, keys);
        Self { lists: std::array::from_fn(|number| if number < lists { store.list() } else { List::ABSENT }), store }
    }

    /// Returns the bytes of a list.
    #[inline]
    #[must_use]
    pub fn bytes(&self, list: u8) -> u64 {
        self.lists[list as usize].bytes
    }

    /// Returns the oldest entry of a list.
    #[inline]
    #[must_use]
    pub fn oldest(&self, list: u8) -> Option<Slot> {
        let slot = self.store.oldest(&self.lists[list as usize]);
        (slot != NONE).then_some(slot)
    }

    /// Returns the entry that is next newer than `slot` in a list, from the newest on to the oldest.
    #[inline]
    #[must_use]
    pub fn around(&self, slot: Slot, list: u8) -> Slot {
        self.store.around(&self.lists[list as usize], slot)
    }

    /// Takes in a new object as the newest of a list.
    #[inline]
    pub fn add(&mut self, key: u64, size: u64, list: u8) -> Slot {
        let slot = self.store.add(key, size);
        self.enter(slot, list);
        slot
    }

    /// Makes an entry that is in no list the newest of one.
    #[inline]
    pub fn enter(&mut self, slot: Slot, list: u8) {
        self.store.entry_mut(slot).list = list;
        self.store.push(&mut self.lists[list as usize], slot);
    }

    /// Puts an entry that is in no list next older than `at`, which is in this one.
    #[inline]
    pub fn enter_before(&mut self, at: Slot, slot: Slot, list: u8) {
        self.store.entry_mut(slot).list = list;
        self.store.push_before(&mut self.lists[list as usize], at, slot);
    }

    /// Takes an entry out of its list.
    #[inline]
    pub fn leave(&mut self, slot: Slot) {
        let list = self.store.entry(slot).list as usize;
        self.store.unlink(&mut self.lists[list], slot);
    }

    /// Makes an entry the newest of another list.
    #[inline]
    pub fn shift(&mut self, slot: Slot, to: u8) {
        self.leave(slot);
        self.enter(slot, to);
    }

    /// Makes an entry of a list its newest.
    #[inline]
    pub fn renew(&mut self, slot: Slot, list: u8) {
        self.store.renew(&mut self.lists[list as usize], slot);
    }

    /// Makes entries of a list its newest, one after the other.
    pub fn renew_all(&mut self, slots: &[Slot], list: u8) {
        self.store.renew_all(&mut self.lists[list as usize], slots);
    }

    /// Gives the oldest of a list to new keys, see [`Store::replace_oldest`].
    pub fn replace_oldest(&mut self, list: u8, first: u64, count: u64, slots: &mut Vec<Slot>) -> u64 {
        self.store.replace_oldest(&self.lists[list as usize], first, count, slots)
    }

    /// Takes the ghost of a missing key, if there is one, out of its list.
    pub fn take_ghost(&mut self, key: u64) -> Admission {
        self.store.find_any(key).map_or(Admission::New, |slot| {
            self.leave(slot);
            Admission::Ghost(slot)
        })
    }

    /// Makes an object a ghost, the newest of a list; returns its key.
    pub fn retire(&mut self, slot: Slot, list: u8) -> u64 {
        self.shift(slot, list);
        self.store.retire(slot)
    }

    /// Forgets an entry; returns its key.
    #[inline]
    pub fn expel(&mut self, slot: Slot) -> u64 {
        self.leave(slot);
        self.store.forget(slot)
    }

    /// Forgets the oldest of a list. Returns whether there was one.
    pub fn expel_oldest(&mut self, list: u8) -> bool {
        self.oldest(list).map(|slot| self.expel(slot)).is_some()
    }

    /// Forgets the oldest of a list until it has at most `max_bytes`.
    pub fn trim(&mut self, list: u8, max_bytes: u64) {
        while self.bytes(list) > max_bytes && self.expel_oldest(list) {}
    }

    /// Returns the keys of a list from oldest to newest.
    #[cfg(test)]
    pub(crate) fn keys(&self, list: u8) -> Vec<u64> {
        self.store.keys(&self.lists[list as usize])
    }
}
