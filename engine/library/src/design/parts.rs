//! The parts of a design: how many of each there may be, and what one costs.

use seeklab_spec::to_f64;
use serde_json::{Map, Value};

use seeklab_spec::{Problem, Problems};

/// A number of a design.
pub struct Part {
    /// Name in the input.
    pub name: &'static str,
    /// Label of the part.
    pub title: &'static str,
    /// Its unit; empty for a number of things.
    pub unit: &'static str,
    /// Least, most, and the step between.
    pub range: [u64; 3],
    /// Where nothing is said.
    pub default: u64,
    /// Sample price of one; 0 where it has none.
    pub price: u64,
}

const fn part(name: &'static str, title: &'static str, unit: &'static str, range: [u64; 3], default: u64, price: u64) -> Part {
    Part { name, title, unit, range, default, price }
}

/// All of them, in the order of [`Numbers`].
pub const PARTS: [Part; 13] = [
    part("disks", "Disks", "", [1, 96, 1], 44, 300),
    part("width", "Disks per group", "", [1, 24, 1], 2, 0),
    part("parity", "Parity disks per group", "", [0, 3, 1], 0, 0),
    part("record_kib", "Record", "KiB", [8, 128, 8], 128, 0),
    part("memory_gib", "Memory", "GiB", [4, 256, 4], 128, 40),
    // 0 for all that memory leaves.
    part("cache_gib", "Cache in memory", "GiB", [0, 256, 4], 0, 0),
    part("read_ssds", "Read SSDs", "", [0, 8, 1], 0, 2500),
    part("log_ssds", "Log SSDs", "", [0, 8, 1], 1, 4000),
    part("log_gb", "Size of a log SSD", "GB", [2, 128, 2], 18, 0),
    part("cores", "Cores", "", [1, 32, 1], 16, 250),
    part("client_gbit", "Each client's link", "Gbit/s", [1, 10, 1], 1, 0),
    part("server_gbit", "Server's link", "Gbit/s", [1, 40, 1], 10, 100),
    part("working_set_gib", "Working set", "GiB", [64, 256, 16], 256, 0),
];

/// A number for each part.
pub type Numbers<T> = [T; PARTS.len()];

/// Reads `{part: number, ..., "prices"?: {part: number}}`; what is missing has its default.
pub fn read(input: &Map<String, Value>) -> Result<(Numbers<u64>, Numbers<f64>), Problems> {
    let mut problems = Problems::new();
    let none = Map::new();
    let prices = match input.get("prices") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(prices)) => prices,
        Some(other) => return Err(vec![Problem::new("prices", format!("{other} is not an object of parts and prices"))]),
    };
    for (given, prefix) in [(input, ""), (prices, "prices.")] {
        let known: Vec<&str> = PARTS.iter().filter(|part| prefix.is_empty() || part.price > 0).map(|part| part.name).collect();
        for name in given.keys().filter(|name| !known.contains(&name.as_str()) && *name != "prices") {
            problems.push(Problem::unknown(format!("{prefix}{name}"), "part of a pool", name, known.iter().copied()));
        }
    }
    let (mut numbers, mut costs) = (PARTS.map(|part| part.default), PARTS.map(|part| to_f64(part.price)));
    for (place, part) in PARTS.iter().enumerate() {
        let [least, most, step] = part.range;
        if let Some(found) = input.get(part.name) {
            match found.as_u64().filter(|number| (least..=most).contains(number) && number.is_multiple_of(step)) {
                Some(number) => numbers[place] = number,
                None => problems.push(Problem::new(
                    part.name,
                    format!("{found} is not a number from {least} to {most} in steps of {step}; the default is {}", part.default),
                )),
            }
        }
        if let Some(found) = prices.get(part.name) {
            match found.as_f64().filter(|price| (0.0..=1e9).contains(price)) {
                Some(price) => costs[place] = price,
                None => problems.push(Problem::new(format!("prices.{}", part.name), format!("{found} is not a price from 0 to 1e9"))),
            }
        }
    }
    if problems.is_empty() { Ok((numbers, costs)) } else { Err(problems) }
}
