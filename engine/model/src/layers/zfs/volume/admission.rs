//! The life of a write up to its acknowledgement: what it reads first, how the throttle lets it in, when it holds a group.

use super::{Question, Stage, ZfsVolume};
use crate::kernel::{Durable, Kernel, Phase, RequestId};
use crate::layers::device::transfer_ns;
use crate::layers::zfs::intent_log::Logged;
use crate::layers::zfs::throttle;
use crate::layers::zfs::throttle::{Admission, Attempt, Pool, mul_div};
use crate::layers::zfs::zfetch::Run;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::Op;

impl ZfsVolume {
    /// A write's transaction begins: blocks that it changes in part are read first.
    pub(super) fn begin(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let (first, end) = self.blocks(&request);
        let bytes = (end - first).saturating_mul(self.record_bytes);
        self.state(id).attempt = Attempt { started_ns: kernel.now_ns(), bytes, waited: false };
        if self.files_exist && bytes > request.bytes {
            let starts_within = !request.offset.is_multiple_of(self.record_bytes);
            let ends_within = !(request.offset + request.bytes).is_multiple_of(self.record_bytes);
            self.state(id).stage = Stage::Reading;
            kernel.requests[id].pending = 0;
            if starts_within {
                self.need(kernel, id, first);
            }
            if ends_within && (end - first > 1 || !starts_within) {
                self.need(kernel, id, end - 1);
            }
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
        let attempt = self.state(id).attempt;
        match self.throttle.admit(&self.pool(kernel.now_ns()), &attempt) {
            Admission::Enter => self.enter(kernel, id),
            Admission::EnterThenSleepUntil(ns) => {
                let group = self.groups.hold();
                self.record.sleeps(group, kernel.now_ns());
                let state = self.state(id);
                state.group = group;
                state.held.delayed = true;
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
        state.attempt.waited = true;
        if until_ns <= kernel.now_ns() {
            return self.enter(kernel, id);
        }
        state.held.delayed = true;
        self.asleep += 1;
        self.record.sleeps(self.groups.open(), kernel.now_ns());
        self.sleep(kernel, id, Stage::Asleep, until_ns);
    }

    /// Whether the host must answer before time goes on.
    #[must_use]
    pub(super) fn waits_for_an_answer(&self) -> bool {
        !self.asking.is_empty() || self.reader.as_ref().is_some_and(|reader| !reader.questions.is_empty())
    }

    /// What the host must answer first.
    pub fn question(&mut self, now_ns: u64) -> Option<Question> {
        let Some(first) = self.asking.front() else {
            return self.reader.as_ref()?.questions.front().copied().map(Question::Ahead);
        };
        let attempt = self.states[first.0 as usize].attempt;
        let group = self.groups.open();
        Some(Question::Delay(throttle::asked::Question {
            dirty_bytes: self.dirty.total_bytes(),
            limit_bytes: self.throttle.limit_bytes().unwrap_or(0),
            now_ns,
            waited_ns: now_ns - attempt.started_ns,
            bytes: attempt.bytes,
            drained_bytes: self.drain.total_bytes,
            drain_bytes_per_s: self.drain.per_s(now_ns),
            sync_bytes_per_s: self.last_sync.map_or(0, |sync| mul_div(sync.bytes, NS_PER_S, sync.duration_ns())),
            in_flight: self.writes_in_flight,
            in_flight_bytes: self.bytes_in_flight,
            group_bytes: self.dirty.charged_bytes(group),
            group_age_ns: now_ns - self.groups.opened_ns(),
            asleep: self.asleep,
        }))
    }

    /// Takes the host's answer: the write sleeps so long, then enters. Nothing happens when nothing was asked.
    pub fn answer(&mut self, kernel: &mut Kernel, delay_ns: u64) {
        if let Some(id) = self.asking.pop_front() {
            self.sleep_outside(kernel, id, kernel.now_ns().saturating_add(delay_ns));
        }
    }

    /// Takes the host's answer about read-ahead. Nothing happens when nothing was asked.
    pub fn answer_runs(&mut self, kernel: &mut Kernel, runs: &[Run]) {
        self.answer_ahead(kernel, runs);
    }

    pub(super) fn charge_delay(&mut self, kernel: &mut Kernel, id: RequestId) {
        let ns = kernel.now_ns() - kernel.requests[id].charged_ns;
        kernel.charge(id, Phase::Delay);
        self.state(id).held.delay_ns += ns;
    }

    /// A stopped write goes on; it asks again.
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

    /// A write enters the open group.
    pub(super) fn enter(&mut self, kernel: &mut Kernel, id: RequestId) {
        let group = self.groups.hold();
        self.state(id).group = group;
        self.copy(kernel, id);
    }

    /// Copies a request's data into or out of memory.
    pub(super) fn copy(&mut self, kernel: &mut Kernel, id: RequestId) {
        let copy_ns = transfer_ns(kernel.requests[id].bytes, self.copy_rate);
        self.sleep(kernel, id, Stage::Copying, kernel.now_ns().saturating_add(self.overhead_ns).saturating_add(copy_ns));
    }

    pub(super) fn copied(&mut self, kernel: &mut Kernel, id: RequestId) {
        kernel.charge(id, Phase::Memory);
        let request = kernel.requests[id];
        let state = std::mem::take(self.state(id));
        if !request.durable.waits() {
            kernel.complete(id);
        }
        if request.op == Op::Read {
            return;
        }
        let (first, end) = self.blocks(&request);
        let dirtied = self.dirty.charge(state.group, first, end);
        self.record.counts.dirtied_bytes += dirtied;
        if !request.durable.waits() {
            self.acknowledged(kernel, state.group, request.bytes);
        }
        self.remember(kernel.now_ns(), first, end);
        self.throttle.committed(state.group, state.attempt.bytes, dirtied);
        self.record.entered(state.group, state.held);
        self.groups.release(state.group);
        self.dirty_changed(kernel);
        if request.durable == Durable::Later {
            let (group, syncing) = (self.sync.group, self.groups.syncing());
            let write = Logged { group: state.group, first, end, bytes: request.bytes };
            let dataset = self.dataset(request.worker);
            self.logs[dataset].later(request.worker, write, |other| other < group || (other == group && syncing != Some(group)));
        }
        if request.durable.waits() {
            self.state(id).group = state.group;
            let dataset = self.dataset(request.worker);
            self.logs[dataset].join(id);
            self.commit(kernel, dataset);
        }
        self.advance(kernel);
    }
}
