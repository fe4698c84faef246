//! The devices of the intent logs: which block goes to which of them, and how much of each is still needed.
//!
//! Devices hold blocks alone or in mirrors. Each block of a log avoids the mirror of the block before it, so blocks go to the
//! mirrors in turn and their rates add up. A block is needed until the groups of its records are in the pool; then its room is free.
//! So a log device never holds more than what is dirty in memory (and the rounding of its blocks), however large it is. A block for
//! which there is no room goes to the pool.
//!
//! Source: `metaslab.c` (a hint to avoid the last block's device), `zil.c` (`zil_sync`), reference section 7.2. Left out: the order in
//! which the blocks of a log are freed (one that is not needed any more waits for those before it), fragments of free space.

use super::throttle::{SLOTS, slot};

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
