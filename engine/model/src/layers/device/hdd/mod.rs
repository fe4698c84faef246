//! A hard disk, faithful to measured drives.
//!
//! The model follows the rules documented for DiskSim's parameter files and is held against drives that were measured
//! request by request. No number is fitted to a drive. Where the documentation leaves a rule open, these readings were
//! chosen because they agree best with the results on the measured drives: a least seek applies to every write that joins
//! no other; a write empties whole segments that overlap it; of segments that hold as much, the latest used is hit; a hit
//! elsewhere stops a read-ahead and may start another.
//!
//! From the platter outwards:
//! - `rotation`: the platter's angle in absolute time;
//! - `geometry`: zones, spares, slips and skews; where a block lies;
//! - `seek`: the arm's time over a distance;
//! - `transfer`: moving between tracks and the stream of sectors;
//! - `buffer`: segments, what they hold and which one gives way; `divided`: as many of them as reads need;
//! - `drive`: overheads, bus, what the arm does on its own; [`Hdd::serve`]. `read` and `write` are its two halves;
//! - `shake`: attempts that find the head off its track;
//! - `estimate`: when the arm would reach a request;
//! - `queue`: which waiting request goes next;
//! - `write_cache`: writes that are acknowledged and not on the media, and which of them goes next;
//! - `params`, `drive_file`, `data_sheet`: a drive's description, from a parameter file or from a data sheet;
//! - `validate`: a replay of a measured trace, and the demerit.
//!
//! No part of it reads a clock, allocates while serving or depends on the machine: only additions, multiplications,
//! divisions and square roots of `f64` are used, which every target rounds alike.

#![allow(clippy::doc_markdown, reason = "DiskSim is a name, not code")]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "block numbers and times stay far below 2^53, and values are checked or clamped where they enter"
)]

mod buffer;
mod data_sheet;
mod divided;
mod drive;
mod drive_file;
#[cfg(test)]
mod drive_tests;
mod estimate;
#[cfg(test)]
mod fixtures;
mod geometry;
mod max;
mod outwards;
mod params;
mod queue;
mod read;
mod rotation;
mod seek;
pub mod shake;
mod transfer;
mod write;
mod write_cache;

use seeklab_spec::Op;
use serde::{Deserialize, Serialize};

pub use drive::{Given, Hdd};
pub use geometry::Zone;
pub use params::{ParamError, Params};
pub use queue::{Arrival, DriveQueue, Entry};
pub use write_cache::{IDLE_NS, Piece, Urgency, WriteCache};

/// The part of a read that the buffer held. Writes count as [`Hit::Miss`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hit {
    /// All of it.
    Full,
    /// The beginning of it, the rest being read.
    Partial,
    /// Not its first block.
    #[default]
    Miss,
}

/// How a request was served. The seven phases add up to `done_ns` minus the arrival exactly. All in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// When the request is done, in simulated time.
    pub done_ns: u64,
    /// When the arm has nothing left to do for the request: later than `done_ns` for an early-reported write. The next
    /// request may be given to the drive from `done_ns` on; if it needs the arm, it then waits (`wait_ns`).
    pub free_ns: u64,
    /// When the arm has nothing left to do for it; a drive that overlaps requests may be given the next one from then on.
    pub arm_free_ns: u64,
    /// Command handling and completion.
    pub overhead_ns: u64,
    /// The arm was still busy with an earlier early-reported write, or its data left no room in the segment.
    pub wait_ns: u64,
    /// Moving between tracks, settling included.
    pub seek_ns: u64,
    /// Waiting for sectors to come by.
    pub rotation_ns: u64,
    /// Whole revolutions lost because the head was off its track.
    pub retry_ns: u64,
    /// Sectors passing under the head.
    pub media_ns: u64,
    /// Transfer to or from the host that does not overlap the media.
    pub bus_ns: u64,
    /// Whether the buffer served it.
    pub buffer_hit: Hit,
}
