//! What the schema cannot say: layers that contradict each other, jobs that never end, runs that need too much memory.

mod cluster;
mod commit;
mod credits;
mod fanout;
mod fleet;
mod jobs;
mod monitor;
mod nfs;
mod page_cache;
mod raid_cache;
mod rebuild;
mod reduction;
mod server;
mod shingled;
mod slc;
mod trim;
mod zoned;

use std::sync::OnceLock;

use seeklab_spec::{AddProblem, DeviceGroup, LayoutKind, Path, Persistence, Presets, Problem, Problems, Rw, Scenario};
use serde_json::Value;

use crate::kernel::Request;
use crate::layers;
use crate::layers::device::shingled::memory_bytes;
use crate::layers::device::ssd;
use crate::layers::zfs::in_effect::in_effect;
use crate::plan::{self, Plan};

/// Bytes that a cached block costs: its node and its place in the index.
const BYTES_PER_CACHED_BLOCK: u64 = 64;
/// Phases that the requests of one run go through, at most, for an estimate: few runs go through ten.
const PHASES_OF_A_RUN: usize = 16;
/// Bytes that a request in flight costs: its slot and its phases.
const BYTES_PER_REQUEST: u64 = (size_of::<Request>() + PHASES_OF_A_RUN * size_of::<u64>()) as u64;
const MOST_IN_FLIGHT: u64 = 4_000_000;
const SECTOR: u64 = 512;

/// The layers that may stand between jobs and devices, by their fields, and whether a scenario has them.
fn above_devices(scenario: &Scenario) -> impl Iterator<Item = (&'static str, bool)> {
    [
        ("nfs", scenario.nfs.is_some()),
        ("network", scenario.network.is_some()),
        ("server", scenario.server.is_some()),
        ("protocol", scenario.protocol.is_some()),
        ("commit", scenario.commit.is_some()),
        ("volume", scenario.volume.is_some()),
        ("zfs", scenario.zfs.is_some()),
        ("page_cache", scenario.page_cache.is_some()),
        ("cluster", scenario.cluster.is_some()),
        ("fanout", scenario.fanout.is_some()),
        ("fleet", scenario.fleet.is_some()),
        ("controller", scenario.controller.is_some()),
        ("tier", scenario.tier.is_some()),
        ("raid_cache", scenario.raid_cache.is_some()),
    ]
    .into_iter()
}

/// A scenario in which nothing is wrong, with the plan that follows from it. A run starts from one and cannot fail for what it says.
#[derive(Clone, Debug)]
pub struct Checked {
    scenario: Scenario,
    plan: Plan,
}

/// Reads a scenario, checks it and plans it; presets are filled in.
///
/// # Errors
/// Everything that is wrong with it, at once: first all fields, then what they say about each other.
pub fn read(value: &Value, presets: &Presets) -> Result<Checked, Problems> {
    Checked::new(seeklab_spec::read(value, presets, schema())?)
}

/// The JSON Schema of scenarios, which the build made of the types: what fields accept, their units, ranges, labels and help.
///
/// # Panics
/// Never: the build wrote it as JSON.
#[must_use]
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/schema.json"))).expect("the build wrote JSON"))
}

impl Checked {
    /// Checks a scenario that was read or changed.
    ///
    /// # Errors
    /// Everything that its fields say and cannot be true together.
    pub fn new(scenario: Scenario) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        check_jobs(&scenario, &mut problems);
        check_layers(&scenario, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let plan = plan::plan(&scenario)?;
        let root = Path::root();
        if let Some(spec) = &scenario.cluster {
            layers::cluster::room::check(spec, &scenario, &plan, &root.field("cluster"), &mut problems);
        }
        if let Some(spec) = &scenario.controller {
            layers::controller::check::check(spec, &plan, &root.field("controller"), &mut problems);
        }
        if let Some(spec) = &scenario.layout.rebuild {
            rebuild::check_used(spec, &scenario, &plan, &root.field("layout.rebuild"), &mut problems);
        }
        if let Some(spec) = &scenario.commit {
            commit::check_places(spec, &scenario, &plan, &root.field("commit"), &mut problems);
        }
        if let Some(spec) = &scenario.fanout {
            fanout::check_devices(spec, &plan, &root.field("fanout"), &mut problems);
        }
        if let Some(spec) = &scenario.page_cache {
            page_cache::check_files(spec, &plan, &root.field("page_cache"), &mut problems);
        }
        trim::check_regions(&scenario, &plan, &mut problems);
        zoned::check_regions(&scenario, &plan, &mut problems);
        check_memory(&scenario, &plan, &mut problems);
        if problems.is_empty() { Ok(Self { scenario, plan }) } else { Err(problems) }
    }

    /// The scenario with the numbers that are in effect where it has none of its own, such as those of a version of ZFS.
    #[must_use]
    pub fn in_effect(&self) -> Scenario {
        let mut told = self.scenario.clone();
        told.zfs = told.zfs.as_ref().map(in_effect);
        told
    }

    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Both, for a run.
    #[must_use]
    pub fn into_parts(self) -> (Scenario, Plan) {
        (self.scenario, self.plan)
    }
}

/// What is possible in a scenario but seldom meant, and fields that have no effect.
#[must_use]
pub fn warnings(scenario: &Scenario) -> Problems {
    let mut problems = Problems::new();
    if let Some(zfs) = &scenario.zfs {
        layers::zfs::check::warn(zfs, &Path::root().field("zfs"), &mut problems);
    }
    problems
}

/// The first job that waits until what it wrote is durable, and the field that makes it wait.
fn synchronous_job(scenario: &Scenario) -> Option<(usize, &'static str)> {
    scenario.jobs.iter().enumerate().find_map(|(index, job)| Some((index, job.synchronous_by()?)))
}

/// Nothing is durable on a device whose cache cannot be flushed, so nothing may wait for it.
fn check_flushes(scenario: &Scenario, problems: &mut Problems) {
    let Some((index, field)) = synchronous_job(scenario) else { return };
    let logs = scenario.zfs.as_ref().and_then(|zfs| zfs.log.devices.as_ref());
    let groups = scenario.devices.iter().enumerate().map(|(index, group)| (format!("devices[{index}]"), group));
    for (at, group) in groups.chain(logs.map(|group| ("zfs.log.devices".to_owned(), group))) {
        if let Some((cache, Persistence::Unflushable)) = group.write_cache() {
            let message =
                format!("waits for durable writes, but {at}.{cache} is unflushable; write volatile or protected there, or drop this");
            problems.add(Path::root().index("jobs", index).field(field), message);
        }
    }
}

fn check_jobs(scenario: &Scenario, problems: &mut Problems) {
    let mut in_flight = 0u64;
    for (index, job) in scenario.jobs.iter().enumerate() {
        let at = Path::root().index("jobs", index);
        in_flight += u64::from(job.iodepth) * u64::from(job.numjobs);
        if let Some(control) = job.name.chars().find(|letter| letter.is_control()) {
            problems
                .add(at.field("name"), format!("holds the control character U+{:04X}; write letters, digits and signs", control as u32));
        }
        if let Some(first) = scenario.jobs[..index].iter().position(|other| other.name == job.name) {
            problems.add(at.field("name"), format!("\"{}\" is also the name of jobs[{first}]; names must differ", job.name));
        }
        for (field, bytes) in
            [("bs", Some(job.bs.0)), ("bsrange.min", job.bsrange.map(|r| r.min.0)), ("bsrange.max", job.bsrange.map(|r| r.max.0))]
        {
            if let Some(bytes) = bytes.filter(|bytes| bytes % SECTOR != 0) {
                problems.add(at.field(field), format!("{bytes} is not a multiple of a sector of {SECTOR} bytes"));
            }
        }
        if let Some(range) = job.bsrange.filter(|range| range.min > range.max) {
            problems.add(at.field("bsrange"), format!("min {} is above max {}", range.min.0, range.max.0));
        }
        if job.time_based && job.runtime.is_none() {
            problems.add(at.field("runtime"), "is missing; a time_based job without it never ends. Write runtime, or time_based false");
        }
        let last_ns = job.startdelay.0.saturating_add(job.stagger.0.saturating_mul(u64::from(job.numjobs) - 1));
        let ends = job.runtime.map(|runtime| last_ns.saturating_add(job.ramp_time.0).saturating_add(runtime.0));
        if ends.is_some_and(|ends| ends > scenario.limits.time.0) {
            problems.add(
                at.field("runtime"),
                format!(
                    "with startdelay, stagger and ramp_time it ends after limits.time, {}; shorten it or raise the limit",
                    scenario.limits.time
                ),
            );
        }
        if job.rate.is_some() && job.rate_iops.is_some() {
            problems.add(at.field("rate_iops"), "contradicts rate: limit either bytes or requests per second");
        }
        if job.copy.is_some() && !job.rw.is_offloaded() {
            problems.add(at.field("copy"), "has a meaning for servercopy and odxcopy only; drop it or change rw");
        }
        nfs::check_job(job, scenario, &at, problems);
        trim::check_job(job, scenario, &at, problems);
        jobs::check(index, scenario, &at, problems);
        if let Some((credits, charge)) = layers::client::copy::too_few_credits(scenario, job) {
            problems.add(
                at.field("bs"),
                format!("{} takes {charge} credits and protocol.credits grants {credits}; write a smaller bs", job.bs),
            );
        }
        if job.rw == Rw::OdxCopy && scenario.protocol.is_none() {
            problems.add(at.field("rw"), "odxcopy needs the protocol layer, which has the copy engine; add protocol");
        }
    }
    if in_flight > MOST_IN_FLIGHT {
        problems.add(
            Path::root().field("jobs"),
            format!("iodepth times numjobs add up to {in_flight} requests in flight; write at most {MOST_IN_FLIGHT}"),
        );
    }
}

fn check_volume(scenario: &Scenario, problems: &mut Problems) {
    let root = Path::root();
    if let Some(volume) = &scenario.volume {
        if !volume.block.0.is_multiple_of(SECTOR) {
            problems.add(root.field("volume.block"), format!("{} is not a multiple of a sector of {SECTOR} bytes", volume.block.0));
        }
        if volume.prefetch.is_some() && volume.cache.is_none() {
            problems.add(root.field("volume.prefetch"), "needs volume.cache to prefetch into; add a cache or drop prefetch");
        }
        if let Some(cache) = volume.cache.as_ref().filter(|cache| cache.size < volume.block) {
            problems.add(root.field("volume.cache.size"), format!("{} is smaller than one block of {}", cache.size, volume.block));
        }
    }
    for (volume, cache) in scenario.volume.iter().filter_map(|volume| Some((volume, volume.cache.as_ref()?))) {
        for (index, change) in cache.resize.iter().enumerate() {
            let at = root.field("volume.cache").index("resize", index);
            if change.size < volume.block {
                problems.add(at.field("size"), format!("{} is smaller than one block of {}", change.size, volume.block));
            }
            if cache.resize[..index].last().is_some_and(|before| before.at >= change.at) {
                problems.add(at.field("at"), format!("{} is not after the change before it; write them in order of time", change.at));
            }
        }
    }
}

fn check_layers(scenario: &Scenario, problems: &mut Problems) {
    let root = Path::root();
    check_volume(scenario, problems);
    for (index, group) in scenario.devices.iter().enumerate() {
        if let Some(spec) = &group.ssd {
            ssd::check(spec, &root.index("devices", index).field("ssd"), problems);
        }
    }
    if let Some(log) = scenario.zfs.as_ref().map(|zfs| &zfs.log) {
        layers::zfs::check::check_log(log, &root.field("zfs.log"), problems);
    }
    if let Some(network) = &scenario.network {
        let workers = scenario.jobs.iter().map(|job| u64::from(job.numjobs)).sum();
        let writes = scenario.jobs.iter().any(|job| job.rw.writes());
        network.check(scenario.jobs.len() as u64, workers, writes, &root.field("network"), problems);
    }
    if let Some(nfs) = &scenario.nfs {
        nfs::check(nfs, scenario, &root.field("nfs"), problems);
    }
    if scenario.server.is_some() {
        server::check(scenario, &root.field("server"), problems);
    }
    if let Some(tier) = &scenario.tier {
        ssd::check(&tier.ssd, &root.field("tier.ssd"), problems);
    }
    if !scenario.layout.unit.0.is_multiple_of(SECTOR) {
        problems.add(root.field("layout.unit"), format!("{} is not a multiple of a sector of {SECTOR} bytes", scenario.layout.unit.0));
    }
    check_groups(scenario, problems);
    check_credits(scenario, problems);
    check_flushes(scenario, problems);
    if let Some(cluster) = &scenario.cluster {
        cluster::check(cluster, scenario, &root.field("cluster"), problems);
    }
    if let Some(commit) = &scenario.commit {
        commit::check(commit, scenario, &root.field("commit"), problems);
    }
    if let Some(fanout) = &scenario.fanout {
        fanout::check(fanout, scenario, &root.field("fanout"), problems);
    }
    if let Some(fleet) = &scenario.fleet {
        fleet::check(fleet, scenario, &root.field("fleet"), problems);
    }
    if let Some(cache) = &scenario.raid_cache {
        raid_cache::check(cache, scenario, &root.field("raid_cache"), problems);
    }
    if scenario.layout.rebuild.is_some() {
        rebuild::check(scenario, &root.field("layout.rebuild"), problems);
    }
    if let Some(zfs) = &scenario.zfs {
        if scenario.volume.is_some() {
            problems.add(root.field("zfs"), "contradicts volume: there is one file system; drop one of the two");
        }
        if scenario.protocol.as_ref().is_some_and(|protocol| protocol.scheduler.is_some())
            && let Some((index, field)) = synchronous_job(scenario)
        {
            let message = "synchronous writes are not combined with others; drop it, or protocol.scheduler";
            problems.add(root.index("jobs", index).field(field), message);
        }
        let rates = scenario.devices.iter().filter_map(|group| group.lun.as_ref().map(|lun| lun.rate.0 * u64::from(group.count)));
        layers::zfs::check::check(zfs, rates.reduce(u64::saturating_add), &root.field("zfs"), problems);
    }
    if let Some(spec) = &scenario.page_cache {
        page_cache::check(spec, scenario, &root.field("page_cache"), problems);
    }
    let cache = scenario.volume.as_ref().and_then(|volume| volume.cache.as_ref());
    let tier = scenario.tier.as_ref();
    if let Some(log) = scenario.volume.as_ref().and_then(|volume| volume.write_log.as_ref()) {
        layers::device::pauses::check(&log.pauses, &root.field("volume.write_log"), problems);
    }
    if let Some(reduction) = &scenario.reduction {
        reduction::check(reduction, scenario, &root.field("reduction"), problems);
    }
    if let Some(monitor) = &scenario.monitor {
        monitor::check(monitor, scenario, &root.field("monitor"), problems);
    }
    let lists = [
        ("volume.cache.primed", cache.map(|cache| &cache.primed)),
        ("zfs.arc.metadata", scenario.zfs.as_ref().and_then(|zfs| Some(&zfs.arc.as_ref()?.metadata))),
        ("page_cache.unjournalled", scenario.page_cache.as_ref().map(|spec| &spec.unjournalled)),
        ("tier.primed", tier.map(|tier| &tier.primed)),
        ("tier.evicted", tier.map(|tier| &tier.evicted)),
    ];
    for (field, names) in lists {
        for (index, name) in names.into_iter().flatten().enumerate() {
            if !scenario.jobs.iter().any(|job| job.name == *name) {
                let known = scenario.jobs.iter().map(|job| job.name.as_str());
                problems.push(Problem::unknown(root.index(field, index), "job", name, known));
            }
        }
    }
    let again = |(index, group): &(usize, &DeviceGroup)| scenario.devices[..*index].iter().any(|other| other.name == group.name);
    if let Some(name) = scenario.devices.iter().enumerate().find(again).map(|(_, group)| &group.name) {
        problems.add(root.field("devices"), format!("two groups are called \"{name}\"; names must differ"));
    }
}

fn check_credits(scenario: &Scenario, problems: &mut Problems) {
    // Layers above may combine what jobs ask for, up to a request of 1 GiB.
    let is_direct = scenario.volume.is_none()
        && scenario.zfs.is_none()
        && scenario.protocol.is_none()
        && scenario.nfs.is_none()
        && scenario.commit.is_none();
    let largest = if is_direct { scenario.jobs.iter().map(seeklab_spec::Job::max_request_bytes).max().unwrap_or(0) } else { 1 << 30 };
    for (index, group) in scenario.devices.iter().enumerate() {
        if let Some(unit) = &group.lun {
            let at = Path::root().index("devices", index).field("lun");
            credits::check(unit, largest, &at, problems);
            slc::check(unit, &at, problems);
            shingled::check(unit, &at, problems);
        }
    }
    for (index, job) in scenario.jobs.iter().enumerate() {
        credits::check_flow(job, scenario, &Path::root().index("jobs", index), problems);
    }
}

fn check_groups(scenario: &Scenario, problems: &mut Problems) {
    let layout = &scenario.layout;
    let devices: u32 = scenario.devices.iter().map(|group| group.count).sum();
    let width = layout.width.unwrap_or(devices);
    let at = Path::root().field("layout");
    if let Some(index) = layout.failed.iter().position(|failed| *failed >= devices) {
        problems.add(at.index("failed", index), format!("{} is not a device; there are {devices}, numbered from 0", layout.failed[index]));
    }
    let spares = match layout.kind {
        LayoutKind::Mirror => width.saturating_sub(1),
        LayoutKind::RaidZ => layout.parity,
        LayoutKind::Stripe | LayoutKind::Concat => {
            if !layout.failed.is_empty() {
                problems.add(at.field("failed"), "a stripe or concatenation has no second copy; its data would be lost");
            }
            return;
        }
    };
    let least = if layout.kind == LayoutKind::RaidZ { layout.parity + 1 } else { 2 };
    if width < least {
        problems.add(at.field("width"), format!("{width} devices in a group are too few; this layout needs at least {least}"));
    } else if !devices.is_multiple_of(width) {
        problems.add(at.field("width"), format!("{devices} devices do not make whole groups of {width}"));
    } else if layout.kind == LayoutKind::RaidZ && !layout.unit.0.is_multiple_of(1 << layout.ashift) {
        problems.add(
            at.field("unit"),
            format!("a record of {} is not a multiple of the sector of {} bytes", layout.unit, 1u64 << layout.ashift),
        );
    } else {
        for group in 0..devices / width {
            let lost = layout.failed.iter().filter(|failed| **failed / width == group).count();
            if lost > spares as usize {
                problems
                    .add(at.field("failed"), format!("group {group} lost {lost} devices and survives {spares}; its data would be lost"));
            }
        }
    }
}

/// The most that the volume's cache ever holds, in bytes.
fn largest_cache(scenario: &Scenario) -> Option<u64> {
    let cache = scenario.volume.as_ref()?.cache.as_ref()?;
    cache.resize.iter().map(|change| change.size.0).chain([cache.size.0]).max()
}

fn check_memory(scenario: &Scenario, plan: &Plan, problems: &mut Problems) {
    let reachable: u64 = plan.workers.iter().map(|worker| worker.region.end - worker.region.start).sum();
    let block = scenario.volume.as_ref().map_or(seeklab_spec::volume::default_block().0, |volume| volume.block.0);
    let cached = |size: u64| size.min(reachable) / block * BYTES_PER_CACHED_BLOCK;
    let cached_bytes = largest_cache(scenario).map_or(0, cached) + scenario.tier.iter().map(|tier| cached(tier.size.0)).sum::<u64>();
    let in_flight: u64 = scenario.jobs.iter().map(|job| u64::from(job.iodepth) * u64::from(job.numjobs)).sum();
    let drives = scenario.devices.iter().filter_map(|group| Some(u64::from(group.count) * ssd::memory_bytes(group.ssd.as_ref()?)));
    let log_drives = scenario.zfs.iter().filter_map(|zfs| zfs.log.devices.as_ref());
    let drives = drives.chain(log_drives.filter_map(|group| Some(u64::from(group.count) * ssd::memory_bytes(group.ssd.as_ref()?))));
    let zoned = scenario.devices.iter().filter_map(|group| Some((group.count, group.lun.as_ref()?)));
    let zoned = zoned.filter_map(|(count, unit)| Some(u64::from(count) * memory_bytes(unit.shingled.as_ref()?, unit)));
    let map_bytes = zoned.sum::<u64>() + drives.sum::<u64>() + scenario.tier.as_ref().map_or(0, |tier| ssd::memory_bytes(&tier.ssd));
    let placed_bytes = scenario.cluster.as_ref().map_or(0, |cluster| cluster.table_bytes(plan.placed_bytes(scenario)));
    let leaf_bytes = scenario.fanout.as_ref().map_or(0, |spec| fanout::bytes_per_request(spec, scenario.record.journeys.is_some()));
    let in_flight_bytes = in_flight.saturating_mul(BYTES_PER_REQUEST + leaf_bytes);
    let need = (cached_bytes + map_bytes + placed_bytes).saturating_add(in_flight_bytes);
    if need > scenario.limits.memory.0 {
        problems.add(
            Path::root().field("limits.memory"),
            format!(
                "this scenario needs about {} MiB ({} MiB for cached blocks of {block} bytes, {} MiB for the maps of flash and shingled drives, {} MiB for requests in flight and their leaves); the limit is {}. Write less of what takes most: a smaller cache or larger blocks, a smaller flash.mapped or shingled.ranges, a smaller iodepth or fewer leaves; or raise the limit",
                need >> 20,
                cached_bytes >> 20,
                map_bytes >> 20,
                in_flight_bytes >> 20,
                scenario.limits.memory
            ),
        );
    }
}
