//! The file protocol's server side: a scheduler that combines adjacent client requests, and the sizes of transactions.
//!
//! The scheduler holds back requests of a worker while its transactions are busy. When one is free it takes the oldest request
//! and adds those that follow it in the file and in the queue, up to the *target* transaction size. The copy engine of ODX goes
//! around the scheduler: it makes transactions of its own (`crate::layers::workload`), sized by [`transaction_bytes`]. In the incident
//! the two halves of the system called two different functions for the same question.

use std::collections::VecDeque;

use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::Layer;
use crate::setup::Setup;
use crate::timers;
use seeklab_kernel::Slab;
use seeklab_spec::{self as spec, Scenario, Sizing};

/// The largest transaction that the protocol can express, in bytes.
#[must_use]
pub fn max_transaction_bytes(protocol: &spec::ProtocolSpec) -> u64 {
    protocol.max_transaction.0
}

/// The transaction size that cache and prefetcher are tuned for, in bytes: the maximum, capped.
#[must_use]
pub fn target_transaction_bytes(protocol: &spec::ProtocolSpec) -> u64 {
    max_transaction_bytes(protocol).min(protocol.target_transaction.0)
}

/// The size of the copy engine's transactions, in bytes.
#[must_use]
pub fn transaction_bytes(protocol: &spec::ProtocolSpec) -> u64 {
    match protocol.odx_sizing {
        Sizing::Max => max_transaction_bytes(protocol),
        Sizing::Target => target_transaction_bytes(protocol),
    }
}

const HERE: Address = Address::of(LayerId::Protocol);

timers! {
    enum Timer {
        /// All requests that a worker makes at this instant are in its queue.
        Pump(u32),
    }
}

#[derive(Default)]
struct Session {
    waiting: VecDeque<RequestId>,
    in_flight: u32,
    called: bool,
}

/// The scheduler that combines adjacent client requests.
pub struct Scheduler {
    target_bytes: u64,
    in_flight: u32,
    below: Address,
    sessions: Vec<Session>,
    /// Requests that make up each transaction; places are reused.
    transactions: Slab<Vec<RequestId>>,
}

impl Layer for Scheduler {
    type Spec = spec::ProtocolSpec;
    const FIELD: &'static str = "protocol";
    const LABEL: &'static str = "Scheduler";
    const COMBINES: bool = true;

    fn spec(scenario: &Scenario) -> Option<&spec::ProtocolSpec> {
        scenario.protocol.as_ref()
    }

    fn is_passed(scenario: &Scenario) -> bool {
        scenario.protocol.as_ref().is_some_and(|protocol| protocol.scheduler.is_some())
    }

    fn build(protocol: &spec::ProtocolSpec, setup: &Setup) -> Option<Self> {
        let spec = protocol.scheduler.as_ref()?;
        Some(Self::new(protocol, spec, setup.below(LayerId::Protocol), setup.plan.workers.len()))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => {
                let worker = kernel.requests[id].worker;
                let session = &mut self.sessions[worker as usize];
                session.waiting.push_back(id);
                self.call(kernel, worker);
            }
            Event::Done(id) => self.done(kernel, id),
            Event::Timer(timer) => {
                let Timer::Pump(worker) = Timer::unpack(timer);
                self.sessions[worker as usize].called = false;
                self.pump(kernel, worker);
            }
        }
    }
}

impl Scheduler {
    /// The scheduler that a scenario describes, above `below`, for `workers` workers.
    #[must_use]
    pub fn new(protocol: &spec::ProtocolSpec, spec: &spec::Scheduler, below: Address, workers: usize) -> Self {
        Self {
            target_bytes: target_transaction_bytes(protocol),
            in_flight: spec.in_flight,
            below,
            sessions: (0..workers).map(|_| Session::default()).collect(),
            transactions: Slab::default(),
        }
    }

    /// Looks at the worker's queue once the requests of the present instant are in it.
    fn call(&mut self, kernel: &mut Kernel, worker: u32) {
        let session = &mut self.sessions[worker as usize];
        if !session.called && session.in_flight < self.in_flight {
            session.called = true;
            kernel.wake(HERE, Timer::Pump(worker));
        }
    }

    fn pump(&mut self, kernel: &mut Kernel, worker: u32) {
        let session = &mut self.sessions[worker as usize];
        while session.in_flight < self.in_flight {
            let Some(first) = session.waiting.pop_front() else { return };
            let place = self.transactions.claim(Vec::new);
            let members = &mut self.transactions[place];
            members.push(first);
            kernel.charge(first, Phase::Scheduler);
            let head = kernel.requests[first];
            let (mut bytes, mut durable) = (head.bytes, head.durable);
            while let Some(next) = session.waiting.front().copied() {
                let request = kernel.requests[next];
                if request.op != head.op || request.offset != head.offset + bytes || bytes + request.bytes > self.target_bytes {
                    break;
                }
                bytes += request.bytes;
                durable = durable.max(request.durable);
                session.waiting.pop_front();
                kernel.charge(next, Phase::Scheduler);
                members.push(next);
            }
            session.in_flight += 1;
            let transaction = kernel.open(Request {
                offset: head.offset,
                bytes,
                owner: HERE,
                op: head.op,
                durable,
                worker,
                tag: place,
                ..Request::default()
            });
            kernel.submit(self.below, transaction);
        }
    }

    fn done(&mut self, kernel: &mut Kernel, id: RequestId) {
        let transaction = kernel.requests[id];
        let mut members = std::mem::take(&mut self.transactions[transaction.tag]);
        let (whole, cached, missed) = (transaction.bytes, u64::from(transaction.cached_bytes), u64::from(transaction.missed_bytes));
        let (mut end, mut cached_until, mut missed_until) = (0, 0, 0);
        for member in members.drain(..) {
            let request = &mut kernel.requests[member];
            end += request.bytes;
            // What the transaction found in memory is shared out in proportion, what it missed over the rest; shares add up.
            let (cached_before, missed_before) = (cached_until, missed_until);
            cached_until = portion(cached, end, whole);
            missed_until = portion(missed, end - cached_until, whole - cached);
            request.cached_bytes = u32::try_from(cached_until - cached_before).unwrap_or(u32::MAX);
            request.missed_bytes = u32::try_from(missed_until - missed_before).unwrap_or(u32::MAX);
            request.device = transaction.device;
            kernel.requests.inherit(member, id);
            kernel.complete(member);
        }
        self.transactions[transaction.tag] = members;
        self.transactions.release(transaction.tag);
        kernel.requests.remove(id);
        self.sessions[transaction.worker as usize].in_flight -= 1;
        self.call(kernel, transaction.worker);
    }
}

/// `amount` in proportion to `part` of `whole`, rounded down. Mostly it is nothing or all.
fn portion(amount: u64, part: u64, whole: u64) -> u64 {
    if amount == 0 || amount == whole { amount.min(part) } else { (amount * part).checked_div(whole).unwrap_or(0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_within, metric, run};
    use seeklab_spec::Bytes;
    use serde_json::json;

    fn protocol(sizing: Sizing) -> spec::ProtocolSpec {
        spec::ProtocolSpec {
            max_transaction: Bytes(8_650_752),
            target_transaction: Bytes(8 << 20),
            scheduler: None,
            credits: None,
            odx_sizing: sizing,
        }
    }

    #[test]
    fn target_is_the_maximum_capped() {
        assert_eq!(transaction_bytes(&protocol(Sizing::Target)), 8 << 20);
        assert_eq!(transaction_bytes(&protocol(Sizing::Max)), 8_650_752);
        let small = spec::ProtocolSpec { max_transaction: Bytes(1 << 20), ..protocol(Sizing::Target) };
        assert_eq!(transaction_bytes(&small), 1 << 20);
    }

    #[test]
    fn requests_of_one_instant_are_combined_up_to_the_target() {
        let spec = spec::Scheduler { in_flight: 8 };
        let below = Address::of(LayerId::Filesystem);
        let mut scheduler = Scheduler::new(&protocol(Sizing::Target), &spec, below, 1);
        let mut kernel = Kernel::default();
        for n in 0..12u64 {
            let id = kernel.open(Request { offset: n << 20, bytes: 1 << 20, ..Request::default() });
            kernel.submit(HERE, id);
        }
        let mut sizes = Vec::new();
        while let Some(event) = kernel.advance() {
            match (event.to().layer, event.event()) {
                (LayerId::Filesystem, Event::Submit(id)) => sizes.push(kernel.requests[id].bytes >> 20),
                (_, event) => scheduler.on(&mut kernel, 0, event),
            }
        }
        assert_eq!(sizes, [8, 4]);
    }

    #[test]
    fn requests_beyond_those_in_flight_wait_in_the_scheduler() {
        for in_flight in [1, 2] {
            let stack = run(&json!({
                "jobs": [{"name": "a", "rw": "randread", "bs": "4KiB", "size": "1GiB", "number_ios": 2000, "iodepth": 8}],
                "protocol": {"max_transaction": "8MiB", "target_transaction": "8MiB", "scheduler": {"in_flight": in_flight}},
                "devices": [{"lun": {"rate": "100GB", "latency": "1ms"}}],
            }));
            let latency_ms = 8.0 / f64::from(in_flight);
            assert_within(metric(&stack, "a.read_latency_mean_ms"), latency_ms, 0.01);
            assert_within(metric(&stack, "a.read_scheduler_mean_ms"), latency_ms - 1.0, 0.01);
        }
    }
}
