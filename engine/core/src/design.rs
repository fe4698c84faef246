//! A pool on paper: what it costs, what it holds, what each of the eleven tests may do at most, and how to simulate it.
//!
//! A design is a dozen numbers. It becomes changes of the case `eleven-metrics`, so that whoever runs it runs the same engine and
//! the same tests as everybody else. The bounds are the invariants of such pools, each computed by itself: what one disk does, what
//! a link carries, cores over cycles, threads over round trips. The least of them *binds* a test; a run can come near it and
//! never beyond.
//!
//! | what | at most | from |
//! |---|---|---|
//! | random reads | 200/s a disk, of which a read from RAID-Z needs all that hold its record; 77/s a thread | S9.1, S9.5, S9.6 |
//! | streams | 80 MB/s a disk that holds data; writes half of it in mirrors of two | S9.2, S9.4 |
//! | log device | 110 MB/s | S9.8 |
//! | read SSD | 3100/s of 8 KiB, and 150 MB/s | S9.7 |
//! | a link | its rate less headers | S1, S11 |
//! | cores | their cycles over those of a request | S4 |
//! | names | threads over their round trips | S1.7 |
//!
//! Prices are sample values in no particular currency; they are input like everything else. Left out: chassis, power, support,
//! spares, and what a vendor charges for it all.

use serde_json::{Map, Value, json};

use crate::json::from_value;
use crate::layout::raidz::RaidZ;
use crate::library;
use crate::scenario::{LayoutKind, Problem, Problems, Scenario};
use crate::server::{least_cycles, real};

const CASE: &str = "eleven-metrics";
const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;
const GIB: u64 = 1 << 30;
const DISK_BYTES: u64 = 1_000_000_000_000;
const READ_SSD_BYTES: u64 = 100_000_000_000;
const DISK_READS_PER_S: f64 = 200.0;
const THREAD_READS_PER_S: f64 = 77.0;
const DISK_STREAM: f64 = 80.0 * MB;
const LOG_STREAM: f64 = 110.0 * MB;
const READ_SSD_S: f64 = 1.0 / 3100.0;
const READ_SSD_RATE: f64 = 150.0 * MB;
/// Sectors of the disks.
const ASHIFT: u32 = 12;
/// Block of the file system that stands for ZFS where a working set of real size is simulated.
const SET_BLOCK: u64 = 128 << 10;
/// The disks of that test over what the set needs of them.
const SET_MARGIN: f64 = 1.1;

/// A number of a design: name, what it is, unit, least, most, default, price of one.
pub struct Field {
    /// Name in the input.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Its unit; empty for a number of things.
    pub unit: &'static str,
    /// Least, most, and the step between.
    pub range: [u64; 3],
    /// Where nothing is said.
    pub default: u64,
    /// Sample price of one; none where it costs nothing.
    pub price: u64,
}

const fn field(name: &'static str, title: &'static str, unit: &'static str, range: [u64; 3], default: u64, price: u64) -> Field {
    Field { name, title, unit, range, default, price }
}

/// All numbers of a design.
pub const FIELDS: [Field; 11] = [
    field("disks", "Disks", "", [1, 96, 1], 44, 300),
    field("width", "Disks in a group", "", [1, 24, 1], 2, 0),
    field("parity", "Parity disks of a group", "", [0, 3, 1], 0, 0),
    field("record_kib", "Record", "KiB", [8, 128, 8], 128, 0),
    field("memory_gib", "Memory", "GiB", [4, 256, 4], 128, 40),
    field("read_ssds", "Read SSDs", "", [0, 8, 1], 0, 2500),
    field("log_ssds", "Log SSDs", "", [0, 8, 1], 1, 4000),
    field("cores", "Cores", "", [1, 32, 1], 16, 250),
    field("client_gbit", "Each client's link", "Gbit/s", [1, 10, 1], 1, 0),
    field("server_gbit", "Server's link", "Gbit/s", [1, 40, 1], 10, 100),
    field("working_set_gib", "Working set", "GiB", [64, 256, 16], 256, 0),
];

/// The tests: variant of the case, title, direction, whether it counts operations, bytes of one, threads.
const TESTS: [(&str, &str, &str, bool, u64, u64); 12] = [
    ("1-stream-cold", "1 stream read, cold", "read", false, 128 << 10, 1),
    ("2-stream-warm", "1 stream read, warm", "read", false, 128 << 10, 1),
    ("3-streams-cold", "20 streams read, cold", "read", false, 128 << 10, 20),
    ("4-streams-warm", "10 streams read, warm", "read", false, 128 << 10, 10),
    ("5-random-cold", "20 threads, random reads, cold", "read", true, 8 << 10, 20),
    ("6-random-warm", "128 threads, random reads, warm", "read", true, 8 << 10, 128),
    ("7-write", "1 stream written", "write", false, 128 << 10, 1),
    ("8-writes", "20 streams written", "write", false, 128 << 10, 20),
    ("9-sync-writes", "128 threads, synchronous writes", "write", true, 8 << 10, 128),
    ("10-attributes", "20 threads, attributes", "read", true, 0, 20),
    ("11-create", "8 threads, files created", "write", true, 0, 8),
    (WORKING_SET, "128 threads, random reads of the working set", "read", true, 8 << 10, 128),
];
const WORKING_SET: &str = "working-set";

/// The numbers of a design, in the order of [`FIELDS`].
struct Design {
    numbers: [u64; FIELDS.len()],
    prices: [f64; FIELDS.len()],
}

impl Design {
    /// Reads `{field: number, ..., "prices"?: {field: number}}`; what is missing has its default.
    fn read(input: &Map<String, Value>) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let names = || FIELDS.iter().map(|field| field.name);
        let prices = match input.get("prices") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(prices)) => prices.clone(),
            Some(other) => return Err(vec![Problem::new("prices", format!("{other} is not an object of fields and prices"))]),
        };
        for name in input.keys().filter(|name| *name != "prices" && !names().any(|known| known == **name)) {
            problems.push(Problem::unknown(name.as_str(), "field of a design", name, names().chain(["prices"])));
        }
        for name in prices.keys().filter(|name| !names().any(|known| known == **name)) {
            problems.push(Problem::unknown(format!("prices.{name}"), "field of a design", name, names()));
        }
        let mut design = Self { numbers: FIELDS.map(|field| field.default), prices: FIELDS.map(|field| real(field.price)) };
        for (place, field) in FIELDS.iter().enumerate() {
            let [least, most, step] = field.range;
            if let Some(found) = input.get(field.name) {
                match found.as_u64().filter(|number| (least..=most).contains(number) && number.is_multiple_of(step)) {
                    Some(number) => design.numbers[place] = number,
                    None => problems.push(Problem::new(
                        field.name,
                        format!("{found} is not a number from {least} to {most} in steps of {step}; the default is {}", field.default),
                    )),
                }
            }
            if let Some(found) = prices.get(field.name) {
                match found.as_f64().filter(|price| (0.0..=1e9).contains(price)) {
                    Some(price) => design.prices[place] = price,
                    None => problems.push(Problem::new(format!("prices.{}", field.name), format!("{found} is not a price from 0 to 1e9"))),
                }
            }
        }
        let [disks, width, parity] = ["disks", "width", "parity"].map(|name| design.of(name));
        if width == 1 && parity > 0 {
            problems
                .push(Problem::new("parity", format!("{parity} parity disks in a group of one; write a width of at least {}", parity + 2)));
        } else if parity > 0 && width < parity + 2 {
            problems.push(Problem::new("width", format!("{width} disks with {parity} of parity; write at least {}", parity + 2)));
        } else if !disks.is_multiple_of(width) {
            problems.push(Problem::new("disks", format!("{disks} disks do not make whole groups of {width}; write a multiple of it")));
        }
        if problems.is_empty() { Ok(design) } else { Err(problems) }
    }

    /// A number by its name.
    fn of(&self, name: &str) -> u64 {
        FIELDS.iter().position(|field| field.name == name).map_or(0, |place| self.numbers[place])
    }

    fn is_mirror(&self) -> bool {
        self.of("parity") == 0 && self.of("width") > 1
    }

    /// Bytes of data for each byte of disk.
    fn data_share(&self) -> f64 {
        let (width, parity) = (self.of("width"), self.of("parity"));
        if parity == 0 {
            return 1.0 / real(width);
        }
        let geometry = RaidZ { columns: width, parity, ashift: ASHIFT };
        let record = self.of("record_kib") << 10;
        real(geometry.data_sectors(record)) / real(geometry.allocated_sectors(record))
    }

    /// Disks that a read of a record needs: in RAID-Z all that hold a part of its data.
    fn disks_of_a_read(&self, record_bytes: u64) -> u64 {
        let parity = self.of("parity");
        if parity == 0 { 1 } else { (self.of("width") - parity).min(record_bytes.div_ceil(1 << ASHIFT)) }
    }

    fn capacity_bytes(&self) -> f64 {
        real(self.of("disks") * DISK_BYTES) * self.data_share()
    }

    /// Changes of the case, for all tests.
    fn changes(&self) -> Map<String, Value> {
        let [disks, width, parity, record, memory, logs] =
            ["disks", "width", "parity", "record_kib", "memory_gib", "log_ssds"].map(|name| self.of(name));
        let kind = if parity > 0 {
            "raidz"
        } else if width > 1 {
            "mirror"
        } else {
            "stripe"
        };
        let mut layout = json!({"kind": kind, "unit": if parity > 0 { record << 10 } else { SET_BLOCK }, "read_balance": "region"});
        if width > 1 {
            layout["width"] = width.into();
        }
        if parity > 0 {
            layout["parity"] = parity.into();
        }
        let log = if logs > 0 { json!({"devices": {"name": "log", "preset": "ssd-2008-log", "count": logs}}) } else { json!({}) };
        let gbit = |name: &str| self.of(name) * 1_000_000_000;
        Map::from_iter([
            ("devices[disk].count".into(), disks.into()),
            ("layout".into(), layout),
            ("zfs.record".into(), (record << 10).into()),
            ("zfs.memory".into(), (memory * GIB).into()),
            ("zfs.arc".into(), json!({})),
            ("zfs.write_limit".into(), (memory * GIB / 8).min(4 * GIB).into()),
            ("zfs.log".into(), log),
            ("server.cores".into(), self.of("cores").into()),
            ("network.bits_per_s".into(), gbit("client_gbit").into()),
            ("network.server_bits_per_s".into(), gbit("server_gbit").into()),
        ])
    }

    /// The working set, as far as the pool holds it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a capacity
    fn set_bytes(&self) -> u64 {
        (self.of("working_set_gib") * GIB).min((self.capacity_bytes() / 2.0) as u64 / SET_BLOCK * SET_BLOCK)
    }

    /// Memory that keeps blocks for reading: all but a gigabyte.
    fn cache_bytes(&self) -> u64 {
        (self.of("memory_gib") - 1) * GIB
    }

    /// Further changes of the test of the working set: memory and flash hold what they can of it from the start. That takes hours
    /// in a pool; here a simpler file system than ZFS is told so. The set lies all over the disks: they are no larger than it is.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bytes of a disk
    fn set_changes(&self) -> Map<String, Value> {
        let memory = self.cache_bytes();
        let of_disk = (real(self.set_bytes()) / self.data_share() / real(self.of("disks")) * SET_MARGIN) as u64;
        let mut changes = Map::from_iter([
            ("zfs".to_owned(), Value::Null),
            ("jobs[fill].number_ios".into(), 1.into()),
            ("jobs[fill].size".into(), "1MiB".into()),
            ("jobs[load].size".into(), self.set_bytes().into()),
            ("jobs[load].filename".into(), "working set".into()),
            ("devices[disk].hdd.capacity".into(), of_disk.into()),
            (
                "volume".into(),
                json!({"block": SET_BLOCK, "cache": {"size": memory, "overhead": "5us", "rate": "10GB", "primed": ["load"]}}),
            ),
        ]);
        let ssds = self.of("read_ssds");
        if let Some(mut ssd) = library::preset("ssd-2008-read").map(|preset| preset["device"]["ssd"].clone()).filter(|_| ssds > 0) {
            // So many devices side by side are one with so many of everything.
            for field in ["units", "queue_depth"] {
                ssd[field] = (ssd[field].as_u64().unwrap_or(1) * ssds).into();
            }
            ssd["flash"]["channels"] = (ssd["flash"]["channels"].as_u64().unwrap_or(1) * ssds).into();
            ssd["flash"]["precondition"] = "sequential".into(); // it is only read
            ssd["capacity"] = (READ_SSD_BYTES * ssds).into();
            ssd["interface_rate"] = (150_000_000 * ssds).into();
            // What memory holds never gets here, so the flash holds what follows it.
            let tier = json!({"size": memory + READ_SSD_BYTES * ssds, "primed": ["load"], "ssd": ssd});
            changes.insert("tier".into(), tier);
        }
        changes
    }

    /// What a test can do at most, by what would bind it.
    fn bounds(
        &self,
        scenario: &Scenario,
        (test, _, op, counts, bytes, threads): (&str, &str, &str, bool, u64, u64),
    ) -> Vec<(&'static str, f64)> {
        let (Some(network), Some(server)) = (&scenario.network, &scenario.server) else { return Vec::new() };
        let reads = op == "read";
        let unit = if counts { 1.0 } else { MIB };
        let each = if counts { 1.0 } else { real(bytes) };
        let per_s = |bytes_per_s: f64| bytes_per_s / if counts { real(bytes) } else { unit };
        let link = |gbit: u64| real(gbit) * 1e9 / 8.0 * real(bytes.max(1)) / real(network.message_bytes(bytes));
        let [clients, servers] = ["client_gbit", "server_gbit"].map(|name| link(self.of(name)));
        let cycles = least_cycles(server, network, bytes, reads);
        let cores = real(self.of("cores")) * real(server.hz) / cycles * each / unit;
        let round_trips = real(threads) * 1e9 / real(network.round_trip.0.max(1));
        let mut bounds = vec![("cores", cores)];
        match test {
            "10-attributes" => bounds.push(("threads", round_trips)),
            "11-create" => {
                let operations = scenario.nfs.as_ref().map_or(1, |nfs| nfs.create_operations);
                bounds[0].1 /= f64::from(operations);
                bounds.push(("threads", round_trips / f64::from(operations)));
            }
            _ => bounds.extend([("clients' links", per_s(clients * real(threads))), ("server's link", per_s(servers))]),
        }
        let disks = real(self.of("disks"));
        let spindles = disks / real(self.disks_of_a_read(if test == WORKING_SET { SET_BLOCK } else { self.of("record_kib") << 10 }));
        let miss = |held: u64| 1.0 - (real(held) / real(self.set_bytes())).min(1.0);
        match test {
            "3-streams-cold" => {
                let share = if self.is_mirror() { 1.0 } else { self.data_share() };
                bounds.push(("disks", disks * DISK_STREAM * share / unit));
            }
            "5-random-cold" => bounds.extend([("disks", spindles * DISK_READS_PER_S), ("threads", real(threads) * THREAD_READS_PER_S)]),
            "9-sync-writes" if self.of("log_ssds") > 0 => bounds.push(("log SSDs", real(self.of("log_ssds")) * LOG_STREAM / real(bytes))),
            WORKING_SET => {
                let (memory, flash) = (self.cache_bytes(), READ_SSD_BYTES * self.of("read_ssds"));
                let (not_memory, nowhere) = (miss(memory), miss(memory + flash));
                if nowhere > 0.0 {
                    bounds.push(("disks", spindles * DISK_READS_PER_S / nowhere));
                }
                let each_s = READ_SSD_S.max(real(SET_BLOCK) / READ_SSD_RATE); // a block is read whole
                if not_memory > nowhere {
                    bounds.push(("read SSDs", real(self.of("read_ssds")) / each_s / (not_memory - nowhere)));
                }
            }
            _ => {}
        }
        bounds.sort_by(|a, b| a.1.total_cmp(&b.1));
        bounds
    }
}

/// What a design comes to: its numbers, cost, capacity, the changes of the case, and each test with its bounds, the binding one first.
///
/// # Errors
/// All that is wrong with the design.
pub fn answer(input: &Map<String, Value>) -> Result<Value, Problems> {
    let design = Design::read(input)?;
    let case = library::case(CASE)?;
    let changes = design.changes();
    let parts = FIELDS.iter().enumerate().map(|(place, field)| {
        let (number, price) = (design.numbers[place], design.prices[place]);
        json!({
            "name": field.name, "title": field.title, "unit": field.unit, "number": number, "range": field.range,
            "price": price, "cost": if field.price == 0 { 0.0 } else { real(number) * price },
            "is_priced": field.price > 0,
        })
    });
    let parts: Vec<Value> = parts.collect();
    let cost: f64 = parts.iter().filter_map(|part| part["cost"].as_f64()).sum();
    let mut tests = Vec::new();
    for test in TESTS {
        let is_set = test.0 == WORKING_SET;
        let variant = if is_set { "6-random-warm" } else { test.0 };
        let mut set = changes.clone();
        if is_set {
            set.retain(|path, _| !path.starts_with("zfs"));
            set.extend(design.set_changes());
        }
        let scenario = case.scenario(Some(variant), &set)?;
        let bounds: Vec<Value> =
            design.bounds(&scenario, test).into_iter().map(|(what, most)| json!({"what": what, "most": most})).collect();
        let (rate, unit) = if test.3 { ("iops", "1/s") } else { ("mib_per_s", "MiB/s") };
        let metric = format!("load.{}_{rate}", test.2);
        tests.push(
            json!({"name": test.0, "title": test.1, "variant": variant, "metric": metric, "unit": unit, "set": set, "bounds": bounds}),
        );
    }
    let kind = match from_value::<LayoutKind>(&changes["layout"]["kind"]) {
        Ok(LayoutKind::Mirror) => "mirrors",
        Ok(LayoutKind::RaidZ) => "RAID-Z",
        _ => "a stripe",
    };
    Ok(json!({"case": CASE, "layout": kind, "parts": parts, "cost": cost, "capacity_bytes": design.capacity_bytes(), "tests": tests}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(design: &Value) -> Value {
        answer(design.as_object().expect("an object")).unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    fn problems(design: &Value) -> Vec<String> {
        answer(design.as_object().expect("an object")).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    fn binding<'a>(design: &'a Value, test: &str) -> &'a Value {
        let tests = design["tests"].as_array().expect("tests");
        &tests.iter().find(|row| row["name"] == test).expect("a test")["bounds"][0]
    }

    #[test]
    fn a_design_costs_its_parts_at_the_prices_given() {
        assert_eq!(of(&json!({}))["cost"], 44.0 * 300.0 + 128.0 * 40.0 + 4000.0 + 16.0 * 250.0 + 10.0 * 100.0);
        let priced =
            json!({"disks": 10, "memory_gib": 8, "log_ssds": 0, "cores": 1, "server_gbit": 1, "prices": {"disks": 7, "memory_gib": 0.5}});
        assert_eq!(of(&priced)["cost"], 70.0 + 4.0 + 250.0 + 100.0);
    }

    #[test]
    fn capacity_is_what_the_layout_leaves_of_the_disks() {
        for (design, terabytes) in [
            (json!({"disks": 44, "width": 2}), 22.0),
            (json!({"disks": 44, "width": 1}), 44.0),
            (json!({"disks": 45, "width": 3}), 15.0),
            // 32 sectors of data, 8 rows of four with one of parity, 40 sectors in all.
            (json!({"disks": 40, "width": 5, "parity": 1}), 32.0),
            // 2 sectors of data and one of parity, rounded up to four.
            (json!({"disks": 40, "width": 5, "parity": 1, "record_kib": 8}), 20.0),
        ] {
            let found = of(&json!(design))["capacity_bytes"].as_f64().expect("bytes") / 1e12;
            assert!((found - terabytes).abs() < 1e-9, "{design}: {found} against {terabytes}");
        }
    }

    #[test]
    fn what_binds_a_test_changes_with_the_part_that_is_short() {
        let bound = |design: &Value, test| {
            let design = of(design);
            let row = binding(&design, test);
            (row["what"].as_str().unwrap_or_default().to_owned(), row["most"].as_f64().unwrap_or_default())
        };
        assert_eq!(bound(&json!({}), "1-stream-cold").0, "clients' links");
        assert_eq!(bound(&json!({"client_gbit": 10}), "2-stream-warm").0, "clients' links");
        assert_eq!(bound(&json!({"client_gbit": 10, "server_gbit": 40}), "4-streams-warm").0, "cores");
        assert_eq!(bound(&json!({"disks": 4}), "5-random-cold"), ("disks".to_owned(), 800.0));
        // Twelve disks with four to a record are as three, with two to a record as six.
        let short = json!({"disks": 12, "width": 6, "parity": 2});
        assert_eq!(bound(&short, "5-random-cold"), ("disks".to_owned(), 600.0));
        let small = json!({"disks": 12, "width": 6, "parity": 2, "record_kib": 8});
        assert_eq!(bound(&small, "5-random-cold"), ("disks".to_owned(), 1200.0));
        assert_eq!(bound(&json!({}), "5-random-cold"), ("threads".to_owned(), 1540.0));
        assert_eq!(bound(&json!({"log_ssds": 2}), "9-sync-writes").0, "log SSDs");
        assert_eq!(bound(&json!({"log_ssds": 0}), "9-sync-writes").0, "cores");
        assert_eq!(bound(&json!({"memory_gib": 256, "working_set_gib": 128}), "working-set").0, "cores");
        assert_eq!(bound(&json!({"memory_gib": 64}), "working-set").0, "disks");
        assert_eq!(bound(&json!({"memory_gib": 64, "read_ssds": 4}), "working-set").0, "read SSDs");
    }

    #[test]
    fn every_test_of_a_design_is_a_scenario_that_can_run() {
        for design in
            [json!({}), json!({"disks": 4, "width": 4, "parity": 2, "memory_gib": 4, "log_ssds": 0, "read_ssds": 8, "record_kib": 8})]
        {
            let found = of(&design);
            for test in found["tests"].as_array().expect("tests") {
                let set = test["set"].as_object().expect("changes");
                let scenario = library::case(CASE).and_then(|case| case.scenario(test["variant"].as_str(), set));
                assert!(scenario.is_ok(), "{}: {:?}", test["name"], scenario.err());
            }
        }
    }

    #[test]
    fn a_design_that_cannot_be_built_is_refused_with_what_is_wrong() {
        assert!(problems(&json!({"disks": 97}))[0].starts_with("disks: 97 is not a number from 1 to 96 in steps of 1"));
        assert_eq!(problems(&json!({"disks": 44, "width": 3})), ["disks: 44 disks do not make whole groups of 3; write a multiple of it"]);
        assert_eq!(problems(&json!({"width": 2, "parity": 1})), ["width: 2 disks with 1 of parity; write at least 3"]);
        assert!(problems(&json!({"width": 1, "parity": 1}))[0].starts_with("parity: 1 parity disks in a group of one"));
        assert!(problems(&json!({"disk": 4}))[0].contains("disks"));
        assert!(problems(&json!({"prices": {"disk": 4}}))[0].starts_with("prices.disk"));
        assert!(problems(&json!({"prices": {"disks": -1}}))[0].starts_with("prices.disks: -1 is not a price"));
        assert!(problems(&json!({"prices": 7}))[0].starts_with("prices: 7 is not an object"));
        assert_eq!(problems(&json!({"disks": "many", "cores": 0, "memory_gib": 5})).len(), 3);
    }
}
