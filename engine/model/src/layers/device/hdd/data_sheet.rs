//! Works out a drive from the few numbers of a data sheet.
//!
//! What a sheet leaves open is chosen so that the drive behaves as a sound design would:
//! - the media rate falls linearly from the outer to the inner zone, all zones have as many cylinders, and the sectors per
//!   track follow from rate and speed. The rates are sustained ones, so a track holds a little more than rate times turn:
//!   what head and cylinder switches cost is made up for;
//! - skews are the smallest whole sectors with which neither a read nor a write misses the next sector after a head
//!   switch or a single-cylinder seek;
//! - the number of cylinders follows from the capacity;
//! - the seek curve is `a + b sqrt(d) + c d` through the three seek times (see `seek`);
//! - a write that finds the arm idle settles first, also on its own track. DiskSim has this as "Minimum seek delay", for all writes but
//!   those that continue a stream: 0.6 ms on the HP C2247A, next to 0.65 ms of settling, and 0 on the other drives of its distribution.
//!   Assumed here for every sheet; a log of 10,000 rpm disks that never makes two commits in a turn (`OpenZFS` 6566) is the reason;
//! - the buffer reads ahead a fixed number of bytes beyond each read, also starts again after a hit, gives way to another
//!   request at once, and counts a read of the sector just being read ahead as a partial hit; it is divided as needed (see `buffer`).
//!
//! Left out: spares and defects, differences between hit and miss overheads, and overheads that depend on the request
//! before. A sheet does not tell them.

use std::fmt::Display;

use seeklab_spec::{AddProblem, Bytes, HddSpec, Nanos, Path, Problems};

use super::geometry::{Layout, Sparing, ZoneSpec};
use super::params::{ByPrevious, Params, ReadAhead, Rules, Timing};
use super::rotation::Spindle;
use super::seek::{SeekCurve, three_point};

/// Bytes of a block.
const BLOCK_BYTES: f64 = 512.0;
/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;
/// Most cylinders a sheet may lead to.
const MAX_CYLINDERS: u64 = 4_000_000;

/// Most sectors on a track that a sheet may lead to.
const MAX_SECTORS: u32 = 100_000;

/// A time of a sheet in milliseconds, the unit in which sheets are written and the seek curve is solved.
fn ms(time: Nanos) -> f64 {
    time.0 as f64 / NS_PER_MS
}

impl Params {
    /// Works out a drive from its data sheet, which stands at `at`. Adds every field that cannot be used to `problems`, with
    /// what was found and what is accepted; there is no drive then.
    pub fn from_data_sheet(sheet: &HddSpec, at: &Path, problems: &mut Problems) -> Option<Self> {
        let before = problems.len();
        check_ranges(sheet, at, problems);
        if problems.len() > before {
            return None;
        }
        let spindle = Spindle::new(sheet.rpm);
        let capacity = sheet.capacity.0 / BLOCK_BYTES as u64;
        let specs = zone_specs(sheet, &spindle, capacity, at, problems)?;
        let layout = Layout::new(&specs, sheet.heads, false, Sparing::None, 1, Some(capacity));
        if layout.capacity() != capacity {
            let message = format!("{} leave the last of {} zones empty; write more bytes or fewer zones", sheet.capacity, sheet.zones);
            problems.add(at.field("capacity"), message);
            return None;
        }
        let cylinders = layout.cylinders();
        let form = three_point(ms(sheet.seek_single), ms(sheet.seek_average), ms(sheet.seek_full), cylinders)
            .map_err(|(low, high)| {
                // To whole microseconds inwards, so that both ends are accepted.
                let (low, high) = ((low * 1e3).ceil() / 1e3, (high * 1e3).floor() / 1e3);
                let message = format!(
                    "with seek_single {} and seek_full {}, an average of {} needs a seek curve that decreases somewhere; write {low} ms to {high} ms",
                    sheet.seek_single, sheet.seek_full, sheet.seek_average
                );
                problems.add(at.field("seek_average"), message);
            })
            .ok()?;
        Some(Self {
            name: String::new(),
            layout,
            spindle,
            seek: SeekCurve::new(form, cylinders),
            timing: timing(sheet),
            rules: rules(sheet),
            ignored: Vec::new(),
        })
    }
}

/// Adds `field` when it is not within `low` and `high`; written so that a value that is no number is added too.
fn within<T: PartialOrd + Display>(at: &Path, field: &str, (found, low, high): (T, T, T), why: &str, problems: &mut Problems) {
    if !(found >= low && found <= high) {
        problems.add(at.field(field), format!("{found} is not accepted; write {low} to {high}{why}"));
    }
}

/// The ranges of single fields, as the schema has them where it has one, and what fields say about each other.
fn check_ranges(sheet: &HddSpec, at: &Path, problems: &mut Problems) {
    const SECOND: Nanos = Nanos(1_000_000_000);
    const MIN_SEEK: Nanos = Nanos(1000);
    let turn = Nanos((60e9 / sheet.rpm.max(300.0)) as u64);
    let (low, high) = (Bytes(100_000), Bytes(2_000_000_000));
    within(at, "rpm", (sheet.rpm, 300.0, 30_000.0), "", problems);
    within(at, "capacity", (sheet.capacity, Bytes(1 << 20), Bytes(100 << 40)), "", problems);
    within(at, "heads", (sheet.heads, 1, 64), "", problems);
    within(at, "outer_rate", (sheet.outer_rate, low, high), "", problems);
    within(at, "inner_rate", (sheet.inner_rate, low, sheet.outer_rate.max(low)), ", outer_rate", problems);
    within(at, "zones", (sheet.zones, 1, 64), "", problems);
    within(at, "seek_single", (sheet.seek_single, MIN_SEEK, SECOND), "", problems);
    within(at, "seek_average", (sheet.seek_average, sheet.seek_single, sheet.seek_full), ", from seek_single to seek_full", problems);
    within(at, "seek_full", (sheet.seek_full, sheet.seek_single, SECOND), ", not less than seek_single", problems);
    within(at, "write_settle", (sheet.write_settle, Nanos(0), SECOND), "", problems);
    within(at, "head_switch", (sheet.head_switch, Nanos(0), turn), ", the time of one turn", problems);
    within(at, "overhead", (sheet.overhead, Nanos(0), SECOND), "", problems);
    within(at, "interface_rate", (sheet.interface_rate, Bytes(1_000_000), Bytes(100_000_000_000)), "", problems);
    within(at, "segments", (sheet.segments, 1, 1024), "", problems);
    within(at, "queue_planned", (sheet.queue_planned, 0, 1024), "", problems);
    within(at, "destage_pool", (sheet.destage_pool.unwrap_or(1), 1, 65_536), "", problems);
    let least = Bytes(u64::from(sheet.segments) * BLOCK_BYTES as u64);
    within(at, "buffer", (sheet.buffer, least, Bytes(16 << 30)), ", at least a block of 512 bytes for each segment", problems);
    if sheet.buffer > sheet.capacity {
        problems.add(at.field("buffer"), format!("{} is more than the capacity, {}; write less", sheet.buffer, sheet.capacity));
    }
    within(at, "read_ahead", (sheet.read_ahead, Bytes(0), Bytes(100_000_000_000)), "", problems);
}

/// Times to leave for a switch to the next head and to the next cylinder, in ns; enough for a write.
fn switch_times_ns(sheet: &HddSpec) -> (f64, f64) {
    let switch = ms(sheet.head_switch);
    let head = if sheet.heads > 1 { switch } else { 0.0 };
    let settle = ms(sheet.write_settle);
    ((switch + settle) * NS_PER_MS, (ms(sheet.seek_single).max(head) + settle) * NS_PER_MS)
}

fn zone_specs(sheet: &HddSpec, spindle: &Spindle, capacity: u64, at: &Path, problems: &mut Problems) -> Option<Vec<ZoneSpec>> {
    let turn_ns = spindle.turn_ns();
    let (track_ns, cylinder_ns) = switch_times_ns(sheet);
    let heads = f64::from(sheet.heads);
    let switch_ns = (track_ns * (heads - 1.0) + cylinder_ns) / heads;
    let zones = u64::from(sheet.zones);
    let (outer, inner) = (sheet.outer_rate.0 as f64, sheet.inner_rate.0 as f64);
    let steps = (zones.max(2) - 1) as f64;
    let sectors: Vec<u32> = (0..sheet.zones)
        .map(|zone| {
            let rate = outer + (inner - outer) * f64::from(zone) / steps;
            // One sector more, because skews are rounded up to whole sectors.
            (rate * (turn_ns + switch_ns) / 1e9 / BLOCK_BYTES).ceil() as u32 + 1
        })
        .collect();
    let most = sectors.iter().copied().max().unwrap_or(0);
    if most > MAX_SECTORS {
        let message = format!(
            "{} at {} rpm gives {most} sectors per track; write a lower rate or a higher rpm, for at most {MAX_SECTORS}",
            sheet.outer_rate, sheet.rpm
        );
        problems.add(at.field("outer_rate"), message);
        return None;
    }
    let on_all: u64 = sectors.iter().map(|sectors| u64::from(*sectors) * u64::from(sheet.heads)).sum();
    let per_zone = capacity.div_ceil(on_all);
    if per_zone * zones > MAX_CYLINDERS || per_zone * zones < 4 {
        let message = format!(
            "{} with these rates and heads gives {} cylinders; write values that give 4 to {MAX_CYLINDERS}",
            sheet.capacity,
            per_zone * zones
        );
        problems.add(at.field("capacity"), message);
        return None;
    }
    let specs = sectors.iter().zip(0_u32..).map(|(sectors, zone)| {
        let skew = |ns: f64| ((ns / turn_ns * f64::from(*sectors)) as u64 + 1) as f64;
        let first_cylinder = zone * per_zone as u32;
        ZoneSpec {
            first_cylinder,
            last_cylinder: first_cylinder + per_zone as u32 - 1,
            sectors: *sectors,
            offset: 0.0,
            reserved: 0,
            track_skew: skew(track_ns),
            cylinder_skew: skew(cylinder_ns),
            spares: 0,
            slips: Vec::new(),
        }
    });
    Some(specs.collect())
}

fn timing(sheet: &HddSpec) -> Timing {
    let each = |time: f64| ByPrevious { after_read: time * NS_PER_MS, after_write: time * NS_PER_MS };
    let block_ns = BLOCK_BYTES * 1e9 / sheet.interface_rate.0 as f64;
    Timing {
        read_hit: each(ms(sheet.overhead)),
        read_miss: each(ms(sheet.overhead)),
        write: each(ms(sheet.overhead)),
        head_switch: ms(sheet.head_switch) * NS_PER_MS,
        write_settle: ms(sheet.write_settle) * NS_PER_MS,
        idle_settle: ms(sheet.write_settle) * NS_PER_MS,
        read_block: block_ns,
        write_block: block_ns,
        ..Timing::default()
    }
}

fn rules(sheet: &HddSpec) -> Rules {
    let blocks = |bytes: u64| bytes / BLOCK_BYTES as u64;
    let segment_blocks = blocks(sheet.buffer.0 / u64::from(sheet.segments)).max(1);
    Rules {
        segments: sheet.segments,
        segment_blocks,
        adaptive: sheet.adaptive_segments,
        read_ahead: match blocks(sheet.read_ahead.0) {
            0 => ReadAhead::None,
            // Farther it would evict what it has read ahead itself.
            blocks => ReadAhead::Blocks(blocks.min(segment_blocks)),
        },
        caching: true,
        overlaps: true,
        // Its write cache is `write_cache`, which hands the mechanics what is to be written.
        early_writes: false,
        append_writes: false,
        reads_hit_written: sheet.keeps_writes,
        almost_hits: true,
        free_blocks: false,
        read_ahead_on_idle_hit: true,
        forget_requested: false,
        stop_mid_sector: true,
        partial_at_once: true,
        never_disconnect: false,
        hold_writes: false,
        high_water: 0.0,
        water_by_request: true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{desktop, drive_of};
    use super::super::{Given, Hdd, Op};
    use super::*;
    use crate::testing::{assert_problem, assert_problems};
    use std::sync::Arc;

    fn hdd(sheet: &HddSpec) -> Hdd {
        Hdd::new(Arc::new(drive_of(sheet)))
    }

    /// Sustained rate of back-to-back requests in bytes per second, after a start.
    fn stream(sheet: &HddSpec, op: Op, first: u64, bytes: u64) -> f64 {
        let mut drive = hdd(sheet);
        let sectors = (bytes / 512) as u32;
        let (mut now, mut lbn, mut from) = (0, first, 0);
        let (warm, rounds) = ((32 << 20) / bytes, (256 << 20) / bytes);
        for round in 0..warm + rounds {
            if round == warm {
                from = now;
            }
            now = drive.serve(now, op, lbn, sectors).done_ns;
            lbn += u64::from(sectors);
        }
        (rounds * bytes) as f64 * 1e9 / (now - from) as f64
    }

    #[test]
    fn a_write_settles_after_a_pause_of_the_arm_but_not_right_behind_other_work() {
        let sheet = HddSpec { overhead: Nanos(0), write_settle: Nanos(1_000_000), ..desktop() };
        let turn_ns = 60_000_000_000 / sheet.rpm as u64;
        let wait = |paused: bool| {
            let mut drive = hdd(&sheet);
            let first = drive.serve(0, Op::Write, 0, 8).done_ns;
            let since_ns = if paused { first } else { first - 1000 };
            let given = Given { since_ns, bus_free_ns: 0, arm_free_ns: first, data_from_ns: None, is_alone: true };
            drive.serve_at(first, given, Op::Write, 108, 8).done_ns - first // 100 sectors further on, a quarter of a millisecond
        };
        assert!(wait(false) < 500_000, "{}", wait(false));
        assert!((turn_ns..turn_ns + 500_000).contains(&wait(true)), "{}", wait(true));
    }

    #[test]
    fn each_command_costs_what_the_sheet_says() {
        let sheet = HddSpec { overhead: Nanos(250_000), ..desktop() };
        assert_eq!(hdd(&sheet).serve(0, Op::Read, 1 << 20, 8).overhead_ns, 250_000);
        assert_eq!(hdd(&sheet).serve(0, Op::Write, 1 << 20, 8).overhead_ns, 250_000);
    }

    #[test]
    fn the_capacity_is_met_to_the_block() {
        let params = drive_of(&desktop());
        assert_eq!(params.capacity_sectors(), 4_000_787_030_016 / 512);
        assert_eq!(params.zones().len(), 20);
    }

    #[test]
    fn sequential_reads_run_at_the_sheets_rate_at_both_edges_thanks_to_read_ahead() {
        let sheet = desktop();
        for bytes in [64 << 10, 256 << 10, 1 << 20] {
            let outer = stream(&sheet, Op::Read, 0, bytes) / sheet.outer_rate.0 as f64;
            assert!((0.98..1.03).contains(&outer), "{bytes}: {outer}");
        }
        let near_end = sheet.capacity.0 / 512 - 1_000_000;
        let inner = stream(&sheet, Op::Read, near_end, 1 << 20) / sheet.inner_rate.0 as f64;
        assert!((0.98..1.03).contains(&inner), "{inner}");
        let bare = HddSpec { read_ahead: Bytes(0), ..sheet };
        assert!(stream(&bare, Op::Read, 0, 64 << 10) < 0.1 * bare.outer_rate.0 as f64);
    }

    #[test]
    fn skews_are_just_enough_for_reads_and_writes() {
        let sheet = HddSpec { read_ahead: Bytes(0), ..desktop() };
        for op in [Op::Read, Op::Write] {
            let mut drive = hdd(&sheet);
            let service = drive.serve(0, op, 0, 1 << 16);
            let rate = f64::from(1 << 16) * 512.0 * 1e9 / (service.done_ns - service.overhead_ns) as f64 / sheet.outer_rate.0 as f64;
            assert!((0.93..1.03).contains(&rate), "{op:?} {rate}");
        }
    }

    fn problems(sheet: &HddSpec) -> Problems {
        let mut problems = Problems::new();
        let drive = Params::from_data_sheet(sheet, &Path::root().index("devices", 0).field("hdd"), &mut problems);
        assert_eq!(drive.is_none(), !problems.is_empty());
        problems
    }

    #[test]
    fn a_sheet_with_mistakes_is_refused_with_all_of_them_in_its_own_words() {
        let sheet = HddSpec { rpm: f64::NAN, heads: 0, seek_full: Nanos(2_000_000_000), buffer: Bytes(4096), ..desktop() };
        assert_problems(
            &problems(&sheet),
            &[
                "devices[0].hdd.rpm: NaN, 300, 30000",
                "devices[0].hdd.heads: 0, 1, 64",
                "devices[0].hdd.seek_full: 2 s, 800 us, 1 s, seek_single",
                "devices[0].hdd.buffer: 4 KiB, 8 KiB, 16 GiB, 512",
            ],
        );
        let sheet = HddSpec { seek_average: Nanos(900_000_000), inner_rate: Bytes(300_000_000), ..desktop() };
        assert_problems(
            &problems(&sheet),
            &[
                "devices[0].hdd.inner_rate: 300 MB, 100000 B, 210 MB, outer_rate",
                "devices[0].hdd.seek_average: 900 ms, 800 us, 18 ms, seek_single, seek_full",
            ],
        );
    }

    #[test]
    fn a_buffer_larger_than_the_drive_is_refused() {
        let found = problems(&HddSpec { capacity: Bytes(2 << 30), buffer: Bytes(3 << 30), ..desktop() });
        assert_problems(&found, &["devices[0].hdd.buffer: 3 GiB, 2 GiB"]);
    }

    #[test]
    fn numbers_that_make_no_drive_together_are_refused_with_what_would() {
        let sheet = HddSpec { seek_average: Nanos(17_000_000), ..desktop() };
        let falling = problems(&sheet);
        assert_problem(&falling[0], "devices[0].hdd.seek_average: 800 us, 18 ms, 17 ms");
        let words: Vec<&str> = falling[0].message.split([' ', ',', ';']).collect();
        let mut times: Vec<Nanos> = words.windows(2).filter_map(|pair| Nanos::parse(&pair.concat())).collect();
        times.retain(|time| ![sheet.seek_single, sheet.seek_average, sheet.seek_full].contains(time));
        assert_eq!(times.len(), 2, "the ends of the accepted range in {falling:?}");
        for seek_average in times {
            assert_eq!(problems(&HddSpec { seek_average, ..desktop() }), [], "{seek_average} is accepted as promised");
        }
        let empty = problems(&HddSpec { capacity: Bytes(10_000_000), buffer: Bytes(1 << 20), ..desktop() });
        assert_problems(&empty, &["devices[0].hdd.capacity: 10 MB, 20"]);
        let wide = problems(&HddSpec { outer_rate: Bytes(2_000_000_000), rpm: 300.0, ..desktop() });
        assert_problem(&wide[0], "devices[0].hdd.outer_rate: 2 GB, 300");
        let long = problems(&HddSpec { capacity: Bytes(100 << 40), heads: 1, ..desktop() });
        assert_problem(&long[0], "devices[0].hdd.capacity: 100 TiB");
    }
}
