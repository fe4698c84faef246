//! Checks of devices, their layout and its rebuild against their scenario.

use seeklab_spec::rebuild::RebuildSpec;
use seeklab_spec::{AddProblem, DeviceGroup, LayoutKind, LayoutSpec, Path, Problems, Scenario};

use crate::layers::device::ssd;
use crate::layers::layout::{draid, raid};
use crate::plan::Plan;
use crate::rules::SECTOR;

/// Chunks whose places are sorted at a time cost memory.
const MAX_SORTED: u64 = 1 << 24;

/// Adds what is wrong with the devices of a scenario beyond their schema.
pub fn devices(groups: &[DeviceGroup], problems: &mut Problems) {
    for (index, group) in groups.iter().enumerate() {
        if let Some(spec) = &group.ssd {
            ssd::check(spec, &Path::root().index("devices", index).field("ssd"), problems);
        }
    }
    let again = |(index, group): &(usize, &DeviceGroup)| groups[..*index].iter().any(|other| other.name == group.name);
    if let Some(name) = groups.iter().enumerate().find(again).map(|(_, group)| &group.name) {
        problems.add(Path::root().field("devices"), format!("two groups have the name \"{name}\"; names must differ"));
    }
}

/// Adds what is wrong with the layout at `at` beyond its schema.
pub fn layout(layout: &LayoutSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if !layout.unit.0.is_multiple_of(SECTOR) {
        problems.add(at.field("unit"), format!("{} is not a multiple of a sector of {SECTOR} bytes", layout.unit.0));
    }
    if layout.spares > 0 && layout.kind != LayoutKind::Draid {
        problems.add(at.field("spares"), "only dRAID has distributed spares; write layout.kind \"draid\", or drop it");
    }
    if raid::parity(layout.kind).is_none() && layout.write_intent.is_some() {
        problems.add(
            at.field("write_intent"),
            "only RAID-5 and RAID-6 have a write-intent bitmap; write layout.kind \"raid5\" or \"raid6\", or drop it",
        );
    }
    check_groups(layout, scenario, at, problems);
    if layout.rebuild.is_some() {
        if layout.kind == LayoutKind::Draid {
            problems.add(at.field("rebuild"), "is not modelled for dRAID; drop it");
        }
        check_rebuild(scenario, &at.field("rebuild"), problems);
    }
}

/// Adds what is wrong with the groups of a layout at `at`, and with what they lost.
fn check_groups(layout: &LayoutSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    let devices: u32 = scenario.devices.iter().map(|group| group.count).sum();
    let (width, is_draid) = (draid::width(layout, devices.into()), layout.kind == LayoutKind::Draid);
    if let Some(index) = layout.failed.iter().position(|failed| *failed >= devices) {
        problems
            .add(at.index("failed", index), format!("{} is not a device; the {devices} devices are numbered from 0", layout.failed[index]));
    }
    let spares = match layout.kind {
        LayoutKind::Mirror => width.saturating_sub(1),
        LayoutKind::RaidZ | LayoutKind::Draid => layout.parity,
        LayoutKind::Raid5 => 1,
        LayoutKind::Raid6 => 2,
        LayoutKind::Stripe | LayoutKind::Concat => {
            if !layout.failed.is_empty() {
                problems.add(at.field("failed"), "a stripe or concatenation has no second copy, so data would be lost");
            }
            return;
        }
    };
    let least = if layout.kind == LayoutKind::Mirror { 2 } else { spares + 1 + u32::from(raid::parity(layout.kind).is_some()) };
    if width < least {
        problems.add(at.field("width"), format!("{width} devices in a group are too few; this layout needs at least {least}"));
    } else if is_draid && width > devices.saturating_sub(layout.spares) {
        problems
            .add(at.field("width"), format!("{width} devices in a group are too many for {devices} devices less {} spares", layout.spares));
    } else if !is_draid && !devices.is_multiple_of(width) {
        problems.add(at.field("width"), format!("{devices} devices cannot form whole groups of {width}"));
    } else if matches!(layout.kind, LayoutKind::RaidZ | LayoutKind::Draid) && !layout.unit.0.is_multiple_of(1 << layout.ashift) {
        problems.add(
            at.field("unit"),
            format!("a record of {} is not a multiple of the sector of {} bytes", layout.unit, 1u64 << layout.ashift),
        );
    } else {
        let group_of = if is_draid { devices } else { width }; // a stripe of dRAID may be anywhere
        for group in 0..devices / group_of {
            let lost = layout.failed.iter().filter(|failed| **failed / group_of == group).count();
            if lost > spares as usize {
                problems.add(
                    at.field("failed"),
                    format!("group {group} lost {lost} devices but survives only {spares}; its data would be lost"),
                );
            }
        }
    }
}

/// Adds what is wrong with the rebuild at `at`, beyond its schema and the layout's own rules.
fn check_rebuild(scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if let Some(spec) = &scenario.layout.rebuild
        && spec.sorted.0 / spec.chunk.0.max(scenario.layout.unit.0).max(1) > MAX_SORTED
    {
        problems.add(at.field("sorted"), format!("is more than {MAX_SORTED} chunks; write larger chunks, or order \"address\""));
    }
    if scenario.layout.failed.is_empty() {
        problems.add(at, "has no failed device to rebuild; name one in layout.failed, or drop rebuild");
    }
}

/// Adds a job that works beyond what the rebuild at `at` is told is in use.
pub fn rebuild_used(spec: &RebuildSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
    let used = spec.used.of(plan.capacity);
    if used > plan.capacity {
        let message = format!("{used} bytes exceed the {} bytes that the layout holds", plan.capacity);
        problems.add(at.field("used"), message);
    } else if let Some(worker) = plan.workers.iter().find(|worker| worker.region.end > used) {
        let message = format!(
            "says that {used} bytes are in use, but the job \"{}\" uses bytes up to {}; write at least that",
            scenario.jobs[worker.job].name, worker.region.end
        );
        problems.add(at.field("used"), message);
    }
}
