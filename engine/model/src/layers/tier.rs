//! The SSD cache tier: blocks that a flash device answers for instead of the devices below.
//!
//! Modelled: which blocks are resident (primed before the run, or admitted when read from below), under a policy of [`seeklab_cache`], and the
//! device that reads them. Left out: writes into the tier (a write drops the block), and the cost of filling it.

use crate::blocks::Blocks;
use crate::kernel::{Address, Event, Kernel, LayerId, RequestId};
use crate::layers::Layer;
use crate::range::Range;
use crate::rules;
use crate::setup::Setup;
use seeklab_cache::{NONE, PolicyKind};
use seeklab_spec::{self as spec, Op, Path, Problems, Scenario};

const HERE: Address = Address::of(LayerId::Tier);

/// The tier layer.
pub struct Tier {
    block: u64,
    resident: Blocks,
    admit: bool,
    below: Address,
    /// Bytes of the address space of each part of the layer below.
    span: u64,
}

impl Layer for Tier {
    type Spec = spec::TierSpec;
    const FIELD: &'static str = "tier";
    const LABEL: &'static str = "Cache tier";

    fn spec(scenario: &Scenario) -> Option<&spec::TierSpec> {
        scenario.tier.as_ref()
    }

    fn check(spec: &spec::TierSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        rules::names_jobs(&spec.primed, "primed", scenario, at, problems);
        rules::names_jobs(&spec.evicted, "evicted", scenario, at, problems);
    }

    fn build(spec: &spec::TierSpec, setup: &Setup) -> Option<Self> {
        let kept: Vec<String> = spec.primed.iter().filter(|name| !spec.evicted.contains(name)).cloned().collect();
        let block = setup.scenario.volume.as_ref().map_or(setup.scenario.layout.unit, |volume| volume.block);
        let tier = Self::new(block.0, spec.size.0, spec.policy, spec.admit, &setup.regions(&kept), setup.below(LayerId::Tier));
        Some(tier.over(setup.plan.node_capacity.max(1)))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        match event {
            Event::Submit(id) if kernel.requests[id].op == Op::Read => self.read(kernel, id),
            Event::Submit(id) => self.write(kernel, id),
            Event::Done(id) => self.done(kernel, id),
            Event::Timer(_) => {} // it sets none
        }
    }
}

impl Tier {
    /// A tier of `bytes` in blocks of `block` bytes, above `below`; `primed` ranges (bytes) are resident as far as they fit.
    #[must_use]
    pub fn new(block: u64, bytes: u64, policy: PolicyKind, admit: bool, primed: &[Range], below: Address) -> Self {
        let resident = Blocks::primed(policy, (bytes / block).max(1), block, primed);
        Self { block, resident, admit, below, span: u64::MAX }
    }

    /// A tier over several parts of the layer below, each with `span` bytes of the address space.
    #[must_use]
    pub fn over(self, span: u64) -> Self {
        Self { span, ..self }
    }

    /// The part of the layer below that holds an address.
    fn below(&self, offset: u64) -> Address {
        Address { index: u16::try_from(offset / self.span).unwrap_or(0), ..self.below }
    }

    fn blocks(&self, offset: u64, bytes: u64) -> std::ops::Range<u64> {
        offset / self.block..(offset + bytes).div_ceil(self.block)
    }

    /// Splits a read into runs that are resident and runs that are not.
    fn read(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        let end = request.offset + request.bytes;
        let mut start = request.offset;
        let mut resident = self.use_block(start / self.block);
        for block in self.blocks(request.offset, request.bytes).skip(1) {
            let next = self.use_block(block);
            if next != resident {
                self.part(kernel, id, start, block * self.block, resident);
                (start, resident) = (block * self.block, next);
            }
        }
        self.part(kernel, id, start, end, resident);
    }

    fn use_block(&mut self, block: u64) -> bool {
        let place = self.resident.find(block);
        if let Some(place) = place {
            self.resident.touch(place);
        }
        place.is_some()
    }

    fn part(&self, kernel: &mut Kernel, id: RequestId, start: u64, end: u64, resident: bool) {
        let child = kernel.open_child(id, HERE, start, end - start);
        let to = if resident { Address::of(LayerId::TierDevice) } else { self.below(start) };
        kernel.requests[child].tag = u32::from(!resident);
        kernel.submit(to, child);
    }

    fn write(&mut self, kernel: &mut Kernel, id: RequestId) {
        let request = kernel.requests[id];
        for block in self.blocks(request.offset, request.bytes) {
            self.resident.remove(block);
        }
        kernel.submit(self.below(request.offset), id);
    }

    fn done(&mut self, kernel: &mut Kernel, child: RequestId) {
        let part = kernel.requests[child];
        if self.admit && part.tag == 1 {
            for block in self.blocks(part.offset, part.bytes) {
                if self.resident.find(block).is_none() {
                    self.resident.add(block, NONE, NONE);
                }
            }
        }
        if let Some(read) = kernel.join(child) {
            kernel.complete(read);
        }
    }
}
