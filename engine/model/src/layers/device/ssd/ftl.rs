//! The flash translation layer: where each logical page is, and which block gives way when room is needed. It knows no time.
//!
//! A page is programmed once between two erases of its block, so an overwrite goes elsewhere and leaves a stale page behind.
//! Sooner or later a block must be emptied: its valid pages move, then it is erased. What moves is written again without the host
//! having asked: write amplification.
//!
//! Logical pages take turns over the dies and stay on theirs, so every die is a translation layer of its own, with
//! - two open blocks, one for the host's pages and one for moved pages, which keeps cold pages together;
//! - a queue of erased blocks, the longest erased first;
//! - at most one victim in collection. It is chosen when [`LOW`] erased blocks are left, by the fewest valid pages (greedy; of
//!   equal blocks the least worn), or by `age x stale / (2 x valid)` (cost-benefit: Kawaguchi, Nishioka and Motoda, "A
//!   flash-memory based file system", USENIX 1995, with the age since the block last changed).
//!
//! Collection keeps pace with the host: with `v` valid pages of `n` in the victim, `v / (n - v)` pages have moved for each page that
//! the host has written since, so the victim is empty when the room that it gives is used up. The host never takes the last
//! erased block, and a victim has at least one stale page, so moved pages always find room and erased blocks never run out. (It has
//! one because two blocks of over-provisioning are more than the blocks that can be neither full nor erased.)
//!
//! Erased pages, in blocks that wait and in the open ones, are [`RESERVE`] blocks of a die on average over a cycle. They come on
//! top of the over-provisioning: in a scaled-down drive they would otherwise be a large part of it.
//!
//! A TRIM takes a page out of the map, and its place is stale from then on: for uniform writes to the share `u` of the pages that is
//! left, the drive has the over-provisioning `(1 + OP) / u - 1` (Frankie, Hughes and Kreutz-Delgado, "The Effects of TRIM Commands on
//! Write Amplification", arXiv:1208.1794).
//!
//! Left out: read disturb, retention, bad blocks, static wear levelling, the mapping's own reads and writes.

use std::collections::VecDeque;

use seeklab_spec as spec;
use seeklab_spec::Collector;

/// No physical page, no owner, no block.
pub(super) const NONE: u32 = u32::MAX;
/// Erased blocks of a die at which collection begins.
const LOW: usize = 2;
/// Blocks of a die beyond the over-provisioning.
pub(super) const RESERVE: u64 = 3;
/// Simulated blocks of a die when the scenario does not say.
const BLOCKS_BY_DEFAULT: u64 = 64;

/// The size of each die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Dies.
    pub dies: usize,
    /// Pages of a block.
    pub pages: u32,
    /// Blocks of a die.
    pub blocks: u32,
    /// Logical pages of a die.
    pub logical: u32,
}

impl Shape {
    /// The shape of a drive, or the pages that it would have when they are more than 32 bits can number.
    pub fn of(spec: &spec::Ssd, flash: &spec::Flash) -> Result<Self, u64> {
        let pages = u64::from(flash.pages_per_block);
        let by_default = BLOCKS_BY_DEFAULT * pages * spec.page.0 * u64::from(spec.units);
        let mapped = flash.mapped.map_or(by_default, |mapped| mapped.0).min(spec.capacity.0);
        let wanted = mapped.div_ceil(spec.page.0).div_ceil(u64::from(spec.units));
        let alpha = 1.0 + flash.overprovision / 100.0;
        let blocks = libm::round(wanted as f64 * alpha / pages as f64) as u64;
        // Blocks are whole, so the logical pages give way to keep the over-provisioning exact.
        let logical = libm::round((blocks * pages) as f64 / alpha) as u64;
        let blocks = blocks + RESERVE;
        let total = blocks * pages * u64::from(spec.units);
        if total >= u64::from(NONE) {
            return Err(total);
        }
        Ok(Self { dies: spec.units as usize, pages: flash.pages_per_block, blocks: blocks as u32, logical: logical as u32 })
    }

    /// Blocks of a die's over-provisioning.
    pub fn spare_blocks(self) -> f64 {
        let physical = (u64::from(self.blocks) - RESERVE) * u64::from(self.pages);
        (physical as f64 - f64::from(self.logical)) / f64::from(self.pages)
    }

    /// Logical pages of all dies.
    pub fn logical_pages(self) -> u64 {
        self.dies as u64 * u64::from(self.logical)
    }

    /// Bytes that the translation layer of such a drive holds.
    pub fn memory_bytes(self) -> u64 {
        let blocks = self.dies as u64 * u64::from(self.blocks);
        4 * (self.logical_pages() + blocks * u64::from(self.pages)) + (size_of::<Block>() as u64 + 4) * blocks
    }
}

/// An erase block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Pages that hold current data.
    pub valid: u32,
    /// Pages programmed since the last erase.
    pub written: u32,
    /// Erases since the start of the run.
    pub erases: u32,
    /// When a page of it last was written or became stale, in pages that the host had written to the die.
    pub changed: u64,
}

/// The block that is being emptied.
#[derive(Clone, Copy, Debug)]
struct Victim {
    block: u32,
    /// Next page to look at.
    cursor: u32,
    /// Valid pages when it was chosen.
    valid: u64,
    /// Pages moved out of it.
    moved: u64,
    /// Pages that the host has written to the die since.
    host: u64,
}

/// One die's blocks in use.
#[derive(Clone, Debug)]
pub(super) struct Die {
    /// Erased blocks, the longest erased first.
    pub free: VecDeque<u32>,
    /// Open block of the host's pages.
    pub host: u32,
    /// Open block of moved pages.
    pub moved: u32,
    victim: Option<Victim>,
    /// Pages that the host has written.
    pub clock: u64,
    /// Logical pages that have a place.
    pub mapped: u32,
}

/// The result of one step of collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There was nothing to do.
    Nothing,
    /// Moved this many pages.
    Moved(u32),
    /// Erased the victim.
    Erased,
}

/// The wear of the flash since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wear {
    /// Pages that the host wrote.
    pub host_pages: u64,
    /// Pages that garbage collection moved.
    pub moved_pages: u64,
    /// Pages that were moved out of the SLC cache.
    pub folded_pages: u64,
    /// Places of programs that nothing filled.
    pub padded_pages: u64,
    /// Pages that were overwritten in the buffer; they are not among those that the host wrote.
    pub absorbed_pages: u64,
    /// Pages that the host gave up, of those that held data.
    pub trimmed_pages: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Erases of the least worn block.
    pub least_erases: u32,
    /// Erases of the most worn block.
    pub most_erases: u32,
}

impl Wear {
    /// Of two drives together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            host_pages: self.host_pages + other.host_pages,
            moved_pages: self.moved_pages + other.moved_pages,
            folded_pages: self.folded_pages + other.folded_pages,
            padded_pages: self.padded_pages + other.padded_pages,
            absorbed_pages: self.absorbed_pages + other.absorbed_pages,
            trimmed_pages: self.trimmed_pages + other.trimmed_pages,
            erases: self.erases + other.erases,
            least_erases: self.least_erases.min(other.least_erases),
            most_erases: self.most_erases.max(other.most_erases),
        }
    }

    /// Pages programmed for each page that the host wrote; 1 when it wrote none.
    #[must_use]
    pub fn write_amplification(&self) -> f64 {
        let programmed = self.host_pages + self.moved_pages + self.folded_pages + self.padded_pages;
        if self.host_pages == 0 { 1.0 } else { programmed as f64 / self.host_pages as f64 }
    }
}

/// The translation layer of a drive.
#[derive(Clone, Debug)]
pub(super) struct Ftl {
    pub shape: Shape,
    collector: Collector,
    /// Physical page of each logical page, die by die; numbers count within the die.
    pub map: Vec<u32>,
    /// Logical page of each valid physical page, die by die.
    pub owner: Vec<u32>,
    /// All blocks, die by die.
    pub blocks: Vec<Block>,
    pub dies: Vec<Die>,
    wear: Wear,
}

impl Ftl {
    /// A drive whose blocks are all erased.
    pub fn erased(shape: Shape, collector: Collector) -> Self {
        let blocks = shape.dies * shape.blocks as usize;
        let die = Die { free: (0..shape.blocks).collect(), host: NONE, moved: NONE, victim: None, clock: 0, mapped: 0 };
        Self {
            shape,
            collector,
            map: vec![NONE; shape.dies * shape.logical as usize],
            owner: vec![NONE; blocks * shape.pages as usize],
            blocks: vec![Block::default(); blocks],
            dies: vec![die; shape.dies],
            wear: Wear::default(),
        }
    }

    /// Whether the logical page holds data. O(1).
    pub fn is_mapped(&self, die: usize, page: u32) -> bool {
        self.map[self.logical(die, page)] != NONE
    }

    /// Physical page of the die that holds the logical page, if one does, and the erases of its block. O(1).
    pub fn place(&self, die: usize, page: u32) -> Option<(u32, u32)> {
        let place = self.map[self.logical(die, page)];
        (place != NONE).then(|| (place, self.blocks[self.block(die, place / self.shape.pages)].erases))
    }

    /// Whether the host may write a page to the die now. O(1).
    pub fn has_room(&self, die: usize) -> bool {
        self.dies[die].host != NONE || self.dies[die].free.len() > 1
    }

    /// Places that the host's pages may take on a die before another block is erased. O(1).
    pub fn places_left(&self, die: usize) -> u32 {
        let here = &self.dies[die];
        let open = if here.host == NONE { 0 } else { self.shape.pages - self.blocks[self.block(die, here.host)].written };
        open + (here.free.len().saturating_sub(1) as u32) * self.shape.pages
    }

    /// The host writes a page to the SLC cache: the place here is stale, if it is the page's own. O(1).
    pub fn is_cached(&mut self, die: usize, page: u32, is_own: bool) {
        if is_own {
            self.forget(die, page);
        }
        self.wear.host_pages += 1;
    }

    /// Takes a logical page from the SLC cache, when there is room. O(1).
    pub fn fold(&mut self, die: usize, page: u32) {
        self.wear.host_pages -= 1; // it was the host's once
        self.wear.folded_pages += 1;
        self.write(die, page);
    }

    /// Places of a program to the SLC cache stay empty.
    pub fn pads_cache(&mut self, pages: u32) {
        self.wear.padded_pages += u64::from(pages);
    }

    /// Writes a logical page for the host. Returns whether there was room. O(1).
    pub fn write(&mut self, die: usize, page: u32) -> bool {
        if !self.has_room(die) {
            return false;
        }
        self.dies[die].clock += 1;
        if let Some(victim) = &mut self.dies[die].victim {
            victim.host += 1;
        }
        self.wear.host_pages += 1;
        self.append(die, page, false)
    }

    /// Forgets what a logical page held, if it held something: its place is stale, and need not move. Returns whether it did. O(1).
    pub fn trim(&mut self, die: usize, page: u32) -> bool {
        let was_mapped = self.forget(die, page);
        self.wear.trimmed_pages += u64::from(was_mapped);
        was_mapped
    }

    /// Counts a page of the SLC cache that the host gave up.
    pub fn trims_cache(&mut self) {
        self.wear.trimmed_pages += 1;
    }

    /// Takes a logical page out of the map. Returns whether it was there.
    fn forget(&mut self, die: usize, page: u32) -> bool {
        let logical = self.logical(die, page);
        let old = std::mem::replace(&mut self.map[logical], NONE);
        if old == NONE {
            return false;
        }
        self.make_stale(die, old);
        self.dies[die].mapped -= 1;
        true
    }

    /// The data of a physical page of a die have another place, or none.
    fn make_stale(&mut self, die: usize, old: u32) {
        let first = die * self.shape.blocks as usize * self.shape.pages as usize;
        self.owner[first + old as usize] = NONE;
        let stale = self.block(die, old / self.shape.pages);
        self.blocks[stale].valid -= 1;
        self.blocks[stale].changed = self.dies[die].clock;
    }

    /// Leaves up to `pages` places of the host's open block empty, as a program that is not full does. O(1).
    pub fn pad(&mut self, die: usize, pages: u32) {
        let host = self.dies[die].host;
        if host == NONE || pages == 0 {
            return; // the program ended with its block
        }
        let index = self.block(die, host);
        let block = &mut self.blocks[index];
        let padded = pages.min(self.shape.pages - block.written);
        block.written += padded;
        if block.written == self.shape.pages {
            self.dies[die].host = NONE;
        }
        self.wear.padded_pages += u64::from(padded);
        if let Some(victim) = &mut self.dies[die].victim {
            victim.host += u64::from(padded);
        }
    }

    /// Whether collection must go before the host's next page. O(1), but O(blocks) when a victim is chosen.
    pub fn is_due(&mut self, die: usize) -> bool {
        self.choose_if_low(die);
        let Some(victim) = self.dies[die].victim else { return false };
        let gain = u64::from(self.shape.pages) - victim.valid;
        victim.moved * gain < victim.host * victim.valid || victim.host >= gain || !self.has_room(die)
    }

    /// Does one step of collection: moves up to `most` pages, or erases the victim when none is left. O(pages of a block).
    pub fn collect(&mut self, die: usize, most: u32) -> Step {
        self.choose_if_low(die);
        let Some(victim) = self.dies[die].victim else { return Step::Nothing };
        let block = self.block(die, victim.block);
        if self.blocks[block].valid == 0 {
            self.erase(die, victim.block);
            return Step::Erased;
        }
        let (mut cursor, mut moved) = (victim.cursor, 0);
        while cursor < self.shape.pages && moved < most {
            let page = self.owner[block * self.shape.pages as usize + cursor as usize];
            if page != NONE && !self.append(die, page, true) {
                break;
            }
            moved += u32::from(page != NONE);
            cursor += 1;
        }
        self.wear.moved_pages += u64::from(moved);
        if let Some(victim) = &mut self.dies[die].victim {
            victim.cursor = cursor;
            victim.moved += u64::from(moved);
        }
        if moved == 0 { Step::Nothing } else { Step::Moved(moved) }
    }

    /// Return the wear of the flash. O(blocks).
    pub fn wear(&self) -> Wear {
        let erases = self.blocks.iter().map(|block| block.erases);
        Wear { least_erases: erases.clone().min().unwrap_or(0), most_erases: erases.max().unwrap_or(0), ..self.wear }
    }

    fn logical(&self, die: usize, page: u32) -> usize {
        die * self.shape.logical as usize + page as usize
    }

    fn block(&self, die: usize, block: u32) -> usize {
        die * self.shape.blocks as usize + block as usize
    }

    /// Programs the next page of an open block and forgets the page's old place. False when no erased block is left.
    fn append(&mut self, die: usize, page: u32, is_move: bool) -> bool {
        let here = &mut self.dies[die];
        let open = if is_move { &mut here.moved } else { &mut here.host };
        if *open == NONE {
            let Some(erased) = here.free.pop_front() else { return false };
            *open = erased;
        }
        let (number, clock) = (*open, here.clock);
        let place = number * self.shape.pages + self.blocks[self.block(die, number)].written;
        if place % self.shape.pages == self.shape.pages - 1 {
            let here = &mut self.dies[die];
            *(if is_move { &mut here.moved } else { &mut here.host }) = NONE;
        }
        let logical = self.logical(die, page);
        let old = std::mem::replace(&mut self.map[logical], place);
        if old == NONE {
            self.dies[die].mapped += 1;
        } else {
            self.make_stale(die, old);
        }
        let first = die * self.shape.blocks as usize * self.shape.pages as usize;
        self.owner[first + place as usize] = page;
        let block = self.block(die, number);
        let block = &mut self.blocks[block];
        block.valid += 1;
        block.written += 1;
        block.changed = clock;
        true
    }

    fn erase(&mut self, die: usize, number: u32) {
        let block = self.block(die, number);
        let block = &mut self.blocks[block];
        block.written = 0;
        block.erases += 1;
        self.wear.erases += 1;
        self.dies[die].free.push_back(number);
        self.dies[die].victim = None;
    }

    fn choose_if_low(&mut self, die: usize) {
        if self.dies[die].victim.is_some() || self.dies[die].free.len() > LOW {
            return;
        }
        let first = self.block(die, 0);
        let blocks = &self.blocks[first..first + self.shape.blocks as usize];
        let full = blocks.iter().enumerate().filter(|(_, block)| block.written == self.shape.pages && block.valid < self.shape.pages);
        let clock = self.dies[die].clock;
        let chosen = match self.collector {
            Collector::Greedy => full.min_by_key(|(_, block)| (block.valid, block.erases)),
            Collector::CostBenefit => {
                // age x stale / valid, compared crosswise so that it stays exact; all but the first factor fit in 17 bits
                let gain = |block: &Block| u128::from(clock - block.changed + 1) * u128::from(self.shape.pages - block.valid);
                full.max_by(|(_, a), (_, b)| (gain(a) * u128::from(b.valid)).cmp(&(gain(b) * u128::from(a.valid))))
            }
        };
        let victim =
            chosen.map(|(number, block)| Victim { block: number as u32, cursor: 0, valid: u64::from(block.valid), moved: 0, host: 0 });
        self.dies[die].victim = victim;
    }
}
