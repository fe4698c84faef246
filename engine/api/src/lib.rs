//! The engine's outward face: named calls and runs, JSON in, JSON and columns out. Bindings translate it and add nothing.
//!
//! Every answer is an envelope: `{"ok": ...}` or `{"errors": [{"path", "message", "nearest"?}]}`.

#![forbid(unsafe_code)]

mod answers;
mod cache;
mod curve;
mod drive;
mod entries;
mod eviction;
mod facts;
mod input;
mod questions;
mod replay;
mod run;
mod simulation;
mod summary;
mod trace_info;
mod work;

use seeklab_library::Library;
use seeklab_library::case::controls::Control;
use seeklab_spec::{Problem, Problems, Scenario};
use serde_json::{Map, Value};

use answers::CALLS;
use input::{changes, envelope, needed, parse, text};

pub use answers::schema as schema_of_answers;
pub use run::Run;
pub use seeklab_model::result::columns::Column;

/// The engine with the library that it was given.
#[derive(Default)]
pub struct Engine {
    library: Library,
}

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
            None => Err(vec![Problem::unknown("call", "call", name, CALLS.iter().map(|(name, _)| *name).chain([GIVE_LIBRARY]))]),
        }
    }

    /// Opens a run. The input is one of these; `?` marks what may be left out:
    ///
    /// | Input | Run |
    /// |---|---|
    /// | `{"case", "variant"?, "set"?}` | a variant of a case, with changes |
    /// | `{"scenario"}` | a scenario of one's own |
    /// | `{"replay": {"text", "format"?, "target"?, "mode"?, "iodepth"?, "scale"?}, "scenario"}` | a trace on a scenario's devices |
    /// | the same with `"preset"` for `"scenario"` | a trace on one device |
    /// | `{"cache": {"trace", "size", "objects"?}}` | a trace through a cache that asks its host which object to evict |
    /// | `{"facts": {"case"?, "id"?, "seeds"?, "inputs"?, "ablated"?, "set"?}}` | documented numbers beside simulated ones |
    ///
    /// A simulation, which is each but the last two, also takes `"seed"?`, and `"answers"?`: the decision that the host promises to
    /// make wherever the scenario says `asked`. It is one of
    ///
    /// - `"delays"`: how long the throttle delays a write;
    /// - `"ahead"`: what is read ahead;
    /// - `"owners"`: which shard owns a range of the controller's map;
    /// - `"batches"`: which transactions share a flush of a log.
    ///
    /// # Errors
    /// An envelope with everything that is wrong.
    pub fn open(&self, input: &str) -> Result<Run, String> {
        Run::open(&self.library, input)
    }
}

/// Whether a scenario is one: `{"scenario"}`; gives it back with presets and defaults filled in.
fn validate(library: &Library, input: &Map<String, Value>) -> Result<Scenario, Problems> {
    let checked = seeklab_model::read(input.get("scenario").unwrap_or(&Value::Null), library.presets())?;
    Ok(checked.into_parts().0)
}

/// A scenario with the numbers that are in effect where it has none: `{"scenario"}`.
fn in_effect(library: &Library, input: &Map<String, Value>) -> Result<Scenario, Problems> {
    let checked = seeklab_model::read(input.get("scenario").unwrap_or(&Value::Null), library.presets())?;
    Ok(checked.in_effect())
}

/// The controls of a case with all that a slider needs: `{"case", "variant"?, "set"?}`.
fn control(library: &Library, input: &Map<String, Value>) -> Result<Vec<Control>, Problems> {
    library.controls(needed(input, "case")?, text(input, "variant")?, &changes(input)?)
}
