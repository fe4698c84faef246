//! A section while it is read: fio's options with their defaults, and what they make of a scenario's job.
//!
//! A section starts from the defaults that the `[global]` sections before it left, as in fio: a [`Draft`] is copied and the
//! section's settings are applied to the copy, `kb_base` first, the last setting of a name winning. When a draft is complete, what
//! only makes sense together (sizes and files, rates and directions, engines and queue depths) is checked and written out.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::ini::{Section, Setting};
use super::mechanisms::Mechanisms;
use super::notes::Notes;
use super::numbers::{self, KB_BASE_DEFAULT, MICROSECOND, SECOND};
use super::options::{self, PAGE_CACHE, Treatment};
use super::report::Unified;
use super::values::{
    self, Pattern, assign, boolean, count, distribution, engine, extent, extent_value, file_names, flag, is_device, is_null,
    is_synchronous, known_here, not_one_size, pattern, refusal, time, within,
};
use super::{Logs, Pages};
use seeklab_spec::problem::nearest;
use seeklab_spec::{Extent, Problem};

/// Request time of the engine null, in ns: about the time that fio itself needs for a request (a million per second on one core).
const NULL_NS: u64 = 1_000;
/// Bytes of a sector, and of a page of the host's memory.
const SECTOR: u64 = 512;
const PAGE: u64 = 4096;
/// Options whose sizes a full IEC prefix would make smaller than they seem.
const SIZE_OPTIONS: [&str; 8] = ["bs", "bsrange", "size", "io_size", "filesize", "offset", "offset_increment", "rate"];
/// Options for which fio reads a value after white space rightly.
const SPACED_OPTIONS: [&str; 6] = ["description", "bssplit", "runtime", "ramp_time", "startdelay", "thinktime"];

/// The options of a section so far, with fio's defaults.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)] // each is an option of fio that is on or off
pub(super) struct Draft {
    /// Name of the section, after which fio names the files of its workers.
    pub(super) section: String,
    /// Name that is printed.
    pub(super) name: String,
    /// Where the section begins.
    pub(super) path: String,
    /// Where each option was last set.
    places: BTreeMap<&'static str, String>,
    /// Options of the section itself.
    pub(super) own: Vec<(String, String)>,
    pub(super) description: Option<String>,
    pub(super) kb_base: u64,
    filename: Option<String>,
    directory: Option<String>,
    filename_format: Option<String>,
    direct: Option<bool>,
    pub(super) ioengine: String,
    /// Whether the engine is refused: what else the section lacks is then beside the point.
    refused: bool,
    /// Path that the engine libblkio opens instead of a file.
    libblkio_path: Option<String>,
    pub(super) pattern: Pattern,
    /// Reads, writes, trims.
    bs: [u64; 3],
    /// As written.
    bs_text: String,
    bsrange: [Option<(u64, u64)>; 3],
    rate: [u64; 3],
    rate_iops: [u64; 3],
    rate_process: &'static str,
    pub(super) iodepth: u64,
    pub(super) numjobs: u64,
    size: Option<Extent>,
    filesize: Option<u64>,
    io_size: Option<Extent>,
    pub(super) offset: Extent,
    pub(super) offset_increment: Extent,
    number_ios: u64,
    sync: bool,
    /// Writes carry FUA, which is what a device makes of synchronous writes.
    fua: bool,
    fsync: u64,
    fdatasync: u64,
    loops: u64,
    runtime_ns: u64,
    time_based: bool,
    ramp_time_ns: u64,
    startdelay_ns: u64,
    thinktime_ns: u64,
    thinktime_blocks: u64,
    rwmixread: u64,
    distribution: Option<String>,
    norandommap: bool,
    pub(super) mechanisms: Mechanisms,
    pub(super) logs: Logs,
    pub(super) lat_percentiles: bool,
    pub(super) clat_percentiles: bool,
    /// Percentiles of the report; empty for fio's own.
    pub(super) percentile_list: Vec<f64>,
    pub(super) unified: Unified,
    /// Files that `filename` lists.
    files: u64,
    pub(super) stonewall: bool,
    pub(super) new_group: bool,
    pub(super) group_reporting: bool,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            section: String::new(),
            name: String::new(),
            path: String::new(),
            places: BTreeMap::default(),
            own: Vec::new(),
            description: None,
            kb_base: KB_BASE_DEFAULT,
            filename: None,
            directory: None,
            filename_format: None,
            direct: None,
            ioengine: "psync".to_owned(),
            refused: false,
            libblkio_path: None,
            pattern: values::SEQUENTIAL_READS,
            bs: [4096; 3],
            bs_text: String::new(),
            bsrange: [None; 3],
            rate: [0; 3],
            rate_iops: [0; 3],
            rate_process: "linear",
            iodepth: 1,
            numjobs: 1,
            size: None,
            filesize: None,
            io_size: None,
            offset: Extent::Bytes(0),
            offset_increment: Extent::Bytes(0),
            number_ios: 0,
            sync: false,
            fua: false,
            fsync: 0,
            fdatasync: 0,
            loops: 1,
            runtime_ns: 0,
            time_based: false,
            ramp_time_ns: 0,
            startdelay_ns: 0,
            thinktime_ns: 0,
            thinktime_blocks: 1,
            rwmixread: 50,
            distribution: None,
            norandommap: false,
            mechanisms: Mechanisms::default(),
            logs: Logs { per_job: true, ..Logs::default() },
            lat_percentiles: false,
            clat_percentiles: true,
            percentile_list: Vec::new(),
            unified: Unified::Separate,
            files: 1,
            stonewall: false,
            new_group: false,
            group_reporting: false,
        }
    }
}

impl Draft {
    /// Applies the settings of a section; `job` is its name in the list of ignored options.
    pub(super) fn read(&mut self, section: &Section, job: &str, notes: &mut Notes) {
        let (base, rest): (Vec<&Setting>, Vec<&Setting>) = section.settings.iter().partition(|setting| setting.name == "kb_base");
        for setting in base.into_iter().chain(rest) {
            self.apply(setting, &section.name, job, notes);
        }
    }

    fn apply(&mut self, setting: &Setting, section: &str, job: &str, notes: &mut Notes) {
        let path = format!("{} [{section}] {}", setting.place, setting.name);
        let Some(option) = options::find(&setting.name) else {
            if notes.has_foreign_engine {
                return; // it is that engine's own, and the engine is refused
            }
            notes.add(|| {
                let nearest = nearest(&setting.name, options::names());
                let advice = nearest.as_ref().map_or("remove it".to_owned(), |name| format!("did you mean \"{name}\"?"));
                Problem { path, message: format!("\"{}\" is not an option of fio 3.33; {advice}", setting.name), nearest }
            });
            return;
        };
        let known = match setting.value.as_deref().map(|value| known_here(value, &notes.environment)).transpose() {
            Ok(known) => known,
            Err(problem) => return notes.problem(&path, problem),
        };
        let value = known.as_deref();
        let shown = value.unwrap_or_default();
        let free = SPACED_OPTIONS.contains(&option.name) || shown.bytes().all(|byte| byte.is_ascii_digit());
        if setting.spaced && !free {
            notes.problem(
                &path,
                format!("fio treats the space after \"=\" as part of the value and misreads it; write {}={shown}", setting.name),
            );
            return;
        }
        match option.treatment {
            Treatment::Ignored(reason) => notes.ignore(job, option.name, shown, reason),
            Treatment::Refused { harmless, .. } if value.is_some_and(|value| harmless.contains(&value)) => {}
            Treatment::Refused { reason, .. } => {
                self.refused |= option.name == "read_iolog"; // the trace has what else the section lacks
                let written = value.map_or(setting.name.clone(), |value| format!("{}={value}", setting.name));
                notes.problem(&path, format!("\"{written}\" would change the result and is refused: {reason}"));
            }
            Treatment::Modelled => {
                if let Err(message) = self.set(option.name, value) {
                    notes.problem(&path, message);
                    return;
                }
                match option.name {
                    "ioengine" if is_null(shown) => {
                        notes.warnings.push(format!("{path}: the engine {shown} bypasses the storage; each request takes 1 us, about the time that fio itself needs."));
                    }
                    "ioengine" => {
                        notes.ignore(job, option.name, shown, values::engine_note(shown));
                    }
                    "direct" | "buffered" => notes.ignore(job, option.name, shown, PAGE_CACHE),
                    "filename" | "directory" | "filename_format" | "libblkio_path" => {
                        notes.ignore(
                            job,
                            option.name,
                            shown,
                            "files are regions of the modelled storage; only sharing between jobs matters",
                        );
                    }
                    _ => {}
                }
                if option.name == "bssplit" && shown.contains('-') {
                    notes.warnings.push(format!("{path}: of a range of sizes in bssplit, fio takes the first."));
                }
                if self.kb_base == KB_BASE_DEFAULT
                    && SIZE_OPTIONS.contains(&option.name)
                    && shown.split([',', '-', ':']).any(numbers::is_full_iec)
                {
                    notes.warnings.push(format!(
                        "{path}: fio counts KiB, MiB and GiB in powers of 1000 unless kb_base=1000, so \"{shown}\" is smaller than it looks; write k, m or g for powers of 1024."
                    ));
                }
            }
        }
        self.places.insert(option.name, path);
        if let Some(value) = value {
            self.own.push((option.name.to_owned(), value.to_owned()));
        }
    }

    /// Sets a modelled option. The error says what was found and what is accepted.
    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        match name {
            "write_lat_log" | "write_bw_log" | "write_iops_log" => {
                let prefix = value.filter(|text| !text.is_empty()).map_or_else(|| self.name.clone(), str::to_owned);
                match name {
                    "write_lat_log" => self.logs.lat = Some(prefix),
                    "write_bw_log" => self.logs.bw = Some(prefix),
                    _ => self.logs.iops = Some(prefix),
                }
            }
            "exitall" => self.mechanisms.exitall = flag(value)?,
            "verify_only" => self.mechanisms.verify_only = flag(value)?,
            "time_based" => self.time_based = flag(value)?,
            "norandommap" => self.norandommap = flag(value)?,
            "stonewall" => self.stonewall = flag(value)?,
            "new_group" => self.new_group = flag(value)?,
            "group_reporting" => self.group_reporting = flag(value)?,
            _ => {
                let text = value.filter(|text| !text.is_empty()).ok_or_else(|| format!("the option needs a value; write {name}=..."))?;
                return self.set_value(name, text);
            }
        }
        Ok(())
    }

    fn set_engine(&mut self, text: &str) -> Result<(), String> {
        self.refused = refusal(text).is_some();
        self.ioengine = engine(text)?;
        Ok(())
    }

    /// Each line adds files, also to those of `[global]`.
    fn add_files(&mut self, text: &str) {
        let mut names: Vec<String> = self.filename.take().into_iter().collect();
        self.files = if names.is_empty() { 0 } else { self.files };
        let more = file_names(text);
        self.files += more.len() as u64;
        names.extend(more);
        self.filename = Some(names.join(":"));
    }

    fn set_ranges(&mut self, text: &str) -> Result<(), String> {
        let base = self.kb_base;
        let ranges = numbers::per_direction(text, |part| numbers::range(part, base))
            .ok_or_else(|| format!("\"{text}\" is not a range of sizes; write 4k-64k"))?;
        for (range, new) in self.bsrange.iter_mut().zip(ranges) {
            if let Some((smallest, largest)) = new {
                within(smallest, 512, 1 << 30, "a block size")?;
                *range = Some((smallest, within(largest, 512, 1 << 30, "a block size")?));
            }
        }
        Ok(())
    }

    fn set_value(&mut self, name: &str, text: &str) -> Result<(), String> {
        let base = self.kb_base;
        match name {
            "name" => text.clone_into(&mut self.name),
            "description" => self.description = Some(text.to_owned()),
            "filename" => self.add_files(text),
            "log_avg_msec" => self.logs.avg_ms = count(text, base, 0, u64::MAX)?,
            "per_job_logs" => self.logs.per_job = boolean(text)?,
            "log_offset" => self.logs.offset = boolean(text)?,
            "lat_percentiles" => self.lat_percentiles = boolean(text)?,
            "clat_percentiles" => self.clat_percentiles = boolean(text)?,
            "percentile_list" => self.percentile_list = values::percentile_list(text)?,
            "unified_rw_reporting" => {
                self.unified = match text {
                    "none" | "0" => Unified::Separate,
                    "mixed" | "1" => Unified::Mixed,
                    "both" | "2" => Unified::Both,
                    _ => return Err(format!("\"{text}\" is not a kind of unified report; write none, mixed or both")),
                }
            }
            "directory" => self.directory = Some(text.trim_end_matches('/').to_owned()),
            "filename_format" => self.filename_format = Some(text.to_owned()),
            "kb_base" => {
                self.kb_base = match text {
                    "1024" => 1024,
                    "1000" => 1000,
                    _ => return Err(format!("\"{text}\" is not a base; write 1024 or 1000")),
                }
            }
            "direct" => self.direct = Some(boolean(text)?),
            "buffered" => self.direct = Some(!boolean(text)?),
            "ioengine" => self.set_engine(text)?,
            "libblkio_path" => self.libblkio_path = Some(text.to_owned()),
            "rw" => {
                let (found, modifier) = pattern(text)?;
                self.mechanisms.modify(found.is_random(), modifier, base).map_err(|what| format!("the modifier of rw={text} {what}"))?;
                self.pattern = found;
            }
            "random_distribution" => self.distribution = distribution(text, base)?,
            "bs" => {
                let sizes = numbers::per_direction(text, |part| numbers::size(part, base)).ok_or_else(|| not_one_size(text))?;
                assign(&mut self.bs, sizes, 1, 1 << 30, "a block size")?;
                text.clone_into(&mut self.bs_text);
            }
            "bsrange" => self.set_ranges(text)?,
            "rate" => {
                let rates = numbers::per_direction(text, |part| numbers::size(part, base))
                    .ok_or_else(|| format!("\"{text}\" is not a number of bytes per second; write 1m or 500k"))?;
                assign(&mut self.rate, rates, 0, u64::MAX, "a rate")?;
            }
            "rate_iops" => {
                let rates = numbers::per_direction(text, |part| numbers::size(part, base))
                    .ok_or_else(|| format!("\"{text}\" is not a whole number of requests per second; write 500"))?;
                assign(&mut self.rate_iops, rates, 0, 1_000_000_000, "a rate")?;
            }
            "rate_process" => {
                self.rate_process = match text {
                    "linear" => "linear",
                    "poisson" => "poisson",
                    _ => return Err(format!("\"{text}\" is not a process; write linear or poisson")),
                }
            }
            "size" => self.size = Some(extent(text, base)?).filter(|size| *size != Extent::Bytes(0)),
            "io_size" => self.io_size = Some(extent(text, base)?).filter(|size| *size != Extent::Bytes(0)),
            "filesize" => {
                self.filesize =
                    Some(numbers::size(text, base).ok_or_else(|| format!("\"{text}\" is not a single size; write filesize=1g"))?)
                        .filter(|size| *size > 0);
            }
            "offset" => self.offset = extent(text, base)?,
            "offset_increment" => self.offset_increment = extent(text, base)?,
            "runtime" => self.runtime_ns = time(text, SECOND)?,
            "ramp_time" => self.ramp_time_ns = time(text, SECOND)?,
            "startdelay" if text.contains('-') => {
                return Err(format!("a range of delays such as \"{text}\" is not modelled; write one delay such as 5s"));
            }
            "startdelay" => self.startdelay_ns = time(text, SECOND)?,
            "thinktime" => self.thinktime_ns = time(text, MICROSECOND)?,
            "thinktime_blocks" => self.thinktime_blocks = count(text, base, 1, 1_000_000)?,
            "iodepth" => self.iodepth = count(text, base, 1, 65_536)?,
            "numjobs" => self.numjobs = count(text, base, 1, 16_384)?,
            "number_ios" => self.number_ios = count(text, base, 0, 1_000_000_000)?,
            "writefua" => self.fua = boolean(text)?,
            "sync" => {
                self.sync = match text {
                    "0" | "none" => false,
                    "1" | "sync" | "dsync" => true,
                    _ => return Err(format!("\"{text}\" is not a kind of synchronous write; write none, sync or dsync")),
                }
            }
            "fsync" => self.fsync = count(text, base, 0, 65_536)?,
            "fdatasync" => self.fdatasync = count(text, base, 0, 65_536)?,
            "loops" => self.loops = count(text, base, 0, 1_000_000)?.max(1),
            "rwmixread" => self.rwmixread = values::mix_share(text, base)?,
            "rwmixwrite" => self.rwmixread = 100u64.saturating_sub(values::mix_share(text, base)?),
            _ => return self.mechanisms.set(name, text, base),
        }
        Ok(())
    }

    /// Where `option` was set, or else where the section begins.
    pub(super) fn place(&self, option: &str) -> &str {
        self.places.get(option).unwrap_or(&self.path)
    }

    fn is_mixed(&self) -> bool {
        self.pattern.reads && self.pattern.writes
    }

    /// The value of the direction that is used; nothing when both are and differ. Each write of a job that trims at random too
    /// has the size of its trim.
    fn used<T: Copy + PartialEq>(&self, [read, write, trim]: [T; 3]) -> Option<T> {
        match (self.pattern.reads, self.pattern.writes) {
            _ if self.pattern.trims() && (self.pattern.is_random() || !self.pattern.writes) => Some(trim),
            (false, true) if self.pattern.trims() => (write == trim).then_some(write),
            (true, true) => (read == write).then_some(read),
            (true, false) => Some(read),
            _ => Some(write),
        }
    }

    /// Smallest and largest reads, writes and trims.
    pub(super) fn blocks(&self) -> [(u64, u64); 3] {
        let of_bs = std::array::from_fn(|direction| {
            let bytes = self.bs[direction];
            self.bsrange[direction].unwrap_or((bytes, bytes))
        });
        self.mechanisms.bssplit.as_ref().map_or(of_bs, |mix| mix.blocks(of_bs))
    }

    /// The whole pages of a request whose size is no multiple of a sector, as a page cache writes and reads them.
    pub(super) fn pages(&self) -> Option<Pages> {
        let (smallest, largest) = self.used(self.blocks())?;
        let is_odd = smallest == largest && smallest % SECTOR != 0 && self.mechanisms.bssplit.is_none();
        is_odd.then(|| Pages { asked_bytes: smallest, modelled_bytes: smallest.next_multiple_of(PAGE) })
    }

    /// A file name with each worker's number but without the job's name, which workers of several sections would share.
    pub(super) fn shared_format(&self) -> Option<String> {
        let format =
            self.filename_format.as_ref().filter(|format| self.filename.is_none() && !self.refused && !format.contains("$jobname"))?;
        format.contains("$jobnum").then(|| format!("{}/{format}", self.directory.as_deref().unwrap_or_default()))
    }

    /// The file that jobs may share: as named, or nothing when each worker has its own.
    pub(super) fn file(&self) -> Option<String> {
        if let Some(path) = self.libblkio_path.as_ref().filter(|_| self.ioengine == "libblkio") {
            // The drivers of PCI devices name the device by its folder below /sys.
            return Some(path.strip_prefix("/sys/").map_or_else(|| path.clone(), |device| format!("/dev/{device}")));
        }
        let name = match (&self.filename, &self.filename_format) {
            (_, _) if self.refused => return None,
            (Some(name), _) => name.clone(),
            (None, None) => return None,
            (None, Some(format)) => match (format.contains("$jobname"), format.contains("$jobnum")) {
                (_, true) => return None,
                (_, false) => format.replace("$jobname", &self.section).replace("$filenum", "0"),
            },
        };
        Some(self.directory.as_ref().map_or(name.clone(), |directory| format!("{directory}/{name}")))
    }

    /// The fields of a scenario's job that all workers have in common, `name` and `offset` apart.
    pub(super) fn scenario(&self, file: Option<&str>, known_size: Option<&Value>, notes: &mut Notes) -> Map<String, Value> {
        let null = is_null(&self.ioengine) || file.is_some_and(|file| file == "/dev/null" || file == "/dev/zero");
        let on_device = file.is_some_and(is_device) && !null;
        let mut job = Map::new();
        let reads_only = self.mechanisms.only_verifies() && !self.pattern.reads;
        let rw = if reads_only { self.pattern.as_reads() } else { self.pattern.scenario };
        job.insert("rw".to_owned(), json!(rw));
        let smallest = self.block_fields(&mut job, null, notes);
        self.one_drive(file, notes);
        self.one_map(notes);
        self.flushes(notes);
        let depth = self.effective_depth(notes);
        job.insert("iodepth".to_owned(), json!(depth));
        if let Some(file) = file {
            job.insert("filename".to_owned(), json!(if null { file.replace("/dev/", "") } else { file.to_owned() }));
        }
        if null {
            job.insert("null".to_owned(), json!(NULL_NS));
        }
        self.size_fields(&mut job, on_device, smallest, known_size, notes);
        if let Some(pages) = self.pages() {
            for field in ["size", "io_size"] {
                if let Some(bytes) = job.get_mut(field).filter(|bytes| bytes.is_u64()) {
                    *bytes = json!(pages.modelled(bytes.as_u64().unwrap_or(0)));
                }
            }
        }
        for (field, value, default) in [
            ("number_ios", self.number_ios, 0),
            ("fsync", self.fsync, 0),
            ("fdatasync", self.fdatasync, 0),
            ("loops", self.loops, 1),
            ("runtime", self.runtime_ns, 0),
            ("ramp_time", self.ramp_time_ns, 0),
            ("startdelay", self.startdelay_ns, 0),
            ("thinktime", self.thinktime_ns, 0),
            ("thinktime_blocks", self.thinktime_blocks, 1),
        ] {
            if value != default {
                job.insert(field.to_owned(), json!(value));
            }
        }
        if self.time_based && self.runtime_ns == 0 {
            notes.warnings.push(format!("{}: time_based has no effect without runtime.", self.place("time_based")));
        } else if self.time_based {
            job.insert("time_based".to_owned(), json!(true));
        }
        self.rate_fields(&mut job, notes);
        if self.is_mixed() {
            job.insert("rwmixread".to_owned(), json!(self.rwmixread));
        }
        if let Some(distribution) = &self.distribution {
            job.insert("random_distribution".to_owned(), json!(distribution));
        }
        let (reads, writes) = (self.pattern.reads || reads_only, self.pattern.writes && !reads_only);
        let about = super::mechanisms::About {
            reads,
            writes,
            random: self.pattern.is_random(),
            depth,
            pauses: self.thinktime_ns > 0,
            files: self.files,
            bytes: job.get("size").and_then(Value::as_u64),
        };
        self.mechanisms.fields(about, &mut job, |option| self.place(option).to_owned(), notes);
        if self.sync || self.fua {
            job.insert("sync".to_owned(), json!(true));
        }
        if self.norandommap {
            job.insert("norandommap".to_owned(), json!(true));
        }
        if self.direct.is_none() {
            notes.ignore(&self.name, "direct", "0 (fio's default)", PAGE_CACHE);
        }
        job
    }

    /// Writes `bs` or `bsrange`; returns the smallest request.
    fn block_fields(&self, job: &mut Map<String, Value>, null: bool, notes: &mut Notes) -> u64 {
        let option = if self.places.contains_key("bsrange") { "bsrange" } else { "bs" };
        if let Some(mix) = self.mechanisms.bssplit.as_ref().and_then(|mix| mix.field(&self.pattern, self.bs)) {
            job.insert("bssplit".to_owned(), mix);
            let [read, write, trim] = self.blocks().map(|(smallest, _)| smallest);
            return match (self.pattern.reads, self.pattern.writes) {
                _ if self.pattern.trims() => trim,
                (true, true) => read.min(write),
                (true, false) => read,
                _ => write,
            };
        }
        if let Some(pages) = self.pages() {
            let asked = pages.asked_bytes;
            if self.direct == Some(true) && !null {
                let advice = if numbers::is_full_iec(&self.bs_text) {
                    format!(
                        "fio reads {} as {asked} bytes; write {}",
                        self.bs_text,
                        self.bs_text.to_ascii_lowercase().trim_end_matches("ib")
                    )
                } else {
                    format!("write {}, or direct=0 for requests through the page cache", asked.next_multiple_of(SECTOR))
                };
                notes.problem(self.place("bs"), format!("direct=1 needs a multiple of a sector of 512 bytes, not {asked} bytes; {advice}"));
            }
            notes.warnings.push(format!(
                "{}: {asked} bytes are no multiple of a sector; the device sees {} bytes, the whole pages of a request, and the report counts {asked}.",
                self.place("bs"),
                pages.modelled_bytes
            ));
            job.insert("bs".to_owned(), json!(pages.modelled_bytes));
            return asked;
        }
        let Some((smallest, largest)) = self.used(self.blocks()) else {
            let [read, write, _] = self.blocks();
            if let (true, Some(reads), Some(writes)) = (self.is_mixed(), sizes_of(read), sizes_of(write)) {
                job.insert("bssplit".to_owned(), json!({"read": reads, "write": writes}));
                return read.0.min(write.0);
            }
            let what = if self.is_mixed() { "size ranges for reads and writes" } else { "sizes for trims and writes of the same place" };
            notes.problem(self.place(option), format!("different {what} are not modelled; write one, or a job for each"));
            return 0;
        };
        if smallest != largest && smallest % SECTOR != 0 {
            notes.problem(
                self.place(option),
                format!(
                    "{smallest} is not a multiple of a sector of 512 bytes, as only a single bs may be; write {}",
                    smallest.next_multiple_of(SECTOR)
                ),
            );
        }
        if smallest == largest {
            job.insert("bs".to_owned(), json!(smallest));
        } else {
            job.insert("bsrange".to_owned(), json!({"min": smallest, "max": largest}));
        }
        smallest
    }

    /// Notes that fio's map of visited blocks, which has the smallest block of all directions, ends a job of other blocks early.
    fn one_map(&self, notes: &mut Notes) {
        let smallest = self.blocks().map(|(smallest, _)| smallest);
        let uses = [self.pattern.reads, self.pattern.writes && !self.pattern.trims(), self.pattern.trims()];
        let of_map = smallest.into_iter().min();
        let differs = smallest.into_iter().zip(uses).any(|(bytes, used)| used && Some(bytes) != of_map);
        if differs && self.pattern.is_random() && !self.norandommap && self.distribution.is_none() {
            let option = ["bssplit", "bsrange"].into_iter().find(|option| self.places.contains_key(option)).unwrap_or("bs");
            notes.warnings.push(format!(
                "{}: with different sizes of reads, writes and trims, fio 3.33 confuses its map of visited blocks and may end the job early; write norandommap.",
                self.place(option)
            ));
        }
    }

    /// Notes that flushes have no latencies of their own here.
    fn flushes(&self, notes: &mut Notes) {
        let option = if self.fdatasync > 0 { "fdatasync" } else { "fsync" };
        if (self.fsync > 0 || self.fdatasync > 0) && self.pattern.writes && !is_null(&self.ioengine) {
            notes.warnings.push(format!(
                "{}: a write and the flush after it have one latency, which is the write's; fio prints those of flushes separately.",
                self.place(option)
            ));
        }
    }

    /// `offset` and `offset_increment` in bytes where the size of the file is known; fio rounds shares up to whole blocks.
    pub(super) fn start(&self) -> (Extent, Extent) {
        let known = self.filesize.or(match self.size {
            Some(Extent::Bytes(bytes)) => Some(bytes),
            _ => None,
        });
        let block = self.used(self.blocks().map(|(smallest, _)| smallest)).unwrap_or(PAGE).max(1);
        let bytes = |extent: Extent| match (extent, known) {
            (Extent::Percent(_), Some(file)) => Extent::Bytes(extent.of(file).next_multiple_of(block)),
            _ => extent,
        };
        (bytes(self.offset), bytes(self.offset_increment))
    }

    /// Notes that a section with several drives has one here.
    fn one_drive(&self, file: Option<&str>, notes: &mut Notes) {
        let names = file.map(file_names).unwrap_or_default();
        let mut drives = names.iter().filter(|name| is_device(name));
        if let (Some(first), Some(second)) = (drives.next(), drives.next())
            && first != second
        {
            notes.warnings.push(format!(
                "{}: {first} and {second} are the same modelled storage; the job runs on one drive, and each file is a part of it.",
                self.place("filename")
            ));
        }
    }

    fn effective_depth(&self, notes: &mut Notes) -> u64 {
        if self.iodepth > 1 && is_synchronous(&self.ioengine) {
            let origin = if self.places.contains_key("ioengine") { "" } else { ", fio's default," };
            notes.warnings.push(format!(
                "{}: the engine {}{origin} is synchronous, so the queue depth is 1, not {}; use libaio or io_uring for more.",
                self.place("iodepth"),
                self.ioengine,
                self.iodepth
            ));
            return 1;
        }
        self.iodepth
    }

    fn size_fields(&self, job: &mut Map<String, Value>, on_device: bool, smallest: u64, known_size: Option<&Value>, notes: &mut Notes) {
        let files = self.mechanisms.nrfiles.max(self.files);
        let filesize = self.filesize.map(|bytes| bytes.saturating_mul(files));
        let (offset, offset_increment) = self.start();
        let of_pool = self.size_in_name();
        if self.size.is_none() && filesize.is_none() && of_pool.is_none() && !on_device {
            let whole = json!("100%");
            if let Some(known) = known_size.or(self.mechanisms.fill_device.then_some(&whole)) {
                job.insert("size".to_owned(), known.clone());
                return;
            }
        }
        let size = match (self.size, filesize.or(of_pool)) {
            (Some(share @ Extent::Percent(percent)), Some(file)) if percent > 0.0 => Some(Extent::Bytes(share.of(file))),
            (Some(Extent::Bytes(size)), Some(file)) => Some(Extent::Bytes(size.min(file))),
            (size, file) => size.or(file.map(Extent::Bytes)),
        };
        // Behind the offset, a file of known size has fewer bytes.
        let size = match (size, filesize, offset) {
            (Some(Extent::Bytes(size)), Some(file), Extent::Bytes(offset)) if offset > 0 => {
                let left = file.saturating_sub(offset.saturating_mul(files));
                if left == 0 && !self.refused {
                    notes.problem(
                        self.place("offset"),
                        format!("the offset of {offset} bytes is not below the file size; write less, or raise filesize"),
                    );
                    return;
                }
                Some(Extent::Bytes(size.min(left)))
            }
            _ => size,
        };
        match size {
            Some(Extent::Percent(_)) | None if self.refused => {}
            Some(Extent::Percent(_)) | None if !on_device => {
                let message = "the size of the file is missing; write size=1g, pass --size=1g with the job file, or write filename=/dev/... for a whole device";
                notes.problem(
                    self.place("size"),
                    if size.is_some() {
                        "a percentage needs a file of known size; write a size such as size=1g, or filename=/dev/..."
                    } else {
                        message
                    },
                );
            }
            Some(Extent::Bytes(bytes)) if bytes < smallest => {
                notes.problem(
                    self.place("size"),
                    format!("the size of {bytes} bytes is smaller than a block of {smallest} bytes; raise size or lower bs"),
                );
            }
            Some(Extent::Percent(percent)) if percent <= 0.0 => {
                notes.problem(self.place("size"), "0% of the file is empty; write 1% to 100%");
            }
            Some(size) => {
                job.insert("size".to_owned(), extent_value(size));
            }
            None => {}
        }
        for (option, extent) in [("offset", offset), ("offset_increment", offset_increment)] {
            if matches!(extent, Extent::Percent(_)) && !on_device {
                notes.problem(
                    self.place(option),
                    format!("a percentage needs a file of known size; write bytes such as {option}=1g, or filename=/dev/..."),
                );
            }
        }
        match (self.io_size, size) {
            (None, _) => {}
            (Some(Extent::Bytes(bytes)), _) => {
                job.insert("io_size".to_owned(), json!(bytes));
            }
            (Some(share), Some(Extent::Bytes(size))) => {
                job.insert("io_size".to_owned(), json!(share.of(size)));
            }
            _ => notes.problem(self.place("io_size"), "a percentage needs a size in bytes; write size=1g, or io_size in bytes"),
        }
    }

    fn rate_fields(&self, job: &mut Map<String, Value>, notes: &mut Notes) {
        let rate = self.used(self.rate);
        let rate_iops = self.used(self.rate_iops);
        let limited =
            [("rate", self.rate), ("rate_iops", self.rate_iops)].into_iter().filter(|(_, rates)| rates.iter().any(|rate| *rate > 0));
        if self.is_mixed() {
            let mut each = Map::new();
            for (option, [read, write, _]) in limited {
                let suffix = option.trim_start_matches("rate");
                for (direction, rate) in [("read", read), ("write", write)] {
                    if rate > 0 {
                        each.insert(format!("{direction}{suffix}"), json!(rate));
                    }
                }
            }
            if !each.is_empty() {
                job.insert("rate_each".to_owned(), Value::Object(each));
            }
            return;
        }
        let (rate, rate_iops) = (rate.unwrap_or(0), rate_iops.unwrap_or(0));
        if rate > 0 && rate_iops > 0 {
            notes.problem(self.place("rate_iops"), "rate and rate_iops cannot be combined; keep one of them");
        } else if rate > 0 {
            job.insert("rate".to_owned(), json!(rate));
        } else if rate_iops > 0 {
            job.insert("rate_iops".to_owned(), json!(rate_iops));
        }
        if (rate > 0 || rate_iops > 0) && self.rate_process != "linear" {
            job.insert("rate_process".to_owned(), json!(self.rate_process));
        }
    }

    /// The size that pmemblk's file name holds behind the block size, in MiB.
    fn size_in_name(&self) -> Option<u64> {
        let name = self.filename.as_ref().filter(|_| self.ioengine == "pmemblk")?;
        name.split(',').nth(2)?.parse::<u64>().ok()?.checked_mul(1 << 20)
    }
}

/// Maximum number of sizes of a range that becomes a mix of sizes.
const SIZES_MAX: u64 = 64;

/// The sizes of a range as fio draws them, the multiples of its smallest one, as a mix; nothing when they are too many.
fn sizes_of((smallest, largest): (u64, u64)) -> Option<Value> {
    let count = largest.checked_div(smallest).filter(|count| (1..=SIZES_MAX).contains(count) && largest % smallest == 0)?;
    let percent = 100.0 / seeklab_spec::to_f64(count);
    Some((1..=count).map(|times| json!({"bs": smallest * times, "percent": percent})).collect())
}
