//! A case: a documented incident as data. The same file feeds page, notebook, command line and tests.

pub mod controls;
pub mod evaluate;
pub mod facts;
pub mod ranges;
pub mod shift;
pub mod tolerance;
pub mod verdict;
pub mod view;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use seeklab_spec::reader::FromJson;
use serde::Serialize;
use serde_json::{Map, Value};

use seeklab_model::Checked;
use seeklab_spec::{Op, Presets, Problem, Problems, Scenario};

use self::view::View;

/// Where a case was documented.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Author and title.
    pub name: String,
    /// Where it can be read: an `https` address of the article, or of the place where it appeared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Year of the incident or its publication.
    pub year: u32,
    /// Kind of source, and how its numbers were read.
    pub note: String,
}

/// A named change of the base scenario.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Name.
    pub name: String,
    /// Label.
    pub title: String,
    /// One sentence: what is different.
    pub summary: String,
    /// Paths and their values; null removes what is there (in a case file: `unset`, a list of paths beside `set`).
    #[serde(default)]
    pub set: Map<String, Value>,
    /// In place of the case's `coarse`, where its own values do not suit this variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coarse: Option<Map<String, Value>>,
}

/// A field of the scenario that a learner should touch.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseControl {
    /// Path in the scenario.
    pub path: String,
    /// Label; the schema's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Smallest value offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest value offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Distance of the values offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
}

/// A named experiment with a surprise.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhatIf {
    /// Name of the change.
    pub title: String,
    /// Variant that it starts from.
    pub variant: String,
    /// Paths and their values; null removes what is there (in a case file: `unset`, a list of paths beside `set`).
    #[serde(default)]
    pub set: Map<String, Value>,
    /// The effect, and its reason.
    pub surprise: String,
}

/// How a range of numbers is spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By equal factors.
    Log,
}

/// A question to answer before the run.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The question.
    pub question: String,
    /// How the answer is measured.
    pub measure: facts::Measure,
    /// Unit of the answer.
    pub unit: String,
    /// Least answer offered.
    pub min: f64,
    /// Greatest answer offered.
    pub max: f64,
    /// How answers are spaced.
    pub scale: Scale,
    /// Text shown with the answer; `{answer}` stands for it.
    pub reveal: String,
    /// Metrics and views that would give the answer away: they stay covered until the reader has committed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<String>,
}

/// The job and direction whose operations the views show.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Focus {
    /// Job.
    pub job: String,
    /// Direction.
    pub op: Op,
}

/// The scope of the model.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// In the model.
    #[serde(rename = "in")]
    pub inside: Vec<String>,
    /// Left out.
    #[serde(rename = "out")]
    pub outside: Vec<String>,
    /// Parameters that could have moved a predicted fact, and where each came from.
    pub parameters: Vec<String>,
}

/// A documented incident, as its file tells it.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[schemars(rename = "CaseDocument")]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name in commands and addresses.
    pub id: String,
    /// Short code, such as Q1.
    pub code: String,
    /// Title.
    pub title: String,
    /// The symptom, one sentence.
    pub symptom: String,
    /// A second sentence.
    pub subtitle: String,
    /// Family of cases, one of the library's.
    pub family: String,
    /// The incident, in our words.
    pub story: String,
    /// Where it was documented.
    pub source: Source,
    /// The view that shows it best.
    pub view: View,
    /// Other views that help.
    pub views: Vec<View>,
    /// The requests that the moving picture plays, as `record.journeys`; those of the begin of the run when empty.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub journeys: Map<String, Value>,
    /// Changes with which a run is drawn while a control moves, where the whole takes too long for that: paths and their values. In a
    /// variant that has dropped a part of the scenario, those of that part are left out.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub coarse: Map<String, Value>,
    /// The focus of the views.
    pub focus: Focus,
    /// The result as a sentence, with metrics in braces.
    pub sentence: String,
    /// The question to predict first.
    pub ask: Ask,
    /// The mechanism.
    pub why: String,
    /// The scope of the model.
    pub model: Model,
    /// Notebook of the course that investigates it, by file name without its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notebook: Option<String>,
    /// Exercises about it, by the names of their folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exercises: Vec<String>,
    /// Variant that is meant when none is named.
    pub default_variant: String,
    /// Variant that the page opens on: the failing run. The default one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<String>,
    /// Fields that a learner should touch.
    pub controls: Vec<CaseControl>,
    /// Named changes of the scenario.
    pub variants: Vec<Variant>,
    /// Named experiments.
    pub what_ifs: Vec<WhatIf>,
    /// On-call shifts that are drawn from it, or the reason for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<shift::Shifts>,
    /// Documented vs. simulated.
    pub facts: Vec<facts::Fact>,
    /// The scenario that every variant starts from, before presets are filled in.
    #[schemars(schema_with = "part_of_scenario")]
    pub scenario: Value,
}

/// A scenario that may still lack anything, for the schema.
fn part_of_scenario(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = generator.subschema_for::<Scenario>();
    schema.insert("x-partial".to_owned(), true.into());
    schema
}

impl Variant {
    /// Whether the variant has dropped the field, or a part of the scenario that it stands in.
    fn has_dropped(&self, path: &str) -> bool {
        let stands_in = |whole: &str| path.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        self.set.iter().any(|(whole, value)| value.is_null() && stands_in(whole))
    }
}

impl Case {
    /// The changes with which a variant is drawn while a control moves: its own, or the case's without what it has dropped.
    #[must_use]
    pub fn coarse_of(&self, variant: &Variant) -> Map<String, Value> {
        if let Some(own) = &variant.coarse {
            return own.clone();
        }
        self.coarse.iter().filter(|(path, _)| !variant.has_dropped(path)).map(|(path, value)| (path.clone(), value.clone())).collect()
    }

    /// Reads a case document. What its fields say about each other is checked where files are read; other hosts get the result.
    ///
    /// # Errors
    /// The path of the first field that is missing, unknown, of the wrong type or in a contradiction, and what is accepted.
    pub fn read(document: &Value) -> Result<Self, (String, String)> {
        let case: Self = seeklab_spec::reader::from_value(document).map_err(|problem| (problem.path, problem.message))?;
        #[cfg(feature = "files")]
        case.check()?;
        Ok(case)
    }

    #[cfg(feature = "files")]
    fn check(&self) -> Result<(), (String, String)> {
        for (index, fact) in self.facts.iter().enumerate() {
            fact.check_kind().map_err(|(field, message)| (format!("facts[{index}].{field}"), message))?;
        }
        self.shift.as_ref().map_or(Ok(()), |shifts| shifts.check(self))
    }

    /// The number in the code: 10 of S10; cases of a family are shown in its order.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.code.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap_or(u32::MAX)
    }

    /// The variant of that name, or the default one.
    ///
    /// # Errors
    /// When there is none; the message names the nearest.
    pub fn variant(&self, name: Option<&str>) -> Result<&Variant, Problems> {
        let name = name.unwrap_or(&self.default_variant);
        self.variants
            .iter()
            .find(|variant| variant.name == name)
            .ok_or_else(|| vec![Problem::unknown("variant", "variant", name, self.variants.iter().map(|v| v.name.as_str()))])
    }

    /// The scenario's JSON of a variant with further changes, before it is checked.
    ///
    /// # Errors
    /// When the variant does not exist or a path is not one.
    pub fn document(&self, variant: Option<&str>, changes: &Map<String, Value>) -> Result<Value, Problems> {
        let mut document = self.scenario.clone();
        let mut problems = Problems::new();
        for (path, value) in self.variant(variant)?.set.iter().chain(changes) {
            if let Err(problem) = seeklab_spec::read::set(&mut document, path, value.clone()) {
                problems.push(problem);
            }
        }
        if problems.is_empty() { Ok(document) } else { Err(problems) }
    }

    /// The checked scenario of a variant with further changes.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn scenario(&self, variant: Option<&str>, changes: &Map<String, Value>, presets: &Presets) -> Result<Checked, Problems> {
        seeklab_model::read(&self.document(variant, changes)?, presets)
    }
}
