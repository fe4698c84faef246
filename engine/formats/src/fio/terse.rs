//! fio's terse output, version 3: one line for each job, fields between semicolons, as fio 3.33 prints them.
//!
//! Latencies are in microseconds, rates in KiB/s. Three percentiles that fio could print besides its seventeen are empty, as there.

use super::report::{
    CLASS_FLOOR, Direction, JobReport, LEVEL_FLOOR, Latency, Report, group_rate, milliseconds, per_second, share_of_group, visible_percent,
};

/// Version of the format.
const VERSION: u32 = 3;
/// Percentiles that a line has room for.
const PERCENTILES_MAX: usize = 20;

/// The report as fio prints it with `--output-format=terse`.
#[must_use]
pub fn terse(report: &Report) -> String {
    let jobs = report.merged();
    let mut lines = String::new();
    for job in &jobs {
        let group: Vec<&JobReport> = jobs.iter().filter(|other| other.spec.group == job.spec.group).collect();
        lines.push_str(&line(job, &group, report).join(";"));
        lines.push('\n');
    }
    lines
}

fn line(job: &JobReport, group: &[&JobReport], report: &Report) -> Vec<String> {
    let mut fields =
        vec![VERSION.to_string(), report.version.clone(), job.spec.name.clone(), job.spec.group.to_string(), job.error.to_string()];
    for (_, part) in job.parts().into_iter().filter(|(name, _)| *name != "trim") {
        direction(job, part(job), group_rate(group.iter().map(|job| part(job))), &mut fields);
    }
    fields.extend(["0.000000%", "0.000000%", "0", "0", "0"].map(str::to_owned));
    let total: u64 = job.depths.iter().sum();
    fields.extend(job.depths.iter().map(|count| format!("{:3.1}%", visible_percent(*count, total, LEVEL_FLOOR))));
    let classes = job.latency_classes();
    let mut below_ms = classes.us;
    below_ms[0] += classes.ns.iter().sum::<u64>();
    let all = job.total_ios();
    let share = |count: &u64| format!("{:3.2}%", visible_percent(*count, all, CLASS_FLOOR));
    fields.extend(below_ms.iter().map(share));
    fields.extend(classes.ms.iter().map(share));
    for disk in &report.disks {
        fields.push(disk.name.clone());
        let counts = [disk.ios, disk.merges, disk.ticks_ms].into_iter().flatten().chain([disk.in_queue_ms]);
        fields.extend(counts.map(|count| count.to_string()));
        fields.push(format!("{:.2}%", disk.util_percent));
    }
    fields.extend(job.spec.description.clone());
    fields
}

fn direction(job: &JobReport, direction: &Direction, group_bytes_per_s: u64, fields: &mut Vec<String>) {
    let runtime_ms = milliseconds(direction.runtime_ns);
    let rate = |amount: u64| if runtime_ms == 0 { 0 } else { per_second(amount, runtime_ms) };
    fields
        .extend([direction.io_bytes >> 10, rate(direction.io_bytes) / 1024, rate(direction.total_ios), runtime_ms].map(|n| n.to_string()));
    latency(&Latency::default(), fields);
    latency(&direction.latency, fields);
    let percentiles = job.percentile_list();
    let values = direction.latency.percentiles(percentiles);
    fields.extend(percentiles.iter().zip(values).map(|(percentile, ns)| format!("{percentile:.6}%={}", ns / 1000)));
    fields.extend((percentiles.len()..PERCENTILES_MAX).map(|_| "0%=0".to_owned()));
    latency(&direction.latency, fields);
    let bw = &direction.bw;
    fields.extend([bw.min.to_string(), bw.max.to_string(), format!("{:.6}%", share_of_group(direction, group_bytes_per_s))]);
    fields.extend([bw.mean, bw.stddev].map(|value| format!("{value:.6}")));
}

/// Smallest, largest, mean and deviation in microseconds.
fn latency(latency: &Latency, fields: &mut Vec<String>) {
    let us = |ns: f64| format!("{:.6}", ns / 1000.0);
    let whole = |ns: u64| (ns / 1000).to_string();
    fields.extend([whole(latency.min_ns), whole(latency.max_ns), us(latency.mean_ns), us(latency.stddev_ns)]);
}
