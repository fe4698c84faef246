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

/// The help of controls by their paths: `{"help", "choices": {value: help}}`. The module's schema has none, because a page would load
/// that of hundreds of fields for a few controls.
pub(crate) type Help = Map<String, Value>;

/// The help of controls, from the types. A path that is not in the schema has none.
#[cfg(feature = "files")]
pub(crate) fn help(controls: &[CaseControl]) -> Help {
    static SCHEMA: std::sync::LazyLock<Value> = std::sync::LazyLock::new(seeklab_spec::schema::generate);
    let root = &*SCHEMA;
    let said = |control: &CaseControl| {
        let field = find(root, &control.path)?;
        let own = resolve(root, field);
        let help = field.get("description").or_else(|| own.get("description"))?;
        let choice = |option: &Value| Some((option.get("const")?.as_str()?.to_owned(), option.get("description")?.clone()));
        let choices: Map<String, Value> = own.get("oneOf").and_then(Value::as_array).into_iter().flatten().filter_map(choice).collect();
        Some((control.path.clone(), serde_json::json!({"help": help, "choices": choices})))
    };
    controls.iter().filter_map(said).collect()
}

/// The controls of a case, with the values of a variant and further changes.
pub(crate) fn controls(
    case: &Case,
    help: &Help,
    variant: Option<&str>,
    changes: &Map<String, Value>,
    presets: &Presets,
) -> Result<Vec<Control>, Problems> {
    let checked = case.scenario(variant, changes, presets)?;
    let values = serde_json::to_value(checked.in_effect()).map_err(|error| vec![Problem::new("scenario", error.to_string())])?;
    let root = seeklab_model::schema();
    case.controls.iter().map(|control| describe(root, &values, control, help.get(&control.path).unwrap_or(&Value::Null))).collect()
}

fn describe(root: &Value, values: &Value, control: &CaseControl, help: &Value) -> Result<Control, Problems> {
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
            let value = option.get("const")?.clone();
            let help = value.as_str().and_then(|name| help["choices"][name].as_str()).map(str::to_owned);
            Some(Choice { value, help })
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
        help: help["help"].as_str().map(str::to_owned).ok_or_else(|| missing("has no help in the library"))?,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn help_is_that_of_the_types_and_of_each_choice() {
        let control = |path: &str| seeklab_spec::reader::from_value(&json!({"path": path})).expect("a control");
        let controls: [CaseControl; 3] = ["jobs[0].iodepth", "devices[0].hdd.queue_policy", "nowhere"].map(control);
        let help = help(&controls);
        assert_eq!(help.keys().collect::<Vec<_>>(), ["jobs[0].iodepth", "devices[0].hdd.queue_policy"]);
        assert!(help.values().all(|help| !help["help"].as_str().expect("help").is_empty()));
        assert_eq!(help["jobs[0].iodepth"]["choices"], json!({}));
        let policies = &help["devices[0].hdd.queue_policy"]["choices"];
        assert!(policies["satf"].as_str().is_some_and(|help| !help.is_empty()), "{policies}");
    }
}
