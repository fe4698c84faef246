//! Decisions that a scenario may leave to the engine's host: the run pauses, no simulated time passes, the answer goes in.
//!
//! A decision is one constant, [`Decision`], in a file `decision.rs` of the layer that waits for it; the layer lists it in
//! [`Layer::DECISIONS`](crate::layers::Layer::DECISIONS).

use seeklab_spec::{Problem, Scenario};
use serde_json::{Map, Value};

use crate::kernel::Kernel;

/// The properties of a decision that are known before a run.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The name by which a host promises answers, such as `delays`.
    pub name: &'static str,
    /// The field of the scenario that leaves the decision to the host.
    pub field: &'static str,
    /// The function of the Python package that runs such a scenario.
    pub run_with: &'static str,
    /// Whether a scenario leaves the decision to the host.
    pub is_asked: fn(&Scenario) -> bool,
}

/// Takes an answer.
type Answer<L> = fn(&mut L, &mut Kernel, &Map<String, Value>) -> Result<(), Problem>;

/// A decision of a layer.
pub struct Decision<L: 'static> {
    /// Properties known before a run.
    pub asked: Asked,
    /// Whether the layer waits for an answer.
    pub waits: fn(&L) -> bool,
    /// The open question, if there is one.
    pub question: fn(&mut L, &Kernel) -> Option<Value>,
    /// Takes the answer to what was asked first. A refused answer leaves the question standing.
    pub answer: Answer<L>,
}

/// A question as hosts get it.
#[must_use]
pub fn to_question(question: &impl serde::Serialize) -> Option<Value> {
    serde_json::to_value(question).ok()
}

/// The whole number `name` of an answer, from 0 to `most`; `what` says what it is.
///
/// # Errors
/// When it is not one.
pub fn whole(answer: &Map<String, Value>, name: &str, what: &str, most: u64) -> Result<u64, Problem> {
    let given = answer.get(name).unwrap_or(&Value::Null);
    let refused = || Problem::new(name, format!("{given} is not {what} from 0 to {most}"));
    given.as_u64().filter(|number| *number <= most).ok_or_else(refused)
}
