//! TypeScript types from a JSON Schema (2020-12), as far as the engine's own schema goes.
//!
//! Every definition becomes a named type, and the schema itself the type of its title. Bounds and units have no TypeScript type; they stay in the schema,
//! where the page reads them to build its sliders.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The whole module, ending in a newline.
pub fn typescript(schema: &Value) -> String {
    let mut module = String::from("// Generated from the engine's JSON Schema by `make wasm`. Do not edit.\n");
    let root = schema.get("title").and_then(Value::as_str).unwrap_or("Scenario");
    declare(&mut module, root, schema);
    for (name, definition) in schema.get("$defs").and_then(Value::as_object).into_iter().flatten() {
        if type_name(name) != type_name(root) {
            declare(&mut module, name, definition);
        }
    }
    module
}

fn declare(module: &mut String, name: &str, schema: &Value) {
    module.push('\n');
    module.push_str(&comment(schema, ""));
    // Writing to a String cannot fail.
    let _ = writeln!(module, "export type {} = {};", type_name(name), type_of(schema, ""));
}

/// The TypeScript expression for a schema, its lines after the first indented by `indent`.
fn type_of(schema: &Value, indent: &str) -> String {
    let Some(schema) = schema.as_object() else {
        return if schema == &Value::Bool(false) { "never" } else { "unknown" }.to_owned();
    };
    let mut parts = Vec::new();
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        parts.push(type_name(reference.rsplit('/').next().unwrap_or(reference)));
    }
    if let Some(value) = schema.get("const") {
        parts.push(value.to_string());
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        parts.push(union(values.iter().map(Value::to_string)));
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(key).and_then(Value::as_array) {
            parts.push(union(choices.iter().map(|choice| type_of(choice, indent))));
        }
    }
    for each in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        parts.push(type_of(each, indent));
    }
    let said_by_values = schema.contains_key("const") || schema.contains_key("enum");
    // Beside a choice, a bare "type": "object" says nothing new.
    let said_by_choice = !parts.is_empty() && !schema.contains_key("properties");
    if !said_by_values && !said_by_choice {
        match schema.get("type") {
            Some(Value::String(kind)) => parts.push(type_of_kind(kind, schema, indent)),
            Some(Value::Array(kinds)) => {
                parts.push(union(kinds.iter().filter_map(Value::as_str).map(|kind| type_of_kind(kind, schema, indent))));
            }
            _ if schema.contains_key("properties") => parts.push(type_of_kind("object", schema, indent)),
            _ => {}
        }
    }
    parts.dedup();
    match parts.len() {
        0 => "unknown".to_owned(),
        1 => parts.remove(0),
        _ => parts.iter().map(|part| grouped(part)).collect::<Vec<_>>().join(" & "),
    }
}

fn type_of_kind(kind: &str, schema: &Map<String, Value>, indent: &str) -> String {
    match kind {
        "integer" | "number" => "number".to_owned(),
        "array" => type_of_array(schema, indent),
        "object" => type_of_object(schema, indent),
        // What is left has the same name in both languages: string, boolean, null.
        same => same.to_owned(),
    }
}

fn type_of_array(schema: &Map<String, Value>, indent: &str) -> String {
    if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
        let items: Vec<String> = items.iter().map(|item| type_of(item, indent)).collect();
        return format!("[{}]", items.join(", "));
    }
    let item = schema.get("items").map_or_else(|| "unknown".to_owned(), |item| type_of(item, indent));
    format!("{}[]", grouped(&item))
}

fn type_of_object(schema: &Map<String, Value>, indent: &str) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        let value = schema.get("additionalProperties").map_or_else(|| "unknown".to_owned(), |value| type_of(value, indent));
        // Not `Record<string, ...>`: the schema may well have a definition of that name.
        return format!("{{ [key: string]: {value} }}");
    };
    let required: Vec<&str> = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let inner = format!("{indent}  ");
    let mut text = String::from("{\n");
    for (name, property) in properties {
        text.push_str(&comment(property, &inner));
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        let key = if is_identifier(name) { name.clone() } else { Value::from(name.as_str()).to_string() };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{inner}{key}{mark}: {};", type_of(property, &inner));
    }
    text.push_str(indent);
    text.push('}');
    text
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

    #[test]
    fn a_quantity_is_a_number_or_a_text() {
        let schema = json!({"type": ["integer", "string"], "format": "bytes"});
        assert_eq!(type_of(&schema, ""), "number | string");
    }

    #[test]
    fn a_property_that_is_not_required_may_be_left_out() {
        let schema = json!({"type": "object", "required": ["bs"], "properties": {
            "bs": {"type": "integer", "description": "Block size."}, "io-depth": {"type": "integer"}}});
        assert_eq!(type_of(&schema, ""), "{\n  /** Block size. */\n  bs: number;\n  \"io-depth\"?: number;\n}");
    }

    #[test]
    fn a_choice_with_fields_beside_it_is_an_intersection() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}},
            "oneOf": [{"$ref": "#/$defs/hdd"}, {"$ref": "#/$defs/ssd"}]});
        assert_eq!(type_of(&schema, ""), "(Hdd | Ssd) & ({\n  name?: string;\n})");
    }

    #[test]
    fn a_choice_of_words_is_a_union_of_literals() {
        let schema = json!({"oneOf": [{"const": "read", "description": "Reads."}, {"const": "write"}]});
        assert_eq!(type_of(&schema, ""), "\"read\" | \"write\"");
        assert_eq!(type_of(&json!({"type": "array", "items": schema}), ""), "(\"read\" | \"write\")[]");
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
        let module = typescript(&schema);
        assert_eq!(module.matches("export type").count(), 2);
        assert!(module.contains("jobs?: Job[];"));
    }
}
