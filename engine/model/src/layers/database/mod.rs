//! A database that commits: transactions pass stages, each of which flushes a log, and those that wait for a log may share a flush.
//!
//! Each write of a job is a transaction. It is worked on (`work`, any number at a time, then `serial_work`, one at a time), and passes
//! the stages in order. A log that is free and has waiters takes all of them, the first, or those that its host names (`decision`), and
//! is busy until their flush is done; stages on the same log share its queue and its flushes, and two logs never wait for each other.
//! So a log that takes all serves any number of clients, and one that takes the first serves one a flush, whatever the clients do:
//!
//! ```text
//!   stages           engine (all)      replication (one)       engine (all)
//!                   ============            |                 ============
//!   transactions    o o o o o o  ->  o o o o o o o o o  ->       o
//! ```
//!
//! With an engine log, a replication log and the engine log again, N clients and replication flushes of a mean time b, the rate is at
//! most 1 / b where the replication log takes one, and grows with N where it takes all. One client needs the sum of its three flushes.
//!
//! Flush times are drawn (`flush`), or those of the layers below: then a flush is one write of the batch's bytes at the log's end,
//! with a FLUSH after it, and the transactions take over what it waited for. Before it the host may have work of its own (`host`).
//!
//! Source: Vadim Tkachenko, "Testing the Group Commit Fix", Percona, 2011: two logs, three flushes, which of them batch. That flush
//! times scatter is seen in its numbers; that they do so exponentially is assumed. Constants are the scenario's.
//!
//! Left out: locks other than the serial work, an order that one stage would have to keep from another, data pages and their
//! writes, group commit of replicas, recovery. Reads, trims and each FLUSH of a job go past the database to the layers below.

mod check;
mod decision;
mod report;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use std::collections::VecDeque;

use report::LogUsage;
use seeklab_kernel::Stream;
use seeklab_spec::commit::{Batch, CommitSpec, DatabaseLogSpec, FlushSpec, FlushTimes, MAX_LOGS};
use seeklab_spec::{Op, Path, Problems, Scenario, to_f64};

use crate::decision::Decision;
use crate::kernel::{Address, Durable, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::{Layer, ReportContext};
use crate::plan::Plan;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;

const HERE: Address = Address::of(LayerId::Database);

timers! {
    enum Timer {
        /// A transaction's parallel work is done.
        Worked(RequestId),
        /// All work on a transaction is done.
        Ready(RequestId),
        /// A flush whose time was drawn is done, by the log's number.
        Flushed(u16),
        /// A host that took nothing wants to be asked again about this log.
        Again(u16),
    }
}

/// A transaction in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Transaction {
    /// In order of arrival, from 0.
    number: u64,
    /// The stage that it comes to next; once in a queue, the one after.
    next: usize,
    /// Flushes of its log that were done when it came there.
    flushes: u64,
}

/// The destination of a log's flushes.
#[derive(Debug)]
enum Target {
    /// Nothing: the time of a flush is drawn.
    Drawn { spec: FlushSpec, draws: Stream },
    /// The layers below, in a range that is written from its begin to its end, and from its begin again.
    Below { start: u64, bytes: u64, next: u64, host: Option<(FlushSpec, Stream)> },
}

/// A log.
#[derive(Debug)]
struct Log {
    name: String,
    batch: Batch,
    target: Target,
    queue: VecDeque<RequestId>,
    /// Transactions of the flush in progress; none when the log is free.
    flushing: Vec<RequestId>,
    usage: LogUsage,
}

impl Log {
    fn is_free(&self) -> bool {
        self.flushing.is_empty()
    }
}

/// The database.
pub struct Database {
    work_ns: u64,
    serial_ns: u64,
    /// When what has one thing at a time done is free.
    processor_free_ns: u64,
    processor_busy_ns: u64,
    logs: Vec<Log>,
    /// The log of each stage.
    stages: Vec<usize>,
    below: Address,
    /// By the place of the request.
    transactions: Vec<Transaction>,
    begun: u64,
    inside: u64,
    most_inside: u64,
    /// Logs about whose next flush the host is asked.
    asking: VecDeque<usize>,
}

/// Where a log is told of its flushes, so that what happens there is told of that one.
#[allow(clippy::cast_possible_truncation)] // at most 8 logs
fn place(log: usize) -> Address {
    Address { index: log as u16 + 1, ..HERE }
}

/// The time of a flush for so many transactions.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // far below 2^53 ns, and not negative
fn drawn_ns(spec: &FlushSpec, draws: &mut Stream, count: u64) -> u64 {
    let mean = to_f64(spec.mean.0);
    let ns = match spec.times {
        FlushTimes::Fixed => mean,
        FlushTimes::Exponential => draws.exponential(mean),
        FlushTimes::Uniform => mean * (0.5 + draws.unit()),
    };
    libm::round(ns) as u64 + count * spec.per_commit.0
}

impl Layer for Database {
    type Spec = CommitSpec;
    const FIELD: &'static str = "commit";
    const LABEL: &'static str = "Database";
    const COMBINES: bool = true;
    const PASSES_FLUSHES: bool = true;
    const DECISIONS: &'static [Decision<Self>] = &[decision::BATCH];

    fn spec(scenario: &Scenario) -> Option<&CommitSpec> {
        scenario.commit.as_ref()
    }

    fn check(spec: &CommitSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn check_plan(spec: &CommitSpec, scenario: &Scenario, plan: &Plan, at: &Path, problems: &mut Problems) {
        check::check_places(spec, scenario, plan, at, problems);
    }

    fn build(spec: &CommitSpec, setup: &Setup) -> Option<Self> {
        Some(Self::new(spec, setup.below(LayerId::Database), setup.seed))
    }

    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event) {
        match event {
            Event::Submit(id) if kernel.requests[id].op == Op::Write && !kernel.requests[id].is_flush() => self.arrive(kernel, id),
            Event::Submit(id) => kernel.submit(self.below, id),
            Event::Done(write) => self.flushed(kernel, usize::from(part) - 1, Some(write)),
            Event::Timer(timer) => match Timer::unpack(timer) {
                Timer::Worked(id) => self.worked(kernel, id),
                Timer::Ready(id) => self.ready(kernel, id),
                Timer::Flushed(log) => self.flushed(kernel, log.into(), None),
                Timer::Again(log) => self.look(kernel, log.into()),
            },
        }
    }

    fn memory_bytes(&self) -> u64 {
        let waiting: usize = self.logs.iter().map(|log| log.queue.capacity() + log.flushing.capacity()).sum();
        (self.transactions.capacity() * size_of::<Transaction>() + waiting * size_of::<RequestId>()) as u64
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.report(metrics);
    }
}

impl Database {
    /// The database that a scenario describes, above `below`.
    #[must_use]
    pub fn new(spec: &CommitSpec, below: Address, seed: u64) -> Self {
        let log = |(log, start): (&DatabaseLogSpec, u64)| Log {
            name: log.name.clone(),
            batch: log.batch,
            target: if let Some(flush) = &log.flush {
                Target::Drawn { spec: flush.clone(), draws: Stream::new(seed, &format!("commit.{}", log.name)) }
            } else {
                let host = log.host.clone().map(|host| (host, Stream::new(seed, &format!("commit.{}.host", log.name))));
                Target::Below { start, bytes: log.size.0, next: 0, host }
            },
            queue: VecDeque::new(),
            flushing: Vec::new(),
            usage: LogUsage::default(),
        };
        Self {
            work_ns: spec.work.0,
            serial_ns: spec.serial_work.0,
            processor_free_ns: 0,
            processor_busy_ns: 0,
            logs: spec.logs.iter().zip(spec.offsets()).map(log).collect(),
            stages: spec.log_of_stages().collect(),
            below,
            transactions: Vec::new(),
            begun: 0,
            inside: 0,
            most_inside: 0,
            asking: VecDeque::new(),
        }
    }

    /// A transaction begins.
    fn arrive(&mut self, kernel: &mut Kernel, id: RequestId) {
        let at = id.0 as usize;
        if self.transactions.len() <= at {
            self.transactions.resize(at + 1, Transaction::default());
        }
        self.transactions[at] = Transaction { number: self.begun, ..Transaction::default() };
        self.begun += 1;
        self.inside += 1;
        self.most_inside = self.most_inside.max(self.inside);
        if self.work_ns == 0 {
            return self.worked(kernel, id);
        }
        kernel.wake_at(kernel.now_ns() + self.work_ns, HERE, Timer::Worked(id));
    }

    /// The parallel work is done; what is done for one at a time follows.
    fn worked(&mut self, kernel: &mut Kernel, id: RequestId) {
        kernel.charge(id, Phase::Cpu);
        if self.serial_ns == 0 {
            return self.ready(kernel, id);
        }
        let start_ns = self.processor_free_ns.max(kernel.now_ns());
        self.processor_free_ns = start_ns + self.serial_ns;
        self.processor_busy_ns += self.serial_ns;
        kernel.requests.charge_until(id, Phase::CpuWait, start_ns);
        kernel.requests.charge_until(id, Phase::Cpu, self.processor_free_ns);
        kernel.wake_at(self.processor_free_ns, HERE, Timer::Ready(id));
    }

    fn ready(&mut self, kernel: &mut Kernel, id: RequestId) {
        if let Some(log) = self.go_on(kernel, id) {
            self.look(kernel, log);
        }
    }

    /// A transaction comes to its next stage, at a log, or has committed.
    fn go_on(&mut self, kernel: &mut Kernel, id: RequestId) -> Option<usize> {
        let transaction = &mut self.transactions[id.0 as usize];
        let Some(number) = self.stages.get(transaction.next).copied() else {
            self.inside -= 1;
            kernel.complete(id);
            return None;
        };
        let log = &mut self.logs[number];
        transaction.next += 1;
        transaction.flushes = log.usage.flushes - u64::from(!log.is_free());
        log.queue.push_back(id);
        Some(number)
    }

    /// A log that is free begins its next flush, or asks for whom.
    fn look(&mut self, kernel: &mut Kernel, number: usize) {
        let log = &mut self.logs[number];
        if !log.is_free() || log.queue.is_empty() {
            return;
        }
        let count = match log.batch {
            Batch::All => log.queue.len(),
            Batch::One => 1,
            Batch::Asked => return self.asking.push_back(number),
        };
        log.flushing.extend(log.queue.drain(..count));
        self.flush(kernel, number);
    }

    /// Flushes a log for the transactions that were taken from its queue.
    fn flush(&mut self, kernel: &mut Kernel, number: usize) {
        let (now_ns, here) = (kernel.now_ns(), place(number));
        if let Some(journeys) = &mut kernel.requests.journeys {
            journeys.here = here; // what has led to it may have happened elsewhere
        }
        let log = &mut self.logs[number];
        let (mut bytes, mut waited_ns) = (0, 0);
        for id in &log.flushing {
            let request = kernel.requests[*id];
            bytes += request.bytes;
            waited_ns += now_ns - request.charged_ns;
            log.usage.waited(log.usage.flushes - self.transactions[id.0 as usize].flushes);
            kernel.charge(*id, Phase::LogWait);
        }
        let count = log.flushing.len() as u64;
        log.usage.begin(now_ns, count, waited_ns);
        match &mut log.target {
            Target::Drawn { spec, draws } => {
                let done_ns = now_ns + drawn_ns(spec, draws, count);
                for id in &log.flushing {
                    kernel.requests.charge_until(*id, Phase::WriteLog, done_ns);
                }
                kernel.wake_at(done_ns, here, Timer::Flushed(here.index - 1));
            }
            Target::Below { start, bytes: length, next, host } => {
                if *next + bytes > *length {
                    *next = 0;
                }
                let offset = *start + *next;
                *next += bytes;
                let worker = kernel.requests[log.flushing[0]].worker;
                let write =
                    kernel.open(Request { op: Op::Write, durable: Durable::All, owner: here, worker, offset, bytes, ..Request::default() });
                let host_ns = host.as_mut().map_or(0, |(spec, draws)| drawn_ns(spec, draws, count));
                kernel.requests.charge_ns(write, Phase::Cpu, host_ns);
                kernel.submit_at(now_ns + host_ns, self.below, write);
            }
        }
    }

    /// A log has been flushed, by a request below or for a time that was drawn: its transactions continue, and the next ones in the queue follow.
    fn flushed(&mut self, kernel: &mut Kernel, number: usize, write: Option<RequestId>) {
        let log = &mut self.logs[number];
        log.usage.end(kernel.now_ns(), log.flushing.len() as u64);
        let mut batch = std::mem::take(&mut log.flushing);
        let mut reached = [false; MAX_LOGS];
        reached[number] = true;
        for id in batch.drain(..) {
            if let Some(write) = write {
                kernel.requests[id].device = kernel.requests[write].device;
                kernel.requests.inherit(id, write);
            }
            if let Some(log) = self.go_on(kernel, id) {
                reached[log] = true;
            }
        }
        self.logs[number].flushing = batch; // keeps its memory
        if let Some(write) = write {
            kernel.requests.remove(write);
        }
        // Those that come together are there together: only then does a log look who waits.
        for number in (0..MAX_LOGS).filter(|number| reached[*number]) {
            self.look(kernel, number);
        }
    }
}
