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
    /// The same of a write; that of a read when absent. A read's firmware looks up where the page is and sets up the flash, a
    /// buffered write's does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Command overhead of writes")]
    pub write_overhead: Option<Nanos>,
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
    /// What a power failure does to the write buffer, and whether FLUSH and FUA empty it.
    #[serde(default = "protected")]
    #[schemars(title = "Write buffer is")]
    pub write_buffer_is: Persistence,
    /// Flash translation layer: the drive remembers what was written where, and collects garbage. Without it the drive is always fresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
}

/// The flash of a drive and its translation layer: pages mapped one by one, written once between two erases of their block.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Channels; the drive's `units` spread over them evenly, so that units divided by channels are the dies of a channel.
    #[schemars(title = "Channels", range(min = 1, max = 256))]
    pub channels: u32,
    /// Rate at which a channel moves pages between the controller and its dies, in bytes per second.
    #[schemars(title = "Channel rate", extend("minimum" = 1_000_000, "maximum" = 100_000_000_000_u64, "x-unit" = "B/s"))]
    pub channel_rate: Bytes,
    /// Pages that a die reads of one request, or programs, at once: its planes times the pages that share their cells.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Pages at once", range(min = 1, max = 256))]
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
    /// Suspends programs and erases so that reads need not wait for their end; a die finishes what it has begun when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Suspension")]
    pub suspend: Option<Suspend>,
    /// Read times of the page types that share cells, as shares of `read`: three for TLC, four for QLC, with a mean of 1. All pages read alike when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Read times by page type", length(max = 8), inner(range(min = 0.05, max = 8)))]
    pub read_factors: Vec<f64>,
    /// Probability that a page must be read once more, with other voltages; again for each repetition, eight times at most.
    #[serde(default)]
    #[schemars(title = "Read retries", range(min = 0, max = 0.5))]
    pub retry: f64,
    /// When buffered pages are programmed.
    #[serde(default)]
    #[schemars(title = "Gathering")]
    pub gather: Gather,
    /// Longest that a buffered page waits for others to fill its program. 2 ms in a protected buffer and 0.1 ms in a volatile one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Longest gathering", extend("minimum" = 1000, "maximum" = 60_000_000_000_u64))]
    pub gather_wait: Option<Nanos>,
    /// Time that a FLUSH of a volatile buffer takes after its last page is programmed: the map of pages must be found again, too.
    #[serde(default = "default_map_flush")]
    #[schemars(title = "Map flush", extend("maximum" = 10_000_000_000_u64))]
    pub map_flush: Nanos,
    /// Time that a TRIM takes for each page that it covers, besides its command: the map is changed, no flash is.
    #[serde(default = "default_trim_page")]
    #[schemars(title = "TRIM of a page", extend("maximum" = 1_000_000))]
    pub trim_page: Nanos,
    /// Whether the drive takes no other command while it works a TRIM off, as drives do whose TRIM cannot be queued.
    #[serde(default)]
    #[schemars(title = "TRIM stops other commands")]
    pub sync_trim: bool,
    /// Neighbouring logical pages that lie together in one physical page of a die, and are read at once.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Logical pages in a physical one", range(min = 1, max = 64))]
    pub stripe: u32,
    /// Planes of a die that read independently of each other. Programs and erases occupy them all.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Independent read planes", range(min = 1, max = 16))]
    pub read_planes: u32,
    /// Pages that collection reads at once inside a die.
    #[serde(default = "crate::defaults::one")]
    #[schemars(title = "Pages that collection reads at once", range(min = 1, max = 256))]
    pub collect_parallel: u32,
    /// Whether data of reads go before those of writes where both wait for a channel. They go in order of readiness otherwise.
    #[serde(default)]
    #[schemars(title = "Reads first on the channels")]
    pub channel_reads_first: bool,
    /// A cache of cells that hold one bit; none when absent, as in drives for data centres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "SLC cache")]
    pub slc_cache: Option<SlcCache>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Collector {
    /// The block with the fewest valid pages.
    #[default]
    Greedy,
    /// The block with the most gained for the work of moving, times how long it has not changed.
    CostBenefit,
}

/// What a drive holds when the run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
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

fn default_queue_depth() -> u32 {
    32
}

fn default_map_flush() -> Nanos {
    Nanos(200_000)
}

fn default_trim_page() -> Nanos {
    Nanos(20)
}

/// Most drives with a write buffer of flash speed guard it with capacitors.
fn protected() -> Persistence {
    Persistence::Protected
}

/// When buffered pages are programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gather {
    /// As soon as their die is free, even one page alone.
    #[default]
    Now,
    /// When there are enough to fill a program, or one has waited for long, or the buffer fills up.
    Full,
}

/// A part of the flash whose cells hold one bit in place of several, for what was written last.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Data that it always has room for, on the whole drive.
    #[serde(default)]
    #[schemars(title = "Fixed part", extend("maximum" = 1_125_899_906_842_624_u64))]
    pub fixed: Bytes,
    /// Data that it has room for besides while no page of the drive's flash holds data; as the drive fills up, this part shrinks to nothing.
    #[serde(default)]
    #[schemars(title = "Dynamic part", extend("maximum" = 1_125_899_906_842_624_u64))]
    pub dynamic: Bytes,
    /// Bits that a cell holds elsewhere: a program and a block of the cache hold this part of the pages of others.
    #[schemars(title = "Bits of a cell", range(min = 2, max = 5))]
    pub bits: u32,
    /// Time to read a page of the cache.
    #[schemars(title = "Page read", extend("minimum" = 1))]
    pub read: Nanos,
    /// Time to program pages of the cache.
    #[schemars(title = "Page program", extend("minimum" = 1))]
    pub program: Nanos,
    /// How long the drive must be idle before it moves data from the cache to where cells hold all their bits.
    #[serde(default = "default_fold_after")]
    #[schemars(title = "Folds after", extend("maximum" = 3_600_000_000_000_u64))]
    pub fold_after: Nanos,
    /// Where writes go when it is full.
    #[serde(default)]
    #[schemars(title = "When full")]
    pub when_full: WhenFull,
}

/// Where writes go when the SLC cache is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// To where cells hold all their bits.
    #[default]
    Direct,
    /// To the cache, once older data were moved out of it.
    Fold,
}

/// Measured drives have their cache back within a second of idleness.
fn default_fold_after() -> Nanos {
    Nanos(1_000_000_000)
}

/// How programs and erases are suspended for reads.
#[derive(Clone, Debug, Default, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspend {
    /// Programs, also those of garbage collection.
    #[serde(default)]
    #[schemars(title = "Programs")]
    pub program: ProgramSuspension,
    /// Erases.
    #[serde(default)]
    #[schemars(title = "Erases")]
    pub erase: EraseSuspension,
}

/// Declares how one kind of operation is suspended: the same fields, with defaults of its own.
macro_rules! suspension {
    ($(#[$about:meta])* $name:ident: $suspend:literal, $resume:literal, $slice:literal, $rest:literal, $most:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            /// Time from the decision to suspend until the die can read.
            #[schemars(title = "Suspend", extend("maximum" = 1_000_000_000))]
            pub suspend: Nanos,
            /// Time from the last read until the operation goes on.
            #[schemars(title = "Resume", extend("maximum" = 1_000_000_000))]
            pub resume: Nanos,
            /// Least that it runs after its start, or after it was resumed, before it is suspended.
            #[schemars(title = "Least slice", extend("maximum" = 10_000_000_000_u64))]
            pub slice: Nanos,
            /// It is not suspended when no more than this is left of it.
            #[schemars(title = "No suspension in the rest", extend("maximum" = 10_000_000_000_u64))]
            pub rest: Nanos,
            /// How many times one operation is suspended at most; 0: never.
            #[schemars(title = "Suspensions of one operation", range(min = 0, max = 1000))]
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
