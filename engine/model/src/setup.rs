//! The inputs from which a layer is built.

use seeklab_spec::Scenario;

use crate::kernel::{Address, LayerId};
use crate::plan::Plan;
use crate::range::Range;

/// The inputs from which a layer is built: the scenario and its plan, the seed, and the path of a request down the stack.
pub struct Setup<'a> {
    /// The checked scenario.
    pub scenario: &'a Scenario,
    /// Its plan.
    pub plan: &'a Plan,
    /// The seed of the run.
    pub seed: u64,
    /// The layers that a client's request passes on its way down, in order.
    pub io_path: Vec<LayerId>,
}

impl Setup<'_> {
    /// The next layer below `layer`.
    #[must_use]
    pub fn below(&self, layer: LayerId) -> Address {
        Address::of(self.io_path.iter().copied().find(|other| *other as u8 > layer as u8).unwrap_or(LayerId::Device))
    }

    /// The width of an interval of all series.
    #[must_use]
    pub fn interval_ns(&self) -> u64 {
        self.scenario.record.interval.0
    }

    /// The client of each worker; none without a network.
    #[must_use]
    pub fn clients(&self) -> Vec<usize> {
        let Some(network) = &self.scenario.network else { return Vec::new() };
        self.plan.workers.iter().enumerate().map(|(worker, planned)| network.client_of(worker, planned.job)).collect()
    }

    /// The regions of the jobs of these names.
    #[must_use]
    pub fn regions(&self, names: &[String]) -> Vec<Range> {
        let mut regions = Vec::new();
        for name in names {
            let is_of = |job: usize| self.scenario.jobs[job].name == *name;
            regions.extend(self.plan.workers.iter().filter(|worker| is_of(worker.job)).map(|worker| worker.region));
        }
        // Workers that share a file have one region among them.
        regions.dedup();
        regions
    }
}
