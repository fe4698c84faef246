//! The first read-ahead, 2008 to 2015: streams forward, backward and in strides.
//!
//! A stream covers `len` blocks from `offset` and has fetched up to `ahead`. A read that continues it makes it longer, doubles its
//! `cap`, and fetches in pieces of `len` blocks until `cap` blocks lie beyond its end. A stream that covers `cap` blocks slides.
//! From then on nothing happens for a while and then a whole cap is fetched at once, so that between one and two caps lie ahead of the
//! reader:
//!
//! ```text
//!  read      0   1    2    3           4            5                  ...  13
//!  fetches   -   2+2  4+3  7+4, 11+4   15+5, 20+5   25+6, 31+6, 37+6   ...  269+14, then 256 blocks every 256 reads
//! ```
//!
//! Each block of a read counts as a read, if the whole is not longer than 1 MiB (`zfetch_array_rd_sz`). So a random read of 1 MiB is a
//! stream of eight blocks of 128 KiB, which fetches 135 more, and nine bytes are read for each that was asked for. A larger ARC keeps more
//! of these fetches in flight, and readers wait behind them for blocks of their own that are among them. So more memory is
//! slower here: 25 MB/s with 512 MiB, 110 MB/s with 64 MiB, on a unit of 200 MB/s.
//!
//! A read of a block that should have been fetched and is not there resets its stream. Three single reads at equal distances merge
//! into one strided stream. The defaults, 8 streams of 256 blocks, were the same from 2008 to 2015; "2 x 16", a tuning of the field, is in
//! no version of the code.

use super::{Access, Predictor, REAP_NS, push};
use crate::read_ahead::Run;

/// Farthest that a stream fetches at once, in blocks, by default.
pub const CAP_BLOCKS: u64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    offset: u64,
    len: u64,
    stride: u64,
    /// Up to where it has fetched: the next block forward, the last one backward.
    ahead: u64,
    cap: u64,
    direction: Direction,
    last_ns: u64,
}

enum Match {
    /// Of no stream.
    None,
    /// A block that a stream covers.
    Covered,
    /// It continues a stream.
    Goes(usize),
}

/// Read-ahead of 2008.
#[derive(Debug)]
pub struct Zfs2008 {
    files: Vec<Vec<Stream>>,
    most_streams: u64,
    most_cap: u64,
    ahead_blocks: u64,
}

impl Zfs2008 {
    /// Read-ahead over so many files, with at most `most_streams` each, which go up to `most_cap` blocks ahead.
    #[must_use]
    pub fn new(files: usize, most_streams: u64, most_cap: u64) -> Self {
        Self { files: vec![Vec::new(); files], most_streams, most_cap, ahead_blocks: 0 }
    }

    /// The first stream that a read continues, moved on; a stream that was wrong is deleted.
    fn follow(&mut self, file: usize, block: u64, found: bool) -> Match {
        let mut place = 0;
        while let Some(stream) = self.files[file].get_mut(place) {
            let Stream { offset, len, stride, .. } = *stream;
            let after = block.wrapping_sub(offset.wrapping_add(stride)) < len && len != stride;
            let before = block.wrapping_sub(offset).wrapping_add(stride) < len && len != stride;
            let covered = block.wrapping_sub(offset) < len;
            let next = block == offset + len;
            let previous = block.wrapping_add(1) == offset;
            if (covered || next || previous) && !found && len > 1 {
                self.ahead_blocks -= stream.cap;
                self.files[file].remove(place);
                return Match::None;
            }
            if covered {
                return Match::Covered;
            }
            let forward = next || (after && !previous);
            if !forward && !previous && !before {
                place += 1;
                continue;
            }
            let direction = if forward { Direction::Forward } else { Direction::Backward };
            if stream.direction != direction {
                stream.ahead = if forward { offset + len } else { offset };
                stream.direction = direction;
            }
            if next || previous {
                stream.len += 1;
                stream.offset -= u64::from(previous);
                if stream.len > self.most_cap {
                    stream.offset += if next { stream.len - self.most_cap } else { 0 };
                    stream.len = self.most_cap;
                }
            } else if forward {
                stream.offset += stride;
            } else {
                stream.offset = offset.saturating_sub(stride);
            }
            return Match::Goes(place);
        }
        Match::None
    }

    /// Fetches for a stream that was confirmed.
    fn fetch(&mut self, file: usize, place: usize, access: &Access, plan: &mut Vec<Run>) {
        let stream = &mut self.files[file][place];
        stream.last_ns = access.now_ns;
        stream.stride = stream.stride.max(stream.len);
        let cap = self.most_cap.min(2 * stream.cap);
        self.ahead_blocks += cap - stream.cap;
        stream.cap = cap;
        let span = stream.cap * stream.stride / stream.len;
        match stream.direction {
            Direction::Forward => {
                let mut tail = stream.ahead.max(stream.offset + stream.stride);
                let limit = stream.offset + stream.len + span;
                while tail < limit && push(plan, tail, stream.len, access.file_blocks) {
                    tail += stream.stride;
                }
                stream.ahead = tail;
            }
            Direction::Backward => {
                let mut tail = stream.ahead.min((stream.offset + stream.len).saturating_sub(stream.stride));
                let limit = stream.offset.saturating_sub(span);
                while tail > limit {
                    let first = tail.saturating_sub(stream.len);
                    push(plan, first, tail - first, access.file_blocks);
                    tail = tail.saturating_sub(stream.stride);
                }
                stream.ahead = tail;
            }
        }
    }

    /// Two streams of single reads that this one is in line with become one strided stream.
    fn merge(&mut self, file: usize, block: u64) -> Option<usize> {
        let streams = &mut self.files[file];
        for kept in 0..streams.len() {
            for other in kept + 1..streams.len() {
                let (p, q) = (streams[kept], streams[other]);
                if p.len != p.stride || q.len != q.stride {
                    continue;
                }
                let onward = |from: u64, to: u64| to.wrapping_add(to.wrapping_sub(from)) == block;
                let forward = match (onward(p.offset, q.offset), onward(q.offset, p.offset)) {
                    (true, _) => q.offset > p.offset,
                    (_, true) => p.offset > q.offset,
                    _ => continue,
                };
                let stride = p.offset.abs_diff(q.offset);
                let (direction, ahead) = if forward {
                    (Direction::Forward, block + stride)
                } else {
                    (Direction::Backward, (block + p.len).saturating_sub(stride))
                };
                streams[kept] = Stream { offset: block, stride, ahead, direction, ..p };
                self.ahead_blocks -= q.cap;
                streams.remove(other);
                return Some(kept);
            }
        }
        None
    }

    fn create(&mut self, file: usize, access: &Access, block: u64) {
        let new =
            Stream { offset: block, len: 1, stride: 1, ahead: block + 1, cap: 1, direction: Direction::Forward, last_ns: access.now_ns };
        let streams = &mut self.files[file];
        if let Some(idle) = streams.iter_mut().find(|stream| access.now_ns.saturating_sub(stream.last_ns) > REAP_NS) {
            self.ahead_blocks -= idle.cap - 1;
            *idle = new;
        } else if (streams.len() as u64) < self.most_streams.min(access.file_blocks / self.most_cap).max(1) {
            self.ahead_blocks += 1;
            streams.push(new);
        }
    }
}

impl Predictor for Zfs2008 {
    fn read(&mut self, file: usize, access: &Access, plan: &mut Vec<Run>) {
        for block in access.block..access.end() {
            match self.follow(file, block, access.found) {
                Match::Covered => {}
                Match::Goes(place) => self.fetch(file, place, access, plan),
                Match::None => match self.merge(file, block) {
                    Some(place) => self.fetch(file, place, access, plan),
                    None => self.create(file, access, block),
                },
            }
        }
    }

    fn ahead_blocks(&self) -> u64 {
        self.ahead_blocks
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::trace;
    use super::*;

    #[test]
    fn the_documented_trace() {
        let fetched = trace(&mut Zfs2008::new(1, 8, 256), 0..14, false);
        let runs = |first: u64, len: u64, count: u64| (0..count).map(|n| (first + n * len, len)).collect::<Vec<_>>();
        assert_eq!(fetched[..5], [vec![], vec![(2, 2)], vec![(4, 3)], runs(7, 4, 2), runs(15, 5, 2)]);
        assert_eq!(fetched[5..9], [runs(25, 6, 3), runs(43, 7, 4), runs(71, 8, 9), runs(143, 9, 14)]);
        assert_eq!(fetched[9..], [vec![], vec![], vec![], vec![], vec![(269, 14)]]);
    }

    /// Fewest and most blocks ahead of the reader once a stream covers its cap.
    fn settled(cap: u64) -> (u64, u64, usize) {
        let fetched = trace(&mut Zfs2008::new(1, 8, cap), 0..4 * cap, false);
        let mut end = 0;
        let (mut least, mut most, mut bursts) = (u64::MAX, 0, 0);
        for (block, runs) in fetched.iter().enumerate() {
            end = runs.iter().map(|(first, len)| first + len).max().unwrap_or(end);
            if block as u64 >= 2 * cap {
                let ahead = end - block as u64 - 1;
                (least, most) = (least.min(ahead), most.max(ahead));
                bursts += usize::from(!runs.is_empty());
            }
        }
        (least, most, bursts)
    }

    #[test]
    fn a_settled_stream_fetches_a_cap_at_a_time_and_is_one_to_two_caps_ahead() {
        assert_eq!(settled(256), (256, 511, 2));
        assert_eq!(settled(16), (16, 31, 2));
    }

    #[test]
    fn a_backward_reader_is_the_mirror_image() {
        let forward = trace(&mut Zfs2008::new(1, 8, 256), 0..14, false);
        let backward = trace(&mut Zfs2008::new(1, 8, 256), (0..14).map(|step| 10_000 - step), false);
        for (runs, mirrored) in forward.iter().zip(&backward) {
            let back: Vec<(u64, u64)> = mirrored.iter().map(|(first, len)| (10_001 - first - len, *len)).collect();
            assert_eq!(*runs, back);
        }
    }

    #[test]
    fn three_reads_in_line_become_a_stride() {
        let fetched = trace(&mut Zfs2008::new(1, 8, 256), [100, 200, 300, 400].into_iter(), false);
        assert_eq!(fetched, [vec![], vec![], vec![(400, 1), (500, 1)], vec![(600, 1), (700, 1), (800, 1)]]);
    }

    #[test]
    fn a_block_that_should_have_been_there_resets_its_stream() {
        let mut predictor = Zfs2008::new(1, 8, 256);
        trace(&mut predictor, 0..10, false);
        let mut plan = Vec::new();
        let mut access = Access { now_ns: 5_000_000_000, block: 10, blocks: 1, file_blocks: 1 << 20, found: false, ..Access::default() };
        predictor.read(0, &access, &mut plan);
        assert_eq!((plan.len(), predictor.ahead_blocks()), (0, 1), "it begins again, one block long");
        access = Access { block: 11, ..access };
        predictor.read(0, &access, &mut plan);
        assert_eq!(plan, [Run { block: 12, blocks: 2 }]);
    }

    #[test]
    fn a_small_file_has_one_stream_and_an_idle_stream_gives_way() {
        let mut predictor = Zfs2008::new(1, 8, 256);
        let mut plan = Vec::new();
        for (second, block) in [(0, 5), (1, 50), (4, 90), (4, 91)] {
            let access = Access { now_ns: second * 1_000_000_000, block, blocks: 1, file_blocks: 300, found: false, ..Access::default() };
            predictor.read(0, &access, &mut plan);
        }
        assert_eq!(plan, [Run { block: 92, blocks: 2 }], "the second finds no place, the third takes the idle one's");
    }
}
