//! The distribution of addresses over the devices, in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;
use crate::rebuild::RebuildSpec;

/// The distribution of addresses over the devices.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LayoutSpec {
    /// Layout rule.
    #[schemars(title = "Layout")]
    pub kind: LayoutKind,
    /// Bytes on one device or group before the next one continues. With RAID-5 and RAID-6 it is the chunk. With RAID-Z and dRAID it is the
    /// record, which is always read and written whole.
    #[schemars(title = "Stripe unit", extend("minimum" = 512, "maximum" = 1_073_741_824))]
    pub unit: Bytes,
    /// Devices in a group of a mirror, RAID-5, RAID-6 or RAID-Z. Groups are striped. Default: all devices. With dRAID, devices of a stripe,
    /// data and parity; default: eight with data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Devices in a group", range(min = 2, max = 1024))]
    pub width: Option<u32>,
    /// Parity devices in a group of RAID-Z or dRAID.
    #[schemars(title = "Parity", range(min = 1, max = 3))]
    pub parity: u32,
    /// Distributed spares of dRAID: each row of stripes leaves out that many devices.
    #[schemars(title = "Distributed spares", range(min = 0, max = 100))]
    pub spares: u32,
    /// Smallest unit that RAID-Z and dRAID allocate, as a power of two.
    #[schemars(title = "Sector size, log2", range(min = 9, max = 16))]
    pub ashift: u32,
    /// Which side of a mirror serves a read. Default: the rule of the ZFS version; without ZFS, the least load.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Read balance")]
    pub read_balance: Option<ReadBalance>,
    /// Bytes of each device that one mark of a write-intent bitmap covers, with RAID-5 and RAID-6; 64 MiB for Linux md. A write to a region
    /// without a mark first waits until the bitmap is on all devices. Default: no bitmap.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Region of the write-intent bitmap", extend("minimum" = 4096, "maximum" = 1_073_741_824))]
    pub write_intent: Option<Bytes>,
    /// Failed devices, by index. Their data are read from the others.
    pub failed: Vec<u32>,
    /// Rebuild of failed devices onto spares. Default: they stay lost.
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
            spares: 0,
            ashift: 12,
            read_balance: None,
            write_intent: None,
            failed: Vec::new(),
            rebuild: None,
        }
    }
}

/// Rule that distributes addresses over the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LayoutKind {
    /// Stripe units on all devices in turn.
    #[default]
    Stripe,
    /// One device after the other.
    Concat,
    /// Groups of devices with the same contents.
    Mirror,
    /// Groups with one parity chunk in each stripe; a small write first reads old data and parity.
    Raid5,
    /// The same with two parity chunks.
    Raid6,
    /// Groups with parity; each record is a separate stripe.
    RaidZ,
    /// The same with stripes of a fixed width, which are dealt out over all devices.
    Draid,
}

/// Rule that selects the side of a mirror for a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromJson, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadBalance {
    /// Each region of 2 MiB belongs to one side, whatever the load (ZFS until 2012, and illumos).
    Region,
    /// The fewest requests in flight. Ties go to one side for 10 ms, then to the other (ZFS on Linux 0.6.2, 2012).
    Pending,
    /// The least load: requests in flight plus a penalty for distance; ties by region (`OpenZFS` since 0.7).
    #[default]
    Load,
    /// The side whose arm is nearest to the data, judged by the end of its last request.
    Nearest,
}
