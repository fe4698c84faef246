//! Reads of what was written, as fio's `verify` makes them. Comparing takes no time: fio's checksums cost processor time that is the host's.
//!
//! What was written is read back once: in the order of writing where each block is written once a pass, otherwise by place and without
//! the blocks that were written over, as fio's list and its tree have it.

use seeklab_spec::access::Verify;

/// Blocks that were written and not yet read back.
pub struct Verifying {
    backlog: usize,
    batch: usize,
    /// By place, without repetition.
    sorted: bool,
    written: Vec<(u64, u64)>,
    /// The next of them to read, when reading is in progress, and how many to read.
    reading: Option<(usize, usize)>,
}

impl Verifying {
    /// `sorted` says whether blocks may be written more than once a pass.
    pub fn new(spec: Verify, sorted: bool) -> Self {
        let backlog = spec.backlog.map_or(usize::MAX, |backlog| backlog as usize);
        let batch = spec.batch.map_or(backlog, |batch| batch as usize);
        Self { backlog, batch, sorted, written: Vec::new(), reading: None }
    }

    /// A write has completed.
    pub fn wrote(&mut self, offset: u64, bytes: u64) {
        self.written.push((offset, bytes));
        if self.written.len() >= self.backlog {
            self.begin(self.batch);
        }
    }

    /// Begins to read all that is left; whether there is anything.
    pub fn begin_all(&mut self) -> bool {
        self.begin(usize::MAX);
        self.reading.is_some()
    }

    /// Whether reads are due.
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// The next block to read; nothing when all that was due has been read.
    pub fn next_block(&mut self) -> Option<(u64, u64)> {
        let (index, end) = self.reading.as_mut()?;
        if let Some(block) = self.written.get(*index).copied().filter(|_| *index < *end) {
            *index += 1;
            return Some(block);
        }
        let read = *index;
        self.written.drain(..read);
        self.reading = None;
        None
    }

    fn begin(&mut self, most: usize) {
        if self.reading.is_some() || self.written.is_empty() {
            return;
        }
        if self.sorted {
            self.written.sort_unstable();
            self.written.dedup_by_key(|block| block.0);
        }
        self.reading = Some((0, most.min(self.written.len())));
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> u64 {
        (self.written.capacity() * size_of::<(u64, u64)>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(verifying: &mut Verifying) -> Vec<u64> {
        std::iter::from_fn(|| verifying.next_block()).map(|(offset, _)| offset).collect()
    }

    #[test]
    fn blocks_come_back_in_the_order_of_writing_or_by_place_once() {
        for (sorted, expected) in [(false, vec![8, 0, 4, 8]), (true, vec![0, 4, 8])] {
            let mut verifying = Verifying::new(Verify::default(), sorted);
            for offset in [8, 0, 4, 8] {
                verifying.wrote(offset, 4);
            }
            assert!(!verifying.is_reading() && verifying.begin_all());
            assert_eq!(read_back(&mut verifying), expected);
            assert!(!verifying.begin_all());
        }
    }

    #[test]
    fn a_backlog_is_read_back_as_soon_as_it_is_full() {
        let mut verifying = Verifying::new(Verify { backlog: Some(3), batch: Some(2) }, false);
        for offset in [0, 4] {
            verifying.wrote(offset, 4);
        }
        assert!(!verifying.is_reading());
        verifying.wrote(8, 4);
        assert_eq!(read_back(&mut verifying), [0, 4]);
        assert!(verifying.begin_all());
        assert_eq!(read_back(&mut verifying), [8]);
    }
}
