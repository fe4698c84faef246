//! Presets: named devices and systems, passed as a value to each reader of scenarios.

use serde_json::{Value, json};

use crate::{Problem, Problems};

/// The values of `basis`: the origin of the numbers of a preset's device. A data sheet gives maximums, and measured rates are often lower.
pub const BASES: [&str; 3] = ["measured", "data sheet", "both"];

/// The presets that a reader knows. Each has `name`, `title`, `source`, and `device` (the fields of a device group) or `system` (the
/// fields of a scenario). A device that stands for a product, or for a class of them, has a `basis`.
#[derive(Clone, Debug, Default)]
pub struct Presets(Vec<Value>);

impl Presets {
    /// Wrap these presets.
    #[must_use]
    pub fn new(presets: Vec<Value>) -> Self {
        Self(presets)
    }

    /// Iterate over all presets, in the order of their files.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.iter()
    }

    /// Return the preset with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|preset| preset.get("name").and_then(Value::as_str) == Some(name))
    }

    /// Return the problem of a preset that does not exist, or is not of this kind (`device` or `system`).
    #[must_use]
    pub fn missing(&self, path: &str, name: &str, kind: Option<&str>) -> Problem {
        let presets = self.0.iter().filter(|preset| kind.is_none_or(|kind| preset.get(kind).is_some()));
        Problem::unknown(path, "preset", name, presets.filter_map(|preset| preset["name"].as_str()))
    }

    /// Return the scenario of a preset without jobs: its system, or its device alone.
    ///
    /// # Errors
    /// There is no such preset; the message names the nearest.
    pub fn system(&self, name: &str) -> Result<Value, Problems> {
        let preset = self.get(name).ok_or_else(|| vec![self.missing("preset", name, None)])?;
        let is_system = preset.get("system").is_some();
        Ok(if is_system { json!({"preset": name}) } else { json!({"devices": [{"name": "disk", "preset": name}]}) })
    }
}
