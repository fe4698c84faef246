//! Where the entries of neighbouring keys are: an index for blocks that are asked for in runs.
//!
//! Neighbours stand together, eight to a group, and a [`Cursor`] remembers the group that it last saw. Groups are found by open
//! addressing with linear probing over their numbers, which stand apart from the slots, so that a probe stays within few cache
//! lines. A removal writes one slot and reads nothing: a cell whose keys have all left stays where it is until the cells run
//! out, and only then are those in use moved to a fresh table. (A removal that looks whether its group is empty waits for
//! memory at a branch that no processor can predict; that alone was a fifth of the time of a whole stack.)

use super::entry::{NONE, Slot};

const NEIGHBOURS_LOG2: u32 = 3;
const NEIGHBOURS: usize = 1 << NEIGHBOURS_LOG2;
type Group = [Slot; NEIGHBOURS];

const NOBODY: Group = [NONE; NEIGHBOURS];

/// No group has this number: it would begin at 2^67.
const NO_GROUP: u64 = u64::MAX;

/// Cells of a new index.
const FIRST_CELLS_LOG2: u32 = 4;

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
    /// Return the known slots around `key`, each from `slot_of`.
    pub(super) fn of(key: u64, slot_of: impl Fn(u64) -> Slot) -> Self {
        let (group, _) = neighbours(key);
        Self { group, slots: std::array::from_fn(|place| slot_of((group << NEIGHBOURS_LOG2) + place as u64)) }
    }

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

    /// The slots of `key`, which it has seen, and of the keys after it up to before `end`, as far as it has seen them.
    #[inline]
    #[must_use]
    pub fn slots_from(&self, key: u64, end: u64) -> &[Slot] {
        let (_, from) = neighbours(key);
        let count = usize::try_from(end - key).unwrap_or(NEIGHBOURS).min(NEIGHBOURS - from);
        &self.slots[from..from + count]
    }

    /// Return the slots seen.
    pub(crate) fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }
}

impl Default for Cursor {
    fn default() -> Self {
        Self { group: NO_GROUP, slots: NOBODY }
    }
}

/// Groups of slots, found by their numbers.
#[derive(Debug)]
pub(crate) struct BlockIndex {
    /// The number of the group in each cell.
    numbers: Vec<u64>,
    /// Its slots.
    slots: Vec<Group>,
    /// Cells that hold a group, with keys or without.
    used: usize,
    /// The upper bits of a hash that name a cell.
    shift: u32,
    /// The table of before, which the next move fills again.
    spare: (Vec<u64>, Vec<Group>),
    /// Group and cell that a key was last added to: keys come in order, so most steps look nothing up.
    added: (u64, usize),
    /// Group and cell that a key was last removed from.
    removed: (u64, usize),
}

impl Default for BlockIndex {
    fn default() -> Self {
        let cells = 1 << FIRST_CELLS_LOG2;
        Self {
            numbers: vec![NO_GROUP; cells],
            slots: vec![NOBODY; cells],
            used: 0,
            shift: u64::BITS - FIRST_CELLS_LOG2,
            spare: (Vec::new(), Vec::new()),
            added: (NO_GROUP, 0),
            removed: (NO_GROUP, 0),
        }
    }
}

impl BlockIndex {
    /// The cell of a group, or the free one where it would stand. O(1) expected.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "as many upper bits as cells have")]
    fn find(&self, group: u64) -> usize {
        let wrap = self.numbers.len() - 1;
        let mut at = (group.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize & wrap;
        while self.numbers[at] != group && self.numbers[at] != NO_GROUP {
            at = (at + 1) & wrap;
        }
        at
    }

    /// The slot of a key, or [`NONE`].
    #[inline]
    pub fn get(&self, key: u64) -> Slot {
        let (group, place) = neighbours(key);
        self.slots[self.find(group)][place]
    }

    /// The slots of the keys around `key`, and of `key` itself.
    #[inline]
    pub fn around(&self, key: u64) -> Cursor {
        let (group, _) = neighbours(key);
        Cursor { group, slots: self.slots[self.find(group)] }
    }

    /// Notes that `key` is at `slot`.
    #[inline]
    pub fn insert(&mut self, key: u64, slot: Slot) {
        let (group, place) = neighbours(key);
        if self.added.0 != group {
            let mut cell = self.find(group);
            if self.numbers[cell] == NO_GROUP {
                if (self.used + 1) * 8 > self.numbers.len() * 5 {
                    self.move_to_a_fresh_table();
                    cell = self.find(group);
                }
                self.used += 1;
                self.numbers[cell] = group;
            }
            self.added = (group, cell);
        }
        self.slots[self.added.1][place] = slot;
    }

    /// Forgets `key`, which is there.
    #[inline]
    pub fn remove(&mut self, key: u64) {
        let (group, place) = neighbours(key);
        if self.removed.0 != group {
            self.removed = (group, self.find(group));
        }
        self.slots[self.removed.1][place] = NONE;
    }

    /// Moves the groups that have keys to a table in which at most 5/16 of the cells are used: as many moves later as were made
    /// now is the next one.
    fn move_to_a_fresh_table(&mut self) {
        let live = self.slots.iter().filter(|slots| **slots != NOBODY).count();
        let mut cells = self.numbers.len();
        while live * 16 > cells * 5 {
            cells *= 2;
            self.shift -= 1;
        }
        std::mem::swap(&mut self.numbers, &mut self.spare.0);
        std::mem::swap(&mut self.slots, &mut self.spare.1);
        self.numbers.clear();
        self.numbers.resize(cells, NO_GROUP);
        self.slots.clear();
        self.slots.resize(cells, NOBODY);
        self.used = live;
        (self.added.0, self.removed.0) = (NO_GROUP, NO_GROUP);
        for cell in 0..self.spare.0.len() {
            let slots = self.spare.1[cell];
            if slots != NOBODY {
                let to = self.find(self.spare.0[cell]);
                (self.numbers[to], self.slots[to]) = (self.spare.0[cell], slots);
            }
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let cells = self.numbers.capacity() + self.spare.0.capacity();
        cells * (size_of::<u64>() + size_of::<Group>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_come_and_go_leave_the_table_as_small_as_what_stays() {
        let mut groups = BlockIndex::default();
        for key in 0..1_000_000u64 {
            groups.insert(key * 8, 1);
            if key >= 100 {
                groups.remove((key - 100) * 8);
            }
        }
        let kept = (0..1_000_000u64).filter(|key| groups.get(key * 8) != NONE).count();
        assert_eq!((kept, groups.numbers.len()), (100, 512));
    }

    #[test]
    fn a_cursor_sees_its_neighbours_only() {
        let mut groups = BlockIndex::default();
        groups.insert(9, 7);
        let around = groups.around(12);
        assert_eq!((around.covers(8), around.covers(16), around.slot(9), around.slot(12)), (true, false, Some(7), None));
    }
}
