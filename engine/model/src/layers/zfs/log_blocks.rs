//! The blocks of the intent log: how large each is allocated, and how much of it is written.
//!
//! A block holds the records of a commit behind a header that names the next block. It is as large as what the commit holds, in the size
//! classes of the version, and not smaller than the last blocks were: the next block is allocated before anybody knows what goes into it.
//! Only what is used is written, rounded up to 4 KiB.
//!
//! | version | size of a block |
//! |---|---|
//! | 2008 | what is used, rounded up to 4 KiB, and not less than in the block before |
//! | 2010 to 0.8 | 4, 12, 36 or 128 KiB, the largest of the last 16 choices, this one included |
//! | 2.0 to 2.2 | the same with 68 KiB, also instead of 128 KiB for a commit of one write of 128 KiB, which then makes two even blocks |
//! | 2.3 and later | what is used, rounded up to 4 KiB |
//!
//! The block after one of 4 KiB thus begins 4 or 12 KiB further on: by the time that the first is acknowledged, its place has just passed
//! the head of a disk, and every commit waits for most of a turn.
//!
//! Source: `zil.c` (`zil_block_buckets`, `ZIL_PREV_BLKS`), reference section 7.4; the class of 68 KiB came with `FreeBSD` r352939 (2019) and
//! `OpenZFS` 2.0. Left out: that the first block of a commit was chosen by the commit before (here a commit knows what it holds); the
//! prediction of 2.3, which looks at the last eight bursts (here it is right); a record that does not fit leaves the rest of a block empty in
//! versions before 0.7 (here it is split).

use seeklab_spec::zfs::Era;

/// The largest log block.
pub const MAX_REQUEST_BYTES: u64 = 128 << 10;
/// Header of a log block.
const CHAIN_BYTES: u64 = 192;
/// The used part of a log block is rounded up to this.
const ROUNDED_TO: u64 = 4 << 10;
/// Choices that count from 2010 on.
const REMEMBERED: usize = 16;

/// A commit of up to so many bytes gets blocks of this size.
type Class = (u64, u64);

const KIB: u64 = 1 << 10;
const CLASSES_2010: [Class; 4] = [(4 * KIB, 4 * KIB), (12 * KIB, 12 * KIB), (36 * KIB, 36 * KIB), (u64::MAX, MAX_REQUEST_BYTES)];
const CLASSES_2_0: [Class; 7] = [
    (4 * KIB, 4 * KIB),
    (12 * KIB, 12 * KIB),
    (36 * KIB, 36 * KIB),
    (68 * KIB, 68 * KIB),
    (128 * KIB, 128 * KIB),
    (132 * KIB, 68 * KIB),
    (u64::MAX, MAX_REQUEST_BYTES),
];

/// The sizes of a version's log blocks.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// None: in steps of 4 KiB.
    classes: Option<&'static [Class]>,
    /// Choices of which the largest counts, the present one included.
    choices: usize,
}

impl Sizes {
    /// Those of this version.
    #[must_use]
    pub fn of(era: Era) -> Self {
        let (classes, choices) = match era {
            Era::Zfs2008March | Era::Zfs2008December => (None, 2),
            Era::Zfs2010 | Era::OpenZfs2013 | Era::OpenZfs0_7 => (Some(&CLASSES_2010[..]), REMEMBERED),
            Era::OpenZfs2_1 | Era::OpenZfs2_2 => (Some(&CLASSES_2_0[..]), REMEMBERED),
            Era::OpenZfs2_3 => (None, 1),
        };
        Self { classes, choices }
    }

    /// The size of the blocks of a commit of `bytes` of records.
    #[must_use]
    pub fn choose(&self, bytes: u64, recent: &mut Recent) -> u64 {
        let bytes = bytes + CHAIN_BYTES;
        let own = match self.classes {
            None => bytes.next_multiple_of(ROUNDED_TO).min(MAX_REQUEST_BYTES),
            Some(classes) => classes.iter().find(|(limit, _)| bytes <= *limit).map_or(MAX_REQUEST_BYTES, |(_, size)| *size),
        };
        recent.largest(own, self.choices)
    }
}

/// The sizes that were chosen last for a log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    sizes: [u64; REMEMBERED],
    next: usize,
}

impl Recent {
    /// The largest of `count` choices: `own` and those before it.
    fn largest(&mut self, own: u64, count: usize) -> u64 {
        let before = (1..count).map(|back| self.sizes[(self.next + REMEMBERED - back) % REMEMBERED]);
        let largest = before.max().unwrap_or(0).max(own);
        self.sizes[self.next] = own;
        self.next = (self.next + 1) % REMEMBERED;
        largest
    }
}

/// Yield the bytes written to each block of `size` that holds `bytes` of records.
pub fn written(size: u64, bytes: u64) -> impl Iterator<Item = u64> {
    let room = size - CHAIN_BYTES;
    let (whole, rest) = (bytes / room, bytes % room);
    (0..whole).map(move |_| size).chain((rest > 0).then(|| (rest + CHAIN_BYTES).next_multiple_of(ROUNDED_TO)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes in KiB of the blocks of commits of records of these bytes, one after the other.
    fn chosen(era: Era, commits: &[u64]) -> Vec<u64> {
        let (sizes, mut recent) = (Sizes::of(era), Recent::default());
        commits.iter().map(|bytes| sizes.choose(*bytes, &mut recent) / KIB).collect()
    }

    #[test]
    fn a_block_is_as_large_as_what_it_holds_in_the_classes_of_its_version() {
        // A write of 512 B, 4, 8, 16, 32, 64 and 128 KiB with its header of 192 B.
        let writes = [512, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB].map(|bytes| bytes + 192);
        assert_eq!(chosen(Era::Zfs2010, &writes), [4, 12, 12, 36, 36, 128, 128]);
        assert_eq!(chosen(Era::OpenZfs0_7, &writes), [4, 12, 12, 36, 36, 128, 128]);
        assert_eq!(chosen(Era::OpenZfs2_1, &writes), [4, 12, 12, 36, 36, 68, 68]);
        assert_eq!(chosen(Era::OpenZfs2_3, &writes), [4, 8, 12, 20, 36, 68, 128]);
        assert_eq!(chosen(Era::Zfs2008March, &writes), [4, 8, 12, 20, 36, 68, 128]);
    }

    #[test]
    fn a_block_is_not_smaller_than_the_last_ones_were() {
        let (large, small) = (100 * KIB, 512);
        let mut commits = vec![large];
        commits.extend([small; 17]);
        let mut sixteen = vec![128; 16];
        sixteen.extend([4, 4]);
        assert_eq!(chosen(Era::OpenZfs2_1, &commits), sixteen);
        assert_eq!(chosen(Era::Zfs2008March, &[large, small, small]), [104, 104, 4]);
        assert_eq!(chosen(Era::OpenZfs2_3, &[large, small, small]), [104, 4, 4]);
    }

    #[test]
    fn only_what_is_used_is_written() {
        let of = |size: u64, bytes: u64| written(size * KIB, bytes).map(|length| length / KIB).collect::<Vec<_>>();
        assert_eq!(of(12, 0), [0; 0]);
        assert_eq!(of(12, 4096 + 192), [8]);
        assert_eq!(of(36, 16_384 + 192), [20]);
        assert_eq!(of(68, 131_072 + 192), [68, 64], "two even blocks");
        assert_eq!(of(128, 256 * KIB), [128, 128, 4], "the headers of two blocks need a third one");
    }
}
