//! Journeys: where the requests of a window of the run stayed, for how long and why, and marks of what happened around them.
//!
//! Every charge of a request's time is a *stay*: at the layer that charged it, in the phase that it was charged to. A request that
//! waited for the work of others (`Requests::inherit`) has a stay of phase [`BELOW`] for that time, which names the request
//! that came last; that one's own stays tell the rest. So the stays of a request follow each other without gap from its begin to its
//! end. A *mark* is a moment at a place: a packet sent, a lock taken, a block evicted.
//!
//! Bounded: when the stays reach their limit, every second journey is dropped, and from then on only every second is recorded, as
//! often as needed. A journey is kept or dropped with all its parts. Nothing here changes a run: there are no random numbers, and
//! no event is posted.

use super::{Address, LayerId, Phase};
use seeklab_spec::{JourneysSpec, Op};

/// In place of a phase: it waited for another request's work.
pub const BELOW: u8 = u8::MAX;
/// In place of a request: none.
const NONE: u32 = u32::MAX;
/// Each kind of mark has this share of the limit, so that a flood of packets leaves room for the rest.
const MARKS_SHARE: usize = 4;

crate::named! {
    /// An event at a moment that no phase covers. The number is that of the column `marks.kind`.
    pub enum Mark {
        /// A segment begins to leave: twice the connection and one more for the way to the client, payload bytes.
        Sent = "sent",
        /// All of a segment is at its end: the same.
        Received = "received",
        /// An acknowledgement of a segment is back at the sender: the same.
        Acknowledged = "acknowledged",
        /// A lock is taken: the lock, the request that takes it.
        Locked = "locked",
        /// The end of some work interrupts the other cores: nanoseconds taken from each, the request.
        Interrupted = "interrupted",
        /// The arm of a disk leaves for a cylinder, or has come to it: the disk (65,536 times its layer, and its index), the cylinder.
        Arm = "arm",
        /// Data of a request begin or end under the heads of a disk: the disk, the platter's angle in millionths of a turn.
        Angle = "angle",
        /// A disk finds its head off the track: the disk, revolutions lost.
        OffTrack = "off_track",
        /// A packet comes to a port of a switch that takes it: twice the connection and one more for the way to the client, packets that
        /// wait before it.
        AtPort = "at_port",
        /// A packet comes to a port of a switch that is full: the same, payload bytes.
        Dropped = "dropped",
        /// The retransmission timer of a sender runs out: the same, nanoseconds since something last happened to it.
        Expired = "expired",
    }
}

/// The number of kinds of marks.
const KINDS: usize = Mark::ALL.len();

/// The parameters of a request that are kept.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Part that made the request.
    pub owner: Address,
    /// Its worker.
    pub worker: u32,
    /// Direction.
    pub op: Op,
    /// Start, in bytes, on the device that serves it, or in the address space of the layer that made it.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// When it was created.
    pub submitted_ns: u64,
}

/// A request as it was made.
#[derive(Clone, Copy, Debug)]
pub struct Journey {
    /// Its number, from 0 in order of their begin.
    pub request: u32,
    /// The request that it is a part of.
    pub parent: Option<u32>,
    /// Of which request without a parent it is a part, by the order of their begin: journeys are kept or dropped by this.
    root: u32,
    /// Parameters of the request.
    pub asked: Asked,
}

/// Some time of a request at one place.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// The request.
    pub request: u32,
    root: u32,
    /// The layer that charged it.
    pub layer: LayerId,
    /// The part of the layer; in phase [`BELOW`] the request that it waited for.
    pub part: u32,
    /// A [`Phase`], or [`BELOW`].
    pub phase: u8,
    /// Its begin.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// A moment at a place.
#[derive(Clone, Copy, Debug)]
pub struct Marked {
    /// When.
    pub time_ns: u64,
    /// Kind of event.
    pub kind: Mark,
    /// Of what; see [`Mark`].
    pub object: u64,
    /// How much; see [`Mark`].
    pub value: u64,
}

/// The journeys of a run.
#[derive(Debug)]
pub struct Journeys {
    spec: JourneysSpec,
    /// The layer that is told of an event now.
    pub here: Address,
    /// Number and root of the request in each place of the slab.
    places: Vec<(u32, u32)>,
    begun: u32,
    roots: u32,
    every: u32,
    is_full: bool,
    kinds: [usize; KINDS],
    /// Requests, in order of their begin.
    pub requests: Vec<Journey>,
    /// Stays, in order of being charged.
    pub stays: Vec<Stay>,
    /// Marks, in order of being known; some lie in the future then.
    pub marks: Vec<Marked>,
}

impl Journeys {
    /// Records what the specification asks for.
    #[must_use]
    pub fn new(spec: &JourneysSpec) -> Self {
        Self {
            spec: spec.clone(),
            here: Address::of(LayerId::Workload),
            places: Vec::new(),
            begun: 0,
            roots: 0,
            every: 1,
            is_full: false,
            kinds: [0; KINDS],
            requests: Vec::new(),
            stays: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// One journey in so many is kept.
    #[must_use]
    pub fn every(&self) -> u32 {
        self.every
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let requests = self.requests.capacity() * size_of::<Journey>() + self.places.capacity() * size_of::<(u32, u32)>();
        (requests + self.stays.capacity() * size_of::<Stay>() + self.marks.capacity() * size_of::<Marked>()) as u64
    }

    /// Whether journeys that begin at this time are kept, as far as there is room.
    #[must_use]
    pub fn is_open(&self, time_ns: u64) -> bool {
        (self.spec.from.0..self.spec.until.0).contains(&time_ns)
    }

    /// The number of the request in a place of the slab, when its journey is recorded.
    #[must_use]
    pub fn number(&self, place: u32) -> u64 {
        u64::from(self.at(place).0)
    }

    fn at(&self, place: u32) -> (u32, u32) {
        self.places.get(place as usize).copied().unwrap_or((NONE, NONE))
    }

    /// A request has taken a place of the slab; `parent` is the place of what it is a part of.
    pub(super) fn begin(&mut self, place: u32, parent: Option<u32>, asked: Asked) {
        if self.places.len() <= place as usize {
            self.places.resize(place as usize + 1, (NONE, NONE));
        }
        let (parent, root) = match parent.map(|parent| self.at(parent)) {
            Some((parent, root)) => (Some(parent), root),
            None if self.is_open(asked.submitted_ns) && self.roots < self.spec.requests => {
                self.roots += 1;
                (None, self.roots - 1)
            }
            None => (None, NONE),
        };
        self.places[place as usize] = (NONE, NONE);
        if root == NONE || root & (self.every - 1) != 0 || self.is_full {
            return;
        }
        self.places[place as usize] = (self.begun, root);
        self.requests.push(Journey { request: self.begun, parent, root, asked });
        self.begun += 1;
    }

    /// A request was charged for a phase.
    pub(super) fn stay(&mut self, place: u32, phase: Phase, from_ns: u64, to_ns: u64) {
        self.add(place, u32::from(self.here.index), phase as u8, from_ns, to_ns);
    }

    /// A request takes over the time of another.
    pub(super) fn inherit(&mut self, heir: u32, from: u32, from_ns: u64, to_ns: u64) {
        self.add(heir, self.at(from).0, BELOW, from_ns, to_ns);
    }

    fn add(&mut self, place: u32, part: u32, phase: u8, from_ns: u64, to_ns: u64) {
        let (request, root) = self.at(place);
        if request == NONE || from_ns == to_ns || self.is_full {
            return;
        }
        self.stays.push(Stay { request, root, layer: self.here.layer, part, phase, from_ns, to_ns });
        if self.stays.len() >= self.spec.stays as usize {
            self.thin();
        }
    }

    /// Drops every second journey until half of the limit is free; when one journey alone is too long, nothing more is recorded.
    fn thin(&mut self) {
        while self.stays.len() > self.spec.stays as usize / 2 && self.every <= self.roots {
            self.every *= 2;
            let is_kept = |root: u32| root & (self.every - 1) == 0;
            self.stays.retain(|stay| is_kept(stay.root));
            self.requests.retain(|journey| is_kept(journey.root));
            for place in self.places.iter_mut().filter(|place| !is_kept(place.1)) {
                *place = (NONE, NONE);
            }
        }
        self.is_full = self.stays.len() >= self.spec.stays as usize;
    }

    /// Marks a moment.
    pub(super) fn mark(&mut self, marked: Marked) {
        let count = &mut self.kinds[marked.kind as usize];
        if (self.spec.from.0..self.spec.until.0).contains(&marked.time_ns) && *count < self.spec.stays as usize / MARKS_SHARE {
            *count += 1;
            self.marks.push(marked);
        }
    }
}
