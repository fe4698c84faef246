//! The feed of the cache devices: a pass when it is due, its writes, and the next pass.
//!
//! A pass waits for its writes. The feed rests once a pass has found nothing and nobody has read since it began, so that a run ends.

use super::{FEED_TIMER, HERE, Kind, ZfsVolume};
use crate::kernel::{Kernel, Op, Signal};
use crate::zfs::l2arc::Place;
use crate::zfs::scheduler::Class;

/// Longest write to a cache device.
const WRITE_BYTES: u64 = 128 << 10;

impl ZfsVolume {
    /// Somebody reads: the feed wakes if it rests.
    pub(super) fn wake_feed(&mut self, kernel: &mut Kernel) {
        let Some(reader) = self.reader.as_mut().filter(|reader| reader.l2.is_some() && !reader.feeds) else { return };
        reader.feeds = true;
        kernel.at(reader.next_feed_ns, HERE, Signal::Timer, FEED_TIMER);
    }

    /// A pass is due.
    pub(super) fn feed_pass(&mut self, kernel: &mut Kernel) {
        let Some(reader) = &mut self.reader else { return };
        let Some(l2) = &mut reader.l2 else { return };
        reader.has_read = false;
        let mut writes = std::mem::take(&mut reader.writes);
        writes.clear();
        l2.begin(kernel.now_ns, &reader.arc, &mut writes);
        if writes.is_empty() {
            self.fed(kernel);
        } else {
            let work = self.work(Kind::Feed, 0, 0);
            for Place { device, offset, bytes } in writes.iter().copied() {
                let mut done = 0;
                while done < bytes {
                    let part = Place { device, offset: offset + done, bytes: WRITE_BYTES.min(bytes - done) };
                    self.enqueue_on_cache(kernel, Class::AsyncWrite, Op::Write, part, work);
                    done += part.bytes;
                }
            }
            self.pump_leaves(kernel);
        }
        if let Some(reader) = &mut self.reader {
            reader.writes = writes;
        }
    }

    /// A pass has been written.
    pub(super) fn fed(&mut self, kernel: &mut Kernel) {
        let Some(reader) = &mut self.reader else { return };
        let Some(l2) = &mut reader.l2 else { return };
        let (next_ns, has_written) = l2.end(kernel.now_ns);
        let directory_bytes = l2.directory_bytes();
        reader.arc.directory_bytes = directory_bytes;
        reader.arc.settle();
        let record = &mut reader.record;
        record.most_directory_bytes = record.most_directory_bytes.max(directory_bytes);
        record.row(kernel.now_ns).fed += l2.written_bytes - record.fed_bytes;
        record.fed_bytes = l2.written_bytes;
        record.warm(kernel.now_ns, l2.bytes());
        reader.note(kernel.now_ns);
        reader.next_feed_ns = next_ns;
        reader.feeds = has_written || reader.has_read;
        if reader.feeds {
            kernel.at(next_ns, HERE, Signal::Timer, FEED_TIMER);
        }
    }
}
