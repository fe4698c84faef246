//! A range of addresses.

/// A range of bytes of an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// First byte after it.
    pub end: u64,
}
