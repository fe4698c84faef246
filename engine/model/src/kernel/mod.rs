//! Requests that move through the stack, and the events that layers receive about them.
//!
//! Layers never call each other. A layer submits a request to another ([`Kernel::submit`]), completes one for its owner
//! ([`Kernel::complete`]) and sets timers for itself ([`Kernel::wake_at`]); the stack takes the earliest event
//! ([`Kernel::advance`]) and delivers it to the layer that it is addressed to. The order of events and the clock are those of
//! [`seeklab_kernel::Clock`].

#[cfg(test)]
mod journey_tests;
pub mod journeys;
mod ledger;
mod named;
mod phases;
mod requests;
mod timer;
mod volatile;

use seeklab_kernel::Clock;

use journeys::{Mark, Marked};
pub use ledger::Spent;
pub use phases::{PHASES, Phase, Phases};
pub use requests::{Durable, NO_DEVICE, Request, RequestId, Requests, Wire};
pub use timer::{Packed, Timer, Word};
pub use volatile::{Holder, UnsafeRow, Volatile};

macro_rules! layer_ids {
    ($($(#[$about:meta])* $name:ident: $id:ident, $slot:ty;)+) => {
        /// A layer of the stack. The numbers, from the top down, are those in the tables of journeys.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum LayerId {
            $($(#[$about])* $id,)+
        }

        impl LayerId {
            /// The names of all layers, by their numbers.
            pub const NAMES: &[&str] = &[$(stringify!($name),)+];
        }
    };
}
crate::with_layers!(layer_ids);

/// Where an event goes: a layer, and which one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The layer.
    pub layer: LayerId,
    /// Number of the part in its layer.
    pub index: u16,
}

impl Address {
    /// The only part of a layer.
    #[must_use]
    pub const fn of(layer: LayerId) -> Self {
        Self { layer, index: 0 }
    }
}

/// An event for a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request arrives.
    Submit(RequestId),
    /// A request that the layer owns has completed.
    Done(RequestId),
    /// A time that the layer has set has come.
    Timer(Packed),
}

/// An event in flight: one word, so that with its time and its place in the order it is three.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Message {
    word: u32,
    index: u16,
    layer: LayerId,
    what: u8,
}

const SUBMIT: u8 = 0;
const DONE: u8 = 1;
/// Timers are numbered from here on.
const TIMER: u8 = 2;

impl Message {
    /// An event for `to`.
    #[must_use]
    #[inline]
    pub const fn new(to: Address, event: Event) -> Self {
        let (what, word) = match event {
            Event::Submit(id) => (SUBMIT, id.0),
            Event::Done(id) => (DONE, id.0),
            Event::Timer(Packed { kind, word }) => (TIMER + kind, word),
        };
        Self { word, index: to.index, layer: to.layer, what }
    }

    /// Addressee.
    #[must_use]
    #[inline]
    pub const fn to(&self) -> Address {
        Address { layer: self.layer, index: self.index }
    }

    /// Return the event for the addressee.
    #[must_use]
    #[inline]
    pub const fn event(&self) -> Event {
        match self.what {
            SUBMIT => Event::Submit(RequestId(self.word)),
            DONE => Event::Done(RequestId(self.word)),
            what => Event::Timer(Packed { kind: what - TIMER, word: self.word }),
        }
    }
}

/// Clock, events and requests of a run.
#[derive(Debug, Default)]
pub struct Kernel {
    clock: Clock<Message>,
    /// Requests in flight.
    pub requests: Requests,
    /// Bytes that a power failure would lose.
    pub volatile: Volatile,
}

impl Kernel {
    /// Bytes have been acknowledged as written that only the volatile memory of `holder` has.
    #[inline]
    pub fn hold(&mut self, holder: Holder, bytes: u64) {
        self.volatile.hold(self.clock.now_ns(), holder, bytes);
    }

    /// A holder's bytes are safe, or written again.
    #[inline]
    pub fn release(&mut self, holder: Holder, bytes: u64) {
        self.volatile.release(self.clock.now_ns(), holder, bytes);
    }

    /// The present, in nanoseconds since the start of the run.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Events delivered so far.
    #[inline]
    #[must_use]
    pub fn events(&self) -> u64 {
        self.clock.events()
    }

    /// Hands a request to a layer, at the present time.
    #[inline]
    pub fn submit(&mut self, to: Address, id: RequestId) {
        self.clock.post(Message::new(to, Event::Submit(id)));
    }

    /// Hands a request to a layer at `time_ns`; a time in the past counts as now.
    #[inline]
    pub fn submit_at(&mut self, time_ns: u64, to: Address, id: RequestId) {
        self.clock.post_at(time_ns, Message::new(to, Event::Submit(id)));
    }

    /// Sets a timer for the present time, after all that is already to happen now.
    #[inline]
    pub fn wake(&mut self, to: Address, timer: impl Timer) {
        self.clock.post(Message::new(to, Event::Timer(timer.pack())));
    }

    /// Sets a timer for `time_ns`; a time in the past counts as now.
    #[inline]
    pub fn wake_at(&mut self, time_ns: u64, to: Address, timer: impl Timer) {
        self.clock.post_at(time_ns, Message::new(to, Event::Timer(timer.pack())));
    }

    /// The next event in (time, sequence) order, with the clock moved to it.
    #[inline]
    pub fn advance(&mut self) -> Option<Message> {
        self.clock.advance().map(|event| event.payload)
    }

    /// Creates a request that arrives now; `owner` is told when it completes.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `insert`
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

    /// Marks a moment, now or soon, where journeys are kept.
    #[inline]
    pub fn mark(&mut self, time_ns: u64, kind: Mark, object: u64, value: u64) {
        if self.requests.journeys.is_some() {
            self.note_mark(time_ns, kind, object, value);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_mark(&mut self, time_ns: u64, kind: Mark, object: u64, value: u64) {
        if let Some(journeys) = &mut self.requests.journeys {
            journeys.mark(Marked { time_ns, kind, object, value });
        }
    }

    /// Completes a request now: everything up to now must have been charged.
    #[inline]
    pub fn complete(&mut self, id: RequestId) {
        debug_assert_eq!(self.requests[id].charged_ns, self.now_ns(), "uncharged time in {:?}", self.requests[id]);
        let owner = self.requests[id].owner;
        self.clock.post(Message::new(owner, Event::Done(id)));
    }

    /// Completes a request at the time until which it has been charged, now or later.
    #[inline]
    pub fn complete_when_charged(&mut self, id: RequestId) {
        let Request { owner, charged_ns, .. } = self.requests[id];
        self.clock.post_at(charged_ns, Message::new(owner, Event::Done(id)));
    }

    /// Takes a completed part back into its parent. When it was the last part the parent inherits its phases (the critical path)
    /// and is returned.
    pub fn join(&mut self, child: RequestId) -> Option<RequestId> {
        let parent = self.requests[child].parent?;
        let last = self.join_shared(parent, child);
        self.requests.remove(child);
        last.then_some(parent)
    }

    /// Tells a request that something it waits for is done, which others may wait for too. When it was the last one the request
    /// inherits its phases (the critical path), and the answer is true.
    pub fn join_shared(&mut self, waiter: RequestId, done: RequestId) -> bool {
        let device = self.requests[done].device;
        let waiting = &mut self.requests[waiter];
        waiting.pending -= 1;
        let last = waiting.pending == 0;
        if last {
            waiting.device = device;
            self.requests.inherit(waiter, done);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Address = Address::of(LayerId::Workload);

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
        assert_eq!(kernel.requests.spent(parent).dense()[Phase::Rotation as usize], 9);
        assert_eq!(kernel.requests.spent(parent).dense()[Phase::Seek as usize], 0);
        assert_eq!(kernel.requests[parent].charged_ns, 9);
    }
}
