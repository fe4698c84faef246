//! What a client of a file server contradicts in its scenario, and its jobs' calls.

use seeklab_spec::nfs::{Call, NfsSpec};
use seeklab_spec::{AddProblem, Job, Path, Problems, Scenario};

/// Adds what a job at `at` asks of the file protocol and cannot have in this scenario.
pub fn check_job(job: &Job, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if job.call == Call::Block {
        return;
    }
    if scenario.nfs.is_none() {
        problems.add(at.field("call"), "needs the nfs layer, which knows system calls; add nfs, or drop it");
    }
    if job.rw.is_copy() {
        problems.add(at.field("call"), "has a meaning for reads and writes only; drop it or change rw");
    }
    if job.call == Call::Stat && job.rw.writes() {
        problems.add(at.field("rw"), "must be read or randread where call is stat: it changes nothing");
    }
    if job.call.commits() && job.rw.reads() {
        problems.add(at.field("rw"), "must be write or randwrite where call is create or delete: they change a directory");
    }
    if job.call.is_meta()
        && let Some(field) = job.synchronous_by()
    {
        problems.add(at.field(field), "has a meaning for data only; create and delete are durable by themselves; drop it");
    }
}

/// Adds what contradicts itself in the client at `at` beyond its schema.
pub fn check(spec: &NfsSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if scenario.network.is_none() {
        problems.add(Path::root().field("network"), "is missing; an nfs client reaches its server over it. Add network, or drop nfs");
    }
    if !spec.transfer.0.is_multiple_of(512) {
        problems.add(at.field("transfer"), format!("{} is not a multiple of a sector of 512 bytes", spec.transfer.0));
    }
    if spec.cache < spec.transfer {
        let message = format!("{} does not hold one transfer of {}; write at least that, or a smaller transfer", spec.cache, spec.transfer);
        problems.add(at.field("cache"), message);
    }
}
