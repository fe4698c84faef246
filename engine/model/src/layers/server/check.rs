//! Checks of a server against its scenario.

use seeklab_spec::{AddProblem, Path, Problems, Scenario};

/// Adds what a server at `at` cannot be in this scenario.
pub fn check(scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let Some(network) = &scenario.network else {
        return problems.add(at, "needs a network with clients; add network, or drop server");
    };
    if network.links_of_servers() > network.server_links {
        problems.add(at, "is one node, but network.packets has several servers; write one there, or drop server");
    }
}
