//! Calls on facts: documented against simulated, over seeds and at other inputs, and with their mechanisms off.

use std::sync::Arc;

use seeklab_library::Library;
use seeklab_library::case::Case;
use seeklab_library::case::evaluate::{RunCache, Runs, Scope};
use seeklab_library::case::facts::Break;
use seeklab_library::case::ranges::Ranges;
use seeklab_library::case::verdict::FactRow;
use seeklab_spec::{Presets, Problem, Problems};
use serde_json::{Map, Value};

use crate::Column;
use crate::input::{changes, needed, text, to_value};
use crate::work::Work;

/// Most seeds that a fact is looked at on.
const MAX_SEEDS: u64 = 1000;

/// Facts under judgement. They need runs, which are made in steps.
pub(crate) struct Judging {
    cases: Vec<Arc<Case>>,
    presets: Presets,
    ranges: Arc<Ranges>,
    /// Case and fact of each row, by their places.
    asked: Vec<(usize, usize)>,
    seeds: u64,
    inputs: bool,
    ablated: bool,
    /// The ablation instead of each fact's own.
    other: Option<Break>,
    rows: Vec<FactRow>,
    /// Runs of the case that the next row is about.
    cache: RunCache,
}

impl Judging {
    /// Facts of `{"case"?, "id"?, "seeds"?, "inputs"?}`, or with `"ablated"` each with its own mechanism off; that may be another, as
    /// `"set"`, for all of them.
    pub(crate) fn open(library: &Library, input: &Map<String, Value>) -> Result<Self, Problems> {
        let cases: Vec<Arc<Case>> = match text(input, "case")? {
            Some(id) => vec![Arc::clone(library.case(id)?)],
            None => library.cases()?.into_iter().cloned().collect(),
        };
        let id = text(input, "id")?;
        let flag = |name: &str| input.get(name).is_some_and(|value| value == true);
        let ablated = flag("ablated");
        let other = Some(ablation(input)?).filter(|other| !other.set.is_empty());
        let mut asked = Vec::new();
        for (nth, case) in cases.iter().enumerate() {
            for (fact, written) in case.facts.iter().enumerate() {
                if id.is_none_or(|id| written.id == id) && (!ablated || other.is_some() || written.ablation.is_some()) {
                    asked.push((nth, fact));
                }
            }
        }
        if let Some(id) = id.filter(|_| asked.is_empty()) {
            let known = cases.iter().flat_map(|case| &case.facts).map(|fact| fact.id.as_str());
            return Err(vec![Problem::unknown("id", "fact", id, known)]);
        }
        Ok(Self {
            cases,
            presets: library.presets().clone(),
            ranges: Arc::clone(library.ranges()),
            asked,
            seeds: seeds(input)?,
            inputs: flag("inputs"),
            ablated,
            other,
            rows: Vec::new(),
            cache: RunCache::default(),
        })
    }
}

impl Work for Judging {
    /// Goes on for at most so many events of its runs. The progress is the share of facts that are judged.
    #[allow(clippy::cast_precision_loss)] // some hundred facts
    fn step(&mut self, events: u32) -> Result<f64, Problems> {
        let mut left = u64::from(events);
        while let Some((nth, fact)) = self.asked.get(self.rows.len()).copied() {
            let case = &self.cases[nth];
            let fact = &case.facts[fact];
            let ablation = self.other.as_ref().or(fact.ablation.as_ref()).filter(|_| self.ablated);
            let scope = Scope { seeds: self.seeds, inputs: self.inputs, ablation };
            let mut runs = Runs::resume(case, &self.presets, std::mem::take(&mut self.cache));
            let row = runs.step(fact, scope, &self.ranges, &mut left)?;
            self.cache = runs.pause();
            match row {
                Some(row) => {
                    self.rows.push(row);
                    if self.asked.get(self.rows.len()).is_some_and(|(next, _)| *next != nth) {
                        self.cache = RunCache::default();
                    }
                }
                None => return Ok(((self.rows.len() as f64) / self.asked.len() as f64).min(0.999)),
            }
        }
        Ok(1.0)
    }

    fn question(&mut self) -> Result<Value, Problems> {
        Ok(Value::Null)
    }

    fn answer(&mut self, _: &Map<String, Value>) -> Result<(), Problems> {
        Err(vec![Problem::new("answer", "an evaluation of facts asks no questions")])
    }

    /// The rows that are judged.
    fn summary(&self) -> Result<Value, Problems> {
        to_value(&self.rows)
    }

    fn column_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn column(&self, _: &str) -> Option<Column> {
        None
    }

    fn text(&self, _: &Map<String, Value>) -> Result<String, Problems> {
        Err(vec![Problem::new("tool", "an evaluation of facts has no tools; read its summary")])
    }
}

fn seeds(input: &Map<String, Value>) -> Result<u64, Problems> {
    let Some(value) = input.get("seeds").filter(|value| !value.is_null()) else { return Ok(1) };
    let wrong = || vec![Problem::new("seeds", format!("{value} is not a number of seeds; write a whole number from 1 to {MAX_SEEDS}"))];
    value.as_u64().filter(|seeds| (1..=MAX_SEEDS).contains(seeds)).ok_or_else(wrong)
}

/// Facts at a stretch: `{"case"?, "id"?, "seeds"?, "inputs"?, "ablated"?, "set"?}`, as a run that is opened with `"facts"` gives them in steps.
pub(crate) fn facts(library: &Library, input: &Map<String, Value>) -> Result<Vec<FactRow>, Problems> {
    let mut judging = Judging::open(library, input)?;
    while judging.step(u32::MAX)? < 1.0 {}
    Ok(judging.rows)
}

/// The value of a measure of a case, such as a fact's or a question's, with further changes of each run: `{"case", "measure", "set"?}`.
pub(crate) fn measure(library: &Library, input: &Map<String, Value>) -> Result<f64, Problems> {
    let case = library.case(needed(input, "case")?)?;
    let measure = seeklab_spec::reader::from_value(input.get("measure").unwrap_or(&Value::Null)).map_err(|problem| {
        vec![Problem::new("measure", format!("{}; a measure is a metric, or a ratio or difference of two", problem.message))]
    })?;
    Runs::new(case, library.presets()).measure(&measure, Some(&ablation(input)?))
}

/// Changes of each run, as an ablation.
fn ablation(input: &Map<String, Value>) -> Result<Break, Problems> {
    Ok(Break { what: String::new(), set: changes(input)?, variant: None })
}
