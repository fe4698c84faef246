//! Parsers for the values of single options.
//!
//! Each function reads one kind of value; its error says what was found and what is accepted, without the place.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::numbers::{self, SECOND};
use seeklab_spec::problem::nearest;
use seeklab_spec::{Distribution, Extent, Rw};

/// Parameters of `random_distribution=zipf` and others without a number.
const DEFAULTS: [(&str, &str); 3] = [("zipf", "1.1"), ("pareto", "0.2"), ("normal", "0")];

/// Engines that complete one request before they take the next, whatever `iodepth` says.
const SYNCHRONOUS_ENGINES: [&str; 14] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "splice",
    "sg",
    "libpmem",
    "dev-dax",
    "pmemblk",
    "libcufile",
    "libhipfile",
    "libzbc",
];
/// Engines that keep `iodepth` requests in flight.
const ASYNCHRONOUS_ENGINES: [&str; 9] =
    ["libaio", "linuxaio", "io_uring", "io_uring_cmd", "posixaio", "windowsaio", "solarisaio", "xnvme", "libblkio"];
/// Engines that ask nothing.
const NULL_ENGINES: [&str; 2] = ["null", "cpp_null"];
/// Engines that are refused, with the reason.
const FOREIGN_ENGINES: [(&str, &[&str]); 4] = [
    (
        "its storage is on another machine, which is not modelled",
        &[
            "net",
            "netsplice",
            "rdma",
            "rados",
            "rbd",
            "http",
            "libhdfs",
            "nfs",
            "gfapi",
            "gfapi_async",
            "libiscsi",
            "nbd",
            "dfs",
            "ime_psync",
            "ime_psyncv",
            "ime_aio",
            "librpma_apm_client",
            "librpma_apm_server",
            "librpma_gpspm_client",
            "librpma_gpspm_server",
        ],
    ),
    ("it loads processors or runs programs, without using storage", &["cpuio", "exec"]),
    (
        "it acts on names and extents of a file system, not on blocks",
        &["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete", "ftruncate", "falloc", "e4defrag"],
    ),
    ("neither bare flash nor interfaces of other systems are modelled", &["mtd", "guasi", "binject"]),
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
const PATTERNS: [Pattern; 11] = [
    SEQUENTIAL_READS,
    Pattern { name: "write", reads: false, writes: true, printed: "write", scenario: "write" },
    Pattern { name: "randread", reads: true, writes: false, printed: "randread", scenario: "randread" },
    Pattern { name: "randwrite", reads: false, writes: true, printed: "randwrite", scenario: "randwrite" },
    Pattern { name: "rw", reads: true, writes: true, printed: "rw", scenario: "readwrite" },
    Pattern { name: "readwrite", reads: true, writes: true, printed: "rw", scenario: "readwrite" },
    Pattern { name: "randrw", reads: true, writes: true, printed: "randrw", scenario: "randrw" },
    Pattern { name: "trim", reads: false, writes: false, printed: "trim", scenario: "trim" },
    Pattern { name: "randtrim", reads: false, writes: false, printed: "randtrim", scenario: "randtrim" },
    Pattern { name: "trimwrite", reads: false, writes: true, printed: "trimwrite", scenario: "trimwrite" },
    Pattern { name: "randtrimwrite", reads: false, writes: true, printed: "randtrimwrite", scenario: "randtrimwrite" },
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

/// A value with its variables replaced by what they stand for; an error for what only fio's host knows.
pub(super) fn known_here(value: &str, environment: &BTreeMap<String, String>) -> Result<String, String> {
    let mut known = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((variable, behind)) = after.split_once('}') else { break };
        let Some(text) = environment.get(variable) else {
            return Err(format!("the environment variable ${{{variable}}} is not set; write its value, or --env {variable}=VALUE"));
        };
        known.push_str(before);
        known.push_str(text);
        rest = behind;
    }
    known.push_str(rest);
    match ["$pagesize", "$mb_memory", "$ncpus"].into_iter().find(|keyword| known.contains(keyword)) {
        Some(keyword) => Err(format!("{keyword} depends on fio's host, which is not modelled; write a number")),
        None => Ok(known),
    }
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

/// The advice on a range of sizes where one size is expected: fio silently takes its ends as sizes of reads and writes.
pub(super) fn not_one_size(text: &str) -> String {
    if text.contains('-') {
        return format!("\"{text}\" is a range, and bs takes single sizes; write bsrange={text}");
    }
    not_a_size(text)
}

/// A list of percentiles, in ascending order.
pub(super) fn percentile_list(text: &str) -> Result<Vec<f64>, String> {
    let read = |part: &str| part.parse::<f64>().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
    let wrong = || format!("\"{text}\" is not a list of at most 20 percentiles above 0 and up to 100; write 50:99:99.9");
    let mut list: Vec<f64> = Vec::new();
    for part in text.split(':') {
        let percent = read(part).filter(|_| list.len() < 20).ok_or_else(wrong)?;
        list.insert(list.iter().take_while(|other| **other <= percent).count(), percent);
    }
    Ok(list)
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
        .ok_or_else(|| format!("\"{text}\" is not a time; write whole us, ms, s, m, h or d, such as 30s or 5m (default unit: {bare}; fio reads other suffixes as microseconds)"))
}

/// A number in a range.
pub(super) fn within(value: u64, min: u64, max: u64, what: &str) -> Result<u64, String> {
    if (min..=max).contains(&value) { Ok(value) } else { Err(format!("{value} is out of range for {what}; write {min} to {max}")) }
}

/// The share of reads or writes in a mix, in percent. Of a list fio takes the second, unless it is empty or a third follows.
pub(super) fn mix_share(text: &str, base: u64) -> Result<u64, String> {
    let parts: Vec<&str> = text.split(',').collect();
    match parts.as_slice() {
        [one] | [one, ""] | [_, one] => count(one, base, 0, 100),
        _ => Err(format!("\"{text}\" is not a percentage; write one whole number such as 70")),
    }
}

/// A whole number in a range; fio takes size suffixes for these, too.
pub(super) fn count(text: &str, base: u64, min: u64, max: u64) -> Result<u64, String> {
    let value =
        numbers::size(text, base).ok_or_else(|| format!("\"{text}\" is not a whole number; write a number such as {}", min.max(1)))?;
    within(value, min, max, "this option")
}

/// Sets the directions that have a value.
pub(super) fn assign<const N: usize>(
    target: &mut [u64; N],
    values: [Option<u64>; 3],
    min: u64,
    max: u64,
    what: &str,
) -> Result<(), String> {
    for (target, value) in target.iter_mut().zip(values) {
        if let Some(value) = value {
            *target = within(value, min, max, what)?;
        }
    }
    Ok(())
}

/// File names; `:` separates them unless a backslash precedes it.
pub(super) fn file_names(text: &str) -> Vec<String> {
    text.replace("\\:", "\0").split(':').map(|name| name.replace('\0', ":")).collect()
}

/// Whether an engine completes one request before it takes the next.
pub(super) fn is_synchronous(engine: &str) -> bool {
    SYNCHRONOUS_ENGINES.contains(&engine)
}

/// Whether an engine asks nothing.
pub(super) fn is_null(engine: &str) -> bool {
    NULL_ENGINES.contains(&engine)
}

/// Why an engine is refused, when it is.
pub(super) fn refusal(engine: &str) -> Option<&'static str> {
    if engine.starts_with("external") {
        return Some("the behaviour of a plug-in is not known");
    }
    FOREIGN_ENGINES.iter().find(|(_, names)| names.contains(&engine)).map(|(reason, _)| *reason)
}

/// Return a note about a modelled engine, for the reader of the report.
pub(super) fn engine_note(engine: &str) -> &'static str {
    match engine {
        "io_uring_cmd" | "sg" | "xnvme" | "libblkio" | "libpmem" | "dev-dax" | "pmemblk" | "libcufile" | "libhipfile" | "libzbc" => {
            "it reaches the same local device; only whether it is synchronous is modelled, not its cost on the host"
        }
        _ => "only whether it is synchronous is modelled, not its own cost",
    }
}

/// The name of an I/O engine.
pub(super) fn engine(text: &str) -> Result<String, String> {
    if is_synchronous(text) || ASYNCHRONOUS_ENGINES.contains(&text) || is_null(text) {
        return Ok(text.to_owned());
    }
    if let Some(reason) = refusal(text) {
        return Err(format!("the engine \"{text}\" is refused: {reason}; use libaio, io_uring or psync"));
    }
    let known = SYNCHRONOUS_ENGINES.into_iter().chain(ASYNCHRONOUS_ENGINES);
    let advice = nearest(text, known).map_or("use libaio, io_uring or psync".to_owned(), |name| format!("did you mean \"{name}\"?"));
    Err(format!("\"{text}\" is not an engine; {advice}"))
}

/// The value of `rw`: the pattern, and what follows the colon.
pub(super) fn pattern(text: &str) -> Result<(Pattern, &str), String> {
    let (name, modifier) = text.split_once(':').unwrap_or((text, ""));
    let Some(found) = PATTERNS.into_iter().find(|known| known.name == name) else {
        let advice =
            nearest(name, PATTERNS.iter().map(|known| known.name)).map_or(String::new(), |name| format!("did you mean \"{name}\"? "));
        return Err(format!("\"{text}\" is not a pattern; {advice}Write read, write, randread, randwrite, rw or randrw"));
    };
    if seeklab_spec::reader::from_value::<Rw>(&json!(found.scenario)).is_err() {
        return Err(format!("rw={text} is refused: trims are not modelled; use read, write, randread, randwrite, rw or randrw"));
    }
    Ok((found, modifier))
}

impl Pattern {
    /// Whether offsets are random.
    pub(super) fn is_random(&self) -> bool {
        self.name.starts_with("rand")
    }

    /// Whether requests trim, all or every second.
    pub(super) fn trims(&self) -> bool {
        self.name.contains("trim")
    }

    /// The same order, reading.
    pub(super) fn as_reads(&self) -> &'static str {
        if self.is_random() { "randread" } else { "read" }
    }
}

/// Shares that may be left out: those share what is left of 100 %. Nothing when they exceed it.
pub(super) fn shares(written: &[Option<f64>]) -> Option<Vec<f64>> {
    let sum: f64 = written.iter().flatten().sum();
    let missing = written.iter().filter(|share| share.is_none()).count();
    if sum > 100.0 + 1e-9 {
        return None;
    }
    let each = (100.0 - sum) / if missing == 0 { 1.0 } else { seeklab_spec::to_f64(missing as u64) };
    let mut full: Vec<f64> = written.iter().map(|share| share.unwrap_or(each)).collect();
    // Without one that is left out fio draws the last when no other is drawn.
    if let Some(last) = full.last_mut().filter(|_| missing == 0) {
        *last += 100.0 - sum;
    }
    Some(full)
}

/// A distribution as a scenario has it, or nothing for a uniform one.
pub(super) fn distribution(text: &str, base: u64) -> Result<Option<String>, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let default = DEFAULTS.into_iter().find(|(known, _)| *known == name).map(|(_, number)| number);
    let written = match (name, rest) {
        ("random", "") => return Ok(None),
        ("zoned" | "zoned_abs", _) => zones(name, rest, base)?,
        (_, rest) if default.is_some() && rest.contains(':') => {
            return Err(format!("the centre in \"{text}\" is not modelled; write zipf:1.2"));
        }
        (name, "") => format!("{name}:{}", default.unwrap_or_default()),
        (name, rest) => format!("{name}:{rest}"),
    };
    let refused = || format!("\"{text}\" is not {}", Distribution::ACCEPTED);
    Distribution::parse(&written).map(|found| Some(found.text())).ok_or_else(refused)
}

/// Zones with what was left out filled in; one list counts for all directions, and lists that differ are refused.
fn zones(name: &str, text: &str, base: u64) -> Result<String, String> {
    let mut lists = text.split(',');
    let first = lists.next().unwrap_or_default();
    if lists.any(|list| list != first) {
        return Err(format!("different zones for each direction, as in \"{name}:{text}\", are not modelled; write one list"));
    }
    let wrong =
        || format!("\"{text}\" is not a list of zones; write {name}:50/{}", if name == "zoned" { "5:30/15:20/80" } else { "1g:50/9g" });
    let mut accesses = Vec::new();
    let mut lengths = Vec::new();
    for part in first.split(':') {
        let (access, length) = part.split_once('/').ok_or_else(wrong)?;
        let percent = |text: &str| if text.is_empty() { Some(None) } else { text.parse::<f64>().ok().map(Some) };
        accesses.push(percent(access).ok_or_else(wrong)?);
        if name == "zoned" {
            lengths.push(percent(length).ok_or_else(wrong)?);
        } else {
            lengths.push(Some(seeklab_spec::to_f64(numbers::size(length, base).ok_or_else(wrong)?)));
        }
    }
    let over = || format!("the shares of \"{name}:{text}\" add up to more than 100%; write shares that add up to 100");
    let accesses = shares(&accesses).ok_or_else(over)?;
    let lengths = if name == "zoned" { shares(&lengths).ok_or_else(over)? } else { lengths.into_iter().flatten().collect() };
    let zones: Vec<String> = accesses.iter().zip(lengths).map(|(access, length)| format!("{access}/{length}")).collect();
    Ok(format!("{name}:{}", zones.join(":")))
}
