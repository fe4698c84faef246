//! Contradictions in a drive's description, each with a sentence.

use super::super::{check, memory_bytes};
use super::{flash, spec};
use seeklab_spec::{Bytes, Flash, Path, Problems, Ssd};

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
    let huge = Some(Bytes(1 << 50));
    only(&Ssd { capacity: Bytes(1 << 50), ..with(Flash { mapped: huge, ..flash() }) }, "flash pages; write less");
}
