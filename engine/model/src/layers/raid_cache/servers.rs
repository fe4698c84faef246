//! Many servers with the same battery: the share of the time in which at least one of them writes through.
//!
//! Each starts its cycles at a time of its own, the same in every period. Of starts in order, a server's write-through counts until it
//! ends or the next one's begins; so the union of all needs no clock, and a year is as long as a period.
//!
//! Left out: clocks that drift against each other, and batteries that differ.

use seeklab_kernel::Stream;
use seeklab_spec::raid_cache::{BatteryServers, Phases};
use seeklab_spec::to_f64;

/// The share of the time, 0 to 1, in which at least one of the servers is in the window of `window_ns` that comes once in `every_ns`.
#[must_use]
pub fn share_with_any(spec: &BatteryServers, window_ns: u64, every_ns: u64, starts: &mut Stream) -> f64 {
    let mut begins = vec![0; spec.count as usize];
    let draws = if spec.phases == Phases::Together { 1 } else { spec.draws };
    let mut covered = 0.0;
    for _ in 0..draws {
        if spec.phases == Phases::Random {
            for start in &mut begins {
                *start = starts.below(every_ns);
            }
            begins.sort_unstable();
        }
        let nexts = begins.iter().skip(1).copied().chain([begins[0] + every_ns]);
        covered += begins.iter().zip(nexts).map(|(start, next)| to_f64((next - start).min(window_ns))).sum::<f64>();
    }
    covered / to_f64(every_ns) / f64::from(draws)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOURS: u64 = 3_600_000_000_000;

    fn share(count: u32, phases: Phases) -> f64 {
        share_with_any(&BatteryServers { count, phases, draws: 1000 }, 7 * HOURS, 2160 * HOURS, &mut Stream::new(1, "starts"))
    }

    #[test]
    fn random_phases_cover_what_independent_servers_do() {
        for count in [1, 10, 40, 200] {
            let expected = 1.0 - libm::pow(1.0 - 7.0 / 2160.0, f64::from(count));
            assert!((share(count, Phases::Random) / expected - 1.0).abs() < 0.01, "{count}: {}", share(count, Phases::Random));
        }
    }

    #[test]
    fn servers_that_start_together_are_slow_together() {
        assert!((share(40, Phases::Together) - 7.0 / 2160.0).abs() < 1e-12);
    }
}
