//! Reads: from memory what is dirty or in flight to the devices, and with a read side what was read before; the rest from below.
//!
//! With a read side a read goes from page to page. At each it may make the cache fetch something ([`super::read_ahead`]), each run of
//! absent neighbours with one request below; where a page is still in flight it waits for that page's request alone, and goes on
//! from there.

use std::collections::VecDeque;

use seeklab_kernel::Slab;
use seeklab_spec::read_ahead::ReadAhead;

use super::cached::Cached;
use super::read_ahead::{Decision, FilePages, OpenFile, Windows};
use super::read_record::{ReadRecord, Row};
use super::{HERE, PAGE_BYTES, PageCache, Timer, pages_of};
use crate::kernel::{Address, Kernel, Phase, Request, RequestId};
use crate::layers::device::transfer_ns;
use crate::plan::Plan;
use crate::range::Range;
use crate::read_ahead::{Question, Run};

/// The file that a worker reads.
#[derive(Clone, Copy, Debug)]
struct File {
    /// Number of the file.
    number: usize,
    /// Number of the open file that it reads it by.
    open: usize,
    /// The file's first page in the address space.
    first: u64,
    /// Its end there, in bytes.
    end: u64,
}

impl File {
    fn pages(self) -> u64 {
        self.end.div_ceil(PAGE_BYTES) - self.first
    }

    /// The file of a request, which may reach beyond what its worker uses: behind it lies what a copy writes.
    fn reaching(self, request: &Request) -> Self {
        Self { end: self.end.max(request.offset + request.bytes), ..self }
    }
}

/// The read side of a page cache.
pub struct Reads {
    below: Address,
    windows: Windows,
    pages: Cached,
    /// By worker.
    files: Vec<File>,
    open: Vec<OpenFile>,
    /// Requests below: the reads that wait for each, and the page from which each of those continues.
    fetches: Slab<Vec<(RequestId, u64)>>,
    /// Pages being read, unsorted because there are few: each run in pages of the address space, and its fetch.
    arriving: Vec<(Range, u32)>,
    /// Runs of the decision at hand, in pages of the file.
    runs: Vec<Range>,
    /// Whether the host decides, and the reads that wait for it.
    asks: bool,
    questions: VecDeque<(RequestId, Question)>,
    memory_bytes: u64,
    /// Reads and their reasons.
    pub record: ReadRecord,
}

impl Reads {
    /// The read side for the workers of a plan, in so much memory, above `below`.
    #[must_use]
    pub fn new(spec: &ReadAhead, plan: &Plan, memory_bytes: u64, below: Address) -> Self {
        let places = plan.files();
        let file = |(worker, place): (usize, Range)| {
            let number = places.partition_point(|other| other.start < place.start);
            let open = if spec.one_open { number } else { worker };
            File { number, open, first: place.start / PAGE_BYTES, end: places[number].end }
        };
        let files: Vec<File> = plan.workers.iter().map(|worker| worker.file).enumerate().map(file).collect();
        Self {
            below,
            windows: Windows::new(spec),
            pages: Cached::default(),
            open: vec![OpenFile::default(); files.len()],
            files,
            fetches: Slab::default(),
            arriving: Vec::new(),
            runs: Vec::new(),
            asks: spec.asked,
            questions: VecDeque::new(),
            memory_bytes,
            record: ReadRecord::default(),
        }
    }

    /// A read arrives. Says whether all that it asks for is in memory.
    pub fn begin(&mut self, kernel: &mut Kernel, id: RequestId) -> bool {
        let request = kernel.requests[id];
        let file = self.files[request.worker as usize].reaching(&request);
        let asked = Range { start: request.offset / PAGE_BYTES, end: (request.offset + request.bytes).div_ceil(PAGE_BYTES) };
        let (mut cached, mut missed, mut late) = (0, 0, false);
        for page in asked.start..asked.end {
            let bytes = (request.offset + request.bytes).min((page + 1) * PAGE_BYTES) - request.offset.max(page * PAGE_BYTES);
            if !self.pages.has(page) {
                missed += bytes;
            } else if self.on_its_way(page).is_none() {
                cached += bytes;
            } else {
                late |= self.pages.is_unused(page);
            }
        }
        let slot = &mut kernel.requests[id];
        slot.cached_bytes = clamp(cached);
        slot.missed_bytes = clamp(missed);
        if self.asks {
            let question = Question {
                now_ns: kernel.now_ns(),
                file: file.number as u64,
                record: asked.start - file.first,
                records: asked.end - asked.start,
                file_records: file.pages(),
                found: missed == 0,
                late,
                record_bytes: PAGE_BYTES,
                memory_bytes: self.memory_bytes,
                arriving_bytes: self.arriving.iter().map(|(run, _)| (run.end - run.start) * PAGE_BYTES).sum(),
                wasted_bytes: 0,
                worker: request.worker,
            };
            self.questions.push_back((id, question));
            return false;
        }
        self.go_on(kernel, id, asked.start)
    }

    /// Whether a read waits for the host's answer.
    #[must_use]
    pub fn asks(&self) -> bool {
        !self.questions.is_empty()
    }

    /// The oldest question.
    #[must_use]
    pub fn question(&self) -> Option<Question> {
        self.questions.front().map(|(_, question)| *question)
    }

    /// Takes the host's answer to the oldest question: these runs of the file's pages are fetched with what was asked for. Gives the
    /// read that has all that it asked for.
    pub fn answer(&mut self, kernel: &mut Kernel, runs: &[Run]) -> Option<RequestId> {
        let (id, question) = self.questions.pop_front()?;
        let file = self.files[question.worker as usize].reaching(&kernel.requests[id]);
        let asked = Range { start: question.record, end: question.record + question.records };
        let answered = runs.iter().map(|run| Range { start: run.block, end: run.block.saturating_add(run.blocks) });
        self.runs.clear();
        let mut pages = FilePages { pages: &mut self.pages, first: file.first, count: file.pages() };
        for window in std::iter::once(asked).chain(answered) {
            pages.fetch(window, asked, &mut self.runs);
        }
        self.fetch(kernel, id, file, asked);
        self.go_on(kernel, id, file.first + question.record).then_some(id)
    }

    /// Lets a read continue from a page of the address space. Says whether it has reached its end; else it waits.
    fn go_on(&mut self, kernel: &mut Kernel, id: RequestId, from: u64) -> bool {
        let request = kernel.requests[id];
        let file = self.files[request.worker as usize].reaching(&request);
        let end = (request.offset + request.bytes).div_ceil(PAGE_BYTES);
        for page in from..end {
            if !self.asks {
                self.decide(kernel, id, file, page, end);
            }
            let is_first_use = self.pages.take_unused(page);
            self.record.used_pages += u64::from(is_first_use);
            if let Some(fetch) = self.on_its_way(page) {
                self.fetches[fetch].push((id, page + 1));
                return false;
            }
        }
        self.open[file.open].ended(end - 1 - file.first);
        true
    }

    /// Lets the read-ahead see that a read comes to a page.
    fn decide(&mut self, kernel: &mut Kernel, id: RequestId, file: File, page: u64, end: u64) {
        self.runs.clear();
        let mut pages = FilePages { pages: &mut self.pages, first: file.first, count: file.pages() };
        let (place, asked) = (page - file.first, end - page);
        let Some(decision) = self.windows.read(&mut self.open[file.open], &mut pages, place, asked, &mut self.runs) else { return };
        let Decision { why, window } = decision;
        // No window begins before the page: what was cached there is as it was.
        let history = pages.before(place, self.windows.max());
        self.record.row(Row {
            time_ns: kernel.now_ns(),
            worker: kernel.requests[id].worker,
            page: place,
            asked,
            history,
            window: Range { start: window.start, end: window.end.min(file.pages()) },
            fetched: self.runs.iter().map(|run| run.end - run.start).sum(),
            why,
        });
        self.fetch(kernel, id, file, Range { start: place, end: place + asked });
    }

    /// Reads the runs at hand from below; what lies outside of `asked` is read ahead.
    fn fetch(&mut self, kernel: &mut Kernel, id: RequestId, file: File, asked: Range) {
        let worker = kernel.requests[id].worker;
        for run in &self.runs {
            let (first, end) = (file.first + run.start, file.first + run.end);
            let tag = self.fetches.claim(Vec::new);
            self.arriving.push((Range { start: first, end }, tag));
            let asked_for = run.end.min(asked.end).saturating_sub(run.start.max(asked.start));
            self.record.fetched_pages += end - first;
            self.record.ahead_pages += end - first - asked_for;
            let offset = first * PAGE_BYTES;
            let bytes = (end * PAGE_BYTES).min(file.end) - offset;
            let child = kernel.open(Request { offset, bytes, owner: HERE, tag, worker, ..Request::default() });
            kernel.submit(self.below, child);
        }
    }

    /// The request that brings a page, while it is in flight.
    fn on_its_way(&self, page: u64) -> Option<u32> {
        self.arriving.iter().find(|(run, _)| run.start <= page && page < run.end).map(|(_, fetch)| *fetch)
    }

    /// A request below is done. Its readers continue; those that have all that they asked for go to `complete`.
    pub fn fetched(&mut self, kernel: &mut Kernel, child: RequestId, complete: &mut Vec<RequestId>) {
        let tag = kernel.requests[child].tag;
        let device = kernel.requests[child].device;
        self.arriving.retain(|(_, fetch)| *fetch != tag);
        let mut waiters = std::mem::take(&mut self.fetches[tag]);
        for (reader, next) in &waiters {
            kernel.requests[*reader].device = device;
            kernel.requests.inherit(*reader, child);
            if self.go_on(kernel, *reader, *next) {
                complete.push(*reader);
            }
        }
        waiters.clear();
        self.fetches[tag] = waiters; // keeps its memory for the next fetch
        self.fetches.release(tag);
        kernel.requests.remove(child);
    }

    /// Pages that were written, in bytes from the first to the last, are cached.
    pub fn written(&mut self, pages: Range) {
        for page in pages.start / PAGE_BYTES..pages.end / PAGE_BYTES {
            self.pages.add(page, false);
        }
    }

    /// Pages of all files.
    #[must_use]
    pub fn file_pages(&self) -> u64 {
        let mut counted = vec![false; self.files.len()];
        let mut is_new = |file: &&File| !std::mem::replace(&mut counted[file.number], true);
        self.files.iter().filter(|file| is_new(file)).map(|file| file.pages()).sum()
    }

    /// Pages that are cached, or in flight.
    #[must_use]
    pub fn cached_pages(&self) -> u64 {
        self.pages.len()
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.pages.memory_bytes() + self.record.memory_bytes()
    }
}

impl PageCache {
    /// A read arrives.
    pub(super) fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        if let Some(reads) = &mut self.reads {
            if reads.begin(kernel, id) {
                self.copy_out(kernel, id);
            }
            return;
        }
        if self.pages.hold_all(pages_of(request.offset, request.bytes)) {
            kernel.requests[id].cached_bytes = clamp(request.bytes);
            return self.copy_out(kernel, id);
        }
        kernel.requests[id].missed_bytes = clamp(request.bytes);
        let child = kernel.open_child(id, HERE, request.offset, request.bytes);
        kernel.submit(self.below, child);
    }

    /// Copies a read whose pages are all there out of memory.
    pub(super) fn copy_out(&mut self, kernel: &mut Kernel, id: RequestId) {
        let bytes = kernel.requests[id].bytes;
        let core_ns = self.machine.hit_ns(1) + transfer_ns(bytes, self.spec.memory_rate.0);
        let ready_ns = self.machine.copy(kernel.now_ns(), core_ns, bytes);
        kernel.wake_at(ready_ns, HERE, Timer::Read(id));
    }

    /// A read from below has come.
    pub(super) fn fetched(&mut self, kernel: &mut Kernel, child: RequestId) {
        let Some(reads) = &mut self.reads else {
            if let Some(read) = kernel.join(child) {
                kernel.complete(read);
            }
            return;
        };
        let mut complete = Vec::new();
        reads.fetched(kernel, child, &mut complete);
        for id in complete {
            self.copy_out(kernel, id);
        }
    }

    /// A read has been copied out of memory.
    pub(super) fn copied_out(kernel: &mut Kernel, id: RequestId) {
        kernel.charge(id, Phase::Memory);
        kernel.complete(id);
    }
}

/// Bytes of one request as they are kept in its slot; requests are checked to be at most 1 GiB.
fn clamp(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
