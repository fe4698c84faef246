//! Pages in the registers of planes.

use super::{flash, run, spec};
use crate::layers::device::ssd::Ssd;
use seeklab_spec::{Flash, Nanos, Op, Ssd as Spec};

const SMALL: u64 = 512;
const PAGE: u64 = 4096;

/// When the last of these requests is done, one after the other.
fn end_ns(spec: &Spec, requests: &[(Op, u64, u64)]) -> u64 {
    let done = run(&mut Ssd::new(spec, 1, "ssd0"), 1, requests);
    done[done.len() - 1].at_ns
}

fn both() -> [Spec; 2] {
    [spec(), Spec { flash: None, ..spec() }]
}

/// The same drive with sensing of a page that takes no time: what is left is overhead and transfers.
fn without_sensing(spec: &Spec) -> Spec {
    Spec { read: Nanos(0), ..spec.clone() }
}

#[test]
fn eight_small_reads_of_one_page_sense_it_once() {
    let reads: Vec<_> = (0..8).map(|number| (Op::Read, number * SMALL, SMALL)).collect();
    for spec in both() {
        assert_eq!(end_ns(&spec, &reads) - end_ns(&without_sensing(&spec), &reads), 50_000, "one page in 50 us");
    }
}

#[test]
fn another_page_of_the_same_die_takes_the_register() {
    let page = u64::from(spec().units) * PAGE;
    let reads = [(Op::Read, 0, SMALL), (Op::Read, page, SMALL), (Op::Read, SMALL, SMALL)];
    for spec in both() {
        assert_eq!(end_ns(&spec, &reads) - end_ns(&without_sensing(&spec), &reads), 150_000);
    }
}

#[test]
fn what_is_programmed_takes_the_register() {
    let page = u64::from(spec().units) * PAGE;
    let requests = [(Op::Read, 0, SMALL), (Op::Write, page, PAGE), (Op::Read, SMALL, SMALL)];
    for spec in both() {
        assert_eq!(end_ns(&spec, &requests) - end_ns(&without_sensing(&spec), &requests), 100_000);
    }
}

#[test]
fn logical_pages_that_share_a_physical_one_are_sensed_together() {
    let four = Spec { flash: Some(Flash { stripe: 4, ..flash() }), ..spec() };
    let reads: Vec<_> = (0..4).map(|number| (Op::Read, number * PAGE, PAGE)).collect();
    assert_eq!(end_ns(&four, &reads) - end_ns(&without_sensing(&four), &reads), 50_000);
}

#[test]
fn pages_sensed_at_once_are_all_sensed_where_only_the_first_is_held() {
    let four = Spec { flash: Some(Flash { stripe: 4, ..flash() }), ..spec() };
    // The second goes round all dies and ends in the next row of the first one.
    let (small, round) = ((Op::Read, 2 * PAGE, SMALL), (Op::Read, 2 * PAGE, 4 * u64::from(four.units) * PAGE));
    assert_eq!(end_ns(&four, &[small, round]) - end_ns(&four, &[small]), end_ns(&four, &[round]));
}
