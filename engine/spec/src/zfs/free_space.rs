//! The free space of a pool in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;

/// A pool that holds other data, so that new data go into the holes between them.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeSpaceSpec {
    /// Part of the pool that is in use, as `zpool list` prints it (CAP).
    #[schemars(title = "Capacity in use", range(min = 0, max = 99), extend("x-unit" = "%"))]
    pub used: f64,
    /// Fragmentation of the free space, as `zpool list` prints it (FRAG): 50% means holes of about 128 KiB; 10% less means holes of about
    /// twice the length.
    #[schemars(title = "Fragmentation of free space", range(min = 2, max = 95), extend("x-unit" = "%"))]
    pub fragmentation: f64,
}
