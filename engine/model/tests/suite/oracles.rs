//! Queueing theory as an oracle: what closed forms say about simple systems, the engine must give within sampling error.

use seeklab_model::stack::Stack;
use seeklab_spec::Presets;
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
    let checked = seeklab_model::read(&document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, seed);
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

/// Metrics of a job's reads behind controllers, over devices that take no time, over the seeds: mean and standard error.
fn behind(controller: &Value, job: &Value, name: &str) -> (f64, f64) {
    let document = json!({
        "jobs": [job],
        "controller": controller,
        "devices": [{"lun": {"rate": 1_000_000_000_000u64, "latency": 0}}],
        "record": {"log": false},
    });
    let values: Vec<f64> = (1..=SEEDS)
        .map(|seed| {
            let checked = seeklab_model::read(&document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
            let mut stack = Stack::new(checked, seed);
            while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
            let controller = stack.controller().expect("a controller");
            let mut busy_ns = 0;
            for row in controller.servers() {
                assert_eq!(row.usage.area_ns, row.usage.response_ns, "Little's law on every queue");
                busy_ns += row.usage.busy_ns;
            }
            assert!(busy_ns <= stack.now_ns() * u64::from(controller.cores()), "utilisation of at most 1");
            metric(&stack, name)
        })
        .collect();
    let count = f64::from(u32::try_from(SEEDS).expect("few"));
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// The device moves 4 KiB in this time, in milliseconds: all that a controller's latencies have besides.
const DEVICE_MS: f64 = 0.000_005;

#[test]
fn exponential_work_on_one_thread_waits_as_in_m_m_1() {
    let controller = json!({"cores": 4, "read": "1ms", "spread": "exponential"});
    for load in [0.3, 0.6, 0.8] {
        let found = behind(&controller, &arrivals(load * 1000.0, &Value::Null), "arrivals.read_latency_mean_ms");
        assert_near(found, SERVICE_MS / (1.0 - load) + DEVICE_MS);
    }
}

/// Probability of having to wait for one of `servers` that are offered `load` in all (Erlang's C).
fn erlang_c(servers: u32, load: f64) -> f64 {
    let mut blocked = 1.0;
    for server in 1..=servers {
        blocked = load * blocked / (f64::from(server) + load * blocked);
    }
    let share = load / f64::from(servers);
    blocked / (1.0 - share + share * blocked)
}

#[test]
fn exponential_work_on_c_threads_or_c_cores_waits_as_in_m_m_c() {
    for (servers, load) in [(2, 1.4), (5, 4.0)] {
        let expected = SERVICE_MS + erlang_c(servers, load) * SERVICE_MS / (f64::from(servers) - load) + DEVICE_MS;
        for controller in [
            json!({"cores": 64, "threads": servers, "read": "1ms", "spread": "exponential"}),
            json!({"cores": servers, "threads": 1024, "read": "1ms", "spread": "exponential"}),
        ] {
            let found = behind(&controller, &arrivals(load * 1000.0, &Value::Null), "arrivals.read_latency_mean_ms");
            assert_near(found, expected);
        }
    }
}

/// Mean value analysis: throughput per millisecond of `customers` that think for `think_ms` and visit stations with these demands.
fn mva(customers: u32, think_ms: f64, demands_ms: &[f64]) -> f64 {
    let mut queues = vec![0.0; demands_ms.len()];
    let mut rate = 0.0;
    for population in 1..=customers {
        let times: Vec<f64> = demands_ms.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue)).collect();
        rate = f64::from(population) / (think_ms + times.iter().sum::<f64>());
        queues = times.iter().map(|time| rate * time).collect();
    }
    rate
}

#[test]
fn a_closed_network_of_primary_and_shards_yields_what_mean_value_analysis_says() {
    for (customers, shards) in [(4u32, 2u32), (12, 4)] {
        let controller = json!({
            "cores": 64, "disks": "one", "shards": shards, "range": 4096, "dispatch": "200us", "read": "1ms", "spread": "exponential",
        });
        let job = json!({
            "name": "arrivals", "rw": "randread", "bs": 4096, "filename": "file", "size": "1GiB", "norandommap": true,
            "numjobs": customers, "thinktime": "3ms", "time_based": true, "ramp_time": "1s", "runtime": "10s",
        });
        let mut demands = vec![1.0 / f64::from(shards); shards as usize];
        demands.push(0.2);
        let found = behind(&controller, &job, "arrivals.read_iops");
        assert_near(found, 1000.0 * mva(customers, 3.0 + DEVICE_MS, &demands));
    }
}

#[test]
fn a_disk_does_as_many_requests_as_its_shards_its_primary_or_its_cores_allow() {
    // 100 us a read, 15 us to dispatch it; queues that never run dry.
    for (shards, cores, expected) in [(1u32, 64u32, 10_000.0), (2, 64, 20_000.0), (6, 64, 60_000.0), (12, 64, 66_667.0), (6, 4, 34_783.0)] {
        let controller = json!({
            "cores": cores, "shards": shards, "range": 4096, "dispatch": "15us", "read": "100us",
        });
        let job = json!({"name": "arrivals", "rw": "randread", "bs": 4096, "size": "1GiB", "iodepth": 1024, "number_ios": 30_000});
        let (found, _) = behind(&controller, &job, "arrivals.read_iops");
        assert!((found / expected - 1.0).abs() < 0.05, "{shards} shards on {cores} cores: {found} against {expected}");
    }
}
