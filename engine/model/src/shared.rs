//! Resources that requests share in order of arrival, such as a bus.

/// A resource that serves one request after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shared {
    free_ns: u64,
}

impl Shared {
    /// Takes it for `ns`, from `now_ns` on or after all requests before; returns the end of that time.
    #[inline]
    pub fn take(&mut self, now_ns: u64, ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(now_ns).saturating_add(ns);
        self.free_ns
    }
}
