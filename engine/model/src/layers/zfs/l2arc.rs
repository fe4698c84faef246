//! The L2ARC: cache devices behind the ARC, filled from what the ARC is about to evict, at a bounded rate.
//!
//! Nothing is written to a cache device when a block is evicted; eviction never waits. Instead a feed thread wakes every second, looks at the
//! end of the ARC's lists where the next victims stand, and writes what it finds there, up to `write_max`:
//!
//! ```text
//!   ARC   used once  | . . . . . . . . . . . x x x x|  headroom x write_max are looked at,
//!         used again | . . . . . . . . . . . x x x x|  MFU before MRU, metadata before data
//!                                              |
//!                                              v  at most write_max a pass
//!   device  [ older | gone | written now -> | older ... ]   a ring; what lies ahead of the hand is forgotten first
//! ```
//!
//! While the ARC has evicted nothing it is cold: the scan begins at the other end of the lists and may write more (`write_boost`). From 2010 a pass
//! that wrote more than half of its limit is followed by the next after 200 ms. So a device of 500 GB fills at 8 MiB/s in 17 hours, or in 3.5
//! at 40 MiB/s. Each block on the device takes a header in memory, out of the ARC's room.
//!
//! | version | `write_max` | boost | headroom | pass | first pass |
//! |---|---|---|---|---|---|
//! | `zfs-2008-03` | 8 MiB | - | 4 | 1 s | after 180 s |
//! | `zfs-2008-12` | 8 MiB | 8 MiB | 4 | 1 s | 1 s |
//! | `zfs-2010` to `openzfs-2.2` | 8 MiB | 8 MiB | 2 | 1 s, 200 ms when busy | 1 s |
//! | `openzfs-2.3` | 32 MiB | 32 MiB | 8 | the same | 1 s |
//!
//! Blocks that were read ahead do not go there (`noprefetch`). Source: reference section 6.3. The size of a header is not in it: 200 bytes is what the
//! field's rule of thumb for 2008 says (15 GB of memory for 600 GB in blocks of 8 KiB). Left out: compression and the headroom it
//! adds, the log that survives a restart, the rate by drive writes per day of the unreleased version.

use super::arc::{Arc, Kind};
use seeklab_cache::index::Keys;
use seeklab_cache::store::{List, NONE, Slot, Store};
use seeklab_kernel::NS_PER_S;
use seeklab_spec::zfs::Era;

/// The feed of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Most bytes of a pass.
    pub write_max: u64,
    /// Added while the ARC has evicted nothing.
    pub write_boost: u64,
    /// How much of each list is looked at, in passes.
    pub headroom: u64,
    /// Time between the starts of two passes.
    pub interval_ns: u64,
    /// The same after a pass that wrote more than half of what it might; never shorter than `interval_ns` when absent.
    pub busy_interval_ns: Option<u64>,
    /// When the first pass is.
    pub first_ns: u64,
    /// Whether blocks that were read ahead stay out.
    pub noprefetch: bool,
    /// Memory for each block on the device.
    pub header_bytes: u64,
    /// No pass while headers take more than this share of the ARC.
    pub most_header_percent: Option<u64>,
}

impl Settings {
    /// The feed of a version.
    #[must_use]
    pub fn of(era: Era) -> Self {
        let first = Self {
            write_max: 8 << 20,
            write_boost: 0,
            headroom: 4,
            interval_ns: NS_PER_S,
            busy_interval_ns: None,
            first_ns: 180 * NS_PER_S,
            noprefetch: true,
            header_bytes: 200,
            most_header_percent: None,
        };
        let december = Self { write_boost: 8 << 20, first_ns: NS_PER_S, ..first };
        let since_2010 = Self { headroom: 2, busy_interval_ns: Some(NS_PER_S / 5), ..december };
        let limited = Self { most_header_percent: Some(33), ..since_2010 };
        match era {
            Era::Zfs2008March => first,
            Era::Zfs2008December => december,
            Era::Zfs2010 => since_2010,
            Era::OpenZfs2013 | Era::OpenZfs0_7 | Era::OpenZfs2_1 | Era::OpenZfs2_2 => limited,
            Era::OpenZfs2_3 => Self { write_max: 32 << 20, write_boost: 32 << 20, headroom: 8, ..limited },
        }
    }
}

/// A write to a cache device, or the place of a block on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The device.
    pub device: usize,
    /// Where on it, in bytes.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
}

/// A device as a ring.
#[derive(Debug)]
struct Ring {
    capacity: u64,
    hand: u64,
    /// Its blocks, the oldest just ahead of the hand.
    order: List,
}

/// Cache devices and what is on them.
#[derive(Debug)]
pub struct L2Arc {
    settings: Settings,
    store: Store,
    rings: Vec<Ring>,
    /// By slot: the place, and whether it has been written.
    places: Vec<(Place, bool)>,
    next: usize,
    /// Blocks of the current pass.
    pass: Vec<Slot>,
    pass_bytes: u64,
    pass_limit: u64,
    began_ns: u64,
    /// Bytes written so far.
    pub written_bytes: u64,
}

impl L2Arc {
    /// Empty cache devices of so many bytes each.
    #[must_use]
    pub fn new(settings: Settings, devices: &[u64]) -> Self {
        let mut store = Store::new(devices.iter().sum(), Keys::Any);
        let rings = devices.iter().map(|capacity| Ring { capacity: *capacity, hand: 0, order: store.list() }).collect();
        Self {
            settings,
            store,
            rings,
            places: Vec::new(),
            next: 0,
            pass: Vec::new(),
            pass_bytes: 0,
            pass_limit: 0,
            began_ns: 0,
            written_bytes: 0,
        }
    }

    /// Whether blocks that were read ahead stay out.
    #[must_use]
    pub fn noprefetch(&self) -> bool {
        self.settings.noprefetch
    }

    /// Where a block can be read.
    #[must_use]
    pub fn find(&self, block: u64) -> Option<Place> {
        let (place, is_written) = *self.places.get(self.store.find(block)? as usize)?;
        is_written.then_some(place)
    }

    /// The block has changed: its copy is void.
    pub fn forget(&mut self, block: u64) {
        if let Some(slot) = self.store.find(block) {
            self.pass.retain(|other| *other != slot);
            self.drop_block(slot);
        }
    }

    fn drop_block(&mut self, slot: Slot) {
        let device = self.places[slot as usize].0.device;
        self.store.unlink(&mut self.rings[device].order, slot);
        self.store.forget(slot);
    }

    /// Bytes on the devices.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.store.used
    }

    /// Bytes that the devices hold.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.store.capacity
    }

    /// Bytes of memory that the blocks' headers take.
    #[must_use]
    pub fn directory_bytes(&self) -> u64 {
        self.store.len * self.settings.header_bytes
    }

    /// Bytes of memory that the model itself holds.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + (self.places.capacity() * size_of::<(Place, bool)>()) as u64
    }

    /// When the first pass is due.
    #[must_use]
    pub fn first_ns(&self) -> u64 {
        self.settings.first_ns
    }

    /// Begins a pass over the next device: forgets what lies ahead of its hand, and puts what is to be written into `writes`, neighbours
    /// together.
    pub fn begin(&mut self, now_ns: u64, arc: &Arc, writes: &mut Vec<Place>) {
        let Settings { write_max, write_boost, headroom, .. } = self.settings;
        self.began_ns = now_ns;
        self.pass.clear();
        self.pass_bytes = 0;
        let is_cold = arc.evicted_bytes == 0;
        let device = self.next;
        self.next = (self.next + 1) % self.rings.len();
        self.pass_limit = if is_cold { write_max + write_boost } else { write_max }.min(self.rings[device].capacity);
        let too_many = |percent: u64| self.directory_bytes() > super::throttle::mul_div(arc.capacity(), percent, 100);
        if self.settings.most_header_percent.is_some_and(too_many) {
            return;
        }
        self.make_way(device);
        let mut found = Vec::new();
        let mut full = false;
        for (kind, again) in [(Kind::Metadata, true), (Kind::Metadata, false), (Kind::Data, true), (Kind::Data, false)] {
            let mut passed = 0;
            arc.scan(kind, again, !is_cold, |block, bytes, eligible| {
                passed += bytes;
                if passed > headroom.saturating_mul(self.pass_limit) {
                    return false;
                }
                if eligible && self.store.find(block).is_none() {
                    full = self.pass_bytes + bytes > self.pass_limit;
                    if full {
                        return false;
                    }
                    self.pass_bytes += bytes;
                    found.push((block, bytes));
                }
                true
            });
            if full {
                break;
            }
        }
        for (block, bytes) in found {
            self.take(device, block, bytes, writes);
        }
    }

    /// Forgets what the pass may overwrite; at the end of the device the hand goes back to the start.
    fn make_way(&mut self, device: usize) {
        let ring = &mut self.rings[device];
        let at_end = ring.hand + self.pass_limit > ring.capacity;
        let (hand, until) = (ring.hand, if at_end { ring.capacity } else { ring.hand + self.pass_limit });
        self.clear(device, hand, until);
        if at_end {
            self.rings[device].hand = 0;
            self.clear(device, 0, self.pass_limit);
        }
    }

    fn clear(&mut self, device: usize, from: u64, until: u64) {
        loop {
            let slot = self.store.oldest(&self.rings[device].order);
            if slot == NONE || !(from..until).contains(&self.places[slot as usize].0.offset) {
                return;
            }
            self.drop_block(slot);
        }
    }

    fn take(&mut self, device: usize, block: u64, bytes: u64, writes: &mut Vec<Place>) {
        let ring = &mut self.rings[device];
        let place = Place { device, offset: ring.hand, bytes };
        ring.hand += bytes;
        let slot = self.store.add(block, bytes);
        self.store.push(&mut ring.order, slot);
        if slot as usize >= self.places.len() {
            self.places.resize(slot as usize + 1, (place, false));
        }
        self.places[slot as usize] = (place, false);
        self.pass.push(slot);
        match writes.last_mut() {
            Some(last) if last.offset + last.bytes == place.offset => last.bytes += bytes,
            _ => writes.push(place),
        }
    }

    /// The pass has been written; returns when the next one is due.
    pub fn end(&mut self, now_ns: u64) -> u64 {
        for slot in self.pass.drain(..) {
            self.places[slot as usize].1 = true;
        }
        self.written_bytes += self.pass_bytes;
        let Settings { interval_ns, busy_interval_ns, .. } = self.settings;
        let is_busy = self.pass_bytes > self.pass_limit / 2;
        let interval_ns = busy_interval_ns.filter(|_| is_busy).unwrap_or(interval_ns);
        now_ns.max(self.began_ns + interval_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::arc::{New, Purpose};
    use super::*;

    const MIB: u64 = 1 << 20;

    fn settings() -> Settings {
        Settings { write_max: 8 * MIB, ..Settings::of(Era::Zfs2010) }
    }

    /// Reads blocks of 1 MiB into an ARC, one a second.
    fn read(arc: &mut Arc, blocks: impl Iterator<Item = u64>, purpose: Purpose, noprefetch: bool) {
        for (second, block) in blocks.enumerate() {
            let now_ns = second as u64 * NS_PER_S;
            arc.start(now_ns, block, New { kind: Kind::Data, bytes: MIB, purpose, known: false }, 1);
            arc.arrive(block, 1, now_ns, !noprefetch);
        }
    }

    fn pass(l2: &mut L2Arc, arc: &Arc, now_ns: u64) -> (Vec<u64>, u64) {
        let mut writes = Vec::new();
        l2.begin(now_ns, arc, &mut writes);
        let blocks = l2.pass.iter().map(|slot| l2.store.entry(*slot).key).collect();
        (blocks, l2.end(now_ns))
    }

    #[test]
    fn a_cold_arc_is_fed_from_the_head_with_a_boost_and_a_warm_one_from_the_tail() {
        let mut arc = Arc::new(Era::Zfs2010, 40 * MIB);
        let mut l2 = L2Arc::new(settings(), &[100 * MIB]);
        read(&mut arc, 0..30, Purpose::Demand, false);
        assert_eq!(pass(&mut l2, &arc, 0).0, (14..30).rev().collect::<Vec<_>>());
        read(&mut arc, 30..50, Purpose::Demand, false);
        assert_eq!(pass(&mut l2, &arc, 0).0, [10, 11, 12, 13], "of 16 MiB at the end, what is not there yet");
    }

    #[test]
    fn a_busy_pass_is_followed_sooner() {
        let mut arc = Arc::new(Era::Zfs2010, 40 * MIB);
        let mut l2 = L2Arc::new(settings(), &[100 * MIB]);
        read(&mut arc, 0..100, Purpose::Demand, false);
        assert_eq!(pass(&mut l2, &arc, 5).1, 5 + NS_PER_S / 5);
        assert_eq!(pass(&mut l2, &arc, 6).1, 6 + NS_PER_S / 5);
        assert_eq!(pass(&mut l2, &arc, 7), (vec![], 7 + NS_PER_S), "the headroom holds nothing new");
        let mut l2 = L2Arc::new(Settings { busy_interval_ns: None, ..settings() }, &[100 * MIB]);
        assert_eq!(pass(&mut l2, &arc, 5).1, 5 + NS_PER_S);
    }

    #[test]
    fn the_table_of_versions() {
        let of = |era| {
            let Settings { write_max, write_boost, headroom, busy_interval_ns, first_ns, .. } = Settings::of(era);
            (write_max / MIB, write_boost / MIB, headroom, busy_interval_ns.is_some(), first_ns / NS_PER_S)
        };
        assert_eq!(of(Era::Zfs2008March), (8, 0, 4, false, 180));
        assert_eq!(of(Era::Zfs2008December), (8, 8, 4, false, 1));
        for era in [Era::Zfs2010, Era::OpenZfs2013, Era::OpenZfs0_7, Era::OpenZfs2_1, Era::OpenZfs2_2] {
            assert_eq!(of(era), (8, 8, 2, true, 1));
        }
        assert_eq!(of(Era::OpenZfs2_3), (32, 32, 8, true, 1));
    }

    #[test]
    fn blocks_read_ahead_stay_out() {
        let mut arc = Arc::new(Era::Zfs2010, 40 * MIB);
        let mut l2 = L2Arc::new(settings(), &[100 * MIB]);
        read(&mut arc, 0..20, Purpose::Prefetch, true);
        assert_eq!(pass(&mut l2, &arc, 0).0, [0u64; 0]);
        let mut arc = Arc::new(Era::Zfs2010, 40 * MIB);
        read(&mut arc, 0..20, Purpose::Prefetch, false);
        assert_eq!(pass(&mut l2, &arc, 0).0.len(), 16);
    }

    #[test]
    fn the_ring_forgets_what_lies_ahead_of_the_hand() {
        let mut l2 = L2Arc::new(settings(), &[20 * MIB]);
        for round in 0..40u64 {
            let mut arc = Arc::new(Era::Zfs2010, 16 * MIB);
            read(&mut arc, round * 100..round * 100 + 17, Purpose::Demand, false);
            let (blocks, _) = pass(&mut l2, &arc, 0);
            assert_eq!(blocks.len(), 8);
            assert!(blocks.iter().all(|block| l2.find(*block).is_some_and(|place| place.offset + place.bytes <= 20 * MIB)));
            assert!(l2.bytes() <= 20 * MIB);
        }
        assert_eq!(l2.bytes(), 16 * MIB, "the last 4 MiB are too short for a pass");
        assert_eq!(l2.written_bytes, 320 * MIB);
        assert_eq!(l2.directory_bytes(), 16 * 200);
    }

    #[test]
    fn what_is_being_written_or_has_changed_cannot_be_read() {
        let mut arc = Arc::new(Era::Zfs2010, 40 * MIB);
        let mut l2 = L2Arc::new(settings(), &[100 * MIB]);
        read(&mut arc, 0..4, Purpose::Demand, false);
        l2.begin(0, &arc, &mut Vec::new());
        assert_eq!(l2.find(3), None);
        l2.forget(2);
        l2.end(0);
        assert_eq!((l2.find(2), l2.find(3).map(|place| place.bytes)), (None, Some(MIB)));
    }

    #[test]
    fn from_2013_headers_beyond_a_third_of_the_arc_stop_the_feed() {
        let mut arc = Arc::new(Era::OpenZfs2013, 40 * MIB);
        read(&mut arc, 0..30, Purpose::Demand, false);
        for (era, more) in [(Era::OpenZfs2013, false), (Era::Zfs2010, true)] {
            let mut l2 = L2Arc::new(Settings { header_bytes: MIB, ..Settings::of(era) }, &[100 * MIB]);
            assert!(!pass(&mut l2, &arc, 0).0.is_empty());
            assert_eq!(!pass(&mut l2, &arc, 0).0.is_empty(), more, "{era:?}");
        }
    }

    #[test]
    fn two_devices_take_turns() {
        let mut arc = Arc::new(Era::Zfs2010, 400 * MIB);
        let mut l2 = L2Arc::new(settings(), &[100 * MIB, 100 * MIB]);
        read(&mut arc, 0..64, Purpose::Demand, false);
        let (first, _) = pass(&mut l2, &arc, 0);
        let (second, _) = pass(&mut l2, &arc, 0);
        let devices = |blocks: &[u64]| blocks.iter().filter_map(|block| l2.find(*block)).map(|place| place.device).collect::<Vec<_>>();
        assert_eq!((devices(&first), devices(&second)), (vec![0; 16], vec![1; 16]));
    }
}
