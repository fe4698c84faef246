//! The discrete-event kernel: clock, event queue, requests in flight, random streams, fingerprint.
//!
//! How a run proceeds:
//! 1. Layers send each other signals, either at once ([`Kernel::send`]) or at a later time ([`Kernel::at`]).
//! 2. [`Kernel::advance`] hands out the earliest signal, ordered by (time, sequence), and moves the clock to it.
//! 3. The stack delivers it to the layer that it is addressed to, which sends further signals.
//! 4. The run ends when no signal is left.
//!
//! Time is `u64` nanoseconds. Signals for the present bypass the heap through a first-in first-out list; the sequence number
//! keeps the order strict across both.

mod fingerprint;
mod queue;
mod random;
mod requests;

use std::collections::VecDeque;

pub use fingerprint::Fingerprint;
pub use queue::EventQueue;
pub use random::Stream;
pub use requests::{Durable, NO_DEVICE, Op, PHASES, Phase, Phases, Request, RequestId, Requests, Wire};

/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;

/// A layer of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Layer {
    /// The workers of all jobs.
    Workload,
    /// The clients; the index is the machine's.
    Client,
    /// The network between clients and server.
    Network,
    /// The server node behind the network.
    Server,
    /// The protocol's request scheduler.
    Protocol,
    /// The file system.
    Volume,
    /// The write log's device.
    WriteLog,
    /// The nodes of a cluster.
    Cluster,
    /// The controllers of virtual disks.
    Controller,
    /// The SSD cache tier.
    Tier,
    /// The tier's device.
    TierDevice,
    /// The layout over the devices.
    Layout,
    /// The partition of a device; the index is the device's.
    Partition,
    /// A device; the index says which.
    Device,
}

/// Where a signal goes: a layer, and which one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The layer.
    pub layer: Layer,
    /// Which one of the layer's parts.
    pub index: u16,
}

impl Address {
    /// The only part of a layer.
    #[must_use]
    pub const fn of(layer: Layer) -> Self {
        Self { layer, index: 0 }
    }
}

/// What a signal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Signal {
    /// A request arrives; the id is the request's.
    Submit,
    /// A request that the addressed layer owns has completed; the id is the request's.
    Done,
    /// A time that the layer has set has come; the id is the layer's own.
    Timer,
}

/// A signal on its way: three words without a gap, so that it is moved as three words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Event {
    /// When it is due.
    pub time_ns: u64,
    /// Order among signals of the same time.
    pub sequence: u64,
    /// Request or timer.
    pub id: u32,
    index: u16,
    layer: Layer,
    /// What it says.
    pub signal: Signal,
}

impl Event {
    /// A signal that is due at a time.
    #[must_use]
    #[inline]
    pub const fn new(time_ns: u64, sequence: u64, to: Address, signal: Signal, id: u32) -> Self {
        Self { time_ns, sequence, id, index: to.index, layer: to.layer, signal }
    }

    /// Addressee.
    #[must_use]
    #[inline]
    pub const fn to(&self) -> Address {
        Address { layer: self.layer, index: self.index }
    }
}

/// Clock, signals and requests of a run.
#[derive(Debug, Default)]
pub struct Kernel {
    /// The present, in nanoseconds since the start of the run.
    pub now_ns: u64,
    /// Signals delivered so far.
    pub events: u64,
    /// Requests in flight.
    pub requests: Requests,
    sequence: u64,
    later: EventQueue,
    soon: VecDeque<Event>,
}

impl Kernel {
    /// Sends a signal that is delivered at the present time, after those already sent.
    #[inline]
    pub fn send(&mut self, to: Address, signal: Signal, id: u32) {
        self.sequence += 1;
        self.soon.push_back(Event::new(self.now_ns, self.sequence, to, signal, id));
    }

    /// Sends a signal that is delivered at `time_ns`; a time in the past counts as now.
    #[inline]
    pub fn at(&mut self, time_ns: u64, to: Address, signal: Signal, id: u32) {
        if time_ns <= self.now_ns {
            return self.send(to, signal, id);
        }
        self.sequence += 1;
        self.later.push(Event::new(time_ns, self.sequence, to, signal, id));
    }

    /// The next signal in (time, sequence) order, with the clock moved to it. O(log n) in signals waiting for a later time.
    #[inline]
    pub fn advance(&mut self) -> Option<Event> {
        let event = match (self.soon.front(), self.later.peek()) {
            (Some(soon), Some(later)) if (later.time_ns, later.sequence) < (soon.time_ns, soon.sequence) => self.later.pop()?,
            (Some(_), _) => self.soon.pop_front()?,
            (None, _) => self.later.pop()?,
        };
        self.now_ns = event.time_ns;
        self.events += 1;
        Some(event)
    }

    /// Creates a request that arrives now; `owner` is told when it completes.
    #[inline]
    pub fn open(&mut self, request: Request) -> RequestId {
        self.requests.insert(Request { submitted_ns: self.now_ns, charged_ns: self.now_ns, place: request.offset, ..request })
    }

    /// Creates a part of `parent`'s work below it: the same job and direction, `owner` is told when it completes.
    pub fn open_child(&mut self, parent: RequestId, owner: Address, offset: u64, bytes: u64) -> RequestId {
        let of = self.requests[parent];
        self.requests[parent].pending += 1;
        self.open(Request {
            offset,
            bytes,
            parent: Some(parent),
            owner,
            op: of.op,
            worker: of.worker,
            durable: of.durable,
            ..Request::default()
        })
    }

    /// Charges the time since the last charge to `phase`.
    #[inline]
    pub fn charge(&mut self, id: RequestId, phase: Phase) {
        let now_ns = self.now_ns;
        self.requests.charge_until(id, phase, now_ns);
    }

    /// Completes a request now: everything up to now must have been charged.
    #[inline]
    pub fn complete(&mut self, id: RequestId) {
        debug_assert_eq!(self.requests[id].charged_ns, self.now_ns, "uncharged time in {:?}", self.requests[id]);
        let owner = self.requests[id].owner;
        self.send(owner, Signal::Done, id.0);
    }

    /// Takes a completed part back into its parent. When it was the last part the parent inherits its phases (the critical path)
    /// and is returned.
    pub fn join(&mut self, child: RequestId) -> Option<RequestId> {
        let done = self.requests[child];
        let parent = done.parent?;
        let waiting = &mut self.requests[parent];
        waiting.pending -= 1;
        let last = waiting.pending == 0;
        if last {
            waiting.device = done.device;
            self.requests.inherit(parent, child);
        }
        self.requests.remove(child);
        last.then_some(parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Address = Address::of(Layer::Workload);

    #[test]
    fn signals_come_in_order_of_time_then_of_sending() {
        let mut kernel = Kernel::default();
        kernel.at(20, HERE, Signal::Timer, 1);
        kernel.at(10, HERE, Signal::Timer, 2);
        kernel.at(20, HERE, Signal::Timer, 3);
        let mut order = Vec::new();
        while let Some(event) = kernel.advance() {
            if event.id == 1 {
                kernel.send(HERE, Signal::Timer, 4);
            }
            order.push((kernel.now_ns, event.id));
        }
        assert_eq!(order, [(10, 2), (20, 1), (20, 3), (20, 4)]);
    }

    #[test]
    fn a_parent_inherits_the_phases_of_the_part_that_came_last() {
        let mut kernel = Kernel::default();
        let parent = kernel.open(Request::default());
        let quick = kernel.open_child(parent, HERE, 0, 1);
        let slow = kernel.open_child(parent, HERE, 1, 1);
        kernel.now_ns = 5;
        kernel.charge(quick, Phase::Seek);
        assert_eq!(kernel.join(quick), None);
        kernel.now_ns = 9;
        kernel.charge(slow, Phase::Rotation);
        assert_eq!(kernel.join(slow), Some(parent));
        assert_eq!(kernel.requests.phases(parent)[Phase::Rotation as usize], 9);
        assert_eq!(kernel.requests.phases(parent)[Phase::Seek as usize], 0);
        assert_eq!(kernel.requests[parent].charged_ns, 9);
    }
}
