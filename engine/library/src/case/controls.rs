//! Controls: a field of the scenario with all that a slider needs, taken from the schema.

use serde_json::{Map, Value, json};

use super::{Case, Control};
use seeklab_spec::{Presets, Problem, Problems, read};

/// The controls of a case, with the values of a variant and further changes.
///
/// # Errors
/// When the scenario is not valid or a control's path is not in the schema.
pub fn controls(case: &Case, variant: Option<&str>, changes: &Map<String, Value>, presets: &Presets) -> Result<Vec<Value>, Problems> {
    let checked = case.scenario(variant, changes, presets)?;
    let values = serde_json::to_value(checked.scenario()).map_err(|error| vec![Problem::new("scenario", error.to_string())])?;
    let root = seeklab_model::schema();
    case.controls.iter().map(|control| describe(root, &values, control)).collect()
}

fn describe(root: &Value, values: &Value, control: &Control) -> Result<Value, Problems> {
    let missing = || vec![Problem::new(control.path.clone(), "is not a field of the scenario")];
    let field = find(root, &control.path).ok_or_else(missing)?;
    let own = resolve(root, field);
    let text = |name: &str| field.get(name).or_else(|| own.get(name)).cloned().unwrap_or(Value::Null);
    let slider = text("x-slider");
    let bound = |chosen: Option<f64>, place: usize, name: &str| {
        chosen.map_or_else(|| slider.get(place).cloned().unwrap_or_else(|| text(name)), |value| json!(value))
    };
    let choices = own.get("oneOf").and_then(Value::as_array).map(|options| {
        options
            .iter()
            .filter_map(|option| Some(json!({"value": option.get("const")?, "help": option.get("description")})))
            .collect::<Vec<_>>()
    });
    Ok(json!({
        "path": control.path,
        "title": control.title.clone().map_or_else(|| text("title"), Value::String),
        "help": text("description"),
        "unit": text("x-unit"),
        "format": text("format"),
        "scale": text("x-scale"),
        "min": bound(control.min, 0, "minimum"),
        "max": bound(control.max, 1, "maximum"),
        "step": control.step.map_or_else(|| text("x-step"), |step| json!(step)),
        "value": read::get(values, &control.path),
        "choices": choices,
    }))
}

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.rsplit('/').next()) {
        return root.get("$defs").and_then(|definitions| definitions.get(name)).map_or(schema, |target| resolve(root, target));
    }
    let options = schema.get("anyOf").and_then(Value::as_array);
    match options.and_then(|options| options.iter().find(|option| option.get("type").is_none_or(|kind| kind != "null"))) {
        Some(option) => resolve(root, option),
        None => schema,
    }
}

/// The schema of the field at `path`, with its own label and help (not yet resolved).
fn find<'a>(root: &'a Value, path: &str) -> Option<&'a Value> {
    let mut schema = root;
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        let inner = resolve(root, schema);
        schema = match inner.get("properties").and_then(|properties| properties.get(step)) {
            Some(property) => property,
            None => inner.get("items")?,
        };
    }
    Some(schema)
}
