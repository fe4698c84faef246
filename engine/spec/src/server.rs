//! The server node in a scenario: its cores, what a request costs them, its network card, its buffers.
//!
//! Costs are cycles of one core, as people measured them: so a faster clock needs no new numbers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// The node that serves requests from the network.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Cores of the node.
    #[schemars(title = "Cores", range(min = 1, max = 256))]
    pub cores: u32,
    /// Cycles of a core in a second.
    #[schemars(title = "Clock", range(min = 1_000_000, max = 10_000_000_000_u64), extend("x-unit" = "Hz", "x-scale" = "log2"))]
    pub hz: u64,
    /// The file protocol's work on each request, whatever its size.
    #[serde(default)]
    #[schemars(title = "Cost of a request", range(min = 0, max = 1_000_000_000), extend("x-unit" = "cycles"))]
    pub request_cycles: u64,
    /// The file protocol's and the file system's work on each byte.
    #[serde(default)]
    #[schemars(title = "Cost of a byte", range(min = 0, max = 10000), extend("x-unit" = "cycles/B"))]
    pub byte_cycles: f64,
    /// Further work on each byte that a device reads or writes for a request.
    #[serde(default)]
    #[schemars(title = "Cost of a byte from a device", range(min = 0, max = 10000), extend("x-unit" = "cycles/B"))]
    pub device_byte_cycles: f64,
    /// The network card and its driver; they cost nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicSpec>,
    /// Buffers that requests allocate and free; they cost nothing when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<BufferSpec>,
}

/// A network card and what its driver and TCP/IP cost.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicSpec {
    /// Longest that a frame waits for its interrupt.
    #[serde(default)]
    #[schemars(title = "Interrupt blanking", extend("maximum" = 10_000_000))]
    pub blank: Nanos,
    /// Frames that raise an interrupt before that time.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Frames to an interrupt", range(min = 1, max = 4096), extend("x-scale" = "log2"))]
    pub blank_frames: u32,
    /// Work of an interrupt.
    #[serde(default)]
    #[schemars(title = "Cost of an interrupt", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub interrupt_cycles: u64,
    /// TCP/IP's and the driver's work on each frame received.
    #[serde(default)]
    #[schemars(title = "Cost of a frame received", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub receive_cycles: u64,
    /// TCP/IP's work on each segment sent.
    #[serde(default)]
    #[schemars(title = "Cost of a segment sent", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub send_cycles: u64,
    /// The card cuts what it is given into frames, so that a segment is up to 64 KiB.
    #[serde(default)]
    #[schemars(title = "Large send offload")]
    pub large_send: bool,
    /// The driver's work to post a segment on a transmit ring.
    #[serde(default)]
    #[schemars(title = "Cost of a post", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub post_cycles: u64,
    /// Segments up to this size are copied into memory that the card can always reach; larger ones are mapped for it.
    #[serde(default)]
    #[schemars(title = "Copy threshold", extend("maximum" = 1_048_576))]
    pub copy_threshold: Bytes,
    /// Work to copy a byte of a segment.
    #[serde(default)]
    #[schemars(title = "Cost of copying a byte", range(min = 0, max = 1000), extend("x-unit" = "cycles/B"))]
    pub copy_byte_cycles: f64,
    /// Work to map a segment for the card and to unmap it.
    #[serde(default)]
    #[schemars(title = "Cost of a mapping", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub map_cycles: u64,
    /// Transmit rings; a connection always uses the same one.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Transmit rings", range(min = 1, max = 256), extend("x-scale" = "log2"))]
    pub rings: u32,
    /// Work to take over a ring that nobody is posting on: its lock and lines come from another core, and the card must be told.
    #[serde(default)]
    #[schemars(title = "Cost of taking over a ring", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub ring_cycles: u64,
    /// Receive rings, each with an interrupt of its own; a connection always uses the same one.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Receive rings", range(min = 1, max = 256))]
    pub receive_rings: u32,
}

/// Buffers that requests allocate and free.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// Size that every request allocates; its own bytes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Buffer of a request", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub size: Option<Bytes>,
    /// Largest buffer that the allocator keeps mapped when it is freed.
    #[schemars(title = "Largest buffer kept", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub keeps: Bytes,
    /// The protocol keeps its own buffers for the next request, of any size.
    #[serde(default)]
    #[schemars(title = "Object cache")]
    pub object_cache: bool,
    /// Work of the core that unmaps a buffer, for each other core: to call it and to wait for its answer.
    #[schemars(title = "Cost of a cross-call", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub call_cycles: u64,
    /// Work of each core that is called.
    #[schemars(title = "Cost of being called", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub answer_cycles: u64,
}

impl BufferSpec {
    /// Whether freeing the buffer of a request of `bytes` unmaps it.
    #[must_use]
    pub fn unmaps(&self, bytes: u64) -> bool {
        !self.object_cache && self.size.map_or(bytes, |size| size.0.max(bytes)) > self.keeps.0
    }
}
