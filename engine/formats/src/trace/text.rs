//! Lines, fields and numbers of a trace's text.

use seeklab_spec::trace::{Fault, MAX_LINE_BYTES, Problem};

/// The lines of a text without the blanks around them, each with its number from 1.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    (1..).zip(text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii))
}

/// Hands each line that is not empty to `read`.
pub(super) fn each(text: &[u8], mut read: impl FnMut(u32, &[u8]) -> Result<(), Fault>) -> Result<(), Problem> {
    for (number, line) in lines(text) {
        let done = if line.len() > MAX_LINE_BYTES {
            Err(Fault::Oversized { found: line.len() })
        } else if line.is_empty() {
            Ok(())
        } else {
            read(number, line)
        };
        done.map_err(|fault| Problem { line: number.into(), fault })?;
    }
    Ok(())
}

/// The fields of a line that blanks separate.
pub(super) fn words(line: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The fields of a line that commas separate, without blanks and quotes around them.
pub(super) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b',').map(|field| {
        let field = field.trim_ascii();
        field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
    })
}

/// A line or field as it is shown in an error.
pub(super) fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(&field[..field.len().min(240)]).into_owned();
    let mut short: String = text.chars().take(60).map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    if text.chars().nth(60).is_some() || field.len() > 240 {
        short.push('…');
    }
    short
}

pub(super) const WHOLE: &str = "a whole number";
pub(super) const SECONDS: &str = "a time in seconds with nine decimals";

/// A whole number from 0 to `most`.
pub(super) fn whole(field: &'static str, found: &[u8], most: u64) -> Result<u64, Fault> {
    if found.first() == Some(&b'-') && found.get(1).is_some_and(u8::is_ascii_digit) {
        return Err(Fault::Negative { field, found: shown(found) });
    }
    if found.is_empty() || !found.iter().all(u8::is_ascii_digit) {
        return Err(Fault::Number { field, found: shown(found), accepted: WHOLE });
    }
    let number = std::str::from_utf8(found).ok().and_then(|digits| digits.parse().ok());
    number.filter(|number| *number <= most).ok_or_else(|| Fault::TooLarge { field, found: shown(found), most })
}

/// Seconds with up to nine decimals, in nanoseconds.
pub(super) fn seconds(field: &'static str, found: &[u8]) -> Result<u64, Fault> {
    let wrong = || Fault::Number { field, found: shown(found), accepted: SECONDS };
    let point = found.iter().position(|byte| *byte == b'.').unwrap_or(found.len());
    let (before, decimals) = (&found[..point], found.get(point + 1..).unwrap_or(&[]));
    if point < found.len() && (decimals.is_empty() || decimals.len() > 9) || !decimals.iter().all(u8::is_ascii_digit) {
        return Err(wrong());
    }
    let whole_s = whole(field, before, u64::MAX / 2_000_000_000).map_err(|fault| match fault {
        Fault::Negative { .. } => Fault::Negative { field, found: shown(found) },
        Fault::TooLarge { most, .. } => Fault::TooLarge { field, found: shown(found), most },
        _ => wrong(),
    })?;
    let part_ns = (0..9).fold(0, |sum, place| sum * 10 + decimals.get(place).map_or(0, |digit| u64::from(digit - b'0')));
    Ok(whole_s * 1_000_000_000 + part_ns)
}
