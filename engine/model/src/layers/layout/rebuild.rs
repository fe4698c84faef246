//! Rebuilding failed devices onto spares, as traffic of its own class beside the clients'.
//!
//! A spare takes the place of the device that failed. The space in use is walked through in chunks, the damaged groups in turn.
//! The life of a chunk:
//! 1. It starts when fewer than the limit are in progress and the rate allows it. Which is next says `Order`.
//! 2. What is left of it is read: one side of a mirror, all surviving chunks of the stripes of RAID-5 or RAID-6, all
//!    surviving columns of the RAID-Z records that the device had a part of.
//! 3. The lost part is written to each spare of the group.
//!
//! Its requests wait in the same device queues as the clients', which is all that the clients feel. From the moment that a spare
//! is in place it takes the clients' writes; it answers their reads as soon as all chunks up to the end of what is read are
//! done, so that a degraded read needs the survivors only beyond that point. By time, that begins with the last sweep over the space.
//!
//! Limit and rate are the scenario's. Left out: reading ahead of the mark, chunks that are repaired because a client happened to
//! read them, priorities between the classes, copying back from a shared spare, errors met while rebuilding, and the order of a
//! client's write and the chunk that it falls into (data have no contents here).

use seeklab_spec::rebuild::RebuildSpec;
use seeklab_spec::to_f64;

use super::order::Order;
use super::raid::Raid;
use super::{Layout, Piece, Timer, mirror, push};
use crate::kernel::{Kernel, Request, RequestId};
use crate::layers::device::transfer_ns;
use crate::result::metrics::{Metrics, in_seconds};
use seeklab_spec::LayoutKind;
use seeklab_spec::Op;

/// A slot without a chunk.
const FREE: u64 = u64::MAX;

/// The traffic of a rebuild so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes read from survivors for it.
    pub read_bytes: u64,
    /// Bytes written to spares.
    pub written_bytes: u64,
    /// When it began.
    pub start_ns: u64,
    /// When its last write was done; `None` before.
    pub end_ns: Option<u64>,
}

impl Traffic {
    /// Reports what the rebuild has done.
    pub fn metrics(&self, metrics: &mut Metrics) {
        let elapsed_ns = self.end_ns.unwrap_or(metrics.run.now_ns).saturating_sub(self.start_ns);
        metrics.bytes("rebuild_bytes", "Bytes that the rebuild wrote to spares.", self.written_bytes);
        metrics.bytes("rebuild_read_bytes", "Bytes that the rebuild read from surviving devices.", self.read_bytes);
        metrics.seconds(
            "rebuild_elapsed_s",
            "Time from the start of the rebuild to its last write, or until now while it runs.",
            elapsed_ns,
        );
        metrics.hours("rebuild_elapsed_h", "The same in hours.", elapsed_ns);
        metrics.mib_per_s("rebuild_mib_per_s", "Write rate to the spares.", to_f64(self.written_bytes), in_seconds(elapsed_ns));
    }
}

/// A rebuild in progress.
pub(super) struct Rebuild {
    /// Devices whose place a spare takes.
    targets: Vec<u16>,
    /// Groups that they belong to.
    groups: Vec<u64>,
    /// Units of each group that are in use, and how many of them make a chunk.
    units: u64,
    chunk_units: u64,
    /// Chunks in all groups, and how many have been started.
    chunks: u64,
    next: u64,
    /// The order of each group's chunks; the groups take turns.
    order: Order,
    /// All chunks below this one have been started.
    begun: u64,
    /// The chunks in progress.
    slots: Vec<u64>,
    rate: Option<u64>,
    /// When the next chunk may start, and whether a timer is set for that.
    due_ns: u64,
    timed: bool,
    traffic: Traffic,
}

impl Rebuild {
    /// The rebuild of the `failed` devices of a layout.
    #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
    pub(super) fn new(spec: &RebuildSpec, failed: &[u32], layout: &Layout) -> Self {
        let mut targets: Vec<u16> = Vec::new();
        for device in failed.iter().map(|device| *device as u16) {
            if !targets.contains(&device) && targets.len() < spec.spares as usize {
                targets.push(device);
            }
        }
        let mut groups: Vec<u64> = targets.iter().map(|device| u64::from(*device) / layout.width).collect();
        groups.sort_unstable();
        groups.dedup();
        let capacity = layout.capacity();
        let all_groups = layout.capacities.len() as u64 / layout.width;
        let units = spec.used.of(capacity).min(capacity).div_ceil(layout.unit).div_ceil(all_groups.max(1));
        // Whole stripes.
        let of_stripe = layout.raid.map_or(1, Raid::data);
        let units = units.next_multiple_of(of_stripe);
        let chunk_units = (spec.chunk.0 / layout.unit).max(1).next_multiple_of(of_stripe);
        let chunks = units.div_ceil(chunk_units);
        Self {
            chunks: chunks * groups.len() as u64,
            order: Order::new(spec, chunks, chunk_units * layout.unit),
            begun: 0,
            targets,
            groups,
            units,
            chunk_units,
            next: 0,
            slots: vec![FREE; spec.in_flight as usize],
            rate: spec.rate.map(|rate| rate.0),
            due_ns: spec.at.0,
            timed: false,
            traffic: Traffic { start_ns: spec.at.0, ..Traffic::default() },
        }
    }

    /// The chunk that is started as number `nth`; calls go upwards.
    fn chunk(&mut self, nth: u64) -> u64 {
        let damaged = self.groups.len() as u64;
        self.order.chunk(nth / damaged) * damaged + nth % damaged
    }

    /// How many chunks have been started from the first one on without a gap.
    fn begun(&mut self) -> u64 {
        let next = self.next;
        if next == self.chunks {
            next
        } else if next / (self.groups.len() as u64) < self.order.last_sweep() {
            0
        } else {
            self.chunk(next)
        }
    }

    /// Units of the group at `place` among the damaged ones that are rebuilt without a gap from the start.
    fn rebuilt(&self, place: usize) -> u64 {
        let first_open = self.slots.iter().copied().min().unwrap_or(FREE).min(self.begun);
        first_open.saturating_sub(place as u64).div_ceil(self.groups.len() as u64) * self.chunk_units
    }
}

impl Layout {
    /// Sets the rebuild going, if there is one.
    pub fn start_rebuild(&mut self, kernel: &mut Kernel) {
        self.rebuild_more(kernel);
    }

    /// Return the traffic of the rebuild; `None` without one.
    #[must_use]
    pub fn rebuild_traffic(&self) -> Option<Traffic> {
        self.rebuild.as_ref().map(|rebuild| rebuild.traffic)
    }

    /// How much of the rebuild is done, 0 to 1; 1 without one.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a share for people
    pub fn rebuild_progress(&self) -> f64 {
        self.rebuild.as_ref().map_or(1.0, |rebuild| rebuild.next as f64 / rebuild.chunks.max(1) as f64)
    }

    pub(super) fn rebuild_timer(&mut self, kernel: &mut Kernel) {
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.timed = false;
        }
        self.rebuild_more(kernel);
    }

    /// Starts as many chunks as limit and rate allow.
    fn rebuild_more(&mut self, kernel: &mut Kernel) {
        let Some(mut rebuild) = self.rebuild.take() else { return };
        let mut pieces = std::mem::take(&mut self.pieces);
        while rebuild.next < rebuild.chunks {
            if kernel.now_ns() < rebuild.due_ns {
                if !rebuild.timed {
                    rebuild.timed = true;
                    kernel.wake_at(rebuild.due_ns, self.here, Timer::Rebuild);
                }
                break;
            }
            let Some(slot) = rebuild.slots.iter().position(|chunk| *chunk == FREE) else { break };
            if rebuild.next == 0 {
                rebuild.targets.iter().for_each(|device| self.sides[usize::from(*device)].spare = true);
            }
            let chunk = rebuild.chunk(rebuild.next);
            rebuild.next += 1;
            self.chunk(&rebuild, chunk, Op::Write, kernel.now_ns(), &mut pieces);
            let bytes = pieces.iter().map(|piece| piece.bytes).sum();
            if bytes == 0 {
                continue; // short records may leave a device out
            }
            if let Some(rate) = rebuild.rate {
                rebuild.due_ns = kernel.now_ns() + transfer_ns(bytes, rate);
            }
            rebuild.slots[slot] = chunk;
            let tag = u32::try_from(slot).unwrap_or(u32::MAX); // at most 1,024
            let whole = kernel.open(Request { owner: self.here, bytes, tag, ..Request::default() });
            self.chunk(&rebuild, chunk, Op::Read, kernel.now_ns(), &mut pieces);
            rebuild.traffic.read_bytes += pieces.iter().map(|piece| piece.bytes).sum::<u64>();
            self.send(kernel, whole, &pieces);
        }
        self.pieces = pieces;
        rebuild.begun = rebuild.begun();
        for device in &rebuild.targets {
            let group = u64::from(*device) / self.width;
            let place = rebuild.groups.iter().position(|damaged| *damaged == group).unwrap_or(0);
            self.sides[usize::from(*device)].rebuilt = rebuild.rebuilt(place);
        }
        if rebuild.next == rebuild.chunks && rebuild.slots.iter().all(|chunk| *chunk == FREE) && rebuild.traffic.end_ns.is_none() {
            rebuild.traffic.end_ns = Some(kernel.now_ns());
        }
        self.rebuild = Some(rebuild);
    }

    /// All parts of a chunk's present step are done: writes follow reads, the next chunk follows writes.
    pub(super) fn chunk_step(&mut self, kernel: &mut Kernel, id: RequestId) {
        let Some(mut rebuild) = self.rebuild.take() else { return };
        let Request { op, bytes, tag, .. } = kernel.requests[id];
        let slot = tag as usize;
        if op == Op::Read {
            kernel.requests[id].op = Op::Write;
            let mut pieces = std::mem::take(&mut self.pieces);
            self.chunk(&rebuild, rebuild.slots[slot], Op::Write, kernel.now_ns(), &mut pieces);
            self.send(kernel, id, &pieces);
            self.pieces = pieces;
            self.rebuild = Some(rebuild);
        } else {
            rebuild.slots[slot] = FREE;
            rebuild.traffic.written_bytes += bytes;
            kernel.requests.remove(id);
            self.rebuild = Some(rebuild);
            self.rebuild_more(kernel);
        }
    }

    /// The pieces that a chunk reads from survivors or writes to spares.
    #[allow(clippy::cast_possible_truncation)] // at most 65,535 devices
    fn chunk(&mut self, rebuild: &Rebuild, chunk: u64, op: Op, now_ns: u64, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let damaged = rebuild.groups.len() as u64;
        let group = rebuild.groups[(chunk % damaged) as usize];
        let start = chunk / damaged * rebuild.chunk_units;
        let end = (start + rebuild.chunk_units).min(rebuild.units);
        let first = (group * self.width) as usize;
        if self.kind == LayoutKind::Mirror {
            let (offset, bytes) = (start * self.unit, (end - start) * self.unit);
            let sides = first..first + self.width as usize;
            if op == Op::Read {
                let side = mirror::choose(self.balance.unwrap_or_default(), &self.sides[sides], offset, u64::MAX, now_ns);
                return pieces.push(Piece { device: (first + side) as u16, offset, bytes });
            }
            let targets = rebuild.targets.iter().filter(|device| sides.contains(&usize::from(**device)));
            return pieces.extend(targets.map(|device| Piece { device: *device, offset, bytes }));
        }
        let wanted = |device: u16| match op {
            Op::Read => !self.sides[usize::from(device)].failed,
            Op::Write | Op::Trim => rebuild.targets.contains(&device),
        };
        if let Some(raid) = self.raid {
            let (stripe, stripes) = (start / raid.data(), (end - start) / raid.data());
            let piece = |device| Piece { device, offset: stripe * self.unit, bytes: stripes * self.unit };
            let devices = (0..self.width).map(|disk| (first as u64 + disk) as u16);
            return pieces.extend(devices.filter(|device| wanted(*device)).map(piece));
        }
        let allocated = self.raidz.allocated_sectors(self.unit);
        let mut columns = std::mem::take(&mut self.columns);
        for record in start..end {
            self.raidz.columns_of(record * allocated, self.unit, &mut columns);
            let device = |disk: u64| (first as u64 + disk) as u16;
            if !columns.iter().any(|column| rebuild.targets.contains(&device(column.disk))) {
                continue;
            }
            for column in &columns {
                let device = device(column.disk);
                if wanted(device) {
                    push(pieces, Piece { device, offset: column.offset, bytes: column.bytes }, |_, _| false);
                }
            }
        }
        self.columns = columns;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::layers::layout::Gaps;
    use seeklab_spec::{Bytes, Extent, LayoutSpec as Spec};

    /// The ranges of each device, joined where they meet; panics when two overlap.
    fn ranges(pieces: &[Piece]) -> BTreeMap<u16, Vec<(u64, u64)>> {
        let mut sorted: Vec<_> = pieces.iter().map(|piece| (piece.device, piece.offset, piece.offset + piece.bytes)).collect();
        sorted.sort_unstable();
        let mut joined: BTreeMap<u16, Vec<(u64, u64)>> = BTreeMap::new();
        for (device, start, end) in sorted {
            let ranges = joined.entry(device).or_default();
            match ranges.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                Some(last) => {
                    assert!(last.1 < start, "device {device} twice at {start}");
                    ranges.push((start, end));
                }
                None => ranges.push((start, end)),
            }
        }
        joined
    }

    proptest! {
        #[test]
        fn chunks_write_once_what_a_whole_layout_keeps_on_the_lost_devices(
            raidz: bool, parity in 1u32..4, extra in 1u32..5, groups in 1u32..4, unit_log2 in 12u32..17, chunk_log2 in 12u32..20,
            units in 1u64..200, lost in proptest::collection::btree_set(0u32..12, 1..3),
        ) {
            let width = parity + extra;
            let failed: Vec<u32> = lost.into_iter().filter(|device| *device < width * groups).collect();
            let spares = if raidz { parity } else { width - 1 };
            prop_assume!(!failed.is_empty() && failed.len() <= spares as usize);
            let unit = 1 << unit_log2;
            let used = units * unit;
            let spec = Spec {
                kind: if raidz { LayoutKind::RaidZ } else { LayoutKind::Mirror },
                unit: Bytes(unit), width: Some(width), parity, failed: failed.clone(),
                rebuild: Some(RebuildSpec { spares: 16, chunk: Bytes(1 << chunk_log2), used: Extent::Bytes(used), ..RebuildSpec::default() }),
                ..Spec::default()
            };
            let devices = (width * groups) as usize;
            let mut layout = Layout::new(&spec, vec![64 << 20; devices], &vec![false; devices]);
            prop_assume!(used <= layout.capacity());
            let rebuild = layout.rebuild.take().expect("a rebuild");
            let (mut written, mut pieces) = (Vec::new(), Vec::new());
            for chunk in 0..rebuild.chunks {
                layout.chunk(&rebuild, chunk, Op::Write, 0, &mut pieces);
                written.extend_from_slice(&pieces);
                let lacking = pieces.is_empty();
                layout.chunk(&rebuild, chunk, Op::Read, 0, &mut pieces);
                prop_assert_eq!(pieces.is_empty(), lacking);
                prop_assert!(pieces.iter().all(|piece| !failed.contains(&u32::from(piece.device))), "reads from the lost");
            }
            let spec = Spec { failed: Vec::new(), rebuild: None, ..spec };
            let mut healthy = Layout::new(&spec, vec![64 << 20; devices], &vec![false; devices]).merging(Gaps::NONE);
            // Whole rows of units, as many as are used at all.
            let whole = units.div_ceil(u64::from(groups)) * u64::from(groups) * unit;
            healthy.map(Op::Write, 0, whole, 0, &mut pieces);
            let mut expected = ranges(&pieces);
            expected.retain(|device, _| failed.contains(&u32::from(*device)));
            prop_assert_eq!(ranges(&written), expected);
        }
    }

    #[test]
    fn the_mark_is_the_first_chunk_that_is_not_done() {
        let spec = Spec { kind: LayoutKind::Mirror, width: Some(2), failed: vec![1, 2], ..Spec::default() };
        let layout = Layout::new(&spec, vec![1 << 20; 4], &[false; 4]);
        let rebuild = RebuildSpec { spares: 2, chunk: Bytes(64 << 10), ..RebuildSpec::default() };
        let mut rebuild = Rebuild::new(&rebuild, &spec.failed, &layout);
        assert_eq!((rebuild.chunks, rebuild.chunk_units), (32, 2));
        rebuild.next = 7;
        rebuild.begun = rebuild.begun();
        rebuild.slots[1] = 5;
        assert_eq!([rebuild.rebuilt(0), rebuild.rebuilt(1)], [6, 4], "chunks 0 to 4: three of the first group, two of the second");
    }
}
