//! Replay of a trace through a policy: who hits.

use super::hit_counts::HitCounts;
use super::trace::Trace;
use super::{Policy, PolicyKind, ReplayPolicy, belady};

/// Replays `trace` through `policy`, which may have been used before; keys are the trace's object numbers.
pub fn replay_through<P: Policy + ?Sized>(trace: &Trace, policy: &mut P) -> HitCounts {
    let mut counts = HitCounts::default();
    let mut evicted = Vec::new();
    for (object, size) in trace.requests() {
        let hit = policy.access(u64::from(object), size, &mut evicted);
        evicted.clear();
        counts.count(size, hit);
    }
    counts
}

/// Counts the hits of a policy on `trace` in an empty cache of `capacity` bytes (or objects, see [`Trace::in_objects`]).
#[must_use]
pub fn replay(trace: &Trace, kind: PolicyKind, capacity: u64) -> HitCounts {
    kind.replay(trace, capacity)
}

impl ReplayPolicy {
    /// Counts its hits on `trace` in an empty cache of `capacity` bytes (or objects).
    #[must_use]
    pub fn replay(self, trace: &Trace, capacity: u64) -> HitCounts {
        match self {
            Self::Policy(kind) => replay(trace, kind, capacity),
            Self::Belady => belady::replay(trace, capacity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_bytes_are_counted_apart() {
        let trace = Trace::parse(b"0,a,10\n1,b,30\n2,a,10\n3,c,500\n4,a,10").unwrap();
        assert_eq!(replay(&trace, PolicyKind::Lru, 40), HitCounts { requests: 5, hits: 2, bytes: 560, hit_bytes: 20 });
    }

    #[test]
    fn the_miss_ratio_is_the_share_that_missed() {
        let mut counts = HitCounts::default();
        assert_eq!(counts.miss_ratio().to_bits(), 0.0_f64.to_bits());
        (0..4).for_each(|nth| counts.count(1, nth == 0));
        assert_eq!(counts.miss_ratio().to_bits(), 0.75_f64.to_bits());
    }
}
