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
//! Left out: several early writes waiting in the buffer at once (a second one that does not continue the first waits for
//! the arm), a stalled read when the bus is slower than the media and the request larger than its segment, and the extra
//! disconnect of some drives during writes apart from the blocks it makes a write wait for.

use std::sync::Arc;

use super::buffer::Buffer;
use super::params::{Params, ReadAhead};
use super::transfer::{Cursor, Feed, Position, Spent, Supply, WriteStart, angle, reposition_at_least_ns, reposition_ns, write_blocks};
use super::{Hit, Op, Service};

/// Drives with the extra write disconnect begin to write when so many blocks are buffered (or all, if fewer) ...
const HELD_BLOCKS: u64 = 10;
/// ... or so many for a long request ...
const HELD_BLOCKS_LONG: u64 = 15;
/// ... which is one of at least so many blocks.
const LONG_WRITE_BLOCKS: u64 = 45;

/// Largest segment, in blocks, for which a write larger than it is held up by the media. Beyond it the buffer counts as
/// unlimited; requests are never that large.
const LARGEST_WINDOW: u64 = 65_535;

/// An early-reported write on its way to the media.
#[derive(Clone, Copy, Debug)]
struct Stream {
    segment: usize,
    /// First block of the first write, and when its sector began.
    first: u64,
    first_at: f64,
    /// One past the last block, and when its sector ends.
    end: u64,
    end_at: f64,
}

/// What the arm does on its own.
#[derive(Clone, Copy, Debug)]
enum Activity {
    Idle,
    /// Reads on into a segment up to before block `limit`.
    ReadAhead {
        cursor: Cursor,
        segment: usize,
        limit: u64,
    },
    Writing(Stream),
}

/// A place to be reached, worked out once for each queued request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub cylinder: u32,
    pub head: u32,
    /// Angle of the sector's start, in turns.
    pub angle: f64,
    /// Counter of its first block in the buffer's index.
    counter: usize,
}

/// When a request can start that is given to the drive now, relative to the base.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// When the command's overhead is over.
    from: f64,
    /// When the arm is free as well.
    arm_at: f64,
}

/// The arm at one moment, for estimates.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmNow {
    pub position: Position,
    /// When a command's overhead would be over and when the arm can then start, relative to the base: for a read and for a write.
    starts: [Start; 2],
    /// The segment being filled and one past its last block.
    filling: Option<(usize, u64)>,
}

/// Result of a request before rounding, in ns from its arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    done: f64,
    free: f64,
    overhead: f64,
    wait: f64,
    seek: f64,
    rotation: f64,
    media: f64,
    bus: f64,
}

#[derive(Clone, Debug)]
struct State {
    /// The moment that all `f64` times count from: the arrival of the latest request.
    base_ns: u64,
    /// Angle at that moment, in turns.
    phase: f64,
    /// Angle at time 0, in turns.
    start_turns: f64,
    position: Position,
    previous: Op,
    buffer: Buffer,
    activity: Activity,
    /// Room for the times of a write larger than its segment.
    window: Vec<f64>,
}

/// One hard disk with its mechanical and buffer state. Deterministic: the same calls give the same results on every target.
#[derive(Clone, Debug)]
pub struct Hdd {
    params: Arc<Params>,
    state: State,
}

impl Hdd {
    /// A drive at time 0: the arm at the first cylinder, the buffer empty.
    #[must_use]
    pub fn new(params: Arc<Params>) -> Self {
        let rules = &params.rules;
        let window = if rules.segment_blocks <= LARGEST_WINDOW { rules.segment_blocks as usize } else { 0 };
        let state = State {
            base_ns: 0,
            phase: 0.0,
            start_turns: 0.0,
            position: Position { cylinder: params.zones()[0].first_cylinder(), head: 0 },
            previous: Op::Read,
            buffer: Buffer::new(rules.segments, rules.segment_blocks),
            activity: Activity::Idle,
            window: vec![0.0; window],
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

    /// The drive's description.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Serves a request of `sectors` 512-byte blocks from `lbn` on, given to the drive at `now_ns`.
    ///
    /// Requests are served one at a time: `now_ns` must not lie before the end of the one before (a smaller value counts
    /// as the time of that request's arrival). A request that reaches beyond the drive is cut to it, and one of no blocks
    /// counts as one block; callers that care check before. Never panics, never allocates.
    pub fn serve(&mut self, now_ns: u64, op: Op, lbn: u64, sectors: u32) -> Service {
        let params = &*self.params;
        let lbn = lbn.min(params.capacity_sectors() - 1);
        let end = (lbn + u64::from(sectors.max(1))).min(params.capacity_sectors());
        let now_ns = self.state.begin(params, now_ns);
        let (outcome, hit) = match op {
            Op::Read => self.state.read(params, lbn, end),
            Op::Write => (self.state.write(params, lbn, end, params.rules.early_writes), Hit::Miss),
        };
        self.state.previous = op;
        outcome.service(now_ns, hit)
    }

    /// Serves a write as [`Hdd::serve`] does, but it is done only when it is on the media, also in a drive that reports early.
    pub fn serve_through(&mut self, now_ns: u64, lbn: u64, sectors: u32) -> Service {
        let params = &*self.params;
        let lbn = lbn.min(params.capacity_sectors() - 1);
        let end = (lbn + u64::from(sectors.max(1))).min(params.capacity_sectors());
        let now_ns = self.state.begin(params, now_ns);
        let outcome = self.state.write(params, lbn, end, false);
        self.state.previous = Op::Write;
        outcome.service(now_ns, Hit::Miss)
    }

    /// When everything that was written is on the media, if a FLUSH is given to the drive at `now_ns`: its command overhead, then what is
    /// left of an early-reported write.
    pub fn flushed_ns(&mut self, now_ns: u64) -> u64 {
        let params = &*self.params;
        let now_ns = self.state.begin(params, now_ns);
        let command = params.timing.write.after(self.state.previous);
        let done = if let Activity::Writing(stream) = self.state.activity { command.max(stream.end_at) } else { command };
        now_ns + done as u64
    }

    /// Estimated positioning time in ns if the request were given to the drive at `now_ns`: what is left of an early write,
    /// then move, settling and rotational wait, with the platter turning on during the command overhead, which itself is
    /// not counted. 0 for a read whose first block is in the buffer. Changes nothing.
    #[must_use]
    pub fn positioning_ns(&self, now_ns: u64, op: Op, lbn: u64) -> u64 {
        let ns = self.positioning_to(&self.arm_now(now_ns), op, lbn, &self.target(lbn), f64::INFINITY);
        ns.unwrap_or_default() as u64
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
        self.state.angle_turns(&self.params, now_ns)
    }

    pub(super) fn target(&self, lbn: u64) -> Target {
        let layout = &self.params.layout;
        let lbn = lbn.min(layout.capacity() - 1);
        let track = layout.track_of(lbn);
        let (sector, _) = layout.run(&track, lbn);
        Target { cylinder: track.cylinder, head: track.head, angle: angle(&track, sector), counter: self.state.buffer.counter(lbn) }
    }

    pub(super) fn arm_now(&self, now_ns: u64) -> ArmNow {
        let state = &self.state;
        let now = now_ns.saturating_sub(state.base_ns) as f64;
        let (mut position, mut filling, mut free_at) = (state.position, None, now);
        match state.activity {
            Activity::Idle => {}
            Activity::Writing(stream) => free_at = stream.end_at.max(now),
            Activity::ReadAhead { mut cursor, segment, limit } => {
                cursor.advance(&self.params, state.phase, now, limit);
                position = Position::on(&cursor.track);
                filling = Some((segment, cursor.next));
            }
        }
        let timing = &self.params.timing;
        let starts = [&timing.read_miss, &timing.write].map(|overhead| {
            let from = now + overhead.after(state.previous);
            Start { from, arm_at: free_at.max(from) }
        });
        ArmNow { position, starts, filling }
    }

    /// Positioning estimate in ns; see [`Hdd::positioning_ns`]. `None` when it is surely above `most`, which costs less to
    /// find out than the estimate: the move alone takes longer.
    pub(super) fn positioning_to(&self, arm: &ArmNow, op: Op, lbn: u64, target: &Target, most: f64) -> Option<f64> {
        let params = &*self.params;
        let state = &self.state;
        let Start { from, arm_at } = match op {
            Op::Read => {
                let filled = arm.filling.is_some_and(|(segment, end)| lbn < end && state.buffer.segment(segment).start <= lbn);
                if params.rules.caching && (filled || state.buffer.holds(lbn, target.counter)) {
                    return Some(0.0);
                }
                arm.starts[0]
            }
            Op::Write => arm.starts[1],
        };
        // The same sums in the same order as below, each of numbers that are not larger: rounding keeps the order.
        let distance = arm.position.cylinder.abs_diff(target.cylinder);
        if arm_at + reposition_at_least_ns(params, distance, op) - from > most {
            return None;
        }
        let to = Position { cylinder: target.cylinder, head: target.head };
        let mut moving = reposition_ns(params, arm.position, to, op);
        if op == Op::Write {
            moving = moving.max(params.timing.least_write_seek);
        }
        let arrive = arm_at + moving;
        Some(arrive + params.spindle.until_ns(state.phase, arrive, target.angle) - from)
    }
}

impl State {
    fn angle_turns(&self, params: &Params, now_ns: u64) -> f64 {
        let turns = params.spindle.angle_turns(now_ns) + self.start_turns;
        if turns < 1.0 { turns } else { turns - 1.0 }
    }

    /// Makes `now_ns` the base moment and brings the arm's own work up to it.
    fn begin(&mut self, params: &Params, now_ns: u64) -> u64 {
        let now_ns = now_ns.max(self.base_ns);
        let passed = (now_ns - self.base_ns) as f64;
        self.base_ns = now_ns;
        self.phase = self.angle_turns(params, now_ns);
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
                cursor.advance(params, self.phase, 0.0, *limit);
                self.position = Position::on(&cursor.track);
                self.buffer.fill(*segment, cursor.next);
                if cursor.next >= *limit {
                    self.activity = Activity::Idle;
                }
            }
        }
        now_ns
    }

    /// The arm has finished an early write.
    fn finish_write(&mut self, params: &Params, segment: usize) {
        if !params.rules.reads_hit_written {
            self.buffer.clear(segment);
        }
        self.activity = Activity::Idle;
    }

    /// Stops a read-ahead; returns how long the arm is still bound.
    fn stop_read_ahead(&mut self, params: &Params) -> f64 {
        let Activity::ReadAhead { cursor, segment, .. } = self.activity else { return 0.0 };
        self.activity = Activity::Idle;
        let moving = cursor.arrive_at.max(0.0);
        if params.rules.stop_mid_sector || moving > 0.0 {
            moving
        } else if cursor.start_at > 0.0 {
            cursor.start_at
        } else {
            self.buffer.fill(segment, cursor.next + 1);
            (cursor.start_at + cursor.sector_ns(params)).max(0.0)
        }
    }

    fn filling(&self) -> Option<usize> {
        match self.activity {
            Activity::ReadAhead { segment, .. } => Some(segment),
            _ => None,
        }
    }

    /// One past the last block to read ahead after a request that ends before `end`, in a segment.
    fn read_ahead_limit(&self, params: &Params, end: u64, segment: usize) -> u64 {
        let layout = &params.layout;
        let limit = match params.rules.read_ahead {
            ReadAhead::None => 0,
            ReadAhead::Track => layout.track_of(end - 1).end,
            ReadAhead::Cylinder => {
                let mut track = layout.track_of(end - 1);
                let cylinder = track.cylinder;
                let mut limit = track.end;
                while limit < layout.capacity() {
                    track = layout.track_of(limit);
                    if track.cylinder != cylinder {
                        break;
                    }
                    limit = track.end;
                }
                limit
            }
            ReadAhead::Blocks(most) => end + most,
            ReadAhead::Tracks if end < layout.capacity() => {
                let track = layout.track_of(end);
                if self.buffer.segment(segment).start < track.first && track.end < layout.capacity() {
                    layout.track_of(track.end).end
                } else {
                    track.end
                }
            }
            ReadAhead::Tracks => end,
        };
        limit.min(layout.capacity())
    }

    fn read(&mut self, params: &Params, lbn: u64, end: u64) -> (Outcome, Hit) {
        let timing = &params.timing;
        let rules = &params.rules;
        let block_ns = timing.read_block;
        let transfer = (end - lbn) as f64 * block_ns;
        let command = timing.read_miss.after(self.previous);
        let mut release = command + timing.read_disconnect.after(self.previous);
        let mut arm_from = command;
        let mut hit_from = timing.read_hit.after(self.previous) + timing.preparation;
        let mut out = Outcome::default();
        if let Activity::Writing(stream) = self.activity {
            arm_from = command.max(stream.end_at);
            out.wait = arm_from - command;
            hit_from = arm_from + timing.reselect + timing.preparation;
            self.finish_write(params, stream.segment);
        }

        let filling = self.filling();
        let found = if rules.caching { self.buffer.find(lbn, end).or_else(|| self.almost_hit(params, lbn)) } else { None };
        // Anything but a read of what is just being read ahead needs the arm.
        let stopping = if filling.is_some() && found != filling { self.stop_read_ahead(params) } else { 0.0 };
        arm_from += stopping;
        hit_from += stopping;
        release += stopping;

        let segment = match found {
            Some(segment) if self.buffer.segment(segment).end >= end => {
                self.buffer.touch(segment);
                self.after_full_hit(params, segment, end, filling, arm_from);
                out.overhead = hit_from - out.wait + timing.read_completion;
                out.bus = transfer;
                out.done = hit_from + transfer + timing.read_completion;
                out.free = out.done;
                self.forget(params, segment, end);
                return (out, Hit::Full);
            }
            Some(segment) => {
                self.buffer.touch(segment);
                segment
            }
            None => self.buffer.take_for_read(lbn, filling),
        };

        // Read what is missing.
        let mut spent = Spent::default();
        let underway = if let Activity::ReadAhead { cursor, .. } = self.activity { Some(cursor) } else { None };
        let moves_from = if underway.is_some() { 0.0 } else { arm_from };
        let mut cursor =
            underway.unwrap_or_else(|| Cursor::seek(params, self.phase, self.position, arm_from, self.buffer.segment(segment).end));
        // What of moving and waiting already lies behind does not count.
        let arrive_at = cursor.arrive_at.max(moves_from);
        spent.seek = arrive_at - moves_from;
        spent.rotation = (cursor.start_at - arrive_at).max(0.0);
        let free_from = if rules.free_blocks && found.is_none() { free_blocks(params, &cursor) } else { lbn };
        let held = cursor.next - lbn;
        let water = watermark(params, end - lbn);
        let mut feed = Feed::new(block_ns, if found.is_some() { water.saturating_sub(held) } else { water });
        let read_at = cursor.read_until(params, self.phase, end, &mut feed, &mut spent);
        self.position = Position::on(&cursor.track);
        self.buffer.extend_front(segment, free_from);
        self.buffer.fill(segment, end);
        self.start_read_ahead(params, cursor, segment, end);
        self.forget(params, segment, end);

        // The bus: from `connect` on, and never before a block is read.
        let connect = match (found.is_some(), rules.never_disconnect) {
            (true, _) if rules.partial_at_once => hit_from,
            (true, _) => hit_from.max(feed.water_at),
            (false, true) => arm_from + timing.preparation,
            (false, false) => feed.water_at.max(release) + timing.reselect + timing.preparation,
        };
        let sent_at = feed.done_at.max(connect + transfer);
        out.done = sent_at + timing.read_completion;
        out.free = out.done;
        if found.is_some() && feed.done_at < connect + transfer {
            out.overhead = hit_from - out.wait + timing.read_completion;
            out.bus = sent_at - hit_from;
        } else {
            out.overhead = (moves_from - out.wait).max(0.0) + timing.read_completion;
            out.seek = spent.seek;
            out.rotation = spent.rotation;
            out.media = spent.media;
            out.bus = sent_at - read_at;
        }
        (out, if found.is_some() { Hit::Partial } else { Hit::Miss })
    }

    /// The segment being filled, if the block just being read ahead is `lbn` and the drive counts that as a hit.
    fn almost_hit(&self, params: &Params, lbn: u64) -> Option<usize> {
        match self.activity {
            Activity::ReadAhead { cursor, segment, .. } if params.rules.almost_hits && cursor.next == lbn => Some(segment),
            _ => None,
        }
    }

    /// Read-ahead after a full hit: the one in progress gets a new limit, an idle arm may start again.
    fn after_full_hit(&mut self, params: &Params, segment: usize, end: u64, filling: Option<usize>, arm_from: f64) {
        // A read-ahead elsewhere was just stopped, which leaves the arm idle as well.
        let idle = filling != Some(segment);
        if idle && !params.rules.read_ahead_on_idle_hit {
            return;
        }
        let new_limit = self.read_ahead_limit(params, end, segment);
        match &mut self.activity {
            Activity::ReadAhead { limit, .. } => *limit = new_limit.max(*limit),
            Activity::Idle if idle => {
                let next = self.buffer.segment(segment).end;
                if next >= new_limit {
                    return;
                }
                let cursor = Cursor::seek(params, self.phase, self.position, arm_from, next);
                self.activity = Activity::ReadAhead { cursor, segment, limit: new_limit };
            }
            _ => {}
        }
    }

    /// Reads on after a request that ends before `end`.
    fn start_read_ahead(&mut self, params: &Params, cursor: Cursor, segment: usize, end: u64) {
        let mut new_limit = self.read_ahead_limit(params, end, segment);
        if let Activity::ReadAhead { limit, .. } = self.activity {
            new_limit = new_limit.max(limit);
        }
        self.activity = if cursor.next < new_limit { Activity::ReadAhead { cursor, segment, limit: new_limit } } else { Activity::Idle };
    }

    /// Drops a request's data after it was sent, in drives that do not keep it.
    fn forget(&mut self, params: &Params, segment: usize, end: u64) {
        if params.rules.forget_requested {
            self.buffer.forget_before(segment, end);
        }
    }

    fn write(&mut self, params: &Params, lbn: u64, end: u64, early: bool) -> Outcome {
        let timing = &params.timing;
        let rules = &params.rules;
        let blocks = end - lbn;
        let command = timing.write.after(self.previous);
        let mut out = Outcome::default();
        let mut arm_from = command;
        let mut bus_from = command + timing.preparation;
        let mut joined: Option<Stream> = None;
        match self.activity {
            Activity::Idle => {}
            Activity::ReadAhead { .. } => {
                let stopping = self.stop_read_ahead(params);
                arm_from += stopping;
                bus_from += stopping;
            }
            Activity::Writing(stream) if rules.append_writes && stream.end == lbn => {
                arm_from = stream.end_at;
                joined = Some(stream);
            }
            Activity::Writing(stream) => {
                arm_from = command.max(stream.end_at);
                out.wait = arm_from - command;
                bus_from = arm_from + timing.reselect + timing.preparation;
                self.finish_write(params, stream.segment);
            }
        }
        let segment = match joined {
            Some(stream) => {
                self.buffer.drop_overlapping(lbn, end, stream.segment);
                self.buffer.fill(stream.segment, end);
                self.buffer.touch(stream.segment);
                stream.segment
            }
            None => self.buffer.take_for_write(lbn, end),
        };

        let (first_at, step) = joined.map_or((bus_from + timing.write_block, timing.write_block), |stream| {
            stream.supply(bus_from, timing.write_block, lbn, blocks, rules.segment_blocks)
        });
        let larger = blocks > rules.segment_blocks;
        let mut supply = Supply::new(first_at, step, if larger { &mut self.window } else { &mut [] });
        let held = if blocks >= LONG_WRITE_BLOCKS { HELD_BLOCKS_LONG } else { blocks.min(HELD_BLOCKS) };
        let start = WriteStart {
            from: self.position,
            at: arm_from,
            least_move: if joined.is_some() { 0.0 } else { timing.least_write_seek },
            hold_until: if rules.hold_writes { first_at + (held - 1) as f64 * step } else { f64::NEG_INFINITY },
        };
        let written = write_blocks(params, self.phase, start, lbn, blocks, &mut supply);
        let buffered_at = supply.end_at(blocks);
        self.position = written.position;

        if early {
            let transfer = blocks as f64 * timing.write_block;
            out.done = buffered_at + timing.write_completion;
            out.free = out.done.max(written.end_at);
            out.overhead = bus_from - out.wait + timing.write_completion;
            out.bus = transfer;
            // What the transfer took beyond its own time it waited for room in the segment.
            out.wait += (buffered_at - bus_from - transfer).max(0.0);
            let (first, first_at) = joined.map_or((lbn, written.start_at), |stream| (stream.first, stream.first_at));
            self.activity = Activity::Writing(Stream { segment, first, first_at, end, end_at: written.end_at });
        } else {
            let reselect = if rules.never_disconnect { 0.0 } else { timing.reselect };
            let ready_at = written.end_at.max(buffered_at + timing.write_disconnect) + reselect;
            out.done = ready_at + timing.write_completion;
            out.free = out.done;
            out.overhead = arm_from - out.wait + timing.write_completion;
            out.seek = written.spent.seek;
            out.rotation = written.spent.rotation;
            out.media = written.spent.media;
            out.bus = ready_at - written.end_at;
            self.finish_write(params, segment);
        }
        out
    }
}

impl Stream {
    /// When the first block of a joining write is in the buffer, and the time between its blocks. A block can enter only
    /// when the one a segment before it is on the media; the blocks before are taken as evenly spread over the time since
    /// the stream began. Exact for the first and the last block.
    fn supply(&self, bus_from: f64, block_ns: f64, lbn: u64, blocks: u64, segment_blocks: u64) -> (f64, f64) {
        let rate = (self.end_at - self.first_at) / (self.end - self.first).max(1) as f64;
        let room_at = |block: u64| match (block + 1).checked_sub(segment_blocks) {
            Some(needed) if needed > self.first => self.end_at - self.end.saturating_sub(needed) as f64 * rate,
            _ => f64::NEG_INFINITY,
        };
        let first_at = bus_from.max(room_at(lbn)) + block_ns;
        if blocks == 1 {
            return (first_at, block_ns);
        }
        let more = (blocks - 1) as f64;
        let last_at = (first_at + more * block_ns).max(room_at(lbn + blocks - 1) + block_ns);
        (first_at, (last_at - first_at) / more)
    }
}

/// Blocks that must be buffered before a missed read of `blocks` blocks takes the bus again.
fn watermark(params: &Params, blocks: u64) -> u64 {
    let rules = &params.rules;
    let fits = blocks.min(rules.segment_blocks);
    let of = if rules.water_by_request { fits } else { rules.segment_blocks };
    ((rules.high_water * of as f64) as u64).clamp(1, fits)
}

/// First of the blocks before the wanted one that pass under the head while it waits on its track.
fn free_blocks(params: &Params, cursor: &Cursor) -> u64 {
    let passed = ((cursor.start_at - cursor.arrive_at) / cursor.sector_ns(params)) as u64;
    cursor.next - passed.min(cursor.next - cursor.track.first)
}

impl Outcome {
    /// Rounds to whole nanoseconds so that the phases add up to the response exactly: each is cut, and what is missing
    /// goes to the largest.
    fn service(self, now_ns: u64, hit: Hit) -> Service {
        let total = (self.done + 0.5) as u64;
        let mut phases = [self.overhead, self.wait, self.seek, self.rotation, self.media, self.bus].map(|phase| phase as u64);
        let mut largest = 0;
        for index in 1..phases.len() {
            if phases[index] > phases[largest] {
                largest = index;
            }
        }
        let others = phases.iter().sum::<u64>() - phases[largest];
        phases[largest] = total.saturating_sub(others);
        let [overhead_ns, wait_ns, seek_ns, rotation_ns, media_ns, bus_ns] = phases;
        Service {
            done_ns: now_ns.saturating_add(total),
            free_ns: now_ns.saturating_add(total.max((self.free + 0.5) as u64)),
            overhead_ns,
            wait_ns,
            seek_ns,
            rotation_ns,
            media_ns,
            bus_ns,
            buffer_hit: hit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{desktop, drive_of, small_drive_with, small_hdd};
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const MS: u64 = 1_000_000;

    fn ms(value: u64) -> f64 {
        value as f64 / MS as f64
    }

    fn buffer(key: &str) -> String {
        format!("/electronics_and_buffer/{key}")
    }

    fn sum(service: &Service) -> u64 {
        service.overhead_ns + service.wait_ns + service.seek_ns + service.rotation_ns + service.media_ns + service.bus_ns
    }

    #[test]
    fn a_missed_read_takes_overhead_seek_rotation_and_media_one_after_another() {
        let mut hdd = small_hdd(&[]);
        // Cylinder 1, head 0, sector 50: the skews put its start at (10 + 20 + 50) / 100 of a turn.
        let service = hdd.serve(0, Op::Read, 250, 10);
        assert_eq!(service.buffer_hit, Hit::Miss);
        assert_eq!(service.overhead_ns, 300_000);
        assert_eq!(service.seek_ns, MS);
        assert!((ms(service.rotation_ns) - (8.0 - 1.3)).abs() < 1e-5);
        assert!((ms(service.media_ns) - 1.0).abs() < 1e-5);
        assert_eq!(service.done_ns, sum(&service));
    }

    #[test]
    fn the_platter_turns_on_during_pauses() {
        let done = |at: u64| small_hdd(&[]).serve(at, Op::Read, 250, 10).done_ns;
        // Nine milliseconds later, but the same sector passes only one turn later.
        assert!(done(0) < done(6 * MS) + 2 && done(6 * MS) < done(0) + 2);
        assert!((ms(done(9 * MS)) - ms(done(0)) - 10.0).abs() < 1e-5);
    }

    #[test]
    fn skew_saves_the_turn_that_a_track_switch_would_cost() {
        let read = |skew: u32| {
            let mut hdd = small_hdd(&[
                ("/layout/Zones/0/Skew for track switch", json!(skew)),
                ("/layout/Zones/0/Skew for cylinder switch", json!(20)),
            ]);
            hdd.serve(0, Op::Read, 90, 20)
        };
        // Five sectors pass during the head switch of 0.5 ms.
        assert!((ms(read(5).done_ns) - (9.0 + 1.0 + 0.5 + 1.0)).abs() < 1e-5);
        assert!((ms(read(10).done_ns) - (9.0 + 1.0 + 1.0 + 1.0)).abs() < 1e-5);
        assert!((ms(read(4).done_ns) - (9.0 + 1.0 + 10.4 + 1.0)).abs() < 1e-5);
    }

    #[test]
    fn head_switch_and_arm_move_in_parallel_and_writes_settle_in_addition() {
        let changes = [("/mechanics/Add. write settling delay", json!(0.25))];
        let seek = |op: Op, lbn: u64| ms(small_hdd(&changes).serve(0, op, lbn, 1).seek_ns);
        assert!((seek(Op::Read, 100) - 0.5).abs() < 1e-9);
        assert!((seek(Op::Read, 300) - 1.0).abs() < 1e-9);
        assert!((seek(Op::Write, 100) - 0.75).abs() < 1e-9);
        assert!(seek(Op::Write, 0).abs() < 1e-9);
        let least = [(buffer("Minimum seek delay"), json!(0.6))];
        let least: Vec<(&str, Value)> = least.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        assert_eq!(small_hdd(&least).serve(0, Op::Write, 0, 1).seek_ns, 600_000);
    }

    fn small_with(settings: &[(&str, Value)]) -> Hdd {
        let keys: Vec<(String, Value)> = settings.iter().map(|(key, value)| (buffer(key), value.clone())).collect();
        let changes: Vec<(&str, Value)> = keys.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        small_hdd(&changes)
    }

    #[test]
    fn read_ahead_serves_the_next_read_from_the_buffer() {
        let mut plain = small_with(&[]);
        let mut ahead = small_with(&[("Buffer continuous read", json!(3))]);
        let first = ahead.serve(0, Op::Read, 0, 8);
        assert_eq!(plain.serve(0, Op::Read, 0, 8), first);
        let later = first.done_ns + 20 * MS;
        assert_eq!(plain.serve(later, Op::Read, 8, 8).buffer_hit, Hit::Miss);
        let hit = ahead.serve(later, Op::Read, 8, 8);
        assert_eq!((hit.buffer_hit, hit.done_ns - later), (Hit::Full, 200_000));
        // 32 blocks beyond the request, no more.
        assert_eq!(ahead.serve(later + MS, Op::Read, 40, 1).buffer_hit, Hit::Miss);
    }

    #[test]
    fn a_hit_lets_the_read_ahead_under_way_go_further() {
        // 32 blocks after the request, at a block in 0.1 ms: up to 252. A hit in between moves the limit to 258.
        let read_again = |pause: u64| {
            let mut hdd = small_with(&[("Buffer continuous read", json!(3))]);
            let done = hdd.serve(0, Op::Read, 210, 10).done_ns;
            assert_eq!(hdd.serve(done + pause, Op::Read, 220, 6).buffer_hit, Hit::Full);
            hdd.serve(done + 100 * MS, Op::Read, 255, 1).buffer_hit
        };
        assert_eq!(read_again(2 * MS), Hit::Full);
        assert_eq!(read_again(90 * MS), Hit::Miss, "what has ended is not taken up again");
    }

    #[test]
    fn read_ahead_stops_where_its_kind_says() {
        // The request ends in the middle of track 1 of 2 on cylinder 0; which of the following blocks are there later?
        let reach = |kind: u32| {
            let mut hdd = small_with(&[("Buffer continuous read", json!(kind)), ("Segment size (in blks)", json!(4000))]);
            let done = hdd.serve(0, Op::Read, 40, 10).done_ns;
            let (mut low, mut high) = (50, 1000);
            while low < high {
                let middle = u64::midpoint(low, high);
                let mut probe = hdd.clone();
                if probe.serve(done + 100 * MS, Op::Read, middle, 1).buffer_hit == Hit::Full {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        assert_eq!([reach(0), reach(1), reach(2), reach(3), reach(4)], [50, 100, 200, 82, 100]);
    }

    #[test]
    fn a_stream_reads_one_track_further_ahead() {
        let mut hdd = small_with(&[("Buffer continuous read", json!(4)), ("Segment size (in blks)", json!(4000))]);
        let done = hdd.serve(0, Op::Read, 90, 20).done_ns;
        assert_eq!(hdd.clone().serve(done + 100 * MS, Op::Read, 299, 1).buffer_hit, Hit::Full);
        assert_eq!(hdd.serve(done + 100 * MS, Op::Read, 300, 1).buffer_hit, Hit::Miss);
    }

    #[test]
    fn a_read_of_what_is_half_read_ahead_waits_only_for_the_rest() {
        let mut hdd = small_with(&[("Buffer continuous read", json!(3))]);
        let first = hdd.serve(0, Op::Read, 0, 8);
        // 1 ms later ten more sectors have passed.
        let now = first.done_ns + MS;
        let service = hdd.serve(now, Op::Read, 14, 10);
        assert_eq!(service.buffer_hit, Hit::Partial);
        assert!((ms(service.done_ns - now) - 0.6).abs() < 1e-5, "{service:?}");
        assert_eq!(sum(&service), service.done_ns - now);
    }

    #[test]
    fn blocks_that_pass_before_the_wanted_one_are_kept_when_free_blocks_are_read() {
        let hit = |free: u32| {
            let mut hdd = small_with(&[("Read any free blocks", json!(free))]);
            let done = hdd.serve(0, Op::Read, 50, 4).done_ns;
            hdd.serve(done + MS, Op::Read, 20, 4).buffer_hit
        };
        assert_eq!([hit(0), hit(1)], [Hit::Miss, Hit::Full]);
    }

    #[test]
    fn an_early_write_is_done_when_buffered_and_keeps_the_arm_busy() {
        let settings = [("Fast write level", json!(2)), ("Bulk sector transfer time", json!(0.02))];
        let mut hdd = small_with(&settings);
        let write = hdd.serve(0, Op::Write, 3000, 10);
        assert_eq!(write.done_ns, 300_000 + 10 * 20_000);
        assert!(write.free_ns > write.done_ns + MS);
        let read = hdd.serve(write.done_ns, Op::Read, 100, 1);
        assert!((read.wait_ns + read.overhead_ns + write.done_ns).abs_diff(write.free_ns) <= 1, "{read:?}");
        let mut waiting = small_with(&settings);
        waiting.serve(0, Op::Write, 3000, 10);
        let rested = waiting.serve(write.free_ns, Op::Read, 100, 1);
        assert_eq!(rested.wait_ns, 0);
    }

    #[test]
    fn a_write_that_continues_an_early_one_does_not_wait_for_the_arm() {
        let wait = |combine: u32| {
            let mut hdd = small_with(&[("Fast write level", json!(1)), ("Combine seq writes", json!(combine))]);
            let first = hdd.serve(0, Op::Write, 3000, 10);
            hdd.serve(first.done_ns, Op::Write, 3010, 10).wait_ns
        };
        assert!(wait(0) > MS);
        assert_eq!(wait(1), 0);
    }

    #[test]
    fn a_stream_of_early_writes_waits_for_room_in_its_segment() {
        let mut hdd = small_with(&[("Fast write level", json!(1))]);
        let mut now = 0;
        let mut waited = 0;
        for lbn in (0..1600).step_by(16) {
            let service = hdd.serve(now, Op::Write, lbn, 16);
            assert_eq!(sum(&service), service.done_ns - now);
            now = service.done_ns;
            waited += service.wait_ns;
        }
        // 1600 sectors of 0.1 ms, apart from the last 64 of them, cannot take less than their time on the media.
        assert!(now > 150 * MS, "{now}");
        assert!(waited > 50 * MS, "{waited}");
    }

    #[test]
    fn written_data_serve_reads_only_where_the_drive_allows_it() {
        let hit = |allow: u32, level: u32| {
            let mut hdd = small_with(&[("Allow read hits on write data", json!(allow)), ("Fast write level", json!(level))]);
            let write = hdd.serve(0, Op::Write, 10, 4);
            hdd.serve(write.free_ns, Op::Read, 10, 4).buffer_hit
        };
        assert_eq!([hit(0, 0), hit(0, 2), hit(1, 0), hit(1, 2)], [Hit::Miss, Hit::Miss, Hit::Full, Hit::Full]);
    }

    #[test]
    fn a_block_that_comes_too_late_over_the_bus_costs_a_turn() {
        let done = |bulk: f64, lbn: u64, blocks: u32| {
            ms(small_with(&[("Bulk sector transfer time", json!(bulk))]).serve(0, Op::Write, lbn, blocks).done_ns)
        };
        // Overhead 0.3 ms, then the bus; sector 4 comes by at 0.4 ms. A bus as fast as the media is just in time.
        assert!((done(0.1, 4, 8) - 1.2).abs() < 1e-5);
        assert!((done(0.101, 4, 8) - 11.2).abs() < 1e-5);
        // From sector 5 on, blocks 0 to 2 are in time (0.43, 0.56, 0.69 ms), block 3 is not (0.82 against 0.8 ms).
        assert!((done(0.13, 5, 3) - 0.8).abs() < 1e-5);
        assert!((done(0.13, 5, 8) - 11.3).abs() < 1e-5);
    }

    #[test]
    fn a_write_larger_than_its_segment_enters_the_buffer_as_the_media_make_room() {
        let mut hdd = small_with(&[("Segment size (in blks)", json!(4)), ("Bulk sector transfer time", json!(0.01))]);
        let service = hdd.serve(0, Op::Write, 0, 40);
        assert!((ms(service.done_ns) - 14.0).abs() < 1e-5, "{service:?}");
        // With a slow bus a block enters after its predecessor left: the ring of the segment is what limits it.
        let mut slow = small_with(&[("Segment size (in blks)", json!(1)), ("Bulk sector transfer time", json!(0.01))]);
        assert!(slow.serve(0, Op::Write, 0, 4).done_ns > 30 * MS);
    }

    #[test]
    fn the_watermark_delays_the_bus_until_enough_is_buffered() {
        let done = |mark: f64| {
            let settings = [("High (read) water mark", json!(mark)), ("Bulk sector transfer time", json!(0.05))];
            ms(small_with(&settings).serve(0, Op::Read, 0, 10).done_ns)
        };
        // The last block is read at 11 ms and then needs the bus; with the mark at the whole request all ten do.
        assert!((done(0.0) - 11.05).abs() < 1e-5);
        assert!((done(1.0) - 11.5).abs() < 1e-5);
    }

    #[test]
    fn overheads_follow_the_type_of_the_previous_request() {
        let mut hdd = small_with(&[("Read miss over. after write", json!(0.9))]);
        hdd.serve(0, Op::Write, 10, 1);
        assert_eq!(hdd.serve(100 * MS, Op::Read, 500, 1).overhead_ns, 900_000);
        assert_eq!(hdd.serve(200 * MS, Op::Read, 900, 1).overhead_ns, 300_000);
    }

    #[test]
    fn a_request_beyond_the_drive_is_cut() {
        let mut hdd = small_hdd(&[]);
        let last = hdd.params().capacity_sectors() - 1;
        let cut = hdd.clone().serve(0, Op::Read, u64::MAX, u32::MAX);
        assert_eq!(cut, hdd.serve(0, Op::Read, last, 1));
        assert_eq!(hdd.cylinder_of(u64::MAX), 30);
    }

    #[test]
    fn positioning_is_what_serving_then_takes() {
        let mut hdd = small_hdd(&[]);
        let mut now = 0;
        for lbn in [2500, 17, 1300, 4800, 4801, 0] {
            for op in [Op::Read, Op::Write] {
                let estimate = hdd.positioning_ns(now, op, lbn);
                let service = hdd.clone().serve(now, op, lbn, 1);
                if service.buffer_hit == Hit::Full {
                    assert_eq!(estimate, 0);
                } else {
                    assert!(estimate.abs_diff(service.seek_ns + service.rotation_ns) <= 2, "{lbn} {op:?}");
                }
            }
            now = hdd.serve(now, Op::Read, lbn, 1).done_ns + 3 * MS;
        }
    }

    #[test]
    fn random_small_reads_reach_what_seek_and_half_a_turn_allow() {
        let params = Arc::new(drive_of(&desktop()));
        let mut hdd = Hdd::new(Arc::clone(&params));
        let mut state = 1_u64;
        let mut now = 0;
        let requests = 4000;
        for _ in 0..requests {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let lbn = (state >> 11) % (params.capacity_sectors() - 8);
            now = hdd.serve(now, Op::Read, lbn, 8).done_ns;
        }
        let per_second = f64::from(requests) * 1e9 / now as f64;
        assert!((74.0..81.0).contains(&per_second), "{per_second}");
    }

    /// A drive with everything switched on or off at will.
    fn any_drive() -> impl Strategy<Value = Value> {
        let switches = [
            "Read any free blocks",
            "Read-ahead on idle hit",
            "Stop prefetch in sector",
            "Immed transfer partial hit",
            "Never disconnect",
            "Extra write disconnect",
            "Combine seq writes",
            "Allow read hits on write data",
            "Allow almost read hits",
            "Set watermark by reqsize",
        ];
        (
            prop::collection::vec(0_u32..2, switches.len()),
            (0_u32..3, 0_u32..5, 0_u32..3, -1_i32..2, 1_u32..4),
            (0.0..1.0_f64, 0.0..0.3_f64, -0.4..0.6_f64, 0.0..0.5_f64),
            (1_u32..90, 0_u32..200),
            (prop::sample::select(vec![0, 1, 3, 7, 8, 9]), 0_u32..2, prop::collection::vec(0_u32..900, 0..9), 1_u32..4),
        )
            .prop_map(move |(on, kinds, times, sizes, layout)| {
                let mut changes: Vec<(String, Value)> = switches.iter().zip(on).map(|(key, on)| (buffer(key), json!(on))).collect();
                let mut set = |key: &str, value: Value| changes.push((buffer(key), value));
                set("Enable caching in buffer", json!(kinds.0));
                set("Buffer continuous read", json!(kinds.1));
                set("Fast write level", json!(kinds.2));
                set("Read-ahead over requested", json!(kinds.3));
                set("Number of buffer segments", json!(kinds.4));
                set("High (read) water mark", json!(times.0));
                set("Bulk sector transfer time", json!(times.1));
                for key in ["Data preparation overhead", "First reselect overhead", "Write disconnect overhead"] {
                    set(key, json!(times.3));
                }
                for key in ["Read completion overhead", "Write completion overhead", "Minimum seek delay"] {
                    set(key, json!(times.3 / 2.0));
                }
                set("Segment size (in blks)", json!(sizes.0));
                set("Maximum read-ahead (blks)", json!(sizes.1));
                changes.push(("/mechanics/Add. write settling delay".to_owned(), json!(times.2)));
                changes.push(("/layout/Sparing scheme used".to_owned(), json!(layout.0)));
                changes.push(("/layout/LBN-to-PBN mapping scheme".to_owned(), json!(layout.1)));
                changes.push(("/layout/Zones/0/slips".to_owned(), json!(layout.2)));
                changes.push(("/layout/Zones/0/Number of spares".to_owned(), json!(4)));
                changes.push(("/layout/Rangesize for sparing".to_owned(), json!(layout.3)));
                let changes: Vec<(&str, Value)> = changes.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
                small_drive_with(&changes)
            })
    }

    proptest! {
        /// Whatever the drive and the requests: phases add up exactly, time moves on, estimates do not disturb.
        #[test]
        fn the_phases_of_every_request_add_up_exactly(
            drive in any_drive(),
            requests in prop::collection::vec((any::<bool>(), 0_u64..5700, 0_u32..120, 0_u64..30_000_000, 0_u32..3), 1..60),
        ) {
            let params = Arc::new(Params::from_drive_json(&drive.to_string()).expect("a sound drive"));
            let mut hdd = Hdd::new(params);
            let mut now = 7_200_000 * MS;
            let mut next = 0;
            for (write, lbn, sectors, pause, near) in requests {
                let op = if write { Op::Write } else { Op::Read };
                let (lbn, pause) = if near == 0 { (lbn, pause) } else { (next, if near == 1 { 0 } else { pause }) };
                let _estimate = hdd.positioning_ns(now, op, lbn);
                let service = hdd.serve(now, op, lbn, sectors);
                prop_assert_eq!(sum(&service), service.done_ns - now, "{:?}", service);
                prop_assert!(service.done_ns > now && service.free_ns >= service.done_ns);
                prop_assert!(service.done_ns - now < 60_000 * MS, "{:?}", service);
                now = service.done_ns + pause;
                next = lbn + u64::from(sectors.max(1));
            }
        }
    }
}
