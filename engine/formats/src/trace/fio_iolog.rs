//! fio's log of the I/O of a job (`write_iolog`), versions 2 and 3.
//!
//! The first line is `fio version 2 iolog` or `fio version 3 iolog`. Then one action a line: `FILE ACTION` to add, open or close
//! a file, and `FILE ACTION OFFSET LENGTH` for I/O, in bytes. In version 3 a time stands before each line, in microseconds from
//! the start of the job (fio's manual gives no unit; what fio 3.33 writes are microseconds). Version 2 has no times; its action
//! `wait` waits until OFFSET milliseconds after the start, as fio 3.33 takes it (its manual says microseconds since the wait
//! before). Version 3 has no `wait`.
//!
//! `sync`, `datasync`, `sync_file_range` and `trim` are counted as skipped: nothing in the stack has a cost for them. File names
//! may contain blanks, which fio writes as they are, so lines are read from their end. When several processes have logged into
//! one file the header comes again, and times start again from 0; the requests are merged by their times.

use super::draft::{Draft, Found};
use super::text::{each, shown, whole, words};
use seeklab_spec::Op;
use seeklab_spec::trace::{Fault, MAX_REQUEST_BYTES, MAX_TARGET_BYTES, Problem, UNKNOWN};

const FILE_ACTIONS: [&[u8]; 3] = [b"add", b"open", b"close"];
const KNOWN: [&str; 2] = [
    "add, open, close, read, write, sync, datasync, sync_file_range, trim, wait",
    "add, open, close, read, write, sync, datasync, sync_file_range, trim (wait exists only in version 2)",
];
const FORM: [&str; 2] = ["FILE ACTION or FILE ACTION OFFSET LENGTH", "TIME FILE ACTION or TIME FILE ACTION OFFSET LENGTH"];
const HEADER: [&str; 2] = ["\"fio version 2 iolog\"", "\"fio version 3 iolog\""];
/// A year: a longer time is a damaged line.
const MAX_TIME_US: u64 = 366 * 86_400 * 1_000_000;

/// Whether a line is the header of this version.
pub(super) fn is_header(line: &[u8], version: u8) -> bool {
    line.strip_prefix(b"fio version ").and_then(|rest| rest.strip_suffix(b" iolog")) == Some(&[b'0' + version])
}

/// Reads the log.
pub(super) fn read(text: &[u8], version: u8, draft: &mut Draft) -> Result<(), Problem> {
    let mut begun = false;
    let mut now_us = 0u64;
    each(text, |number, line| {
        if is_header(line, version) {
            (begun, now_us) = (true, 0);
            return Ok(());
        }
        if !begun || line.starts_with(b"fio version ") {
            return Err(Fault::Header { found: shown(line), wanted: HEADER[usize::from(version - 2)] });
        }
        action(number, line, version, &mut now_us, draft)
    })
}

/// How a replay treats an I/O action.
enum Action {
    Io(Op),
    Skip(&'static str),
    Wait,
}

fn io_action(word: &[u8], version: u8) -> Option<Action> {
    match word {
        b"read" => Some(Action::Io(Op::Read)),
        b"write" => Some(Action::Io(Op::Write)),
        b"sync" | b"datasync" | b"sync_file_range" => Some(Action::Skip("syncs")),
        b"trim" => Some(Action::Skip("trims")),
        b"wait" if version == 2 => Some(Action::Wait),
        _ => None,
    }
}

fn action(number: u32, line: &[u8], version: u8, now_us: &mut u64, draft: &mut Draft) -> Result<(), Fault> {
    let (form, known) = (FORM[usize::from(version - 2)], KNOWN[usize::from(version - 2)]);
    let cut_off = || Fault::Truncated { found: shown(line), wanted: form };
    let rest = if version == 3 {
        let time = words(line).next().unwrap_or_default();
        *now_us = whole("time", time, MAX_TIME_US)?;
        line[time.len()..].trim_ascii()
    } else {
        line
    };
    let mut from_end = words(rest).rev();
    let (last, second, third) = (from_end.next().ok_or_else(cut_off)?, from_end.next(), from_end.next());
    if second.is_some() && FILE_ACTIONS.contains(&last) {
        return Ok(());
    }
    let has_file = from_end.next().is_some();
    let (Some(second), Some(word), true) = (second, third, has_file) else {
        // FILE ACTION, or an I/O action without all of its numbers
        let is_action = |word: Option<&[u8]>| word.is_some_and(|word| io_action(word, version).is_some());
        let numeric = |word: &[u8]| word.iter().all(u8::is_ascii_digit);
        return match second {
            Some(_) if is_action(Some(last)) || is_action(second) || is_action(third) => Err(cut_off()),
            Some(_) if third.is_none() && !numeric(last) => Err(Fault::Action { found: shown(last), known }),
            _ => Err(cut_off()),
        };
    };
    let Some(action) = io_action(word, version) else {
        return Err(if io_action(last, version).is_some() || io_action(second, version).is_some() {
            cut_off()
        } else {
            Fault::Action { found: shown(word), known }
        });
    };
    let offset = whole("offset", second, MAX_TARGET_BYTES)?;
    let bytes = whole("length", last, MAX_REQUEST_BYTES.max(MAX_TARGET_BYTES))?;
    match action {
        Action::Io(op) => {
            let before = [last, second, word].iter().fold(rest, |rest, word| rest[..rest.len() - word.len()].trim_ascii_end());
            draft.push(before, &Found { line: number, time_ns: *now_us * 1000, op, offset, bytes, response_ns: UNKNOWN })
        }
        Action::Skip(what) => {
            draft.skip(what);
            Ok(())
        }
        Action::Wait => {
            *now_us = (*now_us).max(offset.saturating_mul(1000));
            if *now_us > MAX_TIME_US {
                return Err(Fault::TooLarge { field: "wait", found: shown(second), most: MAX_TIME_US });
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read as read_trace;
    use super::super::tests::{action, cut_off, fault, negative, not_whole, requests};
    use super::*;

    #[test]
    fn version_3_has_times_in_microseconds() {
        let trace = read_trace(
            b"fio version 3 iolog\n20 /data/my file add\n117 /data/my file open\n124 /data/my file read 0 4096\n130 /data/my file datasync 0 0\n\
              321 /data/my file write 8192 1024\n325 /data/my file trim 0 4096\n334 /data/my file close\n",
            None,
        )
        .expect("a trace");
        assert_eq!(requests(&trace), [(0, Op::Read, "/data/my file", 0, 4096), (197_000, Op::Write, "/data/my file", 8192, 1024)]);
        assert_eq!(trace.skipped, [("syncs", 1), ("trims", 1)].into());
    }

    #[test]
    fn version_2_has_order_and_waits_in_milliseconds_from_the_start() {
        let trace = read_trace(
            b"fio version 2 iolog\nf add\nf open\nf read 0 512\nf wait 300 0\nf read 512 512\nf wait 99 0\nf write 0 512\nf wait 700 0\nf read 0 512\nf close",
            None,
        )
        .expect("a trace");
        assert_eq!(trace.rows.iter().map(|row| row.time_ns).collect::<Vec<_>>(), [0, 300_000_000, 300_000_000, 700_000_000]);
    }

    #[test]
    fn logs_of_several_processes_in_one_file_are_merged_by_time() {
        let trace = read_trace(b"fio version 3 iolog\n10 a read 0 512\n30 a read 512 512\nfio version 3 iolog\n20 b read 0 512", None);
        assert_eq!(
            requests(&trace.expect("a trace")).iter().map(|row| (row.0, row.2)).collect::<Vec<_>>(),
            [(0, "a"), (10_000, "b"), (20_000, "a")]
        );
    }

    #[test]
    fn damaged_lines_are_told() {
        let of = |version: u8, line: &str| fault(&format!("fio version {version} iolog\n{line}\n")).1;
        let v3 = FORM[1];
        assert_eq!(of(3, "17 f read 0"), cut_off("17 f read 0", v3));
        assert_eq!(of(3, "17 f read"), cut_off("17 f read", v3));
        assert_eq!(of(3, "17"), cut_off("17", v3));
        assert_eq!(of(3, "17 add"), cut_off("17 add", v3));
        assert_eq!(of(2, "f write 8"), cut_off("f write 8", FORM[0]));
        assert_eq!(of(3, "f read 0 4096"), not_whole("time", "f"));
        assert_eq!(of(3, "-17 f read 0 4096"), negative("time", "-17"));
        assert_eq!(of(2, "f wait -300 0"), negative("offset", "-300"));
        assert_eq!(of(2, "f read 0x10 4096"), not_whole("offset", "0x10"));
        assert_eq!(of(2, "f read 0 4k"), not_whole("length", "4k"));
        assert_eq!(of(2, "f frob 0 4096"), action("frob", KNOWN[0]));
        assert_eq!(of(3, "1 f wait 300 0"), action("wait", KNOWN[1]));
        assert_eq!(of(2, "f unlink"), action("unlink", KNOWN[0]));
        let late = "99999999999999999";
        assert_eq!(of(3, &format!("{late} f read 0 512")), Fault::TooLarge { field: "time", found: late.into(), most: MAX_TIME_US });
        let other = fault("fio version 3 iolog\n1 f read 0 512\nfio version 2 iolog\n");
        assert_eq!(other, (3, Fault::Header { found: "fio version 2 iolog".into(), wanted: HEADER[1] }));
    }
}
