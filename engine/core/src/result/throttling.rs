//! The metrics of a ZFS write path.
//!
//! | metric | unit | what it is |
//! |---|---|---|
//! | `zfs_not_delayed_writes`, `zfs_delayed_writes`, `zfs_blocked_writes` | | writes that entered at once, that slept, that were stopped at a limit |
//! | `zfs_delay_total_s`, `zfs_blocked_total_s` | s | what they slept and waited |
//! | `zfs_delayed_share_percent` | % | delayed writes of all |
//! | `zfs_first_delay_s` | s | when a write first slept; the end of the last worker when none did |
//! | `zfs_writes_before_delay` | | writes that had entered by then |
//! | `zfs_written_bytes`, `zfs_metadata_bytes` | B | written to the devices, and metadata in it |
//! | `zfs_dirty_max_bytes` | B | most dirty data |
//! | `zfs_dirty_settled_share_percent` | % | dirty data of the throttle's limit, averaged over the second half of the workers' time |
//! | `zfs_largest_step_down_bytes` | B | the largest amount of dirty data released at once for one block, or for a group that is released as one |
//! | `zfs_groups` | | groups that have been filled: closed, with writes in them |
//! | `zfs_groups_with_stops` | | groups at whose limit a write was stopped |
//! | `zfs_first_group_X`, `zfs_second_group_X`, `zfs_third_group_X` | | of the first three of them; X is `not_delayed`, `delayed` or `blocked` |
//! | `zfs_later_groups_X_p50` | | median over all but the first of them |
//! | `zfs_later_groups_delayed_per_s_p50` | 1/s | the same, of the rate at which delayed writes entered: from the first sleep to the first stop in that group |
//!
//! A write that was stopped counts for the group that it entered, not for the one that was full.

use super::metrics::{List, real, share_percent};
use crate::kernel::NS_PER_S;
use crate::zfs::record::{GroupRow, Record};

/// Adds the metrics of a write path whose workers ended at `elapsed_ns`.
pub(super) fn throttling(list: &mut List, record: &Record, elapsed_ns: u64) {
    let counts = &record.counts;
    list.add("zfs_not_delayed_writes".into(), "", real(counts.not_delayed));
    list.add("zfs_delayed_writes".into(), "", real(counts.delayed));
    list.add("zfs_blocked_writes".into(), "", real(counts.blocked));
    list.add("zfs_delay_total_s".into(), "s", real(counts.delay_ns) / real(NS_PER_S));
    list.add("zfs_blocked_total_s".into(), "s", real(counts.blocked_ns) / real(NS_PER_S));
    let writes = record.groups.iter().map(|group| group.writes).sum();
    list.add("zfs_delayed_share_percent".into(), "%", share_percent(counts.delayed, writes));
    list.add("zfs_first_delay_s".into(), "s", real(counts.first_sleep_ns.unwrap_or(elapsed_ns)) / real(NS_PER_S));
    let before = if counts.first_sleep_ns.is_some() { counts.writes_before_sleep } else { writes };
    list.add("zfs_writes_before_delay".into(), "", real(before));
    list.add("zfs_written_bytes".into(), "B", real(counts.written_bytes));
    list.add("zfs_metadata_bytes".into(), "B", real(counts.metadata_bytes));
    let most = record.series.iter().map(|row| row.dirty_max_bytes).max().unwrap_or(0);
    list.add("zfs_dirty_max_bytes".into(), "B", real(most));
    if let Some(share) = settled_share_percent(record, elapsed_ns) {
        list.add("zfs_dirty_settled_share_percent".into(), "%", share);
    }
    list.add("zfs_largest_step_down_bytes".into(), "B", real(counts.largest_step_bytes));
    groups(list, record);
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
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / real(shares.len() as u64))
}

/// A number of a group.
type OfGroup = fn(&GroupRow) -> f64;

fn groups(list: &mut List, record: &Record) {
    let filled: Vec<&GroupRow> = record.groups.iter().filter(|group| group.closed_ns > 0 && group.writes > 0).collect();
    list.add("zfs_groups".into(), "", real(filled.len() as u64));
    let stopping = record.groups.iter().filter(|group| group.first_stop_ns > 0).count();
    list.add("zfs_groups_with_stops".into(), "", real(stopping as u64));
    let columns: [(&str, OfGroup); 3] = [
        ("not_delayed", |group| real(group.not_delayed)),
        ("delayed", |group| real(group.delayed)),
        ("blocked", |group| real(group.blocked)),
    ];
    for (place, group) in ["first", "second", "third"].iter().zip(&filled) {
        for (column, value) in columns {
            list.add(format!("zfs_{place}_group_{column}"), "", value(group));
        }
    }
    let Some((_, later)) = filled.split_first().filter(|(_, later)| !later.is_empty()) else { return };
    for (column, value) in columns {
        list.add(format!("zfs_later_groups_{column}_p50"), "", median(later.iter().map(|group| value(group)).collect()));
    }
    let rates: Vec<f64> = later
        .iter()
        .filter(|group| group.first_sleep_ns > 0 && group.first_stop_ns > group.first_sleep_ns)
        .map(|group| real(group.delayed) * real(NS_PER_S) / real(group.first_stop_ns - group.first_sleep_ns))
        .collect();
    if !rates.is_empty() {
        list.add("zfs_later_groups_delayed_per_s_p50".into(), "1/s", median(rates));
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
    use crate::zfs::record::{HeldUp, Level};

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
