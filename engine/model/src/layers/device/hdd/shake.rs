//! A shaken disk: attempts that find the head off its track.
//!
//! Vibration pushes the head to the side. A drive that notices closes its write gate, or cannot read what it is over; it waits until the
//! sector passes the head again and tries again. So each failed attempt costs one whole revolution, whatever else the request does:
//! - an attempt begins when the first sector of a request would pass under the head, and fails with a probability of its own,
//!   independent of all others. Mean wait with revolutions of `T`, probability `q` and at most `n` retries: `T q (1 - q^n) / (1 - q)`;
//! - a transfer that has moved as many blocks as a track holds is a new attempt on the next track that it comes to;
//! - after so many failures in a row the next attempt succeeds, and is counted: no layer above handles errors, so none is made;
//! - what the drive's buffer holds is read without an attempt. Reading ahead meets the same vibration.
//!
//! Sources: Brendan Gregg, "Unusual disk latency" (2008-12-31), who shouted at a shelf of disks under a streaming write; Bryan Cantrill,
//! "Catching disk latency in the act" (2008-12-31), a drive whose screw was missing. Left out: what frequency and which place in a
//! shelf do to the probability, heads that are knocked off in the middle of a sector, and damage.

use seeklab_kernel::Stream;
use seeklab_spec::{AddProblem, Nanos, Path, Problems, Shake};

/// When a disk is shaken, and what it has come to.
#[derive(Clone, Debug)]
pub struct Shaker {
    /// Start, end and probability of each shout, in order of time.
    shouts: Box<[(f64, f64, f64)]>,
    always: f64,
    most: u32,
    stream: Stream,
    /// Failed attempts.
    pub retries: u64,
    /// Attempts that succeeded only because the disk had tried often enough.
    pub exhausted: u64,
}

impl Shaker {
    /// A disk shaken like this, with a random stream of its own.
    #[must_use]
    pub fn new(spec: &Shake, stream: Stream) -> Self {
        let end = |at: Nanos, length: Nanos| at.0.saturating_add(length.0) as f64;
        let shouts = spec.shouts.iter().map(|shout| (shout.at.0 as f64, end(shout.at, shout.r#for), shout.off_track)).collect();
        Self { shouts, always: spec.off_track, most: spec.most_retries, stream, retries: 0, exhausted: 0 }
    }

    /// The probability that an attempt at this moment fails.
    fn off_track(&self, at_ns: f64) -> f64 {
        let next = self.shouts.partition_point(|(_, to, _)| *to <= at_ns);
        self.shouts.get(next).filter(|(from, ..)| *from <= at_ns).map_or(self.always, |(.., off_track)| *off_track)
    }

    /// How long an attempt that begins at `at_ns` is put off: whole revolutions.
    pub(super) fn lost_ns(&mut self, at_ns: f64, turn_ns: f64) -> f64 {
        let mut failed = 0;
        loop {
            let lost = f64::from(failed) * turn_ns;
            let off_track = self.off_track(at_ns + lost);
            if off_track <= 0.0 || self.stream.unit() >= off_track {
                return lost;
            }
            if failed == self.most {
                self.exhausted += 1;
                return lost;
            }
            failed += 1;
            self.retries += 1;
        }
    }
}

/// Refuses shouts that overlap or are not in order of time, and disks that a group of `count` has not, or has named twice.
pub fn check(spec: &Shake, count: u32, at: &Path, problems: &mut Problems) {
    for (index, pair) in spec.shouts.windows(2).enumerate() {
        let end = Nanos(pair[0].at.0.saturating_add(pair[0].r#for.0));
        if pair[1].at < end {
            let message =
                format!("{} is before the end of the previous shout, at {end}; write shouts in time order, without overlaps", pair[1].at);
            problems.add(at.clone().index("shouts", index + 1).field("at"), message);
        }
    }
    for (index, disk) in spec.disks.iter().enumerate() {
        let place = at.clone().index("disks", index);
        if *disk >= count {
            let accepted = if count == 1 { "0, the group's only disk".to_owned() } else { format!("0 to {}", count - 1) };
            problems.add(place, format!("{disk} is not one of the group's {count} disks; write {accepted}"));
        } else if spec.disks[..index].contains(disk) {
            problems.add(place, format!("{disk} is named twice; write each disk once"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_problem, assert_problems};
    use seeklab_spec::Shout;

    const TURN_NS: f64 = 60e9 / 7200.0;

    fn shaker(spec: &Shake) -> Shaker {
        Shaker::new(spec, Stream::new(7, "disk0.shake"))
    }

    fn mean_ms(off_track: f64, draws: u32) -> f64 {
        let mut shaker = shaker(&Shake { off_track, ..Shake::default() });
        (0..draws).map(|_| shaker.lost_ns(0.0, TURN_NS)).sum::<f64>() / f64::from(draws) / 1e6
    }

    #[test]
    fn the_mean_wait_is_that_of_a_geometric_number_of_revolutions_cut_at_the_most() {
        // 8.333 ms q (1 - q^100) / (1 - q); 408.3 ms at 0.98 without the cut.
        for (off_track, mean, tolerance) in
            [(0.2, 2.083, 0.01), (0.5, 8.333, 0.01), (0.9, 75.0, 0.01), (0.95, 157.4, 0.01), (0.98, 354.2, 0.01)]
        {
            let found = mean_ms(off_track, 200_000);
            assert!((found / mean - 1.0).abs() < tolerance, "{off_track}: {found} ms, not {mean}");
        }
    }

    #[test]
    fn an_attempt_after_the_most_retries_succeeds_and_is_counted() {
        let mut shaker = shaker(&Shake { off_track: 0.95, ..Shake::default() });
        let longest = (0..100_000).map(|_| shaker.lost_ns(0.0, TURN_NS)).fold(0.0, f64::max);
        assert!((longest / TURN_NS - 100.0).abs() < 1e-9, "{longest}");
        // 0.95^101 of the requests.
        assert!((430..700).contains(&shaker.exhausted), "{}", shaker.exhausted);
    }

    #[test]
    fn a_shout_puts_its_probability_in_place_of_the_constant_one_and_ends_in_time() {
        let shout = Shout { at: Nanos(1_000_000_000), r#for: Nanos(500_000_000), off_track: 0.999 };
        let mut shaker = shaker(&Shake { shouts: vec![shout], most_retries: 10_000, ..Shake::default() });
        assert!(shaker.lost_ns(0.999e9, TURN_NS) <= 0.0 && shaker.lost_ns(1.5e9, TURN_NS) <= 0.0, "nobody shouts");
        let lost = (0..100).map(|_| shaker.lost_ns(1.0e9, TURN_NS)).fold(0.0, f64::max);
        assert!((lost / TURN_NS - 60.0).abs() < 1e-9, "the first revolution after 500 ms succeeds: {lost}");
    }

    #[test]
    fn shouts_and_disks_that_contradict_each_other_are_refused() {
        let shout = |at: u64| Shout { at: Nanos(at * 1_000_000_000), r#for: Nanos(2_000_000_000), off_track: 0.9 };
        let spec = Shake { shouts: vec![shout(1), shout(2)], disks: vec![0, 4, 0], ..Shake::default() };
        let problems = |count: u32| {
            let mut problems = Problems::new();
            check(&spec, count, &Path::root().field("shake"), &mut problems);
            problems
        };
        assert_problems(&problems(4), &["shake.shouts[1].at: 2 s, 3 s", "shake.disks[1]: 4, 0, 3", "shake.disks[2]: 0"]);
        assert_problem(&problems(1)[1], "shake.disks[1]: 4, 0");
    }
}
