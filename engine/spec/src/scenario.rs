//! A scenario: one typed tree that describes a workload and the storage stack it runs on.
//!
//! The tree is read top down, as a request travels: jobs, protocol, volume, controller, cache tier, layout, devices. Every layer may be
//! absent. The types define units, ranges, steps, labels and help. The JSON Schema, the page's sliders and the error
//! messages are made from them (see [`crate::schema`]). A scenario is checked in full before it runs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cluster::ClusterSpec;
use crate::commit::CommitSpec;
use crate::controller::ControllerSpec;
use crate::fanout::FanoutSpec;
use crate::fleet::FleetSpec;
use crate::host::HostSpec;
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
    /// Preset that layers come from. Fields that are written next to it take precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The workload, in fio's vocabulary.
    #[schemars(length(min = 1, max = 256))]
    pub jobs: Vec<Job>,
    /// The machine that issues I/O: cores, memory bandwidth, the cost of a request to a device, link and tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostSpec>,
    /// The NFS client on each machine that uses the network: page cache, async threads, processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nfs: Option<NfsSpec>,
    /// The network between clients and server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSpec>,
    /// The server's cores and its network card, between the network and the file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerSpec>,
    /// The server side of the file protocol: request scheduler and copy engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolSpec>,
    /// A database: writes are transactions, which commit by flushing logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitSpec>,
    /// The file system: block cache, prefetcher and write log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<VolumeSpec>,
    /// ZFS instead of the volume: dirty data, write throttle, transaction groups, I/O scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zfs: Option<ZfsSpec>,
    /// The page cache of an operating system instead of the volume: dirty pages, write-back, a journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCacheSpec>,
    /// A fan-out: each request queries many servers at once, and may query a second replica of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fanout: Option<FanoutSpec>,
    /// A fleet of thousands of nodes: placement of copies, data loss in outages, and the speed of re-replication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetSpec>,
    /// A cluster of nodes that share blocks: where the copies of a block are, and how a node finds them.
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
    /// The distribution of addresses over the devices.
    #[serde(default)]
    pub layout: LayoutSpec,
    /// A partition on each device, with any start and read-modify-write of partial blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionSpec>,
    /// The devices, group by group.
    #[schemars(length(min = 1, max = 64))]
    pub devices: Vec<DeviceGroup>,
    /// A monitor that averages over windows of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<MonitorSpec>,
    /// Contents of the first job's buffers, and their size after data reduction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduction: Option<ReductionSpec>,
    /// Data that the run keeps in addition to its summary.
    #[serde(default)]
    pub record: Record,
    /// Limits of the run.
    #[serde(default)]
    pub limits: Limits,
}
