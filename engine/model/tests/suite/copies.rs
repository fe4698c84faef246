//! Copies over a network against closed forms written apart from the engine, at inputs drawn from a seed.

use seeklab_model::stack::Stack;
use seeklab_spec::Presets;
use seeklab_spec::testing::assert_problem;
use serde_json::{Value, json};

const MIB: f64 = 1_048_576.0;
/// Size of the file, in MiB.
const FILE: f64 = 48.0;

fn metric(document: &Value, name: &str) -> f64 {
    let checked = seeklab_model::read(document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, 1);
    while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
    stack.metrics().into_iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
}

fn seconds(job: &Value, round_trip_ns: u64) -> f64 {
    let document = json!({
        "jobs": [job],
        "network": {"bits_per_s": 1_000_000_000, "round_trip": round_trip_ns, "client_buffer": "8MiB", "server_buffer": "8MiB"},
        "protocol": {"max_transaction": "8MiB", "target_transaction": "8MiB"},
        "devices": [{"lun": {"rate": "700MB", "latency": "1400us"}}],
    });
    metric(&document, "copy.elapsed_s")
}

fn client() -> Value {
    json!({"name": "copy", "rw": "clientcopy", "bs": "1MiB", "size": "48MiB"})
}
fn server_side(chunks: u32) -> Value {
    json!({"name": "copy", "rw": "servercopy", "bs": "1MiB", "size": "48MiB", "copy": {"chunks_per_request": chunks}})
}
fn odx(range_mib: u32) -> Value {
    json!({"name": "copy", "rw": "odxcopy", "size": "48MiB", "copy": {"range": format!("{range_mib}MiB")}})
}

/// Round trips drawn evenly on a log scale from 0.1 to 50 ms, the same every time.
fn round_trips() -> impl Iterator<Item = u64> {
    let mut state: u64 = 20_210_402;
    (0..8).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let ns = (1e5 * 500f64.powf((state >> 11) as f64 / (1u64 << 53) as f64)) as u64;
        ns
    })
}

/// What the server needs for `bytes` in `requests` reads and as many writes.
fn server_s(bytes: f64, requests: f64) -> f64 {
    2.0 * (requests * 1.4e-3 + bytes / 700e6)
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.03, "{what}: {found} s against {expected} s");
}

#[test]
fn each_way_to_copy_takes_its_bytes_its_requests_and_its_round_trips() {
    let bytes = FILE * MIB;
    // Payload of a frame and what it occupies.
    let network_s = 2.0 * bytes / (1e9 / 8.0 * 1448.0 / 1538.0);
    for round_trip_ns in round_trips() {
        #[allow(clippy::cast_precision_loss)]
        let round_trip_s = round_trip_ns as f64 / 1e9;
        let trips = |count: f64| count * round_trip_s;
        assert_near(seconds(&client(), round_trip_ns), network_s + server_s(bytes, FILE) + trips(2.0 * FILE), "client");
        for chunks in [1, 16] {
            let expected = server_s(bytes, FILE) + trips(FILE / f64::from(chunks));
            assert_near(seconds(&server_side(chunks), round_trip_ns), expected, "server-side");
        }
        for range in [12, 48] {
            // Ranges of 12 MiB take a transaction of 8 MiB and one of 4.
            let requests = if range == 12 { 8.0 } else { 6.0 };
            let expected = server_s(bytes, requests) + trips(2.0 * FILE / f64::from(range));
            assert_near(seconds(&odx(range), round_trip_ns), expected, "odx");
        }
    }
}

#[test]
fn with_distance_odx_gains_on_the_client_and_one_chunk_in_a_request_loses_towards_two() {
    let mut sorted: Vec<u64> = round_trips().collect();
    sorted.sort_unstable();
    let ratios = |job: &Value| -> Vec<f64> { sorted.iter().map(|ns| seconds(&client(), *ns) / seconds(job, *ns)).collect() };
    let (offloaded, chunked) = (ratios(&odx(16)), ratios(&server_side(1)));
    assert!(offloaded.is_sorted(), "{offloaded:?}");
    assert!(chunked.iter().rev().is_sorted() && chunked.iter().all(|ratio| *ratio > 2.0), "{chunked:?}");
    assert!(!ratios(&server_side(16)).iter().rev().is_sorted(), "sixteen chunks in a request gain");
}

#[test]
fn credits_bound_the_requests_in_flight_and_too_few_are_refused() {
    let document = |credits: u32| {
        json!({
            "jobs": [{"name": "copy", "rw": "clientcopy", "bs": "1MiB", "size": "48MiB", "iodepth": 8}],
            "network": {"bits_per_s": 1_000_000_000, "round_trip": "20ms"},
            "protocol": {"max_transaction": "8MiB", "target_transaction": "8MiB", "credits": credits},
            "devices": [{"lun": {"rate": "10GB"}}],
        })
    };
    let (one, eight) = (metric(&document(16), "copy.elapsed_s"), metric(&document(128), "copy.elapsed_s"));
    assert!(one > 3.0 * eight, "{one} s with one request in flight, {eight} s with eight");
    let problems = seeklab_model::read(&document(15), &Presets::default()).expect_err("a request of 1 MiB takes 16 credits");
    assert_problem(&problems[0], "jobs[0].bs: 1 MiB");
}

#[test]
fn a_copy_that_carries_no_data_does_not_notice_the_link() {
    for job in [server_side(4), odx(16)] {
        let mut document = json!({
            "jobs": [job], "network": {"bits_per_s": 10_000_000, "round_trip": "1ms"},
            "protocol": {"max_transaction": "8MiB", "target_transaction": "8MiB"},
            "devices": [{"lun": {"rate": "700MB", "latency": "1400us"}}],
        });
        assert!(metric(&document, "network.to_server_payload_bytes").abs() < 0.5);
        let slow = metric(&document, "copy.elapsed_s");
        document["network"]["bits_per_s"] = 1_000_000_000.into();
        assert_near(slow, metric(&document, "copy.elapsed_s"), "ten megabits");
    }
}
