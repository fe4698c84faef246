//! fio's JSON output: the fields of fio 3.33, in its order and layout.

use seeklab_spec::to_f64;
use std::fmt::Write as _;

use super::normal::TIME;
use super::report::{
    BATCH_LEVELS, CLASS_BOUNDS, CLASS_FLOOR, DEPTH_LEVELS, Direction, JobReport, LEVEL_FLOOR, Latency, Part, Report, Samples, Steady,
    Unified, group_rate, milliseconds, per_second, share_of_group, visible_percent,
};

/// A JSON value in fio's style: numbers are either integers or have six decimals.
enum Node {
    Integer(u64),
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

use Node::{Integer, Object, Real, Text};

/// Whether the bins of latencies are printed, as with `--output-format=json+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// No.
    Without,
    /// Yes.
    With,
}

/// The report as fio prints it with `--output-format=json`, or `json+` with bins.
#[must_use]
pub fn json(report: &Report, bins: Bins) -> String {
    let jobs = report.merged();
    let mut top = vec![
        field("fio version", Text(report.version.clone())),
        field("timestamp", Integer(0)),
        field("timestamp_ms", Integer(0)),
        field("time", Text(TIME.to_owned())),
    ];
    if !report.global_options.is_empty() {
        top.push(field("global options", options(&report.global_options)));
    }
    let elapsed_s = report.elapsed_ns.div_ceil(1_000_000_000);
    let entry = |job: &JobReport| {
        let group: Vec<&JobReport> = jobs.iter().filter(|other| other.spec.group == job.spec.group).collect();
        job_node(job, &group, elapsed_s, bins)
    };
    top.push(field("jobs", Node::List(jobs.iter().map(entry).collect())));
    if !report.disks.is_empty() {
        let disks = report.disks.iter().map(|disk| {
            Object(vec![
                field("name", Text(disk.name.clone())),
                field("read_ios", Integer(disk.ios[0])),
                field("write_ios", Integer(disk.ios[1])),
                field("read_merges", Integer(disk.merges[0])),
                field("write_merges", Integer(disk.merges[1])),
                field("read_ticks", Integer(disk.ticks_ms[0])),
                field("write_ticks", Integer(disk.ticks_ms[1])),
                field("in_queue", Integer(disk.in_queue_ms)),
                field("util", Real(disk.util_percent)),
            ])
        });
        top.push(field("disk_util", Node::List(disks.collect())));
    }
    let mut text = String::new();
    print(&Object(top), 0, &mut text);
    text.push('\n');
    text
}

fn field(name: impl Into<String>, node: Node) -> (String, Node) {
    (name.into(), node)
}

/// Options as an object; of several with one name, the last counts.
fn options(options: &[(String, String)]) -> Node {
    let last = |(index, (name, value)): (usize, &(String, String))| {
        let again = options.iter().skip(index + 1).any(|(other, _)| other == name);
        (!again).then(|| field(name, Text(value.clone())))
    };
    Object(options.iter().enumerate().filter_map(last).collect())
}

fn job_node(job: &JobReport, group: &[&JobReport], elapsed_s: u64, bins: Bins) -> Node {
    let total = job.total_ios();
    let classes = job.latency_classes();
    let batches = || levels(BATCH_LEVELS, [0, total, 0, 0, 0, 0, 0]);
    let mut fields = vec![
        field("jobname", Text(job.spec.name.clone())),
        field("groupid", Integer(job.spec.group.into())),
        field("error", Integer(job.error.into())),
        field("eta", Integer(0)),
        field("elapsed", Integer(elapsed_s)),
        field("job options", options(&job.spec.options)),
    ];
    let part =
        |(name, part): (&'static str, Part)| field(name, direction(job, part(job), group_rate(group.iter().map(|job| part(job))), bins));
    let sync = vec![field("total_ios", Integer(job.syncs)), field("lat_ns", latency(&Latency::default(), None, Bins::Without))];
    let mut parts: Vec<(String, Node)> = job.parts().into_iter().map(part).collect();
    if job.spec.unified != Unified::Mixed {
        parts.insert(3, field("sync", Object(sync)));
    }
    fields.extend(parts);
    fields.extend([
        field("job_runtime", Integer(milliseconds(job.job_runtime_ns))),
        field("usr_cpu", Real(0.0)),
        field("sys_cpu", Real(0.0)),
        field("ctx", Integer(0)),
        field("majf", Integer(0)),
        field("minf", Integer(0)),
        field("iodepth_level", levels(DEPTH_LEVELS, job.depths)),
        field("iodepth_submit", batches()),
        field("iodepth_complete", batches()),
        field("latency_ns", class_node(&classes.ns, total)),
        field("latency_us", class_node(&classes.us, total)),
        field("latency_ms", class_node(&classes.ms, total)),
        field("latency_depth", Integer(job.target.map_or(job.spec.iodepth, |target| target.depth).into())),
        field("latency_target", Integer(job.target.map_or(0, |target| target.target_ns))),
        field("latency_percentile", Real(job.target.map_or(100.0, |target| target.percent))),
        field("latency_window", Integer(job.target.map_or(0, |target| target.window_us))),
    ]);
    fields.extend(job.steady.as_ref().map(|steady| field("steadystate", steady_node(steady))));
    if let Some(description) = &job.spec.description {
        fields.push(field("desc", Text(description.clone())));
    }
    Object(fields)
}

fn steady_node(steady: &Steady) -> Node {
    let list = |values: &[u64]| Node::List(values.iter().map(|value| Integer(*value)).collect());
    let mean = |values: &[u64]| values.iter().sum::<u64>() / (values.len() as u64).max(1);
    let data = vec![
        field("bw_mean", Integer(mean(&steady.bw))),
        field("iops_mean", Integer(mean(&steady.iops))),
        field("iops", list(&steady.iops)),
        field("bw", list(&steady.bw)),
    ];
    Object(vec![
        field("ss", Text(steady.criterion.clone())),
        field("duration", Integer(steady.duration_s)),
        field("attained", Integer(steady.attained.into())),
        field("criterion", Text(format!("{:.6}%", steady.value_percent))),
        field("max_deviation", Real(steady.max_deviation)),
        field("slope", Real(steady.slope)),
        field("data", Object(data)),
    ])
}

fn direction(job: &JobReport, direction: &Direction, group_bytes_per_s: u64, bins: Bins) -> Node {
    let [of_all, of_completion] = job.spec.percentiles.map(|printed| printed.then(|| job.percentile_list()));
    let runtime_ms = milliseconds(direction.runtime_ns);
    let bw_bytes = if runtime_ms == 0 { 0 } else { per_second(direction.io_bytes, runtime_ms) };
    let iops = if runtime_ms == 0 { 0.0 } else { 1000.0 * to_f64(direction.total_ios) / to_f64(runtime_ms) };
    let mut fields = vec![
        field("io_bytes", Integer(direction.io_bytes)),
        field("io_kbytes", Integer(direction.io_bytes >> 10)),
        field("bw_bytes", Integer(bw_bytes)),
        field("bw", Integer(bw_bytes / 1024)),
        field("iops", Real(iops)),
        field("runtime", Integer(runtime_ms)),
        field("total_ios", Integer(direction.total_ios)),
        field("short_ios", Integer(0)),
        field("drop_ios", Integer(0)),
        field("slat_ns", latency(&Latency::default(), None, Bins::Without)),
        field("clat_ns", latency(&direction.latency, of_completion, bins)),
        field("lat_ns", latency(&direction.latency, of_all, bins)),
    ];
    let Samples { min, max, mean, stddev, samples } = direction.bw;
    fields.extend([
        field("bw_min", Integer(min)),
        field("bw_max", Integer(max)),
        field("bw_agg", Real(share_of_group(direction, group_bytes_per_s))),
        field("bw_mean", Real(mean)),
        field("bw_dev", Real(stddev)),
        field("bw_samples", Integer(samples)),
    ]);
    let Samples { min, max, mean, stddev, samples } = direction.iops;
    fields.extend([
        field("iops_min", Integer(min)),
        field("iops_max", Integer(max)),
        field("iops_mean", Real(mean)),
        field("iops_stddev", Real(stddev)),
        field("iops_samples", Integer(samples)),
    ]);
    Object(fields)
}

fn latency(latency: &Latency, percentiles: Option<&[f64]>, bins: Bins) -> Node {
    let samples = latency.samples();
    let mut fields = vec![
        field("min", Integer(latency.min_ns)),
        field("max", Integer(latency.max_ns)),
        field("mean", Real(latency.mean_ns)),
        field("stddev", Real(latency.stddev_ns)),
        field("N", Integer(samples)),
    ];
    if let Some(percentiles) = percentiles.filter(|_| samples > 0) {
        let values = percentiles.iter().zip(latency.percentiles(percentiles));
        let values = values.map(|(percentile, value)| field(format!("{percentile:.6}"), Integer(value)));
        fields.push(field("percentile", Object(values.collect())));
        if bins == Bins::With {
            let bins = latency.bins().into_iter().map(|(ns, count)| field(ns.to_string(), Integer(count)));
            fields.push(field("bins", Object(bins.collect())));
        }
    }
    Object(fields)
}

fn levels(names: [&str; 7], counts: [u64; 7]) -> Node {
    let total = counts.iter().sum();
    Object(names.iter().zip(counts).map(|(name, count)| field(*name, Real(visible_percent(count, total, LEVEL_FLOOR)))).collect())
}

fn class_node(counts: &[u64], total: u64) -> Node {
    let names = CLASS_BOUNDS.iter().map(u64::to_string).chain(["2000".to_owned(), ">=2000".to_owned()]);
    Object(names.zip(counts).map(|(name, count)| field(name, Real(visible_percent(*count, total, CLASS_FLOOR)))).collect())
}

fn print(node: &Node, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth + 1);
    match node {
        Integer(number) => text.push_str(&number.to_string()),
        Real(number) => {
            // Writing to a string cannot fail.
            let _ = write!(text, "{:.6}", if number.is_finite() { *number } else { 0.0 });
        }
        Text(content) => text.push_str(&serde_json::Value::from(content.as_str()).to_string()),
        Node::List(nodes) => {
            text.push('[');
            for (index, node) in nodes.iter().enumerate() {
                text.push_str(if index == 0 { "\n" } else { ",\n" });
                text.push_str(&indent);
                print(node, depth + 1, text);
            }
            text.push('\n');
            text.push_str(&"  ".repeat(depth));
            text.push(']');
        }
        Object(fields) => {
            text.push('{');
            for (index, (name, node)) in fields.iter().enumerate() {
                text.push_str(if index == 0 { "\n" } else { ",\n" });
                let _ = write!(text, "{indent}{} : ", serde_json::Value::from(name.as_str()));
                print(node, depth + 1, text);
            }
            text.push('\n');
            text.push_str(&"  ".repeat(depth));
            text.push('}');
        }
    }
}
