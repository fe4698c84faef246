//! A scenario: one typed tree that describes a workload and the storage stack it runs on.
//!
//! The tree is read top down, as a request travels: jobs, protocol, volume, controller, cache tier, layout, devices. Every layer may be
//! absent. Units, ranges, steps, labels and help live on the types; the JSON Schema, the sliders of the page and the error
//! messages all come from them (see [`crate::schema`]). A scenario is checked in full before it runs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::ClusterSpec;
use crate::commit::CommitSpec;
use crate::controller::ControllerSpec;
use crate::fanout::FanoutSpec;
use crate::fleet::FleetSpec;
use crate::monitor::MonitorSpec;
use crate::network::NetworkSpec;
use crate::nfs::NfsSpec;
use crate::page_cache::PageCacheSpec;
use crate::partition::PartitionSpec;
use crate::raid_cache::RaidCacheSpec;
use crate::reader::FromJson;
use crate::reduction::ReductionSpec;
use crate::server::ServerSpec;
use crate::zfs::ZfsSpec;
use crate::{DeviceGroup, Job, LayoutSpec, Limits, ProtocolSpec, Record, TierSpec, VolumeSpec};

/// A workload and the storage stack it runs on.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
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
    pub protocol: Option<ProtocolSpec>,
    /// A database: writes are transactions, which commit by flushing logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitSpec>,
    /// The file system: block cache, prefetcher and write log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<VolumeSpec>,
    /// ZFS in place of the volume: dirty data, write throttle, transaction groups, I/O scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zfs: Option<ZfsSpec>,
    /// The page cache of an operating system in place of the volume: dirty pages, write-back, a journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheSpec>,
    /// A fan-out: each request asks many servers at once, and may ask a second replica of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fanout: Option<FanoutSpec>,
    /// Thousands of nodes: where copies lie, what outages lose, and how fast a lost node's data are copied again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSpec>,
    /// Nodes that share blocks among them: where a block lives, and how it is found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterSpec>,
    /// Controllers of virtual disks on the cores of a node, below the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerSpec>,
    /// An SSD cache tier between the volume and its devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierSpec>,
    /// The write cache of a RAID controller, and its battery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raid_cache: Option<RaidCacheSpec>,
    /// How addresses spread over the devices.
    #[serde(default)]
    pub layout: LayoutSpec,
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
