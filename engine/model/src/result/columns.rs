//! Tables of a run as columns of numbers, the form in which they cross to other hosts.

use super::analytics::{self, Analytics};
use super::{Recorder, cpu, reading};
use crate::kernel::{NO_DEVICE, Phase};
use crate::layers::cluster::Cluster;
use crate::layers::cluster::record::Record as ClusterRecord;
use crate::layers::controller::Controller;
use crate::layers::device::Usage;
use crate::layers::volume::PrefetchRecord;
use crate::layers::zfs::read_record::Reads;
use crate::layers::zfs::record::Record;

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers; nanoseconds and bytes are whole and below 2^53.
    F64(Vec<f64>),
    /// Indices and counts.
    U32(Vec<u32>),
}

impl Column {
    /// The element type's name.
    #[must_use]
    pub fn dtype(&self) -> &'static str {
        match self {
            Self::F64(_) => "f64",
            Self::U32(_) => "u32",
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U32(values) => values.len(),
        }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What the tables are made from.
pub struct Source<'a> {
    /// Statistics and log.
    pub recorder: &'a Recorder,
    /// Prefetches.
    pub prefetches: &'a [PrefetchRecord],
    /// Job and start of the region of each worker.
    pub workers: Vec<(usize, u64)>,
    /// What each device has done.
    pub devices: Vec<Usage>,
    /// The server's analytics, where they were kept.
    pub analytics: Option<&'a Analytics>,
    /// The controllers of virtual disks.
    pub controller: Option<&'a Controller>,
    /// What a ZFS write path left.
    pub zfs: Option<&'a Record>,
    /// What its read side left.
    pub reads: Option<&'a Reads>,
    /// The nodes of a cluster.
    pub cluster: Option<&'a Cluster>,
}

const OPS: [&str; 9] = ["id", "job", "op", "offset", "bytes", "cached_bytes", "missed_bytes", "submit_ns", "latency_ns"];
const PREFETCHES: [&str; 7] = ["trigger", "job", "offset", "bytes", "issue_ns", "done_ns", "used_bytes"];
const BINS: [&str; 6] = ["job", "op", "lower_ns", "upper_ns", "count", "total_ns"];
const SERIES: [&str; 9] = [
    "time_ns",
    "reads",
    "writes",
    "read_bytes",
    "write_bytes",
    "read_latency_mean_ms",
    "write_latency_mean_ms",
    "cached_bytes",
    "missed_bytes",
];
const DEVICES: [&str; 8] = ["index", "reads", "writes", "read_bytes", "write_bytes", "read_response_ns", "write_response_ns", "busy_ns"];

const ZFS: [&str; 13] = [
    "dirty_mean_bytes",
    "dirty_max_bytes",
    "limit_bytes",
    "async_writes_mean",
    "async_writes_max",
    "written_bytes",
    "not_delayed",
    "delayed",
    "delay_ns",
    "blocked",
    "blocked_ns",
    "log_bytes",
    "log_live_bytes",
];
const COMMITS: [&str; 6] = ["dataset", "started_ns", "ended_ns", "writes", "bytes", "diverted_bytes"];
const GROUPS: [&str; 13] = [
    "group",
    "opened_ns",
    "closed_ns",
    "quiesced_ns",
    "sync_started_ns",
    "data_written_ns",
    "synced_ns",
    "bytes",
    "metadata_bytes",
    "limit_bytes",
    "not_delayed",
    "delayed",
    "blocked",
];

/// Bytes from node to node by interval; `why` is 0 for requests, 1 for blocks that follow their reader, 2 for copies made again.
const FLOWS: [&str; 6] = ["interval", "why", "vm", "from", "to", "bytes"];
/// Blocks of each machine on each node at the start.
const PLACED: [&str; 3] = ["vm", "node", "blocks"];
/// A machine coming to a node (`vm` is its job), or a node that is lost (`vm` is 4,294,967,295).
const NODE_EVENTS: [&str; 3] = ["time_ns", "vm", "node"];

/// The names of all columns, `table.column`.
#[must_use]
pub fn names() -> Vec<String> {
    let mut names = Vec::new();
    let mut table = |table: &str, columns: &[&str]| names.extend(columns.iter().map(|column| format!("{table}.{column}")));
    table("ops", &OPS);
    table("ops", &["device"]);
    for phase in Phase::ALL {
        table("ops", &[&format!("{}_ns", phase.name())]);
    }
    table("prefetches", &PREFETCHES);
    table("bins", &BINS);
    table("series", &SERIES);
    table("devices", &DEVICES);
    table("zfs", &ZFS);
    table("groups", &GROUPS);
    table("commits", &COMMITS);
    table("sources", &reading::SOURCES);
    table("flows", &FLOWS);
    table("placed", &PLACED);
    table("node_events", &NODE_EVENTS);
    table("analytics", &analytics::COLUMNS);
    table("cores", &analytics::CORES);
    table("cpu", &cpu::CPU);
    table("shards", &cpu::SHARDS);
    names
}

#[allow(clippy::cast_precision_loss)] // bytes and nanoseconds stay below 2^53
pub(super) fn reals(values: impl Iterator<Item = u64>) -> Column {
    Column::F64(values.map(|value| value as f64).collect())
}

#[allow(clippy::cast_possible_truncation)] // indices
pub(super) fn indices(values: impl Iterator<Item = u64>) -> Column {
    Column::U32(values.map(|value| value as u32).collect())
}

/// A column by its name, `table.column`.
#[must_use]
pub fn column(source: &Source, name: &str) -> Option<Column> {
    match name.split_once('.')? {
        ("ops", column) => ops(source, column),
        ("prefetches", column) => prefetches(source, column),
        ("bins", column) => bins(source, column),
        ("series", column) => series(source, column),
        ("devices", column) => devices(source, column),
        ("zfs", column) => zfs(source, column),
        ("groups", column) => groups(source, column),
        ("commits", column) => commits(source, column),
        ("sources", column) => reading::sources(source.reads, column),
        ("flows", column) => flows(source, column),
        ("placed", column) => placed(source, column),
        ("node_events", column) => node_events(source, column),
        ("analytics", column) => analytics::column(source.analytics, column),
        ("cores", column) => analytics::cores(source.analytics, column),
        ("cpu", column) => cpu::servers(source.controller, column),
        ("shards", column) => cpu::shards(source.controller, column),
        _ => None,
    }
}

fn ops(source: &Source, column: &str) -> Option<Column> {
    let empty = super::log::Log::default();
    let log = source.recorder.log.as_ref().unwrap_or(&empty);
    Some(match column {
        "id" => Column::U32(log.id.clone()),
        "job" => indices(log.job.iter().map(|job| u64::from(*job))),
        "op" => indices(log.op.iter().map(|op| *op as u64)),
        "offset" => reals(log.offset.iter().copied()),
        "bytes" => reals(log.bytes.iter().map(|bytes| u64::from(*bytes))),
        "cached_bytes" => reals(log.cached.iter().map(|bytes| u64::from(*bytes))),
        "missed_bytes" => reals(log.missed.iter().map(|bytes| u64::from(*bytes))),
        "submit_ns" => reals(log.submit_ns.iter().copied()),
        "latency_ns" => reals(log.phases().map(|phases| phases.iter().sum())),
        "device" => Column::U32(log.device.iter().map(|device| if *device == NO_DEVICE { u32::MAX } else { u32::from(*device) }).collect()),
        _ => {
            let name = column.strip_suffix("_ns")?;
            let phase = Phase::ALL.into_iter().find(|phase| phase.name() == name)?;
            reals(log.phases().map(|phases| phases[phase as usize]))
        }
    })
}

fn prefetches(source: &Source, column: &str) -> Option<Column> {
    let rows = source.prefetches.iter();
    let worker = |row: &PrefetchRecord| source.workers[row.worker as usize];
    Some(match column {
        "trigger" => indices(rows.map(|row| u64::from(row.trigger))),
        "job" => indices(rows.map(|row| worker(row).0 as u64)),
        "offset" => reals(rows.map(|row| row.offset.saturating_sub(worker(row).1))),
        "bytes" => reals(rows.map(|row| row.bytes)),
        "issue_ns" => reals(rows.map(|row| row.issue_ns)),
        "done_ns" => reals(rows.map(|row| row.done_ns)),
        "used_bytes" => reals(rows.map(|row| row.used_bytes)),
        _ => return None,
    })
}

fn bins(source: &Source, column: &str) -> Option<Column> {
    let rows = source.recorder.jobs.iter().enumerate().flat_map(|(job, stats)| {
        stats.by_op.iter().enumerate().flat_map(move |(op, stats)| stats.bins.iter().map(move |bin| (job as u64, op as u64, bin)))
    });
    Some(match column {
        "job" => indices(rows.map(|(job, _, _)| job)),
        "op" => indices(rows.map(|(_, op, _)| op)),
        "lower_ns" => reals(rows.map(|(_, _, bin)| bin.lower_ns)),
        "upper_ns" => reals(rows.map(|(_, _, bin)| bin.upper_ns)),
        "count" => reals(rows.map(|(_, _, bin)| bin.count)),
        "total_ns" => reals(rows.map(|(_, _, bin)| bin.total_ns)),
        _ => return None,
    })
}

#[allow(clippy::cast_precision_loss)] // nanoseconds of one interval
fn series(source: &Source, column: &str) -> Option<Column> {
    let rows = source.recorder.series.iter();
    let mean_ms = |op: usize| {
        Column::F64(
            rows.clone().map(|row| if row.ios[op] == 0 { 0.0 } else { row.total_ns[op] as f64 / row.ios[op] as f64 / 1e6 }).collect(),
        )
    };
    Some(match column {
        "time_ns" => reals((0..rows.len() as u64).map(|index| index * source.recorder.interval_ns)),
        "reads" => reals(rows.map(|row| row.ios[0])),
        "writes" => reals(rows.map(|row| row.ios[1])),
        "read_bytes" => reals(rows.map(|row| row.bytes[0])),
        "write_bytes" => reals(rows.map(|row| row.bytes[1])),
        "read_latency_mean_ms" => mean_ms(0),
        "write_latency_mean_ms" => mean_ms(1),
        "cached_bytes" => reals(rows.map(|row| row.cached_bytes)),
        "missed_bytes" => reals(rows.map(|row| row.missed_bytes)),
        _ => return None,
    })
}

fn devices(source: &Source, column: &str) -> Option<Column> {
    let rows = source.devices.iter();
    Some(match column {
        "index" => indices(0..rows.len() as u64),
        "reads" => reals(rows.map(|usage| usage.ios[0])),
        "writes" => reals(rows.map(|usage| usage.ios[1])),
        "read_bytes" => reals(rows.map(|usage| usage.bytes[0])),
        "write_bytes" => reals(rows.map(|usage| usage.bytes[1])),
        "read_response_ns" => reals(rows.map(|usage| usage.response_ns[0])),
        "write_response_ns" => reals(rows.map(|usage| usage.response_ns[1])),
        "busy_ns" => reals(rows.map(|usage| usage.busy_ns)),
        _ => return None,
    })
}

/// One row for each interval of the series.
#[allow(clippy::cast_precision_loss)] // thousandths of a number of requests
fn zfs(source: &Source, column: &str) -> Option<Column> {
    let rows = source.zfs.map_or(&[][..], |record| &record.series).iter();
    Some(match column {
        "dirty_mean_bytes" => reals(rows.map(|row| row.dirty_mean_bytes)),
        "dirty_max_bytes" => reals(rows.map(|row| row.dirty_max_bytes)),
        "limit_bytes" => reals(rows.map(|row| row.limit_bytes)),
        "async_writes_mean" => Column::F64(rows.map(|row| row.async_writes_mean_milli as f64 / 1000.0).collect()),
        "async_writes_max" => reals(rows.map(|row| u64::from(row.async_writes_max))),
        "written_bytes" => reals(rows.map(|row| row.written_bytes)),
        "not_delayed" => reals(rows.map(|row| row.not_delayed)),
        "delayed" => reals(rows.map(|row| row.delayed)),
        "delay_ns" => reals(rows.map(|row| row.delay_ns)),
        "blocked" => reals(rows.map(|row| row.blocked)),
        "blocked_ns" => reals(rows.map(|row| row.blocked_ns)),
        "log_bytes" => reals(rows.map(|row| row.log_bytes)),
        "log_live_bytes" => reals(rows.map(|row| row.log_live_bytes)),
        _ => return None,
    })
}

/// One row for each commit of an intent log.
fn commits(source: &Source, column: &str) -> Option<Column> {
    let rows = source.zfs.map_or(&[][..], |record| &record.commits).iter();
    Some(match column {
        "dataset" => reals(rows.map(|row| row.dataset)),
        "started_ns" => reals(rows.map(|row| row.started_ns)),
        "ended_ns" => reals(rows.map(|row| row.ended_ns)),
        "writes" => reals(rows.map(|row| row.writes)),
        "bytes" => reals(rows.map(|row| row.bytes)),
        "diverted_bytes" => reals(rows.map(|row| row.diverted_bytes)),
        _ => return None,
    })
}

/// One row for each transaction group.
fn groups(source: &Source, column: &str) -> Option<Column> {
    let rows = source.zfs.map_or(&[][..], |record| &record.groups).iter();
    Some(match column {
        "group" => reals(rows.map(|row| row.group)),
        "opened_ns" => reals(rows.map(|row| row.opened_ns)),
        "closed_ns" => reals(rows.map(|row| row.closed_ns)),
        "quiesced_ns" => reals(rows.map(|row| row.quiesced_ns)),
        "sync_started_ns" => reals(rows.map(|row| row.sync_started_ns)),
        "data_written_ns" => reals(rows.map(|row| row.data_written_ns)),
        "synced_ns" => reals(rows.map(|row| row.synced_ns)),
        "bytes" => reals(rows.map(|row| row.bytes)),
        "metadata_bytes" => reals(rows.map(|row| row.metadata_bytes)),
        "limit_bytes" => reals(rows.map(|row| row.limit_bytes)),
        "not_delayed" => reals(rows.map(|row| row.not_delayed)),
        "delayed" => reals(rows.map(|row| row.delayed)),
        "blocked" => reals(rows.map(|row| row.blocked)),
        _ => return None,
    })
}

fn flows(source: &Source, column: &str) -> Option<Column> {
    let rows = source.cluster.map_or(&[][..], |cluster| &cluster.record().flows).iter();
    Some(match column {
        "interval" => Column::U32(rows.map(|row| row.interval).collect()),
        "why" => indices(rows.map(|row| row.why as u64)),
        "vm" => indices(rows.map(|row| u64::from(row.vm))),
        "from" => indices(rows.map(|row| u64::from(row.from))),
        "to" => indices(rows.map(|row| u64::from(row.to))),
        "bytes" => reals(rows.map(|row| row.bytes)),
        _ => return None,
    })
}

/// One row for each machine and node.
fn placed(source: &Source, column: &str) -> Option<Column> {
    let empty = ClusterRecord::default();
    let record = source.cluster.map_or(&empty, Cluster::record);
    let (rows, nodes) = (0..record.placed.len() as u64, record.nodes.max(1) as u64);
    Some(match column {
        "vm" => indices(rows.map(|row| row / nodes)),
        "node" => indices(rows.map(|row| row % nodes)),
        "blocks" => Column::U32(record.placed.clone()),
        _ => return None,
    })
}

/// Machines that come to nodes, then nodes that are lost.
fn node_events(source: &Source, column: &str) -> Option<Column> {
    let empty = ClusterRecord::default();
    let record = source.cluster.map_or(&empty, Cluster::record);
    let arrivals = record.arrivals.iter().map(|row| (row.time_ns, u64::from(row.vm), row.node));
    let rows = arrivals.chain(record.losses.iter().map(|row| (row.time_ns, u64::from(u32::MAX), row.node)));
    Some(match column {
        "time_ns" => reals(rows.map(|row| row.0)),
        "vm" => indices(rows.map(|row| row.1)),
        "node" => indices(rows.map(|row| u64::from(row.2))),
        _ => return None,
    })
}
