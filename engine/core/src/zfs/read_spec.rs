//! The read side of the file system in a scenario: the ARC, its cache devices, the read-ahead. Each takes its version's constants where the
//! scenario says nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::l2arc;
use super::spec::{ZfsSpec, above_memory};
use super::{arc, zfetch};
use crate::device::ssd;
use crate::scenario::{Bytes, DeviceGroup, Nanos, Problem, Problems};

/// The ARC: memory that keeps blocks for reading.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArcSpec {
    /// Memory of the cache; the version's share of the machine's memory when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "ARC", extend("minimum" = 512, "maximum" = 17_592_186_044_416_u64, "x-scale" = "log2"))]
    pub size: Option<Bytes>,
    /// Jobs whose files stand for metadata (directories, attributes).
    pub metadata: Vec<String>,
}

/// Read-ahead by file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrefetchSpec {
    /// Whether it is on.
    #[schemars(title = "Read-ahead")]
    pub on: bool,
    /// Most streams of a file; the version's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Streams of a file", range(min = 1, max = 256))]
    pub streams: Option<u32>,
    /// Farthest that a stream fetches at once, in records; the version's when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Records ahead", range(min = 1, max = 65_536), extend("x-scale" = "log2", "x-slider" = [1, 1024]))]
    pub cap: Option<u32>,
    /// A longer read is not followed.
    #[schemars(title = "Longest read followed", extend("minimum" = 0, "maximum" = 1_073_741_824))]
    pub max_read: Bytes,
    /// Whether the engine's host says what to fetch, asked at each read.
    pub asked: bool,
}

impl Default for PrefetchSpec {
    fn default() -> Self {
        Self { on: true, streams: None, cap: None, max_read: Bytes(1 << 20), asked: false }
    }
}

/// Cache devices behind the ARC.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct L2arcSpec {
    /// The devices.
    pub device: DeviceGroup,
    /// Part of each device that is used; all of it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Cache device, used", extend("minimum" = 0, "maximum" = 1_125_899_906_842_624_u64, "x-scale" = "log2"))]
    pub size: Option<Bytes>,
    /// Most bytes of a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "write_max", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64, "x-scale" = "log2", "x-slider" = [1_048_576, 268_435_456]))]
    pub write_max: Option<Bytes>,
    /// More of them while the ARC has evicted nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "write_boost", extend("minimum" = 0, "maximum" = 1_099_511_627_776_u64))]
    pub write_boost: Option<Bytes>,
    /// How much of each list a pass looks at, in passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "headroom", range(min = 1, max = 1_000_000))]
    pub headroom: Option<u32>,
    /// Time between two passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "feed_secs", extend("minimum" = 1_000_000, "maximum" = 3_600_000_000_000_u64))]
    pub feed: Option<Nanos>,
    /// Whether a pass that wrote more than half of its limit is followed sooner; the version's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "feed_again")]
    pub feed_again: Option<bool>,
    /// Whether blocks that were read ahead stay out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "noprefetch")]
    pub noprefetch: Option<bool>,
    /// Memory for each block on the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Header", extend("minimum" = 0, "maximum" = 4096))]
    pub header: Option<Bytes>,
}

impl L2arcSpec {
    /// The feed of a run.
    #[must_use]
    pub fn settings(&self, zfs: &ZfsSpec) -> l2arc::Settings {
        let version = l2arc::Settings::of(zfs.era);
        let feed_ns = self.feed.map_or(version.interval_ns, |feed| feed.0);
        let sooner_ns = feed_ns / 5;
        l2arc::Settings {
            write_max: self.write_max.map_or(version.write_max, |bytes| bytes.0),
            write_boost: self.write_boost.map_or(version.write_boost, |bytes| bytes.0),
            headroom: self.headroom.map_or(version.headroom, u64::from),
            interval_ns: feed_ns,
            busy_interval_ns: self.feed_again.unwrap_or(version.busy_interval_ns.is_some()).then_some(sooner_ns),
            first_ns: self.feed.map_or(version.first_ns, |feed| feed.0),
            noprefetch: self.noprefetch.unwrap_or(version.noprefetch),
            header_bytes: self.header.map_or(version.header_bytes, |bytes| bytes.0),
            ..version
        }
    }

    /// Bytes of each device that are used; those of one that has no size of its own are those of its kind.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let group = &self.device;
        let whole = match (&group.hdd, &group.ssd, &group.lun) {
            (Some(hdd), ..) => hdd.capacity.0,
            (_, Some(ssd), _) => ssd.capacity.0,
            (.., Some(lun)) => lun.capacity.0,
            _ => 0,
        };
        self.size.map_or(whole, |size| size.0.min(whole))
    }
}

impl ZfsSpec {
    /// Bytes of the ARC; none without one.
    #[must_use]
    pub fn arc_bytes(&self) -> Option<u64> {
        self.arc.as_ref().map(|spec| spec.size.map_or_else(|| arc::capacity_bytes(self.era, self.memory.0), |size| size.0))
    }

    /// What is different from the version's read-ahead.
    #[must_use]
    pub fn prefetch_tuned(&self) -> Option<zfetch::Tuned> {
        let spec = self.prefetch.as_ref().filter(|spec| spec.on)?;
        Some(zfetch::Tuned { streams: spec.streams.map(u64::from), cap_blocks: spec.cap.map(u64::from) })
    }
}

/// What cannot be, with `path` before each field.
#[must_use]
pub fn check(spec: &ZfsSpec, path: &str) -> Problems {
    let mut problems = Problems::new();
    let mut wrong = |field: &str, message: String| problems.push(Problem::new(format!("{path}.{field}"), message));
    let Some(arc_bytes) = spec.arc_bytes() else {
        for (field, is_there) in [("prefetch", spec.prefetch.is_some()), ("l2arc", spec.l2arc.is_some())] {
            if is_there {
                wrong(field, "needs zfs.arc to put blocks into; add zfs.arc".to_owned());
            }
        }
        return problems;
    };
    if spec.cache.0 > 0 {
        wrong("cache", "contradicts arc: there is one read cache; drop one of the two".to_owned());
    }
    if arc_bytes > spec.memory.0 {
        wrong("arc.size", above_memory(Bytes(arc_bytes), spec.memory));
    }
    if arc_bytes < spec.record.0 {
        wrong("arc.size", format!("{} holds not even one record of {}", Bytes(arc_bytes), spec.record));
    }
    let Some(l2arc) = &spec.l2arc else { return problems };
    let settings = l2arc.settings(spec);
    let device = &l2arc.device;
    let kinds = [device.hdd.is_some(), device.ssd.is_some(), device.lun.is_some()];
    if kinds.into_iter().filter(|is_there| *is_there).count() != 1 || device.hdd.is_some() {
        wrong("l2arc.device", "needs exactly one of ssd and lun, or a preset that fills one in".to_owned());
    } else if settings.write_max < spec.record.0 {
        wrong(
            "l2arc.write_max",
            format!("{} is less than one record of {}: nothing is ever written", Bytes(settings.write_max), spec.record),
        );
    } else if l2arc.bytes() < settings.write_max {
        let field = if l2arc.size.is_some() { "l2arc.size" } else { "l2arc.device" };
        let least = Bytes(settings.write_max);
        wrong(
            field,
            format!(
                "{} is less than one pass of the feed writes, {least}; write a larger device or a smaller write_max",
                Bytes(l2arc.bytes())
            ),
        );
    }
    if let Some(ssd) = &device.ssd {
        ssd::check(ssd, &format!("{path}.l2arc.device.ssd"), &mut problems);
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::zfs::era::Era;

    fn problems(document: &serde_json::Value) -> Vec<String> {
        let mut all = json!({"jobs": [{"name": "a", "size": "1GiB"}], "devices": [{"lun": {"rate": "100MB"}}]});
        all["zfs"] = document.clone();
        crate::scenario::read(&all).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_cannot_be_is_said_at_its_place() {
        let device = json!({"lun": {"rate": "100MB", "capacity": "1GiB"}});
        let arc = json!({"size": "1GiB"});
        for (document, expected) in [
            (json!({"prefetch": {}}), "zfs.prefetch: needs zfs.arc"),
            (json!({"l2arc": {"device": device}}), "zfs.l2arc: needs zfs.arc"),
            (json!({"arc": arc, "cache": "1GiB"}), "zfs.cache: contradicts arc"),
            (json!({"arc": {"size": "9GiB"}}), "zfs.arc.size: 9 GiB is above memory, 8 GiB"),
            (json!({"arc": {"size": "64KiB"}}), "zfs.arc.size: 64 KiB holds not even one record"),
            (json!({"arc": {"metadata": ["b"]}}), "zfs.arc.metadata[0]: \"b\" is not a job"),
            (json!({"arc": arc, "l2arc": {"device": {}}}), "zfs.l2arc.device: needs exactly one of ssd and lun"),
            (json!({"arc": arc, "l2arc": {"device": {"preset": "hdd-7200"}}}), "zfs.l2arc.device: needs exactly one of ssd and lun"),
            (json!({"arc": arc, "l2arc": {"device": {"preset": "ssd-2009"}}}), "zfs.l2arc.device.preset: \"ssd-2009\" is not"),
            (json!({"arc": arc, "l2arc": {"device": device, "size": 0}}), "zfs.l2arc.size: 0 B is less than one pass"),
            (
                json!({"arc": arc, "l2arc": {"device": {"lun": {"rate": 1, "capacity": "4MiB"}}}}),
                "zfs.l2arc.device: 4 MiB is less than one pass",
            ),
            (json!({"arc": arc, "l2arc": {"device": device, "write_max": "64KiB"}}), "zfs.l2arc.write_max: 64 KiB is less than one record"),
            (json!({"arc": arc, "prefetch": {"cap": 0}}), "zfs.prefetch.cap: 0 is"),
        ] {
            let found = problems(&document);
            assert!(found.iter().any(|problem| problem.starts_with(expected)), "{document}: {found:?}");
        }
        assert_eq!(problems(&json!({"arc": arc, "prefetch": {"cap": 16}, "l2arc": {"device": {"preset": "ssd-2008-read"}}})), [""; 0]);
    }

    #[test]
    fn overrides_replace_the_versions_tunables() {
        let mut zfs = ZfsSpec::of(Era::Zfs2010);
        let feed = json!({"device": {"lun": {"rate": 1}}, "write_max": "1MiB", "feed_again": false, "noprefetch": false, "size": "2MiB"});
        let spec: L2arcSpec = serde_json::from_value(feed).expect("valid");
        let settings = spec.settings(&zfs);
        assert_eq!((settings.write_max, settings.busy_interval_ns, settings.noprefetch, settings.headroom), (1 << 20, None, false, 2));
        assert_eq!(spec.bytes(), 2 << 20);
        zfs.arc = Some(ArcSpec::default());
        assert_eq!(zfs.arc_bytes(), Some(7 << 30));
    }
}
