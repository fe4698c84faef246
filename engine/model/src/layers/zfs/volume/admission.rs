//! The life of a write up to its acknowledgement, one transaction for each record: what it reads first, how the throttle lets it in, when
//! it holds a group.

use super::{Stage, State, Zfs};
use crate::kernel::{Durable, Kernel, Phase, Request, RequestId};
use crate::layers::device::transfer_ns;
use crate::layers::zfs::intent_log::Logged;
use crate::layers::zfs::record::HeldUp;
use crate::layers::zfs::throttle::{Admission, Attempt, Pool};
use seeklab_spec::Op;

impl Zfs {
    /// The next transaction of a write begins: a record that it changes in part is read first.
    pub(super) fn begin(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { offset, bytes, .. } = kernel.requests[id];
        let record_bytes = self.record_bytes;
        let state = self.state(id);
        let from = offset + state.done;
        let block = from / record_bytes;
        let to = offset.saturating_add(bytes).min((block * record_bytes).saturating_add(record_bytes));
        (state.block, state.upto) = (block, to - offset);
        (state.started_ns, state.waited, state.held) = (kernel.now_ns(), false, HeldUp::default());
        if self.files_exist && to - from < record_bytes {
            self.state(id).stage = Stage::Reading;
            kernel.requests[id].pending = 0;
            self.need(kernel, id, block);
            self.record.counts.blocks_read_for_write += u64::from(kernel.requests[id].pending);
            if kernel.requests[id].pending > 0 {
                return;
            }
        }
        self.ask(kernel, id);
    }

    pub(super) fn pool(&self, now_ns: u64) -> Pool {
        Pool {
            now_ns,
            dirty_bytes: self.dirty.total_bytes(),
            group: self.groups.open(),
            opened_ns: self.groups.opened_ns(),
            pipeline_full: self.groups.pipeline_full(),
        }
    }

    /// A write asks the throttle to let it in.
    pub(super) fn ask(&mut self, kernel: &mut Kernel, id: RequestId) {
        let State { started_ns, waited, .. } = *self.state(id);
        let attempt = Attempt { started_ns, bytes: self.record_bytes, waited };
        match self.throttle.admit(&self.pool(kernel.now_ns()), &attempt) {
            Admission::Enter => self.enter(kernel, id),
            Admission::EnterThenSleepUntil(ns) => {
                self.hold(kernel, id);
                self.record.sleeps(self.groups.open(), kernel.now_ns());
                self.state(id).held.delayed = true;
                self.sleeping.push_back(id);
                self.sleep(kernel, id, Stage::AsleepInGroup, ns);
            }
            Admission::SleepUntil(ns) => self.sleep_outside(kernel, id, ns),
            Admission::AskHost => {
                self.state(id).stage = Stage::Asking;
                self.asking.push_back(id);
            }
            Admission::WaitForSpace => {
                self.state(id).stage = Stage::Stopped;
                self.for_space.push_back(id);
            }
            Admission::WaitForNextGroup => {
                self.state(id).stage = Stage::Stopped;
                self.for_group.push(id);
                self.record.stops(self.groups.open(), kernel.now_ns());
                self.groups.want_open(self.groups.open() + 1);
                self.advance(kernel);
            }
        }
    }

    pub(super) fn sleep_outside(&mut self, kernel: &mut Kernel, id: RequestId, until_ns: u64) {
        let state = self.state(id);
        state.waited = true;
        if until_ns <= kernel.now_ns() {
            return self.enter(kernel, id);
        }
        state.held.delayed = true;
        self.asleep += 1;
        self.record.sleeps(self.groups.open(), kernel.now_ns());
        self.sleep(kernel, id, Stage::Asleep, until_ns);
    }

    pub(super) fn charge_delay(&mut self, kernel: &mut Kernel, id: RequestId) {
        let ns = kernel.now_ns() - kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Delay);
        self.state(id).held.delay_ns += ns;
    }

    /// A stopped write continues; it asks again.
    pub(super) fn go_on(&mut self, kernel: &mut Kernel, id: RequestId) {
        let ns = kernel.now_ns() - kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Blocked);
        let held = &mut self.state(id).held;
        held.blocked_ns += ns;
        held.blocked |= ns > 0; // a write that only moves on to a group that opens at once was not stopped
        self.ask(kernel, id);
    }

    pub(super) fn wake_in_group(&mut self, kernel: &mut Kernel, id: RequestId) {
        self.charge_delay(kernel, id);
        self.copy(kernel, id);
    }

    /// A transaction enters the open group.
    pub(super) fn enter(&mut self, kernel: &mut Kernel, id: RequestId) {
        self.hold(kernel, id);
        self.copy(kernel, id);
    }

    /// A transaction holds the open group. What its write has put into an earlier group is told to the intent log.
    fn hold(&mut self, kernel: &mut Kernel, id: RequestId) {
        let group = self.groups.hold();
        let state = self.state(id);
        let State { done, noted, group: before, .. } = *state;
        state.group = group;
        if done > noted && before != group {
            state.noted = done;
            let request = kernel.requests[id];
            if request.durable != Durable::No {
                self.note_for_log(&request, before, noted..done);
            }
        }
    }

    /// Copies a request's data into or out of memory: a read's at once, a write's by transaction.
    pub(super) fn copy(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = &kernel.requests[id];
        let (done, upto, find_ns) = match request.op {
            Op::Read => {
                let (first, end) = self.blocks(request);
                (0, request.bytes, self.machine.hit_ns(end - first))
            }
            Op::Write | Op::Trim => {
                let State { done, upto, .. } = self.states[id.0 as usize];
                (done, upto, 0)
            }
        };
        let start_ns = if done == 0 { self.overhead_ns.max(find_ns) } else { 0 };
        // Most writes have one part, and a division is a good part of the work on it.
        let before_ns = if done == 0 { 0 } else { transfer_ns(done, self.copy_rate) };
        let copy_ns = transfer_ns(upto, self.copy_rate) - before_ns;
        let copied_ns = self.machine.copy(kernel.now_ns(), start_ns.saturating_add(copy_ns), upto - done);
        self.sleep(kernel, id, Stage::Copying, copied_ns);
    }

    pub(super) fn copied(&mut self, kernel: &mut Kernel, id: RequestId) {
        kernel.charge(id, Phase::Memory);
        let request = kernel.requests[id];
        if request.op == Op::Read {
            *self.state(id) = State::default();
            return kernel.complete(id);
        }
        let State { done: before, upto: done, block, group, noted, held, .. } = *self.state(id);
        let is_last = done == request.bytes;
        if is_last && !request.durable.waits() {
            *self.state(id) = State::default();
            kernel.complete(id);
        }
        let dirtied = self.dirty.charge(group, block, block + 1);
        self.record.counts.dirtied_bytes += dirtied;
        if !request.durable.waits() {
            self.acknowledged(kernel, group, done - before);
        }
        self.remember(kernel.now_ns(), block, block + 1);
        self.throttle.committed(group, self.record_bytes, dirtied);
        self.record.entered(group, held, kernel.now_ns());
        self.groups.release(group);
        self.dirty_changed(kernel);
        if !is_last {
            self.state(id).done = done;
            self.advance(kernel);
            return self.begin(kernel, id);
        }
        match request.durable {
            Durable::No => {}
            Durable::Later => self.note_for_log(&request, group, noted..done),
            Durable::Itself | Durable::All => {
                let dataset = self.dataset(request.worker);
                self.logs[dataset].join(id);
                self.commit(kernel, dataset);
            }
        }
        self.advance(kernel);
    }

    /// These bytes of a write are in `group`; a commit that comes later makes them durable.
    fn note_for_log(&mut self, request: &Request, group: u64, part: std::ops::Range<u64>) {
        let writes = u64::from(part.end == request.bytes);
        let write = Logged { group, offset: request.offset + part.start, bytes: part.end - part.start, writes };
        let (written, syncing) = (self.sync.group, self.groups.syncing());
        let dataset = self.dataset(request.worker);
        self.logs[dataset].later(request.worker, write, |other| other < written || (other == written && syncing != Some(written)));
    }
}
