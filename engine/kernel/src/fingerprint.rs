//! The fingerprint of a run: a hash of its completed operations, equal on every host, that others can compute from its log.
//!
//! It is XXH64 with seed 0, as published, over 64-bit little-endian words. A run adds five words for each completed operation,
//! in order of completion: twice the number of its job, plus 1 for a write; its offset from the start of the job's region; its
//! bytes; when it was submitted; when it completed, both in nanoseconds. These are columns of the operation log.

use xxhash_rust::xxh64::Xxh64;

/// A 64-bit hash over words.
#[derive(Clone)]
pub struct Fingerprint(Xxh64);

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fingerprint").field(&self.hex()).finish()
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self(Xxh64::new(0))
    }
}

impl Fingerprint {
    /// Adds words.
    #[inline]
    pub fn add<const N: usize>(&mut self, words: [u64; N]) {
        let mut bytes = [0; 64];
        let (bytes, _) = bytes.split_at_mut(N * 8);
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.0.update(bytes);
    }

    /// The fingerprint as a number.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.digest()
    }

    /// The fingerprint as 16 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:016x}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_hash() {
        assert_eq!(Fingerprint::default().hex(), "ef46db3751d8e999", "of nothing, as XXH64's own test vectors have it");
        let mut print = Fingerprint::default();
        print.add([1, 2]);
        print.add([3, 4, 5]);
        let bytes: Vec<u8> = (1..=5_u64).flat_map(u64::to_le_bytes).collect();
        assert_eq!(print.value(), xxhash_rust::xxh64::xxh64(&bytes, 0));
    }

    #[test]
    fn order_and_value_both_matter() {
        let of = |words: &[u64]| {
            let mut print = Fingerprint::default();
            for word in words {
                print.add([*word]);
            }
            print.value()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[]));
        assert_eq!(of(&[7, 8, 9]), of(&[7, 8, 9]));
    }
}
