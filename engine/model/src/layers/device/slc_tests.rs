//! Drives with an SLC cache in whole runs, against closed forms: cliff = limit, time = V in the cache / its rate + the rest / direct rate.

use super::slc::Cache;
use crate::stack::Stack;
use crate::testing::{assert_has_problem, assert_is, assert_within, metric, problems, run};
use seeklab_spec::{Lun, Op};
use serde_json::{Value, json};

/// A copy onto a drive of 1024 GB of cells, so much of it full.
fn copy(size: &str, full: f64) -> Value {
    json!({
        "devices": [{"lun": {"capacity": "1024GB", "rate": "1800MB", "slc": {"fixed": "12GB", "direct_rate": "100MB", "fold_rate": "100MB",
            "full": full}}}],
        "jobs": [{"name": "copy", "rw": "write", "bs": "16MB", "iodepth": 2, "filename": "file", "size": size}],
        "record": {"log": false, "interval": "1s"},
        "limits": {"time": "200h"},
    })
}

/// The copy, a pause, and as much again: onto the same addresses, or beginning elsewhere.
fn again(pause: &str, offset: &str) -> Stack {
    let mut scenario = copy("140GB", 0.0);
    scenario["jobs"][0]["filename"] = "drive".into();
    let mut second = scenario["jobs"][0].clone();
    second["name"] = "again".into();
    second["wait_for"] = "copy".into();
    second["startdelay"] = pause.into();
    second["offset"] = offset.into();
    scenario["jobs"].as_array_mut().expect("jobs").push(second);
    run(&scenario)
}

#[test]
fn the_cliff_comes_at_the_limit_whatever_is_full() {
    for (full, limit_gb) in [(0.0, 140.0), (0.25, 97.333), (0.5, 54.667), (0.75, 12.0), (0.8, 12.0)] {
        let stack = run(&copy("200GB", full));
        assert_within(metric(&stack, "slc_cached_gb"), limit_gb, 1e-4);
        assert_within(metric(&stack, "slc_cliff_gb"), limit_gb, 0.01);
        assert_is(metric(&stack, "slc_cliffs"), 1.0);
        let seconds = limit_gb / 1.8 + (200.0 - limit_gb) / 0.1;
        assert_within(metric(&stack, "copy.write_mb_per_s"), 200_000.0 / seconds, 1e-3);
    }
}

#[test]
fn a_copy_that_fits_has_no_cliff() {
    let stack = run(&copy("139.984GB", 0.0));
    assert_is(metric(&stack, "slc_direct_gb"), 0.0);
    assert_is(metric(&stack, "slc_cliffs"), 0.0);
    assert_is(metric(&stack, "slc_cliff_gb"), 139.984);
}

#[test]
fn a_pause_gives_back_what_it_folds_and_less_of_it_to_fresh_addresses() {
    assert_within(metric(&again("601s", "0"), "slc_refilled_gb"), 60.0, 1e-3);
    assert_within(metric(&again("601s", "200GB"), "slc_refilled_gb"), 50.0, 1e-3);
    // Whole after 1400 s of folding, and no more after a day.
    assert_within(metric(&again("1401s", "0"), "slc_refilled_gb"), 140.0, 1e-3);
    assert_within(metric(&again("24h", "0"), "slc_refilled_gb"), 140.0, 1e-3);
    assert_is(metric(&again("1s", "0"), "slc_folded_gb"), 0.0);
    // What is overwritten in the cache is no room: beyond what was given back the second round is slow to its end.
    let stack = again("601s", "0");
    assert_within(metric(&stack, "slc_cached_gb"), 200.0, 1e-3);
    assert_within(metric(&stack, "again.write_mb_per_s"), 140_000.0 / (60.0 / 1.8 + 80.0 / 0.1), 1e-3);
}

#[test]
fn bytes_are_somewhere_and_once() {
    for offset in ["0", "70GB", "200GB"] {
        let stack = again("300s", offset);
        let held = metric(&stack, "slc_used_gb") + metric(&stack, "slc_full_gb");
        let overlap = if offset == "0" {
            140.0
        } else if offset == "70GB" {
            70.0
        } else {
            0.0
        };
        assert_within(held, 280.0 - overlap, 1e-9);
    }
}

#[test]
fn bursts_are_folded_when_the_pause_is_their_bytes_over_the_rate_and_a_second() {
    let mut scenario = copy("256GB", 0.25);
    let job = &mut scenario["jobs"][0];
    for (field, value) in [
        ("offset", json!("768GB")),
        ("thinktime_blocks", json!(3125)),
        ("thinktime", json!("502s")),
        ("iodepth", json!(1)),
        ("time_based", json!(true)),
        ("runtime", json!("24h")),
    ] {
        job[field] = value;
    }
    let stack = run(&scenario);
    assert_within(metric(&stack, "slc_cycle_s"), 528.8, 1e-3);
    assert_is(metric(&stack, "slc_direct_gb"), 0.0);
    scenario["jobs"][0]["thinktime"] = "480s".into();
    assert!(metric(&run(&scenario), "slc_direct_gb") > 1.0);
}

#[test]
fn a_trim_gives_back_the_cache_after_a_second_and_nothing_is_folded() {
    let mut scenario = copy("200GB", 0.0);
    scenario["jobs"][0]["filename"] = "drive".into();
    let mut trim = scenario["jobs"][0].clone();
    for (field, value) in [("name", "trim"), ("rw", "trim"), ("wait_for", "copy")] {
        trim[field] = value.into();
    }
    let mut second = scenario["jobs"][0].clone();
    for (field, value) in [("name", "again"), ("wait_for", "trim"), ("startdelay", "2s")] {
        second[field] = value.into();
    }
    scenario["jobs"].as_array_mut().expect("jobs").extend([trim, second]);
    let stack = run(&scenario);
    assert_within(metric(&stack, "slc_cached_gb"), 280.0, 1e-4);
    assert_is(metric(&stack, "slc_folded_gb"), 0.0);
    assert_is(metric(&stack, "slc_cliffs"), 2.0);
}

#[test]
fn an_idle_drive_erases_what_was_given_up_and_folds_the_rest_to_the_last_byte() {
    let unit: Lun = serde_json::from_value(copy("1GB", 0.0)["devices"][0]["lun"].clone()).expect("a unit");
    let mut cache = Cache::new(unit.slc.as_ref().expect("a cache"), &unit, 1_000_000_000);
    let bytes = 1_000_000_000;
    let first_ns = cache.work_ns(0, Op::Write, 0, bytes);
    cache.work_ns(first_ns, Op::Write, 0, bytes);
    let state = |cache: &Cache| cache.rows().last().map(|(_, row)| (row.used, row.full));
    assert_eq!(state(&cache), Some((2 * bytes, 0)));
    cache.work_ns(3_600_000_000_000, Op::Trim, 2 * bytes, 4096);
    assert_eq!(state(&cache), Some((0, bytes)));
    assert_eq!(cache.rows().map(|(time_ns, _)| time_ns).take(3).collect::<Vec<_>>(), [0, 1_000_000_000, 2_000_000_000]);
}

#[test]
fn what_contradicts_itself_is_told() {
    let mut scenario = copy("1GB", 0.0);
    let lun = &mut scenario["devices"][0]["lun"];
    lun["slc"]["fixed"] = "300GB".into();
    lun["slc"]["direct_rate"] = "2GB".into();
    lun["pauses"] = json!([{"at": "1s", "for": "1s"}]);
    let found = problems(&scenario);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_has_problem(&found, "devices[0].lun.slc.fixed: 300 GB");
    assert_has_problem(&found, "devices[0].lun.slc: pauses");
}
