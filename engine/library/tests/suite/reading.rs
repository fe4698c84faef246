//! Reading scenarios: presets filled in, and what fields say about each other.

use crate::support::{self, library};
use seeklab_spec::testing::{assert_has_problem, assert_problem, assert_problems};
use seeklab_spec::zfs::{Era, ZfsSpec};
use seeklab_spec::{Bytes, Path, Problems, Scenario};
use serde_json::{Value, json};

fn read(value: &Value) -> Result<Scenario, Problems> {
    support::read(value).map(|checked| checked.scenario().clone())
}

fn problems(value: &Value) -> Vec<String> {
    read(value).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn warnings(spec: &ZfsSpec) -> Problems {
    let mut problems = Problems::new();
    seeklab_model::layers::zfs::check::warn(spec, &Path::root().field("zfs"), &mut problems);
    problems
}

fn system(job: &Value) -> Value {
    json!({"jobs": [job], "devices": [{"lun": {"rate": "100MB"}}]})
}

#[test]
fn a_job_that_never_ends_is_refused() {
    let found = problems(&system(&json!({"name": "a", "size": "1GiB", "time_based": true})));
    assert_problems(&found, &["jobs[0].runtime"]);
}

#[test]
fn sizes_beyond_the_device_are_refused() {
    let found = problems(&system(&json!({"name": "a", "size": "2TiB"})));
    assert_problem(&found[0], "jobs[0].size: 1099511627776");
}

#[test]
fn presets_are_filled_in_and_own_fields_win() {
    let scenario = read(&json!({"jobs": [{"name": "a", "size": "1GiB"}], "devices": [{"preset": "lun-100mb", "lun": {"latency": "1ms"}}]}))
        .expect("a valid scenario");
    let lun = scenario.devices[0].lun.as_ref().expect("filled in");
    assert_eq!((lun.rate.0, lun.latency.0), (100_000_000, 1_000_000));
}

#[test]
fn a_system_is_filled_in_and_own_fields_win() {
    let job = json!([{"name": "a", "size": "1GiB"}]);
    let scenario = read(&json!({"preset": "pool-2008-mirrored", "jobs": job, "layout": {"unit": "64KiB"}})).expect("a valid scenario");
    assert_eq!((scenario.devices[0].count, scenario.layout.width, scenario.layout.unit.0), (44, Some(2), 65_536));
    assert!(scenario.devices[0].hdd.is_some(), "its device's preset is filled in too");
    let found = problems(&json!({"preset": "hdd-7200", "jobs": job}));
    assert_problem(&found[0], "preset: \"hdd-7200\", pool-2008-mirrored");
    let found = problems(&json!({"jobs": job, "devices": [{"preset": "pool-2008-mirrored"}]}));
    assert_problem(&found[0], "devices[0].preset: \"pool-2008-mirrored\", hdd-7200");
}

#[test]
fn log_devices_take_presets_and_make_whole_mirrors() {
    let log = |log: Value| {
        let mut all = system(&json!({"name": "a", "size": "1GiB"}));
        all["zfs"] = json!({"log": log});
        all
    };
    let scenario = read(&log(json!({"devices": {"preset": "ssd-2008-log", "count": 6}, "mirror": 2}))).expect("a valid scenario");
    let zfs = scenario.zfs.as_ref().expect("ZFS");
    assert_eq!(zfs.log.devices.as_ref().and_then(|group| group.ssd.as_ref()).map(|ssd| ssd.queue_depth), Some(1));
    let first = |value: Value| problems(&log(value)).swap_remove(0);
    assert_problem(first(json!({"devices": {"preset": "ssd-2008-log", "count": 3}, "mirror": 2})), "zfs.log.mirror: 3, 2");
    assert_problem(first(json!({"mirror": 2})), "zfs.log.mirror: 2");
    assert_problem(first(json!({"devices": {"count": 2}})), "zfs.log.devices: hdd, ssd, lun");
    assert_problem(first(json!({"devices": {"preset": "ssd-2008"}})), "zfs.log.devices.preset: \"ssd-2008\", ssd-2008-log");
}

#[test]
fn a_log_device_larger_than_the_dirty_data_is_a_warning_that_says_how_much_is_used() {
    let device = library().presets().get("ssd-2008-log").expect("a preset")["device"].clone();
    let log = serde_json::from_value(serde_json::json!({ "devices": device })).expect("a log");
    let spec = ZfsSpec { log, memory: Bytes(128 << 30), ..ZfsSpec::of(Era::OpenZfs2_1) };
    let warned = warnings(&spec);
    assert_problems(&warned, &["zfs.log.devices: 18 GB, 4 GiB"]);
    assert_eq!(warnings(&ZfsSpec { era: Era::Zfs2010, ..spec }), [], "no limit but memory before 2013");
}

#[test]
fn contradictions_of_the_read_side_are_told_at_their_place() {
    let device = json!({"lun": {"rate": "100MB", "capacity": "1GiB"}});
    let arc = json!({"size": "1GiB"});
    for (document, expected) in [
        (json!({"prefetch": {}}), "zfs.prefetch: zfs.arc"),
        (json!({"l2arc": {"device": device}}), "zfs.l2arc: zfs.arc"),
        (json!({"arc": arc, "cache": "1GiB"}), "zfs.cache: arc"),
        (json!({"arc": {"size": "9GiB"}}), "zfs.arc.size: 9 GiB, 8 GiB"),
        (json!({"arc": {"size": "64KiB"}}), "zfs.arc.size: 64 KiB"),
        (json!({"arc": {"metadata": ["b"]}}), "zfs.arc.metadata[0]: \"b\""),
        (json!({"arc": arc, "l2arc": {"device": {}}}), "zfs.l2arc.device: ssd, lun"),
        (json!({"arc": arc, "l2arc": {"device": {"preset": "hdd-7200"}}}), "zfs.l2arc.device: ssd, lun"),
        (json!({"arc": arc, "l2arc": {"device": {"preset": "ssd-2009"}}}), "zfs.l2arc.device.preset: \"ssd-2009\""),
        (json!({"arc": arc, "l2arc": {"device": device, "size": 0}}), "zfs.l2arc.size: 0 B"),
        (json!({"arc": arc, "l2arc": {"device": {"lun": {"rate": 1, "capacity": "4MiB"}}}}), "zfs.l2arc.device: 4 MiB"),
        (json!({"arc": arc, "l2arc": {"device": device, "write_max": "64KiB"}}), "zfs.l2arc.write_max: 64 KiB"),
        (json!({"arc": arc, "prefetch": {"cap": 0}}), "zfs.prefetch.cap: 0"),
    ] {
        assert_has_problem(&of_zfs(&document), expected);
    }
    assert_eq!(of_zfs(&json!({"arc": arc, "prefetch": {"cap": 16}, "l2arc": {"device": {"preset": "ssd-2008-read"}}})), [""; 0]);
}

fn of_zfs(document: &Value) -> Vec<String> {
    let mut all = json!({"jobs": [{"name": "a", "size": "1GiB"}], "devices": [{"lun": {"rate": "100MB"}}]});
    all["zfs"] = document.clone();
    problems(&all)
}
