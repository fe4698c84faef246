//! Where random requests go: every block once a pass, uniformly with repetition, by Zipf's or Pareto's law, around a middle, or by zones.
//!
//! The laws are fio's own, so that a job file means here what it means there: its Pareto is an inverse of a continuous law, its
//! "normal" the mean of twelve uniform draws (Irwin-Hall) with a uniform deviation added. Popular blocks are scattered over the file
//! by a permutation, for which fio uses a hash. Left out: zones visit their blocks with repetition, where fio keeps its map of blocks.
//! Jobs of mixed sizes keep fio's map, in which a request ends where it meets a block of an earlier one; larger jobs than
//! `MAP_BLOCKS_MAX` do not, because few of their requests would meet.

use seeklab_kernel::Stream;
use seeklab_spec::{Distribution, Job, to_f64};

/// Most blocks of the maps of a job: 8 MiB of bits.
const MAP_BLOCKS_MAX: u64 = 1 << 26;

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
        libm::exp(libm::log(1.0 + y * (1.0 - self.theta)) / (1.0 - self.theta))
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

/// Draws of which fio takes the mean for its "normal" distribution.
const NORMAL_DRAWS: u64 = 12;

/// A zone: the share of all requests up to its end, and its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Zone {
    /// Percent of the requests that go to this zone or one before it.
    up_to_percent: f64,
    /// First block.
    first: u64,
    /// Blocks; at least one.
    count: u64,
}

/// The blocks that a job has visited in this pass: bits, and above each level a bit for each of its words that is full.
#[derive(Clone, Debug)]
pub struct Map {
    levels: Vec<Vec<u64>>,
    count: u64,
    visited: u64,
}

impl Map {
    #[cold]
    fn new(count: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = count;
        loop {
            let words = bits.div_ceil(64).max(1);
            levels.push(vec![0; usize::try_from(words).unwrap_or(0)]); // at most MAP_BLOCKS_MAX bits
            if words == 1 {
                return Self { levels, count, visited: 0 };
            }
            bits = words;
        }
    }

    fn is_set(&self, level: usize, bit: u64) -> bool {
        self.word(level, bit / 64) >> (bit % 64) & 1 == 1
    }

    #[inline(never)]
    fn word(&self, level: usize, word: u64) -> u64 {
        let words = self.levels.get(level);
        words.and_then(|words| words.get(usize::try_from(word).ok()?)).copied().unwrap_or(u64::MAX)
    }

    #[inline(never)]
    fn set(&mut self, block: u64) {
        let mut bit = block;
        for words in &mut self.levels {
            let Some(word) = usize::try_from(bit / 64).ok().and_then(|word| words.get_mut(word)) else { return };
            *word |= 1 << (bit % 64);
            if *word != u64::MAX {
                return;
            }
            bit /= 64;
        }
    }

    /// The first free block from `from` on, or from the start; nothing when all have been visited.
    #[inline(never)]
    fn free_from(&self, from: u64) -> Option<u64> {
        self.free_at(0, from).or_else(|| self.free_at(0, 0))
    }

    /// The first bit from `from` on that a level has free.
    fn free_at(&self, level: usize, from: u64) -> Option<u64> {
        let words = self.levels.get(level)?;
        let here = !self.word(level, from / 64) & (u64::MAX << (from % 64));
        let word = if here != 0 { Some(from / 64) } else { self.free_at(level + 1, from / 64 + 1) }?;
        if word >= words.len() as u64 {
            return None;
        }
        let free = if here != 0 { here } else { !self.word(level, word) };
        let bit = word * 64 + u64::from(free.trailing_zeros());
        (level > 0 || bit < self.count).then_some(bit)
    }

    /// Visits up to `blocks` blocks from `first` on, until one that has been visited; returns their number, at least 1.
    #[inline(never)]
    fn take(&mut self, first: u64, blocks: u64) -> u64 {
        let free = (first..first.saturating_add(blocks).min(self.count)).take_while(|block| !self.is_set(0, *block)).count() as u64;
        for block in first..first + free {
            self.set(block);
        }
        self.visited += free;
        free.max(1)
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
    /// Each block once a pass, by requests of several sizes.
    Map(Map),
    /// Uniform, with repetition.
    Uniform,
    /// By Zipf's law; the permutation scatters the popular blocks over the region.
    Zipf(Zipf, Permutation),
    /// By Pareto's law: block number `(count - 1) * u^power`, scattered.
    Pareto {
        /// Exponent.
        power: f64,
        /// Scatters the popular blocks.
        permutation: Permutation,
    },
    /// Around a middle, scattered.
    Normal {
        /// Blocks over which each draw is spread besides.
        deviation: u64,
        /// Scatters the popular blocks.
        permutation: Permutation,
    },
    /// By zones.
    Zones(Vec<Zone>),
}

/// Zones over `count` blocks; `blocks` gives a zone's length in blocks.
fn zones<Length: Copy>(zones: &[seeklab_spec::Zone<Length>], count: u64, blocks: impl Fn(Length) -> f64) -> Vec<Zone> {
    let (mut up_to_percent, mut end) = (0.0, 0.0);
    let zone = |zone: &seeklab_spec::Zone<Length>| {
        up_to_percent += zone.access_percent;
        let first = whole(end).min(count - 1);
        end += blocks(zone.length);
        Zone { up_to_percent, first, count: whole(end).min(count).saturating_sub(first).max(1) }
    };
    zones.iter().map(zone).collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // block numbers, not negative
fn whole(number: f64) -> u64 {
    number as u64
}

impl Order {
    /// The order that a job asks for, over `count` blocks of `block_bytes`.
    #[must_use]
    pub fn new(distribution: &Distribution, repeat: bool, count: u64, block_bytes: u64, stream: &mut Stream) -> Self {
        match distribution {
            Distribution::Zipf(theta) => Self::Zipf(Zipf::new(count, *theta), Permutation::new(count, stream)),
            Distribution::Random if repeat => Self::Uniform,
            Distribution::Random => Self::Once { permutation: Permutation::new(count, stream), visited: 0 },
            Distribution::Pareto(h) => {
                Self::Pareto { power: libm::log(*h) / libm::log(1.0 - h), permutation: Permutation::new(count, stream) }
            }
            Distribution::Normal(percent) => Self::Normal {
                deviation: whole(libm::ceil(to_f64(count) * percent / 100.0)).min(count / 2),
                permutation: Permutation::new(count, stream),
            },
            Distribution::Zoned(shares) => Self::Zones(zones(shares, count, |percent| to_f64(count) * percent / 100.0)),
            Distribution::ZonedAbs(shares) => Self::Zones(zones(shares, count, |bytes| to_f64(bytes.0) / to_f64(block_bytes))),
        }
    }

    /// The order of a job's requests, which are of several sizes if `mixed`.
    #[must_use]
    pub fn of(job: &Job, mixed: bool, count: u64, block_bytes: u64, stream: &mut Stream) -> Self {
        let fits = count.saturating_mul(u64::from(job.numjobs) * u64::from(job.nrfiles)) <= MAP_BLOCKS_MAX;
        if mixed && fits && job.zoned.is_none() && !job.norandommap && job.random_distribution == Distribution::Random {
            return Self::Map(Map::new(count));
        }
        Self::new(&job.random_distribution, job.norandommap, count, block_bytes, stream)
    }

    /// How many of `blocks` blocks from `first` on a request takes; nothing without a map, where it takes all.
    pub fn take(&mut self, first: u64, blocks: u64) -> Option<u64> {
        match self {
            Self::Map(map) => Some(map.take(first, blocks)),
            _ => None,
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
            Self::Map(map) => {
                if map.visited >= map.count {
                    *map = Map::new(map.count);
                }
                map.free_from(stream.below(count)).unwrap_or(0)
            }
            Self::Uniform => stream.below(count),
            Self::Zipf(zipf, permutation) => permutation.at(zipf.rank(stream) - 1),
            Self::Pareto { power, permutation } => {
                permutation.at(whole(to_f64(count - 1) * libm::pow(stream.unit(), *power)).min(count - 1))
            }
            Self::Normal { deviation, permutation } => {
                let sum: u64 = (0..NORMAL_DRAWS).map(|_| stream.below(count)).sum();
                let shifted = if *deviation > 0 { count + stream.below(*deviation) - *deviation / 2 } else { count };
                permutation.at((sum / NORMAL_DRAWS + shifted) % count)
            }
            Self::Zones(zones) => {
                let drawn = stream.unit() * 100.0;
                let zone = zones.iter().find(|zone| drawn < zone.up_to_percent).or(zones.last());
                zone.map_or(0, |zone| zone.first + stream.below(zone.count))
            }
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
            let mut order = Order::new(&Distribution::Random, false, count, 4096, &mut stream);
            for _ in 0..2 {
                let mut pass: Vec<u64> = (0..count).map(|_| order.next(count, &mut stream)).collect();
                pass.sort_unstable();
                prop_assert!(pass.iter().copied().eq(0..count));
            }
        }
    }

    proptest! {
        #[test]
        fn requests_of_several_sizes_touch_each_block_once(count in 1u64..20_000, seed: u64) {
            let mut stream = Stream::new(seed, "test");
            let mut map = Map::new(count);
            let mut touched = vec![false; usize::try_from(count).expect("small")];
            let mut left = count;
            while left > 0 {
                let first = map.free_from(stream.below(count)).expect("a free block");
                let blocks = map.take(first, (1 + stream.below(64)).min(count - first));
                for block in first..first + blocks {
                    let seen = &mut touched[usize::try_from(block).expect("small")];
                    prop_assert!(!*seen);
                    *seen = true;
                }
                left -= blocks;
            }
            prop_assert_eq!(map.free_from(0), None);
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

    fn draws(distribution: &str, count: u64) -> Vec<u64> {
        let mut stream = Stream::new(1, "test");
        let distribution = Distribution::parse(distribution).expect("a distribution");
        let mut order = Order::new(&distribution, true, count, 4096, &mut stream);
        (0..100_000).map(|_| order.next(count, &mut stream)).collect()
    }

    /// Requests to each block, the most popular first.
    fn by_popularity(draws: &[u64], count: usize) -> Vec<u32> {
        let mut counts = vec![0u32; count];
        for block in draws {
            counts[usize::try_from(*block).expect("small")] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    #[test]
    fn a_fifth_of_the_blocks_has_four_fifths_of_the_requests_with_pareto_a_fifth() {
        // n = (N - 1) u^(ln h / ln(1 - h)): P(n < h N) = h^(ln(1 - h) / ln h) = 1 - h.
        let popular = by_popularity(&draws("pareto:0.2", 1000), 1000);
        let first: u32 = popular[..200].iter().sum();
        assert!((f64::from(first) / 100_000.0 - 0.8).abs() < 0.01, "{first}");
    }

    #[test]
    fn the_mean_of_twelve_draws_has_a_twelfth_of_the_range_as_its_deviation() {
        // Of a uniform draw over N the variance is N^2 / 12; of the mean of twelve N^2 / 144. Within one deviation are 68 %.
        let popular = by_popularity(&draws("normal:0", 1200), 1200);
        let within: u32 = popular[..200].iter().sum();
        assert!((f64::from(within) / 100_000.0 - 0.683).abs() < 0.01, "{within}");
    }

    #[test]
    fn zones_have_their_shares_of_the_requests() {
        let found = draws("zoned:50/5:30/15:20/80", 1000);
        let share = |first: u64, end: u64| {
            f64::from(u32::try_from(found.iter().filter(|block| (first..end).contains(block)).count()).expect("small")) / 1000.0
        };
        assert!((share(0, 50) - 50.0).abs() < 0.7 && (share(50, 200) - 30.0).abs() < 0.7 && (share(200, 1000) - 20.0).abs() < 0.7);
        // 60 % to the first 400 KiB, which are 100 blocks of 4 KiB.
        let found = draws("zoned_abs:60/400k:40/1m", 1000);
        let near = found.iter().filter(|block| **block < 100).count();
        assert!((59_000..61_000).contains(&near) && found.iter().all(|block| *block < 356), "{near}");
    }
}
