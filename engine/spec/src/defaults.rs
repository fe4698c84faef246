//! Defaults that several types share, as functions for serde.

pub(crate) fn one() -> u32 {
    1
}

pub(crate) fn enabled() -> bool {
    true
}
