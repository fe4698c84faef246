//! A scenario: one typed tree that describes a workload and the storage stack it runs on.
//!
//! The tree is read top down, as a request travels: jobs, protocol, volume, controller, cache tier, layout, devices. Every layer may be
//! absent. Units, ranges, steps, labels and help live on the types; the JSON Schema, the sliders of the page and the error
//! messages all come from them (see [`schema`]). A scenario is checked in full before it runs (see [`read()`]).

pub mod check;
pub mod problem;
pub mod read;
pub mod schema;
pub mod units;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use problem::{Problem, Problems};
pub use read::read;
pub use units::{Bytes, Extent, Nanos};

use crate::cache::PolicyKind;
use crate::client::copy::CopySpec;
use crate::client::nfs::spec::{Call, NfsSpec};
use crate::cluster::spec::ClusterSpec;
use crate::controller::spec::ControllerSpec;
use crate::device::hdd::QueuePolicy;
use crate::device::pace::Varies;
use crate::layout::partition::PartitionSpec;
use crate::layout::spec::RebuildSpec;
use crate::network::spec::NetworkSpec;
use crate::server::spec::ServerSpec;
use crate::tools::monitor::MonitorSpec;
use crate::workload::buffers::ReductionSpec;
use crate::zfs::spec::ZfsSpec;

/// A workload and the storage stack it runs on.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the preset that layers were taken from; what is written beside it wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// What is asked of the system, in fio's vocabulary.
    #[schemars(length(min = 1, max = 256))]
    pub jobs: Vec<Job>,
    /// The NFS client on each machine that uses the network: page cache, async threads, processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nfs: Option<NfsSpec>,
    /// The network between clients and server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSpec>,
    /// The server's cores and its network card, between the network and the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerSpec>,
    /// The file protocol's server side: request scheduler and copy engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The file system: block cache, prefetcher and write log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<Volume>,
    /// ZFS in place of the volume: dirty data, write throttle, transaction groups, I/O scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zfs: Option<ZfsSpec>,
    /// Nodes that share blocks among them: where a block lives, and how it is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterSpec>,
    /// Controllers of virtual disks on the cores of a node, below the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerSpec>,
    /// An SSD cache tier between the volume and its devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// How addresses spread over the devices.
    #[serde(default)]
    pub layout: Layout,
    /// A partition on each device that begins at any byte, with read-modify-write of partial blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionSpec>,
    /// The devices, group by group.
    #[schemars(length(min = 1, max = 64))]
    pub devices: Vec<DeviceGroup>,
    /// A monitor that averages over windows of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<MonitorSpec>,
    /// What the first job's buffers hold, and what storage that reduces data makes of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction: Option<ReductionSpec>,
    /// What the run keeps besides its summary.
    #[serde(default)]
    pub record: Record,
    /// Bounds that a run may not exceed.
    #[serde(default)]
    pub limits: Limits,
}

/// The direction and order of a job's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
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
        !matches!(self, Self::Write | Self::RandWrite)
    }
    /// Whether the job writes at all.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }
}

/// How a rate-limited job spaces its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateProcess {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Exponentially distributed gaps, as many independent users make.
    Poisson,
}

/// A range of request sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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
    /// Requests kept in flight by each worker.
    #[serde(default = "one_u32")]
    #[schemars(title = "Queue depth", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub iodepth: u32,
    /// Number of identical workers.
    #[serde(default = "one_u32")]
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
    #[serde(default = "one_u32")]
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
    #[serde(default = "one_u32")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub thinktime_blocks: u32,
    /// Share of reads in a mixed job.
    #[serde(default = "fifty")]
    #[schemars(title = "Reads", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub rwmixread: u32,
    /// Distribution of random offsets: `random`, or `zipf:THETA` with THETA from 0.01 to 5, not 1.
    #[serde(default)]
    pub random_distribution: Distribution,
    /// Requests of a transaction: reads one after the other, and a write that commits it. A mixed job draws directions at random without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Requests in a transaction", range(min = 1, max = 1_000_000))]
    pub transaction: Option<u32>,
    /// Draw random offsets with repetition; otherwise each block is visited once a pass.
    #[serde(default)]
    pub norandommap: bool,
    /// Whether writes are acknowledged only once they are durable. Acts on a ZFS file system; without one nothing is acknowledged from volatile memory.
    #[serde(default)]
    #[schemars(title = "Synchronous writes")]
    pub sync: bool,
    /// After so many writes the file is flushed: the last of them completes once all of them are durable. Acts as `sync` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Writes between flushes", range(min = 1, max = 65536), extend("x-scale" = "log2"))]
    pub fsync: Option<u32>,
    /// Wait for all earlier jobs to end before this one starts.
    #[serde(default)]
    pub stonewall: bool,
    /// When this job ends all others stop issuing.
    #[serde(default)]
    pub exitall: bool,
}

impl Job {
    /// The largest request the job makes, in bytes.
    #[must_use]
    pub fn max_request_bytes(&self) -> u64 {
        self.bsrange.map_or(self.bs.0, |range| range.max.0)
    }
    /// The smallest request the job makes, in bytes.
    #[must_use]
    pub fn min_request_bytes(&self) -> u64 {
        self.bsrange.map_or(self.bs.0, |range| range.min.0)
    }
}

fn default_bs() -> Bytes {
    Bytes(4096)
}
fn one_u32() -> u32 {
    1
}
fn fifty() -> u32 {
    50
}
fn yes() -> bool {
    true
}

/// Distribution of random offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform.
    #[default]
    Random,
    /// Zipf: the k-th most popular block is drawn with a frequency proportional to 1 / k^theta.
    Zipf(f64),
}

impl Distribution {
    /// What the parser accepts, for error messages.
    pub const ACCEPTED: &str = "random, or zipf:THETA with THETA from 0.01 to 5 and not 1; write zipf:1.2";

    /// Reads `random` or `zipf:1.2`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "random" {
            return Some(Self::Random);
        }
        let theta: f64 = text.strip_prefix("zipf:")?.parse().ok()?;
        ((0.01..=5.0).contains(&theta) && (theta - 1.0).abs() > 1e-9).then_some(Self::Zipf(theta))
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("\"{text}\" is not {}", Self::ACCEPTED)))
    }
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Random => serializer.serialize_str("random"),
            Self::Zipf(theta) => serializer.serialize_str(&format!("zipf:{theta}")),
        }
    }
}

impl JsonSchema for Distribution {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Distribution".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "distribution"})
    }
}

/// Which transaction size the copy engine uses for its internal reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sizing {
    /// The size the rest of the system is tuned for: the maximum, capped at `target_transaction`.
    #[default]
    Target,
    /// The largest transaction the protocol can express.
    Max,
}

/// The file protocol's server side.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The largest transaction that the protocol can express.
    #[schemars(title = "Maximum transaction", extend("minimum" = 4096, "maximum" = 1_073_741_824, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub max_transaction: Bytes,
    /// The transaction size that cache and prefetcher are tuned for.
    #[schemars(title = "Target transaction", extend("minimum" = 4096, "maximum" = 1_073_741_824, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub target_transaction: Bytes,
    /// Combines adjacent client requests, up to the target transaction; client requests pass unchanged when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<Scheduler>,
    /// Credits that the server grants each session; a request takes one for each 64 KiB. No bound when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Credits", range(min = 1, max = 65_535))]
    pub credits: Option<u32>,
    /// How an offloaded copy sizes its transactions.
    #[serde(default)]
    #[schemars(title = "ODX sizes itself by")]
    pub odx_sizing: Sizing,
}

/// The scheduler that combines adjacent client requests.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// Combined transactions in flight for each worker; while they are busy, requests queue and can be combined.
    #[schemars(title = "Transactions in flight", range(min = 1, max = 1024))]
    pub in_flight: u32,
}

/// The file system.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// Block of the file system and its cache.
    #[serde(default = "default_block")]
    #[schemars(title = "Block", extend("minimum" = 4096, "maximum" = 16_777_216))]
    pub block: Bytes,
    /// Block cache in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Prefetcher; needs a cache to prefetch into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<Prefetch>,
    /// Log that makes writes durable at once; writes go through to the devices when absent. Moving logged data to the devices later is not modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_log: Option<Lun>,
}

fn default_block() -> Bytes {
    Bytes(32 << 10)
}

/// Block cache in memory (least recently used).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Memory of the cache.
    #[schemars(title = "Cache", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// Time to look up and start a request in memory.
    #[serde(default)]
    pub overhead: Nanos,
    /// Rate at which data are copied out of or into memory, in bytes per second.
    #[schemars(title = "Memory copy rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub rate: Bytes,
    /// Jobs whose regions are in the cache when the run starts (in this order, as far as they fit).
    #[serde(default)]
    pub primed: Vec<String>,
    /// Which block leaves when another needs its room.
    #[serde(default)]
    #[schemars(title = "Replacement policy")]
    pub policy: PolicyKind,
    /// Sizes that the cache changes to while the run goes on, in order of time.
    #[serde(default)]
    pub resize: Vec<Resize>,
}

/// A change of a cache's size.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resize {
    /// When.
    #[schemars(title = "At")]
    pub at: Nanos,
    /// Memory of the cache from then on.
    #[schemars(title = "Cache", extend("minimum" = 4096, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub size: Bytes,
}

/// A prefetcher that reads the range after each large read.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prefetch {
    /// Most that one prefetch reads.
    #[schemars(title = "Prefetch chunk", extend("minimum" = 4096, "maximum" = 268_435_456, "x-step" = 262_144, "x-slider" = [1_048_576, 16_777_216]))]
    pub chunk: Bytes,
    /// Prefetches for each read request, one after the other in the file.
    #[serde(default = "one_u32")]
    #[schemars(title = "Prefetches per read", range(min = 0, max = 16))]
    pub per_request: u32,
    /// Smallest read that starts a prefetch.
    #[serde(default = "default_trigger")]
    #[schemars(title = "Smallest read that prefetches", extend("minimum" = 0))]
    pub min_read: Bytes,
}

fn default_trigger() -> Bytes {
    Bytes(1 << 20)
}

/// An SSD cache tier between the volume and its devices.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Capacity of the tier.
    #[schemars(title = "SSD tier", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub size: Bytes,
    /// Jobs whose regions are in the tier when the run starts (in this order, as far as they fit).
    #[serde(default)]
    pub primed: Vec<String>,
    /// Jobs whose regions are evicted from the tier before the run starts.
    #[serde(default)]
    pub evicted: Vec<String>,
    /// Whether data read from the devices enter the tier.
    #[serde(default)]
    #[schemars(title = "Admit what is read")]
    pub admit: bool,
    /// Which block leaves when another needs its room.
    #[serde(default)]
    #[schemars(title = "Replacement policy")]
    pub policy: PolicyKind,
    /// The tier's device.
    pub ssd: Ssd,
}

/// How addresses spread over the devices.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Layout {
    /// Rule.
    #[schemars(title = "Layout")]
    pub kind: LayoutKind,
    /// Bytes on one device or group before the next takes over; with RAID-Z the record, which is always read and written whole.
    #[schemars(title = "Stripe unit", extend("minimum" = 512, "maximum" = 1_073_741_824))]
    pub unit: Bytes,
    /// Devices in a group of a mirror or RAID-Z; all of them when absent. Groups are striped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Devices in a group", range(min = 2, max = 1024))]
    pub width: Option<u32>,
    /// Parity devices of a RAID-Z group.
    #[schemars(title = "Parity", range(min = 1, max = 3))]
    pub parity: u32,
    /// Smallest unit that RAID-Z allocates, as a power of two.
    #[schemars(title = "Sector size, log2", range(min = 9, max = 16))]
    pub ashift: u32,
    /// Which side of a mirror answers a read.
    #[schemars(title = "Read balance")]
    pub read_balance: ReadBalance,
    /// Devices that have failed, by index; their data are read from the others.
    pub failed: Vec<u32>,
    /// Rebuild failed devices onto spares; they stay lost when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildSpec>,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            kind: LayoutKind::default(),
            unit: default_block(),
            width: None,
            parity: 1,
            ashift: 12,
            read_balance: ReadBalance::default(),
            failed: Vec::new(),
            rebuild: None,
        }
    }
}

/// Rule by which addresses spread over the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LayoutKind {
    /// Units in turn over all devices.
    #[default]
    Stripe,
    /// One device after the other.
    Concat,
    /// Groups of devices that hold the same.
    Mirror,
    /// Groups with parity; each record is a stripe of its own.
    RaidZ,
}

/// Rule by which the side of a mirror is chosen that answers a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadBalance {
    /// Regions of 2 MiB belong to one side each, whatever the load (ZFS until 2012, and illumos).
    Region,
    /// The fewest in flight; ties go to one side for 10 ms each (ZFS on Linux 0.6.2, 2012).
    Pending,
    /// The least load: requests in flight plus a penalty for distance; ties by region (`OpenZFS` since 0.7).
    #[default]
    Load,
}

/// A number of identical devices: exactly one of `hdd`, `ssd` and `lun`, or a `preset` that fills it in.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceGroup {
    /// Name; devices are called `name0`, `name1`, ...
    #[serde(default = "default_device_name")]
    #[schemars(length(min = 1, max = 32))]
    pub name: String,
    /// How many.
    #[serde(default = "one_u32")]
    #[schemars(title = "Devices", range(min = 1, max = 1024))]
    pub count: u32,
    /// Name of the preset that the device was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// A hard disk drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hdd: Option<HddSpec>,
    /// A solid-state drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssd: Option<Ssd>,
    /// A logical unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lun: Option<Lun>,
}

fn default_device_name() -> String {
    "disk".into()
}

/// A hard disk drive, as its data sheet describes it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HddSpec {
    /// Revolutions per minute.
    #[schemars(title = "Rotation", range(min = 300, max = 30000), extend("x-unit" = "rpm"))]
    pub rpm: f64,
    /// Capacity.
    #[schemars(title = "Capacity", extend("minimum" = 1_048_576, "maximum" = 109_951_162_777_600_u64))]
    pub capacity: Bytes,
    /// Recording surfaces.
    #[schemars(title = "Heads", range(min = 1, max = 64))]
    pub heads: u32,
    /// Zones of equal width.
    #[serde(default = "default_zones")]
    #[schemars(title = "Zones", range(min = 1, max = 64))]
    pub zones: u32,
    /// Media rate at the outer edge, in bytes per second.
    #[schemars(title = "Media rate, outer", extend("minimum" = 100_000, "maximum" = 2_000_000_000, "x-unit" = "B/s"))]
    pub outer_rate: Bytes,
    /// Media rate at the inner edge, in bytes per second.
    #[schemars(title = "Media rate, inner", extend("minimum" = 100_000, "maximum" = 2_000_000_000, "x-unit" = "B/s"))]
    pub inner_rate: Bytes,
    /// Seek to the next cylinder.
    #[schemars(title = "Seek, one cylinder", extend("minimum" = 1000, "maximum" = 1_000_000_000))]
    pub seek_single: Nanos,
    /// Seek averaged over random pairs of places.
    #[schemars(title = "Seek, average", extend("minimum" = 1000, "maximum" = 1_000_000_000))]
    pub seek_average: Nanos,
    /// Seek over the whole stroke.
    #[schemars(title = "Seek, full stroke", extend("minimum" = 1000, "maximum" = 1_000_000_000))]
    pub seek_full: Nanos,
    /// Switch to another head of the same cylinder.
    pub head_switch: Nanos,
    /// Longer settling before a write.
    #[serde(default)]
    pub write_settle: Nanos,
    /// Command overhead of the drive.
    #[serde(default)]
    pub overhead: Nanos,
    /// Rate of the interface, in bytes per second.
    #[schemars(title = "Interface rate", extend("minimum" = 1_000_000, "maximum" = 100_000_000_000_u64, "x-unit" = "B/s"))]
    pub interface_rate: Bytes,
    /// Buffer of the drive.
    #[schemars(title = "Drive buffer", extend("minimum" = 0, "maximum" = 17_179_869_184_u64))]
    pub buffer: Bytes,
    /// Segments of the buffer, each for one sequential stream.
    #[serde(default = "default_segments")]
    #[schemars(range(min = 1, max = 1024))]
    pub segments: u32,
    /// How far the drive reads on into its buffer after a read.
    #[serde(default)]
    #[schemars(title = "Drive read-ahead")]
    pub read_ahead: Bytes,
    /// Whether a write completes when it is in the buffer.
    #[serde(default)]
    #[schemars(title = "Drive write cache")]
    pub write_cache: bool,
    /// Whether what was written stays in the buffer for reads.
    #[serde(default = "yes")]
    #[schemars(title = "Reads find what was written")]
    pub keeps_writes: bool,
    /// Order in which the drive serves the requests it has.
    #[serde(default = "default_policy")]
    #[schemars(title = "Drive queue")]
    pub queue_policy: QueuePolicy,
    /// Requests that the drive holds and can reorder; more wait outside, in order of arrival.
    #[serde(default = "default_queue_depth")]
    #[schemars(title = "Drive queue depth", range(min = 1, max = 1024))]
    pub queue_depth: u32,
    /// Longest that a request in the drive's queue is overtaken by others: the oldest goes next once it has waited for longer,
    /// whatever the order. Deep queues reach it, and the slowest requests then take about this time.
    #[serde(default = "default_overtaken")]
    #[schemars(title = "Longest overtaken", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64, "x-scale" = "log2"))]
    pub longest_overtaken: Nanos,
}

/// Beyond any fair wait at the queue depths that drives have.
fn default_overtaken() -> Nanos {
    Nanos(2_000_000_000)
}

fn default_zones() -> u32 {
    16
}
fn default_segments() -> u32 {
    16
}
fn default_policy() -> QueuePolicy {
    QueuePolicy::Satf
}
fn default_queue_depth() -> u32 {
    32
}

/// A solid-state drive: parallel flash units behind one interface.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ssd {
    /// Capacity.
    #[schemars(title = "Capacity", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64))]
    pub capacity: Bytes,
    /// Flash units that work in parallel (channels times dies).
    #[schemars(title = "Parallel units", range(min = 1, max = 4096))]
    pub units: u32,
    /// Bytes that one unit reads or programs at once.
    #[schemars(title = "Flash page", extend("minimum" = 512, "maximum" = 1_048_576))]
    pub page: Bytes,
    /// Time to read a page.
    #[schemars(title = "Page read", extend("minimum" = 1))]
    pub read: Nanos,
    /// Time to program a page.
    #[schemars(title = "Page program", extend("minimum" = 1))]
    pub program: Nanos,
    /// Command overhead of the controller, overlapped between requests.
    #[serde(default)]
    pub overhead: Nanos,
    /// Rate of the interface, in bytes per second.
    #[schemars(title = "Interface rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub interface_rate: Bytes,
    /// Requests that the drive accepts at once; more wait outside.
    #[serde(default = "default_queue_depth")]
    #[schemars(title = "Drive queue depth", range(min = 1, max = 65536))]
    pub queue_depth: u32,
    /// Write buffer that acknowledges writes while there is room.
    #[serde(default)]
    pub write_buffer: Bytes,
    /// Flash translation layer: the drive remembers what was written where, and collects garbage. Without it the drive is always fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
}

/// The flash of a drive and its translation layer: pages mapped one by one, written once between two erases of their block.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Channels; the drive's `units` spread over them evenly, so that units divided by channels are the dies of a channel.
    #[schemars(title = "Channels", range(min = 1, max = 256))]
    pub channels: u32,
    /// Rate at which a channel moves pages between the controller and its dies, in bytes per second.
    #[schemars(title = "Channel rate", extend("minimum" = 1_000_000, "maximum" = 100_000_000_000_u64, "x-unit" = "B/s"))]
    pub channel_rate: Bytes,
    /// Pages that a die reads of one request, or programs, at once: its planes times the pages that share their cells.
    #[serde(default = "one_u32")]
    #[schemars(title = "Pages at once", range(min = 1, max = 64))]
    pub planes: u32,
    /// Pages of an erase block.
    #[schemars(title = "Pages in a block", range(min = 4, max = 65536), extend("x-scale" = "log2"))]
    pub pages_per_block: u32,
    /// Time to erase a block.
    #[schemars(title = "Block erase", extend("minimum" = 1, "maximum" = 10_000_000_000_u64))]
    pub erase: Nanos,
    /// Time that each command occupies the interface besides its data.
    #[serde(default)]
    #[schemars(title = "Command on the interface", extend("maximum" = 1_000_000_000))]
    pub command: Nanos,
    /// Flash beyond the capacity, as a share of the capacity.
    #[schemars(title = "Over-provisioning", range(min = 1, max = 400), extend("x-unit" = "%"))]
    pub overprovision: f64,
    /// How garbage collection chooses the next block.
    #[serde(default)]
    #[schemars(title = "Collector")]
    pub collector: Collector,
    /// What the drive holds when the run starts.
    #[serde(default)]
    #[schemars(title = "Preconditioning")]
    pub precondition: Precondition,
    /// Part of the capacity that is simulated; addresses beyond it fold back onto it. 64 blocks for each die, or the capacity if that is less, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Simulated part", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub mapped: Option<Bytes>,
}

/// How garbage collection chooses the block to empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Collector {
    /// The block with the fewest valid pages.
    #[default]
    Greedy,
    /// The block with the most gained for the work of moving, times how long it has not changed.
    CostBenefit,
}

/// What a drive holds when the run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Precondition {
    /// Nothing: all blocks are erased, and reads of what was never written touch no flash.
    None,
    /// Every page, written once in order.
    #[default]
    Sequential,
    /// What uniform random writes leave behind once they have gone on for long: the steady state.
    Random,
}

/// A logical unit that moves bytes at a given rate, one request after the other.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lun {
    /// Capacity.
    #[serde(default = "default_lun_capacity")]
    #[schemars(title = "Capacity", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64))]
    pub capacity: Bytes,
    /// Bytes per second.
    #[schemars(title = "Rate", extend("minimum" = 1, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub rate: Bytes,
    /// Time added to each request, overlapped between requests.
    #[serde(default)]
    #[schemars(title = "Latency")]
    pub latency: Nanos,
    /// How the rate varies; it is fixed when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies: Option<Varies>,
}

fn default_lun_capacity() -> Bytes {
    Bytes(1 << 40)
}

/// What a run keeps besides its summary.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Keep the operation log.
    pub log: bool,
    /// Keep the server's analytics: what each client's requests, each device and the cores did in each interval.
    pub analytics: bool,
    /// Resolution of the time series.
    #[schemars(title = "Interval", extend("minimum" = 1_000_000))]
    pub interval: Nanos,
}

impl Default for Record {
    fn default() -> Self {
        Self { log: yes(), analytics: false, interval: Nanos(100_000_000) }
    }
}

/// Bounds that a run may not exceed; each ends the run with an error that names it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Simulated time.
    #[schemars(extend("minimum" = 1, "maximum" = 31_536_000_000_000_000_u64))]
    pub time: Nanos,
    /// Events of the simulation.
    #[schemars(range(min = 1, max = 100_000_000_000_u64))]
    pub events: u64,
    /// Memory of the run.
    #[schemars(extend("minimum" = 1_048_576, "maximum" = 3_221_225_472_u64))]
    pub memory: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Nanos(86_400_000_000_000), events: 2_000_000_000, memory: Bytes(1 << 30) }
    }
}
