//! The cache in front of devices: when writes are acknowledged, what is written out, and what a learn cycle does to both.

use serde_json::{Value, json};

use crate::result::columns::Column;
use crate::stack::Stack;
use crate::testing::{assert_is, assert_problems, assert_within, metric, problems, run};

/// A write of 4 KiB into the cache: 60 us and its time on the bus.
const ACKNOWLEDGED_MS: f64 = 0.060_52;

/// Writes of 4 KiB, each flushed, to a unit that takes 10 ms for each.
fn flushed(job: &Value, cache: &Value) -> Value {
    let mut document = json!({
        "jobs": [{"name": "log", "rw": "write", "bs": "4KiB", "size": "64MiB", "fsync": 1}],
        "devices": [{"lun": {"rate": "1GB", "latency": "10ms"}}],
        "record": {"interval": "1s"},
    });
    document["jobs"][0].as_object_mut().expect("a job").extend(job.as_object().expect("fields").clone());
    if !cache.is_null() {
        document["raid_cache"] = cache.clone();
    }
    document
}

fn column(stack: &Stack, name: &str) -> Vec<f64> {
    match stack.column(name) {
        Some(Column::F64(values)) => values,
        Some(Column::U32(values)) => values.into_iter().map(f64::from).collect(),
        None => panic!("no column {name}"),
    }
}

#[test]
fn write_back_acknowledges_from_memory_and_writes_out_later() {
    let stack = run(&flushed(&json!({"number_ios": 1000}), &json!({})));
    assert_is(metric(&stack, "log.write_latency_mean_ms"), ACKNOWLEDGED_MS);
    assert_is(metric(&stack, "raid_cache_cached_bytes"), 4096.0 * 1000.0);
    assert_is(metric(&stack, "raid_cache_destaged_bytes"), 4096.0 * 1000.0);
    assert_is(metric(&stack, "raid_cache_through_bytes"), 0.0);
    // Neighbours are written out together: 16 requests of 256 KiB.
    assert!(column(&stack, "devices.writes")[0] < 20.0);
    assert!(stack.now_ns() >= 4_000_000_000);
}

#[test]
fn data_cross_the_bus_to_the_host_one_after_the_other() {
    let rate = |job: &Value| {
        let mut document = flushed(job, &json!({"size": "64GiB", "bus": "4GB"}));
        document["jobs"][0]["fsync"] = Value::Null;
        metric(&run(&document), "log.write_mb_per_s")
    };
    let one = json!({"bs": "64MiB", "size": "1GiB", "loops": 2});
    let many = json!({"rw": "randwrite", "bs": "64KiB", "size": "1MiB", "numjobs": 64, "time_based": true, "runtime": "20ms"});
    let small = json!({"rw": "randwrite", "bs": 4096, "size": "1MiB", "numjobs": 4, "time_based": true, "runtime": "20ms"});
    assert_within(rate(&one), 4000.0, 0.01);
    assert_within(rate(&many), 4000.0, 0.02);
    assert_within(rate(&small), 4.0 * 4096.0 / 60.0, 0.1);
}

#[test]
fn write_through_takes_as_long_as_without_a_cache() {
    for job in [json!({"number_ios": 100}), json!({"number_ios": 100, "iodepth": 8, "rw": "randwrite"})] {
        let through = run(&flushed(&job, &json!({"policy": "write_through"})));
        let without = run(&flushed(&job, &Value::Null));
        assert_eq!(through.recorder().fingerprint.hex(), without.recorder().fingerprint.hex());
        assert_is(metric(&through, "raid_cache_through_bytes"), 4096.0 * 100.0);
    }
}

#[test]
fn a_cache_that_is_full_takes_what_the_devices_take() {
    let mut document = flushed(&json!({"number_ios": 16_384, "iodepth": 4}), &json!({"size": "1MiB"}));
    document["devices"][0]["lun"] = json!({"rate": "4MB"});
    let stack = run(&document);
    assert_within(metric(&stack, "elapsed_s"), (4096.0 * 16_384.0 - 1_048_576.0) / 4e6, 0.01);
    assert_is(metric(&stack, "raid_cache_max_bytes"), 1_048_576.0);
    assert!(metric(&stack, "raid_cache_waits") > 100.0, "neighbours make room together");
    // All of the wait is a wait for room.
    let phases: f64 =
        column(&stack, "ops.queue_ns").iter().zip(column(&stack, "ops.memory_ns")).map(|(queue, memory)| queue + memory).sum();
    assert_is(phases, column(&stack, "ops.latency_ns").iter().sum());
}

#[test]
fn what_is_written_again_in_time_is_written_out_once() {
    let stack =
        run(&flushed(&json!({"rw": "randwrite", "norandommap": true, "size": "64KiB", "time_based": true, "runtime": "1s"}), &json!({})));
    assert_is(metric(&stack, "raid_cache_destaged_bytes"), 65_536.0);
    assert!(metric(&stack, "raid_cache_cached_bytes") > 100.0 * 65_536.0);
}

#[test]
fn reads_find_what_was_written() {
    let mut document = flushed(&json!({"number_ios": 16, "filename": "file"}), &json!({}));
    document["jobs"]
        .as_array_mut()
        .expect("jobs")
        .push(json!({"name": "reader", "rw": "read", "bs": "4KiB", "size": "128KiB", "filename": "file", "wait_for": "log"}));
    let stack = run(&document);
    assert_is(metric(&stack, "raid_cache_read_bytes"), 65_536.0);
    assert_is(metric(&stack, "reader.read_latency_min_ms"), ACKNOWLEDGED_MS);
    assert_within(metric(&stack, "reader.read_latency_max_ms"), 10.0, 0.01);
}

#[test]
fn destaging_in_order_of_address_spares_the_arm() {
    let written_s = |policy: &str| {
        let job = json!({"rw": "randwrite", "size": "400GB", "bs": "16KiB", "number_ios": 2000, "iodepth": 64, "fsync": 2000});
        let mut document = flushed(&job, &json!({"depth": 1, "policy": policy}));
        document["devices"][0] = json!({"hdd": {
            "rpm": 7200, "capacity": "500GB", "heads": 4, "outer_rate": "120MB", "inner_rate": "60MB", "seek_single": "1ms",
            "seek_average": "8.5ms", "seek_full": "18ms", "head_switch": "1ms", "interface_rate": "300MB", "buffer": "16MiB", "queue_depth": 1,
        }});
        let stack = run(&document);
        crate::result::metrics::in_seconds(stack.now_ns())
    };
    let (sorted, as_they_come) = (written_s("write_back") - 4.0, written_s("write_through"));
    assert!(sorted < 0.7 * as_they_come, "{sorted} s against {as_they_come} s");
}

/// A write each 100 s for two hours and a half, with a learn cycle from the start.
fn learning(cache: &Value) -> Stack {
    let job = json!({"rate_iops": 0.01, "time_based": true, "runtime": "12000s"});
    let mut all = json!({"battery": {"learn_at": 0}});
    for (field, value) in cache.as_object().expect("fields") {
        if field == "battery" {
            all["battery"].as_object_mut().expect("fields").extend(value.as_object().expect("fields").clone());
        } else {
            all[field] = value.clone();
        }
    }
    run(&flushed(&job, &all))
}

#[test]
fn the_learn_cycle_of_the_log_is_slow_from_86_minutes_on_for_33() {
    let stack = learning(&json!({}));
    assert_within(metric(&stack, "raid_cache_until_slow_s"), 5184.2, 1e-6);
    assert_within(metric(&stack, "raid_cache_slow_s"), 1990.8, 1e-6);
    assert_is(metric(&stack, "raid_cache_cycle_s"), 7175.0);
    assert_is(metric(&stack, "raid_cache_write_back_s"), 7175.0);
    let is_slow: Vec<bool> = column(&stack, "ops.latency_ns").iter().map(|ns| *ns > 9e6).collect();
    let expected: Vec<bool> = (0..120).map(|write| (52..72).contains(&write)).collect();
    assert_eq!(is_slow, expected);
    assert_eq!(column(&stack, "learn_cycles.line"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let charges = column(&stack, "raid_cache.charge");
    assert_within(charges[65 + 3555], 0.5, 1e-6);
    assert_is(column(&stack, "raid_cache.write_through").iter().sum(), 1990.0); // whole seconds
}

#[test]
fn with_the_threshold_it_takes_the_charging_longer() {
    let stack = learning(&json!({"battery": {"write_back_returns": "threshold"}}));
    assert_within(metric(&stack, "raid_cache_slow_s"), 6022.8, 1e-6);
    assert_within(metric(&stack, "raid_cache_write_back_s"), 11_207.0, 1e-6);
    assert_is(metric(&stack, "unsafe_max_bytes"), 0.0);
}

#[test]
fn what_a_weak_battery_would_not_keep_is_unsafe() {
    // Write-back returns with an empty battery.
    assert_is(metric(&learning(&json!({})), "unsafe_controller_max_bytes"), 4096.0);
    let forced = learning(&json!({"policy": "forced_write_back"}));
    assert_is(metric(&forced, "unsafe_controller_max_bytes"), 4096.0);
    assert_is(metric(&forced, "log.write_latency_max_ms"), ACKNOWLEDGED_MS);
    assert_is(metric(&forced, "unsafe_bytes"), 0.0);
    assert_is(metric(&learning(&json!({"policy": "write_through"})), "unsafe_max_bytes"), 0.0);
}

#[test]
fn what_is_in_memory_when_the_battery_is_weak_becomes_unsafe_and_safe_again_at_that_moment() {
    // One write just before the charge is too low, in a controller that keeps it for an hour and heeds nothing.
    let job = json!({"startdelay": "5100s", "number_ios": 1});
    let battery = json!({"learn_at": 0});
    let mut document = flushed(&job, &json!({"policy": "forced_write_back", "destage_after": "1h", "battery": battery}));
    document["record"]["interval"] = "1s".into();
    let stack = run(&document);
    let unsafe_from = column(&stack, "unsafe.controller_bytes").iter().position(|bytes| *bytes > 0.0);
    assert_eq!(unsafe_from, Some(5184));
    assert_eq!(column(&stack, "unsafe.controller_bytes").last(), Some(&0.0), "it is written out after an hour");
}

#[test]
fn the_change_to_write_through_writes_out_what_is_in_memory() {
    let job = json!({"startdelay": "5184s", "number_ios": 1});
    let stack = run(&flushed(&job, &json!({"destage_after": "1h", "battery": {"learn_at": 0}})));
    assert_within(crate::result::metrics::in_seconds(stack.now_ns()), 5184.2, 1e-5);
}

#[test]
fn writes_that_wait_for_room_go_through_when_the_policy_changes() {
    let battery = json!({"learn_at": 0, "lead": 0, "discharge": "10s", "threshold": 0.5, "charge": "1s"});
    let mut document = flushed(&json!({"time_based": true, "runtime": "10s", "iodepth": 32}), &json!({"size": "1MiB", "battery": battery}));
    document["devices"][0]["lun"] = json!({"rate": "100kB"});
    let stack = run(&document);
    assert!(metric(&stack, "raid_cache_waits") > 32.0);
    assert!(metric(&stack, "raid_cache_through_bytes") > 30.0 * 4096.0);
    let kept = metric(&stack, "raid_cache_cached_bytes") + metric(&stack, "raid_cache_through_bytes");
    assert_is(kept, metric(&stack, "log.write_bytes"));
}

#[test]
fn a_queue_grows_by_what_write_through_does_not_take_and_drains_by_what_write_back_does() {
    // 200 a second against 60 for 14.4 s; then 1000 a second.
    let battery = json!({"learn_at": "10s", "lead": 0, "discharge": "20s", "charge": "20s"});
    let job = json!({"rate_iops": 200, "time_based": true, "runtime": "60s", "iodepth": 1, "fsync": 1, "bs": "512"});
    let mut document = flushed(&job, &json!({"ack": "1ms", "battery": battery}));
    document["devices"][0]["lun"] = json!({"rate": "1GB", "latency": 16_666_155});
    document["record"]["interval"] = "10ms".into();
    let stack = run(&document);
    let slow_s = metric(&stack, "raid_cache_slow_s");
    assert_within(slow_s, 20.0 * 0.28, 1e-6);
    let backlog = 140.0 * slow_s;
    assert_within(metric(&stack, "log.write_backlog_max"), backlog, 0.01);
    let drained_s = metric(&stack, "log.write_late_sends_until_s") - metric(&stack, "raid_cache_write_back_s");
    assert_within(drained_s, backlog / 800.0, 0.02);
}

/// The commits of M1 over a controller, with a unit for each log that takes as long as its flushes did without a cache.
fn commits(job: &Value, cache: &Value) -> Value {
    let unit = |latency: &str| json!({"capacity": "1GiB", "rate": 4_266_667, "latency": latency, "latency_cv": 1.0});
    let mut document = json!({
        "jobs": [{"name": "log", "rw": "write", "bs": 512, "size": "1MiB", "iodepth": 256, "time_based": true}],
        "commit": {"work": "2.1ms", "serial_work": "0.259ms", "stages": ["engine", "replication", "engine"], "logs": [
            {"name": "engine"}, {"name": "replication", "batch": "one", "offset": "1GiB", "host": {"mean": "0.25ms"}},
        ]},
        "layout": {"kind": "concat"},
        "devices": [{"name": "a", "lun": unit("14.5ms")}, {"name": "b", "lun": unit("16.42ms")}],
        "raid_cache": cache,
        "record": {"log": false, "interval": "1s"},
    });
    document["jobs"][0].as_object_mut().expect("a job").extend(job.as_object().expect("fields").clone());
    document
}

#[test]
fn commits_reach_the_ceilings_of_their_pipeline_with_and_without_the_cache() {
    let tps = |policy: &str, seconds: &str| {
        let stack = run(&commits(&json!({"runtime": seconds}), &json!({"policy": policy})));
        metric(&stack, "log.write_iops")
    };
    assert_within(tps("write_through", "200s"), 59.3, 0.03);
    assert_within(tps("write_back", "10s"), 3226.0, 0.01);
}

#[test]
fn commits_that_wait_in_write_through_are_drained_in_write_back() {
    // A tenth of the logged cycle: 199.08 s of write-through; (200 - 59.3) x 199.08 wait, and 3226 - 200 a second are drained.
    let battery = json!({"learn_at": 0, "lead": 0, "discharge": "711s"});
    let job = json!({"rate_iops": 200, "rate_process": "poisson", "startdelay": "510s", "runtime": "230s"});
    let stack = run(&commits(&job, &json!({"battery": battery})));
    assert_within(metric(&stack, "log.write_backlog_max"), 28_011.0, 0.03);
    let drained_s = metric(&stack, "log.write_late_sends_until_s") - metric(&stack, "raid_cache_write_back_s");
    assert_within(drained_s, 9.26, 0.04);
}

#[test]
fn contradictions_are_refused_with_what_is_accepted() {
    for (cache, expected) in [
        (json!({"battery": {"learn_at": 0, "learn_every": "3h"}}), "raid_cache.battery.learn_every: 10800 s, 65 s, 7110 s, 14400 s"),
        (json!({"policy": "forced_write_back"}), "raid_cache.policy: battery, write_back"),
        (
            json!({"battery": {"learn_at": 0, "servers": {"count": 100_000, "draws": 1000}}}),
            "raid_cache.battery.servers.draws: 1000, 100000, 100",
        ),
    ] {
        assert_problems(&problems(&flushed(&json!({}), &cache)), &[expected]);
    }
    let mut fleet = flushed(&json!({"rw": "read", "fsync": null}), &json!({}));
    fleet["fleet"] = json!({"nodes": 100, "placement": "copysets"});
    assert_problems(&problems(&fleet), &["raid_cache: fleet"]);
}

#[test]
fn many_servers_are_slow_one_after_the_other() {
    let battery = json!({"learn_at": 0, "lead": 0, "discharge": "7h", "threshold": 1.0, "servers": {"count": 40}});
    let stack = run(&flushed(&json!({"number_ios": 1}), &json!({"battery": battery})));
    assert_within(metric(&stack, "raid_cache_server_slow_percent"), 0.3241, 0.001);
    assert_within(metric(&stack, "raid_cache_any_server_slow_percent"), 12.18, 0.01);
}
