//! The report of a controller's cache: metrics, the table `raid_cache` over time, and its log, `learn_cycles`.

use super::RaidCache;
use super::battery::{Cycle, Line};
use crate::result::columns::Take::{Index, Real, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::Metrics;
use seeklab_spec::raid_cache::WritePolicy;

/// Most intervals that are kept.
const MAX_ROWS: usize = 1 << 20;
/// Most learn cycles of which the log has lines.
const MAX_CYCLES: usize = 10_000;

/// The counts of a cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Bytes written into memory.
    pub cached: u64,
    /// Bytes written through.
    pub through: u64,
    /// Bytes destaged.
    pub destaged: u64,
    /// Bytes read from memory.
    pub read: u64,
    /// The most bytes in memory.
    pub most: u64,
    /// Writes that waited for room.
    pub waits: u64,
}

/// The activity in one interval, and the state at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// Bytes written into memory.
    pub cached: u64,
    /// Bytes written through.
    pub through: u64,
    /// Bytes in memory at its end.
    pub dirty: u64,
}

/// Rows over time.
#[derive(Debug)]
pub struct Rows {
    interval_ns: u64,
    rows: Vec<Row>,
}

impl Rows {
    pub(super) fn new(interval_ns: u64) -> Self {
        Self { interval_ns: interval_ns.max(1), rows: vec![Row::default()] }
    }

    /// The row of a moment, which is in the last interval or a later one.
    pub(super) fn at(&mut self, now_ns: u64) -> &mut Row {
        let index = usize::try_from(now_ns / self.interval_ns).unwrap_or(MAX_ROWS).min(MAX_ROWS);
        if self.rows.len() <= index {
            let dirty = self.rows.last().map_or(0, |row| row.dirty);
            self.rows.resize(index + 1, Row { dirty, ..Row::default() });
        }
        &mut self.rows[index]
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.rows.len() * size_of::<Row>()) as u64
    }
}

/// A row for each interval: what was written in it, and battery and policy at its begin.
const RAID_CACHE: Table<(u64, Row, f64, bool)> = Table::new(
    "raid_cache",
    &[
        ("time_ns", Whole(|row| row.0)),
        ("cached_bytes", Whole(|row| row.1.cached)),
        ("through_bytes", Whole(|row| row.1.through)),
        ("dirty_bytes", Whole(|row| row.1.dirty)),
        ("charge", Real(|row| row.2)),
        ("write_through", Index(|row| u32::from(row.3))),
    ],
);

/// A row for each line of the controller's log: 0 a learn cycle starts, 1 the battery discharges, 2 its charge falls below what is needed,
/// 3 write-through, 4 the cycle is complete, 5 write-back, 6 the charge is enough again.
const LEARN_CYCLES: Table<(u32, u64, Line)> =
    Table::new("learn_cycles", &[("cycle", Index(|row| row.0)), ("time_ns", Whole(|row| row.1)), ("line", Index(|row| row.2 as u32))]);

impl RaidCache {
    /// The cycles that have started, with their lines up to now.
    fn log(&self, now_ns: u64) -> impl Iterator<Item = (u32, u64, Line)> {
        let heeds = self.policy == WritePolicy::WriteBack;
        let cycles = self.battery.as_ref().into_iter().flat_map(move |battery| battery.cycles(now_ns)).take(MAX_CYCLES);
        let lines =
            (0..).zip(cycles).flat_map(move |(nth, cycle)| cycle.lines(!heeds).into_iter().map(move |(time, line)| (nth, time, line)));
        lines.filter(move |(_, time, _)| *time <= now_ns)
    }

    /// Reports the cache's metrics.
    #[cold]
    pub(super) fn report(&self, metrics: &mut Metrics) {
        let Self { counts, .. } = self;
        metrics.bytes("raid_cache_cached_bytes", "Bytes written to the controller's memory.", counts.cached);
        metrics.bytes("raid_cache_through_bytes", "Bytes written through to the devices.", counts.through);
        metrics.bytes("raid_cache_destaged_bytes", "Bytes destaged from the controller's memory.", counts.destaged);
        metrics.bytes("raid_cache_read_bytes", "Bytes that reads found in the controller's memory.", counts.read);
        metrics.bytes("raid_cache_max_bytes", "Maximum bytes in the controller's memory at any moment.", counts.most);
        metrics.count("raid_cache_waits", "Writes that waited for room in the controller's memory.", counts.waits);
        self.cycle_metrics(metrics);
        if let Some((one, any)) = self.servers {
            metrics.percent("raid_cache_server_slow_percent", "Share of the time that one server is in write-through.", 100.0 * one);
            let help = "Share of the time that at least one of the servers is in write-through, averaged over the draws.";
            metrics.percent("raid_cache_any_server_slow_percent", help, 100.0 * any);
        }
    }

    /// Reports when what happened in the first learn cycle, as far as it has come.
    fn cycle_metrics(&self, metrics: &mut Metrics) {
        let now_ns = metrics.run.now_ns;
        let Some(battery) = &self.battery else { return };
        let Some(Cycle { start, below, complete, write_back, .. }) = battery.cycles(now_ns).next() else { return };
        metrics.seconds("raid_cache_learn_s", "Start of the first learn cycle.", start);
        let heeds = self.policy == WritePolicy::WriteBack && below < write_back;
        if heeds && below <= now_ns {
            metrics.seconds(
                "raid_cache_until_slow_s",
                "Time from the start of the first learn cycle to the start of write-through.",
                below - start,
            );
            metrics.seconds("raid_cache_slow_s", "Time in write-through in the first learn cycle.", now_ns.min(write_back) - below);
        }
        if heeds && write_back <= now_ns {
            metrics.seconds("raid_cache_write_back_s", "First time that write-back resumed.", write_back);
        }
        if complete <= now_ns {
            metrics.seconds("raid_cache_cycle_s", "Time from the start of the first learn cycle until it was complete.", complete - start);
        }
    }

    /// Reports the cache over time, and the controller's log.
    pub(super) fn report_tables(cache: Option<&Self>, now_ns: u64, tables: &mut Tables) {
        let rows = cache.into_iter().flat_map(|cache| (0..).zip(&cache.rows.rows).map(move |(row, of)| (cache, row, of)));
        let rows = rows.map(|(cache, row, of)| {
            let time_ns = row * cache.rows.interval_ns;
            let charge = cache.battery.as_ref().map_or(1.0, |battery| battery.charge(time_ns));
            (time_ns, *of, charge, cache.is_write_through(time_ns))
        });
        tables.table(&RAID_CACHE, rows);
        tables.table(&LEARN_CYCLES, cache.into_iter().flat_map(|cache| cache.log(now_ns)));
    }
}
