//! Where records are after they were rewritten: copy on write.
//!
//! A record that is rewritten goes to the next free space. Within a group, the records of a file go there in the order in which they were
//! changed first (`dbuf_sync_list`), one file after the other. So a file that is written in order lies in order, and one that is written
//! at random lies at random: a read in order then reads here and there.
//!
//! Records that were not written in the run lie at the place of their offset, as in a file that was written once, in order.
//!
//! Source: `OpenZFS`, `dbuf.c` (`dbuf_sync_list` takes records from the head of a list that grows at its tail). Left out: in files of more than
//! one indirect block each of them has a list of its own (`dbuf_sync_indirect`), so that its records lie together; since 0.7,
//! records that wait for a place get it in the order of their offsets (`zio.c`, `zio_bookmark_compare`, the order of the tree of waiting
//! allocations in `spa.c`), which keeps some order within a group; free space: it has no holes, and old copies give none back.

use super::dirty::Table;

/// The places of rewritten records, and the order of those of the present group.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// First block of each file, in order.
    files: Vec<u64>,
    by_block: Table,
    order: Vec<u64>,
    next: usize,
}

impl Places {
    /// No rewritten records of files that begin at these blocks, in order.
    #[must_use]
    pub fn new(files: Vec<u64>) -> Self {
        Self { files, ..Self::default() }
    }

    /// A group begins to be written, with these blocks in the order in which they changed.
    pub fn begin(&mut self, blocks: &mut Vec<u64>) {
        (self.next, self.order) = (0, std::mem::take(blocks));
        if self.files.len() > 1 && !self.order.is_sorted() {
            let file = |block: u64| self.files.partition_point(|first| *first <= block) as u64;
            let mut places: Vec<(u64, u64)> = self.order.iter().map(|block| file(*block)).zip(0..).collect();
            places.sort_unstable();
            let block = |(_, nth): (u64, u64)| self.order.get(usize::try_from(nth).ok()?).copied();
            self.order = places.into_iter().filter_map(block).collect();
        }
    }

    /// So many further records of the group are written from `offset` on.
    pub fn write(&mut self, blocks: u64, offset: u64, record_bytes: u64) {
        for nth in 0..blocks {
            let Some(block) = self.order.get(self.next) else { return };
            self.next += 1;
            *self.by_block.entry(*block) = offset + nth * record_bytes;
        }
    }

    /// A record is written to `offset` by itself.
    pub fn set(&mut self, block: u64, offset: u64) {
        *self.by_block.entry(block) = offset;
    }

    /// Where a rewritten record is.
    #[must_use]
    pub fn get(&self, block: u64) -> Option<u64> {
        self.by_block.get(block)
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.by_block.memory_bytes() + (self.order.capacity() * size_of::<u64>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_lie_in_the_order_of_their_changes_file_by_file() {
        let mut places = Places::new(vec![0, 100]);
        places.begin(&mut vec![7, 105, 3, 100, 4]);
        places.write(2, 1000, 10);
        places.write(3, 2000, 10);
        assert_eq!([7, 3, 4, 105, 100].map(|block| places.get(block)), [1000, 1010, 2000, 2010, 2020].map(Some));
        assert_eq!(places.get(5), None);
        places.begin(&mut vec![3]);
        places.write(1, 5000, 10);
        assert_eq!((places.get(3), places.get(7)), (Some(5000), Some(1000)));
    }
}
