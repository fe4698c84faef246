//! Traces of block requests that were recorded elsewhere: direction, address and time of each request.
//!
//! A trace may name several *targets*: files, devices, jobs. They share one address space, one after the other and aligned
//! to 1 MiB, in the order in which the trace names them. [`Trace::only`] keeps one of them. Requests are widened to whole sectors of 512
//! bytes. Times count from the first request; in our own operation logs, from the start of the run. Priorities, processes and errors are
//! not read.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use crate::Op;

/// Maximum length of a trace's text: 256 MiB.
pub const MAX_TEXT_BYTES: usize = 1 << 28;
/// Maximum length of a line, in bytes.
pub const MAX_LINE_BYTES: usize = 4096;
/// Maximum requests of a trace.
pub const MAX_REQUESTS: usize = 1 << 23;
/// Maximum files, devices or jobs that one trace may name.
pub const MAX_TARGETS: usize = 1 << 12;
/// Maximum size of a request, the same as for a job's: 1 GiB.
pub const MAX_REQUEST_BYTES: u64 = 1 << 30;
/// Maximum size of a file or device: 1 EiB.
pub const MAX_TARGET_BYTES: u64 = 1 << 60;
/// Sector size. Requests are widened to whole sectors.
pub const SECTOR: u64 = 512;
/// Response time of a request whose format does not record it.
pub const UNKNOWN: u64 = u64::MAX;

/// Alignment of targets; jobs' files have the same.
pub const ALIGNMENT: u64 = 1 << 20;

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Time of issue, in nanoseconds after the first request, or after the start of the run for our own logs.
    pub time_ns: u64,
    /// Start, in bytes from the start of its target.
    pub offset: u64,
    /// Response time on the recorded system, in nanoseconds; [`UNKNOWN`] if the format does not contain it.
    pub response_ns: u64,
    /// Length in bytes, at least one sector.
    pub bytes: u32,
    /// Its line in the text, from 1.
    pub line: u32,
    /// Its file, device or job: an index of [`Trace::targets`].
    pub target: u16,
    /// Direction.
    pub op: Op,
}

/// A file, device or job that a trace names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "TraceTarget")]
pub struct Target {
    /// Name, as the format writes it.
    pub name: String,
    /// Its start in the address space of the replay, in bytes.
    pub start: u64,
    /// End of the last byte that a request uses, from the target's start.
    pub bytes: u64,
    /// Number of its requests.
    pub requests: u64,
}

/// A trace, in order of issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Format it was read from.
    pub format: Format,
    /// Requests.
    pub rows: Vec<Row>,
    /// Targets of the requests.
    pub targets: Vec<Target>,
    /// Parts of the text that a replay skips, by name.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Requests that were widened to whole sectors.
    pub widened: u64,
    /// Requests that followed one with a later time and were sorted.
    pub reordered: u64,
}

/// Format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// fio's `write_iolog`, version 2: order and pauses.
    FioIologV2,
    /// fio's `write_iolog`, version 3: each line has its time.
    FioIologV3,
    /// The default text of blkparse.
    Blkparse,
    /// The CSV of the MSR Cambridge traces.
    MsrCambridge,
    /// The operation log of a run of Seeklab, as CSV.
    Operations,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::FioIologV2, Self::FioIologV3, Self::Blkparse, Self::MsrCambridge, Self::Operations];

    /// Return the name that people write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FioIologV2 => "fio-iolog-v2",
            Self::FioIologV3 => "fio-iolog-v3",
            Self::Blkparse => "blkparse",
            Self::MsrCambridge => "msr-cambridge",
            Self::Operations => "seeklab-ops",
        }
    }

    /// Makes times of ordered requests count from the first one, unless they have a known origin; [`None`] without requests.
    pub fn count_from_first(self, rows: &mut [Row]) -> Option<()> {
        let first_ns = rows.first()?.time_ns;
        if self != Self::Operations {
            for row in rows {
                row.time_ns -= first_ns;
            }
        }
        Some(())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or(())
    }
}

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// No format starts like this.
    #[error(
        "\"{found}\" is not the start of a known trace. Known: fio iolog, blkparse, MSR Cambridge, SYSTOR, Alibaba, Tencent, SPC, \
         vSCSI, FIU, DiskSim. Describe any other: --columns time=1,op=2,offset=3,bytes=4"
    )]
    Unknown {
        /// The line.
        found: String,
    },
    /// The line is not the header that the format requires.
    #[error("\"{found}\" is not the header; write {wanted}")]
    Header {
        /// The line.
        found: String,
        /// The header.
        wanted: &'static str,
    },
    /// Too few fields: the line, or the file, was cut off.
    #[error("\"{found}\" is cut off; a line is {wanted}")]
    Truncated {
        /// The line.
        found: String,
        /// The form of a line.
        wanted: &'static str,
    },
    /// Too many fields.
    #[error("has {found} fields; a line is {wanted}")]
    TooManyFields {
        /// Number of fields found.
        found: usize,
        /// The form of a line.
        wanted: &'static str,
    },
    /// The line has no form that the format knows.
    #[error("\"{found}\" is not a line of this format; a line is {wanted}")]
    Form {
        /// The line.
        found: String,
        /// The form of a line.
        wanted: &'static str,
    },
    /// A field is not a number.
    #[error("{field} \"{found}\" is not {accepted}")]
    Number {
        /// Name of the field.
        field: &'static str,
        /// Text found.
        found: String,
        /// Values accepted.
        accepted: &'static str,
    },
    /// A number is negative.
    #[error("{field} {found} is negative")]
    Negative {
        /// Name of the field.
        field: &'static str,
        /// Text found.
        found: String,
    },
    /// A number is beyond what a trace may have.
    #[error("{field} {found} is too large; the maximum is {most}")]
    TooLarge {
        /// Name of the field.
        field: &'static str,
        /// Number found.
        found: String,
        /// The largest accepted.
        most: u64,
    },
    /// An action or direction that the format does not have.
    #[error("\"{found}\" is not an action; known: {known}")]
    Action {
        /// Text found.
        found: String,
        /// All known actions.
        known: &'static str,
    },
    /// The line is too long to be one of a trace.
    #[error("is {found} bytes long; the maximum is {MAX_LINE_BYTES}")]
    Oversized {
        /// Its length in bytes.
        found: usize,
    },
    /// The text is too long.
    #[error("the trace is {found} bytes long; give at most {MAX_TEXT_BYTES} (256 MiB)")]
    TooLong {
        /// Its length in bytes.
        found: usize,
    },
    /// Too many requests.
    #[error("exceeds the maximum of {MAX_REQUESTS} requests; cut the trace")]
    TooManyRequests,
    /// Too many files, devices or jobs.
    #[error("exceeds the maximum of {MAX_TARGETS} files or devices")]
    TooManyTargets,
    /// A request ends beyond the address space.
    #[error("the request ends at byte {end}; the devices hold {capacity}")]
    Beyond {
        /// Its end, in bytes.
        end: u64,
        /// Capacity of the devices, in bytes.
        capacity: u64,
    },
    /// The trace has no requests.
    #[error("the trace ends without a read or write")]
    Empty,
}

/// A line with an error; the whole trace is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {fault}")]
pub struct Problem {
    /// Number of the line, from 1.
    pub line: u64,
    /// The error.
    pub fault: Fault,
}

impl Trace {
    /// Keep only the requests of the target `name`; [`None`] if there is no such target.
    #[must_use]
    pub fn only(mut self, name: &str) -> Option<Self> {
        let wanted = self.targets.iter().position(|target| target.name == name)?;
        let before = self.rows.len();
        self.rows.retain(|row| usize::from(row.target) == wanted);
        for row in &mut self.rows {
            row.target = 0;
        }
        self.format.count_from_first(&mut self.rows)?;
        let others = (before - self.rows.len()) as u64;
        if others > 0 {
            *self.skipped.entry("requests of other targets").or_default() += others;
        }
        self.targets = vec![Target { start: 0, ..self.targets.swap_remove(wanted) }];
        Some(self)
    }

    /// Return the start of a request in the address space of the replay, in bytes.
    #[must_use]
    pub fn address(&self, row: &Row) -> u64 {
        self.targets[usize::from(row.target)].start + row.offset
    }

    /// Return the length of the targets' address space, in bytes.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.targets.last().map_or(0, |target| target.start.saturating_add(target.bytes))
    }

    /// Return the time from the first request to the last, in nanoseconds.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.time_ns) - self.rows.first().map_or(0, |row| row.time_ns)
    }

    /// Return whether the trace contains response times.
    #[must_use]
    pub fn has_responses(&self) -> bool {
        self.rows.iter().all(|row| row.response_ns != UNKNOWN)
    }

    /// Check that every request is within `capacity` bytes.
    ///
    /// # Errors
    /// The first request beyond it, in order of issue.
    pub fn check(&self, capacity: u64) -> Result<(), Problem> {
        match self.rows.iter().map(|row| (row, self.address(row).saturating_add(row.bytes.into()))).find(|(_, end)| *end > capacity) {
            Some((row, end)) => Err(Problem { line: row.line.into(), fault: Fault::Beyond { end, capacity } }),
            None => Ok(()),
        }
    }
}
