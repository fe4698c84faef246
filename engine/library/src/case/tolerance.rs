//! A documented value, and how near a simulated one must come to it.

use schemars::JsonSchema;
use seeklab_spec::reader::FromJson;
use serde::Serialize;
use serde_json::Value;

/// A documented number, or a documented range.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(untagged, try_from = "Value")]
#[schemars(untagged, !try_from)]
pub enum Documented {
    /// A number.
    Value(f64),
    /// A range.
    Range([f64; 2]),
}

impl TryFrom<Value> for Documented {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let range = || seeklab_spec::reader::from_value::<[f64; 2]>(&value).ok().filter(|[low, high]| low <= high).map(Self::Range);
        value
            .as_f64()
            .map(Self::Value)
            .or_else(range)
            .ok_or_else(|| format!("{value} is not a documented value; write a number such as 25, or a range such as [40, 50]"))
    }
}

/// How near a simulated value must come: written as `exact`, `15%`, `+-1`, `at most` or `at least`.
#[derive(Clone, Copy, Debug, PartialEq, FromJson, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Tolerance {
    /// Equal.
    Exact,
    /// Within so many per cent of the documented value.
    Percent(f64),
    /// Within so much of it, in its unit.
    Absolute(f64),
    /// Not above it.
    AtMost,
    /// Not below it.
    AtLeast,
}

impl TryFrom<String> for Tolerance {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let found = match text.as_str() {
            "exact" => Some(Self::Exact),
            "at most" => Some(Self::AtMost),
            "at least" => Some(Self::AtLeast),
            _ => match (text.strip_suffix('%').and_then(number), text.strip_prefix("+-").and_then(number)) {
                (Some(percent), _) => Some(Self::Percent(percent)),
                (_, absolute) => absolute.map(Self::Absolute),
            },
        };
        found.ok_or_else(|| format!("\"{text}\" is not a tolerance; write exact, 15%, +-1, at most or at least"))
    }
}

impl From<Tolerance> for String {
    fn from(tolerance: Tolerance) -> Self {
        match tolerance {
            Tolerance::Exact => "exact".to_owned(),
            Tolerance::Percent(percent) => format!("{percent}%"),
            Tolerance::Absolute(absolute) => format!("+-{absolute}"),
            Tolerance::AtMost => "at most".to_owned(),
            Tolerance::AtLeast => "at least".to_owned(),
        }
    }
}

impl Tolerance {
    /// Whether a simulated value meets a documented one. A value that is not a number never does.
    #[must_use]
    pub fn holds(self, documented: Documented, simulated: f64) -> bool {
        let (low, high) = match documented {
            Documented::Value(value) => (value, value),
            Documented::Range([low, high]) => (low, high),
        };
        let (below, above) = match self {
            Self::Exact => (low, high),
            Self::Percent(percent) => (low - low.abs() * percent / 100.0, high + high.abs() * percent / 100.0),
            Self::Absolute(absolute) => (low - absolute, high + absolute),
            Self::AtMost => (f64::NEG_INFINITY, high),
            Self::AtLeast => (low, f64::INFINITY),
        };
        (below..=above).contains(&simulated)
    }
}

#[cfg(test)]
mod tests {
    use seeklab_spec::testing::has_values;

    use super::*;

    fn tolerance(text: &str) -> Result<Tolerance, String> {
        text.to_owned().try_into()
    }

    #[test]
    fn tolerances_are_relative_absolute_or_one_sided() {
        let holds = |text: &str, simulated: f64| tolerance(text).expect("a tolerance").holds(Documented::Value(100.0), simulated);
        assert!(holds("10%", 109.0) && !holds("10%", 111.0));
        assert!(holds("+-1", 99.5) && !holds("+-1", 98.5));
        assert!(holds("at most", 3.0) && !holds("at least", 3.0));
        assert!(holds("exact", 100.0) && !holds("exact", 100.1));
        assert!(!holds("10%", f64::NAN));
        assert!(Tolerance::Percent(10.0).holds(Documented::Range([40.0, 50.0]), 54.9));
    }

    #[test]
    fn what_is_not_a_tolerance_is_refused_with_what_is() {
        for wrong in ["about", "", "-5%", "+-", "+-nan", "inf%", "15"] {
            let accepted = "exact, 15%, +-1, at most, at least";
            assert!(has_values(&tolerance(wrong).expect_err("refused"), &format!("\"{wrong}\", {accepted}")), "{wrong}");
        }
    }

    #[test]
    fn a_tolerance_is_written_as_it_was_read() {
        for text in ["exact", "15%", "0.5%", "+-1", "+-0.02", "at most", "at least"] {
            assert_eq!(String::from(tolerance(text).expect("a tolerance")), text);
        }
    }
}
