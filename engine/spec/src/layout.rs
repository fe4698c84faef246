//! How addresses spread over the devices, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;
use crate::rebuild::RebuildSpec;

/// How addresses spread over the devices.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LayoutSpec {
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
    /// Which side of a mirror answers a read; under ZFS the version's rule when absent, else the least load.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Read balance")]
    pub read_balance: Option<ReadBalance>,
    /// Devices that have failed, by index; their data are read from the others.
    pub failed: Vec<u32>,
    /// Rebuild failed devices onto spares; they stay lost when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebuild: Option<RebuildSpec>,
}

impl Default for LayoutSpec {
    fn default() -> Self {
        Self {
            kind: LayoutKind::default(),
            unit: crate::volume::default_block(),
            width: None,
            parity: 1,
            ashift: 12,
            read_balance: None,
            failed: Vec::new(),
            rebuild: None,
        }
    }
}

/// Rule by which addresses spread over the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadBalance {
    /// Regions of 2 MiB belong to one side each, whatever the load (ZFS until 2012, and illumos).
    Region,
    /// The fewest in flight; ties go to one side for 10 ms each (ZFS on Linux 0.6.2, 2012).
    Pending,
    /// The least load: requests in flight plus a penalty for distance; ties by region (`OpenZFS` since 0.7).
    #[default]
    Load,
    /// The side whose arm is nearest to the data, by where its last request ended.
    Nearest,
}
