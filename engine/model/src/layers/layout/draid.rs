//! dRAID geometry: RAID-Z stripes of a fixed width, dealt out over more devices than a stripe has.
//!
//! Each record takes whole rows of its group, data and parity, whatever its size: 36 KiB for one of 4 KiB in a group of 8+1 devices with
//! sectors of 4 KiB. A write fills the rest of its last row with zeros; a read leaves it out. A group owns 16 MiB of each of its
//! devices. As many groups as fill whole rows of all devices make a slice, and each slice has a permutation of the devices. Distributed
//! spares are the devices that a row leaves out; which ones changes from slice to slice.
//!
//! Source of the rules: `vdev_draid.c` (comment on the layout, `vdev_draid_logical_to_physical`, `vdev_draid_map_alloc_write`) and
//! zpoolconcepts(7). The permutations are drawn, not those of ZFS's table, which only differ in how even they are.
//! Left out: rebuilding onto distributed spares; a record that crosses from one group to the next begins in the next instead.

use seeklab_kernel::Stream;
use seeklab_spec::{LayoutKind, LayoutSpec};

use super::raidz::{Column, RaidZ};

/// Bytes of each device that a group owns at a time (`VDEV_DRAID_ROWHEIGHT`).
const ROW_BYTES: u64 = 16 << 20;
/// Permutations that are drawn. Each also appears rotated by every number of devices.
const DRAWN: u64 = 64;
/// Devices with data in a group unless the scenario says otherwise (zpoolconcepts(7)).
const DEFAULT_DATA: u32 = 8;

/// Devices in a group of any layout of `devices` devices. dRAID has eight with data unless there are fewer.
#[must_use]
pub fn width(spec: &LayoutSpec, devices: u64) -> u32 {
    let most = u32::try_from(devices).unwrap_or(u32::MAX);
    spec.width.unwrap_or(match spec.kind {
        LayoutKind::Draid => (DEFAULT_DATA + spec.parity).min(most.saturating_sub(spec.spares)),
        _ => most,
    })
}

/// The geometry of a pool.
#[derive(Clone, Debug)]
pub struct Draid {
    group: RaidZ,
    devices: u64,
    /// Devices that a row has.
    active: u64,
    /// Groups of a slice.
    groups: u64,
    /// Sectors of a record on each device of its group.
    rows: u64,
    /// Sectors of data of a record.
    sectors: u64,
    /// Permutations of the devices, one after the other.
    permutations: Vec<u16>,
}

impl Draid {
    /// Groups of this geometry on `devices` devices, of which a row spares `spares`, with records of `record_bytes`.
    #[must_use]
    pub fn new(group: RaidZ, devices: u64, spares: u64, record_bytes: u64) -> Self {
        let active = devices.saturating_sub(spares).max(group.columns);
        let mut stream = Stream::new(0, "draid.permutations");
        let mut permutations = Vec::new();
        for _ in 0..DRAWN {
            let first = permutations.len();
            permutations.extend((0..devices).map(|device| u16::try_from(device).unwrap_or(u16::MAX)));
            for place in (1..devices).rev() {
                let (place, other) = (usize_of(place), usize_of(stream.below(place + 1)));
                permutations.swap(first + place, first + other);
            }
        }
        let sectors = group.data_sectors(record_bytes);
        let rows = sectors.div_ceil(group.columns - group.parity).max(1);
        Self { group, devices, active, groups: active / divisor(active, group.columns), rows, sectors, permutations }
    }

    /// Records that a group holds.
    fn records_of_group(&self) -> u64 {
        (self.row_bytes() >> self.group.ashift) / self.rows
    }

    /// Bytes of each device that a group owns: at least one record's.
    fn row_bytes(&self) -> u64 {
        ROW_BYTES.max(self.rows << self.group.ashift)
    }

    /// Bytes of each device that a slice takes.
    fn slice_bytes(&self) -> u64 {
        self.groups * self.group.columns / self.active * self.row_bytes()
    }

    /// Records that devices of `device_bytes` hold.
    #[must_use]
    pub fn records(&self, device_bytes: u64) -> u64 {
        device_bytes / self.slice_bytes() * self.groups * self.records_of_group()
    }

    /// Devices less those for parity and spares, rounded down.
    #[must_use]
    pub fn data_devices(&self) -> u64 {
        (self.active * (self.group.columns - self.group.parity) / self.group.columns).max(1)
    }

    /// The columns of a record, parity first: all of its rows if it is `whole`, else those with data.
    pub fn columns_of(&self, record: u64, whole: bool, found: &mut Vec<Column>) {
        found.clear();
        let RaidZ { columns, parity, ashift } = self.group;
        let (group, row) = (record / self.records_of_group(), record % self.records_of_group() * self.rows);
        let (slice, first) = (group / self.groups, group % self.groups * columns);
        let (full, rest) = (self.sectors / (columns - parity), self.sectors % (columns - parity));
        for index in 0..columns {
            let place = first + index;
            let rows = if whole || index < parity { self.rows } else { full + u64::from(index - parity < rest) };
            if rows > 0 {
                let offset = slice * self.slice_bytes() + place / self.active * self.row_bytes() + (row << ashift);
                found.push(Column { disk: self.device(slice, place % self.active), offset, bytes: rows << ashift, parity: index < parity });
            }
        }
    }

    /// The device at a place of a slice's rows.
    fn device(&self, slice: u64, place: u64) -> u64 {
        let (drawn, turned) = (slice / self.devices % DRAWN, slice % self.devices);
        (u64::from(self.permutations[usize_of(drawn * self.devices + place)]) + turned) % self.devices
    }
}

#[allow(clippy::cast_possible_truncation)] // at most 64 permutations of 65,535 devices
fn usize_of(place: u64) -> usize {
    place as usize
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::layers::layout::Layout;
    use crate::testing::problems;
    use seeklab_spec::{Bytes, Op};

    fn columns(draid: &Draid, record: u64, whole: bool) -> Vec<Column> {
        let mut found = Vec::new();
        draid.columns_of(record, whole, &mut found);
        found
    }

    #[test]
    fn a_small_record_takes_a_whole_row() {
        let group = RaidZ { columns: 9, parity: 1, ashift: 12 };
        let draid = Draid::new(group, 20, 2, 4096);
        assert_eq!(columns(&draid, 7, true).iter().map(|column| column.bytes).sum::<u64>(), 36 << 10);
        let read = columns(&draid, 7, false);
        assert_eq!(read.iter().map(|column| (column.parity, column.bytes)).collect::<Vec<_>>(), [(true, 4096), (false, 4096)]);
        assert_eq!(draid.data_devices(), 16);
    }

    #[test]
    fn every_device_takes_part_and_every_device_is_spare_in_some_slice() {
        let draid = Draid::new(RaidZ { columns: 5, parity: 1, ashift: 12 }, 11, 1, 128 << 10); // two groups, one row
        let slice = 2 * draid.records_of_group();
        let used = |slices: std::ops::Range<u64>| {
            let records = slices.flat_map(|index| (0..2).map(move |group| index * slice + group * (slice / 2)));
            records.flat_map(|record| columns(&draid, record, true)).map(|column| column.disk).collect::<BTreeSet<_>>()
        };
        assert_eq!(used(0..1).len(), 10);
        assert_eq!(used(0..11).len(), 11);
    }

    fn scenario(layout: &Value, devices: u32) -> Value {
        json!({
            "layout": layout, "jobs": [{"name": "j", "rw": "randread", "bs": "128KiB", "size": "64MiB", "number_ios": 200}],
            "devices": [{"lun": {"capacity": "1GiB", "rate": "1GB"}, "count": devices}],
        })
    }

    #[test]
    fn a_draid_that_cannot_be_is_refused_at_its_field() {
        let path = |layout: Value, devices| {
            problems(&scenario(&layout, devices)).first().and_then(|problem| Some(problem.split_once(':')?.0.to_owned()))
        };
        assert_eq!(path(json!({"kind": "draid", "parity": 2, "spares": 2, "failed": [3, 9]}), 12), None);
        assert_eq!(path(json!({"kind": "draid", "parity": 2, "width": 2}), 12).as_deref(), Some("layout.width"));
        assert_eq!(path(json!({"kind": "draid", "width": 12, "spares": 1}), 12).as_deref(), Some("layout.width"));
        assert_eq!(path(json!({"kind": "draid", "spares": 12}), 12).as_deref(), Some("layout.width"));
        assert_eq!(path(json!({"kind": "draid", "failed": [3, 9]}), 12).as_deref(), Some("layout.failed"));
        assert_eq!(path(json!({"kind": "draid", "width": 3, "unit": "64MiB"}), 12), None, "a record larger than a group's usual row");
        assert_eq!(path(json!({"kind": "draid", "failed": [3], "rebuild": {}}), 12).as_deref(), Some("layout.rebuild"));
        assert_eq!(path(json!({"kind": "raidz", "spares": 1}), 12).as_deref(), Some("layout.spares"));
    }

    #[test]
    fn a_degraded_read_takes_parity_in_place_of_the_lost_device() {
        let read = |failed: Vec<u32>| {
            let spec = LayoutSpec { kind: LayoutKind::Draid, unit: Bytes(128 << 10), failed, ..LayoutSpec::default() };
            let (mut layout, mut pieces) = (Layout::new(&spec, vec![1 << 30; 18], &[true; 18]), Vec::new());
            layout.map(Op::Read, 0, 128 << 10, 0, &mut pieces);
            pieces.into_iter().map(|piece| piece.device).collect::<Vec<_>>()
        };
        let healthy = read(vec![]);
        assert_eq!(healthy.len(), 8);
        let lost = healthy[3];
        let degraded = read(vec![lost.into()]);
        assert!(degraded.len() == 8 && !degraded.contains(&lost) && degraded != healthy, "{degraded:?}");
    }

    proptest! {
        #[test]
        fn records_share_no_sector_and_stay_on_their_devices(
            parity in 1u64..4, data in 1u64..9, more in 0u64..9, spares in 0u64..3, kib in prop_oneof![1u64..300, 40_000u64..50_000], ashift in 9u32..13, slices in 1u64..4,
        ) {
            let group = RaidZ { columns: data + parity, parity, ashift };
            let devices = group.columns + more + spares;
            let draid = Draid::new(group, devices, spares, kib << 10);
            let device_bytes = slices * draid.slice_bytes();
            let records = draid.records(device_bytes);
            prop_assert_eq!(records, slices * draid.groups * draid.records_of_group());
            let mut taken = Vec::new();
            // The first and the last records of each group: where two could meet.
            let each = draid.records_of_group();
            for record in (0..records).filter(|record| record % each < 2 || record % each + 2 >= each) {
                let found = columns(&draid, record, true);
                prop_assert_eq!(found.iter().map(|column| column.disk).collect::<BTreeSet<_>>().len() as u64, group.columns);
                for column in found {
                    prop_assert!(column.disk < devices && column.offset + column.bytes <= device_bytes);
                    taken.push((column.disk, column.offset, column.offset + column.bytes));
                }
                let stored: u64 = columns(&draid, record, false).iter().filter(|column| !column.parity).map(|column| column.bytes).sum();
                prop_assert_eq!(stored, group.data_sectors(kib << 10) << ashift);
            }
            taken.sort_unstable();
            prop_assert!(taken.windows(2).all(|pair| pair[0].0 < pair[1].0 || pair[0].2 <= pair[1].1));
        }
    }
}
