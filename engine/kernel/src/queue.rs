//! Events waiting for a later time: a four-way heap ordered by (time, sequence).

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

/// A priority queue of events. Push and pop are O(log n); four children a node keep the tree shallow and its nodes together.
#[derive(Debug)]
pub struct EventQueue<P> {
    heap: Vec<Event<P>>,
}

impl<P> Default for EventQueue<P> {
    fn default() -> Self {
        Self { heap: Vec::new() }
    }
}

const CHILDREN: usize = 4;

fn before<P>(a: &Event<P>, b: &Event<P>) -> bool {
    (a.time_ns, a.sequence) < (b.time_ns, b.sequence)
}

impl<P: Copy> EventQueue<P> {
    /// The earliest event. O(1).
    #[must_use]
    pub fn peek(&self) -> Option<&Event<P>> {
        self.heap.first()
    }

    /// Adds an event. O(log n).
    pub fn push(&mut self, event: Event<P>) {
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
    pub fn pop(&mut self) -> Option<Event<P>> {
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
        #[test]
        fn events_leave_sorted_by_time_and_sequence(times in proptest::collection::vec(0u64..50, 0..200)) {
            let mut queue = EventQueue::default();
            for (sequence, time_ns) in times.iter().enumerate() {
                queue.push(Event { time_ns: *time_ns, sequence: sequence as u64, payload: () });
            }
            let mut expected: Vec<_> = times.iter().copied().zip(0u64..).collect();
            expected.sort_unstable();
            let left: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|e| (e.time_ns, e.sequence)).collect();
            prop_assert_eq!(left, expected);
        }
    }
}
