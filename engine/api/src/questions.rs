//! The program that answers the questions of a run.

use seeklab_model::stack::{Stack, decisions};
use seeklab_spec::{Problem, Problems, Scenario};
use serde_json::{Map, Value};

use crate::input::text;

/// Gives an answer to a run that waits for one.
pub(crate) fn answer(stack: &mut Stack, input: &Map<String, Value>) -> Result<(), Problems> {
    stack.answer(input).map_err(|problem| vec![problem])
}

/// A scenario that asks its host needs a host that says it will answer.
pub(crate) fn check_answers(scenario: &Scenario, input: &Map<String, Value>) -> Result<(), Problems> {
    let answers = text(input, "answers")?;
    let Some(asked) = decisions(scenario).into_iter().find(|asked| answers != Some(asked.name)) else { return Ok(()) };
    let with = asked.run_with;
    let message = format!("\"asked\" needs a program that answers; run it with seeklab.{with}, or choose another value");
    Err(vec![Problem::new(asked.field, message)])
}
