//! A disk under streams, deep queues and its write cache.

use serde_json::{Value, json};

use super::durable_tests::{merge, scenario};
use crate::result::columns::Column;
use crate::testing::{metric, run};

/// MiB a second of so many jobs.
fn streams(policy: &str, write: bool, jobs: u32, depth: u32, disk: &Value) -> f64 {
    let mut sheet = json!({"queue_policy": policy});
    merge(&mut sheet, disk);
    let rw = if write { "write" } else { "read" };
    let job = json!({"rw": rw, "bs": "128KiB", "size": "8GiB", "iodepth": depth, "numjobs": jobs, "runtime": "4s"});
    metric(&run(&scenario(&job, &sheet, &json!({}))), "rate_mib_per_s")
}

const ORDERS: [&str; 5] = ["fcfs", "sstf", "scan", "c-look", "satf"];

#[test]
fn one_sequential_stream_keeps_its_rate_at_every_depth_under_every_order() {
    for order in ORDERS {
        let alone = streams(order, false, 1, 1, &json!({}));
        assert!(alone > 160.0, "{order}: {alone}"); // 175 MB/s
        for depth in [2, 4, 8, 32] {
            let deep = streams(order, false, 1, depth, &json!({}));
            assert!(deep > 0.95 * alone, "{order} at {depth}: {deep} against {alone}");
        }
    }
}

#[test]
fn a_stream_of_more_bytes_than_a_segment_keeps_its_rate_under_every_order() {
    // Segments of 2 MB and of 256 KiB; without a write cache, writes pass through the queue as reads do.
    let parts = [json!({"buffer": "32MB", "segments": 16}), json!({"buffer": "32MiB", "segments": 128})];
    for (order, sheet) in ORDERS.iter().flat_map(|order| parts.iter().map(move |sheet| (order, sheet))) {
        for rw in ["read", "write"] {
            let rate = |bs: &str, depth: u32| {
                let mut sheet = sheet.clone();
                merge(&mut sheet, &json!({"queue_policy": order, "write_cache": false}));
                let job = json!({"rw": rw, "bs": bs, "size": "8GiB", "iodepth": depth, "runtime": "2s"});
                metric(&run(&scenario(&job, &sheet, &json!({}))), "rate_mib_per_s")
            };
            for (bs, depth) in [("128KiB", 32), ("512KiB", 8), ("1MiB", 8), ("1MiB", 64), ("8MiB", 4)] {
                // Alone, a write without a cache waits for a turn; two in flight do not.
                let (alone, deep) = (rate(bs, 1).max(rate(bs, 2)), rate(bs, depth));
                assert!(deep > 0.95 * alone, "{order}, {sheet}: {rw} of {bs} at {depth}: {deep} against {alone}");
            }
        }
    }
}

#[test]
fn streams_of_one_request_at_a_time_take_turns() {
    // Without read-ahead and write cache each request waits for the platter, and the drive chooses which is first.
    let rate = |order: &str, rw: &str, jobs: u32| {
        let sheet = json!({
            "queue_policy": order, "read_ahead": 0, "write_cache": false, "capacity": "10TB", "heads": 14, "outer_rate": "249MB",
            "inner_rate": "125MB", "interface_rate": "1100MB", "buffer": "256MB", "segments": 32, "queue_depth": 32,
        });
        let job = json!({"rw": rw, "bs": "128KiB", "size": "1025MiB", "numjobs": jobs, "runtime": "4s"});
        metric(&run(&scenario(&job, &sheet, &json!({}))), "rate_mib_per_s")
    };
    for (rw, jobs) in ["read", "write"].into_iter().flat_map(|rw| (2..=8).map(move |jobs| (rw, jobs))) {
        let [arrival, own] = ["fcfs", "satf"].map(|order| rate(order, rw, jobs));
        assert!(own > 0.95 * arrival, "{jobs} streams, {rw}: {own} against {arrival} MiB/s");
    }
}

#[test]
fn a_further_stream_costs_seeks_and_the_drives_order_is_no_worse_than_that_of_arrival() {
    for depth in [1, 4] {
        let rates = |order: &str| -> Vec<f64> { (1..=8).map(|jobs| streams(order, false, jobs, depth, &json!({}))).collect() };
        let fcfs = rates("fcfs");
        for order in ORDERS {
            let found = rates(order);
            eprintln!("{order} at depth {depth}, 1 to 8 streams: {found:.0?} MiB/s");
            for (streams, pair) in found.windows(2).enumerate() {
                assert!(pair[1] < 1.05 * pair[0], "{order} at {depth}, {} streams: {found:?}", streams + 2);
            }
            if order == "satf" {
                assert!(found.iter().zip(&fcfs).all(|(found, fcfs)| *found > 0.98 * fcfs), "{found:?} against {fcfs:?}");
            }
        }
    }
}

/// Random reads a second over the whole stroke.
fn random_reads(order: &str, depth: u32) -> f64 {
    let job = json!({"rw": "randread", "size": "3.9TB", "iodepth": depth, "runtime": "20s"});
    metric(&run(&scenario(&job, &json!({"queue_policy": order}), &json!({}))), "w.read_iops")
}

#[test]
fn a_lone_random_read_waits_half_a_turn_for_the_platter_and_its_command_costs_the_overhead() {
    let job = json!({"rw": "randread", "bs": "4KiB", "size": "100%", "norandommap": true, "number_ios": 2000});
    let stack = run(&scenario(&job, &json!({"queue_policy": "satf"}), &json!({})));
    let [overhead, rotation] = ["overhead", "rotation"].map(|phase| metric(&stack, &format!("w.read_{phase}_mean_ms")));
    assert!((overhead - 0.2).abs() < 1e-6, "{overhead} ms");
    assert!((rotation / 4.167 - 1.0).abs() < 0.03, "{rotation} ms"); // 60 s / 7200 / 2
}

#[test]
fn a_deeper_queue_overlaps_commands_and_lets_the_arm_choose() {
    // 1 / (0.2 + 8.5 + 4.17 ms) = 78; a second request's command and transfer are over when the arm is free.
    let depths = [1, 2, 4, 32].map(|depth| random_reads("satf", depth));
    assert!((75.0..83.0).contains(&depths[0]) && depths[1] > 1.01 * depths[0] && depths[2] > depths[1], "{depths:?}");
    assert!(depths[3] > 2.5 * depths[0], "{depths:?}");
    let in_order = random_reads("fcfs", 32);
    assert!(in_order < 1.05 * depths[0], "{in_order}");
}

#[test]
fn a_drive_that_plans_ahead_passes_over_few_and_gains_less_by_depth() {
    let at = |planned: u32, depth: u32| {
        let job = json!({"rw": "randread", "size": "3.9TB", "iodepth": depth, "runtime": "40s"});
        let stack = run(&scenario(&job, &json!({"queue_policy": "sstf", "queue_planned": planned}), &json!({})));
        let [mean, p99] = ["mean", "p99"].map(|what| metric(&stack, &format!("w.read_latency_{what}_ms")));
        (metric(&stack, "w.read_iops"), p99 / mean)
    };
    // Eight at a time are in order of arrival: as many a second as one at a time, and hardly one waits longer than another.
    let (alone, eight) = (at(7, 1), at(7, 8));
    assert!((0.98..1.06).contains(&(eight.0 / alone.0)) && eight.1 < 1.5, "{alone:?} {eight:?}");
    assert!(at(0, 8).1 > 2.0 && at(0, 8).0 > 1.3 * alone.0);
    // Of more, the drive chooses from the rest.
    let (deep, of_all) = (at(7, 32), at(0, 32));
    assert!(deep.0 > 1.5 * alone.0 && deep.0 < of_all.0 && deep.1 > 2.0, "{deep:?} {of_all:?}");
}

#[test]
fn one_sequential_stream_keeps_its_rate_where_the_drive_plans_ahead() {
    for order in ORDERS {
        for depth in [8, 32] {
            let [all, planned] = [0, 7].map(|planned| streams(order, false, 1, depth, &json!({"queue_planned": planned})));
            assert!(planned > 0.95 * all, "{order} at {depth}: {planned} against {all}");
        }
    }
}

#[test]
fn random_writes_through_a_small_destage_pool_run_at_one_rate_at_every_depth() {
    let rate = |pool: u32, policy: &str, depth: u32| {
        let job = json!({"rw": "randwrite", "size": "3.9TB", "iodepth": depth, "ramp_time": "5s", "runtime": "20s"});
        let sheet = json!({"destage_pool": pool, "destage_policy": policy});
        metric(&run(&scenario(&job, &sheet, &json!({}))), "w.write_iops")
    };
    let rates = [1, 4, 32].map(|depth| rate(64, "c-look", depth));
    assert!(rates.iter().all(|found| (found / rates[0] - 1.0).abs() < 0.03), "{rates:?}");
    let small = rate(8, "c-look", 1);
    assert!(rates[0] > 1.25 * small, "a larger pool is sorted better: {} against {small}", rates[0]);
    // 1 / (8.5 + 1 + 4.17 ms): the command overlaps.
    let in_order = rate(64, "fcfs", 32);
    assert!((70.0..76.0).contains(&in_order), "{in_order}");
}

#[test]
fn sequential_writers_need_no_destage_pool() {
    for writers in [1, 4] {
        let [small, large] = [4, 512].map(|pool| {
            let job = json!({"rw": "write", "bs": "64KiB", "size": "8GiB", "numjobs": writers, "runtime": "5s"});
            metric(&run(&scenario(&job, &json!({"destage_pool": pool}), &json!({}))), "rate_mib_per_s")
        });
        assert!(small > 0.9 * large, "{writers}: {small} against {large}");
    }
}

#[test]
fn sequential_writes_without_a_cache_run_at_the_media_rate_whatever_the_overhead_once_two_wait() {
    let array = |overhead: &str| {
        json!({"capacity": "10TB", "heads": 14, "outer_rate": "249MB", "inner_rate": "125MB", "interface_rate": "1100MB",
               "buffer": "256MB", "read_ahead": 0, "write_cache": false, "overhead": overhead})
    };
    let overheads = ["0s", "10us", "50us", "200us", "400us", "600us", "1ms"];
    for depth in [1, 2, 4, 32] {
        let rates = overheads.map(|overhead| streams("satf", true, 1, depth, &array(overhead)));
        eprintln!("depth {depth}, by overhead: {rates:.0?} MiB/s");
        assert!(rates.windows(2).all(|pair| pair[1] < 1.05 * pair[0]), "{depth}: {rates:?}");
        // 128 KiB take 0.53 ms on the media: up to there the next command is ready in time. Alone each write waits for a turn.
        assert!(rates[..5].iter().all(|rate| if depth == 1 { *rate < 16.0 } else { *rate > 0.95 * 237.0 }), "{depth}: {rates:?}");
    }
}

#[test]
fn several_writers_share_a_write_cache_of_many_extents() {
    let rate = |writers: u32, cache: bool| {
        let job = json!({"rw": "write", "bs": "64KiB", "size": "8GiB", "numjobs": writers, "runtime": "10s"});
        metric(&run(&scenario(&job, &json!({"write_cache": cache}), &json!({}))), "rate_mib_per_s")
    };
    let one = rate(1, true);
    assert!((160.0..180.0).contains(&one), "{one}"); // the media rate of 167, and what is still in the cache after ten seconds
    for writers in [2, 4, 8] {
        let found = rate(writers, true);
        assert!((0.8 * one..1.05 * one).contains(&found), "{writers}: {found} against {one}");
    }
    assert!(rate(2, false) < 0.1 * one, "without a cache each write costs a turn or a seek");
}

#[test]
fn random_writes_below_the_destage_rate_cost_command_and_bus_alone() {
    let run_at = |rate: u32, cache: bool| {
        let job = json!({"rw": "randwrite", "size": "3.9TB", "rate_iops": rate, "iodepth": 32, "runtime": "20s"});
        run(&scenario(&job, &json!({"write_cache": cache}), &json!({})))
    };
    for rate in [30, 60, 120, 200] {
        let stack = run_at(rate, true);
        // 0.2 ms and 4 KiB at 550 MB/s.
        assert!((metric(&stack, "w.write_latency_mean_ms") - 0.2074).abs() < 0.002, "{rate}");
        assert!(metric(&stack, "unsafe_max_bytes") >= 4096.0);
    }
    assert!(metric(&run_at(60, false), "w.write_latency_mean_ms") > 13.0);
    let most = run_at(1000, true);
    let found = metric(&most, "w.write_iops");
    assert!((280.0..450.0).contains(&found), "{found}");
    assert!(found > 1.3 * metric(&run_at(1000, false), "w.write_iops"), "the cache reorders more than the queue does");
}

#[test]
fn a_write_cache_holds_no_more_than_its_room_and_a_flush_empties_it() {
    let job = json!({"rw": "write", "bs": "1MiB", "size": "2GiB", "iodepth": 8});
    let small = json!({"buffer": "8MiB"});
    let stack = run(&scenario(&job, &small, &json!({})));
    let most = metric(&stack, "unsafe_max_bytes");
    assert!((2.0..=4.0).contains(&(most / f64::from(1 << 20))), "half of the buffer at most: {most}");
    assert!(metric(&stack, "unsafe_device_max_bytes") > 0.0);
    let protected = json!({"buffer": "8MiB", "write_cache_is": "protected"});
    let kept = run(&scenario(&job, &protected, &json!({})));
    assert!(metric(&kept, "unsafe_max_bytes") < 1.0, "what survives is not unsafe");
    let flushed = json!({"rw": "randwrite", "bs": "4KiB", "size": "2GiB", "iodepth": 1, "fsync": 16});
    let flushing = run(&scenario(&flushed, &json!({}), &json!({})));
    assert!(metric(&flushing, "unsafe_max_bytes") <= 16.0 * 4096.0, "a flush leaves nothing behind");
}

#[test]
fn a_cache_that_cannot_be_flushed_stays_unsafe() {
    let zfs = json!({"zfs": {"record": "128KiB", "era": "openzfs-2.2"}});
    let job = json!({"rw": "randwrite", "bs": "128KiB", "size": "1GiB", "runtime": "8s"});
    let unsafe_device = |cache: &str| {
        let stack = run(&scenario(&job, &json!({"write_cache_is": cache}), &zfs));
        (stack.usage()[0].flushes, metric(&stack, "unsafe_max_bytes"))
    };
    let (volatile, unflushable, protected) = (unsafe_device("volatile"), unsafe_device("unflushable"), unsafe_device("protected"));
    assert!(volatile.0 > 0 && unflushable.0 > 0, "ZFS flushes both: {volatile:?} {unflushable:?}");
    assert_eq!(protected.0, 0, "a cache that survives needs no FLUSH");
    assert!(volatile.1 > 1e8 && protected.1 > 1e8, "dirty data of ZFS are unsafe anyhow: {volatile:?} {protected:?}");
}

#[test]
fn the_cache_is_empty_in_the_end_whatever_else_the_arm_was_woken_for() {
    // Pauses around the idle time, so that a write or a timer comes while a piece is being written.
    for pause in ["3ms", "9ms", "11ms", "14ms", "20ms"] {
        let job = json!({"rw": "randrw", "rwmixread": 30, "size": "64GiB", "thinktime": pause, "runtime": "3s"});
        let stack = run(&scenario(&job, &json!({}), &json!({})));
        assert_eq!(stack.unsafe_bytes_now(), 0, "{pause}");
        let job = json!({"rw": "randwrite", "size": "64GiB", "thinktime": pause, "fsync": 4, "runtime": "3s"});
        assert_eq!(run(&scenario(&job, &json!({}), &json!({}))).unsafe_bytes_now(), 0, "{pause}");
    }
}

/// Random reads of 4 KiB a second of a file, once the drive has read it for a while.
fn small_file(mebibytes: u32, depth: u32, sheet: &Value) -> f64 {
    let job = json!({"rw": "randread", "size": format!("{mebibytes}MiB"), "norandommap": true, "iodepth": depth, "ramp_time": "4s", "runtime": "2s"});
    metric(&run(&scenario(&job, sheet, &json!({}))), "w.read_iops")
}

#[test]
fn a_file_that_fits_into_the_buffer_is_read_from_it_at_every_depth() {
    // A command every 0.2 ms: 5,000 reads a second; alone, 7.4 us of the bus come after it.
    for mebibytes in [4, 16, 64] {
        let depths = [1, 2, 4, 8, 16, 32].map(|depth| small_file(mebibytes, depth, &json!({})));
        assert!((4780.0..4830.0).contains(&depths[0]), "{mebibytes} MiB: {depths:?}");
        assert!(depths[1..].iter().all(|rate| (4900.0..=5001.0).contains(rate)), "{mebibytes} MiB: {depths:?}");
    }
    // In 32 equal parts of 4 MB that hold a few pages each, half of the buffer does not hold 64 MiB.
    let equal = json!({"adaptive_segments": false});
    assert!(small_file(64, 1, &equal) < 400.0 && small_file(64, 16, &equal) < 1000.0);
}

#[test]
fn a_file_beyond_the_buffer_gains_by_depth_and_by_what_the_buffer_holds_of_it() {
    for mebibytes in [256, 1024] {
        let rates = [true, false].map(|adaptive| {
            let rates = [1, 4, 16, 32].map(|depth| small_file(mebibytes, depth, &json!({"adaptive_segments": adaptive})));
            assert!(rates.windows(2).all(|pair| pair[1] > 1.05 * pair[0]), "{mebibytes} MiB: {rates:?}");
            rates
        });
        eprintln!("{mebibytes} MiB: {rates:.0?}");
        assert!(rates[0].iter().zip(&rates[1]).all(|(needed, equal)| *needed > 0.97 * equal), "{rates:?}");
    }
}

#[test]
fn what_a_power_failure_would_lose_is_kept_over_time() {
    // Writes of 64 KiB at 1 MiB a second for a second, then silence: the drive empties its cache while it is idle.
    let job = json!({"rw": "randwrite", "bs": "64KiB", "size": "64GiB", "rate_iops": 16, "runtime": "1s", "time_based": true});
    let stack = run(&scenario(&job, &json!({}), &json!({"record": {"interval": "100ms"}})));
    let column = |name: &str| match stack.column(&format!("unsafe.{name}")) {
        Some(Column::F64(values)) => values,
        other => panic!("{name}: {other:?}"),
    };
    let (time, most, device) = (column("time_ns"), column("most_bytes"), column("device_bytes"));
    assert!(time.windows(2).all(|pair| (pair[1] - pair[0] - 1e8).abs() < 1.0), "{time:?}");
    let of_all = most.iter().copied().fold(0.0, f64::max);
    assert!((of_all - metric(&stack, "unsafe_max_bytes")).abs() < 1.0 && of_all >= 65_536.0, "{most:?}");
    assert!(device.iter().zip(&most).all(|(end, most)| end <= most), "{device:?} {most:?}");
    assert!(device.last().is_some_and(|end| *end < 1.0), "all is on the media in the end: {device:?}");
    assert!(column("client_bytes").iter().chain(&column("file_system_bytes")).all(|bytes| *bytes < 1.0));
    let protected = run(&scenario(&job, &json!({"write_cache_is": "protected"}), &json!({})));
    assert_eq!(protected.column("unsafe.most_bytes"), Some(Column::F64(Vec::new())), "what survives is never unsafe");
}
