//! One drive, one request at a time.

use super::fixtures::{desktop, drive_of, small_drive_with, small_hdd};
use std::sync::Arc;

use super::{Hdd, Hit, Op, Params, Service};
use proptest::prelude::*;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

fn ms(value: u64) -> f64 {
    value as f64 / MS as f64
}

fn buffer(key: &str) -> String {
    format!("/electronics_and_buffer/{key}")
}

fn sum(service: &Service) -> u64 {
    service.overhead_ns + service.wait_ns + service.seek_ns + service.rotation_ns + service.media_ns + service.bus_ns
}

#[test]
fn a_missed_read_takes_overhead_seek_rotation_and_media_one_after_another() {
    let mut hdd = small_hdd(&[]);
    // Cylinder 1, head 0, sector 50: the skews put its start at (10 + 20 + 50) / 100 of a turn.
    let service = hdd.serve(0, Op::Read, 250, 10);
    assert_eq!(service.buffer_hit, Hit::Miss);
    assert_eq!(service.overhead_ns, 300_000);
    assert_eq!(service.seek_ns, MS);
    assert!((ms(service.rotation_ns) - (8.0 - 1.3)).abs() < 1e-5);
    assert!((ms(service.media_ns) - 1.0).abs() < 1e-5);
    assert_eq!(service.done_ns, sum(&service));
}

#[test]
fn the_platter_turns_on_during_pauses() {
    let done = |at: u64| small_hdd(&[]).serve(at, Op::Read, 250, 10).done_ns;
    // Nine milliseconds later, but the same sector passes only one turn later.
    assert!(done(0) < done(6 * MS) + 2 && done(6 * MS) < done(0) + 2);
    assert!((ms(done(9 * MS)) - ms(done(0)) - 10.0).abs() < 1e-5);
}

#[test]
fn skew_saves_the_turn_that_a_track_switch_would_cost() {
    let read = |skew: u32| {
        let mut hdd =
            small_hdd(&[("/layout/Zones/0/Skew for track switch", json!(skew)), ("/layout/Zones/0/Skew for cylinder switch", json!(20))]);
        hdd.serve(0, Op::Read, 90, 20)
    };
    // Five sectors pass during the head switch of 0.5 ms.
    assert!((ms(read(5).done_ns) - (9.0 + 1.0 + 0.5 + 1.0)).abs() < 1e-5);
    assert!((ms(read(10).done_ns) - (9.0 + 1.0 + 1.0 + 1.0)).abs() < 1e-5);
    assert!((ms(read(4).done_ns) - (9.0 + 1.0 + 10.4 + 1.0)).abs() < 1e-5);
}

#[test]
fn head_switch_and_arm_move_in_parallel_and_writes_settle_in_addition() {
    let changes = [("/mechanics/Add. write settling delay", json!(0.25))];
    let seek = |op: Op, lbn: u64| ms(small_hdd(&changes).serve(0, op, lbn, 1).seek_ns);
    assert!((seek(Op::Read, 100) - 0.5).abs() < 1e-9);
    assert!((seek(Op::Read, 300) - 1.0).abs() < 1e-9);
    assert!((seek(Op::Write, 100) - 0.75).abs() < 1e-9);
    assert!(seek(Op::Write, 0).abs() < 1e-9);
    let least = [(buffer("Minimum seek delay"), json!(0.6))];
    let least: Vec<(&str, Value)> = least.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    assert_eq!(small_hdd(&least).serve(0, Op::Write, 0, 1).seek_ns, 600_000);
}

fn small_with(settings: &[(&str, Value)]) -> Hdd {
    let keys: Vec<(String, Value)> = settings.iter().map(|(key, value)| (buffer(key), value.clone())).collect();
    let changes: Vec<(&str, Value)> = keys.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
    small_hdd(&changes)
}

#[test]
fn read_ahead_serves_the_next_read_from_the_buffer() {
    let mut plain = small_with(&[]);
    let mut ahead = small_with(&[("Buffer continuous read", json!(3))]);
    let first = ahead.serve(0, Op::Read, 0, 8);
    assert_eq!(plain.serve(0, Op::Read, 0, 8), first);
    let later = first.done_ns + 20 * MS;
    assert_eq!(plain.serve(later, Op::Read, 8, 8).buffer_hit, Hit::Miss);
    let hit = ahead.serve(later, Op::Read, 8, 8);
    assert_eq!((hit.buffer_hit, hit.done_ns - later), (Hit::Full, 200_000));
    // 32 blocks beyond the request, no more.
    assert_eq!(ahead.serve(later + MS, Op::Read, 40, 1).buffer_hit, Hit::Miss);
}

#[test]
fn a_hit_lets_the_read_ahead_under_way_go_further() {
    // 32 blocks after the request, at a block in 0.1 ms: up to 252. A hit in between moves the limit to 258.
    let read_again = |pause: u64| {
        let mut hdd = small_with(&[("Buffer continuous read", json!(3))]);
        let done = hdd.serve(0, Op::Read, 210, 10).done_ns;
        assert_eq!(hdd.serve(done + pause, Op::Read, 220, 6).buffer_hit, Hit::Full);
        hdd.serve(done + 100 * MS, Op::Read, 255, 1).buffer_hit
    };
    assert_eq!(read_again(2 * MS), Hit::Full);
    assert_eq!(read_again(90 * MS), Hit::Miss, "what has ended is not taken up again");
}

#[test]
fn read_ahead_stops_where_its_kind_says() {
    // The request ends in the middle of track 1 of 2 on cylinder 0; which of the following blocks are there later?
    let reach = |kind: u32| {
        let mut hdd = small_with(&[("Buffer continuous read", json!(kind)), ("Segment size (in blks)", json!(4000))]);
        let done = hdd.serve(0, Op::Read, 40, 10).done_ns;
        let (mut low, mut high) = (50, 1000);
        while low < high {
            let middle = u64::midpoint(low, high);
            let mut probe = hdd.clone();
            if probe.serve(done + 100 * MS, Op::Read, middle, 1).buffer_hit == Hit::Full {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    };
    assert_eq!([reach(0), reach(1), reach(2), reach(3), reach(4)], [50, 100, 200, 82, 100]);
}

#[test]
fn a_stream_reads_one_track_further_ahead() {
    let mut hdd = small_with(&[("Buffer continuous read", json!(4)), ("Segment size (in blks)", json!(4000))]);
    let done = hdd.serve(0, Op::Read, 90, 20).done_ns;
    assert_eq!(hdd.clone().serve(done + 100 * MS, Op::Read, 299, 1).buffer_hit, Hit::Full);
    assert_eq!(hdd.serve(done + 100 * MS, Op::Read, 300, 1).buffer_hit, Hit::Miss);
}

#[test]
fn a_read_of_what_is_half_read_ahead_waits_only_for_the_rest() {
    let mut hdd = small_with(&[("Buffer continuous read", json!(3))]);
    let first = hdd.serve(0, Op::Read, 0, 8);
    // 1 ms later ten more sectors have passed.
    let now = first.done_ns + MS;
    let service = hdd.serve(now, Op::Read, 14, 10);
    assert_eq!(service.buffer_hit, Hit::Partial);
    assert!((ms(service.done_ns - now) - 0.6).abs() < 1e-5, "{service:?}");
    assert_eq!(sum(&service), service.done_ns - now);
}

#[test]
fn blocks_that_pass_before_the_wanted_one_are_kept_when_free_blocks_are_read() {
    let hit = |free: u32| {
        let mut hdd = small_with(&[("Read any free blocks", json!(free))]);
        let done = hdd.serve(0, Op::Read, 50, 4).done_ns;
        hdd.serve(done + MS, Op::Read, 20, 4).buffer_hit
    };
    assert_eq!([hit(0), hit(1)], [Hit::Miss, Hit::Full]);
}

#[test]
fn an_early_write_is_done_when_buffered_and_keeps_the_arm_busy() {
    let settings = [("Fast write level", json!(2)), ("Bulk sector transfer time", json!(0.02))];
    let mut hdd = small_with(&settings);
    let write = hdd.serve(0, Op::Write, 3000, 10);
    assert_eq!(write.done_ns, 300_000 + 10 * 20_000);
    assert!(write.free_ns > write.done_ns + MS);
    let read = hdd.serve(write.done_ns, Op::Read, 100, 1);
    assert!((read.wait_ns + read.overhead_ns + write.done_ns).abs_diff(write.free_ns) <= 1, "{read:?}");
    let mut waiting = small_with(&settings);
    waiting.serve(0, Op::Write, 3000, 10);
    let rested = waiting.serve(write.free_ns, Op::Read, 100, 1);
    assert_eq!(rested.wait_ns, 0);
}

#[test]
fn a_write_that_continues_an_early_one_does_not_wait_for_the_arm() {
    let wait = |combine: u32| {
        let mut hdd = small_with(&[("Fast write level", json!(1)), ("Combine seq writes", json!(combine))]);
        let first = hdd.serve(0, Op::Write, 3000, 10);
        hdd.serve(first.done_ns, Op::Write, 3010, 10).wait_ns
    };
    assert!(wait(0) > MS);
    assert_eq!(wait(1), 0);
}

#[test]
fn a_stream_of_early_writes_waits_for_room_in_its_segment() {
    let mut hdd = small_with(&[("Fast write level", json!(1))]);
    let mut now = 0;
    let mut waited = 0;
    for lbn in (0..1600).step_by(16) {
        let service = hdd.serve(now, Op::Write, lbn, 16);
        assert_eq!(sum(&service), service.done_ns - now);
        now = service.done_ns;
        waited += service.wait_ns;
    }
    // 1600 sectors of 0.1 ms, apart from the last 64 of them, cannot take less than their time on the media.
    assert!(now > 150 * MS, "{now}");
    assert!(waited > 50 * MS, "{waited}");
}

#[test]
fn written_data_serve_reads_only_where_the_drive_allows_it() {
    let hit = |allow: u32, level: u32| {
        let mut hdd = small_with(&[("Allow read hits on write data", json!(allow)), ("Fast write level", json!(level))]);
        let write = hdd.serve(0, Op::Write, 10, 4);
        hdd.serve(write.free_ns, Op::Read, 10, 4).buffer_hit
    };
    assert_eq!([hit(0, 0), hit(0, 2), hit(1, 0), hit(1, 2)], [Hit::Miss, Hit::Miss, Hit::Full, Hit::Full]);
}

#[test]
fn a_block_that_comes_too_late_over_the_bus_costs_a_turn() {
    let done = |bulk: f64, lbn: u64, blocks: u32| {
        ms(small_with(&[("Bulk sector transfer time", json!(bulk))]).serve(0, Op::Write, lbn, blocks).done_ns)
    };
    // Overhead 0.3 ms, then the bus; sector 4 comes by at 0.4 ms. A bus as fast as the media is just in time.
    assert!((done(0.1, 4, 8) - 1.2).abs() < 1e-5);
    assert!((done(0.101, 4, 8) - 11.2).abs() < 1e-5);
    // From sector 5 on, blocks 0 to 2 are in time (0.43, 0.56, 0.69 ms), block 3 is not (0.82 against 0.8 ms).
    assert!((done(0.13, 5, 3) - 0.8).abs() < 1e-5);
    assert!((done(0.13, 5, 8) - 11.3).abs() < 1e-5);
}

#[test]
fn a_write_larger_than_its_segment_enters_the_buffer_as_the_media_make_room() {
    let mut hdd = small_with(&[("Segment size (in blks)", json!(4)), ("Bulk sector transfer time", json!(0.01))]);
    let service = hdd.serve(0, Op::Write, 0, 40);
    assert!((ms(service.done_ns) - 14.0).abs() < 1e-5, "{service:?}");
    // With a slow bus a block enters after its predecessor left: the ring of the segment is what limits it.
    let mut slow = small_with(&[("Segment size (in blks)", json!(1)), ("Bulk sector transfer time", json!(0.01))]);
    assert!(slow.serve(0, Op::Write, 0, 4).done_ns > 30 * MS);
}

#[test]
fn the_watermark_delays_the_bus_until_enough_is_buffered() {
    let done = |mark: f64| {
        let settings = [("High (read) water mark", json!(mark)), ("Bulk sector transfer time", json!(0.05))];
        ms(small_with(&settings).serve(0, Op::Read, 0, 10).done_ns)
    };
    // The last block is read at 11 ms and then needs the bus; with the mark at the whole request all ten do.
    assert!((done(0.0) - 11.05).abs() < 1e-5);
    assert!((done(1.0) - 11.5).abs() < 1e-5);
}

#[test]
fn overheads_follow_the_type_of_the_previous_request() {
    let mut hdd = small_with(&[("Read miss over. after write", json!(0.9))]);
    hdd.serve(0, Op::Write, 10, 1);
    assert_eq!(hdd.serve(100 * MS, Op::Read, 500, 1).overhead_ns, 900_000);
    assert_eq!(hdd.serve(200 * MS, Op::Read, 900, 1).overhead_ns, 300_000);
}

#[test]
fn a_request_beyond_the_drive_is_cut() {
    let mut hdd = small_hdd(&[]);
    let last = hdd.params().capacity_sectors() - 1;
    let cut = hdd.clone().serve(0, Op::Read, u64::MAX, u32::MAX);
    assert_eq!(cut, hdd.serve(0, Op::Read, last, 1));
    assert_eq!(hdd.cylinder_of(u64::MAX), 30);
}

#[test]
fn positioning_is_what_serving_then_takes() {
    let mut hdd = small_hdd(&[]);
    let mut now = 0;
    for lbn in [2500, 17, 1300, 4800, 4801, 0] {
        for op in [Op::Read, Op::Write] {
            let estimate = hdd.positioning_ns(now, op, lbn);
            let service = hdd.clone().serve(now, op, lbn, 1);
            if service.buffer_hit == Hit::Full {
                assert_eq!(estimate, 0);
            } else {
                assert!(estimate.abs_diff(service.seek_ns + service.rotation_ns) <= 2, "{lbn} {op:?}");
            }
        }
        now = hdd.serve(now, Op::Read, lbn, 1).done_ns + 3 * MS;
    }
}

#[test]
fn random_small_reads_reach_what_seek_and_half_a_turn_allow() {
    let params = Arc::new(drive_of(&desktop()));
    let mut hdd = Hdd::new(Arc::clone(&params));
    let mut state = 1_u64;
    let mut now = 0;
    let requests = 4000;
    for _ in 0..requests {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let lbn = (state >> 11) % (params.capacity_sectors() - 8);
        now = hdd.serve(now, Op::Read, lbn, 8).done_ns;
    }
    let per_second = f64::from(requests) * 1e9 / now as f64;
    assert!((74.0..81.0).contains(&per_second), "{per_second}");
}

/// A drive with everything switched on or off at will.
fn any_drive() -> impl Strategy<Value = Value> {
    let switches = [
        "Read any free blocks",
        "Read-ahead on idle hit",
        "Stop prefetch in sector",
        "Immed transfer partial hit",
        "Never disconnect",
        "Extra write disconnect",
        "Combine seq writes",
        "Allow read hits on write data",
        "Allow almost read hits",
        "Set watermark by reqsize",
    ];
    (
        prop::collection::vec(0_u32..2, switches.len()),
        (0_u32..3, 0_u32..5, 0_u32..3, -1_i32..2, 1_u32..4),
        (0.0..1.0_f64, 0.0..0.3_f64, -0.4..0.6_f64, 0.0..0.5_f64),
        (1_u32..90, 0_u32..200),
        (prop::sample::select(vec![0, 1, 3, 7, 8, 9]), 0_u32..2, prop::collection::vec(0_u32..900, 0..9), 1_u32..4),
    )
        .prop_map(move |(on, kinds, times, sizes, layout)| {
            let mut changes: Vec<(String, Value)> = switches.iter().zip(on).map(|(key, on)| (buffer(key), json!(on))).collect();
            let mut set = |key: &str, value: Value| changes.push((buffer(key), value));
            set("Enable caching in buffer", json!(kinds.0));
            set("Buffer continuous read", json!(kinds.1));
            set("Fast write level", json!(kinds.2));
            set("Read-ahead over requested", json!(kinds.3));
            set("Number of buffer segments", json!(kinds.4));
            set("High (read) water mark", json!(times.0));
            set("Bulk sector transfer time", json!(times.1));
            for key in ["Data preparation overhead", "First reselect overhead", "Write disconnect overhead"] {
                set(key, json!(times.3));
            }
            for key in ["Read completion overhead", "Write completion overhead", "Minimum seek delay"] {
                set(key, json!(times.3 / 2.0));
            }
            set("Segment size (in blks)", json!(sizes.0));
            set("Maximum read-ahead (blks)", json!(sizes.1));
            changes.push(("/mechanics/Add. write settling delay".to_owned(), json!(times.2)));
            changes.push(("/layout/Sparing scheme used".to_owned(), json!(layout.0)));
            changes.push(("/layout/LBN-to-PBN mapping scheme".to_owned(), json!(layout.1)));
            changes.push(("/layout/Zones/0/slips".to_owned(), json!(layout.2)));
            changes.push(("/layout/Zones/0/Number of spares".to_owned(), json!(4)));
            changes.push(("/layout/Rangesize for sparing".to_owned(), json!(layout.3)));
            let changes: Vec<(&str, Value)> = changes.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
            small_drive_with(&changes)
        })
}

proptest! {
    /// Whatever the drive and the requests: phases add up exactly, time moves on, estimates do not disturb.
    #[test]
    fn the_phases_of_every_request_add_up_exactly(
        drive in any_drive(),
        requests in prop::collection::vec((any::<bool>(), 0_u64..5700, 0_u32..120, 0_u64..30_000_000, 0_u32..3), 1..60),
    ) {
        let params = Arc::new(Params::from_drive_json(&drive.to_string()).expect("a sound drive"));
        let mut hdd = Hdd::new(params);
        let mut now = 7_200_000 * MS;
        let mut next = 0;
        for (write, lbn, sectors, pause, near) in requests {
            let op = if write { Op::Write } else { Op::Read };
            let (lbn, pause) = if near == 0 { (lbn, pause) } else { (next, if near == 1 { 0 } else { pause }) };
            let _estimate = hdd.positioning_ns(now, op, lbn);
            let service = hdd.serve(now, op, lbn, sectors);
            prop_assert_eq!(sum(&service), service.done_ns - now, "{:?}", service);
            prop_assert!(service.done_ns > now && service.free_ns >= service.done_ns);
            prop_assert!(service.done_ns - now < 60_000 * MS, "{:?}", service);
            now = service.done_ns + pause;
            next = lbn + u64::from(sectors.max(1));
        }
    }
}
