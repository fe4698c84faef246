//! One direction of a link: first in, first out.

use crate::layers::device::transfer_ns;

/// One direction of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    bits_per_s: u64,
    pub free_ns: u64,
    busy_ns: u64,
    pub wire_bytes: u64,
}

impl Link {
    pub fn new(bits_per_s: u64) -> Self {
        Self { bits_per_s, ..Self::default() }
    }

    pub fn work_ns(&self, wire_bytes: u64) -> u64 {
        transfer_ns(wire_bytes.saturating_mul(8), self.bits_per_s)
    }

    /// Time that it was busy. What it has taken and not begun or finished lies without a gap before `free_ns`.
    pub fn busy_until(&self, now_ns: u64) -> u64 {
        self.busy_ns.saturating_sub(self.free_ns.saturating_sub(now_ns))
    }

    /// Takes the link for `wire_bytes` as soon as it is free. Returns when it begins and ends.
    pub fn take(&mut self, now_ns: u64, wire_bytes: u64) -> (u64, u64) {
        let work_ns = self.work_ns(wire_bytes);
        let start_ns = self.free_ns.max(now_ns);
        self.free_ns = start_ns + work_ns;
        self.busy_ns += work_ns;
        self.wire_bytes += wire_bytes;
        (start_ns, self.free_ns)
    }
}
