//! A channel between the controller and its dies.
//!
//! It moves pages one batch at a time. In order of readiness a batch is given its time as soon as it is ready, which needs no
//! queue. Where reads go first, batches wait in two lines, and a batch of reads that is ready goes before all programs that wait
//! for their data; a batch in flight is not interrupted.

use std::collections::VecDeque;

/// A transfer over a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// Pages of a part, from its die.
    Read { part: u32, pages: u32 },
    /// Data of a program, to the die.
    Write { die: u32, pages: u32 },
}

impl Load {
    pub fn pages(self) -> u32 {
        match self {
            Self::Read { pages, .. } | Self::Write { pages, .. } => pages,
        }
    }
}

/// One channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    /// When it has moved all that was given a time.
    free_ns: u64,
    moving: Option<Load>,
    reads: VecDeque<Load>,
    writes: VecDeque<Load>,
}

impl Channel {
    /// Gives a batch that is ready its time, after those before it. Returns the end.
    #[inline]
    pub fn reserve(&mut self, now_ns: u64, move_ns: u64) -> u64 {
        self.free_ns = now_ns.max(self.free_ns) + move_ns;
        self.free_ns
    }

    /// Puts a batch in line. Returns whether the channel begins with it at once.
    pub fn wants(&mut self, load: Load) -> bool {
        if self.moving.is_none() {
            self.moving = Some(load);
            return true;
        }
        let line = if matches!(load, Load::Read { .. }) { &mut self.reads } else { &mut self.writes };
        line.push_back(load);
        false
    }

    /// The batch in flight is across. Returns it, and the one that moves now.
    pub fn moved(&mut self) -> (Option<Load>, Option<Load>) {
        let next = self.reads.pop_front().or_else(|| self.writes.pop_front());
        (std::mem::replace(&mut self.moving, next), next)
    }
}
