//! The object store of every policy: entries in one array, linked into lists by their slots, found by one index.
//!
//! Lists are circular through a sentinel entry of their own, so linking and unlinking need no special case. Slots of forgotten
//! entries are used again: nothing is allocated once the array has grown to what the cache holds.

use super::block_index::Cursor;
pub use super::entry::{Entry, NONE, Slot};
use super::index::{Index, Keys};

/// Largest capacity of a cache, in bytes: sums of sizes, ghosts included, stay exact, as integers and as real numbers.
pub const MAX_CAPACITY: u64 = 1 << 53;

/// A list of entries from oldest to newest.
#[derive(Debug)]
pub struct List {
    head: Slot,
    /// Sum of the entries' sizes.
    pub bytes: u64,
}

impl List {
    /// Stands for a list that a policy does not have.
    pub(crate) const ABSENT: Self = Self { head: NONE, bytes: 0 };
}

/// Entries, index and room.
#[derive(Debug)]
pub struct Store {
    entries: Vec<Entry>,
    index: Index,
    free: Slot,
    /// Room, in bytes (or blocks).
    pub capacity: u64,
    pub(crate) reserved: u64,
    /// Room taken by what is in the cache.
    pub used: u64,
    /// Objects in the cache.
    pub len: u64,
    /// Entries that are remembered without their data.
    ghosts: u64,
}

impl Store {
    /// An empty store with room for `capacity` bytes (or blocks), at most [`MAX_CAPACITY`].
    #[must_use]
    pub fn new(capacity: u64, keys: Keys) -> Self {
        let capacity = capacity.min(MAX_CAPACITY);
        Self { entries: Vec::new(), index: Index::new(keys), free: NONE, capacity, reserved: 0, used: 0, len: 0, ghosts: 0 }
    }

    /// Changes the room. Evicting what is too much is the caller's.
    pub(crate) fn resize(&mut self, capacity: u64) {
        self.capacity = capacity.min(MAX_CAPACITY);
    }

    /// A new, empty list.
    pub fn list(&mut self) -> List {
        let head = self.allocate(Entry { key: 0, size: 0, newer: 0, older: 0, count: 0, list: u8::MAX, resident: false });
        let entry = &mut self.entries[head as usize];
        (entry.newer, entry.older) = (head, head);
        List { head, bytes: 0 }
    }

    fn allocate(&mut self, entry: Entry) -> Slot {
        let slot = self.free;
        if slot == NONE {
            self.entries.push(entry);
            return Slot::try_from(self.entries.len() - 1).unwrap_or(NONE); // memory ends long before slots do
        }
        self.free = self.entries[slot as usize].newer;
        self.entries[slot as usize] = entry;
        slot
    }

    /// Whether the index can hold `key`.
    pub(crate) fn takes(&self, key: u64) -> bool {
        self.index.takes(key)
    }

    /// The entry of `key`, in the cache or a ghost. O(1) expected.
    #[inline]
    #[must_use]
    pub fn find_any(&self, key: u64) -> Option<Slot> {
        let slot = self.index.get(key, &self.entries);
        (slot != NONE).then_some(slot)
    }

    /// The entry of `key` in the cache. O(1) expected.
    #[inline]
    #[must_use]
    pub fn find(&self, key: u64) -> Option<Slot> {
        self.find_any(key).filter(|slot| self.entries[*slot as usize].resident)
    }

    /// The entries in the cache of the keys around `key`, and of `key` itself.
    #[must_use]
    pub fn around_key(&self, key: u64) -> Cursor {
        let mut cursor = self.index.around(key, &self.entries);
        for slot in cursor.slots_mut().iter_mut().filter(|_| self.ghosts > 0) {
            if *slot != NONE && !self.entries[*slot as usize].resident {
                *slot = NONE;
            }
        }
        cursor
    }

    /// Whether `slot` is an object in the cache.
    #[must_use]
    pub fn is_resident(&self, slot: Slot) -> bool {
        self.entries.get(slot as usize).is_some_and(|entry| entry.resident)
    }

    /// An entry by its slot.
    #[inline]
    #[must_use]
    pub fn entry(&self, slot: Slot) -> &Entry {
        &self.entries[slot as usize]
    }

    /// An entry by its slot, to change its marks.
    #[inline]
    pub fn entry_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.entries[slot as usize]
    }

    /// Takes `key`, which is unknown, into the cache; it is in no list yet.
    #[inline]
    pub fn add(&mut self, key: u64, size: u64) -> Slot {
        let slot = self.allocate(Entry { key, size, newer: NONE, older: NONE, count: 0, list: u8::MAX, resident: true });
        self.index.insert(key, slot);
        self.used += size;
        self.len += 1;
        slot
    }

    /// Takes a ghost, which is in no list, back into the cache with a size of `size`.
    pub fn revive(&mut self, slot: Slot, size: u64) {
        let entry = &mut self.entries[slot as usize];
        (entry.size, entry.count, entry.resident) = (size, 0, true);
        self.used += size;
        self.len += 1;
        self.ghosts -= 1;
    }

    /// Makes an object of the cache a ghost; returns its key.
    pub fn retire(&mut self, slot: Slot) -> u64 {
        let entry = &mut self.entries[slot as usize];
        entry.resident = false;
        self.used -= entry.size;
        self.len -= 1;
        self.ghosts += 1;
        entry.key
    }

    /// Forgets an entry, which is in no list; returns its key.
    #[inline]
    pub fn forget(&mut self, slot: Slot) -> u64 {
        let entry = &mut self.entries[slot as usize];
        let key = entry.key;
        if entry.resident {
            entry.resident = false;
            self.used -= entry.size;
            self.len -= 1;
        } else {
            self.ghosts -= 1;
        }
        entry.newer = self.free;
        self.free = slot;
        self.index.remove(key, slot);
        key
    }

    /// The oldest entry of a list, [`NONE`] when it is empty.
    #[inline]
    #[must_use]
    pub fn oldest(&self, list: &List) -> Slot {
        let slot = self.entries[list.head as usize].newer;
        if slot == list.head { NONE } else { slot }
    }

    /// The newest entry of a list, [`NONE`] when it is empty.
    #[must_use]
    pub fn newest(&self, list: &List) -> Slot {
        self.older(list, list.head)
    }

    /// The entry next older than `slot` in its list, [`NONE`] at the end.
    #[must_use]
    pub fn older(&self, list: &List, slot: Slot) -> Slot {
        let next = self.entries[slot as usize].older;
        if next == list.head { NONE } else { next }
    }

    /// The entry next newer than `slot` in its list, [`NONE`] at the end.
    #[must_use]
    pub fn newer(&self, list: &List, slot: Slot) -> Slot {
        let next = self.entries[slot as usize].newer;
        if next == list.head { NONE } else { next }
    }

    /// Bytes of memory held, the index included.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.entries.capacity() * size_of::<Entry>() + self.index.memory_bytes()) as u64
    }

    /// The entry that is next newer than `slot`, from the newest on to the oldest; `slot` itself when it is alone.
    #[inline]
    #[must_use]
    pub fn around(&self, list: &List, slot: Slot) -> Slot {
        let next = self.entries[slot as usize].newer;
        if next == list.head { self.entries[next as usize].newer } else { next }
    }

    /// Makes an unlinked entry the newest of a list.
    #[inline]
    pub fn push(&mut self, list: &mut List, slot: Slot) {
        self.push_before(list, list.head, slot);
    }

    /// Puts an unlinked entry next older than `at`, which is in the list.
    #[inline]
    pub fn push_before(&mut self, list: &mut List, at: Slot, slot: Slot) {
        let older = self.entries[at as usize].older;
        self.entries[at as usize].older = slot;
        self.entries[older as usize].newer = slot;
        let entry = &mut self.entries[slot as usize];
        (entry.newer, entry.older) = (at, older);
        list.bytes += entry.size;
    }

    /// Takes an entry out of its list.
    #[inline]
    pub fn unlink(&mut self, list: &mut List, slot: Slot) {
        let Entry { newer, older, size, .. } = self.entries[slot as usize];
        self.entries[newer as usize].older = older;
        self.entries[older as usize].newer = newer;
        list.bytes -= size;
    }

    /// Makes an entry of a list its newest.
    #[inline]
    pub fn renew(&mut self, list: &mut List, slot: Slot) {
        if self.entries[list.head as usize].older != slot {
            self.unlink(list, slot);
            self.push(list, slot);
        }
    }

    /// Makes entries of a list its newest, one after the other: entries that stand so in the list move as one.
    pub fn renew_all(&mut self, list: &mut List, slots: &[Slot]) {
        let mut rest = slots;
        while let Some(first) = rest.first() {
            let mut run = 1;
            while run < rest.len() && self.entries[rest[run - 1] as usize].newer == rest[run] {
                run += 1;
            }
            self.renew_run(list, *first, rest[run - 1]);
            rest = &rest[run..];
        }
    }

    /// Makes entries that stand one after the other, from `from` to `to`, the newest of their list.
    #[inline]
    fn renew_run(&mut self, list: &List, from: Slot, to: Slot) {
        let newest = self.entries[list.head as usize].older;
        if newest == to {
            return;
        }
        let (before, after) = (self.entries[from as usize].older, self.entries[to as usize].newer);
        self.link(before, after);
        self.link(newest, from);
        self.link(to, list.head);
    }

    /// Makes two entries neighbours.
    #[inline]
    fn link(&mut self, older: Slot, newer: Slot) {
        self.entries[older as usize].newer = newer;
        self.entries[newer as usize].older = older;
    }

    /// Takes in keys from `first` on, all missing and of size 1, in a cache that is full of objects of size 1 in one list: each evicts the
    /// oldest and becomes the newest in its place. Returns how many of the `count` keys: none in any other cache.
    pub fn replace_oldest(&mut self, list: &List, first: u64, count: u64, slots: &mut Vec<Slot>) -> u64 {
        let is_full = self.used == self.capacity && self.used == self.len && self.ghosts == 0 && self.reserved == 0;
        let count = count.min(self.len);
        if !is_full || count == 0 || !self.takes(first + count - 1) {
            return 0;
        }
        let oldest = self.entries[list.head as usize].newer;
        let (mut slot, mut newest) = (oldest, oldest);
        for key in first..first + count {
            let entry = &mut self.entries[slot as usize];
            let gone = std::mem::replace(&mut entry.key, key);
            let next = entry.newer;
            self.index.remove(gone, slot);
            self.index.insert(key, slot);
            slots.push(slot);
            (newest, slot) = (slot, next);
        }
        self.renew_run(list, oldest, newest);
        count
    }

    /// Keys of a list from oldest to newest, for tests.
    #[cfg(test)]
    pub(crate) fn keys(&self, list: &List) -> Vec<u64> {
        let mut keys = Vec::new();
        let mut slot = self.entries[list.head as usize].newer;
        while slot != list.head {
            keys.push(self.entries[slot as usize].key);
            slot = self.entries[slot as usize].newer;
        }
        keys
    }
}
