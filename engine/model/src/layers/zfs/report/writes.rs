//! The metrics of a ZFS write path, and its tables `zfs`, `groups` and `commits`.
//!
//! A write that was stopped counts for the group that it entered, not for the one that was full.

use crate::layers::device::Usage;
use crate::layers::zfs::record::{CommitRow, Counts, DeviceIos, GroupRow, Record, SeriesRow};
use crate::result::columns::Take::{Real, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::{Metrics, Unit, each, in_seconds, share_percent};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// A row for each interval of the series.
const ZFS: Table<SeriesRow> = Table::new(
    "zfs",
    &[
        ("dirty_mean_bytes", Whole(|row| row.dirty_mean_bytes)),
        ("dirty_max_bytes", Whole(|row| row.dirty_max_bytes)),
        ("limit_bytes", Whole(|row| row.limit_bytes)),
        ("async_writes_mean", Real(|row| to_f64(row.async_writes_mean_milli) / 1000.0)),
        ("async_writes_max", Whole(|row| u64::from(row.async_writes_max))),
        ("written_bytes", Whole(|row| row.written_bytes)),
        ("not_delayed", Whole(|row| row.not_delayed)),
        ("delayed", Whole(|row| row.delayed)),
        ("delay_ns", Whole(|row| row.delay_ns)),
        ("blocked", Whole(|row| row.blocked)),
        ("blocked_ns", Whole(|row| row.blocked_ns)),
        ("log_bytes", Whole(|row| row.log_bytes)),
        ("log_live_bytes", Whole(|row| row.log_live_bytes)),
    ],
);

/// A row for each transaction group.
const GROUPS: Table<GroupRow> = Table::new(
    "groups",
    &[
        ("group", Whole(|row| row.group)),
        ("opened_ns", Whole(|row| row.opened_ns)),
        ("closed_ns", Whole(|row| row.closed_ns)),
        ("quiesced_ns", Whole(|row| row.quiesced_ns)),
        ("sync_started_ns", Whole(|row| row.sync_started_ns)),
        ("data_written_ns", Whole(|row| row.data_written_ns)),
        ("synced_ns", Whole(|row| row.synced_ns)),
        ("bytes", Whole(|row| row.bytes)),
        ("metadata_bytes", Whole(|row| row.metadata_bytes)),
        ("limit_bytes", Whole(|row| row.limit_bytes)),
        ("not_delayed", Whole(|row| row.not_delayed)),
        ("delayed", Whole(|row| row.delayed)),
        ("blocked", Whole(|row| row.blocked)),
    ],
);

/// A row for each commit of an intent log.
const COMMITS: Table<CommitRow> = Table::new(
    "commits",
    &[
        ("dataset", Whole(|row| row.dataset)),
        ("started_ns", Whole(|row| row.started_ns)),
        ("ended_ns", Whole(|row| row.ended_ns)),
        ("writes", Whole(|row| row.writes)),
        ("bytes", Whole(|row| row.bytes)),
        ("diverted_bytes", Whole(|row| row.diverted_bytes)),
    ],
);

impl Record {
    /// Reports the metrics of the write path.
    pub fn metrics(&self, metrics: &mut Metrics) {
        let (counts, workers_ns) = (&self.counts, metrics.run.workers_ns);
        let writes = self.groups.iter().map(|group| group.writes).sum();
        metrics.count("zfs_not_delayed_writes", "Writes that entered without delay.", counts.not_delayed);
        metrics.count("zfs_delayed_writes", "Writes that the throttle delayed.", counts.delayed);
        metrics.count("zfs_blocked_writes", "Writes that stopped at a limit.", counts.blocked);
        metrics.seconds("zfs_delay_total_s", "Total sleep time of delayed writes.", counts.delay_ns);
        metrics.seconds("zfs_blocked_total_s", "Total wait time of stopped writes.", counts.blocked_ns);
        metrics.share("zfs_delayed_share_percent", "Share of writes that were delayed.", counts.delayed, writes);
        metrics.share("zfs_blocked_share_percent", "Share of writes that were stopped.", counts.blocked, writes);
        metrics.seconds(
            "zfs_first_delay_s",
            "Time of the first delayed write; if none was delayed, the end of the last worker.",
            counts.first_sleep_ns.unwrap_or(workers_ns),
        );
        metrics.count(
            "zfs_writes_before_delay",
            "Writes before the first delayed write; if none was delayed, all writes.",
            if counts.first_sleep_ns.is_some() { counts.writes_before_sleep } else { writes },
        );
        metrics.bytes("zfs_written_bytes", "Bytes written to the devices.", counts.written_bytes);
        metrics.bytes("zfs_metadata_bytes", "Bytes of metadata written to the devices.", counts.metadata_bytes);
        metrics.share(
            "zfs_metadata_share_percent",
            "Metadata as a share of bytes written to the devices.",
            counts.metadata_bytes,
            counts.written_bytes,
        );
        metrics.bytes(
            "zfs_dirty_max_bytes",
            "Maximum dirty data at any time.",
            self.series.iter().map(|row| row.dirty_max_bytes).max().unwrap_or(0),
        );
        let widest = self.series.iter().map(|row| row.async_writes_max).max().unwrap_or(0);
        metrics.count("zfs_async_writes_max", "Maximum group writes in flight, over all devices.", u64::from(widest));
        if let Some(share) = settled_share_percent(self, workers_ns) {
            metrics.percent(
                "zfs_dirty_settled_share_percent",
                "Dirty data as a share of the throttle's limit, averaged over the second half of the workers' time.",
                share,
            );
        }
        metrics.bytes(
            "zfs_largest_step_down_bytes",
            "Maximum dirty data released at once: a block, or a group that is released as a whole.",
            counts.largest_step_bytes,
        );
        if counts.log_commits > 0 {
            intent_log(counts, metrics);
        }
        if let Some(variation) = write_rate_variation(self, workers_ns) {
            metrics.percent(
                "zfs_write_rate_variation_percent",
                "Standard deviation divided by mean of the bytes written per interval, in the second half of the workers' time.",
                variation,
            );
        }
        for (ios, part) in self.device_ios.iter().zip(["zfs_io_read", "zfs_io_write"]).filter(|(ios, _)| ios.count > 0) {
            metrics.within(part, |metrics| device_ios(ios, metrics));
        }
        groups(self, metrics);
        settled_groups(self, metrics);
    }

    /// Reports what the devices of the intent logs did.
    pub fn log_device_metrics(&self, usages: &[Usage], metrics: &mut Metrics) {
        let (ios, busy_ns) = usages.iter().fold((0, 0), |sums, usage| (sums.0 + usage.ios[1], sums.1 + usage.busy_ns));
        let busy_percent = share_percent(busy_ns, usages.len() as u64 * metrics.run.workers_ns).min(100.0);
        metrics.count("zfs_log_device_ios", "Writes on the log devices.", ios);
        metrics.percent("zfs_log_device_busy_share_percent", "Share of the workers' time that the log devices were busy.", busy_percent);
        if ios > 0 {
            metrics.mean(
                "zfs_log_writes_per_device_io",
                "Synchronous writes per write on a log device, counting each side of a mirror.",
                self.counts.log_writes,
                ios,
            );
        }
    }

    /// Reports the tables of a run, whether it has a write path or not.
    pub fn tables(record: Option<&Self>, tables: &mut Tables) {
        tables.table(&ZFS, record.into_iter().flat_map(|record| record.series.iter().copied()));
        tables.table(&GROUPS, record.into_iter().flat_map(|record| record.groups.iter().copied()));
        tables.table(&COMMITS, record.into_iter().flat_map(|record| record.commits.iter().copied()));
    }
}

/// The intent log of a run with at least one commit.
fn intent_log(counts: &Counts, metrics: &mut Metrics) {
    metrics.count("zfs_log_commits", "Number of intent log commits.", counts.log_commits);
    metrics.mean("zfs_log_writes_per_commit", "Mean synchronous writes per commit.", counts.log_writes, counts.log_commits);
    metrics.bytes("zfs_log_bytes", "Bytes of log blocks.", counts.log_bytes);
    metrics.bytes("zfs_log_indirect_bytes", "Data that commits wrote to their final place in the pool.", counts.indirect_bytes);
    metrics.bytes(
        "zfs_log_diverted_bytes",
        "Log blocks that were written to the pool instead of the log devices.",
        counts.log_diverted_bytes,
    );
    metrics.bytes(
        "zfs_log_live_max_bytes",
        "Maximum space needed on the log devices at any time, counting each mirror once.",
        counts.log_live_max_bytes,
    );
    let largest = counts.largest_commit;
    let (bytes, ns) = (largest.bytes + largest.diverted_bytes, largest.ended_ns - largest.started_ns);
    metrics.bytes("zfs_log_largest_commit_bytes", "Log blocks in the largest commit.", bytes);
    metrics.seconds("zfs_log_largest_commit_s", "Duration of the largest commit.", ns);
    metrics.mib_per_s("zfs_log_largest_commit_mib_per_s", "Rate of the largest commit.", to_f64(bytes), in_seconds(ns));
}

/// Dirty data of the throttle's limit over the second half of the workers' time; `None` when the run was too short or the
/// throttle knows no limit.
fn settled_share_percent(record: &Record, elapsed_ns: u64) -> Option<f64> {
    let rows = usize::try_from(elapsed_ns / record.interval_ns()).ok()?.min(record.series.len());
    let shares: Vec<f64> = record.series[rows / 2..rows]
        .iter()
        .filter(|row| row.limit_bytes > 0)
        .map(|row| share_percent(row.dirty_mean_bytes, row.limit_bytes))
        .collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / to_f64(shares.len() as u64))
}

/// Standard deviation over mean, in per cent; 0 without values or with a mean of 0.
fn variation_percent(values: &[f64]) -> f64 {
    let count = to_f64(values.len().max(1) as u64);
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
    if mean > 0.0 { 100.0 * libm::sqrt(variance) / mean } else { 0.0 }
}

fn write_rate_variation(record: &Record, elapsed_ns: u64) -> Option<f64> {
    let rows = usize::try_from(elapsed_ns / record.interval_ns()).ok()?.min(record.series.len());
    let rates: Vec<f64> = record.series[rows / 2..rows].iter().map(|row| to_f64(row.written_bytes)).collect();
    (!rates.is_empty()).then(|| variation_percent(&rates))
}

/// Requests to the devices in one direction, of which there is at least one.
fn device_ios(ios: &DeviceIos, metrics: &mut Metrics) {
    let mean_ns = to_f64(ios.total_ns) / to_f64(ios.count);
    let variance = (ios.squares / to_f64(ios.count) - mean_ns * mean_ns).max(0.0);
    metrics.milliseconds("_latency_mean_ms", "Mean time of device requests, from issue to completion.", mean_ns);
    metrics.milliseconds("_latency_sd_ms", "Standard deviation of the time of device requests.", libm::sqrt(variance));
    let octaves = ios.times.octaves_us();
    let fullest = octaves.iter().rev().max_by_key(|(_, count)| *count).map_or(0, |(lower, _)| *lower);
    metrics.add(
        "_mode_us",
        "Lower end of the bucket with the most device requests; buckets are powers of two in microseconds.",
        Unit::Microseconds,
        to_f64(fullest),
    );
    metrics.bytes("_bytes", "Bytes of device requests.", ios.bytes);
    metrics.add(
        "_iops",
        "Device requests per second, over the workers' time.",
        Unit::PerSecond,
        each(to_f64(ios.count), in_seconds(metrics.run.workers_ns)),
    );
}

/// Metrics of the filled groups after those in which the pool settles.
fn settled_groups(record: &Record, metrics: &mut Metrics) {
    const SETTLING: usize = 4;
    let groups: Vec<&GroupRow> =
        record.groups.iter().filter(|group| group.writes > 0 && group.synced_ns > group.sync_started_ns).skip(SETTLING).collect();
    if groups.is_empty() {
        return;
    }
    let sync_ns = |group: &&GroupRow| to_f64(group.synced_ns - group.sync_started_ns);
    let open_ns = |group: &&GroupRow| to_f64(group.closed_ns.saturating_sub(group.opened_ns));
    let limits: Vec<f64> = groups.iter().map(|group| to_f64(group.limit_bytes)).collect();
    metrics.percent(
        "zfs_limit_variation_percent",
        "Standard deviation divided by mean of the limit after each group, from the fifth filled group on.",
        variation_percent(&limits),
    );
    let rates: Vec<f64> = groups.iter().map(|group| to_f64(group.bytes) / sync_ns(group)).collect();
    metrics.percent(
        "zfs_sync_rate_variation_percent",
        "Standard deviation divided by mean of the sync rate (a group's bytes per time of its sync), from the fifth filled group on.",
        variation_percent(&rates),
    );
    let over = groups.iter().filter(|group| open_ns(group) > 1.02 * sync_ns(group)).count();
    let under = groups.iter().filter(|group| open_ns(group) < 0.98 * sync_ns(group)).count();
    metrics.share(
        "zfs_over_delayed_groups_percent",
        "Share of groups that were open for 2% longer than their sync took, from the fifth filled group on.",
        over as u64,
        groups.len() as u64,
    );
    metrics.share(
        "zfs_under_delayed_groups_percent",
        "Share of groups that were open for 2% shorter than their sync took, from the fifth filled group on.",
        under as u64,
        groups.len() as u64,
    );
    let count = to_f64(groups.len() as u64);
    metrics.add(
        "zfs_sync_mean_s",
        "Mean time of a sync, from the fifth filled group on.",
        Unit::Seconds,
        groups.iter().map(sync_ns).sum::<f64>() / count / 1e9,
    );
    let closed: Vec<&GroupRow> = groups.iter().filter(|group| group.closed_ns <= metrics.run.workers_ns).copied().collect();
    if let [first, .., last] = closed[..] {
        let bytes: u64 = closed.iter().map(|group| group.bytes).sum::<u64>() - last.bytes;
        let seconds = to_f64(last.sync_started_ns - first.sync_started_ns) / 1e9;
        metrics.add(
            "zfs_group_open_mean_s",
            "Mean open time of a group, from the fifth filled group on, over groups that closed while workers ran.",
            Unit::Seconds,
            closed.iter().map(open_ns).sum::<f64>() / to_f64(closed.len() as u64) / 1e9,
        );
        metrics.bytes(
            "zfs_group_max_bytes",
            "Data of the largest group, from the fifth filled group on, over groups that closed while workers ran.",
            closed.iter().map(|group| group.bytes).max().unwrap_or(0),
        );
        metrics.mib_per_s(
            "zfs_group_mib_per_s",
            "Data of the groups from the fifth filled one on, without the last, divided by the time from the first sync to the last.",
            to_f64(bytes),
            seconds,
        );
    }
    let open: f64 = groups.iter().map(open_ns).sum();
    let waits: f64 = groups.iter().map(|group| open_ns(group) * (to_f64(group.synced_ns - group.closed_ns) + open_ns(group) / 2.0)).sum();
    metrics.add(
        "zfs_admin_wait_mean_s",
        "Mean time from a random moment until the group open at that moment is on the devices.",
        Unit::Seconds,
        each(waits, open) / 1e9,
    );
}

/// A number of a group.
type OfGroup = fn(&GroupRow) -> u64;

fn groups(record: &Record, metrics: &mut Metrics) {
    let filled: Vec<&GroupRow> = record.groups.iter().filter(|group| group.closed_ns > 0 && group.writes > 0).collect();
    metrics.count("zfs_groups", "Filled groups: closed, with writes in them.", filled.len() as u64);
    let stopping = record.groups.iter().filter(|group| group.first_stop_ns > 0).count();
    metrics.count("zfs_groups_with_stops", "Groups with a write that stopped at the limit.", stopping as u64);
    let columns: [(&str, OfGroup); 3] =
        [("not_delayed", |group| group.not_delayed), ("delayed", |group| group.delayed), ("blocked", |group| group.blocked)];
    for (place, group) in ["first", "second", "third"].iter().zip(&filled) {
        for (column, value) in columns {
            metrics.count(
                &format!("zfs_{place}_group_{column}"),
                "Writes of this kind that entered that group. A stopped write counts for the group that it entered.",
                value(group),
            );
        }
    }
    let Some((_, later)) = filled.split_first().filter(|(_, later)| !later.is_empty()) else { return };
    for (column, value) in columns {
        let middle = median(later.iter().map(|group| to_f64(value(group))).collect());
        metrics.add(
            &format!("zfs_later_groups_{column}_p50"),
            "Writes of this kind that entered a group: median over all filled groups except the first.",
            Unit::One,
            middle,
        );
    }
    let rates: Vec<f64> = later
        .iter()
        .filter(|group| group.first_sleep_ns > 0 && group.first_stop_ns > group.first_sleep_ns)
        .map(|group| to_f64(group.delayed) * to_f64(NS_PER_S) / to_f64(group.first_stop_ns - group.first_sleep_ns))
        .collect();
    if !rates.is_empty() {
        metrics.add("zfs_later_groups_delayed_per_s_p50", "Rate of delayed writes entering a group, from its first delay to its first stop: median over all filled groups except the first.", Unit::PerSecond, median(rates));
    }
}

/// The middle value; the mean of the two middle ones of an even number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::zfs::record::{HeldUp, Level};
    use crate::result::metrics::Run;

    fn value(record: &Record, workers_ns: u64, name: &str) -> f64 {
        let mut metrics = Metrics::new(Run { workers_ns, ..Run::default() });
        record.metrics(&mut metrics);
        metrics.value(name).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn the_settled_share_is_that_of_the_second_half() {
        let mut record = Record::new(10);
        record.change(0, Level { dirty_bytes: 100, limit_bytes: 200, ..Level::default() });
        record.change(50, Level { dirty_bytes: 150, limit_bytes: 200, ..Level::default() });
        record.change(100, Level::default());
        record.change(1000, Level::default());
        assert!((value(&record, 100, "zfs_dirty_settled_share_percent") - 75.0).abs() < 1e-9);
    }

    #[test]
    fn groups_count_once_closed_and_written_to() {
        let mut record = Record::new(10);
        for group in 1..=4 {
            record.opened(group, group);
            for write in 0..group * 10 {
                record.entered(group, HeldUp { delayed: write < group, ..HeldUp::default() }, 0);
            }
            if group < 4 {
                record.group(group, |row| row.closed_ns = 1);
            }
        }
        assert!((value(&record, 100, "zfs_groups") - 3.0).abs() < 1e-9);
        assert!((value(&record, 100, "zfs_first_group_not_delayed") - 9.0).abs() < 1e-9);
        assert!((value(&record, 100, "zfs_later_groups_delayed_p50") - 2.5).abs() < 1e-9);
        assert!((value(&record, 100, "zfs_delayed_share_percent") - 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_first_delay_is_remembered_with_what_came_before_it() {
        let mut record = Record::new(10);
        record.opened(1, 0);
        record.entered(1, HeldUp::default(), 0);
        assert!((value(&record, 2_000_000_000, "zfs_first_delay_s") - 2.0).abs() < 1e-9);
        record.sleeps(1, 500_000_000);
        record.sleeps(1, 600_000_000);
        record.entered(1, HeldUp::default(), 0);
        assert!((value(&record, 2_000_000_000, "zfs_first_delay_s") - 0.5).abs() < 1e-9);
        assert!((value(&record, 2_000_000_000, "zfs_writes_before_delay") - 1.0).abs() < 1e-9);
    }
}
