//! Input that is no scenario, no trace and no request: each answered in a sentence, none with a panic.

use seeklab_spec::testing::{assert_problem, has_values};
use serde_json::{Value, json};

use crate::support;

fn refused_call(name: &str, input: &str) -> String {
    support::errors(&support::engine().call(name, input)).swap_remove(0)
}

fn refused_run(input: &Value) -> String {
    support::errors(&support::engine().open(&input.to_string()).err().expect("refused")).swap_remove(0)
}

#[test]
fn a_null_seed_is_no_seed() {
    assert_problem(refused_run(&json!({"case": "odx-prefetch", "seed": null})), "seed: null");
}

#[test]
fn lists_nested_three_thousand_deep_are_answered_in_a_sentence() {
    let input = format!("{{\"scenario\": {}{}}}", "[".repeat(3000), "]".repeat(3000));
    assert_problem(refused_call("validate", &input), "input: 127");
}

#[test]
fn a_path_of_two_thousand_parts_is_answered_in_a_sentence() {
    let path = vec!["zfs"; 2000].join(".");
    let problem = refused_run(&json!({"case": "odx-prefetch", "set": {path: 1}}));
    let (at, message) = problem.split_once(": ").expect("a path and a message");
    assert!(at.len() < 60 && has_values(message, "2000, 30"), "{problem}");
}

#[test]
fn a_cache_trace_without_a_request_is_refused() {
    for trace in ["", "\n\n", "\u{feff}", "time,object,size\n"] {
        let call = refused_call("cache", &json!({"trace": trace, "policies": ["lru"], "sizes": [1]}).to_string());
        for problem in [call, refused_run(&json!({"cache": {"trace": trace, "size": 1}}))] {
            assert_problem(problem, "trace: time,object,size");
        }
    }
}

#[test]
fn a_job_name_with_a_control_character_is_refused() {
    let scenario = json!({"jobs": [{"name": "a\u{0}b", "size": "1GiB"}], "devices": [{"lun": {"rate": "100MB"}}]});
    assert_problem(refused_run(&json!({"scenario": scenario})), "jobs[0].name: U+0000");
}

#[test]
fn changes_of_a_case_do_not_go_with_a_whole_scenario() {
    let scenario = json!({"jobs": [{"size": "1MiB"}], "devices": [{"lun": {"rate": "100MB"}}]});
    for name in ["case", "variant", "set"] {
        assert_problem(refused_run(&json!({"scenario": scenario, name: {}})), &format!("{name}: case, scenario"));
    }
}
