//! What no storage system does, whatever it is made of.
//!
//! - **runs**: a scenario that is allowed runs, and goes on completing requests.
//! - **limit**: no more is completed than the slowest part that all of it must pass can do, by a closed form of that part's fields.
//!   What a buffer holds may be completed ahead of it.
//! - **durable**: the same for synchronous writes, which no buffer completes ahead of the media.
//! - **service**: no request is faster than what must be done for it alone.
//! - **Little**: a closed system of N requests completes latencies of N seconds a second, but for the N that are under way.
//! - **slower**: nothing gets slower by more than a tolerance when a resource is added or a cost is taken away.
//!
//! What is compared is throughput in a steady state; how long it takes to get there is not looked at.

use std::fmt;

use serde_json::Value;

use crate::layer_limits;
use crate::measure::{Effort, Outcome, measure};
use crate::support;

/// How much slower a system with more may be. Random requests differ from run to run; a suspect is measured again for longer.
pub const TOLERANCE: f64 = 0.05;
/// Seeds over which a suspect is measured again.
const SEEDS: [u64; 3] = [11, 12, 13];
/// How many times as long.
const LONGER: u64 = 4;

/// What was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It did not run.
    Runs,
    /// It was faster than a part of it.
    Limit,
    /// Synchronous writes were faster than what keeps them.
    Durable,
    /// A request was faster than its own service.
    Service,
    /// Latencies and throughput contradict each other.
    Little,
    /// More made it slower.
    Slower,
}

impl Rule {
    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Limit => "limit",
            Self::Durable => "durable",
            Self::Service => "service",
            Self::Little => "Little",
            Self::Slower => "slower",
        }
    }
}

/// The most that a part of the system completes.
#[derive(Clone, Debug)]
pub struct Bound {
    /// [`Rule::Limit`] or [`Rule::Durable`].
    pub rule: Rule,
    /// Which part, and its formula.
    pub what: &'static str,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Bytes that may be completed ahead of it.
    pub ahead_bytes: f64,
}

/// A scenario to run, and what is known of it beforehand.
#[derive(Clone, Debug)]
pub struct Point {
    /// What tells it from the other points of its unit.
    pub name: String,
    /// The scenario.
    pub document: Value,
    /// Requests kept in flight, all workers together; unknown where something above keeps them back.
    pub in_flight: Option<u64>,
    /// How long it is watched.
    pub effort: Effort,
    /// What it cannot exceed.
    pub bounds: Vec<Bound>,
    /// What each request takes at least, in nanoseconds.
    pub service_ns: f64,
    /// How long others may overtake a request, in nanoseconds: it may be older than all that have completed.
    pub patience_ns: f64,
}

/// What is compared along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Bytes a second.
    Bytes,
    /// Requests a second, where sizes differ.
    Requests,
}

/// Points in order: each has more of a resource, or less of a cost, than the one before.
#[derive(Clone, Debug)]
pub struct Line {
    /// What grows or shrinks.
    pub axis: String,
    /// Indices of the points.
    pub points: Vec<usize>,
    /// What must not fall.
    pub measure: Measure,
    /// By how much it may, as a share. A negative one demands that it rises.
    pub tolerance: f64,
}

/// Points of one system under one kind of load, and lines through them.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// System and load.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// Nonsense.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// The unit.
    pub unit: String,
    /// The axis of the line, or the part that was exceeded.
    pub axis: String,
    /// The points and their values.
    pub values: String,
    /// By how much it is slower, as a share; of other rules 0.
    pub fall: f64,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "[{}] {} | {} | {}", self.rule.name(), self.unit, self.axis, self.values)
    }
}

impl Unit {
    /// A unit without points.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a point and returns its index; one that is there already is not run twice.
    pub fn add(&mut self, point: Point) -> usize {
        if let Some(index) = self.points.iter().position(|other| other.document == point.document) {
            return index;
        }
        self.points.push(point);
        self.points.len() - 1
    }

    /// Adds a line through points.
    pub fn line(&mut self, axis: impl Into<String>, points: impl IntoIterator<Item = Point>) -> &mut Line {
        let points = points.into_iter().map(|point| self.add(point)).collect();
        self.lines.push(Line { axis: axis.into(), points, measure: Measure::Bytes, tolerance: TOLERANCE });
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    /// Runs all points and returns what is wrong with them.
    pub fn judge(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let finding = |rule, axis: &str, values, fall| Finding { rule, unit: self.name.clone(), axis: axis.to_owned(), values, fall };
        let outcomes: Vec<Option<Outcome>> = self
            .points
            .iter()
            .map(|point| match measure(&point.document, point.effort, 1) {
                Ok(outcome) => {
                    let wrong = point.with_limits_of_layers().contradictions(&outcome);
                    findings.extend(wrong.into_iter().map(|(rule, axis, values)| finding(rule, axis, values, 0.0)));
                    Some(outcome)
                }
                Err(error) => {
                    findings.push(finding(Rule::Runs, "", format!("{}: {error}", point.name), 0.0));
                    None
                }
            })
            .collect();
        for line in &self.lines {
            let mut best: Option<(usize, f64)> = None;
            for &index in &line.points {
                let Some(found) = &outcomes[index] else {
                    continue;
                };
                let value = line.value(found);
                if let Some((before, most)) = best
                    && value < most * (1.0 - line.tolerance)
                    && let Some((values, fall)) = line.confirm(&self.points[before], &self.points[index])
                {
                    findings.push(finding(Rule::Slower, &line.axis, values, fall));
                }
                if best.is_none_or(|(_, most)| value > most) {
                    best = Some((index, value));
                }
            }
        }
        findings
    }
}

impl Line {
    fn value(&self, outcome: &Outcome) -> f64 {
        match self.measure {
            Measure::Bytes => outcome.bytes_per_s / 1e6,
            Measure::Requests => outcome.per_s,
        }
    }

    /// Measures a suspicious pair again, for longer and with other seeds; both values and the fall if it stays suspicious.
    fn confirm(&self, before: &Point, after: &Point) -> Option<(String, f64)> {
        let again = |point: &Point| {
            let runs = SEEDS.map(|seed| measure(&point.document, point.effort.times(LONGER), seed).map(|outcome| self.value(&outcome)));
            let found: Vec<f64> = runs.into_iter().flatten().collect();
            #[allow(clippy::cast_precision_loss)] // three
            (found.len() == SEEDS.len()).then(|| found.iter().sum::<f64>() / found.len() as f64)
        };
        let (Some(first), Some(second)) = (again(before), again(after)) else {
            return Some((format!("{} or {} did not run for longer", before.name, after.name), f64::INFINITY));
        };
        let unit = if self.measure == Measure::Bytes { "MB/s" } else { "requests/s" };
        let fall = 1.0 - second / first;
        let values = || format!("{}: {first:.2} {unit} -> {}: {second:.2} {unit} ({:+.1} %)", before.name, after.name, -100.0 * fall);
        (fall > self.tolerance).then(|| (values(), fall))
    }
}

impl Point {
    /// The same point with the limits of the layers above its devices.
    fn with_limits_of_layers(&self) -> Self {
        let (more, service_ns) = support::read(&self.document).map_or((Vec::new(), 0.0), |checked| layer_limits::of(checked.scenario()));
        let bounds = self.bounds.iter().cloned().chain(more).collect();
        Self { bounds, service_ns: self.service_ns.max(service_ns), ..self.clone() }
    }

    /// What a run contradicts: the rule, what it is about, and the values.
    fn contradictions(&self, seen: &Outcome) -> Vec<(Rule, &'static str, String)> {
        let mut wrong = Vec::new();
        for bound in &self.bounds {
            // A thousandth for rounding to whole nanoseconds.
            let most = bound.bytes_per_s * seen.all_s * 1.001 + bound.ahead_bytes;
            if seen.all_bytes > most {
                let values = format!("{}: {:.2} MB in {:.4} s, at most {:.2} MB", self.name, seen.all_bytes / 1e6, seen.all_s, most / 1e6);
                wrong.push((bound.rule, bound.what, values));
            }
        }
        if seen.shortest_ns < self.service_ns * 0.999 {
            let values = format!("{}: {:.1} us, at least {:.1} us", self.name, seen.shortest_ns / 1e3, self.service_ns / 1e3);
            wrong.push((Rule::Service, "latency", values));
        }
        let Some(count) = self.in_flight else {
            return wrong;
        };
        #[allow(clippy::cast_precision_loss)] // thousands
        let in_flight = count as f64;
        let (most, under_way) = (in_flight * seen.all_s * 1e9, in_flight * seen.longest_ns.max(self.patience_ns));
        if seen.total_ns > most * 1.001 || seen.total_ns < most - under_way * 1.001 {
            let values = format!(
                "{}: {:.4} s of latency completed in {:.4} s with {count} in flight, {:.4} s to {:.4} s expected",
                self.name,
                seen.total_ns / 1e9,
                seen.all_s,
                (most - under_way).max(0.0) / 1e9,
                most / 1e9
            );
            wrong.push((Rule::Little, "latency x throughput", values));
        }
        wrong
    }
}
