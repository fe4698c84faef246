use super::*;

const SECOND: u64 = 1_000_000_000;

/// Keys of a list from oldest to newest.
fn keys(arc: &Arc, list: usize) -> Vec<u64> {
    let list = &arc.lists[list];
    let from = |slot| if slot == NONE { None } else { Some(slot) };
    let slots = std::iter::successors(from(arc.store.oldest(list)), |slot| from(arc.store.newer(list, *slot)));
    slots.map(|slot| arc.store.entry(slot).key).collect()
}

/// A cache that is asked for blocks of one byte, each of which arrives at once.
struct Reader {
    arc: Arc,
    now_ns: u64,
    hits: u32,
}

impl Reader {
    fn new(era: Era, capacity: u64) -> Self {
        Self { arc: Arc::new(era, capacity), now_ns: 0, hits: 0 }
    }

    fn ask(&mut self, block: u64, kind: Kind, purpose: Purpose) {
        if let Some(slot) = self.arc.find(block) {
            if purpose == Purpose::Demand {
                self.arc.hit(slot, self.now_ns);
                self.hits += 1;
            }
        } else if self.arc.start(self.now_ns, block, New { kind, bytes: 1, purpose, known: false }, 7) {
            self.arc.arrive(block, 7, self.now_ns, true);
        }
    }

    fn read(&mut self, blocks: impl IntoIterator<Item = u64>) {
        for block in blocks {
            self.now_ns += SECOND;
            self.ask(block, Kind::Data, Purpose::Demand);
        }
    }

    fn list(&self, list: usize) -> Vec<u64> {
        keys(&self.arc, list)
    }
}

#[test]
fn a_second_use_after_60_ms_promotes_and_one_within_them_does_not() {
    for (gap_ns, once, again) in [(MIN_TIME_NS, 1, 0), (MIN_TIME_NS + 1, 0, 1)] {
        let mut reader = Reader::new(Era::Zfs2008March, 10);
        reader.ask(1, Kind::Data, Purpose::Demand);
        reader.now_ns += gap_ns;
        reader.ask(1, Kind::Data, Purpose::Demand);
        assert_eq!((reader.list(0).len(), reader.list(1).len()), (once, again));
    }
}

#[test]
fn uses_within_60_ms_of_the_first_stay_one_use_however_many_they_are() {
    let mut reader = Reader::new(Era::OpenZfs2_1, 10);
    for _ in 0..3 {
        reader.ask(1, Kind::Data, Purpose::Demand);
        reader.now_ns += 25_000_000;
    }
    assert_eq!(reader.list(0), [1]);
    reader.ask(1, Kind::Data, Purpose::Demand); // 75 ms after the first: the time was not refreshed
    assert_eq!(reader.list(1), [1]);
}

#[test]
fn the_first_reader_of_a_block_read_ahead_does_not_promote_it() {
    let mut reader = Reader::new(Era::Zfs2008March, 10);
    reader.ask(1, Kind::Data, Purpose::Prefetch);
    reader.read([1]);
    assert_eq!((reader.list(0), reader.list(1)), (vec![1], vec![]));
    reader.read([1]);
    assert_eq!((reader.list(0), reader.list(1)), (vec![], vec![1]));
}

#[test]
fn a_ghost_comes_back_as_used_again() {
    for era in Era::ALL {
        let mut reader = Reader::new(era, 6);
        reader.read([10, 11, 10, 11]);
        reader.read(0..6);
        assert!(reader.list(GHOSTS).contains(&1), "{era:?}");
        reader.read([1]);
        assert!(reader.list(1).contains(&1), "{era:?}");
    }
}

#[test]
fn a_ghost_that_is_read_ahead_comes_back_as_used_once() {
    let mut reader = Reader::new(Era::Zfs2010, 6);
    reader.read([10, 11, 10, 11]);
    reader.read(0..6);
    assert!(reader.list(GHOSTS).contains(&1));
    reader.ask(1, Kind::Data, Purpose::Prefetch);
    assert!(reader.list(UNUSED).contains(&1) && !reader.list(1).contains(&1));
}

#[test]
fn a_block_that_a_cache_device_has_comes_in_as_used_again() {
    let mut arc = Arc::new(Era::Zfs2010, 4);
    assert!(arc.start(0, 9, New { kind: Kind::Data, bytes: 1, purpose: Purpose::Demand, known: true }, 1));
    arc.arrive(9, 1, 0, true);
    assert_eq!(keys(&arc, 1), [9]);
}

#[test]
fn no_version_holds_more_than_its_capacity_and_a_scan_does_not_wash_out_what_is_used_again() {
    for era in Era::ALL {
        let mut reader = Reader::new(era, 100);
        for _ in 0..4 {
            reader.read(0..40);
        }
        reader.read(1000..1200);
        assert_eq!(reader.arc.used_bytes(), 100, "{era:?}");
        reader.hits = 0;
        reader.read(0..40);
        assert!(reader.hits >= 25, "{era:?}: {}", reader.hits);
    }
}

#[test]
fn blocks_read_ahead_are_kept_for_a_second_and_counted_when_they_go_unused() {
    for era in Era::ALL {
        let mut reader = Reader::new(era, 10);
        for block in 0..5 {
            reader.ask(block, Kind::Data, Purpose::Prefetch);
        }
        for block in 10..20 {
            reader.ask(block, Kind::Data, Purpose::Demand);
        }
        assert_eq!(reader.arc.evicted_unused_bytes, 0, "{era:?}");
        assert!(reader.arc.find(0).is_some(), "{era:?}");
        reader.read(30..45);
        assert_eq!(reader.arc.evicted_unused_bytes, 5, "{era:?}");
    }
}

#[test]
fn a_prefetch_that_finds_all_memory_on_its_way_is_refused_and_a_reader_is_not() {
    let mut arc = Arc::new(Era::Zfs2010, 2);
    let new = |purpose| New { kind: Kind::Data, bytes: 1, purpose, known: false };
    assert!(arc.start(0, 1, new(Purpose::Prefetch), 1) && arc.start(0, 2, new(Purpose::Prefetch), 2));
    assert!(!arc.start(0, 3, new(Purpose::Prefetch), 3));
    assert!(arc.start(0, 3, new(Purpose::Demand), 3));
    arc.arrive(3, 99, 0, true); // somebody else's
    assert_eq!((arc.arriving_bytes(), arc.mark(arc.find(3).expect("on its way")).fetch), (3, 3));
}

#[test]
fn a_prefetch_without_room_teaches_nothing_however_often_it_is_tried() {
    let mut reader = Reader::new(Era::Zfs2010, 10);
    reader.read([20, 21, 20, 21]);
    reader.read(0..9);
    let ghost = reader.list(GHOSTS)[0];
    let new = |purpose| New { kind: Kind::Data, bytes: 1, purpose, known: true };
    for block in 100..110 {
        assert!(reader.arc.start(reader.now_ns, block, new(Purpose::Demand), 1));
    }
    let before = reader.arc.target_bytes();
    assert!(before < 10 && reader.arc.store.find_any(ghost).is_some(), "{before}");
    assert!(!reader.arc.start(reader.now_ns, ghost, new(Purpose::Prefetch), 2));
    assert_eq!(reader.arc.target_bytes(), before);
}

#[test]
fn the_directory_of_a_cache_device_takes_room() {
    for era in Era::ALL {
        let mut reader = Reader::new(era, 100);
        reader.read(0..100);
        reader.arc.directory_bytes = 30;
        reader.arc.settle();
        assert_eq!((reader.arc.used_bytes(), reader.arc.store.len), (100, 70), "{era:?}");
    }
}

#[test]
fn in_2008_metadata_beyond_a_quarter_evict_metadata() {
    let mut reader = Reader::new(Era::Zfs2008March, 100);
    reader.read(0..50);
    for block in 100..140 {
        reader.now_ns += SECOND;
        reader.ask(block, Kind::Metadata, Purpose::Demand);
    }
    assert_eq!((reader.list(0).len(), reader.list(2).len()), (50, 25));
}

#[test]
fn from_2_2_metadata_that_are_asked_for_again_gain_room() {
    let mut reader = Reader::new(Era::OpenZfs2_2, 1000);
    let metadata = |reader: &Reader| reader.list(2).len() + reader.list(3).len();
    let mut data = 10_000;
    let mut round = |reader: &mut Reader, count: u64| {
        for block in 0..count {
            reader.now_ns += SECOND;
            reader.ask(block, Kind::Metadata, Purpose::Demand);
            for _ in 0..4 {
                data += 1;
                reader.ask(data, Kind::Data, Purpose::Demand);
            }
        }
    };
    round(&mut reader, 450);
    let first = metadata(&reader);
    for _ in 0..20 {
        round(&mut reader, 450);
    }
    assert!(first < 300 && metadata(&reader) > 400, "{first} then {}", metadata(&reader));
}

#[test]
fn a_scan_goes_from_the_end_it_is_told() {
    let mut reader = Reader::new(Era::Zfs2010, 10);
    reader.read(0..5);
    let seen = |from_tail| {
        let mut seen = Vec::new();
        reader.arc.scan(Kind::Data, false, from_tail, |block, _, _| {
            seen.push(block);
            seen.len() < 3
        });
        seen
    };
    assert_eq!((seen(true), seen(false)), (vec![0, 1, 2], vec![4, 3, 2]));
}

#[test]
fn the_size_of_the_cache_follows_version_and_memory() {
    let gib = |era, memory: u64| capacity_bytes(era, memory << 30) >> 30;
    assert_eq!(
        [gib(Era::Zfs2008March, 2), gib(Era::Zfs2010, 128), gib(Era::OpenZfs2_1, 128), gib(Era::OpenZfs2_3, 128)],
        [1, 127, 64, 127]
    );
    assert_eq!(capacity_bytes(Era::Zfs2008March, 2 << 30), 3 << 29);
}
