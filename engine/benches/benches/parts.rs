//! The parts of the engine one by one: `cargo bench --package seeklab-benches`. Measured, not judged.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput};
use hdrhistogram::Histogram;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use seeklab_cache::PolicyKind;
use seeklab_cache::replay::replay;
use seeklab_cache::trace::Trace;
use seeklab_kernel::{Event, EventQueue};
use seeklab_library::Library;
use seeklab_model::layers::device::hdd::{Arrival, DriveQueue, Hdd, Params};
use seeklab_spec::{HddSpec, Op, Path, QueuePolicy};
use serde_json::Map;

/// Requests or events of one measurement.
const COUNT: u64 = 100_000;
const DEPTH: usize = 32;

fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(1)
}

fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event queue");
    group.throughput(Throughput::Elements(COUNT));
    for waiting in [32_u64, 4096] {
        group.bench_function(format!("push and pop, {waiting} waiting"), |bencher| {
            let mut random = random();
            let mut queue = EventQueue::default();
            let mut sequence = 0;
            let mut push = |queue: &mut EventQueue<u64>, now: u64| {
                sequence += 1;
                let time_ns = now + random.next_u64() % 1_000_000;
                queue.push(Event { time_ns, sequence, payload: sequence });
            };
            (0..waiting).for_each(|_| push(&mut queue, 0));
            bencher.iter(|| {
                for _ in 0..COUNT {
                    let now = queue.pop().map_or(0, |event| event.time_ns);
                    push(&mut queue, now);
                }
            });
        });
    }
}

fn caches(criterion: &mut Criterion) {
    let mut random = random();
    // The least of two draws: low numbers are popular.
    let mut draw = || random.next_u64() % 20_000;
    let trace = Trace::of_blocks((0..COUNT).map(|_| draw().min(draw())));
    let mut group = criterion.benchmark_group("cache");
    group.throughput(Throughput::Elements(COUNT));
    for kind in [PolicyKind::Lru, PolicyKind::Arc] {
        group.bench_function(kind.name(), |bencher| bencher.iter(|| replay(black_box(&trace), kind, 2000)));
    }
}

fn drive() -> Hdd {
    let sheet = serde_json::json!({
        "rpm": 7200, "capacity": 4_000_787_030_016_u64, "heads": 8, "zones": 16, "outer_rate": "175MB", "inner_rate": "87MB",
        "seek_single": "800us", "seek_average": "8.5ms", "seek_full": "17ms", "head_switch": "800us", "write_settle": "1ms",
        "overhead": "200us", "interface_rate": "550MB", "buffer": "128MiB", "segments": 32, "read_ahead": "1MiB", "keeps_writes": false,
    });
    let sheet: HddSpec = serde_json::from_value(sheet).expect("a data sheet");
    Hdd::new(Arc::new(Params::from_data_sheet(&sheet, &Path::root(), &mut Vec::new()).expect("a sound sheet")))
}

fn disk(criterion: &mut Criterion) {
    const REQUESTS: u64 = 10_000;
    let mut group = criterion.benchmark_group("disk");
    group.throughput(Throughput::Elements(REQUESTS));
    let capacity = drive().params().capacity_sectors() - 8;
    group.bench_function("serve random reads", |bencher| {
        bencher.iter_batched_ref(
            || (drive(), random()),
            |(hdd, random)| {
                (0..REQUESTS).fold(0, |now, _| hdd.serve(now, Op::Read, random.next_u64() % capacity, 8).done_ns);
            },
            BatchSize::LargeInput,
        );
    });
    group.bench_function(format!("pick and serve by SATF, {DEPTH} waiting"), |bencher| {
        bencher.iter_batched_ref(
            || (drive(), random(), DriveQueue::new(QueuePolicy::Satf, None)),
            |(hdd, random, queue)| {
                let mut now = 0;
                for _ in 0..REQUESTS {
                    while queue.len() < DEPTH {
                        let lbn = random.next_u64() % capacity;
                        queue.push(hdd, now, Arrival { op: Op::Read, lbn, end: lbn + 8, ready_ns: None, is_next: false }, ());
                    }
                    let entry = queue.pick(hdd, now).expect("requests wait");
                    now = hdd.serve(now, entry.op, entry.lbn, 8).done_ns;
                }
            },
            BatchSize::LargeInput,
        );
    });
}

fn histogram(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("histogram");
    group.throughput(Throughput::Elements(COUNT));
    group.bench_function("record", |bencher| {
        let mut random = random();
        let mut histogram: Histogram<u64> = Histogram::new(3).expect("three digits");
        bencher.iter(|| {
            for _ in 0..COUNT {
                histogram.record(random.next_u64() >> 34).expect("it grows");
            }
        });
    });
}

fn check(criterion: &mut Criterion) {
    let library = Library::of_checkout().expect("the checkout's cases");
    let case = library.cases().expect("the checkout's cases")[0];
    let document = case.document(None, &Map::new()).expect("a variant");
    criterion.bench_function("scenario read and checked", |bencher| {
        bencher.iter(|| seeklab_model::read(black_box(&document), library.presets()).expect("a valid scenario"));
    });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for part in [events, caches, disk, histogram, check] {
        part(&mut criterion);
    }
    criterion.final_summary();
}
