//! Defaults that several types share, as functions for serde.

use crate::Bytes;

pub(crate) fn zone() -> Bytes {
    crate::access::ZONE
}

pub(crate) fn one() -> u32 {
    1
}

pub(crate) fn enabled() -> bool {
    true
}
