//! Whether the blocks of a cluster find room on its nodes.

use seeklab_spec::cluster::{ClusterSpec, MOST_BLOCKS};
use seeklab_spec::{AddProblem, Path, Problems, Scenario};

use crate::plan::Plan;

/// Adds what does not fit on the nodes of the cluster at `at`: a pair that holds more than its devices, copies that no node has room for after a loss.
pub fn check(spec: &ClusterSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
    let placed = plan.placed_bytes(scenario);
    if placed.div_ceil(spec.block.0) > MOST_BLOCKS && scenario.zfs.is_none() {
        problems.add(
            at.field("block"),
            format!(
                "{} makes {} blocks of the files; write a larger block, for at most {MOST_BLOCKS}",
                spec.block,
                placed.div_ceil(spec.block.0)
            ),
        );
    }
    if spec.design.is_paired() {
        for pair in 0..spec.nodes / 2 {
            let here = plan.workers.iter().filter(|worker| spec.home(worker.job, &scenario.jobs[worker.job].name) / 2 == pair);
            let bytes: u64 = here.map(|worker| worker.region.end - worker.region.start).sum();
            if bytes > plan.node_capacity {
                let (one, other) = (2 * pair, 2 * pair + 1);
                problems.add(at.field("vms"),
                    format!(
                        "the machines of nodes {one} and {other} have {bytes} bytes, and each side of the pair holds {}; spread them over more pairs",
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
                "cannot protect again: with {lost} lost the other {left} nodes hold {room} bytes and all copies take {need}; {} bytes would stay without a copy. Write smaller files, fewer copies or larger devices",
                need - room
            ),
        );
    }
}
