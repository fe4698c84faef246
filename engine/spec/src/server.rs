//! The server node in a scenario: its cores, the cost of a request, its network card, its buffers.
//!
//! Costs are in cycles of one core, as in the published measurements. So a faster clock needs no new numbers.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// The node that serves requests from the network.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Number of cores.
    #[schemars(title = "Cores", range(min = 1, max = 256))]
    pub cores: u32,
    /// Clock rate of a core.
    #[schemars(title = "Clock", range(min = 1_000_000, max = 10_000_000_000_u64), extend("x-unit" = "Hz", "x-scale" = "log2"))]
    pub hz: u64,
    /// CPU cycles of the file protocol per request, whatever its size.
    #[serde(default)]
    #[schemars(title = "Cost per request", range(min = 0, max = 1_000_000_000), extend("x-unit" = "cycles"))]
    pub request_cycles: u64,
    /// CPU cycles of the file protocol and the file system per byte.
    #[serde(default)]
    #[schemars(title = "Cost per byte", range(min = 0, max = 10000), extend("x-unit" = "cycles/B"))]
    pub byte_cycles: f64,
    /// Additional CPU cycles per byte that a device reads or writes for a request.
    #[serde(default)]
    #[schemars(title = "Cost per byte from a device", range(min = 0, max = 10000), extend("x-unit" = "cycles/B"))]
    pub device_byte_cycles: f64,
    /// The network card and its driver. Default: they cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicSpec>,
    /// Buffers that requests allocate and free. Default: they cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<BufferSpec>,
}

/// A network card, with the costs of its driver and of TCP/IP.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicSpec {
    /// Maximum time that a frame waits for its interrupt.
    #[serde(default)]
    #[schemars(title = "Interrupt blanking", extend("maximum" = 10_000_000))]
    pub blank: Nanos,
    /// After this number of frames, the interrupt is raised before the blanking time is over.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Frames per interrupt", range(min = 1, max = 4096), extend("x-scale" = "log2"))]
    pub blank_frames: u32,
    /// CPU cycles per interrupt.
    #[serde(default)]
    #[schemars(title = "Cost per interrupt", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub interrupt_cycles: u64,
    /// CPU cycles of TCP/IP and the driver per received frame.
    #[serde(default)]
    #[schemars(title = "Cost per received frame", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub receive_cycles: u64,
    /// CPU cycles of TCP/IP per sent segment.
    #[serde(default)]
    #[schemars(title = "Cost per sent segment", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub send_cycles: u64,
    /// Whether the card splits segments into frames. A segment is then up to 64 KiB.
    #[serde(default)]
    #[schemars(title = "Large send offload")]
    pub large_send: bool,
    /// CPU cycles of the driver to post a segment on a transmit ring.
    #[serde(default)]
    #[schemars(title = "Cost per post", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub post_cycles: u64,
    /// Segments up to this size are copied into memory that is always mapped for the card. Larger ones are mapped individually.
    #[serde(default)]
    #[schemars(title = "Copy threshold", extend("maximum" = 1_048_576))]
    pub copy_threshold: Bytes,
    /// CPU cycles to copy a byte of a segment.
    #[serde(default)]
    #[schemars(title = "Cost per copied byte", range(min = 0, max = 1000), extend("x-unit" = "cycles/B"))]
    pub copy_byte_cycles: f64,
    /// CPU cycles to map a segment for the card and to unmap it.
    #[serde(default)]
    #[schemars(title = "Cost per mapping", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub map_cycles: u64,
    /// Number of transmit rings. A connection always uses the same one.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Transmit rings", range(min = 1, max = 256), extend("x-scale" = "log2"))]
    pub rings: u32,
    /// CPU cycles to start using an idle transmit ring: its lock and cache lines come from another core, and the card must be notified.
    #[serde(default)]
    #[schemars(title = "Cost of taking over a ring", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub ring_cycles: u64,
    /// Number of receive rings, each with its own interrupt. A connection always uses the same one.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Receive rings", range(min = 1, max = 256))]
    pub receive_rings: u32,
}

/// Buffers that requests allocate and free.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// Size that every request allocates. Default: the bytes of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Buffer per request", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub size: Option<Bytes>,
    /// Maximum size of a freed buffer that the allocator keeps mapped.
    #[schemars(title = "Largest buffer kept", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub keeps: Bytes,
    /// Whether the protocol keeps its own buffers, of any size, for later requests.
    #[serde(default)]
    #[schemars(title = "Object cache")]
    pub object_cache: bool,
    /// CPU cycles of the core that unmaps a buffer, for each other core that it calls and waits for.
    #[schemars(title = "Cost per cross-call", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub call_cycles: u64,
    /// CPU cycles of each core that is called.
    #[schemars(title = "Cost per called core", range(min = 0, max = 10_000_000), extend("x-unit" = "cycles"))]
    pub answer_cycles: u64,
}

impl BufferSpec {
    /// Return whether freeing the buffer of a request of `bytes` unmaps it.
    #[must_use]
    pub fn unmaps(&self, bytes: u64) -> bool {
        !self.object_cache && self.size.map_or(bytes, |size| size.0.max(bytes)) > self.keeps.0
    }
}
