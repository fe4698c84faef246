//! The summary of a run: metrics with units in their names.

use super::modes::modes;
use super::reading::reading;
use super::throttling::throttling;
use super::{JobStats, Recorder, Stats};
use super::{cpu, limiter};
use crate::kernel::Phase;
use crate::layers::cluster::Cluster;
use crate::layers::controller::Controller;
use crate::layers::device::Usage;
use crate::layers::layout::rebuild;
use crate::layers::network::Traffic;
use crate::layers::server::Server;
use crate::layers::zfs::read_record::Reads;
use crate::layers::zfs::record::Record;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// A named number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Name, such as `odx.read_latency_mean_ms`.
    pub name: String,
    /// Unit, such as `ms`.
    pub unit: &'static str,
    /// Value.
    pub value: f64,
}

/// What the stack counted besides the jobs' own statistics.
#[derive(Clone, Default)]
pub struct StackCounts<'a> {
    /// Bytes that prefetches fetched.
    pub prefetch_bytes: u64,
    /// Prefetched bytes that a read has used.
    pub prefetch_used_bytes: u64,
    /// Farthest that a prefetch reached beyond the read that triggered it.
    pub prefetch_max_ahead_bytes: u64,
    /// What a network carried, towards the server and back; `None` without one.
    pub network: Option<[Traffic; 2]>,
    /// Time that the network had.
    pub network_time_ns: u64,
    /// What the limits of jobs on NFS clients are found from; `None` without such clients.
    pub clients: Option<&'a limiter::Source<'a>>,
    /// What a ZFS write path did; `None` without one.
    pub zfs: Option<&'a Record>,
    /// What each device of the intent logs did; `None` without them.
    pub log_usage: Option<Vec<Usage>>,
    /// What its read side did; `None` without an ARC.
    pub reads: Option<&'a Reads>,
    /// The nodes of a cluster; `None` without one.
    pub cluster: Option<&'a Cluster>,
    /// Pages written by hosts and pages moved by garbage collection, over all SSDs with flash translation; `None` without one.
    pub flash_pages: Option<[u64; 2]>,
    /// The controllers of virtual disks; `None` without them.
    pub controller: Option<&'a Controller>,
    /// The server node; `None` without one.
    pub server: Option<&'a Server>,
    /// Bytes that the devices have read and written.
    pub device_bytes: u64,
    /// Sum of the devices' busy times.
    pub device_busy_ns: u64,
    /// Number of devices.
    pub devices: u64,
    /// Time that the devices had, which goes on while a drive writes out its buffer.
    pub device_time_ns: u64,
    /// Time to the end of the last worker.
    pub elapsed_ns: u64,
    /// What rebuilding failed devices did; `None` when nothing is rebuilt.
    pub rebuild: Option<rebuild::Traffic>,
}

pub(super) fn share_percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * to_f64(part) / to_f64(whole) }
}

const MS: f64 = 1e6;

/// Metrics in the order they are added.
#[derive(Default)]
pub(super) struct List(pub(super) Vec<Metric>);

impl List {
    /// Adds a metric. Neither this nor the next is worth repeating at its two hundred callers in a module that pages load.
    #[inline(never)]
    pub(super) fn add(&mut self, name: &str, unit: &'static str, value: f64) {
        self.0.push(Metric { name: name.to_owned(), unit, value });
    }

    /// Adds a metric of a job or a part, whose name begins with the part's.
    #[inline(never)]
    pub(super) fn add_to(&mut self, part: &str, name: &str, unit: &'static str, value: f64) {
        self.add(&[part, name].concat(), unit, value);
    }
}

/// All metrics of a run, in a fixed order.
#[must_use]
pub fn metrics(names: &[String], recorder: &Recorder, counts: &StackCounts<'_>) -> Vec<Metric> {
    let mut list = List(Vec::new());
    let read_bytes: u64 = recorder.jobs.iter().map(|job| job.by_op[0].bytes).sum();
    let all_bytes: u64 = recorder.jobs.iter().flat_map(|job| &job.by_op).map(|stats| stats.bytes).sum();
    for (name, job) in names.iter().zip(&recorder.jobs) {
        let bytes = job.by_op.iter().map(|stats| stats.bytes).sum();
        list.add_to(name, ".bytes_share_percent", "%", share_percent(bytes, all_bytes));
        list.add_to(name, ".read_share_percent", "%", share_percent(job.by_op[0].bytes, read_bytes));
        if let Some([first, last]) = job.workers.filter(|workers| workers[0] < workers[1]) {
            let before = job.workers_before_stall.unwrap_or(last - first + 1);
            list.add_to(name, ".workers_before_stall", "", f64::from(before));
        }
        list.add_to(name, ".elapsed_s", "s", to_f64(job.end_ns.saturating_sub(job.start_ns)) / to_f64(NS_PER_S));
        for (stats, op) in job.by_op.iter().zip(["read", "write"]) {
            if stats.ios > 0 {
                direction(&mut list, &format!("{name}.{op}"), job, stats, op == "read");
            }
        }
    }
    let missed_bytes: u64 = recorder.jobs.iter().map(|job| job.by_op[0].missed_bytes).sum();
    // As caches count it: what is already on its way is found.
    list.add("memory_hit_share_percent", "%", share_percent(read_bytes - missed_bytes, read_bytes));
    list.add("prefetch_bytes", "B", to_f64(counts.prefetch_bytes));
    list.add("prefetch_used_share_percent", "%", share_percent(counts.prefetch_used_bytes, counts.prefetch_bytes));
    list.add("prefetch_max_ahead_bytes", "B", to_f64(counts.prefetch_max_ahead_bytes));
    let device_time = counts.devices * counts.device_time_ns;
    list.add("bytes", "B", to_f64(all_bytes));
    rates(&mut list, recorder);
    list.add("device_bytes", "B", to_f64(counts.device_bytes));
    list.add("device_busy_share_percent", "%", share_percent(counts.device_busy_ns, device_time));
    for (traffic, to) in counts.network.iter().flatten().zip(["to_server", "to_client"]) {
        network(&mut list, &format!("network.{to}"), traffic, counts);
    }
    if let Some(source) = counts.clients {
        limiter::metrics(&mut list, names, recorder, source);
    }
    if let Some(record) = counts.zfs {
        throttling(&mut list, record, counts.elapsed_ns);
        log_devices(&mut list, record, counts);
    }
    if let Some(reads) = counts.reads {
        reading(&mut list, names, reads);
    }
    for (name, unit, value) in counts.cluster.map(Cluster::metrics).unwrap_or_default() {
        list.add(name, unit, value);
    }
    if let Some(controller) = counts.controller {
        cpu::metrics(&mut list, controller, counts.device_time_ns);
    }
    if let Some(node) = counts.server {
        server(&mut list, node, counts.device_time_ns);
    }
    if let Some(traffic) = counts.rebuild {
        let end_ns = traffic.end_ns.unwrap_or(counts.device_time_ns);
        let seconds = to_f64(end_ns.saturating_sub(traffic.start_ns)) / to_f64(NS_PER_S);
        list.add("rebuild_bytes", "B", to_f64(traffic.written_bytes));
        list.add("rebuild_read_bytes", "B", to_f64(traffic.read_bytes));
        list.add("rebuild_elapsed_s", "s", seconds);
        let rate = if seconds > 0.0 { to_f64(traffic.written_bytes) / seconds } else { 0.0 };
        list.add("rebuild_mib_per_s", "MiB/s", rate / f64::from(1 << 20));
    }
    if let Some([written, moved]) = counts.flash_pages.filter(|pages| pages[0] > 0) {
        list.add("ssd_host_pages", "", to_f64(written));
        list.add("ssd_moved_pages", "", to_f64(moved));
        list.add("ssd_write_amplification", "x", to_f64(written + moved) / to_f64(written));
    }
    list.add("elapsed_s", "s", to_f64(counts.elapsed_ns) / to_f64(NS_PER_S));
    list.0
}

/// The rate of all jobs from the first start to the last end, and the sum of their rates in their own windows.
fn rates(list: &mut List, recorder: &Recorder) {
    let mib = |job: &JobStats| to_f64(job.by_op.iter().map(|stats| stats.bytes).sum()) / f64::from(1 << 20);
    let rate = |mib: f64, from_ns: u64, to_ns: u64| if to_ns > from_ns { mib * to_f64(NS_PER_S) / to_f64(to_ns - from_ns) } else { 0.0 };
    let jobs = || recorder.jobs.iter().filter(|job| job.end_ns > 0);
    let (from, to) = (jobs().map(|job| job.start_ns).min().unwrap_or(0), jobs().map(|job| job.end_ns).max().unwrap_or(0));
    list.add("rate_mib_per_s", "MiB/s", rate(jobs().map(mib).sum(), from, to));
    list.add("sum_of_rates_mib_per_s", "MiB/s", jobs().map(|job| rate(mib(job), job.start_ns, job.end_ns)).sum());
}

fn server(list: &mut List, node: &Server, elapsed_ns: u64) {
    let (counts, cycles) = (node.counts, node.cycles());
    let each = |amount: f64, of: u64| if of == 0 { 0.0 } else { amount / to_f64(of) };
    list.add("server.busy_share_percent", "%", 100.0 * node.busy_share(elapsed_ns));
    list.add("server.cycles_per_byte", "cycles/B", each(to_f64(cycles[0]), counts.bytes));
    list.add("server.network_cycles_per_byte", "cycles/B", each(to_f64(cycles[1]), counts.bytes));
    list.add("server.interrupts", "", to_f64(counts.interrupts));
    list.add("server.frames_per_interrupt", "", each(to_f64(counts.frames), counts.interrupts));
    list.add("server.take_overs", "", to_f64(counts.take_overs));
    list.add("server.unmaps", "", to_f64(counts.unmaps));
    list.add("server.cross_calls", "", to_f64(counts.cross_calls));
    list.add("server.cross_calls_per_unmap", "", each(to_f64(counts.cross_calls), counts.unmaps));
}

fn log_devices(list: &mut List, record: &Record, counts: &StackCounts) {
    let Some(usages) = &counts.log_usage else { return };
    let (ios, busy_ns) = usages.iter().fold((0, 0), |sums, usage| (sums.0 + usage.ios[1], sums.1 + usage.busy_ns));
    list.add("zfs_log_device_ios", "", to_f64(ios));
    list.add("zfs_log_device_busy_share_percent", "%", share_percent(busy_ns, usages.len() as u64 * counts.elapsed_ns).min(100.0));
    if ios > 0 {
        list.add("zfs_log_writes_per_device_io", "", to_f64(record.counts.log_writes) / to_f64(ios));
    }
}

fn network(list: &mut List, prefix: &str, traffic: &Traffic, counts: &StackCounts<'_>) {
    list.add_to(prefix, "_messages", "", to_f64(traffic.messages));
    list.add_to(prefix, "_payload_bytes", "B", to_f64(traffic.payload_bytes));
    list.add_to(prefix, "_wire_bytes", "B", to_f64(traffic.wire_bytes));
    list.add_to(prefix, "_busy_share_percent", "%", share_percent(traffic.server_busy_ns, counts.network_time_ns));
    list.add_to(prefix, "_client_busy_share_percent", "%", share_percent(traffic.client_busy_ns, counts.network_time_ns));
}

fn direction(list: &mut List, prefix: &str, job: &JobStats, stats: &Stats, read: bool) {
    let ios = to_f64(stats.ios);
    let seconds = to_f64(job.end_ns.saturating_sub(job.start_ns)) / to_f64(NS_PER_S);
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    list.add_to(prefix, "_ios", "", ios);
    list.add_to(prefix, "_bytes", "B", to_f64(stats.bytes));
    list.add_to(prefix, "_iops", "1/s", per_second(ios));
    list.add_to(prefix, "_mib_per_s", "MiB/s", per_second(to_f64(stats.bytes) / f64::from(1 << 20)));
    list.add_to(prefix, "_mb_per_s", "MB/s", per_second(to_f64(stats.bytes) / 1e6));
    list.add_to(prefix, "_in_flight_mean", "", per_second(to_f64(stats.total_ns) / to_f64(NS_PER_S)));
    let mean_ns = to_f64(stats.total_ns) / ios;
    list.add_to(prefix, "_latency_mean_ms", "ms", mean_ns / MS);
    let variance = (stats.squares / ios - mean_ns * mean_ns).max(0.0);
    list.add_to(prefix, "_latency_sd_ms", "ms", libm::sqrt(variance) / MS);
    list.add_to(prefix, "_latency_min_ms", "ms", to_f64(stats.min_ns) / MS);
    for (percentile, label) in [(50.0, "p50"), (95.0, "p95"), (99.0, "p99")] {
        let ns = stats.latency.value_at_percentile(percentile).clamp(stats.min_ns, stats.max_ns);
        list.add(&format!("{prefix}_latency_{label}_ms"), "ms", to_f64(ns) / MS);
    }
    list.add_to(prefix, "_latency_max_ms", "ms", to_f64(stats.max_ns) / MS);
    list.add_to(prefix, "_latency_modes", "", to_f64(modes(&stats.bins) as u64));
    list.add_to(prefix, "_stalls", "", to_f64(stats.stalls));
    list.add_to(prefix, "_stalls_share_percent", "%", share_percent(stats.stalls_ns, stats.total_ns));
    if read {
        let middle = stats.cached.value_at_percentile(50.0);
        list.add_to(prefix, "_cached_bytes_p50", "B", to_f64(stats.cached.lowest_equivalent(middle)));
        list.add_to(prefix, "_cached_share_percent", "%", share_percent(stats.cached_bytes, stats.bytes));
        list.add_to(prefix, "_missed_share_percent", "%", share_percent(stats.missed_bytes, stats.bytes));
    }
    for phase in Phase::ALL {
        let ns = stats.phases[phase as usize];
        if ns > 0 {
            list.add(&format!("{prefix}_{}_mean_ms", phase.name()), "ms", to_f64(ns) / ios / MS);
        }
    }
    if stats.phases[Phase::Cpu as usize] > 0 {
        list.add_to(prefix, "_cpu_per_gib_s", "s/GiB", cpu::per_gib_s(&stats.phases, stats.bytes));
    }
    let mechanical = [Phase::Seek, Phase::Rotation, Phase::Queue].iter().map(|phase| stats.phases[*phase as usize]).sum();
    list.add_to(prefix, "_positioning_share_percent", "%", share_percent(mechanical, stats.total_ns));
}
