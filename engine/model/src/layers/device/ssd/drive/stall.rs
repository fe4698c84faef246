//! Stalls: moments in which a drive takes no data of buffered writes.
//!
//! A buffered write needs no flash, so without stalls all writes of a lone writer take the same time. Real drives stop at times: they
//! save a part of their map, open a block, move data. Published runs of fio on two SATA drives (louwrentius/fio-plot, benchmark data:
//! random writes of 4 KiB, one job) show how such stops look from outside:
//! - Intel S4610, depth 1: 46 us, but 293 us at 99.9% and 610 us at 99.99%;
//! - Samsung 860 PRO, depth 4: 56 us, but 1.6 ms at 99%; at depth 1 only 47 us at 99.9%.
//!
//! On both, the share of *requests* that wait hardly depends on the depth. A stop delays all commands in the drive, so that stops are
//! the rarer, the more commands wait.
//!
//! Rule: a buffered write that finds itself one of `n` commands in the drive begins a stall with probability `share / n`. The stall
//! takes the interface for a gamma distributed time, before the write's data. Where the work `hides`, a pause between commands takes
//! it over in one of `n` cases: the probability is `share / n x (1 - 1 / n)`, and a write alone never waits.
//!
//! Closed form: `n` requests in a closed loop pass the interface once in a cycle, so a cycle contains `share` stalls, and each
//! response is longer by **share x time** on average, `share x time x (1 - 1 / n)` where the work hides. This is exact for a lone
//! writer and where the interface is the limit; otherwise overheads overlap with a part of the stall, and it is an upper bound.
//!
//! That stops wait for fewer commands, and hide, is a guess from these two series; no source states what the drives do. Left out:
//! stalls that depend on what was written before, and rare ones of 0.3 s (one in a run of the 860 PRO).

use seeklab_kernel::Stream;
use seeklab_spec::WriteStall;

/// Draws the stalls of a drive, from a stream of its own.
#[derive(Clone, Debug)]
pub(super) struct Stalls {
    kinds: Vec<WriteStall>,
    stream: Stream,
}

impl Stalls {
    pub fn new(kinds: &[WriteStall], stream: Stream) -> Self {
        Self { kinds: kinds.to_vec(), stream }
    }

    /// Return how long the drive takes no data before those of a write, one of `inside` commands.
    pub fn before_write_ns(&mut self, inside: u32) -> u64 {
        if self.kinds.is_empty() {
            return 0;
        }
        let inside = f64::from(inside.max(1));
        let mut draw = self.stream.unit();
        for kind in &self.kinds {
            let chance = kind.share / inside * if kind.hides { 1.0 - 1.0 / inside } else { 1.0 };
            if draw < chance {
                return libm::round(self.stream.gamma(kind.shape, kind.time.0 as f64)) as u64;
            }
            draw -= chance;
        }
        0
    }
}
