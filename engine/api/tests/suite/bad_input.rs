//! Input that is no scenario, no trace and no request: each answered in a sentence, none with a panic.

use serde_json::{Value, json};

use crate::support;

fn first_problem(envelope: &str) -> (String, String) {
    let answer: Value = serde_json::from_str(envelope).expect("an envelope is JSON");
    let problem = &answer["errors"][0];
    let text = |name: &str| problem[name].as_str().unwrap_or_else(|| panic!("{envelope}")).to_owned();
    (text("path"), text("message"))
}

fn refused_call(name: &str, input: &str) -> (String, String) {
    first_problem(&support::engine().call(name, input))
}

fn refused_run(input: &Value) -> (String, String) {
    first_problem(&support::engine().open(&input.to_string()).err().expect("refused"))
}

#[test]
fn a_null_seed_is_no_seed() {
    let (path, message) = refused_run(&json!({"case": "odx-prefetch", "seed": null}));
    assert_eq!((path.as_str(), message.starts_with("null is not a seed; write a whole number")), ("seed", true), "{message}");
}

#[test]
fn lists_nested_three_thousand_deep_are_answered_in_a_sentence() {
    let input = format!("{{\"scenario\": {}{}}}", "[".repeat(3000), "]".repeat(3000));
    let (path, message) = refused_call("validate", &input);
    assert_eq!(path, "input");
    assert!(message.starts_with("lists and objects are nested more than 127 deep"), "{message}");
}

#[test]
fn a_path_of_two_thousand_parts_is_answered_in_a_sentence() {
    let path = vec!["zfs"; 2000].join(".");
    let (at, message) = refused_run(&json!({"case": "odx-prefetch", "set": {path: 1}}));
    assert!(at.len() < 60 && message == "has 2000 steps; a path has at most 30", "{at}: {message}");
}

#[test]
fn a_cache_trace_without_a_request_is_refused() {
    for trace in ["", "\n\n", "\u{feff}", "time,object,size\n"] {
        let (_, message) = refused_call("cache", &json!({"trace": trace, "policies": ["lru"], "sizes": [1]}).to_string());
        assert!(message.contains("no request"), "{trace:?}: {message}");
        let (_, message) = refused_run(&json!({"cache": {"trace": trace, "size": 1}}));
        assert!(message.contains("no request"), "{trace:?}: {message}");
    }
}

#[test]
fn a_job_name_with_a_control_character_is_refused() {
    let scenario = json!({"jobs": [{"name": "a\u{0}b", "size": "1GiB"}], "devices": [{"lun": {"rate": "100MB"}}]});
    let (path, message) = refused_run(&json!({"scenario": scenario}));
    assert_eq!(
        (path.as_str(), message.as_str()),
        ("jobs[0].name", "contains the control character U+0000; write letters, digits and signs")
    );
}

#[test]
fn changes_of_a_case_do_not_go_with_a_whole_scenario() {
    let scenario = json!({"jobs": [{"size": "1MiB"}], "devices": [{"lun": {"rate": "100MB"}}]});
    for name in ["case", "variant", "set"] {
        let (path, message) = refused_run(&json!({"scenario": scenario, name: {}}));
        assert_eq!((path.as_str(), message.starts_with("needs a case")), (name, true), "{message}");
    }
}
