//! The JSON objects that cross the boundary to the host, as text, in and out.

use seeklab_spec::{Problem, Problems};
use serde::Serialize;
use serde_json::{Map, Value};

/// Return the answer of a call: `{"ok": ...}` or `{"errors": [...]}`.
pub(crate) fn envelope(result: Result<Value, Problems>) -> String {
    let (name, value) = match result {
        Ok(value) => ("ok", value),
        Err(problems) => ("errors", serde_json::to_value(&problems).unwrap_or_default()), // texts always fit
    };
    Value::Object(Map::from_iter([(name.to_owned(), value)])).to_string()
}

/// The object that a text holds.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, Problems> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(vec![Problem::new("input", format!("{other} is not an object"))]),
        Err(error) => Err(vec![Problem::new("input", not_json(&error))]),
    }
}

/// Return the error of a text that serde cannot read.
fn not_json(error: &serde_json::Error) -> String {
    let told = error.to_string();
    if told.starts_with("recursion limit") {
        return format!("lists and objects are nested more than {MAX_DEPTH} deep at line {}, column {}", error.line(), error.column());
    }
    format!("is not JSON: {told}")
}

/// How deep serde reads: its own limit.
const MAX_DEPTH: usize = 127;

/// A text of the input; `None` when it is absent.
pub(crate) fn text<'a>(input: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Problems> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(vec![Problem::new(name, format!("{other} is not a string"))]),
    }
}

/// A text of the input that must be there.
pub(crate) fn needed<'a>(input: &'a Map<String, Value>, name: &str) -> Result<&'a str, Problems> {
    text(input, name)?.ok_or_else(|| vec![Problem::new(name, "is missing")])
}

/// Changes of a scenario, `"set"`: paths and values.
pub(crate) fn changes(input: &Map<String, Value>) -> Result<Map<String, Value>, Problems> {
    match input.get("set") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(set)) => Ok(set.clone()),
        Some(other) => Err(vec![Problem::new("set", format!("{other} is not an object of paths and values"))]),
    }
}

/// A type as JSON.
pub(crate) fn to_value<T: Serialize>(value: &T) -> Result<Value, Problems> {
    serde_json::to_value(value).map_err(|error| vec![Problem::new("output", error.to_string())])
}
