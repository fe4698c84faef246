//! Programs that wait until they are full: what is programmed when, and what is lost.

use super::super::Wear;
use super::{flash, run, run_at, spec};
use crate::kernel::Phase;
use crate::layers::device::ssd::Ssd;
use seeklab_spec::{Bytes, Flash, Gather, Nanos, Op};

const PAGE: u64 = 4096;

/// Dies that program 12 pages in 600 us, behind links that take next to no time; 2 ms of gathering, as the default is.
fn gathering(dies: u32, buffer_pages: u64) -> spec::Ssd {
    let flash = Flash { channels: 1, channel_rate: Bytes(100_000_000_000), planes: 12, gather: Gather::Full, ..flash() };
    spec::Ssd {
        units: dies,
        program: Nanos(600_000),
        overhead: Nanos(10_000),
        interface_rate: Bytes(1_000_000_000_000),
        write_buffer: Bytes(buffer_pages * PAGE),
        flash: Some(flash),
        ..spec()
    }
}

fn drive(spec: &spec::Ssd) -> Ssd {
    Ssd::new(spec, 1, "ssd0")
}

fn wear(ssd: &Ssd) -> Wear {
    ssd.wear().expect("a flash drive")
}

/// Writes of these pages at these microseconds. Returns what the drive was through, when its last event was, in us, and when each
/// write was done, in ns.
fn writes(spec: &spec::Ssd, pages: &[(u64, u64)]) -> (Wear, u64, Vec<u64>) {
    let mut ssd = drive(spec);
    let requests: Vec<_> = pages.iter().map(|(at_us, page)| (at_us * 1000, Op::Write, page * PAGE, PAGE)).collect();
    let (done, end_ns) = run_at(&mut ssd, &requests);
    (wear(&ssd), end_ns / 1000, done)
}

#[test]
fn twice_the_pages_of_a_program_make_two_programs() {
    let mut ssd = drive(&gathering(1, 48));
    let mut requests: Vec<_> = (0..24).map(|page| (0, Op::Write, page * PAGE, PAGE)).collect();
    // A read during the first program waits for its end, at 610 us, and one after both waits for nothing.
    requests.extend([(300_000, Op::Read, 30 * PAGE, PAGE), (1_300_000, Op::Read, 31 * PAGE, PAGE)]);
    let (done, _) = run_at(&mut ssd, &requests);
    assert_eq!((wear(&ssd).host_pages, wear(&ssd).padded_pages), (24, 0));
    assert!(done[..24].iter().all(|done| *done < 11_000), "{done:?}");
    assert!((670_000..672_000).contains(&done[24]), "{done:?}");
    assert!((1_360_000..1_362_000).contains(&done[25]), "{done:?}");
}

#[test]
fn a_page_alone_waits_and_takes_the_room_of_twelve() {
    let (wear, end_us, _) = writes(&gathering(1, 48), &[(0, 0)]);
    assert_eq!((wear.host_pages, wear.padded_pages), (1, 11));
    assert!((wear.write_amplification() - 12.0).abs() < 1e-12);
    assert_eq!(end_us, 10 + 2000 + 600);
    let mut now = gathering(1, 48);
    now.flash = now.flash.map(|flash| Flash { gather: Gather::Now, ..flash });
    let (wear, end_us, _) = writes(&now, &[(0, 0)]);
    assert_eq!((wear.padded_pages, end_us), (0, 10 + 600));
}

#[test]
fn an_overwrite_of_a_page_that_waits_takes_its_place() {
    let (wear, _, _) = writes(&gathering(1, 48), &[(0, 0), (100, 0), (200, 1), (300, 0)]);
    assert_eq!((wear.host_pages, wear.absorbed_pages, wear.padded_pages), (2, 2, 10));
    // While its program runs a page can be written again, and is programmed once more.
    let (wear, _, _) = writes(&gathering(1, 48), &[(0, 0), (2100, 0)]);
    assert_eq!((wear.host_pages, wear.absorbed_pages), (2, 0));
}

#[test]
fn a_page_that_is_in_the_buffer_is_read_from_there() {
    let mut ssd = drive(&gathering(1, 48));
    let requests = [(Op::Write, 0, PAGE), (Op::Read, 0, PAGE), (Op::Read, PAGE, PAGE)];
    let done = run(&mut ssd, 1, &requests);
    assert_eq!(done[1].phases[Phase::FlashRead as usize], 0);
    assert!(done[1].response_ns < 10_100, "{:?}", done[1]);
    assert_eq!(done[2].phases[Phase::FlashRead as usize], 50_000);
    let (done, _) =
        run_at(&mut drive(&gathering(1, 48)), &[(0, Op::Write, 0, PAGE), (2_300_000, Op::Read, 0, PAGE), (2_700_000, Op::Read, 0, PAGE)]);
    assert!(done[1] < 2_311_000, "it is still in the buffer while its program runs: {done:?}");
    assert!(done[2] > 2_750_000, "it is on flash: {done:?}");
}

#[test]
fn a_buffer_that_fills_up_is_programmed_before_its_pages_have_waited_long() {
    // No die ever has enough pages for a program, and the buffer has room for 48 of 60.
    let mut spec = gathering(4, 48);
    spec.flash = spec.flash.map(|flash| Flash { planes: 64, ..flash });
    let (wear, _, done) = writes(&spec, &(0..60).map(|page| (0, page)).collect::<Vec<_>>());
    assert_eq!(wear.host_pages, 60);
    assert!(done[59] < 700_000, "the last write had to wait until {} ns", done[59]);
}

#[test]
fn a_write_larger_than_the_buffer_does_not_wait_for_others() {
    let mut ssd = drive(&gathering(1, 2));
    let done = run(&mut ssd, 1, &[(Op::Write, 0, 3 * PAGE)]);
    assert!(done[0].response_ns < 620_000, "{done:?}");
    assert_eq!((wear(&ssd).host_pages, wear(&ssd).padded_pages), (3, 9));
}
