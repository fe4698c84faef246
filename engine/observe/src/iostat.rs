//! The output of `iostat -x` (sysstat) over the whole run: averages from the devices' own counters and nothing else.
//!
//! Columns are computed as sysstat computes them: `r_await` is the time of reads from arrival to completion divided by their
//! number, `aqu-sz` the time of all requests divided by the interval, `%util` the share of time with at least one request in
//! service. Requests are neither merged nor discarded and there are no flushes, so those columns are 0. It hides who asked, how long anyone waited above the device, and every latency but the mean.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use seeklab_model::layers::device::Usage;
use seeklab_model::result::metrics::Metrics;
use seeklab_model::stack::Stack;

#[allow(clippy::cast_precision_loss)] // counters stay below 2^53
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Reports what the columns of `await` say over all devices together: reads, writes, and, as old versions had it, both in one.
pub fn metrics(usages: &[Usage], metrics: &mut Metrics) {
    let sum = |of: fn(&Usage) -> [u64; 2], op: usize| usages.iter().map(|usage| of(usage)[op]).sum::<u64>();
    let (ios, ns) = ([0, 1].map(|op| sum(|usage| usage.ios, op)), [0, 1].map(|op| sum(|usage| usage.response_ns, op)));
    for (name, help, ios, ns) in [
        ("device_r_await_ms", "Mean time of reads from arrival to completion, over all devices (r_await of iostat).", ios[0], ns[0]),
        ("device_w_await_ms", "Mean time of writes from arrival to completion, over all devices (w_await of iostat).", ios[1], ns[1]),
        ("device_await_ms", "Mean time of reads and writes together (await of older versions of iostat).", ios[0] + ios[1], ns[0] + ns[1]),
    ] {
        if ios > 0 {
            metrics.milliseconds(name, help, ratio(ns, ios));
        }
    }
}

/// Prints one line for each device.
#[must_use]
pub fn print(stack: &Stack) -> String {
    let mut text = format!(
        "{:<10} {:>8} {:>10} {:>8} {:>9} {:>8} {:>10} {:>8} {:>9} {:>7} {:>6}\n",
        "Device", "r/s", "rkB/s", "r_await", "rareq-sz", "w/s", "wkB/s", "w_await", "wareq-sz", "aqu-sz", "%util"
    );
    for (name, usage) in stack.all_usage() {
        line(&mut text, &name, &usage, stack.now_ns());
    }
    text
}

fn line(text: &mut String, name: &str, usage: &Usage, elapsed_ns: u64) {
    let per_s = |count: u64| ratio(count, elapsed_ns) * 1e9;
    // Writing to a string cannot fail.
    let _ = write!(text, "{name:<10}");
    for op in 0..2 {
        let _ = write!(
            text,
            " {:>8.2} {:>10.2} {:>8.2} {:>9.2}",
            per_s(usage.ios[op]),
            per_s(usage.bytes[op]) / 1024.0,
            ratio(usage.response_ns[op], usage.ios[op]) / 1e6,
            ratio(usage.bytes[op], usage.ios[op]) / 1024.0
        );
    }
    let queue = ratio(usage.response_ns.iter().sum(), elapsed_ns);
    let _ = writeln!(text, " {queue:>7.2} {:>6.2}", 100.0 * ratio(usage.busy_ns, elapsed_ns));
}

/// The same as `iostat -x -o JSON` writes it: its keys, its order, two digits.
#[must_use]
pub fn json(stack: &Stack) -> String {
    let disks: Vec<Value> = stack.all_usage().iter().map(|(name, usage)| disk(name, usage, stack.now_ns())).collect();
    let host = json!({
        "nodename": "seeklab",
        "sysname": "Seeklab",
        "release": env!("CARGO_PKG_VERSION"),
        "machine": "model",
        "number-of-cpus": 1,
        "date": "01/01/70",
        "statistics": [{"disk": disks}],
    });
    format!("{:#}\n", json!({"sysstat": {"hosts": [host]}}))
}

/// A row of the JSON. Directions: reads, writes, discards, flushes.
fn disk(name: &str, usage: &Usage, elapsed_ns: u64) -> Value {
    let rounded = |value: f64| libm::round(value * 100.0) / 100.0;
    let of = |values: &[u64; 2], op: usize| values.get(op).copied().unwrap_or(0);
    let per_s = |count: u64| ratio(count, elapsed_ns) * 1e9;
    let mut row = Map::new();
    row.insert("disk_device".into(), name.into());
    let mut add = |key: String, value: f64| row.insert(key, rounded(value).into());
    for (op, key) in ["r", "w", "d", "f"].iter().enumerate() {
        add(format!("{key}/s"), per_s(of(&usage.ios, op)));
    }
    for (op, key) in ["r", "w", "d"].iter().enumerate() {
        add(format!("{key}kB/s"), per_s(of(&usage.bytes, op)) / 1024.0);
    }
    for unit in ["/s", ""] {
        for key in ["r", "w", "d"] {
            add(format!("{key}rqm{unit}"), 0.0);
        }
    }
    for (op, key) in ["r", "w", "d", "f"].iter().enumerate() {
        add(format!("{key}_await"), ratio(of(&usage.response_ns, op), of(&usage.ios, op)) / 1e6);
    }
    for (op, key) in ["r", "w", "d"].iter().enumerate() {
        add(format!("{key}areq-sz"), ratio(of(&usage.bytes, op), of(&usage.ios, op)) / 1024.0);
    }
    add("aqu-sz".into(), ratio(usage.response_ns.iter().sum(), elapsed_ns));
    add("util".into(), 100.0 * ratio(usage.busy_ns, elapsed_ns));
    row.into()
}
