//! The fingerprint of a run: a hash of its completed operations, equal on every host, that others can compute from its log.
//!
//! It is XXH64 with seed 0, as published, over 64-bit little-endian words. A run adds five words for each completed operation,
//! in order of completion: twice the number of its job, plus 1 for a write; its offset from the start of the job's region; its
//! bytes; when it was submitted; when it completed, both in nanoseconds. These are columns of the operation log.

use xxhash_rust::xxh64::Xxh64;

/// Bytes that wait to be hashed together: a multiple of the hash's stripe of 32, so that it never has to keep a part of one, and of
/// the five words of an operation.
const WAITING_BYTES: usize = 320;

/// A 64-bit hash over words.
#[derive(Clone)]
pub struct Fingerprint {
    hash: Xxh64,
    waiting: [u8; WAITING_BYTES],
    /// How many of them there are.
    len: usize,
}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fingerprint").field(&self.hex()).finish()
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self { hash: Xxh64::new(0), waiting: [0; WAITING_BYTES], len: 0 }
    }
}

impl Fingerprint {
    /// Adds words; more than may wait do not compile.
    #[inline]
    pub fn add<const N: usize>(&mut self, words: [u64; N]) {
        const { assert!(N * 8 <= WAITING_BYTES) };
        if self.len + N * 8 > WAITING_BYTES {
            self.hash_waiting();
        }
        let end = self.len + N * 8;
        for (place, word) in self.waiting[self.len..end].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.len = end;
    }

    #[inline(never)]
    fn hash_waiting(&mut self) {
        self.hash.update(&self.waiting[..self.len]);
        self.len = 0;
    }

    /// The fingerprint as a number.
    #[must_use]
    pub fn value(&self) -> u64 {
        let mut all = self.clone();
        all.hash_waiting();
        all.hash.digest()
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
    fn it_is_the_same_however_many_words_come_together() {
        let words: Vec<u64> = (0..1000_u64).map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let (mut fives, mut ones) = (Fingerprint::default(), Fingerprint::default());
        for (number, five) in words.as_chunks::<5>().0.iter().enumerate() {
            fives.add(*five);
            for word in five {
                ones.add([*word]);
            }
            let bytes: Vec<u8> = words[..(number + 1) * 5].iter().flat_map(|word| word.to_le_bytes()).collect();
            let published = xxhash_rust::xxh64::xxh64(&bytes, 0);
            assert_eq!((fives.value(), ones.value()), (published, published));
        }
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
