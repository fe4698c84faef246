//! Cluster placement: a request finds the nodes that hold its blocks, and their devices serve it.
//!
//! Modelled: the nodes a lookup asks, one round trip each; reads from the reader's own node where it has a copy, else over the
//! links; writes to all copies at once; blocks that move to the node that reads or rewrites them; machines that move; lost nodes,
//! whose machines start again elsewhere and whose copies are made again in the background. See [`placement`] for the five
//! designs, [`link`] for the links and [`background`] for copies.
//!
//! Constants: none besides the scenario's. A lookup whose last node serves the data needs no further round trip.
//! A FLUSH goes to the devices of all nodes at once; a write that ends with one flushes the nodes that have its copies.
//! Left out: CPU of the nodes, time to move a machine's memory or to notice a loss (both are at once), versions of blocks (a
//! request that is in flight when a node is lost completes), and metadata writes.
//!
//! Below a cluster, addresses are physical: node k's devices begin at k times the capacity of a node.

pub mod background;
mod capacity_check;
mod check;
pub mod link;
pub mod placement;
pub mod record;
mod report;

#[cfg(test)]
mod tests;

use background::Background;
use link::Links;
use placement::{Disk, NOWHERE, Placement};
use record::{Arrival, Loss, Record, Why};
use seeklab_spec::cluster::{ClusterSpec, Design};

use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::{Layer, ReportContext};
use crate::plan::Plan;
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;
use seeklab_kernel::{Slab, Stream};
use seeklab_spec::{Op, Path, Problems, Scenario};

const HERE: Address = Address::of(LayerId::Cluster);
timers! {
    enum Timer {
        /// A request's next step is due.
        Step(RequestId),
        /// A node's link is free again.
        LinkFree(u16),
        /// A transfer has arrived.
        Arrived(RequestId),
        /// A scheduled change is due: moves first, then failures.
        Change(u32),
    }
}

/// The purpose of one of our requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Reads a block, or part of one.
    Read,
    /// Writes one, on all nodes that hold it.
    Write,
    /// Writes it on one of them.
    Copy,
    /// Brings a copy to another node.
    Move(Why),
}

/// The event that one of our requests waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Lookup,
    RoundTrip,
    Link,
    Device,
    /// The second device of a copy.
    Target,
}

/// State of a request of ours; the request's tag is its number.
#[derive(Clone, Copy, Debug)]
struct Work {
    kind: Kind,
    stage: Stage,
    block: u32,
    object: u32,
    /// Where in the block.
    within: u32,
    /// The machine's node; for a copy the sender.
    from: u16,
    /// The node that serves; for a copy the receiver.
    to: u16,
    /// Slot taken on the receiver.
    slot: u32,
    asked: [u16; 2],
    lookups: u8,
    walked: u8,
}

/// The cluster layer.
pub struct Cluster {
    spec: ClusterSpec,
    /// Size of a block.
    block: u64,
    /// Bytes of a node's address space.
    span: u64,
    below: Address,
    placement: Placement,
    links: Links<Timer>,
    background: Background,
    /// Nodes of the machines.
    vms: Vec<u16>,
    /// Machine by job name, for the events.
    names: Vec<String>,
    works: Slab<Work>,
    record: Record,
}

/// Everything that a cluster is built from.
pub struct Setting<'a> {
    /// The scenario's description.
    pub spec: &'a ClusterSpec,
    /// Names of the jobs, which are the machines.
    pub names: Vec<String>,
    /// Start of each file in bytes, and the job it belongs to, in order.
    pub files: Vec<(u64, usize)>,
    /// Bytes that are placed.
    pub bytes: u64,
    /// Bytes of a node's address space.
    pub span: u64,
    /// The layer below.
    pub below: Address,
    /// Seed of the run.
    pub seed: u64,
    /// Width of an interval of the series.
    pub interval_ns: u64,
}

#[allow(clippy::cast_possible_truncation)] // at most 256 nodes and jobs, and blocks within their limit
impl Layer for Cluster {
    type Spec = ClusterSpec;
    const FIELD: &'static str = "cluster";
    const LABEL: &'static str = "Cluster";
    const PASSES_FLUSHES: bool = true;

    fn spec(scenario: &Scenario) -> Option<&ClusterSpec> {
        scenario.cluster.as_ref()
    }

    fn check(spec: &ClusterSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn check_plan(spec: &ClusterSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
        capacity_check::check(spec, scenario, plan, at, problems);
    }

    fn build(spec: &ClusterSpec, setup: &Setup) -> Option<Self> {
        let (scenario, plan) = (setup.scenario, setup.plan);
        let mut files: Vec<(u64, usize)> = plan.workers.iter().map(|worker| (worker.region.start, worker.job)).collect();
        files.sort_unstable();
        files.dedup_by_key(|(start, _)| *start);
        Some(Self::new(Setting {
            spec,
            names: scenario.jobs.iter().map(|job| job.name.clone()).collect(),
            files,
            bytes: plan.placed_bytes(scenario),
            span: plan.node_capacity,
            below: setup.below(LayerId::Cluster),
            seed: setup.seed,
            interval_ns: setup.interval_ns(),
        }))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => self.submit(kernel, id),
            Event::Done(id) => self.served(kernel, id),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Step(id) => self.step(kernel, id),
                Timer::LinkFree(node) => self.links.sent(kernel, node),
                Timer::Arrived(id) => self.arrived(kernel, id),
                Timer::Change(change) => self.event(kernel, change as usize),
            },
        }
    }

    /// Sets the times of moves and failures.
    fn start(&mut self, kernel: &mut Kernel) {
        let times = self.spec.moves.iter().map(|moved| moved.at).chain(self.spec.failures.iter().map(|failure| failure.at));
        for (change, at) in (0..).zip(times) {
            kernel.wake_at(at.0, HERE, Timer::Change(change));
        }
    }

    /// Bytes of memory that the tables and the record take.
    fn memory_bytes(&self) -> u64 {
        self.placement.memory_bytes() + self.record.memory_bytes() + self.works.memory_bytes()
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.report(metrics);
    }

    fn tables(cluster: Option<&Self>, _: &ReportContext, tables: &mut Tables) {
        Self::report_tables(cluster, tables);
    }
}

#[allow(clippy::cast_possible_truncation)] // at most 256 nodes and jobs, and blocks within their limit
impl Cluster {
    /// Places all blocks.
    #[must_use]
    pub fn new(setting: Setting<'_>) -> Self {
        let Setting { spec, names, files, bytes, span, below, seed, interval_ns } = setting;
        let block = spec.block.0;
        let vms: Vec<u16> = names.iter().enumerate().map(|(job, name)| spec.home(job, name) as u16).collect();
        let blocks = bytes.div_ceil(block).clamp(1, seeklab_spec::cluster::MAX_BLOCKS) as u32;
        let disks = files.iter().map(|(start, job)| Disk { start: (start / block) as u32, vm: *job as u16 }).collect();
        let salt = Stream::new(seed, "cluster").bits();
        let placement = Placement::new(spec, blocks, disks, &vms, (span / block).min(u64::from(u32::MAX)) as u32, salt);
        let mut record = Record::new(&placement, vms.len(), block, interval_ns);
        record.arrivals = vms.iter().enumerate().map(|(vm, node)| Arrival { time_ns: 0, vm: vm as u16, node: *node }).collect();
        Self {
            block,
            span,
            below,
            links: Links::new(spec.nodes, spec.link.0, HERE, Timer::LinkFree, Timer::Arrived),
            background: Background::new(spec.nodes as usize, spec.rebuild_in_flight),
            placement,
            vms,
            names,
            works: Slab::default(),
            record,
            spec: spec.clone(),
        }
    }

    /// Cuts a request into its blocks.
    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        if request.is_flush() {
            return self.flush(kernel, id);
        }
        let kind = if request.op == Op::Read { Kind::Read } else { Kind::Write };
        let (mut at, end) = (request.offset, request.offset + request.bytes);
        while at < end {
            let next = ((at / self.block + 1) * self.block).min(end);
            let part = kernel.open_child(id, HERE, at, next - at);
            let block = (at / self.block % u64::from(self.placement.blocks())) as u32;
            let work = Work {
                kind,
                stage: Stage::Lookup,
                block,
                object: self.placement.object_of(block),
                within: (at % self.block) as u32,
                from: self.vms[usize::from(self.placement.vm_of(block))],
                to: NOWHERE,
                slot: 0,
                asked: [NOWHERE; 2],
                lookups: 0,
                walked: 0,
            };
            kernel.requests[part].tag = self.add(work);
            kernel.wake(HERE, Timer::Step(part));
            at = next;
        }
    }

    /// Hands a FLUSH to the devices of all nodes at once.
    fn flush(&mut self, kernel: &mut Kernel, id: RequestId) {
        for node in 0..self.spec.nodes as u16 {
            let part = kernel.open_child(id, HERE, u64::from(node) * self.span, 0);
            let index = if self.below.layer == LayerId::Layout { node } else { 0 };
            kernel.submit(Address { index, ..self.below }, part);
        }
    }

    fn add(&mut self, work: Work) -> u32 {
        self.works.insert(work)
    }

    fn work(&mut self, kernel: &Kernel, id: RequestId) -> &mut Work {
        &mut self.works[kernel.requests[id].tag]
    }

    fn step(&mut self, kernel: &mut Kernel, id: RequestId) {
        let work = *self.work(kernel, id);
        if work.stage == Stage::RoundTrip {
            kernel.charge(id, Phase::Remote);
            return self.device(kernel, id);
        }
        let mut asked = work.asked;
        let mut lookups = work.lookups;
        if work.walked == 0 {
            let object = &self.placement.objects[work.object as usize];
            self.placement.walk(work.block, object, work.from, |node| {
                asked[usize::from(lookups)] = node;
                lookups += 1;
            });
        } else {
            kernel.charge(id, Phase::Lookup);
        }
        let round_trip_ns = self.spec.round_trip.0;
        let work = self.work(kernel, id);
        (work.asked, work.lookups) = (asked, lookups);
        if work.walked < lookups {
            work.walked += 1;
            return kernel.wake_at(kernel.now_ns() + round_trip_ns, HERE, Timer::Step(id));
        }
        match work.kind {
            Kind::Read => self.read(kernel, id),
            _ => self.write(kernel, id),
        }
    }

    fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let work = *self.work(kernel, id);
        let bytes = kernel.requests[id].bytes;
        let server = self.placement.server(work.block, &self.placement.objects[work.object as usize], work.from);
        let vm = self.placement.vm_of(work.block);
        let record = &mut self.record;
        record.reads += 1;
        record.lookups += u64::from(work.lookups);
        record.read_bytes += bytes;
        let is_local = server == Some(work.from);
        record.local_bytes += if is_local { bytes } else { 0 };
        if record.moved_vm.is_none_or(|moved| moved == vm) && !self.placement.set_read(work.block) {
            record.read_blocks += 1;
            record.read_away += u64::from(!is_local);
        }
        let Some(server) = server else {
            record.lost_requests += 1;
            return self.finish(kernel, id);
        };
        let is_asked = work.lookups > 0 && work.asked[usize::from(work.lookups) - 1] == server;
        let work = self.work(kernel, id);
        work.to = server;
        if is_local || is_asked {
            return self.device(kernel, id);
        }
        work.stage = Stage::RoundTrip;
        kernel.wake_at(kernel.now_ns() + self.spec.round_trip.0, HERE, Timer::Step(id));
    }

    fn write(&mut self, kernel: &mut Kernel, id: RequestId) {
        let work = *self.work(kernel, id);
        let request = kernel.requests[id];
        if self.placement.is_duplicate(work.block) {
            return self.finish(kernel, id); // its fingerprint is known: nothing is written
        }
        if request.bytes == self.block && self.spec.migrate {
            self.rewrite_here(work.object, work.from);
        }
        let object = self.placement.objects[work.object as usize];
        if object.holders().next().is_none() {
            self.record.lost_requests += 1;
            return self.finish(kernel, id);
        }
        let vm = self.placement.vm_of(work.block);
        for node in object.holders() {
            let copy = kernel.open_child(id, HERE, request.offset, request.bytes);
            let stage = if node == work.from { Stage::Device } else { Stage::Link };
            kernel.requests[copy].tag = self.add(Work { kind: Kind::Copy, stage, to: node, ..work });
            if node == work.from {
                self.device(kernel, copy);
            } else {
                self.record.flow(kernel.now_ns(), Why::Request, vm, work.from, node, request.bytes);
                self.links.send(kernel, copy, work.from, node, request.bytes, false);
            }
        }
    }

    /// With locality, a block that is rewritten whole is written where its machine runs; the first copy elsewhere is dropped.
    fn rewrite_here(&mut self, object: u32, node: u16) {
        let held = self.placement.objects[object as usize];
        let is_free = self.placement.design == Design::Locality && !held.nodes.contains(&node) && self.placement.has_room(node);
        if let Some(old) = held.holders().next().filter(|_| is_free && !self.placement.is_moving(object)) {
            let slot = self.placement.take(node);
            self.placement.replace(object, old, node, slot);
        }
    }

    /// Hands a request to the devices of its node.
    fn device(&mut self, kernel: &mut Kernel, id: RequestId) {
        let span = self.span;
        let work = *self.work(kernel, id);
        let (node, slot) = match (work.kind, work.stage) {
            (Kind::Move(_), Stage::Target) => (work.to, work.slot),
            (Kind::Move(_), _) => (work.from, self.placement.objects[work.object as usize].slot_on(work.from).unwrap_or(0)),
            _ => (work.to, self.placement.objects[work.object as usize].slot_on(work.to).unwrap_or(0)),
        };
        if work.stage != Stage::Target {
            self.work(kernel, id).stage = Stage::Device;
        }
        let offset = u64::from(node) * span + u64::from(slot) * self.block + u64::from(work.within);
        let request = &mut kernel.requests[id];
        (request.offset, request.place) = (offset, offset);
        // A tier is one for all nodes; layouts are one for each.
        let index = if self.below.layer == LayerId::Layout { node } else { 0 };
        kernel.submit(Address { index, ..self.below }, id);
    }

    /// The devices have served a request.
    fn served(&mut self, kernel: &mut Kernel, id: RequestId) {
        if kernel.requests[id].is_flush() {
            if let Some(whole) = kernel.join(id) {
                kernel.complete(whole);
            }
            return;
        }
        let work = *self.work(kernel, id);
        let bytes = kernel.requests[id].bytes;
        match (work.kind, work.stage) {
            (Kind::Read, _) if work.to != work.from => {
                self.work(kernel, id).stage = Stage::Link;
                let vm = self.placement.vm_of(work.block);
                self.record.flow(kernel.now_ns(), Why::Request, vm, work.to, work.from, bytes);
                self.links.send(kernel, id, work.to, work.from, bytes, false);
            }
            (Kind::Move(why), Stage::Device) => {
                self.work(kernel, id).stage = Stage::Link;
                let vm = self.placement.objects[work.object as usize].vm;
                self.record.flow(kernel.now_ns(), why, vm, work.from, work.to, bytes);
                self.links.send(kernel, id, work.from, work.to, bytes, true);
            }
            (Kind::Move(_), _) => self.moved(kernel, id),
            _ => self.finish(kernel, id),
        }
    }

    /// A transfer has arrived.
    fn arrived(&mut self, kernel: &mut Kernel, id: RequestId) {
        let work = *self.work(kernel, id);
        match work.kind {
            Kind::Copy => {
                self.work(kernel, id).stage = Stage::RoundTrip;
                kernel.wake_at(kernel.now_ns() + self.spec.round_trip.0, HERE, Timer::Step(id));
            }
            Kind::Move(_) => {
                self.work(kernel, id).stage = Stage::Target;
                kernel.requests[id].op = Op::Write;
                self.device(kernel, id);
            }
            _ => {
                self.migrate(kernel, &work, kernel.requests[id].bytes == self.block);
                self.finish(kernel, id);
            }
        }
    }

    /// A part of a request, or the write of one copy, is complete.
    fn finish(&mut self, kernel: &mut Kernel, id: RequestId) {
        let tag = kernel.requests[id].tag;
        self.works.release(tag);
        let kind = self.works[tag].kind;
        if let Some(whole) = kernel.join(id) {
            if kind == Kind::Copy { self.finish(kernel, whole) } else { kernel.complete(whole) }
        }
    }

    fn event(&mut self, kernel: &mut Kernel, event: usize) {
        let now_ns = kernel.now_ns();
        if let Some(moved) = self.spec.moves.get(event) {
            let (vm, node) = (self.names.iter().position(|name| *name == moved.vm).unwrap_or(0), moved.to as u16);
            self.vms[vm] = node;
            self.record.arrivals.push(Arrival { time_ns: now_ns, vm: vm as u16, node });
            if self.record.moved_vm.is_none() {
                self.record.moved_vm = Some(vm as u16);
                self.placement.forget_reads();
                (self.record.read_blocks, self.record.read_away) = (0, 0);
                self.record.local_at_move = Some(self.placement.local_share(vm as u16, node));
            }
        } else if let Some(failure) = self.spec.failures.get(event - self.spec.moves.len()) {
            let node = failure.node as u16;
            self.record.losses.push(Loss { time_ns: now_ns, node });
            self.lose(kernel, node);
        }
    }

    /// Return the record of the run.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The tables.
    #[must_use]
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Bytes that each node has sent: for requests and in the background.
    #[must_use]
    pub fn sent_bytes(&self) -> Vec<[u64; 2]> {
        self.links.sent_bytes().collect()
    }
}

/// A background request of `bytes`.
fn background_request(bytes: u64, op: Op, tag: u32) -> Request {
    Request { bytes, op, tag, owner: HERE, ..Request::default() }
}
