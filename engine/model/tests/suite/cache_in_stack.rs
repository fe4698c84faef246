//! The block cache of a stack holds what a bare replay of the same blocks holds, under every policy and while its size changes.

use proptest::prelude::*;
use seeklab_cache::{Keys, PolicyKind};
use seeklab_model::result::columns::Column;
use seeklab_model::stack::Stack;
use seeklab_spec::Presets;
use seeklab_spec::testing::assert_problems;
use serde_json::{Value, json};

const BLOCK: u64 = 65_536;
const MS: f64 = 1e6;

/// Runs random reads of whole blocks; when each was issued, its block, and whether it had to go below, in order of issue.
fn reads(cache: &Value, seed: u64) -> Vec<(f64, u64, bool)> {
    let document = json!({
        "jobs": [{"name": "r", "rw": "randread", "bs": BLOCK, "size": "32MiB", "number_ios": 800, "random_distribution": "zipf:0.6"}],
        "volume": {"block": BLOCK, "cache": cache},
        "devices": [{"lun": {"rate": "100MB", "latency": "1ms"}}],
    });
    let scenario = seeklab_model::read(&document, &Presets::default()).expect("a valid scenario");
    let mut stack = Stack::new(scenario, seed);
    while !stack.step(1 << 20).expect("within limits") {}
    let column = |name: &str| match stack.column(name).unwrap_or_else(|| panic!("{name}")) {
        Column::F64(values) => values,
        Column::U32(values) => values.into_iter().map(f64::from).collect(),
    };
    let (issued, offset, missed) = (column("ops.submit_ns"), column("ops.offset"), column("ops.missed_bytes"));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "offsets are whole and small")]
    issued.into_iter().zip(offset).zip(missed).map(|((at, offset), missed)| (at, offset as u64 / BLOCK, missed > 0.0)).collect()
}

fn replay(policy: PolicyKind, requests: &[(f64, u64, bool)], sizes: &[(f64, u64)]) -> Vec<bool> {
    let mut cache = policy.cache(sizes[0].1, Keys::Any);
    let mut evicted = Vec::new();
    let mut to_come = sizes[1..].iter().peekable();
    let mut missed = Vec::new();
    for (at, block, _) in requests {
        while let Some((_, size)) = to_come.next_if(|(when, _)| when <= at) {
            cache.set_capacity(*size, &mut evicted);
        }
        missed.push(!cache.access(*block, 1, &mut evicted));
    }
    missed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_stack_misses_exactly_where_a_replay_of_its_blocks_misses(seed in 0u64..1000, blocks in 4u64..200, other in 1u64..300) {
        for policy in PolicyKind::ALL {
            let size = |blocks: u64| blocks * BLOCK;
            let steady = json!({"size": size(blocks), "rate": "4GB", "policy": policy.name()});
            let requests = reads(&steady, seed);
            let missed: Vec<bool> = requests.iter().map(|request| request.2).collect();
            prop_assert_eq!(replay(policy, &requests, &[(0.0, blocks)]), missed, "{}", policy);

            let changing = json!({"size": size(blocks), "rate": "4GB", "policy": policy.name(),
                "resize": [{"at": "50ms", "size": size(other)}, {"at": "200ms", "size": size(blocks)}]});
            let requests = reads(&changing, seed);
            let missed: Vec<bool> = requests.iter().map(|request| request.2).collect();
            let sizes = [(0.0, blocks), (50.0 * MS, other), (200.0 * MS, blocks)];
            prop_assert_eq!(replay(policy, &requests, &sizes), missed, "{} resized", policy);
        }
    }
}

#[test]
fn a_cache_that_shrinks_misses_more_from_then_on_and_one_that_grows_fewer() {
    let misses = |size: u64| {
        let cache = json!({"size": 256 * BLOCK, "rate": "4GB", "resize": [{"at": "100ms", "size": size * BLOCK}]});
        reads(&cache, 7).into_iter().filter(|(at, _, missed)| *at >= 100.0 * MS && *missed).count()
    };
    assert!(misses(8) > misses(64) && misses(64) > misses(512), "{} {} {}", misses(8), misses(64), misses(512));
}

#[test]
fn a_schedule_that_cannot_be_is_refused_with_its_place() {
    let problems = |resize: Value| {
        let document = json!({
            "jobs": [{"name": "r", "size": "1MiB"}],
            "volume": {"block": BLOCK, "cache": {"size": "1MiB", "rate": "4GB", "resize": resize}},
            "devices": [{"lun": {"rate": "100MB"}}],
        });
        seeklab_model::read(&document, &Presets::default()).expect_err("refused")
    };
    assert_problems(
        &problems(json!([{"at": "1s", "size": "32KiB"}, {"at": "1s", "size": "1MiB"}])),
        &["volume.cache.resize[0].size: 32 KiB, 64 KiB", "volume.cache.resize[1].at: 1 s"],
    );
    let found = problems(json!([{"at": "1s", "size": "1MiB"}, {"at": "x", "size": 5}]));
    assert!(found.iter().all(|problem| problem.path.starts_with("volume.cache.resize[1].")), "{found:?}");
}
