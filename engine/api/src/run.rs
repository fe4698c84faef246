//! A run as hosts see it: JSON in, envelopes and columns out, whatever kind of work it does.

use seeklab_library::Library;
use seeklab_model::result::columns::Column;
use seeklab_spec::{Problem, Problems};
use serde_json::{Map, Value, json};

use crate::entries::ColumnEntry;
use crate::eviction::CacheReplay;
use crate::facts::Judging;
use crate::input::{envelope, parse, to_value};
use crate::simulation::Simulation;
use crate::work::Work;

/// Largest seed: a whole number that JavaScript keeps exactly.
const MAX_SEED: u64 = (1 << 53) - 1;

/// A run: opened by [`crate::Engine::open`], advanced step by step, then read.
pub struct Run {
    work: Box<dyn Work>,
    failed: Option<Problems>,
}

impl Run {
    pub(crate) fn open(library: &Library, input: &str) -> Result<Self, String> {
        let work = parse(input).and_then(|input| open_work(library, &input)).map_err(|problems| envelope(Err(problems)))?;
        Ok(Self { work, failed: None })
    }

    /// Advances the run by at most `events` events. Returns its progress from 0 to 1, exactly 1 when it has ended, -1 when it has
    /// exceeded a limit, 2 when it waits for an answer.
    pub fn step(&mut self, events: u32) -> f64 {
        if self.failed.is_some() {
            return -1.0;
        }
        self.work.step(events).unwrap_or_else(|problems| {
            self.failed = Some(problems);
            -1.0
        })
    }

    /// The question that the run waits with, as an envelope; null when there is none.
    #[must_use]
    pub fn question(&mut self) -> String {
        envelope(self.work.question())
    }

    /// Answers the question; an envelope of null, or of why the answer is refused. The question stands until it is answered.
    ///
    /// With `"events"` in the answer the run also advances by at most so many, as by a step, and the envelope holds
    /// `{"progress", "question"}`: one call for each question of a host for which calls are dear.
    pub fn answer(&mut self, input: &str) -> String {
        envelope(parse(input).and_then(|input| {
            self.work.answer(&input)?;
            let Some(events) = input.get("events").and_then(Value::as_u64) else { return Ok(Value::Null) };
            let progress = self.step(u32::try_from(events).unwrap_or(u32::MAX));
            Ok(json!({"progress": progress, "question": self.work.question()?}))
        }))
    }

    /// The summary as an envelope. That of a simulation has case, variant, seed, fingerprint, metrics, units, events, simulated
    /// time, names, and warnings: what the scenario can be but is seldom meant to be. That of a cache replay counts hits; that of
    /// facts has a row for each.
    #[must_use]
    pub fn summary(&self) -> String {
        envelope(match &self.failed {
            Some(problems) => Err(problems.clone()),
            None => self.work.summary(),
        })
    }

    /// Name, element type and length of each column, as an envelope.
    #[must_use]
    pub fn columns(&self) -> String {
        let entry = |name: String| {
            let column = self.column(&name)?;
            Some(ColumnEntry { name, dtype: column.dtype(), length: column.len() })
        };
        envelope(to_value(&self.work.column_names().into_iter().filter_map(entry).collect::<Vec<_>>()))
    }

    /// A column by its name, such as `ops.latency_ns`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Column> {
        self.work.column(name)
    }

    /// Return the output of a tool for the run, as an envelope; `{"tool", ...}`.
    #[must_use]
    pub fn text(&self, input: &str) -> String {
        envelope(parse(input).and_then(|options| self.work.text(&options)).map(Value::String))
    }
}

/// Opens the kind of work that an input names.
fn open_work(library: &Library, input: &Map<String, Value>) -> Result<Box<dyn Work>, Problems> {
    let seed = read_seed(input)?;
    Ok(match (input.get("cache"), input.get("facts")) {
        (Some(Value::Object(cache)), _) => Box::new(CacheReplay::open(cache)?),
        (_, Some(Value::Object(facts))) => Box::new(Judging::open(library, facts)?),
        _ => Box::new(Simulation::open(library, input, seed)?),
    })
}

fn read_seed(input: &Map<String, Value>) -> Result<u64, Problems> {
    let Some(seed) = input.get("seed") else { return Ok(1) };
    seed.as_u64()
        .filter(|seed| *seed <= MAX_SEED)
        .ok_or_else(|| vec![Problem::new("seed", format!("{seed} is not a seed; write a whole number from 0 to {MAX_SEED}"))])
}
