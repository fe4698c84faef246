//! Reading fio's job files and printing fio's reports.
//!
//! A job file goes through three steps: `ini` splits it into sections and settings and follows `include`, `options` knows
//! every option of fio 3.33 and says whether it is modelled, ignored or refused, and `draft` and `convert` turn each section into a job
//! of a scenario, with every number in bytes or nanoseconds. The rule for options: what only matters on a real host (engine,
//! files, processors, logs) is ignored and listed with the reason; what would change the result and is not modelled is refused
//! by name. Numbers follow fio 3.33 as it behaves, not as one would guess: with the default `kb_base=1024`, `4k` is 4096 and
//! `4KiB` is 4000. What fio silently misreads (`runtime=5min` is five microseconds, `bs = 8k` is eight bytes) is refused.
//!
//! [`Report`] is what a run leaves for the printers [`normal()`] and [`json()`].

mod convert;
mod draft;
mod ini;
mod jobs;
pub mod json;
pub mod normal;
mod notes;
mod numbers;
mod options;
pub mod report;
mod values;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub use json::json;
pub use normal::normal;
pub use report::Report;

use seeklab_spec::Problems;

/// Largest job file or included file, in bytes.
pub const FILE_BYTES_MAX: usize = 1 << 20;
/// Most files that a job file may include, directly and indirectly.
pub const INCLUDES_MAX: usize = 64;
/// Most jobs of a job file.
pub const JOBS_MAX: usize = 256;

/// A job file, understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FioJobs {
    /// The jobs, in the order of the file.
    pub jobs: Vec<FioJob>,
    /// Options that make no difference here, each with the reason.
    pub ignored: Vec<Ignored>,
    /// What the reader of the report should know, one sentence each.
    pub warnings: Vec<String>,
    /// Options of the `[global]` sections, by fio's own names, in order.
    pub global_options: Vec<(String, String)>,
}

/// One job of a job file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FioJob {
    /// Name that fio prints; not unique when the file uses a name twice or `offset_increment` splits a section.
    pub name: String,
    /// The `description` option.
    pub description: Option<String>,
    /// The job of a scenario (an element of its `jobs`), with a unique name.
    pub scenario: Value,
    /// Options of the section itself, by fio's own names, in order; options without a value are left out, as fio does.
    pub options: Vec<(String, String)>,
    /// Index of the section among the job sections.
    pub section: u32,
    /// Reporting group, from 0.
    pub group: u32,
    /// Whether the job's report is merged with others of its group.
    pub group_reporting: bool,
    /// Workers (`numjobs`).
    pub workers: u32,
    /// Direction and order, as fio prints it.
    pub rw: String,
    /// Smallest and largest request in bytes for reads, writes and trims.
    pub block_bytes: [(u64, u64); 3],
    /// The I/O engine that the file names.
    pub ioengine: String,
    /// Queue depth that the file asks for; a synchronous engine uses 1 all the same.
    pub iodepth: u32,
    /// 1024 when reports prefer binary units, 1000 when they prefer decimal ones.
    pub kb_base: u32,
}

/// An option that makes no difference here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "IgnoredOption")]
pub struct Ignored {
    /// Name of the job, or `global`.
    pub job: String,
    /// fio's own name of the option.
    pub option: String,
    /// Its value as written; empty when it has none.
    pub value: String,
    /// Why it makes no difference.
    pub reason: String,
}

/// Reads the job file `main` of `files`, which also holds the files it includes.
///
/// # Errors
/// Everything that is wrong with the file, at once. A file that is named by `include` (or `main` itself) and not among `files` is
/// a single problem with the path `include` and the file's name as `nearest`, so that the caller can load it and try again.
pub fn parse(files: &BTreeMap<String, String>, main: &str) -> Result<FioJobs, Problems> {
    let (sections, problems) = ini::read(files, main)?;
    convert::convert(main, &sections, problems)
}

/// Puts the jobs into `system`, a scenario without jobs.
#[must_use]
pub fn to_scenario(jobs: &FioJobs, system: Value) -> Value {
    let mut scenario = match system {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    scenario.insert("jobs".to_owned(), jobs.jobs.iter().map(|job| job.scenario.clone()).collect());
    Value::Object(scenario)
}

#[cfg(test)]
mod tests;
