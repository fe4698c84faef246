//! What a run reports: the metrics and tables of all layers, in a fixed order. Each layer's own are in its folder's `report`.

use super::{Stack, log_group};
use crate::layers::client::nfs::Client;
use crate::layers::cluster::Cluster;
use crate::layers::controller::Controller;
use crate::layers::device::{self, Device};
use crate::layers::fleet::Fleet;
use crate::layers::layout::Layout;
use crate::layers::page_cache;
use crate::layers::raid_cache::RaidCache;
use crate::layers::server::Server;
use crate::layers::volume::Volume;
use crate::layers::zfs::read_record::Reads;
use crate::layers::zfs::record::Record;
use crate::result::Recorder;
use crate::result::analytics::Analytics;
use crate::result::columns::{self, Column, Tables};
use crate::result::dips;
use crate::result::journeys;
use crate::result::limiter::{self, Mark};
use crate::result::log::Log;
use crate::result::metrics::{Metric, Metrics, Run};

impl Stack {
    /// The metrics of the run so far.
    #[must_use]
    pub fn metrics(&self) -> Vec<Metric> {
        self.report(|_| ())
    }

    /// The metrics of the run so far, followed by those of its observers.
    #[must_use]
    pub fn report(&self, watchers: impl FnOnce(&mut Metrics)) -> Vec<Metric> {
        let jobs: Vec<String> = self.scenario.jobs.iter().map(|job| job.name.clone()).collect();
        let workers_ns = self.layers.workload.recorder.jobs.iter().map(|job| job.end_ns).max().unwrap_or(0);
        let mut metrics = Metrics::new(Run { jobs: &jobs, workers_ns, now_ns: self.kernel.now_ns(), ended: self.finished });
        self.report_layers(&mut metrics);
        watchers(&mut metrics);
        metrics.into_list()
    }

    fn report_layers(&self, metrics: &mut Metrics) {
        self.layers.workload.recorder.metrics(metrics);
        Volume::metrics(self.layers.volume.as_ref(), metrics);
        self.layers.workload.recorder.rates(metrics);
        device::report::metrics(&self.usage(), metrics);
        device::report::unsafe_metrics(&self.kernel.volatile, self.unsafe_bytes, metrics);
        if let Some(bucket) = self.layers.devices.iter().find_map(Device::bucket) {
            bucket.metrics(self.kernel.now_ns(), metrics);
            let recorder = &self.layers.workload.recorder;
            dips::metrics(&recorder.series, recorder.interval_ns, metrics);
        }
        device::services::metrics(self.layers.devices.iter(), metrics);
        if let Some(cache) = self.layers.devices.iter().find_map(Device::slc) {
            cache.metrics(metrics);
        }
        if let Some(zones) = self.layers.devices.iter().find_map(Device::shingled) {
            zones.metrics(metrics);
        }
        if let Some(network) = &self.layers.network {
            network.metrics(metrics);
        }
        if let Some(client) = &self.layers.client {
            self.limits(client, metrics);
        }
        if let Some(record) = self.zfs_record() {
            record.metrics(metrics);
            if log_group(&self.scenario).is_some() {
                let usages: Vec<_> = self.layers.write_logs.iter().map(Device::usage).collect();
                record.log_device_metrics(&usages, metrics);
            }
        }
        if let Some(reads) = self.zfs_reads() {
            reads.metrics(metrics);
        }
        if let Some(cluster) = &self.layers.cluster {
            cluster.metrics(metrics);
        }
        if let Some(controller) = &self.layers.controller {
            controller.metrics(metrics);
        }
        if let Some(commit) = &self.layers.commit {
            commit.metrics(metrics);
        }
        if let (Some(fanout), Some(spec)) = (&self.layers.fanout, &self.scenario.fanout) {
            fanout.record.metrics(spec.servers, metrics);
        }
        if let Some(fleet) = &self.layers.fleet {
            fleet.metrics(metrics);
        }
        if let Some(cache) = &self.layers.raid_cache {
            cache.metrics(metrics);
        }
        if let Some(cache) = &self.layers.page_cache {
            cache.record.metrics(metrics);
            if let Some(reads) = &cache.reads {
                reads.metrics(metrics);
            }
        }
        if let Some(server) = &self.layers.server {
            server.metrics(metrics);
        }
        // A cluster has no rebuilding layouts: it loses nodes, not devices.
        if let Some(traffic) = self.layers.layouts.first().and_then(Layout::rebuild_traffic) {
            traffic.metrics(metrics);
        }
        device::report::flash_metrics(self.layers.devices.iter().chain(&self.layers.tier_device).chain(&self.layers.write_logs), metrics);
        metrics.seconds("elapsed_s", "Time until the last worker ended.", metrics.run.workers_ns);
        if let Some(partitions) = &self.layers.partitions {
            partitions.counts.metrics(metrics);
        }
    }

    /// Reports what limits the jobs of NFS clients, which takes several layers to see.
    fn limits(&self, client: &Client, metrics: &mut Metrics) {
        let mut marks = self.marks.clone();
        marks.push(self.mark());
        let mut stages = vec![0; self.scenario.jobs.len()];
        self.plan.workers.iter().for_each(|worker| stages[worker.job] = worker.stage);
        let workers = self.plan.workers.iter().enumerate();
        let processes: Vec<(usize, u64)> = workers.map(|(index, worker)| (worker.job, client.process_ns(index))).collect();
        let source = limiter::Source {
            threads: client.threads(),
            marks: &marks,
            stages: &stages,
            processes: &processes,
            devices: self.layers.devices.len() as u64,
            logs: self.layers.write_logs.len() as u64,
            server_cycles_per_s: self.layers.server.as_ref().map_or(0.0, Server::cycles_per_s),
        };
        source.metrics(&self.layers.workload.recorder, metrics);
    }

    /// What everything has done until now.
    pub(super) fn mark(&self) -> Mark {
        let time_ns = self.kernel.now_ns();
        let client = self.layers.client.as_ref().map(Client::busy).unwrap_or_default();
        let network = self.layers.network.as_ref().map(|network| network.traffic(time_ns)).unwrap_or_default();
        Mark {
            time_ns,
            cpu_ns: client.cpu_ns,
            protocol_ns: client.protocol_ns,
            wire_bytes: network.map(|traffic| traffic.wire_bytes),
            messages: network.map(|traffic| traffic.messages),
            links_ns: self.layers.network.as_ref().map(|network| network.links_busy_ns(time_ns)).unwrap_or_default(),
            device_ns: self.usage().iter().map(|usage| usage.busy_ns).sum(),
            log_ns: self.layers.write_logs.iter().map(|log| log.usage().busy_ns).sum(),
            server_cycles: self.layers.server.as_ref().map_or(0, |server| server.cycles()[0]),
        }
    }

    /// A column of the run's tables by its name, such as `ops.latency_ns`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Column> {
        columns::column(name, |tables| report_tables(Some(self), tables))
    }

    /// The names of all columns, `table.column`. They are the same for every run; tables of layers that a run lacks are empty.
    #[must_use]
    pub fn column_names() -> Vec<String> {
        columns::names(|tables| report_tables(None, tables))
    }
}

/// Reports all tables: a run's, or, without one, empty ones.
fn report_tables(stack: Option<&Stack>, tables: &mut Tables) {
    let recorder = stack.map(Stack::recorder);
    let controller = stack.and_then(|stack| stack.layers.controller.as_ref());
    let owner = |worker: u32| {
        let worker = stack.and_then(|stack| stack.plan.workers.get(worker as usize));
        worker.map(|worker| (worker.job, worker.region.start)).unwrap_or_default()
    };
    Log::tables(recorder.and_then(|recorder| recorder.log.as_ref()), tables);
    Volume::tables(stack.and_then(|stack| stack.layers.volume.as_ref()), owner, tables);
    Recorder::tables(recorder, tables);
    device::report::tables(stack.into_iter().flat_map(|stack| stack.layers.devices.iter().map(Device::usage)), tables);
    let interval_ns = recorder.map_or(0, |recorder| recorder.interval_ns);
    device::report::unsafe_tables(stack.map(|stack| (&stack.kernel.volatile, stack.kernel.now_ns())), interval_ns, tables);
    device::report::credits_tables(stack.into_iter().flat_map(|stack| &stack.layers.devices), tables);
    device::services::tables(stack.into_iter().flat_map(|stack| &stack.layers.devices), tables);
    device::report::slc_tables(stack.into_iter().flat_map(|stack| &stack.layers.devices), tables);
    device::report::shingled_tables(stack.into_iter().flat_map(|stack| &stack.layers.devices), tables);
    Record::tables(stack.and_then(Stack::zfs_record), tables);
    Reads::tables(stack.and_then(Stack::zfs_reads), tables);
    Cluster::tables(stack.and_then(|stack| stack.layers.cluster.as_ref()), tables);
    Analytics::tables(stack.and_then(|stack| stack.analytics.as_ref()), tables);
    Controller::tables(controller, tables);
    let job = |worker| u32::try_from(owner(worker).0).unwrap_or(u32::MAX); // jobs are checked to be few
    journeys::tables(stack.and_then(Stack::journeys), &job, tables);
    Fleet::tables(stack.and_then(|stack| stack.layers.fleet.as_ref()), tables);
    RaidCache::tables(stack.and_then(|stack| stack.layers.raid_cache.as_ref()), stack.map_or(0, Stack::now_ns), tables);
    let cache = stack.and_then(|stack| stack.layers.page_cache.as_ref());
    page_cache::Record::tables(cache.map(|cache| &cache.record), tables);
    page_cache::Reads::tables(cache.and_then(|cache| cache.reads.as_deref()), tables);
}
