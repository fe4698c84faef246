//! The drive: commands, overheads, bus, buffer and early-reported writes around the mechanics.
//!
//! Rules as documented for DiskSim parameter files. A read that is not in the buffer: command overhead, move, wait for the
//! sector, read; the bus is taken again once the watermark is buffered, and blocks follow over the bus as they are read.
//! Afterwards the head reads on into the same segment until its limit or until another request needs the arm; a later
//! read found there needs only the hit overhead and the bus. A write is done when it is on the media, or, in drives that
//! report early, when it is in the buffer; the arm then writes on, a write that continues it joins it, and any other
//! request waits.
//!
//! Nothing happens between requests: read-ahead and early writes are worked out when the next request comes, so a request
//! costs about a microsecond of computing however long the pause was.
//!
//! What the phases of a [`Service`] mean when work overlaps: the time line is cut along the path that decided the end. For
//! a read from the media the time after the last sector is `bus`; for a read from the buffer all of the transfer is.
//! Completion overhead counts as `overhead`.
//!
//! A drive that overlaps its requests is given one when its arm is free ([`Hdd::serve_at`]): what of the command's overhead is over by
//! then, and data of a write that are in the buffer, cost nothing more, and the next request may be given when the media work is done,
//! before the last data have crossed the bus. Such a drive also
//! - leaves a read-ahead in progress when it serves a read from elsewhere in the buffer;
//! - reads on until the last moment at which the arm still arrives in time for the sector that it leaves for;
//! - takes a read that continues where a segment ends as that segment's stream, and says how long the read-ahead of a stream is worth
//!   staying for ([`Hdd::stays_until_ns`]): a stream that is left at once costs a seek for each of its requests.
//!
//! That drives continue a sequential read before others, and use the wait for a sector to read ahead, follows Worthington, Ganger
//! and Patt, "Scheduling Algorithms for Modern Disk Drives", SIGMETRICS 1994 (buffered data first), and Western Digital's
//! description of its just-in-time seek (IntelliSeek).
//!
//! Left out: several early writes waiting in the buffer at once (a second one that does not continue the first waits for
//! the arm), a stalled read when the bus is slower than the media and the request larger than its segment, and the extra
//! disconnect of some drives during writes apart from the blocks it makes a write wait for.

use std::sync::Arc;

use super::buffer::{Buffer, News};
use super::max::FastMax as _;
use super::params::Params;
use super::shake::Shaker;
use super::transfer::{Cursor, Position, Shaken};
use super::{Hit, Op, Service};

/// An early-reported write in flight to the media.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub segment: usize,
    /// First block of the first write, and when its sector began.
    pub first: u64,
    pub first_at: f64,
    /// One past the last block, and when its sector ends.
    pub end: u64,
    pub end_at: f64,
}

/// The activity of the arm without a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Activity {
    Idle,
    /// Reads on into a segment up to before block `limit`.
    ReadAhead {
        cursor: Cursor,
        segment: usize,
        limit: u64,
    },
    Writing(Stream),
}

/// The progress of a request when the drive starts on it; times relative to the base, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    /// How long ago its command was given.
    pub waited: f64,
    /// When the bus is free.
    pub bus_free: f64,
    /// When the arm is, of a read that may be served without it.
    pub arm_free: f64,
    /// When its data began to cross the bus, of a write whose data are sent ahead.
    pub data_from: Option<f64>,
    /// Whether nothing else waits for the arm.
    pub is_alone: bool,
}

impl Lead {
    const NONE: Self = Self { waited: 0.0, bus_free: f64::NEG_INFINITY, arm_free: f64::NEG_INFINITY, data_from: None, is_alone: true };
}

/// How a request comes to a drive that overlaps them, in simulated time.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// When its command was given.
    pub since_ns: u64,
    /// When the bus is free.
    pub bus_free_ns: u64,
    /// When the arm is free; later than now only for a read that the buffer holds.
    pub arm_free_ns: u64,
    /// When its data began to cross the bus, of a write whose data are sent ahead.
    pub data_from_ns: Option<u64>,
    /// Whether nothing else waits for the arm.
    pub is_alone: bool,
}

/// Result of a request before rounding, in ns from its arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub done: f64,
    pub free: f64,
    pub overhead: f64,
    pub wait: f64,
    pub seek: f64,
    pub rotation: f64,
    pub retry: f64,
    pub media: f64,
    pub bus: f64,
    /// When the arm has nothing left to do.
    pub arm: f64,
    pub hit: Hit,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    /// The moment that all `f64` times count from: the arrival of the latest request.
    pub base_ns: u64,
    /// Angle at that moment, in turns; and without that at time 0, in parts of the spindle.
    pub phase: f64,
    pub parts: u64,
    /// Angle at time 0, in turns.
    pub start_turns: f64,
    pub position: Position,
    pub previous: Op,
    pub buffer: Buffer,
    pub activity: Activity,
    /// Room for the times of a write larger than its segment; allocated by the first one.
    pub window: Vec<f64>,
    /// The segment that the latest read from the media goes to.
    pub reading: Option<usize>,
    /// One past the last block that is worth staying for while a stream is read that the arm has come back to.
    pub stay: u64,
    /// The segment with what was destaged last, and one past its last block.
    pub destaged: Option<(usize, u64)>,
    /// Source of vibration, if there is one.
    pub shaker: Option<Box<Shaker>>,
}

/// One hard disk with its mechanical and buffer state. Deterministic: the same calls give the same results on every target.
#[derive(Clone, Debug)]
pub struct Hdd {
    pub(super) params: Arc<Params>,
    pub(super) state: State,
}

impl Hdd {
    /// A drive at time 0: the arm at the first cylinder, the buffer empty.
    #[must_use]
    pub fn new(params: Arc<Params>) -> Self {
        let rules = &params.rules;
        let state = State {
            base_ns: 0,
            phase: 0.0,
            parts: 0,
            start_turns: 0.0,
            position: Position { cylinder: params.zones()[0].first_cylinder(), head: 0 },
            previous: Op::Read,
            buffer: if rules.adaptive {
                Buffer::adaptive(rules.segments, rules.segment_blocks)
            } else {
                Buffer::new(rules.segments, rules.segment_blocks)
            },
            activity: Activity::Idle,
            window: Vec::new(),
            reading: None,
            stay: 0,
            destaged: None,
            shaker: None,
        };
        Self { params, state }
    }

    /// The same drive with the platter at `start_turns` (at least 0, below 1) at time 0: spindles of different drives do not
    /// turn in step.
    #[must_use]
    pub fn turned(mut self, start_turns: f64) -> Self {
        self.state.start_turns = start_turns;
        self.state.phase = start_turns;
        self
    }

    /// The same drive, shaken.
    #[must_use]
    pub fn shaken(mut self, shaker: Option<Shaker>) -> Self {
        self.state.shaker = shaker.map(Box::new);
        self
    }

    /// Return the source of vibration.
    #[must_use]
    pub fn shaker(&self) -> Option<&Shaker> {
        self.state.shaker.as_deref()
    }

    /// The drive's description.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Serves a request of `sectors` 512-byte blocks from `lbn` on, given to the drive at `now_ns`.
    ///
    /// Requests are served one at a time: `now_ns` must not lie before the end of the one before (a smaller value counts
    /// as the time of that request's arrival). A request that reaches beyond the drive is cut to it, and one of no blocks
    /// counts as one block; callers that care check before. Never panics.
    pub fn serve(&mut self, now_ns: u64, op: Op, lbn: u64, sectors: u32) -> Service {
        let params = &*self.params;
        let lbn = lbn.min(params.capacity_sectors() - 1);
        let end = (lbn + u64::from(sectors.max(1))).min(params.capacity_sectors());
        let now_ns = self.state.begin(params, now_ns);
        self.state.serve(params, op, lbn, end, Lead::NONE).service(now_ns)
    }

    /// Serves a request at `now_ns` in a drive that overlaps them: from the buffer at any time, else with the arm free.
    pub fn serve_at(&mut self, now_ns: u64, given: Given, op: Op, lbn: u64, sectors: u32) -> Service {
        let params = &*self.params;
        let lbn = lbn.min(params.capacity_sectors() - 1);
        let end = (lbn + u64::from(sectors.max(1))).min(params.capacity_sectors());
        let now_ns = self.state.begin(params, now_ns);
        let from_now = |time_ns: u64| time_ns as f64 - now_ns as f64;
        let lead = Lead {
            waited: -from_now(given.since_ns),
            bus_free: from_now(given.bus_free_ns),
            arm_free: from_now(given.arm_free_ns),
            data_from: given.data_from_ns.map(from_now),
            is_alone: given.is_alone,
        };
        self.state.serve(params, op, lbn, end, lead).service(now_ns)
    }

    /// Brings the arm's own work up to `now_ns`.
    pub fn advance_to(&mut self, now_ns: u64) {
        self.state.begin(&self.params, now_ns);
    }

    /// Whether the buffer holds all of these blocks, as far as the drive was advanced.
    #[must_use]
    pub fn holds(&self, lbn: u64, end: u64) -> bool {
        self.params.rules.caching && self.state.buffer.find(lbn, end).is_some_and(|segment| self.state.buffer.has_all(segment, end))
    }

    /// The ranges that the buffer has come to hold.
    pub(super) fn news(&self) -> &News {
        self.state.buffer.news()
    }

    /// Until when the arm had better continue with the read-ahead of a stream, however near another request is; `None` when it may leave.
    #[must_use]
    pub fn stays_until_ns(&self) -> Option<u64> {
        let Activity::ReadAhead { cursor, limit, .. } = self.state.activity else { return None };
        let left = self.state.stay.min(limit).checked_sub(cursor.next).filter(|left| *left > 0)?;
        let until = cursor.start_at + left as f64 * cursor.sector_ns(&self.params);
        Some(self.state.base_ns + until.fast_max(1.0) as u64 + 1)
    }

    /// Until when the arm reads ahead, if nothing stops it.
    #[must_use]
    pub fn reads_until_ns(&self) -> Option<u64> {
        let Activity::ReadAhead { cursor, limit, .. } = self.state.activity else { return None };
        let until = cursor.start_at + limit.saturating_sub(cursor.next) as f64 * cursor.sector_ns(&self.params);
        Some(self.state.base_ns + until.fast_max(1.0) as u64 + 1)
    }

    /// Whether a read continues with what the arm is reading.
    #[must_use]
    pub fn joins(&self, lbn: u64) -> bool {
        match self.state.activity {
            Activity::ReadAhead { cursor, segment, .. } => (self.state.buffer.segment(segment).start..=cursor.next).contains(&lbn),
            _ => false,
        }
    }

    /// Whether a segment of the buffer ends where a block begins.
    #[must_use]
    pub fn ends_segment(&self, lbn: u64) -> bool {
        let buffer = &self.state.buffer;
        let before = lbn.checked_sub(1).filter(|_| self.params.rules.caching);
        before.and_then(|last| buffer.find(last, lbn)).is_some_and(|segment| buffer.segment(segment).end == lbn)
    }

    /// Forgets what the buffer holds of blocks that were written.
    pub fn forget_written(&mut self, lbn: u64, end: u64) {
        self.state.buffer.drop_overlapping(lbn, end, usize::MAX);
    }

    /// Writes blocks from the drive's write cache to the media, with the arm free at `now_ns`. Returns when they are there.
    pub fn destage(&mut self, now_ns: u64, lbn: u64, end: u64) -> u64 {
        let params = &*self.params;
        let now_ns = self.state.begin(params, now_ns);
        now_ns + (self.state.destage(params, lbn, end) + 0.5) as u64
    }

    /// Command overhead of a request.
    #[must_use]
    pub fn overhead_ns(&self, op: Op) -> u64 {
        let timing = &self.params.timing;
        let overhead = if op == Op::Read { timing.read_miss } else { timing.write };
        overhead.after(self.state.previous) as u64
    }

    /// Time of some blocks on the bus.
    #[must_use]
    pub fn bus_ns(&self, op: Op, blocks: u64) -> u64 {
        let block_ns = if op == Op::Read { self.params.timing.read_block } else { self.params.timing.write_block };
        (blocks as f64 * block_ns + 0.5) as u64
    }

    /// Blocks of a segment of the buffer.
    #[must_use]
    pub fn segment_blocks(&self) -> u64 {
        self.params.rules.segment_blocks
    }

    /// Cylinder of a block; blocks beyond the drive count as its last.
    #[must_use]
    pub fn cylinder_of(&self, lbn: u64) -> u32 {
        self.params.layout.cylinder_of(lbn)
    }

    /// Cylinder the arm stands at or is moving to at `now_ns`, read-ahead included.
    #[must_use]
    pub fn arm_cylinder(&self, now_ns: u64) -> u32 {
        self.arm_now(now_ns).position.cylinder
    }

    /// Angle of the platter under the heads at `now_ns`, in turns: at least 0, below 1.
    #[must_use]
    pub fn angle_turns(&self, now_ns: u64) -> f64 {
        self.state.turned(self.params.spindle.angle_turns(now_ns))
    }
}

impl State {
    fn serve(&mut self, params: &Params, op: Op, lbn: u64, end: u64, lead: Lead) -> Outcome {
        let outcome = match op {
            Op::Read => self.read(params, lbn, end, lead),
            Op::Write | Op::Trim => self.write(params, lbn, end, lead),
        };
        self.previous = op;
        outcome
    }

    /// Angle where the platter alone, from time 0 on, has turned by `turns`.
    fn turned(&self, turns: f64) -> f64 {
        let turns = turns + self.start_turns;
        if turns < 1.0 { turns } else { turns - 1.0 }
    }

    /// Makes `now_ns` the base moment and brings the arm's own work up to it.
    fn begin(&mut self, params: &Params, now_ns: u64) -> u64 {
        let now_ns = now_ns.max(self.base_ns);
        let passed_ns = now_ns - self.base_ns;
        let passed = passed_ns as f64;
        self.base_ns = now_ns;
        self.parts = params.spindle.parts_after(self.parts, passed_ns, now_ns);
        self.phase = self.turned(params.spindle.turns_of(self.parts));
        match &mut self.activity {
            Activity::Idle => {}
            Activity::Writing(stream) => {
                stream.first_at -= passed;
                stream.end_at -= passed;
                if stream.end_at <= 0.0 {
                    let segment = stream.segment;
                    self.finish_write(params, segment);
                }
            }
            Activity::ReadAhead { cursor, segment, limit } => {
                cursor.arrive_at -= passed;
                cursor.start_at -= passed;
                cursor.advance(params, self.phase, 0.0, *limit, shaken(&mut self.shaker, now_ns));
                self.position = Position::on(&cursor.track);
                self.buffer.fill(*segment, cursor.next);
                if cursor.next >= *limit {
                    self.buffer.close(*segment);
                    self.activity = Activity::Idle;
                }
            }
        }
        now_ns
    }

    /// The arm has finished an early write.
    pub(super) fn finish_write(&mut self, params: &Params, segment: usize) {
        if !params.rules.reads_hit_written {
            self.buffer.clear(segment);
        }
        self.activity = Activity::Idle;
    }
}

/// Return the source of vibration, with the origin of its times.
pub(super) fn shaken(shaker: &mut Option<Box<Shaker>>, base_ns: u64) -> Shaken<'_> {
    Shaken { by: shaker.as_deref_mut(), base_ns }
}

impl Outcome {
    /// Rounds to whole nanoseconds so that the phases add up to the response exactly: each is cut, and what is missing
    /// goes to the largest.
    fn service(self, now_ns: u64) -> Service {
        let total = (self.done + 0.5) as u64;
        let mut phases = [self.overhead, self.wait, self.seek, self.rotation, self.retry, self.media, self.bus].map(|phase| phase as u64);
        let mut largest = 0;
        for index in 1..phases.len() {
            if phases[index] > phases[largest] {
                largest = index;
            }
        }
        let others = phases.iter().sum::<u64>() - phases[largest];
        phases[largest] = total.saturating_sub(others);
        let [overhead_ns, wait_ns, seek_ns, rotation_ns, retry_ns, media_ns, bus_ns] = phases;
        Service {
            done_ns: now_ns.saturating_add(total),
            free_ns: now_ns.saturating_add(total.max((self.free + 0.5) as u64)),
            arm_free_ns: now_ns.saturating_add((self.arm.fast_max(0.0) + 0.5) as u64),
            overhead_ns,
            wait_ns,
            seek_ns,
            rotation_ns,
            retry_ns,
            media_ns,
            bus_ns,
            buffer_hit: self.hit,
        }
    }
}
