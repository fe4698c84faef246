//! What the tests of layers share: a scenario run to its end, and what it found.

use serde_json::Value;

use crate::read;
use crate::stack::Stack;
use seeklab_spec::Presets;
pub use seeklab_spec::testing::{assert_has_problem, assert_problem, assert_problems, has_values};

/// Runs a scenario with seed 1 to its end.
pub fn run(document: &Value) -> Stack {
    let checked = read(document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, 1);
    while !stack.step(1 << 20).unwrap_or_else(|problem| panic!("{problem}")) {}
    assert_eq!(stack.in_flight(), 0, "requests are left in flight");
    stack
}

/// The value of a metric.
pub fn metric(stack: &Stack, name: &str) -> f64 {
    stack.metrics().into_iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no metric {name}")).value
}

/// What is wrong with a scenario: none when it is accepted.
pub fn problems(document: &Value) -> Vec<String> {
    read(document, &Presets::default()).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// Both are the same but for rounding.
pub fn assert_is(found: f64, expected: f64) {
    assert!((found - expected).abs() <= expected.abs() * 1e-9, "{found} is not {expected}");
}

/// `found` differs from `expected` by less than a share of it.
pub fn assert_within(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found} against {expected}");
}
