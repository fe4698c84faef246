//! The partition of each device in a scenario: its start and its physical block.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{AddProblem, Bytes, Nanos, Path, Problems};

/// A partition with the same start on each device.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionSpec {
    /// First byte of the partition on its device. Any byte is valid.
    #[schemars(title = "Partition start", extend("minimum" = 0, "maximum" = 1_125_899_906_842_624_u64, "x-step" = 512, "x-slider" = [0, 8192]))]
    pub start: Bytes,
    /// Physical block: the smallest unit that the device writes. A power of two.
    #[serde(default = "default_block")]
    #[schemars(title = "Physical block", extend("minimum" = 512, "maximum" = 1_048_576, "x-scale" = "log2"))]
    pub block: Bytes,
    /// CPU time to merge a write with the blocks that were read.
    #[serde(default)]
    #[schemars(title = "Merge", extend("maximum" = 1_000_000_000))]
    pub merge: Nanos,
    /// Whether partial blocks are read before they are written. Otherwise they are written as if they were whole.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Read before write")]
    pub read_modify_write: bool,
    /// Whether partial blocks are written separately from the whole blocks between them, as three writes instead of one.
    #[serde(default)]
    #[schemars(title = "Split partial blocks")]
    pub apart: bool,
}

fn default_block() -> Bytes {
    Bytes(4096)
}

/// Check the partition at `at` beyond its schema. `smallest` is the capacity of the smallest device, in bytes.
pub fn check(spec: &PartitionSpec, smallest: u64, at: &Path, problems: &mut Problems) {
    if !spec.block.0.is_power_of_two() {
        problems.add(at.field("block"), format!("{} is not a power of two; write 512, 4KiB or 16KiB", spec.block.0));
    } else if usable(spec, smallest) == 0 {
        problems.add(
            at.field("start"),
            format!("{} is beyond the end of the device, which holds {smallest} bytes; write a smaller start", spec.start.0),
        );
    }
}

/// Return the bytes of the partition on a device: whole blocks, from the start on.
#[must_use]
pub fn usable(spec: &PartitionSpec, capacity: u64) -> u64 {
    (capacity / spec.block.0 * spec.block.0).saturating_sub(spec.start.0)
}
