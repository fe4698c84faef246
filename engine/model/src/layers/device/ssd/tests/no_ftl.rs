//! A drive without a translation layer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::Ssd;
use super::{random, run};
use crate::kernel::{Event, Kernel, Request};
use crate::layers::device::transfer_ns;
use seeklab_spec as spec;
use seeklab_spec::{Bytes, Nanos, Op};

fn spec() -> spec::Ssd {
    spec::Ssd { capacity: Bytes(1 << 30), flash: None, ..super::spec() }
}

/// Submits requests of one instant and returns when each is done, in order of completion.
fn ends(spec: &spec::Ssd, requests: &[(Op, u64, u64)]) -> Vec<u64> {
    let mut ssd = Ssd::new(spec, 1, "ssd0");
    let mut kernel = Kernel::default();
    for (op, offset, bytes) in requests {
        let id = kernel.open(Request { op: *op, offset: *offset, bytes: *bytes, ..Request::default() });
        ssd.on(&mut kernel, Event::Submit(id));
    }
    let mut done = Vec::new();
    while let Some(event) = kernel.advance() {
        match event.event() {
            Event::Done(_) => done.push(kernel.now_ns()),
            event => ssd.on(&mut kernel, event),
        }
    }
    done
}

#[test]
fn pages_on_different_units_are_read_at_the_same_time() {
    assert_eq!(ends(&spec(), &[(Op::Read, 0, 4096), (Op::Read, 4096, 4096)]), [61_000, 62_000]);
}

#[test]
fn pages_on_the_same_unit_wait_for_each_other() {
    assert_eq!(ends(&spec(), &[(Op::Read, 0, 4096), (Op::Read, 4 * 4096, 4096)]), [61_000, 111_000]);
}

#[test]
fn a_write_buffer_hides_the_program_time_until_it_is_full() {
    let buffered = spec::Ssd { write_buffer: Bytes(8192), units: 1, ..spec() };
    let done = ends(&buffered, &[(Op::Write, 0, 4096), (Op::Write, 4096, 4096), (Op::Write, 8192, 4096)]);
    assert_eq!(done, [11_000, 12_000, 512_000]);
    assert_eq!(ends(&spec(), &[(Op::Write, 0, 4096)]), [511_000]);
}

#[test]
fn requests_beyond_the_queue_depth_wait_outside() {
    let narrow = spec::Ssd { queue_depth: 1, ..spec() };
    assert_eq!(ends(&narrow, &[(Op::Read, 0, 4096), (Op::Read, 4096, 4096)]), [61_000, 122_000]);
}

/// Eight units of 60 us behind an interface of 550 MB/s.
fn eight_units() -> spec::Ssd {
    spec::Ssd { units: 8, read: Nanos(60_000), overhead: Nanos(0), interface_rate: Bytes(550_000_000), ..spec() }
}

/// Requests a second of a closed loop of single-page reads, by an event list of its own: what is ready first crosses first, or
/// what came first.
fn reference(spec: &spec::Ssd, depth: usize, pages: &[u64], by_arrival: bool) -> f64 {
    let move_ns = transfer_ns(4096, spec.interface_rate.0);
    // When each unit is free, and the page in its register.
    let mut units = vec![(0, u64::MAX); spec.units as usize];
    let (mut interface_ns, mut ready_interface_ns) = (0, 0);
    let (mut next, mut last_ns) = (0, 0);
    // (when, number of the step, whether the data are ready or the request is done)
    let mut events = BinaryHeap::new();
    let mut enter = |now_ns: u64, steps: &mut u64, events: &mut BinaryHeap<_>| {
        let Some(page) = pages.get(next) else { return };
        next += 1;
        let (free_ns, held) = &mut units[(page % u64::from(spec.units)) as usize];
        *free_ns = (now_ns + spec.overhead.0).max(*free_ns) + if *held == *page { 0 } else { spec.read.0 };
        *held = *page;
        *steps += 1;
        if by_arrival {
            interface_ns = interface_ns.max(*free_ns) + move_ns;
            events.push(Reverse((interface_ns, *steps, true)));
        } else {
            events.push(Reverse((*free_ns, *steps, false)));
        }
    };
    let mut steps = 0;
    (0..depth).for_each(|_| enter(0, &mut steps, &mut events));
    while let Some(Reverse((now_ns, _, is_done))) = events.pop() {
        if is_done {
            last_ns = now_ns;
            enter(now_ns, &mut steps, &mut events);
        } else {
            ready_interface_ns = now_ns.max(ready_interface_ns) + move_ns;
            steps += 1;
            events.push(Reverse((ready_interface_ns, steps, true)));
        }
    }
    pages.len() as f64 * 1e9 / last_ns as f64
}

#[test]
fn data_cross_the_interface_in_the_order_in_which_they_are_ready() {
    let requests = random(Op::Read, 4096, 1 << 16, 40_000);
    let pages: Vec<u64> = requests.iter().map(|(_, offset, _)| offset / 4096).collect();
    let rate = |depth| {
        let done = run(&mut Ssd::new(&eight_units(), 1, "ssd0"), depth, &requests);
        requests.len() as f64 * 1e9 / done[done.len() - 1].at_ns as f64
    };
    for depth in [1, 2, 4, 8, 16, 32] {
        let [expected, by_arrival] = [false, true].map(|by_arrival| reference(&eight_units(), depth, &pages, by_arrival));
        let found = rate(depth);
        println!("depth {depth}: {found:.0} reads/s, by the reference {expected:.0}, in order of arrival {by_arrival:.0}");
        assert!((found / expected - 1.0).abs() < 1e-4, "depth {depth}: {found} against {expected}");
    }
    let by_arrival = reference(&eight_units(), 16, &pages, true);
    assert!(rate(16) > 1.15 * by_arrival, "{} against {by_arrival} in order of arrival", rate(16));
}

#[test]
fn a_read_that_is_ready_first_does_not_wait_for_an_earlier_one() {
    // Pages 0 and 4 are on one unit: the second read is ready 50 us later than the third, which is on another.
    let requests = [(Op::Read, 0, 4096), (Op::Read, 4 * 4096, 4096), (Op::Read, 4096, 4096)];
    let order: Vec<usize> = run(&mut Ssd::new(&spec(), 1, "ssd0"), 3, &requests).iter().map(|done| done.number).collect();
    assert_eq!(order, [0, 2, 1]);
}
