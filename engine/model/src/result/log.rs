//! The operation log: one row for each completed operation, compact in memory, columns when asked for.
//!
//! Fixed fields are columns; the phases of an operation, of which few are not zero, are kept as (phase, variable-length number)
//! pairs in one byte stream, after which stands how late the operation was sent. An operation takes 37 bytes, about five for each phase
//! it went through, and one, or a few if it was late.

use super::columns::{Column, Tables};
use crate::kernel::{NO_DEVICE, PHASES, Phase, Phases, Request, Spent};
use seeklab_spec::Op;

/// Completed operations, in order of completion.
#[derive(Debug, Default)]
pub struct Log {
    /// Order of issue.
    pub id: Vec<u32>,
    /// Job.
    pub job: Vec<u16>,
    /// Direction.
    pub op: Vec<Op>,
    /// Start, from the start of the job's region, in bytes.
    pub offset: Vec<u64>,
    /// Length in bytes.
    pub bytes: Vec<u32>,
    /// Bytes in memory on arrival.
    pub cached: Vec<u32>,
    /// Bytes that were not in memory and not yet requested on arrival.
    pub missed: Vec<u32>,
    /// When it was submitted.
    pub submit_ns: Vec<u64>,
    /// Device of the part that came last.
    pub device: Vec<u16>,
    phases: Vec<u8>,
    /// The phases that any operation went through, one bit each.
    seen: u64,
}

/// How a column is taken from the log, which keeps columns itself.
type OfLog = fn(&Log) -> Column;

/// Columns of the table `ops`, a row for each operation. One for each phase follows.
const OPS: [(&str, OfLog); 11] = [
    ("id", |log| Column::U32(log.id.clone())),
    ("job", |log| Column::U32(log.job.iter().map(|job| u32::from(*job)).collect())),
    ("op", |log| Column::U32(log.op.iter().map(|op| *op as u32).collect())),
    ("offset", |log| Column::of_whole(log.offset.iter().copied())),
    ("bytes", |log| bytes(&log.bytes)),
    ("cached_bytes", |log| bytes(&log.cached)),
    ("missed_bytes", |log| bytes(&log.missed)),
    ("submit_ns", |log| Column::of_whole(log.submit_ns.iter().copied())),
    ("due_ns", |log| Column::of_whole(log.lateness().zip(&log.submit_ns).map(|(late_ns, submit_ns)| submit_ns - late_ns))),
    ("latency_ns", |log| Column::of_whole(log.latencies())),
    ("device", |log| {
        Column::U32(log.device.iter().map(|device| if *device == NO_DEVICE { u32::MAX } else { u32::from(*device) }).collect())
    }),
];

fn bytes(values: &[u32]) -> Column {
    Column::of_whole(values.iter().map(|bytes| u64::from(*bytes)))
}

impl Log {
    /// Adds an operation that was due at `due_ns`, or without a plan.
    #[allow(clippy::cast_possible_truncation)] // at most 256 jobs; requests of at most 1 GiB; a byte of a number
    pub fn add(&mut self, job: usize, request: &Request, spent: Spent, region_start: u64, due_ns: Option<u64>) {
        self.id.push(request.tag);
        self.job.push(job as u16);
        self.op.push(request.op);
        self.offset.push(request.offset - region_start);
        self.bytes.push(request.bytes as u32);
        self.cached.push(request.cached_bytes);
        self.missed.push(request.missed_bytes);
        self.submit_ns.push(request.submitted_ns);
        self.device.push(request.device);
        let went_through = || spent.iter().filter(|(_, ns)| *ns > 0);
        self.phases.push(went_through().count() as u8);
        for (phase, ns) in went_through() {
            self.phases.push(phase as u8);
            self.push_number(ns);
            self.seen |= 1 << phase as u8;
        }
        self.push_number(due_ns.map_or(0, |due_ns| request.submitted_ns - due_ns));
    }

    /// Seven bits a byte, the lowest first; the last byte is below 0x80.
    #[allow(clippy::cast_possible_truncation)] // a byte of a number
    fn push_number(&mut self, mut rest: u64) {
        while rest >= 0x80 {
            self.phases.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.phases.push(rest as u8);
    }

    /// Operations in the log.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether the log is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Bytes of memory that the log holds.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.len() * 37 + self.phases.len()) as u64
    }

    /// The phases of each operation, in order.
    pub fn phases(&self) -> impl Iterator<Item = Phases> + '_ {
        self.rows().map(|(phases, _)| phases)
    }

    /// The latency of each operation: its phases together.
    pub fn latencies(&self) -> impl Iterator<Item = u64> + '_ {
        self.sums(u64::MAX)
    }

    /// The time of each operation in the phases of a mask.
    fn sums(&self, mask: u64) -> Box<dyn Iterator<Item = u64> + '_> {
        if self.seen & mask == 0 {
            return Box::new(std::iter::repeat_n(0, self.len()));
        }
        Box::new(self.folded(move |sum, phase, ns| if mask >> phase & 1 == 1 { sum + ns } else { sum }).map(|(sum, _)| sum))
    }

    /// How long after it was due each operation was sent.
    fn lateness(&self) -> impl Iterator<Item = u64> {
        self.folded(|sum, _, _| sum).map(|(_, late_ns)| late_ns)
    }

    /// For each operation what `add` makes of its phases and their times, and how long after it was due it was sent.
    fn folded(&self, add: impl Fn(u64, u8, u64) -> u64) -> impl Iterator<Item = (u64, u64)> {
        let mut bytes = self.phases.iter().copied();
        std::iter::from_fn(move || {
            let mut sum = 0;
            for _ in 0..bytes.next()? {
                let phase = bytes.next()?;
                sum = add(sum, phase, number(&mut bytes)?);
            }
            Some((sum, number(&mut bytes)?))
        })
    }

    /// The phases of each operation, and how long after it was due it was sent.
    fn rows(&self) -> impl Iterator<Item = (Phases, u64)> + '_ {
        let mut bytes = self.phases.iter().copied();
        std::iter::from_fn(move || {
            let count = bytes.next()?;
            let mut phases = [0; PHASES];
            for _ in 0..count {
                let phase = bytes.next()?;
                phases[usize::from(phase)] = number(&mut bytes)?;
            }
            Some((phases, number(&mut bytes)?))
        })
    }

    /// Names of the columns of phases that no operation went through.
    pub fn zero_columns(&self) -> impl Iterator<Item = String> {
        Phase::ALL.into_iter().filter(|phase| self.seen & (1 << *phase as u8) == 0).map(|phase| format!("ops.{}", column_of(phase)))
    }

    /// Reports the log as a table, empty where none is kept.
    pub fn tables(log: Option<&Self>, tables: &mut Tables) {
        let empty = Self::default();
        let log = log.unwrap_or(&empty);
        for (name, take) in OPS {
            tables.column("ops", name, || take(log));
        }
        for phase in Phase::ALL {
            tables.column("ops", &column_of(phase), || Column::of_whole(log.sums(1 << phase as u8)));
        }
    }
}

fn column_of(phase: Phase) -> String {
    format!("{}_ns", phase.name())
}

/// The next number of seven bits a byte.
fn number(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let byte = bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn phases_come_back_as_they_were_logged(rows in proptest::collection::vec(proptest::collection::vec(prop_oneof![Just(0u64), 0u64..1 << 50], PHASES), 0..20)) {
            let rows: Vec<Phases> = rows.into_iter().map(|row| row.try_into().expect("one number a phase")).collect();
            let mut log = Log::default();
            for (late, row) in (0..).zip(&rows) {
                log.add(0, &Request { submitted_ns: 1 << 40, ..Request::default() }, Spent::new(&Phase::ALL, row), 0, Some((1 << 40) - (late << 30)));
            }
            for (number, phase) in Phase::ALL.iter().enumerate() {
                let column: Vec<u64> = log.sums(1 << *phase as u8).collect();
                prop_assert_eq!(column, rows.iter().map(|row| row[number]).collect::<Vec<_>>());
            }
            let zeros = Phase::ALL.iter().enumerate().filter(|(number, _)| rows.iter().all(|row| row[*number] == 0));
            prop_assert_eq!(log.zero_columns().collect::<Vec<_>>(), zeros.map(|(_, phase)| format!("ops.{}_ns", phase.name())).collect::<Vec<_>>());
            prop_assert_eq!(log.latencies().collect::<Vec<_>>(), rows.iter().map(|row| row.iter().sum::<u64>()).collect::<Vec<_>>());
            prop_assert_eq!(log.lateness().collect::<Vec<_>>(), (0..rows.len() as u64).map(|late| late << 30).collect::<Vec<_>>());
            prop_assert_eq!(log.rows().collect::<Vec<_>>(), rows.into_iter().zip((0..).map(|late| late << 30)).collect::<Vec<_>>());
        }
    }
}
