//! Fleets against closed forms: p = C(dark, copies) / C(nodes, copies), and 1 - (1 - p)^sets of outages lose something.

use serde_json::{Value, json};

use super::Fleet;
use crate::stack::Stack;
use crate::testing::{assert_is, assert_problem, assert_problems, assert_within, metric, problems, run};

/// 5000 nodes of 64 GiB, of which an outage leaves 50 dark, with so many outages; a job that reads some of what a lost node held.
fn fleet(outages: u32, fleet: &Value) -> Value {
    let mut document = json!({
        "jobs": [{"name": "restore", "rw": "randread", "bs": "1MiB", "size": "16GiB", "iodepth": 16_384, "number_ios": 10, "norandommap": true}],
        "fleet": {"nodes": 5000, "outages": outages},
        "devices": [{"lun": {"capacity": "32GiB", "rate": "1GB"}}],
        "record": {"log": false},
    });
    if let (Some(into), Value::Object(from)) = (document["fleet"].as_object_mut(), fleet.clone()) {
        into.extend(from);
    }
    document
}

/// The layer alone.
fn of(fleet: &Value) -> Fleet {
    Fleet::new(&serde_json::from_value(fleet.clone()).expect("a fleet"), 1)
}

fn random(outages: u32, chunks: u64) -> Stack {
    run(&fleet(outages, &json!({"placement": "random", "chunks": chunks})))
}

fn copysets(outages: u32, scatter: u32) -> Stack {
    run(&fleet(outages, &json!({"placement": "copysets", "scatter": scatter})))
}

fn window(outages: u32, scatter: u32) -> Stack {
    run(&fleet(outages, &json!({"placement": "window", "scatter": scatter, "chunks": 9_800_000})))
}

/// The share of outages that lose something is so many per cent, but for three standard deviations of their number.
#[track_caller]
fn assert_loses(stack: &Stack, percent: f64) {
    let (found, outages) = (metric(stack, "fleet_loss_percent"), metric(stack, "fleet_outages"));
    let deviation = 100.0 * (percent / 100.0 * (1.0 - percent / 100.0) / outages).sqrt();
    assert!((found - percent).abs() <= 3.0 * deviation, "{found} % against {percent} +- {deviation}");
}

#[test]
fn outages_lose_as_often_as_independent_sets_of_that_number() {
    // p = 19,600 / 20,820,835,000 = 9.41364743536943e-7.
    for (chunks, percent) in [(275_000, 22.808), (225_000, 19.088), (9_800_000, 99.990)] {
        let stack = random(10_000, chunks);
        assert_loses(&stack, percent);
        assert!((metric(&stack, "fleet_expected_loss_percent") - percent).abs() < 0.0006);
    }
    let one = random(10, 1);
    assert_is(metric(&one, "fleet_expected_loss_percent"), 9.413_647_435_369_43e-5);
}

#[test]
fn copysets_lose_as_seldom_as_there_are_few_of_them() {
    let one = copysets(300_000, 2);
    assert_is(metric(&one, "fleet_copysets"), 1666.0);
    // Exact by inclusion and exclusion, for the groups of a permutation share no node.
    assert_loses(&one, 0.156_73);
    assert!((metric(&one, "fleet_expected_loss_percent") - 0.156_71).abs() < 0.000_01);
    let five = copysets(100_000, 10);
    assert_is(metric(&five, "fleet_copysets"), 8330.0);
    assert_loses(&five, 0.7811);
}

#[test]
fn windows_overlap_and_lose_less_often_than_as_many_independent_sets() {
    let ten = window(20_000, 10);
    assert_is(metric(&ten, "fleet_copysets"), 225_000.0);
    assert!((metric(&ten, "fleet_loss_percent") - 17.5).abs() < 0.8, "{}", metric(&ten, "fleet_loss_percent"));
    let eleven = window(20_000, 11);
    assert_is(metric(&eleven, "fleet_copysets"), 275_000.0);
    assert!((metric(&eleven, "fleet_loss_percent") - 20.8).abs() < 0.9, "{}", metric(&eleven, "fleet_loss_percent"));
}

#[test]
fn every_placement_loses_as_many_bytes_in_the_mean() {
    // 5000 x 64 GiB / 3 x 9.41e-7 = 107.8 MB. The standard deviation is 3.6 % for copysets with 100,000 outages, 5 % for windows.
    let mean = |stack: &Stack| metric(stack, "fleet_lost_mean_bytes");
    for found in [mean(&random(10_000, 9_800_000)), mean(&copysets(100_000, 10)), mean(&window(10_000, 10))] {
        assert_within(found, 107_814_000.0, 0.11);
    }
    assert_within(metric(&random(10_000, 9_800_000), "fleet_lost_mean_bytes"), 107_814_000.0, 0.01);
    // One group of 1666 holds a 1666th of 114.5 TB.
    assert_within(metric(&copysets(100_000, 2), "fleet_lost_given_loss_bytes"), 68_740_000_000.0, 0.02);
}

#[test]
fn groups_that_go_dark_together_lose_at_every_outage() {
    let shared = |placement: &str| {
        let stack = run(&fleet(1000, &json!({"placement": placement, "dark_by": "group", "chunks": 275_000})));
        metric(&stack, "fleet_loss_percent")
    };
    assert_is(shared("copysets"), 100.0);
    assert!((shared("random") - 22.8).abs() < 4.0);
}

#[test]
fn each_outage_draws_which_groups_go_dark_together() {
    for placement in ["copysets", "random"] {
        let stack = run(&fleet(40, &json!({"placement": placement, "dark_by": "group", "chunks": 275_000})));
        let Some(crate::result::columns::Column::U32(nodes)) = stack.column("dark.node") else { panic!("no column dark.node") };
        let different: std::collections::BTreeSet<u32> = nodes.iter().copied().collect();
        // Of 40 draws of 1 % each a third of the nodes is dark once at least.
        assert!((1500..=1900).contains(&different.len()), "{placement}: {}", different.len());
        // Neighbours share a supply where there is no permutation.
        assert!(placement == "copysets" || nodes.chunks(50).all(|outage| outage[..48].chunks(3).all(|of| of[0] / 3 == of[2] / 3)));
    }
}

#[test]
fn everything_dark_loses_everything_and_too_few_dark_nodes_lose_nothing() {
    for placement in ["random", "copysets"] {
        let all = run(&fleet(10, &json!({"placement": placement, "nodes": 60, "dark_percent": 100, "chunks": 30_000})));
        assert_is(metric(&all, "fleet_loss_percent"), 100.0);
        assert_within(metric(&all, "fleet_lost_mean_bytes"), 20.0 * f64::from(1u32 << 30) * 64.0, 1e-9);
        let two = run(&fleet(1000, &json!({"placement": placement, "nodes": 60, "dark_percent": 3.4, "chunks": 30_000})));
        assert_is(metric(&two, "fleet_dark_nodes"), 2.0);
        assert_is(metric(&two, "fleet_loss_percent"), 0.0);
    }
}

#[test]
fn given_sets_are_lost_when_their_nodes_are_dark() {
    // Of 6 nodes 3 are dark: one of 20 ways for each set of three.
    let sets = json!([0, 1, 2, 3, 4, 5, 5, 0, 3, 2, 1, 0]);
    let stack = run(&fleet(20_000, &json!({"placement": "given", "nodes": 6, "dark_percent": 50, "sets": sets})));
    assert_is(metric(&stack, "fleet_copysets"), 3.0);
    assert_is(metric(&stack, "fleet_scatter_width_mean"), (4.0 + 2.0 + 2.0 + 3.0 + 2.0 + 3.0) / 6.0);
    assert_is(metric(&stack, "fleet_scatter_width_least"), 2.0);
    assert_loses(&stack, 15.0);
    // The first and the last are the same nodes, and half of all chunks.
    assert_within(metric(&stack, "fleet_lost_mean_bytes"), (0.5 + 0.25 + 0.25) / 20.0 * 2.0 * f64::from(1u32 << 30) * 64.0, 0.1);
}

#[test]
fn a_lost_node_is_copied_again_from_as_many_nodes_as_share_its_sets() {
    let restore = |scatter: u32| {
        let mut document = fleet(1, &json!({"placement": "copysets", "scatter": scatter, "chunks": 9_800_000}));
        document["jobs"][0]["number_ios"] = 16_384.into();
        let stack = run(&document);
        (metric(&stack, "elapsed_s"), metric(&stack, "fleet_sources"))
    };
    // 16 GiB at 100 MB/s from each source.
    let (two, ten, fifty) = (restore(2), restore(10), restore(50));
    assert_is(two.1, 2.0);
    assert_is(ten.1, 10.0);
    assert!((fifty.1 - 49.0).abs() <= 1.0, "{}", fifty.1);
    assert_within(two.0, 85.9, 0.01);
    assert_within(two.0 / ten.0, 5.0, 0.1);
    assert_within(ten.0 / fifty.0, 5.0, 0.15);
}

#[test]
fn the_chunks_of_a_lost_node_are_where_its_placement_puts_them() {
    let restore = |placement: &str| {
        let mut document = fleet(1, &json!({"placement": placement, "chunks": 9_800_000}));
        document["jobs"][0]["number_ios"] = 16_384.into();
        metric(&run(&document), "fleet_sources")
    };
    // Ten followers, and ten nodes whose follower it is; any of 4999.
    assert_is(restore("window"), 20.0);
    assert!(restore("random") > 4000.0);
}

#[test]
fn a_chunk_of_a_lost_node_is_on_as_many_others_as_it_has_further_copies() {
    for placement in ["random", "window", "copysets"] {
        let mut fleet = of(&json!({"nodes": 40, "placement": placement, "copies": 4, "scatter": 6}));
        for _ in 0..1000 {
            fleet.draw_holders();
            let others: std::collections::BTreeSet<u32> = fleet.holders.iter().copied().collect();
            assert_eq!(others.len(), 3, "{placement}: {:?}", fleet.holders);
            assert!(!others.contains(&fleet.lost), "{placement}: {:?} without {}", fleet.holders, fleet.lost);
        }
    }
}

#[test]
fn the_first_of_the_nodes_with_the_widest_scatter_is_the_one_that_is_lost() {
    let lost = |sets: Value| of(&json!({"nodes": 9, "placement": "given", "sets": sets})).lost;
    assert_eq!(lost(json!([0, 1, 2, 3, 4, 5])), 0);
    assert_eq!(lost(json!([0, 1, 2, 3, 4, 5, 4, 6, 7, 5, 2, 1])), 4, "as wide as 5");
}

#[test]
fn the_least_scatter_is_told_where_sets_or_windows_say_it() {
    let least = |fleet: Value| {
        let metrics = run(&self::fleet(1, &fleet)).metrics();
        metrics.into_iter().find(|metric| metric.name == "fleet_scatter_width_least").map(|metric| metric.value)
    };
    assert_eq!(least(json!({"placement": "random"})), None);
    assert_eq!(least(json!({"placement": "window", "chunks": 9_800_000})), Some(20.0));
    assert_eq!(least(json!({"placement": "given", "sets": [0, 1, 2]})), Some(0.0), "most nodes are in no set");
}

#[test]
fn of_an_outage_at_most_64_lost_sets_are_kept_each_once() {
    let kept = |changes: Value| {
        let stack = run(&fleet(3, &changes));
        let column = |name: &str| match stack.column(name) {
            Some(crate::result::columns::Column::U32(values)) => values,
            _ => panic!("no column {name}"),
        };
        let mut sets = std::collections::BTreeMap::<(u32, u32), std::collections::BTreeSet<u32>>::new();
        for ((outage, set), node) in column("lost_sets.outage").into_iter().zip(column("lost_sets.set")).zip(column("lost_sets.node")) {
            assert!(sets.entry((outage, set)).or_default().insert(node), "{node} is twice in set {set} of outage {outage}");
        }
        assert!(sets.values().all(|nodes| nodes.len() == 3));
        let different: std::collections::BTreeSet<_> = sets.iter().map(|((outage, _), nodes)| (*outage, nodes.clone())).collect();
        assert_eq!(different.len(), sets.len());
        sets.len()
    };
    let dark = json!({"nodes": 600, "dark_percent": 100, "placement": "copysets", "chunks": 30_000});
    assert_eq!(kept(dark), 3 * 64);
    let sets = json!([0, 1, 2, 3, 4, 5, 2, 1, 0]);
    assert_eq!(kept(json!({"nodes": 6, "dark_percent": 100, "placement": "given", "sets": sets})), 3 * 2, "two are the same");
}

#[test]
fn kept_outages_show_dark_nodes_and_lost_sets_among_them() {
    for placement in ["random", "window", "copysets"] {
        let stack = run(&fleet(20_000, &json!({"placement": placement, "chunks": 9_800_000})));
        let column = |name: &str| match stack.column(name) {
            Some(crate::result::columns::Column::U32(values)) => values,
            _ => panic!("no column {name}"),
        };
        let dark: Vec<(u32, u32)> = column("dark.outage").into_iter().zip(column("dark.node")).collect();
        let lost: Vec<(u32, u32)> = column("lost_sets.outage").into_iter().zip(column("lost_sets.node")).collect();
        assert!(dark.len() >= 40 * 50 && dark.len().is_multiple_of(50), "{placement}: {}", dark.len());
        assert!(!lost.is_empty() && lost.len().is_multiple_of(3), "{placement}: {}", lost.len());
        assert!(lost.iter().all(|pair| dark.contains(pair)), "{placement}: a lost set with a node that is not dark");
        let outages: std::collections::BTreeSet<u32> = lost.iter().map(|(outage, _)| *outage).collect();
        assert!(outages.len() >= 8, "{placement}: {outages:?}");
    }
}

#[test]
fn the_same_seed_draws_the_same_outages_and_another_one_others() {
    let lost = |seed: u64| {
        let checked = crate::read(&fleet(20_000, &json!({"placement": "copysets"})), &seeklab_spec::Presets::default()).expect("valid");
        let mut stack = Stack::new(checked, seed);
        while !stack.step(1000).expect("within limits") {}
        metric(&stack, "fleet_lost_mean_bytes")
    };
    assert_is(lost(1), lost(1));
    assert!((lost(1) - lost(2)).abs() > 1.0);
}

#[test]
fn contradictions_are_refused_with_what_is_accepted() {
    for (changes, expected) in [
        (json!({"placement": "copysets", "nodes": 3, "copies": 4}), "fleet.copies: 4, 3"),
        (json!({"placement": "random", "nodes": 10, "chunks": 121}), "fleet.chunks: 3, 10, 120"),
        (json!({"placement": "window", "nodes": 20, "scatter": 10}), "fleet.scatter: 10, 3, 20, 2, 9"),
        (json!({"placement": "copysets", "chunks": 83_299}), "fleet.chunks: 83299, 8330, 83300"),
        (
            json!({"placement": "copysets", "nodes": 100_000, "scatter": 1000, "chunks": 1_000_000_000}),
            "fleet.scatter: 500, 100000, 10000000",
        ),
        (
            json!({"placement": "window", "outages": 1_000_000, "scatter": 1000, "copies": 2, "chunks": 30_000_000, "nodes": 3000, "dark_percent": 50}),
            "fleet.outages: 1000000, 1500, 2667",
        ),
        (json!({"placement": "given", "sets": []}), "fleet.sets: 0, 3"),
        (json!({"placement": "given", "sets": [0, 1]}), "fleet.sets: 2, 3"),
        (json!({"placement": "given", "sets": [0, 1, 2, 0, 1, 5000]}), "fleet.sets[5]: 5000, 0, 4999"),
        (json!({"placement": "given", "sets": [0, 1, 1]}), "fleet.sets[2]: 1, 0, 4999"),
        (json!({"placement": "random", "sets": [0, 1, 2]}), "fleet.sets: \"given\""),
    ] {
        assert_problems(&problems(&fleet(10, &changes)), &[expected]);
    }
    let mut writes = fleet(10, &json!({"placement": "copysets"}));
    writes["jobs"][0]["rw"] = "write".into();
    assert_problems(&problems(&writes), &["jobs[0].rw: read, randread, fleet"]);
    let mut tiered = fleet(10, &json!({"placement": "copysets"}));
    tiered["tier"] = json!({"size": "64MiB", "ssd": {"capacity": "1GiB", "units": 8, "page": 4096, "read": "60us", "program": "650us", "interface_rate": "1GB"}});
    assert_problem(&problems(&tiered)[0], "fleet: tier");
}
