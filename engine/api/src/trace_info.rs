//! The contents of a trace, and how a run replayed it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use seeklab_spec::Op;
use seeklab_spec::trace::{Row, Target, Trace};
use serde::Serialize;

/// Requests that a description shows.
const FIRST: usize = 3;

/// A request of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceRequest {
    /// Its line, from 1.
    pub line: u32,
    /// From the first request.
    pub time_ns: u64,
    /// Direction.
    pub op: &'static str,
    /// Start within its target.
    pub offset: u64,
    /// Length.
    pub bytes: u32,
    /// Name of its file or device.
    pub target: String,
}

/// The contents of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TraceInfo {
    /// Format that it was read from.
    pub format: &'static str,
    /// Requests.
    pub requests: usize,
    /// Requests that read.
    pub reads: usize,
    /// Requests that write.
    pub writes: usize,
    /// Bytes of all requests.
    pub bytes: u64,
    /// From the first request to the last.
    pub span_ns: u64,
    /// The farthest beginning of a request; null where there is no request.
    pub largest_offset: Option<u64>,
    /// End of the farthest request.
    pub end_bytes: u64,
    /// Whether response times were recorded.
    pub response_times: bool,
    /// Targets of the requests.
    pub targets: Vec<Target>,
    /// Parts of the text that a replay skips, by name.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Requests that were widened to whole sectors.
    pub widened: u64,
    /// Requests that followed one with a later time and were sorted.
    pub reordered: u64,
    /// The first requests.
    pub first: Vec<TraceRequest>,
}

impl TraceRequest {
    fn of(trace: &Trace, row: &Row) -> Self {
        Self {
            line: row.line,
            time_ns: row.time_ns,
            op: if row.op == Op::Read { "read" } else { "write" },
            offset: row.offset,
            bytes: row.bytes,
            target: trace.targets.get(usize::from(row.target)).map_or_else(String::new, |target| target.name.clone()),
        }
    }
}

impl TraceInfo {
    /// Describe this trace.
    pub(crate) fn of(trace: &Trace) -> Self {
        let reads = trace.rows.iter().filter(|row| row.op == Op::Read).count();
        Self {
            format: trace.format.name(),
            requests: trace.rows.len(),
            reads,
            writes: trace.rows.len() - reads,
            bytes: trace.rows.iter().map(|row| u64::from(row.bytes)).sum(),
            span_ns: trace.span_ns(),
            largest_offset: trace.rows.iter().map(|row| trace.address(row)).max(),
            end_bytes: trace.end(),
            response_times: trace.has_responses(),
            targets: trace.targets.clone(),
            skipped: trace.skipped.clone(),
            widened: trace.widened,
            reordered: trace.reordered,
            first: trace.rows.iter().take(FIRST).map(|row| TraceRequest::of(trace, row)).collect(),
        }
    }
}

/// The trace that a run replayed, and how.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Replayed {
    /// Contents of the trace.
    #[serde(flatten)]
    pub trace: TraceInfo,
    /// When its requests were issued.
    pub mode: &'static str,
    /// Queue depth; null for `open`, which has none.
    pub iodepth: Option<u64>,
    /// Factor of its times.
    pub scale: f64,
}
