//! What limits a run on NFS clients: each job's shares of busy time on the way, and the part that is busy all the time.
//!
//! A sequential resource that is busy for [`FULL_PERCENT`] of the time is the limit. For the client's processors that is a
//! process (one thread), a protocol thread, or all cores together, whichever is busiest; for the server's devices the data
//! devices or the log devices, each all together. When nothing is full, requests wait for
//! each other and not for a resource: the limit is latency, that is too few in flight.
//!
//! Shares are those of the job's *stage*: jobs that run side by side share the network and cannot be told apart there. Work is
//! counted when it ends, so a very short stage could show a little more than all of it; shares are cut at 100 %.

use super::metrics::{List, share_percent};
use super::{JobStats, Recorder};
use crate::layers::client::nfs::{Busy, Client};
use crate::layers::network::Traffic;
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// A resource that is busy for so much of the time is full.
pub const FULL_PERCENT: f64 = 90.0;

/// What limits a job; the numbers are those of the metric `JOB.limiter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Limiter {
    /// Nothing is full: too few requests in flight.
    Latency,
    /// The client's processors.
    ClientCpu,
    /// A link of the network.
    Network,
    /// The server's devices.
    Devices,
    /// The server's cores.
    ServerCpu,
}

impl Limiter {
    /// The limit that shares of busy time, in percent, point to; among full resources the fullest, the first of equals.
    #[must_use]
    pub fn of(client_cpu: f64, network: f64, devices: f64, server_cpu: f64) -> Self {
        let mut limiter = (Self::Latency, FULL_PERCENT);
        let shares = [(Self::ClientCpu, client_cpu), (Self::Network, network), (Self::Devices, devices), (Self::ServerCpu, server_cpu)];
        for (resource, share) in shares {
            if share > limiter.1 {
                limiter = (resource, share);
            }
        }
        limiter.0
    }

    /// The name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::ClientCpu => "client CPU",
            Self::Network => "network",
            Self::Devices => "devices",
            Self::ServerCpu => "server CPU",
        }
    }
}

/// What everything has done until a time.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// The time.
    pub time_ns: u64,
    /// The clients' processors.
    pub client: Busy,
    /// The network, towards the server and back.
    pub network: [Traffic; 2],
    /// The time that each link was busy, each way.
    pub links_ns: Vec<u64>,
    /// Sum of the devices' busy times.
    pub device_ns: u64,
    /// Sum of the log devices' busy times.
    pub log_ns: u64,
    /// Cycles spent by the server's cores.
    pub server_cycles: u64,
}

/// What the limits of jobs are found from.
pub struct Source<'a> {
    /// The clients.
    pub client: &'a Client,
    /// The end of each stage that has ended, then the present.
    pub marks: &'a [Mark],
    /// Stage of each job.
    pub stages: &'a [u32],
    /// Job of each worker.
    pub workers: &'a [usize],
    /// Number of devices.
    pub devices: u64,
    /// Number of log devices.
    pub logs: u64,
    /// Cycles that the server's cores have in a second; 0 where it has none.
    pub server_cycles_per_s: f64,
}

/// Bytes of payload of a job in its busier direction: of a rewrite, each chunk once.
#[must_use]
pub fn payload_bytes(job: &JobStats) -> u64 {
    job.by_op[0].bytes.max(job.by_op[1].bytes)
}

/// Adds each job's shares and limit.
pub(super) fn metrics(list: &mut List, names: &[String], recorder: &Recorder, source: &Source<'_>) {
    for (index, (name, job)) in names.iter().zip(&recorder.jobs).enumerate() {
        let stage = source.stages[index] as usize;
        let (Some(to), true) = (source.marks.get(stage), job.end_ns > 0) else { continue };
        let start = Mark::default();
        let from = if stage == 0 { &start } else { &source.marks[stage - 1] };
        one(list, name, index, job, source, [from, to]);
    }
}

fn one(list: &mut List, name: &str, index: usize, job: &JobStats, source: &Source<'_>, [from, to]: [&Mark; 2]) {
    let stage_ns = to.time_ns - from.time_ns;
    let share = |busy_ns: u64, many: u64| share_percent(busy_ns, stage_ns * many).min(100.0);
    let processes: Vec<usize> = (0..source.workers.len()).filter(|worker| source.workers[*worker] == index).collect();
    let process_ns: u64 = processes.iter().map(|worker| source.client.process_ns(*worker)).sum();
    let [cores, protocol_threads] = source.client.threads();
    let elapsed_ns = job.end_ns.saturating_sub(job.start_ns);
    let process_share = share_percent(process_ns, elapsed_ns * processes.len() as u64).min(100.0);
    let protocol_share = share(to.client.protocol_ns - from.client.protocol_ns, protocol_threads);
    let client_cpu = share(to.client.cpu_ns - from.client.cpu_ns, cores).max(protocol_share).max(process_share);
    // Before the first stage there is no mark, and nothing was busy.
    let before = from.links_ns.iter().copied().chain(core::iter::repeat(0));
    let busiest = to.links_ns.iter().zip(before).map(|(to, from)| to - from).max().unwrap_or(0);
    let network = share(busiest, 1);
    let devices = share(to.device_ns - from.device_ns, source.devices).max(share(to.log_ns - from.log_ns, source.logs));
    let has_cycles = source.server_cycles_per_s * to_f64(stage_ns) / to_f64(NS_PER_S);
    let spent = 100.0 * to_f64(to.server_cycles - from.server_cycles);
    let server_cpu = if has_cycles > 0.0 { (spent / has_cycles).min(100.0) } else { 0.0 };
    let latency_ns: u64 = job.by_op.iter().map(|stats| stats.total_ns).sum();
    let printed = to_f64(payload_bytes(job)) / 1024.0 * to_f64(NS_PER_S) / to_f64(elapsed_ns.max(1));
    list.add_to(name, ".printed_k_per_s", "KiB/s", printed);
    list.add_to(name, ".cp_percent", "%", share_percent(process_ns, elapsed_ns));
    list.add_to(name, ".waiting_share_percent", "%", share_percent(latency_ns.saturating_sub(process_ns), elapsed_ns));
    list.add_to(name, ".process_busy_share_percent", "%", process_share);
    list.add_to(name, ".protocol_busy_share_percent", "%", protocol_share);
    list.add_to(name, ".client_cpu_busy_share_percent", "%", client_cpu);
    list.add_to(name, ".network_busy_share_percent", "%", network);
    list.add_to(name, ".devices_busy_share_percent", "%", devices);
    if source.server_cycles_per_s > 0.0 {
        list.add_to(name, ".server_busy_share_percent", "%", server_cpu);
    }
    list.add_to(name, ".limiter", "", f64::from(Limiter::of(client_cpu, network, devices, server_cpu) as u8));
    for (way, to_whom) in ["to_server", "to_client"].iter().enumerate() {
        let bytes = to.network[way].wire_bytes - from.network[way].wire_bytes;
        let seconds = to_f64(stage_ns.max(1)) / to_f64(NS_PER_S);
        list.add(&format!("{name}.{to_whom}_mb_per_s"), "MB/s", to_f64(bytes) / 1e6 / seconds);
        list.add(&format!("{name}.{to_whom}_messages"), "", to_f64(to.network[way].messages - from.network[way].messages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_resource_is_the_limit_and_without_a_full_one_it_is_latency() {
        for (shares, expected) in [
            ([99.0, 40.0, 1.0, 0.0], Limiter::ClientCpu),
            ([95.0, 99.0, 1.0, 0.0], Limiter::Network),
            ([40.0, 99.0, 99.9, 98.0], Limiter::Devices),
            ([80.0, 85.0, 70.0, 89.0], Limiter::Latency),
            ([100.0, 100.0, 1.0, 100.0], Limiter::ClientCpu),
            ([20.0, 88.0, 1.0, 96.0], Limiter::ServerCpu),
        ] {
            assert_eq!(Limiter::of(shares[0], shares[1], shares[2], shares[3]), expected, "{shares:?}");
        }
    }
}
