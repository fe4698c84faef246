//! A drive's queue in the whole stack.

use seeklab_model::stack::Stack;
use serde_json::json;

use crate::support;

/// The longest of many random reads of a disk with 128 in its queue, in milliseconds, and the mean.
fn reads(longest_overtaken: &str) -> [f64; 2] {
    let document = json!({
        "jobs": [{"name": "app", "rw": "randread", "bs": 4096, "size": "100%", "iodepth": 128, "number_ios": 4000, "norandommap": true}],
        "devices": [{"preset": "hdd-7200", "hdd": {"queue_policy": "satf", "queue_depth": 128, "longest_overtaken": longest_overtaken}}],
        "record": {"log": false},
    });
    let checked = support::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, 1);
    while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
    let metrics = seeklab_observe::metrics(&stack);
    ["max", "mean"].map(|what| {
        let name = format!("app.read_latency_{what}_ms");
        metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
    })
}

#[test]
fn a_shorter_time_of_being_overtaken_trades_the_mean_for_the_longest() {
    let [quick, patient] = ["1s", "60s"].map(reads);
    // Others that are overdue, too, may still go first.
    assert!(quick[0] > 1000.0 && quick[0] < 2000.0, "{} ms", quick[0]);
    assert!(patient[0] > 1.5 * quick[0], "{} against {} ms", patient[0], quick[0]);
    assert!(patient[1] < quick[1], "{} against {} ms", patient[1], quick[1]);
}
