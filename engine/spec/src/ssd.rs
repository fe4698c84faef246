//! Solid-state drives and their flash.

use schemars::JsonSchema;
use serde::Serialize;

use crate::persistence::Persistence;
use crate::reader::FromJson;
use crate::{Bytes, Nanos};

/// A solid-state drive: parallel flash units behind one interface.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ssd {
    /// Capacity.
    #[schemars(title = "Capacity", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64))]
    pub capacity: Bytes,
    /// Flash units that work in parallel (channels times dies).
    #[schemars(title = "Parallel units", range(min = 1, max = 4096))]
    pub units: u32,
    /// Bytes that one unit reads or programs in one operation.
    #[schemars(title = "Flash page", extend("minimum" = 512, "maximum" = 1_048_576))]
    pub page: Bytes,
    /// Time to read a page.
    #[schemars(title = "Page read", extend("minimum" = 1))]
    pub read: Nanos,
    /// Time to program a page.
    #[schemars(title = "Page program", extend("minimum" = 1))]
    pub program: Nanos,
    /// Command overhead of the controller. The overheads of different requests overlap.
    #[serde(default)]
    pub overhead: Nanos,
    /// Command overhead of a write. Default: the read overhead. For a read, the firmware looks up the page and sets up the flash; a buffered
    /// write needs neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Command overhead of writes")]
    pub write_overhead: Option<Nanos>,
    /// Rate of the interface, in bytes per second.
    #[schemars(title = "Interface rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub interface_rate: Bytes,
    /// Requests that the drive accepts at the same time. The others wait outside.
    #[serde(default = "default_queue_depth")]
    #[schemars(title = "Drive queue depth", range(min = 1, max = 65536))]
    pub queue_depth: u32,
    /// Write buffer that acknowledges writes while it has room.
    #[serde(default)]
    pub write_buffer: Bytes,
    /// Behaviour of the write buffer at a power failure, and whether FLUSH and FUA empty it.
    #[serde(default = "protected")]
    #[schemars(title = "Write buffer type")]
    pub write_buffer_is: Persistence,
    /// Flash translation layer: the drive records where it wrote each page, and collects garbage. Without it, the drive always behaves as
    /// if new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
}

/// The flash of a drive and its translation layer. It maps individual pages. A page is written once between two erases of its block.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Number of channels. The drive's `units` are spread over them evenly, so units divided by channels is the number of dies per
    /// channel.
    #[schemars(title = "Channels", range(min = 1, max = 256))]
    pub channels: u32,
    /// A channel's rate of moving pages between the controller and its dies, in bytes per second.
    #[schemars(title = "Channel rate", extend("minimum" = 1_000_000, "maximum" = 100_000_000_000_u64, "x-unit" = "B/s"))]
    pub channel_rate: Bytes,
    /// Pages of one request that a die reads or programs at the same time: its planes times the pages that share its cells.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Pages at once", range(min = 1, max = 256))]
    pub planes: u32,
    /// Pages in an erase block.
    #[schemars(title = "Pages in a block", range(min = 4, max = 65536), extend("x-scale" = "log2"))]
    pub pages_per_block: u32,
    /// Time to erase a block.
    #[schemars(title = "Block erase", extend("minimum" = 1, "maximum" = 10_000_000_000_u64))]
    pub erase: Nanos,
    /// Time that each command occupies the interface, in addition to its data.
    #[serde(default)]
    #[schemars(title = "Command on the interface", extend("maximum" = 1_000_000_000))]
    pub command: Nanos,
    /// Time that the command of a write, TRIM or FLUSH occupies the interface. Default: as for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Command of writes", extend("maximum" = 1_000_000_000))]
    pub write_command: Option<Nanos>,
    /// Flash beyond the capacity, as a share of the capacity.
    #[schemars(title = "Over-provisioning", range(min = 1, max = 400), extend("x-unit" = "%"))]
    pub overprovision: f64,
    /// Suspension of programs and erases, so that reads need not wait for their end. Default: a die finishes what it has started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Suspension")]
    pub suspend: Option<Suspend>,
    /// Read times of the page types that share cells, as multiples of `read`: three for TLC, four for QLC, with a mean of 1. Default: all
    /// page types have the same read time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Read times by page type", length(max = 8), inner(range(min = 0.05, max = 8)))]
    pub read_factors: Vec<f64>,
    /// Probability that a page must be read again with other voltages. It applies to each retry, at most eight times.
    #[serde(default)]
    #[schemars(title = "Read retries", range(min = 0, max = 0.5))]
    pub retry: f64,
    /// Stalls between buffered writes, when the drive takes no data from the host. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Stalls of buffered writes", length(max = 4))]
    pub write_stalls: Vec<WriteStall>,
    /// When buffered pages are programmed.
    #[serde(default)]
    #[schemars(title = "Gathering")]
    pub gather: Gather,
    /// Maximum time that a buffered page waits for others to fill its program. Default: 2 ms in a protected buffer, 0.1 ms in a volatile
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Maximum gathering", extend("minimum" = 1000, "maximum" = 60_000_000_000_u64))]
    pub gather_wait: Option<Nanos>,
    /// Time that a FLUSH of a volatile buffer, or a FUA write past it, takes after its last page is programmed, because the page map must be
    /// durable too. One at a time: its inverse is the maximum of such requests per second.
    #[serde(default = "default_map_flush")]
    #[schemars(title = "Map flush", extend("maximum" = 10_000_000_000_u64))]
    pub map_flush: Nanos,
    /// Time of a TRIM for each page that it covers, in addition to its command. It changes the map only, not the flash.
    #[serde(default = "default_trim_page")]
    #[schemars(title = "TRIM per page", extend("maximum" = 1_000_000))]
    pub trim_page: Nanos,
    /// Whether a TRIM blocks all other commands, as on drives without queued TRIM.
    #[serde(default)]
    #[schemars(title = "TRIM blocks other commands")]
    pub sync_trim: bool,
    /// Neighbouring logical pages that share a physical page of a die and are read at once.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Logical pages per physical page", range(min = 1, max = 64))]
    pub stripe: u32,
    /// Planes of a die that can read independently. Programs and erases occupy all planes.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Independent read planes", range(min = 1, max = 16))]
    pub read_planes: u32,
    /// Paths of the controller, each for one read at a time. Default: reads wait only for dies, channels and the interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Read paths")]
    pub read_paths: Option<ReadPaths>,
    /// Pages that garbage collection reads at once in a die.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Pages per collection read", range(min = 1, max = 256))]
    pub collect_parallel: u32,
    /// Whether data of reads take precedence over data of writes when both wait for a channel. Otherwise they are sent in order of
    /// readiness.
    #[serde(default)]
    #[schemars(title = "Reads first on the channels")]
    pub channel_reads_first: bool,
    /// A cache of cells that hold one bit. Default: none, as in data-centre drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "SLC cache")]
    pub slc_cache: Option<SlcCache>,
    /// How garbage collection selects the next block.
    #[serde(default)]
    #[schemars(title = "Collector")]
    pub collector: Collector,
    /// Contents of the drive when the run starts.
    #[serde(default)]
    #[schemars(title = "Preconditioning")]
    pub precondition: Precondition,
    /// Simulated part of the capacity. Addresses beyond it wrap around. Default: 64 blocks per die, at most the capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Simulated part", extend("minimum" = 1_048_576, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub mapped: Option<Bytes>,
}

/// Paths of a controller, each for one read at a time.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadPaths {
    /// Paths that are always powered.
    #[schemars(title = "Least paths", range(min = 1, max = 4096))]
    pub least: u32,
    /// Paths per read in the drive that the controller powers when this gives more.
    #[serde(default)]
    #[schemars(title = "Paths per read", range(min = 0, max = 1))]
    pub per_read: f64,
}

/// How garbage collection selects the next block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Collector {
    /// The block with the fewest valid pages.
    #[default]
    Greedy,
    /// Clean the block with the highest score: the space that cleaning frees, divided by the pages to be moved, times the time since the
    /// block last changed.
    CostBenefit,
}

/// Contents of a drive when the run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Precondition {
    /// Nothing: all blocks are erased, and reads of unwritten pages do not use the flash.
    None,
    /// Every page, written once in order.
    #[default]
    Sequential,
    /// The steady state of long uniform random writes.
    Random,
}

fn default_queue_depth() -> u32 {
    32
}

fn default_map_flush() -> Nanos {
    Nanos(200_000)
}

fn default_trim_page() -> Nanos {
    Nanos(20)
}

/// Most drives with a write buffer protect it with capacitors.
fn protected() -> Persistence {
    Persistence::Protected
}

/// When buffered pages are programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gather {
    /// As soon as their die is free, even a single page.
    #[default]
    Now,
    /// When enough pages fill a program, a page has waited for the maximum time, or the buffer fills up.
    Full,
}

/// A kind of stall, when a drive takes no data from the host. On average, it makes a write longer by `share` times `time`.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteStall {
    /// Share of the buffered writes that wait for a stall of this kind. With several commands in the drive, one stall delays all of them.
    #[schemars(title = "Delayed writes", range(min = 0, max = 0.5))]
    pub share: f64,
    /// Mean time of a stall.
    #[schemars(title = "Mean time", extend("minimum" = 1, "maximum" = 10_000_000_000_u64))]
    pub time: Nanos,
    /// Shape of the gamma distribution of these times: 1 is exponential, larger shapes are closer to the mean.
    #[serde(default = "default_shape")]
    #[schemars(title = "Shape of the times", range(min = 0.1, max = 1000), extend("x-scale" = "log"))]
    pub shape: f64,
    /// Whether the drive uses pauses between commands for this work if there are any, so that a write alone never waits for it.
    #[serde(default)]
    #[schemars(title = "Hides in pauses")]
    pub hides: bool,
}

/// Exponential times.
fn default_shape() -> f64 {
    1.0
}

/// A part of the flash whose cells hold one bit instead of several, for the latest writes.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Guaranteed space of the cache, on the whole drive.
    #[serde(default)]
    #[schemars(title = "Fixed part", extend("maximum" = 1_125_899_906_842_624_u64))]
    pub fixed: Bytes,
    /// Additional space of the cache while the drive holds no data. It shrinks to nothing as the drive fills up.
    #[serde(default)]
    #[schemars(title = "Dynamic part", extend("maximum" = 1_125_899_906_842_624_u64))]
    pub dynamic: Bytes,
    /// Bits per cell outside the cache. A program or block of the cache holds 1/bits of the pages of a normal one.
    #[schemars(title = "Bits of a cell", range(min = 2, max = 5))]
    pub bits: u32,
    /// Read time of a page in the cache.
    #[schemars(title = "Page read", extend("minimum" = 1))]
    pub read: Nanos,
    /// Program time of pages in the cache.
    #[schemars(title = "Page program", extend("minimum" = 1))]
    pub program: Nanos,
    /// Idle time after which the drive moves data out of the cache, to cells with all their bits.
    #[serde(default = "default_fold_after")]
    #[schemars(title = "Folds after", extend("maximum" = 3_600_000_000_000_u64))]
    pub fold_after: Nanos,
    /// Destination of writes when the cache is full.
    #[serde(default)]
    #[schemars(title = "When full")]
    pub when_full: WhenFull,
}

/// Destination of writes when the SLC cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// Directly to cells with all their bits.
    #[default]
    Direct,
    /// To the cache, after older data have been moved out of it.
    Fold,
}

/// On measured drives, the cache is free again after less than a second of idleness.
fn default_fold_after() -> Nanos {
    Nanos(1_000_000_000)
}

/// Suspension of programs and erases for reads.
#[derive(Clone, Debug, Default, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspend {
    /// Suspension of programs, including those of garbage collection.
    #[serde(default)]
    #[schemars(title = "Programs")]
    pub program: ProgramSuspension,
    /// Suspension of erases.
    #[serde(default)]
    #[schemars(title = "Erases")]
    pub erase: EraseSuspension,
}

/// Declares the suspension of one kind of operation: the same fields, with separate defaults.
macro_rules! suspension {
    ($(#[$about:meta])* $name:ident: $suspend:literal, $resume:literal, $slice:literal, $rest:literal, $most:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            /// Time from the decision to suspend until the die can read.
            #[schemars(title = "Suspend", extend("maximum" = 1_000_000_000))]
            pub suspend: Nanos,
            /// Time from the last read until the operation continues.
            #[schemars(title = "Resume", extend("maximum" = 1_000_000_000))]
            pub resume: Nanos,
            /// Minimum time that the operation runs after a start or resume before it can be suspended.
            #[schemars(title = "Minimum slice", extend("maximum" = 10_000_000_000_u64))]
            pub slice: Nanos,
            /// Remaining time below which the operation is not suspended.
            #[schemars(title = "Not suspended near the end", extend("maximum" = 10_000_000_000_u64))]
            pub rest: Nanos,
            /// Maximum suspensions of one operation. 0 disables suspension.
            #[schemars(title = "Suspensions per operation", range(min = 0, max = 1000))]
            pub most: u32,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { suspend: Nanos($suspend), resume: Nanos($resume), slice: Nanos($slice), rest: Nanos($rest), most: $most }
            }
        }
    };
}

suspension! {
    /// How programs are suspended.
    ProgramSuspension: 20_000, 5_000, 100_000, 50_000, 4
}
suspension! {
    /// How erases are suspended.
    EraseSuspension: 100_000, 20_000, 500_000, 200_000, 10
}
