//! The devices of a run and the layouts over them: the bottom of the stack, built from a plan.

mod build;
mod check;

use build::{cache_device, device, layouts, log_name, write_logs};
use seeklab_spec::{DeviceGroup, LayoutKind, LayoutSpec, Path, Problems, Scenario, Ssd as SsdSpec};

use super::device::{Device, Usage, report, services, ssd};
use super::layout::Layout;
use super::layout::raid::Parity;
use super::{Layer, ReportContext};
use crate::kernel::{Address, Event, Kernel, LayerId};
use crate::plan::Plan;
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;

/// The devices of a pool, and the cache devices of its file system.
pub struct Devices(pub Vec<Device>);

impl Layer for Devices {
    type Spec = [DeviceGroup];
    const FIELD: &'static str = "devices";
    const LABEL: &'static str = "Device";
    const IS_BETWEEN: bool = false;

    fn spec(scenario: &Scenario) -> Option<&[DeviceGroup]> {
        Some(&scenario.devices)
    }

    fn check(groups: &[DeviceGroup], _: &Scenario, _: &Path, problems: &mut Problems) {
        check::devices(groups, problems);
    }

    fn build(groups: &[DeviceGroup], setup: &Setup) -> Option<Self> {
        let mut devices = Vec::new();
        for (group, drive) in groups.iter().zip(&setup.plan.drives) {
            for nth in 0..group.count {
                let name = &setup.plan.device_names[devices.len()];
                devices.extend(device(group, nth, setup, name, drive.as_ref()).map(|device| device.at(place(devices.len()))));
            }
        }
        for name in &setup.plan.device_names[devices.len()..] {
            devices.extend(cache_device(setup, name).map(|device| device.at(place(devices.len()))));
        }
        Some(Self(devices))
    }

    #[inline]
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event) {
        self.0[usize::from(part)].on(kernel, event);
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        report::metrics(&self.usage(), metrics);
        if let Some(bucket) = self.0.iter().find_map(Device::bucket) {
            bucket.metrics(metrics.run.now_ns, metrics);
        }
        services::metrics(self.0.iter(), metrics);
        if let Some(cache) = self.0.iter().find_map(Device::slc) {
            cache.metrics(metrics);
        }
        if let Some(zones) = self.0.iter().find_map(Device::shingled) {
            zones.metrics(metrics);
        }
    }

    fn tables(devices: Option<&Self>, _: &ReportContext, tables: &mut Tables) {
        let devices = devices.map_or(&[][..], |devices| &devices.0);
        report::tables(devices.iter().map(Device::usage), tables);
        report::credits_tables(devices.iter(), tables);
        services::tables(devices.iter(), tables);
        report::slc_tables(devices.iter(), tables);
        report::shingled_tables(devices.iter(), tables);
    }
}

/// The address of a device of the pool.
fn place(index: usize) -> Address {
    Address { layer: LayerId::Device, index: u16::try_from(index).unwrap_or(u16::MAX) } // at most 64 groups of 1,024 devices less one
}

impl Devices {
    /// Return the work of each device so far.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        self.0.iter().map(Device::usage).collect()
    }
}

/// The devices of a file system's log.
pub struct WriteLogs {
    /// All of them.
    pub devices: Vec<Device>,
    /// Whether they have names: those of ZFS are devices of the scenario.
    is_named: bool,
}

impl Layer for WriteLogs {
    type Spec = Scenario;
    const FIELD: &'static str = "";
    const LABEL: &'static str = "Log device";
    const IS_BETWEEN: bool = false;

    fn spec(scenario: &Scenario) -> Option<&Scenario> {
        let of_volume = scenario.volume.as_ref().is_some_and(|volume| volume.write_log.is_some());
        (of_volume || build::log_group(scenario).is_some()).then_some(scenario)
    }

    fn is_passed(_: &Scenario) -> bool {
        false
    }

    fn build(scenario: &Scenario, setup: &Setup) -> Option<Self> {
        Some(Self { devices: write_logs(setup), is_named: build::log_group(scenario).is_some() })
    }

    #[inline]
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event) {
        self.devices[usize::from(part)].on(kernel, event);
    }
}

impl WriteLogs {
    /// Yield the work of each device so far.
    pub fn usage(&self) -> impl Iterator<Item = Usage> {
        self.devices.iter().map(Device::usage)
    }

    /// The devices of ZFS's intent logs by their names, with what each has done.
    pub fn named_usage(&self) -> impl Iterator<Item = (String, Usage)> {
        (0..).map(log_name).zip(self.usage()).filter(|_| self.is_named)
    }
}

/// The device of the cache tier.
pub struct TierDevice(pub Device);

impl Layer for TierDevice {
    type Spec = SsdSpec;
    const FIELD: &'static str = "tier.ssd";
    const LABEL: &'static str = "Cache device";
    const IS_BETWEEN: bool = false;

    fn spec(scenario: &Scenario) -> Option<&SsdSpec> {
        scenario.tier.as_ref().map(|tier| &tier.ssd)
    }

    fn is_passed(_: &Scenario) -> bool {
        false
    }

    fn check(spec: &SsdSpec, _: &Scenario, at: &Path, problems: &mut Problems) {
        ssd::check(spec, at, problems);
    }

    fn build(spec: &SsdSpec, setup: &Setup) -> Option<Self> {
        Some(Self(Device::Ssd(ssd::Ssd::new(spec, setup.seed, "tier")).at(Address::of(LayerId::TierDevice))))
    }

    #[inline]
    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        self.0.on(kernel, event);
    }
}

/// The layout of each node of a cluster, or one.
pub struct Layouts(pub Vec<Layout>);

impl Layer for Layouts {
    type Spec = LayoutSpec;
    const FIELD: &'static str = "layout";
    const LABEL: &'static str = "Layout";
    const IS_BETWEEN: bool = false;

    fn spec(scenario: &Scenario) -> Option<&LayoutSpec> {
        Some(&scenario.layout)
    }

    /// A layout that is one device as it is need not be passed, which spares each request an event.
    fn is_passed(scenario: &Scenario) -> bool {
        let devices: u32 = scenario.devices.iter().map(|group| group.count).sum();
        let is_one = devices == 1 && scenario.cluster.is_none();
        !is_one || !matches!(scenario.layout.kind, LayoutKind::Stripe | LayoutKind::Concat)
    }

    fn check(spec: &LayoutSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::layout(spec, scenario, at, problems);
    }

    fn check_plan(spec: &LayoutSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
        if let Some(rebuild) = &spec.rebuild {
            check::rebuild_used(rebuild, scenario, plan, &at.field("rebuild"), problems);
        }
    }

    fn build(_: &LayoutSpec, setup: &Setup) -> Option<Self> {
        Some(Self(layouts(setup)))
    }

    #[inline]
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event) {
        self.0[usize::from(part)].on(kernel, event);
    }

    fn start(&mut self, kernel: &mut Kernel) {
        self.0.iter_mut().for_each(|layout| layout.start_rebuild(kernel));
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        // A cluster has no rebuilding layouts: it loses nodes, not devices.
        if let Some(traffic) = self.0.first().and_then(Layout::rebuild_traffic) {
            traffic.metrics(metrics);
        }
        let parity = self.0.iter().filter_map(Layout::parity_traffic);
        if let Some(Parity { read_bytes, bitmap_writes }) = parity.reduce(|sum, more| Parity {
            read_bytes: sum.read_bytes + more.read_bytes,
            bitmap_writes: sum.bitmap_writes + more.bitmap_writes,
        }) {
            metrics.bytes("parity_read_bytes", "Bytes that RAID-5 or RAID-6 read before it could write parity.", read_bytes);
            metrics.count("bitmap_writes", "Changes of the write-intent bitmap that were written to all devices.", bitmap_writes);
        }
    }
}
