//! Contradictions in a drive's description, each with a sentence.

use super::super::{check, memory_bytes};
use super::{flash, spec};
use seeklab_spec::{Bytes, EraseSuspension, Flash, Gather, Nanos, Path, Problems, ProgramSuspension, Ssd, Suspend};

fn problems(spec: &Ssd) -> Vec<String> {
    let mut problems = Problems::new();
    check(spec, &Path::root().index("devices", 0).field("ssd"), &mut problems);
    problems.iter().map(ToString::to_string).collect()
}

fn only(spec: &Ssd, start: &str) {
    let found = problems(spec);
    assert!(found.len() == 1 && found[0].contains(start), "{found:?}");
}

#[test]
fn a_sound_drive_has_no_problems_and_needs_eight_bytes_and_some_for_each_page() {
    assert_eq!(problems(&spec()), Vec::<String>::new());
    assert_eq!(problems(&Ssd { flash: None, ..spec() }), Vec::<String>::new());
    assert_eq!(memory_bytes(&Ssd { flash: None, ..spec() }), 0);
    let bytes = memory_bytes(&spec());
    assert!((8 * 16_384..11 * 16_384).contains(&bytes), "{bytes}");
}

#[test]
fn contradictions_are_named() {
    let with = |flash: Flash| Ssd { flash: Some(flash), ..spec() };
    only(&with(Flash { channels: 3, ..flash() }), "4 units do not spread evenly over 3 channels; write a divisor of 4");
    only(&with(Flash { mapped: Some(Bytes(65 << 20)), ..flash() }), "65 MiB is more than the capacity of 64 MiB");
    only(&with(Flash { pages_per_block: 1024, ..flash() }), "the capacity is 64 MiB");
    only(&with(Flash { mapped: Some(Bytes(1 << 20)), ..flash() }), "write at least 8 MiB");
    only(&with(Flash { overprovision: 2.0, ..flash() }), "spare blocks, fewer than 2");
    only(&Ssd { write_buffer: Bytes(65 << 20), ..spec() }, "65 MiB is more than the capacity of 64 MiB");
    let huge = Some(Bytes(1 << 50));
    only(&Ssd { capacity: Bytes(1 << 50), ..with(Flash { mapped: huge, ..flash() }) }, "flash pages; write less");
}

#[test]
fn operations_that_contradict_themselves_are_named() {
    let with = |flash: Flash| Ssd { flash: Some(flash), ..spec() };
    let suspend = |program: u64, erase: u64| {
        let program = ProgramSuspension { suspend: Nanos(program), ..ProgramSuspension::default() };
        let erase = EraseSuspension { suspend: Nanos(erase), ..EraseSuspension::default() };
        with(Flash { suspend: Some(Suspend { program, erase }), ..flash() })
    };
    assert_eq!(problems(&suspend(400_000, 1_000_000)), Vec::<String>::new());
    only(&suspend(500_000, 100_000), "suspend.program: suspending and resuming take 505 us, and a program takes 500 us; write less");
    only(&suspend(20_000, 2_000_000), "suspend.erase: suspending and resuming take 2020 us, and an erase takes 2 ms; write less");
    only(&with(Flash { read_factors: vec![1.0, 1.5], ..flash() }), "have a mean of 1.250");
    assert_eq!(problems(&with(Flash { read_factors: vec![0.706, 0.969, 1.325], ..flash() })), Vec::<String>::new());
    only(&with(Flash { stripe: 65, ..flash() }), "65 pages are more than the 64 of a block");
    only(
        &with(Flash { gather: Gather::Full, ..flash() }),
        "gathers a program of 4 KiB for each of 4 units, which is 16 KiB; the write buffer has 0 B",
    );
}
