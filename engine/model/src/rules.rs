//! Rules that the checks of several layers share.

use seeklab_spec::{AddProblem, Path, Problem, Problems, Scenario};

/// Bytes of a sector, of which all sizes and places are multiples.
pub const SECTOR: u64 = 512;

/// Adds each part of a scenario that contradicts what is at `at`: its field, why, and whether the scenario has it.
pub fn excludes(others: &[(&str, &str, bool)], at: &Path, problems: &mut Problems) {
    for (field, why, _) in others.iter().filter(|(.., is_there)| *is_there) {
        problems.add(at, format!("contradicts {field}: {why}; drop one of the two"));
    }
}

/// Adds each job that changes data, which `what` cannot have: the layer `field` asks for data only.
pub fn reads_only(scenario: &Scenario, what: &str, field: &str, problems: &mut Problems) {
    for (index, job) in scenario.jobs.iter().enumerate() {
        if job.rw.writes() || job.rw.trims() || job.rw.is_copy() {
            let message = format!("changes data, but {what}; write read or randread, or drop {field}");
            problems.add(Path::root().index("jobs", index).field("rw"), message);
        }
    }
}

/// Adds each name of the list `field` at `at` that is not a job's.
pub fn names_jobs(names: &[String], field: &str, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    for (index, name) in names.iter().enumerate() {
        if !scenario.jobs.iter().any(|job| job.name == *name) {
            let known = scenario.jobs.iter().map(|job| job.name.as_str());
            problems.push(Problem::unknown(at.index(field, index), "job", name, known));
        }
    }
}

/// Return the first job that waits until what it wrote is durable, and the field that makes it wait.
pub fn synchronous_job(scenario: &Scenario) -> Option<(usize, &'static str)> {
    scenario.jobs.iter().enumerate().find_map(|(index, job)| Some((index, job.synchronous_by()?)))
}
