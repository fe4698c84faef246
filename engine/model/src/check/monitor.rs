//! Checks of a monitor against its scenario.

use seeklab_spec::monitor::{MonitorSpec, too_long};
use seeklab_spec::{Path, Problem, Problems, Scenario};

/// Adds what is wrong with the monitor at `at` beyond its schema.
pub fn check(spec: &MonitorSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if let Some(job) = spec.job.as_ref().filter(|job| scenario.jobs.iter().all(|other| other.name != **job)) {
        problems.push(Problem::unknown(at.field("job"), "job", job, scenario.jobs.iter().map(|job| job.name.as_str())));
    }
    if spec.span.0 > 0 && spec.window > spec.span {
        problems.push(too_long(at.field("window"), spec.window, spec.span));
    }
}
