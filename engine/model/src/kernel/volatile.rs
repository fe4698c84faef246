//! What a power failure would lose: bytes that were acknowledged as written and are in volatile memory only.
//!
//! A layer that acknowledges a write from such memory says so ([`Volatile::hold`]), and says when the bytes are on the media, in
//! memory that survives, or with the layer below ([`Volatile::release`]). Each byte is held by one layer at a time, so that the
//! kinds add up.

/// Whose memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The page cache of a client.
    Client,
    /// The dirty data of a file system.
    FileSystem,
    /// The write cache of a device.
    Device,
}

const HOLDERS: usize = 3;

/// Bytes in volatile memory now, and the most there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volatile {
    now: [u64; HOLDERS],
    most: [u64; HOLDERS],
    most_of_all: u64,
}

impl Volatile {
    /// Bytes have been acknowledged that only `holder` has.
    #[inline]
    pub fn hold(&mut self, holder: Holder, bytes: u64) {
        let place = holder as usize;
        self.now[place] += bytes;
        self.most[place] = self.most[place].max(self.now[place]);
        self.most_of_all = self.most_of_all.max(self.bytes());
    }

    /// A holder's bytes are safe, or written anew.
    #[inline]
    pub fn release(&mut self, holder: Holder, bytes: u64) {
        let now = &mut self.now[holder as usize];
        debug_assert!(*now >= bytes, "{holder:?} gives back {bytes} of {now}");
        *now = now.saturating_sub(bytes);
    }

    /// Bytes that a power failure would lose now.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.now.iter().sum()
    }

    /// The most bytes that a power failure would have lost at any moment.
    #[must_use]
    pub fn most_bytes(&self) -> u64 {
        self.most_of_all
    }

    /// The most that a holder had.
    #[must_use]
    pub fn most_of(&self, holder: Holder) -> u64 {
        self.most[holder as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_all_is_that_of_one_moment() {
        let mut volatile = Volatile::default();
        volatile.hold(Holder::Client, 10);
        volatile.release(Holder::Client, 10);
        volatile.hold(Holder::Device, 7);
        volatile.hold(Holder::FileSystem, 2);
        assert_eq!((volatile.bytes(), volatile.most_bytes()), (9, 10));
        assert_eq!((volatile.most_of(Holder::Client), volatile.most_of(Holder::Device)), (10, 7));
    }
}
