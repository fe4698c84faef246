//! Checks of a fleet, and against its scenario: more copies than nodes, windows that overlap themselves, invalid sets.

use seeklab_spec::fleet::{FleetSpec, Placement, choose};
use seeklab_spec::{AddProblem, Path, Problems, Scenario, to_f64};

use crate::rules::{excludes, reads_only};

/// Chunks for each set below which some sets would have none: one in 22,000 has none at this number.
const CHUNKS_PER_SET: f64 = 10.0;
/// Most sets of permutations, times copies: what they take in memory.
const MAX_MEMBERS: u64 = 10_000_000;
/// Most sets that all outages look at together: some seconds.
const MAX_LOOKS: f64 = 4e9;

/// Adds what is wrong with the fleet at `at` beyond its schema.
pub fn check(spec: &FleetSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let FleetSpec { nodes, copies, scatter, .. } = *spec;
    if copies > nodes {
        problems.add(at.field("copies"), format!("{copies} copies need {copies} nodes, but there are {nodes}; write at most {nodes}"));
        return;
    }
    match spec.placement {
        Placement::Random => {
            let all = choose(nodes, copies);
            if to_f64(spec.chunks) > all {
                let message =
                    format!("each chunk has its own set, but {copies} of {nodes} nodes make only {all} sets; write at most that many");
                problems.add(at.field("chunks"), message);
            }
        }
        Placement::Window | Placement::Copysets => check_scatter(spec, at, problems),
        Placement::Given => check_given(spec, at, problems),
    }
    if spec.placement != Placement::Given && !spec.sets.is_empty() {
        problems.add(at.field("sets"), "need given placement; write placement \"given\", or drop sets");
    }
    let each = match spec.placement {
        Placement::Random => 1.0,
        Placement::Window => f64::from(spec.dark()) * f64::from(scatter),
        Placement::Copysets => f64::from(spec.dark()) * f64::from(spec.permutations()),
        Placement::Given => f64::from(spec.dark()) * (1.0 + to_f64(spec.sets.len() as u64) / f64::from(nodes)),
    };
    let most = MAX_LOOKS / each;
    if f64::from(spec.outages) > most {
        let message =
            format!("{} with {} dark nodes exceed the limit of this placement; write at most {most:.0}", spec.outages, spec.dark());
        problems.add(at.field("outages"), message);
    }
    let others = [
        ("zfs", "it schedules the devices itself", scenario.zfs.is_some()),
        ("fanout", "both choose the server that answers", scenario.fanout.is_some()),
        ("cluster", "both place blocks", scenario.cluster.is_some()),
        ("tier", "fleet nodes must be the last layer", scenario.tier.is_some()),
    ];
    excludes(&others, at, problems);
    reads_only(scenario, "jobs on a fleet read the data of a lost node", "fleet", problems);
}

/// Adds what is wrong with a scatter width, for windows and copysets.
fn check_scatter(spec: &FleetSpec, at: &Path, problems: &mut Problems) {
    let FleetSpec { nodes, copies, scatter, .. } = *spec;
    let least = copies - 1;
    // A window of half of the nodes or more would meet that of a later node, and sets would be counted twice.
    let most = if spec.placement == Placement::Window { (nodes - 1) / 2 } else { 1000 };
    if scatter < least || scatter > most {
        let message = format!("{scatter} is not accepted for {copies} copies on {nodes} nodes; write {least} to {most}");
        return problems.add(at.field("scatter"), message);
    }
    if spec.placement == Placement::Copysets && u64::from(nodes) * u64::from(spec.permutations()) > MAX_MEMBERS {
        let message = format!("{} permutations of {nodes} nodes exceed {MAX_MEMBERS} places; write less", spec.permutations());
        return problems.add(at.field("scatter"), message);
    }
    let needed = CHUNKS_PER_SET * spec.expected_sets();
    if to_f64(spec.chunks) < needed {
        let message =
            format!("{} would leave some of the {} sets without chunks; write at least {needed}", spec.chunks, spec.expected_sets());
        problems.add(at.field("chunks"), message);
    }
}

/// Adds the first of the given sets that is none.
fn check_given(spec: &FleetSpec, at: &Path, problems: &mut Problems) {
    let FleetSpec { nodes, copies, .. } = *spec;
    if spec.sets.is_empty() || !spec.sets.len().is_multiple_of(copies as usize) {
        let message = format!("{} nodes do not form whole sets of {copies}; write the nodes of one set after another", spec.sets.len());
        return problems.add(at.field("sets"), message);
    }
    for (index, node) in spec.sets.iter().enumerate() {
        let before = &spec.sets[index / copies as usize * copies as usize..index];
        if *node >= nodes || before.contains(node) {
            let message = format!("{node} is not a different node from 0 to {}; each copy of a set needs its own node", nodes - 1);
            return problems.add(at.index("sets", index), message);
        }
    }
}
