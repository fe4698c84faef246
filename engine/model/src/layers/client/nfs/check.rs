//! Checks of a file server's client against its scenario.

use seeklab_spec::nfs::NfsSpec;
use seeklab_spec::{AddProblem, Path, Problems, Scenario};

use crate::rules::SECTOR;

/// Adds what contradicts itself in the client at `at` beyond its schema.
pub fn check(spec: &NfsSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if scenario.network.is_none() {
        problems.add(Path::root().field("network"), "is missing, but an nfs client needs it to reach its server; add network, or drop nfs");
    }
    if !spec.transfer.0.is_multiple_of(SECTOR) {
        problems.add(at.field("transfer"), format!("{} is not a multiple of a sector of {SECTOR} bytes", spec.transfer.0));
    }
    if spec.cache < spec.transfer {
        let message = format!("{} is smaller than a transfer of {}; write at least that, or a smaller transfer", spec.cache, spec.transfer);
        problems.add(at.field("cache"), message);
    }
}
