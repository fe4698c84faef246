//! Numbers as fio 3.33 reads them.
//!
//! Sizes: with `kb_base=1024`, the default, `k`, `kb` and `ki` are 1024 and only the full `kib` is 1000; with `kb_base=1000`, `k`,
//! `kb` and `ki` are 1000 and `kib` is 1024. Times: a bare number has the option's own unit; `us`, `ms`, `s`, `m`, `h`, `d` (and
//! `usec`, `msec`) are known. fio takes any other ending for microseconds, or for nothing; here it is an error.

use seeklab_spec::Extent;

/// fio's default of `kb_base`.
pub(super) const KB_BASE_DEFAULT: u64 = 1024;
/// Nanoseconds of a second.
pub(super) const SECOND: u64 = 1_000_000_000;
/// Nanoseconds of a microsecond.
pub(super) const MICROSECOND: u64 = 1_000;

const SIZE_PREFIXES: [char; 5] = ['k', 'm', 'g', 't', 'p'];

/// Splits `8k` into 8 and `k`, in lower case; there must be digits and no space.
fn split(text: &str) -> Option<(u64, String)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, suffix.to_ascii_lowercase()))
}

/// A plain integer, decimal or hexadecimal, with an optional size suffix.
pub(super) fn size(text: &str, kb_base: u64) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u64::from_str_radix(digits, 16).ok())?;
    }
    let (number, suffix) = split(text)?;
    let mut letters = suffix.chars();
    let Some(exponent) = letters.next().and_then(|first| SIZE_PREFIXES.iter().position(|prefix| *prefix == first)) else {
        return (suffix.is_empty() || suffix == "b").then_some(number);
    };
    let base = match letters.as_str() {
        "" | "b" | "i" => kb_base,
        "ib" if kb_base == 1000 => 1024,
        "ib" => 1000,
        _ => return None,
    };
    number.checked_mul(base.checked_pow(u32::try_from(exponent).ok()?.checked_add(1)?)?)
}

/// Whether the size is written with a full IEC prefix such as `4KiB`, which means 4000 with the default `kb_base`.
pub(super) fn is_full_iec(text: &str) -> bool {
    text.to_ascii_lowercase().ends_with("ib")
}

/// A size, or a share of the whole in whole percent.
pub(super) fn extent(text: &str, kb_base: u64) -> Option<Extent> {
    match text.strip_suffix('%') {
        Some(number) => match split(number)? {
            (percent @ 0..=100, suffix) if suffix.is_empty() => {
                u32::try_from(percent).ok().map(|percent| Extent::Percent(f64::from(percent)))
            }
            _ => None,
        },
        None => size(text, kb_base).map(Extent::Bytes),
    }
}

/// A time in nanoseconds; a bare number counts in `bare_ns`.
pub(super) fn time_ns(text: &str, bare_ns: u64) -> Option<u64> {
    let (number, suffix) = split(text)?;
    let unit = match suffix.as_str() {
        "" => bare_ns,
        "us" | "usec" => MICROSECOND,
        "ms" | "msec" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3_600 * SECOND,
        "d" => 86_400 * SECOND,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// A range such as `4k-64k` or `4k:64k`, the smaller end first.
pub(super) fn range(text: &str, kb_base: u64) -> Option<(u64, u64)> {
    let (first, second) = text.split_once(['-', ':'])?;
    let (first, second) = (size(first, kb_base)?, size(second, kb_base)?);
    Some((first.min(second), first.max(second)))
}

/// Values for reads, writes and trims as in [`three_directions`]; nothing for more than three, or for none at all.
pub(super) fn per_direction<T: Copy>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<[Option<T>; 3]> {
    let values = three_directions(text, |part| read(part).ok_or(())).ok()?;
    (text.split(',').count() <= 3 && values.iter().any(Option::is_some)).then_some(values)
}

/// Values for reads, writes and trims, of which some may be left out: `a` is for all, and `b` of `a,b` for writes and trims.
pub(super) fn three_directions<T: Clone, E>(text: &str, read: impl Fn(&str) -> Result<T, E>) -> Result<[Option<T>; 3], E> {
    let mut parts = text.split(',').map(|part| if part.is_empty() { Ok(None) } else { read(part).map(Some) });
    let first = parts.next().transpose()?.flatten();
    let Some(second) = parts.next().transpose()? else { return Ok([first.clone(), first.clone(), first]) };
    let third = parts.next().transpose()?.unwrap_or_else(|| second.clone());
    Ok([first, second, third])
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every value below is what fio 3.33 made of the text (`fio --debug=parse --parse-only`), or a text that it misreads.

    #[test]
    fn sizes_are_powers_of_the_base_except_the_full_iec_prefix() {
        for text in ["4096", "4k", "4K", "4kb", "4kB", "4KB", "4ki", "4Ki", "0x1000", "4096b"] {
            assert_eq!(size(text, 1024), Some(4096), "{text}");
        }
        assert_eq!(size("4KiB", 1024), Some(4000));
        assert_eq!(size("1mib", 1024), Some(1_000_000));
        assert_eq!(size("2t", 1024), Some(2 << 40));
        assert_eq!(size("10k", 1000), Some(10_000));
        assert_eq!(size("10ki", 1000), Some(10_000));
        assert_eq!(size("10kib", 1000), Some(10_240));
    }

    #[test]
    fn sizes_that_fio_misreads_are_errors() {
        for text in ["", "k", "8q", "1.5k", "0x1k", "4 k", "4kk", "-4k", "+4k", "1e3", "4z", "99999999999999p", "0x", "\u{663}k"] {
            assert_eq!(size(text, 1024), None, "{text}");
        }
    }

    #[test]
    fn times_have_the_unit_of_the_option_unless_they_name_one() {
        assert_eq!(time_ns("5", SECOND), Some(5 * SECOND));
        assert_eq!(time_ns("5", MICROSECOND), Some(5_000));
        assert_eq!(time_ns("5m", MICROSECOND), Some(300 * SECOND));
        assert_eq!(time_ns("5Ms", SECOND), Some(5_000_000));
        assert_eq!(time_ns("5usec", SECOND), Some(5_000));
        assert_eq!(time_ns("2D", SECOND), Some(172_800 * SECOND));
        for text in ["", "5min", "5sec", "5x", "1.5", "-1", "5 s", "999999999999d"] {
            assert_eq!(time_ns(text, SECOND), None, "{text}");
        }
    }

    #[test]
    fn ranges_are_put_in_order() {
        assert_eq!(range("64k-4k", 1024), Some((4096, 65536)));
        assert_eq!(range("4k:64k", 1024), Some((4096, 65536)));
        assert_eq!(range("4k", 1024), None);
    }

    #[test]
    fn one_value_counts_for_all_directions_and_an_empty_one_is_left_alone() {
        let read = |text: &str| size(text, 1024);
        assert_eq!(per_direction("4k", read), Some([Some(4096); 3]));
        assert_eq!(per_direction("4k,8k", read), Some([Some(4096), Some(8192), Some(8192)]));
        assert_eq!(per_direction("16k,", read), Some([Some(16384), None, None]));
        assert_eq!(per_direction(",4k", read), Some([None, Some(4096), Some(4096)]));
        assert_eq!(per_direction("4k,8k,16k", read), Some([Some(4096), Some(8192), Some(16384)]));
        assert_eq!(per_direction(",,8k", read), Some([None, None, Some(8192)]));
        assert_eq!(per_direction("4k,8k,16k,32k", read), None);
        assert_eq!(per_direction("", read), None);
        assert_eq!(per_direction(",", read), None);
        assert_eq!(per_direction("4k,8q", read), None);
    }

    #[test]
    fn shares_are_whole_percent_up_to_100() {
        assert_eq!(extent("25%", 1024), Some(Extent::Percent(25.0)));
        assert_eq!(extent("101%", 1024), None);
        assert_eq!(extent("7.5%", 1024), None);
        assert_eq!(extent("1m", 1024), Some(Extent::Bytes(1 << 20)));
    }
}
