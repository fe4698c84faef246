//! A steady state: the rates of the last seconds vary little, or have no trend. fio 3.33's criteria, second by second.
//!
//! Of the rates of the window, one a second: the greatest distance from their mean, or the slope of the line of least squares through
//! them, is in percent of the mean below the limit. Left out: limits in absolute numbers.

use crate::result::outcome::Steadiness;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::governor::{SteadyOf, SteadyState};
use seeklab_spec::to_f64;

/// The seconds of one job.
#[derive(Clone, Debug)]
pub struct Steady {
    spec: SteadyState,
    seconds: usize,
    /// When the present second ends; 0 before the first request.
    second_ends_ns: u64,
    /// Requests and bytes of the present second.
    present: (u64, u64),
    found: Steadiness,
}

impl Steady {
    /// Nothing is known yet.
    pub fn new(spec: SteadyState) -> Self {
        let seconds = usize::try_from(spec.duration.0 / NS_PER_S).unwrap_or(usize::MAX).max(1);
        Self { spec, seconds, second_ends_ns: 0, present: (0, 0), found: Steadiness::default() }
    }

    /// The first worker of the job starts.
    pub fn start(&mut self, now_ns: u64) {
        if self.second_ends_ns == 0 {
            self.second_ends_ns = now_ns.saturating_add(self.spec.ramp.0).saturating_add(NS_PER_S);
        }
    }

    /// Return the result.
    pub fn found(&self) -> &Steadiness {
        &self.found
    }

    /// A request of `bytes` has completed; whether the state is reached with the second that this ends.
    pub fn completed(&mut self, bytes: u64, now_ns: u64) -> bool {
        if self.found.attained || now_ns + NS_PER_S < self.second_ends_ns {
            return false;
        }
        while now_ns >= self.second_ends_ns && !self.found.attained {
            self.second_ends_ns = self.second_ends_ns.saturating_add(NS_PER_S);
            let (ios, of_bytes) = std::mem::take(&mut self.present);
            self.found.iops.push(ios);
            self.found.bw.push(of_bytes);
            if self.found.iops.len() > self.seconds {
                self.found.iops.remove(0);
                self.found.bw.remove(0);
            }
            if self.found.iops.len() == self.seconds {
                self.judge();
            }
        }
        self.present = (self.present.0 + 1, self.present.1 + bytes);
        self.found.attained
    }

    fn judge(&mut self) {
        let is_slope = matches!(self.spec.of, SteadyOf::IopsSlope | SteadyOf::BwSlope);
        let rates = if matches!(self.spec.of, SteadyOf::Iops | SteadyOf::IopsSlope) { &self.found.iops } else { &self.found.bw };
        let values: Vec<f64> = rates.iter().map(|rate| to_f64(*rate)).collect();
        let count = to_f64(values.len() as u64);
        let mean = values.iter().sum::<f64>() / count;
        let middle = (count - 1.0) / 2.0;
        let (mut products, mut squares, mut deviation) = (0.0, 0.0, 0.0f64);
        for (second, value) in (0u32..).zip(&values) {
            let away = f64::from(second) - middle;
            products += away * (value - mean);
            squares += away * away;
            deviation = deviation.max((value - mean).abs());
        }
        self.found.max_deviation = deviation;
        self.found.slope = if squares > 0.0 { products / squares } else { 0.0 };
        let criterion = if is_slope { self.found.slope.abs() } else { deviation };
        self.found.criterion_percent = if mean > 0.0 { 100.0 * criterion / mean } else { 0.0 };
        self.found.attained = mean > 0.0 && self.found.criterion_percent < self.spec.percent;
    }
}

#[cfg(test)]
mod tests {
    use seeklab_spec::Nanos;

    use super::*;

    /// The second in which rates are found steady.
    fn steady_after(of: SteadyOf, percent: f64, rates: &[u64]) -> Option<usize> {
        let mut steady = Steady::new(SteadyState { of, percent, duration: Nanos(5 * NS_PER_S), ramp: Nanos(0) });
        steady.start(0);
        for (second, rate) in rates.iter().enumerate() {
            for request in 0..*rate {
                if steady.completed(4096, second as u64 * NS_PER_S + request * NS_PER_S / rate) {
                    return Some(second);
                }
            }
        }
        None
    }

    #[test]
    fn a_rate_that_falls_is_steady_once_the_window_has_left_the_fall_behind() {
        // Means of five: with a 150 among them the greatest distance is 36 % or more.
        assert_eq!(steady_after(SteadyOf::Iops, 10.0, &[200, 150, 100, 101, 99, 100, 102, 100]), Some(7));
        assert_eq!(steady_after(SteadyOf::Iops, 0.1, &[200, 150, 100, 101, 99, 100, 102, 100]), None);
    }

    #[test]
    fn a_rate_that_swings_has_no_slope() {
        // 100, 140, 100, 140, 100 have a mean of 116 and no trend; the greatest distance is 24, a fifth.
        assert_eq!(steady_after(SteadyOf::BwSlope, 1.0, &[100, 140, 100, 140, 100, 140]), Some(5));
        assert_eq!(steady_after(SteadyOf::Bw, 10.0, &[100, 140, 100, 140, 100, 140]), None);
    }
}
