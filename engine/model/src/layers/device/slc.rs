//! An SLC cache as a whole: how many bytes lie in cells that hold one bit, how many at full density, and which of them came first.
//!
//! ```text
//! GB |            limit: static + what is lent; it falls as full density fills
//!    |------------,___________
//!    |          /|  \         '---    in the cache: it fills at the rate of one bit a cell,
//!    |        /  |    \               waits for `fold_after` without writes, and is folded
//!    |______/____|______\_________
//!     write      direct   idle
//! ```
//!
//! - A write lands in the cache while that is below its limit, and takes the unit's rate; the rest of it goes to full density at
//!   `direct_rate`. The limit is `fixed`, and of the cells an empty drive lends, at one bit each, what is left when the share that
//!   is full goes to `zero_at`.
//! - After `fold_after` without a write the oldest data move to full density at `fold_rate`, until a write comes. Only then do they
//!   fill the drive; what is in the cache does not.
//! - An overwrite or a TRIM gives up the old copy, wherever it lies. At full density that makes room at once. In the cache the cells
//!   stay taken until they are erased, which an idle drive does before it folds, in no time here.
//!
//! First in, first out, so a write's time follows when it comes, and needs no event. Drives with flash translation have a cache by
//! pages and dies (`ssd/slc.rs`); this one carries a terabyte in a few ranges, for hours.
//!
//! Sources: reviews and reports of the Intel 660p, 665p and 670p (static part, what is lent at which fill, both rates). Assumed: the
//! limit falls linearly, and the rate of folding is that of direct writes. Left out: collection and wear of full density, reads that
//! folding delays, heat.

use std::collections::{BTreeMap, VecDeque};

use super::transfer_ns;
use crate::result::metrics::Metrics;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::{Lun, Op, Slc, to_f64};

/// Most intervals that are kept.
const MAX_ROWS: usize = 1 << 20;
/// A second in steps: a rate is that of the last ten.
const STEPS: usize = 10;
const STEP_NS: u64 = NS_PER_S / STEPS as u64;

/// The activity in one interval, and the cache at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Bytes written into the cache.
    pub cached: u64,
    /// Bytes written to full density.
    pub direct: u64,
    /// Bytes folded.
    pub folded: u64,
    /// Bytes that take up cells of the cache, given up or not.
    pub used: u64,
    /// Bytes that it may hold.
    pub limit: u64,
    /// Bytes at full density.
    pub full: u64,
}

/// Where a range of addresses lies: in the cache since a run of writes, or at full density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Cache(u64),
    Full,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    place: Place,
}

/// A drive's SLC cache, and what became of what was written.
#[derive(Debug)]
pub struct Cache {
    rate: u64,
    direct_rate: u64,
    fold_rate: u64,
    fold_after_ns: u64,
    fixed: u64,
    /// Bytes that an empty drive lends.
    lent: u64,
    /// Bytes at full density at which nothing is lent.
    zero_at: u64,
    /// Bytes in the cache, bytes that were given up there and not erased, and bytes at full density.
    used: u64,
    stale: u64,
    full: u64,
    /// Pieces with data, by first address.
    pieces: BTreeMap<u64, Piece>,
    /// Runs of writes in the cache, the oldest first: number, first address and end.
    order: VecDeque<(u64, u64, u64)>,
    next_run: u64,
    /// When the last write will have ended.
    written_ns: u64,
    /// Up to when folding is counted.
    at_ns: u64,
    /// When the cache began to fill, and the longest time from there until it was empty again.
    began_ns: Option<u64>,
    longest_cycle_ns: u64,
    totals: Row,
    /// Bytes written into the cache since anything was folded, up to the first direct write.
    refilled: u64,
    is_refilling: bool,
    speed: Speed,
    interval_ns: u64,
    rows: Vec<Row>,
}

/// The rate over the last second, in which the drive was busy with writes throughout.
#[derive(Debug, Default)]
struct Speed {
    /// Bytes and busy time of the last steps, and the number of the last one.
    steps: VecDeque<(u64, u64)>,
    last: u64,
    written: u64,
    best: u64,
    is_slow: bool,
    cliffs: u64,
    first_cliff: Option<u64>,
}

impl Speed {
    /// Counts `bytes` that were written evenly from `from_ns` to `to_ns`.
    fn note(&mut self, mut from_ns: u64, to_ns: u64, mut bytes: u64) {
        while from_ns < to_ns {
            let step = from_ns / STEP_NS;
            if self.steps.is_empty() || self.last + (STEPS as u64) < step {
                self.close();
                self.steps.clear();
                self.steps.push_back((0, 0));
                self.last = step;
            }
            while self.last < step {
                self.close();
                self.last += 1;
                self.steps.push_back((0, 0));
                if self.steps.len() > STEPS {
                    self.steps.pop_front();
                }
            }
            let end_ns = ((step + 1) * STEP_NS).min(to_ns);
            let part = share(bytes, end_ns - from_ns, to_ns - from_ns);
            if let Some((sum, busy_ns)) = self.steps.back_mut() {
                *sum += part;
                *busy_ns += end_ns - from_ns;
            }
            self.written += part;
            bytes -= part;
            from_ns = end_ns;
        }
    }

    /// A step is over: the second that ends with it is judged.
    fn close(&mut self) {
        let (bytes, busy_ns) = self.steps.iter().fold((0, 0), |(bytes, busy_ns), step| (bytes + step.0, busy_ns + step.1));
        if self.steps.len() < STEPS || busy_ns < NS_PER_S - STEP_NS / 2 {
            return;
        }
        self.best = self.best.max(bytes);
        let is_slow = bytes < self.best / 2;
        if is_slow && !self.is_slow {
            self.cliffs += 1;
            self.first_cliff.get_or_insert(self.written);
        }
        self.is_slow = is_slow;
    }
}

/// `part / whole` of `amount`.
fn share(amount: u64, part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(amount) * u128::from(part) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

impl Cache {
    /// The cache of a unit, which keeps a row for each interval.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // sizes below 2^53, not negative
    pub fn new(spec: &Slc, unit: &Lun, interval_ns: u64) -> Self {
        let capacity = unit.capacity.0;
        let of = |amount: u64, share: f64| libm::round(to_f64(amount) * share) as u64;
        let full = of(capacity, spec.full);
        let mut pieces = BTreeMap::new();
        if full > 0 {
            pieces.insert(capacity - full, Piece { end: capacity, place: Place::Full });
        }
        Self {
            rate: unit.rate.0,
            direct_rate: spec.direct_rate.0,
            fold_rate: spec.fold_rate.0,
            fold_after_ns: spec.fold_after.0,
            fixed: spec.fixed.0,
            lent: of(capacity, spec.lend) / u64::from(spec.bits),
            zero_at: of(capacity, spec.zero_at).max(1),
            used: 0,
            stale: 0,
            full,
            pieces,
            order: VecDeque::new(),
            next_run: 0,
            written_ns: 0,
            at_ns: 0,
            began_ns: None,
            longest_cycle_ns: 0,
            totals: Row::default(),
            refilled: 0,
            is_refilling: true,
            speed: Speed::default(),
            interval_ns: interval_ns.max(1),
            rows: Vec::new(),
        }
    }

    /// The most bytes that the cache may hold now.
    fn limit(&self) -> u64 {
        self.fixed + share(self.lent, self.zero_at.saturating_sub(self.full), self.zero_at)
    }

    /// The time that a request of `bytes` at `offset` takes which begins at `now_ns`, after those that came before.
    pub fn work_ns(&mut self, now_ns: u64, op: Op, offset: u64, bytes: u64) -> u64 {
        if bytes == 0 || op == Op::Read {
            return transfer_ns(bytes, self.rate);
        }
        self.fold_until(now_ns);
        self.give_up(offset, offset + bytes);
        if op == Op::Trim {
            self.note(now_ns);
            return 0;
        }
        let fast = bytes.min(self.limit().saturating_sub(self.used + self.stale));
        if fast > 0 && self.used + self.stale == 0 {
            self.began_ns = Some(now_ns);
        }
        self.used += fast;
        self.full += bytes - fast;
        self.put(offset, offset + fast, true);
        self.put(offset + fast, offset + bytes, false);
        let cached_ns = now_ns + transfer_ns(fast, self.rate);
        let done_ns = cached_ns + transfer_ns(bytes - fast, self.direct_rate);
        self.refilled += if self.is_refilling { fast } else { 0 };
        self.is_refilling &= fast == bytes;
        self.totals.cached += fast;
        self.totals.direct += bytes - fast;
        self.speed.note(now_ns, cached_ns, fast);
        self.speed.note(cached_ns, done_ns, bytes - fast);
        self.spread(now_ns, cached_ns, fast, |row| &mut row.cached);
        self.spread(cached_ns, done_ns, bytes - fast, |row| &mut row.direct);
        self.note(done_ns);
        self.written_ns = done_ns;
        self.at_ns = done_ns;
        done_ns - now_ns
    }

    /// Folds what an idle drive folds until `to_ns`.
    fn fold_until(&mut self, to_ns: u64) {
        let mut now_ns = self.at_ns.max(self.written_ns.saturating_add(self.fold_after_ns));
        if self.fold_rate > 0 && self.used + self.stale > 0 && now_ns < to_ns {
            self.note(now_ns);
            self.stale = 0;
            self.refilled = 0;
            self.is_refilling = true;
        }
        while self.fold_rate > 0 && self.used > 0 && now_ns < to_ns {
            let empty_ns = now_ns + transfer_ns(self.used, self.fold_rate);
            let end_ns = ((now_ns / self.interval_ns + 1) * self.interval_ns).min(to_ns).min(empty_ns);
            let bytes = if end_ns == empty_ns { self.used } else { share(self.fold_rate, end_ns - now_ns, NS_PER_S) };
            self.fold(bytes);
            self.totals.folded += bytes;
            self.row(now_ns).folded += bytes;
            if self.used == 0
                && let Some(began_ns) = self.began_ns.take()
            {
                self.longest_cycle_ns = self.longest_cycle_ns.max(end_ns - began_ns);
            }
            self.note(end_ns);
            now_ns = end_ns;
        }
        self.at_ns = self.at_ns.max(now_ns.min(to_ns));
        self.note(to_ns);
    }

    /// Moves `bytes` of the oldest data to full density.
    fn fold(&mut self, mut bytes: u64) {
        self.used -= bytes;
        self.full += bytes;
        while bytes > 0 {
            let Some((run, from, end)) = self.order.front().copied() else { return };
            let before = self.pieces.range(..=from).next_back().filter(|(_, piece)| piece.end > from).map(|(start, _)| *start);
            let found = self.pieces.range(before.unwrap_or(from)..end).find(|(_, piece)| piece.place == Place::Cache(run));
            let Some((start, piece)) = found.map(|(start, piece)| (*start, *piece)) else {
                self.order.pop_front();
                continue;
            };
            let until = piece.end.min(start + bytes);
            bytes -= until - start;
            self.pieces.remove(&start);
            if until < piece.end {
                self.pieces.insert(until, piece);
            }
            self.place(start, until, Place::Full);
            if let Some(front) = self.order.front_mut() {
                front.1 = until;
            }
        }
    }

    /// Gives up what lies from `from` to `end`.
    fn give_up(&mut self, from: u64, end: u64) {
        let first = self.pieces.range(..from).next_back().filter(|(_, piece)| piece.end > from).map(|(start, _)| *start);
        while let Some((start, piece)) = self.pieces.range(first.unwrap_or(from)..end).find(|(_, piece)| piece.end > from) {
            let (start, piece) = (*start, *piece);
            self.pieces.remove(&start);
            if start < from {
                self.pieces.insert(start, Piece { end: from, ..piece });
            }
            if piece.end > end {
                self.pieces.insert(end, piece);
            }
            let gone = piece.end.min(end) - start.max(from);
            match piece.place {
                Place::Cache(_) => {
                    self.used -= gone;
                    self.stale += gone;
                }
                Place::Full => self.full -= gone,
            }
        }
    }

    /// Notes that `from` to `end`, which held nothing, was written.
    fn put(&mut self, from: u64, end: u64, is_cached: bool) {
        if from == end {
            return;
        }
        if !is_cached {
            return self.place(from, end, Place::Full);
        }
        match self.order.back_mut() {
            Some((_, _, last)) if *last == from => *last = end,
            _ => {
                self.order.push_back((self.next_run, from, end));
                self.next_run += 1;
            }
        }
        self.place(from, end, Place::Cache(self.next_run - 1));
    }

    /// Adds a range, which joins the one before it where that lies in the same place.
    fn place(&mut self, from: u64, end: u64, place: Place) {
        if let Some((_, before)) = self.pieces.range_mut(..from).next_back()
            && before.end == from
            && before.place == place
        {
            before.end = end;
            return;
        }
        self.pieces.insert(from, Piece { end, place });
    }

    /// Notes the cache as it is at `now_ns`, at the end of the interval that ends there or holds it.
    fn note(&mut self, now_ns: u64) {
        let (used, limit, full) = (self.used + self.stale, self.limit(), self.full);
        let row = self.row(now_ns.saturating_sub(1));
        (row.used, row.limit, row.full) = (used, limit, full);
    }

    fn row(&mut self, at_ns: u64) -> &mut Row {
        let index = usize::try_from(at_ns / self.interval_ns).unwrap_or(MAX_ROWS).min(MAX_ROWS);
        if self.rows.len() <= index {
            let state = |row: &Row| Row { used: row.used, limit: row.limit, full: row.full, ..Row::default() };
            let before = self.rows.last().map_or(Row { limit: self.limit(), full: self.full, ..Row::default() }, state);
            self.rows.resize(index + 1, before);
        }
        &mut self.rows[index]
    }

    fn spread(&mut self, mut from_ns: u64, to_ns: u64, mut bytes: u64, of: impl Fn(&mut Row) -> &mut u64) {
        while from_ns < to_ns {
            let end_ns = ((from_ns / self.interval_ns + 1) * self.interval_ns).min(to_ns);
            let part = share(bytes, end_ns - from_ns, to_ns - from_ns);
            *of(self.row(from_ns)) += part;
            bytes -= part;
            from_ns = end_ns;
        }
    }

    /// Intervals, from the start of the run.
    pub fn rows(&self) -> impl Iterator<Item = (u64, Row)> {
        (0..).zip(&self.rows).map(|(row, of)| (row * self.interval_ns, *of))
    }

    /// Reports the cache of a run.
    pub fn metrics(&self, metrics: &mut Metrics) {
        metrics.gb("slc_used_gb", "Data in the SLC cache after the last write.", self.used);
        metrics.gb("slc_limit_gb", "Maximum size of the SLC cache after the last write.", self.limit());
        metrics.gb("slc_full_gb", "Data at full density after the last write.", self.full);
        metrics.gb("slc_cached_gb", "Data written to the SLC cache.", self.totals.cached);
        metrics.gb("slc_direct_gb", "Data written at full density because the SLC cache was full.", self.totals.direct);
        metrics.gb("slc_folded_gb", "Data moved from the SLC cache to full density while the drive was idle.", self.totals.folded);
        metrics.gb("slc_refilled_gb", "Data written to the SLC cache since it was last folded.", self.refilled);
        let cliff = self.speed.first_cliff.unwrap_or(self.speed.written);
        metrics.gb("slc_cliff_gb", "Data written until the rate over a second fell below half of the best; all data if it did not.", cliff);
        metrics.count("slc_cliffs", "Number of times that the rate over a second fell below half of the best.", self.speed.cliffs);
        let help = "Maximum time from the first write into an empty SLC cache until folding emptied it; 0 if it never did.";
        metrics.seconds("slc_cycle_s", help, self.longest_cycle_ns);
    }
}
