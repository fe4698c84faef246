//! TypeScript types from a JSON Schema (2020-12), as far as the engine's own schemas go.
//!
//! Every definition becomes a named type, and the schema itself the type of its title. All is `readonly`: what crosses to the engine and back is
//! replaced, not changed. Bounds and units have no TypeScript type; they stay in the schema, where the page reads them to build its sliders.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Map, Value};

/// Longest list of a fixed length that is written as a tuple.
const MAX_TUPLE: u64 = 4;

/// Types of another module, which are imported rather than declared again.
pub struct Elsewhere<'a> {
    /// Where they are imported from.
    pub module: &'a str,
    /// The schema that the other module was made of.
    pub schema: &'a Value,
}

/// The whole module, ending in a newline.
pub fn typescript(schema: &Value, elsewhere: Option<&Elsewhere>) -> String {
    let known: BTreeSet<String> = elsewhere.map(|other| types_of(other.schema).map(type_name).collect()).unwrap_or_default();
    let mut writer = Writer::default();
    writer.declare(title(schema), schema);
    for (name, definition) in definitions(schema) {
        if type_name(name) != type_name(title(schema)) && !known.contains(&type_name(name)) {
            writer.declare(name, definition);
        }
    }
    let mut module = String::from("// Generated from the engine's JSON Schema by `make wasm`. Do not edit.\n");
    let imported: Vec<&str> = writer.used.intersection(&known).map(String::as_str).collect();
    if let Some(other) = elsewhere.filter(|_| !imported.is_empty()) {
        // Writing to a String cannot fail.
        let _ = writeln!(module, "import type {{ {} }} from \"{}\";", imported.join(", "), other.module);
    }
    if writer.used.contains(ANY) {
        module.push_str(DECLARED_ANY);
    }
    module + &writer.text
}

/// A module of lists of names: of each list what it names, its comment, and the names by their numbers.
pub fn names(lists: &[(&str, &str, Vec<&str>)]) -> String {
    let mut module = String::from("// Generated from the engine's own lists by `make wasm`. Do not edit.\n");
    for (what, about, names) in lists {
        let quoted = names.iter().fold(String::new(), |text, name| text + "  \"" + name + "\",\n");
        let singular = type_name(what);
        // Writing to a String cannot fail.
        let _ = write!(
            module,
            "\n/** {about} */\nexport const {what}Names = [\n{quoted}] as const;\nexport type {singular}Name = (typeof {what}Names)[number];\n"
        );
    }
    module
}

/// A table of what each of a list of names is called on a page, in the words of the engine.
pub fn labels(what: &str, about: &str, labels: &[(&str, &str)]) -> String {
    let rows = labels.iter().fold(String::new(), |text, (name, label)| text + "  " + name + ": \"" + label + "\",\n");
    let singular = type_name(what);
    format!("\n/** {about} */\nexport const {what}Labels: Readonly<Record<{singular}Name, string>> = {{\n{rows}}};\n")
}

/// What stands for any JSON.
const ANY: &str = "Value";
const DECLARED_ANY: &str = "
/** Any JSON. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };
";

fn title(schema: &Value) -> &str {
    schema.get("title").and_then(Value::as_str).unwrap_or("Root")
}

fn definitions(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("$defs").and_then(Value::as_object).into_iter().flatten()
}

/// The names of all types that are made of a schema.
fn types_of(schema: &Value) -> impl Iterator<Item = &str> {
    definitions(schema).map(|(name, _)| name.as_str()).chain([title(schema)])
}

/// A module in the making.
#[derive(Default)]
struct Writer {
    text: String,
    /// The types that it speaks of.
    used: BTreeSet<String>,
}

impl Writer {
    fn declare(&mut self, name: &str, schema: &Value) {
        let expression = self.type_of(schema, "");
        // Writing to a String cannot fail.
        let _ = write!(self.text, "\n{}export type {} = {expression};\n", comment(schema, ""), type_name(name));
    }

    fn any(&mut self) -> String {
        self.used.insert(ANY.to_owned());
        ANY.to_owned()
    }

    fn reference(&mut self, reference: &str, schema: &Map<String, Value>) -> String {
        let name = type_name(reference.rsplit('/').next().unwrap_or(reference));
        self.used.insert(name.clone());
        if schema.get("x-partial").is_some_and(|partial| partial == true) { format!("Partial<{name}>") } else { name }
    }

    /// The TypeScript expression for a schema, its lines after the first indented by `indent`.
    fn type_of(&mut self, schema: &Value, indent: &str) -> String {
        let Some(schema) = schema.as_object() else {
            return if schema == &Value::Bool(false) { "never".to_owned() } else { self.any() };
        };
        let mut parts = Vec::new();
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            parts.push(self.reference(reference, schema));
        }
        if let Some(value) = schema.get("const") {
            parts.push(value.to_string());
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            parts.push(union(values.iter().map(Value::to_string)));
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                parts.push(union(choices.iter().map(|choice| self.type_of(choice, indent))));
            }
        }
        for each in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            parts.push(self.type_of(each, indent));
        }
        let said_by_values = schema.contains_key("const") || schema.contains_key("enum");
        // Beside a choice, a bare "type": "object" says nothing new.
        let said_by_choice = !parts.is_empty() && !schema.contains_key("properties");
        if !said_by_values && !said_by_choice {
            match schema.get("type") {
                Some(Value::String(kind)) => parts.push(self.type_of_kind(kind, schema, indent)),
                Some(Value::Array(kinds)) => {
                    let kinds = kinds.iter().filter_map(Value::as_str);
                    parts.push(union(kinds.map(|kind| self.type_of_kind(kind, schema, indent))));
                }
                _ if schema.contains_key("properties") => parts.push(self.type_of_kind("object", schema, indent)),
                _ => {}
            }
        }
        parts.dedup();
        match parts.len() {
            0 => self.any(),
            1 => parts.remove(0),
            _ => parts.iter().map(|part| grouped(part)).collect::<Vec<_>>().join(" & "),
        }
    }

    fn type_of_kind(&mut self, kind: &str, schema: &Map<String, Value>, indent: &str) -> String {
        match kind {
            "integer" | "number" => "number".to_owned(),
            "array" => self.type_of_array(schema, indent),
            "object" => self.type_of_object(schema, indent),
            // What is left has the same name in both languages: string, boolean, null.
            same => same.to_owned(),
        }
    }

    fn type_of_array(&mut self, schema: &Map<String, Value>, indent: &str) -> String {
        if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
            let items: Vec<String> = items.iter().map(|item| self.type_of(item, indent)).collect();
            return format!("readonly [{}]", items.join(", "));
        }
        let item = schema.get("items").map_or_else(|| ANY.to_owned(), |item| self.type_of(item, indent));
        let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
        match (bound("minItems"), bound("maxItems")) {
            (Some(least), Some(most)) if least == most && most <= MAX_TUPLE => {
                let items: Vec<&str> = (0..most).map(|_| item.as_str()).collect();
                format!("readonly [{}]", items.join(", "))
            }
            _ => format!("readonly {}[]", grouped(&item)),
        }
    }

    fn type_of_object(&mut self, schema: &Map<String, Value>, indent: &str) -> String {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            let value = self.type_of(schema.get("additionalProperties").unwrap_or(&Value::Bool(true)), indent);
            // Not `Record<string, ...>`: the schema may well have a definition of that name.
            return format!("{{ readonly [key: string]: {value} }}");
        };
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let inner = format!("{indent}  ");
        let mut text = String::from("{\n");
        for (name, property) in properties {
            text.push_str(&comment(property, &inner));
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            let key = if is_identifier(name) { name.clone() } else { Value::from(name.as_str()).to_string() };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{inner}readonly {key}{mark}: {};", self.type_of(property, &inner));
        }
        text.push_str(indent);
        text.push('}');
        text
    }
}

fn union(choices: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for choice in choices {
        if !distinct.contains(&choice) {
            distinct.push(choice);
        }
    }
    distinct.join(" | ")
}

/// Brackets around what would otherwise bind the wrong way under `[]` or `&`.
fn grouped(expression: &str) -> String {
    if expression.contains([' ', '\n']) { format!("({expression})") } else { expression.to_owned() }
}

fn comment(schema: &Value, indent: &str) -> String {
    let Some(help) = schema.get("description").and_then(Value::as_str) else {
        return String::new();
    };
    let help = help.replace("*/", "*\\/").split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{indent}/** {help} */\n")
}

/// `hdd_seek` and `hdd-seek` become `HddSeek`.
fn type_name(name: &str) -> String {
    name.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word[..1].to_ascii_uppercase() + &word[1..])
        .collect()
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|letter: char| letter.is_ascii_digit()) && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn type_of(schema: &Value, indent: &str) -> String {
        Writer::default().type_of(schema, indent)
    }

    #[test]
    fn a_quantity_is_a_number_or_a_text() {
        let schema = json!({"type": ["integer", "string"], "format": "bytes"});
        assert_eq!(type_of(&schema, ""), "number | string");
    }

    #[test]
    fn names_are_listed_by_their_numbers_and_give_a_type() {
        let module = names(&[("way", "Ways.", vec!["up", "down"])]);
        let expected = "/** Ways. */\nexport const wayNames = [\n  \"up\",\n  \"down\",\n] as const;\nexport type WayName = (typeof wayNames)[number];\n";
        assert!(module.ends_with(expected), "{module}");
    }

    #[test]
    fn each_name_has_its_label() {
        let expected =
            "\n/** Ways. */\nexport const wayLabels: Readonly<Record<WayName, string>> = {\n  up: \"Up\",\n  down: \"Down\",\n};\n";
        assert_eq!(labels("way", "Ways.", &[("up", "Up"), ("down", "Down")]), expected);
    }

    #[test]
    fn a_property_that_is_not_required_may_be_left_out() {
        let schema = json!({"type": "object", "required": ["bs"], "properties": {
            "bs": {"type": "integer", "description": "Block size."}, "io-depth": {"type": "integer"}}});
        assert_eq!(type_of(&schema, ""), "{\n  /** Block size. */\n  readonly bs: number;\n  readonly \"io-depth\"?: number;\n}");
    }

    #[test]
    fn a_choice_with_fields_beside_it_is_an_intersection() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}},
            "oneOf": [{"$ref": "#/$defs/hdd"}, {"$ref": "#/$defs/ssd"}]});
        assert_eq!(type_of(&schema, ""), "(Hdd | Ssd) & ({\n  readonly name?: string;\n})");
    }

    #[test]
    fn a_choice_of_words_is_a_union_of_literals() {
        let schema = json!({"oneOf": [{"const": "read", "description": "Reads."}, {"const": "write"}]});
        assert_eq!(type_of(&schema, ""), "\"read\" | \"write\"");
        assert_eq!(type_of(&json!({"type": "array", "items": schema}), ""), "readonly (\"read\" | \"write\")[]");
    }

    #[test]
    fn an_optional_reference_may_be_null() {
        let schema = json!({"anyOf": [{"$ref": "#/$defs/Cache"}, {"type": "null"}]});
        assert_eq!(type_of(&schema, ""), "Cache | null");
    }

    #[test]
    fn the_module_declares_the_root_and_each_definition_once() {
        let schema = json!({"title": "Scenario", "type": "object", "properties": {"jobs": {"type": "array",
            "items": {"$ref": "#/$defs/Job"}}}, "$defs": {"Job": {"type": "object", "properties": {}}}});
        let module = typescript(&schema, None);
        assert_eq!(module.matches("export type").count(), 2);
        assert!(module.contains("readonly jobs?: readonly Job[];"));
    }

    #[test]
    fn any_json_has_a_type_of_its_own() {
        let schema = json!({"title": "Changes", "type": "object", "additionalProperties": true});
        let module = typescript(&schema, None);
        assert!(module.contains("export type Value = string | number"), "{module}");
        assert!(module.contains("export type Changes = { readonly [key: string]: Value };"), "{module}");
        assert!(!typescript(&json!({"title": "One", "type": "integer"}), None).contains("Value"));
    }

    #[test]
    fn a_list_of_a_fixed_length_is_a_tuple() {
        let pair = json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2});
        assert_eq!(type_of(&pair, ""), "readonly [number, number]");
    }

    #[test]
    fn types_of_another_module_are_imported_where_they_are_used() {
        let scenario = json!({"title": "Scenario", "type": "object", "$defs": {"Job": {"type": "object"}, "Op": {"const": "read"}}});
        let answers = json!({"title": "Answers", "type": "object", "properties": {
            "base": {"$ref": "#/$defs/Scenario", "x-partial": true}, "jobs": {"type": "array", "items": {"$ref": "#/$defs/Job"}}},
            "$defs": {"Scenario": {"type": "object"}, "Job": {"type": "object"}, "Op": {"const": "read"}}});
        let module = typescript(&answers, Some(&Elsewhere { module: "./scenario.ts", schema: &scenario }));
        assert!(module.contains("import type { Job, Scenario } from \"./scenario.ts\";"), "{module}");
        assert!(module.contains("readonly base?: Partial<Scenario>;"), "{module}");
        assert_eq!(module.matches("export type").count(), 1, "{module}");
    }
}
