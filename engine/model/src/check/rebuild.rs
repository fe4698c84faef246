//! What a rebuild contradicts in its scenario.

use seeklab_spec::rebuild::RebuildSpec;
use seeklab_spec::{AddProblem, Path, Problems, Scenario};

use crate::plan::Plan;

/// Chunks whose places are sorted at a time cost memory.
const MOST_SORTED: u64 = 1 << 24;

/// Adds what is wrong with the rebuild at `at`, beyond its schema and the layout's own rules.
pub fn check(scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if let Some(spec) = &scenario.layout.rebuild
        && spec.sorted.0 / spec.chunk.0.max(scenario.layout.unit.0).max(1) > MOST_SORTED
    {
        problems.add(
            at.field("sorted"),
            format!("sorts the places of more than {MOST_SORTED} chunks at a time; write larger chunks, or order \"address\""),
        );
    }
    if scenario.layout.failed.is_empty() {
        problems.add(at, "has nothing to rebuild; name a device in layout.failed, or drop rebuild");
    } else if scenario.zfs.is_some() && !hides_devices(scenario) {
        problems.add(at, "contradicts zfs, which schedules its devices itself and whose own rebuild is not modelled; drop one of the two");
    }
}

/// Adds a job that works beyond what the rebuild at `at` is told is in use.
pub fn check_used(spec: &RebuildSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
    let used = spec.used.of(plan.capacity);
    if used > plan.capacity {
        let message = format!("{used} bytes are more than the {} bytes that the layout holds", plan.capacity);
        problems.add(at.field("used"), message);
    } else if let Some(worker) = plan.workers.iter().find(|worker| worker.region.end > used) {
        let message = format!(
            "says that {used} bytes are in use, and the job \"{}\" works up to byte {}; write at least that",
            scenario.jobs[worker.job].name, worker.region.end
        );
        problems.add(at.field("used"), message);
    }
}

/// Whether a layer below ZFS hides the devices from it.
fn hides_devices(scenario: &Scenario) -> bool {
    scenario.controller.is_some() || scenario.tier.is_some() || scenario.raid_cache.is_some()
}
