//! Contradictions in a scenario's file system, and what is allowed but seldom meant.

use seeklab_spec::zfs::{IntentLogSpec, SchedulerKind, ThrottleKind, ZfsSpec};
use seeklab_spec::{AddProblem, Bytes, Nanos, Path, Problems, Scenario};

use super::era::{Scheduling, Throttling};
use super::free_space::{holds, mean_hole};
use super::log_blocks::MAX_REQUEST_BYTES;
use super::settings::{Resolved, arc_bytes, kinds, l2arc_settings, resolve};
use crate::layers::device::ssd;
use crate::rules;

/// Lengths that an indirect block can have (`DN_MAX_INDBLKSHIFT`; shorter ones than 8 KiB are left out).
const INDIRECT_BYTES: std::ops::RangeInclusive<u64> = 8 << 10..=128 << 10;

/// First words of each warning about a field without effect.
pub const NO_EFFECT: &str = "has no effect";

/// Adds what is wrong with ZFS at `at` in its scenario, beyond its schema.
pub fn in_scenario(spec: &ZfsSpec, scenario: &Scenario, at: &Path, problems: &mut Problems) {
    check_log(&spec.log, &at.field("log"), problems);
    rules::excludes(&[("volume", "there is one file system", scenario.volume.is_some())], at, problems);
    if scenario.protocol.as_ref().is_some_and(|protocol| protocol.scheduler.is_some())
        && let Some((index, field)) = rules::synchronous_job(scenario)
    {
        let message = "synchronous writes cannot be combined with others; drop it, or protocol.scheduler";
        problems.add(Path::root().index("jobs", index).field(field), message);
    }
    if let Some(arc) = &spec.arc {
        rules::names_jobs(&arc.metadata, "metadata", scenario, &at.field("arc"), problems);
    }
    if spec.scrub.is_some() && matches!(resolve(spec).constants.scheduling, Scheduling::Deadline(_)) {
        let message = format!("{} has no class for it here; choose openzfs-2013 or later, or drop scrub", spec.era.name());
        problems.add(at.field("scrub"), message);
    }
    if let Some(free) = &spec.free_space {
        let is_logged = spec.log.devices.is_none() && rules::synchronous_job(scenario).is_some();
        let bytes = spec.record.0.max(if is_logged { MAX_REQUEST_BYTES } else { 0 });
        if !holds(free, bytes) {
            let (hole, kib) = (mean_hole(free.fragmentation) / 1024.0, bytes >> 10);
            let what = if bytes == spec.record.0 { "records" } else { "blocks of the intent log" };
            let message = format!(
                "holes of {hole:.0} KiB on average hardly ever hold {what} of {kib} KiB, and gang blocks are not modelled; choose less fragmentation, or smaller records"
            );
            problems.add(at.field("free_space").field("fragmentation"), message);
        }
    }
    let rates = scenario.devices.iter().filter_map(|group| group.lun.as_ref().map(|lun| lun.rate.0 * u64::from(group.count)));
    check(spec, rates.reduce(u64::saturating_add), at, problems);
}

/// Adds the contradictions in the file system at `at` that the schema cannot express; `backend_per_s` is the bytes that its devices
/// write in a second, when known.
pub fn check(spec: &ZfsSpec, backend_per_s: Option<u64>, at: &Path, problems: &mut Problems) {
    let Resolved { constants, ramp, .. } = resolve(spec);
    let percents = [
        ("dirty_data_sync_percent", spec.dirty_data_sync_percent),
        ("delay_min_dirty_percent", spec.delay_min_dirty_percent),
        ("async_write_min_dirty_percent", spec.async_write_min_dirty_percent),
        ("async_write_max_dirty_percent", spec.async_write_max_dirty_percent),
        ("metadata_percent", Some(spec.metadata_percent)),
    ];
    for (field, percent) in percents {
        if let Some(percent) = percent.filter(|percent| *percent > 100) {
            problems.add(at.field(field), format!("{percent} is not a percentage; write 0 to 100"));
        }
    }
    if ramp.min_dirty_percent > ramp.max_dirty_percent {
        let (min, max) = (ramp.min_dirty_percent, ramp.max_dirty_percent);
        problems.add(
            at.field("async_write_min_dirty_percent"),
            format!("{min}% is above async_write_max_dirty_percent, {max}%, so the ramp would fall"),
        );
    }
    if ramp.min_active == 0 {
        problems.add(at.field("async_write_min_active"), "0 group writes in flight would never write anything; write at least 1");
    }
    if let Scheduling::Active(settings) = &constants.scheduling {
        let fields = ["sync_read", "sync_write", "async_read", "async_write_min_active"];
        for (field, share) in fields.into_iter().zip(settings.shares) {
            if share.min > share.max {
                problems.add(at.field(field), format!("the minimum in flight, {}, is above the maximum, {}", share.min, share.max));
            }
        }
    }
    if spec.record.0 == 0 || !spec.record.0.is_multiple_of(512) {
        problems.add(at.field("record"), format!("{} is not a multiple of a sector of 512 bytes", spec.record.0));
    }
    if let Some(bytes) = spec.indirect.filter(|bytes| bytes.0 > 0 && !(INDIRECT_BYTES.contains(&bytes.0) && bytes.0.is_power_of_two())) {
        problems.add(
            at.field("indirect"),
            format!("{bytes} is not the size of an indirect block; write a power of two from 8 KiB to 128 KiB, or 0"),
        );
    }
    if spec.cores == 0 {
        problems.add(at.field("cores"), "0 cores write nothing; write at least 1");
    }
    if constants.dirty_max_bytes > spec.memory.0 {
        problems.add(at.field("dirty_data_max"), above_memory(Bytes(constants.dirty_max_bytes), spec.memory));
    }
    if spec.record.0 > constants.dirty_max_bytes {
        problems
            .add(at.field("dirty_data_max"), format!("{} is smaller than a record of {}", Bytes(constants.dirty_max_bytes), spec.record));
    }
    if let Some(first) = spec.write_limit.filter(|first| *first > spec.memory) {
        problems.add(at.field("write_limit"), above_memory(first, spec.memory));
    }
    check_era(spec, at, problems);
    if spec.cache > spec.memory {
        problems.add(at.field("cache"), above_memory(spec.cache, spec.memory));
    }
    if let Some(share) = [("sync_read", spec.sync_read), ("sync_write", spec.sync_write)]
        .into_iter()
        .find(|(_, share)| share.is_some_and(|share| share.max == 0))
    {
        problems.add(at.field(share.0), "with a maximum of 0 in flight, requests of this class wait for ever; write at least 1");
    }
    if backend_per_s == Some(0) {
        problems
            .add(at.field("dirty_data_max"), "the devices write 0 bytes per second, so every writer stops for ever once memory is full");
    }
    check_read_side(spec, at, problems);
}

/// Adds the fields of a throttle that neither the version has nor the scenario chose.
fn check_era(spec: &ZfsSpec, at: &Path, problems: &mut Problems) {
    let (chosen, _) = kinds(spec);
    let (of_era, _) = kinds(&ZfsSpec { throttle: None, ..spec.clone() });
    for (field, found, readers, eras) in own_fields(spec) {
        if let Some(found) = found.filter(|_| !readers.contains(&chosen) && !readers.contains(&of_era)) {
            let (era, throttles) = (spec.era.name(), readers.iter().map(word).collect::<Vec<_>>().join(" and "));
            problems.add(
                at.field(field),
                format!("is {found}, but {era} does not use it; only {eras} do (throttle {throttles}); drop it, or choose one of those"),
            );
        }
    }
}

/// A field, what is written there, the throttles that read it, and the versions that have those.
type OwnField = (&'static str, Option<String>, &'static [ThrottleKind], &'static str);

/// The fields that belong to one kind of throttle and to its versions.
fn own_fields(spec: &ZfsSpec) -> [OwnField; 5] {
    const GATES: &[ThrottleKind] = &[ThrottleKind::Zfs2008, ThrottleKind::Zfs2010];
    const ERAS: &str = "zfs-2008-03 to zfs-2010";
    let bytes = |value: Option<Bytes>| value.map(|bytes| bytes.to_string());
    let nanos = |value: Option<Nanos>| value.map(|nanos| nanos.to_string());
    [
        ("write_limit", bytes(spec.write_limit), GATES, ERAS),
        ("txg_synctime", nanos(spec.txg_synctime), GATES, ERAS),
        ("tick", nanos(spec.tick), GATES, ERAS),
        ("shift_bug", spec.shift_bug.map(|is_on| is_on.to_string()), GATES, ERAS),
        ("delay_scale", nanos(spec.delay_scale), &[ThrottleKind::OpenZfs], "openzfs-2013 and later"),
    ]
}

/// The refusal of what does not fit in memory.
fn above_memory(found: Bytes, memory: Bytes) -> String {
    format!("{found} is above memory, {memory}; write at most that")
}

/// Adds what is possible in the file system at `at` but seldom meant.
pub fn warn(spec: &ZfsSpec, at: &Path, problems: &mut Problems) {
    let Resolved { constants, ramp, .. } = resolve(spec);
    warn_without_effect(spec, at, problems);
    if let Scheduling::Active(settings) = &constants.scheduling {
        let minimums: u32 = settings.shares.iter().map(|share| share.min).fold(0, u32::saturating_add);
        if settings.max_active < minimums {
            let most = settings.max_active;
            problems.add(
                at.field("max_active"),
                format!("{most} is below the sum of the minimums, {minimums}; the classes with the lowest priority may starve"),
            );
        }
    }
    if let Some(sold) = spec.log.sold_bytes().filter(|sold| sold.0 > constants.dirty_max_bytes) {
        let (used, gb) = (Bytes(constants.dirty_max_bytes), 1_000_000_000);
        let sold = if sold.0.is_multiple_of(gb) { format!("{} GB", sold.0 / gb) } else { sold.to_string() };
        problems.add(
            at.field("log.devices"),
            format!("{sold} each, but a log can use only about {used}: it holds the dirty data in memory, and dirty_data_max is {used}"),
        );
    }
    if let Throttling::OpenZfs(settings) = &constants.throttling
        && spec.delay
        && settings.min_dirty_percent < ramp.max_dirty_percent
    {
        let (starts, full) = (settings.min_dirty_percent, ramp.max_dirty_percent);
        problems.add(
            at.field("delay_min_dirty_percent"),
            format!("writers are delayed from {starts}% on, before the devices reach full concurrency at {full}%"),
        );
    }
}

/// Adds the fields that are written in the file system at `at` and belong to another throttle or scheduler than it has: they have no
/// effect. The wire form is flat, so that a field may stand beside any version; the settings that a run is made of carry only
/// those of their own kind.
fn warn_without_effect(spec: &ZfsSpec, at: &Path, problems: &mut Problems) {
    let (throttle, scheduler) = kinds(spec);
    let delays = [
        ("delay_min_dirty_percent", spec.delay_min_dirty_percent.is_some()),
        ("delay_scale", spec.delay_scale.is_some()),
        ("delay_max", spec.delay_max.is_some()),
        ("delay", !spec.delay),
        ("serialise", !spec.serialise),
        ("credit", !spec.credit),
    ];
    let gates = [
        ("write_limit", spec.write_limit.is_some()),
        ("write_limit_max", spec.write_limit_max.is_some()),
        ("txg_synctime", spec.txg_synctime.is_some()),
        ("tick", spec.tick.is_some()),
        ("shift_bug", spec.shift_bug.is_some()),
    ];
    let classes = [
        ("sync_read", spec.sync_read.is_some()),
        ("sync_write", spec.sync_write.is_some()),
        ("async_read", spec.async_read.is_some()),
        ("async_write_min_active", spec.async_write_min_active.is_some()),
        ("async_write_max_active", spec.async_write_max_active.is_some()),
        ("async_write_min_dirty_percent", spec.async_write_min_dirty_percent.is_some()),
        ("async_write_max_dirty_percent", spec.async_write_max_dirty_percent.is_some()),
        ("ramp", !spec.ramp),
    ];
    let diagonal = [("diagonal_rate", spec.diagonal_rate.is_some())];
    let mut told = |fields: &[(&str, bool)], owner: &str, own: &str| {
        for (field, _) in fields.iter().filter(|(_, is_written)| *is_written) {
            problems.add(at.field(field), format!("{NO_EFFECT} here: it belongs to {owner}, but this file system has {own}"));
        }
    };
    let own = format!("the throttle {}", word(&throttle));
    if throttle != ThrottleKind::OpenZfs {
        told(&delays, "the throttle openzfs", &own);
    }
    if !matches!(throttle, ThrottleKind::Zfs2008 | ThrottleKind::Zfs2010) {
        told(&gates, "the throttles zfs2008 and zfs2010", &own);
    }
    if throttle != ThrottleKind::Diagonal {
        told(&diagonal, "the throttle diagonal", &own);
    }
    if scheduler != SchedulerKind::Active {
        told(&classes, "the scheduler active", &format!("the scheduler {}", word(&scheduler)));
    }
    if spec.dirty_data_sync.is_some() && spec.dirty_data_sync_percent.is_some() {
        problems.add(
            at.field("dirty_data_sync_percent"),
            format!("{NO_EFFECT} together with dirty_data_sync, which sets the same limit in bytes; drop one"),
        );
    }
}

/// The word that a scenario writes for a kind.
fn word(kind: &impl serde::Serialize) -> String {
    serde_json::to_value(kind).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Adds the contradictions of the read side.
fn check_read_side(spec: &ZfsSpec, at: &Path, problems: &mut Problems) {
    let Some(arc_bytes) = arc_bytes(spec) else {
        for (field, is_there) in [("prefetch", spec.prefetch.is_some()), ("l2arc", spec.l2arc.is_some())] {
            if is_there {
                problems.add(at.field(field), "needs zfs.arc, where it puts blocks; add zfs.arc");
            }
        }
        return;
    };
    if spec.cache.0 > 0 {
        problems.add(at.field("cache"), "contradicts arc: there is one read cache; drop one of the two");
    }
    if arc_bytes > spec.memory.0 {
        problems.add(at.field("arc.size"), above_memory(Bytes(arc_bytes), spec.memory));
    }
    if arc_bytes < spec.record.0 {
        problems.add(at.field("arc.size"), format!("{} is smaller than a record of {}", Bytes(arc_bytes), spec.record));
    }
    let Some(l2arc) = &spec.l2arc else { return };
    let settings = l2arc_settings(l2arc, spec);
    let device = &l2arc.device;
    let kinds = [device.hdd.is_some(), device.ssd.is_some(), device.lun.is_some()];
    if kinds.into_iter().filter(|is_there| *is_there).count() != 1 || device.hdd.is_some() {
        problems.add(at.field("l2arc.device"), "needs exactly one of ssd and lun, or a preset that fills one in");
    } else if settings.write_max < spec.record.0 {
        problems.add(
            at.field("l2arc.write_max"),
            format!("{} is less than one record of {}, so nothing is ever written", Bytes(settings.write_max), spec.record),
        );
    } else if l2arc.bytes() < settings.write_max {
        let field = if l2arc.size.is_some() { "l2arc.size" } else { "l2arc.device" };
        let least = Bytes(settings.write_max);
        problems.add(
            at.field(field),
            format!(
                "{} is less than one pass of the feed can write, {least}; write a larger device or a smaller write_max",
                Bytes(l2arc.bytes())
            ),
        );
    }
    if let Some(ssd) = &device.ssd {
        ssd::check(ssd, &at.field("l2arc.device.ssd"), problems);
    }
}

/// Adds the contradictions in the intent log at `at` that the schema cannot express.
pub fn check_log(spec: &IntentLogSpec, at: &Path, problems: &mut Problems) {
    let count = spec.devices.as_ref().map_or(0, |group| group.count);
    if spec.devices.is_none() && spec.mirror > 1 {
        problems.add(at.field("mirror"), format!("mirrors of {} need log devices; write zfs.log.devices, or mirror 1", spec.mirror));
    } else if spec.mirror == 0 || !count.is_multiple_of(spec.mirror) {
        problems.add(
            at.field("mirror"),
            format!("{count} log devices cannot form whole mirrors of {}; write a divisor of {count}", spec.mirror),
        );
    }
    if let Some(spec) = spec.devices.as_ref().and_then(|group| group.ssd.as_ref()) {
        ssd::check(spec, &at.field("devices.ssd"), problems);
    }
}

#[cfg(test)]
mod tests {
    use seeklab_spec::zfs::Era;

    use super::*;
    use crate::testing::{assert_problem, assert_problems};

    fn problems(spec: &ZfsSpec, backend_per_s: u64) -> Problems {
        let mut problems = Problems::new();
        check(spec, Some(backend_per_s), &Path::root().field("zfs"), &mut problems);
        problems
    }

    fn warnings(spec: &ZfsSpec) -> Problems {
        let mut problems = Problems::new();
        warn(spec, &Path::root().field("zfs"), &mut problems);
        problems
    }

    fn paths(spec: &ZfsSpec) -> Vec<String> {
        problems(spec, 1).into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn every_version_is_sound() {
        for era in Era::ALL {
            assert_eq!(problems(&ZfsSpec::of(era), 1), []);
            assert_eq!(warnings(&ZfsSpec::of(era)), []);
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
        let odd = ZfsSpec { indirect: Some(Bytes(24 << 10)), cores: 0, ..sound.clone() };
        assert_eq!(paths(&odd), ["zfs.indirect", "zfs.cores"]);
        assert_eq!(paths(&ZfsSpec { indirect: Some(Bytes(0)), ..sound.clone() }), [""; 0]);
        assert_eq!(problems(&sound, 0)[0].path, "zfs.dirty_data_max");
    }

    #[test]
    fn a_total_below_the_minimums_is_a_warning() {
        let narrow = ZfsSpec { max_active: Some(5), ..ZfsSpec::of(Era::OpenZfs2_1) };
        assert_eq!(paths(&narrow), [""; 0]);
        assert_problem(&warnings(&narrow)[0], "zfs.max_active: 5");
    }

    #[test]
    fn fields_that_the_version_does_not_read_are_refused() {
        let refused = |value: serde_json::Value| {
            let spec: ZfsSpec = serde_json::from_value(value).expect("a file system");
            problems(&spec, 1)
        };
        let gates = "openzfs-2013, zfs-2008-03, zfs-2010, zfs2008, zfs2010";
        assert_problems(
            &refused(
                serde_json::json!({"era": "openzfs-2013", "tick": "10ms", "shift_bug": false, "write_limit": "500MiB", "txg_synctime": "5s"}),
            ),
            &[
                &format!("zfs.write_limit: 500 MiB, {gates}"),
                &format!("zfs.txg_synctime: 5 s, {gates}"),
                &format!("zfs.tick: 10 ms, {gates}"),
                &format!("zfs.shift_bug: false, {gates}"),
            ],
        );
        assert_problems(
            &refused(serde_json::json!({"era": "zfs-2010", "delay_scale": "1ms"})),
            &["zfs.delay_scale: 1 ms, zfs-2010, openzfs-2013, openzfs"],
        );
        for read in [
            serde_json::json!({"era": "zfs-2008-12", "tick": "10ms", "shift_bug": false, "write_limit": "500MiB", "txg_synctime": "5s"}),
            serde_json::json!({"era": "openzfs-2.1", "throttle": "zfs2008", "tick": "10ms"}),
            serde_json::json!({"era": "zfs-2010", "throttle": "asked", "tick": "10ms"}), // a throttle of one's own over what is there
        ] {
            assert_eq!(refused(read), []);
        }
    }

    #[test]
    fn fields_of_another_throttle_or_scheduler_are_warned_about() {
        let told = |value: serde_json::Value| {
            let spec: ZfsSpec = serde_json::from_value(value).expect("a file system");
            warnings(&spec)
        };
        for (written, expected) in [
            (
                serde_json::json!({"era": "openzfs-2.1", "throttle": "zfs2008", "delay_max": "50ms", "tick": "10ms", "credit": false}),
                ["zfs.delay_max: openzfs, zfs2008", "zfs.credit: openzfs, zfs2008"],
            ),
            (
                serde_json::json!({"era": "openzfs-2.1", "write_limit_max": "1GiB", "diagonal_rate": "100MB", "delay_max": "50ms"}),
                ["zfs.write_limit_max: zfs2008, zfs2010, openzfs", "zfs.diagonal_rate: diagonal, openzfs"],
            ),
            (
                serde_json::json!({"era": "zfs-2010", "async_write_max_active": 5, "max_active": 35, "ramp": false}),
                ["zfs.async_write_max_active: active, deadline", "zfs.ramp: active, deadline"],
            ),
        ] {
            assert_problems(&told(written), &expected);
        }
        let twice = told(serde_json::json!({"dirty_data_sync": "1MiB", "dirty_data_sync_percent": 20}));
        assert_problem(&twice[0], "zfs.dirty_data_sync_percent: dirty_data_sync");
    }

    #[test]
    fn the_schema_takes_what_the_types_take() {
        let schema = schemars::schema_for!(ZfsSpec).to_value();
        let check = |value: &serde_json::Value| seeklab_spec::schema::check(&schema, value);
        let good = serde_json::json!({"era": "openzfs-0.7", "record": "8KiB", "delay_scale": "1ms", "sync_read": {"min": 1, "max": 2}, "throttle": "diagonal", "release": "whole_block", "start": "full"});
        assert_eq!(check(&good), []);
        assert!(serde_json::from_value::<ZfsSpec>(good).is_ok());
        assert_eq!(check(&serde_json::json!({"era": "zfs-2009", "delay_min_dirty_percent": 101, "delay_scales": 1})).len(), 3);
    }

    #[test]
    fn overrides_replace_the_versions_tunables() {
        let spec = ZfsSpec { delay_scale: Some(Nanos(1)), dirty_data_max: Some(Bytes(1000)), ..ZfsSpec::of(Era::OpenZfs0_7) };
        let Throttling::OpenZfs(settings) = resolve(&spec).constants.throttling else { panic!("a curve") };
        assert_eq!((settings.scale_ns, settings.dirty_max_bytes), (1, 1000));
    }
}
