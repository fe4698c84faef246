//! The one list of layers, from the top of the stack down. All other lists of layers are made of it.
//!
//! A line is a layer's name, the variant of [`LayerId`](crate::kernel::LayerId) that is its address, and where a run keeps it: an
//! `Option` for a layer that a scenario may lack. A request that leaves a layer goes to the next one below it in this list that
//! the scenario has and that requests pass ([`Layer::is_passed`](crate::layers::Layer::is_passed)). Layers start in this
//! order too, but the workload starts last.

use seeklab_spec::{Path, Problem, Problems, Scenario};
use serde_json::{Map, Value};

use crate::decision::{Asked, Decision};
use crate::kernel::{Address, Event, Kernel, LayerId};
use crate::layers::{Layer, ReportContext};
use crate::plan::Plan;
use crate::result::columns::Tables;
use crate::result::metrics::Metrics;
use crate::setup::Setup;

/// Calls the macro `$then` with the list of layers.
#[macro_export]
macro_rules! with_layers {
    ($then:ident) => {
        $then! {
            /// The workers of all jobs.
            workload: Workload, $crate::layers::workload::Workload;
            /// The clients; the index is the machine's.
            client: Client, Option<$crate::layers::client::nfs::Client>;
            /// The network between clients and server.
            network: Network, Option<$crate::layers::network::Network>;
            /// The server node behind the network.
            server: Server, Option<$crate::layers::server::Server>;
            /// The protocol's request scheduler.
            protocol: Protocol, Option<$crate::layers::protocol::Scheduler>;
            /// A database that commits; the index of a log is 1 and more.
            database: Database, Option<$crate::layers::database::Database>;
            /// The plain file system.
            filesystem: Filesystem, Option<$crate::layers::filesystem::Filesystem>;
            /// ZFS in its place.
            zfs: Zfs, Option<$crate::layers::zfs::volume::Zfs>;
            /// The page cache of an operating system.
            page_cache: PageCache, Option<$crate::layers::page_cache::PageCache>;
            /// The devices of a file system's log.
            write_log: WriteLog, Option<$crate::layers::pool::WriteLogs>;
            /// The controllers of virtual disks.
            controller: Controller, Option<$crate::layers::controller::Controller>;
            /// A fan-out client and its servers.
            fanout: Fanout, Option<$crate::layers::fanout::Fanout>;
            /// Thousands of nodes and their outages.
            fleet: Fleet, Option<$crate::layers::fleet::Fleet>;
            /// The nodes of a cluster.
            cluster: Cluster, Option<$crate::layers::cluster::Cluster>;
            /// The SSD cache tier.
            tier: Tier, Option<$crate::layers::tier::Tier>;
            /// The tier's device.
            tier_device: TierDevice, Option<$crate::layers::pool::TierDevice>;
            /// The write cache of a RAID controller.
            raid_cache: RaidCache, Option<$crate::layers::raid_cache::RaidCache>;
            /// The layout over the devices of a node; the index is the node's.
            layout: Layout, $crate::layers::pool::Layouts;
            /// The host's processors, link and tags; the index is the device's.
            host: Host, Option<$crate::layers::host::Host>;
            /// The partition of a device; the index is the device's.
            partition: Partition, Option<$crate::layers::partition::Partitions>;
            /// A device; the index says which.
            device: Device, $crate::layers::pool::Devices;
        }
    };
}

/// Where a run keeps a layer.
trait Slot: Sized {
    type Kept: Layer;
    fn build(setup: &Setup) -> Self;
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event);
    fn kept(&self) -> Option<&Self::Kept>;
    fn kept_mut(&mut self) -> Option<&mut Self::Kept>;
}

fn built<T: Layer>(setup: &Setup) -> Option<T> {
    T::spec(setup.scenario).and_then(|spec| T::build(spec, setup))
}

/// A layer that may be absent.
impl<T: Layer> Slot for Option<T> {
    type Kept = T;
    fn build(setup: &Setup) -> Self {
        built(setup)
    }
    #[inline]
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event) {
        // Addresses are made from the layers that exist.
        debug_assert!(self.is_some(), "an event for a missing layer");
        if let Some(layer) = self {
            layer.on(kernel, part, event);
        }
    }
    fn kept(&self) -> Option<&T> {
        self.as_ref()
    }
    fn kept_mut(&mut self) -> Option<&mut T> {
        self.as_mut()
    }
}

/// A layer that is always there.
impl<T: Layer> Slot for T {
    type Kept = T;
    fn build(setup: &Setup) -> Self {
        built(setup).expect("every scenario has jobs, a layout and devices")
    }
    #[inline]
    fn on(&mut self, kernel: &mut Kernel, part: u16, event: Event) {
        Layer::on(self, kernel, part, event);
    }
    fn kept(&self) -> Option<&T> {
        Some(self)
    }
    fn kept_mut(&mut self) -> Option<&mut T> {
        Some(self)
    }
}

fn add_problems<T: Layer>(scenario: &Scenario, problems: &mut Problems) {
    if let Some(spec) = T::spec(scenario) {
        T::check(spec, scenario, &Path::root().field(T::FIELD), problems);
    }
}

fn add_plan_problems<T: Layer>(scenario: &Scenario, plan: &Plan, problems: &mut Problems) {
    if let Some(spec) = T::spec(scenario) {
        T::check_plan(spec, scenario, plan, &Path::root().field(T::FIELD), problems);
    }
}

fn report<T: Layer>(layer: Option<&T>, now: &ReportContext, metrics: &mut Metrics) {
    match layer {
        Some(layer) => layer.metrics(now, metrics),
        None => T::metrics_without(metrics),
    }
}

/// The first decision for which a layer waits.
fn waiting<T: Layer>(layer: &T) -> Option<&'static Decision<T>> {
    T::DECISIONS.iter().find(|decision| (decision.waits)(layer))
}

/// Return the open question of a layer that waits for a decision.
fn question<T: Layer>(layer: Option<&mut T>, kernel: &Kernel) -> Option<Value> {
    let layer = layer?;
    (waiting(layer)?.question)(layer, kernel)
}

/// Gives an answer to a layer that waits for one; `None` if it does not.
fn answer<T: Layer>(layer: Option<&mut T>, kernel: &mut Kernel, given: &Map<String, Value>) -> Option<Result<(), Problem>> {
    let layer = layer?;
    Some((waiting(layer)?.answer)(layer, kernel, given))
}

macro_rules! layers {
    ($($(#[$about:meta])* $name:ident: $id:ident, $slot:ty;)+) => {
        /// The layers of a run.
        pub(crate) struct Layers {
            $($(#[$about])* pub(crate) $name: $slot,)+
        }

        impl Layers {
            /// All layers of a checked scenario.
            pub(crate) fn build(scenario: &Scenario, plan: &Plan, seed: u64) -> Self {
                let setup = Setup { scenario, plan, seed, io_path: io_path(scenario) };
                Self { $($name: Slot::build(&setup),)+ }
            }

            /// Delivers an event to the layer at an address.
            #[inline]
            pub(crate) fn on(&mut self, kernel: &mut Kernel, to: Address, event: Event) {
                match to.layer {
                    $(LayerId::$id => Slot::on(&mut self.$name, kernel, to.index, event),)+
                }
            }

            /// Starts all layers, the workload last.
            pub(crate) fn start(&mut self, kernel: &mut Kernel) {
                $(if LayerId::$id != LayerId::Workload && let Some(layer) = self.$name.kept_mut() {
                    layer.start(kernel);
                })+
                self.workload.start(kernel);
            }

            /// Bytes of memory that grow with the run.
            pub(crate) fn memory_bytes(&self) -> u64 {
                0 $(+ self.$name.kept().map_or(0, Layer::memory_bytes))+
            }

            /// The decision for which a layer waits.
            pub(crate) fn waits(&self) -> Option<Asked> {
                $(if let Some(decision) = self.$name.kept().and_then(waiting) {
                    return Some(decision.asked);
                })+
                None
            }

            /// Return the open question, which must be answered before the run continues.
            pub(crate) fn question(&mut self, kernel: &Kernel) -> Option<Value> {
                None $(.or_else(|| question(self.$name.kept_mut(), kernel)))+
            }

            /// Gives an answer to the layer that waits for it; `None` when none does.
            pub(crate) fn answer(&mut self, kernel: &mut Kernel, given: &Map<String, Value>) -> Option<Result<(), Problem>> {
                $(if let Some(taken) = answer(self.$name.kept_mut(), kernel, given) {
                    return Some(taken);
                })+
                None
            }

            /// Reports the metrics of all layers.
            pub(crate) fn metrics(&self, now: &ReportContext, metrics: &mut Metrics) {
                $(report(self.$name.kept(), now, metrics);)+
            }

            /// Reports the tables of all layers: a run's, or, without one, empty ones.
            pub(crate) fn tables(layers: Option<&Self>, now: &ReportContext, tables: &mut Tables) {
                $(<$slot as Slot>::Kept::tables(layers.and_then(|layers| layers.$name.kept()), now, tables);)+
            }
        }

        /// The layers that a client's request passes on its way down, in order.
        pub(crate) fn io_path(scenario: &Scenario) -> Vec<LayerId> {
            let all = [$((LayerId::$id, <$slot as Slot>::Kept::is_passed(scenario)),)+];
            all.into_iter().filter(|(_, is_passed)| *is_passed).map(|(layer, _)| layer).collect()
        }

        /// Adds what is wrong with each layer of a scenario.
        pub(crate) fn check(scenario: &Scenario, problems: &mut Problems) {
            $(add_problems::<<$slot as Slot>::Kept>(scenario, problems);)+
        }

        /// Adds what does not fit between the layers of a scenario and its plan.
        pub(crate) fn check_plan(scenario: &Scenario, plan: &Plan, problems: &mut Problems) {
            $(add_plan_problems::<<$slot as Slot>::Kept>(scenario, plan, problems);)+
        }

        /// The decisions that a scenario leaves to the engine's host.
        #[must_use]
        pub fn decisions(scenario: &Scenario) -> Vec<Asked> {
            let mut found = Vec::new();
            $(found.extend(<$slot as Slot>::Kept::DECISIONS.iter().map(|decision| decision.asked));)+
            found.retain(|asked| (asked.is_asked)(scenario));
            found
        }

        /// The fields of all layers that may be between jobs and devices, from the top down.
        #[must_use]
        pub fn fields() -> Vec<&'static str> {
            let all = [$((<$slot as Slot>::Kept::IS_BETWEEN, <$slot as Slot>::Kept::FIELD),)+];
            all.into_iter().filter(|(is_between, _)| *is_between).map(|(_, field)| field).collect()
        }

        /// The names of all layers on a page, by their numbers.
        #[must_use]
        pub fn labels() -> Vec<&'static str> {
            vec![$(<$slot as Slot>::Kept::LABEL,)+]
        }

        /// Whether a layer of a scenario may send down larger requests than jobs make.
        pub(crate) fn combines(scenario: &Scenario) -> bool {
            false $(|| {
                type Kept = <$slot as Slot>::Kept;
                Kept::COMBINES && Kept::spec(scenario).is_some()
            })+
        }

        /// Whether a FLUSH of a job makes durable what it wrote in a scenario.
        pub(crate) fn passes_flushes(scenario: &Scenario) -> bool {
            true $(&& {
                type Kept = <$slot as Slot>::Kept;
                Kept::PASSES_FLUSHES || !Kept::IS_BETWEEN || Kept::spec(scenario).is_none()
            })+
        }

        /// The fields of the layers between jobs and devices that a scenario has, from the top down.
        pub(crate) fn between(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
            let mut found = Vec::new();
            $({
                type Kept = <$slot as Slot>::Kept;
                if Kept::IS_BETWEEN && Kept::spec(scenario).is_some() {
                    found.push(Kept::FIELD);
                }
            })+
            found.into_iter()
        }
    };
}
crate::with_layers!(layers);
