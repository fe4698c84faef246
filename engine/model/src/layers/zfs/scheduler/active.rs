//! The scheduler since 2013: classes with a minimum and a maximum in flight, and a maximum of group writes that follows the
//! dirty data.
//!
//! **Problem.** A fixed number in flight is too many while a group is being written slowly (reads wait behind the writes in the
//! device) and says nothing about who goes first. Group writes came in bursts: a picket fence of full rate and silence.
//!
//! **Idea.** A class is served first while it has fewer in flight than its minimum; when all minimums are met, classes are
//! filled up to their maximums in order of priority. And the maximum of asynchronous writes is only as large as the dirty data
//! demand:
//!
//! ```text
//!        hi |                          o---------------
//!           |                       . '
//! in flight |                    . '
//!           |                 . '
//!        lo |---------------o'
//!           +---------------+----------+---------------
//!         0 %             30 %       60 %          100 %  of the most dirty data
//! ```
//!
//! With `B0 = max * 30 / 100`, `B1 = max * 60 / 100` the number between them is `(dirty - B0) * (hi - lo) / (B1 - B0) + lo`,
//! rounded down. The throttle begins to delay where the ramp ends: a writer is held up only when the disks already get all the
//! concurrency that they may.
//!
//! Two generations choose differently. Until 2.0 the scan for a class below its minimum starts at the highest priority; from 2.1
//! it goes round, starting after the class that was issued last, and the background classes step back while anybody is being
//! served. Within a class, requests leave oldest first (synchronous classes) or in order of their offset, upward with a wrap.
//!
//! Source: `vdev_queue.c`, reference sections 2.1 to 2.4. Left out: batches by time in the order of offsets (2.2), the pending
//! synchronous task that lifts the ramp to its maximum (callers pass it), the allocation throttle.

use std::collections::VecDeque;

use super::aggregate::{Limits, Order, gather};
use super::{CLASSES, Class, Io, Issue};
use crate::layers::zfs::throttle::mul_div;

/// Least and most requests of a class in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Served first below this number.
    pub min: u32,
    /// Never more.
    pub max: u32,
}

const fn share(min: u32, max: u32) -> Share {
    Share { min, max }
}

/// The ramp of asynchronous writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ramp {
    /// Most dirty data, in bytes.
    pub dirty_max_bytes: u64,
    /// Below this share of it the ramp is at its least.
    pub min_dirty_percent: u64,
    /// Above this share of it the ramp is at its most.
    pub max_dirty_percent: u64,
    /// In flight at the least.
    pub min_active: u32,
    /// In flight at the most.
    pub max_active: u32,
}

impl Ramp {
    /// The ramp of the defaults, from 30 % to 60 %.
    #[must_use]
    pub fn new(dirty_max_bytes: u64, share: Share) -> Self {
        Self { dirty_max_bytes, min_dirty_percent: 30, max_dirty_percent: 60, min_active: share.min, max_active: share.max }
    }

    /// Most asynchronous writes in flight while `dirty_bytes` are dirty.
    #[must_use]
    pub fn max_in_flight(&self, dirty_bytes: u64) -> u32 {
        let from = mul_div(self.dirty_max_bytes, self.min_dirty_percent, 100);
        let to = mul_div(self.dirty_max_bytes, self.max_dirty_percent, 100);
        if dirty_bytes < from {
            return self.min_active;
        }
        if dirty_bytes > to || to <= from {
            return self.max_active;
        }
        let width = u64::from(self.max_active.saturating_sub(self.min_active));
        let more = mul_div(dirty_bytes - from, width, to - from);
        self.min_active.saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
    }
}

/// How the class of the next request is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// 2013 to 2.0: by priority.
    Priority,
    /// From 2.1: below the minimums in turn, and background classes step back.
    InTurn,
}

/// Completions of background requests in a row after which their class may use its maximum, and the credit after a
/// foreground request.
const BACKGROUND_CREDIT: u32 = 5;

/// The tunables of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Shares by class.
    pub shares: [Share; CLASSES],
    /// Most requests in flight, all classes together.
    pub max_active: u32,
    /// How classes are chosen.
    pub choice: Choice,
    /// Merging.
    pub aggregation: Limits,
    /// Whether requests of the synchronous classes may start a merge, and neighbours of other classes join one (0.7 and later).
    pub merge_across_classes: bool,
}

impl Settings {
    /// The settings of 2013.
    #[must_use]
    pub fn openzfs_2013() -> Self {
        let none = share(0, 0);
        Self {
            shares: [share(10, 10), share(10, 10), share(1, 3), share(1, 10), share(1, 2), none, none, none, none],
            max_active: 1000,
            choice: Choice::Priority,
            aggregation: Limits { span_bytes: 128 << 10, ..Limits::gaps_of_2009() },
            merge_across_classes: false,
        }
    }

    /// The settings of 0.7 to 2.0.
    #[must_use]
    pub fn openzfs_0_7() -> Self {
        let mut settings = Self { merge_across_classes: true, ..Self::openzfs_2013() };
        settings.shares[Class::AsyncWrite as usize] = share(2, 10);
        settings
    }

    /// The settings of 2.1 and later, on rotating devices.
    #[must_use]
    pub fn openzfs_2_1() -> Self {
        let mut settings = Self { choice: Choice::InTurn, ..Self::openzfs_0_7() };
        let background = [
            (Class::Scrub, share(1, 3)),
            (Class::Removal, share(1, 2)),
            (Class::Initializing, share(1, 1)),
            (Class::Trim, share(1, 2)),
            (Class::Rebuild, share(1, 3)),
        ];
        for (class, share) in background {
            settings.shares[class as usize] = share;
        }
        settings.aggregation.span_bytes = 1 << 20;
        settings
    }

    /// The share of asynchronous writes, which the ramp runs through.
    #[must_use]
    pub fn async_write(&self) -> Share {
        self.shares[Class::AsyncWrite as usize]
    }
}

/// The queue of one leaf device.
#[derive(Clone, Debug)]
pub struct ActiveQueue {
    settings: Settings,
    queues: [VecDeque<Io>; CLASSES],
    active: [u32; CLASSES],
    total: u32,
    last_class: usize,
    last_offset: u64,
    foreground: u32,
    credit: u32,
}

impl ActiveQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            queues: Default::default(),
            active: [0; CLASSES],
            total: 0,
            last_class: CLASSES - 1,
            last_offset: 0,
            foreground: 0,
            credit: 0,
        }
    }

    /// Requests of a class that are queued.
    #[must_use]
    pub fn queued(&self, class: Class) -> usize {
        self.queues[class as usize].len()
    }

    /// Requests of a class in flight.
    #[must_use]
    pub fn in_flight(&self, class: Class) -> u32 {
        self.active[class as usize]
    }

    /// Adds a request. O(1) for the synchronous classes and for requests in order of offset, else O(n).
    pub fn enqueue(&mut self, io: Io) {
        let queue = &mut self.queues[io.class as usize];
        if io.class.is_fifo() || queue.back().is_none_or(|last| last.offset <= io.offset) {
            return queue.push_back(io);
        }
        let place = queue.partition_point(|other| other.offset <= io.offset);
        queue.insert(place, io);
    }

    /// The class of the next request while at most `async_write_max` group writes may be in flight.
    #[must_use]
    pub fn choose(&self, async_write_max: u32) -> Option<Class> {
        if self.total >= self.settings.max_active {
            return None;
        }
        let first = match self.settings.choice {
            Choice::Priority => 0,
            Choice::InTurn => self.last_class + 1,
        };
        let below_min =
            (first..first + CLASSES).map(|step| step % CLASSES).find(|class| self.waits(*class) && self.active[*class] < self.min(*class));
        let below_max = || (0..CLASSES).find(|class| self.waits(*class) && self.active[*class] < self.max(*class, async_write_max));
        below_min.or_else(below_max).map(|class| Class::ALL[class])
    }

    fn waits(&self, class: usize) -> bool {
        !self.queues[class].is_empty()
    }

    fn steps_back(&self, class: usize) -> bool {
        self.settings.choice == Choice::InTurn && Class::ALL[class].is_background()
    }

    fn min(&self, class: usize) -> u32 {
        let min = self.settings.shares[class].min;
        if self.steps_back(class) && self.foreground > 0 { self.credit.min(min) } else { min }
    }

    fn max(&self, class: usize, async_write_max: u32) -> u32 {
        let Share { min, max } = self.settings.shares[class];
        if class == Class::AsyncWrite as usize {
            async_write_max
        } else if !self.steps_back(class) {
            max
        } else if self.foreground > 0 {
            self.credit.min(min)
        } else if self.credit < BACKGROUND_CREDIT {
            min.max(1)
        } else {
            max
        }
    }

    /// The next request for the device, merged with its neighbours; `members` are the requests in it.
    pub fn issue(&mut self, async_write_max: u32, members: &mut Vec<Io>) -> Option<Issue> {
        let class = self.choose(async_write_max)?;
        let queue = &mut self.queues[class as usize];
        let first = if class.is_fifo() {
            queue.pop_front()?
        } else {
            let ahead = queue.partition_point(|io| io.offset < self.last_offset);
            queue.remove(if ahead < queue.len() { ahead } else { 0 })?
        };
        let whole = self.merge(class, first, members);
        self.last_class = class as usize;
        self.last_offset = match self.settings.choice {
            Choice::Priority => whole.offset,
            Choice::InTurn => whole.offset.saturating_add(whole.bytes),
        };
        self.active[class as usize] += 1;
        self.total += 1;
        if class.is_background() {
            if self.foreground > 0 {
                self.credit = self.credit.saturating_sub(1);
            }
        } else {
            self.foreground += 1;
            if self.foreground == 1 {
                self.credit = 1;
            }
        }
        Some(whole)
    }

    fn merge(&mut self, class: Class, first: Io, members: &mut Vec<Io>) -> Issue {
        let limits = &self.settings.aggregation;
        let order = |queue: usize| if Class::ALL[queue].is_fifo() { Order::Arrival } else { Order::Offset };
        if class == Class::Trim || (class.is_fifo() && !self.settings.merge_across_classes) {
            return gather(&Limits { span_bytes: 0, ..*limits }, first, &mut [], |_| Order::Offset, members);
        }
        if self.settings.merge_across_classes {
            return gather(limits, first, &mut self.queues, order, members);
        }
        let own = class as usize;
        gather(limits, first, &mut self.queues[own..=own], |_| Order::Offset, members)
    }

    /// A request of `class` has completed.
    pub fn complete(&mut self, class: Class) {
        let active = &mut self.active[class as usize];
        *active = active.saturating_sub(1);
        self.total = self.total.saturating_sub(1);
        if class.is_background() {
            if self.foreground == 0 {
                self.credit = (self.credit + 1).min(BACKGROUND_CREDIT);
            }
        } else {
            self.foreground = self.foreground.saturating_sub(1);
            self.credit = if self.foreground == 0 { 0 } else { BACKGROUND_CREDIT };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_spec::Op;

    fn ramp(max: u64, lo: u32) -> Ramp {
        Ramp::new(max, share(lo, 10))
    }

    #[test]
    fn the_ramp_matches_the_reference() {
        let four_gib: [(u64, u32, u32); 16] = [
            (0, 1, 2),
            (1_245_540_515, 1, 2),
            (1_288_490_188, 1, 2),
            (1_417_339_207, 1, 2),
            (1_460_288_880, 2, 3),
            (1_589_137_899, 3, 3),
            (1_717_986_918, 4, 4),
            (1_846_835_937, 4, 5),
            (1_932_735_283, 5, 6),
            (2_018_634_629, 6, 6),
            (2_147_483_648, 7, 7),
            (2_276_332_666, 7, 8),
            (2_319_282_339, 8, 8),
            (2_448_131_358, 9, 9),
            (2_534_030_704, 9, 9),
            (2_576_980_377, 10, 10),
        ];
        let thousand: [(u64, u32, u32); 12] = [
            (300, 1, 2),
            (334, 2, 2),
            (367, 3, 3),
            (400, 4, 4),
            (433, 4, 5),
            (466, 5, 6),
            (499, 6, 7),
            (500, 7, 7),
            (533, 7, 8),
            (566, 8, 9), // The reference's table has 8, 8; its formula and its list of first values (9 from 56.25 %) say 9.
            (599, 9, 9),
            (600, 10, 10),
        ];
        for (max, rows) in [(1 << 32, &four_gib[..]), (1000, &thousand[..])] {
            for (dirty, one, two) in rows {
                assert_eq!(ramp(max, 1).max_in_flight(*dirty), *one, "{dirty} of {max}");
                assert_eq!(ramp(max, 2).max_in_flight(*dirty), *two, "{dirty} of {max}");
            }
        }
        for percent in 61..=110 {
            assert_eq!(ramp(1 << 32, 1).max_in_flight((1 << 32) / 100 * percent), 10);
        }
    }

    #[test]
    fn each_step_of_the_ramp_begins_where_the_reference_says() {
        let one = [
            1_431_655_765,
            1_574_821_342,
            1_717_986_918,
            1_861_152_495,
            2_004_318_071,
            2_147_483_648,
            2_290_649_224,
            2_433_814_801,
            2_576_980_377,
        ];
        for (dirty, number) in one.into_iter().zip(2..) {
            assert_eq!((ramp(1 << 32, 1).max_in_flight(dirty - 1), ramp(1 << 32, 1).max_in_flight(dirty)), (number - 1, number));
        }
        let two = [1_449_551_462, 1_610_612_736, 1_771_674_009, 1_932_735_283, 2_093_796_557, 2_254_857_830, 2_415_919_104, 2_576_980_377];
        for (dirty, number) in two.into_iter().zip(3..) {
            assert_eq!((ramp(1 << 32, 2).max_in_flight(dirty - 1), ramp(1 << 32, 2).max_in_flight(dirty)), (number - 1, number));
        }
    }

    #[test]
    fn a_ramp_without_width_jumps() {
        let jump = Ramp { min_dirty_percent: 60, ..ramp(1000, 1) };
        assert_eq!((jump.max_in_flight(599), jump.max_in_flight(600)), (1, 10));
    }

    fn io(class: Class, offset: u64) -> Io {
        let op = if matches!(class, Class::SyncWrite | Class::AsyncWrite) { Op::Write } else { Op::Read };
        Io { class, op, offset, bytes: 10, token: 0, due: 0 }
    }

    fn queue(choice: Choice) -> ActiveQueue {
        let aggregation = Limits::default();
        ActiveQueue::new(Settings { choice, aggregation, ..Settings::openzfs_2_1() })
    }

    fn fill(queue: &mut ActiveQueue, classes: &[Class], each: u64) {
        for class in classes {
            for number in 0..each {
                queue.enqueue(io(*class, number * 100));
            }
        }
    }

    fn issued(queue: &mut ActiveQueue, async_write_max: u32) -> Vec<Class> {
        let mut members = Vec::new();
        std::iter::from_fn(|| queue.issue(async_write_max, &mut members).map(|issue| issue.class)).collect()
    }

    #[test]
    fn minimums_come_first_then_maximums_by_priority() {
        let mut queue = queue(Choice::Priority);
        fill(&mut queue, &[Class::AsyncRead, Class::AsyncWrite], 5);
        let (read, write) = (Class::AsyncRead, Class::AsyncWrite);
        assert_eq!(issued(&mut queue, 4), [read, write, write, read, read, write, write]);
    }

    #[test]
    fn from_2_1_minimums_are_met_in_turn() {
        let mut queue = queue(Choice::InTurn);
        fill(&mut queue, &[Class::SyncRead, Class::SyncWrite, Class::AsyncWrite], 2);
        let (read, log, write) = (Class::SyncRead, Class::SyncWrite, Class::AsyncWrite);
        assert_eq!(issued(&mut queue, 2), [read, log, write, read, log, write]);
        let mut queue = self::queue(Choice::Priority);
        fill(&mut queue, &[read, log, write], 2);
        assert_eq!(issued(&mut queue, 2), [read, read, log, log, write, write]);
    }

    #[test]
    fn the_minimum_of_group_writes_holds_even_when_the_ramp_is_lower() {
        let mut queue = queue(Choice::Priority);
        fill(&mut queue, &[Class::AsyncWrite], 5);
        assert_eq!(issued(&mut queue, 0).len(), 2);
    }

    #[test]
    fn the_total_bounds_all_classes() {
        let mut queue = queue(Choice::Priority);
        queue.settings.max_active = 3;
        fill(&mut queue, &[Class::SyncRead, Class::AsyncWrite], 5);
        assert_eq!(issued(&mut queue, 10), [Class::SyncRead; 3]);
    }

    #[test]
    fn background_steps_back_while_somebody_is_served() {
        let mut queue = queue(Choice::InTurn);
        fill(&mut queue, &[Class::Scrub], 9);
        assert_eq!(issued(&mut queue, 0), [Class::Scrub], "at first it is careful");
        let mut queue = self::queue(Choice::InTurn);
        fill(&mut queue, &[Class::SyncRead], 1);
        assert_eq!(issued(&mut queue, 0), [Class::SyncRead]);
        fill(&mut queue, &[Class::Scrub], 9);
        assert_eq!(issued(&mut queue, 0), [Class::Scrub], "one credit beside a foreground request");
        queue.complete(Class::Scrub);
        assert_eq!(issued(&mut queue, 0), []);
        queue.complete(Class::SyncRead);
        assert_eq!(issued(&mut queue, 0), [Class::Scrub], "one at a time until five have completed undisturbed");
        for _ in 0..5 {
            queue.complete(Class::Scrub);
            issued(&mut queue, 0);
        }
        assert_eq!(queue.in_flight(Class::Scrub), 3);
    }

    #[test]
    fn group_writes_leave_upward_and_wrap() {
        let mut queue = queue(Choice::Priority);
        let mut members = Vec::new();
        let mut next = |queue: &mut ActiveQueue| queue.issue(10, &mut members).map(|issue| issue.offset);
        queue.enqueue(io(Class::AsyncWrite, 500));
        assert_eq!(next(&mut queue), Some(500));
        for offset in [700, 300, 600] {
            queue.enqueue(io(Class::AsyncWrite, offset));
        }
        assert_eq!([next(&mut queue), next(&mut queue), next(&mut queue), next(&mut queue)], [Some(600), Some(700), Some(300), None]);
    }

    #[test]
    fn reads_that_are_waited_for_leave_oldest_first_and_start_no_merge_in_2013() {
        let mut members = Vec::new();
        for (settings, expected) in [(Settings::openzfs_2013(), (20, 1)), (Settings::openzfs_0_7(), (0, 3))] {
            let mut queue = ActiveQueue::new(settings);
            for offset in [20, 0, 10] {
                queue.enqueue(io(Class::SyncRead, offset));
            }
            let first = queue.issue(1, &mut members).expect("three are queued");
            assert_eq!((first.offset, members.len()), expected);
        }
    }

    #[test]
    fn a_merged_request_counts_once() {
        let mut queue = ActiveQueue::new(Settings::openzfs_2013());
        for offset in [0, 10, 20, 50] {
            queue.enqueue(io(Class::AsyncWrite, offset));
        }
        let mut members = Vec::new();
        let whole = queue.issue(1, &mut members).expect("four are queued");
        assert_eq!((whole.bytes, members.len(), queue.in_flight(Class::AsyncWrite)), (30, 3, 1));
        assert_eq!(queue.issue(1, &mut members), None);
    }
}
