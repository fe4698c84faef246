//! What the read side makes of whole runs.

use serde_json::{Value, json};

use crate::stack::Stack;
use crate::testing::{assert_has_problem, assert_is, assert_within, metric, problems, run};

/// Jobs over an SSD of 200 MB/s and 200 us, by a page cache that reads ahead.
fn system(ahead: &Value, jobs: &Value) -> Value {
    json!({
        "page_cache": { "memory": "16GiB", "read_ahead": ahead },
        "devices": [{ "name": "ssd", "lun": { "capacity": "64GiB", "rate": "200MB", "latency": "200us" } }],
        "jobs": jobs,
    })
}

fn random(context: &str, reads: u32) -> Value {
    let job = json!({ "name": "rand", "rw": "randread", "bs": "64KiB", "size": "2GiB", "norandommap": true, "number_ios": reads });
    system(&json!({ "context": context }), &json!([job]))
}

fn in_order(ahead: &Value, bs: &str) -> Value {
    system(ahead, &json!([{ "name": "seq", "rw": "read", "bs": bs, "size": "64MiB" }]))
}

/// One thread reads at four places of its file in turn, in order at each.
fn streams(context: &str) -> Value {
    system(&json!({ "context": context }), &json!([{ "name": "s", "rw": "read", "bs": "16KiB", "size": "64MiB", "nrfiles": 4 }]))
}

#[test]
fn random_reads_fetch_what_the_state_machine_says() {
    for (context, pages) in [("off", 137_611.0), ("2009", 177_733.0), ("ramp", 151_156.0), ("2013", 140_067.0)] {
        let stack = run(&random(context, 10_000));
        assert_within(metric(&stack, "device_bytes") / 4096.0, pages, 0.02);
        assert_is(metric(&stack, "device_bytes"), metric(&stack, "pages_read_mib") * f64::from(1 << 20));
    }
}

#[test]
fn a_read_takes_a_request_below_and_a_copy_and_one_in_memory_the_copy_alone() {
    let copy_ms = 65.536 / 1152.5 + 0.001;
    let stack = run(&random("off", 1));
    assert_within(metric(&stack, "rand.read_latency_max_ms"), 0.2 + 65.536 / 200.0 + copy_ms, 0.001);
    let twice = system(&json!({}), &json!([{ "name": "rand", "rw": "read", "bs": "64KiB", "size": "64KiB", "loops": 2 }]));
    let twice = run(&twice);
    assert_within(metric(&twice, "rand.read_latency_min_ms"), copy_ms, 0.001);
    assert_is(metric(&twice, "rand.read_cached_share_percent"), 50.0);
}

#[test]
fn a_reader_in_order_is_served_at_the_device_s_rate_and_each_page_is_read_once() {
    let stack = run(&in_order(&json!({}), "4KiB"));
    assert_is(metric(&stack, "device_bytes"), f64::from(64 << 20));
    assert_is(metric(&stack, "read_ahead_unused_mib"), 0.0);
    // 128 KiB ahead of the reader hide the latency; without read-ahead a page takes 0.2 ms of it.
    assert!(metric(&stack, "seq.read_mb_per_s") > 150.0, "{}", metric(&stack, "seq.read_mb_per_s"));
}

#[test]
fn a_larger_window_is_never_slower_for_a_reader_in_order_and_none_exceeds_the_device() {
    let rate = |max: &str| metric(&run(&in_order(&json!({ "max": max }), "4KiB")), "seq.read_mb_per_s");
    let rates: Vec<f64> = ["4KiB", "16KiB", "64KiB", "128KiB", "512KiB", "2MiB"].into_iter().map(rate).collect();
    assert!(rates.windows(2).all(|pair| pair[0] <= pair[1] * 1.01), "{rates:?}");
    assert!(rates.iter().all(|rate| *rate <= 200.0), "{rates:?}");
}

#[test]
fn streams_through_one_open_file_need_context() {
    let rate = |context| metric(&run(&streams(context)), "s.read_mib_per_s");
    let off = rate("off");
    for context in ["2009", "ramp", "2013"] {
        assert!(rate(context) > 1.5 * off, "{context}: {} against {off}", rate(context));
    }
}

#[test]
fn readers_of_an_open_file_of_their_own_do_not_disturb_each_other() {
    // Who pauses after each read finds that another has read since.
    let latency_ms = |one_open: bool| {
        let job = |nth: u32| {
            json!({ "name": format!("s{nth}"), "rw": "read", "bs": "16KiB", "filename": "file", "offset": nth << 26, "size": "16MiB",
                    "thinktime": "1ms" })
        };
        let ahead = json!({ "context": "off", "one_open": one_open });
        metric(&run(&system(&ahead, &json!([job(0), job(1), job(2), job(3)]))), "s1.read_latency_mean_ms")
    };
    let (own, shared) = (latency_ms(false), latency_ms(true));
    assert!(own < shared / 4.0, "{own} against {shared}");
}

#[test]
fn what_was_written_is_read_from_memory() {
    let jobs = json!([
        { "name": "w", "rw": "write", "bs": "64KiB", "filename": "f", "size": "1MiB" },
        { "name": "r", "rw": "read", "bs": "64KiB", "filename": "f", "size": "1MiB", "wait_for": "w" },
    ]);
    let stack = run(&system(&json!({}), &jobs));
    assert_is(metric(&stack, "pages_read_mib"), 0.0);
    assert_is(metric(&stack, "r.read_cached_share_percent"), 100.0);
}

#[test]
fn a_file_that_ends_within_a_page_is_read_to_its_end_and_no_further() {
    let jobs = json!([{ "name": "r", "rw": "read", "bs": "6KiB", "size": "6KiB" }]);
    assert_is(metric(&run(&system(&json!({}), &jobs)), "device_bytes"), 6144.0);
}

#[test]
fn a_host_is_asked_for_each_read_in_its_turn() {
    let job = |name: &str, size: &str| json!({ "name": name, "rw": "read", "bs": "64KiB", "size": size, "number_ios": 1 });
    let document = system(&json!({ "asked": true }), &json!([job("a", "1MiB"), job("b", "2MiB"), job("c", "4MiB")]));
    let checked = crate::read(&document, &seeklab_spec::Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, 1);
    let mut asked = Vec::new();
    while !stack.step(1 << 16).unwrap_or_else(|problem| panic!("{problem}")) {
        while let Some(question) = stack.question() {
            asked.push((question["file_records"].clone(), question["found"].clone()));
            stack.answer(json!({ "runs": [] }).as_object().expect("an object")).unwrap_or_else(|problem| panic!("{problem}"));
        }
    }
    assert_eq!(json!(asked), json!([[256, false], [512, false], [1024, false]]));
}

#[test]
fn files_that_do_not_fit_into_memory_are_refused() {
    let mut small = random("off", 10);
    small["page_cache"]["memory"] = json!("1GiB");
    assert_has_problem(&problems(&small), "page_cache.memory: 2147483648");
    small["page_cache"].as_object_mut().expect("an object").remove("read_ahead");
    assert_eq!(problems(&small), Vec::<String>::new());
}
