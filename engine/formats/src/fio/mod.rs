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

mod command;
mod convert;
mod draft;
mod ini;
mod jobs;
pub mod json;
mod mechanisms;
pub mod normal;
mod notes;
mod numbers;
mod options;
pub mod report;
pub mod terse;
mod values;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub use json::{Bins, json};
pub use normal::normal;
pub use report::{Report, Unified};
pub use terse::terse;

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
    /// Notes for the reader of the report, one sentence each.
    pub warnings: Vec<String>,
    /// Options of the `[global]` sections, by fio's own names, in order.
    pub global_options: Vec<(String, String)>,
    /// Output format that a command line asks for.
    pub output_format: Option<String>,
}

impl FioJobs {
    /// Whether each worker has a row of its own: without `group_reporting`, up to [`JOBS_MAX`] rows.
    #[must_use]
    pub fn has_rows_of_workers(&self) -> bool {
        let rows = self.jobs.iter().map(|job| if job.group_reporting { 1 } else { job.workers as usize }).sum::<usize>();
        rows <= JOBS_MAX && self.jobs.iter().any(|job| job.workers > 1 && !job.group_reporting)
    }
}

/// One job of a job file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    /// The logs that the job must write.
    pub logs: Logs,
    /// The whole pages that stand for its requests, where their size is no multiple of a sector.
    pub pages: Option<Pages>,
    /// Percentiles to print; empty for fio's own.
    pub percentile_list: Vec<f64>,
    /// Whether directions are printed together.
    pub unified: Unified,
    /// Whether percentiles of the whole latency are reported, and of the completion latency.
    pub percentiles: [bool; 2],
}

/// Requests of a size that is no multiple of a sector, and the whole pages that stand for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pages {
    /// Size that the job asks for.
    pub asked_bytes: u64,
    /// Size that the device sees.
    pub modelled_bytes: u64,
}

impl Pages {
    /// Bytes of whole pages of the requests that `asked` bytes hold, and a sector for bytes that are left.
    #[must_use]
    pub fn modelled(&self, asked: u64) -> u64 {
        let asked_bytes = self.asked_bytes.max(1);
        let left = if asked.is_multiple_of(asked_bytes) { 0 } else { 512 };
        (asked / asked_bytes).saturating_mul(self.modelled_bytes).saturating_add(left)
    }

    /// Bytes that the job asked for, of `modelled` bytes of whole pages.
    #[must_use]
    pub fn asked(&self, modelled: u64) -> u64 {
        modelled / self.modelled_bytes.max(1) * self.asked_bytes
    }
}

/// The logs that a job must write, each with its prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "JobLogs")]
pub struct Logs {
    /// Latency of each request.
    pub lat: Option<String>,
    /// Bandwidth.
    pub bw: Option<String>,
    /// Requests a second.
    pub iops: Option<String>,
    /// Milliseconds that a line stands for; 0 for a line for each request.
    pub avg_ms: u64,
    /// Whether lines say where a request went.
    pub offset: bool,
    /// Whether each worker has files of its own.
    pub per_job: bool,
}

impl Logs {
    /// Whether any log is asked for.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.lat.is_some() || self.bw.is_some() || self.iops.is_some()
    }
}

/// The inputs besides the job file itself.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Values of the variables that the file names as `${NAME}`.
    pub environment: BTreeMap<String, String>,
    /// Sections to run; all when empty.
    pub sections: Vec<String>,
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
    parse_all(files, &[main], &Reading::default())
}

/// Reads several job files, whose jobs follow each other: the first of each file waits for all before it, and the defaults of a file are
/// its own, as with fio's command line.
///
/// # Errors
/// As of [`parse`], of all files.
pub fn parse_all(files: &BTreeMap<String, String>, mains: &[&str], reading: &Reading) -> Result<FioJobs, Problems> {
    let mut read = Vec::new();
    let mut ignored = Vec::new();
    let mut warnings = Vec::new();
    let mut output_format = None;
    let mut problems = Problems::new();
    for main in mains {
        if let Some(text) = files.get(*main).filter(|text| command::is_command(text)) {
            let line = command::read(files, main, text, &reading.environment)?;
            problems.extend(line.problems);
            read.extend(line.files);
            ignored.extend(line.ignored);
            warnings.extend(line.warnings);
            output_format = line.output_format.or(output_format);
            continue;
        }
        let (sections, found) = ini::read(files, main)?;
        problems.extend(found);
        read.push(sections);
    }
    let mut jobs = convert::convert(mains, &read, problems, reading)?;
    ignored.append(&mut jobs.ignored);
    warnings.append(&mut jobs.warnings);
    Ok(FioJobs { ignored, warnings, output_format, ..jobs })
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
