//! Checks of a page cache: against another file system, and devices on which no commit can become durable.

use seeklab_spec::page_cache::Journal;
use seeklab_spec::{AddProblem, PageCacheSpec, Path, Persistence, Problems, Scenario};

use crate::plan::{PAGE_BYTES, Plan};
use crate::rules::{excludes, names_jobs};

/// Adds what is wrong with the page cache at `at` beyond its schema.
pub fn check(spec: &PageCacheSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let why = "there is one file system";
    excludes(&[("volume", why, scenario.volume.is_some()), ("zfs", why, scenario.zfs.is_some())], at, problems);
    names_jobs(&spec.unjournalled, "unjournalled", scenario, at, problems);
    if !spec.chunk.0.is_multiple_of(PAGE_BYTES) {
        problems.add(at.field("chunk"), format!("{} is not a multiple of a page of {PAGE_BYTES} bytes", spec.chunk.0));
    }
    let (_, limit) = spec.thresholds();
    if limit < PAGE_BYTES {
        problems.add(at.field("limit"), format!("{limit} bytes are less than a page of {PAGE_BYTES}; write more, or more memory"));
    }
    if spec.journal == Journal::None && !spec.unjournalled.is_empty() {
        problems
            .add(at.field("unjournalled"), "excludes files from the journal, but there is no journal; drop it, or write another journal");
    }
    for (index, group) in scenario.devices.iter().enumerate() {
        if let Some((cache, Persistence::Unflushable)) = group.write_cache() {
            let message = format!(
                "commits wait for durable writes, but devices[{index}].{cache} is unflushable; write volatile or protected there, or journal \"none\""
            );
            if spec.journal != Journal::None {
                problems.add(at.field("journal"), message);
            }
        }
    }
}

/// Adds what is wrong with the read side of a page cache at `at` for the files of a plan: what was read stays in memory.
pub fn check_files(spec: &PageCacheSpec, plan: &Plan, at: &Path, problems: &mut Problems) {
    let bytes: u64 = plan.files().iter().map(|file| file.end - file.start).sum();
    if spec.read_ahead.is_some() && bytes > spec.memory.0 {
        let message = format!(
            "{} cannot hold files of {bytes} bytes, and eviction is not modelled; write more memory or smaller files, or drop read_ahead",
            spec.memory
        );
        problems.add(at.field("memory"), message);
    }
}
