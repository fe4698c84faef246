//! The scenario's JSON Schema, and a check of JSON against it that reports every error at once.
//!
//! serde stops at the first error, but people want all of them. The schema is generated from the types, so the check and the types
//! cannot disagree. After a clean check, serde reads the types. The check supports only the parts of JSON Schema that our types
//! produce: `$ref`, `anyOf`/`oneOf`, `type`, `properties`, `required`, `enum`/`const`, bounds and our formats for quantities.

use serde_json::{Map, Value};

use super::Distribution;
use super::problem::Problem;
use super::units::{Bytes, Extent, Nanos};

/// Generate a scenario's JSON Schema (draft 2020-12) from the types, with `x-unit`, `x-step`, `x-scale`, `title` (label) and
/// `description` (help). Only build steps call it: its code is many times larger than its result, which the model embeds.
#[must_use]
pub fn generate() -> Value {
    schemars::schema_for!(super::Scenario).to_value()
}

/// Return a schema without help, for the module, which a page loads before it shows anything. The help of required fields stays: the
/// problem of a missing field repeats it.
#[must_use]
pub fn without_help(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let required: Vec<&Value> = field(schema, "required").and_then(Value::as_array).into_iter().flatten().collect();
            let is_help = |name: &str, value: &Value| name == "description" && value.is_string();
            let kept = fields.iter().filter(|(name, value)| !is_help(name, value));
            Value::Object(
                kept.map(|(name, value)| {
                    (name.clone(), if name == "properties" { properties(value, &required) } else { without_help(value) })
                })
                .collect(),
            )
        }
        Value::Array(list) => list.iter().map(without_help).collect(),
        other => other.clone(),
    }
}

fn properties(of: &Value, required: &[&Value]) -> Value {
    let bare = |(name, property): (&String, &Value)| {
        let mut bare = without_help(property);
        if let Some(help) = field(property, "description").filter(|_| required.iter().any(|required| *required == name)) {
            bare["description"] = help.clone();
        }
        (name.clone(), bare)
    };
    of.as_object().into_iter().flatten().map(bare).collect()
}

/// Check `value` against `schema` and return all errors.
#[must_use]
pub fn check(schema: &Value, value: &Value) -> Vec<Problem> {
    let mut checker = Checker { root: schema, problems: Vec::new() };
    checker.walk(schema, value, "");
    checker.problems
}

struct Checker<'a> {
    root: &'a Value,
    problems: Vec<Problem>,
}

fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get(name)
}

impl<'a> Checker<'a> {
    fn problem(&mut self, path: &str, message: String) {
        let path = if path.is_empty() { "scenario" } else { path };
        self.problems.push(Problem::new(path, message));
    }

    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        while let Some(name) = field(schema, "$ref").and_then(Value::as_str).and_then(|r| r.rsplit('/').next()) {
            match self.root.get("$defs").and_then(|defs| defs.get(name)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    fn walk(&mut self, schema: &'a Value, value: &Value, path: &str) {
        let schema = self.resolve(schema);
        if let Some(options) = field(schema, "anyOf").and_then(Value::as_array) {
            if value.is_null() && options.iter().any(|o| field(o, "type").is_some_and(|t| t == "null")) {
                return;
            }
            if let Some(some) = options.iter().find(|o| field(o, "type").is_none_or(|t| t != "null")) {
                self.walk(some, value, path);
            }
            return;
        }
        let words = words(schema);
        if !words.is_empty() {
            self.word(&words, value, path);
        } else if let Some(format) = field(schema, "format").and_then(Value::as_str).filter(|f| is_ours(f)) {
            self.quantity(schema, format, value, path);
        } else if let Some(properties) = field(schema, "properties").and_then(Value::as_object) {
            self.object(schema, properties, value, path);
        } else if let Some(items) = field(schema, "items") {
            self.array(schema, items, value, path);
        } else {
            self.scalar(schema, value, path);
        }
    }

    fn word(&mut self, words: &[&str], value: &Value, path: &str) {
        match value.as_str() {
            Some(found) if words.contains(&found) => {}
            Some(found) => self.problems.push(Problem::unknown(path, "known value", found, words.iter().copied())),
            None => self.problem(path, format!("{} is not a word; write one of {}", show(value), words.join(", "))),
        }
    }

    fn quantity(&mut self, schema: &Value, format: &str, value: &Value, path: &str) {
        if value.is_null() && allows_null(schema) {
            return;
        }
        let text = value.as_str();
        let (parsed, accepted) = match format {
            "bytes" => (value.as_u64().or_else(|| text.and_then(Bytes::parse).map(|q| q.0)), Bytes::ACCEPTED),
            "nanos" => (value.as_u64().or_else(|| text.and_then(Nanos::parse).map(|q| q.0)), Nanos::ACCEPTED),
            "extent" => (value.as_u64().or_else(|| text.and_then(Extent::parse).map(|q| q.of(0))), Extent::ACCEPTED),
            _ => (text.and_then(Distribution::parse).map(|_| 0), Distribution::ACCEPTED),
        };
        let Some(found) = parsed else {
            return self.problem(path, format!("{} is not {accepted}", show(value)));
        };
        let print = |limit: u64| if format == "nanos" { Nanos(limit).to_string() } else { Bytes(limit).to_string() };
        if let Some(least) = field(schema, "minimum").and_then(Value::as_u64).filter(|least| found < *least) {
            self.problem(path, format!("{} is too small; write at least {}", show(value), print(least)));
        }
        if let Some(most) = field(schema, "maximum").and_then(Value::as_u64).filter(|most| found > *most) {
            self.problem(path, format!("{} is too large; write at most {}", show(value), print(most)));
        }
    }

    fn object(&mut self, schema: &'a Value, properties: &'a Map<String, Value>, value: &Value, path: &str) {
        if value.is_null() && allows_null(schema) {
            return;
        }
        let Some(object) = value.as_object() else {
            return self.problem(path, format!("{} is not an object; write {{ ... }} with fields {}", show(value), names(properties)));
        };
        for (name, item) in object {
            let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match properties.get(name) {
                Some(property) => self.walk(property, item, &at),
                None => self.problems.push(Problem::unknown(at, "field", name, properties.keys().map(String::as_str))),
            }
        }
        for name in field(schema, "required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let at = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                let help = properties.get(name).and_then(|p| field(p, "description")).and_then(Value::as_str).unwrap_or_default();
                self.problem(&at, format!("is missing. {help}"));
            }
        }
    }

    fn array(&mut self, schema: &Value, items: &'a Value, value: &Value, path: &str) {
        let Some(array) = value.as_array() else {
            return self.problem(path, format!("{} is not a list; write [ ... ]", show(value)));
        };
        let count = array.len() as u64;
        if let Some(least) = field(schema, "minItems").and_then(Value::as_u64).filter(|least| count < *least) {
            self.problem(path, format!("the list has {count} entries; write at least {least}"));
        }
        if let Some(most) = field(schema, "maxItems").and_then(Value::as_u64).filter(|most| count > *most) {
            self.problem(path, format!("the list has {count} entries; write at most {most}"));
            return;
        }
        for (index, item) in array.iter().enumerate() {
            self.walk(items, item, &format!("{path}[{index}]"));
        }
    }

    fn scalar(&mut self, schema: &Value, value: &Value, path: &str) {
        let kind = schema_type(schema);
        if value.is_null() && allows_null(schema) {
            return;
        }
        match kind {
            "boolean" if !value.is_boolean() => self.problem(path, format!("{} is not a switch; write true or false", show(value))),
            "integer" if value.as_u64().is_none() => {
                self.problem(path, format!("{} is not a whole number of at least 0; write {}", show(value), range(schema)));
            }
            "number" if value.as_f64().is_none() => {
                self.problem(path, format!("{} is not a number; write {}", show(value), range(schema)));
            }
            "integer" | "number" => {
                let found = value.as_f64().unwrap_or_default();
                let below = field(schema, "minimum").and_then(Value::as_f64).is_some_and(|least| found < least);
                let above = field(schema, "maximum").and_then(Value::as_f64).is_some_and(|most| found > most);
                if below || above {
                    self.problem(path, format!("{} is out of range; write {}", show(value), range(schema)));
                }
            }
            "string" => match value.as_str() {
                None => self.problem(path, format!("{} is not a string; put it in quotes", show(value))),
                Some(text) => {
                    let length = text.chars().count() as u64;
                    if field(schema, "minLength").and_then(Value::as_u64).is_some_and(|least| length < least) {
                        self.problem(path, "is empty; write a string".to_owned());
                    }
                    if let Some(most) = field(schema, "maxLength").and_then(Value::as_u64).filter(|most| length > *most) {
                        self.problem(path, format!("has {length} characters; write at most {most}"));
                    }
                }
            },
            _ => {}
        }
    }
}

fn is_ours(format: &str) -> bool {
    matches!(format, "bytes" | "nanos" | "extent" | "distribution")
}

fn schema_type(schema: &Value) -> &str {
    match field(schema, "type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or(""),
        _ => "",
    }
}

fn allows_null(schema: &Value) -> bool {
    field(schema, "type").and_then(Value::as_array).is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
}

/// Return the words that an enumeration accepts. schemars writes `enum`, or `oneOf` with `const` if variants are documented.
fn words(schema: &Value) -> Vec<&str> {
    let listed = field(schema, "enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let described = field(schema, "oneOf").and_then(Value::as_array).into_iter().flatten().flat_map(|option| {
        let single = option.get("const").and_then(Value::as_str);
        let several = option.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        single.into_iter().chain(several)
    });
    listed.chain(described).collect()
}

fn range(schema: &Value) -> String {
    let bound = |name| field(schema, name).filter(|bound| !bound.is_null());
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("{least} or more"),
        (None, Some(most)) => format!("up to {most}"),
        (None, None) => "a number".to_owned(),
    }
}

fn names(properties: &Map<String, Value>) -> String {
    properties.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Return a value as text, short enough for a sentence.
fn show(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 60 { format!("{}...", text.chars().take(57).collect::<String>()) } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_required_fields_keep_their_help() {
        let field = json!({"type": "string", "description": "Help."});
        let schema = json!({
            "description": "Help.", "required": ["a"], "type": "object",
            "properties": {"a": field, "b": field, "description": {"oneOf": [{"const": "x", "description": "Help."}]}},
        });
        let bare = json!({
            "required": ["a"], "type": "object",
            "properties": {"a": field, "b": {"type": "string"}, "description": {"oneOf": [{"const": "x"}]}},
        });
        assert_eq!(without_help(&schema), bare);
    }

    #[test]
    fn problems_are_the_same_without_help() {
        let schema = generate();
        let bare = without_help(&schema);
        assert!(bare.to_string().len() * 3 < schema.to_string().len() * 2);
        for wrong in [json!({}), json!({"jobs": [{"rw": "red", "bs": 7.5, "nme": ""}], "devices": [{"lun": {}}, {"hdd": {"rpm": "x"}}]})] {
            let problems = check(&schema, &wrong);
            assert!(!problems.is_empty());
            assert_eq!(check(&bare, &wrong), problems);
        }
    }
}
