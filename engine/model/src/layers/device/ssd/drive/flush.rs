//! FLUSH: makes durable what is in a volatile write buffer.
//!
//! A FLUSH covers the writes that completed before it and orders nothing among commands in flight, so it completes when all
//! pages that are in the buffer when it comes have been programmed; programs that gather pages begin as they are. Then the map of
//! pages is written, for what was programmed must be found again. With nothing in the buffer, or one that survives a power failure,
//! it costs a command. A write with FUA does not go through a volatile buffer at all: it is programmed, and then the map is written for
//! it. More than one may wait for the same programs, but the map has one journal, which takes one entry at a time.
//!
//! Sources: the Flush command of the `NVMe` base specification, as libnvme's `nvme_flush(2)` has it. The time for the map is the scenario's:
//! drives without protection take 0.2 to 1 ms more than the program. One at a time is a guess from a measured drive: a Samsung 860 PRO
//! with its cache off (louwrentius/fio-plot, random writes of 4 KiB) writes 473, 931, 1,843 and 3,406 times a second at depth 1 to 8, and
//! then 5,656, 5,676 and 5,682 at depth 16 to 64. Its dies would give more; one entry of 176 us each gives 5,680.
//!
//! Left out: FLUSH commands that share an entry of the map. Linux sends a drive one FLUSH at a time.

use std::collections::VecDeque;

use super::{Drive, Timer, Turn};
use crate::kernel::{Holder, Phase, RequestId};
use crate::layers::device::ssd::ftl::NONE;
use crate::layers::device::ssd::parts::Part;
use seeklab_spec::Persistence;

/// A FLUSH that waits.
#[derive(Clone, Copy, Debug)]
struct Flush {
    id: RequestId,
    /// Parts of writes that came before it have numbers below this.
    before: u64,
    /// Of these, how many are not on flash.
    parts: u64,
}

/// Every FLUSH that waits, and what for.
#[derive(Debug)]
pub(super) struct Flushes {
    waiting: VecDeque<Flush>,
    /// Parts in the buffer.
    buffered: u64,
    map_ns: u64,
    map_free_ns: u64,
}

impl Flushes {
    pub fn new(map_ns: u64) -> Self {
        Self { waiting: VecDeque::new(), buffered: 0, map_ns, map_free_ns: 0 }
    }

    /// A part came into the buffer.
    pub fn add(&mut self) {
        self.buffered += 1;
    }

    /// Takes the next turn to write the map, from `now_ns` on. Returns its start and end.
    fn write_map(&mut self, now_ns: u64) -> (u64, u64) {
        let start_ns = self.map_free_ns.max(now_ns);
        self.map_free_ns = start_ns + self.map_ns;
        (start_ns, self.map_free_ns)
    }

    /// Whether a FLUSH waits for the part of this number.
    pub fn wants(&self, number: u64) -> bool {
        self.waiting.back().is_some_and(|last| number < last.before)
    }
}

impl Drive {
    /// Serves a FLUSH.
    pub(super) fn flush(&mut self, turn: &mut Turn, id: RequestId) {
        if self.buffer_is != Persistence::Volatile || self.flushes.buffered == 0 {
            return self.deliver(turn, id, 0);
        }
        self.flushes.waiting.push_back(Flush { id, before: self.written_parts, parts: self.flushes.buffered });
        for die in 0..self.lines.len() {
            if self.lines[die].writes.first != NONE {
                self.work(turn, die);
            }
        }
    }

    /// A part that was in the buffer is on flash.
    pub(super) fn is_durable(&mut self, turn: &mut Turn, part: &Part) {
        self.flushes.buffered -= 1;
        if self.buffer_is.is_volatile() {
            turn.kernel.release(Holder::Device, part.bytes);
        }
        self.flushes.waiting.iter_mut().rev().take_while(|flush| part.number < flush.before).for_each(|flush| flush.parts -= 1);
        while let Some(flush) = self.flushes.waiting.front().copied().filter(|flush| flush.parts == 0) {
            self.flushes.waiting.pop_front();
            let mapped_ns = self.map(turn, flush.id);
            turn.at(mapped_ns, Timer::Mapped(flush.id));
        }
    }

    /// Writes the map for a request whose data are on flash. Returns the end.
    pub(super) fn map(&mut self, turn: &mut Turn, id: RequestId) -> u64 {
        let (start_ns, end_ns) = self.flushes.write_map(turn.kernel.now_ns());
        turn.kernel.requests.charge_until(id, Phase::Queue, start_ns);
        turn.kernel.requests.charge_until(id, Phase::FlashProgram, end_ns);
        end_ns
    }
}
