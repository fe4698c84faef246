//! Pools drawn at random: no test of any of them does more than the least of its bounds, which are computed without the engine.

use proptest::prelude::*;
use seeklab_library::Library;
use seeklab_model::stack::Stack;
use serde_json::{Value, json};

use crate::support;

/// What a run may exceed a bound by: windows begin and end within requests.
const SLACK: f64 = 1.02;
/// Of the rate of a stream, which is told of the middle of the stroke: files lie further out, where a disk is up to a fifth faster.
const SLACK_OF_STREAMS: f64 = 1.2;
const STREAMS: [&str; 3] = ["1-stream-cold", "3-streams-cold", "9-sync-writes"];

fn design() -> impl Strategy<Value = Value> {
    let groups = prop_oneof![Just((1u64, 0u64)), Just((2, 0)), Just((3, 0)), Just((5, 1)), Just((8, 2))];
    let parts = (1u64..9, prop_oneof![Just(8u64), Just(32), Just(128)], 1u64..17, 0u64..3, 0u64..3);
    let rates = (1u64..17, prop_oneof![Just(1u64), Just(10)], prop_oneof![Just(1u64), Just(10), Just(40)]);
    (groups, parts, rates).prop_map(
        |((width, parity), (groups, record_kib, memory, read_ssds, log_ssds), (cores, client_gbit, server_gbit))| {
            json!({
                "disks": width * groups, "width": width, "parity": parity, "record_kib": record_kib, "memory_gib": memory * 4,
                "read_ssds": read_ssds, "log_ssds": log_ssds, "cores": cores, "client_gbit": client_gbit, "server_gbit": server_gbit,
                "working_set_gib": 64,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn no_test_of_a_pool_does_more_than_what_binds_it(design in design(), seed in 0u64..1000) {
        let answer: Value = serde_json::from_str(&support::engine().call("design", &design.to_string())).expect("JSON");
        let tests = answer["ok"]["tests"].as_array().unwrap_or_else(|| panic!("{answer} for {design}"));
        let library = Library::of_checkout().expect("the checkout's cases");
        let case = library.case("eleven-metrics").expect("a case");
        for test in tests {
            let set = test["set"].as_object().expect("changes");
            let scenario = case.scenario(test["variant"].as_str(), set, library.presets()).unwrap_or_else(|problems| panic!("{problems:?} in {design}"));
            let mut stack = Stack::new(scenario, seed);
            while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem} in {design}, {}", test["name"])) {}
            let metrics = stack.metrics();
            let found = metrics.iter().find(|metric| test["metric"] == metric.name.as_str()).map_or(0.0, |metric| metric.value);
            let least = test["bounds"][0]["most"].as_f64().unwrap_or(0.0);
            let is_stream = STREAMS.iter().any(|name| test["name"] == *name) && test["bounds"][0]["what"] == "disks";
            let slack = SLACK * if is_stream { SLACK_OF_STREAMS } else { 1.0 };
            prop_assert!(found > 0.0 && found <= least * slack, "{}: {found} of {} in {design}", test["name"], test["bounds"][0]);
        }
    }
}
