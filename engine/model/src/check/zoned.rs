//! Zones with write pointers: what they say about their job, and whether the regions of the workers hold whole zones.

use std::collections::BTreeSet;

use seeklab_spec::{AddProblem, Bytes, Job, Path, Problems, Scenario};

use crate::layers::workload::zoned::whole_zones;
use crate::plan::Plan;
use crate::rules::SECTOR;

/// Zones of one worker: their write pointers take 8 MB.
const MAX_ZONES: u64 = 1_000_000;

/// Adds what the fields of job number `index` of `jobs`, which stands at `at`, say about its zones.
pub(super) fn check(index: usize, jobs: &[Job], at: &Path, problems: &mut Problems) {
    let job = &jobs[index];
    let Some(spec) = &job.zoned else { return };
    let here = at.field("zoned");
    if job.rw.is_copy() || job.rw.trims() {
        problems.add(&here, "applies to jobs that read and write: copies and trims of zones are not modelled; change rw, or drop it");
    }
    for (other, set) in [("stride", job.stride.is_some()), ("zones", job.zones.is_some()), ("nrfiles", job.nrfiles > 1)] {
        if set {
            problems.add(&here, format!("contradicts {other}: the write pointers determine where requests go; drop one of the two"));
        }
    }
    let lengths = [("size", Some(spec.size)), ("capacity", spec.capacity)].into_iter().filter_map(|(field, bytes)| Some((field, bytes?)));
    for (field, bytes) in lengths.filter(|(_, bytes)| bytes.0 % SECTOR != 0) {
        problems.add(here.field(field), format!("{} is not a multiple of a sector of {SECTOR} bytes", bytes.0));
    }
    if let Some(capacity) = spec.capacity.filter(|capacity| *capacity > spec.size) {
        problems.add(here.field("capacity"), format!("{capacity} is more than the zone, {}; write at most that", spec.size));
    } else if spec.capacity_bytes() < job.max_request_bytes() {
        let field = if spec.capacity.is_some() { "capacity" } else { "size" };
        let (holds, largest) = (Bytes(spec.capacity_bytes()), Bytes(job.max_request_bytes()));
        problems.add(here.field(field), format!("{holds} is smaller than a request of {largest}; write a larger one, or a smaller bs"));
    }
    let agrees = |other: &Job| {
        other.zoned.is_none_or(|zoned| (zoned.size, zoned.capacity, zoned.max_open) == (spec.size, spec.capacity, spec.max_open))
    };
    if let Some(other) = jobs[..index].iter().find(|other| !agrees(other)) {
        problems.add(
            &here,
            format!("differs from the job \"{}\": size, capacity and max_open belong to the drive; write the same", other.name),
        );
    }
}

/// Adds what does not fit between zones and the regions of the workers.
pub(super) fn check_regions(scenario: &Scenario, plan: &Plan, problems: &mut Problems) {
    let mut writers: BTreeSet<(u64, u64, u64)> = BTreeSet::default();
    for (index, job) in scenario.jobs.iter().enumerate() {
        let Some(spec) = &job.zoned else { continue };
        let at = Path::root().index("jobs", index).field("zoned");
        for worker in plan.workers.iter().filter(|worker| worker.job == index) {
            let [first, end] = whole_zones(spec, worker.file.start, worker.region);
            if first >= end {
                let length = Bytes(worker.region.end - worker.region.start);
                problems.add(
                    at.field("size"),
                    format!(
                        "no whole zone of {} fits into the {length} that a worker uses; write smaller zones, or a larger size",
                        spec.size
                    ),
                );
                break;
            }
            if end > MAX_ZONES {
                problems.add(at.field("size"), format!("{end} zones are more than {MAX_ZONES}; write larger zones, or a smaller size"));
                break;
            }
            if job.rw.writes() {
                writers.insert((worker.file.start, worker.region.start, worker.region.end));
            }
        }
        let Some(most) = spec.max_open.map(u64::from) else { continue };
        let parts = |file: u64| writers.iter().filter(|(start, ..)| *start == file).count() as u64;
        if let Some(parts) = writers.iter().map(|(file, ..)| parts(*file)).find(|parts| *parts > most) {
            problems.add(
                at.field("max_open"),
                format!("workers write to {parts} parts of a file, and each needs an open zone; write at least {parts}, not {most}"),
            );
        }
    }
}
