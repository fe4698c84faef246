//! The fingerprint of a run: a hash of its completed operations, equal on every host.

/// A 64-bit hash over words (multiply, rotate, multiply; the constants are odd numbers with well spread bits, from the
/// fractional parts of the golden ratio and of the square root of two).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0x6a09_e667_f3bc_c909)
    }
}

impl Fingerprint {
    /// Adds a word.
    pub fn add(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (mixed ^ (mixed >> 29)).rotate_left(17).wrapping_mul(0x6a09_e667_f3bc_c909);
    }

    /// The fingerprint as a number.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }

    /// The fingerprint as 16 hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_value_both_matter() {
        let of = |words: &[u64]| {
            let mut print = Fingerprint::default();
            for word in words {
                print.add(*word);
            }
            print.hex()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[]));
        assert_eq!(of(&[7, 8, 9]), of(&[7, 8, 9]));
    }
}
