//! Where an address lives: striping, concatenation, mirrors, RAID-5, RAID-6, RAID-Z and dRAID over several devices.
//!
//! A request is cut into contiguous pieces, each for one device. It completes when its last piece does and inherits that piece's
//! phases. With striping, the units of a contiguous range that fall on one device are neighbours there and make one piece.
//! A FLUSH goes to all devices, and so does the one that ends a write which makes everything durable.
//! Mirrors, RAID-5, RAID-6 and RAID-Z work in groups of devices, and groups are striped. See [`mirror`], [`raid`] and [`raidz`] for
//! their rules, [`draid`] for groups that are dealt out over all devices, [`rebuild`] for what happens after a failure.
//! On RAID-Z the pieces of neighbouring records are merged as ZFS's scheduler merges them (`vdev_queue_aggregate`): a read takes the
//! bytes of a short gap along, a write the skip sectors in it, also in the gap to the request before it. See [`Gaps`].
//! Left out: dynamic allocation (record r of a RAID-Z group lies at r times its allocated size).

pub mod draid;
pub mod mirror;
mod order;
pub mod raid;
pub mod raidz;
pub mod rebuild;

use draid::Draid;
use mirror::Side;
use raid::{Intent, Raid};
use raidz::{Column, Padding, RaidZ};
use rebuild::Rebuild;

use crate::kernel::{Address, Durable, Event, Kernel, LayerId, RequestId, Timer as _};
use crate::timers;
use seeklab_spec::{self as spec, LayoutKind, Op, ReadBalance};

/// One device's contiguous piece of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Device.
    pub device: u16,
    /// Start on the device, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// The gaps between the pieces of neighbouring records that become a part of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// Longest gap in a read, in bytes.
    pub read_bytes: u64,
    /// Longest gap of skip sectors between two writes, in bytes; None when skip sectors are never written.
    pub write_bytes: Option<u64>,
}

impl Gaps {
    /// No gap.
    pub const NONE: Self = Self { read_bytes: 0, write_bytes: None };
    /// Those of ZFS since 2009 (`zfs_vdev_read_gap_limit`, `zfs_vdev_write_gap_limit`).
    pub const ZFS: Self = Self { read_bytes: 32 << 10, write_bytes: Some(4 << 10) };
}

/// The layout layer.
pub struct Layout {
    kind: LayoutKind,
    unit: u64,
    /// Devices in a group.
    width: u64,
    raidz: RaidZ,
    draid: Option<Box<Draid>>,
    /// The geometry of RAID-5 and RAID-6.
    raid: Option<Raid>,
    intent: Option<Box<Intent>>,
    /// Bytes read for parity before writes.
    parity_read_bytes: u64,
    gaps: Gaps,
    /// None: the least load, unless the file system above has a rule of its own.
    balance: Option<ReadBalance>,
    /// Usable bytes of each device.
    capacities: Vec<u64>,
    sides: Vec<Side>,
    pieces: Vec<Piece>,
    columns: Vec<Column>,
    here: Address,
    /// The first of its devices.
    first_device: u16,
    /// Where its addresses begin.
    base: u64,
    rebuild: Option<Box<Rebuild>>,
}

timers! {
    enum Timer {
        /// The rebuild may continue.
        Rebuild,
    }
}

impl Layout {
    /// Handles an event.
    pub fn on(&mut self, kernel: &mut Kernel, event: Event) {
        match event {
            Event::Submit(id) => self.submit(kernel, id),
            Event::Done(id) => {
                if let Some(side) = self.sides.get_mut(usize::from(kernel.requests[id].device.wrapping_sub(self.first_device))) {
                    side.pending -= 1;
                }
                match kernel.join(id) {
                    Some(whole) if kernel.requests[whole].owner == self.here => self.step(kernel, whole),
                    Some(whole) => kernel.complete(whole),
                    None => {}
                }
            }
            Event::Timer(timer) => {
                let Timer::Rebuild = Timer::unpack(timer);
                self.rebuild_timer(kernel);
            }
        }
    }

    /// All parts of a step of this layer's own work are done.
    fn step(&mut self, kernel: &mut Kernel, whole: RequestId) {
        if !self.rows_step(kernel, whole) {
            self.chunk_step(kernel, whole);
        }
    }

    /// The layout that a scenario describes, over devices with these capacities in bytes; `rotating` says which turn.
    #[must_use]
    pub fn new(spec: &spec::LayoutSpec, capacities: Vec<u64>, rotating: &[bool]) -> Self {
        let devices = capacities.len() as u64;
        let width = u64::from(draid::width(spec, devices)).min(devices).max(1);
        let raidz = RaidZ { columns: width, parity: u64::from(spec.parity).min(width - 1), ashift: spec.ashift };
        let side = |(index, rotating): (usize, &bool)| Side {
            rotating: *rotating,
            failed: spec.failed.iter().any(|failed| *failed as usize == index),
            ..Side::default()
        };
        let mut layout = Self {
            kind: spec.kind,
            unit: spec.unit.0,
            width,
            raid: raid::parity(spec.kind).map(|parity| Raid { disks: width, parity: parity.min(width - 1), chunk: spec.unit.0 }),
            intent: spec.write_intent.map(|region| Box::new(Intent::new(region.0))),
            parity_read_bytes: 0,
            raidz,
            draid: (spec.kind == LayoutKind::Draid).then(|| Box::new(Draid::new(raidz, devices, spec.spares.into(), spec.unit.0))),
            gaps: Gaps::ZFS,
            balance: spec.read_balance,
            sides: rotating.iter().enumerate().map(side).collect(),
            capacities,
            pieces: Vec::new(),
            columns: Vec::new(),
            here: Address::of(LayerId::Layout),
            first_device: 0,
            base: 0,
            rebuild: None,
        };
        layout.rebuild = spec.rebuild.as_ref().map(|rebuild| Box::new(Rebuild::new(rebuild, &spec.failed, &layout)));
        layout
    }

    /// The layout of node `node`, whose devices begin at `first_device` and whose addresses begin at `base`.
    #[must_use]
    pub fn at(self, node: u16, first_device: u16, base: u64) -> Self {
        Self { here: Address { layer: LayerId::Layout, index: node }, first_device, base, ..self }
    }

    /// The same with this rule for mirrors unless it was given one.
    #[must_use]
    pub fn balanced_by(self, rule: ReadBalance) -> Self {
        Self { balance: self.balance.or(Some(rule)), ..self }
    }

    /// The same with other gaps.
    #[must_use]
    pub fn merging(self, gaps: Gaps) -> Self {
        Self { gaps, ..self }
    }

    /// Smallest unit of allocation.
    #[must_use]
    pub fn sector_bytes(&self) -> u64 {
        1 << self.raidz.ashift
    }

    /// Devices less those for parity and copies.
    #[must_use]
    pub fn data_disks(&self) -> u64 {
        if let Some(draid) = &self.draid {
            return draid.data_devices();
        }
        let devices = self.capacities.len() as u64;
        match self.kind {
            LayoutKind::Stripe | LayoutKind::Concat => devices,
            LayoutKind::Mirror => self.groups(),
            LayoutKind::Raid5 | LayoutKind::Raid6 => self.groups() * self.raid.map_or(1, Raid::data),
            LayoutKind::RaidZ | LayoutKind::Draid => self.groups() * (self.width - self.raidz.parity),
        }
    }

    /// Groups of devices.
    fn groups(&self) -> u64 {
        self.capacities.len() as u64 / self.width
    }

    /// The skip sectors of a device; None when the layout has none, or writes them.
    #[must_use]
    pub fn padding(&self, device: usize) -> Option<Padding> {
        (self.kind == LayoutKind::RaidZ).then(|| Padding { raidz: self.raidz, disk: device as u64 % self.width, block_bytes: self.unit })
    }

    /// A request that ends at `end` has gone to a device of a layout that is only asked for places.
    pub fn issued(&mut self, device: usize, end: u64) {
        let side = &mut self.sides[device];
        side.pending += 1;
        side.last_end = end;
    }

    /// One that went so has completed.
    pub fn completed(&mut self, device: usize) {
        self.sides[device].pending -= 1;
    }

    /// The size of the address space, in bytes. All but a concatenation use as much of each device as the smallest one has.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        let devices = self.capacities.len() as u64;
        let smallest = self.capacities.iter().copied().min().unwrap_or(0);
        let units = smallest / self.unit;
        if let Some(draid) = &self.draid {
            return draid.records(smallest) * self.unit;
        }
        match self.kind {
            LayoutKind::Concat => self.capacities.iter().sum(),
            LayoutKind::Stripe if devices == 1 => smallest,
            LayoutKind::Stripe => units * self.unit * devices,
            LayoutKind::Mirror => units * self.unit * (devices / self.width),
            LayoutKind::Raid5 | LayoutKind::Raid6 => units * self.unit * (devices / self.width) * self.raid.map_or(1, Raid::data),
            LayoutKind::RaidZ | LayoutKind::Draid => {
                let sectors = (smallest >> self.raidz.ashift) * self.width;
                sectors / self.raidz.allocated_sectors(self.unit) * self.unit * (devices / self.width)
            }
        }
    }

    /// Bytes after which an address moves on to other devices; None when all devices, or one group of them, hold everything.
    #[must_use]
    pub fn unit_across(&self) -> Option<u64> {
        let has_one_place = match self.kind {
            LayoutKind::Stripe => self.capacities.len() == 1,
            LayoutKind::Mirror => self.capacities.len() as u64 == self.width,
            LayoutKind::Raid5 | LayoutKind::Raid6 | LayoutKind::RaidZ | LayoutKind::Draid => false,
            LayoutKind::Concat => true,
        };
        (!has_one_place).then_some(self.unit)
    }

    /// Devices, or groups of them, between which addresses are striped.
    #[must_use]
    pub fn across(&self) -> u64 {
        let devices = self.capacities.len() as u64;
        match self.kind {
            LayoutKind::Stripe => devices,
            LayoutKind::Mirror | LayoutKind::Raid5 | LayoutKind::Raid6 | LayoutKind::RaidZ => devices / self.width,
            LayoutKind::Concat | LayoutKind::Draid => 1,
        }
    }

    /// Whether each unit is a stripe of its own, with parity.
    #[must_use]
    pub fn is_raidz(&self) -> bool {
        matches!(self.kind, LayoutKind::RaidZ | LayoutKind::Draid)
    }

    fn submit(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        if request.is_flush() {
            return self.flush(kernel, id);
        }
        if self.raid.is_some() && request.op == Op::Write {
            return self.write_rows(kernel, id);
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        self.map(request.op, request.offset - self.base, request.bytes, kernel.now_ns(), &mut pieces);
        self.reach_back(request.op, &mut pieces);
        match pieces[..] {
            // A piece of a mirror or RAID-Z is a part of its own even when there is only one: its completion is counted.
            [only]
                if matches!(self.kind, LayoutKind::Stripe | LayoutKind::Concat)
                    && (request.durable != Durable::All || self.capacities.len() == 1) =>
            {
                kernel.requests[id].place = only.offset;
                kernel.submit(Address { layer: LayerId::Device, index: self.first_device + only.device }, id);
            }
            _ => {
                self.send(kernel, id, &pieces);
                if request.durable == Durable::All {
                    self.flush_others(kernel, id, &pieces);
                }
            }
        }
        self.pieces = pieces;
    }

    /// Whether a request of this direction reaches over the gap between two places of a device of a RAID-Z group.
    fn joins(&self, op: Op, device: usize, from: u64, to: u64) -> bool {
        match op {
            Op::Read => to - from <= self.gaps.read_bytes,
            Op::Write => self.gaps.write_bytes.is_some() && self.padding(device).is_some_and(|padding| padding.fills(from, to)),
            Op::Trim => false,
        }
    }

    /// Extends pieces backward over the gap between them and the request before on their device.
    fn reach_back(&self, op: Op, pieces: &mut [Piece]) {
        if !self.is_raidz() {
            return;
        }
        let longest = if op == Op::Read { self.gaps.read_bytes } else { self.gaps.write_bytes.unwrap_or(0) };
        for piece in pieces {
            let device = usize::from(piece.device);
            let end = self.sides[device].last_end;
            if end < piece.offset && piece.offset - end <= longest && self.joins(op, device, end, piece.offset) {
                (piece.offset, piece.bytes) = (end, piece.bytes + piece.offset - end);
            }
        }
    }

    /// Flushes all devices.
    fn flush(&mut self, kernel: &mut Kernel, id: RequestId) {
        self.flush_others(kernel, id, &[]);
        if kernel.requests[id].pending == 0 {
            kernel.complete(id); // none is left
        }
    }

    /// Flushes the devices that have none of the pieces of a write: what was written before may be there.
    #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
    fn flush_others(&mut self, kernel: &mut Kernel, id: RequestId, pieces: &[Piece]) {
        for device in 0..self.capacities.len() as u16 {
            let side = &mut self.sides[usize::from(device)];
            if side.failed && !side.spare || pieces.iter().any(|piece| piece.device == device) {
                continue;
            }
            side.pending += 1;
            let child = kernel.open_child(id, self.here, 0, 0);
            kernel.submit(Address { layer: LayerId::Device, index: self.first_device + device }, child);
        }
    }

    /// Sends the pieces of a request to their devices, as parts of it.
    fn send(&mut self, kernel: &mut Kernel, id: RequestId, pieces: &[Piece]) {
        for piece in pieces {
            let child = kernel.open_child(id, self.here, piece.offset, piece.bytes); // its place is its offset
            let side = &mut self.sides[usize::from(piece.device)];
            side.pending += 1;
            side.last_end = piece.offset + piece.bytes;
            kernel.submit(Address { layer: LayerId::Device, index: self.first_device + piece.device }, child);
        }
    }

    /// Cuts a range of the address space into pieces, in the order of their first byte.
    #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
    pub fn map(&mut self, op: Op, offset: u64, bytes: u64, now_ns: u64, pieces: &mut Vec<Piece>) {
        pieces.clear();
        if self.capacities.len() == 1 {
            return pieces.push(Piece { device: 0, offset, bytes });
        }
        let groups = self.groups();
        match self.kind {
            LayoutKind::Raid5 | LayoutKind::Raid6 => self.rows(op, false, offset, bytes, pieces),
            LayoutKind::Stripe => {
                let devices = self.capacities.len() as u64;
                striped(self.unit, devices, offset, bytes, |device, offset, bytes| {
                    pieces.push(Piece { device: device as u16, offset, bytes });
                });
            }
            LayoutKind::Mirror => {
                let (unit, width, balance, sides) = (self.unit, self.width, self.balance.unwrap_or_default(), &self.sides);
                striped(self.unit, groups, offset, bytes, |group, offset, bytes| {
                    let first = (group * width) as usize;
                    let sides = &sides[first..first + width as usize];
                    let end = (offset + bytes).div_ceil(unit);
                    let mut add = |side: usize| pieces.push(Piece { device: (first + side) as u16, offset, bytes });
                    match op {
                        Op::Read => add(mirror::choose(balance, sides, offset, end, now_ns)),
                        Op::Write | Op::Trim => (0..sides.len()).filter(|side| !sides[*side].lost(op, end)).for_each(add),
                    }
                });
            }
            LayoutKind::RaidZ | LayoutKind::Draid => self.records(op, self.across(), offset, bytes, pieces),
            LayoutKind::Concat => {
                let (mut start, end, mut base) = (offset, offset + bytes, 0);
                for (device, capacity) in self.capacities.iter().enumerate() {
                    let limit = base + capacity;
                    if start < limit && start < end {
                        let stop = end.min(limit);
                        pieces.push(Piece { device: device as u16, offset: start - base, bytes: stop - start });
                        start = stop;
                    }
                    base = limit;
                }
            }
        }
    }

    /// The columns of all records that a range touches; neighbours on a disk become one piece, with the gaps between them.
    #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
    fn records(&mut self, op: Op, groups: u64, offset: u64, bytes: u64, pieces: &mut Vec<Piece>) {
        let allocated = self.raidz.allocated_sectors(self.unit);
        let mut columns = std::mem::take(&mut self.columns);
        for record in offset / self.unit..(offset + bytes).div_ceil(self.unit) {
            let first = record % groups * self.width;
            match &self.draid {
                Some(draid) => draid.columns_of(record, op != Op::Read, &mut columns),
                None => self.raidz.columns_of(record / groups * allocated, self.unit, &mut columns),
            }
            let failed = |column: &Column| self.sides[(first + column.disk) as usize].lost(op, record / groups + 1);
            let reconstruct = columns.iter().any(|column| !column.parity && failed(column));
            for column in columns.iter().filter(|column| !failed(column)) {
                // A healthy read leaves parity alone; one that lacks a column reads all that is left.
                if op == Op::Read && column.parity && !reconstruct {
                    continue;
                }
                let device = (first + column.disk) as u16;
                let joins = |from, to| self.joins(op, usize::from(device), from, to);
                push(pieces, Piece { device, offset: column.offset, bytes: column.bytes }, joins);
            }
        }
        self.columns = columns;
    }
}

/// Adds a piece. One that continues where its device's last one ends becomes a part of that; so does one behind a gap that `joins`.
fn push(pieces: &mut Vec<Piece>, piece: Piece, joins: impl Fn(u64, u64) -> bool) {
    match pieces.iter_mut().rev().find(|last| last.device == piece.device) {
        Some(last) if last.offset + last.bytes == piece.offset => last.bytes += piece.bytes,
        Some(last) if last.offset + last.bytes < piece.offset && joins(last.offset + last.bytes, piece.offset) => {
            last.bytes = piece.offset + piece.bytes - last.offset;
        }
        _ => pieces.push(piece),
    }
}

/// Cuts a range into one contiguous piece for each of `count` members that take units in turn.
fn striped(unit: u64, count: u64, offset: u64, bytes: u64, mut piece: impl FnMut(u64, u64, u64)) {
    let (first, last) = (offset / unit, (offset + bytes - 1) / unit);
    for start in first..=last.min(first + count - 1) {
        let units_here = (last - start) / count + 1;
        let skipped = if start == first { offset % unit } else { 0 };
        let ends_here = start + (units_here - 1) * count == last;
        let spare = if ends_here { (last + 1) * unit - (offset + bytes) } else { 0 };
        piece(start % count, start / count * unit + skipped, units_here * unit - skipped - spare);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use seeklab_spec::Bytes;

    fn layout(kind: LayoutKind, unit: u64, devices: usize, capacity: u64, width: Option<u32>) -> Layout {
        let spec = spec::LayoutSpec { kind, unit: Bytes(unit), width, ..spec::LayoutSpec::default() };
        Layout::new(&spec, vec![capacity; devices], &vec![true; devices])
    }

    fn pieces(layout: &mut Layout, op: Op, offset: u64, bytes: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        layout.map(op, offset, bytes, 0, &mut pieces);
        pieces
    }

    #[test]
    fn a_tail_of_eight_units_touches_eight_disks() {
        let mut stripe = layout(LayoutKind::Stripe, 32 << 10, 16, 1 << 30, None);
        let tail = pieces(&mut stripe, Op::Read, 8 << 20, 256 << 10);
        assert_eq!(tail.len(), 8);
        assert!(tail.iter().all(|piece| piece.bytes == 32 << 10));
    }

    #[test]
    fn a_long_range_is_one_contiguous_piece_on_each_disk() {
        let mut stripe = layout(LayoutKind::Stripe, 32 << 10, 16, 1 << 30, None);
        let all = pieces(&mut stripe, Op::Read, 0, 8 << 20);
        assert_eq!(all.len(), 16);
        assert!(all.iter().all(|piece| piece.bytes == 512 << 10 && piece.offset == 0));
    }

    #[test]
    fn a_mirror_writes_to_all_sides_and_reads_from_one() {
        let mut mirror = layout(LayoutKind::Mirror, 64 << 10, 4, 1 << 30, Some(2));
        assert_eq!(mirror.capacity(), 2 << 30);
        assert_eq!(pieces(&mut mirror, Op::Write, 64 << 10, 4096).iter().map(|piece| piece.device).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(pieces(&mut mirror, Op::Read, 64 << 10, 4096).len(), 1);
    }

    #[test]
    fn a_small_read_of_a_raidz_record_touches_every_data_disk() {
        let mut raidz = layout(LayoutKind::RaidZ, 128 << 10, 6, 1 << 30, None);
        assert_eq!(pieces(&mut raidz, Op::Read, 4096, 4096).len(), 5);
        assert_eq!(pieces(&mut raidz, Op::Write, 0, 128 << 10).len(), 6);
    }

    #[test]
    fn records_with_skip_sectors_are_one_piece_on_each_disk() {
        let of = |gaps, op, bytes| {
            let mut raidz = layout(LayoutKind::RaidZ, 8 << 10, 5, 1 << 30, None).merging(gaps); // 2 data, 1 parity, 1 skip sector
            pieces(&mut raidz, op, 0, bytes)
        };
        let whole = of(Gaps::ZFS, Op::Write, 1 << 20);
        assert_eq!(whole.len(), 5);
        assert!(whole.iter().all(|piece| (100 << 12..=103 << 12).contains(&piece.bytes)), "128 records of 4 sectors: {whole:?}");
        assert_eq!(of(Gaps::ZFS, Op::Read, 1 << 20).len(), 5, "over parity and skip sectors");
        assert!(of(Gaps::NONE, Op::Write, 1 << 20).len() > 100);
        assert_eq!(of(Gaps::ZFS, Op::Write, 8 << 10).iter().map(|piece| piece.bytes).sum::<u64>(), 3 << 12, "no skip sector alone");
    }

    #[test]
    fn a_request_reaches_back_over_the_gap_to_the_one_before_it() {
        let mut raidz = layout(LayoutKind::RaidZ, 128 << 10, 12, 1 << 30, None); // 32 data, 3 parity, 1 skip sector, on the last disk
        raidz.issued(11, 2 << 12);
        let mut next = pieces(&mut raidz, Op::Write, 128 << 10, 128 << 10);
        raidz.reach_back(Op::Write, &mut next);
        let last = next.iter().find(|piece| piece.device == 11).expect("a piece on the last disk");
        assert_eq!((last.offset, last.bytes), (2 << 12, 3 << 12));
        assert!(next.iter().filter(|piece| piece.device != 11).all(|piece| piece.offset == 3 << 12));
        raidz.issued(1, 2 << 12);
        let mut next = pieces(&mut raidz, Op::Read, 128 << 10, 128 << 10);
        raidz.reach_back(Op::Read, &mut next);
        assert!(next.iter().any(|piece| (piece.device, piece.offset, piece.bytes) == (1, 2 << 12, 4 << 12)), "{next:?}");
        raidz.sides[11].last_end = 1 << 12;
        let mut next = pieces(&mut raidz, Op::Write, 128 << 10, 128 << 10);
        raidz.reach_back(Op::Write, &mut next);
        assert!(next.iter().all(|piece| piece.offset == 3 << 12), "not over what may hold data: {next:?}");
    }

    #[test]
    fn two_groups_of_raidz_hold_twice_as_much_as_one() {
        let of = |devices| layout(LayoutKind::RaidZ, 128 << 10, devices, 1 << 30, Some(6)).capacity();
        assert_eq!(of(12), 2 * of(6));
        assert!(of(6) > 4 << 30);
    }

    #[test]
    fn a_degraded_raidz_reads_parity_in_place_of_the_failed_column() {
        let spec = spec::LayoutSpec { kind: LayoutKind::RaidZ, unit: Bytes(128 << 10), failed: vec![3], ..spec::LayoutSpec::default() };
        let mut raidz = Layout::new(&spec, vec![1 << 30; 6], &[true; 6]);
        let mut devices: Vec<u16> = pieces(&mut raidz, Op::Read, 0, 4096).iter().map(|piece| piece.device).collect();
        devices.sort_unstable();
        assert_eq!(devices, [0, 1, 2, 4, 5]);
    }

    proptest! {
        #[test]
        fn every_byte_has_exactly_one_place(offset in 0u64..5_000, bytes in 1u64..3_000, devices in 1usize..6, unit in 1u64..40, concat: bool) {
            let kind = if concat { LayoutKind::Concat } else { LayoutKind::Stripe };
            let mut layout = layout(kind, unit, devices, 2_000, None);
            prop_assume!(offset + bytes <= layout.capacity());
            let whole = pieces(&mut layout, Op::Read, offset, bytes);
            prop_assert_eq!(whole.iter().map(|piece| piece.bytes).sum::<u64>(), bytes);
            let mut single = std::collections::BTreeSet::new();
            for byte in offset..offset + bytes {
                single.extend(pieces(&mut layout, Op::Read, byte, 1).iter().map(|piece| (piece.device, piece.offset)));
            }
            prop_assert_eq!(single.len() as u64, bytes);
            for piece in whole {
                for byte in piece.offset..piece.offset + piece.bytes {
                    prop_assert!(single.contains(&(piece.device, byte)));
                }
            }
        }

        #[test]
        fn no_piece_lies_beyond_its_device(record in 0u64..2_000, records in 1u64..5, width in 2u32..7, groups in 1usize..4, raidz: bool, write: bool) {
            let kind = if raidz { LayoutKind::RaidZ } else { LayoutKind::Mirror };
            let capacity = 16 << 20;
            let mut layout = layout(kind, 16 << 10, width as usize * groups, capacity, Some(width));
            let (offset, bytes) = (record * (16 << 10), records * (16 << 10));
            prop_assume!(offset + bytes <= layout.capacity());
            for piece in pieces(&mut layout, if write { Op::Write } else { Op::Read }, offset, bytes) {
                prop_assert!(piece.offset + piece.bytes <= capacity);
            }
        }
    }
}
