//! Percentiles of one leaf at a time on 60 servers with two replicas, without copies and with tied ones, as computed apart from this engine.
//!
//! 120,000 requests, of which the first tenth does not count, means of three seeds. The first rows have a gamma of mean 17.4 ms and
//! shape 4 and are those against which Table 2 of "The Tail at Scale" is held.

use serde_json::{Value, json};

use crate::read;
use crate::stack::Stack;
use crate::testing::assert_within;
use seeklab_spec::{Presets, to_f64};

/// One leaf a request on 60 servers, each of which works on one at a time; so loaded that servers work for that share of the time.
pub fn one_leaf(load: f64, mean_us: u64, shape: f64, hedge: Option<Value>) -> Value {
    let per_s = load * 60.0 / (to_f64(mean_us) / 1e6);
    let mut fanout = json!({"leaves": 1, "servers": 60, "replicas": 2, "concurrency": 1,
        "service": {"kind": "gamma", "time": mean_us * 1000, "shape": shape}});
    if let Some(hedge) = hedge {
        fanout["hedge"] = hedge;
    }
    json!({
        "jobs": [{"name": "users", "rw": "randread", "bs": 4096, "size": "512MiB", "norandommap": true, "iodepth": 8192, "rate_iops": per_s,
            "rate_process": "poisson", "number_ios": 120_000, "ramp_time": format!("{:.0}ms", 12_000_000.0 / per_s)}],
        "fanout": fanout,
        "devices": [{"lun": {"capacity": "1GiB", "rate": "1GB"}}],
        "record": {"log": false},
    })
}

pub fn tied(message_us: u64) -> Value {
    json!({"mode": "tied", "after": "1ms", "message": message_us * 1000})
}

/// The mean of metrics over seeds 1 to 3.
pub fn means<const COUNT: usize>(document: &Value, names: [&str; COUNT]) -> [f64; COUNT] {
    let mut means = [0.0; COUNT];
    for seed in 1..=3 {
        let mut stack = Stack::new(read(document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}")), seed);
        while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
        assert_eq!(stack.in_flight(), 0, "requests are left in flight");
        let metrics = stack.metrics();
        for (mean, name) in means.iter_mut().zip(names) {
            *mean += metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value / 3.0;
        }
    }
    means
}

const NAMES: [&str; 5] =
    ["fanout_latency_p50_ms", "fanout_latency_p90_ms", "fanout_latency_p99_ms", "fanout_latency_p99_9_ms", "fanout_losing_copies"];

/// Holds a row against the percentiles of its vector, and gives the copies that were served in vain, in per cent of the requests.
fn assert_row(document: &Value, expected: [f64; 4]) -> f64 {
    let found = means(document, NAMES);
    for ((found, expected), share) in found.iter().zip(expected).zip([0.02, 0.02, 0.02, 0.04]) {
        assert_within(*found, expected, share);
    }
    found[4] / 1200.0
}

#[test]
fn one_copy_has_the_percentiles_of_a_queue() {
    assert_row(&one_leaf(0.30, 17_400, 4.0, None), [19.0, 39.3, 68.2, 97.2]);
    assert_row(&one_leaf(0.54, 17_400, 4.0, None), [24.3, 57.9, 104.8, 149.4]);
    assert_row(&one_leaf(0.30, 13_000, 2.0, None), [13.9, 34.4, 62.7, 89.2]);
}

#[test]
fn tied_copies_have_their_percentiles_and_one_in_a_hundred_is_served_in_vain() {
    let in_vain = assert_row(&one_leaf(0.30, 17_400, 4.0, Some(tied(250))), [16.8, 30.5, 45.8, 59.3]);
    assert!((0.6..=0.9).contains(&in_vain), "{in_vain}");
    let in_vain = assert_row(&one_leaf(0.54, 17_400, 4.0, Some(tied(250))), [18.5, 33.7, 49.9, 64.7]);
    assert!((0.8..=1.2).contains(&in_vain), "{in_vain}");
    assert_row(&one_leaf(0.30, 13_000, 2.0, Some(tied(250))), [11.6, 26.5, 44.4, 62.5]);
}

#[test]
fn a_cancellation_that_takes_five_milliseconds_lets_half_of_the_copies_run() {
    let [alone] = means(&one_leaf(0.30, 17_400, 4.0, None), ["fanout_in_service_mean"]);
    let [late] = means(&one_leaf(0.30, 17_400, 4.0, Some(tied(5000))), ["fanout_in_service_mean"]);
    let added = 100.0 * (late / alone - 1.0);
    assert!((44.0..=54.0).contains(&added), "{added}");
}
