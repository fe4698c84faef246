//! Zones that are written from their start to their end only, as a host-managed drive demands it, and the write pointer of each.
//!
//! A worker draws a place as others do, and its request goes where the zone of that place takes one: a write to the write pointer, a
//! read below it. A write to a full zone resets it first. The rules are those of fio 3.33's `zonemode=zbd`. Zones of a file that all
//! workers only read are full at the start, for somebody must have written them; those of a file that some worker writes are empty.
//!
//! Left out: the drive itself, which takes what it is given; the time of a reset; workers that wait for each other at a zone.

use seeklab_spec::access::SequentialZones;
use seeklab_spec::{Job, Op};

use crate::plan::Plan;
use crate::range::Range;

/// The zones of one file, or of the whole address space.
struct Space {
    /// Where its first zone begins.
    start: u64,
    spec: SequentialZones,
    /// Bytes from the start of each zone to its write pointer.
    written: Vec<u64>,
    /// Zones that are open, where their number is limited.
    open: Vec<usize>,
}

/// The zones that a worker uses.
#[derive(Clone, Copy)]
pub struct Share {
    space: usize,
    /// The first zone, and the one after the last.
    zones: [usize; 2],
}

/// Where a request goes in the address space, how long it is, and where the next one in order would go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Where a job that continues in order continues.
    pub next: u64,
}

/// The request that a worker wants.
#[derive(Clone, Copy)]
pub struct Wish {
    /// The place that it drew.
    pub offset: u64,
    /// The bytes that it wants to move.
    pub bytes: u64,
    /// The smallest request of its job; all are multiples of it.
    pub least_bytes: u64,
    /// Whether it draws its places at random.
    pub is_random: bool,
}

/// All zones of a run.
#[derive(Default)]
pub struct Zones {
    spaces: Vec<Space>,
}

/// The whole zones of a region of a file that starts at `file_start`: the first, and the one after the last.
#[must_use]
pub fn whole_zones(spec: &SequentialZones, file_start: u64, region: Range) -> [u64; 2] {
    let size = spec.size.0;
    [(region.start - file_start).div_ceil(size), (region.end - file_start) / size]
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX) // zones are counted when a scenario is checked
}

impl Zones {
    /// The zones of all jobs that have them, and each worker's share.
    #[must_use]
    pub fn of(jobs: &[Job], plan: &Plan) -> (Self, Vec<Option<Share>>) {
        let mut zones = Self::default();
        let shares = plan.workers.iter().map(|worker| {
            let spec = jobs[worker.job].zoned?;
            let start = worker.file.start;
            let space = zones.spaces.iter().position(|space| space.start == start).unwrap_or_else(|| {
                zones.spaces.push(Space { start, spec, written: Vec::new(), open: Vec::new() });
                zones.spaces.len() - 1
            });
            let share = whole_zones(&spec, start, worker.region).map(index);
            let written = &mut zones.spaces[space].written;
            written.resize(written.len().max(share[1]), 0);
            Some(Share { space, zones: share })
        });
        let shares: Vec<Option<Share>> = shares.collect();
        let of_space = |space: usize| {
            let workers = plan.workers.iter().zip(&shares);
            workers.filter(move |(_, share)| share.is_some_and(|share| share.space == space)).map(|(worker, _)| &jobs[worker.job])
        };
        for number in 0..zones.spaces.len() {
            if !of_space(number).any(|job| job.rw.writes()) {
                let space = &mut zones.spaces[number];
                space.written.fill(space.spec.capacity_bytes());
            }
        }
        (zones, shares)
    }

    /// Bytes that the zones take in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.spaces.iter().map(|space| (space.written.len() * size_of::<u64>()) as u64).sum()
    }

    /// Where a request goes, and the number of zones that are reset for it. Nothing when none of the worker's zones takes it: no zone
    /// has anything to read, or none is open and no more may be.
    pub fn place(&mut self, share: Share, op: Op, wish: Wish) -> Option<(Place, u64)> {
        let space = &mut self.spaces[share.space];
        if op == Op::Read { Some((space.read(share.zones, wish)?, 0)) } else { space.write(share.zones, wish) }
    }
}

impl Space {
    /// The zone of a place, among `zones`; what lies behind the last continues at the first.
    fn zone_of(&self, offset: u64, [first, end]: [usize; 2]) -> usize {
        let number = index((offset - self.start) / self.spec.size.0);
        first + number.saturating_sub(first) % (end - first)
    }

    fn zone_start(&self, zone: usize) -> u64 {
        self.start + zone as u64 * self.spec.size.0
    }

    /// Whether a zone has no room for `bytes`.
    fn is_full(&self, zone: usize, bytes: u64) -> bool {
        self.written[zone] + bytes > self.spec.capacity_bytes()
    }

    /// The zone that a write goes to instead of the one that it drew.
    fn open_zone(&mut self, zone: usize, [first, end]: [usize; 2]) -> Option<usize> {
        let Some(most) = self.spec.max_open else { return Some(zone) };
        if self.open.contains(&zone) {
            return Some(zone);
        }
        if self.open.len() < most as usize {
            self.open.push(zone);
            return Some(zone);
        }
        let of_worker = || self.open.iter().copied().filter(|open| (first..end).contains(open));
        of_worker().nth((zone - first) * of_worker().count() / (end - first))
    }

    fn write(&mut self, zones: [usize; 2], wish: Wish) -> Option<(Place, u64)> {
        let zone = self.open_zone(self.zone_of(wish.offset, zones), zones)?;
        let mut resets = 0;
        if self.is_full(zone, wish.least_bytes) {
            (self.written[zone], resets) = (0, 1);
        }
        let (written, start) = (self.written[zone], self.zone_start(zone));
        let bytes = wish.bytes.min(self.spec.capacity_bytes() - written) / wish.least_bytes * wish.least_bytes;
        self.written[zone] += bytes;
        let offset = start + written;
        if !self.is_full(zone, wish.least_bytes) {
            return Some((Place { offset, bytes, next: offset + bytes }, resets));
        }
        self.open.retain(|open| *open != zone);
        Some((Place { offset, bytes, next: start + self.spec.size.0 }, resets))
    }

    fn read(&self, zones: [usize; 2], wish: Wish) -> Option<Place> {
        let mut zone = self.zone_of(wish.offset, zones);
        if self.spec.read_beyond {
            return Some(Place { offset: wish.offset, bytes: wish.bytes, next: wish.offset + wish.bytes });
        }
        let mut within = wish.offset.saturating_sub(self.zone_start(zone)).min(self.spec.size.0);
        let holds = |zone: &usize| self.written[*zone] >= wish.least_bytes;
        if !holds(&zone) || (!wish.is_random && within + wish.least_bytes > self.written[zone]) {
            zone = (zone + 1..zones[1]).find(holds).or_else(|| (zones[0]..=zone).find(holds))?;
            within = if wish.is_random { within } else { 0 };
        }
        let written = self.written[zone];
        if written <= wish.bytes {
            within = 0;
        } else if wish.is_random {
            within = within % (written - wish.bytes) / wish.least_bytes * wish.least_bytes;
        }
        let offset = self.zone_start(zone) + within;
        let bytes = wish.bytes.min(written - within) / wish.least_bytes * wish.least_bytes;
        Some(Place { offset, bytes, next: offset + bytes })
    }
}
