//! Stalls of buffered writes: how many wait, for how long, and the closed form of the mean.

use super::{Done, flash, random, run, spec};
use crate::layers::device::ssd::Ssd;
use seeklab_spec::{Bytes, Flash, Nanos, Op, WriteStall};

const PAGE: u64 = 4096;
const COUNT: usize = 60_000;

/// Responses of buffered writes without a stall, at depth 1: the interface for 1 us, 10 us of overhead.
const ALONE_NS: u64 = 11_000;

/// Random writes to a drive whose buffer has room for all of them, so that its flash is never the limit.
fn writes(kinds: &[WriteStall], depth: usize, seed: u64) -> Vec<Done> {
    let flash = Flash { write_stalls: kinds.to_vec(), ..flash() };
    let spec = spec::Ssd { capacity: Bytes(1 << 30), write_buffer: Bytes(1 << 29), flash: Some(flash), ..spec() };
    run(&mut Ssd::new(&spec, seed, "ssd0"), depth, &random(Op::Write, PAGE, 16_384, COUNT))
}

fn stall(share: f64, time_us: u64, hides: bool) -> WriteStall {
    WriteStall { share, time: Nanos(time_us * 1_000), shape: 4.0, hides }
}

fn mean_ns(done: &[Done]) -> f64 {
    done.iter().map(|row| row.response_ns).sum::<u64>() as f64 / done.len() as f64
}

/// The time below which a share of the responses is.
fn quantile_ns(done: &[Done], share: f64) -> u64 {
    let mut times: Vec<u64> = done.iter().map(|row| row.response_ns).collect();
    times.sort_unstable();
    times[(times.len() as f64 * share) as usize]
}

#[test]
fn without_stalls_all_writes_of_a_lone_writer_take_the_same_time() {
    assert!(writes(&[], 1, 1).iter().all(|row| row.response_ns == ALONE_NS));
}

#[test]
fn a_share_of_the_writes_of_a_lone_writer_waits() {
    let done = writes(&[stall(0.02, 500, false)], 1, 1);
    let waited = done.iter().filter(|row| row.response_ns > ALONE_NS).count() as f64 / COUNT as f64;
    assert!((waited / 0.02 - 1.0).abs() < 0.1, "{waited} of the writes");
    // The gamma distribution of shape 4 has its median at 0.918 of its mean.
    assert_eq!(quantile_ns(&done, 0.97), ALONE_NS);
    let median = (quantile_ns(&done, 0.99) - ALONE_NS) as f64;
    assert!((median / (0.918 * 500e3) - 1.0).abs() < 0.1, "{median}");
}

#[test]
fn the_mean_grows_by_share_times_time_at_any_depth() {
    for depth in [1, 4, 16] {
        let added = mean_ns(&writes(&[stall(0.02, 500, false)], depth, 1)) - mean_ns(&writes(&[], depth, 1));
        assert!((added / (0.02 * 500e3) - 1.0).abs() < 0.1, "{added} ns at depth {depth}");
    }
}

#[test]
fn work_that_hides_delays_no_lone_writer_and_half_as_much_at_depth_two() {
    assert!(writes(&[stall(0.02, 500, true)], 1, 1).iter().all(|row| row.response_ns == ALONE_NS));
    for (depth, share) in [(2, 0.01), (16, 0.02 * 15.0 / 16.0)] {
        let added = mean_ns(&writes(&[stall(0.02, 500, true)], depth, 1)) - mean_ns(&writes(&[], depth, 1));
        assert!((added / (share * 500e3) - 1.0).abs() < 0.12, "{added} ns at depth {depth}");
    }
}

#[test]
fn several_kinds_add_up() {
    let done = writes(&[stall(0.05, 20, false), stall(0.005, 2_000, false)], 1, 1);
    let added = mean_ns(&done) - ALONE_NS as f64;
    assert!((added / (0.05 * 20e3 + 0.005 * 2e6) - 1.0).abs() < 0.1, "{added} ns");
}

#[test]
fn stalls_depend_on_the_seed_and_reads_know_none() {
    let kinds = [stall(0.02, 500, false)];
    assert_eq!(writes(&kinds, 4, 1), writes(&kinds, 4, 1));
    assert_ne!(writes(&kinds, 4, 1), writes(&kinds, 4, 2));
    let spec = spec::Ssd { flash: Some(Flash { write_stalls: kinds.to_vec(), ..flash() }), ..spec() };
    let reads = run(&mut Ssd::new(&spec, 1, "ssd0"), 1, &random(Op::Read, PAGE, 16_384, 2_000));
    assert!(reads.iter().all(|row| row.response_ns <= 71_000), "{:?}", reads.iter().map(|row| row.response_ns).max());
}
