//! Calls on measured drives: the error of the disk model against a trace of service times.

use serde_json::{Map, Value, json};

use super::needed;
use crate::device::hdd::Params;
use crate::device::hdd::validate::{parse_trace, validate};
use crate::scenario::{Problem, Problems};

/// Replays the measured trace of `{"drive": JSON text, "trace": CSV text}` on the drive: mean, rms, demerit, by class.
///
/// # Errors
/// When the drive's parameters contradict each other, or a line of the trace cannot be read.
pub fn replay(input: &Map<String, Value>) -> Result<Value, Problems> {
    let params = Params::from_drive_json(needed(input, "drive")?).map_err(|errors| {
        let problem = |error: &crate::device::hdd::ParamError| {
            Problem::new(error.path.clone(), format!("found {}; write {}", error.found, error.accepted))
        };
        errors.iter().map(problem).collect::<Problems>()
    })?;
    let trace = parse_trace(needed(input, "trace")?)
        .map_err(|error| vec![Problem::new(format!("line {}", error.line), format!("found {}; write {}", error.found, error.accepted))])?;
    let beyond = trace.iter().position(|request| request.lbn + u64::from(request.sectors) > params.capacity_sectors());
    if let Some(index) = beyond {
        let request = &trace[index];
        let end = request.lbn + u64::from(request.sectors);
        let message = format!("ends at block {end}; the drive has {}", params.capacity_sectors());
        return Err(vec![Problem::new(format!("request {}", index + 1), message)]);
    }
    let found = validate(&params, &trace);
    let class = |class: &crate::device::hdd::validate::ClassValidation| {
        json!({
            "requests": class.requests,
            "mean_ms": class.mean_ms,
            "measured_mean_ms": class.measured_mean_ms,
            "rms_ms": class.rms_ms,
            "demerit": class.demerit,
        })
    };
    Ok(json!({
        "drive": params.name(),
        "requests": found.requests,
        "mean_ms": found.mean_ms,
        "measured_mean_ms": found.measured_mean_ms,
        "rms_ms": found.rms_ms,
        "demerit": found.demerit,
        "within_300_us": found.within_300_us,
        "read": class(&found.read),
        "write": class(&found.write),
        "ignored": params.ignored_settings(),
    }))
}
