//! The engine's outward face: named calls and runs, JSON in, JSON and columns out. Bindings translate it and add nothing.
//!
//! Every answer is an envelope: `{"ok": ...}` or `{"errors": [{"path", "message", "nearest"?}]}`.

#![forbid(unsafe_code)]

mod asked;
mod cache;
mod curve;
mod drive;
mod facts;
mod input;
mod questions;
mod replay;
mod run;

use seeklab_library::Library;
use seeklab_library::case::Case;
use seeklab_library::case::controls::controls;
use seeklab_spec::{Problem, Problems};
use serde_json::{Map, Value, json};

use input::{changes, envelope, needed, parse, text, to_value};

pub use run::Run;
pub use seeklab_model::result::columns::Column;

/// The engine with the library that it was given.
#[derive(Default)]
pub struct Engine {
    library: Library,
}

type Call = fn(&Library, &Map<String, Value>) -> Result<Value, Problems>;

/// Every call that hosts have but `give_library`, which changes the engine.
const CALLS: [(&str, Call); 18] = [
    ("version", |_, _| Ok(json!({"engine": env!("CARGO_PKG_VERSION")}))),
    ("cases", |library, _| Ok(library.cases_by_family()?.into_iter().map(|case| card(library, case)).collect())),
    ("case", |library, input| to_value(library.case(needed(input, "id")?)?.as_ref())),
    ("schema", |_, _| Ok(seeklab_model::schema().clone())),
    ("presets", |library, _| Ok(library.presets().iter().map(preset_card).collect())),
    ("scenario", |library, input| to_value(run::read_case(library, input)?.1.scenario())),
    ("validate", validate),
    ("control", control),
    ("facts", facts::facts),
    ("measure", facts::measure),
    ("cache", |_, input| cache::replay(input)),
    ("curve", |_, input| curve::points(input)),
    ("design", seeklab_library::design::answer),
    ("drive", |_, input| drive::replay(input)),
    ("trace_info", |_, input| replay::info(input)),
    ("fio_parse", |library, input| seeklab_observe::fio::parse(input, library.presets())),
    ("reduce", |_, input| seeklab_observe::reduction::answer(input)),
    ("alignment", |_, input| seeklab_observe::parted::alignment(input)),
];
const GIVE_LIBRARY: &str = "give_library";

impl Engine {
    /// An engine that knows this library.
    #[must_use]
    pub fn new(library: Library) -> Self {
        Self { library }
    }

    /// Answers a named call with an envelope. `give_library` replaces the library; every other call leaves the engine as it is.
    pub fn call(&mut self, name: &str, input: &str) -> String {
        envelope(parse(input).and_then(|input| {
            if name == GIVE_LIBRARY {
                self.library = Library::from_json(&input)?;
                return Ok(self.library.len().into());
            }
            self.answer(name, &input)
        }))
    }

    fn answer(&self, name: &str, input: &Map<String, Value>) -> Result<Value, Problems> {
        match CALLS.iter().find(|(own, _)| *own == name) {
            Some((_, call)) => call(&self.library, input),
            None => Err(vec![Problem::unknown("call", "call", name, CALLS.map(|(name, _)| name).into_iter().chain([GIVE_LIBRARY]))]),
        }
    }

    /// Opens a run of `{"case", "variant"?, "set"?, "seed"?}`, `{"scenario", "seed"?}`,
    /// `{"replay": {"text", "format"?, "target"?, "mode"?, "iodepth"?, "scale"?}, "scenario" | "preset", "seed"?}` or
    /// `{"cache": {"trace", "size", "objects"?}}`, or judges facts in steps: `{"facts": {"case"?, "id"?, "seeds"?, "inputs"?, "ablated"?, "set"?}}`.
    /// With `"answers": "delays"` the throttle of a scenario may be `asked`, with `"ahead"` its read-ahead, with `"owners"` the map
    /// of its controller: the host promises an answer to each such question.
    ///
    /// # Errors
    /// An envelope with everything that is wrong.
    pub fn open(&self, input: &str) -> Result<Run, String> {
        Run::open(&self.library, input)
    }
}

/// Whether a scenario is one: `{"scenario"}`; gives it back with presets and defaults filled in.
fn validate(library: &Library, input: &Map<String, Value>) -> Result<Value, Problems> {
    let checked = seeklab_model::read(input.get("scenario").unwrap_or(&Value::Null), library.presets())?;
    to_value(checked.scenario())
}

/// The controls of a case with all that a slider needs: `{"case", "variant"?, "set"?}`.
fn control(library: &Library, input: &Map<String, Value>) -> Result<Value, Problems> {
    let case = library.case(needed(input, "case")?)?;
    to_value(&controls(case, text(input, "variant")?, &changes(input)?, library.presets())?)
}

/// What a list shows of a case. Lists are in the order of families, and of the numbers of codes within a family.
fn card(library: &Library, case: &Case) -> Value {
    json!({
        "id": case.id,
        "code": case.code,
        "title": case.title,
        "symptom": case.symptom,
        "family": case.family,
        "family_order": library.family_order(case),
        "source": case.source.name,
        "variants": case.variants.iter().map(|variant| &variant.name).collect::<Vec<_>>(),
        "controls": case.controls.iter().map(|control| &control.path).collect::<Vec<_>>(),
    })
}

fn preset_card(preset: &Value) -> Value {
    let kind = ["hdd", "ssd", "lun"].into_iter().find(|kind| preset["device"].get(kind).is_some()).unwrap_or("pool");
    json!({"name": preset["name"], "title": preset["title"], "source": preset["source"], "kind": kind})
}
