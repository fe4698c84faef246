//! An object in a store, and its place there.

/// Place of an entry. It stays the same while the object is in the cache, so a caller may keep marks of its own by slot.
pub type Slot = u32;

/// No slot.
pub const NONE: Slot = Slot::MAX;

/// An object that a policy knows: in the cache, or remembered after its eviction (a *ghost*).
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its key.
    pub key: u64,
    /// The size it was admitted with.
    pub size: u64,
    pub(crate) newer: Slot,
    pub(crate) older: Slot,
    /// A policy's number for it: uses so far, or a bucket.
    pub(crate) count: u32,
    /// The list that it is in, as the policy numbers them.
    pub list: u8,
    /// In the cache, not a ghost.
    pub(crate) resident: bool,
}
