//! A partition on each device: where it begins, and what a write costs that does not begin or end with a physical block.
//!
//! Modelled: the shift of every address by the partition's start, any byte; and read-modify-write. A write that covers a block
//! only in part needs the rest of it: the first and the last block of the write are read, both at once, then merged in memory,
//! then the whole range is written in one piece. With a disk that means: the head's block passes under the arm, is read, and comes
//! around again one revolution later to be written. The tail's block is read within that revolution, so it costs nothing more.
//! Two writes that share a block take turns with it, or one would undo the other; the wait is charged as waiting for what another
//! request has in hand.
//!
//! Sources: the sizes are the casebook's; the order (both reads, merge, one write) is what file systems and logical volume
//! managers do that keep whole blocks. Left out: a drive that does the same inside (512-byte emulation), a cache of the blocks just
//! written, which would save the head's read of a sequential stream, and reads of partial blocks, which are cut by the device.

use std::collections::{BTreeMap, VecDeque};

use crate::kernel::{Address, Event, Kernel, LayerId, Phase, Request, RequestId, Timer as _};
use crate::layers::{Layer, ReportContext};
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;
use seeklab_spec::partition::PartitionSpec;
use seeklab_spec::{Op, Scenario};

/// The effects of partitions on writes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Writes.
    pub writes: u64,
    /// Writes with a partial block.
    pub partial_writes: u64,
    /// Reads that these needed.
    pub extra_reads: u64,
    /// Bytes read and written beyond what was asked for.
    pub extra_bytes: u64,
}

impl Counts {
    /// Reports the counts.
    pub fn metrics(&self, metrics: &mut Metrics) {
        metrics.share(
            "partition_partial_writes_share_percent",
            "Share of writes that covered a physical block only partly.",
            self.partial_writes,
            self.writes,
        );
        metrics.count("partition_extra_reads", "Reads that were needed before writes of partial blocks.", self.extra_reads);
        metrics.mean(
            "partition_extra_reads_per_write",
            "Reads that were needed before writes of partial blocks, per write.",
            self.extra_reads,
            self.writes,
        );
        metrics.bytes("partition_extra_bytes", "Bytes read and written for partial blocks beyond the requested ones.", self.extra_bytes);
    }
}

const HERE: LayerId = LayerId::Partition;

timers! {
    enum Timer {
        /// A write has been merged with the blocks that were read for it.
        Merged(RequestId),
    }
}

// What the parts of a request are, in their tags.
const READ: u32 = 0;
const WRITE: u32 = 1;

/// The partitions of all devices.
pub struct Partitions {
    start: u64,
    block: u64,
    merge_ns: u64,
    merges: bool,
    apart: bool,
    /// Partial blocks in hand, by device and block, with the writes that wait for each.
    held: BTreeMap<(u16, u64), VecDeque<u32>>,
    /// Effects so far.
    pub counts: Counts,
}

impl Layer for Partitions {
    type Spec = PartitionSpec;
    const FIELD: &'static str = "partition";
    const LABEL: &'static str = "Partition";
    const IS_BETWEEN: bool = false;

    fn spec(scenario: &Scenario) -> Option<&PartitionSpec> {
        scenario.partition.as_ref()
    }

    /// Requests are for the devices, and pass through [`Partitions::submit`].
    fn is_passed(_: &Scenario) -> bool {
        false
    }

    fn build(spec: &PartitionSpec, _: &Setup) -> Option<Self> {
        Some(Self::new(spec))
    }

    fn on(&mut self, kernel: &mut Kernel, device: u16, event: Event) {
        match event {
            Event::Timer(timer) => {
                let Timer::Merged(work) = Timer::unpack(timer);
                kernel.charge(work, Phase::Memory);
                self.write(kernel, device, work);
            }
            Event::Done(id) => {
                let kind = kernel.requests[id].tag;
                let Some(work) = kernel.join(id) else { return };
                if kind == WRITE {
                    self.complete(kernel, device, work);
                } else if self.merge_ns > 0 {
                    let here = Address { layer: HERE, index: device };
                    kernel.wake_at(kernel.now_ns() + self.merge_ns, here, Timer::Merged(work));
                } else {
                    self.write(kernel, device, work);
                }
            }
            Event::Submit(_) => {} // requests are for the device, and pass `submit` on their way
        }
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.counts.metrics(metrics);
    }
}

impl Partitions {
    /// The partitions that a scenario describes.
    #[must_use]
    pub fn new(spec: &PartitionSpec) -> Self {
        Self {
            start: spec.start.0,
            block: spec.block.0,
            merge_ns: spec.merge.0,
            merges: spec.read_modify_write,
            apart: spec.apart,
            held: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    /// A request comes to the partition of device `index`. Returns whether it is to go on to the device as it is now.
    pub fn submit(&mut self, kernel: &mut Kernel, index: u16, id: RequestId) -> bool {
        let request = kernel.requests[id];
        if request.owner.layer == HERE {
            return true; // a part of a write that came by before
        }
        let place = request.place + self.start;
        kernel.requests[id].place = place;
        if request.op != Op::Write || request.is_flush() {
            return true;
        }
        self.counts.writes += 1;
        let end = place + request.bytes;
        if place.is_multiple_of(self.block) && end.is_multiple_of(self.block) {
            return true;
        }
        self.counts.partial_writes += 1;
        let here = Address { layer: HERE, index };
        // The whole of the work below is one part of the request, so that the request itself stays its owner's.
        let work = kernel.open_child(id, here, place, request.bytes);
        self.take(kernel, index, work, self.edges(place, end)[0]);
        false
    }

    /// Numbers of the partial blocks of a range: the head's and the tail's, which may be the same; a whole block is left out.
    fn edges(&self, start: u64, end: u64) -> [Option<u64>; 2] {
        let head = (!start.is_multiple_of(self.block)).then_some(start / self.block);
        let tail = (!end.is_multiple_of(self.block)).then_some(end / self.block).filter(|tail| head != Some(*tail));
        if head.is_none() { [tail, None] } else { [head, tail] }
    }

    /// Takes `block` in hand for a write, or waits for it; then the write's last block; then reads. Blocks are taken in rising
    /// order, so that no two writes wait for each other.
    fn take(&mut self, kernel: &mut Kernel, index: u16, work: RequestId, block: Option<u64>) {
        let mut next = block;
        while let Some(block) = next {
            if let Some(waiting) = self.held.get_mut(&(index, block)) {
                return waiting.push_back(work.0);
            }
            self.held.insert((index, block), VecDeque::new());
            next = self.after(kernel, work, block);
        }
        self.read(kernel, index, work);
    }

    /// The partial block that a write needs after `block`.
    fn after(&self, kernel: &Kernel, work: RequestId, block: u64) -> Option<u64> {
        let Request { offset, bytes, .. } = kernel.requests[work];
        self.edges(offset, offset + bytes)[1].filter(|tail| *tail != block)
    }

    fn read(&mut self, kernel: &mut Kernel, index: u16, work: RequestId) {
        kernel.charge(work, Phase::InFlight);
        let Request { offset, bytes, .. } = kernel.requests[work];
        if !self.merges {
            return self.write(kernel, index, work);
        }
        for block in self.edges(offset, offset + bytes).into_iter().flatten() {
            let part = kernel.open_child(work, Address { layer: HERE, index }, block * self.block, self.block);
            kernel.requests[part].op = Op::Read;
            kernel.requests[part].tag = READ;
            self.counts.extra_reads += 1;
            self.counts.extra_bytes += self.block;
            kernel.submit(Address { layer: LayerId::Device, index }, part);
        }
    }

    /// Writes the whole blocks that the write touches.
    fn write(&mut self, kernel: &mut Kernel, index: u16, work: RequestId) {
        let Request { offset, bytes, .. } = kernel.requests[work];
        let start = offset / self.block * self.block;
        let end = (offset + bytes).div_ceil(self.block) * self.block;
        self.counts.extra_bytes += end - start - bytes;
        let edges = self.edges(offset, offset + bytes);
        let whole = |block: u64| edges.iter().all(|edge| *edge != Some(block));
        let (first, last) = (start / self.block, end / self.block - 1);
        let body = (first + u64::from(!whole(first))) * self.block;
        let tail = ((last + u64::from(whole(last))) * self.block).max(body);
        let cuts = if self.apart { [start, body, tail, end] } else { [start, end, end, end] };
        for cut in cuts.windows(2).filter(|cut| cut[0] < cut[1]) {
            let part = kernel.open_child(work, Address { layer: HERE, index }, cut[0], cut[1] - cut[0]);
            kernel.requests[part].op = Op::Write;
            kernel.requests[part].tag = WRITE;
            kernel.submit(Address { layer: LayerId::Device, index }, part);
        }
    }

    fn complete(&mut self, kernel: &mut Kernel, index: u16, work: RequestId) {
        let Request { offset, bytes, .. } = kernel.requests[work];
        for block in self.edges(offset, offset + bytes).into_iter().flatten() {
            let Some(mut waiting) = self.held.remove(&(index, block)) else { continue };
            if let Some(next) = waiting.pop_front() {
                // The block goes straight to the one that waited longest.
                self.held.insert((index, block), waiting);
                let tail = self.after(kernel, RequestId(next), block);
                self.take(kernel, index, RequestId(next), tail);
            }
        }
        if let Some(whole) = kernel.join(work) {
            kernel.complete(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use seeklab_spec::{Bytes, Nanos};

    use super::*;
    use crate::layers::device::lun::Lun;
    use seeklab_spec::Lun as LunSpec;

    fn spec(start: u64, block: u64, apart: bool) -> PartitionSpec {
        PartitionSpec { start: Bytes(start), block: Bytes(block), merge: Nanos(100), read_modify_write: true, apart }
    }

    /// What reached the device, in order: direction, first byte, one past the last.
    type Seen = Vec<(Op, u64, u64)>;

    /// Sends writes to a partition on a device of a fixed rate, all at once. Returns what reached the device, and the longest wait
    /// for blocks in hand.
    fn run(spec: &PartitionSpec, writes: &[(u64, u64)]) -> (Seen, u64) {
        let lun: LunSpec =
            serde_json::from_value(serde_json::json!({"capacity": "1TiB", "rate": 1_000_000_000, "latency": 50})).expect("a unit");
        let mut device = Lun::new(&lun, Phase::Transfer, 1, "lun");
        device.here = Address::of(LayerId::Device);
        let mut partitions = Partitions::new(spec);
        let mut kernel = Kernel::default();
        for (offset, bytes) in writes {
            let id = kernel.open(Request { offset: *offset, bytes: *bytes, op: Op::Write, ..Request::default() });
            kernel.submit(Address::of(LayerId::Device), id);
        }
        let (mut seen, mut done, mut waited) = (Seen::new(), 0, 0);
        while let Some(event) = kernel.advance() {
            match (event.to().layer, event.event()) {
                (LayerId::Device, Event::Submit(id)) => {
                    if partitions.submit(&mut kernel, 0, id) {
                        let request = kernel.requests[id];
                        seen.push((request.op, request.place, request.place + request.bytes));
                        device.on(&mut kernel, Event::Submit(id));
                    }
                }
                (LayerId::Partition, event) => partitions.on(&mut kernel, 0, event),
                (_, event) => {
                    let Event::Done(id) = event else { panic!("{event:?}") };
                    assert_eq!(
                        kernel.requests.spent(id).dense().iter().sum::<u64>(),
                        kernel.now_ns(),
                        "all of the write's time is charged"
                    );
                    waited = waited.max(kernel.requests.spent(id).dense()[Phase::InFlight as usize]);
                    kernel.requests.remove(id);
                    done += 1;
                }
            }
        }
        assert_eq!(done, writes.len(), "every write completes once");
        assert!(partitions.held.is_empty(), "no block stays in hand");
        assert!(kernel.requests.is_empty());
        (seen, waited)
    }

    #[test]
    fn a_misaligned_write_reads_both_ends_and_writes_whole_blocks() {
        let (seen, _) = run(&spec(1536, 4096, false), &[(0, 1 << 20)]);
        let end = (1 << 20) + 4096;
        assert_eq!(seen, [(Op::Read, 0, 4096), (Op::Read, 1 << 20, end), (Op::Write, 0, end)]);
    }

    #[test]
    fn written_apart_the_partial_blocks_are_writes_of_their_own() {
        let (seen, _) = run(&spec(1536, 4096, true), &[(0, 1 << 20)]);
        let end = (1 << 20) + 4096;
        assert_eq!(seen[2..], [(Op::Write, 0, 4096), (Op::Write, 4096, 1 << 20), (Op::Write, 1 << 20, end)]);
    }

    #[test]
    fn written_apart_only_what_is_partial_is_apart() {
        let (head, _) = run(&spec(512, 4096, true), &[(0, 16_384 - 512)]);
        assert_eq!(head, [(Op::Read, 0, 4096), (Op::Write, 0, 4096), (Op::Write, 4096, 16_384)]);
        let (tail, _) = run(&spec(4096, 4096, true), &[(0, 4096 + 512)]);
        assert_eq!(tail, [(Op::Read, 8192, 12_288), (Op::Write, 4096, 8192), (Op::Write, 8192, 12_288)]);
    }

    #[test]
    fn what_is_written_beyond_the_writes_is_counted() {
        let mut partitions = Partitions::new(&spec(512, 4096, false));
        let mut kernel = Kernel::default();
        let id = kernel.open(Request { offset: 512, bytes: 8192, op: Op::Write, ..Request::default() });
        partitions.write(&mut kernel, 0, id);
        assert_eq!(partitions.counts.extra_bytes, 4096);
        let mut metrics = Metrics::default();
        partitions.counts.metrics(&mut metrics);
        let named = |name: &str| metrics.value(name);
        assert!(named("partition_extra_reads").is_some() && named("partition_partial_writes_share_percent").is_some());
    }

    #[test]
    fn merging_a_block_takes_its_time() {
        let waits = |merge| run(&PartitionSpec { merge: Nanos(merge), ..spec(512, 4096, false) }, &[(0, 4096), (4096, 4096)]).1;
        assert_eq!(waits(100_000) - waits(0), 100_000);
    }

    #[test]
    fn an_aligned_write_passes_as_it_is() {
        let (seen, _) = run(&spec(1 << 20, 4096, false), &[(4096, 8192)]);
        assert_eq!(seen, [(Op::Write, (1 << 20) + 4096, (1 << 20) + 12_288)]);
    }

    #[test]
    fn neighbours_that_share_a_block_take_turns() {
        let (seen, waited) = run(&spec(512, 4096, false), &[(0, 4096), (4096, 4096)]);
        let last_write = seen.iter().rposition(|row| row.0 == Op::Write).expect("two writes");
        let first_write = seen.iter().position(|row| row.0 == Op::Write).expect("two writes");
        assert!(seen[first_write + 1..last_write].contains(&(Op::Read, 4096, 8192)), "{seen:?}");
        assert!(waited > 0);
    }

    proptest! {
        #[test]
        fn read_modify_write_conserves_bytes_and_reads_no_block_while_another_write_has_it(
            start in 0u64..20_000, block_log2 in 9u32..15, apart in any::<bool>(),
            writes in proptest::collection::vec((0u64..64, 1u64..40), 1..20),
        ) {
            let block = 1u64 << block_log2;
            let writes: Vec<(u64, u64)> = writes.into_iter().map(|(offset, bytes)| (offset * 512, bytes * 512)).collect();
            let (seen, _) = run(&spec(start, block, apart), &writes);
            let whole = |(offset, bytes): &(u64, u64)| {
                let (first, end) = (start + offset, start + offset + bytes);
                let touched = end.div_ceil(block) - first / block;
                let aligned = first.is_multiple_of(block) && end.is_multiple_of(block);
                if aligned { *bytes } else { touched * block }
            };
            let written: u64 = seen.iter().filter(|row| row.0 == Op::Write).map(|row| row.2 - row.1).sum();
            prop_assert_eq!(written, writes.iter().map(whole).sum::<u64>());
            let reads = seen.iter().filter(|row| row.0 == Op::Read).count();
            let partial = |(offset, bytes): &(u64, u64)| {
                let (first, end) = (start + offset, start + offset + bytes);
                let ends = [(!first.is_multiple_of(block)).then_some(first / block), (!end.is_multiple_of(block)).then_some(end / block)];
                ends.iter().flatten().collect::<std::collections::BTreeSet<_>>().len()
            };
            prop_assert_eq!(reads, writes.iter().map(partial).sum::<usize>());
            prop_assert!(seen.iter().all(|row| row.0 == Op::Write || (row.1.is_multiple_of(block) && row.2 - row.1 == block)));
        }
    }
}
