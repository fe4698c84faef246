//! An engine with the checkout's library.

use seeklab_api::Engine;
use seeklab_library::Library;

pub fn engine() -> Engine {
    Engine::new(Library::of_checkout().unwrap_or_else(|problems| panic!("{problems:?}")))
}
