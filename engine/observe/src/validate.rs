//! Replays a measured trace and says how close the model comes.
//!
//! Requests of a trace run one at a time: issue, wait, pause, issue. The *demerit* is the root mean square of the differences
//! between simulated and measured service times at equal rank, divided by the mean measured time (Ruemmler and Wilkes).
//! It compares distributions because a trace does not tell the rotational position at its start, and it can hide errors
//! that cancel between reads and writes; both classes are therefore reported too, and the share of requests that agree
//! one by one.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and nanoseconds of a validation stay far below 2^53, and pauses are not negative"
)]

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use seeklab_model::layers::device::hdd::{Hdd, Params};
use seeklab_spec::Op;
use seeklab_spec::trace::MAX_LINE_BYTES;

/// Requests whose simulated time lies within so many ns of the measured one agree one by one.
const CLOSE_NS: f64 = 300_000.0;

/// The columns a trace must have.
const COLUMNS: [&str; 5] = ["op", "lbn", "blocks", "service_us", "next_interarrival_us"];

/// Most requests of a measured trace.
const MAX_REQUESTS: usize = 1 << 21;

/// One measured request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRequest {
    /// Direction.
    pub op: Op,
    /// First 512-byte block.
    pub lbn: u64,
    /// Number of blocks, at least 1.
    pub sectors: u32,
    /// Measured time from issue to completion in microseconds.
    pub service_us: f64,
    /// Pause from this completion to the next issue in microseconds.
    pub pause_us: f64,
}

/// Something in a trace that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found {found}, {accepted}")]
pub struct TraceError {
    /// Line number, the first is 1.
    pub line: u64,
    /// Text found.
    pub found: String,
    /// Accepted text.
    pub accepted: String,
}

/// How near the disk model comes to measured service times, over the requests of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClassAgreement {
    /// Requests in the class.
    pub requests: u64,
    /// Mean simulated service time.
    pub mean_ms: f64,
    /// Mean measured service time.
    pub measured_mean_ms: f64,
    /// The first less the second: positive when the model is too slow.
    pub bias_ms: f64,
    /// Root mean square of the differences at equal rank.
    pub rms_ms: f64,
    /// `rms_ms` over `measured_mean_ms`.
    pub demerit: f64,
    /// Share of requests whose own two times differ by at most 0.3 ms.
    #[serde(skip)]
    pub within_300_us: f64,
}

/// Agreement over a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Validation {
    /// Every request.
    pub all: ClassAgreement,
    /// Reads only, ranked among themselves.
    pub read: ClassAgreement,
    /// Writes only, ranked among themselves.
    pub write: ClassAgreement,
}

/// Reads a trace: CSV with a header line naming at least `op` (R or W), `lbn`, `blocks`, `service_us`,
/// `next_interarrival_us`, in any order; other columns are passed over, and so are empty lines.
///
/// # Errors
/// The first line that cannot be read.
pub fn parse_trace(csv_text: &str) -> Result<Vec<TraceRequest>, TraceError> {
    let mut lines = csv_text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let (header, header_line) = lines.next().unwrap_or(("", 1));
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = header.split(',').position(|name| name.trim() == column).ok_or_else(|| TraceError {
            line: header_line,
            found: format!("a header without {column}"),
            accepted: format!("write a header with the columns {}", COLUMNS.join(", ")),
        })?;
    }
    let mut requests = Vec::new();
    for (text, line) in lines {
        let refuse = |found: String, accepted: String| TraceError { line, found, accepted };
        if text.len() > MAX_LINE_BYTES {
            return Err(refuse(format!("{} bytes", text.len()), format!("write lines of at most {MAX_LINE_BYTES} bytes")));
        }
        if requests.len() == MAX_REQUESTS {
            return Err(refuse("one request too many".to_owned(), format!("write at most {MAX_REQUESTS} requests")));
        }
        requests.push(parse_line(text, line, places)?);
    }
    Ok(requests)
}

fn parse_line(text: &str, line: u64, places: [usize; COLUMNS.len()]) -> Result<TraceRequest, TraceError> {
    let field = |column: usize| text.split(',').nth(places[column]).unwrap_or_default().trim();
    let refuse = |column: usize, accepted: &str| TraceError {
        line,
        found: format!("{} {:?}", COLUMNS[column], field(column)),
        accepted: accepted.to_owned(),
    };
    let op = match field(0) {
        "R" => Op::Read,
        "W" => Op::Write,
        _ => return Err(refuse(0, "write R or W")),
    };
    let lbn = field(1).parse().map_err(|_| refuse(1, "write a block number"))?;
    let sectors = match field(2).parse() {
        Ok(sectors) if sectors > 0 => sectors,
        _ => return Err(refuse(2, "write a number of blocks from 1 on")),
    };
    let time = |column: usize| match field(column).parse::<f64>() {
        Ok(us) if (0.0..1e12).contains(&us) => Ok(us),
        _ => Err(refuse(column, "write a time in microseconds, 0 or more")),
    };
    Ok(TraceRequest { op, lbn, sectors, service_us: time(3)?, pause_us: time(4)? })
}

/// A request's direction, its simulated and its measured service time, in ns.
pub type Times = (Op, f64, f64);

/// Replays a trace on a drive that starts at time 0 and compares.
#[must_use]
pub fn validate(params: &Params, trace: &[TraceRequest]) -> Validation {
    judge(&replay(params, trace))
}

/// Replays a trace on a drive that starts at time 0: the times of each request, in the trace's order.
#[must_use]
pub fn replay(params: &Params, trace: &[TraceRequest]) -> Vec<Times> {
    let mut hdd = Hdd::new(Arc::new(params.clone()));
    let mut now_ns = 0;
    trace
        .iter()
        .map(|request| {
            let service = hdd.serve(now_ns, request.op, request.lbn, request.sectors);
            let simulated = (service.done_ns - now_ns) as f64;
            now_ns = service.done_ns + (request.pause_us * 1000.0 + 0.5) as u64;
            (request.op, simulated, request.service_us * 1000.0)
        })
        .collect()
}

/// Compares simulated with measured times, over all requests and by class.
#[must_use]
pub fn judge(times: &[Times]) -> Validation {
    Validation { all: compare(times, |_| true), read: compare(times, |op| op == Op::Read), write: compare(times, |op| op == Op::Write) }
}

/// Compares the (simulated, measured) times of the requests that `wanted` keeps; all zero where there are none.
fn compare(times_ns: &[Times], wanted: impl Fn(Op) -> bool) -> ClassAgreement {
    let kept = || times_ns.iter().filter(|(op, ..)| wanted(*op));
    let mut simulated: Vec<f64> = kept().map(|(_, simulated, _)| *simulated).collect();
    let mut measured: Vec<f64> = kept().map(|(.., measured)| *measured).collect();
    let close = kept().filter(|(_, simulated, measured)| (simulated - measured).abs() <= CLOSE_NS).count();
    let requests = simulated.len() as u64;
    if requests == 0 {
        return ClassAgreement::default();
    }
    let count = requests as f64;
    simulated.sort_unstable_by(f64::total_cmp);
    measured.sort_unstable_by(f64::total_cmp);
    let squares: f64 = simulated.iter().zip(&measured).map(|(a, b)| (a - b) * (a - b)).sum();
    let measured_mean_ms = measured.iter().sum::<f64>() / count / 1e6;
    let mean_ms = simulated.iter().sum::<f64>() / count / 1e6;
    let rms_ms = (squares / count).sqrt() / 1e6;
    ClassAgreement {
        requests,
        mean_ms,
        measured_mean_ms,
        bias_ms: mean_ms - measured_mean_ms,
        rms_ms,
        demerit: if measured_mean_ms > 0.0 { rms_ms / measured_mean_ms } else { 0.0 },
        within_300_us: close as f64 / count,
    }
}

#[cfg(test)]
mod tests {
    use seeklab_spec::testing::assert_problem;

    use super::*;

    const HEADER: &str = "op,buffer_action,lbn,blocks,service_us,next_interarrival_us\n";

    #[test]
    fn a_trace_is_read_by_its_column_names() {
        let text = "lbn,op,blocks,service_us,next_interarrival_us\n\n7,W,2,13.5,100\n";
        let expected = TraceRequest { op: Op::Write, lbn: 7, sectors: 2, service_us: 13.5, pause_us: 100.0 };
        assert_eq!(parse_trace(text), Ok(vec![expected]));
    }

    #[test]
    fn a_broken_line_is_named_with_what_stands_there() {
        let error = parse_trace(&format!("{HEADER}R,Hit,1,2,3,4\nR,Hit,1,0,3,4\n")).expect_err("no blocks");
        assert_problem(error, "line 3: blocks \"0\", 1");
        let error = parse_trace(&format!("{HEADER}X,Hit,1,2,3,4\n")).expect_err("no such op");
        assert_problem(error, "line 2: op \"X\", R, W");
        let error = parse_trace("op,lbn\n").expect_err("columns missing");
        assert_eq!(error.line, 1);
    }

    #[test]
    fn a_line_that_is_too_long_to_be_one_is_refused() {
        let error = parse_trace(&format!("{HEADER}{}\n", "R".repeat(MAX_LINE_BYTES + 1))).expect_err("no line");
        assert_problem(error, "line 2: 4097, 4096");
    }

    #[test]
    fn the_demerit_compares_ranks_and_the_share_within_300_us_compares_requests() {
        let swapped = [(Op::Read, 1e6, 2e6), (Op::Read, 2e6, 1e6)];
        let result = compare(&swapped, |_| true);
        assert!(result.demerit.abs() < f64::EPSILON);
        assert!(result.within_300_us.abs() < f64::EPSILON);
        let slow = [(Op::Read, 1.2e6, 1e6), (Op::Write, 9e6, 1e6)];
        let result = compare(&slow, |op| op == Op::Read);
        assert!((result.demerit - 0.2).abs() < 1e-9 && result.requests == 1);
        assert!((result.within_300_us - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn opposite_errors_of_reads_and_writes_cancel_in_the_whole_and_show_apart() {
        // Reads 2 ms too slow, writes 2 ms too fast: 6 for 4, and 6 for 8.
        let result = judge(&[(Op::Read, 6e6, 4e6), (Op::Write, 6e6, 8e6)]);
        assert!(result.all.bias_ms.abs() < 1e-12);
        assert!((result.read.bias_ms - 2.0).abs() < 1e-12 && (result.write.bias_ms + 2.0).abs() < 1e-12);
        assert!((result.read.demerit - 0.5).abs() < 1e-12 && (result.write.demerit - 0.25).abs() < 1e-12);
    }
}
