//! On-call shifts of a case: what is wrong with a system, how such a system is drawn, and how a learner can tell.
//!
//! The random numbers themselves are drawn by the host that plays the shift; a seed gives the same shift because draws have an order.

use schemars::JsonSchema;
use seeklab_spec::reader::{Fault, FromJson};
use serde::Serialize;
use serde_json::{Map, Value};

#[cfg(feature = "files")]
mod check;

/// The shifts of a case as its file has them, checked: the host that plays them reads them, so nothing here writes their types.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Shifts(#[schemars(with = "ShiftTables")] Value);

/// The shifts that are drawn from a case, or why there is none: a table `[shift]`, or several `[[shift]]`.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "for the schema")]
enum ShiftTables {
    /// One for each thing that may be wrong.
    Several(Vec<Shift>),
    /// The only one.
    One(Box<Shift>),
    /// None.
    None(NoShift),
}

/// Why no shift is drawn from a case.
#[derive(FromJson, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "read for its type")]
struct NoShift {
    /// The reason, as the end of a sentence.
    none_because: String,
}

/// Something that may be wrong with a system, and how a system with it is drawn.
#[derive(FromJson, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are read for their types: the host that plays the shift has the values")]
struct Shift {
    /// The mechanism, in a sentence.
    cause: String,
    /// Variant of the system as it is found.
    failing: String,
    /// Jobs that are kept; the first is the application that complains.
    jobs: Vec<String>,
    /// Paths and values that differ from the variant's; null removes what is there (in a case file: `unset`).
    #[serde(default)]
    set: Map<String, Value>,
    /// Values that the seed decides, in the order in which they are drawn.
    #[serde(default)]
    draw: Vec<Draw>,
    /// Metric of the ticket: `JOB.NUMBER`, or one of the monitor or of data reduction.
    metric: String,
    /// The better direction of the metric.
    better: Better,
    /// Paths and values that repair it; `{ of, times }` follows a drawn value.
    fix: Map<String, Value>,
    /// The command that tells it.
    command: String,
    /// What the output of that command reveals.
    tells: String,
    /// Maximum factor over the healthy number for a change that sets something else than the fix does.
    #[serde(default)]
    at_most: Option<f64>,
    /// Week of the course that teaches the mechanism.
    week: u64,
}

/// The better direction of a number.
#[derive(FromJson, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Better {
    /// The more, the better.
    More,
    /// The less, the better.
    Less,
}

/// A value that the seed decides: one of `choose` or of `range`, times `times`, times the number drawn for `of`, then `unit`.
#[derive(FromJson, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "some fields are read for their types: the host draws")]
struct Draw {
    /// Path in the scenario.
    path: String,
    /// Numbers that are equally likely.
    #[serde(default)]
    choose: Vec<u64>,
    /// First and last number of a range.
    #[serde(default)]
    range: Option<[u64; 2]>,
    /// Distance of the numbers of the range; 1 when absent.
    #[serde(default)]
    step: Option<u64>,
    /// A constant factor.
    #[serde(default)]
    times: Option<u64>,
    /// Path of an earlier draw, whose number (without its unit) is a factor.
    #[serde(default)]
    of: Option<String>,
    /// Unit that is written behind the number, such as `MiB` or `ms`.
    #[serde(default)]
    unit: Option<String>,
}

impl FromJson for Shifts {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        #[cfg(feature = "files")]
        check::tables(value)?;
        Ok(Self(value.clone()))
    }
}
