//! The SLC cache: how fast a drive is in it and after it, what moves it out, and that nothing is lost on the way.

use proptest::prelude::*;

use super::super::{Ssd, Wear, check};
use super::{flash, run, run_at, spec};
use crate::kernel::Phase;
use crate::testing::assert_problems;
use seeklab_spec::{Bytes, Flash, Gather, Nanos, Op, Path, Precondition, Problems, SlcCache, WhenFull};

const PAGE: u64 = 4096;
const DIES: u64 = 4;

/// Cells of three bits: four pages in 0.3 ms where twelve take 1.5 ms, in blocks of 48 in place of 144. Channels and interface are fast.
/// 36 MiB of logical pages; the cache holds 4 MiB, and 8 MiB more while the drive is empty.
fn drive(when_full: WhenFull, precondition: Precondition) -> super::spec::Ssd {
    let slc_cache = SlcCache {
        fixed: Bytes(4 << 20),
        dynamic: Bytes(8 << 20),
        bits: 3,
        read: Nanos(30_000),
        program: Nanos(300_000),
        fold_after: Nanos(100_000_000),
        when_full,
    };
    let flash = Flash {
        channel_rate: Bytes(40_000_000_000),
        planes: 12,
        pages_per_block: 144,
        erase: Nanos(3_000_000),
        gather: Gather::Full,
        precondition,
        overprovision: 20.0,
        slc_cache: Some(slc_cache),
        ..flash()
    };
    super::spec::Ssd {
        capacity: Bytes(36 << 20),
        read: Nanos(60_000),
        program: Nanos(1_500_000),
        interface_rate: Bytes(40_000_000_000),
        write_buffer: Bytes(1 << 20),
        flash: Some(flash),
        ..spec()
    }
}

fn without_cache(mut ssd: super::spec::Ssd) -> super::spec::Ssd {
    ssd.flash = ssd.flash.map(|flash| Flash { slc_cache: None, ..flash });
    ssd
}

const CHUNK: u64 = 16 * PAGE;

/// Bytes a second of sequential writes between two moments of them, in bytes written.
fn rates<const N: usize>(spec: &super::spec::Ssd, total: u64, spans: [[u64; 2]; N]) -> ([f64; N], Option<Wear>) {
    let mut ssd = Ssd::new(spec, 1, "ssd0");
    let requests: Vec<_> = (0..total / CHUNK).map(|number| (Op::Write, number * CHUNK, CHUNK)).collect();
    let done = run(&mut ssd, 16, &requests);
    let at = |bytes: u64| done[(bytes / CHUNK) as usize].at_ns as f64;
    (spans.map(|[from, to]| (to - from) as f64 * 1e9 / (at(to) - at(from))), ssd.wear())
}

const MIB: u64 = 1 << 20;

#[test]
fn writes_are_fast_until_the_cache_is_full_and_native_after_it() {
    // The cache shrinks while the rest fills up: it holds 9.8 MiB.
    let ([inside, after], wear) =
        rates(&drive(WhenFull::Direct, Precondition::None), 30 * MIB, [[2 * MIB, 10 * MIB], [15 * MIB, 29 * MIB]]);
    let slc = (DIES * 4 * PAGE) as f64 / 300e-6;
    let native = (DIES * 12 * PAGE) as f64 / 1.5e-3;
    assert!((inside / slc - 1.0).abs() < 0.03, "{inside} against {slc}");
    assert!((after / native - 1.0).abs() < 0.02, "{after} against {native}");
    assert_eq!(wear.map(|wear| (wear.host_pages, wear.moved_pages)), Some((30 * 256, 0)));
    let ([all], _) = rates(&without_cache(drive(WhenFull::Direct, Precondition::None)), 30 * MIB, [[2 * MIB, 29 * MIB]]);
    assert!((all / native - 1.0).abs() < 0.02, "without a cache it is always native: {all}");
}

#[test]
fn a_drive_that_writes_through_its_cache_pays_for_folding_once_it_is_full() {
    let ([inside, after], wear) = rates(&drive(WhenFull::Fold, Precondition::None), 30 * MIB, [[2 * MIB, 9 * MIB], [16 * MIB, 28 * MIB]]);
    let slc = (DIES * 4 * PAGE) as f64 / 300e-6;
    // A block of 48 pages: 12 programs of the cache; 4 of twelve pages that are read first; an erase. For each page
    // that is written the dynamic part loses 8 of 36, which must be folded as well.
    let share = 1.0 + 8.0 / 36.0;
    let folding = (DIES * 48 * PAGE) as f64 / (12.0 * 300e-6 + share * (4.0 * (1.5e-3 + 12.0 * 30e-6) + 3e-3));
    assert!((inside / slc - 1.0).abs() < 0.03, "{inside} against {slc}");
    assert!((after / folding - 1.0).abs() < 0.05, "{after} against {folding}");
    let wear = wear.expect("flash");
    assert!(wear.folded_pages > 16 * 256 && wear.write_amplification() > 1.5, "{wear:?}");
}

/// Time of each 16 pages written from `page` on, one after the other, at a time.
fn burst(at_ns: u64, page: u64, chunks: u64) -> Vec<(u64, Op, u64, u64)> {
    (0..chunks).map(|number| (at_ns, Op::Write, page * PAGE + number * CHUNK, CHUNK)).collect()
}

#[test]
fn an_idle_drive_empties_its_cache_and_is_fast_again() {
    // 8 MiB, and 8 MiB more: at once, or after a pause in which 8 MiB can be folded at 131 MB/s and the time to wait.
    let second = |pause_ns: u64| {
        let mut ssd = Ssd::new(&drive(WhenFull::Direct, Precondition::None), 1, "ssd0");
        let first = burst(0, 0, 128);
        let (done, _) = run_at(&mut ssd, &first);
        let from = done.iter().max().expect("writes") + pause_ns;
        let mut ssd = Ssd::new(&drive(WhenFull::Direct, Precondition::None), 1, "ssd0");
        let all: Vec<_> = first.into_iter().chain(burst(from, 2048, 128)).collect();
        let (done, _) = run_at(&mut ssd, &all);
        (done.iter().max().expect("writes") - from, ssd.wear().expect("flash").folded_pages)
    };
    let (soon, not_folded) = second(50_000_000);
    let (late, folded) = second(400_000_000);
    println!("soon {soon} ns with {not_folded} pages folded, late {late} ns with {folded}");
    let at_slc = 8.0 * MIB as f64 / ((DIES * 4 * PAGE) as f64 / 300e-6) * 1e9;
    assert!((late as f64) < 1.05 * at_slc, "{late} against {at_slc}");
    assert!(soon as f64 > 1.25 * late as f64, "{soon} against {late}");
    assert!(not_folded < folded && folded >= 2048, "{not_folded} and {folded}");
}

#[test]
fn a_full_drive_has_the_fixed_part_only() {
    let ([first, second], _) = rates(&drive(WhenFull::Direct, Precondition::Sequential), 20 * MIB, [[MIB, 3 * MIB], [6 * MIB, 18 * MIB]]);
    assert!(first > 1.5 * second, "{first} and {second}");
}

/// A drive of 576 MiB with the same cache, of which 36 MiB are simulated.
fn simulated_in_part(when_full: WhenFull) -> super::spec::Ssd {
    let mut spec = drive(when_full, Precondition::Sequential);
    spec.capacity = Bytes(576 << 20);
    let flash = spec.flash.as_mut().expect("flash");
    flash.mapped = Some(Bytes(36 << 20));
    flash.slc_cache.as_mut().expect("a cache").fixed = Bytes(96 << 20);
    spec
}

#[test]
fn the_cache_has_its_full_size_although_less_flash_is_simulated() {
    let slc = (DIES * 4 * PAGE) as f64 / 300e-6;
    let spans = [[2 * MIB, 96 * MIB], [110 * MIB, 190 * MIB]];
    let [(inside, direct), (_, through)] = [WhenFull::Direct, WhenFull::Fold].map(|when_full| {
        let ([inside, after], _) = rates(&simulated_in_part(when_full), 200 * MIB, spans);
        (inside, after)
    });
    assert!((inside / slc - 1.0).abs() < 0.03, "{inside} against {slc}");
    assert!(direct < 0.7 * slc && through < 0.7 * direct, "{direct} and {through} after {slc}");
}

#[test]
fn a_page_beyond_the_simulated_part_is_known_to_the_cache_by_its_own_number() {
    let read_ns = |pages: [u64; 2]| {
        let mut ssd = Ssd::new(&simulated_in_part(WhenFull::Direct), 1, "ssd0");
        let of = pages.map(|page| page * PAGE);
        let (done, _) = run_at(&mut ssd, &[(0, Op::Write, of[0], CHUNK), (20_000_000, Op::Read, of[1], PAGE)]);
        done[1] - 20_000_000
    };
    let apart = 2280 * DIES; // pages that share a simulated one
    for page in [0, apart, 3 * apart, 15 * apart] {
        assert_eq!(read_ns([page, page]) + 30_000, read_ns([page, (page + apart) % (16 * apart)]), "page {page}");
    }
}

#[test]
fn any_part_of_a_drive_may_be_simulated() {
    for (capacity, mapped) in [(36, 20), (36, 24), (36, 35), (100, 60), (576, 37)] {
        let mut spec = simulated_in_part(WhenFull::Fold);
        spec.capacity = Bytes(capacity << 20);
        let flash = spec.flash.as_mut().expect("flash");
        flash.mapped = Some(Bytes(mapped << 20));
        flash.slc_cache.as_mut().expect("a cache").fixed = Bytes(4 << 20);
        flash.precondition = Precondition::None;
        let mut ssd = Ssd::new(&spec, 1, "ssd0");
        let all = |op: Op| (0..(capacity << 20) / CHUNK).map(|number| (op, number * CHUNK, CHUNK)).collect::<Vec<_>>();
        let done = run(&mut ssd, 1, &[vec![(Op::Write, 0, CHUNK)], all(Op::Read)].concat());
        assert!(done.len() > 500);
        run(&mut ssd, 16, &all(Op::Write));
        let done = run(&mut ssd, 16, &all(Op::Read));
        assert!(done.iter().all(|done| done.phases[Phase::FlashRead as usize] > 0), "{capacity} MiB, {mapped} simulated");
        run(&mut ssd, 1, &[(Op::Write, 0, CHUNK), (Op::Trim, 0, capacity << 20), (Op::Read, 0, CHUNK)]);
    }
}

#[test]
fn a_page_of_the_cache_is_read_in_the_time_of_the_cache() {
    let mut ssd = Ssd::new(&drive(WhenFull::Direct, Precondition::Sequential), 1, "ssd0");
    run(&mut ssd, 1, &[(Op::Write, 0, CHUNK)]);
    let done = run(&mut ssd, 1, &[(Op::Read, 0, PAGE), (Op::Read, 2000 * PAGE, PAGE)]);
    let read = |number: usize| done[number].phases[Phase::FlashRead as usize];
    assert_eq!(read(1), 60_000);
    assert!(read(0) == 30_000 || read(0) == 60_000, "in the cache, or folded since: {}", read(0));
    let quick = |fold_after: u64| {
        let mut spec = drive(WhenFull::Direct, Precondition::Sequential);
        spec.flash.as_mut().and_then(|flash| flash.slc_cache.as_mut()).expect("a cache").fold_after = Nanos(fold_after);
        let mut ssd = Ssd::new(&spec, 1, "ssd0");
        // The program waits 2 ms for others, and the read comes after it.
        let (done, _) = run_at(&mut ssd, &[(0, Op::Write, 0, CHUNK), (20_000_000, Op::Read, 0, PAGE)]);
        done[1] - 20_000_000
    };
    assert_eq!(quick(1_000_000_000) + 30_000, quick(3_000_000), "folded after 3 ms, it takes the time of three bits");
}

#[test]
fn what_is_overwritten_in_the_cache_is_not_folded() {
    let mut ssd = Ssd::new(&drive(WhenFull::Direct, Precondition::None), 1, "ssd0");
    let requests: Vec<_> = (0..40).map(|number| (number * 5_000_000, Op::Write, 0, CHUNK)).collect();
    run_at(&mut ssd, &requests);
    let wear = ssd.wear().expect("flash");
    assert_eq!(wear.host_pages, 40 * 16);
    assert_eq!(wear.folded_pages, 16, "each page once, from where it was written last");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_page_holds_what_was_written_last_wherever_it_went(
        operations in prop::collection::vec((0_u8..8, 0_u64..6000, 1_u64..400, 0_u64..300_000_000), 1..80),
        fold in any::<bool>(),
        full in any::<bool>(),
        gathers in any::<bool>(),
    ) {
        let precondition = if full { Precondition::Random } else { Precondition::None };
        let mut spec = drive(if fold { WhenFull::Fold } else { WhenFull::Direct }, precondition);
        if !gathers {
            spec.flash = spec.flash.map(|flash| Flash { gather: Gather::Now, ..flash });
        }
        let mut ssd = Ssd::new(&spec, 1, "ssd0");
        let mut holds = vec![full; 6400];
        let (mut now, mut written) = (0, 0);
        for (kind, page, pages, pause) in operations {
            let op = if kind == 0 { Op::Trim } else { Op::Write };
            holds[page as usize..(page + pages) as usize].fill(kind > 0);
            written += if kind > 0 { pages } else { 0 };
            let (done, end) = run_at(&mut ssd, &[(now, op, page * PAGE, pages * PAGE)]);
            prop_assert!(done[0] >= now);
            now = end + if kind == 1 { pause } else { 0 };
        }
        let wear = ssd.wear().expect("flash");
        prop_assert_eq!(wear.host_pages + wear.absorbed_pages, written);
        let reads: Vec<_> = (0..6000).map(|page| (now, Op::Read, page * PAGE, PAGE)).collect();
        let done = run(&mut ssd, 1, &reads.iter().map(|(_, op, place, bytes)| (*op, *place, *bytes)).collect::<Vec<_>>());
        for done in done {
            prop_assert_eq!(done.phases[Phase::FlashRead as usize] > 0, holds[done.number], "page {}", done.number);
        }
    }
}

#[test]
fn contradictions_of_a_cache_are_named() {
    let only = |change: fn(&mut SlcCache), expected: &str| {
        let mut spec = drive(WhenFull::Direct, Precondition::None);
        change(spec.flash.as_mut().and_then(|flash| flash.slc_cache.as_mut()).expect("a cache"));
        let mut problems = Problems::new();
        check(&spec, &Path::root().field("ssd"), &mut problems);
        assert_problems(&problems, &[expected]);
    };
    only(|cache| (cache.bits, cache.dynamic) = (5, Bytes(4 << 20)), "ssd.flash.slc_cache.bits: 12, 5");
    only(|cache| cache.program = Nanos(2_000_000), "ssd.flash.slc_cache.program: 2 ms, 1500 us");
    only(|cache| cache.dynamic = Bytes(20 << 20), "ssd.flash.slc_cache.dynamic: 60 MiB");
    only(|cache| (cache.fixed, cache.dynamic) = (Bytes(4096), Bytes(0)), "ssd.flash.slc_cache.fixed: 0");
}
