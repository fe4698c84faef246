//! The scheduler before 2013: one queue in order of deadline, and a fixed number in flight.
//!
//! A request's deadline is the time of its arrival in units of 0.64 s plus an offset by class: none for what somebody waits
//! for, 4 units for the writes of a group, 6 for prefetches, 10 and 20 for resilver and scrub. Requests leave in order of
//! (deadline, offset). So a group's writes lie about 2.5 s behind reads, until they are past due: then all of them go ahead of
//! every new read.
//!
//! An arrival is issued at once while fewer than 4 are in flight; each completion issues up to 2, so the number in flight ramps
//! up to the maximum, whatever the load: 35 at first, 10 from 2010. Source: reference section 2.5. The first version merged only
//! what was exactly adjacent; gaps came in 2009.

use std::collections::VecDeque;

use super::aggregate::{Limits, Order, gather};
use super::{Class, Io, Issue};

/// The tunables of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Below this many in flight an arrival is issued at once.
    pub min_pending: u32,
    /// Most in flight.
    pub max_pending: u32,
    /// Issued by each completion, at most.
    pub ramp_rate: u32,
    /// Unit of deadlines.
    pub unit_ns: u64,
    /// Merging.
    pub aggregation: Limits,
}

impl Settings {
    /// The settings with `max_pending` in flight.
    #[must_use]
    pub fn new(max_pending: u32) -> Self {
        let aggregation = Limits { span_bytes: 128 << 10, ..Limits::default() };
        Self { min_pending: 4, max_pending, ramp_rate: 2, unit_ns: 640_000_000, aggregation }
    }

    /// The settings of 2010: fewer in flight, and merging over gaps.
    #[must_use]
    pub fn of_2010() -> Self {
        let new = Self::new(10);
        Self { aggregation: Limits { span_bytes: new.aggregation.span_bytes, ..Limits::gaps_of_2009() }, ..new }
    }
}

/// Units by which a class's deadline lies after its arrival.
#[must_use]
pub fn class_units(class: Class) -> u64 {
    match class {
        Class::SyncRead | Class::SyncWrite => 0,
        Class::AsyncWrite | Class::Trim => 4,
        Class::AsyncRead => 6,
        Class::Removal | Class::Initializing | Class::Rebuild => 10,
        Class::Scrub => 20,
    }
}

/// The queue of one leaf device.
#[derive(Clone, Debug)]
pub struct DeadlineQueue {
    settings: Settings,
    /// In order of (deadline, offset, arrival).
    queue: [VecDeque<Io>; 1],
    /// Length of the longest request so far.
    longest_bytes: u64,
    pending: u32,
}

impl DeadlineQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, queue: [VecDeque::new()], longest_bytes: 0, pending: 0 }
    }

    /// Requests queued.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queue[0].len()
    }

    /// Requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.pending
    }

    /// Adds a request that arrived at `now_ns`. O(log n) when it comes last, as the blocks of a group do.
    pub fn enqueue(&mut self, now_ns: u64, io: Io) {
        let due = now_ns / self.settings.unit_ns.max(1) + class_units(io.class);
        let place = self.queue[0].partition_point(|other| (other.due, other.offset) <= (due, io.offset));
        self.queue[0].insert(place, Io { due, ..io });
        self.longest_bytes = self.longest_bytes.max(io.bytes);
    }

    /// Return the request that goes to the device after an arrival, if any; `members` are the requests in it.
    pub fn after_arrival(&mut self, members: &mut Vec<Io>) -> Option<Issue> {
        if self.pending < self.settings.min_pending { self.issue(members) } else { None }
    }

    /// A request in flight has completed.
    pub fn complete(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// Return the request that goes to the device after a completion. The caller asks up to [`Settings::ramp_rate`] times.
    pub fn after_completion(&mut self, members: &mut Vec<Io>) -> Option<Issue> {
        if self.pending < self.settings.max_pending { self.issue(members) } else { None }
    }

    fn issue(&mut self, members: &mut Vec<Io>) -> Option<Issue> {
        let first = self.queue[0].pop_front()?;
        self.pending += 1;
        let order = Order::Deadline { longest_bytes: self.longest_bytes };
        Some(gather(&self.settings.aggregation, first, &mut self.queue, |_| order, members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_spec::Op;

    const S: u64 = 1_000_000_000;

    fn queue(max_pending: u32) -> DeadlineQueue {
        DeadlineQueue::new(Settings { aggregation: Limits::default(), ..Settings::new(max_pending) })
    }

    fn io(class: Class, offset: u64) -> Io {
        let op = if class == Class::AsyncWrite { Op::Write } else { Op::Read };
        Io { class, op, offset, bytes: 10, token: 0, due: 0 }
    }

    fn drain(queue: &mut DeadlineQueue) -> Vec<(Class, u64)> {
        let mut members = Vec::new();
        std::iter::from_fn(|| {
            queue.complete();
            queue.after_completion(&mut members).map(|issue| (issue.class, issue.offset))
        })
        .collect()
    }

    #[test]
    fn group_writes_wait_behind_reads_until_they_are_past_due() {
        let mut queue = queue(10);
        queue.enqueue(0, io(Class::AsyncWrite, 1));
        queue.enqueue(2 * S, io(Class::SyncRead, 2));
        queue.enqueue(3 * S, io(Class::SyncRead, 3));
        assert_eq!(drain(&mut queue), [(Class::SyncRead, 2), (Class::AsyncWrite, 1), (Class::SyncRead, 3)]);
    }

    #[test]
    fn requests_of_one_deadline_leave_in_order_of_offset() {
        let mut queue = queue(10);
        for offset in [30, 10, 20] {
            queue.enqueue(S, io(Class::SyncRead, offset));
        }
        assert_eq!(drain(&mut queue).iter().map(|(_, offset)| *offset).collect::<Vec<_>>(), [10, 20, 30]);
    }

    #[test]
    fn the_number_in_flight_ramps_up_by_completions() {
        let mut queue = queue(6);
        let mut members = Vec::new();
        for offset in 0..20 {
            queue.enqueue(0, io(Class::SyncRead, offset * 100));
            queue.after_arrival(&mut members);
        }
        assert_eq!(queue.in_flight(), 4);
        for expected in [5, 6, 6] {
            queue.complete();
            for _ in 0..2 {
                queue.after_completion(&mut members);
            }
            assert_eq!(queue.in_flight(), expected);
        }
    }

    #[test]
    fn neighbours_leave_as_one() {
        let mut queue = DeadlineQueue::new(Settings::new(10));
        for offset in [0, 10, 20, 40] {
            queue.enqueue(0, io(Class::AsyncWrite, offset));
        }
        let mut members = Vec::new();
        let whole = queue.after_arrival(&mut members).expect("one is queued");
        assert_eq!((whole.offset, whole.bytes, members.len(), queue.queued()), (0, 30, 3, 1));
    }
}
