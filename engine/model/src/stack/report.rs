//! The report of a run: the metrics and tables of all layers, from the top down, and metrics that need several layers.

use super::Stack;
use crate::layers::ReportContext;
use crate::layers::client::nfs::Client;
use crate::layers::device::{self, Device};
use crate::layers::pool::WriteLogs;
use crate::layers::server::Server;
use crate::layers::table::Layers;
use crate::result::analytics::Analytics;
use crate::result::columns::{self, Column, Tables};
use crate::result::journeys;
use crate::result::latency_dips;
use crate::result::limiter::{self, Mark};
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
        self.layers.metrics(&self.report_context(), metrics);
        self.report_several(metrics);
        device::report::unsafe_metrics(&self.kernel.volatile, self.unsafe_bytes, metrics);
        metrics.seconds("elapsed_s", "Time until the last worker ended.", metrics.run.workers_ns);
    }

    /// Reports what takes several layers to see.
    fn report_several(&self, metrics: &mut Metrics) {
        let Layers { workload, client, zfs, device, tier_device, write_log, .. } = &self.layers;
        if device.0.iter().any(|device| device.bucket().is_some()) {
            latency_dips::metrics(&workload.recorder.series, workload.recorder.interval_ns, metrics);
        }
        if let Some(client) = client {
            self.limits(client, metrics);
        }
        let logs = write_log.as_ref().map_or(&[][..], |logs| &logs.devices);
        if let (Some(zfs), false) = (zfs, logs.is_empty()) {
            let usages: Vec<_> = logs.iter().map(Device::usage).collect();
            zfs.record.log_device_metrics(&usages, metrics);
        }
        let all = device.0.iter().chain(tier_device.as_ref().map(|tier| &tier.0)).chain(logs);
        device::report::flash_metrics(all, metrics);
    }

    /// Return the properties of the run that layers need for their reports.
    fn report_context(&self) -> ReportContext<'_> {
        ReportContext { workers: &self.plan.workers, now_ns: self.kernel.now_ns(), interval_ns: self.layers.workload.recorder.interval_ns }
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
            devices: self.layers.device.0.len() as u64,
            logs: self.layers.write_log.as_ref().map_or(0, |logs| logs.devices.len() as u64),
            server_cycles_per_s: self.layers.server.as_ref().map_or(0.0, Server::cycles_per_s),
        };
        source.metrics(&self.layers.workload.recorder, metrics);
    }

    /// Return the work of all parts until now.
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
            log_ns: self.layers.write_log.iter().flat_map(WriteLogs::usage).map(|usage| usage.busy_ns).sum(),
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
    let now = stack.map(Stack::report_context).unwrap_or_default();
    Layers::tables(stack.map(|stack| &stack.layers), &now, tables);
    device::report::unsafe_tables(stack.map(|stack| (&stack.kernel.volatile, now.now_ns)), now.interval_ns, tables);
    Analytics::tables(stack.and_then(|stack| stack.analytics.as_ref()), tables);
    let job = |worker: u32| {
        let job = now.workers.get(worker as usize).map_or(0, |worker| worker.job);
        u32::try_from(job).unwrap_or(u32::MAX) // jobs are checked to be few
    };
    journeys::tables(stack.and_then(Stack::journeys), &job, tables);
}
