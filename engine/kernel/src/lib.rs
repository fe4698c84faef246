//! The discrete-event kernel: a clock with the events that wait for it, random streams, a slab, a fingerprint. No word of storage.
//!
//! How a run proceeds:
//! 1. Participants post events, either for the present ([`Clock::post`]) or for a later time ([`Clock::post_at`]).
//! 2. [`Clock::advance`] hands out the earliest event, ordered by (time, sequence), and moves the clock to it.
//! 3. The caller delivers its payload, which posts further events.
//! 4. The run ends when no event is left.
//!
//! Time is `u64` nanoseconds. Events for the present bypass the heap through a FIFO queue; the sequence number
//! keeps the order strict across both.

#![forbid(unsafe_code)]

mod clock;
mod fifo;
mod fingerprint;
mod queue;
mod random;
mod slab;

pub use clock::Clock;
pub use fifo::Fifo;
pub use fingerprint::Fingerprint;
pub use queue::{Event, EventQueue};
pub use random::Stream;
pub use slab::Slab;

/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;
