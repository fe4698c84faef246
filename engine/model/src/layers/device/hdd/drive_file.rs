//! Reads a drive from JSON with DiskSim's parameter names.
//!
//! The file has `surfaces`, `cylinders`, `layout` (with `Zones`), `mechanics`, `seek_ms_by_cylinders`,
//! `electronics_and_buffer` and `bus`; parameters keep the names and units of DiskSim's parameter files (ms, 512-byte
//! blocks, 0 and 1 for switches). Everything is checked before anything is refused, so one attempt shows every mistake.
//!
//! Settings that DiskSim's documentation describes but that never acted on a measured drive are accepted; where one is
//! switched on and this model does nothing about it, [`Params::ignored_settings`] names it.

use serde_json::{Map, Value};

use super::geometry::{Layout, Sparing, ZoneSpec, usable_blocks};
use super::params::{ByPrevious, ParamError, Params, ReadAhead, Rules, Timing};
use super::rotation::{FASTEST_RPM, SLOWEST_RPM, Spindle};
use super::seek::{SeekCurve, SeekForm};

/// Longest time accepted for any single parameter, in ms.
const MAX_MS: f64 = 10_000.0;
/// Most cylinders accepted.
const MAX_CYLINDERS: f64 = 4_000_000.0;
/// Most sectors accepted on one track.
const MAX_SECTORS: f64 = 100_000.0;
/// Most surfaces accepted.
const MAX_SURFACES: f64 = 256.0;
/// Most blocks accepted where a number of blocks is asked for.
const MAX_BLOCKS: f64 = 1e12;
/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;

/// Settings without a rule in this model, with the value that switches them off.
const NOT_MODELLED: [(&str, f64); 9] = [
    ("Allow sneaky full read hits", 0.0),
    ("Allow sneaky partial read hits", 0.0),
    ("Allow sneaky intermediate read hits", 0.0),
    ("Allow write prebuffering", 0.0),
    ("Preseeking level", 0.0),
    ("Minimum read-ahead (blks)", 0.0),
    ("Disconnect write if seek", 0.0),
    ("Immediate buffer read", 0.0),
    ("Immediate buffer write", 0.0),
];

impl Params {
    /// Reads a drive file (JSON, DiskSim's parameter names).
    ///
    /// # Errors
    /// Every mistake in the file, each with its path, what was found and what is accepted.
    pub fn from_drive_json(text: &str) -> Result<Self, Vec<ParamError>> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            vec![ParamError {
                path: "(file)".to_owned(),
                found: format!("text that is not JSON ({error})"),
                accepted: "write a JSON object with surfaces, layout, mechanics, electronics_and_buffer, bus".to_owned(),
            }]
        })?;
        let mut errors = Vec::new();
        let params = read_drive(&value, &mut errors);
        match params {
            Some(params) if errors.is_empty() => Ok(params),
            _ => Err(errors),
        }
    }
}

/// One object of the file, with the place it stands at.
#[derive(Clone)]
struct Section<'a> {
    path: String,
    object: Option<&'a Map<String, Value>>,
}

impl<'a> Section<'a> {
    fn root(value: &'a Value, errors: &mut Vec<ParamError>) -> Self {
        Self::of(String::new(), Some(value), errors)
    }

    fn of(path: String, value: Option<&'a Value>, errors: &mut Vec<ParamError>) -> Self {
        let object = value.and_then(Value::as_object);
        if object.is_none() {
            let shown = if path.is_empty() { "(file)" } else { &path };
            refuse(errors, shown, &show(value), "write an object");
        }
        Self { path, object }
    }

    fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.object.and_then(|object| object.get(key))
    }

    fn child(&self, key: &str, errors: &mut Vec<ParamError>) -> Self {
        if self.object.is_none() {
            return Self { path: self.key(key), object: None };
        }
        Self::of(self.key(key), self.get(key), errors)
    }

    /// A number within a range. A missing key takes `default`; without one it is an error. An error yields the lower end.
    fn number(&self, key: &str, range: (f64, f64), default: Option<f64>, errors: &mut Vec<ParamError>) -> f64 {
        if self.object.is_none() {
            return range.0;
        }
        let value = self.get(key);
        match (value, default) {
            (None, Some(default)) => default,
            (Some(Value::Number(number)), _) if number.as_f64().is_some_and(|number| number >= range.0 && number <= range.1) => {
                number.as_f64().unwrap_or(range.0)
            }
            _ => {
                let accepted = format!("write a number from {} to {}", range.0, range.1);
                refuse(errors, &self.key(key), &show(value), &accepted);
                range.0
            }
        }
    }

    /// A whole number within a range (`254` or `254.0`).
    fn whole(&self, key: &str, range: (f64, f64), default: Option<f64>, errors: &mut Vec<ParamError>) -> u64 {
        let number = self.number(key, range, default, errors);
        if number.fract() != 0.0 {
            let accepted = format!("write a whole number from {} to {}", range.0, range.1);
            refuse(errors, &self.key(key), &format!("{number}"), &accepted);
        }
        number as u64
    }

    /// A time in ms that cannot be negative, in ns; absent is 0.
    fn ms(&self, key: &str, errors: &mut Vec<ParamError>) -> f64 {
        self.number(key, (0.0, MAX_MS), Some(0.0), errors) * NS_PER_MS
    }

    /// A switch; absent is off.
    fn switch(&self, key: &str, errors: &mut Vec<ParamError>) -> bool {
        self.whole(key, (0.0, 1.0), Some(0.0), errors) != 0
    }
}

fn refuse(errors: &mut Vec<ParamError>, path: &str, found: &str, accepted: &str) {
    errors.push(ParamError { path: path.to_owned(), found: found.to_owned(), accepted: accepted.to_owned() });
}

/// A value in few words.
fn show(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::Array(items)) => format!("a list of {}", items.len()),
        Some(Value::Object(_)) => "an object".to_owned(),
        Some(other) => other.to_string(),
    }
}

fn read_drive(value: &Value, errors: &mut Vec<ParamError>) -> Option<Params> {
    let root = Section::root(value, errors);
    let name = root.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    root.number("block_bytes", (512.0, 512.0), Some(512.0), errors);
    let surfaces = root.whole("surfaces", (1.0, MAX_SURFACES), None, errors) as u32;
    let cylinders = root.whole("cylinders", (1.0, MAX_CYLINDERS), None, errors) as u32;
    let layout = root.child("layout", errors);
    let mechanics = root.child("mechanics", errors);
    let electronics = root.child("electronics_and_buffer", errors);
    let bus = root.child("bus", errors);

    let layout = read_layout(&layout, surfaces, cylinders, errors);
    let rpm = mechanics.number("Rotation speed (in rpms)", (SLOWEST_RPM, FASTEST_RPM), None, errors);
    let reach = layout.as_ref().map_or(cylinders, Layout::cylinders).max(cylinders);
    let seek = read_seek(&root, &mechanics, reach, errors);
    let rules = read_rules(&electronics, errors);
    let timing = read_timing(&electronics, &mechanics, &bus, rules.early_writes, errors);
    let mut ignored = Vec::new();
    for (key, off) in NOT_MODELLED {
        note(&electronics, key, off, &mut ignored);
    }
    note(&mechanics, "Percent error in rpms", 0.0, &mut ignored);
    Some(Params { name, layout: layout?, spindle: Spindle::new(rpm), seek: SeekCurve::new(seek?, reach), timing, rules, ignored })
}

/// Notes a setting that is on but not modelled.
fn note(section: &Section, key: &str, off: f64, ignored: &mut Vec<String>) {
    if let Some(value) = section.get(key).and_then(Value::as_f64).filter(|value| (value - off).abs() > 0.0) {
        ignored.push(format!("{}: {value} has no effect in this model", section.key(key)));
    }
}

fn read_layout(section: &Section, surfaces: u32, cylinders: u32, errors: &mut Vec<ParamError>) -> Option<Layout> {
    let before = errors.len();
    let mapping = section.whole("LBN-to-PBN mapping scheme", (0.0, 1.0), Some(0.0), errors);
    let scheme = section.whole("Sparing scheme used", (0.0, 9.0), Some(0.0), errors);
    let sparing = match scheme {
        0 => Sparing::None,
        1 => Sparing::Tracks,
        3 => Sparing::SectorsPerTrack,
        7 => Sparing::EndOfDrive,
        8 => Sparing::PerRange,
        9 => Sparing::EndOfZone,
        other => {
            let accepted = "write 0 (none), 1 (tracks), 3 (sectors per track), 7 (end of drive), 8 (per range) or 9 (end of zone)";
            refuse(errors, &section.key("Sparing scheme used"), &other.to_string(), accepted);
            Sparing::None
        }
    };
    let range = section.whole("Rangesize for sparing", (1.0, MAX_CYLINDERS), Some(1.0), errors) as u32;
    section.object?;
    let zones = section.get("Zones");
    let Some(list) = zones.and_then(Value::as_array).filter(|list| !list.is_empty()) else {
        refuse(errors, &section.key("Zones"), &show(zones), "write a list of at least one zone");
        return None;
    };
    let mut specs: Vec<ZoneSpec> = Vec::with_capacity(list.len());
    for (index, value) in list.iter().enumerate() {
        let zone = Section::of(format!("{}[{index}]", section.key("Zones")), Some(value), errors);
        let clean = errors.len();
        let spec = read_zone(&zone, cylinders, errors);
        if errors.len() > clean {
            continue;
        }
        if let Some(previous) = specs.last().filter(|previous| spec.first_cylinder <= previous.last_cylinder) {
            refuse(
                errors,
                &zone.key("First cylinder number"),
                &format!("{}, inside or before the previous zone", spec.first_cylinder),
                &format!("write a cylinder from {} on (zones in order, without overlaps)", previous.last_cylinder + 1),
            );
        }
        if spec.last_cylinder < spec.first_cylinder {
            refuse(
                errors,
                &zone.key("Last cylinder number"),
                &spec.last_cylinder.to_string(),
                &format!("write a cylinder from {} (the zone's first) to {cylinders}", spec.first_cylinder),
            );
        } else if let Err(found) = usable_blocks(&spec, surfaces, sparing, range) {
            refuse(errors, &zone.key("Number of spares"), &found, "write fewer spares, slips or reserved sectors");
        }
        specs.push(spec);
    }
    (errors.len() == before).then(|| Layout::new(&specs, surfaces, mapping == 1, sparing, range, None))
}

fn read_zone(zone: &Section, cylinders: u32, errors: &mut Vec<ParamError>) -> ZoneSpec {
    // A drive of n cylinders may number its last one n.
    let last = f64::from(cylinders);
    let sectors = zone.whole("Blocks per track", (1.0, MAX_SECTORS), None, errors) as u32;
    let skew = (-MAX_SECTORS, MAX_SECTORS);
    let mut slips = Vec::new();
    match zone.get("slips") {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                match item.as_f64().filter(|slip| *slip >= 0.0 && *slip <= MAX_BLOCKS && slip.fract() == 0.0) {
                    Some(slip) => slips.push(slip as u64),
                    None => refuse(
                        errors,
                        &zone.key(&format!("slips[{index}]")),
                        &show(Some(item)),
                        &format!("write a whole number from 0 to {MAX_BLOCKS}"),
                    ),
                }
            }
        }
        other => refuse(errors, &zone.key("slips"), &show(other), "write a list of sector numbers, or []"),
    }
    ZoneSpec {
        first_cylinder: zone.whole("First cylinder number", (0.0, last), None, errors) as u32,
        last_cylinder: zone.whole("Last cylinder number", (0.0, last), None, errors) as u32,
        sectors,
        offset: zone.number("Offset of first block", skew, Some(0.0), errors),
        reserved: zone.whole("Empty space at zone front", (0.0, MAX_BLOCKS), Some(0.0), errors),
        track_skew: zone.number("Skew for track switch", skew, Some(0.0), errors),
        cylinder_skew: zone.number("Skew for cylinder switch", skew, Some(0.0), errors),
        spares: zone.whole("Number of spares", (0.0, MAX_BLOCKS), Some(0.0), errors),
        slips,
    }
}

fn read_seek(root: &Section, mechanics: &Section, cylinders: u32, errors: &mut Vec<ParamError>) -> Option<SeekForm> {
    mechanics.object?;
    let before = errors.len();
    let kind = mechanics.get("Seek type");
    let (form, path) = match kind.and_then(Value::as_str) {
        Some("extracted") => (read_points(root, errors)?, root.key("seek_ms_by_cylinders")),
        Some(name @ ("hpl" | "hplplus10")) => {
            (read_hpl(mechanics, name == "hplplus10", errors)?, mechanics.key("HPL seek equation values"))
        }
        _ => {
            refuse(
                errors,
                &mechanics.key("Seek type"),
                &show(kind),
                "write \"extracted\" (with seek_ms_by_cylinders), \"hpl\" or \"hplplus10\"",
            );
            return None;
        }
    };
    if let Some((distance, ms)) = SeekCurve::first_negative(&form, cylinders) {
        let found = format!("a curve that gives {ms} ms over {distance} cylinders");
        refuse(errors, &path, &found, "write a curve that is never negative on this drive");
    }
    (errors.len() == before).then_some(form)
}

fn read_points(root: &Section, errors: &mut Vec<ParamError>) -> Option<SeekForm> {
    let path = root.key("seek_ms_by_cylinders");
    let value = root.get("seek_ms_by_cylinders");
    let accepted = "write a list of [cylinders, ms] with rising cylinders, as in [[1, 0.8], [10, 1.5]]";
    let Some(list) = value.and_then(Value::as_array).filter(|list| !list.is_empty()) else {
        refuse(errors, &path, &show(value), accepted);
        return None;
    };
    let mut points: Vec<(u32, f64)> = Vec::with_capacity(list.len());
    for (index, item) in list.iter().enumerate() {
        let pair = match item.as_array().map(Vec::as_slice) {
            Some([distance, ms]) => distance.as_f64().zip(ms.as_f64()),
            _ => None,
        };
        let here = format!("{path}[{index}]");
        let Some((distance, ms)) = pair else {
            refuse(errors, &here, &show(Some(item)), accepted);
            continue;
        };
        if distance == 0.0 && ms == 0.0 {
            // No time for no distance goes without saying.
            continue;
        }
        let lowest = points.last().map_or(1.0, |point| f64::from(point.0) + 1.0);
        if !(lowest..=MAX_CYLINDERS).contains(&distance) || distance.fract() != 0.0 {
            refuse(errors, &here, &format!("{distance} cylinders"), &format!("write a whole distance from {lowest} on"));
        } else if !(0.0..=MAX_MS).contains(&ms) {
            refuse(errors, &here, &format!("{ms} ms"), &format!("write a time from 0 to {MAX_MS} ms"));
        } else {
            points.push((distance as u32, ms));
        }
    }
    Some(SeekForm::Points(points))
}

/// `count` numbers, each within the range.
fn read_list(section: &Section, key: &str, count: usize, range: (f64, f64), errors: &mut Vec<ParamError>) -> Option<Vec<f64>> {
    let value = section.get(key);
    let numbers: Option<Vec<f64>> =
        value.and_then(Value::as_array).filter(|list| list.len() == count).and_then(|list| list.iter().map(Value::as_f64).collect());
    match numbers {
        Some(numbers) if numbers.iter().all(|number| (range.0..=range.1).contains(number)) => Some(numbers),
        _ => {
            let accepted = format!("write a list of {count} numbers from {} to {}", range.0, range.1);
            refuse(errors, &section.key(key), &show(value), &accepted);
            None
        }
    }
}

fn read_hpl(mechanics: &Section, first_ten: bool, errors: &mut Vec<ParamError>) -> Option<SeekForm> {
    let numbers = read_list(mechanics, "HPL seek equation values", 6, (-MAX_MS, MAX_CYLINDERS), errors)?;
    let first_ms = if first_ten {
        read_list(mechanics, "First ten seek times", 10, (0.0, MAX_MS), errors)?
    } else if numbers[5] < 0.0 {
        Vec::new()
    } else {
        vec![numbers[5]]
    };
    Some(SeekForm::Hpl { first_ms, boundary: numbers[0], root_ms: (numbers[1], numbers[2]), linear_ms: (numbers[3], numbers[4]) })
}

fn read_rules(section: &Section, errors: &mut Vec<ParamError>) -> Rules {
    let segments = section.whole("Number of buffer segments", (1.0, 4096.0), None, errors) as u32;
    let segment_blocks = section.whole("Segment size (in blks)", (1.0, 1e8), None, errors);
    let most_ahead = section.whole("Maximum read-ahead (blks)", (0.0, 1e8), Some(0.0), errors);
    let caching = section.whole("Enable caching in buffer", (0.0, 2.0), Some(1.0), errors) != 0;
    let read_ahead = match section.whole("Buffer continuous read", (0.0, 4.0), Some(0.0), errors) {
        1 => ReadAhead::Track,
        2 => ReadAhead::Cylinder,
        3 => ReadAhead::Blocks(most_ahead),
        4 => ReadAhead::Tracks,
        _ => ReadAhead::None,
    };
    let over_requested = section.number("Read-ahead over requested", (-1.0, 1.0), Some(1.0), errors);
    Rules {
        segments,
        segment_blocks,
        adaptive: false,
        read_ahead: if caching { read_ahead } else { ReadAhead::None },
        caching,
        overlaps: false,
        early_writes: section.whole("Fast write level", (0.0, 2.0), Some(0.0), errors) != 0,
        append_writes: section.switch("Combine seq writes", errors),
        reads_hit_written: section.switch("Allow read hits on write data", errors),
        almost_hits: section.switch("Allow almost read hits", errors),
        free_blocks: section.switch("Read any free blocks", errors),
        read_ahead_on_idle_hit: section.switch("Read-ahead on idle hit", errors),
        forget_requested: over_requested < 0.0,
        stop_mid_sector: section.switch("Stop prefetch in sector", errors),
        partial_at_once: section.whole("Immed transfer partial hit", (0.0, 1.0), Some(1.0), errors) != 0,
        never_disconnect: section.switch("Never disconnect", errors),
        hold_writes: section.switch("Extra write disconnect", errors),
        high_water: section.number("High (read) water mark", (0.0, 1.0), Some(0.0), errors),
        water_by_request: section.whole("Set watermark by reqsize", (0.0, 1.0), Some(1.0), errors) != 0,
    }
}

fn read_timing(section: &Section, mechanics: &Section, bus: &Section, early_writes: bool, errors: &mut Vec<ParamError>) -> Timing {
    let scale = section.number("Time scale for overheads", (0.0, 1000.0), Some(1.0), errors);
    let each = section.ms("Per-request overhead time", errors);
    let mut pair = |read: &str, write: &str, each: f64| ByPrevious {
        after_read: (section.ms(read, errors) + each) * scale,
        after_write: (section.ms(write, errors) + each) * scale,
    };
    let read_hit = pair("Read hit over. after read", "Read hit over. after write", each);
    let read_miss = pair("Read miss over. after read", "Read miss over. after write", each);
    let write_hit = pair("Write hit over. after read", "Write hit over. after write", each);
    let write_miss = pair("Write miss over. after read", "Write miss over. after write", each);
    let read_disconnect = pair("Read disconnect afterread", "Read disconnect afterwrite", 0.0);
    let mut scaled = |key: &str| section.ms(key, errors) * scale;
    let read_completion = scaled("Read completion overhead");
    let write_completion = scaled("Write completion overhead");
    let preparation = scaled("Data preparation overhead");
    let reselect = scaled("First reselect overhead");
    let write_disconnect = scaled("Write disconnect overhead");
    let least_write_seek = scaled("Minimum seek delay");
    let settle = (-MAX_MS, MAX_MS);
    let bulk = section.ms("Bulk sector transfer time", errors);
    let drive_side = bus.child("BUS1", errors);
    Timing {
        read_hit,
        read_miss,
        write: if early_writes { write_hit } else { write_miss },
        read_disconnect,
        read_completion,
        write_completion,
        preparation,
        reselect,
        write_disconnect,
        head_switch: mechanics.ms("Head switch time", errors),
        write_settle: mechanics.number("Add. write settling delay", settle, Some(0.0), errors) * NS_PER_MS,
        least_write_seek,
        idle_settle: 0.0,
        read_block: drive_side.ms("Read block transfer time", errors).max(bulk),
        write_block: drive_side.ms("Write block transfer time", errors).max(bulk),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{small_drive, small_drive_with};
    use super::*;
    use crate::testing::{assert_problem, assert_problems};
    use serde_json::json;

    fn errors_of(changes: &[(&str, Value)]) -> Vec<String> {
        let text = small_drive_with(changes).to_string();
        let errors = Params::from_drive_json(&text).expect_err("a mistake in the file");
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_is_read_and_its_capacity_is_the_sum_of_its_zones() {
        let params = Params::from_drive_json(&small_drive().to_string()).expect("a sound file");
        assert_eq!(params.capacity_sectors(), 20 * 2 * 100 + 10 * 2 * 80);
        assert_eq!((params.cylinders(), params.surfaces(), params.zones().len()), (31, 2, 2));
        assert!((params.turn_ns() - 10e6).abs() < 1e-6);
        assert!(params.ignored_settings().is_empty());
    }

    #[test]
    fn overlapping_zones_are_refused_with_the_first_free_cylinder() {
        let errors = errors_of(&[("/layout/Zones/1/First cylinder number", json!(15))]);
        assert_problems(&errors, &["layout.Zones[1].First cylinder number: 15, 20"]);
    }

    #[test]
    fn every_mistake_is_reported_at_once() {
        let errors = errors_of(&[
            ("/mechanics/Rotation speed (in rpms)", json!(0)),
            ("/layout/Zones/0/Blocks per track", json!(0)),
            ("/seek_ms_by_cylinders", json!([[5, 1.0], [3, 2.0], [9, -1.0]])),
            ("/electronics_and_buffer/Number of buffer segments", json!("two")),
            ("/layout/Sparing scheme used", json!(4)),
            ("/bus/BUS1", json!(null)),
        ]);
        let paths: Vec<&str> = errors.iter().map(|error| error.split(':').next().unwrap_or_default()).collect();
        assert_eq!(
            paths,
            [
                "layout.Sparing scheme used",
                "layout.Zones[0].Blocks per track",
                "mechanics.Rotation speed (in rpms)",
                "seek_ms_by_cylinders[1]",
                "seek_ms_by_cylinders[2]",
                "electronics_and_buffer.Number of buffer segments",
                "bus.BUS1",
            ]
        );
    }

    #[test]
    fn a_zone_without_room_for_a_block_is_refused() {
        let errors = errors_of(&[("/layout/Zones/1/Empty space at zone front", json!(1600))]);
        assert_problem(&errors[0], "layout.Zones[1].Number of spares: 1600");
    }

    #[test]
    fn text_that_is_not_json_and_an_empty_object_are_refused() {
        assert_eq!(Params::from_drive_json("{").expect_err("no JSON")[0].path, "(file)");
        assert!(Params::from_drive_json("{}").expect_err("nothing there").len() > 3);
        assert_eq!(Params::from_drive_json("7").expect_err("no object")[0].path, "(file)");
    }

    #[test]
    fn a_setting_without_a_rule_here_is_named_not_refused() {
        let text = small_drive_with(&[("/electronics_and_buffer/Preseeking level", json!(1))]).to_string();
        let params = Params::from_drive_json(&text).expect("accepted");
        assert_problems(params.ignored_settings(), &["electronics_and_buffer.Preseeking level: 1"]);
    }

    #[test]
    fn writes_use_the_hit_overheads_only_in_drives_that_report_early() {
        let early = |level: u32| {
            let text = small_drive_with(&[
                ("/electronics_and_buffer/Fast write level", json!(level)),
                ("/electronics_and_buffer/Write hit over. after read", json!(0.25)),
                ("/electronics_and_buffer/Write miss over. after read", json!(0.75)),
            ]);
            Params::from_drive_json(&text.to_string()).expect("a sound file").timing.write.after_read
        };
        assert!((early(0) - 750_000.0).abs() < 1e-6 && (early(2) - 250_000.0).abs() < 1e-6);
    }
}
