//! Hits and misses, counted.

use schemars::JsonSchema;
use serde::Serialize;

/// The counts of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HitCounts {
    /// Requests.
    pub requests: u64,
    /// Requests whose object was in the cache.
    pub hits: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Bytes asked for by requests that hit.
    pub hit_bytes: u64,
}

impl HitCounts {
    /// Counts a request.
    #[inline]
    pub fn count(&mut self, size: u64, hit: bool) {
        self.requests += 1;
        self.bytes += size;
        self.hits += u64::from(hit);
        self.hit_bytes += if hit { size } else { 0 };
    }

    /// Share of the requests that missed, 0 to 1; 0 when there was none.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    pub fn miss_ratio(&self) -> f64 {
        if self.requests == 0 { 0.0 } else { (self.requests - self.hits) as f64 / self.requests as f64 }
    }
}
