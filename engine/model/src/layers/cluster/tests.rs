//! The cluster in small runs: what each mechanism does, in numbers that can be counted by hand.

#![allow(clippy::cast_precision_loss)] // bytes of small runs

use serde_json::{Value, json};

use crate::read;
use crate::testing::{assert_has_problem, assert_problem, assert_problems, metric, problems, run};
use seeklab_spec::Presets;

const BLOCK: u64 = 64 << 10;

/// Eight nodes with one fast device each; one machine of 64 MiB on node 0 reads at random for a second.
fn base(design: &str) -> Value {
    json!({
        "jobs": [{"name": "vm", "rw": "randread", "bs": BLOCK, "size": "64MiB", "iodepth": 4}],
        "cluster": {"design": design, "nodes": 8, "block": BLOCK, "vms": [{"name": "vm", "node": 0}]},
        "devices": [{"count": 8, "lun": {"rate": 4_000_000_000u64, "capacity": "1GiB"}}],
    })
}

fn with(mut document: Value, path: &str, value: Value) -> Value {
    seeklab_spec::read::set(&mut document, path, value).unwrap_or_else(|problem| panic!("{problem}"));
    document
}

/// The machine is on node 5 from the start of the run on; its disk was placed while it was on node 0.
fn moved(design: &str) -> Value {
    with(base(design), "cluster.moves", json!([{"vm": "vm", "at": 0, "to": 5}]))
}

#[test]
fn at_home_all_designs_but_hashes_read_their_own_node() {
    for (design, local) in [("locality", 100.0), ("dedup-pairs", 100.0), ("redirect-pairs", 100.0)] {
        let stack = run(&base(design));
        assert!((metric(&stack, "cluster_local_reads_percent") - local).abs() < 1e-9, "{design}");
    }
    let hashed = metric(&run(&base("hash")), "cluster_local_reads_percent");
    assert!((hashed - 25.0).abs() < 4.0, "{hashed} % of 1,024 blocks, 2 of 8 nodes");
}

#[test]
fn after_a_move_locality_has_what_other_copies_there_are_and_reading_brings_the_rest() {
    let stack = run(&moved("locality"));
    let at_move = metric(&stack, "cluster_placed_local_at_move_percent");
    assert!((at_move - 100.0 / 7.0).abs() < 4.0, "{at_move} %");
    assert!((metric(&stack, "cluster_placed_local_percent") - 100.0).abs() < 1e-9, "all was read, all is here");
    assert!((metric(&stack, "cluster_moved_over_read") - 1.0).abs() < 1e-9);
    let bytes = metric(&stack, "cluster_moved_bytes") / (64.0 * f64::from(1 << 20));
    assert!((bytes - (1.0 - at_move / 100.0)).abs() < 1e-9, "moved what was not here");
}

#[test]
fn without_migration_and_in_other_designs_nothing_moves() {
    let still = [
        with(moved("locality"), "cluster.migrate", json!(false)),
        moved("hash"),
        moved("dedup-spread"),
        moved("dedup-pairs"),
        moved("redirect-pairs"),
    ];
    for document in still {
        let stack = run(&document);
        assert!(metric(&stack, "cluster_moved_bytes") < 1.0, "{document}");
        let (before, after) = (metric(&stack, "cluster_placed_local_at_move_percent"), metric(&stack, "cluster_placed_local_percent"));
        assert!((before - after).abs() < 1e-9, "{document}");
    }
}

#[test]
fn a_pair_is_local_on_its_two_nodes_and_nowhere_else_and_an_owner_on_one() {
    for (design, to, local) in
        [("dedup-pairs", 1, 100.0), ("dedup-pairs", 2, 0.0), ("redirect-pairs", 1, 0.0), ("redirect-pairs", 0, 100.0)]
    {
        let stack = run(&with(moved(design), "cluster.moves[0].to", json!(to)));
        assert!((metric(&stack, "cluster_local_reads_percent") - local).abs() < 1e-9, "{design} to {to}");
    }
}

#[test]
fn lookups_are_walked_and_charged() {
    // Maps with two copies on eight nodes: three of four entries are elsewhere, in each of the maps.
    for (design, expected) in [("locality", 0.75), ("hash", 0.0), ("dedup-pairs", 0.0), ("dedup-spread", 1.5), ("redirect-pairs", 0.0)] {
        let stack = run(&base(design));
        let lookups = metric(&stack, "cluster_lookups_per_read");
        assert!((lookups - expected).abs() < 0.1, "{design}: {lookups}");
        let charged_ms =
            stack.metrics().into_iter().find(|metric| metric.name == "vm.read_lookup_mean_ms").map_or(0.0, |metric| metric.value);
        assert!((charged_ms - lookups * 0.1).abs() < 1e-9, "{design}: a round trip of 0.1 ms each, {charged_ms} ms");
        assert!(metric(&run(&with(base(design), "cluster.maps", json!("everywhere"))), "cluster_lookups_per_read") < 1e-9);
    }
    assert!((metric(&run(&moved("redirect-pairs")), "cluster_lookups_per_read") - 1.0).abs() < 1e-9, "sent on to the owner");
}

#[test]
fn a_read_next_door_costs_a_round_trip_and_its_bytes() {
    let mut document = moved("redirect-pairs");
    document["jobs"][0]["iodepth"] = 1.into();
    let stack = run(&document);
    // 64 KiB at 4 GB/s and at 1.25 GB/s, and 0.1 ms.
    let expected = 0.016_384 + 0.052_429 + 0.1;
    let found = metric(&stack, "vm.read_latency_mean_ms");
    assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
}

#[test]
fn a_lost_node_is_protected_again_by_all_others_or_by_its_partner_alone() {
    for (design, senders, rate) in [("hash", 7.0, 7.0 * 1250.0), ("locality", 7.0, 7.0 * 1250.0), ("dedup-pairs", 1.0, 1250.0)] {
        let mut document = with(base(design), "cluster.failures", json!([{"node": 0, "at": 0}]));
        document["jobs"][0]["size"] = "512MiB".into();
        document["jobs"][0]["number_ios"] = 10.into();
        let stack = run(&document);
        assert!(metric(&stack, "cluster_unprotected_blocks") + metric(&stack, "cluster_lost_blocks") < 1.0, "{design}");
        assert!((metric(&stack, "cluster_reprotect_nodes") - senders).abs() < 1e-9, "{design}");
        let found = metric(&stack, "cluster_reprotect_mb_per_s");
        assert!((found / rate - 1.0).abs() < 0.1, "{design}: {found} MB/s against {rate}");
    }
}

#[test]
fn duplicates_are_stored_once_in_the_cluster_and_once_in_each_pair() {
    let mut document = base("dedup-spread");
    document["cluster"]["duplicates"] = 40.into();
    document["jobs"][0]["numjobs"] = 8.into();
    let space = |document: &Value| metric(&run(document), "cluster_space_percent");
    let once = space(&document);
    assert!((once - 60.0).abs() < 2.0, "{once} %");
    document["cluster"]["design"] = "dedup-pairs".into();
    let one_pair = space(&document);
    assert!((one_pair - once).abs() < 2.0, "all machines are in one pair: {one_pair} %");
    let without = space(&with(document, "cluster.fingerprints", json!(false)));
    assert!((without - 100.0).abs() < 1e-9, "{without} %");
}

#[test]
fn writes_reach_every_copy_and_known_contents_reach_none() {
    let written = |design: &str, duplicates: u32| {
        let mut document = with(base(design), "cluster.duplicates", duplicates.into());
        document["jobs"][0]["rw"] = "write".into();
        let stack = run(&document);
        stack.usage().iter().map(|usage| usage.bytes[1]).sum::<u64>()
    };
    assert_eq!(written("hash", 0), 2 * (64 << 20));
    assert_eq!(written("hash", 50), 2 * (64 << 20), "a hash does not know contents");
    let deduplicated = written("dedup-spread", 50) as f64 / (2.0 * f64::from(64 << 20));
    assert!((deduplicated - 0.5).abs() < 0.06, "{deduplicated}");
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_lost() {
    let refused = |path: &str, value: Value, design: &str, expected: &str| {
        assert_has_problem(&problems(&with(base(design), path, value)), expected);
    };
    refused("cluster.copies", json!(3), "dedup-pairs", "cluster.copies: 3, 2");
    refused("cluster.nodes", json!(5), "dedup-pairs", "cluster.nodes: 5");
    refused("cluster.moves", json!([{"vm": "vm", "to": 8}]), "hash", "cluster.moves[0].to: 8");
    refused("cluster.vms[0].node", json!(9), "hash", "cluster.vms[0].node: 9, 8");
    refused("cluster.failures", json!([{"node": 1}, {"node": 2}]), "hash", "cluster.failures: 3.6%");
    refused("cluster.failures", json!([{"node": 2}, {"node": 3}]), "dedup-pairs", "cluster.failures: 2, 3");
    refused("cluster.failures", json!([{"node": 1}, {"node": 1}]), "hash", "cluster.failures[1].node: 1");
    refused("cluster.moves", json!([{"vm": "db", "to": 1}]), "hash", "cluster.moves[0].vm: \"db\"");
    let mut two = with(base("hash"), "cluster.nodes", json!(2));
    two["cluster"]["failures"] = json!([{"node": 1}]);
    assert_has_problem(&problems(&two), "cluster.failures: 1, 2");
    assert_has_problem(&problems(&with(two, "cluster.copies", json!(3))), "cluster.copies: 3, 2");
}

#[test]
fn bytes_written_are_the_copies_of_what_was_asked_and_bytes_read_are_what_was_asked() {
    for design in ["locality", "hash", "dedup-pairs", "dedup-spread", "redirect-pairs"] {
        let mut document = base(design);
        document["jobs"][0]["rw"] = "randrw".into();
        document["jobs"][0]["bs"] = 4096.into();
        let stack = run(&document);
        let asked = |op: &str| metric(&stack, &format!("vm.{op}_bytes"));
        let done = |op: usize| stack.usage().iter().map(|usage| usage.bytes[op]).sum::<u64>() as f64;
        assert!((done(0) - asked("read")).abs() < 1.0, "{design}");
        assert!((done(1) - 2.0 * asked("write")).abs() < 1.0, "{design}");
    }
}

#[test]
fn a_file_system_with_transaction_groups_runs_on_a_cluster_that_loses_a_node() {
    for design in ["locality", "hash", "dedup-pairs", "dedup-spread", "redirect-pairs"] {
        let mut document = with(base(design), "zfs", json!({"record": "64KiB", "memory": "1GiB"}));
        document["jobs"][0]["rw"] = "randrw".into();
        document["cluster"]["failures"] = json!([{"node": 6, "at": "20ms"}]);
        let stack = run(&document);
        assert!(metric(&stack, "cluster_unprotected_blocks") < 1.0, "{design}");
        assert!(
            stack.usage().iter().map(|usage| usage.bytes[1]).sum::<u64>() >= 2 * (16 << 20),
            "{design}: groups reached the devices twice"
        );
    }
}

#[test]
fn machines_of_different_nodes_do_not_share_a_file() {
    let sharing = |node: u32| {
        let job = |name: &str| json!({"name": name, "rw": "randread", "bs": BLOCK, "size": "64MiB", "filename": "disk"});
        let vms = json!([{"name": "a", "node": 0}, {"name": "b", "node": node}]);
        with(with(base("hash"), "jobs", json!([job("a"), job("b")])), "cluster.vms", vms)
    };
    assert!(read(&sharing(0), &Presets::default()).is_ok());
    assert_problems(&problems(&sharing(1)), &["jobs[1].filename: b, a, cluster.vms"]);
    let leaves = with(sharing(0), "cluster.moves", json!([{"vm": "b", "at": "1s", "to": 3}]));
    assert_problem(&problems(&leaves)[0], "jobs[1].filename");
}

#[test]
fn a_file_that_workers_share_takes_its_room_once() {
    // 64 workers of one machine on 512 MiB of a device of 1 GiB.
    let job = json!({"name": "vm", "rw": "randread", "bs": BLOCK, "size": "512MiB", "numjobs": 64, "number_ios": 2});
    let own = with(base("redirect-pairs"), "jobs", json!([job]));
    let shared = with(own.clone(), "jobs[0].filename", json!("disk"));
    assert!(read(&shared, &Presets::default()).is_ok());
    assert!(read(&own, &Presets::default()).is_err(), "64 files of 512 MiB find no room");
}
