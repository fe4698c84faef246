//! The I/O scheduler above each leaf device: which request goes to the device next, and how many are there at once.
//!
//! [`deadline`] is the queue before 2013: every request has a deadline by its class, a fixed number is in flight. [`active`] is
//! the one since: each class has a minimum and a maximum in flight, and the maximum of asynchronous writes follows the dirty
//! data. Both merge neighbours into one request ([`aggregate`]).

pub mod active;
pub mod aggregate;
pub mod deadline;

use seeklab_spec::Op;

/// The number of classes.
pub const CLASSES: usize = 9;

/// The class of a request, in order of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// A read that a client waits for.
    SyncRead,
    /// A write that a client waits for: the intent log.
    SyncWrite,
    /// A prefetch.
    AsyncRead,
    /// A transaction group being written out.
    AsyncWrite,
    /// Scrub and resilver.
    Scrub,
    /// Removal of a device.
    Removal,
    /// Initialising a device.
    Initializing,
    /// Discarding freed space.
    Trim,
    /// Sequential rebuild.
    Rebuild,
}

impl Class {
    /// All classes in order of priority.
    pub const ALL: [Self; CLASSES] = [
        Self::SyncRead,
        Self::SyncWrite,
        Self::AsyncRead,
        Self::AsyncWrite,
        Self::Scrub,
        Self::Removal,
        Self::Initializing,
        Self::Trim,
        Self::Rebuild,
    ];

    /// Whether its requests leave oldest first; the others leave in order of their offset.
    #[must_use]
    pub fn is_fifo(self) -> bool {
        matches!(self, Self::SyncRead | Self::SyncWrite | Self::Trim)
    }

    /// Whether it is the pool's own work, which no client waits for.
    #[must_use]
    pub fn is_background(self) -> bool {
        matches!(self, Self::Scrub | Self::Removal | Self::Initializing | Self::Rebuild)
    }
}

/// A request in a scheduler's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Class of the request.
    pub class: Class,
    /// Direction.
    pub op: Op,
    /// Start on the device, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// The owner's number for it.
    pub token: u32,
    /// Deadline in units of the deadline queue, which sets it.
    pub due: u64,
}

impl Io {
    /// Its end on the device, in bytes.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

/// A request to the device, or several neighbours as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The class that it counts for.
    pub class: Class,
    /// Direction.
    pub op: Op,
    /// Start on the device, in bytes.
    pub offset: u64,
    /// Length in bytes, gaps included.
    pub bytes: u64,
}
