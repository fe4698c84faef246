//! Checks of the plain file system, and against its scenario.

use seeklab_spec::{AddProblem, Path, Problems, Scenario, VolumeSpec};

use crate::layers::device::pauses;
use crate::rules::{SECTOR, names_jobs};

/// Adds what is wrong with the file system at `at` beyond its schema.
pub fn check(volume: &VolumeSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if !volume.block.0.is_multiple_of(SECTOR) {
        problems.add(at.field("block"), format!("{} is not a multiple of a sector of {SECTOR} bytes", volume.block.0));
    }
    if volume.prefetch.is_some() && volume.cache.is_none() {
        problems.add(at.field("prefetch"), "needs volume.cache to prefetch into; add a cache or drop prefetch");
    }
    if let Some(log) = &volume.write_log {
        pauses::check(&log.pauses, &at.field("write_log"), problems);
    }
    let Some(cache) = &volume.cache else { return };
    let at = at.field("cache");
    names_jobs(&cache.primed, "primed", scenario, &at, problems);
    if cache.size < volume.block {
        problems.add(at.field("size"), format!("{} is smaller than one block of {}", cache.size, volume.block));
    }
    for (index, change) in cache.resize.iter().enumerate() {
        let at = at.index("resize", index);
        if change.size < volume.block {
            problems.add(at.field("size"), format!("{} is smaller than one block of {}", change.size, volume.block));
        }
        if cache.resize[..index].last().is_some_and(|before| before.at >= change.at) {
            problems.add(at.field("at"), format!("{} is not after the previous change; write changes in time order", change.at));
        }
    }
}
