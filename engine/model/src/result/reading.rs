//! The metrics and the time series of a ZFS read side.
//!
//! | metric | unit | what it is |
//! |---|---|---|
//! | `JOB.memory_percent`, `JOB.on_its_way_percent`, `JOB.flash_percent`, `JOB.pool_percent` | % | where the job's reads found their bytes |
//! | `zfs_ahead_bytes`, `zfs_ahead_used_percent`, `zfs_ahead_wasted_percent` | B, % | read ahead; used later; evicted before anybody had used it |
//! | `zfs_ahead_refused_bytes` | B | not read ahead because all memory was on its way |
//! | `zfs_ahead_asked_bytes` | B | most bytes that all streams together were allowed ahead of their readers |
//! | `zfs_readers_before_waste` | | workers that had read when the first byte was wasted, all when none was |
//! | `zfs_arc_max_bytes` | B | most bytes in the ARC |
//! | `zfs_l2_written_bytes`, `zfs_l2_bytes`, `zfs_l2_share_percent` | B, % | written to cache devices, on them at the end, and as a share of the files |
//! | `zfs_l2_directory_bytes` | B | most memory that their directory took |
//! | `zfs_l2_to_N_percent_s` | s | when N % of the files were on them; absent when they never were |

use super::columns::{Column, reals};
use super::metrics::{List, share_percent};
use crate::layers::zfs::read_record::{Reads, Row, SHARES_PERCENT};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// Adds the metrics of a read side; `names` are the jobs'.
pub(super) fn reading(list: &mut List, names: &[String], reads: &Reads) {
    for (name, bytes) in names.iter().zip(&reads.by_job) {
        let total: u64 = bytes.iter().sum();
        for (source, bytes) in ["memory", "on_its_way", "flash", "pool"].iter().zip(bytes).filter(|_| total > 0) {
            list.add(&format!("{name}.{source}_percent"), "%", share_percent(*bytes, total));
        }
    }
    list.add("zfs_ahead_bytes", "B", to_f64(reads.ahead_bytes));
    list.add("zfs_ahead_used_percent", "%", share_percent(reads.used_bytes, reads.ahead_bytes));
    list.add("zfs_ahead_wasted_percent", "%", share_percent(reads.wasted_bytes, reads.ahead_bytes));
    list.add("zfs_ahead_refused_bytes", "B", to_f64(reads.refused_bytes));
    list.add("zfs_ahead_asked_bytes", "B", to_f64(reads.most_asked_bytes));
    list.add("zfs_readers_before_waste", "", to_f64(reads.readers_before_waste.unwrap_or(reads.readers)));
    let most = |of: fn(&Row) -> u64| to_f64(reads.series.iter().map(of).max().unwrap_or(0));
    list.add("zfs_arc_max_bytes", "B", most(|row| row.arc));
    if reads.fed_bytes == 0 {
        return;
    }
    let held = reads.series.last().map_or(0, |row| row.l2);
    list.add("zfs_l2_written_bytes", "B", to_f64(reads.fed_bytes));
    list.add("zfs_l2_bytes", "B", to_f64(held));
    list.add("zfs_l2_share_percent", "%", share_percent(held, reads.file_bytes));
    list.add("zfs_l2_directory_bytes", "B", to_f64(reads.most_directory_bytes));
    for (percent, at_ns) in SHARES_PERCENT.iter().zip(reads.warm_ns) {
        if let Some(ns) = at_ns {
            list.add(&format!("zfs_l2_to_{percent}_percent_s"), "s", to_f64(ns) / to_f64(NS_PER_S));
        }
    }
}

/// The columns of the table `sources`.
pub(super) const SOURCES: [&str; 10] = [
    "time_ns",
    "memory_bytes",
    "on_its_way_bytes",
    "flash_bytes",
    "pool_bytes",
    "ahead_bytes",
    "wasted_bytes",
    "fed_bytes",
    "arc_bytes",
    "l2_bytes",
];

/// A column of the table `sources`, a row for each interval; empty without an ARC.
pub(super) fn sources(reads: Option<&Reads>, column: &str) -> Option<Column> {
    let place = SOURCES.iter().position(|name| *name == column)?;
    let (rows, interval_ns) = reads.map_or((&[][..], 0), |reads| (&reads.series[..], reads.interval_ns));
    Some(reals(rows.iter().enumerate().map(|(number, row)| match place {
        0 => number as u64 * interval_ns,
        5 => row.ahead,
        6 => row.wasted,
        7 => row.fed,
        8 => row.arc,
        9 => row.l2,
        source => row.read[source - 1],
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::zfs::read_record::Source;

    #[test]
    fn reads_are_told_by_job_and_by_interval() {
        let mut reads = Reads::new(2, 1000, 10);
        reads.read(3, 0, Source::Memory, 30);
        reads.read(13, 0, Source::Flash, 10);
        reads.read(13, 1, Source::Pool, 5);
        reads.fed_bytes = 700;
        reads.warm(13, 600);
        let mut list = List::default();
        reading(&mut list, &["a".into(), "b".into()], &reads);
        let value = |name: &str| list.0.iter().find(|metric| metric.name == name).map(|metric| metric.value);
        assert_eq!((value("a.memory_percent"), value("a.flash_percent"), value("b.pool_percent")), (Some(75.0), Some(25.0), Some(100.0)));
        assert_eq!((value("zfs_l2_share_percent"), value("zfs_l2_to_80_percent_s")), (Some(60.0), None));
        let column = |name: &str| sources(Some(&reads), name);
        assert_eq!(column("time_ns"), Some(Column::F64(vec![0.0, 10.0])));
        assert_eq!(column("memory_bytes"), Some(Column::F64(vec![30.0, 0.0])));
        assert_eq!(column("pool_bytes"), Some(Column::F64(vec![0.0, 5.0])));
        assert_eq!(column("l2_bytes"), Some(Column::F64(vec![0.0, 600.0])));
        assert_eq!(column("nothing"), None);
    }
}
