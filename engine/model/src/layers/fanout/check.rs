//! Checks of a fan-out against its scenario: replicas, copies, servers, and the layers around it.

use seeklab_spec::fanout::{FanoutSpec, Hedge, HedgeMode, ServiceKind, SlowBy};
use seeklab_spec::{AddProblem, Bytes, Path, Problems, Scenario};

use crate::plan::Plan;
use crate::rules::{excludes, reads_only};

/// Adds what is wrong with the fan-out at `at` beyond its schema.
pub fn check(spec: &FanoutSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let FanoutSpec { replicas, servers, .. } = *spec;
    if replicas > servers {
        problems.add(
            at.field("replicas"),
            format!("{replicas} replicas need {replicas} servers, but there are {servers}; write at most {servers}, or more servers"),
        );
    }
    if let Some(hedge) = &spec.hedge {
        check_hedge(hedge, replicas, &at.field("hedge"), problems);
    }
    check_service(spec, at, problems);
    if spec.service.kind == ServiceKind::Below && !scenario.layout.failed.is_empty() {
        problems.add(Path::root().field("layout.failed"), "each server of a fan-out needs its own device; drop it");
    }
    for (index, slow) in spec.slow.iter().enumerate().filter(|(_, slow)| slow.server.is_some_and(|server| server >= servers)) {
        problems.add(
            at.index("slow", index).field("server"),
            format!("{} is not a server; the {servers} servers are numbered from 0", slow.server.unwrap_or_default()),
        );
    }
    let others = [
        ("zfs", "it schedules the devices itself", scenario.zfs.is_some()),
        ("cluster", "both place blocks", scenario.cluster.is_some()),
        ("tier", "fan-out servers must be the last layer", scenario.tier.is_some()),
    ];
    excludes(&others, at, problems);
    reads_only(scenario, "a fan-out serves reads only", "fanout", problems);
}

fn check_hedge(hedge: &Hedge, replicas: u32, at: &Path, problems: &mut Problems) {
    if replicas < 2 {
        problems.add(at, "needs a second replica, but fanout.replicas is 1; write 2 or more there, or drop hedge");
    }
    if hedge.mode == HedgeMode::Tied {
        for (field, is_there) in [("percentile", hedge.percentile.is_some()), ("budget", hedge.budget.is_some())] {
            if is_there {
                let message = format!("tied copies are always sent after a fixed time; write mode \"hedged\", or drop {field}");
                problems.add(at.field(field), message);
            }
        }
    }
}

fn check_service(spec: &FanoutSpec, at: &Path, problems: &mut Problems) {
    let service = &spec.service;
    if service.kind == ServiceKind::TwoPoint && service.slow < service.time {
        problems
            .add(at.field("service.slow"), format!("{} is less than the normal time, {}; write at least that", service.slow, service.time));
    }
    if service.kind != ServiceKind::Below {
        return;
    }
    if service.slow_by == SlowBy::Key {
        problems.add(at.field("service.slow_by"), "device times cannot depend on the key; write draw, or another kind of service");
    }
    if !spec.slow.is_empty() {
        problems.add(at.field("slow"), "a device cannot be made slow here; write a slower device for that server, or drop slow");
    }
}

/// Adds what a fan-out that works on devices asks too much of them.
pub fn check_devices(spec: &FanoutSpec, plan: &Plan, at: &Path, problems: &mut Problems) {
    if spec.service.kind != ServiceKind::Below {
        return;
    }
    let devices = plan.device_capacities.len();
    if devices != spec.servers as usize {
        problems
            .add(at.field("servers"), format!("{} servers need one device each, but there are {devices}; write {devices}", spec.servers));
    }
    let smallest = plan.device_capacities.iter().copied().min().unwrap_or(0);
    let keys = u64::from(spec.keys) * spec.leaf.0;
    if keys > smallest {
        problems.add(
            at.field("keys"),
            format!(
                "{} keys of {} need {}, but the smallest device holds {}; write fewer",
                spec.keys,
                spec.leaf,
                Bytes(keys),
                Bytes(smallest)
            ),
        );
    }
}
