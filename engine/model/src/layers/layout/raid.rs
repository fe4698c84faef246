//! RAID-5 and RAID-6: stripes of fixed chunks with parity that takes turns, as in Linux md.
//!
//! The chunks of a stripe are at the same place of all disks of a group. From one stripe to the next, parity moves to the disk before,
//! and the data begin on the disk behind it (md's default, left-symmetric). Parity belongs to rows: the same bytes of all chunks.
//!
//! A write that covers all data of a row writes them with their parity. A smaller one reads first, whatever is less:
//! - read-modify-write: the old contents of what it writes, and the old parity;
//! - reconstruct-write: the rest of the row's data.
//!
//! So a small write costs a RAID-5 two reads and two writes, and a RAID-6 three of each. When data or parity are on a failed disk, the
//! choice is limited to what can still be read.
//!
//! A *write-intent bitmap* (`Intent`) records which regions are being written, so that only these are compared after a crash. A write
//! to a region without a mark first waits until the bitmap is on all disks. Marks are set together for all writes that wait, and
//! last for some seconds after the last write.
//!
//! Sources: Linux `raid5.c` (`raid5_compute_sector`, `handle_stripe_dirtying`, which prefers reconstruct-write when both read as much, and
//! `raid5d`, which writes the bitmap for a list of stripes at a time), `md.c` (`md_super_write`: FLUSH and FUA), `md-bitmap.c` (marks are cleared
//! at the second pass of a daemon that runs every 5 s). Left out: the stripe cache, in which md waits for the rest of a row; locks of
//! stripes that several writes change; full rows of a write that go ahead of its partial ones; the writes that clear marks.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Layout, Piece, push};
use crate::kernel::{Durable, Kernel, Phase, Request, RequestId};
use seeklab_spec::{LayoutKind, Op};

/// Interval between passes of the daemon that clears marks.
const PASS_NS: u64 = 5_000_000_000;
/// What is written for a change of the bitmap: a page, at the start of each disk.
const PAGE: u64 = 4096;

/// Parity chunks of a stripe of RAID-5 and RAID-6; None for other layouts.
#[must_use]
pub fn parity(kind: LayoutKind) -> Option<u64> {
    match kind {
        LayoutKind::Raid5 => Some(1),
        LayoutKind::Raid6 => Some(2),
        LayoutKind::Stripe | LayoutKind::Concat | LayoutKind::Mirror | LayoutKind::RaidZ | LayoutKind::Draid => None,
    }
}

/// The geometry of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raid {
    /// Disks in the group.
    pub disks: u64,
    /// Parity chunks of a stripe, 1 or 2.
    pub parity: u64,
    /// Length of a chunk, in bytes.
    pub chunk: u64,
}

/// Rows of a stripe that a range covers in the same data chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Band {
    stripe: u64,
    /// Bytes of the chunks.
    rows: Range<u64>,
    /// Data chunks, in the order of addresses.
    covered: Range<u64>,
}

impl Raid {
    /// Data chunks of a stripe.
    #[must_use]
    pub fn data(self) -> u64 {
        self.disks - self.parity
    }

    /// The disk with parity chunk `nth` of a stripe.
    fn parity_disk(self, stripe: u64, nth: u64) -> u64 {
        (self.disks - 1 - stripe % self.disks + nth) % self.disks
    }

    /// The disk with data chunk `nth` of a stripe.
    fn data_disk(self, stripe: u64, nth: u64) -> u64 {
        self.parity_disk(stripe, self.parity + nth)
    }

    /// Cuts a range of the group's addresses into bands.
    fn bands(self, offset: u64, bytes: u64, mut each: impl FnMut(Band)) {
        let whole = self.data() * self.chunk;
        for stripe in offset / whole..(offset + bytes).div_ceil(whole) {
            let start = offset.max(stripe * whole) - stripe * whole;
            let last = (offset + bytes).min((stripe + 1) * whole) - stripe * whole - 1;
            let (first_chunk, from) = (start / self.chunk, start % self.chunk);
            let (last_chunk, to) = (last / self.chunk, last % self.chunk + 1);
            let cuts = if first_chunk == last_chunk { [from, from, to, to] } else { [0, from.min(to), from.max(to), self.chunk] };
            for rows in cuts.windows(2).map(|cut| cut[0]..cut[1]).filter(|rows| !rows.is_empty()) {
                let covered = first_chunk + u64::from(rows.start < from)..last_chunk + u64::from(rows.start < to);
                if !covered.is_empty() {
                    each(Band { stripe, rows, covered });
                }
            }
        }
    }
}

/// The write-intent bitmap of a layout.
pub(super) struct Intent {
    /// Bytes of a disk that one mark covers.
    region: u64,
    /// When each marked region was last written.
    marks: BTreeMap<u64, u64>,
    /// Writes that wait for marks, and those that the write in progress sets marks for.
    waiting: Vec<RequestId>,
    served: Vec<RequestId>,
    in_progress: Option<RequestId>,
    /// Changes of the bitmap that were written.
    written: u64,
}

impl Intent {
    pub(super) fn new(region: u64) -> Self {
        Self { region, marks: BTreeMap::new(), waiting: Vec::new(), served: Vec::new(), in_progress: None, written: 0 }
    }

    /// Whether all regions are marked; those that are stay so for longer.
    fn touch(&mut self, regions: Range<u64>, now_ns: u64) -> bool {
        // The second pass after the last write clears a mark.
        let is_marked = |last_ns: &u64| now_ns < (*last_ns / PASS_NS + 2) * PASS_NS;
        let marked = regions.clone().all(|region| self.marks.get(&region).is_some_and(is_marked));
        if marked {
            self.marks.extend(regions.map(|region| (region, now_ns)));
        }
        marked
    }
}

/// The traffic that parity causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parity {
    /// Bytes read before writes.
    pub read_bytes: u64,
    /// Changes of the write-intent bitmap that were written.
    pub bitmap_writes: u64,
}

impl Layout {
    /// The traffic that the parity of RAID-5 or RAID-6 causes; None for other layouts.
    #[must_use]
    pub fn parity_traffic(&self) -> Option<Parity> {
        self.raid
            .map(|_| Parity { read_bytes: self.parity_read_bytes, bitmap_writes: self.intent.as_ref().map_or(0, |intent| intent.written) })
    }

    /// A write comes to RAID-5 or RAID-6.
    pub(super) fn write_rows(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { offset, bytes, .. } = kernel.requests[id];
        let regions = self.regions(offset - self.base, bytes);
        if let Some(intent) = &mut self.intent
            && !intent.touch(regions, kernel.now_ns())
        {
            intent.waiting.push(id);
            return self.write_bitmap(kernel);
        }
        self.read_rows(kernel, id);
    }

    /// Regions of the disks that a range of addresses falls into.
    fn regions(&self, offset: u64, bytes: u64) -> Range<u64> {
        let (Some(raid), Some(intent)) = (self.raid, &self.intent) else { return 0..0 };
        let across = raid.data() * self.groups();
        let place = |address: u64| address / raid.chunk / across * raid.chunk / intent.region;
        place(offset)..place(offset + bytes - 1) + 1
    }

    /// Writes the bitmap for all that wait, unless a write of it is in progress.
    fn write_bitmap(&mut self, kernel: &mut Kernel) {
        let Some(intent) = self.intent.as_mut().filter(|intent| intent.in_progress.is_none() && !intent.waiting.is_empty()) else { return };
        let whole = kernel.open(Request { owner: self.here, op: Op::Write, durable: Durable::All, bytes: PAGE, ..Request::default() });
        intent.served = std::mem::take(&mut intent.waiting);
        intent.in_progress = Some(whole);
        intent.written += 1;
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
        let alive = (0..self.sides.len()).filter(|device| !self.sides[*device].failed).map(|device| device as u16);
        pieces.extend(alive.map(|device| Piece { device, offset: 0, bytes: PAGE }));
        self.send(kernel, whole, &pieces);
        self.pieces = pieces;
    }

    /// A step of this layer's own work for RAID-5 or RAID-6 is done. Returns whether it was one.
    pub(super) fn rows_step(&mut self, kernel: &mut Kernel, id: RequestId) -> bool {
        if let Some(intent) = self.intent.as_mut().filter(|intent| intent.in_progress == Some(id)) {
            intent.in_progress = None;
            kernel.requests.remove(id);
            for id in std::mem::take(&mut intent.served) {
                let Request { offset, bytes, .. } = kernel.requests[id];
                let (regions, now_ns) = (self.regions(offset - self.base, bytes), kernel.now_ns());
                if let Some(intent) = &mut self.intent {
                    intent.marks.extend(regions.map(|region| (region, now_ns)));
                }
                kernel.charge(id, Phase::Journal);
                self.read_rows(kernel, id);
            }
            self.write_bitmap(kernel);
            return true;
        }
        let Request { parent: Some(write), op, .. } = kernel.requests[id] else { return false };
        if op == Op::Read {
            kernel.requests[id].op = Op::Write;
            kernel.requests[id].durable = kernel.requests[write].durable;
            self.send_rows(kernel, id);
        } else if let Some(whole) = kernel.join(id) {
            kernel.complete(whole);
        }
        true
    }

    /// Reads what a write needs for its parity, then writes.
    fn read_rows(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Request { offset, bytes, .. } = kernel.requests[id];
        let step = kernel.open_child(id, self.here, offset, bytes);
        let mut pieces = std::mem::take(&mut self.pieces);
        self.rows(Op::Read, true, offset - self.base, bytes, &mut pieces);
        if pieces.is_empty() {
            self.pieces = pieces;
            return self.send_rows(kernel, step);
        }
        self.parity_read_bytes += pieces.iter().map(|piece| piece.bytes).sum::<u64>();
        kernel.requests[step].op = Op::Read;
        kernel.requests[step].durable = Durable::No;
        self.send(kernel, step, &pieces);
        self.pieces = pieces;
    }

    /// Writes data and parity.
    fn send_rows(&mut self, kernel: &mut Kernel, step: RequestId) {
        let Request { offset, bytes, durable, .. } = kernel.requests[step];
        let mut pieces = std::mem::take(&mut self.pieces);
        self.rows(Op::Write, false, offset - self.base, bytes, &mut pieces);
        self.send(kernel, step, &pieces);
        if durable == Durable::All {
            self.flush_others(kernel, step, &pieces);
        }
        self.pieces = pieces;
    }

    /// The pieces of a range of addresses on RAID-5 or RAID-6: what a request reads or writes, or what a write reads before.
    #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
    pub(super) fn rows(&self, op: Op, before_write: bool, offset: u64, bytes: u64, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let Some(raid) = self.raid else { return };
        let whole = raid.data() * raid.chunk;
        // Groups take turns by stripe.
        for stripe in offset / whole..(offset + bytes).div_ceil(whole) {
            let (start, end) = (offset.max(stripe * whole), (offset + bytes).min((stripe + 1) * whole));
            let (group, of_group) = (stripe % self.groups(), stripe / self.groups());
            let first = group * self.width;
            let lost = |op, disk: u64| self.sides[(first + disk) as usize].lost(op, (of_group + 1) * raid.data());
            raid.bands(start - stripe * whole + of_group * whole, end - start, |band| {
                let mut add = |disk: u64| {
                    let (device, offset) = ((first + disk) as u16, band.stripe * raid.chunk + band.rows.start);
                    push(pieces, Piece { device, offset, bytes: band.rows.end - band.rows.start }, |_, _| false);
                };
                let data = |chunks: Range<u64>| chunks.map(|nth| raid.data_disk(band.stripe, nth));
                let parity = || (0..raid.parity).map(|nth| raid.parity_disk(band.stripe, nth));
                let rest = || data(0..band.covered.start).chain(data(band.covered.end..raid.data()));
                let readable = |disk: &u64| !lost(Op::Read, *disk);
                if before_write {
                    let parities = parity().filter(|disk| !lost(Op::Write, *disk)).count() as u64;
                    let modifies =
                        data(band.covered.clone()).all(|disk| readable(&disk)) && parity().filter(readable).count() as u64 == parities;
                    let reconstructs = rest().all(|disk| readable(&disk));
                    let (changed, others) = (band.covered.end - band.covered.start + parities, rest().count() as u64);
                    if others == 0 || parities == 0 {
                        // nothing to read: the row is whole, or has no parity left
                    } else if modifies && (changed < others || !reconstructs) {
                        data(band.covered.clone()).chain(parity().filter(readable)).for_each(add);
                    } else if reconstructs {
                        rest().for_each(add);
                    } else {
                        data(0..raid.data()).chain(parity()).filter(readable).for_each(add);
                    }
                } else if op == Op::Read {
                    if data(band.covered.clone()).all(|disk| readable(&disk)) {
                        data(band.covered.clone()).for_each(add);
                    } else {
                        data(0..raid.data()).chain(parity()).filter(readable).take(raid.data() as usize).for_each(add);
                    }
                } else {
                    data(band.covered.clone()).chain(parity()).filter(|disk| !lost(op, *disk)).for_each(&mut add);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{assert_is, metric, problems, run};
    use seeklab_spec::{Bytes, LayoutSpec};

    const KIB: u64 = 1 << 10;

    fn layout(kind: LayoutKind, disks: usize, failed: &[u32]) -> Layout {
        let spec = LayoutSpec { kind, unit: Bytes(64 * KIB), failed: failed.to_vec(), ..LayoutSpec::default() };
        Layout::new(&spec, vec![1 << 30; disks], &vec![true; disks])
    }

    /// Devices and bytes of what is read before a write, and of what is written.
    fn write(layout: &Layout, offset: u64, bytes: u64) -> [Vec<(u16, u64)>; 2] {
        let mut pieces = Vec::new();
        [(Op::Read, true), (Op::Write, false)].map(|(op, before_write)| {
            layout.rows(op, before_write, offset, bytes, &mut pieces);
            pieces.iter().map(|piece| (piece.device, piece.bytes)).collect()
        })
    }

    #[test]
    fn parity_moves_by_one_disk_a_stripe_and_data_begin_behind_it() {
        // The tables of md's left-symmetric layouts.
        let five = Raid { disks: 4, parity: 1, chunk: 1 };
        let six = Raid { disks: 5, parity: 2, chunk: 1 };
        let of = |raid: Raid, stripe| {
            let parity: Vec<_> = (0..raid.parity).map(|nth| raid.parity_disk(stripe, nth)).collect();
            (parity, (0..raid.data()).map(|nth| raid.data_disk(stripe, nth)).collect::<Vec<_>>())
        };
        assert_eq!(
            [0, 1, 4].map(|stripe| of(five, stripe)),
            [(vec![3], vec![0, 1, 2]), (vec![2], vec![3, 0, 1]), (vec![3], vec![0, 1, 2])]
        );
        assert_eq!([0, 1].map(|stripe| of(six, stripe)), [(vec![4, 0], vec![1, 2, 3]), (vec![3, 4], vec![0, 1, 2])]);
    }

    #[test]
    fn a_small_write_reads_what_it_changes_and_a_full_stripe_reads_nothing() {
        let five = layout(LayoutKind::Raid5, 8, &[]);
        assert_eq!(write(&five, 0, 4 * KIB), [vec![(0, 4 * KIB), (7, 4 * KIB)], vec![(0, 4 * KIB), (7, 4 * KIB)]]);
        let six = layout(LayoutKind::Raid6, 8, &[]);
        assert_eq!(write(&six, 0, 4 * KIB)[0].len(), 3);
        let [read, written] = write(&five, 0, 7 * 64 * KIB);
        assert_eq!((read, written.len()), (vec![], 8));
    }

    #[test]
    fn the_rest_of_a_row_is_read_where_that_is_no_more() {
        // Three of seven chunks and their parity are as many as the four others; four are more than the three others.
        let five = layout(LayoutKind::Raid5, 8, &[]);
        let read = |chunks: u64| write(&five, 0, chunks * 64 * KIB)[0].iter().map(|(device, _)| *device).collect::<Vec<_>>();
        assert_eq!(read(2), [0, 1, 7]);
        assert_eq!([read(3), read(4)], [vec![3, 4, 5, 6], vec![4, 5, 6]]);
        let three = layout(LayoutKind::Raid5, 3, &[]);
        assert_eq!(write(&three, 0, 4 * KIB)[0], [(1, 4 * KIB)], "one read instead of two");
    }

    #[test]
    fn a_failed_disk_limits_the_choice() {
        let of = |failed: &[u32]| write(&layout(LayoutKind::Raid5, 8, failed), 0, 4 * KIB).map(|pieces| pieces.len());
        assert_eq!(of(&[0]), [6, 1], "its data: the six others, and only parity is written");
        assert_eq!(of(&[7]), [0, 1], "its parity: only data");
        assert_eq!(of(&[3]), [2, 2], "what is left alone");
        let mut pieces = Vec::new();
        layout(LayoutKind::Raid5, 8, &[0]).rows(Op::Read, false, 0, 4 * KIB, &mut pieces);
        assert_eq!(pieces.iter().map(|piece| piece.device).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
        let six = layout(LayoutKind::Raid6, 8, &[1, 2]);
        assert_eq!(write(&six, 0, 4 * KIB).map(|pieces| pieces.len()), [6, 2], "all that is left, then both parities");
    }

    /// Latency in ms of writes of 4 KiB, one at a time, to devices that answer after 1 ms.
    fn latency_ms(more: &Value) -> f64 {
        let mut layout = json!({"kind": "raid5", "unit": "64KiB"});
        layout.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        let stack = run(&json!({
            "layout": layout,
            "jobs": [{"name": "writes", "rw": "write", "bs": "4KiB", "size": "1MiB", "number_ios": 10}],
            "devices": [{"lun": {"capacity": "1GiB", "rate": "1TB", "latency": "1ms"}, "count": 4}],
        }));
        metric(&stack, "writes.write_latency_mean_ms")
    }

    #[test]
    fn a_small_write_takes_a_read_and_a_write_and_the_first_of_a_region_the_bitmap() {
        let without = latency_ms(&json!({}));
        assert!((2.0..2.001).contains(&without), "{without} ms");
        let with = latency_ms(&json!({"write_intent": "64MiB"}));
        assert!((2.1..2.101).contains(&with), "{with} ms: one of ten waits for a third turn");
    }

    #[test]
    fn the_bitmap_is_written_once_for_all_that_wait() {
        let stack = run(&json!({
            "layout": {"kind": "raid6", "unit": "64KiB", "write_intent": "4KiB"},
            "jobs": [{"name": "writes", "rw": "randwrite", "bs": "4KiB", "size": "64MiB", "number_ios": 64, "iodepth": 32}],
            "devices": [{"lun": {"capacity": "1GiB", "rate": "1TB", "latency": "1ms"}, "count": 6}],
        }));
        let writes = metric(&stack, "bitmap_writes");
        assert!((2.0..10.0).contains(&writes), "{writes} for 64 writes");
        assert_is(metric(&stack, "parity_read_bytes"), 64.0 * 3.0 * 4096.0);
    }

    #[test]
    fn a_mark_lasts_until_the_second_pass_after_the_last_write() {
        let mut intent = Intent::new(1 << 20);
        intent.marks.insert(0, 4_000_000_000);
        assert!(intent.touch(0..1, 9_999_999_999), "marked in the first pass's time, cleared by that at 10 s");
        assert!(intent.touch(0..1, 14_999_999_999), "it was touched");
        assert!(!intent.touch(0..1, 20_000_000_000));
    }

    #[test]
    fn other_layouts_have_no_bitmap_and_zfs_has_its_own_parity() {
        let scenario = |layout: Value, zfs: Value| {
            json!({
                "layout": layout, "zfs": zfs, "jobs": [{"name": "writes", "rw": "write", "size": "1MiB"}],
                "devices": [{"lun": {"capacity": "1GiB", "rate": "1TB"}, "count": 4}],
            })
        };
        let path = |layout: Value, zfs: Value| {
            problems(&scenario(layout, zfs)).first().and_then(|problem| Some(problem.split_once(':')?.0.to_owned()))
        };
        assert_eq!(path(json!({"kind": "mirror", "write_intent": "1MiB"}), Value::Null).as_deref(), Some("layout.write_intent"));
        assert_eq!(path(json!({"kind": "raid5"}), json!({"era": "openzfs-2.2"})).as_deref(), Some("layout.kind"));
        assert_eq!(path(json!({"kind": "raid6", "width": 2}), Value::Null).as_deref(), Some("layout.width"));
        assert_eq!(path(json!({"kind": "raid6", "write_intent": "64MiB"}), Value::Null), None);
    }

    proptest! {
        #[test]
        fn each_byte_has_one_place_and_parity_none_of_them(
            six: bool, more in 2u32..6, groups in 1u32..3, offset in 0u64..4000, bytes in 1u64..3000,
        ) {
            let kind = if six { LayoutKind::Raid6 } else { LayoutKind::Raid5 };
            let width = more + if six { 2 } else { 1 };
            let spec = LayoutSpec { kind, unit: Bytes(64), width: Some(width), ..LayoutSpec::default() };
            let devices = (width * groups) as usize;
            let layout = Layout::new(&spec, vec![4096; devices], &vec![true; devices]);
            prop_assume!(offset + bytes <= layout.capacity());
            let of = |op, offset, bytes| {
                let mut pieces = Vec::new();
                layout.rows(op, false, offset, bytes, &mut pieces);
                pieces
            };
            let whole = of(Op::Read, offset, bytes);
            prop_assert_eq!(whole.iter().map(|piece| piece.bytes).sum::<u64>(), bytes);
            let mut places = std::collections::BTreeSet::new();
            for byte in offset..offset + bytes {
                let single = of(Op::Read, byte, 1);
                prop_assert!(whole.iter().any(|piece| piece.device == single[0].device && (piece.offset..piece.offset + piece.bytes).contains(&single[0].offset)));
                prop_assert!(places.insert((single[0].device, single[0].offset)));
            }
            for piece in of(Op::Write, offset, bytes) {
                prop_assert!(piece.offset + piece.bytes <= 4096);
            }
        }
    }
}
