//! Times at which a device is paused: a collector stops the world, a controller fails over, a snapshot holds everything up.
//!
//! During a pause nothing starts, and what is in progress takes longer by the rest of the pause; so the device's own time is the run's
//! with the pauses cut out, and work that needs `n` ns of it ends where `n` ns lie outside of pauses. The time that a request spends
//! in a pause is charged to a phase of its own, whatever it was doing.
//!
//! Source: Gil Tene's wrk2 (README), which shows what a test tool makes of a server that stops for 1.4 s. Left out: pauses that hold
//! up one direction or a part of the device only, and what a device does to make up for one.

use crate::kernel::{Kernel, Phase, RequestId};
use seeklab_spec::{AddProblem, Path, Pause, Problems};

/// The pauses of a device, by start and end.
#[derive(Clone, Debug, Default)]
pub struct Pauses(Box<[[u64; 2]]>);

impl Pauses {
    /// Pauses in order of time that do not overlap.
    #[must_use]
    pub fn new(spec: &[Pause]) -> Self {
        Self(spec.iter().map(|pause| [pause.at.0, pause.at.0.saturating_add(pause.r#for.0)]).collect())
    }

    /// The first pause that is not over at `now_ns`.
    #[inline]
    fn next(&self, now_ns: u64) -> Option<[u64; 2]> {
        self.0.get(self.0.partition_point(|[_, to]| *to <= now_ns)).copied()
    }

    /// Whether the device is paused at `now_ns`, and until when it stays as it is.
    #[must_use]
    pub fn at(&self, now_ns: u64) -> (bool, u64) {
        match self.next(now_ns) {
            Some([from, to]) if from <= now_ns => (true, to),
            Some([from, _]) => (false, from),
            None => (false, u64::MAX),
        }
    }

    /// When work of `ns` is done that begins at `from_ns`, or after the pause that this falls into.
    #[must_use]
    #[inline]
    pub fn after(&self, from_ns: u64, ns: u64) -> u64 {
        if self.0.is_empty() { from_ns + ns } else { self.after_pauses(from_ns, ns) }
    }

    fn after_pauses(&self, mut from_ns: u64, ns: u64) -> u64 {
        let mut left = ns;
        while let Some([from, to]) = self.next(from_ns) {
            if left == 0 || from_ns.saturating_add(left) <= from {
                break;
            }
            left -= from.saturating_sub(from_ns);
            from_ns = to;
        }
        from_ns.saturating_add(left)
    }

    /// Charges a request's time until `until_ns` to `phase`, but what lies in pauses to theirs.
    #[inline]
    pub fn charge_until(&self, kernel: &mut Kernel, id: RequestId, phase: Phase, until_ns: u64) {
        if !self.0.is_empty() {
            self.charge_pauses(kernel, id, phase, until_ns);
        }
        kernel.requests.charge_until(id, phase, until_ns);
    }

    fn charge_pauses(&self, kernel: &mut Kernel, id: RequestId, phase: Phase, until_ns: u64) {
        while let Some([from, to]) = self.next(kernel.requests[id].charged_ns).filter(|[from, _]| *from < until_ns) {
            let charged_ns = kernel.requests[id].charged_ns;
            kernel.requests.charge_until(id, phase, from.max(charged_ns));
            kernel.requests.charge_until(id, Phase::Paused, to.min(until_ns));
            if to > until_ns {
                return;
            }
        }
    }
}

/// Refuses pauses that overlap or are not in order of time.
pub fn check(spec: &[Pause], at: &Path, problems: &mut Problems) {
    for (index, pair) in spec.windows(2).enumerate() {
        let [one, next] = [pair[0], pair[1]];
        let end = seeklab_spec::Nanos(one.at.0.saturating_add(one.r#for.0));
        if next.at < end {
            let message =
                format!("{} is before the end of the previous pause, at {end}; write pauses in time order, without overlaps", next.at);
            problems.add(at.clone().index("pauses", index + 1).field("at"), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_spec::Nanos;

    fn pauses() -> Pauses {
        Pauses::new(&[
            Pause { at: Nanos(100), r#for: Nanos(50) },
            Pause { at: Nanos(150), r#for: Nanos(10) },
            Pause { at: Nanos(300), r#for: Nanos(1) },
        ])
    }

    #[test]
    fn work_is_done_where_its_time_lies_outside_of_pauses() {
        let pauses = pauses();
        for (from, ns, done) in
            [(0, 100, 100), (0, 101, 161), (50, 60, 170), (100, 0, 100), (120, 5, 165), (160, 140, 300), (160, 141, 302), (400, 7, 407)]
        {
            assert_eq!(pauses.after(from, ns), done, "{ns} from {from}");
        }
        assert_eq!(Pauses::default().after(5, 6), 11);
    }

    #[test]
    fn a_device_stands_still_from_the_start_of_a_pause_to_before_its_end() {
        let pauses = pauses();
        assert_eq!(
            [99, 100, 149, 150, 160, 301].map(|now| pauses.at(now)),
            [(false, 100), (true, 150), (true, 150), (true, 160), (false, 300), (false, u64::MAX)]
        );
    }
}
