//! The attribute cache: when the client last heard of each file.

use crate::blocks::Blocks;
use seeklab_cache::PolicyKind;

/// Files whose attributes a client keeps; the least recently used leaves.
const MAX_FILES: u64 = 65_536;

/// Attributes of files by the file's number, with the time they came.
#[derive(Debug)]
pub struct Attributes {
    files: Blocks,
    /// By slot.
    came_ns: Vec<u64>,
    good_ns: u64,
}

impl Attributes {
    /// An empty cache in which attributes are good for `good_ns`.
    #[must_use]
    pub fn new(good_ns: u64) -> Self {
        Self { files: Blocks::new(PolicyKind::Lru, MAX_FILES), came_ns: Vec::new(), good_ns }
    }

    /// Whether a file's attributes are known and still good. O(1) expected.
    pub fn is_known(&mut self, file: u64, now_ns: u64) -> bool {
        let Some(place) = self.files.find(file) else { return false };
        self.files.touch(place);
        now_ns - self.came_ns[place as usize] < self.good_ns
    }

    /// Keeps what has come of a file now. O(1) expected.
    pub fn keep(&mut self, file: u64, now_ns: u64) {
        self.forget(file);
        self.files.add(file, seeklab_cache::NONE, seeklab_cache::NONE);
        if let Some(place) = self.files.find(file) {
            let place = place as usize;
            self.came_ns.resize(self.came_ns.len().max(place + 1), 0);
            self.came_ns[place] = now_ns;
        }
    }

    /// Forgets a file.
    pub fn forget(&mut self, file: u64) {
        if self.files.find(file).is_some() {
            self.files.remove(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_good_until_their_time_is_over_or_the_file_is_gone() {
        let mut attributes = Attributes::new(10);
        assert!(!attributes.is_known(7, 0));
        attributes.keep(7, 100);
        assert!(attributes.is_known(7, 109));
        assert!(!attributes.is_known(7, 110));
        attributes.keep(7, 110);
        assert!(attributes.is_known(7, 119));
        attributes.forget(7);
        assert!(!attributes.is_known(7, 111));
    }
}
