//! Calls on curves: a mechanism's own, point by point.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::input::needed;
use seeklab_model::layers::device::ssd::closed_form::write_amplification;
use seeklab_model::layers::zfs::curves;
use seeklab_spec::{Bytes, Nanos, Problem, Problems};

/// Pages programmed for each page that the host writes at random, by over-provisioning in per cent.
const WRITE_AMPLIFICATION: &str = "ssd-write-amplification";

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// Where it was asked.
    pub x: u64,
    /// The value there.
    pub y: Number,
    /// The value's unit.
    pub unit: &'static str,
}

/// The points of `{"name", "at": [...], "set"?: {setting: value}}`: `[{"x", "y", "unit"}]`.
///
/// # Errors
/// When there is no such curve or setting, or a point lies outside it.
pub fn points(input: &Map<String, Value>) -> Result<Vec<CurvePoint>, Problems> {
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
            return Err(vec![Problem::new(format!("at[{index}]"), "is not an over-provisioning from 1 to 400%")]);
        }
        #[allow(clippy::cast_precision_loss)] // at most 400
        let point = |percent: u64| {
            let y = Number::from_f64(write_amplification(percent as f64 / 100.0))?;
            Some(CurvePoint { x: percent, y, unit: "x" })
        };
        return Ok(xs.into_iter().filter_map(point).collect());
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
    Ok(points.into_iter().map(|point| CurvePoint { x: point.x, y: point.y.into(), unit: point.unit }).collect())
}
