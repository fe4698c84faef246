//! The server side of the file protocol in a scenario: scheduler and copy engine.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// Transaction size that the copy engine uses for its internal reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sizing {
    /// The size that the rest of the system is tuned for: the maximum, capped at `target_transaction`.
    #[default]
    Target,
    /// The largest transaction the protocol can express.
    Max,
}

/// The server side of the file protocol.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProtocolSpec {
    /// The largest transaction that the protocol can express.
    #[schemars(title = "Maximum transaction", extend("minimum" = 4096, "maximum" = 1_073_741_824, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub max_transaction: Bytes,
    /// The transaction size that cache and prefetcher are tuned for.
    #[schemars(title = "Target transaction", extend("minimum" = 4096, "maximum" = 1_073_741_824, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub target_transaction: Bytes,
    /// Combines adjacent client requests, up to the target transaction. Default: client requests pass unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// Credits that the server grants each session. A request uses one per 64 KiB. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Credits", range(min = 1, max = 65_535))]
    pub credits: Option<u32>,
    /// Transaction size of an offloaded copy.
    #[serde(default)]
    #[schemars(title = "ODX transaction size")]
    pub odx_sizing: Sizing,
}

/// The scheduler that combines adjacent client requests.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// Combined transactions in flight per worker. While they are busy, further requests queue and can be combined.
    #[schemars(title = "Transactions in flight", range(min = 1, max = 1024))]
    pub in_flight: u32,
}
