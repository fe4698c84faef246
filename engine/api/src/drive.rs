//! Calls on measured drives: the error of the disk model against a trace of service times.

use serde_json::{Map, Value, json};

use crate::input::needed;
use seeklab_model::layers::device::hdd::Params;
use seeklab_observe::validate::{judge, parse_trace, replay as replay_trace};
use seeklab_spec::Op;
use seeklab_spec::{Problem, Problems};

/// Replays the measured trace of `{"drive": JSON text, "trace": CSV text, "times"?: bool}` on the drive: mean, rms, demerit, by
/// class, and with `times` the service times of each request in the trace's order.
///
/// # Errors
/// When the drive's parameters contradict each other, or a line of the trace cannot be read.
pub fn replay(input: &Map<String, Value>) -> Result<Value, Problems> {
    let params = Params::from_drive_json(needed(input, "drive")?).map_err(|errors| {
        let problem = |error: &seeklab_model::layers::device::hdd::ParamError| {
            Problem::new(error.path.clone(), format!("found {}; {}", error.found, error.accepted))
        };
        errors.iter().map(problem).collect::<Problems>()
    })?;
    let trace = parse_trace(needed(input, "trace")?)
        .map_err(|error| vec![Problem::new(format!("line {}", error.line), format!("found {}; {}", error.found, error.accepted))])?;
    let beyond = trace.iter().position(|request| request.lbn + u64::from(request.sectors) > params.capacity_sectors());
    if let Some(index) = beyond {
        let request = &trace[index];
        let end = request.lbn + u64::from(request.sectors);
        let message = format!("ends at block {end}; the drive has {}", params.capacity_sectors());
        return Err(vec![Problem::new(format!("request {}", index + 1), message)]);
    }
    let times = replay_trace(&params, &trace);
    let found = judge(&times);
    let class = |class: &seeklab_observe::validate::ClassValidation| {
        json!({
            "requests": class.requests,
            "mean_ms": class.mean_ms,
            "measured_mean_ms": class.measured_mean_ms,
            "rms_ms": class.rms_ms,
            "demerit": class.demerit,
        })
    };
    let mut answer = json!({
        "drive": params.name(),
        "requests": found.all.requests,
        "mean_ms": found.all.mean_ms,
        "measured_mean_ms": found.all.measured_mean_ms,
        "rms_ms": found.all.rms_ms,
        "demerit": found.all.demerit,
        "within_300_us": found.all.within_300_us,
        "read": class(&found.read),
        "write": class(&found.write),
        "ignored": params.ignored_settings(),
    });
    if input.get("times").is_some_and(|times| times == true) {
        let us = |of: fn(&(Op, f64, f64)) -> f64| times.iter().map(|time| of(time) / 1000.0).collect::<Vec<f64>>();
        answer["times"] = json!({
            "is_write": times.iter().map(|(op, ..)| *op == Op::Write).collect::<Vec<bool>>(),
            "simulated_us": us(|time| time.1),
            "measured_us": us(|time| time.2),
        });
    }
    Ok(answer)
}
