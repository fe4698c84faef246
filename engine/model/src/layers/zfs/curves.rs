//! The mechanisms' own curves, as numbers: what a learner, a plot or `seeklab curve` asks for.
//!
//! | name | x | y | settings |
//! |---|---|---|---|
//! | `openzfs-delay` | dirty bytes | delay, ns | `dirty_data_max`, `delay_min_dirty_percent`, `delay_scale`, `delay_max` |
//! | `openzfs-async-writes` | dirty bytes | group writes in flight, count | `era`, `dirty_data_max`, `min_active`, `max_active`, `min_dirty_percent`, `max_dirty_percent` |
//! | `zfs2008-limit` | limit, inflated bytes | next limit, inflated bytes | `era` (a, b, c), `written`, `sync_time`, `target`, `limit_max`, `throughput` |
//!
//! A setting is written as in a scenario: `4GiB`, `500us`, `60`.

use super::scheduler::active::{Ramp, Settings, Share};
use super::throttle::zfs2010::{Estimate, RateUnit};
use super::throttle::{openzfs, zfs2008};
use seeklab_spec::problem::nearest;
use seeklab_spec::zfs::Era;
use seeklab_spec::{Bytes, Nanos};

/// The names of all curves.
pub const NAMES: [&str; 3] = ["openzfs-delay", "openzfs-async-writes", "zfs2008-limit"];

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Point {
    /// Where it was asked.
    pub x: u64,
    /// The value there.
    pub y: u64,
    /// The value's unit.
    pub unit: &'static str,
}

/// Why there is no curve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CurveError {
    /// No curve has this name.
    #[error("\"{name}\" is not a curve{}; known: {}", hint(nearest.as_deref()), NAMES.join(", "))]
    UnknownCurve {
        /// Name requested.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The curve has no such setting.
    #[error("{curve} has no setting \"{name}\"{}; known: {}", hint(nearest.as_deref()), known.join(", "))]
    UnknownSetting {
        /// The curve.
        curve: &'static str,
        /// Setting given.
        name: String,
        /// The most similar setting.
        nearest: Option<String>,
        /// All settings of the curve.
        known: Vec<&'static str>,
    },
    /// The setting's value cannot be read.
    #[error("{name}: \"{found}\" is not {accepted}")]
    BadSetting {
        /// The setting.
        name: &'static str,
        /// Text found.
        found: String,
        /// Accepted values.
        accepted: String,
    },
    /// The value is not one that the curve is defined for.
    #[error("{name}: {found} is out of range; {accepted}")]
    OutOfRange {
        /// The setting, or `at`.
        name: &'static str,
        /// Number found.
        found: u64,
        /// Accepted values.
        accepted: String,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// The values of the curve `name` at each of `xs`, under `settings` (name and value; the last of a name counts).
///
/// # Errors
/// An unknown curve or setting, a value that cannot be read, or one that is out of range.
pub fn curve(name: &str, xs: &[u64], settings: &[(String, String)]) -> Result<Vec<Point>, CurveError> {
    let Some(curve) = NAMES.into_iter().find(|known| *known == name) else {
        return Err(CurveError::UnknownCurve { name: name.to_owned(), nearest: nearest(name, NAMES) });
    };
    match curve {
        "openzfs-delay" => delay(&Given { curve, settings }, xs),
        "openzfs-async-writes" => async_writes(&Given { curve, settings }, xs),
        _ => limit(&Given { curve, settings }, xs),
    }
}

/// The settings that were given for a curve.
struct Given<'a> {
    curve: &'static str,
    settings: &'a [(String, String)],
}

impl Given<'_> {
    fn only(&self, known: &[&'static str]) -> Result<(), CurveError> {
        match self.settings.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => Err(CurveError::UnknownSetting {
                curve: self.curve,
                name: name.clone(),
                nearest: nearest(name, known.iter().copied()),
                known: known.to_vec(),
            }),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.settings.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    fn read(&self, name: &'static str, default: u64, accepted: &str, parse: impl Fn(&str) -> Option<u64>) -> Result<u64, CurveError> {
        let Some(text) = self.text(name) else { return Ok(default) };
        parse(text).ok_or_else(|| CurveError::BadSetting { name, found: text.to_owned(), accepted: accepted.to_owned() })
    }

    fn bytes(&self, name: &'static str, default: u64) -> Result<u64, CurveError> {
        self.read(name, default, Bytes::ACCEPTED, |text| Bytes::parse(text).map(|bytes| bytes.0))
    }

    fn nanos(&self, name: &'static str, default: u64) -> Result<u64, CurveError> {
        self.read(name, default, Nanos::ACCEPTED, |text| Nanos::parse(text).map(|nanos| nanos.0))
    }

    fn whole(&self, name: &'static str, default: u64, most: u64) -> Result<u64, CurveError> {
        let value = self.read(name, default, "a whole number", |text| text.trim().trim_end_matches('%').parse().ok())?;
        check(name, value, value <= most, || format!("write 0 to {most}"))
    }
}

fn check(name: &'static str, found: u64, ok: bool, accepted: impl Fn() -> String) -> Result<u64, CurveError> {
    if ok { Ok(found) } else { Err(CurveError::OutOfRange { name, found, accepted: accepted() }) }
}

const DIRTY_MAX: u64 = 4 << 30;

fn dirty_max(given: &Given) -> Result<u64, CurveError> {
    let bytes = given.bytes("dirty_data_max", DIRTY_MAX)?;
    check("dirty_data_max", bytes, bytes > 0, || "write at least 1 byte".to_owned())
}

fn delay(given: &Given, xs: &[u64]) -> Result<Vec<Point>, CurveError> {
    given.only(&["dirty_data_max", "delay_min_dirty_percent", "delay_scale", "delay_max"])?;
    let defaults = openzfs::Settings::new(dirty_max(given)?);
    let settings = openzfs::Settings {
        min_dirty_percent: given.whole("delay_min_dirty_percent", defaults.min_dirty_percent, 100)?,
        scale_ns: given.nanos("delay_scale", defaults.scale_ns)?,
        max_ns: given.nanos("delay_max", defaults.max_ns)?,
        ..defaults
    };
    let value = |x: &u64| {
        let most = settings.dirty_max_bytes;
        let y = settings.delay_ns(*x).ok_or_else(|| CurveError::OutOfRange {
            name: "at",
            found: *x,
            accepted: format!("from {most} dirty bytes on, a write waits for space instead of being delayed; write less than {most}"),
        })?;
        Ok(Point { x: *x, y, unit: "ns" })
    };
    xs.iter().map(value).collect()
}

fn async_writes(given: &Given, xs: &[u64]) -> Result<Vec<Point>, CurveError> {
    given.only(&["era", "dirty_data_max", "min_active", "max_active", "min_dirty_percent", "max_dirty_percent"])?;
    let share = match given.text("era").unwrap_or("openzfs-2.1") {
        "2013" | "openzfs-2013" => Settings::openzfs_2013().async_write(),
        "0.7" | "openzfs-0.7" | "2.1" | "openzfs-2.1" | "openzfs-2.2" | "openzfs-2.3" => Settings::openzfs_0_7().async_write(),
        other => {
            let accepted = format!(
                "an era of this curve; write {}, {} or {}",
                Era::OpenZfs2013.name(),
                Era::OpenZfs0_7.name(),
                Era::OpenZfs2_1.name()
            );
            return Err(CurveError::BadSetting { name: "era", found: other.to_owned(), accepted });
        }
    };
    let number = |name, default: u32| {
        let value = given.whole(name, u64::from(default), u64::from(u32::MAX))?;
        Ok(u32::try_from(value).unwrap_or(u32::MAX)) // just checked
    };
    let share = Share { min: number("min_active", share.min)?, max: number("max_active", share.max)? };
    check("min_active", u64::from(share.min), share.min <= share.max, || format!("write at most max_active, {}", share.max))?;
    let defaults = Ramp::new(dirty_max(given)?, share);
    let ramp = Ramp {
        min_dirty_percent: given.whole("min_dirty_percent", defaults.min_dirty_percent, 100)?,
        max_dirty_percent: given.whole("max_dirty_percent", defaults.max_dirty_percent, 100)?,
        ..defaults
    };
    check("min_dirty_percent", ramp.min_dirty_percent, ramp.min_dirty_percent <= ramp.max_dirty_percent, || {
        format!("write at most max_dirty_percent, {}", ramp.max_dirty_percent)
    })?;
    Ok(xs.iter().map(|x| Point { x: *x, y: u64::from(ramp.max_in_flight(*x)), unit: "count" }).collect())
}

/// The tick that sync times of March 2008 are counted in.
const TICK_NS: u64 = 10_000_000;

fn limit(given: &Given, xs: &[u64]) -> Result<Vec<Point>, CurveError> {
    given.only(&["era", "written", "sync_time", "target", "limit_max", "throughput"])?;
    let era = given.text("era").unwrap_or("a").to_ascii_lowercase();
    let default_target_ns = if era == "c" { 1_000_000_000 } else { 5_000_000_000 };
    let sync_ns = given.nanos("sync_time", default_target_ns)?;
    let target_ns = given.nanos("target", default_target_ns)?;
    check("target", target_ns, target_ns >= TICK_NS, || "write at least one tick, 10ms".to_owned())?;
    let most = given.bytes("limit_max", 6 << 30)?;
    let rate = given.bytes("throughput", 0)?;
    let next = |x: u64| {
        let written = given.bytes("written", x)?;
        let estimate = |unit| Estimate { unit, rate }.sample(written, sync_ns, target_ns, most).unwrap_or(x);
        match era.as_str() {
            "a" | "zfs-2008-03" => Ok(zfs2008::next_limit(x, written, sync_ns / TICK_NS, target_ns / TICK_NS, most)),
            "b" | "zfs-2008-12" => Ok(estimate(RateUnit::PerSecond)),
            "c" | "zfs-2010" => Ok(estimate(RateUnit::PerMillisecond)),
            other => Err(CurveError::BadSetting {
                name: "era",
                found: other.to_owned(),
                accepted: "an era of this curve; write a, b or c".to_owned(),
            }),
        }
    };
    xs.iter().map(|x| Ok(Point { x: *x, y: next(*x)?, unit: "bytes" })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_problem;

    fn at(name: &str, x: u64, settings: &[(&str, &str)]) -> Result<u64, CurveError> {
        let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        curve(name, &[x], &settings).map(|points| points[0].y)
    }

    #[test]
    fn curves_give_the_values_of_the_reference() {
        assert_eq!(at("openzfs-delay", 3_435_973_836, &[("dirty_data_max", "4294967296")]), Ok(499_999));
        assert_eq!(at("openzfs-delay", 800, &[("dirty_data_max", "1000")]), Ok(500_000));
        assert_eq!(at("openzfs-async-writes", 1_932_735_283, &[("era", "2013"), ("dirty_data_max", "4GiB")]), Ok(5));
        assert_eq!(at("openzfs-async-writes", 1_932_735_283, &[("era", "0.7"), ("dirty_data_max", "4GiB")]), Ok(6));
        assert_eq!(at("zfs2008-limit", 500 << 20, &[("written", "500MiB"), ("sync_time", "4s")]), Ok(625 << 20));
        assert_eq!(at("zfs2008-limit", 1, &[("era", "c"), ("written", "32MiB"), ("sync_time", "320ms")]), Ok(104_857_000));
        let blended = [("era", "b"), ("written", "500MiB"), ("sync_time", "10s"), ("throughput", "100MiB")];
        assert_eq!(at("zfs2008-limit", 1, &blended), Ok(458_752_000));
    }

    #[test]
    fn what_is_not_known_comes_with_the_nearest() {
        let text = |curve: &str, x: u64, settings: &[(&str, &str)]| at(curve, x, settings).expect_err("bad input").to_string();
        let nearest = |error: Result<u64, CurveError>| match error {
            Err(CurveError::UnknownCurve { nearest, .. } | CurveError::UnknownSetting { nearest, .. }) => nearest,
            _ => panic!("{error:?}"),
        };
        assert_eq!(nearest(at("openzfs-delays", 0, &[])).as_deref(), Some("openzfs-delay"));
        assert_eq!(nearest(at("openzfs-delay", 0, &[("dirty_max", "1")])).as_deref(), Some("dirty_data_max"));
        assert_problem(text("openzfs-delay", 0, &[("delay_scale", "8q")]), "delay_scale: \"8q\"");
        assert_problem(text("openzfs-delay", 1 << 32, &[]), "at: 4294967296");
        assert_problem(text("openzfs-delay", 0, &[("delay_min_dirty_percent", "101")]), "delay_min_dirty_percent: 101, 0, 100");
        assert_problem(text("openzfs-async-writes", 0, &[("min_active", "11")]), "min_active: 11, max_active, 10");
        assert_problem(text("zfs2008-limit", 0, &[("era", "d")]), "era: \"d\", a, b, c");
    }
}
