//! Dirty data: which blocks each transaction group holds in memory, and how many bytes still wait for the backend.
//!
//! A block is charged with its full size when it first becomes dirty in a group, whatever part of it was written; to write it
//! again in the same group is free, in the next group it is charged again. The charge is released as the block's writes
//! complete, not when the group ends, which is the key to a throttle that steers by dirty data:
//!
//! ```text
//! 2013 to 2.1   each physical write of a block releases block / writes of the block (rounded down)
//! 2.2           the block is released when its last physical write completes
//! before 2013   nothing is released until the group has synced
//! ```
//!
//! What rounding leaves over is dropped when the group's data are written. Source: reference section 1.3.
//!
//! Memory: a group keeps one bit a block in words of 64 neighbours, found by hashing: 16 bytes for each word, in a table that
//! is at most 7/8 full. Four GiB of 8 KiB blocks need 256 KiB when sequential, 16 MiB when every block lies alone.

use super::throttle::{SLOTS, slot, times};

const EMPTY: u64 = u64::MAX;

/// Values by key, at most 7/8 full.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Keys, [`EMPTY`] where there is none, and their values.
    slots: Vec<(u64, u64)>,
    used: usize,
}

impl Table {
    /// The value of a key. O(1).
    #[must_use]
    #[inline]
    pub fn get(&self, key: u64) -> Option<u64> {
        if self.slots.is_empty() {
            return None;
        }
        let (found, value) = self.slots[self.find(key)];
        (found == key).then_some(value)
    }

    /// The value of a key, to be changed; 0 if it had none.
    pub fn entry(&mut self, key: u64) -> &mut u64 {
        if self.used * 8 >= self.slots.len() * 7 {
            self.grow();
        }
        let place = self.find(key);
        let (found, value) = &mut self.slots[place];
        if *found == EMPTY {
            (*found, *value) = (key, 0);
            self.used += 1;
        }
        value
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![(EMPTY, 0); (self.slots.len() * 2).max(64)];
        let old = std::mem::replace(&mut self.slots, larger);
        for entry in old.into_iter().filter(|(key, _)| *key != EMPTY) {
            let place = self.find(entry.0);
            self.slots[place] = entry;
        }
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<(u64, u64)>()) as u64
    }

    /// The place of a key, or the empty place where it would be. The table is never full.
    #[allow(clippy::cast_possible_truncation)] // reduced to the size of the table
    #[inline]
    fn find(&self, key: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & last;
        while self.slots[place].0 != key && self.slots[place].0 != EMPTY {
            place = (place + 1) & last;
        }
        place
    }
}

/// A set of block numbers.
#[derive(Clone, Debug, Default)]
pub struct BlockSet {
    /// Words of 64 blocks by their numbers.
    words: Table,
    blocks: u64,
}

impl BlockSet {
    /// Blocks in the set.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.blocks
    }

    /// Whether no block is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks == 0
    }

    /// Adds the blocks `first..end` and returns how many are new. O(words touched).
    pub fn insert(&mut self, first: u64, end: u64) -> u64 {
        if end == first.wrapping_add(1) {
            let bits = self.words.entry(first / 64);
            let added = !*bits >> (first % 64) & 1; // nearly always one block
            *bits |= 1 << (first % 64);
            self.blocks += added;
            return added;
        }
        let mut added = 0;
        let mut block = first;
        while block < end {
            let word = block / 64;
            let until = end.min((block - block % 64).saturating_add(64));
            let mask = mask(block % 64, until - block);
            let bits = self.words.entry(word);
            added += u64::from((mask & !*bits).count_ones());
            *bits |= mask;
            block = until;
        }
        self.blocks += added;
        added
    }

    /// Takes a block out and returns whether it was in.
    pub fn remove(&mut self, block: u64) -> bool {
        if !self.contains(block) {
            return false;
        }
        *self.words.entry(block / 64) &= !(1 << (block % 64));
        self.blocks -= 1;
        true
    }

    /// Whether a block is in the set. O(1).
    #[must_use]
    #[inline]
    pub fn contains(&self, block: u64) -> bool {
        self.words.get(block / 64).is_some_and(|bits| bits >> (block % 64) & 1 == 1)
    }

    /// Fills `words` with the set's words, in order of their numbers.
    pub fn sorted_words(&self, words: &mut Vec<(u64, u64)>) {
        words.clear();
        words.extend(self.words.slots.iter().filter(|(word, _)| *word != EMPTY));
        words.sort_unstable();
    }

    /// Takes all blocks out; the memory stays for the next group.
    pub fn clear(&mut self) {
        if self.words.used > 0 {
            self.words.slots.fill((EMPTY, 0));
        }
        (self.words.used, self.blocks) = (0, 0);
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.words.memory_bytes()
    }
}

/// `count` set bits from bit `from` on.
fn mask(from: u64, count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { ((1 << count) - 1) << from }
}

/// The dirty data of one group.
#[derive(Clone, Debug, Default)]
struct Account {
    blocks: BlockSet,
    /// Charged and not yet released.
    dirty_bytes: u64,
    /// The blocks in the order in which they became dirty, where that matters.
    order: Vec<u64>,
}

/// The dirty data of all groups.
#[derive(Clone, Debug, Default)]
pub struct Dirty {
    block_bytes: u64,
    /// Whether the order in which blocks become dirty is kept.
    pub keeps_order: bool,
    accounts: [Account; SLOTS],
    total_bytes: u64,
    /// The largest amount released at once for one block, or for a whole group of which nothing was released before, in bytes.
    pub largest_step_bytes: u64,
}

impl Dirty {
    /// No dirty data, in blocks of `block_bytes`.
    #[must_use]
    pub fn new(block_bytes: u64) -> Self {
        Self { block_bytes: block_bytes.max(1), ..Self::default() }
    }

    /// Dirty bytes of all groups.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Bytes of a group that have not been released.
    #[must_use]
    pub fn of_group(&self, group: u64) -> u64 {
        self.accounts[slot(group)].dirty_bytes
    }

    /// The blocks of a group, released or not, until [`Self::finish`].
    #[must_use]
    pub fn blocks(&self, group: u64) -> &BlockSet {
        &self.accounts[slot(group)].blocks
    }

    /// Bytes of all blocks that a group has, released or not.
    #[must_use]
    pub fn charged_bytes(&self, group: u64) -> u64 {
        self.blocks(group).len().saturating_mul(self.block_bytes)
    }

    /// The blocks of a group in the order in which they became dirty, without those that no longer are.
    pub fn order(&mut self, group: u64) -> &mut Vec<u64> {
        let Account { blocks, order, .. } = &mut self.accounts[slot(group)];
        order.retain(|block| blocks.contains(*block));
        order
    }

    /// Whether a block is dirty in any group.
    #[must_use]
    pub fn contains(&self, block: u64) -> bool {
        self.accounts.iter().any(|account| account.blocks.contains(block))
    }

    /// Makes the blocks `first..end` dirty in `group` and returns the bytes charged: those of blocks that were clean in it.
    pub fn charge(&mut self, group: u64, first: u64, end: u64) -> u64 {
        let account = &mut self.accounts[slot(group)];
        let bytes = times(account.blocks.insert(first, end), self.block_bytes);
        account.dirty_bytes += bytes;
        self.total_bytes += bytes;
        if self.keeps_order && bytes > 0 {
            account.order.push(first); // one record at a time, but for a group that is there at the start
        }
        bytes
    }

    /// Releases `each_bytes` for each of `blocks` blocks of a group, as far as the group has so much.
    pub fn release(&mut self, group: u64, blocks: u64, each_bytes: u64) {
        let account = &mut self.accounts[slot(group)];
        let bytes = times(each_bytes, blocks).min(account.dirty_bytes);
        account.dirty_bytes -= bytes;
        self.total_bytes -= bytes;
        self.largest_step_bytes = self.largest_step_bytes.max(each_bytes.min(bytes));
    }

    /// Makes a block clean in a group that is not yet being written; returns the bytes released.
    pub fn retire(&mut self, group: u64, block: u64) -> u64 {
        let was_dirty = self.accounts[slot(group)].blocks.remove(block);
        let before = self.total_bytes;
        self.release(group, u64::from(was_dirty), self.block_bytes);
        before - self.total_bytes
    }

    /// Drops what is left of a group's charge and forgets its blocks. Returns the bytes dropped.
    pub fn finish(&mut self, group: u64) -> u64 {
        let account = &mut self.accounts[slot(group)];
        let left = std::mem::take(&mut account.dirty_bytes);
        self.total_bytes -= left;
        if left == account.blocks.len().saturating_mul(self.block_bytes) {
            self.largest_step_bytes = self.largest_step_bytes.max(left); // nothing of it was released before
        }
        account.blocks.clear();
        account.order.clear();
        left
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.accounts.iter().map(|account| account.blocks.memory_bytes() + (account.order.capacity() * size_of::<u64>()) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_block_is_charged_once_a_group() {
        let mut dirty = Dirty::new(8192);
        assert_eq!(dirty.charge(1, 5, 7), 16384);
        assert_eq!(dirty.charge(1, 6, 8), 8192);
        assert_eq!(dirty.charge(2, 6, 7), 8192, "the next group pays again");
        assert_eq!((dirty.total_bytes(), dirty.of_group(1), dirty.of_group(2)), (32768, 24576, 8192));
    }

    #[test]
    fn rounding_residue_goes_when_the_group_ends() {
        let mut dirty = Dirty::new(1000);
        dirty.charge(1, 0, 1);
        for _ in 0..3 {
            dirty.release(1, 1, 1000 / 3);
        }
        assert_eq!((dirty.total_bytes(), dirty.largest_step_bytes), (1, 333));
        assert_eq!(dirty.finish(1), 1);
        assert_eq!(dirty.total_bytes(), 0);
        assert!(!dirty.contains(0));
    }

    #[test]
    fn dirty_data_never_fall_below_zero() {
        let mut dirty = Dirty::new(10);
        dirty.charge(1, 0, 1);
        dirty.release(1, 5, 10);
        assert_eq!(dirty.total_bytes(), 0);
    }

    #[test]
    fn four_gib_of_scattered_small_blocks_fit_in_16_mib() {
        let mut dirty = Dirty::new(8192);
        for block in 0..(4u64 << 30) / 8192 {
            dirty.charge(1, block * 64, block * 64 + 1);
        }
        assert_eq!(dirty.total_bytes(), 4 << 30);
        assert!(dirty.memory_bytes() <= 16 << 20, "{} bytes", dirty.memory_bytes());
    }

    proptest! {
        #[test]
        fn the_set_agrees_with_a_tree(ranges in proptest::collection::vec((0u64..3000, 0u64..200), 0..60)) {
            let (mut set, mut tree) = (BlockSet::default(), BTreeSet::new());
            for (first, length) in ranges {
                let before = tree.len();
                tree.extend(first..first + length);
                prop_assert_eq!(set.insert(first, first + length), (tree.len() - before) as u64);
            }
            prop_assert_eq!(set.len(), tree.len() as u64);
            let mut words = Vec::new();
            set.sorted_words(&mut words);
            let listed: Vec<u64> = words.iter().flat_map(|(word, bits)| (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)).collect();
            prop_assert_eq!(listed, tree.iter().copied().collect::<Vec<_>>());
            prop_assert!((0..3300).all(|block| set.contains(block) == tree.contains(&block)));
        }
    }
}
