//! The controllers of virtual disks: single-threaded servers on the cores of a node, between the file system and the devices.
//!
//! A virtual disk with one controller needs no locks: one thread does all its requests, one after the other, and a small read
//! costs it as much as a large one. That thread is then the limit of the disk, on a node of any number of cores. Sharding
//! gives ranges of the disk in turn to several controllers. A *primary* receives each request and hands it to the owner of its
//! range, so with n shards, `dispatch` d and shard cost c a disk does at most min(n / c, 1 / d, cores / (c + d)) requests:
//!
//! ```text
//!   requests/s   |          ________  1 / d
//!                |        /
//!                |      /             n / c
//!                |    /
//!                +----------------- n
//! ```
//!
//! The life of a request: the primary dispatches it (with one shard this step is absent); parts of it that belong to different
//! shards are processed separately; a shard works on each, holding the state lock for the first part of its work; a write is sent to the
//! other nodes; the request goes down.
//!
//! Resizing: what has entered the disk's controllers is finished under the old map, what comes meanwhile waits (it is the map's
//! write lock, and charged as [`Phase::Lock`]), then the new map holds. So the requests of a block keep their order, and no data
//! move: ranges change their owner, not their place.
//!
//! Who owns which range: in turn, by the scenario's list, or as the engine's host says ([`decision`]).
//!
//! Constants are the scenario's. Left out: the way back up (completions cost nothing), what a crash would have to replay, the
//! other nodes' work on the copies (a rate stands for it), and that a copy travels while the local write is in progress (here
//! the write follows it).

pub mod check;
pub mod decision;
mod order;
mod report;

use crate::cpu::folded::Frames;
use crate::cpu::lock::Mode;
use crate::cpu::{Cpu, Section, ServerUsage, Task};
use crate::decision::Decision;
use crate::kernel::{Address, Event, Kernel, LayerId, Phase, RequestId, Timer as _};
use crate::layers::device::transfer_ns;
use crate::layers::{Layer, ReportContext};
use crate::plan::Plan;
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;
use decision::Map;
use order::Order;
use seeklab_kernel::Stream;
use seeklab_spec::controller::{ControllerSpec, Exclusive, OwnerMap, Part, Spread};
use seeklab_spec::{Op, Path, Problems, Scenario};

const HERE: Address = Address::of(LayerId::Controller);

timers! {
    enum Timer {
        /// The cores have done a piece of work.
        Cpu(u32),
        /// The number of shards changes, by the number of the change.
        Resize(u32),
    }
}

/// A virtual disk.
#[derive(Debug)]
struct Disk {
    start: u64,
    /// Ranges of the disks before it.
    first_range: u64,
    /// Server of the primary; those of the shards follow it.
    primary: u32,
    lock: u32,
    shards: u32,
    /// The number of shards that it is about to have.
    next_shards: Option<u32>,
    /// Requests and parts of requests with the primary or a shard.
    inside: u32,
    /// Requests that arrived while the number of shards changes.
    held: Vec<RequestId>,
}

/// A number of shards and since when a disk has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Disk.
    pub disk: u32,
    /// From when on, in nanoseconds.
    pub from_ns: u64,
    /// Shards.
    pub shards: u32,
}

/// A server of the node and what it has done.
#[derive(Clone, Copy, Debug)]
pub struct ServerRow {
    /// Its disk.
    pub disk: u32,
    /// 0 is the primary, 1 the first shard.
    pub number: u32,
    /// Its work so far.
    pub usage: ServerUsage,
}

/// The controller layer.
pub struct Controller {
    spec: ControllerSpec,
    cpu: Cpu<Timer>,
    disks: Vec<Disk>,
    /// Disk and number of each server.
    places: Vec<(u32, u32)>,
    /// Work of each server by part of the cost, in nanoseconds.
    spent: Vec<[u64; Part::ALL.len()]>,
    below: Address,
    work: Stream,
    replicas_free_ns: u64,
    order: Option<Order>,
    /// Owners of ranges, if the host chooses them.
    map: Option<Map>,
    /// How long the replica network was busy, in nanoseconds.
    pub replicas_busy_ns: u64,
    /// Numbers of shards over time.
    pub epochs: Vec<Epoch>,
}

impl Layer for Controller {
    type Spec = ControllerSpec;
    const FIELD: &'static str = "controller";
    const LABEL: &'static str = "Controller";
    const DECISIONS: &'static [Decision<Self>] = &[decision::OWNER];

    fn spec(scenario: &Scenario) -> Option<&ControllerSpec> {
        scenario.controller.as_ref()
    }

    fn check_plan(spec: &ControllerSpec, _: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
        check::check(spec, plan, at, problems);
    }

    fn build(spec: &ControllerSpec, setup: &Setup) -> Option<Self> {
        Some(Self::new(spec, setup.plan, setup.below(LayerId::Controller), setup.seed))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) => self.arrive(kernel, id),
            Event::Done(id) => {
                if let Some(whole) = kernel.join(id) {
                    kernel.complete(whole);
                }
            }
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Cpu(run) => {
                    if let Some((task, server)) = self.cpu.timer(kernel, run) {
                        self.worked(kernel, task, server);
                    }
                }
                Timer::Resize(change) => {
                    let wanted = self.spec.resizes[change as usize].shards;
                    let shards = self.spec.granted(wanted, self.disks.len());
                    for disk in 0..self.disks.len() {
                        self.disks[disk].next_shards = Some(shards);
                        self.resize_when_empty(kernel, disk);
                    }
                }
            },
        }
    }

    /// Orders the resizes of the scenario.
    fn start(&mut self, kernel: &mut Kernel) {
        for (change, resize) in self.spec.resizes.iter().enumerate() {
            kernel.wake_at(resize.at.0, HERE, Timer::Resize(index(change)));
        }
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.report(metrics);
    }

    fn tables(controller: Option<&Self>, _: &ReportContext, tables: &mut Tables) {
        Self::report_tables(controller, tables);
    }
}

impl Controller {
    /// The controllers that a scenario describes, above `below`.
    #[must_use]
    pub fn new(spec: &ControllerSpec, plan: &Plan, below: Address, seed: u64) -> Self {
        let mut cpu = Cpu::new(spec.cores, HERE, Timer::Cpu);
        let starts = check::disk_starts(spec, plan);
        let ranges = check::ranges(spec, plan, &starts);
        let (shards, most) = (spec.granted(spec.shards, starts.len()), spec.max_shards(starts.len()));
        let mut places = Vec::new();
        let mut disks = Vec::new();
        let mut first_range = 0;
        for (start, ranges) in starts.into_iter().zip(ranges) {
            let disk = index(disks.len());
            let primary = index(places.len());
            for number in 0..=most {
                cpu.add_server(spec.threads);
                places.push((disk, number));
            }
            let lock = cpu.add_lock();
            disks.push(Disk { start, first_range, primary, lock, shards, next_shards: None, inside: 0, held: Vec::new() });
            first_range += ranges;
        }
        Self {
            spent: vec![[0; Part::ALL.len()]; places.len()],
            epochs: (0..disks.len()).map(|disk| Epoch { disk: index(disk), from_ns: 0, shards }).collect(),
            spec: spec.clone(),
            cpu,
            disks,
            places,
            below,
            work: Stream::new(seed, "controller/work"),
            replicas_free_ns: 0,
            map: (spec.map == OwnerMap::Asked).then(|| Map::new(first_range)),
            order: (!spec.resizes.is_empty()).then(|| Order::new(spec.range.0, plan)),
            replicas_busy_ns: 0,
        }
    }

    /// The servers of all disks.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerRow> {
        self.places.iter().zip(self.cpu.usage()).map(|(&(disk, number), usage)| ServerRow { disk, number, usage }).collect()
    }

    /// Parts of requests that went down after a younger request for the same range; `None` when the number of shards never changes.
    #[must_use]
    pub fn overtaken(&self) -> Option<u64> {
        self.order.as_ref().map(|order| order.overtaken)
    }

    /// The cores of the node.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.cpu.cores()
    }

    /// Work by stack of functions.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // shares of nanoseconds below 2^53
    pub fn frames(&self) -> Vec<Frames> {
        let mut all = Vec::new();
        for (&(disk, number), spent) in self.places.iter().zip(&self.spent) {
            let server = match number {
                0 if self.spec.max_shards(self.disks.len()) == 1 => "controller".to_owned(),
                0 => "primary".to_owned(),
                number => format!("shard {}", number - 1),
            };
            for (part, ns) in Part::ALL.into_iter().zip(spent) {
                let stack = |function: Option<&str>| {
                    let mut stack = vec![format!("disk {disk}"), server.clone(), part.name().to_owned()];
                    stack.extend(function.into_iter().flat_map(|name| name.split(';')).map(str::to_owned));
                    stack
                };
                let mut left = *ns;
                for function in self.spec.functions.iter().filter(|function| function.of == part) {
                    let own = (libm::round(*ns as f64 * function.percent / 100.0) as u64).min(left);
                    left -= own;
                    all.push(Frames { stack: stack(Some(&function.name)), ns: own });
                }
                all.push(Frames { stack: stack(None), ns: left });
            }
        }
        all
    }

    fn disk_of(&self, offset: u64) -> usize {
        self.disks.partition_point(|disk| disk.start <= offset).saturating_sub(1)
    }

    /// The shard of `disk` that owns the range at `offset`, from 0.
    fn owner(&self, disk: &Disk, offset: u64) -> u32 {
        let range = offset.saturating_sub(disk.start) / self.spec.range.0;
        let owner = match self.spec.owners.len() as u64 {
            0 => range,
            count => u64::from(self.spec.owners[usize::try_from(range % count).unwrap_or(0)]),
        };
        u32::try_from(owner % u64::from(disk.shards)).unwrap_or(0) // below the number of shards
    }

    fn arrive(&mut self, kernel: &mut Kernel, id: RequestId) {
        let disk = self.disk_of(kernel.requests[id].offset);
        if self.disks[disk].next_shards.is_some() {
            self.disks[disk].held.push(id);
        } else {
            self.admit(kernel, disk, id);
        }
    }

    fn admit(&mut self, kernel: &mut Kernel, disk: usize, id: RequestId) {
        if let Some(order) = &mut self.order {
            order.enters(id);
        }
        let at = &mut self.disks[disk];
        at.inside += 1;
        let (server, alone) = (at.primary, at.shards == 1);
        if alone {
            return self.serve(kernel, disk, server, id, 0);
        }
        let ns = self.cost_ns(self.spec.dispatch.0, 0);
        self.spent[server as usize][Part::Dispatch as usize] += ns;
        self.cpu.submit(kernel, server, Task { request: id, ns, phase: Phase::Dispatch, section: None, interrupts_ns: 0 });
    }

    /// Work of `fixed_ns` and `bytes`, as the scenario scales and spreads it.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // costs stay far below 2^53 ns
    fn cost_ns(&mut self, fixed_ns: u64, bytes: u64) -> u64 {
        let mean = (fixed_ns as f64 + self.spec.per_byte * bytes as f64) * self.spec.cost_percent / 100.0;
        let ns = match self.spec.spread {
            Spread::Constant => mean,
            Spread::Exponential => self.work.exponential(mean),
        };
        libm::round(ns) as u64
    }

    /// Gives a request, or a part of one, to the server that works on it; `further_ns` is work that others of its kind do not need.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // as in cost_ns
    fn serve(&mut self, kernel: &mut Kernel, disk: usize, server: u32, id: RequestId, further_ns: u64) {
        let (op, bytes) = (kernel.requests[id].op, kernel.requests[id].bytes);
        let (fixed_ns, part) = match op {
            Op::Read => (self.spec.read.0, Part::Read),
            Op::Write | Op::Trim => (self.spec.write.0, Part::Write),
        };
        let fixed_ns = fixed_ns + further_ns;
        let ns = self.cost_ns(fixed_ns, bytes);
        let whole = fixed_ns as f64 + self.spec.per_byte * bytes as f64;
        let own = if whole > 0.0 { (libm::round(ns as f64 * fixed_ns as f64 / whole) as u64).min(ns) } else { 0 };
        let spent = &mut self.spent[server as usize];
        spent[part as usize] += own;
        spent[Part::Bytes as usize] += ns - own;
        let section = self.spec.lock.as_ref().and_then(|lock| {
            let alone = lock.exclusive == Exclusive::Always || (lock.exclusive == Exclusive::Writes && op == Op::Write);
            // Where all share, no request ever waits.
            (lock.exclusive != Exclusive::Never).then(|| Section {
                lock: self.disks[disk].lock,
                mode: if alone { Mode::Exclusive } else { Mode::Shared },
                held_ns: (libm::round(ns as f64 * lock.held_percent / 100.0) as u64).min(ns),
            })
        });
        self.cpu.submit(kernel, server, Task { request: id, ns, phase: Phase::Cpu, section, interrupts_ns: 0 });
    }

    /// A server has done its work on a request.
    fn worked(&mut self, kernel: &mut Kernel, task: Task, server: u32) {
        let disk = self.places[server as usize].0 as usize;
        if task.phase == Phase::Dispatch {
            return self.dispatched(kernel, disk, task.request);
        }
        if let Some(order) = &mut self.order {
            order.leaves(&kernel.requests, task.request);
        }
        if self.places[server as usize].1 > 0 {
            self.left_owner(kernel, task.request);
        }
        self.descend(kernel, task.request);
        self.disks[disk].inside -= 1;
        self.resize_when_empty(kernel, disk);
    }

    /// Hands a request to the owners of its ranges; what has one owner is not taken apart.
    fn dispatched(&mut self, kernel: &mut Kernel, disk: usize, id: RequestId) {
        if self.map.is_some() {
            return self.ask(kernel, disk, id);
        }
        let request = kernel.requests[id];
        let (range, end) = (self.spec.range.0, request.offset + request.bytes);
        let at = &self.disks[disk];
        let (first_server, mut start) = (at.primary + 1, request.offset);
        let mut owner = self.owner(at, start);
        let mut next = at.start + (start.saturating_sub(at.start) / range + 1) * range;
        while next < end {
            let next_owner = self.owner(&self.disks[disk], next);
            if next_owner != owner {
                let part = kernel.open_child(id, HERE, start, next - start);
                self.disks[disk].inside += 1;
                self.serve(kernel, disk, first_server + owner, part, 0);
                (start, owner) = (next, next_owner);
            }
            next += range;
        }
        if start == request.offset {
            return self.serve(kernel, disk, first_server + owner, id, 0);
        }
        // The last part takes the place of the whole in the count.
        let part = kernel.open_child(id, HERE, start, end - start);
        self.serve(kernel, disk, first_server + owner, part, 0);
    }

    /// Sends a request down, a write after its copies.
    fn descend(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let Some(replicas) = self.spec.replicas.as_ref().filter(|_| request.op == Op::Write) else {
            return kernel.submit(self.below, id);
        };
        let send_ns = transfer_ns(request.bytes * u64::from(replicas.copies), replicas.rate.0);
        self.replicas_free_ns = self.replicas_free_ns.max(kernel.now_ns()) + send_ns;
        self.replicas_busy_ns += send_ns;
        kernel.requests.charge_until(id, Phase::Replicate, self.replicas_free_ns);
        kernel.submit_at(self.replicas_free_ns, self.below, id);
    }

    fn resize_when_empty(&mut self, kernel: &mut Kernel, disk: usize) {
        let at = &mut self.disks[disk];
        let empty = at.inside == 0 || !self.spec.resize_waits;
        let Some(shards) = at.next_shards.filter(|_| empty) else { return };
        at.next_shards = None;
        if at.shards != shards {
            at.shards = shards;
            self.epochs.push(Epoch { disk: index(disk), from_ns: kernel.now_ns(), shards });
        }
        let held = std::mem::take(&mut self.disks[disk].held);
        for id in held {
            kernel.charge(id, Phase::Lock);
            self.admit(kernel, disk, id);
        }
    }
}

fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX) // disks and servers are checked to be few
}

#[cfg(test)]
mod tests;
