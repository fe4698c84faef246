//! A pool on paper: what it costs, what it holds, what each of the eleven tests may do at most, and how to simulate it.
//!
//! A design is a dozen numbers (`parts`). It becomes changes of the case `eleven-metrics`, so that a design runs on the same
//! engine and is measured by the same tests as everything else. The bounds (`bounds`) are the invariants of such pools, each computed by itself.
//! The least of them *binds* a test; a run can come near it and never beyond.
//!
//! Prices are sample values in no particular currency; they are input like everything else. Left out: chassis, power, support,
//! spares, and what a vendor charges for it all.
//!
//! Changes of the case are put together as texts of JSON and read here, rather than as values: the engine's module is smaller by it.

mod answer;
mod bounds;
mod parts;

use seeklab_spec::to_f64;
use serde_json::{Map, Value};

use crate::Library;
pub use answer::{Bound, DesignPart, DesignTest, PoolDesign};
use parts::{Numbers, PARTS, Part};
use seeklab_model::layers::layout::raidz::RaidZ;
use seeklab_spec::{Presets, Problem, Problems};

const CASE: &str = "eleven-metrics";
const GIB: u64 = 1 << 30;
const DISK_BYTES: u64 = 1_000_000_000_000;
const READ_SSD_BYTES: u64 = 100_000_000_000;
/// Sectors of the disks.
const ASHIFT: u32 = 12;
/// Block of the file system that stands for ZFS where a working set of real size is simulated.
const SET_BLOCK: u64 = 128 << 10;
/// The disks of that test over what the set needs of them.
const SET_MARGIN: f64 = 1.1;
/// Transaction groups that may exist, each with no more than an eighth of memory of what is dirty.
const LOG_GROUPS: u64 = 3;

/// A test: variant of the case, or what it is called here.
struct Test {
    name: &'static str,
    title: &'static str,
    reads: bool,
    /// Whether its result is operations a second, and not bytes.
    counts: bool,
    /// Bytes of an operation.
    bytes: u64,
    threads: u64,
}

const fn test(name: &'static str, title: &'static str, reads: bool, counts: bool, bytes: u64, threads: u64) -> Test {
    Test { name, title, reads, counts, bytes, threads }
}

const TESTS: [Test; 12] = [
    test("1-stream-cold", "1 stream read, cold", true, false, 128 << 10, 1),
    test("2-stream-warm", "1 stream read, warm", true, false, 128 << 10, 1),
    test("3-streams-cold", "20 streams read, cold", true, false, 128 << 10, 20),
    test("4-streams-warm", "10 streams read, warm", true, false, 128 << 10, 10),
    test("5-random-cold", "20 threads, random reads, cold", true, true, 8 << 10, 20),
    test("6-random-warm", "128 threads, random reads, warm", true, true, 8 << 10, 128),
    test("7-write", "1 stream written", false, false, 128 << 10, 1),
    test("8-writes", "20 streams written", false, false, 128 << 10, 20),
    test("9-sync-writes", "128 threads, synchronous writes", false, true, 8 << 10, 128),
    test("10-attributes", "20 threads, attributes", true, true, 0, 20),
    test("11-create", "8 threads, files created", false, true, 0, 8),
    test(WORKING_SET, "128 threads, random reads of the working set", true, true, 8 << 10, 128),
];
const WORKING_SET: &str = "working-set";

struct Design {
    disks: u64,
    /// Disks of a group.
    width: u64,
    parity: u64,
    record_bytes: u64,
    memory_bytes: u64,
    /// Memory that keeps blocks for reading.
    cache_bytes: u64,
    read_ssds: u64,
    log_ssds: u64,
    log_gb: u64,
    cores: u64,
    client_gbit: u64,
    server_gbit: u64,
    set_bytes: u64,
}

impl Design {
    fn new(numbers: Numbers<u64>) -> Result<Self, Problems> {
        let [disks, width, parity, record, memory, cache, read_ssds, log_ssds, log_gb, cores, client_gbit, server_gbit, set] = numbers;
        let mut problems = Problems::new();
        let mut wrong = |part: &str, message: String| problems.push(Problem::new(part, message));
        if parity > 0 && width < parity + 2 {
            wrong("width", format!("a group of {width} is too small for parity {parity}; write at least {}", parity + 2));
        } else if disks < width {
            wrong("disks", format!("{disks} disks are too few for a group of {width}; write {width} or a multiple of it"));
        } else if !disks.is_multiple_of(width) {
            wrong(
                "disks",
                format!(
                    "{disks} disks cannot form whole groups of {width}; write {} or {}",
                    disks / width * width,
                    disks.next_multiple_of(width)
                ),
            );
        }
        if cache >= memory {
            wrong("cache_gib", format!("{cache} GiB do not fit into a memory of {memory} GiB; write at most {}", memory - 4));
        }
        let cache = if cache == 0 { memory - 1 } else { cache };
        if problems.is_empty() {
            Ok(Self {
                disks,
                width,
                parity,
                record_bytes: record << 10,
                memory_bytes: memory * GIB,
                cache_bytes: cache * GIB,
                read_ssds,
                log_ssds,
                log_gb,
                cores,
                client_gbit,
                server_gbit,
                set_bytes: set * GIB,
            })
        } else {
            Err(problems)
        }
    }

    fn layout(&self) -> [&'static str; 2] {
        match (self.parity, self.width) {
            (0, 1) => ["stripe", "a stripe"],
            (0, _) => ["mirror", "mirrors"],
            _ => ["raidz", "RAID-Z"],
        }
    }

    /// Bytes of data for each byte of disk.
    fn data_share(&self) -> f64 {
        if self.parity == 0 {
            return 1.0 / to_f64(self.width);
        }
        let geometry = RaidZ { columns: self.width, parity: self.parity, ashift: ASHIFT };
        to_f64(geometry.data_sectors(self.record_bytes)) / to_f64(geometry.allocated_sectors(self.record_bytes))
    }

    fn capacity_bytes(&self) -> f64 {
        to_f64(self.disks * DISK_BYTES) * self.data_share()
    }

    /// Changes of the case for all tests, as the inside of an object.
    fn changes(&self) -> String {
        let [kind, _] = self.layout();
        let unit = if self.parity > 0 { self.record_bytes } else { SET_BLOCK };
        let width = if self.width > 1 { format!(r#","width":{}"#, self.width) } else { String::new() };
        let parity = if self.parity > 0 { format!(r#","parity":{}"#, self.parity) } else { String::new() };
        format!(
            r#""layout":{{"kind":"{kind}","unit":{unit},"read_balance":"region"{width}{parity}}},"devices[disk].count":{},"server.cores":{},"network.bits_per_s":{}000000000,"network.server_bits_per_s":{}000000000"#,
            self.disks, self.cores, self.client_gbit, self.server_gbit
        )
    }

    /// Further changes of all tests but that of the working set.
    fn zfs_changes(&self) -> String {
        let log = match self.log_ssds {
            0 => String::new(),
            count => {
                format!(r#""devices":{{"name":"log","preset":"ssd-2008-log","count":{count},"ssd":{{"capacity":"{}GB"}}}}"#, self.log_gb)
            }
        };
        format!(
            r#","zfs.record":{},"zfs.memory":{},"zfs.arc":{{"size":{}}},"zfs.write_limit":{},"zfs.log":{{{log}}}"#,
            self.record_bytes,
            self.memory_bytes,
            self.cache_bytes,
            (self.memory_bytes / 8).min(4 * GIB),
        )
    }

    /// Further changes of the test of the working set: memory and flash hold what they can of it from the start. That takes hours
    /// in a pool; here a simpler file system than ZFS is told so. The set lies all over the disks: they are no larger than it is.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bytes of a disk
    fn set_changes(&self, presets: &Presets) -> String {
        let of_disk = (to_f64(self.set_bytes) / self.data_share() / to_f64(self.disks) * SET_MARGIN) as u64;
        let volume = format!(
            r#","zfs":null,"jobs[fill].number_ios":1,"jobs[fill].size":"1MiB","jobs[load].size":{},"jobs[load].filename":"working set","devices[disk].hdd.capacity":{of_disk},"volume":{{"block":{SET_BLOCK},"cache":{{"size":{},"overhead":"5us","rate":"10GB","primed":["load"]}}}}"#,
            self.set_bytes, self.cache_bytes
        );
        let ssds = self.read_ssds;
        let Some(preset) = presets.get("ssd-2008-read").filter(|_| ssds > 0) else { return volume };
        // So many devices side by side are one with so many of everything.
        let mut ssd = preset["device"]["ssd"].clone();
        let times = |field: &mut Value| *field = (field.as_u64().unwrap_or(1) * ssds).into();
        times(&mut ssd["units"]);
        times(&mut ssd["queue_depth"]);
        times(&mut ssd["flash"]["channels"]);
        ssd["flash"]["precondition"] = "sequential".into(); // it is only read
        ssd["capacity"] = (READ_SSD_BYTES * ssds).into();
        ssd["interface_rate"] = (bounds::READ_SSD_BYTES_PER_S * ssds).into();
        // What memory holds never gets here, so the flash holds what follows it.
        let size = self.cache_bytes + READ_SSD_BYTES * ssds;
        format!(r#"{volume},"tier":{{"size":{size},"primed":["load"],"ssd":{ssd}}}"#)
    }

    /// Return warnings about valid but rarely intended settings.
    fn warnings(&self) -> Problems {
        let (sold, used) = (self.log_ssds * self.log_gb * 1_000_000_000, self.memory_bytes / 8 * LOG_GROUPS);
        if sold <= used {
            return Problems::new();
        }
        let message = format!(
            "{} GB in total, but the log can use only {} GiB: it holds the dirty data in memory, {LOG_GROUPS} groups of an eighth of it",
            sold / 1_000_000_000,
            to_f64(used) / to_f64(GIB)
        );
        vec![Problem::new("log_gb", message)]
    }
}

/// Evaluate a design: its numbers, cost, capacity, the changes of the case, and each test with its bounds, the binding one first.
///
/// # Errors
/// All that is wrong with the design.
pub fn answer(library: &Library, input: &Map<String, Value>) -> Result<PoolDesign, Problems> {
    let (numbers, prices) = parts::read(input)?;
    let design = Design::new(numbers)?;
    let case = library.case(CASE)?;
    let (mut cost, mut parts, mut tests) = (0.0, Vec::new(), Vec::new());
    for ((part, number), price) in PARTS.iter().zip(numbers).zip(prices) {
        let Part { name, title, unit, range, price: sample, .. } = *part;
        let of_part = to_f64(number) * price;
        cost += of_part;
        parts.push(DesignPart { name, title, unit, number, range, price, cost: of_part, is_priced: sample > 0 });
    }
    let changes = design.changes();
    for test in &TESTS {
        let Test { name, title, .. } = *test;
        let is_set = name == WORKING_SET;
        let variant = if is_set { "6-random-warm" } else { name };
        let set = format!("{{{changes}{}}}", if is_set { design.set_changes(library.presets()) } else { design.zfs_changes() });
        let set = read(&set);
        let checked = case.scenario(Some(variant), &set, library.presets())?;
        let bounds = bounds::of(&design, checked.scenario(), test).into_iter().map(|(what, most)| Bound { what, most }).collect();
        let op = if test.reads { "read" } else { "write" };
        let (rate, unit) = if test.counts { ("iops", "1/s") } else { ("mib_per_s", "MiB/s") };
        tests.push(DesignTest { name, title, variant, metric: format!("load.{op}_{rate}"), unit, set, bounds });
    }
    let [_, layout] = design.layout();
    Ok(PoolDesign { case: CASE, layout, cost, capacity_bytes: design.capacity_bytes(), warnings: design.warnings(), parts, tests })
}

/// A text that this module wrote; tests demand that it can be read.
fn read(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use seeklab_spec::testing::{assert_problems, has_values};
    use serde_json::json;

    use std::sync::OnceLock;

    use super::*;

    fn library() -> &'static Library {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        LIBRARY.get_or_init(|| Library::of_checkout().expect("the checkout's cases"))
    }

    fn of(design: &Value) -> Value {
        let found = answer(library(), design.as_object().expect("an object")).unwrap_or_else(|problems| panic!("{problems:?}"));
        serde_json::to_value(found).expect("JSON")
    }

    fn problems(design: &Value) -> Vec<String> {
        answer(library(), design.as_object().expect("an object")).err().unwrap_or_default().iter().map(ToString::to_string).collect()
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
        assert_eq!(bound(&json!({"log_ssds": 0}), "9-sync-writes"), ("threads".to_owned(), 128.0 * 77.0));
        assert_eq!(bound(&json!({"log_ssds": 0, "disks": 2}), "9-sync-writes"), ("disks".to_owned(), 80e6 / 8192.0));
        assert_eq!(bound(&json!({"disks": 2, "client_gbit": 10}), "1-stream-cold"), ("disks".to_owned(), 160e6 / 1_048_576.0));
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
                let scenario = library().case(CASE).and_then(|case| case.scenario(test["variant"].as_str(), set, library().presets()));
                assert!(scenario.is_ok(), "{}: {:?}", test["name"], scenario.err());
            }
        }
    }

    #[test]
    fn a_design_that_cannot_be_built_is_refused_with_what_is_wrong() {
        for (design, expected) in [
            (json!({"disks": 97}), "disks: 97, 1, 96, 44"),
            (json!({"disks": 44, "width": 3}), "disks: 44, 3, 42, 45"),
            (json!({"disks": 4, "width": 6, "parity": 2}), "disks: 4, 6"),
            (json!({"width": 2, "parity": 1}), "width: 2, 1, 3"),
            (json!({"width": 1, "parity": 1}), "width: 1, 3"),
            (json!({"cache_gib": 128}), "cache_gib: 128, 124"),
            (json!({"prices": {"disks": -1}}), "prices.disks: -1, 0, 1e9"),
            (json!({"prices": 7}), "prices: 7"),
            (json!({"disk": 4}), "disk: \"disk\", \"disks\""),
            (json!({"prices": {"disk": 4}}), "prices.disk: \"disk\""),
            // A width has no price.
            (json!({"prices": {"width": 4}}), "prices.width"),
        ] {
            assert_problems(&problems(&design), &[expected]);
        }
        assert_eq!(problems(&json!({"disks": "many", "cores": 0, "memory_gib": 5})).len(), 3);
    }

    #[test]
    fn a_log_larger_than_can_be_used_says_how_much_is() {
        let warnings = |design: &Value| of(design)["warnings"].as_array().expect("a list").clone();
        assert_eq!(warnings(&json!({})), Vec::<Value>::new());
        // An eighth of 16 GiB of memory is in each of three groups at most.
        let large = warnings(&json!({"memory_gib": 16, "log_gb": 74}));
        assert_eq!(large[0]["path"], "log_gb");
        assert!(has_values(large[0]["message"].as_str().expect("a sentence"), "74 GB, 6 GiB"), "{large:?}");
        assert_eq!(warnings(&json!({"memory_gib": 16, "log_gb": 6})), Vec::<Value>::new());
        assert_eq!(warnings(&json!({"memory_gib": 16, "log_gb": 6, "log_ssds": 2})).len(), 1, "two hold twice as much");
    }

    #[test]
    fn a_cache_keeps_what_it_is_given_and_else_what_memory_has_left() {
        let arc = |design: &Value| of(design)["tests"][0]["set"]["zfs.arc"]["size"].clone();
        assert_eq!(arc(&json!({"memory_gib": 16})), 15 * GIB);
        assert_eq!(arc(&json!({"memory_gib": 16, "cache_gib": 8})), 8 * GIB);
        let most = |design: &Value| binding(&of(design), "working-set")["most"].as_f64().expect("a rate");
        assert!(most(&json!({"cache_gib": 64})) < most(&json!({})));
    }
}
