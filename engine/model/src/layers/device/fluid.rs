//! A closed loop of constant depth as a flow: what an hour at 3000 I/Os a second does to a volume's credits, without ten million events.
//!
//! A flow's request stands for all I/Os of a time in which their rate does not change: until the credits are gone, more of them come,
//! or an interval of the series ends. The rate is the burst rate while there are credits, the base rate without, and never more than
//! the loop asks for (depth / (latency + think time)) or the volume moves. By Little's law each I/O takes depth / rate, less the
//! think time.
//!
//! Left out: the first I/Os of each rate, which still find the queue of the one before; it is gone within depth / rate.

use super::credits::Bucket;
use crate::result::flow::Loop;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// A flow through a volume.
#[derive(Debug)]
pub struct Fluid {
    of: Loop,
    /// I/Os that have begun but do not make up a whole one, in billionths.
    rest: f64,
    step_ns: u64,
}

/// A time of constant rate.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// When it ends.
    pub until_ns: u64,
    /// Bytes of its I/Os.
    pub bytes: u64,
    /// Of its time, what I/Os spend in the volume's latency and not waiting.
    pub served_ns: u64,
    /// Its I/Os.
    pub ios: u64,
}

impl Fluid {
    /// The flow of a loop; no segment reaches over a multiple of `step_ns`.
    #[must_use]
    pub fn new(of: Loop, step_ns: u64) -> Self {
        Self { of, rest: 0.0, step_ns: step_ns.max(1) }
    }

    /// The time of constant rate from `now_ns` on, on a volume with this latency that moves so many bytes a second.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole numbers below 2^53, not negative
    pub fn segment(&mut self, bucket: &mut Bucket, now_ns: u64, latency_ns: u64, bytes_per_s: u64) -> Segment {
        bucket.advance(now_ns);
        let Loop { depth, think_ns, bytes } = self.of;
        let ns = to_f64(NS_PER_S);
        let cost = to_f64(bucket.cost(bytes));
        let has_credits = bucket.level >= NS_PER_S && !bucket.is_bypassed();
        let credits_per_s = to_f64(if has_credits { bucket.burst } else { bucket.base });
        let asked = to_f64(depth) * ns / to_f64((latency_ns + think_ns).max(1));
        let given = (credits_per_s / cost).min(to_f64(bytes_per_s) / to_f64(bytes));
        let rate = asked.min(given);
        let drain = rate * cost - to_f64(bucket.base);
        let mut until_ns = ((now_ns / self.step_ns + 1) * self.step_ns).min(bucket.next_top_up_ns());
        if has_credits && drain > 0.0 {
            until_ns = until_ns.min(now_ns + (libm::ceil(to_f64(bucket.level) / drain) as u64).max(1));
        }
        let span_ns = until_ns - now_ns;
        let begun = rate * to_f64(span_ns) + self.rest;
        let ios = libm::floor(begun / ns);
        self.rest = begun - ios * ns;
        if !bucket.is_bypassed() {
            bucket.flow(until_ns, libm::round(rate * cost * to_f64(span_ns)) as u64);
        }
        bucket.note(now_ns, until_ns, ios as u64, !has_credits && asked > given);
        let each_ns = (to_f64(depth) * ns / rate - to_f64(think_ns)).max(1.0);
        let served = (to_f64(latency_ns) / each_ns).min(1.0);
        Segment { until_ns, bytes: ios as u64 * bytes, served_ns: libm::floor(served * to_f64(span_ns)) as u64, ios: ios as u64 }
    }
}
