//! The arithmetic of a network card: frames, segments, posts, and their cycles.

use seeklab_spec::network::{FRAMES_PER_ACK, NetworkSpec};
use seeklab_spec::server::NicSpec;

/// Most payload that the card cuts into frames by itself.
const LARGE_SEND_BYTES: u64 = 64 << 10;

/// A message cut into segments: all of `bytes` but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segments {
    /// How many.
    pub count: u64,
    /// Payload of each but the last.
    pub bytes: u64,
    /// Payload of the last.
    pub last_bytes: u64,
}

/// The segments that a message of `bytes` is posted in.
pub(super) fn segments(nic: &NicSpec, network: &NetworkSpec, bytes: u64) -> Segments {
    let frame = network.segment_bytes();
    let each = if nic.large_send { LARGE_SEND_BYTES / frame * frame } else { frame };
    let count = bytes.div_ceil(each).max(1);
    Segments { count, bytes: each, last_bytes: bytes - (count - 1) * each }
}

/// Cycles to post a segment on a ring that one holds.
pub(super) fn post_cycles(nic: &NicSpec, bytes: u64) -> u64 {
    let copied = bytes <= nic.copy_threshold.0;
    nic.post_cycles + if copied { super::whole(nic.copy_byte_cycles * super::to_f64(bytes)) } else { nic.map_cycles }
}

/// Segments that a connection may post at once while so many connections are `active`: an interrupt brings acknowledgements that
/// are spread evenly over those of its ring, and each lets its connection send the frames that it answers.
pub(super) fn burst(nic: &NicSpec, active: u64, frames_per_segment: u64) -> u64 {
    let of_ring = active.div_ceil(u64::from(nic.receive_rings)).max(1);
    let acknowledgements = u64::from(nic.blank_frames).div_ceil(of_ring);
    (acknowledgements * FRAMES_PER_ACK / frames_per_segment.max(1)).max(1)
}
