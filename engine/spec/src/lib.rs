//! Everything that a scenario is written in: units, problems, the schema, the types of each layer, traces of requests.
//!
//! A scenario is read in two steps. First, [`read()`] fills in presets and checks the document against the schema, so that it reports
//! every
//! mistake in a single field at once. Then the model checks how fields fit together. Our own derive ([`reader`]) reads the types that
//! people write. They use serde's attributes and carry unit, range, label and help for the schema.
//! Sliders, messages and TypeScript types are made from it.

#![forbid(unsafe_code)]

// Lets the derive write the same paths here as in other crates.
extern crate self as seeklab_spec;

pub mod access;
pub mod cluster;
pub mod commit;
pub mod controller;
mod copy;
pub mod credits;
mod defaults;
mod device;
mod distribution;
pub mod fanout;
pub mod fleet;
pub mod governor;
pub mod host;
mod job;
mod layout;
pub mod monitor;
pub mod network;
pub mod nfs;
mod operation;
pub mod packets;
pub mod page_cache;
pub mod partition;
mod persistence;
mod presets;
pub mod problem;
mod protocol;
pub mod raid_cache;
pub mod read;
pub mod read_ahead;
pub mod reader;
pub mod rebuild;
mod record;
pub mod reduction;
mod scenario;
pub mod schema;
pub mod server;
mod shake;
mod shingled;
pub mod slc;
mod ssd;
pub mod testing;
mod tier;
pub mod trace;
pub mod units;
pub mod varies;
pub mod volume;
pub mod zfs;

pub use copy::CopySpec;
pub use credits::Credits;
pub use device::{DeviceGroup, HddSpec, Lun, Pause, QueuePolicy};
pub use distribution::{Distribution, Zone};
pub use job::{Job, RateProcess, Rw, SizeRange};
pub use layout::{LayoutKind, LayoutSpec, ReadBalance};
pub use operation::Op;
pub use page_cache::PageCacheSpec;
pub use persistence::Persistence;
pub use presets::{BASES, Presets};
pub use problem::{AddProblem, Path, Problem, Problems};
pub use protocol::{ProtocolSpec, Scheduler, Sizing};
pub use read::read;
pub use record::{JourneysSpec, Limits, Record};
pub use scenario::Scenario;
pub use shake::{Shake, Shout};
pub use shingled::{CleanFirst, Shingled};
pub use slc::Slc;
pub use ssd::{
    Collector, EraseSuspension, Flash, Gather, Precondition, ProgramSuspension, ReadPaths, SlcCache, Ssd, Suspend, WhenFull, WriteStall,
};
pub use tier::TierSpec;
pub use units::{Bytes, Extent, Nanos, to_f64};
pub use volume::{Cache, Prefetch, Resize, VolumeSpec};
