//! TRIM: the host says that it will not ask for some pages again.
//!
//! A whole page that a TRIM covers leaves the map, so that its place is stale and collection need not move it; what is covered in part
//! stays. A page of it that waits in the write buffer is dropped when its turn to be programmed comes, unless it was written again.
//! The controller works the map off, one TRIM after the other, at `trim_page` a page (assumed: 20 ns, 1 GiB in 5 ms), and no die has to
//! do with it: what is reclaimed is paid later, and less, because collection finds fewer valid pages. Where TRIM cannot be queued, as
//! DATA SET MANAGEMENT before SATA 3.1, no other command is taken meanwhile (`sync_trim`); those inside continue.
//!
//! Source: the Dataset Management command (deallocate) of the `NVMe` base specification; trimmed pages read as zeros, and no flash is read
//! for them. Not modelled: ranges of a command, the map's own writes, and drives that apply a TRIM later or not at all.

use std::collections::BTreeMap;

use super::{Drive, Timer, Turn};
use crate::kernel::{Phase, RequestId};

/// The remaining work of trims.
#[derive(Debug)]
pub(super) struct Trims {
    page_ns: u64,
    stops_others: bool,
    /// When the controller has worked off what came.
    until_ns: u64,
    /// Pages of dies that wait to be programmed and were given up, with the number of the next part: later ones are written again.
    given_up: BTreeMap<(u32, u32), u64>,
}

impl Trims {
    pub fn new(page_ns: u64, stops_others: bool) -> Self {
        Self { page_ns, stops_others, until_ns: 0, given_up: BTreeMap::new() }
    }

    /// Whether pages may have been given up.
    pub fn were_any(&self) -> bool {
        self.until_ns > 0
    }

    /// Until when no command is taken.
    pub fn closed_until_ns(&self) -> u64 {
        if self.stops_others { self.until_ns } else { 0 }
    }

    /// Whether a page that is about to be programmed as a part of this number was given up.
    pub fn gave_up(&mut self, die: usize, page: u32, part: u64) -> bool {
        if self.given_up.is_empty() {
            return false;
        }
        let key = (die as u32, page);
        match self.given_up.get(&key) {
            Some(before) if part < *before => true,
            Some(_) => {
                self.given_up.remove(&key);
                false
            }
            None => false,
        }
    }

    /// A page is written again, instead of one that waits.
    pub fn is_written(&mut self, die: usize, page: u32) {
        self.given_up.remove(&(die as u32, page));
    }
}

impl Drive {
    /// Serves a TRIM.
    pub(super) fn trim(&mut self, turn: &mut Turn, id: RequestId) {
        let request = turn.kernel.requests[id];
        let (first, end) = (request.place.div_ceil(self.page), (request.place + request.bytes) / self.page);
        let commanded_ns = self.cross_interface(turn, id, 0);
        let start_ns = commanded_ns.max(self.trims.until_ns);
        let done_ns = start_ns + end.saturating_sub(first) * self.trims.page_ns;
        self.trims.until_ns = done_ns;
        turn.kernel.requests.charge_until(id, Phase::Queue, start_ns);
        turn.kernel.requests.charge_until(id, Phase::Overhead, done_ns);
        if self.trims.stops_others {
            turn.at(done_ns, Timer::Trimmed);
        }
        turn.at(done_ns, Timer::Finished(id));
        if first < end {
            self.give_up(first, end);
        }
    }

    /// Takes pages out of the map, die by die, and marks those that wait.
    fn give_up(&mut self, first: u64, end: u64) {
        let (dies, stripe, logical) = (self.lines.len() as u64, u64::from(self.stripe), u64::from(self.recipe.shape.logical));
        let ftl = self.ftl.get_or_insert_with(|| Box::new(self.recipe.build()));
        for (die, line) in (0_u64..).zip(&self.lines) {
            // Its pages count on from row to row of `stripe` pages.
            let local = |page: u64| page / stripe / dies * stripe + page % stripe;
            let row = first / stripe + (die + dies - first / stripe % dies) % dies;
            let start = local(first.max(row * stripe));
            let last = (end - 1) / stripe;
            if row > last {
                continue;
            }
            let last_row = last - (last - row) % dies;
            let stop = local((end - 1).min(last_row * stripe + stripe - 1));
            let pages = (stop + 1 - start).min(logical);
            for at in start..start + pages {
                let (die, page) = (die as usize, (at % logical) as u32);
                let was_mapped = ftl.trim(die, page);
                if self.cache.as_mut().is_some_and(|cache| cache.forget(die, at as u32)) && !was_mapped {
                    ftl.trims_cache();
                }
            }
            if let Some(cache) = &mut self.cache {
                cache.forget_all(die as usize, (start + pages) as u32, (stop + 1) as u32);
            }
            let mut waiting = line.writes.first;
            while let Some(part) = self.parts.get(waiting) {
                for at in (part.page..part.page + part.pages).map(|at| u64::from(at) % logical) {
                    if (at + logical - start % logical) % logical < pages {
                        self.trims.given_up.insert((die as u32, at as u32), self.written_parts);
                    }
                }
                waiting = part.next;
            }
        }
    }
}
