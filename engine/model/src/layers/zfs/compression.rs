//! Compression: less of each record on the devices, for time of the processors.
//!
//! A record is compressed as a whole when its group is written, and stored in whole sectors; one that saves less than an eighth is stored as
//! it is. A read takes what is stored, and decompresses it. All records have the same ratio.
//!
//! Source: `zio_compress.c` (an eighth), `zio.c`. Dirty data are not compressed, nor are blocks of the intent log. Left out: the ARC and cache devices
//! count records uncompressed, although the ARC keeps them compressed since 0.7; the time that a record costs which is not worth compressing
//! beyond its attempt (2.2 gives up early with zstd).

use crate::layers::device::transfer_ns;
use seeklab_spec::zfs::CompressionSpec;

/// Records on the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// Bytes of each.
    pub bytes: u64,
    /// Time of one core to compress and to decompress one.
    pub compress_ns: u64,
    pub decompress_ns: u64,
}

impl Stored {
    /// Records of `record_bytes` in sectors of `sector_bytes`.
    pub fn new(spec: Option<&CompressionSpec>, record_bytes: u64, sector_bytes: u64) -> Self {
        let Some(spec) = spec else { return Self { bytes: record_bytes, compress_ns: 0, decompress_ns: 0 } };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // at most a record
        let compressed = (record_bytes as f64 / spec.ratio).ceil() as u64;
        let bytes = compressed.max(1).next_multiple_of(sector_bytes);
        let saves = bytes <= record_bytes - record_bytes / 8;
        Self {
            bytes: if saves { bytes } else { record_bytes },
            compress_ns: transfer_ns(record_bytes, spec.rate.0),
            decompress_ns: if saves { transfer_ns(record_bytes, spec.decompress_rate.0) } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{metric, run};
    use seeklab_spec::Bytes;

    #[test]
    fn records_are_stored_in_sectors_and_only_where_it_saves_an_eighth() {
        let bytes = |ratio, record| {
            let spec = CompressionSpec { ratio, rate: Bytes(1_000_000_000), decompress_rate: Bytes(4_000_000_000) };
            let stored = Stored::new(Some(&spec), record, 4096);
            (stored.bytes, stored.compress_ns, stored.decompress_ns)
        };
        assert_eq!(bytes(2.0, 131_072), (65_536, 131_072, 32_768));
        assert_eq!(bytes(3.0, 131_072).0, 45_056, "43,691 in sectors of 4 KiB");
        assert_eq!(bytes(1.1, 131_072), (131_072, 131_072, 0), "a tenth is not worth it, but was tried");
        assert_eq!(bytes(10.0, 4096).0, 4096, "less than a sector");
    }

    /// MB/s of writes and of reads in order of a file on one disk-like unit of 100 MB/s.
    fn rates(zfs: &Value) -> [f64; 2] {
        let mut all =
            json!({"era": "openzfs-2.2", "dirty_data_max": "32MiB", "txg_timeout": "1s", "arc": {"size": "64MiB"}, "prefetch": {}});
        all.as_object_mut().expect("an object").extend(zfs.as_object().cloned().unwrap_or_default());
        ["write", "read"].map(|rw| {
            let stack = run(&json!({
                "zfs": all, "devices": [{"lun": {"capacity": "10GB", "rate": "100MB"}}],
                "jobs": [{"name": "job", "rw": rw, "bs": "128KiB", "size": "1GiB"}],
            }));
            metric(&stack, &format!("job.{rw}_mib_per_s")) * 1.048_576
        })
    }

    #[test]
    fn the_ratio_multiplies_the_rate_until_the_cores_are_the_limit() {
        let [write, read] = rates(&json!({}));
        let [write_2, read_2] = rates(&json!({"compression": {"ratio": 2}}));
        assert!((1.9..2.1).contains(&(read_2 / read)), "{read} -> {read_2} MB/s");
        assert!((1.8..2.2).contains(&(write_2 / write)), "{write} -> {write_2} MB/s");
        let [slow, _] = rates(&json!({"compression": {"ratio": 2, "rate": "10MB"}, "cores": 8}));
        assert!((70.0..90.0).contains(&slow), "{slow} MB/s: eight cores of 10 MB/s");
    }
}
