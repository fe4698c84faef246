//! The drive around the flash: what a request waits for, in order and in time.

use proptest::prelude::*;

use super::super::closed_form::write_amplification_of_blocks;
use super::{Done, fingerprint, flash, random, run, spec};
use crate::kernel::Phase;
use crate::layers::device::ssd::Ssd;
use seeklab_spec::Op;
use seeklab_spec::{Bytes, Collector, Flash, Nanos, Precondition};

const PAGE: u64 = 4096;

fn drive(spec: &spec::Ssd) -> Ssd {
    Ssd::new(spec, 1, "ssd0")
}

fn with(flash: Flash) -> spec::Ssd {
    spec::Ssd { flash: Some(flash), ..spec() }
}

fn ends(spec: &spec::Ssd, requests: &[(Op, u64, u64)]) -> Vec<u64> {
    run(&mut drive(spec), requests.len(), requests).iter().map(|done| done.at_ns).collect()
}

fn phase(done: &[Done], phase: Phase) -> u64 {
    done.iter().map(|row| row.phases[phase as usize]).sum()
}

#[test]
fn a_read_is_flash_then_channel_then_interface_then_overhead() {
    let done = run(&mut drive(&spec()), 1, &[(Op::Read, 0, PAGE)]);
    assert_eq!(done[0].at_ns, 50_000 + 10_000 + 1_000 + 10_000);
    assert_eq!(phase(&done, Phase::FlashRead), 50_000);
    assert_eq!(phase(&done, Phase::Transfer), 11_000);
    assert_eq!(phase(&done, Phase::Overhead), 10_000);
    let command = with(Flash { command: Nanos(3_000), ..flash() });
    assert_eq!(ends(&command, &[(Op::Read, 0, PAGE)]), [74_000]);
}

#[test]
fn a_write_may_have_a_command_of_its_own() {
    let by_direction = |flash| spec::Ssd { write_buffer: Bytes(2 * PAGE), ..with(flash) };
    let one = by_direction(Flash { command: Nanos(3_000), ..flash() });
    let two = by_direction(Flash { command: Nanos(3_000), write_command: Some(Nanos(7_000)), ..flash() });
    let (read, write) = ([(Op::Read, 0, PAGE)], [(Op::Write, 0, PAGE), (Op::Write, PAGE, PAGE)]);
    assert_eq!((ends(&one, &read), ends(&two, &read)), (vec![74_000], vec![74_000]));
    // Two writes cross the interface one after the other, each with its command; their overheads overlap.
    assert_eq!(ends(&one, &write), [3_000 + 1_000 + 10_000, 2 * (3_000 + 1_000) + 10_000]);
    assert_eq!(ends(&two, &write), [7_000 + 1_000 + 10_000, 2 * (7_000 + 1_000) + 10_000]);
}

#[test]
fn dies_of_one_channel_read_together_and_take_turns_on_the_channel() {
    // Pages 0 and 1 are on different channels; 0 and 2 share one; 0 and 4 are on the same die.
    assert_eq!(ends(&spec(), &[(Op::Read, 0, PAGE), (Op::Read, PAGE, PAGE)]), [71_000, 72_000]);
    assert_eq!(ends(&spec(), &[(Op::Read, 0, PAGE), (Op::Read, 2 * PAGE, PAGE)]), [71_000, 81_000]);
    assert_eq!(ends(&spec(), &[(Op::Read, 0, PAGE), (Op::Read, 4 * PAGE, PAGE)]), [71_000, 121_000]);
}

#[test]
fn a_request_that_is_ready_first_does_not_wait_for_one_that_came_first() {
    let requests = [(Op::Read, 0, PAGE), (Op::Read, 4 * PAGE, PAGE), (Op::Read, PAGE, PAGE)];
    let order: Vec<usize> = run(&mut drive(&spec()), 3, &requests).iter().map(|done| done.number).collect();
    assert_eq!(order, [0, 2, 1]);
}

#[test]
fn planes_read_pages_of_one_request_at_once() {
    let eight = [(Op::Read, 0, 32 * PAGE)];
    let one = ends(&spec(), &eight)[0];
    let four = ends(&with(Flash { planes: 4, ..flash() }), &eight)[0];
    // Eight pages on each of four dies. One by one the dies are slow, and their last pages meet on the channels and the
    // interface; by fours the channels are, and the last batches of both meet on the interface.
    assert_eq!(one, 8 * 50_000 + 2 * 10_000 + 2 * 1_000 + 10_000);
    assert_eq!(four, 50_000 + 4 * 40_000 + 2 * 4_000 + 10_000);
}

#[test]
fn a_write_buffer_acknowledges_until_it_is_full() {
    let buffered = spec::Ssd { write_buffer: Bytes(2 * PAGE), units: 1, flash: Some(Flash { channels: 1, ..flash() }), ..spec() };
    let writes = [(Op::Write, 0, PAGE), (Op::Write, PAGE, PAGE), (Op::Write, 2 * PAGE, PAGE)];
    // The third waits until the first is programmed: over the interface, to the die, 500 us.
    assert_eq!(ends(&buffered, &writes), [11_000, 12_000, 11_000 + 10_000 + 500_000 + 11_000]);
    assert_eq!(ends(&spec(), &[(Op::Write, 0, PAGE)]), [11_000 + 10_000 + 500_000]);
}

#[test]
fn a_write_larger_than_the_buffer_is_done_when_it_is_programmed() {
    let buffered = spec::Ssd { write_buffer: Bytes(PAGE), ..spec() };
    assert_eq!(ends(&buffered, &[(Op::Write, 0, 2 * PAGE)]), [2_000 + 10_000 + 10_000 + 500_000]);
}

#[test]
fn a_part_of_a_page_is_read_before_it_is_programmed() {
    let done = run(&mut drive(&spec()), 1, &[(Op::Write, 512, 512)]);
    assert_eq!(done[0].at_ns, 125 + 10_000 + 10_000 + 50_000 + 500_000);
    assert_eq!(phase(&done, Phase::FlashRead), 50_000);
    assert_eq!(phase(&done, Phase::FlashProgram), 500_000);
    let whole = run(&mut drive(&spec()), 1, &[(Op::Write, 4096, 4096)]);
    assert_eq!(phase(&whole, Phase::FlashRead), 0);
}

#[test]
fn what_was_never_written_is_not_read_from_flash() {
    let empty = with(Flash { precondition: Precondition::None, ..flash() });
    let requests = [(Op::Read, 0, 4 * PAGE), (Op::Write, PAGE, PAGE), (Op::Read, 0, 4 * PAGE)];
    let done = run(&mut drive(&empty), 1, &requests);
    assert_eq!(done[0].response_ns, 4_000 + 10_000);
    assert_eq!(done[2].phases[Phase::FlashRead as usize], 50_000);
}

#[test]
fn reads_overtake_writes_that_wait_for_the_die_but_not_for_ever() {
    let mut requests = vec![(Op::Write, 0, PAGE), (Op::Write, 4 * PAGE, PAGE)];
    requests.extend((2..22).map(|page| (Op::Read, 4 * page * PAGE, PAGE)));
    let order: Vec<usize> = run(&mut drive(&spec()), 22, &requests).iter().map(|done| done.number).collect();
    let place = |number| order.iter().position(|other| *other == number).expect("done");
    assert!(place(10) < place(0), "{order:?}");
    assert!(place(1) < place(21), "{order:?}");
}

/// Unbuffered random writes of pages on a drive in steady state.
fn steady(collector: Collector, op: Op) -> (Vec<Done>, Ssd) {
    let spec = with(Flash { collector, precondition: Precondition::Random, ..flash() });
    let mut ssd = drive(&spec);
    let done = run(&mut ssd, 8, &random(op, PAGE, 16_384, 40_000));
    (done, ssd)
}

#[test]
fn waiting_for_collection_is_charged_to_it() {
    let (writes, ssd) = steady(Collector::Greedy, Op::Write);
    let waited_ns = phase(&writes, Phase::Collect);
    // Each page of the host pays for its share of moves and erases on its own die and for those of requests ahead of it.
    let wear = ssd.wear().expect("a flash drive");
    let collected_ns = wear.moved_pages * 550_000 + wear.erases * 2_000_000;
    assert!(waited_ns > collected_ns / 2, "{waited_ns} ns waited, {collected_ns} ns collected");
    let (reads, ssd) = steady(Collector::Greedy, Op::Read);
    assert_eq!(phase(&reads, Phase::Collect), 0);
    assert_eq!(ssd.wear().map(|wear| wear.host_pages), Some(0));
}

#[test]
fn a_full_buffer_charges_collection_with_its_share_of_the_wait() {
    let flash = Flash { precondition: Precondition::Random, ..flash() };
    let spec = spec::Ssd { write_buffer: Bytes(64 * PAGE), flash: Some(flash), ..spec() };
    let mut ssd = drive(&spec);
    let done = run(&mut ssd, 8, &random(Op::Write, PAGE, 16_384, 40_000));
    let collected_ns = ssd.wear().map_or(0, |wear| wear.moved_pages * 550_000 + wear.erases * 2_000_000);
    let share = collected_ns as f64 / (collected_ns + 40_000 * 510_000) as f64;
    let waits_ns = phase(&done, Phase::Collect) + phase(&done, Phase::Queue);
    let charged = phase(&done, Phase::Collect) as f64 / waits_ns as f64;
    assert!((charged - share).abs() < 0.05, "{charged} of the wait, {share} of the dies' time");
}

#[test]
fn the_drive_amplifies_as_its_translation_layer_does() {
    let (_, ssd) = steady(Collector::Greedy, Op::Write);
    let found = ssd.wear().expect("a flash drive").write_amplification();
    let expected = write_amplification_of_blocks(0.14, 64);
    assert!((found / expected - 1.0).abs() < 0.05, "{found} against {expected}");
}

#[test]
fn collection_slows_a_drive_down_after_its_spare_blocks_are_used_up() {
    let spec = with(Flash { precondition: Precondition::None, overprovision: 7.0, mapped: Some(Bytes(32 << 20)), ..flash() });
    let done = run(&mut drive(&spec), 8, &random(Op::Write, PAGE, 8_192, 60_000));
    let mean = |rows: &[Done]| rows.iter().map(|row| row.response_ns).sum::<u64>() / rows.len() as u64;
    assert!(mean(&done[50_000..]) > 4 * mean(&done[..5_000]), "{} then {}", mean(&done[..5_000]), mean(&done[50_000..]));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run_of = |seed| {
        let spec = with(Flash { precondition: Precondition::Random, ..flash() });
        fingerprint(&run(&mut Ssd::new(&spec, seed, "ssd0"), 4, &random(Op::Write, PAGE, 16_384, 5_000)))
    };
    assert_eq!(run_of(1), run_of(1));
    assert_ne!(run_of(1), run_of(2));
}

#[test]
fn a_run_has_a_fixed_fingerprint() {
    let flash = Flash { precondition: Precondition::Random, planes: 3, collector: Collector::CostBenefit, ..flash() };
    let spec = spec::Ssd { write_buffer: Bytes(40 * PAGE), flash: Some(flash), ..spec() };
    let requests: Vec<_> = random(Op::Write, 1536, 40_000, 6_000)
        .into_iter()
        .zip(random(Op::Read, 12_288, 5_000, 6_000))
        .flat_map(|(write, read)| [write, read])
        .collect();
    assert_eq!(fingerprint(&run(&mut drive(&spec), 16, &requests)), "b5ea0846d39b6d02");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn every_request_completes_once_and_its_phases_add_up(
        requests in proptest::collection::vec((any::<bool>(), 0u64..40_000, 1u64..200), 1..300),
        (channels, planes, depth, queue_depth) in (prop_oneof![Just(1u32), Just(2), Just(4)], 1u32..6, 1usize..40, 1u32..40),
        buffer in prop_oneof![Just(0u64), Just(8192), Just(100_000), Just(1 << 20)],
        collector in prop_oneof![Just(Collector::Greedy), Just(Collector::CostBenefit)],
        precondition in prop_oneof![Just(Precondition::None), Just(Precondition::Sequential), Just(Precondition::Random)],
    ) {
        let flash = Flash { channels, planes, collector, precondition, pages_per_block: 16, mapped: Some(Bytes(8 << 20)), ..flash() };
        let spec = spec::Ssd { write_buffer: Bytes(buffer), queue_depth, flash: Some(flash), ..spec() };
        let requests: Vec<_> = requests
            .into_iter()
            .map(|(read, sector, sectors)| (if read { Op::Read } else { Op::Write }, sector * 512, sectors * 512))
            .collect();
        let mut ssd = drive(&spec);
        let mut done = run(&mut ssd, depth, &requests);
        done.sort_unstable_by_key(|row| row.number);
        prop_assert!(done.iter().enumerate().all(|(number, row)| row.number == number));
        prop_assert_eq!(ssd.usage.bytes.iter().sum::<u64>(), requests.iter().map(|request| request.2).sum::<u64>());
        prop_assert_eq!(ssd.usage.response_ns.iter().sum::<u64>(), done.iter().map(|row| row.response_ns).sum::<u64>());
        let pages = |(op, offset, bytes): &(Op, u64, u64)| if *op == Op::Write { (offset + bytes - 1) / PAGE - offset / PAGE + 1 } else { 0 };
        prop_assert_eq!(ssd.wear().map(|wear| wear.host_pages), Some(requests.iter().map(pages).sum()));
    }
}
