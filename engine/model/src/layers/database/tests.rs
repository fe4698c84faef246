//! The database alone and over devices: who shares a flush, who waits, and what is refused.

use serde_json::{Value, json};

use super::decision::Question;
use crate::kernel::Phase;
use crate::read;
use crate::stack::Stack;
use crate::testing::{assert_is, assert_problem, assert_within, has_values, metric, problems, run};
use seeklab_spec::{Presets, to_f64};

/// A log of this name whose flushes take 10 ms.
fn log(name: &str, batch: &str) -> Value {
    json!({"name": name, "batch": batch, "flush": {"mean": "10ms", "times": "fixed"}})
}

fn scenario(commit: &Value, threads: u32, job: &Value) -> Value {
    let mut clients = json!({"name": "clients", "rw": "write", "bs": 512, "numjobs": threads, "filename": "table", "size": "1MiB"});
    clients.as_object_mut().expect("an object").extend(job.as_object().expect("an object").clone());
    json!({"devices": [{"lun": {"capacity": "4GiB", "rate": "1GB"}}], "commit": commit, "jobs": [clients]})
}

fn for_10_s() -> Value {
    json!({"time_based": true, "runtime": "10s"})
}

#[test]
fn one_client_needs_the_sum_of_its_work_and_flushes() {
    let commit = json!({"work": "2ms", "serial_work": "1ms", "stages": ["a", "b", "a"], "logs": [
        {"name": "a", "flush": {"mean": "10ms", "times": "fixed", "per_commit": "1ms"}},
        {"name": "b", "batch": "one", "flush": {"mean": "20ms", "times": "fixed"}},
    ]});
    let stack = run(&scenario(&commit, 1, &json!({"number_ios": 10})));
    assert_is(metric(&stack, "clients.write_latency_mean_ms"), 2.0 + 1.0 + 11.0 + 20.0 + 11.0);
    let phases = |phase: Phase| stack.recorder().jobs[0].by_op[1].phases[phase as usize];
    assert_eq!([phases(Phase::Cpu), phases(Phase::WriteLog), phases(Phase::LogWait)], [30_000_000, 420_000_000, 0]);
    assert_is(metric(&stack, "commit.a_flushes"), 20.0);
    assert_is(metric(&stack, "commit.a_flush_mean_ms"), 11.0);
    assert_is(metric(&stack, "commit.b_busy_share_percent"), 100.0 * 20.0 / 45.0);
}

#[test]
fn those_that_wait_share_a_flush_and_wait_for_one_other_at_most() {
    // The first goes alone, the others while it is away: two groups take turns.
    let commit = json!({"stages": ["a"], "logs": [log("a", "all")]});
    let stack = run(&scenario(&commit, 9, &for_10_s()));
    assert_within(metric(&stack, "clients.write_iops"), 9.0 / 0.02, 0.01);
    assert_is(metric(&stack, "commit.a_batch_max"), 8.0);
    assert_is(metric(&stack, "commit.a_flushes_waited_max"), 1.0);
}

#[test]
fn a_log_tells_the_mean_of_its_batches_and_of_its_waits() {
    // One goes alone and eight after it, in turns: each waits while the others are flushed.
    let commit = json!({"stages": ["a"], "logs": [log("a", "all")]});
    let stack = run(&scenario(&commit, 9, &for_10_s()));
    assert_within(metric(&stack, "commit.a_batch_mean"), 4.5, 0.01);
    assert_within(metric(&stack, "commit.a_wait_mean_ms"), 10.0, 0.01);
}

#[test]
fn one_at_a_time_all_others_wait() {
    let commit = json!({"stages": ["a"], "logs": [log("a", "one")]});
    let stack = run(&scenario(&commit, 9, &for_10_s()));
    assert_within(metric(&stack, "clients.write_iops"), 100.0, 0.01);
    assert_is(metric(&stack, "commit.a_flushes_waited_max"), 8.0);
    assert_is(metric(&stack, "commit.a_batch_max"), 1.0);
    assert_within(metric(&stack, "commit.a_inside_mean"), 9.0, 0.01);
    assert_within(metric(&stack, "commit.a_busy_share_percent"), 100.0, 0.01);
}

#[test]
fn two_logs_are_flushed_at_the_same_time() {
    let commit = json!({"stages": ["a", "b"], "logs": [log("a", "one"), log("b", "one")]});
    let stack = run(&scenario(&commit, 2, &for_10_s()));
    assert_within(metric(&stack, "clients.write_iops"), 100.0, 0.01);
}

#[test]
fn stages_on_a_log_share_its_flushes() {
    // One of two clients prepares in the flush in which the other commits.
    let commit = json!({"stages": ["a", "a"], "logs": [log("a", "all")]});
    let stack = run(&scenario(&commit, 2, &json!({"number_ios": 1})));
    assert_is(metric(&stack, "commit.a_flushes"), 3.0);
    assert_is(metric(&stack, "commit.a_batch_max"), 2.0);
}

#[test]
fn those_that_come_from_a_flush_together_share_the_next_one() {
    let commit = json!({"stages": ["a", "b"], "logs": [log("a", "all"), log("b", "all")]});
    let stack = run(&scenario(&commit, 4, &json!({"number_ios": 1})));
    // One, then three.
    assert_is(metric(&stack, "commit.b_flushes"), 2.0);
    assert_is(metric(&stack, "commit.b_batch_max"), 3.0);
}

#[test]
fn serial_work_is_done_for_one_at_a_time() {
    let commit = json!({"serial_work": "5ms", "stages": ["a"], "logs": [{"name": "a", "flush": {"mean": 1000, "times": "fixed"}}]});
    let stack = run(&scenario(&commit, 8, &for_10_s()));
    assert_within(metric(&stack, "clients.write_iops"), 200.0, 0.01);
    assert_within(metric(&stack, "commit_processor_busy_share_percent"), 100.0, 0.01);
    assert_is(metric(&stack, "commit_most_inside"), 8.0);
}

#[test]
fn little_s_law_holds_exactly_for_what_is_at_a_log() {
    let commit = json!({"work": "3ms", "stages": ["a"], "logs": [
        {"name": "a", "batch": "one", "flush": {"mean": "10ms", "times": "uniform", "per_commit": "1ms"}},
    ]});
    let stack = run(&scenario(&commit, 5, &json!({"number_ios": 200})));
    let stats = &stack.recorder().jobs[0].by_op[1];
    let at_log = stats.phases[Phase::LogWait as usize] + stats.phases[Phase::WriteLog as usize];
    let elapsed_ns = metric(&stack, "elapsed_s") * 1e9;
    assert_is(metric(&stack, "commit.a_inside_mean"), to_f64(at_log) / elapsed_ns);
    assert_within(metric(&stack, "commit.a_flush_mean_ms"), 11.0, 0.03);
}

#[test]
fn a_flush_below_is_a_durable_write_of_the_batch_at_the_end_of_the_log() {
    let commit = json!({"stages": ["a"], "logs": [{"name": "a", "offset": "1GiB", "size": "1MiB"}]});
    let mut document = scenario(&commit, 4, &json!({"number_ios": 50}));
    document["devices"] = json!([{"ssd": {
        "capacity": "4GiB", "units": 4, "page": 4096, "read": "60us", "program": "200us", "interface_rate": "550MB",
        "write_buffer": "1MiB", "write_buffer_is": "volatile",
    }}]);
    let stack = run(&document);
    let usage = stack.usage()[0];
    assert_eq!(usage.bytes, [0, 200 * 512]);
    let flushes = metric(&stack, "commit.a_flushes");
    assert_is(to_f64(usage.ios[1]), flushes);
    assert!(flushes < 200.0, "{flushes}");
    assert_is(metric(&stack, "unsafe_bytes"), 0.0);
    let stats = &stack.recorder().jobs[0].by_op[1];
    let below_ns: u64 = stats.phases.iter().sum::<u64>() - stats.phases[Phase::LogWait as usize];
    assert!(below_ns > 0 && stats.phases[Phase::WriteLog as usize] == 0, "transactions take over what their flush waited for");
}

#[test]
fn a_disk_turns_under_a_log_written_in_order() {
    // Each flush ends behind the head, and the next one has to wait for a whole turn.
    let commit = json!({"stages": ["a"], "logs": [{"name": "a", "batch": "one"}]});
    let mut document = scenario(&commit, 1, &json!({"number_ios": 200}));
    document["devices"] = json!([{"hdd": {
        "rpm": 7200, "capacity": "500GB", "heads": 4, "outer_rate": "125MB", "inner_rate": "60MB", "seek_single": "0.8ms",
        "seek_average": "8.5ms", "seek_full": "16ms", "head_switch": "0.8ms", "interface_rate": "300MB", "buffer": "16MiB",
    }}]);
    let stack = run(&document);
    let turn_ms = 60_000.0 / 7200.0;
    assert_within(metric(&stack, "clients.write_latency_mean_ms"), turn_ms, 0.02);
}

#[test]
fn a_log_begins_anew_at_its_end() {
    let commit = json!({"stages": ["a"], "logs": [{"name": "a", "size": "1MiB"}]});
    let job = json!({"bs": "384KiB", "number_ios": 5, "size": "8MiB"});
    let mut document = scenario(&commit, 1, &job);
    document["record"] = json!({"journeys": {}});
    let stack = run(&document);
    let journeys = stack.journeys().expect("they were asked for");
    let place = |journey: &crate::kernel::journeys::Journey| journey.asked.offset;
    let is_write = |journey: &&crate::kernel::journeys::Journey| journey.asked.owner.layer == crate::kernel::LayerId::Database;
    let places: Vec<u64> = journeys.requests.iter().filter(is_write).map(place).collect();
    let second = 384 << 10;
    assert_eq!(places, [0, second, 0, second, 0]);
}

#[test]
fn reads_go_past_the_database() {
    let commit = json!({"work": "5ms", "stages": ["a"], "logs": [log("a", "one")]});
    let stack = run(&scenario(&commit, 1, &json!({"rw": "read", "number_ios": 10})));
    assert_is(metric(&stack, "commit.a_flushes"), 0.0);
    assert!(metric(&stack, "clients.read_latency_mean_ms") < 1.0);
}

#[test]
fn stays_are_told_of_the_log_that_they_are_at() {
    let commit = json!({"stages": ["a", "b"], "logs": [log("a", "all"), log("b", "one")]});
    let mut document = scenario(&commit, 3, &json!({"number_ios": 2}));
    document["record"] = json!({"journeys": {}});
    let stack = run(&document);
    let parts = |phase: Phase| {
        let stays = stack.journeys().expect("they were asked for").stays.iter().filter(move |stay| stay.phase == phase as u8);
        stays.map(|stay| stay.part).collect::<std::collections::BTreeSet<u32>>()
    };
    assert!(parts(Phase::LogWait).is_subset(&[1, 2].into()), "{:?}", parts(Phase::LogWait));
    assert_eq!(parts(Phase::WriteLog), [1, 2].into());
}

/// Runs with a host that answers with places and a time to wait.
fn run_asked(document: &Value, mut answer: impl FnMut(&Question) -> (Vec<usize>, u64)) -> Stack {
    let checked = read(document, &Presets::default()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut stack = Stack::new(checked, 1);
    while !stack.step(1 << 16).unwrap_or_else(|problem| panic!("{problem}")) {
        while let Some(question) = stack.question() {
            let (places, wait_ns) = answer(&serde_json::from_value(question).expect("a question about a flush"));
            let given = json!({ "take": places, "wait_ns": wait_ns });
            stack.answer(given.as_object().expect("an object")).unwrap_or_else(|problem| panic!("{problem}"));
        }
    }
    stack
}

#[test]
fn a_host_that_takes_all_or_the_first_is_the_database_itself() {
    let asked =
        |batch: &str| json!({"work": "1ms", "serial_work": "0.3ms", "stages": ["a", "b", "a"], "logs": [log("a", "all"), log("b", batch)]});
    let of = |batch| scenario(&asked(batch), 7, &json!({"number_ios": 40}));
    let fingerprint = |stack: &Stack| stack.recorder().fingerprint.hex();
    let all = run_asked(&of("asked"), |question| ((0..question.transactions.len()).collect(), 0));
    assert_eq!(fingerprint(&all), fingerprint(&run(&of("all"))));
    let first = run_asked(&of("asked"), |_| (vec![0], 0));
    assert_eq!(fingerprint(&first), fingerprint(&run(&of("one"))));
    assert_ne!(fingerprint(&first), fingerprint(&all));
    assert_is(metric(&all, "commit.b_overtaken"), 0.0);
}

#[test]
fn a_host_is_asked_again_when_its_wait_is_over_or_somebody_comes() {
    let commit = json!({"serial_work": "1ms", "stages": ["a"], "logs": [log("a", "asked")]});
    let mut asked = Vec::new();
    let stack = run_asked(&scenario(&commit, 2, &json!({"number_ios": 1})), |question| {
        asked.push((question.now_ns, question.transactions.len()));
        (if question.now_ns < 5_000_000 { Vec::new() } else { (0..question.transactions.len()).collect() }, 4_000_000)
    });
    // The first is there after 1 ms, the second one after 2; both wait until the first answer's 4 ms are over, and once more.
    assert_eq!(asked, [(1_000_000, 1), (2_000_000, 2), (5_000_000, 2)]);
    assert_is(metric(&stack, "commit.a_batch_max"), 2.0);
    assert_is(metric(&stack, "clients.write_latency_max_ms"), 15.0);
}

#[test]
fn who_overtakes_is_counted_and_told_how_long_others_wait() {
    let commit = json!({"stages": ["a"], "logs": [log("a", "asked")]});
    let mut most = 0;
    let stack = run_asked(&scenario(&commit, 4, &json!({"number_ios": 5})), |question| {
        most = most.max(question.flushes.iter().copied().max().unwrap_or(0));
        (vec![question.transactions.len() - 1], 0)
    });
    assert!(metric(&stack, "commit.a_overtaken") > 0.0);
    assert!(most > 3, "{most}");
    let stack =
        run_asked(&scenario(&commit, 4, &json!({"number_ios": 5})), |question| ((0..question.transactions.len()).rev().collect(), 0));
    assert!(metric(&stack, "commit.a_overtaken") > 0.0, "order within a flush counts as well");
}

#[test]
fn what_contradicts_itself_is_refused_with_what_is_accepted() {
    let found = |commit: &Value| problems(&scenario(commit, 1, &json!({})));
    let logs = json!([log("engine", "all"), log("replication", "one")]);
    let unknown = found(&json!({"stages": ["engine", "replicaton"], "logs": logs}));
    assert_problem(&unknown[0], "commit.stages[1]: \"replicaton\", \"replication\"");
    let twice = found(&json!({"stages": ["a"], "logs": [log("a", "all"), log("a", "one")]}));
    assert_problem(&twice[0], "commit.logs[1].name: logs[0]");
    let long = found(&json!({"stages": ["a"], "logs": [{"name": "a", "offset": "4GiB", "size": "1MiB"}]}));
    assert_problem(&long[0], "commit.logs[0].size: 4294967296");
    let large = problems(&scenario(&json!({"stages": ["a"], "logs": [{"name": "a", "size": "1MiB"}]}), 64, &json!({"bs": "32KiB"})));
    assert!(has_values(&large[0], "1 MiB, 2 MiB"), "{large:?}");
    let none = found(&json!({"stages": [], "logs": [log("a", "all")]}));
    assert!(none[0].contains("commit.stages"), "{none:?}");
    let mut fanout = scenario(&json!({"stages": ["a"], "logs": [log("a", "all")]}), 1, &json!({"rw": "read"}));
    fanout["fanout"] = json!({"leaves": 2, "service": {"kind": "gamma"}});
    assert_problem(&problems(&fanout)[0], "commit: fanout");
}

#[test]
fn a_run_whose_host_gives_no_answers_says_which_field_asks() {
    let commit = json!({"stages": ["a"], "logs": [log("a", "asked")]});
    let checked = read(&scenario(&commit, 1, &json!({})), &Presets::default()).expect("it is in order");
    let mut stack = Stack::new(checked, 1);
    assert!(!stack.step(1 << 10).expect("it pauses"));
    let problem = stack.step(1).expect_err("nobody answers");
    assert_eq!(problem.path, "commit.logs");
}
