//! The feed of the cache devices: a pass when it is due, its writes, and the next pass.
//!
//! A pass waits for its writes. The feed rests once reads stop and a pass has found nothing, or the passes since the last read have
//! filled the devices once (small ones are overwritten with the same blocks for ever); so a run ends.

use super::{HERE, Kind, Timer, Zfs};
use crate::kernel::Kernel;
use crate::layers::zfs::l2arc::Place;
use crate::layers::zfs::scheduler::Class;
use seeklab_spec::Op;

/// Longest write to a cache device.
const WRITE_BYTES: u64 = 128 << 10;

impl Zfs {
    /// A read has come: the feed wakes if it rests.
    pub(super) fn wake_feed(&mut self, kernel: &mut Kernel) {
        let Some(reader) = self.reader.as_mut().filter(|reader| reader.l2.is_some() && !reader.feed.is_awake) else { return };
        reader.feed.is_awake = true;
        kernel.wake_at(reader.feed.next_ns, HERE, Timer::Feed);
    }

    /// A pass is due.
    pub(super) fn feed_pass(&mut self, kernel: &mut Kernel) {
        let Some(reader) = &mut self.reader else { return };
        let Some(l2) = &mut reader.l2 else { return };
        reader.feed.idle_bytes = if std::mem::take(&mut reader.feed.has_read) { 0 } else { reader.feed.idle_bytes };
        let mut writes = std::mem::take(&mut reader.writes);
        writes.clear();
        l2.begin(kernel.now_ns(), &reader.arc, &mut writes);
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
        let next_ns = l2.end(kernel.now_ns());
        let directory_bytes = l2.directory_bytes();
        reader.arc.directory_bytes = directory_bytes;
        reader.arc.settle();
        let record = &mut reader.record;
        record.most_directory_bytes = record.most_directory_bytes.max(directory_bytes);
        let written_bytes = l2.written_bytes - record.fed_bytes;
        record.row(kernel.now_ns()).fed += written_bytes;
        record.fed_bytes = l2.written_bytes;
        record.warm(kernel.now_ns(), l2.bytes());
        let capacity = l2.capacity();
        reader.note(kernel.now_ns());
        reader.feed.next_ns = next_ns;
        reader.feed.idle_bytes += written_bytes;
        reader.feed.is_awake = reader.feed.has_read || (written_bytes > 0 && reader.feed.idle_bytes < capacity);
        if reader.feed.is_awake {
            kernel.wake_at(next_ns, HERE, Timer::Feed);
        }
    }
}
