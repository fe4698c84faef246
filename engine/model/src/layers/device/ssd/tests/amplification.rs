//! Write amplification of uniform random writes against the published closed forms.

use super::super::closed_form::{write_amplification, write_amplification_of_blocks};
use super::super::ftl::Shape;
use super::ftl::{layer, write};
use seeklab_kernel::Stream;
use seeklab_spec::{Bytes, Collector, Flash, Precondition, Ssd};

/// The shape of a drive of one die with `blocks` blocks of `pages` pages.
fn shape(overprovision: f64, pages: u32, blocks: u64) -> Shape {
    let mapped = Some(Bytes(blocks * u64::from(pages) * 4096));
    let flash = Flash { overprovision, pages_per_block: pages, mapped, ..super::flash() };
    Shape::of(&Ssd { units: 1, page: Bytes(4096), ..super::spec() }, &flash).expect("a small drive")
}

/// Amplification of uniform random writes over `passes` times the logical pages, after `skip` times as many.
fn measured(shape: Shape, collector: Collector, precondition: Precondition, skip: f64, passes: f64) -> f64 {
    let mut ftl = layer(shape, collector, precondition, 1);
    let mut stream = Stream::new(2, "writes");
    let mut run = |count: f64| {
        let before = ftl.wear();
        for _ in 0..(count * f64::from(shape.logical)) as u64 {
            write(&mut ftl, 0, stream.below(u64::from(shape.logical)) as u32);
        }
        let after = ftl.wear();
        1.0 + (after.moved_pages - before.moved_pages) as f64 / (after.host_pages - before.host_pages) as f64
    };
    if skip > 0.0 {
        run(skip);
    }
    run(passes)
}

#[test]
fn greedy_agrees_with_the_closed_form_from_7_to_28_percent() {
    for percent in [7.0, 10.0, 14.0, 20.0, 28.0] {
        let expected = write_amplification(percent / 100.0);
        let found = measured(shape(percent, 256, 64), Collector::Greedy, Precondition::Random, 1.0, 4.0);
        let error = found / expected - 1.0;
        println!("over-provisioning {percent} %: {found:.3}, closed form {expected:.3}, {:+.1} %", 100.0 * error);
        assert!(error.abs() < 0.05, "{percent} %: {found} against {expected}");
    }
}

#[test]
fn greedy_agrees_with_the_form_for_small_blocks() {
    for (pages, percent) in [(32, 7.0), (32, 14.0), (32, 28.0), (64, 7.0), (64, 28.0), (128, 7.0), (128, 28.0)] {
        let expected = write_amplification_of_blocks(percent / 100.0, pages);
        let found = measured(shape(percent, pages, 256), Collector::Greedy, Precondition::Random, 1.0, 4.0);
        println!("blocks of {pages} pages, {percent} %: {found:.3}, closed form {expected:.3}");
        assert!((found / expected - 1.0).abs() < 0.02, "{pages} pages, {percent} %: {found} against {expected}");
    }
}

#[test]
fn the_random_precondition_is_the_state_that_a_filled_drive_comes_to() {
    let shape = shape(14.0, 256, 64);
    let at_once = measured(shape, Collector::Greedy, Precondition::Random, 0.0, 0.5);
    let in_time = measured(shape, Collector::Greedy, Precondition::Sequential, 8.0, 4.0);
    println!("at once {at_once:.3}, after eight passes {in_time:.3}");
    assert!((at_once / in_time - 1.0).abs() < 0.05, "{at_once} against {in_time}");
}

#[test]
fn the_collector_that_does_not_take_the_emptiest_block_moves_more_uniform_pages() {
    let greedy = measured(shape(14.0, 64, 128), Collector::Greedy, Precondition::Random, 1.0, 4.0);
    let cost_benefit = measured(shape(14.0, 64, 128), Collector::CostBenefit, Precondition::Random, 1.0, 4.0);
    println!("uniform: greedy {greedy:.3}, cost-benefit {cost_benefit:.3}");
    assert!(cost_benefit > greedy * 0.995, "{cost_benefit} against {greedy}");
}
