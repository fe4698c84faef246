//! Workers that issue requests as fio's jobs do, and the copy engine's alternation of reads and writes.
//!
//! A worker keeps up to `iodepth` requests in flight as long as its rate, its think time and its end allow. Requests are logged
//! when they complete. A worker of a copy follows each read by the write of the same bytes (see [`crate::layers::client::copy`]). A worker that replays takes its requests from a trace (see [`replay`]).

pub mod offsets;
pub mod replay;

use offsets::Order;
use replay::Replay;

use crate::kernel::{Address, Durable, Event, Kernel, LayerId, Request, RequestId, Timer as _, Wire};
use crate::layers::Layer;
use crate::layers::client::copy::{Copy, in_flight};
use crate::plan::Plan;
use crate::range::Range;
use crate::result::Recorder;
use crate::timers;
use seeklab_kernel::{NS_PER_S, Stream};
use seeklab_spec::Op;
use seeklab_spec::{Job, RateProcess, Scenario};

const HERE: Address = Address::of(LayerId::Workload);

timers! {
    enum Timer {
        /// A worker issues what is due.
        Issue(u32),
    }
}

struct Worker {
    job: usize,
    /// Which one of its job.
    number: u64,
    region: Range,
    entry: Address,
    /// Most requests in flight.
    depth: u32,
    copy: Option<Copy>,
    order: Option<Order>,
    /// Where requests come from a trace.
    replay: Option<Box<Replay>>,
    /// Next sequential offset of each direction.
    position: [u64; 3],
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
    measure_from_ns: u64,
    next_ns: u64,
    wake_ns: u64,
    stage: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Issuing,
    Ended,
}

/// All workers.
pub struct Workload {
    jobs: Vec<Job>,
    workers: Vec<Worker>,
    stage: u32,
    stopping: bool,
    issued: u32,
    /// What it has done: statistics and log.
    pub recorder: Recorder,
}

fn index_of(op: Op) -> usize {
    op as usize
}

impl Layer for Workload {
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
        self.recorder.memory_bytes()
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
            let order = job
                .rw
                .is_random()
                .then(|| Order::new(job.random_distribution, job.norandommap, length / job.min_request_bytes(), &mut offsets));
            Worker {
                job: planned.job,
                number: u64::from(clones[planned.job] - 1),
                region: planned.region,
                entry: entry(job),
                depth: in_flight(scenario, job),
                copy: Copy::of(scenario, job, length),
                order,
                replay: None,
                position: [0; 3],
                offsets,
                choices: Stream::new(seed, &format!("{name}/choices")),
                gaps: Stream::new(seed, &format!("{name}/gaps")),
                in_flight: 0,
                issued_ios: 0,
                issued_writes: 0,
                issued_bytes: 0,
                target_bytes: job.io_size.map_or(length, |size| size.0).saturating_mul(u64::from(job.loops) * job.rw.passes()),
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
        Self {
            workers: workers.collect(),
            jobs: scenario.jobs.clone(),
            stage: 0,
            stopping: false,
            issued: 0,
            recorder: Recorder::new(scenario.jobs.len(), &scenario.record, scenario.monitor.is_some()),
        }
    }

    /// Lets the first worker of `job` take its requests from a trace; the job's `number_ios` and `io_size` are the trace's.
    pub fn feed(&mut self, job: usize, replay: Replay) {
        if let Some(worker) = self.workers.iter_mut().find(|worker| worker.job == job) {
            worker.replay = Some(Box::new(replay));
        }
    }

    /// Starts the workers of the present stage.
    fn start_stage(&mut self, kernel: &mut Kernel) {
        for index in 0..self.workers.len() {
            let worker = &mut self.workers[index];
            if worker.stage == self.stage {
                let job = &self.jobs[worker.job];
                worker.state = State::Issuing;
                worker.start_ns =
                    kernel.now_ns().saturating_add(job.startdelay.0).saturating_add(job.stagger.0.saturating_mul(worker.number));
                worker.measure_from_ns = worker.start_ns.saturating_add(job.ramp_time.0);
                worker.end_ns = job.runtime.map_or(u64::MAX, |runtime| worker.measure_from_ns.saturating_add(runtime.0));
                worker.next_ns = worker.start_ns;
                if job.rate_process == RateProcess::Poisson {
                    worker.next_ns = worker.next_ns.saturating_add(gap_ns(job, &mut worker.gaps, 0));
                }
                kernel.wake_at(worker.start_ns, HERE, Timer::Issue(number(index)));
            }
        }
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

    fn issue(&mut self, kernel: &mut Kernel, id: u32) {
        let now_ns = kernel.now_ns();
        loop {
            let worker = &mut self.workers[id as usize];
            let job = &self.jobs[worker.job];
            if worker.state != State::Issuing {
                return;
            }
            if self.stopping || finished(worker, job, now_ns) {
                if worker.in_flight == 0 {
                    self.end(kernel, id);
                }
                return;
            }
            if worker.in_flight >= worker.replay.as_ref().map_or(worker.depth, |replay| replay.most_in_flight(worker.depth)) {
                return;
            }
            if let Some(replay) = &worker.replay {
                let Some(due_ns) = replay.due_ns(worker.start_ns, worker.in_flight) else { return };
                worker.next_ns = due_ns;
            }
            if now_ns < worker.next_ns {
                if worker.wake_ns != worker.next_ns {
                    worker.wake_ns = worker.next_ns;
                    kernel.wake_at(worker.next_ns.min(worker.end_ns), HERE, Timer::Issue(id));
                }
                return;
            }
            let (op, offset, bytes) = match &mut worker.replay {
                Some(replay) => replay.take(),
                None => draw(worker, job),
            };
            let taken = worker.copy.map_or(bytes, |copy| copy.command_bytes_at(offset));
            worker.issued_ios += 1;
            worker.issued_bytes += taken;
            worker.in_flight += 1;
            if job.rate.is_some() || job.rate_iops.is_some() {
                worker.next_ns = worker.next_ns.saturating_add(gap_ns(job, &mut worker.gaps, taken));
            }
            self.recorder.issued(worker.job, op, worker.in_flight);
            let wire = worker.copy.map_or(Wire::Exchange, |copy| copy.wire(op, offset, bytes));
            let (entry, offset) = (worker.entry, worker.region.start + offset);
            worker.issued_writes += u64::from(op == Op::Write);
            let durable = match op {
                Op::Write if job.flushes_after(worker.issued_writes) => Durable::All,
                Op::Write if job.sync => Durable::Itself,
                Op::Write if job.flushes() => Durable::Later,
                Op::Read | Op::Write | Op::Trim => Durable::No,
            };
            self.submit(kernel, Request { op, offset, bytes, worker: id, wire, durable, ..Request::default() }, entry);
        }
    }

    fn submit(&mut self, kernel: &mut Kernel, request: Request, entry: Address) {
        let id = kernel.open(Request { tag: self.issued, owner: HERE, ..request });
        self.issued = self.issued.wrapping_add(1);
        kernel.submit(entry, id);
    }

    fn done(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let worker = &mut self.workers[request.worker as usize];
        let job = &self.jobs[worker.job];
        let measured = request.submitted_ns >= worker.measure_from_ns;
        self.recorder.completed(worker.job, &request, kernel.requests.phases(id), worker.region.start, kernel.now_ns(), measured);
        kernel.requests.remove(id);
        if let Some((op, offset, bytes, wire)) = worker.copy.and_then(|copy| copy.next(&request, worker.region.start)) {
            let (job, entry) = (worker.job, worker.entry);
            self.recorder.issued(job, op, worker.in_flight);
            let follows = Request { op, offset: worker.region.start + offset, bytes, worker: request.worker, wire, ..Request::default() };
            return self.submit(kernel, follows, entry);
        }
        worker.in_flight -= 1;
        if let Some(replay) = &mut worker.replay {
            replay.completed(kernel.now_ns());
        }
        worker.completed_since_pause += 1;
        if job.thinktime.0 > 0 && worker.completed_since_pause >= job.thinktime_blocks {
            worker.completed_since_pause = 0;
            worker.next_ns = worker.next_ns.max(kernel.now_ns().saturating_add(job.thinktime.0));
        }
        self.issue(kernel, request.worker);
    }

    fn end(&mut self, kernel: &mut Kernel, id: u32) {
        let worker = &mut self.workers[id as usize];
        worker.state = State::Ended;
        self.recorder.ended(worker.job, worker.measure_from_ns.min(kernel.now_ns()), kernel.now_ns());
        if self.jobs[worker.job].exitall && !self.stopping {
            self.stopping = true;
            for other in 0..self.workers.len() {
                kernel.wake(HERE, Timer::Issue(number(other)));
            }
        }
        let stage = self.stage;
        if self.workers.iter().all(|worker| worker.stage > stage || worker.state == State::Ended) {
            self.stage += 1;
            self.start_stage(kernel);
        }
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

/// Draws a worker's next request: direction, offset in its region, bytes.
fn draw(worker: &mut Worker, job: &Job) -> (Op, u64, u64) {
    let length = worker.region.end - worker.region.start;
    if let Some(copy) = worker.copy {
        let offset = if worker.position[0] >= length { 0 } else { worker.position[0] };
        worker.position[0] = offset + copy.command_bytes_at(offset);
        return (Op::Read, offset, copy.chunk_bytes_at(offset));
    }
    let op = match (job.rw.reads(), job.rw.writes()) {
        (true, true) if let Some(requests) = job.transaction => {
            if (worker.issued_ios + 1).is_multiple_of(u64::from(requests)) {
                Op::Write
            } else {
                Op::Read
            }
        }
        (true, true) if worker.choices.below(100) >= u64::from(job.rwmixread) => Op::Write,
        // A block that was trimmed is written next.
        (false, true) if job.rw.trims() && worker.position[index_of(Op::Trim)] == worker.position[index_of(Op::Write)] => Op::Trim,
        (false, true) => Op::Write,
        (false, false) => Op::Trim,
        _ => Op::Read,
    };
    let least = job.min_request_bytes();
    let mut bytes = match job.bsrange {
        Some(range) => (worker.choices.below((range.max.0 - range.min.0) / least + 1) + 1) * least,
        None => job.bs.0,
    };
    let offset = if let Some(order) = &mut worker.order {
        order.next(length / least, &mut worker.offsets) * least
    } else {
        let position = worker.position[index_of(op)];
        if position + least > length { 0 } else { position }
    };
    if op == Op::Write && job.rw.trims() {
        bytes = worker.position[index_of(Op::Trim)] - offset;
    }
    if bytes > length - offset {
        bytes = (length - offset) / least * least;
    }
    if !job.time_based {
        bytes = bytes.min(worker.target_bytes - worker.issued_bytes);
    }
    worker.position[index_of(op)] = offset + bytes;
    (op, offset, bytes)
}
