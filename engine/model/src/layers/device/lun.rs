//! A logical unit: one server, first in first out, plus a latency that overlaps.
//!
//! A request keeps the server for the time of its bytes and, where it has one, of a command: 1 / (requests a second) = command +
//! bytes / rate, the law of a server that is shared by requests and bytes (Seastar's disk model has it as x / iops + x b / bandwidth
//! <= 1).
//!
//! At a fixed rate its behaviour follows in closed form when a request arrives, so it needs no queue and one event a request. A
//! rate that varies ([`VaryingRate`]) changes under a request's feet: then requests queue here, and what remains of the first one is
//! computed again whenever the rate may have changed.
//!
//! The latency is the same for each request, or drawn from a gamma distribution with its standard deviation (`latency_cv` times the
//! mean), and the unit may pause at times ([`Pauses`]). A volume of a cloud lets requests start by its credits ([`Bucket`]), and
//! a drive with an SLC cache takes writes at the rate of the cells that they land in ([`Cache`]). A shingled drive lets writes wait while
//! it cleans zones ([`Zones`]).

use std::collections::VecDeque;

use super::credits::Bucket;
use super::fluid::Fluid;
use super::pauses::Pauses;
use super::shingled::{Work, Zones};
use super::slc::Cache;
use super::varying_rate::VaryingRate;
use super::{Usage, transfer_ns};
use crate::kernel::{Address, Event, Kernel, LayerId, NO_DEVICE, Phase, RequestId, Timer as _};
use crate::result::flow::Loop;
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
    command_ns: u64,
    scatter: Option<Box<Scatter>>,
    pauses: Pauses,
    /// Credits, of a volume that has them.
    pub bucket: Option<Box<Bucket>>,
    /// The SLC cache, of a drive that has one.
    pub slc: Option<Box<Cache>>,
    /// The zones, of a shingled drive.
    pub shingled: Option<Box<Zones>>,
    fluid: Option<Box<Fluid>>,
    free_ns: u64,
    phase: Phase,
    varying: Option<Box<Varying>>,
    /// Its place in the stack.
    pub here: Address,
    /// Its work so far.
    pub usage: Usage,
}

/// Latencies from a gamma distribution.
struct Scatter {
    shape: f64,
    mean_ns: f64,
    draws: Stream,
}

impl Scatter {
    fn of(spec: &spec::Lun, draws: Stream) -> Option<Box<Self>> {
        let shape = 1.0 / (spec.latency_cv * spec.latency_cv);
        (spec.latency_cv > 0.0 && spec.latency.0 > 0).then(|| Box::new(Self { shape, mean_ns: spec::to_f64(spec.latency.0), draws }))
    }
}

/// The work in hand at a rate that varies.
struct Varying {
    pace: VaryingRate,
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
    /// The unit that a scenario describes, called `name` in a run with `seed`; its work is charged to `phase`.
    #[must_use]
    pub fn new(spec: &spec::Lun, phase: Phase, seed: u64, name: &str) -> Self {
        let draws = |what: &str| Stream::new(seed, &format!("{name}.{what}"));
        let varying = spec.varies.as_ref().map(|varies| {
            let pace = VaryingRate::new(varies, spec.rate.0, draws("rate"));
            Box::new(Varying { pace, queue: VecDeque::new(), remaining: 0, since_ns: 0, rate: 1, timer: 0 })
        });
        Self {
            rate: spec.rate.0,
            latency_ns: spec.latency.0,
            command_ns: spec.command.0,
            scatter: Scatter::of(spec, draws("latency")),
            pauses: Pauses::new(&spec.pauses),
            bucket: None,
            slc: None,
            shingled: None,
            fluid: None,
            free_ns: 0,
            phase,
            varying,
            here: Address::of(LayerId::Device),
            usage: Usage::default(),
        }
    }

    /// Limits the unit by the credits, the SLC cache or the shingled zones that it has in the scenario, which are noted once an interval;
    /// `flow` is a job that is one.
    #[must_use]
    pub fn limited(mut self, spec: &spec::Lun, interval_ns: u64, flow: Option<Loop>) -> Self {
        self.bucket = spec.credits.as_ref().map(|credits| Box::new(Bucket::new(credits, interval_ns)));
        self.slc = spec.slc.as_ref().map(|slc| Box::new(Cache::new(slc, spec, interval_ns)));
        self.shingled = spec.shingled.as_ref().map(|shingled| Box::new(Zones::new(shingled, spec, interval_ns)));
        self.fluid = flow.map(|flow| Box::new(Fluid::new(flow, interval_ns)));
        self
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
                    varying.begin(kernel, &self.pauses);
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
        if let (Some(fluid), Some(bucket)) = (&mut self.fluid, &mut self.bucket) {
            let segment = fluid.segment(bucket, now_ns, self.latency_ns, self.rate);
            let request = &mut kernel.requests[id];
            request.bytes = segment.bytes;
            self.usage.ios[request.op as usize] += segment.ios;
            self.usage.bytes[request.op as usize] += segment.bytes;
            self.usage.busy_ns += segment.until_ns - now_ns;
            kernel.requests.charge_ns(id, Phase::Overhead, segment.served_ns);
            kernel.requests.charge_until(id, Phase::Credit, segment.until_ns);
            return kernel.complete_when_charged(id);
        }
        let bytes = kernel.requests[id].bytes;
        let admitted_ns = self.bucket.as_mut().map_or(now_ns, |bucket| bucket.admit(now_ns, bytes));
        let start_ns = self.free_ns.max(admitted_ns);
        let request = &kernel.requests[id];
        let Work { cleaning_ns, own_ns } = match (&mut self.slc, &mut self.shingled) {
            (Some(cache), _) => Work { cleaning_ns: 0, own_ns: cache.work_ns(start_ns, request.op, request.place, bytes) },
            (_, Some(zones)) => zones.work(start_ns, request.op, request.place, bytes),
            (None, None) => Work { cleaning_ns: 0, own_ns: transfer_ns(bytes, self.rate) },
        };
        self.free_ns = self.pauses.after(start_ns, cleaning_ns + self.command_ns + own_ns);
        let latency_ns = self.latency_ns();
        let done_ns = self.pauses.after(self.free_ns, latency_ns);
        if let Some(bucket) = &mut self.bucket {
            // A host sees the volume busy while anything is in flight, be it only waiting for a credit.
            self.usage.busy_ns += bucket.done(now_ns, done_ns);
            self.pauses.charge_until(kernel, id, Phase::Credit, admitted_ns);
        } else {
            self.usage.busy_ns += self.free_ns - start_ns;
        }
        self.pauses.charge_until(kernel, id, Phase::Queue, start_ns);
        if cleaning_ns > 0 {
            self.pauses.charge_until(kernel, id, Phase::Clean, start_ns + cleaning_ns);
        }
        self.pauses.charge_until(kernel, id, self.phase, self.free_ns);
        self.pauses.charge_until(kernel, id, Phase::Overhead, done_ns);
        self.usage.count(kernel.requests[id].op, bytes, done_ns - now_ns);
        kernel.complete_when_charged(id);
    }

    /// The latency of the next request.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // far below 2^53 ns, and not negative
    fn latency_ns(&mut self) -> u64 {
        match &mut self.scatter {
            None => self.latency_ns,
            Some(scatter) => libm::round(scatter.draws.gamma(scatter.shape, scatter.mean_ns)) as u64,
        }
    }

    /// The first request has all its bytes.
    fn finish(&mut self, kernel: &mut Kernel) {
        let (latency_ns, now_ns) = (self.latency_ns(), kernel.now_ns());
        let Some(varying) = &mut self.varying else { return };
        let Some(id) = varying.queue.pop_front() else { return };
        let began_ns = kernel.requests[id].charged_ns;
        self.pauses.charge_until(kernel, id, self.phase, now_ns);
        self.pauses.charge_until(kernel, id, Phase::Overhead, self.pauses.after(now_ns, latency_ns));
        let request = kernel.requests[id];
        self.usage.busy_ns += now_ns - began_ns;
        self.usage.count(request.op, request.bytes, request.charged_ns - request.submitted_ns);
        kernel.complete_when_charged(id);
        varying.begin(kernel, &self.pauses);
    }

    /// Sets the rate for what is in hand now, and the timer for the time until which it holds.
    fn go_on(&mut self, kernel: &mut Kernel) {
        let Some(varying) = &mut self.varying else { return };
        varying.timer = varying.timer.wrapping_add(1);
        if varying.queue.is_empty() {
            return;
        }
        let now_ns = kernel.now_ns();
        let (stands_still, until_ns) = self.pauses.at(now_ns);
        let at_rate = varying.pace.rate(now_ns, varying.queue.len());
        let needs_ns = u64::try_from(varying.remaining.div_ceil(u128::from(at_rate))).unwrap_or(u64::MAX);
        let (rate, until_ns) = if stands_still {
            (0, until_ns)
        } else {
            (at_rate, until_ns.min(now_ns.saturating_add(needs_ns)).min(varying.pace.until_ns(now_ns)))
        };
        varying.rate = rate;
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
    fn begin(&mut self, kernel: &mut Kernel, pauses: &Pauses) {
        let Some(id) = self.queue.front() else { return };
        pauses.charge_until(kernel, *id, Phase::Queue, kernel.now_ns());
        self.remaining = u128::from(kernel.requests[*id].bytes) * u128::from(NS_PER_S);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Request;
    use seeklab_spec::Nanos;

    const HOST: Address = Address::of(LayerId::Workload);

    timers! {
        enum Arrival {
            Of(u32),
        }
    }

    fn lun(varies: Option<serde_json::Value>) -> Lun {
        lun_with(varies, Vec::new())
    }

    fn lun_with(varies: Option<serde_json::Value>, pauses: Vec<spec::Pause>) -> Lun {
        let varies = varies.map(|varies| serde_json::from_value(varies).expect("a variation"));
        let spec = spec::Lun {
            varies,
            pauses,
            ..serde_json::from_value(serde_json::json!({"capacity": "1GiB", "rate": 1_000_000_000, "latency": 500})).expect("a unit")
        };
        Lun::new(&spec, Phase::Transfer, 1, "test")
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
                    assert_eq!(kernel.requests.spent(id).dense().iter().sum::<u64>(), kernel.now_ns() - kernel.requests[id].submitted_ns);
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
        assert_eq!(kernel.requests.spent(RequestId(1)).dense()[Phase::Queue as usize], 1000);
    }

    #[test]
    fn a_command_takes_the_servers_time_besides_the_bytes() {
        let spec = spec::Lun {
            command: Nanos(300),
            ..serde_json::from_value(serde_json::json!({"rate": 1_000_000_000, "latency": 500})).expect("a unit")
        };
        let (done, kernel) = run(&mut Lun::new(&spec, Phase::Transfer, 1, "test"), &[(0, 1000), (0, 2000)]);
        assert_eq!(done, [1800, 4100]);
        assert_eq!(kernel.requests.spent(RequestId(1)).dense()[Phase::Queue as usize], 1300);
        assert_eq!(kernel.requests.spent(RequestId(1)).dense()[Phase::Transfer as usize], 2300);
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

    #[test]
    fn what_is_under_way_in_a_pause_takes_longer_by_the_rest_of_it() {
        let pause = |at, ns| spec::Pause { at: Nanos(at), r#for: Nanos(ns) };
        // Transfer until 1000, latency until 1200, the pause until 2200, the other 300. The second begins at the pause's start: it waits.
        // The third comes in the pause. The fourth is between two pauses, the fifth is caught by the second in its transfer.
        let arrivals = [(0, 1000), (200, 1200), (1500, 500), (7000, 100), (8900, 1000)];
        for varies in [None, Some(serde_json::json!({}))] {
            let mut lun = lun_with(varies, vec![pause(1200, 1000), pause(9000, 5000)]);
            let (done, kernel) = run(&mut lun, &arrivals);
            assert_eq!(done, [2500, 3700, 4200, 7600, 15_400]);
            let paused = |place| kernel.requests.spent(RequestId(place)).dense()[Phase::Paused as usize];
            assert_eq!([0, 1, 2, 3, 4].map(paused), [1000, 1000, 700, 0, 5000]);
            assert_eq!(lun.usage.busy_ns, 1000 + 2200 + 500 + 100 + 6000);
        }
    }

    #[test]
    fn latencies_scatter_as_they_are_told() {
        let unit = serde_json::json!({"rate": 1_000_000_000_000_u64, "latency": 1_000_000, "latency_cv": 0.5});
        let spec: spec::Lun = serde_json::from_value(unit).expect("a unit");
        let mut lun = Lun::new(&spec, Phase::Transfer, 1, "test");
        let (mut done, _) = run(&mut lun, &vec![(0, 1); 20_000]);
        done.sort_unstable();
        let mean = done.iter().sum::<u64>() / 20_000;
        assert!((990_000..1_010_000).contains(&mean), "{mean}");
        // A gamma of shape 4: survival exp(-x) (1 + x + x^2 / 2 + x^3 / 6) is 1 % at x = 10.045, that is 2.511 means.
        assert!((2_400_000..2_620_000).contains(&done[19_800]), "{}", done[19_800]);
    }
}
