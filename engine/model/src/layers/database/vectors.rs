//! Rates of the whole pipeline that were simulated apart from this engine: transactions a second by threads, mean of two seeds.

use serde_json::{Value, json};

use crate::read;
use crate::stack::Stack;
use crate::testing::{assert_within, metric};
use seeklab_spec::Presets;

const THREADS: [u32; 8] = [1, 2, 4, 8, 16, 64, 128, 256];

/// A database with two logs and three flushes, with the times of each log's flush in microseconds.
fn database(threads: u32, seconds: u64, batch: &str, times: &str, [engine, replication, per_commit]: [u64; 3]) -> Value {
    let flush = |us: u64| json!({"mean": us * 1000, "times": times, "per_commit": per_commit * 1000});
    json!({
        "devices": [{"lun": {"capacity": "1GiB", "rate": "1GB"}}],
        "commit": {
            "work": "2.1ms", "serial_work": 259_000, "stages": ["engine", "replication", "engine"],
            "logs": [{"name": "engine", "flush": flush(engine)}, {"name": "replication", "batch": batch, "flush": flush(replication)}],
        },
        "jobs": [{
            "name": "clients", "rw": "write", "bs": 512, "numjobs": threads, "filename": "table", "size": "1MiB",
            "time_based": true, "ramp_time": seconds * 100_000_000, "runtime": seconds * 900_000_000,
        }],
        "record": {"log": false},
    })
}

fn tps(document: &Value, seed: u64) -> f64 {
    let checked = read(document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, seed);
    while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
    metric(&stack, "clients.write_iops")
}

fn assert_rates(batch: &str, times: &str, us: [u64; 3], seconds: u64, expected: [Option<f64>; 8]) {
    for (threads, expected) in THREADS.into_iter().zip(expected) {
        let Some(expected) = expected else { continue };
        let document = database(threads, seconds, batch, times, us);
        let mean = f64::midpoint(tps(&document, 1), tps(&document, 2));
        println!("{batch} {times} {us:?} {threads} threads: {mean:.1} against {expected}");
        assert_within(mean, expected, 0.03);
    }
}

const CACHE_OFF: [u64; 3] = [14_500, 16_670, 120];
const CACHE_ON: [u64; 3] = [60, 310, 0];

#[test]
fn one_at_a_time_is_limited_by_one_flush() {
    assert_rates("one", "exponential", CACHE_OFF, 200, [20.8, 28.0, 43.1, 56.4, 59.3, 59.3, 59.3, 59.3].map(Some));
}

#[test]
fn shared_flushes_serve_as_many_as_come() {
    assert_rates("all", "exponential", CACHE_OFF, 200, [20.8, 28.0, 51.8, 99.4, 188.6, 638.0, 1095.0, 1749.0].map(Some));
}

#[test]
fn with_a_cache_the_processor_or_the_one_flush_is_the_limit() {
    assert_rates("one", "exponential", CACHE_ON, 20, [359.0, 707.0, 1362.0, 2408.0, 3160.0, 3226.0, 3226.0, 3226.0].map(Some));
    assert_rates("all", "exponential", CACHE_ON, 20, [359.0, 707.0, 1362.0, 2507.0, 3804.0, 3861.0, 3861.0, 3861.0].map(Some));
}

#[test]
fn fixed_flush_times_let_clients_keep_step() {
    let expected = [20.8, 32.1, 64.1, 128.3, 256.6, 883.0, 0.0, 3213.0].map(|tps| (tps > 0.0).then_some(tps));
    assert_rates("all", "fixed", [14_500, 16_670, 0], 200, expected);
}
