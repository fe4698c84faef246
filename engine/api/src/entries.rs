//! Entries of lists: what a list shows of a case, of a preset, of a column.

use schemars::JsonSchema;
use seeklab_library::Library;
use seeklab_library::case::Case;
use serde::Serialize;
use serde_json::Value;

/// The engine's own version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Version {
    /// Version of the engine.
    pub engine: &'static str,
}

/// A case in a list. Lists are in the order of families, and of the numbers of codes within a family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaseEntry {
    /// Name in commands and addresses.
    pub id: String,
    /// Short code, such as Q1.
    pub code: String,
    /// Title.
    pub title: String,
    /// The symptom, one sentence.
    pub symptom: String,
    /// Family of cases.
    pub family: String,
    /// Place of the family among the families, from 1.
    pub family_order: usize,
    /// Where it was documented.
    pub source: String,
    /// Names of its variants.
    pub variants: Vec<String>,
    /// Paths of the fields that a learner should touch.
    pub controls: Vec<String>,
}

impl CaseEntry {
    /// The entry of a case.
    pub(crate) fn of(library: &Library, case: &Case) -> Self {
        Self {
            id: case.id.clone(),
            code: case.code.clone(),
            title: case.title.clone(),
            symptom: case.symptom.clone(),
            family: case.family.clone(),
            family_order: library.family_order(case),
            source: case.source.name.clone(),
            variants: case.variants.iter().map(|variant| variant.name.clone()).collect(),
            controls: case.controls.iter().map(|control| control.path.clone()).collect(),
        }
    }
}

/// A preset in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PresetEntry {
    /// Name in scenarios.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where its numbers come from.
    pub source: String,
    /// `hdd`, `ssd`, `lun`, or `pool`.
    pub kind: &'static str,
    /// What its numbers come from: `measured`, `data sheet`, or `both`. Null for definitions and pools.
    pub basis: Option<String>,
}

impl PresetEntry {
    /// The entry of a preset.
    pub(crate) fn of(preset: &Value) -> Self {
        let text = |name: &str| preset[name].as_str().unwrap_or_default().to_owned();
        let kind = ["hdd", "ssd", "lun"].into_iter().find(|kind| preset["device"].get(kind).is_some()).unwrap_or("pool");
        let basis = preset["basis"].as_str().map(str::to_owned);
        Self { name: text("name"), title: text("title"), source: text("source"), kind, basis }
    }
}

/// A column in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ColumnEntry {
    /// Name, `table.column`.
    pub name: String,
    /// Type of its elements: `f64` or `u32`.
    pub dtype: &'static str,
    /// Number of its values.
    pub length: usize,
}
