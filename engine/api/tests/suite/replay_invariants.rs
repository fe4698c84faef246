//! Invariants of replays, over traces drawn at random, in every mode and through several stacks: each row completes once, with
//! the offset, direction and bytes that the trace gives it, its phases add up, and nothing is issued before its time.

use std::fmt::Write as _;

use proptest::prelude::*;
use seeklab_api::{Column, Run};
use serde_json::{Value, json};

use crate::support;

/// Time in microseconds, target, direction, sector, sectors.
type Row = (u64, u8, bool, u64, u64);

fn text(rows: &[Row]) -> String {
    let mut text = "fio version 3 iolog\n0 a add\n0 b add\n".to_owned();
    for (time_us, target, is_write, sector, sectors) in rows {
        let (name, op) = (if *target == 0 { "a" } else { "b" }, if *is_write { "write" } else { "read" });
        let _ = writeln!(text, "{time_us} {name} {op} {} {}", sector * 512, sectors * 512); // writing to a string cannot fail
    }
    text
}

fn system() -> impl Strategy<Value = Value> {
    let device = prop_oneof![Just("hdd-7200"), Just("ssd-sata"), Just("lun-100mb")];
    let policy = prop_oneof![Just("lru"), Just("arc"), Just("sieve")];
    let volume = proptest::option::of((policy, any::<bool>(), any::<bool>()));
    (device, volume, prop_oneof![Just("stripe"), Just("mirror"), Just("raidz")]).prop_map(|(device, volume, layout)| {
        let mut system = json!({"devices": [{"preset": device, "count": 3}], "layout": {"kind": layout, "unit": 65536}});
        if let Some((policy, prefetches, log)) = volume {
            let resize = json!([{"at": "20ms", "size": "128KiB"}, {"at": "200ms", "size": "2MiB"}]);
            system["volume"] = json!({"block": 16384, "cache": {"size": "1MiB", "rate": "4GB", "policy": policy, "resize": resize}});
            if prefetches {
                system["volume"]["prefetch"] = json!({"chunk": "256KiB", "min_read": 4096});
            }
            if log {
                system["volume"]["write_log"] = json!({"rate": "200MB"});
            }
        }
        system
    })
}

fn run(input: &Value) -> Run {
    let mut run = support::engine().open(&input.to_string()).unwrap_or_else(|errors| panic!("{errors}"));
    while run.step(1 << 20) < 1.0 {
        assert!(run.step(0) >= 0.0, "{}", run.summary());
    }
    run
}

fn column(run: &Run, name: &str) -> Vec<f64> {
    match run.column(&format!("ops.{name}")) {
        Some(Column::F64(values)) => values,
        Some(Column::U32(values)) => values.into_iter().map(f64::from).collect(),
        None => panic!("no column {name}"),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "columns of whole numbers")]
fn whole(values: Vec<f64>) -> Vec<u64> {
    values.into_iter().map(|value| value as u64).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_row_completes_once_with_its_bytes_and_its_phases_add_up(
        rows in proptest::collection::vec((0u64..400_000, 0u8..2, any::<bool>(), 0u64..40_000, 1u64..600), 1..120),
        system in system(),
        (mode, iodepth) in prop_oneof![Just(("open", 0)), (1u64..9).prop_map(|depth| ("closed", depth)), (1u64..40).prop_map(|depth| ("fast", depth))],
    ) {
        let mut replay = json!({"text": text(&rows), "mode": mode});
        if iodepth > 0 {
            replay["iodepth"] = iodepth.into();
        }
        let run = run(&json!({"replay": replay, "scenario": system}));
        let summary: Value = serde_json::from_str(&run.summary()).expect("JSON");
        let summary = &summary["ok"];

        let mut in_order = rows.clone();
        in_order.sort_by_key(|row| row.0); // stable: rows of one time stay as they stand
        let starts: Vec<u64> = summary["replay"]["targets"].as_array().expect("targets").iter().map(|target| target["start"].as_u64().expect("a number")).collect();
        let names: Vec<&str> = summary["replay"]["targets"].as_array().expect("targets").iter().map(|target| target["name"].as_str().expect("a name")).collect();
        let start = |target: u8| starts[names.iter().position(|name| *name == if target == 0 { "a" } else { "b" }).expect("a target")];
        let given: Vec<(u64, u64, u64)> = in_order.iter().map(|(_, target, write, sector, sectors)| (u64::from(*write), start(*target) + sector * 512, sectors * 512)).collect();

        let ids = whole(column(&run, "id"));
        let (ops, offsets, bytes) = (whole(column(&run, "op")), whole(column(&run, "offset")), whole(column(&run, "bytes")));
        let submitted = column(&run, "submit_ns");
        let latencies = column(&run, "latency_ns");
        let mut taken: Vec<_> = (0..ids.len()).map(|at| (ids[at], (ops[at], offsets[at], bytes[at]), submitted[at], latencies[at])).collect();
        taken.sort_by_key(|op| op.0);
        prop_assert_eq!(taken.iter().map(|op| op.0).collect::<Vec<_>>(), (0..rows.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(taken.iter().map(|op| op.1).collect::<Vec<_>>(), given, "what the trace says is what is done");

        // By phase and by the clock.
        let metric = |name: &str| summary["metrics"][name].as_f64().unwrap_or(0.0);
        let clock_ms = ["read", "write"].map(|op| metric(&format!("replay.{op}_latency_mean_ms")) * metric(&format!("replay.{op}_ios"))).iter().sum::<f64>();
        let phases_ms = latencies.iter().sum::<f64>() / 1e6;
        prop_assert!((clock_ms - phases_ms).abs() <= 1e-9 * phases_ms.max(1.0), "{} by the clock, {} by phase", clock_ms, phases_ms);
        let bytes_out = metric("replay.read_bytes") + metric("replay.write_bytes");
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let bytes_in = rows.iter().map(|row| row.4 * 512).sum::<u64>() as f64;
        prop_assert!((bytes_out - bytes_in).abs() < 0.5, "{} bytes in, {} out", bytes_in, bytes_out);

        if mode == "open" {
            let first_us = in_order[0].0;
            #[expect(clippy::cast_precision_loss, reason = "below a second")]
            let times: Vec<f64> = in_order.iter().map(|row| ((row.0 - first_us) * 1000) as f64).collect();
            prop_assert_eq!(taken.iter().map(|op| op.2).collect::<Vec<_>>(), times);
        } else {
            for op in &taken {
                let in_flight = taken.iter().filter(|other| other.2 <= op.2 && op.2 < other.2 + other.3).count() as u64;
                prop_assert!(in_flight <= iodepth, "{} in flight at a depth of {}", in_flight, iodepth);
            }
        }
    }
}
