//! Replays of traces against what is known exactly: arrivals of fixed spacing on a server of fixed rate, and the runs that wrote the trace.

use seeklab_api::{Column, Run};
use seeklab_spec::testing::{assert_problem, assert_problems};
use serde_json::{Value, json};

use crate::support;

fn open(input: &Value) -> Run {
    let mut run = support::engine().open(&input.to_string()).unwrap_or_else(|errors| panic!("{errors}"));
    loop {
        let progress = run.step(1 << 20);
        assert!(progress >= 0.0, "{}", run.summary());
        if progress >= 1.0 {
            return run;
        }
    }
}

fn summary(run: &Run) -> Value {
    serde_json::from_str::<Value>(&run.summary()).expect("JSON")["ok"].clone()
}

fn errors(input: &Value) -> Vec<String> {
    let refused = support::engine().open(&input.to_string()).err().unwrap_or_else(|| panic!("{input} is accepted"));
    support::errors(&refused)
}

fn column(run: &Run, name: &str) -> Vec<f64> {
    match run.column(&format!("ops.{name}")) {
        Some(Column::F64(values)) => values,
        Some(Column::U32(values)) => values.into_iter().map(f64::from).collect(),
        None => panic!("no column {name}"),
    }
}

/// What `result.ops.to_csv` writes.
fn csv(run: &Run) -> String {
    const NAMES: [&str; 7] = ["id", "job", "op", "offset", "bytes", "submit_ns", "latency_ns"];
    let columns = NAMES.map(|name| column(run, name));
    let mut text = NAMES.join(",") + "\n";
    for row in 0..columns[0].len() {
        text += &columns.each_ref().map(|values| format!("{:.0}", values[row])).join(",");
        text += "\n";
    }
    text
}

/// Reads of 4 KiB, one every `gap_us`.
fn spaced(requests: u64, gap_us: u64) -> String {
    (0..requests)
        .fold("fio version 3 iolog\n".to_owned(), |text, index| text + &format!("{} f read {} 4096\n", 7 + index * gap_us, index * 8192))
}

/// A server that takes 1 ms for 4 KiB.
fn server() -> Value {
    json!({"devices": [{"lun": {"rate": 4_096_000, "latency": 0}}]})
}

#[test]
fn arrivals_slower_than_the_server_wait_for_nothing() {
    let run = open(&json!({"replay": {"text": spaced(100, 1500), "mode": "open"}, "scenario": server()}));
    assert_eq!(column(&run, "latency_ns"), [1e6; 100]);
    let expected: Vec<f64> = (0..100).map(|index| f64::from(index) * 1.5e6).collect();
    assert_eq!(column(&run, "submit_ns"), expected);
    assert_eq!(summary(&run)["replay"]["requests"], 100);
}

#[test]
fn arrivals_faster_than_the_server_queue_without_bound() {
    let run = open(&json!({"replay": {"text": spaced(100, 250)}, "scenario": server()}));
    let expected: Vec<f64> = (0..100).map(|index| 1e6 + f64::from(index) * 0.75e6).collect();
    assert_eq!(column(&run, "latency_ns"), expected);
}

#[test]
fn a_scale_stretches_the_recorded_times() {
    let run = open(&json!({"replay": {"text": spaced(100, 250), "scale": 8.0}, "scenario": server()}));
    assert_eq!(column(&run, "latency_ns"), [1e6; 100]);
    assert_eq!(column(&run, "submit_ns").last(), Some(&(99.0 * 2e6)));
}

#[test]
fn as_fast_as_possible_keeps_the_queue_full() {
    let run = open(&json!({"replay": {"text": spaced(10, 5000), "mode": "fast", "iodepth": 2}, "scenario": server()}));
    assert_eq!(column(&run, "latency_ns"), [1e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6]);
    assert_eq!(summary(&run)["simulated_ns"], 10_000_000);
}

#[test]
fn closed_keeps_the_pauses_in_which_the_recorded_system_was_idle() {
    // Two requests of 3 ms each, 1 ms apart; idle from 4 to 10 ms; one more.
    let text = "1000000,h,0,Read,0,4096,30000\n1010000,h,0,Read,4096,4096,30000\n1100000,h,0,Read,8192,4096,30000\n";
    for (depth, second_ms, third_ms) in [(1, 1.0, 8.0), (2, 0.0, 8.0)] {
        let run = open(&json!({"replay": {"text": text, "mode": "closed", "iodepth": depth}, "scenario": server()}));
        assert_eq!(column(&run, "submit_ns"), [0.0, second_ms * 1e6, third_ms * 1e6], "depth {depth}");
    }
}

fn job(pattern: &str, iodepth: u32) -> Value {
    json!({"name": "job", "rw": pattern, "bs": 4096, "size": "8MiB", "iodepth": iodepth, "number_ios": 500, "filename": "volume"})
}

#[test]
fn a_closed_replay_of_a_run_is_that_run() {
    for (pattern, iodepth) in [("randread", 1), ("randrw", 4), ("write", 16)] {
        for device in ["hdd-7200", "ssd-sata", "lun-100mb"] {
            let system = json!({"devices": [{"preset": device}]});
            let mut recorded = system.clone();
            recorded["jobs"] = json!([job(pattern, iodepth)]);
            let run = open(&json!({"scenario": recorded}));
            let replay = open(&json!({"replay": {"text": csv(&run), "mode": "closed", "iodepth": iodepth}, "scenario": system}));
            assert_eq!(summary(&run)["fingerprint"], summary(&replay)["fingerprint"], "{pattern} on {device}");
        }
    }
}

#[test]
fn an_open_replay_of_a_run_is_that_run() {
    let system = json!({"devices": [{"preset": "hdd-7200"}]});
    let mut recorded = system.clone();
    recorded["jobs"] = json!([{"name": "job", "rw": "randrw", "bs": 8192, "size": "4GiB", "iodepth": 64, "number_ios": 500, "rate_iops": 90, "rate_process": "poisson", "filename": "volume"}]);
    let run = open(&json!({"scenario": recorded}));
    let replay = open(&json!({"replay": {"text": csv(&run)}, "scenario": system}));
    assert_eq!(column(&run, "offset"), column(&replay, "offset"));
    assert_eq!(column(&run, "latency_ns"), column(&replay, "latency_ns"));
}

#[test]
fn jobs_of_the_system_run_beside_the_replay() {
    let mut system = server();
    system["jobs"] = json!([job("randread", 1)]);
    let run = open(&json!({"replay": {"text": spaced(10, 1500)}, "scenario": system}));
    assert_eq!(summary(&run)["jobs"], json!(["job", "replay"]));
    assert_eq!(summary(&run)["metrics"]["replay.read_ios"], 10.0);
    assert_eq!(summary(&run)["metrics"]["job.read_ios"], 500.0);
}

#[test]
fn replays_pass_through_every_layer() {
    let system = json!({
        "protocol": {"max_transaction": "1MiB", "target_transaction": "1MiB", "scheduler": {"in_flight": 2}},
        "volume": {"block": 32768, "cache": {"size": "4MiB", "overhead": "10us", "rate": "4GB"}, "prefetch": {"chunk": "1MiB", "min_read": 4096}},
        "layout": {"kind": "mirror", "width": 2},
        "devices": [{"preset": "hdd-7200", "count": 4}],
    });
    let run = open(&json!({"replay": {"text": spaced(200, 900)}, "scenario": system}));
    assert_eq!(summary(&run)["metrics"]["replay.read_ios"], 200.0);
    let total: f64 = column(&run, "latency_ns").iter().sum();
    let mean_ms = summary(&run)["metrics"]["replay.read_latency_mean_ms"].as_f64().expect("a number");
    assert!((total / 200.0 / 1e6 - mean_ms).abs() < 1e-9, "phases add up to the latency by the clock");
}

#[test]
fn a_trace_of_a_week_may_take_a_week_on_a_preset() {
    let text = "1,h,0,Read,0,512,1\n6048000000001,h,0,Write,0,512,1\n";
    let run = open(&json!({"replay": {"text": text}, "preset": "lun-100mb"}));
    assert!(summary(&run)["metrics"]["elapsed_s"].as_f64().expect("a number") > 604_800.0);
}

#[test]
fn what_cannot_be_replayed_is_told() {
    let with = |name: &str, value: Value| {
        let mut replay = json!({"text": spaced(3, 10), "mode": "closed"});
        replay[name] = value;
        errors(&json!({"replay": replay, "preset": "lun-100mb"}))
    };
    let negative = json!("fio version 3 iolog\n1 f read 0 512\n2 f read -1 512\n");
    for (name, value, expected) in [
        ("mode", json!("close"), "replay.mode: \"close\", \"closed\", open, fast"),
        ("iodepth", json!(0), "replay.iodepth: 0, 1, 65536"),
        ("mdoe", json!("fast"), "replay.mdoe: \"mdoe\", \"mode\", text, format, target, iodepth, scale"),
        ("scale", json!(0), "replay.scale: 0"),
        ("format", json!("fio-iolog"), "replay.format: \"fio-iolog\", fio-iolog-v3"),
        ("target", json!("g"), "replay.target: \"g\", f"),
        ("text", negative, "line 3: offset -1"),
    ] {
        assert_problems(&with(name, value), &[expected]);
    }
    let open_depth = errors(&json!({"replay": {"text": spaced(3, 10), "iodepth": 4}, "preset": "lun-100mb"}));
    assert_problem(&open_depth[0], "replay.iodepth: 4, mode open, closed, fast");
    let small = json!({"devices": [{"lun": {"rate": "100MB", "capacity": "1MiB"}}]});
    let beyond = errors(&json!({"replay": {"text": "fio version 3 iolog\n1 f read 0 512\n2 f read 1048576 512\n"}, "scenario": small}));
    assert_problems(&beyond, &["line 3: 1049088, 1048576"]);
    assert_problem(&errors(&json!({"replay": {"text": spaced(3, 10)}, "preset": "lun-100m"}))[0], "preset: \"lun-100m\", \"lun-100mb\"");
    assert_problems(&errors(&json!({"replay": {"text": spaced(3, 10)}})), &["preset: scenario"]);
}

#[test]
fn trace_info_counts_what_a_trace_holds() {
    let text = "fio version 3 iolog\n10 f read 0 4096\n20 f write 1000 100\n25 f datasync 0 0\n";
    let answer: Value = serde_json::from_str(&support::engine().call("trace_info", &json!({"text": text}).to_string())).expect("JSON");
    let info = &answer["ok"];
    assert_eq!(
        (&info["format"], &info["requests"], &info["reads"], &info["writes"]),
        (&json!("fio-iolog-v3"), &json!(2), &json!(1), &json!(1))
    );
    assert_eq!(
        (&info["bytes"], &info["span_ns"], &info["largest_offset"], &info["end_bytes"]),
        (&json!(4096 + 1024), &json!(10_000), &json!(512), &json!(4096))
    );
    assert_eq!((&info["skipped"], &info["widened"], &info["response_times"]), (&json!({"syncs": 1}), &json!(1), &json!(false)));
}
