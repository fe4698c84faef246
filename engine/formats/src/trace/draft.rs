//! A trace while it is read: requests and targets are collected, then put in order.

use std::collections::BTreeMap;

use seeklab_spec::Op;
use seeklab_spec::trace::{
    ALIGNMENT, Fault, Format, MAX_REQUEST_BYTES, MAX_REQUESTS, MAX_TARGET_BYTES, MAX_TARGETS, Row, SECTOR, Target, Trace,
};

#[derive(Default)]
pub(super) struct Draft {
    rows: Vec<Row>,
    targets: Vec<Target>,
    numbers: BTreeMap<Vec<u8>, u16>,
    /// The target of the line before: most traces stay with one.
    last: Option<(Vec<u8>, u16)>,
    skipped: BTreeMap<&'static str, u64>,
    widened: u64,
}

/// A request as a format's reader finds it.
pub(super) struct Found {
    pub(super) line: u32,
    pub(super) time_ns: u64,
    pub(super) op: Op,
    /// In bytes.
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) response_ns: u64,
}

impl Draft {
    /// Adds a request to the target of this name.
    pub(super) fn push(&mut self, name: &[u8], found: &Found) -> Result<(), Fault> {
        let Found { line, time_ns, op, offset, bytes, response_ns } = *found;
        if bytes == 0 {
            self.skip("requests of 0 bytes");
            return Ok(());
        }
        if offset >= MAX_TARGET_BYTES {
            return Err(Fault::TooLarge { field: "offset", found: offset.to_string(), most: MAX_TARGET_BYTES });
        }
        let too_long = || Fault::TooLarge { field: "length", found: bytes.to_string(), most: MAX_REQUEST_BYTES };
        if bytes > MAX_REQUEST_BYTES {
            return Err(too_long());
        }
        let (first, end) = (offset / SECTOR * SECTOR, (offset + bytes).next_multiple_of(SECTOR));
        let length = u32::try_from(end - first).ok().filter(|length| u64::from(*length) <= MAX_REQUEST_BYTES).ok_or_else(too_long)?;
        if self.rows.len() >= MAX_REQUESTS {
            return Err(Fault::TooManyRequests);
        }
        let target = self.target(name)?;
        self.widened += u64::from(u64::from(length) != bytes);
        let counted = &mut self.targets[usize::from(target)];
        counted.requests += 1;
        counted.bytes = counted.bytes.max(end);
        self.rows.push(Row { time_ns, offset: first, response_ns, bytes: length, line, target, op });
        Ok(())
    }

    /// Counts something that a replay leaves out.
    pub(super) fn skip(&mut self, what: &'static str) {
        *self.skipped.entry(what).or_default() += 1;
    }

    fn target(&mut self, name: &[u8]) -> Result<u16, Fault> {
        if let Some((last, number)) = &self.last
            && last == name
        {
            return Ok(*number);
        }
        let number = if let Some(number) = self.numbers.get(name) {
            *number
        } else {
            let number = u16::try_from(self.targets.len()).ok().filter(|number| usize::from(*number) < MAX_TARGETS);
            let number = number.ok_or(Fault::TooManyTargets)?;
            self.targets.push(Target { name: String::from_utf8_lossy(name).into_owned(), start: 0, bytes: 0, requests: 0 });
            self.numbers.insert(name.to_owned(), number);
            number
        };
        self.last = Some((name.to_owned(), number));
        Ok(number)
    }

    /// The trace; [`None`] when there is no request.
    pub(super) fn finish(mut self, format: Format) -> Option<Trace> {
        let reordered = self.rows.array_windows().filter(|[one, next]| next.time_ns < one.time_ns).count() as u64;
        if reordered > 0 {
            self.rows.sort_unstable_by_key(|row| (row.time_ns, row.line)); // equal times stay in the order of the text
        }
        format.count_from_first(&mut self.rows)?;
        let mut start = 0u64;
        for target in &mut self.targets {
            target.start = start;
            // At most 4,096 targets of 1 EiB and a request: far more than any device, and an error there.
            start = start.saturating_add(target.bytes).checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        }
        Some(Trace { format, rows: self.rows, targets: self.targets, skipped: self.skipped, widened: self.widened, reordered })
    }
}
