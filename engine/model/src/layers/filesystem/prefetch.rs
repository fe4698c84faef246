//! Prefetchers: what to read ahead of a reader.
//!
//! The only one so far is the prefetcher of the ODX incident: *each* large read is followed by a fixed number of prefetches, one
//! as a rule, of at most one chunk each, for the range directly after the read. It keeps a reader whose requests are no larger
//! than the chunk entirely in memory. A request of chunk + tail finds the chunk and misses the tail, every time:
//!
//! ```text
//!   read n      |<------- chunk: in memory ------->|<- tail: from disk ->|
//!   prefetch n                                                           |<------- chunk ------->|
//!   read n + 1                                                           |<------- chunk ------->|<- tail ->|
//! ```
//!
//! Left out: detection of streams and strides (a read of at least `min_read` is taken for part of a stream).

use seeklab_spec::Prefetch;

use crate::range::Range;

/// A policy that decides what to read ahead.
pub trait Prefetcher {
    /// Called for each read `read` of a file that ends at `file_end`; adds the ranges to prefetch to `plan`, in order.
    fn plan(&mut self, read: Range, file_end: u64, plan: &mut Vec<Range>);
}

/// A fixed number of chunks after each large read.
#[derive(Clone, Copy, Debug)]
pub struct NextChunks {
    chunk: u64,
    per_request: u32,
    min_read: u64,
}

impl NextChunks {
    /// The prefetcher that a scenario describes.
    #[must_use]
    pub fn new(spec: &Prefetch) -> Self {
        Self { chunk: spec.chunk.0, per_request: spec.per_request, min_read: spec.min_read.0 }
    }
}

impl Prefetcher for NextChunks {
    fn plan(&mut self, read: Range, file_end: u64, plan: &mut Vec<Range>) {
        if read.end - read.start < self.min_read {
            return;
        }
        let mut start = read.end;
        for _ in 0..self.per_request {
            let end = (start + self.chunk).min(file_end);
            if start < end {
                plan.push(Range { start, end });
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seeklab_spec::Bytes;

    fn ranges(per_request: u32, read: Range, file_end: u64) -> Vec<Range> {
        let spec = Prefetch { chunk: Bytes(8), per_request, min_read: Bytes(2) };
        let mut plan = Vec::new();
        NextChunks::new(&spec).plan(read, file_end, &mut plan);
        plan
    }

    #[test]
    fn one_chunk_after_the_read_whatever_the_size_of_the_read() {
        assert_eq!(ranges(1, Range { start: 0, end: 9 }, 100), [Range { start: 9, end: 17 }]);
    }

    #[test]
    fn two_prefetches_reach_two_chunks_ahead() {
        assert_eq!(ranges(2, Range { start: 0, end: 8 }, 100), [Range { start: 8, end: 16 }, Range { start: 16, end: 24 }]);
    }

    #[test]
    fn nothing_is_read_past_the_end_of_the_file() {
        assert_eq!(ranges(2, Range { start: 0, end: 8 }, 10), [Range { start: 8, end: 10 }]);
        assert_eq!(ranges(1, Range { start: 0, end: 10 }, 10), []);
    }

    #[test]
    fn small_reads_start_no_prefetch() {
        assert_eq!(ranges(1, Range { start: 0, end: 1 }, 100), []);
    }
}
