//! What moves through the stack: requests, and the signals that layers send each other about them.
//!
//! Layers never call each other. They send signals, at once ([`Kernel::send`]) or for a later time ([`Kernel::at`]); the stack
//! takes the earliest ([`Kernel::advance`]) and delivers it to the layer that it is addressed to. The order of events and the
//! clock are those of [`seeklab_kernel::Clock`].

mod phases;
mod requests;

use seeklab_kernel::Clock;

pub use phases::{PHASES, Phase, Phases};
pub use requests::{Durable, NO_DEVICE, Request, RequestId, Requests, Wire};

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

/// A signal on its way: one word, so that an event is three.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Message {
    /// Request or timer.
    pub id: u32,
    index: u16,
    layer: Layer,
    /// What it says.
    pub signal: Signal,
}

impl Message {
    /// A signal to `to` about the request or timer `id`.
    #[must_use]
    #[inline]
    pub const fn new(to: Address, signal: Signal, id: u32) -> Self {
        Self { id, index: to.index, layer: to.layer, signal }
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
    clock: Clock<Message>,
    /// Requests in flight.
    pub requests: Requests,
}

impl Kernel {
    /// The present, in nanoseconds since the start of the run.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Signals delivered so far.
    #[inline]
    #[must_use]
    pub fn events(&self) -> u64 {
        self.clock.events()
    }

    /// Sends a signal that is delivered at the present time, after those already sent.
    #[inline]
    pub fn send(&mut self, to: Address, signal: Signal, id: u32) {
        self.clock.post(Message::new(to, signal, id));
    }

    /// Sends a signal that is delivered at `time_ns`; a time in the past counts as now.
    #[inline]
    pub fn at(&mut self, time_ns: u64, to: Address, signal: Signal, id: u32) {
        self.clock.post_at(time_ns, Message::new(to, signal, id));
    }

    /// The next signal in (time, sequence) order, with the clock moved to it.
    #[inline]
    pub fn advance(&mut self) -> Option<Message> {
        self.clock.advance().map(|event| event.payload)
    }

    /// Creates a request that arrives now; `owner` is told when it completes.
    #[inline]
    pub fn open(&mut self, request: Request) -> RequestId {
        self.requests.insert(Request { submitted_ns: self.now_ns(), charged_ns: self.now_ns(), place: request.offset, ..request })
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
        let now_ns = self.now_ns();
        self.requests.charge_until(id, phase, now_ns);
    }

    /// Completes a request now: everything up to now must have been charged.
    #[inline]
    pub fn complete(&mut self, id: RequestId) {
        debug_assert_eq!(self.requests[id].charged_ns, self.now_ns(), "uncharged time in {:?}", self.requests[id]);
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
    fn a_parent_inherits_the_phases_of_the_part_that_came_last() {
        let mut kernel = Kernel::default();
        let parent = kernel.open(Request::default());
        let quick = kernel.open_child(parent, HERE, 0, 1);
        let slow = kernel.open_child(parent, HERE, 1, 1);
        kernel.clock.set_now_ns(5);
        kernel.charge(quick, Phase::Seek);
        assert_eq!(kernel.join(quick), None);
        kernel.clock.set_now_ns(9);
        kernel.charge(slow, Phase::Rotation);
        assert_eq!(kernel.join(slow), Some(parent));
        assert_eq!(kernel.requests.phases(parent)[Phase::Rotation as usize], 9);
        assert_eq!(kernel.requests.phases(parent)[Phase::Seek as usize], 0);
        assert_eq!(kernel.requests[parent].charged_ns, 9);
    }
}
