//! Named random streams: one seed, an independent stream for each component, so that adding a component disturbs no other.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where the seed of a stream begins: the fractional part of the square root of two.
const SEED_START: u64 = 0x6a09_e667_f3bc_c909;

/// Mixes a word into the seed of a stream: multiply, rotate, multiply, with odd numbers of well spread bits (the fractional parts
/// of the golden ratio and of the square root of two).
fn mixed(seed: u64, word: u64) -> u64 {
    let once = (seed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (once ^ (once >> 29)).rotate_left(17).wrapping_mul(SEED_START)
}

/// A stream of random numbers that belongs to one component.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of the component called `name` in a run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let words = std::iter::once(seed).chain(name.bytes().map(u64::from));
        Self(Xoshiro256PlusPlus::seed_from_u64(words.fold(SEED_START, mixed)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number in `0..bound`; 0 when `bound` is 0. (Multiply and shift: the bias is below `bound` / 2^64.)
    #[allow(clippy::cast_possible_truncation)] // the high word of a 128-bit product
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `[0, 1)` with 53 random bits.
    #[allow(clippy::cast_precision_loss)] // 53 bits fit
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponentially distributed number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_names_differ_and_the_same_name_repeats() {
        let first = |seed, name| Stream::new(seed, name).bits();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn the_exponential_has_its_mean() {
        let mut stream = Stream::new(1, "test");
        let mean = (0..100_000).map(|_| stream.exponential(5.0)).sum::<f64>() / 100_000.0;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn numbers_below_a_bound_come_equally_often() {
        let mut stream = Stream::new(1, "test");
        let mut counts = [0u32; 10];
        (0..100_000).for_each(|_| counts[usize::try_from(stream.below(10)).expect("below 10")] += 1);
        // Each count has a standard deviation of 95.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 500), "{counts:?}");
        assert_eq!(stream.below(0), 0);
    }
}
