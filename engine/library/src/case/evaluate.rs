//! Evaluates measures and facts of a case, and makes the runs that they need step by step.
//!
//! A measure is taken from the metrics of runs that have ended. One that lacks a run says which; that run is made in steps, and the
//! measure is tried again. So nothing lists beforehand what a fact will ask for, each run is made once, and a host can show progress
//! and stop at any step.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Case;
use super::facts::{Break, Check, Fact, Input, Measure, Over, Term};
use super::ranges::Ranges;
use super::verdict::{CheckRow, FactRow, InputRow, Verdict};
use seeklab_model::stack::Stack;
use seeklab_spec::{Presets, Problem, Problems};

/// Events of a step where nobody looks at the progress.
const AT_A_STRETCH: u64 = 1 << 20;

/// The part of a fact that is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// On how many seeds. The first is that of the case; a term that takes several seeds itself takes as many new ones each time.
    pub seeds: u64,
    /// Whether at the fact's other inputs too, there with the first seed.
    pub inputs: bool,
    /// Changes of an ablation on top of each run's own.
    pub ablation: Option<&'a Break>,
}

impl Scope<'_> {
    /// One seed, the case's own inputs, every mechanism on.
    pub const PLAIN: Scope<'static> = Scope { seeds: 1, inputs: false, ablation: None };
}

/// Changes of every run of a measure, or of those of one variant.
#[derive(Clone, Copy)]
struct Changes<'a> {
    set: &'a Map<String, Value>,
    variant: Option<&'a String>,
}

impl<'a> From<&'a Break> for Changes<'a> {
    fn from(ablation: &'a Break) -> Self {
        Self { set: &ablation.set, variant: ablation.variant.as_ref() }
    }
}

impl<'a> From<&'a Input> for Changes<'a> {
    fn from(input: &'a Input) -> Self {
        Self { set: &input.set, variant: input.variant.as_ref() }
    }
}

/// Why a measure could not be evaluated.
enum EvalError {
    /// A run is missing: its key, and the run, ready to begin.
    NeedsRun(String, Box<Stack>),
    /// The measure or its scenario is not valid.
    Invalid(Problems),
}

impl From<Problems> for EvalError {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

/// Runs of one case, each made once.
pub struct Runs<'a> {
    case: &'a Case,
    presets: &'a Presets,
    cache: RunCache,
}

/// The metrics of runs that have ended, and the run in progress.
#[derive(Default)]
pub struct RunCache {
    metrics: BTreeMap<String, BTreeMap<String, f64>>,
    running: Option<(String, Box<Stack>)>,
}

impl<'a> Runs<'a> {
    /// None yet; scenarios take their presets from these.
    #[must_use]
    pub fn new(case: &'a Case, presets: &'a Presets) -> Self {
        Self::resume(case, presets, RunCache::default())
    }

    /// With the runs of this case that were made before.
    #[must_use]
    pub fn resume(case: &'a Case, presets: &'a Presets, cache: RunCache) -> Self {
        Self { case, presets, cache }
    }

    /// The runs, to continue with later.
    #[must_use]
    pub fn pause(self) -> RunCache {
        self.cache
    }

    /// The value of a measure, with an ablation's changes on top of each run's own.
    ///
    /// # Errors
    /// When a scenario is not valid, a run exceeds its limits or a metric does not exist.
    pub fn measure(&mut self, measure: &Measure, ablation: Option<&Break>) -> Result<f64, Problems> {
        let mut unlimited = u64::MAX;
        let ablation = ablation.map(Changes::from);
        let value = self.evaluate(&mut unlimited, |runs| runs.value(measure, &[ablation], 1))?;
        value.ok_or_else(Problems::new)
    }

    /// A fact as a row, all its runs made at a stretch.
    ///
    /// # Errors
    /// As of [`Runs::measure`].
    pub fn fact(&mut self, fact: &Fact, scope: Scope, ranges: &Ranges) -> Result<FactRow, Problems> {
        let mut unlimited = u64::MAX;
        self.step(fact, scope, ranges, &mut unlimited)?.ok_or_else(Problems::new)
    }

    /// A fact as a row, or nothing yet when the events that this step may take are used up. Ranges are of the fact as it is, so those
    /// of an ablated one are not looked at.
    ///
    /// # Errors
    /// As of [`Runs::measure`].
    pub fn step(&mut self, fact: &Fact, scope: Scope, ranges: &Ranges, events: &mut u64) -> Result<Option<FactRow>, Problems> {
        self.evaluate(events, |runs| runs.row(fact, scope, ranges))
    }

    /// Tries to take what can be taken of runs, and makes those that lack.
    fn evaluate<T>(&mut self, events: &mut u64, take: impl Fn(&Self) -> Result<T, EvalError>) -> Result<Option<T>, Problems> {
        loop {
            if let Some((key, mut stack)) = self.cache.running.take() {
                let begun = stack.events();
                let ended = stack.step((*events).min(AT_A_STRETCH)).map_err(|problem| vec![problem])?;
                *events = events.saturating_sub(stack.events() - begun);
                if ended {
                    let metrics = seeklab_observe::metrics(&stack).into_iter().map(|metric| (metric.name, metric.value)).collect();
                    self.cache.metrics.insert(key, metrics);
                } else {
                    self.cache.running = Some((key, stack));
                }
            } else {
                match take(self) {
                    Ok(taken) => return Ok(Some(taken)),
                    Err(EvalError::Invalid(problems)) => return Err(problems),
                    Err(EvalError::NeedsRun(key, stack)) => self.cache.running = Some((key, stack)),
                }
            }
            if *events == 0 {
                return Ok(None);
            }
        }
    }

    /// The metrics of a run to its end.
    fn metrics(&self, term: &Term, changes: &[Option<Changes>], seed: u64) -> Result<&BTreeMap<String, f64>, EvalError> {
        let mut set = term.set.clone();
        set.insert("record.log".into(), Value::Bool(false));
        for change in changes.iter().flatten().filter(|change| change.variant.is_none() || change.variant == term.variant.as_ref()) {
            set.extend(change.set.clone());
        }
        let key = format!("{:?} {} {seed}", term.variant, Value::Object(set.clone()));
        if let Some(metrics) = self.cache.metrics.get(&key) {
            return Ok(metrics);
        }
        let checked = self.case.scenario(term.variant.as_deref(), &set, self.presets)?;
        Err(EvalError::NeedsRun(key, Box::new(Stack::new(checked, seed))))
    }

    /// The value of a term; `nth` counts the seeds that a fact is looked at on, from 1.
    fn term(&self, term: &Term, changes: &[Option<Changes>], nth: u64) -> Result<f64, EvalError> {
        let mut values = Vec::new();
        for seed in (nth - 1) * term.seeds + 1..=nth * term.seeds {
            let metrics = self.metrics(term, changes, seed)?;
            let unknown = || Problem::unknown("metric", "metric of this run", &term.metric, metrics.keys().map(String::as_str));
            values.push(*metrics.get(&term.metric).ok_or_else(|| vec![unknown()])?);
        }
        #[allow(clippy::cast_precision_loss)] // a number of seeds
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Ok(match term.over {
            Over::Mean => mean,
            Over::Max => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
            Over::Min => values.into_iter().fold(f64::INFINITY, f64::min),
        })
    }

    fn value(&self, measure: &Measure, changes: &[Option<Changes>], nth: u64) -> Result<f64, EvalError> {
        let term = |term| self.term(term, changes, nth);
        Ok(match measure {
            Measure::Value(a) => term(a)?,
            Measure::Ratio { ratio: [a, b] } => term(a)? / term(b)?,
            Measure::Ratios { ratios } => {
                let [[a, b], [c, d]] = &**ratios;
                term(a)? / term(b)? / (term(c)? / term(d)?)
            }
            Measure::Difference { difference: [a, b] } => term(a)? - term(b)?,
        })
    }

    fn row(&self, fact: &Fact, scope: Scope, ranges: &Ranges) -> Result<FactRow, EvalError> {
        let changes = [scope.ablation.map(Changes::from)];
        let check = |check: &Check| self.check(check, &changes, scope.seeds);
        let looked_at = if scope.inputs { &fact.inputs[..] } else { &[] };
        let inputs = looked_at.iter().map(|input| {
            let changes = [Some(Changes::from(input)), changes[0]];
            Ok::<_, EvalError>(InputRow { set: input.set.clone(), check: self.check(&input.check(fact), &changes, 1)? })
        });
        let mut row = FactRow {
            check: check(&fact.check)?,
            case: self.case.id.clone(),
            id: fact.id.clone(),
            kind: fact.kind,
            verdict: Verdict::ModelMisses,
            note: fact.note.clone(),
            misses_because: fact.misses_because.clone(),
            ablation: fact.ablation.as_ref().map(|ablation| ablation.what.clone()),
            checks: fact.also.iter().map(check).collect::<Result<_, _>>()?,
            instead: fact.instead.iter().map(check).collect::<Result<_, _>>()?,
            inputs: inputs.collect::<Result<_, _>>()?,
            stored: ranges.get(&fact.id).filter(|_| scope.ablation.is_none()).map(|stored| stored.row(fact)),
        };
        row.check.ok = row.check.ok && row.checks.iter().all(|check| check.ok) && row.inputs.iter().all(|input| input.check.ok);
        row.verdict = row.verdict();
        Ok(row)
    }

    fn check(&self, check: &Check, changes: &[Option<Changes>], seeds: u64) -> Result<CheckRow, EvalError> {
        let values = (1..=seeds.max(1)).map(|nth| self.value(&check.measure, changes, nth)).collect::<Result<Vec<f64>, _>>()?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let several = values.len() > 1;
        Ok(CheckRow {
            title: check.title.clone(),
            documented: check.documented,
            simulated: values[0],
            unit: check.unit.clone(),
            tolerance: check.tolerance,
            ok: values.iter().all(|value| check.tolerance.holds(check.documented, *value)),
            range: several.then_some([least, greatest]),
            values: if several { values } else { Vec::new() },
        })
    }
}
