//! Facts: what the source documents, what the model yields, and whether they agree.
//!
//! A measure is a metric, a ratio or difference of two, or a ratio over another, taken from runs of the case. It reads results only.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Case;
use super::tolerance::{Documented, Tolerance};
use seeklab_model::stack::Stack;
use seeklab_spec::{Presets, Problem, Problems};

/// How a simulated value came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "FactKind")]
pub enum Kind {
    /// Falls out of mechanism and stated parameters.
    Predicted,
    /// One named parameter was set so that it comes out.
    Calibrated,
    /// The source's own arithmetic does not hold.
    Discrepancy,
}

/// How one value is made from several seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Their mean.
    #[default]
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

/// A metric of a run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// Name of the metric.
    pub metric: String,
    /// Variant; the default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Further changes of the scenario.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub set: Map<String, Value>,
    /// Number of seeds, from 1.
    #[serde(default = "one")]
    pub seeds: u64,
    /// How the seeds make one value.
    #[serde(default)]
    pub over: Over,
}

fn one() -> u64 {
    1
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, try_from = "Value")]
pub enum Measure {
    /// The first term over the second.
    Ratio {
        /// Numerator and denominator.
        ratio: [Term; 2],
    },
    /// A ratio over another.
    Ratios {
        /// Numerator and denominator, each a ratio.
        ratios: Box<[[Term; 2]; 2]>,
    },
    /// The first term less the second.
    Difference {
        /// Minuend and subtrahend.
        difference: [Term; 2],
    },
    /// A metric.
    Value(Term),
}

impl TryFrom<Value> for Measure {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        Self::read(&value).map_err(|error| format!("{error}; write {}", Self::ACCEPTED))
    }
}

impl Measure {
    /// The forms of a measure, for error messages.
    const ACCEPTED: &str = "{ metric = \"name\" } with variant, set, seeds or over beside it, { ratio = [a, b] }, \
                            { ratios = [[a, b], [c, d]] } or { difference = [a, b] }, where each letter stands for such a metric";

    fn read(value: &Value) -> Result<Self, serde_json::Error> {
        let pair = |name| value.get(name).filter(|_| value.as_object().is_some_and(|object| object.len() == 1));
        Ok(if let Some(terms) = pair("ratio") {
            Self::Ratio { ratio: Deserialize::deserialize(terms)? }
        } else if let Some(terms) = pair("ratios") {
            Self::Ratios { ratios: Deserialize::deserialize(terms)? }
        } else if let Some(terms) = pair("difference") {
            Self::Difference { difference: Deserialize::deserialize(terms)? }
        } else {
            Self::Value(Deserialize::deserialize(value)?)
        })
    }
}

/// A documented value and the measure that must meet it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What it is.
    pub title: String,
    /// What the source says.
    pub documented: Documented,
    /// How near the simulated value must come.
    pub tolerance: Tolerance,
    /// Unit of both values.
    pub unit: String,
    /// What is measured.
    pub measure: Measure,
}

/// The ablation of a fact: with its mechanism off it must fail.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Break {
    /// What is switched off.
    pub what: String,
    /// Changes of the scenario, on top of each term's own.
    pub set: Map<String, Value>,
    /// The only variant that is changed; all are when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// A fact of a case.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(from = "Written")]
#[schemars(rename = "FactEntry")]
pub struct Fact {
    /// Number of the fact, such as Q1.1.
    pub id: String,
    /// How the value came about.
    pub kind: Kind,
    /// The value and its measure.
    #[serde(flatten)]
    pub check: Check,
    /// Further values that the fact needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Check>,
    /// The ablation.
    #[serde(rename = "break", skip_serializing_if = "Option::is_none")]
    pub ablation: Option<Break>,
    /// What a reader should know: the parameter a calibrated value was paid with, where a predicted one could have moved.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Why the fact is known to miss; a fact with a reason must miss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misses_because: Option<String>,
}

/// A fact as a case file writes it: the fields of its check stand beside its own.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Written {
    id: String,
    kind: Kind,
    title: String,
    documented: Documented,
    tolerance: Tolerance,
    unit: String,
    measure: Measure,
    #[serde(default)]
    also: Vec<Check>,
    #[serde(rename = "break", default)]
    ablation: Option<Break>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    misses_because: Option<String>,
}

impl From<Written> for Fact {
    fn from(written: Written) -> Self {
        let Written { id, kind, title, documented, tolerance, unit, measure, also, ablation, note, misses_because } = written;
        Self { id, kind, check: Check { title, documented, tolerance, unit, measure }, also, ablation, note, misses_because }
    }
}

/// Runs of a case, each made once.
pub struct Runs<'a> {
    presets: &'a Presets,
    metrics: BTreeMap<String, BTreeMap<String, f64>>,
}

impl<'a> Runs<'a> {
    /// None yet; scenarios take their presets from these.
    #[must_use]
    pub fn new(presets: &'a Presets) -> Self {
        Self { presets, metrics: BTreeMap::new() }
    }

    /// The metrics of a run to its end.
    fn metrics(&mut self, case: &Case, term: &Term, ablation: Option<&Break>, seed: u64) -> Result<&BTreeMap<String, f64>, Problems> {
        let mut changes = term.set.clone();
        changes.insert("record.log".into(), Value::Bool(false));
        if let Some(ablation) = ablation.filter(|ablation| ablation.variant.is_none() || ablation.variant == term.variant) {
            changes.extend(ablation.set.clone());
        }
        let key = format!("{:?} {} {seed}", term.variant, Value::Object(changes.clone()));
        if !self.metrics.contains_key(&key) {
            let mut stack = Stack::new(case.scenario(term.variant.as_deref(), &changes, self.presets)?, seed);
            while !stack.step(1 << 20).map_err(|problem| vec![problem])? {}
            let metrics = seeklab_observe::metrics(&stack).into_iter().map(|metric| (metric.name, metric.value)).collect();
            self.metrics.insert(key.clone(), metrics);
        }
        Ok(self.metrics.entry(key).or_default())
    }

    fn term(&mut self, case: &Case, term: &Term, ablation: Option<&Break>) -> Result<f64, Problems> {
        let mut values = Vec::new();
        for seed in 1..=term.seeds {
            let metrics = self.metrics(case, term, ablation, seed)?;
            match metrics.get(&term.metric) {
                Some(value) => values.push(*value),
                None => {
                    return Err(vec![Problem::unknown("metric", "metric of this run", &term.metric, metrics.keys().map(String::as_str))]);
                }
            }
        }
        #[allow(clippy::cast_precision_loss)] // a number of seeds
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Ok(match term.over {
            Over::Mean => mean,
            Over::Max => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
            Over::Min => values.into_iter().fold(f64::INFINITY, f64::min),
        })
    }

    /// The value of a measure, with an ablation's changes on top of each run's own.
    ///
    /// # Errors
    /// When a scenario is not valid, a run exceeds its limits or a metric does not exist.
    pub fn measure(&mut self, case: &Case, measure: &Measure, ablation: Option<&Break>) -> Result<f64, Problems> {
        Ok(match measure {
            Measure::Value(term) => self.term(case, term, ablation)?,
            Measure::Ratio { ratio: [a, b] } => self.term(case, a, ablation)? / self.term(case, b, ablation)?,
            Measure::Ratios { ratios } => {
                let [[a, b], [c, d]] = &**ratios;
                self.term(case, a, ablation)?
                    / self.term(case, b, ablation)?
                    / (self.term(case, c, ablation)? / self.term(case, d, ablation)?)
            }
            Measure::Difference { difference: [a, b] } => self.term(case, a, ablation)? - self.term(case, b, ablation)?,
        })
    }

    /// A fact as a row: documented, simulated, and whether they agree; with an ablation's changes, if any.
    ///
    /// # Errors
    /// When a measure cannot be taken.
    pub fn fact(&mut self, case: &Case, fact: &Fact, ablation: Option<&Break>) -> Result<Value, Problems> {
        let mut row = self.check(case, &fact.check, ablation)?;
        let also = fact.also.iter().map(|check| self.check(case, check, ablation)).collect::<Result<Vec<_>, _>>()?;
        let ok = row["ok"] == true && also.iter().all(|check| check["ok"] == true);
        if let Some(object) = row.as_object_mut() {
            object.insert("ok".into(), ok.into());
            object.insert("case".into(), case.id.clone().into());
            object.insert("id".into(), fact.id.clone().into());
            object.insert("kind".into(), json!(fact.kind));
            object.insert("note".into(), fact.note.clone().into());
            object.insert("misses_because".into(), json!(fact.misses_because));
            object.insert("break".into(), json!(fact.ablation.as_ref().map(|ablation| &ablation.what)));
            object.insert("checks".into(), also.into());
        }
        Ok(row)
    }

    fn check(&mut self, case: &Case, check: &Check, ablation: Option<&Break>) -> Result<Value, Problems> {
        let simulated = self.measure(case, &check.measure, ablation)?;
        Ok(json!({
            "title": check.title,
            "documented": check.documented,
            "simulated": simulated,
            "unit": check.unit,
            "tolerance": check.tolerance,
            "ok": check.tolerance.holds(check.documented, simulated),
        }))
    }
}
