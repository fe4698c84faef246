//! Contradictions in a drive's description, each with a sentence.

use super::super::ftl::NONE;
use super::super::{check, memory_bytes};
use super::{flash, spec};
use crate::testing::assert_problems;
use seeklab_spec::{Bytes, EraseSuspension, Flash, Gather, Nanos, Path, Problems, ProgramSuspension, Ssd, Suspend};

fn problems(spec: &Ssd) -> Problems {
    let mut problems = Problems::new();
    check(spec, &Path::root().field("ssd"), &mut problems);
    problems
}

fn only(spec: &Ssd, expected: &str) {
    assert_problems(&problems(spec), &[expected]);
}

#[test]
fn a_sound_drive_has_no_problems_and_needs_eight_bytes_and_some_for_each_page() {
    assert_eq!(problems(&spec()), []);
    assert_eq!(problems(&Ssd { flash: None, ..spec() }), []);
    assert_eq!(memory_bytes(&Ssd { flash: None, ..spec() }), 0);
    let bytes = memory_bytes(&spec());
    assert!((8 * 16_384..11 * 16_384).contains(&bytes), "{bytes}");
}

#[test]
fn contradictions_are_named() {
    let with = |flash: Flash| Ssd { flash: Some(flash), ..spec() };
    only(&with(Flash { channels: 3, ..flash() }), "ssd.flash.channels: 4, 3");
    only(&with(Flash { mapped: Some(Bytes(65 << 20)), ..flash() }), "ssd.flash.mapped: 65 MiB, 64 MiB");
    only(&with(Flash { pages_per_block: 1024, ..flash() }), "ssd.flash.pages_per_block: 64 MiB");
    only(&with(Flash { mapped: Some(Bytes(1 << 20)), ..flash() }), "ssd.flash.mapped: 1 MiB, 8 MiB");
    only(&with(Flash { overprovision: 2.0, ..flash() }), "ssd.flash.overprovision: 2%, 2");
    only(&Ssd { write_buffer: Bytes(65 << 20), ..spec() }, "ssd.write_buffer: 65 MiB, 64 MiB");
    let huge = Some(Bytes(1 << 50));
    only(&Ssd { capacity: Bytes(1 << 50), ..with(Flash { mapped: huge, ..flash() }) }, &format!("ssd.flash.mapped: {NONE}"));
}

#[test]
fn operations_that_contradict_themselves_are_named() {
    let with = |flash: Flash| Ssd { flash: Some(flash), ..spec() };
    let suspend = |program: u64, erase: u64| {
        let program = ProgramSuspension { suspend: Nanos(program), ..ProgramSuspension::default() };
        let erase = EraseSuspension { suspend: Nanos(erase), ..EraseSuspension::default() };
        with(Flash { suspend: Some(Suspend { program, erase }), ..flash() })
    };
    assert_eq!(problems(&suspend(400_000, 1_000_000)), []);
    only(&suspend(500_000, 100_000), "ssd.flash.suspend.program: 505 us, 500 us");
    only(&suspend(20_000, 2_000_000), "ssd.flash.suspend.erase: 2020 us, 2 ms");
    only(&with(Flash { read_factors: vec![1.0, 1.5], ..flash() }), "ssd.flash.read_factors: 1.250");
    assert_eq!(problems(&with(Flash { read_factors: vec![0.706, 0.969, 1.325], ..flash() })), []);
    only(&with(Flash { stripe: 65, ..flash() }), "ssd.flash.stripe: 65, 64");
    only(&with(Flash { gather: Gather::Full, ..flash() }), "ssd.flash.gather: 4 KiB, 4, 16 KiB, 0 B");
}
