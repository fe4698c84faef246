//! The file protocol's server side in a scenario: scheduler and copy engine.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// Which transaction size the copy engine uses for its internal reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sizing {
    /// The size the rest of the system is tuned for: the maximum, capped at `target_transaction`.
    #[default]
    Target,
    /// The largest transaction the protocol can express.
    Max,
}

/// The file protocol's server side.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProtocolSpec {
    /// The largest transaction that the protocol can express.
    #[schemars(title = "Maximum transaction", extend("minimum" = 4096, "maximum" = 1_073_741_824, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub max_transaction: Bytes,
    /// The transaction size that cache and prefetcher are tuned for.
    #[schemars(title = "Target transaction", extend("minimum" = 4096, "maximum" = 1_073_741_824, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub target_transaction: Bytes,
    /// Combines adjacent client requests, up to the target transaction; client requests pass unchanged when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// Credits that the server grants each session; a request takes one for each 64 KiB. No bound when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Credits", range(min = 1, max = 65_535))]
    pub credits: Option<u32>,
    /// How an offloaded copy sizes its transactions.
    #[serde(default)]
    #[schemars(title = "ODX sizes itself by")]
    pub odx_sizing: Sizing,
}

/// The scheduler that combines adjacent client requests.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// Combined transactions in flight for each worker; while they are busy, requests queue and can be combined.
    #[schemars(title = "Transactions in flight", range(min = 1, max = 1024))]
    pub in_flight: u32,
}
