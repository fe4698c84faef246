//! The mode finder: how many separate crowds of latencies there are.
//!
//! Latencies differ by orders of magnitude, so that the scale is logarithmic. The counts of the histogram's bins are smoothed
//! with a Gaussian of half an octave, which joins latencies less than about a factor of two apart; a mode is a peak of the smooth
//! curve that a valley of at most half its height separates from the next. A rare mode counts as much as a common one as long
//! as it holds one operation in a thousand and three in all: what is rare and slow is what matters.

use super::bins::Bins;
use seeklab_spec::to_f64;

/// Standard deviation of the smoothing, in bins; eight bins are an octave.
const WIDTH_BINS: f64 = 4.0;
/// Bins that the smoothing reaches to each side, four standard deviations.
const REACH: usize = 16;
/// A valley separates two peaks when it is at most this part of the lower one.
const VALLEY: f64 = 0.5;
/// Least share of the operations, and least number of them, that make a mode.
const MIN_SHARE: f64 = 0.001;
const MIN_COUNT: f64 = 3.0;

/// A peak, the mass from the valley before it, and the lowest point since.
struct Peak {
    height: f64,
    mass: f64,
    valley: f64,
}

/// The number of modes.
#[must_use]
pub fn modes(bins: &Bins) -> usize {
    let counts: Vec<f64> = bins.counts().map(to_f64).collect();
    let total: f64 = counts.iter().sum();
    let smooth = smoothed(&counts);
    let mut peaks: Vec<Peak> = Vec::new();
    let mut rising = true;
    let (mut before, mut mass, mut lowest) = (0.0, 0.0, 0.0);
    for (place, height) in smooth.iter().copied().chain([0.0]).enumerate() {
        if rising && height < before {
            peaks.push(Peak { height: before, mass, valley: lowest });
            (rising, mass) = (false, 0.0);
        } else if !rising && height > before {
            rising = true;
            lowest = before;
            if let Some(last) = peaks.last_mut() {
                last.mass += mass;
            }
            mass = 0.0;
        }
        mass += place.checked_sub(REACH).and_then(|bin| counts.get(bin)).copied().unwrap_or(0.0);
        before = height;
    }
    if let Some(last) = peaks.last_mut() {
        last.mass += mass;
    }
    let least = (MIN_SHARE * total).max(MIN_COUNT);
    joined(peaks).iter().filter(|peak| peak.mass >= least).count()
}

fn smoothed(counts: &[f64]) -> Vec<f64> {
    let weight: Vec<f64> = (0..=REACH)
        .map(|distance| {
            let deviations = to_f64(distance as u64) / WIDTH_BINS;
            libm::exp(-0.5 * deviations * deviations)
        })
        .collect();
    // The curve reaches beyond the first and the last bin, so that a crowd at either end is a peak; it begins REACH before bin 0.
    (0..counts.len() + 2 * REACH)
        .map(|place| {
            let from = place.saturating_sub(2 * REACH);
            let to = (place + 1).min(counts.len());
            (from..to).map(|bin| counts[bin] * weight[(bin + REACH).abs_diff(place)]).sum()
        })
        .collect()
}

/// Joins neighbours that no valley separates, the shallowest valley first.
fn joined(mut peaks: Vec<Peak>) -> Vec<Peak> {
    loop {
        let depth = |place: usize| peaks[place].valley / peaks[place].height.min(peaks[place - 1].height);
        let Some(place) = (1..peaks.len()).max_by(|a, b| depth(*a).total_cmp(&depth(*b))).filter(|place| depth(*place) > VALLEY) else {
            return peaks;
        };
        let right = peaks.remove(place);
        let left = &mut peaks[place - 1];
        left.height = left.height.max(right.height);
        left.mass += right.mass;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_kernel::Stream;

    /// Adds `count` latencies spread log-normally about `middle_ns`, by a factor of e^`spread`.
    fn crowd(bins: &mut Bins, random: &mut impl FnMut() -> f64, count: usize, middle_ns: f64, spread: f64) {
        for _ in 0..count {
            let normal: f64 = (0..12).map(|_| random()).sum::<f64>() - 6.0;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // latencies are positive and far below 2^53
            bins.add((middle_ns * libm::exp(spread * normal)) as u64);
        }
    }

    fn found(crowds: &[(usize, f64, f64)]) -> Vec<usize> {
        (1..=20)
            .map(|seed| {
                let mut stream = Stream::new(seed, "modes");
                let mut bins = Bins::default();
                for (count, middle_ns, spread) in crowds {
                    crowd(&mut bins, &mut || stream.unit(), *count, *middle_ns, *spread);
                }
                modes(&bins)
            })
            .collect()
    }

    #[test]
    fn one_crowd_is_one_mode_however_wide() {
        for (count, spread) in [(10_000, 0.0), (10_000, 0.1), (10_000, 0.8), (10_000, 2.0), (200, 0.3)] {
            assert_eq!(found(&[(count, 1e6, spread)]), [1; 20], "{count} by {spread}");
        }
    }

    #[test]
    fn three_crowds_are_three_modes_even_when_two_are_rare() {
        assert_eq!(found(&[(15_000, 2e4, 0.2), (800, 1e7, 0.2), (110, 4e9, 0.3)]), [3; 20]);
        assert_eq!(found(&[(5000, 5e4, 0.4), (5000, 1e6, 0.4), (5000, 2e7, 0.4)]), [3; 20]);
    }

    #[test]
    fn two_crowds_are_told_apart_from_a_factor_of_eight() {
        assert_eq!(found(&[(5000, 1e6, 0.3), (5000, 8e6, 0.3)]), [2; 20]);
        assert_eq!(found(&[(5000, 1e6, 0.3), (5000, 1.5e6, 0.3)]), [1; 20]);
    }

    #[test]
    fn latencies_spread_evenly_over_decades_are_one_mode() {
        let mut bins = Bins::default();
        for step in 0..6 {
            for _ in 0..20 {
                bins.add(134_000_000 << step);
            }
        }
        assert_eq!(modes(&bins), 1);
    }

    #[test]
    fn a_single_straggler_in_many_is_not_a_mode_and_nothing_has_none() {
        assert_eq!(found(&[(10_000, 1e5, 0.3), (2, 1e9, 0.0)]), [1; 20]);
        assert_eq!(modes(&Bins::default()), 0);
    }
}
