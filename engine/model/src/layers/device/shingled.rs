//! A shingled drive that manages itself: conventional zones that take writes first, and shingled zones behind them.
//!
//! ```text
//! host --> cache (conventional zones): anything, anywhere, at the unit's rate
//!            |  full: the oldest zone is cleaned      -> a write waits
//!            v  idle: zones are cleaned one by one
//!          shingled zones: [ zone | zone | zone | ... ]   written from start to end only
//!            ^
//! host ------+  a stream that reaches a zone's start is written there directly
//! ```
//!
//! - **Cleaning** a zone reads it, merges what the cache holds of it, and writes it: 2 zone / rate + 2 moves, however little that is.
//!   What it gains is the zone's bytes in the cache. A workload that comes back to each zone k times pays k times for each zone.
//! - **The cache** holds each address once: a write over what is there takes no room. It is full when its bytes or its map are.
//! - **A stream** is a run of writes without a gap. Once it is `stream` long it is known for one, and at the next zone's start it goes
//!   past the cache. One that breaks off in the middle of a zone has overlapped the next track, so the rest of the zone is read and
//!   written, if it holds anything; the write that comes in between waits for that.
//! - **Reads** come from cache or zone; one that needs both moves the heads once more.
//! - **Idle**, it cleans until there is nothing to clean. A request waits for the zone in hand.
//!
//! First in, first out, so the time of a request follows when it comes, and needs no event.
//!
//! Sources: the mechanism as reports on drives of this kind describe it (Blocks and Files, 2020-04-15), after the published measurements
//! of such drives by Aghayev and Desnoyers (FAST 2015). Their sizes are not published: a zone, the cache, its map, the move and the time
//! until an idle drive cleans are assumed. Left out: a drive that knows which zones were never written and spares itself reading them,
//! zones that are remapped rather than rewritten in place, several streams at a time, TRIM, errors of reads of addresses that were never
//! written, seeks within a zone and in the cache, the time of reading the cache when a zone is cleaned.

use std::collections::BTreeMap;

use super::transfer_ns;
use crate::result::metrics::{Metrics, Unit, each};
use seeklab_spec::{CleanFirst, Lun, Op, Shingled, to_f64};

/// Most intervals that are kept, and those with a picture of the cache.
const MAX_ROWS: usize = 1 << 16;
const MAX_PICTURES: usize = 1 << 11;
/// Equal parts of the addresses by which a picture counts.
pub const PARTS: usize = 64;

/// The activity in one interval, and the drive at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Bytes written into the cache.
    pub cached: u64,
    /// Bytes written to shingled zones directly.
    pub direct: u64,
    /// Time spent cleaning.
    pub cleaning_ns: u64,
    /// Zones cleaned.
    pub cleans: u64,
    /// Bytes in the cache.
    pub used: u64,
    /// Where the last write ended.
    pub write_at: u64,
    /// Where the zone begins that was cleaned last.
    pub clean_at: u64,
}

/// A shingled zone.
#[derive(Clone, Debug, Default)]
struct Zone {
    /// Its cached ranges in order, start and end; no two touch.
    ranges: Vec<(u64, u64)>,
    /// Bytes of it in the cache.
    cached: u64,
    /// Its place in the order of cleaning while it has some.
    key: u64,
    /// Bytes from its start to the end of what was ever written to it.
    written: u64,
}

/// The zones of a drive, its cache, and what it has done.
#[derive(Debug)]
pub struct Zones {
    rate: u64,
    capacity: u64,
    zone: u64,
    cache: u64,
    most_ranges: usize,
    move_ns: u64,
    first: CleanFirst,
    stream: u64,
    idle_ns: u64,
    states: Vec<Zone>,
    /// Cached ranges of all zones.
    ranges: usize,
    /// Zones with data in the cache, by their keys: in the order in which they are cleaned.
    order: BTreeMap<u64, u64>,
    used: u64,
    next_key: u64,
    /// The run of writes without a gap, and the zone that it is written to directly.
    run: (u64, u64),
    open: Option<usize>,
    /// When the last request will have ended.
    done_ns: u64,
    totals: Row,
    /// Bytes that were in the cache of the zones that were cleaned, and bytes read and written to clean or restore zones.
    gained: u64,
    moved: u64,
    interval_ns: u64,
    rows: Vec<Row>,
    parts: [u64; PARTS],
    pictures: Vec<[u64; PARTS]>,
}

/// The cost of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Waiting for zones to be cleaned.
    pub cleaning_ns: u64,
    /// Moving its own bytes.
    pub own_ns: u64,
}

/// Bytes that the maps of a drive take at most.
#[must_use]
pub fn memory_bytes(spec: &Shingled, unit: &Lun) -> u64 {
    let zones = unit.capacity.0.div_ceil(spec.zone.0.max(1));
    zones * (size_of::<Zone>() as u64 + 24) + u64::from(spec.ranges) * 40
}

impl Zones {
    /// The zones of a unit, which keeps a row for each interval.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // zones are checked to be few
    pub fn new(spec: &Shingled, unit: &Lun, interval_ns: u64) -> Self {
        let (capacity, zone) = (unit.capacity.0, spec.zone.0.max(1));
        Self {
            rate: unit.rate.0,
            capacity,
            zone,
            cache: spec.cache.0,
            most_ranges: spec.ranges as usize,
            move_ns: spec.r#move.0,
            first: spec.clean,
            stream: spec.stream.0,
            idle_ns: spec.idle.0,
            states: vec![Zone::default(); capacity.div_ceil(zone) as usize],
            ranges: 0,
            order: BTreeMap::new(),
            used: 0,
            next_key: 0,
            run: (0, 0),
            open: None,
            done_ns: 0,
            totals: Row::default(),
            gained: 0,
            moved: 0,
            interval_ns: interval_ns.max(1),
            rows: Vec::new(),
            parts: [0; PARTS],
            pictures: Vec::new(),
        }
    }

    /// Return the cost of a request of `bytes` at `offset` that starts at `now_ns`, after all earlier requests.
    pub fn work(&mut self, now_ns: u64, op: Op, offset: u64, bytes: u64) -> Work {
        let mut cleaning_ns = self.clean_idle(now_ns);
        if op != Op::Read && bytes > 0 {
            cleaning_ns += self.write(now_ns + cleaning_ns, offset, bytes);
        }
        let held = if op == Op::Read { self.held(offset, offset + bytes) } else { 0 };
        let both_ns = if held > 0 && held < bytes { self.move_ns } else { 0 };
        let own_ns = transfer_ns(bytes, self.rate) + both_ns;
        self.done_ns = now_ns + cleaning_ns + own_ns;
        self.note(self.done_ns);
        Work { cleaning_ns, own_ns }
    }

    /// Cleans what an idle drive cleans until `now_ns`; the time from then on that the zone in hand takes.
    fn clean_idle(&mut self, now_ns: u64) -> u64 {
        let mut at_ns = self.done_ns.saturating_add(self.idle_ns);
        while at_ns < now_ns && self.used > 0 {
            at_ns += self.clean(at_ns);
        }
        if at_ns > now_ns && self.done_ns.saturating_add(self.idle_ns) < now_ns { at_ns - now_ns } else { 0 }
    }

    /// Writes; the time until there was room for it.
    fn write(&mut self, now_ns: u64, offset: u64, bytes: u64) -> u64 {
        let mut waited_ns = 0;
        if offset != self.run.1 {
            waited_ns += self.restore(now_ns);
            self.run.0 = offset;
        }
        let (mut at, end) = (offset, offset + bytes);
        while at < end {
            let zone = self.zone_of(at);
            let start = zone as u64 * self.zone;
            let stop = end.min(start + self.zone);
            if at == start && self.stream > 0 && at - self.run.0 >= self.stream {
                self.open = Some(zone);
            }
            let at_ns = now_ns + waited_ns;
            if self.open == Some(zone) {
                self.give_up(zone, at, stop);
                self.states[zone].written = self.states[zone].written.max(stop - start);
                self.totals.direct += stop - at;
                self.row(at_ns).direct += stop - at;
                if stop == self.end_of(zone) {
                    self.open = None;
                }
            } else {
                waited_ns += self.make_room(at_ns, at, stop);
                self.put(zone, at, stop);
                self.totals.cached += stop - at;
                self.row(now_ns + waited_ns).cached += stop - at;
            }
            at = stop;
        }
        self.run.1 = end;
        self.row(now_ns + waited_ns).write_at = end;
        waited_ns
    }

    /// Makes what follows a stream that broke off in its zone whole again; the time that this takes.
    fn restore(&mut self, now_ns: u64) -> u64 {
        let Some(zone) = self.open.take() else { return 0 };
        let rest = (zone as u64 * self.zone + self.states[zone].written).saturating_sub(self.run.1);
        if rest == 0 {
            return 0;
        }
        self.moved += 2 * rest;
        let took_ns = 2 * (transfer_ns(rest, self.rate) + self.move_ns);
        self.spread_cleaning(now_ns, took_ns);
        took_ns
    }

    /// Cleans zones until the cache takes the range; the time that this takes.
    fn make_room(&mut self, now_ns: u64, from: u64, end: u64) -> u64 {
        let mut took_ns = 0;
        loop {
            let fresh = end - from - self.held(from, end);
            let fits = self.used + fresh <= self.cache && (fresh == 0 || self.ranges < self.most_ranges);
            if fits || self.used == 0 {
                return took_ns;
            }
            took_ns += self.clean(now_ns + took_ns);
        }
    }

    /// Cleans the zone whose turn it is; the time that this takes.
    fn clean(&mut self, now_ns: u64) -> u64 {
        let Some(first) = self.order.first_key_value().map(|(_, zone)| *zone) else { return 0 };
        let zone = self.zone_of(first * self.zone);
        let (start, end) = (zone as u64 * self.zone, self.end_of(zone));
        let state = &mut self.states[zone];
        if let Some((_, until)) = state.ranges.last() {
            state.written = state.written.max(until - start);
        }
        self.ranges -= state.ranges.len();
        state.ranges.clear();
        self.gained += self.states[zone].cached;
        self.moved += 2 * (end - start);
        self.set_cached(zone, 0);
        self.totals.cleans += 1;
        let took_ns = 2 * (transfer_ns(end - start, self.rate) + self.move_ns);
        self.spread_cleaning(now_ns, took_ns);
        let row = self.row(now_ns + took_ns);
        row.cleans += 1;
        row.clean_at = start;
        took_ns
    }

    /// Bytes of a range that lie in the cache.
    fn held(&self, from: u64, end: u64) -> u64 {
        let held = |zone: &Zone| {
            let first = zone.ranges.partition_point(|(_, until)| *until <= from);
            let overlapping = zone.ranges[first..].iter().take_while(|(start, _)| *start < end);
            overlapping.map(|(start, until)| until.min(&end) - start.max(&from)).sum::<u64>()
        };
        self.states[self.zone_of(from)..=self.zone_of(end.saturating_sub(1).max(from))].iter().map(held).sum()
    }

    /// Puts a range of a zone into the cache; it joins its neighbours.
    fn put(&mut self, zone: usize, from: u64, end: u64) {
        let fresh = end - from - self.held(from, end);
        let ranges = &mut self.states[zone].ranges;
        let joined = ranges.partition_point(|(_, until)| *until < from)..ranges.partition_point(|(start, _)| *start <= end);
        let of = &ranges[joined.clone()];
        let (first, last) = (of.first().map_or(from, |(start, _)| from.min(*start)), of.last().map_or(end, |(_, until)| end.max(*until)));
        self.ranges = self.ranges + 1 - joined.len();
        ranges.splice(joined, [(first, last)]);
        self.set_cached(zone, self.states[zone].cached + fresh);
    }

    /// Gives up what the cache holds of a range of a zone.
    fn give_up(&mut self, zone: usize, from: u64, end: u64) {
        let gone = self.held(from, end);
        if gone == 0 {
            return;
        }
        let ranges = &mut self.states[zone].ranges;
        let cut = ranges.partition_point(|(_, until)| *until <= from)..ranges.partition_point(|(start, _)| *start < end);
        let (first, last) = (ranges[cut.start].0, ranges[cut.end - 1].1);
        let kept = [(first, from), (end, last)].into_iter().filter(|(start, until)| start < until);
        self.ranges -= cut.len();
        self.ranges += kept.clone().count();
        ranges.splice(cut, kept);
        self.set_cached(zone, self.states[zone].cached - gone);
    }

    /// Notes how much of a zone lies in the cache, and when it is its turn.
    fn set_cached(&mut self, zone: usize, cached: u64) {
        let of = &mut self.states[zone];
        let (before, key) = (of.cached, of.key);
        of.key = match self.first {
            CleanFirst::Fullest => ((1 << 40) - cached) << 20 | zone as u64, // a zone is at most 2^40 bytes, and there are 2^20
            CleanFirst::Oldest if before == 0 => self.next_key,
            CleanFirst::Oldest => key,
        };
        of.cached = cached;
        self.next_key += u64::from(before == 0);
        if before > 0 && (cached == 0 || of.key != key) {
            self.order.remove(&key);
        }
        if cached > 0 && (before == 0 || of.key != key) {
            self.order.insert(of.key, zone as u64);
        }
        self.used = self.used - before + cached;
        let part = zone * PARTS / self.states.len();
        self.parts[part] = self.parts[part] - before + cached;
    }

    #[allow(clippy::cast_possible_truncation)] // zones are checked to be few
    fn zone_of(&self, at: u64) -> usize {
        ((at / self.zone) as usize).min(self.states.len() - 1)
    }

    fn end_of(&self, zone: usize) -> u64 {
        ((zone as u64 + 1) * self.zone).min(self.capacity)
    }

    /// Notes the cache as it is at `now_ns`.
    fn note(&mut self, now_ns: u64) {
        let (used, parts) = (self.used, self.parts);
        self.row(now_ns).used = used;
        let index = self.rows.len();
        if index <= MAX_PICTURES {
            let before = self.pictures.last().copied().unwrap_or([0; PARTS]);
            self.pictures.resize(index, before);
            self.pictures[index - 1] = parts;
        }
    }

    fn spread_cleaning(&mut self, from_ns: u64, took_ns: u64) {
        self.totals.cleaning_ns += took_ns;
        let (mut at_ns, to_ns) = (from_ns, from_ns + took_ns);
        while at_ns < to_ns {
            let end_ns = ((at_ns / self.interval_ns + 1) * self.interval_ns).min(to_ns);
            self.row(at_ns).cleaning_ns += end_ns - at_ns;
            at_ns = end_ns;
        }
    }

    fn row(&mut self, at_ns: u64) -> &mut Row {
        let index = usize::try_from(at_ns / self.interval_ns).unwrap_or(MAX_ROWS).min(MAX_ROWS - 1);
        if self.rows.len() <= index {
            let state = |row: &Row| Row { used: row.used, write_at: row.write_at, clean_at: row.clean_at, ..Row::default() };
            let before = self.rows.last().map(state).unwrap_or_default();
            self.rows.resize(index + 1, before);
        }
        &mut self.rows[index]
    }

    /// Check the bookkeeping: ranges are separate, within their zones, and add up.
    #[cfg(test)]
    pub(super) fn verify(&self) {
        let mut cached = vec![0; self.states.len()];
        for (number, zone) in self.states.iter().enumerate() {
            for (from, until) in &zone.ranges {
                assert!(from < until && self.zone_of(*from) == number && *until <= self.end_of(number), "{from} to {until}");
                cached[number] += until - from;
            }
            assert!(zone.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", zone.ranges);
        }
        assert_eq!(cached, self.states.iter().map(|zone| zone.cached).collect::<Vec<_>>());
        assert_eq!(self.states.iter().map(|zone| zone.ranges.len()).sum::<usize>(), self.ranges);
        assert_eq!(cached.iter().sum::<u64>(), self.used);
        assert_eq!(self.order.len(), cached.iter().filter(|cached| **cached > 0).count());
        assert!(self.ranges <= self.most_ranges.max(1));
        let noted = self.rows.last().map_or(0, |row| row.used);
        assert_eq!(noted, self.used);
        assert_eq!(self.pictures.last(), Some(&self.parts));
    }

    /// Intervals, from the start of the run.
    pub fn rows(&self) -> impl Iterator<Item = (u64, Row)> {
        (0..).zip(&self.rows).map(|(row, of)| (row * self.interval_ns, *of))
    }

    /// Bytes in the cache by parts of the addresses, at the end of each interval.
    pub fn pictures(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let times = (0..).zip(&self.pictures).map(|(row, of)| (row * self.interval_ns, of));
        times.flat_map(|(time_ns, of)| (0..).zip(of).map(move |(part, bytes)| (time_ns, part, *bytes)))
    }

    /// Reports the drive of a run.
    pub fn metrics(&self, metrics: &mut Metrics) {
        let Row { cached, direct, cleaning_ns, cleans, .. } = self.totals;
        metrics.gb("shingled_used_gb", "Data in the conventional cache after the last request.", self.used);
        metrics.gb("shingled_cached_gb", "Data written to the conventional cache.", cached);
        metrics.gb("shingled_direct_gb", "Data written directly to shingled zones, as a stream.", direct);
        metrics.count("shingled_cleans", "Shingled zones that were cleaned.", cleans);
        metrics.mean(
            "shingled_cleans_per_zone",
            "Number of cleanings per zone, averaged over all zones.",
            cleans,
            self.states.len() as u64,
        );
        metrics.hours("shingled_cleaning_h", "Time spent cleaning zones.", cleaning_ns);
        let gained = each(to_f64(self.gained), to_f64(cleans)) / 1e6;
        metrics.add("shingled_gain_mb", "Mean cached data of a zone when it was cleaned.", Unit::Mb, gained);
        let host = to_f64(cached + direct);
        let help = "Bytes that the drive read and wrote per byte written by the host.";
        metrics.add("shingled_amplification", help, Unit::Times, each(host + to_f64(self.moved), host));
    }
}
