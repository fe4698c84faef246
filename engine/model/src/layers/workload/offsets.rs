//! Where random requests go: every block once a pass, uniformly with repetition, or by Zipf's law.

use seeklab_kernel::Stream;
use seeklab_spec::Distribution;

/// A permutation of `0..count`: each number comes once, in an order that looks random, in constant memory.
///
/// A Feistel network of four rounds over the next power of four, walked until the result falls below `count` (Black and
/// Rogaway's cycle walking; fewer than four steps on average).
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// A permutation of `0..count` drawn from `stream`.
    #[must_use]
    pub fn new(count: u64, stream: &mut Stream) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Self { count, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| stream.bits()) }
    }

    /// The number at place `index` (below `count`).
    #[must_use]
    pub fn at(&self, index: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = index;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (left, right) = (right, left ^ ((mixed >> 32) & mask));
            }
            value = (left << self.half_bits) | right;
            if value < self.count {
                return value;
            }
        }
    }
}

/// Zipf-distributed ranks in `1..=count`: rank k has a frequency proportional to 1 / k^theta.
///
/// Rejection-inversion after Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6 (1996): constant time and memory whatever the count.
#[derive(Clone, Debug)]
pub struct Zipf {
    count: f64,
    theta: f64,
    lowest: f64,
    highest: f64,
    accept: f64,
}

impl Zipf {
    /// Ranks up to `count` with exponent `theta` (positive, not 1).
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // block counts stay far below 2^53
    pub fn new(count: u64, theta: f64) -> Self {
        let mut zipf = Self { count: count as f64, theta, lowest: 0.0, highest: 0.0, accept: 0.0 };
        zipf.lowest = zipf.integral(1.5) - 1.0;
        zipf.highest = zipf.integral(zipf.count + 0.5);
        zipf.accept = 2.0 - zipf.inverse(zipf.integral(2.5) - libm::pow(2.0, -theta));
        zipf
    }

    fn integral(&self, x: f64) -> f64 {
        (libm::pow(x, 1.0 - self.theta) - 1.0) / (1.0 - self.theta)
    }

    fn inverse(&self, y: f64) -> f64 {
        libm::pow(1.0 + y * (1.0 - self.theta), 1.0 / (1.0 - self.theta))
    }

    /// The next rank, from 1.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 1 and count
    pub fn rank(&self, stream: &mut Stream) -> u64 {
        loop {
            let y = self.highest + stream.unit() * (self.lowest - self.highest);
            let x = self.inverse(y);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.count);
            if rank - x <= self.accept || y >= self.integral(rank + 0.5) - libm::pow(rank, -self.theta) {
                return rank as u64;
            }
        }
    }
}

/// The order in which a random job visits its blocks.
#[derive(Clone, Debug)]
pub enum Order {
    /// Each block once a pass.
    Once {
        /// The order of the present pass.
        permutation: Permutation,
        /// Blocks visited in this pass.
        visited: u64,
    },
    /// Uniform, with repetition.
    Uniform,
    /// By Zipf's law; the permutation scatters the popular blocks over the region.
    Zipf(Zipf, Permutation),
}

impl Order {
    /// The order that a job asks for, over `count` blocks.
    #[must_use]
    pub fn new(distribution: Distribution, repeat: bool, count: u64, stream: &mut Stream) -> Self {
        match distribution {
            Distribution::Zipf(theta) => Self::Zipf(Zipf::new(count, theta), Permutation::new(count, stream)),
            Distribution::Random if repeat => Self::Uniform,
            Distribution::Random => Self::Once { permutation: Permutation::new(count, stream), visited: 0 },
        }
    }

    /// The next of `count` blocks.
    pub fn next(&mut self, count: u64, stream: &mut Stream) -> u64 {
        match self {
            Self::Once { permutation, visited } => {
                if *visited == count {
                    (*permutation, *visited) = (Permutation::new(count, stream), 0);
                }
                *visited += 1;
                permutation.at(*visited - 1)
            }
            Self::Uniform => stream.below(count),
            Self::Zipf(zipf, permutation) => permutation.at(zipf.rank(stream) - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_pass_visits_every_block_once(count in 1u64..3000, seed: u64) {
            let mut stream = Stream::new(seed, "test");
            let mut order = Order::new(Distribution::Random, false, count, &mut stream);
            for _ in 0..2 {
                let mut pass: Vec<u64> = (0..count).map(|_| order.next(count, &mut stream)).collect();
                pass.sort_unstable();
                prop_assert!(pass.iter().copied().eq(0..count));
            }
        }
    }

    #[test]
    fn zipf_frequencies_follow_the_law() {
        let mut stream = Stream::new(1, "test");
        let zipf = Zipf::new(1000, 1.2);
        let mut counts = [0u32; 1001];
        for _ in 0..400_000 {
            counts[usize::try_from(zipf.rank(&mut stream)).expect("at most 1000")] += 1;
        }
        for rank in [2usize, 4, 8] {
            let expected = libm::pow(1.0 / f64::from(u32::try_from(rank).expect("small")), 1.2);
            let found = f64::from(counts[rank]) / f64::from(counts[1]);
            assert!((found / expected - 1.0).abs() < 0.05, "rank {rank}: {found} against {expected}");
        }
    }
}
