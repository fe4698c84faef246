//! The page cache against closed forms and against a small simulation that was written apart from this engine.

use serde_json::{Value, json};

use crate::stack::Stack;
use crate::testing::{assert_is, assert_within, metric, run};

const GIB: u64 = 1 << 30;

/// A bulk write of so many GiB, and 512 bytes that are written synchronously when it has ended.
fn bulk_and_log(gib: u64, page_cache: &Value) -> Value {
    json!({
        "page_cache": page_cache,
        "jobs": [
            {"name": "bulk", "rw": "write", "bs": "1MiB", "size": gib * GIB},
            {"name": "log", "rw": "write", "bs": 512, "size": "1MiB", "number_ios": 1, "sync": true, "wait_for": "bulk"},
        ],
        "devices": [{"lun": {"rate": 257_200_000, "latency": "4ms"}}],
        "record": {"log": false},
    })
}

/// A machine of 120 GB, all of which can be dirty.
fn machine(journal: &str) -> Value {
    json!({"memory": "120GB", "dirtyable_share": 1.0, "limit": "40%", "throttle_from": "limit", "journal": journal})
}

fn stall_s(stack: &Stack) -> f64 {
    metric(stack, "log.write_latency_max_ms") / 1e3
}

#[test]
fn a_synchronous_write_waits_for_all_data_of_the_transaction() {
    let stack = run(&bulk_and_log(4, &machine("ordered")));
    assert_within(metric(&stack, "bulk.elapsed_s"), 3.7266, 0.001);
    assert_within(stall_s(&stack), 16.70, 0.002);
    assert_within(metric(&stack, "log.write_journal_mean_ms") / 1e3, 16.70, 0.002);
    assert_is(metric(&stack, "page_cache_sent_before_sync_bytes"), 0.0);
    assert_is(metric(&stack, "page_cache_after_sync_bytes"), 0.0);
    assert_is(metric(&stack, "page_cache_commits"), 1.0);
}

#[test]
fn a_commit_that_begins_during_the_write_leaves_the_rest_to_the_next_one() {
    // 5.76 GB from 5 s on, and then what came later: 30.9 s from the end of the write on.
    let stack = run(&bulk_and_log(8, &machine("ordered")));
    assert_within(stall_s(&stack), 30.9, 0.004);
    assert_is(metric(&stack, "page_cache_commits"), 2.0);
}

#[test]
fn without_ordered_data_a_synchronous_write_takes_its_own_few_writes() {
    for journal in ["none", "writeback"] {
        let stack = run(&bulk_and_log(4, &machine(journal)));
        // Of the journal 4.2 MB of metadata come to that: an indirect block for each 4 MiB.
        assert!(stall_s(&stack) < 0.03, "{journal}: {}", stall_s(&stack));
    }
    let mut apart = machine("ordered");
    apart["unjournalled"] = json!(["log"]);
    assert!(stall_s(&run(&bulk_and_log(4, &apart))) < 0.02);
    let mut delayed = machine("ordered");
    delayed["delayed_allocation"] = true.into();
    assert!(stall_s(&run(&bulk_and_log(4, &delayed))) < 0.03);
}

#[test]
fn metadata_that_are_durable_before_their_data_expose_them() {
    let exposed = |journal| metric(&run(&bulk_and_log(1, &machine(journal))), "page_cache_exposed_max_bytes");
    assert_is(exposed("writeback"), f64::from(1 << 30));
    assert_is(exposed("ordered"), 0.0);
}

/// A writer that is faster than the disk, on a machine of 94 GiB.
fn flood(throttle_from: &str, bytes: u64) -> Stack {
    run(&json!({
        "page_cache": {"memory": "94GiB", "journal": "none", "throttle_from": throttle_from},
        "jobs": [{"name": "bulk", "rw": "write", "bs": "1MiB", "size": bytes >> 20 << 20, "end_fsync": true}],
        "devices": [{"lun": {"rate": 250_000_000}}],
        "record": {"log": false},
    }))
}

#[test]
fn thresholds_are_reached_when_the_closed_form_says() {
    let limit = 16_613_362_998;
    // What has been written when the limit is reached: the limit, and what the disk took until then.
    let stack = flood("limit", limit + 2_300_500_000);
    assert_within(metric(&stack, "page_cache_background_s"), 7.21, 0.002);
    assert_within(metric(&stack, "page_cache_throttled_s"), 16.41, 0.002);
    assert_within(metric(&stack, "page_cache_dirty_max_bytes"), 16_613_362_998.0, 0.001);
    assert_within(metric(&stack, "page_cache_drain_s"), 66.45, 0.002);
    let stack = flood("midpoint", limit);
    assert_within(metric(&stack, "page_cache_throttled_s"), 11.81, 0.002);
}
