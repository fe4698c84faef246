//! FLUSH and FUA of a volatile write buffer: when they complete, and what a power failure would lose.

use super::super::Wear;
use super::{flash, run_durably, spec};
use crate::kernel::{Durable, Event, Kernel, Request};
use crate::layers::device::ssd::Ssd;
use seeklab_kernel::Stream;
use seeklab_spec::{Bytes, Flash, Gather, Nanos, Op, Persistence};

const PAGE: u64 = 4096;

/// One die with a program of 12 pages in 600 us, which takes 3 us for a page on its channel.
fn volatile(gather: Gather) -> spec::Ssd {
    let flash =
        Flash { channels: 1, channel_rate: Bytes(1_365_333_334), planes: 12, gather, gather_wait: Some(Nanos(50_000_000)), ..flash() };
    spec::Ssd {
        units: 1,
        program: Nanos(600_000),
        overhead: Nanos(10_000),
        interface_rate: Bytes(2_048_000_000),
        write_buffer: Bytes(64 * PAGE),
        write_buffer_is: Persistence::Volatile,
        flash: Some(flash),
        ..spec()
    }
}

/// When each request at these microseconds is done, in us, and what was left.
fn ends(spec: &spec::Ssd, requests: &[(u64, u64, u64, Durable)]) -> (Vec<u64>, Kernel, Option<Wear>) {
    let mut ssd = Ssd::new(spec, 1, "ssd0");
    let requests: Vec<_> =
        requests.iter().map(|(at_us, page, pages, durable)| (at_us * 1000, Op::Write, page * PAGE, pages * PAGE, *durable)).collect();
    let (done, kernel) = run_durably(&mut ssd, &requests);
    (done.iter().map(|ns| ns / 1000).collect(), kernel, ssd.wear())
}

#[test]
fn a_flush_waits_for_the_program_and_the_map_and_the_next_one_for_nothing() {
    // The write is done at 12 us.
    let requests = [(0, 0, 1, Durable::No), (13, 0, 0, Durable::All), (2000, 0, 0, Durable::All)];
    let (done, kernel, wear) = ends(&volatile(Gather::Full), &requests);
    assert_eq!(done, [12, 13 + 3 + 600 + 200 + 10, 2010]);
    assert_eq!(wear.map(|wear| (wear.host_pages, wear.padded_pages)), Some((1, 11)));
    assert_eq!((kernel.volatile.bytes(), kernel.volatile.most_bytes()), (0, PAGE));
    let mut quick = volatile(Gather::Full);
    quick.flash = quick.flash.map(|flash| Flash { map_flush: Nanos(0), ..flash });
    assert_eq!(ends(&quick, &requests).0, [12, 13 + 3 + 600 + 10, 2010]);
}

#[test]
fn a_protected_buffer_makes_flush_and_fua_free() {
    let protected = spec::Ssd { write_buffer_is: Persistence::Protected, ..volatile(Gather::Full) };
    let requests = [(0, 0, 1, Durable::No), (12, 0, 0, Durable::All), (100, 1, 1, Durable::Itself), (200, 2, 1, Durable::All)];
    let (done, kernel, _) = ends(&protected, &requests);
    assert_eq!(done, [12, 22, 112, 212 + 10], "the last is a write and a FLUSH");
    assert_eq!(kernel.volatile.most_bytes(), 0);
}

#[test]
fn fua_waits_for_its_own_pages_only() {
    let requests = [(0, 0, 1, Durable::No), (12, 1, 1, Durable::Itself)];
    let (done, _, wear) = ends(&volatile(Gather::Full), &requests);
    // Both pages are in one program: the one that waits goes with it.
    assert_eq!(done, [12, 24 + 2 * 3 + 600 + 200]);
    assert_eq!(wear.map(|wear| (wear.host_pages, wear.padded_pages)), Some((2, 10)));
}

#[test]
fn a_write_that_makes_all_durable_is_a_write_and_a_flush() {
    let (done, ..) = ends(&volatile(Gather::Full), &[(0, 0, 1, Durable::All)]);
    assert_eq!(done, [12 + 3 + 600 + 200 + 10]);
}

#[test]
fn one_drain_serves_the_flushes_that_wait_for_it_and_not_the_writes_after_them() {
    let requests =
        [(0, 0, 1, Durable::No), (13, 0, 0, Durable::All), (14, 0, 0, Durable::All), (20, 1, 1, Durable::No), (40, 0, 0, Durable::All)];
    let (done, ..) = ends(&volatile(Gather::Full), &requests);
    assert_eq!(&done[1..3], [826, 826 + 200], "each has an entry of the map");
    assert_eq!(done[4], 616 + 3 + 600 + 200 + 10, "the page that came during the program takes one of its own");
}

#[test]
fn a_buffer_that_cannot_be_flushed_answers_at_once_and_loses_what_it_has() {
    let lying = spec::Ssd { write_buffer_is: Persistence::Unflushable, ..volatile(Gather::Full) };
    let (done, kernel, _) = ends(&lying, &[(0, 0, 1, Durable::No), (12, 0, 0, Durable::All)]);
    assert_eq!(done, [12, 22]);
    assert_eq!(kernel.volatile.most_bytes(), PAGE);
}

#[test]
fn a_drive_without_flash_flushes_and_counts_too() {
    let fresh = spec::Ssd { flash: None, ..volatile(Gather::Now) };
    let (done, kernel, _) =
        ends(&fresh, &[(0, 0, 1, Durable::No), (12, 0, 0, Durable::All), (1000, 1, 1, Durable::Itself), (2000, 0, 0, Durable::All)]);
    assert_eq!(done, [12, 612, 1612, 2010]);
    assert_eq!((kernel.volatile.bytes(), kernel.volatile.most_bytes()), (0, PAGE));
}

/// FUA writes a second in a closed loop over many dies.
fn durable_rate(depth: usize, map_us: u64) -> f64 {
    let volatile = volatile(Gather::Full);
    let flash = Flash { channels: 4, map_flush: Nanos(map_us * 1_000), ..volatile.flash.clone().expect("flash") };
    let spec = spec::Ssd { units: 64, write_buffer: Bytes(4 << 20), capacity: Bytes(1 << 30), flash: Some(flash), ..volatile };
    let mut ssd = Ssd::new(&spec, 1, "ssd0");
    let mut kernel = Kernel::default();
    let mut stream = Stream::new(7, "requests");
    let mut done = 0u32;
    let open = |kernel: &mut Kernel, ssd: &mut Ssd, stream: &mut Stream| {
        let offset = stream.below(1 << 17) * PAGE;
        let id = kernel.open(Request { op: Op::Write, offset, bytes: PAGE, durable: Durable::Itself, ..Request::default() });
        ssd.on(kernel, Event::Submit(id));
    };
    (0..depth).for_each(|_| open(&mut kernel, &mut ssd, &mut stream));
    while let Some(event) = kernel.advance().filter(|_| done < 4_000) {
        if let Event::Done(id) = event.event() {
            kernel.requests.remove(id);
            done += 1;
            open(&mut kernel, &mut ssd, &mut stream);
        } else {
            ssd.on(&mut kernel, event.event());
        }
    }
    f64::from(done) / (kernel.now_ns() as f64 / 1e9)
}

#[test]
fn fua_writes_are_limited_by_the_journal_of_the_map_and_not_by_their_number() {
    // Alone: 2 us on the interface, 10 of overhead, 3 on the channel, the program and the map.
    let alone = durable_rate(1, 200);
    assert!((alone / (1e6 / 815.0) - 1.0).abs() < 0.01, "{alone}");
    let [sixteen, thirty_two] = [16, 32].map(|depth| durable_rate(depth, 200));
    assert!((sixteen / 5_000.0 - 1.0).abs() < 0.02 && (thirty_two / 5_000.0 - 1.0).abs() < 0.02, "{sixteen} and {thirty_two}");
    assert!(durable_rate(32, 0) > 20.0 * durable_rate(1, 0), "without a map the dies are the limit");
}
