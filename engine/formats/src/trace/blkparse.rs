//! The default text of blkparse, which prints what blktrace recorded in Linux's block layer.
//!
//! `MAJOR,MINOR CPU SEQUENCE SECONDS.NANOSECONDS PID ACTION RWBS SECTOR + BLOCKS [PROCESS]`, blocks of 512 bytes. One request
//! passes through many events. Those replayed are the ones where it enters the block layer: `Q` (queued). A trace without any has
//! its `D` (issued to the driver) replayed, and one without those too its `C` (completed, at that time). All other events, of
//! which merges, splits and remaps say how requests were changed on the way, are counted as skipped, as are discards, flushes
//! without data and packet commands. The summary at the end is passed over.
//!
//! Response times are not taken: requests are merged and split between `Q` and `C`. Each device is a target of its own; where one
//! lies on another (device mapper, MD) both record the same work, so replay one of them with [`super::Trace::only`].

use super::draft::{Draft, Found};
use super::text::{each, lines, seconds, shown, whole, words};
use seeklab_spec::Op;
use seeklab_spec::trace::{Fault, MAX_TARGET_BYTES, Problem, SECTOR, UNKNOWN};

const FORM: &str = "MAJOR,MINOR CPU SEQUENCE TIME PID ACTION RWBS SECTOR + BLOCKS [PROCESS]";
const ACTIONS: &str = "Q, D, C, A, B, F, G, I, M, P, R, S, T, U, UT, W, X, m";
const DIRECTIONS: &str = "R (read), W (write), D (discard), N (none), with F before and A, F, S, M after them";
/// Beginnings of the lines of the summary, without blanks before them.
const SUMMARY: [&str; 10] = ["CPU", "Total", "Throughput", "Events", "Skips", "Input file", "Read", "Write", "PC ", "IO unplugs"];
const NO_DATA: &str = "flushes without data";
const PACKET: &str = "packet commands";

fn is_device(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b',');
    let mut number = || parts.next().is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    number() && number() && parts.next().is_none()
}

fn is_summary(line: &[u8]) -> bool {
    SUMMARY.iter().any(|start| line.starts_with(start.as_bytes()))
}

/// Whether a trace of this format may begin with the line.
pub(super) fn begins_with(line: &[u8]) -> bool {
    let mut words = words(line);
    line.starts_with(b"Input file ")
        || (words.next().is_some_and(is_device) && words.next().is_some_and(|cpu| cpu.iter().all(u8::is_ascii_digit)))
}

/// The action whose records stand for requests: the first of Q, D and C that the text has.
fn entry(text: &[u8]) -> &'static [u8] {
    let choices: [&'static [u8]; 3] = [b"Q", b"D", b"C"];
    let mut has = [false; 3];
    for (_, line) in lines(text) {
        let mut words = words(line);
        if words.next().is_some_and(is_device) {
            let action = words.nth(4);
            for (has, choice) in has.iter_mut().zip(choices) {
                *has |= action == Some(choice);
            }
            if has[0] {
                break;
            }
        }
    }
    has.iter().position(|has| *has).map_or(choices[0], |first| choices[first])
}

/// Reads the text.
pub(super) fn read(text: &[u8], draft: &mut Draft) -> Result<(), Problem> {
    let wanted = entry(text);
    each(text, |number, line| {
        let mut words = words(line);
        let device = words.next().unwrap_or_default();
        if !is_device(device) {
            return if is_summary(line) { Ok(()) } else { Err(Fault::Form { found: shown(line), wanted: FORM }) };
        }
        match event(number, line, words, wanted)? {
            Event::Request(found) => draft.push(device, &found),
            Event::Skip(what) => {
                draft.skip(what);
                Ok(())
            }
        }
    })
}

/// How a replay treats an event.
enum Event {
    Request(Found),
    Skip(&'static str),
}

/// Reads the event of a line whose `words` follow the device.
fn event<'a>(number: u32, line: &[u8], mut words: impl Iterator<Item = &'a [u8]>, wanted: &[u8]) -> Result<Event, Fault> {
    let cut_off = || Fault::Truncated { found: shown(line), wanted: FORM };
    let malformed = || Fault::Form { found: shown(line), wanted: FORM };
    let mut field = || words.next().ok_or_else(cut_off);
    whole("CPU", field()?, u64::from(u32::MAX))?;
    whole("sequence", field()?, u64::MAX)?;
    let time_ns = seconds("time", field()?)?;
    whole("PID", field()?, u64::from(u32::MAX))?;
    let (action, rwbs) = (field()?, field()?);
    if action != wanted {
        let known = ACTIONS.split(", ").any(|known| known.as_bytes() == action);
        return if known { Ok(Event::Skip("other events")) } else { Err(Fault::Action { found: shown(action), known: ACTIONS }) };
    }
    // An F before the direction asks for a flush first, one after it for writing through.
    let flush = rwbs.first() == Some(&b'F');
    let op = match rwbs.get(usize::from(flush)) {
        Some(b'R') => Op::Read,
        Some(b'W') => Op::Write,
        Some(b'D') => return Ok(Event::Skip("discards")),
        Some(b'N') => return Ok(Event::Skip(NO_DATA)),
        None if flush => return Ok(Event::Skip(NO_DATA)),
        _ => return Err(Fault::Action { found: shown(rwbs), known: DIRECTIONS }),
    };
    let place = field()?;
    if place.starts_with(b"[") {
        return if flush { Ok(Event::Skip(NO_DATA)) } else { Err(cut_off()) };
    }
    // A packet command has a length instead of a sector, or nothing, then the packet in parentheses.
    if place.starts_with(b"(") {
        return Ok(Event::Skip(PACKET));
    }
    match field()? {
        b"+" => {}
        packet if packet.starts_with(b"(") || packet.starts_with(b"[") => return Ok(Event::Skip(PACKET)),
        _ => return Err(malformed()),
    }
    let blocks = field()?;
    if !field()?.starts_with(b"[") {
        return Err(malformed());
    }
    let offset = whole("sector", place, MAX_TARGET_BYTES / SECTOR)? * SECTOR;
    let bytes = whole("blocks", blocks, MAX_TARGET_BYTES / SECTOR)? * SECTOR;
    Ok(Event::Request(Found { line: number, time_ns, op, offset, bytes, response_ns: UNKNOWN }))
}

#[cfg(test)]
mod tests {
    use super::super::read as read_trace;
    use super::super::tests::{action, cut_off, fault, negative, not_whole, requests};
    use super::super::text::SECONDS;
    use super::*;

    /// Lines of blkparse 1.2.0 for each kind of event.
    const EVENTS: &str = "\
  8,0    0        1     0.000000000  1234  A   R 223490 + 8 <- (8,1) 1000
  8,0    0        2     0.000000010  1234  Q   R 223490 + 8 [my prog]
  8,0    0        3     0.000000020  1234  G   R 223490 + 8 [my prog]
  8,0    0        4     0.000000025  1234  P   N [my prog]
  8,0    0        5     0.000000030  1234  I   R 223490 + 8 [my prog]
  8,0    0        6     0.000000031  1234  U   N [my prog] 1
  8,0    0        7     0.000000032  1234 UT   N [my prog] 1
  8,0    0        8     0.000000040  1234  D   R 223490 + 8 [my prog]
  8,0    0        9     0.005000000     0  C   R 223490 + 8 [0]
  8,0    0       10     0.005000010  1234  Q  FW [my prog]
  8,0    0       11     0.005000020    77  Q  WS 512 + 128 [(null)]
  8,0    0       12     0.005000030  1234  M  WS 640 + 8 [my prog]
  8,0    0       14     0.005000050  1234  X  WS 512 / 576 [my prog]
  8,0    0       15     0.005000060  1234  Q   D 4096 + 2048 [my prog]
  8,0    0       16     0.005000065  1234  Q FWFSM 8 + 8 [my prog]
  8,0    0       18     0.005000070  1234  Q   R 36 [my prog]
  8,0    0       19     0.005000071  1234  D   R 36 (12 00 00 00 24 00 ..) [my prog]
  8,0    0       20     0.005000072  1234  C   R (12 00 00 00 24 00 ..) [0]
259,12   0       25 12345.678901234  1234  Q   W 8 + 8 [my prog]
  8,0    0        0 12345.678901240     0  m   N cfq1234A / 
CPU0 (sda):
 Reads Queued:           2,        8KiB\t Writes Queued:           5,     1096KiB
 PC Read Disp.:          1,        0KiB\t PC Write Disp.:          0,        0KiB
 IO unplugs:             1        \t Timer unplugs:           1

Throughput (R/W): 0KiB/s / 0KiB/s
Events (sda): 26 entries
Skips: 0 forward (0 -   0.0%)
Input file sda.blktrace.0 added
";

    #[test]
    fn queued_requests_are_taken_and_all_else_is_counted() {
        let trace = read_trace(EVENTS.as_bytes(), None).expect("a trace");
        assert_eq!(
            requests(&trace),
            [
                (0, Op::Read, "8,0", 223_490 * 512, 4096),
                (5_000_010, Op::Write, "8,0", 512 * 512, 65536),
                (5_000_055, Op::Write, "8,0", 8 * 512, 4096),
                (12_345_678_901_224, Op::Write, "259,12", 8 * 512, 4096),
            ]
        );
        let skipped = [("discards", 1), ("flushes without data", 1), ("other events", 13), ("packet commands", 1)];
        assert_eq!(trace.skipped, skipped.into());
    }

    #[test]
    fn without_queued_requests_the_issued_ones_are_taken_then_the_completed() {
        let without = |actions: &[&str]| -> String {
            EVENTS
                .lines()
                .filter(|line| !actions.iter().any(|action| line.contains(&format!("  {action} "))))
                .fold(String::new(), |text, line| text + line + "\n")
        };
        let issued = read_trace(without(&["Q"]).as_bytes(), None).expect("a trace");
        assert_eq!(requests(&issued), [(0, Op::Read, "8,0", 223_490 * 512, 4096)]);
        let completed = read_trace(without(&["Q", "D"]).as_bytes(), None).expect("a trace");
        assert_eq!((completed.rows.len(), completed.rows[0].line), (1, 7));
    }

    #[test]
    fn damaged_lines_are_told() {
        let of = |line: &str| fault(&format!("  8,0    0        2     0.000000010  1234  Q   R 8 + 8 [x]\n{line}\n"));
        for line in [
            "8,0    0        2     0.0",
            "8,0 0 2 0.1 12 Q",
            "8,0 0 2 0.1 12 Q R",
            "8,0 0 2 0.1 12 Q R 8",
            "8,0 0 2 0.1 12 Q R 8 +",
            "8,0 0 2 0.1 12 Q R 8 + 8",
        ] {
            assert_eq!(of(line), (2, cut_off(line, FORM)));
        }
        assert_eq!(of("8,0 0 2 -0.1 12 Q R 8 + 8 [x]").1, negative("time", "-0.1"));
        let not_seconds = Fault::Number { field: "time", found: "soon".into(), accepted: SECONDS };
        assert_eq!(of("8,0 0 2 soon 12 Q R 8 + 8 [x]").1, not_seconds);
        assert_eq!(of("8,0 0 2 0.1 12 Q R x + 8 [x]").1, not_whole("sector", "x"));
        assert_eq!(of("8,0 0 2 0.1 12 Q R 8 + -8 [x]").1, negative("blocks", "-8"));
        assert_eq!(of("8,0 0 2 0.1 12 J R 8 + 8 [x]").1, action("J", ACTIONS));
        assert_eq!(of("8,0 0 2 0.1 12 Q Z 8 + 8 [x]").1, action("Z", DIRECTIONS));
        assert_eq!(of("garbage").1, Fault::Form { found: "garbage".into(), wanted: FORM });
    }
}
