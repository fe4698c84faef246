//! An engine with the checkout's library.

use seeklab_api::Engine;
use seeklab_library::Library;
use serde_json::Value;

pub fn engine() -> Engine {
    Engine::new(Library::of_checkout().unwrap_or_else(|problems| panic!("{problems:?}")))
}

/// The errors of an answer, each as `path: message`.
pub fn errors(envelope: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(envelope).expect("JSON");
    let text = |error: &Value| format!("{}: {}", error["path"].as_str().expect("a path"), error["message"].as_str().expect("a message"));
    answer["errors"].as_array().unwrap_or_else(|| panic!("{envelope}")).iter().map(text).collect()
}
