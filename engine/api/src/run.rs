//! A run as hosts see it.

use seeklab_library::Library;
use seeklab_model::Checked;
use seeklab_model::result::columns::Column;
use seeklab_model::result::log::Log;
use seeklab_model::stack::Stack;
use seeklab_spec::{Problem, Problems};
use serde_json::{Map, Value, json};

use crate::asked::CacheReplay;
use crate::entries::ColumnEntry;
use crate::facts::Judging;
use crate::input::{changes, envelope, needed, parse, text, to_value};
use crate::questions::{self, check_answers};
use crate::replay;
use crate::summary::Summary;
use crate::trace_info::Replayed;

/// Largest seed: a whole number that JavaScript keeps exactly.
const LARGEST_SEED: u64 = (1 << 53) - 1;

/// The case, variant and scenario that an input names: `case` with `variant` and `set`.
pub(crate) fn read_case(library: &Library, input: &Map<String, Value>) -> Result<((String, String), Checked), Problems> {
    let case = library.case(needed(input, "case")?)?;
    let variant = case.variant(text(input, "variant")?)?;
    let checked = case.scenario(Some(&variant.name), &changes(input)?, library.presets())?;
    Ok(((case.id.clone(), variant.name.clone()), checked))
}

/// A run: opened from a case or a scenario, advanced step by step, then read. A cache replay is one too, which asks its host which
/// object to evict, and so is the judgement of facts, whose summary is their rows.
pub struct Run {
    work: Work,
    case: Option<(String, String)>,
    /// What was replayed, and how.
    replay: Option<Replayed>,
    seed: u64,
    failed: Option<Problems>,
}

enum Work {
    Stack(Box<Stack>),
    Cache(Box<CacheReplay>),
    Facts(Box<Judging>),
}

impl Run {
    /// Opens a run of `{"case", "variant"?, "set"?, "seed"?}`, `{"scenario", "seed"?}`,
    /// `{"replay": {"text", "format"?, "target"?, "mode"?, "iodepth"?, "scale"?}, "scenario" | "preset", "seed"?}` `{"cache": {"trace", "size", "objects"?}}`
    /// or `{"facts": {"case"?, "id"?, "seeds"?, "inputs"?, "ablated"?, "set"?}}`.
    /// With `"answers": "delays"` the throttle of a scenario may be `asked`, with `"ahead"` its read-ahead, with `"owners"` the map of its controller, with
    /// `"batches"` who shares a flush of a log: the host promises an answer to each such question.
    ///
    /// # Errors
    /// An envelope with everything that is wrong.
    pub(crate) fn open(library: &Library, input: &str) -> Result<Self, String> {
        parse(input).and_then(|input| Self::build(library, &input)).map_err(|problems| envelope(Err(problems)))
    }

    fn build(library: &Library, input: &Map<String, Value>) -> Result<Self, Problems> {
        let seed = match input.get("seed") {
            None => 1,
            Some(seed) => seed.as_u64().filter(|seed| *seed <= LARGEST_SEED).ok_or_else(|| {
                vec![Problem::new("seed", format!("{seed} is not a seed; write a whole number from 0 to {LARGEST_SEED}"))]
            })?,
        };
        if let Some(Value::Object(cache)) = input.get("cache") {
            return Ok(Self { work: Work::Cache(Box::new(CacheReplay::open(cache)?)), case: None, replay: None, seed, failed: None });
        }
        if let Some(Value::Object(facts)) = input.get("facts") {
            let judging = Box::new(Judging::open(library, facts)?);
            return Ok(Self { work: Work::Facts(judging), case: None, replay: None, seed, failed: None });
        }
        if input.contains_key("replay") {
            let prepared = replay::prepare(library.presets(), input)?;
            check_answers(prepared.checked.scenario(), input)?;
            let stack = Stack::replaying(prepared.checked, seed, prepared.job, prepared.replay);
            return Ok(Self { work: Work::Stack(Box::new(stack)), case: None, replay: Some(prepared.replayed), seed, failed: None });
        }
        if input.contains_key("scenario") {
            check_whole(input)?;
        }
        let (case, checked) = match input.get("scenario") {
            Some(document) => (None, seeklab_model::read(document, library.presets())?),
            None => read_case(library, input).map(|(case, checked)| (Some(case), checked))?,
        };
        check_answers(checked.scenario(), input)?;
        Ok(Self { work: Work::Stack(Box::new(Stack::new(checked, seed))), case, replay: None, seed, failed: None })
    }

    /// Advances the run by at most `events` events. Returns its progress from 0 to 1, exactly 1 when it has ended, -1 when it has
    /// exceeded a limit, 2 when it waits for an answer.
    pub fn step(&mut self, events: u32) -> f64 {
        if self.failed.is_some() {
            return -1.0;
        }
        let stack = match &mut self.work {
            Work::Stack(stack) => stack,
            Work::Cache(replay) => return replay.step(events),
            Work::Facts(judging) => {
                return judging.step(events).unwrap_or_else(|problems| {
                    self.failed = Some(problems);
                    -1.0
                });
            }
        };
        if stack.asks() {
            return 2.0;
        }
        match stack.step(u64::from(events)) {
            Ok(true) => 1.0,
            Ok(false) if stack.asks() => 2.0,
            Ok(false) => stack.progress().min(0.999),
            Err(problem) => {
                self.failed = Some(vec![problem]);
                -1.0
            }
        }
    }

    /// The question that the run waits with, as an envelope; null when there is none.
    #[must_use]
    pub fn question(&mut self) -> String {
        envelope(self.asked())
    }

    fn asked(&mut self) -> Result<Value, Problems> {
        match &mut self.work {
            Work::Stack(stack) => to_value(&stack.question()),
            Work::Cache(replay) => Ok(replay.question()),
            Work::Facts(_) => Ok(Value::Null),
        }
    }

    /// Answers the question; an envelope of null, or of why the answer is refused. The question stands until it is answered.
    ///
    /// With `"events"` in the answer the run also advances by at most so many, as by a step, and the envelope holds
    /// `{"progress", "question"}`: one call for each question of a host for which calls are dear.
    pub fn answer(&mut self, input: &str) -> String {
        envelope(parse(input).and_then(|input| {
            match &mut self.work {
                Work::Stack(stack) => questions::answer(stack, &input)?,
                Work::Cache(replay) => replay.answer(&input)?,
                Work::Facts(_) => return Err(vec![Problem::new("answer", "facts ask nothing")]),
            }
            let Some(events) = input.get("events").and_then(Value::as_u64) else { return Ok(Value::Null) };
            let progress = self.step(u32::try_from(events).unwrap_or(u32::MAX));
            Ok(json!({"progress": progress, "question": self.asked()?}))
        }))
    }

    /// The summary as an envelope: case, variant, seed, fingerprint, metrics, units, events, simulated time, names, and warnings:
    /// what the scenario can be but is seldom meant to be.
    #[must_use]
    pub fn summary(&self) -> String {
        if let Some(problems) = &self.failed {
            return envelope(Err(problems.clone()));
        }
        envelope(match &self.work {
            Work::Stack(stack) => to_value(&self.stack_summary(stack)),
            Work::Cache(replay) => to_value(&replay.summary()),
            Work::Facts(judging) => to_value(&judging.rows()),
        })
    }

    fn stack_summary(&self, stack: &Stack) -> Summary {
        let metrics = seeklab_observe::metrics(stack);
        let values: Map<String, Value> = metrics.iter().map(|metric| (metric.name.clone(), json!(metric.value))).collect();
        let units: Map<String, Value> = metrics.iter().map(|metric| (metric.name.clone(), json!(metric.unit.symbol()))).collect();
        Summary {
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
        }
    }

    /// Name, element type and length of each column, as an envelope.
    #[must_use]
    pub fn columns(&self) -> String {
        let names = match &self.work {
            Work::Stack(_) => seeklab_observe::column_names(),
            Work::Cache(_) => CacheReplay::column_names(),
            Work::Facts(_) => Vec::new(),
        };
        let entry = |name: String| {
            let column = self.column(&name)?;
            Some(ColumnEntry { name, dtype: column.dtype(), length: column.len() })
        };
        envelope(to_value(&names.into_iter().filter_map(entry).collect::<Vec<_>>()))
    }

    /// A column by its name, such as `ops.latency_ns`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Column> {
        match &self.work {
            Work::Stack(stack) => seeklab_observe::column(stack, name),
            Work::Cache(replay) => replay.column(name),
            Work::Facts(_) => None,
        }
    }

    /// What a tool prints of the run, as an envelope; `{"tool", ...}`.
    #[must_use]
    pub fn text(&self, input: &str) -> String {
        envelope(parse(input).and_then(|options| match &self.work {
            Work::Stack(stack) => seeklab_observe::print(stack, needed(&options, "tool")?, &options).map(Value::String),
            Work::Cache(_) => Err(vec![Problem::new("tool", "a cache replay has no tools; read its summary and columns")]),
            Work::Facts(_) => Err(vec![Problem::new("tool", "facts have no tools; read their summary")]),
        }))
    }
}

/// A scenario is whole: what changes a case's does not go with it.
fn check_whole(input: &Map<String, Value>) -> Result<(), Problems> {
    let besides = ["case", "variant", "set"].into_iter().filter(|name| input.get(*name).is_some_and(|value| !value.is_null()));
    let problems: Problems =
        besides.map(|name| Problem::new(name, "goes with a case; a scenario says all by itself, so write it there, or drop it")).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
