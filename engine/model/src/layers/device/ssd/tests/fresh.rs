//! A drive without a translation layer.

use super::super::Ssd;
use crate::kernel::{Event, Kernel, Request};
use seeklab_spec as spec;
use seeklab_spec::Bytes;
use seeklab_spec::Op;

fn spec() -> spec::Ssd {
    spec::Ssd { capacity: Bytes(1 << 30), flash: None, ..super::spec() }
}

/// Submits requests of one instant and returns when each is done, in order of completion.
fn run(spec: &spec::Ssd, requests: &[(Op, u64, u64)]) -> Vec<u64> {
    let mut ssd = Ssd::new(spec, 1, "ssd0");
    let mut kernel = Kernel::default();
    for (op, offset, bytes) in requests {
        let id = kernel.open(Request { op: *op, offset: *offset, bytes: *bytes, ..Request::default() });
        ssd.on(&mut kernel, Event::Submit(id));
    }
    let mut done = Vec::new();
    while let Some(event) = kernel.advance() {
        if let timer @ Event::Timer(_) = event.event() {
            done.push(kernel.now_ns());
            ssd.on(&mut kernel, timer);
        }
    }
    done
}

#[test]
fn pages_on_different_units_are_read_at_the_same_time() {
    assert_eq!(run(&spec(), &[(Op::Read, 0, 4096), (Op::Read, 4096, 4096)]), [61_000, 62_000]);
}

#[test]
fn pages_on_the_same_unit_wait_for_each_other() {
    assert_eq!(run(&spec(), &[(Op::Read, 0, 4096), (Op::Read, 4 * 4096, 4096)]), [61_000, 111_000]);
}

#[test]
fn a_write_buffer_hides_the_program_time_until_it_is_full() {
    let buffered = spec::Ssd { write_buffer: Bytes(8192), units: 1, ..spec() };
    let done = run(&buffered, &[(Op::Write, 0, 4096), (Op::Write, 4096, 4096), (Op::Write, 8192, 4096)]);
    assert_eq!(done, [11_000, 12_000, 512_000]);
    assert_eq!(run(&spec(), &[(Op::Write, 0, 4096)]), [511_000]);
}

#[test]
fn requests_beyond_the_queue_depth_wait_outside() {
    let narrow = spec::Ssd { queue_depth: 1, ..spec() };
    assert_eq!(run(&narrow, &[(Op::Read, 0, 4096), (Op::Read, 4096, 4096)]), [61_000, 122_000]);
}
