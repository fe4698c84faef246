//! The clock of a run and the events that wait for it.

use super::{Event, EventQueue, Fifo};

/// The present, and the events still to come. `P` is what an event carries; the smaller it is, the faster events move.
#[derive(Debug)]
pub struct Clock<P> {
    now_ns: u64,
    events: u64,
    sequence: u64,
    later: EventQueue<P>,
    soon: Fifo<Event<P>>,
}

impl<P> Default for Clock<P> {
    fn default() -> Self {
        Self { now_ns: 0, events: 0, sequence: 0, later: EventQueue::default(), soon: Fifo::default() }
    }
}

impl<P: Copy> Clock<P> {
    /// The present, in nanoseconds since the start of the run.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Events handed out so far.
    #[inline]
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Posts an event for the present time, after those already posted for it. O(1).
    #[inline]
    pub fn post(&mut self, payload: P) {
        self.sequence += 1;
        self.soon.push(Event { time_ns: self.now_ns, sequence: self.sequence, payload });
    }

    /// Posts an event for `time_ns`; a time in the past counts as now. O(log n) in events waiting for a later time.
    #[inline]
    pub fn post_at(&mut self, time_ns: u64, payload: P) {
        if time_ns <= self.now_ns {
            return self.post(payload);
        }
        self.sequence += 1;
        self.later.push(Event { time_ns, sequence: self.sequence, payload });
    }

    /// The next event in (time, sequence) order, with the clock moved to it. O(log n) in events waiting for a later time.
    #[inline]
    pub fn advance(&mut self) -> Option<Event<P>> {
        let event = match (self.soon.front(), self.later.peek()) {
            (Some(soon), Some(later)) if (later.time_ns, later.sequence) < (soon.time_ns, soon.sequence) => self.later.pop()?,
            (Some(_), _) => self.soon.pop()?,
            (None, _) => self.later.pop()?,
        };
        self.now_ns = event.time_ns;
        self.events += 1;
        Some(event)
    }

    /// Moves the clock without an event: for tests of parts that only read the time.
    pub fn set_now_ns(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_then_of_posting() {
        let mut clock = Clock::default();
        clock.post_at(20, 1);
        clock.post_at(10, 2);
        clock.post_at(20, 3);
        let mut order = Vec::new();
        while let Some(event) = clock.advance() {
            if event.payload == 1 {
                clock.post(4);
            }
            order.push((clock.now_ns(), event.payload));
        }
        assert_eq!(order, [(10, 2), (20, 1), (20, 3), (20, 4)]);
        assert_eq!(clock.events(), 4);
    }

    #[test]
    fn a_time_in_the_past_counts_as_now() {
        let mut clock = Clock::default();
        clock.post_at(5, 'a');
        clock.advance();
        clock.post_at(3, 'b');
        assert_eq!(clock.advance().map(|event| (event.time_ns, event.payload)), Some((5, 'b')));
    }
}
