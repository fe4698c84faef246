//! Traces of block requests in others' formats.
//!
//! Four formats, one a file: fio's own log of a job ([`fio_iolog`]), the text of blkparse ([`blkparse`]), the CSV of the MSR
//! Cambridge traces ([`msr`]) and the operation log of a run of ours ([`operations`]). [`read`] tells them apart by their
//! first line. A trace is read whole or not at all: the first line that cannot be read is an error with its number. What a format
//! records besides reads and writes (flushes, discards) is not replayed, and counted by name in [`Trace::skipped`].

pub mod blkparse;
mod draft;
pub mod fio_iolog;
pub mod msr;
pub mod operations;
mod text;

use draft::Draft;
use seeklab_cache::trace as cache_trace;
use seeklab_spec::trace::{Fault, Format, MAX_TEXT_BYTES, Problem, Trace};

/// A text without its byte order mark.
fn unmarked(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The first line that is not empty, with its number.
fn first_line(text: &[u8]) -> Option<(u32, &[u8])> {
    text::lines(text).find(|(_, line)| !line.is_empty())
}

/// Reads a trace in `format`, or in the one that its first line shows.
///
/// # Errors
/// The first line that cannot be read, or that there is no request.
pub fn read(text: &[u8], format: Option<Format>) -> Result<Trace, Problem> {
    let text = unmarked(text);
    if text.len() > MAX_TEXT_BYTES {
        return Err(Problem { line: 1, fault: Fault::TooLong { found: text.len() } });
    }
    let Some((line, first)) = first_line(text) else {
        return Err(Problem { line: 1, fault: Fault::Empty });
    };
    let Some(format) = format.or_else(|| detect(first)) else {
        return Err(Problem { line: line.into(), fault: Fault::Unknown { found: text::shown(first) } });
    };
    let mut draft = Draft::default();
    match format {
        Format::FioIologV2 => fio_iolog::read(text, 2, &mut draft)?,
        Format::FioIologV3 => fio_iolog::read(text, 3, &mut draft)?,
        Format::Blkparse => blkparse::read(text, &mut draft)?,
        Format::MsrCambridge => msr::read(text, &mut draft)?,
        Format::Operations => operations::read(text, &mut draft)?,
    }
    let last_line = text::lines(text).last().map_or(1, |(line, _)| line);
    draft.finish(format).ok_or(Problem { line: last_line.into(), fault: Fault::Empty })
}

/// The format of a text, by its first line that is not empty.
#[must_use]
pub fn format_of(text: &[u8]) -> Option<Format> {
    detect(first_line(unmarked(text))?.1)
}

/// The format whose first line (not empty) looks like this.
#[must_use]
pub fn detect(first_line: &[u8]) -> Option<Format> {
    if fio_iolog::is_header(first_line, 2) {
        Some(Format::FioIologV2)
    } else if fio_iolog::is_header(first_line, 3) {
        Some(Format::FioIologV3)
    } else if operations::is_header(first_line) {
        Some(Format::Operations)
    } else if msr::begins_with(first_line) {
        Some(Format::MsrCambridge)
    } else if blkparse::begins_with(first_line) {
        Some(Format::Blkparse)
    } else {
        None
    }
}

/// The blocks of `block_bytes` that the requests of a trace touch, in order, for caches.
///
/// # Errors
/// The request with which the cache's trace would grow too long.
pub fn to_cache_trace(trace: &Trace, block_bytes: u64) -> Result<cache_trace::Trace, cache_trace::Problem> {
    let mut builder = cache_trace::Builder::default();
    for row in &trace.rows {
        if !builder.push_extent(trace.address(row), row.bytes.into(), block_bytes) {
            return Err(cache_trace::Problem { line: row.line.into(), fault: cache_trace::Fault::TooMany });
        }
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests;
