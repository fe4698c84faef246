//! The devices of a scenario: disks, solid-state drives, logical units.

use schemars::JsonSchema;
use serde::Serialize;

use crate::credits::Credits;
use crate::persistence::Persistence;
use crate::reader::FromJson;
use crate::shake::Shake;
use crate::shingled::Shingled;
use crate::slc::Slc;
use crate::ssd::Ssd;
use crate::varies::Varies;
use crate::{Bytes, Nanos};

/// A number of identical devices: exactly one of `hdd`, `ssd` and `lun`, or a `preset` that fills it in.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceGroup {
    /// Name of the group. Its devices are called `name0`, `name1`, ...
    #[serde(default = "default_device_name")]
    #[schemars(length(min = 1, max = 32))]
    pub name: String,
    /// Number of devices.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Devices", range(min = 1, max = 1024))]
    pub count: u32,
    /// Preset that the device comes from.
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
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
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
    /// Seek time to the next cylinder.
    #[schemars(title = "Seek, one cylinder", extend("minimum" = 1000, "maximum" = 1_000_000_000))]
    pub seek_single: Nanos,
    /// Seek time averaged over random pairs of positions.
    #[schemars(title = "Seek, average", extend("minimum" = 1000, "maximum" = 1_000_000_000))]
    pub seek_average: Nanos,
    /// Seek time over the full stroke.
    #[schemars(title = "Seek, full stroke", extend("minimum" = 1000, "maximum" = 1_000_000_000))]
    pub seek_full: Nanos,
    /// Time to switch to another head of the same cylinder.
    pub head_switch: Nanos,
    /// Additional settling time before a write.
    #[serde(default)]
    pub write_settle: Nanos,
    /// Command overhead of the drive.
    #[serde(default)]
    pub overhead: Nanos,
    /// Rate of the interface, in bytes per second.
    #[schemars(title = "Interface rate", extend("minimum" = 1_000_000, "maximum" = 100_000_000_000_u64, "x-unit" = "B/s"))]
    pub interface_rate: Bytes,
    /// Size of the drive's buffer.
    #[schemars(title = "Drive buffer", extend("minimum" = 0, "maximum" = 17_179_869_184_u64))]
    pub buffer: Bytes,
    /// Segments of the buffer, each for one sequential stream.
    #[serde(default = "default_segments")]
    #[schemars(range(min = 1, max = 1024))]
    pub segments: u32,
    /// Whether the buffer is divided as reads need it. Segments with little data then leave room for more segments, and none exceeds an
    /// equal share. Otherwise all segments have the same size.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Adaptive segments")]
    pub adaptive_segments: bool,
    /// How far the drive reads ahead into its buffer after a read.
    #[serde(default)]
    #[schemars(title = "Drive read-ahead")]
    pub read_ahead: Bytes,
    /// Whether a write completes once it is in the buffer. Half of the buffer holds such writes.
    #[serde(default)]
    #[schemars(title = "Drive write cache")]
    pub write_cache: bool,
    /// Behaviour of the write cache at a power failure, and whether FLUSH and FUA empty it.
    #[serde(default)]
    #[schemars(title = "Write cache type")]
    pub write_cache_is: Persistence,
    /// Maximum number of cached writes that the drive sorts for the media. Adjacent writes count as one. Further writes wait until one of
    /// these is on the media. Default: 512.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Destage pool", range(min = 1, max = 65536))]
    pub destage_pool: Option<u32>,
    /// Order in the queue of cached writes that go to the media. Default: the drive queue's policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Destage order")]
    pub destage_policy: Option<QueuePolicy>,
    /// Whether written data stay in the buffer for later reads.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Reads hit written data")]
    pub keeps_writes: bool,
    /// Service order of the drive's queue.
    #[serde(default = "default_policy")]
    #[schemars(title = "Drive queue")]
    pub queue_policy: QueuePolicy,
    /// Queue depth of the drive. It can reorder these requests; the rest wait in order of arrival.
    #[serde(default = "default_queue_depth")]
    #[schemars(title = "Drive queue depth", range(min = 1, max = 1024))]
    pub queue_depth: u32,
    /// Number of requests that the drive puts in order ahead of time; later ones cannot overtake these. 0: the drive chooses when the arm
    /// is free.
    #[serde(default, skip_serializing_if = "is_no_request")]
    #[schemars(title = "Planned requests", range(min = 0, max = 1024))]
    pub queue_planned: u32,
    /// Maximum time that other requests can overtake one in the drive's queue. After that the oldest request goes next, whatever the
    /// policy. Deep queues reach this limit, and their slowest requests then take about this long.
    #[serde(default = "default_overtaken")]
    #[schemars(title = "Starvation limit", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64, "x-scale" = "log2"))]
    pub longest_overtaken: Nanos,
    /// Vibration that pushes the heads off their tracks. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shake: Option<Shake>,
}

impl DeviceGroup {
    /// Return the field and the persistence of the devices' write cache, if they have one.
    #[must_use]
    pub fn write_cache(&self) -> Option<(&'static str, Persistence)> {
        let disk = self.hdd.as_ref().filter(|disk| disk.write_cache).map(|disk| ("hdd.write_cache_is", disk.write_cache_is));
        let flash = self.ssd.as_ref().filter(|ssd| ssd.write_buffer.0 > 0).map(|ssd| ("ssd.write_buffer_is", ssd.write_buffer_is));
        disk.or(flash)
    }

    /// Return whether a power failure loses writes that the devices have acknowledged.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.write_cache().is_some_and(|(_, cache)| cache.is_volatile())
    }
}

/// Default of two seconds: at the queue depths of real drives, no request waits that long in a fair order.
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

/// A logical unit that transfers bytes at a given rate, one request at a time.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lun {
    /// Capacity.
    #[serde(default = "default_lun_capacity")]
    #[schemars(title = "Capacity", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64))]
    pub capacity: Bytes,
    /// Transfer rate, in bytes per second.
    #[schemars(title = "Rate", extend("minimum" = 1, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub rate: Bytes,
    /// Latency added to each request. Latencies of different requests overlap.
    #[serde(default)]
    #[schemars(title = "Latency")]
    pub latency: Nanos,
    /// Time of the server per request, in addition to its bytes. It limits requests per second, as `rate` limits bytes. A mix of n
    /// requests of b bytes takes n (command + b / rate).
    #[serde(default, skip_serializing_if = "is_no_time")]
    #[schemars(title = "Time per command", extend("maximum" = 1_000_000_000_u64))]
    pub command: Nanos,
    /// Coefficient of variation of the latency: its standard deviation divided by its mean. Each request draws its latency from a gamma
    /// distribution. 0 makes all latencies equal.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(title = "Latency variation", range(min = 0.0, max = 3.0))]
    pub latency_cv: f64,
    /// Variation of the rate over time. Default: constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies: Option<Varies>,
    /// Pauses, in time order. Nothing starts during a pause; requests in progress are delayed until it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Pauses", length(max = 1000))]
    pub pauses: Vec<Pause>,
    /// I/O credits that limit the volume, as on block volumes in a cloud. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<Credits>,
    /// SLC cache that takes writes at the unit's rate until it is full. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<Slc>,
    /// Shingled zones behind a conventional cache, as on a drive-managed SMR disk. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shingled: Option<Shingled>,
}

/// A time during which a device pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Start of the pause, from the start of the run.
    #[schemars(title = "Pause at", extend("maximum" = 86_400_000_000_000_u64))]
    pub at: Nanos,
    /// Length of the pause.
    #[schemars(title = "Pause for", extend("minimum" = 1, "maximum" = 86_400_000_000_000_u64))]
    pub r#for: Nanos,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_no_request(count: &u32) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_no_time(time: &Nanos) -> bool {
    time.0 == 0
}

fn default_lun_capacity() -> Bytes {
    Bytes(1 << 40)
}

/// Service order of waiting requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, FromJson, JsonSchema)]
pub enum QueuePolicy {
    /// In order of arrival.
    #[default]
    #[serde(rename = "fcfs")]
    Fcfs,
    /// The nearest cylinder first (shortest seek).
    #[serde(rename = "sstf")]
    Sstf,
    /// The nearest cylinder in the arm's direction. The arm turns round when no request is ahead.
    #[serde(rename = "scan")]
    Scan,
    /// Upwards by block number, then again from the lowest.
    #[serde(rename = "c-look")]
    CLook,
    /// The shortest seek plus rotation first.
    #[serde(rename = "satf")]
    Satf,
}
