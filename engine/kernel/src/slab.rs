//! A slab: values in numbered places that are reused. Requests, works and timers refer to each other by these numbers.
//!
//! A place that is released keeps what stands in it until it is used again, so that lists within keep their memory and a run in
//! steady state allocates nothing. That is why this is not the crate of the same name, which takes a value out when it frees its
//! place.

use std::ops::{Index, IndexMut};

/// Values in numbered places.
#[derive(Debug)]
pub struct Slab<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Puts a value into the place released last, or into a new one. O(1).
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self[place] = value;
            return place;
        }
        self.push(value)
    }

    /// Reuses the place released last, with the value that it still holds, or adds a new one. O(1).
    #[inline]
    pub fn claim(&mut self, new: impl FnOnce() -> T) -> u32 {
        self.free.pop().unwrap_or_else(|| self.push(new()))
    }

    fn push(&mut self, value: T) -> u32 {
        self.places.push(value);
        // Places are bounded by what is in flight, which scenarios are checked to keep far below.
        u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
    }

    /// Lets a place be used again. What stands in it stays until then. O(1).
    #[inline]
    pub fn release(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Places in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether no place is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All places, those released included, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut()
    }

    /// Bytes of memory held, without what values hold themselves.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()) as u64
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.places[place as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_released_last_is_used_first() {
        let mut slab = Slab::default();
        let places: Vec<u32> = (0..3).map(|value| slab.insert(value)).collect();
        slab.release(places[0]);
        slab.release(places[2]);
        assert_eq!(slab.len(), 1);
        assert_eq!([slab.insert(7), slab.insert(8), slab.insert(9)], [2, 0, 3]);
        assert_eq!((slab[2], slab[0], slab[3], slab.len()), (7, 8, 9, 4));
    }

    #[test]
    fn a_claimed_place_is_as_it_was_left() {
        let mut slab: Slab<Vec<u32>> = Slab::default();
        let place = slab.claim(|| Vec::with_capacity(64));
        slab[place].push(1);
        slab.release(place);
        let again = slab.claim(Vec::new);
        assert_eq!((again, slab[again].as_slice(), slab[again].capacity() >= 64), (place, &[1][..], true));
    }
}
