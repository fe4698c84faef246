//! Calls on facts: documented against simulated, and their ablations.

use seeklab_library::Library;
use seeklab_library::case::facts::{Break, Runs};
use seeklab_spec::{Problem, Problems};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::input::{changes, needed, text};

/// Facts as they are: `{"case"?, "id"?}`.
pub(crate) fn facts(library: &Library, input: &Map<String, Value>) -> Result<Value, Problems> {
    rows(library, input, false)
}

/// Facts with their mechanisms switched off: `{"case"?, "id"?, "set"?}`.
pub(crate) fn ablations(library: &Library, input: &Map<String, Value>) -> Result<Value, Problems> {
    rows(library, input, true)
}

/// Facts, `{"case"?, "id"?}`, as they are or each with its own ablation; that may be another, as `"set"`, for all of them.
fn rows(library: &Library, input: &Map<String, Value>, ablated: bool) -> Result<Value, Problems> {
    let chosen = match text(input, "case")? {
        Some(id) => vec![library.case(id)?],
        None => library.cases()?,
    };
    let id = text(input, "id")?;
    let other = ablation(input)?;
    let mut rows = Vec::new();
    for case in &chosen {
        let mut runs = Runs::new(library.presets());
        for fact in case.facts.iter().filter(|fact| id.is_none_or(|id| fact.id == id)) {
            let off = if other.set.is_empty() { fact.ablation.as_ref() } else { Some(&other) }.filter(|_| ablated);
            if off.is_some() == ablated {
                rows.push(runs.fact(case, fact, off)?);
            }
        }
    }
    match id {
        Some(id) if rows.is_empty() => {
            let known = chosen.iter().flat_map(|case| &case.facts).map(|fact| fact.id.as_str());
            Err(vec![Problem::unknown("id", "fact", id, known)])
        }
        _ => Ok(rows.into()),
    }
}

/// The value of a measure of a case, such as a fact's or a question's, with further changes of each run: `{"case", "measure", "set"?}`.
pub(crate) fn measure(library: &Library, input: &Map<String, Value>) -> Result<f64, Problems> {
    let case = library.case(needed(input, "case")?)?;
    let measure = Deserialize::deserialize(input.get("measure").unwrap_or(&Value::Null)).map_err(|error: serde_json::Error| {
        vec![Problem::new("measure", format!("{error}; a measure is a metric, a ratio or a difference of two"))]
    })?;
    Runs::new(library.presets()).measure(case, &measure, Some(&ablation(input)?))
}

/// Changes of each run, as an ablation.
fn ablation(input: &Map<String, Value>) -> Result<Break, Problems> {
    Ok(Break { what: String::new(), set: changes(input)?, variant: None })
}
