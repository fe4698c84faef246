//! Requests in flight, in a slab, with the time of each charged to named phases.

use std::ops::{Index, IndexMut};

use super::journeys::{Asked, Journeys};
use super::ledger::{Ledger, Spent};
use super::{Address, LayerId, Phase, Word};
use seeklab_spec::Op;

/// The messages of a request on the network between client and server, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Wire {
    /// A message there and one back; the data travel with one of them.
    #[default]
    Exchange,
    /// A message there and one back, without data; the server works in between.
    Ask,
    /// A message there and one back, without data, which the server answers from what it remembers.
    Look,
    /// A message there and back that hands out a token, then one there with the command; no data.
    TokenCommand,
    /// A message there with the command; no data.
    Command,
    /// A message back with the result; no data.
    Reply,
    /// None: the server does it on its own.
    Inside,
}

/// The durability that the writer waits for. Each is at least as strong as those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durable {
    /// None.
    #[default]
    No,
    /// A later flush of its file does.
    Later,
    /// It completes once it is durable: for a device, a write with FUA.
    Itself,
    /// It completes once it and all earlier writes of its worker are durable: for a device, a write and a FLUSH after it. One of no
    /// bytes is a FLUSH alone.
    All,
}

impl Durable {
    /// Whether it completes only once it is durable.
    #[must_use]
    pub fn waits(self) -> bool {
        matches!(self, Self::Itself | Self::All)
    }
}

/// Number of a request in the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub u32);

impl Word for RequestId {
    #[inline]
    fn to_word(self) -> u32 {
        self.0
    }
    #[inline]
    fn from_word(word: u32) -> Self {
        Self(word)
    }
}

/// A device index that means "no device".
pub const NO_DEVICE: u16 = u16::MAX;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Start, in bytes, in the address space of the layer that made it.
    pub offset: u64,
    /// Start, in bytes, on the device that serves it; the layout sets it.
    pub place: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// When it was created.
    pub submitted_ns: u64,
    /// Up to when its time has been charged.
    pub charged_ns: u64,
    /// The request that this one is a part of.
    pub parent: Option<RequestId>,
    /// Parts that have not completed.
    pub pending: u32,
    /// Worker that it belongs to.
    pub worker: u32,
    /// Free for the owner's use.
    pub tag: u32,
    /// Bytes that were in memory when it arrived.
    pub cached_bytes: u32,
    /// Bytes that were not in memory and not yet requested when it arrived.
    pub missed_bytes: u32,
    /// Part that receives the completion.
    pub owner: Address,
    /// Device of the part that came last; [`NO_DEVICE`] when none was used.
    pub device: u16,
    /// The connection that it came over, where there is a network.
    pub connection: u16,
    /// Direction.
    pub op: Op,
    /// Messages on the network.
    pub wire: Wire,
    /// Durability that its writer waits for.
    pub durable: Durable,
}

impl Request {
    /// Whether it is a FLUSH: no data, and everything that completed before is made durable.
    #[must_use]
    #[inline]
    pub fn is_flush(&self) -> bool {
        self.bytes == 0 && self.durable == Durable::All
    }

    /// A FLUSH for `owner`.
    #[must_use]
    pub fn flush(owner: Address) -> Self {
        Self { op: Op::Write, durable: Durable::All, owner, ..Self::default() }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            offset: 0,
            place: 0,
            bytes: 0,
            submitted_ns: 0,
            charged_ns: 0,
            parent: None,
            pending: 0,
            worker: 0,
            tag: 0,
            cached_bytes: 0,
            missed_bytes: 0,
            owner: Address::of(LayerId::Workload),
            device: NO_DEVICE,
            connection: 0,
            op: Op::Read,
            wire: Wire::Exchange,
            durable: Durable::No,
        }
    }
}

/// The slab of requests in flight; places are reused, so a run in steady state allocates nothing.
#[derive(Debug, Default)]
pub struct Requests {
    slots: Vec<Request>,
    ledger: Ledger,
    free: Vec<u32>,
    /// Where requests stay, when it is asked for.
    pub journeys: Option<Box<Journeys>>,
}

impl Requests {
    /// Adds a request. O(1).
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that it is written where it stays, not copied there from call to call
    pub fn insert(&mut self, request: Request) -> RequestId {
        let id = if let Some(place) = self.free.pop() {
            self.slots[place as usize] = request;
            self.ledger.clear(place as usize);
            RequestId(place)
        } else {
            let place = u32::try_from(self.slots.len()).unwrap_or(u32::MAX); // iodepth x numjobs is checked to stay far below
            self.slots.push(request);
            self.ledger.add_row();
            RequestId(place)
        };
        if self.journeys.is_some() {
            self.note_begin(id);
        }
        id
    }

    /// Frees a request's place. O(1).
    pub fn remove(&mut self, id: RequestId) {
        self.free.push(id.0);
    }

    /// Requests in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no request is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<Request>() + self.free.capacity() * size_of::<u32>()) as u64 + self.ledger.memory_bytes()
    }

    /// Return the request's time by phase so far.
    #[must_use]
    #[inline]
    pub fn spent(&self, id: RequestId) -> Spent<'_> {
        self.ledger.spent(id.0 as usize)
    }

    /// Charges the time since the last charge until `until_ns`, which may lie in the future, to `phase`.
    #[inline]
    pub fn charge_until(&mut self, id: RequestId, phase: Phase, until_ns: u64) {
        let request = &mut self.slots[id.0 as usize];
        let ns = until_ns - request.charged_ns;
        if ns == 0 {
            return; // half of all charges
        }
        request.charged_ns = until_ns;
        self.ledger.add(id.0 as usize, phase, ns);
        if self.journeys.is_some() {
            self.note_stay(id, phase, until_ns - ns, until_ns);
        }
    }

    /// Charges the next `ns` to `phase`.
    #[inline]
    pub fn charge_ns(&mut self, id: RequestId, phase: Phase, ns: u64) {
        let until_ns = self.slots[id.0 as usize].charged_ns + ns;
        self.charge_until(id, phase, until_ns);
    }

    /// Lets `heir` take over the time that `from` was charged since `heir` was last charged. What `from` spent before that is
    /// not `heir`'s; if `from` began earlier the whole wait counts as waiting for data in flight.
    pub fn inherit(&mut self, heir: RequestId, from: RequestId) {
        let (waited_from, begun, until) = (self[heir].charged_ns, self[from].submitted_ns, self[from].charged_ns);
        if begun < waited_from {
            return self.charge_until(heir, Phase::InFlight, until.max(waited_from));
        }
        if begun > waited_from {
            self.charge_until(heir, Phase::Scheduler, begun);
        }
        self.ledger.add_from(heir.0 as usize, from.0 as usize);
        if self.journeys.is_some() {
            self.note_inherited(heir, from, until);
        }
        self[heir].charged_ns = until;
    }

    // What journeys need, out of line: most runs keep none.

    #[cold]
    #[inline(never)]
    fn note_begin(&mut self, id: RequestId) {
        if let Some(journeys) = &mut self.journeys {
            let Request { parent, owner, worker, op, place, bytes, submitted_ns, .. } = self.slots[id.0 as usize];
            let asked = Asked { owner, worker, op, offset: place, bytes, submitted_ns };
            journeys.begin(id.0, parent.map(|parent| parent.0), asked);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_stay(&mut self, id: RequestId, phase: Phase, from_ns: u64, until_ns: u64) {
        if let Some(journeys) = &mut self.journeys {
            journeys.stay(id.0, phase, from_ns, until_ns);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_inherited(&mut self, heir: RequestId, from: RequestId, until_ns: u64) {
        if let Some(journeys) = &mut self.journeys {
            journeys.inherit(heir.0, from.0, self.slots[heir.0 as usize].charged_ns, until_ns);
        }
    }
}

impl Index<RequestId> for Requests {
    type Output = Request;
    fn index(&self, id: RequestId) -> &Request {
        &self.slots[id.0 as usize]
    }
}

impl IndexMut<RequestId> for Requests {
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_places_are_used_again() {
        let mut requests = Requests::default();
        let first = requests.insert(Request::default());
        requests.remove(first);
        assert_eq!(requests.insert(Request::default()), first);
        assert_eq!(requests.len(), 1);
    }

    #[test]
    fn waiting_for_something_begun_earlier_is_charged_as_in_flight() {
        let mut requests = Requests::default();
        let early = requests.insert(Request::default());
        let late = requests.insert(Request { submitted_ns: 10, charged_ns: 10, ..Request::default() });
        requests.charge_until(early, Phase::Seek, 25);
        requests.inherit(late, early);
        assert_eq!(requests.spent(late).dense()[Phase::InFlight as usize], 15);
    }

    #[test]
    fn a_request_fits_in_eighty_bytes() {
        assert!(size_of::<Request>() <= 80, "{}", size_of::<Request>());
    }

    #[test]
    fn memory_is_that_of_the_most_requests_at_a_time() {
        let mut requests = Requests::default();
        let ids: Vec<_> = (0..100).map(|_| requests.insert(Request::default())).collect();
        for id in ids {
            requests.charge_ns(id, Phase::Queue, 1);
            requests.charge_ns(id, Phase::Transfer, 1);
            requests.remove(id);
        }
        let each = (size_of::<Request>() + 3 * size_of::<u64>()) as u64; // the mask and two phases
        assert!((100 * each..300 * each).contains(&requests.memory_bytes()), "{}", requests.memory_bytes());
    }

    #[test]
    fn two_kinds_of_writes_wait_until_they_are_durable() {
        assert!(Durable::Itself.waits() && Durable::All.waits());
        assert!(!Durable::No.waits() && !Durable::Later.waits());
    }
}
