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
    /// Sequential trims: the drive is told that it need not keep the blocks.
    Trim,
    /// Random trims.
    RandTrim,
    /// Sequential trims, each followed by a write of the same block.
    TrimWrite,
    /// A copy through the client: it reads `bs` from the server and writes it back.
    ClientCopy,
    /// A server-side copy: the client names chunks of `bs`, the server reads and writes each in turn.
    ServerCopy,
    /// An offloaded copy (ODX): the server reads and writes on its own, in turn, sized by `protocol.odx_sizing`.
    OdxCopy,
}

impl Rw {
    /// Whether offsets are drawn at random.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw | Self::RandTrim)
    }
    /// Whether the job copies its region to the region after it.
    #[must_use]
    pub fn is_copy(self) -> bool {
        self == Self::ClientCopy || self.is_offloaded()
    }
    /// Whether the job is a copy whose data do not leave the server.
    #[must_use]
    pub fn is_offloaded(self) -> bool {
        matches!(self, Self::ServerCopy | Self::OdxCopy)
    }
    /// Whether the job reads at all.
    #[must_use]
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite) && !self.trims()
    }
    /// Whether the job writes at all.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead | Self::Trim | Self::RandTrim)
    }
    /// Whether the job trims at all.
    #[must_use]
    pub fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim | Self::TrimWrite)
    }
    /// The direction of all the job's requests, where there is one and it is no copy.
    #[must_use]
    pub fn only(self) -> Option<Op> {
        match self {
            Self::Read | Self::RandRead => Some(Op::Read),
            Self::Write | Self::RandWrite => Some(Op::Write),
            Self::Trim | Self::RandTrim => Some(Op::Trim),
            Self::ReadWrite | Self::RandRw | Self::TrimWrite | Self::ClientCopy | Self::ServerCopy | Self::OdxCopy => None,
        }
    }
    /// How often the job passes over each byte of its region: trims and writes of the same block count both.
    #[must_use]
    pub fn passes(self) -> u64 {
        if self == Self::TrimWrite { 2 } else { 1 }
    }
}

/// How a rate-limited job spaces its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Exponentially distributed gaps, as many independent users make.
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
    /// The system call that each request is, on an NFS client.
    #[serde(default)]
    #[schemars(title = "Call")]
    pub call: Call,
    /// How a copy is cut into commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopySpec>,
    /// Size of a request.
    #[serde(default = "default_bs")]
    #[schemars(title = "Block size", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub bs: Bytes,
    /// Draw request sizes evenly from this range instead of `bs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bsrange: Option<SizeRange>,
    /// Draw request sizes from a mix, of which each size has a share; reads and writes may have a mix each. Instead of `bs`.
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
    /// File (region) that the job uses; jobs with the same name share it, and where it contains `$jobnum`, workers of the same number do.
    /// Each worker has a file of its own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// Length of the region used; the rest of the device when absent and `filename` is shared by the whole device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Size")]
    pub size: Option<Extent>,
    /// Start of the region, from the start of the file.
    #[serde(default)]
    #[schemars(title = "Offset")]
    pub offset: Extent,
    /// Bytes to transfer before the worker ends; `size` when absent.
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
    /// Start over when the region is done, until `runtime` has passed.
    #[serde(default)]
    pub time_based: bool,
    /// Results count only from this time on, after the job's start.
    #[serde(default)]
    pub ramp_time: Nanos,
    /// Wait before the first request.
    #[serde(default)]
    pub startdelay: Nanos,
    /// Each worker starts so much after the one before it.
    #[serde(default)]
    #[schemars(title = "Stagger")]
    pub stagger: Nanos,
    /// Bytes per second that each worker may transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Rate", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub rate: Option<Bytes>,
    /// Requests per second that each worker issues (open loop as far as `iodepth` allows).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Request rate", range(min = 0.001, max = 1e9), extend("x-unit" = "1/s"))]
    pub rate_iops: Option<f64>,
    /// How a limited rate spaces requests.
    #[serde(default)]
    pub rate_process: RateProcess,
    /// Pause after `thinktime_blocks` completed requests.
    #[serde(default)]
    #[schemars(title = "Think time")]
    pub thinktime: Nanos,
    /// Requests between two pauses.
    #[serde(default = "crate::defaults::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub thinktime_blocks: u32,
    /// Share of reads in a mixed job.
    #[serde(default = "fifty")]
    #[schemars(title = "Reads", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub rwmixread: u32,
    /// Distribution of random offsets: `random`, `zipf:THETA` with THETA from 0.01 to 5, not 1, `pareto:H` with H between 0 and 1,
    /// `normal:DEVIATION` in percent, or zones, as in `zoned:50/5:30/15:20/80` (access in percent / size in percent) and
    /// `zoned_abs:60/10g:40/90g` (access in percent / size).
    #[serde(default)]
    pub random_distribution: Distribution,
    /// Random requests begin at multiples of this; at multiples of the smallest size when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Alignment of random requests", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub blockalign: Option<Bytes>,
    /// Share of a random job's requests that go to a random place; the others follow the one before.
    #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
    #[schemars(title = "Random requests", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub percentage_random: u32,
    /// A random job draws a place for every so many requests; those between follow the one before, or repeat its place (`repeat_place`).
    #[serde(default = "crate::defaults::one", skip_serializing_if = "is_one")]
    #[schemars(title = "Requests for each random place", range(min = 1, max = 1_000_000))]
    pub random_every: u32,
    /// Whether the requests between two random places go to the same place again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat_place: bool,
    /// What a sequential job leaves out after each request, or how it goes backwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<Stride>,
    /// Zones that are visited one after the other, with gaps between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<StridedZones>,
    /// Zones that are written from their start to their end only, as on a zoned drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Zones with write pointers")]
    pub zoned: Option<SequentialZones>,
    /// Files of equal length that each worker's region consists of.
    #[serde(default = "crate::defaults::one", skip_serializing_if = "is_one")]
    #[schemars(title = "Files of a worker", range(min = 1, max = 65536))]
    pub nrfiles: u32,
    /// Which of its files a worker takes next.
    #[serde(default, skip_serializing_if = "FileService::is_default")]
    pub file_service: FileService,
    /// Requests to a file before the next file's turn.
    #[serde(default = "crate::defaults::one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub file_service_ios: u32,
    /// Read back what was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Verify>,
    /// Requests of a transaction: reads one after the other, and a write that commits it. A mixed job draws directions at random without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Requests in a transaction", range(min = 1, max = 1_000_000))]
    pub transaction: Option<u32>,
    /// Draw random offsets with repetition; otherwise each block is visited once a pass.
    #[serde(default)]
    pub norandommap: bool,
    /// Whether each write is acknowledged only once it is on the media or in memory that survives a power failure: ZFS puts it into its intent log, a device takes it as a write with FUA.
    #[serde(default)]
    #[schemars(title = "Synchronous writes")]
    pub sync: bool,
    /// After so many writes the file is flushed: the last of them completes once all of them are durable. ZFS puts them into its intent log, a device gets a FLUSH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes between flushes", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub fsync: Option<u32>,
    /// As `fsync`, without the file's metadata, which the model does not write for either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes between data flushes", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub fdatasync: Option<u32>,
    /// Flush the file at the end of the worker: it ends once all that it wrote is durable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "Flush at the end")]
    pub end_fsync: bool,
    /// Wait for all earlier jobs to end before this one starts.
    #[serde(default)]
    pub stonewall: bool,
    /// Wait for this job, which is listed before, to end before this one starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<String>,
    /// When this job ends others stop issuing: those that `exit_what` names.
    #[serde(default)]
    pub exitall: bool,
    /// Which jobs stop when this one ends and has `exitall`.
    #[serde(default, skip_serializing_if = "ExitWhat::is_default")]
    pub exit_what: ExitWhat,
    /// The group that `exit_what = "group"` ends.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub group: u32,
    /// Share of the requests of all jobs of the same flow that each worker may issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// A full queue is filled again only when so few requests are left in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Queue is refilled at", range(min = 0, max = 65536))]
    pub iodepth_low: Option<u32>,
    /// A full queue is filled again only when so many requests have completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Completions before a refill", range(min = 1, max = 65536))]
    pub iodepth_batch_complete: Option<u32>,
    /// From what the requests between two pauses are counted. The worker first waits for what is in flight, as fio does; without this
    /// field requests in flight go on during a pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinktime_by: Option<PauseBy>,
    /// Pause after so much time without one, instead of after `thinktime_blocks` requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Time between pauses", extend("minimum" = 1))]
    pub thinktime_iotime: Option<Nanos>,
    /// Limits of a mixed job's reads and of its writes, each on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_each: Option<RateLimits>,
    /// The job fails when it is slower than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_min: Option<RateMin>,
    /// The job fails when a request takes longer than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Longest latency", extend("minimum" = 1))]
    pub max_latency: Option<Nanos>,
    /// Look for the greatest queue depth at which latency stays below a target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_target: Option<LatencyTarget>,
    /// End the job when its rate has become steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadystate: Option<SteadyState>,
    /// Ask nothing of the storage: each request takes this time, however many are in flight. It is fio's engine `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Time of a request that asks nothing")]
    pub null: Option<Nanos>,
    /// Model the job as a flow: a closed loop of constant depth, of which each request stands for all I/Os of a time in which their rate
    /// does not change. For hours and days on a volume with credits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(title = "As a flow")]
    pub fluid: bool,
}

impl Job {
    /// The field that makes the job wait until what it wrote is durable.
    #[must_use]
    pub fn synchronous_by(&self) -> Option<&'static str> {
        let fields = [("sync", self.sync), ("fsync", self.fsync.is_some()), ("fdatasync", self.fdatasync.is_some())];
        fields.into_iter().find(|(_, set)| *set).map(|(field, _)| field)
    }

    /// Whether the file is flushed at times.
    #[must_use]
    pub fn flushes(&self) -> bool {
        self.fsync.is_some() || self.fdatasync.is_some()
    }

    /// Whether the file is flushed after the worker's write number `writes`, counted from 1.
    #[inline]
    #[must_use]
    pub fn flushes_after(&self, writes: u64) -> bool {
        [self.fsync, self.fdatasync].into_iter().flatten().any(|every| writes.is_multiple_of(u64::from(every)))
    }

    /// The largest request the job makes, in bytes.
    #[must_use]
    pub fn max_request_bytes(&self) -> u64 {
        let of_one = self.bsrange.map_or(self.bs.0, |range| range.max.0);
        self.bssplit.as_ref().and_then(SizeMix::largest).unwrap_or(of_one)
    }
    /// The smallest request the job makes, in bytes.
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
