//! Bytes that a power failure would lose: they were acknowledged as written and are in volatile memory only.
//!
//! A layer that acknowledges a write from such memory says so ([`Volatile::hold`]), and says when the bytes are on the media, in
//! memory that survives, or with the layer below ([`Volatile::release`]). Each byte is held by one layer at a time, so that the
//! kinds add up.
//!
//! What there was is kept over time, too, in intervals of the run's series: the most in each, and what there was at its end.

/// The memory that holds the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The page cache of a client.
    Client,
    /// The dirty data of a file system.
    FileSystem,
    /// The write cache of a device.
    Device,
    /// That of a RAID controller, with a battery that would not keep it.
    Controller,
}

const HOLDERS: usize = 4;

/// Most intervals that are kept.
const MAX_INTERVALS: usize = 1 << 20;

/// Bytes that a power failure would have lost in an interval of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnsafeRow {
    /// The most at any moment of it.
    pub most: u64,
    /// At its end, by holder.
    pub at_end: [u64; HOLDERS],
}

/// Bytes in volatile memory now, and the most there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volatile {
    now: [u64; HOLDERS],
    most: [u64; HOLDERS],
    most_of_all: u64,
    rows: Vec<UnsafeRow>,
    /// Width of an interval; 0 when none are kept.
    interval_ns: u64,
    /// When the current one ends, and the most in it so far.
    row_ends_ns: u64,
    most_in_row: u64,
}

impl Volatile {
    /// Keeps what there is over time, in intervals of `interval_ns`.
    pub fn keep_series(&mut self, interval_ns: u64) {
        (self.interval_ns, self.row_ends_ns) = (interval_ns, interval_ns);
    }

    /// Closes the intervals that have ended.
    #[inline]
    fn close_rows(&mut self, now_ns: u64) {
        while now_ns >= self.row_ends_ns && self.interval_ns > 0 && self.rows.len() < MAX_INTERVALS {
            self.rows.push(UnsafeRow { most: self.most_in_row, at_end: self.now });
            self.most_in_row = self.bytes();
            self.row_ends_ns = self.row_ends_ns.saturating_add(self.interval_ns);
        }
    }

    /// Return the bytes at risk over time up to `now_ns`; empty if there were never any.
    #[must_use]
    pub fn series(&self, now_ns: u64) -> Vec<UnsafeRow> {
        if self.most_of_all == 0 || self.interval_ns == 0 {
            return Vec::new();
        }
        let mut all = self.clone();
        all.close_rows(now_ns);
        if now_ns + self.interval_ns > all.row_ends_ns && all.rows.len() < MAX_INTERVALS {
            all.rows.push(UnsafeRow { most: all.most_in_row, at_end: all.now });
        }
        all.rows
    }

    /// Bytes of memory that grow with the run.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.rows.len() * size_of::<UnsafeRow>()) as u64
    }

    /// Bytes have been acknowledged that only `holder` has.
    #[inline]
    pub fn hold(&mut self, now_ns: u64, holder: Holder, bytes: u64) {
        self.close_rows(now_ns);
        let place = holder as usize;
        self.now[place] += bytes;
        self.most[place] = self.most[place].max(self.now[place]);
        let bytes = self.bytes();
        self.most_of_all = self.most_of_all.max(bytes);
        self.most_in_row = self.most_in_row.max(bytes);
    }

    /// A holder's bytes are safe, or written again.
    #[inline]
    pub fn release(&mut self, now_ns: u64, holder: Holder, bytes: u64) {
        self.close_rows(now_ns);
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
        volatile.hold(0, Holder::Client, 10);
        volatile.release(1, Holder::Client, 10);
        volatile.hold(2, Holder::Device, 7);
        volatile.hold(3, Holder::FileSystem, 2);
        assert_eq!((volatile.bytes(), volatile.most_bytes()), (9, 10));
        assert_eq!((volatile.most_of(Holder::Client), volatile.most_of(Holder::Device)), (10, 7));
    }
    #[test]
    fn the_series_has_the_most_of_each_interval_and_what_there_was_at_its_end() {
        let mut volatile = Volatile::default();
        volatile.keep_series(100);
        assert_eq!(volatile.series(1000), [], "nothing was ever unsafe");
        volatile.hold(20, Holder::Client, 10);
        volatile.release(60, Holder::Client, 4);
        volatile.hold(70, Holder::Device, 1);
        volatile.release(310, Holder::Client, 6);
        let row = |most, client, device| UnsafeRow { most, at_end: [client, 0, device, 0] };
        assert_eq!(volatile.series(350), [row(10, 6, 1), row(7, 6, 1), row(7, 6, 1), row(7, 0, 1)]);
        assert_eq!(volatile.series(400), [row(10, 6, 1), row(7, 6, 1), row(7, 6, 1), row(7, 0, 1)]);
        assert_eq!(volatile.series(401).len(), 5);
    }
}
