//! The operation log of a run of ours, as CSV: `result.ops.to_csv(...)`, or the same table written by a data library.
//!
//! A header names the columns; needed are `id` (order of issue), `job`, `op` (0 or `read`, 1 or `write`), `offset` and `bytes`,
//! `submit_ns` and `latency_ns`. Others are passed over, the phases among them. Whole numbers may end in `.0`. Rows stand in
//! order of completion and are replayed in order of issue. Offsets count from the start of the job's region, so each job is a
//! target of its own.

use super::draft::{Draft, Found};
use super::text::{each, fields, shown, whole};
use seeklab_spec::Op;
use seeklab_spec::trace::{Fault, MAX_TARGET_BYTES, Problem, UNKNOWN};

const COLUMNS: [&str; 7] = ["id", "job", "op", "offset", "bytes", "submit_ns", "latency_ns"];
const HEADER: &str = "a line of column names with id, job, op, offset, bytes, submit_ns and latency_ns";
const FORM: &str = "one value for each column of the header";
const OPS: &str = "0 (read), 1 (write)";
/// Times are whole nanoseconds that a 64-bit float keeps.
const LATEST_NS: u64 = 1 << 53;

fn place(header: &[u8], column: &str) -> Option<usize> {
    fields(header).position(|field| field == column.as_bytes())
}

/// Whether a line is the header of such a table.
pub(super) fn is_header(line: &[u8]) -> bool {
    place(line, "submit_ns").is_some() && place(line, "op").is_some()
}

/// A whole number that a data library may have written as a float.
fn number(field: &'static str, found: &[u8], most: u64) -> Result<u64, Fault> {
    whole(field, found.strip_suffix(b".0").unwrap_or(found), most)
}

/// Reads the table.
pub(super) fn read(text: &[u8], draft: &mut Draft) -> Result<(), Problem> {
    let mut columns: Option<([usize; COLUMNS.len()], usize)> = None;
    let mut rows: Vec<(u64, u16, Found)> = Vec::new();
    each(text, |line_number, line| {
        let Some((places, width)) = columns else {
            let mut places = [0; COLUMNS.len()];
            for (at, column) in places.iter_mut().zip(COLUMNS) {
                *at = place(line, column).ok_or_else(|| Fault::Header { found: shown(line), wanted: HEADER })?;
            }
            columns = Some((places, fields(line).count()));
            return Ok(());
        };
        let mut found = [&[][..]; COLUMNS.len()];
        let mut count = 0;
        for field in fields(line) {
            for (value, _) in found.iter_mut().zip(places).filter(|(_, at)| *at == count) {
                *value = field;
            }
            count += 1;
        }
        if count < width {
            return Err(Fault::Truncated { found: shown(line), wanted: FORM });
        }
        if count > width {
            return Err(Fault::TooManyFields { found: count, wanted: FORM });
        }
        let [id, job, op, offset, bytes, submit_ns, latency_ns] = found;
        let op = match op.strip_suffix(b".0").unwrap_or(op) {
            b"0" | b"read" => Op::Read,
            b"1" | b"write" => Op::Write,
            _ => return Err(Fault::Action { found: shown(op), known: OPS }),
        };
        let id = number("id", id, u64::from(u32::MAX))?;
        let job = number("job", job, u64::from(u16::MAX))?;
        let request = Found {
            line: line_number,
            time_ns: number("submit_ns", submit_ns, LATEST_NS)?,
            op,
            offset: number("offset", offset, MAX_TARGET_BYTES)?,
            bytes: number("bytes", bytes, MAX_TARGET_BYTES)?,
            response_ns: number("latency_ns", latency_ns, LATEST_NS)?.min(UNKNOWN - 1),
        };
        rows.push((id, u16::try_from(job).unwrap_or(u16::MAX), request)); // checked above
        if rows.len() > seeklab_spec::trace::MAX_REQUESTS { Err(Fault::TooManyRequests) } else { Ok(()) }
    })?;
    rows.sort_unstable_by_key(|(id, _, request)| (request.time_ns, *id, request.line));
    for (_, job, request) in &rows {
        let name = format!("job {job}");
        draft.push(name.as_bytes(), request).map_err(|fault| Problem { line: request.line.into(), fault })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::read as read_trace;
    use super::super::tests::{action, cut_off, fault, negative, not_whole, requests};
    use super::*;

    #[test]
    fn rows_in_order_of_completion_are_put_in_order_of_issue() {
        let trace = read_trace(
            b"\"id\",job,op,offset,bytes,cached_bytes,submit_ns,latency_ns\n1,0,0,4096,4096,0,0,500\n0,1,1,0.0,8192.0,0,0.0,900.0\n2,0,read,8192,512,0,500,10\n",
            None,
        )
        .expect("a trace");
        assert_eq!(
            requests(&trace),
            [(0, Op::Write, "job 1", 0, 8192), (0, Op::Read, "job 0", 4096, 4096), (500, Op::Read, "job 0", 8192, 512)]
        );
        assert_eq!(trace.rows.iter().map(|row| (row.response_ns, row.line)).collect::<Vec<_>>(), [(900, 3), (500, 2), (10, 4)]);
        assert_eq!(trace.reordered, 0);
    }

    #[test]
    fn damaged_lines_are_told() {
        let of = |line: &str| fault(&format!("id,job,op,offset,bytes,submit_ns,latency_ns\n{line}\n"));
        assert_eq!(of("0,0,0,0"), (2, cut_off("0,0,0,0", FORM)));
        assert_eq!(of("0,0,0,0,512,0,0,0").1, Fault::TooManyFields { found: 8, wanted: FORM });
        assert_eq!(of("0,0,2,0,512,0,0").1, action("2", OPS));
        assert_eq!(of("0,0,0,0,512,-1.0,0").1, negative("submit_ns", "-1"));
        assert_eq!(of("0,0,0,nan,512,0,0").1, not_whole("offset", "nan"));
        assert_eq!(fault("op,submit_ns\n0,1\n"), (1, Fault::Header { found: "op,submit_ns".into(), wanted: HEADER }));
    }
}
