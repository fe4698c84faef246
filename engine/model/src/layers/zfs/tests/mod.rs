//! The layer as a whole, driven by closed loops of writers and readers over devices of a fixed rate.

mod admission;
mod disks;
mod reads;

use proptest::prelude::*;

use super::record::Counts;
use super::volume::{Below, Zfs};
use crate::kernel::{Address, Durable, Event, Kernel, LayerId, NO_DEVICE, Phase, Request, Timer};
use crate::layers::Layer;
use crate::layers::device::lun::Lun;
use crate::layers::device::{Device, Usage};
use crate::layers::layout::Layout;
use crate::timers;
use seeklab_kernel::{NS_PER_S, Stream};
use seeklab_spec::zfs::{Era, IntentLogSpec, Placement, Release, SchedulerKind, Start, ThrottleKind, ZfsSpec};
use seeklab_spec::{self as spec, Bytes, LayoutKind, Nanos, Op};

const MIB: u64 = 1 << 20;
const CAPACITY: u64 = 1 << 40;
const INTERVAL_NS: u64 = 10_000_000;

/// Threads that each keep one request in flight.
#[derive(Clone, Copy)]
struct Load {
    threads: u32,
    bytes: u64,
    /// One in so many requests is a read; 0 means none.
    read_one_in: u64,
    /// Offsets at random, multiples of this; in sequence when 0.
    random_unit: u64,
    /// Whether writes are synchronous.
    sync: bool,
    /// Writes of a thread between two flushes of its file; 0 means none.
    flush_every: u64,
    ns: u64,
}

impl Load {
    fn writers(threads: u32, bytes: u64, seconds: u64) -> Self {
        Self { threads, bytes, read_one_in: 0, random_unit: 0, sync: false, flush_every: 0, ns: seconds * NS_PER_S }
    }
}

struct Outcome {
    /// Submission, latency, delay and stop of each request, in nanoseconds.
    ops: Vec<(u64, u64, u64, u64)>,
    /// Reads among them.
    reads: u64,
    zfs: Zfs,
    usage: Vec<Usage>,
}

impl Outcome {
    fn counts(&self) -> Counts {
        self.zfs.record.counts
    }

    fn latency(&self, share: f64) -> u64 {
        let mut sorted: Vec<u64> = self.ops.iter().map(|op| op.1).collect();
        sorted.sort_unstable();
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let place = ((sorted.len() - 1) as f64 * share) as usize;
        sorted[place]
    }

    fn stalls(&self) -> usize {
        self.ops.iter().filter(|op| op.1 >= NS_PER_S).count()
    }

    /// Dirty data in the second half of the load, as a share of `max`.
    #[allow(clippy::cast_precision_loss)]
    fn settled(&self, load: &Load, max: u64) -> f64 {
        let rows = usize::try_from(load.ns / INTERVAL_NS).expect("a short run");
        let late = &self.zfs.record.series[rows / 2..rows - 1];
        late.iter().map(|row| row.dirty_mean_bytes as f64).sum::<f64>() / late.len() as f64 / max as f64
    }
}

timers! {
    /// A thread of the test writes.
    enum Writer {
        /// By its number.
        Of(u32),
    }
}

fn run(spec: &ZfsSpec, load: Load, rate_per_s: u64, devices: u16) -> Outcome {
    let lun: spec::Lun = serde_json::from_value(serde_json::json!({"capacity": CAPACITY, "rate": rate_per_s})).expect("a unit");
    let device = |index| Device::Lun(Lun::new(&lun, Phase::Transfer, 1, "device")).at(Address { layer: LayerId::Device, index });
    let mut luns: Vec<Device> = (0..devices).map(device).collect();
    let logs = spec.log.devices.iter().flat_map(|group| (0..group.count).map(|_| group.lun.as_ref().expect("a unit")));
    let log_device = |(index, spec): (u16, &spec::Lun)| {
        Device::Lun(Lun::new(spec, Phase::WriteLog, 1, "log")).at(Address { layer: LayerId::WriteLog, index })
    };
    let mut log_devices: Vec<Device> = (0..).zip(logs).map(log_device).collect();
    let sides = u64::from(spec.log.mirror);
    let (mut logged_bytes, mut acknowledged_bytes, mut reads) = (0, 0, 0);
    let striped = spec::LayoutSpec { kind: LayoutKind::Stripe, unit: Bytes(128 << 10), ..spec::LayoutSpec::default() };
    let layout = Layout::new(&striped, vec![CAPACITY; usize::from(devices)], &vec![false; usize::from(devices)]);
    let jobs: Vec<usize> = (0..load.threads).map(|thread| thread as usize % 3).collect();
    let mut zfs = Zfs::new(spec, Below::Devices(Box::new(layout), devices), CAPACITY, INTERVAL_NS).with_logs(&spec.log, CAPACITY, &jobs);
    let mut kernel = Kernel::default();
    let mut choices = Stream::new(1, "test");
    let mut positions: Vec<u64> = (0..load.threads).map(|thread| u64::from(thread) * (1 << 32)).collect();
    let mut written = vec![0u64; load.threads as usize];
    let mut ops = Vec::new();
    zfs.start(&mut kernel);
    for thread in 0..load.threads {
        kernel.wake(Address::of(LayerId::Workload), Writer::Of(thread));
    }
    while let Some(event) = kernel.advance() {
        let index = usize::from(event.to().index);
        let thread = match (event.to().layer, event.event()) {
            (LayerId::WriteLog, event) => {
                log_devices[index].on(&mut kernel, event);
                continue;
            }
            (LayerId::Zfs, event) => {
                if let Event::Done(id) = event
                    && !log_devices.is_empty()
                    && kernel.requests[id].device == NO_DEVICE
                {
                    logged_bytes += kernel.requests[id].bytes;
                }
                zfs.on(&mut kernel, 0, event);
                continue;
            }
            (LayerId::Device, event) => {
                luns[index].on(&mut kernel, event);
                continue;
            }
            (_, Event::Timer(timer)) => {
                let Writer::Of(thread) = Writer::unpack(timer);
                thread
            }
            (_, Event::Submit(id)) => panic!("{id:?} for nobody"),
            (_, Event::Done(id)) => {
                let (request, phases) = (kernel.requests[id], kernel.requests.spent(id).dense());
                let latency_ns = kernel.now_ns() - request.submitted_ns;
                reads += u64::from(request.op == Op::Read);
                if request.durable == Durable::Itself && !log_devices.is_empty() {
                    acknowledged_bytes += request.bytes;
                    // The records of a write over several may be in the pool before it ends; then they need no log.
                    let in_pool_bytes = if spec.record.0.is_multiple_of(load.bytes) { 0 } else { zfs.record.counts.cleaned_bytes };
                    let durable = logged_bytes / sides + zfs.record.counts.log_diverted_bytes + in_pool_bytes;
                    assert!(durable >= acknowledged_bytes, "acknowledged before it is durable");
                }
                assert_eq!(phases.iter().sum::<u64>(), latency_ns, "phases add up");
                ops.push((request.submitted_ns, latency_ns, phases[Phase::Delay as usize], phases[Phase::Blocked as usize]));
                kernel.requests.remove(id);
                request.worker
            }
        };
        if kernel.now_ns() < load.ns {
            let op = if load.read_one_in > 0 && choices.below(load.read_one_in) == 0 { Op::Read } else { Op::Write };
            let position = &mut positions[thread as usize];
            let offset = *position;
            *position += load.bytes;
            let offset = if load.random_unit == 0 { offset } else { choices.below(1000) * load.random_unit };
            written[thread as usize] += u64::from(op == Op::Write);
            let durable = match (op, load.sync, load.flush_every) {
                (Op::Write, true, _) => Durable::Itself,
                (Op::Write, _, every) if every > 0 && written[thread as usize].is_multiple_of(every) => Durable::All,
                (Op::Write, _, 1..) => Durable::Later,
                _ => Durable::No,
            };
            let owner = Address::of(LayerId::Workload);
            let request = Request { op, offset, bytes: load.bytes, worker: thread, owner, durable, ..Request::default() };
            let id = kernel.open(request);
            kernel.submit(Address::of(LayerId::Zfs), id);
        }
    }
    let counts = zfs.record.counts;
    assert!(kernel.requests.is_empty(), "every request completes");
    assert_eq!(zfs.dirty().total_bytes(), 0, "everything is written in the end");
    assert_eq!(counts.dirtied_bytes, counts.cleaned_bytes, "no write is lost");
    let sums = ops.iter().fold((0, 0), |sums, op| (sums.0 + op.2, sums.1 + op.3));
    assert_eq!(sums, (counts.delay_ns, counts.blocked_ns), "total delay is the sum of the delays charged");
    Outcome { ops, reads, zfs, usage: luns.iter().map(Device::usage).collect() }
}

/// A version whose records cost nothing but their bytes, so that a test sees one mechanism alone.
fn bare(era: Era) -> ZfsSpec {
    ZfsSpec { record_cpu: Nanos(0), indirect: Some(Bytes(0)), log: log_of(&serde_json::json!({})), ..ZfsSpec::of(era) }
}

fn old(shift_bug: bool) -> ZfsSpec {
    ZfsSpec { shift_bug: Some(shift_bug), memory: Bytes(16 << 30), copy_rate: Bytes(6_553_600_000), ..bare(Era::Zfs2008March) }
}

fn new(dirty_max: u64, record: u64) -> ZfsSpec {
    ZfsSpec { dirty_data_max: Some(Bytes(dirty_max)), record: Bytes(record), ..bare(Era::OpenZfs2013) }
}

fn steady_2008(shift_bug: bool) -> ZfsSpec {
    ZfsSpec {
        record: Bytes(8192),
        write_limit: Some(Bytes(500 * MIB)),
        copy_rate: Bytes(409_600_000),
        cores: 1000,
        start: Start::Full,
        ..old(shift_bug)
    }
}

#[test]
fn in_2008_each_thread_stalls_once_a_group() {
    for (threads, rate) in [(10, 36), (7, 50)] {
        let outcome = run(&old(false), Load::writers(threads, 128 << 10, 40), rate * MIB, 1);
        let long = outcome.zfs.record.groups.iter().filter(|row| row.blocked > 0 && row.opened_ns > 0);
        let stalled_groups = outcome.stalls() / threads as usize;
        assert_eq!(outcome.stalls() % threads as usize, 0);
        assert!(stalled_groups >= 8 && long.count() >= stalled_groups);
        assert!((4 * NS_PER_S..5 * NS_PER_S).contains(&outcome.latency(1.0)), "{}", outcome.latency(1.0));
    }
}

#[test]
fn a_thousand_threads_fill_an_eighth_of_the_group_in_ticks_and_then_all_stop() {
    let spec = ZfsSpec { ingest: Some(Bytes(1_000_000_000)), copy_rate: Bytes(1_000_000_000_000), ..steady_2008(false) };
    let outcome = run(&spec, Load::writers(1000, 8192, 22), 100 * MIB, 1);
    let groups: Vec<_> = outcome.zfs.record.groups[2..6].iter().map(|row| (row.not_delayed, row.delayed, row.blocked)).collect();
    assert_eq!(groups, [(56_001, 8000, 0), (55_001, 8000, 1000), (55_001, 8000, 1000), (55_001, 8000, 1000)]);
}

#[test]
fn the_shift_bug_smooths_a_hundred_threads() {
    let load = Load::writers(100, 8192, 30);
    let (right, wrong) = (run(&steady_2008(false), load, 100 * MIB, 1), run(&steady_2008(true), load, 100 * MIB, 1));
    assert_eq!((right.latency(0.5), wrong.latency(0.5)), (20_000, 10_020_000));
    assert!(right.stalls() > 0 && right.counts().blocked > 0);
    assert_eq!((wrong.counts().blocked, wrong.latency(1.0)), (0, 10_020_000));
    assert!((5..8).contains(&(wrong.counts().delayed / right.counts().delayed)));
}

#[test]
fn the_conditional_tick_heals_itself() {
    let load = Load::writers(10, 8192, 25);
    let paced = ZfsSpec { ingest: Some(Bytes(100 * MIB)), ..steady_2008(false) };
    let delayed: Vec<u64> = run(&paced, load, 100 * MIB, 1).zfs.record.groups[2..5].iter().map(|row| row.delayed).collect();
    assert!(delayed[0] > 500 && delayed[1] < delayed[0] / 5 && delayed[2] < 50, "{delayed:?}");
}

#[test]
fn dirty_data_settle_where_the_delay_matches_the_backend() {
    for (record, share) in [(8192, 0.6563), (131_072, 0.8895)] {
        for threads in [4, 64] {
            let (spec, load) = (new(256 * MIB, record), Load::writers(threads, record, 20));
            let settled = run(&spec, load, 100_000_000, 1).settled(&load, 256 * MIB);
            assert!((settled / share - 1.0).abs() < 0.005, "{settled} for {threads} threads of {record}");
        }
    }
}

#[test]
fn each_mechanism_matters_where_it_should() {
    let (spec, load) = (new(256 * MIB, 8192), Load::writers(64, 8192, 10));
    let settled = |spec: &ZfsSpec| run(spec, load, 100_000_000, 1).settled(&load, 256 * MIB);
    assert!(settled(&ZfsSpec { serialise: false, ..spec.clone() }) > 0.9, "every thread has its own rate");
    assert!(settled(&ZfsSpec { delay_scale: Some(Nanos(1_000_000)), ..spec.clone() }) < 0.64);
    let no_delay = run(&ZfsSpec { delay: false, ..spec.clone() }, load, 100_000_000, 1);
    assert!(no_delay.counts().delayed == 0 && no_delay.counts().blocked > 0);
    let quiet = ZfsSpec { ingest: Some(Bytes(50_000_000)), ..spec };
    let in_flight = |spec: &ZfsSpec| {
        run(spec, Load::writers(4, 8192, 6), 100_000_000, 1).zfs.record.series.iter().map(|row| row.async_writes_max).max()
    };
    let large = ZfsSpec { dirty_data_max: Some(Bytes(4 << 30)), ..quiet };
    assert_eq!(in_flight(&large), Some(1), "little is dirty");
    assert_eq!(in_flight(&ZfsSpec { ramp: false, ..large }), Some(10));
}

#[test]
fn credit_lets_a_write_that_had_to_read_go_at_once() {
    let spec = ZfsSpec { dirty_data_max: Some(Bytes(4 * MIB)), ..new(4 * MIB, 128 << 10) };
    let load = Load { random_unit: 128 << 10, ..Load::writers(4, 4096, 20) };
    let delay = |credit| run(&ZfsSpec { credit, ..spec.clone() }, load, 100_000_000, 1).counts().delay_ns;
    assert!(delay(true) < delay(false), "{} {}", delay(true), delay(false));
}

#[test]
fn dirty_data_retire_in_steps_of_a_block_or_its_share() {
    let load = Load::writers(16, 8192, 3);
    for (copies, release, step) in
        [(1, Release::EachWrite, 8192), (2, Release::EachWrite, 4096), (3, Release::EachWrite, 2730), (2, Release::WholeBlock, 8192)]
    {
        let spec = ZfsSpec { copies, release: Some(release), ..new(64 * MIB, 8192) };
        let outcome = run(&spec, load, 100_000_000, 1);
        assert_eq!(outcome.zfs.dirty().largest_step_bytes, step, "{copies} copies, {release:?}");
        assert_eq!(outcome.usage[0].bytes[Op::Write as usize], outcome.counts().cleaned_bytes * u64::from(copies));
    }
}

#[test]
fn a_partial_write_reads_its_block_and_dirties_all_of_it() {
    let load = Load { random_unit: 128 << 10, ..Load::writers(1, 4096, 1) };
    let outcome = run(&new(1 << 30, 128 << 10), load, 100_000_000, 1);
    let counts = outcome.counts();
    assert!(counts.blocks_read_for_write > 0);
    assert_eq!(outcome.usage[0].bytes[Op::Read as usize], counts.blocks_read_for_write * (128 << 10));
    assert_eq!(counts.dirtied_bytes % (128 << 10), 0);
    let whole = run(&new(1 << 30, 4096), load, 100_000_000, 1);
    assert_eq!(whole.counts().blocks_read_for_write, 0);
}

#[test]
fn metadata_are_written_after_the_data_of_their_group() {
    let spec = ZfsSpec { metadata: Bytes(MIB), metadata_percent: 5, sync_passes: Some(3), ..new(64 * MIB, 8192) };
    let outcome = run(&spec, Load::writers(4, 8192, 5), 100_000_000, 1);
    let counts = outcome.counts();
    assert_eq!(counts.metadata_bytes, outcome.zfs.record.groups.iter().map(|row| row.metadata_bytes).sum::<u64>());
    assert_eq!(counts.written_bytes, counts.cleaned_bytes + counts.metadata_bytes);
    assert!(outcome.zfs.record.groups.iter().all(|row| row.synced_ns == 0 || row.data_written_ns <= row.synced_ns));
}

#[test]
fn every_device_has_a_scheduler_of_its_own() {
    let spec = ZfsSpec { ramp: false, ..new(64 * MIB, 8192) };
    let outcome = run(&spec, Load::writers(16, 8192, 5), 25_000_000, 4);
    let most = outcome.zfs.record.series.iter().map(|row| row.async_writes_max).max();
    assert_eq!(most, Some(40), "ten on each of four");
    let bytes: Vec<u64> = outcome.usage.iter().map(|usage| usage.bytes[Op::Write as usize] >> 23).collect();
    assert!(bytes.iter().all(|bytes| bytes.abs_diff(bytes.max(&1).to_owned()) == 0 && *bytes > 0));
}

#[test]
fn memory_stays_bounded_while_gigabytes_are_dirty() {
    let spec = ZfsSpec { memory: Bytes(64 << 30), ..new(4 << 30, 8192) };
    let outcome = run(&spec, Load::writers(8, 8192, 2), 100_000_000, 1);
    assert!(outcome.zfs.record.series.iter().any(|row| row.dirty_max_bytes > 2 << 30));
    assert!(outcome.zfs.memory_bytes() < 4 * MIB, "{}", outcome.zfs.memory_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn nothing_is_lost_whatever_is_combined(
        era in proptest::sample::select(Era::ALL.to_vec()),
        throttle in proptest::option::of(proptest::sample::select(vec![ThrottleKind::None, ThrottleKind::Zfs2008, ThrottleKind::Zfs2010, ThrottleKind::Diagonal, ThrottleKind::OpenZfs])),
        scheduler in proptest::option::of(proptest::sample::select(vec![SchedulerKind::Deadline, SchedulerKind::Active])),
        release in proptest::option::of(proptest::sample::select(vec![Release::EachWrite, Release::WholeBlock, Release::GroupEnd])),
        (threads, devices, bytes, random_unit) in (1u32..20, 1u16..5, 1u64..300, prop_oneof![Just(0u64), 512u64..200_000]),
        (record_log2, cache, copies, metadata_percent) in (9u32..18, prop_oneof![Just(0u64), Just(MIB)], 1u32..4, 0u32..30),
        (read_one_in, dirty_max, full, in_place, limit) in (0u64..4, 18u32..26, any::<bool>(), any::<bool>(), 18u32..24),
        (serialise, credit, delay, ramp, shift_bug) in any::<(bool, bool, bool, bool, bool)>(),
        (sync, batch, flush, flush_every) in (any::<bool>(), any::<bool>(), 0u64..2_000_000, 0u64..5),
        (mirrors, mirror, per_job, limit_bytes, bulk_bytes) in (0u32..4, 1u32..3, any::<bool>(), 0u64..300_000, 0u64..300_000),
    ) {
        let spec = ZfsSpec {
            throttle, scheduler, release, copies, metadata_percent, serialise, credit, delay, ramp,
            shift_bug: Some(shift_bug),
            record: Bytes(1 << record_log2),
            cache: Bytes(cache),
            dirty_data_max: Some(Bytes(1 << dirty_max)),
            write_limit: Some(Bytes(1 << limit)),
            log: log_of(&serde_json::json!({
                "devices": (mirrors > 0).then(|| serde_json::json!({ "count": mirrors * mirror, "lun": { "rate": "300MB", "latency": "20us" } })),
                "mirror": if mirrors > 0 { mirror } else { 1 }, "datasets": if per_job { "job" } else { "one" },
                "flush": flush, "batch": batch, "slog_limit": limit_bytes, "slog_bulk": bulk_bytes,
            })),
            start: if full { Start::Full } else { Start::Empty },
            placement: if in_place { Placement::InPlace } else { Placement::CopyOnWrite },
            txg_timeout: Some(Nanos(100_000_000)),
            ..ZfsSpec::of(era)
        };
        let load = Load { threads, bytes: bytes * 512, read_one_in, random_unit: random_unit / 512 * 512, sync, flush_every, ns: NS_PER_S / 5 };
        let outcome = run(&spec, load, 200_000_000, devices);
        prop_assert!(!outcome.ops.is_empty());
        let writes = outcome.ops.len() as u64 - outcome.reads;
        let logged = outcome.counts().log_writes;
        if sync {
            prop_assert_eq!(logged, writes, "each is committed once");
        } else {
            let most = if flush_every > 0 { writes } else { 0 };
            prop_assert!(logged <= most);
        }
    }
}

/// A log whose commits take no time of the host.
fn log_of(log: &serde_json::Value) -> IntentLogSpec {
    let log: IntentLogSpec = serde_json::from_value(log.clone()).expect("a log");
    IntentLogSpec { commit: log.commit.or(Some(Nanos(0))), commit_write: log.commit_write.or(Some(Nanos(0))), ..log }
}

fn logging(log: &serde_json::Value) -> ZfsSpec {
    ZfsSpec { log: log_of(log), copy_rate: Bytes(1_000_000_000), ..new(1 << 30, 8192) }
}

fn synchronous(threads: u32, bytes: u64) -> Load {
    Load { sync: true, ..Load::writers(threads, bytes, 1) }
}

#[test]
fn a_lone_synchronous_write_takes_its_copy_its_log_block_and_the_flush() {
    let spec = logging(&serde_json::json!({ "devices": { "lun": { "rate": 12_288_000 } }, "flush": 50_000 }));
    let outcome = run(&spec, synchronous(1, 8192), 100 * MIB, 1);
    assert!(outcome.ops.iter().all(|op| op.1 == 8_192 + 1_000_000 + 50_000), "12 KiB at 12 KiB/ms: 8 KiB and a header");
    let counts = outcome.counts();
    assert_eq!((counts.log_commits, counts.log_writes), (outcome.ops.len() as u64, outcome.ops.len() as u64));
    assert_eq!((counts.log_bytes, counts.indirect_bytes), (counts.log_commits * 12_288, 0));
}

#[test]
fn commits_in_batches_keep_up_with_many_writers_and_one_by_one_they_do_not() {
    let device = serde_json::json!({ "rate": "1GB", "latency": "1ms" });
    let batched = run(&logging(&serde_json::json!({ "devices": { "lun": device } })), synchronous(32, 8192), 100 * MIB, 1);
    let single = run(&logging(&serde_json::json!({ "devices": { "lun": device }, "batch": false })), synchronous(32, 8192), 100 * MIB, 1);
    assert_eq!(single.counts().log_commits, single.counts().log_writes);
    assert!(batched.ops.len() > 10 * single.ops.len(), "{} {}", batched.ops.len(), single.ops.len());
    assert!((30_000_000..35_000_000).contains(&single.latency(0.5)), "each waits for all before it");
}

#[test]
fn large_writes_without_a_log_device_go_to_the_pool_once() {
    let spec = ZfsSpec { record: Bytes(128 << 10), ..logging(&serde_json::json!({})) };
    let outcome = run(&spec, synchronous(4, 128 << 10), 100 * MIB, 1);
    let counts = outcome.counts();
    assert_eq!(counts.indirect_bytes, counts.dirtied_bytes);
    assert!(counts.written_bytes < counts.dirtied_bytes / 20, "{} of {}", counts.written_bytes, counts.dirtied_bytes);
    assert!(counts.log_bytes >= counts.log_commits * 4096);
    let small = run(&ZfsSpec { record: Bytes(128 << 10), ..logging(&serde_json::json!({})) }, synchronous(4, 32 << 10), 100 * MIB, 1);
    assert_eq!(small.counts().indirect_bytes, 0);
}

#[test]
fn a_flush_makes_all_writes_since_the_last_one_durable_and_copies_them() {
    let spec = logging(&serde_json::json!({ "devices": { "lun": { "rate": 36_864_000 } } }));
    let load = Load { flush_every: 4, ..Load::writers(1, 8192, 1) };
    let outcome = run(&spec, load, 100 * MIB, 1);
    let (last, others): (Vec<_>, Vec<_>) = outcome.ops.iter().enumerate().partition(|(at, _)| at % 4 == 3);
    assert!(others.iter().all(|(_, op)| op.1 == 8192));
    assert!(last.iter().all(|(_, op)| op.1 == 8192 + 1_000_000 + 4 * 8192), "36 KiB of blocks, and four copies");
    assert_eq!(outcome.counts().log_writes, 4 * outcome.counts().log_commits);
}

/// A thread that writes 64 MiB and flushes them at once, over a pool of `devices` at `rate` each and logs of 100 MB/s.
fn massive(era: Era, logs: u32, limit: Option<u64>, devices: u16, rate: u64) -> Outcome {
    let log = serde_json::json!({ "devices": { "count": logs, "lun": { "rate": "100MB" } }, "slog_limit": limit });
    let spec = ZfsSpec { log: log_of(&log), write_limit: Some(Bytes(1 << 30)), copy_rate: Bytes(100_000_000_000), ..bare(era) };
    let load = Load { flush_every: 64, ns: NS_PER_S / 500, ..Load::writers(1, MIB, 1) };
    run(&spec, load, rate, devices)
}

#[test]
fn a_massive_commit_leaves_the_log_devices_after_its_first_and_before_its_last_megabytes() {
    let commit = |era| massive(era, 1, None, 4, 100_000_000).counts().largest_commit;
    let old = commit(Era::Zfs2010);
    assert_eq!(
        (old.bytes, old.bytes + old.diverted_bytes),
        (3 * MIB + (68 << 10), 64 * MIB + (196 << 10)),
        "513 whole blocks and one of 68 KiB, with 512 headers of records and 514 of blocks, 192 B each"
    );
    for era in [Era::Zfs2008December, Era::OpenZfs2_1] {
        assert_eq!(commit(era).diverted_bytes, 0, "{era:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn diverting_pays_exactly_when_the_pool_is_faster_than_all_log_devices(logs in 1u32..4, devices in 1u16..7, rate_mb in 10u32..200) {
        let rate = u64::from(rate_mb) * 1_000_000;
        let seconds = |limit| {
            let commit = massive(Era::Zfs2010, logs, Some(limit), devices, rate).counts().largest_commit;
            #[allow(clippy::cast_precision_loss)]
            let seconds = (commit.ended_ns - commit.started_ns) as f64 / 1e9;
            seconds
        };
        let (pool, log) = (f64::from(devices) * f64::from(rate_mb), f64::from(logs) * 100.0);
        let (diverted, kept) = (seconds(MIB), seconds(0));
        let near = |seconds: f64, rate: f64| (seconds * rate * 1e6 / f64::from(64 << 20) - 1.0).abs() < 0.08;
        prop_assert!(near(kept, log), "{kept} s at {log} MB/s");
        prop_assert!(diverted < 0.1 || near(diverted, pool), "{diverted} s at {pool} MB/s");
        if (pool / log - 1.0).abs() > 0.15 {
            prop_assert_eq!(diverted < kept, pool > log, "{} s diverted, {} s not", diverted, kept);
        }
    }
}

#[test]
fn file_systems_commit_side_by_side_and_one_log_for_all_does_not() {
    let spec = |datasets| {
        let log = serde_json::json!({ "devices": { "lun": { "rate": "1GB", "latency": "1ms" } }, "batch": false, "datasets": datasets });
        logging(&log)
    };
    let ops = |datasets| run(&spec(datasets), synchronous(3, 8192), 100 * MIB, 1).ops.len();
    let (one, three) = (ops("one"), ops("job"));
    assert!(three > 2 * one + one / 2, "{one} {three}: the latency of the device overlaps");
}

#[test]
fn what_is_in_the_pool_is_not_needed_on_the_log_devices() {
    let log = serde_json::json!({ "devices": { "count": 2, "lun": { "rate": "100MB" } } });
    let spec = ZfsSpec { dirty_data_sync: Some(Bytes(MIB)), ..logging(&log) };
    let outcome = run(&spec, synchronous(8, 8192), 400 * MIB, 1);
    let counts = outcome.counts();
    assert!(outcome.zfs.record.groups.len() > 10);
    assert!((MIB..counts.log_bytes / 4).contains(&counts.log_live_max_bytes), "{} of {}", counts.log_live_max_bytes, counts.log_bytes);
    let commits = &outcome.zfs.record.commits;
    assert_eq!(commits.iter().map(|commit| commit.bytes).sum::<u64>(), counts.log_bytes, "each block belongs to one commit");
    assert_eq!(commits.iter().map(|commit| commit.writes).sum::<u64>(), counts.log_writes);
}
