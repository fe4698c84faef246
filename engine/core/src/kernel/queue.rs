//! Signals waiting for a later time: a four-way heap ordered by (time, sequence).

use super::Event;

/// A priority queue of events. Push and pop are O(log n); four children a node keep the tree shallow and its nodes together.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: Vec<Event>,
}

const CHILDREN: usize = 4;

fn before(a: &Event, b: &Event) -> bool {
    (a.time_ns, a.sequence) < (b.time_ns, b.sequence)
}

impl EventQueue {
    /// The earliest event. O(1).
    #[must_use]
    pub fn peek(&self) -> Option<&Event> {
        self.heap.first()
    }

    /// Adds an event. O(log n).
    pub fn push(&mut self, event: Event) {
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

    /// Removes and returns the earliest event. O(log n).
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
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

    use super::super::{Address, Layer, Signal};
    use super::*;

    proptest! {
        #[test]
        fn events_leave_sorted_by_time_and_sequence(times in proptest::collection::vec(0u64..50, 0..200)) {
            let mut queue = EventQueue::default();
            for (sequence, time_ns) in times.iter().enumerate() {
                queue.push(Event::new(*time_ns, sequence as u64, Address::of(Layer::Workload), Signal::Timer, 0));
            }
            let mut expected: Vec<_> = times.iter().copied().zip(0u64..).collect();
            expected.sort_unstable();
            let left: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|e| (e.time_ns, e.sequence)).collect();
            prop_assert_eq!(left, expected);
        }
    }
}
