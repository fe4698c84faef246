//! Errors in an input, for people: the place, the value found, and the values accepted.

use schemars::JsonSchema;
use serde::Serialize;

/// One error in an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Problem {
    /// Place of the error: a path such as `jobs[0].bs`, or a place in a file such as `line 3`.
    pub path: String,
    /// The value found and the values accepted, as one sentence without the path.
    pub message: String,
    /// The nearest accepted spelling, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

/// All errors of an input.
pub type Problems = Vec<Problem>;

impl Problem {
    /// Create a problem at `path`.
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), nearest: None }
    }

    /// Create the problem of a name that is not `known`, and propose the nearest known name.
    #[must_use]
    pub fn unknown<'a>(path: impl Into<String>, kind: &str, found: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        // A single copy of this code serves all kinds of lists.
        Self::not_among(path.into(), kind, found, &known.into_iter().collect::<Vec<_>>())
    }

    fn not_among(path: String, kind: &str, found: &str, known: &[&str]) -> Self {
        let nearest = nearest_of(found, known);
        let message = match &nearest {
            Some(name) => format!("\"{found}\" is not a {kind}; did you mean \"{name}\"? Known: {}", known.join(", ")),
            None => format!("\"{found}\" is not a {kind}; known: {}", known.join(", ")),
        };
        Self { path, message, nearest }
    }
}

/// A place in a document, to which a check adds the fields it reads: `jobs[0].bs`. Checks receive the place of their subject. So one
/// check serves a drive among the devices, one of a tier and one of a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// Return the path of the document itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Return the path of the field `name`, or of a nested field such as `bsrange.min`.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        if self.0.is_empty() { Self(name.to_owned()) } else { Self(format!("{}.{name}", self.0)) }
    }

    /// Return the path of entry `index` in the list field `name`.
    #[must_use]
    pub fn index(&self, name: &str, index: usize) -> Self {
        self.field(&format!("{name}[{index}]"))
    }
}

impl From<&Path> for String {
    fn from(path: &Path) -> Self {
        path.0.clone()
    }
}

impl From<Path> for String {
    fn from(path: Path) -> Self {
        path.0
    }
}

/// Adds problems to a list.
pub trait AddProblem {
    /// Add a problem at `at`. The message says what was found and what is accepted, without the path.
    fn add(&mut self, at: impl Into<String>, message: impl Into<String>);
}

impl AddProblem for Problems {
    fn add(&mut self, at: impl Into<String>, message: impl Into<String>) {
        add(self, at.into(), message.into());
    }
}

/// Rarely called, so that compilers make what leads to it small: hundreds of checks are in a module that pages load.
#[cold]
#[inline(never)]
fn add(problems: &mut Problems, path: String, message: String) {
    problems.push(Problem { path, message, nearest: None });
}

/// Maximum length of a text to compare with known names, in bytes. The time grows with the square of the length.
const MAX_NAME_BYTES: usize = 64;

/// Return the candidate that is most similar to `found`, if it is similar enough.
#[must_use]
pub fn nearest<'a>(found: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest_of(found, &candidates.into_iter().collect::<Vec<_>>())
}

fn nearest_of(found: &str, candidates: &[&str]) -> Option<String> {
    if found.len() > MAX_NAME_BYTES {
        return None;
    }
    // Our names are ASCII. A table for all Unicode letters would be larger than the rest of this module.
    let found = found.to_ascii_lowercase();
    let letters = Letters::of(&found);
    candidates
        .iter()
        .map(|name| (name.to_ascii_lowercase(), name))
        .filter(|(lower, _)| {
            let same_first = found.chars().zip(lower.chars()).take(4).take_while(|(a, b)| a == b).count();
            letters.may_be_alike(&Letters::of(lower), same_first)
        })
        .map(|(lower, name)| (strsim::jaro_winkler(&found, &lower), name))
        .filter(|(score, _)| *score > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| (*name).to_owned())
}

/// Minimum Jaro-Winkler score of a proposed name.
const ALIKE: f64 = 0.75;

/// Letter counts, by the remainder of each letter. A cheap test that two texts differ.
struct Letters {
    counts: [u8; 32],
    length: f64,
}

impl Letters {
    fn of(text: &str) -> Self {
        let mut letters = Self { counts: [0; 32], length: 0.0 };
        for letter in text.chars() {
            let count = &mut letters.counts[letter as usize % 32];
            *count = count.saturating_add(1);
            letters.length += 1.0;
        }
        letters
    }

    /// Return false only if the score cannot exceed [`ALIKE`]. The upper bound counts the letters that both words have; each equal first
    /// letter, up to four, then closes a tenth of the gap to 1.
    #[allow(clippy::cast_precision_loss)] // at most four
    fn may_be_alike(&self, other: &Self, same_first: usize) -> bool {
        let common: f64 = self.counts.iter().zip(&other.counts).map(|(a, b)| f64::from(*a.min(b))).sum();
        let most = (common / self.length + common / other.length + 1.0) / 3.0;
        most.is_nan() || most + 0.1 * same_first as f64 * (1.0 - most) > ALIKE - 1e-9
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_passed_over_was_not_alike(found in "[a-eA-E_é]{0,12}", names in proptest::collection::vec("[a-e_]{0,9}", 0..8)) {
            let scored = names.iter().map(|name| (strsim::jaro_winkler(&found.to_ascii_lowercase(), name), name));
            let plain = scored.filter(|(score, _)| *score > ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name.clone());
            prop_assert_eq!(nearest(&found, names.iter().map(String::as_str)), plain);
        }
    }

    #[test]
    fn a_path_grows_by_fields_and_entries() {
        let job = Path::root().index("jobs", 3);
        assert_eq!(String::from(job.field("bsrange").field("min")), "jobs[3].bsrange.min");
        assert_eq!(String::from(&job), "jobs[3]");
        let mut problems = Problems::new();
        problems.add(job.field("bs"), "wrong");
        assert_eq!(problems[0].to_string(), "jobs[3].bs: wrong");
    }

    #[test]
    fn a_misspelt_name_is_told_apart_from_a_text_too_long_to_be_one() {
        assert_eq!(nearest("Numjob", ["numjobs", "size"]).as_deref(), Some("numjobs"));
        let long = |bytes: usize| format!("numjobs{}", "s".repeat(bytes - 7));
        assert_eq!(nearest(&long(MAX_NAME_BYTES), ["numjobs"]).as_deref(), Some("numjobs"));
        assert_eq!(nearest(&long(MAX_NAME_BYTES + 1), ["numjobs"]), None);
    }
}
