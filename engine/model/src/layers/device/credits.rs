//! I/O credits: a volume that may burst above its base rate for as long as its token bucket is not empty.
//!
//! ```text
//! credits |\                     /      credits grow at the base rate, also while they are spent, up to the capacity
//!         |  \                 /        with credits: I/Os start at most `burst` a second, and each costs one
//!         |    \_____________/          without: each waits for its own credit, so `base` a second start
//!         +-----|-----------|----- time
//! ```
//!
//! First in, first out. When an I/O may start follows when it comes, so a wait needs no event. A volume whose base is at least its
//! burst has no use for credits: its I/Os start at most `base` a second. A request larger than `unit` costs as many credits as it
//! has units.
//!
//! Source: Amazon, "General Purpose SSD volumes", EC2 User Guide (gp2: 3 credits a second for each GiB, from 100 to 16,000; burst to
//! 3000 while 5.4 million credits last). Left out: throughput limits that burst, limits of the instance but for what
//! `top_up` stands for, merging of small sequential I/Os, striping of several volumes.

use std::collections::VecDeque;

use crate::result::metrics::Metrics;
use seeklab_kernel::NS_PER_S;
use seeklab_spec as spec;

/// A credit, in the units in which credits are kept: what a rate of one a second earns in a nanosecond is 1.
const CREDIT: u64 = NS_PER_S;
/// Most intervals that are kept.
const MAX_ROWS: usize = 1 << 20;

/// The activity in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// I/Os that began.
    pub ios: u64,
    /// Time with I/Os in flight or waiting, in nanoseconds.
    pub active_ns: u64,
    /// Time in which I/Os waited for the base rate.
    pub throttled_ns: u64,
    /// Credits at its end, in billionths.
    pub credits: u64,
}

/// A volume's credits, and what became of them.
#[derive(Debug)]
pub struct Bucket {
    pub(super) base: u64,
    pub(super) burst: u64,
    capacity: u64,
    unit: u64,
    pub(super) level: u64,
    /// Up to when credits are counted.
    at_ns: u64,
    top_up: Option<(u64, u64, u64)>,
    /// From when on the pace allows another start.
    pace_ns: u64,
    active_until_ns: u64,
    /// When the last one began, or will.
    began_ns: u64,
    /// When those that have come will start.
    starts: VecDeque<u64>,
    most_waiting: u64,
    first_empty_ns: Option<u64>,
    first_full_ns: Option<u64>,
    interval_ns: u64,
    rows: Vec<Row>,
}

impl Bucket {
    /// A volume's bucket, which keeps a row for each interval.
    #[must_use]
    pub fn new(spec: &spec::Credits, interval_ns: u64) -> Self {
        Self {
            base: spec.base.into(),
            burst: spec.burst.into(),
            capacity: spec.capacity * CREDIT,
            unit: spec.unit.0,
            level: spec.initial.unwrap_or(spec.capacity) * CREDIT,
            at_ns: 0,
            top_up: spec.top_up.map(|top_up| (top_up.first.0, top_up.every.0, top_up.amount * CREDIT)),
            pace_ns: 0,
            active_until_ns: 0,
            began_ns: 0,
            starts: VecDeque::new(),
            most_waiting: 0,
            first_empty_ns: None,
            first_full_ns: None,
            interval_ns: interval_ns.max(1),
            rows: Vec::new(),
        }
    }

    /// Whether the base rate is so high that credits are of no use.
    pub(super) fn is_bypassed(&self) -> bool {
        self.base >= self.burst
    }

    /// The credits that a request of so many bytes costs.
    pub(super) fn cost(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.unit).max(1)
    }

    /// When a request of `bytes` that comes at `now_ns` starts, which is after those that came before.
    pub fn admit(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let cost = self.cost(bytes);
        let paced_ns = self.pace_ns.max(now_ns);
        let (start_ns, rate) = if self.is_bypassed() { (paced_ns, self.base) } else { (self.pay(paced_ns, cost * CREDIT), self.burst) };
        self.pace_ns = start_ns + (cost * NS_PER_S).div_ceil(rate);
        while self.starts.front().is_some_and(|start_ns| *start_ns <= now_ns) {
            self.starts.pop_front();
        }
        if start_ns > now_ns {
            self.starts.push_back(start_ns);
            self.most_waiting = self.most_waiting.max(self.starts.len() as u64);
        }
        let at_burst_ns = if self.is_bypassed() { now_ns } else { paced_ns };
        if start_ns > at_burst_ns {
            // The first in line waits since the one before it began.
            let from_ns = now_ns.max(self.began_ns);
            self.spread(from_ns, start_ns, |row| &mut row.throttled_ns);
        }
        self.began_ns = start_ns;
        self.row(start_ns).ios += 1;
        start_ns
    }

    /// A request that came at `now_ns` is done at `done_ns`. Gives the time during which nothing else was in flight.
    pub fn done(&mut self, now_ns: u64, done_ns: u64) -> u64 {
        let from_ns = now_ns.max(self.active_until_ns);
        self.spread(from_ns, done_ns, |row| &mut row.active_ns);
        self.active_until_ns = self.active_until_ns.max(done_ns);
        done_ns.saturating_sub(from_ns)
    }

    /// When there are `price` credits from `from_ns` on, which are then taken.
    fn pay(&mut self, from_ns: u64, price: u64) -> u64 {
        self.advance(from_ns);
        let mut start_ns = from_ns;
        while self.level < price {
            start_ns = self.at_ns + (price - self.level).div_ceil(self.base);
            if let Some((next_ns, ..)) = self.top_up.filter(|(next_ns, ..)| *next_ns < start_ns) {
                start_ns = next_ns;
            }
            self.advance(start_ns);
        }
        self.level -= price;
        if self.level < CREDIT {
            self.first_empty_ns.get_or_insert(start_ns);
        }
        start_ns
    }

    /// Counts the credits that are earned until `to_ns` while none is spent.
    pub(super) fn advance(&mut self, to_ns: u64) {
        while let Some((next_ns, every_ns, amount)) = self.top_up.filter(|(next_ns, ..)| *next_ns <= to_ns) {
            self.flow(next_ns, 0);
            self.level = self.level.saturating_add(amount).min(self.capacity);
            self.top_up = Some((next_ns.saturating_add(every_ns), every_ns, amount));
        }
        self.flow(to_ns, 0);
    }

    /// When the next top-up comes.
    pub(super) fn next_top_up_ns(&self) -> u64 {
        self.top_up.map_or(u64::MAX, |(next_ns, ..)| next_ns)
    }

    /// Counts credits until `to_ns` while `spent` of them go in that time, evenly; no top-up lies in between.
    pub(super) fn flow(&mut self, to_ns: u64, spent: u64) {
        let (from_ns, before, capacity) = (self.at_ns, self.level, self.capacity);
        if to_ns <= from_ns {
            return;
        }
        let earned = u128::from(self.base) * u128::from(to_ns - from_ns);
        let after = |earned: u128, spent: u128| {
            u64::try_from((u128::from(before) + earned).saturating_sub(spent)).unwrap_or(u64::MAX).min(capacity)
        };
        let mut end_ns = (from_ns / self.interval_ns + 1) * self.interval_ns;
        while end_ns <= to_ns && self.rows.len() < MAX_ROWS {
            let share = |all: u128| all * u128::from(end_ns - from_ns) / u128::from(to_ns - from_ns);
            let credits = after(share(earned), share(u128::from(spent)));
            self.row(end_ns - 1).credits = credits;
            end_ns += self.interval_ns;
        }
        let level = after(earned, u128::from(spent));
        if level == capacity && before < level && spent == 0 {
            self.first_full_ns.get_or_insert(from_ns + (level - before).div_ceil(self.base));
        }
        if spent > 0 && level < CREDIT && before >= CREDIT {
            self.first_empty_ns.get_or_insert(to_ns);
        }
        self.level = level;
        self.at_ns = to_ns;
    }

    /// Notes what a flow of I/Os did from `from_ns` to `to_ns`, which lie in one interval.
    pub(super) fn note(&mut self, from_ns: u64, to_ns: u64, ios: u64, is_throttled: bool) {
        let row = self.row(from_ns);
        row.ios += ios;
        row.active_ns += to_ns - from_ns;
        row.throttled_ns += if is_throttled { to_ns - from_ns } else { 0 };
    }

    fn row(&mut self, at_ns: u64) -> &mut Row {
        let index = usize::try_from(at_ns / self.interval_ns).unwrap_or(MAX_ROWS).min(MAX_ROWS);
        if self.rows.len() <= index {
            self.rows.resize(index + 1, Row { credits: self.level, ..Row::default() });
        }
        &mut self.rows[index]
    }

    fn spread(&mut self, mut from_ns: u64, to_ns: u64, of: impl Fn(&mut Row) -> &mut u64) {
        while from_ns < to_ns {
            let end_ns = ((from_ns / self.interval_ns + 1) * self.interval_ns).min(to_ns);
            *of(self.row(from_ns)) += end_ns - from_ns;
            from_ns = end_ns;
        }
    }

    /// Intervals, from the start of the run.
    pub fn rows(&self) -> impl Iterator<Item = (u64, Row)> {
        (0..).zip(&self.rows).map(|(row, of)| (row * self.interval_ns, *of))
    }

    /// Reports credits and waits of a run that has come to `now_ns`.
    pub fn metrics(&self, now_ns: u64, metrics: &mut Metrics) {
        let earned = self.base.saturating_mul(now_ns.saturating_sub(self.at_ns));
        let held = self.level.saturating_add(earned).min(self.capacity);
        metrics.count("credits", "I/O credits at the end.", held / CREDIT);
        metrics.share("credits_percent", "I/O credits at the end, as a share of the maximum.", held, self.capacity);
        if let Some(ns) = self.first_empty_ns {
            metrics.seconds("credits_first_empty_s", "First time with less than one credit left.", ns);
        }
        if let Some(ns) = self.first_full_ns {
            metrics.seconds("credits_first_full_s", "First time that the credits reached their maximum again.", ns);
        }
        let sum = |of: fn(&Row) -> u64| self.rows.iter().map(of).sum::<u64>();
        metrics.seconds("credits_throttled_s", "Time during which I/Os waited for the base rate.", sum(|row| row.throttled_ns));
        let active_ns = sum(|row| row.active_ns);
        metrics.seconds("credits_active_s", "Time with I/Os in flight or waiting.", active_ns);
        let whole_ns = active_ns.div_ceil(NS_PER_S) * NS_PER_S;
        metrics.seconds("credits_active_whole_s", "Time with I/Os in flight or waiting, rounded up to seconds.", whole_ns);
        metrics.count("credits_waiting_max", "Maximum I/Os that waited at the same time for credits or for the pace.", self.most_waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = NS_PER_S;

    fn bucket(spec: &serde_json::Value) -> Bucket {
        Bucket::new(&serde_json::from_value(spec.clone()).expect("credits"), 60 * S)
    }

    #[test]
    fn ios_start_at_the_burst_rate_until_the_credits_are_gone_and_then_at_the_base_rate() {
        // 30,000 credits at 3000 a second less the 300 that come: 11.111 s, as the flow has it.
        let mut volume = bucket(&serde_json::json!({"base": 300, "capacity": 30_000}));
        let starts: Vec<u64> = (0..40_000).map(|_| volume.admit(0, 4096)).collect();
        assert_eq!((starts[1] - starts[0], starts[3001] / 1_000_000), (333_334, 1000));
        let empty = volume.first_empty_ns.expect("gone");
        assert!(empty.abs_diff(11_111_111_111) < 10_000_000, "{empty}");
        assert_eq!((starts[39_999] - starts[39_998]).div_ceil(1000), 3334, "300 a second");
        // The last 6667 or so waited for the base rate.
        assert!(volume.rows().map(|(_, row)| row.throttled_ns).sum::<u64>().abs_diff(starts[39_999] - empty) < 10_000_000);
    }

    #[test]
    fn an_empty_bucket_fills_in_its_capacity_over_the_base_rate_and_no_further() {
        let mut volume = bucket(&serde_json::json!({"base": 300, "initial": 0}));
        volume.advance(20_000 * S);
        assert_eq!((volume.first_full_ns, volume.level), (Some(18_000 * S), 5_400_000 * CREDIT));
        let credits: Vec<u64> = volume.rows().map(|(_, row)| row.credits / CREDIT).take(3).collect();
        assert_eq!(credits, [18_000, 36_000, 54_000]);
    }

    #[test]
    fn a_request_of_several_units_costs_several_credits() {
        let mut volume = bucket(&serde_json::json!({"base": 100, "capacity": 8, "unit": 4096}));
        assert_eq!([volume.admit(0, 4 * 4096), volume.admit(0, 3 * 4096 + 1)], [0, 1_333_334], "four thirds of a millisecond at 3000/s");
        // Four credits at 100 a second, less the fraction that has come meanwhile.
        assert_eq!(volume.admit(0, 4 * 4096), 40_000_000);
    }

    #[test]
    fn a_top_up_ends_a_wait() {
        let mut volume = bucket(&serde_json::json!({"base": 1, "initial": 0, "top_up": {"first": "500ms", "every": "10s", "amount": 2}}));
        assert_eq!([0; 4].map(|now_ns| volume.admit(now_ns, 1)).map(|ns| ns / 1_000_000), [500, 500, 1000, 2000]);
    }

    #[test]
    fn a_volume_whose_base_is_its_burst_has_a_pace_and_no_credits() {
        // The micro-burst: 5000 I/Os in 5 s at 950 a second. 250 wait at the end, the last for 263 ms.
        let mut volume = bucket(&serde_json::json!({"base": 950, "burst": 950, "initial": 0}));
        let starts: Vec<u64> = (0..5000).map(|nth: u64| volume.admit(nth * 1_000_000, 4096)).collect();
        let waited = starts[4999] - 4_999_000_000;
        assert!((249..=250).contains(&volume.most_waiting), "{}", volume.most_waiting);
        assert_eq!(waited / 1_000_000, 263);
        assert_eq!(volume.first_empty_ns, None);
        // From the twentieth on each begins after the next one has come, so that some I/O waits all the time.
        let throttled = volume.rows().map(|(_, row)| row.throttled_ns).sum::<u64>();
        assert!(throttled.abs_diff(starts[4999] - starts[19]) < 11_000_000, "{throttled}");
    }

    #[test]
    fn time_with_several_ios_in_flight_counts_once() {
        let mut volume = bucket(&serde_json::json!({"base": 300}));
        assert_eq!([volume.done(0, 10), volume.done(4, 8), volume.done(5, 20), volume.done(30, 31)], [10, 0, 10, 1]);
        assert_eq!(volume.rows().map(|(_, row)| row.active_ns).sum::<u64>(), 21);
    }
}
