//! The translation layer: what holds whatever is written, and what each collector is good at.

use proptest::prelude::*;

use super::super::ftl::{Ftl, NONE, Shape, Step};
use seeklab_kernel::Stream;
use seeklab_spec::{Collector, Precondition};

/// A shape of `blocks` blocks of logical pages and `spare` more for each die.
pub(super) fn shape(dies: usize, pages: u32, blocks: u32, spare: u32) -> Shape {
    Shape { dies, pages, blocks: blocks + spare + 3, logical: blocks * pages }
}

pub(super) fn layer(shape: Shape, collector: Collector, precondition: Precondition, seed: u64) -> Ftl {
    Ftl::preconditioned(shape, collector, precondition, &mut Stream::new(seed, "test"))
}

/// Writes a page as the drive does: collection first, as far as it is due.
pub(super) fn write(ftl: &mut Ftl, die: usize, page: u32) {
    while ftl.is_due(die) {
        assert_ne!(ftl.collect(die, 2), Step::Nothing, "collection is due but cannot go on");
    }
    assert!(ftl.write(die, page), "no erased block is left");
}

/// Asserts that map, owners, counts and erased blocks agree.
fn check(ftl: &Ftl) {
    let Shape { dies, pages, blocks, logical } = ftl.shape;
    for die in 0..dies {
        let map = &ftl.map[die * logical as usize..(die + 1) * logical as usize];
        let first = die * (blocks * pages) as usize;
        for (page, place) in map.iter().enumerate().filter(|(_, place)| **place != NONE) {
            assert_eq!(ftl.owner[first + *place as usize], page as u32, "the flash page does not know its logical page");
        }
        let mapped = map.iter().filter(|place| **place != NONE).count();
        let owned = ftl.owner[first..first + (blocks * pages) as usize].iter().filter(|owner| **owner != NONE).count();
        assert_eq!(mapped, owned, "a flash page is valid for a logical page that is elsewhere");
        for number in 0..blocks {
            let block = ftl.blocks[die * blocks as usize + number as usize];
            let owners = &ftl.owner[first + (number * pages) as usize..][..pages as usize];
            assert_eq!(block.valid as usize, owners.iter().filter(|owner| **owner != NONE).count(), "valid count of block {number}");
            assert!(owners[block.written as usize..].iter().all(|owner| *owner == NONE), "data in an erased page");
            assert_eq!(
                ftl.dies[die].free.contains(&number),
                block.written == 0 && ftl.dies[die].host != number && ftl.dies[die].moved != number
            );
        }
    }
    let wear = ftl.wear();
    assert_eq!(ftl.blocks.iter().map(|block| u64::from(block.erases)).sum::<u64>(), wear.erases);
    assert!(wear.write_amplification() >= 1.0);
}

fn programmed(ftl: &Ftl) -> u64 {
    let wear = ftl.wear();
    ftl.blocks.iter().map(|block| u64::from(block.written)).sum::<u64>() + wear.erases * u64::from(ftl.shape.pages)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn every_page_is_in_one_place_and_erased_blocks_never_run_out(
        (dies, pages, blocks, spare) in (1usize..4, 4u32..40, 8u32..24, 2u32..8),
        collector in prop_oneof![Just(Collector::Greedy), Just(Collector::CostBenefit)],
        precondition in prop_oneof![Just(Precondition::None), Just(Precondition::Sequential), Just(Precondition::Random)],
        (seed, hot_percent, passes) in (0u64..1000, 1u64..=100, 1u64..8),
    ) {
        let shape = shape(dies, pages, blocks, spare);
        let mut ftl = layer(shape, collector, precondition, seed);
        check(&ftl);
        if precondition != Precondition::None {
            prop_assert!(ftl.map.iter().all(|place| *place != NONE), "preconditioning left a page out");
        }
        let before = programmed(&ftl);
        let mut stream = Stream::new(seed, "writes");
        let hot = (u64::from(shape.logical) * hot_percent).div_ceil(100);
        for _ in 0..passes {
            for _ in 0..u64::from(shape.logical) * dies as u64 {
                let below = if stream.below(10) > 0 { hot } else { u64::from(shape.logical) };
                write(&mut ftl, stream.below(dies as u64) as usize, stream.below(below) as u32);
            }
            check(&ftl);
        }
        let wear = ftl.wear();
        prop_assert_eq!(programmed(&ftl) - before, wear.host_pages + wear.moved_pages);
        prop_assert_eq!(wear.host_pages, passes * u64::from(shape.logical) * dies as u64);
    }
}

#[test]
fn overwriting_in_order_moves_next_to_nothing() {
    for precondition in [Precondition::None, Precondition::Sequential] {
        let shape = shape(1, 256, 64, 5);
        let mut ftl = layer(shape, Collector::Greedy, precondition, 1);
        for page in (0..shape.logical).cycle().take(6 * shape.logical as usize) {
            write(&mut ftl, 0, page);
        }
        assert!(ftl.wear().write_amplification() < 1.001, "{precondition:?}: {:?}", ftl.wear());
        assert!(ftl.wear().erases > 4 * 64);
    }
}

#[test]
fn equal_blocks_wear_evenly() {
    let shape = shape(1, 64, 64, 9);
    let mut ftl = layer(shape, Collector::Greedy, Precondition::Random, 1);
    let mut stream = Stream::new(3, "writes");
    for _ in 0..40 * shape.logical {
        write(&mut ftl, 0, stream.below(u64::from(shape.logical)) as u32);
    }
    let wear = ftl.wear();
    let mean = wear.erases as f64 / f64::from(shape.blocks);
    assert!(f64::from(wear.most_erases) < 1.25 * mean && f64::from(wear.least_erases) > 0.75 * mean, "{wear:?}, mean {mean}");
}

#[test]
fn blocks_without_valid_pages_take_turns() {
    let mut ftl = layer(shape(1, 16, 16, 8), Collector::Greedy, Precondition::Sequential, 1);
    for _ in 0..16_000 {
        write(&mut ftl, 0, 0);
    }
    let used: Vec<u32> = ftl.blocks.iter().map(|block| block.erases).filter(|erases| *erases > 0).collect();
    let (least, most) = (used.iter().min().copied().unwrap_or(0), used.iter().max().copied().unwrap_or(0));
    assert!(used.len() >= 8 && most - least <= 2, "{used:?}");
}

/// Amplification when nine writes of ten go to a tenth of the pages, after the collector has had time to sort them.
fn skewed_amplification(collector: Collector) -> f64 {
    let shape = shape(1, 128, 128, 18);
    let mut ftl = layer(shape, collector, Precondition::Random, 1);
    let mut stream = Stream::new(5, "writes");
    let mut before = ftl.wear();
    for pass in 0..24 {
        if pass == 12 {
            before = ftl.wear();
        }
        for _ in 0..shape.logical {
            let hot = u64::from(shape.logical) / 10;
            let page = if stream.below(10) > 0 { stream.below(hot) } else { hot + stream.below(u64::from(shape.logical) - hot) };
            write(&mut ftl, 0, page as u32);
        }
    }
    let after = ftl.wear();
    1.0 + (after.moved_pages - before.moved_pages) as f64 / (after.host_pages - before.host_pages) as f64
}

#[test]
fn cost_benefit_beats_greedy_where_some_pages_are_hot() {
    let (greedy, cost_benefit) = (skewed_amplification(Collector::Greedy), skewed_amplification(Collector::CostBenefit));
    println!("hot and cold pages: greedy {greedy:.3}, cost-benefit {cost_benefit:.3}");
    assert!(cost_benefit < 0.95 * greedy, "{cost_benefit} against {greedy}");
}

#[test]
fn preconditioning_repeats_by_seed() {
    let of = |seed| layer(shape(4, 64, 32, 4), Collector::Greedy, Precondition::Random, seed).map;
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
