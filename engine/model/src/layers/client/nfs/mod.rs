//! The NFS client: what happens between a program's system call and the network.
//!
//! A *call* is what a program asks for; an *operation* is what goes over the wire. They are seldom the same:
//!
//! - **Read.** The call looks for its blocks (of one transfer each) in the page cache. A missing block is read by the calling
//!   process itself; a reader in sequence is kept `read_ahead` transfers ahead by the async threads. So a stream waits for its
//!   first block only, as long as the rest of the path keeps up.
//! - **Write.** The call copies into the page cache and returns. A block that is full is written by an async thread, and so is
//!   what a write elsewhere or a second of time leaves behind. Beyond `dirty` bytes that are not at the server writers wait for
//!   room. A synchronous write waits for its own bytes; a flush waits for all earlier ones, then writes the last.
//! - **Create, delete.** A fixed number of operations one after the other, each a round trip, and the last one waits until the
//!   server has made it durable: a small synchronous write below the network.
//! - **Stat.** No operation at all while the attributes are known and good.
//!
//! ```text
//!   process  --call-->  [ page cache | attributes ]  --full blocks, read-ahead-->  async threads (8)
//!      |  CPU: per call, byte, character                                             |
//!      +---- missing block, names ----> operation ----> protocol thread ----> network
//!                                        CPU: per operation, byte on the wire
//! ```
//!
//! Processors: each process and each connection's protocol thread is a thread on the machine's `cpus` cores (see [`crate::cpu`]).
//! The process pays for calls, copies, characters, and its own operations on names; the protocol thread pays for data on the wire,
//! before a write leaves and after a read has come. %CP, as benchmarks print it, is the time of processes only.
//!
//! Constants: transfer, threads, read-ahead and the 18 operations of a create are those of the documented client of 2008. The
//! protocol thread's 3.9 ns a byte is 9 cycles at 2.3 GHz, the middle of what was measured then for network processing. All other
//! costs are the case's.
//!
//! Left out: checks of a file's attributes when it is opened, dirty data forced out when it is closed, READDIR, name lookups
//! that are remembered, retransmission, locks, delegations, and a read that finds only a part of its block written.

mod attributes;
mod check;
mod operations;
mod reads;
mod writes;

use std::collections::VecDeque;

use crate::blocks::Blocks;
use crate::cpu::{Cpu, ServerUsage, Task};
use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _, Wire};
use crate::layers::Layer;
use crate::plan::Plan;
use crate::range::Range;
use crate::setup::Setup;
use crate::timers;
use attributes::Attributes;
use operations::{Operation, Operations};
use seeklab_cache::PolicyKind;
use seeklab_spec::nfs::{Call, NfsSpec};
use seeklab_spec::{Op, Path, Problems, Scenario};

const HERE: Address = Address::of(LayerId::Client);

timers! {
    enum Timer {
        /// Old dirty data of a machine are written behind.
        Flush,
        /// A machine's processors have done a piece of work.
        Cpu(u32),
    }
}
/// How long a block that is not full stays behind, as the flush daemon of the time looked once a second.
const FLUSH_NS: u64 = 1_000_000_000;
const SECTOR: u64 = 512;

/// A program on a machine: one worker of a job.
struct Process {
    machine: usize,
    /// Its thread on the machine's processors.
    server: u32,
    call: Call,
    /// Whether some of its writes are flushed later.
    flushes: bool,
    /// End of its file.
    end: u64,
    /// Where a read continues in sequence.
    next: u64,
    /// The block up to which it has been read ahead.
    ahead: u64,
    /// Written bytes that no async thread has received.
    open: Range,
    /// Writes that are with async threads.
    outstanding: u32,
    /// Flushes that wait for those writes.
    flushing: Vec<RequestId>,
}

/// A client machine.
struct Machine {
    cpu: Cpu<Timer>,
    /// The protocol threads.
    protocol: u32,
    pages: Blocks,
    attributes: Attributes,
    idle_threads: u32,
    /// Operations that wait for an async thread.
    queue: VecDeque<u32>,
    /// Bytes written by processes and not yet at the server.
    dirty_bytes: u64,
    /// The part of them that no thread has been given.
    open_bytes: u64,
    /// Writers that wait for room.
    blocked: VecDeque<RequestId>,
    flush_is_due: bool,
}

/// The work of machines so far, to find the limit of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// Work of all threads, in nanoseconds.
    pub cpu_ns: u64,
    /// The protocol threads' part of it.
    pub protocol_ns: u64,
}

/// All client machines.
pub struct Client {
    spec: NfsSpec,
    below: Address,
    machines: Vec<Machine>,
    connections: u32,
    processes: Vec<Process>,
    operations: Operations,
}

/// Time in nanoseconds for `units` of work of `ns` each and `fixed_ns` beside, at a speed.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked costs and sizes stay below 2^53
fn work_ns(fixed_ns: u64, units: u64, ns: f64, speed: f64) -> u64 {
    libm::round((fixed_ns as f64 + units as f64 * ns) / speed) as u64
}

/// Bytes of one request as they are kept in its slot; requests are checked to be at most 1 GiB.
fn clamp(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX) // workers are at most 256 jobs of 4,096
}

/// The number of the file that a call on a name is about.
fn file_of(request: &Request) -> u64 {
    request.offset / request.bytes
}

impl Layer for Client {
    type Spec = NfsSpec;
    const FIELD: &'static str = "nfs";
    const LABEL: &'static str = "Client";
    const COMBINES: bool = true;

    fn spec(scenario: &Scenario) -> Option<&NfsSpec> {
        scenario.nfs.as_ref()
    }

    fn check(spec: &NfsSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn build(spec: &NfsSpec, setup: &Setup) -> Option<Self> {
        Some(Self::new(spec, setup.scenario, setup.plan, &setup.clients(), setup.below(LayerId::Client)))
    }

    fn on(&mut self, kernel: &mut Kernel, machine: u16, event: Event) {
        match event {
            Event::Submit(id) => self.call(kernel, id),
            Event::Done(id) => self.answered(kernel, id),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Flush => self.flush_all(kernel, usize::from(machine)),
                Timer::Cpu(run) => {
                    let machine = &mut self.machines[usize::from(machine)];
                    if let Some((task, server)) = machine.cpu.timer(kernel, run) {
                        let of_protocol = server == machine.protocol;
                        self.worked(kernel, task.request, of_protocol);
                    }
                }
            },
        }
    }
}

impl Client {
    /// The clients of a scenario, whose worker `w` is on machine `machines[w]`, above `below`.
    #[must_use]
    pub fn new(spec: &NfsSpec, scenario: &Scenario, plan: &Plan, machines: &[usize], below: Address) -> Self {
        let connections = scenario.network.as_ref().map_or(1, |network| network.connections);
        let count = machines.iter().max().map_or(0, |last| last + 1);
        let machine = |index: usize| {
            let index = u16::try_from(index).unwrap_or(u16::MAX); // the network is checked to have at most 65,536 clients
            let mut cpu = Cpu::new(spec.cpus, Address { layer: LayerId::Client, index }, Timer::Cpu);
            Machine {
                protocol: cpu.add_server(connections),
                cpu,
                pages: Blocks::new(PolicyKind::Lru, spec.cache.0 / spec.transfer.0),
                attributes: Attributes::new(spec.attributes.0),
                idle_threads: spec.threads,
                queue: VecDeque::new(),
                dirty_bytes: 0,
                open_bytes: 0,
                blocked: VecDeque::new(),
                flush_is_due: false,
            }
        };
        let mut machines_made: Vec<Machine> = (0..count).map(machine).collect();
        let processes = plan.workers.iter().zip(machines).map(|(planned, on)| Process {
            machine: *on,
            server: machines_made[*on].cpu.add_server(1),
            call: scenario.jobs[planned.job].call,
            flushes: scenario.jobs[planned.job].flushes(),
            end: planned.region.end / SECTOR * SECTOR,
            next: u64::MAX,
            ahead: 0,
            open: Range { start: 0, end: 0 },
            outstanding: 0,
            flushing: Vec::new(),
        });
        Self {
            processes: processes.collect(),
            machines: machines_made,
            connections,
            below,
            operations: Operations::default(),
            spec: spec.clone(),
        }
    }

    /// Return the work of all machines so far.
    #[must_use]
    pub fn busy(&self) -> Busy {
        let mut busy = Busy::default();
        for machine in &self.machines {
            let usage: Vec<ServerUsage> = machine.cpu.usage().collect();
            busy.cpu_ns += usage.iter().map(|server| server.busy_ns).sum::<u64>();
            busy.protocol_ns += usage[machine.protocol as usize].busy_ns;
        }
        busy
    }

    /// Work of a worker's process, in nanoseconds.
    #[must_use]
    pub fn process_ns(&self, worker: usize) -> u64 {
        let process = &self.processes[worker];
        self.machines[process.machine].cpu.usage().nth(process.server as usize).map_or(0, |usage| usage.busy_ns)
    }

    /// The machines' cores, and their protocol threads.
    #[must_use]
    pub fn threads(&self) -> [u64; 2] {
        [self.spec.cpus, self.connections].map(|each| u64::from(each) * self.machines.len() as u64)
    }

    /// A call of a program arrives.
    fn call(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let process = &self.processes[request.worker as usize];
        match (process.call, request.op) {
            // Commands for a server's copy engine move no data through the client.
            _ if request.wire != Wire::Exchange => kernel.submit(self.below, id),
            (Call::Stat, _) => {
                let known = self.machines[process.machine].attributes.is_known(file_of(&request), kernel.now_ns());
                let slot = &mut kernel.requests[id];
                *(if known { &mut slot.cached_bytes } else { &mut slot.missed_bytes }) = clamp(request.bytes);
                self.compute(kernel, id);
            }
            (Call::Create | Call::Delete, _) => self.compute(kernel, id),
            (_, Op::Read) => self.read(kernel, id),
            (_, Op::Write | Op::Trim) => {
                let on = process.machine;
                self.machines[on].blocked.push_back(id);
                self.admit(kernel, on);
            }
        }
    }

    /// Operations that a call on names takes.
    fn operations_of(&self, call: Call) -> u32 {
        match call {
            Call::Create => self.spec.create_operations,
            Call::Delete => self.spec.delete_operations,
            _ => 1,
        }
    }

    /// Lets the process work on its call.
    fn compute(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let spec = &self.spec;
        let process = &self.processes[request.worker as usize];
        let (fixed_ns, per_byte) = match (process.call, request.op) {
            (Call::Stat, _) if request.missed_bytes == 0 => (spec.per_call.0, 0.0),
            (call, _) if call.is_meta() => (spec.per_call.0 + u64::from(self.operations_of(call)) * spec.per_operation.0, 0.0),
            (Call::Char, Op::Read) => (spec.per_call.0, spec.per_byte + spec.per_getc),
            (Call::Char, Op::Write) => (spec.per_call.0, spec.per_byte + spec.per_putc),
            _ => (spec.per_call.0, spec.per_byte),
        };
        let ns = work_ns(fixed_ns, request.bytes, per_byte, spec.cpu_speed);
        let task = Task { request: id, ns, phase: Phase::Cpu, section: None, interrupts_ns: 0 };
        self.machines[process.machine].cpu.submit(kernel, process.server, task);
    }

    /// A thread is done with its work on a request.
    fn worked(&mut self, kernel: &mut Kernel, id: RequestId, of_protocol: bool) {
        let request = kernel.requests[id];
        if of_protocol {
            return match request.op {
                Op::Write | Op::Trim => kernel.submit(self.below, id),
                Op::Read => self.finished(kernel, id),
            };
        }
        let call = self.processes[request.worker as usize].call;
        match request.op {
            _ if call.is_meta() && request.cached_bytes == 0 => {
                let left = self.operations_of(call) - 1;
                self.now(kernel, id, Operation { left, ..Operation::of(&request) });
            }
            Op::Write if !call.is_meta() => self.accept(kernel, id),
            _ => kernel.complete(id),
        }
    }
}

#[cfg(test)]
mod tests;
