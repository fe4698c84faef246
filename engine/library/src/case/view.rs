//! The views that a case may name: charts, tables and stages of the pages and the notebook's widget.

use schemars::JsonSchema;
use seeklab_spec::reader::FromJson;
use serde::Serialize;

/// A view by the name that case files use. The web part draws each under the same name (`web/src`, charts and evidence); a new one
/// is added there and here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// Requests in progress at a moment, block by block, on the way of a read.
    PrefetchStrip,
    /// Nodes of a cluster and what goes between them.
    ClusterMap,
    /// Leaves of a request on their servers, and their second copies.
    FanOut,
    /// Nodes of a fleet, the dark ones of an outage, and the sets that are dark as a whole.
    Copysets,
    /// Disks of a shelf: heads on their tracks, heads beside them, and the revolutions that this costs.
    ShakenDisks,
    /// Dirty data over time.
    Dirty,
    /// Transaction groups over time.
    Groups,
    /// Rates of arriving and written data over time.
    WriteRate,
    /// Devices of the intent log.
    LogDevices,
    /// The client of a file server.
    Client,
    /// Operations and cores of a server over time.
    Analytics,
    /// The contents of a cache as it warms up.
    Warmth,
    /// Owners of ranges.
    ShardMap,
    /// Time of processors by function.
    FlameGraph,
    /// Copies over time.
    CopyTimeline,
    /// The monitor's view of the same run.
    Monitor,
    /// Blocks of a request against blocks of a partition.
    Alignment,
    /// Data and what is stored of them.
    Reduction,
    /// Phases of single requests over time.
    Lifetimes,
    /// Requests by latency.
    Histogram,
    /// Requests by time and latency.
    Heatmap,
    /// Latency of each interval over time.
    Latency,
    /// The log of operations.
    Oplog,
    /// Output of iostat.
    Iostat,
    /// Output of fio.
    Fio,
    /// Output of a `DTrace` script with quantize.
    Quantize,
    /// Output of a script that watches syncs.
    Sync,
    /// Output of Bonnie++.
    Bonnie,
    /// Stage: requests in flight through all layers.
    Life,
    /// Stage: writers pour into a buffer that disks drain, with the delay that slows the writers.
    Bucket,
    /// Stage: the cores of a node, what runs on each, and who waits.
    Cores,
    /// Stage: I/O credits that come in and are spent, and the requests that they pay for.
    Credits,
    /// Stage: the SLC cache of a drive, what is written into it and past it, and what is folded.
    Slc,
    /// Stage: dirty pages between writers and a disk, and the commit that waits for them.
    WriteBack,
    /// Stage: the zones of a shingled drive, the cache before them, and the zone that is cleaned.
    Shingled,
    /// Stage: the platter and the arm of a disk.
    Platter,
    /// Stage: segments between client and server, and the window.
    Wire,
    /// Stage: synchronous writes that land in log devices while groups form behind.
    LogPool,
    /// Stage: what caches in memory and on flash hold.
    CacheWall,
    /// Stage: data through zero suppression, deduplication and compression.
    Squeeze,
    /// Stage: transactions at the logs of a database, and the flushes that they share.
    GroupCommit,
    /// Stage: a controller's battery, its log, and transactions that end in memory or at the disks.
    Battery,
    /// Stage: pages of a file in memory, those that were asked for and those that were read ahead.
    FilePages,
    /// Stage: packets of many servers that fill the port of a switch, and the silence after them.
    Incast,
}
