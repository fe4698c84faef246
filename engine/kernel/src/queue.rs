//! Events waiting for a later time, in the order of (time, sequence): a four-way heap, and a FIFO queue for those that come in order.
//!
//! Devices that serve in turn, and timers of equal length, post their events in the order in which they fall due. Such an event
//! joins the end of the queue, in O(1), and leaves it at the front; only one that is due before the end of the queue needs the
//! heap. A lone event that is due far in the future would keep the queue from all that comes before it, so it gives way and moves
//! to the heap.

use super::Fifo;

/// Something that is due at a time.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Event<P> {
    /// When it is due, in nanoseconds.
    pub time_ns: u64,
    /// Order among events of the same time.
    pub sequence: u64,
    /// What it carries.
    pub payload: P,
}

/// A priority queue of events. Push and pop are O(log n), and O(1) for events that come in order; four children a node keep the tree
/// shallow and its nodes together.
#[derive(Debug)]
pub struct EventQueue<P> {
    heap: Vec<Event<P>>,
    fifo: Fifo<Event<P>>,
}

impl<P> Default for EventQueue<P> {
    fn default() -> Self {
        Self { heap: Vec::new(), fifo: Fifo::default() }
    }
}

const CHILDREN: usize = 4;

fn before<P>(a: &Event<P>, b: &Event<P>) -> bool {
    (a.time_ns, a.sequence) < (b.time_ns, b.sequence)
}

impl<P: Copy> EventQueue<P> {
    /// The earliest event. O(1).
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<&Event<P>> {
        match (self.fifo.front(), self.heap.first()) {
            (Some(fifo), Some(heap)) if before(heap, fifo) => Some(heap),
            (None, heap) => heap,
            (fifo, _) => fifo,
        }
    }

    /// Adds an event; of two that are due at the same time, the one added later has the higher sequence. O(log n), O(1) in order.
    #[inline]
    pub fn push(&mut self, event: Event<P>) {
        let waiting = self.fifo.len();
        match self.fifo.back_mut() {
            Some(last) if event.time_ns < last.time_ns => {
                let displaced = if waiting == 1 { std::mem::replace(last, event) } else { event };
                self.push_to_heap(displaced);
            }
            _ => self.fifo.push(event),
        }
    }

    fn push_to_heap(&mut self, event: Event<P>) {
        let mut hole = self.heap.len();
        self.heap.push(event);
        while hole > 0 {
            let parent = (hole - 1) / CHILDREN;
            if !before(&event, &self.heap[parent]) {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = event;
    }

    /// Removes and returns the earliest event. O(log n), O(1) for one that came in order.
    #[inline]
    pub fn pop(&mut self) -> Option<Event<P>> {
        match (self.fifo.front(), self.heap.first()) {
            (Some(fifo), Some(heap)) if before(heap, fifo) => self.pop_from_heap(),
            (None, _) => self.pop_from_heap(),
            (Some(_), _) => self.fifo.pop(),
        }
    }

    fn pop_from_heap(&mut self) -> Option<Event<P>> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first().copied() else {
            return Some(last);
        };
        let len = self.heap.len();
        let mut hole = 0;
        loop {
            let eldest = hole * CHILDREN + 1;
            if eldest >= len {
                break;
            }
            let end = (eldest + CHILDREN).min(len);
            let siblings = &self.heap[eldest..end];
            let (mut earliest, mut first_due) = (0, siblings[0]);
            for (place, event) in siblings.iter().enumerate().skip(1) {
                if before(event, &first_due) {
                    (earliest, first_due) = (place, *event);
                }
            }
            if !before(&first_due, &last) {
                break;
            }
            self.heap[hole] = first_due;
            hole = eldest + earliest;
        }
        self.heap[hole] = last;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Pushes of a delay, and pops where there is none, as a clock makes them: a time is never before the last that left.
        #[test]
        fn events_leave_sorted_by_time_and_sequence(
            steps in proptest::collection::vec(proptest::option::weighted(0.6, prop_oneof![0u64..50, Just(7), Just(1_000_000)]), 0..300),
        ) {
            let (mut queue, mut waiting, mut now_ns) = (EventQueue::default(), std::collections::BTreeSet::new(), 0);
            for (sequence, step) in (0u64..).zip(steps) {
                if let Some(delay_ns) = step {
                    queue.push(Event { time_ns: now_ns + delay_ns, sequence, payload: () });
                    waiting.insert((now_ns + delay_ns, sequence));
                } else {
                    let left = queue.pop().map(|event| (event.time_ns, event.sequence));
                    prop_assert_eq!(left, waiting.pop_first());
                    now_ns = left.map_or(now_ns, |(time_ns, _)| time_ns);
                }
                prop_assert_eq!(queue.peek().map(|event| (event.time_ns, event.sequence)), waiting.first().copied());
            }
        }
    }

    #[test]
    fn what_comes_in_order_never_sees_the_heap_even_after_a_far_timer() {
        let mut queue = EventQueue::default();
        queue.push(Event { time_ns: 1_000_000, sequence: 0, payload: () });
        for sequence in 1..1000 {
            queue.push(Event { time_ns: sequence, sequence, payload: () });
        }
        assert_eq!((queue.heap.len(), queue.fifo.len()), (1, 999));
    }
}
