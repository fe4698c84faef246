//! Builds ZFS over the devices that it sees, or over the layer that hides them.

use seeklab_spec::zfs::ZfsSpec;
use seeklab_spec::{Bytes, DeviceGroup, LayoutKind};

use super::reader::{File, Files};
use super::{Below, Zfs};
use crate::kernel::{Address, LayerId};
use crate::layers::layout::Layout;
use crate::layers::zfs::compression::Stored;
use crate::plan::WorkerPlan;
use crate::range::Range;
use crate::setup::Setup;

/// ZFS schedules each device on its own where it sees them, which is where no layer but the layout is in between.
pub(super) fn volume(spec: &ZfsSpec, setup: &Setup) -> Zfs {
    let (scenario, plan) = (setup.scenario, setup.plan);
    let next = setup.below(LayerId::Zfs);
    let mut layout = scenario.layout.clone();
    if matches!(layout.kind, LayoutKind::RaidZ | LayoutKind::Draid) && layout.unit == spec.record {
        // A stripe is a record as it is stored.
        layout.unit = Bytes(Stored::new(spec.compression.as_ref(), spec.record.0, 1 << layout.ashift).bytes);
    }
    let below = if matches!(next.layer, LayerId::Layout | LayerId::Device) {
        let count = u16::try_from(plan.device_capacities.len()).unwrap_or(u16::MAX); // as for the devices themselves
        Below::Devices(Box::new(Layout::new(&layout, plan.device_capacities.clone(), &plan.rotating)), count)
    } else {
        Below::Layer(next)
    };
    let jobs: Vec<usize> = plan.workers.iter().map(|worker| worker.job).collect();
    let each = |group: &DeviceGroup| std::iter::repeat_n(group.is_volatile(), group.count as usize);
    let pool: Vec<bool> = match &below {
        Below::Layer(_) => vec![scenario.devices.iter().any(DeviceGroup::is_volatile)],
        Below::Devices(..) => scenario.devices.iter().flat_map(each).collect(),
    };
    let volatile = pool.into_iter().chain(spec.log.devices.iter().flat_map(each));
    let interval_ns = setup.interval_ns();
    let volume = Zfs::new(spec, below, plan.capacity, interval_ns).on_host(scenario.host.as_ref(), spec.cores);
    let volume = volume.with_logs(&spec.log, plan.log_capacity, &jobs).flushing(volatile);
    let volume = volume.scrubbed_by(spec).filled(spec, setup.seed);
    let reads = scenario.jobs.iter().any(|job| job.rw.reads());
    let volume = if reads { volume.remembering(&plan.files()) } else { volume };
    let devices = plan.device_capacities.len();
    let cache =
        (devices..plan.device_names.len()).map(|index| Address { layer: LayerId::Device, index: u16::try_from(index).unwrap_or(u16::MAX) });
    volume.reading(spec, files(spec, setup), cache, interval_ns)
}

/// The files of a scenario as the read side sees them.
fn files(spec: &ZfsSpec, setup: &Setup) -> Files {
    let places = setup.plan.files();
    let number = |file: &Range| places.partition_point(|place| place.start < file.start);
    let worker = |worker: &WorkerPlan| File { number: number(&worker.file), job: worker.job, place: worker.file };
    Files {
        of_worker: setup.plan.workers.iter().map(worker).collect(),
        count: places.len(),
        jobs: setup.scenario.jobs.len(),
        metadata: spec.arc.as_ref().map_or_else(Vec::new, |arc| setup.regions(&arc.metadata)),
        bytes: places.iter().map(|place| place.end - place.start).sum(),
    }
}
