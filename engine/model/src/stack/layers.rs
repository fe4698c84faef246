//! The list of layers. A new one is a line here, its folder and its specification.

use crate::kernel::{Address, Event, Kernel, LayerId};
use crate::layers::Layer;
use crate::layers::client::nfs::Client;
use crate::layers::cluster::Cluster;
use crate::layers::commit::Commit;
use crate::layers::controller::Controller;
use crate::layers::device::Device;
use crate::layers::fanout::Fanout;
use crate::layers::fleet::Fleet;
use crate::layers::layout::Layout;
use crate::layers::layout::partition::Partitions;
use crate::layers::network::Network;
use crate::layers::page_cache::PageCache;
use crate::layers::protocol::Scheduler;
use crate::layers::raid_cache::RaidCache;
use crate::layers::server::Server;
use crate::layers::tier::Tier;
use crate::layers::volume::Volume;
use crate::layers::workload::Workload;
use crate::layers::zfs::volume::ZfsVolume;

/// Where a layer, or several of a kind, are kept.
trait Slot {
    fn on(&mut self, kernel: &mut Kernel, index: u16, event: Event);
    fn each(&self, see: &mut dyn FnMut(&dyn Layer));
    fn each_mut(&mut self, see: &mut dyn FnMut(&mut dyn Layer));
}

/// A layer that may be absent; the index of an address names a part of it.
impl<T: Layer> Slot for Option<T> {
    #[inline]
    fn on(&mut self, kernel: &mut Kernel, index: u16, event: Event) {
        // Addresses are made from the layers that exist.
        debug_assert!(self.is_some(), "an event for a layer that is not there");
        if let Some(layer) = self {
            layer.on(kernel, index, event);
        }
    }
    fn each(&self, see: &mut dyn FnMut(&dyn Layer)) {
        if let Some(layer) = self {
            see(layer);
        }
    }
    fn each_mut(&mut self, see: &mut dyn FnMut(&mut dyn Layer)) {
        if let Some(layer) = self {
            see(layer);
        }
    }
}

/// Several layers of a kind; the index of an address says which.
impl<T: Layer> Slot for Vec<T> {
    #[inline]
    fn on(&mut self, kernel: &mut Kernel, index: u16, event: Event) {
        self[usize::from(index)].on(kernel, index, event);
    }
    fn each(&self, see: &mut dyn FnMut(&dyn Layer)) {
        for layer in self {
            see(layer);
        }
    }
    fn each_mut(&mut self, see: &mut dyn FnMut(&mut dyn Layer)) {
        for layer in self {
            see(layer);
        }
    }
}

/// A layer that is always there.
impl Slot for Workload {
    #[inline]
    fn on(&mut self, kernel: &mut Kernel, index: u16, event: Event) {
        Layer::on(self, kernel, index, event);
    }
    fn each(&self, see: &mut dyn FnMut(&dyn Layer)) {
        see(self);
    }
    fn each_mut(&mut self, see: &mut dyn FnMut(&mut dyn Layer)) {
        see(self);
    }
}

macro_rules! layers {
    ($($(#[$of:meta])* $name:ident: $slot:ty => $($id:ident)|+,)+) => {
        /// The layers of a run.
        pub(super) struct Layers {
            $($(#[$of])* pub(super) $name: $slot,)+
        }

        impl Layers {
            /// Delivers an event to the layer at an address.
            #[inline]
            pub(super) fn on(&mut self, kernel: &mut Kernel, to: Address, event: Event) {
                match to.layer {
                    $($(LayerId::$id)|+ => Slot::on(&mut self.$name, kernel, to.index, event),)+
                }
            }

            /// Shows every layer.
            pub(super) fn each(&self, mut see: impl FnMut(&dyn Layer)) {
                $(self.$name.each(&mut see);)+
            }

            /// Shows every layer, to change it.
            pub(super) fn each_mut(&mut self, mut see: impl FnMut(&mut dyn Layer)) {
                $(self.$name.each_mut(&mut see);)+
            }
        }
    };
}

// In the order in which they start: the workers of the jobs last.
layers! {
    /// The clients' machines.
    client: Option<Client> => Client,
    /// Links and connections.
    network: Option<Network> => Network,
    /// The server node.
    server: Option<Server> => Server,
    /// The protocol's scheduler.
    scheduler: Option<Scheduler> => Protocol,
    /// A database that commits.
    commit: Option<Commit> => Commit,
    /// The plain file system.
    volume: Option<Volume> => Volume,
    /// ZFS.
    zfs: Option<ZfsVolume> => Zfs,
    /// The page cache.
    page_cache: Option<PageCache> => PageCache,
    /// Devices of either file system's log.
    write_logs: Vec<Device> => WriteLog,
    /// The nodes of a cluster.
    cluster: Option<Cluster> => Cluster,
    /// Controllers of virtual disks.
    controller: Option<Controller> => Controller,
    /// A fan-out client and its servers.
    fanout: Option<Fanout> => Fanout,
    /// Thousands of nodes and their outages.
    fleet: Option<Fleet> => Fleet,
    /// The SSD cache tier.
    tier: Option<Tier> => Tier,
    /// Its device.
    tier_device: Option<Device> => TierDevice,
    /// The write cache of a RAID controller.
    raid_cache: Option<RaidCache> => RaidCache,
    /// The layout of each node's devices.
    layouts: Vec<Layout> => Layout,
    /// The partitions of the devices.
    partitions: Option<Partitions> => Partition,
    /// The devices.
    devices: Vec<Device> => Device,
    /// The workers of all jobs, and what they record.
    workload: Workload => Workload,
}
