//! The platter's rotation in absolute time.
//!
//! Modelled: a platter that turns at one constant speed, through seeks, pauses and overheads, so that the rotational
//! position at any moment follows from the time alone. One turn takes 60 s divided by the revolutions per minute; the angle
//! at time 0 is 0.
//!
//! The angle is computed with integers: a turn is a fraction of whole nanoseconds (8 333 333 1/3 ns at 7200 rpm), and a
//! product in `f64` would drift after hours of simulated time. The speed is held to a thousandth of a revolution per minute.
//!
//! Drives of one model do not turn equally fast. A tolerance of 0.2% is assumed; no data sheet with one was found. So the angle between two spindles is never the same for long, and no run depends on one that happens to be lucky or
//! unlucky. The fastest drive has the speed of its sheet, because skews leave just enough time for that one.
//!
//! Left out: spin-up. A change of speed would need a history of angles.

/// Nanoseconds in a minute, times one thousand because speeds are held in thousandths of a revolution per minute.
const MILLI_MINUTE_NS: u64 = 60_000_000_000_000;

/// Slowest speed accepted, in revolutions per minute.
pub const SLOWEST_RPM: f64 = 60.0;
/// Fastest speed accepted, in revolutions per minute.
pub const FASTEST_RPM: f64 = 60_000.0;

/// Most of its speed that a drive lacks.
const TOLERANCE: f64 = 0.002;

/// Share of a turn by which a sector may seem to have just passed and still counts as due now. Times are rounded to
/// nanoseconds between requests; without the guard that rounding would cost a whole turn now and then. A sector lasts
/// hundreds of times longer.
const DUE_NOW_TURNS: f64 = 1e-6;

/// A spindle at constant speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spindle {
    /// Turns in `period_ns` nanoseconds, reduced.
    turns: u64,
    /// A time after which the angle is the same again, in ns.
    period_ns: u64,
    /// Duration of one turn in ns.
    turn_ns: f64,
    /// Whether a time within the period, times the turns, fits into a word.
    is_short: bool,
}

impl Spindle {
    /// A spindle of the given speed, which must lie within [`SLOWEST_RPM`] and [`FASTEST_RPM`]; it is clamped to them and
    /// rounded to a thousandth.
    #[must_use]
    pub fn new(rpm: f64) -> Self {
        let milli_rpm = (rpm.clamp(SLOWEST_RPM, FASTEST_RPM) * 1000.0 + 0.5) as u64;
        let divisor = greatest_common_divisor(milli_rpm, MILLI_MINUTE_NS);
        let (turns, period_ns) = (milli_rpm / divisor, MILLI_MINUTE_NS / divisor);
        Self { turns, period_ns, turn_ns: period_ns as f64 / turns as f64, is_short: period_ns.checked_mul(turns).is_some() }
    }

    /// The spindle of another drive of the same model, slower by this share (0 to 1) of the tolerance, in whole tenths of a revolution
    /// per minute: their products fit into words.
    #[must_use]
    pub fn slower_by(&self, share: f64) -> Self {
        let tenths = 600e9 / self.turn_ns * (1.0 - TOLERANCE * share);
        Self::new((tenths + 1e-6) as u64 as f64 / 10.0)
    }

    /// Duration of one turn in ns.
    #[must_use]
    pub fn turn_ns(&self) -> f64 {
        self.turn_ns
    }

    /// Angle under the heads at `now_ns`, in turns: at least 0, below 1.
    #[must_use]
    pub fn angle_turns(&self, now_ns: u64) -> f64 {
        self.turns_of(self.parts_at(now_ns))
    }

    /// The angle at `now_ns` in parts: as many as `period_ns` has nanoseconds are a turn.
    fn parts_at(&self, now_ns: u64) -> u64 {
        let within = now_ns % self.period_ns;
        if self.is_short {
            within * self.turns % self.period_ns
        } else {
            // The remainder is below `period_ns`, so it fits.
            (u128::from(within) * u128::from(self.turns) % u128::from(self.period_ns)) as u64
        }
    }

    /// The angle at `now_ns` in parts, where it was `parts` so many nanoseconds before: within a turn, without a division.
    #[inline]
    #[must_use]
    pub fn parts_after(&self, parts: u64, passed_ns: u64, now_ns: u64) -> u64 {
        match passed_ns.checked_mul(self.turns) {
            Some(more) if more < self.period_ns => {
                let parts = parts + more;
                if parts < self.period_ns { parts } else { parts - self.period_ns }
            }
            _ => self.parts_at(now_ns),
        }
    }

    /// The angle that is so many parts, in turns.
    #[inline]
    #[must_use]
    pub fn turns_of(&self, parts: u64) -> f64 {
        parts as f64 / self.period_ns as f64
    }

    /// Time from `at_ns` (relative to a moment with the angle `phase`) until `target` (in turns) comes by, in ns: at least
    /// 0, below one turn.
    #[must_use]
    pub fn until_ns(&self, phase: f64, at_ns: f64, target: f64) -> f64 {
        let turns = target - phase - at_ns / self.turn_ns;
        let wait = turns - floor(turns);
        if wait > 1.0 - DUE_NOW_TURNS { 0.0 } else { wait * self.turn_ns }
    }

    /// First passing, at or after `ready_ns`, of a place that passes at `pass_ns` and then once a turn.
    #[must_use]
    pub fn pass_after_ns(&self, pass_ns: f64, ready_ns: f64) -> f64 {
        let missed = (ready_ns - pass_ns) / self.turn_ns - DUE_NOW_TURNS;
        if missed <= 0.0 { pass_ns } else { pass_ns - floor(-missed) * self.turn_ns }
    }
}

/// Largest whole number not above `x`, for `x` well within `i64`: here at most some millions of turns. Unlike `f64::floor`
/// it needs no call on targets without a rounding instruction.
fn floor(x: f64) -> f64 {
    let whole = x as i64 as f64;
    if whole > x { whole - 1.0 } else { whole }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_stays_exact_after_weeks_of_simulated_time() {
        let spindle = Spindle::new(7200.0);
        let weeks_ns = 6 * 7 * 24 * 3_600_000_000_000;
        // 120 turns a second: after whole seconds the angle is 0 again, a third of a turn later it is a third.
        assert_eq!(spindle.angle_turns(weeks_ns).to_bits(), 0.0_f64.to_bits());
        assert!((spindle.angle_turns(weeks_ns + 25_000_000 / 9) - 1.0 / 3.0).abs() < 1e-7);
    }

    #[test]
    fn drives_of_a_model_are_slower_than_its_sheet_by_no_more_than_the_tolerance() {
        let sheet = Spindle::new(7200.0);
        assert_eq!(sheet.slower_by(0.0), sheet);
        let slowest = sheet.slower_by(1.0);
        assert!((slowest.turn_ns() / sheet.turn_ns() - 1.002).abs() < 2e-5, "{}", slowest.turn_ns());
        assert!(sheet.slower_by(0.123).is_short && slowest.is_short);
    }

    #[test]
    fn an_odd_speed_needs_wide_products_and_still_agrees_with_the_definition() {
        let spindle = Spindle::new(9999.991);
        let at_ns = 50_000_000_000_000;
        let turns = u128::from(at_ns) * 9_999_991;
        let expected = (turns % u128::from(MILLI_MINUTE_NS)) as f64 / MILLI_MINUTE_NS as f64;
        assert!((spindle.angle_turns(at_ns) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_angle_after_a_while_is_the_angle_at_that_moment() {
        for spindle in [Spindle::new(7200.0), Spindle::new(7200.0).slower_by(0.37), Spindle::new(9999.991)] {
            let (mut now_ns, mut parts) = (0, 0);
            for passed_ns in (0..50).flat_map(|step| [step * 131_071, 1 << step, 8_333_333, 0]) {
                now_ns += passed_ns;
                parts = spindle.parts_after(parts, passed_ns, now_ns);
                assert_eq!(spindle.turns_of(parts).to_bits(), spindle.angle_turns(now_ns).to_bits(), "{now_ns}");
            }
        }
    }

    #[test]
    fn waiting_reaches_the_target_within_a_turn() {
        let spindle = Spindle::new(5400.0);
        let wait = spindle.until_ns(0.75, 0.0, 0.25);
        assert!((wait - spindle.turn_ns() / 2.0).abs() < 1.0);
    }

    #[test]
    fn a_sector_due_now_within_rounding_costs_no_turn() {
        let spindle = Spindle::new(5400.0);
        assert!(spindle.until_ns(0.25 + 1e-9, 0.0, 0.25).abs() < f64::EPSILON);
        assert!(spindle.until_ns(0.25 + 1e-3, 0.0, 0.25) > 0.99 * spindle.turn_ns());
    }

    #[test]
    fn a_missed_passing_costs_whole_turns() {
        let spindle = Spindle::new(6000.0);
        assert!((spindle.pass_after_ns(5.0, 4.0) - 5.0).abs() < 1e-9);
        assert!((spindle.pass_after_ns(5.0, 6e6) - 10_000_005.0).abs() < 1e-6);
        assert!((spindle.pass_after_ns(5.0, 10_000_005.0) - 10_000_005.0).abs() < 1e-6);
        assert!((spindle.pass_after_ns(5.0, 10_100_000.0) - 20_000_005.0).abs() < 1e-6);
    }
}
