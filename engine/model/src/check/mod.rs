//! Checks that the schema cannot express: layers that contradict each other, jobs that never end, runs that need too much memory. The
//! checks of a single layer are in its folder ([`Layer::check`](crate::layers::Layer::check)).

mod flow;
mod jobs;
mod monitor;
mod reduction;
mod trim;
mod zoned;

use std::sync::OnceLock;

use seeklab_spec::{AddProblem, Job, Path, Persistence, Presets, Problems, Rw, Scenario};
use serde_json::Value;

use crate::kernel::{LayerId, Request};
use crate::layers;
use crate::layers::device::shingled::memory_bytes;
use crate::layers::device::{check as unit, ssd};
use crate::layers::fanout;
use crate::layers::layout::raid;
use crate::layers::table;
use crate::layers::zfs::in_effect::in_effect;
use crate::plan::{self, Plan};
use crate::rules::{SECTOR, synchronous_job};

/// Bytes that a cached block costs: its node and its place in the index.
const BYTES_PER_CACHED_BLOCK: u64 = 64;
/// Phases that the requests of one run go through, at most, for an estimate: few runs go through ten.
const PHASES_OF_A_RUN: usize = 16;
/// Bytes that a request in flight costs: its slot and its phases.
const BYTES_PER_REQUEST: u64 = (size_of::<Request>() + PHASES_OF_A_RUN * size_of::<u64>()) as u64;
const MAX_IN_FLIGHT: u64 = 4_000_000;

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

/// The JSON Schema of scenarios, which the build made of the types: what fields accept, their units, ranges and labels. Only required
/// fields have their help in it, see [`seeklab_spec::schema::without_help`].
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
        table::check(&scenario, &mut problems);
        check_flushes(&scenario, &mut problems);
        check_rebuild(&scenario, &mut problems);
        check_units(&scenario, &mut problems);
        let root = Path::root();
        if let Some(reduction) = &scenario.reduction {
            reduction::check(reduction, &scenario, &root.field("reduction"), &mut problems);
        }
        if let Some(monitor) = &scenario.monitor {
            monitor::check(monitor, &scenario, &root.field("monitor"), &mut problems);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let plan = plan::plan(&scenario)?;
        table::check_plan(&scenario, &plan, &mut problems);
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

/// Return warnings: valid settings that are rarely intended, and fields that have no effect.
#[must_use]
pub fn warnings(scenario: &Scenario) -> Problems {
    let mut problems = Problems::new();
    if let Some(zfs) = &scenario.zfs {
        layers::zfs::check::warn(zfs, &Path::root().field("zfs"), &mut problems);
    }
    problems
}

/// Nothing is durable on a device whose cache cannot be flushed, so nothing may wait for it.
fn check_flushes(scenario: &Scenario, problems: &mut Problems) {
    let Some((index, field)) = synchronous_job(scenario) else { return };
    let logs = scenario.zfs.as_ref().and_then(|zfs| zfs.log.devices.as_ref());
    let groups = scenario.devices.iter().enumerate().map(|(index, group)| (format!("devices[{index}]"), group));
    for (at, group) in groups.chain(logs.map(|group| ("zfs.log.devices".to_owned(), group))) {
        if let Some((cache, Persistence::Unflushable)) = group.write_cache() {
            let message =
                format!("waits for durable writes, but {at}.{cache} is unflushable; write volatile or protected there, or drop this field");
            problems.add(Path::root().index("jobs", index).field(field), message);
        }
    }
}

/// Where ZFS sees its devices it schedules them itself: its own rebuild is not modelled, and it has no reads before writes.
fn check_rebuild(scenario: &Scenario, problems: &mut Problems) {
    let path = table::io_path(scenario);
    let next = path.iter().skip_while(|layer| **layer != LayerId::Zfs).nth(1);
    let sees_devices = next.is_some_and(|layer| matches!(layer, LayerId::Layout | LayerId::Device));
    if sees_devices && scenario.layout.rebuild.is_some() && !scenario.layout.failed.is_empty() {
        let why = "which schedules its devices itself, and whose own rebuild is not modelled";
        problems.add(Path::root().field("layout.rebuild"), format!("contradicts zfs, {why}; drop one of the two"));
    }
    if sees_devices && raid::parity(scenario.layout.kind).is_some() {
        problems.add(Path::root().field("layout.kind"), "contradicts zfs, which has its own parity; write \"raidz\", or drop zfs");
    }
}

fn check_jobs(scenario: &Scenario, problems: &mut Problems) {
    let mut in_flight = 0u64;
    for (index, job) in scenario.jobs.iter().enumerate() {
        let at = Path::root().index("jobs", index);
        in_flight += u64::from(job.iodepth) * u64::from(job.numjobs);
        if let Some(control) = job.name.chars().find(|letter| letter.is_control()) {
            problems
                .add(at.field("name"), format!("contains the control character U+{:04X}; write letters, digits and signs", control as u32));
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
            problems.add(at.field("copy"), "applies to servercopy and odxcopy only; drop it or change rw");
        }
        trim::check_job(job, scenario, &at, problems);
        jobs::check(index, scenario, &at, problems);
        flow::check(job, scenario, &at, problems);
        if let Some((credits, charge)) = layers::workload::copy::too_few_credits(scenario, job) {
            problems.add(
                at.field("bs"),
                format!("{} needs {charge} credits, but protocol.credits grants {credits}; write a smaller bs", job.bs),
            );
        }
        if job.rw == Rw::OdxCopy && scenario.protocol.is_none() {
            problems.add(at.field("rw"), "odxcopy needs the protocol layer, which has the copy engine; add protocol");
        }
    }
    if in_flight > MAX_IN_FLIGHT {
        problems.add(
            Path::root().field("jobs"),
            format!("iodepth times numjobs makes {in_flight} requests in flight; write at most {MAX_IN_FLIGHT}"),
        );
    }
}

/// Checks logical units, to which layers above may send what they combined, up to a request of 1 GiB.
fn check_units(scenario: &Scenario, problems: &mut Problems) {
    let of_jobs = scenario.jobs.iter().map(Job::max_request_bytes).max().unwrap_or(0);
    let largest = if table::combines(scenario) { 1 << 30 } else { of_jobs };
    for (index, group) in scenario.devices.iter().enumerate() {
        if let Some(spec) = &group.lun {
            unit::check(spec, largest, &Path::root().index("devices", index).field("lun"), problems);
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
    let leaf_bytes = scenario.fanout.as_ref().map_or(0, |spec| leaf_bytes(spec, scenario.record.journeys.is_some()));
    let in_flight_bytes = in_flight.saturating_mul(BYTES_PER_REQUEST + leaf_bytes);
    let need = (cached_bytes + map_bytes + placed_bytes).saturating_add(in_flight_bytes);
    if need > scenario.limits.memory.0 {
        problems.add(
            Path::root().field("limits.memory"),
            format!(
                "this scenario needs about {} MiB. Cached blocks of {block} bytes take {} MiB, the maps of flash and shingled drives {} MiB, requests in flight and their leaves {} MiB. The limit is {}. Reduce the largest part: a smaller cache or larger blocks, a smaller flash.mapped or shingled.ranges, a smaller iodepth or fewer leaves; or raise the limit",
                need >> 20,
                cached_bytes >> 20,
                map_bytes >> 20,
                in_flight_bytes >> 20,
                scenario.limits.memory
            ),
        );
    }
}

/// Bytes of memory that the leaves of a request may take while it is in flight.
fn leaf_bytes(spec: &seeklab_spec::fanout::FanoutSpec, has_journeys: bool) -> u64 {
    if fanout::is_analytic(spec) && !has_journeys { 0 } else { u64::from(spec.leaves) * (2 * BYTES_PER_REQUEST + fanout::LEAF_BYTES) }
}
