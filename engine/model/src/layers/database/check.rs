//! Checks of a database against its scenario: stages and logs, the layers around it, and the places of its logs.

use seeklab_spec::commit::{CommitSpec, DatabaseLogSpec};
use seeklab_spec::{AddProblem, Bytes, DeviceGroup, Path, Persistence, Problem, Problems, Scenario};

use crate::plan::Plan;
use crate::rules::excludes;

/// Largest request that the layers below take.
const MAX_REQUEST: u64 = 1 << 30;

/// The logs that are written to the layers below, with their numbers.
fn below(spec: &CommitSpec) -> impl Iterator<Item = (usize, &DatabaseLogSpec)> {
    spec.logs.iter().enumerate().filter(|(_, log)| log.flush.is_none())
}

/// Adds what is wrong with the database at `at` beyond its schema.
pub fn check(spec: &CommitSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if scenario.network.as_ref().is_some_and(|network| network.links_of_servers() > network.server_links) {
        problems.add(at, "is a database on one node, but network.packets has several servers; write one server there, or drop commit");
    }
    for (index, log) in spec.logs.iter().enumerate() {
        if let Some(first) = spec.logs[..index].iter().position(|other| other.name == log.name) {
            let message = format!("\"{}\" is also the name of logs[{first}]; names must differ", log.name);
            problems.add(at.index("logs", index).field("name"), message);
        }
        if log.flush.is_some() && log.host.is_some() {
            let message =
                "applies to flushes that are written below, but flush gives this log random times instead; drop one of host and flush";
            problems.add(at.index("logs", index).field("host"), message);
        }
    }
    for (index, stage) in spec.stages.iter().enumerate().filter(|(_, stage)| spec.logs.iter().all(|log| log.name != **stage)) {
        let known = spec.logs.iter().map(|log| log.name.as_str());
        problems.push(Problem::unknown(at.index("stages", index), "log", stage, known));
    }
    let others = [
        ("nfs", "a client that caches and combines writes would commit them whenever it chooses", scenario.nfs.is_some()),
        (
            "protocol.scheduler",
            "transactions are not combined with others before they commit",
            scenario.protocol.as_ref().is_some_and(|protocol| protocol.scheduler.is_some()),
        ),
        ("fanout", "it serves reads only, but a database commits writes", scenario.fanout.is_some()),
        ("fleet", "it serves reads only, but a database commits writes", scenario.fleet.is_some()),
        ("cluster", "it places files, and a log is not a file", scenario.cluster.is_some() && below(spec).next().is_some()),
    ];
    excludes(&others, at, problems);
    for (index, group) in scenario.devices.iter().enumerate() {
        if let (Some((log, _)), Some((cache, Persistence::Unflushable))) = (below(spec).next(), DeviceGroup::write_cache(group)) {
            let message = format!("needs durable writes, but devices[{index}].{cache} is unflushable; write volatile or protected there");
            problems.add(at.index("logs", log), message);
        }
    }
}

/// Adds what logs that are written below ask too much of the space there.
pub fn check_places(spec: &CommitSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
    let each = |job: &seeklab_spec::Job| {
        let bytes = if job.rw.writes() { job.max_request_bytes() } else { 0 };
        bytes.saturating_mul(u64::from(job.iodepth) * u64::from(job.numjobs))
    };
    let batch = scenario.jobs.iter().map(each).fold(0, u64::saturating_add);
    let offsets = spec.offsets();
    let used = scenario.layout.rebuild.as_ref().map(|rebuild| rebuild.used.of(plan.capacity));
    for (index, log) in below(spec) {
        let at = at.index("logs", index);
        let end = offsets[index].saturating_add(log.size.0);
        if end > plan.capacity {
            let message = format!("ends at {end} bytes, but the layers below hold {} bytes; write a smaller size or offset", plan.capacity);
            problems.add(at.field("size"), message);
        }
        if let Some(used) = used.filter(|used| *used < end) {
            let message = format!("ends at {end} bytes, but layout.rebuild.used says that {used} are in use; write at least {end} there");
            problems.add(at.field("size"), message);
        }
        let most = log.size.0.min(MAX_REQUEST);
        if batch > most {
            let (batch, most) = (Bytes(batch), Bytes(most));
            let message =
                format!("a flush takes at most {most}, but all transactions in progress may need {batch}; write a smaller bs or iodepth");
            problems.add(at.field("size"), message);
        }
    }
}
