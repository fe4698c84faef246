//! Transaction groups: one open, at most one closing or closed, at most one syncing.
//!
//! ```text
//!            holds            last hold released       picked up by the sync       written
//!   OPEN  ----------> QUIESCING -----------> QUIESCED -----------> SYNCING -----------> SYNCED
//!   n                 n-1 (one of the two at most)                 n-2
//! ```
//!
//! Every write holds the open group from the moment it enters until its data are copied. Two threads move groups along:
//!
//! - The *quiesce* thread closes the open group when a later one is wanted and no closed group waits. The next group opens
//!   in the same instant; the closed one is quiesced when its last hold is released.
//! - The *sync* thread takes a quiesced group and writes it out. When none is there it sleeps until a thread waits for a sync,
//!   the timer expires (counted from the start of the previous sync, so a long sync is followed by the next at once), or there
//!   are more dirty data than the trigger; then it asks for the open group to be closed.
//!
//! [`Groups`] holds the state and has no clock of its own: the caller says what happened, then asks [`Groups::step`] until nothing
//! moves. Source: reference section 4. Left out: a running scan, which keeps groups syncing back to back.

use super::throttle::{SLOTS, mul_div, slot};

/// When dirty data alone make a group sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirtyTrigger {
    /// Never (before 2013).
    Never,
    /// Above so many dirty bytes (2013 to 0.7).
    Bytes(u64),
    /// Above this share of the most dirty data (0.8 to 2.1).
    Percent(u64),
}

impl DirtyTrigger {
    /// Dirty bytes above which a group syncs; None when they never make it.
    #[must_use]
    pub fn threshold_bytes(self, dirty_max_bytes: u64) -> Option<u64> {
        match self {
            Self::Never => None,
            Self::Bytes(bytes) => Some(bytes),
            Self::Percent(percent) => Some(mul_div(dirty_max_bytes, percent, 100)),
        }
    }
}

/// A move of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This group has opened; the one before it has closed.
    Opened(u64),
    /// No writer holds this group any more.
    Quiesced(u64),
    /// This group begins to sync.
    Syncs(u64),
}

/// The pipeline of groups.
#[derive(Clone, Debug)]
pub struct Groups {
    timeout_ns: u64,
    open: u64,
    opened_ns: u64,
    quiescing: Option<u64>,
    quiesced: Option<u64>,
    syncing: Option<u64>,
    synced: u64,
    holds: [u32; SLOTS],
    /// The open group is closed until this one is open.
    wanted_open: u64,
    /// Groups up to this one are synced without waiting for the timer.
    wanted_synced: u64,
    sync_started_ns: u64,
    has_dirty: bool,
    triggered: bool,
}

impl Groups {
    /// A pipeline with group 1 open, empty; a group syncs at the latest `timeout_ns` after the previous sync began.
    #[must_use]
    pub fn new(timeout_ns: u64) -> Self {
        Self {
            timeout_ns: timeout_ns.max(1),
            open: 1,
            opened_ns: 0,
            quiescing: None,
            quiesced: None,
            syncing: None,
            synced: 0,
            holds: [0; SLOTS],
            wanted_open: 0,
            wanted_synced: 0,
            sync_started_ns: 0,
            has_dirty: false,
            triggered: false,
        }
    }

    /// The open group.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.open
    }

    /// When the open group opened.
    #[must_use]
    pub fn opened_ns(&self) -> u64 {
        self.opened_ns
    }

    /// The group that is closed and has not begun to sync.
    #[must_use]
    pub fn closed(&self) -> Option<u64> {
        self.quiescing.or(self.quiesced)
    }

    /// The group that syncs.
    #[must_use]
    pub fn syncing(&self) -> Option<u64> {
        self.syncing
    }

    /// The last group that has synced.
    #[must_use]
    pub fn synced(&self) -> u64 {
        self.synced
    }

    /// Whether a write in the open group is slowed down by the old throttles: the group before it is closed but not syncing, and
    /// no thread waits for the open one to close.
    #[must_use]
    pub fn pipeline_full(&self) -> bool {
        self.closed() == Some(self.open - 1) && !self.stalled()
    }

    /// Whether a thread waits for the open group to close.
    #[must_use]
    pub fn stalled(&self) -> bool {
        self.wanted_open > self.open
    }

    /// A write enters the open group and holds it.
    pub fn hold(&mut self) -> u64 {
        self.holds[slot(self.open)] += 1;
        self.open
    }

    /// A write lets go of its group.
    pub fn release(&mut self, group: u64) {
        let holds = &mut self.holds[slot(group)];
        *holds = holds.saturating_sub(1);
    }

    /// A thread waits for `group` to open.
    pub fn want_open(&mut self, group: u64) {
        self.wanted_open = self.wanted_open.max(group);
    }

    /// A thread waits for `group` to be synced.
    pub fn want_synced(&mut self, group: u64) {
        self.wanted_synced = self.wanted_synced.max(group);
    }

    /// Tells how things stand with the dirty data: whether there are any or a write is in flight (an idle pool needs no timer),
    /// and whether they are more than the trigger.
    pub fn observe(&mut self, now_ns: u64, has_dirty: bool, triggered: bool) {
        if has_dirty && !self.has_dirty && self.is_idle() && now_ns >= self.timer_ns() {
            // The empty groups that synced by the timer while nothing happened.
            self.sync_started_ns = now_ns - (now_ns - self.sync_started_ns) % self.timeout_ns;
            self.opened_ns = self.opened_ns.max(self.sync_started_ns);
        }
        (self.has_dirty, self.triggered) = (has_dirty, triggered);
    }

    fn is_idle(&self) -> bool {
        self.syncing.is_none() && self.closed().is_none()
    }

    fn timer_ns(&self) -> u64 {
        self.sync_started_ns.saturating_add(self.timeout_ns)
    }

    /// When the sync thread wakes by its timer; None while it has something to do or nothing is dirty.
    #[must_use]
    pub fn wakes_at_ns(&self) -> Option<u64> {
        (self.is_idle() && self.has_dirty).then(|| self.timer_ns())
    }

    /// The group that syncs has been written out.
    pub fn sync_done(&mut self) {
        if let Some(group) = self.syncing.take() {
            self.synced = group;
        }
    }

    /// The next move of the two threads, if any is due.
    pub fn step(&mut self, now_ns: u64) -> Option<Step> {
        if let Some(group) = self.quiescing.filter(|group| self.holds[slot(*group)] == 0) {
            (self.quiescing, self.quiesced) = (None, Some(group));
            return Some(Step::Quiesced(group));
        }
        if self.syncing.is_none() {
            if let Some(group) = self.quiesced.take() {
                self.syncing = Some(group);
                self.sync_started_ns = now_ns;
                return Some(Step::Syncs(group));
            }
            let expired = self.has_dirty && now_ns >= self.timer_ns();
            if self.quiescing.is_none() && (self.wanted_synced > self.synced || self.triggered || expired) {
                self.want_open(self.open + 1);
            }
        }
        if self.stalled() && self.closed().is_none() {
            self.quiescing = Some(self.open);
            self.open += 1;
            self.opened_ns = now_ns;
            return Some(Step::Opened(self.open));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn steps(groups: &mut Groups, now_ns: u64) -> Vec<Step> {
        std::iter::from_fn(|| groups.step(now_ns)).collect()
    }

    #[test]
    fn a_group_syncs_when_the_timer_expires() {
        let mut groups = Groups::new(5 * S);
        groups.observe(0, true, false);
        assert_eq!(groups.wakes_at_ns(), Some(5 * S));
        assert_eq!(steps(&mut groups, 5 * S - 1), []);
        assert_eq!(steps(&mut groups, 5 * S), [Step::Opened(2), Step::Quiesced(1), Step::Syncs(1)]);
        assert_eq!(groups.wakes_at_ns(), None, "the thread is busy");
    }

    #[test]
    fn a_sync_longer_than_the_timeout_is_followed_by_the_next_at_once() {
        let mut groups = Groups::new(5 * S);
        groups.observe(0, true, false);
        steps(&mut groups, 5 * S);
        groups.sync_done();
        assert_eq!(steps(&mut groups, 11 * S), [Step::Opened(3), Step::Quiesced(2), Step::Syncs(2)]);
    }

    #[test]
    fn a_held_group_does_not_sync() {
        let mut groups = Groups::new(5 * S);
        let held = groups.hold();
        groups.observe(0, true, false);
        assert_eq!(steps(&mut groups, 5 * S), [Step::Opened(2)]);
        groups.release(held);
        assert_eq!(steps(&mut groups, 6 * S), [Step::Quiesced(1), Step::Syncs(1)]);
    }

    #[test]
    fn three_groups_are_the_most() {
        let mut groups = Groups::new(5 * S);
        groups.want_open(2);
        assert_eq!(steps(&mut groups, 0), [Step::Opened(2), Step::Quiesced(1), Step::Syncs(1)]);
        assert!(!groups.pipeline_full());
        groups.want_open(3);
        assert_eq!(steps(&mut groups, 0), [Step::Opened(3), Step::Quiesced(2)]);
        assert!(groups.pipeline_full());
        groups.want_open(4);
        assert!(!groups.pipeline_full(), "a stalled pipeline delays nobody");
        assert_eq!(steps(&mut groups, 0), []);
        groups.sync_done();
        assert_eq!(steps(&mut groups, 4 * S), [Step::Syncs(2), Step::Opened(4), Step::Quiesced(3)]);
    }

    #[test]
    fn dirty_data_beyond_the_trigger_sync_at_once_but_only_one_group_at_a_time() {
        let mut groups = Groups::new(5 * S);
        groups.observe(0, true, true);
        assert_eq!(steps(&mut groups, 1), [Step::Opened(2), Step::Quiesced(1), Step::Syncs(1)]);
        assert_eq!(steps(&mut groups, 2), []);
        groups.sync_done();
        assert_eq!(steps(&mut groups, 3).len(), 3);
    }

    #[test]
    fn an_idle_pool_keeps_its_beat() {
        let mut groups = Groups::new(5 * S);
        groups.observe(12 * S, true, false);
        assert_eq!((groups.wakes_at_ns(), groups.opened_ns()), (Some(15 * S), 10 * S));
    }

    #[test]
    fn triggers_by_era() {
        assert_eq!(DirtyTrigger::Never.threshold_bytes(1000), None);
        assert_eq!(DirtyTrigger::Bytes(64 << 20).threshold_bytes(1000), Some(64 << 20));
        assert_eq!(DirtyTrigger::Percent(20).threshold_bytes(4_294_967_296), Some(858_993_459));
    }
}
