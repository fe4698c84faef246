//! What fio's job files can ask for, run on a logical unit whose times are known. Orders of requests are those that fio 3.33 wrote
//! into its I/O log for the same job.

use serde_json::{Value, json};

use crate::result::outcome::Failure;
use crate::stack::Stack;
use crate::testing::{assert_has_problem, assert_is, assert_problem, assert_within, metric, problems, run};
use seeklab_spec::Op;

/// 4 KiB take 40.96 us, one after the other.
fn on_a_unit(jobs: &Value) -> Value {
    json!({"jobs": jobs, "devices": [{"lun": {"capacity": "1GiB", "rate": "100MB", "latency": "0ms"}}]})
}

fn one(mut job: Value) -> Value {
    job["name"] = json!("a");
    if job.get("size").is_none() {
        job["size"] = json!("64KiB");
    }
    on_a_unit(&json!([job]))
}

/// Requests in order of completion: direction and place in KiB.
fn log(stack: &Stack) -> Vec<(Op, u64)> {
    let log = stack.recorder().log.as_ref().expect("the log is kept");
    log.op.iter().zip(&log.offset).map(|(op, offset)| (*op, offset / 1024)).collect()
}

fn places(job: Value) -> Vec<u64> {
    log(&run(&one(job))).into_iter().map(|(_, place)| place).collect()
}

#[test]
fn a_stride_leaves_out_its_bytes_after_each_request_and_ends_with_the_file() {
    assert_eq!(places(json!({"rw": "read", "stride": {"skip": "8KiB"}})), [0, 12, 24, 36, 48, 60]);
    let backwards = places(json!({"rw": "read", "stride": {"skip": "8KiB", "backwards": true}}));
    assert_eq!(backwards, [0, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0]);
}

#[test]
fn between_two_random_places_requests_follow_or_repeat() {
    let runs = places(json!({"rw": "randread", "random_every": 4, "size": "16MiB", "number_ios": 40}));
    assert!(runs.chunks(4).all(|run| (1u64..).zip(&run[1..]).all(|(nth, place)| *place == run[0] + 4 * nth)), "{runs:?}");
    let repeated = places(json!({"rw": "randread", "random_every": 4, "repeat_place": true, "size": "16MiB", "number_ios": 40}));
    assert!(repeated.chunks(4).all(|run| run.iter().all(|place| *place == run[0])), "{repeated:?}");
    let some = places(json!({"rw": "randread", "percentage_random": 30, "size": "256MiB", "number_ios": 4000}));
    let follow = some.windows(2).filter(|pair| pair[1] == pair[0] + 4).count();
    assert!((2700..2900).contains(&follow), "70 % of 4000 follow the one before, not {follow}");
}

#[test]
fn zones_are_visited_one_after_the_other_until_all_bytes_are_moved() {
    let zones = places(json!({"rw": "read", "size": "256KiB", "zones": {"size": "16KiB", "skip": "32KiB"}}));
    assert_eq!(zones.len(), 64, "all 256 KiB are moved");
    assert_eq!(zones[..10], [0, 4, 8, 12, 48, 52, 56, 60, 96, 100]);
    assert_eq!(zones[22..26], [248, 252, 0, 4]);
    let within = places(json!({"rw": "randread", "size": "256KiB", "zones": {"size": "8KiB", "range": "16KiB", "skip": "16KiB"}}));
    assert!((0u64..).step_by(32).zip(within.chunks(2)).take(8).all(|(start, pair)| pair.iter().all(|at| (start..start + 16).contains(at))));
}

const OF_ZONES: [&str; 3] = ["zone", "capacity", "max_open"];

/// A job over four zones of 16 KiB; `more` changes it.
fn zoned(rw: &str, more: &Value) -> Value {
    let mut job = json!({"rw": rw, "zoned": {"size": "16KiB"}});
    for (field, value) in more.as_object().expect("fields") {
        if OF_ZONES.contains(&field.as_str()) {
            job["zoned"][if field == "zone" { "size" } else { field }] = value.clone();
        } else {
            job[field] = value.clone();
        }
    }
    job
}

#[test]
fn zones_are_written_at_their_write_pointers() {
    let count = 400;
    let stack = run(&one(zoned("randwrite", &json!({"number_ios": count, "time_based": true, "runtime": "1s"}))));
    let mut pointers = [0u64; 4];
    let mut resets = 0;
    for (_, place) in log(&stack) {
        let pointer = &mut pointers[usize::try_from(place / 16).expect("small")];
        if *pointer == 16 {
            (*pointer, resets) = (0, resets + 1);
        }
        assert_eq!(place % 16, *pointer, "at the write pointer");
        *pointer += 4;
    }
    assert!(resets > count / 5, "{resets}");
    assert_is(metric(&stack, "a.zone_resets"), f64::from(resets));
}

#[test]
fn zones_in_order_are_left_where_their_capacity_ends() {
    assert_eq!(places(zoned("write", &json!({"capacity": "8KiB", "io_size": "40KiB"}))), [0, 4, 16, 20, 32, 36, 48, 52, 0, 4]);
    let whole = run(&one(zoned("write", &json!({}))));
    assert_eq!(log(&whole).iter().map(|(_, place)| *place).collect::<Vec<_>>(), (0..64).step_by(4).collect::<Vec<_>>());
    assert_eq!(whole.recorder().jobs[0].zone_resets, 0, "nothing is written twice");
}

#[test]
fn no_more_zones_are_open_than_allowed_and_workers_share_them() {
    let job = zoned("randwrite", &json!({"max_open": 2, "size": "256KiB", "number_ios": 60, "numjobs": 3, "filename": "shared"}));
    let mut written = [0u64; 16];
    for (_, place) in log(&run(&one(job))) {
        let zone = &mut written[usize::try_from(place / 16).expect("small")];
        *zone = if *zone == 16 { 4 } else { *zone + 4 };
        let open = written.iter().filter(|bytes| (1..16).contains(*bytes)).count();
        assert!(open <= 2, "{written:?}");
    }
}

#[test]
fn reads_stay_below_the_write_pointers() {
    let full = places(zoned("read", &json!({"capacity": "8KiB", "io_size": "40KiB"})));
    assert_eq!(full, [0, 4, 16, 20, 32, 36, 48, 52, 0, 4], "zones that are only read are full");
    let stack = run(&one(zoned("randrw", &json!({"size": "256KiB", "number_ios": 300, "time_based": true, "runtime": "1s"}))));
    let mut written = [0u64; 16];
    for (op, place) in log(&stack) {
        let zone = &mut written[usize::try_from(place / 16).expect("small")];
        match op {
            Op::Write => *zone = place % 16 + 4,
            _ => assert!(place % 16 < *zone, "{place} of {written:?}"),
        }
    }
    assert!(metric(&stack, "a.read_ios") > 100.0);
    let beyond = places(zoned("read", &json!({"io_size": "32KiB", "capacity": "4KiB"})));
    assert_eq!(beyond, [0, 16, 32, 48, 0, 16, 32, 48]);
}

#[test]
fn a_read_that_is_longer_than_what_is_written_is_cut_at_the_write_pointer() {
    let mix = json!({"read": [{"bs": "12KiB", "percent": 100}], "write": [{"bs": "4KiB", "percent": 100}]});
    let stack =
        run(&one(zoned("randrw", &json!({"size": "256KiB", "bssplit": mix, "number_ios": 300, "time_based": true, "runtime": "1s"}))));
    let mut written = [0u64; 16];
    let mut cut = 0;
    for ((op, place), bytes) in log(&stack).into_iter().zip(&stack.recorder().log.as_ref().expect("the log is kept").bytes) {
        let (zone, end) = (&mut written[usize::try_from(place / 16).expect("small")], place % 16 + u64::from(bytes / 1024));
        if op == Op::Write {
            *zone = end;
        } else {
            assert!(end <= *zone, "{place} of {written:?}");
            cut += u32::from(*bytes < 12 << 10);
        }
    }
    assert!(cut > 10, "{cut}");
}

#[test]
fn a_job_ends_that_has_nothing_to_read_yet() {
    let (mut reader, mut writer) = (
        zoned("read", &json!({"filename": "f", "time_based": true, "runtime": "1s"})),
        zoned("write", &json!({"filename": "f", "startdelay": "10ms"})),
    );
    (reader["name"], writer["name"]) = (json!("a"), json!("b"));
    (reader["size"], writer["size"]) = (json!("64KiB"), json!("64KiB"));
    let stack = run(&on_a_unit(&json!([reader, writer])));
    let ios = |job: usize| stack.recorder().jobs[job].by_op.iter().map(|stats| stats.ios).sum::<u64>();
    assert_eq!((ios(0), ios(1)), (0, 16));
}

#[test]
fn files_take_turns_or_follow_each_other() {
    let turns = places(json!({"rw": "read", "nrfiles": 4}));
    assert_eq!(turns[..9], [0, 16, 32, 48, 4, 20, 36, 52, 8]);
    assert_eq!(turns.len(), 16);
    let two = places(json!({"rw": "read", "nrfiles": 2, "file_service_ios": 2, "size": "32KiB"}));
    assert_eq!(two, [0, 4, 16, 20, 8, 12, 24, 28]);
    let whole = places(json!({"rw": "read", "nrfiles": 4, "file_service": "sequential"}));
    assert!((0u64..).step_by(4).zip(&whole).all(|(place, found)| place == *found), "{whole:?}");
    let mut any = places(json!({"rw": "read", "nrfiles": 4, "file_service": "random"}));
    any.sort_unstable();
    assert_eq!(any, whole, "each block once");
}

#[test]
fn sizes_have_their_shares_in_each_direction() {
    let mix = json!({"read": [{"bs": "4KiB", "percent": 25}, {"bs": "16KiB", "percent": 75}], "write": [{"bs": "8KiB", "percent": 100}]});
    let stack = run(&one(json!({"rw": "randrw", "bssplit": mix, "size": "64MiB", "norandommap": true, "number_ios": 8000})));
    // A quarter of 4 and three quarters of 16 KiB have a mean of 13 KiB.
    assert_within(metric(&stack, "a.read_bytes") / metric(&stack, "a.read_ios"), 13.0 * 1024.0, 0.02);
    assert_within(metric(&stack, "a.write_bytes") / metric(&stack, "a.write_ios"), 8.0 * 1024.0, 1e-9);
}

#[test]
fn random_requests_begin_at_multiples_of_the_alignment() {
    let places = places(json!({"rw": "randread", "bs": "512", "blockalign": "16KiB", "size": "1MiB", "number_ios": 64}));
    let mut sorted = places.clone();
    sorted.sort_unstable();
    assert!((0u64..).step_by(16).zip(&sorted).all(|(place, found)| place == *found), "each place once: {places:?}");
}

#[test]
fn what_was_written_is_read_back() {
    let written = |job: Value| log(&run(&one(job)));
    let whole = written(json!({"rw": "write", "size": "16KiB", "verify": {}}));
    let (write, read) = (Op::Write, Op::Read);
    assert_eq!(whole, [(write, 0), (write, 4), (write, 8), (write, 12), (read, 0), (read, 4), (read, 8), (read, 12)]);
    let by_two = written(json!({"rw": "write", "size": "16KiB", "verify": {"backlog": 2}}));
    assert_eq!(by_two, [(write, 0), (write, 4), (read, 0), (read, 4), (write, 8), (write, 12), (read, 8), (read, 12)]);
    let twice = written(json!({"rw": "write", "size": "8KiB", "loops": 2, "verify": {}}));
    assert_eq!(twice, [(write, 0), (write, 4), (read, 0), (read, 4), (write, 0), (write, 4), (read, 0), (read, 4)]);
    let random = written(json!({"rw": "randwrite", "norandommap": true, "verify": {}}));
    let reads: Vec<u64> = random.iter().filter(|(op, _)| *op == read).map(|(_, place)| *place).collect();
    assert!(reads.is_sorted() && reads.windows(2).all(|pair| pair[0] != pair[1]), "by place, each once: {reads:?}");
    let without = metric(&run(&one(json!({"rw": "write", "size": "16KiB"}))), "a.elapsed_s");
    let with = metric(&run(&one(json!({"rw": "write", "size": "16KiB", "verify": {}}))), "a.elapsed_s");
    assert_within(with, 2.0 * without, 1e-6);
}

#[test]
fn a_number_of_requests_is_that_of_writes_and_all_of_them_are_read_back() {
    for backlog in [None, Some(3), Some(8)] {
        for more in [json!({}), json!({"time_based": true, "runtime": "9s"}), json!({"zoned": {"size": "16KiB"}})] {
            let mut job = json!({"rw": "randwrite", "number_ios": 10, "verify": {"backlog": backlog}});
            more.as_object().expect("fields").iter().for_each(|(field, value)| job[field] = value.clone());
            let stack = run(&one(job));
            let by_op = &stack.recorder().jobs[0].by_op;
            assert_eq!([by_op[0].ios, by_op[1].ios], [10, 10], "{backlog:?} {more}");
        }
    }
}

#[test]
fn a_job_waits_for_the_one_that_it_names_and_not_for_others() {
    let stack = run(&on_a_unit(&json!([
        {"name": "short", "rw": "read", "size": "1MiB", "null": "1us"},
        {"name": "long", "rw": "read", "size": "1MiB", "rate_iops": 100.0},
        {"name": "next", "rw": "read", "size": "1MiB", "wait_for": "short", "null": "1us"},
    ])));
    // 256 requests of 1 us each, one after the other; then as many again.
    let ends = |job: usize| stack.recorder().jobs[job].end_ns;
    assert_eq!((ends(0), ends(2)), (256_000, 512_000));
    assert!(ends(1) > 2_000_000_000);
}

#[test]
fn a_job_that_ends_can_stop_all_its_group_or_what_runs() {
    let ios = |what: &str, group: u32| {
        let stack = run(&on_a_unit(&json!([
            {"name": "first", "rw": "read", "size": "1MiB", "number_ios": 10, "exitall": true, "exit_what": what, "group": 1},
            {"name": "other", "rw": "read", "size": "1MiB", "group": group},
            {"name": "later", "rw": "read", "size": "1MiB", "stonewall": true},
        ])));
        [1, 2].map(|job| stack.recorder().jobs[job].by_op[0].ios)
    };
    assert_eq!(ios("group", 1), [10, 256]);
    assert_eq!(ios("group", 2), [256, 256]);
    assert_eq!(ios("stonewall", 2), [10, 256]);
    assert_eq!(ios("all", 2), [10, 0]);
}

#[test]
fn workers_of_a_flow_issue_by_their_weights() {
    let job = |name: &str, weight: u32| json!({"name": name, "rw": "randread", "size": "64MiB", "runtime": "1s", "time_based": true, "iodepth": 4, "flow": {"weight": weight}});
    let stack = run(&on_a_unit(&json!([job("one", 1), job("eight", 8)])));
    assert_within(metric(&stack, "eight.read_ios") / metric(&stack, "one.read_ios"), 8.0, 0.01);
    let alone = run(&on_a_unit(&json!([job("one", 1)])));
    assert_within(metric(&alone, "one.read_iops"), 100e6 / 4096.0, 0.01);
}

#[test]
fn a_full_queue_is_refilled_only_when_it_has_drained_to_the_mark() {
    let mean = |low: Option<u32>| {
        let mut job = json!({"rw": "randread", "iodepth": 8, "size": "64MiB", "number_ios": 8000});
        if let Some(low) = low {
            job["iodepth_low"] = json!(low);
        }
        metric(&run(&one(job)), "a.read_in_flight_mean")
    };
    // One server: 8, 7, .. 1 in flight for equal times have a mean of 4.5; from 8 down to 5 one of 6.5.
    assert_within(mean(None), 8.0, 0.01);
    assert_within(mean(Some(0)), 4.5, 0.01);
    assert_within(mean(Some(4)), 6.5, 0.01);
    let stack = run(&one(json!({"rw": "randread", "iodepth": 8, "iodepth_batch_complete": 4, "size": "64MiB", "number_ios": 8000})));
    assert_within(metric(&stack, "a.read_in_flight_mean"), 6.5, 0.01);
}

#[test]
fn a_pause_begins_when_nothing_is_in_flight_any_more() {
    let elapsed = |more: Value| {
        let mut job =
            json!({"rw": "randread", "iodepth": 4, "size": "64MiB", "number_ios": 400, "thinktime": "1ms", "thinktime_blocks": 4});
        more.as_object().expect("fields").iter().for_each(|(field, value)| job[field] = value.clone());
        metric(&run(&one(job)), "a.elapsed_s")
    };
    // 100 rounds of four requests of 40.96 us and 99 pauses.
    assert_within(elapsed(json!({"thinktime_by": "issue"})), 0.099 + 400.0 * 40.96e-6, 0.002);
    // A pause after each 10 ms of work: 16.4 ms of work have one.
    assert_within(elapsed(json!({"thinktime_iotime": "10ms"})), 0.001 + 400.0 * 40.96e-6, 0.02);
}

#[test]
fn each_direction_has_its_rate() {
    let limits = json!({"read_iops": 300.0, "write": "400KiB"});
    let stack = run(&one(json!({"rw": "randrw", "size": "64MiB", "runtime": "2s", "time_based": true, "iodepth": 8, "rate_each": limits})));
    assert_within(metric(&stack, "a.read_iops"), 300.0, 0.01);
    assert_within(metric(&stack, "a.write_iops"), 100.0, 0.01);
}

#[test]
fn a_job_slower_than_its_least_rate_fails_after_the_time_to_settle_and_a_cycle() {
    let job = |least: u64| json!({"rw": "read", "size": "64MiB", "runtime": "9s", "time_based": true, "rate_iops": 500.0, "rate_min": {"iops": least}});
    let slow = run(&one(job(600)));
    assert_eq!(slow.recorder().jobs[0].error.map(Failure::errno), Some(5));
    assert_within(metric(&slow, "a.elapsed_s"), 3.0, 0.01);
    let quick = run(&one(job(400)));
    assert_eq!(quick.recorder().jobs[0].error, None);
    let late = run(&one(json!({"rw": "read", "iodepth": 8, "max_latency": "200us"})));
    assert_eq!(late.recorder().jobs[0].error.map(Failure::errno), Some(110));
}

#[test]
fn a_target_of_latency_finds_the_depth_that_meets_it() {
    let target = json!({"target": "250us", "window": "50ms", "percent": 100});
    let stack = run(&one(
        json!({"rw": "randread", "size": "64MiB", "iodepth": 64, "latency_target": target, "runtime": "60s", "time_based": true}),
    ));
    // Six requests of 40.96 us wait 245.8 us, seven 286.7 us.
    assert_is(metric(&stack, "a.latency_depth"), 6.0);
    assert!(metric(&stack, "a.elapsed_s") < 2.0, "the job ends when it has found it");
}

#[test]
fn requests_in_flight_at_the_end_of_the_ramp_count_when_they_complete() {
    let job = |more: Value| {
        let mut job = json!({"rw": "randread", "size": "64MiB", "iodepth": 256, "runtime": "30ms", "time_based": true});
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run(&one(job))
    };
    // The unit completes one request every 40.96 us, from 15 to 45 ms and then the 256 in flight: 30 ms and 10.5 ms of them.
    let stack = job(json!({"ramp_time": "15ms"}));
    assert_within(metric(&stack, "a.elapsed_s"), 0.040_486, 0.001);
    assert_within(metric(&stack, "a.read_ios"), 988.0, 0.002);
    assert_within(metric(&stack, "a.read_mb_per_s"), 100.0, 0.002);
    // Each waits for 255 others, also those that were issued before the ramp ended.
    assert_within(metric(&stack, "a.read_latency_max_ms"), 10.486, 0.001);
    assert_within(metric(&stack, "a.read_latency_mean_ms"), 10.486, 0.001);
    // 256 are in flight for 30 ms, half as many while the queue drains.
    assert_within(metric(&stack, "a.read_in_flight_mean"), (256.0 * 30.0 + 128.0 * 10.486) / 40.486, 0.01);
    // One that completes at the end of the ramp does not count: 30 ms hold as many as without a ramp.
    let alone = |ramp_us: u64| metric(&job(json!({"iodepth": 1, "ramp_time": format!("{ramp_us}us"), "runtime": "40960us"})), "a.read_ios");
    assert_is(alone(4096), alone(0));
    assert_is(alone(0), 1000.0);
}

#[test]
fn a_flow_counts_from_the_end_of_the_ramp() {
    let scenario = |ramp: &str| {
        json!({"jobs": [{"name": "a", "rw": "randread", "bs": "16KiB", "size": "1GiB", "norandommap": true, "iodepth": 4,
                   "time_based": true, "runtime": "10s", "ramp_time": ramp, "fluid": true}],
               "devices": [{"lun": {"rate": "1GB", "latency": "1ms", "credits": {"base": 1000, "burst": 1000}}}],
               "record": {"log": false, "interval": "4s"}})
    };
    // 1000 I/Os a second; the ramp ends within a row of the series.
    for ramp in ["0s", "4s", "5s"] {
        let stack = run(&scenario(ramp));
        let (ios, elapsed_s) = (metric(&stack, "a.read_ios"), metric(&stack, "a.elapsed_s"));
        assert!((ios - 1000.0 * elapsed_s).abs() < 3.0, "{ios} in {elapsed_s} s after {ramp}");
    }
}

#[test]
fn a_steady_job_ends_when_its_window_is_full() {
    let steady = json!({"of": "iops", "percent": 1, "duration": "3s", "ramp": "1s"});
    let stack = run(&one(json!({"rw": "randread", "size": "64MiB", "runtime": "60s", "time_based": true, "steadystate": steady})));
    assert_within(metric(&stack, "a.elapsed_s"), 4.0, 0.01);
    assert_is(metric(&stack, "a.steady"), 1.0);
}

#[test]
fn a_flush_at_the_end_waits_for_the_volatile_cache() {
    let job = |end_fsync: bool| {
        json!({"jobs": [{"name": "a", "rw": "randwrite", "size": "1GiB", "number_ios": 200, "end_fsync": end_fsync}],
               "devices": [{"hdd": {"rpm": 7200, "capacity": "1TB", "heads": 4, "zones": 8, "outer_rate": "150MB", "inner_rate": "75MB",
                   "seek_single": "0.8ms", "seek_average": "8.5ms", "seek_full": "17ms", "head_switch": "0.8ms", "write_settle": "1ms",
                   "overhead": "200us", "interface_rate": "550MB", "buffer": "64MB", "segments": 16, "read_ahead": "1MiB",
                   "write_cache": true, "queue_policy": "satf", "queue_depth": 32}}]})
    };
    let (with, without) = (run(&job(true)), run(&job(false)));
    let ends = |stack: &Stack| stack.recorder().jobs[0].end_ns;
    // Two hundred writes of about 4 ms each in the best order are still in the buffer when the last is acknowledged.
    assert!(ends(&with) > ends(&without) + 200_000_000, "{} {}", ends(&with), ends(&without));
    assert_eq!(with.recorder().jobs[0].by_op[1].ios, 200, "the flush is no write");
}

#[test]
fn operations_are_shared_out_among_the_starts_of_jobs() {
    let mut scenario = on_a_unit(&json!([
        {"name": "a", "rw": "read", "size": "1MiB", "time_based": true, "runtime": "1000s"},
        {"name": "b", "rw": "read", "size": "64KiB", "stonewall": true},
    ]));
    scenario["limits"] = json!({"operations": 2000});
    let stack = run(&scenario);
    let jobs = &stack.recorder().jobs;
    assert_eq!((jobs[0].by_op[0].ios, jobs[1].by_op[0].ios), (1000, 16));
    assert_eq!((jobs[0].is_limited, jobs[1].is_limited), (true, false));
}

#[test]
fn jobs_agree_on_the_zones_of_a_drive_and_no_more_parts_are_written_than_zones_may_be_open() {
    let part = |name: &str, offset: &str, most: u32| {
        let mut job = zoned("write", &json!({"filename": "f", "offset": offset, "size": "32KiB", "max_open": most}));
        job["name"] = json!(name);
        job
    };
    let of = |first: u32, second: u32| problems(&on_a_unit(&json!([part("a", "0", first), part("b", "32KiB", second)])));
    assert_eq!(of(2, 2), [""; 0]);
    assert_problem(&of(2, 3)[0], "jobs[1].zoned: \"a\", max_open");
    assert_problem(&of(1, 1)[0], "jobs[1].zoned.max_open: 2, 1");
}

#[test]
fn contradictions_are_told_with_the_field_and_what_is_accepted() {
    for (job, expected) in [
        (json!({"bssplit": {"read": [{"bs": "4KiB", "percent": 50}]}}), "jobs[0].bssplit.read: 50%, 100%"),
        (json!({"rw": "randread", "stride": {"skip": "8KiB"}}), "jobs[0].stride: rw, random_every"),
        (json!({"rw": "read", "random_every": 4}), "jobs[0].random_every: rw"),
        (json!({"rw": "read", "verify": {}}), "jobs[0].verify: rw"),
        (zoned("write", &json!({"zone": "2KiB"})), "jobs[0].zoned.size"),
        (zoned("write", &json!({"bs": "32KiB"})), "jobs[0].zoned.size: 16 KiB, 32 KiB"),
        (zoned("write", &json!({"capacity": "32KiB"})), "jobs[0].zoned.capacity: 32 KiB, 16 KiB"),
        (zoned("write", &json!({"nrfiles": 2})), "jobs[0].zoned: nrfiles"),
        (zoned("trim", &json!({})), "jobs[0].zoned: rw"),
        (zoned("write", &json!({"offset": "4KiB", "size": "24KiB"})), "jobs[0].zoned.size: 16 KiB, 24 KiB"),
        (json!({"rw": "read", "wait_for": "b"}), "jobs[0].wait_for: \"b\", stonewall"),
        (json!({"rw": "read", "iodepth_low": 2}), "jobs[0].iodepth_low: 2, iodepth, 1"),
        (json!({"rw": "read", "rate_each": {"read": "1MiB"}}), "jobs[0].rate_each: rate, rate_iops"),
        (json!({"rw": "read", "random_distribution": "zoned:50/5:30/15"}), "jobs[0].random_distribution: \"zoned:50/5:30/15\""),
    ] {
        assert_has_problem(&problems(&one(job)), expected);
    }
}
