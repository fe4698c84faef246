//! The engine's two borders in one module: classes for JavaScript (through wasm-bindgen) and plain `sl_*` exports
//! for hosts that only know WebAssembly (wasmtime).
//!
//! Nothing is decided here. Text crosses as JSON envelopes, `{"ok": value}` or
//! `{"errors": [{"path", "message", "nearest"?}]}`; columns cross as typed arrays.

mod js;
// The raw border packs a pointer and a length into 64 bits, which only holds where pointers have 32. Lints read it anywhere.
#[cfg(any(target_arch = "wasm32", clippy))]
mod raw;

use std::cell::RefCell;

use seeklab_api::Engine;

pub use js::{Run, call};

thread_local! {
    /// The engine of this instance of the module; its library is what the host gave it last.
    static ENGINE: RefCell<Engine> = RefCell::default();
}

/// An errors envelope for a mistake made at the border itself, before the engine is asked.
fn refusal(path: &str, message: &str) -> String {
    serde_json::json!({ "errors": [{ "path": path, "message": message }] }).to_string()
}
