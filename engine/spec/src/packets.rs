//! Servers behind a switch, and TCP between them and the clients, packet by packet.
//!
//! The window of 20 packets, the buffer of 64 and the minimum timer of 200 ms come from the simulations and kernels of 2008 in
//! which incast collapse was studied (A. Phanishayee et al., FAST 2008). Linux still uses a minimum timer of 200 ms.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Nanos;
use crate::reader::FromJson;

/// A switch between clients and servers. Each read or write is spread evenly over the servers.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketsSpec {
    /// Servers that share each request evenly, each with its own link.
    #[schemars(title = "Servers", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub servers: u32,
    /// Servers that a client queries at the same time. The next server follows when one has answered. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Servers queried at once", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub at_once: Option<u32>,
    /// Packets that can wait at each port of the switch, in addition to the one being sent. Further packets are dropped.
    #[schemars(title = "Port buffer", range(min = 1, max = 16384), extend("x-unit" = "packets", "x-scale" = "log2"))]
    pub buffer: u32,
    /// Maximum unacknowledged packets of a connection that the receiver allows. The socket buffers are a limit as well.
    #[schemars(title = "Receive window", range(min = 1, max = 16384), extend("x-unit" = "packets", "x-scale" = "log2"))]
    pub window: u32,
    /// Minimum retransmission timeout (RTO).
    #[schemars(title = "Minimum retransmission timer", extend("minimum" = 10_000, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub rto_min: Nanos,
    /// Maximum random delay of each packet before it is sent.
    #[schemars(title = "Packet jitter", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub jitter: Nanos,
    /// Maximum random delay before each request arrives.
    #[schemars(title = "Request jitter", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub request_jitter: Nanos,
}

impl Default for PacketsSpec {
    fn default() -> Self {
        Self {
            servers: 1,
            at_once: None,
            buffer: 64,
            window: 20,
            rto_min: Nanos(200_000_000),
            jitter: Nanos(2000),
            request_jitter: Nanos(5000),
        }
    }
}
