//! Findings while a job file is read: options without effect, warnings, problems.

use std::collections::BTreeMap;

use seeklab_spec::{Problem, Problems};

use super::Ignored;

/// Maximum number of problems shown. Nobody would fix a file with more of them line by line.
const PROBLEMS_MAX: usize = 100;

/// Findings while a job file is read, besides the jobs.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) ignored: Vec<Ignored>,
    pub(super) warnings: Vec<String>,
    pub(super) problems: Problems,
    /// Problems beyond [`PROBLEMS_MAX`], counted only.
    pub(super) hidden: usize,
    /// Values of variables.
    pub(super) environment: BTreeMap<String, String>,
    /// Whether a section names an engine that is refused, whose own options are then unknown.
    pub(super) has_foreign_engine: bool,
}

impl Notes {
    /// Notes a problem at `path`.
    pub(super) fn problem(&mut self, path: &str, message: impl Into<String>) {
        self.add(|| Problem::new(path, message));
    }

    /// Notes a problem that takes work to describe, unless there are too many already.
    pub(super) fn add(&mut self, problem: impl FnOnce() -> Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem());
        } else {
            self.hidden += 1;
        }
    }

    /// Notes an option that makes no difference.
    pub(super) fn ignore(&mut self, job: &str, option: &str, value: &str, reason: &str) {
        self.ignored.push(Ignored { job: job.to_owned(), option: option.to_owned(), value: value.to_owned(), reason: reason.to_owned() });
    }
}
