//! The partition of each device in a scenario: where it begins, and its physical block.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{AddProblem, Bytes, Nanos, Path, Problems};

/// A partition that begins at the same byte of each device.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionSpec {
    /// First byte of the partition on its device; any byte.
    #[schemars(title = "Partition start", extend("minimum" = 0, "maximum" = 1_125_899_906_842_624_u64, "x-step" = 512, "x-slider" = [0, 8192]))]
    pub start: Bytes,
    /// Physical block: the least that is written at once. A power of two.
    #[serde(default = "default_block")]
    #[schemars(title = "Physical block", extend("minimum" = 512, "maximum" = 1_048_576, "x-scale" = "log2"))]
    pub block: Bytes,
    /// Time of the processor to merge a write with the blocks that were read.
    #[serde(default)]
    #[schemars(title = "Merge", extend("maximum" = 1_000_000_000))]
    pub merge: Nanos,
    /// Whether partial blocks are read before they are written; without it they are written as if they were whole.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Read before write")]
    pub read_modify_write: bool,
    /// Whether partial blocks are written apart from the whole ones between them, as three writes in place of one.
    #[serde(default)]
    #[schemars(title = "Write partial blocks apart")]
    pub apart: bool,
}

fn default_block() -> Bytes {
    Bytes(4096)
}

/// Adds what is wrong with the partition at `at` beyond its schema; `smallest` is the capacity of the smallest device, in bytes.
pub fn check(spec: &PartitionSpec, smallest: u64, at: &Path, problems: &mut Problems) {
    if !spec.block.0.is_power_of_two() {
        problems.add(at.field("block"), format!("{} is not a power of two; write 512, 4KiB or 16KiB", spec.block.0));
    } else if usable(spec, smallest) == 0 {
        problems.add(
            at.field("start"),
            format!("{} lies beyond the device, which holds {smallest} bytes; write a smaller start", spec.start.0),
        );
    }
}

/// Bytes of a device that its partition has: whole blocks, from the start on.
#[must_use]
pub fn usable(spec: &PartitionSpec, capacity: u64) -> u64 {
    (capacity / spec.block.0 * spec.block.0).saturating_sub(spec.start.0)
}
