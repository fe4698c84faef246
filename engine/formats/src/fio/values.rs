//! What the values of single options mean.
//!
//! Each function reads one kind of value; its error says what was found and what is accepted, without the place.

use serde_json::{Value, json};

use super::numbers::{self, SECOND};
use seeklab_spec::Extent;
use seeklab_spec::problem::nearest;

/// Theta of `random_distribution=zipf` without a number.
const ZIPF_THETA_DEFAULT: f64 = 1.1;

/// Engines that complete one request before they take the next, whatever `iodepth` says.
pub(super) const SYNCHRONOUS_ENGINES: [&str; 8] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "sg"];
/// Engines that keep `iodepth` requests in flight.
const ASYNCHRONOUS_ENGINES: [&str; 7] = ["libaio", "linuxaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "solarisaio"];
/// Engines whose work is not I/O on a local file or device.
const FOREIGN_ENGINES: [&str; 32] = [
    "cpuio",
    "null",
    "net",
    "netsplice",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
    "exec",
    "falloc",
    "e4defrag",
    "gfapi",
    "gfapi_async",
    "mtd",
    "nbd",
    "rdma",
    "rados",
    "rbd",
    "pmemblk",
    "dev-dax",
    "libpmem",
    "http",
    "libiscsi",
    "libhdfs",
    "libcufile",
    "dfs",
    "nfs",
    "xnvme",
    "libzbc",
    "libblkio",
    "guasi",
    "binject",
];

/// Direction and order of a job's requests.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    /// As a job file has it.
    name: &'static str,
    pub(super) reads: bool,
    pub(super) writes: bool,
    /// As fio prints it.
    pub(super) printed: &'static str,
    /// As a scenario has it.
    pub(super) scenario: &'static str,
}

/// fio's default.
pub(super) const SEQUENTIAL_READS: Pattern = Pattern { name: "read", reads: true, writes: false, printed: "read", scenario: "read" };
const PATTERNS: [Pattern; 7] = [
    SEQUENTIAL_READS,
    Pattern { name: "write", reads: false, writes: true, printed: "write", scenario: "write" },
    Pattern { name: "randread", reads: true, writes: false, printed: "randread", scenario: "randread" },
    Pattern { name: "randwrite", reads: false, writes: true, printed: "randwrite", scenario: "randwrite" },
    Pattern { name: "rw", reads: true, writes: true, printed: "rw", scenario: "readwrite" },
    Pattern { name: "readwrite", reads: true, writes: true, printed: "rw", scenario: "readwrite" },
    Pattern { name: "randrw", reads: true, writes: true, printed: "randrw", scenario: "randrw" },
];

/// Whether the file is a block device as a whole.
pub(super) fn is_device(file: &str) -> bool {
    (file.starts_with("/dev/") && !file.starts_with("/dev/shm/")) || file.starts_with("\\\\.\\")
}

/// An extent as a scenario has it.
pub(super) fn extent_value(extent: Extent) -> Value {
    match extent {
        Extent::Bytes(bytes) => json!(bytes),
        Extent::Percent(percent) => json!(format!("{percent}%")),
    }
}

/// What fio would replace by a value of its host.
pub(super) fn unknown_here(value: &str) -> Option<String> {
    if let Some((_, rest)) = value.split_once("${")
        && let Some((variable, _)) = rest.split_once('}')
    {
        return Some(format!("the environment variable ${{{variable}}} is not known here; write its value"));
    }
    let keyword = ["$pagesize", "$mb_memory", "$ncpus"].into_iter().find(|keyword| value.contains(keyword))?;
    Some(format!("{keyword} is a value of fio's host, which is not modelled; write a number"))
}

/// An option that may stand alone; any integer but 0 switches it on.
pub(super) fn flag(value: Option<&str>) -> Result<bool, String> {
    let Some(text) = value else { return Ok(true) };
    text.parse::<i64>().map(|number| number != 0).map_err(|_| format!("\"{text}\" is neither on nor off; write 1 or 0"))
}

/// An option that must have a value, 0 or 1.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("\"{text}\" is neither on nor off; write 1 or 0")),
    }
}

/// For what is no size.
pub(super) fn not_a_size(text: &str) -> String {
    format!("\"{text}\" is not a size; write 8k or 8192")
}

/// A size or a share.
pub(super) fn extent(text: &str, base: u64) -> Result<Extent, String> {
    numbers::extent(text, base)
        .ok_or_else(|| format!("\"{text}\" is not a size or a whole percentage up to 100%; write 1g, 1073741824 or 25%"))
}

/// A time in nanoseconds.
pub(super) fn time(text: &str, bare_ns: u64) -> Result<u64, String> {
    let bare = if bare_ns == SECOND { "seconds" } else { "microseconds" };
    numbers::time_ns(text, bare_ns)
        .ok_or_else(|| format!("\"{text}\" is not a time; write whole us, ms, s, m, h or d, such as 30s or 5m (a bare number counts in {bare}; fio takes other endings for microseconds)"))
}

/// A number in a range.
pub(super) fn within(value: u64, min: u64, max: u64, what: &str) -> Result<u64, String> {
    if (min..=max).contains(&value) { Ok(value) } else { Err(format!("{value} is out of range for {what}; it may be {min} to {max}")) }
}

/// A whole number in a range; fio takes size suffixes for these, too.
pub(super) fn count(text: &str, base: u64, min: u64, max: u64) -> Result<u64, String> {
    let value =
        numbers::size(text, base).ok_or_else(|| format!("\"{text}\" is not a whole number; write a number such as {}", min.max(1)))?;
    within(value, min, max, "this option")
}

/// Sets the directions that have a value.
pub(super) fn assign(target: &mut [u64; 2], values: [Option<u64>; 2], min: u64, max: u64, what: &str) -> Result<(), String> {
    for (target, value) in target.iter_mut().zip(values) {
        if let Some(value) = value {
            *target = within(value, min, max, what)?;
        }
    }
    Ok(())
}

/// A single file name; `:` separates names unless a backslash precedes it.
pub(super) fn one_file(text: &str) -> Result<String, String> {
    let name = text.replace("\\:", "\0");
    if name.contains(':') {
        return Err(format!("\"{text}\" names several files, which is refused: a job uses one file; write a section for each"));
    }
    Ok(name.replace('\0', ":"))
}

/// The name of an I/O engine.
pub(super) fn engine(text: &str) -> Result<String, String> {
    if SYNCHRONOUS_ENGINES.contains(&text) || ASYNCHRONOUS_ENGINES.contains(&text) {
        return Ok(text.to_owned());
    }
    if FOREIGN_ENGINES.contains(&text) || text.starts_with("external") {
        return Err(format!(
            "the engine \"{text}\" is refused: its work is not that of a local file or device; use libaio, io_uring or psync"
        ));
    }
    let known = SYNCHRONOUS_ENGINES.into_iter().chain(ASYNCHRONOUS_ENGINES);
    let advice = nearest(text, known).map_or("use libaio, io_uring or psync".to_owned(), |name| format!("did you mean \"{name}\"?"));
    Err(format!("\"{text}\" is not an engine; {advice}"))
}

/// The value of `rw`.
pub(super) fn pattern(text: &str) -> Result<Pattern, String> {
    let (name, modifier) = text.split_once(':').unwrap_or((text, ""));
    if name.contains("trim") {
        return Err(format!("rw={text} is refused: trims are not modelled; use read, write, randread, randwrite, rw or randrw"));
    }
    let Some(found) = PATTERNS.into_iter().find(|known| known.name == name) else {
        let advice =
            nearest(name, PATTERNS.iter().map(|known| known.name)).map_or(String::new(), |name| format!("did you mean \"{name}\"? "));
        return Err(format!("\"{text}\" is not a pattern; {advice}Write read, write, randread, randwrite, rw or randrw"));
    };
    // Of the modifiers only "a new random offset for every request" is what happens without one.
    let harmless = modifier.is_empty() || (modifier == "1" && found.name.starts_with("rand"));
    if harmless {
        Ok(found)
    } else {
        Err(format!("the modifier \":{modifier}\" of rw={text} is refused: it is not modelled; write rw={name}"))
    }
}

/// Theta of a Zipf distribution, or nothing for a uniform one.
pub(super) fn distribution(text: &str) -> Result<Option<f64>, String> {
    let theta = match text.split_once(':').unwrap_or((text, "")) {
        ("random", "") => return Ok(None),
        ("zipf", "") => Some(ZIPF_THETA_DEFAULT),
        ("zipf", number) if number.contains(':') => {
            return Err(format!("the centre in \"{text}\" is refused: it is not modelled; write zipf:1.2"));
        }
        ("zipf", number) => number.parse().ok(),
        ("pareto" | "normal" | "zoned" | "zoned_abs", _) => {
            return Err(format!("the distribution \"{text}\" is refused: it is not modelled; write random or zipf:1.2"));
        }
        _ => None,
    };
    match theta {
        Some(theta) if (0.01..=5.0).contains(&theta) && (theta - 1.0f64).abs() > 1e-9 => Ok(Some(theta)),
        _ => Err(format!("\"{text}\" is not a distribution; write random, or zipf:1.2 with a number from 0.01 to 5, not 1")),
    }
}
