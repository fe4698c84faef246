//! A scenario's file system with every number written that is in effect, for whoever shows it or lets it be changed: a slider has a
//! value, not "as in the version".
//!
//! What a version or a throttle has no use for stays absent.

use seeklab_spec::zfs::{ThrottleKind, ZfsSpec};
use seeklab_spec::{Bytes, Nanos};

use super::era::{Scheduling, Throttling};
use super::settings::{Resolved, arc_bytes, kinds, l2arc_settings, prefetch_tuned, resolve};
use super::{intent_log, zfetch};

/// The same file system, with the version's numbers where the scenario has none.
#[must_use]
pub fn in_effect(spec: &ZfsSpec) -> ZfsSpec {
    let Resolved { constants, ramp, .. } = resolve(spec);
    let mut told = spec.clone();
    told.txg_timeout = Some(Nanos(constants.txg_timeout_ns));
    match (kinds(spec).0, constants.throttling) {
        (ThrottleKind::Zfs2008 | ThrottleKind::Zfs2010, Throttling::Zfs2008(gates) | Throttling::Zfs2010(gates, _)) => {
            told.txg_synctime = Some(Nanos(gates.target_ns));
            told.tick = Some(Nanos(gates.tick_ns));
            told.shift_bug = Some(gates.shift_bug);
            told.write_limit = Some(Bytes(gates.first_limit_bytes / gates.inflation));
            told.write_limit_max = Some(Bytes(gates.limit_max_bytes / gates.inflation));
        }
        (ThrottleKind::OpenZfs, Throttling::OpenZfs(delays)) => {
            told.dirty_data_max = Some(Bytes(constants.dirty_max_bytes));
            if spec.delay {
                told.delay_min_dirty_percent = u32::try_from(delays.min_dirty_percent).ok();
                told.delay_scale = Some(Nanos(delays.scale_ns));
                told.delay_max = Some(Nanos(delays.max_ns));
            }
        }
        _ => {}
    }
    match &constants.scheduling {
        Scheduling::Deadline(settings) => told.max_active = Some(settings.max_pending),
        Scheduling::Active(settings) => {
            let share = settings.async_write();
            told.max_active = Some(settings.max_active);
            told.async_write_min_active = Some(share.min);
            told.async_write_max_active = Some(share.max);
            told.async_write_min_dirty_percent = u32::try_from(ramp.min_dirty_percent).ok();
            told.async_write_max_dirty_percent = u32::try_from(ramp.max_dirty_percent).ok();
        }
    }
    if let (Some(arc), Some(bytes)) = (&mut told.arc, arc_bytes(spec)) {
        arc.size = Some(Bytes(bytes));
    }
    if let Some(l2arc) = &mut told.l2arc {
        let settings = l2arc_settings(l2arc, spec);
        l2arc.write_max = Some(Bytes(settings.write_max));
        l2arc.write_boost = Some(Bytes(settings.write_boost));
        l2arc.headroom = u32::try_from(settings.headroom).ok();
        l2arc.feed = Some(Nanos(settings.interval_ns));
    }
    // 0 is how a scenario writes "never".
    let (limit, bulk) = intent_log::versions_own(spec.era);
    told.log.slog_limit = spec.log.slog_limit.or(Some(Bytes(limit.unwrap_or(0))));
    told.log.slog_bulk = spec.log.slog_bulk.or(bulk.map(Bytes));
    if let (Some(tuned), Some(prefetch)) = (prefetch_tuned(spec), &mut told.prefetch) {
        prefetch.streams = u32::try_from(tuned.streams.unwrap_or(zfetch::STREAMS)).ok();
        prefetch.cap = u32::try_from(zfetch::cap_blocks(spec.era, spec.record.0, tuned)).ok();
    }
    told
}

#[cfg(test)]
mod tests {
    use seeklab_spec::zfs::Era;

    use super::*;

    #[test]
    fn each_version_tells_its_own_numbers_and_nothing_that_it_has_no_use_for() {
        let old = in_effect(&ZfsSpec::of(Era::Zfs2008March));
        assert_eq!((old.tick, old.txg_synctime, old.shift_bug), (Some(Nanos(10_000_000)), Some(Nanos(5_000_000_000)), Some(true)));
        assert_eq!((old.dirty_data_max, old.delay_scale, old.async_write_max_active), (None, None, None));
        assert_eq!(old.max_active, Some(35));
        let new = in_effect(&ZfsSpec::of(Era::OpenZfs2013));
        assert_eq!((new.tick, new.txg_synctime, new.shift_bug, new.write_limit), (None, None, None, None));
        assert_eq!((new.delay_min_dirty_percent, new.delay_scale), (Some(60), Some(Nanos(500_000))));
        assert_eq!((new.async_write_min_active, new.async_write_max_active, new.max_active), (Some(1), Some(10), Some(1000)));
    }

    #[test]
    fn what_is_written_stays_and_what_is_in_effect_once_written_is_in_effect() {
        for era in [Era::Zfs2008March, Era::Zfs2008December, Era::Zfs2010, Era::OpenZfs2013, Era::OpenZfs2_1, Era::OpenZfs2_3] {
            let own = ZfsSpec { txg_timeout: Some(Nanos(7_000_000_000)), max_active: Some(40), ..ZfsSpec::of(era) };
            let told = in_effect(&own);
            assert_eq!((told.txg_timeout, told.max_active), (own.txg_timeout, own.max_active));
            let again = in_effect(&told);
            assert_eq!(serde_json::to_value(again).expect("JSON"), serde_json::to_value(told).expect("JSON"), "{era:?}");
        }
    }
}
