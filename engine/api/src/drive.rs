//! Calls on measured drives: the error of the disk model against a trace of service times.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::input::needed;
use seeklab_model::layers::device::hdd::Params;
use seeklab_observe::validate::{ClassAgreement, Times, judge, parse_trace, replay as replay_trace};
use seeklab_spec::Op;
use seeklab_spec::{Problem, Problems};

/// How near the disk model comes to a measured drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DriveAgreement {
    /// The drive's name.
    pub drive: String,
    /// Over all requests.
    #[serde(flatten)]
    pub all: ClassAgreement,
    /// Share of requests whose own two times differ by at most 0.3 ms.
    pub within_300_us: f64,
    /// Over reads, ranked among themselves.
    pub read: ClassAgreement,
    /// Over writes, ranked among themselves.
    pub write: ClassAgreement,
    /// Settings of the file that this model does nothing about.
    pub ignored: Vec<String>,
    /// Request by request, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<ServiceTimes>,
}

/// Service times in the trace's order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ServiceTimes {
    /// Whether the request writes.
    pub is_write: Vec<bool>,
    /// Its simulated time.
    pub simulated_us: Vec<f64>,
    /// Its measured time.
    pub measured_us: Vec<f64>,
}

/// Replays the measured trace of `{"drive": JSON text, "trace": CSV text, "times"?: bool}` on the drive: mean, bias, rms, demerit,
/// by class, and with `times` the service times of each request in the trace's order.
///
/// # Errors
/// When the drive's parameters contradict each other, or a line of the trace cannot be read.
pub fn replay(input: &Map<String, Value>) -> Result<DriveAgreement, Problems> {
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
    let us = |of: fn(&Times) -> f64| times.iter().map(|time| of(time) / 1000.0).collect::<Vec<f64>>();
    Ok(DriveAgreement {
        drive: params.name().to_owned(),
        within_300_us: found.all.within_300_us,
        all: found.all,
        read: found.read,
        write: found.write,
        ignored: params.ignored_settings().to_vec(),
        times: input.get("times").is_some_and(|times| times == true).then(|| ServiceTimes {
            is_write: times.iter().map(|(op, ..)| *op == Op::Write).collect(),
            simulated_us: us(|time| time.1),
            measured_us: us(|time| time.2),
        }),
    })
}
