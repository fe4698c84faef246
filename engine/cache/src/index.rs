//! Where a key's entry is: the one index that every policy uses.
//!
//! Two forms. *Hashed* takes any key: open addressing with linear probing over one array of 64-bit cells, each cell 32 bits of
//! the key's hash beside a 32-bit slot, so that a probe compares hashes without leaving the array and a removal can shift its
//! followers back (no tombstones, so no rebuilding in a steady state). *Dense* is for keys that are numbered from zero, as the
//! objects of a loaded trace are: the slot stands at the key's own place.
//!
//! *Grouped* is for blocks that are asked for in runs: neighbours stand together, eight to a group, and a [`Cursor`] remembers
//! the group that it last saw.
//!
//! The index is never iterated, so its order cannot reach a result.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::entry::{Entry, NONE, Slot};

/// A cell that holds nothing.
const EMPTY: u64 = u64::MAX;

/// Which keys a cache will be asked for; the answers are the same, the speed is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Any 64-bit number.
    Any,
    /// Numbers below this one. Others are never found and cannot be admitted.
    Below(u32),
    /// Any 64-bit number, mostly one after the other.
    Runs,
}

const NEIGHBOURS_LOG2: u32 = 3;
const NEIGHBOURS: usize = 1 << NEIGHBOURS_LOG2;
type Group = [Slot; NEIGHBOURS];

/// The group of a key and its place there.
#[expect(clippy::cast_possible_truncation, reason = "below eight")]
fn neighbours(key: u64) -> (u64, usize) {
    (key >> NEIGHBOURS_LOG2, key as usize & (NEIGHBOURS - 1))
}

/// Remembers the group of the last key looked up. It is stale once something comes into the cache or leaves it.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    group: u64,
    slots: Group,
}

impl Cursor {
    /// Whether it has seen `key`.
    #[inline]
    #[must_use]
    pub fn covers(&self, key: u64) -> bool {
        self.group == neighbours(key).0
    }

    /// The slot of `key`, which it has seen.
    #[inline]
    #[must_use]
    pub fn slot(&self, key: u64) -> Option<Slot> {
        let slot = self.slots[neighbours(key).1];
        (slot != NONE).then_some(slot)
    }

    /// What it has seen.
    pub(crate) fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }
}

impl Default for Cursor {
    fn default() -> Self {
        Self { group: NO_GROUP, slots: [NONE; NEIGHBOURS] }
    }
}

/// Hash of a group's number: multiply and fold.
#[derive(Debug, Default)]
pub(crate) struct GroupHasher(u64);

impl Hasher for GroupHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// Where the groups are. What comes in and what leaves each goes through its keys in order, so the place of the last group of
/// either is remembered: most steps look nothing up.
#[derive(Debug)]
pub(crate) struct Groups {
    places: HashMap<u64, u32, BuildHasherDefault<GroupHasher>>,
    slots: Vec<Group>,
    free: Vec<u32>,
    /// Number and place of the last group that a key was added to.
    added: (u64, u32),
    /// Number and place of the last group that a key was removed from.
    removed: (u64, u32),
}

/// No group has this number: it would begin at 2^67.
const NO_GROUP: u64 = u64::MAX;

impl Default for Groups {
    fn default() -> Self {
        let none = (NO_GROUP, NONE);
        Self { places: HashMap::default(), slots: Vec::new(), free: Vec::new(), added: none, removed: none }
    }
}

impl Groups {
    fn get(&self, group: u64) -> Group {
        self.places.get(&group).map_or([NONE; NEIGHBOURS], |place| self.slots[*place as usize])
    }

    fn insert(&mut self, key: u64, slot: Slot) {
        let (group, neighbour) = neighbours(key);
        if self.added.0 != group {
            let Self { places, slots, free, .. } = self;
            let place = *places.entry(group).or_insert_with(|| {
                free.pop().unwrap_or_else(|| {
                    slots.push([NONE; NEIGHBOURS]);
                    u32::try_from(slots.len() - 1).unwrap_or(NONE) // no more than slots
                })
            });
            self.added = (group, place);
        }
        self.slots[self.added.1 as usize][neighbour] = slot;
    }

    fn remove(&mut self, key: u64) {
        let (group, neighbour) = neighbours(key);
        if self.removed.0 != group {
            let Some(place) = self.places.get(&group) else { return };
            self.removed = (group, *place);
        }
        let place = self.removed.1;
        let slots = &mut self.slots[place as usize];
        slots[neighbour] = NONE;
        if *slots == [NONE; NEIGHBOURS] {
            self.places.remove(&group);
            self.free.push(place);
            self.removed.0 = NO_GROUP;
            if self.added.0 == group {
                self.added.0 = NO_GROUP;
            }
        }
    }
}

#[derive(Debug)]
pub(crate) enum Index {
    Hashed { cells: Vec<u64>, used: usize, shift: u32 },
    Dense(Vec<u32>),
    Grouped(Groups),
}

/// 32 well-mixed bits of a key: two rounds of multiply and fold, so that block numbers in strides spread too.
fn hash(key: u64) -> u32 {
    let once = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let twice = (once ^ (once >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (twice >> 32) as u32
}

/// The slot in a cell: its lower half.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn slot_of(cell: u64) -> Slot {
    cell as Slot
}

/// The hash in a cell.
fn hash_of(cell: u64) -> u32 {
    (cell >> 32) as u32
}

impl Index {
    pub fn new(keys: Keys) -> Self {
        match keys {
            Keys::Any => Self::Hashed { cells: vec![EMPTY; 16], used: 0, shift: 32 - 4 },
            Keys::Below(bound) => Self::Dense(vec![NONE; bound as usize]),
            Keys::Runs => Self::Grouped(Groups::default()),
        }
    }

    /// Whether the index can hold `key`.
    pub fn takes(&self, key: u64) -> bool {
        match self {
            Self::Hashed { .. } | Self::Grouped(_) => true,
            Self::Dense(places) => key < places.len() as u64,
        }
    }

    /// The slot of `key` among `entries`, or [`NONE`]. O(1) expected.
    #[inline]
    pub fn get(&self, key: u64, entries: &[Entry]) -> Slot {
        match self {
            Self::Dense(places) => usize::try_from(key).ok().and_then(|key| places.get(key)).copied().unwrap_or(NONE),
            Self::Hashed { cells, shift, .. } => {
                let hash = hash(key);
                let mut at = (hash >> shift) as usize;
                loop {
                    let cell = cells[at];
                    if cell == EMPTY {
                        return NONE;
                    }
                    if hash_of(cell) == hash && entries[slot_of(cell) as usize].key == key {
                        return slot_of(cell);
                    }
                    at = (at + 1) & (cells.len() - 1);
                }
            }
            Self::Grouped(groups) => groups.get(neighbours(key).0)[neighbours(key).1],
        }
    }

    /// The slots of the keys around `key`, and of `key` itself.
    pub fn around(&self, key: u64, entries: &[Entry]) -> Cursor {
        let (group, _) = neighbours(key);
        let slots = match self {
            Self::Grouped(groups) => groups.get(group),
            _ => std::array::from_fn(|place| self.get((group << NEIGHBOURS_LOG2) + place as u64, entries)),
        };
        Cursor { group, slots }
    }

    /// Notes that `key`, which is absent, is at `slot`. O(1) expected; allocates only while the index grows.
    #[inline]
    pub fn insert(&mut self, key: u64, slot: Slot) {
        match self {
            Self::Dense(places) => {
                if let Some(place) = usize::try_from(key).ok().and_then(|key| places.get_mut(key)) {
                    *place = slot;
                }
            }
            Self::Hashed { cells, used, shift } => {
                if (*used + 1) * 8 > cells.len() * 5 && *shift > 0 {
                    grow(cells, shift);
                }
                *used += 1;
                place(cells, *shift, u64::from(hash(key)) << 32 | u64::from(slot));
            }
            Self::Grouped(groups) => groups.insert(key, slot),
        }
    }

    /// Forgets `key`, which is at `slot`. O(1) expected.
    #[inline]
    pub fn remove(&mut self, key: u64, slot: Slot) {
        match self {
            Self::Dense(places) => {
                if let Some(place) = usize::try_from(key).ok().and_then(|key| places.get_mut(key)) {
                    *place = NONE;
                }
            }
            Self::Hashed { cells, used, shift } => {
                let wrap = cells.len() - 1;
                let mut hole = (hash(key) >> *shift) as usize;
                while slot_of(cells[hole]) != slot {
                    if cells[hole] == EMPTY {
                        return;
                    }
                    hole = (hole + 1) & wrap;
                }
                *used -= 1;
                let mut at = hole;
                loop {
                    at = (at + 1) & wrap;
                    let cell = cells[at];
                    if cell == EMPTY {
                        break;
                    }
                    let first = (hash_of(cell) >> *shift) as usize;
                    // A cell may move back into the hole unless its first place lies behind the hole.
                    if (at.wrapping_sub(first) & wrap) >= (at.wrapping_sub(hole) & wrap) {
                        cells[hole] = cell;
                        hole = at;
                    }
                }
                cells[hole] = EMPTY;
            }
            Self::Grouped(groups) => groups.remove(key),
        }
    }
}

fn place(cells: &mut [u64], shift: u32, cell: u64) {
    let mut at = (hash_of(cell) >> shift) as usize;
    while cells[at] != EMPTY {
        at = (at + 1) & (cells.len() - 1);
    }
    cells[at] = cell;
}

fn grow(cells: &mut Vec<u64>, shift: &mut u32) {
    let old = std::mem::take(cells);
    *cells = vec![EMPTY; old.len() * 2];
    *shift -= 1;
    for cell in old {
        if cell != EMPTY {
            place(cells, *shift, cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::store::Store;

    proptest! {
        #[test]
        fn it_agrees_with_an_ordered_map_under_inserts_and_removals(
            steps in proptest::collection::vec((any::<bool>(), 0u64..60), 0..400),
            stride in prop_oneof![Just(1u64), Just(1 << 40), Just(u64::MAX / 61)],
            keys in prop_oneof![Just(Keys::Any), Just(Keys::Runs)],
        ) {
            let mut store = Store::new(1000, keys);
            let mut map = BTreeMap::new();
            for (insert, n) in steps {
                let key = n.wrapping_mul(stride);
                match (insert, map.get(&key).copied()) {
                    (true, None) => { map.insert(key, store.add(key, 1)); }
                    (false, Some(slot)) => { map.remove(&key); store.forget(slot); }
                    _ => {}
                }
                for n in 0..60u64 {
                    let key = n.wrapping_mul(stride);
                    prop_assert_eq!(store.find_any(key), map.get(&key).copied());
                    prop_assert_eq!(store.around_key(key).slot(key), map.get(&key).copied());
                }
            }
        }
    }

    #[test]
    fn what_is_only_remembered_is_not_around() {
        for keys in [Keys::Any, Keys::Runs] {
            let mut store = Store::new(1000, keys);
            let slots = [store.add(8, 1), store.add(9, 1)];
            store.retire(slots[0]);
            let around = store.around_key(8);
            assert_eq!((around.slot(8), around.slot(9)), (None, Some(slots[1])));
        }
    }
}
