//! A drive that is described only by its SLC cache, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// An SLC cache in front of cells with several bits. Writes go to cells that hold one bit, at the unit's rate, while such cells are free.
/// Then they continue at `direct_rate`. The unit's capacity counts all cells at full density.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slc {
    /// Minimum size of the cache.
    #[schemars(title = "Static cache", extend("minimum" = 0, "maximum" = 109_951_162_777_600_u64, "x-scale" = "log2"))]
    pub fixed: Bytes,
    /// Share of the cells of an empty drive that the cache can use.
    #[serde(default = "half")]
    #[schemars(title = "Share of cells lent", range(min = 0.0, max = 1.0))]
    pub lend: f64,
    /// Bits of a cell at full density. In the cache, a cell holds one bit.
    #[serde(default = "four")]
    #[schemars(title = "Bits of a cell", range(min = 2, max = 8))]
    pub bits: u32,
    /// The cache borrows fewer cells as the drive fills: the borrowed part shrinks linearly and reaches zero when this share of the
    /// capacity is written at full density.
    #[serde(default = "three_quarters")]
    #[schemars(title = "Nothing lent from", range(min = 0.01, max = 1.0))]
    pub zero_at: f64,
    /// Rate of writes that do not fit into the cache, in bytes per second.
    #[schemars(title = "Rate beyond the cache", extend("minimum" = 1, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub direct_rate: Bytes,
    /// The idle drive's rate of moving data from the cache to full density, in bytes per second. 0 disables it.
    #[schemars(title = "Folding rate", extend("minimum" = 0, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub fold_rate: Bytes,
    /// Time without writes after which folding starts. A write interrupts it.
    #[serde(default = "a_second")]
    #[schemars(title = "Folds after", extend("minimum" = 0, "maximum" = 3_600_000_000_000_u64))]
    pub fold_after: Nanos,
    /// Share of the capacity that holds data at full density at the start, at the end of the address space.
    #[serde(default)]
    #[schemars(title = "Full at the start", range(min = 0.0, max = 1.0))]
    pub full: f64,
}

fn half() -> f64 {
    0.5
}
fn four() -> u32 {
    4
}
fn three_quarters() -> f64 {
    0.75
}
fn a_second() -> Nanos {
    Nanos(1_000_000_000)
}
