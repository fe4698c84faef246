//! The engine's outward face: named calls and runs, JSON in, JSON and columns out. Bindings translate it and add nothing.
//!
//! Every answer is an envelope: `{"ok": ...}` or `{"errors": [{"path", "message", "nearest"?}]}`.

mod asked;
mod cache;
mod curve;
mod drive;
mod replay;

use serde::Serialize;
use serde_json::{Map, Value, json};

use asked::CacheReplay;

use crate::case::Case;
use crate::case::controls::controls;
use crate::case::facts::{Break, Runs};
use crate::controller::spec::OwnerMap;
use crate::json;
use crate::library;
use crate::result::columns;
use crate::scenario::{self, Problem, Problems, Scenario};
use crate::stack::{Question, Stack};
use crate::tools;
use crate::zfs::spec::ThrottleKind;
use crate::zfs::throttle::asked::LONGEST_DELAY_NS;
use crate::zfs::volume;
use crate::zfs::zfetch;
use crate::zfs::zfetch::asked::MOST_RECORDS;

pub use crate::result::columns::Column;

/// Largest seed: a whole number that JavaScript keeps exactly.
const LARGEST_SEED: u64 = (1 << 53) - 1;

fn envelope(result: Result<Value, Problems>) -> String {
    let (name, value) = match result {
        Ok(value) => ("ok", value),
        Err(problems) => ("errors", json::to_value(&problems).unwrap_or_default()), // texts always fit
    };
    Value::Object(Map::from_iter([(name.to_owned(), value)])).to_string()
}

fn parse(text: &str) -> Result<Map<String, Value>, Problems> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(vec![Problem::new("input", format!("{other} is not an object"))]),
        Err(error) => Err(vec![Problem::new("input", format!("is not JSON: {error}"))]),
    }
}

fn text<'a>(input: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Problems> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(vec![Problem::new(name, format!("{other} is not a text"))]),
    }
}

fn needed<'a>(input: &'a Map<String, Value>, name: &str) -> Result<&'a str, Problems> {
    text(input, name)?.ok_or_else(|| vec![Problem::new(name, "is missing")])
}

fn changes(input: &Map<String, Value>) -> Result<Map<String, Value>, Problems> {
    match input.get("set") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(set)) => Ok(set.clone()),
        Some(other) => Err(vec![Problem::new("set", format!("{other} is not an object of paths and values"))]),
    }
}

/// Answers a named call.
#[must_use]
pub fn call(name: &str, input: &str) -> String {
    envelope(parse(input).and_then(|input| answer(name, &input)))
}

const CALLS: [&str; 20] = [
    "version",
    "give_library",
    "cases",
    "case",
    "schema",
    "presets",
    "scenario",
    "validate",
    "control",
    "facts",
    "ablation",
    "measure",
    "cache",
    "curve",
    "design",
    "drive",
    "trace_info",
    "fio_parse",
    "alignment",
    "reduce",
];

fn answer(name: &str, input: &Map<String, Value>) -> Result<Value, Problems> {
    match name {
        "version" => Ok(json!({"engine": env!("CARGO_PKG_VERSION")})),
        "give_library" => Ok(library::give(input)?.into()),
        "cases" => Ok(library::cases()?.into_iter().map(card).collect()),
        "case" => to_value(library::case(needed(input, "id")?)?),
        "schema" => Ok(scenario::schema::scenario_schema().clone()),
        "presets" => Ok(library::presets().iter().map(preset_card).collect()),
        "scenario" => to_value(&read_case(input)?.1),
        "validate" => to_value(&scenario::read(input.get("scenario").unwrap_or(&Value::Null))?),
        "control" => {
            let case = library::case(needed(input, "case")?)?;
            to_value(&controls(case, text(input, "variant")?, &changes(input)?)?)
        }
        "facts" => facts(input, false),
        "ablation" => facts(input, true),
        "measure" => measure(input),
        "cache" => cache::replay(input),
        "curve" => curve::points(input),
        "design" => crate::design::answer(input),
        "drive" => drive::replay(input),
        "trace_info" => replay::info(input),
        "fio_parse" => tools::fio::parse(input),
        "reduce" => crate::workload::buffers::answer(input),
        "alignment" => tools::parted::alignment(input),
        _ => Err(vec![Problem::unknown("call", "call", name, CALLS)]),
    }
}

fn to_value<T: Serialize>(value: &T) -> Result<Value, Problems> {
    json::to_value(value).map_err(|error| vec![Problem::new("output", error.to_string())])
}

fn card(case: &Case) -> Value {
    json!({
        "id": case.id,
        "code": case.code,
        "title": case.title,
        "symptom": case.symptom,
        "family": case.family,
        "source": case.source.name,
        "variants": case.variants.iter().map(|variant| &variant.name).collect::<Vec<_>>(),
        "controls": case.controls.iter().map(|control| &control.path).collect::<Vec<_>>(),
    })
}

fn preset_card(preset: &Value) -> Value {
    let kind = ["hdd", "ssd", "lun"].into_iter().find(|kind| preset["device"].get(kind).is_some()).unwrap_or("pool");
    json!({"name": preset["name"], "title": preset["title"], "source": preset["source"], "kind": kind})
}

/// Facts, `{"case"?, "id"?}`, as they are or each with its own ablation; that may be another, as `"set"`, for all of them.
fn facts(input: &Map<String, Value>, ablated: bool) -> Result<Value, Problems> {
    let chosen = match text(input, "case")? {
        Some(id) => vec![library::case(id)?],
        None => library::cases()?,
    };
    let id = text(input, "id")?;
    let other = ablation(input)?;
    let mut rows = Vec::new();
    for case in &chosen {
        let mut runs = Runs::default();
        for fact in case.facts.iter().filter(|fact| id.is_none_or(|id| fact.id == id)) {
            let off = if other.set.is_empty() { fact.ablation.as_ref() } else { Some(&other) }.filter(|_| ablated);
            if off.is_some() == ablated {
                rows.push(runs.fact(case, fact, off)?);
            }
        }
    }
    match id {
        Some(id) if rows.is_empty() => {
            let known = chosen.iter().flat_map(|case| &case.facts).map(|fact| fact.id.as_str());
            Err(vec![Problem::unknown("id", "fact", id, known)])
        }
        _ => Ok(rows.into()),
    }
}

/// The value of a measure of a case, such as a fact's or a question's, with further changes of each run: `{"case", "measure", "set"?}`.
fn measure(input: &Map<String, Value>) -> Result<Value, Problems> {
    let case = library::case(needed(input, "case")?)?;
    let measure = json::from_value(input.get("measure").unwrap_or(&Value::Null))
        .map_err(|_| vec![Problem::new("measure", "is not a measure: a metric, a ratio or a difference of two")])?;
    Ok(json!(Runs::default().measure(case, &measure, Some(&ablation(input)?))?))
}

/// Changes of each run, as an ablation.
fn ablation(input: &Map<String, Value>) -> Result<Break, Problems> {
    Ok(Break { what: String::new(), set: changes(input)?, variant: None })
}

/// The case, variant and scenario that an input names: `case` with `variant` and `set`.
fn read_case(input: &Map<String, Value>) -> Result<((String, String), Scenario), Problems> {
    let case = library::case(needed(input, "case")?)?;
    let variant = case.variant(text(input, "variant")?)?;
    let scenario = case.scenario(Some(&variant.name), &changes(input)?)?;
    Ok(((case.id.clone(), variant.name.clone()), scenario))
}

/// Gives a run that asks for a delay `{"delay_ns"}`, for the owner of a range `{"shard"}`, what to read ahead
/// `{"runs": [[record, records], ...]}`.
fn answer_stack(stack: &mut Stack, input: &Map<String, Value>) -> Result<(), Problems> {
    let (name, what, most) = match stack.question() {
        Some(Question::Volume(volume::Question::Ahead(_))) => return answer_ahead(stack, input),
        Some(Question::Volume(volume::Question::Delay(_))) => ("delay_ns", "a delay; give a whole number of nanoseconds", LONGEST_DELAY_NS),
        Some(Question::Owner(question)) => ("shard", "a shard; give a whole number", question.queued.len() as u64 - 1),
        None => return Err(vec![Problem::new("answer", "nothing was asked")]),
    };
    let given = input.get(name).unwrap_or(&Value::Null);
    let answer = given
        .as_u64()
        .filter(|number| *number <= most)
        .ok_or_else(|| vec![Problem::new(name, format!("{given} is not {what} from 0 to {most}"))])?;
    if name == "shard" {
        stack.answer_owner(u32::try_from(answer).unwrap_or(0)); // shards are few
    } else {
        stack.answer(answer);
    }
    Ok(())
}

fn answer_ahead(stack: &mut Stack, input: &Map<String, Value>) -> Result<(), Problems> {
    let given = input.get("runs").unwrap_or(&Value::Null);
    let run = |run: &Value| match run.as_array().map(Vec::as_slice) {
        Some([block, blocks]) => Some(zfetch::Run { block: block.as_u64()?, blocks: blocks.as_u64()? }),
        _ => None,
    };
    let runs: Option<Vec<zfetch::Run>> = given.as_array().and_then(|runs| runs.iter().map(run).collect());
    let few = |runs: &Vec<zfetch::Run>| runs.iter().fold(0u64, |sum, run| sum.saturating_add(run.blocks)) <= MOST_RECORDS;
    let runs = runs.filter(few).ok_or_else(|| {
        let message = format!("{given} is not what to read ahead; give a list of [record, how many], at most {MOST_RECORDS} records");
        vec![Problem::new("runs", message)]
    })?;
    stack.answer_runs(&runs);
    Ok(())
}

/// A run: opened from a case or a scenario, advanced step by step, then read. A cache replay is one too; it asks its host which
/// object to evict.
pub struct Run {
    work: Work,
    case: Option<(String, String)>,
    /// What was replayed, and how.
    replay: Option<Value>,
    seed: u64,
    failed: Option<Problem>,
}

enum Work {
    Stack(Box<Stack>),
    Cache(Box<CacheReplay>),
}

impl Run {
    /// Opens a run of `{"case", "variant"?, "set"?, "seed"?}`, `{"scenario", "seed"?}`,
    /// `{"replay": {"text", "format"?, "target"?, "mode"?, "iodepth"?, "scale"?}, "scenario" | "preset", "seed"?}` or `{"cache": {"trace", "size", "objects"?}}`.
    /// With `"answers": "delays"` the throttle of a scenario may be `asked`, with `"ahead"` its read-ahead, with `"owners"` the map of its controller: the host
    /// promises an answer to each such question.
    ///
    /// # Errors
    /// An envelope with everything that is wrong.
    pub fn open(input: &str) -> Result<Self, String> {
        parse(input).and_then(|input| Self::build(&input)).map_err(|problems| envelope(Err(problems)))
    }

    fn build(input: &Map<String, Value>) -> Result<Self, Problems> {
        let seed = match input.get("seed") {
            None | Some(Value::Null) => 1,
            Some(seed) => seed.as_u64().filter(|seed| *seed <= LARGEST_SEED).ok_or_else(|| {
                vec![Problem::new("seed", format!("{seed} is not a seed; write a whole number from 0 to {LARGEST_SEED}"))]
            })?,
        };
        if let Some(Value::Object(cache)) = input.get("cache") {
            return Ok(Self { work: Work::Cache(Box::new(CacheReplay::open(cache)?)), case: None, replay: None, seed, failed: None });
        }
        if input.contains_key("replay") {
            let prepared = replay::prepare(input)?;
            Self::check_answers(&prepared.scenario, input)?;
            let stack = Stack::replaying(prepared.scenario, seed, prepared.job, prepared.replay)?;
            return Ok(Self { work: Work::Stack(Box::new(stack)), case: None, replay: Some(prepared.card), seed, failed: None });
        }
        let (case, scenario) = match input.get("scenario") {
            Some(document) => (None, scenario::read(document)?),
            None => read_case(input).map(|(case, scenario)| (Some(case), scenario))?,
        };
        Self::check_answers(&scenario, input)?;
        Ok(Self { work: Work::Stack(Box::new(Stack::new(scenario, seed)?)), case, replay: None, seed, failed: None })
    }

    /// A scenario that asks its host needs a host that says it will answer.
    fn check_answers(scenario: &Scenario, input: &Map<String, Value>) -> Result<(), Problems> {
        let prefetch = scenario.zfs.as_ref().and_then(|zfs| zfs.prefetch.as_ref());
        let ahead = prefetch.is_some_and(|prefetch| prefetch.on && prefetch.asked);
        let delays = scenario.zfs.as_ref().is_some_and(|zfs| zfs.throttle == Some(ThrottleKind::Asked));
        let owners = scenario.controller.as_ref().is_some_and(|controller| controller.map == OwnerMap::Asked);
        let answers = text(input, "answers")?;
        let asks = [
            (delays, "delays", "zfs.throttle", "run_throttle"),
            (ahead, "ahead", "zfs.prefetch.asked", "run_prefetcher"),
            (owners, "owners", "controller.map", "run_shard_map"),
        ];
        if let Some((_, _, path, with)) = asks.into_iter().find(|(asked, kind, ..)| *asked && answers != Some(kind)) {
            let message = format!("\"asked\" takes each answer from a program of yours; run it with seeklab.{with}, or choose another");
            return Err(vec![Problem::new(path, message)]);
        }
        Ok(())
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
        };
        if stack.asks() {
            return 2.0;
        }
        match stack.step(u64::from(events)) {
            Ok(true) => 1.0,
            Ok(false) if stack.asks() => 2.0,
            Ok(false) => stack.progress().min(0.999),
            Err(problem) => {
                self.failed = Some(problem);
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
        }
    }

    /// Answers the question; an envelope of null, or of why the answer is refused. The question stands until it is answered.
    ///
    /// With `"events"` in the answer the run also advances by at most so many, as by a step, and the envelope holds
    /// `{"progress", "question"}`: one call for each question of a host for which calls are dear.
    pub fn answer(&mut self, input: &str) -> String {
        envelope(parse(input).and_then(|input| {
            match &mut self.work {
                Work::Stack(stack) => answer_stack(stack, &input)?,
                Work::Cache(replay) => replay.answer(&input)?,
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
        if let Some(problem) = &self.failed {
            return envelope(Err(vec![problem.clone()]));
        }
        envelope(Ok(match &self.work {
            Work::Stack(stack) => self.stack_summary(stack),
            Work::Cache(replay) => replay.summary(),
        }))
    }

    fn stack_summary(&self, stack: &Stack) -> Value {
        let metrics = stack.metrics();
        let values: Map<String, Value> = metrics.iter().map(|metric| (metric.name.clone(), json!(metric.value))).collect();
        let units: Map<String, Value> = metrics.iter().map(|metric| (metric.name.clone(), json!(metric.unit))).collect();
        json!({
            "case": self.case.as_ref().map(|case| &case.0),
            "variant": self.case.as_ref().map(|case| &case.1),
            "seed": self.seed,
            "fingerprint": stack.recorder().fingerprint.hex(),
            "metrics": values,
            "units": units,
            "events": stack.events(),
            "simulated_ns": stack.now_ns(),
            "jobs": stack.scenario().jobs.iter().map(|job| &job.name).collect::<Vec<_>>(),
            "devices": stack.device_names(),
            "replay": self.replay,
            "warnings": stack.scenario().zfs.as_ref().map_or_else(Vec::new, |zfs| crate::zfs::spec::warnings(zfs, "zfs")),
        })
    }

    /// Name, element type and length of each column, as an envelope.
    #[must_use]
    pub fn columns(&self) -> String {
        let names = match &self.work {
            Work::Stack(_) => columns::names(),
            Work::Cache(_) => CacheReplay::column_names(),
        };
        let list: Vec<Value> = names
            .into_iter()
            .filter_map(|name| {
                let column = self.column(&name)?;
                Some(json!({"name": name, "dtype": column.dtype(), "length": column.len()}))
            })
            .collect();
        envelope(Ok(Value::Array(list)))
    }

    /// A column by its name, such as `ops.latency_ns`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Column> {
        match &self.work {
            Work::Stack(stack) => stack.column(name),
            Work::Cache(replay) => replay.column(name),
        }
    }

    /// What a tool prints of the run, as an envelope; `{"tool", ...}`.
    #[must_use]
    pub fn text(&self, input: &str) -> String {
        envelope(parse(input).and_then(|options| match &self.work {
            Work::Stack(stack) => tools::print(stack, needed(&options, "tool")?, &options).map(Value::String),
            Work::Cache(_) => Err(vec![Problem::new("tool", "a cache replay has no tools; read its summary and columns")]),
        }))
    }
}
