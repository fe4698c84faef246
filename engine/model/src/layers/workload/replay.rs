//! A worker's requests when they come from a trace.
//!
//! Three ways to replay:
//! - *open*: each request at its recorded time, however many are in flight. The system cannot slow its clients down.
//! - *closed*: in recorded order, at most `iodepth` in flight; the next goes out when one completes. Where the recorded system was
//!   idle before a request (nothing in flight), the replay waits until it is idle too, and then as long. That needs recorded
//!   response times; without them there are no pauses.
//! - *fast*: in recorded order, at most `iodepth` in flight, no pauses.
//!
//! Left out: dependencies between requests, which traces do not record.

use std::str::FromStr;

use seeklab_spec::Op;
use seeklab_spec::trace::Trace;

/// When the requests of a trace are issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// At the recorded times.
    #[default]
    Open,
    /// When earlier ones complete, with the recorded pauses.
    Closed,
    /// When earlier ones complete.
    Fast,
}

impl Mode {
    /// All modes by name.
    pub const NAMES: [&str; 3] = ["open", "closed", "fast"];

    /// The name that people write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl FromStr for Mode {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Open, Self::Closed, Self::Fast].into_iter().find(|mode| mode.name() == text).ok_or(())
    }
}

/// The latest time of a request: far beyond the limit of any run.
const LATEST_NS: u64 = 1 << 62;

/// One request to issue.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Open: its time after the start. Closed: how long the system has been idle before it.
    wait_ns: u64,
    offset: u64,
    bytes: u32,
    op: Op,
}

/// The requests of a trace, and how far they have been issued.
#[derive(Debug)]
pub struct Replay {
    mode: Mode,
    steps: Vec<Step>,
    next: usize,
    idle_since_ns: u64,
}

impl Replay {
    /// The requests of a trace, with all times multiplied by `scale` (0.5 is twice as fast).
    #[must_use]
    pub fn new(trace: &Trace, mode: Mode, scale: f64) -> Self {
        let pauses_ns = if mode == Mode::Closed && trace.has_responses() { pauses(trace) } else { Vec::new() };
        let step = |(index, row): (usize, &seeklab_spec::trace::Row)| Step {
            wait_ns: match mode {
                Mode::Open => scaled(row.time_ns, scale),
                Mode::Closed => pauses_ns.get(index).map_or(0, |pause_ns| scaled(*pause_ns, scale)),
                Mode::Fast => 0,
            },
            offset: trace.address(row),
            bytes: row.bytes,
            op: row.op,
        };
        Self { mode, steps: trace.rows.iter().enumerate().map(step).collect(), next: 0, idle_since_ns: 0 }
    }

    /// Requests that may be in flight when the job's queue depth is `iodepth`.
    pub(super) fn most_in_flight(&self, iodepth: u32) -> u32 {
        if self.mode == Mode::Open { u32::MAX } else { iodepth }
    }

    /// When the next request is due; [`None`] while it waits for all in flight to complete.
    pub(super) fn due_ns(&self, start_ns: u64, in_flight: u32) -> Option<u64> {
        let wait_ns = self.steps.get(self.next).map_or(0, |step| step.wait_ns);
        match self.mode {
            Mode::Open => Some(start_ns.saturating_add(wait_ns)),
            Mode::Closed | Mode::Fast if wait_ns == 0 => Some(0),
            Mode::Closed | Mode::Fast => (in_flight == 0).then(|| self.idle_since_ns.saturating_add(wait_ns)),
        }
    }

    /// Takes the next request: direction, offset in the address space, bytes. The job's `number_ios` ends it after the last.
    pub(super) fn take(&mut self) -> (Op, u64, u64) {
        let step = self.steps[self.next];
        self.next += 1;
        (step.op, step.offset, step.bytes.into())
    }

    /// A request has completed.
    pub(super) fn completed(&mut self, now_ns: u64) {
        self.idle_since_ns = now_ns;
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.steps.len() * size_of::<Step>()) as u64
    }
}

#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // times below 2^53; a cast saturates
fn scaled(ns: u64, scale: f64) -> u64 {
    // A product with 1 must keep times that a float does not.
    let ns = if scale.to_bits() == 1f64.to_bits() { ns } else { libm::round(ns as f64 * scale) as u64 };
    ns.min(LATEST_NS)
}

/// How long the recorded system had nothing in flight before each request, in nanoseconds.
fn pauses(trace: &Trace) -> Vec<u64> {
    let mut busy_until_ns = 0u64;
    let pause = |row: &seeklab_spec::trace::Row| {
        let pause_ns = row.time_ns.saturating_sub(busy_until_ns);
        busy_until_ns = busy_until_ns.max(row.time_ns.saturating_add(row.response_ns));
        pause_ns
    };
    trace.rows.iter().map(pause).collect()
}
