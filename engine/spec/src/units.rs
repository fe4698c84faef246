//! Quantities with units, as people write them: `"8MiB"`, `"40ms"`, `"25%"`.
//!
//! Sizes follow fio: a bare `k`, `m`, `g`, `t` and the `KiB` family are powers of 1024. `kB`, `MB`, `GB`, `TB` are powers of
//! 1000, so that a scenario never confuses MB and MiB. `seeklab_formats::fio` reads fio's own job files by fio's rules.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::reader::{Fault, FromJson};

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nanos(pub u64);

/// A position or length on a device or file: bytes, or a percentage of its length (as fio's `offset=50%`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// Absolute, in bytes.
    Bytes(u64),
    /// Relative, 0 to 100.
    Percent(f64),
}

impl Default for Extent {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

impl Extent {
    /// Return the extent in bytes, for a total of `whole` bytes. Percentages round down.
    #[must_use]
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::cast_possible_truncation)] // sizes stay far below 2^53
            Self::Percent(percent) => (whole as f64 * percent / 100.0) as u64,
        }
    }
}

const SIZE_UNITS: [(&str, u64); 18] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kib", 1 << 10),
    ("m", 1 << 20),
    ("mib", 1 << 20),
    ("g", 1 << 30),
    ("gib", 1 << 30),
    ("t", 1 << 40),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("p", 1 << 50),
    ("pib", 1 << 50),
    ("pb", 1_000_000_000_000_000),
    ("bytes", 1),
];

const TIME_UNITS: [(&str, u64); 7] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000), ("h", 3_600_000_000_000), ("", 1)];

/// Parse `<number><unit>` with the given units. Fractions are allowed if the result is a whole number of the base unit.
fn parse_quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number = number.replace('_', "");
    let unit = unit.trim().to_ascii_lowercase();
    let scale = units.iter().find(|(name, _)| *name == unit)?.1;
    if let Some((whole, fraction)) = number.split_once('.') {
        if fraction.is_empty() || fraction.len() > 9 || fraction.contains('.') {
            return None;
        }
        let digits = u32::try_from(fraction.len()).ok()?;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let fraction: u64 = fraction.parse().ok()?;
        let part = u128::from(fraction) * u128::from(scale) / u128::from(10u64.pow(digits));
        whole.checked_mul(scale)?.checked_add(u64::try_from(part).ok()?)
    } else {
        number.parse::<u64>().ok()?.checked_mul(scale)
    }
}

impl Bytes {
    /// Accepted forms, for error messages.
    pub const ACCEPTED: &str = "a size; write 8k, 8KiB or 8192";

    /// Parse a size such as `8k`, `8KiB`, `1.5GiB`, `100MB` or `8192`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        parse_quantity(text, &SIZE_UNITS).map(Self)
    }
}

impl Nanos {
    /// Accepted forms, for error messages.
    pub const ACCEPTED: &str = "a time; write 40ms, 2.5s, 100us or a number of nanoseconds";

    /// Parse a time such as `40ms`, `2.5s`, `100us`, `5min` or a bare number of nanoseconds.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        parse_quantity(text, &TIME_UNITS).map(Self)
    }
}

impl Extent {
    /// Accepted forms, for error messages.
    pub const ACCEPTED: &str = "a size or a percentage; write 2GiB or 25%";

    /// Parse a size or `25%`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(number) = text.trim().strip_suffix('%') {
            let percent: f64 = number.trim().parse().ok()?;
            return (0.0..=100.0).contains(&percent).then_some(Self::Percent(percent));
        }
        Bytes::parse(text).map(|bytes| Self::Bytes(bytes.0))
    }
}

/// Formats a size for people: in the largest binary unit that keeps it exact, otherwise in bytes with grouped digits.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Choose the unit with the smallest whole number: 2 GB, not 1953125 KiB; 500 KiB stay 500 KiB.
        let units = [
            ("TiB", 1u64 << 40),
            ("TB", 1_000_000_000_000),
            ("GiB", 1 << 30),
            ("GB", 1_000_000_000),
            ("MiB", 1 << 20),
            ("MB", 1_000_000),
            ("KiB", 1 << 10),
        ];
        let whole = units.into_iter().filter(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale));
        let (unit, scale) = whole.min_by_key(|(_, scale)| self.0 / scale).unwrap_or(("B", 1));
        write!(f, "{} {unit}", self.0 / scale)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, scale) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
            if self.0 >= scale && self.0.is_multiple_of(scale) {
                return write!(f, "{} {unit}", self.0 / scale);
            }
        }
        write!(f, "{} ns", self.0)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

impl Serialize for Extent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bytes(bytes) => serializer.serialize_u64(*bytes),
            Self::Percent(percent) => serializer.serialize_str(&format!("{percent}%")),
        }
    }
}

macro_rules! quantity {
    ($type:ty, $name:literal, $format:literal, $unit:literal, $wrap:expr) => {
        impl FromJson for $type {
            fn from_json(value: &Value) -> Result<Self, Fault> {
                match value {
                    Value::String(text) => {
                        Self::parse(text).ok_or_else(|| Fault::new(format_args!("\"{text}\" is not {}", Self::ACCEPTED)))
                    }
                    other => {
                        other.as_u64().map($wrap).ok_or_else(|| Fault::new(format_args!("{other} is not {}", Self::ACCEPTED)))
                    }
                }
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": ["integer", "string"], "format": $format, "x-unit": $unit})
            }
        }
    };
}

quantity!(Bytes, "Bytes", "bytes", "B", Bytes);
quantity!(Nanos, "Nanos", "nanos", "ns", Nanos);
quantity!(Extent, "Extent", "extent", "B", Extent::Bytes);

/// Convert a count to a float. Exact below 2^53, far beyond any number of bytes, nanoseconds or cycles in a run.
#[allow(clippy::cast_precision_loss)]
#[must_use]
#[inline]
pub fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_and_decimal_sizes_are_not_confused() {
        assert_eq!(Bytes::parse("8k"), Some(Bytes(8192)));
        assert_eq!(Bytes::parse("8KiB"), Some(Bytes(8192)));
        assert_eq!(Bytes::parse("8kB"), Some(Bytes(8000)));
        assert_eq!(Bytes::parse("1.5GiB"), Some(Bytes(1_610_612_736)));
        assert_eq!(Bytes::parse("8q"), None);
        assert_eq!(Bytes::parse("k"), None);
        assert_eq!(Bytes::parse("99999999999999T"), None);
    }

    #[test]
    fn sizes_are_written_in_the_unit_in_which_people_wrote_them() {
        for text in ["8 KiB", "500 KiB", "2 GB", "175 MB", "1 TiB", "64 MiB", "1000 B", "513 B", "0 B"] {
            let size = Bytes::parse(&text.replace(' ', "")).expect("a size");
            assert_eq!(size.to_string(), text);
        }
    }

    #[test]
    fn times_carry_their_unit() {
        assert_eq!(Nanos::parse("2.5s"), Some(Nanos(2_500_000_000)));
        assert_eq!(Nanos::parse("40ms"), Some(Nanos(40_000_000)));
        assert_eq!(Nanos::parse("40 parsecs"), None);
    }

    #[test]
    fn extents_are_bytes_or_a_share() {
        assert_eq!(Extent::parse("25%").map(|e| e.of(1000)), Some(250));
        assert_eq!(Extent::parse("101%"), None);
        assert_eq!(Extent::parse("1KiB").map(|e| e.of(10)), Some(1024));
    }

    #[test]
    fn sizes_print_in_the_largest_exact_unit() {
        assert_eq!(Bytes(8_650_752).to_string(), "8448 KiB");
        assert_eq!(Bytes(8_388_608).to_string(), "8 MiB");
        assert_eq!(Bytes(8_388_609).to_string(), "8388609 B");
    }
}
