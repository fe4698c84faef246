//! Planes, physical pages of several logical ones, and the channels: throughput at the limits that follow from them.

use super::{Done, flash, random, run, spec};
use crate::layers::device::ssd::Ssd;
use seeklab_spec::{Bytes, Flash, Nanos, Op, Precondition};

const PAGE: u64 = 4096;

/// Dies whose channels and interface take next to no time.
fn dies(units: u32, read_us: u64, flash: Flash) -> spec::Ssd {
    let flash = Flash { channels: units, channel_rate: Bytes(100_000_000_000), ..flash };
    spec::Ssd {
        units,
        capacity: Bytes(u64::from(units) * (4 << 20)),
        read: Nanos(read_us * 1000),
        overhead: Nanos(0),
        interface_rate: Bytes(1_000_000_000_000),
        queue_depth: 4096,
        flash: Some(flash),
        ..spec()
    }
}

/// Megabytes a second of these requests.
fn rate(spec: &spec::Ssd, depth: usize, requests: &[(Op, u64, u64)]) -> f64 {
    let done = run(&mut Ssd::new(spec, 1, "ssd0"), depth, requests);
    requests.iter().map(|request| request.2).sum::<u64>() as f64 * 1e3 / done[done.len() - 1].at_ns as f64
}

#[test]
fn neighbouring_pages_in_one_physical_page_are_read_at_once() {
    let stream: Vec<_> = (0..2_000).map(|number| (Op::Read, number * (128 << 10) % (256 << 20), 128 << 10)).collect();
    // 64 dies give a page of 4 KiB in 50 us each, or four of them.
    for (stripe, limit) in [(1, 5_243.0), (4, 20_972.0)] {
        let found = rate(&dies(64, 50, Flash { stripe, ..flash() }), 64, &stream);
        println!("stripe {stripe}: {found:.0} MB/s of {limit}");
        assert!(found <= limit * 1.001 && found > 0.95 * limit, "stripe {stripe}: {found} of {limit}");
    }
}

#[test]
fn independent_planes_multiply_the_random_reads_of_a_die() {
    let reads = random(Op::Read, PAGE, 32 * 1024, 60_000);
    let of = |read_planes| rate(&dies(32, 45, Flash { read_planes, ..flash() }), 2048, &reads) / PAGE as f64 * 1e6;
    let (one, six) = (of(1), of(6));
    println!("one plane {one:.0}, six {six:.0} reads/s");
    assert!(one <= 711_200.0 && one > 640_000.0, "{one} of 711,111");
    assert!(six <= 4_267_000.0 && six > 3_400_000.0, "{six} of 4,266,667");
}

#[test]
fn a_program_waits_until_all_planes_have_read() {
    let spec = dies(1, 50, Flash { read_planes: 4, stripe: 1, ..flash() });
    // Pages 0, 1 and 2 are on three planes; the write comes after them and takes all.
    let requests = [(Op::Read, 0, PAGE), (Op::Read, PAGE, PAGE), (Op::Read, 2 * PAGE, PAGE), (Op::Write, 3 * PAGE, PAGE)];
    let mut spec = spec;
    spec.flash = spec.flash.map(|flash| Flash { precondition: Precondition::Sequential, ..flash });
    let mut ssd = Ssd::new(&spec, 1, "ssd0");
    run(&mut ssd, 1, &[(Op::Write, 8 * PAGE, PAGE)]); // from now on the drive knows its places
    let done: Vec<Done> = run(&mut ssd, 4, &requests);
    let ends: Vec<u64> = done.iter().map(|row| row.at_ns / 1000).collect();
    assert_eq!(ends, [50, 50, 50, 550]);
}

#[test]
fn reads_go_before_the_data_of_programs_on_their_channel() {
    let of = |channel_reads_first| {
        let flash = Flash { channels: 1, planes: 12, stripe: 12, channel_reads_first, ..flash() };
        let spec = spec::Ssd { flash: Some(flash), ..spec() };
        // The data of two programs take 120 us each on the channel; the read of a third die is ready after 50.
        let requests = [(Op::Write, 0, 12 * PAGE), (Op::Write, 12 * PAGE, 12 * PAGE), (Op::Read, 24 * PAGE, PAGE)];
        let done = run(&mut Ssd::new(&spec, 1, "ssd0"), 3, &requests);
        let end = |number| done.iter().find(|row| row.number == number).map_or(0, |row| row.at_ns / 1000);
        [end(0), end(1), end(2)]
    };
    // Writes cross the interface in 12 us each and have 10 us of overhead before.
    let [in_order, reads_first] = [false, true].map(of);
    println!("in order {in_order:?}, reads first {reads_first:?}");
    assert_eq!(reads_first[2] + 120, in_order[2]);
    assert_eq!(reads_first[0], in_order[0]);
    assert_eq!(reads_first[1], in_order[1] + 10);
}

#[test]
fn collection_that_reads_four_pages_at_once_takes_the_time_of_one() {
    let writes = random(Op::Write, PAGE, 16_384, 20_000);
    let of = |collect_parallel| {
        let flash = Flash { planes: 4, collect_parallel, precondition: Precondition::Random, ..flash() };
        let spec = spec::Ssd { write_buffer: Bytes(1 << 20), flash: Some(flash), ..spec() };
        let mut ssd = Ssd::new(&spec, 1, "ssd0");
        let done = run(&mut ssd, 32, &writes);
        let wear = ssd.wear().expect("a flash drive");
        (done[done.len() - 1].at_ns as f64, wear.moved_pages as f64)
    };
    let ((one, moved), (four, _)) = (of(1), of(4));
    // Most batches have four pages: three reads of 50 us less for each, on four dies at the same time.
    let saved = moved / 4.0 * 3.0 * 50e3 / 4.0;
    println!("{one} -> {four} ns, {} saved of {saved}", one - four);
    assert!((one - four) > 0.8 * saved && (one - four) < 1.2 * saved, "{} against {saved}", one - four);
}
