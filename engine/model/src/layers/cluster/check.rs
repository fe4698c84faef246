//! Checks of a cluster against its scenario: nodes, copies, moves and losses.

use seeklab_spec::cluster::{ClusterSpec, Failure};
use seeklab_spec::{AddProblem, LayoutKind, Path, Problem, Problems, Scenario};

use crate::plan::FILE_ALIGNMENT;

/// Adds what is wrong with the cluster at `at` beyond its schema.
pub fn check(spec: &ClusterSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let nodes = spec.nodes;
    if spec.copies > nodes {
        let copies = spec.copies;
        problems.add(
            at.field("copies"),
            format!("{copies} copies need {copies} nodes, but there are {nodes}; write at most {nodes}, or more nodes"),
        );
    }
    if spec.design.is_paired() {
        if !nodes.is_multiple_of(2) {
            problems.add(at.field("nodes"), format!("{nodes} nodes cannot form pairs; write an even number"));
        }
        if spec.copies != 2 {
            problems.add(at.field("copies"), format!("{} copies do not fit a pair, which has one copy on each side; write 2", spec.copies));
        }
    }
    if !spec.block.0.is_power_of_two() {
        problems.add(
            at.field("block"),
            format!("{} is not a power of two, but files start at multiples of {FILE_ALIGNMENT} bytes", spec.block.0),
        );
    }
    let mut of = |at: Path, node: u32| {
        if node >= nodes {
            problems.add(at, format!("{node} is not a node; the {nodes} nodes are numbered from 0"));
        }
    };
    spec.vms.iter().enumerate().for_each(|(index, vm)| of(at.index("vms", index).field("node"), vm.node));
    spec.moves.iter().enumerate().for_each(|(index, moved)| of(at.index("moves", index).field("to"), moved.to));
    spec.failures.iter().enumerate().for_each(|(index, failure)| of(at.index("failures", index).field("node"), failure.node));
    for (index, moved) in spec.moves.iter().enumerate() {
        let lost = spec.failures.iter().any(|failure| failure.node == moved.to && failure.at <= moved.at);
        if lost && !spec.design.is_paired() {
            problems.add(at.index("moves", index).field("to"), format!("node {} is lost by then; move to another, or earlier", moved.to));
        }
    }
    for (index, failure) in spec.failures.iter().enumerate() {
        if spec.failures[..index].iter().any(|other| other.node == failure.node) {
            problems.add(at.index("failures", index).field("node"), format!("node {} is listed twice; write each node once", failure.node));
        }
    }
    check_protection(spec, at, problems);
    let devices: u32 = scenario.devices.iter().map(|group| group.count).sum();
    if !devices.is_multiple_of(nodes) {
        problems.add(
            at.field("nodes"),
            format!("{devices} devices cannot be divided evenly among {nodes} nodes; write a multiple of {nodes} devices"),
        );
    } else if let Some(width) = scenario.layout.width.filter(|width| {
        !matches!(scenario.layout.kind, LayoutKind::Stripe | LayoutKind::Concat) && !(devices / nodes).is_multiple_of(*width)
    }) {
        problems.add(
            at.field("nodes"),
            format!("the {} devices of each node cannot form whole groups of {width}, layout.width", devices / nodes),
        );
    }
    if !scenario.layout.failed.is_empty() {
        problems.add(at.field("failures"), "layout.failed names devices, but a cluster loses nodes; write cluster.failures instead");
    }
    if scenario.tier.as_ref().is_some_and(|tier| !tier.primed.is_empty()) {
        problems.add(at.field("nodes"), "tier.primed names regions of files, but a tier below a cluster holds blocks of nodes; drop it");
    }
    let names = |name: &String| scenario.jobs.iter().any(|job| job.name == *name);
    let lists = [
        ("vms", "name", spec.vms.iter().map(|vm| &vm.name).collect::<Vec<_>>()),
        ("moves", "vm", spec.moves.iter().map(|moved| &moved.vm).collect()),
    ];
    for (list, field, found) in lists {
        for (index, name) in found.into_iter().enumerate().filter(|(_, name)| !names(name)) {
            let known = scenario.jobs.iter().map(|job| job.name.as_str());
            problems.push(Problem::unknown(at.index(list, index).field(field), "job", name, known));
        }
    }
}

/// A cluster that loses more than it can protect again is refused, with what would be lost.
fn check_protection(spec: &ClusterSpec, at: &Path, problems: &mut Problems) {
    let lost = u32::try_from(spec.failures.len()).unwrap_or(u32::MAX);
    if lost == 0 {
        return;
    }
    let left = spec.nodes.saturating_sub(lost);
    if spec.design.is_paired() {
        let both = |failure: &&Failure| spec.failures.iter().any(|other| other.node == (failure.node ^ 1));
        if let Some(failure) = spec.failures.iter().find(both) {
            let (one, other) = (failure.node & !1, failure.node | 1);
            problems.add(
                at.field("failures"),
                format!("nodes {one} and {other} are a pair: every block of that pair would be lost; lose only one of the two"),
            );
        }
    } else if lost >= spec.copies {
        // Of all ways to put the copies on nodes, those that lie within the lost ones.
        let share = (0..spec.copies)
            .fold(1.0, |share, at| share * f64::from(lost.saturating_sub(at)) / f64::from(spec.nodes.saturating_sub(at).max(1)));
        let percent = 100.0 * share;
        problems.add(at.field("failures"),
            format!(
                "{lost} lost nodes can hold all {} copies of a block: about {percent:.1}% of the blocks would be lost before re-protection. Lose fewer than {} nodes, or keep more copies",
                spec.copies, spec.copies
            ),
        );
    } else if left < spec.copies && spec.copies <= spec.nodes {
        // Copies lie on different nodes: each lost node held one of nearly every block.
        let percent = 100.0 * f64::from(spec.copies) / f64::from(spec.nodes);
        problems.add(at.field("failures"),
            format!(
                "cannot re-protect: {left} nodes are left, too few for {} copies. About {percent:.0}% of the blocks would stay without their lost copy; add nodes, or write {left} for the copies",
                spec.copies
            ),
        );
    }
}
