//! The read-ahead of 2.2 and 2.3: a distance that grows only where it comes too late, and (2.3) readers out of order.
//!
//! The distance of a stream begins with the length of its first confirming read and doubles with each until it reaches 4 MiB. From there
//! it grows by an eighth, and only after a reader has caught up with a prefetch that was still in flight, up to 64 MiB. So an idle pool reads 4 MiB
//! ahead and a slow one as far as it must. Nothing is fetched for a stream that has found everything in memory.
//!
//! From 2.3 a read up to 16 MiB beyond the expected block is remembered, and the stream jumps once at most a quarter
//! of what lies between has not been read; a read a little behind it is ignored.

use super::{Access, Predictor, REAP_NS, push};
use crate::read_ahead::Run;
use seeklab_kernel::NS_PER_S;

/// Up to this distance it doubles.
const MIN_DISTANCE_BYTES: u64 = 4 << 20;
/// Farthest distance.
pub const MAX_DISTANCE_BYTES: u64 = 64 << 20;
/// From 2.3: how far beyond the expected block a read may be (in bytes).
pub const REORDER_BYTES: u64 = 16 << 20;
/// The stream jumps over holes that are at most the span shifted by this.
const HOLE_SHIFT: u32 = 2;
/// A stream may be reused after so long without a read.
const REUSE_NS: u64 = NS_PER_S;
/// Reads out of order that are remembered for a stream.
const RANGES: usize = 8;

#[derive(Clone, Debug)]
struct Stream {
    expected: u64,
    ahead: u64,
    distance_bytes: u64,
    hits: u32,
    missed: bool,
    more: bool,
    last_ns: u64,
    /// Ranges beyond the expected block that have been read, in order.
    ranges: Vec<(u64, u64)>,
}

/// Read-ahead of 2.2 and 2.3.
#[derive(Debug)]
pub struct OpenZfs2_2 {
    files: Vec<Vec<Stream>>,
    most_streams: u64,
    block_bytes: u64,
    max_bytes: u64,
    reorder: u64,
    ahead_bytes: u64,
}

impl OpenZfs2_2 {
    /// Read-ahead over so many files of blocks of `block_bytes`, with at most `most_streams` each, up to `max_bytes` ahead; reads up to
    /// `reorder` blocks out of order are followed.
    #[must_use]
    pub fn new(files: usize, most_streams: u64, block_bytes: u64, max_bytes: u64, reorder: u64) -> Self {
        Self { files: vec![Vec::new(); files], most_streams, block_bytes, max_bytes, reorder, ahead_bytes: 0 }
    }

    /// The stream that a read continues, and the position to which it moves; `Err` when the read is to be passed over.
    fn find(&mut self, file: usize, access: &Access) -> Result<Option<(usize, u64)>, ()> {
        let (block, end) = (access.block, access.end());
        let streams = &mut self.files[file];
        if let Some(place) = streams.iter().position(|stream| stream.expected == block || stream.expected == block + 1) {
            return Ok(Some((place, end)));
        }
        let reorder = self.reorder;
        for (place, stream) in streams.iter_mut().enumerate() {
            if block < stream.expected && end + reorder > stream.expected && reorder > 0 {
                return Err(());
            }
            if block > stream.expected && end <= stream.expected + reorder {
                return stream.remember(block, end).map_or(Err(()), |to| Ok(Some((place, to))));
            }
        }
        Ok(None)
    }
}

impl Stream {
    /// Remembers a read ahead of the expected block; returns where the stream jumps to when little is missing up to there.
    fn remember(&mut self, block: u64, end: u64) -> Option<u64> {
        let at = self.ranges.partition_point(|range| range.1 < block);
        let mut joined = (block, end);
        while let Some(range) = self.ranges.get(at).filter(|range| range.0 <= joined.1) {
            joined = (joined.0.min(range.0), joined.1.max(range.1));
            self.ranges.remove(at);
        }
        self.ranges.insert(at, joined);
        self.ranges.truncate(RANGES);
        let mut read = 0;
        let mut to = None;
        for (start, end) in &self.ranges {
            read += end - start;
            let span = end - self.expected;
            if span - read <= span >> HOLE_SHIFT {
                to = Some(*end);
            }
        }
        to
    }
}

impl Predictor for OpenZfs2_2 {
    fn read(&mut self, file: usize, access: &Access, plan: &mut Vec<Run>) {
        if access.block == 0 {
            return;
        }
        let Ok(found) = self.find(file, access) else { return };
        let Some((place, mut to)) = found else { return self.create(file, access) };
        let (block_bytes, most) = (self.block_bytes, self.max_bytes);
        let stream = &mut self.files[file][place];
        stream.ranges.retain(|range| range.1 > to);
        if stream.ranges.first().is_some_and(|range| range.0 <= to) {
            to = stream.ranges.remove(0).1;
        }
        stream.missed |= !access.found;
        stream.more |= access.late;
        let before = stream.distance_bytes;
        if stream.hits == 0 {
            stream.distance_bytes = (access.blocks * block_bytes).min(most);
        } else if before < MIN_DISTANCE_BYTES.min(most) {
            stream.distance_bytes = if access.busy { before.max(block_bytes) } else { (2 * before).min(MIN_DISTANCE_BYTES).min(most) };
        } else if stream.more {
            stream.distance_bytes = (before + before / 8).min(most);
        }
        stream.more = false;
        self.ahead_bytes = self.ahead_bytes + stream.distance_bytes - before;
        (stream.hits, stream.expected, stream.last_ns) = (stream.hits + 1, to, access.now_ns);
        let start = stream.ahead.max(to);
        let blocks = (to + stream.distance_bytes / block_bytes).saturating_sub(start);
        if stream.missed && push(plan, start, blocks, access.file_blocks) {
            stream.ahead = start + blocks;
        }
    }

    fn ahead_blocks(&self) -> u64 {
        self.ahead_bytes / self.block_bytes
    }
}

impl OpenZfs2_2 {
    fn create(&mut self, file: usize, access: &Access) {
        let streams = &mut self.files[file];
        let idle_ns = |stream: &Stream| access.now_ns.saturating_sub(stream.last_ns);
        let bytes = |streams: &[Stream]| streams.iter().map(|stream| stream.distance_bytes).sum::<u64>();
        self.ahead_bytes -= bytes(streams);
        streams.retain(|stream| idle_ns(stream) <= REAP_NS);
        if let Some(place) = streams.iter().position(|stream| stream.hits == 0 || idle_ns(stream) > REUSE_NS) {
            streams.remove(place);
        }
        self.ahead_bytes += bytes(streams);
        if (streams.len() as u64) < self.most_streams.min(access.file_blocks * self.block_bytes / self.max_bytes).max(1) {
            streams.push(Stream {
                expected: access.end(),
                ahead: access.end(),
                distance_bytes: 0,
                hits: 0,
                missed: !access.found,
                more: false,
                last_ns: access.now_ns,
                ranges: Vec::new(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::trace;
    use super::*;

    fn fresh(reorder: u64) -> OpenZfs2_2 {
        OpenZfs2_2::new(1, 8, 128 << 10, MAX_DISTANCE_BYTES, reorder)
    }

    #[test]
    fn the_documented_traces() {
        let first = [vec![], vec![], vec![(3, 1)], vec![(4, 2)], vec![(6, 3)], vec![(9, 5)], vec![(14, 9)], vec![(23, 17)]];
        let in_time = trace(&mut fresh(0), 0..13, false);
        assert_eq!(in_time[..8], first);
        assert_eq!(in_time[8..], [vec![(40, 1)], vec![(41, 1)], vec![(42, 1)], vec![(43, 1)], vec![(44, 1)]]);
        let late = trace(&mut fresh(0), 0..13, true);
        assert_eq!(late[..8], first);
        assert_eq!(late[8..], [vec![(40, 5)], vec![(45, 5)], vec![(50, 6)], vec![(56, 7)], vec![(63, 7)]]);
    }

    #[test]
    fn the_distance_ends_at_64_mib() {
        let mut predictor = fresh(0);
        trace(&mut predictor, 1..200, true);
        assert_eq!(predictor.ahead_blocks(), 512);
    }

    #[test]
    fn a_file_in_memory_is_not_read_ahead() {
        let mut predictor = fresh(0);
        let mut plan = Vec::new();
        for block in 1..20 {
            predictor.read(0, &Access { now_ns: block, block, blocks: 1, file_blocks: 1000, found: true, ..Access::default() }, &mut plan);
        }
        assert_eq!(plan, []);
    }

    #[test]
    fn a_busy_system_does_not_double() {
        let mut predictor = fresh(0);
        let mut plan = Vec::new();
        for block in 1..10 {
            let access = Access { now_ns: block, block, blocks: 1, file_blocks: 1000, busy: true, ..Access::default() };
            predictor.read(0, &access, &mut plan);
        }
        assert_eq!(predictor.ahead_blocks(), 1);
    }

    #[test]
    fn from_2_3_a_reader_out_of_order_is_one_stream() {
        let swapped = (0..20u64).flat_map(|pair| [1 + 2 * pair, 3 + 2 * pair, 2 + 2 * pair]);
        let mut blocks = Vec::new();
        for block in swapped {
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
        let fetched = |reorder| trace(&mut fresh(reorder), blocks.clone().into_iter(), false).concat().iter().map(|run| run.1).sum::<u64>();
        assert!(fetched(128) > 32 + 20, "{}", fetched(128));
        let every_other = |reorder| trace(&mut fresh(reorder), (0..30).map(|step| 1 + 2 * step), false).concat().len();
        assert_eq!(every_other(0), 0);
        assert_eq!(every_other(128), 0, "half of the span is holes");
        let mostly = |reorder| trace(&mut fresh(reorder), (1..60).filter(|block| block % 8 != 0), false).concat().len();
        assert!(mostly(128) > mostly(0), "an eighth of the span is holes");
    }
}
