//! Comparisons of errors for the tests of all crates. They use the path and the values, so the words can change.

use std::fmt::Display;

/// Return whether `text` contains each of `values`, a list separated by `, `, in any order and as words of their own: `2 s` is not in
/// `12 s`.
#[must_use]
pub fn has_values(text: &str, values: &str) -> bool {
    let part_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    values.split(", ").all(|value| {
        text.match_indices(value).any(|(start, _)| {
            let (before, after) = (&text[..start], &text[start + value.len()..]);
            let joined_before = before.ends_with(|letter| part_of_word(letter) || "-.".contains(letter));
            let joined_after = after.strip_prefix('.').unwrap_or(after).starts_with(part_of_word);
            !(value.starts_with(part_of_word) && joined_before || value.ends_with(part_of_word) && joined_after)
        })
    })
}

/// Return whether an error, `path: message`, is at the path of `expected` and has its values: `path: value, value`, or `path` alone.
#[must_use]
pub fn is_problem(found: &str, expected: &str) -> bool {
    let (path, values) = expected.split_once(": ").unwrap_or((expected, ""));
    let message = found.strip_prefix(path).and_then(|rest| rest.strip_prefix(": "));
    message.is_some_and(|message| has_values(message, values))
}

/// Check that an error [is](is_problem) the one that `expected` describes.
///
/// # Panics
/// If it is another error.
#[track_caller]
pub fn assert_problem(found: impl Display, expected: &str) {
    let found = found.to_string();
    assert!(is_problem(&found, expected), "{found}\nis not at the path with the values of\n{expected}");
}

/// Check that the errors are those of `expected`, in this order. See [`assert_problem`].
///
/// # Panics
/// If an error is missing, additional or another one.
#[track_caller]
pub fn assert_problems<P: Display>(found: &[P], expected: &[&str]) {
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), expected.len(), "{texts:#?}");
    texts.iter().zip(expected).for_each(|(found, expected)| assert_problem(found, expected));
}

/// Check that one of the errors is the one of `expected`. See [`assert_problem`].
///
/// # Panics
/// If none is.
#[track_caller]
pub fn assert_has_problem<P: Display>(found: &[P], expected: &str) {
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|found| is_problem(found, expected)), "no {expected} in {texts:#?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_whole_words_in_any_order() {
        let text = "\"mru\" is not in -1.5 to 12 s, but in zfs.arc of \"a b\"; write 44.";
        for values in ["mru", "12 s, mru", "-1.5, 44", "zfs.arc", "\"a b\""] {
            assert!(has_values(text, values), "{values}");
        }
        for values in ["2 s", "mr", "1.5", "5", "zfs", "arc", "4", "mru, 13"] {
            assert!(!has_values(text, values), "{values}");
        }
    }

    #[test]
    fn a_problem_has_its_path_and_its_values() {
        let is = |expected: &str| is_problem("jobs[0].bs: 3 is not 4", expected);
        assert!(is("jobs[0].bs") && is("jobs[0].bs: 4, 3"));
        assert!(!is("jobs[0]") && !is("jobs[1].bs") && !is("jobs[0].bs: 5") && !is("bs: 3"));
    }
}
