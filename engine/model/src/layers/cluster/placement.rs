//! Where every block lives: the tables of a cluster's five designs, and the nodes that a lookup has to ask.
//!
//! | design | copies are on | the way to them |
//! |---|---|---|
//! | locality | the machine's node, and others drawn at random | a map spread over all nodes, each entry on as many nodes as a block has copies |
//! | hash | nodes drawn from a hash of the address | none: every node computes it |
//! | dedup-pairs | both nodes of the machine's pair, each content once in the pair | the pair's own tables; other nodes ask the pair |
//! | dedup-spread | nodes drawn at random, each content once in the cluster | address to fingerprint, fingerprint to nodes: two tables spread over all nodes |
//! | redirect-pairs | both nodes of the machine's pair | every node knows the owner and sends the request on to it |
//!
//! What is stored is an object: a block, or a content that several blocks have in common. It takes 20 bytes, and a block 1 to 5.
//! Constants: none; the designs are those that public descriptions of five products share, without the products' own numbers.
//! Left out: caches of maps (a map on every node stands for a perfect one), components larger than a block, witnesses, erasure
//! coding, shelves that both nodes of a pair reach (each node has its own devices here), and what a map takes on the devices.

use seeklab_spec::cluster::{ClusterSpec, Design, MAX_COPIES, Maps};

/// No node.
pub const NOWHERE: u16 = u16::MAX;

const READ: u8 = 1;
const DUPLICATE: u8 = 2;
const MOVING: u8 = 4;

/// A stored object and its place.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Nodes of the copies, [`NOWHERE`] for a copy that is lost.
    pub nodes: [u16; MAX_COPIES],
    /// Where on each of them, in blocks.
    pub slots: [u32; MAX_COPIES],
    /// The machine whose block was stored first.
    pub vm: u16,
}

impl Object {
    /// The nodes that hold it.
    pub fn holders(&self) -> impl Iterator<Item = u16> + '_ {
        self.nodes.iter().copied().filter(|node| *node != NOWHERE)
    }
    /// Its slot on a node.
    #[must_use]
    pub fn slot_on(&self, node: u16) -> Option<u32> {
        self.nodes.iter().position(|held| *held == node).map(|at| self.slots[at])
    }
}

/// The blocks of one node.
#[derive(Clone, Debug, Default)]
struct Store {
    free: Vec<u32>,
    next: u32,
    used: u32,
}

/// A virtual disk: blocks from `start` on belong to `vm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Disk {
    /// First block.
    pub start: u32,
    /// Its machine.
    pub vm: u16,
}

/// The tables.
#[derive(Debug)]
pub struct Placement {
    /// Design.
    pub design: Design,
    /// Whether each node can hold blocks.
    pub up: Vec<bool>,
    /// Stored objects.
    pub objects: Vec<Object>,
    object_of: Vec<u32>,
    flags: Vec<u8>,
    disks: Vec<Disk>,
    stores: Vec<Store>,
    /// Blocks that the devices of one node hold.
    node_slots: u32,
    copies: usize,
    maps: Maps,
    salt: u64,
}

/// Well-mixed bits of two numbers (the finaliser of `SplitMix64`).
fn mix(key: u64, salt: u64) -> u64 {
    let mut bits = key.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(salt);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A whole number in `0..bound` from well-mixed bits.
#[allow(clippy::cast_possible_truncation)] // below `bound`
fn below(bits: u64, bound: u32) -> u32 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u32
}

/// `copies` different nodes of `nodes`, each set equally likely; the first is `first` when given.
#[allow(clippy::cast_possible_truncation)] // at most 256 nodes
fn draw(nodes: u32, copies: usize, key: u64, first: Option<u16>) -> [u16; MAX_COPIES] {
    let mut drawn = [NOWHERE; MAX_COPIES];
    for at in 0..copies {
        if let Some(first) = first.filter(|_| at == 0) {
            drawn[0] = first;
            continue;
        }
        let mut node = below(mix(key, at as u64), nodes - at as u32) as u16;
        // Count over those that are taken, from the lowest up.
        let mut taken = [NOWHERE; MAX_COPIES];
        taken[..at].copy_from_slice(&drawn[..at]);
        taken.sort_unstable();
        for other in taken.into_iter().filter(|other| *other != NOWHERE) {
            node += u16::from(node >= other);
        }
        drawn[at] = node;
    }
    drawn
}

impl Placement {
    /// Places `blocks` blocks. `homes` are the nodes of the machines, `salt` the run's random bits. O(blocks).
    #[must_use]
    pub fn new(spec: &ClusterSpec, blocks: u32, disks: Vec<Disk>, homes: &[u16], node_slots: u32, salt: u64) -> Self {
        let mut placement = Self {
            design: spec.design,
            up: vec![true; spec.nodes as usize],
            objects: Vec::with_capacity(blocks as usize),
            object_of: Vec::new(),
            flags: vec![0; blocks as usize],
            disks,
            stores: vec![Store::default(); spec.nodes as usize],
            node_slots: node_slots.max(1),
            copies: spec.copies as usize,
            maps: spec.maps,
            salt,
        };
        if spec.design.is_deduplicated() && spec.fingerprints && spec.duplicates > 0 {
            placement.store_contents(spec.duplicates, blocks, homes);
        } else {
            for block in 0..blocks {
                placement.store(block, homes);
            }
        }
        placement
    }

    /// Stores each content once: in the cluster, or in each pair that has a block of it.
    fn store_contents(&mut self, duplicates: u32, blocks: u32, homes: &[u16]) {
        let content_of = |block: u32| {
            let is_copy = |block: u32, salt: u64| below(mix(u64::from(block), salt ^ 0xD0), 100) < duplicates;
            if !is_copy(block, self.salt) {
                return block;
            }
            // Any of the contents that are there once, equally likely.
            let draws = (1..1000).map(|nth| below(mix(u64::from(block), self.salt.wrapping_add(nth << 8)), blocks));
            draws.into_iter().find(|other| !is_copy(*other, self.salt)).unwrap_or(block)
        };
        let contents: Vec<u32> = (0..blocks).map(content_of).collect();
        let pairs = if self.design.is_paired() { self.up.len() / 2 } else { 1 };
        let mut known = vec![u32::MAX; blocks as usize];
        self.object_of = vec![0; blocks as usize];
        for pair in 0..pairs {
            known.fill(u32::MAX);
            for at in 0..self.disks.len().max(1) {
                let (start, end, home) = self.disk(at, homes);
                if pairs > 1 && usize::from(home / 2) != pair {
                    continue;
                }
                for block in start..end {
                    let first = &mut known[contents[block as usize] as usize];
                    if *first == u32::MAX {
                        *first = block;
                        self.object_of[block as usize] = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
                        self.store(block, homes);
                    } else {
                        self.object_of[block as usize] = self.object_of[*first as usize];
                        self.flags[block as usize] |= DUPLICATE;
                    }
                }
            }
        }
    }

    /// First block, end and home of a disk.
    fn disk(&self, at: usize, homes: &[u16]) -> (u32, u32, u16) {
        let start = if at == 0 { 0 } else { self.disks[at].start };
        let end = self.disks.get(at + 1).map_or(self.blocks(), |next| next.start);
        (start, end, homes[self.disks.get(at).map_or(0, |disk| usize::from(disk.vm))])
    }

    fn store(&mut self, block: u32, homes: &[u16]) {
        let vm = self.vm_of(block);
        let home = homes[vm as usize];
        let key = mix(u64::from(block), self.salt);
        let nodes = match self.design {
            Design::Locality => draw(self.nodes(), self.copies, key, Some(self.first_with_room(home))),
            Design::Hash | Design::DedupSpread => draw(self.nodes(), self.copies, key, None),
            Design::DedupPairs | Design::RedirectPairs => [home, home ^ 1, NOWHERE],
        };
        let mut object = Object { nodes, slots: [0; MAX_COPIES], vm };
        for (node, slot) in object.nodes.iter().zip(&mut object.slots).filter(|(node, _)| **node != NOWHERE) {
            *slot = self.take(*node);
        }
        self.objects.push(object);
    }

    fn nodes(&self) -> u32 {
        u32::try_from(self.up.len()).unwrap_or(u32::MAX)
    }

    /// The node itself, or the next that has room for a first copy.
    fn first_with_room(&self, node: u16) -> u16 {
        let count = self.stores.len();
        let ring = (0..count).map(|step| (usize::from(node) + step) % count);
        let found = ring.into_iter().find(|at| self.up[*at] && self.stores[*at].used < self.node_slots);
        found.and_then(|at| u16::try_from(at).ok()).unwrap_or(node)
    }

    /// Whether a node has room for one more block.
    #[must_use]
    pub fn has_room(&self, node: u16) -> bool {
        self.stores[usize::from(node)].used < self.node_slots
    }

    /// Takes a slot on a node. When a draw gives a node a few blocks more than its devices hold, their places fold back.
    pub fn take(&mut self, node: u16) -> u32 {
        let (store, slots) = (&mut self.stores[usize::from(node)], self.node_slots);
        store.used += 1;
        store.free.pop().unwrap_or_else(|| {
            store.next += 1;
            (store.next - 1) % slots
        })
    }

    /// Puts an object on another node instead of one that holds it.
    pub fn replace(&mut self, object: u32, from: u16, to: u16, slot: u32) {
        let held = &mut self.objects[object as usize];
        if let Some(at) = held.nodes.iter().position(|node| *node == from) {
            let old = held.slots[at];
            (held.nodes[at], held.slots[at]) = (to, slot);
            self.give(from, old);
        }
    }

    /// Adds a copy instead of a lost one; says whether one was lost.
    pub fn add(&mut self, object: u32, to: u16, slot: u32) -> bool {
        let held = &mut self.objects[object as usize];
        let place = held.nodes[..self.copies].iter().position(|node| *node == NOWHERE);
        if let Some(at) = place {
            (held.nodes[at], held.slots[at]) = (to, slot);
        }
        place.is_some()
    }

    /// Drops the copy of an object on a node; says whether there was one.
    pub fn drop_copy(&mut self, object: u32, node: u16) -> bool {
        let held = self.objects[object as usize].nodes.iter_mut().find(|held| **held == node);
        held.map(|held| *held = NOWHERE).is_some()
    }

    /// Empties a node that is lost; `replaced` when a fresh one takes its place at once.
    pub fn empty(&mut self, node: u16, replaced: bool) {
        self.stores[usize::from(node)] = Store::default();
        self.up[usize::from(node)] = replaced;
    }

    /// The share of a machine's blocks that a node reads from its own devices. O(blocks).
    #[must_use]
    pub fn local_share(&self, vm: u16, node: u16) -> f64 {
        let (mut all, mut local) = (0u32, 0u32);
        for block in (0..self.blocks()).filter(|block| self.vm_of(*block) == vm) {
            all += 1;
            local += u32::from(self.is_local(&self.objects[self.object_of(block) as usize], node));
        }
        f64::from(local) / f64::from(all.max(1))
    }

    /// Gives a slot back.
    pub fn give(&mut self, node: u16, slot: u32) {
        let store = &mut self.stores[usize::from(node)];
        store.used = store.used.saturating_sub(1); // the node may have been lost since
        store.free.push(slot);
    }

    /// Blocks in the table.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        u32::try_from(self.flags.len()).unwrap_or(u32::MAX)
    }

    /// Blocks on each node.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        self.stores.iter().map(|store| store.used)
    }

    /// The object that holds a block.
    #[must_use]
    pub fn object_of(&self, block: u32) -> u32 {
        if self.object_of.is_empty() { block } else { self.object_of[block as usize] }
    }

    /// The machine that a block belongs to.
    #[must_use]
    pub fn vm_of(&self, block: u32) -> u16 {
        let after = self.disks.partition_point(|disk| disk.start <= block);
        self.disks.get(after.saturating_sub(1)).map_or(0, |disk| disk.vm)
    }

    /// Whether the content of a block was found to be stored already.
    #[must_use]
    pub fn is_duplicate(&self, block: u32) -> bool {
        self.flags[block as usize] & DUPLICATE != 0
    }

    /// Whether an object is in flight to another node; sets it.
    pub fn set_moving(&mut self, object: u32, moving: bool) -> bool {
        let flags = &mut self.flags[object as usize];
        let before = *flags & MOVING != 0;
        *flags = *flags & !MOVING | if moving { MOVING } else { 0 };
        before
    }

    /// Whether an object is in flight to another node.
    #[must_use]
    pub fn is_moving(&self, object: u32) -> bool {
        self.flags[object as usize] & MOVING != 0
    }

    /// Notes that a block has been read; says whether it had been since the last [`Placement::forget_reads`].
    pub fn set_read(&mut self, block: u32) -> bool {
        let flags = &mut self.flags[block as usize];
        let before = *flags & READ != 0;
        *flags |= READ;
        before
    }

    /// Whether a block has been read since then.
    #[must_use]
    pub fn was_read(&self, block: u32) -> bool {
        self.flags[block as usize] & READ != 0
    }

    /// Copies that each object should have.
    #[must_use]
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// Takes all blocks as not read.
    pub fn forget_reads(&mut self) {
        self.flags.iter_mut().for_each(|flags| *flags &= !READ);
    }

    /// Whether a node reads an object from its own devices.
    #[must_use]
    pub fn is_local(&self, object: &Object, node: u16) -> bool {
        match self.design {
            // The owner serves; the other side of the pair keeps the mirror.
            Design::RedirectPairs => object.holders().next() == Some(node),
            _ => object.nodes.contains(&node),
        }
    }

    /// The node that serves a read of `block` for `client`; `None` when no copy is left.
    #[must_use]
    pub fn server(&self, block: u32, object: &Object, client: u16) -> Option<u16> {
        if self.is_local(object, client) {
            return Some(client);
        }
        let count = u32::try_from(object.holders().count()).unwrap_or(0);
        let nth = if self.design.is_paired() { 0 } else { below(mix(u64::from(block), !self.salt), count) };
        object.holders().nth(nth as usize)
    }

    /// The nodes other than `client` that have to be asked, one after the other, before the place of a block is known there.
    pub fn walk(&self, block: u32, object: &Object, client: u16, mut ask: impl FnMut(u16)) {
        if self.maps == Maps::Everywhere {
            return;
        }
        let mut visit = |at: Option<u16>| {
            if let Some(at) = at.filter(|at| *at != client) {
                ask(at);
            }
        };
        match self.design {
            Design::Hash => {}
            Design::Locality => visit(self.map_node(u64::from(block), 0xA1, client)),
            Design::DedupSpread => {
                visit(self.map_node(u64::from(block), 0xA1, client));
                visit(self.map_node(u64::from(self.object_of(block)), 0xA2, client));
            }
            Design::DedupPairs | Design::RedirectPairs => {
                visit(if self.is_local(object, client) { None } else { object.holders().next() });
            }
        }
    }

    /// The node to ask for an entry of a map: the client if it has the entry, else the first that does.
    fn map_node(&self, key: u64, map: u64, client: u16) -> Option<u16> {
        let holders = draw(self.nodes(), self.copies, mix(key, self.salt ^ map), None);
        let up = |node: &u16| self.up.get(usize::from(*node)).copied().unwrap_or(false);
        if holders.contains(&client) {
            return Some(client);
        }
        // Entries of lost nodes have been taken over by the next node that is there.
        let next = || {
            (0..self.nodes())
                .map(|step| (u32::from(holders[0]) + step) % self.nodes())
                .find_map(|node| u16::try_from(node).ok().filter(&up))
        };
        holders.into_iter().find(&up).or_else(next)
    }

    /// Bytes of memory that the tables take.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let free: usize = self.stores.iter().map(|store| store.free.capacity()).sum();
        (self.objects.capacity() * size_of::<Object>() + (self.object_of.capacity() + free) * 4 + self.flags.capacity()) as u64
    }
}
