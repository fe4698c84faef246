//! Features that few workers use: patterns of several sizes and files, reads that verify, pauses, limits and searches.
//!
//! A worker without any of it has no [`Extended`], and costs one comparison.

use seeklab_kernel::{NS_PER_S, Stream};
use seeklab_spec::governor::{PauseBy, RateMin};
use seeklab_spec::{Job, Op, to_f64};

use super::latency_target::DepthSearch;
use super::pattern::Pattern;
use super::verify::Verifying;
use super::zoned;

/// How long fio lets a job settle before it looks at its least rate, in nanoseconds.
const SETTLE_NS: u64 = 2_000_000_000;

/// Pauses that fio makes: first what is in flight completes, then the worker rests.
pub struct Pause {
    by: Option<PauseBy>,
    blocks: u32,
    iotime_ns: Option<u64>,
    counted: u32,
    since_ns: u64,
    is_due: bool,
}

impl Pause {
    fn of(job: &Job) -> Option<Self> {
        let iotime_ns = job.thinktime_iotime.map(|time| time.0);
        let by = if iotime_ns.is_some() { None } else { Some(job.thinktime_by?) };
        (job.thinktime.0 > 0).then_some(Self { by, blocks: job.thinktime_blocks, iotime_ns, counted: 0, since_ns: 0, is_due: false })
    }

    /// A request was issued, or has completed.
    fn count(&mut self, what: PauseBy) {
        if self.by == Some(what) {
            self.counted += 1;
            self.is_due |= self.counted >= self.blocks;
        }
    }
}

/// A least rate under watch.
pub struct LeastRate {
    spec: RateMin,
    next_ns: u64,
    bytes: u64,
    ios: u64,
}

impl LeastRate {
    /// A request of `bytes` has completed; whether the rate of the cycle that this ends was too low.
    fn completed(&mut self, bytes: u64, now_ns: u64) -> bool {
        if now_ns + self.spec.cycle.0 < self.next_ns {
            return false;
        }
        if now_ns < self.next_ns {
            (self.bytes, self.ios) = (self.bytes + bytes, self.ios + 1);
            return false;
        }
        let cycles = 1 + (now_ns - self.next_ns) / self.spec.cycle.0;
        let seconds = to_f64(self.spec.cycle.0) / 1e9;
        let too_low = cycles > 1
            || self.spec.rate.is_some_and(|least| to_f64(self.bytes) / seconds < to_f64(least.0))
            || self.spec.iops.is_some_and(|least| to_f64(self.ios) / seconds < least);
        self.next_ns += cycles * self.spec.cycle.0;
        (self.bytes, self.ios) = (bytes, 1);
        too_low
    }
}

/// A worker's share of a flow.
pub struct Share {
    /// Number of the flow.
    pub flow: usize,
    /// Requests that the worker has issued.
    pub issued: u64,
}

/// The features of a worker beyond one size, one order and one queue depth.
#[derive(Default)]
pub struct Extended {
    /// Sizes and places.
    pub pattern: Option<Pattern>,
    /// Reads that verify.
    pub verify: Option<Verifying>,
    /// Bytes of a pass.
    pub pass_bytes: u64,
    /// Bytes issued when the present pass is to be verified.
    pass_ends_bytes: u64,
    /// The search for a depth.
    pub search: Option<DepthSearch>,
    /// The zones that it uses, where they have write pointers.
    pub zones: Option<zoned::Share>,
    /// The share of a flow.
    pub share: Option<Share>,
    pause: Option<Pause>,
    least_rate: Option<LeastRate>,
    /// Requests that may be left before a full queue is filled again.
    low: Option<u32>,
    /// While more are in flight none is issued.
    hold_above: Option<u32>,
    /// When each direction may issue again, where directions have rates of their own.
    next_ns: Option<[u64; 2]>,
    /// The direction that waits for its turn.
    drawn: Option<Op>,
    /// Whether the flush at the end is still to come.
    pub flush_to_come: bool,
}

impl Extended {
    /// Return the features of a job's worker; `None` for most. `length` is that of its region.
    pub fn of(job: &Job, length: u64, stream: &mut Stream) -> Option<Box<Self>> {
        let depth = job.iodepth;
        let after_batch = job.iodepth_batch_complete.map(|batch| depth.saturating_sub(batch));
        let low = match (job.iodepth_low, after_batch) {
            (Some(low), Some(after)) => Some(low.min(after)),
            (low, after) => low.or(after),
        };
        let extended = Self {
            pattern: Pattern::of(job, length, stream),
            verify: job.verify.filter(|_| job.rw.writes()).map(|spec| Verifying::new(spec, job.norandommap && job.rw.is_random())),
            pass_bytes: job.io_size.map_or(length, |size| size.0),
            pass_ends_bytes: job.io_size.map_or(length, |size| size.0),
            search: job.latency_target.map(|spec| DepthSearch::new(spec, depth)),
            zones: None,
            share: None,
            pause: Pause::of(job),
            least_rate: job.rate_min.map(|spec| LeastRate { spec, next_ns: 0, bytes: 0, ios: 0 }),
            low: low.filter(|low| low + 1 < depth),
            hold_above: None,
            next_ns: job.rate_each.map(|_| [0; 2]),
            drawn: None,
            flush_to_come: job.end_fsync && job.rw.writes(),
        };
        let is_needed = extended.pattern.is_some()
            || extended.verify.is_some()
            || extended.search.is_some()
            || extended.pause.is_some()
            || extended.least_rate.is_some()
            || extended.low.is_some()
            || extended.next_ns.is_some()
            || extended.flush_to_come
            || job.flow.is_some()
            || job.zoned.is_some()
            || job.max_latency.is_some();
        is_needed.then(|| Box::new(extended))
    }

    /// The worker starts.
    pub fn start(&mut self, now_ns: u64) {
        if let Some(search) = &mut self.search {
            search.start(now_ns);
        }
        if let Some(least) = &mut self.least_rate {
            least.next_ns = now_ns.saturating_add(SETTLE_NS).saturating_add(least.spec.cycle.0);
        }
        if let Some(pause) = &mut self.pause {
            pause.since_ns = now_ns;
        }
        if let Some(next_ns) = &mut self.next_ns {
            *next_ns = [now_ns; 2];
        }
    }

    /// Whether the pass of a worker that has issued so many bytes is to be verified, and waits for what is in flight.
    pub fn waits_to_verify(&mut self, issued_bytes: u64, in_flight: u32) -> bool {
        let Some(verify) = &mut self.verify else { return false };
        if verify.is_reading() || issued_bytes < self.pass_ends_bytes {
            return false;
        }
        if in_flight > 0 {
            return true;
        }
        verify.begin_all();
        self.pass_ends_bytes = self.pass_ends_bytes.saturating_add(self.pass_bytes);
        false
    }

    /// Whether a request may join `in_flight` others, of `depth`; a pause that begins moves `next_ns`.
    pub fn may_issue(&mut self, job: &Job, in_flight: u32, depth: u32, now_ns: u64, next_ns: &mut u64) -> bool {
        let depth = self.search.as_ref().map_or(depth, |search| search.depth().min(depth));
        if in_flight >= depth {
            self.hold_above = self.hold_above.or(self.low);
            return false;
        }
        if self.hold_above.is_some_and(|most| in_flight > most) {
            return false;
        }
        self.hold_above = None;
        if let Some(pause) = &mut self.pause {
            pause.is_due |= pause.iotime_ns.is_some_and(|time_ns| now_ns.saturating_sub(pause.since_ns) >= time_ns);
            if pause.is_due {
                if in_flight > 0 {
                    return false;
                }
                *next_ns = (*next_ns).max(now_ns.saturating_add(job.thinktime.0));
                (pause.is_due, pause.counted, pause.since_ns) = (false, 0, *next_ns);
            }
        }
        true
    }

    /// Until a lower depth is reached none is issued.
    pub fn drain(&mut self) {
        self.hold_above = Some(0);
    }

    /// Whether pauses are made here, and not by the worker.
    pub fn pauses(&self) -> bool {
        self.pause.is_some()
    }

    /// The direction of the next request, with limits for each: the one that was drawn, or the other when that is due first; when both
    /// must wait, until when.
    pub fn due(&mut self, now_ns: u64, draw: impl FnOnce() -> Op) -> Result<Op, u64> {
        let Some(next_ns) = self.next_ns else { return Ok(draw()) };
        let drawn = *self.drawn.get_or_insert_with(draw);
        let other = if drawn == Op::Read { Op::Write } else { Op::Read };
        for op in [drawn, other] {
            if next_ns[index(op)] <= now_ns {
                self.drawn = None;
                return Ok(op);
            }
        }
        Err(next_ns[0].min(next_ns[1]))
    }

    /// A request has been issued; `gap_ns` says how long its direction rests.
    pub fn issued(&mut self, op: Op, now_ns: u64, gap_ns: impl FnOnce() -> u64) {
        if let Some(next_ns) = &mut self.next_ns {
            let next_ns = &mut next_ns[index(op)];
            *next_ns = (*next_ns).max(now_ns.saturating_sub(NS_PER_S)).saturating_add(gap_ns());
        }
        if let Some(share) = &mut self.share {
            share.issued += 1;
        }
        if let Some(pause) = &mut self.pause {
            pause.count(PauseBy::Issue);
        }
    }

    /// A request has completed; whether the job has failed for being too slow.
    pub fn completed(&mut self, bytes: u64, now_ns: u64) -> bool {
        if let Some(pause) = &mut self.pause {
            pause.count(PauseBy::Complete);
        }
        self.least_rate.as_mut().is_some_and(|least| least.completed(bytes, now_ns))
    }

    /// Whether reads that verify are due.
    pub fn is_reading(&self) -> bool {
        self.verify.as_ref().is_some_and(Verifying::is_reading)
    }
}

fn index(op: Op) -> usize {
    usize::from(op != Op::Read)
}
