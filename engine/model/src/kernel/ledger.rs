//! Time of requests by phase: a row for each place of the slab, a column for each phase that any request of the run went
//! through. A run touches a few of all phases, so rows are short. A row begins with a mask of the columns that its request touched:
//! what is left in the others is of the request before, and need not be cleared.

use super::{PHASES, Phase, Phases};

/// In place of a column, for a phase that no request went through yet.
const NONE: u8 = u8::MAX;

/// Nanoseconds of each place and phase.
#[derive(Debug)]
pub struct Ledger {
    column: [u8; PHASES],
    phases: Vec<Phase>,
    /// Row by row: the mask, and a number for each column.
    cells: Vec<u64>,
    rows: usize,
}

/// The time of one request by phase.
#[derive(Clone, Copy, Debug)]
pub struct Spent<'a> {
    phases: &'a [Phase],
    ns: &'a [u64],
    touched: u64,
}

impl<'a> Spent<'a> {
    /// As many phases as nanoseconds, none twice.
    #[must_use]
    pub const fn new(phases: &'a [Phase], ns: &'a [u64]) -> Self {
        Self { phases, ns, touched: (1 << ns.len()) - 1 }
    }

    /// Phases with their nanoseconds, some of which may be 0.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = (Phase, u64)> + 'a {
        bits(self.touched).map(move |column| (self.phases[column], self.ns[column]))
    }

    /// All phases in their order.
    #[must_use]
    pub fn dense(self) -> Phases {
        let mut dense = [0; PHASES];
        for (phase, ns) in self.iter() {
            dense[phase as usize] = ns;
        }
        dense
    }
}

/// The places of the ones in a mask, the lowest first.
#[inline]
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = mask.trailing_zeros() as usize;
        (mask != 0).then(|| {
            mask &= mask - 1;
            lowest
        })
    })
}

impl Default for Ledger {
    fn default() -> Self {
        Self { column: [NONE; PHASES], phases: Vec::new(), cells: Vec::new(), rows: 0 }
    }
}

impl Ledger {
    /// Cells of a row.
    #[inline]
    fn width(&self) -> usize {
        self.phases.len() + 1
    }

    /// Adds an empty row. O(1).
    #[inline]
    pub fn add_row(&mut self) {
        self.rows += 1;
        self.cells.resize(self.rows * self.width(), 0);
    }

    /// Empties a row.
    #[inline]
    pub fn clear(&mut self, row: usize) {
        let at = row * self.width();
        self.cells[at] = 0;
    }

    /// Adds nanoseconds.
    #[inline]
    pub fn add(&mut self, row: usize, phase: Phase, ns: u64) {
        let mut column = self.column[phase as usize];
        if column == NONE {
            column = self.add_column(phase);
        }
        let width = self.width();
        add_cell(&mut self.cells[row * width..][..width], usize::from(column), ns);
    }

    /// Adds all that one row has to another.
    pub fn add_from(&mut self, row: usize, from: usize) {
        let width = self.width();
        for column in bits(self.cells[from * width]) {
            let ns = self.cells[from * width + 1 + column];
            add_cell(&mut self.cells[row * width..][..width], column, ns);
        }
    }

    /// Return the contents of a row.
    #[must_use]
    #[inline]
    pub fn spent(&self, row: usize) -> Spent<'_> {
        let width = self.width();
        let row = &self.cells[row * width..][..width];
        Spent { phases: &self.phases, ns: &row[1..], touched: row[0] }
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (self.cells.capacity() * size_of::<u64>()) as u64
    }

    /// Makes room for a phase in every row; happens once for each phase of a run.
    #[cold]
    #[inline(never)]
    #[allow(clippy::cast_possible_truncation)] // there are fewer phases than a byte counts
    fn add_column(&mut self, phase: Phase) -> u8 {
        let mut wider = Vec::with_capacity(self.cells.capacity() + self.rows);
        for row in self.cells.chunks_exact(self.width()) {
            wider.extend_from_slice(row);
            wider.push(0);
        }
        self.cells = wider;
        self.phases.push(phase);
        let column = (self.phases.len() - 1) as u8;
        self.column[phase as usize] = column;
        column
    }
}

/// Adds to a column of a row.
#[inline]
fn add_cell(row: &mut [u64], column: usize, ns: u64) {
    let before = if row[0] >> column & 1 == 1 { row[1 + column] } else { 0 };
    row[0] |= 1 << column;
    row[1 + column] = before + ns;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_those_of_a_full_table(steps in proptest::collection::vec((0usize..6, 0usize..PHASES, 0u64..1000, 0u8..8), 0..200)) {
            let mut ledger = Ledger::default();
            let mut full: Vec<Phases> = Vec::new();
            for (row, phase, ns, what) in steps {
                if full.len() <= row {
                    ledger.add_row();
                    full.push([0; PHASES]);
                    continue;
                }
                match what {
                    0 => {
                        ledger.clear(row);
                        full[row] = [0; PHASES];
                    }
                    1 => {
                        let from = usize::try_from(ns).expect("small") % full.len();
                        ledger.add_from(row, from);
                        let other = full[from];
                        full[row].iter_mut().zip(other).for_each(|(sum, ns)| *sum += ns);
                    }
                    _ => {
                        ledger.add(row, Phase::ALL[phase], ns);
                        full[row][phase] += ns;
                    }
                }
            }
            for (row, expected) in full.iter().enumerate() {
                prop_assert_eq!(&ledger.spent(row).dense(), expected);
            }
        }
    }

    #[test]
    fn rows_are_as_wide_as_the_phases_that_were_touched() {
        let mut ledger = Ledger::default();
        (0..1000).for_each(|_| ledger.add_row());
        assert!(ledger.memory_bytes() < 20_000, "masks only: {}", ledger.memory_bytes());
        for phase in [Phase::Queue, Phase::Transfer, Phase::Queue] {
            ledger.add(7, phase, 1);
        }
        assert_eq!(ledger.spent(7).iter().collect::<Vec<_>>(), [(Phase::Queue, 2), (Phase::Transfer, 1)]);
        assert!((24_000..60_000).contains(&ledger.memory_bytes()), "{}", ledger.memory_bytes());
    }
}
