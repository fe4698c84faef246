//! Goodput of synchronised reads, as computed apart from this engine by the same rules: 12 blocks of 1 MB, means of six seeds.
//!
//! One random stream differs from another, and with timers of 200 ms a few timeouts more or less are a quarter of the goodput. Between
//! 5 and 8 servers a run is a lottery: nothing is held there with blocks of 1 MB. With timers of 200 us, shorter than the port's queue,
//! much hangs on which acknowledgements are taken for samples of the round trip: see [`super::sender`].

use serde_json::{Value, json};

use crate::read;
use crate::stack::Stack;
use crate::testing::assert_within;
use seeklab_spec::Presets;

/// 1 MB in whole sectors.
const BLOCK_BYTES: u64 = 999_936;

/// A client that reads blocks, one after the other, from servers that have them in memory.
pub fn blocks(servers: u64, block_bytes: u64, count: u64, packets: &Value) -> Value {
    let mut whole = json!({"servers": servers});
    for (name, value) in packets.as_object().expect("an object") {
        whole[name] = value.clone();
    }
    json!({
        "jobs": [{"name": "client", "rw": "read", "bs": block_bytes, "size": block_bytes * count, "number_ios": count}],
        "network": {"bits_per_s": 1_000_000_000, "round_trip": "100us", "time_stamps": false, "header": 0, "packets": whole},
        "devices": [{"lun": {"rate": 1_000_000_000_000u64}}],
        "record": {"log": false},
    })
}

/// Metrics of runs with seeds 1 to 6.
pub fn each_seed(document: &Value, name: &str) -> Vec<f64> {
    let of_seed = |seed| {
        let mut stack = Stack::new(read(document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}")), seed);
        while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
        assert_eq!(stack.in_flight(), 0, "requests are left in flight");
        stack.metrics().into_iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
    };
    (1..=6).map(of_seed).collect()
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / 6.0
}

/// Holds the goodput of some numbers of servers against their vectors, in Mbit/s.
fn assert_row(block_of: impl Fn(u64) -> u64, rto_min: &str, row: &[(u64, f64, f64)]) {
    for (servers, expected, share) in row {
        let found = each_seed(&blocks(*servers, block_of(*servers), 12, &json!({"rto_min": rto_min})), "network.goodput_mbit_per_s");
        println!("{rto_min}, {servers} servers: {:.1} of {found:.1?} against {expected}", mean(&found));
        assert_within(mean(&found), *expected, *share);
    }
}

#[test]
fn a_timer_of_200_ms_lets_16_servers_send_a_fifteenth_of_what_4_send() {
    assert_row(|_| BLOCK_BYTES, "200ms", &[(1, 934.6, 0.003), (2, 935.5, 0.003), (4, 935.8, 0.003)]);
    assert_row(|_| BLOCK_BYTES, "200ms", &[(12, 51.6, 0.25), (16, 58.1, 0.25), (32, 20.3, 0.25), (64, 13.3, 0.25)]);
}

#[test]
fn a_timer_of_1_ms_restores_most_of_it() {
    assert_row(
        |_| BLOCK_BYTES,
        "1ms",
        &[(4, 933.0, 0.003), (8, 930.0, 0.12), (12, 907.0, 0.12), (16, 872.0, 0.12), (32, 788.0, 0.12), (64, 673.0, 0.12)],
    );
}

#[test]
fn a_timer_of_200_us_does_not_do_better() {
    assert_row(
        |_| BLOCK_BYTES,
        "200us",
        &[(4, 935.0, 0.003), (8, 930.0, 0.12), (12, 900.0, 0.12), (16, 845.0, 0.12), (32, 666.0, 0.12), (64, 562.0, 0.12)],
    );
}

#[test]
fn pieces_of_256000_bytes_collapse_as_blocks_of_one_size_do() {
    assert_row(|servers| 256_000 * servers, "200ms", &[(4, 936.0, 0.003), (8, 129.5, 0.25), (16, 147.7, 0.25), (32, 94.7, 0.25)]);
}
