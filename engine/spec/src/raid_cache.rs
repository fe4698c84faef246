//! The write cache of a RAID controller, and the battery that keeps it, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// When a controller acknowledges a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritePolicy {
    /// Once it is in the controller's memory, as long as the battery would keep it there.
    #[default]
    WriteBack,
    /// Once it is in the controller's memory, whatever the battery's charge.
    ForcedWriteBack,
    /// Once it is on the devices.
    WriteThrough,
}

/// What lets write-back return after a learn cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteBackReturns {
    /// The end of the cycle, with the battery empty.
    #[default]
    Complete,
    /// Enough charge: the threshold, on the way up.
    Threshold,
}

/// The write cache of a RAID controller, above the layout of its devices.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RaidCacheSpec {
    /// Memory for writes that are not on the devices yet.
    #[serde(default = "half_gib")]
    #[schemars(title = "Controller cache", extend("minimum" = 1_048_576, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// How long a write into the cache takes. Any number of them overlap.
    #[serde(default = "sixty_us")]
    #[schemars(title = "Write into the cache", extend("maximum" = 1_000_000_000))]
    pub ack: Nanos,
    /// Requests in flight to the layers below that write the cache out.
    #[serde(default = "thirty_two")]
    #[schemars(title = "Destaged at a time", range(min = 1, max = 1024))]
    pub depth: u32,
    /// How long a write may stay before the cache is written out, in order of address. A cache that is half full does not wait.
    #[serde(default = "four_s")]
    #[schemars(title = "Destaged after", extend("maximum" = 3_600_000_000_000_u64))]
    pub destage_after: Nanos,
    /// When a write is acknowledged.
    #[serde(default)]
    #[schemars(title = "Write policy")]
    pub policy: WritePolicy,
    /// The battery. Without it the cache keeps its contents by itself, as one that is backed by flash does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub battery: Option<Battery>,
}

/// A controller's battery, which is discharged and charged from time to time to learn what it can hold.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// When the first learn cycle starts.
    #[schemars(title = "First learn cycle", extend("maximum" = 31_536_000_000_000_000_u64))]
    pub learn_at: Nanos,
    /// Time from the start of a learn cycle to that of the next.
    #[serde(default = "ninety_days")]
    #[schemars(title = "Learn cycles every", extend("minimum" = 1_000_000_000, "maximum" = 31_536_000_000_000_000_u64, "x-scale" = "log2"))]
    pub learn_every: Nanos,
    /// Time from the start of a learn cycle until the battery begins to discharge.
    #[serde(default = "lead")]
    #[schemars(title = "Start to discharge", extend("maximum" = 86_400_000_000_000_u64))]
    pub lead: Nanos,
    /// Time in which a full battery is discharged. The learn cycle is then complete.
    #[serde(default = "discharge")]
    #[schemars(title = "Discharge", extend("minimum" = 1_000_000, "maximum" = 604_800_000_000_000_u64, "x-scale" = "log2"))]
    pub discharge: Nanos,
    /// Charge below which the battery would not keep the cache long enough.
    #[serde(default = "threshold")]
    #[schemars(title = "Charge needed", range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// Time in which an empty battery is charged.
    #[serde(default = "four_hours")]
    #[schemars(title = "Charging", extend("minimum" = 1_000_000, "maximum" = 604_800_000_000_000_u64, "x-scale" = "log2"))]
    pub charge: Nanos,
    /// What lets write-back return.
    #[serde(default)]
    #[schemars(title = "Write-back returns with")]
    pub write_back_returns: WriteBackReturns,
    /// Servers with such a battery each: how much of the time at least one of them is in write-through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<BatteryServers>,
}

/// When servers start their learn cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phases {
    /// At any time, each for itself.
    #[default]
    Random,
    /// All at the same time, as servers do that were bought and switched on together.
    Together,
}

/// Servers with a battery each.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatteryServers {
    /// How many.
    #[schemars(title = "Servers", range(min = 1, max = 100_000), extend("x-scale" = "log2"))]
    pub count: u32,
    /// When they start.
    #[serde(default)]
    #[schemars(title = "Learn cycles start")]
    pub phases: Phases,
    /// How often the starts are drawn. The share is the mean over all draws.
    #[serde(default = "thousand")]
    #[schemars(title = "Draws", range(min = 1, max = 1_000_000), extend("x-scale" = "log2"))]
    pub draws: u32,
}

fn half_gib() -> Bytes {
    Bytes(512 << 20)
}
fn sixty_us() -> Nanos {
    Nanos(60_000)
}
fn thirty_two() -> u32 {
    32
}
fn four_s() -> Nanos {
    Nanos(4_000_000_000)
}
fn ninety_days() -> Nanos {
    Nanos(90 * 86_400_000_000_000)
}
fn lead() -> Nanos {
    Nanos(65_000_000_000)
}
fn discharge() -> Nanos {
    Nanos(7_110_000_000_000)
}
fn threshold() -> f64 {
    0.28
}
fn four_hours() -> Nanos {
    Nanos(14_400_000_000_000)
}
fn thousand() -> u32 {
    1000
}
