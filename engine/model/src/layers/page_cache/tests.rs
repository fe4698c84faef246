//! What the page cache does with single writes, reads and flushes.

use serde_json::{Value, json};

use crate::result::columns::Column;
use crate::stack::Stack;
use crate::testing::{assert_is, assert_problem, assert_problems, assert_within, metric, problems, run};

/// Jobs on a page cache over a disk of 100 MB/s, with a copy rate of 1 GB/s.
fn system(page_cache: Value, jobs: &Value) -> Value {
    let mut all = json!({
        "page_cache": {"memory": "16GB", "dirtyable_share": 1.0, "memory_rate": "1GB"},
        "jobs": jobs,
        "devices": [{"lun": {"rate": "100MB", "latency": "1ms"}}],
    });
    if let (Some(fields), Value::Object(more)) = (all["page_cache"].as_object_mut(), page_cache) {
        fields.extend(more);
    }
    all
}

fn writes(more: Value) -> Value {
    let mut job = json!({"name": "a", "rw": "write", "bs": "1MiB", "size": "64MiB"});
    if let (Some(fields), Value::Object(more)) = (job.as_object_mut(), more) {
        fields.extend(more);
    }
    json!([job])
}

fn column(stack: &Stack, name: &str) -> Vec<f64> {
    match stack.column(name) {
        Some(Column::F64(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_write_takes_the_time_of_its_copy_and_a_worker_copies_one_at_a_time() {
    for depth in [1, 16] {
        let stack = run(&system(json!({}), &writes(json!({"iodepth": depth}))));
        assert_within(metric(&stack, "a.elapsed_s"), 0.067_108_864, 1e-6);
        assert_within(metric(&stack, "a.write_memory_mean_ms"), 1.048_576, 1e-5);
    }
    let stack = run(&system(json!({}), &writes(json!({"bs": "64MiB"}))));
    assert_within(metric(&stack, "a.elapsed_s"), 0.067_108_864, 1e-5);
}

#[test]
fn every_dirty_page_is_written_back_once_and_pages_are_written_whole() {
    let stack = run(&system(json!({"journal": "none"}), &writes(json!({"bs": 512, "number_ios": 9}))));
    assert_is(metric(&stack, "page_cache_dirtied_bytes"), 8192.0);
    assert_is(metric(&stack, "page_cache_written_bytes"), 8192.0);
    assert_is(metric(&stack, "unsafe_max_bytes"), 8192.0);
    let again = writes(json!({"loops": 3, "size": "1MiB"}));
    assert_is(metric(&run(&system(json!({}), &again)), "page_cache_written_bytes"), f64::from(1 << 20));
}

#[test]
fn old_pages_are_written_at_the_next_look_after_they_expire() {
    let late = |expire: &str, delay: &str| {
        let stack = run(&system(json!({"journal": "none", "expire": expire}), &writes(json!({"startdelay": delay}))));
        metric(&stack, "page_cache_first_write_s")
    };
    assert_within(late("30s", "0s"), 35.0, 0.001);
    assert_within(late("30s", "4.5s"), 30.5, 0.001);
    assert_within(late("10s", "0s"), 15.0, 0.001);
}

#[test]
fn what_a_copy_writes_belongs_to_its_file() {
    let copy = json!([{"name": "a", "rw": "clientcopy", "bs": 4096, "size": "1MiB"}]);
    let stack = run(&system(json!({"journal": "none", "expire": 0}), &copy));
    assert_is(metric(&stack, "page_cache_written_bytes"), f64::from(1 << 20));
}

#[test]
fn a_transaction_that_nobody_forces_is_committed_when_it_is_old() {
    let stack = run(&system(json!({"commit": "3s"}), &writes(json!({}))));
    assert_within(metric(&stack, "page_cache_first_write_s"), 3.0, 0.001);
    assert_within(column(&stack, "journal.began_ns")[0], 3e9, 0.001);
    assert_is(column(&stack, "journal.data_bytes")[0], f64::from(64 << 20));
}

#[test]
fn a_transaction_that_is_old_when_the_commit_before_it_ends_is_committed_then() {
    let (commit_ns, copy_ns) = (1_000_000_000, 4096);
    let commits = |delay_ns: u64| {
        let jobs = json!([
            {"name": "a", "rw": "write", "bs": "1MiB", "size": "200MiB"},
            {"name": "b", "rw": "write", "bs": 4096, "size": "4KiB", "startdelay": delay_ns},
        ]);
        let stack = run(&system(json!({"commit": commit_ns}), &jobs));
        column(&stack, "journal.began_ns").into_iter().zip(column(&stack, "journal.end_ns")).collect::<Vec<_>>()
    };
    let first = commits(2 * commit_ns)[0];
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // some seconds
    let delay_ns = first.1 as u64 - commit_ns - copy_ns;
    for (later_ns, begins_after_ns) in [(0, 0.0), (1, 1.0)] {
        let found = commits(delay_ns + later_ns);
        assert_eq!((found.len(), found[0]), (2, first));
        assert!((found[1].0 - first.1 - begins_after_ns).abs() < 0.5, "{found:?}");
    }
}

#[test]
fn files_apart_from_the_journal_have_no_data_in_its_transactions() {
    let jobs = json!([
        {"name": "a", "rw": "write", "bs": "1MiB", "size": "1MiB"},
        {"name": "b", "rw": "write", "bs": "1MiB", "size": "8MiB"},
    ]);
    let stack = run(&system(json!({"unjournalled": ["b"]}), &jobs));
    assert_eq!(column(&stack, "journal.data_bytes"), [f64::from(1 << 20)]);
    assert_is(metric(&stack, "page_cache_written_bytes"), f64::from(9 << 20));
}

#[test]
fn the_write_back_keeps_dirty_data_at_the_background_threshold() {
    let stack =
        run(&system(json!({"journal": "none", "background": "8MiB", "depth": 4}), &writes(json!({"rate": "50MB", "size": "512MiB"}))));
    let dirty = column(&stack, "page_cache.dirty_bytes");
    let most = dirty.iter().copied().fold(0.0, f64::max);
    assert!((8e6..14e6).contains(&most), "{most}");
}

#[test]
fn a_stopped_writer_goes_on_at_the_rate_of_the_disk() {
    for throttle_from in ["limit", "midpoint"] {
        let cache = json!({"journal": "none", "background": "32MiB", "limit": "64MiB", "throttle_from": throttle_from});
        let stack = run(&system(cache, &writes(json!({"size": "2GiB"}))));
        assert!(metric(&stack, "page_cache_dirty_max_bytes") <= f64::from(64 << 20), "{throttle_from}");
        assert_within(metric(&stack, "a.elapsed_s"), (2.147e9 - 6.7e7) / 1e8, 0.03);
        let phase = if throttle_from == "limit" { "a.write_throttle_wait_mean_ms" } else { "a.write_throttle_delay_mean_ms" };
        assert!(metric(&stack, phase) > 5.0, "{throttle_from}");
    }
}

#[test]
fn writers_under_a_limit_smaller_than_a_write_still_go_on() {
    let cache = json!({"background": 0, "limit": "8KiB"});
    let stack = run(&system(cache, &writes(json!({"size": "4MiB", "numjobs": 3}))));
    assert_is(metric(&stack, "page_cache_written_bytes"), f64::from(12 << 20));
}

#[test]
fn a_flush_writes_the_files_own_pages_and_no_others_without_a_journal() {
    let jobs = json!([
        {"name": "a", "rw": "write", "bs": "1MiB", "size": "64MiB"},
        {"name": "b", "rw": "write", "bs": "1MiB", "size": "8MiB", "fsync": 8, "wait_for": "a"},
    ]);
    let stack = run(&system(json!({"journal": "none"}), &jobs));
    // Two requests of 4 MiB, and the inode.
    assert_within(metric(&stack, "b.write_latency_max_ms"), 83.9 + 1.05 + 2.0, 0.01);
    let stack = run(&system(json!({"journal": "ordered"}), &jobs));
    assert_within(metric(&stack, "b.write_latency_max_ms"), 755.0 + 1.05 + 3.0, 0.01);
}

#[test]
fn a_flush_without_a_journal_writes_the_inode_after_pages_on_their_way() {
    let mut all = system(json!({"journal": "none", "background": 0, "depth": 32}), &writes(json!({"size": "8MiB", "fsync": 8})));
    all["devices"][0]["lun"]["latency"] = "50ms".into();
    // The last write begins after 7.3 ms; 8 MiB are written from 1.0 ms on in 83.9 ms, and the inode 50 ms later.
    assert_within(metric(&run(&all), "a.write_latency_max_ms"), 1.0 + 83.9 + 2.0 * 50.0 - 7.3, 0.01);
}

#[test]
fn a_flush_that_finds_everything_durable_commits_nothing() {
    let stack = run(&system(json!({}), &writes(json!({"size": "1MiB", "sync": true, "end_fsync": true}))));
    assert_is(metric(&stack, "page_cache_commits"), 1.0);
    assert_is(metric(&stack, "page_cache_syncs"), 2.0);
}

#[test]
fn a_flush_of_data_alone_commits_nothing_for_blocks_that_a_file_has() {
    for (journal, delayed_allocation) in [("ordered", false), ("ordered", true), ("writeback", false), ("none", false)] {
        let rewrites = |flush: &str| {
            let cache = json!({"journal": journal, "delayed_allocation": delayed_allocation});
            let stack = run(&system(cache, &writes(json!({"bs": 4096, "size": "4KiB", "loops": 20, flush: 1}))));
            ["p50", "max"].map(|of| metric(&stack, &format!("a.write_latency_{of}_ms")))
        };
        let ([data, first], [all, _]) = (rewrites("fdatasync"), rewrites("fsync"));
        // A copy of 4 us, a write of 4 KiB, and a FLUSH; the first write gives the file its block, which must be committed.
        assert_within(data, 0.004 + 1.041 + 1.0, 0.002);
        assert_within(first, all, 0.002);
        // The times of the file: four blocks of metadata and the commit record, or the inode.
        assert_within(all, if journal == "none" { 0.004 + 2.0 * 1.041 } else { 0.004 + 1.041 + 1.164 + 1.041 }, 0.002);
    }
}

#[test]
fn blocks_are_new_when_they_are_first_written_unless_a_job_reads_the_file() {
    let appends = json!([{"name": "a", "rw": "write", "filename": "f", "bs": 4096, "size": "64KiB", "fdatasync": 1}]);
    assert_within(metric(&run(&system(json!({}), &appends)), "a.write_latency_min_ms"), 3.250, 0.002);
    let mut jobs = json!([{"name": "r", "rw": "read", "filename": "f", "bs": 4096, "size": "64KiB"}, appends[0]]);
    jobs[1]["wait_for"] = "r".into();
    assert_within(metric(&run(&system(json!({}), &jobs)), "a.write_latency_max_ms"), 2.045, 0.002);
}

#[test]
fn writers_that_wait_at_the_same_time_share_a_commit() {
    let stack = run(&system(json!({}), &writes(json!({"bs": 4096, "size": "4KiB", "numjobs": 8, "sync": true}))));
    // All of them joined the transaction before the first had written its own page.
    assert_is(metric(&stack, "page_cache_commits"), 1.0);
    assert_eq!(stack.column("journal.waiters"), Some(Column::U32(vec![8])));
}

#[test]
fn a_page_on_its_way_is_not_changed() {
    let jobs = json!([
        {"name": "a", "rw": "write", "bs": 4096, "size": "4KiB", "sync": true},
        {"name": "b", "rw": "write", "bs": 4096, "size": "4KiB", "filename": "a", "startdelay": "500us"},
    ]);
    let mut all = system(json!({"journal": "none"}), &jobs);
    all["jobs"][0]["filename"] = "a".into();
    let stack = run(&all);
    assert_within(metric(&stack, "b.write_in_flight_mean_ms"), 0.545, 0.01);
    assert_is(metric(&stack, "page_cache_written_bytes"), 8192.0);
}

#[test]
fn a_commit_may_hold_its_files_until_it_has_ended() {
    let jobs = json!([
        {"name": "bulk", "rw": "write", "bs": "1MiB", "size": "100MiB"},
        {"name": "other", "rw": "write", "bs": 4096, "size": "1MiB", "number_ios": 2, "rate_iops": 0.19},
    ]);
    let wait = |holds: &str| metric(&run(&system(json!({"commit_holds": holds}), &jobs)), "other.write_latency_max_ms");
    // The commit begins at 5 s, its second write comes at 5.26 s, and the commit has 1.05 s to write.
    assert!(wait("pages") < 1.0, "{}", wait("pages"));
    assert_within(wait("files"), 791.0, 0.02);
}

#[test]
fn what_is_dirty_is_read_from_memory_and_all_else_from_below() {
    let jobs = |size: &str| {
        json!([
            {"name": "a", "rw": "write", "bs": "1MiB", "size": "8MiB", "filename": "f"},
            {"name": "b", "rw": "read", "bs": "1MiB", "size": size, "filename": "f", "wait_for": "a"},
        ])
    };
    let stack = run(&system(json!({}), &jobs("8MiB")));
    assert_is(metric(&stack, "b.read_cached_share_percent"), 100.0);
    assert_within(metric(&stack, "b.read_latency_mean_ms"), 1.049_576, 1e-5);
    let stack = run(&system(json!({}), &jobs("16MiB")));
    assert_is(metric(&stack, "b.read_cached_share_percent"), 50.0);
}

#[test]
fn what_contradicts_a_page_cache_is_told() {
    let with = |page_cache: Value, more: Value| {
        let mut all = system(page_cache, &writes(json!({})));
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
        problems(&all)
    };
    assert_problems(&with(json!({}), json!({"volume": {}})), &["page_cache: volume"]);
    assert_problem(&with(json!({"unjournalled": ["b"]}), json!({}))[0], "page_cache.unjournalled[0]: \"b\"");
    let ssd = json!({
        "capacity": "1GiB", "units": 4, "page": 4096, "read": "60us", "program": "200us", "interface_rate": "550MB",
        "write_buffer": "1MiB", "write_buffer_is": "unflushable",
    });
    let unflushable = json!({"devices": [{"ssd": ssd}]});
    let found = with(json!({}), unflushable.clone());
    assert_problems(&found, &["page_cache.journal: devices[0].ssd.write_buffer_is, unflushable"]);
    assert_eq!(with(json!({"journal": "none"}), unflushable), [""; 0]);
    assert_problems(&with(json!({"chunk": 5000}), json!({})), &["page_cache.chunk: 5000, 4096"]);
    assert_problem(&with(json!({"journal": "orderd"}), json!({}))[0], "page_cache.journal: ordered");
}
