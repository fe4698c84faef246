//! The effect of a power failure on a write cache.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;

/// Behaviour of a write cache at a power failure, and at FLUSH and FUA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, FromJson, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Persistence {
    /// Lost when the power fails. FLUSH writes all of it to the media; a write with FUA completes on the media.
    #[default]
    Volatile,
    /// Kept by a battery or by capacitors. Cached writes are safe, and FLUSH and FUA do not wait.
    Protected,
    /// Lost when the power fails, and FLUSH does nothing; synchronous jobs are refused.
    Unflushable,
}

impl Persistence {
    /// Return whether a power failure loses the contents.
    #[must_use]
    pub fn is_volatile(self) -> bool {
        self != Self::Protected
    }
}
