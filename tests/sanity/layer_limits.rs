//! What layers above the devices cannot exceed, in closed form from the fields of the scenario.
//!
//! Each layer states only what every request must pay: the bytes of its frames, its cycles, its window. Caches answer ahead of what is
//! below them, so a bound of a lower layer is stated where no cache above can answer, or with the bytes that it may hold.

use seeklab_spec::commit::{Batch, CommitSpec, FlushTimes};
use seeklab_spec::controller::{ControllerSpec, Disks, Spread};
use seeklab_spec::network::{Clients, NetworkSpec};
use seeklab_spec::nfs::Call;
use seeklab_spec::page_cache::Journal;
use seeklab_spec::{DeviceGroup, LayoutKind, Scenario, to_f64};

use crate::rules::{Bound, Rule};

/// A statistical share for what holds of the mean of some hundred random draws.
const DRAWS: f64 = 0.9;

/// The load of a scenario whose jobs are all alike.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // each is a property of its own
struct Jobs {
    /// Bytes of a request.
    bytes: f64,
    request_bytes: u64,
    workers: f64,
    in_flight: f64,
    reads: bool,
    writes: bool,
    is_random: bool,
    is_sync: bool,
}

impl Jobs {
    fn of(scenario: &Scenario) -> Option<Self> {
        let first = scenario.jobs.first()?;
        let same = scenario.jobs.iter().all(|job| job.bs == first.bs && job.rw == first.rw && job.bsrange.is_none());
        let workers: u64 = scenario.jobs.iter().map(|job| u64::from(job.numjobs)).sum();
        let in_flight: u64 = scenario.jobs.iter().map(|job| u64::from(job.numjobs) * u64::from(job.iodepth)).sum();
        (same && !first.rw.is_copy() && !first.rw.trims()).then(|| Self {
            bytes: to_f64(first.bs.0),
            request_bytes: first.bs.0,
            workers: to_f64(workers),
            in_flight: to_f64(in_flight),
            reads: first.rw.reads(),
            writes: first.rw.writes(),
            is_random: first.rw.is_random(),
            is_sync: first.synchronous_by().is_some(),
        })
    }

    /// Writes alone that dirty each block once.
    fn appends(self) -> bool {
        self.writes && !self.reads && !self.is_random
    }

    /// Bytes a second of so many requests.
    fn of_rate(self, per_s: f64) -> f64 {
        per_s * self.bytes
    }
}

fn at_most(what: &'static str, bytes_per_s: f64) -> Bound {
    ahead(what, bytes_per_s, 0.0)
}

fn ahead(what: &'static str, bytes_per_s: f64, ahead_bytes: f64) -> Bound {
    Bound { rule: Rule::Limit, what, bytes_per_s, ahead_bytes }
}

/// Bounds of a scenario, and what each of its requests takes at least, in nanoseconds.
pub fn of(scenario: &Scenario) -> (Vec<Bound>, f64) {
    let Some(jobs) = Jobs::of(scenario) else {
        return (Vec::new(), 0.0);
    };
    let (mut bounds, mut service_ns) = (Vec::new(), 0.0);
    // A client's cache and its system calls lie above the network.
    let is_cached = scenario.nfs.is_some();
    let clients = scenario.network.as_ref().map_or(1.0, |network| clients(network, scenario.jobs.len(), jobs));
    let held = scenario.nfs.as_ref().map_or(0.0, |nfs| clients * to_f64(nfs.dirty.0) + jobs.in_flight * jobs.bytes);
    // Calls on names and attributes move no data.
    let moves_data = scenario.jobs[0].call == Call::default();
    if let Some(nfs) = scenario.nfs.as_ref().filter(|_| moves_data) {
        let call_s = (to_f64(nfs.per_call.0) + nfs.per_byte * jobs.bytes) / nfs.cpu_speed / 1e9;
        let threads = (clients * f64::from(nfs.cpus)).min(jobs.workers);
        bounds.push(at_most("client: processors / (per_call + per_byte x bytes)", jobs.of_rate(threads / call_s)));
        if jobs.appends() {
            let protocol_s = nfs.per_wire_byte / nfs.cpu_speed / 1e9;
            let connections = scenario.network.as_ref().map_or(1.0, |network| f64::from(network.connections)) * clients;
            bounds.push(ahead("client: protocol threads / per_wire_byte", connections / protocol_s, held));
        }
    }
    if let Some(network) = scenario.network.as_ref().filter(|network| network.packets.is_none())
        && (!is_cached || moves_data && jobs.appends())
    {
        let transfer = scenario.nfs.as_ref().map_or(jobs.request_bytes, |nfs| nfs.transfer.0);
        let (of_network, way_ns) = of_network(network, clients, jobs, transfer, held);
        bounds.extend(of_network);
        service_ns += if is_cached { 0.0 } else { way_ns };
    }
    if let Some(server) = scenario.server.as_ref().filter(|_| !is_cached) {
        let work_s = (to_f64(server.request_cycles) + server.byte_cycles * jobs.bytes) / to_f64(server.hz);
        bounds.push(at_most("server: cores x hz / (request_cycles + byte_cycles x bytes)", jobs.of_rate(f64::from(server.cores) / work_s)));
        service_ns += work_s * 1e9;
    }
    if let Some(controller) = scenario.controller.as_ref().filter(|_| !is_cached) {
        bounds.extend(of_controller(controller, jobs));
    }
    if let Some(commit) = scenario.commit.as_ref().filter(|_| jobs.writes && !jobs.reads) {
        let (of_commit, flushes_ns) = of_commit(commit, jobs);
        bounds.extend(of_commit);
        service_ns += flushes_ns;
    }
    let (of_files, sync_ns) = of_files(scenario, jobs);
    bounds.extend(of_files);
    (bounds, service_ns + sync_ns)
}

/// Machines of the clients.
fn clients(network: &NetworkSpec, jobs: usize, load: Jobs) -> f64 {
    match network.clients {
        Clients::Job => to_f64(jobs as u64),
        Clients::Worker => load.workers,
        Clients::One => 1.0,
    }
}

/// Links, less the headers of frames and messages, and windows.
fn of_network(network: &NetworkSpec, clients: f64, load: Jobs, transfer: u64, held: f64) -> (Vec<Bound>, f64) {
    let wire_bytes = to_f64(network.message_bytes(transfer));
    let share = to_f64(transfer) / wire_bytes;
    let bits = to_f64(network.bits_per_s);
    let server_bits = network.server_bits_per_s.map_or(bits, to_f64);
    let connections = clients * f64::from(network.connections);
    let links = (clients * bits).min(connections.min(f64::from(network.server_links)) * server_bits);
    // Both ways at once carry twice a link.
    let ways = if load.reads && load.writes { 2.0 } else { 1.0 };
    let mut bounds = vec![ahead("link: bits_per_s / 8 less the headers", ways * share * links / 8.0, held)];
    if network.round_trip.0 > 0 {
        let window = to_f64(network.window_bytes());
        let per_s = ways * connections * window * 1e9 / to_f64(network.round_trip.0);
        bounds.push(ahead("window: connections x window / round_trip", per_s, held + ways * connections * window));
    }
    (bounds, to_f64(network.round_trip.0) + wire_bytes * 8e9 / bits.min(server_bits))
}

/// Cores and single-threaded controllers.
fn of_controller(controller: &ControllerSpec, load: Jobs) -> Vec<Bound> {
    let cost_s = |fixed: u64| (to_f64(fixed) + controller.per_byte * load.bytes) * controller.cost_percent / 100.0 / 1e9;
    let work_s = match (load.reads, load.writes) {
        (true, false) => cost_s(controller.read.0),
        (false, true) => cost_s(controller.write.0),
        _ => cost_s(controller.read.0.min(controller.write.0)),
    };
    let draws = if controller.spread == Spread::Constant { 1.0 } else { DRAWS };
    // Jobs of random requests share one file.
    let disks = if controller.disks == Disks::One || load.is_random { 1.0 } else { load.workers };
    let threads = disks * f64::from(controller.shards) * f64::from(controller.threads);
    let cores = f64::from(controller.cores);
    let mut bounds = vec![
        at_most("controller: cores / cost of a request", load.of_rate(cores / work_s / draws)),
        at_most("controller: shards x threads / cost of a request", load.of_rate(threads / work_s / draws)),
    ];
    if let Some(replicas) = controller.replicas.as_ref().filter(|replicas| replicas.copies > 0 && load.writes && !load.reads) {
        bounds.push(at_most("controller: rate of replicas / copies", to_f64(replicas.rate.0) / f64::from(replicas.copies)));
    }
    bounds
}

/// Serial work, and logs whose flushes are shared or not.
fn of_commit(commit: &CommitSpec, load: Jobs) -> (Vec<Bound>, f64) {
    let mut bounds = Vec::new();
    if commit.serial_work.0 > 0 {
        bounds.push(at_most("database: 1 / serial_work", load.of_rate(1e9 / to_f64(commit.serial_work.0))));
    }
    let mut service_ns = to_f64(commit.work.0 + commit.serial_work.0);
    for log in commit.log_of_stages().map(|log| &commit.logs[log]) {
        let Some(flush) = log.flush.as_ref().filter(|flush| flush.times == FlushTimes::Fixed) else {
            continue;
        };
        let flush_ns = to_f64(flush.mean.0 + flush.per_commit.0);
        service_ns += flush_ns;
        if log.batch == Batch::One {
            bounds.push(at_most("database: 1 / flush of a log that takes one transaction", load.of_rate(1e9 / flush_ns)));
        }
    }
    (bounds, service_ns)
}

/// Most bytes that a device moves a second, and what it may hold in volatile memory.
fn media(group: &DeviceGroup) -> Option<(f64, f64)> {
    let each = match (&group.hdd, &group.ssd, &group.lun) {
        (Some(disk), ..) => (to_f64(disk.outer_rate.0), if disk.write_cache { to_f64(disk.buffer.0) } else { 0.0 }),
        (_, Some(ssd), _) => (to_f64(ssd.interface_rate.0), 0.0),
        (.., Some(lun)) => (to_f64(lun.rate.0), 0.0),
        _ => return None,
    };
    Some((f64::from(group.count) * each.0, f64::from(group.count) * each.1))
}

/// Share of what devices write that is data: copies of mirrors, parity of RAID-Z by its columns and sectors.
fn data_share(scenario: &Scenario, record: u64) -> f64 {
    let layout = &scenario.layout;
    let devices: u64 = scenario.devices.iter().map(|group| u64::from(group.count)).sum();
    let width = layout.width.map_or(devices, u64::from).max(1);
    match layout.kind {
        LayoutKind::Mirror => 1.0 / to_f64(width),
        LayoutKind::Raid5 => to_f64(width - 1) / to_f64(width),
        LayoutKind::Raid6 => to_f64(width - 2) / to_f64(width),
        LayoutKind::RaidZ => {
            let data = record.div_ceil(1 << layout.ashift);
            let rows = data.div_ceil(width.saturating_sub(u64::from(layout.parity)).max(1));
            to_f64(record) / to_f64((data + rows * u64::from(layout.parity)) << layout.ashift)
        }
        _ => 1.0,
    }
}

/// Page cache and ZFS: what is dirty in memory, and the devices that it goes to.
fn of_files(scenario: &Scenario, load: Jobs) -> (Vec<Bound>, f64) {
    let media = scenario.devices.iter().map(media).try_fold((0.0, 0.0), |sum, one| one.map(|one| (sum.0 + one.0, sum.1 + one.1)));
    let Some((rate, buffers)) = media else {
        return (Vec::new(), 0.0);
    };
    let has_memory = scenario.nfs.is_some() || scenario.tier.is_some() || scenario.raid_cache.is_some() || scenario.cluster.is_some();
    let mut bounds = Vec::new();
    if let Some(cache) = scenario.page_cache.as_ref().filter(|_| !has_memory) {
        if load.writes && !load.reads {
            bounds.push(at_most("page cache: workers x memory_rate", load.workers * to_f64(cache.memory_rate.0)));
        }
        if load.appends() && load.is_sync {
            let waits = buffers + load.in_flight * load.bytes;
            bounds.push(Bound { rule: Rule::Durable, what: "page cache: rate of the devices", bytes_per_s: rate, ahead_bytes: waits });
        } else if load.appends() {
            let dirty = to_f64(cache.thresholds().1) + load.in_flight * load.bytes;
            bounds.push(ahead("page cache: rate of the devices, limit ahead", rate, dirty + buffers));
        }
        // The data, then the metadata and the commit record; without a journal the inode.
        let latency_ns = scenario.devices.iter().map(|group| group.lun.as_ref().map_or(0.0, |lun| to_f64(lun.latency.0)));
        let least_ns = latency_ns.fold(f64::INFINITY, f64::min);
        let writes = if cache.journal == Journal::Ordered { 3.0 } else { 2.0 };
        let waits = load.is_sync && !load.reads && load.in_flight <= 1.0 && least_ns.is_finite();
        return (bounds, if waits { writes * least_ns } else { 0.0 });
    }
    if let Some(zfs) = scenario.zfs.as_ref().filter(|_| !has_memory && load.appends()) {
        let ratio = zfs.compression.as_ref().map_or(1.0, |compression| compression.ratio);
        let rate = rate * ratio * data_share(scenario, zfs.record.0) / f64::from(zfs.copies);
        if let Some(dirty) = zfs.dirty_data_max.filter(|_| !load.is_sync) {
            let held = to_f64(dirty.0) + load.in_flight * load.bytes.max(to_f64(zfs.record.0));
            bounds.push(ahead("ZFS: rate of the devices less parity and copies, dirty_data_max ahead", rate, held + buffers));
        } else if load.is_sync && zfs.log.devices.is_none() {
            let held = load.in_flight * load.bytes;
            bounds.push(Bound { rule: Rule::Durable, what: "ZFS: rate of the devices", bytes_per_s: rate, ahead_bytes: held + buffers });
        }
        let least_ns = to_f64(zfs.overhead.0) + load.bytes * 1e9 / to_f64(zfs.copy_rate.0);
        return (bounds, least_ns);
    }
    let has_parity = matches!(scenario.layout.kind, LayoutKind::Raid5 | LayoutKind::Raid6 | LayoutKind::RaidZ);
    let is_plain = scenario.zfs.is_none() && scenario.volume.is_none() && scenario.page_cache.is_none() && !has_memory;
    if is_plain && load.appends() && scenario.commit.is_none() && has_parity {
        let rate = rate * data_share(scenario, scenario.layout.unit.0);
        bounds.push(ahead("layout: rate of the devices less parity", rate, buffers + load.in_flight * load.bytes));
    }
    (bounds, 0.0)
}
