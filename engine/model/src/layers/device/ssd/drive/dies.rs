//! The next operations of the dies, their duration, and the actions at their end.

use super::{Drive, Reading, Timer, Turn};
use crate::kernel::{Phase, RequestId};
use crate::layers::device::ssd::channel::Load;
use crate::layers::device::ssd::die::{Kind, Next, State};
use crate::layers::device::ssd::ftl::{NONE, Step};
use crate::layers::device::ssd::parts::{EMPTY, Part};

impl Drive {
    /// Gives a die its next work, if it is free and has any.
    pub(super) fn work(&mut self, turn: &mut Turn, number: usize) {
        let reads = self.lines[number].reads != 0;
        if self.dies[number].state() == State::Running {
            if reads {
                self.ask_to_suspend(turn, number);
            }
            return;
        }
        let writes = !self.lines[number].writes.is_empty() && self.may_write(turn, number);
        match self.dies[number].next(reads, writes) {
            Next::Wait => {}
            Next::Reads => self.begin_reads(turn, number, writes),
            Next::Write => self.begin_write(turn, number),
            Next::Collect => self.begin_collect(turn, number),
            Next::Resume => {
                let until_ns = self.dies[number].resumes(&self.rules, turn.kernel.now_ns());
                self.wake_die(turn, number, until_ns);
            }
        }
    }

    /// Whether the pages that wait for a die should be programmed now.
    fn may_write(&mut self, turn: &mut Turn, number: usize) -> bool {
        let planes = self.program_pages(number);
        let Some(gathering) = &mut self.gathering else { return true };
        let line = &mut self.lines[number];
        let oldest = self.parts.0[line.writes.first];
        let due_ns = oldest.came_ns + gathering.wait_ns;
        if line.pages >= planes || line.unbuffered > 0 || due_ns <= turn.kernel.now_ns() || self.flushes.wants(oldest.number) {
            return true;
        }
        if gathering.is_full() && self.oldest_die() == Some(number) {
            return true;
        }
        let line = &mut self.lines[number];
        if !line.is_timed {
            line.is_timed = true;
            turn.at(due_ns, Timer::Waited(number as u32));
        }
        false
    }

    /// The die that the oldest page in the buffer waits for.
    fn oldest_die(&mut self) -> Option<usize> {
        let (lines, parts) = (&self.lines, &self.parts.0);
        self.gathering.as_mut()?.oldest_die(|die| {
            let first = lines[die].writes.first;
            (first != NONE).then(|| parts[first].number)
        })
    }

    /// Programs the oldest pages as they are while too much of the buffer waits, and lets writes in where room was freed.
    pub(super) fn relieve(&mut self, turn: &mut Turn) {
        while let Some(die) = self.oldest_die() {
            let waits = self.lines[die].pages;
            if self.gathering.as_ref().is_none_or(|gathering| !gathering.is_full()) {
                break;
            }
            self.work(turn, die);
            if self.lines[die].pages == waits {
                break; // the die is busy
            }
        }
        if self.gathering.is_some() {
            self.admit_writes(turn);
        }
    }

    pub(super) fn ask_to_suspend(&mut self, turn: &mut Turn, number: usize) {
        let now_ns = turn.kernel.now_ns();
        match self.dies[number].wants_suspension(&self.rules, now_ns) {
            Some(at_ns) if at_ns > now_ns => turn.at(at_ns, Timer::Suspend(number as u32)),
            Some(_) => self.suspend(turn, number),
            None => {}
        }
    }

    pub(super) fn suspend(&mut self, turn: &mut Turn, number: usize) {
        let now_ns = turn.kernel.now_ns();
        let die = &mut self.dies[number];
        if die.collects() {
            self.collected.stops(die.since_ns(), now_ns);
        }
        let until_ns = die.suspends(&self.rules, now_ns);
        self.wake_die(turn, number, until_ns);
    }

    /// Sees to it that a die continues at `until_ns`.
    fn wake_die(&mut self, turn: &mut Turn, number: usize, until_ns: u64) {
        if until_ns > turn.kernel.now_ns() {
            turn.at(until_ns, Timer::DieDone(number as u32));
        } else {
            self.die_done(turn, number);
        }
    }

    /// Begins reads on all planes that are free and have some.
    fn begin_reads(&mut self, turn: &mut Turn, number: usize, writes: bool) {
        let mut planes = self.lines[number].reads & !self.dies[number].reading;
        while planes != 0 {
            let plane = planes.trailing_zeros();
            planes &= planes - 1;
            self.begin_read(turn, number, plane, writes);
        }
    }

    fn begin_read(&mut self, turn: &mut Turn, number: usize, plane: u32, writes: bool) {
        let now_ns = turn.kernel.now_ns();
        let at = number * self.read_planes as usize + plane as usize;
        let part = self.reads[at].first;
        let (page, pages) = (self.parts.0[part].page, self.parts.0[part].pages.min(self.at_once));
        let read_ns = if self.cells.are_alike() {
            self.read_ns
        } else {
            (page..page + pages).map(|page| self.cells.read_ns(self.spot(number, page))).max().unwrap_or(self.read_ns)
        };
        let read_ns = match &self.cache {
            Some(cache) if (page..page + pages).all(|page| cache.has(number, page)) => cache.read_ns,
            _ => read_ns,
        };
        let read_ns = if self.senses(number, at, page, pages) { read_ns } else { 0 };
        let die = &mut self.dies[number];
        let slot = &mut self.parts.0[part];
        slot.page += pages;
        slot.pages -= pages;
        slot.read_ns += read_ns;
        slot.collect_ns = die.collected_ns(now_ns) - slot.collected_ns;
        if slot.pages == 0 {
            self.parts.pop(&mut self.reads[at]);
            if self.reads[at].is_empty() {
                self.lines[number].reads &= !(1 << plane);
            }
        }
        die.reads(plane, writes);
        self.reading[at] = Reading { part, pages };
        turn.at(now_ns + read_ns, Timer::HasRead(at as u32));
    }

    fn begin_write(&mut self, turn: &mut Turn, number: usize) {
        let now_ns = turn.kernel.now_ns();
        self.dies[number].ends_row();
        let ftl = self.ftl.get_or_insert_with(|| Box::new(self.recipe.build()));
        if ftl.is_due(number) {
            return self.begin_collect(turn, number);
        }
        let mapped = ftl.dies[number].mapped;
        if self.cache.as_ref().is_some_and(|cache| cache.must_fold(number, mapped)) && self.begin_fold(turn, number) {
            return;
        }
        let to_cache = self.goes_to_cache(number);
        let (most, program_ns) = match self.cache.as_ref().filter(|_| to_cache) {
            Some(cache) => (cache.program_pages, cache.program_ns),
            None => (self.planes, self.program_ns),
        };
        let Some(ftl) = self.ftl.as_mut() else { return };
        let (mut programmed, mut dropped, mut to_read) = (0, 0, 0);
        let collected_ns = self.dies[number].collected_ns(now_ns);
        let line = &mut self.lines[number];
        while !line.writes.is_empty() && programmed + dropped < most {
            let part = line.writes.first;
            let slot = &mut self.parts.0[part];
            let before = programmed;
            let pages = slot.pages;
            while slot.pages > 0 && programmed + dropped < most {
                let page = slot.page % self.recipe.shape.logical;
                if self.trims.gave_up(number, page, slot.number) {
                    dropped += 1;
                } else if let Some(cache) = self.cache.as_mut().filter(|_| to_cache) {
                    cache.write(number, slot.page);
                    ftl.is_cached(number, page, cache.owner(page) == slot.page);
                    programmed += 1;
                } else if ftl.write(number, page) {
                    if let Some(cache) = &mut self.cache {
                        cache.forget(number, slot.page);
                    }
                    programmed += 1;
                } else {
                    break;
                }
                slot.page += 1;
                slot.pages -= 1;
            }
            if slot.pages == pages {
                break;
            }
            slot.collect_ns = collected_ns - slot.collected_ns;
            slot.read_ns += u64::from(slot.to_read) * self.read_ns;
            slot.channel_ns += u64::from(programmed - before) * self.channel_page_ns;
            slot.program_ns += program_ns;
            to_read += std::mem::take(&mut slot.to_read);
            if let (Some(gathering), true) = (&mut self.gathering, slot.buffered) {
                gathering.begins(number, slot.page - 1, slot.bytes);
            }
            if slot.pages == 0 {
                line.unbuffered -= u32::from(!slot.buffered);
                self.parts.pop(&mut line.writes);
                self.parts.push(&mut line.programmed, part);
            }
        }
        line.pages -= programmed + dropped;
        if programmed == 0 {
            if dropped > 0 {
                self.programmed(turn, number); // all that waited was given up
                self.work(turn, number);
            }
            return;
        }
        match &mut self.cache {
            _ if self.gathering.is_none() => {}
            Some(cache) if to_cache => {
                cache.pad(number, most - programmed);
                ftl.pads_cache(most - programmed);
            }
            _ => ftl.pad(number, most - programmed),
        }
        self.registers.forget(number);
        let busy_ns = u64::from(to_read) * self.read_ns + program_ns;
        let channel = number % self.channels.len();
        if self.reads_first {
            self.dies[number].loads(busy_ns);
            return self.load(turn, channel, Load::Write { die: number as u32, pages: programmed });
        }
        let moved_ns = self.channels[channel].reserve(now_ns, u64::from(programmed) * self.channel_page_ns);
        self.dies[number].runs(Kind::Program, moved_ns, moved_ns + busy_ns);
        turn.at(moved_ns + busy_ns, Timer::DieDone(number as u32));
        if self.lines[number].reads != 0 {
            self.ask_to_suspend(turn, number);
        }
    }

    /// Puts a batch in line for its channel.
    fn load(&mut self, turn: &mut Turn, channel: usize, load: Load) {
        if self.channels[channel].wants(load) {
            turn.at(turn.kernel.now_ns() + u64::from(load.pages()) * self.channel_page_ns, Timer::Moved(channel as u32));
        }
    }

    /// A channel whose batches wait in line has moved one.
    pub(super) fn moved(&mut self, turn: &mut Turn, channel: usize) {
        let now_ns = turn.kernel.now_ns();
        let (moved, next) = self.channels[channel].moved();
        if let Some(next) = next {
            turn.at(now_ns + u64::from(next.pages()) * self.channel_page_ns, Timer::Moved(channel as u32));
        }
        match moved {
            Some(Load::Read { part, .. }) => self.pages_moved(turn, part),
            Some(Load::Write { die, .. }) => {
                let end_ns = self.dies[die as usize].is_loaded(now_ns);
                turn.at(end_ns, Timer::DieDone(die));
                if self.lines[die as usize].reads != 0 {
                    self.ask_to_suspend(turn, die as usize);
                }
            }
            None => {}
        }
    }

    pub(super) fn begin_collect(&mut self, turn: &mut Turn, number: usize) {
        self.dies[number].ends_row();
        let Some(ftl) = self.ftl.as_mut() else { return };
        let (kind, busy_ns) = match ftl.collect(number, self.planes) {
            Step::Nothing => {
                if self.cache.as_ref().is_some_and(|cache| cache.is_folding) {
                    self.begin_fold(turn, number);
                }
                return;
            }
            Step::Moved(pages) => (Kind::Move, u64::from(pages.div_ceil(self.collect_parallel)) * self.read_ns + self.program_ns),
            Step::Erased => (Kind::Erase, self.erase_ns),
        };
        self.runs_for_itself(turn, number, kind, busy_ns);
    }

    /// A die begins a step that no request asked for; a read that waits may suspend it.
    pub(super) fn runs_for_itself(&mut self, turn: &mut Turn, number: usize, kind: Kind, busy_ns: u64) {
        let now_ns = turn.kernel.now_ns();
        self.registers.forget(number);
        self.dies[number].runs(kind, now_ns, now_ns + busy_ns);
        self.collected.starts(now_ns);
        turn.at(now_ns + busy_ns, Timer::DieDone(number as u32));
        if self.lines[number].reads != 0 {
            self.ask_to_suspend(turn, number);
        }
    }

    pub(super) fn die_done(&mut self, turn: &mut Turn, number: usize) {
        let now_ns = turn.kernel.now_ns();
        let die = &mut self.dies[number];
        if die.until_ns() != now_ns {
            return; // it was suspended meanwhile
        }
        let (collected, since_ns) = (die.collects(), die.since_ns());
        match die.ends(now_ns) {
            State::Running if collected => self.collected.stops(since_ns, now_ns),
            State::Running => self.programmed(turn, number),
            State::Resuming => {
                if self.dies[number].collects() {
                    self.collected.starts(now_ns);
                }
                turn.at(self.dies[number].until_ns(), Timer::DieDone(number as u32));
            }
            State::Idle | State::Loading | State::Suspending | State::Suspended => {}
        }
        self.work(turn, number);
    }

    pub(super) fn has_read(&mut self, turn: &mut Turn, plane: usize) {
        let (number, Reading { part, pages }) = (plane / self.read_planes as usize, self.reading[plane]);
        self.dies[number].has_read((plane % self.read_planes as usize) as u32);
        let channel = number % self.channels.len();
        let move_ns = u64::from(pages) * self.channel_page_ns;
        self.parts.0[part].channel_ns = move_ns;
        if self.reads_first {
            self.load(turn, channel, Load::Read { part, pages });
        } else {
            let end_ns = self.channels[channel].reserve(turn.kernel.now_ns(), move_ns);
            turn.at(end_ns, Timer::PagesMoved(part));
        }
        self.work(turn, number);
    }

    pub(super) fn pages_moved(&mut self, turn: &mut Turn, place: u32) {
        let slot = &mut self.parts.0[place];
        let pages = slot.to_move.min(self.at_once);
        slot.to_move -= pages;
        let bytes = if slot.to_move == 0 { slot.bytes } else { slot.bytes.min(u64::from(pages) * self.page) };
        slot.bytes -= bytes;
        let part = *slot;
        let mut is_last = false;
        if part.to_move == 0 {
            self.parts.0.release(place);
            let inside = &mut self.requests[part.request as usize];
            inside.parts -= 1;
            is_last = inside.parts == 0;
        }
        if is_last {
            charge_part(turn, &part);
            let id = RequestId(part.request);
            self.deliver(turn, id, bytes);
            self.leave_path(turn, id);
        } else {
            self.occupy_interface(turn.kernel.now_ns(), bytes, 0);
        }
    }

    fn programmed(&mut self, turn: &mut Turn, number: usize) {
        if let Some(gathering) = &mut self.gathering {
            gathering.ends(number);
        }
        let mut list = std::mem::replace(&mut self.lines[number].programmed, EMPTY);
        while let Some(place) = self.parts.pop(&mut list) {
            let part = self.parts.0[place];
            self.parts.0.release(place);
            if part.buffered {
                self.buffered_bytes -= part.bytes;
                self.is_durable(turn, &part);
                continue;
            }
            let inside = &mut self.requests[part.request as usize];
            inside.parts -= 1;
            if inside.parts == 0 {
                charge_part(turn, &part);
                let id = RequestId(part.request);
                if self.writes_through(&turn.kernel.requests[id]) {
                    let mapped_ns = self.map(turn, id);
                    turn.at(mapped_ns, Timer::Finished(id));
                } else {
                    self.finish(turn, id);
                }
            }
        }
        self.admit_writes(turn);
    }
}

/// Charges a request from its arrival at the dies until now, as its last part spent the time.
fn charge_part(turn: &mut Turn, part: &Part) {
    let id = RequestId(part.request);
    let phases = [
        (Phase::Collect, part.collect_ns),
        (Phase::FlashRead, part.read_ns),
        (Phase::FlashProgram, part.program_ns),
        (Phase::Transfer, part.channel_ns),
    ];
    let all_ns = turn.kernel.now_ns() - turn.kernel.requests[id].charged_ns;
    let known_ns: u64 = phases.iter().map(|(_, ns)| ns).sum();
    debug_assert!(known_ns <= all_ns, "{part:?} spent more than {all_ns} ns");
    for (phase, ns) in phases {
        turn.kernel.requests.charge_ns(id, phase, ns);
    }
    turn.kernel.charge(id, Phase::Queue);
}
