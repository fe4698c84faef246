//! The report of a node's processor: metrics, and the tables `cpu` and `shards`.

use super::{Controller, Epoch, ServerRow};
use crate::result::columns::Take::{Index, Whole};
use crate::result::columns::{Table, Tables};
use crate::result::metrics::Metrics;

/// A row for each server of each virtual disk; number 0 is the primary, 1 the first shard.
const CPU: Table<(u32, ServerRow)> = Table::new(
    "cpu",
    &[
        ("index", Index(|row| row.0)),
        ("disk", Index(|row| row.1.disk)),
        ("number", Index(|row| row.1.number)),
        ("requests", Whole(|row| row.1.usage.requests)),
        ("busy_ns", Whole(|row| row.1.usage.busy_ns)),
        ("response_ns", Whole(|row| row.1.usage.response_ns)),
        ("area_ns", Whole(|row| row.1.usage.area_ns)),
    ],
);

/// A row for each number of shards that a disk has had.
const SHARDS: Table<Epoch> =
    Table::new("shards", &[("disk", Index(|row| row.disk)), ("from_ns", Whole(|row| row.from_ns)), ("shards", Index(|row| row.shards))]);

impl Controller {
    /// Reports the processor's metrics.
    pub(super) fn report(&self, metrics: &mut Metrics) {
        let servers = self.servers();
        let elapsed_ns = metrics.run.now_ns;
        let busy_ns: u64 = servers.iter().map(|row| row.usage.busy_ns).sum();
        let busiest = |primary: bool| {
            let busy = servers.iter().filter(|row| (row.number == 0) == primary).map(|row| row.usage.busy_ns);
            busy.max().unwrap_or(0)
        };
        metrics.seconds("cpu_busy_s", "Total time that the controllers of virtual disks worked.", busy_ns);
        metrics.share(
            "cpu_busy_share_percent",
            "Share of the time of all cores that the controllers used.",
            busy_ns,
            elapsed_ns * u64::from(self.cores()),
        );
        metrics.share("primary_busy_share_percent", "Share of the time that the busiest primary worked.", busiest(true), elapsed_ns);
        metrics.share("shard_busy_share_percent", "Share of the time that the busiest shard worked.", busiest(false), elapsed_ns);
        if let Some(overtaken) = self.overtaken() {
            metrics.count(
                "overtaken_requests",
                "Parts of requests that were sent down after a younger request for the same range.",
                overtaken,
            );
        }
        if let Some(moved) = self.moved() {
            metrics.count("moved_ranges", "Changes of a range's owner.", moved);
        }
        metrics.share(
            "replica_busy_share_percent",
            "Share of the time that the replica network was busy.",
            self.replicas_busy_ns,
            elapsed_ns,
        );
    }

    /// Reports the tables of a run, whether it has controllers or not.
    pub(super) fn report_tables(controller: Option<&Self>, tables: &mut Tables) {
        tables.table(&CPU, controller.into_iter().flat_map(|controller| (0..).zip(controller.servers())));
        tables.table(&SHARDS, controller.into_iter().flat_map(|controller| controller.epochs.iter().copied()));
    }
}
