//! Bytes that a power failure would lose, and the flushes that make them durable.
//!
//! Modelled, as `OpenZFS` does it (`zil_lwb_flush_vdevs_done`, `vdev_config_sync`): when the blocks of a commit of the intent log are
//! written, the devices that hold them are flushed before anyone is told; when all of a group is written, all devices of the pool
//! are flushed before the group counts as synced. A FLUSH does not pass the I/O scheduler. Devices without a volatile cache are
//! not asked, as drivers that know the cache to be protected do.
//!
//! Left out: the uberblock, which is written after that FLUSH and flushed once more.
//!
//! Bytes that were acknowledged to a writer and are in no log are held as unsafe ([`Holder::FileSystem`]) until their group's blocks
//! are written; a group's blocks give them back in equal shares.

use super::{HERE, Kind, Role, Zfs};
use crate::kernel::{Holder, Kernel, Request, RequestId};
use crate::layers::zfs::throttle::mul_div;

/// More than the groups that can be open, quiescing and syncing at a time.
pub(super) const GROUPS: usize = 4;

#[allow(clippy::cast_possible_truncation)] // a place among four
fn place(group: u64) -> usize {
    (group % GROUPS as u64) as usize
}

impl Zfs {
    /// The same over devices with or without a volatile cache: those of the pool, then the log devices.
    #[must_use]
    pub fn flushing(mut self, volatile: impl IntoIterator<Item = bool>) -> Self {
        for (leaf, is_volatile) in self.leaves.iter_mut().zip(volatile) {
            leaf.is_volatile = is_volatile;
        }
        self
    }

    /// Sends a FLUSH to a leaf's device, as a part of `work`.
    pub(super) fn send_flush(&mut self, kernel: &mut Kernel, leaf: usize, work: u32) {
        self.works[work].pending += 1;
        let id = kernel.open(Request { tag: work, ..Request::flush(HERE) });
        kernel.submit(self.leaves[leaf].address, id);
    }

    /// A device has been flushed.
    pub(super) fn flushed(&mut self, kernel: &mut Kernel, id: RequestId) {
        self.part_done(kernel, kernel.requests[id].tag, id);
        kernel.requests.remove(id);
        self.advance(kernel);
    }

    /// All of the syncing group is written: flushes the pool, then ends the sync.
    pub(super) fn flush_pool(&mut self, kernel: &mut Kernel) {
        let needs = |leaf: &super::Leaf| leaf.is_volatile && leaf.role == Role::Pool;
        if self.sync.data_bytes == 0 || !self.leaves.iter().any(needs) {
            return self.end_sync(kernel);
        }
        self.sync.is_flushing = true;
        let work = self.work(Kind::GroupFlush, 0, 0);
        for leaf in 0..self.leaves.len() {
            if needs(&self.leaves[leaf]) {
                self.send_flush(kernel, leaf, work);
            }
        }
    }

    /// A write of `group` has been acknowledged from memory.
    pub(super) fn acknowledged(&mut self, kernel: &mut Kernel, group: u64, bytes: u64) {
        self.unsafe_bytes[place(group)] += bytes;
        kernel.hold(Holder::FileSystem, bytes);
    }

    /// Bytes of `group` that were acknowledged are in the log.
    pub(super) fn secured(&mut self, kernel: &mut Kernel, group: u64, bytes: u64) {
        let held = if self.groups.syncing() == Some(group) { &mut self.sync.unsafe_bytes } else { &mut self.unsafe_bytes[place(group)] };
        let bytes = bytes.min(*held);
        *held -= bytes;
        kernel.release(Holder::FileSystem, bytes);
    }

    /// `group` begins to sync.
    pub(super) fn take_unsafe(&mut self, group: u64) {
        self.sync.unsafe_bytes = std::mem::take(&mut self.unsafe_bytes[place(group)]);
        self.sync.blocks_left = self.sync.words.iter().map(|(_, bits)| u64::from(bits.count_ones())).sum();
        self.sync.is_flushing = false;
    }

    /// All copies of some blocks of the syncing group are with their devices.
    pub(super) fn blocks_written(&mut self, kernel: &mut Kernel, blocks: u64) {
        let sync = &mut self.sync;
        let share = if blocks < sync.blocks_left { mul_div(sync.unsafe_bytes, blocks, sync.blocks_left) } else { sync.unsafe_bytes };
        sync.blocks_left = sync.blocks_left.saturating_sub(blocks);
        sync.unsafe_bytes -= share;
        kernel.release(Holder::FileSystem, share);
    }
}
