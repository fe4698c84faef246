//! Rebuilding failed devices against closed forms written apart from the engine: how long it takes, how much moves, what clients
//! feel of it and what they no longer feel once it is done.
#![allow(clippy::float_cmp)] // bytes are whole, and equal runs are equal to the bit

use seeklab_model::stack::Stack;
use seeklab_spec::Presets;
use seeklab_spec::testing::assert_has_problem;
use seeklab_spec::to_f64;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn run(document: &Value) -> Stack {
    let checked = seeklab_model::read(document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?} in {document}"));
    let mut stack = Stack::new(checked, 1);
    while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
    assert_eq!(stack.in_flight(), 0);
    stack
}

fn metric(stack: &Stack, name: &str) -> f64 {
    stack.metrics().into_iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
}

/// One read that is over before it matters, on logical units of `rate` bytes a second.
fn document(layout: &Value, devices: u64, rate: u64) -> Value {
    json!({
        "jobs": [{"name": "app", "rw": "read", "bs": 4096, "size": "1MiB", "number_ios": 1}],
        "layout": layout,
        "devices": [{"count": devices, "lun": {"rate": rate, "latency": "100us", "capacity": "4GiB"}}],
    })
}

/// Numbers of a fixed sequence, from `least` on, below `most`.
fn draws(least: u64, most: u64) -> impl FnMut() -> u64 {
    let mut state: u64 = 20_110_719;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        least + (state >> 33) % (most - least)
    }
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.02, "{what}: {found} against {expected}");
}

#[test]
fn a_mirror_is_rebuilt_at_the_bandwidth_of_one_device() {
    let (mut mib, mut mb, mut side) = (draws(256, 1024), draws(20, 400), draws(0, 2));
    for in_flight in [1, 4, 16] {
        let (used, rate) = (mib() * MIB, mb() * 1_000_000);
        let layout = json!({"kind": "mirror", "failed": [side()], "rebuild": {"in_flight": in_flight, "used": used}});
        let stack = run(&document(&layout, 2, rate));
        assert_eq!(metric(&stack, "rebuild_bytes"), to_f64(used));
        assert_eq!(metric(&stack, "rebuild_read_bytes"), to_f64(used));
        // One chunk at a time is read and then written, with the latency of both; several overlap, but for the first's read.
        let expected = if in_flight == 1 {
            2.0 * to_f64(used) / to_f64(rate) + to_f64(used / MIB * 512) / 512.0 * 2.0 * 100e-6
        } else {
            to_f64(used + MIB) / to_f64(rate)
        };
        assert_near(metric(&stack, "rebuild_elapsed_s"), expected, "mirror");
    }
}

#[test]
fn raid_z_is_rebuilt_by_reading_every_survivor_and_writing_what_was_lost() {
    let mut rows = draws(2, 9);
    for parity in 1..=3u64 {
        for failed in 1..=parity {
            let (data, rate) = (4, 100_000_000);
            let column = rows() * 4096;
            // Records of whole rows: every device has an equal part of each.
            let records = 256 * MIB / (column * data);
            let lost: Vec<u64> = (0..failed).collect();
            let layout = json!({
                "kind": "raidz", "parity": parity, "unit": column * data, "failed": lost,
                "rebuild": {"spares": failed, "chunk": "4MiB", "used": records * column * data},
            });
            let stack = run(&document(&layout, data + parity, rate));
            let of_a_device = records * column;
            assert_eq!(metric(&stack, "rebuild_bytes"), to_f64(failed * of_a_device), "once for each device that was lost");
            assert_eq!(metric(&stack, "rebuild_read_bytes"), to_f64((data + parity - failed) * of_a_device));
            assert_near(metric(&stack, "rebuild_elapsed_s"), to_f64(of_a_device + MIB) / to_f64(rate), "raidz");
        }
    }
}

#[test]
fn a_rate_stretches_the_rebuild_and_groups_share_it() {
    for (devices, failed) in [(2, json!([1])), (6, json!([0, 3, 5]))] {
        let layout = json!({
            "kind": "mirror", "width": 2, "failed": failed,
            "rebuild": {"spares": 3, "at": "3s", "rate": 10_000_000, "used": 100 * MIB * devices / 2},
        });
        let stack = run(&document(&layout, devices, 400_000_000));
        let lost = 100 * MIB * devices / 2;
        assert_eq!(metric(&stack, "rebuild_bytes"), to_f64(lost));
        assert_near(metric(&stack, "rebuild_elapsed_s"), to_f64(lost) / 1e7, "rate");
    }
}

#[test]
fn devices_beyond_the_spares_stay_lost() {
    let layout = json!({"kind": "raidz", "parity": 2, "unit": 16384, "failed": [4, 1], "rebuild": {"used": "64MiB"}});
    let stack = run(&document(&layout, 6, 100_000_000));
    assert_eq!(metric(&stack, "rebuild_bytes"), to_f64(16 * MIB));
    assert_eq!(stack.usage()[4].bytes[1], 16 * MIB);
    assert_eq!(stack.usage()[1].bytes, [0, 0]);
}

/// A stack that lost a device, read at random by a client.
fn read_by_a_client(failed: &Value, rebuild: &Value, start: &str) -> Stack {
    let mut all = document(&json!({"kind": "raidz", "unit": 16384, "failed": failed}), 5, 100_000_000);
    all["jobs"][0] = json!({
        "name": "app", "rw": "randread", "bs": 16384, "size": "64MiB", "number_ios": 2000, "norandommap": true, "startdelay": start,
        "rate_iops": 1000,
    });
    if !rebuild.is_null() {
        all["layout"]["rebuild"] = rebuild.clone();
    }
    run(&all)
}

#[test]
fn a_client_waits_for_the_rebuild_in_the_queues_and_no_longer_once_it_is_done() {
    let rebuild = json!({"used": "256MiB", "chunk": "4MiB"});
    let none = Value::Null;
    let latency = "app.read_latency_mean_ms";
    let healthy = read_by_a_client(&json!([]), &none, "10s");
    let degraded = read_by_a_client(&json!([2]), &none, "0s");
    let meanwhile = read_by_a_client(&json!([2]), &rebuild, "0s");
    let afterwards = read_by_a_client(&json!([2]), &rebuild, "10s");
    // A phase in which no time was spent is not among the metrics.
    let queue =
        |stack: &Stack| stack.metrics().iter().find(|metric| metric.name == "app.read_queue_mean_ms").map_or(0.0, |metric| metric.value);
    assert!(queue(&meanwhile) > 2.0 * queue(&degraded), "{} against {} ms", queue(&meanwhile), queue(&degraded));
    let (more, in_queue) = (metric(&meanwhile, latency) - metric(&degraded, latency), queue(&meanwhile) - queue(&degraded));
    assert!((more - in_queue).abs() < 0.05 * more, "all that clients feel of a rebuild is queueing: {in_queue} of {more} ms");
    assert_eq!(metric(&afterwards, latency), metric(&healthy, latency));
    assert_eq!(metric(&meanwhile, "app.read_ios"), 2000.0);
}

#[test]
fn a_degraded_read_needs_the_survivors_until_its_range_is_rebuilt() {
    let bytes_read = |stack: &Stack| -> f64 { stack.usage().iter().map(|usage| to_f64(usage.bytes[0])).sum() };
    let rebuild = json!({"used": "256MiB"});
    let reading = |stack: &Stack| bytes_read(stack) - metric(stack, "rebuild_read_bytes");
    let healthy = bytes_read(&read_by_a_client(&json!([]), &Value::Null, "0s"));
    let before = read_by_a_client(&json!([2]), &json!({"used": "256MiB", "at": "60s"}), "0s");
    let after = read_by_a_client(&json!([2]), &rebuild, "10s");
    assert_eq!(reading(&after), healthy);
    assert!(before.usage()[2].bytes[0] == 0 && after.usage()[2].bytes[0] > 0);
    assert_eq!(before.usage()[2].bytes[1], after.usage()[2].bytes[1], "the spare is written once, early or late");
}

#[test]
fn a_client_writes_to_the_spare_as_soon_as_it_is_in_place() {
    let written = |at: &str| {
        let mut all = document(&json!({"kind": "mirror", "failed": [1], "rebuild": {"used": "64MiB", "at": at}}), 2, 100_000_000);
        all["jobs"][0] = json!({"name": "app", "rw": "write", "bs": "1MiB", "size": "64MiB", "number_ios": 16});
        run(&all).usage()[1].bytes[1]
    };
    assert_eq!(written("0s"), (64 + 16) * MIB);
    assert_eq!(written("60s"), 64 * MIB);
}

#[test]
fn what_cannot_be_rebuilt_is_refused_with_a_sentence() {
    let refused = |layout: &Value, expected: &str| {
        let problems = seeklab_model::read(&document(layout, 4, 100_000_000), &Presets::default()).expect_err("a contradiction");
        assert_has_problem(&problems, expected);
    };
    refused(&json!({"kind": "mirror", "rebuild": {}}), "layout.rebuild: layout.failed");
    refused(&json!({"kind": "stripe", "rebuild": {}}), "layout.rebuild: layout.failed");
    refused(&json!({"kind": "mirror", "failed": [1], "rebuild": {"spares": 0}}), "layout.rebuild.spares: 0, 1, 16");
    refused(&json!({"kind": "raidz", "failed": [1, 2], "rebuild": {"spares": 2}}), "layout.failed: 0, 2, 1");
    refused(&json!({"kind": "mirror", "failed": [1], "rebuild": {"used": 4096}}), "layout.rebuild.used: \"app\", 4096, 1048576");
    refused(&json!({"kind": "mirror", "failed": [1], "rebuild": {"used": "1TiB"}}), "layout.rebuild.used: 4294967296");
    let mut zfs = document(&json!({"kind": "mirror", "failed": [1], "rebuild": {"used": "64MiB"}}), 4, 100_000_000);
    zfs["zfs"] = json!({});
    let problems = seeklab_model::read(&zfs, &Presets::default()).expect_err("two that schedule");
    assert_has_problem(&problems, "layout.rebuild: zfs");
}
