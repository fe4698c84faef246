//! Checks of jobs that trim: they must address drives with flash translation directly, because no layer in between passes a TRIM on.

use seeklab_spec::{AddProblem, Bytes, DeviceGroup, Job, LayoutKind, Path, Problems, Scenario};

use crate::layers::device::ssd;
use crate::layers::table::between;
use crate::plan::Plan;

/// Adds what keeps a job's trims from its devices.
pub fn check_job(job: &Job, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if !job.rw.trims() {
        return;
    }
    if let Some(layer) = between(scenario).next() {
        problems.add(
            at.field("rw"),
            format!("trims need devices that jobs address directly, but {layer} does not pass trims on; drop {layer}, or read and write"),
        );
    }
    if matches!(scenario.layout.kind, LayoutKind::Raid5 | LayoutKind::Raid6 | LayoutKind::RaidZ | LayoutKind::Draid) {
        problems.add(
            at.field("rw"),
            "layouts with parity do not pass trims on; write layout.kind \"stripe\", \"concat\" or \"mirror\", or read and write",
        );
    }
    for (index, group) in scenario.devices.iter().enumerate() {
        if let Some(what) = without_trim(group) {
            problems.add(
                at.field("rw"),
                format!(
                    "devices[{index}] is {what}, which has no TRIM; write a solid-state drive with flash, a lun with slc, or read and write"
                ),
            );
        }
    }
}

/// Return the name of a device without TRIM.
fn without_trim(group: &DeviceGroup) -> Option<&'static str> {
    if group.lun.as_ref().is_some_and(|unit| unit.slc.is_some()) {
        return None;
    }
    match (&group.ssd, &group.hdd) {
        (Some(ssd), _) if ssd.flash.is_some() => None,
        (Some(_), _) => Some("a solid-state drive without flash translation"),
        (None, Some(_)) => Some("a disk"),
        (None, None) => Some("a logical unit"),
    }
}

/// A TRIM of more than the simulated part of a drive would give up all of it, for addresses beyond the part fold back onto it.
pub fn check_regions(scenario: &Scenario, plan: &Plan, problems: &mut Problems) {
    let drives = scenario.devices.iter().filter_map(|group| Some((group.ssd.as_ref()?, u64::from(group.count))));
    let (smallest, count) = drives.fold((u64::MAX, 0), |(least, count), (ssd, more)| (least.min(ssd::simulated_bytes(ssd)), count + more));
    if count == 0 {
        return; // a lun with slc has all of its addresses
    }
    let apart = match scenario.layout.kind {
        LayoutKind::Stripe => count,
        LayoutKind::Mirror => count / scenario.layout.width.map_or(count, u64::from).max(1),
        LayoutKind::Concat | LayoutKind::Raid5 | LayoutKind::Raid6 | LayoutKind::RaidZ | LayoutKind::Draid => 1,
    };
    let most = smallest.saturating_mul(apart);
    for (index, _) in scenario.jobs.iter().enumerate().filter(|(_, job)| job.rw.trims()) {
        let length = plan.workers.iter().filter(|worker| worker.job == index).map(|worker| worker.region.end - worker.region.start).max();
        let job = &scenario.jobs[index];
        let reach = job.number_ios.filter(|_| !job.rw.is_random() && job.nrfiles == 1 && job.stride.is_none() && job.zones.is_none());
        let length = length.map(|length| reach.map_or(length, |ios| length.min(ios.saturating_mul(job.max_request_bytes()))));
        if let Some(length) = length.filter(|length| *length > most) {
            problems.add(
                Path::root().index("jobs", index).field("size"),
                format!(
                    "trims {}, but only {} of the drives are simulated, and addresses beyond that wrap around; write a size of at most {most} bytes, or a larger ssd.flash.mapped",
                    Bytes(length),
                    Bytes(most)
                ),
            );
        }
    }
}
