//! The checkout's library, read once for all tests of a program.

use std::sync::OnceLock;

use seeklab_library::Library;
use seeklab_model::Checked;
use seeklab_spec::Problems;
use serde_json::Value;

pub fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::of_checkout().unwrap_or_else(|problems| panic!("{problems:?}")))
}

/// A scenario with the presets of the checkout.
pub fn read(document: &Value) -> Result<Checked, Problems> {
    seeklab_model::read(document, library().presets())
}
