//! Options beyond one size, one order and one queue depth: mixes, strides, zones, files, verification, limits, searches.
//!
//! Each is a field of a scenario's job. What only some jobs can have (a stride none that is random) is left out where fio ignores it.

use serde_json::{Map, Value, json};

use super::notes::Notes;
use super::numbers::{self, MICROSECOND, SECOND};
use super::values::{Pattern, boolean, count, shares, time};
use seeklab_spec::Bytes;
use seeklab_spec::access::ZONE;

/// Mixes of sizes of reads, writes and trims: bytes and percent; nothing for a direction without one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mix([Option<Vec<(u64, f64)>>; 3]);

impl Mix {
    /// Reads `4k/10:64k/50:32k/40`, for all directions or with commas for each. Of a range of sizes fio takes the first.
    fn read(text: &str, base: u64) -> Result<Self, String> {
        numbers::three_directions(text, |list| Self::list(list, base)).map(Self)
    }

    fn list(text: &str, base: u64) -> Result<Vec<(u64, f64)>, String> {
        let wrong = || format!("\"{text}\" is not a mix of sizes; write 4k/10:64k/50:32k/40");
        let mut sizes = Vec::new();
        let mut percents = Vec::new();
        // fio skips empty entries.
        for part in text.split(':').filter(|part| !part.is_empty()) {
            let (size, percent) = part.split_once('/').unwrap_or((part, ""));
            let size = size.split_once('-').filter(|(_, last)| numbers::size(last, base).is_some()).map_or(size, |(first, _)| first);
            let bytes = numbers::size(size, base).ok_or_else(wrong)?;
            let bytes = super::values::within(bytes, 512, 1 << 30, "a block size")?;
            if bytes % 512 != 0 {
                return Err(format!(
                    "{bytes} is not a multiple of a sector of 512 bytes, as only a single bs may be; write {}",
                    bytes.next_multiple_of(512)
                ));
            }
            sizes.push(bytes);
            percents.push(if percent.is_empty() { None } else { Some(percent.parse::<f64>().map_err(|_| wrong())?) });
        }
        if sizes.is_empty() {
            return Err(wrong());
        }
        let percents = shares(&percents).ok_or_else(|| format!("the shares of \"{text}\" add up to more than 100%; write at most 100"))?;
        Ok(sizes.into_iter().zip(percents).collect())
    }

    /// Smallest and largest request of each direction; `of_bs` are those of a direction without a mix.
    pub(super) fn blocks(&self, of_bs: [(u64, u64); 3]) -> [(u64, u64); 3] {
        let span = |list: &Vec<(u64, f64)>| {
            let sizes = || list.iter().filter(|(_, percent)| *percent > 0.0).map(|(bytes, _)| *bytes);
            (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
        };
        std::array::from_fn(|direction| self.0[direction].as_ref().map_or(of_bs[direction], span))
    }

    /// As a scenario has it, with one size where a direction has no mix; nothing when the job uses no mix.
    pub(super) fn field(&self, pattern: &Pattern, [read_bytes, write_bytes, trim_bytes]: [u64; 3]) -> Option<Value> {
        let list = |list: &Option<Vec<(u64, f64)>>, bytes: u64| {
            let one = [(bytes, 100.0)];
            list.as_deref().unwrap_or(&one).iter().map(|(bytes, percent)| json!({"bs": bytes, "percent": percent})).collect::<Value>()
        };
        let [read, write, trim] = &self.0;
        if pattern.reads && pattern.writes {
            let is_mixed = read.is_some() || write.is_some();
            let [read, write] = [list(read, read_bytes), list(write, write_bytes)];
            return is_mixed.then(|| if read == write { json!({"read": read}) } else { json!({"read": read, "write": write}) });
        }
        let (used, bytes) = match pattern {
            _ if pattern.trims() => (trim, trim_bytes),
            _ if pattern.reads => (read, read_bytes),
            _ => (write, write_bytes),
        };
        used.is_some().then(|| json!({"read": list(used, bytes)}))
    }
}

/// How a job uses zones.
#[derive(Clone, Copy, PartialEq)]
enum ZoneMode {
    /// Nothing.
    None,
    /// Parts that are visited one after the other.
    Strided,
    /// Parts with a write pointer each, as fio's zbd.
    Written,
}

/// The properties of a job that other options depend on.
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools)] // each is a property of the job
pub(super) struct About {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) random: bool,
    pub(super) depth: u64,
    pub(super) pauses: bool,
    /// Files that `filename` lists.
    pub(super) files: u64,
    /// Bytes that it uses of its file, where they are written.
    pub(super) bytes: Option<u64>,
}

/// The options so far, with fio's defaults.
#[derive(Clone)]
#[allow(clippy::struct_excessive_bools)] // each is an option of fio that is on or off
pub(super) struct Mechanisms {
    pub(super) bssplit: Option<Mix>,
    blockalign: u64,
    /// Bytes after each sequential request; below zero backwards.
    stride: i64,
    random_every: u64,
    repeat_place: bool,
    /// Of reads, writes and trims.
    percentage_random: [u64; 3],
    zone_mode: ZoneMode,
    zonesize: u64,
    zonerange: u64,
    zoneskip: u64,
    zonecapacity: u64,
    max_open_zones: u64,
    read_beyond_wp: bool,
    pub(super) nrfiles: u64,
    file_service: &'static str,
    file_service_ios: u64,
    verify: bool,
    do_verify: bool,
    pub(super) verify_only: bool,
    verify_backlog: u64,
    verify_backlog_batch: u64,
    pub(super) fill_device: bool,
    sync_file_range: u64,
    end_fsync: bool,
    fsync_on_close: bool,
    pub(super) wait_for: Option<String>,
    pub(super) exitall: bool,
    exit_what: &'static str,
    flow: u64,
    flow_id: u64,
    flow_sleep_us: u64,
    iodepth_low: u64,
    complete_min: u64,
    pause_by: &'static str,
    pause_iotime_ns: u64,
    rate_min: [u64; 2],
    rate_iops_min: [u64; 2],
    rate_cycle_ms: u64,
    max_latency_ns: u64,
    latency_target_ns: u64,
    latency_window_ns: u64,
    latency_percentile: f64,
    latency_run: bool,
    steady: Option<(&'static str, f64)>,
    steady_duration_ns: u64,
    steady_ramp_ns: u64,
    verifies_by: Option<&'static str>,
}

impl Default for Mechanisms {
    fn default() -> Self {
        Self {
            bssplit: None,
            blockalign: 0,
            stride: 0,
            random_every: 1,
            repeat_place: false,
            percentage_random: [100; 3],
            zone_mode: ZoneMode::None,
            zonesize: 0,
            zonerange: 0,
            zoneskip: 0,
            zonecapacity: 0,
            max_open_zones: 0,
            read_beyond_wp: false,
            nrfiles: 1,
            file_service: "roundrobin",
            file_service_ios: 1,
            verify: false,
            do_verify: true,
            verify_only: false,
            verify_backlog: 0,
            verify_backlog_batch: 0,
            fill_device: false,
            sync_file_range: 0,
            end_fsync: false,
            fsync_on_close: false,
            wait_for: None,
            exitall: false,
            exit_what: "group",
            flow: 0,
            flow_id: 0,
            flow_sleep_us: 0,
            iodepth_low: 0,
            complete_min: 1,
            pause_by: "complete",
            pause_iotime_ns: 0,
            rate_min: [0; 2],
            rate_iops_min: [0; 2],
            rate_cycle_ms: 1000,
            max_latency_ns: 0,
            latency_target_ns: 0,
            latency_window_ns: 0,
            latency_percentile: 100.0,
            latency_run: false,
            steady: None,
            steady_duration_ns: 0,
            steady_ramp_ns: 0,
            verifies_by: None,
        }
    }
}

impl Mechanisms {
    /// Apply the text after the colon of `rw`: requests per random place, or bytes between sequential requests.
    pub(super) fn modify(&mut self, random: bool, modifier: &str, base: u64) -> Result<(), String> {
        (self.random_every, self.stride) = (1, 0);
        if modifier.is_empty() {
            return Ok(());
        }
        if random {
            self.random_every = modifier
                .parse()
                .ok()
                .filter(|every| (1..=1_000_000).contains(every))
                .ok_or_else(|| format!("\"{modifier}\" is not a number of requests per random offset; write randread:8"))?;
            return Ok(());
        }
        let (sign, digits) = modifier.strip_prefix('-').map_or((1, modifier), |digits| (-1, digits));
        let bytes = numbers::size(digits, base).and_then(|bytes| i64::try_from(bytes).ok());
        self.stride = sign * bytes.ok_or_else(|| format!("\"{modifier}\" is not a size; write read:8k, or read:-8k to go backwards"))?;
        Ok(())
    }

    /// Sets an option. The error says what was found and what is accepted.
    pub(super) fn set(&mut self, name: &str, text: &str, base: u64) -> Result<(), String> {
        match name {
            "bssplit" => self.bssplit = Some(Mix::read(text, base)?),
            "ba" => self.blockalign = count(text.split(',').next().unwrap_or(text), base, 512, 1 << 30)?,
            "percentage_random" => {
                let percents = numbers::three_directions(text, |part| count(part, base, 0, 100))?;
                for (target, percent) in self.percentage_random.iter_mut().zip(percents) {
                    *target = percent.unwrap_or(*target);
                }
            }
            "rw_sequencer" => self.repeat_place = word(text, &["sequential", "identical"])? == "identical",
            "zonemode" => {
                self.zone_mode = match word(text, &["none", "strided", "zbd"])? {
                    "strided" => ZoneMode::Strided,
                    "zbd" => ZoneMode::Written,
                    _ => ZoneMode::None,
                }
            }
            "zonesize" => self.zonesize = count(text, base, 0, u64::MAX)?,
            "zonerange" => self.zonerange = count(text, base, 0, u64::MAX)?,
            "zoneskip" => self.zoneskip = count(text, base, 0, u64::MAX)?,
            "zonecapacity" => self.zonecapacity = count(text, base, 0, u64::MAX)?,
            "max_open_zones" => self.max_open_zones = count(text, base, 0, 4096)?,
            "read_beyond_wp" => self.read_beyond_wp = boolean(text)?,
            "nrfiles" => self.nrfiles = count(text, base, 1, 65_536)?,
            "file_service_type" => {
                let (kind, ios) = text.split_once(':').unwrap_or((text, "1"));
                self.file_service = match kind {
                    "roundrobin" | "sequential" | "random" => word(kind, &["roundrobin", "sequential", "random"])?,
                    _ => {
                        return Err(format!(
                            "\"{text}\" is refused: choosing files by a distribution such as zipf is not modelled; write roundrobin, sequential or random"
                        ));
                    }
                };
                self.file_service_ios = count(ios, base, 1, 1_000_000)?;
            }
            "verify" => self.verify = !matches!(text, "0" | "none"),
            "do_verify" => self.do_verify = boolean(text)?,
            "verify_backlog" => self.verify_backlog = count(text, base, 0, 1_000_000)?,
            "verify_backlog_batch" => self.verify_backlog_batch = count(text, base, 0, 1_000_000)?,
            "fill_device" => self.fill_device = boolean(text)?,
            "sync_file_range" => {
                let (_, every) = text.rsplit_once(':').ok_or_else(|| format!("\"{text}\" has no number of writes; write write:8"))?;
                self.sync_file_range = count(every, base, 0, 65_536)?;
            }
            "end_fsync" => self.end_fsync = boolean(text)?,
            "fsync_on_close" => self.fsync_on_close = boolean(text)?,
            "wait_for" => self.wait_for = Some(text.to_owned()),
            "exit_what" => self.exit_what = word(text, &["group", "stonewall", "all", "none"])?,
            "flow" => self.flow = count(text, base, 0, 1000)?,
            "flow_id" => self.flow_id = count(text, base, 0, u32::MAX.into())?,
            "flow_sleep" => self.flow_sleep_us = count(text, base, 0, u32::MAX.into())?,
            "iodepth_low" => self.iodepth_low = count(text, base, 0, 65_536)?,
            "iodepth_batch_complete_min" => self.complete_min = count(text, base, 0, 65_536)?,
            "thinktime_blocks_type" => self.pause_by = word(text, &["complete", "issue"])?,
            "thinktime_iotime" => self.pause_iotime_ns = time(text, MICROSECOND)?,
            "rate_min" => both(&mut self.rate_min, text, base)?,
            "rate_iops_min" => both(&mut self.rate_iops_min, text, base)?,
            "rate_cycle" => self.rate_cycle_ms = count(text, base, 1, u32::MAX.into())?,
            "max_latency" => self.max_latency_ns = time(text.split(',').next().unwrap_or(text), MICROSECOND)?,
            "latency_target" => self.latency_target_ns = time(text, MICROSECOND)?,
            "latency_window" => self.latency_window_ns = time(text, MICROSECOND)?,
            "latency_percentile" => {
                let percent = text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
                self.latency_percentile = percent.ok_or_else(|| format!("\"{text}\" is not a percentage; write 99.9"))?;
            }
            "latency_run" => self.latency_run = boolean(text)?,
            "steadystate" => self.steady = Some(steady(text)?),
            "steadystate_duration" => self.steady_duration_ns = time(text, SECOND)?,
            "steadystate_ramp_time" => self.steady_ramp_ns = time(text, SECOND)?,
            "sg_write_mode" => {
                self.verifies_by = match text {
                    "write" | "write_and_verify" | "verify" | "write_same" | "same" => None,
                    _ if text.starts_with("verify_bytchk_") => Some("verify"),
                    _ if text.starts_with("write_same") => Some("same"),
                    _ => return Err(format!("\"{text}\" is not a command of sg; write write, or verify_bytchk_00")),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the job reads what it would have written.
    pub(super) fn only_verifies(&self) -> bool {
        (self.verify && self.verify_only) || self.verifies_by == Some("verify")
    }

    /// Writes the fields that differ from a plain job's; `place` says where an option was set.
    pub(super) fn fields(&self, about: About, job: &mut Map<String, Value>, place: impl Fn(&str) -> String, notes: &mut Notes) {
        let mut put = |field: &str, value: Value| {
            job.insert(field.to_owned(), value);
        };
        if self.blockalign > 0 && about.random {
            put("blockalign", json!(self.blockalign));
        }
        if self.stride != 0 && !about.random {
            put("stride", json!({"skip": self.stride.unsigned_abs(), "backwards": self.stride < 0}));
        }
        if about.random && self.random_every > 1 {
            put("random_every", json!(self.random_every));
            if self.repeat_place {
                put("repeat_place", json!(true));
            }
        }
        let [of_reads, of_writes, of_trims] = self.percentage_random;
        let random_percent = match (about.reads, about.writes) {
            (true, _) => of_reads,
            (false, true) => of_writes,
            (false, false) => of_trims,
        };
        if about.random && about.reads && about.writes && of_reads != of_writes {
            notes.problem(
                &place("percentage_random"),
                format!(
                    "reads are {of_reads}% random and writes {of_writes}%, which is not modelled; write one percentage, or a job for each"
                ),
            );
        }
        if about.random && random_percent < 100 {
            put("percentage_random", json!(random_percent));
        }
        self.zones(about, &mut put, &place, notes);
        let files = self.nrfiles.max(about.files);
        if files > 1 {
            put("nrfiles", json!(files));
            put("file_service", json!(self.file_service));
            put("file_service_ios", json!(self.file_service_ios));
        }
        self.verification(about, &mut put, &place, notes);
        self.limits(about, &mut put);
        if let Some(kind) = self.verifies_by {
            let what = if kind == "verify" {
                "VERIFY is modelled as a read of the same blocks"
            } else {
                "WRITE SAME is modelled as a write of the same blocks"
            };
            notes.warnings.push(format!("{}: {what}; comparing and repeating data take no time.", place("sg_write_mode")));
        }
    }

    fn zones(&self, about: About, put: &mut impl FnMut(&str, Value), place: &impl Fn(&str) -> String, notes: &mut Notes) {
        match self.zone_mode {
            ZoneMode::None => {
                if self.zonesize > 0 {
                    notes.problem(&place("zonesize"), "fio refuses zonesize without zonemode; write zonemode=strided, or remove zonesize");
                }
            }
            ZoneMode::Strided => {
                if self.zonesize == 0 {
                    notes.problem(&place("zonemode"), "zonemode=strided needs the size of a zone; write zonesize=256m");
                }
                put("zones", json!({"size": self.zonesize, "range": positive(self.zonerange), "skip": self.zoneskip}));
            }
            ZoneMode::Written => {
                if self.zoneskip > 0 {
                    notes.problem(&place("zoneskip"), "zones with write pointers are used one after the other; use zoneskip=0");
                }
                let zone = if self.zonesize > 0 { Bytes(self.zonesize) } else { ZONE };
                if about.bytes.is_some_and(|bytes| bytes < zone.0) {
                    notes.problem(
                        &place("zonesize"),
                        format!("no zone of {zone} fits into the file; write a smaller zonesize, or a larger size"),
                    );
                } else if self.zonesize == 0 {
                    notes.warnings.push(format!(
                        "{}: fio asks the drive for its zone size; here it is {ZONE}, unless zonesize is given.",
                        place("zonemode")
                    ));
                }
                let message =
                    "a full zone is reset when it is written again, which takes no time; zones that are only read are full at the start";
                notes.warnings.push(format!("{}: {message}.", place("zonemode")));
                put(
                    "zoned",
                    json!({"size": zone.0, "capacity": positive(self.zonecapacity), "max_open": positive(self.max_open_zones),
                           "read_beyond": self.read_beyond_wp}),
                );
            }
        }
    }

    fn verification(&self, about: About, put: &mut impl FnMut(&str, Value), place: &impl Fn(&str) -> String, notes: &mut Notes) {
        if self.verify && self.do_verify && about.writes {
            put("verify", json!({"backlog": positive(self.verify_backlog), "batch": positive(self.verify_backlog_batch)}));
        } else if self.verify && about.reads && !about.writes {
            notes.warnings.push(format!("{}: comparing the data takes no time, so verify reads take as long as others.", place("verify")));
        }
        if about.writes && (self.end_fsync || self.fsync_on_close) {
            put("end_fsync", json!(true));
        }
        if about.writes && self.sync_file_range > 0 {
            put("fdatasync", json!(self.sync_file_range));
            notes
                .warnings
                .push(format!("{}: a flush of part of a file is modelled as a flush of the whole file.", place("sync_file_range")));
        }
    }

    fn limits(&self, about: About, put: &mut impl FnMut(&str, Value)) {
        if self.exitall && self.exit_what != "none" {
            put("exitall", json!(true));
            put("exit_what", json!(self.exit_what));
        }
        if self.flow > 0 {
            put("flow", json!({"weight": self.flow, "id": self.flow_id, "sleep": self.flow_sleep_us * MICROSECOND}));
        }
        if about.depth > 1 {
            if self.iodepth_low > 0 && self.iodepth_low < about.depth {
                put("iodepth_low", json!(self.iodepth_low));
            }
            if self.complete_min > 1 {
                put("iodepth_batch_complete", json!(self.complete_min.min(about.depth)));
            }
        }
        if about.pauses && self.pause_iotime_ns > 0 {
            put("thinktime_iotime", json!(self.pause_iotime_ns));
        } else if about.pauses && (about.depth > 1 || self.pause_by == "issue") {
            put("thinktime_by", json!(self.pause_by));
        }
        let slowest = |least: [u64; 2]| json!(if about.reads { least[0] } else { least[1] });
        let mut least = Map::new();
        for (field, value) in [("rate", slowest(self.rate_min)), ("iops", slowest(self.rate_iops_min))] {
            if value != json!(0) {
                least.insert(field.to_owned(), value);
            }
        }
        if !least.is_empty() {
            least.insert("cycle".to_owned(), json!(self.rate_cycle_ms * 1_000_000));
            put("rate_min", Value::Object(least));
        }
        if self.max_latency_ns > 0 {
            put("max_latency", json!(self.max_latency_ns));
        }
        if self.latency_target_ns > 0 {
            let window_ns = self.latency_window_ns.max(MICROSECOND);
            put(
                "latency_target",
                json!({"target": self.latency_target_ns, "window": window_ns, "percent": self.latency_percentile,
                       "keep_adapting": self.latency_run}),
            );
        }
        if let Some((of, percent)) = self.steady {
            let duration_ns = self.steady_duration_ns.max(SECOND);
            put("steadystate", json!({"of": of, "percent": percent, "duration": duration_ns, "ramp": self.steady_ramp_ns}));
        }
    }
}

/// A number of which 0 means that it was not given.
fn positive(number: u64) -> Value {
    if number > 0 { json!(number) } else { Value::Null }
}

/// One of these words.
fn word(text: &str, words: &[&'static str]) -> Result<&'static str, String> {
    let found = words.iter().find(|word| **word == text);
    found.copied().ok_or_else(|| format!("\"{text}\" is not one of {}; write {}", words.join(", "), words[0]))
}

/// A size for reads and writes, as for `rate`.
fn both(target: &mut [u64; 2], text: &str, base: u64) -> Result<(), String> {
    let values = numbers::per_direction(text, |part| numbers::size(part, base))
        .ok_or_else(|| format!("\"{text}\" is not a whole number; write 500, or 500,300 for reads and writes"))?;
    super::values::assign(target, values, 0, u64::MAX, "a rate")
}

/// Parse the criterion of a steady state, and its limit in percent.
fn steady(text: &str) -> Result<(&'static str, f64), String> {
    let wrong = || format!("\"{text}\" is not a steady state; write iops:10%, iops_slope:0.3%, bw:10% or bw_slope:0.3%");
    let (of, limit) = text.split_once(':').ok_or_else(wrong)?;
    let of = match of {
        "iops" => "iops",
        "iops_slope" => "iops_slope",
        "bw" => "bw",
        "bw_slope" => "bw_slope",
        _ => return Err(wrong()),
    };
    let Some(percent) = limit.strip_suffix('%') else {
        return Err(format!("the limit of \"{text}\" is not a percentage, and absolute limits are not modelled; write {of}:10%"));
    };
    Ok((of, percent.parse().ok().filter(|percent| (0.0..=1000.0).contains(percent)).ok_or_else(wrong)?))
}
