//! Queueing theory as an oracle: what closed forms say about simple systems, the engine must give within sampling error.

use seeklab_core::scenario;
use seeklab_core::stack::Stack;
use serde_json::{Value, json};

/// Requests of one run; enough that its mean wait is near the mean over all time.
const REQUESTS: u64 = 40_000;
const SEEDS: u64 = 30;
/// Service time of a 4 KiB request on the server below, in milliseconds.
const SERVICE_MS: f64 = 1.0;

/// A server of 4 KiB/ms.
fn run(job: &Value, seed: u64) -> Stack {
    let document = json!({
        "jobs": [job],
        "devices": [{"lun": {"rate": 4_096_000, "latency": 0}}],
        "record": {"log": false},
    });
    let checked = scenario::read(&document).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, seed).unwrap_or_else(|problems| panic!("{problems:?}"));
    while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
    stack
}

fn metric(stack: &Stack, name: &str) -> f64 {
    stack.metrics().into_iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
}

fn arrivals(rate_per_s: f64, sizes: &Value) -> Value {
    let mut job = json!({
        "name": "arrivals", "rw": "randread", "bs": 4096, "size": "1GiB", "norandommap": true, "iodepth": 60_000,
        "number_ios": REQUESTS, "io_size": "1TiB", "rate_iops": rate_per_s, "rate_process": "poisson",
    });
    if !sizes.is_null() {
        job["bsrange"] = sizes.clone();
    }
    job
}

/// Mean and standard error of the mean latency over the seeds, in milliseconds.
fn latency(job: &Value) -> (f64, f64) {
    let means: Vec<f64> = (1..=SEEDS).map(|seed| metric(&run(job, seed), "arrivals.read_latency_mean_ms")).collect();
    let count = f64::from(u32::try_from(SEEDS).expect("few"));
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

fn assert_near(found: (f64, f64), expected: f64) {
    let distance = (found.0 - expected).abs() / found.1;
    assert!(distance < 3.0, "{} ms against {expected} ms: {distance:.1} standard errors", found.0);
}

#[test]
fn poisson_arrivals_at_a_constant_server_wait_as_in_m_d_1() {
    for load in [0.3, 0.6, 0.8] {
        let wait_ms = load / (2.0 * (1.0 - load)) * SERVICE_MS;
        assert_near(latency(&arrivals(load * 1000.0, &Value::Null)), SERVICE_MS + wait_ms);
    }
}

#[test]
fn poisson_arrivals_of_varying_size_wait_as_pollaczek_and_khinchine_say() {
    // Sizes of 4, 8, 12 and 16 KiB in equal shares: service 1, 2, 3 and 4 ms, mean 2.5, mean square 7.5.
    let sizes = json!({"min": 4096, "max": 16384});
    for load in [0.3, 0.7] {
        let rate_per_ms = load / 2.5;
        let wait_ms = rate_per_ms * 7.5 / (2.0 * (1.0 - load));
        assert_near(latency(&arrivals(rate_per_ms * 1000.0, &sizes)), 2.5 + wait_ms);
    }
}

#[test]
fn a_closed_loop_of_n_waits_n_service_times() {
    for depth in [1u32, 4, 32] {
        let job = json!({"name": "arrivals", "rw": "randread", "bs": 4096, "size": "1GiB", "iodepth": depth, "number_ios": 2000});
        let stack = run(&job, 1);
        // All but the first `depth` requests wait for exactly `depth - 1` others.
        let filled = f64::from(depth);
        let expected = (filled * (2000.0 - filled) + filled * (filled + 1.0) / 2.0) / 2000.0;
        let found = metric(&stack, "arrivals.read_latency_mean_ms");
        assert!((found - expected).abs() < 1e-9, "{found} against {expected}");
    }
}

#[test]
fn littles_law_holds_for_the_device() {
    let stack = run(&arrivals(700.0, &Value::Null), 7);
    let usage = stack.usage()[0];
    // Requests in the system on average = throughput times mean response, by the device's own counters and by the job's.
    let by_job: u64 = stack.recorder().jobs[0].by_op[0].total_ns;
    assert_eq!(usage.response_ns[0], by_job);
    assert!(usage.busy_ns <= stack.now_ns());
    assert_eq!(usage.busy_ns, usage.ios[0] * 1_000_000, "each request keeps the server busy for 1 ms");
}
