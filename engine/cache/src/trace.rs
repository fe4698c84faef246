//! A trace for caches: which object, of what size, request after request.
//!
//! Read from text of `time,object,size` lines, or built from requests that another reader found. Objects are numbered in the
//! order of their first request, so that everything that runs over a trace works on small numbers and plain arrays.
//!
//! The text: one request a line, three fields separated by commas, blanks around them allowed. The first line may name the
//! columns. *time* is a number that is not negative (nothing but its form is used: requests are taken in the order of the
//! lines). *object* is a whole number below 2^64, or any other text, whose 64-bit hash then stands for it. *size* is a whole
//! number of bytes from 1 to [`MAX_OBJECT_BYTES`]. Empty lines are passed over. Anything else is an error with its line.

use super::entry::{Entry, NONE};
use super::index::{Index, Keys};
use thiserror::Error;

/// Size of the largest object that a trace may have: 1 TiB. More is a damaged line.
pub const MAX_OBJECT_BYTES: u64 = 1 << 40;
/// Characters of the longest line of a trace.
pub const MAX_LINE_BYTES: usize = 4096;
/// Requests in the longest trace: 134 million, 1.6 GB of memory.
pub const MAX_REQUESTS: usize = 1 << 27;
/// Bytes that the requests of a trace may ask for together: 8 PiB, so that sums are exact as real numbers too.
pub const MAX_BYTES: u64 = 1 << 53;

/// Requests in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Key of each object, by the object's number.
    keys: Vec<u64>,
    /// Object of each request.
    objects: Vec<u32>,
    /// Size of each request; empty when all are 1.
    sizes: Vec<u64>,
    largest: u64,
    resized: bool,
}

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Too few fields: the line, or the file, was cut off.
    #[error("has only {found} of the 3 fields time,object,size")]
    Truncated {
        /// Fields there.
        found: usize,
    },
    /// Too many fields.
    #[error("has {found} fields; write 3: time,object,size")]
    TooManyFields {
        /// Fields there.
        found: usize,
    },
    /// The time is not a number.
    #[error("time \"{found}\" is not a number")]
    Time {
        /// The field.
        found: String,
    },
    /// The time is negative.
    #[error("time {found} is negative")]
    NegativeTime {
        /// The field.
        found: String,
    },
    /// There is no object.
    #[error("the object is empty")]
    NoObject,
    /// The size is not a whole number.
    #[error("size \"{found}\" is not a whole number of bytes")]
    Size {
        /// The field.
        found: String,
    },
    /// The size is not one that an object can have.
    #[error("size {found} is out of range; write 1 to {MAX_OBJECT_BYTES} bytes (1 TiB)")]
    AbsurdSize {
        /// The field.
        found: String,
    },
    /// The line is too long to be a request.
    #[error("is {found} bytes long; the maximum is {MAX_LINE_BYTES}")]
    Oversized {
        /// Its length in bytes.
        found: usize,
    },
    /// The trace is too long.
    #[error("exceeds the maximum of a trace: {MAX_REQUESTS} requests, {MAX_BYTES} bytes (8 PiB)")]
    TooMany,
}

/// A line that cannot be read; nothing of the trace is used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {fault}")]
pub struct Problem {
    /// Its number, from 1.
    pub line: u64,
    /// The error.
    pub fault: Fault,
}

/// Makes a trace from requests.
#[derive(Debug)]
pub struct Builder {
    trace: Trace,
    index: Index,
    /// The index's view of the keys, and each object's size at its last request.
    entries: Vec<Entry>,
    bytes: u64,
}

impl Default for Builder {
    fn default() -> Self {
        Self { trace: Trace::default(), index: Index::new(Keys::Any), entries: Vec::new(), bytes: 0 }
    }
}

impl Builder {
    /// Appends a request for `key` of `size` bytes (taken into 1 to [`MAX_OBJECT_BYTES`]). Whether the trace may still have it
    /// (see [`MAX_REQUESTS`] and [`MAX_BYTES`]).
    #[must_use]
    pub fn push(&mut self, key: u64, size: u64) -> bool {
        let size = size.clamp(1, MAX_OBJECT_BYTES);
        if self.trace.objects.len() >= MAX_REQUESTS || self.bytes + size > MAX_BYTES {
            return false;
        }
        self.bytes += size;
        let trace = &mut self.trace;
        let mut object = self.index.get(key, &self.entries);
        if object == NONE {
            object = u32::try_from(self.entries.len()).unwrap_or(NONE); // at most the number of requests
            self.entries.push(Entry { key, size, newer: NONE, older: NONE, count: 0, list: 0, resident: true });
            self.index.insert(key, object);
            trace.keys.push(key);
        }
        let last = &mut self.entries[object as usize].size;
        trace.resized |= *last != size;
        *last = size;
        if trace.sizes.is_empty() && size != 1 {
            trace.sizes.resize(trace.objects.len(), 1);
        }
        if size != 1 || !trace.sizes.is_empty() {
            trace.sizes.push(size);
        }
        trace.largest = trace.largest.max(size);
        trace.objects.push(object);
        true
    }

    /// Appends a request of one block for each block of `block_bytes` that an access of a device touches. Whether the trace may
    /// still have them.
    #[must_use]
    pub fn push_extent(&mut self, offset: u64, bytes: u64, block_bytes: u64) -> bool {
        let block_bytes = block_bytes.max(1);
        let last = offset.saturating_add(bytes.max(1) - 1) / block_bytes;
        (offset / block_bytes..=last).all(|block| self.push(block, 1))
    }

    /// The trace.
    #[must_use]
    pub fn finish(self) -> Trace {
        self.trace
    }
}

impl Trace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The first line that is not a request.
    pub fn parse(text: &[u8]) -> Result<Self, Problem> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut builder = Builder::default();
        for (line, number) in text.split(|byte| *byte == b'\n').zip(1u64..) {
            match request(line.trim_ascii()) {
                Ok(Some((key, size))) => {
                    if !builder.push(key, size) {
                        return Err(Problem { line: number, fault: Fault::TooMany });
                    }
                }
                Ok(None) => {}
                Err(_) if number == 1 && is_header(line) => {}
                Err(fault) => return Err(Problem { line: number, fault }),
            }
        }
        Ok(builder.finish())
    }

    /// A trace of blocks: every request is for one block. It ends at [`MAX_REQUESTS`].
    #[must_use]
    pub fn of_blocks(blocks: impl IntoIterator<Item = u64>) -> Self {
        let mut builder = Builder::default();
        let _all_fit = blocks.into_iter().all(|block| builder.push(block, 1));
        builder.finish()
    }

    /// The same requests with every object counted as 1, so that cache sizes are in objects.
    #[must_use]
    pub fn in_objects(mut self) -> Self {
        (self.sizes, self.largest, self.resized) = (Vec::new(), u64::from(!self.objects.is_empty()), false);
        self
    }

    /// The requests for a sample of the objects, about one in `one_in`, chosen by a hash of the key.
    #[must_use]
    pub fn sampled(&self, one_in: u32) -> Self {
        let mut builder = Builder::default();
        for (object, size) in self.requests() {
            let key = self.key(object);
            if hash_bytes(&key.to_le_bytes()).is_multiple_of(u64::from(one_in.max(1))) && !builder.push(key, size) {
                break; // does not happen: the sample is a part of a trace
            }
        }
        builder.finish()
    }

    /// Number of requests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is no request.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Number of different objects.
    #[must_use]
    pub fn distinct(&self) -> u32 {
        u32::try_from(self.keys.len()).unwrap_or(u32::MAX) // at most the number of requests
    }

    /// The key of an object; 0 when there is no such object.
    #[must_use]
    pub fn key(&self, object: u32) -> u64 {
        self.keys.get(object as usize).copied().unwrap_or(0)
    }

    /// Object of each request.
    #[must_use]
    pub fn objects(&self) -> &[u32] {
        &self.objects
    }

    /// Size of each request; empty when all are 1.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Object and size of the request numbered `at`.
    #[must_use]
    pub fn request(&self, at: usize) -> Option<(u32, u64)> {
        Some((*self.objects.get(at)?, self.sizes.get(at).copied().unwrap_or(1)))
    }

    /// Object and size of every request, in order.
    pub fn requests(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let sizes = self.sizes.iter().copied().chain(std::iter::repeat(1));
        self.objects.iter().copied().zip(sizes)
    }

    /// Bytes of all requests together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        if self.sizes.is_empty() { self.objects.len() as u64 } else { self.sizes.iter().sum() }
    }

    /// Size of the largest request.
    #[must_use]
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// Whether an object is asked for with different sizes.
    #[must_use]
    pub fn is_resized(&self) -> bool {
        self.resized
    }
}

/// The key that stands for an object's name: 64-bit FNV-1a, then mixed. That any two of a million names share a key has a chance of
/// about 1 in 40 million.
fn hash_bytes(name: &[u8]) -> u64 {
    let folded = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let once = (folded ^ (folded >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    once ^ (once >> 29)
}

/// Key and size of a line's request, [`None`] for an empty line.
fn request(line: &[u8]) -> Result<Option<(u64, u64)>, Fault> {
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() > MAX_LINE_BYTES {
        return Err(Fault::Oversized { found: line.len() });
    }
    let mut fields = line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let (Some(time), Some(object), Some(size)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(Fault::Truncated { found: line.split(|byte| *byte == b',').count() });
    };
    let more = fields.count();
    if more > 0 {
        return Err(Fault::TooManyFields { found: 3 + more });
    }
    check_time(time)?;
    if object.is_empty() {
        return Err(Fault::NoObject);
    }
    if size.is_empty() {
        return Err(Fault::Truncated { found: 2 });
    }
    let key = whole(object).unwrap_or_else(|| hash_bytes(object));
    if size.is_empty() || !size.iter().all(u8::is_ascii_digit) {
        return Err(Fault::Size { found: shown(size) });
    }
    match whole(size) {
        Some(size) if (1..=MAX_OBJECT_BYTES).contains(&size) => Ok(Some((key, size))),
        _ => Err(Fault::AbsurdSize { found: shown(size) }),
    }
}

fn check_time(time: &[u8]) -> Result<(), Fault> {
    if whole(time).is_some() {
        return Ok(());
    }
    let number = std::str::from_utf8(time).ok().and_then(|time| time.parse::<f64>().ok()).filter(|time| time.is_finite());
    match number {
        None => Err(Fault::Time { found: shown(time) }),
        Some(time_s) if time_s < 0.0 => Err(Fault::NegativeTime { found: shown(time) }),
        Some(_) => Ok(()),
    }
}

/// A whole number below 2^64.
fn whole(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, digit| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// Whether the first line names columns: neither its time nor its size is a number.
fn is_header(line: &[u8]) -> bool {
    let mut fields = line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let begins_with_a_letter =
        |field: Option<&[u8]>| field.and_then(|field| field.first()).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'"');
    begins_with_a_letter(fields.next()) && begins_with_a_letter(fields.nth(1)) && line.len() <= MAX_LINE_BYTES
}

/// A field as it is shown in an error.
fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(&field[..field.len().min(160)]).into_owned();
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() || field.len() > 160 {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_become_requests_with_objects_numbered_by_first_use() {
        let trace = Trace::parse(b"time,object,size\r\n0,77,4096\r\n0.5, file-a ,1\r\n\r\n1e3,77,4096").unwrap();
        assert_eq!(trace.requests().collect::<Vec<_>>(), [(0, 4096), (1, 1), (0, 4096)]);
        assert_eq!(trace.sizes(), [4096, 1, 4096]);
        assert_eq!((trace.key(0), trace.distinct(), trace.largest(), trace.is_resized(), trace.bytes()), (77, 2, 4096, false, 8193));
    }

    #[test]
    fn a_trace_of_unit_sizes_holds_none() {
        let trace = Trace::parse(b"0,1,1\n0,2,1\n").unwrap();
        assert!(trace.sizes().is_empty());
        assert_eq!(trace.bytes(), 2);
    }

    #[test]
    fn an_object_of_two_sizes_is_noticed() {
        assert!(Trace::parse(b"0,1,5\n0,1,6").unwrap().is_resized());
    }

    #[test]
    fn errors_name_the_line_and_what_was_found() {
        let (forty, long) = ("s".repeat(40), "x".repeat(MAX_LINE_BYTES));
        let shortened = format!("{forty}…");
        for (text, line, fault) in [
            ("0,1,1\n5,2", 2, Fault::Truncated { found: 2 }),
            ("0,1,1\n5,2,", 2, Fault::Truncated { found: 2 }),
            ("0,1,1,read", 1, Fault::TooManyFields { found: 4 }),
            ("0,1,1\n-1,2,1", 2, Fault::NegativeTime { found: "-1".into() }),
            ("0,1,1\nnan,2,1", 2, Fault::Time { found: "nan".into() }),
            ("soon,1,1", 1, Fault::Time { found: "soon".into() }),
            ("0,1,big", 1, Fault::Size { found: "big".into() }),
            ("0,1,-4", 1, Fault::Size { found: "-4".into() }),
            ("0,1,0", 1, Fault::AbsurdSize { found: "0".into() }),
            ("0,1,99999999999999999999999", 1, Fault::AbsurdSize { found: "99999999999999999999999".into() }),
            ("0,,1", 1, Fault::NoObject),
            (format!("{forty},1,1").as_str(), 1, Fault::Time { found: forty.clone() }),
            (format!("{forty}s,1,1").as_str(), 1, Fault::Time { found: shortened.clone() }),
            (format!("{},1,1", forty.repeat(12)).as_str(), 1, Fault::Time { found: shortened }),
            (format!("0,1,1\n0,{long},1").as_str(), 2, Fault::Oversized { found: MAX_LINE_BYTES + 4 }),
        ] {
            assert_eq!(Trace::parse(text.as_bytes()).unwrap_err(), Problem { line, fault });
        }
    }

    #[test]
    fn an_access_of_a_device_asks_for_each_block_it_touches() {
        let mut builder = Builder::default();
        assert!(builder.push_extent(1000, 9000, 4096) && builder.push_extent(8192, 0, 4096));
        let trace = builder.finish();
        assert_eq!(trace.objects().iter().map(|object| trace.key(*object)).collect::<Vec<_>>(), [0, 1, 2, 2]);
    }

    #[test]
    fn a_trace_of_more_bytes_than_can_be_summed_ends_with_an_error() {
        let text = "0,1,1099511627776\n".repeat((MAX_BYTES / MAX_OBJECT_BYTES) as usize + 1);
        assert_eq!(Trace::parse(text.as_bytes()).unwrap_err(), Problem { line: 8193, fault: Fault::TooMany });
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in proptest::collection::vec(prop_oneof![Just(b','), Just(b'\n'), Just(b'1'), any::<u8>()], 0..200),
        ) {
            let _ = Trace::parse(&bytes);
        }
    }
}
