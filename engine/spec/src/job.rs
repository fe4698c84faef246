//! A job: a group of identical workers, in fio's vocabulary.

use schemars::JsonSchema;
use serde::Serialize;

use crate::access::{FileService, SequentialZones, SizeMix, Stride, StridedZones, Verify};
use crate::distribution::Distribution;
use crate::governor::{ExitWhat, Flow, LatencyTarget, PauseBy, RateLimits, RateMin, SteadyState};
use crate::nfs::Call;
use crate::reader::FromJson;
use crate::{Bytes, CopySpec, Extent, Nanos, Op};

/// The direction and order of a job's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Sequential reads and writes, mixed.
    ReadWrite,
    /// Random reads and writes, mixed.
    RandRw,
    /// Sequential trims, which tell the drive that it may discard the blocks.
    Trim,
    /// Random trims.
    RandTrim,
    /// Sequential trims, each followed by a write of the same block.
    TrimWrite,
    /// Random trims, each followed by a write of the same block.
    RandTrimWrite,
    /// A copy through the client, which reads `bs` from the server and writes it back.
    ClientCopy,
    /// A server-side copy: the client names chunks of `bs`, and the server reads and writes each chunk in turn.
    ServerCopy,
    /// An offloaded copy (ODX): the server reads and writes in turn without the client, in sizes given by `protocol.odx_sizing`.
    OdxCopy,
}

impl Rw {
    /// Return whether offsets are random.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw | Self::RandTrim | Self::RandTrimWrite)
    }
    /// Return whether the job copies its region to the next region.
    #[must_use]
    pub fn is_copy(self) -> bool {
        self == Self::ClientCopy || self.is_offloaded()
    }
    /// Return whether the job is a copy whose data stay on the server.
    #[must_use]
    pub fn is_offloaded(self) -> bool {
        matches!(self, Self::ServerCopy | Self::OdxCopy)
    }
    /// Return whether the job reads.
    #[must_use]
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite) && !self.trims()
    }
    /// Return whether the job writes.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead | Self::Trim | Self::RandTrim)
    }
    /// Return whether the job trims.
    #[must_use]
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim | Self::TrimWrite | Self::RandTrimWrite)
    }
    /// Return the direction of the job's requests if they all have the same one and it is not a copy.
    #[must_use]
    pub fn only(self) -> Option<Op> {
        match self {
            Self::Read | Self::RandRead => Some(Op::Read),
            Self::Write | Self::RandWrite => Some(Op::Write),
            Self::Trim | Self::RandTrim => Some(Op::Trim),
            Self::ReadWrite
            | Self::RandRw
            | Self::TrimWrite
            | Self::RandTrimWrite
            | Self::ClientCopy
            | Self::ServerCopy
            | Self::OdxCopy => None,
        }
    }
    /// Return the number of passes over each byte of the region. A trim and a write of the same block count as two.
    #[must_use]
    pub fn passes(self) -> u64 {
        if matches!(self, Self::TrimWrite | Self::RandTrimWrite) { 2 } else { 1 }
    }
}

/// How a rate-limited job spaces its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Exponentially distributed gaps, as with many independent users.
    Poisson,
}

/// A range of request sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// Smallest request.
    #[schemars(extend("minimum" = 512))]
    pub min: Bytes,
    /// Largest request.
    #[schemars(extend("minimum" = 512, "maximum" = 1_073_741_824))]
    pub max: Bytes,
}

/// A group of identical workers, in fio's vocabulary.
#[allow(clippy::struct_excessive_bools)] // fio's own switches
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the job, used in metrics and reports.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// Direction and order of requests.
    #[serde(default)]
    #[schemars(title = "Pattern")]
    pub rw: Rw,
    /// System call of each request, on an NFS client.
    #[serde(default)]
    #[schemars(title = "Call")]
    pub call: Call,
    /// How a copy is split into commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopySpec>,
    /// Size of a request.
    #[serde(default = "default_bs")]
    #[schemars(title = "Block size", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub bs: Bytes,
    /// Draw request sizes uniformly from this range, instead of `bs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bsrange: Option<SizeRange>,
    /// Draw request sizes from a mix with a share for each size, instead of `bs`. Reads and writes may have different mixes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Mix of sizes")]
    pub bssplit: Option<SizeMix>,
    /// Requests kept in flight by each worker.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Queue depth", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub iodepth: u32,
    /// Number of identical workers.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Workers", range(min = 1, max = 16384), extend("x-scale" = "log2"))]
    pub numjobs: u32,
    /// File (region) that the job uses. Jobs with the same name share it; with `$jobnum` in the name, workers with the same number share
    /// one. Default: each worker has its own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Length of the region used. Default: the rest of the device, if the whole device shares `filename`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Size")]
    pub size: Option<Extent>,
    /// Start of the region, from the start of the file.
    #[serde(default)]
    #[schemars(title = "Offset")]
    pub offset: Extent,
    /// Bytes to transfer before the worker ends. Default: `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_size: Option<Bytes>,
    /// Requests to issue before the worker ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub number_ios: Option<u64>,
    /// Passes over the region.
    #[serde(default = "crate::defaults::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub loops: u32,
    /// Stop issuing after this simulated time, counted from the end of `ramp_time` as fio does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Run time", extend("minimum" = 1))]
    pub runtime: Option<Nanos>,
    /// Start again at the end of the region, until `runtime` has passed.
    #[serde(default)]
    pub time_based: bool,
    /// Start counting results this long after the job's start. A request in flight at that time counts when it completes.
    #[serde(default)]
    pub ramp_time: Nanos,
    /// Wait before the first request.
    #[serde(default)]
    pub startdelay: Nanos,
    /// Delay between the starts of successive workers.
    #[serde(default)]
    #[schemars(title = "Stagger")]
    pub stagger: Nanos,
    /// Bytes per second that each worker may transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub rate: Option<Bytes>,
    /// Requests per second that each worker issues (open loop, up to `iodepth`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Request rate", range(min = 0.001, max = 1e9), extend("x-unit" = "1/s"))]
    pub rate_iops: Option<f64>,
    /// How a rate-limited job spaces its requests.
    #[serde(default)]
    pub rate_process: RateProcess,
    /// Pause after `thinktime_blocks` completed requests.
    #[serde(default)]
    #[schemars(title = "Think time")]
    pub thinktime: Nanos,
    /// Requests between two pauses (see `thinktime`).
    #[serde(default = "crate::defaults::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub thinktime_blocks: u32,
    /// Share of reads in a mixed job.
    #[serde(default = "fifty")]
    #[schemars(title = "Reads", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub rwmixread: u32,
    /// Distribution of random offsets: `random`, `zipf:THETA` with THETA from 0.01 to 5, not 1, `pareto:H` with H between 0 and 1,
    /// `normal:DEVIATION` in percent, or zones. Zones are `zoned:50/5:30/15:20/80` (access in percent / size in percent) or
    /// `zoned_abs:60/10g:40/90g` (access in percent / size).
    #[serde(default)]
    pub random_distribution: Distribution,
    /// Align random requests to multiples of this. Default: the smallest request size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Random request alignment", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub blockalign: Option<Bytes>,
    /// Share of random requests in a random job. Each of the others starts where the request before it ended.
    #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
    #[schemars(title = "Random requests", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub percentage_random: u32,
    /// Requests per random place. The others follow the request before them, or repeat its place (`repeat_place`).
    #[serde(default = "crate::defaults::one", skip_serializing_if = "is_one")]
    #[schemars(title = "Requests per random place", range(min = 1, max = 1_000_000))]
    pub random_every: u32,
    /// Whether the requests between two random places repeat the first one's place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat_place: bool,
    /// Gaps after each request of a sequential job, or backward steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<Stride>,
    /// Zones to visit one after the other, with gaps between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<StridedZones>,
    /// Zones with write pointers, as on a zoned drive. They must be written sequentially.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Zones with write pointers")]
    pub zoned: Option<SequentialZones>,
    /// Files of equal length in each worker's region.
    #[serde(default = "crate::defaults::one", skip_serializing_if = "is_one")]
    #[schemars(title = "Files per worker", range(min = 1, max = 65536))]
    pub nrfiles: u32,
    /// A worker's order of its files.
    #[serde(default, skip_serializing_if = "FileService::is_default")]
    pub file_service: FileService,
    /// Requests to a file before the worker moves to the next one.
    #[serde(default = "crate::defaults::one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub file_service_ios: u32,
    /// Read back the written data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// Requests of a transaction: successive reads, then a write that commits it. Default: a mixed job chooses directions at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Requests per transaction", range(min = 1, max = 1_000_000))]
    pub transaction: Option<u32>,
    /// Draw random offsets with repetition. Otherwise each block is visited once per pass.
    #[serde(default)]
    pub norandommap: bool,
    /// Whether a write is acknowledged only once it is on the media or in memory that survives a power failure. ZFS puts it into its
    /// intent log. A device handles it as a write with FUA.
    #[serde(default)]
    #[schemars(title = "Synchronous writes")]
    pub sync: bool,
    /// Flush the file after this many writes. The last of them completes once all are durable. ZFS puts them into its intent log. A
    /// device receives a FLUSH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes between flushes", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub fsync: Option<u32>,
    /// Like `fsync`, but without the file's metadata. The model writes the metadata in neither case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes between data flushes", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub fdatasync: Option<u32>,
    /// Flush the file at the end of the worker. The worker ends once all its writes are durable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "Flush at the end")]
    pub end_fsync: bool,
    /// Wait for all earlier jobs to end before this one starts.
    #[serde(default)]
    pub stonewall: bool,
    /// Wait for this job, which must be earlier in the list, to end before this one starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<String>,
    /// Stop other jobs when this job ends. `exit_what` selects them.
    #[serde(default)]
    pub exitall: bool,
    /// Jobs that stop when this one ends, if it has `exitall`.
    #[serde(default, skip_serializing_if = "ExitWhat::is_default")]
    pub exit_what: ExitWhat,
    /// Group number for `exit_what = "group"`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub group: u32,
    /// Share of the flow that each worker may issue. The flow counts the requests of all its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Refill a full queue only once it has drained to this many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Queue refill level", range(min = 0, max = 65536))]
    pub iodepth_low: Option<u32>,
    /// Refill a full queue only after this many completions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Completions before a refill", range(min = 1, max = 65536))]
    pub iodepth_batch_complete: Option<u32>,
    /// Which requests are counted between two pauses. As in fio, the worker then first waits for its requests in flight. Without this
    /// field, they continue during a pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinktime_by: Option<PauseBy>,
    /// Pause after running for this time, not after `thinktime_blocks` requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Time between pauses", extend("minimum" = 1))]
    pub thinktime_iotime: Option<Nanos>,
    /// Separate limits for a mixed job's reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_each: Option<RateLimits>,
    /// Minimum rate; a slower job fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_min: Option<RateMin>,
    /// Maximum latency; the job fails if a request takes longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Maximum latency", extend("minimum" = 1))]
    pub max_latency: Option<Nanos>,
    /// Search for the largest queue depth whose latency stays below a target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<LatencyTarget>,
    /// End the job once its rate is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadystate: Option<SteadyState>,
    /// Bypass the storage: each request takes this time, however many are in flight (fio's engine `null`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Request time without storage")]
    pub null: Option<Nanos>,
    /// Model the job as a flow: a closed loop of constant depth. Each request represents all I/Os of a period with a constant rate. Use
    /// it for hours and days on a volume with credits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "Flow model")]
    pub fluid: bool,
}

impl Job {
    /// Return the field that makes the job wait until its writes are durable.
    #[must_use]
    pub fn synchronous_by(&self) -> Option<&'static str> {
        let fields = [("sync", self.sync), ("fsync", self.fsync.is_some()), ("fdatasync", self.fdatasync.is_some())];
        fields.into_iter().find(|(_, set)| *set).map(|(field, _)| field)
    }

    /// Return whether the job flushes its file.
    #[must_use]
    pub fn flushes(&self) -> bool {
        self.fsync.is_some() || self.fdatasync.is_some()
    }

    /// Return whether the file is flushed after the worker's write number `writes`, counted from 1.
    #[inline]
    #[must_use]
    pub fn flushes_after(&self, writes: u64) -> bool {
        [self.fsync, self.fdatasync].into_iter().flatten().any(|every| writes.is_multiple_of(u64::from(every)))
    }

    /// Return the largest request of the job, in bytes.
    #[must_use]
    pub fn max_request_bytes(&self) -> u64 {
        let of_one = self.bsrange.map_or(self.bs.0, |range| range.max.0);
        self.bssplit.as_ref().and_then(SizeMix::largest).unwrap_or(of_one)
    }
    /// Return the smallest request of the job, in bytes.
    #[inline]
    #[must_use]
    pub fn min_request_bytes(&self) -> u64 {
        let of_one = self.bsrange.map_or(self.bs.0, |range| range.min.0);
        self.bssplit.as_ref().and_then(SizeMix::smallest).unwrap_or(of_one)
    }
}

fn default_bs() -> Bytes {
    Bytes(4096)
}
fn fifty() -> u32 {
    50
}
fn hundred() -> u32 {
    100
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_hundred(value: &u32) -> bool {
    *value == 100
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_one(value: &u32) -> bool {
    *value == 1
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_zero(value: &u32) -> bool {
    *value == 0
}
