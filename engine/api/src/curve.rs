//! Calls on curves: a mechanism's own, point by point.

use serde_json::{Map, Value, json};

use crate::input::{needed, to_value};
use seeklab_model::layers::device::ssd::closed_form::write_amplification;
use seeklab_model::layers::zfs::curves;
use seeklab_spec::{Bytes, Nanos, Problem, Problems};

/// Pages programmed for each page that the host writes at random, by over-provisioning in per cent.
const WRITE_AMPLIFICATION: &str = "ssd-write-amplification";

/// The points of `{"name", "at": [...], "set"?: {setting: value}}`: `[{"x", "y", "unit"}]`.
///
/// # Errors
/// When there is no such curve or setting, or a point lies outside it.
pub fn points(input: &Map<String, Value>) -> Result<Value, Problems> {
    let name = needed(input, "name")?;
    let at = input.get("at").and_then(Value::as_array).filter(|at| !at.is_empty());
    let at = at.ok_or_else(|| vec![Problem::new("at", "is missing; write at least one point")])?;
    let xs = at.iter().enumerate().map(|(index, value)| {
        let text = value.as_str();
        let number =
            value.as_u64().or_else(|| text.and_then(|text| Bytes::parse(text).map(|q| q.0).or_else(|| Nanos::parse(text).map(|q| q.0))));
        number.ok_or_else(|| vec![Problem::new(format!("at[{index}]"), format!("{value} is not a point; write a number, 4GiB or 5ms"))])
    });
    let xs = xs.collect::<Result<Vec<u64>, _>>()?;
    if name == WRITE_AMPLIFICATION {
        if let Some(index) = xs.iter().position(|percent| !(1..=400).contains(percent)) {
            return Err(vec![Problem::new(format!("at[{index}]"), "is not an over-provisioning from 1 to 400 %")]);
        }
        #[allow(clippy::cast_precision_loss)] // at most 400
        return Ok(xs
            .iter()
            .map(|percent| json!({"x": percent, "y": write_amplification(*percent as f64 / 100.0), "unit": "x"}))
            .collect());
    }
    if !curves::NAMES.contains(&name) {
        return Err(vec![Problem::unknown("curve", "curve", name, curves::NAMES.into_iter().chain([WRITE_AMPLIFICATION]))]);
    }
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let settings: Vec<(String, String)> = match input.get("set").and_then(Value::as_object) {
        Some(set) => set.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
        None => Vec::new(),
    };
    let points = curves::curve(name, &xs, &settings).map_err(|error| vec![Problem::new("curve", error.to_string())])?;
    to_value(&points)
}
