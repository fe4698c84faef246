use crate::kernel::Phase;
use crate::result::limiter::Limiter;
use crate::testing::{assert_has_problem, assert_is, assert_within, metric, problems, run};
use serde_json::{Value, json};

/// Jobs on one client over a fast network with a round trip of 100 us; the server answers in 50 us.
fn system(jobs: &Value, nfs: &Value) -> Value {
    json!({"jobs": jobs, "nfs": nfs,
        "network": {"bits_per_s": 10_000_000_000u64, "round_trip": "100us", "clients": "one", "header": 0},
        "devices": [{"lun": {"rate": 1_000_000_000_000u64, "latency": "50us"}}]})
}

/// A client whose processors cost nothing.
fn idle(fields: &Value) -> Value {
    let mut nfs = json!({"per_call": 0, "per_byte": 0, "per_putc": 0, "per_getc": 0, "per_operation": 0, "per_wire_byte": 0});
    for (name, value) in fields.as_object().expect("an object") {
        nfs[name] = value.clone();
    }
    nfs
}

#[test]
fn small_calls_make_one_operation_for_each_transfer() {
    let jobs = json!([{"name": "w", "rw": "write", "bs": "8KiB", "size": "1MiB"}, {"name": "r", "rw": "read", "bs": "8KiB", "size": "1MiB", "stonewall": true}]);
    let stack = run(&system(&jobs, &idle(&json!({}))));
    assert_is(metric(&stack, "network.to_server_messages"), 64.0);
    assert_is(metric(&stack, "network.to_server_payload_bytes"), f64::from(1 << 20));
    assert_is(metric(&stack, "network.to_client_payload_bytes"), f64::from(1 << 20));
    // 128 calls each, 32 operations.
    assert_is(metric(&stack, "r.read_ios"), 128.0);
}

#[test]
fn what_was_read_or_written_whole_is_read_from_memory_as_far_as_it_fits() {
    let again = |cache: &str| {
        let read = |name: &str| json!({"name": name, "rw": "read", "bs": "8KiB", "size": "1MiB", "filename": "f", "stonewall": true});
        let write = json!({"name": "w", "rw": "write", "bs": "8KiB", "size": "1MiB", "filename": "f"});
        let stack = run(&system(&json!([write, read("a"), read("b")]), &idle(&json!({"cache": cache}))));
        metric(&stack, "network.to_client_payload_bytes") / f64::from(1 << 20)
    };
    assert_is(again("1MiB"), 0.0);
    // Least recently used, and read in a circle: nothing is left when its turn comes.
    assert_is(again("512KiB"), 2.0);
}

#[test]
fn a_reader_in_sequence_is_kept_ahead_and_one_at_random_is_not() {
    let rate = |rw: &str, ahead: u32| {
        let job = json!([{"name": "r", "rw": rw, "bs": "32KiB", "size": "16MiB"}]);
        metric(&run(&system(&job, &idle(&json!({"read_ahead": ahead, "cache": "1MiB"})))), "r.read_mib_per_s")
    };
    let alone = rate("read", 0);
    // 26 us of wire, 150 us of way and server: five on the way do five times as much.
    assert_within(alone, 0.03125 / 176e-6, 0.04);
    assert_within(rate("read", 4) / alone, 5.0, 0.06);
    assert_within(rate("randread", 4) / alone, 1.0, 0.02);
}

#[test]
fn writers_wait_once_as_much_is_dirty_as_may_be() {
    let waits = |dirty: &str| {
        let job = json!([{"name": "w", "rw": "write", "bs": "8KiB", "size": "8MiB"}]);
        let stack = run(&system(&job, &idle(&json!({"dirty": dirty, "threads": 1}))));
        let row = &stack.recorder().jobs[0].by_op[1];
        (row.phases[Phase::InFlight as usize], row.total_ns)
    };
    assert_eq!(waits("8MiB"), (0, 0));
    let (waited_ns, total_ns) = waits("1MiB");
    assert_eq!(waited_ns, total_ns);
    #[allow(clippy::cast_precision_loss)]
    let found_ns = waited_ns as f64;
    // One thread takes 32 KiB in about 176 us; all but the last 1 MiB of the 8 is waited for.
    assert_within(found_ns, f64::from((8 - 1) * 32) * 176e3, 0.04);
}

#[test]
fn threads_write_side_by_side() {
    let rate = |threads: u32| {
        let job = json!([{"name": "w", "rw": "write", "bs": "8KiB", "size": "16MiB"}]);
        metric(&run(&system(&job, &idle(&json!({"threads": threads, "dirty": "1MiB"})))), "w.write_mib_per_s")
    };
    assert_within(rate(4) / rate(1), 4.0, 0.06);
}

#[test]
fn a_flush_waits_for_all_that_was_written_before() {
    let run_with = |fsync: u32| {
        let job = json!([{"name": "w", "rw": "write", "bs": "8KiB", "size": "1MiB", "fsync": fsync}]);
        run(&system(&job, &idle(&json!({"dirty": "8MiB"}))))
    };
    let stack = run_with(128);
    // Only the last of 128 writes waits, first for the others, then for itself.
    let row = &stack.recorder().jobs[0].by_op[1];
    assert!(row.phases[Phase::InFlight as usize] > 0);
    assert_eq!(row.latency.value_at_percentile(99.0), 0);
    assert!(row.max_ns > 2 * 150_000, "{}", row.max_ns);
    // Flushed one by one, each write takes its own round trip.
    let each = run_with(1);
    assert!(each.recorder().jobs[0].by_op[1].min_ns > 150_000);
}

#[test]
fn a_file_is_created_in_so_many_round_trips_and_one_commit() {
    let files = 16.0;
    let job = |call: &str, rw: &str| json!({"name": call, "rw": rw, "bs": 3584, "size": 3584 * 16, "call": call, "filename": "d", "stonewall": true});
    let jobs = json!([job("create", "write"), job("stat", "read"), job("delete", "write")]);
    let stack = run(&system(&jobs, &idle(&json!({"create_operations": 18, "delete_operations": 7}))));
    assert_is(metric(&stack, "network.to_server_messages"), files * 25.0);
    assert_is(metric(&stack, "device_bytes"), 2.0 * files * 3584.0);
    assert_within(metric(&stack, "create.write_latency_mean_ms"), 18.0 * 0.1 + 0.05, 0.01);
    assert_within(metric(&stack, "delete.write_latency_mean_ms"), 7.0 * 0.1 + 0.05, 0.01);
    assert_is(metric(&stack, "stat.read_latency_mean_ms"), 0.0);
    assert_is(metric(&stack, "network.to_server_payload_bytes"), 0.0);
}

#[test]
fn attributes_that_are_not_good_any_more_are_asked_for() {
    let job = |call: &str, rw: &str| json!({"name": call, "rw": rw, "bs": 512, "size": 512 * 16, "call": call, "filename": "d", "stonewall": true});
    let jobs = json!([job("create", "write"), job("stat", "read")]);
    let stack = run(&system(&jobs, &idle(&json!({"create_operations": 1, "attributes": 0}))));
    assert_within(metric(&stack, "stat.read_latency_mean_ms"), 0.1, 0.02);
    assert_is(metric(&stack, "network.to_server_messages"), 32.0);
}

#[test]
fn a_process_pays_for_calls_and_characters_and_a_faster_client_pays_less() {
    let run_at = |speed: u32| {
        let nfs = json!({"per_call": "2us", "per_byte": 3, "per_putc": 9, "cpu_speed": speed});
        let job = json!([{"name": "putc", "rw": "write", "bs": "8KiB", "size": "1MiB", "call": "char"}]);
        run(&system(&job, &nfs)).recorder().jobs[0].by_op[1].phases[Phase::Cpu as usize]
    };
    assert_eq!(run_at(1), 128 * (2_000 + 8192 * 12));
    assert_eq!(run_at(4), 128 * (2_000 + 8192 * 12) / 4);
}

#[test]
fn more_processes_than_processors_share_them() {
    let rate = |processes: u32| {
        let nfs = json!({"per_call": "100us", "per_byte": 0, "per_operation": 0, "per_wire_byte": 0, "cpus": 2, "cache": "64MiB"});
        let job = json!([{"name": "w", "rw": "write", "bs": "8KiB", "size": "1MiB", "numjobs": processes}]);
        metric(&run(&system(&job, &nfs)), "w.write_iops")
    };
    assert_within(rate(2), 2.0 / 100e-6, 0.02);
    assert_within(rate(6), 2.0 / 100e-6, 0.02);
}

#[test]
fn each_connection_has_one_protocol_thread() {
    let run_with = |connections: u32| {
        let job = json!([{"name": "w", "rw": "write", "bs": "32KiB", "size": "32MiB"}]);
        let mut document = system(&job, &idle(&json!({"per_wire_byte": 10, "cpus": 4})));
        document["network"]["connections"] = connections.into();
        let stack = run(&document);
        assert_is(metric(&stack, "w.limiter"), f64::from(Limiter::ClientCpu as u8));
        metric(&stack, "w.write_mib_per_s") * f64::from(1 << 20)
    };
    // 10 ns a byte, and two threads side by side.
    assert_within(run_with(1), 100e6, 0.04);
    assert_within(run_with(2), 200e6, 0.04);
}

#[test]
fn a_block_that_is_not_full_is_written_after_a_while() {
    let jobs = json!([{"name": "w", "rw": "write", "bs": "8KiB", "size": "88KiB"}]);
    let stack = run(&system(&jobs, &idle(&json!({}))));
    assert_is(metric(&stack, "network.to_server_payload_bytes"), 88.0 * 1024.0);
    assert!(stack.now_ns() >= 1_000_000_000, "it waited for more");
}

#[test]
fn what_an_nfs_client_cannot_be_is_refused() {
    let jobs = json!([{"name": "a", "size": "1MiB"}]);
    let mut alone = system(&jobs, &json!({"transfer": 1000, "cache": 600}));
    alone.as_object_mut().expect("an object").remove("network");
    for expected in ["network: nfs", "nfs.transfer: 1000, 512", "nfs.cache: 600 B, 1000 B"] {
        assert_has_problem(&problems(&alone), expected);
    }

    let found = problems(&system(&jobs, &json!({"threads": 0, "cpu_speed": 0})));
    assert_eq!(found.len(), 2, "{found:?}");

    let mut no_window = system(&jobs, &json!({}));
    no_window["network"]["client_buffer"] = 0.into();
    assert_has_problem(&problems(&no_window), "network.client_buffer: 0");

    let mut small_pool = system(&json!([{"name": "a", "size": "8GiB"}]), &json!({}));
    small_pool["devices"][0]["lun"]["capacity"] = "4GiB".into();
    assert_has_problem(&problems(&small_pool), "jobs[0].size: 4294967296");

    for (job, expected) in [
        (json!({"rw": "write", "call": "stat"}), "jobs[0].rw: read, randread"),
        (json!({"rw": "read", "call": "create"}), "jobs[0].rw: write, randwrite"),
        (json!({"rw": "write", "call": "delete", "sync": true}), "jobs[0].sync: create, delete"),
        (json!({"rw": "clientcopy", "call": "char"}), "jobs[0].call: rw"),
    ] {
        let mut whole = json!({"name": "a", "size": "1MiB"});
        whole.as_object_mut().expect("an object").extend(job.as_object().expect("an object").clone());
        assert_has_problem(&problems(&system(&json!([whole]), &json!({}))), expected);
    }
    let without = json!({"jobs": [{"name": "a", "size": "1MiB", "call": "char"}], "devices": [{"lun": {"rate": 1_000_000}}]});
    assert_has_problem(&problems(&without), "jobs[0].call: nfs");
}
