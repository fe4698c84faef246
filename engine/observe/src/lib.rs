//! The output of observation tools for a run, each in its own format. They all read the same result, so that a learner can compare
//! what each one hides.

#![forbid(unsafe_code)]

pub mod analytics;
pub mod bonnie;
pub mod dtrace;
pub mod fio;
pub mod histogram;
pub mod iostat;
pub mod listing;
pub mod monitor;
pub mod oplog;
pub mod parted;
pub mod reduction;
pub mod tools;
pub mod validate;

use serde_json::{Map, Value};

use seeklab_model::result::columns::{self, Column};
use seeklab_model::result::metrics::Metric;
use seeklab_model::stack::Stack;
use seeklab_spec::{Problem, Problems};

pub use tools::print;

/// The metrics of a run so far: the stack's own, and those of its observers.
#[must_use]
pub fn metrics(stack: &Stack) -> Vec<Metric> {
    let scenario = stack.scenario();
    stack.report(|metrics| {
        iostat::metrics(&stack.usage(), metrics);
        if let Some(spec) = &scenario.reduction {
            reduction::metrics(spec, scenario, stack.seed(), metrics);
        }
        if let Some(spec) = &scenario.monitor {
            monitor::metrics(stack, spec, metrics);
        }
    })
}

/// The names of all columns of a run, `table.column`.
#[must_use]
pub fn column_names() -> Vec<String> {
    let mut names = Stack::column_names();
    names.extend(columns::names(|tables| monitor::tables(None, tables)));
    names
}

/// A column of a run's tables by its name, such as `ops.latency_ns`.
#[must_use]
pub fn column(stack: &Stack, name: &str) -> Option<Column> {
    stack.column(name).or_else(|| columns::column(name, |tables| monitor::tables(Some(stack), tables)))
}

/// A whole number option, or its default.
fn count(options: &Map<String, Value>, name: &str, default: u64) -> Result<u64, Problems> {
    match options.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => value.as_u64().ok_or_else(|| vec![Problem::new(name, format!("{value} is not a whole number"))]),
    }
}

/// The index of the job that the option `job` names; `None` when it is absent.
fn chosen_job(stack: &Stack, options: &Map<String, Value>) -> Result<Option<usize>, Problems> {
    let Some(name) = options.get("job").and_then(Value::as_str) else { return Ok(None) };
    let jobs = &stack.scenario().jobs;
    match jobs.iter().position(|job| job.name == name) {
        Some(index) => Ok(Some(index)),
        None => Err(vec![Problem::unknown("job", "job of this run", name, jobs.iter().map(|job| job.name.as_str()))]),
    }
}
