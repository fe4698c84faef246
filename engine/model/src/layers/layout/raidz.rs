//! RAID-Z geometry: how a block of any size becomes a stripe of its own with parity.
//!
//! A block of `psize` bytes is cut into sectors of 2^ashift bytes and dealt out over `columns - parity` data columns; each row of
//! data sectors gets `parity` parity sectors. A read of the block therefore touches every data column, so a group does about as
//! many random reads per second as one of its disks; a write never has to read first. Space is allocated in multiples of
//! `parity + 1` sectors, so that every hole left behind can hold at least one data sector with its parity.
//!
//! The sectors that fill such a multiple hold nothing; ZFS calls them skip sectors. They leave gaps between the columns of neighbouring
//! blocks, and requests that do not touch are not merged. ZFS therefore issues optional writes for them, which exist only to be merged
//! ([`Padding`]), and reads over short gaps.
//!
//! Source of the rules: the RAID-Z allocation map of ZFS (one stripe width for each block); `vdev_raidz.c`, `vdev_raidz_io_start_write`
//! (optional writes for skip sectors). Left out: the swap of parity and first data column by offset.

/// The geometry of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaidZ {
    /// Disks in the group.
    pub columns: u64,
    /// Parity disks, 1 to 3, less than `columns`.
    pub parity: u64,
    /// Sector size as a power of two.
    pub ashift: u32,
}

/// A column's share of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Disk of the group.
    pub disk: u64,
    /// Start on the disk, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Whether it holds parity.
    pub parity: bool,
}

/// The skip sectors of one disk in a group that is full of blocks of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// The group.
    pub raidz: RaidZ,
    /// Disk of the group.
    pub disk: u64,
    /// Size of the blocks, in bytes.
    pub block_bytes: u64,
}

impl Padding {
    /// Whether the disk has nothing but skip sectors between these places, in bytes.
    #[must_use]
    pub fn fills(&self, from: u64, to: u64) -> bool {
        let RaidZ { columns, ashift, .. } = self.raidz;
        let (allocated, used) = (self.raidz.allocated_sectors(self.block_bytes), self.raidz.used_sectors(self.block_bytes));
        from < to
            && to - from <= self.longest_bytes()
            && (from >> ashift..to >> ashift).all(|row| (row * columns + self.disk) % allocated >= used)
    }

    /// Length of the longest gap that skip sectors leave on a disk, in bytes. One block leaves at most `parity` of them. From one
    /// sector of a disk to the next the place within a block moves by the same step, so they follow each other at most that often.
    #[must_use]
    pub fn longest_bytes(&self) -> u64 {
        self.raidz.parity << self.raidz.ashift
    }
}

impl RaidZ {
    /// Sectors of data in a block of `psize` bytes.
    #[must_use]
    pub fn data_sectors(self, psize: u64) -> u64 {
        psize.div_ceil(1 << self.ashift)
    }

    /// Sectors of data and parity in a block of `psize` bytes.
    #[must_use]
    pub fn used_sectors(self, psize: u64) -> u64 {
        let sectors = self.data_sectors(psize);
        sectors + self.parity * sectors.div_ceil(self.columns - self.parity)
    }

    /// Sectors that a block of `psize` bytes takes on the disks, parity and padding included.
    #[must_use]
    pub fn allocated_sectors(self, psize: u64) -> u64 {
        self.used_sectors(psize).next_multiple_of(self.parity + 1)
    }

    /// The columns of the block of `psize` bytes that begins at sector `start` of the group, parity first.
    pub fn columns_of(self, start: u64, psize: u64, found: &mut Vec<Column>) {
        found.clear();
        let sectors = self.data_sectors(psize);
        let (rows, rest) = (sectors / (self.columns - self.parity), sectors % (self.columns - self.parity));
        let long = if rest == 0 { 0 } else { rest + self.parity };
        let used = if rows == 0 { long } else { self.columns };
        for index in 0..used {
            let place = start % self.columns + index;
            let row = start / self.columns + place / self.columns;
            found.push(Column {
                disk: place % self.columns,
                offset: row << self.ashift,
                bytes: (rows + u64::from(index < long)) << self.ashift,
                parity: index < self.parity,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn columns(group: RaidZ, start: u64, psize: u64) -> Vec<Column> {
        let mut found = Vec::new();
        group.columns_of(start, psize, &mut found);
        found
    }

    #[test]
    fn blocks_take_the_sectors_and_touch_the_disks_that_zfs_documents() {
        // psize, ashift, columns, parity -> data sectors, allocated sectors, data disks touched, sectors of the largest column
        let vectors = [
            (128 << 10, 9, 6, 1, 256, 308, 5, 52),
            (128 << 10, 12, 6, 1, 32, 40, 5, 7),
            (128 << 10, 12, 6, 2, 32, 48, 4, 8),
            (8 << 10, 12, 6, 1, 2, 4, 2, 1),
            (8 << 10, 9, 6, 1, 16, 20, 5, 4),
            (4 << 10, 12, 6, 1, 1, 2, 1, 1),
            (4 << 10, 12, 6, 2, 1, 3, 1, 1),
            (16 << 10, 12, 5, 1, 4, 6, 4, 1),
            (128 << 10, 9, 5, 1, 256, 320, 4, 64),
            (128 << 10, 12, 11, 2, 32, 42, 9, 4),
            (4 << 10, 9, 11, 2, 8, 12, 8, 1),
        ];
        for (psize, ashift, disks, parity, sectors, allocated, touched, largest) in vectors {
            let group = RaidZ { columns: disks, parity, ashift };
            let found = columns(group, 0, psize);
            let data: Vec<_> = found.iter().filter(|column| !column.parity).collect();
            assert_eq!(group.data_sectors(psize), sectors, "{group:?}");
            assert_eq!(group.allocated_sectors(psize), allocated, "{group:?}");
            assert_eq!(data.len(), touched, "{group:?}");
            assert_eq!(found.iter().map(|column| column.bytes >> ashift).max(), Some(largest), "{group:?}");
        }
    }

    proptest! {
        #[test]
        fn padding_is_what_the_columns_of_neighbours_leave_free(parity in 1u64..4, data in 1u64..10, sectors in 1u64..40, ashift in 9u32..13) {
            let group = RaidZ { columns: data + parity, parity, ashift };
            let psize = sectors << ashift;
            let allocated = group.allocated_sectors(psize);
            let mut taken = std::collections::BTreeSet::new();
            let blocks = 2 * group.columns;
            for block in 0..blocks {
                for column in columns(group, block * allocated, psize) {
                    taken.extend((0..column.bytes >> ashift).map(|sector| (column.disk, (column.offset >> ashift) + sector)));
                }
            }
            for disk in 0..group.columns {
                let padding = Padding { raidz: group, disk, block_bytes: psize };
                for row in 0..blocks * allocated / group.columns {
                    prop_assert_eq!(padding.fills(row << ashift, (row + 1) << ashift), !taken.contains(&(disk, row)));
                }
            }
        }

        #[test]
        fn data_columns_hold_the_block_once(parity in 1u64..4, data in 1u64..15, start in 0u64..10_000, kib in 1u64..300) {
            let group = RaidZ { columns: data + parity, parity, ashift: 12 };
            let psize = kib * 1024;
            let found = columns(group, start, psize);
            let stored: u64 = found.iter().filter(|column| !column.parity).map(|column| column.bytes).sum();
            prop_assert_eq!(stored, group.data_sectors(psize) << 12);
            let mut disks: Vec<u64> = found.iter().map(|column| column.disk).collect();
            disks.sort_unstable();
            disks.dedup();
            prop_assert_eq!(disks.len(), found.len(), "no disk holds two columns");
            prop_assert!(found.iter().map(|column| column.bytes >> 12).sum::<u64>() <= group.allocated_sectors(psize));
        }
    }
}
