//! The rebuild in a scenario: onto how many spares, how much of it at once, how fast, and how much there is to rebuild.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Extent, Nanos};

/// Rebuilding of failed devices onto spares.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RebuildSpec {
    /// Spares, each the equal of the device whose place (and index) it takes. Devices are rebuilt in the order of `failed`; those
    /// beyond the spares stay lost.
    #[schemars(title = "Spares", range(min = 1, max = 16))]
    pub spares: u32,
    /// When the spares are put in place.
    #[schemars(title = "Rebuild starts at")]
    pub at: Nanos,
    /// Chunks that are read or written at the same time.
    #[schemars(title = "Rebuild in flight", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub in_flight: u32,
    /// Bytes of a group's data that are rebuilt together, in whole units of the layout.
    #[schemars(title = "Rebuild chunk", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub chunk: Bytes,
    /// Most bytes per second that are written to the spares together; as fast as the devices are when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rebuild rate", extend("minimum" = 1024, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub rate: Option<Bytes>,
    /// Order in which chunks are rebuilt.
    #[schemars(title = "Rebuild order")]
    pub order: RebuildOrder,
    /// With order "time": ages of the data, each spread evenly over the whole space. The rebuild goes over the devices once for each.
    #[schemars(title = "Passes", range(min = 1, max = 100_000), extend("x-scale" = "log2"))]
    pub passes: u32,
    /// With order "time": bytes of a group's data whose places are gathered and sorted by address before they are rebuilt; each chunk is
    /// rebuilt as it is found when 0.
    #[schemars(title = "Sorted together")]
    pub sorted: Bytes,
    /// How much of the address space is in use, from its start; nothing else is rebuilt.
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

/// Order in which the chunks of a rebuild are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RebuildOrder {
    /// From the first address to the last.
    #[default]
    Address,
    /// From the oldest data to the youngest, wherever they lie.
    Time,
}
