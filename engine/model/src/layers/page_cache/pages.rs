//! Dirty pages in runs, by place and by age, and those in flight to the devices.

use std::collections::{BTreeMap, VecDeque};

use crate::range::Range;

/// Neighbouring pages of a file that became dirty one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub end: u64,
    /// By which runs are put in order of their age; it stays the same until the run has been written.
    pub order: u64,
    pub file: u32,
    pub worker: u32,
    /// The transaction that their data belong to; 0 when to none.
    pub transaction: u32,
    /// Bytes that were acknowledged to writers who did not wait.
    pub held: u64,
    /// Whether metadata that point to them are durable although they are not.
    pub is_exposed: bool,
}

/// A run in flight to the devices.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    start: u64,
    end: u64,
    order: u64,
}

/// In place of an address: the run is no longer dirty.
const SENT: u64 = u64::MAX;

/// The common properties of a write's pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub file: u32,
    pub worker: u32,
    pub transaction: u32,
    pub is_held: bool,
}

/// All pages that are dirty or in flight. No page is both.
#[derive(Debug)]
pub(super) struct Pages {
    /// Longest run.
    chunk: u64,
    /// By first address.
    dirty: BTreeMap<u64, Run>,
    /// Their orders and first addresses, the oldest first. Those that were sent stay until all before them were, as [`SENT`].
    ages: VecDeque<(u64, u64)>,
    /// Pages being written, sorted by address, up to the depth.
    under_way: Vec<UnderWay>,
    next_order: u64,
    pub dirty_bytes: u64,
    pub under_way_bytes: u64,
}

impl Pages {
    pub fn new(chunk: u64) -> Self {
        Self {
            chunk,
            dirty: BTreeMap::new(),
            ages: VecDeque::new(),
            under_way: Vec::new(),
            next_order: 1,
            dirty_bytes: 0,
            under_way_bytes: 0,
        }
    }

    /// Bytes that are not on the devices yet.
    pub fn bytes(&self) -> u64 {
        self.dirty_bytes + self.under_way_bytes
    }

    pub fn memory_bytes(&self) -> u64 {
        // A node of a tree is about two thirds full.
        let run = (size_of::<u64>() + size_of::<Run>()) * 3 / 2;
        let age = size_of::<(u64, u64)>();
        (self.dirty.len() * run + self.ages.capacity() * age + self.under_way.capacity() * size_of::<UnderWay>()) as u64
    }

    /// The end of a stretch from `at` on that is dirty or in progress; `at` when it is neither.
    fn held_until(&self, at: u64) -> u64 {
        let dirty = self.dirty.range(..=at).next_back().map_or(0, |(_, run)| run.end);
        let before = self.under_way.partition_point(|way| way.start <= at);
        let under_way = before.checked_sub(1).map_or(0, |last| self.under_way[last].end);
        dirty.max(under_way).max(at)
    }

    /// Whether memory holds all pages of a range because they are not on the devices yet.
    pub fn hold_all(&self, range: Range) -> bool {
        let mut at = range.start;
        while at < range.end {
            let until = self.held_until(at);
            if until == at {
                return false;
            }
            at = until;
        }
        true
    }

    /// The order of pages of a range that are in flight, if some are.
    pub fn under_way_in(&self, range: Range) -> Option<u64> {
        let last = self.under_way.partition_point(|way| way.start < range.end).checked_sub(1)?;
        let UnderWay { end, order, .. } = self.under_way[last];
        (end > range.start).then_some(order)
    }

    /// The orders of all runs that reach into a range: dirty ones, and those in flight.
    pub fn orders_in(&self, range: Range) -> (Vec<u64>, Vec<u64>) {
        let reaches = |end: u64| end > range.start;
        let first = self.dirty.range(..=range.start).next_back().map_or(range.start, |(start, _)| *start);
        let dirty = self.dirty.range(first..range.end).filter(|(_, run)| reaches(run.end)).map(|(_, run)| run.order).collect();
        let ways = self.under_way.iter().filter(|way| way.start < range.end && reaches(way.end)).map(|way| way.order);
        (dirty, ways.collect())
    }

    /// Makes the pages of a range dirty, none of which is in flight. Returns the bytes that were not dirty before, and the orders of
    /// the runs that are new.
    pub fn dirty(&mut self, range: Range, owner: Owner) -> (u64, Vec<u64>) {
        let (mut added, mut orders) = (0, Vec::new());
        let mut at = range.start;
        while at < range.end {
            let dirty_until = self.dirty.range(..=at).next_back().map_or(at, |(_, run)| run.end.max(at));
            if dirty_until > at {
                at = dirty_until;
                continue;
            }
            let next = self.dirty.range(at..range.end).next().map_or(range.end, |(start, _)| *start);
            let end = next.min(at + self.chunk);
            added += end - at;
            orders.extend(self.add(Range { start: at, end }, owner));
            at = end;
        }
        self.dirty_bytes += added;
        (added, orders)
    }

    /// Adds clean pages to the run before them, or as a new one, whose order is returned.
    fn add(&mut self, range: Range, owner: Owner) -> Option<u64> {
        let bytes = range.end - range.start;
        let held = if owner.is_held { bytes } else { 0 };
        if let Some((start, run)) = self.dirty.range_mut(..range.start).next_back()
            && run.end == range.start
            && (run.file, run.transaction, run.is_exposed) == (owner.file, owner.transaction, false)
            && range.end - start <= self.chunk
        {
            run.end = range.end;
            run.held += held;
            return None;
        }
        let order = self.next_order;
        self.next_order += 1;
        let Owner { file, worker, transaction, .. } = owner;
        self.dirty.insert(range.start, Run { end: range.end, order, file, worker, transaction, held, is_exposed: false });
        self.ages.push_back((order, range.start));
        Some(order)
    }

    /// The oldest dirty run.
    pub fn oldest(&self) -> Option<u64> {
        self.ages.front().map(|(order, _)| *order)
    }

    /// Writes back a run, if it is still dirty.
    pub fn send(&mut self, order: u64) -> Option<(u64, Run)> {
        let place = self.ages.binary_search_by_key(&order, |(order, _)| *order).ok()?;
        let start = std::mem::replace(&mut self.ages[place].1, SENT);
        while self.ages.pop_front_if(|(_, start)| *start == SENT).is_some() {}
        let run = self.dirty.remove(&start)?;
        let after = self.under_way.partition_point(|way| way.start < start);
        self.under_way.insert(after, UnderWay { start, end: run.end, order });
        self.dirty_bytes -= run.end - start;
        self.under_way_bytes += run.end - start;
        Some((start, run))
    }

    /// A run that was in flight is on the devices.
    pub fn arrived(&mut self, start: u64) {
        if let Ok(place) = self.under_way.binary_search_by_key(&start, |way| way.start) {
            self.under_way_bytes -= self.under_way.remove(place).end - start;
        }
    }

    /// Marks the dirty runs of a transaction as exposed; returns their bytes.
    pub fn expose(&mut self, transaction: u32) -> u64 {
        let mut bytes = 0;
        for (start, run) in self.dirty.iter_mut().filter(|(_, run)| run.transaction == transaction && !run.is_exposed) {
            run.is_exposed = true;
            bytes += run.end - start;
        }
        bytes
    }
}
