//! Compression of records in a scenario.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Bytes;
use crate::reader::FromJson;

/// Compression of records. Default rates: LZ4 1.9.0 on one core of 4.9 GHz, as its authors measured it with the Silesia corpus.
#[derive(Clone, Copy, Debug, FromJson, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompressionSpec {
    /// Length of a record over its length after compression. A record that saves less than an eighth is stored as it is.
    #[schemars(title = "Compression ratio", range(min = 1, max = 1000))]
    pub ratio: f64,
    /// Bytes per second that one core compresses.
    #[serde(default = "compress_rate")]
    #[schemars(title = "Compression rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub rate: Bytes,
    /// Bytes per second that one core decompresses.
    #[serde(default = "decompress_rate")]
    #[schemars(title = "Decompression rate", extend("minimum" = 1_000_000, "maximum" = 1_000_000_000_000_u64, "x-unit" = "B/s", "x-scale" = "log2"))]
    pub decompress_rate: Bytes,
}

fn compress_rate() -> Bytes {
    Bytes(780_000_000)
}
fn decompress_rate() -> Bytes {
    Bytes(4_970_000_000)
}
