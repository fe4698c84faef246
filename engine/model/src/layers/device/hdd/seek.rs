//! The arm: time to move across a number of cylinders.
//!
//! Three forms, in the terms of DiskSim's parameter files:
//! - measured points (`extracted`): linear between neighbours, from no time at no distance to the first point, and the last
//!   piece continued beyond the last point. The points are measurements and not monotonic in time;
//! - the HPL equation (`hpl`, `hplplus10`): `V2 + V3 sqrt(d)` below `V1` cylinders, `V4 + V5 d` from there on, with
//!   measured times for the first cylinder (`V6`) or the first ten;
//! - three points of a data sheet: `a + b sqrt(d) + c d` through the single-cylinder, average and full-stroke times.
//!
//! The curve contains settling after a read seek. Extra write settling and head switches are added by the drive.
//! Left out: thermal recalibration, and asymmetry between inward and outward seeks.

use std::sync::Arc;

/// Stretches of distances with a least time each.
const MIN_STRETCHES: u32 = 1024;

/// Drives with at most this many cylinders keep their curve as a table, one entry a distance.
const TABLE_LIMIT: u32 = 65_536;

/// The formula behind a seek curve; times in ms.
#[derive(Clone, Debug, PartialEq)]
pub enum SeekForm {
    /// Measured (distance in cylinders, ms) points, distances rising, at least one.
    Points(Vec<(u32, f64)>),
    /// The HPL equation.
    Hpl {
        /// Measured times of the first distances (1, 2, ... cylinders); these go before the equation.
        first_ms: Vec<f64>,
        /// From this distance in cylinders on the linear part holds.
        boundary: f64,
        /// Constant and factor of the square root, below the boundary.
        root_ms: (f64, f64),
        /// Constant and factor of the distance, from the boundary on.
        linear_ms: (f64, f64),
    },
    /// `a + b sqrt(d) + c d`.
    ThreePoint {
        /// Constant in ms.
        a: f64,
        /// Factor of the square root, ms.
        b: f64,
        /// Factor of the distance, ms.
        c: f64,
    },
}

impl SeekForm {
    /// Seek time in ms over `distance` cylinders; 0 for no distance. May be negative for a careless curve.
    #[must_use]
    pub fn ms(&self, distance: u32) -> f64 {
        if distance == 0 {
            return 0.0;
        }
        let d = f64::from(distance);
        match self {
            Self::Points(points) => interpolate(points, distance),
            Self::Hpl { first_ms, boundary, root_ms, linear_ms } => match first_ms.get(distance as usize - 1) {
                Some(ms) => *ms,
                None if d < *boundary => root_ms.0 + root_ms.1 * d.sqrt(),
                None => linear_ms.0 + linear_ms.1 * d,
            },
            Self::ThreePoint { a, b, c } => a + b * d.sqrt() + c * d,
        }
    }
}

/// Piecewise linear from (0, 0) through the points, the last piece continued.
fn interpolate(points: &[(u32, f64)], distance: u32) -> f64 {
    let Some(last) = points.len().checked_sub(1) else { return 0.0 };
    let upper = points.partition_point(|point| point.0 < distance).min(last);
    let (x1, y1) = points[upper];
    let (x0, y0) = if upper == 0 { (0, 0.0) } else { points[upper - 1] };
    if distance == x1 {
        return y1;
    }
    y0 + (y1 - y0) * ((f64::from(distance) - f64::from(x0)) / (f64::from(x1) - f64::from(x0)))
}

/// A seek curve ready for use.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekCurve {
    form: SeekForm,
    /// Shared by all drives of the model, as the other table.
    table_ns: Arc<[f64]>,
    /// Least time of each stretch of distances and all beyond it, in ns.
    least_ns: Arc<[f64]>,
    /// Distances of a stretch, as a power of two.
    stretch_bits: u32,
}

impl SeekCurve {
    /// A curve for a drive of `cylinders` cylinders. Negative times are taken as 0; see [`SeekCurve::first_negative`].
    #[must_use]
    pub fn new(form: SeekForm, cylinders: u32) -> Self {
        let entries = if cylinders <= TABLE_LIMIT { cylinders } else { 0 };
        let table_ns = (0..entries).map(|distance| form.ms(distance).max(0.0) * 1e6).collect();
        let stretch_bits = cylinders.div_ceil(MIN_STRETCHES).next_power_of_two().trailing_zeros();
        let mut curve = Self { form, table_ns, least_ns: Arc::default(), stretch_bits };
        curve.least_ns = curve.least(cylinders).into();
        curve
    }

    /// Least times by stretch, see [`SeekCurve::least_ns`].
    fn least(&self, cylinders: u32) -> Vec<f64> {
        let stretches = (cylinders.saturating_sub(1) >> self.stretch_bits) + 1;
        let mut least_ns = vec![0.0; stretches as usize];
        let mut least = f64::INFINITY;
        for stretch in (0..stretches).rev() {
            let first = stretch << self.stretch_bits;
            match self.form {
                // Such a curve rises (see `three_point`); its rounding may not.
                SeekForm::ThreePoint { .. } => least = least.min(self.ns(first) * (1.0 - 1e-9)),
                SeekForm::Points(_) | SeekForm::Hpl { .. } => {
                    for distance in first..first.saturating_add(1 << self.stretch_bits).min(cylinders) {
                        least = least.min(self.ns(distance));
                    }
                }
            }
            least_ns[stretch as usize] = least;
        }
        least_ns
    }

    /// A time in ns that crossing `distance` cylinders of the drive surely takes; quicker to tell than the very time.
    #[must_use]
    pub fn at_least_ns(&self, distance: u32) -> f64 {
        self.least_ns.get((distance >> self.stretch_bits) as usize).copied().unwrap_or(0.0)
    }

    /// Time to cross `distance` cylinders in ns; 0 for no distance.
    #[must_use]
    pub fn ns(&self, distance: u32) -> f64 {
        match self.table_ns.get(distance as usize) {
            Some(ns) => *ns,
            None => self.form.ms(distance).max(0.0) * 1e6,
        }
    }

    /// The shortest distance below `cylinders` whose time is negative or not a number, with that time in ms. Curves beyond
    /// the table (three-point ones) are checked at their ends.
    #[must_use]
    pub fn first_negative(form: &SeekForm, cylinders: u32) -> Option<(u32, f64)> {
        let bad = |distance: u32| {
            let ms = form.ms(distance);
            (!ms.is_finite() || ms < 0.0).then_some((distance, ms))
        };
        if cylinders <= TABLE_LIMIT { (1..cylinders).find_map(bad) } else { [1, cylinders - 1].into_iter().find_map(bad) }
    }
}

/// Solves `a + b sqrt(d) + c d` for a single-cylinder, an average and a full-stroke time in ms on a drive of `cylinders`
/// cylinders (at least 4). The average is over the distance of two places chosen uniformly, whose density is
/// `2 (1 - d/D) / D`: then `sqrt(d)` has the mean `8/15 sqrt(D)` and `d` the mean `D/3`.
///
/// # Errors
/// When the curve would fall somewhere: the lowest and highest average, in ms, for which it does not.
pub fn three_point(single_ms: f64, average_ms: f64, full_ms: f64, cylinders: u32) -> Result<SeekForm, (f64, f64)> {
    let full = f64::from(cylinders.max(4) - 1);
    let root = full.sqrt();
    // For a given b, the two end points fix c and a, and the average becomes a straight line in b.
    let curve = |b: f64| {
        let c = (full_ms - single_ms - b * (root - 1.0)) / (full - 1.0);
        (single_ms - b - c, c)
    };
    let average = |b: f64| {
        let (a, c) = curve(b);
        a + b * root * (8.0 / 15.0) + c * full / 3.0
    };
    // The slope b / (2 sqrt(d)) + c is monotonic in d, so it is nowhere negative when it is not so at both ends.
    let rise = full_ms - single_ms;
    let lowest_b = rise / ((root - 1.0) - (full - 1.0) / 2.0);
    let highest_b = rise / ((root - 1.0) - (full - 1.0) / (2.0 * root));
    let (low, high) = (average(lowest_b), average(highest_b));
    if !(low..=high).contains(&average_ms) {
        return Err((low, high));
    }
    let b = (average_ms - average(0.0)) / (average(1.0) - average(0.0));
    let (a, c) = curve(b);
    Ok(SeekForm::ThreePoint { a, b, c })
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "the values compared are exact in binary")]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_is_never_above_the_time_and_close_to_it_on_a_rising_curve() {
        let points = SeekForm::Points(vec![(1, 2.0), (10, 6.0), (40, 4.0), (900, 9.0)]);
        let hpl = SeekForm::Hpl { first_ms: vec![3.0], boundary: 300.0, root_ms: (1.0, 0.3), linear_ms: (5.0, 0.004) };
        let sheet = three_point(0.8, 8.5, 17.0, 300_000).expect("a rising curve");
        for (form, cylinders) in [(points.clone(), 3000), (hpl, 1025), (points, 70_000), (sheet.clone(), 300_000), (sheet, 1)] {
            let curve = SeekCurve::new(form, cylinders);
            for distance in 0..cylinders {
                assert!(curve.at_least_ns(distance) <= curve.ns(distance), "{distance}");
            }
            assert!(curve.at_least_ns(cylinders + 5000) < curve.ns(cylinders));
        }
        let curve = SeekCurve::new(three_point(0.8, 8.5, 17.0, 300_000).expect("a rising curve"), 300_000);
        assert!(curve.at_least_ns(150_000) > 0.99 * curve.ns(150_000));
    }

    #[test]
    fn measured_points_are_joined_by_lines_from_no_time_to_beyond_the_last() {
        let form = SeekForm::Points(vec![(2, 1.0), (4, 3.0)]);
        let times: Vec<f64> = (0..7).map(|d| form.ms(d)).collect();
        assert_eq!(times, [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn the_first_ten_times_go_before_the_equation() {
        let form = SeekForm::Hpl { first_ms: vec![9.0; 10], boundary: 100.0, root_ms: (1.0, 2.0), linear_ms: (3.0, 0.5) };
        assert_eq!([form.ms(10), form.ms(16), form.ms(100)], [9.0, 9.0, 53.0]);
    }

    #[test]
    fn the_table_agrees_with_the_form_and_continues_beyond_its_end() {
        let form = SeekForm::ThreePoint { a: 0.5, b: 0.02, c: 1e-5 };
        let curve = SeekCurve::new(form.clone(), 100);
        for distance in [0, 1, 99, 100, 5000] {
            assert!((curve.ns(distance) - form.ms(distance) * 1e6).abs() < 1e-6);
        }
    }

    #[test]
    fn a_data_sheet_curve_meets_its_three_times() {
        let cylinders = 100_000;
        let form = three_point(0.8, 8.5, 18.0, cylinders).expect("a usual drive");
        assert!((form.ms(1) - 0.8).abs() < 1e-9);
        assert!((form.ms(cylinders - 1) - 18.0).abs() < 1e-9);
        let full = f64::from(cylinders - 1);
        let steps = 2000;
        let mean: f64 = (0..steps)
            .map(|i| {
                let x = (f64::from(i) + 0.5) / f64::from(steps);
                form.ms((x * full) as u32) * 2.0 * (1.0 - x) / f64::from(steps)
            })
            .sum();
        assert!((mean - 8.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn an_average_that_needs_a_falling_curve_is_refused_with_the_range_that_fits() {
        let (low, high) = three_point(1.0, 17.0, 18.0, 100_000).expect_err("far too slow on average");
        assert!(low < 8.0 && high > 10.0 && high < 17.0, "{low} {high}");
        assert!(three_point(1.0, high - 1e-6, 18.0, 100_000).is_ok());
        assert!(three_point(1.0, low + 1e-6, 18.0, 100_000).is_ok());
    }

    #[test]
    fn a_curve_extrapolated_below_zero_is_found() {
        let form = SeekForm::Points(vec![(10, 5.0), (20, 1.0)]);
        let (distance, ms) = SeekCurve::first_negative(&form, 100).expect("falls below zero");
        assert_eq!(distance, 23);
        assert!(ms < 0.0);
    }
}
