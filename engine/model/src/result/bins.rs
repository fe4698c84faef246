//! A latency histogram with exact counts and exact totals: eight bins an octave.

/// Bins an octave, as a power of two.
const STEPS_LOG2: u32 = 3;
/// Milliseconds up to which there are linear counts.
pub const LINEAR_MS: u64 = 1000;
const MS_BINS: usize = 1001;
const BINS: usize = 64 << STEPS_LOG2;

/// Counts and total nanoseconds by latency. O(1) to add to, 8 KiB.
#[derive(Clone, Debug)]
pub struct Bins {
    counts: Vec<u64>,
    totals_ns: Vec<u64>,
    /// By octave of whole microseconds: 0, 1, 2 to 3, 4 to 7, ...
    octaves_us: Vec<u64>,
    /// By whole milliseconds; the last takes what is longer.
    linear_ms: Vec<u64>,
}

/// One bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Smallest latency in the bin.
    pub lower_ns: u64,
    /// Smallest latency above the bin.
    pub upper_ns: u64,
    /// Latencies in the bin.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
}

impl Default for Bins {
    fn default() -> Self {
        Self { counts: vec![0; BINS], totals_ns: vec![0; BINS], octaves_us: vec![0; 65], linear_ms: vec![0; MS_BINS] }
    }
}

#[allow(clippy::cast_possible_truncation)] // an index below 512
fn bin_of(ns: u64) -> usize {
    if ns < 1 << STEPS_LOG2 {
        return ns as usize;
    }
    let octave = ns.ilog2();
    let step = (ns >> (octave - STEPS_LOG2)) & ((1 << STEPS_LOG2) - 1);
    (u64::from((octave - STEPS_LOG2 + 1) << STEPS_LOG2) + step) as usize
}

fn lower_ns(bin: usize) -> u64 {
    let bin = bin as u64;
    let (octave, step) = (bin >> STEPS_LOG2, bin & ((1 << STEPS_LOG2) - 1));
    if octave == 0 { step } else { ((1 << STEPS_LOG2) + step) << (octave - 1) }
}

/// A thousandth, rounded down. Latencies are mostly below four seconds, and WebAssembly's compilers make a product of the division of
/// 32 bits only.
#[inline]
fn over_1000(number: u64) -> u64 {
    u32::try_from(number).map_or(number / 1000, |short| u64::from(short / 1000))
}

impl Bins {
    /// Adds a latency.
    pub fn add(&mut self, ns: u64) {
        self.add_many(ns, 1);
    }

    /// Adds a latency of so many operations.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most a thousand
    pub fn add_many(&mut self, ns: u64, ios: u64) {
        let bin = bin_of(ns);
        self.counts[bin] += ios;
        self.totals_ns[bin] += ios * ns;
        let us = over_1000(ns);
        self.linear_ms[over_1000(us).min(LINEAR_MS) as usize] += ios;
        self.octaves_us[us.checked_ilog2().map_or(0, |octave| octave as usize + 1)] += ios;
    }

    /// The counts of all bins, empty ones included.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().copied()
    }

    /// How many took `from` milliseconds or longer and less than `to`; bounds beyond [`LINEAR_MS`] count as that.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // at most a thousand
    pub fn between_ms(&self, from: u64, to: u64) -> u64 {
        let end = if to > LINEAR_MS { MS_BINS } else { to as usize };
        self.linear_ms[(from.min(LINEAR_MS) as usize).min(end)..end].iter().sum()
    }

    /// Counts by powers of two of whole microseconds, as tracers bucket them: `(lower, count)` with `lower` 0, 1, 2, 4, ... in
    /// order, without the empty ones.
    #[must_use]
    pub fn octaves_us(&self) -> Vec<(u64, u64)> {
        let lower = |octave: usize| if octave == 0 { 0 } else { 1u64 << (octave - 1) };
        self.octaves_us.iter().enumerate().filter(|(_, count)| **count > 0).map(|(octave, count)| (lower(octave), *count)).collect()
    }

    /// The bins that are not empty, in order.
    pub fn iter(&self) -> impl Iterator<Item = Bin> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin, count)| Bin {
            lower_ns: lower_ns(bin),
            upper_ns: if bin + 1 < BINS - (1 << STEPS_LOG2) { lower_ns(bin + 1) } else { u64::MAX },
            count: *count,
            total_ns: self.totals_ns[bin],
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn microseconds_fall_into_powers_of_two() {
        let mut bins = Bins::default();
        for us in [0, 1, 2, 3, 4095, 4096, 8191, 8192] {
            bins.add(us * 1000 + 999);
        }
        assert_eq!(bins.octaves_us(), [(0, 1), (1, 1), (2, 2), (2048, 1), (4096, 2), (8192, 1)]);
    }

    proptest! {
        #[test]
        fn each_latency_lies_in_its_bin(ns in 0u64..1 << 62) {
            let mut bins = Bins::default();
            bins.add(ns);
            let bin = bins.iter().next().expect("one bin");
            prop_assert!(bin.lower_ns <= ns && ns < bin.upper_ns);
            prop_assert!(ns < 8 || (bin.upper_ns - bin.lower_ns) * 8 <= bin.lower_ns);
            prop_assert_eq!((bin.count, bin.total_ns), (1, ns));
        }
    }
}
