//! The scrub of a pool in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Extent, Nanos};

/// A scrub: all copies and all parity of the data in use are read while clients are served.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScrubSpec {
    /// Time when it starts.
    #[schemars(title = "Scrub starts at")]
    pub at: Nanos,
    /// Part of the address space that is in use, from its start.
    #[schemars(title = "In use")]
    pub used: Extent,
    /// Bytes in flight for each data disk (`zfs_scan_vdev_limit`). Default: the version's, 4 MiB, or 16 MiB from 2.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "zfs_scan_vdev_limit", extend("minimum" = 131_072, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub in_flight: Option<Bytes>,
}

impl Default for ScrubSpec {
    fn default() -> Self {
        Self { at: Nanos(0), used: Extent::Percent(100.0), in_flight: None }
    }
}
