//! The bytes of a write: buffers as fio makes them, and their reduction in the storage.
//!
//! Modelled: fio's options by version. A compress percentage leaves so much of each chunk empty, or fills it with the pattern; the
//! chunk is the block before fio 3.2 and 512 bytes from then on. The buffer is made once and sent again and again, unless
//! `refill_buffers` is on, which a compress or dedupe percentage implies in 2.20 and later. What is not refilled is scrambled: a
//! few bytes of every 512 are overwritten, enough to defeat deduplication, but not once a percentage is asked for (2.20 and later),
//! nor with a pattern, nor with zero buffers unless asked for. Behaviour of 3.33 was checked against the real one, file by file;
//! that of 2.1.3 and 2.20 is taken from how the option interplay is described for them, and was not compared with the programs.
//!
//! Reduction, in this order: blocks of nothing but zeros are suppressed; of the rest, blocks with a fingerprint seen before are
//! dropped; what is left is compressed in units with LZ4's block format (`lz4_flex`), and kept as it is where that does not help.
//! Left out: fio's exact random bytes, verify headers, the time that reduction takes, and metadata.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "an analysis looks at 64 MiB at most, which fits every type here"
)]

use std::collections::BTreeSet;
use std::hash::Hasher;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use seeklab_kernel::Stream;
use seeklab_model::result::metrics::{Metrics, Unit, each};
use seeklab_spec::reduction::{FioVersion, ReductionSpec, pattern};
use seeklab_spec::{Problem, Problems, Scenario};

const SECTOR: usize = 512;

fn fill_random(random: &mut Stream, bytes: &mut [u8]) {
    for word in bytes.chunks_mut(8) {
        let number = random.below(u64::MAX).to_le_bytes();
        word.copy_from_slice(&number[..word.len()]);
    }
}

fn fill_pattern(pattern: &[u8], bytes: &mut [u8]) {
    for (byte, value) in bytes.iter_mut().zip(pattern.iter().cycle()) {
        *byte = *value;
    }
}

/// Writes of `bs` bytes, one after the other.
#[must_use]
pub fn buffers(spec: &ReductionSpec, bs: usize, seed: u64) -> Vec<u8> {
    let mut random = Stream::new(seed, "buffers");
    let pattern = spec.buffer_pattern.as_deref().and_then(pattern).unwrap_or_default();
    let percent = spec.buffer_compress_percentage as usize;
    let shaped = percent > 0 || spec.dedupe_percentage > 0;
    let modern = spec.fio >= FioVersion::V2017;
    let refills = spec.refill_buffers.unwrap_or(modern && shaped);
    let scrambles = spec.scramble_buffers.unwrap_or(!spec.zero_buffers && pattern.is_empty()) && !refills && !(modern && shaped);
    let default_chunk = if spec.fio >= FioVersion::V2022 { SECTOR } else { bs };
    let chunk = spec.buffer_compress_chunk.map_or(default_chunk, |chunk| chunk.0 as usize).min(bs);

    let mut make = |bytes: &mut [u8]| {
        if percent > 0 {
            for part in bytes.chunks_mut(chunk) {
                let filled = (chunk * (100 - percent) / 100).min(part.len());
                let (noise, rest) = part.split_at_mut(filled);
                fill_random(&mut random, noise);
                fill_pattern(&pattern, rest);
            }
        } else if !pattern.is_empty() {
            fill_pattern(&pattern, bytes);
        } else if !spec.zero_buffers {
            fill_random(&mut random, bytes);
        }
    };
    let mut repeats = Stream::new(seed, "buffers/dedupe");
    let mut random_time = Stream::new(seed, "buffers/time");
    let mut all = vec![0; bs * spec.buffers as usize];
    for nth in 0..spec.buffers as usize {
        let (before, now) = all.split_at_mut(nth * bs);
        let now = &mut now[..bs];
        if nth == 0 || (refills && repeats.below(100) >= u64::from(spec.dedupe_percentage)) {
            make(now);
        } else {
            now.copy_from_slice(&before[(nth - 1) * bs..]);
        }
        if scrambles {
            // The address into one of the eight lines of each sector, the time into the first; both differ from write to write.
            let time = random_time.below(1_000_000_000);
            let line = (time & 7) as usize * 64;
            for (sector, bytes) in now.chunks_exact_mut(SECTOR).enumerate() {
                let place = (nth * bs + sector * SECTOR) as u64;
                bytes[line..][..8].copy_from_slice(&place.to_le_bytes());
                bytes[48..56].copy_from_slice(&1u64.to_le_bytes());
                bytes[56..64].copy_from_slice(&time.to_le_bytes());
            }
        }
    }
    all
}

/// The bytes left after each step of reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reduced {
    /// Bytes that came in.
    pub bytes: u64,
    /// After zero blocks were suppressed.
    pub after_zeros: u64,
    /// After duplicates were dropped.
    pub after_duplicates: u64,
    /// After compression.
    pub after_compression: u64,
    /// Bytes left after zero suppression and compression, without deduplication.
    pub compressed_alone: u64,
}

fn compressed(bytes: &[u8], unit: usize) -> u64 {
    let of = |part: &[u8]| lz4_flex::block::compress(part).len().min(part.len()) as u64;
    bytes.chunks(unit).map(of).sum()
}

/// A fingerprint of a block: two hashes with different starts, 128 bits.
fn fingerprint(block: &[u8]) -> u128 {
    let half = |start: u64| {
        let mut hasher = std::hash::DefaultHasher::new(); // SipHash with fixed keys: the same on every host
        hasher.write_u64(start);
        hasher.write(block);
        hasher.finish()
    };
    u128::from(half(1)) << 64 | u128::from(half(2))
}

/// Reduces bytes.
#[must_use]
pub fn reduce(bytes: &[u8], block: usize, unit: usize) -> Reduced {
    let mut seen = BTreeSet::new();
    let (mut nonzero, mut unique) = (Vec::new(), Vec::new());
    for part in bytes.chunks(block.max(1)).filter(|part| part.iter().any(|byte| *byte != 0)) {
        nonzero.extend_from_slice(part);
        if seen.insert(fingerprint(part)) {
            unique.extend_from_slice(part);
        }
    }
    Reduced {
        bytes: bytes.len() as u64,
        after_zeros: nonzero.len() as u64,
        after_duplicates: unique.len() as u64,
        after_compression: compressed(&unique, unit.max(1)),
        compressed_alone: compressed(&nonzero, unit.max(1)),
    }
}

/// Reports what the storage makes of the first job's buffers.
pub fn metrics(spec: &ReductionSpec, scenario: &Scenario, seed: u64, metrics: &mut Metrics) {
    let bs = scenario.jobs.first().map_or(SECTOR, |job| job.bs.0 as usize);
    let found = reduce(&buffers(spec, bs, seed), spec.block.0 as usize, spec.unit.0 as usize);
    let saved = |left: u64, of: u64| if of == 0 { 0.0 } else { 100.0 * (1.0 - left as f64 / of as f64) };
    let ratio = |of: u64, left: u64| each(of as f64, left as f64);
    metrics.bytes("reduction_in_bytes", "Bytes given to the storage.", found.bytes);
    metrics.bytes("reduction_after_zeros_bytes", "Bytes left after blocks of zeros were suppressed.", found.after_zeros);
    metrics.bytes("reduction_after_duplicates_bytes", "Bytes left after duplicates were dropped.", found.after_duplicates);
    metrics.bytes("reduction_after_compression_bytes", "Bytes left after compression.", found.after_compression);
    metrics.percent("reduction_zeros_share_percent", "Share of bytes in blocks of zeros.", saved(found.after_zeros, found.bytes));
    metrics.percent(
        "reduction_duplicates_share_percent",
        "Duplicates as a share of the bytes outside blocks of zeros.",
        saved(found.after_duplicates, found.after_zeros),
    );
    metrics.add(
        "reduction_compression_ratio",
        "Compression ratio without deduplication, of all except zeros: bytes before divided by bytes after.",
        Unit::Times,
        ratio(found.after_zeros, found.compressed_alone),
    );
    metrics.add(
        "reduction_total_ratio",
        "Bytes given to the storage divided by bytes left.",
        Unit::Times,
        ratio(found.bytes, found.after_compression),
    );
}

/// Reduces a reader's own bytes: `{"hex", "block"?, "unit"?}`.
///
/// # Errors
/// When the text is not hexadecimal, or a size is not one.
pub fn answer(input: &Map<String, Value>) -> Result<Reduced, Problems> {
    let text = input.get("hex").and_then(Value::as_str).unwrap_or_default();
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect();
    let Some(bytes) = bytes else {
        return Err(vec![Problem::new("hex", "is not a string of pairs of hexadecimal digits")]);
    };
    let defaults = ReductionSpec::default();
    let size = |name: &str, default: u64| match input.get(name) {
        None => Ok(default),
        Some(value) => value
            .as_u64()
            .filter(|size| (1..=1 << 20).contains(size))
            .ok_or_else(|| vec![Problem::new(name, format!("{value} is not a size from 1 to 1048576 bytes"))]),
    };
    Ok(reduce(&bytes, size("block", defaults.block.0)? as usize, size("unit", defaults.unit.0)? as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(change: impl Fn(&mut ReductionSpec)) -> Reduced {
        let mut spec = ReductionSpec::default();
        change(&mut spec);
        reduce(&buffers(&spec, 64 << 10, 1), 4096, 32 << 10)
    }

    #[test]
    fn half_of_each_block_is_null_where_the_chunk_is_the_block() {
        let found = run(|spec| (spec.fio, spec.buffer_compress_percentage) = (FioVersion::V2017, 50));
        assert_eq!(found.after_zeros * 2, found.bytes);
        assert_eq!(found.compressed_alone, found.after_zeros);
    }

    #[test]
    fn chunks_of_a_sector_hide_their_nulls_from_zero_suppression() {
        let found = run(|spec| spec.buffer_compress_percentage = 50);
        assert_eq!(found.after_zeros, found.bytes);
        assert!(found.compressed_alone < found.bytes * 6 / 10);
    }

    #[test]
    fn a_buffer_that_is_sent_again_is_a_duplicate_unless_it_is_scrambled() {
        let found = run(|spec| spec.scramble_buffers = Some(false));
        assert_eq!(found.after_duplicates * 64, found.bytes);
        assert_eq!(run(|_| ()).after_duplicates, found.bytes);
    }

    #[test]
    fn the_fio_of_2013_scrambles_the_nulls_that_it_was_asked_for() {
        let found = run(|spec| (spec.fio, spec.buffer_compress_percentage) = (FioVersion::V2013, 50));
        assert_eq!(found.after_zeros, found.bytes);
    }

    #[test]
    fn zero_buffers_are_nothing_at_all_and_random_ones_stay() {
        assert_eq!(run(|spec| spec.zero_buffers = true).after_compression, 0);
        let found = run(|spec| spec.refill_buffers = Some(true));
        assert_eq!(found.after_compression, found.bytes);
    }
}
