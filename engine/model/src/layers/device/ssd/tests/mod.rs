//! Tests of the drive, one file for each of its parts.

mod amplification;
mod checks;
mod drive;
mod fresh;
mod ftl;

use super::Ssd;
use crate::kernel::{Event, Kernel, Phases, Request};
use seeklab_kernel::{Fingerprint, Stream};
use seeklab_spec as spec;
use seeklab_spec::Op;
use seeklab_spec::{Bytes, Collector, Nanos, Precondition};

/// A small drive: four dies on two channels.
fn spec() -> spec::Ssd {
    spec::Ssd {
        capacity: Bytes(64 << 20),
        units: 4,
        page: Bytes(4096),
        read: Nanos(50_000),
        program: Nanos(500_000),
        overhead: Nanos(10_000),
        interface_rate: Bytes(4_096_000_000),
        queue_depth: 32,
        write_buffer: Bytes(0),
        write_buffer_is: spec::Persistence::Protected,
        flash: Some(flash()),
    }
}

fn flash() -> spec::Flash {
    spec::Flash {
        channels: 2,
        channel_rate: Bytes(409_600_000),
        planes: 1,
        pages_per_block: 64,
        erase: Nanos(2_000_000),
        command: Nanos(0),
        overprovision: 14.0,
        collector: Collector::Greedy,
        precondition: Precondition::Sequential,
        mapped: None,
    }
}

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Done {
    number: usize,
    at_ns: u64,
    response_ns: u64,
    phases: Phases,
}

/// Keeps `depth` requests in the drive until all are done. Returns them in order of completion.
fn run(ssd: &mut Ssd, depth: usize, requests: &[(Op, u64, u64)]) -> Vec<Done> {
    let mut kernel = Kernel::default();
    let (mut next, mut done) = (0, Vec::with_capacity(requests.len()));
    let mut open = |kernel: &mut Kernel, ssd: &mut Ssd| {
        let Some((op, offset, bytes)) = requests.get(next).copied() else { return };
        let id = kernel.open(Request { op, offset, bytes, tag: next as u32, ..Request::default() });
        next += 1;
        ssd.on(kernel, Event::Submit(id));
    };
    for _ in 0..depth {
        open(&mut kernel, ssd);
    }
    while let Some(event) = kernel.advance() {
        if let Event::Done(id) = event.event() {
            let (request, phases) = (kernel.requests[id], *kernel.requests.phases(id));
            assert_eq!(request.charged_ns, kernel.now_ns());
            assert_eq!(phases.iter().sum::<u64>(), kernel.now_ns() - request.submitted_ns, "phases do not add up");
            let response_ns = kernel.now_ns() - request.submitted_ns;
            done.push(Done { number: request.tag as usize, at_ns: kernel.now_ns(), response_ns, phases });
            kernel.requests.remove(id);
            open(&mut kernel, ssd);
        } else {
            ssd.on(&mut kernel, event.event());
        }
    }
    assert_eq!(done.len(), requests.len(), "requests that never complete");
    assert!(kernel.requests.is_empty());
    done
}

/// Random requests of one size over `pages` of that size.
fn random(op: Op, bytes: u64, pages: u64, count: usize) -> Vec<(Op, u64, u64)> {
    let mut stream = Stream::new(7, "requests");
    (0..count).map(|_| (op, stream.below(pages) * bytes, bytes)).collect()
}

fn fingerprint(done: &[Done]) -> String {
    let mut print = Fingerprint::default();
    for row in done {
        print.add([row.number as u64, row.at_ns]);
        row.phases.iter().filter(|ns| **ns > 0).for_each(|ns| print.add([*ns]));
    }
    print.hex()
}
