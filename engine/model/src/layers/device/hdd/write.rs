//! Writes: to the media, or early-reported from the buffer, and what the drive's write cache hands over.

use super::Op;
use super::drive::{Activity, Lead, Outcome, State, Stream, shaken};
use super::max::FastMax as _;
use super::params::Params;
use super::transfer::{Supply, WriteStart, write_blocks};

/// Largest segment, in blocks, for which a write larger than it is held up by the media. Beyond it the buffer counts as
/// unlimited; requests are never that large.
const MAX_WINDOW: u64 = 65_535;

/// Drives with the extra write disconnect begin to write when so many blocks are buffered (or all, if fewer) ...
const HELD_BLOCKS: u64 = 10;
/// ... or so many for a long request ...
const HELD_BLOCKS_LONG: u64 = 15;
/// ... which is one of at least so many blocks.
const LONG_WRITE_BLOCKS: u64 = 45;

impl State {
    pub(super) fn write(&mut self, params: &Params, lbn: u64, end: u64, lead: Lead) -> Outcome {
        let timing = &params.timing;
        let rules = &params.rules;
        let blocks = end - lbn;
        let command = (timing.write.after(self.previous) - lead.waited).fast_max(0.0);
        let mut out = Outcome::default();
        let mut arm_from = command;
        let mut bus_from = (command + timing.preparation).fast_max(lead.bus_free);
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
                arm_from = command.fast_max(stream.end_at);
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

        if let Some(from) = lead.data_from {
            bus_from = from;
        }
        let (first_at, step) = joined.map_or((bus_from + timing.write_block, timing.write_block), |stream| {
            stream.supply(bus_from, timing.write_block, lbn, blocks, rules.segment_blocks)
        });
        let larger = blocks > rules.segment_blocks;
        if larger && rules.segment_blocks <= MAX_WINDOW {
            self.window.resize(rules.segment_blocks as usize, 0.0);
        }
        let mut supply = Supply::new(first_at, step, if larger { &mut self.window } else { &mut [] });
        let held = if blocks >= LONG_WRITE_BLOCKS { HELD_BLOCKS_LONG } else { blocks.min(HELD_BLOCKS) };
        // A command that waited while the arm was at work finds it settled.
        let settle = if lead.waited > 0.0 || out.wait > 0.0 { 0.0 } else { timing.idle_settle };
        let start = WriteStart {
            from: self.position,
            at: arm_from,
            least_move: if joined.is_some() { 0.0 } else { timing.least_write_seek.fast_max(settle) },
            hold_until: if rules.hold_writes { first_at + (held - 1) as f64 * step } else { f64::NEG_INFINITY },
        };
        let written = write_blocks(params, self.phase, start, lbn, blocks, &mut supply, shaken(&mut self.shaker, self.base_ns));
        let buffered_at = supply.end_at(blocks);
        self.position = written.position;
        self.stay = 0;
        out.arm = written.end_at;

        if rules.early_writes {
            let transfer = blocks as f64 * timing.write_block;
            out.done = buffered_at + timing.write_completion;
            out.free = out.done.fast_max(written.end_at);
            out.overhead = bus_from - out.wait + timing.write_completion;
            out.bus = transfer;
            // What the transfer took beyond its own time it waited for room in the segment.
            out.wait += (buffered_at - bus_from - transfer).fast_max(0.0);
            let (first, first_at) = joined.map_or((lbn, written.start_at), |stream| (stream.first, stream.first_at));
            self.activity = Activity::Writing(Stream { segment, first, first_at, end, end_at: written.end_at });
        } else {
            let reselect = if rules.never_disconnect { 0.0 } else { timing.reselect };
            let ready_at = written.end_at.fast_max(buffered_at + timing.write_disconnect) + reselect;
            out.done = ready_at + timing.write_completion;
            out.free = out.done;
            out.overhead = arm_from - out.wait + timing.write_completion;
            out.seek = written.spent.seek;
            out.rotation = written.spent.rotation;
            out.retry = written.spent.retry;
            out.media = written.spent.media;
            out.bus = ready_at - written.end_at;
            self.finish_write(params, segment);
        }
        out
    }

    /// Writes blocks of the write cache to the media, as soon as the arm has left what it does on its own. Returns when they are there.
    pub(super) fn destage(&mut self, params: &Params, lbn: u64, end: u64) -> f64 {
        let at = self.stop_read_ahead(params);
        let start = WriteStart { from: self.position, at, least_move: params.timing.least_write_seek, hold_until: f64::NEG_INFINITY };
        let mut supply = Supply::new(f64::NEG_INFINITY, 0.0, &mut []);
        let written = write_blocks(params, self.phase, start, lbn, end - lbn, &mut supply, shaken(&mut self.shaker, self.base_ns));
        self.position = written.position;
        self.stay = 0;
        if params.rules.reads_hit_written {
            // One segment keeps what was destaged, so that streams of reads keep theirs.
            let kept = self.destaged.filter(|(segment, end)| self.buffer.segment(*segment).end == *end);
            let segment = match kept {
                Some((segment, last)) if last == lbn => segment,
                Some((segment, _)) => {
                    self.buffer.clear(segment);
                    self.buffer.take_for_write(lbn, lbn + 1)
                }
                None => self.buffer.take_for_write(lbn, lbn + 1),
            };
            self.buffer.fill(segment, end);
            self.destaged = Some((segment, end));
        }
        self.previous = Op::Write;
        written.end_at
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
        let first_at = bus_from.fast_max(room_at(lbn)) + block_ns;
        if blocks == 1 {
            return (first_at, block_ns);
        }
        let more = (blocks - 1) as f64;
        let last_at = (first_at + more * block_ns).fast_max(room_at(lbn + blocks - 1) + block_ns);
        (first_at, (last_at - first_at) / more)
    }
}
