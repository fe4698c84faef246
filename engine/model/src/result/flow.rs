//! A job that is a flow: many I/Os of a closed loop, told as one.

use seeklab_spec::Job;

/// The loop that a fluid job is.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// I/Os in flight.
    pub depth: u64,
    /// Time between the end of one and the next.
    pub think_ns: u64,
    /// Bytes of each.
    pub bytes: u64,
}

impl Loop {
    /// The loop of a job, if it is fluid.
    #[must_use]
    pub fn of(job: &Job) -> Option<Self> {
        job.fluid.then(|| Self { depth: job.iodepth.into(), think_ns: job.thinktime.0, bytes: job.bs.0 })
    }

    /// I/Os that a request of so many bytes stands for, and how long each of them took when the request took `ns`.
    #[must_use]
    pub fn ios(&self, bytes: u64, ns: u64) -> (u64, u64) {
        let ios = bytes / self.bytes;
        let whole = u128::from(ns) * u128::from(self.depth) / u128::from(ios.max(1));
        (ios, u64::try_from(whole).unwrap_or(u64::MAX).saturating_sub(self.think_ns))
    }

    /// Those of a request's `ios` in `ns` that end after its first `uncounted_ns`.
    #[must_use]
    pub fn ios_after(&self, uncounted_ns: u64, ios: u64, ns: u64) -> u64 {
        let counted = u128::from(ios) * u128::from(ns.saturating_sub(uncounted_ns)) / u128::from(ns.max(1));
        if uncounted_ns == 0 { ios } else { u64::try_from(counted).unwrap_or(ios) }
    }
}
