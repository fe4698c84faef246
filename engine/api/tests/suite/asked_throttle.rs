//! The question protocol of the throttle that the engine's host decides.
#![allow(clippy::float_cmp)] // progress takes a few exact values

use seeklab_api::Run;
use seeklab_model::stack::Stack;
use seeklab_spec::Presets;
use serde_json::{Value, json};

use crate::support;

fn system() -> Value {
    json!({
        "zfs": {"throttle": "asked", "dirty_data_max": "8MiB", "memory": "1GiB"},
        "devices": [{"lun": {"rate": "50MB"}}],
        "jobs": [{"name": "writers", "rw": "write", "bs": "128KiB", "numjobs": 3, "size": "32MiB", "number_ios": 50}],
    })
}

fn ok(envelope: &str) -> Value {
    let answer: Value = serde_json::from_str(envelope).expect("JSON");
    answer.get("ok").unwrap_or_else(|| panic!("{envelope}")).clone()
}

fn open() -> Run {
    support::engine().open(&json!({"scenario": system(), "answers": "delays"}).to_string()).unwrap_or_else(|envelope| panic!("{envelope}"))
}

#[test]
fn a_refused_answer_leaves_the_question_standing() {
    let mut run = open();
    assert!(run.answer(r#"{"delay_ns": 0}"#).contains(r#""path":"answer""#));
    while run.step(1) != 2.0 {}
    let question = run.question();
    for nonsense in [json!({}), json!({"delay_ns": -1}), json!({"delay_ns": 1.5}), json!({"delay_ns": 60_000_000_001_u64})] {
        assert!(run.answer(&nonsense.to_string()).contains("delay_ns"), "{nonsense}");
    }
    assert_eq!(run.step(1000), 2.0, "no time passes before the answer");
    assert_eq!(run.question(), question);
}

#[test]
fn one_call_for_each_question_gives_the_run_of_three() {
    let mut one = open();
    while one.step(1) != 2.0 {}
    loop {
        let answer = ok(&one.answer(r#"{"delay_ns": 3000000, "events": 1000000}"#));
        assert_eq!(answer["question"].is_null(), answer["progress"] != 2.0);
        if answer["progress"] == 1.0 {
            break;
        }
    }
    let mut three = open();
    let mut questions = 0;
    loop {
        match three.step(7) {
            2.0 => {
                questions += 1;
                assert!(ok(&three.question())["limit_bytes"] == 8 << 20);
                assert!(ok(&three.answer(r#"{"delay_ns": 3000000}"#)).is_null());
            }
            1.0 => break,
            _ => {}
        }
    }
    assert_eq!(questions, 150, "every write asks once");
    let (one, three) = (ok(&one.summary()), ok(&three.summary()));
    assert_eq!(one["fingerprint"], three["fingerprint"]);
    assert_eq!(three["metrics"]["zfs_delayed_writes"], 150.0);
    assert_eq!(three["metrics"]["zfs_delay_total_s"], 0.45);
}

#[test]
fn a_host_that_does_not_answer_is_told_so() {
    let refused = support::engine().open(&json!({"scenario": system()}).to_string()).err().expect("nobody answers");
    assert!(refused.contains("zfs.throttle"), "{refused}");
    let mut stack = Stack::new(seeklab_model::read(&system(), &Presets::default()).expect("a scenario"), 1);
    assert!(!stack.step(1 << 20).expect("it stops at the question"));
    assert!(stack.step(1).expect_err("and does not go on").message.contains("host"));
}
