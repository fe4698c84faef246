//! The cores of a node, and the servers (threads, or pools of them) that run on them.
//!
//! A layer that costs processor time owns a [`Cpu`] and gives its requests to servers. A server has a queue, first in first out,
//! and one or more threads. A thread takes the request at the head of the queue, waits for one of the cores (again first in
//! first out, over all servers), and keeps the core until the request's work is done or it must sleep for a lock. So a server
//! of one thread does one thing at a time however many cores there are, and a node of two cores does two things at a time
//! however many servers there are.
//!
//! The life of a task: in the server's queue; its thread waits for a core; it waits for its lock, without a core; it works.
//! The owner learns of its end from [`Cpu::timer`].
//!
//! Accounting: each server keeps the time integral of the requests in it beside the sum of their times in it, which Little's law
//! makes equal, and the work by function, from which a flame graph is drawn (see [`folded`]).
//!
//! An *urgent* server goes before the others to the next free core: interrupts, and drivers that hold what others wait for.
//!
//! A task may interrupt all other cores at its end (a cross-call). What runs there ends so much later, and the time is charged to
//! [`Phase::CrossCall`]; an idle core has nothing to delay.
//!
//! Left out: time slices, priorities, migration between cores and what they do to caches, the cost of a switch.

pub mod folded;
pub mod lock;

use std::collections::VecDeque;

use crate::kernel::journeys::Mark;
use crate::kernel::{Address, Kernel, Phase, RequestId, Timer};
use lock::{Lock, Mode};
use seeklab_kernel::Slab;

/// A lock that a task takes for the first part of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Number of the lock.
    pub lock: u32,
    /// How it is held.
    pub mode: Mode,
    /// Work done while it is held, in nanoseconds.
    pub held_ns: u64,
}

/// Work for a server.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Request to which the time is charged.
    pub request: RequestId,
    /// Work, in nanoseconds of one core.
    pub ns: u64,
    /// Phase to which the work is charged. Waiting is charged to [`Phase::CpuWait`] and [`Phase::Lock`].
    pub phase: Phase,
    /// A lock for the first part of it.
    pub section: Option<Section>,
    /// For how long its end interrupts each other core, in nanoseconds.
    pub interrupts_ns: u64,
}

/// The work of a server so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerUsage {
    /// Requests done.
    pub requests: u64,
    /// Work on them, in nanoseconds.
    pub busy_ns: u64,
    /// Sum of their times from arrival to the end of their work, in nanoseconds.
    pub response_ns: u64,
    /// Time integral of the number of requests in the server, in nanoseconds.
    pub area_ns: u64,
    /// Requests in it now, at work and in its queue.
    pub inside: u64,
}

#[derive(Debug)]
struct Server {
    queue: VecDeque<(Task, u64)>,
    idle_threads: u32,
    is_urgent: bool,
    changed_ns: u64,
    usage: ServerUsage,
}

impl Server {
    fn change(&mut self, now_ns: u64) {
        self.usage.area_ns += self.usage.inside * (now_ns - self.changed_ns);
        self.changed_ns = now_ns;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Fresh,
    /// Its lock was granted while it slept.
    Granted,
    Locked,
    Free,
}

/// A thread with a task.
#[derive(Clone, Copy, Debug)]
struct Run {
    task: Task,
    arrived_ns: u64,
    server: u32,
    stage: Stage,
    /// Whether it has a core.
    works: bool,
    /// By how much cross-calls put off its end, and whether it now makes up for that.
    late_ns: u64,
    is_late: bool,
}

/// The cores of a node and the servers on them. `T` are the timers of the layer that it belongs to.
#[derive(Debug)]
pub struct Cpu<T> {
    here: Address,
    /// The timer of a run, by its number.
    timer: fn(u32) -> T,
    cores: u32,
    free_cores: u32,
    servers: Vec<Server>,
    locks: Vec<Lock>,
    runs: Slab<Run>,
    ready: VecDeque<u32>,
    granted: Vec<u32>,
}

impl<T: Timer> Cpu<T> {
    /// A node of `cores` cores whose timers go to `here`; `timer` makes them of the numbers that [`Cpu::timer`] takes.
    #[must_use]
    pub fn new(cores: u32, here: Address, timer: fn(u32) -> T) -> Self {
        Self {
            here,
            timer,
            cores,
            free_cores: cores,
            servers: Vec::new(),
            locks: Vec::new(),
            runs: Slab::default(),
            ready: VecDeque::new(),
            granted: Vec::new(),
        }
    }

    /// Adds a server of `threads` threads; its number.
    pub fn add_server(&mut self, threads: u32) -> u32 {
        self.push_server(threads, false)
    }

    /// Adds a server of one thread that goes before others to a free core; its number.
    pub fn add_urgent_server(&mut self) -> u32 {
        self.push_server(1, true)
    }

    fn push_server(&mut self, threads: u32, is_urgent: bool) -> u32 {
        self.servers.push(Server {
            queue: VecDeque::new(),
            idle_threads: threads,
            is_urgent,
            changed_ns: 0,
            usage: ServerUsage::default(),
        });
        number(self.servers.len() - 1)
    }

    /// Adds a lock; its number.
    pub fn add_lock(&mut self) -> u32 {
        self.locks.push(Lock::default());
        number(self.locks.len() - 1)
    }

    /// The cores.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.cores
    }

    /// Yield the work of each server so far.
    pub fn usage(&self) -> impl Iterator<Item = ServerUsage> + Clone + '_ {
        self.servers.iter().map(|server| server.usage)
    }

    /// Gives a task to a server. O(1).
    pub fn submit(&mut self, kernel: &mut Kernel, server: u32, task: Task) {
        let now_ns = kernel.now_ns();
        let at = &mut self.servers[server as usize];
        at.change(now_ns);
        at.usage.inside += 1;
        if at.idle_threads == 0 {
            return at.queue.push_back((task, now_ns));
        }
        at.idle_threads -= 1;
        self.take(server, task, now_ns);
        self.run(kernel);
    }

    /// The timer of the run `id` has come. The task that is done and its server, unless the work continues.
    pub fn timer(&mut self, kernel: &mut Kernel, id: u32) -> Option<(Task, u32)> {
        let run = self.runs[id];
        let task = run.task;
        kernel.charge(task.request, if run.is_late { Phase::CrossCall } else { task.phase });
        let at = &mut self.runs[id];
        (at.late_ns, at.is_late) = (0, run.late_ns > 0);
        if run.late_ns > 0 {
            kernel.wake_at(kernel.now_ns() + run.late_ns, self.here, (self.timer)(id));
            return None;
        }
        if let (Stage::Locked, Some(section)) = (run.stage, task.section) {
            self.locks[section.lock as usize].release(section.mode, &mut self.granted);
            // The woken go first: what they hold keeps others waiting.
            while let Some(woken) = self.granted.pop() {
                kernel.charge(self.runs[woken].task.request, Phase::Lock);
                self.runs[woken].stage = Stage::Granted;
                self.ready.push_front(woken);
            }
            if task.ns > section.held_ns {
                self.runs[id].stage = Stage::Free;
                kernel.wake_at(kernel.now_ns() + task.ns - section.held_ns, self.here, (self.timer)(id));
                self.run(kernel);
                return None;
            }
        }
        self.free_cores += 1;
        self.runs[id].works = false;
        self.runs.release(id);
        if task.interrupts_ns > 0 {
            if kernel.requests.journeys.is_some() {
                mark(kernel, Mark::Interrupted, task.interrupts_ns, &task);
            }
            for other in self.runs.iter_mut().filter(|run| run.works) {
                other.late_ns += task.interrupts_ns;
            }
        }
        let now_ns = kernel.now_ns();
        let server = &mut self.servers[run.server as usize];
        server.change(now_ns);
        server.usage.inside -= 1;
        server.usage.requests += 1;
        server.usage.busy_ns += task.ns;
        server.usage.response_ns += now_ns - run.arrived_ns;
        match server.queue.pop_front() {
            Some((next, arrived_ns)) => self.take(run.server, next, arrived_ns),
            None => server.idle_threads += 1,
        }
        self.run(kernel);
        Some((task, run.server))
    }

    /// A thread of `server` takes a task and waits for a core.
    fn take(&mut self, server: u32, task: Task, arrived_ns: u64) {
        let run = Run { task, arrived_ns, server, stage: Stage::Fresh, works: false, late_ns: 0, is_late: false };
        let id = self.runs.insert(run);
        if self.servers[server as usize].is_urgent {
            self.ready.push_front(id);
        } else {
            self.ready.push_back(id);
        }
    }

    /// Gives free cores to threads that wait for one.
    fn run(&mut self, kernel: &mut Kernel) {
        while self.free_cores > 0 {
            let Some(id) = self.ready.pop_front() else { return };
            let run = &mut self.runs[id];
            kernel.charge(run.task.request, Phase::CpuWait);
            let work_ns = match run.task.section {
                Some(section) => {
                    if run.stage == Stage::Fresh && !self.locks[section.lock as usize].take(section.mode, id) {
                        continue;
                    }
                    run.stage = Stage::Locked;
                    if kernel.requests.journeys.is_some() {
                        mark(kernel, Mark::Locked, u64::from(section.lock), &run.task);
                    }
                    section.held_ns
                }
                None => run.task.ns,
            };
            run.works = true;
            self.free_cores -= 1;
            kernel.wake_at(kernel.now_ns() + work_ns, self.here, (self.timer)(id));
        }
    }
}

/// Marks what a task does to a lock, or to the other cores.
#[cold]
#[inline(never)]
fn mark(kernel: &mut Kernel, kind: Mark, object: u64, task: &Task) {
    let by = kernel.requests.journeys.as_ref().map_or(0, |journeys| journeys.number(task.request.0));
    kernel.mark(kernel.now_ns(), kind, object, by);
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX) // servers are checked, runs bounded by their threads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Event, LayerId, Request};

    crate::timers! {
        enum Done {
            Run(u32),
        }
    }

    const HERE: Address = Address::of(LayerId::Controller);

    /// Runs `tasks` (server, work, section) that all arrive at once; the time at which each ends.
    fn ends(cpu: &mut Cpu<Done>, tasks: &[(u32, u64, Option<Section>)]) -> Vec<u64> {
        let mut kernel = Kernel::default();
        for (server, ns, section) in tasks {
            let request = kernel.open(Request::default());
            cpu.submit(&mut kernel, *server, Task { request, ns: *ns, phase: Phase::Cpu, section: *section, interrupts_ns: 0 });
        }
        let mut ends = vec![0; tasks.len()];
        while let Some(event) = kernel.advance() {
            let Event::Timer(timer) = event.event() else { panic!("{event:?}") };
            let Done::Run(run) = Done::unpack(timer);
            if let Some((Task { request, .. }, _)) = cpu.timer(&mut kernel, run) {
                ends[request.0 as usize] = kernel.now_ns();
                assert_eq!(kernel.requests.spent(request).dense().iter().sum::<u64>(), kernel.now_ns());
            }
        }
        for usage in cpu.usage() {
            assert_eq!(usage.area_ns, usage.response_ns, "Little's law by accounting");
        }
        ends
    }

    #[test]
    fn a_single_thread_does_one_thing_at_a_time_however_many_cores_there_are() {
        let mut cpu = Cpu::new(8, HERE, Done::Run);
        cpu.add_server(1);
        assert_eq!(ends(&mut cpu, &[(0, 10, None), (0, 10, None), (0, 10, None)]), [10, 20, 30]);
    }

    #[test]
    fn two_cores_do_two_things_at_a_time_however_many_servers_there_are() {
        let mut cpu = Cpu::new(2, HERE, Done::Run);
        let tasks: Vec<_> = (0..4).map(|_| (cpu.add_server(1), 10, None)).collect();
        assert_eq!(ends(&mut cpu, &tasks), [10, 10, 20, 20]);
    }

    #[test]
    fn a_lock_held_shared_delays_nobody_and_one_held_exclusively_all() {
        for (mode, expected) in [(Mode::Shared, [10, 10, 10]), (Mode::Exclusive, [10, 16, 22])] {
            let mut cpu = Cpu::new(4, HERE, Done::Run);
            let lock = cpu.add_lock();
            let section = Some(Section { lock, mode, held_ns: 6 });
            let tasks: Vec<_> = (0..3).map(|_| (cpu.add_server(1), 10, section)).collect();
            assert_eq!(ends(&mut cpu, &tasks), expected, "{mode:?}");
        }
    }

    #[test]
    fn a_thread_that_sleeps_for_a_lock_leaves_its_core_to_others() {
        let mut cpu = Cpu::new(2, HERE, Done::Run);
        let lock = cpu.add_lock();
        let section = Some(Section { lock, mode: Mode::Exclusive, held_ns: 10 });
        let servers: Vec<u32> = (0..3).map(|_| cpu.add_server(1)).collect();
        assert_eq!(ends(&mut cpu, &[(servers[0], 10, section), (servers[1], 10, section), (servers[2], 10, None)]), [10, 20, 10]);
    }
}
