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

    /// A number from the standard normal distribution, by the polar method (Marsaglia and Bray, 1964).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }

    /// A number from the gamma distribution with this shape and mean, by squeezing a normal one (Marsaglia and Tsang, ACM TOMS 26,
    /// 2000); for a shape below 1 with their correction by a power of a uniform number. Shape 1 is the exponential distribution.
    pub fn gamma(&mut self, shape: f64, mean: f64) -> f64 {
        let whole = if shape < 1.0 { shape + 1.0 } else { shape };
        let d = whole - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        let drawn = loop {
            let x = self.normal();
            let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
            if v > 0.0 && libm::log(1.0 - self.unit()) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
                break d * v;
            }
        };
        let drawn = if shape < 1.0 { drawn * libm::pow(1.0 - self.unit(), 1.0 / shape) } else { drawn };
        mean * drawn / shape
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
    fn the_gamma_has_its_mean_its_variance_and_its_tail() {
        // Survival at 2.5 means: shape 1 is exp(-2.5); shape 4 is exp(-10) (1 + 10 + 50 + 1000 / 6);
        // shape 1/2 is a squared normal number: erfc(sqrt(1.25)).
        for (shape, beyond) in [(0.5, 0.113_85), (1.0, 0.082_08), (4.0, 0.010_34)] {
            let mut stream = Stream::new(1, "test");
            let draws: Vec<f64> = (0..200_000).map(|_| stream.gamma(shape, 2.0)).collect();
            let count = 200_000.0;
            let mean = draws.iter().sum::<f64>() / count;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            let tail = draws.iter().map(|x| f64::from(u8::from(*x > 5.0))).sum::<f64>() / count;
            assert!((mean / 2.0 - 1.0).abs() < 0.01, "{shape}: mean {mean}");
            assert!((variance * shape / 4.0 - 1.0).abs() < 0.04, "{shape}: variance {variance}");
            assert!((tail / beyond - 1.0).abs() < 0.06, "{shape}: beyond 2.5 means {tail}");
            assert!(draws.iter().all(|x| *x >= 0.0));
        }
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
