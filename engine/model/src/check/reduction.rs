//! Checks of a reduction, and against its scenario.

use seeklab_spec::reduction::{FioVersion, ReductionSpec, pattern};
use seeklab_spec::{AddProblem, Path, Problems, Scenario};

/// Most bytes that one analysis looks at.
const MAX_BYTES: u64 = 64 << 20;

/// Adds what is wrong with the reduction at `at` beyond its schema.
pub fn check(spec: &ReductionSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if let Some(text) = spec.buffer_pattern.as_ref().filter(|text| pattern(text).is_none()) {
        problems
            .add(at.field("buffer_pattern"), format!("\"{text}\" is not a pattern; write pairs of hexadecimal digits such as 0xdeadbeef"));
    }
    if spec.fio < FioVersion::V2017 && spec.dedupe_percentage > 0 {
        problems.add(at.field("dedupe_percentage"), "is not supported by fio 2.1.3; write fio \"2.20\" or \"3.33\", or 0");
    }
    let bs = scenario.jobs.first().map_or(0, |job| job.bs.0);
    if bs.saturating_mul(u64::from(spec.buffers)) > MAX_BYTES {
        problems.add(at.field("buffers"), format!("{} buffers of {bs} bytes exceed {MAX_BYTES} bytes; write fewer", spec.buffers));
    }
    if !spec.unit.0.is_multiple_of(spec.block.0) {
        problems.add(at.field("unit"), format!("{} is not a multiple of the storage block of {}", spec.unit, spec.block));
    }
}
