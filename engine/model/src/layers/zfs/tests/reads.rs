//! What the file system reads back: from disks after rewrites, with small records, and with more readers than memory.

use serde_json::{Value, json};

use crate::testing::{metric, run};
use seeklab_spec::zfs::Era;

fn disks() -> Value {
    json!([{"count": 4, "hdd": {
        "rpm": 7200, "capacity": "4TB", "heads": 8, "outer_rate": "175MB", "inner_rate": "87MB", "seek_single": "800us",
        "seek_average": "8.5ms", "seek_full": "17ms", "head_switch": "800us", "write_settle": "1ms", "overhead": "100us",
        "interface_rate": "550MB", "buffer": "8MB", "segments": 32, "read_ahead": "1MiB"
    }}])
}

fn on(devices: &Value, zfs: &Value, jobs: &Value) -> Value {
    let layout = json!({"kind": "stripe", "unit": "128KiB"});
    json!({"zfs": zfs, "jobs": jobs, "devices": devices, "layout": layout, "record": {"log": false, "interval": "100ms"}})
}

#[test]
fn a_file_that_was_rewritten_at_random_is_read_at_random() {
    let read = |rewrites: &str| {
        let zfs = json!({"era": "openzfs-2.2", "record": "8KiB", "arc": {"size": "16MiB"}, "prefetch": {}, "txg_timeout": "1s"});
        let rewrite = json!({"name": "w", "rw": rewrites, "bs": "8KiB", "size": "64MiB", "filename": "f", "iodepth": 4});
        let reader =
            json!({"name": "r", "rw": "read", "bs": "128KiB", "size": "64MiB", "filename": "f", "startdelay": "8s", "runtime": "1s"});
        metric(&run(&on(&disks(), &zfs, &json!([rewrite, reader]))), "r.read_mib_per_s")
    };
    let (fresh, in_order, at_random) = (read("read"), read("write"), read("randwrite"));
    assert!((0.9..=1.1).contains(&(in_order / fresh)), "{in_order} against {fresh} MiB/s");
    assert!(at_random < 0.1 * fresh, "{at_random} against {fresh} MiB/s");
}

#[test]
fn small_records_are_read_as_fast_as_the_cores_pass_them() {
    let read = |record: u32, cores: u32| {
        let zfs = json!({"era": "openzfs-2.2", "record": record, "arc": {"size": "64MiB"}, "prefetch": {}, "cores": cores});
        let reader = json!({"name": "r", "rw": "read", "bs": "128KiB", "size": "4GiB", "time_based": true, "runtime": "2s"});
        metric(&run(&on(&disks(), &zfs, &json!([reader]))), "r.read_mb_per_s") * 1e6 / f64::from(record)
    };
    // 40 us of a core for each, and 1 us to find it in memory.
    let of_eight = read(512, 8);
    assert!((150_000.0..=201_000.0).contains(&of_eight), "{of_eight} a second");
    let of_two = read(512, 2);
    assert!((40_000.0..=50_500.0).contains(&of_two), "{of_two} a second");
    assert!(read(128 << 10, 8) > 3000.0, "large ones as fast as the disks");
}

#[test]
fn the_arc_keeps_its_size_whatever_is_read_ahead_or_asked_for_at_once() {
    let unit = json!([{"lun": {"rate": "200MB", "capacity": "1TB", "command": "50us"}}]);
    let ahead = json!({"name": "r", "rw": "read", "bs": "128KiB", "size": "128MiB", "numjobs": 16, "rate": "6MB", "time_based": true, "runtime": "3s"});
    let at_once =
        json!({"name": "r", "rw": "randread", "bs": "1MiB", "size": "128MiB", "numjobs": 64, "time_based": true, "runtime": "1s"});
    for era in Era::ALL {
        for job in [&ahead, &at_once] {
            let zfs = json!({"era": era.name(), "arc": {"size": "32MiB"}, "prefetch": {}});
            let stack = run(&on(&unit, &zfs, &json!([job])));
            let share = metric(&stack, "zfs_arc_max_bytes") / f64::from(32 << 20);
            assert!(share <= 1.05, "{share} of its size, {}", era.name());
            assert!(metric(&stack, "r.read_mb_per_s") > 20.0, "{}", era.name());
        }
    }
}
