//! The SSD cache tier in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use seeklab_cache::PolicyKind;

use crate::reader::FromJson;
use crate::{Bytes, Ssd};

/// An SSD cache tier between the volume and its devices.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TierSpec {
    /// Capacity of the tier.
    #[schemars(title = "SSD tier", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// Jobs whose regions are in the tier when the run starts (in this order, as far as they fit).
    #[serde(default)]
    pub primed: Vec<String>,
    /// Jobs whose regions are evicted from the tier before the run starts.
    #[serde(default)]
    pub evicted: Vec<String>,
    /// Whether data read from the devices enter the tier.
    #[serde(default)]
    #[schemars(title = "Admit what is read")]
    pub admit: bool,
    /// Which block leaves when another needs its space.
    #[serde(default)]
    #[schemars(title = "Replacement policy")]
    pub policy: PolicyKind,
    /// The tier's device.
    pub ssd: Ssd,
}
