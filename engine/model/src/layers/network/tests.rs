use crate::kernel::Phase;
use crate::testing::{assert_has_problem, assert_problem, assert_within, metric, problems, run};
use seeklab_spec::network::NetworkSpec;
use serde_json::{Value, json};

const MIB: f64 = 1_048_576.0;

/// A client that reads or writes over a network; the server answers in no time.
fn system(job: &Value, network: &Value) -> Value {
    let mut whole = json!({"name": "a", "size": "64MiB", "bs": "1MiB"});
    for (name, value) in job.as_object().expect("an object") {
        whole[name] = value.clone();
    }
    json!({"jobs": [whole], "network": network, "devices": [{"lun": {"rate": 1_000_000_000_000u64}}]})
}

#[test]
fn a_gigabit_link_moves_117_1_megabytes_a_second_of_nfs_data_and_jumbo_frames_5_percent_more() {
    for (mtu, expected) in [(1500, 117.1), (9000, 123.1)] {
        let job = json!({"rw": "read", "bs": "32KiB", "iodepth": 8});
        let stack = run(&system(&job, &json!({"bits_per_s": 1_000_000_000, "round_trip": "100us", "mtu": mtu})));
        assert_within(metric(&stack, "a.read_mib_per_s") * MIB / 1e6, expected, 0.004);
        assert!(metric(&stack, "network.to_client_busy_share_percent") <= 100.0);
    }
}

#[test]
fn a_connection_moves_one_window_per_round_trip() {
    for (client, server, round_trip_ms) in [(48, 1024, 150.0), (1024, 48, 150.0), (1024, 1024, 150.0), (100, 256, 20.0), (64, 64, 0.9)] {
        let network = json!({"bits_per_s": 1_000_000_000, "round_trip": format!("{round_trip_ms}ms"),
            "client_buffer": client << 10, "server_buffer": server << 10, "header": 0});
        for rw in ["read", "write"] {
            let stack = run(&system(&json!({"rw": rw, "iodepth": 4}), &network));
            let expected = f64::from(client.min(server) << 10) / (round_trip_ms * 1e-3);
            assert_within(metric(&stack, &format!("a.{rw}_mib_per_s")) * MIB, expected, 0.02);
        }
    }
}

#[test]
fn window_limited_connections_add_up_until_the_link_is_full() {
    let rate = |connections: u32| {
        let network = json!({"bits_per_s": 100_000_000, "round_trip": "50ms", "client_buffer": "64KiB", "server_buffer": "64KiB",
            "connections": connections, "header": 0});
        metric(&run(&system(&json!({"rw": "read", "iodepth": 64, "size": "256MiB"}), &network)), "a.read_mib_per_s")
    };
    let one = rate(1);
    assert_within(rate(4), 4.0 * one, 0.02);
    assert_within(rate(64) * MIB, 100e6 / 8.0 * 1448.0 / 1538.0, 0.03);
}

#[test]
fn a_single_exchange_takes_a_round_trip_and_its_bytes() {
    let network = json!({"bits_per_s": 1_000_000_000, "server_bits_per_s": 500_000_000, "round_trip": "10ms"});
    let stack = run(&system(&json!({"rw": "read", "number_ios": 1}), &network));
    let spec: NetworkSpec = serde_json::from_value(network).expect("a network");
    // Sixteen segments of 64 KiB and one with what the header adds.
    let back = 16 * spec.wire_bytes(65_536) + spec.wire_bytes(140);
    let wire_ns = (spec.wire_bytes(140) + back) * 8 * 2;
    let phases = stack.recorder().jobs[0].by_op[0].phases;
    assert_eq!(phases[Phase::RoundTrip as usize], 10_000_000);
    assert_eq!(phases[Phase::NetworkTransfer as usize], wire_ns);
    assert_eq!(phases[Phase::Window as usize] + phases[Phase::NetworkQueue as usize], 0);
}

#[test]
fn clients_share_the_servers_link_and_wait_for_it() {
    let network = json!({"bits_per_s": 1_000_000_000, "round_trip": "100us", "clients": "worker"});
    let rate = |workers: u32| {
        let stack = run(&system(&json!({"rw": "write", "numjobs": workers, "iodepth": 2}), &network));
        assert!(metric(&stack, "network.to_server_busy_share_percent") <= 100.0);
        (metric(&stack, "a.write_mib_per_s"), stack.recorder().jobs[0].by_op[1].phases[Phase::NetworkQueue as usize])
    };
    let (alone, among) = (rate(1), rate(4));
    assert_within(among.0, alone.0, 0.03);
    assert!(among.1 > alone.1, "who shares a link waits for it");
}

#[test]
fn bytes_on_the_wire_are_payload_headers_frames_and_acknowledgements() {
    let network = json!({"bits_per_s": 1_000_000_000, "round_trip": "1ms"});
    let stack = run(&system(&json!({"rw": "write", "bs": "32KiB", "size": "32MiB"}), &network));
    let messages = 1024.0;
    assert!((metric(&stack, "network.to_server_payload_bytes") - 32.0 * MIB).abs() < 0.5);
    assert!((metric(&stack, "network.to_client_payload_bytes")).abs() < 0.5);
    // 23 frames there, 1 back; an acknowledgement for two frames each way.
    let there = messages * (32_768.0 + 140.0 + 23.0 * 90.0) + messages / 2.0 * 90.0;
    let back = messages * (140.0 + 90.0) + messages * 23.0 / 2.0 * 90.0;
    assert!((metric(&stack, "network.to_server_wire_bytes") - there).abs() < 0.5);
    assert!((metric(&stack, "network.to_client_wire_bytes") - back).abs() < 0.5);
}

#[test]
fn a_window_that_holds_no_segment_and_a_link_of_no_bandwidth_are_refused() {
    let found = problems(&system(&json!({}), &json!({"bits_per_s": 1_000_000_000, "round_trip": 0, "server_buffer": 1000})));
    assert_problem(&found[0], "network.server_buffer: 1000, 1448");
    let found = problems(&system(&json!({}), &json!({"bits_per_s": 0, "round_trip": 0, "client_buffer": 0, "connections": 1000})));
    assert_eq!(found.len(), 3, "{found:?}");
    let job = json!({"numjobs": 4096});
    let found = problems(&system(&job, &json!({"bits_per_s": 1000, "round_trip": 0, "connections": 100, "clients": "worker"})));
    assert_has_problem(&found, "network.connections: 4096, 100");
}
