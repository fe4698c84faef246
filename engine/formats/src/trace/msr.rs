//! The CSV of the block traces of Microsoft Research Cambridge (Narayanan, Donnelly, Rowstron, "Write Off-Loading", FAST 2008).
//!
//! `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`: times in Windows file time, ticks of 100 ns since 1601, and
//! offsets and sizes in bytes. The header is optional. Each host and disk is a target of its own, called `HOST.DISK`.

use super::draft::{Draft, Found};
use super::text::{each, fields, shown, whole};
use seeklab_spec::Op;
use seeklab_spec::trace::{Fault, MAX_TARGET_BYTES, Problem};

const FORM: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
const FIELDS: usize = 7;
const TICK_NS: u64 = 100;
const LATEST_TICKS: u64 = u64::MAX / TICK_NS;

fn is_header(line: &[u8]) -> bool {
    fields(line).next().is_some_and(|field| field.eq_ignore_ascii_case(b"timestamp"))
}

fn direction(field: &[u8]) -> Option<Op> {
    match field {
        _ if field.eq_ignore_ascii_case(b"read") => Some(Op::Read),
        _ if field.eq_ignore_ascii_case(b"write") => Some(Op::Write),
        _ => None,
    }
}

/// Whether a trace of this format may begin with the line.
pub(super) fn begins_with(line: &[u8]) -> bool {
    is_header(line) || (fields(line).count() == FIELDS && fields(line).nth(3).and_then(direction).is_some())
}

/// Reads the trace.
pub(super) fn read(text: &[u8], draft: &mut Draft) -> Result<(), Problem> {
    let mut begun = false;
    let mut name = Vec::new();
    each(text, |number, line| {
        if !std::mem::replace(&mut begun, true) && is_header(line) {
            return Ok(());
        }
        let mut found = [&[][..]; FIELDS];
        let count = fields(line).zip(found.iter_mut()).map(|(field, place)| *place = field).count();
        if count < FIELDS || found[FIELDS - 1].is_empty() {
            return Err(Fault::Truncated { found: shown(line), wanted: FORM });
        }
        let count = fields(line).count();
        if count > FIELDS {
            return Err(Fault::TooManyFields { found: count, wanted: FORM });
        }
        let [time, host, disk, kind, offset, size, response] = found;
        let time_ns = whole("Timestamp", time, LATEST_TICKS)? * TICK_NS;
        whole("DiskNumber", disk, u64::from(u32::MAX))?;
        let op = direction(kind).ok_or_else(|| Fault::Action { found: shown(kind), known: "Read, Write" })?;
        let offset = whole("Offset", offset, MAX_TARGET_BYTES)?;
        let bytes = whole("Size", size, MAX_TARGET_BYTES)?;
        // The last tick that fits is not a time that a request can take.
        let response_ns = whole("ResponseTime", response, LATEST_TICKS - 1)? * TICK_NS;
        name.clear();
        name.extend_from_slice(host);
        name.push(b'.');
        name.extend_from_slice(disk);
        draft.push(&name, &Found { line: number, time_ns, op, offset, bytes, response_ns })
    })
}

#[cfg(test)]
mod tests {
    use super::super::read as read_trace;
    use super::super::tests::{action, cut_off, fault, negative, not_whole, requests};
    use super::*;

    #[test]
    fn times_are_ticks_of_100_ns_and_each_disk_is_a_target() {
        let trace = read_trace(
            b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n128166372003061629,hm,1,Read,383496192,32768,113736\r\n\
              128166372003061729,hm,0,Write,4096,512,41\r\n",
            None,
        )
        .expect("a trace");
        assert_eq!(requests(&trace), [(0, Op::Read, "hm.1", 383_496_192, 32768), (10_000, Op::Write, "hm.0", 4096, 512)]);
        assert_eq!(trace.rows[0].response_ns, 11_373_600);
        assert!(trace.has_responses());
    }

    #[test]
    fn damaged_lines_are_told() {
        let of = |line: &str| fault(&format!("128166372003061629,hm,1,Read,0,512,10\n{line}\n"));
        for line in ["128166372003061629,hm,1,Read,38349", "1,hm,1,Read,0,512,"] {
            assert_eq!(of(line), (2, cut_off(line, FORM)));
        }
        assert_eq!(of("1,hm,1,Read,0,512,10,7").1, Fault::TooManyFields { found: 8, wanted: FORM });
        assert_eq!(of("-1,hm,1,Read,0,512,10").1, negative("Timestamp", "-1"));
        assert_eq!(of("1,hm,one,Read,0,512,10").1, not_whole("DiskNumber", "one"));
        assert_eq!(of("1,hm,1,Flush,0,512,10").1, action("Flush", "Read, Write"));
        assert_eq!(of("1,hm,1,Read,0,5.5,10").1, not_whole("Size", "5.5"));
        assert_eq!(of("1,hm,1,Read,0,512,-3").1, negative("ResponseTime", "-3"));
        let late = "999999999999999999";
        assert_eq!(
            of(&format!("{late},hm,1,Read,0,512,3")).1,
            Fault::TooLarge { field: "Timestamp", found: late.into(), most: 184_467_440_737_095_516 }
        );
    }
}
