//! Traces as workloads: what a trace holds, and runs that replay one.

use serde_json::{Map, Value, json};

use crate::input::{needed, text};
use crate::trace_info::{Replayed, TraceInfo};
use seeklab_formats::trace::read as read_trace;
use seeklab_model::Checked;
use seeklab_model::layers::workload::replay::{Mode, Replay};
use seeklab_spec::trace::{self, Format, Trace};
use seeklab_spec::{Bytes, Nanos, Presets, Problem, Problems, Scenario, SizeRange};

/// Name of the job that replays.
const JOB: &str = "replay";
/// Queue depth of the modes that have one, when none is given.
const CLOSED_DEPTH: u64 = 1;
const FAST_DEPTH: u64 = 32;
const MAX_DEPTH: u64 = 65_536;
/// Times may be stretched or shrunk this much.
const MAX_SCALE: f64 = 1e6;
/// On a preset, unless asked for, the operation log of longer traces is not kept.
const MAX_LOGGED: usize = 1 << 20;
const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// A run that replays a trace: checked scenario with its job, requests, and what the summary says of them.
pub(super) struct Prepared {
    pub(super) checked: Checked,
    /// The job that replays.
    pub(super) job: usize,
    pub(super) replay: Replay,
    pub(super) replayed: Replayed,
}

pub(super) fn trace_problem(problem: &trace::Problem) -> Problems {
    vec![Problem::new(format!("line {}", problem.line), problem.fault.to_string())]
}

/// Reads the trace whose text is called `name`, with `"format"?` and `"target"?` beside it.
pub(super) fn read(input: &Map<String, Value>, name: &str) -> Result<Trace, Problems> {
    let format = match text(input, "format")? {
        None => None,
        Some(name) => {
            let unknown = |()| vec![Problem::unknown("format", "format of traces", name, Format::ALL.map(Format::name))];
            Some(name.parse::<Format>().map_err(unknown)?)
        }
    };
    let trace = read_trace(needed(input, name)?.as_bytes(), format).map_err(|problem| trace_problem(&problem))?;
    let Some(name) = text(input, "target")? else { return Ok(trace) };
    let unknown =
        Problem::unknown("target", "target of this trace", name, trace.targets.iter().map(|target| target.name.as_str()).take(20));
    trace.only(name).ok_or_else(|| vec![unknown])
}

/// Describe the trace of `{"text", "format"?, "target"?}`.
///
/// # Errors
/// The first line that cannot be read.
pub(super) fn info(input: &Map<String, Value>) -> Result<TraceInfo, Problems> {
    Ok(TraceInfo::of(&read(input, "text")?))
}

/// Prepares a run of `{"replay": {"text", "format"?, "target"?, "mode"?, "iodepth"?, "scale"?}, "scenario" | "preset"}`.
///
/// The scenario is a system; jobs that it has run beside the replay.
pub(super) fn prepare(presets: &Presets, input: &Map<String, Value>) -> Result<Prepared, Problems> {
    let asked = input.get("replay").and_then(Value::as_object);
    let asked = asked.ok_or_else(|| vec![Problem::new("replay", "is not an object with the text of a trace and the replay options")])?;
    if let Some(name) = asked.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(vec![Problem::unknown(format!("replay.{name}"), "field", name, FIELDS)]);
    }
    let mode = mode(asked)?;
    let iodepth = iodepth(asked, mode)?;
    let scale = scale(asked)?;
    let mut system = system(presets, input)?;
    let trace = read(asked, "text").map_err(in_replay)?;
    let job = add_job(&mut system, iodepth)?;
    let checked = seeklab_model::read(&system, presets)?;
    trace.check(checked.plan().capacity).map_err(|problem| trace_problem(&problem))?;
    let (mut scenario, _) = checked.into_parts();
    describe(&mut scenario, job, &trace);
    let replay = Replay::new(&trace, mode, scale);
    if input.get("scenario").is_none() {
        scenario.record.log = trace.rows.len() <= MAX_LOGGED;
        // Limits stop runs that were not meant to be so long; a trace of a week is meant to take one.
        let span_ns = trace.rows.last().map_or(0, |row| row.time_ns).saturating_mul(scale_up(scale));
        scenario.limits.time = Nanos(scenario.limits.time.0.saturating_add(span_ns).min(YEAR_NS));
    }
    if replay.memory_bytes() > scenario.limits.memory.0 {
        let message = format!("the trace needs {}; the limit is {}", Bytes(replay.memory_bytes()), scenario.limits.memory);
        return Err(vec![Problem::new("limits.memory", message)]);
    }
    let iodepth = (mode != Mode::Open).then_some(iodepth);
    let replayed = Replayed { trace: TraceInfo::of(&trace), mode: mode.name(), iodepth, scale };
    Ok(Prepared { checked: Checked::new(scenario)?, job, replay, replayed })
}

const FIELDS: [&str; 6] = ["text", "format", "target", "mode", "iodepth", "scale"];

fn in_replay(problems: Problems) -> Problems {
    let place = |mut problem: Problem| {
        if FIELDS.contains(&problem.path.as_str()) {
            problem.path = format!("replay.{}", problem.path);
        }
        problem
    };
    problems.into_iter().map(place).collect()
}

fn mode(asked: &Map<String, Value>) -> Result<Mode, Problems> {
    let Some(name) = text(asked, "mode").map_err(in_replay)? else { return Ok(Mode::default()) };
    name.parse().map_err(|()| vec![Problem::unknown("replay.mode", "mode", name, Mode::NAMES)])
}

fn iodepth(asked: &Map<String, Value>, mode: Mode) -> Result<u64, Problems> {
    let wrong = |message: String| vec![Problem::new("replay.iodepth", message)];
    match asked.get("iodepth") {
        None | Some(Value::Null) => Ok(if mode == Mode::Fast { FAST_DEPTH } else { CLOSED_DEPTH }),
        Some(found) if mode == Mode::Open => {
            Err(wrong(format!("{found} cannot be combined with mode open, which issues at the recorded times; write mode closed or fast")))
        }
        Some(found) => found
            .as_u64()
            .filter(|depth| (1..=MAX_DEPTH).contains(depth))
            .ok_or_else(|| wrong(format!("{found} is not a queue depth; write a whole number from 1 to {MAX_DEPTH}"))),
    }
}

fn scale(asked: &Map<String, Value>) -> Result<f64, Problems> {
    match asked.get("scale") {
        None | Some(Value::Null) => Ok(1.0),
        Some(found) => found.as_f64().filter(|scale| (1.0 / MAX_SCALE..=MAX_SCALE).contains(scale)).ok_or_else(|| {
            let message = format!("{found} is not a time factor; write a number from 0.000001 to 1000000, such as 0.5 for twice as fast");
            vec![Problem::new("replay.scale", message)]
        }),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to a million
fn scale_up(scale: f64) -> u64 {
    libm::ceil(scale) as u64
}

/// The scenario that the input names, without the replay.
fn system(presets: &Presets, input: &Map<String, Value>) -> Result<Value, Problems> {
    match (input.get("scenario"), text(input, "preset")?) {
        (Some(scenario), None) => Ok(scenario.clone()),
        (None, Some(name)) => presets.system(name),
        (Some(_), Some(_)) => Err(vec![Problem::new("preset", "cannot be combined with scenario; pass only one of them")]),
        (None, None) => Err(vec![Problem::new("preset", "is missing; name a preset, or pass a scenario")]),
    }
}

/// Adds the job that replays to a system; its place among the jobs.
fn add_job(system: &mut Value, iodepth: u64) -> Result<usize, Problems> {
    let Some(fields) = system.as_object_mut() else {
        return Err(vec![Problem::new("scenario", format!("{system} is not an object"))]);
    };
    let jobs = fields.entry("jobs").or_insert_with(|| json!([]));
    let Some(jobs) = jobs.as_array_mut() else {
        return Err(vec![Problem::new("jobs", format!("{jobs} is not a list"))]);
    };
    if let Some(index) = jobs.iter().position(|job| job["exitall"] == true) {
        return Err(vec![Problem::new(format!("jobs[{index}].exitall"), "would end the replay before the end of the trace; write false")]);
    }
    jobs.push(json!({"name": JOB, "rw": "readwrite", "bs": trace::SECTOR, "filename": "volume", "iodepth": iodepth}));
    Ok(jobs.len() - 1)
}

/// Says in the job what the trace holds: how many requests, of what sizes.
fn describe(scenario: &mut Scenario, job: usize, trace: &Trace) {
    let sizes = || trace.rows.iter().map(|row| u64::from(row.bytes));
    let job = &mut scenario.jobs[job];
    job.number_ios = Some(trace.rows.len() as u64);
    job.io_size = Some(Bytes(sizes().sum()));
    job.bsrange =
        Some(SizeRange { min: Bytes(sizes().min().unwrap_or(trace::SECTOR)), max: Bytes(sizes().max().unwrap_or(trace::SECTOR)) });
}
