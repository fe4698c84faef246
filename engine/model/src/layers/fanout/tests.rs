//! Fan-outs against closed forms, and against themselves by the other of the two ways.

use serde_json::{Value, json};

use super::vectors::one_leaf;
use super::{Fanout, LEAF_BYTES, Leaf, Sent, Whole};
use crate::kernel::RequestId;
use crate::layers::Layer as _;
use crate::stack::Stack;
use crate::testing::{assert_has_problem, assert_is, assert_problems, assert_within, metric, problems, run};

/// `users` requests, one after the other, of so many leaves, each of which takes 10 ms or, for that share, a second.
fn two_point(users: u32, leaves: u32, slow_percent: f64) -> Value {
    json!({
        "jobs": [{"name": "users", "rw": "randread", "bs": 4096, "size": "512MiB", "norandommap": true, "number_ios": users}],
        "fanout": {"leaves": leaves, "service": {"kind": "two-point", "slow_percent": slow_percent}},
        "devices": [{"lun": {"capacity": "1GiB", "rate": "1GB"}}],
        "record": {"log": false},
        "limits": {"time": "2000h"},
    })
}

fn with(mut document: Value, fanout: Value) -> Value {
    if let (Some(into), Value::Object(from)) = (document["fanout"].as_object_mut(), fanout) {
        into.extend(from);
    }
    document
}

fn stalled(document: &Value) -> f64 {
    metric(&run(document), "fanout_stalled_percent")
}

#[track_caller]
fn assert_near(found: f64, expected: f64, off: f64) {
    assert!((found - expected).abs() <= off, "{found} against {expected}");
}

#[test]
fn the_share_of_slow_users_is_that_of_at_least_one_slow_leaf() {
    // 1 - (1 - p)^n; the bounds are three standard deviations of as many users.
    assert_near(stalled(&two_point(20_000, 100, 1.0)), 63.40, 1.0);
    assert_near(stalled(&two_point(20_000, 10, 1.0)), 9.56, 0.65);
    assert_near(stalled(&two_point(20_000, 2000, 0.01)), 18.13, 0.85);
    assert_near(stalled(&two_point(20_000, 139, 0.5)), 50.17, 1.1);
    assert_is(stalled(&two_point(1000, 100, 0.0)), 0.0);
    assert_is(stalled(&two_point(1000, 1, 100.0)), 100.0);
}

#[test]
fn half_of_all_users_are_slow_from_69_leaves_on() {
    // ln 0.5 / ln 0.99 = 68.97; the median of a geometric distribution from 100,000 draws is off by 0.3.
    let place = |slow_percent| metric(&run(&two_point(100_000, 200, slow_percent)), "fanout_first_stalled_leaf_p50");
    assert_near(place(1.0), 69.0, 1.0);
    assert_near(place(0.5), 139.0, 3.0);
    assert_is(place(0.1), 201.0);
}

#[test]
fn the_first_stalled_leaf_is_told_of_servers_with_queues_too() {
    // ln 0.5 / ln 0.9 = 6.58.
    let place = metric(&run(&with(two_point(2000, 40, 10.0), json!({"concurrency": 50}))), "fanout_first_stalled_leaf_p50");
    assert_near(place, 7.0, 1.0);
}

#[test]
fn memory_grows_with_the_leaves_and_the_requests_that_are_out() {
    let spec = serde_json::from_value(two_point(1, 10, 1.0)["fanout"].clone()).expect("a fan-out");
    let mut fanout = Fanout::new(&spec, 1);
    let whole = Whole { request: RequestId(0), missing: 1, leaves: 1, first_stalled: 1 };
    let copies = [Sent::to(0, None), Sent::to(1, None)];
    let leaf = Leaf { whole: 0, place: 1, key: 0, asked_ns: 0, copies, is_answered: false, held: 0 };
    let mut grown = |add: &dyn Fn(&mut Fanout)| {
        let before = fanout.memory_bytes();
        (0..1000).for_each(|_| add(&mut fanout));
        fanout.memory_bytes().saturating_sub(before)
    };
    assert!(grown(&|fanout| _ = fanout.wholes.insert(whole)) >= 1000 * size_of::<Whole>() as u64);
    assert!(grown(&|fanout| _ = fanout.leaves.insert(leaf)) >= 1000 * LEAF_BYTES);
}

#[test]
fn a_hedge_squares_the_chance_of_a_slow_leaf_and_asks_for_a_hundredth_more() {
    let hedge = json!({"hedge": {"after": "15ms"}});
    let stack = run(&with(two_point(50_000, 100, 1.0), hedge.clone()));
    // 1 - (1 - p^2)^100.
    assert_near(metric(&stack, "fanout_stalled_percent"), 0.995, 0.14);
    assert_near(metric(&stack, "fanout_extra_percent"), 1.0, 0.02);
    // One copy in a hundred is slow, too; every other one has answered at 25 ms.
    assert_is(metric(&stack, "fanout_latency_p50_ms"), 25.001_983);
    // Every leaf that is asked for after 8 ms is asked for twice.
    let early = run(&with(two_point(1000, 100, 1.0), json!({"hedge": {"after": "8ms"}})));
    assert_is(metric(&early, "fanout_extra_percent"), 100.0);
}

#[test]
fn a_hedge_does_not_help_against_a_slow_key() {
    let by_key = json!({"service": {"kind": "two-point", "slow_by": "key"}, "hedge": {"after": "15ms"}});
    assert_near(stalled(&with(two_point(20_000, 100, 1.0), by_key)), 63.40, 1.0);
}

#[test]
fn a_request_that_waits_for_all_but_one_is_slow_when_two_leaves_are() {
    // 11 leaves of which one in ten is slow: 1 - 0.9^11 = 68.62 %; without the slowest 1 - 0.9^11 - 11 x 0.1 x 0.9^10 = 30.26 %.
    let all = two_point(20_000, 11, 10.0);
    assert_near(stalled(&all), 68.62, 1.0);
    assert_near(stalled(&with(all, json!({"wait_for": 90.0}))), 30.26, 1.0);
}

#[test]
fn a_server_of_exponential_times_is_the_queue_of_the_textbook() {
    // M/M/1 at half its rate: twice the service time on average, and the same exponential distribution: p99 = ln 100 x 20 ms.
    let mut one = one_leaf(0.5, 10_000, 1.0, None);
    one["fanout"]["replicas"] = 1.into();
    let stack = run(&one);
    assert_within(metric(&stack, "fanout_latency_mean_ms"), 20.0, 0.02);
    assert_within(metric(&stack, "fanout_latency_p99_ms"), 92.1, 0.03);
    assert_within(metric(&stack, "fanout_in_service_mean"), 0.5, 0.02);
    // By Little's law; the job's clock is the layer's.
    assert_within(metric(&stack, "users.read_latency_mean_ms"), metric(&stack, "fanout_latency_mean_ms"), 0.01);
    // Six servers of each key do not matter where there is one copy.
    one["fanout"]["replicas"] = 6.into();
    assert_within(metric(&run(&one), "fanout_latency_mean_ms"), 20.0, 0.02);
}

/// What a run with its events, as journeys need them, has in common with one that is computed at once.
fn in_both_ways(document: &Value) -> [Box<Stack>; 2] {
    let mut with_journeys = document.clone();
    with_journeys["record"]["journeys"] = json!({"until": "1s"});
    [document, &with_journeys].map(|document| Box::new(run(document)))
}

#[test]
fn what_is_computed_at_once_is_what_events_make() {
    let services = [
        json!({"kind": "two-point", "slow_percent": 3}),
        json!({"kind": "gamma", "time": "10ms", "shape": 0.7}),
        json!({"kind": "pareto", "time": "8ms", "slow_percent": 20, "shape": 1.5}),
        json!({"kind": "pareto", "time": "12ms", "slow_percent": 20, "shape": 1.5, "slow_by": "key"}),
    ];
    for service in services {
        for further in [json!({}), json!({"wait_for": 80}), json!({"hedge": {"after": "10ms"}}), json!({"hedge": {"after": "11ms"}})] {
            let document = with(with(two_point(300, 30, 1.0), json!({"service": service})), further);
            let [at_once, by_events] = in_both_ways(&document);
            let metrics = |stack: &Stack| stack.metrics().into_iter().map(|metric| (metric.name, metric.value)).collect::<Vec<_>>();
            assert_eq!(metrics(&at_once), metrics(&by_events), "{document}");
            let fingerprint = |stack: &Stack| format!("{:?}", stack.recorder().fingerprint);
            assert_eq!(fingerprint(&at_once), fingerprint(&by_events));
        }
    }
}

#[test]
fn a_budget_bounds_copies_however_slow_leaves_are() {
    let asks = |mut hedge: Value| {
        hedge["after"] = "15ms".into();
        with(two_point(1000, 100, 30.0), json!({"hedge": hedge}))
    };
    let bounded = run(&asks(json!({"budget": 2.0})));
    assert_near(metric(&bounded, "fanout_extra_percent"), 2.0, 0.1);
    // Three leaves in ten would have had a copy.
    assert_near(metric(&bounded, "fanout_extra_percent") + metric(&bounded, "fanout_refused_copies") / 1000.0, 30.0, 0.5);
    assert_near(metric(&run(&asks(json!({}))), "fanout_extra_percent"), 30.0, 0.5);
    assert_is(metric(&run(&asks(json!({"budget": 0.0}))), "fanout_copies"), 0.0);
}

#[test]
fn a_percentile_finds_the_time_after_which_one_leaf_in_twenty_asks_again() {
    let hedge = json!({"after": "1s", "percentile": 95});
    let stack = run(&with(two_point(2000, 100, 1.0), json!({"service": {"kind": "gamma", "time": "10ms", "shape": 1}, "hedge": hedge})));
    assert_near(metric(&stack, "fanout_extra_percent"), 5.0, 0.3);
}

#[test]
fn a_second_replica_takes_the_leaves_of_a_slow_server() {
    // One of ten servers takes twenty times as long: a tenth of all leaves 200 ms. The copy answers 10 ms after it was asked.
    let slow =
        json!({"servers": 10, "replicas": 2, "slow": [{"server": 3, "times": 20}], "service": {"kind": "two-point", "slow_percent": 0}});
    let alone = run(&with(two_point(1000, 1, 0.0), slow.clone()));
    assert_near(metric(&alone, "fanout_leaf_latency_p99_ms"), 200.0, 0.2);
    assert_near(metric(&alone, "fanout_leaf_latency_mean_ms"), 29.0, 2.0);
    let hedged = run(&with(with(two_point(1000, 1, 0.0), slow), json!({"hedge": {"after": "15ms"}})));
    assert_near(metric(&hedged, "fanout_latency_p99_9_ms"), 25.0, 0.1);
    assert_near(metric(&hedged, "fanout_extra_percent"), 10.0, 3.0);
}

#[test]
fn servers_may_be_the_devices_below() {
    // Two leaves on one disk array of 1 ms each: 1 ms when it takes both at once, 2 ms when it takes one after the other.
    let on = |fanout: Value| {
        let mut document = with(two_point(100, 2, 0.0), json!({"servers": 1, "replicas": 1, "service": {"kind": "below"}}));
        document["devices"][0]["lun"] = json!({"capacity": "1GiB", "rate": "1TB", "latency": "1ms"});
        metric(&run(&with(document, fanout)), "fanout_latency_p50_ms")
    };
    assert_near(on(json!({})), 1.0, 0.001);
    assert_near(on(json!({"concurrency": 1})), 2.0, 0.002);
    assert_near(on(json!({"concurrency": 2})), 1.0, 0.001);
}

#[test]
fn contradictions_are_refused_in_a_sentence() {
    for (changes, expected) in [
        (json!({"replicas": 1, "hedge": {}}), "fanout.hedge: fanout.replicas, 1, 2"),
        (json!({"servers": 2, "replicas": 3}), "fanout.replicas: 3, 2"),
        (json!({"hedge": {"mode": "tied", "budget": 2}}), "fanout.hedge.budget: tied, \"hedged\""),
        (json!({"slow": [{"server": 100, "times": 2}]}), "fanout.slow[0].server: 100, 0"),
        (json!({"service": {"kind": "below"}}), "fanout.servers: 100, 1"),
        (json!({"service": {"kind": "two-point", "time": "2s"}}), "fanout.service.slow: 1 s, 2 s"),
    ] {
        assert_problems(&problems(&with(two_point(1, 10, 1.0), changes)), &[expected]);
    }
    let mut writes = two_point(1, 10, 1.0);
    writes["jobs"][0]["rw"] = "randwrite".into();
    assert_problems(&problems(&writes), &["jobs[0].rw: read, randread, fanout"]);
    let mut clustered = two_point(1, 10, 1.0);
    clustered["cluster"] = json!({"design": "hash", "nodes": 4, "copies": 2, "block": 65536, "round_trip": "20us"});
    assert_has_problem(&problems(&clustered), "fanout: cluster");
}
