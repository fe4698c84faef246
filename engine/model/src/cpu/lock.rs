//! A read/write lock: any number of readers or one writer, in order of arrival, so that neither starves.

use std::collections::VecDeque;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Beside others that share it.
    Shared,
    /// Alone.
    Exclusive,
}

/// A read/write lock; holders and waiters are named by number.
#[derive(Debug, Default)]
pub struct Lock {
    readers: u32,
    writer: bool,
    waiting: VecDeque<(u32, Mode)>,
}

impl Lock {
    /// Takes the lock for `who`, or queues `who` for it. Whether it was taken.
    pub fn take(&mut self, mode: Mode, who: u32) -> bool {
        let taken = self.waiting.is_empty() && self.enter(mode);
        if !taken {
            self.waiting.push_back((who, mode));
        }
        taken
    }

    /// Gives the lock back; those who now hold it are added to `granted`.
    pub fn release(&mut self, mode: Mode, granted: &mut Vec<u32>) {
        match mode {
            Mode::Shared => self.readers -= 1,
            Mode::Exclusive => self.writer = false,
        }
        while let Some((who, mode)) = self.waiting.front().copied() {
            if !self.enter(mode) {
                return;
            }
            self.waiting.pop_front();
            granted.push(who);
        }
    }

    fn enter(&mut self, mode: Mode) -> bool {
        let free = !self.writer && (mode == Mode::Shared || self.readers == 0);
        if free {
            match mode {
                Mode::Shared => self.readers += 1,
                Mode::Exclusive => self.writer = true,
            }
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_waits_for_readers_and_later_readers_wait_for_the_writer() {
        let mut lock = Lock::default();
        let mut granted = Vec::new();
        assert!(lock.take(Mode::Shared, 0) && lock.take(Mode::Shared, 1));
        assert!(!lock.take(Mode::Exclusive, 2) && !lock.take(Mode::Shared, 3) && !lock.take(Mode::Shared, 4));
        lock.release(Mode::Shared, &mut granted);
        assert!(granted.is_empty());
        lock.release(Mode::Shared, &mut granted);
        assert_eq!(granted, [2]);
        lock.release(Mode::Exclusive, &mut granted);
        assert_eq!(granted, [2, 3, 4]);
    }
}
