//! The buffers of the first job in a scenario, and data reduction in the storage.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// Version of fio whose rules apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, FromJson, Serialize, JsonSchema)]
pub enum FioVersion {
    /// 2013.
    #[serde(rename = "2.1.3")]
    V2013,
    /// 2017.
    #[serde(rename = "2.20")]
    V2017,
    /// 2022, as in Debian 12.
    #[default]
    #[serde(rename = "3.33")]
    V2022,
}

/// The buffers that the first job writes, and how the storage reduces them.
#[derive(Clone, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReductionSpec {
    /// Version of fio.
    #[schemars(title = "fio version")]
    pub fio: FioVersion,
    /// Share of each chunk that is empty or holds the pattern.
    #[schemars(title = "Compress percentage", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub buffer_compress_percentage: u32,
    /// Chunk size that the share applies to. Default: the fio version's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Compress chunk", extend("minimum" = 512, "maximum" = 1_073_741_824, "x-scale" = "log2"))]
    pub buffer_compress_chunk: Option<Bytes>,
    /// Make a new buffer for each write. Default: as the other options imply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Refill buffers")]
    pub refill_buffers: Option<bool>,
    /// Overwrite a few bytes in each sector of a buffer that is sent again. Default: as the other options imply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Scramble buffers")]
    pub scramble_buffers: Option<bool>,
    /// Fill the buffers with zeros.
    #[schemars(title = "Zero buffers")]
    pub zero_buffers: bool,
    /// Bytes in hexadecimal that fill the buffer or the empty part of each chunk, such as 0xdeadbeef.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_pattern: Option<String>,
    /// Share of buffers that repeat the previous one.
    #[schemars(title = "Dedupe percentage", range(min = 0, max = 100), extend("x-unit" = "%"))]
    pub dedupe_percentage: u32,
    /// Number of buffers to analyse.
    #[schemars(title = "Buffers analysed", range(min = 1, max = 4096))]
    pub buffers: u32,
    /// Block size for zero suppression and deduplication.
    #[schemars(title = "Storage block", extend("minimum" = 512, "maximum" = 1_048_576))]
    pub block: Bytes,
    /// Bytes that are compressed together.
    #[schemars(title = "Compression unit", extend("minimum" = 512, "maximum" = 1_048_576))]
    pub unit: Bytes,
}

impl Default for ReductionSpec {
    fn default() -> Self {
        Self {
            fio: FioVersion::default(),
            buffer_compress_percentage: 0,
            buffer_compress_chunk: None,
            refill_buffers: None,
            scramble_buffers: None,
            zero_buffers: false,
            buffer_pattern: None,
            dedupe_percentage: 0,
            buffers: 64,
            block: Bytes(4096),
            unit: Bytes(32 << 10),
        }
    }
}

/// Return the bytes of a pattern in hexadecimal, such as `0xdeadbeef`; [`None`] if it is not one.
#[must_use]
pub fn pattern(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > 1024 {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
