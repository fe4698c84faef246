//! Checks of a controller's cache, and against its scenario.

use seeklab_spec::raid_cache::{RaidCacheSpec, WritePolicy};
use seeklab_spec::{AddProblem, Path, Problems, Scenario};

use crate::rules::excludes;

/// Most starts of learn cycles that are drawn: about a second.
const MAX_STARTS: u64 = 10_000_000;

/// Adds what is wrong with the cache at `at` beyond its schema.
pub fn check(spec: &RaidCacheSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let others = [
        ("cluster", "each node of a cluster would need its own", scenario.cluster.is_some()),
        ("fanout", "fan-out servers must be the last layer", scenario.fanout.is_some()),
        ("fleet", "fleet nodes must be the last layer", scenario.fleet.is_some()),
    ];
    excludes(&others, at, problems);
    let Some(battery) = &spec.battery else {
        if spec.policy == WritePolicy::ForcedWriteBack {
            problems.add(at.field("policy"), "has no effect on a cache without a battery; write write_back, or add battery");
        }
        return;
    };
    let at = at.field("battery");
    let cycle = battery.lead.0.saturating_add(battery.discharge.0).saturating_add(battery.charge.0);
    if battery.learn_every.0 < cycle {
        let message = format!(
            "{} is shorter than a cycle of lead {}, discharge {} and charge {}; write a longer time",
            battery.learn_every, battery.lead, battery.discharge, battery.charge
        );
        problems.add(at.field("learn_every"), message);
    }
    if let Some(servers) = battery.servers.filter(|servers| u64::from(servers.count) * u64::from(servers.draws) > MAX_STARTS) {
        let most = MAX_STARTS / u64::from(servers.count);
        let message = format!("{} draws for {} servers are too many; write at most {most}", servers.draws, servers.count);
        problems.add(at.field("servers").field("draws"), message);
    }
}
