//! The drive's own queue: which of the waiting requests goes next.
//!
//! Policies, from plain to clever: in order of arrival; shortest seek first; the elevator that turns round where no
//! request lies ahead (`scan`); the elevator that always goes up and then starts again at the lowest request (`c-look`); and
//! shortest access time first, which knows the platter's angle and weighs seek and rotation together. All but the first
//! reorder, and some can pass over a request for long; an age limit sends a request that has waited too long ahead of all.
//!
//! A drive may put some requests in order ahead of time ([`DriveQueue::planned`]): each time that the arm leaves for one, the drive chooses
//! the one that goes after the last of them, and nothing overtakes them. So few requests then go in order of arrival, and more are chosen
//! from those that are not in order yet. A Samsung SpinPoint F1 shows it: at depth 8 its slowest percent of reads take 1.2 times the
//! mean, while at depths 16 and 32 they take 2.8 and 3.6 times (louwrentius/fio-plot, benchmark_data, SATA_AHCI_SAMSUNGF1_1TB_7K2RPM).
//!
//! Streams that send one request at a time take turns under shortest access time first: of the requests that continue where the arm had just
//! been, the oldest goes first. The platter has passed their first sectors, so none has anything to gain from going early. Without turns
//! the stream that is behind always goes before the one ahead, until all of them wait for the same angle and the drive serves one
//! request a revolution; in order of arrival it serves up to two. Assumed: no description of such firmware was found.
//!
//! Equal candidates go in order of arrival. Requests that overlap are not kept in order; a host that needs it holds the
//! second back. Left out: grouping by command priority.

use seeklab_spec::QueuePolicy;

use std::collections::VecDeque;
use std::ops::Range;

use seeklab_kernel::Slab;

use super::estimate::{ArmNow, Asked, Target};
use super::max::FastMax as _;
use super::outwards::outwards;
use super::{Hdd, Op};

/// A request as it comes to the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Direction.
    pub op: Op,
    /// First block.
    pub lbn: u64,
    /// One past the last block.
    pub end: u64,
    /// When its command is worked off and its data, of a write, are arriving; `None` where the overhead begins when it is picked.
    pub ready_ns: Option<u64>,
    /// Whether it continues a stream that the arm has left.
    pub is_next: bool,
}

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub struct Entry<T> {
    /// Direction.
    pub op: Op,
    /// First block.
    pub lbn: u64,
    /// One past the last block.
    pub end: u64,
    ready_ns: Option<u64>,
    /// When it was put into the queue, in ns.
    pub arrival_ns: u64,
    /// Place in the order of arrival.
    pub sequence: u64,
    /// The caller's own mark.
    pub tag: T,
    target: Target,
    /// Whether it continues another request that waits, in the same direction.
    continues: bool,
    /// Whether it continues a stream that the arm has left.
    is_next: bool,
}

impl<T> Entry<T> {
    /// Whether it continues `other`.
    fn is_after(&self, other: &Self) -> bool {
        self.lbn == other.end && self.op == other.op
    }

    /// Lower goes first, whatever the policy but for the order of arrival.
    fn rank(&self, last: &Range<u64>) -> Rank {
        (last.contains(&self.lbn), self.continues)
    }

    /// Whether the turn is another stream's, whose next request has this place in the order of arrival.
    fn waits_for_turn(&self, turn: Option<u64>) -> bool {
        self.is_next && Some(self.sequence) != turn
    }
}

/// Whether a request begins where all others go before, and whether it continues one that waits.
type Rank = (bool, bool);

/// All ranks, in order.
const RANKS: [Rank; 4] = [(false, false), (false, true), (true, false), (true, true)];

/// Streams whose turn it is not, and the ranks, in the order of shortest access time.
fn turns_and_ranks() -> impl Iterator<Item = (bool, Rank)> {
    [false, true].into_iter().flat_map(|waits| RANKS.map(|rank| (waits, rank)))
}

/// Where a waiting request begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    lbn: u64,
    cylinder: u32,
    /// Its number among the entries.
    entry: u32,
}

/// Of the requests looked at so far, the one that is reached first; of two that are reached at once, the one that came first.
#[derive(Clone, Copy, Debug)]
struct Soonest {
    ns: f64,
    sequence: u64,
    entry: Option<u32>,
}

impl Soonest {
    const NONE: Self = Self { ns: f64::INFINITY, sequence: u64::MAX, entry: None };

    fn consider(&mut self, entry: u32, sequence: u64, ns: f64) {
        if ns < self.ns || (ns <= self.ns && sequence < self.sequence) {
            *self = Self { ns, sequence, entry: Some(entry) };
        }
    }

    /// Whether all moves over so many cylinders, and more, surely take longer. Sums of times are rounded, by far less than a nanosecond.
    fn is_nearer_than(&self, hdd: &Hdd, cylinders: u32) -> bool {
        hdd.moves_take_longer(cylinders, self.ns + 1.0)
    }
}

/// The request that the arm serves before the one to be chosen.
#[derive(Clone, Copy, Debug)]
struct Previous {
    lbn: u64,
    /// The place after its last block.
    end: Target,
}

/// Requests waiting in a drive. Nothing is allocated once the queue has been as deep as it gets.
///
/// A pick by the shortest access time goes from the arm outwards and ends where the move alone takes longer, so its cost hardly grows
/// with the queue. The buffer is asked only for requests whose first block it may have come to hold since (`Buffer::news`).
#[derive(Debug)]
pub struct DriveQueue<T: Copy> {
    policy: QueuePolicy,
    max_age_ns: Option<u64>,
    /// Requests that are not in order yet, and where they begin, from the lowest block to the highest: so by cylinder, too.
    entries: Slab<Entry<T>>,
    places: Vec<Place>,
    /// The reads among them whose first block the buffer may hold.
    near: Vec<u32>,
    /// Places in the order of arrival of those that continue a stream which the arm has left: the first has its turn.
    turns: VecDeque<u64>,
    /// News of the buffer so far.
    known_news: u64,
    /// Most blocks of a request so far.
    longest_blocks: u64,
    /// Requests that are in order, and how many may be.
    plan: VecDeque<Entry<T>>,
    planned: usize,
    /// No entry arrived before this: most picks need not look for the oldest.
    arrived_since_ns: u64,
    next_sequence: u64,
    upwards: bool,
    /// `c-look`: one past the first block of the last pick.
    sweep_lbn: u64,
}

impl<T: Copy> DriveQueue<T> {
    /// An empty queue. An entry older than `max_age_ns` goes first, whatever the policy.
    #[must_use]
    pub fn new(policy: QueuePolicy, max_age_ns: Option<u64>) -> Self {
        Self {
            policy,
            max_age_ns,
            entries: Slab::default(),
            places: Vec::new(),
            near: Vec::new(),
            turns: VecDeque::new(),
            known_news: 0,
            longest_blocks: 0,
            plan: VecDeque::new(),
            planned: 0,
            arrived_since_ns: 0,
            next_sequence: 0,
            upwards: true,
            sweep_lbn: 0,
        }
    }

    /// The same queue, with up to `planned` requests put in order ahead of time.
    #[must_use]
    pub fn planned(self, planned: u32) -> Self {
        Self { planned: planned as usize, plan: VecDeque::with_capacity(planned as usize), ..self }
    }

    /// Number of waiting requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.plan.len() + self.places.len()
    }

    /// Whether none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The waiting requests: those in order, then the others by their first blocks. Their places count through both.
    pub fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.plan.iter().chain(self.unplanned())
    }

    fn unplanned(&self) -> impl Iterator<Item = &Entry<T>> {
        self.places.iter().map(|place| &self.entries[place.entry])
    }

    /// The request at a place.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn at(&self, index: usize) -> &Entry<T> {
        self.plan.get(index).unwrap_or_else(|| &self.entries[self.places[index - self.plan.len()].entry])
    }

    /// Puts a request into the queue at `now_ns`. The drive is the one it will be served by.
    pub fn push(&mut self, hdd: &Hdd, now_ns: u64, arrival: Arrival, tag: T) {
        let Arrival { op, lbn, end, ready_ns, is_next } = arrival;
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        let mut new =
            Entry { op, lbn, end, ready_ns, arrival_ns: now_ns, sequence, tag, target: hdd.target(lbn), continues: false, is_next };
        if self.plan.len() < self.planned && self.places.is_empty() {
            return self.plan.push_back(new);
        }
        self.longest_blocks = self.longest_blocks.max(end - lbn);
        for place in places_from(&self.places, end).iter().take_while(|place| place.lbn == end) {
            let next = &mut self.entries[place.entry];
            next.continues |= next.is_after(&new);
        }
        new.continues = self.has_before(&new);
        let cylinder = new.target.cylinder;
        if is_next {
            self.turns.push_back(sequence);
        }
        let entry = self.entries.insert(new);
        let index = self.places.partition_point(|place| place.lbn <= lbn);
        self.places.insert(index, Place { lbn, cylinder, entry });
        if op == Op::Read && hdd.holds(lbn, lbn + 1) {
            self.near.push(entry);
        }
    }

    /// Whether a request waits that `entry` continues.
    fn has_before(&self, entry: &Entry<T>) -> bool {
        let before = places_from(&self.places, entry.lbn.saturating_sub(self.longest_blocks));
        before.iter().take_while(|place| place.lbn < entry.lbn).any(|place| entry.is_after(&self.entries[place.entry]))
    }

    /// The place of the request that goes next at `now_ns`; `None` when none waits. Requests that begin in `last` go after
    /// all others, and a request that continues one that waits goes after it; the order of arrival stays what it is.
    pub fn next(&mut self, hdd: &Hdd, now_ns: u64, last: &Range<u64>) -> Option<usize> {
        self.learn(hdd);
        if self.plan.is_empty() { self.choose(hdd, now_ns, last, None) } else { Some(0) }
    }

    /// Puts requests in order until as many are as may be. `taken` is where the arm is about to go.
    pub fn plan_ahead(&mut self, hdd: &Hdd, now_ns: u64, last: &Range<u64>, taken: &Entry<T>) {
        while self.plan.len() < self.planned {
            let from = self.plan.back().unwrap_or(taken);
            let from = Previous { lbn: from.lbn, end: hdd.target(from.end) };
            let Some(index) = self.choose(hdd, now_ns, last, Some(from)) else { return };
            let entry = self.remove(index);
            self.plan.push_back(entry);
        }
    }

    /// The index in `places` of the request that goes next at `now_ns`, or after another one.
    fn choose(&mut self, hdd: &Hdd, now_ns: u64, last: &Range<u64>, from: Option<Previous>) -> Option<usize> {
        if let Some(index) = self.overdue(now_ns) {
            return Some(index);
        }
        let here = || from.map_or_else(|| hdd.arm_now(now_ns).position.cylinder, |from| from.end.cylinder);
        match self.policy {
            QueuePolicy::Fcfs => self.least(|entry| entry.sequence),
            QueuePolicy::Sstf => {
                let here = here();
                self.least(|entry| (entry.rank(last), entry.target.cylinder.abs_diff(here), entry.sequence))
            }
            QueuePolicy::Scan => {
                let here = here();
                self.scan(here, last)
            }
            QueuePolicy::CLook => {
                let sweep = from.map_or(self.sweep_lbn, |from| from.lbn.saturating_add(1));
                self.least(|entry| (entry.rank(last), entry.lbn < sweep, entry.lbn, entry.sequence))
            }
            QueuePolicy::Satf => match from {
                None => self.soonest(hdd, now_ns, last),
                Some(from) => self.soonest_after(hdd, last, &from),
            },
        }
    }

    /// The end of the stream that waits from block `first` on: of requests that each begin before the end of those before them, and of
    /// the `blocks` from `first` on.
    #[must_use]
    pub fn stream_end(&self, first: u64, blocks: u64) -> u64 {
        let mut end = first.saturating_add(blocks);
        for place in places_from(&self.places, first) {
            if place.lbn > end {
                break;
            }
            end = end.max(self.entries[place.entry].end);
        }
        end
    }

    /// The place of the first read that the buffer holds, if there is one.
    #[must_use]
    pub fn held(&mut self, hdd: &Hdd) -> Option<usize> {
        self.learn(hdd);
        if self.near.is_empty() && self.plan.is_empty() {
            return None;
        }
        let held = |entry: &Entry<T>| entry.op == Op::Read && hdd.holds(entry.lbn, entry.end);
        let planned = self.plan.iter().enumerate().filter(|(_, entry)| held(entry)).map(|(index, entry)| (entry.sequence, index)).min();
        let near =
            self.near.iter().map(|number| (self.entries[*number].sequence, *number)).filter(|(_, number)| held(&self.entries[*number]));
        let near = near.min().map(|(sequence, number)| (sequence, self.plan.len() + self.place_of(number)));
        planned.into_iter().chain(near).min().map(|(_, index)| index)
    }

    /// Takes note of the requests whose first block the buffer has come to hold.
    fn learn(&mut self, hdd: &Hdd) {
        let news = hdd.news();
        if news.count() == self.known_news {
            return;
        }
        match news.since(self.known_news) {
            None => {
                self.near.clear();
                self.near.extend(self.places.iter().map(|place| place.entry));
            }
            Some(ranges) => {
                for range in ranges {
                    for place in places_from(&self.places, range.start).iter().take_while(|place| place.lbn < range.end) {
                        if !self.near.contains(&place.entry) {
                            self.near.push(place.entry);
                        }
                    }
                }
            }
        }
        self.known_news = news.count();
        self.near.retain(|entry| {
            let Entry { op, lbn, .. } = self.entries[*entry];
            op == Op::Read && hdd.holds(lbn, lbn + 1)
        });
    }

    /// The index in `places` of a request.
    fn place_of(&self, entry: u32) -> usize {
        let lbn = self.entries[entry].lbn;
        let first = self.places.partition_point(|place| place.lbn < lbn);
        first + self.places[first..].iter().take_while(|place| place.entry != entry).count()
    }

    /// Takes out the request at a place.
    pub fn take(&mut self, index: usize) -> Entry<T> {
        let entry = self.plan.remove(index).unwrap_or_else(|| self.remove(index - self.plan.len()));
        self.sweep_lbn = entry.lbn.saturating_add(1);
        entry
    }

    /// Takes a request out of those that are not in order yet.
    fn remove(&mut self, index: usize) -> Entry<T> {
        let number = self.places.remove(index).entry;
        let entry = self.entries[number];
        self.entries.release(number);
        self.near.retain(|near| *near != number);
        if entry.is_next {
            self.turns.retain(|turn| *turn != entry.sequence);
        }
        // Of two that end at the same block, each may be the one that was continued.
        let behind = self.places.partition_point(|place| place.lbn < entry.end);
        for index in behind..self.places.len() {
            let Place { lbn, entry: next, .. } = self.places[index];
            if lbn > entry.end {
                break;
            }
            if self.entries[next].is_after(&entry) {
                self.entries[next].continues = self.has_before(&self.entries[next]);
            }
        }
        entry
    }

    /// Takes out the request that goes next at `now_ns`; `None` when none waits.
    pub fn pick(&mut self, hdd: &Hdd, now_ns: u64) -> Option<Entry<T>> {
        let index = self.next(hdd, now_ns, &(0..0))?;
        let entry = self.take(index);
        self.plan_ahead(hdd, now_ns, &(0..0), &entry);
        Some(entry)
    }

    /// The oldest entry, if it has waited longer than the limit.
    fn overdue(&mut self, now_ns: u64) -> Option<usize> {
        let limit = self.max_age_ns?;
        if now_ns.saturating_sub(self.arrived_since_ns) <= limit {
            return None;
        }
        let oldest = self.least(|entry| entry.sequence)?;
        self.arrived_since_ns = self.entries[self.places[oldest].entry].arrival_ns;
        (now_ns.saturating_sub(self.arrived_since_ns) > limit).then_some(oldest)
    }

    /// The index in `places` of the request that is reached first.
    fn soonest(&self, hdd: &Hdd, now_ns: u64, last: &Range<u64>) -> Option<usize> {
        let arm = hdd.arm_now(now_ns);
        turns_and_ranks().find_map(|rank| self.soonest_of(hdd, &arm, last, rank))
    }

    /// The same among the requests of a rank.
    fn soonest_of(&self, hdd: &Hdd, arm: &ArmNow, last: &Range<u64>, rank: (bool, Rank)) -> Option<usize> {
        let mut soonest = Soonest::NONE;
        let turn = self.turns.front().copied();
        let consider = |soonest: &mut Soonest, number: u32, may_be_held: bool| {
            let entry = &self.entries[number];
            let asked = Asked { op: entry.op, lbn: entry.lbn, ready_ns: entry.ready_ns, may_be_held };
            if (entry.waits_for_turn(turn), entry.rank(last)) == rank
                && let Some(ns) = hdd.positioning_to(arm, asked, &entry.target, soonest.ns)
            {
                soonest.consider(number, entry.sequence, ns.fast_max(0.0));
            }
        };
        // What the buffer holds, or is about to, is reached without a move, wherever it is.
        let filled = hdd.being_filled(arm);
        let being_filled = places_from(&self.places, filled.start).iter().take_while(|place| place.lbn < filled.end);
        for number in self.near.iter().copied().chain(being_filled.map(|place| place.entry)) {
            consider(&mut soonest, number, true);
        }
        for (index, distance) in outwards(&self.places, arm.position.cylinder, |place| place.cylinder) {
            if soonest.is_nearer_than(hdd, distance) {
                break;
            }
            let place = &self.places[index];
            if !filled.contains(&place.lbn) && !self.near.contains(&place.entry) {
                consider(&mut soonest, place.entry, false);
            }
        }
        soonest.entry.map(|entry| self.place_of(entry))
    }

    /// The index in `places` of the request that is reached first after another one.
    fn soonest_after(&self, hdd: &Hdd, last: &Range<u64>, from: &Previous) -> Option<usize> {
        let turn = self.turns.front().copied();
        turns_and_ranks().find_map(|rank| {
            let mut soonest = Soonest::NONE;
            for (index, distance) in outwards(&self.places, from.end.cylinder, |place| place.cylinder) {
                if soonest.is_nearer_than(hdd, distance) {
                    break;
                }
                let number = self.places[index].entry;
                let entry = &self.entries[number];
                if (entry.waits_for_turn(turn), entry.rank(last)) == rank {
                    soonest.consider(number, entry.sequence, hdd.positioning_after(&from.end, entry.op, &entry.target));
                }
            }
            soonest.entry.map(|entry| self.place_of(entry))
        })
    }

    fn scan(&mut self, here: u32, last: &Range<u64>) -> Option<usize> {
        let upwards = self.upwards;
        let ahead = |cylinder: u32| if upwards { cylinder >= here } else { cylinder <= here };
        let index = self.least(|entry| {
            let cylinder = entry.target.cylinder;
            (entry.rank(last), !ahead(cylinder), cylinder.abs_diff(here), entry.sequence)
        })?;
        if !ahead(self.places[index].cylinder) {
            self.upwards = !upwards;
        }
        Some(index)
    }

    /// The index in `places` of the request with the least key; `None` when none waits.
    fn least<K: Ord>(&self, key: impl Fn(&Entry<T>) -> K) -> Option<usize> {
        let keyed = self.unplanned().enumerate().map(|(index, entry)| (key(entry), index));
        keyed.min().map(|(_, index)| index)
    }
}

/// The places from block `lbn` on.
fn places_from(places: &[Place], lbn: u64) -> &[Place] {
    &places[places.partition_point(|place| place.lbn < lbn)..]
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{desktop, drive_of, small_hdd};
    use super::*;
    use std::sync::Arc;

    fn at(op: Op, lbn: u64) -> Arrival {
        Arrival { op, lbn, end: lbn + 1, ready_ns: None, is_next: false }
    }

    /// Order in which requests for these cylinders are picked with the arm at cylinder 10.
    fn order(policy: QueuePolicy, cylinders: &[u64]) -> Vec<u64> {
        let mut hdd = small_hdd(&[]);
        let mut now = hdd.serve(0, Op::Read, 10 * 200, 1).done_ns;
        let mut queue = DriveQueue::new(policy, None);
        for &cylinder in cylinders {
            queue.push(&hdd, now, at(Op::Read, cylinder * 200 + 7), cylinder);
        }
        let mut picked = Vec::new();
        while let Some(entry) = queue.pick(&hdd, now) {
            picked.push(entry.tag);
            now = hdd.serve(now, entry.op, entry.lbn, 1).done_ns;
        }
        assert!(queue.is_empty());
        picked
    }

    #[test]
    fn each_policy_has_its_order() {
        let waiting = [2, 18, 9, 12, 5];
        assert_eq!(order(QueuePolicy::Fcfs, &waiting), [2, 18, 9, 12, 5]);
        assert_eq!(order(QueuePolicy::Sstf, &waiting), [9, 12, 18, 5, 2]);
        assert_eq!(order(QueuePolicy::Scan, &waiting), [12, 18, 9, 5, 2]);
        assert_eq!(order(QueuePolicy::CLook, &waiting), [2, 5, 9, 12, 18]);
    }

    #[test]
    fn scan_goes_on_downwards_past_what_is_nearer_above() {
        let mut hdd = small_hdd(&[]);
        let mut queue = DriveQueue::new(QueuePolicy::Scan, None);
        let mut now = hdd.serve(0, Op::Read, 10 * 200, 1).done_ns;
        queue.push(&hdd, now, at(Op::Read, 8 * 200), "turns");
        let first = queue.pick(&hdd, now).expect("one waits");
        now = hdd.serve(now, first.op, first.lbn, 1).done_ns;
        queue.push(&hdd, now, at(Op::Read, 9 * 200), "above");
        queue.push(&hdd, now, at(Op::Read, 3 * 200), "below");
        assert_eq!(queue.pick(&hdd, now).map(|entry| entry.tag), Some("below"));
    }

    #[test]
    fn c_look_goes_on_upwards_from_where_it_is() {
        let hdd = small_hdd(&[]);
        let mut queue = DriveQueue::new(QueuePolicy::CLook, None);
        queue.push(&hdd, 0, at(Op::Read, 500), 'a');
        assert_eq!(queue.pick(&hdd, 0).map(|entry| entry.tag), Some('a'));
        queue.push(&hdd, 0, at(Op::Read, 100), 'b');
        queue.push(&hdd, 0, at(Op::Read, 900), 'c');
        assert_eq!(queue.pick(&hdd, 0).map(|entry| entry.tag), Some('c'));
        assert_eq!(queue.pick(&hdd, 0).map(|entry| entry.tag), Some('b'));
    }

    #[test]
    fn satf_prefers_a_far_track_whose_sector_comes_in_time() {
        let hdd = small_hdd(&[]);
        // Block 2 of the same track has just passed at 0.3 ms; a sector two cylinders away comes by soon after the arm.
        let mut queue = DriveQueue::new(QueuePolicy::Satf, None);
        queue.push(&hdd, 0, at(Op::Read, 2), "near");
        queue.push(&hdd, 0, at(Op::Read, 400 + 60), "far");
        let mut nearest = DriveQueue::new(QueuePolicy::Sstf, None);
        nearest.push(&hdd, 0, at(Op::Read, 400 + 60), "far");
        nearest.push(&hdd, 0, at(Op::Read, 2), "near");
        assert_eq!(nearest.pick(&hdd, 0).map(|entry| entry.tag), Some("near"));
        assert_eq!(queue.pick(&hdd, 0).map(|entry| entry.tag), Some("far"));
    }

    #[test]
    fn a_stream_is_entered_at_its_first_waiting_request_whatever_the_order() {
        let hdd = small_hdd(&[]);
        for policy in [QueuePolicy::Sstf, QueuePolicy::Scan, QueuePolicy::CLook, QueuePolicy::Satf] {
            let mut queue = DriveQueue::new(policy, None);
            // Of another direction, and the second half before the first.
            queue.push(&hdd, 0, Arrival { op: Op::Write, lbn: 3900, end: 4100, ready_ns: None, is_next: false }, 9);
            for lbn in [2200, 2000, 2400] {
                queue.push(&hdd, 0, Arrival { op: Op::Read, lbn, end: lbn + 200, ready_ns: None, is_next: false }, lbn);
            }
            assert_eq!((queue.stream_end(2000, 10), queue.stream_end(2500, 10)), (2600, 2510));
            let mut next = 2000;
            while let Some(entry) = queue.pick(&hdd, 10_000_000) {
                if entry.op == Op::Read {
                    assert_eq!(entry.lbn, next, "{policy:?}");
                    next = entry.end;
                }
            }
            assert_eq!(next, 2600, "{policy:?}");
        }
    }

    #[test]
    fn satf_takes_what_the_buffer_holds_first() {
        let mut hdd = small_hdd(&[]);
        let now = hdd.serve(0, Op::Read, 250, 10).done_ns;
        let now = hdd.serve(now, Op::Read, 4000, 10).done_ns;
        let mut queue = DriveQueue::new(QueuePolicy::Satf, None);
        queue.push(&hdd, now, at(Op::Write, 4020), "near");
        queue.push(&hdd, now, at(Op::Read, 250), "held");
        assert_eq!(queue.pick(&hdd, now).map(|entry| entry.tag), Some("held"));
    }

    #[test]
    fn satf_takes_the_entry_with_the_least_estimate_of_all() {
        let params = Arc::new(drive_of(&desktop()));
        let capacity = params.capacity_sectors();
        let mut hdd = Hdd::new(params);
        let mut queue = DriveQueue::new(QueuePolicy::Satf, None);
        let (mut state, mut now, mut held_at_once) = (3_u64, 0, 0);
        for round in 0..3000_u64 {
            while queue.len() < 1 + (round % 40) as usize {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Most anywhere, some beside each other, some read ahead already.
                let lbn = if state.is_multiple_of(5) { (state >> 40) % 5000 } else { (state >> 11) % (capacity - 8) };
                let op = if state.is_multiple_of(3) { Op::Write } else { Op::Read };
                queue.push(&hdd, now, at(op, lbn), ());
            }
            let held = |entry: &&Entry<()>| entry.op == Op::Read && hdd.holds(entry.lbn, entry.end);
            let first_held = queue.entries().filter(held).map(|entry| entry.sequence).min();
            assert_eq!(queue.held(&hdd).map(|index| queue.at(index).sequence), first_held, "round {round}");
            held_at_once += u32::from(first_held.is_some());
            let estimates = queue.entries().map(|entry| (hdd.positioning_ns(now, entry.op, entry.lbn), entry.sequence));
            let least = estimates.min().expect("requests wait").0;
            let entry = queue.pick(&hdd, now).expect("requests wait");
            assert_eq!(hdd.positioning_ns(now, entry.op, entry.lbn), least, "round {round}");
            now = hdd.serve(now, entry.op, entry.lbn, 8).done_ns + round % 7 * 500_000;
            hdd.advance_to(now);
        }
        assert!(held_at_once > 100, "{held_at_once}");
    }

    #[test]
    fn what_continues_another_request_is_known_as_requests_come_and_go() {
        let hdd = small_hdd(&[]);
        let mut queue = DriveQueue::new(QueuePolicy::Fcfs, None);
        let mut state = 5_u64;
        for round in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let lbn = (state >> 40) % 60;
            let op = if state >> 33 & 1 == 0 { Op::Read } else { Op::Write };
            queue.push(&hdd, 0, Arrival { op, lbn, end: lbn + 1 + (state >> 50) % 5, ready_ns: None, is_next: false }, ());
            if queue.len() > 12 {
                queue.take((state >> 36) as usize % 13);
            }
            for entry in queue.entries() {
                assert_eq!(entry.continues, queue.entries().any(|other| entry.is_after(other)), "round {round}");
            }
        }
    }

    #[test]
    fn what_is_in_order_is_not_overtaken_and_the_next_is_chosen_from_its_end() {
        for policy in [QueuePolicy::Sstf, QueuePolicy::CLook, QueuePolicy::Satf] {
            let hdd = small_hdd(&[]);
            let mut queue = DriveQueue::new(policy, None).planned(2);
            for cylinder in [18, 2, 9, 17, 3] {
                queue.push(&hdd, 0, at(Op::Read, cylinder * 200 + cylinder), cylinder);
            }
            assert_eq!((queue.len(), queue.at(1).tag, queue.entries().count()), (5, 2, 5));
            let picked: Vec<u64> = std::iter::from_fn(|| queue.pick(&hdd, 0)).map(|entry| entry.tag).collect();
            assert_eq!(picked[..3], [18, 2, 3], "{policy:?}");
        }
    }

    #[test]
    fn an_overdue_request_goes_first() {
        let hdd = small_hdd(&[]);
        let pick = |max_age_ns: Option<u64>| {
            let mut queue = DriveQueue::new(QueuePolicy::Satf, max_age_ns);
            queue.push(&hdd, 0, at(Op::Read, 5500), "old");
            queue.push(&hdd, 900, at(Op::Read, 40), "near");
            queue.pick(&hdd, 1000).map(|entry| entry.tag)
        };
        assert_eq!(pick(None), Some("near"));
        assert_eq!(pick(Some(1000)), Some("near"));
        assert_eq!(pick(Some(999)), Some("old"));
    }

    /// Random 4 KiB reads a second with so many always waiting.
    fn rate(policy: QueuePolicy, depth: u32) -> f64 {
        let params = Arc::new(drive_of(&desktop()));
        let capacity = params.capacity_sectors();
        let mut hdd = Hdd::new(params);
        let mut queue = DriveQueue::new(policy, Some(2_000_000_000));
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) % (capacity - 8)
        };
        let mut now = 0;
        for _ in 1..depth {
            queue.push(&hdd, now, at(Op::Read, random()), ());
        }
        let requests = 4000;
        for _ in 0..requests {
            queue.push(&hdd, now, at(Op::Read, random()), ());
            let entry = queue.pick(&hdd, now).expect("requests wait");
            now = hdd.serve(now, entry.op, entry.lbn, 8).done_ns;
        }
        f64::from(requests) * 1e9 / now as f64
    }

    #[test]
    fn a_deeper_queue_pays_most_under_satf() {
        let fcfs = rate(QueuePolicy::Fcfs, 32);
        let sstf = rate(QueuePolicy::Sstf, 32);
        let satf16 = rate(QueuePolicy::Satf, 16);
        let satf32 = rate(QueuePolicy::Satf, 32);
        assert!((74.0..81.0).contains(&fcfs), "{fcfs}");
        assert!(fcfs < sstf && sstf < satf32, "{fcfs} {sstf} {satf32}");
        assert!((145.0..190.0).contains(&satf16), "{satf16}");
        assert!((165.0..225.0).contains(&satf32), "{satf32}");
    }
}
