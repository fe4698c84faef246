//! The layers of the stack, in the order in which a request meets them on its way down. Each may be absent.

pub mod client;
pub mod cluster;
pub mod commit;
pub mod controller;
pub mod device;
pub mod fanout;
pub mod fleet;
pub mod layout;
pub mod network;
pub mod page_cache;
pub mod protocol;
pub mod raid_cache;
pub mod server;
pub mod tier;
pub mod volume;
pub mod workload;
pub mod zfs;

use crate::kernel::{Event, Kernel};

/// A layer of the stack: what it does with an event, what it holds. The stack knows layers by this alone, but for what they
/// report; adding one touches its folder, its specification and the list in [`crate::stack`].
pub trait Layer {
    /// Handles an event. `part` says which of the layer's parts it is for: the machine of a client, the device of a partition.
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event);

    /// Sets what happens without anybody's request, before the run begins.
    fn start(&mut self, _: &mut Kernel) {}

    /// Whether the layer waits for an answer of the engine's host; then the run pauses.
    fn asks(&self) -> bool {
        false
    }

    /// Bytes of memory that grow with the run.
    fn memory_bytes(&self) -> u64 {
        0
    }
}
