//! A map of ranges whose owners the engine's host decides: the run stops at each request that the primary has worked on,
//! asks which shard owns its range, and continues with the answer.
//!
//! A range has one owner at a time. When the answer names another than the present one, the range *moves*: what of it is in progress
//! finishes with the old owner, what comes meanwhile waits (charged as [`Phase::Lock`], as in a resize) and is not asked about, and
//! then the new owner takes over. So the requests of a range keep their order under every map. The new owner's first request costs
//! `takeover` more: it has to load what the old one had in memory. No simulated time passes between question and answer.
//!
//! [`Question`] is all that the host learns: what a primary could know. A request over several ranges is taken apart at their
//! borders, and asked about part by part. With one shard there is no primary, and nothing to ask.

use std::collections::VecDeque;

use super::{Controller, HERE, index};
use crate::decision::{Asked, Decision, to_question, whole};
use crate::kernel::{Kernel, Phase, RequestId};
use seeklab_spec::Op;
use seeklab_spec::controller::OwnerMap;

/// Most ranges that an asked map may have, over all disks.
pub const MAX_RANGES: u64 = 1 << 18;
/// The owner of a range before its first request.
const NOBODY: u32 = u32::MAX;

/// The decision which shard owns a range.
pub(super) const OWNER: Decision<Controller> = Decision {
    asked: Asked {
        name: "owners",
        field: "controller.map",
        run_with: "run_shard_map",
        is_asked: |scenario| scenario.controller.as_ref().is_some_and(|controller| controller.map == OwnerMap::Asked),
    },
    waits: Controller::waits_for_an_owner,
    question: |controller, kernel| to_question(&controller.question(kernel)?),
    answer: |controller, kernel, answer| {
        let shards = controller.question(kernel).map_or(1, |question| question.queued.len() as u64);
        let shard = whole(answer, "shard", "a shard; answer with a whole number", shards - 1)?;
        controller.answer(kernel, u32::try_from(shard).unwrap_or(0)); // shards are few
        Ok(())
    },
};

/// The data of a question about the owner of a range.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Question {
    /// The present, in nanoseconds since the start of the run.
    pub now_ns: u64,
    /// Virtual disk.
    pub disk: u32,
    /// Number of the range on it, from 0.
    pub range: u64,
    /// The shard that owns it; none before its first request, or when that shard is gone.
    pub owner: Option<u32>,
    /// Requests of the range that are with that shard.
    pub in_flight: u32,
    /// Requests of the range so far, without this one.
    pub requests: u64,
    /// Bytes of this request in the range.
    pub bytes: u64,
    /// Whether it writes.
    pub write: bool,
    /// Requests with each shard, at work and in its queue.
    pub queued: Vec<u64>,
    /// Work that each shard has done, in nanoseconds.
    pub busy_ns: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    owner: u32,
    /// With the owner.
    in_flight: u32,
    requests: u64,
}

/// A range that is moving to another owner.
#[derive(Debug)]
struct Move {
    place: usize,
    to: u32,
    held: Vec<RequestId>,
}

/// The map of a host.
#[derive(Debug)]
pub(super) struct Map {
    /// Ranges of all disks, one disk after the other.
    ranges: Vec<Range>,
    moves: Vec<Move>,
    /// Requests whose owner is asked for, with their range.
    asking: VecDeque<(RequestId, usize)>,
    /// Changes of an owner so far.
    pub moved: u64,
}

impl Map {
    /// A map of so many ranges, none of which has an owner.
    pub fn new(ranges: u64) -> Self {
        let count = usize::try_from(ranges.clamp(1, MAX_RANGES)).unwrap_or(1); // checked to be fewer
        Self {
            ranges: vec![Range { owner: NOBODY, in_flight: 0, requests: 0 }; count],
            moves: Vec::new(),
            asking: VecDeque::new(),
            moved: 0,
        }
    }
}

impl Controller {
    /// The disk that `offset` is on, the number of its range there, and its place in the map. What lies behind the last file
    /// counts as its last range.
    fn range_at(&self, map: &Map, offset: u64) -> (usize, u64, usize) {
        let disk = self.disk_of(offset);
        let number = offset.saturating_sub(self.disks[disk].start) / self.spec.range.0;
        let place = usize::try_from(self.disks[disk].first_range + number).unwrap_or(usize::MAX);
        (disk, number, place.min(map.ranges.len() - 1))
    }

    /// Takes a request apart at the borders of ranges, and asks about each part.
    pub(super) fn ask(&mut self, kernel: &mut Kernel, disk: usize, id: RequestId) {
        let request = kernel.requests[id];
        let (range, end) = (self.spec.range.0, request.offset + request.bytes);
        let mut start = request.offset;
        let mut next = self.disks[disk].start + (start.saturating_sub(self.disks[disk].start) / range + 1) * range;
        if next >= end {
            return self.ask_or_hold(kernel, id);
        }
        while start < end {
            let part = kernel.open_child(id, HERE, start, next.min(end) - start);
            // The first part takes the place of the whole in the count.
            self.disks[disk].inside += u32::from(start > request.offset);
            self.ask_or_hold(kernel, part);
            (start, next) = (next, next + range);
        }
    }

    fn ask_or_hold(&mut self, kernel: &Kernel, id: RequestId) {
        let Some(mut map) = self.map.take() else { return };
        let (.., place) = self.range_at(&map, kernel.requests[id].offset);
        match map.moves.iter_mut().find(|at| at.place == place) {
            Some(at) => at.held.push(id),
            None => map.asking.push_back((id, place)),
        }
        self.map = Some(map);
    }

    /// Whether the run waits for the owner of a range.
    #[must_use]
    pub(super) fn waits_for_an_owner(&self) -> bool {
        self.map.as_ref().is_some_and(|map| !map.asking.is_empty())
    }

    /// Changes of a range's owner so far; `None` when the map is not asked for.
    #[must_use]
    pub fn moved(&self) -> Option<u64> {
        self.map.as_ref().map(|map| map.moved)
    }

    /// Which range's owner is asked for. The shards that may be named have the numbers of the lists in it.
    #[must_use]
    pub fn question(&self, kernel: &Kernel) -> Option<Question> {
        let map = self.map.as_ref()?;
        let (id, place) = *map.asking.front()?;
        let (request, at) = (kernel.requests[id], map.ranges[place]);
        let (number, range, _) = self.range_at(map, request.offset);
        let disk = &self.disks[number];
        let first = disk.primary as usize + 1;
        let usage = || self.cpu.usage().skip(first).take(disk.shards as usize);
        Some(Question {
            now_ns: kernel.now_ns(),
            disk: index(number),
            range,
            owner: Some(at.owner).filter(|owner| *owner < disk.shards),
            in_flight: at.in_flight,
            requests: at.requests,
            bytes: request.bytes,
            write: request.op == Op::Write,
            queued: usage().map(|server| server.inside).collect(),
            busy_ns: usage().map(|server| server.busy_ns).collect(),
        })
    }

    /// Takes the host's answer: the range belongs to `shard`, which is below the disk's number of them. Nothing happens when
    /// nothing was asked.
    pub fn answer(&mut self, kernel: &mut Kernel, shard: u32) {
        let Some(mut map) = self.map.take() else { return };
        if let Some((id, place)) = map.asking.pop_front() {
            let at = map.ranges[place];
            if at.owner == shard || at.in_flight == 0 {
                self.give(kernel, &mut map, place, shard, id);
            } else {
                // What else of it has been asked about at this moment waits with it.
                let (with, others) = map.asking.iter().partition::<VecDeque<_>, _>(|other| other.1 == place);
                map.asking = others;
                let held = [id].into_iter().chain(with.into_iter().map(|other| other.0)).collect();
                map.moves.push(Move { place, to: shard, held });
            }
        }
        self.map = Some(map);
    }

    /// The owner of a range, perhaps a new one, gets a request of it.
    fn give(&mut self, kernel: &mut Kernel, map: &mut Map, place: usize, shard: u32, id: RequestId) {
        let at = &mut map.ranges[place];
        let moved = at.owner != NOBODY && at.owner != shard;
        *at = Range { owner: shard, in_flight: at.in_flight + 1, requests: at.requests + 1 };
        map.moved += u64::from(moved);
        let disk = self.disk_of(kernel.requests[id].offset);
        let server = self.disks[disk].primary + 1 + shard;
        self.serve(kernel, disk, server, id, if moved { self.spec.takeover.0 } else { 0 });
    }

    /// A shard has done its work on a request; a range that is in flight may now go over.
    pub(super) fn left_owner(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Some(mut map) = self.map.take() else { return };
        let (.., place) = self.range_at(&map, kernel.requests[id].offset);
        let at = &mut map.ranges[place];
        at.in_flight = at.in_flight.saturating_sub(1);
        if at.in_flight == 0
            && let Some(number) = map.moves.iter().position(|at| at.place == place)
        {
            let at = map.moves.swap_remove(number);
            for id in at.held {
                kernel.charge(id, Phase::Lock);
                self.give(kernel, &mut map, place, at.to, id);
            }
        }
        self.map = Some(map);
    }
}
