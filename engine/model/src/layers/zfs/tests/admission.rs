//! Writes longer than a record: each record is admitted by itself.

use super::*;

const RECORD: u64 = 128 << 10;

fn of_2021(dirty_max: u64) -> ZfsSpec {
    ZfsSpec { era: Era::OpenZfs2_1, ..new(dirty_max, RECORD) }
}

/// The most dirty data of a run.
fn dirty_max(outcome: &Outcome) -> u64 {
    outcome.zfs.record.series.iter().map(|row| row.dirty_max_bytes).max().unwrap_or(0)
}

#[test]
fn writes_half_as_long_as_the_maximum_pass_it_by_a_record_a_thread_at_most() {
    let outcome = run(&of_2021(16 * MIB), Load::writers(4, 8 * MIB, 10), 100_000_000, 1);
    assert!(dirty_max(&outcome) <= 16 * MIB + 4 * RECORD, "{}", dirty_max(&outcome));
    assert!(dirty_max(&outcome) > 12 * MIB, "and the maximum is used: {}", dirty_max(&outcome));
    assert!(outcome.counts().delayed > 1000, "{}", outcome.counts().delayed);
}

#[test]
fn writes_64_times_the_maximum_pass_it_by_a_record_a_thread_at_most() {
    let outcome = run(&of_2021(MIB), Load::writers(2, 64 * MIB, 10), 100_000_000, 1);
    assert!(dirty_max(&outcome) <= MIB + 2 * RECORD, "{}", dirty_max(&outcome));
    assert!(outcome.counts().delayed > 1000, "{}", outcome.counts().delayed);
}

#[test]
fn the_delay_acts_by_record_however_long_the_write_is() {
    // A record every 1.31072 ms: dirty data settle at (1.31072 + 0.6 * 0.5) / (1.31072 + 0.5) = 0.8895 of the maximum.
    for bytes in [RECORD, MIB, 8 * MIB] {
        let load = Load::writers(4, bytes, 20);
        let settled = run(&new(256 * MIB, RECORD), load, 100_000_000, 1).settled(&load, 256 * MIB);
        assert!((settled / 0.8895 - 1.0).abs() < 0.01, "{settled} with writes of {bytes}");
    }
}

#[test]
fn a_long_write_is_read_at_its_ends_only_and_copied_once() {
    // From the middle of a record over two whole ones to the middle of the fourth.
    let spec = ZfsSpec { copy_rate: Bytes(1_000_000_000), overhead: Nanos(7), ..new(1 << 30, 8192) };
    let load = Load { bytes: 3 * 8192, random_unit: 4096, ..Load::writers(1, 0, 1) };
    let outcome = run(&spec, load, 1_000_000_000_000, 1);
    let counts = outcome.counts();
    assert!(counts.blocks_read_for_write > 0 && counts.blocks_read_for_write <= outcome.ops.len() as u64 * 2);
    let shortest = outcome.ops.iter().map(|op| op.1).min();
    assert_eq!(shortest, Some(3 * 8192 + 7), "the overhead is the write's, the copy goes on over its records");
    assert_eq!(counts.not_delayed, outcome.zfs.record.groups.iter().map(|row| row.writes).sum::<u64>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn dirty_data_never_pass_the_maximum_by_more_than_a_record_a_thread(
        throttle in proptest::sample::select(vec![ThrottleKind::None, ThrottleKind::Diagonal, ThrottleKind::OpenZfs]),
        era in proptest::sample::select(vec![Era::OpenZfs2013, Era::OpenZfs0_7, Era::OpenZfs2_1, Era::OpenZfs2_3]),
        (threads, sectors, random_unit) in (1u32..24, prop_oneof![1u64..300, 300u64..40_000], prop_oneof![Just(0u64), Just(512), Just(4096)]),
        (record_log2, max_log2, rate_log2) in (9u32..18, 18u32..25, 22u32..29),
        (sync, serialise, credit) in any::<(bool, bool, bool)>(),
    ) {
        let (record, most) = (1 << record_log2, 1 << max_log2);
        let spec = ZfsSpec {
            throttle: Some(throttle), serialise, credit, record: Bytes(record), dirty_data_max: Some(Bytes(most)), ..ZfsSpec::of(era)
        };
        let load = Load { bytes: sectors * 512, random_unit, sync, ns: NS_PER_S / 10, ..Load::writers(threads, 0, 0) };
        let outcome = run(&spec, load, 1 << rate_log2, 1);
        let bound = most + u64::from(threads) * record;
        prop_assert!(dirty_max(&outcome) <= bound, "{} of {bound}", dirty_max(&outcome));
        prop_assert!(!outcome.ops.is_empty());
    }
}
