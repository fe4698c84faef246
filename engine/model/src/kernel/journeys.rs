//! Journeys: where the requests of a window of the run stayed, for how long and why, and marks of what happened around them.
//!
//! Every charge of a request's time is a *stay*: at the layer that charged it, in the phase that it was charged to. A request that
//! waited for the work of others ([`super::Requests::inherit`]) has a stay of phase [`BELOW`] for that time, which names the request
//! that came last; that one's own stays tell the rest. So the stays of a request follow each other without gap from its begin to its
//! end. A *mark* is a moment at a place: a packet sent, a lock taken, a block evicted.
//!
//! Bounded: when the stays reach their limit, every second journey is dropped, and from then on only every second is recorded, as
//! often as needed. A journey is kept or dropped with all its parts. Nothing here changes a run: there are no random numbers, and
//! no event is posted.

use super::{Address, LayerId, Phase, Request, RequestId};
use seeklab_spec::JourneysSpec;

/// In place of a phase: it waited for another request's work.
pub const BELOW: u8 = u8::MAX;
/// In place of a request: none.
const NONE: u32 = u32::MAX;
/// Each kind of mark has this share of the limit, so that a flood of packets leaves room for the rest.
const MARKS_SHARE: usize = 4;

/// What happened at a moment that no request's time tells. The number is that of the column `marks.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// A segment begins to leave: twice the connection and one more for the way to the client, payload bytes.
    Sent,
    /// All of a segment is at its end: the same.
    Received,
    /// An acknowledgement of a segment is back at the sender: the same.
    Acknowledged,
    /// A lock is taken: the lock, the request that takes it.
    Locked,
    /// A lock is given back: the lock, the request that gives it.
    Unlocked,
    /// The end of some work interrupts the other cores: the request, nanoseconds taken from each.
    Interrupted,
    /// The arm of a disk leaves a cylinder or comes to one: the disk (65,536 times its layer, and its index), the cylinder.
    Arm,
    /// Data of a request begin or end under the heads of a disk: the disk, the platter's angle in millionths of a turn.
    Angle,
}

/// The number of kinds of marks.
const KINDS: usize = Mark::Angle as usize + 1;

/// A request as it was made.
#[derive(Clone, Copy, Debug)]
pub struct Journey {
    /// Its number, from 0 in order of their begin.
    pub request: u32,
    /// The request that it is a part of.
    pub parent: Option<u32>,
    /// Of which request without a parent it is a part, by the order of their begin: journeys are kept or dropped by this.
    root: u32,
    /// Who made it.
    pub owner: Address,
    /// What was asked.
    pub asked: Request,
    /// When its last stay ended; `None` when the run ended before.
    pub end_ns: Option<u64>,
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
    /// What.
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

    fn is_open(&self, time_ns: u64) -> bool {
        (self.spec.from.0..self.spec.until.0).contains(&time_ns)
    }

    /// The number of a request, when its journey is recorded.
    #[must_use]
    pub fn number(&self, id: RequestId) -> u64 {
        u64::from(self.places.get(id.0 as usize).map_or(NONE, |place| place.0))
    }

    /// A request has taken a place of the slab.
    #[cold]
    pub(super) fn begin(&mut self, id: RequestId, request: &Request) {
        let place = id.0 as usize;
        if self.places.len() <= place {
            self.places.resize(place + 1, (NONE, NONE));
        }
        let (parent, root) = match request.parent.map(|parent| self.places[parent.0 as usize]) {
            Some((parent, root)) => (Some(parent), root),
            None if self.is_open(request.submitted_ns) && self.roots < self.spec.requests => {
                self.roots += 1;
                (None, self.roots - 1)
            }
            None => (None, NONE),
        };
        self.places[place] = (NONE, NONE);
        if root == NONE || root & (self.every - 1) != 0 || self.is_full {
            return;
        }
        self.places[place] = (self.begun, root);
        let asked = Request { offset: request.place, ..*request };
        self.requests.push(Journey { request: self.begun, parent, root, owner: request.owner, asked, end_ns: None });
        self.begun += 1;
    }

    /// A request leaves its place of the slab.
    #[cold]
    pub(super) fn end(&mut self, id: RequestId, end_ns: u64) {
        let Some((number, _)) = self.places.get(id.0 as usize).copied() else { return };
        if let Ok(row) = self.requests.binary_search_by_key(&number, |journey| journey.request) {
            self.requests[row].end_ns = Some(end_ns);
        }
    }

    /// A request was charged for a phase.
    #[cold]
    pub(super) fn stay(&mut self, id: RequestId, phase: Phase, from_ns: u64, to_ns: u64) {
        self.add(id, u32::from(self.here.index), phase as u8, from_ns, to_ns);
    }

    /// A request takes over the time of another.
    #[cold]
    pub(super) fn inherit(&mut self, heir: RequestId, from: RequestId, from_ns: u64, to_ns: u64) {
        let (of, _) = self.places.get(from.0 as usize).copied().unwrap_or((NONE, NONE));
        self.add(heir, of, BELOW, from_ns, to_ns);
    }

    fn add(&mut self, id: RequestId, part: u32, phase: u8, from_ns: u64, to_ns: u64) {
        let Some((request, root)) = self.places.get(id.0 as usize).copied() else { return };
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
    #[cold]
    pub(super) fn mark(&mut self, marked: Marked) {
        let count = &mut self.kinds[marked.kind as usize];
        if (self.spec.from.0..self.spec.until.0).contains(&marked.time_ns) && *count < self.spec.stays as usize / MARKS_SHARE {
            *count += 1;
            self.marks.push(marked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Requests;
    use seeklab_spec::Nanos;

    fn requests(spec: &JourneysSpec) -> Requests {
        let mut requests = Requests::default();
        requests.journeys = Some(Box::new(Journeys::new(spec)));
        requests
    }

    /// `count` requests, one after the other, each with so many stays of 5 ns.
    fn run(requests: &mut Requests, count: u64, stays: u64) {
        for nth in 0..count {
            let at = nth * stays * 5;
            let id = requests.insert(Request { submitted_ns: at, charged_ns: at, ..Request::default() });
            for stay in 0..stays {
                requests.charge_ns(id, if stay % 2 == 0 { Phase::Queue } else { Phase::Seek }, 5);
            }
            requests.remove(id);
        }
    }

    fn numbers(requests: &Requests) -> Vec<u32> {
        requests.journeys.iter().flat_map(|journeys| &journeys.requests).map(|journey| journey.request).collect()
    }

    #[test]
    fn journeys_that_are_too_many_are_thinned_evenly_over_the_run() {
        let mut requests = requests(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
        run(&mut requests, 5000, 2);
        let journeys = requests.journeys.as_ref().expect("on");
        assert_eq!(journeys.every(), 16, "10,000 stays, at most 1000 of them");
        assert!(journeys.stays.len() < 1000, "{}", journeys.stays.len());
        let begins: Vec<u64> = journeys.requests.iter().map(|journey| journey.asked.submitted_ns).collect();
        assert_eq!(begins.len(), 5000_usize.div_ceil(16));
        assert!(begins.windows(2).all(|pair| pair[1] - pair[0] == 160), "every 16th of requests 10 ns apart");
    }

    #[test]
    fn a_journey_that_is_too_long_ends_the_recording() {
        let mut requests = requests(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
        run(&mut requests, 3, 5000);
        let journeys = requests.journeys.as_ref().expect("on");
        assert_eq!(journeys.stays.len(), 1000);
        assert_eq!(numbers(&requests), [0]);
    }

    #[test]
    fn only_requests_of_the_window_are_recorded() {
        let window = JourneysSpec { from: Nanos(100), until: Nanos(160), ..JourneysSpec::default() };
        let mut by_time = requests(&window);
        run(&mut by_time, 100, 2);
        let begins = |of: &Requests| -> Vec<u64> {
            of.journeys.iter().flat_map(|journeys| &journeys.requests).map(|journey| journey.asked.submitted_ns).collect()
        };
        assert_eq!(begins(&by_time), [100, 110, 120, 130, 140, 150]);
        let mut by_number = requests(&JourneysSpec { requests: 2, ..window });
        run(&mut by_number, 100, 2);
        assert_eq!(begins(&by_number), [100, 110]);
    }

    #[test]
    fn parts_are_kept_or_dropped_with_what_they_are_part_of() {
        let mut requests = requests(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
        for nth in 0..2000 {
            let parent = requests.insert(Request { submitted_ns: nth * 5, charged_ns: nth * 5, ..Request::default() });
            let part = requests.insert(Request { parent: Some(parent), submitted_ns: nth * 5, charged_ns: nth * 5, ..Request::default() });
            requests.charge_ns(part, Phase::Seek, 5);
            requests.inherit(parent, part);
            requests.remove(part);
            requests.remove(parent);
        }
        let journeys = requests.journeys.as_ref().expect("on");
        assert_eq!(journeys.every(), 8);
        assert_eq!(journeys.requests.len(), 2 * 2000 / 8);
        for pair in journeys.requests.chunks(2) {
            assert_eq!(pair[1].parent, Some(pair[0].request));
        }
        for stay in journeys.stays.iter().filter(|stay| stay.phase == BELOW) {
            assert_eq!(stay.part, stay.request + 1, "it waited for its part");
        }
    }

    #[test]
    fn a_flood_of_one_kind_of_marks_leaves_room_for_the_others() {
        let mut journeys = Journeys::new(&JourneysSpec { stays: 1000, ..JourneysSpec::default() });
        for time_ns in 0..10_000 {
            journeys.mark(Marked { time_ns, kind: Mark::Sent, object: 0, value: 0 });
        }
        journeys.mark(Marked { time_ns: 10_000, kind: Mark::Arm, object: 0, value: 7 });
        assert_eq!(journeys.marks.len(), 251);
        assert_eq!(journeys.marks[250].value, 7);
    }

    #[test]
    fn the_numbers_of_layers_and_marks_are_those_that_hosts_know() {
        // web/src/engine/journeys.ts has the same.
        let layers = [LayerId::Workload, LayerId::Network, LayerId::Zfs, LayerId::WriteLog, LayerId::Controller, LayerId::Device];
        assert_eq!(layers.map(|layer| layer as u8), [0, 2, 6, 7, 9, 14]);
        assert_eq!([Mark::Sent, Mark::Locked, Mark::Interrupted, Mark::Arm, Mark::Angle].map(|mark| mark as u8), [0, 3, 5, 6, 7]);
    }
}
