//! The schedule of a job with a rate: when its requests were due, beside when they were sent.
//!
//! A worker whose queue is full sends late, and a tool that counts latency from the sending leaves out what its users wait for: that
//! is called coordinated omission. Counted from when it was due, a request's latency is what somebody waits who comes by the plan.
//!
//! Source: Gil Tene, wrk2 (README). Left out: jobs with a rate of their own for each direction, copies, and replays, whose plan is the
//! trace; and requests that were due but not sent when their job ended.

use crate::kernel::RequestId;
use seeklab_spec::Job;

/// Whether a job's requests are due at times of their own.
#[inline]
pub fn has_schedule(job: &Job) -> bool {
    (job.rate.is_some() || job.rate_iops.is_some()) && !job.rw.is_copy()
}

/// When each request in flight was due, by its place in the slab; of jobs with a plan only.
#[derive(Debug, Default)]
pub struct Schedule(Vec<u64>);

impl Schedule {
    /// Notes when a request was due. O(1) but for the growth to the most in flight.
    #[inline]
    pub fn set(&mut self, id: RequestId, due_ns: u64) {
        let place = id.0 as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        self.0[place] = due_ns;
    }

    /// When a request was due for which that was noted.
    #[inline]
    pub fn of(&self, id: RequestId) -> u64 {
        self.0[id.0 as usize]
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<u64>()) as u64
    }
}
