//! The cases and presets that the engine knows.
//!
//! Presets are built in. Cases are texts, each read when it is first asked for: a run of one case does not wait for the others,
//! and a case file that cannot be read is an error of whoever asks for it. Natively they are built in too; the module for the
//! hosts is given them once ([`give`]), with the schema of scenarios, so that it does not grow with each case that is told.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::scenario::{Problem, Problems, schema};

/// What [`give`] takes, as the build wrote it.
#[cfg(not(feature = "library-beside"))]
const BUILT_IN: &str = include_str!(concat!(env!("OUT_DIR"), "/cases.json"));
/// What [`give`] takes: nothing is built in.
#[cfg(feature = "library-beside")]
const BUILT_IN: &str = "";

struct Entry {
    id: String,
    code: String,
    document: String,
    read: OnceLock<Result<Case, Problems>>,
}

impl Entry {
    fn read(&self) -> Result<&Case, Problems> {
        self.read.get_or_init(|| parse(&self.id, &self.document)).as_ref().map_err(Clone::clone)
    }
}

static SHELF: OnceLock<Vec<Entry>> = OnceLock::new();

fn shelf() -> &'static [Entry] {
    if let (None, Ok(Value::Object(file))) = (SHELF.get(), serde_json::from_str(BUILT_IN)) {
        let _ = give(&file); // the build wrote it; a test demands that the cases are there
    }
    SHELF.get().map_or(&[], Vec::as_slice)
}

/// The file that a host gives the engine: what [`give`] takes.
#[cfg(not(feature = "library-beside"))]
#[must_use]
pub fn written() -> String {
    // Both are JSON texts of this build: the cases an object of one entry, which the schema joins.
    let cases = BUILT_IN.trim_start_matches('{');
    format!("{{\"schema\":{},{cases}", schema::scenario_schema())
}

/// Takes the library, `{"schema": {...}, "cases": [[id, code, document], ...]}`, and tells how many cases the engine now knows.
/// What was given first stays.
///
/// # Errors
/// When the list is not of this form.
pub fn give(file: &Map<String, Value>) -> Result<usize, Problems> {
    let entry = |row: &Value| {
        let text = |place: usize| row.get(place).and_then(Value::as_str).map(str::to_owned);
        Some(Entry { id: text(0)?, code: text(1)?, document: text(2)?, read: OnceLock::new() })
    };
    let rows = file.get("cases").and_then(Value::as_array);
    let entries = rows.and_then(|rows| rows.iter().map(entry).collect()).ok_or_else(|| {
        vec![Problem::new("cases", "is not a list of cases; give the file that was built with the engine, each [id, code, document]")]
    })?;
    if let Some(schema) = file.get("schema") {
        schema::give(schema);
    }
    Ok(SHELF.get_or_init(|| entries).len())
}

/// All presets: `name`, `title`, `source`, and `device` (the fields of a device group) or `system` (the fields of a scenario).
#[must_use]
pub fn presets() -> &'static [Value] {
    static PRESETS: OnceLock<Vec<Value>> = OnceLock::new();
    // The build wrote this JSON; a test demands that every preset is there.
    PRESETS.get_or_init(|| serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/presets.json"))).unwrap_or_default())
}

/// A preset by its name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static Value> {
    presets().iter().find(|preset| preset.get("name").and_then(Value::as_str) == Some(name))
}

/// The error for a preset that does not exist, or is not of this kind (`device` or `system`).
#[must_use]
pub fn no_preset(path: &str, name: &str, kind: Option<&str>) -> Problem {
    let presets = presets().iter().filter(|preset| kind.is_none_or(|kind| preset.get(kind).is_some()));
    Problem::unknown(path, "preset", name, presets.filter_map(|preset| preset["name"].as_str()))
}

/// The scenario, but for its jobs, that a preset stands for: its system, or its device alone.
///
/// # Errors
/// When there is none; the message names the nearest.
pub fn system(name: &str) -> Result<Value, Problems> {
    let preset = preset(name).ok_or_else(|| vec![no_preset("preset", name, None)])?;
    let is_system = preset.get("system").is_some();
    Ok(if is_system { json!({"preset": name}) } else { json!({"devices": [{"name": "disk", "preset": name}]}) })
}

fn parse(id: &str, document: &str) -> Result<Case, Problems> {
    let wrong = |message: String| vec![Problem::new(format!("cases.{id}"), message)];
    let document = serde_json::from_str(document).map_err(|error| wrong(error.to_string()))?;
    Case::read(&document).map_err(|error| wrong(error.to_string()))
}

/// All cases.
///
/// # Errors
/// When a case file is not one; all that are wrong, at once.
pub fn cases() -> Result<Vec<&'static Case>, Problems> {
    let (mut cases, mut problems) = (Vec::new(), Problems::new());
    for entry in shelf() {
        match entry.read() {
            Ok(case) => cases.push(case),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(cases) } else { Err(problems) }
}

/// A case by its id or code.
///
/// # Errors
/// When there is none, in which case the message names the nearest, or when its file is not a case.
pub fn case(id: &str) -> Result<&'static Case, Problems> {
    match shelf().iter().find(|entry| entry.id == id || entry.code.eq_ignore_ascii_case(id)) {
        Some(entry) => entry.read(),
        None => Err(vec![Problem::unknown("case", "case", id, shelf().iter().map(|entry| entry.id.as_str()))]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_file_that_is_not_a_case_is_an_error_that_names_it() {
        let problems = |document: &str| parse("mine", document).expect_err("no case").iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(problems("{"), ["cases.mine: EOF while parsing an object at line 1 column 1"]);
        assert_eq!(problems("{\"id\": \"mine\"}"), ["cases.mine: does not fit its type"]);
        assert_eq!(problems("{\"id\": \"mine\", \"story\": 7}").len(), 1);
    }

    #[test]
    fn what_is_given_as_cases_must_be_a_list_of_three_texts_each() {
        for wrong in ["{}", "{\"cases\": 7}", "{\"cases\": [[\"mine\", \"M1\"]]}", "{\"cases\": [[\"mine\", \"M1\", {}]]}"] {
            let file = serde_json::from_str(wrong).expect("JSON");
            assert_eq!(give(&file).expect_err("refused")[0].path, "cases", "{wrong}");
        }
        let known = shelf().len();
        let another = serde_json::from_str("{\"cases\": [[\"mine\", \"M1\", \"{}\"]]}").expect("JSON");
        assert_eq!(give(&another).expect("a list"), known);
    }

    #[test]
    fn a_case_is_found_by_its_id_and_by_its_code() {
        assert!(!shelf().is_empty());
        for Entry { id, code, .. } in shelf() {
            assert_eq!((&case(id).expect("a case").code, &case(&code.to_lowercase()).expect("a case").id), (code, id));
        }
    }

    #[test]
    fn every_case_file_reads_and_every_variant_is_a_valid_scenario() {
        for Entry { id, document, .. } in shelf() {
            // serde_json says what is wrong with a case file; the engine only that something is.
            let strict: Case = serde_json::from_str(document).unwrap_or_else(|error| panic!("case {id}: {error}"));
            let case = case(id).expect("it fits");
            assert_eq!(serde_json::to_value(case).expect("JSON"), serde_json::to_value(strict).expect("JSON"));
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
            for field in ["name", "title", "source"] {
                assert!(preset.get(field).is_some(), "{preset}: {field}");
            }
            assert!(preset.get("device").is_some() != preset.get("system").is_some(), "{preset}: a device or a system");
            let mut alone = system(preset["name"].as_str().expect("a name")).expect("a system");
            alone["jobs"] = json!([{"name": "a", "size": "1GiB"}]);
            crate::scenario::read(&alone).unwrap_or_else(|problems| panic!("{preset}: {problems:?}"));
        }
    }
}
