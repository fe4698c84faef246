//! The file system in a scenario: a version, and what is different from it.
//!
//! A version ([`Era`]) fills every tunable; each field that is present replaces one. [`ZfsSpec::resolve`] yields the constants of
//! a run, [`check`] says what cannot be, [`warnings`] what can be but is seldom meant.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dirty::Release;
use super::era::{Constants, Era, Scheduling, Throttling};
use super::intent_log::LogSpec;
use super::read_spec::{self, ArcSpec, L2arcSpec, PrefetchSpec};
use super::scheduler::Class;
use super::scheduler::active::{self, Ramp, Share};
use super::scheduler::deadline;
use super::throttle::asked::Asked;
use super::throttle::diagonal::Diagonal;
use super::throttle::none::NoThrottle;
use super::throttle::openzfs::OpenZfs;
use super::throttle::zfs2008::Zfs2008;
use super::throttle::zfs2010::{RateUnit, Zfs2010};
use super::throttle::{Throttle, openzfs, zfs2008};
use super::txg::DirtyTrigger;
use crate::scenario::{Bytes, Nanos, Problem, Problems};

/// Which rule holds writers back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThrottleKind {
    /// None but the size of memory.
    None,
    /// Group size rescaled per sync, a tick beyond 7/8, a stop at the limit.
    Zfs2008,
    /// The same gates, the size from a blended estimate of the rate.
    Zfs2010,
    /// Group bytes kept below measured rate times time.
    Diagonal,
    /// Delay by the share of dirty data.
    OpenZfs,
    /// Delay as the engine's host says, asked at each write.
    Asked,
}

/// Which scheduler feeds the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SchedulerKind {
    /// One queue in order of deadline, a fixed number in flight (before 2013).
    Deadline,
    /// Classes with a minimum and a maximum in flight (2013 and later).
    Active,
}

/// Where a group's blocks go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// One after the other into free space, whatever their place in the file.
    #[default]
    CopyOnWrite,
    /// Over their old place.
    InPlace,
}

/// What is in memory when the run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// Nothing.
    #[default]
    Empty,
    /// One full group that begins to sync and one that waits behind it.
    Full,
}

/// Least and most requests of a class in flight on each device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassShare {
    /// Served before other classes below this number.
    #[schemars(title = "Minimum in flight", range(min = 0, max = 10_000))]
    pub min: u32,
    /// Never more.
    #[schemars(title = "Maximum in flight", range(min = 0, max = 10_000))]
    pub max: u32,
}

/// A ZFS file system: write throttle, transaction groups, I/O scheduler.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is a switch of the scenario
pub struct ZfsSpec {
    /// Version that the tunables are taken from.
    #[serde(default)]
    #[schemars(title = "Version")]
    pub era: Era,
    /// Block of a file; a smaller write makes the whole block dirty.
    #[serde(default = "default_record")]
    #[schemars(title = "Record size", extend("minimum" = 512, "maximum" = 16_777_216, "x-scale" = "log2"))]
    pub record: Bytes,
    /// Memory of the machine; the limits of dirty data are shares of it.
    #[serde(default = "default_memory")]
    #[schemars(title = "Memory", extend("minimum" = 67_108_864, "maximum" = 17_592_186_044_416_u64, "x-scale" = "log2"))]
    pub memory: Bytes,
    /// Memory that keeps blocks for reading; reads of anything but dirty data go to the devices when 0.
    #[serde(default)]
    #[schemars(title = "Read cache", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub cache: Bytes,
    /// The ARC, the version's own read cache, in place of `cache`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arc: Option<ArcSpec>,
    /// Read-ahead by file into the ARC; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch: Option<PrefetchSpec>,
    /// Cache devices behind the ARC; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2arc: Option<L2arcSpec>,
    /// Time to start a request in memory.
    #[serde(default)]
    #[schemars(title = "Overhead")]
    pub overhead: Nanos,
    /// Rate at which one request's data are copied into or out of memory.
    #[serde(default = "default_copy_rate")]
    #[schemars(title = "Memory copy rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub copy_rate: Bytes,
    /// Rate at which the data of all writers together arrive; no limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Ingest rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s"))]
    pub ingest: Option<Bytes>,
    /// Whether the files exist: then to write part of a block that is not in memory reads it first.
    #[serde(default = "yes")]
    #[schemars(title = "Files exist")]
    pub files_exist: bool,
    /// Physical copies of each block.
    #[serde(default = "one")]
    #[schemars(title = "Copies", range(min = 1, max = 3))]
    pub copies: u32,
    /// Metadata that each group writes, however little data it has.
    #[serde(default)]
    #[schemars(title = "Metadata per group", extend("minimum" = 0, "maximum" = 1_073_741_824))]
    pub metadata: Bytes,
    /// Metadata that a group writes as a share of its data.
    #[serde(default)]
    #[schemars(title = "Metadata per data", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub metadata_percent: u32,
    /// Where blocks are written.
    #[serde(default)]
    pub placement: Placement,
    /// What is in memory at the start.
    #[serde(default)]
    pub start: Start,
    /// Intent log, which synchronous writes wait for.
    #[serde(default)]
    pub log: LogSpec,

    /// Rule that holds writers back; the version's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Throttle")]
    pub throttle: Option<ThrottleKind>,
    /// Scheduler of the devices; the version's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Scheduler")]
    pub scheduler: Option<SchedulerKind>,
    /// A group syncs at the latest so long after the previous sync began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Group timeout", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64))]
    pub txg_timeout: Option<Nanos>,
    /// Most dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "dirty_data_max", extend("minimum" = 1, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2"))]
    pub dirty_data_max: Option<Bytes>,
    /// Dirty bytes that make a group sync early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "dirty_data_sync")]
    pub dirty_data_sync: Option<Bytes>,
    /// Share of the most dirty data that makes a group sync early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "dirty_data_sync_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub dirty_data_sync_percent: Option<u32>,
    /// Writes are delayed above this share of the most dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "delay_min_dirty_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub delay_min_dirty_percent: Option<u32>,
    /// Delay half way between the start of delays and the most dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "delay_scale", extend("minimum" = 0, "maximum" = 1_000_000_000))]
    pub delay_scale: Option<Nanos>,
    /// Longest delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "delay_max", extend("minimum" = 0, "maximum" = 10_000_000_000_u64))]
    pub delay_max: Option<Nanos>,
    /// Data that a group may hold at the start (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "First group limit")]
    pub write_limit: Option<Bytes>,
    /// Data that a group may ever hold (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "write_limit_max")]
    pub write_limit_max: Option<Bytes>,
    /// What a sync should take (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "txg_synctime", extend("minimum" = 100_000_000, "maximum" = 600_000_000_000_u64))]
    pub txg_synctime: Option<Nanos>,
    /// Clock tick: the delay of a write beyond 7/8 of the limit (throttles of 2008 and 2010).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Tick", extend("minimum" = 100_000, "maximum" = 1_000_000_000))]
    pub tick: Option<Nanos>,
    /// Whether the 7/8 is shifted the wrong way, so that every write is beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Shift bug")]
    pub shift_bug: Option<bool>,
    /// Rate that the diagonal throttle assumes; measured by each sync when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Diagonal's rate", extend("minimum" = 1, "x-unit" = "B/s"))]
    pub diagonal_rate: Option<Bytes>,
    /// Group writes in flight on each device while little is dirty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_min_active", range(min = 1, max = 10_000))]
    pub async_write_min_active: Option<u32>,
    /// Group writes in flight on each device while much is dirty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_max_active", range(min = 1, max = 10_000))]
    pub async_write_max_active: Option<u32>,
    /// The number in flight begins to grow at this share of the most dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_active_min_dirty_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub async_write_min_dirty_percent: Option<u32>,
    /// The number in flight has grown to its maximum at this share of the most dirty data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "async_write_active_max_dirty_percent", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub async_write_max_dirty_percent: Option<u32>,
    /// Reads that somebody waits for, in flight on each device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_read: Option<ClassShare>,
    /// Writes that somebody waits for, in flight on each device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_write: Option<ClassShare>,
    /// Prefetches in flight on each device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub async_read: Option<ClassShare>,
    /// Most requests in flight on each device, all classes together; the fixed number of the scheduler before 2013.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "max_active", range(min = 1, max = 100_000))]
    pub max_active: Option<u32>,
    /// Longest request that neighbours are merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "aggregation_limit", extend("minimum" = 0, "maximum" = 16_777_216))]
    pub aggregation_limit: Option<Bytes>,
    /// When dirty data are released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Dirty data released")]
    pub release: Option<Release>,
    /// Rounds of writing a group: the first its data, the others its metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Sync passes", range(min = 1, max = 16))]
    pub sync_passes: Option<u32>,
    /// Whether the delay curve is in force; off is an experiment.
    #[serde(default = "yes")]
    #[schemars(title = "Delay")]
    pub delay: bool,
    /// Whether delayed writers are woken one after the other; off is an experiment.
    #[serde(default = "yes")]
    #[schemars(title = "Serialised wake-ups")]
    pub serialise: bool,
    /// Whether the time that a write has spent already counts towards its delay; off is an experiment.
    #[serde(default = "yes")]
    #[schemars(title = "Credit for time served")]
    pub credit: bool,
    /// Whether group writes in flight follow the dirty data; off, they are at their maximum.
    #[serde(default = "yes")]
    #[schemars(title = "Ramp of group writes")]
    pub ramp: bool,
}

fn default_record() -> Bytes {
    Bytes(128 << 10)
}
fn default_memory() -> Bytes {
    Bytes(8 << 30)
}
fn default_copy_rate() -> Bytes {
    Bytes(10_000_000_000)
}
fn yes() -> bool {
    true
}
fn one() -> u32 {
    1
}

/// What a run is made of.
pub struct Resolved {
    /// The version's constants with the overrides applied.
    pub constants: Constants,
    /// The throttle.
    pub throttle: Box<dyn Throttle>,
    /// The ramp of group writes.
    pub ramp: Ramp,
}

impl ZfsSpec {
    /// A version without overrides.
    ///
    /// # Panics
    /// Never: every other field has a default.
    #[must_use]
    pub fn of(era: Era) -> Self {
        serde_json::from_value(serde_json::json!({ "era": era.name() })).expect("every other field has a default")
    }

    /// The constants of a run: the version's, with the overrides applied.
    #[must_use]
    pub fn resolve(&self) -> Resolved {
        let mut constants = self.era.constants(self.memory.0);
        let kind = self.throttle.unwrap_or(match constants.throttling {
            Throttling::Zfs2008(_) => ThrottleKind::Zfs2008,
            Throttling::Zfs2010(..) => ThrottleKind::Zfs2010,
            Throttling::OpenZfs(_) => ThrottleKind::OpenZfs,
        });
        if matches!(kind, ThrottleKind::OpenZfs | ThrottleKind::Asked) && !matches!(constants.throttling, Throttling::OpenZfs(_)) {
            constants.dirty_max_bytes = Era::OpenZfs2013.dirty_max_bytes(self.memory.0);
        }
        replace(&mut constants.dirty_max_bytes, self.dirty_data_max.map(|bytes| bytes.0));
        replace(&mut constants.txg_timeout_ns, self.txg_timeout.map(|nanos| nanos.0));
        replace(&mut constants.release, self.release);
        replace(&mut constants.sync_passes, self.sync_passes);
        replace(&mut constants.dirty_trigger, self.dirty_data_sync_percent.map(|percent| DirtyTrigger::Percent(percent.into())));
        replace(&mut constants.dirty_trigger, self.dirty_data_sync.map(|bytes| DirtyTrigger::Bytes(bytes.0)));
        constants.throttling = self.throttling(kind, &constants);
        constants.scheduling = self.scheduling(&constants);
        let throttle = self.build(kind, &constants);
        let ramp = self.ramp(&constants);
        Resolved { constants, throttle, ramp }
    }

    /// The constants of the throttle of this kind: the version's if it has that kind, else that kind's own first version's.
    fn throttling(&self, kind: ThrottleKind, constants: &Constants) -> Throttling {
        match (kind, constants.throttling) {
            (ThrottleKind::Zfs2008, Throttling::Zfs2008(old) | Throttling::Zfs2010(old, _)) => Throttling::Zfs2008(self.gates(old)),
            (ThrottleKind::Zfs2008, _) => Throttling::Zfs2008(self.gates(zfs2008::Settings::march_2008(self.memory.0))),
            (ThrottleKind::Zfs2010, Throttling::Zfs2010(old, unit)) => Throttling::Zfs2010(self.gates(old), unit),
            (ThrottleKind::Zfs2010, Throttling::Zfs2008(old)) => {
                Throttling::Zfs2010(self.gates(zfs2008::Settings { shift_bug: false, ..old }), RateUnit::PerSecond)
            }
            (ThrottleKind::Zfs2010, _) => {
                Throttling::Zfs2010(self.gates(zfs2008::Settings::march_2008(self.memory.0)), RateUnit::PerMillisecond)
            }
            _ => Throttling::OpenZfs(self.delays(constants.dirty_max_bytes)),
        }
    }

    fn gates(&self, mut settings: zfs2008::Settings) -> zfs2008::Settings {
        let inflated = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0.saturating_mul(settings.inflation));
        let (first, most) = (inflated(self.write_limit), inflated(self.write_limit_max));
        replace(&mut settings.first_limit_bytes, first);
        replace(&mut settings.limit_max_bytes, most);
        replace(&mut settings.target_ns, self.txg_synctime.map(|nanos| nanos.0));
        replace(&mut settings.tick_ns, self.tick.map(|nanos| nanos.0));
        replace(&mut settings.shift_bug, self.shift_bug);
        settings
    }

    fn delays(&self, dirty_max_bytes: u64) -> openzfs::Settings {
        let mut settings = openzfs::Settings { serialise: self.serialise, credit: self.credit, ..openzfs::Settings::new(dirty_max_bytes) };
        replace(&mut settings.min_dirty_percent, self.delay_min_dirty_percent.map(u64::from));
        replace(&mut settings.scale_ns, self.delay_scale.map(|nanos| nanos.0));
        replace(&mut settings.max_ns, self.delay_max.map(|nanos| nanos.0));
        if !self.delay {
            settings.min_dirty_percent = 100;
        }
        settings
    }

    fn scheduling(&self, constants: &Constants) -> Scheduling {
        let mut scheduling = match (self.scheduler, constants.scheduling) {
            (Some(SchedulerKind::Active), Scheduling::Deadline(_)) => Scheduling::Active(active::Settings::openzfs_2013()),
            (Some(SchedulerKind::Deadline), Scheduling::Active(_)) => Scheduling::Deadline(deadline::Settings::new(10)),
            (_, versions_own) => versions_own,
        };
        let span = self.aggregation_limit.map(|bytes| bytes.0);
        match &mut scheduling {
            Scheduling::Deadline(settings) => {
                replace(&mut settings.max_pending, self.max_active);
                settings.min_pending = settings.min_pending.min(settings.max_pending);
                replace(&mut settings.aggregation.span_bytes, span);
            }
            Scheduling::Active(settings) => {
                replace(&mut settings.max_active, self.max_active);
                replace(&mut settings.aggregation.span_bytes, span);
                for (class, given) in
                    [(Class::SyncRead, self.sync_read), (Class::SyncWrite, self.sync_write), (Class::AsyncRead, self.async_read)]
                {
                    replace(&mut settings.shares[class as usize], given.map(|share| Share { min: share.min, max: share.max }));
                }
                let share = &mut settings.shares[Class::AsyncWrite as usize];
                replace(&mut share.min, self.async_write_min_active);
                replace(&mut share.max, self.async_write_max_active);
            }
        }
        scheduling
    }

    fn ramp(&self, constants: &Constants) -> Ramp {
        let share = match &constants.scheduling {
            Scheduling::Active(settings) => settings.async_write(),
            Scheduling::Deadline(settings) => Share { min: settings.max_pending, max: settings.max_pending },
        };
        let mut ramp = Ramp::new(constants.dirty_max_bytes, share);
        replace(&mut ramp.min_dirty_percent, self.async_write_min_dirty_percent.map(u64::from));
        replace(&mut ramp.max_dirty_percent, self.async_write_max_dirty_percent.map(u64::from));
        if !self.ramp {
            ramp.min_active = ramp.max_active;
        }
        ramp
    }

    fn build(&self, kind: ThrottleKind, constants: &Constants) -> Box<dyn Throttle> {
        let room = self.dirty_data_max.unwrap_or(self.memory).0;
        match (kind, constants.throttling) {
            (ThrottleKind::None, _) => Box::new(NoThrottle::new(room)),
            (ThrottleKind::Diagonal, _) => Box::new(Diagonal::new(self.diagonal_rate.map(|rate| rate.0), room)),
            (ThrottleKind::Asked, _) => Box::new(Asked::new(constants.dirty_max_bytes)),
            (_, Throttling::Zfs2008(settings)) => Box::new(Zfs2008::new(settings)),
            (_, Throttling::Zfs2010(settings, unit)) => Box::new(Zfs2010::new(settings, unit)),
            (_, Throttling::OpenZfs(settings)) => Box::new(OpenZfs::new(settings)),
        }
    }
}

fn replace<T>(value: &mut T, with: Option<T>) {
    if let Some(with) = with {
        *value = with;
    }
}

/// What cannot be; `path` is where the file system stands in the scenario, `backend_per_s` the bytes that its devices write in a
/// second, when known.
#[must_use]
pub fn check(spec: &ZfsSpec, path: &str, backend_per_s: Option<u64>) -> Problems {
    let mut problems = Problems::new();
    let mut wrong = |field: &str, message: String| problems.push(Problem::new(format!("{path}.{field}"), message));
    let Resolved { constants, ramp, .. } = spec.resolve();
    let percents = [
        ("dirty_data_sync_percent", spec.dirty_data_sync_percent),
        ("delay_min_dirty_percent", spec.delay_min_dirty_percent),
        ("async_write_min_dirty_percent", spec.async_write_min_dirty_percent),
        ("async_write_max_dirty_percent", spec.async_write_max_dirty_percent),
        ("metadata_percent", Some(spec.metadata_percent)),
    ];
    for (field, percent) in percents {
        if let Some(percent) = percent.filter(|percent| *percent > 100) {
            wrong(field, format!("{percent} is not a percentage; write 0 to 100"));
        }
    }
    if ramp.min_dirty_percent > ramp.max_dirty_percent {
        let (min, max) = (ramp.min_dirty_percent, ramp.max_dirty_percent);
        wrong("async_write_min_dirty_percent", format!("{min} % is above async_write_max_dirty_percent, {max} %: the ramp would fall"));
    }
    if ramp.min_active == 0 {
        wrong("async_write_min_active", "0 group writes in flight: this never drains; write at least 1".to_owned());
    }
    if let Scheduling::Active(settings) = &constants.scheduling {
        let fields = ["sync_read", "sync_write", "async_read", "async_write_min_active"];
        for (field, share) in fields.into_iter().zip(settings.shares) {
            if share.min > share.max {
                wrong(field, format!("the minimum in flight, {}, is above the maximum, {}", share.min, share.max));
            }
        }
    }
    if spec.record.0 == 0 || !spec.record.0.is_multiple_of(512) {
        wrong("record", format!("{} is not a multiple of a sector of 512 bytes", spec.record.0));
    }
    if constants.dirty_max_bytes > spec.memory.0 {
        wrong("dirty_data_max", above_memory(Bytes(constants.dirty_max_bytes), spec.memory));
    }
    if spec.record.0 > constants.dirty_max_bytes {
        wrong("dirty_data_max", format!("{} holds not even one record of {}", Bytes(constants.dirty_max_bytes), spec.record));
    }
    if let Some(first) = spec.write_limit.filter(|first| *first > spec.memory) {
        wrong("write_limit", above_memory(first, spec.memory));
    }
    if spec.cache > spec.memory {
        wrong("cache", above_memory(spec.cache, spec.memory));
    }
    if let Some(share) = [("sync_read", spec.sync_read), ("sync_write", spec.sync_write)]
        .into_iter()
        .find(|(_, share)| share.is_some_and(|share| share.max == 0))
    {
        wrong(share.0, "a maximum of 0 in flight serves nobody: whoever waits for it waits for ever; write at least 1".to_owned());
    }
    if backend_per_s == Some(0) {
        wrong(
            "dirty_data_max",
            "the devices write 0 bytes a second: this never drains, every writer stops for good once memory is full".to_owned(),
        );
    }
    problems.extend(read_spec::check(spec, path));
    problems
}

/// The refusal of what does not fit in memory.
pub(super) fn above_memory(found: Bytes, memory: Bytes) -> String {
    format!("{found} is above memory, {memory}; write at most that")
}

/// What can be but is seldom meant.
#[must_use]
pub fn warnings(spec: &ZfsSpec, path: &str) -> Problems {
    let mut problems = Problems::new();
    let mut warn = |field: &str, message: String| problems.push(Problem::new(format!("{path}.{field}"), message));
    let Resolved { constants, ramp, .. } = spec.resolve();
    if let Scheduling::Active(settings) = &constants.scheduling {
        let minimums: u32 = settings.shares.iter().map(|share| share.min).fold(0, u32::saturating_add);
        if settings.max_active < minimums {
            let most = settings.max_active;
            warn(
                "max_active",
                format!("{most} is below the sum of the minimums, {minimums}: classes get theirs by priority, the last ones may starve"),
            );
        }
    }
    if let Some(sold) = spec.log.sold_bytes().filter(|sold| sold.0 > constants.dirty_max_bytes) {
        let (used, gb) = (Bytes(constants.dirty_max_bytes), 1_000_000_000);
        let sold = if sold.0.is_multiple_of(gb) { format!("{} GB", sold.0 / gb) } else { sold.to_string() };
        warn(
            "log.devices",
            format!(
                "{sold} each, of which about {used} can ever be used: a log holds what is dirty in memory, and dirty_data_max is {used}"
            ),
        );
    }
    if let Throttling::OpenZfs(settings) = &constants.throttling
        && spec.delay
        && settings.min_dirty_percent < ramp.max_dirty_percent
    {
        let (starts, full) = (settings.min_dirty_percent, ramp.max_dirty_percent);
        warn(
            "delay_min_dirty_percent",
            format!("writers are delayed from {starts} % on, before the devices get all their concurrency at {full} %"),
        );
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(spec: &ZfsSpec) -> Vec<String> {
        check(spec, "zfs", Some(1)).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn every_version_is_sound() {
        for era in Era::ALL {
            assert_eq!(check(&ZfsSpec::of(era), "zfs", Some(1)), []);
            assert_eq!(warnings(&ZfsSpec::of(era), "zfs"), []);
        }
    }

    #[test]
    fn what_cannot_be_is_said_at_its_place() {
        let sound = ZfsSpec::of(Era::OpenZfs2_1);
        let crossing = ZfsSpec { async_write_min_dirty_percent: Some(70), ..sound.clone() };
        assert_eq!(paths(&crossing), ["zfs.async_write_min_dirty_percent"]);
        let swapped = ZfsSpec { async_write_min_active: Some(11), ..sound.clone() };
        assert_eq!(paths(&swapped), ["zfs.async_write_min_active"]);
        let beyond = ZfsSpec { delay_min_dirty_percent: Some(101), ..sound.clone() };
        assert_eq!(paths(&beyond), ["zfs.delay_min_dirty_percent"]);
        let stuck = ZfsSpec { async_write_min_active: Some(0), ..sound.clone() };
        assert_eq!(paths(&stuck), ["zfs.async_write_min_active"]);
        let large = ZfsSpec { dirty_data_max: Some(Bytes(9 << 30)), ..sound.clone() };
        assert_eq!(paths(&large), ["zfs.dirty_data_max"]);
        assert!(check(&sound, "zfs", Some(0))[0].message.contains("never drains"));
    }

    #[test]
    fn a_total_below_the_minimums_is_a_warning() {
        let narrow = ZfsSpec { max_active: Some(5), ..ZfsSpec::of(Era::OpenZfs2_1) };
        assert_eq!(paths(&narrow), [""; 0]);
        assert!(warnings(&narrow, "zfs")[0].message.contains("below the sum of the minimums"));
    }

    #[test]
    fn a_log_device_larger_than_the_dirty_data_is_a_warning_that_says_how_much_is_used() {
        let device = crate::library::preset("ssd-2008-log").expect("a preset")["device"].clone();
        let log = serde_json::from_value(serde_json::json!({ "devices": device })).expect("a log");
        let spec = ZfsSpec { log, memory: Bytes(128 << 30), ..ZfsSpec::of(Era::OpenZfs2_1) };
        let warned = warnings(&spec, "zfs");
        assert_eq!(warned.len(), 1);
        assert!(
            warned[0].path == "zfs.log.devices" && warned[0].message.starts_with("18 GB each, of which about 4 GiB can ever be used"),
            "{warned:?}"
        );
        assert_eq!(warnings(&ZfsSpec { era: Era::Zfs2010, ..spec }, "zfs"), [], "no limit but memory before 2013");
    }

    #[test]
    fn the_schema_takes_what_the_types_take() {
        let schema = schemars::schema_for!(ZfsSpec).to_value();
        let check = |value: &serde_json::Value| crate::scenario::schema::check(&schema, value);
        let good = serde_json::json!({"era": "openzfs-0.7", "record": "8KiB", "delay_scale": "1ms", "sync_read": {"min": 1, "max": 2}, "throttle": "diagonal", "release": "whole_block", "start": "full"});
        assert_eq!(check(&good), []);
        assert!(serde_json::from_value::<ZfsSpec>(good).is_ok());
        assert_eq!(check(&serde_json::json!({"era": "zfs-2009", "delay_min_dirty_percent": 101, "delay_scales": 1})).len(), 3);
    }

    #[test]
    fn overrides_replace_the_versions_tunables() {
        let spec = ZfsSpec { delay_scale: Some(Nanos(1)), dirty_data_max: Some(Bytes(1000)), ..ZfsSpec::of(Era::OpenZfs0_7) };
        let Throttling::OpenZfs(settings) = spec.resolve().constants.throttling else { panic!("a curve") };
        assert_eq!((settings.scale_ns, settings.dirty_max_bytes), (1, 1000));
    }
}
