//! From a scenario to concrete places: the devices' capacities, and the region of the address space that each worker uses.
//!
//! Files are laid out one after the other from the start of the volume, aligned to 1 MiB, in the order in which jobs name them.
//! A worker without `filename` has a file of its own. A `filename` of `volume`, or one that begins with `/dev/`, is the whole
//! address space. The destination of an offloaded copy follows its source.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::layers::device::{hdd, pauses};
use crate::layers::layout::Layout;
use crate::range::Range;
use seeklab_spec::{AddProblem, DeviceGroup, Extent, Job, Path, Problems, Rw, Scenario, partition};

/// Files start at multiples of this, in bytes.
pub const FILE_ALIGNMENT: u64 = 1 << 20;
/// Bytes of a file system's journal, as mkfs made it for large file systems of the time.
const JOURNAL_BYTES: u64 = 128 << 20;
/// A page of memory, and a block in which a journal is written.
pub const PAGE_BYTES: u64 = 4096;

/// Where one worker works.
#[derive(Clone, Debug)]
pub struct WorkerPlan {
    /// Its job.
    pub job: usize,
    /// The region that it reads or writes, in bytes of the address space.
    pub region: Range,
    /// The file that the region is in, up to the region's end.
    pub file: Range,
    /// Jobs of the same stage run together; stages follow each other.
    pub stage: u32,
}

/// Concrete places for all that a scenario names.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Size of the address space, in bytes.
    pub capacity: u64,
    /// Size of the address space of one node of a cluster; of the whole without one.
    pub node_capacity: u64,
    /// All workers, job by job.
    pub workers: Vec<WorkerPlan>,
    /// Capacity of each device, or of its partition, in bytes.
    pub device_capacities: Vec<u64>,
    /// Size of each device, in bytes.
    pub device_sizes: Vec<u64>,
    /// Name of each device; those of cache devices follow.
    pub device_names: Vec<String>,
    /// Whether each device turns.
    pub rotating: Vec<bool>,
    /// The drive parameters of each device group that is a disk.
    pub drives: Vec<Option<Arc<hdd::Params>>>,
    /// Capacity of each device of ZFS's intent logs, in bytes; 0 without them.
    pub log_capacity: u64,
    /// Their drive parameters when they are disks.
    pub log_drive: Option<Arc<hdd::Params>>,
}

/// Whether a file name stands for the whole address space.
fn is_whole(name: &str) -> bool {
    name == "volume" || name.starts_with("/dev/")
}

/// The layout of each node of a cluster over its share of the devices; one layout over all of them without a cluster.
#[must_use]
pub fn node_layouts(scenario: &Scenario, plan: &Plan) -> Vec<Layout> {
    let nodes = scenario.cluster.as_ref().map_or(1, |cluster| cluster.nodes as usize);
    let each = (plan.device_capacities.len() / nodes).max(1);
    let shares = plan.device_capacities.chunks_exact(each).zip(plan.rotating.chunks_exact(each));
    shares.map(|(capacities, rotating)| Layout::new(&scenario.layout, capacities.to_vec(), rotating)).collect()
}

impl Plan {
    /// Bytes from the first file to the end of the last, or all that a file system may use.
    #[must_use]
    pub fn placed_bytes(&self, scenario: &Scenario) -> u64 {
        if scenario.zfs.is_some() {
            return self.capacity;
        }
        let end = |worker: &WorkerPlan| {
            let copies = if scenario.jobs[worker.job].rw == Rw::OdxCopy { worker.region.end - worker.region.start } else { 0 };
            worker.region.end + copies
        };
        let files = self.workers.iter().map(end).max().unwrap_or(0);
        if scenario.page_cache.is_some() { files.max(self.journal().end) } else { files }
    }

    /// The files, each once however many workers share it, in order of their starts. Of two that start at the same byte the longer counts.
    #[must_use]
    pub fn files(&self) -> Vec<Range> {
        // As pairs, which other parts sort too: each type that is sorted costs kilobytes of code.
        let mut files: Vec<(u64, u64)> = self.workers.iter().map(|worker| (worker.file.start, u64::MAX - worker.file.end)).collect();
        files.sort_unstable();
        files.dedup_by_key(|(start, _)| *start);
        files.into_iter().map(|(start, before_last)| Range { start, end: u64::MAX - before_last }).collect()
    }

    /// Where the journal of a page cache's file system lies: behind all files, or at the end of the address space when they leave no room.
    #[must_use]
    pub fn journal(&self) -> Range {
        let files = self.workers.iter().map(|worker| worker.region.end).max().unwrap_or(0).next_multiple_of(FILE_ALIGNMENT);
        let end = files.saturating_add(JOURNAL_BYTES).min(self.capacity / PAGE_BYTES * PAGE_BYTES);
        Range { start: end.saturating_sub(JOURNAL_BYTES), end }
    }
}

/// The capacity in bytes of each device of a group that stands at `at`, and its drive parameters when it is a disk.
fn measure(group: &DeviceGroup, at: &Path, problems: &mut Problems) -> (u64, Option<Arc<hdd::Params>>) {
    match (&group.hdd, &group.ssd, &group.lun) {
        (Some(spec), None, None) => {
            if let Some(shake) = &spec.shake {
                hdd::shake::check(shake, group.count, &at.field("hdd").field("shake"), problems);
            }
            let drive = hdd::Params::from_data_sheet(spec, &at.field("hdd"), problems).map(Arc::new);
            let sectors = drive.as_ref().map_or(0, |drive| drive.capacity_sectors());
            (sectors * crate::layers::device::disk::SECTOR_BYTES, drive)
        }
        (None, Some(ssd), None) => (ssd.capacity.0, None),
        (None, None, Some(lun)) => {
            pauses::check(&lun.pauses, &at.field("lun"), problems);
            if lun.varies.is_some() && lun.command.0 > 0 {
                problems
                    .add(at.field("lun").field("command"), "contradicts varies, which changes the rate of bytes only; drop one of the two");
            }
            (lun.capacity.0, None)
        }
        _ => {
            problems.add(at, "needs exactly one of hdd, ssd and lun, or a preset that fills one in");
            (0, None)
        }
    }
}

/// Plans a scenario.
///
/// # Errors
/// All that does not fit: impossible drives, regions outside the devices, sizes that are missing.
pub fn plan(scenario: &Scenario) -> Result<Plan, Problems> {
    let mut problems = Problems::new();
    let mut plan = Plan::default();
    if let Some(group) = scenario.zfs.as_ref().and_then(|zfs| zfs.log.devices.as_ref()) {
        (plan.log_capacity, plan.log_drive) = measure(group, &Path::root().field("zfs.log.devices"), &mut problems);
    }
    for (index, group) in scenario.devices.iter().enumerate() {
        let (capacity, drive) = measure(group, &Path::root().index("devices", index), &mut problems);
        plan.drives.push(drive);
        for number in 0..group.count {
            plan.device_capacities.push(capacity);
            plan.rotating.push(group.hdd.is_some());
            plan.device_names.push(format!("{}{number}", group.name));
        }
    }
    plan.device_sizes.clone_from(&plan.device_capacities);
    if let Some(l2arc) = scenario.zfs.as_ref().and_then(|zfs| zfs.l2arc.as_ref()) {
        // They come after the devices of the pool, have no place in its layout, and no partition.
        let name = &l2arc.device.name;
        plan.device_names.extend((0..l2arc.device.count).map(|number| format!("{name}{number}")));
    }
    if let (Some(spec), true) = (&scenario.partition, problems.is_empty()) {
        let smallest = plan.device_sizes.iter().copied().min().unwrap_or(0);
        partition::check(spec, smallest, &Path::root().field("partition"), &mut problems);
        if problems.is_empty() {
            plan.device_capacities.iter_mut().for_each(|capacity| *capacity = partition::usable(spec, *capacity));
        }
    }
    if problems.is_empty() {
        plan.node_capacity = node_layouts(scenario, &plan).iter().map(Layout::capacity).min().unwrap_or(0);
        plan.capacity = scenario.cluster.as_ref().map_or(plan.node_capacity, |cluster| {
            // A file system may fill all that it is given: room for what has to be made again after a loss is not given.
            let kept = if scenario.zfs.is_some() && !cluster.design.is_paired() { cluster.failures.len() as u64 } else { 0 };
            let nodes = u64::from(cluster.nodes).saturating_sub(kept);
            let percent = if kept > 0 { 90 } else { 100 };
            (plan.node_capacity - plan.node_capacity / 100 * (100 - percent)) / cluster.block.0 * cluster.block.0 * nodes
                / u64::from(cluster.copies)
        });
        place_workers(scenario, &mut plan, &mut problems);
    }
    if problems.is_empty() { Ok(plan) } else { Err(problems) }
}

/// Bytes of its file that a job spans, from the file's start: offset, size and, for a copy, the destination.
fn file_bytes(job: &Job, capacity: u64) -> Option<u64> {
    let size = job.size?.of(capacity);
    let copies = if job.rw.is_copy() { 2 } else { 1 };
    offset_bytes(job, capacity).checked_add(size.checked_mul(copies)?)
}

fn offset_bytes(job: &Job, capacity: u64) -> u64 {
    match job.offset {
        Extent::Bytes(bytes) => bytes,
        percent @ Extent::Percent(_) => percent.of(capacity) / FILE_ALIGNMENT * FILE_ALIGNMENT,
    }
}

fn place_workers(scenario: &Scenario, plan: &mut Plan, problems: &mut Problems) {
    let capacity = plan.capacity;
    let mut shared: BTreeMap<(&str, u32), u64> = BTreeMap::default();
    let mut next_file: u64 = 0;
    let mut stage = 0;
    let allocate = |next_file: &mut u64, bytes: u64| {
        let start = *next_file;
        *next_file = start.saturating_add(bytes).div_ceil(FILE_ALIGNMENT).saturating_mul(FILE_ALIGNMENT);
        start
    };
    for (index, job) in scenario.jobs.iter().enumerate() {
        let at = Path::root().index("jobs", index).field("size");
        if job.stonewall && index > 0 {
            stage += 1;
        }
        let whole = job.filename.as_deref().is_some_and(is_whole);
        let offset = offset_bytes(job, capacity);
        let size = match job.size {
            Some(size) => size.of(capacity),
            None if whole => capacity.saturating_sub(offset),
            None => {
                problems.add(&at, "is missing; write a size such as 1GiB, or 50% of the devices");
                continue;
            }
        };
        let Some(span) = file_bytes(&Job { size: Some(Extent::Bytes(size)), ..job.clone() }, capacity) else {
            problems.add(&at, "offset and size add up to more than 16 EiB");
            continue;
        };
        if whole && job.size.is_none() && offset >= capacity {
            problems.add(
                Path::root().index("jobs", index).field("offset"),
                format!("{offset} bytes are beyond the end of the devices, which hold {capacity} bytes; write a smaller offset or larger devices"),
            );
            continue;
        }
        if size < job.max_request_bytes() && job.rw != Rw::OdxCopy {
            problems.add(
                &at,
                format!("{size} bytes are less than a request of {} bytes; write a larger size or a smaller bs", job.max_request_bytes()),
            );
            continue;
        }
        if size == 0 {
            problems.add(&at, "is 0; write a size such as 1GiB");
            continue;
        }
        if span > capacity {
            let also = if job.rw.is_copy() { " and the copy" } else { "" };
            problems.add(&at, format!("offset {offset}, size {size}{also} end at {span} bytes; the devices hold {capacity} bytes; write a smaller size or larger devices"));
            continue;
        }
        for number in 0..job.numjobs {
            let file_start = match &job.filename {
                _ if whole => 0,
                None => allocate(&mut next_file, span),
                Some(name) => {
                    let key = (name.as_str(), if name.contains("$jobnum") { number } else { 0 });
                    if let Some(start) = shared.get(&key) {
                        *start
                    } else {
                        let users = scenario.jobs.iter().filter(|other| other.filename.as_ref() == Some(name));
                        let longest = users.filter_map(|other| file_bytes(other, capacity)).max().unwrap_or(span);
                        let start = allocate(&mut next_file, longest);
                        shared.insert(key, start);
                        start
                    }
                }
            };
            let start = file_start.saturating_add(offset);
            let end = start.saturating_add(size);
            plan.workers.push(WorkerPlan { job: index, region: Range { start, end }, file: Range { start: file_start, end }, stage });
        }
        if next_file > capacity.saturating_add(FILE_ALIGNMENT) {
            problems.add(&at, format!("the files up to this job need {next_file} bytes; the devices hold {capacity} bytes; write a smaller size or larger devices"));
            return;
        }
    }
}
