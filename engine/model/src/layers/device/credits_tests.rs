//! Volumes with credits in whole runs: single requests against the flow, and what the flow leaves out of sight.

use crate::stack::Stack;
use crate::testing::{assert_has_problem, assert_is, assert_problems, assert_within, metric, problems, run};
use serde_json::{Value, json};

/// A closed loop of 32 for an hour on a volume that earns `base` credits a second.
fn hour(base: u32) -> Value {
    json!({
        "devices": [{"lun": {"rate": "1GB", "latency": "1ms", "credits": {"base": base}}}],
        "jobs": [{"name": "app", "rw": "randread", "bs": "16KiB", "iodepth": 32, "size": "1GiB", "norandommap": true, "fluid": true,
            "time_based": true, "runtime": "1h"}],
        "record": {"log": false, "interval": "10s"},
    })
}

fn latency_ms(stack: &Stack, percentile: &str) -> f64 {
    metric(stack, &format!("app.read_latency_{percentile}_ms"))
}

#[test]
fn a_burst_lasts_for_the_capacity_over_what_it_takes_more_than_it_earns() {
    for (base, seconds) in [(100, 1862.07), (300, 2000.0), (1002, 2702.7), (2250, 7200.0)] {
        let mut scenario = hour(base);
        scenario["jobs"][0]["runtime"] = "7260s".into();
        assert_within(metric(&run(&scenario), "credits_first_empty_s"), seconds, 1e-5);
    }
}

#[test]
fn an_hour_at_depth_32_is_2000_s_at_the_burst_rate_and_the_rest_at_the_base_rate() {
    let stack = run(&hour(300));
    assert_is(metric(&stack, "app.read_iops"), 1800.0);
    assert_within(latency_ms(&stack, "p50"), 32.0 / 3.0, 1e-3);
    assert_within(latency_ms(&stack, "max"), 320.0 / 3.0, 1e-6);
    assert_within(metric(&stack, "app.read_in_flight_mean"), 32.0, 1e-6);
    assert_is(metric(&stack, "credits_throttled_s"), 1600.0);
    assert_is(metric(&stack, "credits_active_s"), 3600.0);
    // The phases of an I/O are its latency: 1 ms in the volume, and the wait.
    let mean = metric(&stack, "app.read_latency_mean_ms");
    assert_within(metric(&stack, "app.read_overhead_mean_ms"), 1.0, 1e-6);
    assert_within(metric(&stack, "app.read_credit_wait_mean_ms"), mean - 1.0, 1e-6);
}

#[test]
fn the_flow_gives_what_single_requests_give() {
    let mut flow = hour(300);
    flow["devices"][0]["lun"]["credits"]["capacity"] = 30_000.into();
    flow["jobs"][0]["runtime"] = "30s".into();
    let mut single = flow.clone();
    single["jobs"][0]["fluid"] = false.into();
    let (flow, single) = (run(&flow), run(&single));
    for name in ["app.read_iops", "app.read_latency_mean_ms", "credits_first_empty_s", "credits_throttled_s"] {
        assert_within(metric(&single, name), metric(&flow, name), 0.006);
    }
    for percentile in ["p50", "p99"] {
        assert_within(latency_ms(&single, percentile), latency_ms(&flow, percentile), 0.01);
    }
    assert_within(metric(&flow, "credits_first_empty_s"), 11.111, 1e-4);
    assert_within(latency_ms(&flow, "p99"), 106.67, 1e-3);
}

#[test]
fn think_time_bounds_what_a_loop_asks_for() {
    let mut scenario = hour(300);
    scenario["jobs"][0]["thinktime"] = "100ms".into();
    let stack = run(&scenario);
    // 32 / 101 ms are 316.8 a second: more than the base rate, so credits go, and slowly.
    assert_within(metric(&stack, "app.read_iops"), 316.83, 1e-3);
    assert_within(latency_ms(&stack, "mean"), 1.0, 1e-3);
    assert_within(metric(&stack, "credits"), 5_400_000.0 - 3600.0 * 16.83, 1e-3);
}

#[test]
fn a_top_up_once_a_day_is_a_dip_once_a_day() {
    let mut scenario = hour(300);
    scenario["devices"][0]["lun"]["credits"] =
        json!({"base": 300, "initial": 0, "top_up": {"first": "12h", "every": "24h", "amount": 4_860_000}});
    scenario["jobs"][0]["runtime"] = "72h".into();
    scenario["limits"] = json!({"time": "72h"});
    scenario["record"]["interval"] = "60s".into();
    let stack = run(&scenario);
    assert_is(metric(&stack, "latency_dips"), 3.0);
    assert_is(metric(&stack, "latency_dips_apart_s"), 86_400.0);
    // 4.86 million credits are 1800 s of 2700 a second more than are earned.
    assert_within(metric(&stack, "app.read_ios"), 300.0 * 259_200.0 + 3.0 * 4_860_000.0, 1e-6);
    scenario["devices"][0]["lun"]["credits"].as_object_mut().expect("an object").remove("top_up");
    let plain = run(&scenario);
    assert_is(metric(&plain, "latency_dips"), 0.0);
    assert_within(metric(&plain, "app.read_ios"), 77_760_000.0, 1e-6);
}

#[test]
fn a_flow_counts_where_its_requests_end_and_not_in_the_interval_after() {
    let mut flow = hour(300);
    flow["jobs"][0]["runtime"] = "30s".into();
    flow["record"]["interval"] = "1s".into();
    let stack = run(&flow);
    let rows: Vec<u64> = stack.recorder().series.iter().map(|row| row.ios[0]).collect();
    assert_eq!(rows, [3000; 30]);
}

#[test]
fn what_credits_and_flows_contradict_is_refused() {
    let mut wrong = hour(300);
    wrong["devices"][0]["lun"]["credits"]["initial"] = 6_000_000.into();
    wrong["devices"][0]["lun"]["varies"] = json!({});
    wrong["jobs"][0]["rate_iops"] = 100.into();
    wrong["record"]["log"] = true.into();
    for expected in [
        "devices[0].lun.credits: varies",
        "devices[0].lun.credits.initial: 6000000, 5400000",
        "jobs[0].fluid: record.log",
        "jobs[0].fluid: rate_iops",
    ] {
        assert_has_problem(&problems(&wrong), expected);
    }
    let mut small = hour(300);
    small["devices"][0]["lun"]["credits"] = json!({"base": 300, "capacity": 3, "unit": 4096});
    assert_problems(&problems(&small), &["devices[0].lun.credits.capacity: 3, 16 KiB, 4"]);
}
