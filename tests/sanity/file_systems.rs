//! File systems: the volume with its cache, prefetcher and log, the scheduler above, a partition below; ZFS.

use serde_json::{Value, json};

use crate::exceptions::COMMITS;
use crate::layers::{as_is, axis, costs, in_flight, loads, no_bounds, sweep};
use crate::load::{KIB, Load, MIB, Pattern, load, set};
use crate::measure::Effort;
use crate::rules::{Bound, Rule, Unit};

use Pattern::{RandRead, RandRw, RandWrite, Read, SyncRandWrite, SyncWrite, Write};

/// A page cache with each journal, and thresholds from a page on.
pub fn page_cache() -> Vec<Unit> {
    let kinds = loads(&[
        (Write, 128 * KIB, 4, 1),
        (Write, MIB, 1, 4),
        (RandWrite, 4 * KIB, 8, 1),
        (SyncWrite, 16 * KIB, 1, 4),
        (SyncRandWrite, 8 * KIB, 4, 1),
        (RandRw, 16 * KIB, 8, 1),
    ]);
    let mut units = Vec::new();
    for journal in ["none", "writeback", "ordered"] {
        for throttle_from in ["limit", "midpoint"] {
            let base = json!({
                "page_cache": {"journal": journal, "throttle_from": throttle_from, "background": "4MiB", "limit": "16MiB"},
                "devices": [{"lun": {"capacity": "1TB", "rate": 200_000_000, "latency": "200us"}}],
            });
            let axes = [
                axis("page_cache.memory_rate", [100_000_000_u64, 1_000_000_000, 10_000_000_000]),
                axis("page_cache.limit", [64 * KIB, MIB, 16 * MIB, 256 * MIB]),
                axis("page_cache.depth", [1, 2, 8, 32]),
                // A faster device would end such a run in some milliseconds, in which the last writer counts for much.
                axis("devices[0].lun.rate", [50_000_000_u64, 200_000_000, 1_000_000_000]),
                costs("devices[0].lun.latency"),
            ];
            units.extend(sweep(&format!("page cache, journal {journal}, throttle from {throttle_from}"), &base, &axes, &kinds, &as_is));
        }
    }
    units
}

/// A file system's cache, its prefetcher, its log; the scheduler above it; a partition below.
pub fn volume() -> Vec<Unit> {
    let base = json!({
        "volume": {"cache": {"size": "64MiB", "overhead": "20us", "rate": 2_000_000_000_u64}, "write_log": {"rate": 500_000_000, "latency": "50us"}},
        "devices": [{"preset": "disk-array-2021"}],
    });
    let some = loads(&[
        (Read, 128 * KIB, 4, 1),
        (Write, 128 * KIB, 4, 1),
        (Write, 8 * KIB, 1, 8),
        (RandRead, 4 * KIB, 1, 1),
        (RandRead, 64 * KIB, 8, 1),
        (RandRw, 16 * KIB, 8, 1),
    ]);
    let some: Vec<Load> = some.into_iter().map(|load| load.spread_over(256 * MIB)).collect();
    let axes = [
        axis("volume.cache.size", [MIB, 16 * MIB, 64 * MIB, 512 * MIB]),
        costs("volume.cache.overhead"),
        axis("volume.cache.rate", [100_000_000_u64, 1_000_000_000, 10_000_000_000]),
        axis("volume.write_log.rate", [50_000_000_u64, 500_000_000, 5_000_000_000]),
        costs("volume.write_log.latency"),
        axis("devices[0].hdd.overhead", [2_000_000, 500_000, 100_000, 0]),
    ];
    let mut units = sweep("volume", &base, &axes, &some, &as_is);
    let mut ahead = base.clone();
    ahead["volume"]["prefetch"] = json!({"chunk": "1MiB", "min_read": "128KiB"});
    let axes = [
        axis("volume.prefetch.per_request", [0, 1, 2, 4, 8]),
        axis("volume.prefetch.chunk", [128 * KIB, 512 * KIB, MIB, 4 * MIB]),
        axis("volume.cache.size", [16 * MIB, 64 * MIB, 512 * MIB]),
        costs("volume.cache.overhead"),
    ];
    let streams = loads(&[(Read, 128 * KIB, 1, 1), (Read, MIB, 1, 1), (Read, MIB, 4, 1)]);
    units.extend(sweep("volume that prefetches", &ahead, &axes, &streams, &as_is));
    let protocol = json!({
        "protocol": {"max_transaction": "1MiB", "target_transaction": "1MiB", "scheduler": {"in_flight": 2}, "credits": 64},
        "devices": [{"preset": "disk-array-2021"}],
    });
    let axes = [
        axis("protocol.credits", [2, 4, 16, 64, 1024]),
        axis("protocol.target_transaction", [64 * KIB, 256 * KIB, MIB]),
        axis("protocol.scheduler.in_flight", [1, 2, 4, 8]),
    ];
    units.extend(sweep("combining scheduler", &protocol, &axes, &some, &as_is));
    let partition = json!({"partition": {"start": 0, "block": 4096, "merge": "10us"}, "devices": [{"preset": "disk-array-2021"}]});
    let axes = [
        axis("partition.start", [1536, 0]),
        costs("partition.merge"),
        axis("partition.read_modify_write", [true, false]),
        axis("partition.apart", [true, false]),
    ];
    let writes = loads(&[
        (Write, 4 * KIB, 1, 1),
        (Write, 128 * KIB, 8, 1),
        (RandWrite, 8 * KIB, 1, 1),
        (RandWrite, 6 * KIB, 16, 1),
        (RandRead, 8 * KIB, 4, 1),
    ]);
    let mut off = partition.clone();
    off["partition"]["start"] = 1536.into();
    units.extend(sweep("partition", &partition, &axes, &writes, &as_is));
    units.extend(sweep("misaligned partition", &off, &axes, &writes, &as_is));
    units
}

/// ZFS: disks, memory, costs, the intent log, records.
pub fn zfs() -> Vec<Unit> {
    let base = json!({
        "zfs": {"era": "openzfs-2.2", "dirty_data_max": "32MiB", "txg_timeout": "1s", "arc": {"size": "64MiB"}},
        "layout": {"kind": "stripe", "unit": "128KiB"},
        "devices": [{"preset": "disk-array-2021", "count": 4}],
    });
    let many = |load: Load, mib: u64| load.spread_over(1024 * MIB).measuring(mib * MIB);
    let some: Vec<Load> = [
        (Read, 128 * KIB, 1, 64),
        (Read, MIB, 4, 256),
        (Write, 128 * KIB, 1, 256),
        (Write, MIB, 4, 512),
        (RandRead, 128 * KIB, 1, 32),
        (RandRead, 128 * KIB, 32, 64),
        (RandWrite, 128 * KIB, 8, 256),
        (RandRw, 128 * KIB, 8, 128),
        (SyncWrite, 4 * KIB, 1, 1),
        (SyncWrite, 128 * KIB, 8, 64),
        (SyncRandWrite, 128 * KIB, 4, 64),
    ]
    .map(|(pattern, bytes, depth, mib)| many(load(pattern, bytes, depth, 1), mib))
    .to_vec();
    let axes = [
        axis("devices[0].count", [1, 2, 4, 8]),
        axis("devices[0].hdd.overhead", [2_000_000, 1_000_000, 500_000, 200_000, 100_000, 10_000, 0]),
        axis("zfs.overhead", [1_000_000, 100_000, 10_000, 0]),
        axis("zfs.copy_rate", [50_000_000_u64, 500_000_000, 5_000_000_000]),
        axis("zfs.arc.size", [16 * MIB, 64 * MIB, 256 * MIB, 2048 * MIB]),
        axis("zfs.dirty_data_max", [4 * MIB, 16 * MIB, 64 * MIB]),
        axis("zfs.copies", [3, 2, 1]),
        axis("zfs.log.flush", [10_000_000, 1_000_000, 0]),
        axis("zfs.compression", [1, 2, 4].map(|ratio| json!({"ratio": ratio}))),
        axis("zfs.compression", ["10MB", "100MB", "1GB"].map(|rate| json!({"ratio": 2, "rate": rate, "decompress_rate": rate}))),
        axis("zfs.scrub", [json!({}), Value::Null]),
    ];
    let mut units = sweep("ZFS on 4 disks", &base, &axes, &some, &as_is);
    let mut logged = base.clone();
    logged["zfs"]["log"] = json!({"devices": {"preset": "ssd-sata"}});
    let synchronous: Vec<Load> =
        [(SyncWrite, 4 * KIB, 1, 1), (SyncWrite, 4 * KIB, 16, 1), (SyncRandWrite, 8 * KIB, 1, 16), (SyncWrite, 128 * KIB, 1, 4)]
            .map(|(pattern, bytes, depth, jobs)| many(load(pattern, bytes, depth, jobs), 8))
            .to_vec();
    let axes = [
        axis("zfs.log.devices.count", [1, 2, 4]),
        axis("zfs.log.flush", [10_000_000, 1_000_000, 0]),
        axis("zfs.log.devices.ssd.overhead", [1_000_000, 100_000, 10_000]),
        axis("devices[0].count", [1, 2, 4, 8]),
    ];
    units.extend(sweep("ZFS with a log device", &logged, &axes, &synchronous, &as_is));
    // One disk without a volatile cache: a commit is a revolution.
    let commits = [(SyncWrite, 512), (SyncWrite, 4 * KIB), (SyncWrite, 32 * KIB), (SyncWrite, 128 * KIB), (SyncRandWrite, 128 * KIB)];
    for (preset, (pattern, bytes)) in ["hdd-7200", "disk-array-2021"].into_iter().flat_map(|preset| commits.map(|commit| (preset, commit)))
    {
        let one = json!({"zfs": {"era": "openzfs-2.2"}, "devices": [{"preset": preset, "hdd": {"write_cache": false}}]});
        let load = many(load(pattern, bytes, 1, 1), 32);
        let mut unit = Unit::new(format!("ZFS on one {preset}, log in the pool: {}", load.name()));
        let point = |overhead: u64| {
            let mut system = one.clone();
            set(&mut system, "devices[0].hdd.overhead", overhead.into());
            let mut point = load.on(&system, format!("hdd.overhead = {overhead}"));
            #[allow(clippy::cast_precision_loss)] // small sizes
            let most = 125.0 * bytes as f64;
            point.bounds.push(Bound { rule: Rule::Durable, what: COMMITS, bytes_per_s: most, ahead_bytes: most });
            point
        };
        unit.line("hdd.overhead", [2_000_000, 1_000_000, 500_000, 300_000, 200_000, 100_000, 10_000, 0].map(point));
        units.push(unit);
    }
    units.extend(log_writers());
    units.extend(fragmentation());
    units.extend(free_space());
    // Smaller records: more of everything for each byte.
    let mut unit = Unit::new("ZFS on 4 disks: writes by record");
    let disks = 4.0 * 175e6;
    let point = |record: u64| {
        let mut system = json!({"zfs": {"era": "openzfs-2.2", "dirty_data_max": "32MiB", "txg_timeout": "1s"}, "layout": {"kind": "stripe", "unit": "128KiB"}, "devices": [{"preset": "hdd-7200", "count": 4}]});
        set(&mut system, "zfs.record", record.into());
        let mut load = many(load(Write, record, 4, 4), 256);
        load.bytes = record;
        let mut point = load.on(&system, format!("record {record}"));
        point.effort = Effort::of(16, (192 * MIB / record).min(400_000));
        if record == 512 {
            point.bounds.push(Bound {
                rule: Rule::Limit,
                what: "records of 512 B: a quarter of the disks' rate",
                bytes_per_s: disks / 4.0,
                ahead_bytes: 34e6,
            });
        }
        point
    };
    unit.line("record", [512, 4 * KIB, 32 * KIB, 128 * KIB].map(point));
    units.push(unit);
    let kinds = [(Read, 128 * KIB), (RandRead, 128 * KIB), (RandRead, 8 * KIB), (SyncWrite, 8 * KIB), (SyncRandWrite, 128 * KIB)];
    units.extend(in_flight("ZFS on 4 disks", &base, &kinds, &no_bounds, &as_is));
    units
}

/// A pool that is partly full: the fuller, the slower; longer holes are not slower.
fn free_space() -> Vec<Unit> {
    let mut units = Vec::new();
    for layout in [json!({"kind": "stripe", "unit": "128KiB"}), json!({"kind": "raidz", "parity": 1, "unit": "128KiB"})] {
        let base = json!({
            "zfs": {"era": "openzfs-2.2", "dirty_data_max": "32MiB", "txg_timeout": "1s", "free_space": {"used": 90, "fragmentation": 50}},
            "layout": layout,
            "devices": [{"preset": "disk-array-2021", "count": 4}],
        });
        let axes = [axis("zfs.free_space.used", [95, 80, 50, 0]), axis("zfs.free_space.fragmentation", [70, 50, 30, 10])];
        let writes = [(Write, MIB, 4, 512), (RandWrite, 128 * KIB, 8, 256), (SyncWrite, 8 * KIB, 4, 8)]
            .map(|(pattern, bytes, depth, mib)| load(pattern, bytes, depth, 1).spread_over(1024 * MIB).measuring(mib * MIB));
        units.extend(sweep(&format!("ZFS on 4 disks, partly full, {}", layout["kind"]), &base, &axes, &writes, &as_is));
    }
    units
}

/// Several synchronous writers on one disk: each has at most one write in a commit.
fn log_writers() -> Vec<Unit> {
    let mut units = Vec::new();
    for (preset, bytes) in
        ["hdd-7200", "disk-array-2021"].into_iter().flat_map(|preset| [4 * KIB, 8 * KIB, 32 * KIB].map(|bytes| (preset, bytes)))
    {
        let one = json!({"zfs": {"era": "openzfs-2.2"}, "devices": [{"preset": preset, "hdd": {"write_cache": false}}]});
        let mut unit = Unit::new(format!("ZFS on one {preset}, log in the pool: sync writers of {} KiB", bytes / KIB));
        let points = [2_u32, 4, 6, 8, 16, 32].map(|writers| {
            let mut point =
                load(SyncWrite, bytes, 1, writers.into()).spread_over(1024 * MIB).measuring(8 * MIB).on(&one, format!("{writers} writers"));
            #[allow(clippy::cast_precision_loss)] // small sizes
            let most = 125.0 * f64::from(writers) * bytes as f64;
            let what = "rotation: 125 commits a second at 7200 rpm, a write of each writer in each";
            point.bounds.push(Bound { rule: Rule::Durable, what, bytes_per_s: most, ahead_bytes: most });
            point
        });
        unit.line("writers", points);
        units.push(unit);
    }
    for (preset, bytes) in
        ["ssd-sata", "samsung-860-pro", "nvme-pcie4"].into_iter().flat_map(|preset| [4 * KIB, 32 * KIB].map(|bytes| (preset, bytes)))
    {
        let system =
            json!({"zfs": {"era": "openzfs-2.2", "log": {"devices": {"preset": preset}}}, "devices": [{"preset": "hdd-7200", "count": 2}]});
        let mut unit = Unit::new(format!("ZFS with a log on {preset}: sync writers of {} KiB", bytes / KIB));
        let point = |writers: u64| {
            load(SyncWrite, bytes, 1, writers).spread_over(1024 * MIB).measuring(8 * MIB).on(&system, format!("{writers} writers"))
        };
        unit.line("writers", [1, 2, 4, 8, 16, 32].map(point));
        units.push(unit);
    }
    units
}

/// A file whose records were rewritten at random, read in order: the fewer, the faster.
fn fragmentation() -> Vec<Unit> {
    let mut units = Vec::new();
    for (disks, kib) in [1, 4].into_iter().flat_map(|disks| [8, 32, 128].map(|kib| (disks, kib))) {
        let (file, record) = (256 * MIB, kib * KIB);
        let mut unit = Unit::new(format!("ZFS on {disks} disks, records of {kib} KiB: read after random rewrites"));
        let point = |share: u64| {
            let system = json!({
                "zfs": {"era": "openzfs-2.2", "record": record, "dirty_data_max": "32MiB", "txg_timeout": "1s", "arc": {"size": "64MiB"}, "prefetch": {}},
                "layout": {"kind": "stripe", "unit": "128KiB"},
                // A buffer that does not hold the file.
                "devices": [{"preset": "hdd-7200", "count": disks, "hdd": {"buffer": "8MiB", "segments": 8}}],
            });
            let rewrites = file / record * share / 16;
            let mut point = load(Read, MIB, 1, 1).spread_over(file - MIB).on(&system, format!("{share}/16 of the records"));
            let mut read = point.document["jobs"][0].clone();
            read["filename"] = "file".into();
            if rewrites > 0 {
                read["stonewall"] = true.into();
                let rewrite = json!({
                    "name": "rewrite", "filename": "file", "size": read["size"], "rw": "randwrite", "bs": record,
                    "norandommap": true, "number_ios": rewrites,
                });
                point.document["jobs"] = json!([rewrite, read]);
            }
            point.in_flight = None;
            // All of the file once, before it is measured for the second time.
            point.effort = Effort { before: rewrites + file / MIB, measured: file / MIB };
            point
        };
        unit.line("fewer rewrites", [16, 4, 1, 0].map(point));
        units.push(unit);
    }
    units
}
