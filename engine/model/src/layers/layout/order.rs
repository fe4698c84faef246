//! The order in which a rebuild takes its chunks.
//!
//! By address is from the first to the last. By time follows when data were written: the disks were filled over and over, so what was
//! written together lies spread over all of them, and the walk through the data by age goes over the disks once for each age. With
//! `passes` ages the first pass takes chunks 0, passes, 2 passes and so on, the second 1, passes + 1 and so on.
//! Sorted batches follow time, too, but gather the places of a number of chunks first and take those by address.
//!
//! Assumed: ages are equal in size and spread evenly. Left out: the time of reading the metadata that places are gathered from.

use seeklab_spec::rebuild::{RebuildOrder, RebuildSpec};

/// An order of chunks, numbered by address.
pub(super) struct Order {
    chunks: u64,
    passes: u64,
    /// Chunks that are sorted together; 1 when none are.
    batch: u64,
    /// The batch in hand: the number of its first chunk by time, and its chunks by address.
    start: u64,
    sorted: Vec<u64>,
}

impl Order {
    /// The order of so many chunks of `chunk_bytes` each.
    pub(super) fn new(spec: &RebuildSpec, chunks: u64, chunk_bytes: u64) -> Self {
        let batch = (spec.sorted.0 / chunk_bytes.max(1)).max(1);
        let is_by_address = spec.order == RebuildOrder::Address || batch >= chunks;
        let passes = if is_by_address { 1 } else { u64::from(spec.passes).min(chunks) };
        Self { chunks, passes: passes.max(1), batch: if passes <= 1 { 1 } else { batch }, start: 0, sorted: Vec::new() }
    }

    /// The chunk that is taken as number `nth`; calls go upwards.
    #[allow(clippy::cast_possible_truncation)] // a batch is checked to fit into memory
    pub(super) fn chunk(&mut self, nth: u64) -> u64 {
        if self.batch == 1 {
            return self.by_time(nth);
        }
        if nth >= self.start + self.sorted.len() as u64 {
            self.start = nth / self.batch * self.batch;
            let end = (self.start + self.batch).min(self.chunks);
            self.sorted = (self.start..end).map(|nth| self.by_time(nth)).collect();
            self.sorted.sort_unstable();
        }
        self.sorted[(nth - self.start) as usize]
    }

    /// From which number on the order goes upwards by address to its end, so that all chunks below the one in hand are taken.
    pub(super) fn last_sweep(&self) -> u64 {
        match (self.passes, self.batch) {
            (1, _) => 0,
            (_, 1) => self.chunks - self.chunks / self.passes,
            (_, batch) => (self.chunks - 1) / batch * batch,
        }
    }

    /// The chunk number `nth` by time. The first passes have one chunk more where they are not all equal.
    fn by_time(&self, nth: u64) -> u64 {
        let (each, more) = (self.chunks / self.passes, self.chunks % self.passes);
        let (pass, place) = if nth < more * (each + 1) {
            (nth / (each + 1), nth % (each + 1))
        } else {
            let nth = nth - more * (each + 1);
            (more + nth / each, nth % each)
        };
        place * self.passes + pass
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use seeklab_spec::Bytes;

    fn order(chunks: u64, passes: u32, batch: u64) -> Vec<u64> {
        let spec = RebuildSpec { order: RebuildOrder::Time, passes, sorted: Bytes(batch), ..RebuildSpec::default() };
        let mut order = Order::new(&spec, chunks, 1);
        (0..chunks).map(|nth| order.chunk(nth)).collect()
    }

    #[test]
    fn passes_follow_each_other_and_batches_join_them() {
        assert_eq!(order(7, 3, 0), [0, 3, 6, 1, 4, 2, 5]);
        assert_eq!(order(7, 3, 5), [0, 1, 3, 4, 6, 2, 5]);
        assert_eq!(order(7, 3, 7), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(order(7, 1, 0), [0, 1, 2, 3, 4, 5, 6]);
    }

    proptest! {
        #[test]
        fn each_chunk_comes_once_and_from_the_last_sweep_on_none_below_is_missing(chunks in 1u64..200, passes in 1u32..30, batch in 0u64..250) {
            let spec = RebuildSpec { order: RebuildOrder::Time, passes, sorted: Bytes(batch), ..RebuildSpec::default() };
            let sweep = Order::new(&spec, chunks, 1).last_sweep();
            let order = order(chunks, passes, batch);
            let mut taken = vec![false; order.len()];
            for (nth, chunk) in (0..).zip(&order) {
                let chunk = usize::try_from(*chunk).expect("few");
                prop_assert!(!taken[chunk]);
                prop_assert!(nth < sweep || taken[..chunk].iter().all(|is_taken| *is_taken));
                taken[chunk] = true;
            }
        }
    }
}
