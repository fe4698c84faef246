//! When the SLC cache is emptied: while the drive is idle, or to make room ([`super::super::slc`]).

use super::{Drive, Timer, Turn};
use crate::layers::device::ssd::die::Kind;
use crate::layers::device::ssd::slc::Fold;

impl Drive {
    /// Whether the next program of the host's pages goes to the cache of a die.
    pub(super) fn goes_to_cache(&self, number: usize) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.room(number, self.mapped(number)) >= cache.program_pages)
    }

    /// Pages of the next program of the host's pages.
    pub(super) fn program_pages(&self, number: usize) -> u32 {
        match &self.cache {
            Some(cache) if self.goes_to_cache(number) || cache.must_fold(number, self.mapped(number)) => cache.program_pages,
            _ => self.planes,
        }
    }

    /// Pages of a die that hold data at full density.
    pub(super) fn mapped(&self, number: usize) -> u32 {
        self.ftl.as_ref().map_or(0, |ftl| ftl.dies[number].mapped)
    }

    /// No request is inside any more.
    pub(super) fn becomes_idle(&mut self, turn: &mut Turn) {
        self.idle_since_ns = turn.kernel.now_ns();
        let Some(cache) = self.cache.as_ref().filter(|_| !self.is_idle_timed && (self.ftl.is_some() || self.buffered_bytes > 0)) else {
            return;
        };
        self.is_idle_timed = true;
        turn.at(self.idle_since_ns + cache.fold_after_ns, Timer::Idle);
    }

    /// The drive may have been idle for long enough.
    pub(super) fn idle(&mut self, turn: &mut Turn) {
        self.is_idle_timed = false;
        let Some(cache) = self.cache.as_mut().filter(|_| self.inside == 0) else { return };
        let due_ns = self.idle_since_ns + cache.fold_after_ns;
        if due_ns > turn.kernel.now_ns() {
            self.is_idle_timed = true;
            return turn.at(due_ns, Timer::Idle);
        }
        cache.is_folding = true;
        for die in 0..self.dies.len() {
            self.work(turn, die);
        }
    }

    /// Begins to move pages out of the cache of a die, or to erase a block of it. Returns whether there was something to do.
    pub(super) fn begin_fold(&mut self, turn: &mut Turn, number: usize) -> bool {
        let (Some(cache), Some(ftl)) = (&mut self.cache, &mut self.ftl) else { return false };
        if ftl.is_due(number) {
            self.begin_collect(turn, number);
            return true;
        }
        let most = self.planes.min(ftl.places_left(number)) as usize;
        if most == 0 {
            return false;
        }
        let (kind, busy_ns) = match cache.fold(number, &mut self.folding[..most]) {
            Fold::Nothing => return false,
            Fold::Pages(count) => {
                for page in &self.folding[..count as usize] {
                    ftl.fold(number, *page % self.recipe.shape.logical);
                }
                if self.gathering.is_some() {
                    ftl.pad(number, self.planes - count);
                }
                (Kind::Move, u64::from(count.div_ceil(self.collect_parallel)) * cache.read_ns + self.program_ns)
            }
            Fold::Block => (Kind::Erase, self.erase_ns),
        };
        self.runs_for_itself(turn, number, kind, busy_ns);
        true
    }
}
