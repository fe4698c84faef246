//! The layers of the stack, in the order in which a request meets them on the way down. Each may be absent.

pub mod client;
pub mod cluster;
pub mod controller;
pub mod database;
pub mod device;
pub mod fanout;
pub mod filesystem;
pub mod fleet;
pub mod host;
pub mod layout;
pub mod network;
pub mod page_cache;
pub mod partition;
pub mod pool;
pub mod protocol;
pub mod raid_cache;
pub mod server;
pub(crate) mod table;
pub mod tier;
pub mod workload;
pub mod zfs;

use seeklab_spec::{Path, Problems, Scenario};

use crate::decision::Decision;
use crate::kernel::{Event, Kernel};
use crate::plan::{Plan, WorkerPlan};
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;

/// A layer of the stack: the part of a scenario that it is described by, what it does with an event, what it holds and reports.
///
/// The list of layers is [`with_layers!`](crate::with_layers); everything else about a layer is in its folder.
pub trait Layer: Sized + 'static {
    /// The part of a scenario that describes the layer.
    type Spec: ?Sized;

    /// Where that part is in the scenario.
    const FIELD: &'static str;

    /// Its name on a page.
    const LABEL: &'static str;

    /// Whether it is a layer between jobs and devices. Not so are these two, and what belongs to another layer.
    const IS_BETWEEN: bool = true;

    /// Whether it may send down a larger request than it was sent.
    const COMBINES: bool = false;

    /// Whether a FLUSH of a job makes durable what the job wrote through the layer.
    const PASSES_FLUSHES: bool = false;

    /// The decisions of the layer that a scenario may leave to the engine's host.
    const DECISIONS: &'static [Decision<Self>] = &[];

    /// The part of a scenario that describes the layer, in a scenario that has it.
    fn spec(scenario: &Scenario) -> Option<&Self::Spec>;

    /// Whether requests pass the layer on their way down.
    #[must_use]
    fn is_passed(scenario: &Scenario) -> bool {
        Self::spec(scenario).is_some()
    }

    /// Adds what is wrong with the layer at `at` beyond its schema.
    fn check(_spec: &Self::Spec, _scenario: &Scenario, _at: &Path, _problems: &mut Problems) {}

    /// Adds what does not fit between the layer at `at` and the plan of a scenario that is right so far.
    fn check_plan(_spec: &Self::Spec, _scenario: &Scenario, _plan: &Plan, _at: &Path, _problems: &mut Problems) {}

    /// Builds the layer of a checked scenario; `None` where nothing is to be done.
    fn build(spec: &Self::Spec, setup: &Setup) -> Option<Self>;

    /// Handles an event. `part` says which of the layer's parts it is for: the machine of a client, the device of a partition.
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event);

    /// Sets what happens without anybody's request, before the run begins.
    fn start(&mut self, _: &mut Kernel) {}

    /// Bytes of memory that grow with the run.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Reports what the layer counted.
    fn metrics(&self, _: &ReportContext, _: &mut Metrics) {}

    /// Reports the metrics that a run without the layer has too.
    fn metrics_without(_: &mut Metrics) {}

    /// Reports the layer's tables. They are the same for every run, and empty where it has no such layer.
    fn tables(_layer: Option<&Self>, _: &ReportContext, _: &mut Tables) {}
}

/// The properties of a run that layers need for their reports.
#[derive(Clone, Copy, Default)]
pub struct ReportContext<'a> {
    /// The workers of all jobs.
    pub workers: &'a [WorkerPlan],
    /// The present, in nanoseconds since the start of the run.
    pub now_ns: u64,
    /// Width of an interval of all series, in nanoseconds.
    pub interval_ns: u64,
}
