//! The free space of a pool that is partly full: holes between data in use.
//!
//! ```text
//!   |#####  #########     ####### #####|##   ##### ...     # in use
//! ```
//!
//! A block goes into the first hole from the cursor on that holds it. So the fuller the pool and the smaller its holes, the shorter are the
//! writes that neighbours merge into, and the farther apart: a disk seeks instead of streaming. A file that is written in order has a gap
//! wherever a hole ended.
//!
//! The scenario gives what `zpool list` prints. CAP is the part in use. FRAG is the mean, over free bytes, of a table of hole lengths
//! (`TABLE`). Lengths of holes are exponentially distributed (assumed: holes that come about at random); their mean is the one that
//! has this FRAG. So is the length of what is in use between two of them. They are drawn by their place, so that the pool is as full and as
//! fragmented when the cursor comes round again: what is freed elsewhere replaces what was taken.
//!
//! Source: `metaslab.c` (`zfs_frag_table`, `metaslab_set_fragmentation`; the allocator goes on from a cursor, `metaslab_df_alloc`). Left out:
//! metaslabs, of which ZFS takes the emptiest, and the search for the best fit once less than 4% of one is free
//! (`metaslab_df_free_pct`); gang blocks, into which ZFS divides a record that no hole holds (a check refuses such holes);
//! free space that grows or shrinks during the run.

use libm::{exp, log};
use seeklab_kernel::Stream;
use seeklab_spec::zfs::FreeSpaceSpec;

/// Percent of fragmentation of holes of 512 B, 1 KiB, 2 KiB and so on; the last stands for all longer ones.
const TABLE: [u32; 16] = [100, 100, 98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 15, 10, 5, 0];
/// Length of the first class of holes.
const SHORTEST: f64 = 512.0;
/// Holes that an allocation passes over on average at most: one of `exp(bytes / mean)` holds it.
const MOST_PASSED: f64 = 400.0;

/// Holes of a stretch, which are drawn together.
const HOLES: usize = 32;

/// FRAG of exponentially distributed holes of this mean. Of the free bytes, `(1 + x) exp(-x)` are in holes longer than `x` means.
fn fragmentation(mean: f64) -> f64 {
    let longer = |length: f64| (1.0 + length / mean) * exp(-length / mean);
    let mut sum = 0.0;
    let mut from = 1.0;
    for (class, percent) in TABLE.iter().enumerate() {
        let end = if class + 1 < TABLE.len() { longer(SHORTEST * f64::from(2_u32 << class)) } else { 0.0 };
        sum += f64::from(*percent) * (from - end);
        from = end;
    }
    sum
}

/// Mean length of holes with this FRAG, in bytes.
#[must_use]
pub fn mean_hole(percent: f64) -> f64 {
    let (mut short, mut long) = (log(SHORTEST), log(1e9));
    for _ in 0..60 {
        let middle = f64::midpoint(short, long);
        if fragmentation(exp(middle)) > percent {
            short = middle;
        } else {
            long = middle;
        }
    }
    exp(long)
}

/// Whether allocations of so many bytes find a hole often enough that ZFS would not divide them.
#[must_use]
pub fn holds(spec: &FreeSpaceSpec, bytes: u64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "a record")]
    let bytes = bytes as f64;
    bytes <= mean_hole(spec.fragmentation) * log(MOST_PASSED)
}

/// The holes of an address space.
#[derive(Clone, Debug)]
pub struct Holes {
    /// Mean length of a hole, and of what is in use between two.
    mean: [f64; 2],
    /// Length of a stretch, in sectors.
    stretch: u64,
    /// Holes begin and end at multiples of this, and blocks in them at multiples of `grain`.
    sector: u64,
    grain: u64,
    /// Bytes after which an address moves on to another device; no shorter block lies on both sides.
    unit: Option<u64>,
    seed: u64,
    /// The stretch of the last search, and begin and end of its holes.
    number: u64,
    spans: Vec<(u64, u64)>,
}

impl Holes {
    /// The holes of a pool. Where addresses are striped in units over `across` devices, holes longer than a unit are in all of them.
    #[must_use]
    pub fn new(spec: &FreeSpaceSpec, seed: u64, sector: u64, grain: u64, (unit, across): (Option<u64>, u64)) -> Self {
        let mean = mean_hole(spec.fragmentation);
        #[expect(clippy::cast_precision_loss, reason = "a stripe and a count of devices")]
        let mean = if unit.is_some_and(|unit| mean >= unit as f64) { mean * across as f64 } else { mean };
        let used = mean * spec.used / (100.0 - spec.used);
        let sector = sector.max(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a positive length below 2^50"
        )]
        let stretch = ((mean + used) * HOLES as f64) as u64 / sector;
        let mut holes = Self {
            mean: [used, mean],
            stretch: stretch.max(1),
            sector,
            grain: grain.max(sector),
            unit,
            seed,
            number: 0,
            spans: Vec::with_capacity(HOLES),
        };
        holes.draw(0);
        holes
    }

    /// Draws the holes of a stretch: lengths of holes and of what is in use between them, scaled so that they fill it.
    fn draw(&mut self, number: u64) {
        let mut stream = Stream::new(self.seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)), "zfs.free_space");
        let lengths: [[f64; 2]; HOLES] = std::array::from_fn(|_| self.mean.map(|mean| stream.exponential(mean)));
        let sum: f64 = lengths.iter().flatten().sum();
        let first = number * self.stretch;
        let mut at = 0.0;
        self.spans.clear();
        for [used, hole] in lengths {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a part of a stretch")]
            let sector = |at: f64| (first + libm::round(at / sum * self.stretch as f64) as u64) * self.sector;
            let begin = at + used;
            at = begin + hole;
            self.spans.push((sector(begin), sector(at)));
        }
        self.number = number;
    }

    /// Where a block may begin from `at` on, whatever is free.
    fn aligned(&self, at: u64, bytes: u64) -> u64 {
        let at = at.next_multiple_of(self.grain);
        match self.unit {
            Some(unit) if bytes <= unit && at % unit + bytes > unit => at.next_multiple_of(unit).next_multiple_of(self.grain),
            _ => at,
        }
    }

    /// The first place from `from` on that is free for `bytes`.
    pub fn find(&mut self, from: u64, bytes: u64) -> u64 {
        let mut number = from / (self.stretch * self.sector);
        loop {
            if number != self.number {
                self.draw(number);
            }
            let next = self.spans.partition_point(|(_, end)| *end <= from);
            for (begin, end) in &self.spans[next..] {
                let at = self.aligned((*begin).max(from), bytes);
                if at + bytes <= *end {
                    return at;
                }
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    fn holes(used: f64, fragmentation: f64) -> Holes {
        Holes::new(&FreeSpaceSpec { used, fragmentation }, 1, 4 * KIB, 4 * KIB, (None, 1))
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "lengths far below 2^53")]
    fn holes_have_the_fragmentation_and_leave_in_use_what_the_pool_prints() {
        for (used, percent) in [(90.0, 30.0), (50.0, 50.0), (95.0, 70.0)] {
            let mut holes = holes(used, percent);
            let (mut free, mut sum) = (0.0, 0.0);
            for number in 0..1000 {
                holes.draw(number);
                for (begin, end) in &holes.spans {
                    let bytes = (end - begin) as f64;
                    free += bytes;
                    // The class of a hole, as the metaslab's histogram has it.
                    let class = ((end - begin).max(512).ilog2() - 9).min(15) as usize;
                    sum += bytes * f64::from(TABLE[class]);
                }
            }
            assert!((sum / free - percent).abs() < 3.0, "{} for {percent}", sum / free);
            let whole = 1000.0 * (holes.stretch * holes.sector) as f64;
            assert!((100.0 * (1.0 - free / whole) - used).abs() < 2.0, "{} for {used}", free / whole);
        }
    }

    #[test]
    fn the_table_says_which_holes_are_meant() {
        assert!((100e3..200e3).contains(&mean_hole(45.0)), "{}", mean_hole(45.0));
        let twice = mean_hole(40.0) / mean_hole(50.0);
        assert!((1.8..2.2).contains(&twice), "{twice}: ten percent are a factor of two");
    }

    #[test]
    fn blocks_lie_in_holes_one_after_the_other() {
        let mut holes = holes(90.0, 50.0);
        let mut at = 0;
        for nth in 0..2000 {
            let bytes = if nth % 3 == 0 { 8 * KIB } else { 128 * KIB };
            let found = holes.find(at, bytes);
            assert!(found >= at && holes.spans.iter().any(|(begin, end)| found >= *begin && found + bytes <= *end));
            at = found + bytes;
        }
    }

    #[test]
    fn no_block_is_on_two_devices() {
        let mut holes = Holes::new(&FreeSpaceSpec { used: 80.0, fragmentation: 20.0 }, 1, 4 * KIB, 4 * KIB, (Some(128 * KIB), 4));
        let mut at = 0;
        for _ in 0..2000 {
            let found = holes.find(at, 100 * KIB);
            assert!(found % (128 * KIB) <= 28 * KIB);
            at = found + 100 * KIB;
        }
    }

    #[test]
    fn holes_that_hardly_ever_hold_a_record_are_refused() {
        let spec = FreeSpaceSpec { used: 90.0, fragmentation: 80.0 };
        assert!(holds(&spec, 8 * KIB) && !holds(&spec, 1024 * KIB));
    }
}
