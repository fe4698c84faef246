//! Defaults that several types share, as functions for serde.

use crate::Bytes;

/// A zone of shingled disks.
pub(crate) fn zone() -> Bytes {
    Bytes(256 << 20)
}

pub(crate) fn one() -> u32 {
    1
}

pub(crate) fn enabled() -> bool {
    true
}
