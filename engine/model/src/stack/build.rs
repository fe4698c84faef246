//! Builds the layers of a scenario and tells each which one is below it.

use std::sync::Arc;

use seeklab_kernel::Stream;
use seeklab_spec::zfs::ZfsSpec;
use seeklab_spec::{DeviceGroup, Job, LayoutKind, Scenario};

use super::layers::Layers;
use crate::kernel::{Address, LayerId, Phase};
use crate::layers::client::nfs::Client;
use crate::layers::cluster::{Cluster, Setting};
use crate::layers::commit::Commit;
use crate::layers::controller::Controller;
use crate::layers::device::Device;
use crate::layers::device::disk::{Cached, Disk, SECTOR_BYTES};
use crate::layers::device::hdd::shake::Shaker;
use crate::layers::device::hdd::{DriveQueue, Hdd, Params, WriteCache};
use crate::layers::device::lun::Lun;
use crate::layers::device::services::Services;
use crate::layers::device::ssd::Ssd;
use crate::layers::fanout::Fanout;
use crate::layers::fleet::Fleet;
use crate::layers::layout::Layout;
use crate::layers::layout::partition::Partitions;
use crate::layers::network::Network;
use crate::layers::page_cache::PageCache;
use crate::layers::protocol::Scheduler;
use crate::layers::raid_cache::RaidCache;
use crate::layers::server::Server;
use crate::layers::tier::Tier;
use crate::layers::volume::Volume;
use crate::layers::workload::Workload;
use crate::layers::zfs::volume::reader::{File, Files};
use crate::layers::zfs::volume::{Below, ZfsVolume};
use crate::plan::{Plan, WorkerPlan, node_layouts};
use crate::range::Range;
use crate::result::flow::Loop;

/// The `nth` device of a group.
fn device(group: &DeviceGroup, nth: u32, scenario: &Scenario, seed: u64, name: &str, drive: Option<&Arc<Params>>) -> Option<Device> {
    if let (Some(spec), Some(params)) = (&group.hdd, drive) {
        let queue = DriveQueue::new(spec.queue_policy, Some(spec.longest_overtaken.0));
        let shake = spec.shake.as_ref().filter(|shake| shake.disks.is_empty() || shake.disks.contains(&nth));
        let shaker = shake.map(|shake| Shaker::new(shake, Stream::new(seed, &format!("{name}.shake"))));
        let drive = Hdd::new(Arc::clone(params)).turned(Stream::new(seed, &format!("{name}.spindle")).unit()).shaken(shaker);
        // The other half of the buffer is read-ahead's.
        let room = spec.buffer.0 / 2 / SECTOR_BYTES;
        let cached = spec.write_cache.then(|| Cached::new(WriteCache::new(room, spec.queue_policy), spec.write_cache_is));
        let mut disk = Disk::new(drive, queue, spec.queue_depth, cached);
        disk.services = Services::of(scenario);
        return Some(Device::Disk(Box::new(disk)));
    }
    if let Some(spec) = &group.ssd {
        return Some(Device::Ssd(Ssd::new(spec, seed, name)));
    }
    let flow = scenario.jobs.first().and_then(Loop::of);
    let unit = |spec| Lun::new(spec, Phase::Transfer, seed, name).limited(spec, scenario.record.interval.0, flow);
    group.lun.as_ref().map(|spec| Device::Lun(unit(spec)))
}

/// The layers that a client's request passes on its way down, in order; a layer that a scenario lacks is passed over.
const DESCENT: [LayerId; 15] = [
    LayerId::Client,
    LayerId::Network,
    LayerId::Server,
    LayerId::Protocol,
    LayerId::Commit,
    LayerId::Volume,
    LayerId::Zfs,
    LayerId::PageCache,
    LayerId::Controller,
    LayerId::Fanout,
    LayerId::Fleet,
    LayerId::Cluster,
    LayerId::Tier,
    LayerId::RaidCache,
    LayerId::Layout,
];

/// Whether the scenario has the layer.
fn has(scenario: &Scenario, layer: LayerId) -> bool {
    match layer {
        LayerId::Client => scenario.nfs.is_some(),
        LayerId::Network => scenario.network.is_some(),
        LayerId::Server => scenario.server.is_some(),
        LayerId::Protocol => scenario.protocol.as_ref().is_some_and(|protocol| protocol.scheduler.is_some()),
        LayerId::Commit => scenario.commit.is_some(),
        LayerId::Volume => scenario.volume.is_some(),
        LayerId::Zfs => scenario.zfs.is_some(),
        LayerId::PageCache => scenario.page_cache.is_some(),
        LayerId::Fanout => scenario.fanout.is_some(),
        LayerId::Fleet => scenario.fleet.is_some(),
        LayerId::Cluster => scenario.cluster.is_some(),
        LayerId::WriteLog => log_group(scenario).is_some() || scenario.volume.as_ref().is_some_and(|volume| volume.write_log.is_some()),
        LayerId::Controller => scenario.controller.is_some(),
        LayerId::Tier | LayerId::TierDevice => scenario.tier.is_some(),
        LayerId::RaidCache => scenario.raid_cache.is_some(),
        LayerId::Partition => scenario.partition.is_some(),
        LayerId::Layout => !is_one_device(scenario),
        LayerId::Workload | LayerId::Device => true,
    }
}

/// The log's devices of either file system.
fn write_logs(scenario: &Scenario, plan: &Plan, seed: u64) -> Vec<Device> {
    let here = |index: u32| Address { layer: LayerId::WriteLog, index: u16::try_from(index).unwrap_or(u16::MAX) }; // at most 1,024
    let of_volume = scenario.volume.as_ref().and_then(|volume| volume.write_log.as_ref());
    if let Some(spec) = of_volume {
        let log = Lun::new(spec, Phase::WriteLog, seed, "write_log").limited(spec, scenario.record.interval.0, None);
        return vec![Device::Lun(log).at(here(0))];
    }
    let Some(group) = log_group(scenario) else { return Vec::new() };
    let one = |index| device(group, index, scenario, seed, &log_name(index), plan.log_drive.as_ref()).map(|device| device.at(here(index)));
    (0..group.count).filter_map(one).collect()
}

/// The devices of ZFS's intent logs.
pub(super) fn log_group(scenario: &Scenario) -> Option<&DeviceGroup> {
    scenario.zfs.as_ref().and_then(|zfs| zfs.log.devices.as_ref())
}

pub(super) fn log_name(index: u32) -> String {
    format!("log{index}")
}

/// The first layer of the scenario at or below `layer`.
fn from(scenario: &Scenario, layer: LayerId) -> Address {
    let below = DESCENT.iter().skip_while(|other| **other != layer);
    Address::of(below.copied().find(|layer| has(scenario, *layer)).unwrap_or(LayerId::Device))
}

/// Whether the layout is one device as it is: requests need not pass it, which spares each an event.
fn is_one_device(scenario: &Scenario) -> bool {
    let devices: u32 = scenario.devices.iter().map(|group| group.count).sum();
    devices == 1 && scenario.cluster.is_none() && matches!(scenario.layout.kind, LayoutKind::Stripe | LayoutKind::Concat)
}

/// The regions of the jobs of these names.
fn regions(scenario: &Scenario, plan: &Plan, names: &[String]) -> Vec<Range> {
    let mut regions = Vec::new();
    for name in names {
        regions.extend(plan.workers.iter().filter(|worker| scenario.jobs[worker.job].name == *name).map(|worker| worker.region));
    }
    // Workers that share a file have one region among them.
    regions.dedup();
    regions
}

fn volume(scenario: &Scenario, plan: &Plan) -> Option<Volume> {
    let spec = scenario.volume.as_ref()?;
    let primed = spec.cache.as_ref().map_or_else(Vec::new, |cache| regions(scenario, plan, &cache.primed));
    let file_ends = plan.workers.iter().map(|worker| worker.region.end).collect();
    Some(Volume::new(spec, from(scenario, LayerId::Controller), file_ends, &primed))
}

fn page_cache(scenario: &Scenario, plan: &Plan) -> Option<PageCache> {
    let spec = scenario.page_cache.as_ref()?;
    Some(PageCache::new(spec, scenario, plan, from(scenario, LayerId::Controller)))
}

/// ZFS schedules each device on its own where it sees them; a controller, its cache, a cluster or a tier hides them.
fn zfs(scenario: &Scenario, plan: &Plan) -> Option<ZfsVolume> {
    let spec = scenario.zfs.as_ref()?;
    let hides = [scenario.controller.is_some(), scenario.cluster.is_some(), scenario.tier.is_some(), scenario.raid_cache.is_some()];
    let below = if hides.contains(&true) {
        Below::Layer(from(scenario, LayerId::Controller))
    } else {
        let count = u16::try_from(plan.device_capacities.len()).unwrap_or(u16::MAX); // as for the devices themselves
        Below::Devices(Layout::new(&scenario.layout, plan.device_capacities.clone(), &plan.rotating), count)
    };
    let jobs: Vec<usize> = plan.workers.iter().map(|worker| worker.job).collect();
    let interval_ns = scenario.record.interval.0;
    let each = |group: &DeviceGroup| std::iter::repeat_n(group.is_volatile(), group.count as usize);
    let pool: Vec<bool> = match &below {
        Below::Layer(_) => vec![scenario.devices.iter().any(DeviceGroup::is_volatile)],
        Below::Devices(..) => scenario.devices.iter().flat_map(each).collect(),
    };
    let volatile = pool.into_iter().chain(spec.log.devices.iter().flat_map(each));
    let volume = ZfsVolume::new(spec, below, plan.capacity, interval_ns).with_logs(&spec.log, plan.log_capacity, &jobs).flushing(volatile);
    let devices = plan.device_capacities.len();
    let cache =
        (devices..plan.device_names.len()).map(|index| Address { layer: LayerId::Device, index: u16::try_from(index).unwrap_or(u16::MAX) });
    Some(volume.reading(spec, files(scenario, plan, spec), cache, interval_ns))
}

/// The files of a scenario as the read side of ZFS sees them.
fn files(scenario: &Scenario, plan: &Plan, spec: &ZfsSpec) -> Files {
    let places = plan.files();
    let number = |file: &Range| places.partition_point(|place| place.start < file.start);
    let worker = |worker: &WorkerPlan| File { number: number(&worker.file), job: worker.job, place: worker.file };
    Files {
        of_worker: plan.workers.iter().map(worker).collect(),
        count: places.len(),
        jobs: scenario.jobs.len(),
        metadata: spec.arc.as_ref().map_or_else(Vec::new, |arc| regions(scenario, plan, &arc.metadata)),
        bytes: places.iter().map(|place| place.end - place.start).sum(),
    }
}

fn cluster(scenario: &Scenario, plan: &Plan, seed: u64) -> Option<Cluster> {
    let spec = scenario.cluster.as_ref()?;
    let mut files: Vec<(u64, usize)> = plan.workers.iter().map(|worker| (worker.region.start, worker.job)).collect();
    files.sort_unstable();
    files.dedup_by_key(|(start, _)| *start);
    Some(Cluster::new(Setting {
        spec,
        names: scenario.jobs.iter().map(|job| job.name.clone()).collect(),
        files,
        bytes: plan.placed_bytes(scenario),
        span: plan.node_capacity,
        below: from(scenario, LayerId::Tier),
        seed,
        interval_ns: scenario.record.interval.0,
    }))
}

/// The layout of each node of a cluster, or one.
fn layouts(scenario: &Scenario, plan: &Plan) -> Vec<Layout> {
    let layouts = node_layouts(scenario, plan);
    let each = plan.device_capacities.len() / layouts.len().max(1);
    let node = |(node, layout): (usize, Layout)| {
        let index = u16::try_from(node).unwrap_or(u16::MAX); // at most 256 nodes
        layout.at(index, u16::try_from(node * each).unwrap_or(u16::MAX), u64::from(index) * plan.node_capacity)
    };
    layouts.into_iter().enumerate().map(node).collect()
}

fn tier(scenario: &Scenario, plan: &Plan) -> Option<Tier> {
    let spec = scenario.tier.as_ref()?;
    let kept: Vec<String> = spec.primed.iter().filter(|name| !spec.evicted.contains(name)).cloned().collect();
    let block = scenario.volume.as_ref().map_or(scenario.layout.unit, |volume| volume.block);
    Some(
        Tier::new(block.0, spec.size.0, spec.policy, spec.admit, &regions(scenario, plan, &kept), from(scenario, LayerId::RaidCache))
            .over(plan.node_capacity.max(1)),
    )
}

fn raid_cache(scenario: &Scenario, seed: u64) -> Option<RaidCache> {
    let spec = scenario.raid_cache.as_ref()?;
    let is_volatile = scenario.devices.iter().any(DeviceGroup::is_volatile);
    Some(RaidCache::new(spec, from(scenario, LayerId::Layout), is_volatile, scenario.record.interval.0, seed))
}

/// All layers of a scenario.
pub(super) fn layers(scenario: &Scenario, plan: &Plan, seed: u64) -> Layers {
    // Copy engines sit below the protocol's scheduler; clients come in at the top, as do the commands for the engines.
    let entry = |job: &Job| from(scenario, if job.rw.is_offloaded() && scenario.network.is_none() { LayerId::Volume } else { DESCENT[0] });
    let clients: Vec<usize> = scenario.network.as_ref().map_or_else(Vec::new, |spec| {
        plan.workers.iter().enumerate().map(|(worker, planned)| spec.client_of(worker, planned.job)).collect()
    });
    let client = scenario.nfs.as_ref().map(|spec| Client::new(spec, scenario, plan, &clients, from(scenario, LayerId::Network)));
    let network = scenario.network.as_ref().map(|spec| {
        let engine = if scenario.server.is_some() { LayerId::Server } else { LayerId::Volume };
        Network::new(spec, clients, from(scenario, LayerId::Server), from(scenario, engine), seed)
    });
    let server = scenario
        .server
        .as_ref()
        .zip(scenario.network.as_ref())
        .map(|(spec, network)| Server::new(spec, network, from(scenario, LayerId::Protocol), from(scenario, LayerId::Volume)));
    let mut devices = Vec::new();
    for (group, drive) in scenario.devices.iter().zip(&plan.drives) {
        for nth in 0..group.count {
            let index = u16::try_from(devices.len()).unwrap_or(u16::MAX); // at most 64 groups of 1,024 devices less one
            devices.extend(
                device(group, nth, scenario, seed, &plan.device_names[devices.len()], drive.as_ref())
                    .map(|device| device.at(Address { layer: LayerId::Device, index })),
            );
        }
    }
    for (index, name) in plan.device_names.iter().enumerate().skip(devices.len()) {
        let address = Address { layer: LayerId::Device, index: u16::try_from(index).unwrap_or(u16::MAX) };
        let group = scenario.zfs.as_ref().and_then(|zfs| zfs.l2arc.as_ref()).map(|l2arc| &l2arc.device);
        devices.extend(group.and_then(|group| device(group, 0, scenario, seed, name, None)).map(|device| device.at(address)));
    }
    let scheduler = scenario.protocol.as_ref().and_then(|protocol| {
        protocol.scheduler.as_ref().map(|spec| Scheduler::new(protocol, spec, from(scenario, LayerId::Volume), plan.workers.len()))
    });
    Layers {
        workload: Workload::new(scenario, plan, seed, entry),
        client,
        network,
        server,
        scheduler,
        commit: scenario.commit.as_ref().map(|spec| Commit::new(spec, from(scenario, LayerId::Volume), seed)),
        volume: volume(scenario, plan),
        zfs: zfs(scenario, plan),
        page_cache: page_cache(scenario, plan),
        cluster: cluster(scenario, plan, seed),
        controller: scenario.controller.as_ref().map(|spec| Controller::new(spec, plan, from(scenario, LayerId::Fanout), seed)),
        write_logs: write_logs(scenario, plan, seed),
        fanout: Fanout::of(scenario, seed),
        fleet: scenario.fleet.as_ref().map(|spec| Fleet::new(spec, seed)),
        tier: tier(scenario, plan),
        tier_device: scenario.tier.as_ref().map(|tier| Device::Ssd(Ssd::new(&tier.ssd, seed, "tier")).at(Address::of(LayerId::TierDevice))),
        raid_cache: raid_cache(scenario, seed),
        partitions: scenario.partition.as_ref().map(Partitions::new),
        layouts: layouts(scenario, plan),
        devices,
    }
}
