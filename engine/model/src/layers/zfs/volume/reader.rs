//! The read side's parts and what they know of the files: the ARC, the read-ahead, the cache devices.

use std::collections::VecDeque;

use crate::layers::zfs::arc::{Arc, Kind};
use crate::layers::zfs::l2arc::{L2Arc, Place};
use crate::layers::zfs::read_record::Reads;
use crate::layers::zfs::settings;
use crate::layers::zfs::zfetch;
use crate::layers::zfs::zfetch::Predictor;
use crate::range::Range;
use crate::read_ahead::{Question, Run};
use seeklab_spec::zfs::ZfsSpec;

/// The file of a worker.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its number.
    pub number: usize,
    /// The job of the worker.
    pub job: usize,
    /// Where it is, in bytes of the address space.
    pub place: Range,
}

/// The properties of the scenario that a read side needs.
pub struct Files {
    /// The file of each worker.
    pub of_worker: Vec<File>,
    /// How many files there are.
    pub count: usize,
    /// How many jobs there are.
    pub jobs: usize,
    /// Ranges that hold metadata.
    pub metadata: Vec<Range>,
    /// Bytes of all files.
    pub bytes: u64,
}

/// The feed of the cache devices.
#[derive(Debug, Default)]
pub(super) struct Feed {
    /// Whether a pass is due or being written.
    pub(super) is_awake: bool,
    /// Whether anything was read since the last pass began.
    pub(super) has_read: bool,
    pub(super) next_ns: u64,
    /// Bytes written since the last read.
    pub(super) idle_bytes: u64,
}

/// The ARC and what feeds it.
#[allow(clippy::struct_excessive_bools)] // settings, each of its own
pub struct Reader {
    pub(super) arc: Arc,
    pub(super) l2: Option<L2Arc>,
    pub(super) predictor: Option<Box<dyn Predictor>>,
    /// Whether the host is asked what to fetch.
    pub(super) asks: bool,
    pub(super) questions: VecDeque<Question>,
    /// Whether each block of a read is a read of its own to the predictor.
    pub(super) by_block: bool,
    pub(super) max_read: u64,
    pub(super) files: Vec<File>,
    metadata: Vec<Range>,
    seen: Vec<bool>,
    /// Bytes in flight that were read ahead.
    pub(super) arriving_ahead_bytes: u64,
    pub(super) plan: Vec<Run>,
    /// Blocks to be read ahead that wait for room.
    pub(super) for_room: VecDeque<u64>,
    pub(super) writes: Vec<Place>,
    pub(super) feed: Feed,
    /// Record of the run.
    pub record: Reads,
}

impl Reader {
    /// The read side that `spec` describes, if any.
    #[must_use]
    pub fn new(spec: &ZfsSpec, files: Files, interval_ns: u64) -> Option<Self> {
        let arc = Arc::new(spec.era, settings::arc_bytes(spec)?);
        let l2 = spec
            .l2arc
            .as_ref()
            .map(|l2arc| L2Arc::new(settings::l2arc_settings(l2arc, spec), &vec![l2arc.bytes(); l2arc.device.count as usize]));
        let asks = spec.prefetch.as_ref().is_some_and(|prefetch| prefetch.on && prefetch.asked);
        let tuned = settings::prefetch_tuned(spec).filter(|_| !asks);
        Some(Self {
            feed: Feed { next_ns: l2.as_ref().map_or(0, L2Arc::first_ns), ..Feed::default() },
            arc,
            l2,
            predictor: tuned.map(|tuned| zfetch::predictor(spec.era, spec.record.0, files.count, tuned)),
            asks,
            questions: VecDeque::new(),
            by_block: zfetch::by_block(spec.era),
            max_read: spec.prefetch.as_ref().map_or(0, |prefetch| prefetch.max_read.0),
            seen: vec![false; files.of_worker.len()],
            metadata: files.metadata,
            arriving_ahead_bytes: 0,
            plan: Vec::new(),
            for_room: VecDeque::new(),
            writes: Vec::new(),
            record: Reads::new(files.jobs, files.bytes, interval_ns),
            files: files.of_worker,
        })
    }

    /// Return the contents of the block that starts at `offset`.
    pub(super) fn kind(&self, offset: u64) -> Kind {
        let is_metadata = self.metadata.iter().any(|range| (range.start..range.end).contains(&offset));
        if is_metadata { Kind::Metadata } else { Kind::Data }
    }

    /// A worker reads.
    pub(super) fn seen(&mut self, worker: u32) {
        if let Some(seen) = self.seen.get_mut(worker as usize)
            && !std::mem::replace(seen, true)
        {
            self.record.readers += 1;
        }
    }

    /// Brings the record up to date.
    pub(super) fn note(&mut self, now_ns: u64) {
        let wasted_bytes = self.arc.evicted_unused_bytes;
        let more = wasted_bytes - self.record.wasted_bytes;
        if more > 0 {
            self.record.readers_before_waste.get_or_insert(self.record.readers);
        }
        self.record.wasted_bytes = wasted_bytes;
        let arc_bytes = self.arc.used_bytes();
        let row = self.record.row(now_ns);
        row.wasted += more;
        row.arc = arc_bytes;
    }

    /// Bytes of memory that grow with the run.
    pub(super) fn memory_bytes(&self) -> u64 {
        let questions = self.questions.capacity() * size_of::<Question>();
        self.arc.memory_bytes() + self.l2.as_ref().map_or(0, L2Arc::memory_bytes) + self.record.memory_bytes() + questions as u64
    }
}
