//! Read-ahead that the engine's host decides: the run stops at each read, asks what to fetch for it, and continues with the answer.
//!
//! [`Question`] is what a file system knows at that moment; what was read before the host remembers itself, in as much memory as
//! it likes.

use seeklab_spec::Problem;
use serde_json::{Map, Value};

/// Most records that one answer may fetch.
const MAX_RECORDS: u64 = 65_536;

/// A run of neighbouring blocks of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The first.
    pub block: u64,
    /// How many.
    pub blocks: u64,
}

/// A read, to which the host answers with runs of records of the same file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Question {
    /// The present, in nanoseconds since the start of the run.
    pub now_ns: u64,
    /// Number of the file.
    pub file: u64,
    /// First record of the read, from the start of the file.
    pub record: u64,
    /// How many records it touches.
    pub records: u64,
    /// Records of the file.
    pub file_records: u64,
    /// Whether all were in memory or in flight.
    pub found: bool,
    /// Whether one was still in flight because it had been read ahead.
    pub late: bool,
    /// Bytes of a record.
    pub record_bytes: u64,
    /// Bytes of memory that may hold records.
    pub memory_bytes: u64,
    /// Bytes that are in flight into it.
    pub arriving_bytes: u64,
    /// Bytes read ahead so far that were evicted before anybody had used them.
    pub wasted_bytes: u64,
    /// The worker that reads.
    #[serde(skip)]
    pub worker: u32,
}

/// The runs of an answer `{"runs": [[record, records], ...]}`.
///
/// # Errors
/// When it has none, or more records than one answer may fetch.
pub fn runs(answer: &Map<String, Value>) -> Result<Vec<Run>, Problem> {
    let given = answer.get("runs").unwrap_or(&Value::Null);
    let run = |run: &Value| match run.as_array().map(Vec::as_slice) {
        Some([block, blocks]) => Some(Run { block: block.as_u64()?, blocks: blocks.as_u64()? }),
        _ => None,
    };
    let runs: Option<Vec<Run>> = given.as_array().and_then(|runs| runs.iter().map(run).collect());
    let few = |runs: &Vec<Run>| runs.iter().fold(0u64, |sum, run| sum.saturating_add(run.blocks)) <= MAX_RECORDS;
    runs.filter(few).ok_or_else(|| {
        let message = format!("{given} is not a read-ahead; answer with a list of [record, count] with at most {MAX_RECORDS} records");
        Problem::new("runs", message)
    })
}
