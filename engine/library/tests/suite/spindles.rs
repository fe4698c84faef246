//! Spindles of different drives do not turn in step: where each stands at the start is drawn from the seed and its own name.

use seeklab_model::result::columns::Column;
use seeklab_model::stack::Stack;
use serde_json::json;

use crate::support;

/// Rotational latency of the first read of a run, in ns.
fn first_wait_ns(name: &str, seed: u64) -> f64 {
    let document = json!({
        "jobs": [{"name": "reader", "rw": "read", "bs": 4096, "size": "1MiB", "number_ios": 1}],
        "devices": [{"name": name, "preset": "hdd-7200"}],
    });
    let mut stack = Stack::new(support::read(&document).expect("a sound scenario"), seed);
    while !stack.step(1000).expect("within its limits") {}
    match stack.column("ops.rotation_ns") {
        Some(Column::F64(waits)) => waits[0],
        _ => panic!("no column of rotational latencies"),
    }
}

#[test]
fn where_a_spindle_stands_at_the_start_depends_on_the_seed_and_on_the_drive() {
    let wait = first_wait_ns("left", 1);
    assert!((wait - first_wait_ns("left", 2)).abs() > 1.0, "the seed");
    assert!((wait - first_wait_ns("right", 1)).abs() > 1.0, "the drive");
    assert!((wait - first_wait_ns("left", 1)).abs() < f64::EPSILON, "the same run repeats");
}
