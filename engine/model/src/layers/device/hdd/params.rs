//! A drive's description, resolved and checked: everything [`Hdd`](super::Hdd) needs, in nanoseconds and 512-byte blocks.
//!
//! A [`Params`] comes from a file with DiskSim's parameter names (`drive_file`) or from the few numbers of a data sheet
//! (`data_sheet`). What a parameter means is told where it acts: `geometry`, `seek`, `rotation`, `buffer`, `drive`.

use super::Op;
use super::geometry::{Layout, Zone};
use super::rotation::Spindle;
use super::seek::SeekCurve;

/// Something in a drive's description that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: found {found}, {accepted}")]
pub struct ParamError {
    /// Where: keys and indices, as in `layout.Zones[1].First cylinder number`.
    pub path: String,
    /// Value found.
    pub found: String,
    /// Accepted values.
    pub accepted: String,
}

/// A value for each type of the previously completed request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ByPrevious {
    pub after_read: f64,
    pub after_write: f64,
}

impl ByPrevious {
    pub fn after(self, previous: Op) -> f64 {
        match previous {
            Op::Read => self.after_read,
            Op::Write | Op::Trim => self.after_write,
        }
    }
}

/// Command handling, arm and bus; all times in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Timing {
    pub read_hit: ByPrevious,
    pub read_miss: ByPrevious,
    /// Already the miss or the hit values, whichever the drive's way of writing uses.
    pub write: ByPrevious,
    pub read_disconnect: ByPrevious,
    pub read_completion: f64,
    pub write_completion: f64,
    pub preparation: f64,
    pub reselect: f64,
    pub write_disconnect: f64,
    pub head_switch: f64,
    pub write_settle: f64,
    pub least_write_seek: f64,
    /// The same for a write that finds the drive idle.
    pub idle_settle: f64,
    /// One block over the bus.
    pub read_block: f64,
    pub write_block: f64,
}

/// The kind of read-ahead after a request, by its number in parameter files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadAhead {
    /// 0: nothing.
    None,
    /// 1: to the end of the track.
    Track,
    /// 2: to the end of the cylinder.
    Cylinder,
    /// 3: so many blocks beyond the request.
    Blocks(u64),
    /// 4: to the end of the next block's track, and one more track for a stream.
    Tracks,
}

/// Rules of the buffer; see `buffer` and `drive` for what each does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "independent options of a drive, each a switch in parameter files")]
pub(super) struct Rules {
    pub segments: u32,
    pub segment_blocks: u64,
    /// Whether the buffer is divided as needed.
    pub adaptive: bool,
    pub read_ahead: ReadAhead,
    pub caching: bool,
    /// Whether commands, bus and media work on different requests at a time; see `drive`.
    pub overlaps: bool,
    pub early_writes: bool,
    pub append_writes: bool,
    pub reads_hit_written: bool,
    pub almost_hits: bool,
    pub free_blocks: bool,
    pub read_ahead_on_idle_hit: bool,
    pub forget_requested: bool,
    pub stop_mid_sector: bool,
    pub partial_at_once: bool,
    pub never_disconnect: bool,
    pub hold_writes: bool,
    /// Share that must be buffered before a missed read first reconnects.
    pub high_water: f64,
    /// Whether that is a share of the request (else of the segment).
    pub water_by_request: bool,
}

/// A fully resolved, checked drive. Immutable; share it between drives with an `Arc`.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub(super) name: String,
    pub(super) layout: Layout,
    pub(super) spindle: Spindle,
    pub(super) seek: SeekCurve,
    pub(super) timing: Timing,
    pub(super) rules: Rules,
    pub(super) ignored: Vec<String>,
}

impl Params {
    /// Another drive of the same model, slower by this share (0 to 1) of the tolerance.
    #[must_use]
    pub fn slower_by(&self, share: f64) -> Self {
        Self { spindle: self.spindle.slower_by(share), ..self.clone() }
    }

    /// Name of the drive, empty if the description has none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Logical blocks of 512 bytes: the sum of the zones' usable blocks.
    #[must_use]
    pub fn capacity_sectors(&self) -> u64 {
        self.layout.capacity()
    }

    /// Cylinders in use, at least 1.
    #[must_use]
    pub fn cylinders(&self) -> u32 {
        self.layout.cylinders()
    }

    /// Recording surfaces, at least 1.
    #[must_use]
    pub fn surfaces(&self) -> u32 {
        self.layout.surfaces()
    }

    /// The zones, outermost first; for drawing and for rates.
    #[must_use]
    pub fn zones(&self) -> &[Zone] {
        self.layout.zones()
    }

    /// Duration of one turn of the platter in ns.
    #[must_use]
    pub fn turn_ns(&self) -> f64 {
        self.spindle.turn_ns()
    }

    /// Arm time over a distance in cylinders, in ns, without extra write settling; 0 for no distance.
    #[must_use]
    pub fn seek_ns(&self, distance_cylinders: u32) -> f64 {
        self.seek.ns(distance_cylinders)
    }

    /// Settings of the file that this model does not act on although they are switched on, each with its path. Empty for
    /// most drives.
    #[must_use]
    pub fn ignored_settings(&self) -> &[String] {
        &self.ignored
    }
}
