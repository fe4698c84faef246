use super::vectors::{blocks, each_seed, mean};
use crate::kernel::Phase;
use crate::testing::{assert_has_problem, assert_is, assert_problem, assert_within, has_values, metric, problems, run};
use seeklab_kernel::Stream;
use serde_json::{Value, json};

/// Packets that the path holds besides the port's buffer: a round trip of 100 us, and the packet itself.
const ON_THE_PATH: u64 = 9;

/// Packets dropped while n servers with windows of w packets fill a port's buffer, each from pieces of so many packets.
fn dropped(servers: u64, window: u64, buffer: u64, piece: u64) -> f64 {
    let piece_bytes = (piece * 1460).div_ceil(512) * 512;
    metric(&run(&blocks(servers, servers * piece_bytes, 12, &json!({"window": window, "buffer": buffer}))), "network.dropped_packets")
}

#[test]
fn nothing_is_dropped_while_all_windows_fit_into_buffer_and_path() {
    for (servers, window, buffer, drops) in [
        (8, 8, 64, false),
        (8, 9, 64, false),
        (16, 4, 64, false),
        (32, 2, 64, false),
        (8, 10, 64, true),
        (16, 5, 64, true),
        (32, 3, 64, true),
        (2, 36, 63, false),
        (2, 36, 62, true),
        (8, 5, 32, true),
    ] {
        let found = dropped(servers, window, buffer, 2 * window);
        assert_eq!(found > 0.0, drops, "{servers} x {window}, buffer {buffer}: {found} dropped");
    }
}

#[test]
fn both_bounds_say_for_any_servers_windows_and_buffers_whether_packets_are_dropped() {
    let mut draws = Stream::new(7, "triples");
    let (mut fits, mut spills) = (0, 0);
    while fits + spills < 120 {
        let (servers, window) = (2 + draws.below(31), 1 + draws.below(24));
        let buffer = (servers * window + 4).saturating_sub(draws.below(24)).max(1);
        let (all, first) = (servers * window, (servers - 1) * window);
        let is_safe = all <= buffer + ON_THE_PATH && first <= buffer;
        let is_lost = all > buffer + ON_THE_PATH + 1 || first > buffer + 1;
        if is_safe == is_lost {
            continue; // between the two jitter decides
        }
        let found = dropped(servers, window, buffer, 2 * window);
        assert_eq!(found > 0.0, is_lost, "{servers} x {window}, buffer {buffer}: {found} dropped");
        *(if is_lost { &mut spills } else { &mut fits }) += 1;
    }
    assert!(fits > 20 && spills > 20, "{fits} and {spills}");
}

#[test]
fn one_server_moves_its_share_of_each_frame_less_a_round_trip_a_block() {
    let stack = run(&blocks(1, 1 << 20, 50, &json!({})));
    let packets = f64::from(1u32 << 20) / 1460.0;
    let block_us = packets.ceil() * 12.304 + 100.0 + 12.304;
    assert_within(metric(&stack, "network.goodput_mbit_per_s"), f64::from(1u32 << 23) / block_us, 0.002);
    assert_is(metric(&stack, "network.timeouts"), 0.0);
    assert_is(metric(&stack, "network.packets"), 50.0 * packets.ceil());
}

#[test]
fn the_transfer_of_a_message_is_its_time_on_one_of_the_two_links() {
    let stack = run(&blocks(1, 1 << 20, 1, &json!({"jitter": 0, "request_jitter": 0})));
    // 718 full packets and one of 296 bytes, each with 78 bytes more on the wire.
    let phases = stack.recorder().jobs[0].by_op[0].phases;
    assert_eq!(phases[Phase::NetworkTransfer as usize], 718 * 12_304 + (296 + 78) * 8);
}

#[test]
fn a_window_below_the_paths_packets_takes_the_time_that_it_takes_without_packets_but_for_a_frame() {
    let mut with = blocks(1, 1 << 20, 20, &json!({"window": 4, "jitter": 0, "request_jitter": 0}));
    let mut without = with.clone();
    without["network"].as_object_mut().expect("an object").remove("packets");
    without["network"]["client_buffer"] = (4 * 1460).into();
    with["network"]["client_buffer"] = (4 * 1460).into();
    let latency = |document: &Value| metric(&run(document), "client.read_latency_mean_ms");
    // 180 windows of four: a round trip of 100 us each, and here the packet that is whole before it goes on, on both links.
    assert_within(latency(&with) - latency(&without), 180.0 * 2.0 * 0.012_304, 0.05);
}

#[test]
fn a_silence_is_as_long_as_the_timer_and_the_requests_that_wait_for_it_are_charged_for_it() {
    let stack = run(&blocks(16, 1 << 20, 30, &json!({})));
    let silence_ms = metric(&stack, "network.silence_p50_ms");
    assert!((185.0..=205.0).contains(&silence_ms), "{silence_ms}");
    assert!(metric(&stack, "network.timeouts") >= metric(&stack, "network.silences"));
    let phases = stack.recorder().jobs[0].by_op[0].phases;
    assert!(phases[Phase::Timer as usize] > phases.iter().sum::<u64>() / 2, "{phases:?}");
    let silent = metric(&stack, "network.silent_requests_percent");
    assert!((55.0..=90.0).contains(&silent), "{silent}");
}

#[test]
fn who_does_not_wait_for_the_slowest_has_most_of_the_link_again() {
    let goodput = |depth: u64| {
        let mut document = blocks(16, 1 << 20, 400, &json!({}));
        document["jobs"][0]["iodepth"] = depth.into();
        metric(&run(&document), "network.goodput_mbit_per_s")
    };
    let (together, apart) = (goodput(1), goodput(200));
    assert!(together < 100.0 && apart > 600.0, "{together} and {apart}");
}

#[test]
fn a_client_that_asks_few_servers_at_once_loses_nothing_and_one_or_two_leave_gaps() {
    let mut rates = Vec::new();
    for (at_once, window) in [(1, 20), (2, 10), (4, 4)] {
        let stack = run(&blocks(64, 1 << 20, 12, &json!({"at_once": at_once, "window": window, "buffer": 16})));
        assert_is(metric(&stack, "network.dropped_packets"), 0.0);
        rates.push(metric(&stack, "network.goodput_mbit_per_s"));
    }
    assert!(rates[0] < 500.0 && rates[1] < 800.0 && rates[2] > 800.0, "{rates:?}");
}

#[test]
fn more_than_the_link_never_comes_and_what_was_asked_for_comes() {
    for servers in [1, 3, 7, 12, 64, 300] {
        let document = blocks(servers, 1 << 20, 5, &json!({"rto_min": "1ms"}));
        for goodput in each_seed(&document, "network.goodput_mbit_per_s") {
            assert!(goodput < 1000.0 * 1460.0 / 1538.0, "{servers}: {goodput}");
        }
        assert_is(mean(&each_seed(&document, "network.to_client_payload_bytes")), 5.0 * f64::from(1 << 20));
    }
}

#[test]
fn writes_leave_over_the_clients_one_link_and_no_port_of_a_server_overflows() {
    let mut document = blocks(16, 1 << 20, 12, &json!({}));
    document["jobs"][0]["rw"] = "write".into();
    let stack = run(&document);
    assert_is(metric(&stack, "network.dropped_packets"), 0.0);
    assert_is(metric(&stack, "network.to_server_payload_bytes"), 12.0 * f64::from(1 << 20));
    assert!(metric(&stack, "network.goodput_mbit_per_s") > 850.0);
}

#[test]
fn many_clients_have_a_port_each_and_many_writers_fill_one_of_a_server() {
    let mut document = blocks(4, 1 << 20, 12, &json!({}));
    document["jobs"][0]["numjobs"] = 16.into();
    document["network"]["clients"] = "worker".into();
    let read = run(&document);
    assert!(metric(&read, "network.goodput_mbit_per_s") > 3500.0, "four servers with a gigabit each");
    document["jobs"][0]["rw"] = "write".into();
    document["network"]["packets"]["servers"] = 1.into();
    let written = run(&document);
    assert!(metric(&written, "network.dropped_packets") > 0.0, "sixteen clients write to one server");
}

#[test]
fn a_timer_that_no_path_of_full_queues_can_outlast_is_refused() {
    let of = |rw: &str, rto_min: &str| {
        let mut document = blocks(4, 1 << 20, 12, &json!({"rto_min": rto_min, "buffer": 54}));
        (document["network"]["bits_per_s"], document["network"]["mtu"]) = (json!(1_000_000), json!(9000));
        document["jobs"][0]["rw"] = rw.into();
        problems(&document)
    };
    // 56 packets of 9038 bytes take 4.0 s at 1 Mbit/s, of which 63 ms are a 64th; the client's own link holds up to 80 more.
    assert_eq!(of("read", "64ms"), [""; 0]);
    assert_problem(&of("read", "60ms")[0], "network.packets.rto_min: 60 ms, 64 ms");
    assert_problem(&of("write", "64ms")[0], "network.packets.rto_min: 64 ms");
    let mut slow = blocks(4, 1 << 20, 12, &json!({"rto_min": "30s"}));
    slow["network"]["bits_per_s"] = json!(10_000);
    assert_problem(&problems(&slow)[0], "network.packets.rto_min: 30 s");
    // 64 times any timer would not be enough, so no timer is proposed.
    assert!(!has_values(&problems(&slow)[0], "64"), "{:?}", problems(&slow));
}

#[test]
fn what_a_switch_contradicts_is_refused() {
    let mut document = blocks(4, 1 << 20, 1, &json!({"servers": 1024}));
    document["network"]["connections"] = 16.into();
    document["network"]["server_links"] = 2.into();
    let found = problems(&document);
    assert_problem(&found[0], "network.packets.servers: 1024, 16384");
    assert_problem(&found[1], "network.server_links: 2, packets");
    document = blocks(4, 1 << 20, 1, &json!({"buffer": 0, "windows": 3}));
    let found = problems(&document);
    assert_has_problem(&found, "network.packets.buffer: 0");
    assert!(found.iter().any(|problem| problem.contains("window")), "{found:?}");
}
