//! TRIM: what it takes out of the map, how long it takes, and what it is worth.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::Ssd;
use super::super::closed_form::write_amplification;
use super::ftl::{layer, write};
use super::{Done, flash, run, run_at, spec};
use crate::kernel::Phase;
use crate::layers::device::ssd::ftl::Shape;
use crate::testing::{assert_problems, metric, problems, run as run_scenario};
use seeklab_kernel::Stream;
use seeklab_spec::{Bytes, Collector, Flash, Gather, Nanos, Op, Precondition};

const PAGE: u64 = 4096;

/// Amplification of uniform writes to what is left after a random share of a preconditioned drive's pages was given up, over three
/// times its pages after as many.
fn amplification_after_trim(share_left: f64) -> f64 {
    let flash = Flash { overprovision: 14.5, pages_per_block: 256, mapped: Some(Bytes(128 * 256 * PAGE)), ..flash() };
    let shape = Shape::of(&spec::Ssd { units: 1, capacity: Bytes(1 << 40), ..spec() }, &flash).expect("a small drive");
    let mut ftl = layer(shape, Collector::Greedy, Precondition::Random, 1);
    let mut stream = Stream::new(2, "pages");
    let mut left: Vec<u32> = (0..shape.logical).collect();
    while left.len() as f64 > share_left * f64::from(shape.logical) {
        let page = left.swap_remove(stream.below(left.len() as u64) as usize);
        ftl.trim(0, page);
    }
    let mut pass = |count: u32| {
        let before = ftl.wear();
        for _ in 0..count * shape.logical {
            write(&mut ftl, 0, left[stream.below(left.len() as u64) as usize]);
        }
        let after = ftl.wear();
        1.0 + (after.moved_pages - before.moved_pages) as f64 / (after.host_pages - before.host_pages) as f64
    };
    pass(3);
    pass(3)
}

#[test]
fn what_is_trimmed_is_over_provisioning() {
    // (1 + 0.145) / u - 1 is 14.5, 27.2, 43.1 and 129 %.
    for (left, expected) in [(1.0, 4.13), (0.9, 2.53), (0.8, 1.87), (0.5, 1.16)] {
        let found = amplification_after_trim(left);
        println!("{left} of the pages left: {found:.3}, expected {expected}");
        assert!((found / expected - 1.0).abs() < 0.03, "{left}: {found} against {expected}");
        assert!((write_amplification(1.145 / left - 1.0) / expected - 1.0).abs() < 0.005, "the closed form at {left}");
    }
}

fn flash_reads(done: &Done) -> u64 {
    done.phases[Phase::FlashRead as usize]
}

#[test]
fn trimmed_pages_are_read_without_flash_and_partly_covered_ones_stay() {
    let mut ssd = Ssd::new(&spec(), 1, "ssd0");
    // From the middle of page 8 to the middle of page 12: 9, 10 and 11 are covered.
    let trim = (Op::Trim, 8 * PAGE + 2048, 4 * PAGE);
    let reads = (7..14).map(|page| (Op::Read, page * PAGE, PAGE));
    let done = run(&mut ssd, 1, &std::iter::once(trim).chain(reads).collect::<Vec<_>>());
    assert_eq!(done[0].response_ns, 10_000 + 3 * 20);
    let flash: Vec<bool> = done[1..].iter().map(|done| flash_reads(done) > 0).collect();
    assert_eq!(flash, [true, true, false, false, false, true, true]);
    assert_eq!(ssd.wear().map(|wear| (wear.trimmed_pages, wear.host_pages)), Some((3, 0)));
    assert_eq!((ssd.usage.trims, ssd.usage.trimmed_bytes, ssd.usage.ios), (1, 4 * PAGE, [7, 0]));
}

#[test]
fn a_trim_takes_the_controller_its_time_and_only_a_synchronous_one_keeps_others_out() {
    let ends = |sync_trim: bool| {
        let flash = Flash { sync_trim, trim_page: Nanos(1000), ..flash() };
        let mut ssd = Ssd::new(&spec::Ssd { flash: Some(flash), ..spec() }, 1, "ssd0");
        // Two trims of 1,000 pages in a row, and a read of 71 us: command, page, 10 us on the channel and 1 us on the interface.
        let requests = [(0, Op::Trim, 0, 1000 * PAGE), (5000, Op::Read, 8000 * PAGE, PAGE), (6000, Op::Trim, 0, 1000 * PAGE)];
        run_at(&mut ssd, &requests).0
    };
    assert_eq!(ends(false), [1_010_000, 5000 + 71_000, 2_010_000]);
    assert_eq!(ends(true), [1_010_000, 1_010_000 + 71_000, 2_020_000], "the second begins when the first has ended");
}

#[test]
fn pages_that_wait_in_the_buffer_are_dropped_and_the_room_is_free_again() {
    for gather in [Gather::Now, Gather::Full] {
        let flash = Flash { planes: 4, gather, precondition: Precondition::None, ..flash() };
        let drive = spec::Ssd { units: 1, write_buffer: Bytes(16 * PAGE), flash: Some(Flash { channels: 1, ..flash }), ..spec() };
        let mut ssd = Ssd::new(&drive, 1, "ssd0");
        // The first four pages are being programmed when the other six are given up, and one of them is written again.
        let requests = [
            (0, Op::Write, 0, 4 * PAGE),
            (100_000, Op::Write, 4 * PAGE, 6 * PAGE),
            (150_000, Op::Trim, 4 * PAGE, 6 * PAGE),
            (200_000, Op::Write, 5 * PAGE, PAGE),
            (9_000_000, Op::Write, 100 * PAGE, 16 * PAGE),
        ];
        run_at(&mut ssd, &requests);
        assert_eq!(ssd.wear().map(|wear| wear.host_pages), Some(4 + 1 + 16), "{gather:?}");
    }
}

/// Whether a page came from a die: its channel takes 10 us for it, the interface one. It may have been in a register.
fn crosses_a_channel(done: &Done) -> bool {
    done.phases[Phase::Transfer as usize] > 5_000
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_page_holds_data_if_it_was_written_after_it_was_trimmed(
        operations in prop::collection::vec((any::<bool>(), 0_u64..3000, 1_u64..300), 1..60),
        gather in prop_oneof![Just(Gather::Now), Just(Gather::Full)],
        stripe in prop_oneof![Just(1_u32), Just(4)],
        buffer in prop_oneof![Just(0_u64), Just(256)],
        full in any::<bool>(),
    ) {
        let precondition = if full { Precondition::Random } else { Precondition::None };
        let gather = if buffer > 0 { gather } else { Gather::Now };
        let flash = Flash { planes: 4, pages_per_block: 32, gather, stripe, precondition, ..flash() };
        let drive = spec::Ssd { capacity: Bytes(3400 * PAGE), write_buffer: Bytes(buffer * PAGE), flash: Some(flash), ..spec() };
        let mut ssd = Ssd::new(&drive, 1, "ssd0");
        let mut holds = vec![full; 3400];
        let mut requests = Vec::new();
        for (trims, page, pages) in operations {
            holds[page as usize..(page + pages) as usize].fill(!trims);
            requests.push((if trims { Op::Trim } else { Op::Write }, page * PAGE, pages * PAGE));
        }
        run(&mut ssd, 1, &requests);
        let reads: Vec<_> = (0..3000).map(|page| (Op::Read, page * PAGE, PAGE)).collect();
        for done in run(&mut ssd, 1, &reads) {
            prop_assert_eq!(crosses_a_channel(&done), holds[done.number], "page {}", done.number);
        }
    }
}

/// Jobs on a drive of 256 MB.
fn scenario(jobs: &Value, rest: &Value) -> Value {
    let flash = json!({"channels": 4, "channel_rate": "400MB", "planes": 4, "pages_per_block": 64, "erase": "3ms", "overprovision": 14});
    let ssd = json!({"capacity": "256MiB", "units": 8, "page": "4KiB", "read": "50us", "program": "500us", "overhead": "10us",
                     "interface_rate": "1GB", "write_buffer": "1MiB", "flash": flash});
    let mut whole = json!({"jobs": jobs, "devices": [{"ssd": ssd}]});
    whole.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
    whole
}

#[test]
fn jobs_trim_as_fio_does() {
    let job = |rw: &str| json!([{"name": "t", "rw": rw, "bs": "64KiB", "size": "64MiB", "filename": "f"}]);
    for rw in ["trim", "randtrim"] {
        let stack = run_scenario(&scenario(&job(rw), &json!({})));
        assert_eq!([metric(&stack, "t.trim_ios"), metric(&stack, "t.trim_bytes")].map(|value| value as u64), [1024, 64 << 20], "{rw}");
        assert_eq!(metric(&stack, "ssd_trimmed_pages") as u64, 16_384, "each block once");
    }
    let both = run_scenario(&scenario(&job("trimwrite"), &json!({})));
    assert_eq!(["t.trim_ios", "t.write_ios"].map(|name| metric(&both, name) as u64), [1024, 1024]);
    let log = both.recorder().log.as_ref().expect("a log");
    assert!(log.op.chunks(2).zip(log.offset.chunks(2)).all(|(ops, places)| ops == [Op::Trim, Op::Write] && places[0] == places[1]));
}

#[test]
fn a_trim_that_would_reach_no_flash_is_refused_with_a_sentence() {
    let jobs = json!([{"name": "t", "rw": "trim", "bs": "64KiB", "size": "64MiB"}]);
    assert_eq!(problems(&scenario(&jobs, &json!({}))), Vec::<String>::new());
    let lun = json!({"devices": [{"lun": {"rate": "100MB"}}]});
    assert_problems(&problems(&scenario(&jobs, &lun)), &["jobs[0].rw: devices[0], flash, slc"]);
    let cached = json!({"volume": {"cache": {"size": "16MiB", "rate": "1GB"}}});
    assert_problems(&problems(&scenario(&jobs, &cached)), &["jobs[0].rw: volume"]);
    let mut large = scenario(&json!([{"name": "t", "rw": "trim", "bs": "1MiB", "size": "200MiB"}]), &json!({}));
    large["devices"][0]["ssd"]["flash"]["mapped"] = "64MiB".into();
    assert_problems(&problems(&large), &["jobs[0].size: 200 MiB, ssd.flash.mapped"]);
}
