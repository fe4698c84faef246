//! A block map in order of use (least recently used first out), shared by the memory cache and the SSD tier.
//!
//! Blocks that are on their way are in the map but not in the order: they cannot be evicted. All operations are O(1) and
//! allocate only while the map grows to its capacity. The index holds neighbouring blocks together, eight to an entry, and a
//! [`Cursor`] remembers the entry it last saw, because requests go through blocks in order.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::prefetch::Range;

/// Hash of a block number: multiply and fold. The map is never iterated, so its order cannot reach a result.
#[derive(Default)]
pub struct BlockHasher(u64);

impl Hasher for BlockHasher {
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

/// Index of no node.
pub const NONE: u32 = u32::MAX;

/// A block in the map.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    block: u64,
    newer: u32,
    older: u32,
    /// The fetch that brings the block, or [`NONE`] when it is present.
    pub fetch: u32,
    /// The prefetch that brought the block, or [`NONE`] when it was read on demand or has been used.
    pub prefetch: u32,
}

const NEIGHBOURS_LOG2: u32 = 3;
const NEIGHBOURS: usize = 1 << NEIGHBOURS_LOG2;
type Entry = [u32; NEIGHBOURS];

/// The entry and the place in it of a block.
#[allow(clippy::cast_possible_truncation)] // below eight
fn position(block: u64) -> (u64, usize) {
    (block >> NEIGHBOURS_LOG2, block as usize & (NEIGHBOURS - 1))
}

/// Remembers the index entry of the last block looked up. It is stale once blocks are added or removed.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    entry: u64,
    places: Entry,
}

impl Default for Cursor {
    fn default() -> Self {
        Self { entry: u64::MAX, places: [NONE; NEIGHBOURS] } // no block has this entry: it would begin at 2^67
    }
}

/// Blocks in order of use.
#[derive(Debug)]
pub struct Lru {
    places: HashMap<u64, Entry, BuildHasherDefault<BlockHasher>>,
    count: u64,
    nodes: Vec<Node>,
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
    capacity: u64,
}

impl Lru {
    /// A map for at most `capacity` blocks.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { places: HashMap::default(), count: 0, nodes: Vec::new(), free: Vec::new(), newest: NONE, oldest: NONE, capacity }
    }

    /// A map for at most `capacity` blocks of `block_bytes`, in which the blocks of `ranges` (in bytes) are present as far as they fit.
    #[must_use]
    pub fn primed(capacity: u64, block_bytes: u64, ranges: &[Range]) -> Self {
        let mut lru = Self::new(capacity);
        for range in ranges {
            for block in range.start / block_bytes..range.end.div_ceil(block_bytes) {
                if lru.len() < capacity && lru.find(block).is_none() {
                    let place = lru.add(block, NONE, NONE);
                    lru.arrive(place);
                }
            }
        }
        lru
    }

    /// The node of a block, present or on its way.
    #[must_use]
    pub fn find(&self, block: u64) -> Option<u32> {
        self.find_next(&mut Cursor::default(), block)
    }

    /// The node of a block, looked up from where `cursor` is.
    #[must_use]
    pub fn find_next(&self, cursor: &mut Cursor, block: u64) -> Option<u32> {
        let (entry, place) = position(block);
        if cursor.entry != entry {
            *cursor = Cursor { entry, places: self.places.get(&entry).copied().unwrap_or([NONE; NEIGHBOURS]) };
        }
        let place = cursor.places[place];
        (place != NONE).then_some(place)
    }

    /// A node by its number.
    #[must_use]
    pub fn node(&self, place: u32) -> &Node {
        &self.nodes[place as usize]
    }

    /// A node by its number, to change its marks.
    pub fn node_mut(&mut self, place: u32) -> &mut Node {
        &mut self.nodes[place as usize]
    }

    /// Adds a block that is on its way with `fetch`, evicting the least recently used present block when full.
    pub fn add(&mut self, block: u64, fetch: u32, prefetch: u32) -> u32 {
        if self.count >= self.capacity && self.oldest != NONE {
            self.remove(self.oldest);
        }
        let node = Node { block, newer: NONE, older: NONE, fetch, prefetch };
        let place = if let Some(place) = self.free.pop() {
            self.nodes[place as usize] = node;
            place
        } else {
            self.nodes.push(node);
            u32::try_from(self.nodes.len() - 1).unwrap_or(NONE) // the plan bounds the cache to fewer blocks
        };
        let (entry, position) = position(block);
        self.places.entry(entry).or_insert([NONE; NEIGHBOURS])[position] = place;
        self.count += 1;
        place
    }

    /// The block has arrived: it becomes the most recently used.
    pub fn arrive(&mut self, place: u32) {
        self.nodes[place as usize].fetch = NONE;
        self.link(place);
    }

    /// The block is used: it becomes the most recently used.
    pub fn touch(&mut self, place: u32) {
        if self.newest != place {
            self.unlink(place);
            self.link(place);
        }
    }

    /// Removes a present block.
    pub fn remove(&mut self, place: u32) {
        self.unlink(place);
        let (entry, position) = position(self.nodes[place as usize].block);
        if let Some(places) = self.places.get_mut(&entry) {
            places[position] = NONE;
            if *places == [NONE; NEIGHBOURS] {
                self.places.remove(&entry);
            }
        }
        self.count -= 1;
        self.free.push(place);
    }

    /// Blocks in the map.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn link(&mut self, place: u32) {
        let newest = self.newest;
        let node = &mut self.nodes[place as usize];
        node.newer = NONE;
        node.older = newest;
        if newest == NONE {
            self.oldest = place;
        } else {
            self.nodes[newest as usize].newer = place;
        }
        self.newest = place;
    }

    fn unlink(&mut self, place: u32) {
        let Node { newer, older, .. } = self.nodes[place as usize];
        if newer == NONE {
            self.newest = older;
        } else {
            self.nodes[newer as usize].older = older;
        }
        if older == NONE {
            self.oldest = newer;
        } else {
            self.nodes[older as usize].newer = newer;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_block_on_its_way_is_not_evicted() {
        let mut lru = Lru::new(1);
        let on_its_way = lru.add(1, 7, NONE);
        lru.add(2, 8, NONE);
        assert_eq!(lru.find(1), Some(on_its_way));
    }

    proptest! {
        #[test]
        fn it_holds_the_same_blocks_as_a_plain_list_in_order_of_use(blocks in proptest::collection::vec(0u64..20, 0..300), capacity in 1u64..8) {
            let mut lru = Lru::new(capacity);
            let mut list: VecDeque<u64> = VecDeque::new();
            for block in blocks {
                if let Some(place) = lru.find(block) {
                    lru.touch(place);
                    list.retain(|b| *b != block);
                } else {
                    let place = lru.add(block, NONE, NONE);
                    lru.arrive(place);
                    if list.len() as u64 >= capacity {
                        list.pop_back();
                    }
                }
                list.push_front(block);
                prop_assert_eq!(lru.len(), list.len() as u64);
                prop_assert!(list.iter().all(|b| lru.find(*b).is_some()));
            }
        }
    }
}
