//! The whole stack of one run: delivers events to the layers of a scenario, keeps the run within its limits, gathers results.

mod report;

use crate::check::Checked;
use crate::kernel::journeys::Journeys;
use crate::kernel::{Event, Kernel, LayerId, Message, RequestId};
use crate::layers::controller::Controller;
use crate::layers::device::Usage;
use crate::layers::layout::Layout;
use crate::layers::pool::WriteLogs;
use crate::layers::server::Server;
use crate::layers::table::Layers;
pub use crate::layers::table::{decisions, fields, labels};
use crate::layers::workload::replay::Replay;
use crate::layers::zfs::read_record::Reads;
use crate::layers::zfs::record::Record;
use crate::layers::zfs::volume::Zfs;
use crate::plan::Plan;
use crate::result::Recorder;
use crate::result::analytics::{Analytics, Reading, Served};
use crate::result::limiter::Mark;
use seeklab_spec::{Problem, Scenario};
use serde_json::{Map, Value};

/// The kernel of a run, which keeps the journeys that the scenario asks for.
fn kernel(scenario: &Scenario) -> Kernel {
    let mut kernel = Kernel::default();
    kernel.volatile.keep_series(scenario.record.interval.0);
    kernel.requests.journeys = scenario.record.journeys.as_ref().map(|spec| Box::new(Journeys::new(spec)));
    kernel
}

/// Events between two looks at the memory held.
const MEMORY_CHECK_EVENTS: u64 = 1 << 14;

/// A run of a scenario.
pub struct Stack {
    scenario: Scenario,
    plan: Plan,
    kernel: Kernel,
    layers: Layers,
    /// Whether the scenario leaves a decision to the host: one look before the others, which are taken at every event.
    may_ask: bool,
    analytics: Option<Analytics>,
    /// When the analytics are read next; never where none are kept.
    read_ns: u64,
    /// The first time at which the analytics are read or the limit of time is passed: one look for both at every event.
    watch_ns: u64,
    /// Work of all parts at the end of each stage of jobs.
    marks: Vec<Mark>,
    /// Bytes that a power failure would have lost at the end of the last stage of jobs.
    unsafe_bytes: u64,
    seed: u64,
    finished: bool,
}

impl Stack {
    /// Builds the stack of a checked scenario.
    #[must_use]
    pub fn new(checked: Checked, seed: u64) -> Self {
        let mut stack = Self::build(checked, seed);
        stack.layers.start(&mut stack.kernel);
        stack
    }

    /// Builds the stack of a checked scenario whose job number `job` takes its requests from a trace.
    #[must_use]
    pub fn replaying(checked: Checked, seed: u64, job: usize, replay: Replay) -> Self {
        let mut stack = Self::build(checked, seed);
        stack.layers.workload.feed(job, replay);
        stack.layers.start(&mut stack.kernel);
        stack
    }

    fn build(checked: Checked, seed: u64) -> Self {
        let (scenario, plan) = checked.into_parts();
        Self {
            layers: Layers::build(&scenario, &plan, seed),
            analytics: scenario.record.analytics.then(Analytics::default),
            read_ns: if scenario.record.analytics { 0 } else { u64::MAX },
            watch_ns: 0,
            kernel: kernel(&scenario),
            may_ask: !decisions(&scenario).is_empty(),
            marks: Vec::new(),
            unsafe_bytes: 0,
            seed,
            finished: false,
            scenario,
            plan,
        }
    }

    /// Delivers at most `events` events. Returns whether the run has ended.
    ///
    /// # Errors
    /// When the run exceeds one of its limits, or waits for an answer ([`Stack::question`]) since an earlier step; it stays where
    /// it was.
    pub fn step(&mut self, events: u64) -> Result<bool, Problem> {
        if let Some(asked) = self.layers.waits() {
            let message = "\"asked\" needs a host that answers, and this one does not; choose another value";
            return Err(Problem::new(asked.field, message));
        }
        if self.finished {
            return Ok(true);
        }
        for _ in 0..events {
            if self.asks() {
                return Ok(false);
            }
            let Some(message) = self.kernel.advance() else {
                self.finished = true;
                self.read_analytics(self.kernel.now_ns());
                return self.check_limits().map(|()| true);
            };
            if self.kernel.now_ns() >= self.watch_ns {
                self.watch()?;
            }
            self.deliver(message);
            if self.kernel.events().is_multiple_of(MEMORY_CHECK_EVENTS) {
                self.check_limits()?;
            }
        }
        self.check_limits()?;
        Ok(self.finished)
    }

    /// Checks the limit of time, and reads the analytics that are due.
    #[cold]
    fn watch(&mut self) -> Result<(), Problem> {
        let (now_ns, limit_ns) = (self.kernel.now_ns(), self.scenario.limits.time.0);
        if now_ns > limit_ns {
            return self.check_limits();
        }
        while now_ns >= self.read_ns {
            self.read_analytics(self.read_ns);
        }
        self.watch_ns = self.read_ns.min(limit_ns.saturating_add(1));
        Ok(())
    }

    /// Reads the counters at `time_ns`, before anything of that time or after all of the run.
    fn read_analytics(&mut self, time_ns: u64) {
        let Some(analytics) = &mut self.analytics else { return };
        self.read_ns = self.read_ns.saturating_add(self.scenario.record.interval.0);
        let seen = |job: &crate::result::JobStats| {
            let sum = |each: fn(&crate::result::Stats) -> u64| job.by_op.iter().map(each).sum();
            Served { ios: sum(|stats| stats.ios), bytes: sum(|stats| stats.bytes), total_ns: sum(|stats| stats.total_ns) }
        };
        analytics.readings.push(Reading {
            time_ns,
            cycles: self.layers.server.as_ref().map_or(0, |server| server.cycles()[0]),
            served: self.layers.network.as_ref().map_or_else(Vec::new, |network| network.served.clone()),
            seen: self.layers.workload.recorder.jobs.iter().map(seen).collect(),
            devices: self.layers.device.0.iter().map(|device| device.usage().served()).collect(),
        });
    }

    /// The server's analytics, where they are kept.
    #[must_use]
    pub fn analytics(&self) -> Option<&Analytics> {
        self.analytics.as_ref()
    }

    /// Where requests stayed, where that is kept.
    #[must_use]
    pub fn journeys(&self) -> Option<&Journeys> {
        self.kernel.requests.journeys.as_deref()
    }

    /// Whether the run waits for an answer.
    #[must_use]
    #[inline]
    pub fn asks(&self) -> bool {
        self.may_ask && self.layers.waits().is_some()
    }

    /// Return the open question, which must be answered before the run continues.
    #[must_use]
    pub fn question(&mut self) -> Option<Value> {
        self.layers.question(&self.kernel)
    }

    /// Answers the question with an object of JSON.
    ///
    /// # Errors
    /// When nothing was asked, or the answer is not one; the question stands.
    pub fn answer(&mut self, given: &Map<String, Value>) -> Result<(), Problem> {
        let taken = self.layers.answer(&mut self.kernel, given);
        taken.unwrap_or_else(|| Err(Problem::new("answer", "no question is open")))
    }

    #[inline]
    fn deliver(&mut self, message: Message) {
        let (to, event) = (message.to(), message.event());
        if let Some(journeys) = &mut self.kernel.requests.journeys {
            journeys.here = to;
        }
        if let (LayerId::Device, Event::Submit(id)) = (to.layer, event)
            && (self.layers.partition.is_some() || self.layers.host.is_some())
            && !self.passes(to.index, id)
        {
            return;
        }
        self.layers.on(&mut self.kernel, to, event);
        if to.layer == LayerId::Workload && self.layers.workload.stage() > self.marks.len() {
            self.unsafe_bytes = self.kernel.volatile.bytes();
            self.marks.push(self.mark());
        }
    }

    /// Whether a request for a device goes on to it as it is. It passes the device's partition first, and then the host.
    fn passes(&mut self, device: u16, id: RequestId) -> bool {
        if self.kernel.requests[id].owner.layer == LayerId::Host {
            return true;
        }
        let is_partitioned = usize::from(device) < self.plan.device_capacities.len();
        if let Some(partitions) = self.layers.partition.as_mut().filter(|_| is_partitioned)
            && !partitions.submit(&mut self.kernel, device, id)
        {
            return false;
        }
        let Some(host) = &mut self.layers.host else { return true };
        host.submit(&mut self.kernel, device, id);
        false
    }

    fn check_limits(&self) -> Result<(), Problem> {
        let limits = &self.scenario.limits;
        if self.kernel.now_ns() > limits.time.0 {
            return Err(Problem::new(
                "limits.time",
                format!("the run reached {} of simulated time; shorten the jobs or raise the limit", limits.time),
            ));
        }
        if self.kernel.events() > limits.events {
            return Err(Problem::new(
                "limits.events",
                format!("the run reached {} events; shorten the jobs or raise the limit", limits.events),
            ));
        }
        let mut memory = self.analytics.as_ref().map_or(0, Analytics::memory_bytes)
            + self.kernel.requests.memory_bytes()
            + self.kernel.volatile.memory_bytes();
        memory += self.journeys().map_or(0, Journeys::memory_bytes) + self.layers.memory_bytes();
        if memory > limits.memory.0 {
            return Err(Problem::new(
                "limits.memory",
                format!(
                    "the run's log and series reached {}; set record.log to false, widen record.interval, or raise the limit",
                    limits.memory
                ),
            ));
        }
        Ok(())
    }

    /// How much of the run is done, 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        if self.finished {
            return 1.0;
        }
        let requests = self.layers.workload.progress(self.kernel.now_ns());
        let rebuilt = self.layers.layout.0.first().map_or(1.0, Layout::rebuild_progress);
        let scrubbed = self.layers.zfs.as_ref().map_or(1.0, Zfs::scrub_progress);
        self.layers.fleet.as_ref().map_or(requests, |fleet| f64::midpoint(fleet.progress(), requests)).min(rebuilt).min(scrubbed)
    }

    /// Signals delivered so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.kernel.events()
    }

    /// Simulated time so far, in nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.kernel.now_ns()
    }

    /// Requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.kernel.requests.len()
    }

    /// Bytes that a power failure would lose now.
    #[must_use]
    pub fn unsafe_bytes_now(&self) -> u64 {
        self.kernel.volatile.bytes()
    }

    /// The scenario that runs.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The seed of the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Time that the processes of a job's workers have had of their client's processors; 0 without an NFS client.
    #[must_use]
    pub fn process_ns(&self, job: usize) -> u64 {
        let Some(client) = &self.layers.client else { return 0 };
        let workers = self.plan.workers.iter().enumerate().filter(|(_, worker)| worker.job == job);
        workers.map(|(index, _)| client.process_ns(index)).sum()
    }

    /// The names of the devices, in order of their index.
    #[must_use]
    pub fn device_names(&self) -> &[String] {
        &self.plan.device_names
    }

    /// The controllers of virtual disks.
    #[must_use]
    pub fn controller(&self) -> Option<&Controller> {
        self.layers.controller.as_ref()
    }

    /// The server node.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        self.layers.server.as_ref()
    }

    /// The size of each device in bytes, in order of their index.
    #[must_use]
    pub fn device_sizes(&self) -> &[u64] {
        &self.plan.device_sizes
    }

    /// Statistics and log.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.layers.workload.recorder
    }

    /// Return the record of the ZFS layer; `None` without one.
    #[must_use]
    pub fn zfs_record(&self) -> Option<&Record> {
        self.layers.zfs.as_ref().map(|zfs| &zfs.record)
    }

    /// Return the record of the ZFS layer's read side; `None` without an ARC.
    #[must_use]
    pub fn zfs_reads(&self) -> Option<&Reads> {
        self.layers.zfs.as_ref()?.reader.as_ref().map(|reader| &reader.record)
    }

    /// Return the work of each device so far.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        self.layers.device.usage()
    }

    /// The name of each device, log devices included, and what it has done.
    #[must_use]
    pub fn all_usage(&self) -> Vec<(String, Usage)> {
        let logs = self.layers.write_log.iter().flat_map(WriteLogs::named_usage);
        self.plan.device_names.iter().cloned().zip(self.usage()).chain(logs).collect()
    }
}
