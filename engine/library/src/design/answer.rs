//! The result of a design, as hosts receive it.

use schemars::JsonSchema;
use seeklab_spec::Problems;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A pool on paper: what it costs, what it holds, and its tests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoolDesign {
    /// The case that runs the tests.
    pub case: &'static str,
    /// How disks are laid out, in words.
    pub layout: &'static str,
    /// Total cost of all parts.
    #[serde(serialize_with = "plain")]
    pub cost: f64,
    /// Bytes of data that it holds.
    #[serde(serialize_with = "plain")]
    pub capacity_bytes: f64,
    /// Valid settings that are rarely intended. The path is a part's name.
    pub warnings: Problems,
    /// Its parts.
    pub parts: Vec<DesignPart>,
    /// The tests.
    pub tests: Vec<DesignTest>,
}

/// A part of a pool: how many, within which range, at which price.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DesignPart {
    /// Name in the input.
    pub name: &'static str,
    /// Label of the part.
    pub title: &'static str,
    /// Unit of the number; empty for a number of things.
    pub unit: &'static str,
    /// Number or amount.
    pub number: u64,
    /// Least, most, and the step between.
    pub range: [u64; 3],
    /// Price of one.
    #[serde(serialize_with = "plain")]
    pub price: f64,
    /// Price of all.
    #[serde(serialize_with = "plain")]
    pub cost: f64,
    /// Whether it has a price at all.
    pub is_priced: bool,
}

/// A test of a pool: what to run, which metric counts, and what each part allows at most.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DesignTest {
    /// Name.
    pub name: &'static str,
    /// Label of the test.
    pub title: &'static str,
    /// The variant of the case that it runs.
    pub variant: &'static str,
    /// The metric that counts.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// Changes of the variant, by path.
    pub set: Map<String, Value>,
    /// Limit of each part, the smallest first: it binds the test.
    pub bounds: Vec<Bound>,
}

/// The limit of a part in a test.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bound {
    /// The part.
    pub what: &'static str,
    /// The most that it allows, in the test's unit.
    #[serde(serialize_with = "plain")]
    pub most: f64,
}

/// A number as people write it, without a fraction where there is none.
#[allow(clippy::cast_possible_truncation, clippy::trivially_copy_pass_by_ref)] // whole and small enough; serde gives a reference
fn plain<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        return serializer.serialize_i64(*value as i64);
    }
    serializer.serialize_f64(*value)
}
