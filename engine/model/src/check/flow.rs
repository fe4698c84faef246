//! Checks of a job that is a flow.

use crate::layers::table::between;
use seeklab_spec::{AddProblem, Job, LayoutKind, Path, Problems, Scenario};

/// Checks a job that is a flow: a closed loop on a volume with credits, and nothing else.
pub fn check(job: &Job, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    if !job.fluid {
        return;
    }
    let at = at.field("fluid");
    let volume = match &scenario.devices[..] {
        [group] if group.count == 1 => group.lun.as_ref().filter(|unit| unit.credits.is_some()),
        _ => None,
    };
    let Some(unit) = volume else {
        return problems.add(&at, "a flow runs on one device, a lun with credits; write devices[0].lun.credits, or drop it");
    };
    let parts = [
        ("partition", scenario.partition.is_some()),
        ("layout.kind", !matches!(scenario.layout.kind, LayoutKind::Stripe | LayoutKind::Concat)),
        ("monitor", scenario.monitor.is_some()),
        ("record.log", scenario.record.log),
        ("devices[0].lun.pauses", !unit.pauses.is_empty()),
        ("devices[0].lun.latency_cv", unit.latency_cv > 0.0),
        ("devices[0].lun.command", unit.command.0 > 0),
    ];
    let parts = parts.into_iter().filter(|(_, is_there)| *is_there).map(|(field, _)| field);
    if let Some(layer) = between(scenario).chain(parts).next() {
        problems.add(&at, format!("a flow has no single requests, which {layer} needs; drop {layer}, or fluid"));
    }
    if scenario.jobs.len() > 1 || job.numjobs > 1 {
        problems.add(&at, "a flow is one closed loop; write one job with numjobs 1 and the total depth in iodepth");
    }
    if !job.time_based {
        problems.add(&at, "a flow ends when its time is over; write time_based true and runtime");
    }
    let fields = [
        ("rate", job.rate.is_some()),
        ("rate_iops", job.rate_iops.is_some()),
        ("rate_each", job.rate_each.is_some()),
        ("rate_min", job.rate_min.is_some()),
        ("bsrange", job.bsrange.is_some()),
        ("bssplit", job.bssplit.is_some()),
        ("number_ios", job.number_ios.is_some()),
        ("io_size", job.io_size.is_some()),
        ("copy", job.copy.is_some() || job.rw.is_copy()),
        ("rw", job.rw.trims() || (job.rw.reads() && job.rw.writes())),
        ("verify", job.verify.is_some()),
        ("sync", job.synchronous_by().is_some()),
        ("end_fsync", job.end_fsync),
        ("flow", job.flow.is_some()),
        ("thinktime_by", job.thinktime_by.is_some()),
        ("thinktime_iotime", job.thinktime_iotime.is_some()),
        ("max_latency", job.max_latency.is_some()),
        ("latency_target", job.latency_target.is_some()),
        ("steadystate", job.steadystate.is_some()),
        ("null", job.null.is_some()),
    ];
    if let Some((field, _)) = fields.into_iter().find(|(_, is_there)| *is_there) {
        problems.add(
            &at,
            format!("a flow is a closed loop of reads or writes of one size, but {field} acts on single requests; drop {field}, or fluid"),
        );
    }
    if job.thinktime_blocks != 1 {
        problems.add(&at, format!("a flow pauses after each I/O, but thinktime_blocks is {}; write 1", job.thinktime_blocks));
    }
}
