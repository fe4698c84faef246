//! The contents of a drive when the run starts, built in bulk instead of by simulating hours of writing.
//!
//! - Sequential: all logical pages in order, block after block; all blocks but the last are full of valid pages.
//! - Random: the steady state of uniform random writes. In the large-block limit ([`super::closed_form`]) a block written `x`
//!   pages ago still has the share `exp(-(1 - p) x / U)` of its pages valid. Blocks are laid out by age with that many valid
//!   pages each, drawn from a random order of all logical pages; the shares are scaled so that every page is somewhere.
//!   Dies begin at random points of their cycle, so that they do not all collect at the same time.

use libm::exp;

use super::closed_form::victim_share;
use super::ftl::{Ftl, NONE, Shape};
use seeklab_kernel::Stream;
use seeklab_spec::{Collector, Precondition};

/// Erased blocks of a die in the middle of its cycle; two more are open, half written on average.
const ERASED: u32 = 2;

impl Ftl {
    /// A drive in the state that `precondition` asks for.
    pub(super) fn preconditioned(shape: Shape, collector: Collector, precondition: Precondition, stream: &mut Stream) -> Self {
        let mut ftl = Self::erased(shape, collector);
        let mut order: Vec<u32> = (0..shape.logical).collect();
        for die in 0..shape.dies {
            match precondition {
                Precondition::None => {}
                Precondition::Sequential => ftl.fill_in_order(die, &order),
                Precondition::Random => {
                    shuffle(&mut order, stream);
                    ftl.fill_with_steady_state(die, &order, stream);
                }
            }
        }
        ftl
    }

    fn fill_in_order(&mut self, die: usize, pages: &[u32]) {
        for pages in pages.chunks(self.shape.pages as usize) {
            let Some(block) = self.dies[die].free.pop_front() else { return };
            self.lay(die, block, pages, pages.len() as u32);
            if pages.len() < self.shape.pages as usize {
                self.dies[die].host = block;
            }
        }
    }

    fn fill_with_steady_state(&mut self, die: usize, order: &[u32], stream: &mut Stream) {
        let Shape { pages, blocks, logical, .. } = self.shape;
        let full = blocks - ERASED - 2;
        let share = victim_share(f64::from((full + 1) * pages) / f64::from(logical) - 1.0);
        let (host, moved) = (stream.below(u64::from(pages)) as u32, stream.below(u64::from(pages)) as u32);
        // The newest first: the open blocks, then the full ones. A block's age is that of its middle page.
        let written = |number: u32| match number {
            0 => host,
            1 => moved,
            _ => pages,
        };
        let mut weights = Vec::with_capacity(full as usize + 2);
        let mut age = 0.0;
        for number in 0..full + 2 {
            let programmed = f64::from(written(number));
            weights.push(programmed * exp(-(1.0 - share) * (age + programmed / 2.0) / f64::from(logical)));
            age += programmed;
        }
        let total: f64 = weights.iter().sum();
        let mut rest = order;
        let (mut before, mut owed) = (0.0, 0u32);
        for number in 0..full + 2 {
            before += weights[number as usize];
            // Rounding goes into the running sum, so that the last block gets what is left; no block gets more than it has room for.
            let target = libm::round(f64::from(logical) * (before / total)) as u32;
            let valid = target.saturating_sub(owed).min(written(number)).min(rest.len() as u32);
            owed += valid;
            let (here, others) = rest.split_at(valid as usize);
            rest = others;
            if written(number) == 0 {
                continue;
            }
            let Some(block) = self.dies[die].free.pop_front() else { return };
            self.lay(die, block, here, written(number));
            match number {
                0 => self.dies[die].host = block,
                1 => self.dies[die].moved = block,
                _ => {}
            }
            let age = u64::from(number) * u64::from(pages);
            let index = self.index(die, block);
            self.blocks[index].changed = (u64::from(full) + 2) * u64::from(pages) - age;
        }
        self.dies[die].clock = (u64::from(full) + 2) * u64::from(pages);
        self.place_rest(die, rest);
    }

    /// Pages that rounding left without a place take stale pages of any full block. There are more stale pages than the
    /// over-provisioning has, so all find one.
    fn place_rest(&mut self, die: usize, mut rest: &[u32]) {
        for block in 0..self.shape.blocks {
            let index = self.index(die, block);
            while let [page, others @ ..] = rest {
                if self.blocks[index].valid >= self.blocks[index].written {
                    break;
                }
                let place = block * self.shape.pages + self.blocks[index].valid;
                self.put(die, place, *page);
                self.blocks[index].valid += 1;
                rest = others;
            }
        }
    }

    /// Makes a block of `written` pages whose first pages are `pages` and whose others are stale.
    fn lay(&mut self, die: usize, block: u32, pages: &[u32], written: u32) {
        for (place, page) in (block * self.shape.pages..).zip(pages) {
            self.put(die, place, *page);
        }
        let index = self.index(die, block);
        self.blocks[index].valid = pages.len() as u32;
        self.blocks[index].written = written;
    }

    fn put(&mut self, die: usize, place: u32, page: u32) {
        let first = die * self.shape.blocks as usize * self.shape.pages as usize;
        self.owner[first + place as usize] = page;
        self.map[die * self.shape.logical as usize + page as usize] = place;
        self.dies[die].mapped += 1;
        debug_assert_ne!(place, NONE);
    }

    fn index(&self, die: usize, block: u32) -> usize {
        die * self.shape.blocks as usize + block as usize
    }
}

fn shuffle(pages: &mut [u32], stream: &mut Stream) {
    for last in (1..pages.len()).rev() {
        let other = stream.below(last as u64 + 1) as usize;
        pages.swap(last, other);
    }
}
