//! Calls on caches: hit counts of policies over a trace, and miss-ratio curves.

use serde_json::{Map, Value};

use crate::input::needed;
use crate::replay as requests;
use seeklab_cache::ReplayPolicy;
use seeklab_cache::curve::{Point, curve};
use seeklab_cache::trace::Trace;
use seeklab_formats::trace::{format_of, to_cache_trace};
use seeklab_spec::trace::{MAX_REQUEST_BYTES, SECTOR};
use seeklab_spec::{Bytes, Problem, Problems};

/// Blocks in which a cache holds what the requests of a recorded trace touch, by default.
const BLOCK_BYTES: u64 = 4096;

/// Refuses a trace without a request: its hit ratio would be of nothing.
pub(crate) fn some_requests(trace: &Trace) -> Result<(), Problems> {
    if trace.is_empty() {
        return Err(vec![Problem::new("trace", "contains no requests; pass a trace of time,object,size lines, or a recorded one")]);
    }
    Ok(())
}

/// Replays `{"trace", "policies": [...], "sizes": [...], "objects"?: bool, "one_in"?: n}`: a row for each policy and size.
///
/// The trace is a CSV of `time,object,size`, or recorded requests in one of [`seeklab_spec::trace::Format::ALL`] with `"format"?`, `"target"?` and
/// `"block"?`, in which reads and writes alike touch every block that they lie in.
///
/// # Errors
/// When the trace has a line that cannot be read, or a policy or size is not one.
pub fn replay(input: &Map<String, Value>) -> Result<Vec<Point>, Problems> {
    let text = needed(input, "trace")?;
    let in_objects = input.get("objects").is_some_and(|objects| objects == true);
    let block = match (input.get("format").is_some_and(|format| !format.is_null()), format_of(text.as_bytes())) {
        (false, None) => None,
        _ => Some(block_bytes(input)?),
    };
    let trace = match block {
        None => Trace::parse(text.as_bytes()),
        Some(block) => to_cache_trace(&requests::read(input, "trace")?, block),
    };
    let trace = trace.map_err(|problem| vec![Problem::new(format!("line {}", problem.line), problem.fault.to_string())])?;
    some_requests(&trace)?;
    let trace = if in_objects { trace.in_objects() } else { trace };
    // What is counted in blocks is told in bytes.
    let unit = block.filter(|_| !in_objects).unwrap_or(1);
    let policies = list(input, "policies", |value| {
        let name = value.as_str().ok_or_else(|| format!("{value} is not a name"))?;
        name.parse::<ReplayPolicy>().map_err(|error| error.to_string())
    })?;
    let sizes = list(input, "sizes", |value| {
        let size = value.as_u64().or_else(|| value.as_str().and_then(Bytes::parse).map(|bytes| bytes.0));
        let size = size.filter(|size| *size > 0).ok_or_else(|| format!("{value} is not {} (more than 0)", Bytes::ACCEPTED))?;
        Some(size / unit).filter(|blocks| *blocks > 0).ok_or_else(|| format!("{value} is less than a block of {unit} bytes"))
    })?;
    let one_in = match input.get("one_in") {
        None | Some(Value::Null) => 1,
        Some(value) => value.as_u64().and_then(|one_in| u32::try_from(one_in).ok()).filter(|one_in| *one_in > 0).ok_or_else(|| {
            vec![Problem::new("one_in", format!("{value} is not a sampling rate; write 1 for all objects, 100 for one in 100"))]
        })?,
    };
    let mut points = curve(&trace, &policies, &sizes, one_in);
    for point in &mut points {
        for bytes in [&mut point.size, &mut point.counts.bytes, &mut point.counts.hit_bytes] {
            *bytes *= unit;
        }
    }
    Ok(points)
}

fn block_bytes(input: &Map<String, Value>) -> Result<u64, Problems> {
    let Some(value) = input.get("block").filter(|value| !value.is_null()) else { return Ok(BLOCK_BYTES) };
    let bytes = value.as_u64().or_else(|| value.as_str().and_then(Bytes::parse).map(|bytes| bytes.0));
    bytes
        .filter(|bytes| (SECTOR..=MAX_REQUEST_BYTES).contains(bytes))
        .ok_or_else(|| vec![Problem::new("block", format!("{value} is not {} from {SECTOR} B to 1 GiB", Bytes::ACCEPTED))])
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
