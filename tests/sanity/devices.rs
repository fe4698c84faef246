//! Every preset of a device under every pattern: over depth, workers and size, and over each field that is a cost or a resource.

use seeklab_spec::{DeviceGroup, Gather, HddSpec, Ssd, to_f64};
use serde_json::{Value, json};

use crate::limits;
use crate::load::{GIB, KIB, Load, MIB, Pattern, load, set, size};
use crate::rules::{Measure, Point, Unit};
use crate::support;

const SIZES: [u64; 7] = [512, 4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, MIB, 8 * MIB];
const DEPTHS: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const JOBS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
/// More bytes than this are not in flight at once: nothing new happens, and it takes long.
const MAX_IN_FLIGHT: u64 = 256 * MIB;

/// Least blocks of each die that are simulated where flash is written, and least of them that are spare.
const BLOCKS_OF_A_DIE: f64 = 16.0;
const SPARE_BLOCKS_OF_A_DIE: f64 = 2.2;

/// Blocks of each die that are simulated, with so many percent of them spare.
fn blocks_of_a_die(percent: f64) -> u64 {
    let blocks = (100.0 * SPARE_BLOCKS_OF_A_DIE / percent).max(BLOCKS_OF_A_DIE).ceil();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // some dozens
    let blocks = blocks as u64;
    blocks
}

/// A preset of a device, by name.
pub struct Preset {
    pub name: String,
    pub group: DeviceGroup,
}

/// All presets of devices, in the order of their names.
pub fn presets() -> Vec<Preset> {
    let all = support::library().presets().iter();
    let devices = all.filter(|preset| !preset["device"].is_null());
    devices.map(|preset| named(preset["name"].as_str().expect("a preset has a name"))).collect()
}

fn named(name: &str) -> Preset {
    let preset = support::library().presets().get(name).expect("a preset of this name");
    let group = serde_json::from_value(preset["device"].clone()).expect("a preset that is read by cases");
    Preset { name: name.to_owned(), group }
}

impl Preset {
    fn is_disk(&self) -> bool {
        self.group.hdd.is_some()
    }

    fn system(&self) -> Value {
        json!({"devices": [{"preset": self.name}]})
    }

    /// How much of a drive with flash is simulated where it is written.
    fn simulated_part(&self) -> Option<u64> {
        let ssd = self.group.ssd.as_ref()?;
        let flash = ssd.flash.as_ref()?;
        Some(u64::from(ssd.units) * blocks_of_a_die(flash.overprovision) * u64::from(flash.pages_per_block) * ssd.page.0)
    }

    /// A load over a part of the device that is large for it: arms move, flash spreads over all dies.
    fn load(&self, pattern: Pattern, bytes: u64, depth: u64, jobs: u64) -> Load {
        let capacity = match &self.group {
            DeviceGroup { hdd: Some(disk), .. } => disk.capacity.0,
            DeviceGroup { ssd: Some(ssd), .. } => ssd.capacity.0,
            _ => 16 * GIB,
        };
        let span = if let (Some(part), true) = (self.simulated_part(), pattern.writes()) {
            part // what is beyond folds onto it: files of several workers would overwrite each other
        } else if self.is_disk() && pattern.is_random() {
            capacity / 4
        } else {
            (4 * GIB).min(capacity / 2)
        };
        let load = load(pattern, bytes, depth, jobs).spread_over(span);
        match &self.group.hdd {
            // Large writes fill the cache first.
            Some(disk) if disk.write_cache && pattern.writes() && bytes >= 64 * KIB => load.measuring(3 * disk.buffer.0),
            _ => match &self.group.ssd {
                // And writes to flash the buffer, before they come at the pace of programs.
                Some(ssd) if pattern.writes() && bytes >= 64 * KIB => {
                    let of_both = if pattern.reads() { 2 } else { 1 };
                    load.measuring(3 * of_both * ssd.write_buffer.0.max(16 * MIB))
                }
                _ => load,
            },
        }
    }

    fn point(&self, load: Load) -> Point {
        let mut point = self.on(&self.system(), load, load.name());
        (point.bounds, point.service_ns) = limits::of(&self.group, load);
        point
    }

    /// A load on the device as `system` has it.
    fn on(&self, system: &Value, load: Load, name: impl Into<String>) -> Point {
        let mut system = system.clone();
        if let (Some(Ssd { flash: Some(flash), units, page, capacity, .. }), true) = (&self.group.ssd, load.pattern.writes()) {
            // Part of the drive: what was written before is made first, which takes its time for a whole one.
            let drive = &mut system["devices"][0]["ssd"];
            let dies = drive["units"].as_u64().unwrap_or(u64::from(*units));
            let percent = drive["flash"]["overprovision"].as_f64().unwrap_or(flash.overprovision);
            let mapped = dies * blocks_of_a_die(percent) * u64::from(flash.pages_per_block) * page.0;
            drive["flash"]["mapped"] = mapped.into();
            if let Some(cache) = &flash.slc_cache {
                // As large a part of its cache, or a longer run would leave it and a shorter one not.
                let part = |bytes: u64| u128::from(bytes) * u128::from(mapped) / u128::from(capacity.0);
                let blocks = u128::from(dies * u64::from(flash.pages_per_block / cache.bits) * page.0);
                drive["flash"]["slc_cache"] = json!({"fixed": part(cache.fixed.0).max(blocks.saturating_sub(part(cache.dynamic.0))), "dynamic": part(cache.dynamic.0)});
            }
        }
        let mut point = load.on(&system, name);
        point.patience_ns = match &self.group {
            DeviceGroup { hdd: Some(disk), .. } => to_f64(disk.longest_overtaken.0),
            DeviceGroup { ssd: Some(Ssd { flash: Some(flash), program, .. }), .. } => to_f64(program.0 + flash.erase.0),
            _ => 0.0,
        };
        point
    }

    /// Depth and workers, at one size.
    fn in_flight(&self, pattern: Pattern, bytes: u64) -> Unit {
        let mut unit = Unit::new(format!("{}: {} {}", self.name, pattern.name(), size(bytes)));
        let fits = |in_flight: &u64| *in_flight == 1 || in_flight * bytes <= MAX_IN_FLIGHT;
        // Writes to flash first fill a drive with what was written before, which takes a while.
        let is_slow = self.group.ssd.is_some() && pattern.writes();
        let kept = |step: &usize| !is_slow || step.is_multiple_of(2);
        let along =
            |all: &[u64]| all.iter().enumerate().filter(|(step, _)| kept(step)).map(|(_, count)| *count).filter(fits).collect::<Vec<_>>();
        unit.line("depth", along(&DEPTHS).into_iter().map(|depth| self.point(self.load(pattern, bytes, depth, 1))));
        let jobs = along(&JOBS).into_iter().map(|jobs| self.point(self.load(pattern, bytes, 1, jobs)));
        if self.is_disk() && !pattern.is_random() {
            // Streams part the arm: more of them may be slower. What they must not be is said in `streams`.
            jobs.for_each(|point| _ = unit.add(point));
        } else {
            unit.line("workers", jobs);
        }
        if fits(&256) {
            unit.add(self.point(self.load(pattern, bytes, 16, 16)));
        }
        unit
    }

    /// Random reads of a file that fits into a disk's buffer, once it has been read for a while: at any depth from the buffer.
    fn small_file(&self, disk: &HddSpec) -> Unit {
        let span = 16 * MIB;
        let mut unit = Unit::new(format!("{}: randread 4 KiB of {}", self.name, size(span)));
        if 2 * span <= disk.buffer.0 {
            let load = |depth| self.load(Pattern::RandRead, 4 * KIB, depth, 1).spread_over(span).measuring(96 * MIB);
            unit.line("depth", [1, 2, 4, 8, 16, 32].map(|depth| self.on(&self.system(), load(depth), load(depth).name())));
        }
        unit
    }

    /// A smaller request is never slower than a larger one.
    fn sizes(&self, pattern: Pattern, depth: u64) -> Unit {
        let mut unit = Unit::new(format!("{}: {} of all sizes, depth {depth}", self.name, pattern.name()));
        let sizes = SIZES.iter().rev().filter(|bytes| *bytes * depth <= MAX_IN_FLIGHT);
        unit.line("smaller requests", sizes.map(|bytes| self.point(self.load(pattern, *bytes, depth, 1)))).measure = Measure::Requests;
        unit
    }

    /// Some sequential streams on a disk: no faster by one more stream, and no slower in the drive's own order than in order of arrival.
    fn streams(&self, disk: &HddSpec, pattern: Pattern, depth: u64) -> Unit {
        let mut unit = Unit::new(format!("{}: streams, {} 128 KiB depth {depth}", self.name, pattern.name()));
        let load = |streams: u64| self.load(pattern, 128 * KIB, depth, streams).spread_over(streams * GIB).measuring(96 * MIB);
        let counts = [8, 7, 6, 5, 4, 3, 2, 1];
        // Without read-ahead or a write cache each request of a stream waits for a turn, and those of others fit in between.
        if if pattern == Pattern::Read { disk.read_ahead.0 > 0 } else { disk.write_cache } {
            unit.line("fewer streams", counts.map(|streams| self.point(load(streams))));
        }
        for streams in counts {
            let in_order = |policy: &str| {
                let mut system = self.system();
                set(&mut system, "devices[0].hdd.queue_policy", policy.into());
                self.on(&system, load(streams), format!("{streams} streams {policy}"))
            };
            unit.line("its own order", [in_order("fcfs"), in_order("satf")]);
        }
        if disk.write_cache && pattern == Pattern::Write {
            unit.line("two writers within 20 % of one", [1, 2].map(|streams| self.point(load(streams)))).tolerance = 0.2;
        }
        unit
    }

    /// Values of a field from the worst to the best, under some loads.
    fn field(&self, path: &str, values: &[Value], loads: &[Load]) -> Vec<Unit> {
        let unit = |load: &Load| {
            let mut unit = Unit::new(format!("{}: {}", self.name, load.name()));
            let point = |value: &Value| {
                let mut system = self.system();
                set(&mut system, &format!("devices[0].{path}"), value.clone());
                let mut point = self.on(&system, *load, format!("{path} = {value}"));
                if let Some(group) = self.unit_with(path, value) {
                    (point.bounds, point.service_ns) = limits::of(&group, *load);
                }
                point
            };
            unit.line(path, values.iter().map(point));
            unit
        };
        loads.iter().map(unit).collect()
    }

    /// The logical unit with another value of a field that limits it.
    fn unit_with(&self, path: &str, value: &Value) -> Option<DeviceGroup> {
        let (mut group, number) = (self.group.clone(), value.as_u64()?);
        let unit = group.lun.as_mut()?;
        match path {
            "lun.rate" => unit.rate.0 = number,
            "lun.latency" => unit.latency.0 = number,
            "lun.command" => unit.command.0 = number,
            _ => return None,
        }
        Some(group)
    }

    fn loads(&self) -> Vec<Load> {
        use Pattern::{RandRead, RandRw, RandWrite, Read, SyncRandWrite, SyncWrite, Write};
        let of = |(pattern, bytes, depth)| self.load(pattern, bytes, depth, 1);
        [
            (Read, 128 * KIB, 1),
            (Read, 128 * KIB, 32),
            (Write, 128 * KIB, 1),
            (Write, 128 * KIB, 32),
            (Read, 4 * KIB, 4),
            (Write, 4 * KIB, 4),
            (RandRead, 4 * KIB, 1),
            (RandRead, 4 * KIB, 32),
            (RandWrite, 4 * KIB, 1),
            (RandWrite, 4 * KIB, 32),
            (RandRw, 8 * KIB, 16),
            (SyncWrite, 4 * KIB, 1),
            (SyncRandWrite, 4 * KIB, 1),
        ]
        .map(of)
        .to_vec()
    }

    fn disk_fields(&self, disk: &HddSpec) -> Vec<Unit> {
        let loads = self.loads();
        let numbers = |values: &[u64]| values.iter().map(|value| json!(value)).collect::<Vec<_>>();
        let shares = |of: u64, percent: &[u64]| percent.iter().map(|share| json!(of / 100 * share)).collect::<Vec<_>>();
        let mut units = self.field("hdd.overhead", &numbers(&[2_000_000, 1_000_000, 500_000, 200_000, 100_000, 50_000, 10_000, 0]), &loads);
        units.extend(self.field("hdd.interface_rate", &numbers(&[100_000_000, 300_000_000, 600_000_000, 1_200_000_000]), &loads));
        units.extend(self.field("hdd.buffer", &numbers(&[8 * MIB, 32 * MIB, 128 * MIB, 512 * MIB]), &loads));
        units.extend(self.field("hdd.segments", &numbers(&[1, 2, 8, 32, 128]), &loads));
        units.extend(self.field("hdd.adaptive_segments", &[json!(false), json!(true)], &loads));
        units.extend(self.field("hdd.queue_depth", &numbers(&[1, 2, 4, 8, 16, 32, 128]), &loads));
        units.extend(self.field("hdd.head_switch", &numbers(&[2_000_000, 800_000, 200_000, 0]), &loads));
        units.extend(self.field("hdd.write_settle", &numbers(&[4_000_000, 1_000_000, 200_000, 0]), &loads));
        units.extend(self.field("hdd.seek_average", &shares(disk.seek_full.0, &[60, 55, 50, 45]), &loads));
        units.extend(self.field("hdd.write_cache", &[json!(false), json!(true)], &loads));
        let vibrations = [0.8, 0.5, 0.2, 0.05, 0.0].map(|share| json!({"off_track": share}));
        units.extend(self.field("hdd.shake", &vibrations, &loads));
        units.extend(self.field("hdd.keeps_writes", &[json!(false), json!(true)], &loads));
        units
    }

    fn flash_fields(&self, ssd: &Ssd) -> Vec<Unit> {
        let loads = self.loads();
        let shares = |of: u64, percent: &[u64]| percent.iter().map(|share| json!(of * share / 100)).collect::<Vec<_>>();
        let costs = [400, 200, 100, 50, 25];
        let resources = [25, 50, 100, 200, 400];
        let mut units = self.field("ssd.overhead", &shares(ssd.overhead.0, &costs), &loads);
        // Cells of one bit are read no slower than those of several, and the buffer holds a program for each unit.
        let least_read = ssd.flash.as_ref().and_then(|flash| flash.slc_cache.as_ref()).map_or(0, |cache| cache.read.0);
        let programs = ssd.flash.as_ref().filter(|flash| flash.gather == Gather::Full);
        let least_buffer = programs.map_or(0, |flash| u64::from(ssd.units) * u64::from(flash.planes) * ssd.page.0);
        let from = |least: u64, values: Vec<Value>| values.into_iter().filter(|value| value.as_u64() >= Some(least)).collect::<Vec<_>>();
        units.extend(self.field("ssd.read", &from(least_read, shares(ssd.read.0, &costs)), &loads));
        units.extend(self.field("ssd.program", &shares(ssd.program.0, &[200, 100, 50]), &loads));
        units.extend(self.field("ssd.interface_rate", &shares(ssd.interface_rate.0, &resources), &loads));
        units.extend(self.field("ssd.queue_depth", &[1, 2, 8, 32, 128].map(|depth| json!(depth)), &loads));
        units.extend(self.field("ssd.write_buffer", &from(least_buffer, shares(ssd.write_buffer.0, &resources)), &loads));
        if let Some(flash) = &ssd.flash {
            units.extend(self.field("ssd.units", &[1, 2, 4].map(|dies| json!(flash.channels * dies)), &loads));
            units.extend(self.field("ssd.flash.channel_rate", &shares(flash.channel_rate.0, &resources), &loads));
            units.extend(self.field("ssd.flash.erase", &shares(flash.erase.0, &[400, 100, 25]), &loads));
            units.extend(self.field("ssd.flash.command", &[20_000, 5_000, 1_000, 0].map(|ns| json!(ns)), &loads));
            units.extend(self.field("ssd.flash.write_command", &[20_000, 5_000, 1_000, 0].map(|ns| json!(ns)), &loads));
            let stalls = [0.05, 0.01].map(|share| json!([{"share": share, "time": "200us"}]));
            units.extend(self.field("ssd.flash.write_stalls", &[&stalls[..], &[json!([])]].concat(), &loads));
            let paths = [1, 4, 64].map(|least| json!({"least": least, "per_read": 0.0}));
            units.extend(self.field("ssd.flash.read_paths", &paths, &loads));
            units.extend(self.field("ssd.flash.map_flush", &[2_000_000, 200_000, 0].map(|ns| json!(ns)), &loads));
            units.extend(self.field("ssd.flash.overprovision", &[14.0, 28.0, 100.0].map(|percent| json!(percent)), &loads));
            // Without it pages are programmed and read one by one: only reads of one page have the same flash, if no planes read
            // by themselves and no cells hold one bit.
            let is_same = flash.read_planes == 1 && flash.slc_cache.is_none();
            for load in loads.iter().filter(|load| is_same && !load.pattern.writes() && load.bytes <= ssd.page.0) {
                let mut unit = Unit::new(format!("{}: {}", self.name, load.name()));
                let fresh = json!({"devices": [{"ssd": serde_json::to_value(Ssd { flash: None, ..ssd.clone() }).expect("a drive")}]});
                unit.line(
                    "no flash translation layer",
                    [self.on(&self.system(), *load, "flash as it is"), load.on(&fresh, "always fresh")],
                );
                units.push(unit);
            }
        }
        units
    }

    fn unit_fields(&self) -> Vec<Unit> {
        let mut units = self.field("lun.rate", &[10_000_000, 100_000_000, 1_000_000_000].map(|rate| json!(rate)), &self.loads());
        units.extend(self.field("lun.latency", &[10_000_000, 1_000_000, 100_000, 0].map(|ns| json!(ns)), &self.loads()));
        units.extend(self.field("lun.command", &[1_000_000, 100_000, 10_000, 0].map(|ns| json!(ns)), &self.loads()));
        let pauses = [400, 100, 25].map(|ms| json!([{"at": "1ms", "for": format!("{ms}ms")}]));
        units.extend(self.field("lun.pauses", &[&pauses[..], &[json!([])]].concat(), &self.loads()));
        let bases = [100, 1_000, 10_000].map(|base| json!({"base": base, "capacity": 2000}));
        units.extend(self.field("lun.credits", &bases, &self.loads()));
        let capacities = [50, 500, 5_000].map(|capacity| json!({"base": 300, "capacity": capacity}));
        units.extend(self.field("lun.credits", &capacities, &self.loads()));
        let slc = |field: &str, value: Value| {
            let mut slc = json!({"fixed": "16MiB", "lend": 0.0, "direct_rate": "1MB", "fold_rate": "1MB"});
            slc[field] = value;
            slc
        };
        for (field, values) in [("fixed", ["1MiB", "16MiB", "256MiB"]), ("direct_rate", ["1MB", "2MB", "5MB"])] {
            units.extend(self.field("lun.slc", &values.map(|value| slc(field, value.into())), &self.loads()));
        }
        let shingled = |field: &str, value: Value| {
            let mut shingled = json!({"zone": "1MiB", "cache": "4MiB", "move": "1ms", "stream": "1MiB", "idle": "1s"});
            shingled[field] = value;
            shingled
        };
        let sizes = [("cache", ["1MiB", "8MiB", "64MiB"]), ("move", ["20ms", "1ms", "0"]), ("idle", ["10s", "1s", "100ms"])];
        for (field, values) in sizes {
            units.extend(self.field("lun.shingled", &values.map(|value| shingled(field, value.into())), &self.loads()));
        }
        units
    }

    /// All of a preset.
    pub fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = Pattern::ALL.into_iter().flat_map(|pattern| SIZES.map(|bytes| self.in_flight(pattern, bytes))).collect();
        units.extend(Pattern::ALL.into_iter().flat_map(|pattern| [1, 32].map(|depth| self.sizes(pattern, depth))));
        if let Some(disk) = &self.group.hdd {
            for depth in [1, 4] {
                units.extend([Pattern::Read, Pattern::Write].map(|pattern| self.streams(disk, pattern, depth)));
            }
            units.push(self.small_file(disk));
            units.extend(self.disk_fields(disk));
        }
        if let Some(ssd) = &self.group.ssd {
            units.extend(self.flash_fields(ssd));
        }
        if self.group.lun.is_some() {
            units.extend(self.unit_fields());
        }
        units
    }
}
