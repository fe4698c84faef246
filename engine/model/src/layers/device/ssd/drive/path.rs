//! Read paths: how many reads a controller handles at the same time.
//!
//! Without them every read goes to its die at once, and only dies, channels and the interface limit reads. A measured consumer drive
//! does not behave so. Sabrent Rocket 4 Plus 2 TB, random reads of 4 KiB, one job (SamYaple/fio-plot-results):
//!
//! | depth | 1 | 2 | 4 | 8 | 16 | 32 | 64 |
//! |---|---|---|---|---|---|---|---|
//! | thousand reads a second | 14 | 26 | 37 | 48 | 78 | 126 | 247 |
//! | mean response, us | 70 | 76 | 107 | 167 | 204 | 253 | 259 |
//!
//! A closed queue of `k` servers which each request chooses at random has the response `S (1 + (n - 1) / k)`. No `k` fits: the series
//! asks for 4 at depth 4 and 8, then 6, 10 and 19. The percentiles agree: at depth 4, 99% take up to three more reads of 57 us.
//!
//! Rule: a read is bound by its address to one of the paths that are powered, and a path handles one read at a time, in order, from
//! the flash to the controller's memory. With `n` reads in the drive, `max(least, per_read x n)` paths are powered, rounded up.
//! So the response stops growing where `per_read x n` exceeds `least`: at about `S (1 + 1 / per_read)`.
//!
//! That a controller powers up with its queue is a guess which fits this series; no source states it. Left out: the time to power a
//! path up or down, and paths of writes.

use std::collections::VecDeque;

use super::{Drive, Turn};
use crate::kernel::RequestId;
use seeklab_spec as spec;

/// A path and the reads that wait for it.
#[derive(Clone, Debug, Default)]
struct Path {
    is_busy: bool,
    waiting: VecDeque<RequestId>,
}

/// The paths of a drive.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    least: u32,
    per_read: f64,
    /// Reads on the paths or waiting for them.
    reads: u32,
    each: Vec<Path>,
}

impl Paths {
    pub fn new(paths: &spec::ReadPaths) -> Self {
        Self { least: paths.least, per_read: paths.per_read, reads: 0, each: Vec::new() }
    }

    /// Binds a read of this page to a path. Returns its number.
    fn bind(&mut self, page: u64) -> u32 {
        self.reads += 1;
        let powered = self.least.max(libm::ceil(self.per_read * f64::from(self.reads)) as u32);
        if self.each.len() < powered as usize {
            self.each.resize(powered as usize, Path::default());
        }
        // The odd number is the fractional part of the golden ratio; the high word of the product is a number below `powered`.
        let spread = page.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((spread * u64::from(powered)) >> 32) as u32
    }
}

impl Drive {
    /// Begins a read as soon as its path is free.
    pub(super) fn read(&mut self, turn: &mut Turn, id: RequestId) {
        if let Some(paths) = &mut self.paths {
            let number = paths.bind(turn.kernel.requests[id].place / self.page);
            self.requests[id.0 as usize].path = number;
            let path = &mut paths.each[number as usize];
            if path.is_busy {
                return path.waiting.push_back(id);
            }
            path.is_busy = true;
        }
        if !self.read_flash(turn, id) {
            self.leave_path(turn, id);
        }
    }

    /// A read has its data. Begins the next ones of its path, up to one that has to wait for flash.
    pub(super) fn leave_path(&mut self, turn: &mut Turn, id: RequestId) {
        let number = self.requests[id.0 as usize].path as usize;
        while let Some(paths) = &mut self.paths {
            paths.reads -= 1;
            let Some(next) = paths.each[number].waiting.pop_front() else {
                paths.each[number].is_busy = false;
                return;
            };
            self.charge_wait(turn, next);
            if self.read_flash(turn, next) {
                return;
            }
        }
    }
}
