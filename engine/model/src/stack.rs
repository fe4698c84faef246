//! The whole stack of one run: builds the layers of a scenario, delivers signals to them, keeps the run within its limits.

mod report;

use std::sync::Arc;

use crate::check::Checked;
use crate::kernel::{Address, Kernel, Layer, Phase, RequestId, Signal};
use crate::layers::client::nfs::Client;
use crate::layers::cluster::{Cluster, Setting};
use crate::layers::controller;
use crate::layers::controller::Controller;
use crate::layers::device::disk::Disk;
use crate::layers::device::hdd::{DriveQueue, Hdd};
use crate::layers::device::lun::Lun;
use crate::layers::device::ssd::Ssd;
use crate::layers::device::{Device, Usage};
use crate::layers::layout::Layout;
use crate::layers::layout::partition::Partitions;
use crate::layers::network::Network;
use crate::layers::protocol::Scheduler;
use crate::layers::server::Server;
use crate::layers::tier::Tier;
use crate::layers::volume::Volume;
use crate::layers::workload::Workload;
use crate::layers::workload::replay::Replay;
use crate::layers::zfs::read_record::Reads;
use crate::layers::zfs::record::Record;
use crate::layers::zfs::volume;
use crate::layers::zfs::volume::reader::{File, Files};
use crate::layers::zfs::volume::{Below, ZfsVolume};
use crate::layers::zfs::zfetch::Run;
use crate::plan::{Plan, node_layouts};
use crate::range::Range;
use crate::result::Recorder;
use crate::result::analytics::{Analytics, Reading, Served};
use crate::result::limiter::Mark;
use seeklab_kernel::Stream;
use seeklab_spec::zfs::ZfsSpec;
use seeklab_spec::{DeviceGroup, Job, Problem, Scenario};

/// What a run waits to be told by its host.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Question {
    /// How long a write is delayed, or what is read ahead.
    Volume(volume::Question),
    /// Which shard owns a range.
    Owner(controller::asked::Question),
}

impl Question {
    /// The field of the scenario that makes the run ask.
    #[must_use]
    pub fn path(&self) -> &'static str {
        match self {
            Self::Volume(volume::Question::Delay(_)) => "zfs.throttle",
            Self::Volume(volume::Question::Ahead(_)) => "zfs.prefetch.asked",
            Self::Owner(_) => "controller.map",
        }
    }
}

/// Events between two looks at the memory held.
const MEMORY_CHECK_EVENTS: u64 = 1 << 14;

/// A run of a scenario.
pub struct Stack {
    scenario: Scenario,
    plan: Plan,
    kernel: Kernel,
    workload: Workload,
    client: Option<Client>,
    network: Option<Network>,
    server: Option<Server>,
    scheduler: Option<Scheduler>,
    volume: Option<Volume>,
    zfs: Option<ZfsVolume>,
    write_logs: Vec<Device>,
    cluster: Option<Cluster>,
    controller: Option<Controller>,
    tier: Option<Tier>,
    tier_device: Option<Device>,
    layouts: Vec<Layout>,
    partitions: Option<Partitions>,
    devices: Vec<Device>,
    recorder: Recorder,
    analytics: Option<Analytics>,
    /// When the analytics are read next; never where none are kept.
    read_ns: u64,
    /// What everything had done at the end of each stage of jobs.
    marks: Vec<Mark>,
    seed: u64,
    finished: bool,
}

fn device(group: &DeviceGroup, seed: u64, name: &str, drive: Option<&Arc<crate::layers::device::hdd::Params>>) -> Option<Device> {
    if let (Some(spec), Some(params)) = (&group.hdd, drive) {
        let queue = DriveQueue::new(spec.queue_policy, Some(spec.longest_overtaken.0));
        let drive = Hdd::new(Arc::clone(params)).turned(Stream::new(seed, &format!("{name}.spindle")).unit());
        return Some(Device::Disk(Box::new(Disk::new(drive, queue, spec.queue_depth))));
    }
    if let Some(spec) = &group.ssd {
        return Some(Device::Ssd(Ssd::new(spec, seed, name)));
    }
    group.lun.as_ref().map(|spec| Device::Lun(Lun::new(spec, Phase::Transfer, Stream::new(seed, &format!("{name}.rate")))))
}

/// The layers that a client's request passes on its way down, in order; a layer that a scenario lacks is passed over.
const DESCENT: [Layer; 9] = [
    Layer::Client,
    Layer::Network,
    Layer::Server,
    Layer::Protocol,
    Layer::Volume,
    Layer::Controller,
    Layer::Cluster,
    Layer::Tier,
    Layer::Layout,
];

/// Whether the scenario has the layer.
fn has(scenario: &Scenario, layer: Layer) -> bool {
    match layer {
        Layer::Client => scenario.nfs.is_some(),
        Layer::Network => scenario.network.is_some(),
        Layer::Server => scenario.server.is_some(),
        Layer::Protocol => scenario.protocol.as_ref().is_some_and(|protocol| protocol.scheduler.is_some()),
        Layer::Volume => scenario.volume.is_some() || scenario.zfs.is_some(),
        Layer::Cluster => scenario.cluster.is_some(),
        Layer::WriteLog => log_group(scenario).is_some() || scenario.volume.as_ref().is_some_and(|volume| volume.write_log.is_some()),
        Layer::Controller => scenario.controller.is_some(),
        Layer::Tier | Layer::TierDevice => scenario.tier.is_some(),
        Layer::Partition => scenario.partition.is_some(),
        Layer::Workload | Layer::Layout | Layer::Device => true,
    }
}

/// The log's devices of either file system.
fn write_logs(scenario: &Scenario, plan: &Plan, seed: u64) -> Vec<Device> {
    let here = |index: u32| Address { layer: Layer::WriteLog, index: u16::try_from(index).unwrap_or(u16::MAX) }; // at most 1,024
    let of_volume = scenario.volume.as_ref().and_then(|volume| volume.write_log.as_ref());
    if let Some(spec) = of_volume {
        return vec![Device::Lun(Lun::new(spec, Phase::WriteLog, Stream::new(seed, "write_log.rate"))).at(here(0))];
    }
    let Some(group) = log_group(scenario) else { return Vec::new() };
    let one = |index| device(group, seed, &log_name(index), plan.log_drive.as_ref()).map(|device| device.at(here(index)));
    (0..group.count).filter_map(one).collect()
}

/// The devices of ZFS's intent logs.
fn log_group(scenario: &Scenario) -> Option<&DeviceGroup> {
    scenario.zfs.as_ref().and_then(|zfs| zfs.log.devices.as_ref())
}

fn log_name(index: u32) -> String {
    format!("log{index}")
}

/// The first layer of the scenario at or below `layer`.
fn from(scenario: &Scenario, layer: Layer) -> Address {
    let below = DESCENT.iter().skip_while(|other| **other != layer);
    Address::of(below.copied().find(|layer| has(scenario, *layer)).unwrap_or(Layer::Layout))
}

/// The regions of the jobs of these names.
fn regions(scenario: &Scenario, plan: &Plan, names: &[String]) -> Vec<Range> {
    let mut regions = Vec::new();
    for name in names {
        regions.extend(plan.workers.iter().filter(|worker| scenario.jobs[worker.job].name == *name).map(|worker| worker.region));
    }
    // Workers that share a file have one region among them.
    regions.dedup();
    regions
}

fn volume(scenario: &Scenario, plan: &Plan) -> Option<Volume> {
    let spec = scenario.volume.as_ref()?;
    let primed = spec.cache.as_ref().map_or_else(Vec::new, |cache| regions(scenario, plan, &cache.primed));
    let file_ends = plan.workers.iter().map(|worker| worker.region.end).collect();
    Some(Volume::new(spec, from(scenario, Layer::Controller), file_ends, &primed))
}

/// ZFS schedules each device on its own where it sees them; a controller, a cluster or a tier hides them.
fn zfs(scenario: &Scenario, plan: &Plan) -> Option<ZfsVolume> {
    let spec = scenario.zfs.as_ref()?;
    let below = if scenario.controller.is_some() || scenario.cluster.is_some() || scenario.tier.is_some() {
        Below::Layer(from(scenario, Layer::Controller))
    } else {
        let count = u16::try_from(plan.device_capacities.len()).unwrap_or(u16::MAX); // as for the devices themselves
        Below::Devices(Layout::new(&scenario.layout, plan.device_capacities.clone(), &plan.rotating), count)
    };
    let jobs: Vec<usize> = plan.workers.iter().map(|worker| worker.job).collect();
    let interval_ns = scenario.record.interval.0;
    let volume = ZfsVolume::new(spec, below, plan.capacity, interval_ns).with_logs(&spec.log, plan.log_capacity, &jobs);
    let devices = plan.device_capacities.len();
    let cache =
        (devices..plan.device_names.len()).map(|index| Address { layer: Layer::Device, index: u16::try_from(index).unwrap_or(u16::MAX) });
    Some(volume.reading(spec, files(scenario, plan, spec), cache, interval_ns))
}

/// The files of a scenario as the read side of ZFS sees them.
fn files(scenario: &Scenario, plan: &Plan, spec: &ZfsSpec) -> Files {
    let mut places: Vec<Range> = plan.workers.iter().map(|worker| worker.file).collect();
    places.sort_unstable_by_key(|place| (place.start, u64::MAX - place.end));
    places.dedup_by_key(|place| place.start);
    let number = |file: &Range| places.partition_point(|place| place.start < file.start);
    let worker = |worker: &crate::plan::WorkerPlan| File { number: number(&worker.file), job: worker.job, place: worker.file };
    Files {
        of_worker: plan.workers.iter().map(worker).collect(),
        count: places.len(),
        jobs: scenario.jobs.len(),
        metadata: spec.arc.as_ref().map_or_else(Vec::new, |arc| regions(scenario, plan, &arc.metadata)),
        bytes: places.iter().map(|place| place.end - place.start).sum(),
    }
}

fn cluster(scenario: &Scenario, plan: &Plan, seed: u64) -> Option<Cluster> {
    let spec = scenario.cluster.as_ref()?;
    let mut files: Vec<(u64, usize)> = plan.workers.iter().map(|worker| (worker.region.start, worker.job)).collect();
    files.sort_unstable();
    files.dedup_by_key(|(start, _)| *start);
    Some(Cluster::new(Setting {
        spec,
        names: scenario.jobs.iter().map(|job| job.name.clone()).collect(),
        files,
        bytes: plan.placed_bytes(scenario),
        span: plan.node_capacity,
        below: from(scenario, Layer::Tier),
        seed,
        interval_ns: scenario.record.interval.0,
    }))
}

/// The layout of each node of a cluster, or one.
fn layouts(scenario: &Scenario, plan: &Plan) -> Vec<Layout> {
    let layouts = node_layouts(scenario, plan);
    let each = plan.device_capacities.len() / layouts.len().max(1);
    let node = |(node, layout): (usize, Layout)| {
        let index = u16::try_from(node).unwrap_or(u16::MAX); // at most 256 nodes
        layout.at(index, u16::try_from(node * each).unwrap_or(u16::MAX), u64::from(index) * plan.node_capacity)
    };
    layouts.into_iter().enumerate().map(node).collect()
}

fn tier(scenario: &Scenario, plan: &Plan) -> Option<Tier> {
    let spec = scenario.tier.as_ref()?;
    let kept: Vec<String> = spec.primed.iter().filter(|name| !spec.evicted.contains(name)).cloned().collect();
    let block = scenario.volume.as_ref().map_or(scenario.layout.unit, |volume| volume.block);
    Some(
        Tier::new(block.0, spec.size.0, spec.policy, spec.admit, &regions(scenario, plan, &kept), from(scenario, Layer::Layout))
            .over(plan.node_capacity.max(1)),
    )
}

impl Stack {
    /// Builds the stack of a checked scenario.
    #[must_use]
    pub fn new(checked: Checked, seed: u64) -> Self {
        let mut stack = Self::build(checked, seed);
        stack.start();
        stack
    }

    /// Builds the stack of a checked scenario whose job number `job` takes its requests from a trace.
    #[must_use]
    pub fn replaying(checked: Checked, seed: u64, job: usize, replay: Replay) -> Self {
        let mut stack = Self::build(checked, seed);
        stack.workload.feed(job, replay);
        stack.start();
        stack
    }

    fn start(&mut self) {
        if let Some(zfs) = &mut self.zfs {
            zfs.start(&mut self.kernel);
        }
        if let Some(cluster) = &mut self.cluster {
            cluster.start(&mut self.kernel);
        }
        if let Some(controller) = &mut self.controller {
            controller.start(&mut self.kernel);
        }
        for layout in &mut self.layouts {
            layout.start(&mut self.kernel);
        }
        self.workload.start(&mut self.kernel);
    }

    fn build(checked: Checked, seed: u64) -> Self {
        let (scenario, plan) = checked.into_parts();
        // Copy engines sit below the protocol's scheduler; clients come in at the top, as do the commands for the engines.
        let entry =
            |job: &Job| from(&scenario, if job.rw.is_offloaded() && scenario.network.is_none() { Layer::Volume } else { DESCENT[0] });
        let clients: Vec<usize> = scenario.network.as_ref().map_or_else(Vec::new, |spec| {
            plan.workers.iter().enumerate().map(|(worker, planned)| spec.client_of(worker, planned.job)).collect()
        });
        let client = scenario.nfs.as_ref().map(|spec| Client::new(spec, &scenario, &plan, &clients, from(&scenario, Layer::Network)));
        let network = scenario.network.as_ref().map(|spec| {
            let engine = if scenario.server.is_some() { Layer::Server } else { Layer::Volume };
            Network::new(spec, clients, from(&scenario, Layer::Server), from(&scenario, engine))
        });
        let server = scenario
            .server
            .as_ref()
            .zip(scenario.network.as_ref())
            .map(|(spec, network)| Server::new(spec, network, from(&scenario, Layer::Protocol), from(&scenario, Layer::Volume)));
        let mut devices = Vec::new();
        for (group, drive) in scenario.devices.iter().zip(&plan.drives) {
            for _ in 0..group.count {
                let index = u16::try_from(devices.len()).unwrap_or(u16::MAX); // at most 64 groups of 1,024 devices less one
                devices.extend(
                    device(group, seed, &plan.device_names[devices.len()], drive.as_ref())
                        .map(|device| device.at(Address { layer: Layer::Device, index })),
                );
            }
        }
        for (index, name) in plan.device_names.iter().enumerate().skip(devices.len()) {
            let address = Address { layer: Layer::Device, index: u16::try_from(index).unwrap_or(u16::MAX) };
            let group = scenario.zfs.as_ref().and_then(|zfs| zfs.l2arc.as_ref()).map(|l2arc| &l2arc.device);
            devices.extend(group.and_then(|group| device(group, seed, name, None)).map(|device| device.at(address)));
        }
        let scheduler = scenario.protocol.as_ref().and_then(|protocol| {
            protocol.scheduler.as_ref().map(|spec| Scheduler::new(protocol, spec, from(&scenario, Layer::Volume), plan.workers.len()))
        });
        Self {
            workload: Workload::new(&scenario, &plan, seed, entry),
            client,
            network,
            server,
            scheduler,
            volume: volume(&scenario, &plan),
            zfs: zfs(&scenario, &plan),
            cluster: cluster(&scenario, &plan, seed),
            controller: scenario.controller.as_ref().map(|spec| Controller::new(spec, &plan, from(&scenario, Layer::Cluster), seed)),
            write_logs: write_logs(&scenario, &plan, seed),
            tier: tier(&scenario, &plan),
            tier_device: scenario
                .tier
                .as_ref()
                .map(|tier| Device::Ssd(Ssd::new(&tier.ssd, seed, "tier")).at(Address::of(Layer::TierDevice))),
            partitions: scenario.partition.as_ref().map(Partitions::new),
            layouts: layouts(&scenario, &plan),
            devices,
            analytics: scenario.record.analytics.then(Analytics::default),
            read_ns: if scenario.record.analytics { 0 } else { u64::MAX },
            recorder: Recorder::new(scenario.jobs.len(), &scenario.record, scenario.monitor.is_some()),
            kernel: Kernel::default(),
            marks: Vec::new(),
            seed,
            finished: false,
            scenario,
            plan,
        }
    }

    /// Delivers at most `events` signals. Returns whether the run has ended.
    ///
    /// # Errors
    /// When the run exceeds one of its limits, or waits for an answer ([`Stack::question`]) since an earlier step; it stays where
    /// it was.
    pub fn step(&mut self, events: u64) -> Result<bool, Problem> {
        if self.asks() {
            let message = "\"asked\" takes each answer from the engine's host, and this one gives none; choose another";
            let path = self.question().map_or("controller.map", |question| question.path());
            return Err(Problem::new(path, message));
        }
        for _ in 0..events {
            if self.finished {
                return Ok(true);
            }
            if self.asks() {
                return Ok(false);
            }
            let Some(message) = self.kernel.advance() else {
                self.finished = true;
                self.read_analytics(self.kernel.now_ns());
                return self.check_limits().map(|()| true);
            };
            if self.kernel.now_ns() > self.scenario.limits.time.0 {
                return self.check_limits().map(|()| false);
            }
            while self.kernel.now_ns() >= self.read_ns {
                self.read_analytics(self.read_ns);
            }
            self.deliver(message.to(), message.signal, message.id);
            if self.kernel.events().is_multiple_of(MEMORY_CHECK_EVENTS) {
                self.check_limits()?;
            }
        }
        self.check_limits()?;
        Ok(self.finished)
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
            cycles: self.server.as_ref().map_or(0, |server| server.cycles()[0]),
            served: self.network.as_ref().map_or_else(Vec::new, |network| network.served.clone()),
            seen: self.recorder.jobs.iter().map(seen).collect(),
            devices: self.devices.iter().map(|device| device.usage().served()).collect(),
        });
    }

    /// The server's analytics, where they are kept.
    #[must_use]
    pub fn analytics(&self) -> Option<&Analytics> {
        self.analytics.as_ref()
    }

    /// Whether the run waits for an answer.
    #[must_use]
    #[inline]
    pub fn asks(&self) -> bool {
        self.zfs.as_ref().is_some_and(ZfsVolume::asks) || self.controller.as_ref().is_some_and(Controller::asks)
    }

    /// What must be answered before the run goes on.
    pub fn question(&mut self) -> Option<Question> {
        let volume = self.zfs.as_mut().and_then(|zfs| zfs.question(self.kernel.now_ns())).map(Question::Volume);
        volume.or_else(|| Some(Question::Owner(self.controller.as_ref()?.question(&self.kernel)?)))
    }

    /// Answers that of [`volume::Question::Ahead`]: these runs of records of the file are fetched.
    pub fn answer_runs(&mut self, runs: &[Run]) {
        if let Some(zfs) = &mut self.zfs {
            zfs.answer_runs(&mut self.kernel, runs);
        }
    }

    /// Answers the question of [`volume::Question::Delay`]: the write that asks sleeps so long.
    pub fn answer(&mut self, delay_ns: u64) {
        if let Some(zfs) = &mut self.zfs {
            zfs.answer(&mut self.kernel, delay_ns);
        }
    }

    /// Answers that of [`Question::Owner`]: the range belongs to this shard, one of those in the question's lists.
    pub fn answer_owner(&mut self, shard: u32) {
        if let Some(controller) = &mut self.controller {
            controller.answer(&mut self.kernel, shard);
        }
    }

    fn deliver(&mut self, to: Address, signal: Signal, id: u32) {
        let kernel = &mut self.kernel;
        match to.layer {
            Layer::Workload => {
                self.workload.handle(kernel, signal, id, &mut self.recorder);
                if self.workload.stage() > self.marks.len() {
                    self.marks.push(self.mark());
                }
            }
            Layer::Device => {
                // Whatever is sent to a device of the pool passes its partition first.
                let goes_on = match &mut self.partitions {
                    Some(partitions) if signal == Signal::Submit && usize::from(to.index) < self.plan.device_capacities.len() => {
                        partitions.submit(kernel, to.index, RequestId(id))
                    }
                    _ => true,
                };
                if goes_on {
                    self.devices[usize::from(to.index)].handle(kernel, signal, id);
                }
            }
            Layer::Partition => absent(self.partitions.as_mut().map(|partitions| partitions.handle(kernel, to.index, signal, id))),
            Layer::Layout => self.layouts[usize::from(to.index)].handle(kernel, signal, id),
            Layer::Cluster => absent(self.cluster.as_mut().map(|cluster| cluster.handle(kernel, to.index, signal, id))),
            Layer::Volume => match &mut self.zfs {
                Some(zfs) => zfs.handle(kernel, signal, id),
                None => absent(self.volume.as_mut().map(|volume| volume.handle(kernel, signal, id))),
            },
            Layer::Client => absent(self.client.as_mut().map(|client| client.handle(kernel, to.index, signal, id))),
            Layer::Network => absent(self.network.as_mut().map(|network| network.handle(kernel, to.index, signal, id))),
            Layer::Server => {
                let connection =
                    self.network.as_ref().filter(|_| signal == Signal::Submit).map_or(0, |network| network.connection(RequestId(id)));
                absent(self.server.as_mut().map(|server| server.handle(kernel, signal, id, connection)));
            }
            Layer::Protocol => absent(self.scheduler.as_mut().map(|scheduler| scheduler.handle(kernel, signal, id))),
            Layer::Controller => absent(self.controller.as_mut().map(|controller| controller.handle(kernel, signal, id))),
            Layer::Tier => absent(self.tier.as_mut().map(|tier| tier.handle(kernel, signal, id))),
            Layer::TierDevice => absent(self.tier_device.as_mut().map(|device| device.handle(kernel, signal, id))),
            Layer::WriteLog => absent(self.write_logs.get_mut(usize::from(to.index)).map(|device| device.handle(kernel, signal, id))),
        }
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
        let file_system = self.zfs.as_ref().map_or(0, ZfsVolume::memory_bytes) + self.cluster.as_ref().map_or(0, Cluster::memory_bytes);
        let memory = self.analytics.as_ref().map_or(0, Analytics::memory_bytes)
            + self.recorder.memory_bytes()
            + self.kernel.requests.memory_bytes()
            + file_system;
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
        if self.finished { 1.0 } else { self.workload.progress(self.kernel.now_ns()) }
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
        let Some(client) = &self.client else { return 0 };
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
        self.controller.as_ref()
    }

    /// The server node.
    #[must_use]
    pub fn server(&self) -> Option<&Server> {
        self.server.as_ref()
    }

    /// The size of each device in bytes, in order of their index.
    #[must_use]
    pub fn device_sizes(&self) -> &[u64] {
        &self.plan.device_sizes
    }

    /// Statistics and log.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// What the ZFS layer left; `None` without one.
    #[must_use]
    pub fn zfs_record(&self) -> Option<&Record> {
        self.zfs.as_ref().map(|zfs| &zfs.record)
    }

    /// What the read side of the ZFS layer left; `None` without an ARC.
    #[must_use]
    pub fn zfs_reads(&self) -> Option<&Reads> {
        self.zfs.as_ref()?.reader.as_ref().map(|reader| &reader.record)
    }

    /// What each device has done.
    #[must_use]
    pub fn usage(&self) -> Vec<Usage> {
        self.devices.iter().map(Device::usage).collect()
    }

    /// The name of each device, log devices included, and what it has done.
    #[must_use]
    pub fn all_usage(&self) -> Vec<(String, Usage)> {
        let logs = (0..).map(log_name).zip(self.write_logs.iter().map(Device::usage));
        let logs = logs.filter(|_| log_group(&self.scenario).is_some());
        self.plan.device_names.iter().cloned().zip(self.usage()).chain(logs).collect()
    }
}

/// A signal to a layer that the scenario does not have cannot be: addresses are made from the layers that exist.
fn absent(handled: Option<()>) {
    debug_assert!(handled.is_some(), "a signal to a layer that is not there");
}
