//! Facts as case files write them: what the source documents, what is measured, and how near it must come.
//!
//! A measure is a metric, a ratio or difference of two, or a ratio over another, taken from runs of the case. It reads results only.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use seeklab_spec::Problem;
use seeklab_spec::reader::{FromJson, from_value};

use super::tolerance::{Documented, Tolerance};

/// How a simulated value came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "FactKind")]
pub enum Kind {
    /// Falls out of mechanism and stated parameters.
    Predicted,
    /// One named parameter was set so that it comes out.
    Calibrated,
    /// The source's own arithmetic does not hold, so that no honest model can meet its number.
    Discrepancy,
}

/// How one value is made from several seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
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

/// How a fact's value is measured.
#[derive(Clone, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
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
        Self::read(&value).map_err(|problem| format!("{}; write {}", problem.message, Self::ACCEPTED))
    }
}

impl Measure {
    /// The forms of a measure, for error messages.
    const ACCEPTED: &str = "{ metric = \"name\" } with optional variant, set, seeds or over, { ratio = [a, b] }, \
                            { ratios = [[a, b], [c, d]] } or { difference = [a, b] }; each letter is such a metric";

    fn read(value: &Value) -> Result<Self, Problem> {
        let pair = |name| value.get(name).filter(|_| value.as_object().is_some_and(|object| object.len() == 1));
        Ok(if let Some(terms) = pair("ratio") {
            Self::Ratio { ratio: from_value(terms)? }
        } else if let Some(terms) = pair("ratios") {
            Self::Ratios { ratios: from_value(terms)? }
        } else if let Some(terms) = pair("difference") {
            Self::Difference { difference: from_value(terms)? }
        } else {
            Self::Value(from_value(value)?)
        })
    }
}

/// A documented value and the measure that must meet it.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Name of the fact.
    pub title: String,
    /// Value that the source documents.
    pub documented: Documented,
    /// How near the simulated value must come.
    pub tolerance: Tolerance,
    /// Unit of both values.
    pub unit: String,
    /// How the value is measured.
    pub measure: Measure,
}

/// The ablation of a fact: with its mechanism off it must fail.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Break {
    /// The mechanism that is switched off.
    pub what: String,
    /// Changes of the scenario, on top of each term's own.
    pub set: Map<String, Value>,
    /// The only variant that is changed; all are when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// A further point at which a fact is judged: other values of its inputs, and what is expected there.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Changes of the scenario, on top of each term's own.
    pub set: Map<String, Value>,
    /// The only variant that is changed; all are when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// How the expectation follows there: a closed form with its numbers, or the relation that the source states.
    pub law: String,
    /// Expected value. Default: the fact's own value, for a relation that does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<Documented>,
    /// How near the simulated value must come; the fact's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    /// How the value is measured. Default: the fact's own measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Measure>,
}

impl Input {
    /// Return the check at this point.
    #[must_use]
    pub fn check(&self, fact: &Fact) -> Check {
        Check {
            title: self.law.clone(),
            documented: self.documented.unwrap_or(fact.check.documented),
            tolerance: self.tolerance.unwrap_or(fact.check.tolerance),
            unit: fact.check.unit.clone(),
            measure: self.measure.as_ref().unwrap_or(&fact.check.measure).clone(),
        }
    }
}

/// A fact of a case.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
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
    /// Of a discrepancy: what holds instead of the source's claim, such as the right formula.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<Check>,
    /// Further points at which the fact must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The ablation.
    #[serde(rename = "break", skip_serializing_if = "Option::is_none")]
    pub ablation: Option<Break>,
    /// Note for the reader: the parameter fitted by a calibrated value, or how a predicted one could have differed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Why the fact is known to miss, or what is wrong with the source; a fact with a reason must miss.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misses_because: Option<String>,
}

#[cfg(feature = "files")]
impl Fact {
    /// Other values of its inputs at which a predicted fact is judged, at least.
    const INPUTS: usize = 2;

    /// Looks at what the kind of the fact needs and rules out.
    ///
    /// # Errors
    /// The first field that is wrong, and what to write.
    pub(super) fn check_kind(&self) -> Result<(), (String, String)> {
        let wrong = |field: &str, message: &str| Err((field.to_owned(), message.to_owned()));
        match self.kind {
            Kind::Discrepancy if self.misses_because.as_deref().unwrap_or_default().is_empty() => {
                return wrong("misses_because", "is missing; explain what is wrong with the source's claim");
            }
            Kind::Predicted | Kind::Calibrated if !self.instead.is_empty() => {
                return wrong("instead", "belongs to a discrepancy; list further checks of this fact in also");
            }
            Kind::Predicted if self.ablation.is_none() => {
                return wrong(
                    "break",
                    "is missing; write what = \"the mechanism\" and a set that switches it off, which must make the fact fail",
                );
            }
            Kind::Predicted if self.inputs.len() < Self::INPUTS => {
                let message = format!("has {} points; a predicted fact needs at least {}", self.inputs.len(), Self::INPUTS);
                return wrong("inputs", &message);
            }
            _ => {}
        }
        match self.inputs.iter().position(|input| input.set.is_empty() && input.measure.is_none()) {
            Some(index) => wrong(&format!("inputs[{index}].set"), "changes nothing; set another value, or add a separate measure"),
            None => Ok(()),
        }
    }
}

/// A fact as a case file writes it: the fields of its check stand beside its own.
#[derive(FromJson, JsonSchema)]
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
    #[serde(default)]
    instead: Vec<Check>,
    #[serde(default)]
    inputs: Vec<Input>,
    #[serde(rename = "break", default)]
    ablation: Option<Break>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    misses_because: Option<String>,
}

impl From<Written> for Fact {
    fn from(written: Written) -> Self {
        let Written { id, kind, title, documented, tolerance, unit, measure, also, instead, inputs, ablation, note, misses_because } =
            written;
        Self {
            id,
            kind,
            check: Check { title, documented, tolerance, unit, measure },
            also,
            instead,
            inputs,
            ablation,
            note,
            misses_because,
        }
    }
}
