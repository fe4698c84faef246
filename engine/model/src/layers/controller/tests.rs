//! The controller alone: requests in, the order in which they come out.

use proptest::prelude::*;

use super::decision::Question;
use super::*;
use crate::kernel::Request;
use crate::plan::WorkerPlan;
use crate::range::Range;
use seeklab_spec::{Bytes, Nanos, Path, Problems};

const RANGE: u64 = 1 << 16;
const BLOCK: u64 = 1 << 12;

fn spec(shards: u32, resizes: &[(u64, u32)]) -> ControllerSpec {
    let resizes: Vec<serde_json::Value> = resizes.iter().map(|(at, shards)| serde_json::json!({"at": at, "shards": shards})).collect();
    let spec = serde_json::json!({
        "cores": 8, "shards": shards, "range": RANGE, "resizes": resizes, "dispatch": 200, "read": 1000, "write": 2000, "per_byte": 0.1,
    });
    serde_json::from_value(spec).expect("a controller")
}

/// A plan with one disk of 1 MiB for each worker.
fn plan(disks: u64) -> Plan {
    let region = |disk: u64| Range { start: disk << 20, end: (disk + 1) << 20 };
    let workers = (0..disks).map(|disk| WorkerPlan { job: 0, region: region(disk), file: region(disk), stage: 0 });
    Plan { capacity: disks << 20, node_capacity: 1 << 40, workers: workers.collect(), ..Plan::default() }
}

/// A request that came out below: when, its number (that of the whole), and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Out {
    ns: u64,
    whole: u32,
    offset: u64,
    bytes: u64,
}

/// Sends requests (time, offset, bytes) through a controller that nothing slows below; what came out, and who completed.
fn pass(spec: &ControllerSpec, disks: u64, requests: &[(u64, u64, u64)]) -> (Vec<Out>, Vec<u32>, Controller) {
    pass_asked(spec, disks, requests, |question| panic!("nobody is asked: {question:?}"))
}

timers! {
    /// A request of the test arrives.
    enum Arrival {
        /// By its number.
        Of(u32),
    }
}

/// The same with a host that says who owns a range.
fn pass_asked(
    spec: &ControllerSpec,
    disks: u64,
    requests: &[(u64, u64, u64)],
    mut owner: impl FnMut(&Question) -> u32,
) -> (Vec<Out>, Vec<u32>, Controller) {
    let below = Address::of(LayerId::Layout);
    let client = Address::of(LayerId::Protocol);
    let mut kernel = Kernel::default();
    let mut controller = Controller::new(spec, &plan(disks), below, 1);
    controller.start(&mut kernel);
    for (number, (ns, ..)) in requests.iter().enumerate() {
        kernel.wake_at(*ns, client, Arrival::Of(index(number)));
    }
    let (mut out, mut done) = (Vec::new(), Vec::new());
    while let Some(event) = kernel.advance() {
        match (event.to().layer, event.event()) {
            (LayerId::Protocol, Event::Timer(timer)) => {
                let Arrival::Of(number) = Arrival::unpack(timer);
                let (_, offset, bytes) = requests[number as usize];
                let op = if number % 3 == 0 { Op::Write } else { Op::Read };
                let request = kernel.open(Request { offset, bytes, op, tag: number, owner: client, ..Request::default() });
                kernel.submit(HERE, request);
            }
            (LayerId::Protocol, Event::Done(id)) => {
                let request = kernel.requests[id];
                assert_eq!(kernel.requests.spent(id).dense().iter().sum::<u64>(), kernel.now_ns() - request.submitted_ns);
                done.push(request.tag);
                kernel.requests.remove(id);
            }
            (LayerId::Layout, Event::Submit(id)) => {
                let part = kernel.requests[id];
                let whole = part.parent.map_or(part.tag, |parent| kernel.requests[parent].tag);
                out.push(Out { ns: kernel.now_ns(), whole, offset: part.offset, bytes: part.bytes });
                kernel.complete(id);
            }
            (_, event) => controller.on(&mut kernel, 0, event),
        }
        while let Some(question) = controller.question(&kernel) {
            controller.answer(&mut kernel, owner(&question));
        }
    }
    assert!(kernel.requests.is_empty(), "requests are left in flight");
    (out, done, controller)
}

#[test]
fn one_controller_serves_a_disk_in_turn_and_shards_serve_their_ranges_at_once() {
    let requests: Vec<(u64, u64, u64)> = (1..=2).map(|range| (0, range * RANGE, 4096)).collect();
    let ends = |shards| pass(&spec(shards, &[]), 1, &requests).0.iter().map(|out| out.ns).collect::<Vec<_>>();
    // 1000 ns and 0.1 ns/B for a read; requests 0 and 3, 6, ... are writes of 2000 ns.
    assert_eq!(ends(1), [2410, 2410 + 1410]);
    assert_eq!(ends(2), [400 + 1410, 200 + 2410]);
}

#[test]
fn a_request_over_a_border_of_shards_is_worked_on_in_parts_and_completes_once() {
    let (out, done, _) = pass(&spec(2, &[]), 1, &[(0, RANGE - 4096, 12_288)]);
    let parts: Vec<(u64, u64)> = out.iter().map(|part| (part.offset, part.bytes)).collect();
    assert_eq!(parts, [(RANGE - 4096, 4096), (RANGE, 8192)]);
    assert_eq!(done, [0]);
    let (whole, ..) = pass(&spec(1, &[]), 1, &[(0, RANGE - 4096, 12_288)]);
    assert_eq!(whole.len(), 1, "one owner, one part");
}

#[test]
fn disks_have_controllers_of_their_own() {
    let (out, ..) = pass(&spec(1, &[]), 2, &[(0, 0, 4096), (0, 1 << 20, 4096)]);
    assert_eq!(out.iter().map(|out| out.ns).collect::<Vec<_>>(), [1410, 2410]);
}

#[test]
fn a_node_without_spare_cores_splits_no_disk() {
    let spare = ControllerSpec { only_spare_cores: true, ..spec(4, &[]) };
    assert_eq!([1, 2, 4, 8, 16].map(|disks| spare.granted(4, disks)), [4, 4, 2, 1, 1]);
    assert_eq!(spec(4, &[]).granted(4, 16), 4);
}

#[test]
fn a_list_of_owners_replaces_the_interleaved_map() {
    let spec = ControllerSpec { owners: vec![0, 0, 1], ..spec(2, &[]) };
    let (.., controller) = pass(&spec, 1, &[(0, 0, 4096), (0, RANGE, 4096), (0, 2 * RANGE, 4096), (0, 3 * RANGE, 4096)]);
    let by_shard: Vec<u64> = controller.servers().iter().skip(1).map(|row| row.usage.requests).collect();
    assert_eq!(by_shard, [3, 1]);
}

fn asked(shards: u32, resizes: &[(u64, u32)], takeover: u64) -> ControllerSpec {
    ControllerSpec { map: OwnerMap::Asked, takeover: Nanos(takeover), ..spec(shards, resizes) }
}

#[test]
fn the_host_is_asked_for_the_owner_of_every_range_of_every_request() {
    let mut questions = Vec::new();
    let (out, done, controller) =
        pass_asked(&asked(3, &[], 0), 2, &[(0, 2 * RANGE - 4096, 8192), (0, (1 << 20) + RANGE, 4096)], |question| {
            questions.push((question.disk, question.range, question.owner, question.requests, question.bytes, question.write));
            2
        });
    assert_eq!(questions, [(0, 1, None, 0, 4096, true), (0, 2, None, 0, 4096, true), (1, 1, None, 0, 4096, false)]);
    assert_eq!((out.len(), done.len()), (3, 2));
    let third_shards = controller.servers().iter().filter(|row| row.number == 3 && row.usage.requests > 0).count();
    assert_eq!(third_shards, 2);
    assert_eq!(controller.moved(), Some(0), "the first owner of a range does not take over");
}

#[test]
fn a_range_moves_once_what_is_under_way_is_done_and_its_new_owner_pays_for_it() {
    let requests: Vec<(u64, u64, u64)> =
        [1, 1, 1, 2].iter().enumerate().map(|(number, range)| (number as u64, range * RANGE, 4096)).collect();
    let mut answers = [0, 1, 1].into_iter();
    let mut seen = Vec::new();
    let (out, _, controller) = pass_asked(&asked(2, &[], 5000), 1, &requests, |question| {
        seen.push((question.range, question.owner, question.in_flight, question.queued.clone()));
        answers.next().expect("three questions: what comes while a range moves is not asked about")
    });
    assert_eq!(seen, [(1, None, 0, vec![0, 0]), (1, Some(0), 1, vec![1, 0]), (2, None, 0, vec![1, 0])]);
    // Dispatch 200 each; the first, a write, works 2410 on shard 0; the two others wait for it, then the first of them pays.
    let ends: Vec<(u32, u64)> = out.iter().map(|out| (out.whole, out.ns)).collect();
    let moved_ns = 200 + 2410;
    // The fourth request, a write to another range, came to shard 1 before.
    let fourth_ns = 800 + 2410;
    assert_eq!(ends, [(0, moved_ns), (3, fourth_ns), (1, fourth_ns + 5000 + 1410), (2, fourth_ns + 5000 + 2 * 1410)]);
    assert_eq!(controller.moved(), Some(1));
}

#[test]
fn an_asked_map_needs_few_ranges_and_no_other_map() {
    let problems = |spec: &ControllerSpec| {
        let mut problems = Problems::new();
        super::check::check(spec, &plan(1), &Path::root().field("controller"), &mut problems);
        problems.into_iter().map(|problem| problem.path).collect::<Vec<_>>()
    };
    assert_eq!(problems(&asked(2, &[], 0)), [""; 0]);
    assert_eq!(
        problems(&ControllerSpec { range: Bytes(1), owners: vec![0], resize_waits: false, ..asked(2, &[], 0) }),
        ["controller.range", "controller.owners", "controller.resize_waits"]
    );
}

#[test]
fn writes_wait_for_the_replica_network() {
    let replicas = Some(seeklab_spec::controller::Replicas { copies: 2, rate: Bytes(1_000_000_000) });
    let spec = ControllerSpec { replicas, ..spec(1, &[]) };
    let (out, ..) = pass(&spec, 1, &[(0, 0, 4096)]);
    assert_eq!(out[0].ns, 2410 + 2 * 4096);
}

#[test]
fn the_work_of_all_functions_is_the_work_of_all_servers() {
    let function = |of, percent| seeklab_spec::controller::Function { of, name: "look up;hash".into(), percent };
    let functions = vec![function(Part::Read, 33.3), function(Part::Bytes, 10.0)];
    let spec = ControllerSpec { functions, spread: Spread::Exponential, dispatch: Nanos(333), ..spec(3, &[]) };
    let requests: Vec<(u64, u64, u64)> = (0..50).map(|number| (number * 700, number % 16 * RANGE, BLOCK)).collect();
    let (.., controller) = pass(&spec, 1, &requests);
    let by_function: u64 = controller.frames().iter().map(|frames| frames.ns).sum();
    let by_server: u64 = controller.servers().iter().map(|row| row.usage.busy_ns).sum();
    assert_eq!(by_function, by_server);
    assert!(controller.frames().iter().any(|frames| frames.ns > 0 && frames.stack.ends_with(&["look up".into(), "hash".into()])));
}

proptest! {
    #[test]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few shards
    fn resizing_under_load_loses_repeats_and_reorders_nothing(
        shards in 1u32..9,
        resizes in proptest::collection::vec((0u64..200_000, 1u32..9), 0..6),
        requests in proptest::collection::vec((0u64..200_000, 0u64..200, 1u64..20), 1..150),
        host in proptest::option::of(0u64..1 << 40),
    ) {
        let requests: Vec<(u64, u64, u64)> = requests.into_iter().map(|(ns, block, blocks)| (ns, block * BLOCK, blocks * BLOCK)).collect();
        let spec = spec(shards, &resizes);
        let (out, done, controller) = match host {
            None => pass(&spec, 1, &requests),
            Some(seed) => {
                // Any map keeps the order, also one that changes its mind at every request.
                let mut draws = Stream::new(seed, "map");
                pass_asked(&ControllerSpec { map: OwnerMap::Asked, takeover: Nanos(700), ..spec }, 1, &requests, |question| {
                    assert!(question.owner.is_none_or(|owner| (owner as usize) < question.queued.len()));
                    (draws.unit() * question.queued.len() as f64) as u32
                })
            }
        };

        let mut completed = done;
        completed.sort_unstable();
        prop_assert_eq!(completed, (0..index(requests.len())).collect::<Vec<_>>(), "each request completes once");
        // Every byte of every request goes down once, and no byte besides: nothing is copied.
        for (number, request) in requests.iter().enumerate() {
            let mut parts: Vec<Out> = out.iter().filter(|part| part.whole as usize == number).copied().collect();
            parts.sort_by_key(|part| part.offset);
            let mut end = request.1;
            for part in parts {
                prop_assert_eq!(part.offset, end);
                end += part.bytes;
            }
            prop_assert_eq!(end, request.1 + request.2);
        }
        // Of two requests for a block, the one that came first goes down first.
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|number| requests[*number].0);
        let arrival = |whole: u32| order.iter().position(|number| *number == whole as usize);
        for block in 0..220 {
            let of_block = out.iter().filter(|part| (part.offset..part.offset + part.bytes).contains(&(block * BLOCK)));
            let arrivals: Vec<_> = of_block.map(|part| arrival(part.whole)).collect();
            prop_assert!(arrivals.is_sorted(), "block {block}: {arrivals:?}");
        }
        if !resizes.is_empty() {
            prop_assert_eq!(controller.overtaken(), Some(0));
        }
        for row in controller.servers() {
            prop_assert_eq!(row.usage.area_ns, row.usage.response_ns);
        }
    }
}

#[test]
fn a_change_that_does_not_wait_lets_requests_overtake_each_other() {
    let requests: Vec<(u64, u64, u64)> = (0..2000).map(|number| (number * 100, number % 16 * RANGE, BLOCK)).collect();
    let resizes = [(50_000, 2), (100_000, 3), (150_000, 8)];
    let overtaken = |resize_waits| pass(&ControllerSpec { resize_waits, ..spec(4, &resizes) }, 1, &requests).2.overtaken();
    assert_eq!(overtaken(true), Some(0));
    assert!(overtaken(false) > Some(0));
}
