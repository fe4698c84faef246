//! A battery that is discharged and charged again from time to time, and what it lets the controller do meanwhile.
//!
//! ```text
//! charge |-----.                       .------   `lead` after its start a learn cycle lets the charge fall from 1 to 0 in
//!        |       \                   /           `discharge`; then the cycle is complete, and the charge rises to 1 in
//! needed |- - - - - \ - - - - - - / - - - - -    `charge`
//!        |             \        /
//!        +--|--|-------|--|---|--|----- time
//!       start  |   below  complete  enough
//!        discharging
//! ```
//!
//! Below the charge that is needed the policy is write-through, until the cycle is complete or the charge is enough again. All times
//! follow from the scenario, so a battery needs no event: what holds at a moment is computed from it.

use seeklab_spec::raid_cache::{Battery as Spec, WriteBackReturns};
use seeklab_spec::to_f64;

/// A line of the controller's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Line {
    /// A learn cycle starts.
    Start,
    /// The battery begins to discharge.
    Discharging,
    /// Its charge falls below what is needed.
    Below,
    /// The policy becomes write-through.
    WriteThrough,
    /// The battery is empty, and the cycle complete.
    Complete,
    /// The policy becomes write-back again.
    WriteBack,
    /// The charge is enough again.
    Enough,
}

/// When what happens in a learn cycle, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// It starts.
    pub start: u64,
    /// The battery begins to discharge.
    pub discharging: u64,
    /// The charge falls below what is needed.
    pub below: u64,
    /// The battery is empty.
    pub complete: u64,
    /// The charge is enough again.
    pub enough: u64,
    /// Write-back returns.
    pub write_back: u64,
}

impl Cycle {
    /// Its lines in the log, in order of time.
    #[must_use]
    pub fn lines(&self, forced: bool) -> Vec<(u64, Line)> {
        let mut lines = Vec::new();
        // Each is put where it belongs: a sort would be much code for seven lines.
        let mut add = |time: u64, line: Line| {
            let place = lines.partition_point(|(before, other): &(u64, Line)| (*before, *other as u8) <= (time, line as u8));
            lines.insert(place, (time, line));
        };
        add(self.start, Line::Start);
        add(self.discharging, Line::Discharging);
        add(self.complete, Line::Complete);
        if self.below < self.enough {
            add(self.below, Line::Below);
            add(self.enough, Line::Enough);
            if !forced {
                add(self.below, Line::WriteThrough);
                add(self.write_back, Line::WriteBack);
            }
        }
        lines
    }
}

/// A battery and its learn cycles.
#[derive(Clone, Debug)]
pub struct Battery {
    first: u64,
    every: u64,
    lead: u64,
    discharge: u64,
    charge: u64,
    /// From the begin of the discharge until the charge is below what is needed; from its end until it is enough.
    falls: u64,
    rises: u64,
    returns: WriteBackReturns,
}

impl Battery {
    /// The battery of a scenario, fully charged at the start.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // shares of times below 2^53 ns
    pub fn new(spec: &Spec) -> Self {
        let share = |of: u64, share: f64| libm::round(to_f64(of) * share) as u64;
        Self {
            first: spec.learn_at.0,
            every: spec.learn_every.0.max(1),
            lead: spec.lead.0,
            discharge: spec.discharge.0.max(1),
            charge: spec.charge.0.max(1),
            falls: share(spec.discharge.0, 1.0 - spec.threshold),
            rises: share(spec.charge.0, spec.threshold),
            returns: spec.write_back_returns,
        }
    }

    /// How long a cycle's write-through lasts.
    #[must_use]
    pub fn write_through_ns(&self) -> u64 {
        let cycle = self.nth(0);
        cycle.write_back - cycle.below
    }

    fn nth(&self, nth: u64) -> Cycle {
        let start = self.first.saturating_add(self.every.saturating_mul(nth));
        let discharging = start.saturating_add(self.lead);
        let complete = discharging.saturating_add(self.discharge);
        let enough = complete.saturating_add(self.rises);
        let write_back = if self.returns == WriteBackReturns::Complete { complete } else { enough };
        Cycle { start, discharging, below: discharging.saturating_add(self.falls), complete, enough, write_back }
    }

    /// The cycles that have started, in order.
    pub fn cycles(&self, now_ns: u64) -> impl Iterator<Item = Cycle> {
        (0..).map(|nth| self.nth(nth)).take_while(move |cycle| cycle.start <= now_ns)
    }

    /// The last cycle that has started.
    fn last(&self, now_ns: u64) -> Option<Cycle> {
        now_ns.checked_sub(self.first).map(|passed| self.nth(passed / self.every))
    }

    /// Whether a controller that obeys the battery writes through.
    #[must_use]
    pub fn is_write_through(&self, now_ns: u64) -> bool {
        self.last(now_ns).is_some_and(|cycle| (cycle.below..cycle.write_back).contains(&now_ns))
    }

    /// Whether the charge is below what is needed.
    #[must_use]
    pub fn is_weak(&self, now_ns: u64) -> bool {
        self.last(now_ns).is_some_and(|cycle| (cycle.below..cycle.enough).contains(&now_ns))
    }

    /// The charge, 0 to 1.
    #[must_use]
    pub fn charge(&self, now_ns: u64) -> f64 {
        let Some(cycle) = self.last(now_ns).filter(|cycle| now_ns > cycle.discharging) else { return 1.0 };
        if now_ns < cycle.complete {
            to_f64(cycle.complete - now_ns) / to_f64(self.discharge)
        } else {
            (to_f64(now_ns - cycle.complete) / to_f64(self.charge)).min(1.0)
        }
    }

    /// When next the policy changes, or whether the charge is enough.
    #[must_use]
    pub fn next_change_ns(&self, now_ns: u64) -> u64 {
        let nth = now_ns.checked_sub(self.first).map_or(0, |passed| passed / self.every);
        let changes = [nth, nth + 1].map(|nth| self.nth(nth)).into_iter().flat_map(|of| [of.below, of.write_back, of.enough]);
        changes.filter(|time| *time > now_ns).min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_kernel::NS_PER_S;

    fn battery(fields: &serde_json::Value) -> Battery {
        let mut spec = serde_json::json!({"learn_at": 0});
        spec.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        Battery::new(&serde_json::from_value(spec).expect("a battery"))
    }

    /// Tenths of a second.
    fn tenths(ns: u64) -> u64 {
        ns / (NS_PER_S / 10)
    }

    #[test]
    fn the_logged_cycle() {
        let cycle = battery(&serde_json::json!({})).nth(0);
        let times = [cycle.start, cycle.discharging, cycle.below, cycle.complete, cycle.write_back].map(tenths);
        assert_eq!(times, [0, 650, 51_842, 71_750, 71_750]);
        assert_eq!(tenths(cycle.write_back - cycle.below), 19_908);
        let lines: Vec<Line> = cycle.lines(false).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, [Line::Start, Line::Discharging, Line::Below, Line::WriteThrough, Line::Complete, Line::WriteBack, Line::Enough]);
        assert_eq!(cycle.lines(true).len(), 5, "a policy that is forced has no lines");
    }

    #[test]
    fn with_the_threshold_write_through_lasts_until_the_charge_is_enough() {
        let battery = battery(&serde_json::json!({"write_back_returns": "threshold"}));
        assert_eq!(tenths(battery.write_through_ns()), 60_228);
        assert!(battery.is_write_through(battery.nth(0).enough - 1) && !battery.is_write_through(battery.nth(0).enough));
    }

    #[test]
    fn charge_falls_and_rises_and_the_cycle_comes_again() {
        let battery =
            battery(&serde_json::json!({"learn_at": "1h", "learn_every": "10h", "discharge": "1h", "charge": "2h", "lead": "0s"}));
        let hour = 3600 * NS_PER_S;
        for (tenths, charge) in [(0, 1.0), (10, 1.0), (15, 0.5), (20, 0.0), (25, 0.25), (40, 1.0), (110, 1.0), (115, 0.5)] {
            assert!((battery.charge(hour / 10 * tenths) - charge).abs() < 1e-9, "{tenths}");
        }
        assert_eq!(battery.cycles(11 * hour).count(), 2);
        assert!(!battery.is_write_through(hour), "before it is below what is needed");
        let changes = [0, hour * 172 / 100, 2 * hour, 11 * hour].map(|now| battery.next_change_ns(now));
        assert_eq!(changes, [172, 200, 256, 1172].map(|hundredths| hour / 100 * hundredths));
    }

    #[test]
    fn a_battery_that_is_never_below_what_is_needed_changes_nothing() {
        let battery = battery(&serde_json::json!({"threshold": 0.0}));
        assert_eq!(battery.write_through_ns(), 0);
        assert_eq!(battery.nth(0).lines(false).len(), 3);
        assert!((0..100).all(|step| !battery.is_weak(step * 200 * NS_PER_S)));
    }

    #[test]
    fn one_that_needs_all_of_its_charge_is_off_for_the_whole_discharge() {
        let battery = battery(&serde_json::json!({"threshold": 1.0, "lead": "0s", "discharge": "7h"}));
        assert_eq!(tenths(battery.write_through_ns()), 252_000);
    }
}
