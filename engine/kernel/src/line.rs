//! First in, first out, in one piece of memory.
//!
//! What has left is cleared away when the line is empty, or when it takes more than half of the memory: that is cheaper than the ring
//! of the standard library, whose every step must ask whether it is at the edge, and a step here is a step of every event.

/// Left places that are cleared away before the line is empty, when at least as many others wait.
const MANY: usize = 1024;

/// A line of values.
#[derive(Debug)]
pub struct Line<T> {
    places: Vec<T>,
    /// Values that have left and whose places are not cleared yet.
    left: usize,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { places: Vec::new(), left: 0 }
    }
}

impl<T: Copy> Line<T> {
    /// Adds a value at the end. O(1).
    #[inline]
    pub fn push(&mut self, value: T) {
        self.places.push(value);
    }

    /// The value that came first. O(1).
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        self.places.get(self.left)
    }

    /// The value that came last. O(1).
    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.places.last_mut()
    }

    /// Takes the value that came first. O(1) amortised.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let value = *self.places.get(self.left)?;
        self.left += 1;
        if self.left == self.places.len() {
            self.places.clear();
            self.left = 0;
        } else if self.left >= MANY && self.left > self.len() {
            self.clear_away();
        }
        Some(value)
    }

    #[cold]
    fn clear_away(&mut self) {
        self.places.drain(..self.left);
        self.left = 0;
    }

    /// Values in the line.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.left
    }

    /// Whether nothing is in the line.
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
        let (mut line, mut expected) = (Line::default(), VecDeque::new());
        for value in 0..100_000 {
            line.push(value);
            expected.push_back(value);
            if value % 1000 > 300 {
                assert_eq!(line.pop(), expected.pop_front());
            }
            if value % 5000 > 4000 {
                assert_eq!(line.pop(), expected.pop_front());
            }
            assert_eq!((line.front(), line.len(), line.is_empty()), (expected.front(), expected.len(), expected.is_empty()));
        }
        while let Some(value) = line.pop() {
            assert_eq!(Some(value), expected.pop_front());
        }
        assert!(expected.is_empty());
    }

    #[test]
    fn a_line_that_is_never_empty_does_not_grow() {
        let mut line = Line::default();
        line.push(0);
        for value in 1..1_000_000 {
            line.push(value);
            assert_eq!(line.pop(), Some(value - 1));
        }
        assert!(line.places.capacity() <= 4 * MANY, "{}", line.places.capacity());
    }
}
