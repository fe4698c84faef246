//! Read paths: reads take turns on few of them, and more are powered as the queue grows.

use super::{flash, random, run, spec};
use crate::kernel::Phase;
use crate::layers::device::ssd::Ssd;
use seeklab_spec::{Bytes, Flash, Op, Precondition, ReadPaths};

const PAGE: u64 = 4096;

#[test]
fn reads_of_one_path_take_turns_though_their_dies_are_free() {
    let reads: Vec<_> = (0..4).map(|page| (Op::Read, page * PAGE, PAGE)).collect();
    let one = spec::Ssd { flash: Some(Flash { read_paths: Some(ReadPaths { least: 1, per_read: 0.0 }), ..flash() }), ..spec() };
    let done = run(&mut Ssd::new(&one, 1, "ssd0"), 4, &reads);
    // Die and channel for 60 us each; interface and overhead of one read overlap with the next.
    assert_eq!(done.iter().map(|row| row.at_ns).collect::<Vec<_>>(), [71_000, 131_000, 191_000, 251_000]);
    assert_eq!(done[3].phases[Phase::Queue as usize], 180_000);
}

#[test]
fn a_read_that_needs_no_flash_leaves_its_path_at_once() {
    let paths = Some(ReadPaths { least: 1, per_read: 0.0 });
    let empty = spec::Ssd { flash: Some(Flash { read_paths: paths, precondition: Precondition::None, ..flash() }), ..spec() };
    let requests = [(Op::Write, 0, PAGE), (Op::Read, 0, PAGE), (Op::Read, PAGE, PAGE), (Op::Read, 2 * PAGE, PAGE)];
    let done = run(&mut Ssd::new(&empty, 1, "ssd0"), 1, &requests);
    assert_eq!(done.iter().skip(1).map(|row| row.response_ns).collect::<Vec<_>>(), [71_000, 11_000, 11_000]);
    let at_once: Vec<_> = run(&mut Ssd::new(&empty, 1, "ssd0"), 3, &requests[1..]).iter().map(|row| row.at_ns).collect();
    assert_eq!(at_once, [11_000, 12_000, 13_000]);
}

/// Random reads a second on 64 dies.
fn rate(paths: Option<ReadPaths>, depth: usize) -> f64 {
    let flash = Flash { channels: 64, read_paths: paths, ..flash() };
    let spec = spec::Ssd { capacity: Bytes(1 << 30), units: 64, queue_depth: 1024, flash: Some(flash), ..spec() };
    let done = run(&mut Ssd::new(&spec, 1, "ssd0"), depth, &random(Op::Read, PAGE, 1 << 18, 20_000));
    done.len() as f64 / (done[done.len() - 1].at_ns as f64 / 1e9)
}

#[test]
fn few_paths_limit_reads_at_any_depth() {
    let four = |depth| rate(Some(ReadPaths { least: 4, per_read: 0.0 }), depth);
    // Alone: 71 us. Many: four paths of 60 us each, less a few moments in which one of them has nothing to do.
    assert!((four(1) / (1e6 / 71.0) - 1.0).abs() < 0.01, "{}", four(1));
    let most = 4.0 * 1e6 / 60.0;
    assert!((0.9 * most..most).contains(&four(64)), "{} of {most}", four(64));
    assert!(rate(None, 64) > 6.0 * most);
}

#[test]
fn the_response_stops_growing_where_paths_are_powered_by_the_queue() {
    let paths = || Some(ReadPaths { least: 4, per_read: 0.25 });
    let response_us = |depth| depth as f64 * 1e6 / rate(paths(), depth);
    let [eight, sixteen, thirty_two, sixty_four] = [8, 16, 32, 64].map(response_us);
    assert!(eight > 1.6 * response_us(2), "{eight}");
    // A queue of n at n / 4 servers, each chosen at random: 60 (1 + 4) + 11, and a bit less as times do not vary.
    for (depth, us) in [(16, sixteen), (32, thirty_two), (64, sixty_four)] {
        assert!((190.0..311.0).contains(&us), "{us} us at depth {depth}");
    }
    assert!((sixty_four / thirty_two - 1.0).abs() < 0.15, "{thirty_two} and {sixty_four}");
}
