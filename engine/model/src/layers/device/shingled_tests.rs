//! Shingled drives against closed forms: one pass, many passes, streams, random writes, idle times, and rebuilds onto one.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::shingled::{Work, Zones};
use crate::result::metrics::in_seconds;
use crate::testing::{assert_has_problem, assert_is, assert_problem, assert_within, metric, problems, run};
use seeklab_spec::{Lun, Op};

const CAPACITY: u64 = 4_000_000_000_000;
const ZONE: u64 = 256 << 20;
const HOUR: f64 = 3.6e12;

/// A drive of 4 TB with a cache of 100 GB, or with other fields.
fn drive(fields: &Value) -> Zones {
    let mut unit = json!({"capacity": CAPACITY, "rate": 150_000_000, "shingled": {
        "zone": ZONE, "cache": 100_000_000_000_u64, "ranges": 250_000, "move": 20_000_000, "clean": "oldest", "stream": 0, "idle": 2_000_000_000
    }});
    for (name, value) in fields.as_object().expect("fields") {
        unit["shingled"][name] = value.clone();
    }
    let unit: Lun = serde_json::from_value(unit).expect("a unit");
    Zones::new(unit.shingled.as_ref().expect("zones"), &unit, 3_600_000_000_000)
}

/// Hours of writes one after the other; with them the number of zones cleaned.
#[allow(clippy::cast_precision_loss)]
fn hours(zones: &mut Zones, writes: impl Iterator<Item = (u64, u64)>) -> f64 {
    let mut now_ns = 0;
    for (offset, bytes) in writes {
        let Work { cleaning_ns, own_ns } = zones.work(now_ns, Op::Write, offset, bytes);
        now_ns += cleaning_ns + own_ns;
    }
    now_ns as f64 / HOUR
}

/// Each zone is written a part at a time, in so many passes over all.
fn passes(count: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..count).flat_map(move |pass| {
        (0..CAPACITY.div_ceil(ZONE)).filter_map(move |zone| {
            let at = |part: u64| (zone * ZONE + ZONE * part / count).min(CAPACITY);
            (at(pass) < at(pass + 1)).then(|| (at(pass), at(pass + 1) - at(pass)))
        })
    })
}

#[test]
fn each_pass_over_the_drive_cleans_each_zone_once() {
    for (count, expected) in [(1, 22.0), (2, 36.6), (8, 124.0), (15, 226.5), (30, 446.0)] {
        let found = hours(&mut drive(&json!({})), passes(count));
        assert_within(found, expected, 0.005);
        // By formula, less the last cache full, which nothing cleans.
        let formula = 4e6 / 150.0 / 3600.0 + f64::from(u32::try_from(count).expect("few")) * 14_901.16 * 3.619 / 3600.0;
        assert_within(found, formula, 0.03);
    }
}

#[test]
fn one_zone_is_cleaned_in_the_time_of_reading_and_writing_it_and_two_moves() {
    let mut zones = drive(&json!({"cache": ZONE}));
    let full = zones.work(0, Op::Write, 0, ZONE);
    assert_eq!(full.cleaning_ns, 0);
    let next = zones.work(full.own_ns, Op::Write, 3 * ZONE, 4096);
    assert_eq!(next.cleaning_ns, 3_619_139_414);
    assert_eq!(zones.rows().map(|(_, row)| row.cleaning_ns).sum::<u64>(), 3_619_139_414);
}

#[test]
fn a_stream_goes_past_the_cache_from_its_second_zone_on() {
    let sequential = || (0..CAPACITY / 1_000_000).map(|at| (at * 1_000_000, 1_000_000));
    let mut zones = drive(&json!({"stream": ZONE}));
    assert_within(hours(&mut zones, sequential()), 7.41, 0.001);
    assert_within(hours(&mut drive(&json!({})), sequential()), 22.0, 0.005);
}

#[test]
fn random_writes_settle_at_what_a_clean_gains() {
    // Oldest first: zones fill evenly while they wait, so the cache holds half of what is gained from all: 2 cache / zones a clean.
    for (policy, mb_per_s, gain) in [("oldest", 3.65, 13.5), ("fullest", 3.91, 14.5)] {
        let mut zones = drive(&json!({"clean": policy}));
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % (CAPACITY >> 20)) << 20
        };
        let mut of = |writes: u32, now_ns: &mut u64| {
            let before = *now_ns;
            for _ in 0..writes {
                let Work { cleaning_ns, own_ns } = zones.work(*now_ns, Op::Write, random(), 1 << 20);
                *now_ns += cleaning_ns + own_ns;
            }
            f64::from(writes) * 1.048_576 / in_seconds(*now_ns - before)
        };
        let mut now_ns = 0;
        // The first 100 GB go into the cache as fast as a conventional drive takes a stream.
        assert_within(of(95_000, &mut now_ns), 150.0, 1e-3);
        of(400_000, &mut now_ns);
        let steady = of(300_000, &mut now_ns);
        // 2.5 % of the writes find their address in the cache and take no room, which the closed form leaves out.
        assert_within(steady, mb_per_s, 0.025);
        assert_within(steady * (1.0 - 0.025) * (3.619_139 + gain / 150.0), gain, 0.015);
    }
}

#[test]
fn a_full_map_asks_for_cleaning_as_a_full_cache_does() {
    let mut zones = drive(&json!({"ranges": 10}));
    let writes = |zone: u64| (zone * ZONE + 4096, 4096);
    let first: u64 = (0..10).map(writes).map(|(at, bytes)| zones.work(0, Op::Write, at, bytes).cleaning_ns).sum();
    assert_eq!(first, 0);
    assert!(zones.work(0, Op::Write, 10 * ZONE, 4096).cleaning_ns > 3_600_000_000);
    // What lies there already takes no room.
    assert_eq!(zones.work(0, Op::Write, 10 * ZONE, 4096).cleaning_ns, 0);
}

#[test]
fn a_stream_that_breaks_off_has_what_follows_it_written_anew() {
    let mut zones = drive(&json!({"stream": ZONE, "cache": 4 * ZONE, "idle": 0}));
    let mut now_ns = 0;
    let mut write = |zones: &mut Zones, at: u64, bytes: u64| {
        let work = zones.work(now_ns, Op::Write, at, bytes);
        now_ns += work.cleaning_ns + work.own_ns;
        work.cleaning_ns
    };
    // Two zones: the second is written directly.
    write(&mut zones, 0, 2 * ZONE);
    // Half of the second again, as a stream that breaks off. What follows it is read and written when the next write comes.
    write(&mut zones, 0, ZONE + ZONE / 2);
    assert_eq!(write(&mut zones, 8 * ZONE, 4096), 2 * (894_784_854 + 20_000_000));
    // The same onto a zone that holds nothing.
    write(&mut zones, 20 * ZONE, ZONE + ZONE / 2);
    assert_eq!(write(&mut zones, 9 * ZONE, 4096), 0);
}

#[test]
fn an_idle_drive_cleans_and_a_request_waits_for_the_zone_in_hand() {
    let mut zones = drive(&json!({}));
    let mut now_ns = 0;
    for zone in 0..10 {
        now_ns += zones.work(now_ns, Op::Write, zone * ZONE, 1_000_000).own_ns;
    }
    // After 2 s, and 3.619 s a zone: in the third.
    let work = zones.work(now_ns + 10_000_000_000, Op::Read, 0, 1_000_000);
    assert_eq!(work.cleaning_ns, 2_000_000_000 + 3 * 3_619_139_414 - 10_000_000_000);
    // A minute later the rest is clean, and nothing is left to do.
    let work = zones.work(now_ns + 200_000_000_000, Op::Read, 0, 1_000_000);
    assert_eq!(work.cleaning_ns, 0);
}

#[test]
fn an_idle_drive_cleans_the_last_byte_too() {
    let mut zones = drive(&json!({}));
    zones.work(0, Op::Write, 0, 1);
    zones.work(60_000_000_000, Op::Read, ZONE, 4096);
    assert_eq!(zones.rows().map(|(_, row)| (row.cleans, row.used)).collect::<Vec<_>>(), [(1, 0)]);
}

#[test]
fn a_read_that_needs_cache_and_zone_moves_once_more() {
    let mut zones = drive(&json!({"idle": 1_000_000_000_000_u64}));
    zones.work(0, Op::Write, ZONE, 1_500_000);
    for (at, moves_ns) in [(0, 0), (ZONE, 0), (ZONE + 1_000_000, 20_000_000), (ZONE - 500_000, 20_000_000)] {
        assert_eq!(zones.work(20_000_000, Op::Read, at, 1_000_000).own_ns, 6_666_667 + moves_ns);
    }
}

/// Four disks, one of them replaced by a shingled drive, rebuilt by time in so many passes. Zones are eight times as large, and moves as
/// long, which leaves the time as it is.
fn array(rebuild: &Value, shingled: &Value) -> Value {
    let mut scenario = json!({
        "devices": [
            {"name": "disk", "count": 3, "lun": {"capacity": CAPACITY, "rate": "150MB"}},
            {"name": "new", "lun": {"capacity": CAPACITY, "rate": "150MB", "shingled": {"cache": "100GB", "zone": 8 * ZONE, "move": "160ms"}}},
        ],
        "layout": {"kind": "raidz", "unit": "96MiB", "failed": [3], "rebuild": {"chunk": "192MiB", "order": "time", "passes": 15}},
        "jobs": [{"name": "client", "rw": "read", "bs": "128KiB", "size": "128KiB"}],
        "record": {"log": false, "interval": "1h"},
        "limits": {"time": "1000h"},
    });
    for (name, value) in rebuild.as_object().expect("fields") {
        scenario["layout"]["rebuild"][name] = value.clone();
    }
    if shingled.is_null() {
        scenario["devices"][1]["lun"].as_object_mut().expect("a unit").remove("shingled");
    } else {
        shingled
            .as_object()
            .expect("fields")
            .iter()
            .for_each(|(name, value)| scenario["devices"][1]["lun"]["shingled"][name] = value.clone());
    }
    scenario
}

#[test]
fn a_rebuild_by_time_takes_days_on_a_shingled_drive_and_hours_on_another_or_by_address() {
    let hours = |rebuild: Value, shingled: Value| metric(&run(&array(&rebuild, &shingled)), "rebuild_elapsed_h");
    assert_within(hours(json!({}), json!({})), 226.5, 0.02);
    assert_within(hours(json!({}), json!(null)), 7.41, 0.01);
    assert_within(hours(json!({"order": "address"}), json!({})), 7.41, 0.01);
    assert_within(hours(json!({"rate": "69.4MB"}), json!(null)), 16.0, 0.01);
    // Five passes sorted together leave three.
    assert_within(hours(json!({"sorted": "4TB"}), json!({})), 7.41 + 3.0 * 14.98 - 0.4, 0.04);
    assert_within(hours(json!({"sorted": "12.1TB"}), json!({})), 7.41, 0.01);
}

#[test]
fn every_byte_that_was_written_is_in_the_cache_or_was_taken_out_of_it() {
    let stack = run(&array(&json!({}), &json!({})));
    let gained_gb = metric(&stack, "shingled_gain_mb") * metric(&stack, "shingled_cleans") / 1000.0;
    assert_within(gained_gb + metric(&stack, "shingled_used_gb"), metric(&stack, "rebuild_bytes") / 1e9, 1e-9);
    let moved = 2.0 * 8.0 * 0.268_435_456 * metric(&stack, "shingled_cleans");
    assert_within(metric(&stack, "shingled_amplification"), 1.0 + moved / metric(&stack, "shingled_cached_gb"), 1e-3);
    assert_is(metric(&stack, "shingled_direct_gb"), 0.0);
}

#[test]
fn what_contradicts_itself_is_told() {
    assert_problem(&problems(&array(&json!({}), &json!({"cache": "100MB"})))[0], "devices[1].lun.shingled.cache: 100 MB, 2 GiB");
    let mut small = array(&json!({}), &json!({"zone": "8GB", "cache": "8GB"}));
    small["devices"][1]["lun"]["capacity"] = "4GB".into();
    let found = problems(&small);
    assert_problem(&found[0], "devices[1].lun.shingled.zone: 8 GB, 4 GB");
    assert_problem(&found[1], "devices[1].lun.shingled.cache: 8 GB, 4 GB");
    let found = problems(&array(&json!({"chunk": "96MiB", "sorted": "9PB"}), &json!({"zone": "1MiB"})));
    assert_has_problem(&found, "layout.rebuild.sorted: 16777216");
    assert_has_problem(&found, "devices[1].lun.shingled.zone: 1 MiB, 1048576");
    let mut scenario = array(&json!({}), &json!({}));
    scenario["devices"][1]["lun"]["pauses"] = json!([{"at": "1s", "for": "1s"}]);
    assert_problem(&problems(&scenario)[0], "devices[1].lun.shingled: pauses");
}

proptest! {
    /// Against a map of sectors: what is in the cache is what was written and not cleaned, and requests are never quicker than the rate.
    #[test]
    fn ranges_are_those_of_a_map_of_sectors(writes in proptest::collection::vec((0u64..48, 1u64..20, 0u64..5), 1..80), stream in 0u64..12) {
        let sector = 1u64 << 18;
        let mut zones = Zones::new(
            &serde_json::from_value(json!({"zone": 8 * sector, "cache": 24 * sector, "ranges": 6, "move": 1000, "stream": stream * sector, "idle": 100})).expect("zones"),
            &serde_json::from_value(json!({"capacity": 64 * sector, "rate": 1_000_000_000})).expect("a unit"),
            1 << 40,
        );
        let (mut now_ns, mut written) = (0, 0);
        for (at, sectors, idle_ns) in writes {
            let sectors = sectors.min(64 - at);
            now_ns += idle_ns * 1_000_000;
            let work = zones.work(now_ns, Op::Write, at * sector, sectors * sector);
            prop_assert_eq!(work.own_ns, sectors * sector);
            now_ns += work.cleaning_ns + work.own_ns;
            written += sectors * sector;
            let rows = zones.rows().last().expect("a row").1;
            prop_assert!(rows.used <= 24 * sector);
            prop_assert_eq!(zones.pictures().map(|(_, _, bytes)| bytes).sum::<u64>(), rows.used);
            prop_assert_eq!(rows.cached + rows.direct, written);
            zones.verify();
        }
    }
}
