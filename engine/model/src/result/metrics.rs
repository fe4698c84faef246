//! The summary of a run: metrics with units in their names, and the one sink that they are all reported to.
//!
//! A layer reports what it counts once, with its name, what it is, unit and value:
//!
//! ```
//! # use seeklab_model::result::metrics::{Metrics, Run, Unit};
//! # let mut metrics = Metrics::new(Run::default());
//! metrics.count("server.interrupts", "Interrupts of the card.", 12);
//! metrics.share("server.idle_share_percent", "Share of the time without work.", 3, 4);
//! metrics.add("network_delay_us", "Mean delay.", Unit::Microseconds, 2.5);
//! metrics.within("odx.read", |metrics| metrics.bytes("_bytes", "Bytes of the operations.", 4096));
//! assert_eq!(metrics.value("odx.read_bytes"), Some(4096.0));
//! ```
//!
//! A name ends with its unit, so that a quotation need not repeat it. Which ending means which unit is [`Unit::of`]; a
//! metric whose unit is not what its name says stops a run with debug assertions, so no test lets one pass.

use seeklab_kernel::NS_PER_S;
use seeklab_spec::to_f64;

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number.
    One,
    /// Bytes.
    Bytes,
    /// Per cent.
    Percent,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// A number per second.
    PerSecond,
    /// 1,024 bytes per second.
    KibPerS,
    /// 1,048,576 bytes per second.
    MibPerS,
    /// 1,000,000 bytes per second.
    MbPerS,
    /// 1,000,000 bits per second.
    MbitPerS,
    /// 1,000,000,000 bytes, as data sheets count.
    Gb,
    /// 1,048,576 bytes.
    Mib,
    /// 1,000,000 bytes.
    Mb,
    /// Hours.
    Hours,
    /// Seconds for each 1,073,741,824 bytes.
    SPerGib,
    /// Processor cycles for each byte.
    CyclesPerByte,
    /// How many times as much.
    Times,
}

/// Endings of names with their units. The first match counts.
const ENDINGS: [(&str, Unit); 19] = [
    ("k_per_s", Unit::KibPerS),
    ("mib_per_s", Unit::MibPerS),
    ("mb_per_s", Unit::MbPerS),
    ("mbit_per_s", Unit::MbitPerS),
    ("per_gib_s", Unit::SPerGib),
    ("cycles_per_byte", Unit::CyclesPerByte),
    ("per_s", Unit::PerSecond),
    ("iops", Unit::PerSecond),
    ("gb", Unit::Gb),
    ("mib", Unit::Mib),
    ("mb", Unit::Mb),
    ("h", Unit::Hours),
    ("percent", Unit::Percent),
    ("bytes", Unit::Bytes),
    ("s", Unit::Seconds),
    ("ms", Unit::Milliseconds),
    ("us", Unit::Microseconds),
    ("ratio", Unit::Times),
    ("amplification", Unit::Times),
];

impl Unit {
    /// How the unit is written.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::One => "",
            Self::Bytes => "B",
            Self::Percent => "%",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::PerSecond => "1/s",
            Self::KibPerS => "KiB/s",
            Self::MibPerS => "MiB/s",
            Self::MbPerS => "MB/s",
            Self::MbitPerS => "Mbit/s",
            Self::Gb => "GB",
            Self::Mib => "MiB",
            Self::Mb => "MB",
            Self::Hours => "h",
            Self::SPerGib => "s/GiB",
            Self::CyclesPerByte => "cycles/B",
            Self::Times => "x",
        }
    }

    /// The unit that a metric's name ends with, before a percentile if it has one: `_latency_p50_ms`, `_cached_bytes_p50`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let name = name.strip_suffix("_p50").unwrap_or(name);
        let ends = |ending: &str| name.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with(['_', '.']));
        ENDINGS.iter().find(|(ending, _)| ends(ending)).map_or(Self::One, |(_, unit)| *unit)
    }
}

/// A named number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Name, such as `odx.read_latency_mean_ms`.
    pub name: String,
    /// Meaning of the metric, in one sentence.
    pub help: &'static str,
    /// Unit.
    pub unit: Unit,
    /// Value.
    pub value: f64,
}

/// The properties of the run that reporters need besides their counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run<'a> {
    /// The jobs' names, in their order.
    pub jobs: &'a [String],
    /// When the last worker that has ended did.
    pub workers_ns: u64,
    /// The present: the end of the run when it has ended, and later than the last worker while a drive writes out its buffer.
    pub now_ns: u64,
    /// Whether the run has ended.
    pub ended: bool,
}

/// The sink that all metrics are reported to. They stay in the order in which they come.
#[derive(Debug, Default)]
pub struct Metrics<'a> {
    /// The run that they are of.
    pub run: Run<'a>,
    list: Vec<Metric>,
    /// Prefix of each name.
    part: String,
}

/// A part of a whole in per cent; 0 of nothing.
#[must_use]
pub fn share_percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * to_f64(part) / to_f64(whole) }
}

/// Nanoseconds in seconds.
#[must_use]
pub fn in_seconds(ns: u64) -> f64 {
    to_f64(ns) / to_f64(NS_PER_S)
}

/// An amount for each of so many; 0 for none.
#[must_use]
pub fn each(amount: f64, of: f64) -> f64 {
    if of > 0.0 { amount / of } else { 0.0 }
}

impl<'a> Metrics<'a> {
    /// A sink for the metrics of a run.
    #[must_use]
    pub fn new(run: Run<'a>) -> Self {
        Self { run, ..Self::default() }
    }

    /// All that was reported, in order.
    #[must_use]
    pub fn into_list(self) -> Vec<Metric> {
        self.list
    }

    /// The value of a metric that has been reported.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.list.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    }

    /// Reports with a part's name, a job's for example, before each name.
    pub fn within(&mut self, part: &str, report: impl FnOnce(&mut Self)) {
        let outer = self.part.len();
        self.part.push_str(part);
        report(self);
        self.part.truncate(outer);
    }

    /// A metric. None of these is worth repeating at its callers in a module that pages load.
    #[inline(never)]
    pub fn add(&mut self, name: &str, help: &'static str, unit: Unit, value: f64) {
        let name = [&self.part, name].concat();
        debug_assert_eq!(unit, Unit::of(&name), "the unit of {name} is not what it ends with");
        self.list.push(Metric { name, help, unit, value });
    }

    /// How many.
    #[inline(never)]
    pub fn count(&mut self, name: &str, help: &'static str, count: u64) {
        self.add(name, help, Unit::One, to_f64(count));
    }

    /// How many bytes.
    #[inline(never)]
    pub fn bytes(&mut self, name: &str, help: &'static str, bytes: u64) {
        self.add(name, help, Unit::Bytes, to_f64(bytes));
    }

    /// Bytes in GB of 1,000,000,000.
    #[inline(never)]
    pub fn gb(&mut self, name: &str, help: &'static str, bytes: u64) {
        self.add(name, help, Unit::Gb, to_f64(bytes) / 1e9);
    }

    /// How long, in seconds.
    #[inline(never)]
    pub fn seconds(&mut self, name: &str, help: &'static str, ns: u64) {
        self.add(name, help, Unit::Seconds, in_seconds(ns));
    }

    /// How long, in hours.
    #[inline(never)]
    pub fn hours(&mut self, name: &str, help: &'static str, ns: u64) {
        self.add(name, help, Unit::Hours, in_seconds(ns) / 3600.0);
    }

    /// How long, in milliseconds.
    #[inline(never)]
    pub fn milliseconds(&mut self, name: &str, help: &'static str, ns: f64) {
        self.add(name, help, Unit::Milliseconds, ns / 1e6);
    }

    /// A part of a whole in per cent; 0 of nothing.
    #[inline(never)]
    pub fn share(&mut self, name: &str, help: &'static str, part: u64, whole: u64) {
        self.add(name, help, Unit::Percent, share_percent(part, whole));
    }

    /// A value in per cent.
    #[inline(never)]
    pub fn percent(&mut self, name: &str, help: &'static str, percent: f64) {
        self.add(name, help, Unit::Percent, percent);
    }

    /// A mean: an amount for each of so many; 0 for none.
    #[inline(never)]
    pub fn mean(&mut self, name: &str, help: &'static str, amount: u64, of: u64) {
        self.add(name, help, Unit::One, each(to_f64(amount), to_f64(of)));
    }

    /// A rate in MiB/s; 0 in no time.
    #[inline(never)]
    pub fn mib_per_s(&mut self, name: &str, help: &'static str, bytes: f64, seconds: f64) {
        self.add(name, help, Unit::MibPerS, each(bytes / f64::from(1 << 20), seconds));
    }

    /// A rate in MB/s; 0 in no time.
    #[inline(never)]
    pub fn mb_per_s(&mut self, name: &str, help: &'static str, bytes: f64, seconds: f64) {
        self.add(name, help, Unit::MbPerS, each(bytes / 1e6, seconds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_names_ending_is_its_unit() {
        for (name, unit) in [
            ("bytes", Unit::Bytes),
            ("vm.read_bytes", Unit::Bytes),
            ("vm.read_cached_bytes_p50", Unit::Bytes),
            ("vm.read_latency_p50_ms", Unit::Milliseconds),
            ("zfs_io_read_mode_us", Unit::Microseconds),
            ("vm.elapsed_s", Unit::Seconds),
            ("vm.read_iops", Unit::PerSecond),
            ("zfs_later_groups_delayed_per_s_p50", Unit::PerSecond),
            ("vm.printed_k_per_s", Unit::KibPerS),
            ("vm.read_cpu_per_gib_s", Unit::SPerGib),
            ("server.network_cycles_per_byte", Unit::CyclesPerByte),
            ("reduction_total_ratio", Unit::Times),
            ("vm.read_ios", Unit::One),
            ("cluster_lookups_per_read", Unit::One),
            ("vm.limiter", Unit::One),
        ] {
            assert_eq!(Unit::of(name), unit, "{name}");
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "the unit of zfs_l2_bytes")]
    fn a_unit_that_the_name_contradicts_is_refused() {
        Metrics::default().count("zfs_l2_bytes", "", 1);
    }

    #[test]
    fn parts_come_before_names_and_end_where_they_began() {
        let mut metrics = Metrics::default();
        metrics.within("vm", |metrics| {
            metrics.within(".read", |metrics| metrics.count("_ios", "", 1));
            metrics.count(".workers_before_stall", "", 2);
        });
        metrics.count("zfs_groups", "", 3);
        let names: Vec<String> = metrics.into_list().into_iter().map(|metric| metric.name).collect();
        assert_eq!(names, ["vm.read_ios", "vm.workers_before_stall", "zfs_groups"]);
    }

    #[test]
    fn shares_and_rates_of_nothing_are_zero() {
        let mut metrics = Metrics::default();
        metrics.share("none_percent", "", 1, 0);
        metrics.mib_per_s("still_mib_per_s", "", 1.0, 0.0);
        metrics.mean("ios_per_call", "", 1, 0);
        assert!(metrics.into_list().iter().all(|metric| metric.value == 0.0));
    }
}
