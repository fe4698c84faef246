//! What a tool with a plan and few connections makes of a device that stops: coordinated omission.

use crate::result::columns::Column;
use crate::stack::Stack;
use crate::testing::{assert_is, assert_problems, assert_within, metric, problems, run};
use serde_json::{Value, json};

/// 2000 requests a second over `connections`, 30 s of which the first 10 do not count, on a device that drains 18,800 a second and adds
/// 2.7 ms from a gamma distribution; it stops for 1.414 s.
fn scenario(connections: u32, stops: bool) -> Value {
    let pauses = if stops { json!([{"at": "20.6s", "for": "1.414s"}]) } else { json!([]) };
    json!({
        "devices": [{"lun": {"rate": 18_800 * 4096, "latency": "2.7ms", "latency_cv": 0.456, "pauses": pauses}}],
        "jobs": [{"name": "tool", "rw": "randread", "bs": "4KiB", "numjobs": connections, "rate_iops": 2000.0 / f64::from(connections),
            "stagger": 500_000, "size": "1MiB", "norandommap": true, "ramp_time": "10s", "runtime": "19.75s", "time_based": true}],
        "record": {"log": false},
    })
}

fn found(stack: &Stack, name: &str) -> f64 {
    metric(stack, &format!("tool.read_{name}"))
}

#[test]
fn a_stall_costs_each_connection_one_sample_and_users_a_second() {
    let (stalled, smooth) = (run(&scenario(100, true)), run(&scenario(100, false)));
    // 39,500 requests are due in 19.75 s; each of 100 connections waits with one.
    assert_within(found(&stalled, "ios"), 39_500.0, 0.003);
    assert_is(found(&stalled, "stalls"), 100.0);
    // From the sending: 2.75 + 100 x 1.414 s / 39,500. From the plan: 2000 x 1.414^2 / 2 / 39,500 = 50.6 ms, times 18,800 / 16,800 for the
    // drain, and the base; its 99th percentile is 1.414 s - 0.01 x 39,500 / 2000/s, longer by the drain.
    assert_within(found(&stalled, "latency_mean_ms"), 6.43, 0.03);
    assert_within(found(&stalled, "latency_p99_ms"), 7.4, 0.05);
    assert_within(found(&stalled, "response_mean_ms"), 58.7, 0.03);
    assert_within(found(&stalled, "response_p99_ms"), 1239.0, 0.01);
    // Without the stall both are the same, and hardly a request is late.
    assert_within(found(&smooth, "latency_mean_ms"), 2.75, 0.01);
    assert_within(found(&smooth, "response_mean_ms"), 2.75, 0.01);
    assert_within(found(&smooth, "latency_p99_ms"), 6.4, 0.03);
}

#[test]
fn more_connections_notice_a_stall_more_often() {
    // With 1000 connections each sends twice a second: some send so late in the stall that they wait for less than a second.
    for (connections, samples, off) in [(10, 10.0, 0.0), (1000, 933.0, 0.01)] {
        let stack = run(&scenario(connections, true));
        assert!((found(&stack, "stalls") / samples - 1.0).abs() <= off, "{connections}: {}", found(&stack, "stalls"));
    }
}

#[test]
fn latency_from_the_plan_is_latency_when_nothing_is_sent_late() {
    let mut one = scenario(1, false);
    one["jobs"][0]["iodepth"] = 4096.into();
    let stack = run(&one);
    assert_is(found(&stack, "late_sends"), 0.0);
    for (service, response) in
        [("latency_mean_ms", "response_mean_ms"), ("latency_p99_9_ms", "response_p99_9_ms"), ("latency_max_ms", "response_max_ms")]
    {
        assert_is(found(&stack, service), found(&stack, response));
    }
}

#[test]
fn the_log_says_when_a_request_was_due() {
    // One connection, a request every 10 ms that takes 1 ms, and a stop of 95 ms at 1.0 s: the tenth request after it is in time again.
    let stack = run(&json!({
        "devices": [{"lun": {"rate": "1TB", "latency": "1ms", "pauses": [{"at": "1s", "for": "95ms"}]}}],
        "jobs": [{"name": "tool", "bs": 4096, "rate_iops": 100, "size": "1MiB", "number_ios": 200}],
        "record": {"log": true},
    }));
    let column = |name: &str| match stack.column(&format!("ops.{name}")) {
        Some(Column::F64(values)) => values,
        other => panic!("{name}: {other:?}"),
    };
    let late: Vec<f64> = column("submit_ns").into_iter().zip(column("due_ns")).map(|(sent, due)| libm::round((sent - due) / 1e6)).collect();
    assert_eq!(late[101..111], [86.0, 77.0, 68.0, 59.0, 50.0, 41.0, 32.0, 23.0, 14.0, 5.0]);
    assert!(late[..101].iter().chain(&late[111..]).all(|late| *late == 0.0));
    assert_is(found(&stack, "late_sends"), 10.0);
}

#[test]
fn pauses_that_overlap_are_refused() {
    let mut wrong = scenario(1, true);
    wrong["devices"][0]["lun"]["pauses"] = json!([{"at": "2s", "for": "1s"}, {"at": "2.5s", "for": "1s"}]);
    assert_problems(&problems(&wrong), &["devices[0].lun.pauses[1].at: 2500 ms, 3 s"]);
}
