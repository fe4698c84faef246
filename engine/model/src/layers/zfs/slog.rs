//! Which device a block of the intent logs goes to, and how much of each log device is still needed.
//!
//! Log devices hold blocks alone or in mirrors. Each block of a log avoids the mirror of the block before it, so blocks go to the
//! mirrors in turn and their rates add up. A block is needed until the groups of its records are in the pool; then its room is free.
//! So a log device never holds more than what is dirty in memory (and the rounding of its blocks), however large it is. A block for
//! which there is no room goes to the pool.
//!
//! A log in the pool goes round the devices or mirrors of the pool in the same way ([`Turns`]), each of its blocks behind the last one on
//! the same device. The next block meets another spindle at another angle, so two disks make a lone synchronous writer about twice as fast.
//!
//! Source: `metaslab.c` (a hint to avoid the last block's device), `zil.c` (`zil_sync`), reference section 7.2. Left out: the order in
//! which the blocks of a log are freed (one that is not needed any more waits for those before it), fragments of free space.

use super::throttle::{SLOTS, slot};

/// The room of the intent logs in the pool: on each device a stripe unit that log blocks fill one after the other.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// First free byte and end of each device's unit.
    units: Vec<(u64, u64)>,
    last: usize,
}

impl Turns {
    /// Room on so many devices or mirrors, between which addresses are striped.
    #[must_use]
    pub fn new(devices: u64) -> Self {
        let devices = usize::try_from(devices).unwrap_or(1).max(1);
        Self { units: vec![(0, 0); devices], last: devices - 1 }
    }

    /// The device whose turn it is, and how many there are.
    pub fn next_device(&mut self) -> (u64, u64) {
        self.last = (self.last + 1) % self.units.len();
        (self.last as u64, self.units.len() as u64)
    }

    /// The address of a block of at most a unit: on the device after that of the block before. A new unit is taken from the free space
    /// behind `cursor`.
    pub fn place(&mut self, bytes: u64, unit: u64, capacity: u64, cursor: &mut u64) -> u64 {
        let (_, devices) = self.next_device();
        let (free, end) = &mut self.units[self.last];
        if *end - *free < bytes {
            let first = cursor.div_ceil(unit);
            let ahead = (self.last as u64 + devices - first % devices) % devices;
            let taken = if (first + ahead + 1) * unit > capacity { self.last as u64 } else { first + ahead };
            (*free, *end) = (taken * unit, (taken + 1) * unit);
            *cursor = *end;
        }
        *free += bytes;
        *free - bytes
    }
}

#[derive(Clone, Debug, Default)]
struct Mirror {
    /// Where its next block goes.
    end_bytes: u64,
    live_bytes: u64,
    /// Live bytes by the last group that a block has records of.
    by_group: [u64; SLOTS],
}

/// The devices of the intent logs.
#[derive(Clone, Debug)]
pub struct Slog {
    mirrors: Vec<Mirror>,
    capacity_bytes: u64,
    next: usize,
    /// Most bytes that were needed at once, over all mirrors.
    pub most_live_bytes: u64,
}

impl Slog {
    /// So many empty mirrors of devices of this capacity.
    #[must_use]
    pub fn new(mirrors: u32, capacity_bytes: u64) -> Self {
        Self { mirrors: vec![Mirror::default(); mirrors as usize], capacity_bytes, next: 0, most_live_bytes: 0 }
    }

    /// The mirror, and the offset on it, of a block allocated with `bytes`, with records of groups up to `group`; None when there is no room.
    pub fn place(&mut self, bytes: u64, group: u64) -> Option<(usize, u64)> {
        let at = (self.next + 1) % self.mirrors.len().max(1);
        let mirror = self.mirrors.get_mut(at)?;
        if mirror.live_bytes + bytes > self.capacity_bytes {
            return None;
        }
        self.next = at;
        let offset = if mirror.end_bytes + bytes > self.capacity_bytes { 0 } else { mirror.end_bytes };
        mirror.end_bytes = offset + bytes;
        mirror.live_bytes += bytes;
        mirror.by_group[slot(group)] += bytes;
        self.most_live_bytes = self.most_live_bytes.max(self.live_bytes());
        Some((at, offset))
    }

    /// `group` is in the pool: what only it needed is free.
    pub fn synced(&mut self, group: u64) {
        for mirror in &mut self.mirrors {
            mirror.live_bytes -= std::mem::take(&mut mirror.by_group[slot(group)]);
        }
    }

    /// Bytes that are needed, over all mirrors.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.mirrors.iter().map(|mirror| mirror.live_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_the_pool_go_round_its_devices_and_follow_each_other_on_each() {
        let (mut turns, mut cursor) = (Turns::new(3), 1000);
        let mut place = |cursor: &mut u64| turns.place(40, 100, 3000, cursor);
        let mut first: Vec<u64> = (0..6).map(|_| place(&mut cursor)).collect();
        assert!(first.iter().zip([0, 1, 2, 0, 1, 2]).all(|(at, device)| at / 100 % 3 == device), "{first:?}");
        assert_eq!((first[3] - first[0], first[4] - first[1], first[5] - first[2]), (40, 40, 40));
        cursor = 2000;
        first = (0..3).map(|_| place(&mut cursor)).collect();
        assert_eq!((first, cursor), (vec![2100, 2200, 2300], 2400), "the units are full");
        cursor = 3000;
        first = (0..6).map(|_| place(&mut cursor)).collect();
        assert_eq!((&first[3..], cursor), (&[0, 100, 200][..], 300), "round the address space");
    }

    #[test]
    fn blocks_go_to_the_mirrors_in_turn() {
        let mut slog = Slog::new(3, 1000);
        let mirrors: Vec<usize> = (0..4).filter_map(|_| slog.place(100, 1)).map(|(mirror, _)| mirror).collect();
        assert_eq!(mirrors, [1, 2, 0, 1]);
        assert_eq!((slog.live_bytes(), slog.most_live_bytes), (400, 400));
    }

    #[test]
    fn room_is_free_again_once_the_group_is_in_the_pool() {
        let mut slog = Slog::new(1, 250);
        assert_eq!((slog.place(100, 1), slog.place(100, 2), slog.place(100, 2)), (Some((0, 0)), Some((0, 100)), None));
        slog.synced(1);
        assert_eq!(slog.place(100, 2), Some((0, 0)), "round the device");
        slog.synced(2);
        assert_eq!((slog.live_bytes(), slog.most_live_bytes), (0, 200));
    }

    #[test]
    fn without_devices_there_is_no_room() {
        assert_eq!(Slog::new(0, 1 << 40).place(1, 1), None);
    }
}
