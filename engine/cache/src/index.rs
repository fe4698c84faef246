//! Where a key's entry is: the one index that every policy uses.
//!
//! Three forms. *Hashed* takes any key: open addressing with linear probing over one array of 64-bit cells, each cell 32 bits of
//! the key's hash beside a 32-bit slot, so that a probe compares hashes without leaving the array and a removal can shift its
//! followers back (no tombstones, so no rebuilding in a steady state). *Dense* is for keys that are numbered from zero, as the
//! objects of a loaded trace are: the slot stands at the key's own place.
//!
//! *Grouped* is for blocks that are asked for in runs, see `block_index.rs`.
//!
//! The index is never iterated, so its order cannot reach a result.

use super::block_index::{BlockIndex, Cursor};
use super::entry::{Entry, NONE, Slot};

/// A cell that holds nothing.
const EMPTY: u64 = u64::MAX;

/// The kind of keys in a cache. It affects the speed, not the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Any 64-bit number.
    Any,
    /// Numbers below this one. Others are never found and cannot be admitted.
    Below(u32),
    /// Any 64-bit number, mostly one after the other.
    Runs,
}

#[derive(Debug)]
pub(crate) enum Index {
    Hashed { cells: Vec<u64>, used: usize, shift: u32 },
    Dense(Vec<u32>),
    Grouped(BlockIndex),
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
            Keys::Runs => Self::Grouped(BlockIndex::default()),
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
            Self::Grouped(groups) => groups.get(key),
        }
    }

    /// The slots of the keys around `key`, and of `key` itself.
    pub fn around(&self, key: u64, entries: &[Entry]) -> Cursor {
        match self {
            Self::Grouped(groups) => groups.around(key),
            _ => Cursor::of(key, |neighbour| self.get(neighbour, entries)),
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Hashed { cells, .. } => cells.capacity() * size_of::<u64>(),
            Self::Dense(places) => places.capacity() * size_of::<Slot>(),
            Self::Grouped(groups) => groups.memory_bytes(),
        }
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
