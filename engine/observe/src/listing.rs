//! The metrics of a run as a list: name, value, unit, and what each is.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

use seeklab_model::stack::Stack;

/// Digits behind the point, at most.
const DIGITS: usize = 3;

/// A metric as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricEntry {
    /// Its name, which ends with the unit.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Meaning of the metric, in one sentence.
    pub help: &'static str,
}

/// The metrics of a run, in the order in which they are reported.
#[must_use]
pub fn entries(stack: &Stack) -> Vec<MetricEntry> {
    let entry = |metric: seeklab_model::result::metrics::Metric| MetricEntry {
        name: metric.name,
        value: metric.value,
        unit: metric.unit.symbol(),
        help: metric.help,
    };
    crate::metrics(stack).into_iter().map(entry).collect()
}

/// Prints one line for each metric.
#[must_use]
pub fn print(stack: &Stack) -> String {
    let rows: Vec<[String; 4]> =
        entries(stack).into_iter().map(|entry| [entry.name, number(entry.value), entry.unit.to_owned(), entry.help.to_owned()]).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [names, values, units] = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [name, value, unit, help] in &rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<names$}  {value:>values$} {unit:<units$}  {help}");
    }
    text
}

/// Print whole numbers as they are, others with three decimals.
fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { format!("{value:.DIGITS$}") }
}

/// The metrics as JSON.
#[must_use]
pub fn json(stack: &Stack) -> String {
    entries(stack).into_iter().map(|entry| serde_json::to_value(entry).unwrap_or_default()).collect::<Value>().to_string() // texts and numbers always fit
}
