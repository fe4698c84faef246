//! Calls on caches: hit counts of policies over a trace, and miss-ratio curves.

use serde_json::{Map, Value};

use super::{needed, to_value};
use crate::cache::Contestant;
use crate::cache::curve::curve;
use crate::cache::trace::Trace;
use crate::scenario::{Bytes, Problem, Problems};

/// Replays `{"trace": CSV, "policies": [...], "sizes": [...], "objects"?: bool, "one_in"?: n}`: a row for each policy and size.
///
/// # Errors
/// When the trace has a line that cannot be read, or a policy or size is not one.
pub fn replay(input: &Map<String, Value>) -> Result<Value, Problems> {
    let text = needed(input, "trace")?;
    let trace =
        Trace::parse(text.as_bytes()).map_err(|problem| vec![Problem::new(format!("line {}", problem.line), problem.fault.to_string())])?;
    let trace = if input.get("objects").is_some_and(|objects| objects == true) { trace.in_objects() } else { trace };
    let policies = list(input, "policies", |value| {
        let name = value.as_str().ok_or_else(|| format!("{value} is not a name"))?;
        name.parse::<Contestant>().map_err(|error| error.to_string())
    })?;
    let sizes = list(input, "sizes", |value| {
        let size = value.as_u64().or_else(|| value.as_str().and_then(Bytes::parse).map(|bytes| bytes.0));
        size.filter(|size| *size > 0).ok_or_else(|| format!("{value} is not {} (more than 0)", Bytes::ACCEPTED))
    })?;
    let one_in = match input.get("one_in") {
        None | Some(Value::Null) => 1,
        Some(value) => value.as_u64().and_then(|one_in| u32::try_from(one_in).ok()).filter(|one_in| *one_in > 0).ok_or_else(|| {
            vec![Problem::new("one_in", format!("{value} is not a sampling rate; write 1 for all objects, 100 for one in 100"))]
        })?,
    };
    to_value(&curve(&trace, &policies, &sizes, one_in))
}

/// The entries of a list, all that are wrong at once.
fn list<T>(input: &Map<String, Value>, name: &str, read: impl Fn(&Value) -> Result<T, String>) -> Result<Vec<T>, Problems> {
    let values = input.get(name).and_then(Value::as_array).filter(|values| !values.is_empty());
    let values = values.ok_or_else(|| vec![Problem::new(name, "is missing; write at least one")])?;
    let mut problems = Problems::new();
    let mut entries = Vec::new();
    for (index, value) in values.iter().enumerate() {
        match read(value) {
            Ok(entry) => entries.push(entry),
            Err(message) => problems.push(Problem::new(format!("{name}[{index}]"), message)),
        }
    }
    if problems.is_empty() { Ok(entries) } else { Err(problems) }
}
