//! A backend whose rate varies: with the number of requests that it has, and with time.
//!
//! ```text
//! rate |          ________       rate |   __      __          rate of the moment = rate for the requests in flight
//!      |       .-'                    |  /  \    /  \                               x factor of the time
//!      |    .-'                       |-/----\--/----\-
//!  one |__.'                          |       \/      \/
//!      +--1---------n---- in flight   +---------------- time
//! ```
//!
//! **Depth.** An array with many spindles behind one address moves more bytes when it can work on several requests. Here the rate
//! grows linearly from that of one request in flight to the full one; requests are still served in order of arrival.
//!
//! **Time.** Other hosts, rebuilds and caches make the rate of shared storage swing. The factor is constant within a step, so that
//! completions are computed and not integrated: a sine in 32 steps a period, a square wave in two, or one draw a period, uniform
//! between the extremes, from the device's own stream.
//!
//! Left out: a factor that differs between reads and writes, and requests that overtake each other.

use seeklab_kernel::Stream;
use seeklab_spec::varies::{Shape, Varies};

/// Steps of a sine in one period.
const SINE_STEPS: u64 = 32;
/// Factors are in thousandths.
const WHOLE: u64 = 1000;

/// The rate of the moment.
pub struct VaryingRate {
    rate: u64,
    one_in_flight: u64,
    full_at: u64,
    shape: Shape,
    amplitude: u64,
    step_ns: u64,
    draws: Stream,
    /// The step of the last question, and its factor.
    step: u64,
    factor: u64,
}

impl VaryingRate {
    /// The pace of a unit whose full rate is `rate`; random factors come from `draws`.
    #[must_use]
    pub fn new(varies: &Varies, rate: u64, draws: Stream) -> Self {
        let steps = match varies.shape {
            Shape::Sine => SINE_STEPS,
            Shape::Square => 2,
            Shape::Constant | Shape::Random => 1,
        };
        let step_ns = if varies.shape == Shape::Constant { u64::MAX } else { (varies.period.0 / steps).max(1) };
        let mut pace = Self {
            rate,
            one_in_flight: varies.one_in_flight.map_or(rate, |one| one.0),
            full_at: u64::from(varies.full_at.max(2)),
            shape: varies.shape,
            amplitude: u64::from(varies.amplitude.min(95)) * WHOLE / 100,
            step_ns,
            draws,
            step: 0,
            factor: WHOLE,
        };
        pace.factor = pace.factor_of(0);
        pace
    }

    /// Bytes per second at `now_ns` with `in_flight` requests, at least 1.
    pub fn rate(&mut self, now_ns: u64, in_flight: usize) -> u64 {
        let step = now_ns / self.step_ns;
        while self.step < step {
            self.step += 1;
            if self.shape == Shape::Random || self.step == step {
                self.factor = self.factor_of(self.step);
            }
        }
        let grown = (in_flight as u64).clamp(1, self.full_at) - 1;
        let [one, full] = [self.one_in_flight, self.rate].map(u128::from);
        let left = u128::from(self.full_at - 1 - grown);
        let at_depth = (one * left + full * u128::from(grown)) / u128::from(self.full_at - 1);
        u64::try_from(at_depth * u128::from(self.factor) / u128::from(WHOLE)).unwrap_or(u64::MAX).max(1)
    }

    /// When the factor of `now_ns` ends.
    #[must_use]
    pub fn until_ns(&self, now_ns: u64) -> u64 {
        (now_ns / self.step_ns + 1).saturating_mul(self.step_ns)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // between 0 and 2000
    fn factor_of(&mut self, step: u64) -> u64 {
        match self.shape {
            Shape::Constant => WHOLE,
            Shape::Sine => {
                let angle = (step % SINE_STEPS) as f64 / SINE_STEPS as f64 * core::f64::consts::TAU;
                libm::round(WHOLE as f64 + self.amplitude as f64 * libm::sin(angle)) as u64
            }
            Shape::Square if step.is_multiple_of(2) => WHOLE + self.amplitude,
            Shape::Square => WHOLE - self.amplitude,
            Shape::Random => WHOLE - self.amplitude + self.draws.below(2 * self.amplitude + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(varies: &serde_json::Value) -> VaryingRate {
        let varies: Varies = serde_json::from_value(varies.clone()).expect("a variation");
        VaryingRate::new(&varies, 100_000, Stream::new(1, "pool0.rate"))
    }

    #[test]
    fn the_rate_grows_with_the_requests_in_flight() {
        let mut pace = pace(&serde_json::json!({"one_in_flight": 40_000, "full_at": 4}));
        let rates: Vec<u64> = [0, 1, 2, 3, 4, 5].map(|in_flight| pace.rate(7, in_flight)).into();
        assert_eq!(rates, [40_000, 40_000, 60_000, 80_000, 100_000, 100_000]);
        assert_eq!(pace.until_ns(7), u64::MAX);
    }

    #[test]
    fn waves_swing_between_their_extremes_and_keep_their_mean() {
        for (shape, steps) in [("sine", 32), ("square", 2)] {
            let mut pace = pace(&serde_json::json!({"shape": shape, "period": 32_000_000, "amplitude": 50}));
            let mut now_ns = 0;
            let mut rates = Vec::new();
            while now_ns < 32_000_000 {
                rates.push(pace.rate(now_ns, 1));
                now_ns = pace.until_ns(now_ns);
            }
            assert_eq!(rates.len(), steps, "{shape}");
            assert_eq!((rates.iter().min(), rates.iter().max()), (Some(&50_000), Some(&150_000)), "{shape}");
            assert_eq!(rates.iter().sum::<u64>() / steps as u64, 100_000, "{shape}");
        }
    }

    #[test]
    fn a_random_rate_does_not_depend_on_when_it_is_asked_for() {
        let varies = serde_json::json!({"shape": "random", "period": 1_000_000, "amplitude": 90});
        let (mut often, mut once) = (pace(&varies), pace(&varies));
        let rates: Vec<u64> = (0..1000).map(|step| often.rate(step * 1_000_000, 1)).collect();
        assert_eq!(once.rate(999_000_000, 1), rates[999]);
        assert!(rates.iter().all(|rate| (10_000..=190_000).contains(rate)));
        let mean = rates.iter().sum::<u64>() / 1000;
        assert!((95_000..105_000).contains(&mean), "{mean}");
    }
}
