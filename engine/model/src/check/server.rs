//! What a server contradicts in its scenario.

use seeklab_spec::{AddProblem, Path, Problems, Scenario};

/// Adds what a server at `at` cannot be in this scenario.
pub fn check(scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if scenario.network.is_none() {
        problems.add(at, "has nobody to serve without a network; add network, or drop server");
    }
}
