//! The settings of a scenario's file system: the version's constants with the overrides applied, the throttle, the ramp.

use seeklab_spec::Bytes;
use seeklab_spec::zfs::{Era, L2arcSpec, SchedulerKind, ThrottleKind, ZfsSpec};

use super::era::{self, Constants, Scheduling, Throttling};
use super::scheduler::Class;
use super::scheduler::active::{self, Ramp, Share};
use super::scheduler::deadline;
use super::throttle::diagonal::Diagonal;
use super::throttle::host::Host;
use super::throttle::none::NoThrottle;
use super::throttle::openzfs::OpenZfs;
use super::throttle::zfs2008::Zfs2008;
use super::throttle::zfs2010::{RateUnit, Zfs2010};
use super::throttle::{Throttle, openzfs, zfs2008};
use super::txg::DirtyTrigger;
use super::{arc, l2arc, zfetch};

/// The settings of a run.
pub struct Resolved {
    /// The version's constants with the overrides applied.
    pub constants: Constants,
    /// The throttle.
    pub throttle: Box<dyn Throttle>,
    /// The ramp of group writes.
    pub ramp: Ramp,
}

/// The throttle and the scheduler of a run: those that are written, else the version's.
#[must_use]
pub fn kinds(spec: &ZfsSpec) -> (ThrottleKind, SchedulerKind) {
    let constants = era::constants(spec.era, spec.memory.0);
    let throttle = spec.throttle.unwrap_or(match constants.throttling {
        Throttling::Zfs2008(_) => ThrottleKind::Zfs2008,
        Throttling::Zfs2010(..) => ThrottleKind::Zfs2010,
        Throttling::OpenZfs(_) => ThrottleKind::OpenZfs,
    });
    let scheduler = spec.scheduler.unwrap_or(match constants.scheduling {
        Scheduling::Deadline(_) => SchedulerKind::Deadline,
        Scheduling::Active(_) => SchedulerKind::Active,
    });
    (throttle, scheduler)
}

/// The constants of a run: the version's, with the overrides applied.
#[must_use]
pub fn resolve(spec: &ZfsSpec) -> Resolved {
    let mut constants = era::constants(spec.era, spec.memory.0);
    let (kind, _) = kinds(spec);
    if matches!(kind, ThrottleKind::OpenZfs | ThrottleKind::Asked) && !matches!(constants.throttling, Throttling::OpenZfs(_)) {
        constants.dirty_max_bytes = era::dirty_max_bytes(Era::OpenZfs2013, spec.memory.0);
    }
    replace(&mut constants.dirty_max_bytes, spec.dirty_data_max.map(|bytes| bytes.0));
    replace(&mut constants.txg_timeout_ns, spec.txg_timeout.map(|nanos| nanos.0));
    replace(&mut constants.release, spec.release);
    replace(&mut constants.sync_passes, spec.sync_passes);
    replace(&mut constants.indirect_bytes, spec.indirect.map(|bytes| bytes.0));
    replace(&mut constants.dirty_trigger, spec.dirty_data_sync_percent.map(|percent| DirtyTrigger::Percent(percent.into())));
    replace(&mut constants.dirty_trigger, spec.dirty_data_sync.map(|bytes| DirtyTrigger::Bytes(bytes.0)));
    constants.throttling = throttling(spec, kind, &constants);
    constants.scheduling = scheduling(spec, &constants);
    let throttle = build(spec, kind, &constants);
    let ramp = ramp(spec, &constants);
    Resolved { constants, throttle, ramp }
}

/// The constants of the throttle of this kind: the version's if it has that kind, else that kind's own first version's.
fn throttling(spec: &ZfsSpec, kind: ThrottleKind, constants: &Constants) -> Throttling {
    match (kind, constants.throttling) {
        (ThrottleKind::Zfs2008, Throttling::Zfs2008(old) | Throttling::Zfs2010(old, _)) => Throttling::Zfs2008(gates(spec, old)),
        (ThrottleKind::Zfs2008, _) => Throttling::Zfs2008(gates(spec, zfs2008::Settings::march_2008(spec.memory.0))),
        (ThrottleKind::Zfs2010, Throttling::Zfs2010(old, unit)) => Throttling::Zfs2010(gates(spec, old), unit),
        (ThrottleKind::Zfs2010, Throttling::Zfs2008(old)) => {
            Throttling::Zfs2010(gates(spec, zfs2008::Settings { shift_bug: false, ..old }), RateUnit::PerSecond)
        }
        (ThrottleKind::Zfs2010, _) => {
            Throttling::Zfs2010(gates(spec, zfs2008::Settings::march_2008(spec.memory.0)), RateUnit::PerMillisecond)
        }
        _ => Throttling::OpenZfs(delays(spec, constants.dirty_max_bytes)),
    }
}

fn gates(spec: &ZfsSpec, mut settings: zfs2008::Settings) -> zfs2008::Settings {
    let inflated = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0.saturating_mul(settings.inflation));
    let (first, most) = (inflated(spec.write_limit), inflated(spec.write_limit_max));
    replace(&mut settings.first_limit_bytes, first);
    replace(&mut settings.limit_max_bytes, most);
    replace(&mut settings.target_ns, spec.txg_synctime.map(|nanos| nanos.0));
    replace(&mut settings.tick_ns, spec.tick.map(|nanos| nanos.0));
    replace(&mut settings.shift_bug, spec.shift_bug);
    settings
}

fn delays(spec: &ZfsSpec, dirty_max_bytes: u64) -> openzfs::Settings {
    let mut settings = openzfs::Settings { serialise: spec.serialise, credit: spec.credit, ..openzfs::Settings::new(dirty_max_bytes) };
    replace(&mut settings.min_dirty_percent, spec.delay_min_dirty_percent.map(u64::from));
    replace(&mut settings.scale_ns, spec.delay_scale.map(|nanos| nanos.0));
    replace(&mut settings.max_ns, spec.delay_max.map(|nanos| nanos.0));
    if !spec.delay {
        settings.min_dirty_percent = 100;
    }
    settings
}

fn scheduling(spec: &ZfsSpec, constants: &Constants) -> Scheduling {
    let mut scheduling = match (spec.scheduler, constants.scheduling) {
        (Some(SchedulerKind::Active), Scheduling::Deadline(_)) => Scheduling::Active(active::Settings::openzfs_2013()),
        (Some(SchedulerKind::Deadline), Scheduling::Active(_)) => Scheduling::Deadline(deadline::Settings::of_2010()),
        (_, versions_own) => versions_own,
    };
    let span = spec.aggregation_limit.map(|bytes| bytes.0);
    match &mut scheduling {
        Scheduling::Deadline(settings) => {
            replace(&mut settings.max_pending, spec.max_active);
            settings.min_pending = settings.min_pending.min(settings.max_pending);
            replace(&mut settings.aggregation.span_bytes, span);
        }
        Scheduling::Active(settings) => {
            replace(&mut settings.max_active, spec.max_active);
            replace(&mut settings.aggregation.span_bytes, span);
            for (class, given) in
                [(Class::SyncRead, spec.sync_read), (Class::SyncWrite, spec.sync_write), (Class::AsyncRead, spec.async_read)]
            {
                replace(&mut settings.shares[class as usize], given.map(|share| Share { min: share.min, max: share.max }));
            }
            let share = &mut settings.shares[Class::AsyncWrite as usize];
            replace(&mut share.min, spec.async_write_min_active);
            replace(&mut share.max, spec.async_write_max_active);
        }
    }
    scheduling
}

fn ramp(spec: &ZfsSpec, constants: &Constants) -> Ramp {
    let share = match &constants.scheduling {
        Scheduling::Active(settings) => settings.async_write(),
        Scheduling::Deadline(settings) => Share { min: settings.max_pending, max: settings.max_pending },
    };
    let mut ramp = Ramp::new(constants.dirty_max_bytes, share);
    replace(&mut ramp.min_dirty_percent, spec.async_write_min_dirty_percent.map(u64::from));
    replace(&mut ramp.max_dirty_percent, spec.async_write_max_dirty_percent.map(u64::from));
    if !spec.ramp {
        ramp.min_active = ramp.max_active;
    }
    ramp
}

fn build(spec: &ZfsSpec, kind: ThrottleKind, constants: &Constants) -> Box<dyn Throttle> {
    let room = spec.dirty_data_max.unwrap_or(spec.memory).0;
    match (kind, constants.throttling) {
        (ThrottleKind::None, _) => Box::new(NoThrottle::new(room)),
        (ThrottleKind::Diagonal, _) => Box::new(Diagonal::new(spec.diagonal_rate.map(|rate| rate.0), room)),
        (ThrottleKind::Asked, _) => Box::new(Host::new(constants.dirty_max_bytes)),
        (_, Throttling::Zfs2008(settings)) => Box::new(Zfs2008::new(settings)),
        (_, Throttling::Zfs2010(settings, unit)) => Box::new(Zfs2010::new(settings, unit)),
        (_, Throttling::OpenZfs(settings)) => Box::new(OpenZfs::new(settings)),
    }
}

/// The feed of a run.
#[must_use]
pub fn l2arc_settings(spec: &L2arcSpec, zfs: &ZfsSpec) -> l2arc::Settings {
    let version = l2arc::Settings::of(zfs.era);
    let feed_ns = spec.feed.map_or(version.interval_ns, |feed| feed.0);
    let sooner_ns = feed_ns / 5;
    l2arc::Settings {
        write_max: spec.write_max.map_or(version.write_max, |bytes| bytes.0),
        write_boost: spec.write_boost.map_or(version.write_boost, |bytes| bytes.0),
        headroom: spec.headroom.map_or(version.headroom, u64::from),
        interval_ns: feed_ns,
        busy_interval_ns: spec.feed_again.unwrap_or(version.busy_interval_ns.is_some()).then_some(sooner_ns),
        first_ns: spec.feed.map_or(version.first_ns, |feed| feed.0),
        noprefetch: spec.noprefetch.unwrap_or(version.noprefetch),
        header_bytes: spec.header.map_or(version.header_bytes, |bytes| bytes.0),
        ..version
    }
}

/// Bytes of the ARC; none without one.
#[must_use]
pub fn arc_bytes(spec: &ZfsSpec) -> Option<u64> {
    spec.arc.as_ref().map(|arc_spec| arc_spec.size.map_or_else(|| arc::capacity_bytes(spec.era, spec.memory.0), |size| size.0))
}

/// Return the overrides of the version's read-ahead.
#[must_use]
pub fn prefetch_tuned(spec: &ZfsSpec) -> Option<zfetch::Tuned> {
    let spec = spec.prefetch.as_ref().filter(|prefetch| prefetch.on)?;
    Some(zfetch::Tuned { streams: spec.streams.map(u64::from), cap_blocks: spec.cap.map(u64::from) })
}

fn replace<T>(value: &mut T, with: Option<T>) {
    if let Some(with) = with {
        *value = with;
    }
}

#[cfg(test)]
mod tests {
    use seeklab_spec::zfs::ArcSpec;
    use serde_json::json;

    use super::*;

    #[test]
    fn overrides_replace_the_versions_tunables() {
        let mut zfs = ZfsSpec::of(Era::Zfs2010);
        let feed = json!({"device": {"lun": {"rate": 1}}, "write_max": "1MiB", "feed_again": false, "noprefetch": false, "size": "2MiB"});
        let spec: L2arcSpec = serde_json::from_value(feed).expect("valid");
        let settings = l2arc_settings(&spec, &zfs);
        assert_eq!((settings.write_max, settings.busy_interval_ns, settings.noprefetch, settings.headroom), (1 << 20, None, false, 2));
        assert_eq!(spec.bytes(), 2 << 20);
        zfs.arc = Some(ArcSpec::default());
        assert_eq!(arc_bytes(&zfs), Some(7 << 30));
    }
}
