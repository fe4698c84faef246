//! Reads: what is dirty or on its way to the devices comes from memory, everything else from below.
//!
//! Left out (so far): pages that stay in memory once they are clean, and read-ahead.

use super::{HERE, PageCache, Timer, pages_of};
use crate::kernel::{Kernel, Phase, RequestId};
use crate::layers::device::transfer_ns;

impl PageCache {
    /// A read arrives.
    pub(super) fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        if self.pages.hold_all(pages_of(request.offset, request.bytes)) {
            kernel.requests[id].cached_bytes = clamp(request.bytes);
            let ready_ns = kernel.now_ns() + transfer_ns(request.bytes, self.spec.memory_rate.0);
            return kernel.wake_at(ready_ns, HERE, Timer::Read(id));
        }
        kernel.requests[id].missed_bytes = clamp(request.bytes);
        let child = kernel.open_child(id, HERE, request.offset, request.bytes);
        kernel.submit(self.below, child);
    }

    /// A read from below has come.
    pub(super) fn fetched(kernel: &mut Kernel, child: RequestId) {
        if let Some(read) = kernel.join(child) {
            kernel.complete(read);
        }
    }

    /// A read has been copied out of memory.
    pub(super) fn copied_out(kernel: &mut Kernel, id: RequestId) {
        kernel.charge(id, Phase::Memory);
        kernel.complete(id);
    }
}

/// Bytes of one request as they are kept in its slot; requests are checked to be at most 1 GiB.
fn clamp(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
