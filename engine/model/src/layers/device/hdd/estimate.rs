//! When the arm would reach a request: what a queue that knows the platter's angle weighs.
//!
//! The estimate sees what is left of an early write, of the command's overhead and of the data's way over the bus, then move,
//! settling and rotational wait. What the buffer holds, or what read-ahead is just about to read, costs nothing; of what it holds
//! in part, the rest is to be reached. It changes nothing and takes no part of the request's transfer into account.

use std::ops::Range;

use super::Op;
use super::drive::{Activity, Hdd};
use super::max::FastMax as _;
use super::params::ByPrevious;
use super::transfer::{Position, Shaken, angle, reposition_at_least_ns, reposition_ns};

/// A place to be reached, worked out once for each queued request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Target {
    pub cylinder: u32,
    pub head: u32,
    /// Angle of the sector's start, in turns.
    pub angle: f64,
}

/// The position to reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub op: Op,
    pub lbn: u64,
    /// When its command is worked off and its data, of a write, are arriving. The overhead begins at the moment of the estimate when
    /// absent, and is not counted.
    pub ready_ns: Option<u64>,
    /// False where the buffer surely does not hold the first block, and is not about to: then it is not asked.
    pub may_be_held: bool,
}

/// The arm at one moment, for estimates.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmNow {
    pub position: Position,
    /// The moment, and when the arm has nothing left to do, relative to the base.
    now: f64,
    free_at: f64,
    /// Overheads of a read and of a write.
    overheads: [f64; 2],
    base_ns: u64,
    /// The segment being filled and one past its last block.
    filling: Option<(usize, u64)>,
}

impl Hdd {
    pub(super) fn target(&self, lbn: u64) -> Target {
        let layout = &self.params.layout;
        let lbn = lbn.min(layout.capacity() - 1);
        let track = layout.track_of(lbn);
        let (sector, _) = layout.run(&track, lbn);
        Target { cylinder: track.cylinder, head: track.head, angle: angle(&track, sector) }
    }

    pub(super) fn arm_now(&self, now_ns: u64) -> ArmNow {
        let state = &self.state;
        let now = now_ns.saturating_sub(state.base_ns) as f64;
        let (mut position, mut filling, mut free_at) = (state.position, None, now);
        match state.activity {
            Activity::Idle => {}
            Activity::Writing(stream) => free_at = stream.end_at.fast_max(now),
            Activity::ReadAhead { mut cursor, segment, limit } => {
                // What vibration will do is not foreseen.
                cursor.advance(&self.params, state.phase, now, limit, Shaken::NOT);
                position = Position::on(&cursor.track);
                filling = Some((segment, cursor.next));
            }
        }
        let timing = &self.params.timing;
        let overheads = [&timing.read_miss, &timing.write].map(|overhead: &ByPrevious| overhead.after(state.previous));
        ArmNow { position, now, free_at, overheads, base_ns: state.base_ns, filling }
    }

    /// The first blocks of the reads that continue with what the arm is reading.
    pub(super) fn being_filled(&self, arm: &ArmNow) -> Range<u64> {
        arm.filling.map_or(0..0, |(segment, end)| self.state.buffer.segment(segment).start..end + u64::from(self.params.rules.overlaps))
    }

    /// Estimated positioning time in ns if the request were given to the drive at `now_ns`: what is left of an early write,
    /// then move, settling and rotational wait, with the platter turning on during the command overhead, which itself is
    /// not counted. 0 for a read whose first block is in the buffer. Changes nothing.
    #[must_use]
    pub fn positioning_ns(&self, now_ns: u64, op: Op, lbn: u64) -> u64 {
        let asked = Asked { op, lbn, ready_ns: None, may_be_held: true };
        let ns = self.positioning_to(&self.arm_now(now_ns), asked, &self.target(lbn), f64::INFINITY);
        ns.unwrap_or_default() as u64
    }

    /// Positioning estimate in ns; see [`Hdd::positioning_ns`]. `None` when it is surely above `most`, which costs less to
    /// find out than the estimate: the move alone takes longer.
    pub(super) fn positioning_to(&self, arm: &ArmNow, asked: Asked, target: &Target, most: f64) -> Option<f64> {
        let params = &*self.params;
        let state = &self.state;
        let Asked { op, lbn, ready_ns, may_be_held } = asked;
        let mut target = *target;
        if may_be_held && op == Op::Read {
            let filled = self.being_filled(arm).contains(&lbn);
            if filled && params.rules.caching || self.holds(lbn, lbn + 1) {
                let rest = if filled || !params.rules.overlaps { None } else { state.buffer.find(lbn, lbn + 1) };
                let Some(segment) = rest else { return Some(0.0) };
                target = self.target(state.buffer.reach(segment, lbn + 1).1);
            }
        }
        // Counted from the end of an overhead that begins now, or from now.
        let (from, ready) = match ready_ns {
            None => {
                let from = arm.now + arm.overheads[op as usize];
                (from, from)
            }
            Some(ready_ns) => (arm.now, arm.now.fast_max(ready_ns as f64 - arm.base_ns as f64)),
        };
        let arm_at = arm.free_at.fast_max(ready);
        // The same sums in the same order as below, each of numbers that are not larger: rounding keeps the order.
        let distance = arm.position.cylinder.abs_diff(target.cylinder);
        if arm_at + reposition_at_least_ns(params, distance, op) - from > most {
            return None;
        }
        let to = Position { cylinder: target.cylinder, head: target.head };
        let mut moving = reposition_ns(params, arm.position, to, op);
        if op == Op::Write {
            moving = moving.fast_max(params.timing.least_write_seek);
        }
        let arrive = arm_at + moving;
        Some(arrive + params.spindle.until_ns(state.phase, arrive, target.angle) - from)
    }

    /// Time in ns from the end of one request, whose next block is at `from`, to the first block of another.
    pub(super) fn positioning_after(&self, from: &Target, op: Op, to: &Target) -> f64 {
        let place = |target: &Target| Position { cylinder: target.cylinder, head: target.head };
        let moving = reposition_ns(&self.params, place(from), place(to), op);
        moving + self.params.spindle.until_ns(from.angle, moving, to.angle)
    }

    /// Whether every move over so many cylinders, or more, surely takes longer than `ns`.
    pub(super) fn moves_take_longer(&self, cylinders: u32, ns: f64) -> bool {
        reposition_at_least_ns(&self.params, cylinders, Op::Write) > ns
    }
}
