//! fio's normal output.
//!
//! The layout is that of fio 3.33, line by line. There is no wall clock in a simulation: the time is that of the epoch and the
//! process number is 0.

use super::report::{BATCH_LEVELS, CLASS_BOUNDS, CLASS_FLOOR, DEPTH_LEVELS, Direction, JobReport, LEVEL_FLOOR, Latency, Report, Samples};
use super::report::{Unified, group_rate, milliseconds, per_second, share_of_group, visible_percent, whole};
use seeklab_spec::to_f64;

/// Significant digits of most numbers.
const DIGITS: usize = 4;
/// The time that stands in for the wall clock.
pub(super) const TIME: &str = "Thu Jan  1 00:00:00 1970";

/// The report as fio prints it by default.
#[must_use]
pub fn normal(report: &Report) -> String {
    let jobs = report.merged();
    let mut lines = announcement(report);
    for job in &jobs {
        let group: Vec<&JobReport> = jobs.iter().filter(|other| other.spec.group == job.spec.group).collect();
        job_lines(job, &group, &mut lines);
    }
    let mut groups: Vec<u64> = jobs.iter().map(|job| job.spec.group.into()).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        lines.push(format!("\nRun status group {group} (all jobs):"));
        let jobs: Vec<&JobReport> = jobs.iter().filter(|job| u64::from(job.spec.group) == group).collect();
        for (name, part) in jobs.first().map(|job| job.parts()).unwrap_or_default() {
            group_line(&format!("{:>7}", name.to_uppercase()), &jobs, part, &mut lines);
        }
    }
    if !report.disks.is_empty() {
        lines.push("\nDisk stats (read/write):".to_owned());
        for disk in &report.disks {
            lines.push(format!(
                "  {}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:3.2}%",
                disk.name,
                disk.ios[0],
                disk.ios[1],
                disk.merges[0],
                disk.merges[1],
                disk.ticks_ms[0],
                disk.ticks_ms[1],
                disk.in_queue_ms,
                disk.util_percent
            ));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Return the lines that fio prints before the jobs run.
fn announcement(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let mut sections = report.jobs.chunk_by(|a, b| a.spec.section == b.spec.section);
    let mut workers = 0u32;
    while let Some([first, others @ ..]) = sections.next() {
        let of_section = others.iter().fold(first.spec.workers, |sum, job| sum.saturating_add(job.spec.workers));
        workers = workers.saturating_add(of_section);
        let size = |bytes: u64| short(bytes, DIGITS, first.is_binary(), "B");
        let blocks = first.spec.block_bytes.map(|(smallest, largest)| format!("{}-{}", size(smallest), size(largest)));
        lines.push(format!(
            "{}: (g={}): rw={}, bs=(R) {}, (W) {}, (T) {}, ioengine={}, iodepth={}",
            first.spec.name, first.spec.group, first.spec.rw, blocks[0], blocks[1], blocks[2], first.spec.ioengine, first.spec.iodepth
        ));
        if of_section > 1 {
            lines.push("...".to_owned());
        }
    }
    lines.push(report.version.clone());
    lines.push(format!("Starting {workers} process{}\n", if workers == 1 { "" } else { "es" }));
    lines
}

impl JobReport {
    fn is_binary(&self) -> bool {
        self.spec.kb_base != 1000
    }
}

fn job_lines(job: &JobReport, group: &[&JobReport], lines: &mut Vec<String>) {
    if job.total_ios() == 0 {
        return;
    }
    let error = match job.error {
        0 => String::new(),
        110 => " (a request took longer than max_latency)".to_owned(),
        _ => " (slower than rate_min)".to_owned(),
    };
    lines.push(format!(
        "{}: (groupid={}, jobs={}): err={:2}{error}: pid=0: {TIME}",
        job.spec.name, job.spec.group, job.spec.workers, job.error
    ));
    if let Some(description) = &job.spec.description {
        lines.push(format!("  Description  : [{description}]"));
    }
    for (name, part) in job.parts() {
        direction_lines(name, job, part(job), group_rate(group.iter().map(|job| part(job))), lines);
    }
    class_lines(job, lines);
    lines.push("  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=0".to_owned());
    let batches = [0, job.total_ios(), 0, 0, 0, 0, 0];
    let issued = match job.spec.unified {
        Unified::Mixed => [job.total_ios(), 0, 0],
        _ => [job.read.total_ios, job.write.total_ios, job.trim.total_ios],
    };
    lines.push(format!("  IO depths    : {}", levels(DEPTH_LEVELS, job.depths)));
    lines.push(format!("     submit    : {}", levels(BATCH_LEVELS, batches)));
    lines.push(format!("     complete  : {}", levels(BATCH_LEVELS, batches)));
    lines.push(format!("     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0", issued[0], issued[1], issued[2], job.syncs));
    let target = job.target.unwrap_or(super::report::Target { percent: 100.0, depth: job.spec.iodepth, ..Default::default() });
    lines.push(format!(
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}",
        target.target_ns, target.window_us, target.percent, target.depth
    ));
    if let Some(steady) = &job.steady {
        lines.push(format!(
            "  steadystate  : attained={}, {}={:.3}%, window={} s",
            if steady.attained { "yes" } else { "no" },
            steady.criterion,
            steady.value_percent,
            steady.duration_s
        ));
    }
}

fn direction_lines(name: &str, job: &JobReport, direction: &Direction, group_bytes_per_s: u64, lines: &mut Vec<String>) {
    if direction.io_bytes == 0 || direction.runtime_ns == 0 {
        return;
    }
    let binary = job.is_binary();
    let runtime_ms = milliseconds(direction.runtime_ns);
    let rate = per_second(direction.io_bytes, runtime_ms);
    lines.push(format!(
        "  {name}: IOPS={}, BW={} ({})({}/{runtime_ms}msec){}",
        short(per_second(direction.total_ios, runtime_ms), DIGITS, false, ""),
        short(rate, DIGITS, binary, "B/s"),
        short(rate, DIGITS, !binary, "B/s"),
        short(direction.io_bytes, DIGITS, binary, "B"),
        if name == "write" { format!("; {} zone resets", job.zone_resets) } else { String::new() }
    ));
    let latency = &direction.latency;
    if latency.samples() > 0 {
        let (divisor, unit) = latency_unit(latency.min_ns, latency.max_ns, latency.stddev_ns);
        let scale = to_f64(divisor);
        for kind in ["clat", " lat"] {
            lines.push(format!(
                "    {kind} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
                short(latency.min_ns / divisor, 6, false, ""),
                short(latency.max_ns / divisor, 6, false, ""),
                latency.mean_ns / scale,
                latency.stddev_ns / scale
            ));
        }
        let [of_all, of_completion] = job.spec.percentiles;
        for kind in [of_completion.then_some("clat"), of_all.then_some("lat")].into_iter().flatten() {
            percentile_lines(kind, latency, job.percentile_list(), decimals(&job.spec.percentile_list), lines);
        }
    }
    if direction.bw.samples > 0 {
        let megabytes = direction.bw.mean > f64::from(job.spec.kb_base) * f64::from(job.spec.kb_base);
        let divisor = if megabytes { f64::from(job.spec.kb_base.max(1)) } else { 1.0 };
        let unit = match (binary, megabytes) {
            (true, true) => "MiB",
            (true, false) => "KiB",
            (false, true) => "MB",
            (false, false) => "kB",
        };
        let bw = &direction.bw;
        let scaled = Samples {
            min: whole(to_f64(bw.min) / divisor),
            max: whole(to_f64(bw.max) / divisor),
            mean: bw.mean / divisor,
            stddev: bw.stddev / divisor,
            samples: bw.samples,
        };
        let share = share_of_group(direction, group_bytes_per_s);
        lines.push(format!("   bw ({unit:>5}/s): {}", sample_text(&scaled, &format!("per={share:3.2}%, "))));
        lines.push(format!("   iops        : {}", sample_text(&direction.iops, "")));
    }
}

fn sample_text(samples: &Samples, between: &str) -> String {
    format!(
        "min={:5}, max={:5}, {between}avg={:5.2}, stdev={:5.2}, samples={}",
        samples.min, samples.max, samples.mean, samples.stddev, samples.samples
    )
}

/// The unit in which fio prints a latency: a coarse one only when smallest, largest and deviation are all well above it.
fn latency_unit(min_ns: u64, max_ns: u64, stddev_ns: f64) -> (u64, &'static str) {
    if min_ns > 2_000_000 && max_ns > 99_999_999 && stddev_ns > 1_000_000.0 {
        (1_000_000, "msec")
    } else if min_ns > 2_000 && max_ns > 99_999 && stddev_ns > 1_000.0 {
        (1_000, "usec")
    } else {
        (1, "nsec")
    }
}

/// Decimals of the percentiles: two of fio's own list, else those of the longest in the job's list.
fn decimals(own: &[f64]) -> usize {
    let of = |percentile: &f64| percentile.to_string().split_once('.').map_or(0, |(_, after)| after.len());
    own.iter().map(of).max().unwrap_or(2)
}

fn percentile_lines(kind: &str, latency: &Latency, percentiles: &[f64], decimals: usize, lines: &mut Vec<String>) {
    let values = latency.percentiles(percentiles);
    let (Some(&smallest), Some(&largest)) = (values.first(), values.last()) else { return };
    let (divisor, unit) = latency_unit(smallest, largest, f64::INFINITY);
    let width = largest.div_ceil(divisor).to_string().len().max(5);
    // Each entry takes the percentile and its brackets besides the value; 73 columns are left for entries.
    let per_line = (73 / (10 + decimals + width)).max(1);
    lines.push(format!("    {kind} percentiles ({unit}):"));
    let digits = decimals + 3;
    let entries: Vec<String> = percentiles
        .iter()
        .zip(values)
        .map(|(percentile, value)| format!(" {percentile:digits$.decimals$}th=[{:width$}]", value.div_ceil(divisor)))
        .collect();
    let rows: Vec<String> = entries.chunks(per_line).map(|row| format!("     |{}", row.join(","))).collect();
    lines.push(rows.join(",\n"));
}

fn class_lines(job: &JobReport, lines: &mut Vec<String>) {
    let classes = job.latency_classes();
    let total = job.total_ios();
    let class_rows = |unit: &str, names: &[String], counts: &[u64], lines: &mut Vec<String>| {
        let filled: Vec<String> = names
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count > 0)
            .map(|(name, count)| format!("{name}={:3.2}%", visible_percent(*count, total, CLASS_FLOOR)))
            .collect();
        for row in filled.chunks(5) {
            lines.push(format!("  lat ({unit})   : {}", row.join(", ")));
        }
    };
    let mut names: Vec<String> = CLASS_BOUNDS.iter().map(u64::to_string).collect();
    class_rows("nsec", &names, &classes.ns, lines);
    class_rows("usec", &names, &classes.us, lines);
    names.extend(["2000".to_owned(), ">=2000".to_owned()]);
    class_rows("msec", &names, &classes.ms, lines);
}

fn levels(names: [&str; 7], counts: [u64; 7]) -> String {
    let total: u64 = counts.iter().sum();
    let shares: Vec<String> =
        names.iter().zip(counts).map(|(name, count)| format!("{name}={:3.1}%", visible_percent(count, total, LEVEL_FLOOR))).collect();
    shares.join(", ")
}

fn group_line(name: &str, jobs: &[&JobReport], direction: impl Fn(&JobReport) -> &Direction, lines: &mut Vec<String>) {
    let active: Vec<&Direction> =
        jobs.iter().map(|job| direction(job)).filter(|direction| direction.runtime_ns > 0 && direction.total_ios > 0).collect();
    let rates = || active.iter().map(|direction| per_second(direction.io_bytes, milliseconds(direction.runtime_ns)));
    let runtimes = || active.iter().map(|direction| milliseconds(direction.runtime_ns));
    let (Some(slowest), Some(fastest), Some(shortest), Some(longest)) = (rates().min(), rates().max(), runtimes().min(), runtimes().max())
    else {
        return;
    };
    let binary = jobs.first().is_none_or(|job| job.is_binary());
    let all = group_rate(active.iter().copied());
    let bytes = active.iter().fold(0u64, |sum, direction| sum.saturating_add(direction.io_bytes));
    let rate = |rate: u64, binary: bool| short(rate, DIGITS, binary, "B/s");
    lines.push(format!(
        "{name}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={shortest}-{longest}msec",
        rate(all, binary),
        rate(all, !binary),
        rate(slowest, binary),
        rate(fastest, binary),
        rate(slowest, !binary),
        rate(fastest, !binary),
        short(bytes, DIGITS, binary, "B"),
        short(bytes, DIGITS, !binary, "B"),
    ));
}

/// A number in at most `digits` digits, with a prefix (`Ki` or `k`, ...) when it needs one: 12345 is `12.3k`, 65536 is `64.0Ki`.
fn short(number: u64, digits: usize, binary: bool, unit: &str) -> String {
    let (base, prefixes) = if binary { (1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi"]) } else { (1000, ["", "k", "M", "G", "T", "P"]) };
    let (mut whole, mut rest) = (number, 0);
    let mut prefix = prefixes.iter().peekable();
    while whole.to_string().len() > digits && prefix.len() > 1 {
        rest = whole % base;
        whole /= base;
        prefix.next();
    }
    let shown = prefix.next().copied().unwrap_or_default();
    let decimals = digits.saturating_sub(whole.to_string().len() + 1);
    if shown.is_empty() {
        return format!("{whole}{unit}");
    }
    if decimals == 0 {
        let rounded = whole + u64::from(rest >= base / 2);
        return format!("{rounded}{shown}{unit}");
    }
    let fraction = to_f64(whole) + to_f64(rest) / to_f64(base);
    format!("{fraction:.decimals$}{shown}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Pairs from the output of fio 3.33.
    #[test]
    fn numbers_keep_four_digits() {
        for (number, binary, unit, text) in [
            (4096, true, "B", "4096B"),
            (16_384, true, "B", "16.0KiB"),
            (10_000, true, "B", "9.77KiB"),
            (10_000, false, "B", "10.0kB"),
            (1_024_000, true, "B", "1000KiB"),
            (8_418_071, true, "B/s", "8221KiB/s"),
            (8_418_071, false, "B/s", "8418kB/s"),
            (16_777_216, true, "B", "16.0MiB"),
            (16_777_216, false, "B", "16.8MB"),
            (4_078_000, false, "", "4078k"),
            (16_000, false, "", "16.0k"),
            (128, false, "", "128"),
        ] {
            assert_eq!(short(number, DIGITS, binary, unit), text);
        }
        assert_eq!(short(2_666_300, 6, false, ""), "2666.3k");
    }
}
