//! The work of a run: one trait for everything that runs in steps and is then read.

use seeklab_model::result::columns::Column;
use seeklab_spec::Problems;
use serde_json::{Map, Value};

/// Work that is done in steps and then read: a simulation, a cache replay, or facts under judgement.
pub(crate) trait Work {
    /// Advances by at most `events` events. Returns the progress from 0 to 1, exactly 1 at the end, or 2 when a question waits.
    fn step(&mut self, events: u32) -> Result<f64, Problems>;
    /// Returns the question that waits.
    fn question(&mut self) -> Result<Value, Problems>;
    /// Answers the question that waits, which stands until its answer is accepted.
    fn answer(&mut self, input: &Map<String, Value>) -> Result<(), Problems>;
    /// Returns what the work amounts to so far.
    fn summary(&self) -> Result<Value, Problems>;
    /// Returns the names of the columns that [`Work::column`] may know.
    fn column_names(&self) -> Vec<String>;
    /// Returns a column by its name.
    fn column(&self, name: &str) -> Option<Column>;
    /// Returns what a tool prints; `{"tool", ...}`.
    fn text(&self, options: &Map<String, Value>) -> Result<String, Problems>;
}
