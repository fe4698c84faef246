//! Servers behind a switch, and TCP between them and the clients, packet by packet.
//!
//! The window of 20 packets, the buffer of 64 and the least timer of 200 ms are those of the simulations and kernels of 2008 in
//! which the collapse of throughput was studied (A. Phanishayee et al., FAST 2008); 200 ms is still the least timer of Linux.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Nanos;
use crate::reader::FromJson;

/// A switch between clients and servers. Each read or write is spread evenly over the servers.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketsSpec {
    /// Servers that each request is spread over, each with a link of its own.
    #[schemars(title = "Servers", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub servers: u32,
    /// Servers that a client asks at the same time; the others' turn comes when one has answered. All of them when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Servers asked at once", range(min = 1, max = 1024), extend("x-scale" = "log2"))]
    pub at_once: Option<u32>,
    /// Packets that wait at each port of the switch, besides the one that is being sent. What comes beyond is dropped.
    #[schemars(title = "Port buffer", range(min = 1, max = 16384), extend("x-unit" = "packets", "x-scale" = "log2"))]
    pub buffer: u32,
    /// Most packets of a connection that are not acknowledged, as the receiver allows; the socket buffers are a limit as well.
    #[schemars(title = "Receive window", range(min = 1, max = 16384), extend("x-unit" = "packets", "x-scale" = "log2"))]
    pub window: u32,
    /// Least time that a sender waits for an acknowledgement before it sends again.
    #[schemars(title = "Least retransmission timer", extend("minimum" = 10_000, "maximum" = 60_000_000_000_u64, "x-scale" = "log2"))]
    pub rto_min: Nanos,
    /// Each packet is ready to leave up to so much later, at random.
    #[schemars(title = "Jitter of packets", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub jitter: Nanos,
    /// Each request arrives up to so much later, at random.
    #[schemars(title = "Jitter of requests", extend("minimum" = 0, "maximum" = 1_000_000_000))]
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
