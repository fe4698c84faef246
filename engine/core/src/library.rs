//! The cases and presets that are built into the engine.

use std::sync::OnceLock;

use serde_json::Value;

use crate::case::Case;
use crate::scenario::{Problem, Problems};

fn parse(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("the build wrote this JSON")
}

/// All presets: `name`, `title`, `source`, `device` (the fields of a device group).
#[must_use]
pub fn presets() -> &'static [Value] {
    static PRESETS: OnceLock<Vec<Value>> = OnceLock::new();
    PRESETS.get_or_init(|| parse(include_str!(concat!(env!("OUT_DIR"), "/presets.json"))))
}

/// A preset by its name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static Value> {
    presets().iter().find(|preset| preset.get("name").and_then(Value::as_str) == Some(name))
}

/// All cases.
///
/// # Panics
/// When a case file is not one; a test reads them all.
#[must_use]
pub fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let documents = parse(include_str!(concat!(env!("OUT_DIR"), "/cases.json")));
        documents.iter().map(|document| Case::read(document).expect("case files are checked by a test")).collect()
    })
}

/// A case by its id.
///
/// # Errors
/// When there is none; the message names the nearest.
pub fn case(id: &str) -> Result<&'static Case, Problems> {
    cases()
        .iter()
        .find(|case| case.id == id || case.code.eq_ignore_ascii_case(id))
        .ok_or_else(|| vec![Problem::unknown("case", "case", id, cases().iter().map(|case| case.id.as_str()))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_file_reads_and_every_variant_is_a_valid_scenario() {
        for document in parse(include_str!(concat!(env!("OUT_DIR"), "/cases.json"))) {
            // serde_json says what is wrong with a case file; the engine only that something is.
            let strict: Result<Case, _> = serde_json::from_value(document.clone());
            let strict = strict.unwrap_or_else(|error| panic!("case {}: {error}", document["id"]));
            let case = Case::read(&document).expect("it fits");
            assert_eq!(serde_json::to_value(&case).expect("JSON"), serde_json::to_value(strict).expect("JSON"));
            for variant in &case.variants {
                if let Err(problems) = case.scenario(Some(&variant.name), &serde_json::Map::new()) {
                    panic!("{} {}: {problems:?}", case.id, variant.name);
                }
            }
            for what_if in &case.what_ifs {
                if let Err(problems) = case.scenario(Some(&what_if.variant), &what_if.set) {
                    panic!("{} {}: {problems:?}", case.id, what_if.title);
                }
            }
        }
    }

    #[test]
    fn every_preset_names_its_source() {
        for preset in presets() {
            for field in ["name", "title", "source", "device"] {
                assert!(preset.get(field).is_some(), "{preset}: {field}");
            }
        }
    }
}
