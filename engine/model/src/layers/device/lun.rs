//! A logical unit: one server, first in first out, plus a latency that overlaps.
//!
//! At a fixed rate its behaviour follows in closed form when a request arrives, so it needs no queue and one event a request. A
//! rate that varies ([`Pace`]) changes under a request's feet: then requests queue here, and what remains of the first one is
//! computed anew whenever the rate may have changed.

use std::collections::VecDeque;

use super::pace::Pace;
use super::{Usage, transfer_ns};
use crate::kernel::{Address, Event, Kernel, LayerId, NO_DEVICE, Phase, RequestId, Timer as _};
use crate::timers;
use seeklab_kernel::{NS_PER_S, Stream};
use seeklab_spec as spec;

timers! {
    enum Timer {
        /// The rate changes, or the request in hand is done; timers of other numbers are void.
        Change(u32),
    }
}

/// A logical unit.
pub struct Lun {
    rate: u64,
    latency_ns: u64,
    free_ns: u64,
    phase: Phase,
    varying: Option<Box<Varying>>,
    /// Its place in the stack.
    pub here: Address,
    /// What it has done.
    pub usage: Usage,
}

/// The work in hand at a rate that varies.
struct Varying {
    pace: Pace,
    queue: VecDeque<RequestId>,
    /// Of the first request, in bytes times nanoseconds per second.
    remaining: u128,
    /// Up to when the work is done, and at which rate since.
    since_ns: u64,
    rate: u64,
    /// The timer that counts; earlier ones are void.
    timer: u32,
}

impl Lun {
    /// The unit that a scenario describes; its work is charged to `phase`, its random rates come from `draws`.
    #[must_use]
    pub fn new(spec: &spec::Lun, phase: Phase, draws: Stream) -> Self {
        let varying = spec.varies.as_ref().map(|varies| {
            let pace = Pace::new(varies, spec.rate.0, draws);
            Box::new(Varying { pace, queue: VecDeque::new(), remaining: 0, since_ns: 0, rate: 1, timer: 0 })
        });
        Self {
            rate: spec.rate.0,
            latency_ns: spec.latency.0,
            free_ns: 0,
            phase,
            varying,
            here: Address::of(LayerId::Device),
            usage: Usage::default(),
        }
    }

    /// Handles an event of the unit.
    pub fn on(&mut self, kernel: &mut Kernel, event: Event) {
        if let Event::Submit(id) = event {
            kernel.requests[id].device = if self.here.layer == LayerId::Device { self.here.index } else { NO_DEVICE };
        }
        match (&mut self.varying, event) {
            (None, Event::Submit(id)) => self.submit(kernel, id),
            (Some(varying), Event::Submit(id)) => {
                varying.work(kernel.now_ns());
                varying.queue.push_back(id);
                if varying.queue.len() == 1 {
                    varying.begin(kernel);
                }
                self.go_on(kernel);
            }
            (Some(varying), Event::Timer(timer)) => {
                let Timer::Change(number) = Timer::unpack(timer);
                if number != varying.timer {
                    return;
                }
                varying.work(kernel.now_ns());
                if varying.remaining == 0 {
                    self.finish(kernel);
                }
                self.go_on(kernel);
            }
            (None, Event::Timer(_)) | (_, Event::Done(_)) => {} // a fixed rate needs no timer, and it submits nothing
        }
    }

    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let now_ns = kernel.now_ns();
        let bytes = kernel.requests[id].bytes;
        let start_ns = self.free_ns.max(now_ns);
        let work_ns = transfer_ns(bytes, self.rate);
        self.free_ns = start_ns + work_ns;
        self.usage.busy_ns += work_ns;
        kernel.requests.charge_until(id, Phase::Queue, start_ns);
        kernel.requests.charge_ns(id, self.phase, work_ns);
        kernel.requests.charge_ns(id, Phase::Overhead, self.latency_ns);
        let done_ns = self.free_ns + self.latency_ns;
        self.usage.count(kernel.requests[id].op, bytes, done_ns - now_ns);
        kernel.complete_when_charged(id);
    }

    /// The first request has all its bytes.
    fn finish(&mut self, kernel: &mut Kernel) {
        let Some(varying) = &mut self.varying else { return };
        let Some(id) = varying.queue.pop_front() else { return };
        let began_ns = kernel.requests[id].charged_ns;
        kernel.charge(id, self.phase);
        kernel.requests.charge_ns(id, Phase::Overhead, self.latency_ns);
        let request = kernel.requests[id];
        self.usage.busy_ns += kernel.now_ns() - began_ns;
        self.usage.count(request.op, request.bytes, request.charged_ns - request.submitted_ns);
        kernel.complete_when_charged(id);
        if !varying.queue.is_empty() {
            varying.begin(kernel);
        }
    }

    /// Sets the rate for what is in hand now, and the timer for the time until which it holds.
    fn go_on(&mut self, kernel: &mut Kernel) {
        let Some(varying) = &mut self.varying else { return };
        varying.timer = varying.timer.wrapping_add(1);
        if varying.queue.is_empty() {
            return;
        }
        varying.rate = varying.pace.rate(kernel.now_ns(), varying.queue.len());
        let needs_ns = u64::try_from(varying.remaining.div_ceil(u128::from(varying.rate))).unwrap_or(u64::MAX);
        let until_ns = kernel.now_ns().saturating_add(needs_ns).min(varying.pace.until_ns(kernel.now_ns()));
        kernel.wake_at(until_ns, self.here, Timer::Change(varying.timer));
    }
}

impl Varying {
    /// Takes off what has been done since the last change.
    fn work(&mut self, now_ns: u64) {
        let done = u128::from(self.rate) * u128::from(now_ns - self.since_ns);
        self.remaining = self.remaining.saturating_sub(done);
        self.since_ns = now_ns;
    }

    /// The first request begins.
    fn begin(&mut self, kernel: &mut Kernel) {
        let Some(id) = self.queue.front() else { return };
        kernel.charge(*id, Phase::Queue);
        self.remaining = u128::from(kernel.requests[*id].bytes) * u128::from(NS_PER_S);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Request;
    use seeklab_spec::{Bytes, Nanos};

    const HOST: Address = Address::of(LayerId::Workload);

    timers! {
        enum Arrival {
            Of(u32),
        }
    }

    fn lun(varies: Option<serde_json::Value>) -> Lun {
        let varies = varies.map(|varies| serde_json::from_value(varies).expect("a variation"));
        let spec = spec::Lun { capacity: Bytes(1 << 30), rate: Bytes(1_000_000_000), latency: Nanos(500), varies };
        Lun::new(&spec, Phase::Transfer, Stream::new(1, "test"))
    }

    /// Completion times of requests of these bytes that arrive at these times.
    fn run(lun: &mut Lun, arrivals: &[(u64, u64)]) -> (Vec<u64>, Kernel) {
        let mut kernel = Kernel::default();
        for (number, (at_ns, _)) in arrivals.iter().enumerate() {
            kernel.wake_at(*at_ns, HOST, Arrival::Of(u32::try_from(number).expect("few")));
        }
        let mut done = Vec::new();
        while let Some(event) = kernel.advance() {
            match (event.to().layer, event.event()) {
                (LayerId::Workload, Event::Timer(timer)) => {
                    let Arrival::Of(number) = Arrival::unpack(timer);
                    let bytes = arrivals[number as usize].1;
                    let id = kernel.open(Request { bytes, owner: HOST, ..Request::default() });
                    lun.on(&mut kernel, Event::Submit(id));
                }
                (LayerId::Workload, Event::Done(id)) => {
                    assert_eq!(kernel.requests[id].charged_ns, kernel.now_ns());
                    assert_eq!(kernel.requests.phases(id).iter().sum::<u64>(), kernel.now_ns() - kernel.requests[id].submitted_ns);
                    done.push(kernel.now_ns());
                }
                (_, event) => lun.on(&mut kernel, event),
            }
        }
        (done, kernel)
    }

    #[test]
    fn requests_queue_for_the_rate_and_overlap_in_the_latency() {
        let (done, kernel) = run(&mut lun(None), &[(0, 1000), (0, 1000)]);
        assert_eq!(done, [1500, 2500]);
        assert_eq!(kernel.requests.phases(RequestId(1))[Phase::Queue as usize], 1000);
    }

    #[test]
    fn a_rate_that_does_not_vary_gives_the_times_of_the_closed_form() {
        let arrivals = [(0, 1000), (0, 3000), (700, 512), (9000, 77), (9001, 4096)];
        let mut varying = lun(Some(serde_json::json!({})));
        let mut fixed = lun(None);
        assert_eq!(run(&mut varying, &arrivals).0, run(&mut fixed, &arrivals).0);
        assert_eq!(varying.usage, fixed.usage);
    }

    #[test]
    fn a_second_request_speeds_up_the_first_one() {
        let mut varying = lun(Some(serde_json::json!({"one_in_flight": 500_000_000, "full_at": 2})));
        // 1000 bytes at half a byte per ns until 1000, the other 500 at one byte per ns; then 1000 alone at half a byte per ns.
        assert_eq!(run(&mut varying, &[(0, 1000), (1000, 1000)]).0, [1500 + 500, 3500 + 500]);
    }

    #[test]
    fn a_request_spans_the_steps_of_a_wave() {
        let mut varying = lun(Some(serde_json::json!({"shape": "square", "period": 2000, "amplitude": 50})));
        // 1.5 bytes per ns for 1 us, 0.5 for the next: 2000 bytes a period; 667 ns for the last 1000, from 2667 on the other.
        let (done, _) = run(&mut varying, &[(0, 3000), (0, 2000)]);
        assert_eq!(done, [2667 + 500, 4667 + 500]);
    }
}
