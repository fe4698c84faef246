//! Decisions of the engine's host for ZFS: the delay of a write, and the read-ahead.
//!
//! [`Question`] is all that the host learns of a write: what a file system could know of itself at that moment.

use seeklab_kernel::NS_PER_S;
use seeklab_spec::zfs::ThrottleKind;

use super::Zfs;
use crate::decision::{Asked, Decision, to_question, whole};
use crate::kernel::Kernel;
use crate::layers::zfs::throttle::mul_div;
use crate::read_ahead;

/// Longest delay that an answer may give.
const MAX_DELAY_NS: u64 = 60 * NS_PER_S;

/// The data of a question about the delay of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Question {
    /// Dirty bytes in memory, over all groups.
    pub dirty_bytes: u64,
    /// Most dirty bytes that memory may hold.
    pub limit_bytes: u64,
    /// The present, in nanoseconds since the start of the run.
    pub now_ns: u64,
    /// How long the write's transaction has been there already, in nanoseconds.
    pub waited_ns: u64,
    /// Bytes that the write will make dirty.
    pub bytes: u64,
    /// Dirty bytes that have been written to the backend, over the whole run.
    pub drained_bytes: u64,
    /// The same over the last second; less than a second at the start of the run.
    pub drain_bytes_per_s: u64,
    /// Bytes of the last group over the time that its sync took; 0 before the first.
    pub sync_bytes_per_s: u64,
    /// Group writes on the devices.
    pub in_flight: u32,
    /// Their bytes.
    pub in_flight_bytes: u64,
    /// Dirty bytes of the open group.
    pub group_bytes: u64,
    /// How long it has been open, in nanoseconds.
    pub group_age_ns: u64,
    /// Writes that sleep.
    pub asleep: u32,
}

/// How long a write is delayed.
pub(super) const DELAY: Decision<Zfs> = Decision {
    asked: Asked {
        name: "delays",
        field: "zfs.throttle",
        run_with: "run_throttle",
        is_asked: |scenario| scenario.zfs.as_ref().is_some_and(|zfs| zfs.throttle == Some(ThrottleKind::Asked)),
    },
    waits: |zfs| !zfs.asking.is_empty(),
    question: |zfs, kernel| to_question(&zfs.question(kernel.now_ns())?),
    answer: |zfs, kernel, answer| {
        let delay_ns = whole(answer, "delay_ns", "a delay; answer with a whole number of nanoseconds", MAX_DELAY_NS)?;
        zfs.answer(kernel, delay_ns);
        Ok(())
    },
};

/// The decision what to read ahead.
pub(super) const AHEAD: Decision<Zfs> = Decision {
    asked: Asked {
        name: "ahead",
        field: "zfs.prefetch.asked",
        run_with: "run_prefetcher",
        is_asked: |scenario| {
            let prefetch = scenario.zfs.as_ref().and_then(|zfs| zfs.prefetch.as_ref());
            prefetch.is_some_and(|prefetch| prefetch.on && prefetch.asked)
        },
    },
    waits: |zfs| zfs.reader.as_ref().is_some_and(|reader| !reader.questions.is_empty()),
    question: |zfs, _| to_question(zfs.reader.as_ref()?.questions.front()?),
    answer: |zfs, kernel, answer| {
        zfs.answer_ahead(kernel, &read_ahead::runs(answer)?);
        Ok(())
    },
};

impl Zfs {
    /// Return the question of the first write that asks.
    fn question(&mut self, now_ns: u64) -> Option<Question> {
        let first = self.asking.front()?;
        let started_ns = self.states[first.0 as usize].started_ns;
        let group = self.groups.open();
        Some(Question {
            dirty_bytes: self.dirty.total_bytes(),
            limit_bytes: self.throttle.limit_bytes().unwrap_or(0),
            now_ns,
            waited_ns: now_ns - started_ns,
            bytes: self.record_bytes,
            drained_bytes: self.drain.total_bytes,
            drain_bytes_per_s: self.drain.per_s(now_ns),
            sync_bytes_per_s: self.last_sync.map_or(0, |sync| mul_div(sync.bytes, NS_PER_S, sync.duration_ns())),
            in_flight: self.writes_in_flight,
            in_flight_bytes: self.bytes_in_flight,
            group_bytes: self.dirty.charged_bytes(group),
            group_age_ns: now_ns - self.groups.opened_ns(),
            asleep: self.asleep,
        })
    }

    /// The write that asks first sleeps so long, then enters.
    fn answer(&mut self, kernel: &mut Kernel, delay_ns: u64) {
        if let Some(id) = self.asking.pop_front() {
            self.sleep_outside(kernel, id, kernel.now_ns().saturating_add(delay_ns));
        }
    }
}
