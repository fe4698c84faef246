//! A simulation: the run of a case, of a scenario, or of a trace on a scenario's devices.

use seeklab_library::Library;
use seeklab_model::Checked;
use seeklab_model::result::columns::Column;
use seeklab_model::result::log::Log;
use seeklab_model::stack::Stack;
use seeklab_spec::{Problem, Problems};
use serde_json::{Map, Value, json};

use crate::input::{changes, needed, text, to_value};
use crate::questions::{self, check_answers};
use crate::replay;
use crate::summary::Summary;
use crate::trace_info::Replayed;
use crate::work::Work;

/// The case, variant and scenario that an input names: `case` with `variant` and `set`.
pub(crate) fn read_case(library: &Library, input: &Map<String, Value>) -> Result<((String, String), Checked), Problems> {
    let case = library.case(needed(input, "case")?)?;
    let variant = case.variant(text(input, "variant")?)?;
    let checked = case.scenario(Some(&variant.name), &changes(input)?, library.presets())?;
    Ok(((case.id.clone(), variant.name.clone()), checked))
}

/// A stack of layers that runs, with what its summary says of its origin.
pub(crate) struct Simulation {
    stack: Stack,
    /// Case and variant; none for a scenario of one's own.
    case: Option<(String, String)>,
    /// The replayed trace, and the way it is replayed.
    replay: Option<Replayed>,
    seed: u64,
}

impl Simulation {
    /// Opens a simulation of `{"case"}`, `{"scenario"}` or `{"replay"}`, see [`crate::Engine::open`].
    pub(crate) fn open(library: &Library, input: &Map<String, Value>, seed: u64) -> Result<Self, Problems> {
        if input.contains_key("replay") {
            let prepared = replay::prepare(library.presets(), input)?;
            check_answers(prepared.checked.scenario(), input)?;
            let stack = Stack::replaying(prepared.checked, seed, prepared.job, prepared.replay);
            return Ok(Self { stack, case: None, replay: Some(prepared.replayed), seed });
        }
        if input.contains_key("scenario") {
            check_whole(input)?;
        }
        let (case, checked) = match input.get("scenario") {
            Some(document) => (None, seeklab_model::read(document, library.presets())?),
            None => read_case(library, input).map(|(case, checked)| (Some(case), checked))?,
        };
        check_answers(checked.scenario(), input)?;
        Ok(Self { stack: Stack::new(checked, seed), case, replay: None, seed })
    }
}

impl Work for Simulation {
    fn step(&mut self, events: u32) -> Result<f64, Problems> {
        let stack = &mut self.stack;
        if stack.asks() {
            return Ok(2.0);
        }
        match stack.step(u64::from(events)) {
            Ok(true) => Ok(1.0),
            Ok(false) if stack.asks() => Ok(2.0),
            Ok(false) => Ok(stack.progress().min(0.999)),
            Err(problem) => Err(vec![problem]),
        }
    }

    fn question(&mut self) -> Result<Value, Problems> {
        to_value(&self.stack.question())
    }

    fn answer(&mut self, input: &Map<String, Value>) -> Result<(), Problems> {
        questions::answer(&mut self.stack, input)
    }

    fn summary(&self) -> Result<Value, Problems> {
        let stack = &self.stack;
        let metrics = seeklab_observe::metrics(stack);
        let values: Map<String, Value> = metrics.iter().map(|metric| (metric.name.clone(), json!(metric.value))).collect();
        let units: Map<String, Value> = metrics.iter().map(|metric| (metric.name.clone(), json!(metric.unit.symbol()))).collect();
        to_value(&Summary {
            case: self.case.as_ref().map(|case| case.0.clone()),
            variant: self.case.as_ref().map(|case| case.1.clone()),
            seed: self.seed,
            fingerprint: stack.recorder().fingerprint.hex(),
            metrics: values,
            units,
            events: stack.events(),
            simulated_ns: stack.now_ns(),
            jobs: stack.scenario().jobs.iter().map(|job| job.name.clone()).collect(),
            devices: stack.device_names().to_vec(),
            zero_columns: stack.recorder().log.iter().flat_map(Log::zero_columns).collect(),
            replay: self.replay.clone(),
            warnings: seeklab_model::check::warnings(stack.scenario()),
        })
    }

    fn column_names(&self) -> Vec<String> {
        seeklab_observe::column_names()
    }

    fn column(&self, name: &str) -> Option<Column> {
        seeklab_observe::column(&self.stack, name)
    }

    fn text(&self, options: &Map<String, Value>) -> Result<String, Problems> {
        seeklab_observe::print(&self.stack, needed(options, "tool")?, options)
    }
}

/// A scenario is whole: what changes a case's does not go with it.
fn check_whole(input: &Map<String, Value>) -> Result<(), Problems> {
    let besides = ["case", "variant", "set"].into_iter().filter(|name| input.get(*name).is_some_and(|value| !value.is_null()));
    let problems: Problems =
        besides.map(|name| Problem::new(name, "needs a case; with a scenario, write it into the scenario, or drop it")).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
