//! Copies in the background: blocks that follow their reader, and copies made again after a loss.
//!
//! Modelled: a remote read takes its block along (whole; what the read did not fetch is read once more); a lost node's objects are
//! dealt out to the nodes that still hold them, each of which sends so many at a time to the node that has been given the fewest.
//! Designs with pairs have a fresh node take the lost one's place, filled by its partner alone; the others make copies on the
//! nodes that are left. Requests pass background copies on the links; devices do not tell them apart.
//! Left out: waiting before a loss is believed, limits on the rate, moving blocks back.

use std::collections::VecDeque;

use super::placement::NOWHERE;
use super::record::{Arrival, Why};
use super::{Cluster, Kind, Stage, Work, background_request};
use crate::kernel::{Kernel, RequestId};
use seeklab_spec::Op;
use seeklab_spec::cluster::Design;

/// Copies that have to be made.
#[derive(Debug)]
pub struct Background {
    /// Objects that each node has to send.
    queues: Vec<VecDeque<u32>>,
    /// Copies that each node is sending.
    in_flight: Vec<u32>,
    /// Copies that each node was chosen to receive.
    given: Vec<u32>,
    most_in_flight: u32,
}

impl Background {
    /// Nothing to do for `nodes` nodes.
    #[must_use]
    pub fn new(nodes: usize, most_in_flight: u32) -> Self {
        Self { queues: vec![VecDeque::new(); nodes], in_flight: vec![0; nodes], given: vec![0; nodes], most_in_flight }
    }
}

impl Cluster {
    /// Lets the block of a remote read move to its reader; `in_hand` when all of it has been read.
    pub(super) fn migrate(&mut self, kernel: &mut Kernel, read: &Work, in_hand: bool) {
        let object = &self.placement.objects[read.object as usize];
        let follows = self.spec.migrate && self.placement.design == Design::Locality;
        if !follows
            || object.nodes.contains(&read.from)
            || !self.placement.has_room(read.from)
            || !self.placement.up[usize::from(read.from)]
        {
            return;
        }
        if object.slot_on(read.to).is_none() || self.placement.set_moving(read.object, true) {
            return;
        }
        let slot = self.placement.take(read.from);
        let stage = if in_hand { Stage::Target } else { Stage::Device };
        let work = Work { kind: Kind::Move(Why::Migrate), stage, from: read.to, to: read.from, slot, within: 0, ..*read };
        if in_hand {
            let vm = self.placement.vm_of(read.block);
            self.record.flow(kernel.now_ns(), Why::Migrate, vm, read.to, read.from, self.block);
        }
        self.begin(kernel, work);
    }

    fn begin(&mut self, kernel: &mut Kernel, work: Work) {
        let op = if work.stage == Stage::Target { Op::Write } else { Op::Read };
        let tag = self.add(work);
        let request = kernel.open(background_request(self.block, op, tag));
        self.device(kernel, request);
    }

    /// A copy is on its new node.
    pub(super) fn moved(&mut self, kernel: &mut Kernel, id: RequestId) {
        let tag = kernel.requests[id].tag;
        kernel.requests.remove(id);
        self.works.release(tag);
        let Work { kind, object, from, to, slot, .. } = self.works[tag];
        let held = self.placement.objects[object as usize];
        let fits = self.placement.up[usize::from(to)] && !held.nodes.contains(&to);
        if kind == Kind::Move(Why::Migrate) {
            let is_wanted = self.placement.set_moving(object, false) && fits && held.nodes.contains(&from);
            if is_wanted {
                self.placement.replace(object, from, to, slot);
                self.record.moved += 1;
            } else {
                self.placement.give(to, slot);
            }
            return;
        }
        if fits && self.placement.add(object, to, slot) {
            self.record.reprotected += 1;
            self.record.reprotected_ns = kernel.now_ns();
            self.record.senders[usize::from(from)] = true;
        } else {
            self.placement.give(to, slot);
            self.protect(object);
        }
        self.background.in_flight[usize::from(from)] -= 1;
        self.pump_all(kernel);
    }

    /// A node is lost.
    #[allow(clippy::cast_possible_truncation)] // at most 256 nodes and jobs, and blocks within their limit
    pub(super) fn lose(&mut self, kernel: &mut Kernel, node: u16) {
        let is_paired = self.placement.design.is_paired();
        self.placement.empty(node, is_paired);
        // Its machines start again on the partner, or on the next node that is there.
        let nodes = self.placement.up.len() as u16;
        let next = (1..nodes).map(|step| (node + step) % nodes).find(|other| self.placement.up[usize::from(*other)]);
        let to = if is_paired { node ^ 1 } else { next.unwrap_or(node) };
        for (vm, at) in self.vms.iter_mut().enumerate().filter(|(_, at)| **at == node) {
            *at = to;
            self.record.arrivals.push(Arrival { time_ns: kernel.now_ns(), vm: vm as u16, node: to });
        }
        let waiting: Vec<u32> = self.background.queues[usize::from(node)].drain(..).collect();
        for object in 0..self.placement.objects.len() as u32 {
            if self.placement.drop_copy(object, node) {
                self.protect(object);
            }
        }
        for object in waiting {
            self.protect(object);
        }
        self.pump_all(kernel);
    }

    /// Queues an object at the node that holds it and has the least to send.
    fn protect(&mut self, object: u32) {
        let queues = &self.background.queues;
        let held = &self.placement.objects[object as usize];
        if held.holders().count() >= self.placement.copies() {
            return;
        }
        if let Some(node) = held.holders().min_by_key(|node| queues[usize::from(*node)].len()) {
            self.background.queues[usize::from(node)].push_back(object);
        }
    }

    #[allow(clippy::cast_possible_truncation)] // at most 256 nodes
    fn pump_all(&mut self, kernel: &mut Kernel) {
        for node in 0..self.background.queues.len() as u16 {
            self.pump(kernel, node);
        }
    }

    /// Lets a node send as much as it may.
    fn pump(&mut self, kernel: &mut Kernel, node: u16) {
        let at = usize::from(node);
        while self.background.in_flight[at] < self.background.most_in_flight {
            let Some(object) = self.background.queues[at].pop_front() else { return };
            let held = self.placement.objects[object as usize];
            if held.holders().count() >= self.placement.copies() {
                continue;
            }
            if !held.nodes.contains(&node) {
                self.protect(object);
                continue;
            }
            let Some(to) = self.receiver(&held.nodes, node) else { continue };
            self.background.given[usize::from(to)] += 1;
            self.background.in_flight[at] += 1;
            let slot = self.placement.take(to);
            let work = Work {
                kind: Kind::Move(Why::Reprotect),
                stage: Stage::Device,
                block: 0,
                object,
                within: 0,
                from: node,
                to,
                slot,
                asked: [NOWHERE; 2],
                lookups: 0,
                walked: 0,
            };
            self.begin(kernel, work);
        }
    }

    /// The node that gets a copy: the partner's place, or of those with room and without a copy the one given the fewest.
    #[allow(clippy::cast_possible_truncation)] // at most 256 nodes
    fn receiver(&self, holders: &[u16], from: u16) -> Option<u16> {
        if self.placement.design.is_paired() {
            return Some(from ^ 1).filter(|node| !holders.contains(node));
        }
        let can = |node: &u16| self.placement.up[usize::from(*node)] && !holders.contains(node) && self.placement.has_room(*node);
        (0..self.placement.up.len() as u16).filter(can).min_by_key(|node| self.background.given[usize::from(*node)])
    }
}
