//! Whether the blocks of a cluster find room on its nodes.

use seeklab_spec::cluster::{ClusterSpec, MAX_BLOCKS};
use seeklab_spec::{AddProblem, Path, Problems, Scenario};

use crate::plan::{Plan, WorkerPlan};

/// Adds what does not fit on the nodes of the cluster at `at`: a pair that holds more than its devices, copies that no node has room for after a loss.
pub fn check(spec: &ClusterSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
    let placed = plan.placed_bytes(scenario);
    if placed.div_ceil(spec.block.0) > MAX_BLOCKS && scenario.zfs.is_none() {
        problems.add(
            at.field("block"),
            format!(
                "{} splits the files into {} blocks; write a larger block, for at most {MAX_BLOCKS}",
                spec.block,
                placed.div_ceil(spec.block.0)
            ),
        );
    }
    if scenario.zfs.is_none() {
        check_shared(spec, scenario, plan, problems);
    }
    if spec.design.is_paired() {
        for pair in 0..spec.nodes / 2 {
            let here = plan.workers.iter().filter(|worker| spec.home(worker.job, &scenario.jobs[worker.job].name) / 2 == pair);
            let bytes = bytes_used(here);
            if bytes > plan.node_capacity {
                let (one, other) = (2 * pair, 2 * pair + 1);
                problems.add(at.field("vms"),
                    format!(
                        "the machines of nodes {one} and {other} have {bytes} bytes, but each side of the pair holds {}; spread them over more pairs",
                        plan.node_capacity
                    ),
                );
            }
        }
        return;
    }
    let left = u64::from(spec.nodes) - spec.failures.len() as u64;
    let (need, room) = (placed.saturating_mul(u64::from(spec.copies)), left.saturating_mul(plan.node_capacity));
    if need > room {
        let lost = spec.failures.len();
        problems.add(at.field("failures"),
            format!(
                "cannot re-protect: after {lost} are lost, the other {left} nodes hold {room} bytes, but all copies take {need}; {} bytes would stay without a copy. Write smaller files, fewer copies or larger devices",
                need - room
            ),
        );
    }
}

/// Bytes that workers use, those that several share counted once.
fn bytes_used<'a>(workers: impl Iterator<Item = &'a WorkerPlan>) -> u64 {
    let mut regions: Vec<(u64, u64)> = workers.map(|worker| (worker.region.start, worker.region.end)).collect();
    regions.sort_unstable();
    let (mut bytes, mut end) = (0, 0);
    for (start, region_end) in regions {
        bytes += region_end.saturating_sub(start.max(end));
        end = end.max(region_end);
    }
    bytes
}

/// Adds files that machines of several nodes share: a virtual disk is one machine's, and its requests come from that machine's node.
fn check_shared(spec: &ClusterSpec, scenario: &Scenario, plan: &Plan, problems: &mut Problems) {
    let place = |job: usize| {
        let name = &scenario.jobs[job].name;
        let moves = spec.moves.iter().filter(|moved| moved.vm == *name).map(|moved| (moved.at.0, moved.to));
        (spec.home(job, name), moves.collect::<Vec<_>>())
    };
    // Workers stand in the order of their jobs, and so do here those whose files start at the same byte.
    let named = plan.workers.iter().enumerate().filter(|(_, worker)| scenario.jobs[worker.job].filename.is_some());
    let mut files: Vec<(u64, usize)> = named.map(|(index, worker)| (worker.file.start, index)).collect();
    files.sort_unstable();
    let mut refused = vec![false; scenario.jobs.len()];
    let mut before: Option<&WorkerPlan> = None;
    for worker in files.into_iter().map(|(_, index)| &plan.workers[index]) {
        let Some(owner) = before.filter(|owner| worker.file.start < owner.file.end) else {
            before = Some(worker);
            continue;
        };
        let [first, second] = [owner.job.min(worker.job), owner.job.max(worker.job)];
        if first != second && !refused[second] && place(first) != place(second) {
            refused[second] = true;
            let [owner, sharer] = [first, second].map(|job| &scenario.jobs[job].name);
            problems.add(
                Path::root().index("jobs", second).field("filename"),
                format!("{sharer} shares a file with {owner}, which is not always on its node. A virtual disk belongs to one machine; write another filename, or keep both on one node (cluster.vms, cluster.moves)"),
            );
        }
        before = before.filter(|owner| owner.file.end >= worker.file.end).or(Some(worker));
    }
}
