//! Requests to the devices: queued by leaf, sent as each leaf's scheduler allows, and what their completion means.

use super::{AHEAD, Flight, HERE, Kind, MAX_QUEUED_AHEAD, Role, Scheduler, Work, Zfs};
use crate::kernel::{Kernel, Request, RequestId};
use crate::layers::layout::Piece;
use crate::layers::zfs::l2arc::Place;
use crate::layers::zfs::scheduler::{Class, Io, Issue};
use seeklab_spec::Op;
use seeklab_spec::zfs::Release;

impl Zfs {
    /// A place for something that requests below us are for.
    pub(super) fn work(&mut self, kind: Kind, blocks: u64, each_bytes: u64) -> u32 {
        let place = self.works.claim(Work::default);
        let work = &mut self.works[place];
        (work.kind, work.blocks, work.each_bytes, work.pending) = (kind, blocks, each_bytes, 0);
        place
    }

    /// Cuts a request by leaf and queues the pieces.
    pub(super) fn enqueue(&mut self, kernel: &mut Kernel, class: Class, op: Op, offset: u64, bytes: u64, work: u32) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        match &mut self.layout {
            Some(layout) => layout.map(op, offset, bytes, kernel.now_ns(), &mut pieces),
            None => pieces.push(Piece { device: 0, offset, bytes }),
        }
        for piece in &pieces {
            let io = Io { class, op, offset: piece.offset, bytes: piece.bytes, token: work, due: 0 };
            self.enqueue_on(kernel.now_ns(), usize::from(piece.device), io);
        }
        self.pieces = pieces;
    }

    /// Queues a request for a leaf of the pool.
    pub(super) fn enqueue_on(&mut self, now_ns: u64, number: usize, io: Io) {
        let Some(leaf) = self.leaves.get_mut(number) else { return };
        let is_group_write = matches!(self.works[io.token].kind, Kind::Data | Kind::Metadata);
        if is_group_write {
            leaf.queued_writes += 1;
            self.queued_writes += 1;
            self.short_leaves -= usize::from(leaf.queued_writes == AHEAD);
            self.sync.pending += 1;
        }
        self.queue(number, if is_group_write { self.sync.started_ns } else { now_ns }, io);
    }

    /// Queues a block of the intent log on each side of a mirror of log devices.
    pub(super) fn enqueue_on_log(&mut self, now_ns: u64, mirror: usize, io: Io) {
        let Some(first) = self.first(Role::Log) else { return };
        for side in 0..self.log_sides {
            self.queue(first + mirror * self.log_sides + side, now_ns, io);
        }
    }

    fn first(&self, role: Role) -> Option<usize> {
        self.leaves.iter().position(|leaf| leaf.role == role)
    }

    /// Queues a request to a cache device.
    pub(super) fn enqueue_on_cache(&mut self, kernel: &mut Kernel, class: Class, op: Op, place: Place, work: u32) {
        let Some(first) = self.first(Role::Cache) else { return };
        let io = Io { class, op, offset: place.offset, bytes: place.bytes, token: work, due: 0 };
        self.queue(first + place.device, kernel.now_ns(), io);
    }

    fn queue(&mut self, number: usize, arrival_ns: u64, io: Io) {
        self.touched.push(number);
        if self.works[io.token].kind == Kind::Log {
            self.logged_on.push(number);
        }
        self.works[io.token].pending += 1;
        let leaf = &mut self.leaves[number];
        if io.class == Class::AsyncRead && leaf.queued_ahead >= MAX_QUEUED_AHEAD {
            return leaf.backlog.push_back((io, arrival_ns));
        }
        leaf.queued_ahead += usize::from(io.class == Class::AsyncRead);
        leaf.scheduler.enqueue(arrival_ns, io);
    }

    /// Something has been queued: its leaves may take it, and all leaves may when the ramp has moved.
    pub(super) fn pump_leaves(&mut self, kernel: &mut Kernel) {
        let mut touched = std::mem::take(&mut self.touched);
        let most = self.ramp.max_in_flight(self.dirty.total_bytes());
        if most != self.pumped_at {
            self.pumped_at = most;
            touched.clear();
            touched.extend(0..self.leaves.len());
        }
        touched.sort_unstable();
        touched.dedup();
        for leaf in touched.drain(..) {
            self.pump(kernel, leaf, true);
        }
        self.touched = touched;
    }

    /// Sends to a leaf's device what its scheduler allows after an arrival or a completion.
    pub(super) fn pump(&mut self, kernel: &mut Kernel, leaf: usize, arrival: bool) {
        let mut members = std::mem::take(&mut self.members);
        let mut sent = 0;
        loop {
            let issue = match &mut self.leaves[leaf].scheduler {
                Scheduler::Active(queue) => queue.issue(self.ramp.max_in_flight(self.dirty.total_bytes()), &mut members),
                Scheduler::Deadline(queue) if arrival => queue.after_arrival(&mut members),
                Scheduler::Deadline(queue) if sent < 2 => queue.after_completion(&mut members),
                Scheduler::Deadline(_) => None,
            };
            let Some(issue) = issue else { break };
            sent += 1;
            self.send(kernel, leaf, &issue, &members);
        }
        self.members = members;
        if sent > 0 {
            self.note(kernel.now_ns());
        }
    }

    pub(super) fn send(&mut self, kernel: &mut Kernel, leaf: usize, issue: &Issue, members: &[Io]) {
        let place = self.flights.claim(|| Flight { leaf, class: issue.class, works: Vec::new() });
        let flight = &mut self.flights[place];
        (flight.leaf, flight.class) = (leaf, issue.class);
        flight.works.clear();
        flight.works.extend(members.iter().map(|io| io.token));
        let of = |class: Class| members.iter().filter(|io| io.class == class).count();
        let queue = &mut self.leaves[leaf];
        queue.queued_ahead -= of(Class::AsyncRead);
        while queue.queued_ahead < MAX_QUEUED_AHEAD
            && let Some((io, arrival_ns)) = queue.backlog.pop_front()
        {
            queue.queued_ahead += 1;
            queue.scheduler.enqueue(arrival_ns, io);
        }
        if queue.role == Role::Pool {
            let writes = of(Class::AsyncWrite);
            let was_short = queue.queued_writes < AHEAD;
            queue.queued_writes -= writes;
            self.queued_writes -= writes;
            self.short_leaves += usize::from(!was_short && queue.queued_writes < AHEAD);
            if issue.class == Class::AsyncWrite {
                self.writes_in_flight += 1;
                self.bytes_in_flight += issue.bytes;
            }
            if let Some(layout) = &mut self.layout {
                layout.issued(leaf, issue.offset + issue.bytes);
            }
        }
        let Issue { op, offset, bytes, .. } = *issue;
        let child = kernel.open(Request { op, offset, bytes, owner: HERE, tag: place, ..Request::default() });
        kernel.submit(self.leaves[leaf].address, child);
    }

    /// A request below us has completed.
    pub(super) fn done(&mut self, kernel: &mut Kernel, child: RequestId) {
        let request = kernel.requests[child];
        if request.is_flush() {
            return self.flushed(kernel, child);
        }
        let flight = &mut self.flights[request.tag];
        let (leaf, class) = (flight.leaf, flight.class);
        let mut works = std::mem::take(&mut flight.works);
        match &mut self.leaves[leaf].scheduler {
            Scheduler::Active(queue) => queue.complete(class),
            Scheduler::Deadline(queue) => queue.complete(),
        }
        match self.leaves[leaf].role {
            Role::Pool => {
                self.record.device_io(request.op, request.bytes, kernel.now_ns() - request.submitted_ns);
                if class == Class::AsyncWrite {
                    self.writes_in_flight = self.writes_in_flight.saturating_sub(1);
                    self.bytes_in_flight = self.bytes_in_flight.saturating_sub(request.bytes);
                }
                if let Some(layout) = &mut self.layout {
                    layout.completed(leaf);
                }
            }
            Role::Log => {
                self.note(kernel.now_ns());
                self.record.logged(request.bytes);
            }
            Role::Cache => {}
        }
        let of_group = works.iter().map(|work| self.works[*work].kind).find(|kind| matches!(kind, Kind::Data | Kind::Metadata));
        if let Some(kind) = of_group {
            self.record.written(request.bytes, kind == Kind::Metadata, kernel.now_ns());
        }
        for work in works.drain(..) {
            self.part_done(kernel, work, child);
        }
        self.flights[request.tag].works = works;
        self.flights.release(request.tag);
        kernel.requests.remove(child);
        if of_group.is_some() {
            // Less is in flight, and less may be dirty, also where nothing follows: at the end of a group.
            self.note(kernel.now_ns());
        }
        self.pump(kernel, leaf, false);
        if of_group.is_some() {
            self.sync_on(kernel);
        }
        self.advance(kernel);
    }

    pub(super) fn part_done(&mut self, kernel: &mut Kernel, number: u32, child: RequestId) {
        let work = &mut self.works[number];
        work.pending = work.pending.saturating_sub(1);
        let (kind, last, blocks, each_bytes) = (work.kind, work.pending == 0, work.blocks, work.each_bytes);
        if matches!(kind, Kind::Data | Kind::Metadata) {
            self.sync.pending = self.sync.pending.saturating_sub(1);
        }
        match (kind, self.release) {
            (Kind::Data, Release::EachWrite) => self.dirty.release(self.sync.group, blocks, each_bytes),
            (Kind::Data, Release::WholeBlock) if last => self.dirty.release(self.sync.group, blocks, self.record_bytes),
            (Kind::Read | Kind::Ahead, _) if last => self.arrived(kernel, number, child),
            (Kind::Feed, _) if last => self.fed(kernel),
            (Kind::Log, _) if last => self.flush(kernel, blocks),
            (Kind::LogFlush, _) if last => self.copy_and_flush(kernel, blocks),
            (Kind::GroupFlush, _) if last => self.end_sync(kernel),
            (Kind::Scrub, _) if last => self.scrubbed(kernel),
            _ => {}
        }
        if last {
            self.works.release(number);
            if kind == Kind::Data {
                self.blocks_written(kernel, blocks);
            }
        }
        if kind == Kind::Data && self.release != Release::GroupEnd {
            self.dirty_changed(kernel);
        }
    }
}
