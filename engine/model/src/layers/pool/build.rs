//! Builds devices and layouts from a plan.

use std::sync::Arc;

use seeklab_kernel::Stream;
use seeklab_spec::{DeviceGroup, Scenario};

use crate::kernel::{Address, LayerId, Phase};
use crate::layers::device::Device;
use crate::layers::device::disk::{Cached, Disk, SECTOR_BYTES};
use crate::layers::device::hdd::shake::Shaker;
use crate::layers::device::hdd::{DriveQueue, Hdd, Params, WriteCache};
use crate::layers::device::lun::Lun;
use crate::layers::device::services::Services;
use crate::layers::device::ssd::Ssd;
use crate::layers::layout::Layout;
use crate::plan::node_layouts;
use crate::result::flow::Loop;
use crate::setup::Setup;

/// The `nth` device of a group.
pub(super) fn device(group: &DeviceGroup, nth: u32, setup: &Setup, name: &str, drive: Option<&Arc<Params>>) -> Option<Device> {
    let (scenario, seed) = (setup.scenario, setup.seed);
    if let (Some(spec), Some(params)) = (&group.hdd, drive) {
        let queue = DriveQueue::new(spec.queue_policy, Some(spec.longest_overtaken.0)).planned(spec.queue_planned);
        let shake = spec.shake.as_ref().filter(|shake| shake.disks.is_empty() || shake.disks.contains(&nth));
        let shaker = shake.map(|shake| Shaker::new(shake, Stream::new(seed, &format!("{name}.shake"))));
        let mut spindle = Stream::new(seed, &format!("{name}.spindle"));
        let start_turns = spindle.unit();
        // The first one has the speed of the sheet: only differences matter.
        let is_first = setup.plan.device_names.first().is_some_and(|first| first == name) || *name == log_name(0);
        let params = if is_first { Arc::clone(params) } else { Arc::new(params.slower_by(spindle.unit())) };
        let drive = Hdd::new(params).turned(start_turns).shaken(shaker);
        // The other half of the buffer is read-ahead's.
        let room = spec.buffer.0 / 2 / SECTOR_BYTES;
        let order = spec.destage_policy.unwrap_or(spec.queue_policy);
        let cached = spec.write_cache.then(|| Cached::new(WriteCache::new(room, spec.destage_pool, order), spec.write_cache_is));
        let mut disk = Disk::new(drive, queue, spec.queue_depth, cached);
        disk.services = Services::of(scenario);
        return Some(Device::Disk(Box::new(disk)));
    }
    if let Some(spec) = &group.ssd {
        return Some(Device::Ssd(Ssd::new(spec, seed, name)));
    }
    let flow = scenario.jobs.first().and_then(Loop::of);
    let unit = |spec| Lun::new(spec, Phase::Transfer, seed, name).limited(spec, setup.interval_ns(), flow);
    group.lun.as_ref().map(|spec| Device::Lun(unit(spec)))
}

/// A cache device of ZFS.
pub(super) fn cache_device(setup: &Setup, name: &str) -> Option<Device> {
    let group = &setup.scenario.zfs.as_ref()?.l2arc.as_ref()?.device;
    device(group, 0, setup, name, None)
}

/// The log's devices of either file system.
pub(super) fn write_logs(setup: &Setup) -> Vec<Device> {
    let here = |index: u32| Address { layer: LayerId::WriteLog, index: u16::try_from(index).unwrap_or(u16::MAX) }; // at most 1,024
    let of_volume = setup.scenario.volume.as_ref().and_then(|volume| volume.write_log.as_ref());
    if let Some(spec) = of_volume {
        let log = Lun::new(spec, Phase::WriteLog, setup.seed, "write_log").limited(spec, setup.interval_ns(), None);
        return vec![Device::Lun(log).at(here(0))];
    }
    let Some(group) = log_group(setup.scenario) else { return Vec::new() };
    let one = |index| device(group, index, setup, &log_name(index), setup.plan.log_drive.as_ref()).map(|device| device.at(here(index)));
    (0..group.count).filter_map(one).collect()
}

/// The devices of ZFS's intent logs.
pub(super) fn log_group(scenario: &Scenario) -> Option<&DeviceGroup> {
    scenario.zfs.as_ref().and_then(|zfs| zfs.log.devices.as_ref())
}

pub(super) fn log_name(index: u32) -> String {
    format!("log{index}")
}

/// The layout of each node of a cluster, or one.
pub(super) fn layouts(setup: &Setup) -> Vec<Layout> {
    let layouts = node_layouts(setup.scenario, setup.plan);
    let each = setup.plan.device_capacities.len() / layouts.len().max(1);
    let node = |(node, layout): (usize, Layout)| {
        let index = u16::try_from(node).unwrap_or(u16::MAX); // at most 256 nodes
        layout.at(index, u16::try_from(node * each).unwrap_or(u16::MAX), u64::from(index) * setup.plan.node_capacity)
    };
    layouts.into_iter().enumerate().map(node).collect()
}
