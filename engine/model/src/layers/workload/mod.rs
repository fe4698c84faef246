//! Workers that issue requests as fio's jobs do, and the copy engine's alternation of reads and writes.
//!
//! A worker keeps up to `iodepth` requests in flight as long as its rate, its think time and its end allow. Requests are logged
//! when they complete. A job with a rate has a plan, which continues while its queue is full: each request knows when it was due (`Schedule`). A worker of a copy follows each read by the write of the same bytes (see [`copy`]). A worker that replays takes its requests from a trace (see [`replay`]).

pub mod copy;
mod extended;
mod fast_path;
mod flow;
mod latency_target;
pub mod offsets;
mod pattern;
pub mod replay;
mod schedule;
mod steady;
mod verify;
pub mod zoned;

#[cfg(test)]
mod fio_tests;
#[cfg(test)]
mod omission_tests;

use extended::{Extended, Share};
use fast_path::FastPath;
use flow::Flow;
use latency_target::Verdict;
use offsets::Order;
use replay::Replay;
use schedule::Schedule;
use steady::Steady;
use zoned::{Wish, Zones};

use crate::kernel::{Address, Durable, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _, Wire};
use crate::layers::{Layer, ReportContext};
use crate::plan::Plan;
use crate::range::Range;
use crate::result::columns::Tables;
use crate::result::flow::Loop;
use crate::result::log::Log;
use crate::result::metrics::Metrics;
use crate::result::outcome::Failure;
use crate::result::{Completed, Recorder};
use crate::setup::Setup;
use crate::timers;
use copy::{Copy, in_flight};
use seeklab_kernel::{NS_PER_S, Stream};
use seeklab_spec::governor::ExitWhat;
use seeklab_spec::{Job, Op, RateProcess, Scenario, to_f64};

const HERE: Address = Address::of(LayerId::Workload);

/// Part of the limited operations that ramps have besides: one in so many. A drive that starts in its steady state needs a few thousand.
const RAMP_SHARE: u64 = 4;

/// A larger request counts as several where operations are limited: it costs as much work.
const ONE_OPERATION_BYTES: u64 = 1 << 16;

timers! {
    enum Timer {
        /// A worker issues what is due.
        Issue(u32),
    }
}

struct Worker {
    job: usize,
    /// Number of the worker in its job.
    number: u64,
    region: Range,
    entry: Address,
    /// Most requests in flight.
    depth: u32,
    copy: Option<Copy>,
    order: Option<Order>,
    /// The direction of all its requests, where they are of one size and nothing else decides which comes next.
    plain: Option<Op>,
    /// Common properties of its requests, if each waits only for the completion of one before.
    fast_path: Option<FastPath>,
    /// Whether its requests are due at times of their own.
    has_schedule: bool,
    /// Where requests come from a trace.
    replay: Option<Box<Replay>>,
    /// Features that few workers use.
    extended: Option<Box<Extended>>,
    /// The job whose end it waits for.
    waits_for: Option<usize>,
    /// Next sequential offset of each direction.
    position: [u64; 3],
    /// Offset and length of the trim whose block is written next.
    trimmed: Option<(u64, u64)>,
    offsets: Stream,
    choices: Stream,
    gaps: Stream,
    in_flight: u32,
    issued_ios: u64,
    issued_writes: u64,
    issued_bytes: u64,
    target_bytes: u64,
    completed_since_pause: u32,
    start_ns: u64,
    end_ns: u64,
    /// The end of `ramp_time`. As in fio, which resets its statistics then (`ramp_time_over` in `time.c`) and judges requests at their
    /// completion (`should_account` in `io_u.c`), a request in flight at this time counts when it completes, with its whole latency.
    measure_from_ns: u64,
    next_ns: u64,
    wake_ns: u64,
    stage: u32,
    state: State,
}

impl Worker {
    /// Whether it searches for the depth that meets a latency target. fio waits for the requests in flight before it measures the depth
    /// found, so they do not count.
    fn searches(&self) -> bool {
        self.extended.as_ref().is_some_and(|extended| extended.search.is_some())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Issuing,
    Ended,
}

/// Operations of a run that are limited. The limit counts what is measured; ramps have a part of their own.
struct Budget {
    /// Operations of each start of jobs.
    each: u64,
    /// Operations that are left to be measured.
    left: u64,
    /// Operations that are left for ramps.
    ramp: u64,
}

impl Budget {
    /// Whether nothing is left for ramps, or for what is measured.
    #[inline]
    fn is_used_up(&self, ramps: bool) -> bool {
        (if ramps { self.ramp } else { self.left }) == 0
    }
}

/// All workers.
pub struct Workload {
    jobs: Vec<Job>,
    workers: Vec<Worker>,
    /// Workers that have not ended, of each job and of each stage.
    left_of_job: Vec<u32>,
    left_of_stage: Vec<u32>,
    stage: u32,
    stopping: bool,
    issued: u32,
    schedule: Schedule,
    flows: Vec<Flow>,
    zones: Zones,
    /// One for each job; none without a criterion.
    steady: Vec<Option<Steady>>,
    /// Where operations are limited.
    budget: Option<Budget>,
    /// Its statistics and log.
    pub recorder: Recorder,
}

fn index_of(op: Op) -> usize {
    op as usize
}

impl Layer for Workload {
    type Spec = [Job];
    const FIELD: &'static str = "jobs";
    const LABEL: &'static str = "Application";
    const IS_BETWEEN: bool = false;

    fn spec(scenario: &Scenario) -> Option<&[Job]> {
        Some(&scenario.jobs)
    }

    fn build(_: &[Job], setup: &Setup) -> Option<Self> {
        let scenario = setup.scenario;
        // Copy engines are below the protocol's scheduler; clients come in at the top, as do the commands for the engines.
        let entry = |job: &Job| {
            let is_engine = job.rw.is_offloaded() && scenario.network.is_none();
            setup.below(if is_engine { LayerId::Database } else { LayerId::Workload })
        };
        Some(Self::new(scenario, setup.plan, setup.seed, entry))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Timer(timer) => {
                let Timer::Issue(worker) = Timer::unpack(timer);
                self.issue(kernel, worker);
            }
            Event::Done(id) => self.done(kernel, id),
            Event::Submit(_) => {}
        }
    }

    fn start(&mut self, kernel: &mut Kernel) {
        self.start_stage(kernel);
    }

    fn memory_bytes(&self) -> u64 {
        let of_workers = self.workers.iter().filter_map(|worker| worker.extended.as_ref()?.verify.as_ref());
        self.recorder.memory_bytes()
            + self.schedule.memory_bytes()
            + of_workers.map(verify::Verifying::memory_bytes).sum::<u64>()
            + self.zones.memory_bytes()
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.recorder.metrics(metrics);
        self.recorder.rates(metrics);
    }

    fn tables(workload: Option<&Self>, _: &ReportContext, tables: &mut Tables) {
        let recorder = workload.map(|workload| &workload.recorder);
        Log::tables(recorder.and_then(|recorder| recorder.log.as_ref()), tables);
        Recorder::tables(recorder, tables);
    }
}

impl Workload {
    /// The workers of a plan; `entry` says where each job's requests enter the stack.
    #[must_use]
    pub fn new(scenario: &Scenario, plan: &Plan, seed: u64, entry: impl Fn(&Job) -> Address) -> Self {
        let mut clones = vec![0u32; scenario.jobs.len()];
        let workers = plan.workers.iter().map(|planned| {
            let job = &scenario.jobs[planned.job];
            let name = format!("{}.{}", job.name, clones[planned.job]);
            clones[planned.job] += 1;
            let mut offsets = Stream::new(seed, &format!("{name}/offsets"));
            let length = planned.region.end - planned.region.start;
            let order = job.rw.is_random().then(|| {
                let least = job.min_request_bytes();
                let mixed = job.bsrange.is_some() && job.bssplit.is_none();
                Order::of(job, mixed, length / least, least, &mut offsets)
            });
            let extended = Extended::of(job, length, &mut offsets);
            let copy = Copy::of(scenario, job, length);
            let is_plain = extended.is_none() && copy.is_none() && job.bsrange.is_none() && !job.rw.trims();
            let only_op = job.rw.only().filter(|_| is_plain);
            let target_bytes = job.io_size.map_or(length, |size| size.0).saturating_mul(u64::from(job.loops) * job.rw.passes());
            let fast_path = only_op.filter(|_| scenario.limits.operations.is_none()).and_then(|op| FastPath::of(job, op, target_bytes));
            Worker {
                plain: only_op,
                fast_path,
                has_schedule: schedule::has_schedule(job),
                extended,
                waits_for: job.wait_for.as_ref().and_then(|name| scenario.jobs.iter().position(|other| other.name == *name)),
                job: planned.job,
                number: u64::from(clones[planned.job] - 1),
                region: planned.region,
                entry: entry(job),
                depth: if job.fluid { 1 } else { in_flight(scenario, job) },
                copy,
                order,
                replay: None,
                position: [0; 3],
                trimmed: None,
                offsets,
                choices: Stream::new(seed, &format!("{name}/choices")),
                gaps: Stream::new(seed, &format!("{name}/gaps")),
                in_flight: 0,
                issued_ios: 0,
                issued_writes: 0,
                issued_bytes: 0,
                target_bytes,
                completed_since_pause: 0,
                start_ns: 0,
                end_ns: u64::MAX,
                measure_from_ns: 0,
                next_ns: 0,
                wake_ns: 0,
                stage: planned.stage,
                state: State::Waiting,
            }
        });
        let mut workers: Vec<Worker> = workers.collect();
        let start = |worker: &Worker| (u64::from(worker.stage), worker.waits_for.map_or(0, |job| 1 + job));
        let mut starts: Vec<(u64, usize)> = workers.iter().map(start).collect();
        starts.sort_unstable();
        starts.dedup();
        let starts = starts.len() as u64;
        let flows = flows(&scenario.jobs, &mut workers);
        let (zones, shares) = Zones::of(&scenario.jobs, plan);
        for (extended, share) in workers.iter_mut().map(|worker| worker.extended.as_mut()).zip(shares) {
            if let Some(extended) = extended {
                extended.zones = share;
            }
        }
        let mut left_of_job = vec![0; scenario.jobs.len()];
        let mut left_of_stage = Vec::new();
        for worker in &workers {
            left_of_job[worker.job] += 1;
            let stage = worker.stage as usize;
            left_of_stage.resize(left_of_stage.len().max(stage + 1), 0);
            left_of_stage[stage] += 1;
        }
        Self {
            workers,
            left_of_job,
            left_of_stage,
            jobs: scenario.jobs.clone(),
            stage: 0,
            stopping: false,
            issued: 0,
            schedule: Schedule::default(),
            flows,
            zones,
            steady: scenario.jobs.iter().map(|job| job.steadystate.map(Steady::new)).collect(),
            budget: scenario.limits.operations.map(|all| Budget { each: (all / starts.max(1)).max(1), left: 0, ramp: 0 }),
            recorder: Recorder::new(scenario.jobs.len(), &scenario.record, scenario.monitor.is_some()),
        }
    }

    /// Lets the first worker of `job` take its requests from a trace; the job's `number_ios` and `io_size` are the trace's.
    pub fn feed(&mut self, job: usize, replay: Replay) {
        if let Some(worker) = self.workers.iter_mut().find(|worker| worker.job == job) {
            worker.replay = Some(Box::new(replay));
            worker.fast_path = None;
        }
    }

    /// Starts the workers of the present stage.
    fn start_stage(&mut self, kernel: &mut Kernel) {
        for index in 0..self.workers.len() {
            let worker = &self.workers[index];
            if worker.stage == self.stage && worker.waits_for.is_none_or(|job| self.has_ended(job)) {
                self.start_worker(kernel, index);
            }
        }
    }

    /// Whether all workers of a job have ended.
    fn has_ended(&self, job: usize) -> bool {
        self.left_of_job[job] == 0
    }

    fn start_worker(&mut self, kernel: &mut Kernel, index: usize) {
        let worker = &mut self.workers[index];
        let job = &self.jobs[worker.job];
        worker.state = State::Issuing;
        worker.start_ns = kernel.now_ns().saturating_add(job.startdelay.0).saturating_add(job.stagger.0.saturating_mul(worker.number));
        worker.measure_from_ns = worker.start_ns.saturating_add(job.ramp_time.0);
        worker.end_ns = job.runtime.map_or(u64::MAX, |runtime| worker.measure_from_ns.saturating_add(runtime.0));
        worker.next_ns = worker.start_ns;
        if job.rate_process == RateProcess::Poisson {
            worker.next_ns = worker.next_ns.saturating_add(gap_ns(job, &mut worker.gaps, 0));
        }
        if let Some(extended) = &mut worker.extended {
            extended.start(worker.start_ns);
            if extended.search.is_some() {
                self.recorder.jobs[worker.job].latency_depth = 1;
            }
        }
        if let Some(steady) = &mut self.steady[worker.job] {
            steady.start(worker.start_ns);
        }
        if let Some(budget) = &mut self.budget {
            (budget.left, budget.ramp) = (budget.each, budget.each / RAMP_SHARE);
        }
        kernel.wake_at(worker.start_ns, HERE, Timer::Issue(number(index)));
    }

    /// Stages of jobs that have ended.
    #[must_use]
    pub fn stage(&self) -> usize {
        self.stage as usize
    }

    /// How much of the work is done, 0 to 1: of each stage of jobs, the job that is farthest from its end.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a share for people
    pub fn progress(&self, now_ns: u64) -> f64 {
        let share = |worker: &Worker| {
            let job = &self.jobs[worker.job];
            if worker.state == State::Ended {
                return 1.0;
            }
            let by_bytes = worker.issued_bytes as f64 / worker.target_bytes.max(1) as f64;
            let by_count = job.number_ios.map_or(0.0, |most| worker.issued_ios as f64 / (most * job.rw.passes()) as f64);
            let by_time = job
                .runtime
                .map_or(0.0, |runtime| now_ns.saturating_sub(worker.start_ns) as f64 / (job.ramp_time.0 + runtime.0).max(1) as f64);
            let issued = if job.time_based { 0.0 } else { by_bytes.max(by_count) };
            issued.max(by_time).min(0.999)
        };
        let ends_all = self.workers.iter().filter(|worker| self.jobs[worker.job].exitall).map(share).fold(0.0, f64::max);
        let last = self.workers.iter().map(|worker| worker.stage).max().unwrap_or(0);
        let of_stage = |stage: u32| self.workers.iter().filter(|worker| worker.stage == stage).map(share).fold(1.0, f64::min);
        let under_way = if self.stage > last { 0.0 } else { of_stage(self.stage) };
        ((f64::from(self.stage) + under_way) / (f64::from(last) + 1.0)).max(ends_all)
    }

    /// Lets a worker issue what it may, or end.
    fn issue(&mut self, kernel: &mut Kernel, id: u32) {
        let fast_path = self.workers[id as usize].fast_path.filter(|_| !self.stopping);
        if !fast_path.is_some_and(|fast_path| self.issue_fast(kernel, id, fast_path)) {
            self.issue_asking(kernel, id);
        }
    }

    fn issue_asking(&mut self, kernel: &mut Kernel, id: u32) {
        let now_ns = kernel.now_ns();
        loop {
            let worker = &mut self.workers[id as usize];
            let job = &self.jobs[worker.job];
            if worker.state != State::Issuing {
                return;
            }
            if self.stopping || finished(worker, job, now_ns) {
                if worker.in_flight > 0 {
                    return;
                }
                match if self.stopping { closing(worker, u64::MAX) } else { closing(worker, now_ns) } {
                    Closing::Verify => continue,
                    Closing::Flush => return self.flush(kernel, id),
                    Closing::End => return self.end(kernel, id),
                }
            }
            let may_issue = match &mut worker.extended {
                None => worker.in_flight < worker.replay.as_ref().map_or(worker.depth, |replay| replay.most_in_flight(worker.depth)),
                Some(extended) => {
                    !extended.waits_to_verify(worker.issued_bytes, worker.in_flight)
                        && extended.may_issue(job, worker.in_flight, worker.depth, now_ns, &mut worker.next_ns)
                }
            };
            if !may_issue {
                return;
            }
            if let Some(replay) = &worker.replay {
                let Some(due_ns) = replay.due_ns(worker.start_ns, worker.in_flight) else { return };
                worker.next_ns = due_ns;
            }
            if now_ns < worker.next_ns {
                let at_ns = worker.next_ns;
                return wake(kernel, worker, at_ns, id);
            }
            let ramps = now_ns < worker.measure_from_ns;
            if self.budget.as_ref().is_some_and(|budget| budget.is_used_up(ramps)) {
                self.end_budget(id, ramps, now_ns);
                continue;
            }
            if worker.extended.is_some() && self.must_wait(kernel, id) {
                return;
            }
            let worker = &mut self.workers[id as usize];
            let job = &self.jobs[worker.job];
            let (op, offset, bytes) = match &mut worker.replay {
                Some(replay) => replay.take(),
                None => match draw(worker, job, now_ns) {
                    Drawn::Request(op, offset, bytes) => {
                        let placed = at_write_pointer(&mut self.zones, worker, job, (op, offset, bytes));
                        let Some((request, resets)) = placed else {
                            worker.end_ns = now_ns; // no zone takes it
                            continue;
                        };
                        self.recorder.jobs[worker.job].zone_resets += resets;
                        request
                    }
                    Drawn::Later(at_ns) => return wake(kernel, worker, at_ns, id),
                    Drawn::Verify(Some((offset, bytes))) => {
                        worker.in_flight += 1;
                        self.recorder.issued(worker.job, worker.in_flight);
                        let (entry, offset) = (worker.entry, worker.region.start + offset);
                        self.submit(kernel, Request { offset, bytes, worker: id, ..Request::default() }, entry);
                        continue;
                    }
                    Drawn::Verify(None) => continue,
                    Drawn::FilesDone => {
                        next_pass(worker);
                        continue;
                    }
                },
            };
            let taken = worker.copy.map_or(bytes, |copy| copy.command_bytes_at(offset));
            if let Some(budget) = &mut self.budget {
                let left = if ramps { &mut budget.ramp } else { &mut budget.left };
                *left = left.saturating_sub(taken.div_ceil(ONE_OPERATION_BYTES).max(1));
            }
            worker.issued_ios += 1;
            worker.issued_bytes += taken;
            worker.in_flight += 1;
            let due_ns = worker.has_schedule.then_some(worker.next_ns);
            if job.rate.is_some() || job.rate_iops.is_some() {
                worker.next_ns = worker.next_ns.saturating_add(gap_ns(job, &mut worker.gaps, taken));
            }
            self.recorder.issued(worker.job, if job.fluid { job.iodepth } else { worker.in_flight });
            let wire = worker.copy.map_or(Wire::Exchange, |copy| copy.wire(op, offset, bytes));
            let (entry, offset) = (worker.entry, worker.region.start + offset);
            worker.issued_writes += u64::from(op == Op::Write);
            let durable = durability(job, op, worker.issued_writes);
            if let Some(extended) = &mut worker.extended {
                extended.issued(op, now_ns, || gap_of_direction_ns(job, &mut worker.gaps, op, bytes));
                self.tell_flow(kernel, id);
            }
            let request = self.submit(kernel, Request { op, offset, bytes, worker: id, wire, durable, ..Request::default() }, entry);
            if let Some(due_ns) = due_ns {
                self.schedule.set(request, due_ns);
            }
        }
    }

    /// Ends a worker, or all ramps, because no operations are left for it.
    #[cold]
    fn end_budget(&mut self, id: u32, ramps: bool, now_ns: u64) {
        if ramps {
            return self.end_ramps(now_ns);
        }
        let worker = &mut self.workers[id as usize];
        self.recorder.jobs[worker.job].is_limited = true;
        worker.end_ns = now_ns;
    }

    /// Ends the ramps of all workers that have started, because no operations are left for ramps.
    #[cold]
    fn end_ramps(&mut self, now_ns: u64) {
        for worker in &mut self.workers {
            if worker.state == State::Issuing && worker.start_ns <= now_ns && now_ns < worker.measure_from_ns {
                worker.measure_from_ns = now_ns;
                worker.end_ns = self.jobs[worker.job].runtime.map_or(worker.end_ns, |runtime| now_ns.saturating_add(runtime.0));
                let ramp = &mut self.recorder.jobs[worker.job].shortened_ramp_ns;
                *ramp = Some(ramp.unwrap_or(0).max(now_ns - worker.start_ns));
            }
        }
    }

    /// Whether a worker must wait for the others of its flow.
    fn must_wait(&mut self, kernel: &mut Kernel, id: u32) -> bool {
        let worker = &mut self.workers[id as usize];
        let Some(share) = worker.extended.as_ref().and_then(|extended| extended.share.as_ref()) else { return false };
        let Some(spec) = self.jobs[worker.job].flow else { return false };
        let flow = &mut self.flows[share.flow];
        if !flow.is_ahead(spec.weight, share.issued) {
            return false;
        }
        if spec.sleep.0 == 0 {
            flow.waiting.push(id);
        } else if worker.in_flight == 0 {
            worker.next_ns = kernel.now_ns().saturating_add(spec.sleep.0);
            let at_ns = worker.next_ns;
            wake(kernel, worker, at_ns, id);
        }
        true
    }

    /// Counts a request in the worker's flow, and wakes those that waited for it.
    fn tell_flow(&mut self, kernel: &mut Kernel, id: u32) {
        let Some(share) = self.workers[id as usize].extended.as_ref().and_then(|extended| extended.share.as_ref()) else { return };
        let flow = &mut self.flows[share.flow];
        flow.issue();
        for waiting in flow.waiting.drain(..) {
            kernel.wake(HERE, Timer::Issue(waiting));
        }
    }

    /// Flushes a worker's file before it ends.
    fn flush(&mut self, kernel: &mut Kernel, id: u32) {
        let worker = &mut self.workers[id as usize];
        worker.in_flight += 1;
        let (entry, offset) = (worker.entry, worker.region.start);
        self.submit(kernel, Request { offset, worker: id, ..Request::flush(HERE) }, entry);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // so that a request is written where it stays
    fn submit(&mut self, kernel: &mut Kernel, request: Request, entry: Address) -> RequestId {
        let id = kernel.open(Request { tag: self.issued, owner: HERE, ..request });
        self.issued = self.issued.wrapping_add(1);
        let job = self.workers[request.worker as usize].job;
        if let Some(null) = self.jobs[job].null {
            kernel.requests.charge_ns(id, Phase::Overhead, null.0);
            kernel.complete_when_charged(id);
        } else {
            kernel.submit(entry, id);
        }
        id
    }

    fn done(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        if request.is_flush() {
            kernel.requests.remove(id);
            self.workers[request.worker as usize].in_flight -= 1;
            return self.issue(kernel, request.worker);
        }
        let worker = &mut self.workers[request.worker as usize];
        let job = &self.jobs[worker.job];
        let uncounted_ns = worker.measure_from_ns.saturating_sub(request.submitted_ns);
        let measured = uncounted_ns == 0 || kernel.now_ns() > worker.measure_from_ns && !worker.searches();
        let due_ns = worker.has_schedule.then(|| self.schedule.of(id));
        let region_start = worker.region.start;
        let completed = Completed { job: worker.job, region_start, due_ns, measured, uncounted_ns, flow: Loop::of(job) };
        self.recorder.completed(&completed, &request, kernel.requests.spent(id), kernel.now_ns());
        kernel.requests.remove(id);
        if worker.fast_path.is_some() {
            worker.in_flight -= 1;
            return self.issue(kernel, request.worker);
        }
        if let Some((op, offset, bytes, wire)) = worker.copy.and_then(|copy| copy.next(&request, worker.region.start)) {
            let (job, entry) = (worker.job, worker.entry);
            self.recorder.issued(job, worker.in_flight);
            let follows = Request { op, offset: worker.region.start + offset, bytes, worker: request.worker, wire, ..Request::default() };
            self.submit(kernel, follows, entry);
            return;
        }
        worker.in_flight -= 1;
        if let Some(replay) = &mut worker.replay {
            replay.completed(kernel.now_ns());
        }
        worker.completed_since_pause += 1;
        let pauses_here = worker.extended.as_ref().is_none_or(|extended| !extended.pauses());
        if job.thinktime.0 > 0 && !job.fluid && worker.completed_since_pause >= job.thinktime_blocks && pauses_here {
            worker.completed_since_pause = 0;
            worker.next_ns = worker.next_ns.max(kernel.now_ns().saturating_add(job.thinktime.0));
        }
        if worker.extended.is_some() {
            self.judge(kernel, &request);
        }
        let job = self.workers[request.worker as usize].job;
        if let Some(steady) = &mut self.steady[job]
            && steady.completed(request.bytes, kernel.now_ns())
        {
            self.stop(kernel, |worker, _| worker.job == job);
        }
        self.issue(kernel, request.worker);
    }

    /// Apply a completed request to a worker's verification, minimum rate, maximum latency and latency target.
    fn judge(&mut self, kernel: &mut Kernel, request: &Request) {
        let now_ns = kernel.now_ns();
        let worker = &mut self.workers[request.worker as usize];
        let job = &self.jobs[worker.job];
        let Some(extended) = &mut worker.extended else { return };
        if let Some(verify) = extended.verify.as_mut().filter(|_| request.op == Op::Write) {
            verify.wrote(request.offset - worker.region.start, request.bytes);
        }
        let latency_ns = now_ns - request.submitted_ns;
        if extended.completed(request.bytes, now_ns) {
            self.recorder.jobs[worker.job].error = Some(Failure::TooSlow);
            worker.end_ns = now_ns;
        }
        if job.max_latency.is_some_and(|most| latency_ns > most.0) {
            self.recorder.jobs[worker.job].error = Some(Failure::TooLate);
            worker.end_ns = now_ns;
        }
        let Some(search) = &mut extended.search else { return };
        let verdict = search.completed(latency_ns, worker.in_flight, now_ns);
        let depth = search.depth();
        match verdict {
            None => return,
            Some(Verdict::GoOn) => {}
            Some(Verdict::Lowered) => extended.drain(),
            Some(Verdict::Found) => {
                extended.drain();
                worker.measure_from_ns = now_ns;
                self.recorder.restart(worker.job);
            }
            Some(Verdict::Done) => worker.end_ns = now_ns,
        }
        self.recorder.jobs[worker.job].latency_depth = depth;
    }

    /// Lets the workers that `which` names stop issuing, among those that do.
    fn stop(&mut self, kernel: &mut Kernel, which: impl Fn(&Worker, &[Job]) -> bool) {
        for (index, worker) in self.workers.iter_mut().enumerate() {
            if worker.state == State::Issuing && which(worker, &self.jobs) {
                worker.end_ns = worker.end_ns.min(kernel.now_ns());
                kernel.wake(HERE, Timer::Issue(number(index)));
            }
        }
    }

    fn end(&mut self, kernel: &mut Kernel, id: u32) {
        let worker = &mut self.workers[id as usize];
        worker.state = State::Ended;
        let ended = worker.job;
        self.left_of_job[ended] -= 1;
        self.left_of_stage[worker.stage as usize] -= 1;
        let in_ramp = kernel.now_ns() <= worker.measure_from_ns;
        let start_ns = worker.start_ns;
        self.recorder.ended(ended, id, worker.measure_from_ns.min(kernel.now_ns()), kernel.now_ns());
        if let Some(share) = worker.extended.as_mut().and_then(|extended| extended.share.take()) {
            let flow = &mut self.flows[share.flow];
            flow.leave(self.jobs[ended].flow.map_or(0, |flow| flow.weight), share.issued);
            for waiting in flow.waiting.drain(..) {
                kernel.wake(HERE, Timer::Issue(waiting));
            }
        }
        if in_ramp && self.has_ended(ended) {
            let of_job = self.workers.iter().enumerate().filter(|(_, worker)| worker.job == ended).map(|(index, _)| number(index));
            self.recorder.ended_in_ramp(ended, of_job, start_ns);
        }
        if let Some(steady) = self.steady[ended].as_ref().filter(|_| self.has_ended(ended)) {
            self.recorder.jobs[ended].steady = Some(steady.found().clone());
        }
        let job = &self.jobs[ended];
        if job.exitall && !self.stopping {
            match job.exit_what {
                ExitWhat::All => {
                    self.stopping = true;
                    for other in 0..self.workers.len() {
                        kernel.wake(HERE, Timer::Issue(number(other)));
                    }
                }
                ExitWhat::Stonewall => self.stop(kernel, |_, _| true),
                ExitWhat::Group => {
                    let group = job.group;
                    self.stop(kernel, |worker, jobs| jobs[worker.job].group == group);
                }
            }
        }
        if self.has_ended(ended) {
            for index in 0..self.workers.len() {
                let worker = &self.workers[index];
                if worker.waits_for == Some(ended) && worker.state == State::Waiting && worker.stage <= self.stage {
                    self.start_worker(kernel, index);
                }
            }
        }
        // The stages before have ended.
        if self.left_of_stage[self.stage as usize] == 0 {
            self.stage += 1;
            self.start_stage(kernel);
        }
    }
}

/// Return the durability that a worker waits for. `writes` is the number of the write, if the request is one.
fn durability(job: &Job, op: Op, writes: u64) -> Durable {
    match op {
        Op::Write if job.flushes_after(writes) => Durable::All,
        Op::Write if job.sync => Durable::Itself,
        Op::Write if job.flushes() => Durable::Later,
        Op::Read | Op::Write | Op::Trim => Durable::No,
    }
}

/// The flows of all jobs; each worker that shares one is told which.
fn flows(jobs: &[Job], workers: &mut [Worker]) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    for worker in workers {
        let (Some(spec), Some(extended)) = (jobs[worker.job].flow, &mut worker.extended) else { continue };
        let index = flows.iter().position(|flow| flow.id == spec.id).unwrap_or_else(|| {
            flows.push(Flow::new(spec.id));
            flows.len() - 1
        });
        flows[index].join(spec.weight);
        extended.share = Some(Share { flow: index, issued: 0 });
    }
    flows
}

/// Sets a worker's timer, unless it is set for that time already.
fn wake(kernel: &mut Kernel, worker: &mut Worker, at_ns: u64, id: u32) {
    if worker.wake_ns != at_ns {
        worker.wake_ns = at_ns;
        kernel.wake_at(at_ns.min(worker.end_ns), HERE, Timer::Issue(id));
    }
}

/// The next action of a worker that has issued all its requests and has none in flight.
enum Closing {
    /// It reads back what it wrote.
    Verify,
    /// It flushes its file.
    Flush,
    /// It ends.
    End,
}

fn closing(worker: &mut Worker, now_ns: u64) -> Closing {
    let Some(extended) = &mut worker.extended else { return Closing::End };
    if now_ns < worker.end_ns && extended.verify.as_mut().is_some_and(verify::Verifying::begin_all) {
        return Closing::Verify;
    }
    if std::mem::take(&mut extended.flush_to_come) && worker.issued_writes > 0 {
        return Closing::Flush;
    }
    Closing::End
}

/// A worker's files have been read to their ends before all bytes were issued, as with a stride: its next pass begins.
fn next_pass(worker: &mut Worker) {
    let Some(extended) = &mut worker.extended else { return };
    let pass = extended.pass_bytes.max(1);
    worker.issued_bytes = (worker.issued_bytes / pass + 1).saturating_mul(pass);
    if let Some(pattern) = &mut extended.pattern {
        pattern.rewind();
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX) // at most 256 jobs of 16,384 workers
}

/// Whether a worker has issued all that it has to.
fn finished(worker: &Worker, job: &Job, now_ns: u64) -> bool {
    if now_ns >= worker.end_ns || (worker.next_ns >= worker.end_ns && now_ns < worker.next_ns) {
        return true;
    }
    if worker.extended.as_ref().is_some_and(|extended| extended.is_reading()) {
        return false;
    }
    if job.number_ios.is_some_and(|most| worker.issued_ios >= most * job.rw.passes()) {
        return true;
    }
    if job.time_based {
        return false;
    }
    let least = if worker.copy.is_some() { 1 } else { job.min_request_bytes() };
    worker.issued_bytes + least > worker.target_bytes
}

/// Time to the next request of a job with a limited rate, after one of `bytes`.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // gaps are far below 2^53 ns
fn gap_ns(job: &Job, gaps: &mut Stream, bytes: u64) -> u64 {
    let mean = match (job.rate_iops, job.rate) {
        (Some(per_s), _) => NS_PER_S as f64 / per_s,
        (None, Some(rate)) => bytes as f64 * NS_PER_S as f64 / rate.0 as f64,
        (None, None) => return 0,
    };
    let gap = match job.rate_process {
        RateProcess::Linear => mean,
        RateProcess::Poisson => gaps.exponential(mean),
    };
    libm::round(gap) as u64
}

/// Time to the next request of a direction that has a rate of its own, after one of `bytes`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // gaps are far below 2^53 ns
fn gap_of_direction_ns(job: &Job, gaps: &mut Stream, op: Op, bytes: u64) -> u64 {
    let Some(limits) = job.rate_each else { return 0 };
    let (rate, iops) = if op == Op::Read { (limits.read, limits.read_iops) } else { (limits.write, limits.write_iops) };
    let by_iops = iops.map_or(0.0, |per_s| to_f64(NS_PER_S) / per_s);
    let by_rate = rate.map_or(0.0, |rate| to_f64(bytes) * to_f64(NS_PER_S) / to_f64(rate.0));
    let mean = by_iops.max(by_rate);
    let gap = match job.rate_process {
        RateProcess::Linear => mean,
        RateProcess::Poisson => gaps.exponential(mean),
    };
    libm::round(gap) as u64
}

/// The next action of a worker.
enum Drawn {
    /// A request: direction, offset in its region, bytes.
    Request(Op, u64, u64),
    /// Nothing before this time.
    Later(u64),
    /// A read of what was written, or nothing when all that was due has been read.
    Verify(Option<(u64, u64)>),
    /// Its files have been read to their ends.
    FilesDone,
}

/// Where a worker's next request begins in its region, whose requests have `least` bytes or more.
#[inline]
fn next_offset(worker: &mut Worker, op: Op, least: u64) -> u64 {
    let length = worker.region.end - worker.region.start;
    if let Some(order) = &mut worker.order {
        return order.next(length / least, &mut worker.offsets) * least;
    }
    let position = worker.position[index_of(op)];
    if position + least > length { 0 } else { position }
}

/// Draws a worker's next request; a block that was trimmed may be written next.
fn draw(worker: &mut Worker, job: &Job, now_ns: u64) -> Drawn {
    let drawn = draw_place(worker, job, now_ns);
    if let Drawn::Request(Op::Trim, offset, bytes) = drawn
        && job.rw.passes() > 1
    {
        worker.trimmed = Some((offset, bytes));
    }
    drawn
}

fn draw_place(worker: &mut Worker, job: &Job, now_ns: u64) -> Drawn {
    let length = worker.region.end - worker.region.start;
    if let Some(copy) = worker.copy {
        let offset = if worker.position[0] >= length { 0 } else { worker.position[0] };
        worker.position[0] = offset + copy.command_bytes_at(offset);
        return Drawn::Request(Op::Read, offset, copy.chunk_bytes_at(offset));
    }
    let least = job.min_request_bytes();
    let (op, mut bytes) = match worker.plain {
        Some(op) => (op, least),
        None => match draw_op_and_size(worker, job, least, now_ns) {
            Ok(drawn) => drawn,
            Err(instead) => return instead,
        },
    };
    let offset = next_offset(worker, op, least);
    if bytes > length - offset {
        bytes = (length - offset) / least * least;
    }
    if !job.time_based {
        bytes = bytes.min((worker.target_bytes - worker.issued_bytes) / job.rw.passes());
    }
    if let Some(order) = &mut worker.order {
        bytes = order.take(offset / least, bytes / least).map_or(bytes, |blocks| blocks * least);
    }
    worker.position[index_of(op)] = offset + bytes;
    Drawn::Request(op, offset, bytes)
}

/// Where a request goes that was drawn for zones with write pointers, in the worker's region, and how many zones are reset for it;
/// nothing when no zone takes it. What finds nothing to read yet is a write, in a job that writes.
fn at_write_pointer(
    zones: &mut Zones,
    worker: &mut Worker,
    job: &Job,
    (op, offset, bytes): (Op, u64, u64),
) -> Option<((Op, u64, u64), u64)> {
    let Some(extended) = &mut worker.extended else { return Some(((op, offset, bytes), 0)) };
    let Some(share) = extended.zones else { return Some(((op, offset, bytes), 0)) };
    let start = worker.region.start;
    let wish = Wish { offset: start + offset, bytes, least_bytes: job.min_request_bytes(), is_random: job.rw.is_random() };
    let (op, (place, resets)) = match zones.place(share, op, wish) {
        Some(found) => (op, found),
        None if op == Op::Read && job.rw.writes() => (Op::Write, zones.place(share, Op::Write, wish)?),
        None => return None,
    };
    let (offset, next) = (place.offset - start, place.next - start);
    worker.position[index_of(op)] = next;
    if let Some(pattern) = &mut extended.pattern {
        pattern.moved(op, offset, next);
    }
    Some(((op, offset, place.bytes), resets))
}

/// Draws direction and size of a worker's next request, or what it does instead of one whose offset follows from both.
fn draw_op_and_size(worker: &mut Worker, job: &Job, least: u64, now_ns: u64) -> Result<(Op, u64), Drawn> {
    if let Some(verify) = worker.extended.as_mut().and_then(|extended| extended.verify.as_mut())
        && verify.is_reading()
    {
        return Err(Drawn::Verify(verify.next_block()));
    }
    let (issued_ios, choices) = (worker.issued_ios, &mut worker.choices);
    let trimmed = worker.trimmed;
    let mut draw_op = || match (job.rw.reads(), job.rw.writes()) {
        (true, true) if let Some(requests) = job.transaction => {
            if (issued_ios + 1).is_multiple_of(u64::from(requests)) {
                Op::Write
            } else {
                Op::Read
            }
        }
        (true, true) if choices.below(100) >= u64::from(job.rwmixread) => Op::Write,
        // A block that was trimmed is written next.
        (false, true) if job.rw.trims() && trimmed.is_none() => Op::Trim,
        (false, true) => Op::Write,
        (false, false) => Op::Trim,
        _ => Op::Read,
    };
    let op = match &mut worker.extended {
        None => draw_op(),
        Some(extended) => match extended.due(now_ns, draw_op) {
            Ok(op) => op,
            Err(at_ns) => return Err(Drawn::Later(at_ns)),
        },
    };
    if op == Op::Write
        && let Some((offset, bytes)) = worker.trimmed.take()
    {
        return Err(Drawn::Request(op, offset, bytes));
    }
    let pattern = worker.extended.as_mut().and_then(|extended| extended.pattern.as_mut());
    let mix = pattern.as_ref().and_then(|pattern| pattern.size(op, &mut worker.choices));
    let mut bytes = match (mix, job.bsrange) {
        (Some(bytes), _) => bytes,
        (None, Some(range)) => (worker.choices.below((range.max.0 - range.min.0) / least + 1) + 1) * least,
        (None, None) => job.bs.0,
    };
    if let Some(pattern) = pattern {
        if !job.time_based {
            bytes = bytes.min((worker.target_bytes - worker.issued_bytes) / job.rw.passes() / least * least);
        }
        let Some((offset, bytes)) = pattern.place(op, bytes, &mut worker.offsets) else { return Err(Drawn::FilesDone) };
        return Err(Drawn::Request(op, offset, bytes));
    }
    Ok((op, bytes))
}
