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
    /// Name; devices are called `name0`, `name1`, ...
    #[serde(default = "default_device_name")]
    #[schemars(length(min = 1, max = 32))]
    pub name: String,
    /// How many.
    #[serde(default = "crate::defaults::one")]
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
    /// Whether the buffer is divided as reads need it: segments that hold little leave room for more of them, and none grows beyond an
    /// equal part. Otherwise there are as many equal parts as segments, whatever they hold.
    #[serde(default = "crate::defaults::enabled")]
    #[schemars(title = "Segments as needed")]
    pub adaptive_segments: bool,
    /// How far the drive reads on into its buffer after a read.
    #[serde(default)]
    #[schemars(title = "Drive read-ahead")]
    pub read_ahead: Bytes,
    /// Whether a write completes when it is in the buffer, of which half is for such writes.
    #[serde(default)]
    #[schemars(title = "Drive write cache")]
    pub write_cache: bool,
    /// What a power failure does to the write cache, and whether FLUSH and FUA empty it.
    #[serde(default)]
    #[schemars(title = "Write cache is")]
    pub write_cache_is: Persistence,
    /// Whether what was written stays in the buffer for reads.
    #[serde(default = "crate::defaults::enabled")]
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
    /// Vibration that pushes the heads off their tracks; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shake: Option<Shake>,
}

impl DeviceGroup {
    /// The write cache of the group's devices, if they have one: the name of its field, and what becomes of its data.
    #[must_use]
    pub fn write_cache(&self) -> Option<(&'static str, Persistence)> {
        let disk = self.hdd.as_ref().filter(|disk| disk.write_cache).map(|disk| ("hdd.write_cache_is", disk.write_cache_is));
        let flash = self.ssd.as_ref().filter(|ssd| ssd.write_buffer.0 > 0).map(|ssd| ("ssd.write_buffer_is", ssd.write_buffer_is));
        disk.or(flash)
    }

    /// Whether a power failure loses writes that the group's devices have acknowledged.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.write_cache().is_some_and(|(_, cache)| cache.is_volatile())
    }
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

/// A logical unit that moves bytes at a given rate, one request after the other.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
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
    /// Time that the server spends on each request besides its bytes. It limits requests a second, as `rate` limits bytes: a mix of n
    /// requests of b bytes takes n (command + b / rate).
    #[serde(default, skip_serializing_if = "is_no_time")]
    #[schemars(title = "Time of a command", extend("maximum" = 1_000_000_000_u64))]
    pub command: Nanos,
    /// How much the latency scatters: its standard deviation over its mean. Each request draws its own from a gamma distribution; all
    /// have the same when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(title = "Scatter of latency", range(min = 0.0, max = 3.0))]
    pub latency_cv: f64,
    /// How the rate varies; it is fixed when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies: Option<Varies>,
    /// Times at which the unit stands still, in order of time: nothing starts, and what is under way takes longer by the rest of the pause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Pauses", length(max = 1000))]
    pub pauses: Vec<Pause>,
    /// I/O credits that limit the volume, as block volumes of clouds have them; without limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credits: Option<Credits>,
    /// An SLC cache that takes writes at the unit's rate until it is full; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<Slc>,
    /// Shingled zones behind a conventional cache, of a drive that manages them itself; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shingled: Option<Shingled>,
}

/// A time at which a device stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// When it begins, from the start of the run.
    #[schemars(title = "Pause at", extend("maximum" = 86_400_000_000_000_u64))]
    pub at: Nanos,
    /// How long it lasts.
    #[schemars(title = "Pause for", extend("minimum" = 1, "maximum" = 86_400_000_000_000_u64))]
    pub r#for: Nanos,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_no_time(time: &Nanos) -> bool {
    time.0 == 0
}

fn default_lun_capacity() -> Bytes {
    Bytes(1 << 40)
}

/// Order in which waiting requests are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, FromJson, JsonSchema)]
pub enum QueuePolicy {
    /// In order of arrival.
    #[default]
    #[serde(rename = "fcfs")]
    Fcfs,
    /// The nearest cylinder first.
    #[serde(rename = "sstf")]
    Sstf,
    /// The nearest cylinder in the arm's direction; turns round where none lies ahead.
    #[serde(rename = "scan")]
    Scan,
    /// Upwards by block number, then again from the lowest.
    #[serde(rename = "c-look")]
    CLook,
    /// The least seek and rotation first.
    #[serde(rename = "satf")]
    Satf,
}
