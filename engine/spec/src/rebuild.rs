//! The rebuild in a scenario: spares, parallelism, rate and amount of data.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Extent, Nanos};

/// Rebuild of failed devices onto spares.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RebuildSpec {
    /// Number of spares. Each equals the device that it replaces and takes its index. Devices are rebuilt in the order of `failed`; those
    /// without a spare stay lost.
    #[schemars(title = "Spares", range(min = 1, max = 16))]
    pub spares: u32,
    /// Time when the spares are installed.
    #[schemars(title = "Rebuild starts at")]
    pub at: Nanos,
    /// Chunks that are read or written at the same time.
    #[schemars(title = "Rebuild in flight", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub in_flight: u32,
    /// Bytes of a group's data that are rebuilt together, in whole layout units.
    #[schemars(title = "Rebuild chunk", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub chunk: Bytes,
    /// Maximum bytes per second written to all spares together. Default: as fast as the devices allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rebuild rate", extend("minimum" = 1024, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub rate: Option<Bytes>,
    /// Order of rebuilding chunks.
    #[schemars(title = "Rebuild order")]
    pub order: RebuildOrder,
    /// Number of ages of the data, with order "time". Each age is spread evenly over the whole space, and the rebuild scans the devices
    /// once for each.
    #[schemars(title = "Passes", range(min = 1, max = 100_000), extend("x-scale" = "log2"))]
    pub passes: u32,
    /// Bytes of a group's data that are collected and sorted by address before they are rebuilt, with order "time". 0 rebuilds each chunk
    /// as soon as it is found.
    #[schemars(title = "Sort buffer")]
    pub sorted: Bytes,
    /// Part of the address space that is in use, from its start. The rest is not rebuilt.
    #[schemars(title = "In use")]
    pub used: Extent,
}

impl Default for RebuildSpec {
    fn default() -> Self {
        Self {
            spares: 1,
            at: Nanos(0),
            in_flight: 4,
            chunk: Bytes(1 << 20),
            rate: None,
            used: Extent::Percent(100.0),
            order: RebuildOrder::default(),
            passes: 1,
            sorted: Bytes(0),
        }
    }
}

/// Order of the chunks of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RebuildOrder {
    /// From the first address to the last.
    #[default]
    Address,
    /// From the oldest data to the newest, at any address.
    Time,
}
