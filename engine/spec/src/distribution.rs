//! Distributions of random offsets, as text: `zipf:1.2`, `zoned:50/5:30/15:20/80`.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Bytes;
use crate::reader::{Fault, FromJson};

/// Maximum zones of a distribution.
const ZONES_MAX: usize = 256;

/// Distribution of random offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Uniform.
    #[default]
    Random,
    /// Zipf: the k-th most popular block is drawn with a frequency proportional to 1 / k^theta.
    Zipf(f64),
    /// Pareto with parameter h: a share of 1 - h of the requests goes to a share of h of the blocks. The block's rank by popularity is
    /// `(N - 1) * u^(ln h / ln(1 - h))`, with u uniform between 0 and 1.
    Pareto(f64),
    /// A bell curve around the middle of the file (the mean of twelve uniform draws), whose deviation is this percentage of the blocks.
    Normal(f64),
    /// Zones from the start of the file, each with its share of the requests and its share of the file, in percent.
    Zoned(Vec<Zone<f64>>),
    /// Zones from the start of the file, each with its share of the requests in percent and its length.
    ZonedAbs(Vec<Zone<Bytes>>),
}

/// A zone of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone<Length> {
    /// Share of the requests, in percent.
    pub access_percent: f64,
    /// Length of the zone.
    pub length: Length,
}

impl Distribution {
    /// Accepted forms, for error messages.
    pub const ACCEPTED: &str = "random, zipf:THETA (0.01 to 5, except 1), pareto:H (between 0 and 1), normal:DEVIATION (0 to 100), or zones adding up to 100%; write zipf:1.2 or zoned:50/5:30/15:20/80";

    /// Parse `random`, `zipf:1.2`, `zoned:60/10:40/90`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = || rest.parse::<f64>().ok();
        match name {
            "random" if rest.is_empty() => Some(Self::Random),
            "zipf" => number().filter(|theta| (0.01..=5.0).contains(theta) && (theta - 1.0).abs() > 1e-9).map(Self::Zipf),
            "pareto" => number().filter(|h| *h > 0.0 && *h < 1.0).map(Self::Pareto),
            "normal" => number().filter(|deviation| (0.0..=100.0).contains(deviation)).map(Self::Normal),
            "zoned" => {
                let zones = zones(rest, |length| length.parse().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0))?;
                (zones.iter().map(|zone| zone.length).sum::<f64>() <= 100.0 + 1e-9).then_some(Self::Zoned(zones))
            }
            "zoned_abs" => zones(rest, |length| Bytes::parse(length).filter(|bytes| bytes.0 > 0)).map(Self::ZonedAbs),
            _ => None,
        }
    }

    /// Return the text form.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Random => "random".to_owned(),
            Self::Zipf(theta) => format!("zipf:{theta}"),
            Self::Pareto(h) => format!("pareto:{h}"),
            Self::Normal(deviation) => format!("normal:{deviation}"),
            Self::Zoned(zones) => written("zoned", zones, |percent| format!("{percent}")),
            Self::ZonedAbs(zones) => written("zoned_abs", zones, |bytes| format!("{}", bytes.0)),
        }
    }
}

/// Parse `access/length:access/length`; the accesses must add up to 100.
fn zones<Length>(text: &str, length: impl Fn(&str) -> Option<Length>) -> Option<Vec<Zone<Length>>> {
    let zone = |part: &str| {
        let (access, of) = part.split_once('/')?;
        let access_percent = access.parse().ok().filter(|percent| *percent >= 0.0 && *percent <= 100.0)?;
        Some(Zone { access_percent, length: length(of)? })
    };
    let zones: Vec<Zone<Length>> = text.split(':').map(zone).collect::<Option<_>>()?;
    let sum: f64 = zones.iter().map(|zone| zone.access_percent).sum();
    (zones.len() <= ZONES_MAX && (sum - 100.0).abs() < 1e-6).then_some(zones)
}

fn written<Length: Copy>(name: &str, zones: &[Zone<Length>], length: impl Fn(Length) -> String) -> String {
    let mut text = name.to_owned();
    for zone in zones {
        // Writing to a string cannot fail.
        let _ = write!(text, ":{}/{}", zone.access_percent, length(zone.length));
    }
    text
}

impl FromJson for Distribution {
    fn from_json(value: &Value) -> Result<Self, Fault> {
        let text = String::from_json(value)?;
        Self::parse(&text).ok_or_else(|| Fault::new(format_args!("\"{text}\" is not {}", Self::ACCEPTED)))
    }
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl JsonSchema for Distribution {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Distribution".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "distribution"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_was_read() {
        for text in ["random", "zipf:1.2", "pareto:0.2", "normal:20", "zoned:50/5:30/15:20/80", "zoned_abs:60/1024:40/4096"] {
            assert_eq!(Distribution::parse(text).map(|found| found.text()).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        for text in
            ["", "zipf:1", "pareto:0", "pareto:1", "normal:101", "zoned:50/5:30/15", "zoned:50/60:50/60", "zoned:100", "zoned_abs:100/0"]
        {
            assert_eq!(Distribution::parse(text), None, "{text}");
        }
    }
}
