//! Synchronous writes and flushes: their own pages, then a commit of the transaction that their file joined last.
//!
//! Where the file has no journal, a write of the inode's block takes the commit's place, and what the devices hold in volatile caches
//! is flushed with it. Where nothing is to be committed, the devices are flushed, as ext4 does (`ext4_sync_file`).

use super::{File, HERE, LAST, PageCache, Waiter, pages_of};
use crate::kernel::{Durable, Kernel, Phase, Request, RequestId};

/// A synchronous write or a flush.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sync {
    request: RequestId,
    file: u32,
    /// Runs that must be written before the commit.
    pending: u32,
    /// Whether it needs only the metadata without which the data cannot be read.
    data_only: bool,
}

impl PageCache {
    /// The bytes of a request are in memory, and it waits until they are durable.
    pub(super) fn sync(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let file = self.file_at(request.offset);
        let range = if request.durable == Durable::All { self.files[file as usize].place } else { pages_of(request.offset, request.bytes) };
        let data_only = self.writers[request.worker as usize].flushes_data_only(&request);
        let (dirty, under_way) = self.pages.orders_in(range);
        let pending = u32::try_from(dirty.len() + under_way.len()).unwrap_or(u32::MAX); // memory has no room for as many
        let sync = self.syncs.insert(Sync { request: id, file, pending, data_only });
        for order in dirty.iter().chain(&under_way) {
            self.wait_for(*order, Waiter::Sync(sync));
        }
        self.flusher.urgent.extend(dirty);
        if pending == 0 {
            return self.commit_for(kernel, sync);
        }
        self.pump(kernel);
    }

    /// A run that a synchronous write waits for has been written by request `by`.
    pub(super) fn part_written(&mut self, kernel: &mut Kernel, sync: u32, by: RequestId) {
        let Sync { request, pending, .. } = &mut self.syncs[sync];
        *pending -= 1;
        if *pending == 0 {
            let id = *request;
            kernel.requests[id].device = kernel.requests[by].device;
            kernel.requests.inherit(id, by);
            self.commit_for(kernel, sync);
        }
    }

    /// All pages of a synchronous write are on the devices: its metadata follow.
    fn commit_for(&mut self, kernel: &mut Kernel, sync: u32) {
        let Sync { request, file, data_only, .. } = self.syncs[sync];
        let File { is_journalled, joined, joined_with_blocks, has_new_blocks, place, .. } = self.files[file as usize];
        if is_journalled && self.force(kernel, if data_only { joined_with_blocks } else { joined }, sync) {
            return;
        }
        let worker = kernel.requests[request].worker;
        let flush = Request { offset: place.start, worker, tag: LAST | sync, ..Request::flush(HERE) };
        let writes_inode = !is_journalled && (has_new_blocks || !data_only);
        let last = if writes_inode { Request { bytes: super::PAGE_BYTES, ..flush } } else { flush };
        if writes_inode {
            self.files[file as usize].has_new_blocks = false;
        }
        let id = kernel.open(last);
        kernel.submit(self.below, id);
    }

    /// The inode of a file without a journal is durable, or the devices are flushed.
    pub(super) fn last_written(&mut self, kernel: &mut Kernel, by: RequestId) {
        let sync = kernel.requests[by].tag - LAST;
        let id = self.syncs[sync].request;
        kernel.requests[id].device = kernel.requests[by].device;
        kernel.requests.inherit(id, by);
        kernel.requests.remove(by);
        self.end_sync(kernel, sync);
    }

    /// The transaction that a synchronous write waited for is durable.
    pub(super) fn committed_for(&mut self, kernel: &mut Kernel, sync: u32) {
        kernel.charge(self.syncs[sync].request, Phase::Journal);
        self.end_sync(kernel, sync);
    }

    fn end_sync(&mut self, kernel: &mut Kernel, sync: u32) {
        let id = self.syncs[sync].request;
        self.syncs.release(sync);
        self.record.synced(kernel.now_ns() - kernel.requests[id].submitted_ns, self.pages.bytes());
        kernel.complete(id);
    }
}
