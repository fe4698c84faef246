//! Runs a scenario for a moment and tells how fast it was.
//!
//! Every worker keeps its requests in flight from the start to the end, so that each number is that of a closed system. What
//! happens while caches fill and pipelines start is left out: a run is measured from one completion to a later one.

use seeklab_model::stack::Stack;
use serde_json::Value;

use crate::support;

/// Events between two looks at what has completed.
const GLANCE_EVENTS: u64 = 64;
/// A run that needs more than this has lost its way.
const MAX_EVENTS: u64 = 30_000_000;

/// How long a run is watched.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Requests that complete before anything is measured.
    pub before: u64,
    /// Requests that are measured.
    pub measured: u64,
}

impl Effort {
    /// For a closed system of so many requests in flight.
    pub fn of(in_flight: u64, measured: u64) -> Self {
        let measured = measured.max(3 * in_flight);
        Self { before: measured / 3, measured }
    }

    /// The same, so many times as long.
    pub fn times(self, factor: u64) -> Self {
        Self { before: self.before * factor, measured: self.measured * factor }
    }
}

/// What was seen of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Requests completed a second, once the run was under way.
    pub per_s: f64,
    /// The same in bytes.
    pub bytes_per_s: f64,
    /// Bytes completed from the first moment on.
    pub all_bytes: f64,
    /// Seconds from the first moment on.
    pub all_s: f64,
    /// Shortest latency, from the first moment on.
    pub shortest_ns: f64,
    /// Longest latency, from the first moment on.
    pub longest_ns: f64,
    /// Latencies of all that completed, added up.
    pub total_ns: f64,
}

#[derive(Clone, Copy, Default)]
struct Reading {
    ios: u64,
    bytes: u64,
    total_ns: u64,
    now_ns: u64,
}

#[allow(clippy::cast_precision_loss)] // counts and times of short runs
fn real(value: u64) -> f64 {
    value as f64
}

fn read(stack: &Stack) -> Reading {
    let mut reading = Reading { now_ns: stack.now_ns(), ..Reading::default() };
    for stats in stack.recorder().jobs.iter().flat_map(|job| job.by_op.iter()) {
        reading.ios += stats.ios;
        reading.bytes += stats.bytes;
        reading.total_ns += stats.total_ns;
    }
    reading
}

/// Runs the scenario.
///
/// # Errors
/// When it is refused, runs into a limit, or never completes what shall be measured.
pub fn measure(document: &Value, effort: Effort, seed: u64) -> Result<Outcome, String> {
    let checked = support::read(document).map_err(|problems| format!("refused: {problems:?}"))?;
    let mut stack = Stack::new(checked, seed);
    let mut until = |completed: u64| -> Result<Reading, String> {
        loop {
            let now = read(&stack);
            if now.ios >= completed {
                return Ok(now);
            }
            if stack.step(GLANCE_EVENTS).map_err(|problem| problem.to_string())? {
                return Err(format!("ended after {} of {completed} requests", now.ios));
            }
            if stack.events() > MAX_EVENTS {
                return Err(format!("{} of {completed} requests after {MAX_EVENTS} events", now.ios));
            }
        }
    };
    let first = until(effort.before)?;
    let last = until(effort.before + effort.measured)?;
    let seconds = real(last.now_ns - first.now_ns) / 1e9;
    let ios = real(last.ios - first.ios);
    let stats: Vec<_> = stack.recorder().jobs.iter().flat_map(|job| job.by_op.iter()).filter(|stats| stats.ios > 0).collect();
    Ok(Outcome {
        per_s: ios / seconds,
        bytes_per_s: real(last.bytes - first.bytes) / seconds,
        all_bytes: real(last.bytes),
        all_s: real(last.now_ns) / 1e9,
        shortest_ns: real(stats.iter().map(|stats| stats.min_ns).min().unwrap_or(0)),
        longest_ns: real(stats.iter().map(|stats| stats.max_ns).max().unwrap_or(0)),
        total_ns: real(last.total_ns),
    })
}
