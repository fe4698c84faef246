//! Tests of the drive, one file for each of its parts.

mod amplification;
mod checks;
mod drive;
mod flush;
mod ftl;
mod gather;
mod no_ftl;
mod path;
mod planes;
mod register;
mod slc;
mod stall;
mod suspend;
mod trim;

use super::Ssd;
use crate::kernel::{Address, Durable, Event, Kernel, LayerId, Phases, Request};
use seeklab_kernel::{Fingerprint, Stream};
use seeklab_spec::{self as spec, Bytes, Collector, Gather, Nanos, Op, Precondition};

/// A small drive: four dies on two channels.
fn spec() -> spec::Ssd {
    spec::Ssd {
        capacity: Bytes(64 << 20),
        units: 4,
        page: Bytes(4096),
        read: Nanos(50_000),
        program: Nanos(500_000),
        overhead: Nanos(10_000),
        write_overhead: None,
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
        write_command: None,
        overprovision: 14.0,
        suspend: None,
        read_factors: Vec::new(),
        retry: 0.0,
        gather: Gather::Now,
        gather_wait: None,
        write_stalls: Vec::new(),
        map_flush: Nanos(200_000),
        trim_page: Nanos(20),
        sync_trim: false,
        stripe: 1,
        read_planes: 1,
        read_paths: None,
        collect_parallel: 1,
        channel_reads_first: false,
        slc_cache: None,
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
            let (request, phases) = (kernel.requests[id], kernel.requests.spent(id).dense());
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

/// Submits each request at its time. Returns when each is done, in the order of the requests, and the drive's last event.
fn run_at(ssd: &mut Ssd, requests: &[(u64, Op, u64, u64)]) -> (Vec<u64>, u64) {
    let requests: Vec<_> = requests.iter().map(|(at_ns, op, offset, bytes)| (*at_ns, *op, *offset, *bytes, Durable::No)).collect();
    let (done, kernel) = run_durably(ssd, &requests);
    (done, kernel.now_ns())
}

/// The same of requests that wait for durability. Returns the kernel as it was left.
fn run_durably(ssd: &mut Ssd, requests: &[(u64, Op, u64, u64, Durable)]) -> (Vec<u64>, Kernel) {
    let mut kernel = Kernel::default();
    let (mut next, mut done) = (0, vec![0; requests.len()]);
    // Each arrival is a timer of the workload: the drive's own events come in between.
    for (number, (at_ns, ..)) in requests.iter().enumerate() {
        kernel.wake_at(*at_ns, Address::of(LayerId::Workload), Arrival::Of(number as u32));
    }
    while let Some(event) = kernel.advance() {
        match (event.to().layer, event.event()) {
            (_, Event::Done(id)) => {
                done[kernel.requests[id].tag as usize] = kernel.now_ns();
                kernel.requests.remove(id);
            }
            (LayerId::Workload, _) => {
                let (_, op, offset, bytes, durable) = requests[next];
                let id = kernel.open(Request { op, offset, bytes, durable, tag: next as u32, ..Request::default() });
                next += 1;
                ssd.on(&mut kernel, Event::Submit(id));
            }
            (_, event) => ssd.on(&mut kernel, event),
        }
    }
    assert!(kernel.requests.is_empty(), "requests that never complete");
    (done, kernel)
}

crate::timers! {
    enum Arrival {
        /// Of the request of this number.
        Of(u32),
    }
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
