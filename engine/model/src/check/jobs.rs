//! Checks across the fields of one job, and against the jobs before it.

use seeklab_spec::access::SizeMix;
use seeklab_spec::nfs::Call;
use seeklab_spec::{AddProblem, Job, Path, Problems, Rw, Scenario};

use super::zoned;
use crate::layers::table::passes_flushes;
use crate::rules::SECTOR;

/// Checks job number `index`, which stands at `at`.
pub(super) fn check(index: usize, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let job = &scenario.jobs[index];
    check_sizes(job, at, problems);
    check_order(job, at, problems);
    check_rates(job, at, problems);
    check_call(job, scenario, at, problems);
    zoned::check(index, &scenario.jobs, at, problems);
    if let Some(name) = job.wait_for.as_ref().filter(|name| !scenario.jobs[..index].iter().any(|other| other.name == **name)) {
        problems
            .add(at.field("wait_for"), format!("\"{name}\" is not the name of a job before this one; write one of those, or stonewall"));
    }
    if job.end_fsync && !passes_flushes(scenario) {
        problems.add(
            at.field("end_fsync"),
            "is modelled only for jobs that write to devices without a file system, network or controller above; write fsync",
        );
    }
    if job.null.is_some() && (job.rw.is_copy() || scenario.nfs.is_some()) {
        problems.add(at.field("null"), "bypasses the storage, which a copy or an NFS client cannot do; drop it");
    }
    if job.flow.is_some() && job.rw.is_copy() {
        problems.add(at.field("flow"), "applies to jobs that read and write, not to copies; drop it");
    }
}

fn check_sizes(job: &Job, at: &Path, problems: &mut Problems) {
    let Some(mix) = &job.bssplit else { return };
    if job.bsrange.is_some() {
        problems.add(at.field("bssplit"), "contradicts bsrange: sizes come from the mix or from the range; drop one of the two");
    }
    let SizeMix { read, write } = mix;
    for (name, shares) in [("read", read), ("write", write)] {
        if shares.is_empty() && name == "write" {
            continue;
        }
        let sum: f64 = shares.iter().map(|share| share.percent).sum();
        if (sum - 100.0).abs() > 1e-6 {
            problems.add(at.field("bssplit").field(name), format!("the shares add up to {sum}%; write shares that add up to 100%"));
        }
        for (index, share) in shares.iter().enumerate().filter(|(_, share)| share.bs.0 % SECTOR != 0) {
            problems.add(
                at.field("bssplit").index(name, index).field("bs"),
                format!("{} is not a multiple of a sector of {SECTOR} bytes", share.bs.0),
            );
        }
    }
}

fn check_order(job: &Job, at: &Path, problems: &mut Problems) {
    let sequential = matches!(job.rw, Rw::Read | Rw::Write | Rw::ReadWrite);
    if job.stride.is_some() && !sequential {
        problems.add(at.field("stride"), "applies to sequential jobs only; change rw, or write random_every");
    }
    if job.stride.is_some() && job.zones.is_some() {
        problems.add(at.field("stride"), "contradicts zones: both skip parts of the file; drop one of the two");
    }
    for (field, set) in [("random_every", job.random_every > 1), ("percentage_random", job.percentage_random < 100)] {
        if set && !job.rw.is_random() {
            problems.add(at.field(field), "applies to random jobs only; change rw, or drop it");
        }
    }
    if job.nrfiles > 1 && (job.zones.is_some() || job.rw.is_copy()) {
        problems.add(at.field("nrfiles"), format!("{} files in a job with zones or a copy are not modelled; write 1", job.nrfiles));
    }
    if let Some(zones) = job.zones.filter(|zones| zones.range.is_some_and(|range| range.0 < job.max_request_bytes())) {
        let range = zones.range.unwrap_or(zones.size);
        problems.add(at.field("zones.range"), format!("{range} is smaller than a request of {} bytes", job.max_request_bytes()));
    }
    if let Some(align) = job.blockalign.filter(|align| align.0 % SECTOR != 0) {
        problems.add(at.field("blockalign"), format!("{} is not a multiple of a sector of {SECTOR} bytes", align.0));
    }
    for (field, skip) in [("stride.skip", job.stride.map(|stride| stride.skip)), ("zones.skip", job.zones.map(|zones| zones.skip))] {
        if let Some(skip) = skip.filter(|skip| skip.0 % SECTOR != 0) {
            problems.add(at.field(field), format!("{} is not a multiple of a sector of {SECTOR} bytes", skip.0));
        }
    }
    if job.verify.is_some() && !job.rw.writes() {
        problems.add(at.field("verify"), "reads back written data, but this job only reads; change rw, or drop it");
    }
}

fn check_rates(job: &Job, at: &Path, problems: &mut Problems) {
    if job.rate_each.is_some() && !(job.rw.reads() && job.rw.writes()) {
        problems.add(at.field("rate_each"), "limits the directions of a mixed job, but this job has only one; write rate or rate_iops");
    }
    if job.rate_each.is_some() && (job.rate.is_some() || job.rate_iops.is_some()) {
        problems.add(at.field("rate_each"), "contradicts rate and rate_iops: limit each direction or both together");
    }
    if let Some(low) = job.iodepth_low.filter(|low| *low > job.iodepth) {
        problems.add(at.field("iodepth_low"), format!("{low} is above iodepth {}; write at most that", job.iodepth));
    }
    if let Some(batch) = job.iodepth_batch_complete.filter(|batch| *batch > job.iodepth) {
        problems.add(at.field("iodepth_batch_complete"), format!("{batch} is above iodepth {}; write at most that", job.iodepth));
    }
}

/// Adds what a job at `at` asks of the file protocol and cannot have in this scenario.
fn check_call(job: &Job, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if job.call == Call::Block {
        return;
    }
    if scenario.nfs.is_none() {
        problems.add(at.field("call"), "needs the nfs layer, which models system calls; add nfs, or drop it");
    }
    if job.rw.is_copy() {
        problems.add(at.field("call"), "applies to reads and writes only; drop it or change rw");
    }
    if job.call == Call::Stat && job.rw.writes() {
        problems.add(at.field("rw"), "must be read or randread if call is stat, which changes nothing");
    }
    if job.call.commits() && job.rw.reads() {
        problems.add(at.field("rw"), "must be write or randwrite if call is create or delete, which change a directory");
    }
    if job.call.is_meta()
        && let Some(field) = job.synchronous_by()
    {
        problems.add(at.field(field), "applies to data only, and create and delete are durable anyway; drop it");
    }
}
