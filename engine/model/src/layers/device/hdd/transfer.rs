//! The arm and the stream of sectors: when each block passes under a head, across tracks and cylinders.
//!
//! Rules as documented for DiskSim parameter files:
//! - moving to another track takes the longer of the arm's time and the head switch, which run in parallel; a write adds its
//!   settling, which may be negative;
//! - after that the head waits until the wanted sector's start comes by; sectors then follow each other;
//! - at a track's last block the move to the next track begins at once; the skew is there so that its first sector has not
//!   yet passed;
//! - slipped and spare sectors take their time;
//! - a block can be written only if it is in the buffer when its sector arrives, else it waits for whole turns.
//!
//! Times are `f64` nanoseconds relative to a base moment whose rotational angle is known exactly. Runs of consecutive
//! sectors are taken in one step, not sector by sector.
//!
//! Left out: reading or writing a track's wanted sectors out of order (no effect on completion in the reference).

use super::Op;
use super::geometry::Track;
use super::max::FastMax as _;
use super::params::Params;
use super::shake::Shaker;

/// Where the arm stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub cylinder: u32,
    pub head: u32,
}

impl Position {
    pub fn on(track: &Track) -> Self {
        Self { cylinder: track.cylinder, head: track.head }
    }
}

/// Time spent on the request, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub seek: f64,
    pub rotation: f64,
    pub retry: f64,
    pub media: f64,
}

/// The source of vibration of a disk, if there is one.
pub(super) struct Shaken<'a> {
    pub by: Option<&'a mut Shaker>,
    /// The base moment, in simulated time.
    pub base_ns: u64,
}

impl Shaken<'_> {
    /// A disk that is paused, or whose future is guessed.
    pub const NOT: Self = Self { by: None, base_ns: 0 };

    pub fn reborrow(&mut self) -> Shaken<'_> {
        Shaken { by: self.by.as_deref_mut(), base_ns: self.base_ns }
    }

    /// How long an attempt that begins at `at` is put off.
    fn lost_ns(&mut self, params: &Params, at: f64) -> f64 {
        self.by.as_mut().map_or(0.0, |by| by.lost_ns(self.base_ns as f64 + at, params.spindle.turn_ns()))
    }
}

/// Time to move between tracks, in ns; 0 on the same track.
pub(super) fn reposition_ns(params: &Params, from: Position, to: Position, op: Op) -> f64 {
    let mut ns = params.seek.ns(from.cylinder.abs_diff(to.cylinder));
    if from.head != to.head {
        ns = ns.fast_max(params.timing.head_switch);
    }
    match op {
        Op::Write if ns > 0.0 => (ns + params.timing.write_settle).fast_max(0.0),
        _ => ns,
    }
}

/// A time in ns that [`reposition_ns`] over so many cylinders surely takes.
pub(super) fn reposition_at_least_ns(params: &Params, distance: u32, op: Op) -> f64 {
    let ns = params.seek.at_least_ns(distance);
    match op {
        // A negative settling shortens a move; none at all it does not.
        Op::Write | Op::Trim => ns.min((ns + params.timing.write_settle).max(0.0)),
        Op::Read => ns,
    }
}

/// Angle at which a sector of a track starts, in turns; may exceed 1.
pub(super) fn angle(track: &Track, sector: u32) -> f64 {
    track.start_turns + f64::from(sector) / f64::from(track.sectors)
}

/// Blocks in flight from the buffer to the host: each goes once it is completely read and the block before has gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feed {
    /// Earliest end of the transfer as far as reading holds it up.
    pub done_at: f64,
    /// When the watermark was reached.
    pub water_at: f64,
    /// Blocks still to be read for the watermark.
    water: u64,
    block_ns: f64,
}

impl Feed {
    /// A transfer at `block_ns` a block whose watermark is reached with `water` blocks (0: at once).
    pub fn new(block_ns: f64, water: u64) -> Self {
        Self { done_at: f64::NEG_INFINITY, water_at: f64::NEG_INFINITY, water, block_ns }
    }

    /// Takes a run of `count` blocks, the first completely read at `first_at`, the others `step` apart. The transfer is held
    /// up by the first or by the last of them, whichever of reading and bus is slower.
    fn take(&mut self, first_at: f64, step: f64, count: u64) {
        let blocks = count as f64;
        let last_at = first_at + (blocks - 1.0) * step;
        self.done_at = (self.done_at.fast_max(first_at) + blocks * self.block_ns).fast_max(last_at + self.block_ns);
        if self.water > 0 {
            if self.water <= count {
                self.water_at = first_at + (self.water - 1) as f64 * step;
            }
            self.water = self.water.saturating_sub(count);
        }
    }
}

/// A read in progress: where it is, and when the next sector starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub track: Track,
    /// Next block to read; `track.end` when the head has not yet moved on.
    pub next: u64,
    /// When the last move ends.
    pub arrive_at: f64,
    /// When the next block's sector starts, or when the last block of the track ended.
    pub start_at: f64,
    /// The next track that begins at this block or later is a new attempt.
    pub attempt_end: u64,
}

impl Cursor {
    /// Moves from `from`, beginning at `at`, to read `lbn` next.
    pub fn seek(params: &Params, phase: f64, from: Position, at: f64, lbn: u64) -> Self {
        let track = params.layout.track_of(lbn);
        let arrive_at = at + reposition_ns(params, from, Position::on(&track), Op::Read);
        let (sector, _) = params.layout.run(&track, lbn);
        let wait = params.spindle.until_ns(phase, arrive_at, angle(&track, sector));
        Self { track, next: lbn, arrive_at, start_at: arrive_at + wait, attempt_end: 0 }
    }

    /// Begins an attempt, and comes late by the revolutions that it takes; returns how long.
    pub fn attempt(&mut self, params: &Params, mut shaken: Shaken) -> f64 {
        let lost = shaken.lost_ns(params, self.start_at);
        self.start_at += lost;
        self.attempt_end = self.next + u64::from(self.track.sectors);
        lost
    }

    /// Moves on to the next track if the current one is read to its end; returns how long vibration holds it up there.
    fn cross(&mut self, params: &Params, phase: f64, shaken: &mut Shaken) -> f64 {
        if self.next < self.track.end {
            return 0.0;
        }
        let attempt_end = self.attempt_end;
        *self = Self::seek(params, phase, Position::on(&self.track), self.start_at, self.next);
        if self.next < attempt_end {
            self.attempt_end = attempt_end;
            return 0.0;
        }
        self.attempt(params, shaken.reborrow())
    }

    /// Time of one sector in ns.
    pub fn sector_ns(&self, params: &Params) -> f64 {
        params.spindle.turn_ns() / f64::from(self.track.sectors)
    }

    /// Steps over `count` blocks of a run of `run` blocks that starts at `sector`.
    fn step(&mut self, params: &Params, sector: u32, run: u64, count: u64) {
        let sector_ns = self.sector_ns(params);
        self.next += count;
        self.start_at += count as f64 * sector_ns;
        if count == run && self.next < self.track.end {
            // Slipped sectors lie between this run and the next.
            let (next_sector, _) = params.layout.run(&self.track, self.next);
            self.start_at += f64::from(next_sector.saturating_sub(sector + count as u32)) * sector_ns;
        }
    }

    /// Reads up to before `end` and feeds the transfer. Returns when the last block was read.
    pub fn read_until(&mut self, params: &Params, phase: f64, end: u64, feed: &mut Feed, spent: &mut Spent, mut shaken: Shaken) -> f64 {
        let mut read_at = self.start_at;
        while self.next < end {
            if self.next >= self.track.end {
                let left_at = self.start_at;
                let lost = self.cross(params, phase, &mut shaken);
                spent.seek += self.arrive_at - left_at;
                spent.rotation += self.start_at - self.arrive_at - lost;
                spent.retry += lost;
            }
            let (sector, run) = params.layout.run(&self.track, self.next);
            let count = run.min(end - self.next);
            let sector_ns = self.sector_ns(params);
            feed.take(self.start_at + sector_ns, sector_ns, count);
            read_at = self.start_at + count as f64 * sector_ns;
            // A sector that was already passing counts from the base moment on.
            spent.media += read_at - self.start_at.fast_max(0.0);
            let reached = self.start_at;
            self.step(params, sector, run, count);
            if self.next < end {
                spent.rotation += self.start_at - reached - count as f64 * sector_ns;
            }
        }
        read_at
    }

    /// Lets the read continue by itself up to the moment `until` or before block `limit`, whichever comes first.
    pub fn advance(&mut self, params: &Params, phase: f64, until: f64, limit: u64, mut shaken: Shaken) {
        while self.next < limit {
            if self.next >= self.track.end {
                if self.start_at > until {
                    return;
                }
                self.cross(params, phase, &mut shaken);
            }
            let sector_ns = self.sector_ns(params);
            let passed = (until - self.start_at) / sector_ns;
            if passed < 1.0 {
                return;
            }
            let (sector, run) = params.layout.run(&self.track, self.next);
            let count = run.min(limit - self.next).min(passed as u64);
            self.step(params, sector, run, count);
            if count < run {
                return;
            }
        }
    }
}

/// When the blocks of a write are in the buffer.
#[derive(Debug)]
pub(super) struct Supply<'a> {
    /// When block 0 is there, and the time between blocks.
    first_at: f64,
    step: f64,
    /// For a write larger than its segment: when the last segment's worth of blocks reached the media. Empty otherwise.
    written_at: &'a mut [f64],
    /// When the latest block asked for is there (writes larger than their segment only).
    latest_at: f64,
}

impl<'a> Supply<'a> {
    /// Blocks `step` apart, the first one there at `first_at`. With a `window` (one entry a block of the segment), a block
    /// can enter the buffer only when the one a segment before it is on the media.
    pub fn new(first_at: f64, step: f64, window: &'a mut [f64]) -> Self {
        Self { first_at, step, written_at: window, latest_at: first_at - step }
    }

    fn windowed(&self) -> bool {
        !self.written_at.is_empty()
    }

    /// When block `index` is in the buffer. With a window, indices must be asked for in order, each once.
    fn ready_at(&mut self, index: u64) -> f64 {
        let window = self.written_at.len() as u64;
        if window == 0 {
            return self.first_at + index as f64 * self.step;
        }
        let room_at = if index < window { f64::NEG_INFINITY } else { self.written_at[(index % window) as usize] };
        self.latest_at = self.latest_at.max(room_at) + self.step;
        self.latest_at
    }

    fn wrote(&mut self, index: u64, at: f64) {
        let window = self.written_at.len() as u64;
        if window > 0 {
            self.written_at[(index % window) as usize] = at;
        }
    }

    /// When the last of `blocks` blocks is in the buffer; call after the write.
    pub fn end_at(&self, blocks: u64) -> f64 {
        if self.windowed() { self.latest_at } else { self.first_at + (blocks - 1) as f64 * self.step }
    }
}

/// Result of a write on the media.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub position: Position,
    /// When the first sector began.
    pub start_at: f64,
    /// When the last sector ended.
    pub end_at: f64,
    pub spent: Spent,
}

/// The state from which a write starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteStart {
    pub from: Position,
    /// When the arm may move.
    pub at: f64,
    /// Lower bound of the first move, in ns; applies even where the arm need not move.
    pub least_move: f64,
    /// The first sector may not be written before.
    pub hold_until: f64,
}

/// Writes `blocks` blocks from `lbn` on.
pub(super) fn write_blocks(
    params: &Params,
    phase: f64,
    start: WriteStart,
    lbn: u64,
    blocks: u64,
    supply: &mut Supply,
    mut shaken: Shaken,
) -> Written {
    let spindle = &params.spindle;
    let mut position = start.from;
    let mut now = start.at;
    let mut least = start.least_move;
    let mut hold = start.hold_until;
    let mut spent = Spent::default();
    let mut start_at = None;
    let mut index = 0;
    let mut attempt_end = 0;
    while index < blocks {
        let track = params.layout.track_of(lbn + index);
        let target = Position::on(&track);
        let moving = reposition_ns(params, position, target, Op::Write).fast_max(least);
        least = 0.0;
        position = target;
        spent.seek += moving;
        now += moving;
        let sector_ns = spindle.turn_ns() / f64::from(track.sectors);
        while index < blocks && lbn + index < track.end {
            let (sector, run) = params.layout.run(&track, lbn + index);
            let run = run.min(blocks - index);
            let ready = supply.ready_at(index);
            let pass = now + spindle.until_ns(phase, now, angle(&track, sector));
            let begin = spindle.pass_after_ns(pass, ready.fast_max(hold));
            hold = f64::NEG_INFINITY;
            let count = if supply.windowed() {
                1
            } else if supply.step <= sector_ns {
                run
            } else {
                // Blocks arrive more slowly than sectors pass: so many are there in time.
                let ahead = (begin - ready).fast_max(0.0) / (supply.step - sector_ns);
                if ahead >= run as f64 { run } else { (ahead as u64 + 1).min(run) }
            };
            spent.rotation += begin - now;
            let begin = if index >= attempt_end && shaken.by.is_some() {
                let lost = shaken.lost_ns(params, begin);
                attempt_end = index + u64::from(track.sectors);
                spent.retry += lost;
                begin + lost
            } else {
                begin
            };
            now = begin + count as f64 * sector_ns;
            spent.media += now - begin;
            start_at.get_or_insert(begin);
            supply.wrote(index, now);
            index += count;
        }
    }
    Written { position, start_at: start_at.unwrap_or(now), end_at: now, spent }
}
