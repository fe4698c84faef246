//! Loads: one kind of request, so many in flight.

use serde_json::{Value, json};

use crate::measure::Effort;
use crate::rules::Point;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// Direction and order of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    Read,
    Write,
    ReadWrite,
    RandRead,
    RandWrite,
    RandRw,
    SyncWrite,
    SyncRandWrite,
}

impl Pattern {
    pub const ALL: [Self; 8] =
        [Self::Read, Self::Write, Self::ReadWrite, Self::RandRead, Self::RandWrite, Self::RandRw, Self::SyncWrite, Self::SyncRandWrite];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "readwrite",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::RandRw => "randrw",
            Self::SyncWrite => "sync write",
            Self::SyncRandWrite => "sync randwrite",
        }
    }
    pub const fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw | Self::SyncRandWrite)
    }
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite | Self::SyncWrite | Self::SyncRandWrite)
    }
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }
    pub const fn is_sync(self) -> bool {
        matches!(self, Self::SyncWrite | Self::SyncRandWrite)
    }
}

/// Workers that each keep requests of one size in flight.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub pattern: Pattern,
    pub bytes: u64,
    pub depth: u64,
    pub jobs: u64,
    /// What all workers together address.
    pub span: u64,
    /// Bytes that are measured.
    pub measured_bytes: u64,
    /// Most requests that are.
    pub most: u64,
}

/// Requests that are measured of systems that hold nothing back.
const FEW: u64 = 600;
/// Requests that are measured where memory must fill first.
const MANY: u64 = 40_000;

pub fn load(pattern: Pattern, bytes: u64, depth: u64, jobs: u64) -> Load {
    Load { pattern, bytes, depth, jobs, span: 4 * GIB, measured_bytes: 48 * MIB, most: FEW }
}

/// A size as people write it.
pub fn size(bytes: u64) -> String {
    match bytes {
        MIB.. => format!("{} MiB", bytes / MIB),
        KIB.. => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes} B"),
    }
}

impl Load {
    pub fn in_flight(self) -> u64 {
        self.depth * self.jobs
    }

    pub fn spread_over(self, span: u64) -> Self {
        Self { span, ..self }
    }

    /// Measures so many bytes, however many requests they are.
    pub fn measuring(self, measured_bytes: u64) -> Self {
        Self { measured_bytes, most: MANY, ..self }
    }

    /// Its name, without what a line varies.
    pub fn kind(self) -> String {
        format!("{} {}", self.pattern.name(), size(self.bytes))
    }

    pub fn name(self) -> String {
        let jobs = if self.jobs > 1 { format!(" x {} jobs", self.jobs) } else { String::new() };
        format!("{} depth {}{jobs}", self.kind(), self.depth)
    }

    fn job(self) -> Value {
        let rw = self.pattern.name().trim_start_matches("sync ");
        let mut job = json!({
            "name": "load", "rw": rw, "bs": self.bytes, "iodepth": self.depth, "numjobs": self.jobs,
            "norandommap": true, "time_based": true, "runtime": "10h", "sync": self.pattern.is_sync(),
        });
        if self.pattern.is_random() {
            // One file for all: more workers draw from the same places.
            job["filename"] = "shared".into();
            job["size"] = self.span.next_multiple_of(MIB).into();
        } else {
            // An odd number of MiB each: streams do not all begin on the same device, shard or die.
            let each = (self.span / self.jobs).max(self.bytes).div_ceil(MIB);
            job["size"] = ((each | 1) * MIB).into();
        }
        job
    }

    /// This load on a system, which is a scenario without jobs.
    pub fn on(self, system: &Value, name: impl Into<String>) -> Point {
        let mut document = system.clone();
        document["jobs"] = json!([self.job()]);
        document["record"] = json!({"log": false, "interval": "1s"});
        let measured = (self.measured_bytes / self.bytes).clamp(48, self.most).max(if self.pattern.is_random() { 300 } else { 0 });
        let effort = Effort::of(self.in_flight(), measured);
        Point {
            name: name.into(),
            document,
            in_flight: Some(self.in_flight()),
            effort,
            bounds: Vec::new(),
            service_ns: 0.0,
            patience_ns: 0.0,
        }
    }
}

/// Sets a field of a scenario by its path.
pub fn set(document: &mut Value, path: &str, value: Value) {
    seeklab_spec::read::set(document, path, value).unwrap_or_else(|problem| panic!("{problem}"));
}
