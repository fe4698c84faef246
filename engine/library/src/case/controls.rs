//! Controls: a field of the scenario with all that a slider needs, taken from the schema.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::{Case, CaseControl};
use seeklab_spec::{Presets, Problem, Problems, read};

/// Everything that a slider or a select needs; values are bytes, nanoseconds, plain numbers or words.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Control {
    /// Path in the scenario.
    pub path: String,
    /// Label.
    pub title: String,
    /// Help for the field.
    pub help: String,
    /// Unit of plain numbers.
    pub unit: Option<String>,
    /// How values are written: `bytes` or `nanos`.
    pub format: Option<String>,
    /// `log` where equal factors are equally far apart.
    pub scale: Option<String>,
    /// Least value offered.
    pub min: Option<Number>,
    /// Greatest value offered.
    pub max: Option<Number>,
    /// Distance of the values offered.
    pub step: Option<Number>,
    /// The value that the scenario has; null where it has none.
    pub value: Value,
    /// The values of a word.
    pub choices: Option<Vec<Choice>>,
}

/// A value to choose.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Choice {
    /// The value that is in effect: the scenario's, or where it has none the version's.
    pub value: Value,
    /// Help for the choice.
    pub help: Option<String>,
}

/// The controls of a case, with the values of a variant and further changes.
///
/// # Errors
/// When the scenario is not valid or a control's path is not in the schema.
pub fn controls(case: &Case, variant: Option<&str>, changes: &Map<String, Value>, presets: &Presets) -> Result<Vec<Control>, Problems> {
    let checked = case.scenario(variant, changes, presets)?;
    let values = serde_json::to_value(checked.in_effect()).map_err(|error| vec![Problem::new("scenario", error.to_string())])?;
    let root = seeklab_model::schema();
    case.controls.iter().map(|control| describe(root, &values, control)).collect()
}

fn describe(root: &Value, values: &Value, control: &CaseControl) -> Result<Control, Problems> {
    let missing = |message: &str| vec![Problem::new(control.path.clone(), message)];
    let field = find(root, &control.path).ok_or_else(|| missing("is not a field of the scenario"))?;
    let own = resolve(root, field);
    let said = |name: &str| field.get(name).or_else(|| own.get(name));
    let text = |name: &str| said(name).and_then(Value::as_str).map(str::to_owned);
    let number = |value: Option<&Value>| value.and_then(Value::as_number).cloned();
    let slider = said("x-slider");
    let bound = |chosen: Option<f64>, place: usize, name: &str| {
        chosen.and_then(Number::from_f64).or_else(|| number(slider.and_then(|ends| ends.get(place)).or_else(|| said(name))))
    };
    let choices = own.get("oneOf").and_then(Value::as_array).map(|options| {
        let choice = |option: &Value| {
            let help = option.get("description").and_then(Value::as_str).map(str::to_owned);
            Some(Choice { value: option.get("const")?.clone(), help })
        };
        options.iter().filter_map(choice).collect()
    });
    Ok(Control {
        path: control.path.clone(),
        title: control
            .title
            .clone()
            .or_else(|| text("title"))
            .ok_or_else(|| missing("has no label in the schema; add a title to the control"))?,
        help: text("description").ok_or_else(|| missing("has no help in the schema"))?,
        unit: text("x-unit"),
        format: text("format"),
        scale: text("x-scale"),
        min: bound(control.min, 0, "minimum"),
        max: bound(control.max, 1, "maximum"),
        step: control.step.and_then(Number::from_f64).or_else(|| number(said("x-step"))),
        value: read::get(values, &control.path).cloned().unwrap_or(Value::Null),
        choices,
    })
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
