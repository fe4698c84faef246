//! Reads: what the buffer has, what the arm must fetch, what is read on afterwards.

use super::drive::{Activity, Lead, Outcome, State, shaken};
use super::geometry::Track;
use super::max::FastMax as _;
use super::params::{Params, ReadAhead};
use super::transfer::{Cursor, Feed, Position, Spent, reposition_ns};
use super::{Hit, Op};

impl State {
    /// Stops a read-ahead; returns how long the arm is still bound.
    pub(super) fn stop_read_ahead(&mut self, params: &Params) -> f64 {
        let Activity::ReadAhead { cursor, segment, .. } = self.activity else { return 0.0 };
        self.activity = Activity::Idle;
        let moving = cursor.arrive_at.fast_max(0.0);
        let bound = if params.rules.stop_mid_sector || moving > 0.0 {
            moving
        } else if cursor.start_at > 0.0 {
            cursor.start_at
        } else {
            self.buffer.fill(segment, cursor.next + 1);
            (cursor.start_at + cursor.sector_ns(params)).fast_max(0.0)
        };
        self.buffer.close(segment);
        bound
    }

    fn filling(&self) -> Option<usize> {
        match self.activity {
            Activity::ReadAhead { segment, .. } => Some(segment),
            _ => None,
        }
    }

    /// One past the last block to read ahead after a request that ends before `end`, in a segment. `on` is a track that is known, most
    /// often the one in question: to work out a track takes longer than the rest.
    fn read_ahead_limit(&self, params: &Params, end: u64, segment: usize, on: Option<&Track>) -> u64 {
        let layout = &params.layout;
        let track_of = |lbn: u64| on.filter(|on| (on.first..on.end).contains(&lbn)).map_or_else(|| layout.track_of(lbn), |on| *on);
        let limit = match params.rules.read_ahead {
            ReadAhead::None => 0,
            ReadAhead::Track => track_of(end - 1).end,
            ReadAhead::Cylinder => {
                let mut track = track_of(end - 1);
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
                let track = track_of(end);
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

    pub(super) fn read(&mut self, params: &Params, lbn: u64, end: u64, lead: Lead) -> Outcome {
        let timing = &params.timing;
        let rules = &params.rules;
        let block_ns = timing.read_block;
        let transfer = (end - lbn) as f64 * block_ns;
        let command = (timing.read_miss.after(self.previous) - lead.waited).fast_max(0.0);
        let mut release = command + timing.read_disconnect.after(self.previous);
        let mut arm_from = command;
        let mut hit_from = (timing.read_hit.after(self.previous) - lead.waited).fast_max(0.0) + timing.preparation;
        let mut out = Outcome::default();
        if let Activity::Writing(stream) = self.activity {
            arm_from = command.fast_max(stream.end_at);
            out.wait = arm_from - command;
            hit_from = arm_from + timing.reselect + timing.preparation;
            self.finish_write(params, stream.segment);
        }

        let filling = self.filling();
        let found = self.found(params, lbn, end);
        // Anything but a read of what is just being read ahead needs the arm; what overlaps, only if the buffer lacks a part of it.
        let is_held = found.is_some_and(|segment| self.buffer.has_all(segment, end));
        let stopping = if filling.is_some() && found != filling && !(rules.overlaps && is_held) {
            if rules.overlaps {
                self.read_until_departure(params, arm_from, found.map_or(lbn, |segment| self.buffer.segment(segment).end));
            }
            self.stop_read_ahead(params)
        } else {
            0.0
        };
        // An arm that reads on until it must leave would wait for the platter at its destination instead.
        let lingering = if rules.overlaps { stopping } else { 0.0 };
        arm_from += stopping;
        hit_from = (hit_from + stopping).fast_max(lead.bus_free);
        release += stopping;

        let segment = match found {
            Some(segment) if self.buffer.has_all(segment, end) => {
                self.buffer.touch(segment);
                if rules.overlaps && Some(segment) == self.reading {
                    hit_from = hit_from.fast_max(lead.arm_free); // its last blocks are just being read
                }
                // An arm that is wanted elsewhere does not begin to read ahead.
                if filling == Some(segment) || !rules.overlaps || (filling.is_none() && lead.is_alone) {
                    self.after_full_hit(params, segment, end, filling, arm_from.fast_max(lead.arm_free));
                }
                out.overhead = hit_from - out.wait + timing.read_completion;
                out.bus = transfer;
                out.done = hit_from + transfer + timing.read_completion;
                out.free = out.done;
                self.forget(params, segment, end);
                out.hit = Hit::Full;
                return out;
            }
            Some(segment) => {
                self.buffer.touch(segment);
                segment
            }
            None => self.buffer.take_for_read(lbn, filling),
        };

        // Read what is missing.
        let mut spent = Spent::default();
        let (mut cursor, begun) = self.begin_reading(params, arm_from, segment);
        let moves_from = if begun.is_some() { arm_from } else { 0.0 };
        // What of moving and waiting already lies behind does not count.
        let arrive_at = cursor.arrive_at.fast_max(moves_from);
        spent.seek = arrive_at - moves_from;
        spent.retry = begun.unwrap_or_default();
        spent.rotation = (cursor.start_at - spent.retry - arrive_at).fast_max(0.0);
        let free_from = if rules.free_blocks && found.is_none() { free_blocks(params, &cursor) } else { lbn };
        let held = cursor.next - lbn;
        let water = watermark(params, end - lbn);
        let mut feed = Feed::new(block_ns, if found.is_some() { water.saturating_sub(held) } else { water });
        let read_at = cursor.read_until(params, self.phase, end, &mut feed, &mut spent, shaken(&mut self.shaker, self.base_ns));
        self.position = Position::on(&cursor.track);
        self.buffer.extend_front(segment, free_from);
        self.buffer.fill(segment, end);
        self.start_read_ahead(params, cursor, segment, end);
        self.reading = Some(segment);
        if begun.is_some() {
            // A stream that the arm has come back to is worth reading on for as long as it is read, up to a segment; a single read is not.
            self.stay = if found.is_some() { lbn + rules.segment_blocks } else { 0 };
        }
        self.forget(params, segment, end);

        // The bus: from `connect` on, and never before a block is read.
        let connect = match (found.is_some(), rules.never_disconnect) {
            (true, _) if rules.partial_at_once => hit_from,
            (true, _) => hit_from.fast_max(feed.water_at),
            (false, true) => arm_from + timing.preparation,
            (false, false) => (feed.water_at.fast_max(release) + timing.reselect + timing.preparation).fast_max(lead.bus_free),
        };
        let sent_at = feed.done_at.fast_max(connect + transfer);
        out.done = sent_at + timing.read_completion;
        out.free = out.done;
        out.arm = read_at;
        if found.is_some() && feed.done_at < connect + transfer {
            out.overhead = hit_from - out.wait + timing.read_completion;
            out.bus = sent_at - hit_from;
        } else {
            let lingering = lingering.min((moves_from - out.wait).fast_max(0.0));
            out.overhead = (moves_from - out.wait).fast_max(0.0) - lingering + timing.read_completion;
            out.seek = spent.seek;
            out.rotation = spent.rotation + lingering;
            out.retry = spent.retry;
            out.media = spent.media;
            out.bus = sent_at - read_at;
        }
        out.hit = if found.is_some() { Hit::Partial } else { Hit::Miss };
        out
    }

    /// The read that is to fill a segment: the one in progress, or a new one, with how long vibration holds up its first attempt.
    fn begin_reading(&mut self, params: &Params, arm_from: f64, segment: usize) -> (Cursor, Option<f64>) {
        if let Activity::ReadAhead { cursor, .. } = self.activity {
            return (cursor, None);
        }
        let mut cursor = Cursor::seek(params, self.phase, self.position, arm_from, self.buffer.segment(segment).end);
        let lost = cursor.attempt(params, shaken(&mut self.shaker, self.base_ns));
        (cursor, Some(lost))
    }

    /// The segment that a read begins in, or continues with.
    fn found(&self, params: &Params, lbn: u64, end: u64) -> Option<usize> {
        if !params.rules.caching {
            return None;
        }
        self.buffer.find(lbn, end).or_else(|| self.almost_hit(params, lbn)).or_else(|| self.continued(params, lbn))
    }

    /// The segment that ends where a read begins, in a drive that takes that for the same stream.
    fn continued(&self, params: &Params, lbn: u64) -> Option<usize> {
        let segment = self.buffer.find(lbn.checked_sub(1).filter(|_| params.rules.overlaps)?, lbn)?;
        (self.buffer.segment(segment).end == lbn).then_some(segment)
    }

    /// Reads on while the command is worked off and for as long as the arm would wait for the sector of `lbn` anyhow.
    fn read_until_departure(&mut self, params: &Params, arm_from: f64, lbn: u64) {
        let Activity::ReadAhead { mut cursor, segment, limit } = self.activity else { return };
        if cursor.arrive_at > 0.0 {
            return; // it is on its way; there is nothing to read yet
        }
        let next = Cursor::seek(params, self.phase, self.position, arm_from, lbn);
        let leaves_at = |from: Position| next.start_at - reposition_ns(params, from, Position::on(&next.track), Op::Read);
        loop {
            let until = leaves_at(Position::on(&cursor.track));
            cursor.advance(params, self.phase, until, limit.min(cursor.track.end), shaken(&mut self.shaker, self.base_ns));
            self.buffer.fill(segment, cursor.next);
            self.position = Position::on(&cursor.track);
            self.activity = Activity::ReadAhead { cursor, segment, limit };
            if cursor.next >= limit || cursor.next < cursor.track.end {
                return;
            }
            // The next track is worth the move if the arm leaves it no later.
            cursor = Cursor::seek(params, self.phase, self.position, cursor.start_at, cursor.next);
            cursor.attempt(params, shaken(&mut self.shaker, self.base_ns));
            if cursor.start_at + cursor.sector_ns(params) > leaves_at(Position::on(&cursor.track)) {
                return;
            }
        }
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
        let new_limit = self.read_ahead_limit(params, end, segment, None);
        match &mut self.activity {
            Activity::ReadAhead { cursor, limit, .. } => {
                let next = cursor.next;
                *limit = self.buffer.next_held(next).map_or(new_limit, |held| held.min(new_limit)).max(*limit);
            }
            Activity::Idle if idle => {
                let (segment, next) = self.buffer.reach(segment, new_limit);
                let new_limit = self.new_blocks(next, new_limit);
                if next >= new_limit {
                    return;
                }
                let mut cursor = Cursor::seek(params, self.phase, self.position, arm_from, next);
                cursor.attempt(params, shaken(&mut self.shaker, self.base_ns));
                self.activity = Activity::ReadAhead { cursor, segment, limit: new_limit };
            }
            _ => {}
        }
    }

    /// Where reading on from `next` up to `limit` meets what the buffer holds already.
    fn new_blocks(&self, next: u64, limit: u64) -> u64 {
        self.buffer.next_held(next).map_or(limit, |held| held.min(limit))
    }

    /// Reads on after a request that ends before `end`.
    fn start_read_ahead(&mut self, params: &Params, cursor: Cursor, segment: usize, end: u64) {
        let mut new_limit = self.read_ahead_limit(params, end, segment, Some(&cursor.track));
        if let Activity::ReadAhead { limit, .. } = self.activity {
            new_limit = new_limit.max(limit);
        }
        new_limit = self.new_blocks(cursor.next, new_limit);
        self.activity = if cursor.next < new_limit {
            Activity::ReadAhead { cursor, segment, limit: new_limit }
        } else {
            self.buffer.close(segment);
            Activity::Idle
        };
    }

    /// Drops a request's data after it was sent, in drives that do not keep it.
    fn forget(&mut self, params: &Params, segment: usize, end: u64) {
        if params.rules.forget_requested {
            self.buffer.forget_before(segment, end);
        }
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
