//! The bottleneck of a run on NFS clients: each job's shares of busy time on the way, and the part that is busy all the time.
//!
//! A sequential resource that is busy for [`FULL_PERCENT`] of the time is the limit. For the client's processors that is a
//! process (one thread), a protocol thread, or all cores together, whichever is busiest; for the server's devices the data
//! devices or the log devices, each all together. When nothing is full, requests wait for
//! each other and not for a resource: the limit is latency, that is too few in flight.
//!
//! Shares are those of the job's *stage*: jobs that run side by side share the network and cannot be told apart there. Work is
//! counted when it ends, so a very short stage could show a little more than all of it; shares are cut at 100 %.

use super::metrics::{Metrics, Unit, each, in_seconds, share_percent};
use super::{JobStats, Recorder};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// A resource that is busy for so much of the time is full.
pub const FULL_PERCENT: f64 = 90.0;

/// The bottleneck of a job. The numbers are those of the metric `JOB.limiter`.
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

/// The work of all parts until a time.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// The time.
    pub time_ns: u64,
    /// Work of the clients' processors.
    pub cpu_ns: u64,
    /// The protocol threads' part of it.
    pub protocol_ns: u64,
    /// Bytes on the wire, towards the server and back.
    pub wire_bytes: [u64; 2],
    /// Messages, towards the server and back.
    pub messages: [u64; 2],
    /// The time that each link was busy, each way.
    pub links_ns: Vec<u64>,
    /// Sum of the devices' busy times.
    pub device_ns: u64,
    /// Sum of the log devices' busy times.
    pub log_ns: u64,
    /// Cycles spent by the server's cores.
    pub server_cycles: u64,
}

/// The data from which the bottlenecks of jobs are computed.
pub struct Source<'a> {
    /// Cores and protocol threads of all clients.
    pub threads: [u64; 2],
    /// The end of each stage that has ended, then the present.
    pub marks: &'a [Mark],
    /// Stage of each job.
    pub stages: &'a [u32],
    /// Job of each worker, and the time that its process has had of its client's processors.
    pub processes: &'a [(usize, u64)],
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

impl Source<'_> {
    /// Reports each job's shares and limit.
    pub fn metrics(&self, recorder: &Recorder, metrics: &mut Metrics) {
        for (index, (name, job)) in metrics.run.jobs.iter().zip(&recorder.jobs).enumerate() {
            let stage = self.stages[index] as usize;
            let (Some(to), true) = (self.marks.get(stage), job.end_ns > 0) else { continue };
            // Before the first stage there is no mark, and nothing was busy.
            let start = Mark::default();
            let from = if stage == 0 { &start } else { &self.marks[stage - 1] };
            metrics.within(name, |metrics| self.of_job(index, job, [from, to], metrics));
        }
    }

    fn of_job(&self, index: usize, job: &JobStats, [from, to]: [&Mark; 2], metrics: &mut Metrics) {
        let stage_ns = to.time_ns - from.time_ns;
        let share = |busy_ns: u64, many: u64| share_percent(busy_ns, stage_ns * many).min(100.0);
        let own = || self.processes.iter().filter(|(job, _)| *job == index);
        let (processes, process_ns) = (own().count() as u64, own().map(|(_, ns)| ns).sum());
        let [cores, protocol_threads] = self.threads;
        let elapsed_ns = job.end_ns.saturating_sub(job.start_ns);
        let process_share = share_percent(process_ns, elapsed_ns * processes).min(100.0);
        let protocol_share = share(to.protocol_ns - from.protocol_ns, protocol_threads);
        let client_cpu = share(to.cpu_ns - from.cpu_ns, cores).max(protocol_share).max(process_share);
        let before = from.links_ns.iter().copied().chain(core::iter::repeat(0));
        let busiest = to.links_ns.iter().zip(before).map(|(to, from)| to - from).max().unwrap_or(0);
        let network = share(busiest, 1);
        let devices = share(to.device_ns - from.device_ns, self.devices).max(share(to.log_ns - from.log_ns, self.logs));
        let has_cycles = self.server_cycles_per_s * to_f64(stage_ns) / to_f64(NS_PER_S);
        let server_cpu = each(100.0 * to_f64(to.server_cycles - from.server_cycles), has_cycles).min(100.0);
        let latency_ns: u64 = job.by_op.iter().map(|stats| stats.total_ns).sum();
        let printed = to_f64(payload_bytes(job)) / 1024.0 * to_f64(NS_PER_S) / to_f64(elapsed_ns.max(1));
        metrics.add(
            ".printed_k_per_s",
            "Rate as Bonnie++ prints it: payload divided by the job's time, counting a chunk that is read and written once.",
            Unit::KibPerS,
            printed,
        );
        metrics.share(
            ".cp_percent",
            "Share of the job's time that its processes had a processor, which Bonnie++ prints as %CP.",
            process_ns,
            elapsed_ns,
        );
        metrics.share(
            ".waiting_share_percent",
            "Time during its operations when its processes had no processor, as a share of the job's time.",
            latency_ns.saturating_sub(process_ns),
            elapsed_ns,
        );
        metrics.percent(
            ".process_busy_share_percent",
            "Share of the job's time that each of its processes had a processor.",
            process_share,
        );
        metrics.percent(
            ".protocol_busy_share_percent",
            "Share of the stage's time that the client's protocol threads were busy.",
            protocol_share,
        );
        metrics.percent(
            ".client_cpu_busy_share_percent",
            "Share of the stage's time that the client's processors, or its busiest thread, were busy.",
            client_cpu,
        );
        metrics.percent(".network_busy_share_percent", "Share of the stage's time that the busiest link was busy.", network);
        metrics.percent(
            ".devices_busy_share_percent",
            "Share of the stage's time that the devices were busy, data devices or log devices.",
            devices,
        );
        if self.server_cycles_per_s > 0.0 {
            metrics.percent(".server_busy_share_percent", "Share of the stage's time that the server's cores were busy.", server_cpu);
        }
        metrics.count(
            ".limiter",
            "The job's bottleneck: 0 none, 1 processors of the client, 2 a link, 3 devices, 4 cores of the server.",
            Limiter::of(client_cpu, network, devices, server_cpu) as u64,
        );
        for (way, part) in [".to_server", ".to_client"].into_iter().enumerate() {
            metrics.within(part, |metrics| {
                let bytes = to.wire_bytes[way] - from.wire_bytes[way];
                metrics.mb_per_s(
                    "_mb_per_s",
                    "Rate on the links in this direction, over the stage.",
                    to_f64(bytes),
                    in_seconds(stage_ns.max(1)),
                );
                metrics.count("_messages", "Messages in this direction, over the stage.", to.messages[way] - from.messages[way]);
            });
        }
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
