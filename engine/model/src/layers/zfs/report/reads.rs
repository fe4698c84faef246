//! The metrics of a ZFS read side, and its table `sources`.

use crate::layers::zfs::read_record::{Reads, Row, SHARES_PERCENT, Source};
use crate::result::columns::Take::Whole;
use crate::result::columns::{Table, Tables};
use crate::result::metrics::Metrics;

/// A row for each interval, with its start.
const SOURCES: Table<(u64, Row)> = Table::new(
    "sources",
    &[
        ("time_ns", Whole(|row| row.0)),
        ("memory_bytes", Whole(|row| row.1.read[Source::Memory as usize])),
        ("on_its_way_bytes", Whole(|row| row.1.read[Source::OnItsWay as usize])),
        ("flash_bytes", Whole(|row| row.1.read[Source::Flash as usize])),
        ("pool_bytes", Whole(|row| row.1.read[Source::Pool as usize])),
        ("ahead_bytes", Whole(|row| row.1.ahead)),
        ("wasted_bytes", Whole(|row| row.1.wasted)),
        ("fed_bytes", Whole(|row| row.1.fed)),
        ("arc_bytes", Whole(|row| row.1.arc)),
        ("l2_bytes", Whole(|row| row.1.l2)),
    ],
);

impl Reads {
    /// Reports the metrics of the read side.
    pub fn metrics(&self, metrics: &mut Metrics) {
        for (name, bytes) in metrics.run.jobs.iter().zip(&self.by_job) {
            let total: u64 = bytes.iter().sum();
            metrics.within(name, |metrics| {
                for (source, bytes) in [".memory", ".on_its_way", ".flash", ".pool"].iter().zip(bytes).filter(|_| total > 0) {
                    metrics.share(&format!("{source}_percent"), "Share of the job's bytes that came from this source.", *bytes, total);
                }
            });
        }
        metrics.bytes("zfs_ahead_bytes", "Bytes read ahead.", self.ahead_bytes);
        metrics.share("zfs_ahead_used_percent", "Share of read-ahead bytes that were used later.", self.used_bytes, self.ahead_bytes);
        metrics.share(
            "zfs_ahead_wasted_percent",
            "Share of read-ahead bytes that were evicted before use.",
            self.wasted_bytes,
            self.ahead_bytes,
        );
        metrics.bytes(
            "zfs_ahead_refused_bytes",
            "Bytes not read ahead because all memory was waiting for reads in flight.",
            self.refused_bytes,
        );
        metrics.bytes("zfs_ahead_asked_bytes", "Maximum read-ahead distance of all streams together.", self.most_asked_bytes);
        metrics.count(
            "zfs_readers_before_waste",
            "Workers that had read when the first byte was wasted; all workers if none was.",
            self.readers_before_waste.unwrap_or(self.readers),
        );
        metrics.bytes("zfs_arc_max_bytes", "Maximum bytes in the ARC.", self.series.iter().map(|row| row.arc).max().unwrap_or(0));
        if self.fed_bytes == 0 {
            return;
        }
        let held = self.series.last().map_or(0, |row| row.l2);
        metrics.bytes("zfs_l2_written_bytes", "Bytes written to the cache devices.", self.fed_bytes);
        metrics.bytes("zfs_l2_bytes", "Bytes on the cache devices at the end.", held);
        metrics.share("zfs_l2_share_percent", "Bytes on the cache devices at the end, as a share of the files.", held, self.file_bytes);
        metrics.bytes("zfs_l2_directory_bytes", "Maximum memory for the directory of the cache devices.", self.most_directory_bytes);
        for (percent, at_ns) in SHARES_PERCENT.iter().zip(self.warm_ns) {
            if let Some(ns) = at_ns {
                metrics.seconds(
                    &format!("zfs_l2_to_{percent}_percent_s"),
                    "Time when this share of the files was on the cache devices; absent if it never was.",
                    ns,
                );
            }
        }
    }

    /// Reports the table of a run, whether it has a read side or not.
    pub fn tables(reads: Option<&Self>, tables: &mut Tables) {
        let rows = reads.into_iter().flat_map(|reads| (0..).zip(&reads.series).map(|(row, of)| (row * reads.interval_ns, *of)));
        tables.table(&SOURCES, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::columns::{self, Column};
    use crate::result::metrics::Run;

    #[test]
    fn reads_are_told_by_job_and_by_interval() {
        let mut reads = Reads::new(2, 1000, 10);
        reads.read(3, 0, Source::Memory, 30);
        reads.read(13, 0, Source::Flash, 10);
        reads.read(13, 1, Source::Pool, 5);
        reads.fed_bytes = 700;
        reads.warm(13, 600);
        let jobs = ["a".to_owned(), "b".to_owned()];
        let mut metrics = Metrics::new(Run { jobs: &jobs, ..Run::default() });
        reads.metrics(&mut metrics);
        let value = |name: &str| metrics.value(name);
        assert_eq!((value("a.memory_percent"), value("a.flash_percent"), value("b.pool_percent")), (Some(75.0), Some(25.0), Some(100.0)));
        assert_eq!((value("zfs_l2_share_percent"), value("zfs_l2_to_80_percent_s")), (Some(60.0), None));
        let column = |name: &str| columns::column(&format!("sources.{name}"), |tables| Reads::tables(Some(&reads), tables));
        assert_eq!(column("time_ns"), Some(Column::F64(vec![0.0, 10.0])));
        assert_eq!(column("memory_bytes"), Some(Column::F64(vec![30.0, 0.0])));
        assert_eq!(column("pool_bytes"), Some(Column::F64(vec![0.0, 5.0])));
        assert_eq!(column("l2_bytes"), Some(Column::F64(vec![0.0, 600.0])));
        assert_eq!(column("nothing"), None);
    }
}
