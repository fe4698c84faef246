//! The search for the greatest queue depth at which a latency target is met, step by step as fio 3.33 does it.
//!
//! From depth 1 on, each window in which enough requests met the target doubles the depth, up to the job's own; the first in which they
//! did not halves the way back, and from there the search continues between the two. When the depth no longer changes, one window is
//! measured at it, and the job is done. Three good windows right below a bad depth try that depth again.

use seeklab_spec::governor::LatencyTarget;

/// The verdict on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The next window begins.
    GoOn,
    /// The depth was lowered: what is in flight must complete first.
    Lowered,
    /// The depth is found: what was measured before no longer counts.
    Found,
    /// It has been measured.
    Done,
}

/// The search of one worker.
#[derive(Clone, Debug)]
pub struct DepthSearch {
    spec: LatencyTarget,
    most: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable: u32,
    window_ns: u64,
    ios: u64,
    late: u64,
    is_last: bool,
    /// Whether what is in flight from before still has to complete.
    is_settling: bool,
}

impl DepthSearch {
    /// A search up to `most` requests in flight, from `now_ns` on.
    pub fn new(spec: LatencyTarget, most: u32) -> Self {
        Self { spec, most, depth: 1, low: 1, high: most, stable: 0, window_ns: 0, ios: 0, late: 0, is_last: false, is_settling: false }
    }

    /// The first window begins.
    pub fn start(&mut self, now_ns: u64) {
        self.window_ns = now_ns;
    }

    /// The present depth.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// A request has completed and left `in_flight` others; what the window led to, when this ends it.
    pub fn completed(&mut self, latency_ns: u64, in_flight: u32, now_ns: u64) -> Option<Verdict> {
        if self.is_settling {
            self.is_settling = in_flight > 0;
            self.window_ns = now_ns;
            return None;
        }
        self.ios += 1;
        self.late += u64::from(latency_ns > self.spec.target.0);
        if now_ns.saturating_sub(self.window_ns) < self.spec.window.0 {
            return None;
        }
        let met = 100.0 * seeklab_spec::to_f64(self.ios - self.late) / seeklab_spec::to_f64(self.ios);
        let verdict = if met >= self.spec.percent { self.met() } else { self.missed() };
        (self.ios, self.late, self.window_ns) = (0, 0, now_ns);
        self.is_settling = in_flight > 0 && matches!(verdict, Verdict::Lowered | Verdict::Found);
        Some(verdict)
    }

    fn met(&mut self) -> Verdict {
        let before = self.depth;
        self.low = before;
        if before + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                (self.high, self.stable) = (self.high + 1, 0);
            }
        }
        // Until a depth has failed the way up is doubled.
        self.depth = if self.high == self.most { before * 2 } else { before.midpoint(self.high) }.min(self.most);
        if self.spec.keep_adapting || self.depth != before {
            return Verdict::GoOn;
        }
        if self.is_last {
            return Verdict::Done;
        }
        self.is_last = true;
        Verdict::Found
    }

    fn missed(&mut self) -> Verdict {
        if self.depth == 1 {
            // Not even one request at a time meets the target.
            return Verdict::Done;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = self.depth.midpoint(self.low).max(1);
        self.stable = 0;
        Verdict::Lowered
    }
}

#[cfg(test)]
mod tests {
    use seeklab_spec::Nanos;

    use super::*;

    /// Depths that are tried where a depth's latency is `us_each` for each request in flight.
    fn depths(us_each: u64, target_us: u64, most: u32) -> Vec<u32> {
        let spec = LatencyTarget { target: Nanos(target_us * 1000), window: Nanos(1_000_000), percent: 99.0, keep_adapting: false };
        let mut search = DepthSearch::new(spec, most);
        let mut tried = vec![1];
        for window in 1..100 {
            let latency_ns = u64::from(search.depth()) * us_each * 1000;
            match search.completed(latency_ns, 0, window * 1_000_000) {
                Some(Verdict::Done) => break,
                _ => tried.push(search.depth()),
            }
        }
        tried
    }

    #[test]
    fn the_depth_doubles_until_it_fails_and_is_then_halved_in_between() {
        // 10 us for each request in flight, at most 120 us: depth 12.
        assert_eq!(depths(10, 120, 64), [1, 2, 4, 8, 16, 12, 14, 13, 12, 12]);
        // All depths meet it: the job's own.
        assert_eq!(depths(1, 120, 16), [1, 2, 4, 8, 16, 16]);
        // None does.
        assert_eq!(depths(200, 120, 16), [1]);
    }
}
