//! The write cache of a RAID controller and the battery that protects it, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// When a controller acknowledges a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritePolicy {
    /// Once it is in the controller's memory, while the battery could protect it long enough.
    #[default]
    WriteBack,
    /// Once it is in the controller's memory, whatever the battery's charge.
    ForcedWriteBack,
    /// Once it is on the devices.
    WriteThrough,
}

/// When write-back resumes after a learn cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteBackReturns {
    /// At the end of the cycle, with the battery empty.
    #[default]
    Complete,
    /// Once the battery has charged to the threshold.
    Threshold,
}

/// The write cache of a RAID controller, above the layout of its devices.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RaidCacheSpec {
    /// Memory for writes that are not yet on the devices.
    #[serde(default = "half_gib")]
    #[schemars(title = "Controller cache", extend("minimum" = 1_048_576, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// Time of a write into the cache besides the time of its data on the bus. Such times overlap without limit.
    #[serde(default = "sixty_us")]
    #[schemars(title = "Write into the cache", extend("maximum" = 1_000_000_000))]
    pub ack: Nanos,
    /// Rate of the bus to the host, which all requests that the cache answers share. Default: eight lanes of PCI Express 3.0, 8 GT/s each.
    #[serde(default = "pcie_3_x8")]
    #[schemars(title = "Host bus", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub bus: Bytes,
    /// Destage requests in flight to the layers below.
    #[serde(default = "thirty_two")]
    #[schemars(title = "Destage depth", range(min = 1, max = 1024))]
    pub depth: u32,
    /// Maximum time of a write in the cache before destaging starts, in address order. A cache that is half full destages immediately.
    #[serde(default = "four_s")]
    #[schemars(title = "Destage after", extend("maximum" = 3_600_000_000_000_u64))]
    pub destage_after: Nanos,
    /// When a write is acknowledged.
    #[serde(default)]
    #[schemars(title = "Write policy")]
    pub policy: WritePolicy,
    /// The battery. Default: the cache keeps its contents without one, as if backed by flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub battery: Option<Battery>,
}

/// A controller's battery. From time to time, a learn cycle discharges and recharges it to measure its capacity.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// Start of the first learn cycle.
    #[schemars(title = "First learn cycle", extend("maximum" = 31_536_000_000_000_000_u64))]
    pub learn_at: Nanos,
    /// Time from the start of one learn cycle to the start of the next.
    #[serde(default = "ninety_days")]
    #[schemars(title = "Learn cycles every", extend("minimum" = 1_000_000_000, "maximum" = 31_536_000_000_000_000_u64, "x-scale" = "log2"))]
    pub learn_every: Nanos,
    /// Time from the start of a learn cycle until the discharge starts.
    #[serde(default = "lead")]
    #[schemars(title = "Start to discharge", extend("maximum" = 86_400_000_000_000_u64))]
    pub lead: Nanos,
    /// Time to discharge a full battery. The learn cycle is then complete.
    #[serde(default = "discharge")]
    #[schemars(title = "Discharge", extend("minimum" = 1_000_000, "maximum" = 604_800_000_000_000_u64, "x-scale" = "log2"))]
    pub discharge: Nanos,
    /// Minimum charge that lets the battery protect the cache long enough.
    #[serde(default = "threshold")]
    #[schemars(title = "Charge needed", range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// Time to charge an empty battery.
    #[serde(default = "four_hours")]
    #[schemars(title = "Charging", extend("minimum" = 1_000_000, "maximum" = 604_800_000_000_000_u64, "x-scale" = "log2"))]
    pub charge: Nanos,
    /// When write-back resumes after a learn cycle.
    #[serde(default)]
    #[schemars(title = "Write-back resumes")]
    pub write_back_returns: WriteBackReturns,
    /// Servers with one such battery each, to compute how often at least one of them is in write-through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<BatteryServers>,
}

/// When the servers start their learn cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phases {
    /// At random times, independently.
    #[default]
    Random,
    /// All at the same time, as servers that were bought and switched on together.
    Together,
}

/// Servers with a battery each.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatteryServers {
    /// Number of servers.
    #[schemars(title = "Servers", range(min = 1, max = 100_000), extend("x-scale" = "log2"))]
    pub count: u32,
    /// When the servers start their learn cycles.
    #[serde(default)]
    #[schemars(title = "Learn cycles start")]
    pub phases: Phases,
    /// Number of random draws of the starts. The result is the mean over all draws.
    #[serde(default = "thousand")]
    #[schemars(title = "Draws", range(min = 1, max = 1_000_000), extend("x-scale" = "log2"))]
    pub draws: u32,
}

fn half_gib() -> Bytes {
    Bytes(512 << 20)
}
fn pcie_3_x8() -> Bytes {
    Bytes(7_877_000_000)
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
