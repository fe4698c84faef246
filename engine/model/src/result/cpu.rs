//! What a run says about its node's processor: metrics, and the columns of the tables `cpu` and `shards`.

use super::columns::{Column, indices, reals};
use super::metrics::{List, share_percent};
use crate::kernel::{Phase, Phases};
use crate::layers::controller::Controller;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// Columns of the table `cpu`: a row for each server of each virtual disk; number 0 is the primary, 1 the first shard.
pub const CPU: [&str; 7] = ["index", "disk", "number", "requests", "busy_ns", "response_ns", "area_ns"];
/// Columns of the table `shards`: a row for each number of shards that a disk has had.
pub const SHARDS: [&str; 3] = ["disk", "from_ns", "shards"];

/// Adds the metrics of a node that has run for `elapsed_ns`.
pub(super) fn metrics(list: &mut List, controller: &Controller, elapsed_ns: u64) {
    let servers = controller.servers();
    let busy_ns: u64 = servers.iter().map(|row| row.usage.busy_ns).sum();
    let busiest = |primary: bool| {
        let busy = servers.iter().filter(|row| (row.number == 0) == primary).map(|row| row.usage.busy_ns);
        share_percent(busy.max().unwrap_or(0), elapsed_ns)
    };
    list.add("cpu_busy_s", "s", to_f64(busy_ns) / to_f64(NS_PER_S));
    list.add("cpu_busy_share_percent", "%", share_percent(busy_ns, elapsed_ns * u64::from(controller.cores())));
    list.add("primary_busy_share_percent", "%", busiest(true));
    list.add("shard_busy_share_percent", "%", busiest(false));
    if let Some(overtaken) = controller.overtaken() {
        list.add("overtaken_requests", "", to_f64(overtaken));
    }
    if let Some(moved) = controller.moved() {
        list.add("moved_ranges", "", to_f64(moved));
    }
    list.add("replica_busy_share_percent", "%", share_percent(controller.replicas_busy_ns, elapsed_ns));
}

/// Seconds of processor time for each GiB moved, of requests that spent `phases` and moved `bytes`.
pub(super) fn per_gib_s(phases: &Phases, bytes: u64) -> f64 {
    let ns = phases[Phase::Cpu as usize] + phases[Phase::Dispatch as usize];
    to_f64(ns) / to_f64(NS_PER_S) * f64::from(1u32 << 30) / to_f64(bytes.max(1))
}

pub(super) fn servers(controller: Option<&Controller>, column: &str) -> Option<Column> {
    let rows = controller.map_or_else(Vec::new, Controller::servers);
    let rows = rows.iter();
    Some(match column {
        "index" => indices(0..rows.len() as u64),
        "disk" => indices(rows.map(|row| u64::from(row.disk))),
        "number" => indices(rows.map(|row| u64::from(row.number))),
        "requests" => reals(rows.map(|row| row.usage.requests)),
        "busy_ns" => reals(rows.map(|row| row.usage.busy_ns)),
        "response_ns" => reals(rows.map(|row| row.usage.response_ns)),
        "area_ns" => reals(rows.map(|row| row.usage.area_ns)),
        _ => return None,
    })
}

pub(super) fn shards(controller: Option<&Controller>, column: &str) -> Option<Column> {
    let rows = controller.map_or(&[][..], |controller| &controller.epochs).iter();
    Some(match column {
        "disk" => indices(rows.map(|row| u64::from(row.disk))),
        "from_ns" => reals(rows.map(|row| row.from_ns)),
        "shards" => indices(rows.map(|row| u64::from(row.shards))),
        _ => return None,
    })
}
