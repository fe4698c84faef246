//! The cached pages and the bits of each, in chunks that exist once one of their pages does.

/// Words of a chunk in each of its bitmaps.
const WORDS: usize = 64;
/// Cached of a chunk: 16 MiB of a file cost 1.5 KiB here.
const CHUNK_PAGES: u64 = WORDS as u64 * 64;

type Bits = [u64; WORDS];

/// A stretch of pages.
#[derive(Clone)]
struct Chunk {
    cached: Bits,
    marked: Bits,
    unused: Bits,
}

/// The cached pages of an address space.
#[derive(Clone, Default)]
pub struct Cached {
    chunks: Vec<Option<Box<Chunk>>>,
    there: u64,
}

fn chunk_of(page: u64) -> usize {
    usize::try_from(page / CHUNK_PAGES).unwrap_or(usize::MAX)
}

#[allow(clippy::cast_possible_truncation)] // below WORDS
fn word_and_bit(page: u64) -> (usize, u64) {
    ((page % CHUNK_PAGES / 64) as usize, 1 << (page % 64))
}

impl Cached {
    fn bit(&self, page: u64, of: impl Fn(&Chunk) -> &Bits) -> bool {
        let (word, bit) = word_and_bit(page);
        self.chunks.get(chunk_of(page)).and_then(Option::as_ref).is_some_and(|chunk| of(chunk)[word] & bit != 0)
    }

    /// Clears a bit and says whether it was set.
    fn take(&mut self, page: u64, of: impl Fn(&mut Chunk) -> &mut Bits) -> bool {
        let (word, bit) = word_and_bit(page);
        let Some(chunk) = self.chunks.get_mut(chunk_of(page)).and_then(Option::as_mut) else { return false };
        let bits = of(chunk);
        let was = bits[word] & bit != 0;
        bits[word] &= !bit;
        was
    }

    /// Whether a page is cached, or in flight.
    #[must_use]
    pub fn has(&self, page: u64) -> bool {
        self.bit(page, |chunk| &chunk.cached)
    }

    /// Takes in a page, which may be there: one that was asked for, or one that was read ahead and that nobody has used.
    pub fn add(&mut self, page: u64, ahead: bool) {
        let place = chunk_of(page);
        if place >= self.chunks.len() {
            self.chunks.resize(place + 1, None);
        }
        let empty = || Box::new(Chunk { cached: [0; WORDS], marked: [0; WORDS], unused: [0; WORDS] });
        let chunk = self.chunks[place].get_or_insert_with(empty);
        let (word, bit) = word_and_bit(page);
        if chunk.cached[word] & bit == 0 {
            chunk.cached[word] |= bit;
            chunk.unused[word] |= if ahead { bit } else { 0 };
            self.there += 1;
        }
    }

    /// Sets the marker of a cached page.
    pub fn mark(&mut self, page: u64) {
        let (word, bit) = word_and_bit(page);
        if let Some(chunk) = self.chunks.get_mut(chunk_of(page)).and_then(Option::as_mut) {
            chunk.marked[word] |= bit;
        }
    }

    /// Clears the marker of a page, and says whether it had one.
    pub fn take_mark(&mut self, page: u64) -> bool {
        self.take(page, |chunk| &mut chunk.marked)
    }

    /// Whether a page was read ahead and has not been used.
    #[must_use]
    pub fn is_unused(&self, page: u64) -> bool {
        self.bit(page, |chunk| &chunk.unused)
    }

    /// A page is used; says whether it had been read ahead and this is the first use.
    pub fn take_unused(&mut self, page: u64) -> bool {
        self.take(page, |chunk| &mut chunk.unused)
    }

    /// How many pages are cached or in flight.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.there
    }

    /// Whether no page is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.there == 0
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let chunks = self.chunks.iter().filter(|chunk| chunk.is_some()).count();
        (self.chunks.capacity() * size_of::<Option<Box<Chunk>>>() + chunks * size_of::<Chunk>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_there_once_and_what_stands_by_it_is_taken_once() {
        let mut pages = Cached::default();
        let far = 3 * CHUNK_PAGES + 64;
        pages.add(far, true);
        pages.add(far, false);
        pages.mark(far);
        assert!(pages.has(far) && !pages.has(far - 1) && !pages.has(far + CHUNK_PAGES) && !pages.is_empty());
        assert_eq!(pages.len(), 1);
        assert!(pages.take_mark(far) && !pages.take_mark(far));
        assert!(pages.take_unused(far) && !pages.take_unused(far));
        pages.add(7, false);
        assert!(!pages.take_unused(7) && !pages.take_mark(7));
    }

    #[test]
    fn memory_is_that_of_the_stretches_that_have_pages() {
        let mut pages = Cached::default();
        for page in 0..CHUNK_PAGES {
            pages.add(page, false);
        }
        let one = pages.memory_bytes();
        assert!(one < 2000, "{one}");
        pages.add(CHUNK_PAGES * 1000, false);
        assert!(pages.memory_bytes() < 2 * one + 20_000);
    }
}
