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
//! up (data sheets and reviews, which the presets name). The cache is as large a part of the simulated flash as of the whole drive.
//!
//! Assumed: the flash of the cache comes on top of the over-provisioning, so that it takes no room from collection; a write is not held
//! back to keep a part of the cache for later. Left out: reads that fill the cache, data that stay in it because they are read or
//! written often, and wear of its blocks.

use std::collections::VecDeque;

use super::ftl::NONE;
use seeklab_spec as spec;
use seeklab_spec::WhenFull;

/// The cached places of a die, in the order in which they were programmed.
#[derive(Clone, Debug, Default)]
struct Places {
    /// Logical pages, or [`NONE`] for places without valid data. The first belongs to the oldest block that is not erased.
    pages: VecDeque<u32>,
    /// How many of them, from the first on, have been folded or were empty.
    folded: u32,
    /// Places ever programmed before the first.
    erased: u64,
    /// Pages that are valid.
    valid: u32,
}

/// The cache of a drive.
#[derive(Debug)]
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
    logical: u32,
    dies: Vec<Places>,
    /// Where each logical page is, die by die, counted from the first place that was ever programmed; [`NOWHERE`] when it is not here.
    places: Vec<u64>,
    /// Whether the drive has been idle for long enough.
    pub is_folding: bool,
}

const NOWHERE: u64 = u64::MAX;

/// Work for a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// There is none.
    Nothing,
    /// These logical pages, the first of the slice that was handed in, go to full density.
    Pages(u32),
    /// A block of the cache is to be erased.
    Block,
}

/// Pages of a cache on each die: the fixed and the dynamic part, of a drive whose dies have `logical` pages and which is simulated in part.
pub(super) fn pages(spec: &spec::Ssd, cache: &spec::SlcCache, dies: usize, logical: u32) -> [u32; 2] {
    let part = dies as f64 * f64::from(logical) * spec.page.0 as f64 / spec.capacity.0 as f64;
    [cache.fixed, cache.dynamic].map(|bytes| libm::round(bytes.0 as f64 * part / spec.page.0 as f64 / dies as f64) as u32)
}

impl Cache {
    pub fn new(spec: &spec::Ssd, flash: &spec::Flash, cache: &spec::SlcCache, dies: usize, logical: u32) -> Self {
        let [fixed, dynamic] = pages(spec, cache, dies, logical);
        Self {
            program_pages: flash.planes / cache.bits,
            block_pages: flash.pages_per_block / cache.bits,
            read_ns: cache.read.0,
            program_ns: cache.program.0,
            fold_after_ns: cache.fold_after.0,
            when_full: cache.when_full,
            fixed,
            dynamic,
            logical,
            dies: vec![Places::default(); dies],
            places: vec![NOWHERE; dies * logical as usize],
            is_folding: false,
        }
    }

    /// Bytes of memory for so many logical pages and such a cache.
    pub fn memory_bytes(logical_pages: u64, cache_pages: u64) -> u64 {
        8 * logical_pages + 4 * cache_pages
    }

    fn index(&self, die: usize, page: u32) -> usize {
        die * self.logical as usize + page as usize
    }

    /// Whether the page is in the cache.
    pub fn has(&self, die: usize, page: u32) -> bool {
        self.places[self.index(die, page)] != NOWHERE
    }

    /// Places that a die has room for, where `mapped` pages of it hold data at full density.
    pub fn room(&self, die: usize, mapped: u32) -> u32 {
        let free = f64::from(self.logical.saturating_sub(mapped + self.dies[die].valid)) / f64::from(self.logical);
        let most = self.fixed + (f64::from(self.dynamic) * free) as u32;
        most.saturating_sub(self.dies[die].pages.len() as u32)
    }

    /// Whether a die must make room before it takes writes.
    pub fn must_fold(&self, die: usize, mapped: u32) -> bool {
        self.when_full == WhenFull::Fold && self.room(die, mapped) < self.program_pages && !self.dies[die].pages.is_empty()
    }

    /// Writes a page.
    pub fn write(&mut self, die: usize, page: u32) {
        self.forget(die, page);
        let places = &mut self.dies[die];
        let place = places.erased + places.pages.len() as u64;
        places.pages.push_back(page);
        places.valid += 1;
        let index = self.index(die, page);
        self.places[index] = place;
    }

    /// Leaves places of a program empty.
    pub fn pad(&mut self, die: usize, pages: u32) {
        self.dies[die].pages.extend(std::iter::repeat_n(NONE, pages as usize));
    }

    /// The page is not here any more, if it was.
    pub fn forget(&mut self, die: usize, page: u32) -> bool {
        let index = self.index(die, page);
        let place = std::mem::replace(&mut self.places[index], NOWHERE);
        if place == NOWHERE {
            return false;
        }
        let places = &mut self.dies[die];
        places.pages[(place - places.erased) as usize] = NONE;
        places.valid -= 1;
        true
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
            if page != NONE {
                pages[count] = page;
                count += 1;
                self.forget(die, page);
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
        places.erased += u64::from(block);
        places.folded = 0;
        Fold::Block
    }
}
