//! The node between clients that want more than it can do, or one that waits for each answer, and devices that take no time.

use serde_json::{Value, json};

use crate::kernel::Phase;
use crate::stack::Stack;
use crate::testing::{self, assert_problems, assert_within, metric, problems};
use seeklab_spec::network::NetworkSpec;
use seeklab_spec::server::ServerSpec;

const HZ: f64 = 1e9;

/// Merges `changes` into `document`, object by object.
fn merge(document: &mut Value, changes: &Value) {
    match (document, changes) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Clients that read 8 KiB each over links that are never the limit, from a node of 1 GHz on which nothing costs anything yet.
fn run(clients: u32, server: &Value, network: &Value) -> Stack {
    let mut document = json!({
        "jobs": [{"name": "a", "rw": "randread", "bs": "8KiB", "size": "1MiB", "numjobs": clients, "norandommap": true, "loops": 2, "number_ios": 200}],
        "network": {"bits_per_s": 100_000_000_000u64, "server_bits_per_s": 1_000_000_000_000u64, "round_trip": "10us", "clients": "worker", "header": 100},
        "server": {"cores": 4, "hz": 1_000_000_000},
        "devices": [{"lun": {"rate": 1_000_000_000_000u64}}],
    });
    merge(&mut document["server"], server);
    merge(&mut document["network"], network);
    testing::run(&document)
}

fn phase_ns(stack: &Stack, phase: Phase) -> u64 {
    stack.recorder().jobs[0].by_op[0].phases[phase as usize]
}

#[test]
fn cores_over_cycles_are_the_most_that_a_node_does() {
    for (cores, cycles) in [(1u32, 20_000u32), (4, 50_000), (16, 100_000)] {
        let stack = run(64, &json!({"cores": cores, "request_cycles": cycles}), &json!({}));
        assert_within(metric(&stack, "a.read_iops"), f64::from(cores) * HZ / f64::from(cycles), 0.03);
        assert_within(metric(&stack, "server.busy_share_percent"), 100.0, 0.03);
        assert_within(metric(&stack, "server.cycles_per_byte"), f64::from(cycles) / 8192.0, 1e-9);
    }
}

#[test]
fn a_request_alone_takes_its_cycles_and_waits_for_no_core() {
    let stack = run(1, &json!({"request_cycles": 20_000, "byte_cycles": 2.5}), &json!({}));
    assert_eq!(phase_ns(&stack, Phase::Cpu), 200 * (20_000 + 8192 * 5 / 2));
    assert_eq!(phase_ns(&stack, Phase::CpuWait) + phase_ns(&stack, Phase::Blanked) + phase_ns(&stack, Phase::CrossCall), 0);
}

#[test]
fn an_interrupt_comes_when_the_first_frame_has_waited_or_enough_have_come() {
    let nic = json!({"blank": "100us", "blank_frames": 1000, "interrupt_cycles": 3000, "receive_cycles": 500});
    let alone = run(1, &json!({"nic": nic}), &json!({}));
    assert_eq!(phase_ns(&alone, Phase::Blanked), 200 * 100_000, "nothing else comes: each request waits for the timer");
    assert!((metric(&alone, "server.interrupts") - 200.0).abs() < 0.5);
    let at_once = run(1, &json!({"nic": {"blank": "100us", "interrupt_cycles": 3000}}), &json!({}));
    assert_eq!(phase_ns(&at_once, Phase::Blanked), 0, "one frame is enough");
    assert!(metric(&at_once, "server.interrupts") > 2.0 * metric(&alone, "server.interrupts"), "acknowledgements interrupt too");
    // Many clients fill the interrupt before its time.
    let busy = run(64, &json!({"nic": {"blank": "10ms", "blank_frames": 16, "interrupt_cycles": 3000}}), &json!({}));
    assert!(phase_ns(&busy, Phase::Blanked) < 200 * 64 * 1_000_000);
    assert_within(metric(&busy, "server.frames_per_interrupt"), 16.0, 0.05);
}

#[test]
fn who_waits_for_each_answer_feels_blanking_and_who_comes_in_crowds_does_not() {
    let latency_ms = |blank_us: u32, clients| {
        let nic = json!({"blank": format!("{blank_us}us"), "blank_frames": 8, "interrupt_cycles": 10_000});
        metric(&run(clients, &json!({"cores": 16, "request_cycles": 20_000, "nic": nic}), &json!({})), "a.read_latency_mean_ms")
    };
    assert!(latency_ms(400, 1) > 3.0 * latency_ms(20, 1));
    assert_within(latency_ms(400, 64), latency_ms(20, 64), 0.25);
}

#[test]
fn cycles_of_a_reply_are_those_of_its_frames_and_of_their_acknowledgements() {
    let nic =
        json!({"send_cycles": 1000, "post_cycles": 300, "map_cycles": 700, "receive_cycles": 400, "blank_frames": 4096, "blank": "1us"});
    let cycles = |change: &Value, network: &Value| {
        let mut nic = nic.clone();
        merge(&mut nic, change);
        metric(&run(1, &json!({"nic": nic}), network), "server.network_cycles_per_byte") * 8192.0
    };
    let spec =
        |mtu: u32| -> NetworkSpec { serde_json::from_value(json!({"bits_per_s": 1, "round_trip": 0, "mtu": mtu})).expect("a network") };
    for mtu in [1500, 4000, 9000] {
        let frames = super::to_f64(spec(mtu).frames(8192 + 100));
        // One frame brings the request; each reply has acknowledgements for its frames by twos.
        let expected = frames * 2000.0 + 400.0 * (1.0 + frames / 2.0);
        assert_within(cycles(&json!({}), &json!({"mtu": mtu})), expected, 0.002);
    }
    let acknowledgements = 400.0 * (1.0 + super::to_f64(spec(1500).frames(8192 + 100)) / 2.0);
    assert_within(cycles(&json!({"large_send": true}), &json!({})), 2000.0 + acknowledgements, 0.002);
    // Frames of 1448 bytes are copied up to a threshold of that size.
    let copied = cycles(&json!({"copy_threshold": 2048, "copy_byte_cycles": 0.25}), &json!({}));
    assert_within(copied, 6.0 * 1300.0 + 0.25 * 8292.0 + acknowledgements, 0.002);
    assert_within(cycles(&json!({"copy_threshold": 1000, "copy_byte_cycles": 0.25}), &json!({})), 6.0 * 2000.0 + acknowledgements, 0.05);
}

/// Rings, connections and what they cost: a ring that nobody holds must be taken over.
fn rings(clients: u32, rings: u32) -> Stack {
    let nic = json!({"send_cycles": 2000, "post_cycles": 4000, "ring_cycles": 20_000, "rings": rings, "receive_rings": 4,
        "blank_frames": 32, "blank": "20us"});
    run(clients, &json!({"cores": 16, "request_cycles": 40_000, "nic": nic}), &json!({}))
}

#[test]
fn many_rings_cost_more_under_many_connections_only() {
    let cost = |clients, count| metric(&rings(clients, count), "server.network_cycles_per_byte");
    assert!(cost(64, 32) > 1.5 * cost(64, 2), "{} {}", cost(64, 32), cost(64, 2));
    assert_within(cost(2, 32), cost(2, 2), 0.01);
    let free = |clients, count| metric(&rings(clients, count), "server.take_overs");
    assert!(free(64, 32) > 3.0 * free(64, 2));
}

#[test]
fn one_ring_is_the_limit_and_two_are_not() {
    let rate = |count| metric(&rings(64, count), "a.read_iops");
    // The holder of the only ring posts 6 frames of 4000 cycles for each reply.
    assert_within(rate(1), HZ / 24_000.0, 0.05);
    assert!(rate(2) > 1.5 * rate(1));
}

/// A node whose buffers are unmapped when they are freed.
fn unmapping(cores: u32, buffers: &Value) -> Stack {
    let mut all = json!({"size": "1MiB", "keeps": "128KiB", "call_cycles": 1000, "answer_cycles": 500});
    merge(&mut all, buffers);
    run(128, &json!({"cores": cores, "request_cycles": 50_000, "buffers": all}), &json!({}))
}

#[test]
fn each_unmapping_calls_every_other_core() {
    for cores in [1u32, 2, 7, 16] {
        let stack = unmapping(cores, &json!({}));
        let ios = 128.0 * 200.0;
        assert!((metric(&stack, "server.unmaps") - ios).abs() < 0.5);
        assert!((metric(&stack, "server.cross_calls") - ios * f64::from(cores - 1)).abs() < 0.5);
    }
    for kept in [json!({"object_cache": true}), json!({"size": "64KiB"}), json!({"size": null})] {
        assert!(metric(&unmapping(16, &kept), "server.cross_calls").abs() < 0.5, "{kept}");
    }
}

#[test]
fn a_node_that_unmaps_does_less_with_more_cores_from_some_number_on() {
    // An oracle written apart: cores over the work of a request with its calls and answers, or one cross-call after the other.
    let oracle = |cores: f64| (cores * HZ / (50_000.0 + (cores - 1.0) * 1500.0)).min(HZ / ((cores - 1.0) * 1000.0));
    for cores in [1u32, 2, 4, 32, 48, 64] {
        assert_within(metric(&unmapping(cores, &json!({})), "a.read_iops"), oracle(f64::from(cores)), 0.06);
    }
    let rate = |cores| metric(&unmapping(cores, &json!({})), "a.read_iops");
    assert!(rate(8) > 4.0 * rate(1) && rate(64) < 0.7 * rate(8));
    let kept = |cores| metric(&unmapping(cores, &json!({"object_cache": true})), "a.read_iops");
    assert_within(kept(32), 32.0 * kept(1), 0.06);
}

#[test]
fn a_cross_call_lasts_until_the_other_cores_have_answered() {
    // Calling costs next to nothing, answering 100 us at 1 GHz: 10,000 calls a second, one after the other, whatever the cores.
    for cores in [2u32, 8, 32] {
        let rate = metric(&unmapping(cores, &json!({"call_cycles": 1, "answer_cycles": 100_000})), "a.read_iops");
        assert!(rate <= 10_000.0, "{cores} cores: {rate}");
    }
    // A node of one core calls nobody.
    assert_within(metric(&unmapping(1, &json!({"answer_cycles": 100_000})), "a.read_iops"), HZ / 50_000.0, 0.03);
}

#[test]
fn several_links_serve_several_connections_and_one_connection_only_once() {
    let rate = |links: u32, clients: u32| {
        let network = json!({"server_bits_per_s": 1_000_000_000, "server_links": links});
        metric(&run(clients, &json!({}), &network), "a.read_mib_per_s")
    };
    assert_within(rate(4, 1), rate(1, 1), 0.001);
    let gained = rate(4, 64) / rate(1, 64);
    assert!(gained > 2.5 && gained <= 4.0, "{gained}");
    let spec: NetworkSpec = serde_json::from_value(json!({"bits_per_s": 1, "round_trip": 0, "server_links": 4})).expect("a network");
    let mut connections = [0u32; 4];
    for connection in 0..1000 {
        connections[spec.server_link(connection)] += 1;
    }
    assert!(connections.iter().all(|count| (230..270).contains(count)), "{connections:?}");
}

#[test]
fn a_node_without_a_network_is_refused() {
    let document =
        json!({"jobs": [{"name": "a", "size": "1MiB"}], "server": {"cores": 1, "hz": 1_000_000_000}, "devices": [{"lun": {"rate": 1000}}]});
    assert_problems(&problems(&document), &["server: network"]);
    let few = serde_json::from_value::<ServerSpec>(json!({"cores": 1, "hz": 1, "nic": {"rings": "many"}}));
    assert!(few.is_err());
}
