//! Service times of a fan-out's servers, drawn from a distribution.

use seeklab_kernel::Stream;
use seeklab_spec::fanout::{Service, ServiceKind, SlowServer};
use seeklab_spec::to_f64;

/// Service times.
#[derive(Debug)]
pub struct Times {
    kind: ServiceKind,
    time_ns: u64,
    slow_ns: u64,
    shape: f64,
    /// A draw of 64 bits below this is a slow one.
    slow_below: u64,
    draws: Stream,
}

impl Times {
    /// Times of a service, from a stream of their own.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of numbers up to 2^64, saturating
    pub fn new(spec: &Service, draws: Stream) -> Self {
        let slow_below = (spec.slow_percent / 100.0 * 18_446_744_073_709_551_616.0) as u64;
        Self { kind: spec.kind, time_ns: spec.time.0, slow_ns: spec.slow.0, shape: spec.shape, slow_below, draws }
    }

    /// The time that most leaves take to the nanosecond, of distributions that have one.
    #[must_use]
    pub fn ordinary_ns(&self) -> Option<u64> {
        matches!(self.kind, ServiceKind::TwoPoint | ServiceKind::Pareto).then_some(self.time_ns)
    }

    /// The next time.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // rounded, not negative, and saturating
    pub fn draw(&mut self) -> u64 {
        match self.kind {
            ServiceKind::Gamma => libm::round(self.draws.gamma(self.shape, to_f64(self.time_ns))) as u64,
            ServiceKind::Below => 0,
            ServiceKind::TwoPoint | ServiceKind::Pareto if self.draws.bits() >= self.slow_below => self.time_ns,
            ServiceKind::TwoPoint => self.slow_ns,
            ServiceKind::Pareto => {
                let beyond = libm::pow(1.0 - self.draws.unit(), -1.0 / self.shape);
                // A tail without a mean can reach beyond any clock: an hour is the end of it.
                libm::round((to_f64(self.time_ns) * beyond).min(3.6e12)) as u64
            }
        }
    }
}

/// Return the time that a server takes for a service that starts at `now_ns`.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // rounded, not negative, and saturating
pub fn on_server(slow: &[SlowServer], server: u16, now_ns: u64, ns: u64) -> u64 {
    let is_slow = |slow: &&SlowServer| {
        let until_ns = slow.r#for.map_or(u64::MAX, |length| slow.at.0.saturating_add(length.0));
        slow.server.is_none_or(|slow| slow == u32::from(server)) && (slow.at.0..until_ns).contains(&now_ns)
    };
    slow.iter().filter(is_slow).fold(ns, |ns, slow| libm::round(to_f64(ns) * slow.times) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn times(spec: serde_json::Value) -> Times {
        Times::new(&serde_json::from_value(spec).expect("a service"), Stream::new(1, "test"))
    }

    #[test]
    fn a_two_point_time_is_slow_as_often_as_told() {
        let mut times = times(json!({"kind": "two-point", "time": "10ms", "slow": "1s", "slow_percent": 1}));
        let slow = (0..1_000_000).filter(|_| times.draw() == 1_000_000_000).count();
        // A standard deviation of 100.
        assert!((9_600..=10_400).contains(&slow), "{slow}");
    }

    #[test]
    fn a_pareto_tail_has_its_share_beyond_ten_and_a_hundred_times() {
        let mut times = times(json!({"kind": "pareto", "time": "10ms", "slow_percent": 20, "shape": 2}));
        let drawn: Vec<u64> = (0..1_000_000).map(|_| times.draw()).collect();
        let beyond = |ns: u64| drawn.iter().filter(|drawn| **drawn > ns).count();
        // 20 %, 20 % / 2^2, 20 % / 10^2.
        assert!((198_000..=202_000).contains(&beyond(10_000_000)), "{}", beyond(10_000_000));
        assert!((49_000..=51_000).contains(&beyond(20_000_000)), "{}", beyond(20_000_000));
        assert!((1_820..=2_180).contains(&beyond(100_000_000)), "{}", beyond(100_000_000));
        assert_eq!(drawn.iter().min(), Some(&10_000_000));
    }

    #[test]
    fn a_server_is_slow_in_its_time_only() {
        let slow: Vec<SlowServer> = serde_json::from_value(
            json!([{"server": 3, "times": 20, "at": 100, "for": 50}, {"server": 4, "times": 2}, {"times": 3, "at": 1000}]),
        )
        .expect("servers");
        let at = |server, now_ns| on_server(&slow, server, now_ns, 7);
        assert_eq!(
            [at(3, 99), at(3, 100), at(3, 149), at(3, 150), at(4, 0), at(5, 120), at(5, 1000), at(4, 1000)],
            [7, 140, 140, 7, 14, 7, 21, 42]
        );
    }
}
