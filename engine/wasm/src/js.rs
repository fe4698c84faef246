//! What JavaScript sees. The mirror of `raw`, name for name.

use seeklab_api::{self as api, Column};
use wasm_bindgen::prelude::*;

use crate::{ENGINE, refusal};

/// Asks the engine one question and returns its envelope.
#[wasm_bindgen]
#[must_use]
pub fn call(name: &str, json: &str) -> String {
    ENGINE.with_borrow_mut(|engine| engine.call(name, json))
}

/// One simulation: opened, advanced in slices so that the page stays responsive, then read.
#[wasm_bindgen]
pub struct Run(api::Run);

#[wasm_bindgen]
impl Run {
    /// Checks the input and prepares the run.
    ///
    /// # Errors
    /// Throws an `Error` whose message is the errors envelope.
    pub fn open(json: &str) -> Result<Run, JsError> {
        ENGINE.with_borrow(|engine| engine.open(json)).map(Run).map_err(|envelope| JsError::new(&envelope))
    }

    /// Advances by at most `maxEvents` events. Returns the progress from 0 to 1; exactly 1 when done, -1 when the run
    /// failed, in which case `summary` holds the reason, 2 when it waits for an answer.
    pub fn step(&mut self, #[wasm_bindgen(js_name = maxEvents)] max_events: u32) -> f64 {
        self.0.step(max_events)
    }

    /// The envelope of the question that the run waits with (`step` gave 2); of null when there is none.
    #[must_use]
    pub fn question(&mut self) -> String {
        self.0.question()
    }

    /// Answers the question. Returns an envelope; a refused answer leaves the question standing.
    pub fn answer(&mut self, json: &str) -> String {
        self.0.answer(json)
    }

    /// The envelope of metrics, units and the fingerprint.
    #[must_use]
    pub fn summary(&self) -> String {
        self.0.summary()
    }

    /// The envelope that lists the columns: name, dtype and length.
    #[must_use]
    pub fn columns(&self) -> String {
        self.0.columns()
    }

    /// A column of 64-bit floats, copied out of the engine's memory.
    ///
    /// # Errors
    /// Throws an `Error` whose message is an errors envelope when there is no such column of this type.
    pub fn f64(&self, name: &str) -> Result<Vec<f64>, JsError> {
        match self.0.column(name) {
            Some(Column::F64(values)) => Ok(values),
            Some(Column::U32(_)) => Err(wrong_column(name, "holds u32; read it with u32()")),
            None => Err(wrong_column(name, NO_SUCH_COLUMN)),
        }
    }

    /// A column of unsigned 32-bit integers, copied out of the engine's memory.
    ///
    /// # Errors
    /// Throws an `Error` whose message is an errors envelope when there is no such column of this type.
    pub fn u32(&self, name: &str) -> Result<Vec<u32>, JsError> {
        match self.0.column(name) {
            Some(Column::U32(values)) => Ok(values),
            Some(Column::F64(_)) => Err(wrong_column(name, "holds f64; read it with f64()")),
            None => Err(wrong_column(name, NO_SUCH_COLUMN)),
        }
    }

    /// The envelope of what an observation tool would have printed.
    #[must_use]
    pub fn text(&self, json: &str) -> String {
        self.0.text(json)
    }
}

const NO_SUCH_COLUMN: &str = "is not a column of this run; columns() lists them";

fn wrong_column(name: &str, problem: &str) -> JsError {
    JsError::new(&refusal("column", &format!("\"{name}\" {problem}")))
}
