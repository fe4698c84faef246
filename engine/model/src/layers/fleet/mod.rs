//! A fleet: thousands of nodes, the sets of nodes on which chunks have their copies, outages, and the copying again of a lost node.
//!
//! Modelled: a placement of chunks on nodes, which stays as it is over a number of outages; outages that leave exactly so many nodes
//! dark, drawn without replacement; and which sets of nodes, all of whose chunks are lost, are dark as a whole. And one node that is
//! lost: each request of a job is a chunk that it held, read from that of the other holders whose queue is the shortest, at a node's
//! rate.
//!
//! Source: Asaf Cidon et al., "Copysets: Reducing the Frequency of Data Loss in Cloud Storage", USENIX ATC 2013: random placement,
//! windows and permutations cut into groups (`sets`). Constants: none besides the scenario's.
//!
//! Outages are placement and counting alone: no request, and no time passes. They are still a layer of a run and not a question beside
//! it, so that a scenario says nodes and placement once, for what is lost and for how fast it is made good; and an outage is an event at
//! the beginning of the run, so that a host can show progress and stop. A cluster (`layers::cluster`) moves every block of up to 256
//! nodes; here no chunk has a place in memory, which is why there may be 100,000 nodes.
//!
//! Left out: what is lost of a chunk, so a dark node either comes back or its copies do not; how many chunks a set has by chance (a set
//! counts with its expectation); racks; outages that follow each other before everything is copied again; the network between nodes; and
//! where the new copies are written.

mod check;
mod outages;
mod report;
mod sets;

#[cfg(test)]
mod tests;

use seeklab_kernel::{NS_PER_S, Stream};
use seeklab_spec::fleet::{FleetSpec, Placement};

use crate::kernel::{Address, Event, Kernel, LayerId, Phase, RequestId};
use crate::layers::{Layer, ReportContext};
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;
use crate::timers;
use outages::Outages;
use seeklab_spec::{Path, Problems, Scenario};
use sets::{Sets, Widths};

const HERE: Address = Address::of(LayerId::Fleet);

timers! {
    enum Timer {
        /// The next outage.
        Outage,
    }
}

/// The fleet layer.
pub struct Fleet {
    spec: FleetSpec,
    outages: Outages,
    /// The node whose data are copied again. Where sets are kept it is the first with the widest scatter, so that it stands for most:
    /// a node that meets another twice has one source less, and that one has twice to do.
    lost: u32,
    /// How widely nodes are scattered, where sets are kept.
    widths: Option<Widths>,
    /// Sets that the lost node is in, and the share of its chunks in this set and those before; where sets are kept.
    shares: Vec<(u32, f64)>,
    /// Until when each node reads what it has been asked for.
    free_ns: Vec<u64>,
    chunks: Stream,
    /// The other holders of the chunk in hand.
    holders: Vec<u32>,
}

impl Layer for Fleet {
    type Spec = FleetSpec;
    const FIELD: &'static str = "fleet";
    const LABEL: &'static str = "Nodes";
    const PASSES_FLUSHES: bool = true;

    fn spec(scenario: &Scenario) -> Option<&FleetSpec> {
        scenario.fleet.as_ref()
    }

    fn check(spec: &FleetSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
        check::check(spec, scenario, at, problems);
    }

    fn build(spec: &FleetSpec, setup: &Setup) -> Option<Self> {
        Some(Self::new(spec, setup.seed))
    }

    fn on(&mut self, kernel: &mut Kernel, _: u16, event: Event) {
        if let Event::Submit(id) = event {
            self.copy_again(kernel, id);
        } else {
            self.outages.draw();
            self.await_outage(kernel);
        }
    }

    fn start(&mut self, kernel: &mut Kernel) {
        self.await_outage(kernel);
    }

    fn memory_bytes(&self) -> u64 {
        (self.free_ns.len() * size_of::<u64>()) as u64 + self.outages.memory_bytes()
    }

    fn metrics(&self, _: &ReportContext, metrics: &mut Metrics) {
        self.report(metrics);
    }

    fn tables(fleet: Option<&Self>, _: &ReportContext, tables: &mut Tables) {
        Self::report_tables(fleet, tables);
    }
}

impl Fleet {
    /// The fleet of a run.
    #[cold]
    #[must_use]
    pub fn new(spec: &FleetSpec, seed: u64) -> Self {
        let outages = Outages::new(spec, seed);
        let sets = outages.sets();
        let widths = sets.map(Sets::widths);
        let lost = widths.as_ref().map_or(0, |widths| widths.widest);
        let mut sum = 0.0;
        let running = |sets: &Sets| -> Vec<(u32, f64)> {
            let each = sets.of(lost).iter().map(|set| {
                sum += sets.share(*set);
                (*set, sum)
            });
            each.collect()
        };
        Self {
            shares: sets.map(running).unwrap_or_default(),
            lost,
            widths,
            free_ns: vec![0; spec.nodes as usize],
            chunks: Stream::new(seed, "fleet.chunks"),
            holders: Vec::with_capacity(spec.copies as usize),
            outages,
            spec: spec.clone(),
        }
    }

    /// The share of the outages that have been drawn, 0 to 1.
    #[must_use]
    pub fn progress(&self) -> f64 {
        f64::from(self.outages.record.drawn) / f64::from(self.spec.outages)
    }

    fn await_outage(&self, kernel: &mut Kernel) {
        if self.outages.record.drawn < self.spec.outages {
            kernel.wake(HERE, Timer::Outage);
        }
    }

    /// Reads a chunk of the lost node from the other holder that can begin first.
    fn copy_again(&mut self, kernel: &mut Kernel, id: RequestId) {
        self.draw_holders();
        let Some(node) = self.holders.iter().copied().min_by_key(|node| self.free_ns[*node as usize]) else { return };
        let free_ns = &mut self.free_ns[node as usize];
        let begin_ns = (*free_ns).max(kernel.now_ns());
        let ns = u128::from(kernel.requests[id].bytes) * u128::from(NS_PER_S) / u128::from(self.spec.rate.0);
        *free_ns = begin_ns.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX));
        kernel.requests.charge_until(id, Phase::Queue, begin_ns);
        kernel.requests.charge_until(id, Phase::Served, *free_ns);
        kernel.complete_when_charged(id);
    }

    /// Draws a chunk of the lost node: the other nodes that hold it.
    #[allow(clippy::cast_possible_truncation)] // below a number of nodes
    fn draw_holders(&mut self) {
        let Self { spec, lost, chunks, holders, .. } = self;
        let (lost, others) = (*lost, spec.copies - 1);
        holders.clear();
        let mut below = |most: u32| chunks.below(most.into()) as u32;
        if let Some((_, all)) = self.shares.last() {
            let drawn = chunks.unit() * all;
            let nth = self.shares.partition_point(|(_, sum)| *sum <= drawn).min(self.shares.len() - 1);
            let members = self.outages.sets().map(|sets| sets.members(self.shares[nth].0)).unwrap_or_default();
            return holders.extend(members.iter().filter(|node| **node != lost));
        }
        // Where the window of the chunk begins, and how long it is. Of as many chunks as a node has copies it is the first node once.
        let (first, wide) = match spec.placement {
            Placement::Window if below(spec.copies) == 0 => (lost, spec.scatter),
            Placement::Window => {
                let first = (lost + spec.nodes - 1 - below(spec.scatter)) % spec.nodes;
                holders.push(first);
                (first, spec.scatter)
            }
            _ => (lost, spec.nodes - 1),
        };
        while holders.len() < others as usize {
            let node = (first + 1 + below(wide)) % spec.nodes;
            if node != lost && !holders.contains(&node) {
                holders.push(node);
            }
        }
    }
}
