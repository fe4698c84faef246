//! A FIFO queue in one piece of memory that compacts lazily.
//!
//! What was popped is cleared when the queue is empty, or when it takes more than half of the memory. That is cheaper than the ring
//! of the standard library, whose every step must ask whether it is at the edge, and a step here is a step of every event.

/// Popped values whose places are cleared before the queue is empty, when fewer others wait.
const COMPACT_AT: usize = 1024;

/// A FIFO queue.
#[derive(Debug)]
pub struct Fifo<T> {
    places: Vec<T>,
    /// Place of the front: those before it were popped and are not cleared yet.
    head: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { places: Vec::new(), head: 0 }
    }
}

impl<T: Copy> Fifo<T> {
    /// Adds a value at the end. O(1).
    #[inline]
    pub fn push(&mut self, value: T) {
        self.places.push(value);
    }

    /// Returns the value that came first. O(1).
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.places.get(self.head)
    }

    /// Returns the value that came last. O(1).
    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.places.last_mut()
    }

    /// Takes the value that came first. O(1) amortised.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.places.get(self.head)?;
        self.head += 1;
        if self.head == self.places.len() {
            self.places.clear();
            self.head = 0;
        } else if self.head >= COMPACT_AT && self.head > self.len() {
            self.compact();
        }
        Some(value)
    }

    #[cold]
    fn compact(&mut self) {
        self.places.drain(..self.head);
        self.head = 0;
    }

    /// Returns the number of values.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.head
    }

    /// Returns whether the queue is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn values_leave_in_the_order_in_which_they_came_and_memory_stays_small() {
        let (mut fifo, mut expected) = (Fifo::default(), VecDeque::new());
        for value in 0..100_000 {
            fifo.push(value);
            expected.push_back(value);
            if value % 1000 > 300 {
                assert_eq!(fifo.pop(), expected.pop_front());
            }
            if value % 5000 > 4000 {
                assert_eq!(fifo.pop(), expected.pop_front());
            }
            assert_eq!((fifo.front(), fifo.len(), fifo.is_empty()), (expected.front(), expected.len(), expected.is_empty()));
        }
        while let Some(value) = fifo.pop() {
            assert_eq!(Some(value), expected.pop_front());
        }
        assert!(expected.is_empty());
    }

    #[test]
    fn a_queue_that_is_never_empty_does_not_grow() {
        let mut fifo = Fifo::default();
        fifo.push(0);
        for value in 1..1_000_000 {
            fifo.push(value);
            assert_eq!(fifo.pop(), Some(value - 1));
        }
        assert!(fifo.places.capacity() <= 4 * COMPACT_AT, "{}", fifo.places.capacity());
    }
}
