//! Whether the controllers of a scenario fit the files that it plans.

use seeklab_spec::controller::{ControllerSpec, Disks, OwnerMap, Part};
use seeklab_spec::{AddProblem, Path, Problems};

use super::decision::MAX_RANGES;
use crate::plan::Plan;

/// Most servers that a node may have.
const MAX_SERVERS: usize = 65_536;

/// The first byte of each virtual disk of a plan, in order.
#[must_use]
pub fn disk_starts(spec: &ControllerSpec, plan: &Plan) -> Vec<u64> {
    let mut starts = match spec.disks {
        Disks::One => vec![0],
        Disks::File => plan.workers.iter().map(|worker| worker.region.start).collect(),
    };
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// The number of ranges of each disk of a plan, whose disks begin at `starts`.
#[must_use]
pub fn ranges(spec: &ControllerSpec, plan: &Plan, starts: &[u64]) -> Vec<u64> {
    let end = plan.workers.iter().map(|worker| worker.region.end).max().unwrap_or(0);
    let ends = starts.iter().skip(1).chain([&end]);
    starts.iter().zip(ends).map(|(start, end)| end.saturating_sub(*start).div_ceil(spec.range.0)).collect()
}

/// Adds what does not fit between the controllers at `at` and the plan.
pub fn check(spec: &ControllerSpec, plan: &Plan, at: &Path, problems: &mut Problems) {
    let starts = disk_starts(spec, plan);
    let of_disks = ranges(spec, plan, &starts);
    let ranges = of_disks.iter().copied().max().unwrap_or(0);
    let mut few = |at: Path, shards: u32| {
        if u64::from(shards) > ranges.max(1) {
            problems.add(
                at,
                format!("{shards} shards have only {ranges} ranges of {}, so some would have none; write at most {ranges}, or a smaller controller.range", spec.range),
            );
        }
    };
    few(at.field("shards"), spec.shards);
    for (index, resize) in spec.resizes.iter().enumerate() {
        few(at.index("resizes", index).field("shards"), resize.shards);
    }
    if spec.map == OwnerMap::Asked {
        let all: u64 = of_disks.iter().sum();
        if all > MAX_RANGES {
            let message = format!("{all} ranges are too many for a program to own; write a larger range, for at most {MAX_RANGES}");
            problems.add(at.field("range"), message);
        }
        if !spec.owners.is_empty() {
            problems.add(at.field("owners"), "is a fixed map, but a program chooses the owners; drop one of the two");
        }
        if !spec.resize_waits {
            problems.add(at.field("resize_waits"), "is needed if a program chooses the owners; write true");
        }
    }
    for part in Part::ALL {
        let sum: f64 = spec.functions.iter().filter(|function| function.of == part).map(|function| function.percent).sum();
        if sum > 100.0 {
            problems.add(at.field("functions"), format!("the functions of {} add up to {sum}%; write at most 100% in total", part.name()));
        }
    }
    let servers = starts.len() * (1 + spec.max_shards(starts.len()) as usize);
    if servers > MAX_SERVERS {
        problems.add(
            at.field("shards"),
            format!(
                "{} disks with a primary and their shards make {servers} controllers; write at most {MAX_SERVERS} in total",
                starts.len()
            ),
        );
    }
}
