//! The ARC of ZFS: the read cache that learns how much to keep of what was used once and of what is used again.
//!
//! ```text
//!   forgotten <- ghosts once <- [ used once | used again ] -> ghosts again -> forgotten
//! ```
//!
//! It differs from the paper's ([`seeklab_cache::arc`]) where a file system has to: data and metadata have lists of their own; a block that is
//! asked for again within 60 ms has still been used once (one `read` after the other of the same record is one use); a block that was read ahead
//! counts as used once only after its first reader, is not evicted in its first second, and its first use does not promote it; blocks on their
//! way take room but cannot be evicted; and ghosts share the directory with sizes in bytes. [`balance`] holds how the room is shared, in two generations.
//!
//! Eviction differs by version: inline from the list that has more than its target and of the kind that comes in (2008); from what was used
//! once down to the target, then from what is used again (ZFS on Linux); by the three fractions (2.2). Here each makes room before a block comes
//! in, so the cache never holds more than its capacity: where only blocks in flight and blocks that were just read ahead are left, nothing more
//! is read ahead, and a reader takes the room of the latter, the last one first. A reader waits when there is no room but for blocks in
//! flight (`arc_is_overflowing`, `arc_wait_for_eviction`), unless it alone wants more than the capacity.
//!
//! Source: reference sections 6.1 and 6.2. Left out: growth and shrinking with the machine's memory (the capacity is what the scenario says), compressed
//! blocks, a prefetch of a block that is there already (it changes nothing here).

pub mod balance;

use balance::{ByState, Fractions, Ghost, Limits};
use seeklab_cache::index::Keys;
use seeklab_cache::store::{List, NONE, Slot, Store};
use seeklab_spec::zfs::Era;

/// A block used again sooner than this has still been used once: six ticks of 10 ms.
const MIN_TIME_NS: u64 = 60_000_000;
/// A block that was read ahead is not evicted for so long.
const PREFETCH_LIFE_NS: u64 = 1_000_000_000;
/// Until 2.1 metadata may have this part of the capacity.
const META_PART: u64 = 4;

/// The contents of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Data of files.
    #[default]
    Data,
    /// Metadata of the file system.
    Metadata,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Data, Self::Metadata];
}

/// The purpose of an access to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A reader that needs it.
    Demand,
    /// The read-ahead.
    Prefetch,
}

/// A block that comes in.
#[derive(Clone, Copy, Debug)]
pub struct New {
    /// Contents of the block.
    pub kind: Kind,
    /// Its size.
    pub bytes: u64,
    /// Purpose of the access.
    pub purpose: Purpose,
    /// Whether a cache device has it: then it was used before.
    pub known: bool,
}

/// The mark stored with a block.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The fetch that brings the block, or [`NONE`] when it is present.
    pub fetch: u32,
    /// Read ahead, and not used since.
    pub unused: bool,
    /// May go to a cache device.
    pub eligible: bool,
    to_again: bool,
    used_ns: u64,
}

#[derive(Debug)]
enum Balance {
    /// Until 2.1; whether eviction is that of 2008.
    Target { bytes: u64, limits: Limits, inline: bool },
    /// 2.2 and later, with the ghost hits since the last eviction.
    Fractions(Fractions, ByState),
}

/// Where lists begin that hold ghosts.
const GHOSTS: usize = 4;
/// Where lists begin that hold what was read ahead and not used yet, by kind. It counts as used once.
const UNUSED: usize = 8;

/// The number of a list: by kind and use, ghosts after blocks.
fn list_of(kind: usize, again: usize) -> usize {
    2 * kind + again
}

/// The cache of a pool.
#[derive(Debug)]
pub struct Arc {
    store: Store,
    lists: [List; 10],
    marks: Vec<Mark>,
    balance: Balance,
    now_ns: u64,
    /// Bytes in flight, by kind and the use that they come in with.
    arriving: ByState,
    /// Bytes that something else keeps in the cache's room: the directory of a cache device.
    pub directory_bytes: u64,
    /// Bytes that were evicted.
    pub evicted_bytes: u64,
    /// Bytes that were read ahead and evicted before anybody had used them.
    pub evicted_unused_bytes: u64,
}

/// The capacity on a machine with `memory_bytes` (reference 6.1): all but 1 GiB or three quarters until 2010, half on Linux, five eighths
/// from 2.3.
#[must_use]
pub fn capacity_bytes(era: Era, memory_bytes: u64) -> u64 {
    let all_but_one = memory_bytes.saturating_sub(1 << 30);
    match era {
        Era::Zfs2008March | Era::Zfs2008December | Era::Zfs2010 => all_but_one.max(memory_bytes / 4 * 3),
        Era::OpenZfs2013 | Era::OpenZfs0_7 | Era::OpenZfs2_1 | Era::OpenZfs2_2 => memory_bytes / 2,
        Era::OpenZfs2_3 => all_but_one.max(memory_bytes / 8 * 5),
    }
}

impl Arc {
    /// An empty cache of a version.
    #[must_use]
    pub fn new(era: Era, capacity: u64) -> Self {
        let mut store = Store::new(capacity, Keys::Any);
        let target = |limits, inline| Balance::Target { bytes: capacity / 2, limits, inline };
        let balance = match era {
            Era::Zfs2008March | Era::Zfs2008December | Era::Zfs2010 => target(Limits::ZFS_2008, true),
            Era::OpenZfs2013 | Era::OpenZfs0_7 | Era::OpenZfs2_1 => target(Limits::LINUX, false),
            Era::OpenZfs2_2 | Era::OpenZfs2_3 => Balance::Fractions(Fractions::default(), ByState::default()),
        };
        Self {
            lists: std::array::from_fn(|_| store.list()),
            store,
            marks: Vec::new(),
            balance,
            now_ns: 0,
            arriving: ByState::default(),
            directory_bytes: 0,
            evicted_bytes: 0,
            evicted_unused_bytes: 0,
        }
    }

    /// Most bytes that it is meant to hold.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.store.capacity
    }

    /// Bytes that it holds, in flight or present, with the directory of a cache device.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.store.used + self.directory_bytes
    }

    /// Bytes in flight.
    #[must_use]
    pub fn arriving_bytes(&self) -> u64 {
        self.arriving.iter().flatten().sum()
    }

    /// Bytes of memory that the model itself holds.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + (self.marks.capacity() * size_of::<Mark>()) as u64
    }

    /// Where a block is, present or in flight.
    #[must_use]
    pub fn find(&self, block: u64) -> Option<Slot> {
        self.store.find(block)
    }

    /// Return the mark of a block.
    #[must_use]
    pub fn mark(&self, slot: Slot) -> &Mark {
        &self.marks[slot as usize]
    }

    /// A block that is there, or in flight, is used; whether it had been read ahead and was not used before.
    pub fn hit(&mut self, slot: Slot, now_ns: u64) -> bool {
        let mark = &mut self.marks[slot as usize];
        let first_use = std::mem::take(&mut mark.unused);
        if mark.fetch != NONE {
            return first_use;
        }
        let list = usize::from(self.store.entry(slot).list);
        let mut to = list;
        if first_use {
            mark.used_ns = now_ns;
            to = list_of(list - UNUSED, 0);
        } else if list.is_multiple_of(2) && now_ns > mark.used_ns + MIN_TIME_NS {
            mark.used_ns = now_ns;
            to = list + 1;
        }
        self.store.unlink(&mut self.lists[list], slot);
        self.push(slot, to);
        first_use
    }

    #[expect(clippy::cast_possible_truncation, reason = "ten lists")]
    fn push(&mut self, slot: Slot, list: usize) {
        self.store.entry_mut(slot).list = list as u8;
        self.store.push(&mut self.lists[list], slot);
    }

    /// Whether a reader of so many missing bytes must wait, because what is in flight leaves no room for them.
    #[must_use]
    pub fn is_overflowing(&self, bytes: u64) -> bool {
        let arriving = self.arriving_bytes();
        arriving > 0 && arriving + self.directory_bytes + bytes > self.capacity()
    }

    /// Takes in a missing block, which `fetch` brings. Whether there is room: a prefetch finds
    /// none when all of the cache is in flight or was just read ahead.
    pub fn start(&mut self, now_ns: u64, block: u64, new: New, fetch: u32) -> bool {
        let New { kind, bytes, purpose, known } = new;
        self.now_ns = now_ns;
        if purpose == Purpose::Prefetch && (self.used_bytes() + bytes).saturating_sub(self.evictable_bytes()) > self.capacity() {
            return false;
        }
        let ghost = self.store.find_any(block).map(|slot| {
            let list = usize::from(self.store.entry(slot).list);
            (slot, if list.is_multiple_of(2) { Ghost::Once } else { Ghost::Again })
        });
        if let Some((_, ghost)) = ghost {
            self.learn(kind, bytes, ghost);
        }
        let to_again = purpose == Purpose::Demand && (ghost.is_some() || known);
        self.make_room(kind, bytes, to_again && matches!(ghost, Some((_, Ghost::Again))));
        if purpose == Purpose::Prefetch && self.used_bytes() + bytes > self.capacity() {
            return false;
        }
        self.evict_unused(bytes);
        // Making room may have forgotten the ghost.
        let slot = match self.store.find_any(block) {
            Some(slot) => {
                let list = usize::from(self.store.entry(slot).list);
                self.store.unlink(&mut self.lists[list], slot);
                self.store.revive(slot, bytes);
                slot
            }
            None => self.store.add(block, bytes),
        };
        self.arriving[kind as usize][usize::from(to_again)] += bytes;
        if ghost.is_none() {
            self.follow_growth(bytes);
        }
        let place = slot as usize;
        let mark = Mark { fetch, unused: purpose == Purpose::Prefetch, eligible: true, to_again, used_ns: 0 };
        if place >= self.marks.len() {
            self.marks.resize(place + 1, mark);
        }
        self.marks[place] = mark;
        self.store.entry_mut(slot).list = kind as u8;
        true
    }

    /// The block of a fetch has come, if it is still expected; it may go to a cache device when `eligible`.
    pub fn arrive(&mut self, block: u64, fetch: u32, now_ns: u64, eligible: bool) {
        let Some(slot) = self.store.find(block) else { return };
        let mark = &mut self.marks[slot as usize];
        if mark.fetch != fetch || fetch == NONE {
            return;
        }
        mark.fetch = NONE;
        mark.used_ns = now_ns;
        mark.eligible = eligible;
        let (again, unused) = (usize::from(mark.to_again), mark.unused);
        let (kind, bytes) = (usize::from(self.store.entry(slot).list), self.store.entry(slot).size);
        self.arriving[kind][again] -= bytes;
        self.push(slot, if unused { UNUSED + kind } else { list_of(kind, again) });
    }

    /// A hit in the ghosts of a use.
    fn learn(&mut self, kind: Kind, bytes: u64, ghost: Ghost) {
        let sizes = self.ghosts();
        let capacity = self.capacity();
        match &mut self.balance {
            Balance::Target { bytes: target, limits, .. } => {
                let of = |again: usize| sizes[0][again] + sizes[1][again];
                *target = limits.adapt(*target, capacity, (of(0), of(1)), bytes, ghost);
            }
            Balance::Fractions(_, hits) => hits[kind as usize][usize::from(ghost == Ghost::Again)] += bytes,
        }
    }

    /// While the cache is not full, the target follows what has been used once.
    fn follow_growth(&mut self, bytes: u64) {
        let (used, capacity, once) = (self.used_bytes(), self.capacity(), self.once_bytes());
        if let Balance::Target { bytes: target, .. } = &mut self.balance
            && used < capacity
            && once > *target
        {
            *target = (*target + bytes).min(capacity);
        }
    }

    fn ghosts(&self) -> ByState {
        std::array::from_fn(|kind| std::array::from_fn(|again| self.lists[GHOSTS + list_of(kind, again)].bytes))
    }

    /// Bytes by state, those in flight included.
    fn sizes(&self) -> ByState {
        let unused = |kind: usize, again: usize| if again == 0 { self.lists[UNUSED + kind].bytes } else { 0 };
        let present = |kind: usize, again: usize| self.lists[list_of(kind, again)].bytes + unused(kind, again);
        std::array::from_fn(|kind| std::array::from_fn(|again| present(kind, again) + self.arriving[kind][again]))
    }

    fn once_bytes(&self) -> u64 {
        let sizes = self.sizes();
        sizes[0][0] + sizes[1][0]
    }

    /// Evicts until `bytes` of this kind fit; `again` says that they belong to what is used again.
    fn make_room(&mut self, kind: Kind, bytes: u64, again: bool) {
        let over = (self.used_bytes() + bytes).saturating_sub(self.capacity());
        match &mut self.balance {
            Balance::Target { bytes: target, inline: true, .. } => {
                let target = *target;
                self.evict_inline(kind, bytes, over, again, target);
            }
            _ if over == 0 => return,
            Balance::Target { bytes: target, .. } => {
                let target = *target;
                self.evict_to_target(over, target, if again { 0 } else { bytes });
            }
            Balance::Fractions(..) => self.evict_by_fractions(over),
        }
        self.trim_ghosts();
    }

    /// 2008: a victim of the same kind, from the use that has more than its target.
    fn evict_inline(&mut self, kind: Kind, bytes: u64, over: u64, again: bool, target: u64) {
        let sizes = self.sizes();
        let meta_over = (sizes[1][0] + sizes[1][1] + self.directory_bytes + bytes).saturating_sub(self.capacity() / META_PART);
        let mut left = if kind == Kind::Metadata { over.max(meta_over) } else { over };
        let has = |arc: &Self, again: usize| arc.sizes()[kind as usize][again] > arc.arriving[kind as usize][again];
        while left > 0 {
            let from_again = if again {
                let room = self.capacity() - target.min(self.capacity());
                let sizes = self.sizes();
                !(has(self, 0) && room > sizes[0][1] + sizes[1][1])
            } else {
                has(self, 1) && target > self.once_bytes()
            };
            let order = [usize::from(from_again), usize::from(!from_again)];
            let lists = order.map(|again| list_of(kind as usize, again));
            let Some(gone) = self.evict_first(&lists) else { break };
            left = left.saturating_sub(gone);
        }
        let others = Kind::ALL[1 - kind as usize] as usize;
        let mut left = (self.used_bytes() + bytes).saturating_sub(self.capacity());
        while left > 0 {
            let Some(gone) = self.evict_first(&[list_of(others, 0), list_of(others, 1)]) else { break };
            left = left.saturating_sub(gone);
        }
    }

    /// ZFS on Linux: what was used once down to the target, the rest from what is used again; of data and metadata whichever is older.
    fn evict_to_target(&mut self, over: u64, target: u64, coming: u64) {
        let metadata: u64 = self.sizes()[1].iter().sum();
        let mut once = over.min((self.once_bytes() + coming + metadata + self.directory_bytes).saturating_sub(target));
        let mut left = over;
        while left > 0 {
            let again = usize::from(once == 0);
            let lists = [
                self.older_kind(again),
                list_of(0, again),
                list_of(1, again),
                self.older_kind(1 - again),
                list_of(0, 1 - again),
                list_of(1, 1 - again),
            ];
            let Some(gone) = self.evict_first(&lists) else { break };
            (left, once) = (left.saturating_sub(gone), once.saturating_sub(gone));
        }
    }

    /// Bytes that may be evicted; of what was read ahead and not used, those of one block of each kind after its first second.
    fn evictable_bytes(&self) -> u64 {
        let old = |kind: usize| match self.store.oldest(&self.lists[UNUSED + kind]) {
            NONE => 0,
            slot if self.now_ns < self.marks[slot as usize].used_ns + PREFETCH_LIFE_NS => 0,
            slot => self.store.entry(slot).size,
        };
        self.lists[..GHOSTS].iter().map(|list| list.bytes).sum::<u64>() + old(0) + old(1)
    }

    /// Evicts what was just read ahead, as far as nothing else leaves room for `bytes`.
    fn evict_unused(&mut self, bytes: u64) {
        for kind in 0..2 {
            while self.used_bytes() + bytes > self.capacity()
                && self.evict(UNUSED + kind, self.store.newest(&self.lists[UNUSED + kind])).is_some()
            {}
        }
    }

    /// The list of a use whose oldest block was used longest ago.
    fn older_kind(&self, again: usize) -> usize {
        let used_ns = |list: usize| match self.store.oldest(&self.lists[list]) {
            NONE => u64::MAX,
            slot => self.marks[slot as usize].used_ns,
        };
        let (data, metadata) = (list_of(0, again), list_of(1, again));
        if used_ns(metadata) < used_ns(data) { metadata } else { data }
    }

    fn evict_by_fractions(&mut self, over: u64) {
        let (sizes, ghosts) = (self.sizes(), self.ghosts());
        let Balance::Fractions(fractions, hits) = &mut self.balance else { return };
        fractions.learn(&ghosts, hits);
        *hits = ByState::default();
        let shares = fractions.evict(&sizes, over);
        let mut left = over;
        for (kind, again) in [(1, 0), (1, 1), (0, 0), (0, 1)] {
            let mut share = shares[kind][again].min(left);
            while share > 0 {
                let Some(gone) = self.evict_first(&[list_of(kind, again)]) else { break };
                (share, left) = (share.saturating_sub(gone), left.saturating_sub(gone));
            }
        }
        while left > 0 {
            let Some(gone) = self.evict_first(&[0, 1, 2, 3]) else { break };
            left = left.saturating_sub(gone);
        }
    }

    /// Evicts the oldest block that may go from the first of these lists that has one; returns its size.
    fn evict_first(&mut self, lists: &[usize]) -> Option<u64> {
        lists.iter().find_map(|list| self.evict_from(*list))
    }

    /// Evicts the oldest block of a list of present blocks; what was read ahead and not used is one of those used once, after its first
    /// second.
    fn evict_from(&mut self, list: usize) -> Option<u64> {
        let oldest = self.store.oldest(&self.lists[list]);
        if list.is_multiple_of(2) {
            let unused = self.store.oldest(&self.lists[UNUSED + list / 2]);
            let used_ns = |slot: Slot| self.marks.get(slot as usize).filter(|_| slot != NONE).map(|mark| mark.used_ns);
            let may_go = used_ns(unused).filter(|came_ns| self.now_ns >= came_ns + PREFETCH_LIFE_NS);
            if may_go.is_some_and(|came_ns| used_ns(oldest).is_none_or(|used_ns| came_ns <= used_ns)) {
                return self.evict(UNUSED + list / 2, unused);
            }
        }
        self.evict(list, oldest)
    }

    /// Evicts a block of a list; returns its size.
    fn evict(&mut self, list: usize, slot: Slot) -> Option<u64> {
        let is_unused = self.marks.get(slot as usize).filter(|_| slot != NONE)?.unused;
        let bytes = self.store.entry(slot).size;
        self.evicted_bytes += bytes;
        self.evicted_unused_bytes += if is_unused { bytes } else { 0 };
        self.store.unlink(&mut self.lists[list], slot);
        self.store.retire(slot);
        self.push(slot, GHOSTS + if list < UNUSED { list } else { list_of(list - UNUSED, 0) });
        Some(bytes)
    }

    /// Forgets ghosts that the directory has no room for.
    fn trim_ghosts(&mut self) {
        let (sizes, ghosts, capacity) = (self.sizes(), self.ghosts(), self.capacity());
        let of = |state: &ByState, again: usize| state[0][again] + state[1][again];
        if let Balance::Fractions(..) = self.balance {
            let total: u64 = sizes.iter().flatten().sum();
            for kind in 0..2 {
                for again in 0..2 {
                    let most = (total - sizes[kind][again]) / 2;
                    self.forget(&[list_of(kind, again)], ghosts[kind][again].saturating_sub(most));
                }
            }
        } else {
            let once = (of(&sizes, 0) + of(&ghosts, 0)).saturating_sub(capacity).min(of(&ghosts, 0));
            self.forget(&[list_of(0, 0), list_of(1, 0)], once);
            let again = (of(&ghosts, 0) - once + of(&ghosts, 1)).saturating_sub(capacity);
            self.forget(&[list_of(0, 1), list_of(1, 1)], again);
        }
    }

    /// Forgets at least so many bytes of the ghosts of these lists.
    fn forget(&mut self, lists: &[usize], mut bytes: u64) {
        for list in lists.iter().map(|list| GHOSTS + list) {
            while bytes > 0 {
                let slot = self.store.oldest(&self.lists[list]);
                if slot == NONE {
                    break;
                }
                bytes = bytes.saturating_sub(self.store.entry(slot).size);
                self.store.unlink(&mut self.lists[list], slot);
                self.store.forget(slot);
            }
        }
    }

    /// Makes room for a directory that has grown.
    pub fn settle(&mut self) {
        self.make_room(Kind::Data, 0, false);
        self.evict_unused(0);
    }

    /// Passes the blocks of a list by, from the end that is evicted next or from the other, until `visit` returns false; it is given the
    /// block's number, its size, and whether it may go to a cache device.
    pub fn scan(&self, kind: Kind, again: bool, from_tail: bool, mut visit: impl FnMut(u64, u64, bool) -> bool) {
        let used = list_of(kind as usize, usize::from(again));
        // What nobody has used yet comes last: it is there for the least time.
        for list in std::iter::once(used).chain((!again).then_some(UNUSED + kind as usize)) {
            let list = &self.lists[list];
            let mut slot = if from_tail { self.store.oldest(list) } else { self.store.newest(list) };
            while slot != NONE {
                let entry = self.store.entry(slot);
                if !visit(entry.key, entry.size, self.marks[slot as usize].eligible) {
                    return;
                }
                slot = if from_tail { self.store.newer(list, slot) } else { self.store.older(list, slot) };
            }
        }
    }

    /// Bytes that are meant for what was used once, of data.
    #[must_use]
    pub fn target_bytes(&self) -> u64 {
        match &self.balance {
            Balance::Target { bytes, .. } => *bytes,
            Balance::Fractions(fractions, _) => {
                let data = self.capacity() - super::throttle::mul_div(self.capacity(), fractions.metadata, balance::ONE);
                super::throttle::mul_div(data, fractions.once[0], balance::ONE)
            }
        }
    }
}

#[cfg(test)]
mod tests;
