//! No write throttle: the state of things before March 2008.
//!
//! Every write enters at once and is acknowledged at the speed of memory. When dirty data fill the memory there is no room for
//! anything, and every writer stops until the backend has made some: the harshest throttle of all, by accident.

use super::{Admission, Attempt, Pool, Throttle};

/// No throttle but the size of memory.
#[derive(Clone, Copy, Debug)]
pub struct NoThrottle {
    memory_bytes: u64,
}

impl NoThrottle {
    /// Writes enter until `memory_bytes` are dirty.
    #[must_use]
    pub fn new(memory_bytes: u64) -> Self {
        Self { memory_bytes }
    }
}

impl Throttle for NoThrottle {
    fn admit(&mut self, pool: &Pool, _attempt: &Attempt) -> Admission {
        if pool.dirty_bytes >= self.memory_bytes { Admission::WaitForSpace } else { Admission::Enter }
    }

    fn wakes_waiter(&self, dirty_bytes: u64) -> bool {
        dirty_bytes < self.memory_bytes
    }

    fn limit_bytes(&self) -> Option<u64> {
        Some(self.memory_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_stops_only_when_memory_is_full() {
        let mut throttle = NoThrottle::new(1000);
        let mut admit = |dirty_bytes| throttle.admit(&Pool { dirty_bytes, ..Pool::default() }, &Attempt::default());
        assert_eq!(admit(999), Admission::Enter);
        assert_eq!(admit(1000), Admission::WaitForSpace);
    }
}
