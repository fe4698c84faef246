//! The SLC cache of a drive with cells of several bits: blocks that hold one bit a cell are programmed and read much faster.
//!
//! - The host's writes go there while there is room on their die. A program of the mode fills a `bits`-th of the places that a full
//!   program does.
//! - *Folding* moves what is still valid, the oldest first, into blocks of full density, a full program at a time, and erases a block
//!   of the cache when it is empty. It happens when the drive has been idle for `fold_after`, and continues until a command comes.
//! - When the cache is full, writes go to full density directly, or each die folds a block to make room, as drives do that write
//!   through their cache only (`when_full`).
//! - The cache has a fixed part and one that is lent by flash without data: it shrinks with the share of the drive's pages that hold
//!   data, in the cache or out of it. What is in it already stays until it is folded.
//! - A page is in one place only: written again or trimmed, its old place in the cache is empty and need not be folded.
//!
//! Published of such drives: a fixed and a dynamic part, the rate in the cache, the rate after it, and what is left when the drive fills
//! up (data sheets and reviews, which the presets name).
//!
//! The cache has its full size, although only a part of the flash behind it is simulated (`mapped`): a cache that shrank with it would be
//! full after a fraction of a second. So it knows pages by their numbers on the whole drive. Of all pages that share a simulated one,
//! one, drawn by its number, leaves the place at full density when it is written to the cache. The others have no place of their own;
//! when one is folded, it takes that of the simulated page, which costs collection as much.
//!
//! Assumed: the flash of the cache comes on top of the over-provisioning, so that it takes no room from collection; a write is not held
//! back to keep a part of the cache for later. Left out: reads that fill the cache, data that stay in it because they are read or
//! written often, and wear of its blocks.

use std::collections::{BTreeMap, VecDeque};

use super::ftl::NONE;
use seeklab_spec as spec;
use seeklab_spec::WhenFull;

/// The cached places of a die, in the order in which they were programmed.
#[derive(Default)]
struct Places {
    /// Pages by their numbers on the die, or [`NONE`] for places that nothing filled. The first belongs to the oldest block that is not
    /// erased.
    pages: VecDeque<u32>,
    /// How many of them, from the first on, have been folded or were empty.
    folded: u32,
    /// One bit for each page of the die: whether its data are here.
    here: Vec<u64>,
    /// Places of a page that hold data of before: they come first.
    stale: BTreeMap<u64, u64>,
    /// Pages that are here.
    valid: u32,
}

impl Places {
    fn has(&self, page: u32) -> bool {
        self.here[page as usize / 64] >> (page % 64) & 1 == 1
    }

    fn flip(&mut self, page: u32) {
        self.here[page as usize / 64] ^= 1 << (page % 64);
    }

    /// The page is not here any more, if it was.
    fn forget(&mut self, page: u32) -> bool {
        let was_here = self.has(page);
        if was_here {
            self.flip(page);
            *self.stale.entry(u64::from(page)).or_default() += 1;
            self.valid -= 1;
        }
        was_here
    }

    /// Takes a place out. Returns its page, if its data are of now.
    fn take(&mut self, page: u32) -> Option<u32> {
        if page == NONE {
            return None;
        }
        if let Some(places) = self.stale.get_mut(&u64::from(page)) {
            *places -= 1;
            if *places == 0 {
                self.stale.remove(&u64::from(page));
            }
            return None;
        }
        self.flip(page);
        self.valid -= 1;
        Some(page)
    }
}

/// The cache of a drive.
pub(super) struct Cache {
    /// Pages of a program, and of a block.
    pub program_pages: u32,
    block_pages: u32,
    pub read_ns: u64,
    pub program_ns: u64,
    pub fold_after_ns: u64,
    when_full: WhenFull,
    /// Pages of a die: always, and when all of its flash is free.
    fixed: u32,
    dynamic: u32,
    /// Pages of a die, those of them that are simulated, and how many share one of these.
    whole: u32,
    logical: u32,
    sharing: u32,
    dies: Vec<Places>,
    /// Whether the drive has been idle for long enough.
    pub is_folding: bool,
}

/// Work for a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// There is none.
    Nothing,
    /// These pages, the first of the slice that was handed in, go to full density.
    Pages(u32),
    /// A block of the cache is to be erased.
    Block,
}

/// Pages of a cache on each die: the fixed and the dynamic part.
pub(super) fn pages(spec: &spec::Ssd, cache: &spec::SlcCache, dies: usize) -> [u32; 2] {
    [cache.fixed, cache.dynamic].map(|bytes| libm::round(bytes.0 as f64 / spec.page.0 as f64 / dies as f64) as u32)
}

/// Pages of each die of the whole drive, in whole stripes.
fn whole(spec: &spec::Ssd, stripe: u32, dies: usize) -> u32 {
    let rows = spec.capacity.0.div_ceil(spec.page.0).div_ceil(u64::from(stripe)).div_ceil(dies as u64);
    u32::try_from(rows * u64::from(stripe)).unwrap_or(NONE)
}

impl Cache {
    pub fn new(spec: &spec::Ssd, flash: &spec::Flash, cache: &spec::SlcCache, dies: usize, logical: u32) -> Self {
        let [fixed, dynamic] = pages(spec, cache, dies);
        let whole = whole(spec, flash.stripe, dies).max(logical);
        Self {
            program_pages: flash.planes / cache.bits,
            block_pages: flash.pages_per_block / cache.bits,
            read_ns: cache.read.0,
            program_ns: cache.program.0,
            fold_after_ns: cache.fold_after.0,
            when_full: cache.when_full,
            fixed,
            dynamic,
            whole,
            logical,
            sharing: whole / logical,
            dies: (0..dies).map(|_| Places::default()).collect(),
            is_folding: false,
        }
    }

    /// Bytes of memory for the cache of such a drive, before anything is in it.
    pub fn memory_bytes_of(spec: &spec::Ssd, flash: &spec::Flash, dies: usize) -> u64 {
        dies as u64 * u64::from(whole(spec, flash.stripe, dies)).div_ceil(64) * 8
    }

    /// Bytes of memory that grow with what is in the cache.
    pub fn memory_bytes(&self) -> u64 {
        let of_die = |places: &Places| places.pages.capacity() * size_of::<u32>() + places.stale.len() * 2 * size_of::<(u64, u64)>();
        self.dies.iter().map(of_die).sum::<usize>() as u64
    }

    /// The page that the place of a simulated page at full density belongs to.
    pub fn owner(&self, simulated: u32) -> u32 {
        simulated + self.logical * ((simulated.wrapping_mul(0x9e37_79b9) >> 16) % self.sharing)
    }

    /// Whether the page is in the cache.
    pub fn has(&self, die: usize, page: u32) -> bool {
        let places = &self.dies[die];
        places.valid > 0 && places.has(page)
    }

    /// Places that a die has room for, where `mapped` of its simulated pages hold data at full density.
    pub fn room(&self, die: usize, mapped: u32) -> u32 {
        let places = &self.dies[die];
        let free = 1.0 - f64::from(mapped) / f64::from(self.logical) - f64::from(places.valid) / f64::from(self.whole);
        let most = self.fixed + (f64::from(self.dynamic) * free.max(0.0)) as u32;
        most.saturating_sub(places.pages.len() as u32)
    }

    /// Whether a die must make room before it takes writes.
    pub fn must_fold(&self, die: usize, mapped: u32) -> bool {
        self.when_full == WhenFull::Fold && self.room(die, mapped) < self.program_pages && !self.dies[die].pages.is_empty()
    }

    /// Writes a page.
    pub fn write(&mut self, die: usize, page: u32) {
        let places = &mut self.dies[die];
        if places.here.is_empty() {
            places.here = vec![0; self.whole.div_ceil(64) as usize];
        }
        places.forget(page);
        places.flip(page);
        places.pages.push_back(page);
        places.valid += 1;
    }

    /// Leaves places of a program empty.
    pub fn pad(&mut self, die: usize, pages: u32) {
        self.dies[die].pages.extend(std::iter::repeat_n(NONE, pages as usize));
    }

    /// The page is not here any more, if it was.
    pub fn forget(&mut self, die: usize, page: u32) -> bool {
        self.has(die, page) && self.dies[die].forget(page)
    }

    /// Forgets pages `from..end` of a die.
    pub fn forget_all(&mut self, die: usize, from: u32, end: u32) {
        let places = &mut self.dies[die];
        let mut page = from;
        while places.valid > 0 && page < end {
            if page.is_multiple_of(64) && places.here[page as usize / 64] == 0 {
                page = page.saturating_add(64);
                continue;
            }
            places.forget(page);
            page += 1;
        }
    }

    /// Takes the oldest valid pages out, as many as `pages` has room for, or erases the oldest block when nothing in it is valid.
    pub fn fold(&mut self, die: usize, pages: &mut [u32]) -> Fold {
        let mut count = 0;
        loop {
            let places = &mut self.dies[die];
            let end = self.block_pages.min(places.pages.len() as u32);
            if places.folded >= end {
                break;
            }
            if count == pages.len() {
                return Fold::Pages(count as u32);
            }
            let page = places.pages[places.folded as usize];
            places.folded += 1;
            if let Some(page) = places.take(page) {
                pages[count] = page;
                count += 1;
            }
        }
        if count > 0 {
            return Fold::Pages(count as u32);
        }
        let places = &mut self.dies[die];
        if places.pages.is_empty() {
            return Fold::Nothing;
        }
        let block = self.block_pages.min(places.pages.len() as u32);
        places.pages.drain(..block as usize);
        places.folded = 0;
        Fold::Block
    }
}
