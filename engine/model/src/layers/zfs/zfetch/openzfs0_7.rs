//! The read-ahead of 2015 (Illumos 5987; 0.7 to 2.1): forward streams, and a distance in bytes.
//!
//! A stream expects one block. A read of it fetches from where the stream has got to, at first as much again as it is ahead, so the
//! distance doubles with each read up to 8 MiB; then each read fetches as much as it has used. No bursts, no strides, no way
//! back. Block 0 is ignored: many files are opened only for their first block.

use super::{Access, Predictor, REAP_NS, push};
use crate::read_ahead::Run;

/// Farthest that a stream is ahead, in bytes.
pub const DISTANCE_BYTES: u64 = 8 << 20;

#[derive(Clone, Copy, Debug)]
struct Stream {
    expected: u64,
    ahead: u64,
    last_ns: u64,
}

/// Read-ahead of 2015.
#[derive(Debug)]
pub struct OpenZfs0_7 {
    files: Vec<Vec<Stream>>,
    most_streams: u64,
    distance: u64,
    streams: u64,
}

impl OpenZfs0_7 {
    /// Read-ahead over so many files, with at most `most_streams` each, which go up to `distance` blocks ahead.
    #[must_use]
    pub fn new(files: usize, most_streams: u64, distance: u64) -> Self {
        Self { files: vec![Vec::new(); files], most_streams, distance, streams: 0 }
    }
}

impl Predictor for OpenZfs0_7 {
    fn read(&mut self, file: usize, access: &Access, plan: &mut Vec<Run>) {
        let (block, end) = (access.block, access.end());
        if block == 0 {
            return;
        }
        let streams = &mut self.files[file];
        if let Some(stream) = streams.iter_mut().find(|stream| stream.expected == block || stream.expected == block + 1) {
            let start = stream.ahead.max(end);
            let blocks = (stream.ahead.max(block) - block + access.blocks).min((end + self.distance).saturating_sub(start));
            if push(plan, start, blocks, access.file_blocks) {
                stream.ahead = start + blocks;
            }
            (stream.expected, stream.last_ns) = (end, access.now_ns);
            return;
        }
        self.streams -= streams.len() as u64;
        streams.retain(|stream| access.now_ns.saturating_sub(stream.last_ns) <= REAP_NS);
        if (streams.len() as u64) < self.most_streams.min(access.file_blocks / self.distance).max(1) {
            streams.push(Stream { expected: end, ahead: end, last_ns: access.now_ns });
        }
        self.streams += streams.len() as u64;
    }

    fn ahead_blocks(&self) -> u64 {
        self.streams * self.distance
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::trace;
    use super::*;

    #[test]
    fn the_documented_trace() {
        let fetched = trace(&mut OpenZfs0_7::new(1, 8, 64), 0..13, false);
        assert_eq!(fetched[..5], [vec![], vec![], vec![(3, 1)], vec![(4, 2)], vec![(6, 3)]]);
        assert_eq!(
            fetched[5..],
            [vec![(9, 5)], vec![(14, 9)], vec![(23, 17)], vec![(40, 33)], vec![(73, 1)], vec![(74, 1)], vec![(75, 1)], vec![(76, 1)]]
        );
    }

    #[test]
    fn a_reader_whose_requests_overlap_by_one_block_is_followed() {
        let fetched = trace(&mut OpenZfs0_7::new(1, 8, 64), [1, 2, 2, 3].into_iter(), false);
        assert!(fetched.iter().skip(1).all(|runs| !runs.is_empty()), "{fetched:?}");
    }

    #[test]
    fn a_stream_that_nobody_reads_is_gone_after_two_seconds() {
        let mut predictor = OpenZfs0_7::new(1, 1, 64);
        let mut plan = Vec::new();
        for (second, block) in [(0, 1), (1, 100), (4, 200), (4, 201)] {
            predictor.read(
                0,
                &Access { now_ns: second * 1_000_000_000, block, blocks: 1, file_blocks: 1000, ..Access::default() },
                &mut plan,
            );
        }
        assert_eq!(plan, [Run { block: 202, blocks: 1 }]);
    }
}
