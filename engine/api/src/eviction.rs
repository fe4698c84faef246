//! A cache replay that asks its host which object to evict: a decision point with the host's own policy behind it.
//!
//! Between two questions the host learns what happened from the question itself while that is little, else from the columns
//! `events.kind` (0 hit, 1 admitted, 2 evicted), `events.key` and `events.size`; what is in the cache stands in `residents.*`.
//! Keys cross as numbers, so a trace whose keys a number cannot hold exactly is refused.

use serde_json::{Map, Value, json};

use crate::Column;
use crate::cache::some_requests;
use crate::input::{needed, to_value};
use crate::work::Work;
use seeklab_cache::eviction::{Replay, Step};
use seeklab_cache::trace::Trace;
use seeklab_spec::{Bytes, Problem, Problems};

/// Whole numbers up to this are exact in every host.
const MAX_KEY: u64 = (1 << 53) - 1;

/// Up to so many events stand in the question itself: a call costs a host as much as reading some hundreds of numbers.
const TOLD_AT_ONCE: usize = 256;

/// How a column is taken from a replay.
type OfReplay = fn(&Replay<Trace>) -> Column;

const COLUMNS: [(&str, OfReplay); 8] = [
    ("events.kind", |replay| Column::U32(replay.events().kinds.iter().map(|kind| u32::from(*kind)).collect())),
    ("events.key", |replay| numbers(&replay.events().keys)),
    ("events.size", |replay| numbers(&replay.events().sizes)),
    ("residents.key", |replay| numbers(&replay.residents().keys)),
    ("residents.size", |replay| numbers(&replay.residents().sizes)),
    ("residents.admitted", |replay| numbers(&replay.residents().admitted)),
    ("residents.last_used", |replay| numbers(&replay.residents().last_used)),
    ("residents.uses", |replay| numbers(&replay.residents().uses)),
];

/// Keys are checked, sizes and counts are far below 2^53.
fn numbers(values: &[u64]) -> Column {
    Column::of_whole(values.iter().copied())
}

/// A replay that pauses at questions.
pub(crate) struct CacheReplay {
    replay: Replay<Trace>,
    requests: u64,
    /// Whether the events begin with the eviction that the last answer chose, which the host has not seen.
    answered: bool,
}

impl CacheReplay {
    /// Opens the replay of `{"trace": CSV, "size", "objects"?: bool}`.
    pub(crate) fn open(input: &Map<String, Value>) -> Result<Self, Problems> {
        let text = needed(input, "trace")?;
        let trace = Trace::parse(text.as_bytes())
            .map_err(|problem| vec![Problem::new(format!("line {}", problem.line), problem.fault.to_string())])?;
        some_requests(&trace)?;
        let trace = if input.get("objects").is_some_and(|objects| objects == true) { trace.in_objects() } else { trace };
        if let Some(key) = (0..trace.distinct()).map(|object| trace.key(object)).find(|key| *key > MAX_KEY) {
            let message = format!("object {key} is beyond {MAX_KEY}; number the objects of the trace from 0");
            return Err(vec![Problem::new("trace", message)]);
        }
        let size = input.get("size").unwrap_or(&Value::Null);
        let size = size.as_u64().or_else(|| size.as_str().and_then(Bytes::parse).map(|bytes| bytes.0)).filter(|size| *size > 0);
        let size = size.ok_or_else(|| vec![Problem::new("size", format!("is not {} (more than 0)", Bytes::ACCEPTED))])?;
        let requests = trace.len() as u64;
        Ok(Self { replay: Replay::new(trace, size), requests, answered: false })
    }
}

impl Work for CacheReplay {
    /// Replays at most `requests` requests. Returns the progress from 0 to 1, or 2 when a question waits. The events are those
    /// since the last step, or since the last answer.
    #[allow(clippy::cast_precision_loss)] // a share for people
    fn step(&mut self, requests: u32) -> Result<f64, Problems> {
        if !self.answered && self.replay.question().is_none() {
            self.replay.clear_events();
        }
        self.answered = false;
        Ok(match self.replay.step(u64::from(requests)) {
            Step::Running => (self.replay.counts().requests as f64 / self.requests.max(1) as f64).min(0.999),
            Step::Done => 1.0,
            Step::Question => 2.0,
        })
    }

    /// The question that waits, and the number of events: `{"events", "told", "request", "key", "size", "short_bytes", "residents"}`.
    /// `told` holds `[kind, key, size]` of each event, or null when they are many; what follows is null when nothing is asked.
    fn question(&mut self) -> Result<Value, Problems> {
        let question = self.replay.question();
        let events = self.replay.events();
        let told = (events.kinds.len() <= TOLD_AT_ONCE).then(|| {
            let numbers = events.keys.iter().zip(&events.sizes);
            events.kinds.iter().zip(numbers).map(|(kind, (key, size))| json!([kind, key, size])).collect::<Value>()
        });
        Ok(json!({
            "events": events.kinds.len(),
            "told": told,
            "request": question.map(|question| question.request),
            "key": question.map(|question| question.key),
            "size": question.map(|question| question.size),
            "short_bytes": question.map(|question| question.short_bytes),
            "residents": question.map(|question| question.residents),
        }))
    }

    /// Evicts `{"key"}`; refused when nothing was asked, or the object is not in the cache.
    fn answer(&mut self, input: &Map<String, Value>) -> Result<(), Problems> {
        let key = input.get("key").unwrap_or(&Value::Null);
        let number = key.as_u64().ok_or_else(|| vec![Problem::new("key", format!("{key} is not the number of an object"))])?;
        self.replay.answer(number).map_err(|problem| vec![Problem::new("key", problem.to_string())])?;
        self.answered = true;
        Ok(())
    }

    /// Requests and hits so far.
    fn summary(&self) -> Result<Value, Problems> {
        to_value(&self.replay.counts())
    }

    fn column_names(&self) -> Vec<String> {
        COLUMNS.map(|(name, _)| name.to_owned()).to_vec()
    }

    /// A column of what happened since the last answer, or of what is in the cache.
    fn column(&self, name: &str) -> Option<Column> {
        COLUMNS.iter().find(|(own, _)| *own == name).map(|(_, take)| take(&self.replay))
    }

    fn text(&self, _: &Map<String, Value>) -> Result<String, Problems> {
        Err(vec![Problem::new("tool", "a cache replay has no tools; read its summary and columns")])
    }
}
