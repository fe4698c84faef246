//! The metrics of a ZFS write path.
//!
//! | metric | unit | what it is |
//! |---|---|---|
//! | `zfs_not_delayed_writes`, `zfs_delayed_writes`, `zfs_blocked_writes` | | writes that entered at once, that slept, that were stopped at a limit |
//! | `zfs_delay_total_s`, `zfs_blocked_total_s` | s | what they slept and waited |
//! | `zfs_delayed_share_percent`, `zfs_blocked_share_percent` | % | delayed and stopped writes of all |
//! | `zfs_first_delay_s` | s | when a write first slept; the end of the last worker when none did |
//! | `zfs_writes_before_delay` | | writes that had entered by then |
//! | `zfs_written_bytes`, `zfs_metadata_bytes`, `zfs_metadata_share_percent` | B, % | written to the devices, metadata in it, and its share |
//! | `zfs_dirty_max_bytes` | B | most dirty data |
//! | `zfs_async_writes_max` | | most group writes in flight, over all devices |
//! | `zfs_dirty_settled_share_percent` | % | dirty data of the throttle's limit, averaged over the second half of the workers' time |
//! | `zfs_largest_step_down_bytes` | B | the largest amount of dirty data released at once for one block, or for a group that is released as one |
//! | `zfs_log_commits`, `zfs_log_writes_per_commit` | | commits of the intent log, and the synchronous writes in each |
//! | `zfs_log_bytes`, `zfs_log_indirect_bytes` | B | log blocks; data that commits wrote to their place in the pool |
//! | `zfs_log_diverted_bytes` | B | log blocks that left the log devices for the pool |
//! | `zfs_log_live_max_bytes` | B | most that was needed at once on the log devices, each mirror counted once |
//! | `zfs_log_largest_commit_bytes`, `zfs_log_largest_commit_s`, `zfs_log_largest_commit_mib_per_s` | B, s, MiB/s | blocks of the commit with the most of them, its time, and its rate |
//! | `zfs_log_device_ios`, `zfs_log_device_busy_share_percent` | , % | writes on the log devices, and the share of the workers' time that they were busy |
//! | `zfs_log_writes_per_device_io` | | synchronous writes for each write on a log device, each side of a mirror counted |
//! | `zfs_groups` | | groups that have been filled: closed, with writes in them |
//! | `zfs_groups_with_stops` | | groups at whose limit a write was stopped |
//! | `zfs_first_group_X`, `zfs_second_group_X`, `zfs_third_group_X` | | of the first three of them; X is `not_delayed`, `delayed` or `blocked` |
//! | `zfs_later_groups_X_p50` | | median over all but the first of them |
//! | `zfs_later_groups_delayed_per_s_p50` | 1/s | the same, of the rate at which delayed writes entered: from the first sleep to the first stop in that group |
//!
//! | `zfs_limit_variation_percent` | % | standard deviation over mean of the limit after each group, from the fifth filled group on |
//! | `zfs_sync_rate_variation_percent` | % | the same, of a group's bytes over the time of its sync |
//! | `zfs_write_rate_variation_percent` | % | the same, of the bytes written to the devices in each interval of the series, over the second half of the workers' time |
//! | `zfs_over_delayed_groups_percent`, `zfs_under_delayed_groups_percent` | % | groups that were filled for 2 % longer, or shorter, than their sync took, from the fifth on |
//! | `zfs_sync_mean_s` | s | time of a sync, averaged over the filled groups from the fifth on |
//! | `zfs_group_open_mean_s`, `zfs_group_max_bytes`, `zfs_group_mib_per_s` | s, B, MiB/s | of those that closed while workers ran: how long they were open, the data of the largest, and the data of all but the last over the time between the begins of the first and the last sync |
//! | `zfs_admin_wait_mean_s` | s | from a random moment until the group then open is on the devices, averaged over them |
//! | `zfs_io_X_latency_mean_ms`, `zfs_io_X_latency_sd_ms` | ms | requests to the devices from issue to completion; X is `read` or `write` |
//! | `zfs_io_X_mode_us` | us | lower end of the fullest bucket by powers of two of microseconds |
//! | `zfs_io_X_bytes` | B | their bytes |
//! | `zfs_io_X_iops` | 1/s | such requests, over the workers' time |
//!
//! A write that was stopped counts for the group that it entered, not for the one that was full.

use super::metrics::{List, share_percent};
use crate::layers::zfs::record::{GroupRow, Record};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// Adds the metrics of a write path whose workers ended at `elapsed_ns`.
pub(super) fn throttling(list: &mut List, record: &Record, elapsed_ns: u64) {
    let counts = &record.counts;
    list.add("zfs_not_delayed_writes", "", to_f64(counts.not_delayed));
    list.add("zfs_delayed_writes", "", to_f64(counts.delayed));
    list.add("zfs_blocked_writes", "", to_f64(counts.blocked));
    list.add("zfs_delay_total_s", "s", to_f64(counts.delay_ns) / to_f64(NS_PER_S));
    list.add("zfs_blocked_total_s", "s", to_f64(counts.blocked_ns) / to_f64(NS_PER_S));
    let writes = record.groups.iter().map(|group| group.writes).sum();
    list.add("zfs_delayed_share_percent", "%", share_percent(counts.delayed, writes));
    list.add("zfs_blocked_share_percent", "%", share_percent(counts.blocked, writes));
    list.add("zfs_first_delay_s", "s", to_f64(counts.first_sleep_ns.unwrap_or(elapsed_ns)) / to_f64(NS_PER_S));
    let before = if counts.first_sleep_ns.is_some() { counts.writes_before_sleep } else { writes };
    list.add("zfs_writes_before_delay", "", to_f64(before));
    list.add("zfs_written_bytes", "B", to_f64(counts.written_bytes));
    list.add("zfs_metadata_bytes", "B", to_f64(counts.metadata_bytes));
    list.add("zfs_metadata_share_percent", "%", share_percent(counts.metadata_bytes, counts.written_bytes));
    let most = record.series.iter().map(|row| row.dirty_max_bytes).max().unwrap_or(0);
    list.add("zfs_dirty_max_bytes", "B", to_f64(most));
    let widest = record.series.iter().map(|row| row.async_writes_max).max().unwrap_or(0);
    list.add("zfs_async_writes_max", "", f64::from(widest));
    if let Some(share) = settled_share_percent(record, elapsed_ns) {
        list.add("zfs_dirty_settled_share_percent", "%", share);
    }
    list.add("zfs_largest_step_down_bytes", "B", to_f64(counts.largest_step_bytes));
    if counts.log_commits > 0 {
        list.add("zfs_log_commits", "", to_f64(counts.log_commits));
        list.add("zfs_log_writes_per_commit", "", to_f64(counts.log_writes) / to_f64(counts.log_commits));
        list.add("zfs_log_bytes", "B", to_f64(counts.log_bytes));
        list.add("zfs_log_indirect_bytes", "B", to_f64(counts.indirect_bytes));
        list.add("zfs_log_diverted_bytes", "B", to_f64(counts.log_diverted_bytes));
        list.add("zfs_log_live_max_bytes", "B", to_f64(counts.log_live_max_bytes));
        let largest = counts.largest_commit;
        let (bytes, seconds) =
            (to_f64(largest.bytes + largest.diverted_bytes), to_f64(largest.ended_ns - largest.started_ns) / to_f64(NS_PER_S));
        list.add("zfs_log_largest_commit_bytes", "B", bytes);
        list.add("zfs_log_largest_commit_s", "s", seconds);
        list.add("zfs_log_largest_commit_mib_per_s", "MiB/s", if seconds > 0.0 { bytes / seconds / f64::from(1 << 20) } else { 0.0 });
    }
    if let Some(variation) = write_rate_variation(record, elapsed_ns) {
        list.add("zfs_write_rate_variation_percent", "%", variation);
    }
    device_ios(list, record, elapsed_ns);
    groups(list, record);
    settled_groups(list, record, elapsed_ns);
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

fn device_ios(list: &mut List, record: &Record, elapsed_ns: u64) {
    for (ios, op) in record.device_ios.iter().zip(["read", "write"]) {
        if ios.count == 0 {
            continue;
        }
        let mean_ns = to_f64(ios.total_ns) / to_f64(ios.count);
        let variance = (ios.squares / to_f64(ios.count) - mean_ns * mean_ns).max(0.0);
        list.add(&format!("zfs_io_{op}_latency_mean_ms"), "ms", mean_ns / 1e6);
        list.add(&format!("zfs_io_{op}_latency_sd_ms"), "ms", libm::sqrt(variance) / 1e6);
        let octaves = ios.times.octaves_us();
        let fullest = octaves.iter().rev().max_by_key(|(_, count)| *count).map_or(0, |(lower, _)| *lower);
        list.add(&format!("zfs_io_{op}_mode_us"), "us", to_f64(fullest));
        let seconds = to_f64(elapsed_ns) / to_f64(NS_PER_S);
        list.add(&format!("zfs_io_{op}_bytes"), "B", to_f64(ios.bytes));
        list.add(&format!("zfs_io_{op}_iops"), "1/s", if seconds > 0.0 { to_f64(ios.count) / seconds } else { 0.0 });
    }
}

/// Metrics of the filled groups after those in which the pool settles.
fn settled_groups(list: &mut List, record: &Record, elapsed_ns: u64) {
    const SETTLING: usize = 4;
    let groups: Vec<&GroupRow> =
        record.groups.iter().filter(|group| group.writes > 0 && group.synced_ns > group.sync_started_ns).skip(SETTLING).collect();
    if groups.is_empty() {
        return;
    }
    let sync_ns = |group: &&GroupRow| to_f64(group.synced_ns - group.sync_started_ns);
    let open_ns = |group: &&GroupRow| to_f64(group.closed_ns.saturating_sub(group.opened_ns));
    let limits: Vec<f64> = groups.iter().map(|group| to_f64(group.limit_bytes)).collect();
    list.add("zfs_limit_variation_percent", "%", variation_percent(&limits));
    let rates: Vec<f64> = groups.iter().map(|group| to_f64(group.bytes) / sync_ns(group)).collect();
    list.add("zfs_sync_rate_variation_percent", "%", variation_percent(&rates));
    let over = groups.iter().filter(|group| open_ns(group) > 1.02 * sync_ns(group)).count();
    let under = groups.iter().filter(|group| open_ns(group) < 0.98 * sync_ns(group)).count();
    list.add("zfs_over_delayed_groups_percent", "%", share_percent(over as u64, groups.len() as u64));
    list.add("zfs_under_delayed_groups_percent", "%", share_percent(under as u64, groups.len() as u64));
    let count = to_f64(groups.len() as u64);
    list.add("zfs_sync_mean_s", "s", groups.iter().map(sync_ns).sum::<f64>() / count / 1e9);
    let closed: Vec<&GroupRow> = groups.iter().filter(|group| group.closed_ns <= elapsed_ns).copied().collect();
    if let [first, .., last] = closed[..] {
        let bytes: u64 = closed.iter().map(|group| group.bytes).sum::<u64>() - last.bytes;
        let seconds = to_f64(last.sync_started_ns - first.sync_started_ns) / 1e9;
        list.add("zfs_group_open_mean_s", "s", closed.iter().map(open_ns).sum::<f64>() / to_f64(closed.len() as u64) / 1e9);
        list.add("zfs_group_max_bytes", "B", to_f64(closed.iter().map(|group| group.bytes).max().unwrap_or(0)));
        list.add("zfs_group_mib_per_s", "MiB/s", if seconds > 0.0 { to_f64(bytes) / f64::from(1 << 20) / seconds } else { 0.0 });
    }
    let open: f64 = groups.iter().map(open_ns).sum();
    let waits: f64 = groups.iter().map(|group| open_ns(group) * (to_f64(group.synced_ns - group.closed_ns) + open_ns(group) / 2.0)).sum();
    list.add("zfs_admin_wait_mean_s", "s", if open > 0.0 { waits / open / 1e9 } else { 0.0 });
}

/// A number of a group.
type OfGroup = fn(&GroupRow) -> f64;

fn groups(list: &mut List, record: &Record) {
    let filled: Vec<&GroupRow> = record.groups.iter().filter(|group| group.closed_ns > 0 && group.writes > 0).collect();
    list.add("zfs_groups", "", to_f64(filled.len() as u64));
    let stopping = record.groups.iter().filter(|group| group.first_stop_ns > 0).count();
    list.add("zfs_groups_with_stops", "", to_f64(stopping as u64));
    let columns: [(&str, OfGroup); 3] = [
        ("not_delayed", |group| to_f64(group.not_delayed)),
        ("delayed", |group| to_f64(group.delayed)),
        ("blocked", |group| to_f64(group.blocked)),
    ];
    for (place, group) in ["first", "second", "third"].iter().zip(&filled) {
        for (column, value) in columns {
            list.add(&format!("zfs_{place}_group_{column}"), "", value(group));
        }
    }
    let Some((_, later)) = filled.split_first().filter(|(_, later)| !later.is_empty()) else { return };
    for (column, value) in columns {
        list.add(&format!("zfs_later_groups_{column}_p50"), "", median(later.iter().map(|group| value(group)).collect()));
    }
    let rates: Vec<f64> = later
        .iter()
        .filter(|group| group.first_sleep_ns > 0 && group.first_stop_ns > group.first_sleep_ns)
        .map(|group| to_f64(group.delayed) * to_f64(NS_PER_S) / to_f64(group.first_stop_ns - group.first_sleep_ns))
        .collect();
    if !rates.is_empty() {
        list.add("zfs_later_groups_delayed_per_s_p50", "1/s", median(rates));
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

    fn value(record: &Record, elapsed_ns: u64, name: &str) -> f64 {
        let mut list = List::default();
        throttling(&mut list, record, elapsed_ns);
        list.0.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("{name}")).value
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
                record.entered(group, HeldUp { delayed: write < group, ..HeldUp::default() });
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
        record.entered(1, HeldUp::default());
        assert!((value(&record, 2_000_000_000, "zfs_first_delay_s") - 2.0).abs() < 1e-9);
        record.sleeps(1, 500_000_000);
        record.sleeps(1, 600_000_000);
        record.entered(1, HeldUp::default());
        assert!((value(&record, 2_000_000_000, "zfs_first_delay_s") - 0.5).abs() < 1e-9);
        assert!((value(&record, 2_000_000_000, "zfs_writes_before_delay") - 1.0).abs() < 1e-9);
    }
}
