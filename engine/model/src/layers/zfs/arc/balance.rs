//! How an ARC shares its room: a target that ghosts move (until 2.1), or three fractions that they move (2.2 and later).
//!
//! **Target.** `p` bytes are meant for blocks used once. A block that had been used once, was evicted and is asked for again says that
//! there should have been more of it: `p` rises by its size, times the ratio of the ghost lists when the other is longer. A block that
//! had been used often says the contrary.
//!
//! **Fractions.** Of all bytes a fraction is for metadata; of data and of metadata each a fraction is for what was used once. Hits in ghosts
//! are only counted; when something has to be evicted, the hits since the last time move the fractions, in proportion to the size of the
//! ghosts and less the nearer a fraction is to its end.
//!
//! Source: reference sections 6.1 and 6.2. The fixed point of 2.2 shifts by as much as fits; here products are 128 bits wide.

/// The list of a ghost that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ghost {
    /// A block that had been used once.
    Once,
    /// A block that had been used again.
    Again,
}

/// The limits of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Neither side gets less than the capacity shifted by this; nothing is kept when absent.
    pub min_shift: Option<u32>,
    /// Largest ratio of the ghost lists that counts.
    pub most_times: u64,
}

impl Limits {
    /// 2008 to 2012.
    pub const ZFS_2008: Self = Self { min_shift: None, most_times: u64::MAX };
    /// ZFS on Linux, 2013 to 2.1.
    pub const LINUX: Self = Self { min_shift: Some(4), most_times: 10 };

    /// The target after a hit of `bytes` in a ghost list; `once` and `again` are the bytes that the two lists remember.
    #[must_use]
    pub fn adapt(self, target: u64, capacity: u64, (once, again): (u64, u64), bytes: u64, ghost: Ghost) -> u64 {
        let least = self.min_shift.map_or(0, |shift| capacity >> shift);
        let (own, other) = if ghost == Ghost::Once { (once, again) } else { (again, once) };
        let times = if own >= other { 1 } else { (other / own.max(1)).min(self.most_times) };
        let step = bytes.saturating_mul(times);
        match ghost {
            Ghost::Once => target.saturating_add(step).min(capacity - least),
            Ghost::Again => target.saturating_sub(step).max(least),
        }
    }
}

/// One, as a fraction.
pub const ONE: u64 = 1 << 32;
/// Weight of a hit in ghosts of data relative to one in ghosts of metadata, in percent.
const META_BALANCE: u64 = 500;

/// Bytes by kind (data, metadata) and use (once, again).
pub type ByState = [[u64; 2]; 2];

/// The fractions of 2.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fractions {
    /// Metadata of all.
    pub metadata: u64,
    /// Used once, of data and of metadata.
    pub once: [u64; 2],
}

impl Default for Fractions {
    fn default() -> Self {
        Self { metadata: ONE / 4, once: [ONE / 2; 2] }
    }
}

/// A share `of` as a fraction.
fn share(of: u64, total: u64) -> u64 {
    u64::try_from((u128::from(of) << 32) / u128::from(total)).unwrap_or(ONE)
}

/// A fraction after hits of `up` bytes in ghosts that ask for more of it and `down` bytes in ghosts that ask for less, of ghosts of
/// `total` bytes; `balance` divides what lowers it, in per cent.
#[must_use]
pub fn moved(fraction: u64, total: u64, mut up: u64, mut down: u64, balance: u64) -> u64 {
    if total < 32 || up + down == 0 {
        return fraction;
    }
    if up + down >= total / 16 {
        let scale = (up + down) / (total / 32);
        (up, down) = (up / scale, down / scale);
    }
    let rest = ONE - fraction;
    if fraction >= 4 * rest {
        up /= fraction / (2 * rest + 1);
    }
    if rest >= 4 * fraction {
        down /= rest / (2 * fraction + 1);
    }
    (fraction + share(up, total)).saturating_sub(share(down, total) * 100 / balance).min(ONE)
}

impl Fractions {
    /// Moves the fractions by the bytes of `hits` in ghosts of `ghosts` bytes.
    pub fn learn(&mut self, ghosts: &ByState, hits: &ByState) {
        let of = |kind: &[u64; 2]| kind[0] + kind[1];
        self.metadata = moved(self.metadata, of(&ghosts[0]) + of(&ghosts[1]), of(&hits[1]), of(&hits[0]), META_BALANCE);
        for kind in 0..2 {
            self.once[kind] = moved(self.once[kind], of(&ghosts[kind]), hits[kind][0], hits[kind][1], 100);
        }
    }

    /// Bytes to evict of each state, so that `over` bytes go in all: metadata first, of each kind first what was used once.
    #[must_use]
    pub fn evict(&self, sizes: &ByState, over: u64) -> ByState {
        let part = |of: u64, fraction: u64| u64::try_from((u128::from(of) * u128::from(fraction)) >> 32).unwrap_or(of);
        let total: u64 = sizes.iter().flatten().sum();
        let kept = total.saturating_sub(over);
        let metadata = part(kept, self.metadata);
        let mut left = over;
        let mut take = |excess: u64, size: u64| {
            let bytes = excess.min(left).min(size);
            left -= bytes;
            bytes
        };
        let [data, meta] = sizes;
        let meta_once = take(meta[0].saturating_sub(part(metadata, self.once[1])), meta[0]);
        let meta_again = take((meta[0] + meta[1] - meta_once).saturating_sub(metadata), meta[1]);
        let room = kept.saturating_sub(meta[0] + meta[1] - meta_once - meta_again);
        let data_once = take(data[0].saturating_sub(part(room, self.once[0])), data[0]);
        let data_again = take(u64::MAX, data[1]);
        [[data_once, data_again], [meta_once, meta_again]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_moves_as_documented() {
        let after = |limits: Limits, target, once, again, ghost| limits.adapt(target, 1000, (once, again), 10, ghost);
        for (target, once, again, ghost, old, linux) in [
            (500, 100, 300, Ghost::Once, 530, 530),
            (500, 300, 100, Ghost::Once, 510, 510),
            (500, 300, 100, Ghost::Again, 470, 470),
            (500, 100, 300, Ghost::Again, 490, 490),
            (995, 100, 300, Ghost::Once, 1000, 938),
            (5, 300, 100, Ghost::Again, 0, 62),
            (500, 10, 900, Ghost::Once, 1000, 600),
        ] {
            assert_eq!(after(Limits::ZFS_2008, target, once, again, ghost), old, "{target} {once} {again}");
            assert_eq!(after(Limits::LINUX, target, once, again, ghost), linux, "{target} {once} {again}");
        }
    }

    #[test]
    fn a_fraction_stays_without_hits_or_without_ghosts() {
        assert_eq!(moved(ONE / 2, 1000, 0, 0, 100), ONE / 2);
        assert_eq!(moved(ONE / 2, 31, 9, 0, 100), ONE / 2);
    }

    #[test]
    fn a_fraction_moves_by_the_share_of_the_ghosts_that_was_hit() {
        // 10 of 1000 bytes: below a sixteenth, so they count as they are.
        assert_eq!(moved(ONE / 2, 1000, 10, 0, 100), ONE / 2 + ONE / 100);
        assert_eq!(moved(ONE / 2, 1000, 0, 10, 100), ONE / 2 - ONE / 100);
        assert_eq!(moved(ONE / 2, 1000, 0, 10, 500), ONE / 2 - ONE / 100 / 5);
    }

    #[test]
    fn many_hits_are_scaled_down_to_a_thirty_second_of_the_ghosts_or_so() {
        // 500 of 1000: divided by 500 / 31 = 16, so 31 count.
        assert_eq!(moved(ONE / 2, 1000, 500, 0, 100), ONE / 2 + share(31, 1000));
    }

    #[test]
    fn near_its_end_a_fraction_slows_down() {
        let near = ONE / 10 * 9;
        assert_eq!(moved(near, 1000, 8, 0, 100), near + share(8 / (near / (2 * (ONE - near) + 1)), 1000));
        assert_eq!(moved(near, 1000, 0, 8, 100), near - share(8, 1000), "the way back is not damped");
        let low = ONE / 10;
        assert_eq!(moved(low, 1000, 0, 8, 100), low - share(8 / ((ONE - low) / (2 * low + 1)), 1000));
    }

    #[test]
    fn hits_in_ghosts_of_metadata_make_room_for_metadata() {
        let mut fractions = Fractions::default();
        let ghosts = [[500, 500], [0, 1000]];
        fractions.learn(&ghosts, &[[0, 0], [0, 20]]);
        assert_eq!(fractions.metadata, ONE / 4 + ONE / 100);
        assert_eq!(fractions.once, [ONE / 2, ONE / 2 - ONE / 50]);
        fractions.learn(&ghosts, &[[10, 0], [0, 0]]);
        assert_eq!(fractions.metadata, ONE / 4 + ONE / 100 - share(10, 2000) / 5, "data weigh a fifth");
    }

    #[test]
    fn what_exceeds_its_fraction_goes_metadata_first() {
        let even = Fractions::default();
        // 1000 bytes kept: 250 for metadata, 125 of them used once; 750 for data, 375 used once.
        assert_eq!(even.evict(&[[375, 375], [225, 125]], 100), [[0, 0], [100, 0]]);
        assert_eq!(even.evict(&[[375, 375], [125, 225]], 100), [[0, 0], [0, 100]]);
        assert_eq!(even.evict(&[[475, 375], [125, 125]], 100), [[100, 0], [0, 0]]);
        assert_eq!(even.evict(&[[375, 475], [125, 125]], 100), [[0, 100], [0, 0]]);
        assert_eq!(even.evict(&[[1100, 0], [0, 0]], 100), [[100, 0], [0, 0]], "what nobody else uses is not wasted");
    }
}
