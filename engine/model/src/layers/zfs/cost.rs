//! The cost of a record besides its bytes: CPU time, and its block pointer.
//!
//! **Processors.** Every record that is written passes the pipeline of `zio.c`: it gets a checksum and a place, becomes a request, and its
//! pointer is set when that is done. This costs the same for 512 B as for 128 KiB, so small records meet a limit of records a second,
//! cores / time, long before the disks are busy:
//!
//! ```text
//! 8 cores, 40 us      512 B    97.7 MiB/s
//! 200,000 records/s   8 KiB    1.5 GiB/s
//!                     128 KiB  24.4 GiB/s
//! ```
//!
//! A record that is read passes the same pipeline (its checksum, its header in the ARC) when it arrives, and is copied out once the cores
//! have done that ([`crate::shared::Machine`]). There is no limit to how far the devices are ahead of them.
//!
//! A commit of the intent log has a time of its own ([`super::intent_log`]).
//!
//! **Block pointers.** A record's pointer (128 B) lies in an indirect block, of 16 KiB until 2016 and 128 KiB since 0.7. A group writes each
//! indirect block of which a record changed once, whole, compressed to a third, in one copy more than the data. A file written in order
//! thus adds 128 B / 3 x 2 for each record: 17 % to 512 B, 1 % to 8 KiB, 0.07 % to 128 KiB. Random writes, each below another indirect
//! block, pay for a whole one each.
//!
//! Sources: `spa.h` (a block pointer of 128 B), `dmu.c` (`dmu_write_policy`, copies of metadata), `dnode.h` (`DN_MAX_INDBLKSHIFT`), `OpenZFS`
//! 7104 of 2016 (16 KiB to 128 KiB), and M. Ahrens in `OpenZFS` issue 11810 (about 40 K written of an indirect block of 128 KiB). Assumed:
//! 40 us and 8 cores; no measurement of the processor time of a record was found, and issue 8381 shows the order of it (22.7 us to take
//! a write of 4 KiB into memory, 2021). Left out: levels above the first (1/128 or 1/1024 of it), space maps, the distance between the
//! copies, the share of the time that grows with the record's length, cores that reads and groups share with each other and with clients; allocation units above 512 B.

/// Length of a block pointer.
const POINTER_BYTES: u64 = 128;
/// An indirect block is compressed to one part in so many.
const COMPRESSION: u64 = 3;
/// The smallest unit of allocation.
const SECTOR_BYTES: u64 = 512;
/// Most copies of anything.
const COPIES_MAX: u64 = 3;
/// The processors work so far ahead of the devices. More than the time of one event, so that there is not an event for each record.
const LEAD_NS: u64 = 1_000_000;

/// The processors that write records.
#[derive(Clone, Copy, Debug)]
pub struct Processors {
    /// Time of one core for a record.
    pub each_ns: u64,
    cores: u64,
    free_ns: u64,
    /// Whether the devices wait for them.
    pub is_awaited: bool,
}

impl Processors {
    /// So many cores that take `each_ns` for a record.
    #[must_use]
    pub fn new(each_ns: u64, cores: u32) -> Self {
        Self { each_ns, cores: u64::from(cores.max(1)), free_ns: 0, is_awaited: false }
    }

    /// Takes the time for so many records.
    #[inline]
    pub fn take(&mut self, now_ns: u64, records: u64) {
        self.free_ns = self.free_ns.max(now_ns).saturating_add(records.saturating_mul(self.each_ns).div_ceil(self.cores));
    }

    /// When the next records may follow; None when they may at once.
    #[must_use]
    #[inline]
    pub fn next_ns(&self, now_ns: u64) -> Option<u64> {
        (self.free_ns > now_ns.saturating_add(LEAD_NS)).then(|| self.free_ns - LEAD_NS / 2)
    }
}

/// Bytes of indirect blocks, of `indirect_bytes` each before they are compressed, that a group writes whose dirty records are in `words`
/// (each a number and 64 records), in order. None when pointers cost nothing.
#[must_use]
pub fn pointer_bytes(words: &[(u64, u64)], indirect_bytes: u64, copies: u64) -> u64 {
    let words_each = indirect_bytes / POINTER_BYTES / u64::from(u64::BITS);
    if words_each == 0 {
        return 0;
    }
    let (mut last, mut count) = (None, 0);
    for (word, _) in words.iter().filter(|(_, bits)| *bits != 0) {
        let block = Some(word / words_each);
        count += u64::from(block != last);
        last = block;
    }
    count * (indirect_bytes / COMPRESSION).next_multiple_of(SECTOR_BYTES) * (copies + 1).min(COPIES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    #[test]
    fn the_rate_is_that_of_all_cores() {
        let mut processors = Processors::new(40_000, 8);
        let (mut now_ns, mut records) = (0, 0);
        while now_ns < 1_000_000_000 {
            if let Some(at_ns) = processors.next_ns(now_ns) {
                now_ns = at_ns;
            } else {
                processors.take(now_ns, 16);
                records += 16;
            }
        }
        assert!((200_000_u64..=200_300).contains(&records), "{records}");
        assert_eq!(Processors::new(0, 8).next_ns(0), None);
    }

    #[test]
    fn each_indirect_block_is_written_once_a_group() {
        let all = u64::MAX;
        let in_order: Vec<(u64, u64)> = (0..32).map(|word| (word, all)).collect(); // 2048 records
        assert_eq!(
            pointer_bytes(&in_order, 128 * KIB, 1),
            2 * 2 * 44_032,
            "two of 1024 pointers, a third of 128 KiB in whole sectors, twice"
        );
        assert_eq!(pointer_bytes(&in_order, 16 * KIB, 1), 16 * 2 * 5632);
        let far_apart: Vec<(u64, u64)> = (0..32).map(|word| (word * 1000, 1)).collect(); // 32 records
        assert_eq!(pointer_bytes(&far_apart, 128 * KIB, 1), 32 * 2 * 44_032, "a whole one for each record");
        assert_eq!(pointer_bytes(&[(0, 0), (7, 0)], 128 * KIB, 1), 0);
        assert_eq!((pointer_bytes(&in_order, 0, 1), pointer_bytes(&in_order, 128 * KIB, 3)), (0, 2 * 3 * 44_032));
    }
}
