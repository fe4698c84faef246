//! The drive's write cache: extents that were acknowledged and are not on the media.
//!
//! Modelled: writes that touch or overlap become one extent, and what is written again is written to the media once. The arm
//! takes extents out ([`WriteCache::next`]) in pieces of at most [`PIECE_BLOCKS`]: first the continuation of the one it has just
//! written, until another is older than [`OLD_NS`] and the visit has grown long; else the one that the drive's order prefers, and
//! before all one that was passed over for [`FORGOTTEN_NS`]. Extents may fill half of the drive's buffer; the other half is left to read-ahead.
//! There are at most as many as the drive's firmware sorts (`destage_pool`).
//!
//! When (see [`Urgency`]): once the host has not needed the arm for [`IDLE_NS`]; in turns with the host's requests when half of
//! the room or of the extents is used, or an extent is old; before all else when a FLUSH waits.
//!
//! Sources: that drives collect writes, reorder and coalesce them, and destage when idle is common to the vendors' product
//! manuals (for example Seagate's "Write Cache Enable" and IBM's Ultrastar specifications); they do not give their constants.
//! All of these are assumed. With [`MAX_EXTENTS`] a drive of 7200 rpm with 1 ms of write settling makes some 320 random writes of 4 KiB a
//! second over its whole stroke; Seagate's Exos X16 data sheet states 440 for its faster arm.
//! Left out: read-ahead and writes that compete for the buffer, and the time that merging takes.

use seeklab_spec::QueuePolicy;

use super::Hdd;
use super::estimate::{Asked, Target};
use super::outwards::outwards;
use crate::layers::device::hdd::Op;

/// Most extents where the drive's description does not say.
const MAX_EXTENTS: usize = 512;
/// Most blocks that the arm writes before it looks again at what waits: 1 MiB.
const PIECE_BLOCKS: u64 = 2048;
/// Blocks written in one place after which an old extent elsewhere has its turn: 16 MiB.
const VISIT_BLOCKS: u64 = 32_768;
/// Age from which an extent counts as old.
const OLD_NS: u64 = 1_000_000_000;
/// Age from which an extent goes first whatever the order.
const FORGOTTEN_NS: u64 = 30_000_000_000;
/// Time without a request for the arm after which the drive is idle.
pub const IDLE_NS: u64 = 10_000_000;

/// Acknowledged blocks that follow each other.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u64,
    /// One past the last block.
    end: u64,
    /// When the first of them was written, and the number of that write.
    since_ns: u64,
    oldest: u64,
    target: Target,
}

/// Blocks in flight to the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First block.
    pub start: u64,
    /// One past the last block.
    pub end: u64,
    /// Number of its oldest write.
    oldest: u64,
}

impl Piece {
    /// Its length.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.end - self.start
    }
}

/// How much the cache needs the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// It is empty.
    None,
    /// When the drive is idle.
    WhenIdle,
    /// In turns with requests.
    Shared,
    /// Before everything else.
    First,
}

/// The extents of a drive.
#[derive(Clone, Debug)]
pub struct WriteCache {
    extents: Vec<Extent>,
    room_blocks: u64,
    /// Most extents.
    pool: usize,
    /// In extents, and promised to writes whose data are on the bus.
    dirty_blocks: u64,
    promised_blocks: u64,
    promised: usize,
    /// Writes so far.
    writes: u64,
    policy: QueuePolicy,
    /// Piece that the arm is writing.
    in_flight: Option<Piece>,
    /// Where the last piece ended, and how much was written up to there without a gap.
    last_end: u64,
    visit_blocks: u64,
}

impl WriteCache {
    /// An empty cache for so many blocks, in so many extents, that is destaged in this order.
    #[must_use]
    pub fn new(room_blocks: u64, pool: Option<u32>, policy: QueuePolicy) -> Self {
        Self {
            extents: Vec::new(),
            room_blocks,
            pool: pool.map_or(MAX_EXTENTS, |pool| pool as usize),
            dirty_blocks: 0,
            promised_blocks: 0,
            promised: 0,
            writes: 0,
            policy,
            in_flight: None,
            last_end: u64::MAX,
            visit_blocks: 0,
        }
    }

    /// Whether a write of so many blocks can ever be taken.
    #[must_use]
    pub fn fits(&self, blocks: u64) -> bool {
        blocks <= self.room_blocks
    }

    /// Promises room for a write, if there is some. A write that joins an extent needs no other.
    pub fn promise(&mut self, start: u64, end: u64) -> bool {
        let blocks = end - start;
        let in_flight = self.in_flight.map_or(0, |piece| piece.blocks());
        let has_room = self.dirty_blocks + self.promised_blocks + in_flight + blocks <= self.room_blocks;
        if !has_room || self.extents.len() + self.promised >= self.pool && !self.joins(start, end) {
            return false;
        }
        self.promised_blocks += blocks;
        self.promised += 1;
        true
    }

    /// Whether a write touches or overlaps an extent.
    fn joins(&self, start: u64, end: u64) -> bool {
        let next = self.extents.partition_point(|extent| extent.end < start);
        self.extents.get(next).is_some_and(|extent| extent.start <= end)
    }

    /// The data of a promised write are in the cache. Returns the number of the write and how many blocks are dirty that were not.
    pub fn add(&mut self, hdd: &Hdd, now_ns: u64, start: u64, end: u64) -> (u64, u64) {
        self.promised_blocks -= end - start;
        self.promised -= 1;
        self.writes += 1;
        let mut whole = Extent { start, end, since_ns: now_ns, oldest: self.writes, target: Target::default() };
        let from = self.extents.partition_point(|extent| extent.end < start);
        let to = self.extents.partition_point(|extent| extent.start <= end);
        let mut were = 0;
        for extent in &self.extents[from..to] {
            were += extent.end - extent.start;
            whole.start = whole.start.min(extent.start);
            whole.end = whole.end.max(extent.end);
            whole.since_ns = whole.since_ns.min(extent.since_ns);
            whole.oldest = whole.oldest.min(extent.oldest);
        }
        whole.target = hdd.target(whole.start);
        if from == to {
            self.extents.insert(from, whole);
        } else {
            self.extents[from] = whole;
            self.extents.drain(from + 1..to);
        }
        let more = whole.end - whole.start - were;
        self.dirty_blocks += more;
        (self.writes, more)
    }

    /// Forgets blocks that are written to the media by another way. Returns how many were dirty.
    pub fn remove(&mut self, hdd: &Hdd, start: u64, end: u64) -> u64 {
        let from = self.extents.partition_point(|extent| extent.end <= start);
        let to = self.extents.partition_point(|extent| extent.start < end);
        let mut gone = 0;
        let mut rest = [None; 2];
        for extent in &self.extents[from..to] {
            gone += extent.end.min(end) - extent.start.max(start);
            if extent.start < start {
                rest[0] = Some(Extent { end: start, ..*extent });
            }
            if extent.end > end {
                rest[1] = Some(Extent { start: end, target: hdd.target(end), ..*extent });
            }
        }
        self.extents.splice(from..to, rest.into_iter().flatten());
        self.dirty_blocks -= gone;
        gone
    }

    /// Whether all of these blocks are in one extent.
    #[must_use]
    pub fn holds(&self, start: u64, end: u64) -> bool {
        let place = self.extents.partition_point(|extent| extent.end < end);
        self.extents.get(place).is_some_and(|extent| extent.start <= start)
    }

    /// Number of the latest write.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Whether every write up to this number is on the media.
    #[must_use]
    pub fn is_clean_up_to(&self, write: u64) -> bool {
        self.in_flight.is_none_or(|piece| piece.oldest > write) && self.extents.iter().all(|extent| extent.oldest > write)
    }

    /// How much the arm is needed at `now_ns`; `is_flushing` says whether a FLUSH waits.
    #[must_use]
    pub fn urgency(&self, now_ns: u64, is_flushing: bool) -> Urgency {
        if self.extents.is_empty() {
            Urgency::None
        } else if is_flushing {
            Urgency::First
        } else if self.dirty_blocks * 2 >= self.room_blocks
            || self.extents.len() * 2 >= self.pool
            || self.older_than(now_ns, OLD_NS).is_some()
        {
            Urgency::Shared
        } else {
            Urgency::WhenIdle
        }
    }

    /// The oldest extent, if it is older than that.
    fn older_than(&self, now_ns: u64, age_ns: u64) -> Option<usize> {
        let (index, extent) = self.extents.iter().enumerate().min_by_key(|(_, extent)| (extent.since_ns, extent.start))?;
        (now_ns.saturating_sub(extent.since_ns) > age_ns).then_some(index)
    }

    /// Takes out what the arm writes next.
    pub fn next(&mut self, hdd: &Hdd, now_ns: u64) -> Option<Piece> {
        let goes_on = self.extents.partition_point(|extent| extent.end <= self.last_end);
        let goes_on = self.extents.get(goes_on).is_some_and(|extent| extent.start <= self.last_end).then_some(goes_on);
        let old = self.older_than(now_ns, OLD_NS);
        let index = match (goes_on, old) {
            _ if let Some(index) = self.older_than(now_ns, FORGOTTEN_NS) => index,
            (Some(_), Some(index)) if self.visit_blocks >= VISIT_BLOCKS => index,
            (Some(index), _) => index,
            (None, _) => self.preferred(hdd, now_ns)?,
        };
        let extent = &mut self.extents[index];
        let start = if goes_on == Some(index) { self.last_end } else { extent.start };
        let end = extent.end.min(start + PIECE_BLOCKS);
        let piece = Piece { start, end, oldest: extent.oldest };
        let is_next = start == self.last_end;
        self.remove(hdd, start, end);
        (self.last_end, self.visit_blocks) = (end, if is_next { self.visit_blocks + piece.blocks() } else { piece.blocks() });
        self.in_flight = Some(piece);
        Some(piece)
    }

    /// The extent that the drive's order prefers.
    fn preferred(&self, hdd: &Hdd, now_ns: u64) -> Option<usize> {
        match self.policy {
            QueuePolicy::Fcfs => self.extents.iter().enumerate().min_by_key(|(_, extent)| extent.oldest).map(|(index, _)| index),
            QueuePolicy::Satf => self.soonest(hdd, now_ns),
            QueuePolicy::Sstf => {
                let here = hdd.arm_now(now_ns).position.cylinder;
                let distance = |extent: &Extent| extent.target.cylinder.abs_diff(here);
                self.extents.iter().enumerate().min_by_key(|(_, extent)| distance(extent)).map(|(index, _)| index)
            }
            // An elevator goes up from where the arm is; a drive that turns round at the end does the same with its writes.
            QueuePolicy::Scan | QueuePolicy::CLook => {
                let above = self.extents.partition_point(|extent| extent.start < self.last_end);
                (!self.extents.is_empty()).then_some(if above < self.extents.len() { above } else { 0 })
            }
        }
    }

    /// The extent that is reached first: from the arm's place outwards, until the move alone takes longer.
    fn soonest(&self, hdd: &Hdd, now_ns: u64) -> Option<usize> {
        let arm = hdd.arm_now(now_ns);
        let mut best: Option<(f64, usize)> = None;
        for (index, distance) in outwards(&self.extents, arm.position.cylinder, |extent| extent.target.cylinder) {
            let extent = &self.extents[index];
            let most = best.map_or(f64::INFINITY, |(ns, _)| ns);
            let asked = Asked { op: Op::Write, lbn: extent.start, ready_ns: Some(now_ns), may_be_held: false };
            match hdd.positioning_to(&arm, asked, &extent.target, most) {
                Some(ns) if ns < most => best = Some((ns, index)),
                // What lies farther is reached later: no move over as much or more is quicker.
                None if hdd.moves_take_longer(distance, most) => break,
                _ => {}
            }
        }
        best.map(|(_, index)| index)
    }

    /// Whether the arm is writing a piece.
    #[must_use]
    pub fn is_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Mark the piece that the arm was writing as durable, and return it.
    pub fn written(&mut self) -> Option<Piece> {
        self.in_flight.take()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::small_hdd;
    use super::*;

    fn cache(writes: &[(u64, u64)]) -> (Hdd, WriteCache) {
        let hdd = small_hdd(&[]);
        let mut cache = WriteCache::new(1000, None, QueuePolicy::Satf);
        for (start, end) in writes {
            assert!(cache.promise(*start, *end));
            cache.add(&hdd, 0, *start, *end);
        }
        (hdd, cache)
    }

    fn ranges(cache: &WriteCache) -> Vec<(u64, u64)> {
        cache.extents.iter().map(|extent| (extent.start, extent.end)).collect()
    }

    #[test]
    fn writes_that_touch_become_one_extent_and_repeated_blocks_count_once() {
        let (hdd, mut cache) = cache(&[(10, 20), (40, 50), (20, 30), (12, 18)]);
        assert_eq!(ranges(&cache), [(10, 30), (40, 50)]);
        assert_eq!(cache.dirty_blocks, 30);
        assert!(cache.promise(15, 55));
        assert_eq!(cache.add(&hdd, 0, 15, 55), (5, 15));
        assert_eq!(ranges(&cache), [(10, 55)]);
    }

    #[test]
    fn a_write_around_the_cache_leaves_what_it_did_not_touch() {
        let (hdd, mut cache) = cache(&[(10, 50), (60, 70)]);
        assert_eq!(cache.remove(&hdd, 20, 65), 35);
        assert_eq!(ranges(&cache), [(10, 20), (65, 70)]);
        assert!(cache.holds(12, 20) && !cache.holds(12, 21) && !cache.holds(64, 66));
    }

    #[test]
    fn there_is_room_for_so_many_blocks_and_what_is_being_written_takes_room_too() {
        let (hdd, mut cache) = cache(&[(0, 900)]);
        assert!(!cache.promise(2000, 2101) && cache.promise(2000, 2100));
        cache.add(&hdd, 0, 2000, 2100);
        let piece = cache.next(&hdd, 0).expect("two extents");
        assert!(!cache.promise(0, 1));
        assert_eq!(cache.written(), Some(piece));
        assert!(cache.promise(5000, 5000 + piece.blocks()));
    }

    #[test]
    fn a_full_pool_takes_only_writes_that_join_it() {
        let hdd = small_hdd(&[]);
        let mut cache = WriteCache::new(1000, Some(2), QueuePolicy::Satf);
        for start in [100, 300] {
            assert!(cache.promise(start, start + 8));
            cache.add(&hdd, 0, start, start + 8);
        }
        assert!(!cache.promise(500, 508) && !cache.promise(109, 117));
        assert!(cache.promise(108, 116), "it continues the first");
        assert_eq!(cache.urgency(0, false), Urgency::Shared);
        cache.next(&hdd, 0).expect("two extents");
        assert!(!cache.promise(500, 508), "data on the bus have their place");
        cache.add(&hdd, 0, 108, 116);
    }

    #[test]
    fn what_goes_on_is_written_first_and_a_flush_is_over_when_all_before_it_is_written() {
        let (hdd, mut cache) = cache(&[(0, 10), (3000, 3010)]);
        let first = cache.next(&hdd, 0).expect("two extents");
        let end = first.end;
        assert!(cache.promise(end, end + 5));
        let (number, _) = cache.add(&hdd, 0, end, end + 5);
        cache.written();
        assert!(!cache.is_clean_up_to(2));
        assert_eq!(cache.next(&hdd, 0).map(|piece| (piece.start, piece.end)), Some((end, end + 5)));
        cache.written();
        assert!(cache.next(&hdd, 0).is_some());
        assert!(!cache.is_clean_up_to(2), "it is under way");
        cache.written();
        assert!(cache.is_clean_up_to(number));
        assert_eq!(cache.urgency(u64::MAX, true), Urgency::None);
    }

    #[test]
    fn it_is_written_when_idle_then_in_turns_and_at_once_for_a_flush() {
        let (_, cache) = cache(&[(0, 499)]);
        assert_eq!(cache.urgency(0, false), Urgency::WhenIdle);
        assert_eq!(cache.urgency(OLD_NS + 1, false), Urgency::Shared);
        assert_eq!(cache.urgency(0, true), Urgency::First);
        assert_eq!(self::cache(&[(0, 500)]).1.urgency(0, false), Urgency::Shared);
    }
}
