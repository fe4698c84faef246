//! A fan-out client and its servers: a request asks many leaves at once and is answered when they are.
//!
//! Modelled: leaves with a key each, whose replicas are servers; servers that work on one leaf at a time, on several, or on any number,
//! first come first served; and a second copy of a leaf for another replica: *hedged*, when the first has not answered for a while, or
//! *tied*, when both copies are queued and the server that begins one tells the other to drop its own. A copy is withdrawn where it only
//! waits; one that is being served runs to its end, and its work is lost. A request may wait for a share of its leaves only; those that
//! it does not wait for run to their ends.
//!
//! Source: Jeffrey Dean and Luiz Andre Barroso, "The Tail at Scale", CACM 56(2), 2013. Constants: none besides the scenario's; service
//! times are drawn (`service`), or those of the devices below. Where servers take any number of leaves at once and their times are
//! drawn, nothing that happens later can change what a request will see: it is computed as it comes (`analytic`), the same to the
//! nanosecond.
//!
//! Left out: the network to the servers and its queues (only cancellations take time), writes, more than two copies of a leaf, and
//! slowness that servers have in common, unless the scenario names slow servers.

mod analytic;
mod budget;
mod check;
mod record;
mod service;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use std::collections::VecDeque;

use budget::{Budget, WINDOW};
pub use record::Record;
use seeklab_kernel::{Slab, Stream};
use seeklab_spec::fanout::{FanoutSpec, Hedge, HedgeMode, ServiceKind, SlowBy};
use seeklab_spec::{Path, Problems, Scenario};
use service::{Times, on_server};

use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::{Layer, ReportContext};
use crate::plan::Plan;
use crate::result::STALL_NS;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;

const HERE: Address = Address::of(LayerId::Fanout);

timers! {
    enum Timer {
        /// A copy has been served.
        Served(u32),
        /// A leaf asks a second replica, if it must.
        Ask(u32),
        /// A cancellation is at the server of a copy.
        Cancel(u32),
    }
}

/// Where a copy of a leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not sent.
    Unsent,
    /// Not sent, and its cancellation is there already.
    Barred,
    Queued,
    Running,
    Gone,
}

/// A copy of a leaf. Its number is twice the leaf's, and one more for the second.
#[derive(Clone, Copy, Debug)]
struct Sent {
    state: State,
    server: u16,
    request: RequestId,
    began_ns: u64,
    /// Service time, where it is known before the server begins.
    service_ns: Option<u64>,
}

impl Sent {
    fn to(server: u16, service_ns: Option<u64>) -> Self {
        Self { state: State::Unsent, server, request: RequestId(u32::MAX), began_ns: 0, service_ns }
    }

    /// Its server, so that what happens there is told of that one.
    fn address(&self) -> Address {
        Address { index: self.server, ..HERE }
    }
}

#[derive(Clone, Copy, Debug)]
struct Leaf {
    whole: u32,
    /// Its place among the request's leaves, from 1.
    place: u32,
    key: u32,
    asked_ns: u64,
    copies: [Sent; 2],
    is_answered: bool,
    /// Copies at servers and timers that refer to it.
    held: u8,
}

/// A request whose leaves are out.
#[derive(Clone, Copy, Debug)]
struct Whole {
    request: RequestId,
    /// Leaves that it still waits for.
    missing: u32,
    /// Leaves that are not forgotten yet.
    leaves: u32,
    first_stalled: u32,
}

/// A server: what it works on, and what waits.
#[derive(Debug, Default)]
struct Server {
    running: u32,
    queue: VecDeque<u32>,
}

/// When a leaf asks a second replica.
#[derive(Debug)]
struct Second {
    is_tied: bool,
    after_ns: u64,
    message_ns: u64,
    percentile: Option<f64>,
    budget: Option<Budget>,
}

impl Second {
    fn of(spec: &Hedge) -> Self {
        Self {
            is_tied: spec.mode == HedgeMode::Tied,
            after_ns: spec.after.0,
            message_ns: spec.message.0,
            percentile: spec.percentile,
            budget: spec.budget.map(Budget::new),
        }
    }
}

/// The fan-out layer.
pub struct Fanout {
    spec: FanoutSpec,
    needed: u32,
    /// Servers of each key, one key after the other.
    replicas: Vec<u16>,
    second: Option<Second>,
    is_analytic: bool,
    places: Stream,
    first_times: Times,
    second_times: Times,
    servers: Vec<Server>,
    leaves: Slab<Leaf>,
    wholes: Slab<Whole>,
    /// Latencies that are not ordinary, of the request in hand.
    late: Vec<(u64, bool)>,
    /// Its record.
    pub record: Record,
}

impl Layer for Fanout {
    type Spec = FanoutSpec;
    const FIELD: &'static str = "fanout";
    const LABEL: &'static str = "Servers";
    const PASSES_FLUSHES: bool = true;

    fn spec(scenario: &Scenario) -> Option<&FanoutSpec> {
        scenario.fanout.as_ref()
    }

    fn check(spec: &FanoutSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn check_plan(spec: &FanoutSpec, _: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
        check::check_devices(spec, plan, at, problems);
    }

    fn build(spec: &FanoutSpec, setup: &Setup) -> Option<Self> {
        Some(Self::new(spec, setup.seed))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) if self.is_analytic && !is_followed(kernel) => self.answer_analytically(kernel, id),
            Event::Submit(id) => self.submit(kernel, id),
            Event::Done(id) => self.served(kernel, kernel.requests[id].tag),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Served(copy) => {
                    kernel.charge(self.copy(copy).request, Phase::Served);
                    self.served(kernel, copy);
                }
                Timer::Ask(leaf) => self.ask_second(kernel, leaf),
                Timer::Cancel(copy) => self.cancel(kernel, copy),
            },
        }
    }

    fn memory_bytes(&self) -> u64 {
        let queued: usize = self.servers.iter().map(|server| server.queue.capacity()).sum();
        (self.replicas.len() * size_of::<u16>() + queued * size_of::<u32>()) as u64
            + self.leaves.memory_bytes()
            + self.wholes.memory_bytes()
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.record.metrics(self.spec.servers, metrics);
    }
}

/// Whether the journey of a request that comes now is kept: then its leaves are requests of their own.
fn is_followed(kernel: &Kernel) -> bool {
    kernel.requests.journeys.as_ref().is_some_and(|journeys| journeys.is_open(kernel.now_ns()))
}

/// Bytes of memory that a leaf takes while it is out, besides its requests.
pub const LEAF_BYTES: u64 = size_of::<Leaf>() as u64;

/// Whether what a request will see is known when it comes: no queue, no history, and no leaf that others end.
#[must_use]
pub fn is_analytic(spec: &FanoutSpec) -> bool {
    let by_time = |hedge: &Hedge| {
        hedge.mode == HedgeMode::Hedged && hedge.percentile.is_none() && hedge.budget.is_none() && spec.needed() == spec.leaves
    };
    spec.concurrency.is_none() && spec.service.kind != ServiceKind::Below && spec.slow.is_empty() && spec.hedge.as_ref().is_none_or(by_time)
}

/// The servers of all keys, each key's drawn without replacement.
#[allow(clippy::cast_possible_truncation)] // at most 4,096 servers
fn place_keys(spec: &FanoutSpec, draws: &mut Stream) -> Vec<u16> {
    let mut servers: Vec<u16> = (0..spec.servers as u16).collect();
    let mut replicas = Vec::with_capacity((spec.keys * spec.replicas) as usize);
    for _ in 0..spec.keys {
        for nth in 0..spec.replicas as usize {
            // The rest of a shuffled deck is as good as a new one.
            let other = nth + draws.below((servers.len() - nth) as u64) as usize;
            servers.swap(nth, other);
            replicas.push(servers[nth]);
        }
    }
    replicas
}

impl Fanout {
    /// The fan-out of a scenario.
    #[must_use]
    pub fn new(spec: &FanoutSpec, seed: u64) -> Self {
        let draws = |what: &str| Stream::new(seed, &format!("fanout.{what}"));
        let is_analytic = is_analytic(spec);
        Self {
            needed: spec.needed(),
            replicas: if is_analytic { Vec::new() } else { place_keys(spec, &mut draws("keys")) },
            second: spec.hedge.as_ref().map(Second::of),
            is_analytic,
            places: draws("places"),
            first_times: Times::new(&spec.service, draws("first")),
            second_times: Times::new(&spec.service, draws("second")),
            servers: (0..spec.servers).map(|_| Server::default()).collect(),
            leaves: Slab::default(),
            wholes: Slab::default(),
            late: Vec::with_capacity(spec.leaves as usize),
            record: Record::default(),
            spec: spec.clone(),
        }
    }

    /// The fan-out that a scenario has.
    #[must_use]
    pub fn of(scenario: &Scenario, seed: u64) -> Option<Self> {
        scenario.fanout.as_ref().map(|spec| Self::new(spec, seed))
    }

    fn copy(&mut self, copy: u32) -> &mut Sent {
        &mut self.leaves[copy >> 1].copies[(copy & 1) as usize]
    }

    /// Asks all leaves of a request.
    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let now_ns = kernel.now_ns();
        let none_stalled = self.spec.leaves + 1;
        let whole = self.wholes.insert(Whole { request: id, missing: self.needed, leaves: self.spec.leaves, first_stalled: none_stalled });
        for place in 1..=self.spec.leaves {
            if let Some(budget) = self.second.as_mut().and_then(|second| second.budget.as_mut()) {
                budget.leaf();
            }
            let (key, servers) = self.two_servers(place);
            let (first_ns, second_ns) = self.times();
            let leaf = Leaf {
                whole,
                place,
                key,
                asked_ns: now_ns,
                copies: [Sent::to(servers[0], first_ns), Sent::to(servers[1], second_ns)],
                is_answered: false,
                held: 0,
            };
            let number = self.leaves.insert(leaf);
            self.send(kernel, number << 1);
            // A leaf whose answer is known to come in time needs no second copy.
            let asks = |second: &&Second| !self.is_analytic || first_ns.is_none_or(|ns| ns > second.after_ns);
            if let Some(second) = self.second.as_ref().filter(asks) {
                kernel.wake_at(now_ns + second.after_ns, HERE, Timer::Ask(number));
                self.leaves[number].held += 1;
            }
        }
        self.record.asked += u64::from(self.spec.leaves);
    }

    /// A key, the server that is asked for it, and another one that has it, where there is one.
    #[allow(clippy::cast_possible_truncation)] // at most a million keys of 16 replicas
    fn two_servers(&mut self, place: u32) -> (u32, [u16; 2]) {
        if self.replicas.is_empty() {
            // All servers are the same to a request that is known at once.
            return (
                (place - 1) % self.spec.keys,
                [(place - 1) % self.spec.servers, place % self.spec.servers].map(|server| server as u16),
            );
        }
        let replicas = self.spec.replicas as usize;
        let key = self.places.below(u64::from(self.spec.keys)) as usize;
        let of_key = &self.replicas[key * replicas..(key + 1) * replicas];
        let first = self.places.below(replicas as u64) as usize;
        let other = if replicas > 1 && self.second.is_some() { self.places.below(replicas as u64 - 1) as usize } else { 0 };
        let second = if other < first || replicas == 1 { other } else { other + 1 };
        (key as u32, [of_key[first], of_key[second]])
    }

    /// The service times of a leaf's copies, as far as they are known when it is asked.
    fn times(&mut self) -> (Option<u64>, Option<u64>) {
        if self.spec.service.kind == ServiceKind::Below {
            return (None, None);
        }
        let first_ns = self.first_times.draw();
        let second_ns = match &self.second {
            Some(_) if self.spec.service.slow_by == SlowBy::Key => Some(first_ns),
            Some(second) if self.is_analytic && first_ns > second.after_ns => Some(self.second_times.draw()),
            _ => None,
        };
        (Some(first_ns), second_ns)
    }

    /// Sends a copy to its server.
    fn send(&mut self, kernel: &mut Kernel, copy: u32) {
        let leaf = &self.leaves[copy >> 1];
        let whole = self.wholes[leaf.whole].request;
        let (of, offset) = (kernel.requests[whole], u64::from(leaf.key) * self.spec.leaf.0);
        let part = Request {
            offset,
            bytes: self.spec.leaf.0,
            parent: Some(whole),
            owner: HERE,
            tag: copy,
            worker: of.worker,
            op: of.op,
            ..Request::default()
        };
        let request = kernel.open(part);
        self.leaves[copy >> 1].held += 1;
        let sent = self.copy(copy);
        sent.request = request;
        let number = usize::from(sent.server);
        if self.spec.concurrency.is_none_or(|most| self.servers[number].running < most) {
            return self.begin(kernel, copy);
        }
        self.copy(copy).state = State::Queued;
        self.servers[number].queue.push_back(copy);
    }

    /// A server begins a copy.
    fn begin(&mut self, kernel: &mut Kernel, copy: u32) {
        let now_ns = kernel.now_ns();
        let sent = self.copy(copy);
        (sent.state, sent.began_ns) = (State::Running, now_ns);
        let sent = *sent;
        let Sent { server, request, service_ns, .. } = sent;
        kernel.charge(request, Phase::Queue);
        self.servers[usize::from(server)].running += 1;
        if let Some(second) = self.second.as_ref().filter(|second| second.is_tied) {
            let leaf = &mut self.leaves[copy >> 1];
            leaf.held += 1;
            kernel.wake_at(now_ns + second.message_ns, leaf.copies[((copy & 1) ^ 1) as usize].address(), Timer::Cancel(copy ^ 1));
        }
        if self.spec.service.kind == ServiceKind::Below {
            return kernel.submit(Address { layer: LayerId::Device, index: server }, request);
        }
        let drawn_ns = service_ns.unwrap_or_else(|| self.second_times.draw());
        let needs_ns = on_server(&self.spec.slow, server, now_ns, drawn_ns);
        kernel.wake_at(now_ns + needs_ns, sent.address(), Timer::Served(copy));
    }

    /// A server has served a copy, and begins the next one.
    fn served(&mut self, kernel: &mut Kernel, copy: u32) {
        let sent = self.copy(copy);
        sent.state = State::Gone;
        let Sent { server, request, began_ns, .. } = *sent;
        let worked_ns = kernel.now_ns() - began_ns;
        if self.leaves[copy >> 1].is_answered {
            self.record.losing += 1;
            self.record.losing_ns += worked_ns;
        } else {
            self.record.answering_ns += worked_ns;
            self.answer(kernel, copy);
        }
        kernel.requests.remove(request);
        self.release(copy >> 1);
        let server = usize::from(server);
        self.servers[server].running -= 1;
        while let Some(next) = self.servers[server].queue.pop_front() {
            if self.copy(next).state == State::Queued {
                return self.begin(kernel, next);
            }
            self.release(next >> 1); // it was withdrawn
        }
    }

    /// The first answer to a leaf.
    fn answer(&mut self, kernel: &mut Kernel, copy: u32) {
        let leaf = &mut self.leaves[copy >> 1];
        leaf.is_answered = true;
        let (latency_ns, place, whole) = (kernel.now_ns() - leaf.asked_ns, leaf.place, leaf.whole);
        let other = leaf.copies[((copy & 1) ^ 1) as usize];
        if other.state == State::Queued
            && let Some(second) = self.second.as_ref().filter(|second| !second.is_tied)
        {
            kernel.wake_at(kernel.now_ns() + second.message_ns, other.address(), Timer::Cancel(copy ^ 1));
            leaf.held += 1;
        }
        let request = leaf.copies[(copy & 1) as usize].request;
        self.record.leaves.add(latency_ns, 1);
        if latency_ns >= STALL_NS {
            self.wholes[whole].first_stalled = self.wholes[whole].first_stalled.min(place);
        }
        self.learn();
        let Whole { request: asker, missing, .. } = self.wholes[whole];
        self.wholes[whole].missing = missing.saturating_sub(1);
        if missing == 1 {
            let sent_ns = kernel.requests[request].submitted_ns;
            kernel.requests.charge_until(asker, Phase::Hedge, sent_ns);
            kernel.requests.inherit(asker, request);
            kernel.requests[asker].device = kernel.requests[request].device;
            self.record.requests.add(latency_ns, 1);
            kernel.complete(asker);
        }
    }

    /// Takes the percentile after which a second replica is asked from what leaves took so far, once for each thousand.
    fn learn(&mut self) {
        let count = self.record.leaves.count();
        if let Some(second) = &mut self.second
            && let Some(percent) = second.percentile
            && count.is_multiple_of(WINDOW as u64)
        {
            second.after_ns = self.record.leaves.percentile_ns(percent);
        }
    }

    /// A leaf that has no answer yet asks a second replica.
    fn ask_second(&mut self, kernel: &mut Kernel, number: u32) {
        let leaf = &self.leaves[number];
        let is_wanted = !leaf.is_answered && self.wholes[leaf.whole].missing > 0;
        if is_wanted {
            let is_barred = leaf.copies[1].state == State::Barred;
            let budget = self.second.as_mut().and_then(|second| second.budget.as_mut());
            if budget.is_some_and(|budget| !budget.copy()) {
                self.record.refused += 1;
            } else {
                self.record.copies += 1;
                if is_barred {
                    self.record.void += 1;
                } else {
                    self.send(kernel, number << 1 | 1);
                }
            }
        }
        self.release(number);
    }

    /// A cancellation has come: a copy that waits is withdrawn, one that is still to come will not be queued.
    fn cancel(&mut self, kernel: &mut Kernel, copy: u32) {
        let sent = self.copy(copy);
        match sent.state {
            State::Unsent => sent.state = State::Barred,
            State::Queued => {
                sent.state = State::Gone;
                let request = sent.request;
                self.record.withdrawn += 1;
                kernel.charge(request, Phase::Queue);
                kernel.requests.remove(request);
            }
            State::Barred | State::Running | State::Gone => {}
        }
        self.release(copy >> 1);
    }

    /// One reference less to a leaf; without any it is forgotten, and with its last leaf the request.
    fn release(&mut self, number: u32) {
        let leaf = &mut self.leaves[number];
        leaf.held -= 1;
        if leaf.held > 0 {
            return;
        }
        let whole = &mut self.wholes[leaf.whole];
        whole.leaves -= 1;
        if whole.leaves == 0 {
            self.record.first_stalled.saturating_record(u64::from(whole.first_stalled));
            self.wholes.release(leaf.whole);
        }
        self.leaves.release(number);
    }
}
