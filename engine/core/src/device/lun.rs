//! A logical unit that moves bytes at a fixed rate: one server, first in first out, plus a latency that overlaps.
//!
//! Its behaviour follows in closed form when a request arrives, so it needs no queue and one event a request.

use super::{Usage, transfer_ns};
use crate::kernel::{Address, Kernel, Layer, NO_DEVICE, Phase, RequestId, Signal};
use crate::scenario;

/// A fixed-rate logical unit.
pub struct Lun {
    rate: u64,
    latency_ns: u64,
    free_ns: u64,
    phase: Phase,
    /// Its place in the stack.
    pub here: Address,
    /// What it has done.
    pub usage: Usage,
}

impl Lun {
    /// The unit that a scenario describes; its work is charged to `phase`.
    #[must_use]
    pub fn new(spec: &scenario::Lun, phase: Phase) -> Self {
        Self { rate: spec.rate.0, latency_ns: spec.latency.0, free_ns: 0, phase, here: Address::of(Layer::Device), usage: Usage::default() }
    }

    /// A request arrives.
    pub fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let now_ns = kernel.now_ns;
        let request = &mut kernel.requests[id];
        request.device = if self.here.layer == Layer::Device { self.here.index } else { NO_DEVICE };
        let (owner, bytes) = (request.owner, request.bytes);
        let start_ns = self.free_ns.max(now_ns);
        let work_ns = transfer_ns(bytes, self.rate);
        self.free_ns = start_ns + work_ns;
        self.usage.busy_ns += work_ns;
        kernel.requests.charge_until(id, Phase::Queue, start_ns);
        kernel.requests.charge_ns(id, self.phase, work_ns);
        kernel.requests.charge_ns(id, Phase::Overhead, self.latency_ns);
        let done_ns = self.free_ns + self.latency_ns;
        self.usage.count(kernel.requests[id].op, bytes, done_ns - now_ns);
        kernel.at(done_ns, owner, Signal::Done, id.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Request;
    use crate::scenario::{Bytes, Nanos};

    #[test]
    fn requests_queue_for_the_rate_and_overlap_in_the_latency() {
        let spec = scenario::Lun { capacity: Bytes(1 << 30), rate: Bytes(1_000_000_000), latency: Nanos(500) };
        let mut lun = Lun::new(&spec, Phase::Transfer);
        let mut kernel = Kernel::default();
        for _ in 0..2 {
            let id = kernel.open(Request { bytes: 1000, ..Request::default() });
            lun.submit(&mut kernel, id);
        }
        let done: Vec<u64> = std::iter::from_fn(|| kernel.advance()).map(|event| event.time_ns).collect();
        assert_eq!(done, [1500, 2500]);
        assert_eq!(kernel.requests.phases(RequestId(1))[Phase::Queue as usize], 1000);
    }
}
